//! Settings that are wrong: each is named with its place and a way out, before anything is sent.

use agent_test_support::{Run, Step};

use crate::support::{Scene, messages, user_texts, warnings};

fn scene() -> Scene {
    Scene::new(vec![Step::message("fin")])
}

/// A scene whose configuration is this text before the usual one.
fn configured(more: &str) -> Scene {
    Scene::with_config(vec![Step::message("fin")], more)
}

/// The number of the line that has this text, counting from 1.
fn line_of(scene: &Scene, text: &str) -> usize {
    let config = scene
        .workspace
        .read(scene.workspace.home().join("config.toml"));
    config.lines().position(|line| line == text).unwrap() + 1
}

/// What a refused run says, on both streams.
#[track_caller]
fn assert_says(run: &Run, parts: &[&str]) {
    for part in parts {
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
    }
    let event = &run.events[0];
    assert_eq!(event["type"], "error");
    let message = event["message"].as_str().unwrap();
    assert!(
        run.stderr.starts_with(&format!("error: {message}\n")),
        "{run:#?}"
    );
    assert_eq!(run.events.len(), 1);
}

#[test]
fn cf_03_a_missing_key_is_named_by_its_variable() {
    for value in [None, Some("")] {
        let scene = scene();
        let command = scene.exec(&["go"]);
        let command = match value {
            None => command.without_env("MOCK_KEY"),
            Some(value) => command.env("MOCK_KEY", value),
        };
        let run = command.run();
        run.assert_code(2);
        assert_eq!(scene.server.requests().len(), 0);
        let message =
            "the provider `mock` needs an API key, and the variable `MOCK_KEY` is not set";
        assert_says(&run, &[message, "hint: export MOCK_KEY="]);
    }
}

#[test]
fn a_header_whose_variable_is_missing_is_left_out_with_a_warning() {
    let scene = scene();
    let provider = "env_http_headers = { \"x-team\" = \"TEAM_77\" }\n";
    scene
        .workspace
        .config_with(&scene.server.base_url(), "", provider);
    let run = scene.completes(&["go"]);
    assert!(
        warnings(&run)[0].contains("`TEAM_77` is not set"),
        "{:?}",
        warnings(&run)
    );
    let run = scene.exec(&["go"]).env("TEAM_77", "blue").run();
    run.assert_code(0);
    assert_eq!(scene.server.requests()[1].header("x-team"), Some("blue"));
}

#[test]
fn broken_toml_is_placed_by_file_line_and_column() {
    let scene = scene();
    let file = scene.workspace.home().join("config.toml");
    std::fs::write(&file, "model = \"x\"\nsandbox_mode = [\n").unwrap();
    let run = scene.is_refused(&["go"]);
    let place = format!("{}:2:", file.display());
    assert!(
        run.stderr.starts_with(&format!("error: {place}")),
        "{}",
        run.stderr
    );
    let column = run
        .stderr
        .split(&place)
        .nth(1)
        .unwrap()
        .split(':')
        .next()
        .unwrap();
    assert!(column.parse::<usize>().is_ok(), "{}", run.stderr);
    assert_says(&run, &[&place]);
}

#[test]
fn a_value_of_the_wrong_type_is_placed_and_explained() {
    let rows = [
        ("model = 7", "`model` must be"),
        ("sandbox_mode = \"workspace\"", "`sandbox_mode` must be"),
        (
            "project_doc_max_bytes = -1",
            "`project_doc_max_bytes` must be",
        ),
        ("file_fsync = \"yes\"", "`file_fsync` must be"),
    ];
    for (line, part) in rows {
        let scene = scene();
        let file = scene.workspace.home().join("config.toml");
        std::fs::write(&file, format!("\n{line}\n")).unwrap();
        let run = scene.is_refused(&["go", "-c", "model_provider=\"mock\""]);
        assert_says(&run, &[part, &format!("{}:2:", file.display())]);
    }
}

#[test]
fn cf_01_unknown_keys_are_warned_of_with_the_nearest_one() {
    let scene = configured("modle = \"x\"\nsandbx.a = 1");
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["fin"]);
    let said = warnings(&run);
    assert_eq!(said.len(), 2, "{said:?}");
    let file = scene.workspace.home().join("config.toml");
    let line = line_of(&scene, "modle = \"x\"");
    assert!(
        said[0].contains(&format!("{}:{line}:1", file.display())),
        "{said:?}"
    );
    assert!(
        said[0].contains("`modle`") && said[0].contains("`model`"),
        "{said:?}"
    );
    assert!(said[1].contains("`sandbx"), "{said:?}");
}

