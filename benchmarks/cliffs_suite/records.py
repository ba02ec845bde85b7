"""Records of shards: reading, merging, and the table of what they say. See docs/finder.md."""
import json, math, os

from . import rooflines

# What shards that belong together have in common.
SAME = ("commit", "like", "seed", "scale", "device", "threads")
# Of records that are older than the key.
BEFORE = {"like": "models"}


class Mismatch(Exception):
    pass


def read(path):
    with open(path) as file:
        return json.load(file)


def write(record, path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".new", "w") as file:
        json.dump(record, file, indent=1)
    os.replace(path + ".new", path)


def merge(records, any_commit=False):
    """One record of all; of a program that several have, the last one's."""
    if not records:
        raise Mismatch("there are no records")
    head = dict(records[0]["head"])
    programs = {}
    for record in records:
        for key in SAME:
            one, other = (each.get(key, BEFORE.get(key)) for each in (head, record["head"]))
            if one != other and not (any_commit and key == "commit"):
                raise Mismatch(f"{key} is {one!r} in one record, and {other!r} in another")
        for program in record["programs"]:
            programs[program["index"]] = program
    head.pop("shard", None)
    return {"head": head, "programs": [programs[index] for index in sorted(programs)]}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def failure_of(program):
    """Why a program has no result that counts, or none."""
    for key in ("refused", "failed"):
        if program.get(key):
            return f"{key}: {program[key]}"
    return "wrong" if program.get("wrong") else None


def best_peer(program):
    times = {name: peer["seconds"] for name, peer in program.get("peers", {}).items() if peer.get("seconds")}
    return min(times.items(), key=lambda item: item[1]) if times else None


def peer_ratio(program):
    """The best peer's time to ours."""
    best = best_peer(program)
    return best[1] / program["seconds"] if best and program.get("seconds") else None


def title(program):
    sizes = " ".join(f"{name}={value}" for name, value in program["sizes"])
    return f"{program['index']:4} {program['family']}.{program['variant']}{'.gradients' if program['gradients'] else ''} " \
           f"{program['dtype']} {sizes}"


def summary(record):
    """The figures by name."""
    programs = record["programs"]
    timed = [each for each in programs if each.get("seconds")]
    kernels = [(each, kernel) for each in timed for kernel in each["judged"]["large"]]
    ratios = [ratio for each in timed if (ratio := peer_ratio(each))]
    count = lambda within: sum(kernel["ratio"] <= within for _, kernel in kernels)
    families = {}
    for each in programs:
        families[each["family"]] = families.get(each["family"], 0) + 1
    return {
        "programs": len(programs), "timed": len(timed), "over_1_ms": sum(each["seconds"] > 1e-3 for each in timed),
        "failures": sum(failure_of(each) is not None for each in programs),
        "wrong": sum(bool(each.get("wrong")) for each in programs),
        "least_family": min(families.values()) / len(programs) if programs else None,
        "kernels": len(kernels), "within_5": count(rooflines.WITHIN["kernel"]), "within_8": count(8),
        "within_15": count(rooflines.WITHIN["kernel_at_most"]),
        "worst_kernel": max((kernel["ratio"] for _, kernel in kernels), default=None),
        "small_over_3": sum(each["judged"]["small"]["ratio"] > rooflines.WITHIN["small"] for each in timed),
        "programs_over_15": sum(each["judged"]["ratio"] > rooflines.WITHIN["program"] for each in timed),
        "compared": len(ratios), "peer_mean": geometric_mean(ratios), "peer_worst": min(ratios, default=None),
    }


def said(value):
    return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def seconds(value):
    return f"{value * 1e3:.3f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} us"


def table(record, worst=20):
    """For people: the figures, then what is farthest from its roofline and from the best peer."""
    head, programs = record["head"], record["programs"]
    lines = [f"{head['device']}, {head['scale']} sizes, seed {head['seed']} of commit {head['commit']}; "
             f"copy {head['rates']['copy'] / 1e9:.0f} GB/s, f32 {head['rates']['flops']['f32'] / 1e9:.0f} GFLOP/s"]
    lines += [f"  {name:17} {said(value)}" for name, value in summary(record).items()]
    failures = [each for each in programs if failure_of(each)]
    if failures:
        lines += ["", "Failures:"] + [f"  {title(each)}: {failure_of(each)}" for each in failures]
    timed = [each for each in programs if each.get("seconds")]
    kernels = sorted(((kernel, each) for each in timed for kernel in each["judged"]["large"]),
                     key=lambda pair: -pair[0]["ratio"])
    lines += ["", "Kernels by the ratio to their rooflines:"]
    lines += [f"  {kernel['ratio']:8.1f}  {seconds(kernel['seconds']):>12}  {kernel['name']} of {title(each)}"
              for kernel, each in kernels[:worst]]
    lines += ["", "Programs by the ratio to their rooflines:"]
    lines += [f"  {each['judged']['ratio']:8.1f}  {seconds(each['seconds']):>12}  {title(each)}"
              for each in sorted(timed, key=lambda each: -each["judged"]["ratio"])[:worst]]
    compared = sorted((each for each in timed if peer_ratio(each)), key=peer_ratio)
    lines += ["", "Programs by the best peer's time to ours:"]
    lines += [f"  {peer_ratio(each):8.3f}  {seconds(each['seconds']):>12}  {best_peer(each)[0]:14} {title(each)}"
              for each in compared[:worst]]
    return "\n".join(lines)
