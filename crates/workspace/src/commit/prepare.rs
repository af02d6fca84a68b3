//! Prepares every file of a commit, so that only renames are left, and takes it back on failure.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind, Write as _};

use rustix::fs::{FileType, OFlags, RawMode, Stat};
use rustix::io::Errno;

use super::step::{Action, Step};
use super::{CommitError, Committed, Job, TEMPORARY_PREFIX, attributes, in_place};
use crate::handle::{Directory, Identity};
use crate::target::Location;
use crate::workspace::{Durability, Workspace, split};

/// How often another temporary name is tried.
const MAX_NAMES: usize = 16;

/// A commit on its way.
pub(super) struct Transaction<'w> {
    workspace: &'w Workspace,
    steps: Vec<Step>,
    /// Directories that were made for it, outermost first.
    made: Vec<(Directory, OsString)>,
    warnings: Vec<String>,
}

impl<'w> Transaction<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Self {
        Self {
            workspace,
            steps: Vec::new(),
            made: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Checks that a file is as it was planned, and prepares its new content beside it.
    pub(super) fn prepare(
        &mut self,
        path: String,
        location: &Location,
        job: Job,
    ) -> Result<(), CommitError> {
        let makes = matches!(job, Job::Create { .. });
        let (directory, name) = match self.open_parent(location, makes) {
            Ok(parent) => parent,
            Err(source) => return Err(CommitError::Directory { path, source }),
        };
        let action = match job {
            Job::Create { after, like } => {
                self.prepare_create(&path, &directory, &name, (&after, like.as_ref()))?
            }
            Job::Replace { before, after } => {
                self.prepare_replace(&path, &directory, &name, (before, after))?
            }
            Job::Remove { before, content } => {
                self.prepare_remove(&path, &directory, &name, (&before, &content))?
            }
        };
        self.steps.push(Step::new(path, directory, name, action));
        Ok(())
    }

    fn prepare_create(
        &mut self,
        path: &str,
        directory: &Directory,
        name: &OsStr,
        (after, like): (&[u8], Option<&Location>),
    ) -> Result<Action, CommitError> {
        let failed = |source| CommitError::Write {
            path: path.to_owned(),
            source,
        };
        if directory.stat(name).map_err(failed)?.is_some() {
            let path = path.to_owned();
            return Err(CommitError::Exists { path });
        }
        let model = match like {
            Some(like) => {
                let (directory, name) = self.open_parent(like, false).map_err(failed)?;
                let opened = directory.open_file(&name, OFlags::RDONLY);
                Some(opened.map_err(failed)?)
            }
            None => None,
        };
        let (mut file, temporary) = create_temporary(directory, 0o666).map_err(failed)?;
        let mut write = || {
            file.write_all(after)?;
            if let Some((model, stat)) = &model
                && let Err(err) = attributes::copy(model, stat, &file)
            {
                self.warnings.push(format!(
                    "`{path}` has not all attributes of its source: {err}"
                ));
            }
            self.settle(&file)
        };
        match write() {
            Ok(()) => Ok(Action::Create { temporary }),
            Err(err) => Err(failed(discard(directory, &temporary, err))),
        }
    }

    fn prepare_replace(
        &mut self,
        path: &str,
        directory: &Directory,
        name: &OsStr,
        (before, after): (Vec<u8>, Vec<u8>),
    ) -> Result<Action, CommitError> {
        let failed = |source| CommitError::Write {
            path: path.to_owned(),
            source,
        };
        let (file, stat) = unchanged(path, directory, name, &before)?;
        let replaced = self.write_beside(directory, &file, &stat, &after);
        let why = match replaced {
            Ok(temporary) => {
                return Ok(Action::Replace {
                    temporary,
                    identity: Identity::of(&stat),
                });
            }
            Err(err) if may_go_in_place(&err) => err,
            Err(err) => return Err(failed(err)),
        };
        if stat.st_nlink > 1 {
            let text = format!("it cannot be replaced ({why}), and it has other hard links");
            return Err(failed(io::Error::other(text)));
        }
        let opened = directory.open_file(name, OFlags::RDWR);
        let (file, _) = opened.map_err(failed)?;
        self.warnings.push(format!(
            "`{path}` was written in place, not replaced at once: {why}"
        ));
        Ok(Action::InPlace {
            file,
            identity: Identity::of(&stat),
            before,
            after,
        })
    }

    fn prepare_remove(
        &mut self,
        path: &str,
        directory: &Directory,
        name: &OsStr,
        (before, content): (&[u8], &Location),
    ) -> Result<Action, CommitError> {
        let failed = |source| CommitError::Remove {
            path: path.to_owned(),
            source,
        };
        let (content_directory, content_name) = self.open_parent(content, false).map_err(failed)?;
        unchanged(path, &content_directory, &content_name, before)?;
        let Some(stat) = directory.stat(name).map_err(failed)? else {
            let path = path.to_owned();
            return Err(CommitError::Changed { path });
        };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            return Err(failed(io::Error::other("it is a directory")));
        }
        Ok(Action::Remove {
            temporary: temporary_name(),
            identity: Identity::of(&stat),
        })
    }

    /// Writes the new content of an existing file to a temporary one in the same directory.
    fn write_beside(
        &self,
        directory: &Directory,
        old: &File,
        stat: &Stat,
        after: &[u8],
    ) -> io::Result<OsString> {
        if directory.own_stat()?.st_dev != stat.st_dev {
            return Err(Errno::BUSY.into());
        }
        let (mut file, temporary) = create_temporary(directory, 0o600)?;
        let filled = file
            .write_all(after)
            .and_then(|()| attributes::copy(old, stat, &file))
            .and_then(|()| self.settle(&file));
        match filled {
            Ok(()) => Ok(temporary),
            Err(err) => Err(discard(directory, &temporary, err)),
        }
    }

    fn settle(&self, file: &File) -> io::Result<()> {
        match self.workspace.durability() {
            Durability::Cached => Ok(()),
            Durability::Synced => file.sync_all(),
        }
    }

    /// Opens the directory of a file by its names, one beneath the other.
    fn open_parent(
        &mut self,
        location: &Location,
        makes: bool,
    ) -> io::Result<(Directory, OsString)> {
        let mut directory = self.workspace.root(location)?.clone();
        let (parents, name) = split(location);
        for part in parents {
            let opened = match directory.open(part) {
                Err(err) if makes && err.kind() == ErrorKind::NotFound => {
                    match directory.make_directory(part) {
                        Ok(()) => self.made.push((directory.clone(), part.to_owned())),
                        Err(err) if err.kind() == ErrorKind::AlreadyExists => {}
                        Err(err) => return Err(err),
                    }
                    directory.open(part)
                }
                opened => opened,
            };
            directory = opened?;
        }
        Ok((directory, name.to_owned()))
    }

    /// Puts every prepared file in its place.
    pub(super) fn apply(&mut self) -> Result<(), CommitError> {
        for step in &mut self.steps {
            self.warnings.extend(step.apply()?);
        }
        if self.workspace.durability() == Durability::Synced {
            for step in &self.steps {
                step.sync()?;
            }
        }
        Ok(())
    }

    /// Takes the old files away after success.
    pub(super) fn finish(mut self) -> Committed {
        for step in &mut self.steps {
            if let Err(err) = step.clean_up() {
                let name = step.path();
                self.warnings.push(format!(
                    "a temporary file beside `{name}` could not be removed: {err}"
                ));
            }
        }
        Committed {
            warnings: self.warnings,
        }
    }

    /// Puts everything back as it was.
    pub(super) fn roll_back(mut self, source: CommitError) -> CommitError {
        let mut paths = Vec::new();
        for step in self.steps.iter_mut().rev() {
            if step.undo().is_err() {
                paths.push(step.path().to_owned());
                // The old content is still in the temporary file.
                continue;
            }
            // What is left over is recognised by its name.
            drop(step.clean_up());
        }
        for (directory, name) in self.made.iter().rev() {
            // A directory that someone else has used since stays.
            drop(directory.remove_directory(name));
        }
        if paths.is_empty() {
            return source;
        }
        paths.reverse();
        let source = Box::new(source);
        CommitError::RollBack { paths, source }
    }
}

