#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/fleet/clickhouse.sql: report's means, and a slowdown planted in a mixed fleet."""

import json
import os
import random
import re
import sys
import unittest

from cli_case import ROOT, CliCase, header
from made_fleet import mixed_fleet
from sql_engine import find_clickhouse

CONNECT = find_clickhouse()
if not CONNECT:
    print("ClickHouse's library is not installed: scripts/deps, where there is npm (chdb)")
    sys.exit(77)


def statements():
    """The queries of the script."""
    text = re.sub(r"^--.*\n", "", (ROOT / "scripts/fleet/clickhouse.sql").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [part.strip() for part in text.split(";\n") if part.strip()]


class ClickHouse(CliCase):
    def test_mixed_fleet(self):
        for side in ("before", "after"):
            (self.folder / side).mkdir()
        logs = list(mixed_fleet(random.Random(5), 1.05))
        for number, (name, lines) in enumerate(logs):
            lines[0]["run"] = f"run {number}"
            self.write_log(f"{'before' if name.startswith('base') else 'after'}/{name}", lines)
        # A duplicate run, a foreign file, another schema, a truncated log: none counts, or none changes a verdict.
        self.write_log("before/twice.jsonl", logs[0][1])
        (self.folder / "before/foreign.jsonl").write_text('{"a": 1}\nno JSON at all\n', encoding="utf-8")
        self.write_log("before/two.jsonl", [header(schema="passtally/2"), *logs[0][1][1:]])
        cut = self.folder / "after" / logs[-1][0]
        cut.write_bytes(cut.read_bytes()[:-300])
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        database = CONNECT(self.folder / "database")
        for statement in statements():
            rows = database.rows(statement)
        database.close()
        found = {(row["gpu"], row["name"]): row for row in rows}
        self.assertEqual(set(found), {(gpu, f"scene/{name}") for gpu in ("fast", "slow") for name in ("main", "shadow")})
        runs = {"fast": (30, 10), "slow": (10, 30)}
        for (gpu, name), row in found.items():
            self.assertEqual((int(row["base_runs"]), int(row["new_runs"])), runs[gpu])
            self.assertEqual(row["p"] < 0.001, (gpu, name) == ("slow", "scene/main"), row)
        slower = found["slow", "scene/main"]
        self.assertTrue(3 < slower["low_pct"] < slower["more_pct"] < slower["high_pct"] < 7, slower)
        means = []
        for i in range(10):
            report = json.loads(self.ok("report", "--json", "--warmup", "0", f"before/bases{i}.jsonl").stdout)["reports"][0]
            means += [row["values"]["gpu_ns"]["mean"] for row in report["rows"] if row["label"] == "scene/main"]
        self.assertAlmostEqual(found["slow", "scene/main"]["base_ns"] / (sum(means) / 10), 1, places=9)


if __name__ == "__main__":
    unittest.main()
