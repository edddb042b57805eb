# SPDX-License-Identifier: MIT
"""scripts/run_tests.py must count what happened: a failure never becomes a pass."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import run_tests  # noqa: E402  (found by the line above)

# A line of meson's log: result, stdout; passed, failed, skipped.
CASES = [
    ("a plain program", "OK", "", (1, 0, 0)),
    ("that fails", "FAIL", "", (0, 1, 0)),
    ("that hangs", "TIMEOUT", "", (0, 1, 0)),
    ("that skips", "SKIP", "no valgrind", (0, 0, 1)),
    ("that should fail and does not", "UNEXPECTEDPASS", "", (0, 1, 0)),
    ("points", "OK", "1..3\nok 1 /a\nok 2 /b\n# a note: not ok\nok 3 /c\n", (3, 0, 0)),
    ("a bad point", "FAIL", "1..2\nok 1 /a\nnot ok 2 /b\n", (1, 1, 0)),
    ("a skipped point", "OK", "1..2\nok 1 /a\nok 2 /b # SKIP no driver\n", (1, 0, 1)),
    ("dies after good points", "ERROR", "1..3\nok 1 /a\nok 2 /b\n", (2, 1, 0)),
    ("times out after good points", "TIMEOUT", "ok 1 /a\n", (1, 1, 0)),
    ("all skipped", "SKIP", "1..1\nok 1 /a # SKIP\n", (0, 0, 1)),
    ("a message that only looks alike", "OK", "okay then\nnot okay\n", (1, 0, 0)),
]


class Counting(unittest.TestCase):
    def test_cases(self):
        for what, result, stdout, want in CASES:
            with self.subTest(what):
                got = run_tests.count_points({"result": result, "stdout": stdout})
                self.assertEqual((got.passed, got.failed, got.skipped), want)

    def test_last_line(self):
        self.assertEqual(str(run_tests.Counts(3, 2, 1)), "3 passed, 2 failed, 1 skipped")


def line(name, result, stdout=""):
    return {"name": name, "result": result, "stdout": stdout}


LIVE, UNIT = "passtally:live+no-asan / live-scenes", "passtally:unit / frame"
STAGE = run_tests.Stage("gcc", "build", [], None)

# How the first run, and that of one test alone, end: status and lines. Passed, failed; second tries.
TRIES = [
    ("all is well", (0, [line(LIVE, "OK")]), None, (1, 0), []),
    ("fails once", (1, [line(LIVE, "FAIL", "ok 1\nnot ok 2\n")]), (0, [line(LIVE, "OK", "ok 1\nok 2\n")]), (2, 0), [LIVE]),
    ("fails twice", (1, [line(LIVE, "FAIL")]), (1, [line(LIVE, "FAIL")]), (0, 1), []),
    ("is not found again", (1, [line(LIVE, "TIMEOUT")]), (1, []), (0, 1), []),
    ("no live test", (1, [line(UNIT, "FAIL"), line(LIVE, "OK")]), (0, [line(UNIT, "OK")]), (1, 1), []),
    ("meson failed besides", (2, [line(LIVE, "FAIL")]), (0, [line(LIVE, "OK")]), (1, 1), [LIVE]),
    ("nothing was run", (0, []), None, (0, 1), []),
]


class Leftovers(unittest.TestCase):
    def test_folders(self):
        """Those that unit tests make are counted, others are not."""
        for names, failed in ((["vk_pictures-aB3xYz"], 1), (["passtally-aB3xYz", "vk_pictures-aB3", "log"], 0)):
            with tempfile.TemporaryDirectory() as folder, \
                    unittest.mock.patch.object(run_tests.tempfile, "gettempdir", return_value=folder), \
                    unittest.mock.patch.object(run_tests, "configure", return_value=True), \
                    unittest.mock.patch.object(run_tests, "run", return_value=0), \
                    unittest.mock.patch.object(run_tests, "IN_USE_S", 0), \
                    unittest.mock.patch.object(run_tests, "test") as test:
                pathlib.Path(folder, "fit-000000").mkdir()  # was there before
                test.side_effect = lambda *_, folder=folder, names=names: [pathlib.Path(folder, name).mkdir() for name in names] \
                    and run_tests.Counts(passed=5)
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
                    counts = run_tests.run_stage(STAGE, 2, [], None, [])
                self.assertEqual(counts.failed, failed)
                self.assertEqual("unit tests left vk_pictures-aB3xYz in" in said.getvalue(), bool(failed))


class SecondTries(unittest.TestCase):
    def count(self, first, second, second_tries):
        runs = [first] + ([second] if second else [])
        silence = io.StringIO()
        with unittest.mock.patch.object(run_tests, "meson_test", side_effect=runs), \
                contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            got = run_tests.test(STAGE, 2, {}, [], second_tries, [])
        return got.passed, got.failed

    def test_tries(self):
        for what, first, second, want, told in TRIES:
            with self.subTest(what):
                names = []
                self.assertEqual(self.count(first, second, names), want)
                self.assertEqual(names, [f"gcc: {name}" for name in told])

    def test_suites(self):
        """Tests of real programs are tried again, those of our functions never."""
        for suites, want in (("live+no-asan", True), ("torture", True), ("torture+no-asan", True), ("cli", True),
                             ("browser", True), ("unit", False), ("unit+threads", False), ("golden", False),
                             ("scripts", False), ("fuzz", False), ("bench", False)):
            name = f"passtally:{suites} / t"
            with self.subTest(name):
                names = []
                self.count((1, [line(name, "FAIL")]), (0, [line(name, "OK")]), names)
                self.assertEqual(names, [f"gcc: {name}"] if want else [])

    def test_without(self):
        self.assertEqual(self.count((1, [line(LIVE, "FAIL")]), (0, [line(LIVE, "OK")]), None), (0, 1))

    def test_budget(self):
        for names, want in (([], 0), (["one", "two"], 0), (["one", "two", "three"], 1)):
            with self.subTest(names), contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(run_tests.tell_second_tries(names), want)


class Times(unittest.TestCase):
    def shown(self, seconds, everything=False):
        times = [(float(i), f"gcc: t{i}") for i in range(30)]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run_tests.tell_times(times, seconds, unittest.mock.Mock(all=everything))
        return out.getvalue().splitlines()

    def test_slowest(self):
        lines = self.shown(700)
        self.assertEqual([line.split()[-1] for line in lines[:-1]], [f"t{i}" for i in range(29, 19, -1)])
        self.assertEqual(lines[-1], "in 700 s")

    def test_long(self):
        self.assertIn("over 12 minutes", self.shown(721)[-2])
        self.assertNotIn("over", self.shown(721, everything=True)[-2])


# Result, stdout, stderr of a test named t; the part that it left out.
SKIPPED = [
    ("a whole test", "SKIP", "skipped: Xvfb is not installed\n", "", ["Xvfb is not installed"]),
    ("in its own words", "SKIP", "no valgrind\n", "", ["no valgrind"]),
    ("without a word", "SKIP", "", "", ["no reason"]),
    ("a point", "OK", "1..2\nok 1 /a\nok 2 /b # SKIP no driver\n", "", ["no driver"]),
    ("a point without a word", "OK", "ok 2 /b # SKIP\n", "", ["no reason"]),
    ("a part", "OK", "ok - one\nnot checked: another user (needs root)\n", "", ["another user (needs root)"]),
    ("a layer", "OK", "skipped: MangoHud is not installed\nskipped: MangoHud is not installed\n", "",
     ["MangoHud is not installed"]),
    ("unittest's", "OK", "", "test_a (x.Y.test_a)\nOf it. ... skipped 'no EGL'\ntest_b ... ok\n", ["no EGL"]),
    ("unittest's with an apostrophe", "OK", "", 'test_a ... skipped "it\'s root"\n', ["it's root"]),
    ("what only speaks of it", "OK", "ok 1 frames skipped: none\n# 3 skipped\n", "", []),
    ("a failure's", "FAIL", "not checked: a\n", "", ["a"]),
]


class Skips(unittest.TestCase):
    def test_found(self):
        for what, result, stdout, stderr, want in SKIPPED:
            with self.subTest(what):
                entry = {"name": "passtally:live / t", "result": result, "stdout": stdout, "stderr": stderr}
                self.assertEqual(run_tests.skips_of(entry), [f"t: {reason}" for reason in want])

    def test_allowed(self):
        patterns = ["a: no *", "b: *", "c: set [1]"]
        for skip, want in (("a: no GPU", True), ("a: yes", False), ("b: ", True), ("bb: x", False), ("c: set [1]", True),
                           ("c: set 1", False)):
            with self.subTest(skip):
                self.assertEqual(run_tests.is_allowed(skip, patterns), want)

    def test_required(self):
        with contextlib.redirect_stdout(io.StringIO()) as told, \
                unittest.mock.patch.object(run_tests, "allowed_skips", return_value=["a: *"]):
            self.assertEqual(run_tests.tell_skips(["a: x", "b: y"], False), 0)
            self.assertEqual(run_tests.tell_skips(["a: x", "b: y"], True), 1)
            self.assertEqual(run_tests.tell_skips(["a: x"], True), 0)
        self.assertIn("skipped: a: x", told.getvalue())
        self.assertIn("not expected: b: y", told.getvalue())

    def test_list(self):
        """Each pattern of the tree's list names a test and has its reason above."""
        lines = run_tests.ALLOWED_SKIPS.read_text(encoding="utf-8").split("\n")
        for before, line in zip([""] + lines, lines):
            if line and not line.startswith("#"):
                self.assertRegex(line, r"^[\w-]+[*]?: .+", line)
                self.assertTrue(before, f"no reason above {line!r}")


if __name__ == "__main__":
    unittest.main()
