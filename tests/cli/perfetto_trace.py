# SPDX-License-Identifier: MIT
"""A reader of Perfetto traces that knows nothing of the writer: wire format, field numbers, and what
trace viewers make of the packets (interning, nesting, clocks, counters)."""

import struct

TYPE_BEGIN, TYPE_END, TYPE_INSTANT, TYPE_COUNTER = 1, 2, 3, 4
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
    return message(data, clock_snapshot=6, timestamp=8, sequence=10, track_event=11, interned=12,
                   sequence_flags=13, gpu_counter_event=52, clock=58, track_descriptor=60)


class Track:
    def __init__(self, data):
        d = message(data, uuid=1, name=2, process=3, parent=5, counter=8, ordering=11, rank=12, description=14)
        self.uuid, self.parent, self.rank = d["uuid"], d.get("parent"), signed(d.get("rank", 0))
        self.name = d["name"].decode() if "name" in d else None
        self.description = d.get("description", b"").decode()
        self.unit = None
        if "counter" in d:
            c = message(d["counter"], unit=3, unit_name=6)
            self.unit = {1: "ns", 2: "1", 3: "bytes"}[c["unit"]] if "unit" in c else c.get("unit_name", b"").decode()
        if "process" in d:
            p = message(d["process"], pid=1, name=6, labels=(8,))
            self.pid, self.name = p["pid"], p["name"].decode()
            self.labels = [label.decode() for label in p["labels"]]
        self.open = []
        self.slices = []  # (depth, start, end, name, args, category, flow, parent's name)
        self.instants = []  # (ns, name, args, category, flow)
        self.values = []  # (ns, value)
        self.clocks = set()


class Trace:
    def __init__(self, data):
        self.tracks, self.gpu_counters, self.snapshots = {}, {}, []
        self.interned = {1: {}, 2: {}, 3: {}}
        self.n_packets = 0
        for number, value in fields(data):
            if number != 1:
                raise ValueError(f"field {number} in a trace")
            self.take(packet(value))
        for track in self.tracks.values():
            if track.open:
                raise ValueError(f"{track.name}: a slice without an end")

    def take(self, p):
        if p["sequence_flags"] != (3 if self.n_packets == 0 else 2) or p["sequence"] != 1:
            raise ValueError("state is cleared where it should not be, or never")
        self.n_packets += 1
        if "interned" in p:
            for table, value in fields(p["interned"]):
                entry = message(value, iid=1, name=2)
                if entry["iid"] in self.interned[table] or entry["iid"] == 0:
                    raise ValueError(f"iid {entry['iid']} of {table} again")
                self.interned[table][entry["iid"]] = entry["name"].decode()
        if "clock_snapshot" in p:
            self.snapshot(message(p["clock_snapshot"], clocks=(1,), primary=2))
        elif "track_descriptor" in p:
            track = Track(p["track_descriptor"])
            if track.uuid in self.tracks or (track.parent and track.parent not in self.tracks):
                raise ValueError(f"{track.name}: described twice, or before its parent")
            self.tracks[track.uuid] = track
        elif "gpu_counter_event" in p:
            self.gpu_counter(p)
        else:
            self.event(p)

    def snapshot(self, s):
        clocks = {c["id"]: c["ns"] for c in (message(c, id=1, ns=2) for c in s["clocks"])}
        if s["primary"] != MONOTONIC or any(clocks[MONOTONIC] <= old[MONOTONIC] for old in self.snapshots):
            raise ValueError("the trace's clock does not go on")
        self.snapshots.append(clocks)

    def known(self, clock):
        if not any(clock in s for s in self.snapshots):
            raise ValueError(f"clock {clock} was never matched")
        return clock

    def gpu_counter(self, p):
        event = message(p["gpu_counter_event"], descriptor=1, counters=(2,), gpu=3)
        if "descriptor" in event:
            for spec in message(event["descriptor"], specs=(1,))["specs"]:
                s = message(spec, id=1, name=2, description=3, unit=7)
                if s["id"] in self.gpu_counters:
                    raise ValueError(f"counter {s['id']} described twice")
                self.gpu_counters[s["id"]] = {"name": s["name"].decode(), "gpu": event["gpu"], "unit": s["unit"],
                                              "description": s.get("description", b"").decode(), "points": [],
                                              "clock": p["clock"]}
        for counter in event["counters"]:
            c = message(counter, id=1, whole=2, real=3)
            known = self.gpu_counters[c["id"]]
            if known["gpu"] != event["gpu"] or known["clock"] != self.known(p["clock"]):
                raise ValueError(f"{known['name']}: of another GPU or clock")
            value = signed(c["whole"]) if "whole" in c else double(c["real"])
            known["points"].append((p["timestamp"], value))

    def args(self, event):
        out = {}
        for a in event["annotations"]:
            m = message(a, name=1, uint=3, int=4, double=5, string=6)
            name = self.interned[3][m.pop("name")]
            (kind, value), = m.items()
            if name in out:
                raise ValueError(f"argument {name} twice")
            out[name] = {"uint": lambda v: v, "int": signed, "double": double,
                         "string": bytes.decode}[kind](value)
        return out

    def event(self, p):
        e = message(p["track_event"], category=3, annotations=(4,), type=9, name_iid=10, track=11, name=23,
                    counter=30, counter_double=44, flow=47)
        track, ns = self.tracks[e["track"]], p["timestamp"]
        track.clocks.add(self.known(p["clock"]))
        if e["type"] == TYPE_COUNTER:
            track.values.append((ns, signed(e["counter"]) if "counter" in e else double(e["counter_double"])))
        elif e["type"] == TYPE_END:
            start, name, args, category, flow, depth = track.open.pop()
            if ns < start or (track.open and track.open[-1][0] > start):
                raise ValueError(f"{track.name}: {name} ends before it begins, or is not nested")
            track.slices.append((depth, start, ns, name, args, category, flow,
                                 track.open[-1][1] if track.open else None))
        else:
            name = self.interned[2][e["name_iid"]] if "name_iid" in e else e["name"].decode()
            category = self.interned[1][e["category"]]
            if e["type"] == TYPE_INSTANT:
                track.instants.append((ns, name, self.args(e), category, e.get("flow")))
            else:
                track.open.append((ns, name, self.args(e), category, e.get("flow"), len(track.open)))

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
