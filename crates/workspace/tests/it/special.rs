//! Files that are not plain: FIFOs, directories, dangling links, big files, read-only directories.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use agent_workspace::{ChangeKind, Durability, FileChange};
use rustix::fs::{CWD, FileType, Mode, XattrFlags};

use crate::support::Place;

#[test]
fn a_fifo_is_refused_without_waiting() {
    let place = Place::new();
    let mode = Mode::from(0o600);
    rustix::fs::mknodat(CWD, place.inside("p"), FileType::Fifo, mode, 0).unwrap();
    let err = place.workspace.read(&place.target("p")).unwrap_err();
    assert_eq!(err.to_string(), "it is a FIFO, not a regular file");
    let err = place.apply("*** Delete File: p\n").unwrap_err();
    assert!(err.contains("cannot read `p`: it is a FIFO"), "{err}");
}

#[test]
fn directories_are_refused() {
    let place = Place::new();
    fs::create_dir(place.inside("d")).unwrap();
    for body in [
        "*** Delete File: d\n",
        "*** Add File: d\n+x\n",
        "*** Update File: d\n-x\n",
    ] {
        let err = place.apply(body).unwrap_err();
        assert_eq!(err, "cannot read `d`: it is a directory");
    }
    place.write("f", "x\n");
    place
        .apply("*** Update File: f\n*** Move to: d\n-x\n")
        .unwrap_err();
    assert_eq!(place.read("f"), "x\n");
}

#[test]
fn dangling_links_are_refused() {
    let place = Place::new();
    symlink("nothing", place.inside("l")).unwrap();
    for body in [
        "*** Add File: l\n+x\n",
        "*** Update File: l\n-x\n",
        "*** Delete File: l\n",
    ] {
        let err = place.apply(body).unwrap_err();
        assert!(err.contains("link to a file that does not exist"), "{err}");
    }
}

#[test]
fn a_file_in_an_absent_directory_does_not_exist() {
    let place = Place::new();
    let target = place.target("no/such/file");
    assert_eq!(place.workspace.read(&target).unwrap(), None);
}

#[test]
fn one_file_by_two_names_is_refused() {
    let place = Place::new();
    place.write("f.txt", "a\nb\n");
    symlink("f.txt", place.inside("l")).unwrap();
    let err = place
        .apply("*** Update File: f.txt\n-a\n+A\n*** Update File: l\n-b\n+B\n")
        .unwrap_err();
    assert!(err.contains("are the same file"), "{err}");
    assert_eq!(place.read("f.txt"), "a\nb\n");
}

#[test]
fn extended_attributes_are_kept() {
    let place = Place::new();
    place.write("f.txt", "old\n");
    let path = place.inside("f.txt");
    if rustix::fs::setxattr(&path, "user.note", b"kept", XattrFlags::empty()).is_err() {
        eprintln!("SKIPPED: the file system has no user attributes");
        return;
    }
    place.apply("*** Update File: f.txt\n-old\n+new\n").unwrap();
    let mut value = [0; 16];
    let length = rustix::fs::getxattr(&path, "user.note", &mut value).unwrap();
    assert_eq!(&value[..length], b"kept");
}

#[test]
fn the_owner_is_kept() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can give a file another owner");
        return;
    }
    let place = Place::new();
    place.write("f.txt", "old\n");
    std::os::unix::fs::chown(place.inside("f.txt"), Some(12345), Some(54321)).unwrap();
    place.apply("*** Update File: f.txt\n-old\n+new\n").unwrap();
    let metadata = fs::metadata(place.inside("f.txt")).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12345, 54321));
    place
        .apply("*** Update File: f.txt\n*** Move to: g.txt\n-new\n+newer\n")
        .unwrap();
    let metadata = fs::metadata(place.inside("g.txt")).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12345, 54321));
}

#[test]
fn bytes_make_the_round_trip() {
    for before in ["\u{feff}a\r\nold\r\n", "old", "a\nold\n\n", "old\r\nb"] {
        let mut place = Place::new();
        place.workspace =
            crate::support::workspace(&place.inside("")).with_durability(Durability::Synced);
        place.write("ü ß.txt", before);
        place
            .apply("*** Update File: ü ß.txt\n@@\n-old\n+new\n")
            .unwrap();
        assert_eq!(place.read("ü ß.txt"), before.replace("old", "new"));
        place
            .apply("*** Update File: ü ß.txt\n@@\n-new\n+old\n")
            .unwrap();
        assert_eq!(place.read("ü ß.txt"), before);
    }
}

#[test]
fn a_file_of_50_megabytes() {
    let place = Place::new();
    let before = b"0123456789abcdef\n".repeat(3_000_000);
    place.write("big", &before);
    let target = place.target("big");
    let read = place.workspace.read(&target).unwrap().unwrap();
    let mut after = read.clone();
    after.extend_from_slice(b"end\n");
    let kind = ChangeKind::Update {
        before: read,
        after: after.clone(),
        move_to: None,
    };
    place.commit(vec![FileChange { target, kind }]).unwrap();
    assert!(fs::read(place.inside("big")).unwrap() == after);
    assert_eq!(place.tree().len(), 1);
}
