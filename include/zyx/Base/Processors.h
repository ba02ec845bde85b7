//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_PROCESSORS_H
#define ZYX_BASE_PROCESSORS_H

#include <cstdint>
#include <string>

namespace zyx {

/// How many processors this process may keep busy: those of its affinity mask, and no more than the
/// limits of its control groups give it time for (`cpu.max` of version 2, `cpu.cfs_quota_us` of
/// version 1, of the group and of all above it), rounded down; at least 1. A thread more than that
/// is stopped by the system in the middle of its work, and all others wait for it. The limits are those of
/// the first call. `root` stands in front of every path that is read; it is for tests.
unsigned usableProcessors(const std::string &root = "");

/// Bytes of memory that this process may use: those of the machine, and no more than its address space (`ulimit -v`)
/// and the limits of its control groups (`memory.max` of version 2, `memory.limit_in_bytes` of version 1, of the group
/// and of all above it). Beyond a limit the system ends the process instead of refusing. As with usableProcessors(),
/// the limits are those of the first call.
uint64_t usableMemory(const std::string &root = "");

/// What the system calls the processors: "AMD EPYC 9654 96-Core Processor".
std::string processorName();

/// Whether Linux lets a process that asks for them use the registers of x86's matrix unit.
bool grantsMatrixTiles();

} // namespace zyx

#endif // ZYX_BASE_PROCESSORS_H
