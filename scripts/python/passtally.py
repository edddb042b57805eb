# SPDX-License-Identifier: MIT
"""Logs of passtally as columns, for pandas, polars or anything that takes a dictionary of lists.

    import pandas, passtally
    passes = pandas.DataFrame(passtally.passes("run.jsonl"))   # or polars.DataFrame(...)
    passes.groupby("label").gpu_ns.median()

A row is a pass in a frame (passes()) or a frame (frames()). What a line does not have is None, never 0; docs/log.md
says what each field means. Counters and metrics are columns of their keys. Needs nothing but Python 3.8, and the
program zstd for compressed logs.

    python3 passtally.py --benchmark run*.jsonl > benchmark.json   # each pass's mean GPU time over the runs, as
                                                                   # github-action-benchmark reads it
    python3 passtally.py --mangohud run.jsonl > run.csv            # frames, as MangoHud logs them
    python3 passtally.py --presentmon run.jsonl > run.csv          # as PresentMon does, which CapFrameX reads
"""

import argparse
import csv
import json
import signal
import subprocess
import sys

ZSTD = b"\x28\xb5\x2f\xfd"


def lines(path):
    """The records of a log in their order, as dictionaries. A last line that a crash has cut is left out."""
    with open(path, "rb") as file:
        packed = file.read(4) == ZSTD
    with open(path, "rb") as file:
        child, number = None, 0
        if packed:
            child = subprocess.Popen(["zstd", "-dcq"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            for number, line in enumerate(child.stdout if child else file, 1):
                try:
                    record = json.loads(line)
                except ValueError as error:
                    if number > 1 and not line.endswith(b"\n"):
                        return
                    raise ValueError(f"{path}:{number}: {error}") from error
                if number == 1 and (not isinstance(record, dict) or record.get("schema") != "passtally/1"):
                    raise ValueError(f"{path}: not a log of passtally")
                yield record
            if not number:
                raise ValueError(f"{path}: not a log of passtally, but empty")
        finally:
            if child:
                child.stdout.close()
                child.wait()


def _with_frames(path):
    """The lines of a log that is not a digest."""
    for record in lines(path):
        if record.get("digest"):
            raise ValueError(f"{path}: a digest, which has no frames: statistics() reads it")
        yield record


def _columns(rows):
    """Rows of different keys as columns of equal length."""
    columns = {}
    for number, row in enumerate(rows):
        for key, value in row.items():
            if key not in columns:
                columns[key] = [None] * number
            columns[key].append(value)
        for column in columns.values():
            if len(column) == number:
                column.append(None)
    return columns


def _flat(record):
    """Its numbers and texts, and those of its counters and metrics; flags become one text."""
    row = {}
    for key, value in record.items():
        if key in ("counters", "metrics"):
            row.update(value)
        elif key == "flags":
            row[key] = " ".join(value)
        elif not isinstance(value, (dict, list)):
            row[key] = value
    return row


def frames(path):
    """A row for each frame: frame, device, cpu_ns, gpu_ns, and so on."""
    def rows():
        for record in _with_frames(path):
            if record["type"] == "frame":
                row = {"dropped_passes": 0, **_flat(record)}
                if row.get("gpu_ns"):
                    row = {"envelope_ns": row["gpu_ns"], "coverage": 1.0, **row}
                del row["type"]
                yield {**row, "passes": len(record["passes"])}
    return _columns(rows())


def passes(path):
    """A row for each pass of each frame, with the frame's number and device."""
    def rows():
        for record in _with_frames(path):
            for one in record["passes"] if record["type"] == "frame" else ():
                yield {"frame": record["frame"], "device": record["device"], **_flat(one)}
    return _columns(rows())


def quantile(spread, q):
    """Of the column `spread` of statistics(): the value of that rank, to its spread_error."""
    buckets = [tuple(map(int, bucket.split(","))) for bucket in spread.split()]
    rank = q * sum(n for _, _, n in buckets)
    for mantissa, exponent, n in buckets:
        rank -= n
        if rank <= 0:
            break
    return mantissa * 2.0 ** exponent


def statistics(path):
    """A row for each value of each pass over the run, from its end line: device, id, label, key, n, mean, and so on.
    A digest has the spread too, and the frames themselves, whose id is 0000000000000000."""
    def rows():
        labels = {}
        for record in lines(path):
            if record["type"] == "pass_info":
                labels[record["id"]] = record.get("label")
            for row in record.get("statistics", ()) if record["type"] == "end" else ():
                yield {"label": labels.get(row["id"]), **row}
    return _columns(rows())


def benchmark(paths):
    """Of each pass, and of the frame, the mean GPU time of all runs, in ms, as github-action-benchmark reads it."""
    runs = {}
    for path in paths:
        sums = {}
        for record in _with_frames(path):
            if record["type"] != "frame" or "partial" in record.get("flags", ()):
                continue
            for name, ns in [("frame", record.get("gpu_ns")), *(
                    (one.get("label") or f"{one['kind']} {one['id'][:8]}", one.get("gpu_ns")) for one in record["passes"])]:
                if ns is not None:
                    total = sums.setdefault(name, [0, 0])
                    total[0] += ns
                    total[1] += 1
        for name, (total, n) in sums.items():
            runs.setdefault(name, []).append(total / n / 1e6)
    result = []
    for name, means in runs.items():
        mean = sum(means) / len(means)
        spread = (max(means) - min(means)) / 2
        result.append({"name": name, "unit": "ms", "value": round(mean, 6), "range": f"± {spread:.6f}",
                       "extra": f"{len(means)} run{'s' if len(means) != 1 else ''}"})
    return result


MANGOHUD = ("fps,frametime,cpu_load,cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,"
            "gpu_power,ram_used,swap_used,process_rss,cpu_mhz,elapsed").split(",")
PRESENTMON = ("Application,ProcessID,SwapChainAddress,Runtime,SyncInterval,PresentFlags,Dropped,TimeInSeconds,"
              "MsBetweenPresents,MsBetweenDisplayChange,MsInPresentAPI,MsUntilRenderComplete,MsUntilDisplayed,"
              "msGPUActive").split(",")


def _first_device(path):
    """The header, the first device with frames, and those frames that took time: what shows one program only knows one."""
    header, devices, found = {}, {}, []
    for record in _with_frames(path):
        if record["type"] == "header":
            header = record
        elif record["type"] == "device":
            devices[record["device"]] = record
        elif record["type"] == "frame" and record["cpu_ns"] and (not found or record["device"] == found[0]["device"]):
            found.append(record)
    return header, devices.get(found[0]["device"], {}) if found else {}, found


def mangohud(path):
    """Rows of texts, as MangoHud's log; what passtally does not know is empty."""
    header, device, found = _first_device(path)
    yield "os,cpu,gpu,ram,kernel,driver,cpuscheduler".split(",")
    yield [header.get("os", ""), header.get("cpu", ""), device.get("name", ""), header.get("memory_bytes", 0) // 1024 or "",
           header.get("kernel", ""), " ".join(filter(None, (device.get("driver"), device.get("driver_version")))), ""]
    yield MANGOHUD
    for frame in found:
        gauges = frame.get("metrics", {})
        known = {"fps": f"{1e9 / frame['cpu_ns']:.6g}", "frametime": f"{frame['cpu_ns'] / 1e6:.6g}",
                 "gpu_load": gauges.get("gpu_load"), "gpu_temp": gauges.get("gpu_temperature"),
                 "gpu_vram_used": gauges["gpu_memory_used"] / 2 ** 30 if "gpu_memory_used" in gauges else None,  # GiB
                 "gpu_core_clock": gauges.get("gpu_clock"), "gpu_power": gauges.get("gpu_power"),
                 "elapsed": frame["start_ns"] + frame["cpu_ns"] - found[0]["start_ns"]}
        yield ["" if known.get(key) is None else known[key] for key in MANGOHUD]


def presentmon(path):
    """Rows of texts, as the first version of PresentMon's CSV; what passtally does not know is NA."""
    header, device, found = _first_device(path)
    yield PRESENTMON
    for frame in found:
        known = {"Application": header["program"].rsplit("/", 1)[-1], "ProcessID": header["pid"],
                 "Runtime": device.get("api"), "TimeInSeconds": f"{(frame['start_ns'] - found[0]['start_ns']) / 1e9:.6f}",
                 "MsBetweenPresents": f"{frame['cpu_ns'] / 1e6:.6f}",
                 "msGPUActive": f"{frame['gpu_ns'] / 1e6:.6f}" if "gpu_ns" in frame else None}
        yield ["NA" if known.get(key) is None else known[key] for key in PRESENTMON]


def main():
    parser = argparse.ArgumentParser(description="Logs of passtally for other tools.")
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--benchmark", nargs="+", metavar="LOG",
                      help="print the means of these runs as github-action-benchmark reads them")
    form.add_argument("--mangohud", metavar="LOG", help="print the frames as MangoHud logs them")
    form.add_argument("--presentmon", metavar="LOG", help="print the frames as PresentMon logs them, for CapFrameX")
    args = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as `| head` expects
    try:
        if args.benchmark:
            json.dump(benchmark(args.benchmark), sys.stdout, indent=1, ensure_ascii=False)
            print()
        else:
            csv.writer(sys.stdout, lineterminator="\n").writerows(
                mangohud(args.mangohud) if args.mangohud else presentmon(args.presentmon))
    except (OSError, ValueError) as error:
        sys.exit(f"passtally.py: {error}")


if __name__ == "__main__":
    main()
