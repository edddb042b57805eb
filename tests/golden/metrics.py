#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every built-in metric compared with an independent evaluator, over the facts in ../shared/mali.

    tests/golden/metrics.py METRIC_VALUES GEN_METRICS DATA-FOLDER SHARED-FOLDER

The expected values come from Arm's current formulas (derived.tsv), and from the two documents
(seed_g715.tsv, seed_bifrost.tsv) with their errata applied as the tables below list them: evaluated
here, by Python, on random inputs, zeros and missing ones among them. Exit status 77 (skipped) where the facts do
not exist.
"""

import json
import pathlib
import random
import re
import subprocess
import sys

PASSES = 12
TOLERANCE = 1e-12
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")

# Seed 001: sections whose printed formula is not the one that is computed, and the computed one, in hardware
# names. TOTAL: primitives at the tiler.
TOTAL = "(PRIM_FACE_CULLED + PRIM_FRUSTUM_CULLED + PRIM_SAMPLE_CULLED + PRIM_VISIBLE)"
G715_ERRATA = {
    "3.1.1": "GPU_ITER_ACTIVE",
    "3.2.1": "MCU_ACTIVE / GPU_ITER_ACTIVE * 100",
    "3.2.2": "ITER_TILER_ACTIVE / GPU_ITER_ACTIVE * 100",
    "3.2.3": "ITER_FRAG_ACTIVE / GPU_ITER_ACTIVE * 100",
    "3.2.4": "ITER_COMP_ACTIVE / GPU_ITER_ACTIVE * 100",
    "3.2.5": "TILER_ACTIVE / GPU_ITER_ACTIVE * 100",
    "3.2.6": "GPU_IRQ_ACTIVE / GPU_ITER_ACTIVE * 100",
    "3.4.1": "L2_EXT_AR_STALL / (SLICES * GPU_ITER_ACTIVE) * 100",
    "3.4.2": "L2_EXT_W_STALL / (SLICES * GPU_ITER_ACTIVE) * 100",
    "4.2.3": f"PRIM_FRUSTUM_CULLED / ({TOTAL} - PRIM_FACE_CULLED) * 100",
    "4.4.2": "GPU_ITER_ACTIVE / (ITER_FRAG_TASK_COMPLETED * 1024)",
    "5.3.1": "SHADER_CORE_ACTIVE / GPU_ITER_ACTIVE * 100",
    "6.1.1": "max(EXEC_INSTR_CVT + EXEC_INSTR_SFU + (EXEC_INSTR_FMA - min(EXEC_INSTR_FMA, "
             "EXEC_INSTR_CVT + EXEC_INSTR_SFU)) / 2, EXEC_INSTR_SFU * 4) / EXEC_CORE_ACTIVE * 100",
}
# CPU work, by cluster: not part of this comparison.
G715_CPU = {"2.1", "2.2"}
# In 4.6.1 the text is damaged: the dollar signs are restored. For these two there is no formula: reconstructed.
G715_LOST = {"4.5.5", "5.3.4"}

# Seed 004: the computed formula instead of the printed one, in hardware names; the percentages are clamped.
INPUT = "(PRIM_CULLED + PRIM_CLIPPED + PRIM_SAT_CULLED + PRIM_VISIBLE)"
BIFROST_ERRATA = {
    "JM.GPU_UTILIZATION": "GPU_ACTIVE / CLOCK_CYCLES * 100",
    "JM.JS0_UTILIZATION": "JS0_ACTIVE / GPU_ACTIVE * 100",
    "JM.JS1_UTILIZATION": "JS1_ACTIVE / GPU_ACTIVE * 100",
    "SC.EXEC_CORE_UTILIZATION": "EXEC_CORE_ACTIVE / GPU_ACTIVE * 100",
    "SC.COMPUTE_QUAD_CYCLES": "COMPUTE_ACTIVE / (COMPUTE_WARPS * WARP / 4)",
    "SC.FRAG_QUADS_KILLED_BY_OVERDRAW": "FRAG_QUADS_RAST - FRAG_QUADS_EZS_KILL - FRAG_WARPS * WARP / 4",
    "SC.FRAG_QUADS_TRANSPARENT": "FRAG_QUADS_RAST - FRAG_QUADS_EZS_KILL - QUAD_FPK_KILLER",
    "SC.FRAG_PARTIAL_QUAD_PERCENTAGE": "FRAG_PARTIAL_WARPS / FRAG_WARPS * 100",
    "SC.FRAG_QUAD_CYCLES": "FRAG_ACTIVE / (FRAG_WARPS * WARP / 4)",
    "SC.EE_UTILIZATION": "EXEC_INSTR_COUNT / EXEC_CORE_ACTIVE * 100",
    "SC.LSC_UTILIZATION": "(LS_MEM_READ_FULL + LS_MEM_READ_SHORT + LS_MEM_WRITE_FULL + LS_MEM_WRITE_SHORT"
                          " + LS_MEM_ATOMIC) / EXEC_CORE_ACTIVE * 100",
    "SC.LSC_L2_BYTES_PER_ISSUE": "BEATS_RD_LSC * 16 / (LS_MEM_READ_FULL + LS_MEM_READ_SHORT)",
    "SC.LSC_EXTERNAL_BYTES_PER_ISSUE": "BEATS_RD_LSC_EXT * 16 / (LS_MEM_READ_FULL + LS_MEM_READ_SHORT)",
    "SC.TEX_UTILIZATION": "TEX_COORD_ISSUE / EXEC_CORE_ACTIVE * 100",
    "SC.VARY_UTILIZATION": "(VARY_SLOT_16 + VARY_SLOT_32) / EXEC_CORE_ACTIVE * 100",
    "TI.INPUT_PRIMITIVES": INPUT,
    "TI.CULLED_FACING_PERCENT": f"PRIM_CULLED / {INPUT} * 100",
    "TI.CULLED_FRUSTUM_PERCENT": f"PRIM_CLIPPED / ({INPUT} - PRIM_CULLED) * 100",
    "TI.CULLED_COVERAGE_PERCENT": f"PRIM_SAT_CULLED / ({INPUT} - PRIM_CULLED - PRIM_CLIPPED) * 100",
    "L2.INTERNAL_UTILIZATION": "L2_ANY_LOOKUP / SLICES / GPU_ACTIVE * 100",
    "L2.READ_MISS_RATE": "L2_EXT_READ / L2_READ_LOOKUP * 100",
    "L2.WRITE_MISS_RATE": "L2_EXT_WRITE / L2_WRITE_LOOKUP * 100",
    "L2.EXTERNAL_READ_UTILIZATION": "L2_EXT_READ_BEATS / SLICES / GPU_ACTIVE * 100",
    "L2 Read Outstanding Transaction Histogram [75%-100%]":
        "L2_EXT_READ - L2_EXT_AR_CNT_Q1 - L2_EXT_AR_CNT_Q2 - L2_EXT_AR_CNT_Q3",
    "L2.EXTERNAL_WRITE_UTILIZATION": "L2_EXT_WRITE_BEATS / SLICES / GPU_ACTIVE * 100",
    "L2 Write Outstanding Transaction Histogram [75%-100%]":
        "L2_EXT_WRITE - L2_EXT_AW_CNT_Q1 - L2_EXT_AW_CNT_Q2 - L2_EXT_AW_CNT_Q3",
}

failures = []


def fail(what):
    failures.append(what)
    if len(failures) <= 20:
        print(what)


def table(shared, name):
    """Rows of a table as dicts."""
    lines = (shared / "mali" / name).read_text(encoding="utf-8").split("\n")
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"))) for line in lines[1:] if line]


class Facts:
    """The facts in ../shared/mali."""

    def __init__(self, shared):
        self.counters = {}
        for row in table(shared, "counters.tsv"):
            self.counters.setdefault(row["gpu"], []).append(row)
        self.gpus = list(self.counters)
        self.derived = {gpu: [] for gpu in self.gpus}
        for row in table(shared, "derived.tsv"):
            for gpu in self.gpus if row["gpu"] == "all" else [row["gpu"]]:
                self.derived[gpu].append(row)
        self.warp = {row["gpu"]: int(row["warp_width"]) for row in table(shared, "products.tsv")
                     if row["gpu"] in self.counters}
        self.names_2022 = {row["streamline_2022_name"]: row["hw_name"]
                           for row in table(shared, "streamline_2022_names.tsv")}
        self.bifrost = {row["name"]: row["hw_names"] for row in table(shared, "seed_map.tsv")
                        if row["seed_file"].startswith("004") and row["kind"] == "raw"}
        self.seed_g715 = table(shared, "seed_g715.tsv")
        self.seed_bifrost = table(shared, "seed_bifrost.tsv")


class Device:
    """One invented GPU: its constants, and random values of counters, sums over their instances."""

    def __init__(self, facts, gpu, rng):
        self.facts, self.gpu = facts, gpu
        self.cores = rng.randint(1, 16)
        self.slices = rng.choice([1, 2, 4])
        self.bus_bits = rng.choice([64, 128, 256])
        self.cycles = 0

    def start(self):
        yield f"layout\t{self.gpu}"
        yield f"constant\tMaliConstantsShaderCoreCount\t{self.cores}"
        yield f"constant\tMaliConstantsL2SliceCount\t{self.slices}"
        yield f"constant\tMaliConstantsBusWidthBits\t{self.bus_bits}"
        yield "counter\tmali_clock_cycles"
        yield "wanted\tall"
        yield "bind"

    def roll(self, rng):
        """A pass: hardware name to sum; some are 0, some absent."""
        zeros, holes = rng.choice([0, 0, 0.1, 0.5]), rng.choice([0, 0, 0.02, 0.2])
        self.values, self.keys = {}, {}
        self.ns = rng.choice([0, rng.randint(1, 10**9)])
        self.cycles = rng.choice([0, rng.randint(1, 10**9)])
        for row in self.facts.counters[self.gpu]:
            if rng.random() < holes:
                continue
            value = 0 if rng.random() < zeros else rng.randint(0, 10 ** rng.randint(1, 12))
            self.values[row["hw_name"]] = (value, row["block"])
            self.keys[row["streamline_source_name"]] = value

    def feed(self):
        for key, value in self.keys.items():
            yield f"value\t{key}\t{value}"
        yield f"value\tmali_clock_cycles\t{self.cycles}"
        if self.ns:
            yield f"gpu_ns\t{self.ns}"
        yield "pass"

    def constants(self):
        known = {
            "MaliConstantsShaderCoreCount": self.cores, "MaliConstantsL2SliceCount": self.slices,
            "MaliConstantsBusWidthBits": self.bus_bits, "SLICES": self.slices, "CLOCK_CYCLES": self.cycles,
            "L2.AXI_WIDTH_BYTES": self.bus_bits / 8, "WARP": self.facts.warp[self.gpu],
        }
        if self.ns:
            known["ZOOM"] = known["SECONDS"] = known["MALI_CONFIG_TIME_SPAN"] = self.ns / 1e9
        return known

    def mean(self, hw_name):
        value, block = self.values[hw_name]
        return value / self.cores if block == "core" else value


def evaluate(expression, value_of):
    """The value, or None: a name is missing, or something is divided by 0."""
    words = {"min": min, "max": max, "SUM": lambda x: x}

    def replace(match):
        word = match.group(0)
        if word not in words:
            values.append(value_of(word))
            return f"(values[{len(values) - 1}])"
        return word

    values = []
    try:
        # An exponent such as 1e6 is not a name.
        text = re.sub(r"(?<![0-9.])" + NAME.pattern, replace, expression.replace("$", ""))
        return eval(text, {"__builtins__": {}}, {"values": values, **words})
    except (KeyError, ZeroDivisionError):
        return None


def clamp(value):
    return value if value is None else max(min(value, 100), 0)


def expect_arm(facts, device):
    """Key to value, of Arm's current derived counters."""
    known = device.constants()

    def value_of(name):
        return known[name] if name in known else device.keys[name]

    for row in facts.derived[device.gpu]:
        value = evaluate(row["expression"], value_of)
        yield row["streamline_name"], clamp(value) if row["units"] == "percent" else value


