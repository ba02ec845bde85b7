//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SharedDivisor.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace zyx::kernel {
namespace {

/// Exponents between which nothing below overflows or loses digits: those of the dividend and of the
/// divisor, either side of 0. The residue x - q d is a multiple of |x| 2^-(2 p), which must be a number;
/// quotients are normal.
struct Range {
  int dividend, divisor;
};
Range rangeOf(Type element) { return element.isF64() ? Range{900, 120} : Range{98, 27}; }

class Divider {
public:
  Divider(OpBuilder &builder, Location loc, VectorType type, bool lanesAreRegisters)
      : builder(builder), loc(loc), type(type), lanesAreRegisters(lanesAreRegisters),
        element(cast<FloatType>(type.getElementType())), bitsElement(builder.getIntegerType(element.getWidth())),
        bitsType(type.clone(bitsElement)) {}

  Value divide(Value x, Value divisor) {
    Value outside = isAny(areOutside(x, divisor));
    // The reciprocal as a number and what it lacks.
    Value one = arith::ConstantOp::create(builder, loc, FloatAttr::get(element, 1.0));
    Value inverse = arith::DivFOp::create(builder, loc, one, divisor);
    Value minus = arith::NegFOp::create(builder, loc, divisor);
    Value lack = math::FmaOp::create(builder, loc, inverse, minus, one);
    Value low = splat(arith::MulFOp::create(builder, loc, lack, inverse)), high = splat(inverse);
    auto branch = scf::IfOp::create(builder, loc, TypeRange(type), outside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, arith::DivFOp::create(builder, loc, x, splat(divisor)).getResult());
    builder.setInsertionPointToStart(branch.elseBlock());
    // The first quotient is one of the two numbers next to the true one: what it is rounded from is
    // wrong by no more than a few 2^-2p of it. A correction then gives the nearer one (Markstein): the
    // residue is exact, and `inverse` is the correctly rounded reciprocal.
    Value rest = arith::MulFOp::create(builder, loc, x, low);
    Value quotient = math::FmaOp::create(builder, loc, x, high, rest);
    Value residue = math::FmaOp::create(builder, loc, quotient, splat(minus), x);
    Value corrected = math::FmaOp::create(builder, loc, residue, high, quotient);
    scf::YieldOp::create(builder, loc, corrected);
    return branch.getResult(0);
  }

private:
  /// Conditions in registers of their own are combined one by one: nothing makes a vector of them.
  Value isAny(Value lanes) {
    if (!lanesAreRegisters)
      return vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, lanes);
    Value any = vector::ExtractOp::create(builder, loc, lanes, int64_t(0));
    for (int64_t i = 1; i < type.getNumElements(); ++i)
      any = arith::OrIOp::create(builder, loc, any, vector::ExtractOp::create(builder, loc, lanes, i));
    return any;
  }
  Value splat(Value scalar) {
    return vector::BroadcastOp::create(builder, loc, VectorType::get(type.getShape(), scalar.getType()), scalar);
  }
  Value constant(int64_t value) {
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(bitsType, Attribute(builder.getIntegerAttr(bitsElement, value))));
  }
  Value scalar(int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(bitsElement, value));
  }
  /// Bits of 2^exponent.
  int64_t power(int exponent) {
    unsigned mantissa = element.getFPMantissaWidth() - 1;
    int64_t bias = element.isF64() ? 1023 : 127;
    return (bias + exponent) << mantissa;
  }

  /// Lanes whose magnitude is not within the range; positive zero is right, too, where the divisor is
  /// positive: by a negative one the sum that the quotient is may be of two zeros of different signs. All
  /// where the divisor is not within its range, but lanes of a NaN, which come out as NaN either way.
  Value areOutside(Value x, Value divisor) {
    Range range = rangeOf(element);
    int64_t magnitude = element.isF64() ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
    auto width = [&](int exponent) { return power(exponent) - power(-exponent); };
    Value divisorBits = arith::BitcastOp::create(builder, loc, bitsElement, divisor);
    Value divisorSize = arith::AndIOp::create(builder, loc, divisorBits, scalar(magnitude));
    Value above = arith::SubIOp::create(builder, loc, divisorSize, scalar(power(-range.divisor)));
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, above, scalar(width(range.divisor)));
    // Chosen once for all vectors that are divided.
    Value limit = arith::SelectOp::create(builder, loc, fits, scalar(width(range.dividend) + 1), scalar(0));
    Value isPositive = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, divisorBits, scalar(0));
    Value zeroIsRight = arith::AndIOp::create(builder, loc, fits, isPositive);
    Value right = arith::SelectOp::create(builder, loc, zeroIsRight, scalar(0), scalar(-1));
    Value bits = arith::BitcastOp::create(builder, loc, bitsType, x);
    Value size = arith::AndIOp::create(builder, loc, bits, constant(magnitude));
    Value distance = arith::SubIOp::create(builder, loc, size, constant(power(-range.dividend)));
    Value beyond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, distance, splat(limit));
    Value wrong = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bits, splat(right));
    return arith::AndIOp::create(builder, loc, beyond, wrong);
  }

  OpBuilder &builder;
  Location loc;
  VectorType type;
  const bool lanesAreRegisters;
  FloatType element;
  IntegerType bitsElement;
  VectorType bitsType;
};

} // namespace

bool sharesDivisor(Value divisor, bool hasFma) {
  if (!hasFma || !(divisor.getType().isF32() || divisor.getType().isF64()))
    return false;
  // LLVM multiplies by the inverse of a power of two, which is exact.
  FloatAttr known;
  return !matchPattern(divisor, m_Constant(&known)) || known.getValue().getExactLog2Abs() == INT_MIN;
}

Value divideByShared(OpBuilder &builder, Location loc, Value x, Value divisor, bool lanesAreRegisters) {
  return Divider(builder, loc, cast<VectorType>(x.getType()), lanesAreRegisters).divide(x, divisor);
}

} // namespace zyx::kernel
