#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The draw wrappers of the built shim: few instructions, no stack, a jump at the end.

    hot_path.py LIBRARY

It counts the instructions of a draw in an open pass. Exit status: 0, 1 too long, 77 no objdump or
another machine than x86-64.
"""

import re
import subprocess
import sys

# Up to and including the jump. One more than compilers need today. Draws with indices also look at their
# arguments, because draws that the driver refuses are not counted.
CEILINGS = {
    "glDrawArrays": 14,
    "glDrawElements": 20,
    "glDrawRangeElements": 25,
    "glDrawElementsBaseVertex": 21,
    "glDrawArraysInstanced": 30,
    "glDrawElementsInstanced": 30,
}
STACK = re.compile(r"\b(push|pop|call)\b|\b(sub|add)\s+\$0x\w+,%rsp")


def hot_path(lines):
    """Instructions up to the first jump through a pointer."""
    path = []
    for line in lines:
        path.append(line)
        if re.search(r"\bjmp\s+\*", line):
            return path
    return None


def main():
    try:
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", sys.argv[1]],
                              capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: objdump cannot read the shim: {error}")
        return 77
    if "elf64-x86-64" not in text:
        print("skipped: counted for x86-64 only")
        return 77
    failed = False
    for name, ceiling in CEILINGS.items():
        match = re.search(rf"^[0-9a-f]+ <{name}>:\n(.*?)\n\n", text + "\n\n", re.M | re.S)
        path = hot_path(match.group(1).splitlines()) if match else None
        if not path:
            print(f"FAILED: {name} is not there or does not end in a jump to the driver")
            failed = True
            continue
        frame = [line for line in path if STACK.search(line)]
        ok = len(path) <= ceiling and not frame
        failed = failed or not ok
        print(f"{'ok' if ok else 'FAILED'}: {name}: {len(path)} instructions, at most {ceiling}")
        if not ok:
            print("\n".join(path))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
