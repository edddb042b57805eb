#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally counters --catalogue: what a GPU can count, without that GPU."""

import json
import re
import unittest

from cli_case import CliCase


class Catalogue(CliCase):
    def described(self, *args):
        return json.loads(self.ok("counters", "--catalogue", *args, "--json").stdout)

    def test_list(self):
        text = self.ok("counters", "--catalogue").stdout.decode()
        self.assertRegex(text, r"(?m)^Mali-G68 +Valhall, 152 counters as of Mali-G78$")
        self.assertRegex(text, r"(?m)^Mali-T880 +Midgard: recognized; its counters are not described$")
        gpus = [json.loads(line) for line in
                self.ok("counters", "--catalogue", "--json").stdout.decode().splitlines()]
        self.assertEqual(len(gpus), 36)
        self.assertEqual(gpus[-1], {"gpu": "MicroBlaze"})
        self.assertEqual([g["gpu"] for g in gpus], re.findall(r"(?m)^(\S+(?: \S+)?)", text))
        self.assertEqual({g["layout"] for g in gpus if "layout" in g}.__len__(), 13)
        self.assertEqual(next(g for g in gpus if g["gpu"] == "Mali-G57"), {
            "gpu": "Mali-G57", "ids": ["0x9001", "0x9003"], "layout": "Mali-G77",
            "architecture": "Valhall", "front_end": "job-manager"})

    def test_gpu(self):
        for gpu in "g68", "Mali-G68", "MALI G68":
            self.assertEqual(self.described(gpu)["gpu"], "Mali-G68")
        self.assertEqual(json.loads(self.ok("counters", "--json", "--catalogue=g68").stdout)["gpu"], "Mali-G68")
        described = self.described("G715")
        self.assertEqual((described["values_per_block"], described["warp_width"]), (128, 16))
        self.assertEqual(described["constants"]["MaliGPUTileSize"], 32)
        counters = {c["key"]: c for c in described["counters"]}
        self.assertEqual(len(counters), 174)
        raw = counters["MaliGPUCyclesGPUActiveRaw"]
        self.assertEqual((raw["block"], raw["index"], raw["kind"], raw["unit"]), ("frontend", 4, "duration", "cycles"))
        self.assertIn("erratum", raw)
        self.assertNotIn("MaliGPUCyclesGPUActive", raw["aliases"])
        self.assertIn("MaliCoreCyclesFragmentActive", counters["MaliShaderCoreCyclesFragmentActive"]["aliases"])

    def test_text(self):
        text = self.ok("counters", "--catalogue", "g71").stdout.decode()
        self.assertTrue(text.startswith("Mali-G71: Bifrost, job manager front end, warps of 4 threads\n"))
        heads = re.findall(r"(?m)^(\w+): (\d+) counters of ", text)
        self.assertEqual([h[0] for h in heads], ["frontend", "tiler", "l2", "core"])
        self.assertEqual(sum(int(h[1]) for h in heads), 146)
        self.assertEqual(len(re.findall(r"(?m)^  Mali\w+ \(", text.partition("\nmetrics:")[0])), 146)
        self.assertIn("\n  MaliFragmentQuadsRasterizedFineQuads (quads, novice, overview)\n", text)
        self.assertIn(" Erratum: Reads twice too high with 8 samples a pixel, and four times with 16. ", " ".join(text.split()))
        self.assertIn(" Hardware: GPU_ACTIVE, value 6 of its block; also MaliGPUActiveCy, JM.GPU_ACTIVE ", " ".join(text.split()))
        self.assertIn("VCACHE_HIT, value", self.ok("counters", "--catalogue", "g1").stdout.decode())
        self.assertIn(" of its block times 16;", self.ok("counters", "--catalogue", "g1").stdout.decode())

    def test_metrics(self):
        """Each expression names only counters that this GPU has."""
        for gpu in "g71", "g31", "g78", "g710", "g715", "g725", "g1":
            described = self.described(gpu)
            names = {n for c in described["counters"] for n in [c["key"], c["hardware_name"], *c["aliases"]]}
            names |= set(described["constants"]) | {m["key"] for m in described["metrics"]}
            self.assertGreater(len(described["metrics"]), 50)
            for metric in described["metrics"]:
                if metric["dialect"] != "arm":
                    continue
                used = set(re.findall(r"\$(Mali\w+)", metric["expression"]))
                unknown = {n for n in used - names if not n.startswith("MaliConstants")}
                self.assertEqual(unknown, set(), (gpu, metric["key"]))
        text = self.ok("counters", "--catalogue", "g715").stdout.decode()
        self.assertRegex(text, r"(?m)^metrics: \d+ values derived from these$")
        self.assertIn("\n      = $MaliGPUCyclesAnyQueueActive\n", text)

    def test_midgard(self):
        self.assertEqual(self.described("t860"), {"gpu": "Mali-T860", "ids": ["0x0860"]})
        self.assertIn(b"does not describe its counters", self.ok("counters", "--catalogue", "t860").stdout)

    def test_microblaze(self):
        described = self.described("microblaze")
        counters = described["counters"]
        self.assertEqual([c["event"] for c in counters], list(range(64)))
        self.assertEqual(len({c["key"] for c in counters}), 64)
        self.assertEqual({c["event"]: c["key"] for c in counters if c["event"] in (0, 30, 60)},
                         {0: "instructions", 30: "cycles", 60: "icache_read_latency"})
        self.assertEqual([c["event"] for c in counters if c["counted_by"] == "latency"], list(range(57, 64)))
        for c in counters:
            self.assertIn(c["kind"], ("event", "duration"))
            self.assertTrue(c["description"].endswith("."), c)
        metrics = {m["key"]: m for m in described["metrics"]}
        for key in "cpi", "icache_hit_rate", "fp_ratio", "icache_read_latency.mean":
            self.assertIn(key, metrics)
        known = {c["key"] for c in counters} | set(metrics)
        for m in metrics.values():
            for name in re.findall(r"\$([a-z0-9_.]*[a-z0-9_])", m["expression"]):
                self.assertIn(re.sub(r"\.(n|sum|sum_sq|min|max)$", "", name), known, m["key"])
        text = self.ok("counters", "--catalogue", "MicroBlaze").stdout.decode()
        self.assertEqual(re.findall(r"(?m)^  ([ \d]\d) (\w+) \(", text),
                         [(f"{c['event']:2}", c["key"]) for c in counters])
        self.assertIn("\n      = $cycles / $instructions\n", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_unknown(self):
        done = self.command("counters", "--catalogue", "g99")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"--catalogue g99: no GPU is known by that name; there are Mali-G71, ", done.stderr)


if __name__ == "__main__":
    unittest.main()
