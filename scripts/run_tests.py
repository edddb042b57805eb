# SPDX-License-Identifier: MIT
"""Configure, build and test passtally, and count the results.

Called by scripts/test. Each stage is one build folder: gcc (build/), AddressSanitizer with
UndefinedBehaviorSanitizer (build-asan/), ThreadSanitizer (build-tsan/), clang (build-clang/, which
is only compiled). Results come from meson's own test log; a test program that speaks TAP counts
once a test point, any other counts once.
"""

import argparse
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOOD = {"OK", "EXPECTEDFAIL"}
TAIL_LINES = 80
# Tests of real drivers and programs, which share the cores with everything that runs at the same time.
TRIED_AGAIN = {"live", "torture", "cli", "browser"}
SECOND_TRIES = 2  # per run: if there are more, something is broken that only shows occasionally
IN_USE_S = 10  # a unit test that makes a temporary folder does not take longer
SLOWEST = 10  # how many tests are listed with their time
LONG_S = 12 * 60  # a run of the usual stages that takes longer on a quiet machine says so
ALLOWED_SKIPS = ROOT / "tests" / "allowed_skips.txt"


@dataclasses.dataclass
class Stage:
    """One build folder and what is run in it."""

    name: str
    folder: str
    options: list
    suites: list  # empty: compile only; None: every suite
    skip_suites: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=dict)
    timeout_multiplier: int = 1
    build_all: bool = True  # False: build only what the chosen tests need
    targets: list = dataclasses.field(default_factory=list)  # what is built; empty: everything
    waiting: int = 0  # how many more tests run in parallel, as some of them mostly wait


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def supp(kind):
    """The sanitizer's suppression file as an option, where the tests have one."""
    path = ROOT / "tests" / f"{kind}.supp"
    return f":suppressions={path}" if path.exists() else ""


def stages(args):
    strict = ["-Dwerror=true"] if args.werror else ["-Dwerror=false"]
    strict.append("-Dtests=enabled")
    # A sanitized shared library may leave the sanitizer's own symbols open.
    sanitized = strict + ["-Db_lundef=false", "-Db_ndebug=false"]
    # Running all of `live` and `cli` sanitized finds nothing that the unit tests, the scenes, torture and fuzz do
    # not find: that is for --all.
    thorough = args.all or args.sanitize
    address = Stage(
        "address and undefined behaviour", "build-asan",
        sanitized + ["-Db_sanitize=address,undefined", "-Doptimization=1"],
        ["unit", "golden", "fuzz", "torture"] + (["live", "cli"] if thorough else ["asan"]), ["long", "no-asan"],
        {
            "ASAN_OPTIONS": "detect_stack_use_after_return=1:verify_asan_link_order=0"
                            ":halt_on_error=1:print_summary=1:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "LSAN_OPTIONS": "print_suppressions=0" + supp("lsan"),
        }, 4, build_all=bool(thorough))
    thread = Stage(
        "threads", "build-tsan", sanitized + ["-Db_sanitize=thread"],
        ["threads"], ["long", "no-tsan"],
        # Tests fork threaded processes on purpose.
        {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:die_after_fork=0:allocator_may_return_null=1"
                         + supp("tsan")}, 8, build_all=False)
    if args.sanitize:
        return [{"address": address, "thread": thread}[args.sanitize]]
    # What the address stage runs it runs for both sanitizers.
    gcc = Stage("gcc", "build", strict, None, [] if args.all else ["long", "asan"], waiting=1)
    if args.quick:
        gcc.suites = ["unit", "golden"]
        return [gcc]
    # For its warnings, which need no optimizer.
    clang = Stage("clang, compiled only", "build-clang",
                  strict + ["-Doptimization=0", "-Ddebug=false"], [], env={"CC": "clang"},
                  targets=[] if args.all else ["programs"])
    return [gcc, address, thread, clang]


def run(command, env=None):
    print("+ " + " ".join(str(c) for c in command), flush=True)
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def configure(stage, env):
    folder = ROOT / stage.folder
    if (folder / "build.ninja").exists():
        # Not `meson configure`: only this finds test files that were added since.
        if run(["meson", "setup", "--reconfigure", stage.folder, *stage.options], env) == 0:
            return True
        # A folder of another meson version or of moved sources: start over.
        shutil.rmtree(folder)
    return run(["meson", "setup", stage.folder, *stage.options], env) == 0


TAP_POINT = re.compile(r"^(ok|not ok)\b[^#\n]*(#\s*(?:skip|todo)\b)?", re.IGNORECASE | re.MULTILINE)


