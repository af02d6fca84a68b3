//! The network as a list of hosts: what is reached through the proxy, and that nothing else is.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;

use agent_protocol::SandboxMode;
use agent_sandbox::{HostList, LevelRefusal, NetworkAccess, SandboxError, SandboxPolicy};

use crate::runner::Test;
use crate::support::{
    Outcome, World, again, available, block_on, mounts_hold, run, sh, start, with_level,
};

pub(crate) const TESTS: &[Test] = &[
    ("listed_hosts_are_reached", listed_hosts_are_reached),
    ("other_hosts_are_refused", other_hosts_are_refused),
    ("no_way_leads_past_the_proxy", no_way_leads_past_the_proxy),
    (
        "own_servers_are_reached_directly",
        own_servers_are_reached_directly,
    ),
    ("proxy_variables_are_replaced", proxy_variables_are_replaced),
    (
        "a_dropped_holder_ends_the_proxy",
        a_dropped_holder_ends_the_proxy,
    ),
    ("one_shots_have_the_proxy", one_shots_have_the_proxy),
    ("full_access_has_no_proxy", full_access_has_no_proxy),
    ("a_list_needs_namespaces", a_list_needs_namespaces),
];

/// A server of this machine that greets, and its port. It ends with the process.
pub(crate) fn greeter() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap_or(0) == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let answer =
                b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";
            drop(stream.write_all(answer));
        }
    });
    port
}

fn listed(world: &World, entries: &[&str]) -> SandboxPolicy {
    let mut policy = world.policy();
    policy.network = NetworkAccess::Hosts(HostList::parse(entries).unwrap());
    policy
}

/// What is refused with a script, a line each, and what the script did.
fn refusals(world: &World, policy: &SandboxPolicy, script: &str) -> (String, Outcome) {
    block_on(async {
        let holder = start(policy).await;
        let output = tempfile::tempfile().unwrap();
        let spec = crate::support::shell(script, &world.workspace(), &output);
        let mut command = holder.spawn(spec).await.unwrap();
        let end = command.wait().await.unwrap();
        command.kill().await;
        let refused = command.refused_hosts();
        let refused: Vec<_> = refused.iter().map(ToString::to_string).collect();
        let refused = refused.join("\n");
        let output = crate::support::contents(output);
        let findings = command.findings().to_vec();
        holder.shutdown().await;
        (
            refused,
            Outcome {
                end,
                output,
                findings,
            },
        )
    })
}

fn listed_hosts_are_reached() {
    if !mounts_hold() || !available("curl") {
        return;
    }
    let world = World::new();
    let port = greeter();
    let entry = format!("127.0.0.1:{port}");
    let url = format!("http://127.0.0.1:{port}/");
    for mode in [SandboxMode::ReadOnly, SandboxMode::WorkspaceWrite] {
        let mut policy = listed(&world, &[&entry]);
        policy.mode = mode;
        let script = format!(
            "curl -sS {url}; curl -sSp {url}; curl -sSx $ALL_PROXY {url}; \
             curl -sSx socks5://127.0.0.1:${{HTTP_PROXY##*:}} {url}"
        );
        let (refused, outcome) = refusals(&world, &policy, &script);
        assert_eq!(outcome.output, "hello\n".repeat(4), "{mode}");
        assert_eq!(refused, "");
    }
    // By name, which the commands cannot look up themselves.
    let policy = listed(&world, &[&format!("localhost:{port}")]);
    let outcome = run(
        &world,
        &policy,
        &format!("curl -sS http://localhost:{port}/"),
    );
    assert_eq!(outcome.output, "hello\n");
}

fn other_hosts_are_refused() {
    if !mounts_hold() || !available("curl") {
        return;
    }
    let world = World::new();
    let port = greeter();
    let policy = listed(&world, &["x.example", "localhost:1"]);
    let script = format!(
        "unset no_proxy NO_PROXY; curl -sS http://127.0.0.1:{port}/; curl -sSp http://localhost:{port}/; \
         curl -sSx $ALL_PROXY http://[::ffff:127.0.0.1]:{port}/; curl -sS https://y.example/; \
         curl -sS http://2130706433:{port}/"
    );
    let (refused, outcome) = refusals(&world, &policy, &script);
    assert!(!outcome.output.contains("hello"), "{}", outcome.output);
    // What the client shows of it says who refused, and how to ask.
    assert!(
        outcome.output.contains("the sandbox refused `127.0.0.1:"),
        "{}",
        outcome.output
    );
    assert!(outcome.output.contains("403"), "{}", outcome.output);
    for named in [
        &format!("`127.0.0.1:{port}`"),
        &format!("`localhost:{port}`"),
        "`y.example:443`",
    ] {
        assert!(refused.contains(named), "{named}: {refused}");
    }
    assert!(
        refused.contains("ask the user to add `\"y.example:443\"` to `network`"),
        "{refused}"
    );
}

fn no_way_leads_past_the_proxy() {
    if !mounts_hold() {
        return;
    }
    let world = World::new();
    let port = greeter();
    let policy = listed(&world, &[&format!("127.0.0.1:{port}")]);
    let script = format!(
        "exec 2>&1; for host in 127.0.0.1 localhost 192.0.2.1; do \
           bash -c \"echo > /dev/tcp/$host/{port}\" && echo reached; done; \
         for host in 127.0.0.1 192.0.2.1; do \
           bash -c \"echo > /dev/udp/$host/53\" && echo sent $host; done; \
         tail -n +3 /proc/self/net/dev | grep -v ' lo:'; ip route 2>/dev/null; echo tried"
    );
    let outcome = run(&world, &policy, &script);
    assert!(!outcome.output.contains("reached"), "{}", outcome.output);
    assert!(!outcome.output.contains("sent 192"), "{}", outcome.output);
    assert!(outcome.output.ends_with("tried\n"), "{}", outcome.output);
}

