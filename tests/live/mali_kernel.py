# SPDX-License-Identifier: MIT
"""The Mali sources against a simulated kernel, to the last count: all ways to the counters, many GPUs, each fault.

    mali_kernel.py PART...   rules, paths, clock, states, faults

mali_cross.py does the same on other machines.
"""

import sys

import harness
import mali_harness
from mali_harness import check_clean, check_no_wrong_number, run_session

ADVANCE_US = 1000

RULES = [
    ("kinstr", "kbase-csf"),
    ("vinstr", "kbase-jm,gpu=g72,iface=11.20"),
    ("old", "kbase-old"),
    ("panfrost", "panfrost"),
]

# Settings with which everything works, and that must give every count.
PATHS = [
    "kbase-csf",
    "kbase-csf,cores=0xff,l2=4",
    "kbase-csf,gpu=g615,cores=0x1,l2=1",
    "kbase-csf,gpu=g720,cores=0xf0f,l2=4",
    "kbase-csf,gpu=g725,cores=0xb,l2=8",
    "kbase-csf,gpu=g1-ultra,longid,cores=0x7f,l2=3",
    "kbase-csf,gpu=g1-pro,cores=0x55555",
    "kbase-csf,gpu=g710,cores=0x77",
    "kbase-csf,gpu=g610,iface=1.20",
    "kbase-csf,enum_extra=8,meta_extra=16",
    "kbase-csf,unknown,enum_extra=32,meta_extra=48",
    "kbase-csf,all_blocks,domains=1",
    "kbase-csf,domains=0",
    "kbase-csf,groups=2,cores=0xf3",
    "kbase-csf,node=3",
    "kbase-csf,noscope,iface=1.23",
    "kbase-csf,fail=flags:EPERM",
    "kbase-csf,iface=1.17",
    "kbase-csf,iface=1.18,phys,cores=0x2c",
    "kbase-csf,iface=1.12,phys,cores=0x9",
    "kbase-jm",
    "kbase-jm,gpu=g68,cores=0xe",
    "kbase-jm,gpu=g77,cores=0x1ff,l2=2",
    "kbase-jm,gpu=g57,cores=0x3,l2=1",
    "kbase-jm,gpu=g52,cores=0x2,l2=1",
    "kbase-jm,gpu=g76,cores=0xfff,l2=4",
    "kbase-jm,gpu=g51,iface=11.38",
    "kbase-jm,gpu=g31,cores=0x1,l2=1",
    "kbase-jm,gpu=g71,iface=11.35,phys",
    # vinstr
    "kbase-jm,gpu=g72,iface=11.20",
    "kbase-jm,gpu=g72,iface=11.20,junk,cores=0x81",
    "kbase-jm,gpu=g71,iface=11.4,features=0,cores=0xff,l2=2",
    "kbase-jm,gpu=g72,iface=11.20,features=2",
    "kbase-jm,gpu=g76,iface=11.13,nomem=8",
    "kbase-jm,gpu=g52,iface=11.30,nomem=1,features=1",
    "kbase-jm,gpu=g31,iface=11.15,l2=1,cores=1",
    "kbase-jm,gpu=g77,iface=11.25,groups=2,cores=0x3f",
    "kbase-csf,gpu=g710,iface=1.5,cores=0x1f",
    # before r21
    "kbase-old",
    "kbase-old,gpu=g71,cores=0xff,l2=2,junk",
    "kbase-old,gpu=g51,cores=0x85,l2=4",
    "kbase-old,gpu=g76,groups=2,cores=0x1b,junk",
    # panfrost
    "panfrost",
    "panfrost,gpu=g31,cores=0x1,l2=1",
    "panfrost,gpu=g72,cores=0xa5,l2=2,junk",
    "panfrost,gpu=g57,cores=0x9,l2=1",
    "panfrost,gpu=g76,cores=0xfff,l2=4",
    "panfrost,gpu=g51,decoy,junk",
    "panfrost,gpu=g71,node=9",
]

