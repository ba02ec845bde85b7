//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERPROGRAMS_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERPROGRAMS_H

#include "OrderEmitter.h"

namespace zyx::lowering {

/// Rows that are walked by a program each, or a few neighbours by one.
class ProgramOrder : public OrderEmitter {
public:
  ProgramOrder(graph::ir::GroupOp group, mlir::Operation *op, mlir::OpBuilder &builder, const Workgroups &machine)
      : OrderEmitter(group, op, builder), isLockstep(machine.threads != 0), vectorBytes(machine.vectorBytes) {}

private:
  void emitOp() override;
  llvm::SmallVector<TensorType> getScratch() override;
  void explain(llvm::StringRef name) override;

  void emitScan(graph::ir::ScanOp scan);
  void emitSort(graph::ir::SortOp sort);
  void emitScatter(graph::ir::ScatterOp scatter);
  void emitFilled(graph::ir::ScatterOp scatter, const Rows &rows, const Rows &updateRows);
  template <typename Body> void alongRow(int64_t width, mlir::Value begin, mlir::Value end, Body body);
  int64_t lanesOfUpdates(const Rows &rows, const Operand &updates) const;
  /// Lanes of vectors of an operand's elements along the last of its three dimensions; 1 where these are no neighbours.
  int64_t lanesAlongRow(const Operand &operand, mlir::Type widest) const;
  void emitColumns(graph::ir::ScanOp scan, const Rows &rows, const Operand &x, int64_t lanes);
  void emitRow(graph::ir::ScanOp scan, const Rows &rows, const Operand &x, int64_t lanes);
  /// What a sort gives of an element that was at `place`.
  mlir::Value give(graph::ir::SortOp sort, mlir::Value element, mlir::Value place);

  // Digit by digit (RadixSort.cpp).
  bool sortsDigits(graph::ir::SortOp sort) const;
  llvm::SmallVector<TensorType> getDigitScratch(graph::ir::SortOp sort) const;
  void emitDigitSort(graph::ir::SortOp sort);

  // The first elements alone (FirstElements.cpp).
  /// Candidates for the first elements that are kept at a time; 0 where the whole row is sorted.
  int64_t countCandidates(graph::ir::SortOp sort) const;
  int64_t keyLanes(graph::ir::SortOp sort) const;
  void emitFirst(graph::ir::SortOp sort, int64_t candidates);
  /// Whether a thread has room for a row in registers.
  bool isShort(graph::ir::SortOp sort) const;
  void emitShort(graph::ir::SortOp sort);

  /// Whether programs are threads of which some run in lockstep.
  const bool isLockstep;
  const int64_t vectorBytes;
  /// Elements that are taken at once.
  int64_t lanes = 1;
};

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERPROGRAMS_H
