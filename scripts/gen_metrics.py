#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the metrics of data/metrics/ into the C table of query/metric/table.h.

    scripts/gen_metrics.py OUTPUT FILE...
    scripts/gen_metrics.py --list FILE...

A file is blocks of `key = value` lines, one block a metric, headed by the metric's key:

    [MaliGPUCyclesGPUActive]
    name = GPU active cycles
    unit = cycles
    layouts = Mali-G715
    expression = $MaliGPUCyclesAnyQueueActive

A line that begins with a blank goes on with the one before; `#` begins a comment line. Fields:
`name`, `unit`, `expression` (needed), `layouts` (counter layouts that it applies to, with commas; * is any Mali,
empty any device), `expression [LAYOUTS]` (one of several, each for its own layouts), `printed` (the expression in
the document, where that differs), `description`, `erratum` (why it differs), `overview = yes`. Before the first
block are `dialect`, the `layouts` of blocks that do not name any, `clamp = UNIT` (expressions of that unit are
wrapped in max(min(..., 100), 0)), and `group NAME = LAYOUTS`, names that lists of layouts may use.

[0..N] in a key, name and expression represents each number for which there are counters.

--list prints the result as JSON. Same input, same bytes. Exit status 1 and "file:line: what is
wrong" for what cannot be read.
"""

import json
import pathlib
import re
import sys

DIALECTS = ("arm", "arm-2022", "bifrost", "passtally")
FIELDS = ("name", "unit", "layouts", "expression", "printed", "description", "erratum", "overview")
STRINGS = ("key", "name", "unit", "expression", "printed", "description", "erratum", "layouts")


class Bad(Exception):
    """The error, with file and line in front."""


def read_lines(path):
    """(line number, text) of each logical line."""
    number, text = 0, None
    for at, line in enumerate(path.read_text(encoding="ascii").split("\n"), 1):
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t") and line.strip():
            if text is None:
                raise Bad(f"{path}:{at}: there is no line before to go on with")
            text += " " + line.strip()
            continue
        if text is not None:
            yield number, text
        number, text = at, line.strip() or None
    if text is not None:
        yield number, text


def split_layouts(where, text, groups):
    """Names of layouts, with groups replaced by their members; ['*'] is any Mali, [] any device."""
    names = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        for name in groups.get(item, [item]):
            if name in names:
                raise Bad(f"{where}: {name} is named twice")
            if name != "*" and not name.startswith("Mali"):
                raise Bad(f"{where}: {name!r} is neither a layout nor a group; the groups are "
                          + ", ".join(groups))
            names.append(name)
    return names


class Block:
    """A metric as its block describes it."""

    def __init__(self, where, key):
        self.where, self.key = where, key
        self.fields, self.variants = {}, []

    def set(self, where, field, value):
        variant = re.fullmatch(r"expression \[(.*)\]", field)
        if variant:
            self.variants.append((where, variant.group(1), value))
        elif field not in FIELDS:
            raise Bad(f"{where}: there is no field {field!r}; the fields are " + ", ".join(FIELDS))
        elif field in self.fields:
            raise Bad(f"{where}: {field} was said before")
        else:
            self.fields[field] = value

    def rows(self, head, groups):
        for field in ("name", "unit"):
            if not self.fields.get(field):
                raise Bad(f"{self.where}: [{self.key}] has no {field}")
        if bool(self.variants) == ("expression" in self.fields):
            raise Bad(f"{self.where}: [{self.key}] needs either one `expression` or several "
                      "`expression [LAYOUTS]`")
        if self.variants and "layouts" in self.fields:
            raise Bad(f"{self.where}: [{self.key}] says its layouts with its expressions")
        layouts = self.fields.get("layouts", head["layouts"])
        variants = self.variants or [(self.where, layouts, self.fields["expression"])]
        for where, names, expression in variants:
            if not expression:
                raise Bad(f"{where}: [{self.key}] has an empty expression")
            if self.fields["unit"] == head["clamp"]:
                expression = f"max(min({expression}, 100), 0)"
            row = {field: self.fields.get(field) for field in STRINGS}
            row.update(key=self.key, expression=expression, where=where, dialect=head["dialect"],
                       layouts=",".join(split_layouts(where, names, groups)),
                       overview=self.fields.get("overview") == "yes")
            yield row


def read_file(path):
    """Rows of one file, in order."""
    head, groups, blocks = {"layouts": "", "clamp": None}, {}, []
    for number, text in read_lines(path):
        where = f"{path}:{number}"
        if text.startswith("["):
            if not text.endswith("]") or len(text) < 3 or re.search(r'[\s"\\]', text):
                raise Bad(f"{where}: a block begins with [KEY], alone on its line")
            blocks.append(Block(where, text[1:-1]))
            continue
        field, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise Bad(f"{where}: expected `field = value` or [KEY]")
        if blocks:
            blocks[-1].set(where, field, value)
        elif field.startswith("group "):
            groups[field[6:].strip()] = split_layouts(where, value, groups)
        elif field in ("dialect", "layouts", "clamp"):
            head[field] = value
        else:
            raise Bad(f"{where}: {field!r} has no place before the first block")
    if head.get("dialect") not in DIALECTS:
        raise Bad(f"{path}:1: say `dialect = ` and one of " + ", ".join(DIALECTS))
    for block in blocks:
        yield from block.rows(head, groups)


def check(rows):
    """No key twice for one layout."""
    seen = {}
    for row in rows:
        names = row["layouts"].split(",")
        for other in seen.setdefault(row["key"], []):
            both = set(names) & set(other["layouts"].split(","))
            if both or "*" in names or "*" in other["layouts"] or "" in names:
                raise Bad(f"{row['where']}: [{row['key']}] is there already, at {other['where']}, "
                          "for the same layouts")
        seen[row["key"]].append(row)


class Pool:
    """Strings, each once, as members of a C struct: an offset needs no relocation."""

    def __init__(self):
        self.names = {}

    def offset(self, string):
        if string is None:
            return "TALLY_NO_TEXT"
        name = self.names.setdefault(string, f"s{len(self.names)}")
        return f"offsetof(struct text, {name})"

    def lines(self):
        yield "struct text {"
        for string, name in self.names.items():
            yield f"\tchar {name}[{len(string) + 1}];"
        yield "};"
        yield "static const struct text text = {"
        for string in self.names:
            yield f"\t{json.dumps(string)},"
        yield "};"


def make_c(rows, files):
    pool = Pool()
    table = ["const struct tally_metric_row tally_metric_rows[] = {"]
    for row in rows:
        table.append("\t{")
        table += [f"\t\t.{field} = {pool.offset(row[field])}," for field in STRINGS]
        table.append(f"\t\t.dialect = TALLY_DIALECT_{row['dialect'].upper().replace('-', '_')},")
        table.append(f"\t\t.overview = {'true' if row['overview'] else 'false'},")
        table.append("\t},")
    table.append("};")
    names = ", ".join(path.name for path in files)
    return "\n".join([
        f"/* Made from {names} by scripts/gen_metrics.py. */",
        '#include "query/metric/table.h"', "", *pool.lines(), "",
        "const char *",
        "tally_metric_text(uint32_t offset)",
        "{",
        "\treturn offset == TALLY_NO_TEXT ? NULL : (const char *)&text + offset;",
        "}", "",
        *table,
        f"const uint32_t tally_n_metrics = {len(rows)};", ""])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    files = [pathlib.Path(name) for name in sys.argv[2:]]
    try:
        rows = [row for path in files for row in read_file(path)]
        check(rows)
    except (Bad, UnicodeDecodeError) as error:
        sys.exit(str(error))
    if sys.argv[1] == "--list":
        for row in rows:
            del row["where"]
        print(json.dumps(rows, indent=1))
        return
    pathlib.Path(sys.argv[1]).write_text(make_c(rows, files), encoding="ascii")


if __name__ == "__main__":
    main()
