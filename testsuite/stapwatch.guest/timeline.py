# What stands in a timeline's views, decoded by what knows nothing of stapwatch, and in
# the files of precise accounting: of each thread that has ended the ticks of each
# state.  Prints what they agree in, a line each; what they do not, too.
#
#	timeline.py RAWTHREADS CHROME PERFETTO
#	timeline.py --marks PERFETTO

import json
import struct
import sys

PARTS = {"user": 0, "system": 1, "int": 2, "softirq": 3, "woken": 4,
         "preempted": 5, "disk": 6, "page": 7, "reclaim": 8, "lock": 9,
         "futex": 10, "pipe": 11, "socket": 12, "poll": 13, "sleep": 14,
         "child": 15, "stopped": 16, "device": 17, "work": 18, "kernel": 19,
         "not_accounted": 20, "unknown": 21}
ON_CPU = ("user", "system", "int", "softirq")


def raw_threads(path):
    """tid -> (name, life, parts) of those that have ended; name -> tid of all: who
    has been waited for may still be on its way to its last switch"""
    data = open(path, "rb").read()
    offset, _, stride = struct.unpack_from("<III", data, 40)
    parts_at, nr = struct.unpack_from("<II", data, 88)
    ended, names = {}, {}
    for at in range(offset, len(data) - stride + 1, stride):
        tid, _, flags = struct.unpack_from("<III", data, at)
        name = data[at + 24:at + 40].split(b"\0")[0].decode()
        life, = struct.unpack_from("<Q", data, at + parts_at)
        parts = struct.unpack_from("<%dQ" % nr, data, at + parts_at + 8)
        names[name] = tid
        if flags & 8:
            ended[tid] = (name, life, list(parts))
    return ended, names


class Lanes:
    """Slices by lane: (pid, tid) -> [(from, to, state, values)]"""

    def __init__(self):
        self.lanes = {}
        self.arrows = []
        self.marks = []

    def add(self, lane, start, end, state, values):
        self.lanes.setdefault(lane, []).append((start, end, state, values))

    def sums(self, lane):
        parts = [0] * len(PARTS)
        for _, _, state, values in self.lanes[lane]:
            if state == "running":
                for name in ON_CPU:
                    parts[PARTS[name]] += values[name]
            else:
                parts[PARTS[state]] += values["ticks"]
        return parts

    def holes(self, lane):
        slices = sorted(self.lanes[lane], key=lambda s: s[:2])
        return sum(a[1] != b[0] for a, b in zip(slices, slices[1:]))


def ns(us):
    return round(us * 1000)


def chrome(path):
    lanes = Lanes()
    starts = {}
    for e in json.load(open(path))["traceEvents"]:
        lane = (e["pid"], e["tid"])
        if e["ph"] == "X":
            start = ns(e["ts"])
            lanes.add(lane, start, start + ns(e["dur"]), e["name"], e["args"])
        elif e["ph"] == "s":
            starts[e["id"]] = (lane, ns(e["ts"]))
        elif e["ph"] == "f":
            lanes.arrows.append(starts.pop(e["id"]) + (lane, ns(e["ts"])))
    assert not starts
    return lanes


def fields(data):
    """A message of protocol buffers: (field, value), as the encoding has it"""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            at += 8
            yield key >> 3, int.from_bytes(data[at - 8:at], "little")
        else:
            assert key & 7 == 2, key
            size = varint()
            at += size
            assert at <= len(data)
            yield key >> 3, data[at - size:at]


def perfetto(path):
    lanes = Lanes()
    tracks = {}
    opened = {}
    flows = {}
    for field, packet in fields(open(path, "rb").read()):
        assert field == 1
        packet = dict(fields(packet))
        assert packet[10] == 1
        if 60 in packet:
            track = dict(fields(packet[60]))
            if 4 in track:
                thread = dict(fields(track[4]))
                tracks[track[1]] = (thread[1], thread[2])
            elif 2 in track and track[2].startswith(b"CPU "):
                tracks[track[1]] = (0, int(track[2][4:]))
            elif 2 in track:
                tracks[track[1]] = track[2].decode()
            continue
        time, event = packet[8], list(fields(packet[11]))
        of = dict(event)
        lane = tracks[of[11]]
        if of[9] == 1:
            notes = {}
            for note in (dict(fields(v)) for f, v in event if f == 4):
                notes[note[10].decode()] = note.get(3, note.get(6))
            assert lane not in opened
            opened[lane] = (time, of[23].decode(), notes)
            if 48 in of:
                lanes.arrows.append(flows.pop(of[48]) + (lane, time))
        elif of[9] == 2:
            start, state, notes = opened.pop(lane)
            lanes.add(lane, start, time, state, notes)
        elif 47 in of:
            assert of[9] == 3
            flows[of[47]] = (lane, time)
        else:
            assert of[9] == 3
            lanes.marks.append((time, lane, of[23].decode(), dict(fields(of[4]))[3]))
    assert not opened and not flows
    return lanes


def main():
    ended, names = raw_threads(sys.argv[1])
    views = {"chrome": chrome(sys.argv[2]), "perfetto": perfetto(sys.argv[3])}
    for view, lanes in views.items():
        of = {}
        for lane in lanes.lanes:
            if lane[0]:
                of.setdefault(lane[1], []).append(lane)
        same = 0
        for tid, (name, life, parts) in sorted(ended.items()):
            # a number that was another thread's, too, has two lanes in one
            if tid not in of or len(of[tid]) != 1:
                continue
            got = lanes.sums(of[tid][0])
            if got == parts and sum(got) == life and \
               not lanes.holes(of[tid][0]):
                same += 1
            else:
                print(view, "differs", tid, name, life, sum(got), got, parts)
        print(view, "same", "many" if same > 12 else same)
        cpus = [lane for lane in lanes.lanes if not lane[0]]
        print(view, "cpus", len(cpus), "holes",
              sum(lanes.holes(lane) for lane in cpus))
        for waker, woken in (("w-sleep", "waits"), ("helper", "w-pipe")):
            tids = {t for t, (n, _, _) in ended.items() if n == waker}
            hits = [a for a in lanes.arrows if a[0][1] in tids and
                    a[2][1] == names.get(woken) and a[1] == a[3]]
            print(view, waker, "wakes", woken, "yes" if hits else "no")
        for name in ("futex", "sleep", "poll", "pipe", "socket", "child"):
            tid = names.get("w-" + name)
            times = sum(s[2] == name for s in
                        lanes.lanes.get((tid, tid), []))
            print(view, name, "seen" if times >= 3 else times)
    same = sorted(views["chrome"].lanes) == sorted(views["perfetto"].lanes)
    for lane in views["chrome"].lanes:
        a, b = (sorted((s[:3] for s in v.lanes[lane])) for v in views.values())
        same = same and a == b
    print("views", "same" if same else "differ")


def marks():
    for mark in perfetto(sys.argv[2]).marks:
        print(*mark)


marks() if sys.argv[1] == "--marks" else main()
