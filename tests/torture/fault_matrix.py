# SPDX-License-Identifier: MIT
"""Each source of counters x each fault: the game's result is the same as without passtally, the log holds no wrong
number, and what is missing is flagged.

A row of SOURCES is a source with the program that runs over it and what makes its driver misbehave; a column of
FAULTS is what goes wrong. A cell runs the program without passtally, then with it, both under the fault, and
compares the log with CONTROL, the same run without a fault: a value of the source is the same as there, or absent;
where a pass has none, the pass, its frame, its device or a note gives the reason.

  fault_matrix.py [SOURCE | FAULT | SOURCE:FAULT]...
"""

import dataclasses
import json
import pathlib
import re
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
import harness as h  # noqa: E402  (found by the line above)
import vk_fake as fake_vk  # noqa: E402
import vk_harness as vk  # noqa: E402

FRAMES = {"gl": 8, "kernel": 8, "totals": 8, "vulkan": 24, "khr": 24}
LIMIT = 160 * (4 if h.SANITIZER else 1)  # seconds; a program that has not ended by then hangs

DRIVER_FAULTS = ("never", "late", "out-of-order", "error", "garbage", "lost-batch", "lost-device",
                 # Drivers that lie: results that are 0, too narrow, decrease, or are not written; no objects; no
                 # memory.
                 "zero", "narrow", "backwards", "untouched", "no-objects", "no-objects-later", "no-strings", "no-period",
                 "odd-period", "out-of-memory",
                 # Dies at a query around no work, as Mesa 25.0's zink does.
                 "idle-dies",
                 # The clock stands still.
                 "stuck",
                 # A counter that was reset in between, and what the driver's memory held; a result that is cut off.
                 "negative", "cut")
PROCESS_FAULTS = ("destroyed", "fork", "exec", "exit-threads", "killed")
FAULTS = DRIVER_FAULTS + PROCESS_FAULTS
# Which passes must have values: none, or some; where nothing is stated, any or none. Values are never absent
# without a reason.
WANT = {"never": "none", "late": "some", "out-of-order": "some", "garbage": "none", "lost-batch": "some",
        "backwards": "none", "untouched": "none", "no-objects": "none", "no-strings": "some", "idle-dies": "some", "stuck": "none", "cut": "some"}
# The log of a process that is killed or execs may end without a line that reports it; also where threads exit at
# the same time and the shim is not there to see them call exit().
CUT = ("killed", "exec")
CUT_WITHOUT_SHIM = ("exit-threads",)
# Faults that end the process before the driver below has reported whether it was waited for.
NO_REPORT = ("exit-threads", "killed")
TRIES = 20
LEAVES = 8  # the status of a program whose threads exit at the same time, if it survives


@dataclasses.dataclass
class Source:
    api: str  # gl, vulkan, khr, kernel or totals
    faults: dict  # fault -> the driver's settings
    options: dict = dataclasses.field(default_factory=dict)
    driver: str = ""  # settings of the driver that always apply
    times: bool = False  # its values are times, not counters


QUERIES = {"never": "never", "late": "late=2", "out-of-order": "shuffle=2", "error": "error_every=5", "garbage": "garbage",
           "lost-batch": "lost_from=60,lost_to=160", "lost-device": "reset=4", "narrow": "narrow",
           "no-objects": "no_names=1", "no-objects-later": "no_names=2", "no-strings": "no_strings"}
VULKAN = {"never": "never", "late": "late=5", "out-of-order": "shuffle=1", "error": "results=-1", "garbage": "garbage",
          "lost-batch": "gaps=5", "lost-device": "lost=5", "untouched": "untouched", "no-objects": "pools=1",
          "no-objects-later": "pools=2", "narrow": "families=gct:36:2,noise", "out-of-memory": "oom_ours=9", "cut": "half"}
PERF = {"never": "late=0", "late": "late=3", "out-of-order": "late=1,shuffle=3", "error": "late=1,error_every=5",
        "idle-dies": "idle_dies=1", "negative": "negative=1", "cut": "cut=1"}
