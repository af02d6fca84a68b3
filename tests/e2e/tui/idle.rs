//! Nothing happens, so nothing is done.

use std::time::Duration;

use super::support::{answers, ask, start};

/// How often the threads of a process went to sleep so far; each wake-up adds one.
fn n_sleeps(pid: u32) -> Vec<(String, u64)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the threads");
    let mut sleeps: Vec<(String, u64)> = tasks
        .flatten()
        .filter_map(|task| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            let value = |key: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(key));
                line.map(|value| value.trim().to_owned())
            };
            let name = format!("{} {}", value("Name:")?, value("Pid:")?);
            Some((name, value("voluntary_ctxt_switches:")?.parse().ok()?))
        })
        .collect();
    sleeps.sort();
    sleeps
}

#[test]
fn an_idle_interface_writes_nothing_and_never_wakes() {
    let scene = answers(&["hi there"]);
    let terminal = start(&scene);
    for said in [None, Some("hello")] {
        if let Some(said) = said {
            ask(&terminal, said, "hi there");
        }
        terminal.settle(Duration::from_millis(2500));
        let (n_bytes, before) = (terminal.n_bytes(), n_sleeps(terminal.pid()));
        // What is measured is that nothing happens in this time.
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(n_sleeps(terminal.pid()), before, "after {said:?}");
        assert_eq!(terminal.n_bytes(), n_bytes, "after {said:?}");
    }
}
