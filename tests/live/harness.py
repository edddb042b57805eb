# SPDX-License-Identifier: MIT
"""What the live tests share: find build outputs, run programs with and without passtally, read logs.

PASSTALLY_BUILD names the build folder (it holds passtally and its libraries, at its top or in the
folders that meson makes), PASSTALLY_APPS the folder of the programs of tests/apps,
PASSTALLY_TEST_SANITIZER the runtime that a sanitized build needs preloaded. Nothing here writes
outside a temporary folder.
"""

import contextlib
import dataclasses
import functools
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PASSTALLY_BUILD") or ".")
APPS = pathlib.Path(os.environ.get("PASSTALLY_APPS") or BUILD / "tests" / "apps")
SANITIZER = os.environ.get("PASSTALLY_TEST_SANITIZER", "")
TIMEOUT = 300 * (4 if SANITIZER else 1)
# For all runs of a test: otherwise llvmpipe would compile the same shaders in each.
SHADER_CACHE = tempfile.TemporaryDirectory(prefix="passtally-live-")
EXTRA_ENV = {}  # for every run; display() adds DISPLAY, compositor() WAYLAND_DISPLAY

# The caller of the tests may ignore these signals (nohup, a shell's "&"), and then so does every process that they
# start.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def built(name):
    """The path of a build output, or None."""
    for folder in (".", "gl_shim", "cli", "scenes", "tests/apps", "tests/live", "tests/random"):
        path = BUILD / folder / name
        if path.is_file():
            return path.resolve()
    path = APPS / name
    return path.resolve() if path.exists() else None


def need(name):
    path = built(name)
    if not path:
        skip(f"{name} was not built")
    return path


def need_tool(name):
    path = shutil.which(name)
    if not path:
        skip(f"{name} is not installed")
    return path


def share(words, text):
    """Part I of N of a list."""
    part, parts = (int(n) for n in text.split("/"))
    return words[part - 1::parts]


def clip(value):
    text = repr(value)
    return text if len(text) < 400 else f"{text[:200]} ... {text[-200:]}"


class Checks:
    """Collects what went wrong; one test program may hold many checks."""

    def __init__(self):
        self.failures = []
        self.done = 0
        self.where = ""

    def that(self, fine, what):
        self.done += 1
        if not fine:
            self.failures.append(f"{self.where}: {what}" if self.where else what)
        return bool(fine)

    def equal(self, got, want, what):
        return self.that(got == want, f"{what}: got {clip(got)}, expected {clip(want)}")

    @contextlib.contextmanager
    def part(self, name):
        old, self.where = self.where, f"{self.where}, {name}" if self.where else name
        before = len(self.failures)
        try:
            yield self
        except Exception as e:  # a broken log must not hide the other parts' results
            self.failures.append(f"{self.where}: {type(e).__name__}: {e}\n{traceback.format_exc()}")
        finally:
            # In one write: parts may run side by side.
            print(f"{'ok' if len(self.failures) == before else 'FAILED'} - {self.where}\n", end="", flush=True)
            self.where = old

    def finish(self):
        for failure in self.failures:
            print(f"FAILED {failure}")
        print(f"{self.done} checks, {len(self.failures)} failed")
        if self.done == 0:
            print("no check was made")
        sys.exit(1 if self.failures or self.done == 0 else 0)


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="passtally-live-") as folder:
        yield pathlib.Path(folder)


@contextlib.contextmanager
def display():
    """A separate X server; -noreset, because otherwise it races with the next client."""
    need_tool("Xvfb")
    read, write = os.pipe()
    with open(os.devnull, "w") as null:
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-noreset", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
            pass_fds=[write], stdout=null, stderr=null)
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        if not number:
            skip("Xvfb does not start")
        EXTRA_ENV["DISPLAY"] = f":{number}"
        yield EXTRA_ENV["DISPLAY"]
    finally:
        EXTRA_ENV.pop("DISPLAY", None)
        server.terminate()
        server.wait()


