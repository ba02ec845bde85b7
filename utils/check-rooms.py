#!/usr/bin/env python3
"""Checks that each room includes and links only the rooms that utils/rooms.json allows it.

  utils/check-rooms.py [--root FOLDER]

Reads the #include lines of lib/ and include/, and the library names of lib/*/CMakeLists.txt.
Prints one line per violation, such as
  lib/Runtime/Pool.cpp: Runtime may not use Dialect/Graph
and exits with 1 if there is one.
"""
import argparse
import fnmatch
import json
import pathlib
import re
import sys

SOURCES = {".cpp", ".c", ".h", ".td", ".inc"}


class Table:
    def __init__(self, text):
        table = json.loads(text)
        self.rooms, self.headers, self.libraries = (
            table[key] for key in ("rooms", "headers", "libraries"))

    def room_of(self, folder):
        """The row for a folder below lib/ or include/zyx/: the longest prefix with a row. A folder
        that only a starred row covers is a room of its own, so that Target/X is not Target/Y."""
        parts = folder.split("/")
        for length in range(len(parts), 0, -1):
            name = "/".join(parts[:length])
            if self.row(name) is not None:
                return name
        return None

    def row(self, room):
        if room in self.rooms:
            return self.rooms[room]
        for pattern, row in self.rooms.items():
            if "*" in pattern and fnmatch.fnmatch(room, pattern) and \
                    room.count("/") == pattern.count("/"):
                return row
        return None

    def allows(self, room, used):
        return used == room or any(fnmatch.fnmatch(used, may) for may in self.row(room))

    def match(self, kind, name):
        """The pseudo-room of a foreign header or library, None for the system's."""
        for room, patterns in getattr(self, kind).items():
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                return room
        return None


def folder_of(path):
    """The folder below lib/ or include/zyx/ of a file; 'C' is include/zyx-c/."""
    parts = path.parts
    if parts[0] == "lib":
        return "/".join(parts[1:-1])
    if parts[:2] == ("include", "zyx"):
        # A header outside of the rooms gathers theirs, and has a row of its own.
        return "/".join(parts[2:-1]) or parts[-1]
    return "C"


def includes(text):
    return re.findall(r'^\s*#?\s*include\s*[<"]([^>"]+)[>"]', text, re.MULTILINE)


def cmake_commands(text):
    text = re.sub(r"#.*", "", text)
    for name, body in re.findall(r"(\w+)\s*\(([^()]*)\)", text):
        yield name, body.split()


def check(root):
    table = Table((root / "utils" / "rooms.json").read_text())
    errors, known = set(), 0
    files = sorted(p.relative_to(root) for top in ("lib", "include") for p in (root / top).rglob("*")
                   if p.is_file())

    library_rooms = {}
    for path in files:
        if path.name == "CMakeLists.txt":
            for name, words in cmake_commands((root / path).read_text()):
                if re.fullmatch(r"add_(zyx_|mlir_)?(mlir_)?library", name) and words:
                    library_rooms[words[0]] = table.room_of(folder_of(path))

    def use(path, room, used):
        if used is not None and not table.allows(room, used):
            errors.add(f"{path}: {room} may not use {used}")

    for path in files:
        folder = folder_of(path)
        if path.name == "CMakeLists.txt" and path.parts[0] == "lib" and folder:
            room = table.room_of(folder)
            if room is None:
                continue
            for name, words in cmake_commands((root / path).read_text()):
                if not re.search("librar", name):
                    continue
                if name in ("add_zyx_mlir_library", "add_mlir_library"):
                    use(path, room, "MLIR")
                for word in words[1:]:
                    use(path, room, library_rooms.get(word) or table.match("libraries", word))
        if path.suffix not in SOURCES:
            continue
        room = table.room_of(folder) if folder else None
        if room is None:
            errors.add(f"{path}: {folder or path.parts[0]} is no room of utils/rooms.json")
            continue
        known += 1
        for header in includes((root / path).read_text(errors="replace")):
            if header.startswith("zyx/"):
                used = table.room_of("/".join(header.split("/")[1:-1])) or header
            else:
                used = table.match("headers", header)
            use(path, room, used)
    return sorted(errors), known


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    errors, known = check(parser.parse_args().root)
    for error in errors:
        print(error)
    print(f"check-rooms: {known} files, {len(errors)} violations")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
