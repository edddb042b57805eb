# SPDX-License-Identifier: MIT
"""A Windows program under Wine: Direct3D 9 by way of wined3d on OpenGL, captured by `passtally run`.

The process that renders is captured, and none of Wine's own processes (server, services, explorer); the log has
the program's passes, whatever copies wined3d adds, and the program's output is the same as without passtally.
"""

import harness as h

FRAMES = 20


def build(folder):
    program = folder / "d3d9_scene.exe"
    source = h.SOURCE / "tests" / "apps" / "wine_d3d9.c"
    made = h.run(["x86_64-w64-mingw32-gcc", "-O1", source, "-o", program, "-ld3d9", "-lgdi32", "-luser32"],
                 h.base_env(folder))
    if made.status != 0:
        raise SystemExit(f"{source} does not compile: {made.errors}")
    return program


def check_log(checks, path):
    log = h.Log(path)
    h.validate(checks, path)
    h.check_order(checks, log)
    checks.equal(log.of("header")[0]["argv"][0].split("/")[-1], "d3d9_scene.exe", "the process is the program's")
    checks.equal(log.of("header")[0]["program"].replace("\\", "/").split("/")[-1], "d3d9_scene.exe",
                 "the header names the program, not Wine's loader")
    checks.equal(path.name.rsplit("-", 1)[0], "d3d9_scene.exe", "so does %e")
    # wined3d first tries a context that it does not keep; the program's device has all its frames.
    device = max(log.devices, key=lambda d: len(log.whole_frames(d)))
    frames = log.whole_frames(device)
    # The last one waits in wined3d's own thread, which the program's end may cut off.
    checks.that(len(frames) in (FRAMES - 1, FRAMES), f"{len(frames)} frames of {FRAMES}")
    for f in frames:
        drawing = {}
        for p in f["passes"]:
            target = log.info(p["id"]).get("target", {})
            if p.get("draws"):
                key = (target.get("width"), target.get("height"))
                n, vertices = drawing.get(key, (0, 0))
                drawing[key] = (n + p["draws"], vertices + p["vertices"])
        checks.equal(drawing.get((128, 128)), (3, 9), f"frame {f['frame']}: draws and vertices of the small target")
        checks.that(sum(n for n, _ in drawing.values()) >= 4, f"frame {f['frame']}: the window's draw is missing: {drawing}")


def main():
    h.need_tool("wine")
    h.need_tool("x86_64-w64-mingw32-gcc")
    command = h.need("passtally")
    checks = h.Checks()
    with h.display(), h.scratch() as folder:
        program = build(folder)
        env = h.base_env(folder, {"WINEDEBUG": "-all", "WINEARCH": "win64", "WINEPREFIX": str(folder / "prefix"),
                                  "WINEDLLOVERRIDES": "mscoree,mshtml="})
        try:
            h.run(["wineboot", "-i"], env, timeout=300)
            bare = h.run(["wine", program, str(FRAMES)], env, timeout=240)
            if bare.status != 0:
                h.skip(f"Wine does not run Direct3D 9 here: {bare.errors}")
            logs = folder / "logs"
            logs.mkdir()
            with checks.part("wined3d"):
                got = h.run([command, "run", "--quiet", "--log", logs / "%e-%p.jsonl", "--", "wine", program, str(FRAMES)],
                            env, timeout=240)
                checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "status and output")
                found = sorted(logs.iterdir())
                checks.equal(len(found), 1, f"one process renders: {[p.name for p in found]}")
                for path in found:
                    check_log(checks, path)
        finally:
            h.run(["wineserver", "-k"], env)
    checks.finish()


main()
