//! Files whose directory may not be written: they are changed in place, with a warning.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use crate::support::{Place, apply, workspace};

const CHILD: &str = "AGENT_WORKSPACE_TEST_READ_ONLY";
const NOBODY: u32 = 65534;
const EDIT: &str = "*** Update File: f.txt\n-old\n+new\n";

/// Runs as a user to whom permissions apply.
fn edit_in_read_only_directory(root: &Path) {
    let workspace = workspace(root);
    let path = root.join("f.txt");
    let inode = fs::metadata(&path).unwrap().ino();
    let said = apply(&workspace, EDIT).unwrap();
    assert!(
        said.contains("warning: `f.txt` was written in place"),
        "{said}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"new\nrest\n");
    assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
    let err = apply(&workspace, "*** Delete File: f.txt\n").unwrap_err();
    assert!(err.contains("cannot remove `f.txt`"), "{err}");
    // The change in place is taken back when something later fails.
    let both = "*** Update File: f.txt\n-new\n+newer\n*** Add File: n\n+x\n";
    let err = apply(&workspace, both).unwrap_err();
    assert!(err.contains("cannot write `n`"), "{err}");
    let both = "*** Update File: f.txt\n-new\n+newer\n*** Delete File: h.txt\n";
    apply(&workspace, both).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"new\nrest\n");
    // With another name the file would change outside of what was asked.
    let err = apply(&workspace, "*** Update File: h.txt\n-old\n+new\n").unwrap_err();
    assert!(err.contains("it has other hard links"), "{err}");
    assert_eq!(fs::read(root.join("h.txt")).unwrap(), b"old\n");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself as another user"
)]
fn a_file_in_a_read_only_directory() {
    if let Some(root) = std::env::var_os(CHILD) {
        return edit_in_read_only_directory(Path::new(&root));
    }
    let place = Place::new();
    place.write("f.txt", "old\nrest\n");
    place.write("h.txt", "old\n");
    fs::hard_link(place.inside("h.txt"), place.outside("h.txt")).unwrap();
    let set_mode = |mode| {
        fs::set_permissions(place.inside(""), fs::Permissions::from_mode(mode)).unwrap();
    };
    if !rustix::process::geteuid().is_root() {
        set_mode(0o555);
        edit_in_read_only_directory(&place.inside(""));
        set_mode(0o755);
        return;
    }
    for name in ["f.txt", "h.txt"] {
        chown(place.inside(name), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(place.directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "in_place::a_file_in_a_read_only_directory"])
        .env(CHILD, place.inside(""))
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    let Ok(output) = child else {
        eprintln!("SKIPPED: another user cannot run the test binary");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{output:?}"
    );
}
