//! Repositories and sockets below a writable root, found by a bounded look at its directories.
//!
//! The look is taken before and after every command, so listings are kept and read again only
//! if their directory has changed.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{common_dir, config, git_dir_of, is_module_of, read_small};

/// How far a look goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    depth: usize,
    directories: usize,
    socket_depth: usize,
    /// Also into directories in which nobody works.
    everywhere: bool,
}

/// In the workspace and other projects.
pub(crate) const PROJECT: Reach = Reach {
    depth: 4,
    directories: 200,
    socket_depth: 1,
    everywhere: false,
};
/// In temporary directories, for sockets alone.
pub(crate) const TEMPORARY: Reach = Reach {
    depth: 2,
    directories: 100,
    socket_depth: 2,
    everywhere: false,
};
/// The first look, for sockets alone: in projects and caches, and in temporary directories. It is
/// short, because the kernel lists most of them (`personality/hidden.rs`), and these directories
/// can be huge.
pub(crate) const FIRST: Reach = Reach {
    depth: 1,
    directories: 100,
    socket_depth: 1,
    everywhere: true,
};
pub(crate) const FIRST_TEMPORARY: Reach = Reach {
    depth: 2,
    socket_depth: 2,
    ..FIRST
};
const LISTING_LIMIT: usize = 2000;
const ENTRY_LIMIT: usize = 4000;
const INDEX_LIMIT: u64 = 64 * 1024 * 1024;
/// A change this shortly after a listing may leave the time of the directory as it was.
const TIME_GRAIN_NANOSECONDS: i128 = 100_000_000;

/// Directories of dependencies and build results, in which nobody works.
const SKIPPED: &[&str] = &[
    ".git",
    ".hg",
    ".jj",
    ".svn",
    ".cache",
    ".gradle",
    ".tox",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "target",
    "venv",
];

/// What a look at a root found, in the order of depth.
#[derive(Debug, Default, Clone)]
pub(crate) struct Found {
    /// Directories with a `.git`, not the root itself.
    pub(crate) trees: Vec<PathBuf>,
    /// Directories that git takes for a git directory without a work tree.
    pub(crate) bare: Vec<PathBuf>,
    /// Sockets, whoever made them.
    pub(crate) sockets: Vec<PathBuf>,
    /// Nothing was left out but for its depth and name.
    pub(crate) complete: bool,
}

/// Remembers listings between commands.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    listings: HashMap<PathBuf, Listing>,
    is_fresh: bool,
}

#[derive(Debug, Clone)]
struct Listing {
    identity: (u64, u64, i128),
    read_at: i128,
    directories: Vec<PathBuf>,
    /// Of dependencies and build results.
    skipped: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
    n_entries: usize,
    has_git: bool,
    is_bare: bool,
}

impl Scanner {
    /// Whether listings that are there are taken as they are: nothing ran since they were made.
    pub(crate) fn set_fresh(&mut self, is_fresh: bool) {
        self.is_fresh = is_fresh;
    }

    /// Looks at `root` and below.
    pub(crate) fn scan(&mut self, root: &Path, reach: Reach) -> Found {
        let mut found = Found {
            complete: true,
            ..Found::default()
        };
        let mut n_entries = 0;
        let mut n_directories = 0;
        let mut next = VecDeque::from([(root.to_owned(), 0)]);
        while let Some((path, depth)) = next.pop_front() {
            if n_directories == reach.directories || n_entries >= ENTRY_LIMIT {
                found.complete = false;
                break;
            }
            n_directories += 1;
            let Some(listing) = self.listing(&path) else {
                continue;
            };
            n_entries += listing.n_entries;
            if depth <= reach.socket_depth {
                found.sockets.extend(listing.sockets.iter().cloned());
            }
            if depth < reach.depth {
                let skipped = listing.skipped.iter().filter(|_| reach.everywhere);
                let below = listing.directories.iter().chain(skipped);
                next.extend(below.map(|path| (path.clone(), depth + 1)));
            }
            if depth > 0 && listing.has_git {
                found.trees.push(path);
            } else if depth > 0 && listing.is_bare {
                found.bare.push(path);
            }
        }
        found
    }

    fn listing(&mut self, path: &Path) -> Option<&Listing> {
        if self.is_fresh && self.listings.contains_key(path) {
            return self.listings.get(path);
        }
        let metadata = path.symlink_metadata().ok()?;
        let changed = i128::from(metadata.ctime()) * 1_000_000_000;
        let changed = changed + i128::from(metadata.ctime_nsec());
        let identity = (metadata.dev(), metadata.ino(), changed);
        let is_known = self.listings.get(path).is_some_and(|known| {
            known.identity == identity && known.read_at > changed + TIME_GRAIN_NANOSECONDS
        });
        if !is_known {
            if self.listings.len() > LISTING_LIMIT {
                self.listings.clear();
            }
            let listing = list(path, identity)?;
            self.listings.insert(path.to_owned(), listing);
        }
        self.listings.get(path)
    }
}

