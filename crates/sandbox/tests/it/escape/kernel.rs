//! Interfaces of the kernel that no command needs. The arguments are such that nothing happens where
//! they are not refused.

use super::mounts::{make, refused};
use super::sys::call;
use super::table::{Attempt, Category, Outcome, Refusal, Tried, attempt, nothing_came_of_it};

pub(super) const CATEGORY: Category = Category {
    title: "The kernel and the machine",
    attempts: ATTEMPTS,
};

const NONE: usize = usize::MAX;

const ATTEMPTS: &[Attempt] = &[
    refused("io_uring_setup", |_, _| {
        make(libc::SYS_io_uring_setup, [0, 0])
    }),
    refused("bpf", |_, _| make(libc::SYS_bpf, [9999, 0, 0])),
    refused("perf_event_open", |_, _| {
        make(libc::SYS_perf_event_open, [0, 0, 0, NONE, 0])
    }),
    refused("userfaultfd", |_, _| make(libc::SYS_userfaultfd, [9999])),
    refused("keyctl", |_, _| make(libc::SYS_keyctl, [9999])),
    refused("add_key", |_, _| make(libc::SYS_add_key, [0, 0, 0, 0, 0])),
    refused("request_key", |_, _| {
        make(libc::SYS_request_key, [0, 0, 0, 0])
    }),
    refused("kexec_load", |_, _| {
        make(libc::SYS_kexec_load, [0, 9999, 0, 0])
    }),
    refused("init_module", |_, _| make(libc::SYS_init_module, [0, 0, 0])),
    refused("finit_module", |_, _| {
        make(libc::SYS_finit_module, [9999, 0, 0])
    }),
    refused("delete_module", |_, _| {
        make(libc::SYS_delete_module, [0, 0])
    }),
    refused("reboot", |_, _| make(libc::SYS_reboot, [1, 2, 3, 0])),
    refused("swapon", |_, _| make(libc::SYS_swapon, [0, 0])),
    refused("swapoff", |_, _| make(libc::SYS_swapoff, [0])),
    refused("quotactl", |_, _| make(libc::SYS_quotactl, [NONE, 0, 0, 0])),
    refused("acct", |_, _| make(libc::SYS_acct, [1])),
    refused("syslog", |_, _| make(libc::SYS_syslog, [9999, 0, 0])),
    refused("fanotify_init", |_, _| {
        make(libc::SYS_fanotify_init, [NONE, 0])
    }),
    refused("clock_settime", |_, _| {
        make(libc::SYS_clock_settime, [9999, 0])
    }),
    refused("settimeofday", |_, _| make(libc::SYS_settimeofday, [1, 0])),
    attempt("adjtimex", |_, _| {
        // ADJ_TICK with the usual tick would change nothing, but needs the right to.
        let mut time = [0_u64; 26];
        time[0] = 0x4000;
        time[11] = 10_000;
        make(libc::SYS_adjtimex, [time.as_mut_ptr() as usize])
    })
    .beside(|_, _| {
        let mut time = [0_u64; 26];
        make(libc::SYS_adjtimex, [time.as_mut_ptr() as usize])
    }),
    refused("sethostname", |_, _| make(libc::SYS_sethostname, [1, 65])),
    refused("setdomainname", |_, _| {
        make(libc::SYS_setdomainname, [1, 65])
    }),
    refused("vhangup", |_, _| {
        if std::env::var_os("TEST_BASE").is_none() {
            let reason = "it has no argument that would make it harmless outside";
            return Err(Refusal::Skip(reason.to_owned()));
        }
        make(libc::SYS_vhangup, [])
    }),
    refused("open_by_handle_at", |_, _| {
        make(libc::SYS_open_by_handle_at, [9999, 1, 0])
    }),
    #[cfg(target_arch = "x86_64")]
    refused("iopl", |_, _| make(libc::SYS_iopl, [9])),
    #[cfg(target_arch = "x86_64")]
    refused("ioperm", |_, _| make(libc::SYS_ioperm, [NONE, 9, 1])),
    attempt("personality", |_, _| {
        make(libc::SYS_personality, [0x004_0000])
    })
    .beside(|_, _| make(libc::SYS_personality, [0xffff_ffff]))
    .everywhere(Outcome::Gap),
    #[cfg(target_arch = "x86_64")]
    attempt("a system call of 32-bit programs", |_, _| {
        if super::sys::getpid_as_32_bit() > 0 {
            Ok(())
        } else {
            Err(nothing_came_of_it())
        }
    })
    .with(super::table::Twin::Outside),
    #[cfg(target_arch = "x86_64")]
    attempt("a system call of x32 programs", |_, _| {
        make(0x4000_0000 + libc::SYS_getpid, [])
    })
    .beside(|_, _| make(libc::SYS_getpid, [])),
    attempt("setuid to another user", |_, _| make(libc::SYS_setuid, [1]))
        .beside(|_, _| make(libc::SYS_setuid, [nix::unistd::getuid().as_raw() as usize])),
    attempt("setresuid to another user", |_, _| {
        make(libc::SYS_setresuid, [1, 1, 1])
    })
    .beside(|_, _| make(libc::SYS_setresuid, [NONE, NONE, NONE])),
    attempt("setgid to another group", |_, _| {
        make(libc::SYS_setgid, [1])
    })
    .beside(|_, _| make(libc::SYS_setgid, [nix::unistd::getgid().as_raw() as usize])),
    attempt("take all capabilities", capset).beside(|_, _| {
        let header = [0x2008_0522_u32, 0];
        let mut words = [0_u32; 6];
        make(
            libc::SYS_capget,
            [header.as_ptr() as usize, words.as_mut_ptr() as usize],
        )
    }),
    attempt("raise an ambient capability", |_, _| {
        make(libc::SYS_prctl, [47, 2, 21, 0, 0])
    })
    .beside(|_, _| make(libc::SYS_prctl, [47, 4, 0, 0, 0])),
    attempt("give up no_new_privs", |_, _| {
        make(libc::SYS_prctl, [38, 0, 0, 0, 0])
    })
    .beside(|_, _| make(libc::SYS_prctl, [38, 1, 0, 0, 0])),
    attempt("gain rights by a program of another owner", |_, _| {
        let output = std::process::Command::new("su")
            .args(["-c", "id -u", "daemon"])
            .output()?;
        if output.status.success() {
            Ok(())
        } else {
            Err(nothing_came_of_it())
        }
    })
    .beside(|_, _| {
        let output = std::process::Command::new("id").arg("-u").output()?;
        if output.status.success() {
            Ok(())
        } else {
            Err(nothing_came_of_it())
        }
    }),
];

fn capset(_: &std::path::Path, _: &super::table::Scene) -> Tried {
    let header = [0x2008_0522_u32, 0];
    let words = [u32::MAX, u32::MAX, 0, 0x1ff, 0x1ff, 0];
    call(
        libc::SYS_capset,
        [header.as_ptr() as usize, words.as_ptr() as usize],
    )?;
    Ok(())
}
