# SPDX-License-Identifier: MIT
"""run --digest: what is deterministic in a run has the statistics that a full log of the same frames has."""

import sys

import harness as h

sys.path.insert(0, str(h.SOURCE / "scripts/python"))
import passtally  # noqa: E402  pylint: disable=wrong-import-position

FRAMES = 40
# Whatever the driver and the machine do.
SAME = ("primitives_submitted", "vertex_shader_invocations", "clipper_primitives_generated")


def rows(path):
    columns = passtally.statistics(path)
    every = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return {(row["id"], row["key"]): row for row in every}


def check_scene(checks, scene):
    with h.scratch() as folder:
        logs = {}
        for name, options in (("full", {}), ("digest", {"digest": True})):
            logs[name] = folder / f"{name}.jsonl"
            env = h.capture_env(logs[name], {"sources": "gl-timestamp+gl-statistics", **options})
            done = h.run([h.need("passtally-scenes-gl"), scene, "--frames", FRAMES], h.base_env(folder, env))
            checks.equal(done.status, 0, f"{name}: {done.errors[-300:]}")
            h.validate(checks, logs[name])
        made = h.run([h.need("passtally"), "digest", logs["full"]], h.base_env(folder))
        checks.equal(made.status, 0, made.errors)
        checks.equal(h.Log(logs["digest"]).of("frame") + h.Log(logs["digest"]).of("process"), [], "lines that grow with a run")
        checks.equal(h.Log(logs["digest"]).of("end")[0]["frames"], FRAMES, "frames")
        full, live, later = rows(logs["full"]), rows(logs["digest"]), rows(folder / "full.digest.jsonl")
        keys = [key for key in full if key[1] in SAME]
        checks.that(keys, f"no such counter: {sorted({key[1] for key in full})}")
        for key in keys:
            checks.equal({name: live[key][name] for name in full[key] if name != "spread"},
                         {name: full[key][name] for name in full[key] if name != "spread"}, f"{key}: of the end line")
            checks.equal(live[key], later[key], f"{key}: of the digest of the log")
        # Times differ, how many there are does not.
        checks.equal({key: row["n"] for key, row in live.items()}, {key: row["n"] for key, row in later.items()}, "n")


def main():
    checks = h.Checks()
    for scene in sys.argv[1:]:
        with checks.part(scene):
            check_scene(checks, scene)
    checks.finish()


main()
