#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally run finds out by a probe which drivers give one time to all passes of a framebuffer, and stores it.

Below libglvnd is tests/fake_gl/perf_egl.c: llvmpipe under an unknown name, which still draws tile by tile, or
(`exact`) ends its scene at each timestamp, as a driver with true times would.
"""

import configparser
import re
import sys

import harness as h
from selftest import liar_env

NAME = r"\S+ Unheard-of Mesa \S+"
# The driver's settings, and the result of the probe. What it cannot decide is decided by name.
DRIVERS = [
    ("renamed=1", "together"),
    ("renamed=1,exact=1", "apart"),
    ("renamed=1,never=1", "unknown"),
    ("renamed=1,crash=1", "unknown"),
    ("renamed=1,hang=1", "unknown"),
    ("plus=1", "named"),
]
TRIES = 4


KEYS = ("seconds", "answer", "driver")


def kept(folder):
    """The groups of the file of answers, the newest first: environment, seconds, answer, driver."""
    file = configparser.ConfigParser(interpolation=None, delimiters="=")
    file.read(folder / "cache" / "passtally" / "drivers")
    return [[name] + [file[name][key] for key in KEYS] for name in reversed(file.sections())]


def keep(folder, groups):
    write(folder, "".join(f"[{name}]\n" + "".join(map("{}={}\n".format, KEYS, values)) for name, *values in groups))


def write(folder, text):
    (folder / "cache" / "passtally" / "drivers").write_bytes(text.encode(errors="surrogateescape"))


def ask(checks, folder, env, *options):
    """The driver about which a program started by passtally run is informed; None: about none."""
    argv = [h.need("passtally"), "run", "--quiet", *options, "--", "sh", "-c", 'printf %s "$PASSTALLY_OPTIONS"; exit 7']
    got = h.run(argv, env)
    checks.equal((got.status, got.errors), (7, ""), "the program's status, and what is said")
    found = re.search(r",shared-time=([^,]*)", got.text)
    return found.group(1) if found else None


def ask_until(checks, folder, env, stored, done):
    """With the stored groups, or text; on a busy machine the probe may be undecided, or exceed its time limit."""
    for _ in range(TRIES):
        (write if isinstance(stored, str) else keep)(folder, stored)
        driver = ask(checks, folder, env)
        if done(kept(folder)):
            break
    return driver


def ask_anew(checks, folder, env, want):
    return ask_until(checks, folder, env, [], lambda now: now[0][2] == want)


def check_driver(checks, told, want):
    with h.scratch() as folder, checks.part(f"{told}: {want}"):
        env = liar_env(folder, "opengl", told)
        (folder / "cache" / "passtally").mkdir()
        driver = ask_anew(checks, folder, env, want)
        checks.equal([line[2] for line in kept(folder)], [want], "answers kept")
        checks.that(bool(re.fullmatch(NAME, driver or "")) == (want == "together"), f"told of {driver}")
        checks.equal(ask(checks, folder, env), driver, "the answer that was kept")
        checks.equal(len(kept(folder)), 1, "lines")
        if want in ("together", "apart"):
            check_passes(checks, folder, env, want == "together")
            text = h.run([h.need("passtally"), "doctor"], env).text
            checks.equal("shared-time" in text, want == "together", f"doctor's row: {text!r}")
            checks.that("Unheard-of" in text, f"doctor's driver: {text!r}")
        # Another driver's name says nothing about this one.
        for other in ("off", driver + ".1", "%s%n" * 1000) if driver else ():
            check_passes(checks, folder, env, False, "--shared-time", other)


def check_kept(checks):
    """An answer is stored by environment and by the driver's name, which includes its version."""
    with h.scratch() as folder, checks.part("answers kept"):
        env = liar_env(folder, "opengl", "renamed=1")
        (folder / "cache" / "passtally").mkdir()
        name = ask_anew(checks, folder, env, "together")
        (line,) = kept(folder)
        checks.equal(line[3], name, "driver")
        keep(folder, [line[:2] + ["apart"] + line[3:]])
        checks.equal(ask(checks, folder, env), None, "the same environment is not asked again")
        apart = [line[0], "1000", "apart", name]
        other = {**env, "MESA_NEVER_READ": "1"}
        checks.equal(ask_until(checks, folder, other, [apart], lambda now: now[0][2] == "apart"), None,
                     "nor the same driver in another")
        checks.equal([x[2] for x in kept(folder)], ["apart", "apart"], "answers kept")
        checks.equal(len({x[0] for x in kept(folder)}), 2, "environments")
        checks.equal(ask_until(checks, folder, env, [apart], lambda now: now[0][3] == name), None,
                     "another day the driver's name is enough")
        checks.that(int(kept(folder)[0][1]) > 1000 and len(kept(folder)) == 1, f"renewed: {kept(folder)}")
        old = apart[:3] + ["Mesa/X.org Unheard-of Mesa 0.1"]
        found = ask_until(checks, folder, env, [old], lambda now: now[0][2] == "together")
        checks.equal(found, name, "another version is another driver")
        future = [[line[0], "9999999999999", "apart", "x"]]
        many = [[f"{i:064}", "1", "apart", "x"] for i in range(100)]
        # The last one is a line of passtally 0.1.
        for junk in ("", "\n", "\udcff\0 1\n", f"[{line[0]}]\n", future, many, " ".join(line) + "\n"):
            ask_until(checks, folder, env, junk, lambda now: now[0][3] == name)
            checks.equal(kept(folder)[0][3], name, f"after {junk[:2]}")
            checks.that(len(kept(folder)) <= 64, f"{len(kept(folder))} environments")


def check_passes(checks, folder, env, shared, *options):
    log = folder / "log.jsonl"
    argv = [h.need("passtally"), "run", "--quiet", "--force", "--frame", "finish", "--split", "group", "--sources", "gl-timestamp",
            "--log", log, *options, "--", h.need("split_scene"), "group", "--frames", "4"]
    got = h.run(argv, env)
    checks.equal(got.status, 0, f"exit status ({got.errors[-300:]!r})")
    h.validate(checks, log)
    passes = [p for f in h.Log(log).frames for p in f["passes"]]
    checks.equal(len(passes), 8, "passes")
    for p in passes:
        checks.equal("shared_time" in p.get("flags", []), shared, f"pass {p['index']} {options}: flagged")
        checks.equal("gpu_ns" in p, not shared, f"pass {p['index']} {options}: has a time")


def check_absent(checks):
    with h.scratch() as folder, checks.part("no driver"):
        env = h.base_env(folder, {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere.json"})
        for _ in range(2):
            checks.equal(ask(checks, folder, env), None, "told of a driver")
            checks.equal([line[2:] for line in kept(folder)], [["unknown", ""]], "answers kept")


def main():
    checks = h.Checks()
    for told, want in DRIVERS:
        check_driver(checks, told, want)
    check_kept(checks)
    check_absent(checks)
    checks.finish()


if __name__ == "__main__":
    main()
