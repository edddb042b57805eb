#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn a text file into a C source file that holds it.

    scripts/embed_text.py INPUT OUTPUT HEADER NAME

OUTPUT includes HEADER and defines `const char NAME[]` (ended by a NUL) and `const size_t NAME_len`.
Same input, same bytes.
"""

import pathlib
import sys

PER_LINE = 20


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    source, target, header, name = sys.argv[1:]
    data = pathlib.Path(source).read_bytes()
    if b"\0" in data:
        sys.exit(f"{source}: holds a NUL byte, so it is no text")
    lines = [
        f"/* Made from {pathlib.Path(source).name} by scripts/embed_text.py. */",
        f'#include "{header}"',
        "",
        f"const char {name}[] = {{",
    ]
    for at in range(0, len(data), PER_LINE):
        lines.append("\t" + ", ".join(str(b if b < 128 else b - 256) for b in data[at:at + PER_LINE]) + ",")
    lines += ["\t0,", "};", f"const size_t {name}_len = sizeof({name}) - 1;", ""]
    pathlib.Path(target).write_text("\n".join(lines), encoding="ascii")


main()
