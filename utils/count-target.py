#!/usr/bin/env python3
"""Counts the lines of lib/ and include/ that are there for one family of machines alone, and fails over a limit.

  utils/count-target.py cuda|hip|opencl|vulkan|webgpu [--most=N] [--root FOLDER]

Whole files count with all their lines, licence and comments included; of files that serve others, too, the lines of the
functions, macros and tables that are named here. Tests and documentation do not count.
"""
import argparse
import pathlib
import re
import sys

# Files of their own, and for others the beginnings of what is counted: a line that matches begins a part, which ends
# with the first line that closes it and is indented as much; a macro ends with the first empty line.
TARGETS = {
    # Of the driver alone. What AMD's driver uses too, the table of functions, cards and the backend, is not CUDA's.
    "cuda": {
        "most": 500,
        "files": ["lib/Runtime/Devices/Cuda/CudaGraph.*"],
        "parts": {
            "lib/Runtime/Devices/Cuda/Card.cpp": [
                r"static std::string describeCapability\(", r"static Result<CardFacts> readFacts\(",
                r"std::string cuda::targetOf\(", r"static void describe\(", r"static Status check(Age|Architecture|Code)\(",
            ],
            "lib/Runtime/Devices/Cuda/CudaBackend.cpp": [
                r"Status CudaBackend::(encode|chooseGraphs)\(", r"  Status hold\(", r"  std::unique_ptr<CommandGraph> createGraph\(",
                r"  Status copyFromPeer\(", r"  bool isPeer\(", r"  if \(!kernel\.tensorMaps\.empty",
            ],
            "lib/Runtime/Devices/Cuda/Driver.h": [
                r"#define ZYX_CUDA_(NEWER_)?FUNCTIONS\(", r"struct alignas\(64\) TensorMap",
                r"struct (KernelNode|CopyEnd|CopyNode|FillNode|EdgeData) ",
            ],
        },
        "lines": {
            "lib/Runtime/Devices/Cuda/Card.cpp":
                r"constexpr .*(oldestCapability|largestCopyInGraph)|cuda::(lanesOf|nvidia)\b",
            "lib/Runtime/Devices/Cuda/Card.h": r"targetOf|lanesOf|capability;|largestCopyInGraph",
            "lib/Runtime/Devices/Cuda/CudaBackend.cpp":
                r"copyEngineVersion =|hasPeers|driver\.functionSet|functionSharedBytes|driver\.fillRows32|jitErrorLog",
            "lib/Runtime/Devices/Cuda/CudaDevice.cpp": r"Cuda|nvidia",
            "lib/Runtime/Devices/Drivers.h": r"Cuda",
            "lib/Runtime/Devices/Cuda/Driver.cpp": r"CUDA_|\"CUDA|NEWER",
            "lib/Runtime/Devices/Cuda/Driver.h":
                r"attribute\w+ =|jit\w+ =|functionSharedBytes =|tensorMap\w+ =|memoryOfDevice =|"
                r"using (Graph|GraphExec|Node) =|ZYX_CUDA_\w+\(ZYX",
        },
    },
    "hip": {
        "most": 700,
        "files": [
            "lib/Conversion/KernelToGPU/ROCDLInstructions.cpp", "lib/Target/ROCDL/*",
            "include/zyx/Target/ROCDL/*", "lib/Runtime/Devices/Hip/*",
        ],
        "parts": {
            "lib/Target/Info/TargetInfo.cpp": [r"TargetInfo (amd|cdna3|rdna3|rdna4)\("],
            "lib/Runtime/Devices/Cuda/CudaBackend.cpp": [r"Status CudaBackend::fillByCopies\("],
        },
        # Lines that name it. A name in a row that CUDA has, too, as in the table of drivers, makes no line.
        "lines": {
            "lib/Runtime/Devices/Cuda/Driver.h": r"ZYX_HIP_|enum class Family",
            "lib/Runtime/Devices/Cuda/Driver.cpp": r"HIP",
            "lib/Runtime/Device.cpp": r"[Hh]ip\b|Hip",
            "lib/Runtime/Devices/Drivers.h": r"Hip|HIP",
            "lib/Runtime/CMakeLists.txt": r"Devices/Hip",
            "lib/Pipelines/Backends.cpp": r"ROCDL",
            "lib/Pipelines/CMakeLists.txt": r"ROCDL",
            "lib/Conversion/KernelToGPU/ConvertKernelToThreads.cpp": r"ROCDL|rocdl",
            "lib/Conversion/KernelToGPU/CMakeLists.txt": r"ROCDL",
            "include/zyx/Conversion/KernelToGPU/Passes.h": r"ROCDL",
            "include/zyx/Conversion/KernelToGPU/Passes.td": r"ROCDL|rocdl",
            "include/zyx/Pipelines/InitAll.h": r"ROCDL",
            "include/zyx/Target/Info/TargetInfo.h": r"\bHIP\b",
        },
    },
    "opencl": {
        "most": 800,
        "files": ["lib/Target/OpenCL/*", "lib/Runtime/Devices/OpenCL/*"],
        "parts": {"lib/Target/Info/TargetInfo.cpp": [r"TargetInfo openCLProcessor\("]},
        "lines": {
            "lib/Target/Info/TargetInfo.cpp": r"TargetInfo openCL\(\)|[{<]\"?openCL",
            "lib/Runtime/Device.cpp": r"OpenCL",
            "lib/Runtime/Devices/Drivers.h": r"OpenCL",
            "lib/Runtime/CMakeLists.txt": r"Devices/OpenCL",
            "include/zyx/Target/Backend/Backend.h": r"OpenCL",
            "lib/Pipelines/Backends.cpp": r"OpenCL",
            "lib/Pipelines/CMakeLists.txt": r"OpenCL",
            "lib/CMakeLists.txt": r"OpenCL",
            "lib/Base/Config.cpp": r"opencl|OPENCL",
        },
    },
    "vulkan": {
        "most": 1300,
        "files": ["lib/Target/SPIRV/*", "lib/Runtime/Devices/Vulkan/*"],
        "parts": {"lib/Target/Info/TargetInfo.cpp": [r"TargetInfo vulkan\("]},
        "lines": {
            "lib/Runtime/Device.cpp": r"[vV]ulkan",
            "include/zyx/Target/Backend/Backend.h": r"SPIRV",
            "lib/Pipelines/Backends.cpp": r"SPIRV",
            "lib/Pipelines/CMakeLists.txt": r"SPIRV",
            "lib/CMakeLists.txt": r"SPIRV|Vulkan",
            "lib/Base/Config.cpp": r"vulkan|VULKAN",
        },
    },
    "webgpu": {
        "most": 900,
        "files": ["lib/Target/WGSL/*", "lib/Runtime/Devices/WebGPU/*"],
        "parts": {"lib/Target/Info/TargetInfo.cpp": [r"TargetInfo webGPU\("]},
        "lines": {
            "lib/Runtime/Device.cpp": r"[wW]ebGPU",
            "include/zyx/Target/Backend/Backend.h": r"WGSL",
            "lib/Pipelines/Backends.cpp": r"WGSL",
            "lib/Pipelines/CMakeLists.txt": r"WGSL",
            "lib/CMakeLists.txt": r"WGSL|WebGPU",
            "lib/Base/Config.cpp": r"webgpu|WEBGPU",
        },
    },
}


