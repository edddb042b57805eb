#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the fake Vulkan driver's tables from vk.xml: every command, and how to print its arguments.

    gen_fake_vk.py VK_XML OUT.c OUT.h HAND.c...

For a command that a HAND file defines as fake_NAME, that function is used; every other one gets a generated body:
commands of a command buffer are recorded and printed, creating and destroying counts objects, the rest succeeds.
So no command of the registry is missing. Only the standard library; same input, same bytes.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
sys.dont_write_bytecode = True
import vk_registry  # noqa: E402

# Commands that Debian's registry lacks; all of them take the command buffer and pointers.
NEWER = {
    "vkCmdEndRendering2EXT": 1, "vkCmdEndRendering2KHR": 1, "vkCmdBeginCustomResolveEXT": 1,
    "vkCmdBeginPerTileExecutionQCOM": 1, "vkCmdEndPerTileExecutionQCOM": 1, "vkCmdDispatchTileQCOM": 1,
    "vkCmdExecuteGeneratedCommandsEXT": 2, "vkCmdPreprocessGeneratedCommandsEXT": 2,
    "vkCmdDispatchDataGraphARM": 2, "vkCmdConvertCooperativeVectorMatrixNV": 2, "vkCmdCopyTensorARM": 1,
    "vkCmdCopyMemoryIndirectKHR": 1, "vkCmdCopyMemoryToImageIndirectKHR": 1,
    "vkCmdDecompressMemoryEXT": 1, "vkCmdDecompressMemoryIndirectEXT": 1,
    "vkCmdBuildClusterAccelerationStructureIndirectNV": 1,
    "vkCmdBuildPartitionedAccelerationStructuresNV": 1, "vkCmdCopyMemoryKHR": 1,
    "vkCmdCopyMemoryToImageKHR": 1, "vkCmdCopyImageToMemoryKHR": 1, "vkCmdFillMemoryKHR": 1,
    "vkCmdUpdateMemoryKHR": 1, "vkCmdCopyQueryPoolResultsToMemoryKHR": 1, "vkCmdDispatchIndirect2KHR": 1,
    "vkCmdDrawIndirect2KHR": 1, "vkCmdDrawIndexedIndirect2KHR": 1, "vkCmdDrawIndirectCount2KHR": 1,
    "vkCmdDrawIndexedIndirectCount2KHR": 1, "vkCmdDrawMeshTasksIndirect2EXT": 1,
    "vkCmdDrawMeshTasksIndirectCount2EXT": 1, "vkCmdDrawIndirectByteCount2EXT": 1,
    "vkCmdBeginConditionalRendering2EXT": 1, "vkCmdBeginTransformFeedback2EXT": 2,
    "vkCmdEndTransformFeedback2EXT": 2,
}
PLATFORMS = {None, "provisional"}
LOGGED = re.compile(r"vk(Cmd|Create|Destroy|Allocate|Free|Reset|Bind|Map|Unmap|Update|Signal|Trim|Queue|"
                    r"Begin|End|Wait|Set|Release|Acquire)")
# Structures whose pointers may be anything, depending on another member.
OPAQUE = {"VkWriteDescriptorSet", "VkAccelerationStructureBuildGeometryInfoKHR", "VkSubmitInfo2KHR",
          "VkAccelerationStructureGeometryKHR", "VkMicromapBuildInfoEXT"}
# An old registry says "graphics", a newer one VK_QUEUE_GRAPHICS_BIT.
QUEUES = {"graphics": 1, "compute": 2, "transfer": 4, "sparsebinding": 8, "decode": 0x20, "encode": 0x40,
          "opticalflow": 0x100, "datagraph": 0x400}
PLACES = {"both": 0, "inside": 1, "outside": 2}