# Nothing to count with, and the reason is given: settings, status of the step that fails, words of the reason.
REFUSED = [
    ("kbase-jm,gpu=t860,iface=11.20", "T860"),
    ("kbase-jm,gpu=t760,iface=11.20", "T760"),
    ("kbase-jm,gpu=g72,iface=11.20,hwver=4", "expected"),
    ("kbase-old,gpu=t720,cores=0x3,l2=1", "T720"),
    ("kbase-old,gpu=t60x,cores=0xf,l2=1", "T60"),
    ("kbase-csf,gpu=unknown", ""),
    ("panfrost,gpu=t860", "T860"),
    ("panfrost,gpu=t720,cores=0x3,l2=1", "T720"),
    ("panthor", "panthor"),
    ("panfrost,unstable=0", "unstable_ioctls"),
    ("panfrost,busy", ""),
    ("kbase-csf,regular", ""),
    ("kbase-csf,set=1", ""),
    ("kbase-csf,iface=1.5", ""),
] + [(f"{kind},fail=open:{errno}", "")
     for kind in ("kbase-csf", "panfrost") for errno in ("EACCES", "EPERM", "ENXIO", "ENOMEM", "EMFILE")
] + [(f"kbase-csf,fail={call}:{errno}", "")
     for call in ("enum", "setup", "mmap", "props", "version")
     for errno in ("EPERM", "EACCES", "EBUSY", "ENOSYS", "EINVAL", "ENOMEM", "ENODEV")
] + [(f"kbase-jm,gpu=g72,iface=11.20,fail={call}:{errno}", "")
     for call in ("setup", "mmap", "hwver", "bufsize")
     for errno in ("EPERM", "ENODEV", "EINVAL")
] + [(f"kbase-old,fail={call}:{errno}", "")
     for call in ("setup", "mmap", "props") for errno in ("EPERM", "ENODEV", "EINVAL")
] + [(f"panfrost,fail={call}:{errno}", "")
     for call in ("param", "enable") for errno in ("EACCES", "EBUSY", "ENOSYS", "EINVAL", "ENODEV")
] + [(f"kbase-csf,props={how}", "") for how in ("cut", "noid", "nocores")
] + [(f"kbase-csf,lists={how}", "")
     for how in ("small", "huge", "empty", "nomode", "nosample", "mixed", "doubled", "smallmeta")
] + [("kbase-csf,fail=flags:EBUSY", ""), ("kbase-csf,fail=start:EBUSY", ""), ("kbase-csf,fail=start:EIO", ""),
     ("kbase-old,at=refuse@548", ""), ("kbase-old,at=refuse@530", ""), ("kbase-old,at=refuse@526", ""),
     ("kbase-jm,gpu=g72,iface=11.20,fail=clear:EIO", ""), ("kbase-csf,at=remove", "")]

# Values continue or end, and no number is wrong: settings.
FAULTS = [f"{kind},fail={call}:{errno}:{when}"
          for kind in ("kbase-csf", "kbase-jm,gpu=g72,iface=11.20", "kbase-old", "panfrost")
          for call in ("sample", "get", "put", "poll")
          for errno in ("EBUSY", "EAGAIN", "EINTR", "EINVAL", "ENODEV", "EIO", "EPERM")
          for when in ("3", "3-")
          if kind != "panfrost" or call == "sample"]
FAULTS += [f"{kind},at={word}"
           for kind in ("kbase-csf", "kbase-jm,gpu=g72,iface=11.20", "kbase-old")
           for word in ("remove@3-", "faraway@3", "faraway@3-", "late@3", "late@4", "late@3-")]
FAULTS += [f"kbase-csf,at={word}@3" for word in ("nosample", "twosamples", "noclock", "noend", "missing:core2",
                                                 "missing:l2", "doubled:core0", "doubled:fe", "outside:tiler",
                                                 "outside:core2", "error", "overflow")]
