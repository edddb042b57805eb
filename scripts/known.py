# SPDX-License-Identifier: MIT
"""Lists of what a generator finds in a registry (hooks.known), so that one that finds less fails the build.

A line is a version of the registry and names that it and every later one has; "0": every registry. A name may say more
("core:vkQueueSubmit") or how many there are at least ("structures>=681"). Only the Python standard library is used.
"""

import textwrap

from registry import RegistryError

HEAD = """# SPDX-License-Identifier: MIT
# What {script} takes from {registry}, by the oldest version of the registry in which that was seen (0: all of them).
# A registry of that version or a newer one without it fails the build. Written by the generator with --learn.
"""
WIDTH = 110


def parts(version):
    return [int(part) for part in version.split(".")]


def read(path):
    """Versions by name."""
    since = {}
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                version, *names = line.split("#", 1)[0].split() or [""]
                since.update(dict.fromkeys(names, version))
    except FileNotFoundError:
        pass
    return since


def is_found(name, found):
    what, at_least, count = name.partition(">=")
    if not at_least:
        return name in found
    return any(each.startswith(what + ">=") and int(each.split(">=")[1]) >= int(count) for each in found)


def check(path, registry, version, found, by_hand=()):
    """`found`: what comes from the registry, which is of `version`; `by_hand`: commands declared by us because it lacks
    them. Raises RegistryError where the registry should have had one."""
    since = read(path)
    lost = sorted(name for name in since
                  if parts(since[name]) <= parts(version) and not is_found(name, found))
    if lost:
        more = f" and {len(lost) - 8} more" if len(lost) > 8 else ""
        raise RegistryError(
            f"{registry}{f' is of version {version}, but' if version != '0' else ''} lacks what such a registry has: "
            f"{', '.join(lost[:8])}{more}. It is damaged, or has a shape that our reader does not know; the whole "
            f"list is {path}")
    unknown = sorted(name for name in by_hand if not any(each.endswith(name) for each in since))
    if unknown:
        raise RegistryError(f"{path} does not say which version of {registry} first has {', '.join(unknown)}")


def learn(path, script, registry, version, found):
    """Adds what is new to the list."""
    since = read(path)
    for name in found:
        if name not in since or parts(version) < parts(since[name]):
            since[name] = version
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD.format(script=script, registry=registry))
        for each in sorted(set(since.values()), key=parts):
            names = " ".join(sorted(name for name in since if since[name] == each))
            file.write(textwrap.fill(names, WIDTH, initial_indent=f"{each} ", subsequent_indent=f"{each} ",
                                     break_long_words=False) + "\n")
