# SPDX-License-Identifier: MIT
"""How programs end, fork, exec, load and fail: the game's behavior is unchanged and the log is complete.

  lifecycle.py [MODE...]
"""

import math
import os
import re
import shutil
import sys

import harness as h

FRAMES = 5
THREAD_EXITS = 40  # runs per side at most; if none dies without passtally, 10 deaths with it fail the test
EXIT_THREADS = 20
# How glibc's abort() begins, which the exit() of another thread may overtake.
HEAP = re.compile(rb"(malloc|free|realloc|calloc|munmap_chunk|malloc_consolidate|_int_\w+)\(\): |double free|corrupted ")

# mode of `life` -> whole frames of each log, in order of size; and whether its end must be written
ENDS = {
    "return": ([5], True),
    "close": ([5], True),
    "exit": ([5], True),
    "_exit": ([5], True),
    "_Exit": ([5], True),
    "quick_exit": ([5], None),
    "unread": ([0], True),
    "destroy": ([5], True),
    "thread_leaves": ([10], True),
    "fork_idle": ([10], True),
    "fork_render": ([5, 7], True),
    "fork_exec": ([2, 6], True),
    "spawn": ([6], True),
    "plugin": ([10], True),
    "pointers": ([5], True),
    "nothing": ([], True),
    # cut short: what was written must be whole lines
    "abort": (None, False),
    "kill": (None, False),
    "term": (None, False),
    "segv": (None, False),
}


def whole(log):
    return [f for f in log.frames if "partial" not in f.get("flags", [])]


def check_mode(checks, life, mode, frames, ended):
    plugin = h.built("life_plugin.so")
    count = FRAMES if frames is not None else 8000
    argv = [life, mode, "--frames", count] + (["--plugin", plugin] if plugin else [])
    with h.scratch() as folder:
        bare = h.run(argv, h.base_env(folder))
        if bare.status == 77:
            print(bare.errors.strip())
            return
        logs = folder / "logs"
        logs.mkdir()
        got = h.run(argv, h.base_env(folder, h.capture_env(logs / "%e-%p.jsonl")))
        checks.equal((got.status, got.stdout), (bare.status, bare.stdout), "status and stdout")
        if not h.SANITIZER:  # reports of a crash contain addresses
            checks.equal(got.stderr, bare.stderr, "stderr")
        paths = sorted(logs.iterdir())
        for path in paths:
            checks.equal(path.stat().st_mode & 0o777, 0o600, "mode of the log")
        found = [h.Log(path) for path in paths]
        for path, log in zip(paths, found):
            h.validate(checks, path, truncated=not log.complete)
            h.check_order(checks, log)
            if ended is not None:
                checks.equal(bool(log.of("end")), ended, "end line")
        if frames is None:
            checks.equal(len(found), 1, "logs")
            checks.that(found and len(found[0].frames) >= 1, "no frame was written before the end")
            return
        checks.equal(sorted(len(whole(log)) for log in found), frames, "frames of each log")
        for log in found:
            for f in whole(log):
                checks.equal([p["kind"] for p in f["passes"]], ["render"], f"passes of frame {f['frame']}")
        if mode == "unread":
            passes = [p for f in found[0].frames for p in f["passes"]]
            checks.equal([p.get("vertices") for p in passes], [30], "the pass that was never presented")
        if mode == "plugin":
            checks.equal(len(found[0].devices), 2, "devices of a renderer loaded twice")


def chance(ours, bare, n):
    """How likely it is that by chance at least this many of the deaths occur with passtally: n runs each (Fisher's
    exact test)."""
    both = ours + bare
    ways = [math.comb(n, k) * math.comb(n, both - k) for k in range(max(0, both - n), min(both, n) + 1)]
    return sum(ways[ours - max(0, both - n):]) / sum(ways)


def check_deaths(checks, argv, n, wants_end):
    """Runs a program n times without and with passtally in turns, half as often if by then it died no more often
    with it. It may die without passtally; passtally may not make it die more often, or in another way, and its output
    when it lives is the same."""
    died, lived, ways = {"bare": 0, "ours": 0}, {"bare": set(), "ours": set()}, {"bare": set(), "ours": set()}
    for number in range(n):
        if number == n // 2 and died["ours"] <= died["bare"]:
            n = number
            break
        with h.scratch() as folder:
            log = folder / "log.jsonl"
            for side, env in (("bare", {}), ("ours", h.capture_env(log))):
                got = h.run(argv, h.base_env(folder, env))
                if got.status == 8 and not HEAP.search(got.stderr):
                    lived[side].add((got.stdout, got.stderr))
                else:
                    died[side] += 1
                    ways[side].add(-6 if got.status == 8 else got.status)
            found = h.Log(log)
            h.validate(checks, log, truncated=not found.complete)
            h.check_order(checks, found)
            checks.that(found.frames, f"run {number}: no frame was written before the end")
            checks.that(found.of("end") or not wants_end, f"run {number}: no end line")
    print(f"# of {n} runs each died {died['bare']} without us and {died['ours']} with us: {ways}")
    if lived["bare"] and lived["ours"]:
        checks.equal(lived["ours"], lived["bare"], "what it says")
    checks.that(ways["ours"] <= ways["bare"] | {-11, -6}, f"dies by {ways['ours']}, without us by {ways['bare']}")
    likely = chance(died["ours"], died["bare"], n)
    checks.that(likely > 0.001, f"with us {died['ours']} of {n} die, without us {died['bare']}: by chance "
                                f"in {likely:.5f} of all tries")


