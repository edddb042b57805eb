#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The answer that report, run's summary, the page and top share: for logs with a known right answer."""

import json
import random
import re
import unittest

from cli_case import (A, B, C, CliCase, device, end, frame, header, log_bytes, one_pass, pass_info)

MS = 1000000
IDS = {name: f"{i + 1:016x}" for i, name in enumerate(
    ("Shadows/Cascade 0", "Shadows/Cascade 1", "GBuffer", "Bloom/Down", "Bloom/Up", "Probe update", "UI"))}


def log_of(frames, devices=(0,)):
    """frames: (frame time in ms, {pass: ms or (ms, draws)}, {members of the frame}). The GPU is busy for the sum of the
    passes."""
    lines = [header()] + [device(n) for n in devices]
    lines += [pass_info(ident, name) for name, ident in IDS.items()]
    start = {n: 10**9 for n in devices}
    n_passes = 0
    for i, (ms, passes, more) in enumerate(frames):
        on = more.pop("device_number", 0)
        made = []
        for k, (name, gpu) in enumerate(passes.items()):
            gpu, draws = gpu if isinstance(gpu, tuple) else (gpu, 1)
            made.append(one_pass(k, IDS[name], None if gpu is None else int(gpu * MS), name, draws=draws, clears=1))
        n_passes += len(made)
        if any("gpu_ns" not in p for p in made):
            more = {"gpu_ns": None, "envelope_ns": None, "coverage": None, **more}
        line = frame(more.pop("number", i), made, on, cpu_ns=int(ms * MS), start_ns=start[on], **more)
        start[on] += int(ms * MS)
        lines.append({k: v for k, v in line.items() if v is not None})
    return lines + [end(len(frames), n_passes)]


def steady(n, ms, gpu_ms, jitter=0.05, seed=1):
    """Frames of about these lengths; the GPU's time is that of one pass."""
    rand = random.Random(seed)
    return [(ms * rand.uniform(1 - jitter, 1 + jitter), {"GBuffer": gpu_ms}, {}) for _ in range(n)]


def follows_gpu(n, gpu_ms, seed=2):
    """Frames that are as long as the GPU's time."""
    rand = random.Random(seed)
    times = [gpu_ms * rand.uniform(0.8, 1.2) for _ in range(n)]
    return [(t * 1.03, {"GBuffer": t}, {}) for t in times]


def thread(frames, share, wait=0.0):
    """The same frames, in a log that gives the share of each frame in which the thread that ends frames worked,
    and the time that it spent in calls in which drivers wait."""
    return [(ms, passes, {**more, "thread_ns": int(ms * MS * share), "wait_ns": int(ms * MS * wait)}) for ms, passes, more in frames]


# What the frames are, the verdict, and words of the line with the verdict.
BOUND = (
    ("GPU", follows_gpu(200, 14), "gpu", "bound by the GPU in 100 % of frames (it works 97 % of the frame time)"),
    ("GPU, near a refresh rate", follows_gpu(200, 16.2), "gpu", "bound by the GPU in 100 %"),
    ("exactly at a refresh rate", [(16.67, {"GBuffer": 16.0}, {})] * 100, "cap", "at 60 fps in 100 % of frames (GPU works 96 %)"),
    ("GPU, steady, near no common rate", [(22.2, {"GBuffer": 21.8}, {})] * 100, "gpu", "bound by the GPU in 100 %"),
    ("twice the interval of a rate", thread(steady(200, 27.78, 5, 0.001), 0.9), "unknown", "the CPU or a limiter: cannot tell"),
    ("a CPU or a wait", steady(200, 21, 5, 0.2), "unknown", "bound by the CPU or a wait: cannot tell, threads take turns (GPU works 24 %)"),
    ("a cap at 60", steady(200, 16.667, 5, 0.01), "cap", "bound by a cap or vsync at 60 fps in 100 % of frames"),
    ("a cap at 30", steady(200, 33.333, 5, 0.02), "cap", "bound by a cap or vsync at 30 fps"),
    ("vsync at 144", steady(200, 6.944, 2, 0.02), "cap", "at 144 fps"),
    ("vsync, every other frame late", [(16.667 * (1 + i % 2), {"GBuffer": 9}, {}) for i in range(200)], "cap",
     "bound by a cap or vsync at 60 fps in 100 % of frames (50 % miss it)"),
    ("a cap, and no GPU times", [(16.667, {"GBuffer": None}, {})] * 100, "cap", "at 60 fps in 100 % of frames"),
    ("no GPU times", [(ms, {"GBuffer": None}, {}) for ms, _, _ in steady(100, 21, 5, 0.2)], "unknown",
     "cannot tell, GPU times were not measured"),
    ("few GPU times", [(ms, {"GBuffer": None if i % 3 else 5}, {}) for i, (ms, _, _) in enumerate(steady(99, 21, 5, 0.2))], "unknown",
     "cannot tell, GPU times are missing in 66 of 99 frames"),
    ("no pass", [(ms, {}, {"gpu_ns": None, "envelope_ns": None, "coverage": None}) for ms, _, _ in steady(100, 21, 5, 0.2)], "unknown", "cannot tell, no pass was seen"),
    ("constant frames of no known rate", thread(steady(200, 22.1, 5, 0.005), 0.95), "unknown",
     "bound by the CPU or a limiter: cannot tell (100 % take 22.1 ms +-2 %, GPU 23 %)"),
    ("a limiter that spins on a busy machine", thread(steady(200, 33.4, 8, 0.1), 0.9), "unknown",
     "bound by the CPU or a limiter near 30 fps: cannot tell (GPU works 24 %)"),
    ("a limiter whose frames scatter, but keep the rate",
     thread([(16.667 * (1 + (0, 0.3, -0.3, 0.2, -0.2)[i % 5]), {"GBuffer": 2}, {}) for i in range(200)], 0.9), "unknown", "a limiter near 60 fps: cannot tell"),
    ("a limit (docs/limits.md): a limiter that spins and jitters, 2 % off 60", thread(steady(200, 17.0, 4, 0.1), 0.9), "cpu", "bound by the CPU in"),
    ("a GPU that works most of the time", steady(200, 21, 15, 0.08), "unknown",
     "cannot tell, the GPU works 72 % of the frame time"),
    ("first the GPU, then the CPU", follows_gpu(100, 14) + thread(steady(90, 21, 5, 0.2), 0.9), "gpu", "bound by the GPU in 100 % of frames (it works 97 % of the frame time); in the 100 frames from frame 0 on"),
    ("a third each, in turn", (follows_gpu(10, 14) + thread(steady(10, 21, 5, 0.2), 0.9) + steady(10, 21, 15, 0.2)) * 7, "unknown",
     "bound by no one thing"),
    ("a CPU that is seen to work", thread(steady(200, 21, 5, 0.2), 0.95), "cpu", "% of frames (it works 95 %, the GPU 24 % of the time)"),
    ("vsync on a busy machine", thread(steady(200, 27, 1, 0.2), 0.1), "wait",
     "bound by a wait (vsync, limiter, lock, busy machine) in 100 %: CPU 10 %, GPU 4 %"),
    ("a cap at 60 that is waited for", thread(steady(200, 16.667, 5, 0.01), 0.3), "cap", "at 60 fps in 100 % of frames"),
    ("a wait of constant length", thread(steady(200, 22.1, 5, 0.005), 0.2), "wait", "busy machine) in 100 %"),
    ("a cap that jitters, 2 % off 60, waited for", thread(steady(200, 17.0, 4, 0.1), 0.2), "wait", "busy machine) in 100 %"),
    ("a CPU or a limiter that spins", thread(steady(200, 22.1, 5, 0.005), 0.98), "unknown", "the CPU or a limiter: cannot tell"),
    ("half the time at work", thread(steady(200, 21, 5, 0.2), 0.6), "cpu", "(it works 60 %, the GPU 24 % of the time)"),
    ("CPU and GPU in turn", thread(steady(200, 54, 28, 0.2), 0.39, 0.09), "unknown", "cannot tell, the GPU works 52 %, the CPU 39 % of the frame time"),
    ("CPU and GPU in turn, rarely overlapping", thread(steady(200, 30, 19, 0.02), 0.34, 0.12), "unknown", "cannot tell, the GPU works 63 %"),
    ("a CPU on a busy machine", thread(steady(200, 65, 3, 0.2), 0.47, 0.07), "unknown", "cannot tell, the GPU works 5 %, the CPU 47 % of the frame time"),
    ("a worker thread that is waited for", thread(steady(200, 55, 23, 0.2), 0.01, 0.08), "wait", "busy machine) in 100 %: CPU 1 %, GPU 42 %"),
    ("a cap at 60 on a busy machine, waited for", thread([(16.667 * (1 + (0, 0.3, -0.3, 0.2, -0.2)[i % 5]), {"GBuffer": 4.5}, {}) for i in range(200)], 0.05, 0.04),
     "wait", "bound by a wait (a cap or vsync near 60 fps?) in 100 %: CPU 5 %, GPU 27 %"),
    ("half the time at work, and then in waiting calls", thread(steady(200, 21, 5, 0.2), 0.6, 0.35), "unknown",
     "cannot tell, the GPU works 24 %, the CPU 60 % of the frame time"),
    ("vsync at 40 fps on a busy machine", thread(steady(200, 25, 5, 0.2), 0.1), "wait", "bound by a wait (a cap or vsync near 40 fps?) in 100 %"),
    ("vsync in the present", thread(steady(200, 27, 5, 0.2), 0.1, 0.85), "wait",
     "bound by a wait in driver calls (vsync, display) in 100 %: CPU 10 %, GPU 19 %"),
    ("a present that spins until vsync", thread(steady(200, 25, 5, 0.2), 0.98, 0.8), "wait",
     "bound by driver calls (present) in 100 %: CPU in them 78 %, else 20 %, GPU 20 %"),
    ("a lock, and little time in the present", thread(steady(200, 27, 5, 0.2), 0.1, 0.1), "wait", "(vsync, limiter, lock, busy machine)"),
    ("first the GPU, which is waited for, then a lock", thread(follows_gpu(95, 30), 0.1, 0.88) + thread(steady(105, 21, 4, 0.2), 0.1, 0.1), "wait", "(vsync, limiter, lock, busy machine)"),
    ("first the GPU, by chance at 240 fps, then a limit at 30", follows_gpu(20, 4) + thread([(4.17, {"GBuffer": 4.1}, {})] * 170 + [(33.34, {"GBuffer": 5}, {})] * 280, 0.05), "cap", "a cap or vsync at 30 fps in 100 %"),
    # A stranger's: 71 % of a busy machine's frames were near an interval.
    ("a GPU that always works, for an interval", [(t, {"GBuffer": 0.98 * t}, {}) for t in (13.89, 14.0, 13.8) * 66], "gpu", "bound by the GPU in 100 %"),
    ("a CPU that works as long as an interval lasts", thread(steady(200, 16.667, 5, 0.01), 0.98), "unknown", "the CPU or a limiter: cannot tell"),
    # A stranger's: constant work near 165 and 75 frames a second, of which nothing waits.
    ("the GPU and the CPU in turn, by chance for an interval", thread(steady(200, 16.667, 15.1, 0.01), 0.08), "gpu", "bound by the GPU in 100 %"),
    ("a CPU that works while the GPU works less", thread(steady(200, 21, 15, 0.08), 0.95), "cpu", "(it works 95 %, the GPU 7"),
    ("the GPU, which is waited for", thread(follows_gpu(200, 14), 0.1), "gpu", "bound by the GPU in 100 %"),
    ("the GPU, for which the present spins", thread(follows_gpu(200, 14), 0.99, 0.9), "gpu", "bound by the GPU in 100 %"),
    ("the GPU, for which another call spins", thread([(t, {"GBuffer": 0.99 * t}, m) for t, _, m in follows_gpu(200, 14)], 0.99), "gpu", "bound by the GPU"),
    ("both", thread([(t, {"GBuffer": 0.92 * t}, m) for t, _, m in follows_gpu(200, 14)], 0.95), "unknown",
     "cannot tell, the GPU works 92 %, the CPU 95 % of the frame time"),
    ("few frames", [(14, {"GBuffer": 13.9}, {})] * 9, "unknown", "cannot tell from 9 frames"),
    ("one frame", [(14, {"GBuffer": 13.9}, {})], "unknown", "cannot tell from 1 frame"),
)


