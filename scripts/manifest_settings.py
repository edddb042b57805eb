#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Describe the options in the Vulkan layer's manifest, as vkconfig reads them.

    scripts/manifest_settings.py [--update] PASSTALLY

PASSTALLY is the command, whose `config --json` names every option. Compares vk_layer/VkLayer_passtally.json.in
with the command's output, or writes it (--update). Exit status: 0; 1 the manifest differs; 2 usage.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

MANIFEST = pathlib.Path(__file__).resolve().parent.parent / "vk_layer" / "VkLayer_passtally.json.in"


def options(command):
    env = {key: value for key, value in os.environ.items() if not re.match("PASSTALLY|VK_|XDG_|HOME$", key)}
    done = subprocess.run([command, "config", "--json"], env=env, cwd="/", capture_output=True, check=True)
    return json.loads(done.stdout)["options"]


def setting(option):
    key = option["option"].replace("-", "_")
    value, values = option["value"] or "", option["values"] or "on|off"
    made = {"key": key, "env": f"VK_PASSTALLY_CAPTURE_{key.upper()}", "label": option["option"],
            "description": option["help"], "type": "STRING", "default": value}
    if values == "on|off":
        made.update(type="BOOL", default=value == "on")
    elif values == "N":
        made.update(type="INT", default=int(value), range={"min": 0})
    elif re.fullmatch(r"[a-z]+(\|[a-z]+)+", values):
        made.update(type="ENUM", flags=[{"key": word, "label": word, "description": word} for word in values.split("|")])
    else:
        made["description"] += f" {values}"
    return made


def text(command):
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    lines = ",\n".join("\t\t\t\t" + json.dumps(setting(option)) for option in options(command))
    manifest["layer"]["features"] = {"settings": ["HERE"]}
    return json.dumps(manifest, indent="\t").replace('\t\t\t\t"HERE"', lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("command", type=lambda path: pathlib.Path(path).resolve())
    args = parser.parse_args()
    want = text(args.command)
    if args.update:
        MANIFEST.write_text(want, encoding="utf-8")
    elif want != MANIFEST.read_text(encoding="utf-8"):
        print(f"{MANIFEST} does not describe the options that there are: scripts/manifest_settings.py --update PASSTALLY",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
