# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""digits.py DIGITS.safetensors FOLDER: training rows 0-999 and test rows 1000-1796 as .npy files."""

import json
import os
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
length = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + length])
for tensor, name in (("images", "images"), ("labels", "labels")):
    entry = header[tensor]
    begin, end = entry["data_offsets"]
    rows, *rest = entry["shape"]
    row = (end - begin) // rows
    for part, first, last in (("train", 0, 1000), ("test", 1000, 1797)):
        descr = {"U8": "|u1", "I64": "<i8"}[entry["dtype"]]
        text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {(last - first, *rest)}}}"
        text += " " * (-(len(text) + 11) % 64) + "\n"
        start = 8 + length + begin
        with open(os.path.join(sys.argv[2], f"{part}_{name}.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
            file.write(data[start + first * row:start + last * row])
