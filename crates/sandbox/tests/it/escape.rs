//! The escape suite: one table of attempts to do what the sandbox is there to prevent, each really
//! made inside, beside a twin that must succeed, at every level. `docs/sandbox.md` is written from
//! the same table.

mod devices;
mod document;
pub(crate) mod inside;
mod kernel;
mod layout;
mod levels;
mod links;
mod metadata;
mod mounts;
mod outsiders;
mod planted;
mod proc;
mod processes;
mod protected;
mod races;
mod secrets;
mod sockets;
pub(crate) mod stage;
mod survival;
mod sys;
mod table;
mod writes;

pub(crate) use levels::remove_layers;

use crate::runner::Test;

pub(crate) const TESTS: &[Test] = &[
    ("escape_the_document_is_up_to_date", document::is_up_to_date),
    ("escape_attempts_reach_the_kernel_outside", outside),
    ("escape_full", || levels::play("full")),
    ("escape_full_without_fresh_proc", || {
        levels::play("full-without-fresh-proc");
    }),
    ("escape_no_namespaces", || levels::play("no-namespaces")),
    ("escape_no_landlock", || levels::play("no-landlock")),
    ("escape_nested", || levels::play("nested")),
];

/// A call that is refused inside is not refused outside, where the superuser makes it.
fn outside() {
    if std::env::var_os("TEST_OTHERS").is_some() {
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: only the superuser may make all calls");
        return;
    }
    let output = crate::support::again("escape-outside").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines() {
        let (name, said) = line.split_once('\t').unwrap();
        if let Some(reason) = said.strip_prefix("skipped\t") {
            eprintln!("SKIPPED: {name}: {reason}");
        }
        if said.contains("os error 38)") {
            eprintln!("SKIPPED: {name}: this kernel has no such call");
            continue;
        }
        assert!(!said.contains("os error 1)"), "{name}: {said}");
    }
    assert!(output.status.success(), "{text}");
}
