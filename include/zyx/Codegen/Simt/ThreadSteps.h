//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_SIMT_THREADSTEPS_H
#define ZYX_CODEGEN_SIMT_THREADSTEPS_H

#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Emits the part of a row that a thread has, where the threads of a program walk the vectors of a row together.
class ThreadSteps {
public:
  using Accumulators = Nest::Accumulators;
  using Body = Nest::Body;

  explicit ThreadSteps(Nest &nest) : n(nest), t(nest.t), loc(nest.loc) {}

  /// Whole vectors, and the last one of which some lanes do not exist.
  mlir::FailureOr<Accumulators> emitPieces(Extent extent, Accumulators accs, Body whole, Body partial);

private:
  /// The part of a loop that this thread has: each takes a step, and as many steps further the next one.
  mlir::FailureOr<Accumulators> emitOwn(Extent low, Extent high, int64_t step, Accumulators accs, Body body);
  /// Reads what the program has of a row, of all its loads that differ between programs, before anything waits for some
  /// of it.
  mlir::LogicalResult readAhead(llvm::ArrayRef<mlir::Value> positions);

  Nest &n;
  TileContext &t;
  mlir::Location loc;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_SIMT_THREADSTEPS_H
