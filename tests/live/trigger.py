# SPDX-License-Identifier: MIT
"""`passtally trigger` and --start-on, --stop-on with signals, on running programs: glxgears, vkcube and two at
once. A window of frames begins and ends where it was requested, with a note and a time.

  trigger.py gl|vulkan
"""

import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import time

import harness as h
import vk_fake as fake
import vk_harness as vk

PATIENCE = h.TIMEOUT / 2


def wait_for(true):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = true()
        if value:
            return value
        time.sleep(0.02)
    return None


class Game:
    """A program under `passtally run`, or with the preload alone; stopped at the end."""

    def __init__(self, folder, program, options=(), env=None, name="log"):
        self.env = h.base_env(folder, env)
        self.log = folder / f"{name}.jsonl"
        argv = [h.need("passtally"), "run", "--quiet", "-o", self.log, *options, "--", *program]
        self.start(argv)

    def start(self, argv):
        self.process = subprocess.Popen([str(a) for a in argv], env=self.env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            pass

    def sockets(self):
        return sorted((pathlib.Path(self.env["XDG_RUNTIME_DIR"]) / "passtally").glob("*.sock"))

    def lines(self):
        return h.Log(self.log)

    def frames(self):
        return len(self.lines().frames)

    def trigger(self, *words):
        return h.run([h.need("passtally"), "trigger", *words], self.env)

    def pid(self):
        """The game's own socket, not that of `passtally run`."""
        return int(re.search(r"^pid (\d+)$", self.trigger("status").text, re.M)[1])

    def state(self, *words):
        done = self.trigger(*words, "status")
        found = re.search(r"^state (\w+)$", done.text, re.M)
        return found and found[1]


class Bare(Game):
    """No `passtally run`: the preload alone, with `control`."""

    def __init__(self, folder, program, options, env=None, name="log"):
        self.log = folder / f"{name}.jsonl"
        self.env = h.base_env(folder, {**h.capture_env(self.log, options), **(env or {})})
        self.start(program)
        self.env = h.base_env(folder, env)


def rendering(checks, game):
    return checks.that(wait_for(game.sockets), f"no socket: {game.process.poll()}")


def moves(checks, game, what):
    """Frames are being written."""
    before = game.frames()
    return checks.that(wait_for(lambda: game.frames() > before + 3), f"no frames {what}")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def works(checks, game, what):
    """The game has drawn some more frames, captured or not: it draws all the time, and half a second of work is
    many frames, however long that takes on this machine."""
    pid = game.pid()
    before = cpu_seconds(pid)
    return checks.that(wait_for(lambda: cpu_seconds(pid) > before + 0.5), f"the game does not work {what}")


def notes_of(log, source):
    return [n for n in log.of("note") if n.get("source") == source]


def check_windows(checks, log, expected):
    """The notes, and that each frame belongs to a window: `expected` lists how they begin. Whether a frame is
    captured is decided after its start_ns and before its end, at a moment that the log does not contain: so no
    frame lies wholly outside a window."""
    notes = notes_of(log, "trigger")
    checks.equal([n["message"] for n in notes], expected, "what the triggers said")
    times = [n["time_ns"] for n in notes]
    checks.equal(times, sorted(times), "order")
    windows = list(zip(times[::2], times[1::2] + [float("inf")] * (len(times) % 2)))
    used = set()
    for f in log.frames:
        inside = [i for i, (a, b) in enumerate(windows) if a <= f["start_ns"] + f["cpu_ns"] and f["start_ns"] <= b]
        if checks.that(inside, f"frame {f['frame']} lies in no window"):
            used.add(inside[0])
    checks.equal(len(used), len(windows), "windows with frames")
    numbers = [f["frame"] for f in log.frames]
    gaps = sum(b > a + 1 for a, b in zip(numbers, numbers[1:]))
    checks.that(gaps >= len(windows) - 1, f"frames that were not captured lie between {len(windows)} windows: {numbers}")


def check_story(checks, program, env, extra=()):
    """Wait, start, mark, stop, start by a signal, exit."""
    with h.scratch() as folder, Game(folder, program, ["--start-on", "signal:USR2", *extra], env) as game:
        if not rendering(checks, game):
            return
        mode = os.lstat(game.sockets()[0]).st_mode
        checks.equal((stat.S_ISSOCK(mode), stat.S_IMODE(mode)), (True, 0o600), "mode of the socket")
        checks.equal(stat.S_IMODE(os.stat(game.sockets()[0].parent).st_mode), 0o700, "mode of its folder")
        checks.equal(game.state(), "waiting", "state")
        works(checks, game, "before the start")
        checks.equal(game.frames(), 0, "frames before the start")
        started = game.trigger("start")
        checks.equal((started.status, started.errors), (0, ""), "start")
        moves(checks, game, "after the start")
        checks.equal(game.state(), "capturing", "state")
        checks.equal(game.trigger("mark", "boss fight").status, 0, "mark")
        checks.equal(game.trigger("mark", "boss fight").status, 0, "mark")
        moves(checks, game, "after the mark")
        checks.equal(game.trigger("stop").status, 0, "stop")
        works(checks, game, "after the stop")
        checks.equal(game.state(), "paused", "state")
        game.process.send_signal(signal.SIGUSR2)  # `run` passes it on
        moves(checks, game, "after the signal")
        game.end()
        log = game.lines()
        h.validate(checks, game.log, truncated=not log.complete)
        check_windows(checks, log, ["capture starts: passtally trigger", "capture pauses: passtally trigger",
                                    "capture starts: signal:USR2"])
        marks = notes_of(log, "mark")
        checks.equal([m["message"] for m in marks], ["boss fight"] * 2, "marks")
        inside = [any(f["start_ns"] <= m["time_ns"] <= f["start_ns"] + f["cpu_ns"] for f in log.frames) for m in marks]
        checks.equal(inside, [True, True], "marks that lie in a frame of the log")
        gone = game.trigger("status")
        checks.that(gone.status == 1 and "no game runs" in gone.errors, f"after the end: {gone.errors}")
        checks.equal(game.sockets(), [], "sockets left")


def check_toggle(checks, program, env):
    """One signal for both, and the usual limits over all windows together."""
    options = ["--start-on", "signal:RTMIN+4", "--stop-on", "signal:RTMIN+4", "--frames", "40"]
    with h.scratch() as folder, Game(folder, program, options, env) as game:
        if not rendering(checks, game):
            return
        pid = game.pid()
        for want in ("capturing", "paused", "capturing"):
            os.kill(pid, signal.SIGRTMIN + 4)
            checks.that(wait_for(lambda: game.state() in (want, "over")), f"never {want}")
        checks.that(wait_for(lambda: game.state() == "over"), "40 frames are never over")
        checks.equal(game.trigger("start").status, 1, "start after the end")
        end = wait_for(lambda: game.lines().of("end"))
        checks.equal(game.process.poll(), None, "the game goes on")
        checks.equal((end[0]["reason"], end[0]["frames"]), ("frames", 40), "the end")
        h.validate(checks, game.log)


def check_killed(checks, program, env):
    with h.scratch() as folder:
        path = folder / "game socket"
        with Bare(folder, program, {"control": path}, env, "first") as game:
            if not checks.that(wait_for(path.exists), "no socket"):
                return
            checks.that(wait_for(lambda: game.state("--control", path) == "capturing"), "no status")
            os.kill(game.process.pid, signal.SIGKILL)
            game.process.wait()
            checks.that(path.exists(), "a killed game can not clean up")
            dead = game.trigger("--control", path, "status")
            checks.that(dead.status == 1 and "Connection refused" in dead.errors, f"a dead socket: {dead.errors}")
        with Bare(folder, program, {"control": path}, env, "second") as game:
            state = wait_for(lambda: game.state("--control", path))
            checks.equal(state, "capturing", "the next game takes the place")
            game.trigger("--control", path, "mark", "second")
            checks.that(wait_for(lambda: notes_of(game.lines(), "mark")), "no mark")
        # Removed by `run`, which sweeps.
        with Game(folder, program, [], env, "third") as game:
            if rendering(checks, game):
                pid = game.pid()
                os.kill(pid, signal.SIGKILL)
                checks.that(wait_for(lambda: game.process.poll() is not None), "run goes on after its game")
                checks.equal(game.sockets(), [], "sockets left by a killed game")


def check_two(checks, program, env):
    """Two at once: one must be named; if both use one path the second has no socket, and reports it."""
    with h.scratch() as folder, Game(folder, program, [], env, "one") as one:
        with Game(folder, program, [], env, "two") as two:
            if not checks.that(wait_for(lambda: len(one.sockets()) == 2), f"sockets: {one.sockets()}"):
                return
            done = one.trigger("mark", "whose")
            checks.that(done.status == 1 and "2 games run" in done.errors, f"which one? {done.errors}")
            checks.equal(one.trigger("status").text.count("state "), 2, "states")
            pids = [int(p) for p in re.findall(r"--pid (\d+)", done.errors)]
            checks.equal(len(pids), 2, "numbers told")
            for i, pid in enumerate(pids):
                checks.equal(one.trigger("--pid", pid, "mark", f"mark {i}").status, 0, "mark by number")
            checks.that(wait_for(lambda: len(notes_of(one.lines(), "mark") + notes_of(two.lines(), "mark")) == 2), "marks")
            checks.equal((len(notes_of(one.lines(), "mark")), len(notes_of(two.lines(), "mark"))), (1, 1), "one mark in each")
            with subprocess.Popen(["sleep", "30"]) as other:  # not this process, which started both
                checks.equal(one.trigger("--pid", other.pid, "status").status, 1, "a process that is no game")
                other.kill()
    with h.scratch() as folder:
        path = folder / "shared"
        with Bare(folder, program, {"control": path}, env, "one") as one:
            wait_for(path.exists)
            with Bare(folder, program, {"control": path}, env, "two") as two:
                moves(checks, two, "of the second")
                checks.that(any("another process listens" in n for n in two.lines().notes), "no note of the second")
                state = one.trigger("--control", path, "status").text
                checks.that(str(one.log) in state, f"the first answers: {state}")


def check_others(checks, program, env):
    """Another user is refused, even with the path and even where the file mode would permit the connection."""
    if os.geteuid() != 0 or not h.shutil.which("setpriv"):
        print("not checked: another user (needs root and setpriv)")
        return
    with h.scratch() as folder:
        folder.chmod(0o755)
        path = folder / "socket"
        as_other = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        with Bare(folder, program, {"control": path}, env) as game:
            if not checks.that(wait_for(path.exists), "no socket"):
                return
            command = [*as_other, h.need("passtally"), "trigger", "--control", path, "stop"]
            probe = h.run([*as_other, h.need("passtally"), "--version"], game.env)
            if probe.status != 0:
                print("not checked: the build folder is closed to other users")
                return
            done = h.run(command, game.env)
            checks.that(done.status == 1 and "Permission denied" in done.errors, f"denied: {done.errors}")
            path.chmod(0o666)
            done = h.run(command, game.env)
            checks.that(done.status == 1 and "not yours" in done.errors, f"not his: {done.errors}")
            # Nor with a client that does not check the owner.
            code = ("import socket,sys;s=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET)\n"
                    "s.settimeout(20);s.connect(sys.argv[1])\n"
                    "s.send(b'stop')\n"
                    "print(s.recv(999).decode())")
            done = h.run([*as_other, sys.executable, "-c", code, path], game.env)
            checks.that("another user" in done.text, f"refused: {done.text} {done.errors}")
            checks.equal(game.state("--control", path), "capturing", "state")


def check_quiet(checks, program, env):
    """Very many requests do not slow frames down. Other work on the machine slows some frames down: the least
    disturbed tenth counts."""
    with h.scratch() as folder, Game(folder, program, [], env) as game:
        if not rendering(checks, game):
            return
        moves(checks, game, "at all")
        code = ("import socket,sys,time;end=time.monotonic()+2;n=0\n"
                "while time.monotonic()<end:\n"
                " s=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET);s.settimeout(20);s.connect(sys.argv[1])\n"
                " s.send(b'status');s.recv(9999);s.close();n+=1;time.sleep(0.001)\n"
                "print(n)")
        checks.that(wait_for(lambda: game.frames() > 50), "50 frames")
        calm = [f["overhead_ns"] for f in game.lines().frames]
        asked = h.run([sys.executable, "-c", code, game.sockets()[0]], game.env)
        stormy = [f["overhead_ns"] for f in game.lines().frames][len(calm):]
        checks.that(int(asked.text or 0) > 0, f"asked {asked.text} times {asked.errors}")
        if checks.that(calm and stormy, "frames in both"):
            before, during = sorted(calm)[len(calm) // 10], sorted(stormy)[len(stormy) // 10]
            print(f"asked {asked.text.strip()} times; overhead a frame {before} ns before, {during} ns meanwhile")
            checks.that(during < 3 * before + 100000, f"overhead a frame {before} ns, then {during} ns")


def check_pictures(checks, program, env):
    """--pictures without a value, and a second frame that is asked for."""
    with h.scratch() as folder, Game(folder, program, ["--pictures", "--frame", "submit:1"], env) as game:
        if not rendering(checks, game):
            return

        def pictured():
            return [f["frame"] for f in game.lines().frames
                    if any((folder / f"log-{p.get('picture')}-color0.png").exists() for p in f["passes"])]

        first = wait_for(pictured)
        checks.equal((first or [None])[0], 100, "the frame that is pictured by itself")
        asked = game.trigger("picture")
        checks.equal((asked.status, asked.errors), (0, ""), "asked")
        checks.that(first and wait_for(lambda: pictured()[-1] > first[-1]), f"a second frame: {first}")


def check_requests(checks, life, env, without, marks):
    """layer/passtally.h: the program's own requests; `without`: what it prints where passtally is not there."""
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        bare = h.run([life, "requests"], h.base_env(folder, env))
        checks.equal((bare.status, bare.text.splitlines()[-1]), (0, without), "without passtally")
        command = [h.need("passtally"), "run", "--quiet", "--start-on", "signal:USR2", "-o", log, "--", life, "requests"]
        got = h.run(command, h.base_env(folder, env))
        checks.equal((got.status, got.text.splitlines()[-1]), (0, without.replace("0", "1", 4 if "refused" in without else 3)),
                     f"with it: {got.errors[-300:]}")
        lines = h.Log(log)
        checks.equal([note["message"] for note in notes_of(lines, "mark")], marks, "marks")
        return lines


def check_renderdoc(checks):
    """The installed RenderDoc, where there is one, captures the frame that was asked for."""
    with h.scratch() as folder, Game(folder, [h.need_tool("vkcube")], env={"VK_ICD_FILENAMES": str(vk.icd())}) as game:
        if rendering(checks, game):
            asked = h.run([h.need("passtally"), "trigger", "renderdoc"], game.env)
            checks.equal((asked.status, "RenderDoc is not loaded" in asked.errors), (1, True), f"without: {asked.errors}")
    if not pathlib.Path("/usr/lib/librenderdoc.so").exists():
        print("# skipped: RenderDoc is not installed")
        return
    with h.scratch() as folder:
        env = {"VK_ICD_FILENAMES": str(vk.icd()), "ENABLE_VULKAN_RENDERDOC_CAPTURE": "1", "RENDERDOC_TEMP": str(folder)}
        with Game(folder, [h.need_tool("vkcube")], env=env) as game:
            if not rendering(checks, game):
                return
            asked = h.run([h.need("passtally"), "trigger", "renderdoc"], game.env)
            checks.equal((asked.status, "RenderDoc captures" in asked.text), (0, True), f"asked: {asked.errors}")
            checks.that(wait_for(lambda: list(folder.glob("**/*.rdc"))), f"a capture: {list(folder.iterdir())}")


def main():
    checks = h.Checks()
    vulkan = sys.argv[1] == "vulkan"
    program = [h.need_tool("vkcube" if vulkan else "glxgears")]
    env = {"VK_ICD_FILENAMES": str(vk.icd())} if vulkan else {}
    h.need("passtally")
    with h.display():
        with checks.part("windows and marks"):
            check_story(checks, program, env)
        with checks.part("one signal for both"):
            check_toggle(checks, program, env)
        with checks.part("requests of the program"):
            if vulkan:
                check_requests(checks, h.need("vk_life"), {"VK_ICD_FILENAMES": str(fake.driver())}, "0 0 0", ["boss"])
            else:
                lines = check_requests(checks, h.need("life"), {}, "0 0 0 0, refused 0 0 0", ["boss", "scene docks"])
                checks.equal([note["message"] for note in notes_of(lines, "trigger")],
                             ["capture starts: passtally_start()", "capture pauses: passtally_stop()"], "who asked")
                checks.equal(len(lines.frames), 8, "frames of the window")
        with checks.part("pictures"):
            # vkcube submits what it recorded at its start.
            check_pictures(checks, [h.need("vk_rank_scene"), "--frames", "1000000"] if vulkan else program, env)
        if vulkan:
            with checks.part("RenderDoc"):
                check_renderdoc(checks)
        else:
            for name, check in (("killed", check_killed), ("two games", check_two), ("other users", check_others),
                                ("a storm", check_quiet)):
                with checks.part(name):
                    check(checks, program, env)
    checks.finish()


if __name__ == "__main__":
    main()
