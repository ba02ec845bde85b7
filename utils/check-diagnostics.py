#!/usr/bin/env python3
"""Checks that every diagnostic of lib/ and tools/ occurs in a test.

  utils/check-diagnostics.py [--root FOLDER] [--list]

A diagnostic is the text of a call such as emitOpError("...") << x or Status::notFound("..." + x).
Its longest literal fragment must occur in a file of test/. Prints the file and line of each text
that does not, and exits with 1 if there is one. Match failures are notes to authors of patterns,
which this MLIR package compiles out, and are not looked at.
"""
import argparse
import pathlib
import re
import sys

# Calls whose text reaches a user.
CALLS = re.compile(
    r"\b(?:emit\w*Error|emitWarning|Status::\w+|Status\s*[({]\s*ErrorCode::\w+|ErrorCode::\w+\s*,"
    r"|\w*[eE]rror|\w*[fF]ail\w*|\w*[rR]efuse\w*|\w*[rR]eject\w*|\w*[mM]alformed\w*|\w*[cC]orrupt\w*"
    r"|invalid\w*|unsupported\w*|report\w*|usage|reason)\s*[({,]"
    r"|\bcase ErrorCode::\w+:\s*return\b"
    r"|\b(?:reason|\w*[eE]rror|message|\w*[wW]hy)\s*\+?=(?!=)"
    r"|\breturn\s+(?=\"[^\"]{8,}\"\s*[;+])")
SKIP = re.compile(r"^(?:notifyMatchFailure|failure|failed|static_assert)\b")
SHORTEST = 8


def blank_comments(text):
    """The text with comments replaced by spaces, so that offsets stay."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return pattern.sub(lambda m: m.group() if m.group()[0] in "\"'" else
                       re.sub(r"[^\n]", " ", m.group()), text)


def unescape(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text)


def statement_end(text, begin):
    """The end of the statement or argument that a call at `begin` belongs to."""
    depth, at = 0, begin
    while at < len(text):
        c = text[at]
        if c == '"':
            at = re.compile(r'"(?:\\.|[^"\\\n])*"?').match(text, at).end()
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth < 0:
                return at
        elif c == ";" and depth <= 0:
            return at
        elif c == ":" and depth == 0 and text[at - 1] == " " and text[at + 1] == " ":
            return at
        at += 1
    return at


def is_definition(text, begin):
    """Whether the bracket at `begin` opens the parameters of a function with a body."""
    if text[begin] != "(":
        return False
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return re.match(r"\s*(?:const\s*)?(?:noexcept\s*)?\{", text[at + 1:at + 40]) is not None
    return False


def fragments(code):
    """The literal pieces of a statement: neighbours joined, format placeholders cut out."""
    joined = re.sub(r'(?<!\\)"\s+"', "", code)
    for literal in re.findall(r'"((?:\\.|[^"\\\n])*)"', joined):
        yield from re.split(r"\{\d*\}|%[-+0-9.#]*(?:l|ll|z|h)?[a-zA-Z]|\n", unescape(literal))


def diagnostics(text):
    """(offset, longest fragment) of each diagnostic of a C++ source."""
    text = blank_comments(text)
    covered = -1
    for call in CALLS.finditer(text):
        if call.start() < covered or SKIP.match(call.group()):
            continue
        line = text[text.rfind("\n", 0, call.start()) + 1:call.start()]
        if "static_assert" in line or line.lstrip().startswith("#"):
            continue
        # From the bracket on: a call's own arguments count, then what is streamed into it.
        begin = call.end() - 1 if text[call.end() - 1] in "({" else call.end()
        if is_definition(text, begin):
            continue
        end = statement_end(text, begin)
        pieces = [p.strip(" :;,.'\"()") for p in fragments(text[begin:end])]
        best = max(pieces, key=len, default="")
        if len(best) >= SHORTEST and re.search(r"[A-Za-z]{3}", best):
            covered = end
            yield call.start(), best


def normalise(text):
    return re.sub(r"\s+", " ", text)


def corpus(root):
    """Everything that tests say, with C++ literals unescaped and joined."""
    texts = []
    for path in sorted((root / "test").rglob("*")):
        if not path.is_file() or path.suffix in {".npy", ".safetensors", ".bin", ".pyc"}:
            continue
        text = path.read_text(errors="replace")
        texts.append(text)
        texts.append(unescape(re.sub(r'(?<!\\)"\s*"', "", text)))
    return normalise("\n".join(texts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--list", action="store_true", help="print every diagnostic found")
    options = parser.parse_args()
    tested, total, missing = corpus(options.root), 0, 0
    for top in ("lib", "tools"):
        for path in sorted((options.root / top).rglob("*")):
            if path.suffix not in {".cpp", ".h", ".c"}:
                continue
            text = path.read_text(errors="replace")
            for offset, fragment in diagnostics(text):
                total += 1
                where = f"{path.relative_to(options.root)}:{text.count(chr(10), 0, offset) + 1}"
                if options.list:
                    print(f"{where}: {fragment}")
                if normalise(fragment) not in tested:
                    missing += 1
                    print(f"{where}: no test has: {fragment}")
    print(f"check-diagnostics: {total} texts, {missing} without a test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
