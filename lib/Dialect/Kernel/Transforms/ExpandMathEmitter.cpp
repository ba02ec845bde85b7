//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ExpandMathEmitter.h"

#include "zyx/Dialect/Kernel/Transforms/Passes.h"

using namespace mlir;

namespace zyx::kernel::expand {

Type withElement(Type like, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(like))
    return shaped.clone(element);
  return element;
}

Num Emitter::splat(Type type, TypedAttr element) {
  TypedAttr attr = element;
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = cast<TypedAttr>(Attribute(DenseElementsAttr::get(shaped, Attribute(element))));
  Value &known = constants[attr];
  if (!known)
    known = arith::ConstantOp::create(builder, loc, attr);
  return num(known);
}

Num Emitter::constant(Num like, double value) {
  Type element = getElementTypeOrSelf(like.type());
  if (auto format = dyn_cast<FloatType>(element))
    return splat(like.type(), FloatAttr::get(format, value));
  return splat(like.type(), IntegerAttr::get(element, static_cast<int64_t>(value)));
}

Num Emitter::bits(Num like, uint64_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(like.type()));
  return splat(like.type(), IntegerAttr::get(element, APInt(element.getWidth(), value)));
}

template <typename FloatOp, typename IntOp> static Num binary(Num a, Num b) {
  if (a.isFloat())
    return a.emitter->emit<FloatOp>(a.value, b.value);
  return a.emitter->emit<IntOp>(a.value, b.value);
}

Num operator+(Num a, Num b) { return binary<arith::AddFOp, arith::AddIOp>(a, b); }
Num operator-(Num a, Num b) { return binary<arith::SubFOp, arith::SubIOp>(a, b); }
Num operator*(Num a, Num b) { return binary<arith::MulFOp, arith::MulIOp>(a, b); }
Num operator/(Num a, Num b) { return a.emitter->emit<arith::DivFOp>(a.value, b.value); }

Num operator&(Num a, Num b) { return a.emitter->emit<arith::AndIOp>(a.value, b.value); }
Num operator|(Num a, Num b) { return a.emitter->emit<arith::OrIOp>(a.value, b.value); }
Num operator^(Num a, Num b) { return a.emitter->emit<arith::XOrIOp>(a.value, b.value); }
Num operator<<(Num a, unsigned by) { return a.emitter->emit<arith::ShLIOp>(a.value, a.emitter->bits(a, by).value); }
Num operator>>(Num a, unsigned by) { return a.emitter->emit<arith::ShRUIOp>(a.value, a.emitter->bits(a, by).value); }
Num shiftSigned(Num a, unsigned by) { return a.emitter->emit<arith::ShRSIOp>(a.value, a.emitter->bits(a, by).value); }

static Num compare(Num a, Num b, arith::CmpFPredicate floats, arith::CmpIPredicate integers) {
  if (a.isFloat())
    return a.emitter->emit<arith::CmpFOp>(floats, a.value, b.value);
  return a.emitter->emit<arith::CmpIOp>(integers, a.value, b.value);
}
Num operator<(Num a, Num b) { return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt); }
Num operator<=(Num a, Num b) { return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle); }
Num operator==(Num a, Num b) { return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq); }
Num operator!=(Num a, Num b) { return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne); }

Num select(Num condition, Num a, Num b) { return a.emitter->emit<arith::SelectOp>(condition.value, a.value, b.value); }

/// a as a sum of two numbers that have half of its digits each.
static std::pair<Num, Num> split(Num a) {
  Num scaled = a * (a.width() == 64 ? 0x1p27 + 1 : 0x1p12 + 1);
  Num high = scaled - (scaled - a);
  return {high, a - high};
}

/// fma out of products and sums (Dekker's exact product, Knuth's exact sum).
static Num fmaOfPairs(Num a, Num b, Num c) {
  auto [aHigh, aLow] = split(a);
  auto [bHigh, bLow] = split(b);
  Num product = a * b;
  Num productRest = ((aHigh * bHigh - product) + aHigh * bLow + aLow * bHigh) + aLow * bLow;
  Num sum = product + c;
  Num added = sum - product;
  Num sumRest = (product - (sum - added)) + (c - added);
  Num result = sum + (sumRest + productRest);
  // Infinite numbers have no rest, nor have those whose parts overflow.
  return select(result == result, result, sum);
}

Num fma(Num a, Num b, Num c) {
  if (a.emitter->has.exactFma)
    return a.emitter->emit<math::FmaOp>(a.value, b.value, c.value);
  // A device with an fma that is not exact may have no f64.
  if (a.emitter->has.fma || a.width() == 64)
    return fmaOfPairs(a, b, c);
  // The product of two f32 is exact in f64.
  Type f64 = Float64Type::get(a.type().getContext());
  return toFormat(toFormat(a, f64) * toFormat(b, f64) + toFormat(c, f64), getElementTypeOrSelf(a.type()));
}

