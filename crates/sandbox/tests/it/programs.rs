//! Ordinary programs work inside.

use std::io::Write;
use std::os::unix::fs::FileExt;

use agent_protocol::SandboxLevel;
use agent_sandbox::CommandEnd;

use crate::runner::Test;
use crate::support::{World, available, block_on, confined, eventually, run, sh, shell, start};

pub(crate) const TESTS: &[Test] = &[
    ("a_terminal_as_stdin_controls", a_terminal_as_stdin_controls),
    ("commands_run_side_by_side", commands_run_side_by_side),
    ("python_primitives_work", python_primitives_work),
    (
        "a_server_is_reachable_by_the_next_command",
        a_server_is_reachable_by_the_next_command,
    ),
];

const PRIMITIVES: &str = r"
import asyncio, multiprocessing, os, socket, subprocess, threading, time
a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'; print('socketpair')
l = asyncio.new_event_loop(); t = threading.Thread(target=l.run_forever); t.start()
e = threading.Event(); time.sleep(.1); l.call_soon_threadsafe(e.set)
assert e.wait(2); l.call_soon_threadsafe(l.stop); print('asyncio')
s = multiprocessing.Semaphore(1); s.acquire(); s.release(); print('semaphore')
def child(queue): queue.put(1)
q = multiprocessing.Queue(); p = multiprocessing.Process(target=child, args=(q,)); p.start()
assert q.get(timeout=5) == 1; p.join(); print('process')
async def run():
    p = await asyncio.create_subprocess_exec('true'); return await p.wait()
assert asyncio.run(run()) == 0; print('subprocess')
r, w = os.openpty() if hasattr(os, 'openpty') else (0, 0); print('pty')
";

fn python_primitives_work() {
    if !available("python3") {
        return;
    }
    let world = World::new();
    world.write("W/p.py", PRIMITIVES);
    let outcome = run(&world, &world.policy(), "exec python3 p.py");
    let words: Vec<_> = outcome.output.lines().collect();
    assert_eq!(
        words,
        [
            "socketpair",
            "asyncio",
            "semaphore",
            "process",
            "subprocess",
            "pty"
        ]
    );
}

fn a_terminal_as_stdin_controls() {
    let world = World::new();
    let pty = nix::pty::openpty(None, None).unwrap();
    block_on(async {
        let holder = start(&world.policy()).await;
        let output = tempfile::tempfile().unwrap();
        let script =
            "test -t 0 && echo terminal; read line < /dev/tty; echo got $line; exec sleep 60";
        let mut spec = shell(script, &world.workspace(), &output);
        spec.stdin = Some(pty.slave);
        let mut command = holder.spawn(spec).await.unwrap();
        let mut master = std::fs::File::from(pty.master);
        master.write_all(b"word\n").unwrap();
        let kept = output.try_clone().unwrap();
        eventually("the line", || {
            let mut bytes = [0; 64];
            let n_read = kept.read_at(&mut bytes, 0).unwrap();
            n_read > 0 && bytes.starts_with(b"terminal\ngot word\n")
        });
        master.write_all(b"\x03").unwrap();
        assert_eq!(
            command.wait().await.unwrap(),
            CommandEnd::Signaled(libc::SIGINT)
        );
        holder.shutdown().await;
    });
}

fn commands_run_side_by_side() {
    let world = World::new();
    block_on(async {
        let holder = start(&world.policy()).await;
        let (workspace, outputs) = (
            world.workspace(),
            [(); 20].map(|()| tempfile::tempfile().unwrap()),
        );
        let mut commands = Vec::new();
        for (number, output) in outputs.iter().enumerate() {
            let script = format!("while [ ! -e go ]; do sleep 0.01; done; exit {number}");
            commands.push(
                holder
                    .spawn(shell(&script, &workspace, output))
                    .await
                    .unwrap(),
            );
        }
        world.write("W/go", "");
        for (code, command) in (0..).zip(&mut commands) {
            assert_eq!(command.wait().await.unwrap(), CommandEnd::Exited(code));
            command.gone().await;
        }
        holder.shutdown().await;
    });
}

fn a_server_is_reachable_by_the_next_command() {
    if !available("python3") {
        return;
    }
    let world = World::new();
    if confined(&world.policy()).level == SandboxLevel::NoNamespaces {
        eprintln!("SKIPPED: without namespaces there is no network of our own");
        return;
    }
    block_on(async {
        let holder = start(&world.policy()).await;
        let output = tempfile::tempfile().unwrap();
        let script = "exec python3 -m http.server --bind 127.0.0.1 8123";
        let spec = crate::support::shell(script, &world.workspace(), &output);
        let mut server = holder.spawn(spec).await.unwrap();
        let script = "for i in $(seq 200); do (echo > /dev/tcp/127.0.0.1/8123) 2>/dev/null && \
            echo reached && exit; sleep 0.02; done";
        let script = format!("exec bash -c '{script}'");
        let outcome = sh(&holder, &script, &world.workspace()).await;
        assert_eq!(outcome.output, "reached\n");
        server.kill().await;
        let outcome = sh(
            &holder,
            "bash -c 'echo > /dev/tcp/127.0.0.1/8123' && echo reached",
            &world.workspace(),
        )
        .await;
        assert!(!outcome.output.contains("reached"));
        holder.shutdown().await;
    });
}
