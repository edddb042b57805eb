#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally report --html: the file it writes. What a browser makes of it: tests/browser/test_page.py."""

import base64
import json
import math
import os
import random
import re
import struct
import unittest
import zlib

from cli_case import A, B, CliCase, device, end, frame, header, noisy_log, one_pass, pass_info, simple_log

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror=alert(1)>&amp;\u202e\x1b[2J\"'"


def as_floats(values):
    """As a chart has them: of 32 bits."""
    return {row: struct.unpack("<f", struct.pack("<f", v))[0] for row, v in values.items()}


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
    """The page's numbers, decoded by its layout (cli/report/html.c) and not by its own script."""

    def __init__(self, page):
        self.text = page.decode()
        self.meta = json.loads(re.search(r'id="meta">(.*?)</script>', self.text, re.DOTALL).group(1))
        self.bytes = base64.b64decode(re.search(r'id="numbers">(.*?)</script>', self.text).group(1))

    def raw(self, index):
        offset, length = self.meta["columns"][index]
        return zlib.decompress(self.bytes[offset:offset + length])

    def frames(self, index):
        data = self.raw(index)
        return list(struct.unpack(f"<{len(data) // 8}d", data))

    def column(self, index):
        """The value of each row that has one."""
        data = self.raw(index)
        n = len(data) // 8
        skipped, values = struct.unpack(f"<{n}I", data[:4 * n]), struct.unpack(f"<{n}f", data[4 * n:])
        rows, row = {}, 0
        for i in range(n):
            if i and not math.isnan(values[i - 1]):
                rows.update(dict.fromkeys(range(row, row + skipped[i]), values[i - 1]))
            row += skipped[i]
        return rows

    def passes(self, d):
        """The bytes of each row's passes."""
        data = self.raw(d["bars"])
        at = 4 * d["rows"]
        for length in struct.unpack(f"<{d['rows']}I", data[:at]):
            yield Bytes(data[at:at + length])
            at += length

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
            self.assertEqual(n.column(entry[1]), as_floats(values), key)
            self.assertEqual([group["values"][key][k] for k in ("n", "sum")], [len(values), sum(values.values())])
        self.assertEqual(n.frames(d["columns"][2]), [10**7 + i * i % 77 for i in range(300)])
        self.assertEqual((d["step"], d["block"]), (1, 1))

    def test_passes_of_frames(self):
        lines, noise = [header(), device(), pass_info(A)], random.Random(3)
        want = {i: noise.getrandbits(28) for i in range(500) if i % 7 != 3}
        for i in range(500):
            lines.append(frame(i, [one_pass(0, A, want[i], gpu_start_ns=5000 * i)] if i in want else [], start_ns=5000 * i))
        n = self.page(lines + [end(500, len(want))], "--warmup", "0")
        d = n.meta["logs"][0]["devices"][0]
        self.assertEqual(n.column(n.series(d["groups"][0], "gpu_ns")[1]), as_floats(want))
        for i, passes in enumerate(n.passes(d)):
            self.assertEqual(passes.unsigned(), i in want)
            if i in want:
                passes.signed(), passes.unsigned(), passes.signed()
                self.assertEqual(passes.unsigned(), want[i])

    def test_a_long_run_is_thinned(self):
        """The slowest of each two frames, and the means of the values of two; statistics are of all."""
        n_frames, lines = 40000, [header(), device(), pass_info(A), pass_info(B)]
        slow = {i: 20_000_000 + i for i in range(7, n_frames, 1000)}
        for i in range(n_frames):
            passes = [one_pass(0, A, 1000 + i % 4, gpu_start_ns=5000 * i)] + [one_pass(1, B, 5)] * (i == 30001)
            lines.append(frame(i, passes, start_ns=5000 * i, cpu_ns=slow.get(i, 16_000_000)))
        n = self.page(lines + [end(n_frames, n_frames + 1)], "--warmup", "0")
        d = n.meta["logs"][0]["devices"][0]
        self.assertEqual([d[k] for k in ("rows", "all_rows", "step", "block")], [20000, 40000, 2, 2])
        frames, cpu = n.frames(d["columns"][0]), n.frames(d["columns"][2])
        self.assertEqual(frames, [i if i in slow else i - 1 for i in range(1, n_frames, 2)])
        self.assertEqual(cpu, [slow.get(i, 16_000_000) for i in frames])
        by_id = {g["id"]: g for g in d["groups"]}
        gpu = n.series(by_id[A], "gpu_ns")
        self.assertEqual(n.column(gpu[1]), {i: 1000.5 + i % 2 * 2 for i in range(20000)})
        self.assertEqual([by_id[A]["values"]["gpu_ns"][k] for k in ("n", "sum")], [40000, sum(1000 + i % 4 for i in range(n_frames))])
        self.assertEqual(n.column(n.series(by_id[B], "gpu_ns")[1]), {15000: 5})
        self.assertEqual(sum(p.unsigned() for p in n.passes(d)), 20000 + (30001 in frames))

    def test_statistics_are_those_of_report(self):
        n = self.page(simple_log(50))
        told = json.loads(self.ok("report", "--json", "a.jsonl").stdout)["reports"][0]
        for shown, want in ((n.meta["logs"][0]["devices"], told["devices"]), (n.meta["logs"][0]["devices"][0]["groups"], told["rows"])):
            self.assertEqual(len(shown), len(want))
            for row in want:
                self.assertTrue(any(all(one.get(k) == v for k, v in row.items()) for one in shown), row)

    def test_wide_negative_and_broken_numbers(self):
        top, values = 2**64 - 1, []
        lines = [header(), device(), pass_info(A)]
        for i in range(4):
            values.append(top - i if i % 2 else i)
            lines.append(frame(i, [one_pass(0, A, 1, counters={"samples_passed": values[-1], "ratio": [1, 0.5, 3, -0.25][i],
                                                               "below": -5 * i})]))
        n = self.page(lines + [end(4, 4)])
        group = n.meta["logs"][0]["devices"][0]["groups"][0]
        self.assertEqual(n.column(n.series(group, "samples_passed")[1]), as_floats(dict(enumerate(values))))
        self.assertEqual(list(n.column(n.series(group, "ratio")[1]).values()), [1, 0.5, 3, -0.25])
        self.assertEqual(list(n.column(n.series(group, "below")[1]).values()), [0, -5, -10, -15])

    def test_what_is_absent_is_absent(self):
        lines = [header(), device(sources=[{"name": "gl-timestamp", "state": "off", "reason": "none here"}]),
                 pass_info(A), frame(0, [one_pass(0, A, flags=["lost"])]), end(1, 1)]
        del lines[3]["gpu_ns"], lines[3]["envelope_ns"], lines[3]["coverage"]
        d = self.page(lines).meta["logs"][0]["devices"][0]
        self.assertEqual(d["columns"][3], -1)
        self.assertEqual(d["gpu_ns"]["n"], 0)
        self.assertEqual(d["sources_off"], ["gl-timestamp: none here"])
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

    def test_two_logs_are_judged_by_compare(self):
        logs = [self.write_log(f"{name}.jsonl", noisy_log(*slow)) for name, slow in (("a", (1, 1)), ("b", (1.02, 1.6)))]
        said = json.loads(self.ok("compare", "--json", *logs).stdout)
        verdict = Numbers(self.ok("report", "--html", "-", *logs).stdout).meta["verdict"]
        self.assertEqual(verdict["subjects"], said["subjects"])
        self.assertIn("against_others", [key for s in said["subjects"] for v in s["values"] for key in v])
        text = self.ok("compare", *logs).stdout.decode().splitlines()
        self.assertEqual(verdict["lines"][-1], text[0])
        self.assertEqual(verdict["lines"], [line for line in text[1:] if line in verdict["lines"]])
        self.assertIn("* judged against", " ".join(verdict["lines"]))
        other = self.write_log("c.jsonl", noisy_log(1, 1, driver_version="2"))
        refused = Numbers(self.ok("report", "--html", "-", logs[0], other).stdout).meta["verdict"]
        self.assertEqual(f"passtally compare: {refused['refused']}\n", self.command("compare", logs[0], other).stderr.decode())

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
        self.assertEqual(self.command("report", "--html", "no/such/o", log).returncode, 2)
        self.assertTrue(self.ok("report", "--html", "-", log).stdout.startswith(b"<!DOCTYPE html>"))


if __name__ == "__main__":
    unittest.main()