SOURCES = {
    "gl-timestamp": Source("gl", {**QUERIES, "backwards": "backwards", "zero": "zero_every=3", "stuck": "stuck"}, times=True),
    "gl-statistics": Source("gl", QUERIES),
    "gl-intel": Source("gl", PERF, {"counters": "hardware_*+n_*"}, driver="ext=intel,late=1"),
    "gl-amd": Source("gl", PERF, {"counters": "work_*"}, driver="ext=amd,late=1"),
    "vk-timestamp": Source("vulkan", {**VULKAN, "zero": "zero", "no-period": "period=0", "odd-period": "period=nan"},
                           times=True),
    "vk-statistics": Source("vulkan", VULKAN),
    "vk-khr": Source("khr", {"never": "never", "late": "late=1", "out-of-order": "shuffle=3", "error": "error_every=4",
                             "lost-device": "lost=5"},
                     {"counters": "draws_times_1+vertices_times_2"}),
    "mali-kbase": Source("kernel", {
        "never": "at=nosample", "late": "at=late@4", "out-of-order": "at=twosamples@3", "error": "fail=sample:EIO:4-",
        "garbage": "at=faraway@3-", "lost-batch": "at=nosample@4", "lost-device": "at=remove@4-"}, driver="kbase-csf"),
    "mali-panfrost": Source("kernel", {
        "error": "fail=sample:EIO:4-", "lost-device": "at=remove@4-"}, driver="panfrost,cores=0x3"),
    # The counts of these depend on the moment, so that no two runs have the same values: faults of the process
    # alone. Those of MicroBlaze's module are in tests/live/microblaze.py, those of perf_event_open in
    # cpu_counters.py.
    "microblaze": Source("totals", {}, {"microblaze": "on", "counters": "all"}, driver="fake_mdm"),
    "linux-perf": Source("totals", {}),
    "linux-proc": Source("totals", {}),
}
# A fault for which a source has no row cannot occur there: its interface has no such answer.


# ---- how programs run ----

def gl_env(folder, source, name, fault):
    driver = h.BUILD / "tests" / "fake_gl" / "fake_perf_egl.so"
    if not driver.exists():
        h.skip("tests/fake_gl's driver was not built")
    vendor = folder / "vendor.json"
    vendor.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": str(driver.resolve())}}))
    env = {"__EGL_VENDOR_LIBRARY_FILENAMES": str(vendor), "FAKE_QUERIES_REPORT": str(folder / "queries.txt"),
           "FAKE_PERF_REPORT": str(folder / "perf.txt"), "FAKE_QUERIES": "", "FAKE_PERF": source.driver or "ext=none"}
    told = source.faults.get(fault, "")
    if source.driver:
        env["FAKE_PERF"] += f",{told}" if told else ""
    else:
        env["FAKE_QUERIES"] = told
    return env


def gl_command(fault):
    frames = FRAMES["gl"]
    modes = {"destroyed": "destroy", "fork": "fork_render", "exec": "exec", "exit-threads": "exit_threads", "killed": "kill"}
    if fault in modes:
        return [h.need("life"), modes[fault], "--frames", frames]
    return [h.need("perf_scene"), "--frames", frames]


def run_gl(folder, name, source, fault, log):
    env = h.base_env(folder, gl_env(folder, source, name, fault))
    if log:
        env.update(h.capture_env(log, {"sources": f"api+{name}", **source.options}))
    return h.run(gl_command(fault), env, timeout=LIMIT)


def vk_command(fault):
    modes = {"destroyed": "destroy", "fork": "fork", "exec": "exec", "exit-threads": "exit_threads", "killed": "kill"}
    return [h.need("vk_life"), modes.get(fault, "close"), "--frames", FRAMES["vulkan"]]


def run_vulkan(folder, name, source, fault, log):
    told = source.faults.get(fault, "")
    extra = {"VK_ICD_FILENAMES": str(fake_vk.driver()), "FAKE_VK": told, "FAKE_VK_LOG": str(folder / "trace.txt")}
    options = {"sources": f"api+{name}", "frame": "submit:1", **source.options}
    env = vk.layer_env(folder, log, options, extra) if log else vk.bare_env(folder, extra)
    return h.run(vk_command(fault), env, timeout=LIMIT)


