# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare.py A.npy B.npy TOLERANCE: two files of f32 of one shape, close element by element."""

import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    return data[:end], [value for (value,) in struct.iter_unpack("<f", data[end:])]


(header, expected), (other, given) = read(sys.argv[1]), read(sys.argv[2])
if header != other or len(expected) != len(given):
    sys.exit("the shapes differ")
worst = max(abs(a - b) for a, b in zip(expected, given))
if not worst <= float(sys.argv[3]):
    sys.exit(f"the largest difference is {worst}")
