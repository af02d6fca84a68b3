//! The programs of the host that attempts are made on: servers, a victim, shared memory, a terminal.

use std::fs::{self, File};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::sys::call;
use super::table;
use super::writes::fd;

/// Holds them all; they end with it.
pub(super) struct Outsiders {
    facts: PathBuf,
    victim: Child,
    shared: usize,
    memory: PathBuf,
    terminal: nix::pty::OpenptyResult,
    _other_terminal: nix::pty::OpenptyResult,
    _open: Vec<Box<dyn Send>>,
}

impl Outsiders {
    pub(super) fn begin(base: &Path) -> Self {
        let facts = base.join("W/facts");
        let note = |name: &str, number: i64| {
            fs::write(facts.join(name), number.to_string()).unwrap();
        };
        let pid = i64::from(std::process::id());
        note("agent", pid);
        let victim = Command::new("sleep").arg("1000").spawn().unwrap();
        kill(
            Pid::from_raw(i32::try_from(victim.id()).unwrap()),
            Signal::SIGSTOP,
        )
        .unwrap();
        note("victim", i64::from(victim.id()));
        let mut open: Vec<Box<dyn Send>> = Vec::new();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        note("tcp", i64::from(tcp.local_addr().unwrap().port()));
        open.push(Box::new(tcp));
        if let Ok(tcp) = TcpListener::bind("[::1]:0") {
            note("tcp6", i64::from(tcp.local_addr().unwrap().port()));
            open.push(Box::new(tcp));
        }
        note("udp", echo());
        let name = format!("agent-escape-{pid}");
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        open.push(Box::new(UnixListener::bind_addr(&address).unwrap()));
        for place in ["W", "O"] {
            let sockets = base.join(place).join("sockets");
            open.push(Box::new(
                UnixListener::bind(sockets.join("stream")).unwrap(),
            ));
            open.push(Box::new(
                UnixDatagram::bind(sockets.join("datagram")).unwrap(),
            ));
        }
        late(base);
        let memory = Path::new("/dev/shm").join(name);
        fs::write(&memory, "before").unwrap();
        leave_descriptors_open(base);
        std::env::set_current_dir(base).unwrap();
        let other = nix::pty::openpty(None, None).unwrap();
        let number = nix::unistd::ttyname(&other.slave).unwrap();
        note(
            "terminal",
            number
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .parse()
                .unwrap(),
        );
        let shared = shared_memory();
        note("shm", i64::try_from(shared).unwrap());
        Self {
            facts,
            victim,
            shared,
            memory,
            terminal: nix::pty::openpty(None, None).unwrap(),
            _other_terminal: other,
            _open: open,
        }
    }

    /// The terminal of the command.
    pub(super) fn terminal(&self) -> OwnedFd {
        self.terminal.slave.try_clone().unwrap()
    }

    pub(super) fn note_holder(&mut self, own_network: u32) {
        let list = format!("/proc/self/task/{}/children", std::process::id());
        let children = fs::read_to_string(list).unwrap_or_default();
        let victim = self.victim.id().to_string();
        let holder = children.split_ascii_whitespace().find(|pid| *pid != victim);
        fs::write(self.facts.join("holder"), holder.unwrap_or_default()).unwrap();
        fs::write(self.facts.join("own-network"), own_network.to_string()).unwrap();
    }
}

impl Drop for Outsiders {
    fn drop(&mut self) {
        drop(self.victim.kill());
        drop(self.victim.wait());
        drop(call(libc::SYS_shmctl, [self.shared, 0, 0]));
        drop(fs::remove_file(&self.memory));
    }
}

/// A descriptor of a file outside and one of a secret, not closed when a program starts.
fn leave_descriptors_open(base: &Path) {
    let name = "write to a descriptor that the agent had open";
    let attempt = table::all().find(|attempt| attempt.name == name).unwrap();
    let path = base.join("O").join(attempt.slug()).join("file");
    let outside = File::options().write(true).open(path).unwrap();
    let secret = File::open(base.join("H/.ssh/id_ed25519")).unwrap();
    for (file, number) in [(outside, 100), (secret, 101)] {
        call(libc::SYS_dup3, [fd(&file), number, 0]).unwrap();
    }
}

/// System V shared memory whose id is not 0.
fn shared_memory() -> usize {
    const CREATE: usize = 0o1000 | 0o600;
    let first = call(libc::SYS_shmget, [0, 4096, CREATE]).unwrap();
    if first > 0 {
        return usize::try_from(first).unwrap();
    }
    let second = call(libc::SYS_shmget, [0, 4096, CREATE]).unwrap();
    drop(call(libc::SYS_shmctl, [0, 0, 0]));
    usize::try_from(second).unwrap()
}

/// Answers every datagram.
fn echo() -> i64 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut buffer = [0; 16];
        while let Ok((n_bytes, from)) = socket.recv_from(&mut buffer) {
            drop(socket.send_to(buffer.get(..n_bytes).unwrap(), from));
        }
    });
    i64::from(port)
}

/// Once an attempt asks for it, makes a socket in the workspace and passes a descriptor of a file
/// outside to whoever comes.
fn late(base: &Path) {
    let base = base.to_owned();
    std::thread::spawn(move || {
        while !base.join("W/facts/wanted").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // It gets its name once it is listened on: whoever sees it can connect.
        let early = base.join("O/late");
        let listener = UnixListener::bind(&early).unwrap();
        std::fs::rename(early, base.join("W/sockets/late")).unwrap();
        let attempt = table::all().find(|attempt| attempt.name.starts_with("a descriptor from"));
        let path = base.join("O").join(attempt.unwrap().slug()).join("file");
        let file = File::options().write(true).open(path).unwrap();
        let fds = [file.as_raw_fd()];
        let rights = [nix::sys::socket::ControlMessage::ScmRights(&fds)];
        let slices = [std::io::IoSlice::new(b"x")];
        let flags = nix::sys::socket::MsgFlags::MSG_NOSIGNAL;
        // The holder knocks as well, to see whether somebody listens, and is gone at once.
        while let Ok((stream, _)) = listener.accept() {
            let socket = stream.as_raw_fd();
            nix::sys::socket::sendmsg::<()>(socket, &slices, &rights, flags, None).ok();
        }
    });
}
