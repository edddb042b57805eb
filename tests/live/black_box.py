# SPDX-License-Identifier: MIT
"""run --black-box: the last frames survive each way to die, files stay small, and what is kept is a log of its own."""

import os
import re
import shutil
import signal
import time

import harness as h
from selftest import liar_env
from trigger import Game, rendering, wait_for


def box(folder, argv, *options, env=None):
    log = folder / "log.jsonl"
    got = h.run([h.need("passtally"), "run", "-o", log, "--no-compress", *options, "--", *argv], env or h.base_env(folder))
    return got, h.Log(log)


def left(folder):
    return sorted(path.name for path in folder.glob("log*"))


def check_frames(checks, log, what):
    """The frames of a log follow one another (a program that draws nothing is too fast for each, the last ones too), and
    its passes are known."""
    numbers = [frame["frame"] for frame in log.frames]
    checks.that(numbers and numbers == sorted(set(numbers)), f"{what}: no frames, or in no order: {numbers[:9]}")
    known = {line["id"] for line in log.of("pass_info")}
    checks.that(all(p["id"] in known for f in log.frames for p in f["passes"]), f"{what}: a pass without its line")
    h.validate(checks, log.path, truncated=not log.of("end"))
    if log.of("end"):
        checks.equal(log.of("end")[0]["frames"], len(numbers), f"{what}: frames of the end line")
    return numbers


def reaches(checks, log, numbers, frames, what):
    """To the last frame but those that were dropped: the program is too fast for a machine that is busy."""
    dropped = log.of("end")[0]["frames_dropped"] if log.of("end") else 0
    checks.that(numbers and numbers[-1] >= frames - 1 - dropped, f"{what}: last frame {numbers[-1:]}, {dropped} dropped")


def check_ends(checks, life):
    for mode, status in (("exit", None), ("_exit", None), ("abort", -6), ("kill", -9), ("segv", -11)):
        with h.scratch() as folder:
            got, log = box(folder, [life, mode, "--frames", 8000], "--black-box", "30ms")
            numbers = check_frames(checks, log, mode)
            checks.equal(left(folder), ["log.jsonl"], f"{mode}: files")
            checks.equal(bool(log.of("end")), status is None, f"{mode}: end line")
            last = [note["message"] for note in log.of("note") if note["source"] == "black-box"]
            said = re.fullmatch(r"the program crashed or was killed in frame (\d+) or later; the pass that it began or submitted last: (.*)",
                                last[0] if last else "")
            checks.equal(len(last), 0 if status is None else 1, f"{mode}: notes on the last pass")
            if said:
                checks.equal(said[2], "crash here" if mode == "segv" else "Backbuffer", f"{mode}: the last pass")
                # Of a machine that is busy the frames that were dropped are not counted: "or later".
                checks.that(numbers and numbers[-1] <= int(said[1]) <= 8000, f"{mode}: frame {said[1]} after {numbers[-1:]}")
            if status:
                checks.equal(got.status, status, f"{mode}: status")
                checks.that(f"signal {-status}" in got.errors, f"{mode}: how it ended: {got.errors}")
            if status is None and numbers:
                reaches(checks, log, numbers, 8000, mode)
                checks.that(numbers[0] > 0, f"{mode}: {len(numbers)} frames")


def check_size(checks, life):
    """A file that is full gives way before its time."""
    with h.scratch() as folder:
        got, log = box(folder, [life, "exit", "--frames", 3000], "--black-box", "3600s", "--max-log", "200K")
        numbers = check_frames(checks, log, "max-log")
        reaches(checks, log, numbers, 3000, "max-log")
        checks.that(len(log.bytes) < 204800 + 8192, f"{len(log.bytes)} bytes: {got.errors}")


def check_taken(checks, life):
    """A file of this name is somebody else's: nothing is captured, and the program runs."""
    with h.scratch() as folder:
        (folder / "log.jsonl.before").write_text("not ours", encoding="ascii")
        got, log = box(folder, [life, "exit", "--frames", 50], "--black-box", "1s")
        checks.equal((got.status, log.bytes), (2, b""), "run refuses")
        checks.that("log.jsonl.before exists" in got.errors, got.errors)
        bare = h.run([life, "exit", "--frames", 50], h.base_env(folder))
        got = h.run([life, "exit", "--frames", 50],
                    h.base_env(folder, h.capture_env(folder / "log.jsonl", {"black-box": "1s"})))
        checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "the program goes on")
        checks.equal((h.Log(folder / "log.jsonl").frames, left(folder)), ([], ["log.jsonl", "log.jsonl.before"]), "files")
        checks.equal((folder / "log.jsonl.before").read_text(encoding="ascii")[:8], "not ours", "the file that was there")


def check_full(checks, life):
    """Where a file cannot grow the capture ends with the reason, and what is there is a log."""
    with h.scratch() as folder:
        bare = h.run([life, "exit", "--frames", 3000], h.base_env(folder))
        got, log = box(folder, ["sh", "-c", f"ulimit -f 100; exec {life} exit --frames 3000"], "--black-box", "3600s")
        checks.equal((got.status, got.stdout), (bare.status, bare.stdout), "the program goes on")
        checks.that("File too large" in got.errors, f"the reason: {got.errors}")
        checks.that(check_frames(checks, log, "full"), "frames before it")
        checks.equal(left(folder), ["log.jsonl"], "files")


