#!/usr/bin/env python3
"""Runs real programs inside the sandbox with default settings and says how they fared.

    cargo build --release
    scripts/programs.py [--agent target/release/agent] [--write docs/programs.md]

Each program works in a fresh repository, under `agent sandbox -s workspace-write`, and once more
without the sandbox: what fails there as well is not the sandbox's doing and is told apart. Programs
that this machine lacks are named. The exit code is 1 if the sandbox broke something. Needs python3
and git; nothing is fetched.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

CRATE = """
printf '[package]\\nname = "one"\\nedition = "2021"\\n[workspace]\\n' > Cargo.toml
mkdir -p src tests
printf 'pub fn two() -> u8 { 2 }\\n#[test]\\nfn ok() { assert_eq!(two(), 2) }\\n' > src/lib.rs
printf 'fn main() { println!("{}", one::two()) }\\n' > src/main.rs
"""
ASYNCIO = """
import asyncio, multiprocessing, socket, tempfile, threading

async def echo(reader, writer):
    writer.write(await reader.read(9)); await writer.drain(); writer.close()

async def main():
    server = await asyncio.start_server(echo, '127.0.0.1', 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b'asyncio'); writer.write_eof()
    print((await reader.read()).decode())
    child = await asyncio.create_subprocess_exec('echo', 'child')
    await child.wait()

def square(number): return number * number

if __name__ == '__main__':
    asyncio.run(main())
    with multiprocessing.Pool(2) as pool: print(pool.map(square, range(4)))
    queue = multiprocessing.Queue(); queue.put(1); print(queue.get())
    print(multiprocessing.Value('i', 5).value, threading.Semaphore().acquire())
