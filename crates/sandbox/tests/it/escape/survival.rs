//! Living on after the end of the command: whoever still lives when it is over has got away.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::sys::{call, exit, fork};
use super::table::{Attempt, Category, Scene, Tried, Twin, attempt, done, nothing_came_of_it};

pub(super) const CATEGORY: Category = Category {
    title: "Living on after the end",
    attempts: ATTEMPTS,
};

const ATTEMPTS: &[Attempt] = &[
    survival("a process in the background", |_, scene| {
        done(sleeper(scene).spawn()?)
    }),
    survival("a daemon, forked twice", |_, scene| {
        apart(|| apart(|| done(sleeper(scene).exec())))
    }),
    survival("a session of its own", |_, scene| {
        apart(|| {
            call(libc::SYS_setsid, [])?;
            apart(|| done(sleeper(scene).exec()))
        })
    }),
    survival("deaf to signals", |_, scene| {
        apart(|| {
            for signal in 1..=64 {
                // The action: SIG_IGN without flags.
                let ignore = [1_u64, 0, 0, 0, 0, 0, 0, 0];
                drop(call(
                    libc::SYS_rt_sigaction,
                    [signal, ignore.as_ptr() as usize, 0, 8],
                ));
            }
            done(sleeper(scene).exec())
        })
    }),
    survival("a process that is stopped", |_, scene| {
        let child = sleeper(scene).spawn()?;
        call(
            libc::SYS_kill,
            [child.id() as usize, libc::SIGSTOP as usize],
        )?;
        Ok(())
    }),
    survival("a child of the command's parent", |_, scene| {
        let flags = usize::try_from(libc::CLONE_PARENT | libc::SIGCHLD).unwrap();
        if call(libc::SYS_clone, [flags, 0, 0, 0, 0])? == 0 {
            drop(sleeper(scene).exec());
            exit(1);
        }
        Ok(())
    }),
    survival("a reaper of its own orphans", |_, scene| {
        apart(|| {
            call(libc::SYS_prctl, [36, 1, 0, 0, 0])?;
            apart(|| done(sleeper(scene).exec()))?;
            done(sleeper(scene).exec())
        })
    }),
    survival("a program in memory only", |_, scene| {
        let memory = call(libc::SYS_memfd_create, [c"x".as_ptr() as usize, 0])?;
        let path = format!("/proc/self/fd/{memory}");
        std::fs::copy("/bin/sleep", &path)?;
        let mut command = Command::new(path);
        command.arg0(mark(scene)).arg("1000");
        apart(|| done(quiet(&mut command).exec()))
    }),
    survival("a storm of forks", |_, scene| {
        let sleep = format!("exec -a {} sleep 1000", mark(scene));
        let script = format!("for n in $(seq 100); do (({sleep}) & exec true) & done; {sleep}");
        let mut command = Command::new("bash");
        command.args(["-c", &script]);
        apart(|| done(quiet(&mut command).exec()))
    }),
    survival("a shell's nohup", |_, scene| {
        let script = format!("(exec -a {} nohup sleep 1000) & disown -a", mark(scene));
        let mut command = Command::new("bash");
        command.args(["-c", &script]);
        done(quiet(&mut command).spawn()?)
    }),
];

const fn survival(name: &'static str, action: fn(&std::path::Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).with(Twin::Itself)
}

/// What is on the command line of what should not live on.
pub(super) fn mark(scene: &Scene) -> String {
    format!("escape-{}-{}", scene.number("agent"), scene.slug)
}

fn quiet(command: &mut Command) -> &mut Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
}

fn sleeper(scene: &Scene) -> Command {
    let mut command = Command::new("sleep");
    quiet(command.arg0(mark(scene)).arg("1000"));
    command
}

/// Does something in a child, and goes on at once.
fn apart(action: impl FnOnce() -> Tried) -> Tried {
    let child = fork()?;
    if child == 0 {
        drop(action());
        exit(1);
    }
    if child > 0 {
        Ok(())
    } else {
        Err(nothing_came_of_it())
    }
}
