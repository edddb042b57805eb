# SPDX-License-Identifier: MIT
"""What the live tests of the Vulkan layer share, in addition to harness.py.

Programs run on Mesa's lavapipe and see no layers of this machine except those that a test requests. passtally's is
found like an installed one: a manifest in $XDG_DATA_HOME/vulkan/implicit_layer.d, switched on by PASSTALLY=1, so
it is above all layers that VK_INSTANCE_LAYERS names.
"""

import json
import pathlib
import re

import harness as h

LAYER = "VK_LAYER_PASSTALLY_capture"
VALIDATION = "VK_LAYER_KHRONOS_validation"
SYSTEM = [pathlib.Path(p) for p in ("/usr/share/vulkan", "/usr/local/share/vulkan", "/etc/vulkan")]


def library():
    """The layer, in a build or an installed tree."""
    for folder in ("vk_layer", ".", "lib"):
        path = h.BUILD / folder / "libVkLayer_passtally.so"
        if path.exists():
            return path.resolve()
    h.skip("libVkLayer_passtally.so was not built")


def icd():
    for folder in SYSTEM:
        for path in sorted((folder / "icd.d").glob("lvp_icd*.json")):  # Mesa 25 has no machine in the name
            return path
    h.skip("Mesa's lavapipe is not installed")


def installed_manifest(name):
    """The manifest of an installed layer, or None."""
    for folder in SYSTEM:
        for kind in ("implicit_layer.d", "explicit_layer.d"):
            for path in sorted((folder / kind).glob("*.json")):
                try:
                    data = json.loads(path.read_text())
                except ValueError:
                    continue
                layers = data.get("layers", [data.get("layer", {})])
                if any(layer.get("name") == name for layer in layers):
                    return path
    return None


def manifest(folder):
    """passtally's manifest with the library's full path, in `folder`."""
    source = library().parent / "VkLayer_passtally.json"
    if not source.exists():
        h.skip("VkLayer_passtally.json was not built")
    data = json.loads(source.read_text())
    data["layer"]["library_path"] = str(library())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "VkLayer_passtally.json"
    path.write_text(json.dumps(data))
    return path


def bare_env(folder, extra=None):
    """A program on lavapipe, without passtally and without any layer that is on by default."""
    env = h.base_env(folder)
    for key in [k for k in env if k.startswith("VK_") or k in ("XDG_DATA_HOME", "MANGOHUD", "ENABLE_VULKAN_RENDERDOC_CAPTURE")]:
        del env[key]
    data = folder / "data"
    data.mkdir(exist_ok=True)
    env.update({"VK_ICD_FILENAMES": str(icd()), "NODEVICE_SELECT": "1", "XDG_DATA_HOME": str(data)})
    env.update(h.EXTRA_ENV)
    if h.SANITIZER:
        env["LD_PRELOAD"] = h.SANITIZER
    env.update(extra or {})
    return env


def layer_env(folder, log, options=None, extra=None):
    """The same with passtally's layer, switched on like an installed one."""
    manifest(folder / "data" / "vulkan" / "implicit_layer.d")
    env = bare_env(folder, extra)
    env["PASSTALLY"] = "1"
    env["PASSTALLY_LOG"] = str(log)
    if options:
        env["PASSTALLY_OPTIONS"] = h.options_text(options)
    return env


def scene_list(program):
    return h.run([program, "--list"], dict(h.os.environ)).text.split()


def expectation(program, argv, env):
    return json.loads(h.run([program, *argv, "--expect"], env).text)


# One message of the validation layer, without what differs from run to run.
MESSAGE = re.compile(r"\b((?:VUID|UNASSIGNED|SYNC)-[\w-]+)")


# Of the whole pool, where the rule is about the range (R26): tests/fake_vk judges that.
TOO_STRICT = "VUID-vkResetQueryPool-firstQuery-02741"


def messages(result):
    """How often the validation layer gave each message."""
    counts = {}
    for text in (result.text, result.errors):
        for line in text.splitlines():
            found = MESSAGE.search(line)
            if found and found.group(1) != TOO_STRICT and "Validation" in line:
                counts[found.group(1)] = counts.get(found.group(1), 0) + 1
    return counts


def chain(result, call="vkCreateDevice"):
    """The layers of the first instance or device as the loader reports them (VK_LOADER_DEBUG=layer,driver),
    from the program down."""
    names, inside = [], False
    for line in result.errors.splitlines():
        line = line.removeprefix("[Vulkan Loader]").strip()  # since 1.4
        line = line.split(":", 1)[-1].strip() if line.startswith(("LAYER", "INFO", "DEBUG", "DRIVER")) else line
        if f"{call} layer callstack" in line:
            names, inside = [], True
        elif inside and line.startswith(("<Device>", "<Drivers>")):
            return names
        elif inside and line.startswith("VK_LAYER_"):
            names.append(line.split()[0])
    return names
