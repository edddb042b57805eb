#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally install --user and uninstall: what they create and remove, and nothing else."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from cli_case import COMMAND, CliCase

BUILD = pathlib.Path(COMMAND).resolve().parent.parent


class Install(CliCase):
    def setUp(self):
        super().setUp()
        # As it would be unpacked; the files are the build's.
        self.tree = self.folder / "opt dir" / "passtally-1"
        lib = self.tree / "lib/x86_64-linux-gnu"
        manifests = self.tree / "share/vulkan/explicit_layer.d"
        for folder in (self.tree / "bin", lib, manifests):
            folder.mkdir(parents=True)
        shutil.copy2(COMMAND, self.tree / "bin/passtally")
        layer = BUILD / "vk_layer/libVkLayer_passtally.so"
        if not layer.exists():
            self.skipTest("this build has no Vulkan layer")
        for path in (BUILD / "gl_shim/libpasstally_gl.so", layer, BUILD / "libpasstally.so.0"):
            shutil.copy2(path, lib)
        shutil.copy2(BUILD / "vk_layer/VkLayer_passtally.json", manifests)
        self.layer = lib / layer.name
        self.env.pop("XDG_DATA_HOME", None)
        self.env["LD_LIBRARY_PATH"] = str(lib)
        self.link = self.folder / ".local/bin/passtally"
        self.manifest = self.folder / ".local/share/vulkan/implicit_layer.d/VkLayer_passtally.json"

    def call(self, *args, command=None, **env):
        return subprocess.run([command or self.tree / "bin/passtally", *args], env=dict(self.env, **env), cwd=self.folder,
                              capture_output=True, text=True, timeout=240, check=False)

    def made(self):
        return sorted(str(p.relative_to(self.folder)) for p in (self.folder / ".local").rglob("*") if not p.is_dir())

    def test_usage(self):
        for args in (("install",), ("uninstall",), ("install", "--user", "x"), ("install", "--system")):
            done = self.call(*args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), args)
        for args in (("install", "--user"), ("uninstall", "--user")):
            done = self.call(*args, HOME="")
            self.assertEqual((done.returncode, done.stdout), (1, ""), args)
            self.assertIn("HOME", done.stderr)
        self.assertFalse((self.folder / ".local").exists())

    def test_install_and_uninstall(self):
        done = self.call("install", "--user")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.made(), [".local/bin/passtally", ".local/share/vulkan/implicit_layer.d/VkLayer_passtally.json"])
        self.assertEqual(os.readlink(self.link), str(self.tree / "bin/passtally"))
        self.assertIn("is not in PATH", done.stdout)
        layer = json.loads(self.manifest.read_text(encoding="utf-8"))["layer"]
        self.assertEqual((layer["library_path"], layer["library_arch"]), (str(self.layer), "64"))
        self.assertEqual(layer["enable_environment"], {"PASSTALLY": "1"})
        # A second time: nothing to do, and the hint appears only where it is needed.
        done = self.call("install", "--user", PATH=f"{self.link.parent}:{self.env['PATH']}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("PATH", done.stdout)
        # The link leads the command to its files, and the user's manifest leads the loader to the layer.
        env = self.call("run", "-o", "x.jsonl", "--", "env", command=self.link).stdout.splitlines()
        self.assertIn("PASSTALLY=1", env)
        self.assertFalse([line for line in env if line.startswith("VK_INSTANCE_LAYERS=")])
        done = self.call("uninstall", "--user")
        self.assertEqual((done.returncode, self.made()), (0, []), done.stderr)
        self.assertEqual(self.call("uninstall", "--user").returncode, 0)
        env = self.call("run", "-o", "y.jsonl", "--", "env").stdout
        self.assertNotIn("PASSTALLY=1", env.splitlines())
        self.assertIn("VK_LAYER_PASSTALLY_capture", env)

    def test_program_of_another_architecture(self):
        """What is said of it where nothing was captured: after the run the file is one for i386 with a loader."""
        other = self.tree / "lib/i386-linux-gnu"
        elf = (b"\x7fELF\1\1\1" + bytes(9) + b"\2\0\3\0\1\0\0\0" + bytes(4) + (52).to_bytes(4, "little") + bytes(10)
               + (32).to_bytes(2, "little") + b"\1\0" + bytes(6) + b"\3" + bytes(40))
        for libraries, said in (
                (0, "game is a program for i386, the library is for x86-64: install passtally for i386 too"),
                (1, "game is a program for i386, and only those for x86-64 are captured here: passtally doctor says why")):
            if libraries:
                other.mkdir()
                data = bytearray((self.layer.parent / "libpasstally_gl.so").read_bytes())
                data[4], data[18:20] = 1, b"\3\0"
                (other / "libpasstally_gl.so").write_bytes(data)
            (self.folder / "elf").write_bytes(elf)
            game = self.folder / "game"
            game.write_text('#!/bin/sh\nmv elf "$0"\n', encoding="utf-8")
            game.chmod(0o755)
            done = self.call("run", "-o", f"x{libraries}.jsonl", "--", str(game))
            self.assertIn(f"passtally: {self.folder}/{said}\n", done.stderr)

    def test_two_architectures(self):
        """Vulkan's loaders before library_arch (Debian 11's) take only one of several layers of one name, whichever
        it is for, and leave out one that they cannot load: each has its own name."""
        other = self.tree / "lib/i386-linux-gnu"
        shutil.copytree(self.layer.parent, other)
        for path in other.iterdir():
            data = bytearray(path.read_bytes())
            data[4], data[18:20] = 1, b"\3\0"  # the header's class and machine: i386
            path.write_bytes(data)
        self.assertEqual(self.call("install", "--user").returncode, 0)
        layers = [json.loads((self.manifest.parent / name).read_text(encoding="utf-8"))["layer"]
                  for name in ("VkLayer_passtally.json", "VkLayer_passtally32.json")]
        self.assertEqual([(at["name"], at["library_path"], at["library_arch"]) for at in layers],
                         [("VK_LAYER_PASSTALLY_capture", str(self.layer), "64"),
                          ("VK_LAYER_PASSTALLY_capture_32", str(other / self.layer.name), "32")])
        self.assertEqual(self.call("uninstall", "--user").returncode, 0)
        self.assertEqual(self.made(), [])

    def test_another_copy_takes_over(self):
        self.call("install", "--user")
        moved = self.tree.rename(self.folder / "passtally-2")
        done = self.call("install", "--user", command=moved / "bin/passtally", LD_LIBRARY_PATH=str(moved / "lib/x86_64-linux-gnu"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.readlink(self.link), str(moved / "bin/passtally"))
        self.assertIn(str(moved), self.manifest.read_text(encoding="utf-8"))

    def test_what_is_not_ours_stays(self):
        for path in (self.link, self.manifest):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("mine", encoding="utf-8")
        done = self.call("install", "--user")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{self.link} is there and is not passtally's: it stays", done.stderr)
        self.assertEqual(self.call("uninstall", "--user").returncode, 0)
        self.assertEqual([path.read_text(encoding="utf-8") for path in (self.link, self.manifest)], ["mine", "mine"])
        self.manifest.unlink()
        self.assertEqual(self.call("install", "--user").returncode, 1)
        self.assertFalse(self.manifest.exists())
        self.link.unlink()
        self.manifest.write_text("mine", encoding="utf-8")
        done = self.call("install", "--user")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{self.manifest} is there and is not passtally's: it stays", done.stderr)


if __name__ == "__main__":
    unittest.main()
