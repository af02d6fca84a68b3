//! Modes, roots and homes: what is refused or hidden in less obvious places.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use agent_sandbox::NetworkAccess;

use crate::runner::Test;
use crate::support::{
    World, available, block_on, contents, eventually, mounts_hold, run, sh, shell, start,
};

pub(crate) const TESTS: &[Test] = &[
    ("secrets_cannot_be_moved", secrets_cannot_be_moved),
    ("no_program_gets_an_owner", no_program_gets_an_owner),
    (
        "sockets_that_appear_are_closed",
        sockets_that_appear_are_closed,
    ),
    ("variables_lead_to_no_socket", variables_lead_to_no_socket),
    ("unusable_roots_are_told", unusable_roots_are_told),
    (
        "the_home_of_the_account_counts",
        the_home_of_the_account_counts,
    ),
];

fn secrets_cannot_be_moved() {
    let world = World::new();
    world.write("H/.cache/huggingface/token", "PRIVATE");
    world.write("H/.config/gh/hosts.yml", "PRIVATE");
    let mut policy = world.policy();
    policy.cache_roots.push(world.base.join("H/.cache"));
    let script = "cd ../H/.cache; mv huggingface x; cat */token";
    let outcome = run(&world, &policy, script);
    assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
    assert!(world.base.join("H/.cache/huggingface").is_dir());
    policy.workspace = world.base.join("H");
    let outcome = run(&world, &policy, "cd ../H; mv .config cfg; cat */gh/*");
    assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
    assert!(world.base.join("H/.config/gh").is_dir());
}

fn no_program_gets_an_owner() {
    let world = World::new();
    let script = "cp /bin/true p; chmod u+s p; chmod 2755 p; chmod 0755 p && mkdir -m 1777 d && \
        mkdir t && (cd t && umask 0 && touch a && chmod 640 a && tar -cpf ../t.tar a && rm a && \
        tar -xpf ../t.tar) && echo FINE";
    let outcome = run(&world, &world.policy(), script);
    assert!(outcome.output.contains("FINE"), "{}", outcome.output);
    let mode = |path: &str| {
        world
            .base
            .join(path)
            .metadata()
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode("W/p") & 0o7777, 0o755);
    assert_eq!(mode("W/t/a") & 0o7777, 0o640);
    if !available("python3") {
        return;
    }
    let script = "import os\n\
        def t(f, *a, **k):\n    try: f(*a, **k)\n    except OSError as e: print(e.errno)\n\
        t(os.open, 'q', os.O_CREAT | os.O_WRONLY, 0o4755)\n\
        t(os.open, 'q', os.O_CREAT | os.O_WRONLY, 0o2755)\n\
        t(os.open, '.', os.O_TMPFILE | os.O_WRONLY, 0o4755)\n\
        t(os.mknod, 'q', 0o104755)\n\
        t(os.chmod, 'p', 0o4755)\n\
        t(os.chmod, os.open('p', os.O_RDONLY, 0o4755), 0o4755)\n";
    world.write("W/s.py", script);
    let outcome = run(&world, &world.policy(), "python3 s.py");
    assert_eq!(outcome.output, "1\n".repeat(6));
    assert!(!world.base.join("W/q").exists());
}

fn sockets_that_appear_are_closed() {
    if !available("python3") || !mounts_hold() {
        return;
    }
    let world = World::new();
    let connect = |path: &str| {
        format!(
            "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{path}')\" && \
            echo REACHED"
        )
    };
    block_on(async {
        let holder = start(&world.policy()).await;
        let cwd = world.workspace();
        sh(&holder, ":", &cwd).await;
        let _listeners =
            ["W/late", "T/late"].map(|path| UnixListener::bind(world.base.join(path)).unwrap());
        for path in ["late", "../T/late"] {
            let outcome = sh(&holder, &connect(path), &cwd).await;
            assert!(
                !outcome.output.contains("REACHED"),
                "{path}: {}",
                outcome.output
            );
        }
        // What another command serves stays reachable, and what it left can be removed.
        let output = tempfile::tempfile().unwrap();
        let script = "exec python3 -c \"import socket, time; s = socket.socket(socket.AF_UNIX); \
            s.bind('own'); s.listen(5); open('ready', 'w'); time.sleep(60)\"";
        let mut server = holder.spawn(shell(script, &cwd, &output)).await.unwrap();
        eventually("ready", || world.base.join("W/ready").exists());
        let outcome = sh(&holder, &connect("own"), &cwd).await;
        assert!(outcome.output.contains("REACHED"), "{}", outcome.output);
        server.kill().await;
        let outcome = sh(&holder, "rm own && echo GONE", &cwd).await;
        assert_eq!(outcome.output, "GONE\n");
        holder.shutdown().await;
    });
}

fn variables_lead_to_no_socket() {
    let world = World::new();
    for (network, expected) in [(NetworkAccess::Off, ""), (NetworkAccess::On, "/x\n")] {
        let mut policy = world.policy();
        policy.network = network;
        block_on(async {
            let holder = start(&policy).await;
            let output = tempfile::tempfile().unwrap();
            let mut spec = shell("printenv SSH_AUTH_SOCK", &world.workspace(), &output);
            spec.env.push(("SSH_AUTH_SOCK".into(), "/x".into()));
            let mut command = holder.spawn(spec).await.unwrap();
            command.wait().await.unwrap();
            assert_eq!(contents(output), expected);
            holder.shutdown().await;
        });
    }
}

fn unusable_roots_are_told() {
    let world = World::new();
    let mut policy = world.policy();
    assert_eq!(policy.unusable_roots(), [] as [&std::path::Path; 0]);
    policy.agent_home = world.base.join("H");
    policy.writable_roots = vec!["/".into(), world.base.join("H"), world.base.join("O")];
    let expected = [std::path::PathBuf::from("/"), world.base.join("H")];
    assert_eq!(policy.unusable_roots(), expected);
}

fn the_home_of_the_account_counts() {
    let Some(home) = agent_sandbox::account_home() else {
        return;
    };
    let mut policy = World::new().policy();
    policy.denied_reads.clear();
    policy.home = home;
    let hidden = policy.resolved_hidden_paths();
    policy.home = std::path::PathBuf::new();
    assert_eq!(policy.resolved_hidden_paths(), hidden);
}
