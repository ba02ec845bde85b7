//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace zyx::target {

Status refuseOp(Operation *op, const llvm::Twine &why) {
  std::string where;
  llvm::raw_string_ostream stream(where);
  op->getLoc().print(stream);
  return Status::unsupported("'" + op->getName().getStringRef().str() + "' " + why.str() + " at " + where);
}

std::optional<SmallFloat> smallFloatOf(Type type) {
  if (type.isF16())
    return SmallFloat{5, 10, true};
  if (type.isBF16())
    return SmallFloat{8, 7, true};
  if (isa<Float8E5M2Type>(type))
    return SmallFloat{5, 2, true};
  if (isa<Float8E4M3FNType>(type))
    return SmallFloat{4, 3, false};
  return std::nullopt;
}

Type Scalars::valueType(Type type) const {
  if (type.isIndex())
    return b.getI64Type();
  if (smallFloatOf(type))
    return b.getIntegerType(type.getIntOrFloatBitWidth());
  const bool isKnown = type.isF32() || type.isF64() || type.isInteger(1) || type.isInteger(8) || type.isInteger(16) ||
                       type.isInteger(32) || type.isInteger(64);
  return isKnown ? type : Type();
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

Value Scalars::number(Type type, uint64_t value) {
  TypedAttr attr =
      type.isInteger(1)
          ? TypedAttr(b.getBoolAttr(value != 0))
          : b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value, false, /*implicitTrunc=*/true));
  return spirv::ConstantOp::create(b, loc, type, attr).getResult();
}
Value Scalars::zero(Type type) { return type.isInteger() ? number(type, 0) : real(type, 0); }
Value Scalars::real(Type type, double value) {
  return spirv::ConstantOp::create(b, loc, type, b.getFloatAttr(type, value)).getResult();
}
std::optional<int64_t> Scalars::known(Value value) {
  auto constant = value.getDefiningOp<spirv::ConstantOp>();
  auto integer = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return integer ? std::optional(integer.getValue().getSExtValue()) : std::nullopt;
}
Value Scalars::add(Value x, Value y) {
  const std::optional<int64_t> a = known(x), c = known(y);
  if (a && c)
    return index(*a + *c);
  return a == 0 ? y : c == 0 ? x : make<spirv::IAddOp>(x, y);
}
Value Scalars::mul(Value x, Value y) {
  const std::optional<int64_t> a = known(x), c = known(y);
  if (a && c)
    return index(*a * *c);
  if (a == 0 || c == 0)
    return index(0);
  return a == 1 ? y : c == 1 ? x : make<spirv::IMulOp>(x, y);
}
Value Scalars::resize(Value value, Type type, bool isSigned) {
  const unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  // By halves: on lavapipe (22.3) a number that OpSConvert widened from 32 bits is never below zero.
  if (isSigned && from == 32 && to == 64) {
    Value low = spirv::UConvertOp::create(b, loc, type, value);
    Value sign = make<spirv::ShiftRightArithmeticOp>(value, number(value.getType(), 31));
    Value high = spirv::UConvertOp::create(b, loc, type, sign);
    return make<spirv::BitwiseOrOp>(low, shl(high, 32));
  }
  if (isSigned && to > from)
    return spirv::SConvertOp::create(b, loc, type, value).getResult();
  return spirv::UConvertOp::create(b, loc, type, value).getResult();
}
Value Scalars::bits(Value x, Type type) {
  return x.getType() == type ? x : spirv::BitcastOp::create(b, loc, type, x).getResult();
}
Value Scalars::bitAnd(Value x, uint64_t mask) { return make<spirv::BitwiseAndOp>(x, number(x.getType(), mask)); }
Value Scalars::shl(Value x, unsigned by) { return make<spirv::ShiftLeftLogicalOp>(x, number(x.getType(), by)); }
Value Scalars::shr(Value x, unsigned by) { return make<spirv::ShiftRightLogicalOp>(x, number(x.getType(), by)); }

