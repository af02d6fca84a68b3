//! Going on with a saved session, also where its file is not what it was.

use agent_test_support::{Item, Step};

use crate::support::{LONG, Scene, messages, soon, user_texts, warnings};

/// One finished turn, with a call in it; the id of its session.
fn one_turn() -> (Scene, String) {
    let scene = Scene::new(vec![
        Step::items(vec![Item::reasoning("r"), Item::command("echo first")]),
        Step::message("answer 1"),
        Step::message("answer 2"),
        Step::message("answer 3"),
    ]);
    let run = scene.completes(&["user text 1"]);
    let id = run.events[0]["thread_id"].as_str().unwrap().to_owned();
    (scene, id)
}

#[test]
fn rr_01_a_torn_last_line_is_left_behind_and_named() {
    let (scene, _) = one_turn();
    let rollout = scene.rollouts().pop().unwrap();
    let whole = std::fs::read(&rollout).unwrap();
    let kept = &whole[..whole.len() - 25];
    std::fs::write(&rollout, kept).unwrap();
    let torn = &kept[kept.iter().rposition(|byte| *byte == b'\n').unwrap() + 1..];
    assert!(!torn.is_empty());

    let run = scene.completes(&["resume", "--last", "user text 2"]);
    assert_eq!(messages(&run), ["answer 2"]);
    assert!(user_texts(&scene, 2).contains(&"user text 1".to_owned()));
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(rollout.to_str().unwrap()), "{said:?}");
    assert!(said[0].contains("damaged"), "{said:?}");

    // The torn record stays as it was, on a line of its own.
    let after = std::fs::read(&rollout).unwrap();
    assert!(after.starts_with(kept));
    assert_eq!(after[kept.len()], b'\n');
    let lines: Vec<&[u8]> = after.split(|byte| *byte == b'\n').collect();
    let broken = lines
        .iter()
        .filter(|line| !line.is_empty())
        .filter(|line| serde_json::from_slice::<serde_json::Value>(line).is_err());
    assert_eq!(broken.collect::<Vec<_>>(), [&torn]);
    assert_eq!(scene.rollouts().len(), 1);
}

#[test]
fn a_damaged_line_in_the_middle_is_named_in_a_warning() {
    let (mut scene, id) = one_turn();
    let rollout = scene.rollouts().pop().unwrap();
    let text = std::fs::read_to_string(&rollout).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let middle = lines
        .iter()
        .position(|line| line.contains("\"reasoning\""))
        .unwrap();
    lines[middle] = lines[middle].replace('{', "?");
    std::fs::write(&rollout, lines.join("\n") + "\n").unwrap();
    // The server of before would miss the lost item; another one has seen nothing yet.
    scene.answer_by(vec![Step::message("went on")]);
    let run = scene.completes(&["resume", &id, "user text 2"]);
    assert_eq!(messages(&run), ["went on"]);
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(rollout.to_str().unwrap()), "{said:?}");
    assert!(said[0].contains("damaged"), "{said:?}");
    let texts = user_texts(&scene, 0);
    assert!(texts.contains(&"user text 1".to_owned()), "{texts:?}");
    let input = scene.server.requests()[0].input().to_owned();
    assert!(
        input
            .iter()
            .any(|item| item["type"] == "function_call_output")
    );
}

#[test]
fn a_resumed_session_begins_with_the_same_input() {
    let (scene, id) = one_turn();
    let run = scene.completes(&["resume", &id, "user text 2"]);
    assert_eq!(run.events[0]["thread_id"], id.as_str());
    assert_eq!(warnings(&run), Vec::<String>::new());
    let run = scene.completes(&["resume", "--last", "user text 3"]);
    assert_eq!(run.events[0]["thread_id"], id.as_str());
    assert_eq!(messages(&run), ["answer 3"]);
    let requests = scene.server.requests();
    for pair in requests.windows(2) {
        let before = pair[0].input();
        assert_eq!(before, &pair[1].input()[..before.len()]);
        for key in ["instructions", "tools", "prompt_cache_key"] {
            assert_eq!(pair[0].body[key], pair[1].body[key]);
        }
    }
    let texts = user_texts(&scene, 3);
    let own = texts.iter().filter(|text| text.starts_with("user text"));
    assert_eq!(
        own.collect::<Vec<_>>(),
        ["user text 1", "user text 2", "user text 3"]
    );
    assert_eq!(scene.rollouts().len(), 1);
}

#[test]
fn an_unknown_id_is_refused_by_its_name() {
    let (scene, _) = one_turn();
    let n_requests = scene.server.requests().len();
    for id in [
        "01a22e9d-50b5-765b-a106-000000000000",
        "no-such-id",
        "../../etc/passwd",
    ] {
        let run = scene.exec(&["resume", id, "go on"]).run();
        run.assert_code(2);
        assert!(
            run.stderr.contains(&format!("no session `{id}`")),
            "{}",
            run.stderr
        );
    }
    let run = scene.exec(&["resume"]).run();
    run.assert_code(2);
    assert!(
        run.stderr.contains("hint: agent exec resume --last"),
        "{}",
        run.stderr
    );
    assert_eq!(scene.server.requests().len(), n_requests);
}

