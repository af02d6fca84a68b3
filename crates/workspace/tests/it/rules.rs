//! Which paths may be edited.

use std::fs;
use std::os::unix::fs::symlink;

use agent_workspace::{Refusal, Workspace, WritableRoot};

use crate::support::Place;

#[test]
fn protected_names_are_refused() {
    let place = Place::new();
    fs::create_dir_all(place.inside(".git/hooks")).unwrap();
    symlink(".git", place.inside("g")).unwrap();
    symlink(".git/config", place.inside("c")).unwrap();
    let protected = [
        ".agent/config.toml",
        ".agents/skills/x",
        ".codex/config.toml",
        ".agent",
        ".git/hooks/pre-commit",
        ".git/config",
        ".git",
        "sub/.git",
        "sub/.git/config",
        "./sub/../.git/x",
        ".GIT/config",
        "g/hooks/pre-commit",
        "c",
    ];
    for path in protected {
        let refusal = place.workspace.resolve(path).unwrap_err();
        assert!(
            matches!(refusal, Refusal::Protected { .. }),
            "{path}: {refusal}"
        );
    }
    for path in [
        ".gitignore",
        ".github/x.yml",
        "sub/.agent/x",
        "a.git/x",
        ".agent-notes",
    ] {
        place.workspace.resolve(path).unwrap();
    }
}

#[test]
fn listed_protected_and_denied_paths_are_refused() {
    let place = Place::new();
    let secret = place.inside("secret");
    let root = WritableRoot {
        path: place.inside(""),
        protected: vec!["build/hooks".into(), place.inside("abs")],
    };
    let workspace = Workspace::new(place.inside(""), vec![root], vec![secret.clone()]);
    for path in ["build/hooks", "build/hooks/x", "abs/y"] {
        let refusal = workspace.resolve(path).unwrap_err();
        assert!(
            matches!(refusal, Refusal::Protected { .. }),
            "{path}: {refusal}"
        );
    }
    symlink("secret", place.inside("s")).unwrap();
    for path in ["secret", "s", "secret/x"] {
        let refusal = workspace.resolve(path).unwrap_err();
        assert!(
            matches!(refusal, Refusal::Denied { .. }),
            "{path}: {refusal}"
        );
    }
    workspace.resolve("build/other").unwrap();
    let workspace = workspace.with_approved([secret]);
    let refusal = workspace.resolve("secret").unwrap_err();
    assert!(matches!(refusal, Refusal::Denied { .. }), "{refusal}");
}

#[test]
fn what_is_no_file_name_is_invalid() {
    let place = Place::new();
    place.write("f", "");
    for path in ["", "a\0b", "d/", ".", "f/x"] {
        let refusal = place.workspace.resolve(path).unwrap_err();
        assert!(
            matches!(refusal, Refusal::Invalid { .. }),
            "{path:?}: {refusal}"
        );
    }
    symlink("loop", place.inside("loop")).unwrap();
    place.workspace.resolve("loop").unwrap_err();
}

#[test]
fn an_approved_file_outside_may_be_edited_and_only_that() {
    let mut place = Place::new();
    fs::write(place.outside("f.txt"), "old\n").unwrap();
    let outside = fs::canonicalize(place.outside("")).unwrap();
    let Refusal::Outside { path } = place.workspace.resolve("../o/f.txt").unwrap_err() else {
        panic!("not outside");
    };
    assert_eq!(path, outside.join("f.txt"));
    place.workspace = crate::support::workspace(&place.inside("")).with_approved([path]);
    place
        .apply("*** Update File: ../o/f.txt\n-old\n+new\n")
        .unwrap();
    assert_eq!(fs::read(place.outside("f.txt")).unwrap(), b"new\n");
    place.workspace.resolve("../o/g.txt").unwrap_err();
}

#[test]
fn unrestricted_edits_everything() {
    let mut place = Place::new();
    place.workspace = Workspace::unrestricted(place.inside(""));
    let add = format!("*** Add File: {}\n+x\n", place.outside("x").display());
    place.apply(&add).unwrap();
    place.apply("*** Add File: .git/config\n+x\n").unwrap();
    assert_eq!(place.read(".git/config"), "x\n");
    assert_eq!(fs::read(place.outside("x")).unwrap(), b"x\n");
}

#[test]
fn the_innermost_root_is_used_and_all_protect() {
    let place = Place::new();
    fs::create_dir_all(place.inside("sub/.agent")).unwrap();
    let root = |path| WritableRoot {
        path,
        protected: Vec::new(),
    };
    let roots = vec![
        root(place.inside("")),
        root(place.inside("sub")),
        root(place.inside("none")),
    ];
    let workspace = Workspace::new(place.inside(""), roots, Vec::new());
    workspace.resolve("sub/.agent/x").unwrap_err();
    workspace.resolve(".codex/x").unwrap_err();
    workspace.resolve("sub/x").unwrap();
}