/// Maximum or minimum of floats: NaN where either is, or, `isNumber`, the other one; -0 is below +0.
Value Scalars::widest(Value x, Value y, bool isMaximum, bool isNumber) {
  Type type = x.getType(), integer = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value isNegative = make<spirv::SLessThanOp>(bits(x, integer), number(integer, 0));
  Value ofEqual = isMaximum ? select(isNegative, y, x) : select(isNegative, x, y);
  Value isFirst = isMaximum ? make<spirv::FOrdGreaterThanOp>(x, y) : make<spirv::FOrdLessThanOp>(x, y);
  Value result = select(make<spirv::FOrdEqualOp>(x, y), ofEqual, select(isFirst, x, y));
  if (isNumber)
    return select(isNaN(x), y, select(isNaN(y), x, result));
  return select(make<spirv::LogicalOrOp>(isNaN(x), isNaN(y)), exact<spirv::FAddOp>(x, y), result);
}

//===----------------------------------------------------------------------===//
// Small floats. No step has a denormal of f32, which a device may take for 0.
//===----------------------------------------------------------------------===//

Value Scalars::extend(Value small, SmallFloat from) {
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  const unsigned width = from.exponent + from.mantissa;
  Value wide = resize(small, i32, false);
  if (from.exponent == 8)
    return bits(shl(wide, 31 - width), f32);
  const uint64_t largest = (1u << from.exponent) - 1;
  const int bias = (1 << (from.exponent - 1)) - 1;
  Value sign = shl(bitAnd(wide, uint64_t(1) << width), 31 - width);
  Value exponent = bitAnd(shr(wide, from.mantissa), largest), rest = bitAnd(wide, (1u << from.mantissa) - 1);
  Value fraction = shl(rest, 23 - from.mantissa);
  Value tiny = exact<spirv::FMulOp>(spirv::ConvertUToFOp::create(b, loc, f32, rest).getResult(),
                                    real(f32, std::ldexp(1.0, 1 - bias - static_cast<int>(from.mantissa))));
  Value normal = make<spirv::BitwiseOrOp>(shl(make<spirv::IAddOp>(exponent, number(i32, 127 - bias)), 23), fraction);
  Value special =
      from.hasInfinity ? make<spirv::BitwiseOrOp>(fraction, number(i32, 0x7f800000)) : number(i32, 0x7fc00000);
  Value isSpecial = from.hasInfinity
                        ? make<spirv::IEqualOp>(exponent, number(i32, largest))
                        : make<spirv::IEqualOp>(bitAnd(wide, (1u << width) - 1), number(i32, (1u << width) - 1));
  Value magnitude =
      select(make<spirv::IEqualOp>(exponent, number(i32, 0)), bits(tiny, i32), select(isSpecial, special, normal));
  return bits(make<spirv::BitwiseOrOp>(magnitude, sign), f32);
}

