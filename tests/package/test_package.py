# SPDX-License-Identifier: MIT
"""scripts/package: what it builds installs side by side for several architectures, works, and is removable.

PASSTALLY_PACKAGES names a folder with packages that are built already; without it they are built. Needs root (dpkg).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A scene without a window, three frames of it.
EGL = """
import ctypes
egl = ctypes.CDLL("libEGL.so.1")
p = ctypes.c_void_p
for name in ("eglGetDisplay", "eglCreatePbufferSurface", "eglCreateContext"):
    getattr(egl, name).restype = p
display = p(egl.eglGetDisplay(p(None)))
assert egl.eglInitialize(display, None, None)
egl.eglBindAPI(0x30A2)
config, n = p(), ctypes.c_int()
assert egl.eglChooseConfig(display, (ctypes.c_int * 3)(0x3033, 1, 0x3038), ctypes.byref(config), 1, ctypes.byref(n))
surface = p(egl.eglCreatePbufferSurface(display, config, (ctypes.c_int * 5)(0x3057, 16, 0x3056, 16, 0x3038)))
context = p(egl.eglCreateContext(display, config, None, None))
assert egl.eglMakeCurrent(display, surface, surface, context)
gl = ctypes.CDLL("libGL.so.1")
for i in range(3):
    gl.glClear(0x4000)
    egl.eglSwapBuffers(display, surface)
"""


# In a separate mount namespace: install, use, purge, compare. $1: a folder; then the packages.
SYSTEM = """
set -e
place=$1
shift
mount -t tmpfs tmpfs "$place" || exit 77
for folder in usr var etc; do
	mkdir -p "$place/$folder/upper" "$place/$folder/work"
	mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$place/$folder/upper,workdir=$place/$folder/work" /$folder || exit 77
done
find /usr /etc -xdev | sort >"$place/before"
dpkg -i "$@"
export HOME="$place"
passtally doctor || true
if "$PYTHON" -c "$EGL"; then
	passtally run -o "$place/a.jsonl" -- "$PYTHON" -c "$EGL"
	LD_PRELOAD=libpasstally_gl.so PASSTALLY_LOG="$place/b.jsonl" "$PYTHON" -c "$EGL"
	test "$(grep -c '"type":"frame"' "$place/a.jsonl")" = 3
	test "$(grep -c '"type":"frame"' "$place/b.jsonl")" = 3