def count_points(entry):
    """Counts of one line of meson's test log."""
    result = entry["result"]
    points = TAP_POINT.findall(entry.get("stdout") or "")
    if not points:
        if result == "SKIP":
            return Counts(skipped=1)
        return Counts(passed=1) if result in GOOD else Counts(failed=1)
    counts = Counts()
    for word, directive in points:
        if "skip" in directive.lower():
            counts.skipped += 1
        elif word.lower() == "ok":
            counts.passed += 1
        else:
            counts.failed += 1
    # A program that died after its last good point has still failed.
    if result not in GOOD and result != "SKIP" and not counts.failed:
        counts.failed += 1
    return counts


# What was left out of a test that continued: the messages of our own programs, GLib's TAP, and unittest's with -v.
PASSED_LINE = re.compile(r"^ok \d|\.\.\. ok$")  # one of those that make the failure hard to find
SKIPS = re.compile(r"^#? ?(?:skipped|not checked): (.+)$|^ok\b.*?#\s*skip\b *(.*)$|\.\.\. skipped (['\"])(.*)\3$",
                   re.IGNORECASE | re.MULTILINE)


def skips_of(entry):
    """What a test, or a part of it, did not do, each as "NAME: reason"."""
    name = entry["name"].rpartition(" / ")[2]
    text = (entry.get("stdout") or "") + "\n" + (entry.get("stderr") or "")
    reasons = [match[1] or match[2] or match[4] or "no reason" for match in SKIPS.finditer(text)]
    if entry["result"] == "SKIP" and not reasons:
        reasons = [" ".join((entry.get("stdout") or "no reason").split())]
    return [f"{name}: {' '.join(reason.split())}" for reason in dict.fromkeys(reasons)]


def allowed_skips(path):
    """Patterns, one per line; a line that begins with # gives the reason."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def is_allowed(skip, patterns):
    # Brackets do not mean sets of characters here.
    return any(fnmatch.fnmatchcase(skip, pattern.replace("[", "[[]")) for pattern in patterns)


def show(entry):
    print(f"\n---- {entry['name']}: {entry['result']} (status {entry.get('returncode')}) ----")
    print("$ " + " ".join(str(c) for c in entry.get("command", [])))
    for stream in ("stdout", "stderr"):
        text = (entry.get(stream) or "").rstrip()
        if not text:
            continue
        lines = [line for line in text.split("\n") if not PASSED_LINE.search(line)]
        left_out = len(lines) - TAIL_LINES
        print(f"-- {stream}" + (f" (last {TAIL_LINES} of {len(lines)} lines)" if left_out > 0 else ""))
        print("\n".join(lines[-TAIL_LINES:]))
    sys.stdout.flush()


def read_log(folder):
    """Meson's test log; a suite that selects no test writes none."""
    path = ROOT / folder / "meson-logs" / "testlog.json"
    if not path.exists():
        return []
    with open(path, encoding="utf-8", errors="replace") as log:
        return [json.loads(line) for line in log if line.strip()]


def meson_test(stage, jobs, env, *chosen):
    """The status, and an entry of the log for each test."""
    log = ROOT / stage.folder / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    command = ["meson", "test", "-C", stage.folder, "--num-processes", str(jobs),
               "--timeout-multiplier", str(stage.timeout_multiplier), *chosen]
    if stage.build_all:  # otherwise meson builds what the tests need, and fails where that fails
        command.append("--no-rebuild")
    return run(command, env), read_log(stage.folder)


def test_again(stage, env, entry):
    """A test of TRIED_AGAIN failed while others ran: does it fail alone? Its counts, or None."""
    suites, _, name = entry["name"].rpartition(" / ")
    if not TRIED_AGAIN & set(re.split("[:+]", suites)):
        return None
    _, entries = meson_test(stage, 1, env, name)
    counts = Counts()
    for one in entries:
        counts.add(count_points(one))
    return None if counts.failed or not entries else counts