#[test]
fn without_any_session_the_last_one_is_refused() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = scene.is_refused(&["resume", "--last", "go on"]);
    assert!(
        run.stderr.contains("there is no session yet"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("hint: start a new session"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_session_in_use_is_refused_until_its_process_is_gone() {
    for signal in ["INT", "KILL"] {
        let (mut scene, id) = one_turn();
        scene.answer_by(vec![Step::message("never").hang_after_created()]);
        let first = scene.exec(&["resume", &id, "user text 2"]).spawn();
        assert!(scene.server.wait_for_requests(1, LONG));
        let second = scene.exec(&["resume", &id, "me too"]).run();
        second.assert_code(2);
        assert!(
            second
                .stderr
                .contains("another process is using the session")
        );
        assert!(second.stderr.contains("hint: end the other process first"));
        assert_eq!(scene.server.requests().len(), 1);
        first.signal(signal);
        first.wait();

        scene.answer_by(vec![Step::message("went on")]);
        let run = scene.completes(&["resume", &id, "user text 3"]);
        assert_eq!(messages(&run), ["went on"]);
        let texts = user_texts(&scene, 0);
        assert!(texts.contains(&"user text 2".to_owned()), "{texts:?}");
        assert!(!texts.contains(&"me too".to_owned()), "{texts:?}");
    }
}

#[test]
fn an_ephemeral_run_writes_nothing_of_the_session() {
    let scene = Scene::new(vec![
        Step::items(vec![Item::command("echo hi")]),
        Step::message("fin"),
    ]);
    let names = || {
        let entries = std::fs::read_dir(scene.workspace.home()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<std::collections::BTreeSet<String>>()
    };
    scene.completes(&["--ephemeral", "go"]);
    // The names of the program for its commands are the same for all sessions.
    let expected = ["config.toml", "shims"].map(str::to_owned);
    assert_eq!(names(), expected.into());
    scene.completes(&["go"]);
    assert!(names().contains("sessions"));
}

#[test]
fn an_ephemeral_resume_leaves_the_session_as_it_was() {
    let (scene, id) = one_turn();
    let rollout = scene.rollouts().pop().unwrap();
    let before = std::fs::read(&rollout).unwrap();
    let run = scene.completes(&["--ephemeral", "resume", &id, "user text 2"]);
    assert_eq!(messages(&run), ["answer 2"]);
    assert_eq!(std::fs::read(&rollout).unwrap(), before);
    assert_eq!(scene.rollouts(), [rollout]);
}

#[test]
fn the_last_session_is_that_of_the_directory() {
    let (scene, id) = one_turn();
    let elsewhere = scene.workspace.work().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let run = scene.exec(&["other text"]).current_dir(&elsewhere).run();
    run.assert_code(0);
    let other = run.events[0]["thread_id"].as_str().unwrap();
    assert_ne!(other, id);
    let run = scene.completes(&["resume", "--last", "back here"]);
    assert_eq!(run.events[0]["thread_id"], id.as_str());
}

#[test]
fn a_call_that_was_running_when_the_machine_stopped_has_an_output_afterwards() {
    let mut scene = Scene::new(vec![Step::items(vec![Item::command(
        "touch begun; sleep 600",
    )])]);
    let running = scene.exec(&["user text 1"]).spawn();
    let begun = scene.workspace.work().join("begun");
    assert!(soon(|| begun.exists()));
    running.signal("KILL");
    running.wait();
    scene.answer_by(vec![Step::message("went on")]);
    let run = scene.completes(&["resume", "--last", "user text 2"]);
    assert_eq!(messages(&run), ["went on"]);
    let output = scene.output(0, 0);
    assert!(
        !output.is_empty() && !output.contains("Process exited"),
        "{output}"
    );
}

#[test]
fn another_model_and_sandbox_are_told_and_nothing_is_lost() {
    let (mut scene, id) = one_turn();
    scene.answer_by(vec![Step::message("went on")]);
    let args = [
        "exec",
        "--json",
        "-m",
        "other-model",
        "-s",
        "read-only",
        "resume",
        &id,
        "go on",
    ];
    scene.agent(&args).run().assert_code(0);
    scene.server.assert_clean();
    let request = &scene.server.requests()[0];
    assert_eq!(request.body["model"], "other-model");
    let texts = user_texts(&scene, 0);
    assert!(texts.contains(&"user text 1".to_owned()), "{texts:?}");
    assert!(request.raw.contains("read-only"));
}
