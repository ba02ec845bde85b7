#!/usr/bin/env python3
"""Checks docs/inventory.md: what the Rust zyx has, what it is called here, and which test calls it.

  utils/check-inventory.py [--root FOLDER]

test/inventory.txt lists the functions of the Rust zyx and its bugs, a section and a name per line. Each has
exactly one row of the page's table of that section, whose columns are

  | name | name in C++ | test | where it differs, or why there is none |

with any number of names in backticks. `a{b,c}` stands for `ab` and `ac`; names without backticks are the
whole cell. A name in C++ is declared in include/zyx, and each test is a GoogleTest below test/unit whose
source calls it, or a function of that file which it calls does. A row may have neither, and gives the reason
then. Rows of bugs need a test. Prints what is wrong and exits with 1 if something is.
"""
import argparse
import collections
import itertools
import pathlib
import re
import sys

TEST = re.compile(r"^TEST(?:_P|_F)?\((\w+), (\w+)\) \{", re.MULTILINE)
FUNCTION = re.compile(r"^(?!TEST|class|struct|namespace)\w[\w:<>&,* ]*[ &*](\w+)\([^;{}]*\) \{", re.MULTILINE)


def expand(name):
    """`a{b,c}` as `ab` and `ac`."""
    parts = re.split(r"\{([^}]*)\}", name)
    choices = [part.split(",") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def names(cell):
    quoted = re.findall(r"`([^`]+)`", cell)
    return [name for each in quoted for name in expand(each)] if quoted else [cell]


def rows(page):
    """(line, section, cells) of each row of the page's tables."""
    section = None
    for number, line in enumerate(page.splitlines(), 1):
        if heading := re.match(r"## (\S+)", line):
            section = heading.group(1).lower().removesuffix("s")
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and not re.fullmatch(r"[-:]+", cells[0]) and cells[0] != "Rust":
            yield number, section, [cell.replace("\\|", "|") for cell in cells]


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def is_declared(name, headers):
    """Whether some header declares it; what comes before :: is a class, struct, enum or namespace there."""
    *scopes, last = name.split("::")
    if last.startswith("operator"):
        pattern = re.escape(last) + r"\("
    else:
        pattern = (rf"\b(?:class|struct|enum|enum class|using)\s+{re.escape(last)}\b(?!\s*\w)|\b{re.escape(last)}\s*\("
                   rf"|\b{re.escape(last)}\s*(?:=|;)")
    return any(re.search(pattern, text) and
               all(re.search(rf"\b(?:class|struct|enum|namespace)\s+(?:\w+::)*{re.escape(scope)}\b", text)
                   for scope in scopes)
               for text in headers if last in text)


def calls(name, body):
    last = name.split("::")[-1]
    if last.startswith("operator"):
        symbol = last.removeprefix("operator")
        return re.search(rf"(?<![-+*/%&|^<>=!~]){re.escape(symbol)}(?![-+*/%&|^<>=])", body) is not None
    return re.search(rf"\b{re.escape(last)}\b", body) is not None


def body(text, begin):
    """From behind an opening bracket at the level of the file to the one that closes it."""
    line = text[begin:text.find("\n", begin)]
    return line if line.endswith("}") else text[begin:text.find("\n}\n", begin)]


def tests(root):
    """The source of each GoogleTest by its name, with the functions of its file that it calls."""
    found = {}
    for path in sorted((root / "test" / "unit").rglob("*.cpp")):
        text = without_comments(path.read_text())
        helpers = {match.group(1): body(text, match.end()) for match in FUNCTION.finditer(text)}
        for match in TEST.finditer(text):
            source, left = body(text, match.end()), dict(helpers)
            while called := [name for name in left if re.search(rf"\b{name}\(", source)]:
                source += "\n".join(left.pop(name) for name in called)
            found[f"{match.group(1)}.{match.group(2)}"] = source
    return found


def check(root):
    expected = set()
    for line in (root / "test" / "inventory.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            expected.add(tuple(line.split(" ", 1)))
    headers = [without_comments(path.read_text()) for path in sorted((root / "include" / "zyx").rglob("*.h"))]
    sources = tests(root)
    seen = collections.Counter()
    missing = 0
    for number, section, (rust, cpp, test, remark) in rows((root / "docs" / "inventory.md").read_text()):
        def wrong(text, number=number):
            return f"docs/inventory.md:{number}: {text}"
        for name in names(rust):
            seen[section, name] += 1
            if (section, name) not in expected:
                yield wrong(f"'{section} {name}' is not in test/inventory.txt")
        if cpp == "-" and test == "-" and section != "bug":
            missing += len(names(rust))
            if not remark:
                yield wrong(f"{rust} has no name in C++ and no reason why")
            continue
        if test == "-" or (cpp == "-" and section != "bug"):
            yield wrong(f"{rust} has a name in C++ or a test, and not both")
            continue
        for name in names(test):
            if name not in sources:
                yield wrong(f"there is no test {name}")
        bodies = "\n".join(sources.get(name, "") for name in names(test))
        for name in names(cpp) if cpp != "-" else []:
            if not is_declared(name, headers):
                yield wrong(f"no header of include/zyx declares {name}")
            elif bodies and not calls(name, bodies):
                yield wrong(f"{test} does not call {name}")
    for name in sorted(expected):
        if seen[name] != 1:
            yield f"docs/inventory.md: '{' '.join(name)}' has {seen[name]} rows"
    print(f"check-inventory: {len(expected)} names, of which {missing} have a reason for their absence")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    failures = list(check(options.root))
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
