#!/usr/bin/env python3
"""Keeps the IR examples of the docs true: programs from the graph to machine code.

  utils/ir-examples.py [--build FOLDER] [--update]

Compiles the program of each page for a target whose record is the same on every machine, stops after each phase,
and compares what is printed with the blocks of the page between `<!-- ir NAME -->` and `<!-- end -->`; --update
writes them. Of long programs a block shows the innermost loop with the most arithmetic, and the heads of the loops
around it. Exits with 1 if a block is stale.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- ir (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
LANGUAGES = {"assembly": "asm", "ptx": "asm"}


def run(*command, text=None):
    done = subprocess.run(list(map(str, command)), input=text, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def indent(line):
    return len(line) - len(line.lstrip())


def innermost(text, mark):
    """The lines of the loop with the most marks among its own, and the heads of all around it."""
    lines = text.rstrip().splitlines()
    best, most = None, 0
    for begin, line in enumerate(lines):
        if "scf.for" not in line or not line.endswith("{"):
            continue
        end = next(i for i in range(begin + 1, len(lines)) if indent(lines[i]) <= indent(line))
        inside = lines[begin + 1:end]
        count = sum(mark in each for each in inside)
        if count > most and not any("scf.for" in each for each in inside):
            best, most = (begin, end), count
    if best is None:
        sys.exit(f"no loop has {mark}")
    begin, end = best
    heads, depth = [], indent(lines[begin])
    for i in range(begin - 1, -1, -1):
        if indent(lines[i]) < depth and lines[i].endswith("{"):
            heads.insert(0, lines[i])
            depth = indent(lines[i])
    shown = []
    for head in heads:
        shown += [head, " " * (indent(head) + 2) + "..."]
    return "\n".join(shown + lines[begin:end + 1])


def hottest(assembly):
    """The basic block that jumps to its own beginning and has the most fused multiplications."""
    blocks, label = {}, ""
    for line in assembly.splitlines():
        found = re.match(r"(\.?L\w+):", line)
        if found:
            label = found.group(1)
        blocks.setdefault(label, []).append(re.sub(r"\s*#.*", "", line).rstrip())
    loops = [block for label, block in blocks.items()
             if label and any(re.search(rf"\sj\w+\s+{re.escape(label)}$", line) for line in block)]
    best = max(loops, key=lambda block: sum("fmadd" in line for line in block))
    own = best[0].split(":")[0]
    end = max(i for i, line in enumerate(best) if re.search(rf"\s{re.escape(own)}$", line))
    return "\n".join(line.expandtabs(8) for line in best[:end + 1] if line.strip())


def part(text, head):
    """The op of a module that begins so, with its region."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("  " + head))
    end = next(i for i in range(begin, len(lines)) if lines[i] == "  }")
    return "\n".join(line[2:] for line in lines[begin:end + 1])


def beginning(text, mark, count):
    """The first lines of the basic block with the most marks."""
    blocks = re.split(r"\n(?=\^)", part(text, "llvm.func"))
    block = max(blocks, key=lambda each: each.count(mark)).splitlines()
    return "\n".join(block[:count] + ["    ..."])


def loop(ptx):
    """The basic block of PTX that branches to its own beginning."""
    label = next(found for found in re.findall(r"^(\$\w+):", ptx, re.MULTILINE)
                 if re.search(rf"bra \t?{re.escape(found)};", ptx.split(found + ":")[1]))
    lines = ptx[ptx.index(label + ":"):].splitlines()
    end = next(i for i, line in enumerate(lines) if line.endswith(label + ";"))
    return "\n".join(line.expandtabs(8) for line in lines[:end + 1])


def stop(build, program, phase, *target):
    return run(build / "bin" / "zyx-compile", program, *target, f"--stop-after={phase}", "--quiet")


def matmul_on_cpu(build):
    """The blocks of docs/codegen-cpu.md."""
    program = ROOT / "examples" / "matmul.mlir"

    def after(phase):
        return stop(build, program, phase, "--isa=x86-64-v4")
    kernel = part(after("lowered"), "kernel.func")
    assembly = run(build / "bin" / "zyx-translate", "--kernel-to-asm", "--target=x86-64-v4",
                   text=kernel)
    return {"program": program.read_text(), "groups": part(after("groups"), "func.func"),
            "kernel": part(after("kernel"), "kernel.func"),
            "schedule": part(after("schedule"), "kernel.func"),
            "lowered": innermost(kernel, "math.fma"), "plan": part(after("plan"), "plan.func"),
            "target": beginning(after("target"), "llvm.intr.fma", 14), "assembly": hottest(assembly)}


def bias_relu_on_gpu(build):
    """The blocks of README.md."""
    program = ROOT / "examples" / "bias-relu.mlir"

    def after(phase):
        return stop(build, program, phase, "--target=sm_90a")
    schedule = re.search(r"#kernel\.schedule<.*>", part(after("schedule"), "kernel.func"))[0]
    return {"program": program.read_text(), "kernel": part(after("kernel"), "kernel.func"), "schedule": schedule,
            "lowered": part(after("lowered"), "kernel.func"), "ptx": loop(after("target"))}


PAGES = {"docs/codegen-cpu.md": matmul_on_cpu, "README.md": bias_relu_on_gpu}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    stale = 0
    for name, blocks in PAGES.items():
        page, texts = ROOT / name, blocks(options.build)
        old = page.read_text()

        def block(found):
            text = texts.pop(found.group(2)).strip("\n")
            return f"{found.group(1)}```{LANGUAGES.get(found.group(2), 'mlir')}\n{text}\n```\n{found.group(4)}"
        new = BLOCK.sub(block, old)
        for missing in texts:
            stale += 1
            print(f"{name}: has no block <!-- ir {missing} -->")
        if options.update:
            page.write_text(new)
        elif new != old:
            stale += 1
            print(f"{name}: an IR example is stale; run utils/ir-examples.py --build={options.build} --update")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
