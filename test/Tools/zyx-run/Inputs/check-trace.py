"""Checks a trace: that it is what Perfetto reads, that spans nest, and that these are in it."""
import argparse
import json

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file")
parser.add_argument("--passes", nargs="*", default=[])
parser.add_argument("--track")
parser.add_argument("--spans", nargs="*", default=[], help="of the track, those that lie in no other")
parser.add_argument("--arrows", type=int, default=0)
options = parser.parse_args()

with open(options.file, encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
slices = [e for e in events if e["ph"] == "X"]
assert all(e["ts"] >= 0 and e["dur"] >= 0 and e["tid"] in tracks for e in slices), "times and tracks"

outermost = {name: [] for name in tracks.values()}
for tid, name in tracks.items():
    open_until = []
    for event in sorted((e for e in slices if e["tid"] == tid), key=lambda e: (e["ts"], -e["dur"])):
        # Microseconds are printed, nanoseconds were meant.
        while open_until and open_until[-1] <= event["ts"] + 1e-3:
            open_until.pop()
        end = event["ts"] + event["dur"]
        assert not open_until or end <= open_until[-1] + 1e-3, f"{event['name']} overlaps another"
        if not open_until:
            outermost[name].append(event["name"])
        open_until.append(end)

inner = [e["name"] for e in slices if tracks[e["tid"]] == "compiler"]
for name in options.passes:
    assert name in inner and name not in outermost["compiler"], f"pass {name} is not inside of a phase"
if options.track:
    found = outermost[options.track]
    assert found == options.spans, found
starts = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
assert starts.keys() == ends.keys() and len(starts) == options.arrows, (len(starts), len(ends))
assert all(starts[i]["ts"] <= ends[i]["ts"] for i in starts), "an arrow into the past"
