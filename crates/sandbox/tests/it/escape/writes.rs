//! Writing outside the roots, by every call that can write.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::sys::{HERE, c_path, call};
use super::table::{Attempt, Category, Outcome, Refusal, Scene, Tried, Twin, attempt, done};

pub(super) const CATEGORY: Category = Category {
    title: "Writing outside the roots",
    attempts: ATTEMPTS,
};

const ATTEMPTS: &[Attempt] = &[
    attempt("open a file for writing", |at, _| {
        Ok(fs::write(at.join("file"), "changed")?)
    }),
    attempt("open a file for appending", |at, _| {
        let mut file = OpenOptions::new().append(true).open(at.join("file"))?;
        Ok(file.write_all(b"more")?)
    }),
    attempt("open read-only and truncate in one call", |at, _| {
        let mut options = OpenOptions::new();
        drop(
            options
                .read(true)
                .custom_flags(libc::O_TRUNC)
                .open(at.join("file"))?,
        );
        Ok(())
    }),
    attempt("make a file with creat", |at, _| {
        let path = c_path(&at.join("new"));
        call(
            libc::SYS_openat,
            [HERE, path.as_ptr() as usize, CREATE, 0o600],
        )?;
        Ok(())
    }),
    attempt("make a file through openat2", open_by_openat2)
        .beside(|_, scene| Ok(fs::write(scene.own("openat"), "allowed")?)),
    attempt("truncate a file by its path", |at, _| {
        let path = c_path(&at.join("file"));
        call(libc::SYS_truncate, [path.as_ptr() as usize, 1])?;
        Ok(())
    }),
    attempt("truncate through /proc/self/fd", |at, _| {
        let file = File::open(at.join("file"))?;
        let path = c_path(&proc_path(&file));
        call(libc::SYS_truncate, [path.as_ptr() as usize, 1])?;
        Ok(())
    }),
    attempt("reopen a read-only descriptor for writing", |at, _| {
        let file = File::open(at.join("file"))?;
        Ok(fs::write(proc_path(&file), "changed")?)
    }),
    attempt("reopen the standard error for writing", |_, _| {
        // The stage gave a file outside, opened for reading only.
        let mut file = OpenOptions::new().write(true).open("/proc/self/fd/2")?;
        Ok(file.write_all(b"changed")?)
    })
    .beside(|_, _| {
        // The standard output is a file that was given for writing.
        let mut file = File::options().append(true).open("/dev/null")?;
        Ok(file.write_all(b"allowed")?)
    })
    .without_landlock(Outcome::Gap),
    attempt("write to a descriptor that the agent had open", |_, _| {
        let text = b"changed";
        call(libc::SYS_write, [100, text.as_ptr() as usize, text.len()])?;
        Ok(())
    })
    .beside(|_, scene| {
        let mut file = File::create(scene.own("mine"))?;
        Ok(file.write_all(b"allowed")?)
    }),
    attempt("allocate space in a file", |at, _| {
        let file = writable(&at.join("file"))?;
        call(libc::SYS_fallocate, [fd(&file), 0, 0, 9999])?;
        Ok(())
    }),
    attempt("allocate space through a read-only descriptor", |at, _| {
        let file = File::open(at.join("file"))?;
        call(libc::SYS_fallocate, [fd(&file), 0, 0, 9999])?;
        Ok(())
    })
    .beside(|_, scene| {
        let file = File::create(scene.own("space"))?;
        call(libc::SYS_fallocate, [fd(&file), 0, 0, 9999])?;
        Ok(())
    }),
    attempt("copy_file_range into a file", |at, scene| {
        let (from, to) = (source(scene)?, writable(&at.join("file"))?);
        call(libc::SYS_copy_file_range, [fd(&from), 0, fd(&to), 0, 4, 0])?;
        Ok(())
    }),
    attempt("sendfile into a file", |at, scene| {
        let (from, to) = (source(scene)?, writable(&at.join("file"))?);
        call(libc::SYS_sendfile, [fd(&to), fd(&from), 0, 4])?;
        Ok(())
    }),
    attempt("splice into a file", |at, _| {
        let (reader, mut writer) = std::io::pipe()?;
        writer.write_all(b"changed")?;
        let to = writable(&at.join("file"))?;
        let from = usize::try_from(reader.as_raw_fd()).unwrap();
        call(libc::SYS_splice, [from, 0, fd(&to), 0, 7, 0])?;
        Ok(())
    }),
    attempt("clone blocks into a read-only descriptor", |at, scene| {
        let (from, to) = (source(scene)?, File::open(at.join("file"))?);
        call(libc::SYS_ioctl, [fd(&to), FICLONE, fd(&from)])?;
        Ok(())
    })
    .beside(|_, scene| done(source(scene)?)),
    attempt(
        "write through shared memory of a read-only file",
        |at, _| {
            let file = File::open(at.join("file"))?;
            Ok(super::sys::scribble_through_memory(file.as_raw_fd())?)
        },
    )
    .beside(|_, scene| {
        let path = scene.own("mapped");
        fs::write(&path, "x")?;
        Ok(super::sys::scribble_through_memory(
            File::options()
                .read(true)
                .write(true)
                .open(&path)?
                .as_raw_fd(),
        )?)
    }),
    attempt("make a directory", |at, _| {
        Ok(fs::create_dir(at.join("new"))?)
    }),
    attempt("make a pipe with mknod", |at, _| {
        mknod(&at.join("pipe"), libc::S_IFIFO)
    }),
    attempt("remove a file", |at, _| {
        Ok(fs::remove_file(at.join("file"))?)
    }),
    attempt("remove a directory", |at, _| {
        Ok(fs::remove_dir(at.join("empty"))?)
    }),
    attempt("make a file without a name and name it", |at, _| {
        let directory = c_path(at);
        let flags = usize::try_from(libc::O_TMPFILE | libc::O_WRONLY).unwrap();
        let made = call(
            libc::SYS_openat,
            [HERE, directory.as_ptr() as usize, flags, 0o600],
        )?;
        let from = c_path(Path::new(&format!("/proc/self/fd/{made}")));
        let to = c_path(&at.join("named"));
        let (from, to) = (from.as_ptr() as usize, to.as_ptr() as usize);
        let follow = usize::try_from(libc::AT_SYMLINK_FOLLOW).unwrap();
        call(libc::SYS_linkat, [HERE, from, HERE, to, follow])?;
        Ok(())
    }),
    attempt("open a file by its handle", open_by_handle)
        .beside(|_, scene| handle_of(&source_path(scene)?).map(drop)),
    attempt("write by io_uring", |_, _| {
        let parameters = [0_u8; 120];
        call(libc::SYS_io_uring_setup, [1, parameters.as_ptr() as usize])?;
        Ok(())
    })
    .with(Twin::Outside),
];

