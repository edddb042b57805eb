# SPDX-License-Identifier: MIT
"""Vulkan's own ways to set a layer's options: its file, its environment, and the program itself through
VK_EXT_layer_settings, each with what takes precedence over it. 10 frames are drawn; `frames` says how many are
logged."""

import sys

import harness as h
import vk_harness as vk

NAME = "vk_layer_settings.txt"
# What is set where, and how many frames are logged; a note where one is expected.
CASES = [
    ("the file", {"file": "passtally_capture.frames = 4\n"}, 4, None),
    ("the environment over the file", {"file": "passtally_capture.frames = 4", "VK_PASSTALLY_CAPTURE_FRAMES": "3"}, 3, None),
    ("the program", {"VK_SCENES_SETTING": "frames=2"}, 2, None),
    ("the file over the program", {"file": "passtally_capture.frames = 4", "VK_SCENES_SETTING": "frames=2"}, 4, None),
    ("our own options over all", {"file": "passtally_capture.frames = 4", "PASSTALLY_OPTIONS": "frames=1"}, 1, None),
    ("a wrong value", {"VK_SCENES_SETTING": "frames=two"}, 10,
     "the program's own settings: option frames cannot be \"two\""),
    ("a wrong name", {"file": "passtally_capture.frame_count = 4"}, 10, 'there is no option "frame-count"'),
    ("somebody else's", {"file": "khronos_validation.frames = 4"}, 10, None),
]


def case(checks, program, said, frames, note):
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        extra = {key: value for key, value in said.items() if key != "file"}
        if "file" in said:
            (folder / NAME).write_text(said["file"])
        env = vk.layer_env(folder, log, None, {"VK_LAYER_SETTINGS_PATH": str(folder),
                                               "VK_PASSTALLY_CAPTURE_FRAME": "submit:1", **extra})
        bare = h.run([program, "triangle", "--frames", "10"], vk.bare_env(folder))
        got = h.run([program, "triangle", "--frames", "10"], env)
        checks.equal((got.status, got.stdout), (bare.status, bare.stdout), f"status and output; {got.errors[-300:]}")
        checks.equal(bare.status, 0, f"status without us; {bare.errors[-300:]}")
        if not checks.that(log.exists(), "no log"):
            return
        text = h.Log(log)
        h.validate(checks, log)
        checks.equal(sum("partial" not in f.get("flags", []) for f in text.frames), frames, "frames")
        checks.equal([n for n in text.notes if "option" in n], [n for n in text.notes if note and note in n], "notes")
        checks.equal(any(note in n for n in text.notes) if note else False, bool(note), "a note on it")


def main():
    checks = h.Checks()
    vk.library()
    program = h.need("vk_scenes")
    for what, said, frames, note in CASES:
        with checks.part(what):
            case(checks, program, said, frames, note)
    checks.finish()


if __name__ == "__main__":
    sys.exit(main())
