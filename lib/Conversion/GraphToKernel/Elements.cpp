//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Elements.h"

#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

bool isFloat8(Type element) { return isa<Float8E4M3FNType, Float8E5M2Type>(element); }

Type toSignless(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

TypedAttr getSplatElement(DenseElementsAttr value) {
  Type element = value.getElementType();
  if (isa<FloatType>(element))
    return FloatAttr::get(element, value.getSplatValue<APFloat>());
  return IntegerAttr::get(toSignless(element), value.getSplatValue<APInt>());
}

Value createSplat(OpBuilder &builder, Location loc, RankedTensorType type, TypedAttr element) {
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(element)));
}

namespace {
/// Builds ops on tiles of one shape.
class Tiles {
public:
  Tiles(OpBuilder &builder, Location loc, RankedTensorType like) : builder(builder), loc(loc), like(like) {}

  RankedTensorType withElement(Type element) { return like.clone(element); }
  Value integer(Type element, const APInt &value) {
    return createSplat(builder, loc, withElement(element), IntegerAttr::get(element, value));
  }
  Value integer(Type element, int64_t value) {
    return integer(element, APInt(element.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
                                  /*implicitTrunc=*/true));
  }
  Value floating(Type element, double value) {
    return createSplat(builder, loc, withElement(element), FloatAttr::get(element, value));
  }
  template <typename Op, typename... Args> Value make(Args... args) {
    return Op::create(builder, loc, args...).getResult();
  }
  template <typename Op> Value convert(Value x, Type element) { return make<Op>(withElement(element), x); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) { return make<arith::CmpIOp>(predicate, a, b); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) { return make<arith::CmpFOp>(predicate, a, b); }
  Value select(Value condition, Value a, Value b) { return make<arith::SelectOp>(condition, a, b); }

  Value unary(UnaryKind kind, Value x, Type graphElement);
  Value binary(BinaryKind kind, Value a, Value b, Type graphElement);
  Value cast(Value x, Type from, Type to);
  Value bitcast(Value x, Type to) {
    Type target = toSignless(to);
    return getElementTypeOrSelf(x) == target ? x : convert<arith::BitcastOp>(x, target);
  }

private:
  Value divide(Value a, Value b, bool isUnsigned);
  Value remainder(Value a, Value b, bool isUnsigned);
  Value power(Value a, Value b, bool isUnsigned);
  Value compareKind(BinaryKind kind, Value a, Value b, bool isUnsigned);
  Value floatToInteger(Value x, IntegerType to, bool isUnsigned);
  Value integerToSmall(Value x, Type to, bool isUnsigned);
  Value doubleToSmall(Value x, Type to);
  Value toOddBits(Value rounded, Value isInexact, Value isTooLarge);

  OpBuilder &builder;
  Location loc;
  RankedTensorType like;
};
} // namespace

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

// A kind without a case does not compile: docs/adding-an-op.md.
#pragma GCC diagnostic error "-Wswitch"

