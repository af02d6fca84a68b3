//! One file of a commit: put in its place, taken back, cleaned up.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};

use rustix::fs::OFlags;

use super::prepare::{may_go_in_place, temporary_name};
use super::{CommitError, in_place};
use crate::handle::{Directory, Identity, is_unsupported};

/// What was prepared for a file.
#[derive(Debug)]
pub(super) enum Action {
    /// The temporary file gets the name, where nothing is.
    Create { temporary: OsString },
    /// The temporary file and the file exchange their names.
    Replace {
        temporary: OsString,
        identity: Identity,
    },
    /// The content is written into the file itself.
    InPlace {
        file: File,
        identity: Identity,
        before: Vec<u8>,
        after: Vec<u8>,
    },
    /// The file gets a temporary name.
    Remove {
        temporary: OsString,
        identity: Identity,
    },
}

/// How to take a step back.
#[derive(Debug)]
enum Undo {
    /// Nothing has happened.
    Nothing,
    /// Give the file its temporary name.
    HideNew,
    /// Exchange names again.
    Exchange,
    /// The old file has this name.
    Backup(OsString),
    /// The old file had this content.
    Content(Vec<u8>),
    /// The old content goes back into the file itself.
    InPlace,
    /// Give the file its own name again.
    Unhide,
}

/// One file of a commit.
#[derive(Debug)]
pub(super) struct Step {
    path: String,
    directory: Directory,
    name: OsString,
    action: Action,
    undo: Undo,
}