"""
MAKEFILE = "all: a b c d\na b c d:\n\tsleep 0.05; echo $@ > $@\n"


def wheel(directory):
    """A wheel that needs nothing and no network (the format is that of PEP 427)."""
    name = os.path.join(directory, "tiny-1.0-py3-none-any.whl")
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr("tiny.py", "value = 42\n")
        info = "tiny-1.0.dist-info/"
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: x\n"
                                         "Root-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(info + "RECORD", "")


def write(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def package(directory):
    write(directory, "dep/package.json", '{"name": "dep", "version": "1.0.0", "main": "i.js"}')
    write(directory, "dep/i.js", "module.exports = 42\n")
    write(directory, "package.json", '{"name": "app", "version": "1.0.0"}')


def worktree(directory):
    for words in (["commit", "-q", "--allow-empty", "-m", "base"],
                  ["worktree", "add", "-q", "linked"]):
        subprocess.run(["git", *words], cwd=directory, check=True)


# What it is called, the program it needs, what is there before, and the script. A script fails on
# its first failed line.
PROGRAMS = [
    ("cargo build and test, offline", "cargo", None, CRATE
     + "cargo build --offline -q\ncargo test --offline -q >/dev/null\ncargo run --offline -q"),
    ("npm install of a local package", "npm", package,
     "npm install --no-audit --no-fund ./dep\nnode -e 'console.log(require(\"dep\"))'"),
    ("npm exec and a worker in node", "node", None,
     "node -e 'const {Worker, isMainThread} = require(\"worker_threads\");"
     "new Worker(\"1\", {eval: true}).on(\"exit\", () => console.log(\"worker\"))'\n"
     "node -e 'require(\"child_process\").execFileSync(\"true\")'"),
    ("pip install of a local wheel", "pip", wheel,
     "python3 -m venv env\nenv/bin/pip install -q --no-index --find-links . tiny\n"
     "env/bin/python -c 'import tiny; print(tiny.value)'"),
    ("python asyncio and multiprocessing", "python3",
     lambda directory: write(directory, "a.py", ASYNCIO), "python3 a.py"),
    ("git commit in a linked worktree", "git", worktree,
     "cd linked\necho x > x\ngit add -A\ngit commit -qm t\ngit log -1 --format=%s"),
    ("git stash, rebase and gc", "git", worktree,
     "echo x > x\ngit add -A\ngit stash -q\ngit stash pop -q\ngit commit -qm x\n"
     "git checkout -q -b side HEAD~1\necho y > y\ngit add -A\ngit commit -qm y\n"
     "git rebase -q @{-1}\ngit gc -q\ngit fsck 2>&1"),
    ("sqlite3 with a write-ahead log", "sqlite3", None,
     "sqlite3 d.db 'pragma journal_mode=wal; create table t(x); insert into t values (7);"
     "select x from t'"),
    ("make -j with gcc", "make", lambda directory: write(directory, "Makefile", MAKEFILE),
     "make -s -j4\ncat a b c d\nprintf 'int main(void){return 0;}' > m.c\ncc m.c -o m\n./m"),
    ("go vet and test", "go", None,
     "printf 'module one\\n' > go.mod\nprintf 'package one\\n' > a.go\ngo vet ./...\ngo test ./..."),
    ("uv pip install of a local wheel", "uv", wheel,
     "uv venv -q\nuv pip install -q --offline --no-index --find-links . tiny"),
    ("a jar by javac", "javac", None,
     "printf 'class A { public static void main(String[] a) { System.out.println(1); } }' > A.java\n"
     "javac A.java\njava A"),
    ("tmux, whose server ends with the command", "tmux", None,
     "tmux -L probe new-session -d -s x 'sleep 1000'\ntmux -L probe ls"),
]


def run(words, directory, environment):
    begin = time.monotonic()
    ended = subprocess.run(words, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return ended.returncode, ended.stdout.decode(errors="replace"), time.monotonic() - begin


def prepared(base, name, prepare):
    directory = os.path.join(base, name)
    os.makedirs(directory)
    subprocess.run(["git", "init", "-q", directory], check=True)
    if prepare:
        prepare(directory)
    return directory


def left_over():
    """Whether tmux's server has survived."""
    return subprocess.run(["tmux", "-L", "probe", "ls"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def try_out(program, number, base, agent):
    name, needed, prepare, script = program
    if not shutil.which(needed):
        return name, "not here", f"no `{needed}`"
    environment = {**os.environ, "AGENT_HOME": os.path.join(base, "home")}
    shell = ["bash", "-e", "-c", script]
    inside = [agent, "-s", "workspace-write", "sandbox", "--", *shell]
    code, output, seconds = run(inside, prepared(base, f"in{number}", prepare), environment)
    if needed == "tmux" and left_over():
        subprocess.run(["tmux", "-L", "probe", "kill-server"], check=False)
        return name, "BROKEN", "its server has survived"
    if code == 0:
        return name, "works", f"{seconds:.1f} s"
    outside, _, _ = run(shell, prepared(base, f"out{number}", prepare), environment)
    if needed == "tmux":
        subprocess.run(["tmux", "-L", "probe", "kill-server"], check=False)
    last = (output.strip().splitlines() or [""])[-1][:100]
    if outside != 0:
        return name, "fails without the sandbox too", last
    print(output, file=sys.stderr)
    return name, "BROKEN", f"exit code {code}: {last}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", default="target/release/agent")
    parser.add_argument("--write", help="also write the table into this file")
    given = parser.parse_args()
    agent = os.path.abspath(given.agent)
    os.environ.update(GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org",
                      GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@example.org")
    # Not under a temporary directory, which would be writable anyway.
    parent = os.path.join(os.path.dirname(os.path.dirname(agent)), "tmp")
    os.makedirs(parent, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as base:
        results = [try_out(program, number, base, agent)
                   for number, program in enumerate(PROGRAMS)]
        doctor = subprocess.run([agent, "doctor"], stdout=subprocess.PIPE, cwd=base).stdout
    level = next(line.split()[-1] for line in doctor.decode().splitlines()
                 if line.startswith("sandbox level"))
    for name, how, detail in results:
        print(f"{name:<44}{how:<12}{detail}")
    print(f"level: {level}")
    lines = ["| program | inside the sandbox |", "|---|---|"]
    lines += [f"| {name} | {how} |" for name, how, _ in results]
    text = "\n".join(lines) + "\n"
    if given.write:
        head = ("# Real programs in the sandbox\n\nWritten by `scripts/programs.py` on Linux at the "
                f"level `{level}`, with default settings and the network off.\n\n")
        with open(given.write, "w") as file:
            file.write(head + text)
    sys.exit(any(how == "BROKEN" for _, how, _ in results))


if __name__ == "__main__":
    main()
