# SPDX-License-Identifier: MIT
"""Write a call of every command of a registry, with the least harmful arguments: handles that the
program has made, zeroed memory behind pointers, counts and values of 0.

  gen_calls.py vk vk.xml OUTPUT
  gen_calls.py gl gl.xml glx.xml OUTPUT

The registries are read by the modules that read them for the hooks (scripts/registry.py, vk_registry.py).
"""

import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))

import registry  # noqa: E402
import vk_registry  # noqa: E402

# Results of these types are compared; others are addresses, times or depend on the machine.
VALUES = ("VkResult", "GLenum", "GLboolean", "GLint", "GLuint", "int", "Bool", "EGLBoolean", "EGLint")
# Zeroes make some drivers write outside their memory, also without passtally (lavapipe 22.3: no mip levels).
FIELDS = {
    "VkImageCreateInfo": "imageType = VK_IMAGE_TYPE_2D; format = VK_FORMAT_R8G8B8A8_UNORM; extent.width = 4; "
                         "extent.height = 4; extent.depth = 1; mipLevels = 1; arrayLayers = 1; "
                         "samples = VK_SAMPLE_COUNT_1_BIT; usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT",
    "VkImageViewCreateInfo": "viewType = VK_IMAGE_VIEW_TYPE_2D; format = VK_FORMAT_R8G8B8A8_UNORM; "
                             "subresourceRange.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT; "
                             "subresourceRange.levelCount = 1; subresourceRange.layerCount = 1",
    "VkBufferCreateInfo": "size = 256; usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT",
    "VkMemoryAllocateInfo": "allocationSize = 256",
    "VkQueryPoolCreateInfo": "queryCount = 1",
    "VkFramebufferCreateInfo": "width = 4; height = 4; layers = 1",
}
GLX_TYPE = re.compile(r"(const )?(Display|XVisualInfo|(unsigned )?(int|long)|Bool|void|char|GL\w+|Window|Pixmap|Font|"
                      r"int(32|64)_t)( \**)?")
ODD_TYPE = re.compile(r"_cl_|GLXHyperpipe|GLXVideo|DMbuffer|GLclampx|GLDEBUGPROCKHR")


def is_pointer(type_):
    return type_.endswith("*")


def call(command, function_type, argument):
    """A function that calls the command; `argument` gives a parameter's text."""
    arguments = ", ".join(argument(param) for param in command.params)
    made = f"(({function_type})f)({arguments})"
    body = f"return (uint64_t){made};" if command.returns in VALUES else f"{made};\n\treturn 0;"
    return (f"static uint64_t\ncall_{command.name}(PFN_vkVoidFunction f, const struct calls_world *w)\n{{\n"
            f"\t(void)w;\n\t{body}\n}}\n\n")


def offered_names(root):
    """What some version or extension of Vulkan offers; the rest is not in the headers."""
    names = set()
    for element in root.findall("feature") + root.findall("extensions/extension"):
        if "vulkan" in element.get("supported", "vulkan").split(",") and not element.get("platform"):
            names.update(thing.get("name") for thing in element.findall("require/*") if thing.get("name"))
    return names