FAULTS += ["panfrost,at=remove@3-", "kbase-csf,at=error@2-", "kbase-csf,lists=nocore", "kbase-csf,lists=endless",
           "kbase-csf,lists=manycores", "kbase-csf,lists=short", "kbase-csf,props=nol2", "kbase-csf,fail=iface:EPERM",
           "kbase-csf,fail=flags:EINVAL", "kbase-jm,gpu=g72,iface=11.20,fail=features:EINVAL",
           "kbase-csf,fail=stop:EINVAL", "kbase-csf,fail=discard:EINVAL", "panfrost,fail=disable:ENODEV",
           "panfrost,fail=parameter:EACCES", "panfrost,fail=sample:ETIMEDOUT:3", "panfrost,at=reset@4-",
           "panfrost,fail=sample:EFAULT:3-", "panfrost,fail=sample:ENOSYS:4-"]


def check_rules(checks, machine, folder):
    """The simulated kernel itself."""
    for name, text in RULES:
        with checks.part(name):
            result, trace = machine.run(folder, text, ["fake_kernel_rules", name])
            wrong = [line for line in result.text.splitlines() if not line.startswith(("ok", "1.."))]
            checks.equal(wrong, [], "rules")
            checks.equal(result.status, 0, "status")
            checks.that(len(result.text.splitlines()) > 10, "too few checks")
            checks.that(any(line.startswith("misuse:") for line in trace) or name == "old", "misuse is not told")


def check_paths(checks, machine, folder):
    for text in PATHS:
        with checks.part(text):
            session = run_session(machine, folder, text, "--advance", ADVANCE_US, "--samples", 5)
            kernel = session.kernel
            check_clean(checks, session)
            if not checks.that(session.counts, f"does not count: {session.steps}"):
                continue
            opened = session.step("open")
            checks.equal(opened["layout"], mali_harness.GPU_NAMES[kernel.gpu], "layout")
            checks.that(len(session.counters) >= 40 and all(place for _, place, _ in session.counters),
                        f"counters {session.counters[:3]}")
            clock = {mali_harness.CLOCK_BLOCK} if kernel.tells_clock else set()
            checks.equal({place[0] for _, place, _ in session.counters}, {0, 1, 2, 3} | clock, "blocks")
            constants = opened["constants"]
            checks.equal(constants.get("MaliConstantsShaderCoreCount"), len(kernel.instances(3)), "cores")
            checks.equal(constants.get("MaliConstantsL2SliceCount"), kernel.n_l2, "slices")
            checks.equal(constants.get("MaliConstantsBusWidthBits"), 128, "bus")
            unknown = check_no_wrong_number(checks, session, ADVANCE_US)
            checks.equal(unknown, [(n, []) for n in range(1, 6)], "unknown")
            checks.equal([s["flags"] for s in session.samples], [0] * 5, "flags")


def check_clock(checks, machine, folder):
    """The script's clock runs: totals are true within the times that the sample states."""
    for text in ("kbase-csf", "kbase-jm,gpu=g72,iface=11.20", "kbase-old", "panfrost"):
        with checks.part(f"{text} by the clock"):
            session = run_session(machine, folder, text + ",clock=mono", "--advance", 0, "--samples", 20,
                                  "--sleep", 2000)
            check_clean(checks, session)
            if not checks.that(session.counts, f"does not count: {session.steps}"):
                continue
            start = session.step("start")
            for sample in session.samples:
                # The simulated kernel's own two clocks are as far apart as 500 ns.
                least = sample["begin_ns"] - start["returned_ns"] - 500
                most = sample["end_ns"] - start["called_ns"] + 500
                for i, (key, place, _) in enumerate(session.counters):
                    rate = session.kernel.rate(place)
                    slack = 32 << place[2]  # each instance rounds down at the start and at the sample
                    total = sample["totals"][i]
                    if not rate * least // 1000 - slack <= total <= rate * most // 1000 + slack:
                        checks.that(False, f"{key} {place}: {total} is not between {rate * least / 1000:.0f} and "
                                    f"{rate * most / 1000:.0f}")
                        break
            checks.equal({s["status"] for s in session.samples}, {"ok"}, "status")
            width = max(s["end_ns"] - s["begin_ns"] for s in session.samples)
            print(f"  a sample's time is known to {width} ns")


