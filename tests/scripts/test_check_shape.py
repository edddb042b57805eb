# SPDX-License-Identifier: MIT
"""scripts/check_shape.py must find what is planted, allow what is listed, and refuse a list that is too long."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_shape.py"


def function(name, body="", before=""):
    return f"{before}void\n{name}(void)\n{{\n{body}}}\n"


def branches(n):
    return "\tif (x)\n\t\tg();\n" * n


# Enough functions that one of high complexity is less than one in twenty.
PLAIN = "".join(function(f"plain{i}") for i in range(40))


def ring(*names):
    """A function in each file that names the next file's."""
    return {f"{name}.c": function(f"f_{name.replace('/', '_')}", f"\tf_{other.replace('/', '_')}();\n")
            for name, other in zip(names, names[1:] + names[:1])}


SHORT = "int x;\n"
LONG = "int " + "x" * 90 + ";\n"

# What is tried, the files, the exceptions, the findings (none: all is well).
CASES = [
    ("two files that call each other", ring("layer/a", "layer/b"), "", "a ring of 2 files: layer/a layer/b"),
    ("three in a ring", ring("layer/a", "layer/b", "cli/c"), "", "a ring of 3 files: cli/c layer/a layer/b"),
    ("a chain", {"layer/a.c": function("a", "\tb();\n"), "layer/b.c": function("b", "\tc();\n"),
                 "layer/c.c": function("c")}, "", ""),
    ("a pointer is a use, too", {**ring("layer/a", "layer/b", "layer/c"),
                                 "layer/a.c": function("f_layer_a", "\treturn f_layer_b;\n")}, "", "a ring of 3"),
    ("a name in a comment is none", {**ring("layer/a", "layer/b", "layer/c"),
                                     "layer/a.c": function("f_layer_a", '\t/* f_layer_b */ g("f_layer_b");\n')}, "", ""),
    ("a static function of the same name", {**ring("layer/a", "layer/b", "layer/c"), "layer/a.c":
                                            function("f_layer_b", before="static ") + function("f_layer_a", "\tf_layer_b();\n")},
     "", ""),
    ("a declaration is no call", {"layer/a.c": function("f_layer_a"), "layer/a.h": "void f_layer_c(void);\n",
                                  "layer/c.c": function("f_layer_c", "\tf_layer_a();\n")}, "", ""),
    ("an inline function's call is", {"layer/a.c": function("f_layer_a"),
                                      "layer/a.h": function("inl", "\tf_layer_c();\n", "static inline "),
                                      "layer/c.c": function("f_layer_c", "\tf_layer_a();\n")}, "", "a ring of 2"),
    ("rings of a test are its own", ring("tests/a", "tests/b", "tests/c"), "", ""),
    ("complexity at the limit", {"layer/a.c": function("a", branches(19)) + PLAIN}, "", ""),
    ("complexity over it", {"layer/a.c": function("a", branches(20)) + PLAIN}, "", "a: complexity 21"),
    ("each case, and, or, question is one", {"layer/a.c": function("a", "\tcase 1:\n\tx && y || z ? 1 : 2;\n" * 5)
                                             + PLAIN}, "", "a: complexity 21"),
    ("a comment's words and a text's are none", {"layer/a.c": function("a", '\t/* if */ g("if");\n' * 20)}, "", ""),
    ("of a macro, too, none", {"layer/a.c": "#define M \\\n\tif (x) \\\n" * 20 + "\n" + function("a")}, "", ""),
    ("in tests as well", {"tests/unit/a.c": function("a", branches(20))}, "", "a: complexity 21"),
    ("one of ten over ten", {"layer/a.c": "".join(function(f"f{i}", branches(10 if i == 0 else 0)) for i in range(10))},
     "", "complexity of 11"),
    ("three lines of a hundred", {"layer/a.c": SHORT * 97 + LONG * 3}, "", ""),
    ("four", {"layer/a.c": SHORT * 96 + LONG * 4}, "", "4.00 % of the lines of code of the product"),
    ("of comments none", {"layer/a.c": SHORT * 96 + ("/* " + "x" * 90 + " */\n") * 4}, "", ""),
    ("of tests by themselves", {"tests/a.c": SHORT * 96 + LONG * 4}, "", "4.00 % of the lines of code of the tests"),
    ("a folder at its ceiling", {"cli/compare/a.c": SHORT * 4000}, "", ""),
    ("over it", {"cli/compare/a.c": SHORT * 3999, "cli/compare/a.h": SHORT * 2}, "", "cli/compare has 4001 lines"),
    ("a sixth room", {f"gl_shim/{name}/a.c": SHORT for name in "abcdef"}, "", "gl_shim has 6 folders"),
    ("six booleans", {"vk_layer/record/command.h": "struct c {\n\tbool a, b;\n" + "\tbool x; /* bool */\n" * 4 + "};\nbool f(int a);\n"}, "", ""),
    ("seven", {"vk_layer/record/command.h": "struct c {\n\tbool a, b;\n" + "\tbool x;\n" * 5 + "};\n"}, "", "command.h has 7 booleans"),
    ("a probe of the command's own", {"cli/machine/probe_gl.c": SHORT}, "", "cli/machine/probe_gl.c: a driver is asked by"),
    ("one in five without a header", {**{f"layer/a{i}.c": SHORT for i in range(49)}, **{f"layer/a{i}.h": SHORT for i in range(40)}}, "", ""),
    ("one more", {**{f"layer/a{i}.c": SHORT for i in range(49)}, **{f"layer/a{i}.h": SHORT for i in range(39)}}, "", "11 of 50 .c files"),
    ("fifty tests in a folder", {f"tests/unit/a{i}.c": SHORT for i in range(50)}, "", ""),
    ("one more", {f"tests/unit/a{i}.c": SHORT for i in range(51)}, "", "tests/unit has 51 .c files"),
    ("ten thresholds", {"cli/answer/bound.c": "".join(f"#define T{i} {i}\n" for i in range(10))}, "", ""),
    ("eleven", {"cli/answer/bound.c": "".join(f"#define T{i} {i}\n" for i in range(11))}, "", "decides by 11 numbers"),
    ("what is listed may stay", {"layer/a.c": SHORT * 96 + LONG * 4}, "wide product\n", ""),
    ("a ring, a room a line", ring("layer/a", "layer/b", "layer/c"), "ring layer/a\nring layer/b\nring layer/c\n", ""),
    ("one that joins it", ring("layer/a", "layer/b", "layer/c"), "ring layer/a\nring layer/b\n", "a ring of 3"),
    ("what is mended may not", {}, "# a comment\nwide product\n", "'wide product' is mended"),
]


def check(root, *options):
    return subprocess.run([sys.executable, SCRIPT, "--root", root, *options], capture_output=True, text=True,
                          check=False)


def plant(folder, files, exceptions):
    for name, text in {"layer/z.c": "", "scripts/shape_exceptions.txt": exceptions, **files}.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Shape(unittest.TestCase):
    def test_cases(self):
        for what, files, exceptions, want in CASES:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                plant(folder, files, exceptions)
                done = check(folder)
                self.assertEqual(done.returncode, 1 if want else 0, done.stdout + done.stderr)
                self.assertIn(want, done.stdout)

    def test_prune(self):
        with tempfile.TemporaryDirectory() as folder:
            plant(folder, {"layer/a.c": SHORT * 96 + LONG * 4}, "# why\nring layer/a\nwide product\n")
            self.assertEqual(check(folder).returncode, 1)
            self.assertEqual(check(folder, "--prune").returncode, 0)
            kept = pathlib.Path(folder, "scripts/shape_exceptions.txt").read_text(encoding="utf-8")
            self.assertEqual(kept, "# why\nwide product\n")

    def test_nothing_there(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check(folder).returncode, 2)

    def test_this_tree(self):
        done = check(ROOT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
