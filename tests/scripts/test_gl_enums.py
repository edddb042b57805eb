#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The values in gl_shim/gl_enums.h are those of gl.xml (argument 1: the header, 2: the registry)."""
import re
import sys
import xml.etree.ElementTree as ElementTree


def main():
    header, registry = sys.argv[1:3]
    known = {}
    for enum in ElementTree.parse(registry).iter("enum"):
        if enum.get("name") and enum.get("value"):
            known.setdefault(enum.get("name"), set()).add(enum.get("value").lower())
    defined = re.findall(r"#define (GL_\w+) (0x[0-9A-F]+)", open(header).read())
    assert len(defined) > 50, "the header defines only %d values" % len(defined)
    wrong = 0
    for name, value in defined:
        values = {int(v.rstrip("ul"), 0) for v in known.get(name, ())}
        if int(value, 16) not in values:
            print("%s is %s here, %s in the registry" % (name, value, sorted(map(hex, values))))
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