def run_khr(folder, name, source, fault, log):
    """Performance queries by a layer of tests/fake_vk_perf, which is above tests/fake_vk."""
    library = h.BUILD / "tests" / "fake_vk_perf" / "VkLayer_perf.so"
    if not library.exists():
        h.skip("the layer of tests/fake_vk_perf was not built")
    layers = folder / "layers"
    layers.mkdir(exist_ok=True)
    (layers / "perf.json").write_text(json.dumps({"file_format_version": "1.1.2", "layer": {
        "name": "VK_LAYER_TEST_fake_perf", "type": "GLOBAL", "library_path": str(library.resolve()),
        "api_version": "1.3.0", "implementation_version": "1", "description": "performance queries for a test",
        "device_extensions": [{"name": "VK_KHR_performance_query", "spec_version": "1"}]}}))
    extra = {"VK_ICD_FILENAMES": str(fake_vk.driver()), "FAKE_VK": "", "VK_LAYER_PATH": str(layers),
             "VK_INSTANCE_LAYERS": "VK_LAYER_TEST_fake_perf", "FAKE_VK_PERF": source.faults.get(fault, "")}
    options = {"sources": f"api+{name}", "frame": "submit:1", **source.options}
    env = vk.layer_env(folder, log, options, extra) if log else vk.bare_env(folder, extra)
    return h.run(vk_command(fault), env, timeout=LIMIT)


def run_kernel(folder, name, source, fault, log):
    """A simulated kernel below a GL program; without passtally the kernel is not used."""
    library = h.built("fake_kernel.so") or h.BUILD / "tests" / "fake_kernel" / "fake_kernel.so"
    if not library.exists():
        h.skip("tests/fake_kernel was not built")
    told = source.faults.get(fault, "")
    clock = ",clock=mono" if fault in PROCESS_FAULTS else ""
    env = h.base_env(folder)
    if log:
        options = {"sources": f"api+gl-timestamp+{name}", "counters": "all", "snapshot": "exact", **source.options}
        env.update(h.capture_env(log, options, after=[library.resolve()]))
    else:
        env.update(h.preload_env(library.resolve()))
    env["FAKE_KERNEL"] = source.driver + clock + (f",{told}" if told else "")
    command = gl_command(fault) if fault in PROCESS_FAULTS else \
        [h.need("mali_scene"), "--frames", FRAMES["kernel"]]
    got = h.run(command, env, timeout=LIMIT)
    # The last number of mali_scene's rows is the time between samples; without passtally there are none.
    got.stdout = re.sub(rb", \d+\]\n", b"]\n", got.stdout)
    return got


def run_totals(folder, name, source, fault, log):
    """Totals that the CPU reads, below a GL program, and the model of a debug module for the totals of one."""
    below = [h.built(f"tests/{source.driver}/{source.driver}.so")] if source.driver else []
    if None in below:
        h.skip(f"tests/{source.driver} is built for x86-64 only")
    env = h.base_env(folder, {"FAKE_MDM": "", "FAKE_MDM_LOG": str(folder / "mdm.txt")})
    if log:
        env.update(h.capture_env(log, {"sources": f"api+gl-timestamp+{name}", **source.options}, after=below))
    elif below:
        env.update(h.preload_env(*below))
    return h.run(gl_command(fault), env, timeout=LIMIT)


RUN = {"totals": run_totals, "gl": run_gl, "vulkan": run_vulkan, "khr": run_khr, "kernel": run_kernel}


# ---- what a log holds ----

class Values:
    """For each pass by frame and index: the source's values, and whether missing ones are explained."""

    def __init__(self, log, source, name):
        self.passes = {}
        mine = {c["key"] for line in log.of("device") for c in line.get("counters", []) if c["source"] == name}
        off = [s for line in log.of("device") for s in line.get("sources", []) if s["name"] == name and s.get("reason")]
        self.excused = bool(off) or any(name.split("-")[0] in note or name in note for note in log.notes)
        for frame in log.frames:
            for one in frame["passes"]:
                counters = one.get("counters", {})
                values = {key: value for key, value in counters.items() if key in mine}
                if source.times and "gpu_ns" in one:
                    values["gpu_ns"] = one["gpu_ns"]
                flags = set(one.get("flags", [])) | set(frame.get("flags", []))
                self.passes[frame["frame"], one["index"]] = (values, flags)

    def want(self, place, alike):
        """What a pass has here. `alike`: all frames do the same, and what one of them missed others may have."""
        values = dict(self.passes.get(place, ({}, set()))[0])
        for (_, index), (others, _) in self.passes.items() if alike else ():
            if index == place[1]:
                values = {**others, **values}
        return values

    def count(self, measured=False):
        """Passes with values; `measured`: other than 0, which is known without a query where nothing can be counted."""
        return sum(any(values.values()) if measured else bool(values) for values, _ in self.passes.values())


