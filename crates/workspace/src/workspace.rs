//! Which files may be edited, and reading them.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::change::FileChange;
use crate::commit::{self, CommitError, Committed};
use crate::follow::{Followed, follow};
use crate::handle::Directory;
use crate::protect::{both_forms, built_in, covered};
use crate::refusal::Refusal;
use crate::target::{Location, Target};

/// The largest file that is read, in bytes.
pub const MAX_READ_BYTES: u64 = 256 << 20;

/// A directory that may be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritableRoot {
    /// The directory, absolute.
    pub path: PathBuf,
    /// What may not be written in it, absolute or relative to it; besides what always may not.
    pub protected: Vec<PathBuf>,
}

/// Whether a commit waits until the disk has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The kernel writes when it likes; files are whole after a crash of the agent.
    #[default]
    Cached,
    /// Files are whole after a crash of the machine too.
    Synced,
}

/// The files that may be edited.
#[derive(Debug)]
pub struct Workspace {
    cwd: PathBuf,
    roots: Vec<Root>,
    denied: Vec<PathBuf>,
    /// Files outside of all roots that were approved one by one, links followed.
    approved: Vec<PathBuf>,
    durability: Durability,
    guarded: bool,
}

#[derive(Debug)]
struct Root {
    real: PathBuf,
    directory: Directory,
    protected: Vec<PathBuf>,
    /// Reached only through an approval.
    hidden: bool,
}

impl Workspace {
    /// Opens the roots. One that cannot be opened holds no file: paths in it are outside.
    pub fn new(cwd: PathBuf, roots: Vec<WritableRoot>, denied: Vec<PathBuf>) -> Self {
        let roots = roots.into_iter().filter_map(Root::open).collect();
        let denied = denied
            .into_iter()
            .map(|path| cwd.join(path))
            .flat_map(both_forms)
            .collect();
        Self {
            cwd,
            roots,
            denied,
            approved: Vec::new(),
            durability: Durability::default(),
            guarded: true,
        }
    }

    /// Everything may be edited.
    pub fn unrestricted(cwd: PathBuf) -> Self {
        Self {
            guarded: false,
            ..Self::new(cwd, vec![whole_machine()], Vec::new())
        }
    }

    /// Sets whether commits wait for the disk.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same workspace with more files: `paths` as a [`Refusal`] names them, approved one by
    /// one. What the user denied stays denied.
    #[must_use]
    pub fn with_approved(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.approved.extend(paths);
        if !self.approved.is_empty() && !self.roots.iter().any(|root| root.hidden) {
            let root = Root::open(whole_machine());
            self.roots.extend(root.map(|root| Root {
                hidden: true,
                ..root
            }));
        }
        self
    }

    /// The directory that relative paths start from.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Decides whether a path may be edited, and where it leads.
    pub fn resolve(&self, path_as_written: &str) -> Result<Target, Refusal> {
        let invalid = |reason: &str| Refusal::Invalid {
            path: path_as_written.to_owned(),
            reason: reason.to_owned(),
        };
        if path_as_written.is_empty() {
            return Err(invalid("it is empty"));
        }
        if path_as_written.contains('\0') {
            return Err(invalid("it contains a NUL character"));
        }
        if path_as_written.ends_with('/') {
            return Err(invalid("it names a directory"));
        }
        let followed = follow(&self.cwd.join(path_as_written));
        let Followed { entry, content } = followed.map_err(|err| invalid(&err.to_string()))?;
        let target = Target {
            written: path_as_written.to_owned(),
            content: self.locate(&content)?,
            entry: self.locate(&entry)?,
            real: content,
        };
        for location in [&target.content, &target.entry] {
            if location.relative.file_name().is_none() {
                return Err(invalid("it is a directory"));
            }
        }
        Ok(target)
    }