def expect_g715(facts, device):
    """(Section, title) to value, of seed 001: means per core."""
    known = device.constants()

    def of_2022(name):
        return known[name] if name in known else device.mean(facts.names_2022[name])

    def of_hardware(name):
        return known[name] if name in known else device.mean(name)

    for row in facts.seed_g715:
        section = row["section"]
        if section in G715_CPU:
            continue
        if section in G715_ERRATA:
            value = evaluate(G715_ERRATA[section], of_hardware)
            if row["expression"].startswith("max(min("):
                value = clamp(value)
        else:
            value = evaluate(row["expression"] or row["reconstructed"], of_2022)
        yield row["title"], value


def expect_bifrost(facts, device):
    """Name to value, of seed 004: means per core."""
    known = device.constants()
    hw_names = {row["hw_name"] for row in facts.counters[device.gpu]}
    derived = {row["name"]: row["expression"] for row in facts.seed_bifrost if row["kind"] == "derived"}

    def of_seed(name):
        if name in known:
            return known[name]
        if name in derived:
            value = evaluate(derived[name], of_seed)
            if value is None:
                raise KeyError(name)
            return value
        return device.mean(facts.bifrost[name])

    def of_hardware(name):
        return known[name] if name in known else device.mean(name)

    for row in facts.seed_bifrost:
        name = row["name"]
        if row["kind"] == "raw":
            if facts.bifrost[name] in hw_names:
                yield name, evaluate(name, of_seed)
        elif name in BIFROST_ERRATA:
            if all(word in hw_names or word in known or word in ("min", "max", "SECONDS", "e6")
                   for word in NAME.findall(BIFROST_ERRATA[name])):
                value = evaluate(BIFROST_ERRATA[name], of_hardware)
                percent = BIFROST_ERRATA[name].endswith("* 100")
                yield name, clamp(value) if percent else value
        elif all(facts.bifrost.get(word) in hw_names or word in derived or word in known or word == "SUM"
                 for word in NAME.findall(row["expression"])):
            yield name, evaluate(row["expression"], of_seed)


