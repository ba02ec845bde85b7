//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_NEAROPERANDS_H
#define ZYX_CODEGEN_CPU_NEAROPERANDS_H

#include "zyx/Codegen/Tile/NearForm.h"
#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Operands of a nest's sums that a program copies into memory of its own before it walks them: windows over what is
/// padded, and factors that lie across the vectors. What is read of them then is vectors of neighbours that all exist.
class NearOperands {
public:
  explicit NearOperands(Nest &nest) : n(nest), t(nest.t), loc(nest.loc) {}

  /// Whether a load of a long sum, whose operand slides along what is summed up, would be copied with vectors along an
  /// axis.
  bool comesNear(LoadOp load, Axis axis);
  /// Copies what is to be copied; Nest::near is what has been.
  void copy();
  /// Memory for what is combined, with the vectors' axis innermost; false where the tile has it there, or others may
  /// want rows.
  bool allocateAlong(mlir::Value result);
  /// As many positions at a time as have sums in registers, so that what all of them read is read once.
  int64_t positionsAtOnce(Axis axis);

private:
  bool mayCopy();
  /// Whether what is combined is more than a window: results slide over it, not it over the operand.
  bool combinesMany();
  uint64_t countReads();
  /// What a load would be copied as, with vectors of `width` along an axis; none where it is better read where it lies.
  std::optional<NearForm> formOf(LoadOp load, Axis along, int64_t width);
  void copy(LoadOp load, ViewOp view, const NearForm &form, int64_t elements);

  Nest &n;
  TileContext &t;
  mlir::Location loc;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_NEAROPERANDS_H
