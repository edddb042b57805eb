#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail where the product's structure exceeds the project's limits: rings, complexity, wide lines.

    scripts/check_shape.py [--root FOLDER] [--prune] [--list]

A room is a .c file and the .h of its name. No ring of rooms in the graph of function uses; no
function's cyclomatic complexity over 20 (as pmccabe counts: each case, && and || is one); of a hundred functions
of the product 95 at most 10; of the lines of code of the product and of the tests at most 3 in a hundred wider
than 90 columns; at most eight tests of how the rows of a log are grouped; a folder of MAX_LINES at most that many
lines, one of MAX_FOLDERS at most that many folders; at most ten thresholds decide what limits the frames; at most six
booleans say what a command buffer does. At most 20 in a hundred .c files have no header of their name. In a folder of
the tests are at most 50 .c files. The command asks a driver by a program of scenes/, by no probe of its own. It uses regular expressions on formatted code, so nothing has to be installed.

Code that exceeded a limit when this check was introduced is listed in scripts/shape_exceptions.txt, which may only
shrink: anything else over a limit fails, and so does a line there for code that has been fixed. --prune removes
such lines; --list prints everything over a limit, listed or not. Exit status: 0 nothing found, 1 findings, 2 no
source files.
"""

import argparse
import collections
import pathlib
import re
import sys

PRODUCT = ("layer", "query", "json", "gl_shim", "vk_layer", "cli")
MAX_RING = 1
MAX_LINES = {"cli/compare": 4000, "cli/machine": 3300}  # of the files of a folder
MAX_FOLDERS = {"gl_shim": 5}
MAX_DEFINES = {"cli/answer/bound.c": 10}  # numbers that a verdict depends on
MAX_BOOLEANS = {"vk_layer/record/command.h": 6}
MAX_WITHOUT_HEADER = 20  # of a hundred .c files
FEW_FILES = 50  # below them that is not asked
MAX_TESTS = 50  # .c files of a folder of the tests
GONE = re.compile(r"cli/machine/(?:probe_|tiles_gl|no_)|vk_layer/record/again\.h$")
MAX_COMPLEXITY = 20
MAX_P95 = 10
WIDE = 90
MAX_WIDE_PERCENT = 3.0
ASKED_GROUPING = re.compile(r"\bby [!=]= &tally_by_")
MAX_ASKED_GROUPING = 8

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
BRANCH = re.compile(r"\b(?:if|for|while|case|TALLY_EACH|TALLY_EACH_OF)\b|&&|\|\||\?")
# The formatter puts a function's name at the left edge, after its type on a separate line.
DEFINITION = re.compile(r"^(?!__attribute__)([A-Za-z_]\w*)\([^;{}]*\)\s*\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"\b[A-Za-z_]\w*\b")


def strip(text):
    """Without comments and with emptied strings; lines stay where they are."""
    def blank(match):
        word = match.group(0)
        lines = "\n" * word.count("\n")
        return '""' if word[0] == '"' else "0" if word[0] == "'" else " " + lines
    return COMMENT_OR_TEXT.sub(blank, text)


def without_directives(text):
    """A macro's body belongs to no function; its lines may be continued."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", "", text, flags=re.MULTILINE | re.DOTALL)


class File:
    def __init__(self, root, path):
        raw = path.read_text(encoding="utf-8", errors="replace")
        self.name = str(path.relative_to(root))
        self.room = self.name.rsplit(".", 1)[0]
        stripped = strip(raw)
        self.code_lines = [
            line for line, code in zip(raw.split("\n"), stripped.split("\n")) if code.strip()]
        self.code = without_directives(stripped)
        self.lines = raw.count("\n")
        self.booleans = sum(members.count(",") + 1 for members in re.findall(r"^\t+bool ([^;({]*);", stripped, re.MULTILINE))
        self.defines = len(re.findall(r"^#define \w+ ", stripped, re.MULTILINE))
        self.functions = {}  # name -> (complexity, whether it is static)
        for match in DEFINITION.finditer(self.code):
            before = self.code[:match.start()].rstrip("\n").rsplit("\n", 1)[-1]
            complexity = 1 + len(BRANCH.findall(match.group(2)))
            self.functions[match.group(1)] = (complexity, re.search(r"\bstatic\b", before) is not None)

    def is_header(self):
        return self.name.endswith(".h")


def read(root, folders):
    return [File(root, path) for folder in folders for path in sorted((root / folder).rglob("*.[ch]"))]


def arrows(files):
    """room -> the rooms whose functions it uses."""
    owner = {}
    for file in files:
        for name, (_, is_static) in file.functions.items():
            if not is_static or file.is_header():
                owner[name] = file.room
    graph = collections.defaultdict(set)
    for file in files:
        # A header's declarations are not calls; its inline functions are.
        code = file.code
        if file.is_header():
            code = "\n".join(match.group(2) for match in DEFINITION.finditer(code))
        own = {name for name, (_, is_static) in file.functions.items() if is_static}
        for name in set(NAME.findall(code)) - own:
            if name in owner and owner[name] != file.room:
                graph[file.room].add(owner[name])
    return graph