def text(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


class Member:
    """A struct's member or a command's parameter."""

    def __init__(self, element):
        self.type = element.findtext("type")
        self.name = element.findtext("name")
        for comment in element.findall("comment"):
            element.remove(comment)
        self.text = text(element)
        self.stars = self.text.count("*")
        self.const = "const" in self.text
        self.array = re.search(r"\[(.*?)\]", self.text)
        self.bits = ":" in self.text
        self.len = (element.get("len") or "").split(",")[0]
        self.free = element.get("noautovalidity") == "true"
        self.stype = (element.get("values") or "").split(",")[0]


class Registry:
    def __init__(self, path):
        root = vk_registry.parse(path)
        self.category, self.alias, self.structs = {}, {}, {}
        skipped = self.find_skipped(root)
        for t in root.find("types").findall("type"):
            name = t.get("name") or t.findtext("name")
            self.category[name] = t.get("category")
            if t.get("alias"):
                self.alias[name] = t.get("alias")
            elif t.get("category") == "struct" and name not in skipped:
                self.structs[name] = t
        self.commands, self.command_alias = {}, {}
        for c in root.find("commands"):
            name = c.get("name") or c.find("proto").findtext("name")
            if name in skipped:
                continue
            if c.get("alias"):
                self.command_alias[name] = c.get("alias")
            else:
                self.commands[name] = c
        self.handles = sorted(n for n, c in self.category.items() if c == "handle" and n not in self.alias)
        self.versions, self.extensions = self.find_homes(root)
        self.version_of_struct = self.find_struct_homes(root)

    @staticmethod
    def is_ours(element):
        return "vulkan" in (element.get("supported") or "vulkan").split(",")

    def find_skipped(self, root):
        """Commands of platforms whose headers are elsewhere, or disabled ones."""
        keep, drop = set(), set()
        blocks = list(root.findall("feature")) + list(root.find("extensions"))
        for e in blocks:
            names = [x.get("name") for r in e.findall("require") for x in r if x.tag in ("type", "command")]
            fine = e.tag == "feature" or (self.is_ours(e) and e.get("platform") in PLATFORMS)
            (keep if fine else drop).update(names)
        known = keep | drop
        for t in list(root.find("types")) + list(root.find("commands")):
            name = t.get("name") or t.findtext("name") or t.findtext("proto/name")
            if name and name not in known and (t.tag == "command" or t.get("category") == "struct"):
                drop.add(name)
        return drop - keep

    def find_homes(self, root):
        versions, extensions = {}, {}
        for f in root.findall("feature"):
            for r in f.findall("require"):
                for c in r.findall("command"):
                    major, minor = f.get("number").split(".")
                    versions.setdefault(c.get("name"), int(major) * 10 + int(minor))
        for e in root.find("extensions"):
            for r in e.findall("require"):
                for c in r.findall("command"):
                    extensions.setdefault(c.get("name"), []).append((e.get("name"), e.get("type")))
        return versions, extensions

    def find_struct_homes(self, root):
        homes = {}
        for f in root.findall("feature"):
            for r in f.findall("require"):
                for t in r.findall("type"):
                    homes.setdefault(t.get("name"), []).append(f.get("number").replace(".", ""))
        for e in root.find("extensions"):
            for r in e.findall("require"):
                for t in r.findall("type"):
                    name = self.alias.get(t.get("name"), t.get("name"))
                    homes.setdefault(name, []).append(e.get("name"))
        return homes

    def resolve(self, name):
        return self.alias.get(name, name)


class Writer:
    def __init__(self, registry, hand):
        self.reg = registry
        self.hand = hand
        self.out = []
        self.order = sorted(registry.structs)
        self.number = {name: i for i, name in enumerate(self.order)}
        self.handle_number = {name: i for i, name in enumerate(registry.handles)}

    def put(self, line=""):
        self.out.append(line)

    def kind(self, type_):
        type_ = self.reg.resolve(type_)
        category = self.reg.category.get(type_)
        if category == "handle":
            return "HANDLE", self.handle_number[type_]
        if category == "struct":
            fine = type_ in self.number and type_ not in OPAQUE
            return ("STRUCT", self.number[type_]) if fine else ("SKIP", 0)
        if category == "union":
            return "RAW", 0
        if type_ in ("float", "double"):
            return "FLOAT", 0
        if category in ("enum", "bitmask", "basetype") or re.match(r"u?int\d+_t|size_t|int$", type_):
            return "INT", 0
        return "SKIP", 0

    def member(self, struct, m, members):
        """A row of the table, or None for what cannot be printed."""
        if m.bits or m.name == "sType" or (m.free and m.stars):
            return None
        if m.name == "pNext":
            return f'{{"pNext", FAKE_NEXT, 0, 0, 0, offsetof({struct}, pNext), 0, 0, 1}}'
        kind, number = self.kind(m.type)
        at = f"offsetof({struct}, {m.name})"
        if m.type == "char":
            if m.array:
                return f'{{"{m.name}", FAKE_STRING, 0, 0, 0, {at}, 0, 0, 1}}'
            if m.stars in (1, 2):
                count, size = self.length(struct, m, members)
                return f'{{"{m.name}", FAKE_STRING, {m.stars}, 1, {size}, {at}, {count}, 0, 1}}'
            return None
        if kind == "SKIP" or m.stars > 1:
            return None
        element = f"sizeof({m.type})"
        if m.stars:
            count, size = self.length(struct, m, members)
            if count is None:
                return None
            return f'{{"{m.name}", FAKE_{kind}, 1, {element}, {size}, {at}, {count}, {number}, 1}}'
        n = f"sizeof((({struct} *)0)->{m.name}) / {element}" if m.array else "1"
        return f'{{"{m.name}", FAKE_{kind}, 0, {element}, 0, {at}, 0, {number}, {n}}}'

    def length(self, struct, m, members):
        """The position of the number of elements, and its width; width 0: one element."""
        if not m.len or m.len == "null-terminated" or m.len == "1":
            return "0", "0"
        for other in members:
            if other.name == m.len and not other.stars:
                return f"offsetof({struct}, {m.len})", f"sizeof((({struct} *)0)->{m.len})"
        return None, None

    def structs(self):
        self.put("static const struct fake_member members[] = {")
        ranges, at = {}, 0
        for name in self.order:
            members = [Member(m) for m in self.reg.structs[name].findall("member")
                       if "vulkan" in (m.get("api") or "vulkan").split(",")]
            rows = [row for row in (self.member(name, m, members) for m in members) if row]
            ranges[name] = (at, len(rows), members)
            at += len(rows)
            for row in rows:
                self.put(f"\t{row},")
        self.put("};")
        self.put("const struct fake_struct fake_structs[] = {")
        for name in self.order:
            first, n, members = ranges[name]
            stype = members[0].stype or "0"
            t = self.reg.structs[name]
            homes = "+".join(self.reg.version_of_struct.get(name, []))
            extends = (t.get("structextends") or "").split(",")
            feature = "true" if "VkPhysicalDeviceFeatures2" in extends or name == "VkPhysicalDeviceFeatures" else "false"
            self.put(f'\t{{"{name}", "{homes}", {stype}, sizeof({name}), {feature}, members + {first}, {n}}},')
        self.put("};")
        self.put(f"const uint32_t fake_n_structs = {len(self.order)};")
        self.put("const char *const fake_handle_names[] = {")
        for name in self.reg.handles:
            self.put(f'\t"{name[2:]}",')
        self.put("};")
        self.put(f"enum {{ N_HANDLES = {len(self.reg.handles)} }};")

    def argument(self, m, params):
        """The expression by which a body prints a parameter."""
        kind, number = self.kind(m.type)
        if m.name == "pAllocator":
            return "\tfake_put_word(pAllocator ? \"allocator\" : \"-\");"
        if m.array:
            return None
        if m.type == "char" and m.stars == 1:
            return f"\tfake_put_string({m.name});"
        if not m.stars:
            return {"HANDLE": f"\tfake_put_handle({number}, (uint64_t)(uintptr_t){m.name});",
                    "INT": f"\tfake_put_int((int64_t){m.name});",
                    "FLOAT": f"\tfake_put_float((double){m.name});"}.get(kind)
        if m.stars > 1 or not m.const or kind in ("SKIP",) or m.free:
            return None
        names = [p.name for p in params]
        count = "1"
        if m.len and m.len != "1":
            if m.len not in names:
                return None
            count = m.len if not params[names.index(m.len)].stars else None
        if count is None:
            return None
        return f"\tfake_put_array(FAKE_{kind}, {number}, sizeof({m.type}), {m.name}, {count});"

    def work(self, name, params):
        names = {p.name for p in params}
        if re.fullmatch(r"vkCmdDraw(Indexed)?", name):
            count = "vertexCount" if "vertexCount" in names else "indexCount"
            return f"1, (uint64_t){count} * instanceCount, 0, false"
        if name.startswith("vkCmdDrawMesh"):
            return "1, 0, 0, true"
        if name.startswith("vkCmdDrawMulti"):
            return "drawCount, 0, 0, false"
        if name.startswith("vkCmdDraw"):
            return "1, 0, 0, false"
        if name in ("vkCmdDispatch", "vkCmdDispatchBase", "vkCmdDispatchBaseKHR"):
            return "0, 0, (uint64_t)groupCountX * groupCountY * groupCountZ, false"
        return None

    def body(self, name, command):
        params = [Member(p) for p in command.findall("param")
                  if "vulkan" in (p.get("api") or "vulkan").split(",")]
        returns = command.find("proto").findtext("type")
        declared = ", ".join(p.text for p in params)
        self.put(f"static VKAPI_ATTR {returns} VKAPI_CALL")
        self.put(f"gen_{name}({declared})")
        self.put("{")
        for p in params:
            self.put(f"\t(void){p.name};")
        if name.startswith("vkCmd"):
            self.put(f"\tfake_cmd_begin({params[0].name}, &info_{name});")
            for p in params[1:]:
                line = self.argument(p, params)
                if line:
                    self.put(line)
            work = self.work(name, params)
            if work:
                self.put(f"\tfake_cmd_count({params[0].name}, {work});")
            self.put("\tfake_cmd_end();")
            if returns == "VkResult":
                self.put("\treturn VK_SUCCESS;")
        else:
            self.host(name, params, returns)
        self.put("}")

    def host(self, name, params, returns):
        own = "pAllocator == NULL" if any(p.name == "pAllocator" for p in params) else "false"
        if returns == "VkResult":
            self.put(f'\tVkResult result = fake_enter("{name}", {own});')
            self.put("\tif (result != VK_SUCCESS)")
            self.put("\t\treturn result;")
        logged = LOGGED.match(name)
        if logged:
            self.put(f'\tfake_line_begin("{name}");')
            for p in params:
                line = self.argument(p, params)
                if line:
                    self.put(line)
            self.put("\tfake_line_end();")
        last = params[-1]
        if name.startswith(("vkCreate", "vkRegister")) and self.kind(last.type)[0] == "HANDLE" and last.stars:
            count = last.len if last.len else "1"
            self.put(f"\tfor (uint32_t i = 0; i < {count}; i++)")
            self.put(f"\t\t{last.name}[i] = ({last.type})fake_new({self.kind(last.type)[1]}, {own});")
        elif name.startswith("vkDestroy") and len(params) >= 2:
            p = params[1] if len(params) > 2 else params[0]
            self.put(f"\tfake_free((uint64_t)(uintptr_t){p.name});")
        else:
            for p in params:
                if p.stars == 1 and p.type == "uint32_t" and not p.const and p.name.endswith("Count"):
                    self.put(f"\t*{p.name} = 0;")
        if returns == "VkResult":
            self.put("\treturn VK_SUCCESS;")
        elif returns != "void":
            self.put("\treturn 0;")

    def info(self, name, command):
        names = re.sub(r"VK_QUEUE_(VIDEO_)?|_BIT(_[A-Z]+)?|_", "", command.get("queues") or "").lower()
        queues = sum(QUEUES[q] for q in names.split(",") if q)
        place = PLACES[command.get("renderpass") or "both"]
        video = PLACES[command.get("videocoding") or "outside"]
        tasks = (command.get("tasks") or "").split(",")
        action = "true" if "action" in tasks else "false"
        sync = "true" if "synchronization" in tasks else "false"
        self.put(f'const struct fake_info info_{name} = {{"{name}", {queues}, {place}, {video}, {action}, {sync}}};')

    def newer(self, name, n):
        extra = "".join(f", const void *p{i}" for i in range(n))
        action = "false" if "PerTile" in name or "Feedback" in name else "true"
        self.put(f'const struct fake_info info_{name} = {{"{name}", 0, 0, 2, {action}, false}};')
        if name in self.hand:
            return
        self.put("static VKAPI_ATTR void VKAPI_CALL")
        self.put(f"gen_{name}(VkCommandBuffer commandBuffer{extra})")
        self.put("{")
        for i in range(n):
            self.put(f"\t(void)p{i};")
        self.put(f"\tfake_cmd_begin(commandBuffer, &info_{name});")
        self.put("\tfake_cmd_end();")
        self.put("}")

    def row(self, name, base, first):
        extensions = "+".join(e for e, _ in self.reg.extensions.get(name, []))
        version = self.reg.versions.get(name, 0)
        if name in NEWER:  # there without its extension, whatever the registry
            version = 10
        level = {"VkInstance": 0, "VkPhysicalDevice": 1}.get(first, 2)
        function = f"fake_{base}" if base in self.hand else f"gen_{name}"
        bench = "true" if name.startswith("vkCmd") else "false"
        self.put(f'\t{{"{name}", (PFN_vkVoidFunction){function}, "{extensions}", {version}, {level}, {bench}}},')

    def written(self, base):
        """The spelling of a command that a hand file defines: a later registry may take another one for the first."""
        spellings = [base, *(name for name, of in self.reg.command_alias.items() if of == base)]
        return next((name for name in spellings if name in self.hand), base)

    def commands(self):
        every = {}
        for name, command in self.reg.commands.items():
            every[name] = (name, command)
        for name, base in self.reg.command_alias.items():
            if base in self.reg.commands:
                every[name] = (base, self.reg.commands[base])
        for name in sorted(every):
            base, command = every[name]
            base = self.written(base)
            if name.startswith("vkCmd"):
                self.info(name, command)
            if base in self.hand:
                continue
            self.body(name, command)
        newer = NEWER.keys() - every.keys()
        for name in sorted(newer):
            self.newer(name, NEWER[name])
        self.put("const struct fake_command fake_commands[] = {")
        rows = sorted([*every, *newer])
        for name in rows:
            if name in newer:
                self.row(name, name, "VkCommandBuffer")
            else:
                base, command = every[name]
                first = command.find("param").findtext("type")
                self.row(name, self.written(base), first)
        self.put("};")
        self.put(f"const uint32_t fake_n_commands = {len(rows)};")


HEAD = """/* Made by tests/fake_vk/gen_fake_vk.py from vk.xml. */
#define VK_ENABLE_BETA_EXTENSIONS 1
#include "tests/fake_vk/fake.h"
"""


def main():
    xml, out, out_h, *hand_files = sys.argv[1:]
    hand = {}
    for path in hand_files:
        for m in re.finditer(r"^VKAPI_ATTR (\w+) VKAPI_CALL\nfake_(vk\w+)\((.*?)\)\n\{",
                             pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            hand[m.group(2)] = f"VKAPI_ATTR {m.group(1)} VKAPI_CALL fake_{m.group(2)}({m.group(3)});"
    writer = Writer(Registry(xml), hand)
    writer.put(HEAD)
    for prototype in hand.values():
        writer.put(prototype)
    writer.structs()
    writer.commands()
    pathlib.Path(out).write_text("\n".join(writer.out) + "\n", encoding="utf-8")
    names = [f"\tFAKE_{name} = {n}," for name, n in writer.handle_number.items()]
    names += [f"\tFAKE_S_{name} = {n}," for name, n in writer.number.items()]
    pathlib.Path(out_h).write_text("/* Made by gen_fake_vk.py: numbers of handle types and of structures. */\n"
                                   "enum {\n" + "\n".join(names) + "\n};\n", encoding="utf-8")


main()