class Program:
    """The evaluator under test."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, lines):
        """Rows of the answer, up to "done"."""
        self.process.stdin.write("\n".join(lines) + "\n")
        self.process.stdin.flush()
        rows = []
        for line in self.process.stdout:
            row = line.rstrip("\n").split("\t")
            if row == ["done"]:
                return rows
            rows.append(row)
        raise SystemExit("the program ended")

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            fail(f"the program ended with {self.process.returncode}")


def same(got, want):
    if got is None or want is None:
        return got is want
    return abs(got - want) <= TOLERANCE * max(1, abs(got), abs(want))


def compare(where, expected, got, known, keys):
    """Returns the number of values; `keys`: from the name in the facts to the metric's key."""
    n = 0
    for name, want in expected:
        key = keys.get(name)
        if key not in known:
            fail(f"{where}: there is no metric for {name!r}")
            continue
        if not same(got.get(key), want):
            fail(f"{where}: {name}: {got.get(key)}, where {want} is expected")
        n += want is not None
    return n


def check_documents(facts, rows):
    """Every section is present, under its title; `printed` is what the document prints, where it differs."""
    counts = {}
    for dialect, seed, title, errata in (
            ("arm-2022", facts.seed_g715, "title", G715_ERRATA),
            ("bifrost", facts.seed_bifrost, "name", BIFROST_ERRATA)):
        ours = {row["name"].replace(", cluster [0..N]", ""): row for row in rows
                if row["dialect"] == dialect}
        if len(ours) != len(seed):
            fail(f"{dialect}: {len(ours)} metrics, {len(seed)} in the document")
        for row in seed:
            metric = ours.get(row[title])
            if not metric:
                fail(f"{dialect}: {row[title]!r} is missing")
                continue
            printed = re.sub(r"\s+", " ", row["expression"])
            plain = metric["expression"].replace("$", "")
            shown = metric["printed"] if metric["printed"] is not None else metric["expression"]
            if row.get("kind") == "raw":
                if plain != row["name"]:
                    fail(f"{dialect}: {row[title]} is {plain}")
            elif shown.replace("$", "") != printed.replace("$", ""):
                fail(f"{dialect}: {row[title]}: the document prints {printed!r}, not {shown!r}")
            name = row["section"] if dialect == "arm-2022" else row[title]
            if name in errata and not metric["erratum"]:
                fail(f"{dialect}: {row[title]} does not say why it differs")
            counts[dialect, row["kind"]] = counts.get((dialect, row["kind"]), 0) + 1
    want = {("arm-2022", "expression"): 70, ("arm-2022", "counter"): 44, ("bifrost", "derived"): 34,
            ("bifrost", "raw"): 75}
    if counts != want:
        fail(f"there are {counts}, not {want}")


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    program_path, generator, data, shared = sys.argv[1:]
    shared = pathlib.Path(shared)
    if not (shared / "mali" / "derived.tsv").exists():
        print("skipped: the facts to compare with (../shared/mali) are not here")
        sys.exit(77)
    facts = Facts(shared)
    files = sorted(str(path) for path in pathlib.Path(data).glob("*.txt"))
    rows = json.loads(subprocess.run([sys.executable, generator, "--list", *files], check=True,
                                     capture_output=True, text=True).stdout)
    check_documents(facts, rows)
    by_name = {(row["dialect"], row["name"]): row["key"] for row in rows}
    g715 = {name: key for (dialect, name), key in by_name.items() if dialect == "arm-2022"}
    bifrost = {name: key for (dialect, name), key in by_name.items() if dialect == "bifrost"}
    program = Program(program_path)
    rng = random.Random(5)
    n = 0
    for gpu in facts.gpus:
        arm = {row["streamline_name"]: row["streamline_name"] for row in facts.derived[gpu]}
        for _ in range(3):
            device = Device(facts, gpu, rng)
            known = {row[1] for row in program.ask(device.start())}
            ours = sum(row["dialect"] == "arm" for row in rows if row["key"] in known)
            if not ours:
                fail(f"{gpu}: no metric of Arm's")
            for _ in range(PASSES):
                device.roll(rng)
                got = {row[1]: float(row[2]) for row in program.ask(device.feed())}
                n += compare(gpu, expect_arm(facts, device), got, known, arm)
                if gpu == "Mali-G715":
                    n += compare(gpu, expect_g715(facts, device), got, known, g715)
                if facts.warp[gpu] < 16:
                    n += compare(gpu, expect_bifrost(facts, device), got, known, bifrost)
    program.end()
    print(f"{n} values of {len(facts.gpus)} layouts compared, {len(failures)} findings")
    print(f"errata applied: {', '.join(G715_ERRATA)}; {', '.join(BIFROST_ERRATA)}")
    sys.exit(1 if failures else 0)


main()
