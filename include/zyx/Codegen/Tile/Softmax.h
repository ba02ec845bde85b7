//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a softmax is made of, wherever it is looked for or taken block by block: exponentials of distances to a maximum,
// and what becomes of sums of them where a larger maximum comes (Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018).
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_SOFTMAX_H
#define ZYX_CODEGEN_TILE_SOFTMAX_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace zyx::kernel {

/// exp(x - max(x)). What is matched is how most of them look; what some rely on beyond that they ask.
struct SoftmaxExponential {
  mlir::math::ExpOp exp;
  mlir::arith::SubFOp distance;
  ReduceOp max;
  /// Whether the maximum is repeated by one broadcast along the dimensions in which it was taken; else dimensions were
  /// renamed in another way.
  bool isBroadcast = false;
  /// Whether the distance is converted to a wider type before the exponential is taken.
  bool widensDistance = false;
  /// Whether elements or their maximum are converted to a wider type before the distance is taken.
  bool widensElements = false;
};

/// Matches an exponential of distances to a maximum of the same elements. Conversions to a wider type may stand
/// between, and with `throughMemory`, to tiles that lie in memory.
std::optional<SoftmaxExponential> matchSoftmaxExponential(mlir::math::ExpOp exp, bool throughMemory = false);

/// What distances to a maximum are taken from: 0 where that is minus infinity, from which no distance can be taken. All
/// that has been seen weighs nothing then.
mlir::Value emitSoftmaxBase(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value max);

/// The exponential of a distance to a maximum, which is not positive. Of the distance of an old maximum to a new base
/// it is the factor by which sums shrink that were relative to the old one.
mlir::Value emitSoftmaxExponential(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value distance);

/// The same number everywhere in a value of that type, a float or a tile or vector of them.
mlir::Value emitNumber(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, double number);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_SOFTMAX_H
