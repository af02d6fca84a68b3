//! Whatever text comes as a patch: nothing panics, nothing outside of the root is touched, and an
//! error leaves everything as it was.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use agent_apply_patch as patch;
use proptest::prelude::*;

use crate::support::{Place, change_of};

/// Paths that lead inside, outside by every way there is, and nowhere. `OUT` is the absolute path
/// of the outside.
const PATHS: &[&str] = &[
    "f",
    "./f",
    "sub/f",
    "sub/../f",
    "new",
    "new/deep/x",
    "f/x",
    "../o/rc",
    "../o/new",
    "OUT/rc",
    "OUT/new",
    "OUT",
    "link",
    "link/rc",
    "link/new",
    "link/../o/rc",
    "link/../../w/f",
    "absolute/rc",
    "rc-link",
    "dangling",
    "loop/x",
    "sub/up/o/rc",
    "sub/up/w/f",
    ".git/config",
    ".git/../f",
    "in-link",
    "..",
    "/",
    "../../../../../../../../tmp/agent-test-boundary",
];

fn place() -> Place {
    let place = Place::new();
    place.write("f", "a\nb\n\nc\na");
    place.write("sub/f", "a\r\nb\r\n");
    place.write(".git/config", "[core]\n");
    fs::write(place.outside("rc"), "a\nb\n").unwrap();
    let outside = place.outside("");
    let outside = outside.to_str().unwrap().trim_end_matches('/');
    for (to, name) in [
        ("../o", "link"),
        (outside, "absolute"),
        ("../o/rc", "rc-link"),
        ("../o/nothing", "dangling"),
        ("loop", "loop"),
        ("../..", "sub/up"),
        ("sub/f", "in-link"),
    ] {
        symlink(to, place.inside(name)).unwrap();
    }
    place
}

/// Names, contents, identities and times: what cannot stay the same if something was written.
fn picture(directory: &Path) -> Vec<(String, u64, i64, Vec<u8>)> {
    let mut out = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mut bytes = Vec::new();
        if metadata.is_dir() {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if metadata.is_symlink() {
            bytes = fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes();
        } else {
            bytes = fs::read(&path).unwrap();
        }
        let name = path.display().to_string();
        let time = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
        // Making a temporary file and removing it changes the time of a directory.
        let time = if path.starts_with(directory) && metadata.is_dir() {
            0
        } else {
            time
        };
        out.push((name, metadata.ino(), time, bytes));
    }
    out.sort();
    out
}

/// Applies a text as the tool does, but for asking first whether its paths may be written.
fn apply(place: &Place, text: &str) -> Result<(), String> {
    let parsed = patch::parse(text).map_err(|err| err.to_string())?;
    let mut read = |path: &str| {
        let target = place
            .workspace
            .resolve(path)
            .map_err(|err| err.to_string())?;
        place.workspace.read(&target).map_err(|err| err.to_string())
    };
    let plan = patch::plan(&parsed, &mut read).map_err(|err| err.to_string())?;
    let changes = plan.changes.into_iter();
    let changes = changes
        .map(|change| change_of(&place.workspace, change))
        .collect();
    place.commit(changes).map(drop)
}

/// Whether the patch was applied.
#[track_caller]
fn check(text: &str) -> bool {
    let place = place();
    let text = text.replace(
        "OUT",
        place.outside("").to_str().unwrap().trim_end_matches('/'),
    );
    let (root, outside) = (place.inside(""), place.outside(""));
    let outside_time = fs::metadata(&outside).unwrap().mtime_nsec();
    let (in_before, out_before) = (picture(&root), picture(&outside));
    let outcome = apply(&place, &text);
    assert_eq!(picture(&outside), out_before, "{text}");
    assert_eq!(
        fs::metadata(&outside).unwrap().mtime_nsec(),
        outside_time,
        "{text}"
    );
    assert_eq!(
        fs::read_dir(place.directory.path()).unwrap().count(),
        2,
        "{text}"
    );
    assert_eq!(place.read(".git/config"), "[core]\n", "{text}");
    let after = picture(&root);
    if outcome.is_err() {
        assert_eq!(after, in_before, "{text}");
    }
    let is_temporary = |(name, ..): &(String, u64, i64, Vec<u8>)| name.contains(".agent-tmp-");
    assert!(!after.iter().any(is_temporary), "{text}");
    outcome.is_ok()
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => prop::sample::select(PATHS).prop_map(str::to_owned),
        1 => "[./a-z\\PC]{1,12}",
    ]
}

/// A section that often fits: of the files some have the lines `a` and `b`.
fn section() -> impl Strategy<Value = String> {
    prop_oneof![
        path().prop_map(|path| format!("*** Add File: {path}\n+x\n")),
        path().prop_map(|path| format!("*** Delete File: {path}\n")),
        path().prop_map(|path| format!("*** Update File: {path}\n@@\n-b\n+B\n")),
        (path(), path()).prop_map(|(from, to)| {
            format!("*** Update File: {from}\n*** Move to: {to}\n@@\n-b\n+B\n")
        }),
        (path(), path())
            .prop_map(|(from, to)| format!("*** Update File: {from}\n*** Move to: {to}\n")),
        "[-+ @*\\\\][ab]?\n",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_patch_stays_inside(sections in prop::collection::vec(section(), 1..4)) {
        let _applied = check(&format!("*** Begin Patch\n{}*** End Patch\n", sections.concat()));
    }
}

proptest! {
    #[test]
    fn any_bytes_stay_inside(bytes in prop::collection::vec(any::<u8>(), 0..200), framed in any::<bool>()) {
        let text = String::from_utf8_lossy(&bytes);
        let _applied = check(&if framed {
            format!("*** Begin Patch\n{text}\n*** End Patch\n")
        } else {
            text.into_owned()
        });
    }
}

#[test]
fn every_path_by_every_section() {
    let mut n_applied = 0;
    for path in PATHS {
        for body in [
            format!("*** Add File: {path}\n+x\n"),
            format!("*** Delete File: {path}\n"),
            format!("*** Update File: {path}\n@@\n-b\n+B\n"),
            format!("*** Update File: {path}\n*** Move to: f2\n"),
            format!("*** Update File: f\n*** Move to: {path}\n@@\n-b\n+B\n"),
            format!("*** Delete File: {path}\n*** Add File: {path}\n+x\n"),
        ] {
            let applied = check(&format!("*** Begin Patch\n{body}*** End Patch\n"));
            n_applied += usize::from(applied);
        }
    }
    // The files inside are edited by all their names.
    assert!(n_applied > 20, "{n_applied}");
    assert!(!Path::new("/tmp/agent-test-boundary").exists());
}
