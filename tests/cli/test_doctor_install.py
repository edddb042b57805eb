# SPDX-License-Identifier: MIT
"""`passtally doctor` on installations that are complete, incomplete and mixed, for several architectures."""

import pathlib
import shutil
import struct
import subprocess
import unittest

from cli_case import CliCase, COMMAND, rows_of_doctor

BUILD = pathlib.Path(COMMAND).resolve().parent.parent
SHIM, CORE, LAYER = "libpasstally_gl.so", "libpasstally.so.0", "libVkLayer_passtally.so"
MARK = b"passtally's core, version "


class Installation(CliCase):
    def install(self, libdir="lib64"):
        """The build's command and libraries below a prefix of the test; the core that runs is the build's."""
        folder = self.folder / libdir
        folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "bin").mkdir(exist_ok=True)
        shutil.copy(COMMAND, self.folder / "bin" / "passtally")
        shutil.copy(BUILD / "gl_shim" / SHIM, folder)
        shutil.copy(BUILD / CORE, folder)
        layer = BUILD / "vk_layer" / LAYER
        if layer.exists():
            shutil.copy(layer, folder)
        return folder

    def for_other_machine(self, folder):
        """As if built for i386: the header's class and machine decide."""
        for path in folder.iterdir():
            data = bytearray(path.read_bytes())
            data[4] = 1
            data[18:20] = struct.pack("<H", 3)
            path.write_bytes(data)

    def rows(self):
        done = subprocess.run([self.folder / "bin" / "passtally", "doctor"], capture_output=True, text=True, check=False,
                              env=dict(self.env, LD_LIBRARY_PATH=str(BUILD), DISPLAY=""), timeout=240)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return [line for line in rows_of_doctor(done.stdout) if " installation " in line[:20] or " library " in line[:20]]

    def test_whole(self):
        self.install()
        rows = self.rows()
        self.assertEqual(len(rows), 2, rows)
        self.assertRegex(rows[1], r"^ok +installation +command and libraries are of version \d+\.\d+\.\d+$")

    def test_no_core(self):
        folder = self.install()
        (folder / CORE).unlink()
        self.assertRegex(self.rows()[-1], f"^BAD +installation +{CORE} is not beside .*install all of passtally")

    def test_other_version(self):
        folder = self.install()
        data = (folder / CORE).read_bytes()
        at = data.index(MARK) + len(MARK)
        (folder / CORE).write_bytes(data[:at] + b"9" + data[at + 1:])
        self.assertRegex(self.rows()[-1], r"^BAD +installation +.* is of version 9\..*, the command of 0\.")
        (folder / CORE).write_bytes(data.replace(MARK, b"-" * len(MARK)))
        self.assertRegex(self.rows()[-1], r"^BAD +installation +.* is of version \(unknown\)")

    def test_two_architectures(self):
        self.install()
        other = self.install("lib32")
        self.for_other_machine(other)
        rows = self.rows()
        self.assertRegex(rows[1], r"lib32/libpasstally_gl.so, for i386 programs$")
        self.assertRegex(rows[-1], r"^ok +installation ")
        (other / LAYER).unlink(missing_ok=True)
        self.assertRegex(self.rows()[-2], r"^off +installation +no libVkLayer_passtally.so beside .*of i386 programs only OpenGL")
        (other / CORE).unlink()
        self.assertRegex(self.rows()[-1], r"^off +installation +libpasstally.so.0 is not beside .*lib32.*i386 programs cannot load it")


    def test_manifest_of_another_architecture(self):
        """As builds before this one left it: a second build's manifest in place of ours."""
        folder = self.install()
        other = self.install("lib32")
        self.for_other_machine(other)
        if not (folder / LAYER).exists():
            self.skipTest("this build has no Vulkan layer")
        (self.folder / "scenes").mkdir()
        for program in (BUILD / "scenes").glob("passtally-scenes-??"):
            shutil.copy(program, self.folder / "scenes") # doctor asks the drivers by these
        manifests = self.folder / "share/vulkan/explicit_layer.d"
        manifests.mkdir(parents=True)
        text = (BUILD / "vk_layer/VkLayer_passtally.json").read_text(encoding="utf-8")
        for libdir, verdict in (("lib64", ""), ("lib32", "of OpenGL programs ")):
            (manifests / "VkLayer_passtally.json").write_text(text.replace('"./lib', f'"../../../{libdir}/lib'), encoding="utf-8")
            done = subprocess.run([self.folder / "bin" / "passtally", "doctor"], capture_output=True, text=True, check=False,
                                  env=dict(self.env, LD_LIBRARY_PATH=str(BUILD), DISPLAY=""), timeout=240)
            rows = rows_of_doctor(done.stdout)
            drives = any(row.startswith("ok") and " vulkan " in row[:20] for row in rows)
            if verdict:
                self.assertFalse(drives, "without the layer there is nothing to ask by")
            elif not drives:
                self.skipTest("no Vulkan driver")
            if any(row.startswith("ok") and " opengl" in row[:20] for row in rows):
                self.assertTrue(done.stdout.startswith(f"passes {verdict}can be captured"), done.stdout[:200])
            layer = next(row for row in rows if " layer " in row[:20])
            self.assertRegex(layer, r"^ok +layer " if not verdict else
                             r"VkLayer_passtally.json is of a build for i386 programs: install that of x86-64 ones again$")


class Proton(CliCase):
    """What a game in Steam's container needs: each condition by name, with what mends it."""

    def manifest(self, name, library):
        folder = self.folder / "share/vulkan/implicit_layer.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f'{{"layer": {{ "library_path": "{library}" }}}}', encoding="ascii")

    def check(self, status, *rows, **env):
        env = {"HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "share"), "XDG_DATA_DIRS": "/nowhere",
               "XDG_STATE_HOME": str(self.folder / "state"), **env}
        done = subprocess.run([COMMAND, "doctor", "--proton"], capture_output=True, text=True, check=False,
                              env={**self.env, **env}, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (status, ""), done.stdout)
        text = "\n".join(rows_of_doctor(done.stdout))
        for row in rows:
            self.assertRegex(text, f"(?m)^{row}")

    def test_conditions(self):
        layer = BUILD / "vk_layer" / LAYER
        if not layer.exists():
            self.skipTest("built without the Vulkan layer")
        self.check(1, "BAD +64 bits .*passtally install --user", "ok +helpers +sh and sed", "ok +log ")
        self.manifest("VkLayer_passtally.json", "/nowhere/" + LAYER)
        self.check(1, "BAD +64 bits ")
        self.manifest("VkLayer_passtally.json", layer)
        self.check(0, "ok +64 bits .*VkLayer_passtally.json", "off +32 bits .*32-bit libraries")
        other = bytearray(layer.read_bytes())
        other[4] = 1
        (self.folder / "other.so").write_bytes(other)
        self.manifest("VkLayer_passtally32.json", "../../../other.so")
        self.check(0, "ok +32 bits .*VkLayer_passtally32.json")
        self.check(1, "BAD +container .*unset it", PRESSURE_VESSEL_IMPORT_VULKAN_LAYERS="0")
        self.check(1, "BAD +log .*PRESSURE_VESSEL_FILESYSTEMS_RW", XDG_STATE_HOME="/var/lib")
        self.check(0, "ok +log ", XDG_STATE_HOME="/var/lib", PRESSURE_VESSEL_FILESYSTEMS_RW="/srv:/var/lib")
        (self.folder / ".var/app/com.valvesoftware.Steam").mkdir(parents=True)
        self.check(0, "off +flatpak .*docs/install.md")

if __name__ == "__main__":
    unittest.main()
