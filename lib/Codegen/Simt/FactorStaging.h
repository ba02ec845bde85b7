//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_SIMT_FACTORSTAGING_H
#define ZYX_LIB_CODEGEN_SIMT_FACTORSTAGING_H

#include "AttentionProgram.h"

namespace zyx::kernel {

/// What brings one factor of an attention into shared memory: blocks of rows, read in vectors along rows or columns.
class FactorStaging {
public:
  using Values = AttentionProgram::Values;

  /// `rows` of all, of `columns` elements each, in the type that the factor is read in.
  FactorStaging(AttentionProgram &program, mlir::Value tile, Axis rowAxis, int64_t rows, int64_t all, Axis columnAxis,
                int64_t columns);
  /// Queries: their rows are of several axes.
  static FactorStaging ofQueries(AttentionProgram &program);

  /// Shared memory with so many elements from row to row.
  void allocate(int64_t stride, mlir::Type element);
  /// The thread's vectors of the factor, of the rows from `first` on; of those that do not exist the last ones'.
  mlir::FailureOr<Values> fetch(mlir::Value first) const;
  /// Writes them there; with `first`, zeros in place of rows that do not exist: of an infinity, a weight of zero makes
  /// NaN.
  void put(mlir::ValueRange read, mlir::Value first = {}) const;
  int64_t vectors() const { return rows * columns / lanes; }

  mlir::Value memory;

private:
  AttentionProgram *p;
  mlir::Value tile;
  /// The axis along which vectors are read, and the extents of rows and of one row in vectors.
  Axis rowAxis, columnAxis;
  bool alongColumns = true, isOfRows = false;
  int64_t rows, columns, lanes, all;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_SIMT_FACTORSTAGING_H
