#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Broken logs: report and check say where and why, exit 3, and never crash."""

import json
import os
import re
import unittest

from cli_case import A, CliCase, device, end, frame, header, log_bytes, one_pass, pass_info, simple_log

GOOD = simple_log(3)
LINES = log_bytes(GOOD).splitlines(keepends=True)


def with_line(number, text):
    """The good log with line `number` (from 1) replaced."""
    lines = list(LINES)
    lines[number - 1] = (text if isinstance(text, bytes) else text.encode()) + b"\n"
    return b"".join(lines)


FRAME = LINES[4].decode().rstrip("\n")
BAD = {
    # name: (bytes, line, words of the message; None = any)
    "binary": (bytes(range(256)) * 64, 1, None),
    "empty": (b"", 1, None),
    "one byte of a header": (b"{", 1, "not even the header is whole"),
    "half a header": (LINES[0][:40], 1, "not even the header is whole"),
    "not json": (b"hello\n", 1, None),
    "nan": (with_line(5, FRAME.replace('"coverage":1.0', '"coverage":NaN')), 5, None),
    "infinity": (with_line(5, FRAME.replace('"coverage":1.0', '"coverage":1e999')), 5, None),
    "duplicate key": (with_line(5, FRAME.replace('"device":0', '"device":0,"device":0')), 5, "device"),
    "wrong schema": (with_line(1, json.dumps(header(schema="passtally/2"))), 1, "passtally/2"),
    "no header": (b"".join(LINES[1:]), 1, "header"),
    "deep nesting": (with_line(5, FRAME[:-1] + ',"x":' + "[" * 100000 + "]" * 100000 + "}"), 5, None),
    "bad utf-8": (with_line(3, LINES[2].rstrip(b"\n").replace(b"shadow", b"\xff\xfe")), 3, None),
    "lone surrogate": (with_line(3, LINES[2].decode().rstrip().replace("shadow", "\\ud800")), 3, None),
    "wrong type": (with_line(5, FRAME.replace('"cpu_ns":16000000', '"cpu_ns":"16"')), 5, None),
    "negative": (with_line(5, FRAME.replace('"cpu_ns":16000000', '"cpu_ns":-1')), 5, None),
    "missing field": (with_line(5, FRAME.replace('"cpu_ns":16000000,', "")), 5, "cpu_ns"),
    "cut in the middle": (with_line(5, FRAME[:50]), 5, None),
    "after the end": (log_bytes(GOOD) + LINES[4], 8 + 1, None),
    "two headers": (with_line(2, LINES[0].rstrip(b"\n")), 2, None),
    "frame of an unknown device": (with_line(5, FRAME.replace('"device":0', '"device":9')), 5, None),
    "nul bytes": (with_line(5, b"\0" * 100), 5, None),
}
BAD["after the end"] = (BAD["after the end"][0], len(LINES) + 1, None)


