# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-safetensors.py FILE NAME=NPY...: the file holds these tensors, with the bytes of these .npy files."""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
length = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + length])
names = []
for argument in sys.argv[2:]:
    name, path = argument.split("=", 1)
    names.append(name)
    with open(path, "rb") as file:
        npy = file.read()
    begin, end = (8 + length + offset for offset in header[name]["data_offsets"])
    elements = npy[10 + struct.unpack("<H", npy[8:10])[0]:]
    if data[begin:end] != elements:
        sys.exit(f"{name} differs")
if sorted(header) != sorted(names):
    sys.exit(f"there are {sorted(header)}")
