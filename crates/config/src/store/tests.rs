//! What storing one value does to a file.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use expect_test::{Expect, expect};

use super::{store_switch, store_trust};
use crate::settings::TrustLevel;

#[track_caller]
fn check(before: Option<&str>, expected: &Expect) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config.toml");
    if let Some(before) = before {
        fs::write(&file, before).unwrap();
    }
    let stored = store_trust(&file, Path::new("/a b/\"c\""), TrustLevel::Trusted);
    let actual = match stored {
        Ok(()) => fs::read_to_string(&file).unwrap(),
        Err(err) => format!(
            "error: {}\n",
            err.to_string()
                .replace(&*home.path().to_string_lossy(), "HOME")
        ),
    };
    expected.assert_eq(&actual);
    let n_files = fs::read_dir(home.path()).unwrap().count();
    assert_eq!(n_files, 1, "nothing else is left behind");
}

#[test]
fn a_file_is_made() {
    check(
        None,
        &expect![[r#"
            [projects.'/a b/"c"']
            trust_level = "trusted"
        "#]],
    );
}

#[test]
fn comments_and_order_stay() {
    check(
        Some("# mine\nmodel = 'm' # why\n\n[projects.\"/x\"]\ntrust_level = \"untrusted\"\n"),
        &expect![[r#"
            # mine
            model = 'm' # why

            [projects."/x"]
            trust_level = "untrusted"

            [projects.'/a b/"c"']
            trust_level = "trusted"
        "#]],
    );
}

#[test]
fn an_answer_replaces_the_one_before() {
    check(
        Some("[projects.'/a b/\"c\"']\ntrust_level = \"untrusted\"\n"),
        &expect![[r#"
            [projects.'/a b/"c"']
            trust_level = "trusted"
        "#]],
    );
}

#[test]
fn what_is_no_toml_is_left_alone() {
    check(
        Some("model = \n"),
        &expect![[r#"
            error: `HOME/config.toml` is not valid TOML
        "#]],
    );
}

#[test]
fn what_is_no_table_is_left_alone() {
    check(
        Some("projects = 1\n"),
        &expect![[r#"
            error: `projects` in `HOME/config.toml` is not a table
        "#]],
    );
}

#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    let home = tempfile::tempdir().unwrap();
    let real = home.path().join("real.toml");
    let file = home.path().join("config.toml");
    fs::write(&real, "model = 'm'\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &file).unwrap();
    store_switch(&file, &["tui", "vim_mode_default"], true).unwrap();
    assert!(file.is_symlink());
    let text = fs::read_to_string(&real).unwrap();
    assert_eq!(text, "model = 'm'\n\n[tui]\nvim_mode_default = true\n");
    let mode = fs::metadata(&real).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o640);
}
