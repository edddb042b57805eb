#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally run and Vulkan: what a program's loader is given, wherever passtally is installed.

The trees here contain the command, and in place of the libraries files that only have to exist.
"""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from cli_case import COMMAND, ROOT, CliCase, program

LAYER = "VK_LAYER_PASSTALLY_capture"
MANIFEST = "VkLayer_passtally.json"
SHOW = program("import json, os; print(json.dumps(dict(os.environ)))")


class RunVulkan(CliCase):
    def setUp(self):
        super().setUp()
        for name in [n for n in self.env if n.startswith("VK_") or n in ("XDG_DATA_DIRS", "XDG_DATA_HOME")]:
            del self.env[name]
        build = pathlib.Path(COMMAND).parent.parent
        self.env["LD_LIBRARY_PATH"] = str(build)
        self.shim = build / "gl_shim/libpasstally_gl.so"

    def installed(self, prefix, implicit=True, library=True):
        """A prefix as `meson install` leaves it."""
        root = self.folder / prefix
        (root / "bin").mkdir(parents=True)
        (root / "lib").mkdir()
        shutil.copy2(COMMAND, root / "bin/passtally")
        shutil.copy2(self.shim, root / "lib/libpasstally_gl.so")
        if library:
            (root / "lib/libVkLayer_passtally.so").touch()
        for kind in ("implicit", "explicit") if implicit else ("explicit",):
            folder = root / f"share/vulkan/{kind}_layer.d"
            folder.mkdir(parents=True)
            (folder / MANIFEST).write_text("{}")
        return root

    def built(self, name):
        """A build tree."""
        root = self.folder / name
        (root / "cli").mkdir(parents=True)
        (root / "vk_layer").mkdir()
        shutil.copy2(COMMAND, root / "cli/passtally")
        os.symlink(self.shim.parent, root / "gl_shim")
        (root / "vk_layer/libVkLayer_passtally.so").touch()
        (root / "vk_layer" / MANIFEST).write_text("{}")
        return root

    def run_it(self, command, *args, **env):
        done = subprocess.run([command, "run", *args, "--", *SHOW], env=dict(self.env, **env),
                              cwd=self.folder, capture_output=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.left_behind(), [])
        return json.loads(done.stdout), done.stderr.decode()

    def test_where_the_loader_looks(self):
        root = self.installed("usr")
        for name in ("XDG_DATA_DIRS", "XDG_DATA_HOME"):
            env, said = self.run_it(root / "bin/passtally", **{name: f"{root}/share"})
            self.assertEqual(env["PASSTALLY"], "1")
            self.assertNotIn("VK_ADD_LAYER_PATH", env)
            self.assertNotIn("VK_INSTANCE_LAYERS", env)
            self.assertTrue(env["LD_PRELOAD"].split(":")[0].endswith("libpasstally_gl.so"))
            self.assertNotIn("Vulkan", said)
        # By another name for the same folder, and among other folders.
        os.symlink(root, self.folder / "alias")
        env, _ = self.run_it(root / "bin/passtally", XDG_DATA_DIRS=f"/nowhere:{self.folder}/alias/share/:/usr/share")
        self.assertEqual(env["PASSTALLY"], "1")
        # What the user set for other layers is left alone.
        env, _ = self.run_it(root / "bin/passtally", XDG_DATA_DIRS=f"{root}/share", VK_LAYER_PATH="/theirs",
                             VK_INSTANCE_LAYERS="VK_LAYER_THEIRS")
        self.assertEqual((env["VK_LAYER_PATH"], env["VK_INSTANCE_LAYERS"]), ("/theirs", "VK_LAYER_THEIRS"))

    def test_where_it_does_not(self):
        trees = {self.installed("opt"): "share/vulkan/implicit_layer.d",
                 self.installed("srv", implicit=False): "share/vulkan/explicit_layer.d",
                 self.built("build"): "vk_layer"}
        for root, folder in trees.items():
            command = root / ("cli" if folder == "vk_layer" else "bin") / "passtally"
            where = f"{root}/{folder}"
            env, said = self.run_it(command)
            self.assertEqual(env["VK_ADD_LAYER_PATH"], where)
            self.assertEqual(env["VK_INSTANCE_LAYERS"], LAYER)
            self.assertNotIn("PASSTALLY", env)
            self.assertNotIn("VK_LAYER_PATH", env)
            self.assertNotIn("Vulkan", said)
            env, _ = self.run_it(command, VK_ADD_LAYER_PATH="/theirs:/more", VK_INSTANCE_LAYERS="VK_LAYER_A:VK_LAYER_B")
            self.assertEqual(env["VK_ADD_LAYER_PATH"], f"{where}:/theirs:/more")
            self.assertEqual(env["VK_INSTANCE_LAYERS"], f"{LAYER}:VK_LAYER_A:VK_LAYER_B")
            # VK_LAYER_PATH hides VK_ADD_LAYER_PATH; an empty one counts as unset.
            env, _ = self.run_it(command, VK_LAYER_PATH="/only", VK_ADD_LAYER_PATH="/hidden")
            self.assertEqual(env["VK_LAYER_PATH"], f"{where}:/only")
            self.assertEqual(env["VK_ADD_LAYER_PATH"], "/hidden")
            env, _ = self.run_it(command, VK_LAYER_PATH="", PASSTALLY="1")
            self.assertEqual(env["VK_ADD_LAYER_PATH"], where)
            self.assertNotIn("PASSTALLY", env)  # an installed one must not be used in its place
            # One run inside another.
            env, _ = self.run_it(command, VK_ADD_LAYER_PATH=where, VK_INSTANCE_LAYERS=LAYER)
            self.assertEqual((env["VK_ADD_LAYER_PATH"], env["VK_INSTANCE_LAYERS"]), (where, LAYER))

    def test_colon_in_the_path(self):
        root = self.built("with: colon")
        env, _ = self.run_it(root / "cli/passtally", VK_ADD_LAYER_PATH="/theirs")
        ours, theirs = env["VK_ADD_LAYER_PATH"].split(":")
        self.assertEqual(theirs, "/theirs")
        self.assertNotEqual(ours, f"{root}/vk_layer")
        text = "import os, sys; sys.exit(not os.path.exists(os.environ['VK_ADD_LAYER_PATH'] + '/" + MANIFEST + "'))"
        done = subprocess.run([root / "cli/passtally", "run", "--", *program(text)], env=self.env,
                              cwd=self.folder, capture_output=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.left_behind(), [])

    def test_missing(self):
        root = self.installed("usr", library=False)
        env, said = self.run_it(root / "bin/passtally", XDG_DATA_DIRS=f"{root}/share")
        self.assertEqual(said.count("the Vulkan layer is not installed"), 1)
        self.assertNotIn("PASSTALLY", env)
        self.assertNotIn("VK_INSTANCE_LAYERS", env)
        self.assertIn("libpasstally_gl.so", env["LD_PRELOAD"])
        self.assertEqual(self.run_it(root / "bin/passtally", "--quiet")[1], "")

    def test_same_log(self):
        """One log for both front ends: the path is in PASSTALLY_LOG, which both read."""
        root = self.installed("usr")
        env, _ = self.run_it(root / "bin/passtally", "-o", self.folder / "both.jsonl", XDG_DATA_DIRS=f"{root}/share")
        self.assertEqual(env["PASSTALLY_LOG"], str(self.folder / "both.jsonl"))

    def test_the_layer_has_that_name(self):
        template = json.loads((ROOT / "vk_layer/VkLayer_passtally.json.in").read_text(encoding="utf-8"))
        self.assertEqual(template["layer"]["name"], LAYER)
        self.assertEqual(template["layer"]["enable_environment"], {"PASSTALLY": "1"})


if __name__ == "__main__":
    unittest.main()
