//! Other processes: tracing, signals, limits, shared memory.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

use super::sys::call;
use super::table::{
    Attempt, Category, Outcome, Scene, Tried, Whose, attempt, done, nothing_came_of_it,
};

pub(super) const CATEGORY: Category = Category {
    title: "Other processes",
    attempts: ATTEMPTS,
};

const ATTEMPTS: &[Attempt] = &[
    traced("trace the agent", |_, scene| {
        ptrace(SEIZE, scene.number("agent"))
    }),
    traced("trace process 1", |_, _| ptrace(SEIZE, 1)),
    traced("trace a child of one's own", |_, _| {
        with_child(|pid| ptrace(SEIZE, pid))
    }),
    traced("read the agent's memory", |_, scene| {
        memory(libc::SYS_process_vm_readv, scene)
    }),
    traced("write the agent's memory", |_, scene| {
        memory(libc::SYS_process_vm_writev, scene)
    }),
    traced("take a descriptor of the agent", |_, scene| {
        let agent = positive(scene.number("agent"));
        let process = call(libc::SYS_pidfd_open, [agent, 0])?;
        call(
            libc::SYS_pidfd_getfd,
            [usize::try_from(process).unwrap(), 101, 0],
        )?;
        Ok(())
    }),
    traced("compare with the agent", |_, scene| {
        let agent = positive(scene.number("agent"));
        call(libc::SYS_kcmp, [agent, agent, 0, 0, 0])?;
        Ok(())
    }),
    signal("signal the agent", |_, scene| {
        kill(scene.number("agent"), 0)
    }),
    signal("signal the holder", |_, scene| {
        kill(scene.number("holder"), 0)
    }),
    signal("signal a foreign process", |_, scene| {
        kill(scene.number("victim"), 0)
    }),
    signal("signal the group of a foreign process", |_, scene| {
        kill(-scene.number("victim"), 0)
    }),
    signal("end the parent of the command", |_, scene| {
        let init = scene.number("init");
        kill(init, libc::SIGTERM)?;
        kill(init, libc::SIGKILL)?;
        // Who lives after that has not noticed.
        kill(init, 0).and(Err(nothing_came_of_it()))
    }),
    signal("signal everybody", |_, scene| {
        // The stage has stopped the victim, and looks whether it goes on.
        kill(-1, libc::SIGCONT)?;
        let status = std::fs::read_to_string(format!("/proc/{}/status", scene.number("victim")));
        if status.is_ok_and(|text| !text.contains("T (stopped)")) {
            Ok(())
        } else {
            Err(nothing_came_of_it())
        }
    }),
    signal("signal a thread", |_, scene| {
        call(libc::SYS_tkill, [positive(scene.number("agent")), 0])?;
        Ok(())
    }),
    signal("queue a signal", |_, scene| {
        let mut info = [0_u64; 16];
        info[1] = 0xffff_ffff; // SI_QUEUE
        let (agent, info) = (positive(scene.number("agent")), info.as_ptr() as usize);
        call(libc::SYS_rt_sigqueueinfo, [agent, 0, info])?;
        Ok(())
    }),
    signal("signal by a process descriptor", |_, scene| {
        let process = call(libc::SYS_pidfd_open, [positive(scene.number("agent")), 0])?;
        call(
            libc::SYS_pidfd_send_signal,
            [usize::try_from(process).unwrap(), 0, 0, 0],
        )?;
        Ok(())
    }),
    beside_own("limit the agent's resources", |_, scene| {
        limit(scene.number("agent"))
    }),
    beside_own("change the priority of the agent", |_, scene| {
        nice(scene.number("agent"))
    })
    .only(Whose::User)
    .without_namespaces(Outcome::Gap),
    beside_own("bind the agent to a processor", |_, scene| {
        bind(scene.number("agent"))
    })
    .only(Whose::User)
    .without_namespaces(Outcome::Gap),
    attempt("read shared memory of a host program", |_, scene| {
        attach(positive(scene.number("shm")))
    })
    .beside(|_, _| {
        let made = call(libc::SYS_shmget, [0, 4096, 0o600])?;
        attach(usize::try_from(made).unwrap())
    })
    .without_namespaces(Outcome::Gap),
];

