//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scalars of floats for drivers that may take denormals for 0 and round roots otherwise: what can be told by integers
// is told by them.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "zyx/Base/Assert.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace zyx::kernel {

namespace {

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Ops on floats of one type, by integers as wide.
class ByBits {
public:
  ByBits(OpBuilder &builder, Location loc, Type type)
      : b(builder), loc(loc), type(type), integer(b.getIntegerType(type.getIntOrFloatBitWidth())),
        width(type.getIntOrFloatBitWidth()), semantics(cast<FloatType>(type).getFloatSemantics()) {}

  /// The same as `predicate` says; null where the comparison of floats says so, too.
  Value compare(CmpFPredicate predicate, Value x, Value y) {
    using enum CmpFPredicate;
    const bool isBesideNormal = isNormal(x) || isNormal(y);
    switch (predicate) {
    case ORD:
      return negate(isEitherNaN(x, y));
    case UNO:
      return isEitherNaN(x, y);
    case OEQ:
    case UEQ:
    case ONE:
    case UNE: {
      // No other bits are equal to a normal number.
      Value isOther =
          isBesideNormal ? icmp(CmpIPredicate::ne, bits(x), bits(y)) : icmp(CmpIPredicate::ne, order(x), order(y));
      if (predicate == UNE || predicate == OEQ) {
        Value differs = isBesideNormal ? isOther : disjunction(isOther, isNaN(x));
        return predicate == UNE ? differs : negate(differs);
      }
      Value differs = conjunction(isOther, negate(isEitherNaN(x, y)));
      return predicate == ONE ? differs : negate(differs);
    }
    default:
      break;
    }
    // A denormal beside a normal number is as 0 is beside it.
    if (isBesideNormal)
      return {};
    switch (predicate) {
    case OLT:
      return isBelow(CmpIPredicate::slt, x, y);
    case OLE:
      return isBelow(CmpIPredicate::sle, x, y);
    case OGT:
      return isBelow(CmpIPredicate::slt, y, x);
    case OGE:
      return isBelow(CmpIPredicate::sle, y, x);
    case ULT:
      return negate(isBelow(CmpIPredicate::sle, y, x));
    case ULE:
      return negate(isBelow(CmpIPredicate::slt, y, x));
    case UGT:
      return negate(isBelow(CmpIPredicate::sle, x, y));
    case UGE:
      return negate(isBelow(CmpIPredicate::slt, x, y));
    default:
      return {};
    }
  }

  /// NaN where either is; -0 is below +0. Numbers are told apart as unsigned integers, among which NaN lies behind the
  /// last number, whatever its sign. `ranks` has those of maxima, or of minima, that are found: a chain of them need
  /// not go back and forth.
  Value widest(Value x, Value y, bool isMaximum, DenseMap<Value, Value> &ranks) {
    const APInt infinity = APFloat::getInf(semantics).bitcastToAPInt();
    Value distance = constant(isMaximum ? infinity + 1 : ~infinity);
    // Its own opposite: negative numbers are mirrored.
    auto mirror = [&](Value number) {
      Value sign = b.createOrFold<arith::ShRSIOp>(loc, number, constant(APInt(width, width - 1)));
      return b.createOrFold<arith::XOrIOp>(
          loc, number, b.createOrFold<arith::AndIOp>(loc, sign, constant(APInt::getSignedMaxValue(width))));
    };
    // NVIDIA's driver gives wrong digits for max(x + c, c) - c of 64 bits: those numbers are compared alone.
    if (width == 64) {
      Value isFirst = icmp(isMaximum ? CmpIPredicate::sgt : CmpIPredicate::slt, mirror(bits(x)), mirror(bits(y)));
      Value sum = bits(create<arith::AddFOp>(x, y)), result = create<arith::SelectOp>(isFirst, bits(x), bits(y));
      return floats(create<arith::SelectOp>(isEitherNaN(x, y), sum, result));
    }
    auto rank = [&](Value value) {
      Value known = ranks.lookup(value);
      return known ? known : b.createOrFold<arith::AddIOp>(loc, mirror(bits(value)), distance);
    };
    Value first = rank(x), second = rank(y);
    Value most = isMaximum ? create<arith::MaxUIOp>(first, second) : create<arith::MinUIOp>(first, second);
    Value result = floats(mirror(b.createOrFold<arith::SubIOp>(loc, most, distance)));
    ranks[result] = most;
    return result;
  }

