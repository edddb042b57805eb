#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when a source file includes what its folder may not.

The tables RULES and WALLS below list what may include what; in words: layer/ uses no graphics API, query/ uses
only layer/, json/ only the record, cli/ never the capture side.

    scripts/check_includes.py [--root FOLDER]

Prints one "file:line: what is wrong" a finding. Exit status: 0 nothing found, 1 findings, 2 no
source files at all (a wrong folder must not look like a clean one).
"""

import argparse
import dataclasses
import pathlib
import re
import sys

# What libc and the kernel headers offer, and uthash. Everything else needs a reason in RULES.
LIBC = re.compile(
    r"(?:assert|complex|ctype|dirent|dlfcn|elf|endian|errno|fcntl|fenv|float|fnmatch|inttypes|iso646"
    r"|limits|link|locale|malloc|math|poll|pthread|sched|semaphore|setjmp|signal|stdalign|stdarg"
    r"|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|syscall|threads|time"
    r"|uchar|unistd|wchar|wctype|pwd|grp|getopt|glob|spawn|termios|libgen|immintrin|cpuid"
    r"|(?:sys|linux|asm|bits|gnu)/[\w/-]+)\.h")
UTHASH = re.compile(r"ut(?:hash|array|list)\.h")
GL = re.compile(r"(?:GL|GLES|GLES2|GLES3|EGL|KHR)/[\w.]+\.h")
VULKAN = re.compile(r"(?:vulkan|vk_video)/[\w./]+\.hp?p?")
CURSES = re.compile(r"(?:curses|term)\.h")
GLIB = re.compile(r"(?:glib|gmodule|glib-object|gio/gio|glib/[\w-]+|glib-unix|gio/[\w-]+)\.h")
ZLIB = re.compile(r"zlib\.h")
ZSTD = re.compile(r"zstd(?:_errors)?\.h")
VERSION = r"passtally_version\.h"


@dataclasses.dataclass
class Rule:
    """What a folder may include."""

    own: str  # whole-name pattern of our headers, from the root
    system: list  # patterns of <headers>
    generated: str = r"(?!)"  # headers that the build makes
    # Files (whole name, from that folder) that may include more.
    more: dict = dataclasses.field(default_factory=dict)


RULES = {
    "layer": Rule(r"layer/[\w/]+\.h", [LIBC, UTHASH], VERSION),
    "query": Rule(r"(?:query|layer)/[\w/]+\.h|tests/sources/test_sources\.h", [LIBC, UTHASH], VERSION,
                  {r"gl/\w+\.c": [GL], r"vk/\w+\.[ch]": [VULKAN]}),
    "json": Rule(r"json/[\w/]+\.h|layer/(?:record|recorder|log|base/(?:array|int192|numbers))\.h", [LIBC],
                 VERSION + r"|json/(?:log_\w+\.inc|pow10\.h)"),
    "gl_shim": Rule(r"(?:gl_shim|layer|query|json)/[\w/]+\.h", [LIBC, UTHASH, GL],
                    VERSION + r"|gl_\w+\.(?:h|inc)"),
    "vk_layer": Rule(r"(?:vk_layer|layer|query|json)/[\w/]+\.h", [LIBC, UTHASH, VULKAN],
                     VERSION + r"|vk_\w+\.(?:h|inc)"),
    "cli": Rule(r"(?:cli|json)/[\w/]+\.h|layer/(?:record|config/(?:config|file|list|load|options|path)|session/(?:block|process)|frame/identity|base/(?:version|int192)|capture/control)\.h|query/[\w/]+\.h", [LIBC, GLIB],
                VERSION + r"|cli_\w+\.(?:h|inc)|\w+_schema\.(?:h|inc)",
                {r"report/html\.c": [ZLIB],
                 r"log/(?:compress|input)\.c": [ZSTD], r"top/screen\.c": [CURSES]}),
}

# Walls inside a folder: from which of its rooms a room may include, besides itself ("" is the folder's own files).
# A room that is not listed may use NEW_ROOM's: a new source needs no row here.
WALLS = {
    "layer": {
        "": {"base", "config"},  # the record and the tables of functions
        "base": {""},
        "config": {"", "base"},
        "capture": {"", "base", "config"},
        "event": {"", "base"},
        "frame": {"", "base", "config", "capture", "event"},
        "picture": {"", "base", "config", "frame"},
        "session": None,
    },
    "query": {
        "": None,  # the registry knows every source
        "source": {},
        "statistics": {},
        "gl": {"source", ""},  # "": quirks.h
        "vk": {"source", ""},
        "mali": {"source"},
        "linux": {"source"},
        "microblaze": {"source", "statistics"},
        "sampler": {"source", ""},
        "metric": {"source", "statistics", "mali"},
        "attribute": {"source", "statistics", "metric", "sampler"},
    },
    "gl_shim": {
        "window": {"context", "image", "pass"},
        "pass": {"context", "image", "game"},
        "image": {"context", "game"},
        "game": {"context"},
        "context": {"image", "game", "pass"},  # its state holds theirs
    },
    "vk_layer": {
        "": None,  # the device, which holds theirs
        "record": {"", "picture"},
        "picture": {"", "record", "submit"},
        "submit": {"", "record", "picture"},
        "exact": {"", "record", "submit"},  # submit calls it by the table of sampling.h
    },
    "cli": {
        "": None,  # main.c
        "shared": {},
        "install": {"shared"},
        "log": {"shared"},
        "control": {"shared", "log"},
        "logs": {"shared", "log"},
        "machine": {"shared", "install", "log"},
        "answer": {"shared", "log"},
        "report": {"shared", "log", "answer", "compare"},
        "check": {"shared", "log"},
        "digest": {"shared", "log"},
        "compare": {"shared", "log", "answer"},
        "bisect": {"shared", "log", "bench", "compare"},
        "fleet": {"shared", "install"},
        "export": {"shared", "log", "report"},
        "top": {"shared", "log", "report", "answer", "control"},
        "run": None,
        "selftest": {"shared", "install", "log"},
    },
}
NEW_ROOM = {"layer": {"", "base"}, "query": {"source"}, "gl_shim": {"context"}, "vk_layer": {""}, "cli": {"shared", "log"}}

COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*([^\n]*)", re.MULTILINE)
NAME = re.compile(r'(?:"([^"]+)"|<([^>]+)>)\s*$')


def without_comments(text):
    """The text with comments replaced by blanks; line numbers stay."""
    def blank(match):
        word = match.group(0)
        if word.startswith('"'):
            return word
        return "".join(c if c == "\n" else " " for c in word)
    return COMMENT_OR_STRING.sub(blank, text)


def room_of(folder, name):
    """The room of a file named from the root: "gl" of query/gl/api.h, "" of query/sources.h."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == folder else ""


