use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use super::{Shims, in_place};

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    let pairs = pairs.iter();
    pairs.map(|(n, v)| (n.into(), v.into())).collect()
}

#[test]
fn links_are_made_and_mended() {
    let home = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let link = home.path().join("shims/apply_patch");
    for wrong in [None, Some("/nonexistent")] {
        if let Some(target) = wrong {
            fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink(target, &link).unwrap();
        }
        Shims::prepare(home.path()).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), program);
        assert_eq!(
            fs::read_link(link.with_file_name("applypatch")).unwrap(),
            program
        );
    }
    let names = fs::read_dir(home.path().join("shims")).unwrap();
    assert_eq!(names.count(), 2);
}

#[test]
fn a_home_that_is_a_file_costs_only_the_names() {
    let home = tempfile::NamedTempFile::new().unwrap();
    assert!(Shims::prepare(home.path()).is_none());
}

#[test]
fn the_directory_comes_first() {
    let shims = Shims {
        directory: "/h/it's".into(),
    };
    let mut path = variables(&[("A", "1"), ("PATH", "/bin")]);
    shims.put_first(&mut path);
    assert_eq!(path, variables(&[("A", "1"), ("PATH", "/h/it's:/bin")]));
    // An empty path means the current directory, which must not be searched.
    let mut empty = variables(&[("PATH", "")]);
    shims.put_first(&mut empty);
    assert_eq!(empty, variables(&[("PATH", "/h/it's")]));

    let argv = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let login = argv(&["/bin/bash", "-lc", "ls"]);
    let script = r#"PATH='/h/it'\''s'"${PATH:+:$PATH}"; ls"#;
    assert_eq!(
        shims.in_login_shell(&login),
        argv(&["/bin/bash", "-lc", script])
    );
    for other in [&["/bin/bash", "-c", "ls"], &["/usr/bin/fish", "-lc", "ls"]] {
        assert_eq!(shims.in_login_shell(&argv(other)), argv(other));
    }
}

#[test]
fn a_directory_that_a_search_path_cannot_hold_is_not_put_there() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("a:b");
    fs::create_dir(&home).unwrap();
    assert!(Shims::prepare(&home).is_none());
    assert!(Shims::prepare(PathBuf::from("home").as_path()).is_none());
}

#[test]
fn a_program_that_was_replaced_is_where_it_was() {
    let place = tempfile::tempdir().unwrap();
    let odd = place.path().join("agent (deleted)");
    assert_eq!(in_place(odd.clone()), place.path().join("agent"));
    fs::write(&odd, "").unwrap();
    assert_eq!(in_place(odd.clone()), odd);
}
