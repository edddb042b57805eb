# SPDX-License-Identifier: MIT
"""scripts/check_style.py must find what is planted and leave alone what is allowed."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_style.py"


def function(lines):
    return "static void\nf(void)\n{\n" + "\tg();\n" * lines + "}\n"


SPDX = "SPDX-License-Identifier: MIT"
HEADER = "/* layer/a.h - what it is for.\n *\n * Any thread.\n */\n"

CASES = [
    ("a function at the limit", "layer/a.c", function(100), ""),
    ("a function over it", "layer/a.c", "\n" + function(101), "layer/a.c:5: a function of 101 lines"),
    ("two short ones are not one long one", "layer/a.c", function(60) + function(60), ""),
    ("a table is no function", "layer/a.c", "static int t[] = {\n" + "\t1,\n" * 200 + "};\n", ""),
    ("a line at the limit", "layer/a.c", "/*" + "x" * 96 + "*/\n", ""),
    ("a line over it", "layer/a.c", "/*" + "x" * 97 + "*/\n", "layer/a.c:2: 101 columns"),
    ("a tab counts eight", "layer/a.c", "\t\t/*" + "x" * 81 + "*/\n", "101 columns"),
    ("blanks at the end", "layer/a.c", "int x; \n", "layer/a.c:2: blanks"),
    ("spaces for a tab", "layer/a.c", "void\nf(void)\n{\n        g();\n}\n", "layer/a.c:5: indented"),
    ("unfinished", "cli/a.c", "/* TO" "DO: think */\n", "an unfinished mark"),
    ("a header with a word on it", "layer/a.h", HEADER, ""),
    ("a header without", "layer/a.h", "#ifndef A_H\n#endif\n", "layer/a.h:1: a header opens"),
    ("a file of ours", "layer/a.c", "/* see layer/a.c */\n", ""),
    ("one that is gone", "layer/a.c", "\n/* see layer/b.h */\n", "layer/a.c:3: names layer/b.h"),
    ("in a document", "docs/a.md", "`cli/b.c`\n", "docs/a.md:1: names cli/b.c"),
    ("not ours", "layer/a.c", "/* linux/drivers/gpu/layer/b.h */\n", ""),
    ("a script without its licence", "scripts/a", "#!/bin/sh\ntrue\n", "scripts/a:1: begins without"),
    ("one with it", "scripts/a", f"#!/bin/sh\n# {SPDX}\ntrue\n", ""),
    ("a licence in the wrong place", "scripts/a.py", f"import sys\n# {SPDX}\n", "scripts/a.py:1: begins"),
    ("made by a generator", "tests/scripts/gen_a/golden/a.c", "int x;\n", ""),
    ("not a script", "debian/a", "usr/bin\n", ""),
    ("a driver by its name", "query/a.c", 'int x = driver && strstr(api->driver, "zink");\n', "query/a.c:2: a driver rec"),
    ("by its version", "gl_shim/a.c", 'int x = strstr(info->driver_version, "Mesa");\n', "gl_shim/a.c:2: a driver rec"),
    ("drivers that are equal", "query/a.c", "int x = strcmp(driver, a->driver);\n", ""),
    ("in its place", "query/quirks.c", 'int x = !strncmp(vendor, "Intel", 5);\n', ""),
    ("a test that hides another", "tests/a.py", f"# {SPDX}\nclass A:\n    def f(self): pass\n    def f(self): pass\n",
     "tests/a.py:4: defines f again: that of line 3 is lost"),
    ("one name in two classes", "tests/a.py", f"# {SPDX}\nclass A:\n    def f(self): pass\nclass B:\n    def f(self): pass\n", ""),
    ("tests count too", "tests/unit/a.c", function(101), "a function of 101"),
]


def check(root, *options):
    return subprocess.run([sys.executable, SCRIPT, "--root", root, *options], capture_output=True, text=True,
                          check=False)


class Style(unittest.TestCase):
    def test_cases(self):
        for what, name, text, want in CASES:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True)
                if path.suffix in (".c", ".h") and "golden" not in name:
                    text = f"/* {SPDX} */\n" + text
                path.write_text(text, encoding="utf-8")
                pathlib.Path(folder, "layer").mkdir(exist_ok=True)
                pathlib.Path(folder, "layer", "c.c").write_text(f"/* {SPDX} */\n", encoding="utf-8")
                done = check(folder)
                self.assertEqual(done.returncode, 1 if want else 0, done.stdout + done.stderr)
                self.assertIn(want, done.stdout)

    def test_added_once(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "layer", "a.py")
            script.parent.mkdir()
            pathlib.Path(folder, "layer", "c.c").write_text("int x;\n", encoding="utf-8")
            script.write_text("#!/usr/bin/env python3\nimport sys\n", encoding="utf-8")
            for _ in range(2):
                self.assertEqual(check(folder, "--add-licence").returncode, 0)
                self.assertEqual(script.read_text(encoding="utf-8"),
                                 f"#!/usr/bin/env python3\n# {SPDX}\nimport sys\n")

    def test_nothing_there(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check(folder).returncode, 2)

    def test_this_tree(self):
        done = check(ROOT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
