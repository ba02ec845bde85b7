#!/usr/bin/env python3
"""Measures how far the schedules that are taken without measuring are from the best of their candidates.

  benchmarks/tuning.py prepare FOLDER [--only=TEXT,...]
      Here: writes the products, convolutions, attentions and rows of benchmarks/gpu.py into FOLDER, beside this script.
      utils/gpu-conformance.sh packs the programs that run them there.
  tuning.py run FOLDER PACK --results=FILE [--seconds=N]
      There: runs PACK's zyx-compile --tune on each, and writes FILE (JSON). No workload begins after N seconds.
  benchmarks/tuning.py update FILE...
      Here: writes the table in benchmarks/results/tuning.md, and keeps the record in benchmarks/results. Of several files the rows
      of a later one take the place of those of the same names.

Times are those of zyx-compile --tune (docs/tuning.md): each kernel alone, by events of the device, candidates in turns,
medians. Each candidate's result is compared with the first one's before. An empty cache is tuned into.
"""
import json, os, re, subprocess, sys, tempfile, time

BEGIN, END = "<!-- benchmarks/tuning.py writes from here -->", "<!-- benchmarks/tuning.py writes to here -->"
HEAD = re.compile(r"^(.*): measured on (\S+): (.*) takes ([0-9.]+) us")
LINE = re.compile(r"^  (.*): ([0-9.]+) us, ([0-9.]+) to ([0-9.]+) in (\d+) samples(?:; estimated (\d+) cycles)?$")
LEFT = re.compile(r"^  (#kernel\.schedule<.*?>\]>(?: threads \d+)?(?: cluster \d+)?): left out: (.*)$")
FAMILIES = ("gemm-", "linear-", "conv-", "attention-", "softmax-", "layer-norm-", "rms-norm-", "sum-rows-")


def prepare(folder, only):
    from gpu_suite import workloads
    os.makedirs(folder, exist_ok=True)
    for name, work in workloads.workloads().items():
        # The device is no target with fewer digits; of what a program builds there is no text.
        if "build" not in work or not name.startswith(FAMILIES) or work.get("target") or (only and not any(text in name for text in only)):
            continue
        with open(os.path.join(folder, name + ".mlir"), "w") as file:
            file.write(work["build"]())
    with open(os.path.join(folder, "commit"), "w") as file:
        file.write(subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True,
                                  cwd=os.path.dirname(os.path.abspath(__file__))).stdout)
    subprocess.run(["cp", os.path.abspath(__file__), folder], check=True)


def parse(text):
    """Of each kernel, its candidates in the chooser's order."""
    kernels = []
    for line in text.splitlines():
        if head := HEAD.match(line):
            kernels.append({"kernel": head[1], "best": head[3], "candidates": []})
        elif kernels and (found := LINE.match(line)):
            kernels[-1]["candidates"].append({"schedule": found[1], "us": float(found[2]), "low": float(found[3]),
                                              "high": float(found[4]), "samples": int(found[5]),
                                              "cycles": int(found[6]) if found[6] else None})
        elif kernels and (found := LEFT.match(line)):
            kernels[-1]["candidates"].append({"schedule": found[1], "left_out": found[2]})
    return kernels


def run(folder, pack, results, seconds):
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    device, driver = [part.strip() for part in smi.stdout.strip().split("\n")[0].split(",")]
    with open(os.path.join(folder, "commit")) as file:
        commit = file.read().strip()
    record = {"device": device, "driver": driver, "date": time.strftime("%Y-%m-%d", time.gmtime()), "commit": commit, "rows": []}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, ZYX_CACHE_DIR=cache)
        family = lambda source: next((i for i, each in enumerate(FAMILIES) if source.startswith(each)), len(FAMILIES))
        for source in sorted(os.listdir(folder), key=lambda source: (family(source), source)):
            if not source.endswith(".mlir") or time.monotonic() - begin > seconds:
                continue
            name = source.removesuffix(".mlir")
            command = ["sh", os.path.join(pack, "run.sh"), "zyx-compile", os.path.join(folder, source), "--target=sm_90a",
                       "--tune", "--remarks", "-o", os.path.join(cache, "out.zyxa")]
            try:
                done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
                told, failed = done.stderr, done.returncode != 0
            except subprocess.TimeoutExpired:
                told, failed = "took more than 60 s", True
            row = {"name": name, "kernels": parse(told)}
            if failed or not row["kernels"]:
                row["remarks"] = told[-2000:]
                print(f"{name}: {row['remarks']}", flush=True)
            record["rows"].append(row)
            for kernel in row["kernels"]:
                print(f"{name}: {kernel['candidates'][0].get('us')} us, best {min(c['us'] for c in kernel['candidates'] if 'us' in c)}", flush=True)
            with open(results, "w") as file:
                json.dump(record, file, indent=1)
    print(f"{len(record['rows'])} workloads in {time.monotonic() - begin:.0f} s")


def short(schedule):
    """What differs between candidates."""
    if found := re.search(r"tensor_step<(\d+), (\d+), \d+, stages (\d+), group \d+(?:, split (\d+))?", schedule):
        return f"{found[1]}x{found[2]}, {found[3]} stages" + (f", {found[4]} share a tile" if found[4] else "")
    found = re.search(r"( threads \d+)?( cluster \d+)?$", schedule)
    return (found[0].strip() or "no threads") if found else schedule


def update(paths):
    records = []
    for path in paths:
        with open(path) as file:
            records.append(json.load(file))
    record = dict(records[-1])
    rows = {row["name"]: row for each in records for row in each["rows"]}
    record["rows"] = list(rows.values())
    record["commit"] = ", ".join(dict.fromkeys(each["commit"] for each in records))
    lines = [f"{record['device']}, driver {record['driver']}; commit {record['commit']}; {record['date']}.", "",
             "| workload | candidates | without measuring | us | best | us | slower by |", "|---|---|---|---|---|---|---|"]
    for row in record["rows"]:
        for kernel in row["kernels"]:
            timed = [c for c in kernel["candidates"] if "us" in c]
            if not timed:
                continue
            first, best = timed[0], min(timed, key=lambda c: c["us"])
            left = len(kernel["candidates"]) - len(timed)
            lines.append(f"| {row['name']} | {len(timed)}{f' ({left} left out)' if left else ''} | {short(first['schedule'])} | {first['us']:.1f} | "
                         f"{'the same' if best is first else short(best['schedule'])} | {best['us']:.1f} | "
                         f"{100 * (first['us'] / best['us'] - 1):.1f} % |")
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    page = os.path.join(root, "benchmarks", "results", "tuning.md")
    with open(page) as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    with open(page, "w") as file:
        file.write(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail)
    kept = os.path.join(root, "benchmarks", "results", f"{record['date']}-h100-tuning")
    os.makedirs(kept, exist_ok=True)
    for number, each in enumerate(records):
        with open(os.path.join(kept, f"tuning-{number + 1}.json"), "w") as file:
            json.dump(each, file, indent=1)
            file.write("\n")


def main(arguments):
    options = dict(each[2:].split("=", 1) for each in arguments if each.startswith("--"))
    plain = [each for each in arguments if not each.startswith("--")]
    if plain[:1] == ["prepare"] and len(plain) == 2:
        prepare(plain[1], options.get("only", "").split(",") if "only" in options else None)
    elif plain[:1] == ["run"] and len(plain) == 3 and "results" in options:
        run(plain[1], plain[2], options["results"], float(options.get("seconds", 1e9)))
    elif plain[:1] == ["update"] and len(plain) > 1:
        update(plain[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
