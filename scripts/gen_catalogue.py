#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn data/mali into the C tables of query/mali/catalogue.c.

    scripts/gen_catalogue.py OUTPUT FILE...

The format of the files is described in data/mali/README.md. Checks their contents, and stops at the first files
with faults after naming every fault as "FILE:LINE: what is wrong; what to do". Same input, same bytes, in whatever
order the files are given.
"""

import dataclasses
import pathlib
import re
import sys

LEVELS = ("novice", "application", "system")
BLOCKS = ("frontend", "tiler", "l2", "core")
KINDS = ("event", "duration", "ratio", "throughput", "raw", "timestamp")
FIRST_INDEX = 4  # the words before it are a block's header
COUNTER_FIELDS = ("name", "id", "unit", "level", "at", "bifrost", "2022", "2022-only", "overview",
                  "erratum", "text")
FIELDS = {
    "unit": ("kind",),
    "aliases": ("of",),
    "layout": ("name", "architecture", "front-end", "values"),
    "constant": ("value",),
    "product": ("layout", "ids", "engines", "engines-by-variant", "engines-least"),
    "counter": COUNTER_FIELDS,
}


class Faults(Exception):
    """Every fault found in the data, as lines."""


@dataclasses.dataclass
class Field:
    place: str
    word: str
    value: str
    layouts: str  # the text in brackets, "" = all


@dataclasses.dataclass
class Stanza:
    place: str
    kind: str
    value: str
    block: str
    fields: list


class Data:
    """The stanzas of all files, and the faults found on the way."""

    def __init__(self):
        self.stanzas = []
        self.faults = []
        self.layouts = []  # in order: brackets may say FIRST..LAST

    def fault(self, place, text):
        self.faults.append(f"{place}: {text}")

    def of(self, kind):
        return [s for s in self.stanzas if s.kind == kind]

    def read(self, path, text):
        block, stanza = None, None
        for number, line in enumerate(text.split("\n"), 1):
            place = f"{path}:{number}"
            if not line.strip() or line.startswith("#"):
                continue
            if line != line.rstrip():
                self.fault(place, "blanks at the end; remove them")
                line = line.rstrip()
            if line.startswith("\t\t"):
                if not stanza or not stanza.fields:
                    self.fault(place, "continues a field, but there is none; use one tab less")
                else:
                    stanza.fields[-1].value += " " + line.strip()
            elif line.startswith("\t"):
                self.read_field(place, stanza, line.strip())
            elif line.startswith("block "):
                block, stanza = line[6:].strip(), None
                if block not in BLOCKS:
                    self.fault(place, f"no block is called {block}; take one of {', '.join(BLOCKS)}")
            else:
                stanza = self.read_head(place, block, line)

    def read_head(self, place, block, line):
        kind, _, value = line.partition(" ")
        if kind not in FIELDS:
            self.fault(place, f"{kind} is nothing that can stand at the left edge; "
                       f"take one of block, {', '.join(FIELDS)}, or put a tab before a field")
            return None
        if not value.strip():
            self.fault(place, f"a {kind} without a name; write one behind it")
        if kind == "counter" and not block:
            self.fault(place, "a counter of no block; put a line like `block core` before it")
        stanza = Stanza(place, kind, value.strip(), block, [])
        self.stanzas.append(stanza)
        return stanza

    def read_field(self, place, stanza, line):
        if not stanza:
            self.fault(place, "a field outside of all; put what it belongs to before it")
            return
        word, _, value = line.partition(" ")
        if word not in FIELDS[stanza.kind]:
            self.fault(place, f"a {stanza.kind} has no field {word}; "
                       f"take one of {', '.join(FIELDS[stanza.kind])}")
            return
        stanza.fields.append(Field(place, word, value.strip(), ""))

    def take_brackets(self):
        """Continued lines are joined first: brackets are at a field's end."""
        for stanza in self.stanzas:
            for field in stanza.fields:
                found = re.fullmatch(r"(.*?)\s*\[([^\[\]]*)\]", field.value)
                if found:
                    field.value, field.layouts = found.groups()

    def span(self, field):
        """The layouts that a field names, as a set of names."""
        names = set()
        for part in field.layouts.split():
            first, dots, last = part.partition("..")
            ends = [first, last if dots else first]
            unknown = [end for end in ends if end not in self.layouts]
            if unknown:
                self.fault(field.place, f"no layout is called {unknown[0]}; "
                           f"take from {' '.join(self.layouts)}")
                continue
            a, b = (self.layouts.index(end) for end in ends)
            if a > b:
                self.fault(field.place, f"{part} runs backwards; write {last}..{first}")
            names.update(self.layouts[a:b + 1])
        return names if field.layouts else set(self.layouts)

    def one(self, stanza, word, layout=None, need=True):
        """The value of the only field `word` that names the layout; None after a complaint."""
        found = [f for f in stanza.fields if f.word == word and
                 (layout is None or not f.layouts or layout in self.span(f))]
        where = f" for {layout}" if layout else ""
        if len(found) > 1:
            self.fault(found[1].place, f"a second `{word}`{where} of {stanza.value}; remove one, or "
                       "say in [brackets] which layouts each is for")
        if not found and need:
            self.fault(stanza.place, f"{stanza.value} has no `{word}`{where}; add a line for it")
        return found[0] if found else None

    def number(self, field, low, high):
        try:
            value = int(field.value, 0)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            self.fault(field.place, f"`{field.word} {field.value}`: must be a number, "
                       f"{low} to {high}")
            return low
        return value


