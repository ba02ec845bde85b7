//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_INFO_BUDGETS_H
#define ZYX_TARGET_INFO_BUDGETS_H

#include "zyx/Target/Info/TargetInfo.h"

#include <algorithm>
#include <bit>

/// What passes may spend of a machine, derived from its record.
namespace zyx::target {

/// Bytes of rows that a workgroup keeps in shared memory as they were read. Two workgroups are on a core at once, and
/// each has other memory beside its rows.
inline int64_t keptRowBytes(const TargetInfo &target) {
  constexpr int64_t besideRows = 6 << 10;
  return std::max<int64_t>(target.simt.sharedBytes / 2 - besideRows, 0);
}

/// Bytes of tiles that the threads of a program keep for later, so that several workgroups are on a core: no more than
/// a half of what there is.
inline int64_t sharedTileBytes(const TargetInfo &target) {
  constexpr int64_t most = 32 << 10;
  return std::min(most, target.simt.sharedBytes / 2);
}

/// Registers that are left for a thread of `multiplying` groups of subgroups, which multiply tiles, of `all` that a
/// workgroup has: threads of the other groups have `others` together. 0 where all threads have as many: on machines
/// where none are handed over, and where a single group has as many as a thread can have.
inline int64_t registersOfGroups(const TargetInfo &target, int64_t multiplying, int64_t all, int64_t others) {
  const int64_t unit = target.simt.registerStep;
  const MatrixInstruction *product = target.findTileProduct();
  if (unit == 0 || !product || multiplying == 1)
    return 0;
  auto wholeUnits = [&](int64_t registers) { return registers / unit * unit; };
  // All threads of a workgroup begin with as many.
  const int64_t each = wholeUnits(target.simt.registers / (all * product->threads));
  return wholeUnits((each * all - others) / multiplying);
}

/// Threads of a workgroup that reduces a row, and of one that adds up a strip of columns.
inline int64_t rowThreads(const TargetInfo &target) { return target.simt.workgroupThreads / 4; }
inline int64_t columnThreads(const TargetInfo &target) { return target.simt.workgroupThreads / 2; }
/// Elements of a window (taps) whose sums a thread of such a workgroup has at once: half of its registers where a core
/// has two of them, and half of the shared memory where all sums of f32 are combined.
inline int64_t tapSums(const TargetInfo &target) {
  const int64_t bytes = 4 * (rowThreads(target) + rowThreads(target) / 8);
  return bytes == 0 ? 0
                    : std::min(target.simt.registers / (4 * rowThreads(target)), target.simt.sharedBytes / (2 * bytes));
}
/// Bytes of such a strip, side by side: as much as memory gives at once for four requests.
inline int64_t stripBytes(const TargetInfo &target) { return 4 * target.memory.lineBytes; }
/// Bytes of column sums that a kernel keeps beside rows and their sums, in the same memory as the rows.
inline int64_t columnSumBytes(const TargetInfo &target) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(keptRowBytes(target))));
}

/// Bits of the operands that matrix instructions multiply out of shared memory without a loss of digits: products of no
/// more are kept for them. 0 where nothing does.
inline int64_t matrixOperandBits(const TargetInfo &target) { return target.hasTensorTiles() ? 16 : 0; }

} // namespace zyx::target

#endif // ZYX_TARGET_INFO_BUDGETS_H
