//! Open directories, and access to one name in them. Links are never followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dev, FileType, Mode, OFlags, RawMode, RenameFlags, Stat};
use rustix::io::Errno;

/// An open directory.
#[derive(Debug, Clone)]
pub(crate) struct Directory(Arc<OwnedFd>);

/// What identifies a file and tells that it was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: Dev,
    inode: u64,
    size: i64,
    modified: (i64, u64),
}

impl Identity {
    #[expect(
        clippy::unnecessary_cast,
        reason = "the types of these fields differ between platforms"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: stat.st_size,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
        }
    }
}

/// Only Linux opens a directory that may be searched but not read.
#[cfg(target_os = "linux")]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const SEARCH: OFlags = OFlags::RDONLY;

const DIRECTORY: OFlags = SEARCH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Directory {
    /// Opens a root by its path.
    pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
        let fd = rustix::fs::open(path, DIRECTORY, Mode::empty())?;
        Ok(Self(Arc::new(fd)))
    }

    /// Opens the directory `name` in this one.
    pub(crate) fn open(&self, name: &OsStr) -> io::Result<Self> {
        let fd = rustix::fs::openat(&*self.0, name, DIRECTORY, Mode::empty())?;
        Ok(Self(Arc::new(fd)))
    }

    pub(crate) fn make_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&*self.0, name, Mode::from(0o777))?)
    }

    pub(crate) fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// What `name` is; `None` if it does not exist.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(err.into()),
        }
    }

    /// What this directory itself is.
    pub(crate) fn own_stat(&self) -> io::Result<Stat> {
        Ok(rustix::fs::fstat(&*self.0)?)
    }

    /// Opens a regular file; never waits for a FIFO or a device.
    pub(crate) fn open_file(&self, name: &OsStr, flags: OFlags) -> io::Result<(File, Stat)> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&*self.0, name, flags, Mode::empty());
        let fd = opened.map_err(|err| match err {
            Errno::LOOP => io::Error::other("it has become a symbolic link"),
            Errno::NXIO | Errno::NODEV => io::Error::other("it is not a regular file"),
            err => err.into(),
        })?;
        let stat = rustix::fs::fstat(&fd)?;
        check_regular(&stat)?;
        Ok((File::from(fd), stat))
    }

    /// Creates a file that does not exist.
    pub(crate) fn create_file(&self, name: &OsStr, mode: RawMode) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(mode);
        let fd = rustix::fs::openat(&*self.0, name, flags | OFlags::CLOEXEC, mode)?;
        Ok(File::from(fd))
    }

    /// Gives two files each other's name.
    pub(crate) fn exchange(&self, a: &OsStr, b: &OsStr) -> io::Result<()> {
        self.rename_with(a, b, RenameFlags::EXCHANGE)
    }

    /// Renames where nothing is.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match self.rename_with(from, to, RenameFlags::NOREPLACE) {
            Err(err) if is_unsupported(&err) => {}
            renamed => return renamed,
        }
        // File systems without the flag: a second name fails where something is, too.
        match self.link(from, to) {
            Ok(()) => self.unlink(from).inspect_err(|_| {
                // Else the file had both names, and nobody would take the new one back.
                drop(self.unlink(to));
            }),
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Err(err),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Err(err),
            // Without links either, looking first is the best there is.
            Err(_) if self.stat(to)?.is_some() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.rename_over(from, to),
        }
    }

    /// Renames over what is there.
    pub(crate) fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&*self.0, from, &*self.0, to)?)
    }

    /// Gives a file a second name where nothing is.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let no_flags = AtFlags::empty();
        Ok(rustix::fs::linkat(&*self.0, from, &*self.0, to, no_flags)?)
    }

    pub(crate) fn unlink(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.0, name, AtFlags::empty())?)
    }

    /// Makes the names in this directory durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&*self.0, ".", flags, Mode::empty())?;
        Ok(rustix::fs::fsync(fd)?)
    }

    fn rename_with(&self, from: &OsStr, to: &OsStr, flags: RenameFlags) -> io::Result<()> {
        let renamed = rustix::fs::renameat_with(&*self.0, from, &*self.0, to, flags);
        Ok(renamed?)
    }
}

/// Whether an error says that the file system does not know the operation.
pub(crate) fn is_unsupported(err: &io::Error) -> bool {
    let unsupported = [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP];
    Errno::from_io_error(err).is_some_and(|err| unsupported.contains(&err))
}

/// Refuses all but regular files, in words.
pub(crate) fn check_regular(stat: &Stat) -> io::Result<()> {
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "it is a directory",
        FileType::Symlink => "it is a symbolic link",
        FileType::Fifo => "it is a FIFO, not a regular file",
        FileType::Socket => "it is a socket, not a regular file",
        FileType::CharacterDevice | FileType::BlockDevice => "it is a device, not a regular file",
        FileType::Unknown => "it is not a regular file",
    };
    Err(io::Error::other(what))
}