# ---- what the files mean ----

def read_layouts(data):
    constants = data.of("constant")
    layouts = []
    for stanza in data.of("layout"):
        layout = {"short": stanza.value, "place": stanza.place, "counters": []}
        for word in ("name", "architecture", "front-end", "values"):
            field = data.one(stanza, word)
            layout[word] = field.value if field else ""
            if field and word == "values":
                layout[word] = data.number(field, 64, 128)
            if field and word == "front-end" and field.value not in ("job-manager", "command-stream"):
                data.fault(field.place, "front-end is job-manager or command-stream")
        layout["constants"] = []
        for constant in constants:
            field = data.one(constant, "value", stanza.value, need=False)
            if not field:
                continue
            try:
                layout["constants"].append((constant.value, float(field.value)))
            except ValueError:
                data.fault(field.place, f"`{field.value}` is no number; write digits alone")
        layout["warp"] = int(dict(layout["constants"]).get("MaliGPUWarpSize", 0))
        if not layout["warp"]:
            data.fault(stanza.place, "its warps have no width; name it in MaliGPUWarpSize")
        layouts.append(layout)
    return layouts


def read_engines(data, stanza):
    """Engines by the low four bits of CORE_FEATURES."""
    engines = [0] * 16
    field = data.one(stanza, "engines", need=False)
    by = data.one(stanza, "engines-by-variant", need=False)
    if bool(field) == bool(by):
        data.fault(stanza.place, "say either `engines` or `engines-by-variant`")
    elif field:
        engines = [data.number(field, 1, 16)] * 16
    elif by.value == "same":
        engines = list(range(16))
    else:
        for part in by.value.split():
            found = re.fullmatch(r"(\d+)=(\d+)", part)
            if not found or int(found[1]) > 15:
                data.fault(by.place, f"`{part}`: must be VARIANT=ENGINES, a variant being 0 to 15")
                continue
            engines[int(found[1])] = int(found[2])
    return engines


