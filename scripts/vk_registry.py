# SPDX-License-Identifier: MIT
"""Reads Vulkan's registry (vk.xml): commands, the spellings of each, structures that extend others,
and formats.

Only the Python standard library is used. A registry that cannot be read raises RegistryError with a
sentence for people. What belongs to another API (Vulkan SC) is left out; what needs a platform's headers is
included, with the platform's name.
"""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

from registry import Command, Param, RegistryError, parse_prototype

__all__ = ["Command", "Format", "Param", "Registry", "RegistryError", "Structure",
           "parse_prototype", "read"]


@dataclass(frozen=True)
class Structure:
    """A structure that states its type in `sType`."""

    name: str
    type: str  # VK_STRUCTURE_TYPE_...
    platform: str  # "" = none


@dataclass(frozen=True)
class Format:
    name: str  # VK_FORMAT_...
    has_depth: bool = False
    has_stencil: bool = False


@dataclass
class Registry:
    commands: dict = field(default_factory=dict)  # by name, aliases as well
    platforms: dict = field(default_factory=dict)  # name of a command or type -> platform
    structures: list = field(default_factory=list)
    formats: list = field(default_factory=list)
    vendors: list = field(default_factory=list)  # suffixes: KHR, EXT, ...
    version: str = ""  # 1.3.239; "" where the registry does not say
    core: set = field(default_factory=set)  # commands of Vulkan 1.0: every driver has them
    of_instance: set = field(default_factory=set)  # commands of extensions of the instance
    offered: set = field(default_factory=set)  # commands, types of some version or extension: what the headers have

    def spellings(self, name):
        """`name` first, then all other spellings of the same command, by name."""
        base = self.base(name)
        others = [other for other in sorted(self.commands) if self.base(other) == base]
        return [name] + [other for other in others if other != name]

    def base(self, name):
        """The spelling that the others are aliases of."""
        seen = set()
        while name in self.commands and self.commands[name].alias and name not in seen:
            seen.add(name)
            name = self.commands[name].alias
        return name


def _prune(element):
    for child in list(element):
        if "vulkan" in child.get("api", "vulkan").split(","):
            _prune(child)
        else:
            element.remove(child)


def parse(path):
    """The document in the file `path`, without all that is another API's."""
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise RegistryError(f"cannot read the registry {path}: {error}") from error
    _prune(root)
    return root


def _text(element):
    """The C text without comments, white space made single."""
    parts = [element.text or ""]
    for child in element:
        if child.tag != "comment":
            parts += child.itertext()
        parts.append(child.tail or "")
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def _param(element):
    """A parameter; an array is the pointer that C makes of it."""
    name = element.findtext("name")
    before, _, after = _text(element).partition(" " + name) if name else ("", "", "")
    if not before:
        before, _, after = _text(element).rpartition(name or "")
    if not name or not before.strip():
        raise RegistryError(f"cannot read the parameter '{_text(element)}'")
    type_ = re.sub(r"\s*\*\s*", " *", before.strip()).replace("* *", "**")
    if after.strip().startswith("["):
        type_ += "*" if type_.endswith("*") else " *"
    return Param(type_, name)


def _command(element):
    proto = element.find("proto")
    if proto is None or not proto.findtext("name"):
        raise RegistryError("a <command> has no <proto> with a name")
    name = proto.findtext("name")
    returns = re.sub(r"\s*\*\s*", " *", _text(proto).rpartition(name)[0].strip())
    params = tuple(_param(param) for param in element.findall("param"))
    return Command(name, returns, params)


def _read_commands(root, registry):
    aliases = []
    for element in root.findall("commands/command"):
        if element.get("alias"):
            aliases.append((element.get("name"), element.get("alias")))
        else:
            command = _command(element)
            registry.commands[command.name] = command
    for name, alias in aliases:
        if alias not in registry.commands:
            raise RegistryError(f"{name} is an alias of {alias}, which there is not")
        of = registry.commands[alias]
        registry.commands[name] = Command(name, of.returns, of.params, alias)


def _offers(root):
    """Each version and extension of Vulkan with each thing that it brings."""
    for element in root.findall("feature") + root.findall("extensions/extension"):
        if "vulkan" in element.get("supported", "vulkan").split(","):
            for thing in element.findall("require/*"):
                yield element, thing


def _read_origins(root, registry):
    """What only extensions of a platform need, which commands every driver has, and which come with an
    instance's extension. Vulkan 1.0 is one feature, in newer registries several."""
    wanted, everywhere = {}, set()
    for element, thing in _offers(root):
        name = thing.get("name")
        if thing.tag == "command" and element.tag == "feature" and element.get("number") == "1.0":
            registry.core.add(name)
        if thing.tag == "command" and element.get("type") == "instance":
            registry.of_instance.add(name)
        if thing.tag in ("command", "type"):
            registry.offered.add(name)
            if element.get("platform"):
                wanted.setdefault(name, element.get("platform"))
            else:
                everywhere.add(name)
    registry.platforms = {name: wanted[name] for name in wanted if name not in everywhere}


def _read_version(root, registry):
    """VK_HEADER_VERSION_COMPLETE is made of numbers and of VK_HEADER_VERSION."""
    for element in root.findall("types/type[@category='define']"):
        text = _text(element)
        if match := re.search(r"VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION\(0, (\d+), (\d+), VK_H", text):
            registry.version = ".".join(match.groups()) + registry.version
        elif match := re.search(r"VK_HEADER_VERSION (\d+)", text):
            registry.version += "." + match[1]


def _read_structures(root, registry):
    for element in root.findall("types/type"):
        name = element.get("name")
        if element.get("category") != "struct" or element.get("alias") or name not in registry.offered:
            continue
        first = element.find("member")
        if first is None or first.findtext("name") != "sType" or not first.get("values"):
            continue
        platform = registry.platforms.get(name, "")
        registry.structures.append(Structure(name, first.get("values").split(",")[0], platform))


def _read_formats(root, registry):
    for element in root.findall("formats/format"):
        parts = {component.get("name") for component in element.findall("component")}
        registry.formats.append(Format(element.get("name"), "D" in parts, "S" in parts))


def read(path):
    """The registry in the file `path`."""
    root = parse(path)
    registry = Registry()
    _read_commands(root, registry)
    if not registry.commands:
        raise RegistryError(f"the registry {path} holds no commands: is it a vk.xml?")
    _read_version(root, registry)
    _read_origins(root, registry)
    _read_structures(root, registry)
    _read_formats(root, registry)
    registry.vendors = sorted(tag.get("name") for tag in root.findall("tags/tag"))
    return registry
