#!/usr/bin/env python3
# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile files: .npy, .npz, .safetensors, .gguf, .zyxa, config.json and entries of the cache with headers that lie,
sparse giants, cut and damaged bytes, and what is no file at all. Each is refused with a reason or read right."""
import functools
import json
import os
import random
import re
import struct
import subprocess
import tempfile
import threading
import zipfile

import hostile
from hostile import Case, require

PROGRAM = """func.func @double(%x: tensor<2x3xf32> {graph.name = "x"}) -> (tensor<2x3xf32> {graph.name = "y"}) {
  %y = graph.binary add %x, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
FLOATS = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
DOUBLED = "[[ 2.  4.  6.]\n [ 8. 10. 12.]]"
GIANT = 100 << 30
LOCK = threading.Lock()


def judge(outcome, expect="either", says=None):
    """As hostile.fault; but damage of a file is a reason to refuse it, not a loss of the program's own."""
    outcome.stderr = outcome.stderr.replace("data corruption", "damage")
    wrong = hostile.fault(outcome, expect)
    require(wrong is None, f"{wrong}: {outcome}")
    require(hostile.is_said(outcome, says), f"does not say '{says}': {outcome}")


@functools.cache
def artifact(build):
    """The program compiled, so that a case need not open the compiler."""
    with tempfile.TemporaryDirectory() as folder:
        bench = hostile.Bench(build, folder)
        source = os.path.join(folder, "double.mlir")
        with open(source, "w") as file:
            file.write(PROGRAM)
        judge(bench.run("zyx-compile", source, seconds=120), "run")
        with open(os.path.join(folder, "double.zyxa"), "rb") as file:
            return file.read()


def program(bench):
    path = bench.folder / "program.zyxa"
    with LOCK:
        data = artifact(bench.build)
    path.write_bytes(data)
    return path


def place(bench, name, data, size=None):
    """A file of these bytes, which go on with zeros on no disk up to `size`."""
    path = bench.folder / name
    path.write_bytes(data)
    if size is not None:
        os.truncate(path, size)
    return path


def case_of_inputs(suffix, files):
    """Files for the input x. `files`: name -> (bytes, expectation) or (bytes, expectation, size)."""

    def check(bench):
        run = program(bench)
        for name, (data, expect, *size) in files().items():
            path = place(bench, name + suffix, data, *size)
            outcome = bench.run("zyx-run", run, f"--input=x={path}", "--print")
            judge(outcome, expect)
            if outcome.code == 0:
                require(DOUBLED in outcome.stdout.decode(), f"{name}: other numbers: {outcome.stdout}")
            else:
                require(path.name.split(":")[0] in outcome.stderr, f"{name}: the file is not named: {outcome}")
            path.unlink()
        return len(files())

    return check


# .npy

def npy(header, data=FLOATS, version=(1, 0), length=None):
    header = header.encode("latin-1") if isinstance(header, str) else header
    prefix = 10 if version[0] == 1 else 12
    header += b" " * (-(prefix + len(header) + 1) % 64) + b"\n"
    size = len(header) if length is None else length
    return (b"\x93NUMPY" + bytes(version) +
            (struct.pack("<H", size & 0xffff) if version[0] == 1 else struct.pack("<I", size)) + header + data)


def npy_header(descr="'<f4'", fortran="False", shape="(2, 3)"):
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


def npy_right():
    columns = struct.pack("<6f", 1, 4, 2, 5, 3, 6)
    order = "{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}"
    return {
        "version1": (npy(npy_header()), "run"), "version2": (npy(npy_header(), version=(2, 0)), "run"),
        "version3": (npy(npy_header(), version=(3, 0)), "run"), "native": (npy(npy_header("'=f4'")), "run"),
        "fortran": (npy(npy_header(fortran="True"), columns), "run"), "keys": (npy(order), "run"),
        "quotes": (npy(npy_header('"<f4"')), "run"), "dense": (npy(npy_header().replace(" ", "")), "run"),
        "spaces": (npy(npy_header().replace(" ", "   ")), "run"), "comma": (npy(npy_header(shape="(2,3,)")), "run"),
    }


def npy_types():
    wrong = ["'>f4'", "'<f8'", "'>f8'", "'<f2'", "'<i4'", "'<u4'", "'|b1'", "'|i1'", "'<c8'", "'<c16'", "'O'", "'|O'", "'<M8[s]'",
             "'<m8[ns]'", "'|V4'", "'<U1'", "'|S4'", "'<f16'", "'f4'", "''", "'<'", "'<f44444444444444444444'", "4", "None",
             "[('a', '<f4')]", "[('a', '<f4', (2,))]", "('<f4', (2,))", "b'<f4'", "'<f4", "'<f4\"", "\"'<f4'\""]
    return {f"type{i}": (npy(npy_header(descr)), "refuse") for i, descr in enumerate(wrong)}


def npy_shapes():
    wrong = ["(3, 2)", "(6,)", "()", "(1, 2, 3)", "(2, 3, 1)", "(2, 3, 0)", "(0,)", "(-2, -3)", "(-6,)", "(2.0, 3)", "(2 3)", "(2,, 3)",
             "(,)", "(2, 3", "2, 3", "[2, 3]", "(2, (3,))", "('2', 3)", "(0x2, 3)", "(2L, 3L)", "(True, 6)", "(None,)",
             f"({2**31},)", f"({2**63},)", f"({2**63 - 1},)", f"({2**64},)", f"({2**64 + 2}, 3)", f"({10**30},)", f"({2**32}, {2**32})",
             f"({2**40}, {2**40}, 0)", f"({2**21}, {2**21}, {2**22})", "(" + "1, " * 17 + ")", "(" + "1, " * 1000 + ")",
             "(" + "9" * 5000 + ",)", "(" * 5000, "(" * 5000 + ")" * 5000]
    return {f"shape{i}": (npy(npy_header(shape=shape)), "refuse") for i, shape in enumerate(wrong)}


def npy_headers():
    right = npy_header()
    wrong = ["", "{", "}", "{}", "[]", "None", "{'descr': '<f4'}", right + right, right[:-2], right[1:], right.replace(":", "="),
             right.replace("descr", "Descr"), right.replace("}", "'more': 1, }"), right.replace("'shape'", "'descr'"),
             right.replace("'fortran_order': False, ", ""), right.replace("False", "0"), right.replace("False", "false"),
             right.replace("False", "Falsehood"), right.replace(",", ";"), "{" * 20000, "{'descr': " * 2000, "\0" * 100, right + "\0",
             "\xff\xfe" + right, right.replace("'descr'", "'descr\0'"), "__import__('os').abort()", "#" + right]
    files = {f"header{i}": (npy(header), "refuse") for i, header in enumerate(wrong)}
    for i, version in enumerate([(0, 0), (1, 1), (4, 0), (9, 9), (255, 255), (2, 1)]):
        files[f"version{i}"] = (npy(right, version=version), "refuse")
    for i, length in enumerate([0, 1, 5, 65535]):
        files[f"length{i}"] = (npy(right, length=length), "refuse")
    for i, length in enumerate([0, 1 << 16, 1 << 31, (1 << 32) - 1]):
        files[f"longlength{i}"] = (npy(right, version=(2, 0), length=length), "refuse")
    return files


def npy_bytes():
    right = npy(npy_header())
    files = {f"cut{i}": (right[:i], "refuse") for i in (0, 1, 5, 6, 7, 8, 9, 10, 11, 40, 127, 128, 140, len(right) - 1)}
    files |= {f"more{i}": (right + b"\0" * i, "refuse") for i in (1, 4, 4096)}
    files |= {f"other{i}": (data, "refuse") for i, data in enumerate(
        [b"\x93NUMPX" + right[6:], b"PK\x03\x04" + right, right[::-1], b"\0" * 4096, b"\xff" * 4096, b"%PDF-1.4", PROGRAM.encode(), b"\n"])}
    return files


def npy_giants():
    giant = 25 * 10**9
    return {
        "giant": (npy(npy_header(shape=f"({giant},)"), b""), "refuse", 128 + 4 * giant),
        "giantshape": (npy(npy_header(shape=f"(5, {giant // 5})"), b""), "refuse", 128 + 4 * giant),
        "gianttype": (npy(npy_header("'|u1'", shape=f"({GIANT},)"), b""), "refuse", 128 + GIANT),
        "giantcolumns": (npy(npy_header(fortran="True", shape=f"({giant // 1000}, 1000)"), b""), "refuse", 128 + 4 * giant),
        "giantlies": (npy(npy_header()), "refuse", GIANT), "giantzeros": (b"", "refuse", GIANT),
    }


def giants_of_their_type(bench):
    """A tensor of 100 GB that is wanted, in a file or as random numbers: memory ends with a reason."""
    count = 25 * 10**9
    source = place(bench, "giant.mlir", PROGRAM.replace("2x3", str(count)).encode())
    files = [place(bench, "giant.npy", npy(npy_header(shape=f"({count},)"), b""), 128 + 4 * count),
             place(bench, "giant.safetensors", safetensors({"x": tensor("F32", [count], 0, 4 * count)}, b"").ljust(128, b"\0"),
                   None)]
    header = len(safetensors({"x": tensor("F32", [count], 0, 4 * count)}, b""))
    files[1].write_bytes(safetensors({"x": tensor("F32", [count], 0, 4 * count)}, b""))
    os.truncate(files[1], header + 4 * count)
    for given in [f"--input=x={file}" for file in files] + ["--random=1"]:
        for device in ("reference", "cpu"):
            says = "a random f32[25000000000]" if "random" in given else given.split("/")[-1]
            judge(bench.run("zyx-run", source, given, f"--device={device}"), "refuse", f"{says}: ")
            judge(bench.run("zyx-run", source, given, f"--device={device}"), "refuse", ": needs 100000000000 bytes")
    # A stream does not say how long it is.
    if not bench.is_sanitized:
        judge(bench.run("zyx-run", "-", "--random=1", stdin=b"//" + b"x" * 60_000_000, memory=60 << 20), "refuse",
              "there is no memory for '-'")
    return 7


# .safetensors

def safetensors(header, data=FLOATS, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(dtype="F32", shape=(2, 3), begin=0, end=24):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def raw(shape="[2,3]", offsets="[0,24]", dtype='"F32"', name='"x"'):
    return f'{{{name}:{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}}}}}'.encode()


def safetensors_right():
    two = {"x": tensor(), "other": tensor("F8_E8M0", [4], 24, 28)}
    huge = {"x": tensor(), "huge": tensor("U8", [GIANT], 24, 24 + GIANT)}
    return {
        "plain": (safetensors({"x": tensor()}), "run"), "metadata": (safetensors({"__metadata__": {"a": "b"}, "x": tensor()}), "run"),
        "spaces": (safetensors(raw() + b" " * 1000), "run"), "unknown": (safetensors(two, FLOATS + b"1234"), "run"),
        "empty": (safetensors({"x": tensor(), "e": tensor("F32", [0], 24, 24)}), "run"),
        "escape": (safetensors(raw(name='"\\u0078"')), "run"),
        # One tensor is read of a file that is larger than any memory.
        "giant": (safetensors(huge), "run", len(safetensors(huge)) - 24 + 24 + GIANT),
        "many": (safetensors({"x": tensor()} | {f"t{i}": tensor("U8", [1], 24 + i, 25 + i) for i in range(20000)},
                             FLOATS + b"\0" * 20000), "run"),
    }


def safetensors_headers():
    x = raw()
    wrong = [b"", b"{", b"}", b"{}", b"[]", b"null", b"1", b'"x"', b"[" * 50000, b'{"a":' * 20000, x[:-1], x + x, x + b",",
             x.decode().encode("utf-16"), b"\0" + x, x + b"\0", x.replace(b"x", b"\xff\xfe"), x.replace(b"x", b"\\ud800"),
             b'{"x":1}', b'{"x":[]}', b'{"x":null}', b'{"x":{}}', b'{"x":{"dtype":"F32"}}', b'{"__metadata__":{"a":1}}',
             b'{"__metadata__":{"a":{"b":"c"}}}', b'{"__metadata__":[]}', x[:-1] + b"," + x[1:], x[:-1] + b',"__metadata__":1}',
             x.replace(b'"dtype"', b'"more":1,"dtype"'), x.replace(b'"dtype":"F32"', b'"dtype":"F32","dtype":"F32"'),
             x[:-1] + b',"\\u0078":' + x[5:-1] + b"}", b"// c\n" + x, x.replace(b":", b"="), x.replace(b'"', b"'")]
    shapes = ["[3,2]", "[6]", "[]", "[2,3,1]", "[2,3,0]", "[-2,-3]", "[2.0,3]", "[2,\"3\"]", "[[2],3]", "6", "null", "[1e400]", "[2e0,3]",
              f"[{2**63}]", f"[{2**64}]", f"[{10**40}]", f"[{2**32},{2**32}]", f"[{2**62},4]", "[" + "1," * 16 + "6]", "[" + "9" * 5000 + "]",
              "[" + "0," * 100000 + "0]"]
    offsets = ["[24,0]", "[0,23]", "[0,25]", "[1,25]", "[0,24,24]", "[0]", "[]", "[-1,23]", "[0,24.0]", "[0,1e300]", f"[0,{2**63}]", f"[0,{2**64}]",
               f"[{2**64 - 24},{2**64}]", f"[{2**64 - 1},23]", "24", "null", "[[0,24]]", '["0","24"]']
    dtypes = ['"F33"', '""', '"f32"', "32", "null", '"F64"', '"BOOL"', '"C64"', '"' + "F" * 100000 + '"', '["F32"]']
    wrong += [raw(shape=shape) for shape in shapes] + [raw(offsets=offset) for offset in offsets] + [raw(dtype=dtype) for dtype in dtypes]
    # A mark of the order of bytes is passed over.
    files = {"mark": (safetensors(b"\xef\xbb\xbf" + x), "either")}
    return files | {f"header{i}": (safetensors(header), "refuse") for i, header in enumerate(wrong)}


def safetensors_bytes():
    right = safetensors({"x": tensor()})
    files = {f"cut{i}": (right[:i], "refuse") for i in (0, 1, 7, 8, 9, 20, len(right) - 25, len(right) - 24, len(right) - 1)}
    files |= {f"more{i}": (right + b"\0" * i, "refuse") for i in (1, 24, 4096)}
    for i, length in enumerate([0, 1, 7, 10**6, 99_999_999, 10**8 + 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 8, 2**64 - 1]):
        files[f"length{i}"] = (safetensors(raw(), length=length), "refuse")
    gap = {"x": tensor(), "b": tensor("U8", [4], 28, 32)}
    overlap = {"x": tensor(), "b": tensor("U8", [8], 20, 28)}
    files |= {"gap": (safetensors(gap, FLOATS + b"\0" * 8), "refuse"), "overlap": (safetensors(overlap, FLOATS + b"\0" * 4), "refuse"),
              "zeros": (b"", "refuse", GIANT), "giant": (right, "refuse", GIANT), "npy": (npy(npy_header()), "refuse")}
    return files


# What is no file

def no_files(bench):
    run = program(bench)
    folder = bench.folder
    (folder / "folder.npy").mkdir()
    (folder / "loop.npy").symlink_to("loop.npy")
    (folder / "dangling.npy").symlink_to("nowhere")
    (folder / "null.npy").symlink_to("/dev/null")
    (folder / "zero.npy").symlink_to("/dev/zero")
    (folder / "full.safetensors").symlink_to("/dev/full")
    (folder / "mem.npy").symlink_to("/proc/self/mem")
    (folder / "below").write_text("a file")
    right = npy(npy_header())
    refused = ["folder.npy", "loop.npy", "dangling.npy", "null.npy", "zero.npy", "full.safetensors", "mem.npy", "absent.npy", "below/x.npy",
               "x" * 300 + ".npy", "/" * 5000, "a/" * 3000 + "x.npy", ".", "..", "/", "", "x.npy\n", "[", "x.npy[", "x.npy]", "x.npy[:]",
               "x.npy[1:0]", "x.npy[0:3]", "x.npy[-1:1]", f"x.npy[0:{2**63}]", f"x.npy[0:{2**64}]", "x.npy[0:1:2]", "x.npy[a:b]",
               "x.safetensors:", "x.safetensors:y", ":", "x.npy:x"]
    (folder / "x.npy").write_bytes(right)
    (folder / "x.safetensors").write_bytes(safetensors({"z": tensor("I8", [24])}))
    for name in refused:
        judge(bench.run("zyx-run", run, f"--input=x={name}", "--print"), "refuse")
    named = ["y" * 251 + ".npy", "with space.npy", "line\nbreak.npy", "-dash.npy", "=.npy", "ü.npy", b"\xff\xfe.npy", "x.safetensors.npy",
             "%s%n.npy", "$(touch gone).npy"]
    for name in named:
        name = os.fsdecode(name)
        (folder / name).write_bytes(right)
        judge(bench.run("zyx-run", run, f"--input=x={name}", "--print"), "run")
    require(not (folder / "gone").exists(), "a name was run")
    return len(refused) + len(named)


def pipes(bench):
    """Pipes that give too little, too much, or nothing."""
    run = program(bench)
    right = npy(npy_header())
    given = [(right, "run"), (right + b"\0", "refuse"), (right[:-1], "refuse"), (right[:30], "refuse"), (b"", "refuse"),
             (npy(npy_header(shape=f"({2**40},)")), "refuse"), (b"\x93NUMPY", "refuse"), (safetensors({"x": tensor()}), "run"),
             (safetensors({"x": tensor()}, length=2**63), "refuse"), (os.urandom(1 << 20), "refuse"), (b"\0" * (8 << 20), "refuse")]
    for data, expect in given:
        judge(bench.run("zyx-run", run, "--input=x=-", "--print", stdin=data), expect)
        fifo = bench.folder / "fifo"
        os.mkfifo(fifo)

        def write(data=data):
            try:
                with open(fifo, "wb") as file:
                    file.write(data)
            except BrokenPipeError:
                pass  # refused by its first bytes

        writer = threading.Thread(target=write)
        writer.start()
        judge(bench.run("zyx-run", run, f"--input=x={fifo}", "--print"), expect)
        writer.join(5)
        require(not writer.is_alive(), "the writer of a pipe still waits")
        fifo.unlink()
    for stream in ("/dev/zero", "/dev/urandom"):
        with open(stream, "rb") as file:
            judge(bench.run("zyx-run", run, "--input=x=-", stdin=file), "refuse")
    # Text without end.
    endless = subprocess.Popen(["yes", "// a comment"], stdout=subprocess.PIPE)
    judge(bench.run("zyx-run", "-", "--random=1", stdin=endless.stdout, seconds=30), "refuse")
    endless.stdout.close()
    endless.wait()
    return 2 * len(given) + 3


# .zyxa

def artifacts(bench):
    right = artifact_of(bench)
    mark = right[:8]
    files = {f"cut{i}": right[:i] for i in (0, 1, 8, 9, 12, 13, 20, 29, 30, 37, 60, len(right) // 2, len(right) - 1)}
    files |= {f"more{i}": right + b"\0" * i for i in (1, 8, 5000)}
    draw = random.Random(1)
    for i in range(24):
        at = draw.randrange(len(right))
        files[f"flip{i}"] = right[:at] + bytes([right[at] ^ 1 << draw.randrange(8)]) + right[at + 1:]
    files |= {"text": PROGRAM.encode(), "npy": npy(npy_header()), "elf": b"\x7fELF" + b"\0" * 100, "mark": mark, "marks": mark * 500,
              "older": mark + struct.pack("<I", 1) + right[12:], "newer": mark + struct.pack("<I", 2**32 - 1) + right[12:]}
    for name, data in files.items():
        path = place(bench, name + ".zyxa", data)
        for command in (("zyx-run", path, "--random=1"), ("run_artifact", path, bench.folder)):
            outcome = bench.run(*command)
            judge(outcome, "refuse")
            require(path.name in outcome.stderr, f"the file is not named: {outcome}")
    version = right[8:12]
    sparse = {"zeros": b"", "behind": right, "start": mark + version + b"\0" * 16 + struct.pack("<Q", 2**62),
              "length": mark + version + b"\0" * 16 + struct.pack("<Q", 5) + b"0.1.0" + struct.pack("<Q", GIANT - 50)}
    for name, data in sparse.items():
        path = place(bench, name + "-sparse.zyxa", data, GIANT)
        for command in (("zyx-run", path, "--random=1"), ("run_artifact", path, bench.folder)):
            judge(bench.run(*command), "refuse")
    (bench.folder / "folder.zyxa").mkdir()
    judge(bench.run("zyx-run", "folder.zyxa", "--random=1"), "refuse")
    judge(bench.run("zyx-run", "-", "--random=1", stdin=right[:-1]), "refuse")
    judge(bench.run("zyx-run", "-", "--random=1", stdin=right), "run")
    return 2 * (len(files) + len(sparse)) + 3


def artifact_of(bench):
    with LOCK:
        return artifact(bench.build)


# config.json

def configurations(bench):
    home = bench.folder / "home"
    (home / "zyx").mkdir(parents=True)
    path = home / "zyx" / "config.json"
    right = ["{}", "// nothing\n{}", '{"threads": 1}', '{"device": "reference"}', '{"cache_dir": "off"}', '{"debug": []}',
             '{"unknown": 1}', '{"devices": {"abacus": false}}', '{"tune": false}', '{"cache_size": 0}', '{"memory_limits": {}}']
    wrong = ["", " ", "{", "}", "[]", "null", "1", '"x"', "{]", '{"threads"}', '{"threads": }', '{"threads": 1,}', '{"threads": 1 2}', '{threads: 1}',
             '{"threads": 1}{"threads": 1}', '{"threads": 1, "threads": 2}', '{"threads": -1}', '{"threads": 1.5}', '{"threads": 1e99}',
             '{"threads": 99999999999999999999}', '{"threads": "1"}', '{"threads": [1]}', '{"threads": null}', '{"device": 1}', '{"device": null}',
             '{"devices": []}', '{"devices": {"cpu": 1}}', '{"devices": {"cpu": "on", "cpu": "off"}}', '{"memory_limits": {"cpu": -1}}',
             '{"memory_limits": {"cpu": "lots"}}', '{"memory_limits": {"cpu": "99999999999GiB"}}', '{"memory_limits": "4GiB"}',
             '{"cache_size": "1"}}', '{"cache_size": {}}', '{"cache_dir": 1}', '{"debug": "graph"}', '{"debug": [1]}', '{"tune": "maybe"}',
             '{"implicit_copies": 1}', "[" * 50000, '{"a":' * 10000, '{"debug": [' + "[" * 10000 + "]}", '{"device": "\\ud800"}',
             '{"device": "' + "x" * 200000 + '"}', "\0", "{\0}", '{"device": "\0"}', "/*" + "*" * 1000, "//" * 40000 + "{"]
    broken = [b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b'{"device": "\xff"}', os.urandom(5000), b"PK\x03\x04", b"\x93NUMPY"]
    refused = ["{}\0", "{}\0{", "\n{\0}", "{", "[]", '{"threads": 1, "threads": 2}']
    for expect, texts in (("run", right), ("refuse", refused), ("either", wrong), ("either", broken)):
        for text in texts:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            judge(bench.run("zyx-run", "--list-devices", env={"XDG_CONFIG_HOME": str(home)}), expect)
    path.write_bytes(b"")
    os.truncate(path, GIANT)
    judge(bench.run("zyx-run", "--list-devices", env={"XDG_CONFIG_HOME": str(home)}), "refuse")
    for make in (lambda: path.mkdir(), lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero"), lambda: path.symlink_to("config.json")):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
        make()
        judge(bench.run("zyx-run", "--list-devices", env={"XDG_CONFIG_HOME": str(home)}))
    return len(right) + len(refused) + len(wrong) + len(broken) + 5


# Entries of the cache

def cache_entries(bench):
    source = place(bench, "double.mlir", PROGRAM.encode())
    x = place(bench, "x.npy", npy(npy_header()))
    folder = bench.folder / "cache"
    command = ("zyx-run", source, f"--input=x={x}", "--print", f"--cache-dir={folder}")

    def run():
        outcome = bench.run(*command, seconds=60)
        judge(outcome, "run")
        require(DOUBLED in outcome.stdout.decode(), f"other numbers: {outcome.stdout}")

    run()
    entries = sorted(folder.glob("*.zyxc"))
    artifact = artifact_of(bench)
    # The entry of the program holds its artifact; the others are of its kernels, and are read where the program's is gone.
    program, = [path for path in entries if artifact[:8] in path.read_bytes()]
    require(len(entries) > 1, "the kernels have no entries")
    draw = random.Random(2)
    count = 0
    for entry in entries:
        right = entry.read_bytes()
        damaged = [right[:i] for i in (0, 1, 9, 30, len(right) // 2, len(right) - 1)] + [right + b"\0", b"\0" * len(right), artifact, os.urandom(500)]
        for _ in range(4):
            at = draw.randrange(len(right))
            damaged.append(right[:at] + bytes([right[at] ^ 1 << draw.randrange(8)]) + right[at + 1:])

        def runs_past():
            if entry != program:
                program.unlink()
            run()

        for data in damaged:
            entry.write_bytes(data)
            runs_past()
            require(entry.read_bytes() != data, "a damaged entry stays")
        entry.write_bytes(right)
        os.truncate(entry, GIANT)
        runs_past()
        require(entry.stat().st_size < 1 << 30, "an entry of 100 GB stays")
        count += len(damaged) + 1
    return count


# Readers that no program reads by name: driven by their fuzzers, which check what must hold.

def by_reader(name, make):
    def check(bench):
        reader = bench.build / "test" / "fuzz" / f"fuzz-{name}"
        folder = bench.folder / "inputs"
        folder.mkdir()
        files = make(bench)
        for i, data in enumerate(files):
            (folder / f"{i:04}").write_bytes(data)
        outcome = bench.run(str(reader), folder, seconds=60)
        judge(outcome, "run")
        require(f"{len(files)} inputs" in outcome.stdout.decode(), f"not all are read: {outcome}")
        return len(files)

    return check


def mutations(right, count, seed):
    """Cut, flipped, and with numbers that lie."""
    draw = random.Random(seed)
    files = [right[:draw.randrange(len(right))] for _ in range(count)]
    for _ in range(count):
        at = draw.randrange(len(right))
        files.append(right[:at] + bytes([draw.randrange(256)]) + right[at + 1:])
        at = draw.randrange(max(1, len(right) - 8))
        lie = draw.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1])
        files.append(right[:at] + struct.pack("<Q", lie)[:draw.choice([2, 4, 8])] + right[at + 8:])
    return files


def npz_files(bench):
    path = bench.folder / "right.npz"
    files = []
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(path, "w", compression) as archive:
            archive.writestr("x.npy", npy(npy_header()))
            archive.writestr("y.npy", npy(npy_header(shape="(2000,)"), b"\0" * 8000))
        files.append(path.read_bytes())
    for names in (["x.npy", "x.npy"], ["../x.npy"], ["/x.npy"], ["x.txt"], [""], ["x.npy" * 4000], ["a\0b.npy"]):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(zipfile.ZipInfo(name), npy(npy_header()))
        files.append(path.read_bytes())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", npy(npy_header("'|u1'", shape=f"({50 << 20},)"), b"\0" * (50 << 20)))
    files.append(path.read_bytes())
    return files + mutations(files[0], 40, 3) + mutations(files[1], 40, 4)


def gguf_string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(tensors=1, pairs=1, version=3, name="x", dims=(3, 2), kind=0, offset=0, key=None, value=None, data=FLOATS):
    key = "general.alignment" if key is None else key
    value = struct.pack("<II", 4, 32) if value is None else value
    head = b"GGUF" + struct.pack("<IQQ", version, tensors, pairs) + gguf_string(key) + value + gguf_string(name)
    head += struct.pack("<I", len(dims)) + b"".join(struct.pack("<Q", dim) for dim in dims) + struct.pack("<IQ", kind, offset)
    return head + b"\0" * (-len(head) % 32) + data + b"\0" * (-len(data) % 32)


def gguf_files(bench):
    right = gguf()
    deep = b"".join(struct.pack("<IQ", 9, 1) for _ in range(2000))
    files = [right, gguf(version=2), gguf(version=1), gguf(version=4), gguf(version=0x03000000), gguf(tensors=0), gguf(tensors=2**63), gguf(pairs=2**64 - 1),
             gguf(pairs=0), gguf(dims=()), gguf(dims=(0,)), gguf(dims=(2**63, 2)), gguf(dims=(2**32, 2**32)), gguf(dims=(1,) * 20), gguf(dims=(2**64 - 1,)),
             gguf(kind=2), gguf(kind=4), gguf(kind=39), gguf(kind=2**32 - 1), gguf(offset=1), gguf(offset=32), gguf(offset=2**63), gguf(offset=2**64 - 32),
             gguf(name=""), gguf(name="x" * 70000), gguf(value=struct.pack("<II", 4, 0)), gguf(value=struct.pack("<II", 4, 3)),
             gguf(value=struct.pack("<II", 4, 2**31)), gguf(key="a", value=struct.pack("<I", 9) + deep), gguf(key="a", value=struct.pack("<IIQ", 9, 8, 2**60)),
             gguf(key="a", value=struct.pack("<IQ", 8, 2**62)), gguf(key="a", value=struct.pack("<IB", 7, 2)), gguf(key="a", value=struct.pack("<I", 13)),
             right[:4], b"GGML" + right[4:], b"FUGG" + right[4:], b"\0" * 4096, b""]
    return files + mutations(right, 60, 5)


CASES = [
    Case("npy.right", case_of_inputs(".npy", npy_right)), Case("npy.types", case_of_inputs(".npy", npy_types)),
    Case("npy.shapes", case_of_inputs(".npy", npy_shapes)), Case("npy.headers", case_of_inputs(".npy", npy_headers)),
    Case("npy.bytes", case_of_inputs(".npy", npy_bytes)), Case("npy.giants", case_of_inputs(".npy", npy_giants)),
    Case("giants-of-their-type", giants_of_their_type),
    Case("safetensors.right", case_of_inputs(".safetensors", safetensors_right)),
    Case("safetensors.headers", case_of_inputs(".safetensors", safetensors_headers)),
    Case("safetensors.bytes", case_of_inputs(".safetensors", safetensors_bytes)),
    Case("no-files", no_files), Case("pipes", pipes), Case("artifacts", artifacts), Case("configurations", configurations),
    Case("cache-entries", cache_entries), Case("npz", by_reader("npz", npz_files)), Case("gguf", by_reader("gguf", gguf_files)),
]

if __name__ == "__main__":
    hostile.main("files", CASES, least=200)
