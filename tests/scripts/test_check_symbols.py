# SPDX-License-Identifier: MIT
"""scripts/check_symbols.py must find what is planted in small libraries made by the test."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_symbols.py"
CC = os.environ.get("CC", "cc").split()

GOOD = "int tally_x(void);\nint tally_x(void) { return 1; }\n"
LIST = "# made by hand\nneeds libc.so.*\nexports tally_x\n"

# What is compiled, with which arguments, against which list; what the checker reports ("" = nothing).
CASES = [
    ("clean", GOOD, [], LIST, [], ""),
    ("one export too many", GOOD + "int more(void);\nint more(void) { return 2; }\n", [], LIST, [],
     "exports more, which the list does not name"),
    ("one too few", "int y;\n", [], LIST, [], "does not export tally_x"),
    ("a variable counts", GOOD + "int more = 3;\n", [], LIST, [], "exports more"),
    ("a weak one counts", GOOD + "__attribute__((weak)) int more(void) { return 2; }\n", [], LIST, [],
     "exports more"),
    ("a library too many", GOOD + "double cos(double);\ndouble (*p)(double) = cos;\n",
     ["-Wl,--no-as-needed", "-lm"], LIST + "exports p\n", [], "needs libm.so.6"),
    ("GL undefined", GOOD + "void glClear(unsigned);\nvoid tally_y(void);\nvoid tally_y(void) { glClear(1); }\n",
     [], LIST + "exports tally_y\n", [], "leaves glClear undefined"),
    ("EGL undefined", GOOD + "int eglGetError(void);\nint (*p)(void) = eglGetError;\n", [],
     LIST + "exports p\n", [], "leaves eglGetError undefined"),
    ("glob is no GL", GOOD + "int global_thing(void);\nint (*p)(void) = global_thing;\n", [],
     LIST + "exports p\n", [], ""),
    ("RUNPATH missing", GOOD, [], LIST, ["--runpath", "$ORIGIN"], "has the RUNPATH nothing"),
    ("RUNPATH wrong", GOOD, ["-Wl,-rpath,/tmp"], LIST, ["--runpath", "$ORIGIN"], "not $ORIGIN"),
    ("RUNPATH right", GOOD, ["-Wl,-rpath,$ORIGIN"], LIST, ["--runpath", "$ORIGIN"], ""),
    ("executable stack", GOOD, ["-Wl,-z,execstack"], LIST, [], "writable and executable"),
]

# A statement, the object's name, and the report about it.
CALLS = [
    ("prints", "#include <stdio.h>\n", 'printf("%d", x);', "layer_x.c.o", "calls printf()"),
    ("prints, made puts", "#include <stdio.h>\n", 'puts("x");', "layer_x.c.o", "calls puts()"),
    ("aborts", "#include <stdlib.h>\n", "if (x) abort();", "layer_x.c.o", "calls abort()"),
    ("reads the environment", "#include <stdlib.h>\n", 'x = !!getenv("X");', "layer_x.c.o", "calls getenv()"),
    ("where it may", "#include <stdlib.h>\n", 'x = !!getenv("X");', "layer_config_load.c.o", ""),
    ("copies unbounded", "#include <string.h>\n", "strcpy(big, small);", "layer_x.c.o", "calls strcpy()"),
    ("sleeps", "#include <unistd.h>\n", "sleep(1);", "layer_x.c.o", "calls sleep()"),
    ("formats bounded", "#include <stdio.h>\n", 'snprintf(big, 9, "%d", x);', "layer_x.c.o", ""),
]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def compile_c(text, output, *arguments):
    source = pathlib.Path(str(output) + ".src.c")
    source.write_text(text, encoding="utf-8")
    done = run(*CC, "-O1", "-fPIC", "-fno-builtin", str(source), "-o", str(output), *arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


@unittest.skipUnless(shutil.which(CC[0]) and shutil.which("readelf"), "no compiler or no binutils")
class Symbols(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.list = self.folder / "list.txt"
        self.library = self.folder / "libx.so"

    def check(self, *more):
        return run(sys.executable, str(SCRIPT), str(self.library), "--list", str(self.list), *more)

    def test_cases(self):
        for what, text, link, contract, options, want in CASES:
            with self.subTest(what):
                compile_c(text, self.library, "-shared", *link)
                self.list.write_text(contract, encoding="utf-8")
                done = self.check(*options)
                self.assertEqual(done.returncode, 1 if want else 0, done.stdout + done.stderr)
                self.assertIn(want, done.stdout)

    def test_calls(self):
        compile_c(GOOD, self.library, "-shared")
        self.list.write_text(LIST, encoding="utf-8")
        for what, head, body, name, want in CALLS:
            with self.subTest(what):
                objects = self.folder / "objects"
                shutil.rmtree(objects, ignore_errors=True)
                objects.mkdir()
                compile_c(head + "char big[99], small[9];\nint x;\nvoid f(void);\nvoid f(void) { " + body + " }\n",
                          objects / name, "-c")
                done = self.check("--objects", str(objects))
                self.assertEqual(done.returncode, 1 if want else 0, done.stdout + done.stderr)
                self.assertIn(want, done.stdout)

    def test_users(self):
        compile_c(GOOD, self.library, "-shared")
        self.list.write_text(LIST, encoding="utf-8")
        (self.folder / "users").mkdir()
        for name, want in (("tally_other", "exports tally_x, which nobody uses"), ("tally_x", "")):
            with self.subTest(name):
                compile_c(f"int {name}(void);\nint f(void);\nint f(void) {{ return {name}(); }}\n",
                          self.folder / "users" / "a.o", "-c")
                done = self.check("--users", str(self.folder / "users"))
                self.assertEqual(done.returncode, 1 if want else 0, done.stdout + done.stderr)
                self.assertIn(want, done.stdout)

    def test_no_verdict(self):
        compile_c(GOOD, self.library, "-shared")
        self.assertEqual(self.check().returncode, 2, "no list")
        self.list.write_text("exports\n", encoding="utf-8")
        self.assertEqual(self.check().returncode, 2, "a bad line")
        self.list.write_text(LIST, encoding="utf-8")
        self.assertEqual(self.check("--objects", str(self.folder / "none")).returncode, 2, "no objects")
        self.library.write_text("no library", encoding="utf-8")
        self.assertEqual(self.check().returncode, 2, "no library")

    def test_update(self):
        compile_c(GOOD, self.library, "-shared")
        self.assertEqual(self.check("--update").returncode, 0)
        self.assertEqual(self.check().returncode, 0)
        self.assertIn("exports tally_x\n", self.list.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