class Answer(CliCase):
    def answers(self, lines, *args):
        log = self.write_log("a.jsonl", lines)
        report = json.loads(self.ok("report", "--json", *args, log).stdout)["reports"][0]
        for answer in report["answers"]:
            self.assertLessEqual(len(answer["lines"]), 14, answer["lines"])
            self.assertLessEqual(max(map(len, answer["lines"])), 80, answer["lines"])
            whole = " ".join(" ".join(answer["lines"]).split())
            for hitch in answer["hitches"]["worst"]:  # all that is said of it, or nothing
                if f"frame {hitch['frame']}: " in whole:
                    self.assertIn(hitch["text"], whole)
        text = self.ok("report", *args, log).stdout.decode()
        if report["answers"]:
            self.assertIn("\n".join(report["answers"][0]["lines"][:3]), text)
        return report["answers"]

    def answer(self, frames, *args):
        return self.answers(log_of(frames), *args)[0]

    # Bound by what

    def test_bound(self):
        for what, frames, by, words in BOUND:
            with self.subTest(what):
                answer = self.answer([(ms, passes, dict(more)) for ms, passes, more in frames])
                got = answer["bound"]
                self.assertEqual(got["by"], by, got)
                self.assertIn(words, got["text"])
                self.assertEqual(what.startswith("CPU and GPU in turn"), "seem to work in turn" in " ".join(answer["lines"]), got)
                self.assertAlmostEqual(sum(got["shares"].values()), 1)

    def test_present_mode(self):
        """A limit that is in the log is read: no frame time is taken for a cap where presents do not wait."""
        at_60 = [(ms, passes, {"thread_ns": int(0.3 * ms * MS), "wait_ns": int(0.5 * ms * MS)}) for ms, passes, _ in steady(200, 16.667, 3, 0.01)]
        busy = [(ms, passes, {**more, "thread_ns": int(0.96 * ms * MS), "wait_ns": 0}) for ms, passes, more in at_60]
        cases = ((at_60, None, "cap", "a cap or vsync at 60 fps"), (at_60, "fifo", "cap", "bound by vsync (fifo) at 60 fps in 100 %"),
                 (at_60, "immediate", "wait", "bound by a wait in driver calls (limiter, lock, busy machine, not vsync)"),
                 (busy, None, "cap", "a cap or vsync at 60 fps"), (busy, "mailbox", "cpu", "bound by the CPU in 100 %"),
                 (at_60, "interval 1", "cap", "bound by vsync (interval 1) at 60 fps"),
                 (at_60, "interval 0", "wait", "bound by a wait in driver calls (limiter, lock, busy machine, not vsync)"),
                 (steady(200, 21, 5, 0.2), "immediate", "unknown", "the CPU or a wait"))
        for frames, mode, by, words in cases:
            lines = log_of([(ms, passes, dict(more)) for ms, passes, more in frames])
            lines[1].update({"present_mode": mode, "images": 3} if mode else {})
            got = self.answers(lines)[0]["bound"]
            self.assertEqual((got["by"], words in got["text"]), (by, True), (mode, got["text"]))

    def windows(self, which, ms=4, hitch=(), slept=0, least=100, **thread):
        """Frames of `ms` that present the window which(i), of one `thread`; `hitch` takes 40 ms on the GPU, in a pass of its window, or slept.
        The first is `least` pixels high and wide."""
        lines, start = [header(), device(api="vulkan"), pass_info(A, None), pass_info(B, None)], 10**9
        for i in range(400):
            window, long = which(i), i in hitch
            cpu_ns = (ms + 40 * long) * MS
            lines.append(frame(i, [one_pass(0, B if window % 2 else A, (1 + window % 2 + 40 * long * (not slept)) * MS, surface=700 + window)],
                               start_ns=start, cpu_ns=cpu_ns, width=100 * (1 + window) if window else least, height=100 if window else least,
                               **thread))
            start += cpu_ns
        return self.answers(lines + [end(400, 400)])

    def test_windows_of_two_threads(self):
        """A window of 60 and one of 10 frames a second: a frame of the log is what lies between any two presents."""
        ids = {700: ("0000000000000a00", "0000000000000a01"), 701: ("0000000000000b00", "0000000000000b01")}
        # What tells passes apart, whether it does for those that draw to no window, and whether these began before the other window's present.
        for of, told, cut in (lambda w, k: {"context": w - 700}, True, True), \
                             (lambda w, k: {"queue": f"0.{w - 700}", "submission": k}, True, True), \
                             (lambda w, k: {"queue": "0.0", "submission": 2 * k + w - 700}, True, False), \
                             (lambda w, k: {"queue": "0.0", "submission": 4 * k + 2 * (w - 700)}, False, True):
            passes, swaps = [], []
            for window, ms in (700, 16), (701, 100):
                for k in range(1, 4800 // ms):
                    at, last = (k * ms + 3 * (window - 700)) * MS, of(window, k)
                    first = {**last, "submission": last["submission"] + 1} if not told else last
                    passes.append((at - (12 * cut + 2) * MS, one_pass(0, ids[window][0], 2 * MS, **first)))
                    passes.append((at - MS, one_pass(0, ids[window][1], MS, surface=window, **last)))
                    swaps.append((at, window))
            passes.sort(key=lambda p: p[0])
            lines, before, last = [header(), device(api="vulkan")] + [pass_info(i, None) for both in ids.values() for i in both], 0, None
            for n, (at, window) in enumerate(sorted(swaps)):
                thread = {"thread_ns": MS, "wait_ns": 0} if window == last else {}
                lines.append(frame(n, [p for t, p in passes if before <= t < at], start_ns=10**9 + before, cpu_ns=at - before,
                                   width=100, height=100, surface=window, **thread))
                before, last = at, window
            got = self.answers(lines + [end(len(swaps), len(passes))])
            self.assertEqual([(a["frames"], a["frame_time"]["p50_ns"]) for a in got], [(293, 16e6), (46, 100e6)])
            self.assertEqual([([p["p50_ns"] for p in a["typical"]["passes"]], "cannot be told: whose" in a["typical"]["text"]) for a in got],
                             [([2 * MS, MS] if told else [MS], not told)] * 2)

    def test_windows(self):
        """Each window has its frames, from one present of it to the next, and its passes; the one with most GPU work is first."""
        for main, other in self.windows(lambda i: i % 2), self.windows(lambda i: i % 2, hitch=(200,)):
            self.assertEqual([(a["frames"], a["window"], a["width"]) for a in (main, other)], [(199, 1, 200), (199, 2, 100)])
            self.assertEqual([a["frame_time"]["p50_ns"] for a in (main, other)], [8e6, 8e6])
            self.assertEqual([a["typical"]["gpu_ns"] for a in (main, other)], [2e6, 1e6])
            self.assertEqual(main["bound"]["gpu_busy"], other["bound"]["gpu_busy"])
            # Each second frame of the log is each frame of the window.
            self.assertEqual([a.get("alternates") for a in (main, other)], [None, None])
        self.assertEqual([h["text"] for h in other["hitches"]["worst"] + main["hitches"]["worst"]],
                         ["frame 200: +40.0 ms, Backbuffer 1.00 -> 41.0 ms, same draws", "frame 201: +40.0 ms, (other windows) 1.00 -> 41.0 ms"])
        self.assertIn("window 1 of 2, 200x100", main["lines"][0])
        # A panel that is drawn after every fourth frame; a swapchain made again; a window that is there for a moment.
        main, panel = self.windows(lambda i: int(i % 5 == 4))
        self.assertEqual((main["frames"], panel["frames"], panel["frame_time"]["p50_ns"]), (316, 79, 20e6))
        # Of one thread: what another window's frame took is no hitch of this one, what it took itself is one, though that came before it.
        thread = {"thread_ns": MS, "wait_ns": 0, "ms": 8, "slept": 1}
        for hitch in (), (198,), (201,), (203,):
            got = [[h["frame"] for h in a["hitches"]["worst"]] for a in sorted(self.windows(lambda i: int(i % 6 == 5), hitch=hitch, **thread), key=lambda a: a["width"])]
            self.assertEqual(got, [[i for i in hitch if i % 6 < 5], [i for i in hitch if i % 6 == 5]])
        # One of a pixel, which a toolkit swaps for its context, is none: what its frames took is of the next that is seen.
        got, = self.windows(lambda i: i % 2, least=1)
        self.assertEqual((got["frames"], got.get("window"), got["frame_time"]["p50_ns"], got["fps"]), (199, None, 8e6, 125))
        self.assertIn("device 0: card 0, 200x100, 199 frames in 1.59 s", got["lines"][0])
        self.assertNotIn("surface of device", self.ok("report", "a.jsonl").stdout.decode())
        for once in lambda i: i // 100, lambda i: int(i in (100, 102)):
            answers = self.windows(once)
            self.assertEqual([(a["frames"], a["frame_time"]["p50_ns"], a.get("window")) for a in answers], [(400, 4e6, None)])

    def test_on_demand(self):
        """A program that waits for events a third of the time has no frames a second, and such a wait is no hitch."""
        def run(call="poll", every=20, ms=400, gpu=1, slept=0.9, seen=True, **of):
            return [(ms, {"UI": gpu}, {"thread_ns": 5 * MS, "wait_ns": MS, **({"asleep": [{"in": call, **of, "n": 40, "ns": int(slept * ms * MS)}]} if seen else {})})
                    if i % every == every - 1 else (16, {"UI": 1}, {"thread_ns": 2 * MS, "wait_ns": MS}) for i in range(200)]
        said = "drawn on demand, waits for events 4.00 s of 7.04 s; frame time median 16.0 ms"
        for name, frames, demand, hitches in (("it does", run(), True, 0), ("seldom", run(every=60), False, 3),
                                              ("it slept", run("clock_nanosleep"), False, 10), ("in a poll of nothing", run(of="sleep"), False, 10), ("it is not known in what", run(seen=False), False, 10),
                                              ("a part was elsewhere", run(slept=0.4), False, 10), ("the GPU worked then", run(gpu=300), False, 10),
                                              ("as long as frames of a slow game", run(every=2, ms=90), False, 0)):
            with self.subTest(name):
                got = self.answers(log_of(frames))[0]
                self.assertEqual((got.get("idle_ns", 0) > 0, got["hitches"]["n"], got["lines"][1] == said), (demand, hitches, demand), got["lines"])
                self.assertEqual("bound by events: it draws on demand" in got["lines"], demand)
        # One that is killed while it waits, or while a lock holds it.
        for call, told in (("poll", False), ("futex", True)):
            lines = log_of(run())[:-1]
            quiet = {"type": "process", "time_ns": int(10.04e9) + 10**9, "period_ns": 3 * 10**9, "ready_ns": 0, "threads": [], "asleep": [{"in": call, "n": 9, "ns": int(2.9e9)}]}
            self.assertEqual("\nno frame for the last 3.00 s" in self.ok("report", self.write_log("a.jsonl", [*lines, quiet])).stdout.decode(), told, call)

    def test_one_pass(self):
        """Of a program of one pass it says what that consists of, and how to see more."""
        each = {"workloads": [{"command": "draw"}]}
        for draws, more, line in (5001, {}, "  5001 draws, 90000 vertices a frame; --granularity draw times each"), (5001, each, None), (1, {}, None):
            lines = log_of([(14, {"GBuffer": (8, draws)}, {}) for _ in range(20)])
            for f in lines:
                for p in f["passes"] if f["type"] == "frame" else ():
                    p.update(vertices=90000, **more)
            got = self.answers(lines)[0]["lines"]
            self.assertEqual([x for x in got if "vertices" in x], [line] if line else [], draws)
            self.assertIn("typical frame, 8.00 ms on the GPU: GBuffer", got)
        # Drivers that draw tile by tile have no time of a single draw.
        for line in lines:
            if line["type"] == "device":
                line.update(name="llvmpipe (LLVM 15.0.6, 256 bits)", driver="Mesa/X.org")
            for p in line["passes"] if line["type"] == "frame" else ():
                p.update(draws=7)
        self.assertIn("  7 draws, 90000 vertices a frame; --granularity draw counts each", self.answers(lines)[0]["lines"])

    def test_without_times(self):
        """Why no pass has a time stands where it says that none has."""
        lines = log_of([(14, {"GBuffer": (0, 9)}, {}) for _ in range(20)])
        for line in lines:
            if line["type"] == "device":
                line["sources"][1] = {"name": "gl-timestamp", "state": "off", "reason": "left out by --sources"}
            for p in line["passes"] if line["type"] == "frame" else ():
                del p["gpu_ns"]
            if line["type"] == "frame":
                for key in ("gpu_ns", "envelope_ns", "coverage"):
                    line.pop(key, None)
        said = self.answers(lines)[0]["lines"]
        at = said.index("bound by: cannot tell, GPU times were not measured")
        self.assertEqual(said[at + 1], "  gl-timestamp: left out by --sources")

    def test_copies_are_no_draws(self):
        """Of all passes the draws are said, not what others copy."""
        lines = log_of([(14 + 20 * (i == 40), {"GBuffer": (6 + 10 * (i == 40), 10), "UI": (6 + 10 * (i == 40), 5), "Shadows/Cascade 0": 1}, {}) for i in range(60)])
        for line in lines:
            if line["type"] == "frame":
                copy = line["passes"][2]
                copy.update(draws=0, clears=0, copies=70 if line["frame"] == 40 else 1)
        got = self.answers(lines)[0]["hitches"]["worst"][0]["text"]
        self.assertEqual(got, "frame 40: +20.0 ms, GBuffer and others 13.0 -> 33.0 ms, same draws")
        # Planted: 60 copies of one frame, each waited for, in passes of their own; and time in no pass beside them.
        for n, outside, words in ((60, 0, "60 copies 30.0 ms, their first use"), (60, 28, "60 copies and others 12.0 -> 70.0 ms, same draws (first of 60 copies)"), (1, 0, "C0 30.0 ms, its first use")):
            lines = log_of([(14 + (30 + outside) * (i == 40), {"GBuffer": (6, 10), "UI": 6}, {}) for i in range(60)])
            lines[1]["api"], hit = "vulkan", next(line for line in lines if line.get("frame") == 40)
            hit["passes"] += [one_pass(2 + k, f"{k + 999:016x}", 30 * MS // n, f"C{k}", draws=0, copies=1) for k in range(n)]
            hit.update({"gpu_ns": (42 + outside) * MS, "envelope_ns": (42 + outside) * MS}, **({"unattributed": {"gpu_ns": outside * MS}} if outside else {}))
            lines[2:2] = [pass_info(f"{k + 999:016x}", f"C{k}") for k in range(n)]
            self.assertEqual(self.answers(lines)[0]["hitches"]["worst"][0]["text"], f"frame 40: +{30 + outside}.0 ms, {words}")

    def test_time_that_may_be_the_cpus(self):
        """In OpenGL a pass ends where the CPU begins the next one: time in which the CPU works between them is not
        GPU time."""
        def run(cpu_begins_at, api="opengl", ms=30, driver=None, asleep=(), draws=10, ui=1, no_cpu=0, faults=0, **usual):
            lines, start = [header(), device(api=api), *(pass_info(IDS[n], n) for n in ("GBuffer", "UI"))], 10**9
            for i in range(60):
                slow = 20 * (i == 40)
                ends = (ms - 2 + slow) * MS
                lines.append(frame(i, [one_pass(0, IDS["GBuffer"], ends, "GBuffer", draws=draws if slow else 10, cpu_start_ns=start, gpu_start_ns=start + MS // 2),
                                       one_pass(1, IDS["UI"], ui * MS if slow else MS, "UI", cpu_start_ns=start + min(cpu_begins_at * MS, ends),
                                                gpu_start_ns=start + ends + MS // 2)], start_ns=start, cpu_ns=(ms + slow + (ui - 1) * (i == 40)) * MS + i % 7 * MS // 3))
                lines[-1].update(usual and {"wait_ns": int(usual.get("waits", 0) * slow * MS), "thread_ns": int((usual["thread_ms"] + usual.get("works", 1) * slow) * MS)})
                lines[-1].update({"minor_faults": faults} if slow and faults else {})
                if slow and asleep:
                    lines[-1]["asleep"] = asleep
                start += (ms + slow + 3) * MS
                if driver and i % 4 == 3:
                    lines.append({"type": "process", "time_ns": start, "period_ns": 4 * ms * MS, "ready_ns": 0, "threads": [
                        {"name": t, "cpu_ns": 20 * MS, **({"ends_frames": True} if t == "game" else {"ready_ns": no_cpu * MS if i == 43 else 0})} for t in driver[1]]})
                    lines[1]["name"] = driver[0]
            return self.answers(lines + [end(60, 120)])[0]
        got = run(1)
        self.assertEqual((got["bound"]["by"], got["hitches"]["worst"][0]["text"]), ("gpu", "frame 40: +20.7 ms, GBuffer 28.0 -> 48.0 ms, same draws"))
        got = run(1000)
        self.assertEqual(got["bound"]["by"], "unknown")
        self.assertRegex(got["bound"]["text"], r"cannot tell, the CPU works or waits within passes (8[0-9]|9[0-9]) % of the time")
        self.assertEqual(got["hitches"]["worst"][0]["text"], "frame 40: +20.7 ms, GBuffer 28.0 -> 48.0 ms, or a wait of the CPU")
        self.assertEqual(run(1000, draws=20)["hitches"]["worst"][0]["text"], "frame 40: +20.7 ms, GBuffer 28.0 -> 48.0 ms, 10 -> 20 draws")
        got = run(1000, thread_ms=3)
        self.assertEqual(got["hitches"]["worst"][0]["text"], "frame 40: +20.7 ms, the CPU, in GBuffer")
        got = run(1000, thread_ms=3, driver=("llvmpipe (LLVM 15)", ["game", "llvmpipe-0"]))
        self.assertEqual(got["hitches"]["worst"][0]["text"], "frame 40: +20.7 ms, the CPU, in GBuffer")
        # A judge's: six other programs on two CPUs.
        for no_cpu, words in ((30, "a wait: no CPU was free for up to 30.0 ms"), (8, "cannot tell: all passes and a wait both took longer")):
            got = run(1000, thread_ms=3, works=0, ui=11, driver=("llvmpipe (LLVM 15)", ["game", "llvmpipe-0"]), no_cpu=no_cpu)
            self.assertEqual(got["hitches"]["worst"][0]["text"], f"frame 40: +30.7 ms, {words}")
        # Planted in llvmpipe: of 20 sleeps and locks in an open pass all read "GBuffer, or a wait of the CPU".
        for works, waits, words in ((0, 0, "a wait in GBuffer (sleep, lock, disk, other programs)"), (0.3, 0, "cannot tell: GBuffer and the CPU both took longer"),
                                    (0, 1, "GBuffer 28.0 -> 48.0 ms, or a wait of the CPU")):
            other = run(1000, thread_ms=3, works=works, waits=waits)
            self.assertEqual(other["hitches"]["worst"][0]["text"], f"frame 40: +20.7 ms, {words}")
        # A stranger's: glFinish after a pass, and work.
        other = run(1000, ms=10, thread_ms=3, works=0.3, waits=0.7)["hitches"]["worst"][0]["text"]
        self.assertEqual(other, "frame 40: +20.7 ms, GBuffer 8.00 -> 28.0 ms, or a wait of the CPU, and the CPU worked 6.00 ms")
        # A stranger's: the CPU worked in a pass, and another took longer.
        other = run(1000, ms=10, thread_ms=3, waits=0.45, ui=10)["hitches"]["worst"][0]["text"]
        self.assertEqual(other, "frame 40: +29.7 ms, the CPU, in GBuffer; meanwhile UI 1.00 -> 10.0 ms, same draws")
        # A judge's: what llvmpipe needs for many more draws is new memory.
        for draws, words in ((10, "40000 page faults (new memory)"), (400, "the CPU, in GBuffer, 10 -> 400 draws, with 40000 page faults (new memory)")):
            self.assertEqual(run(1000, thread_ms=3, draws=draws, faults=40000)["hitches"]["worst"][0]["text"], f"frame 40: +20.7 ms, {words}")
        # It was seen to sleep there: that is no pass.
        other = run(1000, thread_ms=3, works=0.3, asleep=[{"in": "futex", "thread": "loader", "n": 4, "ns": 9 * MS}])["hitches"]["worst"][0]
        self.assertEqual(other["text"], "frame 40: +20.7 ms, a wait in GBuffer (for loader: futex), and the CPU worked 6.00 ms")
        self.assertEqual(other["asleep"], [{"in": "futex", "thread": "loader", "ns": 9 * MS}])
        # A stranger's: constant work, near 50 frames a second; the CPU begins the second pass late by 2 ms of 20, or by 15, as if it slept.
        for begins, by in ((3, "gpu"), (18, "cap")):
            lines, start = [header(), device(api="opengl"), *(pass_info(IDS[n], n) for n in ("GBuffer", "UI"))], 10**9
            for i in range(60):
                lines.append(frame(i, [one_pass(0, IDS["GBuffer"], 18 * MS, "GBuffer", cpu_start_ns=start, gpu_start_ns=start + MS), one_pass(
                    1, IDS["UI"], int(1.6 * MS), "UI", cpu_start_ns=start + begins * MS, gpu_start_ns=start + 19 * MS)], start_ns=start, cpu_ns=20 * MS, thread_ns=MS, wait_ns=MS))
                start += 20 * MS
            self.assertEqual(self.answers(lines + [end(60, 120)])[0]["bound"]["by"], by)
        text = "typical frame, 29.0 ms on the GPU, waits for the CPU within passes included"
        self.assertEqual(got["typical"]["text"], text) # the heading of the page
        self.assertIn(f"{text}:", got["lines"])
        self.assertEqual(run(1000, "vulkan")["bound"]["by"], "gpu")

    def test_when_the_gpu_did_nothing(self):
        """In OpenGL the rest of a frame that a pass made late is a wait, or work, before and after it; and a driver may wait in a call without draws."""
        def run(before=0, work=0, ms=40, draws=50, dispatch=0, ready=0, driver=60, asleep=()):
            lines, start = [header(), {**device(), "name": "llvmpipe"}, *(pass_info(ident, n) for n, ident in IDS.items())], 10**9
            for i in range(60):
                hit = i == 40
                lead, gbuffer, compute = (1 + before, ms, 1 + dispatch) if hit else (1, 8, 1)
                issued = 3 + work if hit else 3
                at = lambda t: start + int(t * MS)
                ends = lead + gbuffer + compute + 3
                passes = [one_pass(0, IDS["GBuffer"], gbuffer * MS, "GBuffer", draws=draws if hit else 10, cpu_start_ns=at(lead), gpu_start_ns=at(lead)),
                          one_pass(1, IDS["Probe update"], None, "Probe update", draws=0, dispatches=1, cpu_start_ns=at(lead + issued), flags=["shared_time"]),
                          one_pass(2, IDS["UI"], 2 * MS, "UI", draws=1, cpu_start_ns=at(lead + max(gbuffer + 1, issued) + compute), gpu_start_ns=at(ends - 2))]
                lines.append(frame(i, passes, start_ns=start, cpu_ns=(ends + 1) * MS, thread_ns=issued * MS, wait_ns=MS // 2, gpu_ns=(ends - lead) * MS, envelope_ns=(ends - lead) * MS,
                                   coverage=0, unattributed={"gpu_ns": compute * MS}, **({"asleep": [{"in": call, "n": 9, "ns": 60 * MS} for call in asleep]} if hit and asleep else {})))
                start += (ends + 1) * MS
                if i % 7 == 0:
                    lines.append({"type": "process", "time_ns": start, "period_ns": 98 * MS, "ready_ns": ready * MS if i == 42 else 0,
                                  "threads": [{"name": "game", "cpu_ns": 20 * MS, "ends_frames": True}, {"name": "llvmpipe-0", "cpu_ns": (driver if i == 42 else 30) * MS}]})
            return self.answers(lines + [end(60, 180)])[0]["hitches"]["worst"][0]["text"]
        for what, got, words in (
                ("a sleep before it", run(before=20, work=8), "+52.0 ms, GBuffer 8.00 -> 40.0 ms, 10 -> 50 draws, and a wait (sleep, lock, disk)"),
                ("the same, and little in comparison", run(before=20, work=18, ms=200), "+212 ms, GBuffer 8.00 -> 200 ms, 10 -> 50 draws"),
                ("work in it", run(work=10), "+32.0 ms, GBuffer 8.00 -> 40.0 ms, 10 -> 50 draws"),
                ("a dispatch", run(ms=8, draws=10, dispatch=40, asleep=["futex"]), "+40.0 ms, a wait in Probe update (lock, or another thread: futex)"),
                ("a dispatch, and the driver worked", run(ms=8, draws=10, dispatch=40, driver=160), "+40.0 ms, (passes drawn together) 1.00 -> 41.0 ms, same draws, the CPU in Probe update"),
                ("a dispatch, in which it slept", run(ms=8, draws=10, dispatch=40, asleep=["fsync"]), "+40.0 ms, a wait (fsync)")):
            with self.subTest(what):
                self.assertEqual(got, f"frame 40: {words}")

    def test_last_pass_of_opengl(self):
        """Its end is known only from the beginning of the present: what the CPU did before that is not GPU
        time."""
        def run(issue_ms, thread_ms, api="opengl", frame_ms=36, late_ms=0, gpu_less_ms=3, **flags):
            lines, start = [header(), device(api=api), pass_info(IDS["UI"], "UI")], 10**9
            for i in range(60):
                ms = frame_ms + (i % 7 if frame_ms == 36 else 0)
                lines.append(frame(i, [one_pass(0, IDS["UI"], (ms - gpu_less_ms) * MS, "UI", cpu_start_ns=start + MS,
                                                gpu_start_ns=start + (1 + late_ms) * MS, **flags)],
                                   start_ns=start, cpu_ns=ms * MS, thread_ns=thread_ms * MS, wait_ns=(ms - issue_ms) * MS))
                start += ms * MS
            got = self.answers(lines + [end(60, 60)])[0]
            self.assertIn(got["bound"]["text"] + "\n", self.ok("top", "--once", self.folder / "a.jsonl").stdout.decode())
            if got["bound"]["by"] == "cpu":  # what may be the GPU's, or the CPU's while it issued the pass
                self.assertRegex(got["bound"]["text"], r"the GPU \d to 92 %\)$")
            if got["bound"]["by"] == "cap":
                self.assertIn("(GPU works at most 85 %)", got["bound"]["text"])
                self.assertIn("waits for the CPU", " ".join(got["lines"]))
            return got["bound"]["by"], next((line for line in got["lines"] if line.startswith("  to find out")), None)
        halve = "  to find out: halve the resolution; if the rate stays, it is not the GPU"
        self.assertEqual(run(3, 3), ("gpu", None), "it waits in the present")
        self.assertEqual(run(36, 35), ("cpu", None), "it works until it presents")
        self.assertEqual(run(17, 3, frame_ms=20), ("cap", None), "it sleeps until it presents, for an interval")
        self.assertEqual(run(36, 3), ("unknown", halve), "it sleeps until it presents")
        self.assertEqual(run(12, 12, frame_ms=40, gpu_less_ms=1), ("unknown", halve), "it works until it presents, then waits for the GPU, for an interval")
        self.assertEqual(run(36, 3, late_ms=45), ("gpu", None), "the GPU is a frame late")
        self.assertEqual(run(36, 35, late_ms=45), ("unknown", halve), "the same, and the thread works or spins")
        self.assertEqual(run(36, 3, "vulkan"), ("gpu", None))
        self.assertEqual(run(3, 3, flags=["uncalibrated"]), ("unknown", halve), "it is not known when the GPU worked")

    def test_passes_that_share_a_time(self):
        """Where passes are drawn together their time is the frame's, outside passes: it is measured, and what the CPU
        needed to issue them may be in it."""
        def run(issue_ms, thread_ms, flags=("shared_time",), slow_ms=0, outside=True, drawn=lambda i: 1, step=60):
            lines, start = [header(), device(), pass_info(IDS["GBuffer"], "GBuffer", width=64, height=64), pass_info(IDS["UI"], "UI", width=128, height=64)], 10**9
            for i in range(60):
                slow = slow_ms if i == 40 or i >= step else 0
                ms, gpu = 36 + i % 7 + slow, (33 + i % 7 + slow) * MS
                passes = [one_pass(k, IDS[name], None, name, cpu_start_ns=start + MS, flags=list(flags), draws=drawn(i) if k else 5) for k, name in enumerate(("GBuffer", "UI"))]
                lines.append(frame(i, passes, start_ns=start, cpu_ns=ms * MS, thread_ns=thread_ms * MS, wait_ns=max(ms - issue_ms, 0) * MS,
                                   gpu_ns=gpu, envelope_ns=gpu, coverage=0, unattributed={"gpu_ns": gpu} if outside else {}))
                start += ms * MS
            got = self.answers(lines + [end(60, 120)])[0]
            return got["bound"]["by"], got["bound"]["text"], [h["text"] for h in got["hitches"]["worst"]], [c["text"] for c in got["changes"]]
        self.assertEqual(run(3, 3)[0], "gpu", "it waits in the present")
        self.assertIn("typical frame, 36.0 ms on the GPU:\n  UI and 1 more drawn together 36.0 ms 100 %\n", self.ok("report", "a.jsonl").stdout.decode())
        self.assertEqual(run(36, 35)[0], "cpu", "it works until it presents")
        self.assertIn("cannot tell, the CPU works or waits within passes", run(36, 3)[1])
        self.assertEqual(run(3, 3, slow_ms=40)[2], ["frame 40: +42.0 ms, (passes drawn together) 36.0 -> 78.0 ms, same draws"])
        self.assertEqual(run(3, 3, slow_ms=40, drawn=lambda i: 21 if i == 40 else 1)[2], ["frame 40: +42.0 ms, (passes drawn together) 36.0 -> 78.0 ms, UI 1 -> 21 draws"])
        self.assertEqual(run(60, 3, slow_ms=40, step=30, drawn=lambda i: 21 if i >= 30 else 1)[3],
                         ["from frame 30 on 2.0 times slower: 39.0 -> 79.0 ms; (passes drawn together) 36.0 -> 76.0 ms, UI 1 -> 21 draws"])
        self.assertEqual(run(60, 3, slow_ms=40)[2], ["frame 40: +42.0 ms, (passes drawn together) 36.0 -> 78.0 ms, or a wait of the CPU"])
        missing = {True: "bound by: cannot tell, GPU times are missing in 60 of 60 frames", False: "bound by: cannot tell, GPU times were not measured"}
        for flags, outside in (((), True), (("shared_time", "lost"), True), (("shared_time",), False)):
            self.assertEqual(run(3, 3, flags, outside=outside)[:2], ("unknown", missing[outside]), flags)

    # Speed

    def test_speed(self):
        times = [10] * 990 + [50] * 9 + [100]
        random.Random(3).shuffle(times)
        got = self.answer([(ms, {"GBuffer": 2}, {}) for ms in times], "--warmup", "0")
        self.assertAlmostEqual(got["fps"], 1000 / (sum(times) / 1000))
        self.assertAlmostEqual(got["low_1_fps"], 1000 / 55)
        self.assertAlmostEqual(got["low_01_fps"], 10)
        self.assertEqual((got["frame_time"]["p50_ns"], got["frame_time"]["p99_ns"]), (10 * MS, 10 * MS))
        self.assertIn("95.7 fps, 1 % low 18.2, 0.1 % low 10.0; frame time median 10.0 ms, p99 10.0 ms", got["lines"])

        # One in a hundred, or in a thousand, is not told of fewer.
        for n, words in ((9, "frame time median 10.0 ms, longest 10.0 ms"), (10, "100 fps; frame time median 10.0 ms, longest 10.0 ms"), (99, "100 fps; frame time median 10.0 ms, longest 10.0 ms"), (100, "100 fps, 1 % low 100; frame time median 10.0 ms, p99 10.0 ms"),
                         (1000, "100 fps, 1 % low 100, 0.1 % low 100; frame time median 10.0 ms, p99 10.0 ms")):
            self.assertIn(words, self.answer([(10, {"GBuffer": 2}, {})] * n)["lines"])

    # The typical frame

    def test_many_small_passes_have_a_sum(self):
        lines = [header(), device(), *(pass_info(f"{i + 1:016x}", f"P{i}") for i in range(150))]
        lines += [frame(i, [one_pass(k, f"{k + 1:016x}", 90000 + 5000000 * (k == 3), f"P{k}") for k in range(150)],
                        start_ns=10**9 + i * 2 * 10**7, cpu_ns=2 * 10**7) for i in range(30)]
        self.assertIn("  P3 5.09 ms 28 %, 149 more 13.4 ms 72 %", self.answers(lines + [end(30, 4500)])[0]["lines"])

    def test_queues_at_once(self):
        """Passes of two queues at the same time: the GPU works as long as either of them does."""
        lines = [header(), device(api="vulkan"), pass_info(A, "a"), pass_info(B, "b")]
        for i in range(20):
            at = 10**9 + i * 10 * MS
            made = [one_pass(0, A, 4 * MS, "a", queue="0.0", gpu_start_ns=at),
                    one_pass(1, B, 3 * MS, "b", queue="1.0", gpu_start_ns=at + 2 * MS)]
            lines.append(frame(i, made, cpu_ns=10 * MS, start_ns=at, gpu_ns=5 * MS, envelope_ns=5 * MS))
        got = self.answers(lines + [end(20, 40)])[0]
        self.assertEqual(got["typical"]["text"], "typical frame, passes of 7.00 ms, some at once: 5.00 ms on the GPU")

    def test_typical_frame(self):
        passes = {"Shadows/Cascade 0": 1, "Shadows/Cascade 1": 2, "GBuffer": 5, "Bloom/Down": 1, "Bloom/Up": 1}
        frames = [(12, dict(passes), {}) for _ in range(100)]
        frames[70][1]["Probe update"] = 30
        for f in frames[10:20]:
            f[1]["GBuffer"] = 50  # does not move the typical frame
        got = self.answer(frames)
        self.assertEqual([(p["name"], p["p50_ns"], round(p["share"], 9)) for p in got["typical"]["passes"]],
                         [("Shadows", 3 * MS, 0.3), ("GBuffer", 5 * MS, 0.5), ("Bloom", 2 * MS, 0.2)])
        self.assertIn("  Shadows 3.00 ms 30 %, GBuffer 5.00 ms 50 %, Bloom 2.00 ms 20 %", got["lines"])

    def test_a_pass_that_few_frames_have_is_not_missing(self):
        """A dynamic resolution: the largest pass has a target of one of four sizes. What most frames have is no frame."""
        heights = (300, 270, 240, 210)
        small = {A: 2, B: 3}
        for name, named, count, text in (("", "color", 4, "Color 400x300 RGBA8 and 3 more sizes"), ("Step", None, 4, "Step 0 and 3 more"),
                                         ("", "color", 1, None)):
            lines = [header(), device(), pass_info(A, "GBuffer"), pass_info(B, "UI")]
            for i in range(count):
                more = {"label": f"{name} {i}"} if not named else {"color": ["RGBA8"]}
                lines.append(pass_info(f"{i + 9:016x}", width=heights[i] * 4 // 3, height=heights[i], **more))
            for i in range(200):
                made = [one_pass(k, ident, ms * MS) for k, (ident, ms) in enumerate(small.items())]
                made.append(one_pass(2, f"{i // 3 % count + 9:016x}", 6 * MS + i // 3 % count * -MS // 10))
                lines.append(frame(i, made, cpu_ns=12 * MS, start_ns=10**9 + i * 12 * MS, gpu_ns=11 * MS, envelope_ns=11 * MS))
            got = self.answers(lines + [end(200, 600)])[0]
            if not text:
                self.assertEqual(got["typical"]["text"], "typical frame, 11.0 ms on the GPU")
                continue
            most, rest = "passes of most frames, 5.00 ms of 11.0 ms on the GPU", "passes that fewer have: 5.85 ms on average"
            self.assertEqual(got["typical"]["text"], f"{most}; {rest}")
            at = got["lines"].index(f"{most}:")
            self.assertEqual(got["lines"][at + 1:at + 3], ["  GBuffer 2.00 ms 40 %, UI 3.00 ms 60 %", f"  {rest}"])

    def test_no_typical_frame_is_longer_than_the_median_frame(self):
        """Two windows that take turns within a frame's time: what most frames have is no frame."""
        got = self.answer([(3, {"GBuffer": 3, "UI": 2}, {}) for _ in range(100)])
        self.assertFalse([line for line in got["lines"] if "typical frame" in line])
        self.assertIn("passes of most frames, 5.00 ms on the GPU: not one frame:", got["lines"])

    def test_a_time_known_in_few_frames_is_not_typical(self):
        for known, names in ((1, ["GBuffer"]), (20, ["GBuffer", "UI"])):
            got = self.answer([(12, {"GBuffer": 5, "UI": 6 if i < known else None}, {}) for i in range(22)])
            self.assertEqual([p["name"] for p in got["typical"]["passes"]], names)
        # Where a driver loses most of all times, none is known less often than others.
        got = self.answer([(12, {"GBuffer": 5, "UI": 6} if i % 9 == 0 else {"GBuffer": None, "UI": None}, {}) for i in range(90)])
        self.assertEqual([p["name"] for p in got["typical"]["passes"]], ["GBuffer", "UI"])

    def test_one_label_above_all(self):
        """Where one component is nearly everything, the next one gives more information."""
        got = self.answer([(12, {"Bloom/Down": 4, "Bloom/Up": 6, "UI": 0.1}, {})] * 20)
        self.assertEqual([p["name"] for p in got["typical"]["passes"]], ["Bloom/Down", "Bloom/Up", "UI"])

    def test_many_passes(self):
        """Of 20 000 passes those with the largest shares are listed, in order of execution."""
        passes = [one_pass(i, f"{i + 1:016x}", MS if i in (7000, 2000) else 10) for i in range(20000)]
        lines = [header(), device(), *(pass_info(f"{i + 1:016x}", width=i % 70 + 1, height=9) for i in range(20000)),
                 frame(0, passes), end(1, 20000)]
        got = self.answers(lines)[0]
        self.assertEqual(len(got["typical"]["passes"]), 20000)
        self.assertEqual(got["bound"]["by"], "unknown")
        row = next(line for line in got["lines"] if "ms 45 %" in line)
        self.assertEqual(row.count("1.00 ms 45 %"), 2, row)
        self.assertIn("  19998 more 0.20 ms 9 %", got["lines"])

    def test_many_equal_passes(self):
        """None has half a percent, and yet some are listed."""
        ids = [f"{i + 1:016x}" for i in range(1000)]
        passes = [one_pass(i, ident, MS) for i, ident in enumerate(ids)]
        got = self.answers([header(), device(), *map(pass_info, ids), frame(0, passes), end(1, 1000)])[0]
        self.assertEqual(sum("1.00 ms 0 %" in line for line in got["lines"]), 3, got["lines"])

    # Hitches

    def test_hitches(self):
        def frames_with(changes, ms=14.0):
            thread_ms = any(len(change) > 2 for change in changes.values())
            usual = {"thread_ns": 2 * MS, "wait_ns": 0} if thread_ms else {}
            frames = [(ms, {"Shadows/Cascade 0": 2, "GBuffer": 8}, {"number": 500 + i, **usual}) for i in range(120)]
            for at, change in changes.items():
                more = {"thread_ns": int(change[2] * MS)} if len(change) > 2 else {}
                frames[at] = (change[0], {**frames[at][1], **change[1]}, {**frames[at][2], **more})
            return frames
        cases = (
            ("none", {}, 14, []),
            ("a pass grew", {60: (154, {"GBuffer": 148})}, 14, [(560, "pass", "GBuffer", "+140 ms, GBuffer 8.00 -> 148 ms, or a wait of the CPU")]),
            ("a pass that runs only now", {60: (54, {"Probe update": 40})}, 14,
             [(560, "pass", "Probe update", "frame 560: +40.0 ms, Probe update 40.0 ms, its first use, or a wait of the CPU")]),
            ("its GPU work was one frame earlier", {59: (14, {"GBuffer": 48}), 60: (54, {})}, 14,
             [(560, "pass", "GBuffer", "+40.0 ms, GBuffer 8.00 -> 48.0 ms, or a wait of the CPU")]),
            ("the frame's last pass grew", {60: (54, {"UI": 40})}, 14,
             [(560, "pass", "UI", "frame 560: +40.0 ms, UI 40.0 ms, its first use, or a wait of the CPU")]),
            ("not on the GPU", {60: (34, {})}, 14, [(560, "not-gpu", None, "frame 560: +20.0 ms, not on the GPU")]),
            ("the CPU works", {60: (34, {}, 22)}, 14, [(560, "cpu", None, "+20.0 ms, the CPU$")]),
            ("the CPU works less", {60: (34, {}, 8)}, 14, [(560, "unknown", None, "+20.0 ms, cannot tell: the CPU worked 6.00 ms, no pass took longer$")]),
            ("the CPU sleeps", {60: (34, {}, 1)}, 14, [(560, "wait", None, "+20.0 ms, a wait (sleep, lock, disk, other programs)")]),
            ("on first use, not on the GPU", {60: (94, {"UI": 0.1})}, 14,
             [(560, "not-gpu", None, "+80.0 ms, not on the GPU (first of UI)")]),
            ("all of the GPU", {60: (34, {name: 0.25 * 20 + usual for name, usual in (
                ("Shadows/Cascade 0", 2), ("GBuffer", 8), ("UI", 0))})}, 14, [(560, "gpu", None, "all passes")]),
            ("GPU times are missing", {60: (34, {"GBuffer": None})}, 14, [(560, "unknown", None, "GPU times are")]),
            ("1.49 times as long is none", {60: (20.8, {})}, 14, []),
            ("1.5 times as long is one", {60: (21, {})}, 14, [(560, "not-gpu", None, "+7.00 ms")]),
            ("less than 5 ms longer is none", {60: (8.9, {})}, 4, []),
            ("every other frame is how it runs", {i: (60, {}) for i in range(0, 120, 2)}, 14, []),
            ("the last frame", {119: (64, {})}, 14, [(619, "not-gpu", None, "+50.0 ms")]),
        )
        for what, changes, ms, want in cases:
            with self.subTest(what):
                got = self.answer(frames_with(changes, ms))["hitches"]
                self.assertEqual([(h["frame"], h["cause"], h.get("pass")) for h in got["worst"]],
                                 [case[:3] for case in want])
                self.assertEqual(got["n"], len(want))
                for hitch, case in zip(got["worst"], want):
                    self.assertIn(case[3], hitch["text"] + "$")

    def test_causes(self):
        """Logs with a known cause, and a third with what only looks like one: a cause is right or not named."""
        cases = (
            # what, passes (ms or (ms, draws)), frame ms, work ms, wait ms, own ms, cause, words
            ("a pass without more work", {"GBuffer": 40}, 46, 3, 41, 0, "pass", "GBuffer 8.00 -> 40.0 ms, same draws"),
            ("a pass with more work", {"GBuffer": (40, 50)}, 46, 3, 41, 0, "pass", "GBuffer 8.00 -> 40.0 ms, 10 -> 50 draws"),
            ("and the CPU issued it", {"GBuffer": (40, 500)}, 46, 40, 4, 0, "pass", "GBuffer 8.00 -> 40.0 ms, 10 -> 500 draws"),
            ("a pass that is seldom there", {"Probe update": 30}, 44, 3, 40, 0, "pass", "Probe update 30.0 ms, its first use"),
            ("every pass", {"Shadows/Cascade 0": 8, "GBuffer": 20, "UI": 5}, 34, 3, 30, 0, "gpu", "all passes 11.0 -> 33.0 ms, same draws"),
            ("every pass, with more work", {"Shadows/Cascade 0": (8, 90), "GBuffer": (20, 90), "UI": (5, 9)}, 34, 3, 30, 0, "gpu", "30 -> 189 draws"),
            ("the CPU", {}, 44, 33, 8, 0, "cpu", "the CPU"),
            ("a sleep or a lock", {}, 44, 3, 9, 0, "wait", "a wait (sleep, lock, disk, other programs)"),
            ("a present that waits", {}, 44, 3, 39, 0, "wait", "a wait in driver calls"),
            ("passtally", {}, 44, 33, 9, 30, "passtally", "passtally itself"),
            ("passtally, which waits", {}, 44, 3, 9, 30, "passtally", "passtally itself"),
            # Misleading.
            ("passtally, half of it", {}, 44, 3, 9, 20, "wait", "a wait (sleep, lock, disk, other programs); passtally itself 20.0 ms$"),
            ("passtally, in which it waits for a pass", {"GBuffer": 40}, 46, 3, 9, 30, "pass", "GBuffer 8.00 -> 40.0 ms, same draws; passtally itself 30.0 ms$"),
            ("the CPU, and the driver for what would be a hitch", {}, 89, 70, 20, 0, "cpu", "the CPU, and a wait in driver calls$"),
            ("two passes", {"GBuffer": 24, "Shadows/Cascade 0": 15}, 46, 3, 41, 0, "gpu", "GBuffer and others 11.0 -> 40.0 ms, same draws"),
            ("a pass, and as long the CPU before it", {"GBuffer": 23.5, "UI": 2}, 46, 19, 10, 0, "pass", "GBuffer 8.00 -> 23.5 ms, same draws, and the CPU worked 16.0 ms$"),
            ("a pass, and as long a sleep before it", {"GBuffer": 23.5, "UI": 2}, 46, 3, 10, 0, "pass", "GBuffer 8.00 -> 23.5 ms, same draws, and a wait, or no CPU$"),
            ("a pass, and more of the CPU", {"GBuffer": 21}, 44, 17, 22, 0, "pass", "GBuffer 8.00 -> 21.0 ms, same draws, and the CPU worked 14.0 ms$"),
            ("a pass, and the CPU at the same time", {"GBuffer": 38}, 44, 33, 8, 0, "unknown", "cannot tell: GBuffer and the CPU both took longer$"),
            ("a pass, and a third of it the CPU, without more draws", {"GBuffer": 38}, 46, 13, 30, 0, "pass", "GBuffer 8.00 -> 38.0 ms, same draws, and the CPU worked 10.0 ms$"),
            ("a pass, and a third of it the CPU, for its draws", {"GBuffer": (38, 50)}, 46, 13, 30, 0, "pass", "GBuffer 8.00 -> 38.0 ms, 10 -> 50 draws$"),
            ("a pass, and a sleep of less than a hitch", {"GBuffer": 22.3}, 33, 3, 23, 0, "pass", "GBuffer 8.00 -> 22.3 ms, same draws$"),
            ("some of each, in two passes", {"GBuffer": 14, "Shadows/Cascade 0": 7}, 44, 14, 8, 0, "unknown", "the CPU worked 11.0 ms, and GBuffer and others 11.0 -> 22.0 ms, same draws$"),
            ("a pass's first use, and the CPU", {"Bloom/Up": 10}, 44, 14, 8, 0, "unknown", "the CPU worked 11.0 ms, and Bloom/Up 10.0 ms, its first use$"),
            ("the CPU, and a pass that hardly grew", {"GBuffer": 8.5}, 44, 14, 8, 0, "unknown", "cannot tell: the CPU worked 11.0 ms, no pass took longer$"),
            ("a pass that grew a little while the CPU worked", {"GBuffer": 12}, 44, 33, 8, 0, "cpu", "the CPU"),
            ("a pass that grew a little while the CPU slept", {"GBuffer": 12}, 44, 3, 8, 0, "wait", "a wait"),
            ("the CPU and a pass", {"GBuffer": 40}, 46, 40, 4, 0, "unknown", "cannot tell: GBuffer and the CPU both took longer"),
            ("half CPU, half sleep", {}, 44, 16, 8, 0, "unknown", "cannot tell: the CPU worked 13.0 ms, no pass took longer"),
            ("some of each", {"GBuffer": 20}, 44, 14, 8, 0, "unknown", "the CPU worked 11.0 ms, and GBuffer 8.00 -> 20.0 ms, same draws$"),
            ("a driver that spins while it waits for the GPU", {"GBuffer": 40}, 46, 44, 42, 0, "pass", "GBuffer 8.00 -> 40.0 ms, same draws"),
            ("a pass that shrank while the CPU slept", {"GBuffer": 1}, 44, 3, 8, 0, "wait", "a wait"),
            ("a pass that runs for the first time, quickly, while the CPU worked", {"Bloom/Up": 0.2}, 44, 33, 8, 0, "cpu", "the CPU (first of Bloom/Up)"),
            # Planted: two causes in one frame, and twice the resolution, with the same draws in other targets.
            ("a sleep, and a pass for less", {"GBuffer": 18}, 44, 3, 8, 0, "wait", "a wait (sleep, lock, disk, other programs); meanwhile GBuffer 8.00 -> 18.0 ms, same draws$"),
            ("the CPU, and a pass for less", {"GBuffer": 18}, 44, 24, 8, 0, "cpu", "the CPU; meanwhile GBuffer 8.00 -> 18.0 ms, same draws$"),
            ("a pass, and the CPU for less", {"GBuffer": 28}, 44, 13, 27, 0, "pass", "GBuffer 8.00 -> 28.0 ms, same draws, and the CPU worked 10.0 ms$"),
            ("two passes that took longer while it slept", {"GBuffer": 14, "Shadows/Cascade 0": 6}, 44, 3, 8, 0, "wait", "a wait (sleep, lock, disk, other programs)$"),
            ("a pass that takes the place of another", {"GBuffer": None, "UI": None, "Probe update": 28, "Bloom/Up": 12}, 46, 3, 41, 0, "gpu", "Probe update and others 11.0 -> 51.0 ms, same draws (first of Probe update)$"),
            ("GPU times are missing and the CPU slept", {"GBuffer": None}, 44, 3, 8, 0, "unknown", "cannot tell: GPU times are missing; not the CPU"),
            ("GPU times are missing and the CPU worked", {"GBuffer": None}, 44, 33, 8, 0, "cpu", "the CPU"),
        )
        for what, change, ms, work, wait, own, cause, words in cases:
            with self.subTest(what):
                frames = [(14, {"Shadows/Cascade 0": (2, 10), "GBuffer": (8, 10), "UI": (1, 10)},
                           {"thread_ns": 3 * MS, "wait_ns": 9 * MS, "overhead_ns": 20000}) for _ in range(100)]
                passes = {**frames[60][1], **{k: v if isinstance(v, tuple) or v is None else (v, 10) for k, v in change.items()}}
                passes = {k: v for k, v in passes.items() if v or len(change) == 1}
                frames[60] = (ms, passes, {"thread_ns": work * MS, "wait_ns": wait * MS, "overhead_ns": own * MS})
                lines = log_of(frames)
                lines[1]["api"] = "vulkan"
                got = self.answers(lines)[0]["hitches"]
                self.assertEqual([(h["frame"], h["cause"]) for h in got["worst"]], [(60, cause)], got)
                self.assertIn(f"ms, {words}", got["worst"][0]["text"] + "$")

    def causes_where(self, changed, begin=None):
        """The hitches of 100 Vulkan frames but for those `changed`, by frame; begin(line): when the GPU began its pass."""
        usual = {"thread_ns": 3 * MS, "wait_ns": 9 * MS}
        frames = [(14, {"GBuffer": (8, 10)}, usual) for _ in range(100)]
        for at, (ms, work, times) in changed.items():
            frames[at] = (ms, {"GBuffer": work}, {**usual, **times})
        lines = log_of(frames)
        lines[1]["api"] = "vulkan"
        for line in lines if begin else ():
            if line["type"] == "frame":
                line["passes"][0]["gpu_start_ns"] = begin(line)
        return {h["frame"]: h["cause"] for h in self.answers(lines)[0]["hitches"]["worst"]}

    def test_a_hitch_soon_after_another(self):
        """What made the first one long is over; a pass that did not is not."""
        for first_ms, cause in ((154, "wait"), (16, "pass")):
            got = self.causes_where({60: (first_ms, (148, 10), {"wait_ns": first_ms * MS - 5 * MS}), 62: (44, (8, 10), {"wait_ns": 39 * MS})})
            self.assertEqual(got[62], cause, first_ms)
        # Planted: a thread compiled, and the GPU's driver compiled again at the first dispatch, for most of what came.
        for late_ms, cause in ((840, "pass"), (2, "wait")):
            got = self.causes_where({60: (44, (850, 10), {"thread_ns": 33 * MS}), 62: (864, (8, 10), {"wait_ns": 859 * MS})}, lambda line, late=late_ms:
                                    line["start_ns"] + line["cpu_ns"] + (late if line["frame"] == 60 else 0) * MS - line["passes"][0]["gpu_ns"])
            self.assertEqual(got[62], cause, late_ms)

    def test_every_third_frame(self):
        """Frames that take longer in turn are none, but one among them that takes longer still is."""
        for period in (2, 3, 4):
            frames = [(14 if i % period else 34, {"GBuffer": (8, 10)}, {}) for i in range(200)]
            self.assertEqual(self.answer(frames)["hitches"]["n"], 0, period)
            frames[60] = frames[91] = (80, {"GBuffer": (8, 10)}, {})
            self.assertEqual([h["frame"] for h in sorted(self.answer(frames)["hitches"]["worst"], key=lambda h: h["frame"])],
                             [60, 91], period)

    def test_a_hitch_long_after_its_work(self):
        """Four frames are in flight: the fourth waits for the work of the first, or the GPU had done that long before."""
        for late_ms, cause in ((44, "pass"), (-8, "wait")):
            got = self.causes_where({60: (14, (40, 10), {}), 64: (44, (8, 10), {"wait_ns": 39 * MS})}, lambda line, late=late_ms:
                                    line["start_ns"] + (14 + late if line["frame"] == 60 else 1) * MS)
            self.assertEqual(got, {64: cause})

    def test_work_after_the_frame(self):
        """What the GPU began when the frame was over did not delay it, but a later one."""
        for begin_ms, causes in ((45, {60: "cpu", 62: "pass"}), (1, {60: "pass", 62: "wait"})):
            got = self.causes_where({60: (44, (40, 50), {"thread_ns": 33 * MS}), 62: (44, (8, 10), {"wait_ns": 39 * MS})}, lambda line, begin=begin_ms:
                                    line["start_ns"] + (begin if line["frame"] == 60 else 1) * MS)
            self.assertEqual(got, causes)

    def test_causes_by_events(self):
        """Shaders, uploads and the like, on the right thread, on the wrong one, several at once."""
        at = 10**9 + 60 * 14 * MS  # where the slow frame begins

        def event(kind, ms, n=1, size=0, **more):
            return {"kind": kind, "n": n, "ns": int(ms * MS), **({"bytes": size} if size else {}), **more}

        def call(kind, ms, thread="main", name="f", start=at + MS):
            return {"kind": kind, "call": name, "thread": thread, "start_ns": start, "ns": int(ms * MS)}
        cases = (
            # what, events, calls, work ms, wait ms, more of the frame, passes, cause, words
            ("pipelines", [event("pipeline", 28, 3)], [call("pipeline", 20)], 31, 9, {}, {}, "shaders", "3 shaders made, 28.0 ms"),
            ("some from a cache", [event("pipeline", 28, 3, cached=2)], [call("pipeline", 28)], 31, 9, {}, {}, "shaders", "3 shaders made, 28.0 ms, 2 from a cache"),
            ("none from a cache, as the driver says", [event("pipeline", 28, 3, uncached=3)], [call("pipeline", 28)], 31, 9, {}, {}, "shaders", "3 shaders made, 28.0 ms, none from a cache"),
            ("and modules", [event("pipeline", 28, 3, uncached=3), event("shader", 1, 6)], [call("pipeline", 28)], 32, 9, {}, {}, "shaders", "6 shaders made, 29.0 ms, none from a cache"),
            ("of some the driver does not say", [event("pipeline", 28, 3, uncached=2)], [call("pipeline", 28)], 31, 9, {}, {}, "shaders", "3 shaders made, 28.0 ms"),
            ("more than there were", [event("pipeline", 28, 3, uncached=9)], [call("pipeline", 28)], 31, 9, {}, {}, "shaders", "3 shaders made, 28.0 ms"),
            ("compiled, linked, drawn with", [event("shader", 8, 2), event("pipeline", 9), event("first_draw", 10)], [call("first_draw", 10)], 30, 9, {}, {}, "shaders", "2 shaders made, 27.0 ms"),
            ("a program that OpenGL named", [event("pipeline", 28)], [{**call("pipeline", 28), "object": 12}], 31, 9, {}, {}, "shaders", "1 shader made, 28.0 ms, program 12"),
            ("where it drew first", [event("first_draw", 28)], [{**call("first_draw", 28), "object": 12}], 31, 9, {}, {}, "shaders", "1 shader made, 28.0 ms, program 12, first used by GBuffer"),
            ("the first draw of another program", [event("pipeline", 20), event("first_draw", 8)], [{**call("pipeline", 20), "object": 12}, {**call("first_draw", 8), "object": 9}], 31, 9, {}, {}, "shaders",
             "1 shader made, 28.0 ms, program 12"),
            ("its own, linked before", [event("pipeline", 20), event("first_draw", 8)], [{**call("pipeline", 20), "object": 12}, {**call("first_draw", 8), "object": 12}], 31, 9, {}, {}, "shaders",
             "1 shader made, 28.0 ms, program 12, first used by GBuffer"),
            ("a pass for which another thread made a pipeline", [event("pipeline", 2)], [call("pipeline", 2, "recorder")], 3, 39, {}, {"GBuffer": (40, 10)}, "pass", "GBuffer 8.00 -> 40.0 ms, same draws; 1 shader made in it"),
            ("several, one named", [event("shader", 28, 3)], [{**call("shader", 20), "object": 7}], 31, 9, {}, {}, "shaders", "3 shaders made, 28.0 ms, longest shader 7"),
            ("many short ones", [event("shader", 28, 60)], [], 31, 9, {}, {}, "shaders", "60 shaders made, 28.0 ms"),
            ("on another thread, which is waited for", [event("pipeline", 28, 3)], [call("pipeline", 28, "dxvk-cs")], 3, 9, {}, {}, "shaders", "3 shaders made on dxvk-cs, 28.0 ms"),
            ("an upload", [event("upload", 25, 1, 64 * 10**6)], [call("upload", 25)], 28, 9, {}, {}, "upload", "upload of 64 MB, 25.0 ms"),
            ("a read-back, asleep", [event("readback", 25, 1, 8 * 10**6)], [call("readback", 25)], 3, 9, {}, {}, "readback", "read-back of 8 MB, 25.0 ms"),
            ("a buffer that the GPU uses", [event("map", 25)], [call("map", 25)], 3, 9, {}, {}, "map", "mapping a buffer, 25.0 ms"),
            ("memory", [event("memory", 25, 1, 256 * 10**6)], [call("memory", 25)], 28, 9, {}, {}, "memory", "allocation of 256 MB, 25.0 ms"),
            ("memory over the budget", [event("memory", 25, 1, 256 * 10**6, used=9 * 10**9, budget=8 * 10**9)], [call("memory", 25)], 28, 9, {}, {}, "memory", "allocation of 256 MB, 25.0 ms; GPU memory 1000 MB over its budget"),
            ("memory within the budget", [event("memory", 25, 1, 256 * 10**6, used=7 * 10**9, budget=8 * 10**9)], [call("memory", 25)], 28, 9, {}, {}, "memory", "allocation of 256 MB, 25.0 ms"),
            ("new memory", [], [], 33, 9, {"minor_faults": 50000}, {}, "faults", "50000 page faults (new memory)"),
            ("the CPU, and some new memory", [], [], 33, 9, {"minor_faults": 10000}, {}, "cpu", "the CPU, with 10000 page faults (new memory)"),
            ("a disk", [], [], 3, 9, {"major_faults": 40}, {}, "faults", "40 page faults from a disk"),
            ("shaders and an upload, neither for half of it", [event("pipeline", 13, 3), event("upload", 12, 1, 34 * 10**6)], [call("pipeline", 13), call("upload", 12)], 33, 9, {}, {}, "cpu",
             "the CPU; of it 3 shaders made, 13.0 ms, and upload of 34 MB, 12.0 ms"),
            ("shaders, and an upload", [event("pipeline", 18, 3), event("upload", 12, 1, 34 * 10**6)], [call("pipeline", 18), call("upload", 12)], 33, 9, {}, {}, "shaders",
             "3 shaders made, 18.0 ms, and upload of 34 MB, 12.0 ms"),
            ("a file", [], [], 12, 9, {"disk_bytes": 18 * 10**6}, {}, "disk", "18 MB read from a disk"),
            ("a file, half of which is copied", [], [], 16, 9, {"disk_bytes": 18 * 10**6}, {}, "disk", "18 MB read from a disk"),
            ("a file that the kernel had read before", [], [], 30, 9, {"disk_bytes": 17 * 10**6}, {}, "cpu", "the CPU, with 17 MB read from a disk"),
            ("a file, and another thread's shaders", [event("pipeline", 28, 3)], [call("pipeline", 28, "loader")], 3, 9, {"disk_bytes": 18 * 10**6}, {}, "disk",
             "18 MB read from a disk; meanwhile 3 shaders made on loader, 28.0 ms"),
            ("a pass, and a file", [], [], 3, 26, {"disk_bytes": 18 * 10**6}, {"GBuffer": (25, 10)}, "pass", "GBuffer 8.00 -> 25.0 ms, same draws, and a wait, or no CPU; meanwhile 18 MB read from a disk"),
            ("a file, and a pass", [], [], 3, 9, {"disk_bytes": 18 * 10**6}, {"GBuffer": (21, 10)}, "disk", "18 MB read from a disk; meanwhile GBuffer 8.00 -> 21.0 ms, same draws"),
            ("a pass, and shaders made", [event("pipeline", 10, 3)], [call("pipeline", 10)], 15, 9, {}, {"GBuffer": (25, 90)}, "pass",
             "GBuffer 8.00 -> 25.0 ms, 10 -> 90 draws, and the CPU worked 12.0 ms; of it 3 shaders made, 10.0 ms"),
            ("shaders made, and other work", [event("pipeline", 18, 3)], [call("pipeline", 18)], 31, 9, {}, {}, "shaders", "3 shaders made, 18.0 ms, and the CPU worked 10.0 ms"),
            ("a sleep, and a small file", [], [], 3, 9, {"disk_bytes": 3 * 10**6}, {}, "wait", "a wait; meanwhile 3 MB read from a disk"),
            # Planted: 17 ms of it.
            ("a file, and as long a sleep", [], [], 9, 9, {"disk_bytes": 10 * 10**6}, {}, "wait", "a wait; meanwhile 10 MB read from a disk"),
            ("work, sleep and a small file", [], [], 15, 9, {"disk_bytes": 3 * 10**6}, {}, "unknown", "cannot tell: the CPU worked 12.0 ms, no pass took longer; meanwhile 3 MB read from a disk"),
            ("a fence, and a file", [event("fence", 30)], [], 3, 39, {"disk_bytes": 18 * 10**6}, {}, "wait", "a wait for a fence or query"),
            ("a fence", [event("fence", 30)], [call("fence", 30)], 3, 39, {}, {}, "wait", "a wait for a fence or query"),
            # Misleading.
            ("another thread's, while this one worked", [event("pipeline", 28, 3)], [call("pipeline", 28, "loader")], 33, 9, {}, {}, "cpu", "the CPU; meanwhile 3 shaders made on loader, 28.0 ms"),
            ("another thread's that ended at the frame's begin", [event("pipeline", 28, 3)], [call("pipeline", 28, "loader", start=at - 27 * MS)], 3, 9, {}, {}, "wait",
             "a wait; meanwhile 3 shaders made on loader, 28.0 ms"),
            ("many short ones on another thread", [event("pipeline", 28, 90)], [call("pipeline", 1, "loader", start=at + i * MS) for i in range(1, 17)], 3, 9, {}, {}, "shaders",
             "90 shaders made on loader, 28.0 ms"),
            ("another thread's, for half of the time", [event("pipeline", 18, 3)], [call("pipeline", 18, "loader")], 3, 9, {}, {}, "wait",
             "a wait; meanwhile 3 shaders made on loader, 18.0 ms"),
            # Planted on a busy machine: a sleep of 41 ms beside a compile that took 34.
            ("another thread's that ended before", [event("pipeline", 25, 3)], [call("pipeline", 25, "loader")], 3, 9, {}, {}, "wait",
             "a wait; meanwhile 3 shaders made on loader, 25.0 ms"),
            ("a disk, while another thread made shaders", [event("pipeline", 28, 3)], [call("pipeline", 28, "loader")], 3, 9, {"major_faults": 40}, {}, "faults",
             "40 page faults from a disk; meanwhile 3 shaders made on loader, 28.0 ms"),
            ("another thread's that go on", [event("pipeline", 28, 3)], [call("pipeline", 28, "loader")], 3, 9, {}, {}, "wait",
             "a wait; meanwhile 3 shaders made on loader, 28.0 ms", {"events": [event("pipeline", 14, 1)]}),
            ("of eight threads, none of which kept the frame", [event("pipeline", 28, 8)], [call("pipeline", 3.5, f"w{i}") for i in range(8)], 3, 9, {}, {}, "wait",
             "a wait; meanwhile 8 shaders made on w0, 28.0 ms"),
            # Planted: a sleep that ended with the first of three that another thread made.
            ("another thread's, which made the next at once", [event("pipeline", 28)], [call("pipeline", 28, "loader")], 3, 9, {}, {}, "wait",
             "a wait; meanwhile 1 shader made on loader, 28.0 ms", {}, {"events": [event("pipeline", 28)], "calls": [call("pipeline", 28, "loader", start=at + 29 * MS)]}),
            ("a sleep, and a few of its own", [event("pipeline", 6.5, 2)], [call("pipeline", 6.5)], 9, 9, {}, {}, "wait", "a wait (sleep, lock, disk, other programs); of it 2 shaders made, 6.50 ms"),
            ("a sleep, and a few of another thread's", [event("pipeline", 8, 2)], [call("pipeline", 8, "loader")], 3, 9, {}, {}, "wait", "a wait; meanwhile 2 shaders made on loader, 8.00 ms"),
            ("its own, and as long a sleep", [event("pipeline", 18, 3)], [call("pipeline", 18)], 21, 9, {}, {}, "shaders", "3 shaders made, 18.0 ms, and a wait, or no CPU"),
            ("as long a sleep, and less of its own", [event("pipeline", 14, 3)], [call("pipeline", 14)], 17, 9, {}, {}, "unknown", "cannot tell: the CPU worked 14.0 ms, no pass took longer; of it 3 shaders made, 14.0 ms"),
            ("its own, and a wait in the driver", [], [], 21, 25, {}, {}, "cpu", "the CPU, and a wait in driver calls"),
            ("its own, and little CPU", [event("pipeline", 28, 3)], [call("pipeline", 28)], 14, 9, {}, {}, "shaders", "3 shaders made, 28.0 ms"),
            ("of a log that does not say on which thread", [event("pipeline", 28, 3, own_ns=0)], [call("pipeline", 28)], 31, 9, {}, {}, "cpu",
             "the CPU; meanwhile 3 shaders made on main, 28.0 ms"),
            ("a disk that the kernel works for", [], [], 15, 9, {"major_faults": 600}, {}, "faults", "600 page faults from a disk"),
            ("too little", [event("pipeline", 9, 3)], [call("pipeline", 9)], 33, 9, {}, {}, "cpu", "the CPU; of it 3 shaders made, 9.00 ms"),
            ("hardly any", [event("pipeline", 5, 3)], [call("pipeline", 5)], 33, 9, {}, {}, "cpu", "the CPU"),
            ("an upload as in each frame", [event("upload", 5, 1, 64)], [], 3, 9, {}, {}, "wait", "a wait"),
            ("a load with more than calls", [event("pipeline", 9, 3)], [call("pipeline", 9)], 33, 9, {"minor_faults": 50000}, {}, "faults",
             "50000 page faults (new memory); of it 3 shaders made, 9.00 ms"),
            ("the CPU, and a wait for the GPU", [event("idle", 11)], [], 24, 20, {}, {}, "cpu", "the CPU, and a wait until the GPU is idle"),
            ("shaders, and the draws of a pass", [event("pipeline", 20, 3, own_ns=20 * MS)], [call("pipeline", 20)], 23, 9, {}, {"GBuffer": (20, 90)}, "shaders",
             "3 shaders made, 20.0 ms; meanwhile GBuffer 8.00 -> 20.0 ms, 10 -> 90 draws"),
            ("the CPU, in system calls", [], [], 33, 9, {"kernel_ns": 28 * MS}, {}, "cpu", "the CPU, all of it in the kernel"),
            ("the CPU, a part of it in system calls", [], [], 33, 9, {"kernel_ns": 17 * MS}, {}, "cpu", "the CPU, 15.5 ms of it in the kernel"),
            ("the CPU, and a few system calls", [], [], 33, 9, {"kernel_ns": 14 * MS}, {}, "cpu", "the CPU"),
            # A stranger's: 2 us a fault, on a virtual machine.
            ("new memory, which the kernel clears slowly", [], [], 33, 9, {"minor_faults": 16000, "kernel_ns": 28 * MS}, {}, "faults", "16000 page faults (new memory)"),
            ("system calls, and some new memory", [], [], 33, 9, {"minor_faults": 6000, "kernel_ns": 28 * MS}, {}, "cpu", "the CPU, with 6000 page faults (new memory)"),
            ("new memory, which the kernel clears", [], [], 33, 9, {"minor_faults": 50000, "kernel_ns": 28 * MS}, {}, "faults", "50000 page faults (new memory)"),
            ("shaders made, and system calls", [event("pipeline", 18, 3)], [call("pipeline", 18)], 31, 9, {"kernel_ns": 16 * MS}, {}, "shaders", "3 shaders made, 18.0 ms, and the CPU worked 10.0 ms"),
            ("few page faults", [], [], 33, 9, {"minor_faults": 2000, "major_faults": 3}, {}, "cpu", "the CPU"),
            ("a pass, and shaders", [event("pipeline", 28, 3)], [call("pipeline", 28)], 31, 9, {}, {"GBuffer": (40, 10)}, "shaders", "3 shaders made, 28.0 ms"),
            ("a pass, and shaders made asleep", [event("pipeline", 28, 3)], [call("pipeline", 28)], 3, 9, {}, {"GBuffer": (40, 10)}, "unknown", "cannot tell: GBuffer and other calls both took longer"),
            ("a read-back that waits for a pass", [event("readback", 28, 1)], [call("readback", 28)], 3, 9, {}, {"GBuffer": (40, 10)}, "pass", "GBuffer 8.00 -> 40.0 ms, same draws"),
            ("a read-back that works", [event("readback", 28, 1)], [call("readback", 28)], 31, 9, {}, {"GBuffer": (40, 10)}, "readback", "read-back, 28.0 ms"),
            ("two passes, one with less", [], [], 3, 9, {}, {"GBuffer": (30, 10), "UI": (9, 10)}, "gpu", "GBuffer and others 11.0 -> 41.0 ms, same draws"),
            ("a few more draws", [], [], 3, 39, {}, {"GBuffer": (40, 11)}, "pass", "GBuffer 8.00 -> 40.0 ms, 10 -> 11 draws"),
            ("a pass in which a driver may compile", [event("pipeline", 1)], [], 3, 39, {}, {"GBuffer": (40, 10)}, "pass", "GBuffer 8.00 -> 40.0 ms, same draws; 1 shader made in it"),
            ("a pass, and the CPU, which may compile", [event("pipeline", 1, 3), event("shader", 2, 6)], [], 33, 9, {}, {"GBuffer": (40, 10)}, "unknown",
             "cannot tell: GBuffer and the CPU both took longer; 6 shaders made in it"),
            ("a pass, while another thread made shaders", [event("pipeline", 28, 3)], [call("pipeline", 28, "loader")], 3, 39, {}, {"GBuffer": (40, 10)}, "pass", "GBuffer 8.00 -> 40.0 ms, same draws"),
        )
        for what, events, calls, work, wait, more, passes, cause, words, *after in cases:
            with self.subTest(what):
                after = [*after, {}, {}]
                usual = {"thread_ns": 3 * MS, "wait_ns": 9 * MS}
                frames = [(14, {"Shadows/Cascade 0": (2, 10), "GBuffer": (8, 10), "UI": (1, 10)},
                           {**usual, "events": [event("upload", 4.9, 1, 64), event("acquire", 2)], "calls": [call("acquire", 2)]}) for _ in range(100)]
                elsewhere = {c["kind"] for c in calls if c["thread"] != "main"}
                for e in events:
                    e.setdefault("own_ns", 0 if e["kind"] in elsewhere or e["kind"] == "fence" else e["ns"])
                frames[61][2].update(after[0])
                frames[62][2].update(after[1])
                frames[60] = (44, {**frames[0][1], **passes}, {"thread_ns": work * MS, "wait_ns": wait * MS, "events": [*events, event("acquire", 2)],
                                                               "calls": [*calls, call("acquire", 2)], **more})
                lines = log_of(frames)
                lines[1]["api"] = "vulkan"
                slow = next(line for line in lines if line.get("frame") == 60)
                for one, ms in zip(slow["passes"], (0, 0.5, 30)):
                    one["cpu_start_ns"] = at + int(ms * MS)
                got = self.answers(lines)[0]["hitches"]
                self.assertEqual([(h["frame"], h["cause"]) for h in got["worst"]], [(60, cause)], got)
                self.assertTrue(got["worst"][0]["text"].endswith(f"ms, {words}") or (words == "a wait" and "ms, a wait" in got["worst"][0]["text"]), got["worst"][0]["text"])

    def test_first_pass(self):
        """A pass runs for the first time in a hitch, or it did in a frame that was left out."""
        for loading, words in (({"GBuffer": 8}, " (first of UI)"), ({"GBuffer": 8, "UI": 1}, "")):
            frames = [(14 if i else 900, {"GBuffer": 8} if i else loading, {"thread_ns": 3 * MS, "wait_ns": 9 * MS}) for i in range(100)]
            frames[60] = (44, {"GBuffer": 8, "UI": 1}, {"thread_ns": 3 * MS, "wait_ns": 9 * MS})
            worst = self.answers(log_of(frames))[0]["hitches"]["worst"]
            self.assertEqual([h["text"] for h in worst], [f"frame 60: +30.0 ms, a wait (sleep, lock, disk, other programs){words}"])

    def test_a_pass_over_the_run(self):
        """What the answer says of one pass stands first in `report --pass`: not what it says of others."""
        frames = [(14, {"Shadows/Cascade 0": (2, 10), "GBuffer": (2 if i < 100 else 9, 10), "UI": (1, 10)}, {}) for i in range(200)]
        for i, of in ((40, "UI"), (60, "GBuffer"), (80, "UI")):
            frames[i] = (14 + i, {**frames[i][1], of: (1 + i, 10)}, {})
        frames[100:] = [(21, *f[1:]) for f in frames[100:]]
        log = self.write_log("a.jsonl", log_of(frames))
        ui = "UI: named in 2 of 3 hitches, the worst frame 80: +80.0 ms, UI 1.00 -> 81.0 ms, or a wait of the CPU"
        buffer = ("GBuffer: makes frames from frame 100 on 1.5 times slower: 14.0 -> 21.0 ms; GBuffer 2.00 -> 9.00 ms, same draws; "
                  "named in 1 of 3 hitches, frame 60: +60.0 ms, GBuffer 2.00 -> 61.0 ms, same draws")
        for name, words in (("UI", [ui]), ("GBuffer", [buffer]), ("Shadows", [])):
            text = self.ok("report", "--pass", name, log).stdout.decode()
            said = " ".join(text[:text.index("\n\n")].split("\n", 1)[1].split())
            self.assertEqual(re.split(r"(?:; |^[^;:]+: )to find out", said)[0], " ".join(words), text)
            self.assertLess(text.index("to find out"), text.index("\n\npass"))
            self.assertLess(text.index("\n\npass"), text.index("\n\ndevice 0:"))
        # Of two devices: which one it is of.
        two = [(14, {"GBuffer": 8, "UI": 1}, {"device_number": i % 2}) for i in range(200)]
        for i in (80, 81):
            two[i] = (44, {"GBuffer": 38, "UI": 1}, {"device_number": i % 2})
        text = self.ok("report", "--pass", "GBuffer", self.write_log("b.jsonl", log_of(two, (0, 1)))).stdout.decode()
        self.assertEqual(re.findall(r"(?m)^GBuffer of device \d", text), ["GBuffer of device 0", "GBuffer of device 1"], text)

    def test_alternating(self):
        """Passes that only each 2nd, 3rd or 4th frame has; not by chance, and not of half of the run."""
        def run(passes, n=200, number=lambda i: i):
            return self.answers(log_of([(14, {"GBuffer": 8, **passes(i)}, {"number": number(i)}) for i in range(n)]))[0]

        cases = (
            (run(lambda i: {"Shadows/Cascade 0": 3} if i % 2 else {}), "every 2nd frame has Shadows/Cascade 0, 3.00 ms"),
            (run(lambda i: {"UI": 4 if i % 3 == 0 else 1}), "every 3rd frame has UI, 4.00 ms, the others 1.00 ms"),
            (run(lambda i: {"UI": 2, "Probe update": 3} if i % 4 == 1 else {}), "every 4th frame has Probe update, 3.00 ms"),
            (run(lambda i: {"UI": 3} if i % 2 and i > 80 else {}), "from frame 80 on every 2nd frame has UI, 3.00 ms"),
            (run(lambda i: {"UI": 3} if (i + i // 9) % 2 else {}, number=lambda i: i + i // 9), "every 2nd frame has UI, 3.00 ms"),
            (run(lambda i: {"UI": 3} if i % 2 and i > 120 else {}), "from frame 120 on every 2nd frame has UI, 3.00 ms"),
            (run(lambda i: {"UI": 4 if i % 3 == 0 and 60 <= i < 150 else 1}), "from frame 60 to 150 every 3rd frame has UI, 4.00 ms, the others 1.00 ms"),
            (run(lambda i: {"UI": 3} if i % 2 and i > 170 else {}), None),
            (run(lambda i: {"UI": 3} if i * i % 7 < 3 else {}), None),
            (run(lambda i: {"UI": 0.1} if i % 2 else {}), None),
            (run(lambda i: {"UI": 4 if i % 2 else 3}), None),
        )
        for answer, words in cases:
            self.assertEqual(answer.get("alternates"), words)
            self.assertEqual([line for line in answer["lines"] if " frame has " in line], [words] if words else [])

    def test_alternating_threads(self):
        """The same of the thread that ends frames: of its work, and of what it neither works nor waits for the driver."""
        sleep = [{"in": "clock_nanosleep", "n": 3, "ns": 11 * MS}]
        for frame_of, words in (
                (lambda i: (26, 15, None) if i % 2 else (14, 3, None), "every 2nd frame has CPU 15.0 ms, the others 3.00 ms"),
                (lambda i: (26, 15, None) if i % 3 == 0 and i > 60 else (14, 3, None), "from frame 63 on every 3rd frame has CPU 15.0 ms, the others 3.00 ms"),
                (lambda i: (26, 3, None) if i % 2 else (14, 3, None), "every 2nd frame has other waits 14.0 ms, the others 2.00 ms"),
                (lambda i: (26, 3, sleep if i > 20 else None) if i % 2 else (14, 3, None), "every 2nd frame has other waits (sleep: clock_nanosleep) 14.0 ms, the others 2.00 ms"),
                # A limiter sleeps less where the thread worked more.
                (lambda i: (17, 8 + 3 * (i % 2), None), None),
                (lambda i: (26, 15, None) if i * i % 7 < 3 else (14, 3, None), None)):
            with self.subTest(words):
                frames = [(ms, {"GBuffer": 8}, {"thread_ns": work * MS, "wait_ns": (17 - 13 if ms == 17 else 9) * MS, **({"asleep": asleep} if asleep else {})})
                          for ms, work, asleep in map(frame_of, range(200))]
                self.assertEqual(self.answer(frames).get("alternates"), words)
        # A sleep within a pass of OpenGL, which lasts until the program begins the next one.
        for slept, words in ((12, "every 2nd frame has other waits 13.0 ms, the others 1.00 ms"), (0, "every 2nd frame has GBuffer, 15.0 ms, the others 3.00 ms")):
            lines, start = [header(), device(api="opengl"), *(pass_info(IDS[n], n) for n in ("GBuffer", "UI"))], 10**9
            for i in range(200):
                ms, gpu, late = (22, 15, slept) if i % 2 else (10, 3, 0)
                lines.append(frame(i, [one_pass(0, IDS["GBuffer"], gpu * MS, "GBuffer", cpu_start_ns=start, gpu_start_ns=start + MS // 2),
                                       one_pass(1, IDS["UI"], MS, "UI", cpu_start_ns=start + (late + 2) * MS, gpu_start_ns=start + (gpu + 1) * MS)],
                                   start_ns=start, cpu_ns=ms * MS, thread_ns=3 * MS, wait_ns=(ms - 4 - late) * MS))
                start += ms * MS
            self.assertEqual(self.answers(lines + [end(200, 400)])[0].get("alternates"), words)

    def test_a_pass_that_is_new(self):
        """Nearly all frames have it from one on, or up to one; told where no change names it, and no other size takes its place."""
        grown, ui = {"GBuffer": 8}, {"UI": 0.9}
        at = lambda i, x, y, frame=120: x if i < frame else y
        cases = (
            ("new", lambda i: (14, grown | at(i, {}, ui)), "from frame 120 on UI 0.90 ms, new (6 % of the frame)"),
            ("gone", lambda i: (14, grown | at(i, ui, {})), "from frame 120 on UI 0.90 ms, gone (6 % of the frame)"),
            ("missing in a few frames", lambda i: (14, grown | (at(i, {}, ui) if i % 20 else {})), "from frame 121 on UI 0.90 ms, new (6 % of the frame)"),
            ("three, and one gone", lambda i: (14, grown | at(i, {"Probe update": 1}, {"UI": 2, "Bloom/Up": 1, "Bloom/Down": 0.1})),
             "from frame 120 on UI 2.00 ms, new (14 % of the frame), and 3 more"),
            ("two at different frames", lambda i: (14, grown | at(i, {}, ui) | at(i, {}, {"Bloom/Up": 1.4}, 200)), "from frame 200 on Bloom/Up 1.40 ms, new (10 % of the frame)"),
            ("too short", lambda i: (14, grown | at(i, {}, ui)), None),
            ("named by a change", lambda i: (at(i, 14, 17), grown | at(i, {}, {"UI": 3})), None),
            ("named by a change with all below its label", lambda i: (at(i, 14, 17), grown | at(i, {}, {"Bloom/Up": 3})), None),
            ("beside a change", lambda i: (at(i, 14, 24), {"GBuffer": at(i, 8, 17), **at(i, {}, ui)}), "from frame 120 on UI 0.90 ms, new (4 % of the frame)"),
            ("in each second frame", lambda i: (14, grown | (at(i, {}, ui) if i % 2 else {})), None),
            ("in half of the frames", lambda i: (14, grown | (ui if 100 < i < 200 else {})), None),
            ("small", lambda i: (14, grown | at(i, {}, {"UI": 0.3})), None),
            # Planted: a pass of 2 ms of 26, twice the draws or pixels of one.
            ("with more draws", lambda i: (at(i, 14, 15), {"GBuffer": (8, 10), "UI": at(i, (1, 10), (2, 18))}), "from frame 120 on UI 1.00 -> 2.00 ms, 10 -> 18 draws (7 % of the frame)"),
            ("with fewer draws", lambda i: (at(i, 14, 13), {"GBuffer": (8, 10), "UI": at(i, (2, 18), (1, 10))}), "from frame 120 on UI 2.00 -> 1.00 ms, 18 -> 10 draws (8 % of the frame)"),
            ("longer without more draws", lambda i: (at(i, 14, 15), {"GBuffer": (8, 10), "UI": at(i, (1, 10), (2, 10))}), None),
            ("more draws in no more time", lambda i: (14, {"GBuffer": (8, 10), "UI": at(i, (2, 10), (2, 18))}), None),
            ("draws that go up and down", lambda i: (at(i, 14, 15), {"GBuffer": (at(i, 3, 4), at(i, 10, 15) + i // 16 * 5 % 8)}), None),
            ("at the end", lambda i: (14, grown | at(i, {}, ui, 285)), None),
            ("at the start", lambda i: (14, grown | at(i, {}, ui, 10)), None),
        )
        for what, one, words in cases:
            with self.subTest(what):
                answer = self.answer([(*one(i), {}) for i in range(130 if what == "too short" else 300)])
                self.assertEqual(answer.get("presence"), words)
                self.assertEqual([line for line in answer["lines"] if line.startswith("from frame ") and " times " not in line and " every " not in line], [words] if words and len(words) <= 80 else [words[:words.index(",") + 1]] if words else [])
        # At another size it is not new.
        lines, start = [header(), device()], 10**9
        lines += [pass_info(f"{k + 1:016x}", width=size, height=size, color=["RGBA8"]) for k, size in enumerate((256, 300))]
        for i in range(300):
            lines.append(frame(i, [one_pass(0, f"{1 + (i >= 150):016x}", 2 * MS)], start_ns=start, cpu_ns=14 * MS))
            start += 14 * MS
        self.assertIsNone(self.answers(lines + [end(300, 300)])[0].get("presence"))

    def test_what_the_process_did(self):
        """Process lines: who worked while a frame waited, a CPU that was not free, memory, the busiest thread."""
        usual = {"thread_ns": 3 * MS, "wait_ns": 9 * MS}

        def run(in_hitch=(), always=(), ready=0, resident=lambda i: 10**8, work=3, more=None, passes=(), ms=44, facts=(), every=7, no_cpu=None, wait=9, read=0, first=None):
            frames = [(14, {"GBuffer": (8, 10), "UI": 1}, {**usual, "wait_ns": wait * MS}) for _ in range(300)]
            frames[60] = (ms, {"GBuffer": (8, 10), "UI": 1, **dict(passes)}, {"thread_ns": work * MS, "wait_ns": wait * MS, **(more or {})})
            made, at = [], 10**9
            lines = log_of(frames)
            for line in lines:
                made.append(line)
                if line["type"] != "frame" or line["frame"] % every:
                    continue
                hit = line["frame"] - every < 60 <= line["frame"]  # the first line after the slow frame
                now = line["start_ns"] + line["cpu_ns"]
                threads = {name: share * (now - at) for name, share in always} | {"game": 0.3 * (now - at)}
                waited = {"Mesa-1": no_cpu} if no_cpu is not None else {}
                for name, ms, *without in in_hitch if hit else ():
                    threads[name] = threads.get(name, 0) + ms * MS
                    waited.update({name: ms for ms in without})
                made.append({"type": "process", "time_ns": now, "period_ns": now - at, "resident_bytes": int(resident(line["frame"])),
                             "ready_ns": ready * MS if hit else 0, **({"disk_bytes": read} if hit and read else {}),
                             "threads": [{"name": name, "cpu_ns": int(ns), **({"ends_frames": True} if name == "game" else {}), **({"main": True} if name == first else {}),
                                          **({"ready_ns": waited.get(name, 0) * MS if hit else 0} if waited else {})}
                                         for name, ns in sorted(threads.items(), key=lambda kv: -kv[1])]})
                at = now
            made[0]["program"] = "/usr/bin/app"
            made[1].update({"api": "vulkan", "name": "Mesa (of software)", **({"facts": facts} if facts else {})})
            return self.answers(made)[0]
        elsewhere = {"events": [{"kind": "pipeline", "n": 1, "ns": 28 * MS}]}

        def asleep(call, *others, ms=20, **what):
            return {"asleep": [{"in": call, "n": 9, "ns": int(ms * MS), **what},
                               *({"in": other, "n": 9, "ns": int(ns * MS)} for other, ns in others)]}
        cases = (
            ("nobody", run(), "a wait (sleep, lock, disk, other programs)"),
            ("a thread that is idle else", run([("loader", 28)]), "a wait; meanwhile loader worked 28.0 ms"),
            # A judge's: the first thread has the process's name, as threads of lavapipe do.
            ("the first thread", run([("app", 28)], first="app", no_cpu=0, facts=["Vulkan 1.3, the CPU"]), "a wait; meanwhile the main thread worked 28.0 ms"),
            # A stranger's, for a semaphore on a busy machine, and for a thread that read a file.
            ("a thread that worked when it had a CPU", run([("loader", 12, 14)]), "a wait; meanwhile loader worked 12.0 ms, and had no CPU for 13.6 ms"),
            ("a thread that hardly worked, and had no CPU", run([("loader", 5, 24)]), "a wait (sleep, lock, disk, other programs)"),
            ("for a thread that read a file", run(read=9 * 10**6, more=asleep("futex")), "a wait (lock, or another thread: futex); meanwhile 9 MB read from a disk on other threads"),
            ("for a thread that read a file and worked", run([("loader", 12, 14)], read=9 * 10**6, more=asleep("futex")),
             "a wait (lock, or another thread: futex); meanwhile loader worked 12.0 ms, and had no CPU for 13.6 ms, and 9 MB read from a disk on other threads"),
            ("while another thread read a little", run(read=2 * 10**6, more=asleep("futex")), "a wait (lock, or another thread: futex)"),
            ("its own file, and no other", run(read=18 * 10**6, more={"disk_bytes": 18 * 10**6, **asleep("futex")}), "a wait (lock, or another thread: futex); meanwhile 18 MB read from a disk"),
            ("in a file on a slow disk", run(more={**asleep("pread64", of="file", ms=2), "disk_bytes": 5 * 10**6}, ready=10, work=14), "5 MB read from a disk"),
            ("in a sleep, and in a file on a slow disk", run(more={**asleep("clock_nanosleep"), "disk_bytes": 5 * 10**6}), "a wait (sleep: clock_nanosleep); meanwhile 5 MB read from a disk"),
            ("in a sleep", run(more=asleep("clock_nanosleep")), "a wait (sleep: clock_nanosleep)"),
            ("for a lock of a thread that works", run([("loader", 28)], more=asleep("futex", thread="loader")), "a wait (for loader: futex); meanwhile loader worked 28.0 ms"),
            ("for a lock of a thread in a file", run(more=asleep("futex", thread="loader", other_in="fsync", other_of="file")), "a wait (for loader, in file: fsync)"),
            ("for a lock of a thread that waits for work", run(more=asleep("futex", thread="loader", other_in="poll")), "a wait (for loader, in poll)"),
            *((f"for a lock of a thread in {call}", run(more=asleep("futex", thread="loader", other_in=call)), "a wait (for loader: futex)") for call in ("futex", "running")),
            ("for a lock", run(more=asleep("futex")), "a wait (lock, or another thread: futex)"),
            ("for a lock, while the main thread sleeps", run(more=asleep("futex", other_in="clock_nanosleep")), "a wait (lock, or another thread: futex; main thread in sleep: clock_nanosleep)"),
            ("for a lock, while the main thread reads", run(more=asleep("futex", other_in="read", other_of="file")), "a wait (lock, or another thread: futex; main thread in file: read)"),
            *((f"for a lock, while the main thread is in {call}", run(more=asleep("futex", other_in=call, **({"other_of": of} if of else {}))), "a wait (lock, or another thread: futex)")
              for call, of in (("poll", None), ("futex", None), ("running", None), ("read", "pipe"), ("recvmsg", "socket"))),
            ("in a file", run(more=asleep("pread64", of="file")), "a wait (file: pread64)"),
            ("in a call without a name", run(more=asleep("syscall 451")), "a wait (syscall 451)"),
            ("for a child that begins", run(more=asleep("vfork")), "a wait (another process: vfork)"),
            ("in poll, of who knows what", run(more=asleep("poll")), "a wait (poll)"),
            ("in a device, of Wine for one", run(more=asleep("ioctl", of="device")), "a wait (device: ioctl)"),
            ("in two", run(more=asleep("poll", ("fsync", 12), ("read", 15))), "a wait (poll 20.0 ms; read 15.0 ms)"),
            ("in one, and little in another", run(more=asleep("poll", ("fsync", 2.9))), "a wait (poll)"),
            ("for a lock, in Vulkan, as long as the passes took", run(more=asleep("futex", ms=15)), "a wait (lock, or another thread: futex)"),
            ("as in each frame, or at a limiter", run(wait=1, more=asleep("clock_nanosleep", ms=9.9)), "a wait (sleep: clock_nanosleep, or before it)"),
            ("seen once, as in each frame, or at a limiter", run(wait=1, more=asleep("poll", ms=4, n=1)), "a wait (sleep, lock, disk, other programs)"),
            ("seen once too late", run(more=asleep("poll", ms=7, n=1)), "a wait (sleep, lock, disk, other programs)"),
            ("seen once in a sleep that is longer", run(more=asleep("clock_nanosleep", ms=2, n=1, asked_ns=25 * MS)), "a wait (sleep: clock_nanosleep)"),
            ("seen once in a sleep that is not longer than what it idled", run(more=asleep("clock_nanosleep", ms=2, n=1, asked_ns=3000 * MS)), "a wait (sleep: clock_nanosleep)"),
            ("seen once in a sleep, too late", run(more=asleep("clock_nanosleep", ms=7, n=1)), "a wait (sleep: clock_nanosleep 7.00 ms, or before it)"),
            ("seen late, as in each frame, or at a limiter", run(wait=1, more=asleep("clock_nanosleep", ms=4)), "a wait (sleep: clock_nanosleep, or before it)"),
            ("in a pipe, for no longer than frames may sleep", run(wait=1, more=asleep("read", of="pipe", ms=9.9)), "a wait (pipe: read)"),
            ("in a sleep, and in a file", run(more={**asleep("clock_nanosleep"), "disk_bytes": 18 * 10**6}), "a wait (sleep: clock_nanosleep); meanwhile 18 MB read from a disk"),
            ("in a file", run(more={**asleep("read", of="file"), "disk_bytes": 18 * 10**6}), "18 MB read from a disk"),
            # A judge's: first for a thread that worked.
            ("in a file, and for another thread", run([("anim", 28)], more={"asleep": [{"in": "read", "of": "file", "n": 9, "ns": 14 * MS}, {"in": "futex", "n": 9, "ns": 9 * MS}], "disk_bytes": 18 * 10**6}),
             "18 MB read from a disk, and a wait (lock, or another thread: futex); meanwhile anim worked 28.0 ms"),
            ("in a sleep, while no CPU was free", run(ready=25, every=1, more=asleep("clock_nanosleep")), "a wait (sleep: clock_nanosleep)"),
            ("in a file, after work, on a busy machine", run(ready=10, work=14, more=asleep("fsync", of="file", ms=12)), "a wait (file: fsync), and the CPU worked 11.0 ms"),
            ("in passtally's wait for a driver", run(more={**asleep("futex"), "overhead_ns": 15 * MS}), "a wait (sleep, lock, disk, other programs); passtally itself 15.0 ms"),
            ("in a sleep, and in the driver", run(more={**asleep("clock_nanosleep", ms=18), "wait_ns": 20 * MS}), "a wait (sleep: clock_nanosleep), and a wait in driver calls"),
            ("in a sleep, after it took memory", run(work=14, more={**asleep("clock_nanosleep"), "minor_faults": 12000}), "a wait (sleep: clock_nanosleep), and the CPU worked 11.0 ms, with 12000 page faults (new memory)"),
            ("seen too late", run(more=asleep("poll", ms=7)), "a wait (poll 7.00 ms, or before it)"),
            ("seen once", run(more=asleep("poll", ms=2)), "a wait (sleep, lock, disk, other programs)"),
            ("in a file that no frame usually writes, seen late", run(more=asleep("unlink", ms=8)), "a wait (unlink)"),
            # A stranger's, on a busy machine: what is seen is named beside other causes, too.
            ("in two, a quarter together", run(more=asleep("poll", ("read", 4), ms=5)), "a wait (poll 5.00 ms; read 4.00 ms)"),
            ("in a file, while no CPU was free for long", run(ready=25, every=1, more=asleep("read", of="file", ms=8)), "a wait (file: read): no CPU was free for up to 25.0 ms"),
            ("in a file, after much work, on a busy machine", run(ready=10, work=22, more=asleep("fsync", of="file", ms=5)), "the CPU, and a wait (file: fsync)"),
            ("in a file, after work and a pass", run(ready=10, work=14, passes=[("GBuffer", (16, 10))], more=asleep("fsync", of="file", ms=5)),
             "the CPU worked 11.0 ms, and GBuffer 8.00 -> 16.0 ms, same draws, and a wait (file: fsync)"),
            ("for a lock, after shaders, on a busy machine", run(ready=10, work=21, more={**asleep("futex", thread="loader", ms=5), "events": [{"kind": "first_draw", "n": 1, "ns": 18 * MS, "own_ns": 18 * MS}]}),
             "1 shader made, 18.0 ms, and a wait (for loader: futex), or no CPU"),
            ("in a sleep, after work", run(ready=3, work=22, more=asleep("clock_nanosleep")), "the CPU, and a wait (sleep: clock_nanosleep)"),
            ("too little", run([("loader", 12)]), "a wait (sleep, lock, disk, other programs)"),
            ("as it always works", run(always=[("physics", 0.9)]), "a wait (sleep, lock, disk, other programs)"),
            ("the thread that ends frames", run([("game", 28)]), "a wait (sleep, lock, disk, other programs)"),
            ("the driver's", run([("Mesa-1", 28)]), "a wait (sleep, lock, disk, other programs)"),
            ("no free CPU", run(ready=25, every=1), "a wait: no CPU was free for up to 25.0 ms"),
            # Planted: a lock, on a busy machine.
            ("no free CPU, or the thread that had it is waited for", run([("loader", 28)], ready=25, every=1), "a wait (sleep, lock, disk), or no CPU was free for up to 25.0 ms"),
            # Planted: a sleep of 14 ms in the tenth of a second in which other frames had no CPU.
            ("no free CPU in that frame or in others", run(ready=25), "a wait (sleep, lock, disk), or no CPU was free for up to 25.0 ms"),
            ("the thread worked itself", run([("loader", 28)], work=33), "the CPU"),
            ("it worked, and had no CPU", run(ready=18, work=14), "the CPU; no CPU was free for up to 17.4 ms"),
            ("it took memory, and had no CPU", run(ready=18, work=14, more={"minor_faults": 12000}), "12000 page faults (new memory); no CPU was free for up to 17.4 ms"),
            ("it worked, and slept", run(ready=5, work=14), "a wait (sleep, lock, disk), and the CPU worked 11.0 ms"),
            # Planted: an fsync on a busy machine.
            ("it worked, and slept or had no CPU", run(ready=14, work=11), "a wait (sleep, lock, disk), or no CPU was free for up to 13.6 ms, and the CPU worked 8.00 ms"),
            ("it worked, and slept, of it in the kernel", run(ready=5, work=14, more={"kernel_ns": 11 * MS}), "a wait (sleep, lock, disk), and the CPU worked 11.0 ms, all of it in the kernel"),
            ("passtally waited", run(more={"overhead_ns": 26 * MS}), "passtally itself"),
            ("passtally, or no free CPU", run(ready=25, more={"overhead_ns": 26 * MS}), "a wait (sleep, lock, disk), or no CPU was free for up to 25.0 ms"),
            ("it worked more, and slept", run(ready=3, work=22), "the CPU, and a wait (sleep, lock, disk)"),
            ("a pass of a software driver that worked for it", run([("Mesa-1", 40)], passes=[("GBuffer", (38, 10))]), "GBuffer 8.00 -> 38.0 ms, same draws"),
            ("a pass of one that had a CPU for less than half of it", run([("Mesa-1", 4)], passes=[("GBuffer", (38, 10))]), "cannot tell: GBuffer took longer, or its driver had no CPU"),
            # Planted: six threads that nobody waited for, a copy on a driver without a thread of its name, a dispatch.
            # A stranger's: the sampling came late, and the driver hardly worked; and one that always works, half of it in the frame.
            ("a pass, and a late line without a thread", run(passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], every=60), "cannot tell: GBuffer took longer, or its driver had no CPU"),
            ("a pass of a driver that works all the time", run([("Mesa-1", 24)], passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.7)], every=2), "GBuffer 8.00 -> 38.0 ms, same draws"),
            ("a pass while another thread had the CPUs", run([("bake", 40)], always=[("Mesa-1", 0.1)], passes=[("GBuffer", (38, 10))]), "cannot tell: GBuffer took longer, or its driver had no CPU"),
            # Planted, where it is logged how long the driver's threads had no CPU: other programs, a stopped X server, pixels beside other programs.
            ("a pass of one that had no CPU", run(passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], no_cpu=25), "a wait: no CPU was free for up to 25.0 ms"),
            ("a pass in which nobody worked or had no CPU", run(passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], no_cpu=2), "a wait in GBuffer (sleep, lock, disk, other programs)"),
            ("a pass of one that had no CPU for a part", run(passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], no_cpu=10), "cannot tell: GBuffer took longer, or its driver had no CPU"),
            ("no CPU for as long as the frame's own thread did not work", run(passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], no_cpu=60, work=9), "a wait: no CPU was free for up to 35.0 ms"),
            ("a pass, by a thread that never works, as far as is known", run(passes=[("GBuffer", (38, 10))], no_cpu=0, facts=["Vulkan 1.3, the CPU"]), "cannot tell: GBuffer took longer, or its driver had no CPU"),
            ("a pass of one that worked as long as it had no CPU", run([("Mesa-1", 16)], passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.4)], no_cpu=40), "GBuffer 8.00 -> 38.0 ms, same draws"),
            ("a pass of one that worked for a part of it, and had no CPU", run([("Mesa-1", 4)], passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.2)], no_cpu=40), "cannot tell: GBuffer took longer, or its driver had no CPU"),
            ("a pass of one that had no CPU, for two thirds of it", run(passes=[("GBuffer", (28, 10))], always=[("Mesa-1", 0.1)], no_cpu=25), "a wait (sleep, lock, disk), or no CPU was free for up to 25.0 ms; meanwhile GBuffer 8.00 -> 28.0 ms, same draws"),
            ("a pass of one that had no CPU, for two thirds of it, and was waited for", run(passes=[("GBuffer", (28, 10))], always=[("Mesa-1", 0.1)], no_cpu=25, more={"wait_ns": 35 * MS}), "a wait: no CPU was free for up to 25.0 ms"),
            ("a pass of one whose threads are not among the five that are listed", run([(name, 30) for name in "abcde"], passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], no_cpu=2), "cannot tell: GBuffer took longer, or its driver had no CPU"),
            # Planted: a sleep beside one more draw.
            ("a pass of more draws, in which nobody worked", run(passes=[("GBuffer", (38, 20))], always=[("Mesa-1", 0.1)], no_cpu=2), "a wait in GBuffer (sleep, lock, disk, other programs)"),
            ("a pass of more draws, in which its thread waited for the driver", run(passes=[("GBuffer", (38, 20))], always=[("Mesa-1", 0.1)], no_cpu=2, more={"wait_ns": 30 * MS}), "GBuffer 8.00 -> 38.0 ms, 10 -> 20 draws"),
            # Planted beside a compile on another thread: a sleep; the driver had no CPU; pixels.
            ("a pass and calls elsewhere, and nobody of the driver worked", run(passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], no_cpu=2, more=elsewhere), "a wait in GBuffer; meanwhile 1 shader made, 28.0 ms"),
            ("a pass and calls elsewhere, and no CPU", run(passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], no_cpu=25, more=elsewhere), "a wait: no CPU was free for up to 25.0 ms; meanwhile 1 shader made, 28.0 ms"),
            ("a pass and calls elsewhere, and the driver worked", run([("Mesa-1", 28)], passes=[("GBuffer", (38, 10))], always=[("Mesa-1", 0.1)], no_cpu=2, more=elsewhere), "cannot tell: GBuffer took longer; meanwhile 1 shader made, 28.0 ms"),
            ("a pass on the CPU, which no thread worked for", run(passes=[("GBuffer", (38, 10))], facts=["Vulkan 1.3, the CPU"]), "cannot tell: GBuffer took longer, or its driver had no CPU"),
            ("a pass on the CPU, by threads without a name", run([("app", 40)], passes=[("GBuffer", (38, 10))], facts=["Vulkan 1.3, the CPU"]), "GBuffer 8.00 -> 38.0 ms, same draws"),
            ("a call within the time of a pass", run(passes=[("GBuffer", (38, 10))], work=31, facts=["Vulkan 1.3, the CPU"],
                                                     more={"events": [{"kind": "first_draw", "n": 1, "ns": 28 * MS, "own_ns": 28 * MS}]}), "1 shader made, 28.0 ms"),
            ("calls for half of it, and no CPU, maybe within them", run(ready=10, work=21, more={"events": [{"kind": "first_draw", "n": 1, "ns": 18 * MS, "own_ns": 18 * MS}]}), "1 shader made, 18.0 ms, and a wait, or no CPU"),
            ("a driver's wait", run([("loader", 28)], more={"wait_ns": 39 * MS}), "a wait in driver calls; meanwhile loader worked 28.0 ms"),
            ("a driver's wait, and it had no CPU", run(always=[("Mesa-1", 0.1)], no_cpu=25, more={"wait_ns": 39 * MS}), "a wait in driver calls: no CPU was free for up to 25.0 ms"),
        )
        for what, got, words in cases:
            self.assertEqual([h["text"] for h in got["hitches"]["worst"]], [f"frame 60: +30.0 ms, {words}"], what)
        # A stranger's: new memory, and what is copied to it.
        for events, words in (([("memory", 135, 0.02)], ""), ([("upload", 64, 4)], "upload of 64 MB, 4.00 ms"),
                              ([("memory", 135, 0.02), ("pipeline", 0, 4)], "1 shader made, 4.00 ms")):
            made = [{"kind": kind, "n": 1, "ns": int(t * MS), "own_ns": int(t * MS), **({"bytes": mb * MS} if mb else {})} for kind, mb, t in events]
            got = run(ready=1, work=14, passes=[("Probe update", (13, 0))], more={"events": made})
            self.assertEqual(got["hitches"]["worst"][0]["text"], "frame 60: +30.0 ms, Probe update 13.0 ms, its first use, "
                             "and the CPU worked 11.0 ms" + (words and f"; of it {words}"))
        # 60 ms of work, which alone would be a hitch, in 300 ms.
        for ready, words in ((240, "the CPU; no CPU was free for up to 240 ms"), (10, "a wait (sleep, lock, disk, other programs), and the CPU worked 59.0 ms"),
                             (170, "a wait (sleep, lock, disk), or no CPU was free for up to 170 ms, and the CPU worked 59.0 ms"),
                             (90, "a wait (sleep, lock, disk), or no CPU was free for up to 90.0 ms, and the CPU worked 59.0 ms")):
            self.assertEqual(run(ready=ready, work=62, ms=314)["hitches"]["worst"][0]["text"], f"frame 60: +300 ms, {words}")
        # A stranger's: a lock, and shaders, all of that work.
        got = run(ready=10, work=62, ms=314, more={"events": [{"kind": "pipeline", "n": 1, "ns": 40 * MS, "own_ns": 40 * MS}]})
        self.assertEqual(got["hitches"]["worst"][0]["text"], "frame 60: +300 ms, a wait (sleep, lock, disk, other programs), and the CPU worked 59.0 ms; of it 1 shader made, 40.0 ms")
        # Less than a fifth of it, but seen.
        self.assertEqual(run(work=54, ms=74, more=asleep("fsync", of="file", ms=6))["hitches"]["worst"][0]["text"], "frame 60: +60.0 ms, the CPU, and a wait (file: fsync)")
        # 20 ms of work would be a hitch, but are hardly any of it.
        self.assertEqual(run(ready=270, work=22, ms=314)["hitches"]["worst"][0]["text"], "frame 60: +300 ms, a wait: no CPU was free for up to 270 ms")
        # The driver worked by 20 ms more: what it could have done in a tenth of what was lost.
        self.assertEqual(run([("Mesa-1", 20)], passes=[("GBuffer", (308, 10))], ms=314)["hitches"]["worst"][0]["text"],
                         "frame 60: +300 ms, cannot tell: GBuffer took longer, or its driver had no CPU")
        self.assertEqual(run([("loader", 28)])["hitches"]["worst"][0]["thread"], "loader")
        for share, words in ((0.2, None), (0.5, "  busiest other thread: dxvk-cs, 50 % of the time"),
                             (0.95, "  thread dxvk-cs works 95 % of the time: it may be what frames wait for")):
            got = run(always=[("dxvk-cs", share)])
            self.assertEqual([line for line in got["lines"] if "dxvk-cs" in line], [words] if words else [], got["lines"])
        # A driver on the CPU that had none for half of what it worked; for less; while the program's other threads may have had it.
        for no_cpu, own, words in ((2500, 0, "  the driver's threads worked 2.08 s and had no CPU for 2.50 s: busy machine?"), (2200, 0, None), (2500, 0.2, None)):
            got = run(always=[("Mesa-1", 0.5), ("bake", own)], no_cpu=no_cpu)
            self.assertEqual([line for line in got["lines"] if "had no CPU" in line], [words] if words else [], got["lines"])
        for resident, words in ((lambda i: 10**8 + 2 * 10**6 * i, "the program's memory grows all the time: 170 -> 618 MB"),
                                (lambda i: 10**8 + 10**8 * (i > 90), None), (lambda i: 10**8 + 10**4 * i, None)):
            self.assertEqual(run(resident=resident).get("memory"), words)

    def test_clock_and_memory(self):
        """What the GPU did meanwhile: its clock beside a change, memory that grows all the time."""
        def run(clock, memory, held=lambda i: 0):
            return self.answer([(6 if i < 150 else 10, {"GBuffer": 4 if i < 150 else 7.9}, {"metrics": {
                "gpu_clock": clock(i), "gpu_process_memory": memory(i), "gpu_throttled": held(i)}}) for i in range(300)])
        steady, lower = lambda i: 1800, lambda i: 1800 if i < 150 else 900
        for clock, held, words in ((steady, lambda i: 0, "same draws"), (lower, lambda i: 0, "same draws, GPU clock 1800 -> 900 MHz"),
                                   (lower, lambda i: 2 * (i >= 150), "same draws, GPU clock 1800 -> 900 MHz, held down"),
                                   (lambda i: 2700 - lower(i), lambda i: 0, "same draws")):
            self.assertTrue(run(clock, lambda i: 10**9, held)["changes"][0]["text"].endswith(words), words)
        for memory, words in ((lambda i: 10**9, None), (lambda i: 3 * 10**8 + i * 10**6, "the program's GPU memory grows all the time: 337 -> 562 MB"),
                              (lambda i: 3 * 10**8 + 10**8 * (i > 90), None), (lambda i: 3 * 10**8 + i * 10**4, None),
                              # Planted: 1 MB a frame from the middle on. Loading in steps is none, nor what ended.
                              (lambda i: 3 * 10**8 + max(0, i - 140) * 10**6, "from about frame 141 on the program's GPU memory grows all the time: 300 -> 431 MB"),
                              (lambda i: 3 * 10**8 + 6 * 10**7 * ((i > 170) + (i > 250)), None), (lambda i: 3 * 10**8 + min(max(0, i - 60), 120) * 10**6, None)):
            got = run(steady, memory)
            self.assertEqual((got.get("memory"), (words or " MB") in " ".join(got["lines"]).replace("   ", " ")), (words, bool(words)))

    def test_memory_by_calls(self):
        """Without a gauge of the GPU's memory its growth is that of what was allocated and not freed."""
        def run(live, gauge):
            return self.answer([(6, {"GBuffer": 4}, {**({"metrics": {"gpu_process_memory": 10**9}} if gauge else {}), **({"events": [
                {"kind": "memory", "n": 1, "ns": 5000, "bytes": 10**6, "live": live(i)}]} if live(i) else {})}) for i in range(300)])
        words = "the program's GPU memory grows all the time: 40 -> 265 MB"
        for live, gauge, want in ((lambda i: 3 * 10**6 + i * 10**6, False, words), (lambda i: 3 * 10**6 + i * 10**6, True, None),
                                  (lambda i: (i % 10 == 0) * (8 + i) * 10**6, False, "the program's GPU memory grows all the time: 38 -> 268 MB"),
                                  (lambda i: 10**8 * (i == 0), False, None), (lambda i: (10 + i % 50) * 10**6, False, None)):
            self.assertEqual(run(live, gauge).get("memory"), want)

    def test_a_programs_first_frame_is_no_hitch(self):
        for options, number, n in (({}, 0, 0), ({"skip": "10"}, 0, 1), ({"black-box": "2s"}, 400, 1)):
            lines = log_of([(22 if i == 0 else 14, {"GBuffer": 8}, {"number": number + i}) for i in range(100)])
            lines[0]["options"] = options
            self.assertEqual(self.answers(lines)[0]["hitches"]["n"], n)

    def test_sums_and_period(self):
        frames = [(14, {"GBuffer": (8, 10), "UI": 1}, {"thread_ns": 3 * MS, "wait_ns": 9 * MS}) for _ in range(600)]
        for k in range(5):
            frames[100 * k + 50] = (44, frames[0][1], {"thread_ns": 33 * MS, "wait_ns": 9 * MS})
        frames[551] = (44, {"GBuffer": (38, 10), "UI": 1}, {"thread_ns": 3 * MS, "wait_ns": 39 * MS})
        got = self.answer(frames)
        self.assertEqual(got["hitches"]["causes"], [{"what": "the CPU", "n": 5}, {"what": "GBuffer", "n": 1}])
        self.assertEqual(got["hitches"]["period_frames"], 100)
        at = got["lines"].index("hitches: 6, 180 ms, up to 30.0 ms, about every 100 frames: 5 the CPU, 1 GBuffer")
        self.assertEqual(re.findall(r"frame (\d+)", " ".join(got["lines"][at:])), ["50", "150", "250", "350", "450", "551"])

    def test_a_burst_has_no_period(self):
        frames = [(14, {"GBuffer": 8}, {}) for _ in range(200)]
        frames[60:64] = [(44, {"GBuffer": 8}, {})] * 4
        got = self.answer(frames)["hitches"]
        self.assertEqual((got["n"], got.get("period_frames")), (4, None))

    def test_missing_times_and_long_passes(self):
        """Times of some passes are not none; a pass that ends in the next frame makes no 101 %."""
        got = self.answers(log_of([(14, {"GBuffer": 2, "UI": None}, {}) for _ in range(99)]))[0]
        self.assertEqual(got["bound"]["text"], "bound by: cannot tell, GPU times are missing in 99 of 99 frames")
        self.assertEqual(self.answer([(14, {"GBuffer": 14.2}, {}) for _ in range(99)])["bound"]["gpu_busy"], 1)

    def test_the_largest_changes(self):
        frames = [(8 * 2**k, {"GBuffer": 3}, {}) for k in (0, 1, 2, 7, 6) for _ in range(100)]
        lines = self.answer(frames)["lines"]
        self.assertIn("32.0 times slower", "".join(lines))
        self.assertEqual(re.findall(r"from frame (\d+) on [\d.]* times|(1 more change of speed)", "".join(lines)), [("100", ""), ("200", ""), ("300", ""), ("", "1 more change of speed")])
        wide = self.ok("report", "--wide", self.write_log("b.jsonl", log_of(frames))).stdout.decode()
        self.assertEqual(re.findall(r"(?m)^from frame (\d+) on .*(?:slower|faster)", wide), ["100", "200", "300", "400"])
        self.assertNotIn("more change", wide)
        # That of which something is known, before a larger one.
        frames = [(8 * 2**k, {"GBuffer": 3 + 12 * (k > 4)}, {}) for k in (5, 0, 1) for _ in range(100)]
        frames += [(28, {"GBuffer": 15}, {})] * 100
        lines = self.answer(frames)["lines"]
        self.assertRegex("".join(lines), "from frame 300 on 1.8 times slower: 16.0 -> 28.0 ms;  *GBuffer 3.00 -> 15.0 ms")
        # What made it slower, before a larger one after which it is faster.
        frames = [(ms, {"GBuffer": ms - 6, "UI": 0.1 * ms}, {}) for ms in (8, 24, 7, 14, 28) for _ in range(100)]
        lines = self.answer(frames)["lines"]
        self.assertRegex("".join(lines), "from frame 100 on 3.0 times slower: .*from frame 300 on 2.0 times slower: .*and 2 more changes of speed")
        # The GPU takes longer for all of the same work: that is no cause yet.
        frames = [(ms, {"GBuffer": gpu / 2, "UI": gpu / 2}, {}) for ms, gpu in ((8, 6), (10, 8), (8, 6), (10, 8), (24, 8)) for _ in range(100)]
        self.assertIn("from frame 400 on 2.4 times slower", "".join(self.answer(frames)["lines"]))
        # Two are told where there are many lines: passes, which the table has, make room.
        names = [f"{name} of the whole landscape {i}" for i, name in enumerate(("Shadows", "Terrain", "Water", "Bloom", "Copies"))]
        IDS.update({name: f"{100 + i:016x}" for i, name in enumerate(names)})
        self.addCleanup(lambda: [IDS.pop(name) for name in names])
        frames = [(ms, {name: ms / 12 if k else ms / 2 for k, name in enumerate(names)}, {}) for ms in (8, 16, 28, 14) for _ in range(100)]
        got = self.answers([{**line, "name": "a card"} if line["type"] == "device" else line for line in log_of(frames)])[0]["lines"]
        self.assertRegex("\n".join(got), r"(?s)from frame 100 on .*from frame 200 on .*\n  and 1 more change of speed.*\n  Shadows of the whole landscape 0 .*, 4 more .*\nhitches: none")

    def test_changes(self):
        """What changed over the run, before any median; noise, single slow frames and alternating ones are no change."""
        rand = random.Random(5)

        def run(n, frame):
            made = [frame(i) for i in range(n)]
            return self.answer([(ms * rand.uniform(0.97, 1.03), passes, {"thread_ns": int(work * MS), "wait_ns": MS}) for ms, passes, work in made])
        after = lambda i, x, y, at=151: x if i < at else y
        step = lambda i, *ms: ms[(i >= 388) + (i >= 412)]
        cases = (
            ("a pass, without more work", 300, lambda i: (after(i, 6, 10), {"GBuffer": 4, "Bloom/Up": after(i, 0.35, 4.4)}, 1),
             [(151, r"from frame 151 on 1.7 times slower: [56].\d\d -> (9.9\d|10.\d) ms; Bloom 0.35 -> 4.40 ms, same draws")]),
            ("a pass, with more work", 300, lambda i: (after(i, 6, 10), {"GBuffer": after(i, (2, 10), (6, 31))}, 1),
             [(151, "; GBuffer 2.00 -> 6.00 ms, 10 -> 31 draws")]),
            ("faster", 300, lambda i: (after(i, 10, 6), {"GBuffer": after(i, 6, 2)}, 1), [(151, "1.7 times faster: .*; GBuffer 6.00 -> 2.00 ms, same draws")]),
            ("all passes", 300, lambda i: (after(i, 8, 16), {"GBuffer": after(i, 3, 6), "UI": after(i, 3, 6)}, 1), [(151, "; GPU 6.00 -> 12.0 ms, same draws")]),
            ("the CPU", 300, lambda i: (after(i, 8, 16), {"GBuffer": 3}, after(i, 3, 11)), [(151, "; CPU 3.00 -> 11.0 ms")]),
            ("not what was measured", 300, lambda i: (after(i, 8, 16), {"GBuffer": 3}, 3), [(151, "; other waits 4.0. -> 12.. ms")]),
            ("there and back", 600, lambda i: (16 if 200 <= i < 400 else 8, {"GBuffer": 3}, 3), [(200, "2.0 times slower"), (400, "2.0 times faster")]),
            ("a slope", 800, lambda i: (8 + i / 50, {"GBuffer": 3}, 3), [(None, "gradually .* times slower")]),
            ("steps", 800, lambda i: (8 + 4 * (i // 160), {"GBuffer": 3 + 4 * (i // 160)}, 3), [(160 * k, f"GBuffer {4 * k - 1}.*0 -> {4 * k + 3}.*0 ms") for k in (1, 2, 3, 4)]),
            # Planted on a busy machine: another program slowed the frames down, until the pass did.
            ("a pass that grew elsewhere", 400, lambda i: (after(i, 6, 12, 130), {"GBuffer": after(i, 0.5, 7, 200)}, 1), [(130, "from frame 130 on 2.0 times slower: .*; other waits [34]... -> (9.9.|10..) ms$")]),
            ("a step, and a second that is not sure", 420, lambda i: (4.7 if i < 195 or (i % 9 < 2 if i < 310 else False) else 9.8 if i < 310 else 13.6 if i % 4 else 6, {"GBuffer": 2}, 3),
             [(195, "from frame 195 on 2.. times slower"), (310, "1.4 times slower")]),
            # Planted, and not told: the GPU's work grew for two seconds of four; a resolution that changed each 30 frames.
            ("a slope in the second half, with frames that overlap", 470, lambda i: ((4.2 + max(0, i - 320) * 0.033) * (1, 1.3, 0.7, 1, 1, 1.9, 0.4)[i % 7], {"GBuffer": 2 + max(0, i - 320) * 0.033}, 1),
             [(None, "from frame 3[12]. to 4[3-6]. gradually (1.[6-9]|2.[01]) times slower: .*; GBuffer 2... -> [56]... ms, same draws")]),
            ("up and down", 420, lambda i: (after(i, 20, (20, 15, 9)[i // 30 % 3], 270), {"GBuffer": after(i, 18, (18, 13, 7)[i // 30 % 3], 270)}, 1),
             [(300, "1.3 times faster: .*; GBuffer 18.0 -> 13.0"), (330, "1.7 times faster"), (360, "2.2 times slower"), (390, "1.3 times faster")]),
            ("all passes, one of which is seldom", 300, lambda i: (after(i, 8, 16), {"GBuffer": after(i, 3, 6), "UI": after(i, 3, 6)} | ({"Bloom/Up": (1, 90)} if i == 60 else {}), 1),
             [(151, "; GPU 6.00 -> 12.0 ms, same draws")]),
            ("a pass that is new", 300, lambda i: (after(i, 6, 12), {"GBuffer": 2} | ({"Bloom/Up": 6} if i >= 140 else {}), 1), [(None, "; Bloom 6.00 ms, new")]),
            ("8000 frames, of which blocks are made", 8000, lambda i: (after(i, 6, 10, 3008), {"GBuffer": after(i, 2, 6, 3008)}, 1), [(3008, "GBuffer 2.00 -> 6.00")]),
            # Planted in a program with two frames in flight: each 9th of the slow ones, and the next, took a part of one another's time.
            ("a step, with frames that overlap", 440, lambda i: (after(i, 3.4, {0: 0.3, 1: 29}.get(i % 9, 15), 220), {"GBuffer": after(i, 2, 13, 220)}, 1), [(None, "GBuffer 2.00 -> 13.0 ms")]),
            ("a little faster while every other frame is long", 400, lambda i: (after(i, (9.1, 22), (8.9, 20.8), 206)[i % 2], {"GBuffer": 3}, 3), []),
            ("14 %", 300, lambda i: (after(i, 10, 11.4), {"GBuffer": 3}, 3), []),
            ("at the end", 300, lambda i: (after(i, 8, 16, 285), {"GBuffer": 3}, 3), [(285, "^from frame 285 on 2.0 times slower")]),
            ("too short", 300, lambda i: (after(i, 8, 16, 290), {"GBuffer": 3}, 3), []),
            ("noise", 600, lambda i: (8 * rand.uniform(0.5, 2), {"GBuffer": 3}, 3), []),
            ("every other frame", 600, lambda i: (8 + 8 * (i % 2), {"GBuffer": 3}, 3), []),
            ("more slow frames later", 600, lambda i: (8 * (1 + (rand.random() < (0.1 if i < 300 else 0.2))), {"GBuffer": 3}, 3), []),
            # A stranger's: a resolution that changes, of passes without a label.
            ("a pass of three sizes, each in few frames", 300, lambda i: (after(i, 16, 10), {("GBuffer", "UI", "Probe update")[i // 5 % 3]: after(i, 14, 7), "Bloom/Up": after(i, 0.2, 0.9)}, 1),
             [(151, "faster: 16.. -> 10.. ms; GPU 14.2 -> 7.90 ms, same draws")]),
            ("a pass of another size, and the CPU", 300, lambda i: (after(i, 8, 16), {after(i, "GBuffer", "UI"): after(i, 4, 5)}, after(i, 3, 11)), [(151, "; CPU 3.00 -> 11.0 ms")]),
            ("a pass that has another name now, of less time", 300, lambda i: (after(i, 20, 11), {after(i, "GBuffer", "UI"): after(i, 18, 9)}, 1), [(151, "; GPU 18.0 -> 9.00 ms")]),
            ("a short stretch", 440, lambda i: (step(i, 8, 30, 10), {"GBuffer": step(i, 4, 26 if i < 404 else 22, 6)}, 1), [(None, "GBuffer 4.00 -> 2[46].0 ms"), (412, "GBuffer 2[46].0 -> 6.00 ms")]),
            ("a pass that was in most frames, and is in few of its sizes", 300, lambda i: (after(i, 16, 13), {"GBuffer" if i < 151 else ("UI", "GBuffer", "Probe update")[i // 5 % 3]: after(i, 12, 8)}, 1),
             [(151, "; GPU 12.0 -> 8.00 ms, same draws")]),
            ("a pass, while another has no times", 300, lambda i: (after(i, 8, 16), {"GBuffer": after(i, 4, 12), "UI": None}, 1), [(151, "GBuffer 4.00 -> 12.0 ms, same draws")]),
            ("a pass that few frames had", 300, lambda i: (after(i, 6, 12), {"GBuffer": 2} | ({"Bloom/Up": 6} if i >= 150 or i % 3 == 0 else {}), 1), [(None, "; Bloom 6.00 ms, seldom there before")]),
            ("a pass that is gone", 300, lambda i: (after(i, 12, 6), {"GBuffer": 2} | ({"Bloom/Up": 6} if i < 155 else {}), 1), [(None, "; Bloom 6.00 ms, gone$")]),
            ("a pass that few frames have", 300, lambda i: (after(i, 12, 6), {"GBuffer": 2} | ({"Bloom/Up": 6} if i < 151 or i % 4 == 0 else {}), 1), [(None, "; Bloom 6.00 ms, seldom there now$")]),
            ("another scene", 300, lambda i: (after(i, 8, 16), after(i, {"GBuffer": (3, 40), "UI": (3, 9)}, {"Bloom/Up": (7, 5), "Probe update": (6, 6)}), 1), [(151, "; GPU 6.00 -> 13.0 ms$")]),
            ("every other frame is long from the middle on", 360, lambda i: (4.7 if i < 146 or i % 2 else 16, {"GBuffer": 3}, 3), [(None, "from frame 14[5-7] on 2.* times slower: 4... -> 10.. ms; other waits 0.71 -> 6... ms")]),
            # A stranger's: it was "1.0 times slower: 7.93 -> 8.11 ms".
            ("every third frame is long from the middle on", 390, lambda i: (7.9 if i < 214 else 8.6 if i % 3 else 23, {"GBuffer": 3}, 3), [(None, "2.0 times slower: 7... -> 15.. ms; other waits 3... -> 9... ms")]),
            # Found in programs never seen: a mixed start hid each later step; and a step stood where frames had become a little shorter before.
            ("a step after a mixed start", 360, lambda i: (after(i, (0.4, 22, 1.4, 30, 10, 28, 0.7, 8)[i % 8] if i < 46 else 4, 11.7, 150), {"GBuffer": after(i, 3, 10.7, 150)}, 1), [(150, "slower: .* -> 11.. ms; GBuffer 3.00 -> 10.7 ms, same draws")]),
            ("a step after a small one", 300, lambda i: (30 if i < 188 else after(i, 27, 9, 200), {"GBuffer": after(i, 24, 7, 200)}, 1), [(200, "^from frame 200 on 3.. times faster: .*; GBuffer 24.0 -> 7.00 ms")]),
            ("a pass, and others that few frames have", 300, lambda i: (after(i, 8, 16), {"GBuffer": after(i, 3, 8)} | ({("UI", "Bloom/Up", "Probe update")[i % 3]: 3} if i >= 151 else {}), 1),
             [(151, "; GPU 3.00 -> 11.0 ms, 1 -> 2 draws, of it GBuffer 3.00 -> 8.00 ms$")]),
            ("a slope between levels", 420, lambda i: (8 + min(max(0, i - 120), 150) / 15, {"GBuffer": 3 + min(max(0, i - 120), 150) / 15}, 3),
             [(None, "from frame 1[12]. to 2[67]. gradually 2.[23] times slower: 8.0. -> 1[78].. ms; GBuffer 3.00 -> 13.0 ms")]),
            ("a slope, with slow frames", 300, lambda i: (30 if i % 23 == 7 else 5 + min(max(0, i - 60), 110) / 30, {"GBuffer": 3 + min(max(0, i - 60), 110) / 30}, 1),
             [(None, "from frame [5-7]. to 1[67]. gradually 1.7 times slower")]),
            ("two steps", 300, lambda i: (after(i, 8, 10 if i < 200 else 13, 80), {"GBuffer": after(i, 3, 5 if i < 200 else 8, 80)}, 1), [(80, "GBuffer 3.00 -> 5.00"), (200, "GBuffer 5.00 -> 8.00")]),
            # A stranger's: it was a slope from frame 82 to 225.
            ("two steps, and a third that is not sure", 400, lambda i: ((8.5 if i < 32 else 8.1) if i < 120 else 10.7 if i < 220 else 12.5 if i < 260 else 11.7, {"GBuffer": after(i, 1.3, 3.9, 120)}, 1), [(120, "^from frame 120 on 1.[34] times slower")]),
            # A stranger's: a pass drew less from frame 160 on, which the frames hardly show.
            ("draws that go later", 330, lambda i: (after(i, 9.8, after(i, 7.1, 6.6, 160), 40), {name: (ms, after(i, 52, 36, 160)) for name, ms in (("GBuffer", after(i, 3.7, 2.6, 40)), ("UI", after(i, 3.7, 2.6, 40)))}, 1),
             [(40, "from frame 40 on 1.[45] times faster: .*; GPU 7.40 -> 5.20 ms, same draws")]),
            ("14 % of a pass with the same work", 300, lambda i: (after(i, 10, 11.4), {"GBuffer": after(i, 3, 4.4)}, 3), []),
            ("10 %, by a new pass", 300, lambda i: (after(i, 10, 11), {"GBuffer": 3} | ({"Bloom/Up": 1} if i > 150 else {}), 3), []),
            ("10 %, by a pass whose draws go up and down", 300, lambda i: (after(i, 10, 11), {"GBuffer": (after(i, 3, 4), after(i, 10, 15) + i // 16 * 5 % 8)}, 3), []),
        )
        for what, n, frame, want in cases:
            with self.subTest(what):
                got = run(n, frame)
                self.assertEqual(len(got["changes"]), len(want), got["changes"])
                for change, (number, words) in zip(got["changes"], want):
                    self.assertRegex(change["text"], words)
                    self.assertIn(change["frame"], (number, change["frame"] if number is None else number))
                if want:
                    self.assertNotIn("median", "".join(got["lines"]))
        # The typical frame is that of the longest stretch.
        got = run(300, lambda i: (after(i, 6, 10, 100), {"GBuffer": after(i, 2, 6, 100)}, 1))
        self.assertEqual(got["typical"]["passes"][0]["p50_ns"], 6 * MS)
        self.assertEqual(got["typical"]["text"], "typical frame of the 200 from frame 100 on, 6.00 ms on the GPU")
        # All passes, one of them by half of it: planted, and the one was named.
        got = run(300, lambda i: (after(i, 8, 16), {"GBuffer": after(i, 1, 5.4), "UI": after(i, 3, 6.2)}, 1))
        self.assertRegex(got["changes"][0]["text"], "; GPU 4.00 -> 11.6 ms, same draws")

    def test_changes_of_any_course(self):
        """Steps, slopes, noise and bursts in any order: changes are in order, and apart. With two of these courses it crashed."""
        def course(seed):
            rand = random.Random(seed)
            n, ms, made = rand.choice((60, 120, 200, 330, 420, 700, 1400)), rand.uniform(4, 20), []
            while len(made) < n:
                kind, length = rand.choice("sslnr"), rand.randint(3, 90)
                ms = min(max(ms * (rand.choice((.4, .6, .8, 1.2, 1.5, 2, 3)) if kind == "s" else 1), .05), 200)
                end, noise = ms * rand.choice((.5, .8, 1.3, 2)) if kind == "l" else ms, rand.choice((0, .02, .1, .4))
                made += [max(.01, (ms + (end - ms) * i / length) * (1 + rand.uniform(-noise, noise)) * (rand.choice((1, 1, 1, 4)) if kind == "r" else 1)) for i in range(length)]
                ms = end
            return made[:n]
        for seed in (883, 1197, *range(20)):
            changes = self.answer([(ms, {"GBuffer": 1}, {}) for ms in course(seed)])["changes"]
            ends = [at for c in changes for at in (c["frame"], c.get("until", c["frame"]))]
            self.assertEqual(ends, sorted(ends))

    def test_a_change_for_want_of_a_cpu(self):
        for share, words in ((0.6, "waits for a CPU 0.80 -> 9.60 ms"), (0.2, "other waits 4.00 -> 12.0 ms")):
            made = []
            for line in log_of([(8 if i < 150 else 16, {"GBuffer": 3}, {"thread_ns": 3 * MS, "wait_ns": MS}) for i in range(300)]):
                made.append(line)
                if line["type"] == "frame" and line["frame"] % 5 == 4:
                    period = 5 * line["cpu_ns"]
                    made.append({"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": period,
                                 "ready_ns": int(period * (0.1 if line["frame"] < 150 else share)), "threads": []})
            self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]], [f"from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; {words}"])

    def test_a_change_in_a_sleep(self):
        """Frames at its beginning say in what their thread slept; later ones are as usual, and do not."""
        def told(places, frames=range(152, 160), before=8, passes=(3, 3), work=3, waits=(1, 1)):
            made = []
            for i in range(300):
                asleep = [{"in": call, "n": 4, "ns": int(ms * MS), **what} for call, ms, what in places(i)] if i in frames else []
                made.append((before if i < 150 else before + 8, {"GBuffer": passes[i >= 150]}, {"thread_ns": work * MS, "wait_ns": waits[i >= 150] * MS, **({"asleep": asleep} if asleep else {})}))
            change, = self.answer(made)["changes"]
            self.assertEqual(change["what"], "other waits" if passes[1] < 4 else "GBuffer")
            return change["text"].split("; ")[1]
        sleep, lock = lambda ms=8: ("clock_nanosleep", ms, {}), lambda ms=8: ("futex", ms, {"thread": "tile-builder"})
        waits = "other waits 4.00 -> 12.0 ms"
        for what, got, words in (
                ("a sleep", told(lambda i: [sleep()]), "other waits (sleep: clock_nanosleep) 4.00 -> 12.0 ms"),
                ("a lock", told(lambda i: [lock()]), "other waits (for tile-builder: futex) 4.00 -> 12.0 ms"),
                ("a file, and little else", told(lambda i: [("fsync", 7, {"of": "file"}), sleep(3)]), "other waits (file: fsync) 4.00 -> 12.0 ms"),
                ("beside a pass", told(lambda i: [sleep(5)], passes=(6, 10), work=1, waits=(6, 10)), "GBuffer 6.00 -> 10.0 ms, same draws, and other waits (sleep: clock_nanosleep) 1.00 -> 5.00 ms"),
                ("one frame", told(lambda i: [sleep()], range(152, 153)), waits),
                ("long after it", told(lambda i: [sleep()], range(190, 200)), waits),
                ("now here, now there", told(lambda i: [(sleep, lock)[i % 2]()]), waits),
                ("too short", told(lambda i: [sleep(3.5)]), waits),
                ("longer than it", told(lambda i: [sleep(12.5)]), waits),
                ("the driver's, as long as the passes", told(lambda i: [("futex", 6.5, {})]), waits),
                ("as long as before it, at a limiter", told(lambda i: [sleep(8)], before=16), "other waits 12.0 -> 20.0 ms")):
            with self.subTest(what):
                self.assertEqual(got, words)

    def test_a_change_with_another_thread(self):
        """Frames wait, for a CPU or else, while a thread of the program works more."""
        for work, thread, words in ((3, 9, "other waits 4.00 -> 12.0 ms, meanwhile physics worked 1.00 -> 9.00 ms"), (3, 4, "other waits 4.00 -> 12.0 ms"), (11, 9, "CPU 3.00 -> 11.0 ms")):
            made = []
            for line in log_of([(8, {"GBuffer": 3}, {"thread_ns": 3 * MS, "wait_ns": MS}) if i < 150 else (16, {"GBuffer": 3}, {"thread_ns": work * MS, "wait_ns": MS}) for i in range(300)]):
                made.append(line)
                if line["type"] == "frame" and line["frame"] % 5 == 4:
                    made.append({"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": 5 * line["cpu_ns"],
                                 "threads": [{"name": "physics", "cpu_ns": 5 * (1 if line["frame"] < 150 else thread) * MS}, {"name": "idle", "cpu_ns": MS}]})
            self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]], [f"from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; {words}"])

    def test_a_change_in_a_pass_below_another(self):
        """A label's first component has no time where one of its passes shares one: the second has."""
        lines, start = [header(), device(), *(pass_info(IDS[n], n) for n in ("Bloom/Up", "Bloom/Down", "UI"))], 10**9
        for i in range(300):
            ms = 8 if i < 150 else 16
            lines.append(frame(i, [one_pass(0, IDS["Bloom/Up"], (ms - 5) * MS, "Bloom/Up", draws=1), one_pass(1, IDS["Bloom/Down"], None, "Bloom/Down", draws=1, flags=["shared_time"]), one_pass(2, IDS["UI"], MS, "UI", draws=3)],
                               start_ns=start, cpu_ns=ms * MS, gpu_ns=(ms - 3) * MS, unattributed={"gpu_ns": MS}))
            start += ms * MS
        got = self.answers(lines + [end(300, 900)])[0]["changes"]
        self.assertEqual([c["text"] for c in got], ["from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; Bloom/Up 3.00 -> 11.0 ms, same draws"])

    def test_changes_of_a_driver_on_the_cpu(self):
        """A pass takes longer with the CPU that its driver has, or without: other programs have it. And a program that runs ahead for a while."""
        # How long the driver's threads worked and had no CPU in the slower frames: planted, other programs, pixels beside them, half of either; and in logs before 1.3, one number.
        unsure, waits, waited = "GBuffer 3.00 -> 11.0 ms, or its driver had no CPU", "the driver's waits for a CPU 1.00 -> 10.0 ms", "a wait in GBuffer 3.00 -> 11.0 ms"
        for work, no_cpu, words in ((11, None, "GBuffer 3.00 -> 11.0 ms, same draws"), (3, None, unsure), (3, 10, waits), (4, 10, waits), (5, 10, unsure), (3, 4, unsure), (3, 1, waited), (11, 10, "GBuffer 3.00 -> 11.0 ms, same draws")):
            made = []
            for line in log_of([(8, {"GBuffer": 3}, {}) if i < 150 else (16, {"GBuffer": 11}, {}) for i in range(300)]):
                made.append(line)
                if line["type"] == "frame" and line["frame"] % 5 == 4:
                    did, waited = (work, no_cpu) if line["frame"] >= 150 else (3, 1)
                    made.append({"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": 5 * line["cpu_ns"],
                                 "threads": [{"name": "Mesa-0", "cpu_ns": 5 * did * MS, **({"ready_ns": 5 * waited * MS} if no_cpu is not None else {})}]})
            made[1]["name"] = "Mesa (of software)"
            self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]], [f"from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; {words}"])
            self.assertEqual("what" in self.answers(made)[0]["changes"][0], words != unsure)
        # Planted at the start: the first line came right after the change, and is of the frames before.
        made, work = [], 0
        for line in log_of([(8, {"GBuffer": 3}, {}) if i < 20 else (16, {"GBuffer": 11}, {}) for i in range(300)]):
            made.append(line)
            if line["type"] == "frame":
                work += (3 if line["frame"] < 20 else 11) * MS
                if line["frame"] % 21 == 20:
                    made.append({"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": 21 * line["cpu_ns"] if line["frame"] > 20 else 176 * MS,
                                 "threads": [{"name": "Mesa-0", "cpu_ns": work, "ready_ns": 0}]})
                    work = 0
        made[1]["name"] = "Mesa (of software)"
        self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]], ["from frame 20 on 2.0 times slower: 8.00 -> 16.0 ms; GBuffer 3.00 -> 11.0 ms, same draws"])
        # Planted on two CPUs: the program's own thread worked, and the driver had no CPU meanwhile.
        made = []
        for line in log_of([(8, {"GBuffer": 3}, {"thread_ns": MS}) if i < 150 else (16, {"GBuffer": 11}, {"thread_ns": 9 * MS}) for i in range(300)]):
            made.append(line)
            if line["type"] == "frame" and line["frame"] % 5 == 4:
                made.append({"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": 5 * line["cpu_ns"],
                             "threads": [{"name": "Mesa-0", "cpu_ns": 15 * MS, "ready_ns": (5 if line["frame"] < 150 else 40) * MS}]})
        made[1]["name"] = "Mesa (of software)"
        self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]], ["from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; CPU 1.00 -> 9.00 ms"])
        # A stranger's: in some of the slow frames other programs took a part of the CPU, and most process lines were of those.
        made, at, work = [], 0, 0
        for line in log_of([(12, {"GBuffer": 6}, {}) if i < 300 else (26 if i % 40 < 24 else 60, {"GBuffer": 18}, {}) for i in range(450)]):
            made.append(line)
            if line["type"] == "frame":
                at += line["cpu_ns"]
                work += (10 if line["frame"] < 300 else 22) * MS
                if at >= 100 * MS:
                    made.append({"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": at, "threads": [{"name": "Mesa-0", "cpu_ns": work}]})
                    at = work = 0
        made[1]["name"] = "Mesa (of software)"
        self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]], ["from frame 300 on 2.2 times slower: 12.0 -> 26.0 ms; GBuffer 6.00 -> 18.0 ms, same draws"])
        # That with a cause comes first, before a larger one in which the driver had no CPU, maybe.
        for what, waited in ((None, {}), ("the driver's waits for a CPU", {"ready_ns": 36 * MS})):
            made = []
            for line in log_of([((8, 40, 8, 40, 8, 16)[i // 80], {"GBuffer": (3, 35, 3, 35, 3, 11)[i // 80]}, {}) for i in range(480)]):
                made.append(line)
                if line["type"] == "frame":
                    at = line["frame"] // 80
                    had_none = waited if line["cpu_ns"] == 40 * MS else {k: 0 for k in waited}
                    made.append({"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": line["cpu_ns"], "threads": [{"name": "Mesa-0", "cpu_ns": (11 if at == 5 else 3) * MS, **had_none}]})
            made[1]["name"] = "Mesa (of software)"
            got = self.answers(made)[0]
            self.assertEqual([c.get("what") for c in got["changes"]], [*4 * [what], "GBuffer"])
            self.assertRegex("".join(got["lines"]), "from frame 400 on 2.0 times slower: 8.00 -> 16.0 ms; *GBuffer 3.00 -> 11.0 ms, same draws  and [23] more changes")
        # A pass that is gone is not there for want of a CPU.
        made = log_of([(16, {"GBuffer": 3} | ({"UI": 8} if i < 154 else {}), {}) if i < 150 else (8, {"GBuffer": 3} | ({"UI": 8} if i < 154 else {}), {}) for i in range(300)])
        made[1]["name"] = "Mesa (of software)"
        made = [m for line in made for m in ([line, {"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": line["cpu_ns"], "threads": [{"name": "Mesa-0", "cpu_ns": 3 * MS}]}] if line["type"] == "frame" else [line])]
        self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]], ["from frame 154 on 2.0 times faster: 16.0 -> 8.00 ms; UI 8.00 ms, gone"])
        # Faster: it had none before.
        made = log_of([(16, {"GBuffer": 11}, {}) if i < 150 else (8, {"GBuffer": 3}, {}) for i in range(300)])
        made[1]["name"] = "Mesa (of software)"
        made = [m for line in made for m in ([line, {"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": line["cpu_ns"], "threads": [{"name": "Mesa-0", "cpu_ns": 3 * MS}]}] if line["type"] == "frame" else [line])]
        self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]], ["from frame 150 on 2.0 times faster: 16.0 -> 8.00 ms; GBuffer 11.0 -> 3.00 ms, or its driver had no CPU before"])
        self.assertEqual(self.answer([(0.1 if i < 60 else 22, {"GBuffer": 20}, {}) for i in range(300)])["changes"], [])

    def test_changes_in_an_opengl_pass(self):
        """Its time lasts until the program begins the next one: what grew before that is the thread's, unless there are more draws."""
        for draws, work, wait, next_at, words in ((10, 11, 1, 12, "CPU 3.00 -> 11.0 ms"), (10, 3, 1, 12, "other waits, or the GPU 4.00 -> 12.0 ms"), (10, 3, 9, 12, "waits 1.00 -> 9.00 ms"),
                                                  (10, 3, 9, 2, "GBuffer 3.00 -> 11.0 ms, same draws"), (40, 3, 1, 12, "GBuffer 3.00 -> 11.0 ms, 10 -> 40 draws"),
                                                  (-10, 11, 1, 12, "GBuffer 3.00 -> 11.0 ms, same draws, 30 times the vertices")):
            lines, start = [header(), device(api="opengl"), *(pass_info(IDS[n], n) for n in ("GBuffer", "UI"))], 10**9
            for i in range(300):
                ms, gpu, n, at, cpu = (8, 3, 10, 3, (3, 1)) if i < 151 else (16, 11, abs(draws), next_at, (work, wait))
                lines.append(frame(i, [one_pass(0, IDS["GBuffer"], gpu * MS, "GBuffer", draws=n, vertices=900 if i > 150 and draws < 0 else 30, cpu_start_ns=start, gpu_start_ns=start + MS // 2),
                                       one_pass(1, IDS["UI"], MS, "UI", cpu_start_ns=start + at * MS, gpu_start_ns=start + (gpu + 1) * MS)],
                                   start_ns=start, cpu_ns=ms * MS, thread_ns=cpu[0] * MS, wait_ns=cpu[1] * MS))
                start += ms * MS
            got = self.answers(lines + [end(300, 600)])[0]["changes"]
            self.assertEqual([c["text"] for c in got], [f"from frame 151 on 2.0 times slower: 8.00 -> 16.0 ms; {words}"])
            if words[:11] != "other waits":
                continue
            # Planted, on a driver on the CPU: a sleep in a pass, its threads did nothing; other programs, they had no CPU; and both.
            lines[1]["name"] = "Mesa (of software)"
            for no_cpu, told in ((1, "other waits 4.00 -> 12.0 ms"), (1, words + ", meanwhile app worked 1.00 -> 9.00 ms"), (9, "the driver's waits for a CPU 1.00 -> 9.00 ms"), (4, words)):
                made = [m for line in lines for m in ([line, {"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": line["cpu_ns"],
                                                              "threads": [{"name": "Mesa-0", "cpu_ns": 3 * MS, "ready_ns": (1 if line["frame"] < 151 else no_cpu) * MS}, {
                                                                  "name": "app", "cpu_ns": (9 if line["frame"] > 150 and "app" in told else 1) * MS, "ready_ns": 0}]}] if line["type"] == "frame" else [line])]
                self.assertEqual([c["text"].partition("; ")[2] for c in self.answers(made + [end(300, 600)])[0]["changes"]], [told])

    def test_a_limit_that_is_not_kept_any_more(self):
        """In OpenGL the last pass was as long as the program slept before it presented."""
        lines, start = [header(), device(api="opengl"), *(pass_info(IDS[n], n) for n in ("GBuffer", "UI"))], 10**9
        for i in range(300):
            ms, gpu, last = (16, 1, 14) if i < 150 else (26, 24, 1)
            lines.append(frame(i, [one_pass(0, IDS["GBuffer"], gpu * MS, "GBuffer", cpu_start_ns=start, gpu_start_ns=start + MS // 2),
                                   one_pass(1, IDS["UI"], last * MS, "UI", cpu_start_ns=start + MS, gpu_start_ns=start + (gpu + 1) * MS)],
                               start_ns=start, cpu_ns=ms * MS, thread_ns=MS, wait_ns=MS if i < 150 else 24 * MS))
            start += ms * MS
        got = self.answers(lines + [end(300, 600)])[0]["changes"]
        self.assertEqual([c["text"] for c in got], ["from frame 150 on 1.6 times slower: 16.0 -> 26.0 ms; GBuffer 1.00 -> 24.0 ms, same draws"])

    def test_a_change_with_other_work(self):
        """The same draws may be of more pixels, a resolution that changed or what is nearer, or of more vertices."""
        same, wide = {"n": 10, "size": (960, 540)}, {"n": 10, "size": (1920, 1080)}
        cases = (
            ({"fragments": 1000}, {"fragments": 4000}, "same draws, 4 times the fragments"),
            ({"fragments": 1000}, {"fragments": 1050}, "same draws"),
            ({"fragments": 1000}, {"fragments": 250}, "same draws, 0.25 times the fragments"),
            ({}, {}, "same draws"),
            ({"vertices": 100}, {"vertices": 1230}, "same draws, 12 times the vertices"),
            (same, wide, "same draws, 4 times the pixels (960x540 -> 1920x1080)"),
            (dict(same, fragments=1000), dict(wide, fragments=4000), "same draws, 4 times the pixels (960x540 -> 1920x1080)"),
            (same, dict(wide, n=13), "10 -> 13 draws, 4 times the pixels (960x540 -> 1920x1080)"),
            ({"n": 10}, {"n": 30, "fragments": 100}, "10 -> 30 draws"),
            ({"n": 22, "vertices": 100}, {"n": 21, "vertices": 480}, "about as many draws, 4.8 times the vertices"),
            ({"n": 30}, {"n": 32}, "about as many draws"),
            ({"n": 20}, {"n": 12}, "20 -> 12 draws"),
        )
        for label in ("GBuffer", None):
            for before, after, words in cases:
                lines, start = [header(), device()], 10**9
                for i, what in enumerate((before, after)):
                    width, height = what.get("size", (960, 540))
                    lines.append(pass_info(f"{i + 1:016x}", label, width=width, height=height, color=["RGBA8"]))
                for i in range(300):
                    ms, what, n = (8, before, 0) if i < 150 else (16, after, int(before.get("size") != after.get("size")))
                    counted = {"counters": {"fragment_shader_invocations": what["fragments"]}} if "fragments" in what else {}
                    vertices = {"vertices": what["vertices"]} if "vertices" in what else {}
                    lines.append(frame(i, [one_pass(0, f"{n + 1:016x}", (ms - 5) * MS, label, draws=what.get("n", 3), **vertices, **counted)], start_ns=start, cpu_ns=ms * MS))
                    start += ms * MS
                got = self.answers(lines + [end(300, 300)])[0]["changes"]
                name = label or "Color {}x{} RGBA8".format(*(after if before.get("size") != after.get("size") else {}).get("size", (960, 540)))
                with self.subTest(words, label=label):
                    self.assertEqual([c["text"] for c in got], [f"from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; {name} 3.00 -> 11.0 ms, {words}"])

    def test_a_pass_whose_draws_come_a_little_later(self):
        """Next to the change all passes explain it, over the whole of it this one, from the frame on that has its draws."""
        frames = [(20, {"UI": (4, 30), "GBuffer": 12}, {})] * 100 + [(30, {"UI": (7, 30), "GBuffer": 15}, {})] * 34 + [(31, {"UI": (15, 100), "GBuffer": 12}, {})] * 166
        got = self.answer([(ms, passes, {}) for ms, passes, _ in frames])["changes"]
        self.assertEqual([c["text"] for c in got], ["from frame 134 on 1.6 times slower: 20.0 -> 31.0 ms; UI 4.00 -> 15.0 ms, 30 -> 100 draws"])

    def test_another_size_behind_a_pass_that_half_of_the_frames_have(self):
        lines, start = [header(), device(), pass_info("1" * 16)], 10**9
        lines += [pass_info(f"{k + 2:016x}", width=size, height=size, color=["RGBA8"]) for k, size in enumerate((200, 316))]
        for i in range(300):
            ms, gpu = (8, 3) if i < 150 else (12, 7)
            passes = [one_pass(0, "1" * 16, MS, draws=0, copies=4)] if i * i % 7 < 2 + (i >= 150) else []
            passes.append(one_pass(len(passes), f"{2 + (i >= 150):016x}", gpu * MS, draws=10))
            lines.append(frame(i, passes, start_ns=start, cpu_ns=ms * MS))
            start += ms * MS
        got = self.answers(lines + [end(300, sum(1 + (i * i % 7 < 2 + (i >= 150)) for i in range(300)))])[0]["changes"]
        self.assertEqual([c["text"] for c in got], ["from frame 150 on 1.5 times slower: 8.00 -> 12.0 ms; Color 316x316 RGBA8 3.00 -> 7.00 ms, same draws, 2.5 times the pixels (200x200 -> 316x316)"])

    def test_a_second_cause_of_a_change(self):
        """Frames of 8 ms: GBuffer 3 ms, the thread works 1 ms and is in driver waits for 3. Then: frame, pass and draws, work, driver waits, calls."""
        def frame_of(ms, gpu, work, wait, *calls):
            return ms, {"GBuffer": gpu}, {"thread_ns": int(work * MS), "wait_ns": int(wait * MS),
                                          "events": [{"kind": kind, "n": 2, "ns": int(took * MS), "own_ns": int(own * MS)} for kind, took, own in calls]}
        cases = (
            ((16, (7, 9), 5, 7), "GBuffer 3.00 -> 7.00 ms, 5 -> 9 draws, and CPU 1.00 -> 5.00 ms"),
            ((16, (6, 5), 6, 6), "CPU 1.00 -> 6.00 ms, and GBuffer 3.00 -> 6.00 ms"),
            ((16, (7, 5), 1, 7), "GBuffer 3.00 -> 7.00 ms, same draws, and other waits 4.00 -> 8.00 ms"),
            # Less than a quarter; more than there is: they were at the same time.
            ((16, (9.5, 5), 2.5, 9.5), "GBuffer 3.00 -> 9.50 ms, same draws"),
            ((16, (11, 5), 6, 9), "GBuffer 3.00 -> 11.0 ms, same draws"),
            # That the thread waits for the pass is the same.
            ((16, (9, 5), 3, 5), "GBuffer 3.00 -> 9.00 ms, same draws, and CPU 1.00 -> 3.00 ms"),
            # Planted: a sleep in a driver that waits in calls which nobody counts: what the GPU's time leaves.
            ((16, (7, 5), 1, 3), "GBuffer 3.00 -> 7.00 ms, same draws, and other waits 4.00 -> 8.00 ms"),
            ((16, (3, 5), 9, 3, ("pipeline", 7, 7)), "CPU 1.00 -> 9.00 ms, of it shaders made 7.00 ms"),
            ((16, (3, 5), 9, 3, ("pipeline", 3, 3), ("shader", 4, 4)), "CPU 1.00 -> 9.00 ms, of it shaders made 7.00 ms"),
            ((16, (3, 5), 9, 3, ("pipeline", 7, 0)), "CPU 1.00 -> 9.00 ms"),
            ((16, (3, 5), 5.5, 3, ("readback", 7, 7)), "CPU 1.00 -> 5.50 ms, and other waits 4.00 -> 7.50 ms, with read-backs 7.00 ms"),
            ((16, (3, 5), 1, 3, ("map", 7, 7)), "other waits 4.00 -> 12.0 ms, of it mapping 7.00 ms"),
            ((16, (7, 5), 5, 7, ("upload", 3, 3)), "GBuffer 3.00 -> 7.00 ms, same draws, and CPU 1.00 -> 5.00 ms, of it uploads 3.00 ms"),
            ((16, (11, 5), 1, 11, ("upload", 3, 3)), "GBuffer 3.00 -> 11.0 ms, same draws"),
        )
        for after, words in cases:
            with self.subTest(words):
                got = self.answer([frame_of(8, (3, 5), 1, 3) if i < 150 else frame_of(*after) for i in range(300)])
                self.assertEqual([c["text"] for c in got["changes"]], [f"from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; {words}"])
        # The thread that is waited for beside a pass.
        made = []
        for line in log_of([(8, {"GBuffer": 3}, {"thread_ns": MS, "wait_ns": 3 * MS}) if i < 150 else (16, {"GBuffer": 7}, {"thread_ns": MS, "wait_ns": 7 * MS}) for i in range(300)]):
            made.append(line)
            if line["type"] == "frame" and line["frame"] % 5 == 4:
                made.append({"type": "process", "time_ns": line["start_ns"] + line["cpu_ns"], "period_ns": 5 * line["cpu_ns"],
                             "threads": [{"name": "physics", "cpu_ns": 5 * (1 if line["frame"] < 150 else 4) * MS}]})
        self.assertEqual([c["text"] for c in self.answers(made)[0]["changes"]],
                         ["from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; GBuffer 3.00 -> 7.00 ms, same draws, and other waits 4.00 -> 8.00 ms, meanwhile physics worked 1.00 -> 4.00 ms"])

    def test_what_a_pass_without_draws_does(self):
        for counts, word in (({"dispatches": 1}, "dispatches"), ({"copies": 1}, "copies"), ({"copies": 1, "clears": 1}, "calls"), ({"clears": 1}, "calls"), ({"draws": 1, "copies": 1}, "draws")):
            for frames, of in (([(6, {"GBuffer": (1, 3)}, {})] * 150 + [(12, {"GBuffer": (7, 30)}, {})] * 150, "changes"),
                               ([(30, {"GBuffer": (25, 30)}, {}) if i == 60 else (6, {"GBuffer": (1, 3)}, {}) for i in range(100)], "hitches")):
                lines = log_of(frames)
                lines[1]["api"] = "vulkan"
                for line in lines:
                    for p in line["passes"] if line["type"] == "frame" else ():
                        n = p["draws"]
                        p.update({"draws": 0, "clears": 0} | {k: v * n for k, v in counts.items()})
                got = self.answers(lines)[0]
                n = sum(counts.values()) if word != "draws" else 1
                self.assertRegex((got["changes"] if of == "changes" else got["hitches"]["worst"])[0]["text"], f"GBuffer 1.00 -> [0-9.]* ms, {3 * n} -> {30 * n} {word}$")

    def test_more_copies_beside_other_passes(self):
        """All passes take longer; a new one only copies."""
        for counts, words in (({"copies": 4}, "0 -> 4 copies"), ({"dispatches": 6}, "0 -> 6 dispatches"), ({"draws": 4}, "20 -> 24 draws"), ({}, "same draws")):
            lines, start = [header(), device(), *(pass_info(IDS[n], n) for n in ("GBuffer", "UI", "Probe update"))], 10**9
            for i in range(300):
                ms, gpu = (8, 3) if i < 150 else (16, 6)
                passes = [one_pass(k, IDS[n], gpu * MS, n, draws=10) for k, n in enumerate(("GBuffer", "UI"))]
                passes += [one_pass(2, IDS["Probe update"], MS, "Probe update", **{"draws": 0} | counts)] if i >= 150 and counts else []
                lines.append(frame(i, passes, start_ns=start, cpu_ns=ms * MS))
                start += ms * MS
            got = self.answers(lines + [end(300, 600 + 150 * bool(counts))])[0]["changes"]
            self.assertEqual([c["text"] for c in got], [f"from frame 150 on 2.0 times slower: 8.00 -> 16.0 ms; GPU 6.00 -> {13 if counts else 12}.0 ms, {words}"])

    def test_a_change_of_all_sizes(self):
        """All passes have other targets, and so other names; another scene is not the same one at another size."""
        for draws, words in ((10, "GPU 6.00 -> 12.0 ms, same draws, Color 1920x1080 RGBA8 4 times the pixels (960x540 -> 1920x1080)"), (20, "GPU 6.00 -> 12.0 ms, 20 -> 40 draws")):
            lines, start = [header(), device()], 10**9
            for i, (width, height) in enumerate(((960, 540), (480, 270), (1920, 1080), (960, 540))):
                lines.append(pass_info(f"{i + 1:016x}", width=width, height=height, color=["RGBA8" if i % 2 == 0 else "R8"]))
            for i in range(300):
                ms, gpu, n, first = (8, (3.5, 2.5), 10, 1) if i < 150 else (14, (7, 5), draws, 3)
                lines.append(frame(i, [one_pass(k, f"{first + k:016x}", int(gpu[k] * MS), draws=n) for k in (0, 1)], start_ns=start, cpu_ns=ms * MS))
                start += ms * MS
            got = self.answers(lines + [end(300, 600)])[0]["changes"]
            self.assertEqual([c["text"] for c in got], [f"from frame 150 on 1.8 times slower: 8.00 -> 14.0 ms; {words}"])

    def test_a_slower_scene_is_no_hitch(self):
        for first, second in ((4, 30), (30, 4)):
            got = self.answer([(first, {"GBuffer": 2}, {})] * 80 + [(second, {"GBuffer": 2}, {})] * 80)
            self.assertEqual(got["hitches"]["n"], 0, (first, second))

    def test_the_worst_first(self):
        frames = [(14, {"GBuffer": 8}, {}) for _ in range(1400)]
        for k in range(20):
            frames[60 * k + 50] = (34 + k, {"GBuffer": 8}, {})
        answer = self.answer(frames)
        got, lines = answer["hitches"], " ".join(answer["lines"])
        self.assertIn("hitches: 20, 590 ms, up to 39.0 ms, about every 60 frames: ", lines)
        listed = [int(number) for number in re.findall(r"frame (\d+): ", lines)]
        self.assertEqual(listed, sorted(h["frame"] for h in got["worst"][:len(listed)]))
        self.assertEqual(got["n"], 20)
        self.assertEqual([h["frame"] for h in got["worst"]], [60 * k + 50 for k in range(19, -1, -1)])
        self.assertEqual(got["excess_ns"], sum(20 + k for k in range(20)) * MS)

    def test_hitches_before_passes(self):
        """Where there are several hitches the passes, which the table has, leave them room."""
        ids = {f"Color of the whole landscape {k}": f"{200 + k:016x}" for k in range(7)}
        IDS.update(ids)
        self.addCleanup(lambda: [IDS.pop(name) for name in ids])
        passes = {name: 1 for name in ids}
        slept = {"asleep": [{"in": "clock_nanosleep", "n": 9, "ns": 15 * MS}, {"in": "fdatasync", "of": "file", "n": 9, "ns": 14 * MS}], "thread_ns": 5 * MS, "wait_ns": MS}
        frames = [(14, passes, {"thread_ns": 5 * MS, "wait_ns": MS}) for _ in range(300)]
        for several in (False, True):
            for k in range(30, 270, 60 if several else 300):
                frames[k] = (44 + k / 10, passes, slept)
            lines = self.answers(log_of(frames))[0]["lines"]
            self.assertEqual((sum("landscape" in line for line in lines), sum("frame " in line and ": +" in line for line in lines)), (1, 3) if several else (3, 1), lines)

    def test_loading_loads(self):
        """A stranger's, on a busy machine: 47 slow frames at the start, and only the first loaded something."""
        made = {"events": [{"kind": "pipeline", "n": 3, "ns": 30 * MS, "own_ns": 30 * MS}]}
        for events, n in (({0: made}, 4), ({0: made, 40: made}, 44), ({}, 48)):
            got = self.answer([(100 if i < 48 else 14, {"GBuffer": 8}, dict(events.get(i, {}))) for i in range(400)])
            self.assertIn(f"first {n} frames,", "".join(got["lines"]))

    def test_the_first_frame(self):
        """How long a user waited for it, where the capture began with it."""
        for begins, options, words in ((10**9 - 900 * MS, {}, "914 ms until the first frame was there, 14.0 ms of it that frame itself"),
                                       (10**9 - 100 * MS, {}, None), (2 * 10**9, {}, None), (10**9 - 900 * MS, {"skip": "9"}, None)):
            lines = log_of([(14, {"GBuffer": 8}, {}) for _ in range(30)])
            lines[0].update(process_start_ns=begins, options=options)
            got = self.answers(lines)[0]
            self.assertEqual([line for line in got["lines"] if "until the first" in line], [words] if words else [])

    def test_what_was_loaded(self):
        """What the start went into, where calls say so."""
        shaders, upload = {"kind": "pipeline", "n": 30, "ns": 400 * MS}, {"kind": "upload", "n": 3, "ns": 190 * MS, "bytes": 64 * MS}
        for first, frames, lines in (([shaders, upload], 60, ["  30 shaders made, 400 ms; upload of 64 MB, 190 ms"]), ([upload], 60, ["  upload of 64 MB, 190 ms"]),
                                     ([dict(upload, ns=90 * MS)], 60, []), ([], 60, []), ([shaders], 3, ["  30 shaders made, 400 ms"])):
            log = log_of([(600 if i == 0 else 14, {"GBuffer": 8}, {"events": first} if i == 0 and first else {}) for i in range(frames)])
            log[0].update(process_start_ns=10**9 - 300 * MS)
            got = self.answers(log)[0]
            self.assertEqual([line for line in got["lines"] if line.startswith("  ") and ("made" in line or "upload" in line)], lines)
            left_out = [i for i, line in enumerate(got["lines"]) if "left out" in line]
            if lines and left_out:
                self.assertEqual(got["lines"][left_out[0] + 1], lines[0], "of the frames left out, too")
            self.assertEqual([c["group"] for c in got["loaded"]], ["shaders"] * (shaders in first) + ["upload"] * ("upload" in "".join(lines)))

    def test_what_the_start_went_into(self):
        """The first process line begins with the process."""
        for threads, ready, disk, words in (([("game", 800)], 0, 0, "game worked 800 ms"), ([("loader", 700), ("game", 90)], 0, 0, "loader worked 700 ms, game worked 90.0 ms"),
                                            ([("game", 90)], 0, 35 * 10**6, "game worked 90.0 ms, it mostly waited (disk, sleep, lock), 35 MB read from a disk"),
                                            ([("game", 90), ("game", 80)], 600, 0, "game worked 90.0 ms, another game worked 80.0 ms, no CPU was free for up to 600 ms 71.4 fps"),
                                            ([("game", 90, 500), ("loader", 80, 600)], 10, 0, "game worked 90.0 ms, loader worked 80.0 ms, no CPU was free for up to 600 ms 71.4 fps"),
                                            ([], 200, 0, "no CPU was free for up to 200 ms, it mostly waited (disk, sleep, lock)"),
                                            ([], 0, 0, "it mostly waited (disk, sleep, lock)")):
            lines = log_of([(14, {"GBuffer": 8}, {}) for _ in range(30)])
            lines[0].update(process_start_ns=10**9 - 900 * MS)
            first = next(i for i, line in enumerate(lines) if line["type"] == "frame")
            lines.insert(first + 1, {"type": "process", "time_ns": 10**9 + 20 * MS, "period_ns": 920 * MS, "disk_bytes": disk, "ready_ns": ready * MS,
                                     "threads": [{"name": name, "cpu_ns": ms * MS, **{"ready_ns": r * MS for r in no_cpu}} for name, ms, *no_cpu in threads]})
            got = " ".join(" ".join(self.answers(lines)[0]["lines"]).split())
            self.assertIn("914 ms until the first frame was there, 14.0 ms of it that frame itself; " + words, got)

    def test_one_device_has_the_first_frame(self):
        lines = log_of([(14, {"GBuffer": 8}, {}) for _ in range(30)])
        second = [dict(f, device=1, start_ns=f["start_ns"] + 3 * 10**9) for f in lines if f["type"] == "frame"]
        lines[0].update(process_start_ns=10**9 - 900 * MS)
        got = self.answers([*lines[:2], device(1), *lines[2:-1], *second, end(60, 60)])
        self.assertEqual([d.get("first_frame_ns") for d in got], [914 * MS, None])

    def test_a_change_beside_waits_of_passtally(self):
        """It waits in some frames, and those after that are short."""
        def one(i):
            ms = 2 if i < 150 else 4
            return {0: (4 * ms, {"GBuffer": ms}, {"overhead_ns": 3 * ms * MS}), 1: (0.1, {"GBuffer": ms}, {}),
                    2: (0.1, {"GBuffer": ms}, {})}.get(i % 24, (ms, {"GBuffer": ms}, {}))
        changes = self.answer([one(i) for i in range(300)])["changes"]
        self.assertEqual([c["text"] for c in changes],
                         ["from frame 150 on 2.0 times slower: 2.00 -> 4.00 ms; GBuffer 2.00 -> 4.00 ms, same draws"])

    def test_a_capture_that_begins_later_does_not_load(self):
        frames = [(900 if i < 3 else 14, {"GBuffer": 8}, {}) for i in range(100)]
        for first, n in ((0, 97), (617, 100)):
            lines = [{**line, "frame": line["frame"] + first} if line["type"] == "frame" else line for line in log_of(frames)]
            got = self.answers(lines)[0]
            self.assertEqual((got["frames"], "loading" in " ".join(got["lines"])), (n, n == 97))

    # Calls of each frame

    def test_calls_of_each_frame(self):
        def frames(n, **event):
            more = {"events": [{"kind": "upload", "n": 2, "ns": 2 * MS, "own_ns": 2 * MS, "bytes": 4 * 10**6, **event}]}
            return [(14, {"GBuffer": 8}, more if i % n == 0 else {}) for i in range(100)]
        for given, text in ((frames(1), "each frame, on average: upload of 4 MB, 2.00 ms"),
                            (frames(1, own_ns=0)[:1], "each frame, on average: upload of 4 MB, 2.00 ms"), # es2tri: the thread was not known
                            (frames(2), "50 % of frames, on average: upload of 4 MB, 2.00 ms"),
                            (frames(1, own_ns=0), "each frame, on average: upload of 4 MB on other threads, 2.00 ms"),
                            (frames(1, kind="shader"), "each frame, on average: 2 shaders made, 2.00 ms"),
                            (frames(3), None), (frames(1, ns=MS // 2), None)):
            got = self.answer(given)
            self.assertEqual([c["text"] for c in got["calls"]], [text] if text else [])
            self.assertEqual([line for line in got["lines"] if "on average: " in line],
                             [text] if text else [])

    def test_calls_that_begin(self):
        """Planted in programs that load at their first frame: from one on each frame makes shaders, uploads, or no longer does."""
        def run(has, at=lambda i: 14, ms=1.0, kind="upload"):
            made = lambda i: [{"kind": kind, "n": 2, "ns": int(ms * MS), "own_ns": int(ms * MS), "bytes": 4 * 10**6}]
            return self.answer([(at(i), {"GBuffer": at(i) - 5}, {"events": made(i)} if has(i) else {}) for i in range(300)])
        step = lambda i: 14 if i < 140 else 20
        for has, more, words in ((lambda i: i >= 140, {}, "from frame 140 on each frame has upload of 4 MB, 1.00 ms"),
                                 (lambda i: i == 0 or i >= 140, {}, "from frame 140 on each frame has upload of 4 MB, 1.00 ms"),
                                 (lambda i: i < 140, {}, "up to frame 139 each frame had upload of 4 MB, 1.00 ms"),
                                 (lambda i: i >= 140, {"kind": "pipeline", "ms": 0.1}, None),
                                 (lambda i: i >= 140, {"kind": "pipeline", "ms": 0.1, "at": step}, "from frame 140 on each frame has 2 shaders made, 0.10 ms"),
                                 (lambda i: i >= 220, {"kind": "pipeline", "ms": 0.1, "at": step}, None),
                                 (lambda i: True, {"at": step}, None), (lambda i: i % 2, {}, None), (lambda i: i >= 290, {}, None),
                                 (lambda i: 100 < i < 200, {}, None)):
            got = run(has, **more)
            self.assertEqual((got.get("calls_began"), words is None or words in got["lines"]), (words, True))

    # Our own cost

    def test_cost(self):
        frames = [(900 if i == 0 else 14, {"GBuffer": 8}, {"overhead_ns": 34 * MS if i == 0 else 27000})
                  for i in range(100)]
        got = self.answer(frames)
        self.assertEqual((got["cost"]["p50_ns"], got["cost"]["once_ns"], got["cost"]["warning"]),
                         (27000, 34 * MS - 27000, False))
        self.assertIn("first frame, 900 ms, left out as loading (--warmup 0 keeps it)", got["lines"])
        self.assertIn("passtally costs 27 us a frame (0.2 %), and 34.0 ms once at the start", got["lines"])
        got = self.answer([(14, {"GBuffer": 8}, {"overhead_ns": MS}) for _ in range(100)])
        self.assertIn("warning: passtally costs 1.00 ms a frame (7.1 %)", got["lines"])
        # What the sentence names is in the data, for the page: the mean.
        got = self.answer([(14, {"GBuffer": 8}, {"overhead_ns": 90000 if i % 2 else 10000}) for i in range(100)])
        self.assertEqual(got["cost"]["mean_ns"], 50000)
        self.assertIn("passtally costs 50 us a frame (0.4 %)", got["lines"])

    def test_all_hitches_in_a_terminal(self):
        """The first lines have those that fit; report --wide has a line each, with its cause."""
        frames = [(14 if i % 20 != 10 else 60 + i / 10, {"GBuffer": 8}, {}) for i in range(300)]
        log = self.write_log("a.jsonl", log_of(frames))
        text = self.ok("report", "--warmup", "0", "--wide", log).stdout.decode()
        listed = text.split("hitches of device 0, the worst first (15 of 15):\n")[1].splitlines()[:15]
        self.assertEqual([re.match(r"  frame (\d+): ", line).group(1) for line in listed], [str(n) for n in range(290, 0, -20)])
        self.assertEqual(text.count("frame 290: "), 1)
        short = self.ok("report", "--warmup", "0", log).stdout.decode()
        self.assertNotIn("the worst first", short)
        self.assertRegex(re.sub(r"\n +", " ", short), "; and 5 more: report --wide\n")

    # Bad input

    def test_nothing_to_say(self):
        swapless = log_of([(14, {"GBuffer": 8}, {"flags": ["partial"]})])
        for what, lines, words in (
                ("no device", [header(), end(0, 0)], "no frames: exit"),
                ("no frame", [header(), device(), end(0, 0)], "no frame ended: no swap was seen; try --frame finish"),
                ("no frame, Vulkan", [header(), device(api="vulkan"), end(0, 0)],
                 "no frame ended: no swap was seen; try --frame submit:1"),
                *((f"--frame {rule}", [header(options={"frame": rule}), device(api=api), end(0, 0)],
                   f"no frame ended by --frame {rule}{advice}\n")
                  for api, rule, advice in (("opengl", "finish", ": leave it out if the program swaps, else try --frame submit:1"),
                                            ("vulkan", "idle", ": leave it out if the program swaps, else try --frame submit:1"),
                                            ("vulkan", "submit:1", ""))),
                ("no start", [header(options={"skip": "0", "start-on": "frame:30"}), device(), end(0, 0)],
                 "no frame was captured up to the run's end, with --start-on frame:30"),
                ("skipped", [header(options={"skip": "30"}), device(), end(0, 0)],
                 "no frame was captured up to the run's end, with --skip 30"),
                ("killed, started late", [header(options={"start-on": "label:Boss"}), device()],
                 "no frame was captured up to the log's end, with --start-on label:Boss"),
                ("killed before a frame", [header(), device()], "the log ends before its first complete frame"),
                ("only the rest of a run", swapless, "no frame ended: no swap was seen; try --frame finish")):
            with self.subTest(what):
                log = self.write_log("a.jsonl", lines)
                self.assertIn(words, self.ok("report", log).stdout.decode())
                self.assertEqual(json.loads(self.ok("report", "--json", log).stdout)["reports"][0]["answers"], [])
        # Each of its passes is a row, of which --wide has the largest alone.
        passes = [one_pass(i, f"{i + 1:016x}", 10**4 if i else 8 * MS) for i in range(100)]
        log = self.write_log("a.jsonl", [header(), device(), *(pass_info(p["id"], None) for p in passes), frame(0, passes, flags=["partial"]), end(1, 100)])
        text = self.ok("report", "--wide", log).stdout.decode()
        self.assertIn("\n  each pass of the run is a row; --by label sums up those of one name\n", text)
        self.assertIn("\n(95 more, under 0.5 %)", text)

    def test_no_end(self):
        lines = log_of([(14, {"GBuffer": 8}, {}) for _ in range(30)])
        words = "the log has no end line: the program was killed, crashed, or is still running\n  if it ended, "\
                "its last 0.1 s or more are missing\n"
        for log, there in ((lines, False), (lines[:-1], True)):
            text = self.ok("report", self.write_log("a.jsonl", log)).stdout.decode()
            self.assertEqual(text.partition("\n")[2].startswith(words), there, text)

    def test_no_frame_at_the_end(self):
        """A log that was cut while no frame ended: process lines go on for a while."""
        def run(work, end=False, frames=1, n=30, ms=14, asleep=()):
            lines = log_of([(ms, {"GBuffer": 8}, {}) for _ in range(n)])
            last, now = lines[-2], 10**9 + n * ms * MS
            quiet = [{"type": "process", "time_ns": now + at * MS, "period_ns": period * MS, "ready_ns": 0,
                      "threads": [{"name": "game", "cpu_ns": int(work * period * MS), "ends_frames": True}] if work else [],
                      **({"asleep": [{"n": 9, **a, "ns": a["ns"] * MS} for a in asleep]} if asleep else {})} for at, period in ((1990, 2000), (5990, 4000))]
            late = [{**last, "frame": 30, "start_ns": now, "cpu_ns": 6000 * MS}] if not frames else []
            return self.ok("report", self.write_log("a.jsonl", [*lines[:-1], *quiet, *late, *(lines[-1:] if end else [])])).stdout.decode()
        lock, sleep = {"in": "futex", "thread": "loader"}, {"in": "clock_nanosleep"}
        for words, text in ((": its thread worked 5.99 s", run(1)),
                            ("", run(0)),
                            (": its thread waited (for loader: futex)", run(0, asleep=[{**lock, "ns": 5980}])),
                            (": its thread waited (for loader: futex)", run(0, asleep=[{**sleep, "ns": 1000}, {**lock, "ns": 4000}])),
                            ("", run(0, asleep=[{**lock, "ns": 2000}, {**sleep, "ns": 2900}])),
                            (": its thread worked 5.99 s", run(1, asleep=[{**lock, "ns": 500}]))):
            self.assertIn(f"\nno frame for the last 5.99 s or more{words}\n", text)
        # An idle program has few frames, or they are as far apart.
        self.assertNotIn("no frame for the last", run(1, end=True) + run(1, frames=0) + run(0, n=19) + run(0, n=25, ms=7000))

    def test_frames_not_captured(self):
        """Frames that are not in the log, and a capture that was paused at the end."""
        def trigger(what, ms):
            return {"type": "note", "level": "info", "message": f"capture {what}: passtally trigger", "source": "trigger", "time_ns": 10**9 + ms * MS}
        whole = log_of([(14, {"GBuffer": 8}, {}) for _ in range(30)])
        gap = log_of([(14, {"GBuffer": 8}, {"number": i + 20 * (i > 9)}) for i in range(30)])
        for log, words in ((whole, "30 frames in 420 ms\n71"), (gap, "30 of 50 frames in 420 ms\n71"),
                           ([*gap[:12], trigger("pauses", 140), *gap[12:-1], trigger("starts", 200), gap[-1]], "30 of 50 frames in 420 ms\n71"),
                           ([*whole[:-1], trigger("pauses", 430), whole[-1]], "30 frames in 420 ms\n  then the capture was paused\n71")):
            self.assertIn(f"device 0: card 0, {words}", self.ok("report", self.write_log("a.jsonl", log)).stdout.decode())

    def test_a_device_without_a_frame(self):
        # The end of a log has a note about its passes; a program that was killed wrote none.
        lines = log_of([(14, {"GBuffer": 8}, {}) for _ in range(30)])
        for api, advice in (("opengl", "flush"), ("vulkan", "submit:1")):
            words = f"device 1 ended no frame: what it drew is not in this log; try --frame {advice}\n"
            for end, there in ((lines[-1:], False), ([], True)):
                log = self.write_log("a.jsonl", [*lines[:2], device(1, api=api), *lines[2:-1], *end])
                with self.subTest(api=api, there=there):
                    self.assertEqual(words in self.ok("report", log).stdout.decode(), there)
                    self.assertNotIn("ended no frame", self.ok("report", "--device", "0", log).stdout.decode())

    def test_warmup_leaves_nothing(self):
        log = self.write_log("a.jsonl", log_of([(14, {"GBuffer": 8}, {}) for _ in range(30)]))
        self.assertIn("--warmup 9999 left out all 30 frames", self.ok("report", "--warmup", "9999", log).stdout.decode())
        self.assertNotIn("left out all", self.ok("report", "--warmup", "29", log).stdout.decode())

    def test_cut(self):
        whole = log_bytes(log_of([(14, {"GBuffer": 13.5}, {}) for _ in range(30)]))
        log = self.write("a.jsonl", whole[:-300])
        done = self.ok("report", log)
        self.assertIn("the last line", done.stderr.decode())
        self.assertIn("bound by the GPU in 100 % of frames", done.stdout.decode())

    def test_two_devices(self):
        frames = []
        for i in range(100):
            frames.append((14, {"GBuffer": 13.8}, {"number": i}))
            if i % 10 == 0:
                frames.append((140 + i % 7 * 5, {"UI": 3}, {"number": i // 10, "device_number": 1}))
        lines = log_of(frames, (0, 1))
        got = self.answers(lines)
        self.assertEqual([(a["device"], a["frames"], a["bound"]["by"]) for a in got],
                         [(0, 100, "gpu"), (1, 10, "unknown")])
        text = self.ok("report", self.folder / "a.jsonl").stdout.decode()
        self.assertEqual(text.count("passtally costs"), 1, "the second device is brief")
        self.assertEqual(self.ok("report", "--wide", self.folder / "a.jsonl").stdout.decode().count("passtally costs"), 2)
        text = self.ok("report", "--device", "1", self.folder / "a.jsonl").stdout.decode()
        self.assertIn("device 1: card 1, 10 frames in", text)
        self.assertIn("passtally costs", text)

    def test_half_a_million_frames(self):
        """Generated line by line; the answer is that of the first frames."""
        passes = json.dumps([one_pass(0, A, 13 * MS)], separators=(",", ":"))
        line = ('{"type":"frame","frame":%d,"device":0,"start_ns":%d,"cpu_ns":%d,"gpu_ns":13000000,'
                '"envelope_ns":13000000,"coverage":1.0,"passes":' + passes + ',"overhead_ns":1000,"dropped_passes":0}\n')
        log = self.folder / "long.jsonl"
        with open(log, "w") as out:
            out.write(log_bytes([header(), device(), pass_info(A, "GBuffer")]).decode())
            for i in range(500000):
                out.write(line % (i, 14 * MS * i, 14 * MS if i % 1000 != 999 else 64 * MS))
            out.write(log_bytes([end(500000, 500000)]).decode())
        got = json.loads(self.ok("report", "--json", log).stdout)["reports"][0]["answers"][0]
        self.assertEqual((got["frames"], got["hitches"]["n"], got["bound"]["by"]), (500000, 500, "gpu"))
        log.unlink()

    def test_labels_cannot_reach_the_terminal(self):
        lines = [header(), device(name="card\x1b[31m"), pass_info(A, "\x1b]0;x\x07" + "a" * 200)]
        lines += [frame(i, [one_pass(0, A, MS)]) for i in range(20)] + [end(20, 20)]
        for answer in self.answers(lines):
            self.assertFalse([line for line in answer["lines"] if "\x1b" in line])
        self.assertNotIn(b"\x1b", self.ok("report", self.folder / "a.jsonl").stdout)


if __name__ == "__main__":
    unittest.main()
