#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check what an injected library exports, needs, imports and calls.

    scripts/check_symbols.py LIBRARY --list FILE [--objects FOLDER] [--users FOLDER...] [--runpath '$ORIGIN'] [--update]

LIST is the checked-in contract: lines "exports NAME" (exactly these), "needs NAME" (at most these,
globs) and "# comment". In addition to the list: no undefined gl*, egl*, glX* or vk* symbol (the
shim would link, and call, itself), no symbol version newer than GLIBC_2.34 (but what newer headers call strtol), and no writable and
executable segment. With --objects, the object files of the library may not call the functions that BANNED names,
except in the files that it lists. With --users each export is used by an object file in one of these folders.
With --runpath the library must carry exactly this RUNPATH.

Prints one finding a line. Exit status: 0 nothing found, 1 findings, 2 something could not be read.
"""

import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys

NEWEST_GLIBC = (2, 34)
API_NAME = re.compile(r"(?:gl[A-Z]|egl[A-Z]|glX[A-Z]|vk[A-Z])\w*")

# Functions that must not be called in another program's process. Function: object files (source names) that may
# call it.
PRINTS = "printf vprintf fprintf vfprintf puts fputs putchar fputc putc fwrite perror psignal syslog"
ENDS = "abort exit quick_exit _exit _Exit raise kill err errx verr verrx"
UNBOUNDED = "strcpy stpcpy strcat sprintf vsprintf gets scanf fscanf strtok mktemp tmpnam"
PROCESS = ("system popen fork vfork execl execle execlp execv execve execvp posix_spawn posix_spawnp"
           " setenv putenv unsetenv clearenv setlocale uselocale signal umask chdir srand rand random"
           " setjmp _setjmp longjmp")
WAITS = "sleep usleep nanosleep clock_nanosleep select poll pause pthread_join sem_wait"
NETWORK = "socket connect bind listen accept"
BANNED = {name: () for group in (PRINTS, ENDS, UNBOUNDED, PROCESS, WAITS, NETWORK)
          for name in group.split()}
BANNED.update({
    # The files that read options, and the one that prints messages; not under secure execution.
    "getenv": ("layer/config/base.c", "layer/config/load.c", "layer/config/path.c", "layer/log.c"),
    "secure_getenv": ("layer/config/base.c", "layer/config/load.c", "layer/config/path.c", "layer/log.c"),
    # passtally's threads, started with the first frame.
    "pthread_create": ("layer/base/thread.c",),
    "dlopen": ("layer/base/keep_loaded.c", "layer/capture/renderdoc.c", "gl_shim/window/real.c", "query/gauge/nvml.c"),
    # Only local sockets: no network.
    **{name: ("layer/capture/control_socket.c",) for name in ("socket", "connect", "bind", "listen")},
    # Asks whether one of passtally's descriptors is still open, and never waits; one of its threads waits.
    "poll": ("layer/capture/control_socket.c", "query/mali/reader.c", "query/microblaze/microblaze.c", "query/sampler/reader.c"),
    # Only where the user set mali-delay, in `exact`; and once in a context's life, 100 ms at most, where the
    # driver would refuse the game's own first query while one of passtally's results is outstanding.
    "nanosleep": ("query/mali/kbase.c", "query/gl/intel.c"),
})


class CheckError(Exception):
    """Something could not be read: no verdict."""


def tool(*command):
    try:
        done = subprocess.run(command, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin"},
                              capture_output=True, text=True, check=False)
    except OSError as error:
        raise CheckError(f"cannot run {command[0]}: {error}; install binutils") from error
    if done.returncode != 0:
        raise CheckError(f"{' '.join(command)}: {done.stderr.strip() or 'failed'}")
    return done.stdout


class Library:
    """Dynamic section and symbols of one shared library, by readelf."""

    def __init__(self, path):
        dynamic = tool("readelf", "--wide", "--dynamic", path)
        self.needs = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        self.runpath = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic)
        self.exports, self.imports, self.versions = set(), set(), set()
        for line in tool("readelf", "--wide", "--dyn-syms", path).split("\n"):
            field = line.split(maxsplit=7)
            if len(field) < 8 or not field[0].rstrip(":").isdigit():
                continue
            bind, where = field[4], field[6]
            name, _, version = field[7].split()[0].partition("@")
            if where == "UND":
                self.imports.add(name)
                self.versions.add((name, version.lstrip("@")))
            elif bind in ("GLOBAL", "WEAK", "UNIQUE"):
                self.exports.add(name)
        segments = tool("readelf", "--wide", "--program-headers", path)
        self.writes_code = bool(re.search(r"^\s+(?:LOAD|GNU_STACK)\s.*\bRWE\b", segments, re.MULTILINE))


def read_list(path):
    exports, needs = set(), []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        word = line.split()
        if not word or word[0].startswith("#"):
            continue
        if len(word) == 2 and word[0] == "exports":
            exports.add(word[1])
        elif len(word) == 2 and word[0] == "needs":
            needs.append(word[1])
        else:
            raise CheckError(f"{path}:{number}: neither 'exports NAME' nor 'needs NAME'")
    return exports, needs


def write_list(path, library, needs):
    """Rewrites the exports; what may be needed is a decision and stays."""
    text = f"# Written by scripts/check_symbols.py --update; what {path.stem} promises.\n"
    text += "".join(f"needs {name}\n" for name in needs or sorted(library.needs))
    text += "".join(f"exports {name}\n" for name in sorted(library.exports))
    path.write_text(text, encoding="utf-8")


def check_library(library, exports, needs, runpath):
    for name in sorted(exports - library.exports):
        yield f"does not export {name}, which the list promises"
    for name in sorted(library.exports - exports):
        yield f"exports {name}, which the list does not name"
    for name in library.needs:
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in needs):
            yield f"needs {name}, which the list does not name"
    for name in sorted(library.imports):
        if API_NAME.fullmatch(name):
            yield f"leaves {name} undefined: it would call the game's hooked function, itself"
    for name, version in sorted(library.versions):
        match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
        if name.startswith("__isoc23_"):  # what strtol() is with headers from 2.38 on
            continue
        if match and tuple(map(int, match.groups())) > NEWEST_GLIBC:
            newest = ".".join(map(str, NEWEST_GLIBC))
            yield f"needs {name} of {version}, newer than GLIBC_{newest}"
    if library.writes_code:
        yield "has memory that is both writable and executable"
    if runpath is not None and library.runpath != [runpath]:
        yield f"has the RUNPATH {library.runpath or 'nothing'}, not {runpath}"


def source_name(path):
    """"layer_config_config.c.o" is meson's name for layer/config/config.c."""
    return path.name.removesuffix(".o")


