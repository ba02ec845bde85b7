//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Quotients and roots of ops that need no routine of a driver's.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zyx::kernel {
namespace {

using Predicate = arith::CmpIPredicate;

/// What an f32 stores of its significand, and the bias of its exponent.
constexpr int64_t significandBits = 23, bias = 127;
constexpr int64_t implicitBit = int64_t(1) << significandBits, infinityBits = 0x7f800000, nanBits = 0x7fc00000;
constexpr int64_t signBit = int64_t(1) << 31;

/// Builds arithmetic of 32 bits, and of 64 where it says so.
class Numbers {
public:
  Numbers(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value constant(int64_t value, unsigned width = 32) {
    return arith::ConstantOp::create(b, loc,
                                     IntegerAttr::get(b.getIntegerType(width), APInt(width, value, true, true)));
  }
  Value real(float value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); }
  template <typename Op> Value make(Value x, Value y) { return Op::create(b, loc, x, y); }
  template <typename Op> Value make(Value x, int64_t y) {
    return make<Op>(x, constant(y, x.getType().getIntOrFloatBitWidth()));
  }
  Value add(Value x, Value y) { return make<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) { return make<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return make<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return make<arith::MulIOp>(x, y); }
  Value times(Value x, Value y) { return make<arith::MulFOp>(x, y); }
  template <typename Y> Value is(Predicate predicate, Value x, Y y) {
    if constexpr (std::is_same_v<Y, Value>)
      return arith::CmpIOp::create(b, loc, predicate, x, y);
    else
      return arith::CmpIOp::create(b, loc, predicate, x, constant(y, x.getType().getIntOrFloatBitWidth()));
  }
  Value both(Value x, Value y) { return make<arith::AndIOp>(x, y); }
  Value either(Value x, Value y) { return make<arith::OrIOp>(x, y); }
  Value choose(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }
  /// 1 where the condition holds, and else 0.
  Value count(Value condition) { return arith::ExtUIOp::create(b, loc, b.getI32Type(), condition); }
  Value bitsOf(Value real) { return arith::BitcastOp::create(b, loc, b.getI32Type(), real); }
  Value realOf(Value bits) { return arith::BitcastOp::create(b, loc, b.getF32Type(), bits); }
  Value toReal(Value number) { return arith::SIToFPOp::create(b, loc, b.getF32Type(), number); }
  Value toNumber(Value real) { return arith::FPToSIOp::create(b, loc, b.getI32Type(), real); }

