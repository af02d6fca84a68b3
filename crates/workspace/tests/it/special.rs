//! Files that are not plain: FIFOs, directories, dangling links, big files, read-only directories.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

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

/// An attribute of a file.
fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = [0; 256];
    let length = rustix::fs::getxattr(path, name, &mut value).ok()?;
    Some(value[..length].to_vec())
}

/// An access control list as the kernel takes it: the user 12345 may read; `mask` bounds it.
fn access_list(mask: u16) -> Vec<u8> {
    let nobody = u32::MAX;
    let entries = [
        (0x01_u16, 6_u16, nobody),
        (0x02, 4, 12345),
        (0x04, 4, nobody),
        (0x10, mask, nobody),
        (0x20, 0, nobody),
    ];
    let mut out = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        out.extend(tag.to_le_bytes());
        out.extend(permissions.to_le_bytes());
        out.extend(id.to_le_bytes());
    }
    out
}

#[test]
fn extended_attributes_and_access_lists_are_kept() {
    for (name, value) in [
        ("user.note", b"kept".to_vec()),
        ("system.posix_acl_access", access_list(4)),
        ("system.posix_acl_access", access_list(6)),
    ] {
        let place = Place::new();
        place.write("f.txt", "old\n");
        let path = place.inside("f.txt");
        if rustix::fs::setxattr(&path, name, &value, XattrFlags::empty()).is_err() {
            eprintln!("SKIPPED: the file system has no `{name}`");
            continue;
        }
        let mode = fs::metadata(&path).unwrap().mode();
        place.apply("*** Update File: f.txt\n-old\n+new\n").unwrap();
        assert_eq!(attribute(&path, name), Some(value.clone()), "{name}");
        assert_eq!(fs::metadata(&path).unwrap().mode(), mode, "{name}");
        let to = place.inside("sub/g.txt");
        place
            .apply("*** Update File: f.txt\n*** Move to: sub/g.txt\n")
            .unwrap();
        assert_eq!(attribute(&to, name), Some(value.clone()), "{name}");
        assert_eq!(fs::metadata(&to).unwrap().mode(), mode, "{name}");
        place
            .apply("*** Update File: sub/g.txt\n*** Move to: h.txt\n-new\n+newer\n")
            .unwrap();
        assert_eq!(
            attribute(&place.inside("h.txt"), name),
            Some(value),
            "{name}"
        );
    }
}

#[test]
fn the_default_list_of_a_directory_is_for_new_files_only() {
    let place = Place::new();
    place.write("d/f.txt", "old\n");
    let (access, default) = ("system.posix_acl_access", "system.posix_acl_default");
    let directory = place.inside("d");
    if rustix::fs::setxattr(&directory, default, &access_list(6), XattrFlags::empty()).is_err() {
        eprintln!("SKIPPED: the file system has no access control lists");
        return;
    }
    place
        .apply("*** Update File: d/f.txt\n-old\n+new\n*** Add File: d/n.txt\n+x\n")
        .unwrap();
    assert_eq!(attribute(&place.inside("d/f.txt"), access), None);
    assert!(attribute(&place.inside("d/n.txt"), access).is_some());
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