def check_thread_exit(checks, life):
    """Where another thread draws while exit() runs, Mesa itself crashes in up to half of the runs."""
    check_deaths(checks, [life, "thread_exit", "--frames", 100], THREAD_EXITS, False)


def check_exit_threads(checks, life):
    """Where four threads call exit() at once, glibc itself crashes in up to half of the runs: by then the log has
    ended."""
    check_deaths(checks, [life, "exit_threads", "--frames", 100], EXIT_THREADS, True)


def check_exec(checks, life):
    """The second image has the pid of the first: neither log may overwrite the other."""
    with h.scratch() as folder:
        argv = [life, "exec", "--frames", FRAMES]
        bare = h.run(argv, h.base_env(folder))
        logs = folder / "state" / "passtally"
        got = h.run(argv, h.base_env(folder, h.capture_env(None)))
        checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "status and output")
        found = [h.Log(path) for path in sorted(logs.iterdir())] if logs.exists() else []
        checks.that(found, "no log in the default place")
        for log in found:
            h.validate(checks, log.path, truncated=not log.complete)
            checks.that(len(whole(log)) <= FRAMES, "frames of two images in one log")
        checks.equal(len(found), 2, "logs of two images")


def capture(folder, life, options=None, log=None, frames=FRAMES, extra=None, preexec=None):
    env = h.base_env(folder, h.capture_env(log, options))
    env.update(extra or {})
    return h.run([life, "close", "--frames", frames], env, preexec=preexec)


def check_goes_on(checks, got):
    checks.equal((got.status, got.text), (0, "rendered\n"), "the game's status and stdout")


def check_message(checks, text, words, what):
    """One clear message: a single line from passtally with these words in it."""
    # The cost of reading counters depends on the machine.
    lines = [line for line in text.splitlines() if line.strip() and "reading the counters takes" not in line]
    checks.that(len(lines) == 1, f"{what}: {len(lines)} lines instead of one: {lines}")
    for word in words:
        checks.that(word in text, f"{what} does not say {word!r}: {text!r}")


def check_bad_option(checks, life):
    for option, words in (("bogus=1", ["bogus", "granularity", "counters"]), ("granularity=house", ["house", "frame", "pass", "draw"])):
        with h.scratch() as folder:
            log = folder / "log.jsonl"
            env = {"PASSTALLY_OPTIONS": f"skip=1,{option}"}
            got = capture(folder, life, log=log, extra=env)
            check_goes_on(checks, got)
            checks.equal(got.stderr, b"", "a bare preload is silent")
            notes = h.Log(log).notes
            check_message(checks, "\n".join(notes), words, "the note")
            checks.equal(len(whole(h.Log(log))), FRAMES - 1, "frames: the good option beside it holds")
            h.validate(checks, log)
            log.unlink()
            got = capture(folder, life, log=log, extra={**env, "PASSTALLY_VERBOSE": "1"})
            check_goes_on(checks, got)
            check_message(checks, got.errors, words, "stderr with PASSTALLY_VERBOSE=1")


def check_bad_file(checks, life):
    for name in ("passtally.conf", "programs/life.conf"):
        with h.scratch() as folder:
            path = folder / "config" / "passtally" / name
            path.parent.mkdir(parents=True)
            path.write_text("# mine\n[passtally]\nskip = 1\nthis is no line of an INI file\n")
            log = folder / "log.jsonl"
            got = capture(folder, life, log=log)
            check_goes_on(checks, got)
            checks.equal(got.stderr, b"", "a bare preload is silent")
            check_message(checks, "\n".join(h.Log(log).notes), [name.split("/")[-1], "4"], f"the note about {name}")
            h.validate(checks, log)


