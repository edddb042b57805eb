#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every rule that the code cites (R27, G11) stands in docs/rules-vulkan.md or docs/rules-gl.md.

A rule is cited in a comment of a C file, as (R21), R21-R24 or "R27: ...". Prints one line per finding, then
"0 findings" and exit status 0, or their number and 1.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# A letter, its page, the files that may cite it: a Mali-G71 elsewhere is no rule.
PAGES = {
    "R": ("docs/rules-vulkan.md", re.compile(r"vk_layer/|query/vk/|tests/.*vk")),
    "G": ("docs/rules-gl.md", re.compile(r"gl_shim/|query/gl/|tests/.*gl_")),
}
FOLDERS = ("layer", "gl_shim", "vk_layer", "query", "json", "cli", "scenes", "tests")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
CITED = re.compile(r"(?<![\w.])([RG])(\d{1,2})(?:-\1?(\d{1,2}))?(?=[),.:;]|\s|$)")
ROW = re.compile(r"^\| ([RG]\d+) \|", re.M)
# Documents of its authors that are not in the tree.
ELSEWHERE = re.compile(r"\bFACTS\b|\bseed 00\d")


def cited(text):
    """(rule, line) of each citation in the comments of a C file."""
    for comment in COMMENT.finditer(text):
        def line(match):
            return text.count("\n", 0, comment.start() + match.start()) + 1

        for match in CITED.finditer(comment.group()):
            for number in range(int(match.group(2)), int(match.group(3) or match.group(2)) + 1):
                yield match.group(1) + str(number), line(match)
        for match in ELSEWHERE.finditer(comment.group()):
            yield match.group(), line(match)


def check(root):
    known = {rule for page, _ in PAGES.values() for rule in ROW.findall((root / page).read_text(encoding="utf-8"))}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            name = str(path.relative_to(root))
            for rule, line in cited(path.read_text(encoding="utf-8")):
                page, files = PAGES.get(rule[0], ("the tree", re.compile("")))
                if rule not in known and files.match(name):
                    yield f"{name}:{line}: {rule} is cited, but does not stand in {page}"


def main():
    findings = list(check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
    print("\n".join(findings + [f"{len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
