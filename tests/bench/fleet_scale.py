#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally fleet at full size: made digests, in which one pass is 5 % slower on one GPU, are added and asked.

    tests/bench/fleet_scale.py PASSTALLY [--machines 10000] [--runs 10] [--folder /tmp]

Machines differ by 3 %, runs of one by 0.5 %; half of the runs are of the new build. Prints time and memory, and fails
where anything but the planted pass got slower. The files (7 kB a run, and the fleet's) are removed.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time
import uuid

PASSES = 20
GPUS, DRIVERS, SIZES = 6, 2, ((1920, 1080), (2560, 1440))
PLANTED = (3, 1, 7)  # GPU, driver, pass


def spread(rand, mean):
    """Of 300 values around it, as the log has them."""
    counts = {}
    for _ in range(300):
        value = mean * rand.gauss(1, 0.05)
        exponent = max(0, int(value).bit_length() - 7)
        bucket = int(value) >> exponent, exponent
        counts[bucket] = counts.get(bucket, 0) + 1
    return " ".join(f"{mantissa},{exponent},{n}" for (mantissa, exponent), n in sorted(counts.items(), key=lambda b: b[0][0] << b[0][1]))


def digest(rand, machine, run, speed, spreads):
    gpu, driver = machine % GPUS, machine // GPUS % DRIVERS
    width, height = SIZES[machine // GPUS // DRIVERS % len(SIZES)]
    new = run % 2
    yield {"type": "header", "schema": "passtally/1", "program": "/usr/games/demo", "host": f"m{machine}",
           "started": f"2026-01-{1 + run // 2:02}T03:04:05Z", "run": str(uuid.UUID(int=rand.getrandbits(128))),
           "tags": {"build": str(new)}, "digest": True}
    yield {"type": "device", "device": 0, "name": f"GPU {gpu}", "driver": "d", "driver_version": str(driver)}
    rows = [("0" * 16, "width", width), ("0" * 16, "height", height), ("0" * 16, "cpu_ns", 16666667 * rand.gauss(1, 0.001))]
    for number in range(PASSES):
        yield {"type": "pass_info", "id": f"{number + 1:016x}", "kind": "render", "label": f"pass {number}"}
        slow = 1.05 if new and (gpu, driver, number) == PLANTED else 1
        rows += [(f"{number + 1:016x}", "gpu_ns", 100000 * (number + 1) * speed * slow * rand.gauss(1, 0.005)),
                 (f"{number + 1:016x}", "draws", 10 * number + 10), (f"{number + 1:016x}", "vertices", 1000 * number + 10)]
    yield {"type": "end", "frames": 300, "reason": "exit", "statistics": [
        {"device": 0, "id": ident, "key": key, "n": 300, "min": mean * 0.9 if key == "gpu_ns" else mean,
         "max": mean * 1.1 if key == "gpu_ns" else mean, "mean": mean, "sd_sample": mean * 0.05, "spread_error": 0.0078125,
         "spread": spreads[int(ident, 16)] if key.endswith("ns") else f"{int(mean)},0,300"} for ident, key, mean in rows]}


def timed(what, *words):
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print(f"{what}: {time.monotonic() - begin:.1f} s, at most {most} MiB; status {done.returncode}: {done.stdout.partition(chr(10))[0]}"
          f"{done.stderr}", flush=True)
    return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("passtally")
    parser.add_argument("--machines", type=int, default=10000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    args = parser.parse_args()
    rand = random.Random(1)
    spreads = [spread(rand, 16666667), *(spread(rand, 100000 * (number + 1)) for number in range(PASSES))]
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="fleet-") as folder:
        for machine in range(args.machines):
            speed = rand.gauss(1, 0.03)
            place = pathlib.Path(folder) / f"logs/{machine // 100}"
            place.mkdir(parents=True, exist_ok=True)
            for run in range(args.runs):
                with open(place / f"{machine}-{run}.jsonl", "w", encoding="utf-8") as file:
                    for line in digest(rand, machine, run, speed, spreads):
                        file.write(json.dumps(line, separators=(",", ":")) + "\n")
        size = sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*.jsonl"))
        print(f"{args.machines * args.runs} digests, {size >> 20} MiB", flush=True)
        db = f"{folder}/db"
        timed("ingest", args.passtally, "fleet", "ingest", "--db", db, f"{folder}/logs")
        files = [path.stat().st_size for path in pathlib.Path(db).rglob("*.parquet")]
        print(f"{len(files)} files, {sum(files) >> 20} MiB")
        timed("once more", args.passtally, "fleet", "ingest", "--db", db, f"{folder}/logs/0")
        ask = (args.passtally, "fleet", "regress", "--db", db, "--base", "0", "--new", "1", "--fail-above", "3%", "--json")
        rows = json.loads(timed("regress", *ask).stdout)["rows"]
    slower = {(row["gpu"], row["driver"], row["name"]) for row in rows if row["verdict"] == "slower" and row["gpu"] != "(pooled)"}
    print(f"{len(rows)} rows, slower: {sorted(slower)}")
    return slower != {(f"GPU {PLANTED[0]}", f"d {PLANTED[1]}", f"pass {PLANTED[2]}")}


if __name__ == "__main__":
    sys.exit(main())
