#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the OpenGL shim's wrappers from a registry (gl.xml) and gl_shim/hooks.rules.

Output, into --out: gl_next.h and gl_next.c (the table of the driver's functions), gl_wrappers.c
and gl_platform.c (what the game calls), gl_names.h and gl_names.c (name -> hook), gl_shim.map (what
is exported). Same input, same bytes. The language of the rules is described at the top of hooks.rules; all
decisions are made there and in gl_shim/, none here.
"""

import argparse
import os
import re
import sys
from dataclasses import dataclass

import known
import registry
from registry import RegistryError

FORMS = ("draw", "work", "first", "before", "after", "timed", "instead")
# Names that an expression may use in addition to parameters; `result` is what the call returned.
WORDS = {"c", "NEXT", "NULL", "result", "true", "false"}


class RulesError(Exception):
    """hooks.rules and the registry do not fit each other."""


@dataclass
class Rule:
    form: str
    pattern: str
    expression: str
    line: int
    used: int = 0


@dataclass(frozen=True)
class Wrapper:
    command: registry.Command
    form: str
    expression: str


@dataclass(frozen=True)
class Platform:
    """A call of GLX or EGL; "by hand": its hook is not generated."""
    command: registry.Command
    by_hand: bool
    before: str = ""
    after: str = ""


class Rules:
    """hooks.rules, parsed."""

    def __init__(self, path):
        self.path = path
        self.rules = []
        self.names = {"use": [], "enum": [], "format": []}
        self.platform = []
        self.extra = []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                self._take(line.split("#", 1)[0].strip(), number)

    def _take(self, line, number):
        if not line:
            return
        form, _, rest = line.partition(" ")
        rest = rest.strip()
        if form in FORMS:
            pattern, _, expression = rest.partition(" ")
            if not expression.strip():
                raise RulesError(f"{self.path}:{number}: '{form}' needs a pattern and a body")
            self.rules.append(Rule(form, pattern, expression.strip(), number))
        elif form in self.names:
            self.names[form] += [(name, number) for name in rest.split()]
        elif form == "platform":
            prototype, *parts = (part.strip() for part in rest.split("|"))
            if len(parts) not in (0, 2):
                raise RulesError(f"{self.path}:{number}: 'platform' has a prototype, before and after")
            self.platform.append(Platform(registry.parse_prototype(prototype), not parts, *parts))
        elif form == "extra":
            self.extra.append(registry.parse_prototype(rest))
        else:
            known = ", ".join(FORMS + (*self.names, "platform", "extra"))
            raise RulesError(f"{self.path}:{number}: unknown form '{form}', known are {known}")


def expand_expression(expression, command, where):
    """Choose {a|b|=0}, replace NEXT by the driver's function, and check every name."""

    def choose(match):
        for choice in match.group(1).split("|"):
            if choice.startswith("="):
                return choice[1:]
            if command.has(choice):
                return choice
        raise RulesError(f"{where}: {command.name} has none of the parameters {match.group(0)}")

    text = re.sub(r"\{([^}]*)\}", choose, expression)
    for match in re.finditer(r"[A-Za-z_]\w*", text):
        word = match.group(0)
        called = text[match.end():match.end() + 1] == "("
        if not (called or word in WORDS or word.isupper() or command.has(word)):
            names = ", ".join(param.name for param in command.params) or "none"
            raise RulesError(f"{where}: {command.name} has no parameter '{word}' (it has: {names})")
    return re.sub(r"\bNEXT\b", f"gl_next_of(c)->{member(command.name)}", text)


def resolve(rules, commands, vendors):
    """Which rule wraps which command: a list of Wrapper, by name."""
    suffix = "(?:" + "|".join(re.escape(vendor) for vendor in vendors) + ")?" if vendors else ""
    compiled = [(rule, re.compile(rule.pattern.replace("(V)", suffix))) for rule in rules.rules]
    wrappers = []
    for name in sorted(commands):
        command = commands[name]
        rule = next((rule for rule, pattern in compiled if pattern.fullmatch(name)), None)
        if not rule:
            continue
        rule.used += 1
        where = f"{rules.path}:{rule.line}"
        if command.has("c"):
            raise RulesError(f"{where}: {name} has a parameter 'c', which wrappers use themselves")
        if rule.form == "draw" and command.returns != "void":
            raise RulesError(f"{where}: {name} returns {command.returns}; a draw returns nothing")
        expression = expand_expression(rule.expression, command, where)
        wrappers.append(Wrapper(command, rule.form, expression))
    for rule in rules.rules:
        if not rule.used:
            raise RulesError(f"{rules.path}:{rule.line}: no command is wrapped by '{rule.pattern}'")
    check_aliases(wrappers, commands)
    return wrappers


def check_aliases(wrappers, commands):
    """Every spelling of a wrapped command is wrapped, the same way: a game may mix them."""
    forms = {wrapper.command.name: wrapper.form for wrapper in wrappers}
    for command in commands.values():
        if command.alias not in commands:
            continue
        ours, theirs = forms.get(command.name), forms.get(command.alias)
        if ours != theirs:
            raise RulesError(
                f"{command.name} is another spelling of {command.alias}, but one is "
                f"{ours or 'not wrapped'} and the other {theirs or 'not wrapped'}"
            )


# Names that the registry gives the counts of a draw, in small letters.
COUNTS = {"count", "instancecount", "primcount", "drawcount", "maxdrawcount", "numinstances"}


def member(name):
    return name[2:]


def arguments(command):
    return [param.name for param in command.params]


def fold(before, items, after):
    """'before(items)after', broken into lines of at most 100 columns."""
    lines = [before + "("]
    if not items:
        lines[0] += ")" + after
    for index, item in enumerate(items):
        piece = item + (", " if index + 1 < len(items) else ")" + after)
        width = len(lines[-1].replace("\t", " " * 8))
        if width + len(piece.rstrip()) > 100:
            lines[-1] = lines[-1].rstrip()
            lines.append("\t" * (len(before) - len(before.lstrip("\t")) + 2))
        lines[-1] += piece
    return "\n".join(lines)


def declare(command, name, before="", after=";\n"):
    """A declaration of `command` under another name (a member, a stand-in)."""
    space = "" if command.returns.endswith("*") else " "
    params = [param.declaration() for param in command.params] or ["void"]
    return fold(f"{before}{command.returns}{space}{name}", params, after)


def head(command, name, before=""):
    """The head of a definition: the return type on a separate line."""
    params = [param.declaration() for param in command.params] or ["void"]
    return f"{before}{command.returns}\n" + fold(name, params, "")


def forward(command, before="\t", table="gl_next_of(c)"):
    """The statement that calls the driver's function with the game's arguments."""
    return fold(f"{before}{table}->{member(command.name)}", arguments(command), ";\n")


def statements(expression, indent):
    """An expression as written in the rules, one statement a line."""
    return "".join(f"{indent}{part.strip()};\n" for part in expression.split(";") if part.strip())


def guarded(wrapper, condition="c->live"):
    return f"\tif ({condition}) {{\n" + statements(wrapper.expression, "\t\t") + "\t}\n"


def counts_of(command):
    """Arguments that are errors when negative: the counts that a draw gives by value."""
    return [param.name for param in command.params
            if param.name.lower() in COUNTS and param.type in ("GLsizei", "GLint")]


def validity(command, modes):
    """Whether the driver would accept the arguments, as far as they alone determine it, or ''.

    `modes` holds a bit for each primitive that the context knows."""
    types = {param.name: param.type for param in command.params}
    conditions = []
    draws = command.name.startswith(("glDraw", "glMultiDraw"))
    if draws and types.get("mode") == "GLenum":
        conditions.append(f"GL_KNOWS_MODE({modes}, mode)")
    counts = counts_of(command)
    if counts:
        conditions.append(f"({' | '.join(counts)}) >= 0")
    if types.get("type") == "GLenum" and "Elements" in command.name:
        conditions.append("GL_IS_INDEX(type)")
    if {"start", "end"} <= set(types) and "Range" in command.name:
        conditions.append("end >= start")
    return " && ".join(conditions)


def write_first(wrapper, condition="gl_works(c)"):
    return (guarded(wrapper, condition)
            + f'\tstruct tally_event event = gl_first_draw_begin(c, "{wrapper.command.name}");\n'
            + forward(wrapper.command) + "\tgl_first_draw_end(c, &event);\n")


def write_draw(wrapper):
    command = wrapper.command
    slow = f"slow_{member(command.name)}"
    valid = validity(command, "c->modes")
    fast = validity(command, "c->open")
    if "GL_KNOWS_MODE" not in fast:
        fast = f"c->open && {fast}" if fast else "c->open"
    enter = (f"{valid} && " if valid else "") + "gl_works(c) && gl_draw_enter(c)"
    return (
        head(command, slow, "static __attribute__((noinline, cold)) ") + "\n{\n"
        "\tstruct gl_context *c = gl_current;\n"
        + write_first(wrapper, enter) + "}\n\n"
        + head(command, command.name, "GL_EXPORT ") + "\n{\n"
        "\tstruct gl_context *c = gl_current;\n"
        f"\tif (__builtin_expect({fast}, 1)) {{\n" + statements(wrapper.expression, "\t\t")
        + forward(command, "\t\t", "c->next")
        + "\t\treturn;\n\t}\n"
        "\tconst struct gl_next *next = gl_next_known(c);\n"
        "\tif (!c->live && next) {\n" + forward(command, "\t\t", "next")
        + "\t\treturn;\n\t}\n" + fold(f"\t{slow}", arguments(command), ";\n") + "}\n"
    )


def write_before(wrapper):
    command = wrapper.command
    keyword = "" if command.returns == "void" else "return "
    condition = "gl_works(c)" if wrapper.form == "work" else "c->live"
    return guarded(wrapper, condition) + forward(command, f"\t{keyword}")


def write_after(wrapper):
    command = wrapper.command
    if command.returns == "void":
        return forward(command) + guarded(wrapper)
    space = "" if command.returns.endswith("*") else " "
    result = forward(command, f"\t{command.returns}{space}result = ")
    return result + guarded(wrapper) + "\treturn result;\n"


def write_timed(wrapper):
    command = wrapper.command
    event, _, after = wrapper.expression.partition(";")
    kind, _, size = (part.strip() for part in event.partition(","))
    kind, _, made = kind.partition("/")
    space = "" if command.returns.endswith("*") else " "
    void = command.returns == "void"
    return (f'\tstruct tally_event event = gl_event(c, {kind}, "{command.name}", {size});\n'
            + (f"\tevent.object = {made};\n" if made else "")
            + forward(command, "\t" if void else f"\t{command.returns}{space}result = ")
            + "\ttally_event_end(&event);\n"
            + (f"\tif (c->live) {{\n{statements(after, chr(9) * 2)}\t}}\n" if after.strip() else "")
            + ("" if void else "\treturn result;\n"))


def write_instead(wrapper):
    command = wrapper.command
    if command.returns == "void":
        plain = forward(command, "\t\t") + "\t\treturn;\n"
        return f"\tif (!c->live) {{\n{plain}\t}}\n" + statements(wrapper.expression, "\t")
    plain = forward(command, "\t\treturn ")
    return f"\tif (!c->live)\n{plain}\treturn {wrapper.expression};\n"


BODIES = {"work": write_before, "first": write_first, "before": write_before, "after": write_after,
          "timed": write_timed, "instead": write_instead}


def write_wrapper(wrapper):
    if wrapper.form == "draw":
        return write_draw(wrapper)
    return (
        head(wrapper.command, wrapper.command.name, "GL_EXPORT ")
        + "\n{\n\tstruct gl_context *c = gl_current;\n"
        + BODIES[wrapper.form](wrapper)
        + "}\n"
    )


def write_platform(hook):
    command = hook.command
    failure = {"void": "", "int64_t": " -1"}.get(command.returns, " 0")
    void = command.returns == "void"
    space = "" if command.returns.endswith("*") else " "
    return (
        head(command, command.name)
        + f"\n{{\n\t__typeof__({command.name}) *real = GL_REAL({command.name});\n"
        + f"\tif (!real)\n\t\treturn{failure};\n"
        + statements(hook.before, "\t")
        + fold("\treal" if void else f"\t{command.returns}{space}result = real", arguments(command), ";\n")
        + statements(hook.after, "\t")
        + ("" if void else "\treturn result;\n")
        + "}\n"
    )


class Generator:
    """Everything the output files are made of."""

    def __init__(self, rules, commands, source, origin, exports):
        self.origin = origin
        self.exports = exports
        self.hooks = sorted(rules.platform, key=lambda hook: hook.command.name)
        self.platform = [hook.command.name for hook in self.hooks]
        self.wrappers = resolve(rules, commands, source.vendors)
        table = {wrapper.command.name: wrapper.command for wrapper in self.wrappers}
        self.enums = self._values(rules, source, "enum")
        suffix = re.compile("_(" + "|".join(source.vendors) + ")$")
        formats = [(value, suffix.sub("", name)) for name, value in self._values(rules, source, "format")]
        self.formats = sorted(formats)
        for name, line in rules.names["use"]:
            if name not in commands:
                raise RulesError(f"{rules.path}:{line}: there is no command '{name}' to use")
            table[name] = commands[name]
        self.table = [table[name] for name in sorted(table)]
        self.slots = {command.name: index for index, command in enumerate(self.table)}
        names = [wrapper.command.name for wrapper in self.wrappers] + self.platform
        self.names = sorted(set(names))
        if len(self.names) != len(names):
            raise RulesError(f"{rules.path}: a command of gl.xml is listed as 'platform' too")

    @staticmethod
    def _values(rules, source, form):
        for name, line in rules.names[form]:
            if f"GL_{name}" not in source.enums:
                raise RulesError(f"{rules.path}:{line}: there is no value 'GL_{name}'")
        return [(name, source.enums[f"GL_{name}"]) for name, _ in rules.names[form]]

    def banner(self, file, what):
        return f"/* {file} - {what}\n *\n * {self.origin} Do not edit.\n */\n"

    def next_h(self):
        out = [
            self.banner("gl_next.h", "the driver's functions, and the prototypes of our wrappers."),
            "#ifndef PASSTALLY_GL_NEXT_H\n#define PASSTALLY_GL_NEXT_H\n\n",
            '#include "gl_shim/context/gl_types.h"\n\n',
            "/* One member per command that is wrapped or that the shim calls itself. After\n"
            " * gl_next_fill() no member is NULL. */\n",
            f"#define GL_N_NEXT {len(self.table)}\n",
            "struct gl_next {\n",
        ]
        for command in self.table:
            out.append(declare(command, f"(*{member(command.name)})", "\t"))
        out.append(
            "};\n\n"
            "/* Fill every member from lookup(data, \"gl...\"). What is not found, or is one of our\n"
            " * own wrappers, becomes a function that does nothing and returns 0. No GL call. */\n"
            "void gl_next_fill(struct gl_next *next,\n"
            "\t\t  void *(*lookup)(void *data, const char *name), void *data);\n"
            "/* A member by the command's name; NULL where the table has none. */\n"
            "void (*gl_next_find(const struct gl_next *next, const char *name))(void);\n\n"
        )
        for hook in self.wrappers + self.hooks:
            out.append(declare(hook.command, hook.command.name, "GL_EXPORT "))
        out.append("\n#endif\n")
        return "".join(out)

    def next_c(self):
        out = [
            self.banner("gl_next.c", "fills the table of the driver's functions."),
            '#include <stdlib.h>\n#include <string.h>\n\n#include "gl_next.h"\n'
            '#include "gl_shim/window/real.h"\n'
            '#include "layer/log.h"\n\n',
            "/* Stand-ins ignore what they are given. */\n"
            '#pragma GCC diagnostic ignored "-Wunused-parameter"\n\n',
        ]
        for command in self.table:
            body = "" if command.returns == "void" else "\treturn 0;\n"
            name = "no_" + member(command.name)
            out.append(head(command, name, "static ") + f"\n{{\n{body}}}\n\n")
        out.append(
            "/* In the order of struct gl_next, which is that of the names. */\n"
            "static const struct {\n"
            "\tconst char *name;\n"
            "\tvoid (*stand_in)(void);\n"
            "} members[GL_N_NEXT] = {\n"
        )
        for command in self.table:
            stand_in = f"(void (*)(void))no_{member(command.name)}"
            out.append(f'\t{{ "{command.name}", {stand_in} }},\n')
        out.append(
            "};\n"
            "_Static_assert(sizeof(struct gl_next) == GL_N_NEXT * sizeof(void (*)(void)),\n"
            '\t       "struct gl_next holds function pointers and nothing else");\n\n'
            "static int\n"
            "compare(const void *name, const void *member)\n"
            "{\n"
            "\treturn strcmp(name, *(const char *const *)member);\n"
            "}\n\n"
            "void\n"
            "(*gl_next_find(const struct gl_next *next, const char *name))(void)\n"
            "{\n"
            "\tvoid (*found)(void);\n"
            "\tconst void *row = bsearch(name, members, GL_N_NEXT, sizeof(members[0]), compare);\n"
            "\tif (!row)\n"
            "\t\treturn NULL;\n"
            "\tsize_t i = (size_t)((const char *)row - (const char *)members) / sizeof(members[0]);\n"
            "\tmemcpy(&found, (const char *)next + i * sizeof(found), sizeof(found));\n"
            "\treturn found;\n"
            "}\n\n"
            "void\n"
            "gl_next_fill(struct gl_next *next, void *(*lookup)(void *data, const char *name),"
            " void *data)\n"
            "{\n"
            "\tconst char *refused = NULL;\n"
            "\tfor (size_t i = 0; i < GL_N_NEXT; i++) {\n"
            "\t\tvoid (*member)(void) = members[i].stand_in;\n"
            "\t\tvoid *found = lookup(data, members[i].name);\n"
            "\t\tif (found && gl_real_is_own(found))\n"
            "\t\t\trefused = members[i].name;\n"
            "\t\telse if (found)\n"
            "\t\t\tmember = (void (*)(void))(uintptr_t)found;\n"
            "\t\tmemcpy((char *)next + i * sizeof(member), &member, sizeof(member));\n"
            "\t}\n"
            "\tif (refused)\n"
            '\t\ttally_log_say(TALLY_LEVEL_WARNING, "gl",\n'
            '\t\t\t      "another library gives us our own %s as the driver\'s, and maybe "\n'
            '\t\t\t      "others: they do nothing; preload passtally before other overlays",\n'
            "\t\t\t      refused);\n"
            "}\n"
        )
        return "".join(out)

    def wrappers_c(self):
        headers = ("context/context", "game/hide", "game/queries", "game/query_names", "image/framebuffer",
                   "image/image_info", "image/picture", "pass/frames", "pass/labels", "pass/work", "pass/workloads",
                   "window/dispatch")
        out = [self.banner("gl_wrappers.c", "what the game calls instead of the driver.")]
        out += [f'#include "gl_shim/{header}.h"\n' for header in headers]
        for wrapper in self.wrappers:
            out.append("\n" + write_wrapper(wrapper))
        return "".join(out)

    def platform_c(self):
        out = [
            self.banner("gl_platform.c", "what the game calls instead of GLX and EGL."),
            *(f'#include "gl_shim/{header}.h"\n'
              for header in ("image/drawable", "pass/work", "window/platform", "window/real")),
        ]
        out += ["\n" + write_platform(hook) for hook in self.hooks if not hook.by_hand]
        return "".join(out)

    def enums_h(self):
        rows = [f"#define GL_{name} 0x{value:04X}\n" for name, value in self.enums]
        return (
            self.banner("gl_enums.h", "the OpenGL values that the shim knows by name.")
            + "#ifndef PASSTALLY_GL_ENUMS_H\n#define PASSTALLY_GL_ENUMS_H\n\n" + "".join(rows) + "\n#endif\n"
        )

    def formats_h(self):
        return (
            self.banner("gl_formats.h", "names of internal formats, by value.")
            + "static const struct gl_format {\n\tunsigned value;\n\tconst char *name;\n} gl_formats[] = {\n"
            + "".join(f'\t{{ 0x{value:04X}, "{name}" }},\n' for value, name in self.formats) + "};\n"
        )

    def names_h(self):
        out = [
            self.banner("gl_names.h", "the names we have a hook for."),
            "#ifndef PASSTALLY_GL_NAMES_H\n#define PASSTALLY_GL_NAMES_H\n\n"
            "struct gl_hook {\n"
            "\tconst char *name;\n"
            "\tvoid (*hook)(void);\n"
            "\tint slot; /* its member's place in struct gl_next; -1: a glX or egl call */\n"
            "};\n\n"
            "/* Rows of the calls of GLX and EGL. */\n"
            "enum gl_hook_row {\n",
        ]
        for index, name in enumerate(self.names):
            if name in self.platform:
                out.append(f"\tGL_HOOK_{name} = {index},\n")
        out.append(
            f"\tGL_N_HOOKS = {len(self.names)},\n"
            "};\n\n"
            "extern const struct gl_hook gl_hooks[GL_N_HOOKS]; /* sorted by name */\n\n"
            "/* The row of a name, -1 when we have no hook for it. Any thread, any time: no lock,\n"
            " * no memory, no call into libc. */\n"
            "int gl_hook_find(const char *name);\n\n"
            "#endif\n"
        )
        return "".join(out)

    def names_c(self):
        out = [
            self.banner("gl_names.c", "the names we have a hook for."),
            '#include "gl_names.h"\n#include "gl_next.h"\n#include "gl_shim/window/real.h"\n\n',
            "const struct gl_hook gl_hooks[GL_N_HOOKS] = {\n",
        ]
        for name in self.names:
            slot = -1 if name in self.platform else self.slots[name]
            out.append(f'\t{{ "{name}", (void (*)(void)){name}, {slot} }},\n')
        out.append(
            "};\n\n"
            "static GL_UNCHECKED int\n"
            "compare(const char *a, const char *b)\n"
            "{\n"
            "\twhile (*a && *a == *b) {\n"
            "\t\ta++;\n"
            "\t\tb++;\n"
            "\t}\n"
            "\treturn (unsigned char)*a - (unsigned char)*b;\n"
            "}\n\n"
            "GL_UNCHECKED int\n"
            "gl_hook_find(const char *name)\n"
            "{\n"
            "\tif (name[0] != 'g' && name[0] != 'e')\n"
            "\t\treturn -1;\n"
            "\tint low = 0, high = GL_N_HOOKS - 1;\n"
            "\twhile (low <= high) {\n"
            "\t\tint middle = (low + high) / 2;\n"
            "\t\tint order = compare(name, gl_hooks[middle].name);\n"
            "\t\tif (order == 0)\n"
            "\t\t\treturn middle;\n"
            "\t\tif (order < 0)\n"
            "\t\t\thigh = middle - 1;\n"
            "\t\telse\n"
            "\t\t\tlow = middle + 1;\n"
            "\t}\n"
            "\treturn -1;\n"
            "}\n"
        )
        return "".join(out)

    def map(self):
        names = sorted(set(self.names) | set(self.exports))
        return (
            f"/* {self.origin} Do not edit.\n"
            " * The node has no name on purpose: under a named one programs that ask for\n"
            " * dlsym@GLIBC_2.34 would not find ours. */\n"
            "{\n\tglobal:\n" + "".join(f"\t\t{name};\n" for name in names)
            + "\tlocal:\n\t\t*;\n};\n"
        )

    def files(self):
        return {
            "gl_next.h": self.next_h(),
            "gl_next.c": self.next_c(),
            "gl_wrappers.c": self.wrappers_c(),
            "gl_platform.c": self.platform_c(),
            "gl_names.h": self.names_h(),
            "gl_names.c": self.names_c(),
            "gl_shim.map": self.map(),
            "gl_enums.h": self.enums_h(),
            "gl_formats.h": self.formats_h(),
        }


def generate(options):
    """All output files as {name: text}."""
    source = registry.read(options.registry)
    rules = Rules(options.rules)
    commands = dict(source.commands)
    for command in rules.extra:
        commands.setdefault(command.name, command)  # a newer registry knows better
    origin = (
        f"Made by scripts/gen_gl.py from {os.path.basename(options.registry)} and "
        f"{os.path.basename(options.rules)}."
    )
    generator = Generator(rules, commands, source, origin, options.export)
    found = {command.name for command in generator.table if command.name in source.commands}
    if options.learn:  # gl.xml states no version
        known.learn(options.known, "scripts/gen_gl.py", "gl.xml", "0", found)
    elif options.known:
        known.check(options.known, options.registry, "0", found)
    return generator.files()


def main():
    parser = argparse.ArgumentParser(description="Write the OpenGL shim's wrappers.")
    parser.add_argument("--registry", required=True, help="gl.xml")
    parser.add_argument("--rules", required=True, help="hooks.rules")
    parser.add_argument("--known", help="hooks.known: what the registry has to have")
    parser.add_argument("--learn", action="store_true", help="add what is new in the registry to --known")
    parser.add_argument("--out", required=True, help="folder to write into")
    parser.add_argument("--export", action="append", default=[], help="export this name as well")
    options = parser.parse_args()
    try:
        files = generate(options)
        for name, text in files.items():
            with open(os.path.join(options.out, name), "w", encoding="utf-8") as file:
                file.write(text)
    except (RulesError, RegistryError, OSError) as error:
        sys.exit(f"gen_gl.py: {error}")


if __name__ == "__main__":
    main()
