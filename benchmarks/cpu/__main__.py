"""benchmarks/cpu.sh runs this in its virtual environment."""
import argparse
import pathlib
import re
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import driver  # noqa: E402
import overheads  # noqa: E402
import report  # noqa: E402
import workloads  # noqa: E402


def variants(name, kind):
    """The ways in which a contender does a kind of workload: its default first, then what its
    documentation advises."""
    if name == "triad":
        return ["plain", "streaming"]
    if name == "oneDNN" and kind == "gemm":
        return ["", "sgemm"]
    if name in ("OpenBLAS", "BLIS") and kind == "gemm":
        return ["", "gemv"]
    if name == "PyTorch":
        return {"gemm": ["eager"], "conv": ["eager", "channels_last", "compile"]}.get(
            kind, ["eager", "compile"])
    return [""]


def commands(options):
    bench, python = str(options.bench), sys.executable
    found = {"zyx": [bench, "zyx", "{threads}"], "triad": [bench, "triad", "{threads}"],
             "oneDNN": [bench, "onednn", "{threads}"],
             "BLIS": [bench, "blas", "{threads}", "libblis.so.4"]}
    try:
        import scipy_openblas32
        library = pathlib.Path(scipy_openblas32.get_lib_dir()) / "libscipy_openblas.so"
        found["OpenBLAS"] = [bench, "blas", "{threads}", str(library), "scipy_"]
    except ImportError:
        found["OpenBLAS"] = [bench, "blas", "{threads}", "libopenblas.so.0"]
    for name, module in (("PyTorch", "torch"), ("ONNX Runtime", "onnxruntime"), ("JAX", "jax"),
                         ("IREE", "iree")):
        script = HERE / f"peer_{module}.py"
        if script.exists():
            found[name] = [python, str(script), "{threads}"]
    if options.peers is not None:
        found = {name: command for name, command in found.items()
                 if name in ("zyx", "triad") or name in options.peers}
    return found


def takes_part(name, kind):
    return (kind == "memory") == (name == "triad") or name == "zyx"


def main():
    parser = argparse.ArgumentParser(prog="benchmarks/cpu.sh")
    parser.add_argument("--bench", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=pathlib.Path, help="folder of the json and the table")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", metavar="TEXT[,TEXT]",
                        help="workloads whose name or figure contains one of the texts; overheads are "
                        "compile times and the like")
    parser.add_argument("--peers", type=lambda text: text.split(",") if text else [],
                        help="only these, comma separated; empty for zyx alone")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=3, help="for each workload")
    parser.add_argument("--sample", type=float, default=0.004, help="seconds of one sample")
    parser.add_argument("--hold", metavar="COMMAND",
                        help="for a machine that others use: this is run while the contenders of a "
                        "number of threads are timed; it prints a line when they may begin, and ends "
                        "with its standard input")
    parser.add_argument("--quick", action="store_true", help="a fifth of the time")
    parser.add_argument("--list", action="store_true", help="print the workloads and stop")
    parser.add_argument("--write-programs", type=pathlib.Path, metavar="FOLDER",
                        help="write zyx's programs and stop")
    options = parser.parse_args()
    wanted = [text for text in options.only.split(",") if text]
    chosen = [w for w in workloads.all_workloads()
              if not wanted or any(text in w.name or text in w.figure for text in wanted)]
    if options.list:
        for workload in chosen:
            print(f"{workload.name:32} {workload.figure}")
        return 0
    if options.write_programs:
        options.write_programs.mkdir(parents=True, exist_ok=True)
        for workload in chosen:
            path = options.write_programs / (re.sub(r"[^\w.-]", "-", workload.name) + ".mlir")
            path.write_text(workload.program())
        return 0
    with_overheads = not wanted or "overheads" in wanted
    if not chosen and not with_overheads:
        parser.error(f"no workload contains {options.only!r}; see --list")
    seconds = options.seconds / 5 if options.quick else options.seconds
    options.work.mkdir(parents=True, exist_ok=True)
    notes = []

    def log(text):
        print(text, file=sys.stderr, flush=True)
        notes.append(text)

    environment = report.environment()
    samples = {"versions": {}, "runs": {}, "overheads": None, "notes": notes}
    failed = False

    def measure_overheads():
        if with_overheads and not samples["overheads"]:
            samples["overheads"] = overheads.measure(str(options.bench), options.work,
                                                     3 if options.quick else 7)

    if not chosen:
        with driver.held(options.hold):
            measure_overheads()
    for threads in map(int, options.threads.split(",")) if chosen else []:
        contenders = driver.Contenders(
            commands(options),
            lambda name, kind: variants(name, kind) if takes_part(name, kind) else [],
            threads, options.work, log)
        samples["versions"].update(contenders.versions)
        runs = samples["runs"][str(threads)] = []
        try:
            for workload in chosen:
                print(f"{threads}T {workload.name}", file=sys.stderr, flush=True)
                if result := contenders.prepare(workload, options.sample):
                    runs.append(result)
            failed |= len(runs) != len(chosen)
            with driver.held(options.hold):
                for result in runs:
                    contenders.measure(result, seconds, options.sample)
                    print(report.line(result, threads), file=sys.stderr, flush=True)
                measure_overheads()
        finally:
            contenders.close()
    samples["numpy"] = numpy.__version__
    text = report.write(samples, environment, options.results, options.update)
    print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
