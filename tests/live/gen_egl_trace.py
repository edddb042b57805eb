# SPDX-License-Identifier: MIT
"""Write the table of tests/live/egl_trace.c: every gl* command of the registry, with the types of its arguments.

  gen_egl_trace.py gl.xml OUTPUT

An argument is one letter: i a 32-bit integer, l a 64-bit one, b a byte, f a float, d a double, p a
pointer or handle (its value means nothing, only whether it is null).
"""

import re
import sys
import xml.etree.ElementTree as ET

LETTERS = {"GLfloat": "f", "GLclampf": "f", "GLdouble": "d", "GLclampd": "d", "GLboolean": "b", "GLbyte": "b",
           "GLubyte": "b", "GLchar": "b", "GLintptr": "l", "GLsizeiptr": "l", "GLint64": "l", "GLuint64": "l",
           "GLint64EXT": "l", "GLuint64EXT": "l", "GLintptrARB": "l", "GLsizeiptrARB": "l"}
POINTERS = {"GLsync", "GLDEBUGPROC", "GLDEBUGPROCARB", "GLDEBUGPROCKHR", "GLDEBUGPROCAMD", "GLeglImageOES",
            "GLeglClientBufferEXT", "GLVULKANPROCNV"}


def letter(param):
    text = "".join(param.itertext())
    if "*" in text or "[" in text:
        return "p"
    kind = re.sub(r"\bconst\b", "", text).split()[0]
    return "p" if kind in POINTERS else LETTERS.get(kind, "i")


def main():
    registry, output = sys.argv[1:]
    commands = {}
    for command in ET.parse(registry).getroot().iter("command"):
        proto = command.find("proto")
        if proto is None:
            continue
        name = proto.find("name").text
        commands[name] = "".join(letter(p) for p in command.findall("param"))
    rows = sorted(commands.items())
    with open(output, "w", encoding="ascii") as f:
        f.write(f"/* Made by {sys.argv[0].rsplit('/', 1)[-1]} from gl.xml. */\n")
        f.write(f"#define N_COMMANDS {len(rows)}\n")
        f.write("static const struct command commands[N_COMMANDS] = {\n")
        for name, letters in rows:
            f.write(f'\t{{ "{name}", "{letters}" }},\n')
        f.write("};\n")


main()
