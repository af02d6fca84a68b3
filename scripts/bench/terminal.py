#!/usr/bin/env python3
"""Measures the terminal interface of the built binary, in a pseudo-terminal of 40 rows and 120 columns.

    cargo build --release
    scripts/bench/terminal.py [--agent target/release/agent] [--against OTHER/agent] [--runs 7]

    first paint     from the start until the prompt is on the screen, and resident memory then
    idle            wake-ups (voluntary context switches) and bytes written in two seconds without a key
    keystroke       from a key until it is on the screen: in a new session, and after 5,000 items
    streamed MB     CPU time of a turn whose answer is 1 MB in 20,000 deltas, and its wall time

Each runs in turn for every binary that is given, A B A B, because machines drift; printed are medians.
Needs python3 and git, nothing else.
"""
import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import termios
import time

from measure import Server, completed, message


class Terminal:
    """The interface in a pseudo-terminal."""

    def __init__(self, binary, place):
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(place["repository"])
            os.execve(binary, [binary], place["env"])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.seen = b""

    def read(self, seconds):
        """Takes what comes within a time; whether anything came."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        self.seen += os.read(self.fd, 65536)
        return True

    def wait_for(self, pattern, seconds=30):
        end = time.perf_counter() + seconds
        while not re.search(pattern, self.seen):
            if time.perf_counter() > end:
                raise SystemExit(f"{pattern!r} did not come: {self.seen[-300:]!r}")
            self.read(0.05)
        return time.perf_counter()

    def quiet(self):
        while self.read(0.3):
            pass

    def send(self, keys):
        self.seen = b""
        os.write(self.fd, keys)
        return time.perf_counter()

    def resident(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024

    def switches(self):
        total = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/status", encoding="ascii") as file:
                total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M).group(1))
        return total

    def cpu(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") * 1e3

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def first_paint(binary, place):
    terminal = Terminal(binary, place)
    painted = terminal.wait_for(b"shortcuts")
    terminal.quiet()
    figures = {"ms": (painted - terminal.started) * 1e3, "MiB": terminal.resident()}
    terminal.end()
    return figures


def idle(binary, place):
    terminal = Terminal(binary, place)
    terminal.wait_for(b"shortcuts")
    terminal.quiet()
    time.sleep(1)
    before, terminal.seen = terminal.switches(), b""
    time.sleep(2)
    figures = {"wake-ups": terminal.switches() - before}
    terminal.read(0)
    figures["bytes"] = len(terminal.seen)
    terminal.end()
    return figures


def keystroke(binary, place):
    terminal = Terminal(binary, place)
    terminal.wait_for(b"shortcuts", 60)
    terminal.quiet()
    return typed(terminal)


def typed(terminal):
    times = []
    for character in b"what is on the screen":
        time.sleep(0.03)
        pressed = terminal.send(bytes([character]))
        times.append(terminal.wait_for(re.escape(bytes([character]))) - pressed)
    figures = {"ms": statistics.median(times) * 1e3, "worst ms": max(times) * 1e3, "MiB": terminal.resident()}
    terminal.end()
    return figures


def keystroke_after_items(binary, place, server):
    """Keystrokes after a turn of 5,000 messages."""
    answers = b"".join(message(f"message number {number}").replace(completed(), b"") for number in range(5000))
    server.steps, server.n_answered = [answers + completed()], 0
    terminal = Terminal(binary, place)
    ask(terminal)
    return typed(terminal)


def ask(terminal):
    """Sends a word and waits until the turn is over; when it was sent, and when it was over."""
    terminal.wait_for(b"shortcuts")
    terminal.quiet()
    terminal.send(b"go")
    time.sleep(0.1)
    start = terminal.send(b"\r")
    end = terminal.wait_for(rb"in \xc2\xb7 [0-9,]+ out", 60)
    terminal.quiet()
    return start, end


def streamed(binary, place, server):
    server.steps, server.n_answered = [message("lorem ipsum dolor \n" * 55000, 20000)], 0
    terminal = Terminal(binary, place)
    terminal.wait_for(b"shortcuts")
    before = terminal.cpu()
    start, end = ask(terminal)
    figures = {"cpu ms": terminal.cpu() - before, "wall ms": (end - start) * 1e3}
    terminal.end()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="target/release/agent")
    parser.add_argument("--against")
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    binaries = [os.path.abspath(path) for path in (args.agent, args.against) if path]
    root = tempfile.mkdtemp(prefix="agent-bench-")
    try:
        server = Server()
        repository, home = os.path.join(root, "repository"), os.path.join(root, "home")
        os.makedirs(home)
        subprocess.run(["git", "init", "-q", repository], check=True)
        with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
            file.write(f'model = "bench"\nmodel_provider = "bench"\n[model_providers.bench]\n'
                       f'base_url = "http://127.0.0.1:{server.server_port}/v1"\n'
                       f'[projects."{repository}"]\ntrust_level = "trusted"\n')
        env = {"PATH": os.environ["PATH"], "HOME": root, "AGENT_HOME": home, "SHELL": "/bin/sh",
               "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        place = {"env": env, "repository": repository}
        scenarios = {
            "first paint": lambda binary: first_paint(binary, place),
            "idle, 2 s": lambda binary: idle(binary, place),
            "keystroke": lambda binary: keystroke(binary, place),
            "keystroke, 5,000 items": lambda binary: keystroke_after_items(binary, place, server),
            "1 MB streamed": lambda binary: streamed(binary, place, server),
        }
        for name, scenario in scenarios.items():
            figures = {binary: [] for binary in binaries}
            for _ in range(args.runs):
                for binary in binaries:
                    figures[binary].append(scenario(binary))
            for number, binary in enumerate(binaries):
                medians = {key: statistics.median(run[key] for run in figures[binary]) for key in figures[binary][0]}
                shown = "  ".join(f"{key} {value:.1f}" for key, value in medians.items())
                print(f"{name:<24}{'AB'[number]}  {shown}")
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