/// f32 or f64, rounded to nearest even, once.
Value Scalars::narrow(Value wide, SmallFloat to, Type result) {
  const bool isDouble = wide.getType().isF64();
  const unsigned width = isDouble ? 64 : 32, fraction = isDouble ? 52 : 23;
  const int bias = isDouble ? 1023 : 127;
  Type type = b.getIntegerType(width);
  Value all = bits(wide, type);
  Value magnitude = bitAnd(all, ~uint64_t(0) >> (65 - width));
  Value sign = shl(shr(all, width - 1), to.exponent + to.mantissa);
  Value exponent = shr(magnitude, fraction), rest = bitAnd(magnitude, (uint64_t(1) << fraction) - 1);
  Value isDenormal = make<spirv::IEqualOp>(exponent, number(type, 0));
  Value significand = select(isDenormal, rest, make<spirv::BitwiseOrOp>(rest, number(type, uint64_t(1) << fraction)));
  exponent = select(isDenormal, number(type, 1), exponent);
  // The exponent, by the wide format, of the smallest normal number.
  Value smallest = number(type, static_cast<uint64_t>(bias + 2 - (1 << (to.exponent - 1))));
  Value isNormal = make<spirv::UGreaterThanEqualOp>(exponent, smallest);
  Value below = select(isNormal, number(type, 0), make<spirv::ISubOp>(smallest, exponent));
  Value shift = make<spirv::IAddOp>(below, number(type, fraction - to.mantissa));
  // Beyond, nothing is left of any significand.
  Value mostShift = number(type, fraction + 2);
  shift = select(make<spirv::ULessThanOp>(shift, mostShift), shift, mostShift);
  Value one = number(type, 1);
  Value unit = make<spirv::ShiftLeftLogicalOp>(one, shift), middle = shr(unit, 1);
  Value dropped = make<spirv::BitwiseAndOp>(significand, make<spirv::ISubOp>(unit, one));
  Value kept = make<spirv::ShiftRightLogicalOp>(significand, shift);
  Value isOdd = make<spirv::INotEqualOp>(bitAnd(kept, 1), number(type, 0));
  Value isUp = make<spirv::LogicalOrOp>(make<spirv::UGreaterThanOp>(dropped, middle),
                                        make<spirv::LogicalAndOp>(make<spirv::IEqualOp>(dropped, middle), isOdd));
  kept = select(isUp, make<spirv::IAddOp>(kept, one), kept);
  Value scaled = make<spirv::IAddOp>(kept, shl(make<spirv::ISubOp>(exponent, smallest), to.mantissa));
  kept = select(isNormal, scaled, kept);
  const uint64_t top = (uint64_t(1) << (to.exponent + to.mantissa)) - 1;
  const uint64_t largest = to.hasInfinity ? top & ~((uint64_t(1) << to.mantissa) - 1) : top;
  Value beyond = number(type, largest);
  kept = select(make<spirv::ULessThanOp>(kept, beyond), kept, beyond);
  const uint64_t quiet = to.hasInfinity ? largest | uint64_t(1) << (to.mantissa - 1) : largest;
  Value infinity = number(type, uint64_t(2 * bias + 1) << fraction);
  kept = select(make<spirv::UGreaterThanOp>(magnitude, infinity), number(type, quiet), kept);
  return resize(make<spirv::BitwiseOrOp>(kept, sign), result, false);
}

/// An integer: rounded to odd in f32, whose digits are more than enough, and then to nearest even, is rounded once.
Value Scalars::narrowInteger(Value x, bool isSigned, SmallFloat to, Type result) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type(), f32 = b.getF32Type();
  Value wide = resize(x, i64, isSigned), zero = index(0);
  Value isNegative = isSigned ? make<spirv::SLessThanOp>(wide, zero) : Value();
  Value size = isSigned ? select(isNegative, make<spirv::ISubOp>(zero, wide), wide) : wide;
  Value high = resize(shr(size, 32), i32, false), low = resize(size, i32, false);
  Value isLong = make<spirv::INotEqualOp>(high, number(i32, 0));
  Value top = make<spirv::GLFindUMsbOp>(select(isLong, high, low));
  top = select(isLong, make<spirv::IAddOp>(top, number(i32, 32)), top);
  // All but 23 digits are dropped; of 0, whose first digit is -1, none are.
  Value most = number(i32, 22);
  Value dropped = select(make<spirv::SGreaterThanOp>(top, most), make<spirv::ISubOp>(top, most), number(i32, 0));
  Value by = resize(dropped, i64, false);
  Value rest =
      make<spirv::BitwiseAndOp>(size, make<spirv::ISubOp>(make<spirv::ShiftLeftLogicalOp>(index(1), by), index(1)));
  Value kept = resize(make<spirv::ShiftRightLogicalOp>(size, by), i32, false);
  kept = make<spirv::BitwiseOrOp>(kept, select(make<spirv::INotEqualOp>(rest, zero), number(i32, 1), number(i32, 0)));
  Value scale = bits(shl(make<spirv::IAddOp>(dropped, number(i32, 127)), 23), f32);
  Value value = exact<spirv::FMulOp>(spirv::ConvertUToFOp::create(b, loc, f32, kept).getResult(), scale);
  return narrow(isSigned ? select(isNegative, make<spirv::FNegateOp>(value), value) : value, to, result);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// A shift by more digits than there are leaves none, or copies of the sign.
