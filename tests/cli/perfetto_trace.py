# SPDX-License-Identifier: MIT
"""A reader of Perfetto traces that knows nothing of the writer: wire format, field numbers, and what
trace viewers make of the packets (interning, nesting, counters)."""

import struct

TYPE_END, TYPE_INSTANT = 2, 3
MONOTONIC = 3


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            if value >= 1 << 64:
                raise ValueError(f"a number of more than 64 bits ends at {at}")
            return value, at


def fields(data):
    """[(field number, value)]: whole numbers, 8 bytes, or bytes. Raises an error where the fields and the buffer
    do not end together."""
    found, at = [], 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            raise ValueError(f"wire type {wire} at {at}")
        if at > len(data):
            raise ValueError("a field is longer than its message")
        found.append((number, value))
    return found


def message(data, **names):
    """A message as a dictionary: name=number, a single value, or name=(number,) for all of them in order. A
    field without a name is an error: the writer writes nothing that this file does not list."""
    out = {name: [] for name, number in names.items() if isinstance(number, tuple)}
    by_number = {number[0] if isinstance(number, tuple) else number: name for name, number in names.items()}
    for number, value in fields(data):
        name = by_number[number]
        if name in out and isinstance(out[name], list):
            out[name].append(value)
        elif name in out:
            raise ValueError(f"{name} twice")
        else:
            out[name] = value
    return out


def double(data):
    return struct.unpack("<d", data)[0]


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def packet(data):
    return message(data, clock_snapshot=6, timestamp=8, sequence=10, track_event=11, interned=12, sequence_flags=13,
                   gpu_counter_event=52, render_stage=53, clock=58, track_descriptor=60, gpu_info=128)


class Track:
    def __init__(self, data):
        d = message(data, uuid=1, name=2, process=3, parent=5, ordering=11, rank=12, description=14)
        self.uuid, self.parent, self.rank = d["uuid"], d.get("parent"), signed(d.get("rank", 0))
        self.name = d["name"].decode() if "name" in d else None
        self.description = d.get("description", b"").decode()
        if "process" in d:
            p = message(d["process"], pid=1, name=6, labels=(8,))
            self.pid, self.name = p["pid"], p["name"].decode()
            self.labels = [label.decode() for label in p["labels"]]
        self.open = []
        self.slices = []  # (depth, start, end, name, args, category)
        self.instants = []  # (ns, name, args, category, the stage event it submitted)


class Queue:
    """A hardware queue of a GPU, as the tables gpu_slice and gpu_track have it."""
    def __init__(self, gpu, name, description):
        self.gpu, self.name, self.description = gpu, name, description
        self.stages = []  # (start, end, name, args, category, what, event's number)


