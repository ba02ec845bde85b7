//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_WORKGROUPORDER_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_WORKGROUPORDER_H

#include "OrderEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace zyx::lowering {

inline int64_t divideCeil(int64_t a, int64_t b) { return llvm::divideCeilSigned(a, b); }
inline int64_t ceilPower(int64_t value) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(value)));
}

/// Whose rows a workgroup each walks. Who combines what with what follows from the sizes alone, so that results do not
/// depend on who comes first.
class WorkgroupOrder : public OrderEmitter {
public:
  WorkgroupOrder(graph::ir::GroupOp group, mlir::Operation *op, mlir::OpBuilder &builder, const Workgroups &machine)
      : OrderEmitter(group, op, builder), machine(machine) {}

protected:
  mlir::Value share(int64_t numElements, mlir::Type element) {
    return kernel::AllocOp::create(builder, loc, kernel::ViewType::get({numElements}, element, kernel::Space::Shared));
  }
  void meet() { kernel::BarrierOp::create(builder, loc, kernel::Scope::Workgroup, /*async=*/false); }
  /// Opens a grid for workgroups of so many threads.
  Values openGroups(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> steps, int64_t threads);
  /// Numbers the threads by their subgroups, which may have other neighbours than `kernel.id thread` has, where these
  /// have ops. `sizes` has a place of 32 bits for each thread, which may be written after the next `addUp`.
  void numberBySubgroups(mlir::Value sizes);
  /// What some numbers sum up to: up to this thread's own, included, and of all threads. Threads are numbered by
  /// subgroups. `parts` has a place of the numbers' type for each thread and number; in 64 bits are two numbers of 32.
  struct Sums {
    Values upTo, all;
  };
  Sums addUp(llvm::ArrayRef<mlir::Value> own, mlir::Value parts);
  /// How many all threads before this one have, and all together. `sums` has two places for each thread.
  std::pair<mlir::Value, mlir::Value> sumUp(mlir::Value sums, mlir::Value own);
  mlir::Value remainder(mlir::Value a, int64_t power) {
    return builder.createOrFold<mlir::arith::AndIOp>(loc, a, index(power - 1));
  }
  mlir::Value quotient(mlir::Value a, int64_t power) {
    return builder.createOrFold<mlir::arith::ShRUIOp>(loc, a, index(llvm::Log2_64(static_cast<uint64_t>(power))));
  }
  /// Whether rows of an operand begin at whole vectors of so many elements that lie one behind the other.
  static bool hasLanes(const Rows &rows, const Operand &x, mlir::Type stored, int64_t lanes);
  int64_t lanesOf(mlir::Type stored) const {
    return std::max<int64_t>(8 * machine.laneBytes / std::max(8u, stored.getIntOrFloatBitWidth()), 1);
  }
  mlir::Value extract(mlir::Value read, int64_t lanes, int64_t lane) {
    return lanes == 1 ? read : mlir::vector::ExtractOp::create(builder, loc, read, lane).getResult();
  }
  mlir::Value constant(mlir::TypedAttr value) { return mlir::arith::ConstantOp::create(builder, loc, value); }
  mlir::Value word(int64_t value) { return constant(builder.getI32IntegerAttr(static_cast<int32_t>(value))); }
  mlir::Value toWord(mlir::Value number) {
    return mlir::arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }

  const Workgroups &machine;
  mlir::Value thread;
  int64_t threads = 1;

private:
  mlir::Value id(kernel::IdKind kind) { return kernel::IdOp::create(builder, loc, builder.getIndexType(), kind); }
  mlir::Value addUpInSubgroup(mlir::Value own);
  /// Whether the thread is its subgroup's last one.
  mlir::Value isLast;
  void explain(llvm::StringRef name) override;
};

/// The emitter of each op (WorkgroupScan.cpp, WorkgroupSort.cpp, WorkgroupScatter.cpp).
std::unique_ptr<OrderEmitter> createWorkgroupScan(graph::ir::GroupOp group, graph::ir::ScanOp scan,
                                                  mlir::OpBuilder &builder, const Workgroups &machine);
std::unique_ptr<OrderEmitter> createWorkgroupSort(graph::ir::GroupOp group, graph::ir::SortOp sort,
                                                  mlir::OpBuilder &builder, const Workgroups &machine);
std::unique_ptr<OrderEmitter> createWorkgroupScatter(graph::ir::GroupOp group, graph::ir::ScatterOp scatter,
                                                     mlir::OpBuilder &builder, const Workgroups &machine);

/// Updates of wide rows; null where rows are narrow, or too few for all threads.
std::unique_ptr<OrderEmitter> createRowScatter(graph::ir::GroupOp group, graph::ir::ScatterOp scatter,
                                               mlir::OpBuilder &builder, const Workgroups &machine);

/// Sums of the segments that a note on the scatter names; null where there is none, or where it does not fit.
std::unique_ptr<OrderEmitter> createSegmentSum(graph::ir::GroupOp group, graph::ir::ScatterOp scatter,
                                               mlir::OpBuilder &builder, const Workgroups &machine);

/// Whose rows workgroups of the machine walk; null where single programs do that better.
std::unique_ptr<OrderEmitter> createWorkgroupOrder(graph::ir::GroupOp group, mlir::Operation *op,
                                                   mlir::OpBuilder &builder, const Workgroups &machine, bool isUpdate);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_WORKGROUPORDER_H
