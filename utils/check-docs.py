#!/usr/bin/env python3
"""Checks that docs/ tells the truth about the tree.

  utils/check-docs.py [--build FOLDER] [--update] [--root FOLDER]

- Each page that TableGen writes (target zyx-docs, in FOLDER/docs) is the one in docs/generated;
  --update copies them there instead.
- Relative links of every .md file lead to a file, and to a heading of it.
- docs/generated/conformance.md has a row for each op and kind on each device, and a case in it.
- The table of docs/pipeline.md has, in their order, the passes that zyx-opt (in FOLDER/bin) runs for any target.
- The words of docs/glossary.md are in the tree.
- Files that a page names between backquotes, or calls in a shell example, exist.
Exits with 1 if something is wrong.
"""
import argparse
import functools
import pathlib
import re
import shutil
import subprocess
import sys

import conformance

# Pages of docs/generated that scripts write, not TableGen: utils/conformance.py and utils/math-table.py.
OF_SCRIPTS = {"conformance.md", "math.md"}
TOP_FOLDERS = "benchmarks|cmake|docs|examples|include|lib|python|test|tools|utils"
NAMED = re.compile(rf"(?:{TOP_FOLDERS})/[\w./*-]*")


def check_generated(root, build, update):
    source, target = build / "docs", root / "docs" / "generated"
    fresh = {p.name: p for p in source.glob("*.md")}
    old = {p.name: p for p in target.glob("*.md") if p.name not in OF_SCRIPTS}
    if update:
        target.mkdir(parents=True, exist_ok=True)
        for name, page in fresh.items():
            shutil.copyfile(page, target / name)
        for name in old.keys() - fresh.keys():
            old[name].unlink()
        return
    if not fresh:
        yield f"{source}: no generated pages; build the target zyx-docs first"
    for name, page in sorted(fresh.items()):
        if name not in old:
            yield f"docs/generated/{name}: missing; run utils/check-docs.py --update"
        elif old[name].read_bytes() != page.read_bytes():
            yield f"docs/generated/{name}: stale; run utils/check-docs.py --update"
    for name in sorted(old.keys() - fresh.keys()):
        yield f"docs/generated/{name}: nothing writes it any more"


def pages(root):
    for path in sorted(root.rglob("*.md")):
        parts = path.relative_to(root).parts
        if parts[0] not in {"build", ".git"} and parts[:2] != ("docs", "generated"):
            yield path


def without_fences(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


@functools.cache
def headings(page):
    """The anchors of a page, as GitHub makes them."""
    lines = re.findall(r"^#+ (.*)$", without_fences(page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line.strip().lower()).replace(" ", "-") for line in lines}


def check_page(root, page):
    name, text = page.relative_to(root), page.read_text()
    prose = without_fences(text)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{name}: the link {link} leads nowhere"
        elif anchor and target.suffix == ".md" and anchor not in headings(target):
            yield f"{name}: the link {link} leads to no heading"
    named = [(quoted, quoted) for quoted in re.findall(r"`([^`\n]+)`", prose)]
    for fence in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        named += [(word, line) for line in fence.splitlines() for word in line.split()]
    for word, context in named:
        word = word.split()[0] if word.strip() else word
        if not NAMED.fullmatch(word):
            continue
        if not any(root.glob(word.rstrip("/"))):
            yield f"{name}: {word} does not exist (in: {context})"


def check_glossary(root):
    page = root / "docs" / "glossary.md"
    if not page.exists():
        return
    files = [path for folder in ("include", "lib", "test", "docs") for path in (root / folder).rglob("*")
             if path.suffix in {".h", ".cpp", ".td", ".md"} and path != page]
    text = "\n".join(path.read_text(errors="replace") for path in files)
    for cell in re.findall(r"^\| (`[^|]*) \|", page.read_text(), re.MULTILINE):
        for word in re.findall(r"`([^`]+)`", cell):
            if not re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE):
                yield f"docs/glossary.md: '{word}' is nowhere in the tree any more; delete its row"


# Records that together have all facts by which passes are chosen: processors, text, cards without and with tensor cores, SPIR-V, WGSL.
PIPELINE_TARGETS = ("cpu", "c", "cuda", "sm_75", "sm_80", "sm_90a", "vulkan", "webgpu")


def passes_of(opt, target, phase):
    """The flags of the passes up to a phase, as MLIR's pass manager prints them: `unknown<...>` for one without."""
    ran = subprocess.run([opt, "/dev/null", f"--zyx-compile=target={target} stop-after={phase}", "--dump-pass-pipeline",
                          "-o", "/dev/null"], capture_output=True, text=True, check=True)
    lines = [line.strip() for line in ran.stderr.splitlines() if line.startswith(" ")]
    return [re.match(r"[^{,]*", line)[0] for line in lines if not line.endswith("(") and not line.startswith(")")]


def is_part(part, whole):
    rest = iter(whole)
    return all(flag in rest for flag in part)


def check_pipeline(root, build):
    page, opt = root / "docs" / "pipeline.md", build / "bin" / "zyx-opt"
    if not page.exists() or not opt.exists():
        return
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", page.read_text(), re.MULTILINE)
    done = dict.fromkeys(PIPELINE_TARGETS, 0)
    for phase, cell in rows:
        listed, ran = re.findall(r"`-([\w-]+)`", cell), set()
        for target in PIPELINE_TARGETS:
            flags = passes_of(opt, target, phase)
            own, done[target] = flags[done[target]:], len(flags)
            ran.update(own)
            if not is_part(own, listed):
                yield f"docs/pipeline.md: phase {phase} runs {', '.join(own)} for {target}; the table has {', '.join(listed)}"
        for flag in listed:
            if flag not in ran:
                yield f"docs/pipeline.md: phase {phase} runs -{flag} for no target"
    last = passes_of(opt, "cpu", "target")
    if done["cpu"] != len(last):
        yield f"docs/pipeline.md: the table ends before {', '.join(last[done['cpu']:])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--build", type=pathlib.Path,
                        help="the build folder; without it, generated pages are not compared")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    errors = []
    if options.update and not options.build:
        parser.error("--update needs --build")
    if options.build:
        errors += check_generated(options.root, options.build, options.update)
        errors += check_pipeline(options.root, options.build)
    count = 0
    for page in pages(options.root):
        count += 1
        errors += check_page(options.root, page)
    errors += check_glossary(options.root)
    errors += conformance.page_errors(options.root)
    for error in errors:
        print(error)
    print(f"check-docs: {count} pages, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