def check_bad_place(checks, life):
    with h.scratch() as folder:
        (folder / "file").write_text("")
        (folder / "there.jsonl").write_text("precious\n")
        (folder / "link.jsonl").symlink_to(folder / "elsewhere")
        for log, words in ((folder / "file" / "log.jsonl", ["log.jsonl"]),
                           (folder / "missing" / "log.jsonl", ["missing"]),
                           (folder / "there.jsonl", [f"{folder}/there.", "was there"]),
                           (folder / "link.jsonl", ["link.jsonl"]),
                           ("/proc/no/log.jsonl", ["/proc/no"])):
            got = capture(folder, life, log=log)
            check_goes_on(checks, got)
            checks.equal(got.stderr, b"", "a bare preload is silent")
            got = capture(folder, life, log=log, extra={"PASSTALLY_VERBOSE": "1"})
            check_goes_on(checks, got)
            check_message(checks, got.errors, words, "stderr with PASSTALLY_VERBOSE=1")
            status = folder / "status"
            status.write_text("")
            got = capture(folder, life, log=log, extra={"PASSTALLY_STATUS": str(status)})
            checks.equal(got.stderr, b"", "silent with a status file")
            check_message(checks, status.read_text(), words, "the status file")
        checks.equal((folder / "there.jsonl").read_text(), "precious\n", "the file that was there")
        checks.that(not (folder / "elsewhere").exists(), "a link was followed")


def limit_files():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


def check_file_limit(checks, life):
    """A file that may not grow: like a full disk, and with a signal that would kill the game."""
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        got = capture(folder, life, log=log, frames=2000, preexec=limit_files,
                      extra={"PASSTALLY_VERBOSE": "1", "MESA_SHADER_CACHE_DISABLE": "true"})  # Mesa's own files would grow too
        check_goes_on(checks, got)
        check_message(checks, got.errors, ["log.jsonl"], "stderr with PASSTALLY_VERBOSE=1")
        check_cut(checks, log, 65536)