const CREATE: usize = (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as usize;
/// `FICLONE` of linux/fs.h.
const FICLONE: usize = 0x4004_9409;

pub(super) fn fd(file: &impl AsRawFd) -> usize {
    usize::try_from(file.as_raw_fd()).unwrap()
}

pub(super) fn proc_path(file: &File) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

fn writable(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

fn source_path(scene: &Scene) -> std::io::Result<std::path::PathBuf> {
    let path = scene.own("source");
    fs::write(&path, "changed")?;
    Ok(path)
}

fn source(scene: &Scene) -> std::io::Result<File> {
    File::open(source_path(scene)?)
}

pub(super) fn mknod(path: &Path, kind: libc::mode_t) -> Tried {
    let path = c_path(path);
    let mode = usize::try_from(kind | 0o600).unwrap();
    call(
        libc::SYS_mknodat,
        [HERE, path.as_ptr() as usize, mode, 0x0103],
    )?;
    Ok(())
}

fn open_by_openat2(at: &Path, _: &Scene) -> Tried {
    let path = c_path(&at.join("new"));
    let how = [CREATE as u64, 0o600, 0];
    let (path, how) = (path.as_ptr() as usize, how.as_ptr() as usize);
    call(libc::SYS_openat2, [HERE, path, how, 24])?;
    Ok(())
}

/// A `struct file_handle` with room for the largest, and the id of the mount.
fn handle_of(path: &Path) -> Result<[u32; 40], Refusal> {
    let mut handle = [0_u32; 40];
    handle[0] = 128;
    let (path, mut mount) = (c_path(path), 0_i32);
    let (path, mount) = (path.as_ptr() as usize, &raw mut mount as usize);
    call(
        libc::SYS_name_to_handle_at,
        [HERE, path, handle.as_mut_ptr() as usize, mount, 0],
    )?;
    Ok(handle)
}

fn open_by_handle(at: &Path, scene: &Scene) -> Tried {
    let handle = handle_of(&at.join("file"))?;
    let mount = File::open(scene.own("."))?;
    let flags = usize::try_from(libc::O_WRONLY | libc::O_TRUNC).unwrap();
    call(
        libc::SYS_open_by_handle_at,
        [fd(&mount), handle.as_ptr() as usize, flags],
    )?;
    Ok(())
}