class Trace:
    def __init__(self, data):
        self.tracks, self.queues, self.gpu_counters, self.gpus = {}, {}, {}, []
        self.has_clock = False
        self.specifications, self.contexts, self.events = {}, {}, {}
        self.n_packets = 0
        for number, value in fields(data):
            if number != 1:
                raise ValueError(f"field {number} in a trace")
            self.take(packet(value))
        for track in self.tracks.values():
            if track.open:
                raise ValueError(f"{track.name}: a slice without an end")
        for track in self.tracks.values():
            for instant in track.instants:
                if instant[4] is not None and instant[4] not in self.events:
                    raise ValueError(f"{instant[1]} submits a stage that is not there")

    def take(self, p):
        if p["sequence_flags"] != (3 if self.n_packets == 0 else 2) or p["sequence"] != 1:
            raise ValueError("state is cleared where it should not be, or never")
        self.n_packets += 1
        if "timestamp" in p and not (p["clock"] == MONOTONIC and self.has_clock):
            raise ValueError("a time of no clock, or of another one")
        if "interned" in p:
            self.intern(message(p["interned"], contexts=(23,), specifications=(24,)))
        if "clock_snapshot" in p:
            self.snapshot(message(p["clock_snapshot"], clocks=(1,), primary=2))
        elif "track_descriptor" in p:
            track = Track(p["track_descriptor"])
            if track.uuid in self.tracks or (track.parent and track.parent not in self.tracks):
                raise ValueError(f"{track.name}: described twice, or before its parent")
            self.tracks[track.uuid] = track
        elif "gpu_counter_event" in p:
            self.gpu_counter(p)
        elif "render_stage" in p:
            self.stage(p)
        elif "gpu_info" in p:
            if self.gpus:
                raise ValueError("GPUs twice")
            for gpu in message(p["gpu_info"], gpus=(1,))["gpus"]:
                g = message(gpu, name=1, uuid=5, extra=(6,), pci=7)
                extra = [message(x, key=1, value=2) for x in g.pop("extra")]
                self.gpus.append({**{k: v.decode() for k, v in g.items()},
                                  **{x["key"].decode(): x["value"].decode() for x in extra}})
        elif "track_event" in p or "interned" not in p:
            self.event(p)

    def intern(self, tables):
        for entry in tables["contexts"]:
            c = message(entry, iid=1, pid=2, api=3)
            if c["iid"] in self.contexts or c["iid"] == 0:
                raise ValueError(f"context {c['iid']} again")
            self.contexts[c["iid"]] = (c["pid"], {1: "opengl", 2: "vulkan"}[c["api"]])
        for entry in tables["specifications"]:
            s = message(entry, iid=1, name=2, description=3, category=4)
            if s["iid"] in self.specifications or s["iid"] == 0:
                raise ValueError(f"iid {s['iid']} again")
            self.specifications[s["iid"]] = (s["name"].decode(), s.get("description", b"").decode(), s["category"])

    def stage(self, p):
        e = message(p["render_stage"], event=1, duration=2, context=5, extra=(6,), submission=10, gpu=11, queue=13, stage=14)
        if e["event"] in self.events:
            raise ValueError(f"event {e['event']} twice")
        name, description, category = self.specifications[e["queue"]]
        queue = self.queues.setdefault((e["gpu"], e["queue"]), Queue(e["gpu"], name, description))
        args = {}
        for x in (message(x, name=1, value=2) for x in e["extra"]):
            if x["name"].decode() in args:
                raise ValueError(f"argument {x['name']} twice")
            args[x["name"].decode()] = x["value"].decode()
        if "submission" in e and args.get("submission", str(e["submission"])) != str(e["submission"]):
            raise ValueError("two submissions")
        name, what, category = self.specifications[e["stage"]]
        stage = (p["timestamp"], p["timestamp"] + e["duration"], name, args, category, what, e["event"])
        self.events[e["event"]] = (queue, stage)
        queue.stages.append(stage)

    def snapshot(self, s):
        clock, = (message(c, id=1, ns=2)["id"] for c in s["clocks"])
        if (clock, s["primary"], self.has_clock) != (MONOTONIC, MONOTONIC, False):
            raise ValueError("another clock, or one twice")
        self.has_clock = True

    def gpu_counter(self, p):
        event = message(p["gpu_counter_event"], descriptor=1, counters=(2,), gpu=3)
        if "descriptor" in event:
            for spec in message(event["descriptor"], specs=(1,))["specs"]:
                s = message(spec, id=1, name=2, description=3, unit=7)
                if s["id"] in self.gpu_counters:
                    raise ValueError(f"counter {s['id']} described twice")
                self.gpu_counters[s["id"]] = {"name": s["name"].decode(), "gpu": event["gpu"], "unit": s["unit"],
                                              "description": s.get("description", b"").decode(), "points": []}
        for counter in event["counters"]:
            c = message(counter, id=1, whole=2, real=3)
            known = self.gpu_counters[c["id"]]
            if known["gpu"] != event["gpu"]:
                raise ValueError(f"{known['name']}: of another GPU")
            value = signed(c["whole"]) if "whole" in c else double(c["real"])
            known["points"].append((p["timestamp"], value))

    def args(self, event):
        out = {}
        for a in event["annotations"]:
            m = message(a, uint=3, int=4, double=5, string=6, name=10)
            name = m.pop("name").decode()
            (kind, value), = m.items()
            if name in out:
                raise ValueError(f"argument {name} twice")
            out[name] = {"uint": lambda v: v, "int": signed, "double": double,
                         "string": bytes.decode}[kind](value)
        return out

    def event(self, p):
        e = message(p["track_event"], annotations=(4,), type=9, track=11, category=22, name=23, correlation=3000)
        track, ns = self.tracks[e["track"]], p["timestamp"]
        if e["type"] == TYPE_END:
            start, name, args, category, depth = track.open.pop()
            if ns < start or (track.open and track.open[-1][0] > start):
                raise ValueError(f"{track.name}: {name} ends before it begins, or is not nested")
            track.slices.append((depth, start, ns, name, args, category))
            return
        name, category = e["name"].decode(), e["category"].decode()
        submitted = message(e["correlation"], stage=1)["stage"] if "correlation" in e else None
        if e["type"] == TYPE_INSTANT:
            track.instants.append((ns, name, self.args(e), category, submitted))
        else:
            track.open.append((ns, name, self.args(e), category, len(track.open)))

    def queue(self, name):
        """All queues of that name, of whichever GPU."""
        return [q for q in self.queues.values() if q.name == name]

    def stages(self, *whats):
        """(queue, stage) of those that are one of `whats`: a kind of pass, "command", "label", "frame"."""
        return [(q, s) for q in self.queues.values() for s in q.stages if s[5] in whats]

    def named(self, name):
        """All tracks of that name: (path of parents' names, track)."""
        return [t for t in self.tracks.values() if t.name == name]

    def path(self, track):
        names = []
        while track:
            names.insert(0, track.name)
            track = self.tracks.get(track.parent)
        return names

    def intervals(self, counter):
        """(start, end, value) that a viewer shows: a value counts back to the point before it."""
        points = counter["points"]
        for i, (ns, _) in enumerate(points):
            if i and ns < points[i - 1][0]:
                raise ValueError(f"{counter['name']}: points out of order")
        return [(points[i - 1][0], points[i][0], points[i][1]) for i in range(1, len(points)) if points[i][1]]
