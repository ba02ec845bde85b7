"""Tables of what was measured, and the table of benchmarks/results/gpu.md."""
import json, os

from . import peers
from .workloads import workloads

BEGIN, END = "<!-- benchmarks/gpu.py writes from here -->", "<!-- benchmarks/gpu.py writes to here -->"

COLUMNS = {"eager": "PyTorch", "cudnn": "cuDNN", "flash": "FlashAttention", "eager-graphs": "PyTorch in a graph",
           "compile": "torch.compile", "compile-graphs": "torch.compile in a graph", "autotune": "max-autotune",
           "autotune-graphs": "max-autotune in a graph"}


def columns_of(rows):
    """Peers that some row has, in the order of the list."""
    def has(row, name):
        return name in row or row.get(name + "_wrong") or row.get(name + "_failed")
    return [name for name in peers.ALL if any(has(row, name) for row in rows)]


def rate_of(row, record):
    if "kernels" in row:
        return f"{row['kernel_us']:.2f} us a kernel, {row['host_us']:.2f} us of the host a run"
    if any(kind in row["name"] for kind in ("gemm", "conv", "attention")):
        return f"{row['rate']:.0f} TFLOP/s"
    if any(kind in row["name"] for kind in ("linear", "gpt2")):
        return f"{row['rate']:.1f} TFLOP/s"
    return f"{row['rate']:.2f} TB/s, {row['rate'] * 1e6 / record['copy_bytes_per_us']:.2f} of copy"


def cell(row, name):
    """A peer's time, and by which factor zyx is the faster."""
    if row.get(name + "_failed"):
        return "failed: " + row[name + "_failed"].splitlines()[0][:60]
    if row.get(name + "_wrong"):
        return f"wrong: error {row[name + '_error']:.1e}"
    if name not in row:
        return ""
    if name + "_ratios" not in row:
        return f"{row[name]:.1f} ({row[name] / row['zyx']:.2f})"
    first, middle, third = row[name + "_ratios"]
    return f"{row[name]:.1f} ({middle:.2f}; {first:.2f} - {third:.2f})"


def cells_of(row, record):
    """What stands in front of the peers."""
    for key in ("refused", "failed"):
        if row.get(key):
            return [row["name"], f"{key}: {row[key].splitlines()[0][:80]}", "", "", ""]
    if row.get("wrong"):
        return [row["name"], f"wrong: error {row['error']:.1e}", "", "", ""]
    first, middle, third = row["zyx_quartiles"]
    return [row["name"], f"{middle:.1f} ({first:.1f} - {third:.1f})", rate_of(row, record), f"{row['error']:.1e}",
            f"{row['compile_s']:.2f}"]


def line(row, record, columns):
    return "| " + " | ".join(cells_of(row, record) + [cell(row, name) for name in columns]) + " |"


def spoken(row, record):
    """The same by itself, with the names of peers."""
    return " | ".join(cells_of(row, record) + [f"{name} {cell(row, name)}" for name in columns_of([row])])


def renamed(row, record):
    """A row of a record from before peers had names of their own."""
    if "peers" in record or "mode" not in record:
        return row
    compiled = "autotune" if (record["mode"] or "").startswith("max-autotune") else "compile"
    names = {"compile": compiled, "graph": "eager-graphs" if "kernels" in row else compiled + "-graphs"}
    return {"".join([names.get(base, base), *rest]): value
            for key, value in row.items() for base, *rest in [key.partition("_")]}


def update(paths):
    record, rows = {}, {}
    for path in paths:
        with open(path) as file:
            record = json.load(file)
        for row in record["rows"]:
            rows[row["name"]] = {"commit": record["commit"], **renamed(row, record)}
    # In the order of the list, and what is listed no more behind it.
    order = [name for name in workloads() if name in rows]
    record["rows"] = [rows[name] for name in order + [name for name in rows if name not in order]]
    record["peers"] = columns_of(record["rows"])
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folder = os.path.join(root, "benchmarks", "results", f"{record['date']}-h100-gpu")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "gpu.json"), "w") as file:
        json.dump(record, file, indent=1)
    write_section(os.path.join(root, "benchmarks", "results", "gpu.md"), record)


def write_section(page, record):
    columns = columns_of(record["rows"])
    commits = ", ".join(dict.fromkeys(row["commit"] for row in record["rows"]))
    section = "\n".join([
        BEGIN, f"{record['device']}, driver {record['driver'].split(',')[0]}; PyTorch {record['torch']}; "
        f"commit {commits}; {record['date']}. "
        f"A copy of 1 GiB moves {record['copy_bytes_per_us'] / 1e6:.2f} TB/s.", "",
        "| workload | zyx, us (quartiles) | rate | error | compile, s | "
        + " | ".join(COLUMNS[name] + ", us (ratio; quartiles)" for name in columns) + " |",
        "|---" * (5 + len(columns)) + "|", *(line(row, record, columns) for row in record["rows"]), END])
    with open(page) as file:
        text = file.read()
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    with open(page, "w") as file:
        file.write(text[:begin] + section + text[end:])