class BadLogs(CliCase):
    def refused(self, log, line, words):
        shown = re.escape(str(log))
        for command in ("report", "check"):
            done = self.command(command, log)
            text = done.stderr.decode()
            self.assertEqual(done.returncode, 3, f"{command}: {text}")
            place = re.search(rf"^{shown}:(\d+):(\d+): (.+)$", text, re.MULTILINE)
            self.assertTrue(place, text)
            self.assertEqual(int(place.group(1)), line, text)
            self.assertGreaterEqual(int(place.group(2)), 1)
            if words:
                self.assertIn(words, text)
            self.assertNotIn("\0", text)

    def test_bad(self):
        for name, (data, line, words) in BAD.items():
            with self.subTest(name):
                self.refused(self.write("bad.jsonl", data), line, words)

    def test_skip_bad(self):
        """A report can read past bad lines, and lists them; not past lines that others depend on."""
        lines = log_bytes(simple_log(20)).splitlines(keepends=True)
        lines[9], lines[11] = b"junk\n", lines[11][:80] + b"\n"
        log = self.write("a.jsonl", b"".join(lines))
        done = self.command("report", log)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b":10:1: ", done.stderr)
        self.assertIn(b"--skip-bad", done.stderr)
        for form in ([], ["--json"], ["--csv"]):
            done = self.ok("report", "--skip-bad", *form, log)
            self.assertIn(b"2 bad lines skipped: lines 10, 12\n", done.stderr)
        report = json.loads(self.ok("report", "--skip-bad", "--json", log).stdout)["reports"][0]
        self.assertEqual((report["skipped_lines"], report["devices"][0]["frames"]), (2, 18))
        # From a pipe, where the start of the log is examined beforehand, too.
        self.assertEqual(self.ok("report", "--skip-bad", "-", input=log.read_bytes()).stdout.splitlines()[1:],
                         self.ok("report", "--skip-bad", log).stdout.splitlines()[1:])
        lines[1] = lines[1][:40] + b"\n"
        done = self.command("report", "--skip-bad", self.write("b.jsonl", b"".join(lines)))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"b.jsonl:2:", done.stderr)

    def test_huge_line(self):
        path = self.folder / "huge.jsonl"
        with open(path, "wb") as out:
            out.write(b"".join(LINES[:4]))
            out.write(b'{"type":"note","level":"info","message":"')
            for _ in range(100):
                out.write(b"x" * 1000000)
            out.write(b'"}\n')
        self.refused(path, 5, None)

    def test_huge_line_without_end(self):
        path = self.folder / "huge.jsonl"
        with open(path, "wb") as out:
            out.write(LINES[0])
            for _ in range(100):
                out.write(b"[" * 1000000)
        self.refused(path, 2, None)

    def test_good(self):
        log = self.write_log("a.jsonl", GOOD)
        self.assertEqual(self.ok("check", log).stdout.decode(), f"{log}: ok, 3 frames, 6 passes\n")
        self.ok("check", "-", input=log.read_bytes())

    def test_unknown_lines_and_fields_pass(self):
        more = dict(GOOD[4], news={"a": [1, {"b": None}]})
        lines = GOOD[:4] + [more, {"type": "weather", "sun": True}] + GOOD[5:]
        log = self.write_log("a.jsonl", lines)
        self.ok("check", log)
        self.ok("report", log)

    def test_cut_anywhere(self):
        """What kill -9 may leave: complete lines and a piece of one."""
        data = b"".join(LINES)
        start = len(b"".join(LINES[:4]))
        for cut in range(start, len(data), 61):
            whole = data[cut - 1:cut] == b"\n"
            log = self.write("cut.jsonl", data[:cut])
            for command in ("report", "check"):
                done = self.command(command, log)
                text = done.stderr.decode()
                self.assertEqual(done.returncode, 0, f"{command}, {cut} bytes: {text}")
                self.assertEqual("cut" in text, not whole, f"{command}, {cut} bytes: {text}")

    def test_flipped_bytes(self):
        """Any byte may be wrong: a verdict, not a crash."""
        data = bytearray(b"".join(LINES))
        for at in range(0, len(data), 97):
            for value in (0, 0x22, 0x7d, 0xff):
                broken = bytearray(data)
                broken[at] = value
                log = self.write("flip.jsonl", bytes(broken))
                done = self.command("report", log)
                self.assertIn(done.returncode, (0, 3), f"byte {at}: {done.stderr.decode()}")

    def test_schema_violations(self):
        """check says what was expected, and where in the line."""
        passes = [one_pass(i, A, 5, kind="rendr") for i in range(30)]
        lines = [header(), device(), pass_info(A), frame(0, passes), end(1, 30)]
        done = self.command("check", self.write_log("a.jsonl", lines))
        self.assertEqual(done.returncode, 3)
        text = done.stderr.decode()
        self.assertRegex(text, r':4:\d+: "kind": "rendr" is none of render, ')
        self.assertEqual(text.count("\n"), 1)

    def test_many_wrong_sums(self):
        """The first 20, and how many more."""
        told = [{"device": 0, "id": A, "key": f"k{i}", "n": 2, "sum": "2", "sum_sq": "2", "min": 1, "max": 1, "mean": 1,
                 "sd_population": 0, "sd_sample": 0} for i in range(30)]
        passes = [one_pass(0, A, 5)]
        lines = [header(), device(), pass_info(A), frame(0, passes), end(1, 1, statistics=told)]
        done = self.command("check", self.write_log("a.jsonl", lines))
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count(b":5:1: /statistics/"), 20)
        self.assertIn(b"more sums are wrong", done.stderr)

    def test_statistics_that_frames_do_not_have(self):
        """The end line's statistics agree with the frames."""
        def log(**wrong):
            told = {"device": 0, "id": A, "key": "gpu_ns", "n": 2, "sum": "19", "sum_sq": "193",
                    "min": 7, "max": 12, "mean": 9.5, "sd_population": 2.5,
                    "sd_sample": 3.5355339059327378, **wrong}
            lines = [header(), device(), pass_info(A), frame(0, [one_pass(0, A, 5), one_pass(1, A, 7, segment=1)]),
                     frame(1, [one_pass(0, A, 7)]), end(2, 3, statistics=[told])]
            return self.write_log("a.jsonl", lines)
        self.ok("check", log())
        for key, value in (("n", 3), ("sum", "20"), ("sum_sq", "192"), ("min", 5), ("max", 13), ("mean", 9.6),
                           ("sd_population", 2.6), ("sd_sample", 3.6), ("id", "00000000000000ff"), ("device", 4),
                           ("key", "draws_of_nobody")):
            wrong = log(**{key: value})
            done = self.command("check", wrong)
            self.assertEqual(done.returncode, 3, key)
            self.assertIn(":6:1: /statistics/0: ", done.stderr.decode())
            self.ok("check", "--lines", wrong)

    def test_counts_of_a_display_list(self):
        """What a segment flagged `list` leaves out is unknown, for check, in the end line and in a report."""
        frames = [frame(n, [one_pass(0, A, 5, clears=1),
                            {"index": 1, "id": A, "segment": 1, "kind": "render", "gpu_ns": 7, "flags": ["list"]}])
                  for n in range(2)]
        told = [{"device": 0, "id": A, "key": "gpu_ns", "n": 2, "sum": "24", "sum_sq": "288", "min": 12, "max": 12,
                 "mean": 12, "sd_population": 0, "sd_sample": 0}]
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A), *frames, end(2, 4, statistics=told)])
        self.ok("check", log)
        values = json.loads(self.ok("report", "--json", log).stdout)["reports"][0]["rows"][0]["values"]
        self.assertEqual({"draws", "vertices", "instances", "dispatches", "copies", "clears"} & set(values), set())
        self.assertEqual(values["gpu_ns"]["mean"], 12)
        for key in ("draws", "clears", "dispatches", "copies"):
            wrong = {**told[0], "key": key, "sum": "2", "sum_sq": "2", "min": 1, "max": 1, "mean": 1}
            log = self.write_log("b.jsonl", [header(), device(), pass_info(A), *frames, end(2, 4, statistics=[wrong])])
            self.assertEqual(self.command("check", log).returncode, 3, key)

    def test_statistics_that_no_double_holds(self):
        """Squares too small or too large for a double: what follows from them is left out, and that is right."""
        sizes = {"small": ([1e-200, 2e-200], {"sum": "3e-200", "sum_sq": "0", "mean": 1.5e-200}),
                 "large": ([1e200, 3e200], {"mean": 2e200})}
        frames = [frame(n, [one_pass(0, A, 5, counters={key: values[n] for key, (values, _) in sizes.items()})])
                  for n in range(2)]
        told = [{"device": 0, "id": A, "key": key, "n": 2, "min": values[0], "max": values[1], **more}
                for key, (values, more) in sizes.items()]
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A), *frames, end(2, 2, statistics=told)])
        self.ok("check", log)
        values = json.loads(self.ok("report", "--json", log).stdout)["reports"][0]["rows"][0]["values"]
        self.assertEqual([values["small"]["mean"], values["small"].get("sd")], [1.5e-200, None])
        told[0]["sd_sample"] = 0
        wrong = self.write_log("b.jsonl", [header(), device(), pass_info(A), *frames, end(2, 2, statistics=told)])
        self.assertEqual(self.command("check", wrong).returncode, 3)

    def test_statistics_of_doubles_that_are_whole(self):
        """We write 3.0, but jq or a script may have changed that to 3, in frames or in sums."""
        for values, total, squares in (([0.5] * 4, "2", "1"), ([3000000000] * 3, "9000000000.0", "2.7e19"),
                                       ([1000000000000000] * 3, "3000000000000000.0", "3e30"), ([1, 2.5, 2.5], "6", "13.5")):
            frames = [frame(n, [one_pass(0, A, 5, counters={"x": v})]) for n, v in enumerate(values)]
            mean = sum(values) / len(values)
            spread = sum((v - mean)**2 for v in values)
            told = {"device": 0, "id": A, "key": "x", "n": len(values), "sum": total, "sum_sq": squares, "min": min(values),
                    "max": max(values), "mean": mean, "sd_population": (spread / len(values))**0.5,
                    "sd_sample": (spread / (len(values) - 1))**0.5}
            lines = [header(), device(), pass_info(A), *frames, end(len(values), len(values), statistics=[told])]
            self.ok("check", self.write_log("a.jsonl", lines))
            told["sum"] = str(float(total) * 1.001)
            self.assertEqual(self.command("check", self.write_log("b.jsonl", lines)).returncode, 3, values)

    def test_what_the_schema_lets_be_left_out(self):
        """A counter may have no unit, a pass only its position: every command reads that."""
        lines = [{k: v for k, v in header().items() if k != "argv"},
                 {"type": "device", "device": 0, "api": "vulkan", "sources": [{"name": "s", "state": "off"}],
                  "counters": [{"key": "k", "kind": "event", "scope": "pass"}], "metrics": [{"key": "m"}]},
                 {"type": "pass_info", "id": A, "kind": "other", "target": {}}]
        for n in range(10):
            bare = {"index": 0, "id": A, "kind": "other"}
            told = {**bare, "index": 1, "segment": 1, "counters": {"k": n}, "metrics": {"m": 0.5}, "workloads": [{"command": "x"}]}
            lines.append({"type": "frame", "frame": n, "device": 0, "start_ns": 0, "cpu_ns": 0, "passes": [bare, told][n % 2:],
                          "unattributed": {}, "overhead_ns": 0, "dropped_passes": 0})
        lines += [{"type": "note", "level": "info", "message": ""},
                  {**end(10, 15), "statistics": [{"id": A, "key": "k", "n": 5}], "growth": [{"device": 0, "key": "k", "growth": 45}]}]
        log = self.write_log("a.jsonl", lines)
        self.ok("check", "--lines", log)
        for words in (["report"], ["report", "--json"], ["report", "--csv"], ["report", "--by", "frame"], ["report", "--by", "label"],
                      ["report", "--by", "workload"], ["compare", log], ["compare", "--json", log], ["top", "--once"],
                      ["export", "--csv", "-"], ["export", "--perfetto", "-"]):
            self.assertTrue(self.ok(*words, log).stdout, words)

    def test_statistics_and_report_agree_on_a_frame_cut_short(self):
        lines = [header(), device(), pass_info(A), frame(0, [one_pass(0, A, 5)]),
                 frame(1, [one_pass(0, A, 8)], flags=["partial"])]
        told = {"device": 0, "id": A, "key": "gpu_ns", "n": 2, "sum": "13", "sum_sq": "89", "min": 5, "max": 8, "mean": 6.5,
                "sd_population": 1.5, "sd_sample": 2.1213203435596424}
        log = self.write_log("a.jsonl", [*lines, end(2, 2, statistics=[told])])
        self.ok("check", log)
        values = json.loads(self.ok("report", "--json", log).stdout)["reports"][0]["rows"][0]["values"]["gpu_ns"]
        self.assertEqual([values[k] for k in ("n", "min", "max", "mean", "sd_population", "sd")],
                         [told[k] for k in ("n", "min", "max", "mean", "sd_population", "sd_sample")])

    def test_growth_that_does_not_add_up(self):
        """The sum of passes, unattributed and unlogged is the delta of a snapshot counter."""
        def log(growth, **more):
            rest = {"unattributed": {"counters": {"snap": 4, "other": 2**64 - 1}}}
            lines = [header(), device(), device(1), pass_info(A),
                     frame(0, [one_pass(0, A, 5, counters={"snap": 10}), one_pass(1, A, 5, segment=1)], **rest),
                     frame(0, [one_pass(0, A, 5, counters={"snap": 700})], 1, flags=["shared_totals"]),
                     frame(1, [one_pass(0, A, 5, counters={"snap": 6, "other": 1})], flags=["shared_totals"]),
                     end(3, 4, growth=[{"device": 0, "source": "s", "key": "snap", "growth": growth, **more},
                                       {"device": 1, "source": "s", "key": "snap", "growth": 700},
                                       {"device": 0, "source": "s", "key": "never", "growth": 0}])]
            return self.write_log("a.jsonl", lines)
        self.ok("check", log(20))
        self.ok("check", log(25, unlogged=5, outside=1000))
        for wrong in (log(21), log(20, unlogged=1), log(19)):
            done = self.command("check", wrong)
            self.assertEqual(done.returncode, 3)
            text = done.stderr.decode()
            self.assertIn(":8:1: /growth/0: snap of device 0 grew by", text)
            self.assertIn("passes 16, unattributed 4", text)
            self.assertEqual(text.count("/growth/"), 1)
        lines = log_bytes([header(), device(), pass_info(A), frame(0, [one_pass(0, A, 5, counters={"snap": 1.5})]),
                           end(1, 1, growth=[{"device": 0, "key": "snap", "growth": 1}])])
        done = self.command("check", self.write("b.jsonl", lines))
        self.assertIn("no whole numbers", done.stderr.decode())
        self.assertEqual(done.returncode, 3)

    def test_growth_of_two_devices(self):
        """Of two frames that overlap, the later line is flagged where both hold all that a source counted."""
        both = [{"device": n, "source": "s", "key": "snap", "growth": 7} for n in range(2)]
        other = [both[0], {**both[1], "source": "t"}]
        late = {"start_ns": 16000000}
        for what, flags, more, beneath, growth, good in (
                ("not flagged", [], {}, {}, both, False),
                ("not flagged, by a hair", [], {"start_ns": 15999999}, {}, both, False),
                ("another flag", ["partial"], {}, {}, both, False),
                ("flagged", ["shared_totals"], {}, {}, both, True),
                ("one after the other", [], late, {}, both, True),
                ("one beneath the other", [], {}, {"beneath": 0}, both, True),
                ("another source", [], {}, {}, other, True),
                ("not from snapshots", [], {}, {}, [], True)):
            lines = [header(), device(), device(1, **beneath), pass_info(A),
                     frame(0, [one_pass(0, A, 5, counters={"snap": 7})]),
                     frame(3, [one_pass(0, A, 5)], 1, flags=flags, unattributed={"counters": {"snap": 7}}, **more),
                     end(2, 2, growth=growth)]
            done = self.command("check", self.write_log("a.jsonl", lines))
            self.assertEqual(done.returncode, 0 if good else 3, (what, done.stderr))
            self.assertEqual(b"/growth/1: snap of device 1 holds what device 0 did meanwhile, and frame 3 is not "
                             b"flagged shared_totals" in done.stderr, not good, (what, done.stderr))

    def test_files_that_are_not_there(self):
        for command in ("report", "check", "digest"):
            done = self.command(command, "missing.jsonl")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"No such file", done.stderr)
            done = self.command(command, self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"directory", done.stderr)
            self.assertEqual(self.command(command).returncode, 2)

    def test_one_bad_of_several(self):
        good, bad = self.write_log("a.jsonl", GOOD), self.write("b.jsonl", b"x\n")
        done = self.command("report", bad, good)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"scene/shadow", done.stdout)
        done = self.command("check", bad, good)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"ok, 3 frames", done.stdout)


if __name__ == "__main__":
    unittest.main()