class Vulkan:
    def __init__(self, path):
        self.source = vk_registry.read(path)
        root = vk_registry.parse(path)
        self.offered = offered_names(root)
        self.handles = [e.findtext("name") for e in root.findall("types/type[@category='handle']")
                        if e.findtext("name") in self.offered]
        self.structures = {s.name: s for s in self.source.structures if s.name in self.offered}
        self.members = {e.get("name"): e.findall("member") for e in root.findall("types/type[@category='struct']")}
        self.functions = {e.findtext("name") or e.findtext("proto/name")  # before and since 1.4.320
                          for e in root.findall("types/type[@category='funcpointer']")}
        self.extensions = {}
        for extension in root.findall("extensions/extension"):
            for element in extension.findall("require/command"):
                self.extensions.setdefault(element.get("name"), extension.get("name"))
        self.filled = []

    def fill(self, name):
        """The name of a function that fills a structure; the function is written when it is first asked for."""
        if name in self.filled:
            return name
        out = []
        for member in self.members.get(name, ()):
            what, type_ = member.findtext("name"), member.findtext("type")
            text = "".join(member.itertext())
            if "*" in text and not member.get("len") and type_ in self.structures and type_ != name:
                out.append(f"\ts->{what} = fill_{self.fill(type_)}(w);\n")
            elif "*" not in text and "[" not in text and type_ in self.handles:
                out.append(f"\ts->{what} = w->of_{type_};\n")
        out += [f"\ts->{field};\n" for field in FIELDS.get(name, "").split("; ") if field]
        self.filled.append(name)
        self.text.append(f"static void *\nfill_{name}(const struct calls_world *w)\n{{\n"
                         f"\t{name} *s = calls_block();\n\t(void)w;\n\ts->sType = {self.structures[name].type};\n"
                         + "".join(out) + "\treturn s;\n}\n\n")
        return name

    def argument(self, param):
        base = param.type.replace("const", "").replace("*", "").strip()
        if base == "VkAllocationCallbacks" or base in self.functions:
            return "NULL"
        if is_pointer(param.type) and base in self.structures:
            return f"fill_{self.fill(base)}(w)"
        if is_pointer(param.type):
            return "calls_block()"
        return f"w->of_{base}" if base in self.handles else "0"

    def write(self):
        self.text = []
        rows, calls = [], []
        for name in sorted(self.source.commands):
            command = self.source.commands[name]
            if name in self.source.platforms or not name in self.offered:
                continue
            calls.append(call(command, f"PFN_{name}", self.argument))
            first = command.params[0].type if command.params else ""
            level = "DEVICE" if first in ("VkDevice", "VkQueue", "VkCommandBuffer") else "INSTANCE"
            rows.append(f'\t{{ "{name}", "{self.extensions.get(name, "")}", CALLS_{level}, call_{name} }},\n')
        world = "".join(f"\t{name} of_{name};\n" for name in self.handles)
        return ("#include <vulkan/vulkan.h>\n\nstruct calls_world {\n" + world + "};\n\n"
                "enum { CALLS_INSTANCE, CALLS_DEVICE };\n\n"
                + "".join(self.text) + "".join(calls)
                + "static const struct {\n\tconst char *name, *extension;\n\tint level;\n"
                "\tuint64_t (*call)(PFN_vkVoidFunction f, const struct calls_world *w);\n} commands[] = {\n"
                + "".join(rows) + "};\n")


def gl_argument(param):
    if is_pointer(param.type):
        return "w->display" if param.type == "Display *" else "calls_block()"
    known = {"GLXDrawable": "w->drawable", "GLXContext": "w->context", "GLXFBConfig": "w->config"}
    return known.get(param.type, "0")


def write_gl(gl, glx):
    text, rows = [], []
    for path, kind in ((gl, "GL"), (glx, "GLX")):
        commands = registry.read(path).commands
        for name in sorted(commands):
            command = commands[name]
            types = [p.type for p in command.params] + [command.returns]
            if any(ODD_TYPE.search(t) or kind == "GLX" and not GLX_TYPE.fullmatch(t) for t in types):
                continue
            declared = ", ".join(p.type for p in command.params) or "void"
            text.append(call(command, f"{command.returns} (*)({declared})", gl_argument))
            rows.append(f'\t{{ "{name}", CALLS_{kind}, call_{name} }},\n')
    return ("typedef void (*PFN_vkVoidFunction)(void);\nenum { CALLS_GL, CALLS_GLX };\n\n" + "".join(text)
            + "static const struct {\n\tconst char *name;\n\tint kind;\n"
            "\tuint64_t (*call)(PFN_vkVoidFunction f, const struct calls_world *w);\n} commands[] = {\n"
            + "".join(rows) + "};\n")


def main():
    kind, *paths, output = sys.argv[1:]
    text = Vulkan(*paths).write() if kind == "vk" else write_gl(*paths)
    with open(output, "w", encoding="utf-8") as file:
        file.write(f"/* Made by gen_calls.py. Do not edit. */\n{text}")


if __name__ == "__main__":
    main()
