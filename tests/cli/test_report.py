#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally report: its numbers, its formats, its options, its treatment of strange labels."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import statistics
import struct
import subprocess
import termios
import unicodedata
import unittest

from cli_case import (A, B, C, COMMAND, ROOT, CliCase, device, end, frame, header, log_bytes, one_pass,
                      pass_info, simple_log)


def width(line):
    """Columns that a line takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class Report(CliCase):
    def table(self, *args, **kwargs):
        """The lines of the table, head first."""
        text = self.ok("report", *args, **kwargs).stdout.decode()
        lines = text[re.search(r"(?m)^ *(pass|frame) (?!time )", text).start():].splitlines()
        return lines[:lines.index("")] if "" in lines else lines

    def json(self, *args, **kwargs):
        done = self.ok("report", "--json", *args, **kwargs)
        reports = json.loads(done.stdout)["reports"]
        return reports[0] if len(reports) == 1 else reports

    def rows(self, *args):
        return {row["name"]: row for row in self.json(*args)["rows"]}

    def test_numbers(self):
        log = self.write_log("a.jsonl", simple_log(10))
        row = self.rows(log)["scene/shadow"]
        values = [1000 + i for i in range(10)]
        gpu = row["values"]["gpu_ns"]
        self.assertEqual((gpu["n"], gpu["sum"], gpu["min"], gpu["max"]), (10, sum(values), 1000, 1009))
        self.assertEqual(gpu["mean"], statistics.mean(values))
        self.assertAlmostEqual(gpu["sd"], statistics.stdev(values), places=12)
        self.assertEqual((gpu["p50"], gpu["p90"], gpu["p99"]), (1004, 1008, 1009))
        self.assertAlmostEqual(row["share"], 1 / 3)
        self.assertEqual(row["values"]["samples_passed"]["sum"], 70)
        self.assertEqual(row["values"]["samples_passed"]["unit"], "1")
        other = self.rows(log)["Color + depth 64x64 RGBA8"]
        self.assertEqual(other["values"]["draws"]["mean"], 2)
        self.assertNotIn("samples_passed", other["values"])

    def test_integers_stay_exact(self):
        top = 2**64 - 1
        lines = [header(), device(), pass_info(A)]
        lines += [frame(i, [one_pass(0, A, 1, counters={"samples_passed": top})]) for i in range(3)]
        log = self.write_log("a.jsonl", lines + [end(3, 3)])
        value = self.json(log)["rows"][0]["values"]["samples_passed"]
        self.assertEqual((value["sum"], value["max"], value["p50"]), (3 * top, top, top))

    def test_two_windows_are_one_row(self):
        """Passes of one identity in two windows: that their row is of both is said, and of one window nothing is."""
        for windows in (2, 1):
            lines = [header(), device(api="vulkan"), pass_info(A, "ui"), pass_info(B, "map")]
            for i in range(40):
                lines.append(frame(i, [one_pass(0, A, 1000 + i % 2 * 3000, surface=7 + i % windows), one_pass(1, B, 5)],
                                   start_ns=10**9 + i * 10**7, cpu_ns=10**7))
            text = self.ok("report", self.write_log("w.jsonl", [*lines, end(40, 80)])).stdout.decode()
            self.assertEqual("ui: one row for 2 windows; the answers above are of each\n" in text, windows == 2, text)
            self.assertNotIn("map: one row", text)

    def test_pictures(self):
        """Their files are named where there are any, and not those of another log."""
        def pictured(option, *numbers):
            frames = [frame(i, [one_pass(0, A, 5, **({"picture": n} if n else {}))]) for i, n in enumerate(numbers or [0])]
            return [header(options={"pictures": option} if option else {}), device(), pass_info(A, "sky"), *frames, end(len(frames), len(frames))]

        log = self.write_log("a[1].jsonl", pictured("frame:0", 2, 0, 3))
        for name in ("a[1]-2-depth.png", "a[1]-3-depth.png", "a1-1-color0.png", "a[1]-b-1-color0.png"):
            self.folder.joinpath(name).touch()
        self.assertIn("2 pictures in ", self.ok("report", log).stdout.decode())
        text = self.ok("report", "--pass", "sky", log).stdout.decode()
        self.assertEqual([line for line in text.splitlines() if line.startswith("picture of")], ["picture of sky in frame 0: a[1]-2-depth.png", "picture of sky in frame 2: a[1]-3-depth.png"])
        self.assertRegex(self.ok("report", self.write_log("b.jsonl", pictured("frame:9"))).stdout.decode(),
                         "no pictures: --pictures frame:9 was not reached.*; --pictures=frame:N takes an earlier frame, passtally trigger")
        self.assertNotIn("picture", self.ok("report", self.write_log("c.jsonl", pictured(None))).stdout.decode())
        every = [header(), device(), pass_info(A, "sky"), frame(0, [one_pass(0, A, 5, picture=1)], flags=["pictured"]), end(1, 1)]
        self.assertIn("no frame was measured: each runs what --pictures recorded", self.ok("report", self.write_log("d.jsonl", every)).stdout.decode())

    def test_no_such_pass(self):
        """What --pass names in vain is said with the names that there are."""
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A, "sky"), pass_info(B, "ui"),
                                         frame(0, [one_pass(0, A, 5), one_pass(1, B, 4)]), end(1, 2)])
        for by in ("pass", "label"):
            done = self.command("report", "--by", by, "--pass", "nosuch", log)
            self.assertIn("has no row with that name, label or id; there are sky, ui\n", done.stderr.decode())
        many = [f"{i + 1:016x}" for i in range(20)]
        lines = [header(), device(), *(pass_info(p, f"P{i}") for i, p in enumerate(many)),
                 frame(0, [one_pass(i, p, 90 - i) for i, p in enumerate(many)]), end(1, 20)]
        done = self.command("report", "--pass", "nosuch", self.write_log("b.jsonl", lines))
        self.assertIn("; there are P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11 and 8 more\n", done.stderr.decode())

    def test_given_names(self):
        """passtally name: a person's names in every command, and files of names that are wrong."""
        log = self.write_log("a.jsonl", simple_log(10))
        file = self.folder / "config/passtally/programs/demo.names"
        shape = "Color + depth 64x64 RGBA8"
        self.assertEqual(self.ok("name", shape, 'SS"AO"', log).stdout.decode().strip(), str(file))
        self.ok("name", A[:16], "first", log)
        self.ok("name", "first", "Sch\u00e4tten", log)
        self.assertEqual(len(file.read_text().splitlines()), 2)
        self.assertEqual(set(self.rows(log)), {"Sch\u00e4tten", 'SS"AO"'})
        answer = self.ok("report", log).stdout.decode().split("\npass ")[0]
        self.assertIn("Sch\u00e4tten ", answer)
        self.assertNotIn("shadow ", answer)
        self.assertIn("scene/shadow", self.rows("--by", "label", log))
        self.assertIn(b'SS""AO', self.ok("export", "--csv", "-", log).stdout)
        self.assertIn(b'SS\\"AO', self.ok("compare", "--json", log, log).stdout)
        self.assertIn(b'SS"AO"', self.ok("top", "--once", log).stdout)
        shared = self.write("shared.names", f'# ours\n\n{A} = "Shadows"\n')
        self.assertEqual(set(self.rows("--names", shared, log)), {"Shadows", 'SS"AO"'})
        self.ok("name", A, "", log)
        self.assertEqual(set(self.rows(log)), {"scene/shadow", 'SS"AO"'})
        for words in (("a", "b", "c", "d"), ("no such pass", "x", log), (A[:6], "x", log), (A, "x" * 513, log), (A, "\udcff", log)):
            self.assertEqual(self.command("name", *words).returncode, 2, words)
        self.assertRegex(self.command("name", "no", "x", log).stderr, b"; there are scene/shadow, ")
        for text, why in ((f'{A} = "a"\n# b\n{A} = "b"\n', f":3: line 1 has named {A} already"),
                          (f'{A} = a\n', ":1: must be ID"), ('12 = "a"\n', ":1: must be ID"),
                          (f'{A} = "{"x" * 65536}"\n', ":1: is over 512 bytes"),
                          (f'{A} = "\\377"\n', ":1: is not UTF-8")):
            bad = self.write("bad.names", text)
            done = self.command("report", "--names", bad, log)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{bad}{why}", done.stderr.decode())
        file.write_bytes(bad.read_bytes())
        self.assertEqual(self.ok("report", log).stderr.decode().count("is not UTF-8; no pass is named"), 1)

    def test_a_given_name_leaves_the_others(self):
        """Passes of one shape are numbered; those after the one that got a name keep their numbers."""
        ids = [f"{n:016x}" for n in (1, 2, 3)]
        lines = [header(), device(), *(pass_info(n) for n in ids),
                 frame(0, [one_pass(i, n, 5) for i, n in enumerate(ids)]), end(1, 3)]
        log = self.write_log("a.jsonl", lines)
        first, second, third = sorted(self.rows(log), key=lambda name: self.rows(log)[name]["id"])
        self.ok("name", first, "Blur", log)
        self.assertEqual(set(self.rows(log)), {"Blur", second, third})
        self.ok("name", second, "Blur", log)
        self.assertEqual(set(self.rows(log)), {"Blur", "Blur #2", third})

    def test_segments_are_one_value(self):
        parts = [one_pass(0, A, 100, counters={"samples_passed": 5}), one_pass(1, B, 1),
                 one_pass(2, A, 30, segment=1, counters={"samples_passed": 6})]
        lacking = [one_pass(0, A, 100), one_pass(1, A, segment=1, draws=4)]
        lines = [header(), device(), pass_info(A, "a"), pass_info(B, "b"), frame(0, parts),
                 frame(1, lacking), end(2, 5)]
        values = self.rows(self.write_log("a.jsonl", lines))["a"]["values"]
        self.assertEqual((values["gpu_ns"]["n"], values["gpu_ns"]["sum"]), (1, 130))
        self.assertEqual((values["draws"]["n"], values["draws"]["sum"]), (2, 7))
        self.assertEqual((values["samples_passed"]["n"], values["samples_passed"]["sum"]), (1, 11))

    def test_ratios_are_not_summed(self):
        ratio = device(metrics=[{"key": "load", "name": "Load", "unit": "percent", "expression": "1",
                                 "dialect": "arm"}])
        lines = [header(), ratio, pass_info(A, "a"),
                 frame(0, [one_pass(0, A, 1, metrics={"load": 60.5})]),
                 frame(1, [one_pass(0, A, 1, metrics={"load": 60}),
                           one_pass(1, A, 1, segment=1, metrics={"load": 70})]), end(2, 3)]
        value = self.rows(self.write_log("a.jsonl", lines))["a"]["values"]["load"]
        self.assertEqual((value["n"], value["max"]), (1, 60.5))

    def test_names(self):
        lines = [header(), device(),
                 pass_info("%016x" % 1, width=2048, height=2048, depth="DEPTH24"),
                 pass_info("%016x" % 2, width=2048, height=2048, depth="DEPTH24"),
                 pass_info("%016x" % 3, width=960, height=540, color=["A", "B", "C"], depth="D"),
                 pass_info("%016x" % 4, width=960, height=540, color=["RGBA8"], presented=True),
                 pass_info("%016x" % 5, kind="compute"), pass_info("%016x" % 6, kind="transfer"),
                 pass_info("%016x" % 7, "ui"), pass_info("%016x" % 8, "ui"),
                 frame(0, [one_pass(i - 1, "%016x" % i, i,
                                    kind={5: "compute", 6: "transfer"}.get(i, "render"))
                           for i in range(1, 9)]), end(1, 8)]
        names = [r["name"] for r in self.json("--sort", "id", self.write_log("a.jsonl", lines))["rows"]]
        self.assertEqual(names, ["Depth 2048x2048", "Depth 2048x2048 #2", "Color (3 targets + depth) 960x540",
                                 "Backbuffer", "Compute", "Copy", "ui", "ui #2"])

    def test_partial_and_warmup(self):
        lines = simple_log(5)[:-1]
        lines.append(frame(5, [one_pass(0, A, 9999, "scene/shadow")], flags=["partial"]))
        log = self.write_log("a.jsonl", lines + [end(6, 11)])
        told = self.json(log)["devices"][0]
        self.assertEqual((told["frames"], told["partial_frames"], told["gpu_ns"]["n"]), (5, 1, 5))
        self.assertIn("1 more frame, cut short", self.ok("report", log).stdout.decode())
        self.assertEqual(self.rows(log)["scene/shadow"]["values"]["gpu_ns"]["n"], 6)
        told = self.json("--warmup", "2", log)["devices"][0]
        self.assertEqual((told["frames"], told["warmup_frames"]), (3, 2))
        self.assertEqual(self.rows("--warmup", "2", log)["scene/shadow"]["values"]["gpu_ns"]["min"], 1002)

    def test_loading_is_left_out(self):
        lines = [header(), device(), device(1), pass_info(A, "a"), pass_info(B, "load screen")]
        for i in range(60):
            lines.append(frame(i, [one_pass(0, A if i > 2 else B, 100)], cpu_ns=800000000 if i < 3 else 14000000))
            if i % 10 == 0:  # of another frame rate, and without a slow start
                lines.append(frame(i // 10, [one_pass(0, A, 70)], 1, cpu_ns=140000000))
        log = self.write_log("a.jsonl", lines + [end(66, 66)])
        report = self.json(log)
        self.assertEqual([(d["frames"], d["warmup_frames"], d["warmup_ns"]) for d in report["devices"]],
                         [(57, 3, 2400000000), (6, 0, 0)])
        self.assertEqual([r["name"] for r in report["rows"]], ["a", "a"])
        text = self.ok("report", log).stdout.decode()
        self.assertIn("first 3 frames, 2.40 s, left out as loading (--warmup 0 keeps them)", text)
        for keep in ("0", "auto"):
            text = self.ok("report", "--warmup", keep, log).stdout.decode()
            self.assertEqual("left out" in text, keep == "auto", text)
        self.assertEqual(self.json("--warmup", "0", log)["devices"][0]["frames"], 60)
        # A pipe cannot be read twice; the numbers are the same.
        with subprocess.Popen(["cat", log], stdout=subprocess.PIPE) as pipe:
            self.assertEqual(self.json("-", stdin=pipe.stdout)["devices"], report["devices"])
        with open(log, "rb") as file:
            self.assertEqual(self.json("-", stdin=file)["devices"], report["devices"])

    def test_a_unit_on_which_devices_do_not_agree(self):
        def counter(key, unit):
            return {"key": key, "kind": "event", "source": "s", "scope": "pass", "unit": unit}
        lines = [header(), device(counters=[counter("bus", "beats"), counter("tex", "1")]),
                 device(1, counters=[counter("bus", "bytes"), counter("tex", "1")]), pass_info(A)]
        lines += [frame(0, [one_pass(0, A, 5, counters={"bus": 3, "tex": 4})], number) for number in range(2)]
        for row in self.json(self.write_log("a.jsonl", [*lines, end(2, 2)]))["rows"]:
            self.assertEqual([row["values"][k].get("unit") for k in ("bus", "tex")], [None, "1"])

    def test_a_unit_of_time_is_in_the_heading(self):
        clock = {"key": "cpu_task_clock", "kind": "event", "source": "s", "scope": "pass", "unit": "ns"}
        lines = [header(), device(counters=[clock]), pass_info(A),
                 frame(0, [one_pass(0, A, 5 * 10**6, counters={"cpu_task_clock": 4806982})]), end(1, 1)]
        table = self.ok("report", "--columns", "name,cpu_*", self.write_log("a.jsonl", lines)).stdout.decode()
        self.assertRegex(table, "cpu_task_clock ms\\n.* 4\\.807\\n")

    def test_times_of_a_frame_have_one_unit(self):
        lines = [header(), device(), pass_info(A), frame(0, [one_pass(0, A, 5 * 10**6)], thread_ns=3 * 10**6, wait_ns=10**6), end(1, 1)]
        head = self.ok("report", "--by", "frame", "--columns", "*_ns", self.write_log("a.jsonl", lines)).stdout.decode()
        self.assertIn(" thread ms", head)
        self.assertNotIn("thread_ns ms", head)

    def test_a_label_of_several_sizes(self):
        """A dynamic resolution: each size is a pass of its own."""
        lines = [header(), device(), pass_info(A, "Lit", width=64), pass_info(B, "Lit", width=32), pass_info(C, "UI")]
        lines += [frame(i, [one_pass(0, A if i % 2 else B, 5000, "Lit"), one_pass(1, C, 900, "UI")]) for i in range(20)]
        log = self.write_log("a.jsonl", lines + [end(20, 40)])
        text = " ".join(self.ok("report", log).stdout.decode().split())
        self.assertIn("1 label has more than one row, none in most frames (Lit): where targets change", text)
        self.assertNotIn("more than one row", self.ok("report", "--by", "label", log).stdout.decode())

    def test_vertices_a_draw(self):
        def said(draws, vertices, **more):
            lines = [header(), device(), pass_info(A, "Tiny"),
                     frame(0, [one_pass(0, A, 5, "Tiny", draws=draws, vertices=vertices, **more)]), end(1, 1)]
            return self.ok("report", "--pass", "Tiny", self.write_log("a.jsonl", lines)).stdout.decode()
        self.assertIn("3 vertices a draw: many small", said(300, 900))
        self.assertNotIn("vertices a draw", said(300, 300 * 130))
        self.assertNotIn("vertices a draw", said(20, 60))
        self.assertNotIn("vertices a draw", said(300, 900, counters={"primitives_submitted": 300}))

    def test_only_rendering_shades(self):
        counted = {"fragment_shader_invocations": 0, "vertex_shader_invocations": 900}
        lines = [header(), device(), pass_info(A, "Clears", width=8, height=8, color=["RGBA8"]),
                 frame(0, [one_pass(0, A, 5, "Clears", kind="transfer", counters=counted)]), end(1, 1)]
        self.assertNotIn("shaded", self.ok("report", "--pass", "Clears", self.write_log("a.jsonl", lines)).stdout.decode())

    def test_passes_drawn_together(self):
        lines = [header(), device(), pass_info(A, "Lit", width=8, height=8, color=["RGBA8"])]
        lines += [frame(i, [one_pass(0, A, None, "Lit", draws=3, flags=["shared_time"])], gpu_ns=9 * 10**6,
                        unattributed={"gpu_ns": 9 * 10**6}) for i in range(5)]
        text = " ".join(self.ok("report", "--pass", "Lit", self.write_log("a.jsonl", lines + [end(5, 5)])).stdout.decode().split())
        self.assertIn("it is a part of that of (passes drawn together); they are flagged shared_time", text)
        self.assertIn("the same time vertices and draws (of all that is drawn together)", text)

    def test_by_frame(self):
        log = self.write_log("a.jsonl", simple_log(4))
        rows = self.json("--by", "frame", log)["rows"]
        self.assertEqual([r["frame"] for r in rows], [0, 1, 2, 3])
        self.assertEqual([r["gpu_ns"] for r in rows], [3000 + 3 * i for i in range(4)])
        self.assertEqual(rows[0]["values"]["draws"], 3)

    def test_by_frame_shows_the_worst(self):
        """Ten of 400; --wide shows all, in their order."""
        lines = [header(), device(), pass_info(A)]
        lines += [frame(i, [one_pass(0, A, 10**6)], start_ns=10**8 * i, cpu_ns=10**7 + (10**6 * i if i % 37 == 0 else 1000 * i))
                  for i in range(400)]
        log = self.write_log("a.jsonl", [*lines, end(400, 400)])

        def table(*args):
            text = self.ok("report", "--by", "frame", "--warmup", "0", *args, log).stdout.decode()
            return [line.split() for line in text.split("\n\n")[1].splitlines()]
        rows = table()
        self.assertEqual([r[0] for r in rows[1:11]], [str(37 * i) for i in range(10, 0, -1)])
        self.assertEqual(rows[1][1:3], ["380.000", "1.000"])
        self.assertEqual(rows[11], ["390", "frames", "more:", "--wide"])
        self.assertEqual(len(rows), 12)
        self.assertEqual([r[0] for r in table("--wide")[1:]], [str(i) for i in range(400)])

    def test_by_frame_of_a_pass(self):
        """In which frames a pass is slow: its own time and counts, the slowest first; frames without it have no row."""
        lines = [header(), device(), pass_info(A, "a"), pass_info(B, "b")]
        for i in range(30):
            own = [one_pass(2, A, i % 20 * 1000, "a", draws=2), one_pass(3, A, 500, "a", segment=1)]
            lines.append(frame(i, [one_pass(0, B, 10**6, "b"), *(own if i % 3 else [])], start_ns=10**8 * i, cpu_ns=10**7))
        log = self.write_log("a.jsonl", [*lines, end(30, 70)])
        rows = self.json("--by", "frame", "--warmup", "0", "--pass", "a", log)["rows"]
        self.assertEqual([(r["frame"], r["gpu_ns"], r["passes"], r["values"]["draws"]) for r in rows],
                         [(i, i % 20 * 1000 + 500, 2, 3) for i in range(30) if i % 3])
        self.assertFalse({"coverage", "unattributed_ns"} & set(rows[0]))
        text = self.ok("report", "--by", "frame", "--warmup", "0", "--pass", A, log).stdout.decode()
        self.assertEqual([line.split()[0] for line in text.split("\n\n")[1].splitlines()][1:4], ["19", "17", "16"])
        self.assertIn(f"GPU time, passes and counts are of --pass {A} alone", text)
        # The answer is of all passes, as without it.
        whole = self.ok("report", "--by", "frame", "--warmup", "0", log).stdout.decode()
        self.assertEqual(text.split("\n\n")[2].strip(), whole.split("\n\n")[0].partition("\n")[2])
        self.assertIn("b 1.00 ms", whole)
        # It is read twice, and what is said of it is said once.
        cut = self.write("cut.jsonl", (self.folder / "a.jsonl").read_text()[:-5])
        self.assertEqual(self.ok("report", "--by", "frame", "--pass", "a", cut).stderr.count(b"is cut"), 1)
        for args, words in ((["--pass", "c", log], b"--pass c"), (["--pass", "a", "-"], b"reads a log twice")):
            wrong = self.command("report", "--by", "frame", *args)
            self.assertEqual((wrong.returncode, wrong.stdout), (2, b""))
            self.assertIn(words, wrong.stderr)

    def test_by_workload(self):
        def load(command, gpu_ns=None, **more):
            times = {} if gpu_ns is None else {"gpu_ns": gpu_ns, "gpu_start_ns": 1}
            return {"command": command, **times, **more}

        def two_segments(draw):
            return [one_pass(0, A, 10, workloads=[load("clear", 1), load("draw", draw, counters={"samples_passed": 5})]),
                    one_pass(1, B, 50, workloads=[load("dispatch", 50)]),
                    one_pass(2, A, 7, segment=1, workloads=[load("draw", flags=["no_timestamps"])])]

        lines = [header(), device(), pass_info(A, "a"), pass_info(B, "b"), frame(0, two_segments(9)),
                 frame(1, two_segments(11)), end(2, 6)]
        log = self.write_log("a.jsonl", lines)
        rows = self.json("--by", "workload", log)["rows"]
        self.assertEqual([row["name"] for row in rows[:3]], ["b: 1 dispatch", "a: 2 draw", "a: 1 clear"])
        self.assertEqual([(row["pass"], row["command"], row["id"]) for row in rows[:2]],
                         [("b", "dispatch", B), ("a", "draw", A)])
        self.assertEqual(len(rows), 4)
        self.assertEqual([row["number"] for row in rows], [1, 1, 1, 2])  # among those of its word in the frame
        self.assertRegex(self.ok("report", "--by", "workload", log).stdout.decode(), r"in frame .*\n(.*\n)*a: 3 draw +2 ")
        lost = two_segments(9)
        lost[0]["flags"] = ["dropped"]
        dropped = self.rows("--by", "workload", self.write_log("c.jsonl", lines[:4] + [frame(0, lost), end(1, 3)]))
        self.assertEqual({n: row.get("number") for n, row in dropped.items()},
                         {"a: 1 clear": 1, "a: 2 draw": 1, "b: 1 dispatch": None, "a: 3 draw": None})
        draw = rows[1]["values"]
        self.assertEqual((draw["gpu_ns"]["n"], draw["gpu_ns"]["sum"], draw["samples_passed"]["sum"]), (2, 20, 10))
        # The second segment counts too; its time was not measured.
        self.assertEqual((rows[3]["name"], rows[3]["flags"]), ("a: 3 draw", ["no_timestamps"]))
        self.assertNotIn("gpu_ns", rows[3]["values"])
        self.assertEqual(set(self.rows("--by", "workload", "--pass", "a", log)),
                         {"a: 1 clear", "a: 2 draw", "a: 3 draw"})
        self.assertEqual(set(self.rows("--by", "workload", "--pass", B, log)), {"b: 1 dispatch"})
        self.assertEqual(set(self.rows("--pass", "a", log)), {"a"})
        self.assertEqual(self.rows("--pass", "a", log)["a"]["values"]["gpu_ns"]["sum"], 34)
        table = list(csv.DictReader(io.StringIO(self.ok("report", "--by", "workload", "--csv", log).stdout.decode())))
        self.assertEqual([(row["name"], row["total_ns"]) for row in table[:2]], [("b: 1 dispatch", "100"), ("a: 2 draw", "20")])
        wrong = self.command("report", "--pass", "c", log)
        self.assertEqual((wrong.returncode, wrong.stdout), (2, b""))
        self.assertIn(b"--pass c", wrong.stderr)
        none = self.command("report", "--by", "workload", self.write_log("b.jsonl", simple_log(2)))
        self.assertEqual(none.returncode, 0)
        self.assertIn(b"--granularity draw", none.stderr)

    def test_by_workload_of_pipelines(self):
        """A draw's groups and its pipeline, which a line may not describe; an index past the list is none."""
        pipeline = {"type": "pipeline", "id": "a" * 16, "kind": "render", "name": "Sky", "stages": []}
        loads = [{"command": "draw", **more} for more in ({"group": "Trees/Far", "pipeline": 1}, {"pipeline": 0}, {"pipeline": 2}, {})]
        one = one_pass(0, A, 10, draws=4, workloads=loads, pipelines=[{"id": ident * 16, "draws": 2} for ident in "ba"])
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A, "a"), pipeline, frame(0, [one]), end(1, 1)])
        rows = self.rows("--by", "workload", log)
        self.assertEqual([(rows[f"a: {i} draw"].get("groups"), rows[f"a: {i} draw"].get("pipeline")) for i in range(1, 5)],
                         [("Trees/Far", "Sky"), (None, "bbbbbbbb"), (None, None), (None, None)])
        loads = [{"command": "draw", "pipeline": k, **({"gpu_start_ns": 1, "gpu_ns": gpu_ns} if gpu_ns else {})}
                 for k, gpu_ns in ((0, 3), (1, 5), (0, 4), (2, 1), (2, None), (3, 10))]
        uses = [{"id": ident * 16, "draws": 2} for ident in "abcd"]
        timed = [header(), device(), pass_info(A, "a"), frame(0, [one_pass(0, A, 30, draws=8, workloads=loads, pipelines=uses)]), end(1, 1)]
        rows = self.rows("--by", "pipeline", self.write_log("b.jsonl", timed))
        self.assertEqual([rows[ident * 8]["values"].get("gpu_ns", {}).get("sum") for ident in "abcd"], [7, 5, None, 10])
        text = self.ok("report", "--by", "workload", log).stdout.decode()
        self.assertRegex(text, r"pipeline +groups.*\n(.*\n)*a: 1 draw.* Sky +Trees/Far")

    def test_by_workload_of_another_command(self):
        """A first frame that clears twice gives its name to no other frame's draw."""
        def one(commands):
            loads = [{"command": c, "gpu_ns": g, "gpu_start_ns": 1} for c, g in commands]
            return [one_pass(0, A, sum(g for _, g in commands), workloads=loads)]

        frames = [[("clear", 1), ("clear", 2)], [("clear", 1), ("draw", 30)], [("clear", 1), ("draw", 50)],
                  [("clear", 1), ("copy", 7)], [("clear", 1), ("clear", 4)]]
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A, "a"),
                                         *(frame(i, one(f)) for i, f in enumerate(frames)), end(5, 5)])
        rows = {name: (row["command"], row["values"]["gpu_ns"]["n"], row["values"]["gpu_ns"]["sum"])
                for name, row in self.rows("--by", "workload", log).items()}
        self.assertEqual(rows, {"a: 1 clear": ("clear", 5, 5), "a: 2 clear": ("clear", 2, 6),
                                "a: 2 draw": ("draw", 2, 80), "a: 2 copy": ("copy", 1, 7)})

    def test_by_pipeline(self):
        def pipeline(ident, name=None, stages=()):
            return {"type": "pipeline", "id": ident * 16, "kind": "render", **({"name": name} if name else {}), "stages": stages}

        def use(ident, draws):
            return {"id": ident * 16, "draws": draws, "vertices": 3 * draws}

        stages = [{"stage": "vertex", "entry": "main", "code": A, "bytes": 4},
                  {"stage": "fragment", "entry": "shade", "code": B, "bytes": 4}]
        passes = [one_pass(0, A, 10, draws=2, pipelines=[use("a", 2)], counters={"samples_passed": 5}),
                  one_pass(1, B, 50, draws=3, pipelines=[use("b", 1), use("c", 2)]),
                  one_pass(2, C, 7, draws=2, pipelines=[use("d", 1)])]
        lines = [header(), device(), pass_info(A, "a"), pass_info(B, "b"), pass_info(C, "c"), pipeline("a", "Sky", stages),
                 pipeline("b", None, stages), {**pipeline("c", "Sky", stages), "statistics": {
                     "vertex: Instruction Count": 32, "SIMD8 fragment: Instruction Count": 9, "SIMD8 fragment: Spill Count": 0,
                     "vertex: Spilled VGPRs": 3, "vertex: SEND Count": 100}}, pipeline("d", None, stages * 3),
                 frame(0, passes), frame(1, passes), end(2, 6)]
        log = self.write_log("a.jsonl", lines)
        rows = self.rows("--by", "pipeline", log)
        many = "vertex+shade+vertex+shade+2 more dddddddd"
        self.assertEqual(set(rows), {"Sky", "vertex+shade bbbbbbbb", "Sky #2", many})
        self.assertEqual(rows["Sky"]["id"], "a" * 16)
        self.assertEqual([rows[name]["passes"] for name in ("Sky", many)], [[A], [C]])
        self.assertEqual(rows["Sky"]["values"]["gpu_ns"]["sum"], 20)
        self.assertEqual(rows["Sky"]["values"]["samples_passed"]["sum"], 10)
        # Two share a pass; of the last one's pass another draw is nobody's.
        for name in ("vertex+shade bbbbbbbb", "Sky #2", many):
            self.assertNotIn("gpu_ns", rows[name]["values"])
        self.assertEqual(rows["Sky #2"]["values"]["draws"]["sum"], 4)
        compiled = [rows["Sky #2"]["values"][f"compiled_{key}"] for key in ("instructions", "spills")]
        self.assertEqual([(values["n"], values["mean"], values["max"]) for values in compiled], [(2, 41, 41), (2, 3, 3)])
        self.assertNotIn("compiled_spills", rows["Sky"]["values"])
        self.assertIn("Sky #2", self.ok("report", "--by", "pipeline", log).stdout.decode())
        for card, advice in (("card 0", True), ("llvmpipe (LLVM 15)", False)):
            shared = self.write_log("b.jsonl", [lines[0], device(name=card), *lines[2:-3], frame(0, passes[1:2]), end(1, 1)])
            text = " ".join(self.ok("report", "--by", "pipeline", shared).stdout.decode().split())
            self.assertIn("is known where it did all the work of its passes", text)
            self.assertEqual("--granularity draw has the times" in text, advice, card)
        none = self.command("report", "--by", "pipeline", self.write_log("c.jsonl", simple_log(2)))
        self.assertEqual((none.returncode, b"--pipelines" in none.stderr), (0, True))
        # The answer above the table names passes, whatever the rows are.
        by_pass, by_pipeline = (self.ok("report", "--by", by, log).stdout.decode() for by in ("pass", "pipeline"))
        self.assertEqual(by_pipeline[:by_pipeline.index("\npass ")], by_pass[:by_pass.index("\npass ")])

    def test_by_label(self):
        lines = [header(), device(), pass_info(A, "ui"), pass_info(B, "ui"), pass_info(C),
                 frame(0, [one_pass(0, A, 10), one_pass(1, B, 20), one_pass(2, C, 3)]), end(1, 3)]
        rows = self.rows("--by", "label", self.write_log("a.jsonl", lines))
        self.assertEqual(rows["ui"]["ids"], 2)
        self.assertEqual((rows["ui"]["values"]["gpu_ns"]["n"], rows["ui"]["values"]["gpu_ns"]["sum"]), (1, 30))
        self.assertNotIn("label", rows["(No attachment)"])

    def test_upper_device_is_shown(self):
        lines = [header(), device(0, beneath=1, api="vulkan"), device(1), pass_info(A, "a"),
                 frame(0, [one_pass(0, A, 5)], 0), frame(0, [one_pass(0, A, 6)], 1), end(2, 2)]
        log = self.write_log("a.jsonl", lines)
        self.assertEqual([r["device"] for r in self.json(log)["rows"]], [1])
        self.assertEqual([r["device"] for r in self.json("--device", "0", log)["rows"]], [0])
        done = self.command("report", "--device", "7", log)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"0, 1", done.stderr)

    def test_beneath_a_context_that_was_thrown_away(self):
        # Device 0 is the program's first context, which drew nothing; 2 is the one that did.
        lines = [header(), device(0), device(1, beneath=0, api="vulkan"), device(2), pass_info(A, "a"),
                 frame(0, [one_pass(0, A, 5)], 1), frame(0, [one_pass(0, A, 6)], 2), end(2, 2)]
        self.assertEqual([r["device"] for r in self.json(self.write_log("a.jsonl", lines))["rows"]], [2])
        # A separate Vulkan device of the program beside them stays separate.
        lines[2:2] = [device(3, api="vulkan")]
        lines[-1:] = [frame(0, [one_pass(0, A, 7)], 3), end(3, 3)]
        rows = self.json(self.write_log("b.jsonl", lines))["rows"]
        self.assertEqual(sorted(r["device"] for r in rows), [2, 3])

    def test_devices_stand_by_number(self):
        lines = [header()] + [line for d in (2, 0, 1) for line in (device(d), pass_info(A))]
        lines += [frame(i, [one_pass(0, A, 10**6 * (d + 1))], d, start_ns=10**9 * d + 16 * 10**6 * i) for d in (2, 0, 1) for i in range(20)]
        log = self.write_log("a.jsonl", lines + [end(60, 60)])
        text = self.ok("report", log).stdout.decode()
        self.assertEqual(re.findall("^device ([0-9])", text, re.M), ["0", "1", "2"])
        report = self.json(log)
        for key in ("devices", "answers"):
            self.assertEqual([d["device"] for d in report[key]], [0, 1, 2], key)
        self.assertEqual(re.findall("([0-9]) +[0-9.]+ +[0-9.]+ +[0-9.]+ +100.0%", "\n".join(self.table("--sort", "order", log))), ["0", "1", "2"])

    def test_queues(self):
        lines = [header(), device(api="vulkan"), pass_info(A, "a"), pass_info(B, "b"),
                 frame(0, [one_pass(0, A, 5, "a", queue="0.0"), one_pass(1, B, 5, "b", queue="1.0")]), end(1, 2)]
        log = self.write_log("a.jsonl", lines)
        self.assertEqual({r["label"]: r["queue"] for r in self.json(log)["rows"]}, {"a": "0.0", "b": "1.0"})
        self.assertRegex(self.ok("report", log).stdout.decode(), r"(?m)^pass +queue +.s/frame")
        # The same pass in different positions.
        lines[-1:] = [frame(1, [one_pass(0, A, 5, "a", queue="1.0")]), end(2, 3)]
        rows = self.json(self.write_log("b.jsonl", lines))["rows"]
        self.assertEqual({r["label"]: r["queue"] for r in rows}, {"a": "several", "b": "1.0"})
        # With one queue the column would show nothing.
        log = self.write_log("c.jsonl", lines[:3] + [frame(0, [one_pass(0, A, 5, "a", queue="0.0")]), end(1, 1)])
        self.assertNotIn("queue", self.ok("report", log).stdout.decode())
        self.assertNotIn("queue", self.json(self.write_log("d.jsonl", simple_log()))["rows"][0])

    def test_queues_at_once(self):
        def passes(n, *times):
            return [one_pass(i, ident, (end - start) * 1000000, name, queue=queue, gpu_start_ns=n * 10**9 + start * 1000000)
                    for i, (ident, name, queue, start, end) in enumerate(times)]

        head = [header(), device(api="vulkan"), pass_info(A, "a"), pass_info(B, "b")]
        for what, times, want in (
            ("one queue", [(A, "a", "0.0", 0, 4), (B, "b", "0.0", 2, 5)], None),
            ("one after the other", [(A, "a", "0.0", 0, 4), (B, "b", "2.0", 4, 6)], "0.0 4, 2.0 2, any of them 6, several at once 0$"),
            ("inside", [(A, "a", "0.0", 0, 4), (B, "b", "2.0", 1, 3)],
             r"0.0 4, 2.0 2, any of them 4, several at once 2; beside other queues: b \(100 % of its time\), a \(50 % of its time\)$"),
            ("three queues", [(A, "a", "0.0", 0, 4), (B, "b", "2.0", 3, 5), (B, "b", "1.0", 3, 7)],
             "0.0 4, 2.0 2, 1.0 4, any of them 7, several at once 2; "),
        ):
            with self.subTest(what):
                log = self.write_log("a.jsonl", [*head, *(frame(n, passes(n, *times)) for n in range(2)), end(2, 4)])
                text = self.ok("report", log).stdout.decode()
                if want:
                    self.assertRegex(text, "(?m)^queues, ms a frame: " + want)
                else:
                    self.assertNotIn("queues", text)

    def test_outside_passes(self):
        lines = [header(), device(), pass_info(A, "a"),
                 frame(0, [one_pass(0, A, 75)], gpu_ns=100, envelope_ns=100, coverage=0.75,
                       unattributed={"gpu_ns": 25, "counters": {"samples_passed": 4}}), end(1, 1)]
        report = self.json(self.write_log("a.jsonl", lines))
        self.assertEqual(sum(r["share"] for r in report["rows"]), 1)
        self.assertEqual(report["rows"][1]["values"]["samples_passed"]["sum"], 4)
        self.assertEqual(report["devices"][0]["coverage"], 0.75)

    def test_estimates_are_marked(self):
        lines = [header(), device(), pass_info(A, "a"),
                 frame(0, [one_pass(0, A, 75, counters={"samples_passed": 9},
                                    estimated=["samples_passed"])]), end(1, 1)]
        log = self.write_log("a.jsonl", lines)
        self.assertIn("~9", self.ok("report", "--wide", log).stdout.decode())
        self.assertTrue(self.rows(log)["a"]["values"]["samples_passed"]["estimated"])

    def test_counters_that_rotate_have_a_number_of_their_own(self):
        """In the table (except where the number is N itself) and as JSON: a mean over 2 frames is not one over
        6."""
        lines = [header(), device(), pass_info(A, "a")]
        for n in range(6):
            counters = {"always": 7, **({"turns": 40 + n} if n % 3 == 0 else {})}
            lines.append(frame(n, [one_pass(0, A, 75, counters=counters, estimated=["turns"] if n % 3 == 0 else [])]))
        log = self.write_log("a.jsonl", [*lines, end(6, 6)])
        row = self.ok("report", "--columns", "n,always,turns", log).stdout.decode().splitlines()[-1]
        self.assertRegex(row, r"^a +6 +7 +~41\.5 \(2\)$")
        self.assertIn("~41.5 (2)", self.ok("report", "--wide", log).stdout.decode())
        values = self.rows(log)["a"]["values"]
        self.assertEqual([values[key]["n"] for key in ("gpu_ns", "always", "turns")], [6, 6, 2])
        self.assertNotIn("(", self.ok("report", "--by", "frame", "--columns", "turns", log).stdout.decode().split("\n\n")[-1])

    def test_columns_can_be_chosen(self):
        log = self.write_log("a.jsonl", simple_log(3))
        text = self.ok("report", "--csv", "--columns", "samples_*,mean+draws,name", log).stdout.decode()
        self.assertEqual(text.splitlines()[0], "log,name,samples_passed,mean_ns,draws")
        self.assertEqual(text.splitlines()[2].split(",")[1:], ["scene/shadow", "7", "1001", "1"])
        table = self.ok("report", "--columns", "id", "--sort", "mean", log).stdout.decode()
        self.assertRegex(table, f"(?m)^pass +id$")
        self.assertIn(A, table)
        self.assertNotIn("vertices", table)
        done = self.command("report", "--columns", "draws,nonsense", log)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--columns nonsense", done.stderr)
        self.assertIn(b"samples_passed", done.stderr)

    def test_frames_have_their_own_metrics(self):
        """A metric of a frame is not that of its passes; a counter that no pass has is the frame's."""
        lines = [header(), device(), pass_info(A, "a"),
                 frame(0, [one_pass(0, A, 1, metrics={"load": 60.5}, counters={"samples_passed": 5}),
                           one_pass(1, A, 1, segment=1, metrics={"load": 70}, counters={"samples_passed": 6})],
                       unattributed={"counters": {"snap": 9, "samples_passed": 1}, "estimated": ["snap"]},
                       metrics={"load": 65.25}, estimated=["load"]), end(1, 2)]
        log = self.write_log("a.jsonl", lines)
        row = self.json("--by", "frame", log)["rows"][0]
        self.assertEqual(row["values"]["load"], 65.25)
        self.assertEqual((row["values"]["snap"], row["values"]["samples_passed"]), (9, 12))
        self.assertEqual(sorted(row["estimated"]), ["load", "snap"])
        self.assertIn("~65.2", self.ok("report", "--by", "frame", "--wide", log).stdout.decode())
        # Keys in another order, as jq sorts them.
        shuffled = self.write("b.jsonl", b"".join(json.dumps(line, sort_keys=True).encode() + b"\n" for line in lines))
        self.assertEqual(self.json("--by", "frame", shuffled)["rows"], [row])

    def test_sort(self):
        log = self.write_log("a.jsonl", simple_log(3))
        order = [r["id"] for r in self.json("--sort", "mean", log)["rows"]]
        self.assertEqual(order, [B, A])
        order = [r["id"] for r in self.json("--sort", "mean_ns", log)["rows"]]
        self.assertEqual(order, [B, A])
        order = [r["id"] for r in self.json("--sort", "samples_passed", log)["rows"]]
        self.assertEqual(order, [A, B])  # absent comes last
        done = self.command("report", "--sort", "nonsense", log)
        self.assertEqual(done.returncode, 2)
        for key in (b"p99_ns", b"share", b"samples_passed"):
            self.assertIn(key, done.stderr)

    def test_csv(self):
        odd = 'a,"b"\nc'
        lines = [header(), device(), pass_info(A, odd), frame(0, [one_pass(0, A, 5)]), end(1, 1)]
        logs = [self.write_log("a.jsonl", lines), self.write_log("b.jsonl", simple_log(2))]
        text = self.ok("report", "--csv", *logs).stdout.decode()
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[0]["label"], odd)
        self.assertEqual((rows[0]["n"], rows[0]["mean_ns"], rows[0]["sd_ns"]), ("1", "5", ""))
        self.assertEqual(rows[1]["log"], str(logs[1]))

    def test_several_logs(self):
        logs = [self.write_log(f"{i}.jsonl", simple_log(i)) for i in (1, 2)]
        self.assertEqual([r["log"] for r in self.json(*logs)], [str(p) for p in logs])

    def test_labels_cannot_reach_the_terminal(self):
        nasty = "red\x1b[31m\n\u202egnp.exe\x9b\u00e9\u65e5"
        lines = [header(program="/x\x1b]0;owned\x07"), device(0, name="card\x1b[2J"), pass_info(A, nasty),
                 frame(0, [one_pass(0, A, 5)]), end(1, 1)]
        log = self.write_log("a.jsonl", lines)
        text = self.ok("report", "--wide", log).stdout.decode()
        self.assertIn("red\\u{1b}[31m\\n\\u{202e}gnp.exe\\u{9b}\u00e9\u65e5", text)
        self.assertFalse([c for c in text if ord(c) < 32 and c != "\n"])
        self.assertEqual(self.json(log)["rows"][0]["label"], nasty)

    def on_terminal(self, columns, *args, rows=0, env={}):
        """What reaches a terminal, one without colors; `rows` 0: the terminal does not report its height."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        env = {**self.env, "COLUMNS": str(columns), "TERM": "dumb", **env}
        child = subprocess.Popen([COMMAND, *map(str, args)], stdout=slave, env=env)
        os.close(slave)
        text = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:
                break
            if not more:
                break
            text += more
        os.close(master)
        self.assertEqual(child.wait(60), 0)
        return text.decode().replace("\r\n", "\n")

    def test_table_fits_the_terminal(self):
        label = "a long path/\u65e5\u672c\u8a9e/" + "x" * 100 + "/the end"
        lines = [header(), device(), pass_info(A, label), frame(0, [one_pass(0, A, 5)]), end(1, 1)]
        log = self.write_log("a.jsonl", lines)
        text = self.on_terminal(80, "report", "--wide", log)
        table = text[text.index("pass "):]
        self.assertTrue(all(len(line) <= 80 for line in table.splitlines()), table)
        self.assertIn("\u2026", table)
        self.assertIn("the end", table)
        self.assertIn("vertices", table)  # wrapped, not lost
        self.assertIn(label, self.json(log)["rows"][0]["name"])

    def many_passes(self, n, frames=1, timed=True, **more):
        """A log of n labeled passes of equal cost."""
        idents = ["%016x" % (i + 1) for i in range(n)]
        infos = [pass_info(ident, f"Pass/{i} \u65e5\u672c\u8a9e" + "\u8a9e" * (i % 40 if n < 1000 else 0))
                 for i, ident in enumerate(idents)]
        lines = [frame(i, [one_pass(k, ident, 1234567890 if timed else None) for k, ident in enumerate(idents)],
                       **more) for i in range(frames)]
        return [header(), device(), *infos, *lines, end(frames, n * frames)]

    def test_one_block_of_80_columns(self):
        wide = "\u5149\u7dda " * 40
        one = [frame(i, [one_pass(0, A, 1 << 62, draws=1 << 62)]) for i in range(1000)]
        one[7]["passes"].append(one_pass(1, B, 1, counters={"samples_passed": 1}))
        logs = {
            "many": self.many_passes(100000),
            "some": self.many_passes(60, frames=3),
            "no times": self.many_passes(50, frames=2, timed=False),
            "one": [header(), device(), pass_info(A, wide), pass_info(B, "e\u0301" * 90), *one, end(1000, 1001)],
            "two devices": [header(), device(0, api="vulkan"), device(1), pass_info(A, wide), pass_info(B),
                            *(frame(i, [one_pass(0, A, 1 << 50, queue=f"{i}.0"), one_pass(1, B, 5, queue="7.7")], i)
                              for i in range(2)), end(2, 4)],
            "empty": [header(), device(), end(0, 0)],
        }
        for name, lines in logs.items():
            log = self.write_log("a.jsonl", lines)
            for by in ("pass", "label", "frame", "workload", "pipeline")[:2 if name == "many" else 5]:
                with self.subTest(name, by=by):
                    text = self.ok("report", "--by", by, log).stdout.decode()
                    at = re.search(r"(?m)^ *(pass|frame) (?!time )", text)
                    table = text[at.start():].splitlines() if at else []
                    self.assertEqual([line for line in table if width(line) > 80 or line != line.rstrip()], [])
                    self.assertLessEqual(sum(line.lstrip().startswith(("pass ", "frame ")) for line in table), 1)
                    self.assertEqual(bool(table), name != "empty" and by not in ("workload", "pipeline"))
                    self.assertEqual([line for line in text.splitlines()[1:] if width(line) > 80], [])
                    if name == "many":
                        self.assertLess(len(table), 20)

    def test_small_rows_share_a_line(self):
        costs = [800000, 190000, 4000, 3000, 2000, 600, 300, 100]
        idents = ["%016x" % (i + 1) for i in range(len(costs))]
        lines = [header(), device(), *(pass_info(ident, f"p{i}") for i, ident in enumerate(idents))]
        lines += [frame(f, [one_pass(i, ident, cost) for i, (ident, cost) in enumerate(zip(idents, costs))])
                  for f in range(4)]
        log = self.write_log("a.jsonl", [*lines, end(4, 32)])
        self.assertEqual([line.split()[0] for line in self.table(log)], ["pass", "p0", "p1", "p2", "p3", "p4", "(3"])
        self.assertEqual(self.table(log)[-1].split(), ["(3", "more,", "under", "0.5", "%)", "1.0", "0.1%"])
        for args in (["--wide"], ["--sort", "draws"], ["--pass", "p"]):
            self.assertEqual(len(self.table(*args, log)), 9, args)
        self.assertEqual(len(self.json(log)["rows"]), 8)
        # A line for one row would save nothing.
        self.assertEqual(len(self.table(self.write_log("b.jsonl", [*lines[:8], frame(0, [
            one_pass(i, ident, cost) for i, (ident, cost) in enumerate(zip(idents[:6], costs))]), end(1, 6)]))), 7)

    def test_rare_rows_without_a_time_share_a_line(self):
        """Textures that get mipmaps while the game loads are passes of one frame each, and on some drivers have no time."""
        def rows(others, frames=20, cost=5000000, *args):
            idents = ["%016x" % (i + 1) for i in range(40)]
            lines = [header(), device(), *(pass_info(ident, f"p{i}") for i, ident in enumerate(idents))]
            lines += [frame(f, [one_pass(0, idents[0], cost)] + [one_pass(1 + k, idents[k], None) for k in others(f)]) for f in range(frames)]
            n = sum(1 + len(others(f)) for f in range(frames))
            table = self.table(*args, self.write_log("a.jsonl", [*lines, end(frames, n)]))
            return [line.split()[0] for line in table[1:] if line.startswith(("p", "("))], table[-1].split()
        names, last = rows(lambda f: [1] + ([f + 10] if f > 4 else []))
        self.assertEqual((names[:2], len(names), last), (["p0", "p1"], 6, ["(12", "more,", "small", "or", "rare)"]))
        self.assertEqual(len(rows(lambda f: [1, f + 10], 20, 5000000, "--wide")[0]), 22)
        self.assertEqual(len(rows(lambda f: [1, f % 5 + 10])[0]), 7, "often")
        self.assertEqual(len(rows(lambda f: [1, f + 10], 20, None)[0]), 22, "no pass has a time")

    def test_a_frame_is_a_frame(self):
        """ms/frame is the total over all frames, and N says in how many of them a pass was."""
        lines = [header(), device(), pass_info(A, "always"), pass_info(B, "once"), pass_info(C, "lost")]
        for i in range(10):
            passes = [one_pass(0, A, 4000000), one_pass(1, C, 6000000 if i < 4 else None)]
            lines.append(frame(i, passes + ([one_pass(2, B, 200000000)] if i == 3 else [])))
        log = self.write_log("a.jsonl", [*lines, end(10, 21)])
        cells = {line.split()[0]: re.split("  +", line) for line in self.table(log)}
        self.assertEqual(cells["pass"], ["pass", "ms/frame", "p50 ms", "p99 ms", "share", "N", "draws"])
        self.assertEqual(cells["always"][1:3] + cells["always"][5:6], ["4.000", "4.000", "10"])
        self.assertEqual(cells["once"][1:3] + cells["once"][5:6], ["20.000", "200.000", "1 of 10"])
        # Frames in which the time of a pass is not known are not frames in which it cost nothing.
        self.assertEqual(cells["lost"][1:3] + cells["lost"][5:6], ["6.000", "6.000", "4 of 10"])
        self.assertEqual({r["name"]: r["per_frame_ns"] for r in self.json(log)["rows"]},
                         {"always": 4e6, "once": 2e7, "lost": 6e6})

    def test_what_ran_at_once_is_said(self):
        for gpu_ns, said in ((10**6, True), (2 * 10**6, False)):
            lines = [header(), device(), pass_info(A), pass_info(B), frame(0, [one_pass(0, A, 10**6), one_pass(1, B, 10**6)],
                                                                           gpu_ns=gpu_ns, envelope_ns=gpu_ns), end(1, 2)]
            text = self.ok("report", self.write_log("a.jsonl", lines)).stdout.decode()
            self.assertEqual("shares of device 0 add up to 200.0 %: passes ran at the same time\n" in text, said)

    def test_labels_are_a_tree(self):
        labels = {"Bloom/Down 0": 10, "Bloom/Down 1": 20, "Bloom/Up 0": 30, "Bloom": 5, "I/O": 7, "a//b": 8,
                  "Draw 1 / 2": 9, "Post/Fog/Near": 3, "Post/Fog/Far": 2, "Post/Fog/Far ": 1}
        idents = ["%016x" % (i + 1) for i in range(len(labels) + 2)]
        lines = [header(), device(), *(pass_info(i, label) for i, label in zip(idents, labels)),
                 pass_info(idents[-2], "Bloom/Up 0"), pass_info(idents[-1])]
        for f in range(2):
            lines.append(frame(f, [one_pass(k, ident, int(1000 * cost)) for k, (ident, cost)
                                   in enumerate(zip(idents, [*labels.values(), 4, 6.5]))]))
        log = self.write_log("a.jsonl", [*lines, end(2, 24)])
        table = [line.rstrip() for line in self.table("--by", "label", "--columns", "total", log)]
        self.assertEqual([re.split("  +", line.lstrip())[0] for line in table], [
            "pass", "Bloom: 5 passes", "Up 0: 2 passes", "Down 1", "Down 0", "(directly in it)", "Draw 1 / 2", "a//b",
            "I/O", "(No attachment)", "Post/Fog: 3 passes", "Near", "Far", "Far"])
        self.assertEqual([len(line) - len(line.lstrip()) for line in table], [0, 0, 2, 2, 2, 2, 0, 0, 0, 0, 0, 2, 2, 2])
        report = self.json("--by", "label", log)
        # Machine formats list every pass once; the sums are separate.
        self.assertAlmostEqual(sum(r["share"] for r in report["rows"]), 1)
        sums = {r["label"]: (r["ids"], r["values"]["gpu_ns"]["p50"]) for r in report["rollups"]}
        # A part with only one thing in it is no sum.
        self.assertEqual(sums, {"Bloom": (5, 69000), "Post/Fog": (3, 6000)})
        rows = list(csv.DictReader(io.StringIO(self.ok("report", "--by", "label", "--csv", log).stdout.decode())))
        self.assertEqual(len(rows), len(report["rows"]))
        self.assertEqual(len(self.table("--by", "label", "--pass", "bloom", log)), 6)

    def test_a_sum_that_begins_late(self):
        """What was alone in its part of the tree is part of the sum from its first frame on."""
        lines = [header(), device(), pass_info(A, "Bloom/a"), pass_info(B, "Bloom/b/c"), pass_info(C, "Bloom")]
        lines += [frame(0, [one_pass(0, A, 5)]), frame(1, [one_pass(0, A, 7)]), frame(2, [one_pass(0, A, 1), one_pass(1, B, 2)]),
                  frame(3, [one_pass(0, C, 9), one_pass(1, A, 4), one_pass(2, B, 6), one_pass(3, A, 3, segment=1)]), end(4, 8)]
        rollup, = self.json("--by", "label", "--warmup", "0", self.write_log("a.jsonl", lines))["rollups"]
        gpu = rollup["values"]["gpu_ns"]
        self.assertEqual((rollup["label"], rollup["ids"], rollup["frames"]), ("Bloom", 3, 4))
        self.assertEqual((gpu["n"], gpu["sum"], gpu["min"], gpu["max"], gpu["p50"]), (4, 37, 3, 22, 5))
        self.assertEqual(rollup["values"]["draws"]["sum"], 8)

    def test_why_there_are_no_times(self):
        lines = [header(), device(), pass_info(A, "a"), pass_info(B, "b")]
        loads = [{"command": "draw", "flags": ["no_timestamps"]}]
        for i, (gpu_ns, told) in enumerate(((None, True), (5, False))):
            one = [one_pass(0, A, gpu_ns, flags=["list"], workloads=loads), one_pass(1, B, flags=["bad_time"])]
            log = self.write_log(f"{i}.jsonl", [*lines, frame(0, one), end(1, 2)])
            text = self.ok("report", log).stdout.decode()
            self.assertEqual("the GPU time of these rows is unknown; they are flagged list, bad_time (man passtally-log)"
                             in " ".join(text.split()), told, text)
            loads_text = " ".join(self.ok("report", "--by", "workload", log).stdout.decode().split())
            self.assertIn("flagged no_timestamps (man" if told else
                          "of these workloads is unknown, only that of their passes is known: the driver draws those of a pass together", loads_text)
        self.assertNotIn("is unknown", self.ok("report", "--by", "frame", log).stdout.decode())

    def test_why_there_are_no_counters(self):
        says = "no counter was measured in these rows; they are flagged simultaneous (man passtally-log)"
        own = {"key": "samples_passed", "name": "Samples", "unit": "1", "kind": "event", "source": "vk-statistics", "scope": "pass"}
        for counters, described, flags, told in ((None, [own], ["approximate", "simultaneous"], True), (None, [own], ["resolve"], False),
                                                 (None, [], ["simultaneous"], False), ({"samples_passed": 7}, [own], ["simultaneous"], False)):
            more = {"counters": counters} if counters else {}
            log = self.write_log("a.jsonl", [header(), device(counters=described), pass_info(A, "a"),
                                             frame(0, [one_pass(0, A, 5, flags=flags, **more)]), end(1, 1)])
            for args in ((), ("--wide",), ("--by", "label")):
                self.assertEqual(says in " ".join(self.ok("report", *args, log).stdout.decode().split()), told, (flags, args))

    def test_frames_that_are_not_in_the_log(self):
        """A log that was full lost its last frames for that, not because the writer was slow."""
        lines = simple_log()
        over = "the capture ended before the program did: max-log"
        for reason, dropped, says in (("exit", 2, "2 frames were dropped: the log could not keep up"),
                                      ("max-log", 1, f"{over}; 1 frame of it is not in the log"),
                                      ("disk-full", 3, f"{over.replace('max-log', 'disk-full')}; 3 frames of it are not in the log"),
                                      ("max-log", 0, over)):
            lines[-1] = end(10, 20, reason=reason, frames_dropped=dropped)
            text = " ".join(self.ok("report", self.write("log.jsonl", log_bytes(lines))).stdout.decode().split())
            self.assertIn(says, text)
            self.assertEqual("keep up" in text, reason == "exit")
            self.assertEqual("not in the log" in text, reason != "exit" and dropped > 0)

    def test_lines_of_80_columns(self):
        """Long texts of a log are wrapped; share names the GPU whose time it is of where there are several."""
        words = "a note that goes on " * 10
        lines = [header(os="An OS " * 9, cpu="A processor " * 5), device(), device(1), pass_info(A, "a"),
                 {"type": "note", "level": "info", "source": "x", "message": words},
                 frame(0, [one_pass(0, A, 5)]), frame(0, [one_pass(0, A, 5)], 1), end(2, 2)]
        text = self.ok("report", self.write_log("a.jsonl", lines)).stdout.decode()
        self.assertLessEqual(max(map(len, text.splitlines()[1:])), 80, text)
        self.assertIn(words.strip(), " ".join(text.split()))
        self.assertIn("share is of the GPU time of the row's device", text)

    def test_groups_inside_a_pass(self):
        """A pass that contains groups without being named by them: the report says what separates the groups."""
        info = dict(pass_info(A, presented=True, width=640, height=480), groups="Tonemap, UI \x1b[31m")
        log = self.write_log("a.jsonl", [header(), device(), info, pass_info(B, "Bloom"),
                                         frame(0, [one_pass(0, A, 5), one_pass(1, B, 5)]), end(1, 2)])
        text = self.ok("report", log).stdout.decode()
        self.assertIn("Backbuffer holds labeled groups (Tonemap, UI \\u{1b}[31m): run with --split\n"
                      "  group to separate them\n", text)
        self.assertEqual(text.count("--split"), 1)
        together = self.write_log("t.jsonl", [header(), device(name="llvmpipe (LLVM 15)"), info, frame(0, [one_pass(0, A, 5)]), end(1, 1)])
        self.assertNotIn("--split", self.ok("report", together).stdout.decode(), "separated they have no time there")
        self.assertNotIn("--split", self.ok("report", "--pass", "Bloom", log).stdout.decode())
        self.assertEqual([r.get("groups") for r in self.json(log)["rows"]], ["Tonemap, UI \x1b[31m", None])

    def test_order_of_the_frame(self):
        lines = [header(), device(), pass_info(A, "last"), pass_info(B, "first"), pass_info(C, "rare")]
        for i in range(5):
            rare = [one_pass(0, C, 1)] if i == 2 else []
            lines.append(frame(i, rare + [one_pass(len(rare), B, 1), one_pass(1 + len(rare), A, 9)],
                               unattributed={"gpu_ns": 3}))
        log = self.write_log("a.jsonl", [*lines, end(5, 11)])
        self.assertEqual([r["name"] for r in self.json("--sort", "order", log)["rows"]],
                         ["rare", "first", "last", "(not in a pass)"])

    def test_nothing_outside_passes(self):
        """Estimates alone are not work outside passes; a table does not show them."""
        lines = [header(), device(), pass_info(A, "a"), frame(0, [one_pass(0, A, 75)], unattributed={
            "gpu_ns": 0, "counters": {"cpu_page_faults": 4}, "estimated": ["cpu_page_faults"]}), end(1, 1)]
        log = self.write_log("a.jsonl", lines)
        for args in ([], ["--wide"]):
            self.assertEqual(len(self.table(*args, log)), 2 if args else 3)
            self.assertNotIn("outside", "".join(self.table(*args, log)))
        self.assertEqual(len(self.json(log)["rows"]), 2)

    def test_headings_are_names_too(self):
        log = self.write_log("a.jsonl", simple_log(3))
        for name in ("mean", "mean_ns", "mean us", "p99 us", "us/frame", "p99 ms", "ms/frame", "/frame"):
            self.assertEqual([r["id"] for r in self.json("--sort", name, log)["rows"]], [B, A], name)
        head = self.table("--columns", "N, per_frame, samples_passed, pass", log)[0]
        self.assertEqual(head.split(), ["pass", "N", "us/frame", "samples_passed"])
        head = self.table("--by", "frame", "--columns", "gpu ms,frame time ms", log)[0]
        self.assertEqual(head.split(), ["frame", "gpu", "ms", "frame", "time", "ms"])
        for name in ("N ms", "mean  ms", "mean min", "us", "ms/", "xus/frame", "share ms"):
            self.assertEqual(self.command("report", "--sort", name, log).returncode, 2, name)

    def test_pass_by_a_part_of_its_name(self):
        lines = [header(), device(), pass_info(A, "Bloom/\u00dcber"), pass_info(B, "bloom/down"), pass_info(C, "Bloom"),
                 frame(0, [one_pass(0, A, 5), one_pass(1, B, 6), one_pass(2, C, 7)]), end(1, 3)]
        log = self.write_log("a.jsonl", lines)
        for part, want in (("Bloom", ["Bloom"]), ("\u00fcBER", ["Bloom/\u00dcber"]),
                           ("BLOOM", ["Bloom", "bloom/down", "Bloom/\u00dcber"]),
                           ("loom/", ["bloom/down", "Bloom/\u00dcber"]), (C, ["Bloom"])):
            done = self.ok("report", "--json", "--pass", part, log)
            self.assertEqual([r["name"] for r in json.loads(done.stdout)["reports"][0]["rows"]], want)
        for none in ("", "\udce3", "x\udcf0", "\u65e5"):  # also bytes that are not text
            self.assertEqual(self.command("report", "--pass", none, log).returncode, 2)

    def why(self, log, name="main"):
        """What report --pass says of the pass, in one line."""
        text = self.ok("report", "--pass", name, log).stdout.decode()
        found = re.search(rf"(?m)^{name}: (.*(?:\n  .*)*)", text)
        return " ".join(found.group(1).split()) if found else ""

    def test_why_a_pass_costs(self):
        counted = {"fragment_shader_invocations": 60000, "vertex_shader_invocations": 5000,
                   "clipping_input_primitives": 1000, "clipping_output_primitives": 400, "primitives_submitted": 1000}
        target = {"width": 200, "height": 100, "samples": 4, "color": ["RGBA8"], "depth": "DEPTH24_STENCIL8",
                  "load": "load", "store": "resolve"}
        lines = [header(), device(), pass_info(A, "main", **target), pass_info(B, "bare", width=200, height=100),
                 pass_info(C, "sum", kind="compute"),
                 frame(0, [one_pass(0, A, 5, "main", draws=200, counters={**counted, "primitives_submitted": 10000}), one_pass(1, B, 6, "bare"),
                           one_pass(2, C, 6, "sum", kind="compute")]), end(1, 3)]
        log = self.write_log("a.jsonl", lines)
        said = self.why(log)
        for part in ("3 fragments shaded a pixel: more than one", "0.25 vertices shaded a pixel;", "0.02 primitives a pixel;",
                     "60 % of the primitives culled", "50 primitives a draw: many small",
                     "loads up to 640 kB; stores up to 800 kB: 80 kB would do if", "; to find out what limits it: "):
            self.assertIn(part, said)
        few = self.why(self.write_log("few.jsonl", [header(), device(), pass_info(A, "main", **{**target, "load": "clear"}),
                       frame(0, [one_pass(0, A, 5, "main", draws=2, counters={**counted, "vertex_shader_invocations": 3})]), end(1, 1)]))
        for part in ("a draw", "vertices shaded", "loads"):
            self.assertNotIn(part, few)
        self.assertRegex(self.why(log, "bare"), "^to find out what limits it: [^;]*; [^;]*$")  # nothing was counted
        self.assertRegex(self.why(log, "sum"), "^to find out what limits it: dispatch half")
        self.assertNotIn("find out", self.ok("report", log).stdout.decode())

    def test_what_a_pass_loads_and_stores(self):
        rows = [  # 200x100, color and depth of 32 bits each: 80 kB a sample and part
            ({"load": "load", "store": "store"}, "loads up to 160 kB; stores up to 160 kB: 80 kB would do if"),
            ({"load": "load", "store": "store", "color_load": "load", "depth_load": "clear", "color_store": "store",
              "depth_store": "discard"}, "loads up to 80 kB (color); stores up to 80 kB (color): 80 kB would do if"),
            ({"load": "load", "store": "store", "color_load": "clear", "depth_load": "load", "color_store": "store",
              "depth_store": "store"}, "loads up to 80 kB (depth); stores up to 160 kB (color and depth): 80 kB would do if"),
            ({"load": "clear", "store": "store", "color_load": "clear", "depth_load": "clear", "color_store": "store",
              "depth_store": "discard"}, "loads nothing of its targets; stores up to 80 kB (color); to find"),
            ({"load": "clear", "store": "resolve", "samples": 4, "color_load": "clear", "depth_load": "clear",
              "color_store": "resolve", "depth_store": "discard"},
             "loads nothing of its targets; stores up to 80 kB (color); to find"),
            # The color is kept and resolved, so its word is left out.
            ({"load": "clear", "store": "resolve", "samples": 4, "color_load": "clear", "depth_load": "clear",
              "depth_store": "discard"}, "stores up to 400 kB: 80 kB would do if"),
            ({"load": "clear", "store": "store", "samples": 4}, "stores up to 640 kB: 80 kB would do if"),
            # OpenGL, its colors invalidated: what became of its depth is not known.
            ({"load": "clear", "store": "discard"}, "to find"),
        ]
        for target, want in rows:
            info = pass_info(A, "main", width=200, height=100, color=["RGBA8"], depth="DEPTH24_STENCIL8", **target)
            log = self.write_log("a.jsonl", [header(), device(), info, frame(0, [one_pass(0, A, 5, "main", draws=2)]), end(1, 1)])
            self.assertTrue(self.why(log).startswith(want), (target, self.why(log)))

    def test_a_pass_without_draws(self):
        for load, draws, want in (("clear", 0, "draws nothing, it only clears: the next pass on this target can do that as it begins; "
                                                "stores up to 80 kB$"),
                                  ("load", 0, "draws nothing; loads up to 80 kB; stores up to 80 kB: 80 kB would do if [^;]*$"),
                                  ("clear", 1, "stores up to 80 kB; to find")):
            info = pass_info(A, "main", width=200, height=100, color=["RGBA8"], load=load, store="store")
            log = self.write_log("a.jsonl", [header(), device(), info, frame(0, [one_pass(0, A, 5, "main", draws=draws)]), end(1, 1)])
            self.assertRegex(self.why(log), "^" + want)
        unknown = one_pass(0, A, 5, "main", draws=0)
        unknown["flags"] = ["list"]
        log = self.write_log("a.jsonl", [header(), device(), info, frame(0, [unknown]), end(1, 1)])
        self.assertNotIn("draws nothing", self.why(log))

    def test_why_by_hardware_counters(self):
        """Keys as the drivers' counters get them, or of metrics; what says nothing leaves the experiment."""
        rows = [
            ("MaliShaderCoreUnitUtilizationTextureUnitUtilization", 91, "91 % of the cycles the texture unit works: that limits it"),
            ("SC.TEX_UTILIZATION", 80, "80 % of the cycles the texture unit works"),
            ("SC.TEX_UTILIZATION", 40, ""),
            ("intel_eu_stall_share", 61, "61 % of their active time the shader units wait"),
            ("valu_busy", 88.25, "88.2 % of the time vector instructions run: that limits it (AMD, GPUPerfAPI, VALUBusy)"),
            ("valu_busy", 79, ""),
            ("salu_busy", 85, "85 % of the time scalar instructions run: that limits it (AMD,"),
            ("time_alus_working", 93, "93 % of their busy time the shaders calculate: arithmetic limits them (Qualcomm, % Time ALUs Working)"),
            ("adreno_alus_working", 93, "93 % of their busy time the shaders calculate"),
            ("time_efus_working", 81, "81 % of their busy time the shaders compute sines, roots and the like"),
            ("texture_fetch_stall", 55, "55 % of the time the shaders wait for texture data: that limits it (Qualcomm, % Texture Fetch Stall)"),
            ("adreno_texture_stall", 55, "55 % of their busy time the shaders wait for texture data"),
            ("vertex_fetch_stall", 50, "50 % of the time vertex data is waited for"),
            ("stalled_on_system_memory", 70, "70 % of the time the L2 cache waits for memory"),
            ("texture_fetch_stall", 49, ""),
        ]
        for key, percent, words in rows:
            for estimated in ([], [key]):
                log = self.write_log("a.jsonl", [
                    header(), device(metrics=[{"key": key, "name": "A unit", "unit": "percent"}]), pass_info(A, "main"),
                    frame(0, [one_pass(0, A, 5, "main", metrics={key: percent}, estimated=estimated)]), end(1, 1)])
                said = self.why(log)
                if words and not estimated:
                    self.assertTrue(said.startswith(words), said)
                    self.assertNotIn("find out", said)
                else:
                    self.assertTrue(said.startswith("to find out what limits it"), said)

    def test_colors_and_pager(self):
        log = self.write_log("a.jsonl", simple_log(3))
        color = {"TERM": "xterm", "PAGER": "cat"}
        self.assertIn("\x1b[1;31m", self.on_terminal(80, "report", log, env=color))
        self.assertNotIn("\x1b", self.on_terminal(80, "report", log, env={**color, "NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b", self.ok("report", log, env=color).stdout)
        plain = self.on_terminal(80, "report", log)
        # Only output that is longer than the screen goes to the pager; output that cannot be paged is shown
        # anyway.
        sed = {"TERM": "xterm", "NO_COLOR": "1", "PAGER": "sed s/^/paged:/"}
        paged = "".join("paged:" + line for line in plain.splitlines(keepends=True))
        for want, rows, args, env in ((paged, 5, [], {}), (plain, 50, [], {}), (plain, 0, [], {}),
                                      (plain, 5, ["--no-pager"], {}), (plain, 5, [], {"PAGER": ""}),
                                      (plain, 5, [], {"TERM": "dumb"})):
            self.assertEqual(self.on_terminal(80, "report", *args, log, rows=rows, env={**sed, **env}), want)
        self.assertIn(plain, self.on_terminal(80, "report", log, rows=5, env={**sed, "PAGER": "/nonexistent/less 2>/dev/null"}))
        self.assertNotIn(b"paged", self.ok("report", log, env=sed).stdout)

    def test_streams(self):
        data = log_bytes(simple_log(3))
        self.assertEqual(len(self.json("-", input=data)["rows"]), 2)

    def test_memory_is_bounded_by_passes(self):
        text = log_bytes(simple_log(2))
        many = [frame(i, [one_pass(0, A, 1000 + i * 7919 % 100000)]) for i in range(60000)]
        log = self.write_log("a.jsonl", simple_log(0)[:-1] + many + [end(60000, 60000)])
        self.assertGreater(log.stat().st_size, 10 * 1000 * 1000)
        script = ("import resource, subprocess, sys\n"
                  "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n")
        import sys
        done = subprocess.run([sys.executable, "-c", script, COMMAND, "report", str(log)], env=self.env,
                              capture_output=True, check=True, timeout=300)
        if not os.environ.get("PASSTALLY_TEST_SANITIZER"):
            self.assertLess(int(done.stdout), 64 * 1024, "KiB resident")
        value = self.json(log)["rows"][0]["values"]["gpu_ns"]
        self.assertFalse(value["quantiles_exact"])
        values = sorted(1000 + i * 7919 % 100000 for i in range(60000))
        for q in (50, 90, 99):
            self.assertAlmostEqual(value[f"p{q}"] / values[600 * q - 1], 1, delta=0.001)
        self.assertTrue(text)

    def test_where_it_ran(self):
        lines = [header(tags={"scene": "docks", "build": "1234"}, cpu="Good CPU", cpus=8, memory_bytes=8 << 30,
                        os="An OS", session="wayland", argv=["demo", "--token", "hunter2", "-x"]),
                 device(vendor_id=4098, device_id=1, pci="0000:03:00.0"), pass_info(A, "main")]
        lines += [frame(i, [one_pass(0, A, 5)], width=w, height=600) for i, w in enumerate((640, 800, 800))]
        log = self.write_log("a.jsonl", lines + [end(3, 3)])
        text = self.ok("report", "--warmup", "0", log).stdout.decode()
        self.assertIn("\ntags: build=1234, scene=docks\nmachine: Good CPU, 8 CPUs, 8.0 GiB; An OS; wayland\n", text)
        self.assertIn("\nsurfaces of device 0: 640x600 in 1, 800x600 in 2 of 3 frames\n", text)
        report = json.loads(self.ok("report", "--json", "--warmup", "0", log).stdout)["reports"][0]
        self.assertEqual((report["tags"], report["cpus"]), ({"build": "1234", "scene": "docks"}, 8))
        card = report["devices"][0]
        self.assertEqual((card["vendor_id"], card["pci"], card["width"], card["height"]), (4098, "0000:03:00.0", 800, 600))
        self.ok("report", "--html", "p.html", log)
        page = (self.folder / "p.html").read_text(encoding="utf-8")
        self.assertIn('["demo","--token","***","-x"]', page)
        self.assertNotIn("hunter2", page)
        self.assertNotIn("hunter2", self.ok("compare", log, self.write_log("b.jsonl", lines[:1] + lines[1:])).stdout.decode())

    def test_clock(self):
        for clocks, line in (([1800, 1810, 1805] * 10, None), ([], None),
                             ([1000] * 10 + [2000] * 20,
                              "GPU clock of device 0: moved by 50 %, 1000 to 2000 MHz, median 2000 MHz\n")):
            lines = [header(), device(), pass_info(A, "main")]
            lines += [frame(i, [one_pass(0, A, 5)], metrics={"other": 3.0, "gpu_clock": float(c)}, estimated=["gpu_clock"])
                      for i, c in enumerate(clocks)] or [frame(0, [one_pass(0, A, 5)])]
            log = self.write_log("a.jsonl", lines)
            text = self.ok("report", "--warmup", "0", log).stdout.decode()
            card = json.loads(self.ok("report", "--json", "--warmup", "0", log).stdout)["reports"][0]["devices"][0]
            self.assertEqual("GPU clock" in text, line is not None)
            self.assertIn(line or "", text)
            self.assertEqual(card.get("gpu_clock", {"n": 0})["n"], len(clocks))

    def test_golden(self):
        for name, args in (("report-1.txt", ["--device", "0"]), ("report-1.csv", ["--csv", "--device", "0"]),
                           ("report-1.json", ["--json", "--device", "0"])):
            with self.subTest(name):
                got = subprocess.run([COMMAND, "report", *args, "tests/golden/log-1.jsonl"], cwd=ROOT,
                                     env=self.env, capture_output=True, check=True).stdout
                golden = ROOT / "tests/cli/golden" / name
                if os.environ.get("PASSTALLY_UPDATE_GOLDEN"):
                    golden.parent.mkdir(exist_ok=True)
                    golden.write_bytes(got)
                self.assertEqual(got.decode(), golden.read_text(encoding="utf-8"))

    def test_write_errors(self):
        log = self.write_log("a.jsonl", simple_log(3))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([COMMAND, "report", str(log)], env=self.env, stdout=full,
                                  stderr=subprocess.PIPE, timeout=240)
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"No space left", done.stderr)
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([COMMAND, "report", "--json", str(log)], env=self.env, stdout=write,
                              stderr=subprocess.PIPE, timeout=240)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (125, b""))


if __name__ == "__main__":
    unittest.main()
