//! The network as a list of hosts, as a turn and `agent sandbox` meet it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use agent_test_support::{Item, Step};

use crate::support::{Scene, is_there, warnings};

/// A server of this machine that greets, and its port. It ends with the test program.
fn greeter() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"));
        }
    });
    port
}

/// Whether commands get a network of their own here; says so loudly if not.
fn has_own_network() -> bool {
    let run = Scene::new(Vec::new()).agent(&["doctor"]).run();
    let has = run
        .stdout
        .lines()
        .any(|line| line.starts_with("own network") && line.ends_with("yes"));
    if !has {
        eprintln!("SKIPPED: no namespaces here, so a list of hosts is refused");
    }
    has
}

fn scene(commands: &[&str], network: &str) -> Scene {
    let steps = commands
        .iter()
        .map(|command| Step::items(vec![Item::command(command)]));
    let steps = steps.chain([Step::message("fin")]).collect();
    Scene::with_config(steps, &format!("network = {network}"))
}

#[test]
fn the_model_is_told_which_host_was_refused_and_how_to_ask() {
    if !has_own_network() || !is_there("curl") {
        return;
    }
    let port = greeter();
    let reached = format!("curl -sS http://127.0.0.1:{port}/");
    let refused = "curl -sS https://y.example/ || echo rc=$?";
    let direct = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let list = format!("[\"127.0.0.1:{port}\", \"*.x.example:443\"]");
    let scene = scene(&[&reached, refused, &direct, &reached], &list);
    let run = scene.completes(&["go"]);
    assert_eq!(warnings(&run), Vec::<String>::new());
    assert_eq!(scene.printed(0, 0), "hello\n");
    assert!(
        !scene.output(0, 0).contains("Sandbox: "),
        "{}",
        scene.output(0, 0)
    );
    let output = scene.output(1, 0);
    assert!(output.contains("rc=56"), "{output}");
    let line = "\nSandbox: the sandbox refused `y.example:443`: it is not in the list `network` of \
        the configuration; if the task needs it, ask the user to add `\"y.example:443\"` to \
        `network`\n";
    assert!(output.contains(line), "{output}");
    // Past the proxy there is no way, and what a command was refused is not told of the next one.
    let output = scene.output(2, 0);
    assert!(!output.contains("connected\n"), "{output}");
    assert!(!output.contains("y.example"), "{output}");
    assert_eq!(scene.printed(3, 0), "hello\n");
    let told = format!("{:?}", scene.server.requests()[0].input());
    let told_hosts = format!("commands reach only `127.0.0.1:{port}`, `*.x.example:443`, through");
    assert!(told.contains(&told_hosts), "{told}");
}

#[test]
fn a_profile_does_not_replace_the_proxy() {
    if !has_own_network() || !is_there("curl") {
        return;
    }
    let port = greeter();
    let probe = format!("curl -sS http://127.0.0.1:{port}/; echo $FROM_PROFILE");
    let scene = scene(&[&probe], &format!("[\"127.0.0.1:{port}\"]"));
    let profile = "export http_proxy=http://192.0.2.1:1 HTTP_PROXY=x FROM_PROFILE=$all_proxy";
    let home = scene.workspace.user_home();
    std::fs::write(home.join(".bash_profile"), profile).unwrap();
    scene.completes(&["go"]);
    let printed = scene.printed(0, 0);
    // The address that the profile saw holds for the commands as well.
    let start = "hello\nhttp://127.0.0.1:";
    assert!(printed.starts_with(start), "{}", scene.output(0, 0));
}

#[test]
fn wrong_entries_end_with_2_and_say_what_is_right() {
    for (entry, right) in [
        ("*", "write `network = \"on\"` for that"),
        ("https://x.example/a", "write the host alone, `x.example`"),
        ("10.0.0.0/8", "addresses are listed one by one"),
    ] {
        let scene = scene(&[], &format!("[\"{entry}\"]"));
        let run = scene.is_refused(&["go"]);
        let start = format!("error: `network` cannot be read: the entry `{entry}` ");
        assert!(run.stderr.contains(&start), "{}", run.stderr);
        assert!(run.stderr.contains(right), "{}", run.stderr);
        assert!(run.stderr.contains("hint: `network` is "), "{}", run.stderr);
        scene.agent(&["sandbox", "--", "true"]).run().assert_code(2);
    }
}

#[test]
fn contradictions_are_warned_of() {
    let warned = |more: &[&str], mode: &str| {
        let scene = scene(&[], "[\"x.example\"]");
        let run = scene
            .agent(&["sandbox", "-s", mode])
            .args(more.iter().copied())
            .args(["--", "true"])
            .run();
        run.assert_code(0);
        run.stderr.clone()
    };
    let on = ["-c", "sandbox_workspace_write.network_access=true"];
    if has_own_network() {
        let said = warned(&on, "workspace-write");
        assert!(
            said.contains("says otherwise than `network`, which counts"),
            "{said}"
        );
        assert_eq!(warned(&[], "workspace-write"), "");
    }
    let said = warned(&[], "danger-full-access");
    assert!(said.contains("`network` has no effect"), "{said}");
}

#[test]
fn hosts_are_explained_from_the_list() {
    if !has_own_network() {
        return;
    }
    let scene = scene(&[], "[\"*.x.example:443\", \"y.example\"]");
    let explain = |host: &str| {
        let run = scene.agent(&["sandbox", "--explain", host]).run();
        run.assert_code(0);
        run.stdout.clone()
    };
    let said = explain("a.x.example:443");
    assert!(
        said.contains("reached on this port") && said.contains("`*.x.example:443`"),
        "{said}"
    );
    assert!(
        said.contains("not where the name leads to a loopback, private"),
        "{said}"
    );
    assert!(explain("a.x.example").contains("denied: on every other port"));
    assert!(explain("x.example:443").contains("denied: it is not in the list"));
    assert!(explain("192.0.2.1:443").contains("only if it is listed itself"));
    assert!(explain("y.example").contains("reached on every port"));
}

#[test]
fn a_command_of_its_own_has_the_proxy() {
    if !has_own_network() || !is_there("curl") {
        return;
    }
    let port = greeter();
    let list = format!("[\"localhost:{port}\"]");
    let scene = scene(&[], &list);
    let script = format!("curl -sS http://localhost:{port}/; curl -sS http://y.example/");
    let run = scene.agent(&["sandbox", "--", "sh", "-c", &script]).run();
    assert!(
        run.stdout
            .starts_with("hello\nthe sandbox refused `y.example:80`"),
        "{run:#?}"
    );
    assert!(
        run.stderr
            .contains("warning: the sandbox refused `y.example:80`"),
        "{run:#?}"
    );
}