def read_products(data):
    products, names = [], set()
    for stanza in data.of("product"):
        if stanza.value in names:
            data.fault(stanza.place, f"a second product {stanza.value}; remove one")
        names.add(stanza.value)
        layout = data.one(stanza, "layout", need=False)
        if layout and layout.value not in data.layouts:
            data.fault(layout.place, f"no layout is called {layout.value}; "
                       f"take one of {' '.join(data.layouts)}")
            layout = None
        ids = data.one(stanza, "ids")
        values = ids.value.split() if ids else []
        if ids and (len(values) > 2 or not all(re.fullmatch(r"0x[0-9a-f]{4}", v) for v in values)):
            data.fault(ids.place, "ids are one or two of the form 0x9001")
            values = []
        least = data.one(stanza, "engines-least", need=False)
        products.append({
            "name": stanza.value,
            "ids": [int(v, 16) for v in values] + [0] * (2 - len(values)),
            "engines": read_engines(data, stanza),
            "least": data.number(least, 1, 16) if least else 0,
            "layout": data.layouts.index(layout.value) + 1 if layout else 0,
        })
    return products


def read_units(data):
    units = {}
    for stanza in data.of("unit"):
        kind = data.one(stanza, "kind")
        if kind and kind.value not in KINDS:
            data.fault(kind.place, f"no kind is called {kind.value}; take one of {', '.join(KINDS)}")
        elif kind:
            units[stanza.value] = KINDS.index(kind.value)
    return units


def read_alias_layouts(data):
    """Which layouts a family of old names belongs to."""
    spans = {"bifrost": set(), "2022": set()}
    for stanza in data.of("aliases"):
        of = data.one(stanza, "of")
        if stanza.value not in spans:
            data.fault(stanza.place, f"names are of {' or '.join(spans)}")
        elif of:
            spans[stanza.value] = data.span(Field(of.place, "of", "", of.value))
    return spans


def parse_at(data, field):
    """`at INDEX HW_NAME`, and optionally `<< SHIFT`."""
    found = re.fullmatch(r"(\d+)\s+([A-Z][A-Z0-9_]*)(?:\s*<<\s*(\d+))?", field.value)
    if not found:
        data.fault(field.place, f"`at {field.value}`: must be `at INDEX HARDWARE_NAME`, "
                   "with `<< BITS` where values count units of more than one")
        return 0, "", 0
    return int(found[1]), found[2], int(found[3] or 0)


def check_text(data, field, name):
    if not field:
        return
    if not field.value.endswith(".") or len(field.value) < 30 or \
            field.value.rstrip(".").lower() == name.lower():
        data.fault(field.place, "the text must be a sentence that says more than the name; "
                   "end it with a full stop")


def counter_in(data, stanza, layout, units, spans):
    """The counter as it is in one layout; None where the layout has no such counter."""
    at = data.one(stanza, "at", layout["short"], need=False)
    if not at:
        return None
    index, hw_name, shift = parse_at(data, at)
    if not FIRST_INDEX <= index < layout["values"]:
        data.fault(at.place, f"index {index}: a block of {layout['name']} has values "
                   f"{FIRST_INDEX} to {layout['values'] - 1}")
    got = {word: data.one(stanza, word, layout["short"], need)
           for word, need in (("name", True), ("id", True), ("unit", True), ("level", True),
                              ("text", True), ("erratum", False), ("overview", False),
                              ("bifrost", False), ("2022", False), ("2022-only", False))}
    value = {word: field.value if field else "" for word, field in got.items()}
    if got["unit"] and value["unit"] not in units:
        data.fault(got["unit"].place, f"no unit is called {value['unit']}; take one of "
                   f"{', '.join(sorted(units))}, or add it to layouts.txt")
    if got["level"] and value["level"] not in LEVELS:
        data.fault(got["level"].place, f"level is one of {', '.join(LEVELS)}")
    check_text(data, got["text"], value["name"])
    aliases = [value["id"]] if value["id"] != stanza.value else []
    for family in ("bifrost", "2022"):
        if value[family] and layout["short"] in spans[family]:
            aliases.append(value[family])
    return {
        "place": at.place, "index": index, "key": stanza.value, "name": value["name"],
        "hw": hw_name, "unit": value["unit"], "text": value["text"], "erratum": value["erratum"],
        "2022": value["2022-only"] if layout["short"] in spans["2022"] else "",
        "aliases": tuple(aliases), "kind": units.get(value["unit"], 0),
        "block": BLOCKS.index(stanza.block) if stanza.block in BLOCKS else 0,
        "level": LEVELS.index(value["level"]) if value["level"] in LEVELS else 0,
        "shift": shift, "overview": got["overview"] is not None,
    }


