//! The filter of system calls: a list of what ordinary programs never need and escapes do.
//!
//! Refused calls fail with `EPERM`. `clone3` and `openat2` fail with `ENOSYS`, because their flags
//! and modes are out of the filter's sight and programs then fall back to the older calls. Programs of another
//! architecture (32 bit) end at their first call.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

/// What sockets a command may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Unix and internet: the network is a namespace, or allowed.
    Ordinary,
    /// Internet only, beside connected socket pairs: nothing hides the sockets of host daemons.
    NoUnix,
    /// Connected socket pairs only.
    PairsOnly,
}

/// Refused whatever the arguments.
const REFUSED: &[libc::c_long] = &[
    // Other processes' memory.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts, roots and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_open_by_handle_at,
    // Kernel interfaces with a history of holes.
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_fanotify_init,
    // Keys that outlive the command.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_clock_settime,
    libc::SYS_settimeofday,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

const SYS_OPEN_TREE_ATTR: libc::c_long = 467;

const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

const NAMESPACE_FLAGS: &[libc::c_int] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
const CLONE_NEWTIME: libc::c_int = 0x80;

/// Compiles the filters, to be installed in this order.
pub(crate) fn filters(sockets: Sockets) -> Result<Vec<BpfProgram>, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED {
        rules.insert(*call, Vec::new());
    }
    let flag_rules = |flags: &[libc::c_int]| -> Result<Vec<SeccompRule>, BackendError> {
        flags.iter().map(|flag| rule(&[has_flag(*flag)])).collect()
    };
    rules.insert(libc::SYS_clone, flag_rules(NAMESPACE_FLAGS)?);
    let mut unshare = flag_rules(NAMESPACE_FLAGS)?;
    unshare.extend(flag_rules(&[CLONE_NEWTIME])?);
    rules.insert(libc::SYS_unshare, unshare);
    // Typing into a terminal on the user's behalf.
    let typing = [TIOCSTI, TIOCLINUX];
    let typing = typing
        .iter()
        .map(|request| rule(&[(1, Test::Is(*request))]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_socket, socket_rules(sockets)?);
    rules.extend(set_id_rules()?);
    rules.insert(libc::SYS_socketpair, pair_rules(sockets)?);
    if sockets != Sockets::Ordinary {
        // No pid namespace keeps other processes of the same user out of reach.
        let of_another = [(0, is_not(0)), (2, is_not(0))];
        rules.insert(libc::SYS_prlimit64, vec![rule(&of_another)?]);
    }

    let (allow, refuse) = (
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.cast_unsigned()),
    );
    let filter = SeccompFilter::new(rules, allow, refuse, ARCHITECTURE)?;
    Ok(vec![filter.try_into()?, without_hidden_arguments()])
}

/// Calls that set a mode, and which argument it is.
const MODE_CALLS: &[(libc::c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];
const SYS_FCHMODAT2: libc::c_long = 452;
/// Calls whose mode counts only if they make a file; before the mode are the flags.
const OPEN_CALLS: &[(libc::c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2),
    (libc::SYS_openat, 3),
];
/// The bit of `O_TMPFILE` that is its own.
const TEMPORARY_FILE: libc::c_int = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Refuses programs that run as their owner or group: they would outlive the sandbox.
fn set_id_rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let has = |argument: u8, bits: u32| (argument, Test::Has(u64::from(bits)));
    let mut rules = BTreeMap::new();
    for (call, mode) in MODE_CALLS {
        let refused = [libc::S_ISUID, libc::S_ISGID].map(|bit| rule(&[has(*mode, bit)]));
        rules.insert(*call, refused.into_iter().collect::<Result<_, _>>()?);
    }
    for (call, mode) in OPEN_CALLS {
        let mut refused = Vec::new();
        for flag in [libc::O_CREAT, TEMPORARY_FILE] {
            for bit in [libc::S_ISUID, libc::S_ISGID] {
                let flag = has(mode - 1, flag.cast_unsigned());
                refused.push(rule(&[flag, has(*mode, bit)])?);
            }
        }
        rules.insert(*call, refused);
    }
    Ok(rules)
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

fn socket_rules(sockets: Sockets) -> Result<Vec<SeccompRule>, BackendError> {
    let families: &[libc::c_int] = match sockets {
        Sockets::Ordinary => &[
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
        ],
        Sockets::NoUnix => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        Sockets::PairsOnly => &[libc::AF_NETLINK],
    };
    let others: Vec<_> = families.iter().map(|family| (0, is_not(*family))).collect();
    // Of netlink, only the questions about interfaces and routes.
    let netlink = [
        (0, Test::Is(u64::from(libc::AF_NETLINK.cast_unsigned()))),
        (2, is_not(libc::NETLINK_ROUTE)),
    ];
    Ok(vec![rule(&others)?, rule(&netlink)?])
}

/// Pairs of unix sockets only. One of a pair for datagrams can be sent to any address, so where the
/// sockets of the host are within reach there are no such pairs.
fn pair_rules(sockets: Sockets) -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = vec![rule(&[(0, is_not(libc::AF_UNIX))])?];
    if sockets != Sockets::Ordinary {
        // For unix sockets the kernel takes a raw socket as one for datagrams.
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
            rules.push(rule(&[(
                1,
                Test::HasKind(u64::from(kind.cast_unsigned())),
            )])?);
        }
    }
    Ok(rules)
}

#[derive(Clone, Copy)]
enum Test {
    Is(u64),
    IsNot(u64),
    Has(u64),
    /// The kind of a socket, without the flags that are passed along with it.
    HasKind(u64),
}

/// `SOCK_TYPE_MASK` of the kernel.
const KIND_OF_SOCKET: u64 = 0xf;

fn is_not(value: libc::c_int) -> Test {
    Test::IsNot(u64::from(value.cast_unsigned()))
}

fn has_flag(flag: libc::c_int) -> (u8, Test) {
    (0, Test::Has(u64::from(flag.cast_unsigned())))
}

/// One rule: all tests on arguments must hold. The kernel looks at 32 bits of each of them.
fn rule(tests: &[(u8, Test)]) -> Result<SeccompRule, BackendError> {
    let conditions = tests.iter().map(|(argument, test)| {
        let (operator, value) = match *test {
            Test::Is(value) => (SeccompCmpOp::Eq, value),
            Test::IsNot(value) => (SeccompCmpOp::Ne, value),
            Test::Has(flag) => (SeccompCmpOp::MaskedEq(flag), flag),
            Test::HasKind(kind) => (SeccompCmpOp::MaskedEq(KIND_OF_SOCKET), kind),
        };
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator, value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

/// Answers `ENOSYS` to `clone3`, `openat2` and the x32 variants of every call. The first filter has
/// checked the architecture.
fn without_hidden_arguments() -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const X32_BIT: u32 = 0x4000_0000;
    let line = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let number = |call| u32::try_from(call).unwrap_or(u32::MAX);
    let (clone3, openat2) = (number(libc::SYS_clone3), number(libc::SYS_openat2));
    vec![
        line(LOAD_WORD, 0, 0, 0),
        line(JUMP_IF_AT_LEAST, 2, 0, X32_BIT),
        line(JUMP_IF_EQUAL, 1, 0, clone3),
        line(JUMP_IF_EQUAL, 0, 1, openat2),
        line(
            RETURN,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned(),
        ),
        line(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