  Value absolute(Value x) { return floats(magnitude(x)); }
  Value negative(Value x) { return floats(create<arith::XOrIOp>(bits(x), constant(APInt::getSignMask(width)))); }
  Value copySign(Value x, Value of) { return floats(withSign(magnitude(x), of)); }

  /// For what is rounded to an integer: a denormal becomes the smallest normal number of its sign.
  Value awayFromZero(Value x) {
    Value normal = withSign(constant(smallest()), x);
    return floats(create<arith::SelectOp>(isDenormal(magnitude(x)), normal, bits(x)));
  }

  /// The root of a denormal is that of its digits as an integer, of which an even power of two is taken away.
  Value root(Value x) {
    const int digits = -static_cast<int>(APFloat::semanticsMinExponent(semantics)) +
                       static_cast<int>(APFloat::semanticsPrecision(semantics)) - 1;
    Value number = magnitude(x), isTiny = isDenormal(number);
    if (digits % 2 != 0)
      number = create<arith::ShLIOp>(number, constant(APInt(width, 1)));
    Value scaled = arith::UIToFPOp::create(b, loc, type, number);
    Value from = create<arith::SelectOp>(isTiny, withSign(bits(scaled), x), bits(x));
    Value found = roundedRoot(from);
    Value small = create<arith::MulFOp>(found, real(type, std::ldexp(1.0, -(digits + digits % 2) / 2)));
    return create<arith::SelectOp>(isTiny, small, found);
  }

  /// Drivers that keep denormals of f32 in sums and products may take them for 0 where they convert to f64: a denormal
  /// is so many units of the smallest one.
  Value widened(Value x, Type wide) {
    ZYX_ASSERT(type.isF32() && wide.isF64(), "small floats are lowered before");
    Value number = magnitude(x), isTiny = isDenormal(number);
    Value isNegative = icmp(CmpIPredicate::slt, bits(x), constant(APInt::getZero(width)));
    Value units =
        create<arith::SelectOp>(isNegative, create<arith::SubIOp>(constant(APInt::getZero(width)), number), number);
    Value exact =
        arith::MulFOp::create(b, loc, arith::SIToFPOp::create(b, loc, wide, units), real(wide, smallestOf(semantics)));
    return create<arith::SelectOp>(isTiny, exact, arith::ExtFOp::create(b, loc, wide, x).getResult());
  }

