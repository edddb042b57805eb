# SPDX-License-Identifier: MIT
"""What the tests of the command share: where it is, running it, generated logs.

PASSTALLY_COMMAND names the executable (the build sets it).
"""

import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

COMMAND = os.environ.get("PASSTALLY_COMMAND")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
if not COMMAND:
    print("PASSTALLY_COMMAND is not set: the command was not built")
    sys.exit(77)

# The caller of the tests may ignore these signals (nohup, a shell's "&"), and then so does every process that they
# start.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


# One for all tests of a file, so that passtally run asks the driver only once.
CACHE = tempfile.TemporaryDirectory(prefix="cli-tests-cache-")


class CliCase(unittest.TestCase):
    """A separate folder, an environment without surprises, and the command."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="passtally-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "tmp").mkdir()
        (self.folder / "runtime").mkdir(mode=0o700)
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith("PASSTALLY") and k not in ("DISPLAY", "WAYLAND_DISPLAY", "COLUMNS")}
        self.env.update(HOME=str(self.folder), TMPDIR=str(self.folder / "tmp"), LC_ALL="C.UTF-8",
                        XDG_STATE_HOME=str(self.folder / "state"), XDG_CACHE_HOME=CACHE.name,
                        XDG_RUNTIME_DIR=str(self.folder / "runtime"),
                        XDG_CONFIG_HOME=str(self.folder / "config"))
        if os.environ.get("PASSTALLY_TEST_SANITIZER"):
            # A program that is not built for the sanitizer gets its runtime with the preload.
            self.env["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0:handle_segv=0"

    def command(self, *args, **kwargs):
        kwargs.setdefault("timeout", 120)
        kwargs.setdefault("stdin", subprocess.DEVNULL if "input" not in kwargs else None)
        if "input" in kwargs:
            kwargs.pop("stdin")
        env = dict(self.env, **kwargs.pop("env", {}))
        done = subprocess.run([COMMAND, *map(str, args)], env=env, cwd=self.folder,
                              capture_output=True, **kwargs)
        self.assertNotIn(b"Sanitizer", done.stderr)
        return done

    def ok(self, *args, **kwargs):
        done = self.command(*args, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return done

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def write_log(self, name, lines):
        return self.write(name, log_bytes(lines))

    def serve(self, path, answers):
        """A game's control socket at `path`: answer each packet by the next of `answers`; None: hang up without one."""
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.bind(str(path))
        server.listen(8)
        asked = []
        left = list(answers)

        def work():
            while left:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                request = client.recv(1000)
                if request:  # otherwise the other end only checked who listens
                    asked.append(request)
                    answer = left.pop(0)
                    if answer is not None:
                        client.send(answer)
                client.close()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.addCleanup(server.close)
        return asked

    def left_behind(self):
        return sorted(p.name for p in (self.folder / "tmp").iterdir() if p.name.startswith("passtally"))


def rows_of_doctor(text):
    """The rows of the table, each as one line again."""
    return re.sub(r"\n {23}(?=\S)", " ", text).splitlines()


def log_bytes(lines):
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def header(**more):
    line = {"type": "header", "schema": "passtally/1", "version": "0.1.0", "program": "/usr/games/demo",
            "argv": ["demo"], "pid": 42, "started": "2026-01-02T03:04:05.000000000Z", "options": {}}
    line.update(more)
    return line


def device(number=0, **more):
    line = {"type": "device", "device": number, "api": "opengl", "name": f"card {number}", "driver": "d",
            "driver_version": "1",
            "sources": [{"name": "api", "state": "on"}, {"name": "gl-timestamp", "state": "on"}],
            "counters": [{"key": "samples_passed", "name": "Samples passed", "unit": "1", "kind": "event",
                          "source": "gl-statistics", "scope": "pass", "description": "Samples."}]}
    line.update(more)
    return line


def pass_info(ident, label=None, kind="render", **target):
    line = {"type": "pass_info", "id": ident}
    line["kind"] = kind
    if label is not None:
        line["label"] = label
    line["target"] = target
    return line


def one_pass(index, ident, gpu_ns=None, label=None, kind="render", **more):
    item = {"index": index, "id": ident}
    if more.get("segment"):
        item["segment"] = more.pop("segment")
    item["kind"] = kind
    if label is not None:
        item["label"] = label
    item["draws"] = more.pop("draws", 1)
    item["vertices"] = more.pop("vertices", 3)
    if gpu_ns is not None:
        item["gpu_ns"] = gpu_ns
    item.update(more)
    return item


def frame(number, passes, device_number=0, **more):
    gpu = sum(p.get("gpu_ns", 0) for p in passes)
    line = {"type": "frame", "frame": number, "device": device_number, "start_ns": 1000 * number,
            "cpu_ns": 16000000}
    line.update({"gpu_ns": gpu, "envelope_ns": gpu, "coverage": 1.0, "passes": passes,
                 "unattributed": {}, "overhead_ns": 1000, "dropped_passes": 0})
    line.update(more)
    return line


def end(frames, passes, **more):
    line = {"type": "end", "frames": frames, "frames_dropped": 0, "passes": passes, "reason": "exit"}
    line.update(more)
    return line


A, B, C = "00000000000000aa", "00000000000000bb", "00000000000000cc"


def simple_log(n=10):
    """n frames of a shadow pass (1000, 1001, ... ns) and a main pass of twice that."""
    lines = [header(), device(),
             pass_info(A, "scene/shadow", width=64, height=64, depth="DEPTH24"),
             pass_info(B, width=64, height=64, color=["RGBA8"], depth="DEPTH24")]
    for i in range(n):
        lines.append(frame(i, [one_pass(0, A, 1000 + i, "scene/shadow", counters={"samples_passed": 7}),
                               one_pass(1, B, 2000 + 2 * i, draws=2, vertices=6)]))
    return lines + [end(n, 2 * n)]


def noisy_log(speed, slow, n=200, **of_device):
    """A machine whose speed moves: n frames of five passes, all slower by `speed`, the first by `slow` too."""
    rng = random.Random(speed * 100)
    ids = [f"{i:016x}" for i in range(1, 6)]
    lines = [header(), device(**of_device), *(pass_info(ident, f"pass {i}") for i, ident in enumerate(ids))]
    for number in range(n):
        now = speed * (1 + 0.2 * math.sin(number / 9)) * 10**6
        times = [int(now * (i + 2) * (slow if i == 0 else 1) * rng.gauss(1, 0.01)) for i in range(5)]
        lines.append(frame(number, [one_pass(i, ids[i], times[i], f"pass {i}") for i in range(5)],
                           start_ns=10**8 * number, cpu_ns=sum(times) + 10**6))
    return lines + [end(n, 5 * n)]


def program(text):
    """The command line that runs `text` as a program that knows nothing of passtally."""
    return [sys.executable, "-c", text]