impl Step {
    pub(super) fn new(path: String, directory: Directory, name: OsString, action: Action) -> Self {
        Self {
            path,
            directory,
            name,
            action,
            undo: Undo::Nothing,
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Puts the prepared file in its place. The text is a warning.
    pub(super) fn apply(&mut self) -> Result<Option<String>, CommitError> {
        let path = self.path.clone();
        let done = match &mut self.action {
            Action::Create { temporary } => {
                let renamed = self.directory.rename_new(temporary, &self.name);
                self.undo = undo_if(&renamed, Undo::HideNew);
                renamed.map(|()| None)
            }
            Action::Replace { .. } => self.replace(),
            Action::InPlace {
                file,
                identity,
                after,
                ..
            } => {
                let now = rustix::fs::fstat(&*file).map(|stat| Identity::of(&stat));
                if now.ok() != Some(*identity) {
                    return Err(CommitError::Changed { path });
                }
                self.undo = Undo::InPlace;
                in_place::overwrite(file, after).map(|()| None)
            }
            Action::Remove {
                temporary,
                identity,
            } => {
                let renamed = self.directory.rename_new(&self.name, temporary);
                self.undo = undo_if(&renamed, Undo::Unhide);
                let hidden = temporary.clone();
                let identity = *identity;
                match renamed {
                    Ok(()) => return self.check(&hidden, identity).map(|()| None),
                    Err(source) if source.kind() == ErrorKind::NotFound => {
                        return Err(CommitError::Changed { path });
                    }
                    Err(source) => return Err(CommitError::Remove { path, source }),
                }
            }
        };
        match done {
            Ok(warning) => {
                if let (Action::Replace { identity, .. }, Some(old)) = (&self.action, self.old()) {
                    self.check(&old, *identity)?;
                }
                Ok(warning)
            }
            Err(source) => Err(match (&self.action, source.kind()) {
                (Action::Create { .. }, ErrorKind::AlreadyExists) => CommitError::Exists { path },
                (_, ErrorKind::NotFound) => CommitError::Changed { path },
                _ => CommitError::Write { path, source },
            }),
        }
    }

    /// The name that the old file has now.
    fn old(&self) -> Option<OsString> {
        match (&self.undo, &self.action) {
            (Undo::Exchange, Action::Replace { temporary, .. }) => Some(temporary.clone()),
            (Undo::Backup(backup), _) => Some(backup.clone()),
            _ => None,
        }
    }

    /// Checks that what was taken out is what was planned with; if not, the roll-back puts it back.
    fn check(&self, old: &OsStr, identity: Identity) -> Result<(), CommitError> {
        let path = self.path.clone();
        match self.directory.stat(old) {
            Ok(Some(stat)) if Identity::of(&stat) == identity => Ok(()),
            Ok(_) => Err(CommitError::Changed { path }),
            Err(source) => Err(CommitError::Write { path, source }),
        }
    }

    /// Replaces the file by the best means that the file system has.
    fn replace(&mut self) -> io::Result<Option<String>> {
        let Action::Replace { temporary, .. } = &self.action else {
            return Ok(None);
        };
        let (directory, name) = (&self.directory, &self.name);
        match directory.exchange(temporary, name) {
            Ok(()) => {
                self.undo = Undo::Exchange;
                return Ok(None);
            }
            Err(err) if is_unsupported(&err) => {}
            Err(err) if may_go_in_place(&err) => return self.fall_back(&err),
            Err(err) => return Err(err),
        }
        self.replace_in_two_steps().map(|()| None)
    }

    /// For file systems that cannot exchange names: the old file gets a second name first.
    fn replace_in_two_steps(&mut self) -> io::Result<()> {
        let Action::Replace {
            temporary,
            identity,
        } = &self.action
        else {
            return Ok(());
        };
        let (directory, name) = (&self.directory, &self.name);
        let is_same = |name: &OsStr| {
            let stat = directory.stat(name)?;
            Ok::<_, io::Error>(stat.is_some_and(|stat| Identity::of(&stat) == *identity))
        };
        // The caller takes an absent file for a changed one.
        let changed = || io::Error::from(ErrorKind::NotFound);
        if !is_same(name)? {
            return Err(changed());
        }
        let backup = temporary_name();
        if directory.link(name, &backup).is_ok() {
            let renamed = match is_same(&backup) {
                Ok(true) => directory.rename_over(temporary, name),
                Ok(false) => Err(changed()),
                Err(err) => Err(err),
            };
            if let Err(err) = renamed {
                // The file has its name still; only the second one goes.
                drop(directory.unlink(&backup));
                return Err(err);
            }
            self.undo = Undo::Backup(backup);
        } else {
            let (mut file, _) = directory.open_file(name, OFlags::RDONLY)?;
            let content = in_place::content(&mut file)?;
            directory.rename_over(temporary, name)?;
            self.undo = Undo::Content(content);
        }
        Ok(())
    }

    /// Writes into a file that turns out not to be replaceable.
    fn fall_back(&mut self, why: &io::Error) -> io::Result<Option<String>> {
        let Action::Replace {
            temporary,
            identity,
        } = &self.action
        else {
            return Ok(None);
        };
        let (mut new, _) = self.directory.open_file(temporary, OFlags::RDONLY)?;
        let after = in_place::content(&mut new)?;
        let (mut file, stat) = self.directory.open_file(&self.name, OFlags::RDWR)?;
        if stat.st_nlink > 1 || Identity::of(&stat) != *identity {
            return Err(io::Error::new(why.kind(), why.to_string()));
        }
        let before = in_place::content(&mut file)?;
        self.directory.unlink(temporary)?;
        let identity = *identity;
        in_place::overwrite(&mut file, &after).or_else(|err| {
            in_place::overwrite(&mut file, &before)?;
            Err(err)
        })?;
        self.undo = Undo::InPlace;
        self.action = Action::InPlace {
            file,
            identity,
            before,
            after,
        };
        let path = &self.path;
        Ok(Some(format!(
            "`{path}` was written in place, not replaced at once: {why}"
        )))
    }

    /// Takes the step back.
    pub(super) fn undo(&mut self) -> io::Result<()> {
        let (directory, name) = (&self.directory, &self.name);
        match (
            std::mem::replace(&mut self.undo, Undo::Nothing),
            &mut self.action,
        ) {
            (Undo::HideNew, Action::Create { temporary }) => directory.rename_new(name, temporary),
            (Undo::Exchange, Action::Replace { temporary, .. }) => {
                directory.exchange(temporary, name)
            }
            (Undo::Backup(backup), _) => directory.rename_over(&backup, name),
            (Undo::Content(content), Action::Replace { temporary, .. }) => {
                let mut file = directory.create_file(temporary, 0o666)?;
                in_place::overwrite(&mut file, &content)?;
                directory.rename_over(temporary, name)
            }
            (Undo::InPlace, Action::InPlace { file, before, .. }) => {
                in_place::overwrite(file, before)
            }
            (Undo::Unhide, Action::Remove { temporary, .. }) => {
                directory.rename_new(temporary, name)
            }
            _ => Ok(()),
        }
    }

    /// Removes what is temporary.
    pub(super) fn clean_up(&mut self) -> io::Result<()> {
        let temporary = match (&self.undo, &self.action) {
            (Undo::Backup(backup), _) => backup,
            (
                _,
                Action::Create { temporary }
                | Action::Replace { temporary, .. }
                | Action::Remove { temporary, .. },
            ) => temporary,
            (_, Action::InPlace { .. }) => return Ok(()),
        };
        match self.directory.unlink(temporary) {
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Waits until the disk has the name, and the content of a file written in place.
    pub(super) fn sync(&self) -> Result<(), CommitError> {
        let synced = match &self.action {
            Action::InPlace { file, .. } => file.sync_all(),
            Action::Create { .. } | Action::Replace { .. } | Action::Remove { .. } => {
                self.directory.sync()
            }
        };
        synced.map_err(|source| CommitError::Write {
            path: self.path.clone(),
            source,
        })
    }
}

fn undo_if(done: &io::Result<()>, undo: Undo) -> Undo {
    if done.is_ok() { undo } else { Undo::Nothing }
}
