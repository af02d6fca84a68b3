//! `/proc`, `/sys` and control groups.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::table::{Attempt, Category, Refusal, Scene, Tried, attempt, done, nothing_came_of_it};

pub(super) const CATEGORY: Category = Category {
    title: "/proc, /sys and control groups",
    attempts: ATTEMPTS,
};

const ATTEMPTS: &[Attempt] = &[
    machine("write a setting of the machine", |_, _| {
        same("/proc/sys/vm/swappiness")
    }),
    machine("write the pattern for core files", |_, _| {
        same("/proc/sys/kernel/core_pattern")
    }),
    machine("write the program for modules", |_, _| {
        same("/proc/sys/kernel/modprobe")
    }),
    machine("write the limit of user namespaces", |_, _| {
        same("/proc/sys/user/max_user_namespaces")
    }),
    machine("open the trigger of system requests", |_, _| {
        opened("/proc/sysrq-trigger")
    }),
    machine("write the affinity of interrupts", |_, _| {
        opened("/proc/irq/default_smp_affinity")
    }),
    process("write the memory of the agent", |_, scene| {
        opened(&of_agent(scene, "mem"))
    }),
    process("write the memory of process 1", |_, _| {
        opened("/proc/1/mem")
    }),
    process("write the memory of the parent's init", |_, scene| {
        opened(&format!("/proc/{}/mem", scene.number("holder")))
    }),
    process("read the environment of the agent", |_, scene| {
        read(&of_agent(scene, "environ"))
    }),
    process("read the environment of process 1", |_, _| {
        read("/proc/1/environ")
    }),
    process("read the memory map of the agent", |_, scene| {
        read(&of_agent(scene, "maps"))
    }),
    process("list the descriptors of the agent", |_, scene| {
        done(fs::read_link(of_agent(scene, "fd/101"))?)
    }),
    process(
        "offer the agent to the killer of large processes",
        |_, scene| Ok(fs::write(of_agent(scene, "oom_score_adj"), "1000")?),
    ),
    process("map ids for the agent", |_, scene| {
        Ok(fs::write(of_agent(scene, "uid_map"), "0 0 1")?)
    }),
    process("map ids anew", |_, _| {
        Ok(fs::write("/proc/self/uid_map", "0 0 4294967295")?)
    }),
    process("move into another control group", |_, _| moved_to_group()),
    process("set the program for empty control groups", |_, _| {
        of_machine("/sys/fs/cgroup/memory/release_agent")
    }),
    process("write a setting of the kernel in /sys", |_, _| {
        of_machine("/sys/kernel/mm/transparent_hugepage/enabled")
    }),
];

/// About the machine; anybody can read about it.
const fn machine(name: &'static str, action: fn(&Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).beside(|_, _| read("/proc/version"))
}

/// About other processes; everybody may look at itself.
const fn process(name: &'static str, action: fn(&Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).beside(|_, _| {
        read("/proc/self/maps")?;
        read("/proc/self/environ")?;
        done(fs::read_dir("/proc/self/fd")?)
    })
}

fn of_agent(scene: &Scene, name: &str) -> String {
    format!("/proc/{}/{name}", scene.number("agent"))
}

fn read(path: &str) -> Tried {
    if fs::read(path)?.is_empty() {
        Err(nothing_came_of_it())
    } else {
        Ok(())
    }
}

/// Writing it would do harm where it is not refused; opening shows the same.
fn opened(path: &str) -> Tried {
    done(OpenOptions::new().write(true).open(path)?)
}

/// The same for what only some machines have; nothing hides it.
fn of_machine(path: &str) -> Tried {
    if Path::new(path).exists() {
        opened(path)
    } else {
        Err(Refusal::Skip(format!("there is no `{path}` here")))
    }
}

/// Writes what is there already.
fn same(path: &str) -> Tried {
    let text = fs::read(path)?;
    Ok(OpenOptions::new()
        .write(true)
        .open(path)?
        .write_all(&text)?)
}

fn moved_to_group() -> Tried {
    let roots = [
        "/sys/fs/cgroup",
        "/sys/fs/cgroup/unified",
        "/sys/fs/cgroup/memory",
    ];
    for root in roots.map(Path::new) {
        let list = root.join("cgroup.procs");
        if list.exists() {
            return done(OpenOptions::new().write(true).open(list)?);
        }
    }
    Err(Refusal::Skip("no control groups here".to_owned()))
}
