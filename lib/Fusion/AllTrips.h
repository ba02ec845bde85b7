//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_ALLTRIPS_H
#define ZYX_LIB_FUSION_ALLTRIPS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {

/// Values of a body for all trips, in front of a loop or behind it: with one dimension more in front, where they differ
/// from trip to trip. Trip t is row t, or the rows are those of the trips from the last one on.
class AllTrips {
public:
  AllTrips(graph::ir::LoopOp loop, mlir::OpBuilder &builder, bool isReversed)
      : loop(loop), builder(builder), trips(loop.getTripsAttr().getInt()), isReversed(isReversed) {}

  struct Known {
    mlir::Value value;
    bool isEach;
  };

  /// Null where that is not known.
  std::optional<Known> get(mlir::Value value);
  /// With the dimension in any case.
  mlir::Value getEach(mlir::Value value);
  /// What is known of a value that a loop carries or makes.
  void set(mlir::Value value, mlir::Value all) { known[value] = Known{all, true}; }
  mlir::Value spread(mlir::Value value);

private:
  std::optional<Known> compute(mlir::Operation *op);
  std::optional<Known> gather(graph::ir::GatherOp gather);
  mlir::Value clone(mlir::Operation *op, mlir::ValueRange operands, mlir::Type type);
  mlir::RankedTensorType withTrips(mlir::Value value) const;

  graph::ir::LoopOp loop;
  mlir::OpBuilder &builder;
  int64_t trips;
  bool isReversed;
  llvm::DenseMap<mlir::Value, std::optional<Known>> known;
};

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_ALLTRIPS_H