def check_layout(data, layout):
    """Each position is used once, each name means one counter."""
    places, names = {}, {}
    for c in layout["counters"]:
        other = places.setdefault((c["block"], c["index"]), c)
        if other is not c:
            data.fault(c["place"], f"index {c['index']} of {layout['name']} is {other['key']} "
                       f"({other['place']}) already; correct one of them")
        for name in {c["key"], c["hw"], *c["aliases"]}:
            other = names.setdefault(name, c)
            if other is not c:
                data.fault(c["place"], f"{name} also names {other['key']} ({other['place']}) on "
                           f"{layout['name']}; a name of 2022 that means another counter today is "
                           "`2022-only`")


def check_brackets(data, stanza):
    """Every field must name a layout that has the counter."""
    has = set()
    for field in stanza.fields:
        if field.word == "at":
            has |= data.span(field)
    for field in stanza.fields:
        if field.layouts and not data.span(field) & has:
            data.fault(field.place, f"speaks of layouts that have no {stanza.value}; "
                       "correct the brackets")


def read_counters(data, layouts):
    units, spans, keys = read_units(data), read_alias_layouts(data), {}
    for stanza in data.of("counter"):
        if stanza.value in keys:
            data.fault(stanza.place, f"{stanza.value} stands at {keys[stanza.value]} already; "
                       "give it another `at` there")
        keys[stanza.value] = stanza.place
        check_brackets(data, stanza)
        found = [counter_in(data, stanza, layout, units, spans) for layout in layouts]
        if not any(found):
            data.fault(stanza.place, f"{stanza.value} is in no layout; add an `at`")
        for layout, counter in zip(layouts, found):
            if counter:
                layout["counters"].append(counter)
    for layout in layouts:
        layout["counters"].sort(key=lambda c: (c["block"], c["index"]))
        check_layout(data, layout)


# ---- the tables ----

class Text:
    """All strings one after the other, each once."""

    def __init__(self):
        self.offsets = {"": 0}
        self.size = 1

    def at(self, string):
        if string not in self.offsets:
            self.offsets[string] = self.size
            self.size += len(string.encode()) + 1
        return self.offsets[string]

    def lines(self):
        """As one struct of arrays: a single literal may not be longer than 4095 bytes."""
        members, values = [], []
        for number, string in enumerate(self.offsets):
            size = len(string.encode()) + 1
            members.append(f"\tchar s{number}[{size}];")
            quoted = string.replace("\\", "\\\\").replace('"', '\\"')
            values.append(f'\t"{quoted}",')
        return ["static const struct {"] + members + ["} text = {"] + values + ["};", ""]


def pack_counters(layouts, text):
    """Rows of the differences, the positions of each layout, and the aliases, each list once."""
    rows, lists, aliases, places = {}, {(): 0}, ["\t0,"], []
    for layout in layouts:
        layout["first"] = len(places)
        for c in layout["counters"]:
            if c["aliases"] not in lists:
                lists[c["aliases"]] = len(aliases)
                aliases.extend(f"\t{text.at(name)}, /* {name} */" for name in c["aliases"])
                aliases.append("\t0,")
            row = (f"\t{{ {text.at(c['key'])}, {text.at(c['name'])}, {text.at(c['hw'])}, "
                   f"{text.at(c['unit'])}, {text.at(c['text'])}, {text.at(c['erratum'])}, "
                   f"{text.at(c['2022'])}, {lists[c['aliases']]}, {c['kind']}, {c['block']}, "
                   f"{c['level']}, {c['shift']}, {'true' if c['overview'] else 'false'} }}, "
                   f"/* {c['key']} */")
            number = rows.setdefault(row, len(rows))
            places.append(f"\t{{ {number}, {c['index']} }},")
    return list(rows), aliases, places


