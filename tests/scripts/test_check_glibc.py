# SPDX-License-Identifier: MIT
"""scripts/check_glibc.py: libraries that need a later C library, or another library, are found and named.

    test_check_glibc.py COMPILER...
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CC = sys.argv[1:]


class CheckGlibc(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def build(self, name, text, *options):
        source = self.folder / f"{name}.c"
        source.write_text(text, encoding="ascii")
        subprocess.run([*CC, str(source), "-o", str(self.folder / name), *options], check=True)
        return self.folder / name

    def check(self, path, *options):
        return subprocess.run([sys.executable, str(ROOT / "scripts/check_glibc.py"), *options, str(path)],
                              capture_output=True, text=True, check=False)

    def test_symbols(self):
        program = self.build("a", "#include <stdio.h>\nint main(void) { return puts(\"x\"); }\n")
        done = self.check(program, "--most", "9.0", "--only-libc")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r": glibc 2\.\d+")
        done = self.check(program, "--most", "1.0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("puts", done.stderr)
        self.assertEqual(self.check(self.folder / "a.c", "--most", "9.0").returncode, 1)

    def test_other_library(self):
        library = self.build("libother.so", "int other(void) { return 1; }\n", "-shared", "-fPIC",
                             "-Wl,-soname,libother.so.1")
        program = self.build("b", "int other(void);\nint main(void) { return other(); }\n", str(library))
        done = self.check(program, "--most", "9.0", "--only-libc")
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs libother.so.1", done.stderr)
        self.assertEqual(self.check(program, "--most", "9.0").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
