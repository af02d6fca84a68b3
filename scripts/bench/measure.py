#!/usr/bin/env python3
"""Measures the built binary as whole processes, against a scripted server on loopback.

    cargo build --release
    scripts/bench/measure.py [--agent target/release/agent] [--against OTHER/agent] [--runs 7]

Each scenario runs in turn for every binary that is given, A B A B, because machines drift; printed
are the medians of wall and CPU time. (Peak memory is not: that of a child begins with its parent's,
and this interpreter is larger than the program. `/usr/bin/time -v` tells it.) Needs python3 and git,
nothing else.
"""
import argparse
import http.server
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps(dict(fields, type=kind))}\n\n".encode()


def completed():
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return event("response.completed", response={"id": "r", "usage": usage})


def message(text, n_deltas=1):
    item = {"type": "message", "role": "assistant", "id": "m",
            "content": [{"type": "output_text", "text": text}]}
    size = max(1, len(text) // n_deltas)
    deltas = (event("response.output_text.delta", delta=text[at:at + size])
              for at in range(0, len(text), size))
    return b"".join([*deltas, event("response.output_item.done", item=item), completed()])


def command(number, script):
    item = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}",
            "name": "exec_command", "arguments": json.dumps({"cmd": script})}
    return event("response.output_item.done", item=item) + completed()


class Server(http.server.ThreadingHTTPServer):
    """Answers the n-th request by the n-th step."""
    daemon_threads = True
    steps, n_answered = [], 0

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            body = self.server.steps[min(self.server.n_answered, len(self.server.steps) - 1)]
            self.server.n_answered += 1
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


EXEC = ["exec", "--json", "-s", "workspace-write", "go"]
SCENARIOS = {
    "version": (["--version"], []),
    "one turn": (EXEC, [message("hi")]),
    "100 commands": (EXEC, [command(n, "true") for n in range(100)] + [message("done")]),
    "1 MB in 20,000 deltas": (EXEC, [message("lorem ipsum dolor " * 60000, 20000)]),
    "3,000,000 lines": (EXEC, [command(0, "seq 1 3000000"), message("done")]),
    "sandbox -- true": (["sandbox", "--", "true"], []),
}


def run(binary, args, place):
    start = time.perf_counter()
    pid = os.posix_spawn(binary, [binary, *args], place["env"], file_actions=[
        (os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{binary} {' '.join(args)}: exit {os.waitstatus_to_exitcode(status)}")
    return wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


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
        place = {"env": {"PATH": os.environ["PATH"], "HOME": root, "AGENT_HOME": home, "SHELL": "/bin/sh"}}
        os.chdir(repository)
        print(f"{'scenario':<24}{'binary':<10}{'wall ms':>10}{'cpu ms':>10}")
        for name, (arguments, steps) in SCENARIOS.items():
            figures = {binary: [] for binary in binaries}
            for n in range(args.runs + 1):
                for binary in binaries:
                    server.steps, server.n_answered = steps, 0
                    figure = run(binary, arguments, place)
                    if n > 0:  # The first run warms the caches.
                        figures[binary].append(figure)
            for number, binary in enumerate(binaries):
                medians = [statistics.median(column) for column in zip(*figures[binary])]
                print(f"{name:<24}{'AB'[number]:<10}" + "".join(f"{value:>10.1f}" for value in medians))
        print("binary MB: " + ", ".join(f"{os.path.getsize(path) / 1e6:.1f}" for path in binaries))
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