def check_cut(checks, log, limit):
    """Everything that fitted is whole lines, up to the one that was cut."""
    checks.that(limit // 2 < log.stat().st_size <= limit, f"log of {log.stat().st_size} bytes")
    text = h.Log(log)
    h.validate(checks, log, truncated=not text.complete)
    checks.that(len(text.frames) > 10, f"{len(text.frames)} frames")


def check_full_disk(checks, life):
    unshare = shutil.which("unshare")
    script = 'mount -t tmpfs -o size=64k tmpfs "$1" && shift && "$@"; s=$?; cp "$0"/log.jsonl "$0.copy"; exit $s'
    with h.scratch() as folder:
        disk = folder / "disk"
        disk.mkdir()
        probe = unshare and h.run([unshare, "-Urm", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], dict(os.environ))
        if not unshare or probe.status != 0:
            print("a tmpfs may not be mounted here: only the file limit was tested")
            return
        env = h.base_env(folder)
        ours = h.capture_env(disk / "log.jsonl")
        ours["PASSTALLY_VERBOSE"] = "1"
        words = [f"{k}={v}" for k, v in ours.items()]
        got = h.run([unshare, "-Urm", "sh", "-c", script, disk, disk, "env", *words, life, "close", "--frames", 2000], env)
        check_goes_on(checks, got)
        check_message(checks, got.errors, ["log.jsonl"], "stderr with PASSTALLY_VERBOSE=1")
        check_cut(checks, folder / "disk.copy", 65536)


def check_max_log(checks, life):
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        got = capture(folder, life, {"max-log": "40K"}, log, frames=2000)
        check_goes_on(checks, got)
        checks.that(log.stat().st_size <= 40 * 1024, f"log of {log.stat().st_size} bytes")
        h.validate(checks, log)
        text = h.Log(log)
        h.check_order(checks, text)
        checks.that(text.of("end") and text.of("end")[0]["reason"] == "max-log", f"end {text.of('end')}")
        checks.that(any("max-log" in note for note in text.notes), f"notes {text.notes}")


def check_disabled(checks, life):
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        got = capture(folder, life, log=log, extra={"PASSTALLY_DISABLE": "1", "PASSTALLY_VERBOSE": "1"})
        check_goes_on(checks, got)
        checks.equal(got.stderr, b"", "stderr")
        checks.that(not log.exists() and not list((folder / "state").iterdir()), "something was written")


def check_room(checks, _life):
    """Room for our descriptors, which have high numbers, is made before the program has threads: then nothing waits for it."""
    with h.scratch() as folder:
        bare, ours = (int(h.run(["grep", "FDSize", "/proc/self/status"], env).text.split()[1])
                      for env in (h.base_env(folder), h.base_env(folder, h.capture_env(folder / "log.jsonl"))))
        checks.that(ours > bare, f"room for {ours} descriptors, {bare} without passtally")


def check_early(checks, life):
    """A constructor that calls exit() before passtally's has run: handlers and buffers are not lost."""
    early = h.need("early_exit")
    with h.scratch() as folder:
        for extra in ({}, {"PASSTALLY_DISABLE": "1"}):
            bare = h.run([early], h.base_env(folder, extra))
            got = h.run([early], h.base_env(folder, {**extra, **h.preload_env(h.need("libpasstally_gl.so"))}))
            checks.equal((bare.status, bare.text), (3, "in a buffer\nfarewell\n"), "without us")
            checks.equal((got.status, got.stdout, got.stderr), (3, bare.stdout, bare.stderr), "with us")


def check_kill_early(checks, life):
    """A program that is killed 300 ms after its first frame leaves its frames, also where a source of counters opens slowly."""
    for options, slow in ((None, None), ({"sources": "+fake-snapshot"}, "400"), ({"sources": "+fake-snapshot"}, "60000")):
        with h.scratch() as folder:
            log = folder / "log.jsonl"
            extra = {"FAKE_SNAPSHOT_OPENS_MS": slow} if slow else {}
            got = h.run([life, "kill_early", "--frames", 20], h.base_env(folder, {**h.capture_env(log, options), **extra}))
            found = h.Log(log)
            checks.equal(got.status, -9, "how it ends")
            checks.that(len(found.frames) >= 10, f"{len(found.frames)} frames of 20 where a source opens after {slow} ms")
            h.validate(checks, log, truncated=not found.complete)


def check_hang(checks, life):
    """Of a program that hangs until it is killed the log says in what."""
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        got = h.run([life, "hang", "--frames", 60], h.base_env(folder, h.capture_env(log)))
        checks.equal(got.status, -9, "how it ends")
        slept = h.Log(log).of("process")[-1].get("asleep", [])
        checks.equal([(a["in"], a.get("thread")) for a in slept], [("futex", "loader")], "what its thread slept in")
        checks.that(sum(a["ns"] for a in slept) > 1.5e9, f"for how long: {slept}")
        said = h.run([h.need("passtally"), "report", log], h.base_env(folder)).text
        checks.that(re.search(r"\nno frame for the last [12]\.\d+ s or more: its thread waited \(for loader, in sleep:\s+clock_nanosleep\)\n", said), said)
        h.validate(checks, log, truncated=True)


def check_run(checks, life):
    """The command passes on the way in which the game ended, and its messages come after the game's."""
    command = h.need("passtally")
    for mode, status in (("return", 3), ("_exit", 5), ("kill", -9), ("term", -15), ("abort", -6)):
        with h.scratch() as folder:
            log = folder / "log.jsonl"
            got = h.run([command, "run", "--quiet", "-o", log, "--", life, mode, "--frames", FRAMES], h.base_env(folder))
            checks.equal(got.status, status, f"status of a game that ends by {mode}")
            checks.equal(got.text, "rendered\n", "stdout")
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        log.write_text("precious\n")
        got = h.run([command, "run", "-o", log, "--", life, "close"], h.base_env(folder))
        checks.that("--force" in got.errors, f"an existing log: {got.errors!r}")
        checks.equal(log.read_text(), "precious\n", "the file that was there")
        got = h.run([command, "run", "--granularity", "house", "--", life, "close"], h.base_env(folder))
        checks.equal((got.status, got.stdout), (2, b""), "a bad option: the game does not start")
        checks.that("house" in got.errors and "draw" in got.errors, f"a bad option: {got.errors!r}")
        got = h.run([command, "run", "--bogus", "--", life, "close"], h.base_env(folder))
        checks.equal((got.status, got.stdout), (2, b""), "an unknown option: the game does not start")
        got = h.run([command, "run", "-o", folder / "no" / "log.jsonl", "--", life, "close"], h.base_env(folder))
        checks.equal((got.status, got.stdout), (2, b""), "a missing folder: the game does not start")
        checks.that("no/log.jsonl" in got.errors, f"a missing folder: {got.errors!r}")
        got = h.run([command, "run", "--", folder / "nowhere"], h.base_env(folder))
        checks.equal(got.status, 127, "a game that is not there")
        (folder / "plain").write_text("")
        got = h.run([command, "run", "--", folder / "plain"], h.base_env(folder))
        checks.equal(got.status, 126, "a game that cannot be run")


def main():
    h.need("libpasstally_gl.so")
    life = h.need("life")
    checks = h.Checks()
    others = {"exec": check_exec, "thread_exit": check_thread_exit,
              "exit_threads": check_exit_threads, "bad_option": check_bad_option, "bad_file": check_bad_file,
              "bad_place": check_bad_place, "file_limit": check_file_limit, "full_disk": check_full_disk,
              "max_log": check_max_log, "disabled": check_disabled, "early": check_early, "room": check_room, "kill_early": check_kill_early, "hang": check_hang}
    if h.built("passtally"):
        others["run"] = check_run
    chosen = sys.argv[1:] or [*ENDS, *others]
    for name in chosen:
        with checks.part(name):
            if name in ENDS:
                check_mode(checks, life, name, *ENDS[name])
            else:
                others[name](checks, life)
    checks.finish()


main()
