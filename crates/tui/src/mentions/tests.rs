use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use super::{FileIndex, MAX_MATCHES, Match};

/// Longer than any machine needs; only a hang reaches it.
const PATIENCE: Duration = Duration::from_mins(2);

struct Asked {
    index: FileIndex,
    news: mpsc::Receiver<()>,
}

impl Asked {
    fn new(root: &Path) -> Self {
        let (sender, news) = mpsc::channel();
        let index = FileIndex::start(root, move || {
            // The test may be over.
            let _ = sender.send(());
        });
        Self { index, news }
    }

    /// Waits for an answer to the query that is as wanted.
    fn answer(&self, query: &str, is_it: impl Fn(&[Match]) -> bool) -> Vec<Match> {
        self.index.search(query);
        loop {
            self.news.recv_timeout(PATIENCE).expect("an answer");
            match self.index.results() {
                Some((of, found)) if of == query && is_it(&found) => return found,
                Some(_) | None => {}
            }
        }
    }
}

fn make(root: &Path, path: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
}

fn paths(found: &[Match]) -> Vec<&str> {
    found.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn files_are_found_and_marked() {
    let root = tempfile::tempdir().unwrap();
    for path in ["src/main.rs", "src/domain.rs", "docs/m a.md"] {
        make(root.path(), path);
    }
    let asked = Asked::new(root.path());
    let found = asked.answer("main", |found| found.len() == 2);
    assert_eq!(paths(&found), ["src/main.rs", "src/domain.rs"]);
    assert_eq!(found[0].matched, [4, 5, 6, 7]);
    let found = asked.answer("", |found| found.len() == 5);
    assert_eq!(paths(&found)[..2], ["src/", "docs/"]);
    asked.answer("nothing like it", <[Match]>::is_empty);
}

#[test]
fn what_is_ignored_hidden_or_outside_is_not_found() {
    let outside = tempfile::tempdir().unwrap();
    make(outside.path(), "x-outside");
    let root = tempfile::tempdir().unwrap();
    for path in ["x-seen", ".hidden/x-hidden", "target/x-built", "sub/x-seen"] {
        make(root.path(), path);
    }
    fs::write(root.path().join(".gitignore"), "target/\n").unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
    let asked = Asked::new(root.path());
    let found = asked.answer("x-", |_| asked.index.is_complete());
    assert_eq!(paths(&found), ["x-seen", "sub/x-seen"]);
}

#[test]
fn a_hundred_thousand_files_are_answered_while_they_are_listed() {
    // Some disks take a minute to make and remove so many files; memory does not.
    let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let root = root.unwrap();
    for folder in 0..100 {
        let folder = root.path().join(format!("folder-{folder:03}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..1_000 {
            fs::write(folder.join(format!("file-{file:04}.rs")), "").unwrap();
        }
    }
    let asked = Asked::new(root.path());
    asked.answer("file", |found| found.len() == MAX_MATCHES);
    let early = !asked.index.is_complete();
    let found = asked.answer("folder-099/file-0999", |found| {
        found
            .first()
            .is_some_and(|best| best.path == "folder-099/file-0999.rs")
    });
    assert!(found.len() <= MAX_MATCHES);
    assert!(early, "the first answer came only after the whole list");
}

#[test]
fn a_root_that_is_not_there_has_no_files() {
    let asked = Asked::new(Path::new("/nonexistent/agent"));
    asked.answer("", <[Match]>::is_empty);
}

#[test]
fn dropping_it_ends_its_thread() {
    let root = tempfile::tempdir().unwrap();
    make(root.path(), "a");
    let (sender, news) = mpsc::channel::<()>();
    let index = FileIndex::start(root.path(), move || {
        let _ = sender.send(());
    });
    drop(index);
    // The callback is gone with the thread.
    assert_eq!(news.try_recv(), Err(mpsc::TryRecvError::Disconnected));
}
