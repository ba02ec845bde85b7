# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lit suite: tests lie in the folder of what they test, as in include/zyx."""

import glob
import os
import sys
import shutil

import lit.formats

config.name = "zyx"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "lib", "package", "utils", "fuzz", "hostile"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.zyx_binary_dir, "test")

# Our tools come first; FileCheck, not, split-file and the rest lie beside llvm-config.
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.zyx_binary_dir, "bin"), config.llvm_tools_dir, config.environment["PATH"]])
# A test compiles what it runs, unless it is a test of the cache.
config.environment["ZYX_CACHE_DIR"] = "off"
# Where a test names no device, it runs on cpu, also on a machine with a card.
config.environment["ZYX_DEVICE"] = "cpu"
# Nor does the user's configuration.
config.environment["XDG_CONFIG_HOME"] = "/nonexistent"
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"
config.substitutions.append(("%source_dir", config.zyx_source_dir))
config.substitutions.append(("%binary_dir", config.zyx_binary_dir))
config.substitutions.append(("%python", sys.executable))

# Devices of WebGPU are built where utils/install.sh has brought the headers of wgpu-native.
if os.path.exists(os.path.join(config.zyx_binary_dir, "lib/libZyxWebGPU.so")):
    config.available_features.add("webgpu")

# CUDA's assembler, where it is installed, by utils/install.sh or else: no GPU is needed for it.
own = sorted(glob.glob(os.path.join(config.zyx_source_dir, "build/ptxas/nvidia/*/bin/ptxas")))
ptxas = next((p for p in [shutil.which("ptxas"), *sorted(glob.glob("/usr/local/cuda*/bin/ptxas")), *own] if p), None)
if ptxas:
    config.available_features.add("ptxas")
    config.environment["PATH"] += os.pathsep + os.path.dirname(ptxas)
    config.substitutions.append(("%ptxas", ptxas))
else:
    lit_config.note("no ptxas in PATH, /usr/local/cuda*/bin or build/ptxas: tests of cubins are unsupported")