@contextlib.contextmanager
def compositor():
    """A separate Wayland compositor that draws nothing; its clients find it by the socket's path."""
    weston = need_tool("weston")
    with scratch() as folder:
        env = base_env(folder)
        socket, log = folder / "run" / "wayland", folder / "weston.log"
        server = subprocess.Popen(
            [weston, "--backend=headless-backend.so", "--no-config", "--socket=wayland", "--idle-time=0",
             "--width=1280", "--height=720", f"--log={log}"],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 30
            # The output comes after the socket; a client that connects earlier sees no screen.
            while not (socket.exists() and log.exists() and b"launching" in log.read_bytes()):
                if server.poll() is not None or time.monotonic() > until:
                    skip(f"weston does not start: {log.read_text() if log.exists() else ''}"[-400:])
                time.sleep(0.02)
            EXTRA_ENV["WAYLAND_DISPLAY"] = str(socket)
            yield EXTRA_ENV["WAYLAND_DISPLAY"]
        finally:
            EXTRA_ENV.pop("WAYLAND_DISPLAY", None)
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def base_env(folder, extra=None):
    """The environment of every run: no user files, no other preload, one llvmpipe for all."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("PASSTALLY") and k not in ("LD_PRELOAD", "DISPLAY", "WAYLAND_DISPLAY")}
    for key, name in (("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"),
                      ("XDG_CACHE_HOME", "cache"), ("XDG_RUNTIME_DIR", "run"), ("TMPDIR", "tmp")):
        path = folder / name
        path.mkdir(mode=0o700, exist_ok=True)
        env[key] = str(path)
    env.update({"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "llvmpipe", "LC_ALL": "C.UTF-8",
                "GTK_A11Y": "none", "NO_AT_BRIDGE": "1", "GSETTINGS_BACKEND": "memory",
                "SDL_AUDIODRIVER": "dummy", "MESA_SHADER_CACHE_DIR": SHADER_CACHE.name})
    if SANITIZER:
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0:verify_asan_link_order=0"
    env.update(EXTRA_ENV)
    env.update(extra or {})
    return env


@dataclasses.dataclass
class Result:
    argv: list
    status: int  # negative: the signal that ended it
    stdout: bytes
    stderr: bytes

    @property
    def text(self):
        return self.stdout.decode("utf-8", "replace")

    @property
    def errors(self):
        return self.stderr.decode("utf-8", "replace")


def run(argv, env, timeout=None, stop_when=None, preexec=None, cwd=None):
    """Run to the end, or send SIGTERM to its whole group once `stop_when()` is true. Kills that group on a timeout."""
    process = subprocess.Popen([str(a) for a in argv], env=env, stdin=subprocess.DEVNULL, cwd=cwd,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True, preexec_fn=preexec)
    try:
        until = time.monotonic() + (timeout or TIMEOUT)
        while stop_when and process.poll() is None and time.monotonic() < until:
            if stop_when():
                os.killpg(process.pid, signal.SIGTERM)
                break
            time.sleep(0.02)
        out, err = process.communicate(timeout=timeout or TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        err += b"\n(the test killed it: it took too long)"
    return Result(argv, process.returncode, out, err)


def preload_env(*libraries):
    return {"LD_PRELOAD": ":".join(str(p) for p in ([SANITIZER] if SANITIZER else []) + list(libraries))}


def escape(value):
    return str(value).replace("\\", "\\\\").replace(",", "\\,")


def options_text(options):
    return ",".join(f"{k}={escape(v)}" if v is not True else k for k, v in options.items())


def capture_env(log, options=None, before=(), after=()):
    """Preload the shim, without the command."""
    env = preload_env(*before, need("libpasstally_gl.so"), *after)
    if log:
        env["PASSTALLY_LOG"] = str(log)
    if options:
        env["PASSTALLY_OPTIONS"] = options_text(options)
    return env


class Log:
    """A log's lines, by type. The strict reading is validate()'s."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.bytes = self.path.read_bytes() if self.path.exists() else b""
        self.complete = self.bytes.endswith(b"\n")
        lines = self.bytes.split(b"\n")
        self.tail = lines.pop()  # empty, or the line that a crash cut
        self.lines = [json.loads(line) for line in lines]

    def of(self, kind):
        return [line for line in self.lines if line["type"] == kind]

    @property
    def frames(self):
        return self.of("frame")

    @property
    def devices(self):
        return sorted({line["device"] for line in self.of("device")})

    def whole_frames(self, device):
        """Frames that a boundary ended."""
        return [f for f in self.frames if f["device"] == device and "partial" not in f.get("flags", [])]

    def info(self, identity):
        return next(line for line in self.of("pass_info") if line["id"] == identity)

    @property
    def notes(self):
        """All notes, except the one on the cost of reading counters, which depends on the machine."""
        messages = [line["message"] for line in self.of("note")]
        return [m for m in messages if not m.startswith("reading the counters takes ")]

    def has_counter(self, device, key):
        line = [d for d in self.of("device") if d["device"] == device][-1]
        return any(c["key"] == key for c in line.get("counters", []))


sys.path.insert(0, str(SOURCE / "tests" / "golden"))
import oracle  # noqa: E402  (found by the line above)


@functools.cache
def schema():
    """Made once a test: starting Python with jsonschema takes longer than checking most logs."""
    return oracle.make_validator() if oracle.jsonschema else None


def has_frames(path, n):
    """Whether this many frames are written, for run()'s stop_when."""
    return lambda: path.exists() and path.read_bytes().count(b'"type":"frame"') >= n


def long_enough(frames, capture, fine):
    """capture(frames), repeated with more frames where that was too short: a source is opened in parallel with the
    game, whose first frames may all end before it is open. The last result is returned even if it is too short."""
    for factor in (1, 6, 36):
        got = capture(factor * frames)
        if fine(got):
            break
    return got


def validate(checks, path, truncated=False):
    """By the schema, where python3-jsonschema is installed, and by `passtally check`."""
    if not truncated and schema():
        wrong = list(itertools.islice(oracle.errors(schema(), pathlib.Path(path).read_bytes()), 5))
        checks.equal(wrong, [], "oracle.py")
    command = built("passtally")
    if command:
        r = subprocess.run([str(command), "check", str(path)], capture_output=True, timeout=TIMEOUT)
        fine = (0, 3) if truncated else (0,)
        checks.that(r.returncode in fine, f"passtally check gives {r.returncode}: {(r.stdout + r.stderr)[-600:]!r}")


def check_order(checks, log):
    """What every log must provide: header first, everything described before it is used."""
    types = [line["type"] for line in log.lines]
    checks.equal(types[0] if types else None, "header", "first line")
    checks.equal(types.count("header"), 1, "header lines")
    devices, identities, last = set(), set(), {}
    for line in log.lines:
        if line["type"] == "device":
            devices.add(line["device"])
        elif line["type"] == "pass_info":
            # Two share groups may each introduce the same shape.
            checks.that(line["id"] not in identities or len(devices) > 1, f"pass_info {line['id']} twice")
            identities.add(line["id"])
        elif line["type"] == "frame":
            device = line["device"]
            checks.that(device in devices, f"frame of device {device} before its line")
            checks.that(line["frame"] > last.get(device, -1), f"frame {line['frame']} out of order")
            last[device] = line["frame"]
            for p in line["passes"]:
                checks.that(p["id"] in identities, f"pass {p['id']} before its pass_info")
            checks.equal([p["index"] for p in line["passes"]], list(range(len(line["passes"]))), "indices")
    end = log.of("end")
    if end:
        checks.equal(types[-1], "end", "last line")
        checks.equal(end[0]["frames"], len(log.frames), "end.frames")
        checks.equal(end[0]["passes"], sum(len(f["passes"]) for f in log.frames), "end.passes")


def union_length(intervals):
    total, reach = 0, None
    for begin, length in sorted(intervals):
        end = begin + length
        if reach is None or begin > reach:
            total += length
            reach = end
        elif end > reach:
            total += end - reach
            reach = end
    return total


def check_workload_sums(checks, p):
    """A pass's counters are the sums of its workloads', and absent where one of them is. Values that are cut out
    of counter snapshots belong to passes only."""
    loads = p["workloads"]
    own = {key for w in loads for key in w.get("counters", {})}
    keys = own | (set(p.get("counters", {})) - set(p.get("estimated", [])))
    for key in sorted(keys):
        values = [w.get("counters", {}).get(key) for w in loads]
        want = None if None in values else sum(values)
        checks.equal(p.get("counters", {}).get(key), want, f"{key} of the pass, from its workloads {values}")


def check_time(checks, frame):
    """Times add up: the frame's is the union of what was measured, and idle time is not included."""
    spans = [(p["gpu_start_ns"], p["gpu_ns"]) for p in frame["passes"] if "gpu_start_ns" in p and "gpu_ns" in p]
    what = f"frame {frame['frame']}"
    if not spans:
        return
    passes = union_length(spans)
    unattributed = frame.get("unattributed", {}).get("gpu_ns", 0)
    gpu = frame.get("gpu_ns")
    if not checks.that(gpu is not None, f"{what}: gpu_ns is missing"):
        return
    checks.that(passes <= gpu <= passes + unattributed, f"{what}: gpu_ns {gpu}, passes {passes}, unattributed {unattributed}")
    envelope = max(b + n for b, n in spans) - min(b for b, _ in spans)
    said, coverage = frame.get("envelope_ns", gpu), frame.get("coverage", 1)
    checks.that(said >= max(gpu, envelope), f"{what}: envelope_ns {said} < {max(gpu, envelope)}")
    if not unattributed:
        checks.equal(said, envelope, f"{what}: envelope_ns")
    checks.that(0 <= coverage <= 1, f"{what}: coverage {coverage}")
    if gpu:
        checks.that(abs(coverage - passes / gpu) < 1e-3, f"{what}: coverage {coverage}, not {passes / gpu}")
