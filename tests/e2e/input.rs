//! Where the prompt comes from, and from where the program is started.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use agent_test_support::{AgentCommand, Item, ModelServer, Step};

use crate::support::{LONG, Scene, agent, failure, messages, prints_events, user_texts, warnings};

#[test]
fn xm_01_an_open_pipe_without_a_writer_does_not_hold_the_turn_up() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let running = scene.exec(&["hi"]).stdin_open().spawn();
    assert!(scene.server.wait_for_requests(1, LONG));
    let run = running.wait();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(messages(&run), ["fin"]);
    let said = warnings(&run);
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("standard input said nothing"), "{said:?}");
    assert!(said[0].contains("--stdin wait"), "{said:?}");
}

#[test]
fn xm_03_prompt_and_piped_data_arrive_delimited() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = scene
        .exec(&["explain-77"])
        .stdin_bytes("line one\nLOGDATA-88\n")
        .run();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(
        user_texts(&scene, 0).last().unwrap(),
        "explain-77\n\n<stdin>\nline one\nLOGDATA-88\n</stdin>"
    );
    assert_eq!(warnings(&run), Vec::<String>::new());
}

#[test]
fn xm_03_five_megabytes_are_cut_with_a_note() {
    let server = ModelServer::builder(vec![Step::message("fin")]);
    let scene = Scene::start(server.item_cap(140_000).start());
    let mut data = b"0123456789abcdef\n".repeat(300_000);
    data.extend(b"THE-END");
    let run = scene.exec(&["explain"]).stdin_bytes(data).run();
    run.assert_code(0);
    scene.server.assert_clean();
    let text = user_texts(&scene, 0).pop().unwrap();
    assert!(text.len() < 200_000, "{}", text.len());
    assert!(text.contains("bytes of standard input omitted here"));
    assert!(text.ends_with("THE-END\n</stdin>"));
    let said = warnings(&run);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].contains("standard input has 5100007 bytes"),
        "{said:?}"
    );
}

#[test]
fn a_prompt_on_standard_input_is_the_prompt() {
    for args in [&["-"][..], &[]] {
        let scene = Scene::new(vec![Step::message("fin")]);
        let run = scene.exec(args).stdin_bytes("from the pipe\n").run();
        run.assert_code(0);
        assert_eq!(user_texts(&scene, 0).last().unwrap(), "from the pipe\n");
    }
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = scene.is_refused(&[]);
    assert!(run.stderr.contains("error: no prompt"), "{}", run.stderr);
    assert!(run.stderr.contains("hint: for example: agent exec"));
}

#[test]
fn xm_13_odd_working_directories_work() {
    let names: [&[u8]; 4] = [
        b"a dir with  spaces",
        b"a\nb",
        b"a\xff\xfeb",
        "ünï".as_bytes(),
    ];
    for name in names {
        let scene = Scene::new(vec![
            Step::items(vec![Item::command(
                "pwd | od -An -tx1 | tr -d ' \\n'; echo y > made.txt",
            )]),
            Step::items(vec![Item::patch(
                "*** Begin Patch\n*** Add File: patched.txt\n+p\n*** End Patch\n",
            )]),
            Step::message("fin"),
        ]);
        let cwd = scene.workspace.work().join(OsStr::from_bytes(name));
        std::fs::create_dir(&cwd).unwrap();
        let run = scene.exec(&["go"]).current_dir(&cwd).run();
        run.assert_code(0);
        scene.server.assert_clean();
        let hex: Vec<String> = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let hex = hex.concat();
        assert!(scene.printed(0, 0).contains(&hex), "{}", scene.output(0, 0));
        assert_eq!(
            std::fs::read_to_string(cwd.join("made.txt")).unwrap(),
            "y\n"
        );
        assert_eq!(
            std::fs::read_to_string(cwd.join("patched.txt")).unwrap(),
            "p\n"
        );
    }
}

#[test]
fn xm_13_the_root_directory_works() {
    let scene = Scene::new(vec![
        Step::items(vec![Item::command("pwd")]),
        Step::message("fin"),
    ]);
    let args = [
        "exec",
        "--json",
        "-s",
        "read-only",
        "--skip-git-repo-check",
        "go",
    ];
    let run = scene.agent(&args).current_dir("/").run();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(scene.printed(0, 0), "/\n");
}

#[test]
fn xm_13_outside_a_repository_it_refuses_and_says_how_to_go_on() {
    // The workspace of a test may itself be inside a repository; the root is in none.
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = scene.exec(&["go"]).current_dir("/").run();
    run.assert_code(2);
    assert_eq!(scene.server.requests().len(), 0);
    assert_eq!(
        run.stderr,
        "error: `/` is neither in a git repository nor a trusted directory\n\
         hint: go to a repository, or add `--skip-git-repo-check`\n"
    );
    let run = scene
        .exec(&["--skip-git-repo-check", "go"])
        .current_dir("/")
        .run();
    run.assert_code(0);
}

#[test]
fn xm_13_a_deleted_working_directory_is_refused() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
    let run = AgentCommand::new("sh", &scene.workspace)
        .args(["-c", script, "sh"])
        .arg(agent())
        .args(["exec", "--json", "go"])
        .checked_by(prints_events)
        .run();
    run.assert_code(2);
    assert_eq!(scene.server.requests().len(), 0);
    assert!(run.stderr.contains("the current directory cannot be used"));
    assert!(run.stderr.contains("--cd DIR"), "{}", run.stderr);
}

#[test]
fn a_missing_directory_for_cd_is_refused() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = scene.is_refused(&["--skip-git-repo-check", "--cd", "no/such", "go"]);
    let path: PathBuf = scene.workspace.work().join("no/such");
    let path = path.display();
    assert!(
        run.stderr
            .starts_with(&format!("error: cannot work in `{path}`: No such file")),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("hint: choose a directory with `--cd DIR`")
    );
}

/// A port of loopback where nobody listens.
fn dead_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn xm_15_a_proxy_is_gone_round_or_named() {
    let dead = format!("127.0.0.1:{}", dead_port());
    let proxied = |scene: &Scene| {
        let names = [
            "HTTPS_PROXY",
            "HTTP_PROXY",
            "https_proxy",
            "http_proxy",
            "ALL_PROXY",
        ];
        let command = scene.exec(&["go"]);
        names.into_iter().fold(command, |command, name| {
            command.env(name, format!("http://user:pass-9@{dead}"))
        })
    };
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = proxied(&scene).env("NO_PROXY", "127.0.0.1").run();
    run.assert_code(0);
    assert_eq!(messages(&run), ["fin"]);

    let scene = Scene::with_provider(
        vec![Step::message("fin")],
        "request_max_retries = 0\nstream_max_retries = 0\n",
    );
    let run = proxied(&scene).run();
    run.assert_code(1);
    assert_eq!(scene.server.requests().len(), 0);
    failure(&run);
    let hint = format!("hint: the request goes through the proxy `{dead}` that `http_proxy` names");
    assert!(run.stderr.contains(&hint), "{}", run.stderr);
    assert!(!run.stderr.contains("pass-9"), "{}", run.stderr);
}
