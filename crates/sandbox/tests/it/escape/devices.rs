//! Devices and terminals.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use super::sys::call;
use super::table::{Attempt, Category, Outcome, Refusal, Scene, Tried, attempt, done};
use super::writes::mknod;

pub(super) const CATEGORY: Category = Category {
    title: "Devices and terminals",
    attempts: ATTEMPTS,
};

const ATTEMPTS: &[Attempt] = &[
    device("open the machine's memory", |_, _| opened("/dev/mem", true)),
    device("write to the kernel's log", |_, _| {
        opened("/dev/kmsg", true)
    }),
    device("read a disk", |_, _| disk(false)),
    device("write a disk", |_, _| disk(true)),
    device("open the hypervisor's interface", |_, _| {
        opened("/dev/kvm", true)
    }),
    device("open the interface of file systems in programs", |_, _| {
        opened("/dev/fuse", true)
    }),
    device("open the processors' registers", |_, _| {
        opened("/dev/cpu/0/msr", false)
    }),
    device("open the interface of network devices", |_, _| {
        opened("/dev/net/tun", true)
    }),
    device("make the node of a disk", |_, scene| {
        mknod(&scene.own("disk"), libc::S_IFBLK)
    }),
    device("make the node of a device", |_, scene| {
        mknod(&scene.own("device"), libc::S_IFCHR)
    }),
    device("make a device in /dev", |_, _| {
        mknod(Path::new("/dev/new"), libc::S_IFCHR)
    }),
    attempt("type into the terminal", |_, _| {
        let byte = b"x".as_ptr() as usize;
        terminal(0x5412, byte)
    })
    .beside(|_, _| size_of_terminal()),
    attempt("type into a console", |_, _| {
        terminal(0x541c, b"\x02".as_ptr() as usize)
    })
    .beside(|_, _| size_of_terminal()),
    attempt("type with the upper half of the request set", |_, _| {
        terminal(0x1_0000_5412, b"x".as_ptr() as usize)
    })
    .beside(|_, _| size_of_terminal()),
    attempt("write to another terminal of the user", |_, scene| {
        let path = format!("/dev/pts/{}", scene.number("terminal"));
        // A new instance of the terminals has other numbers.
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NOCTTY)
            .open(path);
        Ok(file?.write_all(b"evil")?)
    })
    .beside(|_, _| {
        Ok(File::options()
            .append(true)
            .open("/dev/null")?
            .write_all(b"fine")?)
    })
    .without_namespaces(Outcome::Gap),
    attempt("change memory that host programs share", |_, scene| {
        let path = format!("/dev/shm/agent-escape-{}", scene.number("agent"));
        if OpenOptions::new().write(true).open(&path).is_ok() {
            Ok(())
        } else {
            Err(super::table::nothing_came_of_it())
        }
    })
    .beside(|_, scene| {
        let path = format!("/dev/shm/agent-escape-own-{}", scene.number("agent"));
        fs::write(&path, "")?;
        Ok(fs::remove_file(path)?)
    })
    .without_namespaces(Outcome::Gap),
];

const fn device(name: &'static str, action: fn(&Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).beside(|_, scene| {
        opened("/dev/null", true)?;
        opened("/dev/urandom", false)?;
        mknod(&scene.own("pipe"), libc::S_IFIFO)
    })
}

fn opened(path: &str, writable: bool) -> Tried {
    done(OpenOptions::new().read(true).write(writable).open(path)?)
}

/// Opens whatever disk there is.
fn disk(writable: bool) -> Tried {
    let entries = fs::read_dir("/dev")?.flatten();
    let mut refusal = Refusal::Kernel(std::io::ErrorKind::NotFound.into());
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()))
    {
        match OpenOptions::new()
            .read(true)
            .write(writable)
            .open(entry.path())
        {
            Ok(_) => return Ok(()),
            Err(error) => refusal = error.into(),
        }
    }
    Err(refusal)
}

fn terminal(request: usize, argument: usize) -> Tried {
    call(libc::SYS_ioctl, [0, request, argument])?;
    Ok(())
}

/// asm-generic/ioctls.h.
const TIOCGWINSZ: usize = 0x5413;

fn size_of_terminal() -> Tried {
    let mut size = [0_u16; 4];
    terminal(TIOCGWINSZ, size.as_mut_ptr() as usize)
}
