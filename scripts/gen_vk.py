#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the Vulkan layer's wrappers and tables from a registry (vk.xml) and vk_layer/hooks.rules.

Output, into --out: vk_next.h and vk_next.c (the tables of the next layer's functions),
vk_wrappers.c (what the game calls), vk_names.h and vk_names.c (name -> hook), vk_sizes.h and
vk_sizes.c (how large an extension structure is), vk_formats.h and vk_formats.c (what a format is
called). Same input, same bytes. The language of the rules is described at the top of hooks.rules; all decisions
are made there and in vk_layer/, none here.
"""

import argparse
import os
import re
import sys
from dataclasses import dataclass

import known
import vk_registry
from gen_gl import RulesError, fold
from vk_registry import RegistryError

FORMS = ("count", "around", "device", "wait", "event", "hand")
OTHERS = ("use", "instance", "newer")
WORDS = {"c", "d", "true", "false"}  # names that an expression may use in addition to parameters
BETA = "provisional"  # the only platform whose header the sizes include


@dataclass
class Rule:
    form: str
    pattern: str
    body: str
    line: int
    used: int = 0


@dataclass(frozen=True)
class Wrapper:
    command: vk_registry.Command
    form: str
    before: str  # of `count` and `hand`: the whole expression
    after: str = ""
    quick: str = ""  # of `around`: where it is true, only the call is left to do


class Rules:
    """hooks.rules, parsed."""

    def __init__(self, path):
        self.path = path
        self.rules = []
        self.use = []
        self.instance = []
        self.newer = []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                self._take(line.split("#", 1)[0].strip(), number)

    def _take(self, line, number):
        if not line:
            return
        form, _, rest = line.partition(" ")
        rest = rest.strip()
        if form in FORMS:
            self._take_rule(form, rest, number)
        elif form in ("use", "instance"):
            getattr(self, form).extend((name, number) for name in rest.split())
        elif form == "newer":
            self._take_newer(rest, number)
        else:
            known = ", ".join(FORMS + OTHERS)
            raise RulesError(f"{self.path}:{number}: unknown form '{form}', known are {known}")

    def _take_rule(self, form, rest, number):
        pattern, _, body = rest.partition(" ")
        body = body.strip()
        if not body:
            raise RulesError(f"{self.path}:{number}: '{form}' needs a pattern and a body")
        if form in ("around", "device", "wait", "event") and body.count("|") != 1:
            before = "KIND" if form in ("wait", "event") else "BEFORE"
            raise RulesError(f"{self.path}:{number}: '{form}' needs {before} | AFTER")
        if form == "hand" and not re.fullmatch(r"[a-z_]\w*", body):
            raise RulesError(f"{self.path}:{number}: 'hand' needs the name of a function")
        self.rules.append(Rule(form, pattern, body, number))

    def _take_newer(self, rest, number):
        prototype, _, alias = rest.partition("=")
        try:
            command = vk_registry.parse_prototype(prototype)
        except RegistryError as error:
            raise RulesError(f"{self.path}:{number}: {error}") from error
        if alias.strip():
            command = vk_registry.Command(command.name, command.returns, command.params,
                                          alias.strip())
        self.newer.append(command)


def add_newer(source, rules):
    """Commands given by hand are used where the registry has none, or only for a platform."""
    added = set()
    for command in rules.newer:
        if command.name in source.commands and command.name not in source.platforms:
            continue  # a newer registry knows better
        source.commands[command.name] = command
        source.platforms.pop(command.name, None)
        added.add(command.name)
    for command in rules.newer:
        if command.alias and command.alias not in source.commands:
            raise RulesError(f"{rules.path}: {command.name} is another spelling of {command.alias}, "
                             "which there is not")
    return added


def expand(expression, command, where):
    """Choose {a|b|=0} and check every name."""

    def choose(match):
        for choice in match.group(1).split("|"):
            if choice.startswith("="):
                return choice[1:]
            if command.has(choice):
                return choice
        raise RulesError(f"{where}: {command.name} has none of the parameters {match.group(0)}")

    text = re.sub(r"\{([^}]*)\}", choose, expression)
    for match in re.finditer(r"(->|\.)?\s*\b([A-Za-z_]\w*)", text):
        word = match.group(2)
        called = text[match.end():match.end() + 1] == "("
        if match.group(1) or called or word in WORDS or word.isupper() or command.has(word):
            continue
        names = ", ".join(param.name for param in command.params) or "none"
        raise RulesError(f"{where}: {command.name} has no parameter '{word}' (it has: {names})")
    return text


def make_wrapper(rule, command, where):
    first = command.params[0].type if command.params else ""
    if any(command.has(name) for name in ("c", "d", "next", "result", "wait")):
        raise RulesError(f"{where}: {command.name} has a parameter named like a variable of ours")
    if rule.form in ("device", "wait", "event", "hand"):
        if first not in ("VkDevice", "VkQueue", "VkCommandBuffer"):
            raise RulesError(f"{where}: {command.name} does not begin with a device's handle")
        if rule.form == "hand":
            return Wrapper(command, rule.form, rule.body)
        if command.returns not in {"wait": ("VkResult", "void"), "event": ("VkResult",)}.get(rule.form, (command.returns,)):
            raise RulesError(f"{where}: {command.name} does not say how it ended")
    elif first != "VkCommandBuffer" or command.returns != "void":
        raise RulesError(f"{where}: {command.name} is not recorded into a command buffer")
    if rule.form == "count":
        return Wrapper(command, rule.form, expand(rule.body, command, where))
    quick, question, body = rule.body.rpartition("?")
    before, after = ("" if part.strip() == "-" else expand(part.strip(), command, where)
                     for part in re.split(r"\|(?![^{]*\})", body))
    return Wrapper(command, rule.form, before, after,
                   expand(quick.strip(), command, where) if question else "")


def resolve(rules, source):
    """Which rule hooks which command: a list of Wrapper, by name."""
    suffix = "(?:" + "|".join(re.escape(vendor) for vendor in source.vendors) + ")?"
    compiled = [(rule, re.compile(rule.pattern.replace("(V)", suffix))) for rule in rules.rules]
    wrappers = []
    for name in sorted(source.commands):
        if name in source.platforms:
            continue  # the headers that we include do not have its types
        rule = next((rule for rule, pattern in compiled if pattern.fullmatch(name)), None)
        if rule:
            rule.used += 1
            wrappers.append(make_wrapper(rule, source.commands[name], f"{rules.path}:{rule.line}"))
    for rule in rules.rules:
        if not rule.used:
            raise RulesError(f"{rules.path}:{rule.line}: no command is hooked by '{rule.pattern}'")
    check_spellings(wrappers, source)
    return wrappers


def check_spellings(wrappers, source):
    """Every spelling of a hooked command is hooked, the same way: a game may mix them."""
    how = {wrapper.command.name: (wrapper.form, wrapper.before, wrapper.after, wrapper.quick)
           for wrapper in wrappers}
    for name, command in source.commands.items():
        alias = command.alias
        if not alias or name in source.platforms or alias in source.platforms:
            continue
        if how.get(name) != how.get(alias):
            raise RulesError(
                f"{name} is another spelling of {alias}, but one is "
                f"{how.get(name, ['not hooked'])[0]} and the other "
                f"{how.get(alias, ['not hooked'])[0]}, or not with the same body"
            )


def member(name):
    return name[2:]


def arguments(command):
    return [param.name for param in command.params]


def declare(command, before, after):
    """A declaration with the parameters written out."""
    space = "" if command.returns.endswith("*") else " "
    params = [param.declaration() for param in command.params] or ["void"]
    return fold(f"{before[0]}{command.returns}{space}{before[1]}", params, after)


def head(command, name, prefix="static VKAPI_ATTR ", call=" VKAPI_CALL"):
    """The head of a definition: the return type on a separate line."""
    params = [param.declaration() for param in command.params] or ["void"]
    return f"{prefix}{command.returns}{call}\n" + fold(name, params, "")


def write_count(wrapper):
    command = wrapper.command
    name = member(command.name)
    buffer = command.params[0].name
    call = arguments(command)
    slow = (
        head(command, f"slow_{name}", "static __attribute__((noinline, cold)) ", "") + "\n{\n"
        f"\tstruct vk_command *c = vk_command_find({buffer});\n"
        "\tif (!c) {\n"
        + fold(f"\t\tvk_device_find({buffer})->next.{name}", call, ";\n")
        + "\t\treturn;\n\t}\n"
        "\tbool counts = c->counts;\n"
        "\tif (!counts)\n"
        "\t\tvk_draw_begin(c);\n"
        f"\t{wrapper.before};\n"
        + fold(f"\tc->next->{name}", call, ";\n")
        + "\tif (!counts)\n"
        "\t\tvk_workload_end(c);\n}\n\n"
    )
    return (
        slow + head(command, f"hook_{name}") + "\n{\n"
        "\tstruct vk_command *c = vk_last_command;\n"
        f"\tif (__builtin_expect(vk_command_is(c, {buffer}) && c->counts, 1)) {{\n"
        f"\t\t{wrapper.before};\n"
        + fold(f"\t\tc->next->{name}", call, ";\n")
        + "\t\treturn;\n\t}\n" + fold(f"\tslow_{name}", call, ";\n") + "}\n"
    )


def write_around(wrapper):
    command = wrapper.command
    name = member(command.name)
    buffer = command.params[0].name
    call = arguments(command)
    before = f"\t{wrapper.before};\n" if wrapper.before else ""
    after = f"\t{wrapper.after};\n" if wrapper.after else ""
    how = [f"hook_{name}"]
    hook = ""
    if wrapper.quick:
        how = [f"slow_{name}", "static __attribute__((noinline)) ", ""]
        hook = (
            "\n" + head(command, f"hook_{name}") + "\n{\n"
            "\tstruct vk_command *c = vk_last_command;\n"
            f"\tif (vk_command_is(c, {buffer}) && {wrapper.quick})\n"
            + fold(f"\t\tc->next->{name}", call, ";\n")
            + "\telse\n" + fold(f"\t\tslow_{name}", call, ";\n") + "}\n"
        )
    return (
        head(command, *how) + "\n{\n"
        f"\tstruct vk_command *c = vk_command_find({buffer});\n"
        "\tif (__builtin_expect(!c, 0)) {\n"
        + fold(f"\t\tvk_device_find({buffer})->next.{name}", call, ";\n")
        + "\t\treturn;\n\t}\n"
        + before + fold(f"\tc->next->{name}", call, ";\n") + after + "}\n" + hook
    )


def write_hand(wrapper):
    command = wrapper.command
    name = member(command.name)
    call = arguments(command)
    keyword = "" if command.returns == "void" else "return "
    done = "\t\treturn;\n" if command.returns == "void" else ""
    brace, close = (" {", "\t}\n") if done else ("", "")
    return (
        head(command, f"hook_{name}") + "\n{\n"
        f"\tstruct vk_device *d = vk_device_find({call[0]});\n"
        f"\tif (__builtin_expect(!d->tracked, 0)){brace}\n"
        + fold(f"\t\t{keyword}d->next.{name}", call, ";\n") + done + close
        + fold(f"\t{keyword}{wrapper.before}", ["d", f"d->next.{name}"] + call, ";\n") + "}\n"
    )


def write_device(wrapper):
    command = wrapper.command
    name = member(command.name)
    call = arguments(command)
    keeps, returns, made = "", "", "d->tracked"
    if command.returns == "VkResult":
        keeps, returns, made = "VkResult result = ", "\treturn result;\n", f"{made} && result == VK_SUCCESS"

    def step(test, text):
        return f"\tif ({test})\n\t\t{text};\n" if text else ""

    return (
        head(command, f"hook_{name}") + "\n{\n"
        f"\tstruct vk_device *d = vk_device_find({call[0]});\n"
        + step("d->tracked", wrapper.before)
        + fold(f"\t{keeps}d->next.{name}", call, ";\n")
        + step(made, wrapper.after) + returns + "}\n"
    )


def write_wait(wrapper):
    command = wrapper.command
    name = member(command.name)
    call = arguments(command)
    keeps, result, returns = "VkResult result = ", "result", "\treturn result;\n"
    forward = "\tif (__builtin_expect(!d->tracked, 0))\n" + fold(f"\t\treturn d->next.{name}", call, ";\n")
    if command.returns == "void":
        keeps, result, returns = "", "VK_SUCCESS", ""
        forward = ("\tif (__builtin_expect(!d->tracked, 0)) {\n" + fold(f"\t\td->next.{name}", call, ";\n")
                   + "\t\treturn;\n\t}\n")
    after = f"\tif (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR)\n\t\t{wrapper.after};\n"
    return (
        head(command, f"hook_{name}") + "\n{\n"
        f"\tstruct vk_device *d = vk_device_find({call[0]});\n"
        + forward + "\tstruct tally_clock_wait wait = vk_wait_begin(d);\n"
        + fold(f"\t{keeps}d->next.{name}", call, ";\n")
        + f'\tvk_wait_end(d, &wait, {result}, TALLY_EVENT_{wrapper.before}, "{command.name}");\n'
        + (after if wrapper.after else "") + returns + "}\n"
    )


def write_event(wrapper):
    command = wrapper.command
    name = member(command.name)
    kind, _, what = wrapper.before.partition(",")
    after = f"\t\t{wrapper.after};\n" if wrapper.after else ""
    return (
        head(command, f"hook_{name}") + "\n{\n"
        f"\tstruct vk_device *d = vk_device_find({arguments(command)[0]});\n"
        f'\tstruct tally_event event = vk_event_begin(d, TALLY_EVENT_{kind}, "{command.name}");\n'
        + fold(f"\tVkResult result = d->next.{name}", arguments(command), ";\n")
        + "\tif (d->tracked && result == VK_SUCCESS) {\n"
        f"\t\tvk_event_end(&event,{what});\n" + after + "\t}\n\treturn result;\n}\n"
    )


BODIES = {"count": write_count, "around": write_around, "device": write_device,
          "wait": write_wait, "event": write_event, "hand": write_hand}


class Generator:
    """Everything the output files are made of."""

    def __init__(self, rules, source, newer, origin):
        self.origin = origin
        self.source = source
        self.newer = newer
        self.wrappers = resolve(rules, source)
        self.use = self._known(rules, rules.use)
        self.instance = self._known(rules, rules.instance)
        self.stand_ins = {wrapper.command.name for wrapper in self.wrappers} | {
            name for name in self.use + self.instance if name in source.core}

    def _known(self, rules, wanted):
        for name, line in wanted:
            if name not in self.source.commands or name in self.source.platforms:
                raise RulesError(f"{rules.path}:{line}: there is no command '{name}' to use")
        return sorted({name for name, _ in wanted})

    def type_of(self, name):
        return f"PFN_newer_{member(name)}" if name in self.newer else f"PFN_{name}"

    def spellings(self, name):
        return [other for other in self.source.spellings(name) if other not in self.source.platforms]

    def banner(self, file, what):
        return f"/* {file} - {what}\n *\n * {self.origin} Do not edit.\n */\n"

    def _hands_h(self):
        """Prototypes of the functions that `hand` rules name, each with its first spelling."""
        hands = {}
        for wrapper in self.wrappers:
            if wrapper.form == "hand" and not (wrapper.before in hands and wrapper.command.alias):
                hands[wrapper.before] = wrapper.command
        out = []
        for function, command in sorted(hands.items()):
            space = "" if command.returns.endswith("*") else " "
            params = ["struct vk_device *d", f"{self.type_of(command.name)} next"]
            params += [param.declaration() for param in command.params]
            out.append(fold(f"{command.returns}{space}{function}", params, ";\n"))
        return "".join(out)

    def next_h(self):
        out = [
            self.banner("vk_next.h", "the next layer's functions."),
            "#ifndef PASSTALLY_VK_NEXT_H\n#define PASSTALLY_VK_NEXT_H\n\n"
            '#include "vk_layer/vk_types.h"\n\n'
            "/* Newer than the oldest headers that we build with. */\n",
        ]
        for name in sorted(self.newer):
            out.append(declare(self.source.commands[name],
                               ("typedef ", f"(VKAPI_PTR *{self.type_of(name)})"), ";\n"))
        out.append(
            "\n/* Our own calls, each under the first spelling found; NULL when there is none. What\n"
            " * is in Vulkan 1.0 is never NULL: see below. */\n"
            "struct vk_instance_next {\n"
            "\tPFN_vkGetInstanceProcAddr GetInstanceProcAddr;\n"
        )
        out += [f"\t{self.type_of(name)} {member(name)};\n" for name in self.instance]
        out.append(
            "};\n\n"
            "/* What is hooked, one member a spelling: never NULL once loaded. What the next layer\n"
            " * does not have is a function that does nothing and fails where it can. In `use` our\n"
            " * own calls: NULL where the device has none, but for what is in Vulkan 1.0. */\n"
            "struct vk_device_next {\n"
            "\tPFN_vkGetDeviceProcAddr GetDeviceProcAddr;\n"
        )
        out += [f"\t{self.type_of(w.command.name)} {member(w.command.name)};\n"
                for w in self.wrappers]
        out.append("\tstruct {\n")
        out += [f"\t\t{self.type_of(name)} {member(name)};\n" for name in self.use]
        out.append(
            "\t} use;\n"
            "};\n\n"
            "void vk_instance_next_load(struct vk_instance_next *next, VkInstance instance,\n"
            "\t\t\t   PFN_vkGetInstanceProcAddr get);\n"
            "/* Commands of an extension of the instance are there without it being enabled: the\n"
            " * loader (1.3.204 to 1.4.328) hands out what the instance's look-up finds, so that is\n"
            " * asked where the device's finds nothing. */\n"
            "void vk_device_next_load(struct vk_device_next *next, VkDevice device,\n"
            "\t\t\t PFN_vkGetDeviceProcAddr get, VkInstance instance,\n"
            "\t\t\t PFN_vkGetInstanceProcAddr get_of_instance);\n\n"
            "/* The hooks that are written by hand. Each forwards the call itself, to `next`: the\n"
            " * function of the spelling that the game called. */\n"
            "struct vk_device;\n"
        )
        return "".join(out) + self._hands_h() + "\n#endif\n"

    def _stand_ins_c(self):
        out = []
        for name in sorted(self.stand_ins):
            command = self.source.commands[name]
            body = "" if command.returns == "void" else "\treturn VK_ERROR_EXTENSION_NOT_PRESENT;\n"
            out.append(head(command, f"no_{member(name)}") + f"\n{{\n{body}}}\n\n")
        return "".join(out)

    def _rows(self, name, struct, rows, required):
        """A table of members and names; several rows of one member: the first one found counts. A `required`
        member has a substitute where no driver or layer has the function."""
        out = [f"static const struct row {name}[] = {{\n"]
        for path, spelling in rows:
            by_instance = "true" if spelling in self.source.of_instance else "false"
            stand_in = "NULL"
            if spelling in required or spelling in self.source.core:
                stand_in = f"(PFN_vkVoidFunction)no_{member(spelling)}"
            out.append(f'\t{{ offsetof(struct {struct}, {path}), "{spelling}",\n'
                       f"\t  {stand_in}, {by_instance} }},\n")
        return "".join(out) + "};\n\n"

    def next_c(self):
        hooked = [(member(w.command.name), w.command.name) for w in self.wrappers]
        used = [("use." + member(name), spelling) for name in self.use
                for spelling in self.spellings(name)]
        asked = [(member(name), spelling) for name in self.instance
                 for spelling in self.spellings(name)]
        return (
            self.banner("vk_next.c", "fills the tables of the next layer's functions.")
            + '#include "vk_next.h"\n\n#include <stdbool.h>\n#include <stddef.h>\n'
            "#include <string.h>\n\n"
            "/* Stand-ins ignore what they are given. */\n"
            '#pragma GCC diagnostic ignored "-Wunused-parameter"\n\n'
            + self._stand_ins_c()
            + "struct row {\n"
            "\tuint16_t offset;\n"
            "\tconst char *name;\n"
            "\tPFN_vkVoidFunction stand_in; /* NULL: the member may be NULL */\n"
            "\tbool by_instance;\t     /* of an extension of the instance */\n"
            "};\n\n"
            + self._rows("hooked_rows", "vk_device_next", hooked, self.stand_ins)
            + self._rows("used_rows", "vk_device_next", used, ())
            + self._rows("instance_rows", "vk_instance_next", asked, ())
            + "static void\n"
            "fill(void *table, const struct row *row, PFN_vkVoidFunction found)\n"
            "{\n"
            "\tchar *member = (char *)table + row->offset;\n"
            "\tPFN_vkVoidFunction there;\n"
            "\tmemcpy(&there, member, sizeof(there));\n"
            "\tif (!found)\n"
            "\t\tfound = row->stand_in;\n"
            "\tif (!there)\n"
            "\t\tmemcpy(member, &found, sizeof(found));\n"
            "}\n\n"
            "void\n"
            "vk_instance_next_load(struct vk_instance_next *next, VkInstance instance,\n"
            "\t\t      PFN_vkGetInstanceProcAddr get)\n"
            "{\n"
            "\tmemset(next, 0, sizeof(*next));\n"
            "\tnext->GetInstanceProcAddr = get;\n"
            "\tfor (size_t i = 0; i < sizeof(instance_rows) / sizeof(instance_rows[0]); i++)\n"
            "\t\tfill(next, &instance_rows[i], get(instance, instance_rows[i].name));\n"
            "}\n\n"
            "void\n"
            "vk_device_next_load(struct vk_device_next *next, VkDevice device,\n"
            "\t\t    PFN_vkGetDeviceProcAddr get, VkInstance instance,\n"
            "\t\t    PFN_vkGetInstanceProcAddr get_of_instance)\n"
            "{\n"
            "\tmemset(next, 0, sizeof(*next));\n"
            "\tnext->GetDeviceProcAddr = get;\n"
            "\tfor (size_t i = 0; i < sizeof(used_rows) / sizeof(used_rows[0]); i++)\n"
            "\t\tfill(next, &used_rows[i], get(device, used_rows[i].name));\n"
            "\tfor (size_t i = 0; i < sizeof(hooked_rows) / sizeof(hooked_rows[0]); i++) {\n"
            "\t\tconst struct row *row = &hooked_rows[i];\n"
            "\t\tPFN_vkVoidFunction found = get(device, row->name);\n"
            "\t\tif (!found && row->by_instance)\n"
            "\t\t\tfound = get_of_instance(instance, row->name);\n"
            "\t\tfill(next, row, found);\n"
            "\t}\n"
            "}\n"
        )

    def wrappers_c(self):
        headers = ("record/counted", "record/workloads", "submit/submission", "record/targets", "exact/semaphores",
                   "submit/frames")
        out = [self.banner("vk_wrappers.c", "what the game calls instead of the next layer.")]
        out.append('#include "vk_names.h"\n')
        out += [f'#include "vk_layer/{header}.h"\n' for header in headers]
        for wrapper in self.wrappers:
            out.append("\n" + BODIES[wrapper.form](wrapper))
        out.append(
            f"\nconst struct vk_hook vk_hooks[VK_N_HOOKS] = {{\n"
        )
        for wrapper in self.wrappers:
            name = member(wrapper.command.name)
            out.append(f'\t{{ "vk{name}", (PFN_vkVoidFunction)hook_{name} }},\n')
        out.append("};\n")
        return "".join(out)

    def names_h(self):
        return (
            self.banner("vk_names.h", "the names we have a hook for.")
            + "#ifndef PASSTALLY_VK_NAMES_H\n#define PASSTALLY_VK_NAMES_H\n\n"
            '#include "vk_layer/vk_types.h"\n\n'
            "struct vk_hook {\n"
            "\tconst char *name;\n"
            "\tPFN_vkVoidFunction hook;\n"
            "};\n\n"
            f"#define VK_N_HOOKS {len(self.wrappers)}\n"
            "extern const struct vk_hook vk_hooks[VK_N_HOOKS]; /* sorted by name */\n\n"
            "/* NULL when we have no hook for it. */\n"
            "const struct vk_hook *vk_hook_find(const char *name);\n\n"
            "#endif\n"
        )

    def names_c(self):
        return (
            self.banner("vk_names.c", "the names we have a hook for.")
            + '#include "vk_names.h"\n\n#include <string.h>\n\n'
            "const struct vk_hook *\n"
            "vk_hook_find(const char *name)\n"
            "{\n"
            "\tint low = 0, high = VK_N_HOOKS - 1;\n"
            "\twhile (low <= high) {\n"
            "\t\tint middle = (low + high) / 2;\n"
            "\t\tint order = strcmp(name, vk_hooks[middle].name);\n"
            "\t\tif (order == 0)\n"
            "\t\t\treturn &vk_hooks[middle];\n"
            "\t\tif (order < 0)\n"
            "\t\t\thigh = middle - 1;\n"
            "\t\telse\n"
            "\t\t\tlow = middle + 1;\n"
            "\t}\n"
            "\treturn NULL;\n"
            "}\n"
        )

    def sizes_h(self):
        return (
            self.banner("vk_sizes.h", "how large the structures of a chain are.")
            + "#ifndef PASSTALLY_VK_SIZES_H\n#define PASSTALLY_VK_SIZES_H\n\n"
            '#include "vk_layer/vk_types.h"\n\n'
            "#include <stddef.h>\n\n"
            "/* Of any structure that says its type; 0: not known. */\n"
            "size_t vk_structure_size(VkStructureType type);\n\n"
            "#endif\n"
        )

    def sizes_c(self):
        out = [
            self.banner("vk_sizes.c", "how large the structures of a chain are."),
            "#ifndef VK_ENABLE_BETA_EXTENSIONS\n#define VK_ENABLE_BETA_EXTENSIONS 1\n#endif\n"
            '#include "vk_sizes.h"\n\n#include <vulkan/vulkan_beta.h>\n\n'
            "size_t\n"
            "vk_structure_size(VkStructureType type)\n"
            "{\n"
            "\t/* Not every case is one of the enumeration's that the headers declare. */\n"
            "\tswitch ((int)type) {\n",
        ]
        seen = set()
        for structure in self.source.structures:
            if structure.platform not in ("", BETA) or structure.type in seen:
                continue
            seen.add(structure.type)
            out.append(f"\tcase {structure.type}:\n\t\treturn sizeof({structure.name});\n")
        out.append("\tdefault:\n\t\treturn 0;\n\t}\n}\n")
        return "".join(out)

    def formats_h(self):
        return (
            self.banner("vk_formats.h", "what a format is called, and has.")
            + "#ifndef PASSTALLY_VK_FORMATS_H\n#define PASSTALLY_VK_FORMATS_H\n\n"
            '#include "vk_layer/vk_types.h"\n\n'
            "#include <stdbool.h>\n\n"
            "/* Without VK_FORMAT_; static. NULL when unknown. */\n"
            "const char *vk_format_name(VkFormat format);\n"
            "bool vk_format_has_depth(VkFormat format);\n"
            "bool vk_format_has_stencil(VkFormat format);\n\n"
            "#endif\n"
        )

    def formats_c(self):
        out = [
            self.banner("vk_formats.c", "what a format is called, and has."),
            '#include "vk_formats.h"\n\n'
            "const char *\nvk_format_name(VkFormat format)\n{\n\tswitch ((int)format) {\n",
        ]
        for row in self.source.formats:
            name = row.name.removeprefix("VK_FORMAT_")
            out.append(f'\tcase {row.name}:\n\t\treturn "{name}";\n')
        out.append("\tdefault:\n\t\treturn NULL;\n\t}\n}\n")
        for what in ("depth", "stencil"):
            out.append(f"\nbool\nvk_format_has_{what}(VkFormat format)\n{{\n"
                       "\tswitch ((int)format) {\n")
            out += [f"\tcase {row.name}:\n" for row in self.source.formats
                    if getattr(row, "has_" + what)]
            out.append("\t\treturn true;\n\tdefault:\n\t\treturn false;\n\t}\n}\n")
        return "".join(out)

    def found(self, of_registry):
        """What came from the registry, for hooks.known."""
        used = [spelling for name in self.use + self.instance for spelling in self.spellings(name)]
        names = set(used + [wrapper.command.name for wrapper in self.wrappers]) & of_registry
        kind = {name: "instance:" for name in self.source.of_instance} | {name: "core:" for name in self.source.core}
        return {kind.get(name, "") + name for name in names} | {
            f"structures>={len(self.source.structures)}", f"formats>={len(self.source.formats)}"}

    def files(self):
        return {
            "vk_next.h": self.next_h(),
            "vk_next.c": self.next_c(),
            "vk_wrappers.c": self.wrappers_c(),
            "vk_names.h": self.names_h(),
            "vk_names.c": self.names_c(),
            "vk_sizes.h": self.sizes_h(),
            "vk_sizes.c": self.sizes_c(),
            "vk_formats.h": self.formats_h(),
            "vk_formats.c": self.formats_c(),
        }


def generate(options):
    """All output files as {name: text}."""
    source = vk_registry.read(options.registry)
    rules = Rules(options.rules)
    of_registry = set(source.commands)
    newer = add_newer(source, rules)
    origin = (
        f"Made by scripts/gen_vk.py from {os.path.basename(options.registry)} and "
        f"{os.path.basename(options.rules)}."
    )
    generator = Generator(rules, source, newer, origin)
    if options.known and not source.version:
        raise RegistryError(f"the registry {options.registry} does not state its version")
    found = generator.found(of_registry)
    if options.learn:
        known.learn(options.known, "scripts/gen_vk.py", "vk.xml", source.version, found)
    elif options.known:
        known.check(options.known, options.registry, source.version, found, newer)
    return generator.files()


def main():
    parser = argparse.ArgumentParser(description="Write the Vulkan layer's wrappers and tables.")
    parser.add_argument("--registry", required=True, help="vk.xml")
    parser.add_argument("--rules", required=True, help="hooks.rules")
    parser.add_argument("--known", help="hooks.known: what the registry has to have")
    parser.add_argument("--learn", action="store_true", help="add what is new in the registry to --known")
    parser.add_argument("--out", required=True, help="folder to write into")
    options = parser.parse_args()
    try:
        files = generate(options)
        for name, text in files.items():
            with open(os.path.join(options.out, name), "w", encoding="utf-8") as file:
                file.write(text)
    except (RulesError, RegistryError, OSError) as error:
        sys.exit(f"gen_vk.py: {error}")


if __name__ == "__main__":
    main()
