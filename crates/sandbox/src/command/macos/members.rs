//! Finding and ending the processes of a command: its session, and all descendants of that.

use std::collections::HashSet;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getsid};

use crate::sys;

const ROUNDS: usize = 100;

/// The living processes of the command whose first process is `leader`.
pub(super) fn of(leader: Pid) -> Vec<Pid> {
    let processes: Vec<(Pid, Pid)> = sys::process_ids()
        .into_iter()
        .filter_map(|process| Some((process, sys::living_with_parent(process)?)))
        .collect();
    let in_session = |process: Pid| process == leader || getsid(Some(process)) == Ok(leader);
    let mut members: HashSet<Pid> = processes
        .iter()
        .map(|(process, _)| *process)
        .filter(|process| in_session(*process))
        .collect();
    loop {
        let n_before = members.len();
        for (process, parent) in &processes {
            if members.contains(parent) {
                members.insert(*process);
            }
        }
        if members.len() == n_before {
            return members.into_iter().collect();
        }
    }
}

/// Sends a signal to every process of the command.
pub(super) fn signal_all(leader: Pid, signal: Signal) {
    for process in of(leader) {
        let _ = kill(process, signal);
    }
}

/// Ends the command: all are stopped first, until no new one appears, so that none can fork away
/// from the look-up.
pub(super) fn kill_all(leader: Pid) {
    for _ in 0..ROUNDS {
        let mut stopped = HashSet::new();
        for _ in 0..ROUNDS {
            let mut news = of(leader);
            news.retain(|process| !stopped.contains(process));
            if news.is_empty() {
                break;
            }
            for process in &news {
                let _ = kill(*process, Signal::SIGSTOP);
            }
            stopped.extend(news);
        }
        for process in &stopped {
            let _ = kill(*process, Signal::SIGKILL);
        }
        if stopped.is_empty() {
            break;
        }
        std::thread::yield_now();
    }
    // What no list names, if anything.
    let _ = killpg(leader, Signal::SIGKILL);
}