Value Scalars::shift(Operation *op, Value x, Value by) {
  Type type = x.getType();
  Value most = number(type, type.getIntOrFloatBitWidth() - 1);
  Value isInside = make<spirv::ULessThanEqualOp>(by, most);
  Value inside = select(isInside, by, most);
  if (isa<arith::ShRSIOp>(op))
    return make<spirv::ShiftRightArithmeticOp>(x, inside);
  Value shifted =
      isa<arith::ShLIOp>(op) ? make<spirv::ShiftLeftLogicalOp>(x, inside) : make<spirv::ShiftRightLogicalOp>(x, inside);
  return select(isInside, shifted, number(type, 0));
}

Value Scalars::divide(Operation *op, Value x, Value y) {
  const bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
  Value quotient = isUnsigned ? make<spirv::UDivOp>(x, y) : make<spirv::SDivOp>(x, y);
  if (isa<arith::DivUIOp, arith::DivSIOp>(op))
    return quotient;
  Value rest = make<spirv::ISubOp>(x, make<spirv::IMulOp>(quotient, y));
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return rest;
  Value zero = number(x.getType(), 0), one = number(x.getType(), 1);
  Value isOff = make<spirv::INotEqualOp>(rest, zero);
  if (isa<arith::CeilDivUIOp>(op))
    return select(isOff, make<spirv::IAddOp>(quotient, one), quotient);
  // The quotient was rounded towards 0: up where the signs differ, and down where they do not.
  const bool isFloor = isa<arith::FloorDivSIOp>(op);
  Value differs = make<spirv::SLessThanOp>(make<spirv::BitwiseXorOp>(x, y), zero);
  Value moves = make<spirv::LogicalAndOp>(isOff, isFloor ? differs : make<spirv::LogicalNotOp>(differs));
  return select(moves, isFloor ? make<spirv::ISubOp>(quotient, one) : make<spirv::IAddOp>(quotient, one), quotient);
}

Result<Value> Scalars::compareIntegers(Operation *op, Value x, Value y) {
  // By their predicates: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge.
  static constexpr Make all[] = {&Scalars::make<spirv::IEqualOp>,       &Scalars::make<spirv::INotEqualOp>,
                                 &Scalars::make<spirv::SLessThanOp>,    &Scalars::make<spirv::SLessThanEqualOp>,
                                 &Scalars::make<spirv::SGreaterThanOp>, &Scalars::make<spirv::SGreaterThanEqualOp>,
                                 &Scalars::make<spirv::ULessThanOp>,    &Scalars::make<spirv::ULessThanEqualOp>,
                                 &Scalars::make<spirv::UGreaterThanOp>, &Scalars::make<spirv::UGreaterThanEqualOp>};
  const auto predicate = static_cast<size_t>(cast<arith::CmpIOp>(op).getPredicate());
  if (x.getType().isInteger(1)) {
    if (predicate >= 2 && predicate <= 5)
      return refuseOp(op, "of bools with signs has no form in SPIR-V");
    Value one = number(b.getI32Type(), 1), zero = number(b.getI32Type(), 0);
    x = select(x, one, zero);
    y = select(y, one, zero);
  }
  return (this->*all[predicate])(x, y);
}

/// What holds where either is NaN is the contrary of what does not.
Value Scalars::compareFloats(Operation *op, Value x, Value y) {
  using Predicate = arith::CmpFPredicate;
  static constexpr Make equal = &Scalars::make<spirv::FOrdEqualOp>, greater = &Scalars::make<spirv::FOrdGreaterThanOp>,
                        notLess = &Scalars::make<spirv::FOrdGreaterThanEqualOp>,
                        less = &Scalars::make<spirv::FOrdLessThanOp>,
                        notGreater = &Scalars::make<spirv::FOrdLessThanEqualOp>;
  static constexpr std::pair<Predicate, Make> ordered[] = {{Predicate::OEQ, equal},
                                                           {Predicate::OGT, greater},
                                                           {Predicate::OGE, notLess},
                                                           {Predicate::OLT, less},
                                                           {Predicate::OLE, notGreater}};
  static constexpr std::pair<Predicate, Make> unordered[] = {{Predicate::UNE, equal},
                                                             {Predicate::ULE, greater},
                                                             {Predicate::ULT, notLess},
                                                             {Predicate::UGE, less},
                                                             {Predicate::UGT, notGreater}};
  const Predicate predicate = cast<arith::CmpFOp>(op).getPredicate();
  for (auto [its, make] : ordered)
    if (its == predicate)
      return (this->*make)(x, y);
  auto no = [&](Value value) { return make<spirv::LogicalNotOp>(value); };
  for (auto [its, make] : unordered)
    if (its == predicate)
      return no((this->*make)(x, y));
  if (predicate == Predicate::AlwaysFalse || predicate == Predicate::AlwaysTrue)
    return number(b.getI1Type(), predicate == Predicate::AlwaysTrue);
  const bool isOfNaN = predicate == Predicate::ORD || predicate == Predicate::UNO;
  Value either = isOfNaN ? make<spirv::LogicalOrOp>(isNaN(x), isNaN(y))
                         : make<spirv::LogicalOrOp>((this->*less)(x, y), (this->*greater)(x, y));
  return predicate == Predicate::ORD || predicate == Predicate::UEQ ? no(either) : either;
}