def table(kind, name, rows):
    return [f"static const {kind} {name}[] = {{"] + rows + ["};", ""]


def c_number(value):
    return repr(value)


def emit(layouts, products):
    text = Text()
    counters, aliases, places = pack_counters(layouts, text)
    constants, layout_rows, n_aliases = [], [], 0
    for layout in layouts:
        layout_rows.append(
            f"\t{{ {text.at(layout['name'])}, {text.at(layout['architecture'])}, "
            f"{'true' if layout['front-end'] == 'command-stream' else 'false'}, {layout['warp']}, "
            f"{layout['values']}, {layout['first']}, {len(layout['counters'])}, {len(constants)}, "
            f"{len(layout['constants'])}, {n_aliases} }}, /* {layout['name']} */")
        n_aliases += sum(len(c["aliases"]) + 1 for c in layout["counters"])
        constants += [f"\t{{ {text.at(name)}, {c_number(value)} }}, /* {name} */"
                      for name, value in layout["constants"]]
    product_rows = [
        f"\t{{ {text.at(p['name'])}, {{ {p['ids'][0]:#06x}, {p['ids'][1]:#06x} }}, "
        f"{{ {', '.join(map(str, p['engines']))} }}, {p['least']}, {p['layout']} }}, /* {p['name']} */"
        for p in products]
    prefix = "struct tally_mali_packed_"
    lines = ["/* Made from data/mali by scripts/gen_catalogue.py. */",
             '#include "query/mali/catalogue_tables.h"', ""]
    lines += text.lines()
    lines += table(prefix + "counter", "counters", counters)
    lines += table("uint32_t", "aliases", aliases)
    lines += table(prefix + "place", "places", places)
    lines += table(prefix + "constant", "constants", constants)
    lines += table(prefix + "layout", "layouts", layout_rows)
    lines += table(prefix + "product", "products", product_rows)
    lines += [
        f"const uint32_t tally_mali_n_layouts = {len(layouts)};",
        f"const uint32_t tally_mali_n_products = {len(products)};",
        "const struct tally_mali_packed tally_mali_packed = {",
        "\t(const char *)&text, counters, aliases, places, constants, layouts, products,", "};", "",
        f"static struct tally_mali_layout room_layouts[{len(layouts)}];",
        f"static struct tally_mali_product room_products[{len(products)}];",
        f"static struct tally_mali_counter room_counters[{len(places)}];",
        f"static struct tally_constant room_constants[{len(constants)}];",
        f"static const char *room_aliases[{n_aliases}];",
        f"static atomic_bool filled[{len(layouts) + 1}];",
        "const struct tally_mali_rooms tally_mali_rooms = {",
        "\troom_layouts, room_products, room_counters, room_constants, room_aliases, filled,",
        "};", ""]
    return "\n".join(lines)


def load(paths):
    """(layouts, products) of the files; raises Faults."""
    data = Data()
    for path in sorted(paths, key=lambda p: pathlib.Path(p).name):
        data.read(pathlib.Path(path).name, pathlib.Path(path).read_text(encoding="utf-8"))
    data.layouts = [s.value for s in data.of("layout")]
    data.take_brackets()
    layouts = read_layouts(data)
    products = read_products(data)
    read_counters(data, layouts)
    if not data.faults and not (layouts and products):
        data.fault("data/mali", "describes no layout or no product; name all of its files")
    if data.faults:
        raise Faults("\n".join(dict.fromkeys(data.faults)))
    return layouts, products


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        layouts, products = load(sys.argv[2:])
    except Faults as faults:
        sys.exit(f"{faults}")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"cannot read the catalogue: {error}")
    pathlib.Path(sys.argv[1]).write_text(emit(layouts, products), encoding="ascii")


if __name__ == "__main__":
    main()