    /// Reads a file for planning; `None` if it does not exist. Never waits, and refuses what is no
    /// regular file or larger than [`MAX_READ_BYTES`].
    pub fn read(&self, target: &Target) -> io::Result<Option<Vec<u8>>> {
        let Some((directory, name)) = self.parent(&target.content)? else {
            return dangling_or_none(target);
        };
        if directory.stat(name)?.is_none() {
            return dangling_or_none(target);
        }
        let (file, stat) = directory.open_file(name, OFlags::RDONLY)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let too_large = || io::Error::other("it is larger than 256 MiB");
        if size > MAX_READ_BYTES {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        bytes.reserve_exact(usize::try_from(size).unwrap_or(0) + 1);
        file.take(MAX_READ_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_READ_BYTES {
            return Err(too_large());
        }
        Ok(Some(bytes))
    }

    /// Whether a file may be executed by somebody; `false` if it does not exist.
    pub fn is_executable(&self, target: &Target) -> bool {
        let stat = self.parent(&target.content).ok().flatten();
        let stat = stat.and_then(|(directory, name)| directory.stat(name).ok().flatten());
        stat.is_some_and(|stat| stat.st_mode & 0o111 != 0)
    }

    /// Writes all changes or none. On an error all files are as they were. However the process
    /// ends, each file is wholly old or wholly new; what may be left over has a name that begins
    /// with [`crate::TEMPORARY_PREFIX`]. One exception: a file that cannot be replaced is written
    /// in place, and a warning says so; it is torn if the process ends in the middle of that.
    ///
    /// A file with several hard links gets an inode of its own; the other names keep the old
    /// content.
    pub fn commit(&self, changes: Vec<FileChange>) -> Result<Committed, CommitError> {
        commit::commit(self, changes)
    }

    pub(crate) fn durability(&self) -> Durability {
        self.durability
    }

    /// The handle of a root.
    pub(crate) fn root(&self, location: &Location) -> io::Result<&Directory> {
        let root = self.roots.get(location.root);
        root.map(|root| &root.directory)
            .ok_or_else(|| io::Error::other("it belongs to another workspace"))
    }

    /// Opens the directory of a file; `None` if that does not exist.
    fn parent<'l>(&self, location: &'l Location) -> io::Result<Option<(Directory, &'l OsStr)>> {
        let mut directory = self.root(location)?.clone();
        let (parents, name) = split(location);
        for part in parents {
            directory = match directory.open(part) {
                Ok(directory) => directory,
                Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(err) => return Err(err),
            };
        }
        Ok(Some((directory, name)))
    }

    /// The innermost root that holds an absolute path, if no rule is against it.
    fn locate(&self, path: &Path) -> Result<Location, Refusal> {
        let to_owned = || path.to_owned();
        if covered(path, &self.denied).is_some() {
            return Err(Refusal::Denied { path: to_owned() });
        }
        let approved = self.approved.iter().any(|approved| approved == path);
        let mut best: Option<(usize, &Root)> = None;
        for (index, root) in self.roots.iter().enumerate() {
            let Ok(relative) = path.strip_prefix(&root.real) else {
                continue;
            };
            if root.hidden && !approved {
                continue;
            }
            if self.guarded && !approved {
                root.check(path, relative)?;
            }
            let deeper = |(_, best): (usize, &Root)| {
                root.real.as_os_str().len() > best.real.as_os_str().len()
            };
            if best.is_none_or(deeper) {
                best = Some((index, root));
            }
        }
        let Some((index, root)) = best else {
            return Err(Refusal::Outside { path: to_owned() });
        };
        let relative = path.strip_prefix(&root.real).unwrap_or(path).to_owned();
        Ok(Location {
            root: index,
            relative,
        })
    }
}

impl Root {
    fn open(root: WritableRoot) -> Option<Self> {
        let real = std::fs::canonicalize(&root.path).ok()?;
        let directory = Directory::open_root(&real).ok()?;
        let protected = root.protected.into_iter();
        let protected = protected
            .map(|path| real.join(path))
            .flat_map(both_forms)
            .collect();
        Some(Self {
            real,
            directory,
            protected,
            hidden: false,
        })
    }

    fn check(&self, path: &Path, relative: &Path) -> Result<(), Refusal> {
        let listed = covered(path, &self.protected)
            .map(|entry| format!("`{}` may not be written", entry.display()));
        match listed.or_else(|| built_in(relative)) {
            Some(reason) => Err(Refusal::Protected {
                path: path.to_owned(),
                reason,
            }),
            None => Ok(()),
        }
    }
}

/// The names of the directories above a file, and its own.
pub(crate) fn split(location: &Location) -> (impl Iterator<Item = &OsStr>, &OsStr) {
    let parents = location.relative.parent().into_iter().flat_map(Path::iter);
    (parents, location.relative.file_name().unwrap_or_default())
}

fn whole_machine() -> WritableRoot {
    WritableRoot {
        path: PathBuf::from("/"),
        protected: Vec::new(),
    }
}

fn dangling_or_none(target: &Target) -> io::Result<Option<Vec<u8>>> {
    if target.is_link() {
        return Err(io::Error::other(
            "it is a symbolic link to a file that does not exist",
        ));
    }
    Ok(None)
}
