//! Reading what must not be read.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::links::rename;
use super::sys::{HERE, c_path, call};
use super::table::{Attempt, Category, Scene, Tried, attempt, nothing_came_of_it};
use super::writes::{fd, proc_path};

pub(super) const CATEGORY: Category = Category {
    title: "Reading secrets",
    attempts: ATTEMPTS,
};

/// What every secret, and every file of the twins, contains.
pub(super) const MARK: &str = "PRIVATE";

const fn read(name: &'static str, action: fn(&Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).on(KEY, PLAIN)
}

const KEY: &str = "H/.ssh/id_ed25519";
const PLAIN: &str = "H/plain/id_ed25519";

const ATTEMPTS: &[Attempt] = &[
    read("read a private key", |at, _| marked(at)),
    read("read a path of `deny_read`", |at, _| marked(at)).on("D/denied", "D/open"),
    read("read a denied path inside a root", |at, _| marked(at)).on("R/hidden/s", "R/shown/s"),
    read("read the agent's keys", |at, _| marked(at)).on("A/auth.json", "A/AGENTS.md"),
    read("read the agent's sessions", |at, _| marked(at))
        .on("A/sessions/rollout.jsonl", "A/rules/rollout.jsonl"),
    read("make something in the agent's directory", |at, _| {
        fs::write(at, MARK)?;
        Ok(())
    })
    .on("A/rules/%", "W/%/rule"),
    read("read the key of a cloud", |at, _| marked(at))
        .on("H/.aws/credentials", "H/plain/credentials"),
    read("read a token in a cache", |at, _| marked(at))
        .on("H/.cache/huggingface/token", "H/.cache/other/token"),
    read("read by a symbolic link", |at, scene| {
        let link = scene.own("soft");
        drop(fs::remove_file(&link));
        symlink(at, &link)?;
        marked(&link)
    }),
    read("read by a hard link", |at, scene| {
        let link = scene.own("hard");
        drop(fs::remove_file(&link));
        fs::hard_link(at, &link)?;
        marked(&link)
    })
    .beside(|_, scene| {
        drop(fs::remove_file(scene.own("hard")));
        fs::hard_link(marked_file(scene)?, scene.own("hard"))?;
        marked(&scene.own("hard"))
    }),
    read("rename the secret inside its root", |at, _| {
        let name = at.with_extension("moved");
        fs::rename(at, &name)?;
        marked(&name)
    })
    .on("R/hidden-2/s", "R/shown-2/s"),
    read("rename the directory of the secret", |at, _| {
        let (from, name) = (at.parent().unwrap(), at.file_name().unwrap());
        let to = from.with_extension("moved");
        fs::rename(from, &to)?;
        marked(&to.join(name))
    })
    .on("R/hidden-3/s", "R/shown-3/s"),
    read("exchange the secret with a plain file", |at, _| {
        let other = at.with_file_name("other");
        fs::write(&other, "nothing")?;
        rename(at, &other, libc::RENAME_EXCHANGE)?;
        marked(&other)
    })
    .on("R/hidden-4/s", "R/shown-4/s"),
    read("read by /proc/self/root", |at, _| {
        marked(&under("/proc/self/root", at))
    }),
    read("read by the root of process 1", |at, _| {
        marked(&under("/proc/1/root", at))
    })
    .beside(|_, scene| marked(&under("/proc/self/root", &marked_file(scene)?))),
    read("read by the root of the agent", |at, scene| {
        let root = format!("/proc/{}/root", scene.number("agent"));
        marked(&under(&root, at))
    })
    .beside(|_, scene| marked(&under("/proc/self/root", &marked_file(scene)?))),
    read("read by the directory of the agent", |_, scene| {
        let cwd = format!("/proc/{}/cwd", scene.number("agent"));
        marked(&Path::new(&cwd).join(KEY))
    })
    .beside(|_, scene| {
        marked_file(scene)?;
        std::env::set_current_dir(scene.own("."))?;
        marked(Path::new("/proc/self/cwd/marked"))
    }),
    read("read by a descriptor of the agent", |_, scene| {
        marked(Path::new(&format!(
            "/proc/{}/fd/101",
            scene.number("agent")
        )))
    })
    .beside(|_, scene| {
        let file = File::open(marked_file(scene)?)?;
        marked(&proc_path(&file))
    }),
    read("open for its path only, then reopen", |at, _| {
        let path = c_path(at);
        let flags = usize::try_from(libc::O_PATH).unwrap();
        let opened = call(libc::SYS_openat, [HERE, path.as_ptr() as usize, flags])?;
        marked(Path::new(&format!("/proc/self/fd/{opened}")))
    }),
    read("copy it with sendfile", |at, scene| {
        let (from, to) = (File::open(at)?, File::create(scene.own("copy"))?);
        call(libc::SYS_sendfile, [fd(&to), fd(&from), 0, 100])?;
        marked(&scene.own("copy"))
    }),
    read("copy it with copy_file_range", |at, scene| {
        let (from, to) = (File::open(at)?, File::create(scene.own("copy"))?);
        call(
            libc::SYS_copy_file_range,
            [fd(&from), 0, fd(&to), 0, 100, 0],
        )?;
        marked(&scene.own("copy"))
    }),
    read("search the home directory", |at, _| {
        if search(at) {
            Ok(())
        } else {
            Err(nothing_came_of_it())
        }
    })
    .on("H/.ssh", "H/plain"),
    read("execute it", |at, _| {
        let error = std::process::Command::new(at).output().err();
        if error.and_then(|error| error.raw_os_error()) == Some(libc::ENOEXEC) {
            return Ok(()); // The kernel has read it.
        }
        Err(nothing_came_of_it())
    })
    .beside(|_, scene| {
        use std::os::unix::fs::PermissionsExt;
        let path = marked_file(scene)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        let error = std::process::Command::new(path).output().err();
        let errno = error.and_then(|error| error.raw_os_error());
        if errno == Some(libc::ENOEXEC) {
            Ok(())
        } else {
            Err(nothing_came_of_it())
        }
    }),
];

/// Whether a file could be read, and is what it should be.
fn marked(path: &Path) -> Tried {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    if text.contains(MARK) {
        Ok(())
    } else {
        Err(nothing_came_of_it())
    }
}

fn marked_file(scene: &Scene) -> std::io::Result<PathBuf> {
    let path = scene.own("marked");
    fs::write(&path, MARK)?;
    Ok(path)
}

fn under(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap())
}

fn search(directory: &Path) -> bool {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| {
            let path = entry.path();
            path.is_dir() && search(&path) || marked(&path).is_ok()
        })
}
