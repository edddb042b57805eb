#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail where the documents are too long, or do not show the tree as it is.

    scripts/check_docs.py [--root FOLDER]

The documents together (docs/*.md, README.md, CONTRIBUTING.md) have at most MAX_WORDS words: what is written around
blanks and has a letter or a digit. Those of MAX_LINES have at most so many lines, README.md has a row for each folder, tests/README.md for each
of the tests, and the picture in docs/design.md names each folder of the code, down to the second level. Prints one line a finding. Exit status: 0 nothing
found, 1 findings.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_WORDS = 32000
MAX_LINES = {"README.md": 150, "CHANGELOG.md": 30, "docs/compare.md": 150}
PICTURED = ("gl_shim", "vk_layer", "layer", "query", "json", "cli")
NO_FOLDER = re.compile(r"build|\.|__pycache__$")  # made, or not ours


def folders(path):
    """The names of the folders in a folder."""
    return sorted(p.name for p in path.iterdir() if p.is_dir() and not p.is_symlink() and not NO_FOLDER.match(p.name))


def count_words(root):
    pages = [*sorted((root / "docs").glob("*.md")), root / "README.md", root / "CONTRIBUTING.md"]
    return sum(bool(re.search(r"\w", word)) for page in pages for word in page.read_text(encoding="utf-8").split())


def check(root):
    words = count_words(root)
    if words > MAX_WORDS:
        yield f"the documents have {words} words, over {MAX_WORDS}: leave out what a reader does not need to decide or do"
    for name, most in MAX_LINES.items():
        lines = (root / name).read_text(encoding="utf-8").count("\n")
        if lines > most:
            yield f"{name} has {lines} lines, over {most}"
    table = (root / "README.md").read_text(encoding="utf-8")
    for name in folders(root):
        if name != "shared" and f"| `{name}/` |" not in table:
            yield f"README.md has no row for {name}/"
    table = (root / "tests" / "README.md").read_text(encoding="utf-8")
    yield from (f"tests/README.md has no row for {name}/" for name in folders(root / "tests") if f"`{name}/`" not in table)
    # One level is four columns: "    ├─ frame/", "         ├─ record/"; several names may share a line.
    picture = re.search(r"```\n(.*?)```", (root / "docs" / "design.md").read_text(encoding="utf-8"), re.DOTALL).group(1)
    shown = {}
    top = ""
    for line in picture.split("\n"):
        names = re.match(r"[ │├└─]*((?:[a-z_0-9]+/ *)+)", line)
        for name in names.group(1).split() if names else ():
            name = name.rstrip("/")
            if name in PICTURED:
                top = name
                shown.setdefault(top, set())
            else:
                shown.setdefault(top, set()).add(name)
    for name in PICTURED:
        there = set(folders(root / name)) if (root / name).is_dir() else set()
        yield from (f"docs/design.md: the picture does not show {name}/{folder}/" for folder in sorted(there - shown.get(name, set())))
        yield from (f"docs/design.md: the picture shows {name}/{folder}/, which is not there"
                    for folder in sorted(shown.get(name, set()) - there))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the source tree (default: this one)")
    findings = list(check(parser.parse_args().root))
    print("\n".join(findings + [f"check_docs: {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
