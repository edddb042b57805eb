#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The jobs of docs/ci.md, run as a shell runs them: a branch that is as fast, and one that is slower.

The game's runs are invented (another test covers a display); everything else is done by the command itself.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import unittest

from cli_case import COMMAND, ROOT, CliCase, log_bytes
from made_fleet import run_log

if not shutil.which("git") or not shutil.which("make"):
    print("git and make are not installed")
    sys.exit(77)

PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
# What `passtally` is in the job: captures are generated from the number of the run and the program's own argument.
STAND_IN = """#!/bin/sh
if [ "$1" != run ]; then exec "$REAL" "$@"; fi
"$REAL" "$@" > /dev/null 2>&1 # its options are checked
[ $? -ne 2 ] || exit 2
while [ "$1" != -o ]; do shift; done
log=$2
while [ "$1" != -- ]; do shift; done
cp "$MADE/$("$2" --speed)-$(basename "$log")" "$log"
"""


def block(heading, language):
    return re.search(rf"{heading}.*?```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def steps(yaml):
    """The shell lines of a job's steps, each with whether it runs after a failure too."""
    out, always, lines = [], False, yaml.splitlines()
    for i, line in enumerate(lines):
        if "if: always()" in line:
            always = True
        found = re.match(r"( *)(?:- )?run: (.*)|    - (.*)", line)
        if not found:
            continue
        text = found[2] if found[2] is not None else found[3]
        if text == "|":
            indent = len(line) - len(line.lstrip()) + 2
            more = lines[i + 1:]
            stop = next((k for k, l in enumerate(more) if len(l) - len(l.lstrip()) < indent), len(more))
            text = "\n".join(l.strip() for l in more[:stop])
        out.append((text, always))
        always = False
    return out


class Jobs(CliCase):
    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        stand_in = self.write("bin/passtally", STAND_IN)
        stand_in.chmod(0o755)
        made = self.folder / "made"
        made.mkdir()
        rand = random.Random(3)
        for speed, factor in (("usual", 1), ("slow", 1.2)):
            for side in ("old", "new"):
                for i in range(1, 6):
                    lines = run_log(rand, factor, n=40)
                    (made / f"{speed}-{side}-{i}.jsonl").write_bytes(log_bytes(lines))
        self.env.update(PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}", REAL=COMMAND, MADE=str(made),
                        GIT_CONFIG_NOSYSTEM="1", GITHUB_BASE_REF="main", CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
                        GITHUB_STEP_SUMMARY=str(self.folder / "summary.md"))
        for name in ("AUTHOR", "COMMITTER"):
            self.env.update({f"GIT_{name}_NAME": "a", f"GIT_{name}_EMAIL": "a@b"})

    def shell(self, text, folder):
        return subprocess.run(["sh", "-e", "-c", text], cwd=folder, env=self.env, capture_output=True, timeout=240)

    def checkout(self, name, speed):
        """A clone as a job has it: main has the usual speed, the branch the given one."""
        origin = self.folder / name / "origin"
        origin.mkdir(parents=True)
        (origin / "gate.sh").write_text(block("A gate in CI", "sh"), encoding="utf-8")
        (origin / "Makefile").write_text("game: game.sh\n\tcp game.sh game && chmod +x game\n", encoding="utf-8")
        for branch, word in (("main", "usual"), ("topic", speed)):
            (origin / "game.sh").write_text(f"#!/bin/sh\n# {branch}\necho {word}\n", encoding="utf-8")
            done = self.shell(f"[ -d .git ] || git init -q; git checkout -q -b {branch}; git add .; git commit -qm {branch}", origin)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.shell("git clone -q -b topic origin work", self.folder / name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / name / "work"

    def run_job(self, name, yaml, speed):
        """The status of the step that fails first, and the work folder."""
        folder = self.checkout(f"{name}-{speed}", speed)
        status, ran = 0, steps(yaml)
        self.assertGreater(len(ran), 1, ran)
        for text, always in ran:
            if status and not always:
                continue
            done = self.shell(text, folder)
            self.assertTrue(done.returncode == 0 or "gate.sh" in text, (text, done.stderr))
            status = status or done.returncode
        return status, folder

    def test_jobs(self):
        for name in ("GitHub", "GitLab"):
            for speed, status in (("usual", 0), ("slow", 1)):
                with self.subTest(f"{name}, {speed}"):
                    got, folder = self.run_job(name, block(f"## {name}", "yaml"), speed)
                    self.assertEqual(got, status)
                    comment = (folder / "perf/comment.md").read_text(encoding="utf-8")
                    self.assertIn("slower FAILS" if status else "OK: no regression", comment)
                    self.assertIn("<html", (folder / "perf/both.html").read_text(encoding="utf-8"))
                    if name == "GitHub":
                        self.assertTrue(pathlib.Path(self.env["GITHUB_STEP_SUMMARY"]).read_text().endswith(comment))


if __name__ == "__main__":
    unittest.main()
