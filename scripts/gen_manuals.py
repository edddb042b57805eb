#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the manual pages: passtally(1), one for each command, passtally-log(5) and passtally.conf(5).

    scripts/gen_manuals.py COMMAND SCHEMA EXTRA OUT NAME...

COMMAND is the built passtally: usage and options come from its --help. SCHEMA gives passtally-log(5).
EXTRA is a folder with hand-written parts, PAGE.txt: `= SECTION` begins a section, a blank line a
paragraph, `: TERM` an entry of a list, two blanks at a line's start text that stays as it is. NAMEs are
the commands that the build expects: one more or less is an error. Same input, same bytes.
"""

import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import help_text  # noqa: E402

def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    text = text.replace("`", "\\(ga").replace("'", "\\(aq").replace('"', "\\(dq")
    return text


def inline(text):
    """`words` in bold; the rest as it is."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"\\fB{escape(p)}\\fR" if i % 2 else escape(p) for i, p in enumerate(parts))


def line(text):
    text = inline(text)
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def paragraph(lines):
    if all(part.startswith("  ") for part in lines):
        return [".PP", ".nf", ".RS 4", *(line(part[2:]) for part in lines), ".RE", ".fi"]
    return [".PP", *(line(part.strip()) for part in lines)]


def option_head(option):
    head = f"\\fB\\-{option.letter}\\fR, " if option.letter else ""
    head += f"\\fB{escape('--' + option.name)}\\fR"
    if option.values:
        head += " " + re.sub(r"[A-Z][A-Z]*", lambda m: f"\\fI{m.group()}\\fR",
                             escape(option.values))
    return head


def usage_line(text):
    words = escape(text).split(" ")
    n = 2 if len(words) > 1 and re.fullmatch(r"[a-z\\-]+|COMMAND", words[1]) else 1
    rest = " ".join(re.sub(r"[A-Z]{3,}", lambda m: f"\\fI{m.group()}\\fR", w) for w in words[n:])
    return [".br", f"\\fB{' '.join(words[:n])}\\fR {rest}"]


def extra(folder, page):
    """Hand-written sections by name, in order."""
    path = folder / f"{page}.txt"
    sections, lines = {}, None
    for text in path.read_text(encoding="utf-8").split("\n") if path.exists() else []:
        if text.startswith("= "):
            lines = sections.setdefault(text[2:].strip(), [])
        elif lines is not None:
            lines.append(text)
    return sections


def render(lines):
    out, block = [], []
    for text in [*lines, ""]:
        if text.startswith(": "):
            out += flush(block) + [".TP", line(text[2:])]
            block = ["\0"]
        elif text.strip():
            block.append(text)
        else:
            out += flush(block)
            block = []
    return out


def flush(block):
    """A paragraph, or the text of a list's entry."""
    if block and block[0] == "\0":
        return [line(part.strip()) for part in block[1:]]
    return paragraph(block) if block else []


def title(page, section, version):
    return [f'.\\" Written by scripts/gen_manuals.py.',
            f'.TH {escape(page.upper())} {section} "" "passtally {version}" "passtally"']


def see_also(page, pages):
    others = [f"\\fB{escape(p)}\\fR({s})" for p, s in pages if p != page]
    return [".SH SEE ALSO", ",\n".join(others)]


def split_status(paragraphs):
    """Paragraphs, and the exit statuses in the one that lists them."""
    rest, statuses = [], []
    for lines in paragraphs:
        text = " ".join(part.strip() for part in lines)
        before, found, after = text.partition("Exit status:")
        if found:
            statuses = [s.strip(" .") for s in after.split(";")]
            lines = [before.strip()] if before.strip() else []
        if lines:
            rest.append(lines)
    return rest, statuses


def command_page(help_, version, folder, pages):
    page = f"passtally-{help_.name}"
    more = extra(folder, page)
    after, statuses = split_status(help_.after)
    out = title(page, 1, version)
    out += [".SH NAME", f"{escape(page)} \\- {escape(help_.summary[0].lower() + help_.summary[1:])}", ".SH SYNOPSIS"]
    for text in help_.usage:
        out += usage_line(text)
    out.append(".SH DESCRIPTION")
    for lines in help_.before:
        out += paragraph(lines)
    out += render(more.pop("DESCRIPTION", []))
    out.append(".SH OPTIONS")
    group = ""
    for option in help_.options:
        if option.group != group:
            group = option.group
            out.append(f".SS {escape(group)}")
        out += [".TP", option_head(option), line(option.help)]
    if after:
        out.append(".SH NOTES")
        for lines in after:
            out += paragraph(lines)
    if statuses:
        out.append(".SH EXIT STATUS")
        for status in statuses:
            match = re.match(r"(\d+)\s*(.*)", status)
            out += [".TP", match.group(1), line(match.group(2) or "success")] if match else [".PP", line(status)]
    for name, lines in more.items():
        out += [f".SH {name}", *render(lines)]
    return out + see_also(page, pages)


