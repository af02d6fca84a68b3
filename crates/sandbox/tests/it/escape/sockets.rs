//! The network, which is off, and the sockets of programs outside.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;

use super::mounts::refused;
use super::sys::call;
use super::table::{Attempt, Category, Outcome, Scene, Tried, attempt, done, nothing_came_of_it};

pub(super) const CATEGORY: Category = Category {
    title: "Sockets, with the network off",
    attempts: ATTEMPTS,
};

const ATTEMPTS: &[Attempt] = &[
    network("connect to the host's loopback", |_, scene| {
        let address = (Ipv4Addr::LOCALHOST, port(scene, "tcp"));
        done(TcpStream::connect(SocketAddr::from(address))?)
    })
    .nested(Outcome::Gap),
    network("connect to the host's loopback by IPv6", |_, scene| {
        let address = (Ipv6Addr::LOCALHOST, port(scene, "tcp6"));
        done(TcpStream::connect(SocketAddr::from(address))?)
    })
    .nested(Outcome::Gap),
    network("connect by fast open", |_, scene| {
        let socket = call(libc::SYS_socket, [2, 1, 0])?;
        let mut address = [0_u8; 16];
        address[0] = 2;
        address[2..4].copy_from_slice(&port(scene, "tcp").to_be_bytes());
        address[4..8].copy_from_slice(&[127, 0, 0, 1]);
        let (socket, address) = (usize::try_from(socket).unwrap(), address.as_ptr() as usize);
        let text = b"reached".as_ptr() as usize;
        let fast = libc::MSG_FASTOPEN as usize;
        call(libc::SYS_sendto, [socket, text, 7, fast, address, 16])?;
        Ok(())
    })
    .nested(Outcome::Gap),
    network("send a datagram to the host's loopback", |_, scene| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect((Ipv4Addr::LOCALHOST, port(scene, "udp")))?;
        answered(
            || socket.send(b"ping").map(drop),
            |buffer| socket.recv(buffer),
        )
    })
    .nested(Outcome::Gap),
    refused(
        "a packet socket",
        socket::<{ libc::AF_PACKET }, { libc::SOCK_RAW }, 0>,
    ),
    refused(
        "a raw socket",
        socket::<{ libc::AF_INET }, { libc::SOCK_RAW }, 1>,
    ),
    refused(
        "a netlink socket for auditing",
        socket::<{ libc::AF_NETLINK }, { libc::SOCK_RAW }, 9>,
    ),
    refused(
        "a netlink socket for filters",
        socket::<{ libc::AF_NETLINK }, { libc::SOCK_RAW }, 12>,
    ),
    refused(
        "a netlink socket for events of devices",
        socket::<{ libc::AF_NETLINK }, { libc::SOCK_RAW }, 15>,
    ),
    refused(
        "a netlink socket for other sockets",
        socket::<{ libc::AF_NETLINK }, { libc::SOCK_RAW }, 4>,
    ),
    refused(
        "a socket to the hypervisor",
        socket::<{ libc::AF_VSOCK }, { libc::SOCK_STREAM }, 0>,
    ),
    refused(
        "a socket for ciphers",
        socket::<{ libc::AF_ALG }, { libc::SOCK_SEQPACKET }, 0>,
    ),
    refused(
        "a bluetooth socket",
        socket::<{ libc::AF_BLUETOOTH }, { libc::SOCK_RAW }, 1>,
    ),
    refused(
        "a socket for express data",
        socket::<44, { libc::SOCK_RAW }, 0>,
    ),
    refused(
        "a key management socket",
        socket::<15, { libc::SOCK_RAW }, 2>,
    ),
    refused(
        "a CAN socket",
        socket::<{ libc::AF_CAN }, { libc::SOCK_RAW }, 1>,
    ),
    refused("a TIPC socket", socket::<30, { libc::SOCK_RDM }, 0>),
    refused("an RDS socket", socket::<21, { libc::SOCK_SEQPACKET }, 0>),
    refused(
        "a socket of the SMC protocol",
        socket::<43, { libc::SOCK_STREAM }, 0>,
    ),
    refused(
        "a kernel connection multiplexer",
        socket::<41, { libc::SOCK_DGRAM }, 0>,
    ),
    network("change the network's interfaces", |_, _| interface_down()),
    attempt("an abstract socket of a host program", |_, scene| {
        let name = format!("agent-escape-{}", scene.number("agent"));
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
        done(UnixStream::connect_addr(&address)?)
    })
    .beside(|_, _| pair(libc::SOCK_STREAM)),
    unix(
        "a socket of a host program in the workspace",
        |at, _| done(UnixStream::connect(at)?),
        "W/sockets/stream",
    ),
    unix(
        "a socket of a host program outside the roots",
        |at, _| done(UnixStream::connect(at)?),
        "O/sockets/stream",
    ),
    unix(
        "the same by a symbolic link",
        |at, scene| {
            let link = scene.own("link");
            std::os::unix::fs::symlink(at, &link)?;
            done(UnixStream::connect(link)?)
        },
        "O/sockets/stream",
    ),
    unix(
        "a datagram socket of a host program",
        |at, _| {
            let socket = UnixDatagram::unbound()?;
            socket.send_to(b"reached", at)?;
            Ok(())
        },
        "O/sockets/datagram",
    ),
    unix(
        "a datagram from one of a pair of sockets",
        |at, _| {
            let (socket, _other) = UnixDatagram::pair()?;
            socket.send_to(b"reached", at)?;
            Ok(())
        },
        "O/sockets/datagram",
    ),
    unix(
        "connect one of a pair of sockets",
        |at, _| {
            let (socket, _other) = UnixDatagram::pair()?;
            socket.connect(at)?;
            socket.send(b"reached")?;
            Ok(())
        },
        "O/sockets/datagram",
    ),
    attempt(
        "a descriptor from a program outside, by a socket that it makes meanwhile",
        |_, scene| {
            std::fs::write(scene.base.join("W/facts/wanted"), "")?;
            let path = scene.base.join("W/sockets/late");
            for _ in 0..500 {
                if path.exists() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            let stream = UnixStream::connect(path)?;
            write_to_received(&stream)
        },
    )
    .beside(|_, _| pair(libc::SOCK_STREAM))
    .everywhere(Outcome::Gap)
    .without_namespaces(Outcome::Denied),
];