fn list(path: &Path, identity: (u64, u64, i128)) -> Option<Listing> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut listing = Listing {
        identity,
        read_at: now.map_or(0, |now| i128::try_from(now.as_nanos()).unwrap_or(0)),
        directories: Vec::new(),
        skipped: Vec::new(),
        sockets: Vec::new(),
        n_entries: 0,
        has_git: false,
        is_bare: false,
    };
    let (mut head, mut objects, mut refs) = (false, false, false);
    for entry in fs::read_dir(path).ok()?.flatten().take(ENTRY_LIMIT) {
        listing.n_entries += 1;
        let name = entry.file_name();
        listing.has_git |= name == ".git";
        head |= name == "HEAD";
        objects |= name == "objects";
        refs |= name == "refs";
        match entry.file_type() {
            Ok(kind) if kind.is_socket() => listing.sockets.push(entry.path()),
            Ok(kind) if kind.is_dir() && SKIPPED.iter().any(|skipped| name == *skipped) => {
                listing.skipped.push(entry.path());
            }
            Ok(kind) if kind.is_dir() => listing.directories.push(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
    listing.is_bare = head && objects && refs;
    listing.directories.sort();
    Some(listing)
}

/// Whether git, run in `directory` with a new `.git` (or a bare repository there), would execute
/// nothing of what is in it. `above` is the work tree around it.
pub(crate) fn is_harmless(directory: &Path, git: &Path, above: &Path) -> bool {
    let Some(git_dir) = git_dir_of(git) else {
        return false;
    };
    let missing = |name: &str| git_dir.join(name).symlink_metadata().is_err();
    if !missing("config.worktree") {
        return false;
    }
    if !missing("commondir") {
        // A linked worktree of the repository above, whose settings are protected.
        let around = git_dir_of(&above.join(".git")).map(|git_dir| common_dir(&git_dir));
        return around == Some(common_dir(&git_dir));
    }
    let is_module = git.is_file() && is_module_of(&git_dir, directory);
    is_plain(&git_dir, is_module)
}

/// The same for the new git directory of a submodule.
pub(crate) fn is_harmless_module(git_dir: &Path) -> bool {
    let missing = |name: &str| git_dir.join(name).symlink_metadata().is_err();
    missing("config.worktree") && missing("commondir") && is_plain(git_dir, true)
}

/// Whether a git directory has neither hooks nor settings beyond the plain ones.
fn is_plain(git_dir: &Path, is_module: bool) -> bool {
    let missing = |name: &str| git_dir.join(name).symlink_metadata().is_err();
    let hooks = match fs::read_dir(git_dir.join("hooks")) {
        Ok(entries) => entries
            .flatten()
            .all(|entry| entry.file_name().as_bytes().ends_with(b".sample")),
        Err(_) => missing("hooks"),
    };
    let config = match read_small(&git_dir.join("config")) {
        Some(text) => config::is_harmless(&text, is_module),
        None => missing("config"),
    };
    hooks && config
}

/// Whether the index of the work tree `tree` has files below `directory`.
pub(crate) fn is_tracked(tree: &Path, directory: &Path) -> bool {
    let Ok(below) = directory.strip_prefix(tree) else {
        return false;
    };
    let Some(git_dir) = git_dir_of(&tree.join(".git")) else {
        return false;
    };
    let index = super::read_limited(&git_dir.join("index"), INDEX_LIMIT).unwrap_or_default();
    let mut prefix = below.as_os_str().as_bytes().to_vec();
    prefix.push(b'/');
    // An entry is its length in 12 bits, its path and a NUL. Version 4 shortens the paths; there
    // the answer may be a wrong no.
    index
        .windows(prefix.len())
        .enumerate()
        .filter(|(_, window)| *window == prefix)
        .any(|(start, _)| {
            let length = start.checked_sub(2).and_then(|flags| {
                let flags = index.get(flags..start)?.first_chunk::<2>()?;
                Some(usize::from(u16::from_be_bytes(*flags) & 0xfff))
            });
            let rest = index.get(start..).unwrap_or_default();
            let end = rest.iter().position(|byte| *byte == 0);
            end.is_some() && (end == length || length == Some(0xfff))
        })
}
