"""The table of a run of benchmarks/cpu.sh, and which of the figures of the issue are met."""
import datetime
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess

import overheads

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARKERS = ("<!-- benchmarks/cpu.sh writes from here -->", "<!-- to here -->")

# figure: what it must reach and what it aims at; the geometric mean of peer's time / zyx's time.
RATIOS = {
    "sgemm squares": ("sgemm, squares of 128 to 2048, against the best peer", 0.95, 1.03),
    "sgemm odd and skinny": ("sgemm, odd and skinny, against the best peer", 0.80, 1.0),
    "bf16 and i8": ("bf16 and i8 products of 512 to 2048, against the best peer", 0.90, 1.0),
    "conv": ("five convolutions, against the best peer", 0.70, 0.95),
    "rows": ("softmax, layer-norm, RMS-norm, gelu, against the best peer", 1.0, 1.4),
    "attention": ("attention of 128, 1024 and 4096 positions, against the best peer", 0.9, 1.3),
    "memory": ("2^24 elements, against triad of the same traffic", 0.90, 0.98),
    "chain": ("ten ops in a chain, against the best peer", 1.0, 1.3),
    "network": ("GPT-2 small, against the best peer", None, None),
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def first(pattern, path, default=""):
    found = re.search(pattern, pathlib.Path(path).read_text(), re.MULTILINE)
    return found.group(1) if found else default


def environment():
    flags = first(r"^flags\s*: (.*)", "/proc/cpuinfo").split()
    isa = "".join(name for flag, name in (("amx_tile", "AMX, "),) if flag in flags) + next(
        (name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags),
        platform.machine())
    git = ("git", "-C", str(ROOT))
    return {
        "machine": f"{first(r'^model name.*: (.*)', '/proc/cpuinfo', platform.processor())} "
                   f"({isa}), {os.cpu_count()} CPUs",
        "isa": isa,
        "system": first(r'^PRETTY_NAME="(.*)"', "/etc/os-release"),
        "commit": output(*git, "rev-parse", "--short=12", "HEAD") +
                  (" with changes" if output(*git, "status", "--porcelain", "-uno") else ""),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    }


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    return statistics.quantiles(values, n=4, method="inclusive")


def microseconds(seconds):
    us = seconds * 1e6
    return f"{us:.0f}" if us >= 100 else f"{us:.1f}" if us >= 10 else f"{us:.2f}"


def best(result):
    """The peer of the shortest median, or None."""
    peers = result["timings"][1:]
    return min(peers, key=lambda t: statistics.median(t["seconds"])) if peers else None


def ratio(result, peer):
    """Quartiles of the peer's time / zyx's time of the same round."""
    return quartiles([p / z for p, z in zip(peer["seconds"], result["timings"][0]["seconds"])])


def is_accurate(result, peer):
    """Whether zyx's error is of the peer's size; a few roundings more or less make no difference."""
    return result["timings"][0]["error"] <= max(2 * peer["error"], 1e-6)


def label(peer):
    return peer["name"] + (f" ({peer['variant']})" if peer["variant"] else "")


def line(result, threads):
    """One workload, as it is done."""
    zyx, peer = result["timings"][0], best(result)
    text = f"{threads}T {result['name']:30} zyx {microseconds(statistics.median(zyx['seconds'])):>9} us"
    others = sorted(result["timings"][1:], key=lambda t: statistics.median(t["seconds"]))
    if peer:
        text += f"  ratio {ratio(result, peer)[1]:.2f}"
    for other in others:
        text += f"  {label(other)} {microseconds(statistics.median(other['seconds']))}"
    return text


def workload_table(runs):
    """Of those with a peer."""
    runs = [result for result in runs if best(result)]
    lines = ["| workload | zyx, us | rate | error | best peer | its time, us | its error | ratio "
             "| quartiles |", "|---|---|---|---|---|---|---|---|---|"]
    for result in runs:
        zyx, peer = result["timings"][0], best(result)
        seconds = statistics.median(zyx["seconds"])
        low, middle, high = ratio(result, peer)
        error = f"{peer['error']:.1e}" if peer["name"] != "triad" else ""
        lines.append(
            f"| {result['name']} | {microseconds(seconds)} "
            f"| {result['amount'] / seconds:.1f} {result['unit']}/s | {zyx['error']:.1e} "
            f"| {label(peer)} | {microseconds(statistics.median(peer['seconds']))} | {error} "
            f"| {middle:.2f} | {low:.2f} - {high:.2f} |")
    return lines


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def figures(samples):
    """Rows of figure, must, aim, and the value for each number of threads."""
    threads = list(samples["runs"])
    lines = ["| figure | must | aim | " + " | ".join(f"{t} thread{'s'[:int(t) > 1]}" for t in threads)
             + " | met |", "|---|---|---|" + "---|" * (len(threads) + 1)]
    for figure, (text, must, aim) in RATIOS.items():
        values, accurate = [], True
        for count in threads:
            ratios = [ratio(r, best(r))[1] for r in samples["runs"][count]
                      if r["figure"] == figure and best(r)]
            values.append(geometric(ratios) if ratios else None)
            accurate &= figure != "rows" or all(is_accurate(r, best(r)) for r in samples["runs"][count]
                                                if r["figure"] == figure and best(r))
        if not any(values):
            continue
        met = "" if must is None else "yes" if all(v is None or v >= must for v in values) else "no"
        met = met if accurate else "no: less accurate"
        lines.append(f"| {text} | {must or ''} | {aim or ''} | " +
                     " | ".join(f"{v:.2f}" if v else "" for v in values) + f" | {met} |")
    return lines


def launch_seconds(samples):
    """Of one more launch in a program, from programs of 1 and 33 kernels on one thread; or None."""
    median = {r["name"]: statistics.median(r["timings"][0]["seconds"])
              for r in samples["runs"].get("1", []) if r["figure"] == "overheads"}
    return (median["launch-33"] - median["launch-1"]) / 32 if len(median) == 2 else None


def write(samples, env, folder, page):
    """`env` is what `environment` gave when the run began."""
    lines = [f"{env['machine']}; {env['system']}; commit {env['commit']}; {env['date']}.",
             "Peers: " + "; ".join(f"{k} {v}" for k, v in samples["versions"].items()
                                   if k not in ("zyx", "triad")) + ".", ""]
    lines += figures(samples) if any(best(r) for runs in samples["runs"].values() for r in runs) else []
    if samples["overheads"]:
        lines += [""] + overheads.table(samples["overheads"], launch_seconds(samples))
    for count, runs in samples["runs"].items():
        if not any(map(best, runs)):
            continue
        lines += ["", f"**{count} thread{'s'[:int(count) > 1]}**", ""] + workload_table(runs)
    if samples["notes"]:
        lines += ["", "Left out:", ""] + [f"- {note}" for note in samples["notes"]]
    text = "\n".join(lines)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for runs in samples["runs"].values():
            for result in runs:
                for timing in result["timings"]:
                    timing["seconds"] = [float(f"{s:.5g}") for s in timing["seconds"]]
        (folder / "result.json").write_text(json.dumps({"environment": env, **samples}) + "\n")
        (folder / "README.md").write_text("# `benchmarks/cpu.sh`\n\n" + text + "\n")
    if page:
        old = page.read_text()
        begin, end = (old.index(marker) for marker in MARKERS)
        page.write_text(old[:begin] + MARKERS[0] + "\n" + text + "\n" + old[end:])
    return text
