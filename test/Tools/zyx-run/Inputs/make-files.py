# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the tensor files of the tests, good and bad, into the folder that is given."""

import json
import os
import struct
import sys


def write(name, data):
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(data)


def npy(descr, shape, data):
    shape = "(" + "".join(f"{extent}, " for extent in shape) + ")"
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def safetensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


os.makedirs(sys.argv[1], exist_ok=True)
floats = struct.pack("<6f", 1, 2.5, 3, 4, 5, 6)
write("x.npy", npy("<f4", (2, 3), floats))
write("wide.npy", npy("<f8", (2, 3), struct.pack("<6d", 1, 2, 3, 4, 5, 6)))
write("cut.npy", npy("<f4", (2, 3), floats)[:-5])
write("longer.npy", npy("<f4", (3, 2), floats))
write("empty.npy", b"")
write("bools.npy", npy("|b1", (3,), b"\x01\x00\x01"))

tensor = {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}
longs = {"dtype": "I64", "shape": [3], "data_offsets": [48, 72]}
data = struct.pack("<12f", *range(12)) + struct.pack("<3q", 10, 20, 30)
write("good.safetensors", safetensors({"rows": tensor, "longs": longs}, data))
write("one.safetensors", safetensors({"only": {"dtype": "I64", "shape": [3], "data_offsets": [0, 24]}},
                                     struct.pack("<3q", 1, 2, 3)))
write("lies-size.safetensors", safetensors({"rows": {**tensor, "shape": [5, 3]}}, data[:48]))
write("lies-end.safetensors", safetensors({"rows": {**tensor, "shape": [400, 3], "data_offsets": [0, 4800]}}, data))
write("lies-header.safetensors", struct.pack("<Q", 1 << 60) + b"{}")
write("overlap.safetensors", safetensors({"rows": tensor, "longs": {**longs, "data_offsets": [24, 48]}}, data))