Value Tiles::unary(UnaryKind kind, Value x, Type graphElement) {
  Type element = toSignless(graphElement);
  bool isFloat = isa<FloatType>(element);
  switch (kind) {
  case UnaryKind::Neg:
    return isFloat ? make<arith::NegFOp>(x) : make<arith::SubIOp>(integer(element, 0), x);
  case UnaryKind::Not:
    return make<arith::XOrIOp>(x, integer(element, -1));
  case UnaryKind::Abs:
    if (isFloat)
      return make<math::AbsFOp>(x);
    if (graphElement.isUnsignedInteger())
      return x;
    // The smallest integer is its own negative.
    return make<arith::MaxSIOp>(x, make<arith::SubIOp>(integer(element, 0), x));
  case UnaryKind::Recip:
    return make<arith::DivFOp>(floating(element, 1.0), x);
#define ZYX_GRAPH_UNARY_MATH(Name, Op)                                                                                 \
  case UnaryKind::Name:                                                                                                \
    return make<math::Op>(x);
#include "zyx/Graph/UnaryKinds.inc"
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

/// x / 0 has all bits set, and the smallest integer / -1 is itself. `arith` leaves both undefined,
/// so that these divide by 1.
Value Tiles::divide(Value a, Value b, bool isUnsigned) {
  Type element = getElementTypeOrSelf(a);
  Value one = integer(element, 1), allOnes = integer(element, -1);
  Value isZero = compare(arith::CmpIPredicate::eq, b, integer(element, 0));
  Value unsafe = isZero;
  if (!isUnsigned) {
    APInt smallest = APInt::getSignedMinValue(element.getIntOrFloatBitWidth());
    Value overflows = make<arith::AndIOp>(compare(arith::CmpIPredicate::eq, a, integer(element, smallest)),
                                          compare(arith::CmpIPredicate::eq, b, allOnes));
    unsafe = make<arith::OrIOp>(isZero, overflows);
  }
  Value divisor = select(unsafe, one, b);
  Value quotient = isUnsigned ? make<arith::DivUIOp>(a, divisor) : make<arith::DivSIOp>(a, divisor);
  return select(isZero, allOnes, quotient);
}

/// a rem 0 is a; any a rem -1 is 0, which a rem 1 is too.
Value Tiles::remainder(Value a, Value b, bool isUnsigned) {
  Type element = getElementTypeOrSelf(a);
  Value isZero = compare(arith::CmpIPredicate::eq, b, integer(element, 0));
  Value unsafe = isZero;
  if (!isUnsigned)
    unsafe = make<arith::OrIOp>(isZero, compare(arith::CmpIPredicate::eq, b, integer(element, -1)));
  Value divisor = select(unsafe, integer(element, 1), b);
  Value rest = isUnsigned ? make<arith::RemUIOp>(a, divisor) : make<arith::RemSIOp>(a, divisor);
  return select(isZero, a, rest);
}

/// Squares and multiplies, a step per bit of the exponent.
Value Tiles::power(Value a, Value b, bool isUnsigned) {
  Type element = getElementTypeOrSelf(a);
  int64_t width = element.getIntOrFloatBitWidth();
  Value zero = integer(element, 0), one = integer(element, 1);
  Value result = one, square = a;
  // The sign of the exponent is looked at below.
  for (int64_t bit = 0, end = isUnsigned ? width : width - 1; bit < end; ++bit) {
    Value digit = make<arith::AndIOp>(b, integer(element, APInt::getOneBitSet(width, bit)));
    Value isSet = compare(arith::CmpIPredicate::ne, digit, zero);
    result = select(isSet, make<arith::MulIOp>(result, square), result);
    if (bit + 1 < end)
      square = make<arith::MulIOp>(square, square);
  }
  if (isUnsigned)
    return result;
  // 1 divided by a power of a: 1 of 1, 1 or -1 of -1, and of 0 what a division by it gives.
  Value minusOne = integer(element, -1);
  Value isOdd = compare(arith::CmpIPredicate::ne, make<arith::AndIOp>(b, one), zero);
  Value inverse = select(compare(arith::CmpIPredicate::eq, a, zero), minusOne, zero);
  inverse = select(compare(arith::CmpIPredicate::eq, a, one), one, inverse);
  inverse = select(compare(arith::CmpIPredicate::eq, a, minusOne), select(isOdd, minusOne, one), inverse);
  return select(compare(arith::CmpIPredicate::slt, b, zero), inverse, result);
}

Value Tiles::compareKind(BinaryKind kind, Value a, Value b, bool isUnsigned) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a));
  auto pick = [&](F floats, I ints, I unsignedInts) {
    return isFloat ? compare(floats, a, b) : compare(isUnsigned ? unsignedInts : ints, a, b);
  };
  switch (kind) {
  case BinaryKind::Lt:
    return pick(F::OLT, I::slt, I::ult);
  case BinaryKind::Le:
    return pick(F::OLE, I::sle, I::ule);
  case BinaryKind::Gt:
    return pick(F::OGT, I::sgt, I::ugt);
  case BinaryKind::Ge:
    return pick(F::OGE, I::sge, I::uge);
  case BinaryKind::Eq:
    return pick(F::OEQ, I::eq, I::eq);
  default:
    return pick(F::UNE, I::ne, I::ne);
  }
}