def main_page(commands, version, folder, pages):
    more = extra(folder, "passtally")
    out = title("passtally", 1, version)
    out += [".SH NAME", "passtally \\- measure what each render pass of a game costs on the GPU",
            ".SH SYNOPSIS", "\\fBpasstally\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]", ".br",
            "\\fBpasstally \\-\\-help\\fR | \\fB\\-\\-version\\fR", ".SH DESCRIPTION"]
    out += render(more.pop("DESCRIPTION", [])) + [".SH COMMANDS"]
    for help_ in commands:
        out += [".TP", f"\\fBpasstally {escape(help_.name)}\\fR", f"{escape(help_.summary)}: see",
                f"\\fBpasstally\\-{escape(help_.name)}\\fR(1)."]
    for name, lines in more.items():
        out += [f".SH {name}", *render(lines)]
    return out + see_also("passtally", pages)


# ---- passtally-log(5) ----

WORDS = {"integer": "integer", "string": "text", "number": "number", "array": "list", "object": "object",
         "boolean": "true or false"}


def type_of(node, definitions):
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        found = definitions[name]
        return f"see {name}" if "properties" in found else type_of(found, definitions)
    if "const" in node:
        return f"\"{node['const']}\""
    if "enum" in node:
        return " | ".join(str(v) for v in node["enum"])
    kind = node.get("type", "")
    if kind == "array" and isinstance(node.get("items"), dict):
        inner = type_of(node["items"], definitions)
        return f"list of {inner}" if inner else "list"
    kinds = kind if isinstance(kind, list) else [kind]
    return " or ".join(WORDS.get(k, k) for k in kinds)


def log_page(schema, version, folder, pages):
    definitions = schema["$defs"]
    out = title("passtally-log", 5, version)
    out += [".SH NAME", "passtally\\-log \\- the log that passtally writes, one JSON object a line", ".SH DESCRIPTION",
            *paragraph([schema["description"]])]
    told = [d["then"]["$ref"].rsplit("/", 1)[1] for d in schema["allOf"] if "then" in d]
    objects = told + [n for n, d in definitions.items() if "properties" in d and n not in told]
    for number, name in enumerate(objects):
        node = definitions[name]
        if number == 0:
            out.append(".SH LINES")
        elif number == len(told):
            out.append(".SH PARTS OF LINES")
        out += [f".SS {escape(name)}", *paragraph([node.get("description", "")] if node.get("description") else [])]
        required = node.get("required", [])
        for field, value in node["properties"].items():
            kind = type_of(value, definitions)
            always = "" if field in required else ", may be left out"
            text = value.get("description") or definitions.get(value.get("$ref", "/").rsplit("/", 1)[1], {}).get("description", "")
            out += [".TP", f"\\fB{escape(field)}\\fR ({escape(kind)}{always})", line(text) if text else "\\&"]
    flags = definitions["flags"]
    out += [".SH FLAGS", *paragraph([flags.get("description", "")])]
    for name, lines in extra(folder, "passtally-log").items():
        out += [f".SH {name}", *render(lines)]
    return out + see_also("passtally-log", pages)


def conf_page(version, folder, pages):
    out = title("passtally.conf", 5, version)
    out += [".SH NAME", "passtally.conf \\- options of passtally for all programs, or for one"]
    for name, lines in extra(folder, "passtally.conf").items():
        out += [f".SH {name}", *render(lines)]
    return out + see_also("passtally.conf", pages)


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    command, schema, folder, target = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
    try:
        _, commands = help_text.all_of(command)
        version = help_text.ask(command, "--version").split()[1]
    except ValueError as error:
        sys.exit(f"gen_manuals: {error}")
    if sorted(c.name for c in commands) != sorted(sys.argv[5:]):
        sys.exit(f"gen_manuals: {command} has {' '.join(c.name for c in commands)}, the build expects {' '.join(sys.argv[5:])}")
    pages = [("passtally", 1), *((f"passtally-{c.name}", 1) for c in commands), ("passtally-log", 5),
             ("passtally.conf", 5)]
    for path in folder.glob("*.txt"):
        if path.stem not in [p for p, _ in pages]:
            sys.exit(f"gen_manuals: {path} is of no page")
    written = {"passtally.1": main_page(commands, version, folder, pages),
               "passtally-log.5": log_page(json.loads(schema.read_text(encoding="utf-8")), version, folder, pages),
               "passtally.conf.5": conf_page(version, folder, pages)}
    for help_ in commands:
        written[f"passtally-{help_.name}.1"] = command_page(help_, version, folder, pages)
    for name, lines in written.items():
        (target / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
