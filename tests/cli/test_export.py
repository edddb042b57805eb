#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally export: traces and tables contain what the log contains, to the nanosecond, and nothing else."""

import contextlib
import csv
import io
import json
import os
import pty
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

from cli_case import (A, B, C, COMMAND, ROOT, CliCase, device, end, frame, header, log_bytes, one_pass, pass_info,
                      simple_log)
from perfetto_trace import Trace

BASE = 4386856885087  # starts are nanoseconds since boot: none is a whole microsecond
COLUMNS = ["device", "api", "frame", "set", "what", "pass", "id", "segment", "kind", "name", "label", "ran_on",
           "workload", "command", "key", "value", "unit", "source", "validity", "flags", "tags"]


def timed(index, ident, cpu, gpu, length, **more):
    return one_pass(index, ident, length, cpu_start_ns=cpu, gpu_start_ns=gpu, **more)


def rich_log(seed=7, frames=30):
    """Two devices, three lanes that overlap within and between frames, commands, marks, passes without a time."""
    r = random.Random(seed)
    lines = [header(), device(0), device(1, api="vulkan", metrics=[
        {"key": "load", "name": "Load", "unit": "percent", "expression": "a / b", "dialect": "arm"}]),
        pass_info(A, "scene/shadow"), pass_info(B, "post, \"bloom\""), pass_info(C, kind="compute")]
    for i in range(frames):
        start = BASE + i * 16000001
        gl, t = [], start + 500
        for k in range(4):
            length = r.randrange(1, 5000000)
            loads = [{"command": "draw", "gpu_start_ns": t, "gpu_ns": length // 3, "counters": {"samples_passed": k}},
                     {"command": "clear", "gpu_start_ns": t + length // 2, "gpu_ns": length // 4},
                     {"command": "copy", "flags": ["lost"]}]
            gl.append(timed(k, r.choice((A, B)), start + k * 1000, t, length, context=1,
                            counters={"samples_passed": r.randrange(1, 1 << 40)}, workloads=loads if k == 2 else []))
            if not gl[-1]["workloads"]:
                del gl[-1]["workloads"]
            t += length + r.choice((0, 0, 333))
        gl.append(one_pass(4, B, context=1, cpu_start_ns=start + 9000, flags=["incomplete"]))
        lines.append(frame(i, gl, 0, start_ns=start, cpu_ns=15000001))
        vk = []
        for k in range(6):
            at = start + r.randrange(20000000)
            vk.append(timed(k, C if k % 2 else A, start + k * 700, at, r.randrange(1, 9000000), queue=f"{k % 2}.0",
                            kind="compute" if k % 2 else "render", metrics={"load": r.random() * 100}))
        lines.append(frame(i, vk, 1, start_ns=start + 77, cpu_ns=15999000))
        if i % 10 == 3:
            lines.append({"type": "note", "level": "info", "message": f"mark {i}", "source": "mark",
                          "time_ns": start + 12345})
    lines.append({"type": "note", "level": "warning", "message": "no room", "source": "session"})
    return lines + [end(2 * frames, 11 * frames)]


def passes_of(lines):
    """(device, frame number, lane, pass) of the whole log."""
    for line in lines:
        if line["type"] == "frame":
            for p in line["passes"]:
                lane = f"queue {p['queue']}" if "queue" in p else f"context {p['context']}" if "context" in p else "no context"
                yield line["device"], line["frame"], lane, p


def args_of(number, p):
    """What a trace shows of a pass, by the pass's line in the log. Arguments of GPU stages are texts."""
    args = {"frame": str(number)}
    for key, value in p.items():
        if key in ("counters", "metrics"):
            args.update({f"{key}.{k}": json.dumps(v) for k, v in value.items()})
        elif key == "flags":
            args["flags"] = " ".join(value)
        elif key not in ("context", "queue", "workloads", "label", "estimated"):
            args[key] = str(value)
    return args


class Export(CliCase):
    def export(self, form, log, **kwargs):
        """What the command writes to standard output."""
        return self.ok("export", f"--{form}", "-", log, **kwargs).stdout

    def files(self):
        return sorted(p.name for p in self.folder.iterdir() if p.is_file())

    def trace(self, log, **kwargs):
        return Trace(self.export("perfetto", log, **kwargs))

    def table(self, log, **kwargs):
        text = self.export("csv", log, **kwargs).decode()
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        for row in rows:
            self.assertEqual(list(row), COLUMNS)
            self.assertNotIn(None, row.values())
        return rows

    def names(self, log):
        """What `report` calls each pass of each device."""
        names = {}
        for number in (0, 1):
            done = self.ok("report", "--json", "--device", number, log)
            for row in json.loads(done.stdout)["reports"][0]["rows"]:
                names[number, row["id"]] = row["name"]
        return names

    def test_perfetto_round_trip(self):
        lines = rich_log()
        log = self.write_log("a.jsonl", lines)
        trace, names = self.trace(log), self.names(log)
        drawn = [(q.gpu, q.name, name, what, category, start, stop - start, args)
                 for q, (start, stop, name, args, category, what, _) in trace.stages("render", "compute")]
        titles = {0: "device 0: card 0 (opengl)", 1: "device 1: card 1 (vulkan)"}
        submitted = [(*trace.path(track)[1:], name, ns, trace.events[stage][1][3] if stage else None, args)
                     for track in trace.tracks.values() for ns, name, args, category, stage in track.instants
                     if category == "submit"]
        want_drawn, want_submitted = [], []
        for number, count, lane, p in passes_of(lines):
            name, args = names[number, p["id"]], args_of(count, p)
            if "gpu_ns" in p:
                want_drawn.append((number, lane, name, p["kind"], {"render": 1, "compute": 2}[p["kind"]], p["gpu_start_ns"],
                                   p["gpu_ns"], args))
                shown = {"frame": count, "index": p["index"], "id": p["id"]}
            else:
                shown = {"frame": count, "flags": "incomplete", **{k: v for k, v in p.items() if k not in ("context", "flags")}}
            want_submitted.append((titles[number], f"{lane}: CPU submits", name, p["cpu_start_ns"],
                                   args if "gpu_ns" in p else None, shown))
        # Passes that overlap are on further queues: "queue 0.0 #2".
        self.assertCountEqual([(d[0], d[1].split(" #")[0], *d[2:]) for d in drawn], want_drawn)
        for queue in trace.queues.values():
            if ":" not in queue.name:
                order = sorted(queue.stages)
                self.assertTrue(all(a[1] <= b[0] for a, b in zip(order, order[1:])), queue.name)
        # Each submission names its execution's stage, with all that is known of it; one without carries that itself.
        self.assertCountEqual(submitted, want_submitted)
        self.assertEqual([(t.name, t.pid) for t in trace.tracks.values() if not t.parent], [("demo", 42)])
        self.assertTrue(trace.has_clock)
        self.assertEqual([gpu["name"] for gpu in trace.gpus], list(titles.values()))
        self.assertEqual(trace.contexts, {1: (42, "opengl"), 2: (42, "vulkan")})

    def test_perfetto_frames_and_commands(self):
        lines = rich_log(frames=5)
        trace = self.trace(self.write_log("a.jsonl", lines))
        frames = [(trace.path(t)[1][:8], s[3], s[1], s[2]) for t in trace.named("frames (CPU)") for s in t.slices]
        want = [(f"device {f['device']}", f"frame {f['frame']}", f["start_ns"], f["start_ns"] + f["cpu_ns"])
                for f in lines if f["type"] == "frame"]
        self.assertCountEqual(frames, want)
        loads = [(s[0], s[1] - s[0], s[2], s[3].get("counters.samples_passed"))
                 for q, s in trace.stages("command") if q.name == "context 1: commands"]
        self.assertIn(b"5 single commands have no known place",
                      self.ok("export", "--perfetto", "-", self.folder / "a.jsonl").stderr)
        want = [(load["gpu_start_ns"], load["gpu_ns"], load["command"],
                 str(load["counters"]["samples_passed"]) if "counters" in load else None)
                for _, _, _, p in passes_of(lines) for load in p.get("workloads", ()) if "gpu_ns" in load]
        self.assertCountEqual(loads, want)  # those without a time are not there

    def test_perfetto_counters(self):
        lines = rich_log()
        trace = self.trace(self.write_log("a.jsonl", lines))
        shown = [(c["name"].split(" (")[0], c["gpu"], start, stop, value) for c in trace.gpu_counters.values()
                 for start, stop, value in trace.intervals(c)]
        want = [(key, number, p["gpu_start_ns"], p["gpu_start_ns"] + p["gpu_ns"], value) for number, _, _, p in passes_of(lines)
                for key, value in {**p.get("counters", {}), **p.get("metrics", {})}.items()]
        self.assertCountEqual([row for row in shown if row[0] in ("samples_passed", "load")], want)
        units = {(c["name"].split(" (")[0], c["description"], c["unit"]) for c in trace.gpu_counters.values()}
        self.assertLessEqual({("samples_passed", "Samples.", 0), ("load", "a / b", 37), ("cpu_ns", "", 19)}, units)
        cpu = next(c for c in trace.gpu_counters.values() if c["name"] == "cpu_ns (frame)" and c["gpu"] == 0)
        self.assertEqual(trace.intervals(cpu)[0], (BASE, BASE + 15000001, 15000001))

    def test_protoc_reads_the_same(self):
        if not shutil.which("protoc"):
            self.skipTest("protoc is not here (protobuf-compiler)")
        data = self.export("perfetto", self.write_log("a.jsonl", rich_log(frames=6)))
        done = subprocess.run(["protoc", "--decode_raw"], input=data, capture_output=True, check=True, timeout=240)
        text = done.stdout.decode()
        self.assertEqual(text.count("\n1 {") + text.startswith("1 {"), Trace(data).n_packets)
        stamps = [int(v) for v in re.findall(r"^  8: (\d+)$", text, re.MULTILINE)]
        starts = [p["gpu_start_ns"] for _, _, _, p in passes_of(rich_log(frames=6)) if "gpu_ns" in p]
        self.assertTrue(set(starts) <= set(stamps))
        self.assertEqual(set(re.findall(r"^  58: (\d+)$", text, re.MULTILINE)), {"3"})

    def own_clock_log(self):
        lines = [header(), device(0), device(1), pass_info(A, "a")]
        for number, gpu in ((1, 900), (0, 50000)):  # device 1 comes first, with the later CPU time
            start = 2000000 - number * -500000
            passes = [timed(0, A, start + 1, gpu + 100, 40, context=1, flags=["uncalibrated"]),
                      timed(1, A, start + 2, gpu + 150, 7, context=1, flags=["uncalibrated"],
                            counters={"samples_passed": 5})]
            lines.append(frame(0, passes, number, start_ns=start))
        lines.append(frame(1, [timed(0, A, 30000000, 30000005, 9, context=1)], 0, start_ns=29000000, cpu_ns=5))
        return lines + [end(3, 5)]

    def test_perfetto_own_clocks(self):
        trace = self.trace(self.write_log("a.jsonl", self.own_clock_log()))
        queues = trace.queue("context 1, own clock (not matched with the CPU's)")
        self.assertEqual(len(queues), 2)
        for queue in queues:
            gpu = {0: 50000, 1: 900}[queue.gpu]
            # The first timestamp is shown where the frame began.
            at = {0: 2000000, 1: 2500000}[queue.gpu]
            self.assertEqual([s[:2] for s in queue.stages], [(at, at + 40), (at + 50, at + 57)])
            self.assertIn(f"the stamp {gpu + 100} is shown at {at}", queue.description)
        plain, = trace.queue("context 1")
        self.assertEqual(plain.stages[0][:2], (30000005, 30000014))
        links = [i[4] for t in trace.tracks.values() for i in t.instants]
        self.assertEqual([link for link in links if link], [plain.stages[0][6]])  # no arrows between clocks
        own = [c for c in trace.gpu_counters.values() if "samples_passed" in c["name"]]
        self.assertEqual(sorted(trace.intervals(c)[0] for c in own), [(2000050, 2000057, 5), (2500050, 2500057, 5)])

    def test_absent_times(self):
        passes = [one_pass(0, A, context=1, cpu_start_ns=1200, counters={"samples_passed": 9}, flags=["bad_time"]),
                  one_pass(1, B, 50, context=1),  # the duration is known, but not when
                  timed(2, C, 1400, 2000, 10, context=1)]
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A, "a"), pass_info(B, "b"), pass_info(C, "c"),
                                          frame(0, passes, start_ns=1000), end(1, 3)])
        done = self.ok("export", "--perfetto", "-", log)
        self.assertIn(b"2 passes have no known place", done.stderr)
        self.assertNotIn(b"commands", done.stderr)
        trace = Trace(done.stdout)
        self.assertEqual([s[3]["index"] for _, s in trace.stages("render")], ["2"])
        listed, = trace.named("context 1: CPU submits")
        self.assertEqual([(i[0], i[2]["index"]) for i in listed.instants], [(1200, 0), (1000, 1), (1400, 2)])
        first, second, _ = (i[2] for i in listed.instants)
        self.assertEqual((first["counters.samples_passed"], first["flags"]), (9, "bad_time"))
        self.assertNotIn("time", first)
        self.assertEqual((second["gpu_ns"], second["time"]), (50, "not known: shown where the frame began"))
        rows = {(r["pass"], r["key"]): r for r in self.table(log) if r["what"] == "pass"}
        self.assertEqual((rows["0", "gpu_ns"]["value"], rows["0", "gpu_ns"]["validity"]), ("", "absent"))
        self.assertEqual(rows["0", "gpu_ns"]["flags"], "bad_time")
        self.assertNotIn(("1", "gpu_start_ns"), rows)
        self.assertEqual(rows["1", "gpu_ns"]["value"], "50")

    def test_overlapping_commands(self):
        loads = [{"command": "draw", "gpu_start_ns": 1000, "gpu_ns": 60}, {"command": "draw", "gpu_start_ns": 1040, "gpu_ns": 50},
                 {"command": "copy", "gpu_start_ns": 1090, "gpu_ns": 30},  # longer than its pass
                 {"command": "clear", "gpu_start_ns": 1095, "gpu_ns": 5, "flags": ["uncalibrated"]}]
        lines = [header(), device(), pass_info(A, "a"),
                 frame(0, [timed(0, A, 900, 1000, 100, context=1, workloads=loads)], start_ns=900), end(1, 1)]
        trace = self.trace(self.write_log("a.jsonl", lines))
        for name, want in (("context 1: commands", [("draw", 1000, 1060), ("copy", 1090, 1120)]),
                           ("context 1: commands #2", [("draw", 1040, 1090)])):
            queue, = trace.queue(name)
            self.assertEqual([(s[2], s[0], s[1]) for s in queue.stages], want)

    def test_too_much_overlap(self):
        passes = [timed(i, A, 900 + i, 1000 + i, 500, queue="0.0", counters={"samples_passed": i}) for i in range(20)]
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A, "a"), frame(0, passes, start_ns=900), end(1, 20)])
        done = self.ok("export", "--perfetto", "-", log)
        self.assertIn(b"4 passes have no known place", done.stderr)
        trace = Trace(done.stdout)
        drawn = trace.stages("render")
        self.assertEqual((len({q.name for q, _ in drawn}), [s[3]["index"] for _, s in drawn]), (16, [str(i) for i in range(16)]))
        listed, = trace.named("queue 0.0: CPU submits")  # with everything that is known, where no track shows it
        self.assertEqual([i[2].get("counters.samples_passed") for i in listed.instants], [None] * 16 + [16, 17, 18, 19])

    def test_times_at_the_end_of_their_range(self):
        top, most = 2**64 - 1, 2**63 - 1  # traces count in signed 64 bits
        passes = [timed(0, A, top, top, top, context=1), timed(1, A, most, most - 1, 1, context=1),
                  timed(2, A, 0, 0, 0, context=1, counters={"samples_passed": 1}),
                  timed(3, A, 5, most, 0, context=1, flags=["uncalibrated"]),
                  timed(4, A, 5, 0, most, queue="0.0", workloads=[{"command": "draw", "gpu_start_ns": top, "gpu_ns": top},
                                                                  {"command": "copy", "gpu_start_ns": 0, "gpu_ns": most}])]
        sums = {"gpu_ns": top, "envelope_ns": top}
        log = self.write_log("a.jsonl", [header(), device(0), pass_info(A, "a"),
                                         frame(0, passes, start_ns=top, cpu_ns=top, **sums),
                                         frame(1, passes, start_ns=7, cpu_ns=top, **sums), end(2, 10)])
        done = self.ok("export", "--perfetto", "-", log)
        # Pass 0 of each frame; of the first frame also pass 3: no time that far away is matched with a clock.
        self.assertIn(b"3 passes have no known place", done.stderr)
        self.assertIn(b"2 single commands have no known place", done.stderr)
        trace = Trace(done.stdout)
        self.assertEqual("".join(sorted(s[3]["index"] for _, s in trace.stages("render"))), "1122344")
        self.assertEqual([s[:2] for _, s in trace.stages("command")], [(0, most)] * 2)
        values = {r["value"] for r in self.table(log) if r["key"] == "gpu_start_ns" and r["what"] == "pass"}
        self.assertEqual(values, {str(v) for v in (top, most - 1, 0, most)})

    def test_numbers_stay_exact(self):
        top = 2**64 - 1
        p = timed(0, A, BASE, BASE + 1, 1, context=1, counters={"samples_passed": top, "low": -2**63, "real": 0.1})
        log = self.write_log("a.jsonl", [header(), device(), pass_info(A), frame(0, [p], start_ns=BASE), end(1, 1)])
        want = {"samples_passed": top, "low": -2**63, "real": 0.1}
        (_, stage), = self.trace(log).stages("render")
        self.assertEqual({k: stage[3][f"counters.{k}"] for k in want}, {k: str(v) for k, v in want.items()})
        rows = {r["key"]: r["value"] for r in self.table(log) if r["what"] == "pass"}
        self.assertEqual([rows[k] for k in want], [str(v) for v in want.values()])

    def test_csv_holds_the_log(self):
        lines = rich_log(frames=3)
        log = self.write_log("a.jsonl", lines)
        names = self.names(log)
        got = {}
        for row in self.table(log):
            key = tuple(row[k] for k in ("device", "frame", "what", "pass", "workload", "key"))
            self.assertNotIn(key, got)
            got[key] = row
        n_values = 0
        for number, count, lane, p in passes_of(lines):
            place = (str(number), str(count), "pass", str(p["index"]), "")
            values = {k: p[k] for k in ("cpu_start_ns", "gpu_start_ns", "gpu_ns", "draws", "vertices") if k in p}
            values.update(p.get("counters", {}))
            values.update(p.get("metrics", {}))
            for key, value in values.items():
                row = got[(*place, key)]
                self.assertEqual(float(row["value"]) if isinstance(value, float) else int(row["value"]), value)
                self.assertEqual((row["name"], row["ran_on"], row["id"]), (names[number, p["id"]], lane, p["id"]))
                n_values += 1
            for i, load in enumerate(p.get("workloads", ())):
                row = got[(*place[:2], "workload", place[3], str(i), "gpu_ns")]
                self.assertEqual((row["value"], row["command"]), (str(load.get("gpu_ns", "")), load["command"]))
                self.assertEqual((row["validity"], row["flags"]), ("measured", "") if "gpu_ns" in load else ("absent", "lost"))
        there = [r for r in got.values() if r["what"] == "pass" and r["validity"] != "absent"]
        self.assertEqual(len(there), n_values)  # and nothing else
        load = got["1", "0", "pass", "0", "", "load"]
        self.assertEqual((load["api"], load["unit"], load["source"], load["validity"]), ("vulkan", "percent", "metric", "derived"))
        samples = got["0", "0", "pass", "0", "", "samples_passed"]
        self.assertEqual((samples["api"], samples["unit"], samples["source"]), ("opengl", "1", "gl-statistics"))
        for f in (line for line in lines if line["type"] == "frame"):
            row = got[str(f["device"]), str(f["frame"]), "frame", "", "", "cpu_ns"]
            self.assertEqual((row["value"], row["unit"], row["id"]), (str(f["cpu_ns"]), "ns", ""))

    def test_marks_and_notes(self):
        note = {"type": "note", "level": "warning", "message": "early \"one\"", "source": "session"}
        lines = simple_log(2)
        lines.insert(1, note)
        trace = self.trace(self.write_log("a.jsonl", lines))
        notes, = trace.named("notes")
        self.assertEqual(notes.instants, [(0, "early \"one\"", {"level": "warning", "source": "session",
                                                               "time": "not said: shown where the log has it"}, "note", None)])
        lines = rich_log(frames=4)
        marks, = self.trace(self.write_log("b.jsonl", lines)).named("marks")
        self.assertEqual([(i[0], i[1], i[2]) for i in marks.instants],
                         [(BASE + 3 * 16000001 + 12345, "mark 3", {"level": "info", "source": "mark"})])
        # Whether a mark comes before its frame, after it or is in none.
        def mark(name, ns):
            return {"type": "note", "level": "info", "message": name, "source": "mark", "time_ns": ns}
        lines = [header(), device(), mark("first", 1500), pass_info(A), *(frame(i, [one_pass(0, A, 1)], start_ns=1000 * (i + 1),
                                                                               cpu_ns=1000) for i in range(3)),
                 mark("behind", 2000), mark("none", 9000), mark("before", 999), end(3, 3)]
        log = self.write_log("d.jsonl", lines)
        marks, = self.trace(log).named("marks")
        self.assertEqual({(i[0], i[1]) for i in marks.instants},
                         {(1500, "first"), (2000, "behind"), (9000, "none"), (999, "before")})
        text = self.ok("report", log).stdout.decode()
        for told in ("mark: first, 0.000 s into the log, frame 0\n", "mark: behind, 0.000 s into the log\n",
                     "mark: none, 0.000 s into the log\n"):
            self.assertIn(told, text)
        only = self.trace(self.write_log("c.jsonl", [header(), note, end(0, 0)]))  # no frame at all
        self.assertEqual(only.named("notes")[0].instants[0][1], "early \"one\"")

    def test_labels_nest(self):
        labels = {A: "Bloom/Down 0", B: "Bloom/Up/1", C: "Bloom", "%016x" % 1: "I / O", "%016x" % 2: None}
        order, t, passes = [A, B, B, C, A, "%016x" % 1, "%016x" % 2], 1000, []
        for i, ident in enumerate(order):
            passes.append(timed(i, ident, 900, t, 10, context=1, segment=order[:i].count(ident)))
            t += 10 + i
        log = self.write_log("a.jsonl", [header(), device(), *(pass_info(i, label) for i, label in labels.items()),
                                         frame(0, passes, start_ns=900), end(1, len(order))])
        trace = self.trace(log)
        groups, = trace.queue("context 1: frames and labels")
        want = [("frame", 1000, 85), ("Bloom", 1000, 31), ("Up", 1010, 21), ("Bloom", 1046, 10)]
        self.assertEqual([(s[2], s[0], s[1] - s[0]) for s in groups.stages], want)  # who is around comes first
        self.assertEqual([s[2] for _, s in trace.stages("render")],
                         ["Bloom/Down 0", "Bloom/Up/1", "Bloom/Up/1", "Bloom", "Bloom/Down 0", "I / O", "No attachment"])

    def test_no_counters(self):
        lines = rich_log(frames=5)
        log = self.write_log("a.jsonl", lines)
        for form in ("perfetto", "csv"):
            whole, less = (self.ok("export", f"--{form}", "-", *args, log).stdout for args in ([], ["--no-counters"]))
            self.assertLess(len(less), len(whole))
            if form == "csv":
                rows = list(csv.DictReader(io.StringIO(less.decode(), newline="")))
                self.assertEqual(rows, [r for r in self.table(log) if r["key"] not in ("samples_passed", "load")])

    def test_nothing_is_written_of_what_is_no_log(self):
        for form in ("perfetto", "csv"):
            done = self.command("export", f"--{form}", "-", self.write("a.jsonl", b""))
            self.assertEqual((done.returncode, done.stdout), (3, b""))

    def test_strange_labels(self):
        nasty = "a,\"b\"\n\x1b[31m\\\u202e\u65e5"
        lines = [header(program="/x/\"q\""), device(0, name="card, \"x\""), pass_info(A, nasty),
                 frame(0, [timed(0, A, 1, 2, 5, label=nasty, context=1)]), end(1, 1)]
        log = self.write_log("a.jsonl", lines)
        rows = [r for r in self.table(log) if r["what"] == "pass"]
        shown = "a,\"b\"\n\\u{1b}[31m\\\\u{202e}\u65e5"  # a table must not be able to control a terminal
        self.assertEqual({(r["name"], r["label"]) for r in rows}, {(shown, shown)})
        (_, stage), = self.trace(log).stages("render")
        self.assertEqual(stage[2], nasty)

    def test_empty_logs(self):
        log = self.write_log("a.jsonl", [header(), end(0, 0)])
        self.assertEqual(self.table(log), [])
        self.assertEqual(self.export("perfetto", log), b"")

    def test_golden_log(self):
        log = ROOT / "tests/golden/log-1.jsonl"
        trace = self.trace(log)
        self.assertEqual(len([t for t in trace.tracks.values() if t.name.startswith("device ")]), 2)
        self.assertTrue(self.table(log))

    def test_tags(self):
        lines = rich_log(frames=1)
        lines[0]["tags"] = {"build": "1,2", "arch": "x86"}
        lines[0]["run"] = "01234567-89ab-4cde-8f01-23456789abcd"
        log = self.write_log("a.jsonl", lines)
        processes = [t for t in self.trace(log).tracks.values() if hasattr(t, "pid")]
        self.assertEqual([t.labels for t in processes], [["arch=x86", "build=1,2"]])
        self.assertEqual({row["tags"] for row in self.table(log)}, {"arch=x86;build=1,2"})
        self.assertEqual({row["tags"] for row in self.table(self.write_log("b.jsonl", rich_log(frames=1)))}, {""})

    def test_streams_and_files_agree(self):
        log = self.write_log("a.jsonl", rich_log(frames=8))
        for form, name in (("perfetto", "t"), ("csv", "c")):
            self.ok("export", f"--{form}", name, log)
            self.assertEqual((self.folder / name).read_bytes(), self.export(form, "-", input=log.read_bytes()))
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", str(log), "-o", str(self.folder / "z")], check=True, timeout=240)
            self.assertEqual((self.folder / "c").read_bytes(), self.export("csv", self.folder / "z"))
            again = self.command("export", "--csv", "z", log)  # does not overwrite a log
            self.assertEqual((again.returncode, (self.folder / "z").read_bytes()[:4]), (2, b"\x28\xb5\x2f\xfd"))
            (self.folder / "z").unlink()
        umask = os.umask(0)
        os.umask(umask)
        self.assertEqual(stat.S_IMODE((self.folder / "t").stat().st_mode), 0o666 & ~umask)
        self.ok("export", "--csv", "c", self.write_log("b.jsonl", simple_log(1)))  # replaces
        self.assertIn("scene/shadow", (self.folder / "c").read_text())
        self.assertLess((self.folder / "c").stat().st_size, 2000)
        self.assertEqual(self.files(), ["a.jsonl", "b.jsonl", "c", "t"])

    def test_usage(self):
        log = self.write_log("a.jsonl", simple_log(1))
        (self.folder / "sub").mkdir()
        for args, says in ((["a.jsonl"], "name one format"), (["--csv", "a.jsonl"], "no log is named"),
                           (["--csv", "x", "--perfetto", "y", "a.jsonl"], "name one format"),
                           (["--csv", "x", "a.jsonl", "b"], "one log at a time"),
                           (["--csv", "a.jsonl", "a.jsonl"], "is a log"), (["--csv", "sub", "a.jsonl"], "is a folder"),
                           (["--csv", "nowhere/x", "a.jsonl"], "No such file")):
            with self.subTest(args):
                done = self.command("export", *args)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(says, done.stderr.decode())
                self.assertEqual(log.read_bytes(), log_bytes(simple_log(1)))
        self.assertEqual(self.files(), ["a.jsonl"])
        self.assertIn(b"--perfetto OUT", self.ok("export", "--help").stdout)

    def test_bad_logs(self):
        old = self.write("out", "old")
        good = log_bytes(simple_log(5))
        bad = self.write("bad.jsonl", good.replace(b'"draws":2', b'"draws":-2', 1))
        for form in ("perfetto", "csv"):
            done = self.command("export", f"--{form}", "out", bad)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr.decode(), r"bad\.jsonl:5:\d+: ")
            self.assertEqual(old.read_text(), "old")
        cut = self.write("cut.jsonl", good[:good.index(b'"frame":4') + 30])
        done = self.ok("export", "--csv", "-", cut)
        self.assertIn(b"is cut", done.stderr)
        self.assertEqual({r["frame"] for r in csv.DictReader(io.StringIO(done.stdout.decode()))}, set("0123"))
        self.assertEqual(self.command("export", "--csv", "out", "none.jsonl").returncode, 2)
        self.assertEqual(self.files(), ["bad.jsonl", "cut.jsonl", "out"])

    def test_write_errors(self):
        big = self.write_log("a.jsonl", simple_log(0)[:-1] + [frame(i, [one_pass(0, A, 5)]) for i in range(20000)])
        for form in ("perfetto", "csv"):
            done = self.command("export", f"--{form}", "/dev/full", big)
            self.assertEqual(done.returncode, 125)
            self.assertIn(b"/dev/full: No space left", done.stderr)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([COMMAND, "export", "--csv", "-", str(big)], env=self.env, stdout=full,
                                  stderr=subprocess.PIPE, timeout=240)
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"No space left", done.stderr)
        # A reader that has seen enough: no message, and no reading to the end.
        child = subprocess.Popen([COMMAND, "export", "--csv", "-", "-"], env=self.env, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.close()
        with self.assertRaises(BrokenPipeError):
            child.stdin.write(log_bytes(simple_log(0)[:-1]))
            for i in range(200000):
                child.stdin.write(log_bytes([frame(i, [one_pass(0, A, 5)])]))
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
        self.assertEqual((child.wait(60), child.stderr.read()), (125, b""))
        child.stderr.close()

    def test_a_trace_is_not_for_a_terminal(self):
        log = self.write_log("a.jsonl", simple_log(1))
        master, slave = pty.openpty()
        done = subprocess.run([COMMAND, "export", "--perfetto", "-", str(log)], env=self.env, stdout=slave,
                              stderr=subprocess.PIPE, timeout=240)
        os.close(slave)
        os.close(master)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"not for a terminal", done.stderr)

    def test_an_interrupt_leaves_nothing(self):
        for _ in range(10):  # at once: the signal may come right after the file was created
            child = subprocess.Popen([COMMAND, "export", "--csv", str(self.folder / "out"), "-"], env=self.env,
                                     stdin=subprocess.PIPE)
            child.stdin.write(log_bytes(simple_log(3)))
            child.stdin.flush()
            deadline = time.monotonic() + 60
            while not list(self.folder.glob("out.*")):
                self.assertLess(time.monotonic(), deadline)
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(60), -signal.SIGINT)
            child.stdin.close()
            self.assertEqual(list(self.folder.glob("out*")), [])

    def test_memory_is_bounded_by_tracks(self):
        many = [frame(i, [timed(0, A, 1000 * i, 1000 * i, 900, context=1, counters={"samples_passed": i}),
                          timed(1, B, 1000 * i + 1, 1000 * i + 900, 100, context=1)]) for i in range(25000)]
        log = self.write_log("a.jsonl", simple_log(0)[:-1] + many + [end(25000, 50000)])
        self.assertGreater(log.stat().st_size, 8 * 1000 * 1000)
        script = ("import resource, subprocess, sys\n"
                  "subprocess.run(sys.argv[1:], check=True)\n"
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n")
        for form in ("perfetto", "csv"):
            done = subprocess.run([sys.executable, "-c", script, COMMAND, "export", f"--{form}", "t", str(log)],
                                  env=self.env, cwd=self.folder, capture_output=True, check=True, timeout=300)
            self.assertGreater((self.folder / "t").stat().st_size, 1000000)
            if not os.environ.get("PASSTALLY_TEST_SANITIZER"):
                self.assertLess(int(done.stdout), 32 * 1024, "KiB resident")


if __name__ == "__main__":
    unittest.main()
