//! The role inside the sandbox: tries everything, each attempt in a process of its own, and says
//! what came of it, a line each.

use std::path::Path;
use std::process::ExitCode;

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, alarm};

use super::sys;
use super::table::{self, Action, Attempt, Refusal, Twin};

/// What is longer has hung.
const PATIENCE_SECONDS: u32 = 20;

/// Plays the role: `base` is in the environment.
pub(crate) fn play() -> ExitCode {
    let base = std::env::var_os("TEST_BASE").unwrap();
    let base = Path::new(&base);
    let init = std::os::unix::process::parent_id();
    std::fs::write(base.join("W/facts/init"), init.to_string()).unwrap();
    let only = std::env::var("TEST_ONLY").unwrap_or_default();
    for attempt in table::all().filter(|attempt| attempt.name.contains(&only)) {
        match attempt.twin {
            Twin::Same(path) => run("twin", attempt, attempt.action, (base, path)),
            Twin::Like(action) => run("twin", attempt, action, (base, attempt.target)),
            Twin::Outside | Twin::Itself => {}
        }
        run("attempt", attempt, attempt.action, (base, attempt.target));
    }
    println!("all was tried");
    ExitCode::SUCCESS
}

fn run(kind: &str, attempt: &Attempt, action: Action, (base, target): (&Path, &str)) {
    let scene = attempt.scene(base);
    let target = base.join(target.replace('%', &scene.slug));
    let child = sys::fork().unwrap();
    if child == 0 {
        alarm::set(PATIENCE_SECONDS);
        let said = said(action(&target, &scene));
        println!("{kind}\t{}\t{said}", scene.slug);
        sys::exit(0);
    }
    match waitpid(Pid::from_raw(child), None) {
        Ok(WaitStatus::Exited(_, 0)) => {}
        other => println!("{kind}\t{}\trefused\t{other:?}", scene.slug),
    }
}

/// The outcome as a word, with the reason behind it.
pub(super) fn said(tried: table::Tried) -> String {
    match tried {
        Ok(()) => "worked\t".to_owned(),
        Err(Refusal::Kernel(error)) => format!("refused\t{error}"),
        Err(Refusal::Skip(reason)) => format!("skipped\t{reason}"),
    }
}

/// Makes the calls outside of any sandbox that are to show what the kernel says there.
pub(crate) fn play_outside() -> ExitCode {
    let nowhere = Path::new("/nowhere");
    for attempt in table::all().filter(|attempt| matches!(attempt.twin, Twin::Outside)) {
        let said = said((attempt.action)(nowhere, &attempt.scene(nowhere)));
        println!("{}\t{said}", attempt.name);
    }
    ExitCode::SUCCESS
}
