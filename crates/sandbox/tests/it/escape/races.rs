//! Races: a path is swapped by one process while another goes through it, 10,000 times.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::links::rename;
use super::secrets::MARK;
use super::sys::{exit, fork};
use super::table::{Attempt, Category, Outcome, Tried, attempt, nothing_came_of_it};

pub(super) const CATEGORY: Category = Category {
    title: "Races",
    attempts: ATTEMPTS,
};

const ROUNDS: u32 = 10_000;

const ATTEMPTS: &[Attempt] = &[
    attempt(
        "swap a directory and a link to outside while writing",
        |at, scene| {
            let (door, other) = (scene.own("door"), scene.own("other"));
            doors(&door, &other, at)?;
            swapping(&door, &other, || {
                drop(fs::write(door.join("raced"), "changed"));
                fs::read(at.join("raced")).is_ok()
            })
        },
    )
    .on("O/%", "W/%"),
    attempt(
        "swap a directory and a link to the hooks while writing",
        |at, scene| {
            let (door, other) = (scene.own("door"), scene.own("other"));
            doors(&door, &other, at)?;
            swapping(&door, &other, || {
                drop(fs::write(door.join("pre-commit"), "evil"));
                fs::read(at.join("pre-commit")).is_ok_and(|now| now == b"evil")
            })
        },
    )
    .on("P/%/.git/hooks", "P/%/twin")
    .without_namespaces(Outcome::Restored),
    attempt(
        "swap two repositories while writing to a hook",
        |at, scene| {
            let other = scene.own("repository");
            fs::create_dir_all(other.join("hooks"))?;
            let hook = at.join("hooks/pre-commit");
            let raced = swapping(at, &other, || fs::write(&hook, "evil").is_ok());
            // Whichever of the two stands there at last.
            fs::write(hook, "evil")?;
            raced
        },
    )
    .on("P/%/.git", "P/%/twin-2")
    .without_namespaces(Outcome::Restored),
    attempt("rename the secret while reading", |at, _| {
        let (directory, name) = (at.parent().unwrap(), at.file_name().unwrap());
        let other = directory.with_extension("other");
        fs::create_dir_all(&other)?;
        drop(fs::write(other.join(name), "nothing"));
        swapping(directory, &other, || {
            let read = |directory: &Path| fs::read_to_string(directory.join(name));
            [directory, &other]
                .iter()
                .any(|it| read(it).is_ok_and(|text| text.contains(MARK)))
        })
    })
    .on("R/hidden-5/s", "R/shown-5/s"),
    attempt(
        "swap a file and a link to the secret while reading",
        |at, scene| {
            let (door, other) = (scene.own("file-door"), scene.own("file-other"));
            drop(fs::remove_file(&other));
            fs::write(&door, "nothing")?;
            symlink(at, &other)?;
            swapping(&door, &other, || {
                fs::read_to_string(&door).is_ok_and(|text| text.contains(MARK))
            })
        },
    )
    .on("H/.ssh/id_ed25519", "H/plain/id_ed25519"),
];

/// A directory, and a link to where nobody may go.
fn doors(door: &Path, other: &Path, to: &Path) -> std::io::Result<()> {
    for path in [door, other] {
        // The twin may have left them exchanged.
        drop(fs::remove_file(path).or_else(|_| fs::remove_dir_all(path)));
    }
    fs::create_dir(door)?;
    symlink(to, other)
}

/// Tries again and again while another process exchanges the two paths.
fn swapping(one: &Path, other: &Path, try_once: impl Fn() -> bool) -> Tried {
    let child = fork()?;
    if child == 0 {
        for _ in 0..ROUNDS {
            drop(rename(one, other, libc::RENAME_EXCHANGE));
        }
        exit(0);
    }
    let mut escaped = false;
    for _ in 0..ROUNDS {
        if try_once() {
            escaped = true;
            break;
        }
    }
    if escaped {
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(child),
            nix::sys::signal::Signal::SIGKILL,
        )?;
    }
    nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(child), None)?;
    if escaped {
        Ok(())
    } else {
        Err(nothing_came_of_it())
    }
}