def check_kept(checks, program):
    with h.scratch() as folder, Game(folder, program, ["--no-compress", "--black-box", "300ms", "--black-box-over", "250ms"]) as game:
        now = folder / "log.jsonl.now"
        if not rendering(checks, game) or not checks.that(wait_for(lambda: h.has_frames(now, 20)()), "frames"):
            return
        asked = game.trigger("keep")
        checks.that("is kept" in asked.text, f"{asked.text} {asked.errors}")
        checks.that(wait_for((folder / "log.jsonl.1.now").exists), "nothing is kept")
        pid = game.pid()
        time.sleep(0.5)  # longer than the period after which another hitch counts
        for wait in (0.5, 0.2):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(wait)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.1)
        checks.that(wait_for((folder / "log.jsonl.2.now").exists), "the long frame is not kept")
        os.kill(pid, signal.SIGKILL)
        game.process.communicate()
        checks.equal([name for name in left(folder) if not re.search(r"kept-[3-9]", name)],
                     ["log.jsonl", "log.kept-1.jsonl", "log.kept-2.jsonl"], "files")
        for name, reason in (("log", None), ("log.kept-1", "asked for"), ("log.kept-2", "a long frame")):
            log = h.Log(folder / f"{name}.jsonl")
            check_frames(checks, log, name)
            checks.equal([line["reason"] for line in log.of("end")], [reason] if reason else [], f"{name}: reason")
        longest = [frame["cpu_ns"] for frame in h.Log(folder / "log.kept-2.jsonl").frames[-40:]]
        checks.that(max(longest) > 250e6, f"the long frame is at its end: {longest}")


def check_named(checks, life):
    """A group in a pass is the tables' pass, and what of it began."""
    with h.scratch() as folder:
        got, log = box(folder, [life, "segv_group", "--frames", 50], "--black-box", "30s")
        checks.equal(got.status, -11, "named: status")
        said = [note["message"] for note in log.of("note") if note["source"] == "black-box"]
        checks.that(said and said[0].endswith(" last: Frame, in its group Sky"), f"named: {said}")


def check_not_stored(checks, life):
    """A pass that began is the last one, also where there was no room for it."""
    with h.scratch() as folder:
        got, log = box(folder, [life, "segv", "--frames", 50], "--black-box", "30s", "--max-passes", 1)
        checks.equal(got.status, -11, "not stored: status")
        said = [note["message"] for note in log.of("note") if note["source"] == "black-box"]
        checks.that(said and said[0].endswith(" last: crash here"), f"not stored: {said}")


def check_all_kept(checks, life):
    """Where the last frame was kept the log of the run has none: they are in the other."""
    with h.scratch() as folder:
        got, log = box(folder, ["sh", "-c", '"$0" exit --frames 500; for i in before now; do [ ! -e "$1.$i" ] || '
                                'mv "$1.$i" "$1.1.$i"; done', life, folder / "log.jsonl"], "--black-box", "30s")
        checks.equal((left(folder), log.frames), (["log.jsonl", "log.kept-1.jsonl"], []), "all kept: files")
        checks.that(re.search(r"its frames are in \S*log\.kept-1\.jsonl", " ".join(got.errors.split())),
                    f"all kept: where the frames are: {got.errors}")
        checks.that("no frame ended" not in got.errors, f"all kept: {got.errors}")


def check_between(checks, life):
    """Killed when all was kept and nothing new was begun: the last pass is in the log all the same."""
    with h.scratch() as folder:
        _, log = box(folder, ["sh", "-c", '"$0" kill --frames 500; rm -f "$1.before" "$1.now"', life, folder / "log.jsonl"],
                     "--black-box", "30s")
        checks.equal(left(folder), ["log.jsonl"], "between: files")
        checks.that([n for n in log.of("note") if n["source"] == "black-box"], "between: no note on the last pass")


def check_lost(checks, vkcube):
    """A program that ends at once where its device is lost leaves no thread the time for a note: LOG.last has that and the pass.
    Frames are written when the gauges are open, or after 0.1 s."""
    with h.scratch() as folder:
        got, log = box(folder, [vkcube, "--c", 400, "--suppress_popups"], "--black-box", "30s",
                       env=liar_env(folder, "vulkan", "lost=300"))
        if got.status != -signal.SIGABRT:
            print(f"not tried: this vkcube survives the loss of its device ({got.status})")
            return
        kept = folder / "log.kept-1.jsonl"  # where there was the time for it
        numbers = check_frames(checks, h.Log(kept) if kept.exists() else log, "lost")
        said = [note["message"] for note in log.of("note") if note["source"] == "black-box"]
        checks.that(said and re.fullmatch(r"the program crashed or was killed after the device was lost in frame \d+ or later; "
                                          r"the (first pass without a result|pass that it began or submitted last): Backbuffer",
                                          said[0]), f"lost: {said}")
        checks.that(numbers and numbers[-1] < 300, f"lost: {numbers[-1:]}")


def main():
    checks = h.Checks()
    life = h.need("life")
    with h.display():
        for name, check, program in (("ends", check_ends, life), ("size", check_size, life), ("taken", check_taken, life),
                                     ("full", check_full, life),
                                     ("between", check_between, life), ("named", check_named, life), ("not stored", check_not_stored, life),
                                     ("all kept", check_all_kept, life),
                                     ("kept", check_kept, [h.need_tool("glxgears")]),
                                     ("lost", check_lost, shutil.which("vkcube"))):
            with checks.part(name):
                if program:
                    check(checks, program)
    checks.finish()


main()
