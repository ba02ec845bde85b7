#!/usr/bin/env python3
"""Keeps the step-by-step example of docs/codegen-cpu.md true: one matrix product from graph to assembly.

  utils/cpu-walk.py [--build FOLDER] [--update]

Compiles examples/matmul.mlir for x86-64-v4, whose record is the same on every machine, stops after each
phase, and compares what is printed with the blocks of the page between `<!-- walk PHASE -->` and
`<!-- end -->`; --update writes them. Of long programs a block shows the innermost loop that multiplies
and adds, and the heads of what it stands in. Exits with 1 if a block is stale.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "examples" / "matmul.mlir"
BLOCK = re.compile(r"(<!-- walk (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


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


def walk(build):
    """The text of each block."""
    def after(phase):
        return run(build / "bin" / "zyx-compile", PROGRAM, "--isa=x86-64-v4", f"--stop-after={phase}",
                   "--quiet")
    lowered = after("lowered")
    kernel = part(lowered, "kernel.func")
    assembly = run(build / "bin" / "zyx-translate", "--kernel-to-asm", "--target=x86-64-v4",
                   text=kernel)
    return {"program": PROGRAM.read_text(), "groups": part(after("groups"), "func.func"),
            "kernel": part(after("kernel"), "kernel.func"),
            "schedule": part(after("schedule"), "kernel.func"),
            "lowered": innermost(kernel, "math.fma"), "plan": part(after("plan"), "plan.func"),
            "target": beginning(after("target"), "llvm.intr.fma", 14), "assembly": hottest(assembly)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs" / "codegen-cpu.md")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    old, texts = options.page.read_text(), walk(options.build)

    def block(found):
        language = "asm" if found.group(2) == "assembly" else "mlir"
        text = texts.pop(found.group(2)).strip("\n")
        return f"{found.group(1)}```{language}\n{text}\n```\n{found.group(4)}"
    new = BLOCK.sub(block, old)
    if options.update:
        options.page.write_text(new)
    elif new != old:
        print(f"{options.page}: the walk is stale; run utils/cpu-walk.py --build={options.build} "
              "--update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