def is_file(object_name, source):
    """A library built in its own folder names its objects from there."""
    return object_name in (source.replace("/", "_"), source.split("/", maxsplit=1)[-1].replace("/", "_"))


def plain(name):
    """The function for a compiler's or libc's spelling of it."""
    fortified = re.fullmatch(r"__(\w+)_chk", name)
    name = fortified.group(1) if fortified else name
    return re.sub(r"^__isoc(?:99|23)_", "", name)


def check_objects(folder):
    objects = sorted(folder.glob("*.o"))
    if not objects:
        raise CheckError(f"{folder}: no object files")
    for path in objects:
        if source_name(path).startswith("tests_"):  # in builds with tests alone
            continue
        for line in tool("nm", "--undefined-only", "--format=posix", str(path)).split("\n"):
            if not line.strip():
                continue
            name = plain(line.split()[0])
            if name not in BANNED:
                continue
            if not any(is_file(source_name(path), source) for source in BANNED[name]):
                where = ", ".join(BANNED[name]) or "no injected file"
                yield f"{source_name(path)} calls {name}(): allowed in {where}"


def check_users(library, folders):
    used = set()
    for path in sorted(path for folder in folders for path in folder.glob("*.o")):
        lines = tool("nm", "--undefined-only", "--format=posix", str(path)).split("\n")
        used |= {line.split()[0] for line in lines if line.strip()}
    for name in sorted(library.exports - used):
        if name != "passtally_take_request":  # the program's own, by dlsym: layer/passtally.h
            yield f"exports {name}, which nobody uses"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("library")
    parser.add_argument("--list", type=pathlib.Path, required=True)
    parser.add_argument("--objects", type=pathlib.Path, help="folder of the library's object files")
    parser.add_argument("--users", type=pathlib.Path, nargs="+", help="folders of object files that use the exports")
    parser.add_argument("--runpath", help="the RUNPATH that it must have")
    parser.add_argument("--update", action="store_true", help="write the list instead")
    args = parser.parse_args()
    try:
        library = Library(args.library)
        exports, needs = read_list(args.list) if args.list.exists() else (set(), [])
        if args.update:
            write_list(args.list, library, needs)
            print(f"{args.list}: {len(library.exports)} exports")
            return 0
        if not args.list.exists():
            raise CheckError(f"{args.list}: no such list; make it with --update")
        wrong = list(check_library(library, exports, needs, args.runpath))
        if args.objects:
            wrong += check_objects(args.objects)
        if args.users:
            wrong += check_users(library, args.users)
    except (CheckError, OSError) as error:
        print(f"check_symbols: {error}", file=sys.stderr)
        return 2
    for line in wrong:
        print(f"{args.library}: {line}")
    print(f"check_symbols: {len(library.exports)} exports, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
