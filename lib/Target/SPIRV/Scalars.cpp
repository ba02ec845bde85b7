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

Type Scalars::valueType(Type type) const {
  if (type.isIndex())
    return b.getI64Type();
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
  // What was widened and is narrowed again, and constants. What was narrowed and is widened again has lost digits.
  if (auto wide = value.getDefiningOp<spirv::UConvertOp>(); to < from && wide && wide.getOperand().getType() == type)
    return wide.getOperand();
  if (std::optional<int64_t> constant = known(value))
    return number(type,
                  static_cast<uint64_t>(isSigned ? *constant : *constant & llvm::maskTrailingOnes<uint64_t>(from)));
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

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// A shift by more digits than there are leaves none, or copies of the sign.
Value Scalars::shift(Operation *op, Value x, Value by) {
  Type type = x.getType();
  Value most = number(type, type.getIntOrFloatBitWidth() - 1);
  const std::optional<int64_t> count = known(by);
  const bool isKnown = count && *count >= 0 && *count < type.getIntOrFloatBitWidth();
  Value isInside = isKnown ? Value() : make<spirv::ULessThanEqualOp>(by, most);
  Value inside = isKnown ? by : select(isInside, by, most);
  if (isa<arith::ShRSIOp>(op))
    return make<spirv::ShiftRightArithmeticOp>(x, inside);
  Value shifted =
      isa<arith::ShLIOp>(op) ? make<spirv::ShiftLeftLogicalOp>(x, inside) : make<spirv::ShiftRightLogicalOp>(x, inside);
  return isKnown ? shifted : select(isInside, shifted, number(type, 0));
}

Value Scalars::divide(Operation *op, Value x, Value y) {
  if (isa<arith::RemUIOp>(op))
    return make<spirv::UModOp>(x, y);
  Value quotient = isa<arith::DivUIOp, arith::CeilDivUIOp>(op) ? make<spirv::UDivOp>(x, y) : make<spirv::SDivOp>(x, y);
  if (isa<arith::DivUIOp, arith::DivSIOp>(op))
    return quotient;
  Value rest = make<spirv::ISubOp>(x, make<spirv::IMulOp>(quotient, y));
  if (isa<arith::RemSIOp>(op))
    return rest;
  Value isOff = make<spirv::INotEqualOp>(rest, number(x.getType(), 0));
  return select(isOff, make<spirv::IAddOp>(quotient, number(x.getType(), 1)), quotient);
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

Value Scalars::compareFloats(Operation *op, Value x, Value y) {
  using Predicate = arith::CmpFPredicate;
  // By their predicates: oeq, ogt, oge, olt, ole, one; the same from ueq on.
  static constexpr Make ordered[] = {&Scalars::make<spirv::FOrdEqualOp>,
                                     &Scalars::make<spirv::FOrdGreaterThanOp>,
                                     &Scalars::make<spirv::FOrdGreaterThanEqualOp>,
                                     &Scalars::make<spirv::FOrdLessThanOp>,
                                     &Scalars::make<spirv::FOrdLessThanEqualOp>,
                                     &Scalars::make<spirv::FOrdNotEqualOp>};
  static constexpr Make unordered[] = {&Scalars::make<spirv::FUnordEqualOp>,
                                       &Scalars::make<spirv::FUnordGreaterThanOp>,
                                       &Scalars::make<spirv::FUnordGreaterThanEqualOp>,
                                       &Scalars::make<spirv::FUnordLessThanOp>,
                                       &Scalars::make<spirv::FUnordLessThanEqualOp>,
                                       &Scalars::make<spirv::FUnordNotEqualOp>};
  const Predicate predicate = cast<arith::CmpFOp>(op).getPredicate();
  if (predicate == Predicate::AlwaysFalse || predicate == Predicate::AlwaysTrue)
    return number(b.getI1Type(), predicate == Predicate::AlwaysTrue);
  if (predicate == Predicate::ORD || predicate == Predicate::UNO) {
    Value either = make<spirv::LogicalOrOp>(isNaN(x), isNaN(y));
    return predicate == Predicate::UNO ? either : make<spirv::LogicalNotOp>(either);
  }
  const bool isOrdered = predicate < Predicate::ORD;
  const auto first = static_cast<size_t>(isOrdered ? Predicate::OEQ : Predicate::UEQ);
  return (this->*(isOrdered ? ordered : unordered)[static_cast<size_t>(predicate) - first])(x, y);
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

Value Scalars::convert(Operation *op, Value x, Type to) {
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return toInteger(x, to, isa<arith::FPToSIOp>(op));
  const bool isSigned = isa<arith::SIToFPOp>(op);
  // A bool that is true and signed is -1.
  if (x.getType().isInteger(1))
    x = select(x, number(b.getI32Type(), isSigned ? ~uint64_t(0) : 1), number(b.getI32Type(), 0));
  if (isSigned)
    return spirv::ConvertSToFOp::create(b, loc, to, x).getResult();
  if (isa<arith::UIToFPOp>(op))
    return spirv::ConvertUToFOp::create(b, loc, to, x).getResult();
  return spirv::FConvertOp::create(b, loc, to, x).getResult();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Result<Value> Scalars::constant(Operation *op, Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (Type type = valueType(integer.getType()))
      return number(type, integer.getValue().getZExtValue());
  } else if (auto floating = dyn_cast<FloatAttr>(value)) {
    if (Type type = valueType(floating.getType()))
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
      .Case<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp, arith::CeilDivUIOp>(
          [&](Operation *) { return divide(op, x[0], x[1]); })
      .Case<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>([&](Operation *) { return shift(op, x[0], x[1]); })
      .Case([&](arith::MinSIOp) { return lesser(make<spirv::SLessThanOp>(x[0], x[1])); })
      .Case([&](arith::MaxSIOp) { return lesser(make<spirv::SGreaterThanOp>(x[0], x[1])); })
      .Case([&](arith::MinUIOp) { return lesser(make<spirv::ULessThanOp>(x[0], x[1])); })
      .Case([&](arith::MaxUIOp) { return lesser(make<spirv::UGreaterThanOp>(x[0], x[1])); })
      .Case([&](arith::AddFOp) { return exact<spirv::FAddOp>(x[0], x[1]); })
      .Case([&](arith::SubFOp) { return exact<spirv::FSubOp>(x[0], x[1]); })
      .Case([&](arith::MulFOp) { return exact<spirv::FMulOp>(x[0], x[1]); })
      .Case([&](arith::DivFOp) { return exact<spirv::FDivOp>(x[0], x[1]); })
      .Case([&](arith::CmpFOp) { return compareFloats(op, x[0], x[1]); })
      .Case([&](math::FmaOp) { return spirv::GLFmaOp::create(b, loc, x[0].getType(), x[0], x[1], x[2]).getResult(); })
      .Case([&](math::SqrtOp) { return make<spirv::GLSqrtOp>(x[0]); })
      .Case([&](math::FloorOp) { return make<spirv::GLFloorOp>(x[0]); })
      .Case([&](math::CeilOp) { return make<spirv::GLCeilOp>(x[0]); })
      .Case([&](math::TruncOp) {
        Value isNegative = make<spirv::FOrdLessThanOp>(x[0], real(x[0].getType(), 0));
        return select(isNegative, make<spirv::GLCeilOp>(x[0]), make<spirv::GLFloorOp>(x[0]));
      })
      .Case([&](math::RoundEvenOp) { return make<spirv::GLRoundEvenOp>(x[0]); })
      .Case([&](math::Exp2Op) { return x[0].getType().isF32() ? make<spirv::GLExp2Op>(x[0]) : Value(); })
      .Default([](Operation *) { return Value(); });
}

Result<Value> Scalars::compute(Operation *op, ValueRange x) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType(), result = valueType(to);
  if (!result || llvm::any_of(op->getOperandTypes(), [&](Type type) { return !valueType(type); }))
    return refuseOp(op, "has a type that SPIR-V has not");
  if (isa<arith::SelectOp>(op))
    return select(x[0], x[1], x[2]);
  if (isa<arith::BitcastOp>(op))
    return bits(x[0], result);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op))
    return convert(op, x[0], result);
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
  if (Value value = from.isInteger(1) ? computeBools(op, x) : computeNumbers(op, x))
    return value;
  std::string name;
  llvm::raw_string_ostream(name) << from;
  return refuseOp(op, "of " + name + " has no form in SPIR-V");
}

} // namespace zyx::target