def behind_wall(root, path, full):
    """Whether the include crosses a wall inside its folder."""
    name = path.relative_to(root).as_posix()
    folder = name.split("/")[0]
    if folder not in WALLS or not full.startswith(folder + "/"):
        return False
    mine, other = room_of(folder, name), room_of(folder, full)
    allowed = WALLS[folder].get(mine, NEW_ROOM[folder])
    return mine != other and allowed is not None and other not in allowed


def judge_own(root, path, rule, name):
    """None when the quoted include is allowed, otherwise what is wrong."""
    beside = path.parent / name
    inside = root / name
    if beside.exists():
        full = beside.resolve().relative_to(root.resolve()).as_posix()
    elif inside.exists():
        full = inside.resolve().relative_to(root.resolve()).as_posix()
    elif re.fullmatch(rule.generated, name):
        return None
    else:
        # A file that does not exist (yet) is judged by its name, so that a broken build does not hide it.
        full = name
    if full.endswith(".c"):
        return f'includes a source file, "{name}"'
    if not re.fullmatch(rule.own, full) or behind_wall(root, path, full):
        return f'may not include "{name}"'
    return None


def judge_system(rule, path, name):
    allowed = list(rule.system)
    for pattern, more in rule.more.items():
        if re.fullmatch(pattern, path):
            allowed += more
    if any(pattern.fullmatch(name) for pattern in allowed):
        return None
    return f"may not include <{name}>"


def check_file(root, folder, path, rule):
    """Findings of one file as (line, text)."""
    text = without_comments(path.read_text(encoding="utf-8", errors="replace"))
    for match in DIRECTIVE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        name = NAME.match(match.group(1).strip())
        if not name:
            yield line, "an include whose name is computed cannot be checked"
            continue
        if name.group(1):
            wrong = judge_own(root, path, rule, name.group(1))
        else:
            wrong = judge_system(rule, path.relative_to(folder).as_posix(), name.group(2))
        if wrong:
            yield line, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the source tree (default: this one)")
    root = parser.parse_args().root
    n_files = n_wrong = 0
    for folder, rule in RULES.items():
        for path in sorted((root / folder).rglob("*.[ch]")):
            n_files += 1
            for line, wrong in check_file(root, root / folder, path, rule):
                n_wrong += 1
                print(f"{path.relative_to(root)}:{line}: {folder}/ {wrong}")
    if not n_files:
        print(f"check_includes: no source files below {root}", file=sys.stderr)
        return 2
    print(f"check_includes: {n_files} files, {n_wrong} forbidden includes")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
