"""How long kernels and programs have to take at least (docs/finder.md), and what is far from it.

A program is a dict as zyx-smith --print=json writes it; a kernel one as zyx-bench-kernels does. Times are in seconds.
"""
import math

# What a launch takes.
LAUNCH = 3e-6
# What a trip takes of a kernel that runs all trips of a recurrent loop: multiprocessors send each other what is carried, and
# the next trip waits for it.
TRIP = 0.4e-6
# Kernels of which a launch takes more are held to a bound each; the others of a program together.
SMALL = 20e-6
WITHIN = {"kernel": 5, "kernel_at_most": 15, "small": 3, "program": 15}
# Operations per second of dense products, by the name that a card begins with; f32 is computed without tensor cores.
CARDS = {"NVIDIA H200": {"f32": 67e12, "f16": 989e12, "bf16": 989e12},
         "NVIDIA H100": {"f32": 67e12, "f16": 989e12, "bf16": 989e12},
         "NVIDIA A100": {"f32": 19.5e12, "f16": 312e12, "bf16": 312e12}}


def sort_passes(length):
    """Over the bytes of what is sorted."""
    return max(1.0, math.log2(length) / 4) if length > 1 else 1.0


def program_bytes(program):
    """Inputs as far as they have to be read, and outputs as far as they have to be written."""
    return sum(each["bytes"] for side in ("inputs", "outputs") for each in program[side])


def rate_of(rates, program):
    """Of products in the dtype that they have. Records before "products" was written have the program's."""
    return rates["flops"].get(program.get("products", program["dtype"]), rates["flops"]["f32"])


def program_roofline(program, rates):
    moved = program_bytes(program) / rates["copy"]
    if program["sorted"]:
        moved *= sort_passes(program["sorted"])
    return max(moved, program["flops"] / rate_of(rates, program), LAUNCH * program["trips"])


def is_sort(kernel, program):
    return bool(program["sorted"]) and "sort" in kernel["name"]


def kernel_roofline(kernel, program, rates, sorts=1):
    """Of all its passes; None where data says how many there are. The compiler counts what a kernel does, and one that
    computes something twice must not have twice the time for it: no kernel has more products than the program. Kernels that
    sort together, so many as `sorts`, have the passes of one sort together."""
    passes = kernel["passes"]
    if passes == 0:
        return None
    moved = kernel["bytes"] / rates["copy"]
    # Nor has memory that a sort needs for itself: of it the bytes of inputs and results count.
    if is_sort(kernel, program):
        passes_of_sort = max(1.0, sort_passes(program["sorted"]) / sorts)
        moved = min(moved, program_bytes(program) / rates["copy"]) * passes_of_sort
    flops = min(kernel["flops"], program["flops"])
    trips = TRIP * program["trips"] * passes if "recurrent" in kernel["name"] else 0
    return max(moved, flops / rate_of(rates, program), LAUNCH * passes, trips)


def judge(program, kernels, seconds, rates):
    """What a record says of times: the roofline of the program and of each kernel, and the ratios to them. `seconds` are
    those of a run of the whole program."""
    roofline = program_roofline(program, rates)
    large, small = [], {"seconds": 0.0, "roofline": 0.0, "launches": 0}
    sorts = sum(is_sort(kernel, program) for kernel in kernels)
    for kernel in kernels:
        took, least = kernel["ns"] * 1e-9, kernel_roofline(kernel, program, rates, max(sorts, 1))
        if least is None or took == 0:
            continue
        if took / kernel["passes"] > SMALL:
            large.append({"name": kernel["name"], "seconds": took, "roofline": least, "ratio": took / least,
                          "passes": kernel["passes"]})
        else:
            small["seconds"] += took
            small["launches"] += kernel["passes"]
            small["roofline"] += least
    # The roofline of a small kernel has its launch in it.
    allowed = small["launches"] * LAUNCH + small["roofline"]
    small["ratio"] = small["seconds"] / allowed if allowed else 0.0
    return {"roofline": roofline, "ratio": seconds / roofline, "large": sorted(large, key=lambda k: -k["ratio"]),
            "small": small}


# How far results may be off: of all elements together, and of each beside the typical one.
BOUNDS = {"bf16": (2e-2, 0.15), "f16": (4e-3, 0.03), "f32": (1e-4, 2e-3)}


def worse_of(error, other):
    """The larger of two errors, part by part. One that is broken says nothing of the sizes."""
    if other["broken"]:
        return error
    return other if error["broken"] else {name: max(error[name], other[name]) for name in error}


def is_wrong(program, error, peer_error=None):
    """Whether an error, as peers.error_of measures it, is larger than the program's dtype explains. What PyTorch is off in
    the same dtype excuses four times as much."""
    if error["broken"]:
        return True
    has_peer = bool(peer_error) and not peer_error["broken"]
    # Of nearly equal numbers PyTorch chooses others, too, where the dtype rounds them: as many are excused.
    differing = max(program["may_differ"], peer_error["differing"]) if has_peer and program["may_differ"] else program["may_differ"]
    if error["differing"] > differing:
        return True
    bounds = list(BOUNDS[program["dtype"]])
    if has_peer:
        bounds = [max(bounds[0], 4 * peer_error["all"]), max(bounds[1], 4 * peer_error["each"])]
    if program["may_differ"]:
        return error["far"] > program["may_differ"]
    return not (error["all"] <= bounds[0] and error["each"] <= bounds[1])
