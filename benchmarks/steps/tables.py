"""The tables of a run of benchmarks/steps.sh."""
import json
import statistics

import report

MARKERS = ("<!-- benchmarks/steps.sh writes from here -->", "<!-- to here, the steps -->")
TITLES = {"eager": "PyTorch eager", "compile": "torch.compile"}


def milliseconds(seconds):
    ms = seconds * 1e3
    return f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}" if ms >= 1 else f"{ms:.3f}"


def ratio(result, contender):
    """Quartiles of the peer's time / zyx's time of the same round."""
    rounds = result["timings"]["zyx"]["rounds"]
    return report.quartiles([p / z for p, z in zip(result["timings"][contender]["rounds"], rounds)])


def line(result):
    """One workload, as it is done."""
    return result["name"] + ": " + ", ".join(
        f"{name} {milliseconds(statistics.median(timing['rounds']))} ms"
        for name, timing in result["timings"].items())


def table(header, rows):
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header),
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def step_rows(samples):
    for result in samples["steps"]:
        zyx = result["timings"]["zyx"]
        row = [result["name"], milliseconds(statistics.median(zyx["rounds"])), f"{zyx['error']:.1e}"]
        for name in TITLES:
            if (timing := result["timings"].get(name)) is None:
                row += [""] * 4
                continue
            low, middle, high = ratio(result, name)
            row += [milliseconds(statistics.median(timing["rounds"])), f"{timing['error']:.1e}",
                    f"{middle:.2f}", f"{low:.2f} - {high:.2f}"]
        yield row


def memory_rows(samples):
    for result in samples["steps"]:
        zyx = result["timings"]["zyx"]
        yield [result["name"], str(zyx["kernels"]), f"{zyx['tensors'] / 2**20:.1f}",
               *(f"{result['timings'][name]['peak'] / 2**20:.0f}" if name in result["timings"] else ""
                 for name in ("zyx", *TITLES))]


def first_rows(samples):
    for name, found in samples["first"].items():
        yield [name, *(f"{statistics.median(found[key]):.2f}" if key in found else ""
                       for key in ("zyx, cold", "zyx, cached", "eager, cold", "compile, cold",
                                   "compile, cached"))]


def write(samples, env, folder, page):
    """`env` is what `environment` gave when the run began."""
    threads = samples["threads"]
    lines = [f"{env['machine']}; {env['system']}; {threads} thread{'s'[:threads > 1]}; commit "
             f"{env['commit']}; {env['date']}; PyTorch {samples['versions'].get('eager', 'not measured')}.", ""]
    if samples["steps"]:
        header = ["step", "zyx, ms", "error"]
        for title in TITLES.values():
            header += [title + ", ms", "error", "ratio", "quartiles"]
        lines += table(header, step_rows(samples))
        lines += table(["step", "zyx's kernels", "zyx's tensors, MiB at the most", "peak RSS, MiB: zyx",
                        *TITLES.values()], memory_rows(samples))
    if samples["first"]:
        lines += table(["seconds from a process's start to the end of its first step", "zyx, cold",
                        "zyx, disk cache", "PyTorch eager", "torch.compile, cold", "torch.compile, disk cache"],
                       first_rows(samples))
    if samples["build"]:
        lines += table(["building of a graph, us per node", "1000 nodes", "10000", "100000"],
                       [[what, *(f"{seconds * 1e6:.2f}" for seconds in samples["build"][kind])] for kind, what in
                        (("plain", "plain graph"), ("tensors", "tensors"))])
    if samples["notes"]:
        lines += ["Left out:", ""] + [f"- {note}" for note in samples["notes"]]
    text = "\n".join(lines).strip()
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for result in samples["steps"]:
            for timing in result["timings"].values():
                for key in ("rounds", "seconds"):
                    timing[key] = [float(f"{s:.5g}") for s in timing[key]]
        (folder / "result.json").write_text(json.dumps({"environment": env, **samples}) + "\n")
        (folder / "README.md").write_text("# `benchmarks/steps.sh`\n\n" + text + "\n")
    if page:
        old = page.read_text()
        begin, end = (old.index(marker) for marker in MARKERS)
        page.write_text(old[:begin] + MARKERS[0] + "\n" + text + "\n" + old[end:])
    return text