/// Whatever the network, a pair of sockets is allowed.
const fn network(name: &'static str, action: fn(&Path, &Scene) -> Tried) -> Attempt {
    attempt(name, action).beside(|_, scene| {
        // Where a network of one's own is allowed, one's own loopback is.
        match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) {
            Ok(listener) => done(TcpStream::connect(listener.local_addr()?)?),
            Err(_) if scene.number("own-network") == 0 => pair(libc::SOCK_STREAM),
            Err(error) => Err(error.into()),
        }
    })
}

const fn unix(name: &'static str, action: fn(&Path, &Scene) -> Tried, at: &'static str) -> Attempt {
    let mut attempt = attempt(name, action).beside(|_, _| {
        pair(libc::SOCK_STREAM)?;
        pair(libc::SOCK_SEQPACKET)
    });
    attempt.target = at;
    attempt
}

/// Makes a socket of a family that no command gets.
fn socket<const FAMILY: i32, const KIND: i32, const PROTOCOL: i32>(_: &Path, _: &Scene) -> Tried {
    let arguments = [FAMILY, KIND, PROTOCOL].map(|number| usize::try_from(number).unwrap());
    call(libc::SYS_socket, arguments)?;
    Ok(())
}

fn pair(kind: libc::c_int) -> Tried {
    let mut pair = [0_i32; 2];
    let kind = usize::try_from(kind).unwrap();
    call(
        libc::SYS_socketpair,
        [1, kind, 0, pair.as_mut_ptr() as usize],
    )?;
    Ok(())
}

fn port(scene: &Scene, name: &str) -> u16 {
    u16::try_from(scene.number(name)).unwrap()
}

/// Whether somebody answers; who listens answers at once.
fn answered(
    send: impl Fn() -> std::io::Result<()>,
    receive: impl Fn(&mut [u8]) -> std::io::Result<usize>,
) -> Tried {
    send()?;
    // Nobody there is told by the second call, by an error.
    std::thread::sleep(std::time::Duration::from_millis(20));
    send()?;
    if receive(&mut [0; 8])? > 0 {
        Ok(())
    } else {
        Err(nothing_came_of_it())
    }
}

/// Asks for the loopback interface to be taken down (`SIOCSIFFLAGS`), which needs a right that no
/// command has.
fn interface_down() -> Tried {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    request[16] = 0x49; // IFF_UP, IFF_LOOPBACK, IFF_RUNNING: as it is.
    let fd = usize::try_from(socket.as_raw_fd()).unwrap();
    call(libc::SYS_ioctl, [fd, 0x8914, request.as_ptr() as usize])?;
    Ok(())
}

/// Takes a descriptor that comes over a socket and writes to it.
fn write_to_received(stream: &UnixStream) -> Tried {
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    let mut byte = [0];
    let mut slices = [std::io::IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!([std::os::fd::RawFd; 1]);
    let message = recvmsg::<()>(
        stream.as_raw_fd(),
        &mut slices,
        Some(&mut space),
        MsgFlags::empty(),
    )?;
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(fds) = control {
            let (fd, text) = (
                usize::try_from(*fds.first().unwrap()).unwrap(),
                b"changed".as_ptr() as usize,
            );
            call(libc::SYS_write, [fd, text, 7])?;
            return Ok(());
        }
    }
    Err(nothing_came_of_it())
}
