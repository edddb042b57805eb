#!/usr/bin/env python3
"""`passtally check` and scripts/validate_log.py share no code: they must agree on every kept input.

    tests/golden/agree.py PASSTALLY LOG-OR-FOLDER...

A log both refuse may be refused for different reasons. Where the last line is cut, `check` still
says whether it was bad before the cut, which the script does not: then only its "no" counts.
"""

import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "validate_log.py"


def main():
    command = sys.argv[1]
    logs = []
    for name in map(pathlib.Path, sys.argv[2:]):
        logs += sorted(name.iterdir()) if name.is_dir() else [name]
    wrong = 0
    for log in logs:
        check = subprocess.run([command, "check", "--lines", log], capture_output=True, check=False)
        ours = subprocess.run([sys.executable, SCRIPT, "--allow-cut", log], capture_output=True,
                              text=True, check=False)
        cut = not log.read_bytes().endswith(b"\n")
        agree = (check.returncode, ours.returncode) in ((0, 0), (3, 1)) or (
            cut and (check.returncode, ours.returncode) == (3, 0))
        if not agree:
            wrong += 1
            print(f"{log}: check {check.returncode}, validate_log.py {ours.returncode}")
            print(check.stdout.decode(errors="replace") + ours.stdout)
    print(f"{len(logs)} logs, {wrong} disagreements")
    return 1 if wrong or len(logs) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