  /// And where they convert back: the units are rounded by a sum whose last digit is one of them.
  Value narrowed(Value x, FloatType narrow) {
    ZYX_ASSERT(type.isF64() && narrow.isF32(), "small floats are lowered before");
    const llvm::fltSemantics &its = narrow.getFloatSemantics();
    IntegerType digits = b.getIntegerType(narrow.getWidth());
    Value number = magnitude(x);
    const double place = std::ldexp(1.0, static_cast<int>(APFloat::semanticsPrecision(semantics)) - 1);
    Value units = create<arith::MulFOp>(floats(number), real(type, 1.0 / smallestOf(its)));
    Value rounded = arith::TruncIOp::create(b, loc, digits, bits(create<arith::AddFOp>(units, real(type, place))));
    Value top = create<arith::ShRUIOp>(bits(x), constant(APInt(width, width - narrow.getWidth())));
    Value sign = create<arith::AndIOp>(
        arith::TruncIOp::create(b, loc, digits, top).getResult(),
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(digits, APInt::getSignMask(narrow.getWidth()))).getResult());
    Value tiny = arith::BitcastOp::create(b, loc, narrow, create<arith::OrIOp>(rounded, sign));
    bool isExact;
    APFloat bound = APFloat::getSmallestNormalized(its);
    bound.convert(semantics, APFloat::rmNearestTiesToEven, &isExact);
    Value isTiny = icmp(CmpIPredicate::ult, number, constant(bound.bitcastToAPInt()));
    return create<arith::SelectOp>(isTiny, tiny, arith::TruncFOp::create(b, loc, narrow, x).getResult());
  }

private:
  static double smallestOf(const llvm::fltSemantics &semantics) {
    return APFloat::getSmallest(semantics).convertToDouble();
  }
  /// A root that is rounded once, where the driver's is at most one unit off. With x = M u^2 and the driver's root r u,
  /// where r has the digits of a float, r is the right one if -r < M - r^2 <= r. The difference is small, so that the
  /// lower half of M and of r^2 gives it.
  Value roundedRoot(Value from) {
    const unsigned kept = APFloat::semanticsPrecision(semantics) - 1;
    const APInt hidden = APInt(width, 1).shl(kept), fraction = hidden - 1;
    Value found = create<math::SqrtOp>(floats(from)), root = bits(found);
    auto digits = [&](Value number) {
      return create<arith::OrIOp>(create<arith::AndIOp>(number, constant(fraction)), constant(hidden));
    };
    auto exponent = [&](Value number) { return create<arith::ShRUIOp>(number, constant(APInt(width, kept))); };
    Value r = digits(root);
    const int bias = APFloat::semanticsMaxExponent(semantics);
    Value twice = create<arith::ShLIOp>(exponent(root), constant(APInt(width, 1)));
    Value shift =
        create<arith::AddIOp>(create<arith::SubIOp>(exponent(from), twice), constant(APInt(width, bias + kept)));
    // Of numbers that have no root the shift is any.
    shift = create<arith::AndIOp>(shift, constant(APInt(width, width - 1)));
    Value rest = create<arith::SubIOp>(create<arith::ShLIOp>(digits(from), shift), create<arith::MulIOp>(r, r));
    Value isBelow = icmp(CmpIPredicate::sgt, rest, r);
    // Below a power of two floats lie twice as close.
    Value half = create<arith::SelectOp>(icmp(CmpIPredicate::eq, r, constant(hidden)), constant(hidden.lshr(1)), r);
    Value isAbove = icmp(CmpIPredicate::sle, rest, create<arith::SubIOp>(constant(APInt(width, 0)), half));
    auto step = [&](Value by, int64_t unit) {
      return create<arith::SelectOp>(by, constant(APInt(width, unit, /*isSigned=*/true)), constant(APInt(width, 0)));
    };
    Value corrected = create<arith::AddIOp>(root, create<arith::AddIOp>(step(isBelow, 1), step(isAbove, -1)));
    Value before = create<arith::SubIOp>(from, constant(APInt(width, 1)));
    Value hasRoot = icmp(CmpIPredicate::ult, before, constant(APFloat::getInf(semantics).bitcastToAPInt() - 1));
    return create<arith::SelectOp>(hasRoot, floats(corrected), found);
  }

