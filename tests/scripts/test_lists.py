# SPDX-License-Identifier: MIT
"""A test that no meson.build lists never runs, and a list that checks whether a file exists loses tests silently:
both fail here."""

import pathlib
import re
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
LISTS = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("meson.build"))}
NAMED = {word for text in LISTS.values() for word in re.findall(r"'([^'\n]+)'", text)}


def is_listed(path):
    stem = path.stem
    short = re.sub(r"^(?:test|torture|fuzz)_", "", stem)
    names = {short, stem, path.name, f"{path.parent.name}/{path.name}", f"../{path.parent.name}/{path.name}"}
    return bool(names & NAMED)


class Lists(unittest.TestCase):
    def test_every_test_is_listed(self):
        found = [path for pattern in ("test_*.c", "test_*.py", "torture_*.c", "fuzz_*.c")
                 for path in sorted(TESTS.rglob(pattern))]
        self.assertGreater(len(found), 100)
        self.assertEqual([str(path.relative_to(TESTS)) for path in found if not is_listed(path)], [])

    def test_no_list_looks_for_files_of_the_tree(self):
        """A requested file may be the system's: a registry named by an option."""
        for path, text in LISTS.items():
            asked = re.findall(r"fs\.exists\(([^)]*\)?)\)", text)
            self.assertEqual([what for what in asked if "registry" not in what and what != "vk_xml"], [], path)


if __name__ == "__main__":
    unittest.main()