  OpBuilder &b;
  Location loc;
};

/// A positive f32 is significand * 2^(exponent - bias - 23), with the implicit bit set.
struct Parts {
  Value significand, exponent;
};

/// Of magnitudes that are neither zero, infinite nor NaN. Subnormal ones are integers times 2^-149, which
/// an f32 has exactly.
Parts takeApart(Numbers &n, Value magnitude) {
  Value isDenormal = n.is(Predicate::ult, magnitude, implicitBit);
  magnitude = n.choose(isDenormal, n.bitsOf(n.toReal(magnitude)), magnitude);
  Value above = n.choose(isDenormal, n.constant(bias + significandBits - 1), n.constant(0));
  Value exponent = n.sub(n.make<arith::ShRUIOp>(magnitude, significandBits), above);
  return {n.make<arith::OrIOp>(n.make<arith::AndIOp>(magnitude, implicitBit - 1), implicitBit), exponent};
}

/// 1 / x with a relative error of some 2^-22, by Newton's method from a guess that is 12 % off. x is positive.
Value reciprocalOf(Numbers &n, Value x) {
  Value made = n.realOf(n.sub(n.constant(0x7ef311c7), n.bitsOf(x)));
  for (int step = 0; step < 3; ++step)
    made = n.times(made, n.make<arith::SubFOp>(n.real(2), n.times(x, made)));
  return made;
}

/// The significand of 24 bits nearest to a quotient or a square root, a number with the sign of the remainder, and the
/// biased exponent.
struct Rounded {
  Value nearest, rest, exponent;
};

/// Of x / y. The first guess is wrong by a few units: what it leaves, exactly, in integers modulo 2^32, tells by how
/// many. No quotient of two f32 is a tie.
Rounded divide(Numbers &n, const Parts &x, const Parts &y) {
  Value isLess = n.is(Predicate::ult, x.significand, y.significand);
  Value dividend = n.make<arith::ShLIOp>(x.significand, n.count(isLess));
  Value reciprocal = reciprocalOf(n, n.toReal(y.significand));
  Value guess = n.toNumber(n.times(n.times(n.toReal(dividend), reciprocal), n.real(implicitBit)));
  Value rest = n.sub(n.make<arith::ShLIOp>(dividend, significandBits), n.mul(guess, y.significand));
  Value more = n.toNumber(n.times(n.toReal(rest), reciprocal));
  guess = n.add(guess, more);
  rest = n.sub(rest, n.mul(more, y.significand));
  Value twice = n.add(rest, rest);
  Value isMore = n.is(Predicate::sgt, twice, y.significand);
  Value isFewer = n.is(Predicate::slt, n.add(twice, y.significand), 0);
  Value step = n.sub(n.count(isMore), n.count(isFewer));
  return {n.add(guess, step), n.sub(rest, n.mul(step, y.significand)),
          n.add(n.sub(n.sub(x.exponent, y.exponent), n.count(isLess)), bias)};
}

/// The square root of x: that of its significand times 2^23, or 2^24 where the exponent is odd.
Rounded root(Numbers &n, const Parts &x) {
  Value exponent = n.add(x.exponent, -bias), isOdd = n.make<arith::AndIOp>(exponent, 1);
  Value square = n.make<arith::ShLIOp>(x.significand, isOdd), real = n.toReal(square);
  Value half = n.times(real, n.real(-0.5F));
  Value inverse = n.realOf(n.sub(n.constant(0x5f3759df), n.make<arith::ShRUIOp>(n.bitsOf(real), 1)));
  for (int step = 0; step < 4; ++step)
    inverse = n.times(inverse, n.make<arith::AddFOp>(n.real(1.5F), n.times(n.times(half, inverse), inverse)));
  // 2^11.5, and half of its reciprocal.
  Value guess = n.toNumber(n.times(n.times(real, inverse), n.real(2896.3093F)));
  Value rest = n.sub(n.make<arith::ShLIOp>(square, significandBits), n.mul(guess, guess));
  Value more = n.toNumber(n.times(n.toReal(rest), n.times(inverse, n.real(1.7263349e-4F))));
  rest = n.sub(rest, n.mul(more, n.add(n.add(guess, guess), more)));
  guess = n.add(guess, more);
  // (g + 1/2)^2 = g^2 + g + 1/4.
  Value step = n.sub(n.count(n.is(Predicate::sgt, rest, guess)), n.count(n.is(Predicate::sle, n.add(rest, guess), 0)));
  Value nearest = n.add(guess, step);
  return {nearest, n.sub(rest, n.mul(step, n.add(guess, nearest))), n.add(n.make<arith::ShRSIOp>(exponent, 1), bias)};
}

/// The bits of a rounded number whose exponent is one of f32's.
Value join(Numbers &n, const Rounded &made) {
  return n.add(n.make<arith::ShLIOp>(n.add(made.exponent, -1), significandBits), made.nearest);
}

/// The bits of one of any exponent: infinite above f32's range, and a subnormal, rounded once, below it.
Value joinAny(Numbers &n, const Rounded &made) {
  Value dropped = n.sub(n.constant(1), made.exponent);
  dropped = arith::MinSIOp::create(n.b, n.loc, dropped, n.constant(significandBits + 3));
  dropped = arith::MaxSIOp::create(n.b, n.loc, dropped, n.constant(1));
  Value kept = n.make<arith::ShRUIOp>(made.nearest, dropped);
  Value half = n.make<arith::ShLIOp>(n.constant(1), n.add(dropped, -1));
  Value rest = n.make<arith::AndIOp>(made.nearest, n.add(n.add(half, half), -1));
  Value isAbove =
      n.either(n.is(Predicate::sgt, made.rest, 0),
               n.both(n.is(Predicate::eq, made.rest, 0), n.is(Predicate::eq, n.make<arith::AndIOp>(kept, 1), 1)));
  Value isUp = n.either(n.is(Predicate::ugt, rest, half), n.both(n.is(Predicate::eq, rest, half), isAbove));
  Value denormal = n.add(kept, n.count(isUp));
  Value bits = n.choose(n.is(Predicate::sle, made.exponent, 0), denormal, join(n, made));
  return n.choose(n.is(Predicate::sge, made.exponent, 2 * bias + 1), n.constant(infinityBits), bits);
}

/// One value where the condition holds, and another one where it does not, which is rare.
template <typename Then, typename Else> Value branch(Numbers &n, Value condition, Then makeThen, Else makeElse) {
  auto made = scf::IfOp::create(
      n.b, n.loc, condition,
      [&](OpBuilder &b, Location loc) {
        Numbers inner(b, loc);
        scf::YieldOp::create(b, loc, Value(makeThen(inner)));
      },
      [&](OpBuilder &b, Location loc) {
        Numbers inner(b, loc);
        scf::YieldOp::create(b, loc, Value(makeElse(inner)));
      });
  return made.getResult(0);
}

/// What all quotients by a divisor share.
struct Divisor {
  Value magnitude, reciprocal;
  /// Whether steps of `fma` make nearest quotients by it.
  Value isFit;
};

Value fma(Numbers &n, Value x, Value y, Value z) {
  auto made = math::FmaOp::create(n.b, n.loc, x, y, z);
  made->setAttr(keptFmaAttr, n.b.getUnitAttr());
  return made;
}

/// `asked` is a number whose square tells whether the driver's `fma` is one op.
Divisor prepare(Numbers &n, Value divisor, Value asked) {
  Value bits = n.make<arith::AndIOp>(n.bitsOf(divisor), signBit - 1), magnitude = n.realOf(bits);
  Value reciprocal = reciprocalOf(n, magnitude);
  Value isLeft = fma(n, arith::NegFOp::create(n.b, n.loc, magnitude), reciprocal, n.real(1));
  reciprocal = fma(n, reciprocal, isLeft, reciprocal);
  // The square of an odd significand of 24 bits needs 47 bits or more, so that a product alone is rounded.
  Value odd = n.realOf(n.make<arith::OrIOp>(n.make<arith::AndIOp>(n.bitsOf(asked), implicitBit - 1), 0x3f800001));
  Value square = n.times(odd, odd);
  Value isExact = n.is(Predicate::ne, n.bitsOf(fma(n, odd, odd, arith::NegFOp::create(n.b, n.loc, square))), 0);
  // Of a significand of ones alone the reciprocal may not be the nearest (Markstein, Computation of elementary
  // functions on the IBM RISC System/6000 processor, 1990).
  Value isCommon = n.is(Predicate::ne, n.make<arith::AndIOp>(bits, implicitBit - 1), implicitBit - 1);
  Value isBetween = n.is(Predicate::ult, n.add(bits, -(2 * implicitBit)), 249 * implicitBit);
  return {magnitude, reciprocal, n.both(n.both(isExact, isCommon), isBetween)};
}

Value expandQuotient(Numbers &n, Value dividend, Value divisor, const Divisor &shared) {
  Value x = n.bitsOf(dividend), y = n.bitsOf(divisor);
  Value sign = n.make<arith::AndIOp>(n.make<arith::XOrIOp>(x, y), signBit);
  x = n.make<arith::AndIOp>(x, signBit - 1);
  Value magnitude = n.realOf(x), negative = arith::NegFOp::create(n.b, n.loc, shared.magnitude);
  Value quotient = n.times(magnitude, shared.reciprocal);
  for (int step = 0; step < 2; ++step)
    quotient = fma(n, fma(n, negative, quotient, magnitude), shared.reciprocal, quotient);
  Value usual = n.bitsOf(quotient);
  // The remainder of a step must be exact: its last bit is 2^-46 of the dividend's first.
  Value isBetween = n.both(n.is(Predicate::ult, n.add(x, -(26 * implicitBit)), infinityBits - 26 * implicitBit),
                           n.is(Predicate::ult, n.add(usual, -(2 * implicitBit)), 252 * implicitBit));
  Value isUsual = n.both(shared.isFit, n.either(isBetween, n.is(Predicate::eq, x, 0)));
  Value bits = branch(
      n, isUsual, [&](Numbers &) { return usual; },
      [&](Numbers &n) {
        Value below = n.make<arith::AndIOp>(y, signBit - 1);
        Value made = joinAny(n, divide(n, takeApart(n, x), takeApart(n, below)));
        auto isOf = [&](Value each, int64_t bits) { return n.is(Predicate::eq, each, bits); };
        made = n.choose(n.either(isOf(x, 0), isOf(below, infinityBits)), n.constant(0), made);
        made = n.choose(n.either(isOf(below, 0), isOf(x, infinityBits)), n.constant(infinityBits), made);
        Value isNone =
            n.either(n.both(isOf(x, 0), isOf(below, 0)), n.both(isOf(x, infinityBits), isOf(below, infinityBits)));
        isNone = n.either(isNone,
                          n.either(n.is(Predicate::ugt, x, infinityBits), n.is(Predicate::ugt, below, infinityBits)));
        return n.choose(isNone, n.constant(nanBits), made);
      });
  return n.realOf(n.make<arith::OrIOp>(bits, sign));
}

Value expandRoot(Numbers &n, Value of) {
  Value x = n.bitsOf(of);
  Value made = join(n, root(n, takeApart(n, x)));
  // As numbers without a sign all negative ones are above infinity, as NaN is.
  Value isItself =
      n.either(n.is(Predicate::eq, n.make<arith::AndIOp>(x, signBit - 1), 0), n.is(Predicate::eq, x, infinityBits));
  Value isNone = n.is(Predicate::ugt, x, infinityBits);
  return n.realOf(n.choose(isItself, x, n.choose(isNone, n.constant(nanBits), made)));
}

/// An unsigned integer of 64 bits as f32, with a relative error of some 2^-23.
Value toRealWide(Numbers &n, Value x) {
  auto word = [&](Value of) -> Value {
    Value narrow = arith::TruncIOp::create(n.b, n.loc, n.b.getI32Type(), of);
    return arith::UIToFPOp::create(n.b, n.loc, n.b.getF32Type(), narrow);
  };
  return n.make<arith::AddFOp>(n.times(word(n.make<arith::ShRUIOp>(x, 32)), n.real(0x1p32F)), word(x));
}

/// The whole part of a number from 0 on, below 2^64.
Value toWide(Numbers &n, Value real) {
  auto wide = [&](Value of) -> Value { return arith::ExtUIOp::create(n.b, n.loc, n.b.getI64Type(), of); };
  Value bits = n.bitsOf(real), zero = n.constant(0);
  Value up = n.add(n.make<arith::ShRUIOp>(bits, significandBits), -bias - significandBits);
  Value all = wide(n.make<arith::OrIOp>(n.make<arith::AndIOp>(bits, implicitBit - 1), implicitBit));
  Value above = n.make<arith::ShLIOp>(all, wide(arith::MaxSIOp::create(n.b, n.loc, up, zero)));
  Value down = arith::MinSIOp::create(n.b, n.loc, arith::MaxSIOp::create(n.b, n.loc, n.sub(zero, up), zero),
                                      n.constant(significandBits + 1));
  return n.choose(n.is(Predicate::sge, up, 0), above, n.make<arith::ShRUIOp>(all, wide(down)));
}

/// Each guess is at most the quotient of what is left, and short of it by at most 2^-19 of it and 1. There is no loop:
/// lavapipe ends all loops of a thread after 65,535 trips.
Value divideByGuesses(Numbers &n, Value x, Value y, bool isRemainder) {
  Value reciprocal = n.times(reciprocalOf(n, toRealWide(n, y)), n.real(1 - 0x1p-20F));
  Value rest = x, quotient = n.constant(0, 64);
  for (int step = 0; step < 4; ++step) {
    Value guess = toWide(n, n.times(toRealWide(n, rest), reciprocal));
    rest = n.sub(rest, n.mul(guess, y));
    quotient = n.add(quotient, guess);
  }
  for (int step = 0; step < 2; ++step) {
    Value fits = n.is(Predicate::uge, rest, y);
    rest = n.choose(fits, n.sub(rest, y), rest);
    quotient = n.choose(fits, n.add(quotient, 1), quotient);
  }
  return isRemainder ? rest : quotient;
}

/// By a number below 2^16, 16 bits at a time: a remainder with the next 16 bits is below 2^32.
Value divideBySmall(Numbers &n, Value x, uint64_t divisor, bool isRemainder) {
  auto narrow = [&](Value of) -> Value { return arith::TruncIOp::create(n.b, n.loc, n.b.getI32Type(), of); };
  auto wide = [&](Value of) -> Value { return arith::ExtUIOp::create(n.b, n.loc, n.b.getI64Type(), of); };
  const auto by = static_cast<int64_t>(divisor);
  Value low = narrow(x), high = narrow(n.make<arith::ShRUIOp>(x, 32)), quotient;
  Value rest = n.make<arith::RemUIOp>(high, by);
  if (!isRemainder)
    quotient = n.make<arith::ShLIOp>(wide(n.make<arith::DivUIOp>(high, by)), 32);
  for (int64_t shift : {16, 0}) {
    Value next = n.make<arith::AndIOp>(n.make<arith::ShRUIOp>(low, shift), 0xffff);
    Value all = n.make<arith::OrIOp>(n.make<arith::ShLIOp>(rest, 16), next);
    if (!isRemainder)
      quotient = n.make<arith::OrIOp>(quotient, n.make<arith::ShLIOp>(wide(n.make<arith::DivUIOp>(all, by)), shift));
    rest = n.make<arith::RemUIOp>(all, by);
  }
  return isRemainder ? wide(rest) : quotient;
}

/// Of integers of 64 bits without a sign.
Value divideWide(Numbers &n, Value x, Value y, bool isRemainder) {
  APInt divisor;
  if (matchPattern(y, m_ConstantInt(&divisor)) && divisor.isPowerOf2())
    return isRemainder ? n.make<arith::AndIOp>(x, (divisor - 1).getSExtValue())
                       : n.make<arith::ShRUIOp>(x, divisor.logBase2());
  if (matchPattern(y, m_ConstantInt(&divisor)) && divisor.ult(1 << 16))
    return divideBySmall(n, x, divisor.getZExtValue(), isRemainder);
  Value isNarrow = n.is(Predicate::eq, n.make<arith::ShRUIOp>(n.either(x, y), 32), 0);
  return branch(
      n, isNarrow,
      [&](Numbers &n) {
        Type narrow = n.b.getI32Type();
        Value a = arith::TruncIOp::create(n.b, n.loc, narrow, x), b = arith::TruncIOp::create(n.b, n.loc, narrow, y);
        Value made = isRemainder ? n.make<arith::RemUIOp>(a, b) : n.make<arith::DivUIOp>(a, b);
        return Value(arith::ExtUIOp::create(n.b, n.loc, n.b.getI64Type(), made));
      },
      [&](Numbers &n) { return divideByGuesses(n, x, y, isRemainder); });
}

Value expandWide(Numbers &n, Operation *op) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  const bool isRemainder = isa<arith::RemUIOp, arith::RemSIOp>(op);
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    return divideWide(n, x, y, isRemainder);
  auto negateIf = [&](Value of, Value condition) { return n.choose(condition, n.sub(n.constant(0, 64), of), of); };
  Value isLeft = n.is(Predicate::slt, x, 0), magnitude = negateIf(x, isLeft);
  if (APInt divisor; matchPattern(y, m_ConstantInt(&divisor))) {
    // What a constant's size makes cheaper has to be seen.
    Value made = divideWide(n, magnitude, n.constant(divisor.abs().getSExtValue(), 64), isRemainder);
    made = negateIf(made, isLeft);
    return !isRemainder && divisor.isNegative() ? n.sub(n.constant(0, 64), made) : made;
  }
  Value isRight = n.is(Predicate::slt, y, 0);
  Value made = divideWide(n, magnitude, negateIf(y, isRight), isRemainder);
  return negateIf(made, isRemainder ? isLeft : n.make<arith::XOrIOp>(isLeft, isRight));
}

} // namespace

