#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally top: on a terminal of any size, without one, and on logs that grow, change and end."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from cli_case import COMMAND, A, B, CliCase, device, end, frame, header, log_bytes, one_pass, pass_info, simple_log

ESCAPE = re.compile(rb"\x1b\[([?>=]?)([\d;]*)([@-~])|\x1b[()][A-B0]|\x1b[=>78M]|\x1b\][^\x07]*\x07")
C = "00000000000000cc"


class Screen:
    """The parts of a terminal that ncurses uses of TERM=xterm: the text in each position."""

    def __init__(self, columns, rows):
        self.resize(columns, rows)
        self.rest = b""
        self.seen = b""

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.x = self.y = 0
        self.top, self.bottom = 0, rows - 1 # the lines that scroll
        self.last = " "

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def put(self, character):
        if self.x < self.columns and self.y < self.rows:
            self.cells[self.y][self.x] = character
        self.x += 1
        self.last = character

    def scroll(self, first, lines):
        """Lines at `first` are removed (or, below 0, inserted), and those down to the bottom move up (down)."""
        for _ in range(abs(lines)):
            del self.cells[first if lines > 0 else self.bottom]
            self.cells.insert(self.bottom if lines > 0 else first, [" "] * self.columns)

    def control(self, numbers, kind):
        n = numbers[0] if numbers else 0
        row = self.cells[min(self.y, self.rows - 1)]
        if kind in "Hf":
            self.y, self.x = max(n, 1) - 1, max(numbers[1] if len(numbers) > 1 else 1, 1) - 1
        elif kind == "d":
            self.y = max(n, 1) - 1
        elif kind == "G":
            self.x = max(n, 1) - 1
        elif kind in "ABCD":
            step = max(n, 1)
            self.y += {"A": -step, "B": step}.get(kind, 0)
            self.x += {"C": step, "D": -step}.get(kind, 0)
        elif kind == "J":
            first = 0 if n == 2 else self.y
            if n == 0:
                row[self.x:] = [" "] * (self.columns - self.x)
                first += 1
            for y in range(first, self.rows):
                self.cells[y] = [" "] * self.columns
        elif kind == "K":
            if n == 1:
                row[:self.x + 1] = [" "] * min(self.x + 1, self.columns)
            else:
                row[self.x:] = [" "] * (self.columns - self.x)
        elif kind == "X":
            row[self.x:self.x + n] = [" "] * len(row[self.x:self.x + n])
        elif kind == "P":
            del row[self.x:self.x + max(n, 1)]
            row += [" "] * (self.columns - len(row))
        elif kind == "@":
            row[self.x:self.x] = [" "] * max(n, 1)
            del row[self.columns:]
        elif kind == "b":
            for _ in range(max(n, 1)):
                self.put(self.last)
        elif kind in "LMST":
            self.scroll(self.y if kind in "LM" else self.top, max(n, 1) * (1 if kind in "MS" else -1))
        elif kind == "r":
            self.top = max(n, 1) - 1
            self.bottom = (numbers[1] if len(numbers) > 1 else self.rows) - 1
            self.x = self.y = 0
        elif kind not in "cmhltn":
            raise AssertionError(f"unknown control: {numbers} {kind}")

    def feed(self, data):
        self.seen += data
        data = self.rest + data
        self.rest = b""
        at = 0
        while at < len(data):
            byte = data[at:at + 1]
            if byte == b"\x1b":
                match = ESCAPE.match(data, at)
                if not match:
                    if len(data) - at > 40:
                        raise AssertionError(f"unknown sequence: {data[at:at + 20]!r}")
                    self.rest = data[at:]
                    return
                if match.group(3):
                    self.control([int(n or 0) for n in match.group(2).split(b";")] if match.group(2) else [],
                                 match.group(3).decode())
                elif match.group() == b"\x1bM" and self.y == self.top:
                    self.scroll(self.top, -1)
                at = match.end()
                continue
            if byte == b"\r":
                self.x = 0
            elif byte == b"\n":
                if self.y == self.bottom:
                    self.scroll(self.top, 1)
                else:
                    self.y += 1
            elif byte == b"\b":
                self.x -= 1
            elif byte >= b" ":
                length = 1 if byte < b"\x80" else 2 if byte < b"\xe0" else 3 if byte < b"\xf0" else 4
                if len(data) - at < length:
                    self.rest = data[at:]
                    return
                self.put(data[at:at + length].decode())
                at += length - 1
            at += 1


