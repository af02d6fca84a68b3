//! Ordinary programs work inside.

use agent_protocol::SandboxLevel;

use crate::runner::Test;
use crate::support::{World, available, block_on, confined, run, sh, start};

pub(crate) const TESTS: &[Test] = &[
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
