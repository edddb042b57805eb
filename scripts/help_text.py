# SPDX-License-Identifier: MIT
"""The command's own help, parsed: for manuals and completions, which therefore stay in agreement with it.

The format is that of cli/shared/args.c and of each command's help(): usage lines, paragraphs, options of a
table (`  -o, --log PATH   text`, continued at column 28), in groups below a heading (`Every day:`) where there are
many, paragraphs again.
"""

import dataclasses
import os
import re
import subprocess

OPTION = re.compile(r"  (?:-(?P<letter>\w), |    )--(?P<name>[\w-]+)(?: (?P<values>\S.*?))?(?:\s\s+(?P<help>\S.*))?")
GOES_ON = " " * 28
COMMAND = re.compile(r"  (?P<name>[a-z][a-z0-9-]*) +(?P<summary>[A-Z].*)")


@dataclasses.dataclass
class Option:
    name: str
    letter: str = ""
    values: str = ""  # as shown; "" = a switch
    help: str = ""
    group: str = ""  # the heading above it, without its colon

    def words(self):
        """Values that can be offered: "present", "submit:"; and whether a path is possible."""
        values = self.values.strip("[]")
        words, path = [], False
        for value in values.split("|"):
            plain = re.match(r"[a-z0-9-]+:?", value)
            if plain and "|" in values or values == value and plain and plain.group() == value:
                words.append(plain.group())
            path |= value in ("PATH", "OUT", "LOG", "FILE")
        return [w for w in words if not re.fullmatch(r"\d+", w)], path


@dataclasses.dataclass
class Help:
    name: str
    summary: str = ""
    usage: list = dataclasses.field(default_factory=list)
    before: list = dataclasses.field(default_factory=list)  # paragraphs, each a list of lines
    options: list = dataclasses.field(default_factory=list)
    after: list = dataclasses.field(default_factory=list)

    def operands(self):
        """From the usage lines: "program" (and its arguments), "files", words like "start"."""
        text = " ".join(self.usage)
        text = re.sub(r"--[\w-]+ [A-Z]+|\[options\]|passtally [a-z-]+", " ", text)
        found = set()
        for word in re.findall(r"[\w|.-]+", text):
            if word == "PROGRAM":
                found.add("program" if "ARGUMENTS" in text else "program-name")
            elif re.fullmatch(r"(LOG|BASE|NEW|FILE|PATH)(\.\.\.)?", word):
                found.add("files")
            elif re.fullmatch(r"[a-z|]+", word):
                found.update(w for w in word.split("|"))
        return found


def parse(name, text):
    """The help of one command. ValueError names the first line that does not have the format."""
    help_ = Help(name)
    paragraph, into, group = [], help_.before, ""
    for line in [line.rstrip() for line in text.rstrip("\n").split("\n")] + [""]:
        option = OPTION.fullmatch(line) if line.startswith("  ") else None
        if line.startswith("Usage: ") or (help_.usage and line.startswith("       ") and not help_.before
                                          and not paragraph and not help_.options):
            help_.usage.append(line[7:].strip())
        elif option:
            if len(paragraph) == 1 and re.fullmatch(r"[A-Z].*:", paragraph[0]):
                group, paragraph = paragraph[0][:-1], []
            help_.options.append(Option(option["name"], option["letter"] or "", option["values"] or "",
                                        option["help"] or "", group))
            into = help_.after
        elif line.startswith(GOES_ON) and help_.options and not paragraph:
            last = help_.options[-1]
            last.help = f"{last.help} {line.strip()}".strip()
        elif line:
            paragraph.append(line)
        elif paragraph:
            into.append(paragraph)
            paragraph = []
    if not help_.usage:
        raise ValueError(f"passtally {name} --help: no usage line")
    for option in help_.options:
        if not option.help:
            raise ValueError(f"passtally {name} --help: --{option.name} without a description")
    return help_


def ask(command, *words):
    env = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="100", HOME="/nonexistent",
               ASAN_OPTIONS="detect_leaks=0")
    for variable in [v for v in env if v.startswith("PASSTALLY")]:
        del env[variable]
    done = subprocess.run([command, *words], env=env, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise ValueError(f"{command} {' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def all_of(command):
    """The text of `passtally --help`, and the Help of each command in its order."""
    main = ask(command, "--help")
    commands = []
    for line in main.split("\n"):
        match = COMMAND.fullmatch(line)
        if match and match["name"] != "help":
            help_ = parse(match["name"], ask(command, match["name"], "--help"))
            help_.summary = match["summary"]
            commands.append(help_)
    if not commands:
        raise ValueError(f"{command} --help lists no commands")
    return main, commands