  template <typename Op, typename... Operands> Value create(Operands... operands) {
    return Op::create(b, loc, operands...);
  }
  Value constant(const APInt &value) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(integer, value)); }
  Value real(Type its, double value) { return arith::ConstantOp::create(b, loc, b.getFloatAttr(its, value)); }
  Value bits(Value x) { return b.createOrFold<arith::BitcastOp>(loc, integer, x); }
  Value floats(Value x) { return arith::BitcastOp::create(b, loc, type, x); }
  Value icmp(CmpIPredicate predicate, Value x, Value y) { return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y); }
  Value conjunction(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
  Value disjunction(Value x, Value y) { return b.createOrFold<arith::OrIOp>(loc, x, y); }
  Value negate(Value x) { return create<arith::XOrIOp>(x, arith::ConstantIntOp::create(b, loc, 1, 1).getResult()); }
  /// By bits: languages let drivers compare floats as if there were no NaN, and naga 29 makes `x != x` a comparison
  /// that no NaN passes.
  Value isNaN(Value x) {
    return icmp(CmpIPredicate::ugt, magnitude(x), constant(APFloat::getInf(semantics).bitcastToAPInt()));
  }
  Value isEitherNaN(Value x, Value y) { return disjunction(isNaN(x), isNaN(y)); }
  Value magnitude(Value x) { return create<arith::AndIOp>(bits(x), constant(APInt::getSignedMaxValue(width))); }
  Value withSign(Value number, Value of) {
    Value sign = create<arith::AndIOp>(bits(of), constant(APInt::getSignMask(width)));
    return create<arith::OrIOp>(number, sign);
  }
  APInt smallest() const { return APFloat::getSmallestNormalized(semantics).bitcastToAPInt(); }
  /// Of bits without a sign.
  Value isDenormal(Value number) {
    Value before = create<arith::SubIOp>(number, constant(APInt(width, 1)));
    return icmp(CmpIPredicate::ult, before, constant(smallest() - 1));
  }
  static bool isNormal(Value x) {
    FloatAttr number;
    return matchPattern(x, m_Constant(&number)) && !number.getValue().isZero() && !number.getValue().isDenormal() &&
           !number.getValue().isNaN();
  }

  /// An integer that is as large beside others as the number is; both zeros are 0.
  Value order(Value x) {
    Value number = bits(x);
    Value isNegative = icmp(CmpIPredicate::slt, number, constant(APInt::getZero(width)));
    Value mirrored = b.createOrFold<arith::SubIOp>(loc, constant(APInt::getSignMask(width)), number);
    return b.createOrFold<arith::SelectOp>(loc, isNegative, mirrored, number);
  }
  /// NaN lies behind infinity on either side, so that two tests find all.
  Value isBelow(CmpIPredicate predicate, Value x, Value y) {
    const APInt infinity = APFloat::getInf(semantics).bitcastToAPInt();
    Value first = order(x), second = order(y);
    Value numbers = conjunction(icmp(CmpIPredicate::sge, first, constant(-infinity)),
                                icmp(CmpIPredicate::sle, second, constant(infinity)));
    return conjunction(icmp(predicate, first, second), numbers);
  }

  OpBuilder &b;
  Location loc;
  Type type;
  IntegerType integer;
  unsigned width;
  const llvm::fltSemantics &semantics;
};

} // namespace

void keepDenormals(FunctionOpInterface body) {
  SmallVector<Operation *> ops;
  body->walk([&](Operation *op) {
    if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && op->getNumOperands() != 0 &&
        isa<Float32Type, Float64Type>(op->getOperand(0).getType()))
      ops.push_back(op);
  });
  DenseMap<Value, Value> ranksOfMaxima, ranksOfMinima;
  for (Operation *op : ops) {
    OpBuilder b(op);
    ByBits its(b, op->getLoc(), op->getOperand(0).getType());
    auto x = [&](unsigned number) { return op->getOperand(number); };
    if (isa<math::FloorOp, math::CeilOp, math::TruncOp>(op)) {
      op->setOperand(0, its.awayFromZero(x(0)));
      continue;
    }
    Value value = llvm::TypeSwitch<Operation *, Value>(op)
                      .Case([&](arith::CmpFOp each) { return its.compare(each.getPredicate(), x(0), x(1)); })
                      .Case([&](arith::MaximumFOp) { return its.widest(x(0), x(1), true, ranksOfMaxima); })
                      .Case([&](arith::MinimumFOp) { return its.widest(x(0), x(1), false, ranksOfMinima); })
                      .Case([&](arith::NegFOp) { return its.negative(x(0)); })
                      .Case([&](math::AbsFOp) { return its.absolute(x(0)); })
                      .Case([&](math::CopySignOp) { return its.copySign(x(0), x(1)); })
                      .Case([&](math::SqrtOp) { return its.root(x(0)); })
                      .Case([&](arith::ExtFOp each) { return its.widened(x(0), each.getType()); })
                      .Case([&](arith::TruncFOp each) { return its.narrowed(x(0), cast<FloatType>(each.getType())); })
                      .Default([](Operation *) { return Value(); });
    if (!value)
      continue;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

LogicalResult lowerFloats(FunctionOpInterface body) {
  if (failed(lowerSmallFloats(body, {.half = false, .doubles = false, .denormals = false})))
    return failure();
  keepDenormals(body);
  return success();
}

} // namespace zyx::kernel
