//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/Lanes.h"

#include "zyx/Base/Assert.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace zyx::kernel {

Value combineAll(OpBuilder &builder, Location loc, Combine kind, SmallVector<Value> values) {
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(createCombine(builder, loc, kind, values[i], values[i + 1]));
    if (values.size() % 2)
      next.push_back(values.back());
    values = next;
  }
  return values.front();
}

/// The last two are scalars: as vectors of one lane, LLVM 22.1 takes the sum of products of bytes for
/// one `vpdpbusd` and loses its last additions.
Value combineLanes(OpBuilder &builder, Location loc, Combine kind, Value vector) {
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  while (width > 2) {
    width /= 2;
    SmallVector<int64_t> low(width), high(width);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), width);
    Value a = vector::ShuffleOp::create(builder, loc, vector, vector, low);
    Value b = vector::ShuffleOp::create(builder, loc, vector, vector, high);
    vector = createCombine(builder, loc, kind, a, b);
  }
  Value first = vector::ExtractOp::create(builder, loc, vector, int64_t(0));
  if (width == 1)
    return first;
  Value second = vector::ExtractOp::create(builder, loc, vector, int64_t(1));
  return createCombine(builder, loc, kind, first, second);
}

static Value constantLike(OpBuilder &builder, Location loc, Type type, const APInt &number) {
  TypedAttr value = IntegerAttr::get(getElementTypeOrSelf(type), number);
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(builder, loc, value);
}

/// Turns the order of the digits of negative numbers around; its own inverse.
static Value turnNegative(OpBuilder &builder, Location loc, Value bits) {
  Type type = bits.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value sign = arith::ShRSIOp::create(builder, loc, bits, constantLike(builder, loc, type, APInt(width, width - 1)));
  Value digits = constantLike(builder, loc, type, APInt::getSignedMaxValue(width));
  return arith::XOrIOp::create(builder, loc, bits, arith::AndIOp::create(builder, loc, sign, digits));
}

/// How many NaN of one sign there are: the turn by which those at one end come to the other.
static Value numberOfNaN(OpBuilder &builder, Location loc, Type type, FloatType element) {
  // The digits behind the point, without the one that is always set.
  const unsigned digits = element.getFPMantissaWidth() - 1;
  return constantLike(builder, loc, type, APInt::getLowBitsSet(element.getWidth(), digits));
}

Value toOrderedBits(OpBuilder &builder, Location loc, Combine kind, Value floats) {
  Type element = builder.getIntegerType(getElementTypeOrSelf(floats.getType()).getIntOrFloatBitWidth());
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(floats.getType()))
    type = vector.clone(element);
  Value bits = turnNegative(builder, loc, arith::BitcastOp::create(builder, loc, type, floats));
  Value turn = numberOfNaN(builder, loc, type, cast<FloatType>(getElementTypeOrSelf(floats.getType())));
  return kind == Combine::Max ? arith::SubIOp::create(builder, loc, bits, turn).getResult()
                              : arith::AddIOp::create(builder, loc, bits, turn);
}

Value fromOrderedBits(OpBuilder &builder, Location loc, Combine kind, Value bits, FloatType element) {
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(bits.getType()))
    type = vector.clone(element);
  Value turn = numberOfNaN(builder, loc, bits.getType(), element);
  bits = kind == Combine::Max ? arith::AddIOp::create(builder, loc, bits, turn).getResult()
                              : arith::SubIOp::create(builder, loc, bits, turn);
  return arith::BitcastOp::create(builder, loc, type, turnNegative(builder, loc, bits));
}

void transposeVectors(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &vectors) {
  const auto lanes = static_cast<int64_t>(vectors.size());
  ZYX_ASSERT(llvm::isPowerOf2_64(lanes), "only squares of a power of two are transposed");
  // Swaps the off-diagonal quarters of every square of 2 * half.
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low(lanes), high(lanes);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const bool isRight = lane & half;
      low[lane] = isRight ? lanes + lane - half : lane;
      high[lane] = isRight ? lanes + lane : lane + half;
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

Value chooseLanes(OpBuilder &builder, Location loc, Value before, Value read, int64_t piece, int64_t step) {
  const int64_t lanes = cast<VectorType>(read.getType()).getNumElements();
  SmallVector<int64_t> chosen;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t element = lane * step, from = element / lanes;
    if (from == piece)
      chosen.push_back(lanes + element % lanes);
    else
      chosen.push_back(piece == 1 && from == 0 ? element : lane);
  }
  return vector::ShuffleOp::create(builder, loc, before, read, chosen);
}

} // namespace zyx::kernel