class Terminal:
    """passtally in its own terminal."""

    def __init__(self, case, args, columns=100, rows=24, program=COMMAND, **env):
        self.case = case
        self.screen = Screen(columns, rows)
        self.master, self.slave = pty.openpty()
        self.size(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [program, *map(str, args)], stdin=self.slave, stdout=self.slave, stderr=self.slave, cwd=case.folder,
            env={**case.env, "TERM": "xterm", **env}, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        case.addCleanup(self.clean)

    def size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        self.size(columns, rows)

    def clean(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    def take(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.screen.feed(data)
        return bool(data)

    def until(self, wanted, seconds=120):
        """Read until the pattern is on the screen (or the callable is true)."""
        holds = wanted if callable(wanted) else lambda text: re.search(wanted, text)
        deadline = time.monotonic() + seconds
        while not holds(self.screen.text()):
            if time.monotonic() > deadline:
                self.case.fail(f"not on the screen: {wanted}\n{self.screen.text()}")
            self.take(0.1)
        return self.screen.text()

    def press(self, keys):
        os.write(self.master, keys if isinstance(keys, bytes) else keys.encode())

    def ended(self, seconds=120):
        """The exit status; the remaining output is on the screen."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                self.case.fail(f"passtally did not end\n{self.screen.text()}")
            self.take(0.05)
        while self.take(0):
            pass
        return self.process.returncode

    def restored(self):
        self.case.assertEqual(termios.tcgetattr(self.slave), self.before)
        seen = self.screen.seen
        if b"\x1b[?1049h" in seen: # the other screen was left, the cursor is there again
            self.case.assertGreater(seen.rfind(b"\x1b[?1049l"), seen.rfind(b"\x1b[?1049h"))
            self.case.assertGreater(seen.rfind(b"\x1b[?25h"), seen.rfind(b"\x1b[?25l"))


OTHERS = [pass_info(A, "other a"), pass_info(B, "other b"), pass_info(C, "p77")]


def long_log(n_passes=30, frames=50, cpu_ns=20_000_000):
    """Pass i takes (i + 1) us and draws n_passes - i times, in a log as it is before its end."""
    lines = [header(pid=os.getpid()), device(), *OTHERS]
    ids = [f"{i + 1:016x}" for i in range(n_passes)]
    lines += [pass_info(ident, f"p{i:02}", width=64, height=64, color=["RGBA8"]) for i, ident in enumerate(ids)]
    for k in range(frames):
        lines.append(frame(k, [one_pass(i, ident, 1000 * (i + 1), f"p{i:02}", draws=n_passes - i,
                                        counters={"samples_passed": i})
                               for i, ident in enumerate(ids)], start_ns=10**12 + k * cpu_ns, cpu_ns=cpu_ns))
    return lines


def names(text):
    """The passes of a screen or table, in order."""
    return re.findall(r"^(p\d\d)\b", text, re.MULTILINE)


class Plain(CliCase):
    """No terminal, no escape codes."""

    def table(self, *args, **kwargs):
        done = self.ok("top", "--once", *args, **kwargs)
        self.assertEqual(done.stderr, b"")
        self.assertNotIn(b"\x1b", done.stdout)
        return done.stdout.decode()

    def test_figures(self):
        log = self.write_log("a.jsonl", long_log(3, 10) + [end(10, 30)])
        text = self.table(log)
        self.assertIn("ended: exit  demo (process ", text)
        self.assertIn("10 frames in 0:00:00", text)
        self.assertIn("hitches: none; passtally costs 1.0 us a frame (0.0 %)\n", text)
        self.assertIn("50.0 fps; frame time median 20.0 ms, longest 20.0 ms\n", text)
        self.assertIn("bound by a cap or vsync at 50 fps in 100 % of frames (GPU works 0 %)\n", text)
        self.assertIn("hitches: none; passtally costs", text)
        self.assertRegex(text, r"frame time +20.0 ms +max +20.0 ms +█")
        self.assertEqual(text.count(".0 fps"), 1, "one rate")
        self.assertRegex(text, r"GPU time +6.0 us +max +6.0 us +█")
        self.assertEqual(names(text), ["p02", "p01", "p00"])
        # share, mean, max, chart, n, draws, vertices: what 80 columns hold
        self.assertRegex(text, r"p02 +50.0% +3.0 +3.0 +█+ +10 +1 +3\n")
        self.assertRegex(text, r"p00 +16.7% +1.0 +1.0 +█+ +10 +3 +3\n")
        self.assertRegex(self.table(log, "--sort", "samples_passed"), r"p02 +50.0% +3.0 +3.0 +█+ +10 +2 +1\n")

    def test_prometheus(self):
        """The same means, for all devices; the file is whole at any time, and gone when the log has ended."""
        lines = long_log(3, 10)
        for line in lines:
            if line["type"] == "pass_info" and line["label"] == "p02":
                line["label"] = 'a "b"\\c\nd'
        log = self.write_log("a.jsonl", lines)
        text = self.table(log, "--prometheus", "-")
        labels = 'program="demo",device="0"'
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        self.assertEqual({key: float(value) for key, value in values.items()}, {
            f"passtally_frame_seconds{{{labels}}}": 0.02, f"passtally_frame_seconds_max{{{labels}}}": 0.02,
            f"passtally_frame_gpu_seconds{{{labels}}}": 6e-6, f"passtally_frame_gpu_seconds_max{{{labels}}}": 6e-6,
            **{f"passtally_pass_gpu_seconds{end}{{{labels},pass=\"{name}\"}}": ns / 1e9 for end in ("", "_max")
               for name, ns in (("p00", 1000), ("p01", 2000), ('a \\"b\\"\\\\c\\\\nd', 3000))}})
        for name in re.findall(r"# TYPE (\S+) gauge", text):
            self.assertIn(f"\n{name}{{", text)
        self.table(log, "--prometheus", "out.prom")
        self.assertEqual((self.folder / "out.prom").read_text(encoding="utf-8"), text)
        follower = subprocess.Popen([COMMAND, "top", "--prometheus", "out2.prom", log], env=self.env, cwd=self.folder,
                                    stdout=subprocess.PIPE)
        self.addCleanup(follower.kill)
        while not (self.folder / "out2.prom").exists():
            self.assertIsNone(follower.poll())
            time.sleep(0.02)
        self.assertEqual((self.folder / "out2.prom").read_text(encoding="utf-8"), text)
        self.write_log("a.jsonl", lines + [end(10, 30)])
        self.assertEqual((follower.communicate(timeout=60)[0], follower.returncode), (b"", 0))
        self.assertFalse((self.folder / "out2.prom").exists())
        done = self.command("top", "--once", "--prometheus", "nowhere/out.prom", log)
        self.assertEqual((done.returncode, done.stdout), (125, b""))

    def test_what_is_printed_has_80_columns(self):
        """The head loses nothing: text that does not fit beside the device has its own line."""
        name, note = "a graphics card with a name that is rather long (rev 2)", "word " * 40
        lines = [header(pid=os.getpid(), program="/usr/bin/" + "g" * 40), device(0, name=name), device(1),
                 pass_info(A, "scene/" + "a" * 90), pass_info(B, "b"),
                 {"type": "note", "level": "info", "message": note}]
        lines += [frame(k, [one_pass(0, A, 5 * 10**6, "scene")], start_ns=10**12 + k * 10**7, cpu_ns=10**7) for k in range(30)]
        lines += [frame(k, [one_pass(0, B, 10**6, "b")], 1, start_ns=10**11 + k * 10**7, cpu_ns=10**7) for k in range(30)]
        text = self.table(self.write_log("a" * 90 + ".jsonl", lines))
        self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])
        for words in (f" (process {os.getpid()})\n60 frames in 0:15:00\n",
                      f"device 0: {name}\n2 devices in all\n",
                      "longest 10.0 ms\n", "hitches: none; passtally costs 1.0 us a frame (0.0 %)\n"):
            self.assertIn(words, text)
        self.assertIn("\nnote: word word", text)
        self.assertNotIn("(not in a pass)", text)

    def test_only_the_window_counts(self):
        lines = long_log(1, 0)
        # 10 s of 1 ms, then 10 s of 3 ms, a frame every 0.1 s.
        for k in range(200):
            lines.append(frame(k, [one_pass(0, f"{1:016x}", 1_000_000 if k < 100 else 3_000_000, "p00")],
                               start_ns=10**12 + k * 100_000_000, cpu_ns=100_000_000))
        # A pass that ran only at first is no longer there.
        lines[7]["passes"].append(one_pass(1, B, 5, "other b"))
        log = self.write_log("a.jsonl", lines)
        text = self.table(log, "--window", "5")
        self.assertRegex(text, r"p00 +100.0% +3.000 +3.000")
        self.assertNotIn("other b", text)
        n = int(re.search(r"p00 +\S+ +\S+ +\S+ +█+ +(\d+) ", text).group(1))
        self.assertTrue(44 <= n <= 50, n)
        self.assertRegex(self.table(log, "--window", "60"), r"p00 +100.0% +2.000 +3.000")
        self.assertIn("other b", self.table(log, "--window", "60"))

    def test_a_value_that_came_late_is_not_blown_up(self):
        lines = long_log(1, 0)
        for k in range(10):
            lines.append(frame(k, [one_pass(0, f"{1:016x}", 1000, "p00", counters={"samples_passed": 50 * (k == 9)})],
                               start_ns=10**12 + k * 1000))
        self.assertRegex(self.table(self.write_log("a.jsonl", lines), "--sort", "samples_passed"), r"p00 .* 10 +5\.000 ")

    def test_a_cause_by_events(self):
        """Calls of a frame are copied with it: what is read later does not change them."""
        lines = long_log(1, 0)
        for k in range(60):
            slow = 40 * 10**6 * (k == 30)
            more = {"events": [{"kind": "shader", "n": 4, "ns": slow, "own_ns": slow}], "calls": [
                {"kind": "shader", "call": "glCompileShader", "thread": "game", "start_ns": 10**12, "ns": slow}]} if slow else {}
            lines.append(frame(k, [one_pass(0, f"{1:016x}", 1000, "p00")], start_ns=10**12 + k * 10**7, cpu_ns=10**7 + slow,
                               thread_ns=10**6 + slow, wait_ns=0, **more))
        self.assertIn("hitches: 1; frame 30: +40.0 ms, 4 shaders made, 40.0 ms\n", self.table(self.write_log("e.jsonl", lines)))

    def test_it_says_what_report_says(self):
        """What other threads did is known to the answer, and loading is in none of the figures."""
        lines, at = long_log(1, 0), 10**12
        for k in range(90):
            length = 900 * 10**6 if k < 2 else 40 * 10**6 if k == 60 else 10**7
            lines.append(frame(k, [one_pass(0, f"{1:016x}", 5 * 10**6, "p00")], start_ns=at, cpu_ns=length, gpu_ns=5 * 10**6,
                               envelope_ns=5 * 10**6, thread_ns=3 * 10**6, wait_ns=0))
            at += length
            lines.append({"type": "process", "time_ns": at, "period_ns": length, "resident_bytes": 10**8, "ready_ns": 0, "threads": [
                {"name": "game", "cpu_ns": 3 * 10**6, "ends_frames": True}, {"name": "loader", "cpu_ns": 28 * 10**6 if k == 60 else 0}]})
        log = self.write_log("p.jsonl", [*lines, end(90, 90)])
        text = self.table(log)
        hitch = re.search(r"hitches: 1; (frame 60: .*)", text).group(1)
        self.assertIn("loader worked 28.0 ms", hitch)
        self.assertIn(hitch, self.ok("report", log).stdout.decode())
        self.assertRegex(text, r"frame time +10.3 ms +max +40.0 ms")
        self.assertRegex(text, r"p00 +100.0% +5.000 +5.000 .* 88 ")

    def test_absent_is_not_zero(self):
        lines = long_log(0, 0)
        lines.append(frame(0, [one_pass(0, A, None, "other a")]))
        del lines[-1]["gpu_ns"], lines[-1]["envelope_ns"], lines[-1]["coverage"]
        text = self.table(self.write_log("a.jsonl", lines))
        self.assertRegex(text, r"GPU time +not measured")
        self.assertRegex(text, r"other a +- +- +- +1 ")

    def test_memory_is_for_the_passes_of_the_window(self):
        def burst(number, first, count):
            return frame(number, [one_pass(i, f"{first + i:016x}", 1000) for i in range(count)],
                         start_ns=10**12 + number * 60 * 10**9)
        ids = [pass_info(f"{i:016x}", f"p{i}") for i in range(1, 6001)]
        few = [header(), device(), *ids, burst(0, 1, 3000), burst(1, 3001, 3000)]
        text = self.table(self.write_log("few.jsonl", few))
        self.assertIn("\np6000 ", text)
        self.assertNotIn("\np3000 ", text)
        self.assertEqual(len(re.findall(r"^p\d+ ", text, re.MULTILINE)), 3000)
        text = self.table(self.write_log("many.jsonl", [*few, burst(2, 1, 6000)]))
        self.assertEqual(len(re.findall(r"^p\d+ ", text, re.MULTILINE)), 6000)

    def test_a_window_of_too_many_passes_is_shorter(self):
        lines = [header(), device(), *(pass_info(f"{i:016x}", f"p{i}") for i in range(1, 3001))]
        for number in range(60):
            lines.append(frame(number, [one_pass(i, f"{i + 1:016x}", 1000) for i in range(3000)], start_ns=10**12 + number * 10**7))
        for n, cut in ((20, False), (60, True)):
            text = self.table(self.write_log("a.jsonl", lines[:3002 + n]))
            self.assertEqual("more passes than fit in memory: the window is shorter" in text, cut)
            self.assertIn("\np3000 ", text)

    def test_sort(self):
        log = self.write_log("a.jsonl", long_log(5, 3))
        down = ["p04", "p03", "p02", "p01", "p00"]
        for key, want in (("share", down), ("mean", down), ("max", down), ("samples_passed", down),
                          ("draws", down[::-1]), ("name", down[::-1]), ("n", down[::-1])):
            self.assertEqual(names(self.table(log, "--sort", key)), want, key)
        done = self.command("top", "--once", "--sort", "nonsense", log)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"nonsense", done.stderr)

    def test_devices(self):
        lines = [header(), device(0), device(1), device(2, api="vulkan", beneath=1), *OTHERS]
        for k in range(4):
            lines.append(frame(k, [one_pass(0, A, 1000, "other a")], 0, start_ns=10**9 + k))
        for k in range(4):
            lines.append(frame(k, [one_pass(0, B, 1000, "other b")], 1, start_ns=2 * 10**9 + k))
            lines.append(frame(k, [one_pass(0, C, 1000, "p77")], 2, start_ns=2 * 10**9 + 10 + k))
        log = self.write_log("a.jsonl", lines)
        text = self.table(log) # the one that drew last, but not what is below it
        self.assertIn("device 1: card 1", text)
        self.assertIn("3 devices in all", text)
        self.assertIn("other b", text)
        self.assertNotIn("p77", text)
        self.assertIn("p77", self.table(log, "--device", "2"))
        self.assertIn("other a", self.table(log, "--device", "0"))
        for args, words in ((["--device", "7"], "no device 7 has frames"),
                            (["--sort", "x"], "no column is named x (yet): there are name, share, mean_ns, max_ns, n, draws, vertices")):
            done = self.command("top", "--once", *args, log)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(words, done.stderr.decode())

    def test_a_log_of_a_process_that_is_not_here(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        lines = long_log(2, 5)
        lines[0]["pid"] = gone.pid
        log = self.write_log("a.jsonl", lines)
        self.assertIn("no end line, and its process is not here", self.table(log))
        box = self.write_log("box.jsonl", [header(pid=os.getpid()), device()])
        self.write("box.jsonl.now", "")
        self.assertIn("running with --black-box: its frames are not here", self.table(box))
        # The process may be on another machine: a log that still grows counts as running.
        process = subprocess.Popen([COMMAND, "top", log], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.assertIn(b"is not here", process.stdout.readline())
        with open(log, "ab") as f:
            f.write(log_bytes([frame(5, [one_pass(0, C, 10**9, "p77")], start_ns=10**12 + 10**8)]))
        for line in process.stdout:
            if b"6 frames" in line:
                self.assertIn(b"running", line)
                break
        with open(log, "ab") as f:
            f.write(log_bytes([end(6, 11)]))
        self.assertIn(b"ended: exit", process.communicate(timeout=120)[0])

    def test_a_game_that_is_not_captured_now(self):
        starts, pauses = ({"type": "note", "level": "info", "message": f"capture {what}: passtally trigger",
                           "source": "trigger", "time_ns": 10**12 + i} for i, what in enumerate(("starts", "pauses")))
        waits = [header(pid=os.getpid(), options={"start-on": "signal:USR2"}), device()]
        for lines, words in (
                (waits, "waits for --start-on signal:USR2, or passtally trigger start"),
                (waits + [starts], "top  running"),
                (waits + [starts, pauses], "paused: passtally trigger start continues"),
                (waits + [starts, *long_log(2, 5)[2:], pauses], "paused: passtally trigger start continues"),
                (waits + long_log(2, 5)[2:], "top  running"),
                (waits + [end(0, 0)], "ended: exit")):
            self.assertIn(words, self.table(self.write_log("a.jsonl", lines)))

    def test_ascii(self):
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A, "näh\x1b[31m"),
                                         frame(0, [one_pass(0, A, 1000, "näh\x1b[31m")])])
        text = self.table(log, env={"LC_ALL": "C"})
        self.assertTrue(text.isascii(), text)
        self.assertIn("n?h\\u{1b}[31m", text)
        self.assertIn("mean us", text)
        self.assertIn("####", text)

    def test_it_prints_on_until_the_log_ends(self):
        lines = long_log(2, 5)
        log = self.write_log("a.jsonl", lines)
        process = subprocess.Popen([COMMAND, "top", log], env=self.env, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.assertIn(b"passtally top  running", process.stdout.readline())
        with open(log, "ab") as f:
            f.write(log_bytes([frame(5, [one_pass(0, C, 10**9, "p77")], start_ns=10**12 + 10**8), end(6, 11)]))
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertIn("ended: exit", out.decode())
        self.assertIn("\np77  ", out.decode())
        self.assertNotIn(b"\x1b", out)

    def test_signals_and_a_closed_pipe_end_it(self):
        log = self.write_log("a.jsonl", long_log(2, 5))
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process = subprocess.Popen([COMMAND, "top", log], env=self.env, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            process.stdout.readline()
            process.send_signal(sig)
            _, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, err), (0, b""), sig)
        process = subprocess.Popen([COMMAND, "top", log], env=self.env, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=120), 125)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()

    def test_bad_use(self):
        log = self.write_log("a.jsonl", simple_log())
        for args, code, words in (
                (["nowhere.jsonl"], 2, "nowhere.jsonl: cannot be opened"),
                ([log, log], 2, "one log at a time"),
                ([log, "--pid", "4"], 2, "use one"),
                (["--pid", "x"], 2, "whole number"),
                ([log, "--window", "0"], 2, "0.5 to 3600"),
                (["-"], 2, "standard input"),
                (["a.jsonl.zst"], 2, "compressed"),
                ([self.folder, "--once"], 2, "no regular file"),
                ([self.write("text", "hello\n"), "--once"], 3, "text:1:1: "),
                ([self.write_log("d.jsonl", [header(digest=True), end(1, 1)]), "--once"], 3, "a digest"),
                ([self.write("empty", ""), "--once"], 1, "empty has no whole line yet"),
                ([], 1, "passtally run -- GAME")):
            done = self.command("top", *args)
            self.assertEqual((done.returncode, done.stdout), (code, b""), args)
            self.assertIn(words, done.stderr.decode())

    def test_a_wrong_line_is_told_and_what_came_before_is_shown(self):
        log = self.write("a.jsonl", log_bytes(long_log(2, 5)) + b'{"type":"frame",oops}\n')
        done = self.command("top", "--once", log)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(names(done.stdout.decode()), ["p01", "p00"])
        self.assertRegex(done.stdout.decode(), r"a.jsonl:\d+:\d+: ")

    def test_a_log_without_frames_has_no_table(self):
        for last, words in (([], "no frame yet"), ([end(0, 0)], "it ended before its first frame")):
            shown = self.ok("top", "--once", self.write_log("a.jsonl", [header(), device()] + last)).stdout.decode()
            self.assertEqual(shown.splitlines()[1:], ["", words])

    def test_finding_the_log(self):
        place = self.folder / "state" / "passtally"
        place.mkdir(parents=True)
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        ours = [header(pid=os.getpid(), program="/bin/ours")] + long_log(1, 2)[1:]
        (place / "ours.jsonl").write_bytes(log_bytes(ours))
        ours[0]["program"] = "/bin/older"
        (place / "older.jsonl").write_bytes(log_bytes(ours))
        os.utime(place / "older.jsonl", (1, 1))
        (place / "dead.jsonl").write_bytes(log_bytes([header(pid=gone.pid)]))
        (place / "not-a-log.jsonl").write_bytes(b"\0")
        for name in ("a.jsonl.zst", "a.jsonl.out", "a.jsonl.12", "a.jsonl.", "a.json"):
            (place / name).write_bytes(log_bytes([header(program="/bin/" + name, pid=os.getpid())]))
        self.assertIn(f"ours (process {os.getpid()})", self.table())
        self.assertIn("ours (process", self.table("--pid", os.getpid()))
        done = self.command("top", "--pid", 2**31 - 2)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no log of process", done.stderr)
        (place / "ours.jsonl").unlink()
        (place / "older.jsonl").unlink()
        for newest, says in (("dead.jsonl", b"dead.jsonl: passtally top LOG shows it"), ("a.jsonl.zst", b"a.jsonl.zst: passtally report shows it")):
            os.utime(place / newest, (2**31, 2**31 + newest.count("z")))
            done = self.command("top")
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)

    def test_finding_the_log_of_a_game_elsewhere(self):
        """As with run -o PATH: the game's control socket names it, and of a container's game the number outside."""
        log = self.write_log("x.jsonl", [header(pid=7, program="/bin/elsewhere")] + long_log(1, 2)[1:])
        place = self.folder / "runtime" / "passtally"
        place.mkdir(mode=0o700)
        self.serve(place / "gone.sock", [b"ok\nstate capturing\nlog /no/such.jsonl\n"] * 3)
        self.serve(place / "game.sock", [b"ok\nstate capturing\npid 7\nlog " + bytes(log) + b"\n"] * 3)
        self.assertIn("elsewhere (process", self.table())
        self.assertIn("elsewhere (process", self.table("--pid", os.getpid()))
        older = self.folder / "state" / "passtally" / "older.jsonl"
        older.parent.mkdir(parents=True)
        older.write_bytes(log_bytes([header(pid=os.getpid(), program="/bin/older")]))
        os.utime(older, (1, 1))
        self.assertIn("elsewhere (process", self.table())


class OnATerminal(CliCase):
    def top(self, lines, *args, **kwargs):
        self.log = self.write_log("a.jsonl", lines)
        return Terminal(self, ["top", *args, self.log], **kwargs)

    def append(self, lines):
        with open(self.log, "ab") as f:
            f.write(lines if isinstance(lines, bytes) else log_bytes(lines))

    def test_sizes(self):
        for columns, rows in ((200, 50), (100, 24), (80, 24), (60, 16), (40, 10), (20, 6), (12, 4), (5, 2), (1, 1)):
            terminal = self.top(long_log(), columns=columns, rows=rows)
            if columns >= 12 and rows >= 4:
                text = terminal.until(r"p29")
                if rows >= 24:
                    text = terminal.until(lambda text: "q quit" in text.splitlines()[-1] and "running  demo" in text)
                    self.assertRegex(text, r"frame time +20.0 ms +max +20.0 ms +[▁-█]+")
                    self.assertEqual(names(text)[:3], ["p29", "p28", "p27"])
                if rows >= 16:
                    self.assertIn("frame time median 20.0 ms, longest 20.0 ms", " ".join(text.split()))
            else:
                terminal.until(lambda _: not termios.tcgetattr(terminal.slave)[3] & termios.ECHO)
                while terminal.take(0.5):
                    pass
            self.assertLessEqual(max(map(len, terminal.screen.text().splitlines() or [""])), columns)
            terminal.press("q")
            self.assertEqual(terminal.ended(), 0, (columns, rows))
            terminal.restored()

    def test_resize(self):
        terminal = self.top(long_log(), columns=100, rows=40)
        self.assertEqual(len(names(terminal.until(r"p00"))), 30)
        for columns, rows in ((100, 16), (140, 30), (60, 12), (6, 3), (100, 40)):
            terminal.resize(columns, rows)
            if rows >= 16:
                text = terminal.until(lambda text: "p29" in text and "quit" in text.splitlines()[-1])
                self.assertEqual(len(text.splitlines()), rows)
                self.assertEqual(len(names(text)), min(30, rows - 10))
            elif rows == 12:
                terminal.until(lambda text: "p29" in text and "quit" not in text and len(names(text)) == rows - 3)
            else:
                terminal.take(1)
        # LINES and COLUMNS differ from it and are ignored.
        terminal.press("q")
        self.assertEqual(terminal.ended(), 0)
        terminal = self.top(long_log(), columns=60, rows=20, LINES="50", COLUMNS="200")
        terminal.until(lambda text: "quit" in text.splitlines()[-1] and len(text.splitlines()) == 20)
        terminal.press("q")
        self.assertEqual(terminal.ended(), 0)

    def test_keys(self):
        terminal = self.top(long_log() + [{"type": "note", "level": "info", "message": "first"},
                                          {"type": "note", "level": "info", "message": "second"}], rows=20)
        terminal.until(r"(?s)note 2: second.*p29.*p28.*quit")
        terminal.press("\x1bOB" * 3) # cursor down, as with the keypad on
        terminal.until(lambda text: names(text)[:1] == ["p26"] and re.search(r"4-\d+ of 30", text))
        terminal.press("\x1bOF") # to the end
        terminal.until(lambda text: names(text)[-1:] == ["p00"])
        terminal.press("\x1bOH")
        terminal.until(lambda text: names(text)[:1] == ["p29"])
        terminal.press(">" * 4) # share, mean, max, n, draws
        terminal.until(lambda text: names(text)[:2] == ["p00", "p01"])
        terminal.press("<" * 4)
        terminal.until(lambda text: names(text)[:1] == ["p29"])
        terminal.press(" ")
        terminal.until("paused")
        self.append([frame(50, [one_pass(0, C, 10**9, "p77")], start_ns=10**12 + 10**9)])
        terminal.take(1)
        self.assertNotIn("p77", terminal.screen.text())
        terminal.press(" ")
        terminal.until("p77")
        terminal.press("q")
        self.assertEqual(terminal.ended(), 0)
        terminal.restored()

    def test_every_way_out(self):
        for how in ("q", b"\x03", signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            terminal = self.top(long_log())
            terminal.until(r"p29")
            self.assertNotEqual(termios.tcgetattr(terminal.slave), terminal.before)
            if isinstance(how, signal.Signals):
                terminal.process.send_signal(how)
            else:
                terminal.press(how)
            self.assertEqual(terminal.ended(), 0, how)
            terminal.restored()

    def test_a_terminal_that_goes_away(self):
        terminal = self.top(long_log())
        terminal.until(r"p29")
        os.close(terminal.slave)
        terminal.slave = -1
        os.close(terminal.master)
        terminal.master = -1
        self.assertIsNotNone(terminal.process.wait(timeout=120))

    def test_colour(self):
        for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "vt100"}, False)):
            terminal = self.top(long_log(), **env)
            terminal.until(r"p29")
            terminal.press("q")
            self.assertEqual(terminal.ended(), 0)
            colours = re.findall(rb"\x1b\[(?:\d+;)*3[0-7]m", terminal.screen.seen)
            self.assertEqual(bool(colours), coloured, env)

    def test_charts_by_charset(self):
        for env, blocks in (({}, True), ({"LC_ALL": "C"}, False)):
            terminal = self.top(long_log(), **env)
            text = terminal.until(r"p29(.|\n)*quit")
            self.assertEqual("█" in text, blocks, env)
            self.assertEqual("####" in text, not blocks, env)
            if env.get("LC_ALL") == "C":
                self.assertTrue(terminal.screen.seen.isascii())
            terminal.press("q")
            self.assertEqual(terminal.ended(), 0)

    def test_terminals_that_cannot(self):
        for name in ("dumb", "no-such-terminal", ""):
            terminal = self.top(long_log() + [end(50, 1500)], TERM=name)
            self.assertEqual(terminal.ended(), 0)
            self.assertNotIn(b"\x1b", terminal.screen.seen)
            self.assertIn(b"p29", terminal.screen.seen)
            terminal.restored()

    def test_a_log_that_grows(self):
        terminal = self.top(long_log(2, 5))
        terminal.until(r"5 frames")
        line = log_bytes([frame(5, [one_pass(0, C, 10**9, "p77")], start_ns=10**12 + 10**8)])
        self.append(line[:40]) # half a line: the rest is waited for
        terminal.take(1)
        self.assertRegex(terminal.until(r"running"), r"5 frames")
        self.append(line[40:])
        terminal.until(r"(?s)6 frames.*p77")
        self.append([end(6, 11)])
        terminal.until(r"ended: exit")
        time.sleep(0.6)
        self.assertIsNone(terminal.process.poll())
        terminal.press("q")
        self.assertEqual(terminal.ended(), 0)

    def test_a_game_that_dies(self):
        game = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        lines = long_log(2, 5)
        lines[0]["pid"] = game.pid
        terminal = self.top(lines)
        terminal.until(r"running")
        terminal.until(r"nothing new for \d+ s")
        game.kill()
        game.stdin.close()
        game.wait()
        terminal.until(r"the game ended without an end line")
        terminal.press("q")
        self.assertEqual(terminal.ended(), 0)

    def test_stop_and_go_on(self):
        # Only a shell's job is stopped by Ctrl-Z; while it draws, ncurses ignores it. It is pressed again, but not
        # at once: it discards what the shell has written and nobody has read.
        def stopped(text):
            nonlocal due
            if "status 148" not in text and time.monotonic() > due:
                terminal.press(b"\x1a")
                due = time.monotonic() + 5
            return "status 148" in text
        due = 0
        self.write_log("a.jsonl", long_log())
        script = f"'{COMMAND}' top a.jsonl; echo status $?; read line; fg; echo over"
        terminal = Terminal(self, ["-mc", script], program="sh")
        terminal.until(r"(?s)p29.*quit.*pause")
        terminal.until(stopped)
        terminal.restored()
        terminal.screen.resize(100, 24)
        terminal.press("\n")
        terminal.until(r"p29")
        terminal.press("q")
        terminal.until(r"over")
        self.assertEqual(terminal.ended(), 0)
        terminal.restored()


GAME = """
import json, os, signal, sys, time
sys.path.insert(0, os.environ["TEST_FOLDER"])
from cli_case import frame, header, log_bytes, one_pass
from test_top import long_log
print("the game speaks", flush=True)
print("tty", [os.isatty(i) for i in range(3)], repr(sys.stdin.read()), flush=True)
print("complaint", file=sys.stderr, flush=True)
lines = long_log(2, 5)
with open(os.environ["PASSTALLY_LOG"].replace("%%", "%"), "wb") as f:
    f.write(log_bytes(lines))
    f.flush()
    while not os.path.exists("finish"):
        time.sleep(0.02)
    f.write(log_bytes([{"type": "end", "frames": 5, "frames_dropped": 0, "passes": 10, "reason": "exit"}]))
os._exit(7)
"""


class RunLive(CliCase):
    def run_live(self, text=GAME, *more):
        env = {"TEST_FOLDER": os.path.dirname(os.path.abspath(__file__)), "PASSTALLY_COMMAND": COMMAND,
               "PYTHONDONTWRITEBYTECODE": "1"}
        return Terminal(self, ["run", "--live", "-o", "game.jsonl", *more, "--", sys.executable, "-c", text], **env)

    def finish(self):
        (self.folder / "finish").touch()

    def test_the_game_and_its_view(self):
        terminal = self.run_live()
        text = terminal.until(r"(?s)running.*p01.*p00.*quit")
        self.assertNotIn("speaks", text)
        self.finish()
        terminal.until(r"ended: exit")
        time.sleep(0.5)
        self.assertIsNone(terminal.process.poll())
        terminal.press("q")
        self.assertEqual(terminal.ended(), 7)
        terminal.restored()
        text = terminal.screen.text()
        self.assertRegex(text, r"log [~/]\S*/game.jsonl")
        self.assertRegex(text, r"what the program wrote to the terminal is in /\S+/game.jsonl.out")
        self.assertNotIn("runs on", text)
        self.assertEqual((self.folder / "game.jsonl.out").read_text(),
                         "the game speaks\ntty [False, False, False] ''\ncomplaint\n")
        self.assertEqual(self.left_behind(), [])

    def test_leaving_the_view_leaves_the_game(self):
        terminal = self.run_live()
        terminal.until(r"(?s)running.*quit")
        terminal.press("q")
        terminal.until(r"the view is closed; the program keeps running")
        terminal.restored()
        self.finish()
        self.assertEqual(terminal.ended(), 7)

    def test_what_ends_both(self):
        for how, status in ((b"\x03", -signal.SIGINT), (signal.SIGTERM, -signal.SIGTERM)):
            terminal = self.run_live(GAME, "--force")
            terminal.until(r"(?s)running.*quit")
            if isinstance(how, bytes):
                terminal.press(how)
            else:
                terminal.process.send_signal(how)
            self.assertEqual(terminal.ended(), status)
            terminal.restored()

    def test_a_game_that_renders_nothing(self):
        terminal = self.run_live("raise SystemExit(5)")
        self.assertEqual(terminal.ended(), 5)
        terminal.restored()
        self.assertIn("nothing was rendered", terminal.screen.text())
        self.assertFalse((self.folder / "game.jsonl.out").exists())
        terminal = Terminal(self, ["run", "--live", "-o", "none.jsonl", "--", "./no-such-program"])
        self.assertEqual(terminal.ended(), 127)
        self.assertEqual([p.name for p in self.folder.glob("none*")], [])

    def test_no_terminal(self):
        done = self.command("run", "--live", "-o", "game.jsonl", "--", sys.executable, "-c", "open('ran', 'w')")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"not a terminal", done.stderr)
        self.assertIn(b"passtally top", done.stderr)
        self.assertEqual([p.name for p in self.folder.glob("*") if p.name in ("ran", "game.jsonl")], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
