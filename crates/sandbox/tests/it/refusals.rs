//! Modes, roots and homes: what is refused or hidden in less obvious places.

use std::os::unix::fs::PermissionsExt;

use crate::runner::Test;
use crate::support::{World, available, run};

pub(crate) const TESTS: &[Test] = &[
    ("secrets_cannot_be_moved", secrets_cannot_be_moved),
    ("no_program_gets_an_owner", no_program_gets_an_owner),
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