#[test]
fn cf_01_strict_config_makes_them_an_error() {
    let scene = configured("modle = \"x\"");
    let run = scene.is_refused(&["--strict-config", "go"]);
    assert_says(&run, &["`modle`", "`model`", "hint: correct the key"]);
    configured("").completes(&["--strict-config", "go"]);
}

#[test]
fn overrides_are_checked_like_the_file() {
    let rows = [
        ("model", "an override is written `KEY=VALUE`"),
        ("sandbox_mode=nonsense", "`sandbox_mode` must be"),
        (
            "model_provider=nowhere",
            "there is no `[model_providers.nowhere]`",
        ),
        ("model_providers.mock.wire_api=chat", "wire_api = \"chat\""),
        (
            "model_instructions_file=/no/such/file",
            "cannot read `model_instructions_file`",
        ),
    ];
    for (argument, part) in rows {
        let run = scene().is_refused(&["-c", argument, "go"]);
        assert_says(&run, &[part]);
    }
    let run = scene().completes(&["-c", "modle=x", "go"]);
    assert!(
        warnings(&run)[0].contains("`modle`"),
        "{:?}",
        warnings(&run)
    );
}

#[test]
fn cf_07_options_win_over_overrides_and_those_over_the_file() {
    let rows: [(&[&str], &str); 4] = [
        (&["go"], "mock-model"),
        (&["-c", "model=\"c-model\"", "go"], "c-model"),
        (
            &["-c", "model=c-model", "-m", "flag-model", "go"],
            "flag-model",
        ),
        (
            &["-m", "flag-model", "-c", "model=c-model", "go"],
            "flag-model",
        ),
    ];
    for (args, model) in rows {
        let scene = scene();
        scene.completes(args);
        assert_eq!(scene.server.requests()[0].body["model"], model);
    }
}

#[test]
fn an_ignored_user_file_is_not_even_parsed() {
    let scene = scene();
    std::fs::write(scene.workspace.home().join("config.toml"), "model = [\n").unwrap();
    let url = format!("openai_base_url=\"{}\"", scene.server.base_url());
    let args = ["--ignore-user-config", "-c", &url, "-m", "m", "go"];
    let run = scene.exec(&args).env("CODEX_API_KEY", "sdk-key").run();
    run.assert_code(0);
    scene.server.assert_clean();
    let request = &scene.server.requests()[0];
    assert_eq!(request.header("authorization"), Some("Bearer sdk-key"));
    assert_eq!(user_texts(&scene, 0).last().unwrap(), "go");
}

#[test]
fn a_writable_root_that_is_missing_is_left_out_with_a_warning() {
    let scene = scene();
    let run = scene.completes(&["--add-dir", "no/such", "go"]);
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("no/such` is no directory and is left out"),
        "{said:?}"
    );
}

#[test]
fn without_any_home_the_program_says_what_to_set() {
    let scene = scene();
    let run = scene
        .exec(&["go"])
        .without_env("HOME")
        .without_env("AGENT_HOME")
        .run();
    run.assert_code(2);
    assert_says(
        &run,
        &[
            "neither AGENT_HOME nor HOME is set",
            "hint: export AGENT_HOME=DIR",
        ],
    );
}

#[test]
fn every_way_to_say_when_to_ask_is_understood() {
    for policy in ["untrusted", "on-request", "never"] {
        let scene = scene();
        scene.completes(&["-a", policy, "go"]);
        let raw = &scene.server.requests()[0].raw;
        assert!(raw.contains(policy), "{policy} in {raw}");
    }
    let granular = "approval_policy = { granular = { sandbox_approval = true } }";
    configured(granular).completes(&["go"]);
    let run = scene().exec(&["-a", "sometimes", "go"]).run();
    run.assert_code(2);
    assert!(run.stderr.contains("sometimes") && run.stderr.contains("on-request"));
    let run = scene().exec(&["--yolo", "go"]).run();
    run.assert_code(2);
    assert!(run.stderr.contains("--sandbox"), "{}", run.stderr);
}
