//! `kill -9` at any moment: what was recorded is not lost, and the session goes on.

use std::time::Duration;

use agent_test_support::{Item, ModelServer, Step};

use crate::support::{Scene, messages};

/// Three calls, slow enough that each moment of the turn can be hit.
fn turn() -> Vec<Step> {
    let slow = Duration::from_millis(15);
    vec![
        Step::items(vec![
            Item::message("one"),
            Item::command("sleep 0.05; echo first"),
        ])
        .delay(slow),
        Step::items(vec![
            Item::command("echo second"),
            Item::patch("*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n"),
        ])
        .delay(slow),
        Step::message("done").delay(slow),
    ]
}

/// What the rollout holds of the conversation: whole lines only.
fn recorded_calls(scene: &Scene) -> Vec<String> {
    let sessions = scene.workspace.home().join("sessions");
    let mut calls = Vec::new();
    let mut open = vec![sessions];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let Ok(record) = serde_json::from_str::<serde_json::Value>(line) else {
                    continue;
                };
                if let Some(id) = record["payload"]["call_id"].as_str()
                    && !record["payload"]["type"]
                        .as_str()
                        .unwrap()
                        .ends_with("_output")
                {
                    calls.push(id.to_owned());
                }
            }
        }
    }
    calls
}

#[test]
fn a_turn_killed_at_twenty_moments_resumes_each_time() {
    for moment in 0..20_u64 {
        let scene = Scene::new(turn());
        let running = scene.exec(&["go"]).spawn();
        std::thread::sleep(Duration::from_millis(5 + moment * 12));
        running.signal("KILL");
        running.wait();
        let recorded = recorded_calls(&scene);

        let server = ModelServer::start(vec![Step::message("went on")]);
        scene.workspace.config(&server, "");
        let run = scene.exec(&["resume", "--last", "go on"]).run();
        if run.code == Some(2) {
            // Killed before there was a session.
            assert!(recorded.is_empty(), "moment {moment}: {}", run.stderr);
            continue;
        }
        run.assert_code(0);
        server.assert_clean();
        assert_eq!(messages(&run), ["went on"], "moment {moment}");
        let requests = server.requests();
        let input = requests[0].input();
        for id in &recorded {
            let has = |kind: &str| {
                input.iter().any(|item| {
                    item["call_id"] == id.as_str()
                        && item["type"].as_str().is_some_and(|t| t.ends_with(kind))
                })
            };
            assert!(has("_call"), "moment {moment}: call {id} is lost");
            assert!(has("_output"), "moment {moment}: call {id} has no output");
        }
        let last = input.last().unwrap().to_string();
        assert!(last.contains("go on"), "moment {moment}: {last}");
    }
}
