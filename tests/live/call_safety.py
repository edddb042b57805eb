# SPDX-License-Identifier: MIT
"""Every function that any look-up hands out, called with and without passtally: no call that the driver alone
survives may crash or return something else, and a function that is NULL without passtally is NULL with it.

  call_safety.py vk-all|vk-each|gl

tests/apps/vk_calls and gl_calls contain a call of every command of the registries, and make them in child
processes. They run bare first; calls that died there are skipped with passtally.
"""

import concurrent.futures
import re
import sys

import harness as h
import vk_harness as vk

# The expected differences: the number of layers, and of tools; and on an instance of Vulkan 1.0, for which passtally
# enables VK_KHR_get_physical_device_properties2, the loader returns its commands, which work.
OTHERWISE = re.compile(r"instance vkEnumerateDeviceLayerProperties"
                       r"|(instance|again) vkGetPhysicalDeviceToolProperties(EXT)?"
                       r"|(instance|again) vkGetPhysicalDevice\w+2KHR")
LEAST = 150  # calls that must return, or nothing is proven
CONTEXTS = ("none", "compat", "core", "es2", "es1")


def outcomes(text):
    """{item: outcome}, in order; an item is a look-up and a name."""
    rows = (line.split(" ", 2) for line in text.splitlines())
    return {f"{row[0]} {row[1]}": row[2] for row in rows if len(row) == 3}


def skip_file(path, bare, aliases):
    """What a run with passtally leaves out: `aliases` has passtally's own look-ups for some of the bare ones."""
    lines = []
    for route in [r for r in dict.fromkeys(item.split(" ")[0] for item in bare)] + list(aliases):
        like = aliases.get(route, route)
        for item, outcome in bare.items():
            of, name = item.split(" ")
            if of == like and outcome.split(" ")[0] in ("called", "died", "exited"):
                lines.append(f"{'null' if outcome == 'called null' else 'died'} {route} {name}\n")
    path.write_text("".join(lines))
    return path


def compare(checks, bare, ours, again):
    """`again`: another bare run, made only where something differs, to find what varies without passtally."""
    differ = {}
    for item, outcome in bare.items():
        kind = outcome.split(" ")[0]
        expected = "skipped" if kind in ("died", "exited", "called") else outcome
        if ours.get(item) != expected and not OTHERWISE.fullmatch(item):
            differ[item] = (ours.get(item), expected)
        checks.done += 1
    varying = again() if differ else {}
    for item, (got, expected) in differ.items():
        if varying.get(item) == bare[item]:
            checks.equal(got, expected, item)
    return sum(outcome.startswith("returned") for outcome in bare.values())


def check_own(checks, bare, ours, aliases):
    """Functions of passtally's own look-ups must not die where the loader's for the same name returned."""
    for item, outcome in ours.items():
        route, name = item.split(" ")
        if route in aliases and bare.get(f"{aliases[route]} {name}", "").startswith("returned"):
            checks.that(outcome.split(" ")[0] in ("returned", "none", "listed"), f"{item}: {outcome}")


def run_pair(checks, argv, folder, bare_env, our_env, aliases):
    """Returns how many calls returned without passtally; None: there is no such context or device here."""
    def run(env, *more):
        result = h.run([*argv, *more], env, timeout=300)
        if result.status == 77:
            return None
        checks.equal(result.status, 0, f"exit status of {' '.join(map(str, argv[1:]))}: {result.errors}")
        return outcomes(result.text)

    bare = run(bare_env)
    if bare is None:
        print(f"not checked: {' '.join(map(str, argv[1:]))}: the driver has none")
        return None
    skip = skip_file(folder / "skip", bare, aliases)
    ours = run(our_env, "--skip", skip)
    if not checks.that(ours is not None, "no world with us"):
        return 0
    check_own(checks, bare, ours, aliases)
    return compare(checks, bare, ours, lambda: run(bare_env))


def all_of(checks, things, program, check):
    """Two at a time."""
    def one(thing):
        mine = h.Checks()
        check(mine, program, thing)
        return mine

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for mine in pool.map(one, things):
            checks.failures += mine.failures
            checks.done += mine.done


# ---- Vulkan ----

OWN = {"layer": "instance", "layer-device": "device"}


def check_vulkan(checks, program, configuration, options=None):
    name = " ".join(configuration) + (f" {options}" if options else "")
    with h.scratch() as folder, checks.part(name):
        ours = vk.layer_env(folder, folder / "log-%p.jsonl", options, {"VK_CALLS_LAYER": str(vk.library())})
        return run_pair(checks, [program, *configuration], folder, vk.bare_env(folder), ours, OWN)


def vk_all(checks, program):
    for configuration, options in ((("1.0", "none", "none"), None),
                                   (("1.3", "all", "all"), {"granularity": "draw", "counters": "all"})):
        returned = check_vulkan(checks, program, configuration, options)
        checks.that(returned is None or returned > LEAST, f"{configuration}: only {returned} calls came back")


def vk_each(checks, program):
    with h.scratch() as folder:
        listed = h.run([program, "--extensions"], vk.bare_env(folder)).text.split("\n")
    configurations = []
    for line in listed:
        kind, _, name = line.partition(" ")
        if kind == "instance":
            configurations.append(("1.3", name, "none", "--only"))
        elif kind == "device":
            configurations.append(("1.3", "none", name, "--only"))
    checks.that(len(configurations) > 50, f"{len(configurations)} extensions")
    all_of(checks, configurations, program, check_vulkan)


# ---- OpenGL ----


def check_gl(checks, program, context):
    with h.scratch() as folder, checks.part(context):
        bare = h.base_env(folder)
        if h.SANITIZER:
            bare["LD_PRELOAD"] = h.SANITIZER
        ours = {**h.base_env(folder), **h.capture_env(folder / "log-%p.jsonl")}
        returned = run_pair(checks, [program, context], folder, bare, ours, {})
        checks.that(returned is None or returned > LEAST, f"only {returned} calls came back")


def main():
    checks = h.Checks()
    if sys.argv[1] == "gl":
        with h.display():
            all_of(checks, sys.argv[2:] or CONTEXTS, h.need("gl_calls"), check_gl)
        checks.finish()
    vk.library()
    (vk_all if sys.argv[1] == "vk-all" else vk_each)(checks, h.need("vk_calls"))
    checks.finish()


if __name__ == "__main__":
    main()
