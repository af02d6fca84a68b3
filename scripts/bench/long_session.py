#!/usr/bin/env python3
"""Measures the memory of one session with a huge output and a long silent command.

    cargo build --release
    scripts/bench/long_session.py [--agent target/release/agent] [--seconds 600]

One turn of `agent exec` runs a command that prints 200 MB, then one that is silent for so many
seconds, goes on in the background and is waited for by `write_stdin`. Printed is the peak of the
resident memory of the agent and of each process of the sandbox (`VmHWM`, proc_pid_status(5)).
"""
import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time

from measure import Server, command, completed, event, message


def poll(number, session):
    arguments = json.dumps({"session_id": session, "yield_time_ms": 300000})
    item = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}",
            "name": "write_stdin", "arguments": arguments}
    return event("response.output_item.done", item=item) + completed()


def peak(pid):
    with open(f"/proc/{pid}/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return fields["Name"].strip(), int(fields.get("VmHWM", "0 kB").split()[0]) / 1024


def descendants(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        for child in children.read().split():
            yield int(child)
            yield from descendants(int(child))


def watch(process):
    """The highest peak of each program by its name, until the process ends."""
    peaks = {}
    while process.poll() is None:
        for pid in [process.pid, *guarded(descendants, process.pid)]:
            name, mebibytes = guarded(peak, pid) or ("", 0)
            peaks[name] = max(peaks.get(name, 0), mebibytes)
        time.sleep(0.05)
    return peaks


def guarded(look, pid):
    """A process may end while it is looked at."""
    try:
        found = look(pid)
        return list(found) if look is descendants else found
    except (FileNotFoundError, ProcessLookupError):
        return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", default="target/release/agent")
    parser.add_argument("--seconds", type=int, default=600)
    given = parser.parse_args()
    agent = os.path.abspath(given.agent)
    root = tempfile.mkdtemp(prefix="agent-long-")
    try:
        server = Server()
        n_polls = given.seconds // 300 + 1
        server.steps = [command(0, "yes 0123456789abcdef | head -c 200000000"),
                        command(1, f"sleep {given.seconds}; echo awake"),
                        *(poll(2 + number, 2) for number in range(n_polls)), message("done")]
        home, repository = os.path.join(root, "home"), os.path.join(root, "repository")
        os.makedirs(home)
        subprocess.run(["git", "init", "-q", repository], check=True)
        with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
            file.write('model = "bench"\nmodel_provider = "bench"\n[model_providers.bench]\n'
                       f'base_url = "http://127.0.0.1:{server.server_port}/v1"\n')
        place = {"PATH": os.environ["PATH"], "HOME": root, "AGENT_HOME": home, "SHELL": "/bin/sh"}
        with open(os.path.join(root, "events"), "w+", encoding="utf-8") as lines:
            words = [agent, "exec", "--json", "-s", "workspace-write", "go"]
            process = subprocess.Popen(words, cwd=repository, env=place, stdout=lines)
            begin = time.monotonic()
            peaks = watch(process)
            lines.seek(0)
            events = [json.loads(line) for line in lines]
        commands = [event["item"] for event in events
                    if event["type"] == "item.completed"
                    and event["item"]["type"] == "command_execution"]
        print(f"exit code {process.returncode} after {time.monotonic() - begin:.0f} s; "
              f"commands ended with {[item['exit_code'] for item in commands]}")
        for name, mebibytes in sorted(peaks.items(), key=lambda pair: -pair[1]):
            if name:
                print(f"{name:<20}{mebibytes:>8.1f} MiB")
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