fi
passtally check "$place/a.jsonl"
dpkg --purge passtally passtally-layers libpasstally0
find /usr /etc -xdev | sort >"$place/after"
diff "$place/before" "$place/after"
"""


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **more)


def tree(root):
    """Every path except dpkg's own records."""
    return sorted(str(p.relative_to(root)) for p in root.rglob("*")
                  if not str(p.relative_to(root)).startswith(("var/lib/dpkg", "var/log")))


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="passtally-packages-")
        cls.addClassCleanup(cls.holder.cleanup)
        folder = pathlib.Path(cls.holder.name)
        cls.debs_at = pathlib.Path(os.environ.get("PASSTALLY_PACKAGES", folder / "out"))
        if "PASSTALLY_PACKAGES" not in os.environ:
            done = run(ROOT / "scripts" / "package", "--out", cls.debs_at)
            if done.returncode:
                raise AssertionError(done.stdout + done.stderr)
        cls.debs = sorted(cls.debs_at.glob("*.deb"))
        cls.native = run("dpkg", "--print-architecture").stdout.strip()
        cls.root = folder / "root"
        for name in ("updates", "info", "triggers"):
            (cls.root / "var/lib/dpkg" / name).mkdir(parents=True)
        (cls.root / "var/lib/dpkg/status").touch()
        (cls.root / "var/log").mkdir()

    def contents(self, deb):
        done = run("dpkg-deb", "-c", deb)
        return [line.split(None, 5)[5].split(" -> ")[0].lstrip(".") for line in done.stdout.splitlines()]

    def field(self, deb, name):
        return run("dpkg-deb", "-f", deb, name).stdout.strip()

    def test_names(self):
        names = {(self.field(d, "Package"), self.field(d, "Architecture")) for d in self.debs}
        packages = {n for n, _ in names if not n.endswith("-dbgsym")}
        self.assertEqual(packages, {"passtally", "passtally-layers", "libpasstally0"})
        self.assertIn(("passtally", self.native), names)
        for deb in self.debs:
            kind = self.field(deb, "Multi-Arch")
            name = self.field(deb, "Package")
            if not name.endswith("-dbgsym"):
                self.assertEqual(kind, "foreign" if name == "passtally" else "same", name)

    def test_contents(self):
        files = {}
        for deb in self.debs:
            if self.field(deb, "Architecture") == self.native:
                files[self.field(deb, "Package")] = self.contents(deb)
        self.assertIn("/usr/bin/passtally", files["passtally"])
        self.assertIn("/usr/include/passtally.h", files["passtally"])
        for path in ("man/man1/passtally.1.gz", "man/man1/passtally-run.1.gz", "man/man5/passtally-log.5.gz",
                     "bash-completion/completions/passtally", "zsh/vendor-completions/_passtally",
                     "fish/vendor_completions.d/passtally.fish", "passtally/schema/passtally-1.json"):
            self.assertIn(f"/usr/share/{path}", files["passtally"])
        self.assertIn("/usr/share/vulkan/implicit_layer.d/VkLayer_passtally.json", files["passtally-layers"])
        self.assertEqual([p for p in files["libpasstally0"] if p.endswith(".so.0")],
                         [f"/usr/lib/{run('dpkg-architecture', '-qDEB_HOST_MULTIARCH').stdout.strip()}/libpasstally.so.0"])

    def dpkg(self, *words):
        done = run("dpkg", f"--root={self.root}", "--force-depends", "--force-not-root", "--force-bad-path",
                   *words, env=dict(os.environ, LC_ALL="C.UTF-8"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_install_use_remove(self):
        if os.geteuid() != 0:
            self.skipTest("dpkg installs as root only")
        before = tree(self.root)
        debs = [d for d in self.debs if not self.field(d, "Package").endswith("-dbgsym")]
        for arch in {self.field(d, "Architecture") for d in debs} - {self.native}:
            self.dpkg("--add-architecture", arch)
        # Files that two architectures share must be identical, or dpkg refuses here.
        self.dpkg("-i", *debs)
        self.use()
        names = [f"{self.field(d, 'Package')}:{self.field(d, 'Architecture')}" for d in debs]
        self.dpkg("--purge", *names)
        self.assertEqual(tree(self.root), before)

    def test_on_this_system(self):
        """As a user does it, under a copy of /usr, /etc and /var that disappears with the process."""
        if os.geteuid() != 0:
            self.skipTest("dpkg installs as root only")
        debs = [d for d in self.debs if self.field(d, "Architecture") == self.native
                and not self.field(d, "Package").endswith("-dbgsym")]
        place = pathlib.Path(self.holder.name, "overlay")
        place.mkdir()
        env = {k: v for k, v in os.environ.items() if not k.startswith("PASSTALLY") and k != "LD_LIBRARY_PATH"}
        env.update(EGL_PLATFORM="surfaceless", LIBGL_ALWAYS_SOFTWARE="1", LC_ALL="C.UTF-8", PYTHON=sys.executable, EGL=EGL)
        done = run("unshare", "--mount", "--propagation", "private", "sh", "-c", SYSTEM, "sh", place, *debs, env=env,
                   timeout=300)
        if done.returncode == 77:
            self.skipTest("no overlay can be mounted here")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"found\s+by Vulkan's loader: PASSTALLY=1|off +layer ",
                         "doctor sees the manifest")

    def use(self):
        command = self.root / "usr/bin/passtally"
        env = {k: v for k, v in os.environ.items() if not k.startswith("PASSTALLY") and k != "LD_LIBRARY_PATH"}
        home = self.root.parent / "home"
        home.mkdir()
        env.update(HOME=str(home), EGL_PLATFORM="surfaceless", LIBGL_ALWAYS_SOFTWARE="1", LC_ALL="C.UTF-8")
        done = run(command, "--version", env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        log = home / "out.jsonl"
        if run(sys.executable, "-c", EGL, env=env).returncode == 0:  # otherwise there is no EGL here
            done = run(command, "run", "-o", log, "--", sys.executable, "-c", EGL, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(log.read_text().count('"type":"frame"'), 3, done.stderr)
        doctor = run(command, "doctor", env=env).stdout
        self.assertRegex(doctor, r"ok +installation +command and libraries are of version")
        n = sum(self.field(d, "Package") == "passtally-layers" for d in self.debs)
        self.assertEqual(len(re.findall(r"/libpasstally_gl\.so,\s+for ", doctor)), n, doctor)
        shutil.rmtree(home)


if __name__ == "__main__":
    unittest.main()