def keys_of(session, block):
    return sorted(key for key, place, _ in session.counters if place[0] == block)


def check_unknown(checks, session, unknown, at, blocks):
    """Unknown at those samples, and only there: all counters of those blocks."""
    want = [(n, sorted(k for b in blocks for k in keys_of(session, b)) if n in at else []) for n, _ in unknown]
    checks.equal(unknown, want, "unknown")


EVERY_BLOCK = [0, 1, 2, 3, mali_harness.CLOCK_BLOCK]
# Settings, blocks whose counters are unknown at the third sample after the start, and a flag's bit that must be there.
STATES = [
    ("kbase-csf,at=protected:core@3", [3], None),
    ("kbase-csf,at=protected:core2@3", [3], None),
    ("kbase-csf,at=protected@3", [0, 1, 2, 3], None),
    ("kbase-csf,at=off:core@3", [3], None),
    ("kbase-csf,at=off:l2@3", [2], None),
    ("kbase-csf,at=off:tiler@3", [1], None),
    ("kbase-jm,at=unavailable:core0@3", [3], None),
    ("kbase-jm,at=off:core@3", [3], None),
    ("kbase-csf,at=partly:core@3", [], None),
    ("kbase-csf,at=error@3", EVERY_BLOCK, None),
    ("kbase-csf,at=overflow@3", [], None),
    ("kbase-csf,at=lose@3", EVERY_BLOCK, None),
    ("kbase-jm,gpu=g72,iface=11.20,at=saturate:core2@3", [3], "saturated"),
    ("kbase-jm,gpu=g72,iface=11.20,at=saturate:tiler@3", [1], "saturated"),
    ("kbase-old,at=saturate@3", [0, 1, 2, 3], "saturated"),
    ("kbase-csf,at=missing:core2@3", [3], None),
    ("kbase-csf,at=outside:l21@3", EVERY_BLOCK, None),
    ("kbase-csf,at=nosample@3", EVERY_BLOCK, None),
]


def flag_bits():
    """By the product's own list, so that a new flag does not move them unseen."""
    text = (harness.SOURCE / "layer" / "record.h").read_text()
    names = [line.split()[0].rstrip(",") for line in text.splitlines() if line.strip().startswith("TALLY_FLAG_")]
    return {name.removeprefix("TALLY_FLAG_").lower(): bit for bit, name in enumerate(names)}


def check_states(checks, machine, folder):
    bits = flag_bits()
    for text, blocks, flag in STATES:
        with checks.part(text):
            session = run_session(machine, folder, text, "--advance", ADVANCE_US, "--samples", 6)
            check_clean(checks, session)
            if not checks.that(session.counts, f"does not count: {session.steps}"):
                continue
            unknown = check_no_wrong_number(checks, session, ADVANCE_US)
            check_unknown(checks, session, unknown, [3], blocks)
            flagged = [n for n, s in enumerate(session.samples, 1) if flag and s["flags"] >> bits[flag] & 1]
            checks.equal(flagged, [3] if flag else [], f"flag {flag}")
    with checks.part("the first sample is lost"):
        session = run_session(machine, folder, "kbase-csf,at=lose@1", "--advance", ADVANCE_US, "--samples", 3)
        unknown = check_no_wrong_number(checks, session, ADVANCE_US)
        check_unknown(checks, session, unknown, [1], EVERY_BLOCK)
    with checks.part("one is malformed, and the one after it lost"):
        session = run_session(machine, folder, "kbase-csf,at=nosample@2,at=lose@3", "--advance", ADVANCE_US,
                              "--samples", 5)
        unknown = check_no_wrong_number(checks, session, ADVANCE_US)
        check_unknown(checks, session, unknown, [2, 3], EVERY_BLOCK)
    with checks.part("one core of two is off, truly 0"):
        session = run_session(machine, folder, "kbase-csf,at=off:core2@3", "--advance", ADVANCE_US, "--samples", 6)
        check_clean(checks, session)
        unknown = check_no_wrong_number(checks, session, ADVANCE_US, lambda n: {(3, 2)} if n == 3 else ())
        check_unknown(checks, session, unknown, [], [])
    check_saturation(checks, machine, folder)
    for word in ("reset", "forgotten"):
        with checks.part(f"panfrost {word}, and enabled again"):
            session = run_session(machine, folder, f"panfrost,at={word}@4", "--advance", ADVANCE_US, "--samples", 12)
            check_clean(checks, session)
            unknown = check_no_wrong_number(checks, session, ADVANCE_US)
            checks.that([keys for _, keys in unknown[-4:]] == [[]] * 4, "it did not come back")
            checks.that(any(keys for _, keys in unknown) or len(unknown) < 12, "nothing was amiss")


