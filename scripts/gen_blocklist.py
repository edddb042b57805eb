#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn data/blocklist into the C table of layer/session/block.c.

    scripts/gen_blocklist.py INPUT OUTPUT

The format of the file is described in its first lines. Names come first, sorted as bytes in lower case,
then patterns with * or ?, then arguments. Stops after naming every fault as "FILE:LINE: what is
wrong". Same input, same bytes.
"""

import pathlib
import re
import sys

LINE = re.compile(r"(\S+)\s+(\S.*)")
PLAIN = re.compile(r"[ -~]+")


def parse(path):
    """Rows (pattern, reason, group) and faults."""
    rows, faults, seen, group = [], [], {}, None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        place = f"{path.name}:{number}"
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            group = line.strip("[]").strip()
            continue
        match = LINE.fullmatch(line)
        if not match:
            faults.append(f"{place}: a pattern without a reason: say why it is left alone")
            continue
        pattern, reason = match.groups()
        if not PLAIN.fullmatch(line.replace("\t", " ")) or '"' in line or "\\" in line:
            faults.append(f"{place}: only printable ASCII without quotes and backslashes")
        if re.search(r"[+,/]", pattern):
            faults.append(f"{place}: {pattern}: a base name has no slash, and + and , part lists")
        if not pattern.startswith("-"):
            pattern = pattern.lower()
        if not pattern.strip("*?"):
            faults.append(f"{place}: {pattern} would leave every program alone")
        if pattern in seen:
            faults.append(f"{place}: {pattern} stands in line {seen[pattern]} already")
        if group is None:
            faults.append(f"{place}: stands before the first [group]")
        seen[pattern] = number
        rows.append((pattern, reason, group))
    return rows, faults


def kind(row):
    pattern = row[0]
    return 2 if pattern.startswith("-") else 1 if re.search(r"[*?]", pattern) else 0


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, target = map(pathlib.Path, sys.argv[1:])
    rows, faults = parse(source)
    if not rows:
        faults.append(f"{source.name}: holds no pattern")
    if faults:
        sys.exit("\n".join(faults))
    rows.sort(key=lambda row: (kind(row), row[0].encode()))
    lines = [f"/* Made from data/{source.name} by scripts/gen_blocklist.py. */",
             '#include "layer/session/block.h"', "", "const struct tally_block_entry tally_blocklist[] = {"]
    lines += [f'\t{{ "{pattern}", "{reason}", "{group}" }},' for pattern, reason, group in rows]
    lines += ["};"]
    for name, number in (("names", 0), ("globs", 1), ("arguments", 2)):
        lines.append(f"const size_t tally_blocklist_{name} = {sum(kind(r) == number for r in rows)};")
    target.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
