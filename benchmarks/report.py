#!/usr/bin/env python3
"""Makes the table of a run of zyx-bench.

  benchmarks/report.py FOLDER [--update PAGE]

Reads FOLDER/samples.json and writes FOLDER/result.json: the samples with machine, commit, date and
versions. Prints the table; --update replaces the part of PAGE between its two markers.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKERS = ("<!-- benchmarks/run.sh writes from here -->", "<!-- to here -->")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def first(pattern, path, default=""):
    found = re.search(pattern, pathlib.Path(path).read_text(), re.MULTILINE)
    return found.group(1) if found else default


def environment():
    flags = first(r"^flags\s*: (.*)", "/proc/cpuinfo").split()
    isa = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags),
               platform.machine())
    git = ("git", "-C", str(ROOT))
    return {
        "machine": f"{first(r'^model name.*: (.*)', '/proc/cpuinfo', platform.processor())} "
                   f"({isa}), {os.cpu_count()} CPUs",
        "system": first(r'^PRETTY_NAME="(.*)"', "/etc/os-release"),
        "commit": output(*git, "rev-parse", "--short=12", "HEAD") +
                  (" with changes" if output(*git, "status", "--porcelain") else ""),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    }


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def microseconds(seconds):
    us = seconds * 1e6
    return f"{us:.0f}" if us >= 100 else f"{us:.1f}" if us >= 10 else f"{us:.2f}"


def summarise(samples):
    """One row per workload and peer; the ratio is peer's time / zyx's time of the same round."""
    rows = []
    for workload in samples["workloads"]:
        zyx = workload["timings"][0]["seconds"]
        for peer in workload["timings"][1:]:
            low, middle, high = quartiles([p / z for p, z in zip(peer["seconds"], zyx)])
            rows.append({"workload": workload["name"], "peer": peer["name"],
                         "zyx_seconds": statistics.median(zyx),
                         "peer_seconds": statistics.median(peer["seconds"]),
                         "rate": workload["amount"] / statistics.median(zyx),
                         "unit": workload["unit"],
                         "ratio": middle, "ratio_low": low, "ratio_high": high})
    return rows


def launch_seconds(samples):
    """Time of one more launch in a program, from programs of 1 and 33 kernels."""
    median = {w["name"]: statistics.median(w["timings"][0]["seconds"])
              for w in samples["workloads"] if w["name"].startswith("launch-")}
    return {"first": median["launch-1"],
            "next": (median["launch-33"] - median["launch-1"]) / 32}


def table(result):
    env = result["environment"]
    lines = [
        f"{env['machine']}; {env['system']}; commit {env['commit']}; {env['date']}.",
        "Peers: " + "; ".join(f"{k} {v}" if not v.startswith(k) else v
                              for k, v in result["samples"]["peers"].items()) + ".",
        "",
        "| workload | zyx, us | rate | peer | peer, us | ratio | quartiles of the ratio |",
        "|---|---|---|---|---|---|---|"]
    for row in result["rows"]:
        lines.append(
            f"| {row['workload']} | {microseconds(row['zyx_seconds'])} "
            f"| {row['rate']:.1f} {row['unit']}/s | {row['peer']} "
            f"| {microseconds(row['peer_seconds'])} | {row['ratio']:.2f} "
            f"| {row['ratio_low']:.2f} - {row['ratio_high']:.2f} |")
    launch = result["launch"]
    lines += ["", "Replay: a run of a program of one tiny kernel takes "
              f"{microseconds(launch['first'])} us, and {microseconds(launch['next'])} us more for "
              "each further kernel.",
              "", "| program | kernels | compile, ms | per kernel, ms |", "|---|---|---|---|"]
    for entry in result["samples"]["workloads"]:
        ms, kernels = statistics.median(entry["compile_seconds"]) * 1e3, entry["kernels"]
        lines.append(f"| {entry['name']} | {kernels} | {ms:.1f} | {ms / kernels:.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE")
    options = parser.parse_args()
    samples = json.loads((options.folder / "samples.json").read_text())
    result = {"environment": environment(), "rows": summarise(samples),
              "launch": launch_seconds(samples),
              "samples": samples}
    (options.folder / "result.json").write_text(json.dumps(result, indent=1) + "\n")
    text = table(result)
    print(text)
    if options.update:
        page = options.update.read_text()
        begin, end = (page.index(marker) for marker in MARKERS)
        options.update.write_text(
            page[:begin] + MARKERS[0] + "\n" + text + "\n" + page[end:])


if __name__ == "__main__":
    main()
