//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "VectorTranspose.h"

#include "zyx/Base/Assert.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

void zyx::kernel::transposeVectors(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &vectors) {
  int64_t lanes = vectors.size();
  ZYX_ASSERT(llvm::isPowerOf2_64(lanes), "only squares of a power of two are transposed");
  // Swaps the off-diagonal quarters of every square of 2 * half.
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low(lanes), high(lanes);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool right = lane & half;
      low[lane] = right ? lanes + lane - half : lane;
      high[lane] = right ? lanes + lane : lane + half;
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & half)
        continue;
      Value a = vectors[i], b = vectors[i + half];
      vectors[i] = vector::ShuffleOp::create(builder, loc, a, b, low);
      vectors[i + half] = vector::ShuffleOp::create(builder, loc, a, b, high);
    }
  }
}