Value Scalars::computeBools(Operation *op, ValueRange x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::XOrIOp>(
          [&](Operation *) { return make<spirv::LogicalNotEqualOp>(x[0], x[1]); })
      .Case<arith::MulIOp, arith::AndIOp, arith::MinUIOp>(
          [&](Operation *) { return make<spirv::LogicalAndOp>(x[0], x[1]); })
      .Case<arith::OrIOp, arith::MaxUIOp>([&](Operation *) { return make<spirv::LogicalOrOp>(x[0], x[1]); })
      .Default([](Operation *) { return Value(); });
}

/// The upper half of a product of 64 bits, by halves.
Value Scalars::productHigh(Value x, Value y) {
  constexpr uint64_t half = 0xffffffff;
  Value x0 = bitAnd(x, half), x1 = shr(x, 32), y0 = bitAnd(y, half), y1 = shr(y, 32);
  Value low = make<spirv::IMulOp>(x0, y0);
  Value middle = make<spirv::IAddOp>(make<spirv::IMulOp>(x1, y0), shr(low, 32));
  Value other = make<spirv::IAddOp>(make<spirv::IMulOp>(x0, y1), bitAnd(middle, half));
  return make<spirv::IAddOp>(make<spirv::IAddOp>(make<spirv::IMulOp>(x1, y1), shr(middle, 32)), shr(other, 32));
}