def rings(graph):
    """Sets of more than MAX_RING rooms that reach each other (Tarjan, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for start in sorted(graph):
        if start in index:
            continue
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        work = [(start, iter(sorted(graph[start])))]
        while work:
            room, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[room] = min(low[room], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[room])
                if low[room] == index[room]:
                    at = stack.index(room)
                    if len(stack) - at > MAX_RING:
                        found.append(sorted(stack[at:]))
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
    return found


def wide_percent(files):
    lines = [line for file in files for line in file.code_lines]
    wide = sum(len(line.expandtabs(8)) > WIDE for line in lines)
    return 100.0 * wide / len(lines) if lines else 0.0


def findings(product, tests):
    """key -> what is wrong; the keys are those of scripts/shape_exceptions.txt."""
    found = {}
    for ring in rings(arrows(product)):
        for room in ring:
            found[f"ring {room}"] = f"a ring of {len(ring)} files: {' '.join(ring)}"
    for file in product + tests:
        for name, (complexity, _) in file.functions.items():
            if complexity > MAX_COMPLEXITY:
                found[f"complexity {file.name} {name}"] = \
                    f"{file.name}: {name}: complexity {complexity}, over {MAX_COMPLEXITY}"
    asked = sum(len(ASKED_GROUPING.findall(file.code)) for file in product if file.name.startswith("cli/"))
    if asked > MAX_ASKED_GROUPING:
        found["grouping"] = (f"cli: {asked} tests of which grouping it is, over {MAX_ASKED_GROUPING}: what a grouping does "
                             "belongs into cli/log/by_*.c, what others need to know into struct tally_grouping")
    all_of = sorted(complexity for file in product for complexity, _ in file.functions.values())
    p95 = all_of[len(all_of) * 95 // 100] if all_of else 0
    if p95 > MAX_P95:
        found["p95"] = f"of a hundred functions five have a complexity of {p95} and more, over {MAX_P95}"
    for folder, most in MAX_LINES.items():
        lines = sum(file.lines for file in product if file.name.startswith(folder + "/"))
        if lines > most:
            found[f"lines {folder}"] = f"{folder} has {lines} lines, over {most}: as much goes as comes"
    for folder, most in MAX_FOLDERS.items():
        inside = {file.name.split("/")[1] for file in product if file.name.startswith(folder + "/") and file.name.count("/") > 1}
        if len(inside) > most:
            found[f"folders {folder}"] = f"{folder} has {len(inside)} folders, over {most}"
    for file in product:
        if file.booleans > MAX_BOOLEANS.get(file.name, file.booleans):
            found[f"booleans {file.name}"] = f"{file.name} has {file.booleans} booleans, over {MAX_BOOLEANS[file.name]}: a plan is an enum"
        if GONE.match(file.name):
            found[f"gone {file.name}"] = f"{file.name}: a driver is asked by a program of scenes/, a pass goes by its plan"
    headers = {file.room for file in product if file.is_header()}
    sources = [file for file in product if not file.is_header()]
    without = sum(file.room not in headers for file in sources)
    if len(sources) >= FEW_FILES and 100 * without > MAX_WITHOUT_HEADER * len(sources):
        found["headers"] = f"{without} of {len(sources)} .c files have no header of their name, over {MAX_WITHOUT_HEADER} in a hundred"
    beside = collections.Counter(file.name.rpartition("/")[0] for file in tests if not file.is_header())
    for folder, n in beside.items():
        if n > MAX_TESTS:
            found[f"tests {folder}"] = f"{folder} has {n} .c files, over {MAX_TESTS}"
    for name, most in MAX_DEFINES.items():
        defines = sum(file.defines for file in product if file.name == name)
        if defines > most:
            found[f"defines {name}"] = f"{name} decides by {defines} numbers, over {most}"
    for word, files in (("product", product), ("tests", tests)):
        percent = wide_percent(files)
        if percent > MAX_WIDE_PERCENT:
            found[f"wide {word}"] = (f"{percent:.2f} % of the lines of code of the {word} are wider than {WIDE} "
                                     f"columns, over {MAX_WIDE_PERCENT:.0f} %")
    return found


def read_exceptions(path):
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#")]


def prune(path, found):
    kept = [line for line in path.read_text(encoding="utf-8").split("\n")
            if not line or line.startswith("#") or line in found]
    path.write_text("\n".join(kept), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the source tree (default: this one)")
    parser.add_argument("--prune", action="store_true", help="take what is mended out of the exceptions")
    parser.add_argument("--list", action="store_true", help="print all that is over a limit")
    args = parser.parse_args()
    product = read(args.root, PRODUCT)
    tests = read(args.root, ("tests",))
    if not product:
        print(f"check_shape: no source files below {args.root}", file=sys.stderr)
        return 2
    found = findings(product, tests)
    exceptions = args.root / "scripts" / "shape_exceptions.txt"
    if args.prune and exceptions.exists():
        prune(exceptions, found)
    allowed = read_exceptions(exceptions)
    if args.list:
        print("\n".join(sorted(set(found.values()))))
    wrong = [what for key, what in found.items() if key not in allowed]
    wrong += [f"scripts/shape_exceptions.txt: '{line}' is mended: take it out (--prune)"
              for line in allowed if line not in found]
    for what in sorted(set(wrong)):
        print(what)
    n_functions = sum(len(file.functions) for file in product)
    print(f"check_shape: {n_functions} functions of {len(product)} files, {len(set(wrong))} findings, "
          f"{len(allowed)} exceptions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
