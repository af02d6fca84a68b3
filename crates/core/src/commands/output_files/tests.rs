use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Limits, OutputFiles};
use crate::commands::output::{Output, WholeOutput};

const LIMITS: Limits = Limits {
    file_bytes: 3 << 20,
    thread_bytes: 100,
    other_bytes: 100,
    age: Duration::from_hours(1),
};

fn files(directory: PathBuf, limits: Limits) -> Arc<OutputFiles> {
    let mut files = OutputFiles::new(directory, false);
    files.limits = limits;
    Arc::new(files)
}

/// A home with the outputs of a thread `own`.
fn home() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join("outputs/own");
    (home, own)
}

fn numbers(n_bytes: usize) -> Vec<u8> {
    (0_u32..).flat_map(u32::to_le_bytes).take(n_bytes).collect()
}

/// The file of an output that has all of these bytes in pieces, and what is said of it.
fn printed(bytes: &[u8], directory: &Path) -> (Option<Vec<u8>>, WholeOutput) {
    let mut output = Output::new(files(directory.to_owned(), LIMITS), 7);
    for piece in bytes.chunks(70_001) {
        output.push(piece);
    }
    output.close();
    let file = fs::read(directory.join("7.txt")).ok();
    (file, output.whole())
}

#[test]
fn what_memory_keeps_needs_no_file_until_somebody_asks() {
    let (_home, own) = home();
    let bytes = numbers(1 << 20);
    let (file, whole) = printed(&bytes, &own);
    assert_eq!(file, None);
    let path = own.join("7.txt");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let (n_kept, n_bytes) = (1 << 20, 1 << 20);
    let expected = WholeOutput::InFile {
        path,
        n_kept,
        n_bytes,
    };
    assert_eq!(whole, expected);
}

#[test]
fn a_long_output_is_whole_in_its_file() {
    let (_home, own) = home();
    for n_bytes in [
        (1 << 20) + 1,
        3 << 20,
        (3 << 20) + 99,
        (3 << 20) + (512 << 10),
    ] {
        let bytes = numbers(n_bytes);
        let (file, whole) = printed(&bytes, &own);
        assert!(file.as_ref() == Some(&bytes), "{n_bytes}");
        let n_bytes = n_bytes as u64;
        let is_whole =
            matches!(whole, WholeOutput::InFile { n_kept, n_bytes: n, .. } if n_kept == n);
        assert!(is_whole, "{n_bytes}: {whole:?}");
        fs::remove_dir_all(&own).unwrap();
    }
}

#[test]
fn of_a_too_long_output_the_ends_are_in_the_file() {
    let (_home, own) = home();
    let (n_start, n_end) = (3 << 20, 512 << 10);
    let bytes = numbers(n_start + 1000 + n_end);
    let (file, whole) = printed(&bytes, &own);
    let mut expected = bytes[..n_start].to_vec();
    expected.extend_from_slice(b"\n... 1000 bytes omitted ...\n");
    expected.extend_from_slice(&bytes[n_start + 1000..]);
    assert!(file == Some(expected));
    let n_kept = (n_start + n_end) as u64;
    assert!(matches!(whole, WholeOutput::InFile { n_kept: n, .. } if n == n_kept));
}

#[test]
fn an_output_that_cannot_be_kept_is_said_to_be_lost() {
    let home = tempfile::tempdir().unwrap();
    let in_the_way = home.path().join("outputs");
    fs::write(&in_the_way, "").unwrap();
    let (file, whole) = printed(&numbers(2 << 20), &in_the_way.join("own"));
    assert_eq!(file, None);
    assert!(matches!(whole, WholeOutput::Lost(why) if why.contains("directory")));
}

#[test]
fn a_link_in_the_way_is_not_written_through() {
    let (home, own) = home();
    fs::create_dir_all(&own).unwrap();
    let target = home.path().join("target");
    fs::write(&target, "mine").unwrap();
    std::os::unix::fs::symlink(&target, own.join("7.txt")).unwrap();
    let (_, whole) = printed(&numbers(2 << 20), &own);
    assert!(matches!(whole, WholeOutput::Lost(_)));
    assert_eq!(fs::read_to_string(target).unwrap(), "mine");
}

fn write(path: &Path, n_bytes: usize, age: Duration) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, vec![b'x'; n_bytes]).unwrap();
    let then = std::time::SystemTime::now() - age;
    let set = |path: &Path| fs::File::open(path).unwrap().set_modified(then).unwrap();
    set(path);
    set(path.parent().unwrap());
}

#[test]
fn what_is_old_or_too_much_is_removed() {
    let (_home, own) = home();
    let all = own.parent().unwrap();
    let minutes = |n: u64| Duration::from_secs(60 * n);
    write(&all.join("old/1.txt"), 1, minutes(61));
    write(&all.join("young/1.txt"), 60, minutes(1));
    write(&all.join("middle/1.txt"), 60, minutes(2));
    write(&all.join("living/1.txt"), 60, minutes(62));
    let living = fs::File::open(all.join("living")).unwrap();
    living.lock_shared().unwrap();
    write(&own.join("1.txt"), 60, minutes(3));
    write(&own.join("2.txt"), 60, minutes(2));
    let kept = files(own.clone(), LIMITS);
    kept.create(3).unwrap();
    let there = |path: &str| all.join(path).exists();
    assert!(!there("old") && there("young") && !there("middle") && there("living"));
    assert!(!there("own/1.txt") && there("own/2.txt") && there("own/3.txt"));
}

#[test]
fn an_empty_directory_goes_with_its_thread_and_an_ephemeral_one_with_its_files() {
    let (_home, own) = home();
    fs::create_dir_all(&own).unwrap();
    drop(OutputFiles::new(own.clone(), false));
    assert!(!own.exists());
    let files = OutputFiles::new(own.clone(), false);
    files.create(1).unwrap();
    drop(files);
    assert!(own.join("1.txt").exists());
    drop(OutputFiles::new(own.clone(), true));
    assert!(!own.exists());
}
