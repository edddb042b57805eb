# SPDX-License-Identifier: MIT
"""What the Mali tests share: the simulated kernel (tests/fake_kernel) under a program that reads one of
the product's snapshot sources, and the totals that its script gives.

The script uses nothing of the product except the position of a key in the catalogue (block, index, shift).
"""

import dataclasses
import json
import os
import pathlib
import re

import harness

RATE_BLOCK = 64
CLOCK_BLOCK = 4  # no block: the cycles of the GPU's clock, of which the kernel reports 1000 a microsecond
GPU_NAMES = {
    "g71": "Mali-G71", "g72": "Mali-G72", "g51": "Mali-G51", "g76": "Mali-G76", "g52": "Mali-G52",
    "g31": "Mali-G31", "g77": "Mali-G77", "g57": "Mali-G77", "g78": "Mali-G78", "g68": "Mali-G78",
    "g710": "Mali-G710", "g610": "Mali-G710", "g510": "Mali-G710", "g715": "Mali-G715", "g615": "Mali-G715",
    "g720": "Mali-G720", "g725": "Mali-G725", "g1-ultra": "Mali G1", "g1-pro": "Mali G1",
}
DEFAULT_GPU = {"kbase-csf": "g715", "kbase-jm": "g78", "kbase-old": "g72", "panfrost": "g52", "panthor": "g610"}


@dataclasses.dataclass
class Kernel:
    """One setting of the simulated kernel."""

    text: str

    def __post_init__(self):
        words = self.text.split(",")
        pairs = [w.partition("=")[::2] for w in words[1:]]
        self.kind = words[0]
        self.settings = dict(pairs)
        self.gpu = self.settings.get("gpu", DEFAULT_GPU[self.kind])
        self.cores = int(self.settings.get("cores", "5"), 0)
        self.n_l2 = int(self.settings.get("l2", "2"))
        self.source = "mali-kbase" if self.kind.startswith("kbase") else "mali-panfrost"

    @property
    def tells_clock(self):
        """With each sample: for kinstr_prfcnt where it has domains, for vinstr where it has the feature."""
        if not self.kind.startswith("kbase"):
            return False
        return self.settings.get("domains") != "0" and int(self.settings.get("features", "3")) & 1 == 1

    def instances(self, block):
        """Physical numbers of a block's instances."""
        if block == 3:
            return [i for i in range(32) if self.cores >> i & 1]
        return range(self.n_l2 if block == 2 else 1)

    def rate(self, place, without=()):
        """Counts for each microsecond of the script's clock, as the log has them; place: block, index, shift."""
        block, index, shift = place
        if block == CLOCK_BLOCK:
            return 1000
        return sum(((index + 1) * (i + 1) + RATE_BLOCK * block) << shift
                   for i in self.instances(block) if (block, i) not in without)


class Machine:
    """How to run programs, on this machine or for another machine with qemu."""

    def __init__(self, programs=None, fake=None, before=()):
        self.before = list(before)
        self.programs = programs
        self.fake = fake

    def program(self, name):
        return self.programs / name if self.programs else find(name)

    def run(self, folder, kernel, argv):
        trace = pathlib.Path(folder) / "trace"
        trace.unlink(missing_ok=True)
        fake = self.fake or find("fake_kernel.so")
        env = harness.base_env(pathlib.Path(folder), {"FAKE_KERNEL": kernel, "FAKE_KERNEL_TRACE": str(trace)})
        argv = [str(self.program(argv[0]))] + argv[1:]
        if self.before:
            argv = self.before + ["-E", f"LD_PRELOAD={fake}"] + argv
        else:
            env.update(harness.preload_env(fake))
        if harness.SANITIZER:
            # Leaks count here: the program is entirely the project's.
            env["ASAN_OPTIONS"] = "detect_leaks=1:verify_asan_link_order=0"
        result = harness.run(argv, env)
        return result, trace.read_text().splitlines() if trace.exists() else []


def find(name):
    for folder in ("tests/fake_kernel", "."):
        path = harness.BUILD / folder / name
        if path.exists():
            return path.resolve()
    harness.skip(f"{name} was not built")
    return None


@dataclasses.dataclass
class Session:
    """What one run of snapshot_main printed."""

    kernel: Kernel
    steps: list
    trace: list
    result: harness.Result

    def step(self, name):
        return next((s for s in self.steps if s["step"] == name), None)

    @property
    def samples(self):
        return [s for s in self.steps if s["step"] == "sample"]

    @property
    def counters(self):
        return self.step("open")["counters"]

    @property
    def reason(self):
        """The last status that was printed."""
        said = [s["reason"] for s in self.steps if s.get("reason")]
        return said[-1] if said else ""

    @property
    def misuses(self):
        return [line for line in self.trace if line.startswith("misuse:")]

    @property
    def left_open(self):
        return [line for line in self.trace if line.startswith("left open")]

    @property
    def counts(self):
        """Checks that the reader delivers values."""
        start = self.step("start")
        return bool(start and start["status"] == "ok")


def run_session(machine, folder, text, *args):
    kernel = Kernel(text)
    result, trace = machine.run(folder, text, ["snapshot_main", kernel.source, *map(str, args)])
    steps = []
    for line in result.text.splitlines():
        steps.append(json.loads(line))
    return Session(kernel, steps, trace, result)


def check_clean(checks, session):
    """Checks that the program ended, and made no forbidden request of the kernel."""
    checks.that(session.result.status == 0, f"status {session.result.status}: {session.result.errors[-1500:]}")
    checks.that(not re.search("what is '|ERROR: |runtime error", session.result.errors),
                f"says {session.result.errors[-1500:]}")
    checks.equal(session.misuses, [], "misuse of the kernel")
    checks.equal(session.left_open, [], "left open")
    checks.that(session.trace and session.trace[-1] == "end", "the trace has no end")


def check_no_wrong_number(checks, session, advance_us, without=None):
    """Whatever happens, each delta is the script's or reported as unknown. `without(sample)`: (block, instance)
    pairs that truly counted nothing. Returns, for each delivered sample, its number and the unknown keys."""
    n = len(session.counters)
    before, n_missed, unknown = [0] * n, 0, []
    for number, sample in enumerate(session.samples, 1):
        n_missed += 1
        if sample["status"] != "ok":
            checks.that(sample["status"] in ("not ready", "lost"), f"sample {number} is {sample['status']}")
            continue
        doubted = set(sample["unknown"])
        for i, (key, place, _) in enumerate(session.counters):
            grown = sample["totals"][i] - before[i]
            rate = session.kernel.rate(place, without(number) if without else ())
            want = 0 if i in doubted else rate * advance_us * n_missed
            if grown != want:
                checks.that(False, f"sample {number}: {key} {place} grew by {grown}, expected {want}")
                break
        checks.that(sample["called_ns"] <= sample["begin_ns"] <= sample["end_ns"] <= sample["returned_ns"],
                    f"sample {number}: its time is not of the call: {sample['called_ns']} {sample['begin_ns']} "
                    f"{sample['end_ns']} {sample['returned_ns']}")
        unknown.append((number, sorted(session.counters[i][0] for i in doubted)))
        before, n_missed = sample["totals"], 0
    return unknown


def qemu(machine):
    """The command that runs a program of that machine."""
    root = {"arm": "/usr/arm-linux-gnueabihf", "aarch64": "/usr/aarch64-linux-gnu"}[machine]
    if not os.path.isdir(root):
        harness.skip(f"{root} is missing: install the libc of the cross compiler")
    return [str(harness.need_tool(f"qemu-{machine}")), "-L", root]
