"""scripts/run_tests.py must count what happened: a failure never becomes a pass."""

import contextlib
import io
import pathlib
import sys
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

# What the first run, and that of one test alone, end with: status and lines. Passed, failed; second tries.
TRIES = [
    ("all is well", (0, [line(LIVE, "OK")]), None, (1, 0), []),
    ("fails once", (1, [line(LIVE, "FAIL", "ok 1\nnot ok 2\n")]), (0, [line(LIVE, "OK", "ok 1\nok 2\n")]), (2, 0), [LIVE]),
    ("fails twice", (1, [line(LIVE, "FAIL")]), (1, [line(LIVE, "FAIL")]), (0, 1), []),
    ("is not found again", (1, [line(LIVE, "TIMEOUT")]), (1, []), (0, 1), []),
    ("no live test", (1, [line(UNIT, "FAIL"), line(LIVE, "OK")]), (0, [line(UNIT, "OK")]), (1, 1), []),
    ("meson failed besides", (2, [line(LIVE, "FAIL")]), (0, [line(LIVE, "OK")]), (1, 1), [LIVE]),
    ("nothing was run", (0, []), None, (0, 1), []),
]


class SecondTries(unittest.TestCase):
    def count(self, first, second, second_tries):
        runs = [first] + ([second] if second else [])
        silence = io.StringIO()
        with unittest.mock.patch.object(run_tests, "meson_test", side_effect=runs), \
                contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            got = run_tests.test(STAGE, 2, {}, second_tries)
        return got.passed, got.failed

    def test_tries(self):
        for what, first, second, want, told in TRIES:
            with self.subTest(what):
                names = []
                self.assertEqual(self.count(first, second, names), want)
                self.assertEqual(names, [f"gcc: {name}" for name in told])

    def test_without(self):
        self.assertEqual(self.count((1, [line(LIVE, "FAIL")]), (0, [line(LIVE, "OK")]), None), (0, 1))


if __name__ == "__main__":
    unittest.main()