fn own_servers_are_reached_directly() {
    if !mounts_hold() || !available("curl") || !available("python3") {
        return;
    }
    let world = World::new();
    let port = greeter();
    world.write("W/own", "own\n");
    // The machine's server is listed by one spelling; by another one it is their own.
    let policy = listed(&world, &[&format!("127.0.0.1:{port}")]);
    block_on(async {
        let holder = start(&policy).await;
        let output = tempfile::tempfile().unwrap();
        let script = format!("exec python3 -m http.server --bind 127.0.0.1 {port}");
        let spec = crate::support::shell(&script, &world.workspace(), &output);
        let mut server = holder.spawn(spec).await.unwrap();
        let script = format!(
            "for i in $(seq 200); do curl -s http://localhost:{port}/own && break; sleep 0.02; \
             done; curl -sS http://127.0.0.1:{port}/own"
        );
        let outcome = sh(&holder, &script, &world.workspace()).await;
        assert_eq!(outcome.output, "own\nhello\n");
        server.kill().await;
        holder.shutdown().await;
    });
}

fn proxy_variables_are_replaced() {
    if !mounts_hold() {
        return;
    }
    let world = World::new();
    let policy = listed(&world, &["x.example"]);
    block_on(async {
        let holder = start(&policy).await;
        let output = tempfile::tempfile().unwrap();
        let script = "env | grep -i proxy | sort; printenv SSH_AUTH_SOCK; \
            printenv AGENT_SANDBOX_NETWORK_DISABLED";
        let mut spec = crate::support::shell(script, &world.workspace(), &output);
        for name in [
            "http_proxy",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "no_proxy",
            "SSH_AUTH_SOCK",
        ] {
            spec.env.push((name.into(), "theirs".into()));
        }
        let mut command = holder.spawn(spec).await.unwrap();
        command.wait().await.unwrap();
        let said = crate::support::contents(output);
        let mut http = said
            .lines()
            .filter_map(|line| line.strip_prefix("http_proxy="));
        let port = http.next().unwrap().rsplit_once(':').unwrap().1;
        let http = format!("http://127.0.0.1:{port}");
        let own = "localhost,127.0.0.1,::1";
        let mut expected = vec!["NODE_USE_ENV_PROXY=1".to_owned()];
        for (name, value) in [
            ("http_proxy", http.as_str()),
            ("https_proxy", &http),
            ("all_proxy", &http),
            ("no_proxy", own),
        ] {
            expected.push(format!("{name}={value}"));
            expected.push(format!("{}={value}", name.to_uppercase()));
        }
        expected.sort();
        assert_eq!(said.lines().collect::<Vec<_>>(), expected);
        holder.shutdown().await;
    });
}

fn a_dropped_holder_ends_the_proxy() {
    if !mounts_hold() || !available("curl") {
        return;
    }
    let world = World::new();
    // Says nothing, and sees when the connection ends.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let policy = listed(&world, &[&format!("127.0.0.1:{port}")]);
    block_on(async {
        let holder = start(&policy).await;
        let output = tempfile::tempfile().unwrap();
        let script = format!("exec curl -sS http://127.0.0.1:{port}/");
        let spec = crate::support::shell(&script, &world.workspace(), &output);
        let _command = holder.spawn(spec).await.unwrap();
        let accepted = tokio::task::spawn_blocking(move || silent.accept().unwrap().0);
        let mut stream = accepted.await.unwrap();
        drop(holder);
        let ended = tokio::task::spawn_blocking(move || stream.read_to_end(&mut Vec::new()));
        drop(ended.await.unwrap());
    });
}

fn one_shots_have_the_proxy() {
    if !mounts_hold() || !available("curl") {
        return;
    }
    let world = World::new();
    let port = greeter();
    let url = format!("http://127.0.0.1:{port}/");
    let script = format!("curl -sS {url}; curl -sS http://y.example/; curl -sSp {url}");
    for threads in ["", "more"] {
        let output = again("oneshot")
            .args(["sh", "-c", &script])
            .env("TEST_HOSTS", format!("127.0.0.1:{port}"))
            .env("TEST_THREADS", threads)
            .current_dir(world.workspace())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let refused = stdout.matches("the sandbox refused `y.example:80`").count();
        assert_eq!(
            (stdout.matches("hello\n").count(), refused),
            (2, 1),
            "{stdout}{stderr}"
        );
        assert!(
            stderr.contains("REFUSED the sandbox refused `y.example:80`"),
            "{stderr}"
        );
    }
}

fn full_access_has_no_proxy() {
    let world = World::new();
    let port = greeter();
    let mut policy = listed(&world, &["x.example"]);
    policy.mode = SandboxMode::DangerFullAccess;
    let script =
        format!("printenv HTTP_PROXY; bash -c 'echo > /dev/tcp/127.0.0.1/{port}' && echo reached");
    assert_eq!(run(&world, &policy, &script).output, "reached\n");
}

fn a_list_needs_namespaces() {
    let world = World::new();
    with_level(&listed(&world, &["x.example"]), |outcome| {
        if mounts_hold() {
            assert_eq!(outcome.unwrap().refusal, None);
            return;
        }
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains("needs namespaces"), "{error}");
        let SandboxError::Unavailable { report } = error else {
            panic!("{error}");
        };
        assert_eq!(report.refusal, Some(LevelRefusal::HostList));
    });
    if !mounts_hold() {
        let output = again("oneshot")
            .args(["touch", "ran"])
            .env("TEST_HOSTS", "x.example")
            .current_dir(world.workspace())
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(!world.base.join("W/ran").exists());
    }
}
