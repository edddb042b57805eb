#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn text files into a C source file that holds them.

    scripts/embed_text.py INPUT... OUTPUT NAME

OUTPUT defines `const char NAME[]` of cli/shared/embedded.h, ended by a NUL; with a NAME that ends in "_"
one for each INPUT, NAME and that file's own without its ending. Same input, same bytes.
"""

import pathlib
import sys

PER_LINE = 20


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    *sources, target, name = sys.argv[1:]
    lines = ["/* Made by scripts/embed_text.py. */", '#include "cli/shared/embedded.h"']
    for source in map(pathlib.Path, sources):
        data = source.read_bytes()
        if b"\0" in data:
            sys.exit(f"{source}: holds a NUL byte, so it is no text")
        lines += ["", f"const char {name + source.stem if name.endswith('_') else name}[] = {{"]
        for at in range(0, len(data), PER_LINE):
            lines.append("\t" + ", ".join(str(b if b < 128 else b - 256) for b in data[at:at + PER_LINE]) + ",")
        lines += ["\t0,", "};"]
    pathlib.Path(target).write_text("\n".join(lines) + "\n", encoding="ascii")


main()
