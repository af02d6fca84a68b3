//! Finding and ending every descendant of a process, where no pid namespace does it.

use std::collections::HashMap;
use std::fs;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const ROUNDS: usize = 1000;

/// Every living descendant of `ancestor`, parents before children.
pub(crate) fn descendants(ancestor: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut next = vec![ancestor.as_raw()];
    while let Some(parent) = next.pop() {
        let Some(children) = children(parent) else {
            return descendants_by_parent(ancestor);
        };
        for child in children {
            if living_with_parent(child).is_some() {
                found.push(Pid::from_raw(child));
            }
            next.push(child);
        }
    }
    found
}

/// The children of all threads of a process, where the kernel lists them.
fn children(pid: i32) -> Option<Vec<i32>> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Some(Vec::new()); // It has ended.
    };
    let mut children = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(text) => {
                children.extend(
                    text.split_ascii_whitespace()
                        .filter_map(|pid| pid.parse::<i32>().ok()),
                );
            }
            // Either the thread has ended or the kernel keeps no such lists.
            Err(_) if task.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(children)
}

/// The same by looking at every process there is.
fn descendants_by_parent(ancestor: Pid) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if let Some(parent) = living_with_parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![ancestor.as_raw()];
    while let Some(parent) = next.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            found.push(Pid::from_raw(child));
            next.push(child);
        }
    }
    found
}

/// The parent of a process that is not a zombie.
fn living_with_parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything, so count from the last one.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}

/// Sends a signal to every descendant.
pub(crate) fn signal_all(ancestor: Pid, signal: Signal) {
    for pid in descendants(ancestor) {
        let _ = kill(pid, signal);
    }
}

/// Ends every descendant: all are stopped first, until no new one appears, so that none can fork
/// away from the look-up.
pub(crate) fn kill_all(ancestor: Pid) {
    for _ in 0..ROUNDS {
        let mut stopped: Vec<Pid> = Vec::new();
        for _ in 0..ROUNDS {
            let mut news = descendants(ancestor);
            news.retain(|pid| !stopped.contains(pid));
            if news.is_empty() {
                break;
            }
            for pid in &news {
                let _ = kill(*pid, Signal::SIGSTOP);
            }
            stopped.append(&mut news);
        }
        let mut ended = stopped.is_empty();
        for pid in &stopped {
            // What may not be signalled has changed its user; there is no second way.
            ended |= kill(*pid, Signal::SIGKILL) == Err(Errno::EPERM);
        }
        if ended {
            return;
        }
        std::thread::yield_now();
    }
}
