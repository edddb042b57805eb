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

    def sources(self, described):
        """{source: {key: row}}, in the order of the list."""
        out = {}
        for row in described["counters"]:
            self.assertTrue(row["unit"] and row["kind"] and row["description"], row)
            out.setdefault(row["source"].partition(",")[0].partition(":")[0], {})[row["key"]] = row
        return out

    def test_list(self):
        text = self.ok("counters", "--catalogue").stdout.decode()
        self.assertRegex(text, r"(?m)^Mali-G68: Valhall, job manager, warps of 16, 152 counters as of Mali-G78$")
        self.assertRegex(text, r"(?m)^Mali-T880: Midgard: recognized; its counters are not described$")
        gpus = [json.loads(line) for line in
                self.ok("counters", "--catalogue", "--json").stdout.decode().splitlines()]
        self.assertEqual(len(gpus), 36)
        self.assertEqual(gpus[-1]["gpu"], "MicroBlaze")
        self.assertEqual([f"{g['gpu']}: {g['about']}" for g in gpus], text.replace("\n  ", " ").splitlines())

    def test_gpu(self):
        for gpu in "g68", "Mali-G68", "MALI G68":
            self.assertEqual(self.described(gpu)["gpu"], "Mali-G68")
        self.assertEqual(json.loads(self.ok("counters", "--json", "--catalogue=g68").stdout)["gpu"], "Mali-G68")
        described = self.sources(self.described("G715"))
        self.assertEqual(described["constants"]["MaliGPUTileSize"]["description"], "32, always")
        counters = {key: row for source in list(described)[:4] for key, row in described[source].items()}
        self.assertEqual(len(counters), 174)
        raw = described["front end"]["MaliGPUCyclesGPUActiveRaw"]
        self.assertEqual((raw["kind"], raw["unit"]), ("duration", "cycles"))
        self.assertRegex(raw["description"], r" Erratum: .* Hardware: \w+, value 4 of its block")
        self.assertIn(", MaliCoreCyclesFragmentActive", counters["MaliShaderCoreCyclesFragmentActive"]["description"])

    def test_text(self):
        text = self.ok("counters", "--catalogue", "g71").stdout.decode()
        self.assertTrue(text.startswith("Mali-G71: Bifrost, job manager, warps of 4, 146 counters\n"))
        heads = re.findall(r"(?m)^(\w[\w ]*)[\w, ]*:\n  ", text)
        self.assertEqual(heads, ["front end", "tiler", "L2", "shader cores", "constants", "metrics"])
        self.assertEqual(len(re.findall(r"(?m)^  Mali\w+ ", text.partition("\nconstants:")[0])), 146)
        joined = " ".join(text.split())
        self.assertIn(" Erratum: Reads twice too high with 8 samples a pixel, and four times with 16. ", joined)
        self.assertIn(" Hardware: GPU_ACTIVE, value 6 of its block; also MaliGPUActiveCy, JM.GPU_ACTIVE. ", joined)
        other = " ".join(self.ok("counters", "--catalogue", "g1").stdout.decode().split())
        self.assertIn("VCACHE_HIT, value", other)
        self.assertIn(" of its block times 16;", other)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_metrics(self):
        """Each expression names only counters that this GPU has."""
        for gpu in "g71", "g31", "g78", "g710", "g715", "g725", "g1":
            described = self.described(gpu)
            names = {row["key"] for row in described["counters"]}
            for row in described["counters"]:
                for said in re.findall(r"Hardware: (\w+), value.*?(?:; also (.*?))?\. Level", row["description"]):
                    names |= {said[0], *said[1].split(", ")}
            metrics = self.sources(described)["metrics"]
            self.assertGreater(len(metrics), 50)
            for key, metric in metrics.items():
                expression, _, rest = metric["description"][2:].partition(" : ")
                if "(arm" not in rest:
                    continue
                used = set(re.findall(r"\$(Mali\w+)", expression))
                unknown = {n for n in used - names if not n.startswith("MaliConstants")}
                self.assertEqual(unknown, set(), (gpu, key))
        text = self.ok("counters", "--catalogue", "g715").stdout.decode()
        self.assertIn("\n      = $MaliGPUCyclesAnyQueueActive : ", text)

    def test_midgard(self):
        self.assertEqual(self.described("t860"), {
            "gpu": "Mali-T860", "about": "Midgard: recognized; its counters are not described"})

    def test_microblaze(self):
        described = self.sources(self.described("microblaze"))
        counters = {**described["events"], **described["latencies"]}
        numbers = {int(re.search(r"Event (\d+)\.$", row["description"])[1]): key for key, row in counters.items()}
        self.assertEqual(sorted(numbers), list(range(64)))
        self.assertEqual({n: numbers[n] for n in (0, 30, 60)},
                         {0: "instructions", 30: "cycles", 60: "icache_read_latency"})
        self.assertEqual({numbers[n] for n in range(57, 64)}, set(described["latencies"]))
        self.assertEqual({row["kind"] for row in counters.values()}, {"event", "duration"})
        metrics = described["metrics"]
        for key in "cpi", "icache_hit_rate", "fp_ratio", "icache_read_latency.mean":
            self.assertIn(key, metrics)
        known = set(counters) | set(metrics)
        for key, m in metrics.items():
            for name in re.findall(r"\$([a-z0-9_.]*[a-z0-9_])", m["description"]):
                self.assertIn(re.sub(r"\.(n|sum|sum_sq|min|max)$", "", name), known, key)
        text = self.ok("counters", "--catalogue", "MicroBlaze").stdout.decode()
        self.assertIn("\n      = $cycles / $instructions : ", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_unknown(self):
        done = self.command("counters", "--catalogue", "g99")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"--catalogue g99: no GPU is known by that name; there are Mali-G71, ", done.stderr)


if __name__ == "__main__":
    unittest.main()