def check_values(checks, name, source, fault, log, control):
    got = Values(log, source, name)
    run_ns = sum(frame["cpu_ns"] for frame in log.frames) + 1
    for place, (values, flags) in got.passes.items():
        want = control.want(place, source.api != "kernel")
        what = f"pass {place[1]} of frame {place[0]}"
        if "gpu_ns" in values:
            if not checks.that(values["gpu_ns"] <= run_ns * 4, f"{what}: {values['gpu_ns']} ns of a run of {run_ns}"):
                return
        elif values and any(values[key] != want.get(key) for key in values):
            checks.that(False, f"{what}: {values}, without the fault {want}")
            return
        missing = set(control.want(place, False)) - set(values)
        if missing and not checks.that(flags or got.excused, f"{what}: {sorted(missing)[:3]} missing without a word"):
            return
    n, whole = got.count(), control.count()
    want = WANT.get(fault)
    if want == "none":
        n = got.count(measured=True)
        checks.that(n == 0, f"{n} of {whole} passes have values")
    if want == "some":
        checks.that(0 < n, f"none of {whole} passes has values")


CONTROL = {}


def control_of(checks, name, source):
    if name not in CONTROL:
        with h.scratch() as folder:
            log = folder / "log.jsonl"
            RUN[source.api](folder, name, source, "", log)
            CONTROL[name] = Values(h.Log(log), source, name)
    checks.that(CONTROL[name].count() > 10, f"without a fault only {CONTROL[name].count()} passes have values")
    return CONTROL[name]


def run_alive(folder, name, source, fault, log):
    """When threads call exit() at once, glibc 2.36 itself crashes in half of the runs, on busy cores in most:
    tried until one survives. tests/live/lifecycle.py checks how often it dies with and without passtally."""
    for _ in range(TRIES if fault == "exit-threads" else 1):
        got = RUN[source.api](folder, name, source, fault, log)
        if got.status == LEAVES:
            break
    return got


def check_cell(checks, name, source, fault):
    with h.scratch() as folder:
        bare = run_alive(folder, name, source, fault, None)
        if bare.status == 77:
            h.skip(bare.errors.strip())
        logs = folder / "logs"
        logs.mkdir()
        got = run_alive(folder, name, source, fault, logs / "%e-%p.jsonl")
        if fault == "exit-threads" and not bare.status == got.status == LEAVES:
            print(f"# {name}: of {TRIES} programs none lived {'with' if bare.status == LEAVES else 'without'} us")
            checks.that(got.status in (LEAVES, -signal.SIGSEGV, -signal.SIGABRT), f"ended with {got.status}")
        else:
            checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "as without us")
        waits = folder / "queries.txt"
        if source.api == "gl" and fault not in NO_REPORT:
            checks.that(waits.exists(), "the driver has not reported at exit")
        if waits.exists():
            checks.that("waits 0\n" in waits.read_text(), f"a result was waited for: {waits.read_text().split()}")
        paths = sorted(logs.iterdir())
        checks.that(paths, "no log")
        for path in paths:
            log = h.Log(path)
            h.validate(checks, path, truncated=not log.complete)
            h.check_order(checks, log)
            if fault not in CUT and (fault not in CUT_WITHOUT_SHIM or source.api in ("gl", "kernel", "totals")):
                checks.that(log.of("end"), "no end line")
            if fault in DRIVER_FAULTS:
                check_values(checks, name, source, fault, log, control_of(checks, name, source))


def main():
    checks = h.Checks()
    chosen = sys.argv[1:]
    for name, source in SOURCES.items():
        for fault in FAULTS:
            cell = f"{name}:{fault}"
            if fault in DRIVER_FAULTS and fault not in source.faults:
                continue
            if chosen and not {name, fault, cell} & set(chosen):
                continue
            with checks.part(cell):
                check_cell(checks, name, source, fault)
    checks.finish()


main()
