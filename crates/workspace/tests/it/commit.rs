//! Commits that succeed, and commits that fail and leave everything as it was.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use crate::support::Place;

const EDIT: &str = "*** Update File: f.txt\n@@\n-old\n+new\n";

#[test]
fn add_update_move_and_delete_in_one_patch() {
    let place = Place::new();
    place.write("f.txt", "old\nrest\n");
    place.write("m.txt", "a\nb\n");
    place.write("d.txt", "gone\n");
    let body = format!(
        "*** Add File: new dir/ü.txt\n+hello\n{EDIT}*** Update File: m.txt\n*** Move to: sub/m.txt\n@@\n-a\n+A\n*** Delete File: d.txt\n"
    );
    let said = place.apply(&body).unwrap();
    assert_eq!(
        said,
        "Success. Updated the following files:\nA new dir/ü.txt\nM f.txt\nM sub/m.txt\nD d.txt\n"
    );
    let expected = [
        ("f.txt", "new\nrest\n"),
        ("new dir/", ""),
        ("new dir/ü.txt", "hello\n"),
        ("sub/", ""),
        ("sub/m.txt", "A\nb\n"),
    ];
    let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(place.tree(), expected);
}

#[test]
fn ap_09_add_on_an_existing_file_is_refused() {
    let place = Place::new();
    place.write("e.txt", "keep me\n");
    let err = place.apply("*** Add File: e.txt\n+new\n").unwrap_err();
    assert!(
        err.contains("already exists; use `*** Update File: e.txt`"),
        "{err}"
    );
    assert_eq!(place.read("e.txt"), "keep me\n");
}

#[test]
fn ap_11_move_to_itself_is_an_update() {
    for to in ["n.md", "./n.md", "sub/../n.md"] {
        let place = Place::new();
        place.write("n.md", "old\nrest\n");
        place.write("sub/x", "");
        let body = format!("*** Update File: n.md\n*** Move to: {to}\n@@\n-old\n+new\n");
        place.apply(&body).unwrap();
        assert_eq!(place.read("n.md"), "new\nrest\n", "{to}");
    }
}

#[test]
fn ap_25_outside_is_refused() {
    let place = Place::new();
    fs::write(place.outside("rc"), "keep\n").unwrap();
    symlink(place.outside(""), place.inside("link")).unwrap();
    symlink(place.outside("rc"), place.inside("rc-link")).unwrap();
    let absolute = place.outside("rc").display().to_string();
    for path in [&absolute, "../o/rc", "link/rc", "rc-link", "link/../o/rc"] {
        let update = format!("*** Update File: {path}\n@@\n-keep\n+bad\n");
        let err = place.apply(&update).unwrap_err();
        assert!(
            err.contains("outside of the writable directories"),
            "{path}: {err}"
        );
    }
    let add = format!("*** Add File: {}\n+bad\n", place.outside("new").display());
    place.apply(&add).unwrap_err();
    assert_eq!(fs::read(place.outside("rc")).unwrap(), b"keep\n");
    assert!(!place.outside("new").exists());
}

#[test]
fn ap_27_a_hard_link_is_broken() {
    let place = Place::new();
    fs::write(place.outside("h.txt"), "old\n").unwrap();
    fs::hard_link(place.outside("h.txt"), place.inside("f.txt")).unwrap();
    place.apply(EDIT).unwrap();
    assert_eq!(place.read("f.txt"), "new\n");
    assert_eq!(fs::read(place.outside("h.txt")).unwrap(), b"old\n");
}

#[test]
fn modes_are_kept() {
    for mode in [0o444, 0o755, 0o600, 0o640, 0o2755, 0o4711, 0o1644, 0o6750] {
        let place = Place::new();
        place.write("f.txt", "old\n");
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(place.inside("f.txt"), permissions).unwrap();
        place.apply(EDIT).unwrap();
        let now = fs::metadata(place.inside("f.txt")).unwrap().mode() & 0o7777;
        assert_eq!(now, mode);
        place
            .apply("*** Update File: f.txt\n*** Move to: g.txt\n@@\n-new\n+newer\n")
            .unwrap();
        let now = fs::metadata(place.inside("g.txt")).unwrap().mode() & 0o7777;
        assert_eq!(now, mode);
    }
}

#[test]
fn a_link_inside_stays_and_its_target_changes() {
    let place = Place::new();
    place.write("real.txt", "old\n");
    symlink("real.txt", place.inside("f.txt")).unwrap();
    place.apply(EDIT).unwrap();
    assert_eq!(place.read("real.txt"), "new\n");
    assert!(place.inside("f.txt").is_symlink());
    place.apply("*** Delete File: f.txt\n").unwrap();
    assert!(!place.inside("f.txt").is_symlink());
    assert_eq!(place.read("real.txt"), "new\n");
}
