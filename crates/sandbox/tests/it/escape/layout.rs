//! The files of the world: for each attempt a directory outside the roots, one in the workspace,
//! and where it is about protected paths a repository of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::secrets::MARK;
use super::table::{self, Attempt};
use crate::support::World;

/// The directory of the attempt with this name.
pub(super) fn area(world: &World, top: &str, name: &str) -> PathBuf {
    let attempt = table::all().find(|attempt| attempt.name == name).unwrap();
    world.base.join(top).join(attempt.slug())
}

/// The first has no number in its name.
pub(super) fn numbered(name: &str, number: u32) -> String {
    if number == 1 {
        name.to_owned()
    } else {
        format!("{name}-{number}")
    }
}

pub(super) fn lay_out(world: &World) {
    fs::create_dir_all(world.base.join("W/facts")).unwrap();
    fs::create_dir_all(world.base.join("W/sockets")).unwrap();
    fs::create_dir_all(world.base.join("O/sockets")).unwrap();
    for attempt in table::all() {
        for top in ["O", "W"] {
            let area = format!("{top}/{}", attempt.slug());
            world.write(&format!("{area}/file"), "before\n");
            world.write(&format!("{area}/dir/inner"), "before\n");
            fs::create_dir(world.base.join(area).join("empty")).unwrap();
            set_attribute(&world.base.join(top).join(attempt.slug()).join("file"));
        }
        if attempt.target.starts_with("P/") {
            repository(world, attempt);
        }
    }
    secrets(world);
}

fn set_attribute(path: &Path) {
    use super::sys::{c_path, call};
    let (path, name, value) = (c_path(path), c"user.there", b"x");
    let (path, name) = (path.as_ptr() as usize, name.as_ptr() as usize);
    // Where the file system has none, the attempt finds nothing to remove.
    drop(call(
        libc::SYS_setxattr,
        [path, name, value.as_ptr() as usize, 1, 0],
    ));
}

fn secrets(world: &World) {
    for path in [
        "H/.ssh/id_ed25519",
        "H/plain/id_ed25519",
        "H/.aws/credentials",
        "H/plain/credentials",
        "H/.cache/huggingface/token",
        "H/.cache/other/token",
        "D/denied",
        "D/open",
        "A/auth.json",
        "A/AGENTS.md",
        "A/sessions/rollout.jsonl",
        "A/rules/rollout.jsonl",
    ] {
        world.write(path, MARK);
    }
    for number in 1..=5 {
        for name in ["R/hidden", "R/shown"] {
            world.write(&format!("{}/s", numbered(name, number)), MARK);
        }
    }
}

/// A repository with everything that git would execute, and the agent's own directories.
fn repository(world: &World, attempt: &Attempt) {
    let area = format!("P/{}", attempt.slug());
    let at = world.base.join(&area);
    let write = |path: &str, text: &str| world.write(&format!("{area}/{path}"), text);
    bare(world, &format!("{area}/.git"));
    write(
        ".git/config",
        "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../included.conf\n",
    );
    write(".git/info/attributes", "");
    write(".git/description", "free\n");
    // An entry of an index: the length of the path, the path, and its end.
    write(".git/index", "DIRC\0\u{c}tracked/file\0");
    write("tracked/file", "before\n");
    write("included.conf", "[core]\n\thooksPath = no/hooks\n");
    write("tools/hooks/pre-push", "before\n");
    bare(world, &format!("{area}/.git/modules/sub"));
    let tree = format!("[core]\n\tworktree = {}\n", at.join("sub").display());
    write(".git/modules/sub/config", &tree);
    write("sub/.git", "gitdir: ../.git/modules/sub\n");
    write(".git/worktrees/wt/commondir", "../..\n");
    write(".git/worktrees/wt/HEAD", "ref: refs/heads/other\n");
    write(
        ".git/worktrees/wt/gitdir",
        &format!("{}\n", at.join("wt/.git").display()),
    );
    write(
        "wt/.git",
        &format!("gitdir: {}\n", at.join(".git/worktrees/wt").display()),
    );
    bare(world, &format!("{area}/below/.git"));
    write("below/.git/hooks/x", "before\n");
    write(".agent/config.toml", "before\n");
    write(".codex/config.toml", "before\n");
    write("twin/file", "before\n");
    write("twin-2/hooks/pre-commit", "before\n");
    if attempt.target.ends_with(".agents") && attempt.name.contains("link") {
        symlink("twin", at.join(".agents")).unwrap();
        symlink("twin", at.join("twin-link")).unwrap();
    }
}

fn bare(world: &World, path: &str) {
    for name in ["objects", "refs"] {
        fs::create_dir_all(world.base.join(path).join(name)).unwrap();
    }
    world.write(&format!("{path}/HEAD"), "ref: refs/heads/main\n");
    world.write(&format!("{path}/config"), "");
    world.write(&format!("{path}/hooks/pre-commit"), "before\n");
}
