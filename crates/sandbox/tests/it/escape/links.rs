//! Names: renaming and linking over the border of the roots.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use super::sys::{HERE, c_path, call};
use super::table::{Attempt, Category, Scene, Tried, attempt, nothing_came_of_it};
use super::writes::{fd, proc_path};

pub(super) const CATEGORY: Category = Category {
    title: "Names over the border",
    attempts: ATTEMPTS,
};

const ATTEMPTS: &[Attempt] = &[
    attempt("rename a file", |at, _| {
        Ok(fs::rename(at.join("file"), at.join("renamed"))?)
    }),
    attempt("move a file out", |at, scene| {
        Ok(fs::rename(mine(scene)?, at.join("file"))?)
    }),
    attempt("move a file in", |at, scene| {
        Ok(fs::rename(at.join("file"), scene.own("taken"))?)
    }),
    attempt("move without replacing", |at, scene| {
        rename(&mine(scene)?, &at.join("new"), libc::RENAME_NOREPLACE)
    }),
    attempt("exchange a file with one outside", |at, scene| {
        rename(&mine(scene)?, &at.join("file"), libc::RENAME_EXCHANGE)
    }),
    attempt("leave a whiteout behind", |at, _| {
        rename(&at.join("file"), &at.join("new"), RENAME_WHITEOUT)
    })
    .beside(|_, scene| rename(&mine(scene)?, &scene.own("new"), libc::RENAME_NOREPLACE)),
    attempt("hard link to a file, written through", |at, scene| {
        let link = scene.own("hard");
        drop(fs::remove_file(&link));
        fs::hard_link(at.join("file"), &link)?;
        Ok(fs::write(link, "changed")?)
    }),
    attempt("hard link out of the roots", |at, scene| {
        Ok(fs::hard_link(mine(scene)?, at.join("hard"))?)
    }),
    attempt("hard link by an open descriptor", |at, scene| {
        link_by_descriptor(&at.join("file"), &scene.own("hard-2"))
    })
    .beside(|_, scene| link_by_descriptor(&mine(scene)?, &scene.own("hard-3"))),
    attempt("hard link by /proc/self/fd", |at, scene| {
        let file = File::open(at.join("file"))?;
        let (from, to) = (c_path(&proc_path(&file)), scene.own("hard-4"));
        drop(fs::remove_file(&to));
        let path = c_path(&to);
        let (from, path) = (from.as_ptr() as usize, path.as_ptr() as usize);
        let follow = usize::try_from(libc::AT_SYMLINK_FOLLOW).unwrap();
        call(libc::SYS_linkat, [HERE, from, HERE, path, follow])?;
        Ok(fs::write(to, "changed")?)
    }),
    attempt("symbolic link to a file, written through", |at, scene| {
        let link = scene.own("soft");
        drop(fs::remove_file(&link));
        symlink(at.join("file"), &link)?;
        Ok(fs::write(link, "changed")?)
    }),
    attempt(
        "symbolic link to a directory, made a file in",
        |at, scene| {
            let link = scene.own("softly");
            drop(fs::remove_file(&link));
            symlink(at, &link)?;
            Ok(fs::write(link.join("new"), "changed")?)
        },
    ),
    attempt(
        "symbolic link to a missing file, written through",
        |at, scene| {
            let link = scene.own("dangling");
            drop(fs::remove_file(&link));
            symlink(at.join("new"), &link)?;
            Ok(fs::write(link, "changed")?)
        },
    ),
    attempt("make a symbolic link outside", |at, _| {
        Ok(symlink("file", at.join("soft"))?)
    }),
    attempt("climb out with .. from an open directory", |at, scene| {
        let from = File::open(scene.own("."))?;
        let name = at.file_name().unwrap();
        let above = at.parent().unwrap().file_name().unwrap();
        let path = Path::new("../..").join(above).join(name).join("file");
        let path = c_path(&path);
        let flags = usize::try_from(libc::O_WRONLY | libc::O_TRUNC).unwrap();
        call(libc::SYS_openat, [fd(&from), path.as_ptr() as usize, flags])?;
        Ok(())
    }),
    attempt("rename a directory away while inside it", |at, _| {
        std::env::set_current_dir(at.join("dir"))?;
        fs::rename(at.join("dir"), at.join("moved"))?;
        Ok(fs::write("inner", "changed")?)
    }),
    attempt("rename the workspace itself", |_, scene| {
        Ok(fs::rename(scene.base.join("W"), scene.base.join("V"))?)
    })
    .beside(|_, scene| Ok(fs::rename(scene.own("dir"), scene.own("moved"))?)),
];

const RENAME_WHITEOUT: libc::c_uint = 4;

fn mine(scene: &Scene) -> std::io::Result<std::path::PathBuf> {
    let path = scene.own("mine");
    fs::write(&path, "changed")?;
    Ok(path)
}

pub(super) fn rename(from: &Path, to: &Path, flags: libc::c_uint) -> Tried {
    let (from, to) = (c_path(from), c_path(to));
    let (from, to) = (from.as_ptr() as usize, to.as_ptr() as usize);
    call(libc::SYS_renameat2, [HERE, from, HERE, to, flags as usize])?;
    Ok(())
}

fn link_by_descriptor(from: &Path, to: &Path) -> Tried {
    drop(fs::remove_file(to));
    let file = File::open(from)?;
    let (empty, path) = (c"", c_path(to));
    let (empty, path) = (empty.as_ptr() as usize, path.as_ptr() as usize);
    let flags = usize::try_from(libc::AT_EMPTY_PATH).unwrap();
    if call(libc::SYS_linkat, [fd(&file), empty, HERE, path, flags]).is_err() {
        // Who may not link descriptors can link their names.
        fs::hard_link(from, to)?;
    }
    fs::write(to, "changed")?;
    if fs::read(from)? == b"changed" {
        Ok(())
    } else {
        Err(nothing_came_of_it())
    }
}