/// Opens a file if it still has the content that was planned with.
fn unchanged(
    path: &str,
    directory: &Directory,
    name: &OsStr,
    before: &[u8],
) -> Result<(File, Stat), CommitError> {
    let opened = directory.open_file(name, OFlags::RDONLY);
    let same = opened.and_then(|(mut file, stat)| {
        let same = in_place::is_content(&mut file, before)?;
        Ok(same.then_some((file, stat)))
    });
    let path = path.to_owned();
    match same {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(CommitError::Changed { path }),
        Err(err) if err.kind() == ErrorKind::NotFound => Err(CommitError::Changed { path }),
        Err(source) => Err(CommitError::Write { path, source }),
    }
}

/// Whether a file that could not be replaced for this reason may still be writable itself.
pub(super) fn may_go_in_place(err: &io::Error) -> bool {
    let reasons = [Errno::ACCESS, Errno::PERM, Errno::ROFS, Errno::BUSY];
    Errno::from_io_error(err).is_some_and(|err| reasons.contains(&err))
}

/// A file that nobody can have prepared or can guess.
fn create_temporary(directory: &Directory, mode: RawMode) -> io::Result<(File, OsString)> {
    let mut result = Err(io::Error::from(ErrorKind::AlreadyExists));
    for _ in 0..MAX_NAMES {
        let name = temporary_name();
        result = directory.create_file(&name, mode).map(|file| (file, name));
        let taken = |err: &io::Error| err.kind() == ErrorKind::AlreadyExists;
        if !result.as_ref().is_err_and(taken) {
            break;
        }
    }
    result
}

/// A new name; its randomness comes from the operating system.
pub(super) fn temporary_name() -> OsString {
    let random = RandomState::new().hash_one(std::process::id());
    format!("{TEMPORARY_PREFIX}{random:016x}").into()
}

fn discard(directory: &Directory, temporary: &OsStr, err: io::Error) -> io::Error {
    // The first error is the one to report; the name tells what the file is.
    drop(directory.unlink(temporary));
    err
}
