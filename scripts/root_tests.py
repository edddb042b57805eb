#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build and test passtally in a bare system of another Debian release: scripts/test --root SUITE [FOLDER].

SUITE: bookworm, trixie, sid, or another that this machine's mirror has, which apt's configuration names. The root is
made once by mmdebstrap in FOLDER/SUITE (default: passtally-roots in the temporary folder), and kept. In it: what
scripts/deps installs, as far as the release has it, the build as README.md says, the unit tests, selftest, the live
tests. Needs root, mmdebstrap and a network; not part of .ci/run. Exit status: 0; 1 a step failed; 2 usage.
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent
INSIDE = """
set -u; cd /src/passtally
apt-get update -q >/dev/null
known=$(for p in $(scripts/deps --list); do apt-cache show "$p" >/dev/null 2>&1 && echo "$p"; done)
echo "not in this release:" $(scripts/deps --list | grep -vxF "$known")
apt-get install -q -y --no-install-recommends $known >/dev/null || exit 1
failed=
step() { echo "==== $*"; "$@" || { failed="$failed [$*]"; echo "==== failed: $*"; }; }
rm -rf /build
step meson setup /build || exit 1
step ninja -C /build || exit 1
step meson test -C /build --no-rebuild --suite unit --suite golden
step /build/cli/passtally selftest
step meson test -C /build --no-rebuild --suite live -t 3
echo "failed:${failed:- nothing}"; [ -z "$failed" ]
"""
# Devices and processes are the machine's own; nothing else is mounted.
ENTER = ('mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && '
         'mount -t tmpfs tmpfs "$0/run" && exec chroot "$0" "$@"')


def mirror():
    """Where this machine's own release comes from."""
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"],
                          capture_output=True, text=True, check=True)
    return next(site for site, of in map(str.split, done.stdout.splitlines()) if of == release)


def apt_options():
    """How this machine fetches: proxies, and whether dates of releases count."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    wanted = [line.rstrip(";") for line in dump.splitlines()
              if line.startswith(("Acquire::Check", "Acquire::http", "Acquire::https", "Acquire::Retries")) and '""' not in line]
    return [f"--aptopt={option}" for option in (*wanted, 'APT::Install-Recommends "false"', 'Acquire::Languages "none"')]


def main():
    if not 2 <= len(sys.argv) <= 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__ if sys.argv[1:] == ["--help"] else "scripts/test: --root needs a release (trixie), and may have a folder")
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        sys.exit("scripts/test: --root needs to be root, and mmdebstrap")
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else pathlib.Path(tempfile.gettempdir()) / "passtally-roots")
    root = folder / sys.argv[1]
    if not (root / "usr/bin/apt-get").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mmdebstrap", "--variant=apt", "--include=ca-certificates", *apt_options(), sys.argv[1], str(root),
                        mirror()], check=True)
    source = root / "src/passtally"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=HERE,
                           capture_output=True, check=True).stdout
    # With the time of now: a build that is there must not take them for older than its objects.
    packed = subprocess.Popen(["tar", "-c", "--null", "--files-from=-", "--ignore-failed-read"], cwd=HERE,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    unpacked = subprocess.Popen(["tar", "-x", "-m", "-C", str(source)], stdin=packed.stdout)
    packed.stdin.write(files)
    packed.stdin.close()
    if unpacked.wait() != 0:
        return 1
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(["nice", "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, str(root), "sh",
                           "-c", INSIDE], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
