//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_SIMT_ATTENTIONRESULTS_H
#define ZYX_LIB_CODEGEN_SIMT_ATTENTIONRESULTS_H

#include "AttentionProgram.h"

namespace zyx::kernel {

/// What an attention's threads have when all keys have been looked at becomes results: rows' maxima, sums and weighted
/// values, of the workgroups of a cluster too. What threads carry is the maximum of the row that they compare, for each
/// sum their part of it, and their parts of the results.
class AttentionResults {
public:
  using Values = AttentionProgram::Values;

  explicit AttentionResults(AttentionProgram &program) : p(program) {}

  /// What a workgroup shares.
  void allocate();
  /// What the first workgroup of a cluster gets of all.
  void allocateForCluster();
  mlir::LogicalResult finish(mlir::ValueRange carried);

  /// Of a cluster, this workgroup's number.
  mlir::Value rank;

private:
  void keepOwn(mlir::ValueRange carried);
  Values sumsOf(mlir::Value row);
  void forResults(mlir::ValueRange carried, llvm::function_ref<void(mlir::Value, mlir::Value, mlir::Value)> body);
  mlir::LogicalResult storeRow(mlir::Value row, mlir::Value max, mlir::ValueRange sums, mlir::Value column,
                               mlir::Value result);
  mlir::LogicalResult finishTogether(mlir::ValueRange carried);

  AttentionProgram &p;
  mlir::Value maxima, partSums, totals, outputs;
  mlir::Value allNumbers, allOutputs;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_SIMT_ATTENTIONRESULTS_H