Num addProduct(Num a, Num b, Num c) {
  if (!a.emitter->has.fma)
    return a * b + c;
  Num made = a.emitter->emit<math::FmaOp>(a.value, b.value, c.value);
  if (!a.emitter->has.exactFma)
    made.value.getDefiningOp()->setAttr(keptFmaAttr, UnitAttr::get(made.value.getContext()));
  return made;
}

Num clampAbove(Num a, double limit) {
  if (a.emitter->has.maximum && a.width() == 32)
    return a.emitter->emit<arith::MinimumFOp>(a.value, a.emitter->constant(a, limit).value);
  return select(a > limit, limit, a);
}
Num clampBelow(Num a, double limit) {
  if (a.emitter->has.maximum && a.width() == 32)
    return a.emitter->emit<arith::MaximumFOp>(a.value, a.emitter->constant(a, limit).value);
  return select(a < limit, limit, a);
}
Num machinePower(Num a) { return a.emitter->emit<math::Exp2Op>(a.value, arith::FastMathFlags::afn); }
Num machineInverse(Num a) {
  return a.emitter->emit<arith::DivFOp>(a.emitter->constant(a, 1).value, a.value, arith::FastMathFlags::afn);
}
Num abs(Num a) { return a.emitter->emit<math::AbsFOp>(a.value); }
Num negate(Num a) { return a.emitter->emit<arith::NegFOp>(a.value); }
Num sqrt(Num a) { return a.emitter->emit<math::SqrtOp>(a.value); }

/// To the nearest whole number and then, where that went the wrong way, by `fix`; the signs are those of
/// `a`. What is larger than 2^23 (2^52) is whole already.
static Num roundBySum(Num a, llvm::function_ref<Num(Num rounded)> fix) {
  double firstWhole = a.width() == 64 ? 0x1p52 : 0x1p23;
  Num size = abs(a);
  Num rounded = copySign(size + firstWhole - firstWhole, a);
  return select(size < firstWhole, copySign(fix(rounded), a), a);
}

Num truncate(Num a) {
  if (a.emitter->has.rounding)
    return a.emitter->emit<math::TruncOp>(a.value);
  return roundBySum(a, [&](Num rounded) {
    Num size = abs(rounded);
    return select(size > abs(a), size - 1.0, size);
  });
}
Num nearest(Num a) {
  if (a.emitter->has.rounding)
    return a.emitter->emit<math::RoundEvenOp>(a.value);
  return roundBySum(a, [](Num rounded) { return rounded; });
}
Num floor(Num a) {
  if (a.emitter->has.rounding)
    return a.emitter->emit<math::FloorOp>(a.value);
  return roundBySum(a, [&](Num rounded) { return select(rounded > a, rounded - 1.0, rounded); });
}
Num ceil(Num a) {
  if (a.emitter->has.rounding)
    return a.emitter->emit<math::CeilOp>(a.value);
  return roundBySum(a, [&](Num rounded) { return select(rounded < a, rounded + 1.0, rounded); });
}
Num copySign(Num a, Num b) { return a.emitter->emit<math::CopySignOp>(a.value, b.value); }

Num toBits(Num a) {
  Type element = IntegerType::get(a.type().getContext(), a.width());
  return a.emitter->emit<arith::BitcastOp>(withElement(a.type(), element), a.value);
}

static Type floatOfWidth(Num a) {
  MLIRContext *context = a.type().getContext();
  Type element = a.width() == 64 ? Type(Float64Type::get(context)) : Float32Type::get(context);
  return withElement(a.type(), element);
}
Num fromBits(Num a) { return a.emitter->emit<arith::BitcastOp>(floatOfWidth(a), a.value); }
Num toFloat(Num a) { return a.emitter->emit<arith::SIToFPOp>(floatOfWidth(a), a.value); }

Num toFormat(Num a, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  Type type = withElement(a.type(), element);
  if (width == a.width())
    return a;
  if (width > a.width())
    return a.emitter->emit<arith::ExtFOp>(type, a.value);
  return a.emitter->emit<arith::TruncFOp>(type, a.value);
}

Num polynomial(Num x, ArrayRef<double> c) {
  Num sum = x.emitter->constant(x, c.back());
  for (double coefficient : llvm::reverse(c.drop_back()))
    sum = addProduct(sum, x, x.emitter->constant(x, coefficient));
  return sum;
}

} // namespace zyx::kernel::expand
