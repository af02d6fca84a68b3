//! What may not appear: no mount can hold a path that is not there, so it is put aside afterwards.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::table::{Attempt, Category, Outcome, Scene, Tried, attempt};

pub(super) const CATEGORY: Category = Category {
    title: "Planted where git or the agent looks",
    attempts: ATTEMPTS,
};

/// Something that is made at a path; beside a plain file.
const fn planted(
    name: &'static str,
    action: fn(&Path, &Scene) -> Tried,
    path: &'static str,
) -> Attempt {
    attempt(name, action)
        .on(path, "P/%/twin/new")
        .everywhere(Outcome::Restored)
}

const ATTEMPTS: &[Attempt] = &[
    planted(
        "plant settings for the agent",
        |at, _| Ok(fs::create_dir(at)?),
        "P/%/.agents",
    ),
    planted("plant a `commondir`", make, "P/%/.git/commondir"),
    planted(
        "plant a `config.worktree`",
        make,
        "P/%/.git/config.worktree",
    ),
    planted(
        "plant a repository above tracked files",
        repository,
        "P/%/tracked/.git",
    ),
    planted(
        "plant a repository with hooks further down",
        repository,
        "P/%/other/.git",
    ),
    planted(
        "dress a directory as a bare repository",
        |at, scene| {
            let directory = at.parent().unwrap();
            repository(directory, scene)?;
            let config = "[core]\n\tbare = false\n\tfsmonitor = evil\n";
            Ok(fs::write(directory.join("config"), config)?)
        },
        "P/%/dressed/HEAD",
    ),
    planted(
        "plant the git directory of a submodule",
        repository,
        "P/%/.git/modules/new",
    ),
    planted(
        "plant and close the directory around",
        |at, scene| {
            make(at, scene)?;
            Ok(fs::set_permissions(
                at.parent().unwrap(),
                Permissions::from_mode(0o555),
            )?)
        },
        "P/%/.git/commondir",
    ),
    planted(
        "plant and hide the directory around",
        |at, scene| {
            make(at, scene)?;
            Ok(fs::set_permissions(
                at.parent().unwrap(),
                Permissions::from_mode(0o000),
            )?)
        },
        "P/%/.git/commondir",
    ),
    planted(
        "plant a link as a directory of hooks",
        |at, _| {
            drop(fs::create_dir(at.parent().unwrap()));
            Ok(symlink("../twin", at)?)
        },
        "P/%/no/hooks",
    ),
    planted(
        "lead a missing directory of hooks to another one",
        |at, _| Ok(symlink(".git", at)?),
        "P/%/no",
    ),
];

fn make(at: &Path, _: &Scene) -> Tried {
    Ok(fs::write(at, "evil")?)
}

fn repository(at: &Path, _: &Scene) -> Tried {
    for name in ["hooks", "objects", "refs"] {
        fs::create_dir_all(at.join(name))?;
    }
    fs::write(at.join("HEAD"), "ref: refs/heads/main\n")?;
    Ok(fs::write(at.join("hooks/post-checkout"), "evil")?)
}
