//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_SIMT_SHAREDMEMORY_H
#define ZYX_CODEGEN_SIMT_SHAREDMEMORY_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::kernel {

/// What the threads of a program share, found before its kernel is lowered: the schedule has been applied, and tiles
/// are staged.
struct SharedMemory {
  /// At most. What threads hand each other in a reduction is counted where they may.
  int64_t bytes = 0;
  /// Whether tiles lie there, which the workgroups of a cluster would have to read of each other.
  bool hasTiles = false;
  /// A dot that the threads do not multiply together, whatever the bytes are; null where there is none.
  DotOp refused;

  static mlir::FailureOr<SharedMemory> of(FuncOp func, const Axes &axes, const target::TargetInfo &machine);
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_SIMT_SHAREDMEMORY_H