def check_saturation(checks, machine, folder):
    """32 bits are too few for the deltas; 64 are enough."""
    advance_us = 500_000_000
    for text, wide in (("kbase-jm,gpu=g72,iface=11.20", False), ("kbase-old", False), ("panfrost", False),
                       ("kbase-csf", True)):
        with checks.part(f"{text} after long"):
            session = run_session(machine, folder, text, "--advance", advance_us, "--samples", 2)
            check_clean(checks, session)
            kernel = session.kernel
            unknown = check_no_wrong_number(checks, session, advance_us)
            stuck = sorted(key for key, (block, index, _), _ in session.counters
                           if block != mali_harness.CLOCK_BLOCK
                           and any(kernel.rate((block, index, 0), {(block, j) for j in kernel.instances(block) if j != i})
                                   * advance_us >= 0xffffffff for i in kernel.instances(block)))
            checks.that(stuck, "nothing is stuck")
            checks.equal(unknown, [(n, [] if wide else stuck) for n in (1, 2)], "unknown")


def check_faults(checks, machine, folder, every=1):
    for text, words in REFUSED[::every]:
        with checks.part(text):
            session = run_session(machine, folder, text, "--advance", ADVANCE_US, "--samples", 3)
            checks.that(session.result.status == 0, f"status {session.result.status} {session.result.errors[-1500:]}")
            checks.equal(session.misuses, [], "misuse")
            checks.equal(session.left_open, [], "left open")
            checks.that(not session.counts, "it counts")
            checks.that(len(session.reason) > 15 and words in session.reason, f"reason {session.reason!r}")
    for text in FAULTS[::every]:
        with checks.part(text):
            session = run_session(machine, folder, text, "--advance", ADVANCE_US, "--samples", 40)
            checks.that(session.result.status == 0, f"status {session.result.status} {session.result.errors[-1500:]}")
            checks.equal(session.left_open, [], "left open")
            if session.counts:
                check_no_wrong_number(checks, session, ADVANCE_US)
            ended = not session.counts or session.samples[-1]["status"] == "lost"
            if ended:
                checks.that(len(session.reason) > 15, f"ended without a reason: {session.steps[-3:]}")
            if not session.counts or not text.partition("@")[2].endswith("-") and not text.endswith("-"):
                continue
            # A source that will never work again is given up, or is only "not ready"; it does not look as if it
            # counted.
            checks.that(ended or all(s["status"] != "ok" or s["unknown"] for s in session.samples[8:])
                        or "fail=poll" in text, "goes on as if nothing were wrong")


PARTS = {
    "rules": check_rules,
    "paths": check_paths,
    "clock": check_clock,
    "states": check_states,
    "faults": check_faults,
}


def main():
    parts = sys.argv[1:] or list(PARTS)
    checks = harness.Checks()
    with harness.scratch() as folder:
        for part in parts:
            PARTS[part](checks, mali_harness.Machine(), folder)
    checks.finish()


if __name__ == "__main__":
    main()
