#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure passtally report on a large log, beside others on the same file, in MB/s.

    tests/bench/bench_report.py --build FOLDER [--mb N] [--check] [--json FILE]

tests/bench/gen_log writes the log (1000 MB unless said otherwise). Each program finds the mean GPU
time of each pass: passtally report finds everything else as well; its check, exports and page are measured too;
Python's json, jq and DuckDB (where they are installed; DuckDB on one thread, by its module for Python) only that.
Limits are of processor times (user and system), which other programs disturb little; MB are of the plain log, for the compressed one too. From 1000 MB on, memory is compared with that for a log of a quarter of the size. --check
compares with tests/bench/ceilings.json; exit status 1 when something is past its limit.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = """
import json, sys
total, n = {}, {}
for line in open(sys.argv[1]):
    line = json.loads(line)
    if line["type"] == "frame":
        for p in line["passes"]:
            total[p["id"]] = total.get(p["id"], 0) + p["gpu_ns"]
            n[p["id"]] = n.get(p["id"], 0) + 1
print(len([total[k] / n[k] for k in total]))
"""
JQ = ('reduce (inputs | select(.type == "frame") | .passes[]) as $p ({}; .[$p.id][0] += $p.gpu_ns | .[$p.id][1] += 1)'
      " | map(.[0] / .[1]) | length")
DUCKDB = """
import sys, duckdb
db = duckdb.connect()
db.execute("SET threads = 1")
print(db.execute(f'''SELECT count(*) FROM (SELECT p.id, avg(p.gpu_ns) FROM (
    SELECT unnest(passes) AS p FROM read_json('{sys.argv[1]}', format = 'newline_delimited', ignore_errors = true,
    columns = {{type: 'VARCHAR', passes: 'STRUCT(id VARCHAR, gpu_ns UBIGINT)[]'}}) WHERE type = 'frame')
    GROUP BY 1)''').fetchall()[0][0])
"""


def measure(command):
    """Processor seconds, resident KiB, the output and the seconds that one command took."""
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        child = subprocess.Popen([str(c) for c in command], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
        if status:
            raise SystemExit(f"bench_report: {command[0]} failed: status {status}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, out.read(), wall


def best(command, runs):
    results = [measure(command) for _ in range(runs)]
    return min(r[0] for r in results), max(r[1] for r in results), results[0][2], min(r[3] for r in results)


def has_duckdb():
    return subprocess.run([sys.executable, "-c", "import duckdb"], capture_output=True).returncode == 0


def judge(measures):
    """Print each figure that has a limit; False when one is past it."""
    limits = json.loads((HERE / "ceilings.json").read_text(encoding="utf-8"))
    good = True
    for group, past in (("ratios", lambda v, l: v > l), ("floors", lambda v, l: v < l)):
        for name, limit in limits[group].items():
            if name not in measures or not name.startswith("report."):
                continue
            over = past(measures[name], limit)
            good &= not over
            print(f"  {name}: {measures[name]:.2f}, {'at least' if group == 'floors' else 'at most'} {limit}"
                  f"{': PAST IT' if over else ''}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    wish = parser.parse_args()
    build = wish.build.resolve()
    passtally, gen = build / "cli" / "passtally", build / "tests" / "bench" / "gen_log"
    with tempfile.TemporaryDirectory(prefix="passtally-bench-") as folder:
        log, quarter = pathlib.Path(folder, "log.jsonl"), pathlib.Path(folder, "quarter.jsonl")
        subprocess.run([gen, "--mb", str(wish.mb), log], check=True)
        subprocess.run([gen, "--mb", str(max(wish.mb // 4, 1)), quarter], check=True)
        mb = log.stat().st_size / 1e6
        others = {"python": [sys.executable, "-c", PYTHON, log]}
        if shutil.which("jq"):
            others["jq"] = ["jq", "-n", JQ, log]
        if has_duckdb():
            others["duckdb"] = [sys.executable, "-c", DUCKDB, log]
        seconds, resident, out, wall = best([passtally, "report", "--json", log], 3)
        passes = len(json.loads(out)["reports"][0]["rows"])
        measures = {"report.mb_s": mb / seconds, "report.resident_kib": resident}
        if wish.mb >= 1000: # by then the tables of values have reached their full size
            measures["report.memory_ratio"] = resident / best([passtally, "report", quarter], 1)[1]
            page = best([passtally, "report", "--html", "/dev/null", log], 1)[1]
            measures["report.html_memory_ratio"] = page / best([passtally, "report", "--html", "/dev/null", quarter], 1)[1]
        print(f"a log of {mb:.0f} MB, {passes} passes; MB/s of processor time and of time, resident MiB")
        print(f"  {'passtally report':<24}{mb / seconds:8.0f} {mb / wall:8.0f} {resident / 1024:8.0f}")
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", log], check=True)
            took, kib, _, wall = best([passtally, "report", f"{log}.zst"], 3)
            measures["report.zstd_mb_s"] = mb / took
            measures["report.zstd_time_ratio"] = took / seconds
            print(f"  {'passtally report, .zst':<24}{mb / took:8.0f} {mb / wall:8.0f} {kib / 1024:8.0f}")
        for name, command in {"check": ["check"], "perfetto": ["export", "--perfetto", "/dev/null"],
                              "csv": ["export", "--csv", "/dev/null"], "html": ["report", "--html", "/dev/null"]}.items():
            took, kib, _, wall = best([passtally, *command, log], 3)
            measures[f"report.{name}_time_ratio"] = took / seconds
            print(f"  {' '.join(['passtally', *command[:2]]):<24}{mb / took:8.0f} {mb / wall:8.0f} {kib / 1024:8.0f}")
        for name, command in others.items():
            took, kib, out, wall = best(command, 1)
            # The outside of passes has a row in the report, but no identity.
            if int(out) not in (passes, passes - 1):
                raise SystemExit(f"bench_report: {name} found {int(out)} passes, passtally {passes}")
            measures[f"report.over_{name}"] = took / seconds
            print(f"  {name:<24}{mb / took:8.0f} {mb / wall:8.0f} {kib / 1024:8.0f}    passtally is {took / seconds:.1f} times as fast")
    good = judge(measures)
    if wish.json:
        wish.json.write_text(json.dumps(measures, indent=1) + "\n", encoding="utf-8")
    return 1 if wish.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
