//! Protected paths that exist inside the roots: what configures the agent, and what git executes.
//!
//! Each attempt has a repository of its own (`stage` lays it out). Its twin changes something in
//! it that is not protected.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::links::rename;
use super::sys::{c_path, call};
use super::table::{Attempt, Category, Outcome, Scene, Tried, attempt};

pub(super) const CATEGORY: Category = Category {
    title: "Protected paths inside the roots",
    attempts: ATTEMPTS,
};

/// An attempt on a protected path; without namespaces it is put back afterwards.
const fn held(
    name: &'static str,
    action: fn(&Path, &Scene) -> Tried,
    (path, twin): (&'static str, &'static str),
) -> Attempt {
    attempt(name, action)
        .on(path, twin)
        .without_namespaces(Outcome::Restored)
}

const ATTEMPTS: &[Attempt] = &[
    held(
        "write the settings of `.agent`",
        overwrite,
        ("P/%/.agent/config.toml", FREE),
    ),
    held(
        "write the settings of `.codex`",
        overwrite,
        ("P/%/.codex/config.toml", FREE),
    ),
    held(
        "rename `.agent` away",
        move_away,
        ("P/%/.agent", "P/%/twin"),
    ),
    held(
        "write a hook",
        overwrite,
        ("P/%/.git/hooks/pre-commit", GIT_FREE),
    ),
    held(
        "add a hook",
        overwrite,
        ("P/%/.git/hooks/post-checkout", GIT_FREE),
    ),
    held(
        "remove a hook",
        |at, _| Ok(fs::remove_file(at)?),
        ("P/%/.git/hooks/pre-commit", FREE),
    ),
    held(
        "make a hook executable",
        executable,
        ("P/%/.git/hooks/pre-commit", FREE),
    ),
    held(
        "write git's configuration",
        overwrite,
        ("P/%/.git/config", GIT_FREE),
    ),
    held(
        "replace git's configuration by rename",
        replace,
        ("P/%/.git/config", GIT_FREE),
    ),
    held(
        "exchange git's configuration",
        exchange,
        ("P/%/.git/config", GIT_FREE),
    ),
    held(
        "truncate git's configuration",
        |at, _| {
            let path = c_path(at);
            call(libc::SYS_truncate, [path.as_ptr() as usize, 0])?;
            Ok(())
        },
        ("P/%/.git/config", GIT_FREE),
    ),
    held(
        "write through a symbolic link to the configuration",
        |at, scene| {
            let link = scene.own("link");
            drop(fs::remove_file(&link));
            symlink(at, &link)?;
            overwrite(&link, scene)
        },
        ("P/%/.git/config", GIT_FREE),
    ),
    held(
        "write through a hard link to the configuration",
        |at, scene| {
            let link = at.with_file_name("hard");
            fs::hard_link(at, &link)?;
            overwrite(&link, scene)?;
            Ok(fs::remove_file(&link)?)
        },
        ("P/%/.git/config", GIT_FREE),
    ),
    held(
        "replace `.git` by rename",
        |at, _| {
            fs::rename(at, at.with_extension("old"))?;
            fs::create_dir_all(at.join("hooks"))?;
            Ok(fs::write(at.join("hooks/pre-commit"), "evil")?)
        },
        ("P/%/.git", "P/%/twin"),
    ),
    held(
        "move `.git` deeper and plant another",
        |at, _| {
            let deep = at.with_extension("deep");
            fs::create_dir(&deep)?;
            fs::rename(at, deep.join("old"))?;
            fs::create_dir_all(at.join("hooks"))?;
            fs::write(at.join("hooks/pre-commit"), "evil")?;
            Ok(())
        },
        ("P/%/.git", "P/%/twin"),
    ),
    held(
        "write the directory of `core.hooksPath`",
        overwrite,
        ("P/%/tools/hooks/pre-push", FREE),
    ),
    held(
        "rename the parent of a protected directory",
        move_away,
        ("P/%/tools", "P/%/twin"),
    ),
    held(
        "write a file that the configuration includes",
        overwrite,
        ("P/%/included.conf", FREE),
    ),
    held(
        "change a hook of a submodule",
        overwrite,
        ("P/%/.git/modules/sub/hooks/post-merge", FREE),
    ),
    held(
        "change the configuration of a submodule",
        overwrite,
        ("P/%/.git/modules/sub/config", FREE),
    ),
    held(
        "lead a submodule's `.git` elsewhere",
        overwrite,
        ("P/%/sub/.git", FREE),
    ),
    held(
        "lead a linked worktree's `.git` elsewhere",
        overwrite,
        ("P/%/wt/.git", FREE),
    ),
    held(
        "lead a linked worktree's git directory elsewhere",
        overwrite,
        ("P/%/.git/worktrees/wt/commondir", FREE),
    ),
    held(
        "write the filters of `info/attributes`",
        overwrite,
        ("P/%/.git/info/attributes", GIT_FREE),
    ),
    held(
        "write a hook of a repository further down",
        overwrite,
        ("P/%/below/.git/hooks/x", FREE),
    ),
    held(
        "change the link of protected settings",
        |at, _| {
            fs::remove_file(at)?;
            Ok(symlink("elsewhere", at)?)
        },
        ("P/%/.agents", "P/%/twin-link"),
    )
    .everywhere(Outcome::Restored),
];

/// Files of the same repository that anybody may change.
const FREE: &str = "P/%/twin/file";
const GIT_FREE: &str = "P/%/.git/description";

fn overwrite(at: &Path, _: &Scene) -> Tried {
    Ok(fs::write(at, "evil")?)
}

fn move_away(at: &Path, _: &Scene) -> Tried {
    Ok(fs::rename(at, at.with_extension("moved"))?)
}

fn executable(at: &Path, _: &Scene) -> Tried {
    Ok(fs::set_permissions(at, Permissions::from_mode(0o777))?)
}

fn replace(at: &Path, scene: &Scene) -> Tried {
    let lock = at.with_extension("lock");
    overwrite(&lock, scene)?;
    Ok(fs::rename(lock, at)?)
}

fn exchange(at: &Path, scene: &Scene) -> Tried {
    let other = at.with_extension("other");
    overwrite(&other, scene)?;
    let exchanged = rename(&other, at, libc::RENAME_EXCHANGE);
    fs::remove_file(other)?;
    exchanged
}