Result<std::pair<Value, Value>> Scalars::computeExtended(Operation *op, Value x, Value y) {
  Type type = x.getType();
  const unsigned width = type.getIntOrFloatBitWidth();
  const bool isSigned = isa<arith::MulSIExtendedOp>(op);
  if (type.isInteger(1) || (width == 64 && isSigned))
    return refuseOp(op, "of this type has no form in SPIR-V");
  if (width == 64)
    return std::pair(make<spirv::IMulOp>(x, y), productHigh(x, y));
  Value wide = make<spirv::IMulOp>(resize(x, b.getI64Type(), isSigned), resize(y, b.getI64Type(), isSigned));
  return std::pair(resize(wide, type, false), resize(shr(wide, width), type, false));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Rounds towards 0; 0 where the type has no such number.
Value Scalars::toInteger(Value x, Type type, bool isSigned) {
  Type wide = x.getType();
  const int digits = static_cast<int>(type.getIntOrFloatBitWidth()) - (isSigned ? 1 : 0);
  const int mantissa = wide.isF64() ? 53 : 24;
  const double end = std::ldexp(1.0, digits);
  // The number before the smallest one is excluded where the format has it; else nothing is between the two.
  Value isAbove = !isSigned           ? make<spirv::FOrdGreaterThanOp>(x, real(wide, -1))
                  : digits < mantissa ? make<spirv::FOrdGreaterThanOp>(x, real(wide, -end - 1))
                                      : make<spirv::FOrdGreaterThanEqualOp>(x, real(wide, -end));
  Value isInside = make<spirv::LogicalAndOp>(isAbove, make<spirv::FOrdLessThanOp>(x, real(wide, end)));
  Value inside = select(isInside, x, real(wide, 0));
  // From -1 on, an unsigned 0 comes of the number towards which it is rounded.
  if (!isSigned) {
    inside = select(make<spirv::FOrdLessThanOp>(inside, real(wide, 0)), real(wide, 0), inside);
    return spirv::ConvertFToUOp::create(b, loc, type, inside).getResult();
  }
  return spirv::ConvertFToSOp::create(b, loc, type, inside).getResult();
}

Value Scalars::convert(Operation *op, Value x, Type from, Type to) {
  const std::optional<SmallFloat> smallFrom = smallFloatOf(from), smallTo = smallFloatOf(to);
  Type result = valueType(to);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    const bool isSigned = isa<arith::SIToFPOp>(op);
    // A bool that is true and signed is -1.
    if (from.isInteger(1))
      x = select(x, number(b.getI32Type(), isSigned ? ~uint64_t(0) : 1), number(b.getI32Type(), 0));
    if (smallTo)
      return narrowInteger(x, isSigned, *smallTo, result);
    return isSigned ? spirv::ConvertSToFOp::create(b, loc, result, x).getResult()
                    : spirv::ConvertUToFOp::create(b, loc, result, x).getResult();
  }
  if (smallFrom)
    x = extend(x, *smallFrom);
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return toInteger(x, result, isa<arith::FPToSIOp>(op));
  if (smallTo)
    return narrow(x, *smallTo, result);
  return x.getType() == result ? x : spirv::FConvertOp::create(b, loc, result, x).getResult();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Result<Value> Scalars::constant(Operation *op, Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (Type type = valueType(integer.getType()))
      return number(type, integer.getValue().getZExtValue());
  } else if (auto floating = dyn_cast<FloatAttr>(value)) {
    const APInt its = floating.getValue().bitcastToAPInt();
    Type type = valueType(floating.getType());
    if (type && type.isInteger())
      return number(type, its.getZExtValue());
    if (type)
      return spirv::ConstantOp::create(b, loc, type, floating).getResult();
  }
  return refuseOp(op, "has a type that SPIR-V has not");
}

