#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally report --html: the file it writes. What a browser makes of it: tests/browser/test_page.py."""

import base64
import json
import os
import random
import re
import struct
import unittest
import zlib

from cli_case import A, B, CliCase, device, end, frame, header, one_pass, pass_info, simple_log

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror=alert(1)>&amp;\u202e\x1b[2J\"'"


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def unsigned(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def signed(self):
        value = self.unsigned()
        return -(value + 1) // 2 if value & 1 else value // 2


class Numbers:
    """The page's numbers, decoded by its layout (cli/report/html_parts.h) and not by its own script."""

    def __init__(self, page):
        self.text = page.decode()
        self.meta = json.loads(re.search(r'id="meta">(.*?)</script>', self.text, re.DOTALL).group(1))
        self.bytes = base64.b64decode(re.search(r'id="numbers">(.*?)</script>', self.text).group(1))

    def raw(self, index):
        offset, length, kind = self.meta["columns"][index]
        return Bytes(zlib.decompress(self.bytes[offset:offset + length])), kind

    def column(self, index):
        b, kind = self.raw(index)
        n, runs = b.unsigned(), b.unsigned()
        rows, row = [], 0
        for _ in range(runs):
            row += b.unsigned()
            length = b.unsigned()
            rows += range(row, row + length)
            row += length
        if kind == 1:
            planes = b.data[b.at:]
            values = [struct.unpack("<f", bytes(planes[k * n + i] for k in range(4)))[0] for i in range(n)]
        else:
            values, last = [], 0
            for _ in range(n):
                last = (last + b.signed()) % 2**64
                values.append(last - 2**64 if last >> 63 and kind != 2 else last)
        return dict(zip(rows, values))

    def series(self, group, key):
        log = self.meta["logs"][0]
        place = next(i for i, s in enumerate(log["series"]) if s["key"] == key)
        return next((s for s in group["series"] if s[0] == place), None)


class Page(CliCase):
    def setUp(self):
        super().setUp()
        if b"built without" in self.command("report", "--html", "-", "/nowhere").stderr:
            self.skipTest("built without --html")

    def page(self, lines, *more):
        log = self.write_log("a.jsonl", lines)
        self.ok("report", "--html", "out.html", log, *more)
        return Numbers((self.folder / "out.html").read_bytes())

    def test_every_number_is_there(self):
        lines = [header(), device(), pass_info(A, "a"), pass_info(B, "b")]
        want = {"gpu_ns": {}, "samples_passed": {}}
        for i in range(300):
            passes = [one_pass(0, B, 5)]
            if i % 3:
                value = (i * 7919) ** 3 % 10**12
                want["gpu_ns"][i] = value
                counters = {}
                if i % 2:
                    want["samples_passed"][i] = counters["samples_passed"] = 10**6 - i * i
                passes.append(one_pass(1, A, value, "a", gpu_start_ns=5000 * i + 7, counters=counters))
            lines.append(frame(i, passes, start_ns=5000 * i, cpu_ns=10**7 + i * i % 77))
        n = self.page(lines + [end(300, 500)])
        d = n.meta["logs"][0]["devices"][0]
        group = next(g for g in d["groups"] if g["name"] == "a")
        for key, values in want.items():
            entry = n.series(group, key)
            self.assertEqual(n.column(entry[1]), values, key)
            self.assertEqual(entry[2:4], [len(values), sum(values.values())])
        self.assertEqual(n.column(d["columns"][2]), {i: 10**7 + i * i % 77 for i in range(300)})
        self.assertEqual((d["gpu_block"], d["block"], d["bar_step"]), (1, 1, 1))

    def test_numbers_beyond_the_buffers(self):
        """Columns of more bytes than stay in memory go through a temporary file; without one nothing changes."""
        lines, noise = [header(), device(), pass_info(A)], random.Random(3)
        want = {"gpu_ns": {}, "samples_passed": {}, "ratio": {}}
        for i in range(5000):
            if i % 7 == 3:
                lines.append(frame(i, [], start_ns=5000 * i))
                continue
            values = {"gpu_ns": noise.getrandbits(28), "samples_passed": noise.getrandbits(40)}
            # Whole numbers at first: the column becomes one of floats half-way.
            values["ratio"] = i if i < 2500 else noise.getrandbits(20) / 1024
            for key, value in values.items():
                want[key][i] = value
            counters = {key: values[key] for key in ("samples_passed", "ratio")}
            lines.append(frame(i, [one_pass(0, A, values["gpu_ns"], gpu_start_ns=5000 * i, counters=counters)],
                               start_ns=5000 * i))
        n = self.page(lines + [end(5000, len(want["ratio"]))], "--warmup", "0")
        d = n.meta["logs"][0]["devices"][0]
        for key, values in want.items():
            self.assertEqual(n.column(n.series(d["groups"][0], key)[1]), values, key)
        bars = n.raw(d["bars"])[0]
        for i in range(5000):
            self.assertEqual(bars.unsigned(), i in want["gpu_ns"])
            if i in want["gpu_ns"]:
                bars.signed(), bars.unsigned(), bars.signed()
                self.assertEqual(bars.unsigned(), want["gpu_ns"][i])
        self.assertEqual(self.left_behind(), [])
        self.ok("report", "--html", "memory.html", "a.jsonl", "--warmup", "0", env={"TMPDIR": "/nowhere"})
        self.assertEqual((self.folder / "memory.html").read_text(), n.text)

    def test_statistics_are_those_of_report(self):
        n = self.page(simple_log(50))
        rows = json.loads(self.ok("report", "--json", "a.jsonl").stdout)["reports"][0]["rows"]
        groups = {g["name"]: g for g in n.meta["logs"][0]["devices"][0]["groups"]}
        self.assertEqual(set(groups), {r["name"] for r in rows})
        for row in rows:
            gpu, entry = row["values"]["gpu_ns"], n.series(groups[row["name"]], "gpu_ns")
            self.assertEqual(entry[2:11], [gpu[k] for k in ("n", "sum", "mean", "sd", "min", "p50", "p90", "p99", "max")])
            self.assertEqual(groups[row["name"]]["share"], row["share"])

    def test_wide_negative_and_broken_numbers(self):
        top, values = 2**64 - 1, []
        lines = [header(), device(), pass_info(A)]
        for i in range(4):
            values.append(top - i if i % 2 else i)
            lines.append(frame(i, [one_pass(0, A, 1, counters={"samples_passed": values[-1], "ratio": [1, 0.5, 3, -0.25][i],
                                                               "below": -5 * i})]))
        n = self.page(lines + [end(4, 4)])
        group = n.meta["logs"][0]["devices"][0]["groups"][0]
        self.assertEqual(list(n.column(n.series(group, "samples_passed")[1]).values()), values)
        self.assertEqual(list(n.column(n.series(group, "ratio")[1]).values()), [1, 0.5, 3, -0.25])
        self.assertEqual(list(n.column(n.series(group, "below")[1]).values()), [0, -5, -10, -15])

    def test_what_is_absent_is_absent(self):
        lines = [header(), device(sources=[{"name": "gl-timestamp", "state": "off", "reason": "none here"}]),
                 pass_info(A), frame(0, [one_pass(0, A, flags=["lost"])]), end(1, 1)]
        del lines[3]["gpu_ns"], lines[3]["envelope_ns"], lines[3]["coverage"]
        d = self.page(lines).meta["logs"][0]["devices"][0]
        self.assertEqual(d["columns"][3], -1)
        self.assertEqual(d["gpu"], [0])
        self.assertEqual(d["off"], ["gl-timestamp: none here"])
        self.assertNotIn("coverage", d)
        self.assertNotIn(0, [s[0] for s in d["groups"][0]["series"]])
        self.assertEqual(d["groups"][0]["flags"], ["lost"])

    def test_hostile_words_stay_words(self):
        note = {"type": "note", "level": "warning", "message": HOSTILE, "source": "mark", "time_ns": 5}
        lines = [header(program="/x/" + HOSTILE, argv=["x", HOSTILE], options={"log": HOSTILE}), device(name=HOSTILE),
                 pass_info(A, HOSTILE), frame(0, [one_pass(0, A, 5, HOSTILE)]), note, end(1, 1)]
        n = self.page(lines)
        self.assertNotIn("window.pwned", re.sub(r'id="meta">.*?</script>', "", n.text, flags=re.DOTALL))
        inside = re.search(r'id="meta">(.*?)</script>', n.text, re.DOTALL).group(1)
        self.assertFalse(set("<>&\x1b\u202e") & set(inside))
        self.assertIn("<script>window.pwned", n.meta["logs"][0]["devices"][0]["groups"][0]["name"])
        self.assertEqual(n.meta["logs"][0]["notes"][0][3], "5")

    def test_fetches_nothing(self):
        text = self.page(simple_log(2)).text
        self.assertIn("default-src 'none'", text)
        self.assertFalse(re.findall(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=[\"'](?!data:)", text))
        self.assertNotIn("sourceMappingURL", text)
        self.assertIn("Permission is hereby granted", text)

    def test_two_logs_devices_and_warmup(self):
        lines = [header(), device(0), device(1, name="other"), pass_info(A), pass_info(B)]
        for i in range(6):
            lines += [frame(i, [one_pass(0, A, 10)]), frame(i, [one_pass(0, B, 20)], 1)]
        self.write_log("b.jsonl", simple_log(5))
        n = self.page(lines + [end(12, 12)], "b.jsonl", "--warmup", "2")
        self.assertEqual([[d["rows"] for d in log["devices"]] for log in n.meta["logs"]], [[4, 4], [3]])
        self.assertEqual(n.meta["warmup"], 2)

    def test_large_logs_keep_to_their_size(self):
        lines, noise = [header(), device()], os.urandom(1 << 16)
        lines += [pass_info("%016x" % (i + 1)) for i in range(50)]
        for i in range(400):
            lines.append(frame(i, [one_pass(k, "%016x" % (k + 1), 10000 + noise[(i * 50 + k) % len(noise)] * 300,
                                            gpu_start_ns=i * 10**7 + k * 90000) for k in range(50)], start_ns=i * 10**7))
        page = self.page(lines + [end(400, 20000)])
        empty = self.page(simple_log(1))
        # 25 MB are for 10 000 frames: 25 times these.
        self.assertLess((len(page.text) - len(empty.text)) * 25, 25e6 - len(empty.text))

    def test_no_frames_and_a_cut_line(self):
        n = self.page([header(), device()])
        self.assertEqual(n.meta["logs"][0]["devices"][0]["rows"], 0)
        self.assertEqual(self.page([header()]).meta["logs"][0]["devices"], [])
        log = self.write_log("cut.jsonl", simple_log(3))
        self.write("cut.jsonl", log.read_bytes()[:-20])
        self.ok("report", "--html", "cut.html", log)
        self.assertTrue(Numbers((self.folder / "cut.html").read_bytes()).meta["logs"][0]["truncated"])

    def test_usage(self):
        log = self.write_log("a.jsonl", simple_log(2))
        before = log.read_bytes()
        done = self.command("report", "--html", log, log)
        self.assertEqual((done.returncode, log.read_bytes()), (2, before))
        self.assertIn(b"that is a log", done.stderr)
        for args in (["--html", "o", "--json", log], ["--html", "o", "--pass", "x", log], ["--html", "o", log, log, log],
                     ["--html", "o"]):
            self.assertEqual(self.command("report", *args).returncode, 2, args)
        self.assertFalse((self.folder / "o").exists())
        self.assertEqual(self.command("report", "--html", "o", self.write("bad.jsonl", "{}\n")).returncode, 3)
        self.assertFalse((self.folder / "o").exists())
        self.assertEqual(self.command("report", "--html", "no/such/o", log).returncode, 125)
        self.assertTrue(self.ok("report", "--html", "-", log).stdout.startswith(b"<!DOCTYPE html>"))


if __name__ == "__main__":
    unittest.main()
