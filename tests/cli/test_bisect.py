#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally bisect: the commit that made a pass slower, in repositories made here; the program writes logs of its own."""

import json
import re
import subprocess
import sys
import unittest

from cli_case import A, B, COMMAND, CliCase, device, end, frame, header, log_bytes, one_pass, pass_info

FRAMES = 60
GAME = """
import json, os, random
cost, parts = json.load(open('cost.json')), json.load(open('parts.json'))
with open(os.environ['RUNS'], 'a+') as runs:  # the same noise in each run of this test
    runs.write('.')
    random.seed(runs.tell())
speed = 1 + random.uniform(0, 0.05)
out = open(os.environ['PASSTALLY_LOG'].replace('%%', '%'), 'w')
out.write(parts['head'])
for number in range(60):
    line = json.loads(parts['frame'])
    line['frame'] = number
    for one in line['passes']:
        one['gpu_ns'] = int(1e6 * speed * cost[one['label']] * (1 + random.gauss(0, 0.01)))
    line['gpu_ns'] = line['envelope_ns'] = sum(one['gpu_ns'] for one in line['passes'])
    out.write(json.dumps(line, separators=(',', ':')) + '\\n')
out.write(parts['end'])
"""
PARTS = {"head": [header(), device(), pass_info(A, "shadow", width=8, height=8), pass_info(B, "main", width=8, height=8)],
         "frame": [frame(0, [one_pass(0, A, 1, "shadow"), one_pass(1, B, 1, "main")])], "end": [end(FRAMES, 2 * FRAMES)]}


class Bisect(CliCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        self.env.update(GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
                        GIT_COMMITTER_EMAIL="a@b")
        self.env["RUNS"] = str(self.folder / "runs")
        self.git("init", "-q", ".")

    def git(self, *args):
        return subprocess.run(["git", *args], cwd=self.repository, env=self.env, check=True, capture_output=True).stdout.decode()

    def commit(self, subject, **cost):
        (self.repository / "cost.json").write_text(json.dumps(cost))
        (self.repository / "game.py").write_text(GAME)
        (self.repository / "parts.json").write_text(json.dumps({k: log_bytes(v).decode() for k, v in PARTS.items()}))
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)

    def bisect(self, *args, build="true", program=(sys.executable, "game.py")):
        done = subprocess.run([COMMAND, "bisect", *args, "--build", build, "--", *program], cwd=self.repository,
                              env=self.env, capture_output=True, timeout=300)
        self.assertEqual(self.git("worktree", "list").count("\n"), 1)
        self.assertEqual(self.left_behind(), [])
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_commit_and_pass(self):
        for i in range(8):
            self.commit(f"change {i}", shadow=1.0, main=3.0 if i < 5 else 3.3)
        self.git("tag", "first", "HEAD~7")
        status, out, errors = self.bisect("--good", "first")
        self.assertEqual(status, 0, out + errors)
        self.assertRegex(out, r"(?m)^from good to bad: main \+(9|1[01])\.")
        self.assertRegex(out, r"(?m)^first bad commit: [0-9a-f]+ change 5$")
        said = re.search(r"(?m)^  what it changed: main \+(\S+) %.*, (\S+) to (\S+) ms$", out)
        percent, good, bad = map(float, said.groups())
        self.assertAlmostEqual(percent, 100 * (bad / good - 1), delta=0.1)

    def test_what_cannot_be_built_is_skipped(self):
        for i in range(5):
            self.commit(f"change {i}", shadow=1.0 if i < 2 else 1.5, main=3.0, broken=i == 2)
        status, out, errors = self.bisect("--good", "HEAD~4", build="! grep -q true cost.json")
        self.assertEqual(status, 4, out + errors)
        self.assertIn("change 2: skipped: it cannot be built (0 runs)", out)
        self.assertIn("not certain: what is left", out)

    def test_nothing_changed(self):
        self.commit("one", shadow=1.0, main=3.0)
        self.commit("two", shadow=1.0, main=3.0)
        status, out, _ = self.bisect("--good", "HEAD~1", "--frames", "60")
        self.assertEqual(status, 4, out)
        self.assertIn("not certain: after 20 runs of each", out)

    def test_usage_and_failures(self):
        self.commit("one", shadow=1.0, main=3.0)
        self.assertEqual(self.command("bisect", "--", "a").returncode, 2)
        self.assertEqual(self.command("bisect", "--good", "a", "--build", "b").returncode, 2)
        for args, more, words in ((("--good", "nowhere"), {}, "nowhere"), (("--good", "HEAD"), {"build": "false"}, "cannot be built"),
                                  (("--good", "HEAD"), {"program": ("false",)}, "false ended with status 1")):
            status, _, errors = self.bisect(*args, **more)
            self.assertEqual(status, 125, errors)
            self.assertIn(words, errors)


if __name__ == "__main__":
    unittest.main()