Value Scalars::computeNumbers(Operation *op, ValueRange x) {
  auto lesser = [&](Value isFirst) { return select(isFirst, x[0], x[1]); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::AddIOp) { return make<spirv::IAddOp>(x[0], x[1]); })
      .Case([&](arith::SubIOp) { return make<spirv::ISubOp>(x[0], x[1]); })
      .Case([&](arith::MulIOp) { return make<spirv::IMulOp>(x[0], x[1]); })
      .Case([&](arith::AndIOp) { return make<spirv::BitwiseAndOp>(x[0], x[1]); })
      .Case([&](arith::OrIOp) { return make<spirv::BitwiseOrOp>(x[0], x[1]); })
      .Case([&](arith::XOrIOp) { return make<spirv::BitwiseXorOp>(x[0], x[1]); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
            arith::CeilDivUIOp>([&](Operation *) { return divide(op, x[0], x[1]); })
      .Case<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>([&](Operation *) { return shift(op, x[0], x[1]); })
      .Case([&](arith::MinSIOp) { return lesser(make<spirv::SLessThanOp>(x[0], x[1])); })
      .Case([&](arith::MaxSIOp) { return lesser(make<spirv::SGreaterThanOp>(x[0], x[1])); })
      .Case([&](arith::MinUIOp) { return lesser(make<spirv::ULessThanOp>(x[0], x[1])); })
      .Case([&](arith::MaxUIOp) { return lesser(make<spirv::UGreaterThanOp>(x[0], x[1])); })
      .Case([&](arith::AddFOp) { return exact<spirv::FAddOp>(x[0], x[1]); })
      .Case([&](arith::SubFOp) { return exact<spirv::FSubOp>(x[0], x[1]); })
      .Case([&](arith::MulFOp) { return exact<spirv::FMulOp>(x[0], x[1]); })
      .Case([&](arith::DivFOp) { return exact<spirv::FDivOp>(x[0], x[1]); })
      .Case([&](arith::NegFOp) { return make<spirv::FNegateOp>(x[0]); })
      .Case([&](arith::MaximumFOp) { return widest(x[0], x[1], true, false); })
      .Case([&](arith::MinimumFOp) { return widest(x[0], x[1], false, false); })
      .Case([&](arith::MaxNumFOp) { return widest(x[0], x[1], true, true); })
      .Case([&](arith::MinNumFOp) { return widest(x[0], x[1], false, true); })
      .Case([&](arith::CmpFOp) { return compareFloats(op, x[0], x[1]); })
      .Case([&](math::FmaOp) { return spirv::GLFmaOp::create(b, loc, x[0].getType(), x[0], x[1], x[2]).getResult(); })
      .Case([&](math::SqrtOp) { return make<spirv::GLSqrtOp>(x[0]); })
      .Case([&](math::AbsFOp) { return make<spirv::GLFAbsOp>(x[0]); })
      .Case([&](math::FloorOp) { return make<spirv::GLFloorOp>(x[0]); })
      .Case([&](math::CeilOp) { return make<spirv::GLCeilOp>(x[0]); })
      .Case([&](math::TruncOp) {
        Value isNegative = make<spirv::FOrdLessThanOp>(x[0], real(x[0].getType(), 0));
        return select(isNegative, make<spirv::GLCeilOp>(x[0]), make<spirv::GLFloorOp>(x[0]));
      })
      .Case([&](math::RoundEvenOp) { return make<spirv::GLRoundEvenOp>(x[0]); })
      .Case([&](math::Exp2Op) { return x[0].getType().isF32() ? make<spirv::GLExp2Op>(x[0]) : Value(); })
      .Case([&](math::CopySignOp) {
        Type type = b.getIntegerType(x[0].getType().getIntOrFloatBitWidth());
        const uint64_t sign = uint64_t(1) << (type.getIntOrFloatBitWidth() - 1);
        return bits(make<spirv::BitwiseOrOp>(bitAnd(bits(x[0], type), ~sign), bitAnd(bits(x[1], type), sign)),
                    x[0].getType());
      })
      .Default([](Operation *) { return Value(); });
}

Result<Value> Scalars::compute(Operation *op, ValueRange operands) {
  auto scalar = [](Type type) { return getElementTypeOrSelf(type); };
  Type to = scalar(op->getResult(0).getType()), result = valueType(to);
  for (Type type : op->getOperandTypes())
    if (!valueType(scalar(type)))
      result = {};
  if (!result)
    return refuseOp(op, "has a type that SPIR-V has not");
  Type from = scalar(op->getOperand(0).getType());
  SmallVector<Value> x(operands);
  if (isa<arith::SelectOp>(op))
    return select(x[0], x[1], x[2]);
  if (isa<arith::BitcastOp>(op))
    return bits(x[0], result);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op))
    return convert(op, x[0], from, to);
  if (isa<arith::CmpIOp>(op))
    return compareIntegers(op, x[0], x[1]);
  if (isa<arith::ExtUIOp, arith::ExtSIOp, arith::IndexCastOp, arith::IndexCastUIOp, arith::TruncIOp>(op)) {
    const bool isSigned = isa<arith::ExtSIOp, arith::IndexCastOp>(op);
    if (from.isInteger(1))
      return to.isInteger(1) ? x[0] : select(x[0], number(result, isSigned ? ~uint64_t(0) : 1), number(result, 0));
    if (to.isInteger(1))
      return make<spirv::INotEqualOp>(bitAnd(x[0], 1), number(x[0].getType(), 0));
    return resize(x[0], result, isSigned);
  }
  // Arithmetic on small floats is in f32, rounded after each op.
  const std::optional<SmallFloat> small = smallFloatOf(from);
  if (small && isa<math::FmaOp>(op))
    return refuseOp(op, "of a small float would be rounded twice");
  if (small)
    for (Value &each : x)
      each = extend(each, *small);
  Value value = from.isInteger(1) ? computeBools(op, x) : computeNumbers(op, x);
  if (!value) {
    std::string name;
    llvm::raw_string_ostream(name) << from;
    return refuseOp(op, "of " + name + " has no form in SPIR-V");
  }
  return smallFloatOf(to) ? narrow(value, *smallFloatOf(to), result) : value;
}

} // namespace zyx::target
