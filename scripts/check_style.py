#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail where C code exceeds the hard limits of the project's style; the formatter takes care of the rest.

    scripts/check_style.py [--root FOLDER] [--add-licence]

No function over 100 lines, no line over 100 columns (tabs are 8), no blanks at a line's end, no
spaces for indentation, no unfinished marks (TODO, FIXME, XXX), and every header opens with a comment of at
least three lines. In cli/ only the writers of text, JSON and CSV call the C library's output functions, except for
literals. A path of a project file, in code or documents, must exist. Only query/quirks.c recognises
a driver by its name. No Python function takes the name of an earlier one, which would be lost. Source files of any
language state their licence in the first line, after "#!": --add-licence writes it where it is missing. Prints one
"file:line: what is wrong" a finding. Exit status: 0 nothing found, 1 findings, 2 no source files.
"""

import argparse
import ast
import os
import pathlib
import re
import sys

FOLDERS = ("layer", "query", "json", "gl_shim", "vk_layer", "cli", "scenes", "tests")
MAX_COLUMNS = 100
MAX_FUNCTION = 100
# The command's output goes through one function for people and one for programs, which escape it. Perfetto's
# packets and zstd's frames are bytes.
WRITERS = ("cli/shared/text.c", "cli/shared/text.h", "cli/shared/cli.c", "cli/shared/out.c", "cli/shared/pager.c",
           "cli/export/trace.c", "cli/log/compress.c")
OUTPUT = re.compile(r"(?<![\w>.])(?:v?f?printf|fputs|puts|fputc|putc|putchar|fwrite|g_print|g_printerr|perror|psignal)"
                    r"\((?![\"'])")
# A project file by its path from the root, in comments and documents.
OUR_FILE = re.compile(r"(?<![\w./-])((?:" + "|".join(FOLDERS) + r"|scripts|data|docs|man)/(?:[\w.-]+/)*\w[\w-]*"
                      r"\.(?:c|h|py|cjs|sql|rules|fields|md|txt|js|conf))\b")
MADE = ("json/pow10.h", "tests/unit/query/test_NAME.c")  # made by the build; an example
LICENCE = "SPDX-License-Identifier: MIT"
# How a comment is written, by the end of a file's name; a script without one says "#!".
COMMENTS = {"/* %s */": (".c", ".h", ".S", ".js", ".cjs", ".css", ".map"),
            "// %s": (".vert", ".frag", ".comp"), "-- %s": (".sql",),
            "# %s": (".py", ".build", ".rules", ".fields", "meson_options.txt", ".yml", ".spec")}
# Generated files, files that other projects maintain, or input for tests of generators.
NO_LICENCE = re.compile(r"(?:build[^/]*|\.(?!ci$)[^/]*|shared|.*__pycache__|tests/scripts/gen_\w+)$")
# A driver is recognised in one place.
QUIRKS = "query/quirks.c"
BY_NAME = re.compile(r"\b(?:strn?(?:case)?cmp|str(?:case)?str)\((?:[^;]*\W)?(?:driver|renderer|vendor)(?:_\w+)?\b[^;]*\"")
MARK = re.compile(r"\b(?:TODO|FIXME|XXX)\b")


def check_lines(lines):
    for number, line in enumerate(lines, 1):
        width = len(line.expandtabs(8))
        if width > MAX_COLUMNS:
            yield number, f"{width} columns, over {MAX_COLUMNS}"
        if line != line.rstrip():
            yield number, "blanks at the end"
        if re.match(r" {8}", line):
            yield number, "indented by spaces"
        if MARK.search(line):
            yield number, "an unfinished mark"


def check_functions(lines):
    """A function's braces are on separate lines, at the left edge."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            length = number - begin - 1
            if length > MAX_FUNCTION:
                yield begin, f"a function of {length} lines, over {MAX_FUNCTION}"
            begin = None


def check_header(text):
    text = text.removeprefix(f"/* {LICENCE} */\n")
    comment = re.match(r"/\*(.*?)\*/", text, re.DOTALL)
    if not comment or comment.group(1).count("\n") < 2:
        yield 1, "a header opens with a comment of at least three lines on what it is for"


