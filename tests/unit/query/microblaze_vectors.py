#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of a MicroBlaze's debug module, and what query/microblaze/*.c reads from them.

    microblaze_vectors.py PROGRAM VECTORS

PROGRAM is microblaze_main. The tests' own traces are written here, from latencies and counts, by separate rules;
their expected values are computed with fractions. VECTORS (../shared/microblaze) is used too where it exists. TAP
on standard output.
"""

import fractions
import json
import math
import pathlib
import subprocess
import sys

COMMANDS = {"PCCTRLR": (0x51, 8), "PCCMDR": (0x52, 5), "PCSR": (0x53, 2), "PCDRR": (0x56, 32),
            "PCDWR": (0x57, 32)}


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, name, problems):
        self.n += 1
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.n} {name}")
        for problem in problems:
            print(f"# {problem}")


class Player:
    """The program, one vector after the other."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def play(self, config, trace):
        head = [config["counter_width"], config["event_counters"], config["latency_counters"],
                int(config["access_path"] == "serial"), config["mb_dbg_ports"], config.get("core", 0),
                config.get("preset_counter", -1), config.get("preset", 0)]
        lines = ["vector " + " ".join(map(str, head + config["events"] + config["latency_events"]))]
        lines += [f"{a} {offset:x} {value:x}" for a, offset, value in trace]
        self.process.stdin.write("\n".join(lines) + "\ngo\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def close_to(got, want):
    if got is None or want is None:
        return got is None and want is None
    return math.isclose(got, want, rel_tol=1e-12, abs_tol=0)


# ---- the tests' own ----

def parallel(register, value, write):
    return [("w" if write else "r", 0x4000 | COMMANDS[register][0] << 6, value)]


def serial(register, value, write):
    command, bits = COMMANDS[register]
    return [("w", 0x10, 1 << 18 | command << 9 | (bits - 1)), ("w" if write else "r", 0x14, value)]


def items_of(width, value):
    return [value] if width == 32 else [value >> 32, value & 0xffffffff]


def write_trace(config, counts, latencies, status):
    """Every access, from the first to the last: configure, count, sample, read."""
    width = config["counter_width"]
    access = serial if config["access_path"] == "serial" else parallel
    trace = []
    if config["access_path"] == "serial":
        trace.append(("w", 0x18, 0xebab))
        ports = config["mb_dbg_ports"]
        if ports > 1:
            trace += [("w", 0x10, 0x61a00 | ((8 if ports <= 8 else ports) - 1)),
                      ("w", 0x14, 1 << config["core"])]
    trace += access("PCCMDR", 1, True)
    for event in config["events"] + config["latency_events"]:
        trace += access("PCCTRLR", event, True)
    trace += access("PCCMDR", 0x18, True) + access("PCCMDR", 6, True) + access("PCCMDR", 1, True)
    for value in status:
        trace += access("PCSR", value, False)
    trace += access("PCCMDR", 1, True)
    items = []
    for count in counts:
        items += items_of(width, count % (1 << width))
    for values in latencies:
        items.append(len(values) % (1 << 32))
        items += items_of(width, sum(values) % (1 << width))
        items += items_of(width, sum(value * value for value in values) % (1 << width))
        least, most = (min(values), max(values)) if values else (0xffff, 0)
        items += [least << 16 | most] if width == 32 else [least, most]
    for item in items:
        trace += access("PCDRR", item, False)
    return trace


def deviation(values):
    if not values:
        return None
    mean = fractions.Fraction(sum(values), len(values))
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


OWN_LATENCIES = {
    "none": [], "one": [77], "one-long": [65535], "equal": [9] * 100, "small": [1, 2, 3, 4, 100],
    "alternating": [1, 65000] * 7, "large": [2000000000, 2000000002, 1999999999],
    "longest": [0xffffffff], "mixed": [5, 4294967295, 12],
}


def fits(width, values):
    return (width > 32 or all(value < 65536 for value in values)) and \
        sum(value * value for value in values) < 1 << width


def check_own(player, tap, width, path, name, values, ports=1, core=0):
    config = {"counter_width": width, "event_counters": 5, "latency_counters": 1, "access_path": path,
              "mb_dbg_ports": ports, "core": core, "events": [0, 30, 10, 11, 29], "latency_events": [60]}
    largest = (1 << width) - 1
    counts = [largest, largest - 1, 1 << (width - 1), 0, 1]
    got = player.play(config, write_trace(config, counts, [values], [0] * 6))
    problems = [got["wrong"]] if got["wrong"] else []
    if [int(e["value"]) for e in got["events"]] != counts or got["bad"]:
        problems.append(f"events {got['events']}")
    latency = got["latencies"][0]
    want = [len(values), sum(values), sum(value * value for value in values)]
    if [int(latency[k]) for k in ("n", "sum", "sum_sq")] != want:
        problems.append(f"{latency} instead of {want}")
    if values and [int(latency["min"]), int(latency["max"])] != [min(values), max(values)]:
        problems.append(f"extremes of {latency}")
    if not close_to(latency["sd_population"], deviation(values)):
        problems.append(f"deviation {latency['sd_population']} instead of {deviation(values)}")
    if not latency["possible"]:
        problems.append("said to be impossible")
    tap.check(f"own w{width} {path} {name}{f' core {core} of {ports}' if ports > 1 else ''}", problems)


def check_states(player, tap):
    """Overflow and Full: values are reported, and nothing is derived from them."""
    for place, bit, gone in ((1, 2, "cpi"), (5, 1, "icache_miss_latency"), (5, 2, "icache_miss_latency")):
        config = {"counter_width": 32, "event_counters": 5, "latency_counters": 1, "mb_dbg_ports": 1,
                  "access_path": "parallel", "events": [0, 30, 10, 11, 29], "latency_events": [60]}
        status = [bit if i == place else 0 for i in range(6)]
        got = player.play(config, write_trace(config, [10, 20, 8, 6, 1], [[4, 5]], status))
        states = got["events"] + got["latencies"]
        problems = [got["wrong"]] if got["wrong"] else []
        if [s["overflow"] * 2 + s["full"] for s in states] != status:
            problems.append(f"states {states}")
        figures = {"cpi": 2.0, "icache_hit_rate": 0.75, "fp_ratio": 0.1, "icache_miss_latency": 3.5}
        figures.pop(gone)
        for key, value in figures.items():
            if not close_to(got["metrics"].get(key), value):
                problems.append(f"{key} {got['metrics'].get(key)} instead of {value}")
        if gone in got["metrics"]:
            problems.append(f"{gone} was told")
        tap.check(f"own state {bit} of counter {place}", problems)
    config = {"counter_width": 48, "event_counters": 1, "latency_counters": 0, "mb_dbg_ports": 1,
              "access_path": "parallel", "events": [30], "latency_events": []}
    trace = write_trace(config, [1 << 32], [], [0])
    trace[-2] = (*trace[-2][:2], 0x10001)
    tap.check("own w48 with 17 upper bits is bad", [] if player.play(config, trace)["bad"] else ["it is not"])
    trace = write_trace(config, [1 << 32], [], [0xffffffff])
    tap.check("own state of all ones is bad", [] if player.play(config, trace)["bad"] else ["it is not"])


# ---- the others ----

def check_shared(player, tap, vector):
    config, expect = dict(vector["config"]), vector["expect"]
    if config["mb_dbg_ports"] > 1:
        config["core"] = 1
    if "preset" in vector:
        config["preset_counter"] = vector["preset"]["counter"]
        config["preset"] = int(vector["preset"]["initial"])
    trace = [(step["op"], int(step["off"], 16), int(step["val"], 16)) for step in vector["trace"]]
    got = player.play(config, trace)
    problems = [got["wrong"]] if got["wrong"] else []
    for have, want in zip(got["events"] + got["latencies"],
                          expect["event_counters"] + expect["latency_counters"], strict=True):
        for key in ("value", "overflow", "full", "n", "sum", "sum_sq", "min", "max"):
            if want.get(key) is not None and have[key] != want[key]:
                problems.append(f"{key} {have[key]} instead of {want[key]}")
        if "counted_since_preset" in want and have["since"] != want["counted_since_preset"]:
            problems.append(f"since the preset {have['since']}")
        if want.get("overflow"):
            continue # a reader that has the state reports nothing at all
        key = "sd_population"
        if key in want and not close_to(have[key], want[key]):
            problems.append(f"{key} {have[key]} instead of {want[key]}")
    derived = {key: value for key, value in got["metrics"].items() if "." not in key}
    usable = {key: value for key, value in expect["derived"].items() if value is not None}
    if "preset" not in vector or derived.keys() >= usable.keys():
        for key in usable:
            if not close_to(derived.get(key), usable[key]):
                problems.append(f"{key} {derived.get(key)} instead of {usable[key]}")
    known = set(usable) | {"dcache_hit_rate"}
    problems += [f"{key} was told" for key in derived if key not in known]
    tap.check(f"shared {vector['name']}", problems)


def main():
    player, tap = Player(sys.argv[1]), Tap()
    for width in (32, 48, 64):
        for path in ("parallel", "serial"):
            for name, values in OWN_LATENCIES.items():
                if fits(width, values):
                    check_own(player, tap, width, path, name, values)
    for ports, core in ((2, 1), (8, 7), (9, 8), (32, 31)):
        check_own(player, tap, 32, "serial", "small", OWN_LATENCIES["small"], ports, core)
    check_states(player, tap)
    shared = pathlib.Path(sys.argv[2])
    if shared.is_file():
        for vector in json.loads(shared.read_text(encoding="utf-8"))["vectors"]:
            check_shared(player, tap, vector)
    else:
        tap.n += 1
        print(f"ok {tap.n} shared vectors # SKIP no {shared.name} beside the sources")
    tap.check("the program ended well", [] if player.close() == 0 else ["it did not"])
    print(f"1..{tap.n}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
