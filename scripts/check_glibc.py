#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that programs and libraries run with an old C library, by the versions of the symbols that they need.

    scripts/check_glibc.py --most 2.31 [--only-libc] FILE...

No FILE may need a symbol of a newer glibc than that, and with --only-libc no libraries except glibc's and
passtally's. Prints one line a file. Exit status: 0; 1 a file needs more, or is not an ELF file; 2 usage.
"""

import argparse
import re
import subprocess
import sys

LIBC = re.compile(r"(libc|libm|libpthread|libdl|librt)\.so\.\d+|ld-linux[\w.-]*|libpasstally\.so\.0")


def number(version):
    return tuple(int(part) for part in version.split("."))


def dump(path, option):
    done = subprocess.run(["objdump", option, path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip() or f"{path}: not readable")
    return done.stdout


def needs(path):
    """{version: symbols} of glibc, and the names of needed libraries."""
    versions = {}
    for line in dump(path, "-T").splitlines():
        match = re.search(r"\*UND\*.*\(?GLIBC_(2[\d.]*)\)? +(\S+)$", line)
        if match:
            versions.setdefault(match[1], []).append(match[2])
    return versions, re.findall(r"^ *NEEDED +(\S+)", dump(path, "-p"), re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", required=True, type=number)
    parser.add_argument("--only-libc", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    bad = 0
    for path in args.files:
        try:
            versions, libraries = needs(path)
        except ValueError as error:
            print(error, file=sys.stderr)
            bad += 1
            continue
        late = {v: names for v, names in versions.items() if number(v) > args.most}
        for version, names in sorted(late.items(), key=lambda item: number(item[0])):
            print(f"{path}: needs glibc {version}: {', '.join(sorted(names))}", file=sys.stderr)
        foreign = [name for name in libraries if args.only_libc and not LIBC.fullmatch(name)]
        if foreign:
            print(f"{path}: needs {', '.join(foreign)}", file=sys.stderr)
        bad += bool(late or foreign)
        newest = max(versions, key=number, default="none")
        print(f"{path}: glibc {newest}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
