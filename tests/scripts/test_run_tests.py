"""scripts/run_tests.py must count what happened: a failure never becomes a pass."""

import pathlib
import sys
import unittest

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


if __name__ == "__main__":
    unittest.main()