def check_output(lines):
    for number, line in enumerate(lines, 1):
        if OUTPUT.search(line):
            yield number, "output past cli/shared/text.h and cli/shared/out.h"


def check_names(root, lines):
    for number, line in enumerate(lines, 1):
        for match in OUR_FILE.finditer(line):
            if match.group(1) not in MADE and not (root / match.group(1)).exists():
                yield number, f"names {match.group(1)}, which is not there"


def check_drivers(lines):
    for number, line in enumerate(lines, 1):
        if BY_NAME.search(line):
            yield number, f"a driver recognised by its name: a row of {QUIRKS}"


def check_twice(text):
    """A function or class whose name is taken again in the same scope is never called: a test of it never runs."""
    for scope in ast.walk(ast.parse(text)):
        first = {}
        for made in scope.body if isinstance(scope, (ast.Module, ast.ClassDef)) else ():
            if isinstance(made, (ast.FunctionDef, ast.ClassDef)):
                if made.name in first:
                    yield made.lineno, f"defines {made.name} again: that of line {first[made.name]} is lost"
                first[made.name] = made.lineno


def check_file(root, path, name):
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    yield from check_lines(lines)
    yield from check_functions(lines)
    yield from check_names(root, ["" if line.startswith("#include") else line for line in lines])
    if path.suffix == ".h":
        yield from check_header(text)
    if name.startswith(("gl_shim/", "vk_layer/", "query/")) and name != QUIRKS:
        yield from check_drivers(lines)
    if name.startswith("cli/") and name not in WRITERS:
        yield from check_output(lines)


def licence_head(path):
    """The licence line that a source file must have, None for other files."""
    for comment, ends in COMMENTS.items():
        if path.name.endswith(ends):
            return comment % LICENCE
    if not path.suffix or path.parent.name in ("debian", ".ci"):
        with path.open("rb") as file:
            return f"# {LICENCE}" if file.read(2) == b"#!" else None
    return None


def check_licences(root, add):
    for folder, folders, names in os.walk(root):
        below = pathlib.Path(folder).relative_to(root)
        folders[:] = [name for name in folders if not NO_LICENCE.match(str(below / name))]
        for path in (pathlib.Path(folder, name) for name in sorted(names)):
            head = None if path.is_symlink() or not path.is_file() else licence_head(path)
            if head is None:
                continue
            text = path.read_text(encoding="utf-8")
            first, _, rest = text.partition("\n") if text.startswith("#!") else ("", "", text)
            if rest.startswith(head + "\n"):
                continue
            if not add:
                yield path, f'begins without "{head}" (--add-licence)'
            else:
                path.write_text((first + "\n" if first else "") + head + "\n" + rest,
                                encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the source tree (default: this one)")
    parser.add_argument("--add-licence", action="store_true",
                        help="write the licence into source files that do not say it")
    args = parser.parse_args()
    root = args.root
    n_files = n_wrong = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            n_files += 1
            for line, wrong in check_file(root, path, str(path.relative_to(root))):
                n_wrong += 1
                print(f"{path.relative_to(root)}:{line}: {wrong}")
    for path in [*sorted(root.glob("*.md")), *sorted((root / "docs").glob("*.md"))]:
        for line, wrong in check_names(root, path.read_text(encoding="utf-8").split("\n")):
            n_wrong += 1
            print(f"{path.relative_to(root)}:{line}: {wrong}")
    for path in sorted(path for folder in (*FOLDERS, "scripts", "data") for path in (root / folder).rglob("*.py")):
        for line, wrong in check_twice(path.read_text(encoding="utf-8")):
            n_wrong += 1
            print(f"{path.relative_to(root)}:{line}: {wrong}")
    for path, wrong in check_licences(root, args.add_licence):
        n_wrong += 1
        print(f"{path.relative_to(root)}:1: {wrong}")
    if not n_files:
        print(f"check_style: no source files below {root}", file=sys.stderr)
        return 2
    print(f"check_style: {n_files} files, {n_wrong} findings")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