def unit_folders():
    """Temporary folders as the unit tests name theirs: each is to be gone when its test ends."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "unit").rglob("*.[ch]"))
    names = {re.escape(name) for name in re.findall(r'"([\w-]+-)XXXXXX"', sources)}
    mine = re.compile(f"(?:{'|'.join(sorted(names))})[A-Za-z0-9]{{6}}")
    return {name for name in os.listdir(tempfile.gettempdir()) if mine.fullmatch(name)}


def test(stage, jobs, env, skips, second_tries, times):
    """`skips`: receives what was left out. `second_tries`: what passed only the second time, or None: not
    allowed. `times`: receives how long each test took."""
    chosen = []
    for suite in stage.suites or []:
        chosen += ["--suite", suite]
    for suite in stage.skip_suites:
        chosen += ["--no-suite", suite]
    status, entries = meson_test(stage, jobs + stage.waiting, env, *chosen)
    counts = Counts()
    for entry in entries:
        one = count_points(entry)
        times.append((entry.get("duration") or 0, f"{stage.name}: {entry['name'].rpartition(' / ')[2]}"))
        if one.failed:
            show(entry)
            again = test_again(stage, env, entry) if second_tries is not None else None
            if again:
                second_tries.append(f"{stage.name}: {entry['name']}")
                one, status = again, status - 1  # meson's status counts the tests that failed
        skips += [skip for skip in skips_of(entry) if skip not in skips]
        counts.add(one)
    if not entries:
        print(f"{stage.name}: no test was run", file=sys.stderr)
        counts.failed += 1
    elif status != 0 and counts.failed == 0:
        print(f"{stage.name}: meson test failed with status {status}", file=sys.stderr)
        counts.failed += 1
    return counts


def run_stage(stage, jobs, skips, second_tries, times):
    """Counts of the stage; its build counts as one test."""
    print(f"\n==== {stage.name} ({stage.folder}/) ====", flush=True)
    env = dict(os.environ, **stage.env)
    if env.get("CC") and shutil.which(env["CC"].split()[0]) is None:
        skips.append(f"{stage.name}: {env['CC']} is not installed")
        return Counts(skipped=1)
    build = ["ninja", "-C", stage.folder, "-j", str(jobs), *stage.targets]
    if not configure(stage, env) or (stage.build_all and run(build, env) != 0):
        print(f"{stage.name}: the build failed, see above", file=sys.stderr)
        return Counts(failed=1)
    counts = Counts(passed=1)
    if stage.suites != []:
        before = unit_folders()
        counts.add(test(stage, jobs, env, skips, second_tries, times))
        left = unit_folders() - before
        if left:  # some may be of another checkout's tests, which run now
            time.sleep(IN_USE_S)
            left &= unit_folders()
        counts.add(Counts(failed=1) if left else Counts(passed=1))
        if left:
            print(f"{stage.name}: unit tests left {', '.join(sorted(left))} in {tempfile.gettempdir()}", file=sys.stderr)
    return counts


def tell_skips(skips, require):
    """Lists all of them; returns how many were not expected."""
    patterns = allowed_skips(ALLOWED_SKIPS)
    unexpected = [skip for skip in skips if not is_allowed(skip, patterns)]
    for skip in skips:
        print(("skipped, which was not expected: " if skip in unexpected else "skipped: ") + skip)
    if require and unexpected:
        print(f"{len(unexpected)} skips that {ALLOWED_SKIPS.relative_to(ROOT)} does not allow: install what they "
              "ask for (scripts/deps), or list them with the reason")
        return len(unexpected)
    return 0


def tell_second_tries(names):
    """Lists all of them; returns 1 when there are too many."""
    for name in names:
        print(f"passed only at the second try, by itself: {name}")
    if len(names) <= SECOND_TRIES:
        return 0
    print(f"{len(names)} tests passed only at the second try, and {SECOND_TRIES} may")
    return 1


def tell_times(times, seconds, args):
    """The slowest tests, and whether the whole took longer than it should."""
    for duration, name in sorted(times, reverse=True)[:SLOWEST]:
        print(f"{duration:6.1f} s  {name}")
    if seconds > LONG_S and not args.all:
        print(f"over {LONG_S // 60} minutes: on a quiet machine of two cores this is too long; the slowest are above")
    print(f"in {seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/test", description="Build passtally and run its tests.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quick", action="store_true", help="unit and golden tests only (2 minutes)")
    what.add_argument("--all", action="store_true", help="also what takes long, and more of it sanitized")
    what.add_argument("--sanitize", choices=("address", "thread"),
                      help="only the build with this sanitizer (address: with undefined behaviour)")
    parser.add_argument("--werror", action="store_true", help="compiler warnings fail the build")
    parser.add_argument("--second-try", action="store_true",
                        help=f"run a test of real programs that fails once more by itself, and say so; more than {SECOND_TRIES} "
                             "of them in a run fail it")
    parser.add_argument("--require", action="store_true",
                        help=f"fail on a skip that {ALLOWED_SKIPS.relative_to(ROOT)} does not allow")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="processes at a time (default: one a processor; of tests that wait one more)")
    args = parser.parse_args()
    for tool in ("meson", "ninja"):
        if shutil.which(tool) is None:
            print(f"scripts/test: {tool} is not installed: run scripts/deps", file=sys.stderr)
            print(Counts(failed=1))
            return 1
    began = time.monotonic()
    total = Counts()
    lines = []
    skips = []
    times = []
    second_tries = [] if args.second_try else None
    for stage in stages(args):
        stage_began = time.monotonic()
        counts = run_stage(stage, args.jobs, skips, second_tries, times)
        lines.append(f"{stage.name}: {counts} ({time.monotonic() - stage_began:.0f} s)")
        total.add(counts)
    print("\n" + "\n".join(lines))
    total.failed += tell_skips(skips, args.require) + tell_second_tries(second_tries or [])
    tell_times(times, time.monotonic() - began, args)
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