void expandQuotients(FunctionOpInterface body, bool floats) {
  SmallVector<Operation *> ops;
  body->walk([&](Operation *op) {
    if (isa<arith::DivFOp, math::SqrtOp>(op)
            ? floats && op->getResult(0).getType().isF32()
            : isa<arith::DivUIOp, arith::RemUIOp, arith::DivSIOp, arith::RemSIOp>(op) &&
                  op->getResult(0).getType().isInteger(64))
      ops.push_back(op);
  });
  if (!ops.empty())
    body->getContext()->loadDialect<math::MathDialect, scf::SCFDialect>();
  llvm::DenseMap<Value, Divisor> divisors;
  for (Operation *op : ops) {
    OpBuilder b(op);
    Numbers n(b, op->getLoc());
    Value made;
    if (auto quotient = dyn_cast<arith::DivFOp>(op)) {
      Value divisor = quotient.getRhs();
      // A driver knows the square of a constant, and not as its machine does.
      if (matchPattern(divisor, m_Constant())) {
        made = expandQuotient(n, quotient.getLhs(), divisor, prepare(n, divisor, quotient.getLhs()));
      } else {
        auto [found, isNew] = divisors.try_emplace(divisor);
        if (isNew) {
          OpBuilder before(op->getContext());
          before.setInsertionPointAfterValue(divisor);
          Numbers early(before, op->getLoc());
          found->second = prepare(early, divisor, divisor);
        }
        made = expandQuotient(n, quotient.getLhs(), divisor, found->second);
      }
    } else {
      made = isa<math::SqrtOp>(op) ? expandRoot(n, op->getOperand(0)) : expandWide(n, op);
    }
    op->getResult(0).replaceAllUsesWith(made);
    op->erase();
  }
}

} // namespace zyx::kernel
