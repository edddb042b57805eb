# SPDX-License-Identifier: MIT
"""`meson install` must give a tree that works in place: run with the build folder and prefix.

    test_install.py BUILD PREFIX
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, PREFIX = sys.argv[1:3]


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        done = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.holder.name)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.tree = pathlib.Path(cls.holder.name)

    def find(self, name):
        found = [p for p in self.tree.rglob(name) if p.is_file()]
        self.assertEqual(len(found), 1, f"{name}: {found}")
        return found[0]

    def test_everything_below_the_prefix(self):
        prefix = self.tree / PREFIX.lstrip("/")
        outside = [p for p in self.tree.rglob("*") if p.is_file() and not p.is_relative_to(prefix)]
        self.assertEqual(outside, [])

    def test_shim_beside_core(self):
        core, shim = self.find("libpasstally.so.0"), self.find("libpasstally_gl.so")
        self.assertEqual(core.parent, shim.parent)

    def test_shim_finds_core(self):
        shim = self.find("libpasstally_gl.so")
        done = run(sys.executable, str(ROOT / "scripts" / "check_symbols.py"), str(shim), "--list",
                   str(ROOT / "tests" / "golden" / "symbols-libpasstally_gl.txt"), "--runpath", "$ORIGIN")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_layer_beside_core(self):
        core, layer = self.find("libpasstally.so.0"), self.find("libVkLayer_passtally.so")
        self.assertEqual(core.parent, layer.parent)
        done = run(sys.executable, str(ROOT / "scripts" / "check_symbols.py"), str(layer), "--list",
                   str(ROOT / "tests" / "golden" / "symbols-libVkLayer_passtally.txt"), "--runpath", "$ORIGIN")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_manifests_name_the_layer(self):
        """In the system's folder by its name, elsewhere by its path relative to the manifest."""
        manifests = sorted(self.tree.rglob("VkLayer_passtally.json"))
        self.assertEqual([m.parent.name for m in manifests], ["explicit_layer.d", "implicit_layer.d"])
        for manifest in manifests:
            path = json.loads(manifest.read_text(encoding="utf-8"))["layer"]["library_path"]
            if PREFIX == "/usr":
                self.assertEqual(path, "libVkLayer_passtally.so")
            else:
                self.assertEqual((manifest.parent / path).resolve(),
                                 self.find("libVkLayer_passtally.so").resolve())

    def test_preloads_into_a_program(self):
        """ld.so reports on stderr what it could not load; the program's own output is unchanged."""
        shim = self.find("libpasstally_gl.so")
        done = run("/bin/echo", "hello", env={**os.environ, "LD_PRELOAD": str(shim)})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "hello\n", ""))

    def test_no_build_folder_left_inside(self):
        """An installed file that names the build folder works only on this machine."""
        for path in self.tree.rglob("*"):
            if path.is_file() and path.suffix != ".debug":
                name = os.path.basename(BUILD.rstrip("/"))
                dynamic = run("readelf", "--dynamic", str(path)).stdout if b"\x7fELF" == path.read_bytes()[:4] else ""
                self.assertNotIn(f"/{name}/", dynamic, path)

    def test_words(self):
        """What users read, where the system's readers look."""
        if not list(self.tree.rglob("passtally.1")):
            self.skipTest("built without manuals")
        prefix = self.tree / PREFIX.lstrip("/")
        for path in ("share/man/man1/passtally.1", "share/man/man1/passtally-run.1", "share/man/man5/passtally-log.5",
                     "share/bash-completion/completions/passtally", "share/zsh/site-functions/_passtally",
                     "share/fish/vendor_completions.d/passtally.fish", "share/passtally/schema/passtally-1.json",
                     "share/passtally/blocklist", "share/passtally/python/passtally.py", "share/doc/passtally/README.md", "share/doc/passtally/docs/log.md"):
            self.assertTrue((prefix / path).is_file(), path)

    def test_command(self):
        command = [p for p in self.tree.rglob("passtally") if p.is_file() and p.parent.name == "bin"]
        if not command:
            self.skipTest("built without the command")
        done = run(str(command[0]), "--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("passtally", done.stdout)


CROSS = """[binaries]
c = 'i686-linux-gnu-gcc'
ar = 'i686-linux-gnu-ar'
strip = 'i686-linux-gnu-strip'
[properties]
needs_exe_wrapper = true
[host_machine]
system = 'linux'
cpu_family = 'x86'
cpu = 'i686'
endian = 'little'
"""


class TwoArchitectures(unittest.TestCase):
    """docs/install.md: a second build for another architecture goes to the same prefix, in any order."""

    def plan(self, folder, *more):
        """What a build would install: the file's bytes by its place (None: made by the build)."""
        build = folder / f"build{len(more)}"
        done = run("meson", "setup", str(build), str(ROOT), "--prefix=/opt/toy", "-Dtests=disabled", "-Dvulkan=enabled", *more)
        if done.returncode != 0:
            raise AssertionError(done.stdout[-2000:] + done.stderr)
        plan = json.loads(run("meson", "introspect", "--installed", str(build)).stdout)
        return {to: pathlib.Path(of).read_bytes() if os.path.isfile(of) else None for of, to in plan.items()}

    @unittest.skipUnless(shutil.which("i686-linux-gnu-gcc"), "i686-linux-gnu-gcc is not installed")
    def test_same_prefix(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            cross = folder / "cross.txt"
            cross.write_text(CROSS, encoding="utf-8")
            ours = self.plan(folder, "--libdir=lib/x86_64-linux-gnu")
            other = self.plan(folder, "--cross-file", str(cross), "--libdir=lib/i386-linux-gnu", "-Dcommand=disabled",
                              "-Dhtml=disabled")
        # What is made for share/ is the same for all.
        overwritten = [to for to in other if to in ours and (other[to] != ours[to] if other[to] else "/share/" not in to)]
        self.assertEqual(overwritten, [])
        for plan, bits, lib in ((ours, "64", "x86_64"), (other, "32", "i386")):
            manifests = [json.loads(text)["layer"] for to, text in plan.items() if "_layer.d/" in to]
            self.assertTrue(manifests)
            for manifest in manifests:
                self.assertEqual((manifest["library_path"], manifest["library_arch"]),
                                 (f"../../../lib/{lib}-linux-gnu/libVkLayer_passtally.so", bits))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
