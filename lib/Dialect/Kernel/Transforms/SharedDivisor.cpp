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
  Divider(OpBuilder &builder, Location loc, VectorType type)
      : builder(builder), loc(loc), type(type), element(cast<FloatType>(type.getElementType())),
        bitsElement(builder.getIntegerType(element.getWidth())), bitsType(type.clone(bitsElement)) {}

  Value divide(Value x, Value divisor) {
    Value all = vector::ReductionOp::create(builder, loc, vector::CombiningKind::AND, areInside(x, divisor));
    Value one = arith::ConstantOp::create(builder, loc, FloatAttr::get(element, 1.0));
    Value reciprocal = splat(arith::DivFOp::create(builder, loc, one, divisor));
    Value by = splat(divisor);
    auto branch = scf::IfOp::create(builder, loc, TypeRange(type), all, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    // The first quotient is wrong by at most two units in the last place. One correction makes it one of
    // the two numbers next to the true quotient, the next the nearer one (Markstein): its residue is
    // exact, and the reciprocal is the correctly rounded one.
    Value quotient = arith::MulFOp::create(builder, loc, x, reciprocal);
    for (int round = 0; round < 2; ++round) {
      Value minus = arith::NegFOp::create(builder, loc, quotient);
      Value residue = math::FmaOp::create(builder, loc, minus, by, x);
      quotient = math::FmaOp::create(builder, loc, residue, reciprocal, quotient);
    }
    scf::YieldOp::create(builder, loc, quotient);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, arith::DivFOp::create(builder, loc, x, by).getResult());
    return branch.getResult(0);
  }

private:
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

  /// Lanes whose magnitude is within the range; positive zero is right, too. None where the divisor is not.
  Value areInside(Value x, Value divisor) {
    Range range = rangeOf(element);
    int64_t magnitude = element.isF64() ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
    auto width = [&](int exponent) { return power(exponent) - power(-exponent); };
    Value divisorBits = arith::BitcastOp::create(builder, loc, bitsElement, divisor);
    Value divisorSize = arith::AndIOp::create(builder, loc, divisorBits, scalar(magnitude));
    Value above = arith::SubIOp::create(builder, loc, divisorSize, scalar(power(-range.divisor)));
    Value divisorFits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, above,
                                              scalar(width(range.divisor)));
    Value bits = arith::BitcastOp::create(builder, loc, bitsType, x);
    Value size = arith::AndIOp::create(builder, loc, bits, constant(magnitude));
    Value distance = arith::SubIOp::create(builder, loc, size, constant(power(-range.dividend)));
    Value within = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, distance,
                                         constant(width(range.dividend)));
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits, constant(0));
    Value inside = arith::OrIOp::create(builder, loc, within, isZero);
    return arith::AndIOp::create(builder, loc, inside, splat(divisorFits));
  }

  OpBuilder &builder;
  Location loc;
  VectorType type;
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

Value divideByShared(OpBuilder &builder, Location loc, Value x, Value divisor) {
  return Divider(builder, loc, cast<VectorType>(x.getType())).divide(x, divisor);
}

} // namespace zyx::kernel
