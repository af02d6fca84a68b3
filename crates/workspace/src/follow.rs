//! Follows the links of a path to learn where it leads. Only asks; opens nothing.
//!
//! The answer may be outdated when it is used. It decides which root and which rule apply; the
//! access itself goes by handles and fails if a link has appeared since.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// Where an absolute path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Followed {
    /// All links followed but the last one.
    pub(crate) entry: PathBuf,
    /// All links followed.
    pub(crate) content: PathBuf,
}

/// Follows an absolute path. What does not exist yet is taken as written.
pub(crate) fn follow(path: &Path) -> io::Result<Followed> {
    let mut walk = Walk {
        at: PathBuf::from("/"),
        pending: parts(path),
        n_links: 0,
        entry: None,
    };
    while let Some(part) = walk.pending.pop_front() {
        walk.step(part)?;
    }
    Ok(Followed {
        entry: walk.entry.unwrap_or_else(|| walk.at.clone()),
        content: walk.at,
    })
}

enum Part {
    Root,
    Up,
    Name(OsString),
}

fn parts(path: &Path) -> VecDeque<Part> {
    let parts = path.components().filter_map(|component| match component {
        Component::RootDir => Some(Part::Root),
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

struct Walk {
    at: PathBuf,
    pending: VecDeque<Part>,
    n_links: usize,
    /// Set when the last part of the path as written is a link.
    entry: Option<PathBuf>,
}

impl Walk {
    fn step(&mut self, part: Part) -> io::Result<()> {
        let name = match part {
            Part::Root => {
                self.at = PathBuf::from("/");
                return Ok(());
            }
            Part::Up => {
                self.at.pop();
                return Ok(());
            }
            Part::Name(name) => name,
        };
        let next = self.at.join(name);
        let is_link = match std::fs::symlink_metadata(&next) {
            Ok(metadata) => metadata.is_symlink(),
            Err(err) if err.kind() == io::ErrorKind::NotFound => false,
            // What may not be looked at is refused when it is opened.
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => false,
            Err(err) => return Err(err),
        };
        if !is_link {
            self.at = next;
            return Ok(());
        }
        self.n_links += 1;
        if self.n_links > MAX_LINKS {
            return Err(io::Error::from_raw_os_error(
                rustix::io::Errno::LOOP.raw_os_error(),
            ));
        }
        if self.pending.is_empty() && self.entry.is_none() {
            self.entry = Some(next.clone());
        }
        for part in parts(&std::fs::read_link(&next)?).into_iter().rev() {
            self.pending.push_front(part);
        }
        Ok(())
    }
}