Value Tiles::binary(BinaryKind kind, Value a, Value b, Type graphElement) {
  Type element = toSignless(graphElement);
  bool isFloat = isa<FloatType>(element);
  // Of the bools, true is the larger.
  bool isUnsigned = graphElement.isUnsignedInteger() || element.isInteger(1);
  int64_t width = element.getIntOrFloatBitWidth();
  switch (kind) {
  case BinaryKind::Add:
    return isFloat ? make<arith::AddFOp>(a, b) : make<arith::AddIOp>(a, b);
  case BinaryKind::Sub:
    return isFloat ? make<arith::SubFOp>(a, b) : make<arith::SubIOp>(a, b);
  case BinaryKind::Mul:
    return isFloat ? make<arith::MulFOp>(a, b) : make<arith::MulIOp>(a, b);
  case BinaryKind::Div:
    return isFloat ? make<arith::DivFOp>(a, b) : divide(a, b, isUnsigned);
  case BinaryKind::Rem:
    return isFloat ? make<arith::RemFOp>(a, b) : remainder(a, b, isUnsigned);
  case BinaryKind::Pow:
    return isFloat ? make<math::PowFOp>(a, b) : power(a, b, isUnsigned);
  case BinaryKind::Max:
    return isFloat      ? make<arith::MaximumFOp>(a, b)
           : isUnsigned ? make<arith::MaxUIOp>(a, b)
                        : make<arith::MaxSIOp>(a, b);
  case BinaryKind::Min:
    return isFloat      ? make<arith::MinimumFOp>(a, b)
           : isUnsigned ? make<arith::MinUIOp>(a, b)
                        : make<arith::MinSIOp>(a, b);
  case BinaryKind::And:
    return make<arith::AndIOp>(a, b);
  case BinaryKind::Or:
    return make<arith::OrIOp>(a, b);
  case BinaryKind::Xor:
    return make<arith::XOrIOp>(a, b);
  case BinaryKind::Shl:
  case BinaryKind::Shr: {
    // Not a select of the amount, too: LLVM 22.1 makes one clamped shift of both for NVPTX, which
    // takes the low 32 bits of a 64-bit amount.
    Value amount = make<arith::MinUIOp>(b, integer(element, width - 1));
    if (kind == BinaryKind::Shr && !isUnsigned)
      return make<arith::ShRSIOp>(a, amount);
    Value isInside = compare(arith::CmpIPredicate::ult, b, integer(element, width));
    Value zero = integer(element, 0);
    Value shifted = kind == BinaryKind::Shl ? make<arith::ShLIOp>(a, amount) : make<arith::ShRUIOp>(a, amount);
    return select(isInside, shifted, zero);
  }
  case BinaryKind::Lt:
  case BinaryKind::Le:
  case BinaryKind::Gt:
  case BinaryKind::Ge:
  case BinaryKind::Eq:
  case BinaryKind::Ne:
    return compareKind(kind, a, b, isUnsigned);
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Towards zero, saturating, NaN to 0; `arith` leaves all but the inside of the range undefined.
Value Tiles::floatToInteger(Value x, IntegerType to, bool isUnsigned) {
  Type element = getElementTypeOrSelf(x);
  if (element.isF16() || element.isBF16()) {
    element = builder.getF32Type();
    x = convert<arith::ExtFOp>(x, element);
  }
  unsigned width = to.getWidth();
  APInt least = isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt most = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  // Both ends are powers of two or zero, which every format holds.
  Value low = floating(element, isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1));
  Value high = floating(element, std::ldexp(1.0, isUnsigned ? width : width - 1));
  Value isAbove = compare(arith::CmpFPredicate::OGE, x, high);
  Value isInside =
      make<arith::AndIOp>(compare(arith::CmpFPredicate::OGE, x, low), compare(arith::CmpFPredicate::OLT, x, high));
  Value inside = select(isInside, x, floating(element, 0.0));
  Value whole = isUnsigned ? convert<arith::FPToUIOp>(inside, to) : convert<arith::FPToSIOp>(inside, to);
  Value isBelow = compare(arith::CmpFPredicate::OLT, x, low);
  return select(isAbove, integer(to, most), select(isBelow, integer(to, least), whole));
}

/// The f32 whose last digit says that digits were lost ("rounded to odd"): rounding it again to a
/// narrower format gives what rounding the exact value gives.
Value Tiles::toOddBits(Value rounded, Value isInexact, Value isTooLarge) {
  Type i32 = builder.getI32Type();
  Value bits = convert<arith::BitcastOp>(rounded, i32);
  bits = make<arith::SubIOp>(bits, convert<arith::ExtUIOp>(isTooLarge, i32));
  bits = make<arith::OrIOp>(bits, convert<arith::ExtUIOp>(isInexact, i32));
  return convert<arith::BitcastOp>(bits, builder.getF32Type());
}

/// Integers of 32 and 64 bits to f16, bf16 and f8, rounded once: f32 has not enough digits for them.
Value Tiles::integerToSmall(Value x, Type to, bool isUnsigned) {
  Type i64 = builder.getI64Type(), f32 = builder.getF32Type();
  Type element = getElementTypeOrSelf(x);
  Value zero = integer(i64, 0);
  if (element != i64)
    x = isUnsigned ? convert<arith::ExtUIOp>(x, i64) : convert<arith::ExtSIOp>(x, i64);
  Value isNegative = isUnsigned ? Value() : compare(arith::CmpIPredicate::slt, x, zero);
  Value size = isUnsigned ? x : select(isNegative, make<arith::SubIOp>(zero, x), x);
  // Half of the size, its last digit kept, fits a signed integer even after rounding up.
  Value one = integer(i64, 1);
  Value half = make<arith::OrIOp>(make<arith::ShRUIOp>(size, one), make<arith::AndIOp>(size, one));
  // 2^63 at most, so that the way back is unsigned.
  Value rounded = convert<arith::UIToFPOp>(half, f32);
  Value back = convert<arith::FPToUIOp>(rounded, i64);
  Value odd =
      toOddBits(rounded, compare(arith::CmpIPredicate::ne, back, half), compare(arith::CmpIPredicate::ugt, back, half));
  // Below 2^24 nothing is lost, and the halved last digit would count as a digit of its own.
  Value isSmall = compare(arith::CmpIPredicate::ult, size, integer(i64, int64_t(1) << 24));
  Value value = select(isSmall, convert<arith::UIToFPOp>(size, f32), make<arith::MulFOp>(odd, floating(f32, 2.0)));
  if (!isUnsigned)
    value = select(isNegative, make<arith::NegFOp>(value), value);
  return convert<arith::TruncFOp>(value, to);
}

/// f64 to f16, bf16 and f8, rounded once.
Value Tiles::doubleToSmall(Value x, Type to) {
  Value rounded = convert<arith::TruncFOp>(x, builder.getF32Type());
  Value back = convert<arith::ExtFOp>(rounded, builder.getF64Type());
  Value isInexact = compare(arith::CmpFPredicate::ONE, back, x);
  Value isTooLarge = compare(arith::CmpFPredicate::OGT, make<math::AbsFOp>(back), make<math::AbsFOp>(x));
  return convert<arith::TruncFOp>(toOddBits(rounded, isInexact, isTooLarge), to);
}

Value Tiles::cast(Value x, Type from, Type to) {
  Type source = toSignless(from), target = toSignless(to);
  bool fromUnsigned = from.isUnsignedInteger() || source.isInteger(1);
  unsigned sourceWidth = source.getIntOrFloatBitWidth();
  unsigned targetWidth = target.getIntOrFloatBitWidth();
  if (source == target)
    return x;
  Type f32 = builder.getF32Type();
  // f32 holds both kinds of f8, so that they are widened first and rounded last.
  if (isFloat8(source))
    return cast(convert<arith::ExtFOp>(x, f32), f32, to);
  if (isFloat8(target) && isa<FloatType>(source) && sourceWidth < 32)
    return convert<arith::TruncFOp>(convert<arith::ExtFOp>(x, f32), target);
  if (isa<FloatType>(source)) {
    if (target.isInteger(1))
      return compare(arith::CmpFPredicate::UNE, x, floating(source, 0.0));
    if (auto integerType = dyn_cast<IntegerType>(target))
      return floatToInteger(x, integerType, to.isUnsignedInteger());
    if (sourceWidth == 64 && targetWidth <= 16)
      return doubleToSmall(x, target);
    if (sourceWidth == targetWidth)
      // f16 and bf16: f32 holds both.
      return convert<arith::TruncFOp>(convert<arith::ExtFOp>(x, f32), target);
    return sourceWidth < targetWidth ? convert<arith::ExtFOp>(x, target) : convert<arith::TruncFOp>(x, target);
  }
  if (target.isInteger(1))
    return compare(arith::CmpIPredicate::ne, x, integer(source, 0));
  if (isa<IntegerType>(target)) {
    if (targetWidth < sourceWidth)
      return convert<arith::TruncIOp>(x, target);
    return fromUnsigned ? convert<arith::ExtUIOp>(x, target) : convert<arith::ExtSIOp>(x, target);
  }
  if (targetWidth <= 16 && sourceWidth >= 32)
    return integerToSmall(x, target, fromUnsigned);
  Type via = targetWidth <= 16 ? f32 : target;
  Value value = fromUnsigned ? convert<arith::UIToFPOp>(x, via) : convert<arith::SIToFPOp>(x, via);
  return via == target ? value : convert<arith::TruncFOp>(value, target);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

Value createElementwise(OpBuilder &builder, Operation *op, ValueRange tiles) {
  Tiles emitter(builder, op->getLoc(), cast<RankedTensorType>(tiles.front().getType()));
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (auto unary = dyn_cast<UnaryOp>(op))
    return emitter.unary(unary.getKind(), tiles[0], element);
  if (auto binary = dyn_cast<BinaryOp>(op))
    return emitter.binary(binary.getKind(), tiles[0], tiles[1], element);
  if (isa<BitcastOp>(op))
    return emitter.bitcast(tiles[0], getElementTypeOrSelf(op->getResult(0).getType()));
  if (isa<CastOp>(op))
    return emitter.cast(tiles[0], element, getElementTypeOrSelf(op->getResult(0).getType()));
  return emitter.select(tiles[0], tiles[1], tiles[2]);
}

Value createElementCast(OpBuilder &builder, Location loc, Value tile, Type from, Type to) {
  return Tiles(builder, loc, cast<RankedTensorType>(tile.getType())).cast(tile, from, to);
}

kernel::Combine getCombine(ReduceKind kind, Type graphElement) {
  bool isBool = graphElement.isInteger(1), isUnsigned = graphElement.isUnsignedInteger();
  switch (kind) {
  case ReduceKind::Add:
    return kernel::Combine::Add;
  case ReduceKind::Mul:
    return kernel::Combine::Mul;
  case ReduceKind::Max:
    return isBool ? kernel::Combine::Or : isUnsigned ? kernel::Combine::UMax : kernel::Combine::Max;
  case ReduceKind::Min:
    return isBool ? kernel::Combine::And : isUnsigned ? kernel::Combine::UMin : kernel::Combine::Min;
  case ReduceKind::And:
    return kernel::Combine::And;
  case ReduceKind::Or:
    return kernel::Combine::Or;
  }
  llvm_unreachable("all kinds are handled");
}

} // namespace zyx::lowering