const SEIZE: usize = 0x4206;

const fn traced(name: &'static str, action: fn(&Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).beside(|_, _| {
        call(libc::SYS_pidfd_open, [std::process::id() as usize, 0])?;
        done(
            std::fs::File::options()
                .write(true)
                .open("/proc/self/mem")
                .or_else(|_| {
                    // Without namespaces nothing in /proc may be written.
                    std::fs::File::open("/proc/self/mem")
                })?,
        )
    })
}

const fn signal(name: &'static str, action: fn(&Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).beside(|_, _| {
        let mut child = sleeping()?;
        kill(i32::try_from(child.id()).unwrap(), libc::SIGKILL)?;
        let status = child.wait()?;
        if status.signal() == Some(libc::SIGKILL) {
            Ok(())
        } else {
            Err(nothing_came_of_it())
        }
    })
}

const fn beside_own(name: &'static str, action: fn(&Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).beside(|_, _| {
        limit(0)?;
        nice(0)?;
        bind(0)
    })
}

fn sleeping() -> std::io::Result<Child> {
    Command::new("sleep").arg("60").spawn()
}

fn with_child(action: fn(i32) -> Tried) -> Tried {
    let mut child = sleeping()?;
    let tried = action(i32::try_from(child.id()).unwrap());
    child.kill()?;
    child.wait()?;
    tried
}

/// An id for a call; an id that is missing leads nowhere instead of to the caller itself.
fn positive(pid: i32) -> usize {
    if pid == 0 {
        0x7fff_fff0
    } else {
        (pid as isize).cast_unsigned()
    }
}

fn kill(pid: i32, signal: i32) -> Tried {
    call(
        libc::SYS_kill,
        [positive(pid), usize::try_from(signal).unwrap()],
    )?;
    Ok(())
}

fn ptrace(request: usize, pid: i32) -> Tried {
    call(libc::SYS_ptrace, [request, positive(pid), 0, 0])?;
    Ok(())
}

fn memory(number: libc::c_long, scene: &Scene) -> Tried {
    let mut bytes = [0_u8; 8];
    let local = [bytes.as_mut_ptr() as usize, 8];
    let remote = [0x1000_usize, 8];
    let agent = positive(scene.number("agent"));
    let (local, remote) = (local.as_ptr() as usize, remote.as_ptr() as usize);
    call(number, [agent, local, 1, remote, 1, 0])?;
    Ok(())
}

/// Sets a limit to what it is.
fn limit(pid: i32) -> Tried {
    let mut limits = [0_u64; 2];
    let limits = limits.as_mut_ptr() as usize;
    let pid = (pid as isize).cast_unsigned();
    let resource = libc::RLIMIT_MEMLOCK as usize;
    call(libc::SYS_prlimit64, [0, resource, 0, limits])?;
    call(libc::SYS_prlimit64, [pid, resource, limits, 0])?;
    Ok(())
}

fn nice(pid: i32) -> Tried {
    call(
        libc::SYS_setpriority,
        [0, (pid as isize).cast_unsigned(), 0],
    )?;
    Ok(())
}

fn bind(pid: i32) -> Tried {
    let mut set = [0_u64; 16];
    let set = set.as_mut_ptr() as usize;
    call(libc::SYS_sched_getaffinity, [0, 128, set])?;
    call(
        libc::SYS_sched_setaffinity,
        [(pid as isize).cast_unsigned(), 128, set],
    )?;
    Ok(())
}

fn attach(id: usize) -> Tried {
    call(libc::SYS_shmat, [id, 0, libc::SHM_RDONLY as usize])?;
    Ok(())
}
