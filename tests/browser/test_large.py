#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What report --html promises of large logs: 10 000 frames of 50 passes are 25 MB at most, open within 3 s."""

import json
import pathlib
import random
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import chromium  # noqa: E402
from cli_case import CliCase, device, end, frame, header, log_bytes, one_pass, pass_info  # noqa: E402

FRAMES, PASSES = 10000, 50
COUNTERS = ("fragments", "reads", "misses", "beats")

if not chromium.find():
    print("no chromium here: skipped")
    sys.exit(77)


class Large(CliCase):
    def write_frames(self):
        """Four counters of pure noise: nothing in them can be packed."""
        noise = random.Random(7)
        ids = ["%016x" % (0x1234 + i * 0x9E3779B97F4A7C15 % 2**60) for i in range(PASSES)]
        like = frame(0, [])
        like.update({key: "@" for key in ("frame", "start_ns", "cpu_ns", "gpu_ns", "envelope_ns")})
        like["passes"] = [one_pass(i, ident, "@", gpu_start_ns="@", counters=dict.fromkeys(COUNTERS, "@"))
                          for i, ident in enumerate(ids)]
        text = json.dumps(like, separators=(",", ":")).replace("%", "%%").replace('"@"', "%d") + "\n"
        with open(self.folder / "large.jsonl", "wb") as out:
            out.write(log_bytes([header(), device(), *map(pass_info, ids)]))
            for number in range(FRAMES):
                start = 10**9 + number * 16666667
                at, values = start + 800000, []
                for i in range(PASSES):
                    gpu = 30000 + i * 7919 % 250000 + noise.getrandbits(14)
                    values += (gpu, at, *[noise.getrandbits(30) for unused in COUNTERS])
                    at += gpu
                total = at - start - 800000
                order = {"frame": number, "start_ns": start, "cpu_ns": 16000000 + noise.getrandbits(20),
                         "gpu_ns": total, "envelope_ns": total}
                first = [order[key] for key in like if key in order]
                out.write((text % (*first, *values)).encode())
            out.write(log_bytes([end(FRAMES, FRAMES * PASSES)]))

    def test_size_and_time(self):
        if b"built without" in self.command("report", "--html", "-", "/nowhere").stderr:
            self.skipTest("built without --html")
        self.write_frames()
        self.ok("report", "--html", "out.html", "large.jsonl", timeout=300)
        page = self.folder / "out.html"
        self.assertLess(page.stat().st_size, 25e6)
        browser = chromium.Chromium(chromium.find())
        self.addCleanup(browser.close)
        times = []
        for unused in range(3):
            tab = browser.page()
            begun = time.monotonic()
            tab.open(page.as_uri())
            times.append(time.monotonic() - begun)
            self.assertEqual(tab.problems(), [])
            self.assertEqual(tab.js("[passtally.meta.logs[0].devices[0].rows, passtally.meta.logs[0].devices[0].block]"),
                             [FRAMES, 2])
        print(f"# a page of {page.stat().st_size / 1e6:.1f} MB opens in {min(times):.2f} s (of {len(times)})")
        # The best of three: other work on the machine is not the page's.
        self.assertLess(min(times), 3)


if __name__ == "__main__":
    unittest.main()
