# SPDX-License-Identifier: MIT
"""Reads a Khronos registry (gl.xml): the name, parameters, result and alias of each command.

Only the Python standard library is used. A registry that cannot be read raises RegistryError with a
sentence for people.
"""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field


class RegistryError(Exception):
    """The registry (or a prototype given by hand) is not what it should be."""


@dataclass(frozen=True)
class Param:
    """One parameter: its C type as written, its name, and what kind of object it names."""

    type: str
    name: str
    object_class: str = ""

    def declaration(self):
        space = "" if self.type.endswith("*") else " "
        return f"{self.type}{space}{self.name}"


@dataclass(frozen=True)
class Command:
    """One command. `alias` is the command it is another spelling of, or None."""

    name: str
    returns: str
    params: tuple = ()
    alias: str = None

    def has(self, name):
        return any(param.name == name for param in self.params)


@dataclass
class Registry:
    commands: dict = field(default_factory=dict)  # by name
    enums: dict = field(default_factory=dict)  # name to value
    vendors: list = field(default_factory=list)  # suffixes: ARB, EXT, ...


def _text(element):
    """The C text of a <proto> or <param>: type and name, white space made single."""
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def _split_declaration(text):
    """'const void *const*indices' -> ('const void *const*', 'indices')."""
    match = re.fullmatch(r"(.*?)\s*(\w+)", text.strip())
    if not match or not match.group(1):
        raise RegistryError(f"cannot find the name in the declaration '{text}'")
    # Stars are separated from the word before them and attached to what follows.
    type_ = re.sub(r"\s*\*\s*", " *", match.group(1))
    return type_.replace("* *", "**"), match.group(2)


def parse_prototype(text):
    """A command from a C prototype: 'void glFoo(GLuint a, const GLint *b)'."""
    match = re.fullmatch(r"\s*(.+?)\s*\((.*)\)\s*;?\s*", text)
    if not match:
        raise RegistryError(f"not a prototype: '{text.strip()}'")
    returns, name = _split_declaration(match.group(1))
    inside = match.group(2).strip()
    params = ()
    if inside not in ("", "void"):
        params = tuple(Param(*_split_declaration(part)) for part in inside.split(","))
    return Command(name, returns, params)


def _parse_command(element):
    proto = element.find("proto")
    if proto is None:
        raise RegistryError("a <command> has no <proto>")
    returns, name = _split_declaration(_text(proto))
    params = tuple(
        Param(*_split_declaration(_text(param)), param.get("class", ""))
        for param in element.findall("param")
    )
    alias = element.find("alias")
    return Command(name, returns, params, None if alias is None else alias.get("name"))


def read(path):
    """The registry in the file `path`."""
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise RegistryError(f"cannot read the registry {path}: {error}") from error
    registry = Registry()
    for element in root.findall("commands/command"):
        command = _parse_command(element)
        registry.commands[command.name] = command
    if not registry.commands:
        raise RegistryError(f"the registry {path} holds no commands: is it a gl.xml?")
    for element in root.iterfind("enums/enum"):
        value = element.get("value")
        if not value.startswith('"'):  # glx.xml has texts too
            registry.enums.setdefault(element.get("name"), int(value, 0))
    vendors = set()
    for extension in root.iter("extension"):
        parts = extension.get("name", "").split("_")
        if len(parts) > 2:
            vendors.add(parts[1])
    registry.vendors = sorted(vendors)
    return registry