def part_end(lines, begin):
    """Where the definition or macro ends that begins there."""
    indent = lines[begin][:len(lines[begin]) - len(lines[begin].lstrip())]
    ends = ("",) if lines[begin].startswith("#define") else (indent + "}", indent + "};")
    return next(i for i in range(begin, len(lines)) if lines[i] in ends)


def part_lengths(text, beginnings):
    """Lines of the definitions that begin so. Each pattern has one."""
    lines, total = text.split("\n"), 0
    for beginning in beginnings:
        found = [i for i, line in enumerate(lines) if re.match(beginning, line)]
        if not found:
            raise SystemExit(f"count-target: nothing begins with {beginning}")
        total += sum(part_end(lines, i) - i + 1 for i in found)
    return total


def count(root, target):
    rows = []
    for pattern in target["files"]:
        paths = sorted(root.glob(pattern))
        if not paths:
            raise SystemExit(f"count-target: there is no {pattern}")
        for path in paths:
            rows.append((path.relative_to(root).as_posix(), len(path.read_text().splitlines())))
    for name, beginnings in target["parts"].items():
        rows.append((name, part_lengths((root / name).read_text(), beginnings)))
    for name, pattern in target["lines"].items():
        rows.append((name, sum(1 for line in (root / name).read_text().splitlines() if re.search(pattern, line))))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--most", type=int)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    most = options.most if options.most is not None else TARGETS[options.target]["most"]
    rows = count(options.root, TARGETS[options.target])
    for name, lines in rows:
        print(f"{lines:5} {name}")
    total = sum(lines for _, lines in rows)
    print(f"{total:5} lines for {options.target}, at most {most}")
    return 0 if total <= most else 1


if __name__ == "__main__":
    sys.exit(main())
