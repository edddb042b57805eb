#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn a file of data/counters/ into a C table.

    scripts/gen_counters.py INPUT OUTPUT HEADER TYPE NAME

OUTPUT defines `const struct TYPE NAME[]` of HEADER, with a row for each block of INPUT, in its order. A block is
[KEY] and `field = value` lines, in the form of data/metrics/: `name`, `unit`, `description`, `kind` (a word of enum
tally_counter_kind, in lower case) and `overview = yes`, each a member of the struct. Same input, same bytes.
"""

import pathlib
import sys

sys.dont_write_bytecode = True
import gen_metrics  # noqa: E402

VALUES = {"kind": lambda value: f"TALLY_KIND_{value.upper()}", "overview": lambda value: str(value == "yes").lower()}


def text(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    source, target, header, kind, name = sys.argv[1:]
    lines = [f"/* Made from {pathlib.Path(source).name} by scripts/gen_counters.py. */", f'#include "{header}"', "",
             f"const struct {kind} {name}[] = {{"]
    for _, line in gen_metrics.read_lines(pathlib.Path(source)):
        field, _, value = (part.strip() for part in line.partition("="))
        if line.startswith("["):
            lines += ["\t},"] * (lines[-1][-1] != "{") + ["\t{", f"\t\t.key = {text(line[1:-1])},"]
        else:
            lines.append(f"\t\t.{field} = {VALUES.get(field, text)(value)},")
    pathlib.Path(target).write_text("\n".join([*lines, "\t},", "};", ""]), encoding="ascii")


main()
