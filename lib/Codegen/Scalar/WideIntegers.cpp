//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Integers of 64 bits as two of 32, and products that have as many. Between ops they stay one value: its lower word is
// what `trunci` leaves, and the other one what it leaves behind a shift by 32.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zyx::kernel {

namespace {

using arith::CmpIPredicate;

struct Pair {
  Value low, high;
};
/// Words of values that were put together of them.
using Words = llvm::DenseMap<Value, Pair>;

/// What stands for one op.
class SplitUp {
public:
  SplitUp(Operation *op, Words &words) : op(op), b(op), loc(op->getLoc()), words(words) {}

  /// Null where the op may stay.
  Value find() {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](arith::AddIOp) { return whole(add(x(0), x(1))); })
        .Case([&](arith::SubIOp) { return whole(subtract(x(0), x(1))); })
        .Case([&](arith::MulIOp) {
          Value outer = plus(times(x(0).low, x(1).high), times(x(0).high, x(1).low));
          return whole({times(x(0).low, x(1).low), plus(upperProduct(x(0).low, x(1).low), outer)});
        })
        .Case([&](arith::ShLIOp) { return whole(shiftUp(x(0), x(1).low)); })
        .Case([&](arith::ShRUIOp) { return whole(shiftDown(x(0), x(1).low, word(0))); })
        .Case([&](arith::ShRSIOp) { return whole(shiftDown(x(0), x(1).low, right<arith::ShRSIOp>(x(0).high, 31))); })
        .Case([&](arith::CmpIOp each) { return compare(each.getPredicate(), x(0), x(1)); })
        .Case([&](arith::UIToFPOp) { return toFloat(x(0), word(0)); })
        .Case([&](arith::SIToFPOp) { return toFloat(negateIf(x(0), x(0).high), both(x(0).high, word(0x80000000))); })
        .Case([&](arith::FPToUIOp) { return whole(fromFloat()); })
        .Case([&](arith::FPToSIOp) { return whole(negateIf(fromFloat(), bitsOfFloat())); })
        .Case([&](arith::TruncIOp each) {
          return each.getType().isInteger(1) ? make<arith::TruncIOp>(b.getI1Type(), x(0).low) : Value();
        })
        .Default([](Operation *) { return Value(); });
  }
  /// The lower and the upper part of a product of at most 32 bits.
  Pair extendedProduct() {
    const bool isSigned = isa<arith::MulSIExtendedOp>(op);
    Value first = op->getOperand(0), second = op->getOperand(1);
    Type type = first.getType();
    if (!type.isInteger(32)) {
      auto wide = [&](Value value) {
        return isSigned ? make<arith::ExtSIOp>(b.getI32Type(), value) : make<arith::ExtUIOp>(b.getI32Type(), value);
      };
      Value product = times(wide(first), wide(second));
      return {make<arith::TruncIOp>(type, product),
              make<arith::TruncIOp>(type, right(product, type.getIntOrFloatBitWidth()))};
    }
    Value upper = upperProduct(first, second), zero = word(0);
    if (isSigned) {
      upper = minus(upper, select(is(CmpIPredicate::slt, first, zero), second, zero));
      upper = minus(upper, select(is(CmpIPredicate::slt, second, zero), first, zero));
    }
    return {times(first, second), upper};
  }

private:
  template <typename Op, typename... Operands> Value make(Operands... operands) {
    return b.createOrFold<Op>(loc, operands...);
  }
  Value word(uint32_t value) { return make<arith::ConstantOp>(b.getIntegerAttr(b.getI32Type(), APInt(32, value))); }
  Value plus(Value first, Value second) { return make<arith::AddIOp>(first, second); }
  Value minus(Value first, Value second) { return make<arith::SubIOp>(first, second); }
  Value times(Value first, Value second) { return make<arith::MulIOp>(first, second); }
  Value both(Value first, Value second) { return make<arith::AndIOp>(first, second); }
  Value either(Value first, Value second) { return make<arith::OrIOp>(first, second); }
  Value left(Value value, Value by) { return make<arith::ShLIOp>(value, by); }
  template <typename Op = arith::ShRUIOp> Value right(Value value, Value by) { return make<Op>(value, by); }
  template <typename Op = arith::ShRUIOp> Value right(Value value, uint32_t by) { return make<Op>(value, word(by)); }
  Value select(Value condition, Value first, Value second) { return make<arith::SelectOp>(condition, first, second); }
  Pair select(Value condition, Pair first, Pair second) {
    return {select(condition, first.low, second.low), select(condition, first.high, second.high)};
  }
  Value is(CmpIPredicate predicate, Value first, Value second) { return make<arith::CmpIOp>(predicate, first, second); }
  /// 1 where it holds, else 0.
  Value number(Value condition) { return make<arith::ExtUIOp>(b.getI32Type(), condition); }

  /// The words of an operand.
  Pair x(unsigned i) {
    Value value = op->getOperand(i);
    if (auto known = words.find(value); known != words.end())
      return known->second;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return {word(static_cast<uint32_t>(constant.extractBitsAsZExtValue(32, 0))),
              word(static_cast<uint32_t>(constant.extractBitsAsZExtValue(32, 32)))};
    Value shifted = make<arith::ShRUIOp>(value, thirtyTwo());
    return {make<arith::TruncIOp>(b.getI32Type(), value), make<arith::TruncIOp>(b.getI32Type(), shifted)};
  }
  Value thirtyTwo() { return make<arith::ConstantOp>(b.getI64IntegerAttr(32)); }
  Value whole(Pair pair) {
    auto wide = [&](Value value) { return make<arith::ExtUIOp>(b.getI64Type(), value); };
    Value value = either(wide(pair.low), left(wide(pair.high), thirtyTwo()));
    words[value] = pair;
    return value;
  }

  /// By halves of words.
  Value upperProduct(Value first, Value second) {
    auto low = [&](Value value) { return both(value, word(0xffff)); };
    auto high = [&](Value value) { return right(value, 16); };
    Value middle = plus(times(high(first), low(second)), high(times(low(first), low(second))));
    Value other = plus(times(low(first), high(second)), low(middle));
    return plus(plus(times(high(first), high(second)), high(middle)), high(other));
  }
  Pair add(Pair x, Pair y) {
    Value low = plus(x.low, y.low);
    return {low, plus(plus(x.high, y.high), number(is(CmpIPredicate::ult, low, x.low)))};
  }
  Pair subtract(Pair x, Pair y) {
    Value borrowed = number(is(CmpIPredicate::ult, x.low, y.low));
    return {minus(x.low, y.low), minus(minus(x.high, y.high), borrowed)};
  }
  /// Where the highest bit of a word is set.
  Pair negateIf(Pair x, Value sign) {
    return select(is(CmpIPredicate::slt, sign, word(0)), subtract({word(0), word(0)}, x), x);
  }
  /// By at most 63.
  Pair shiftUp(Pair x, Value by) {
    Value near = both(by, word(31)), isFar = is(CmpIPredicate::ugt, by, word(31)), low = left(x.low, near);
    Value high = either(left(x.high, near), right(right(x.low, 1), minus(word(31), near)));
    return select(isFar, Pair{word(0), low}, Pair{low, high});
  }
  Pair shiftDown(Pair x, Value by, Value fill) {
    Value near = both(by, word(31)), isFar = is(CmpIPredicate::ugt, by, word(31)), rest = minus(word(31), near);
    auto moved = [&](Value value, Value above) { return either(right(value, near), left(left(above, word(1)), rest)); };
    Value high = moved(x.high, fill);
    return select(isFar, Pair{high, fill}, Pair{moved(x.low, x.high), high});
  }
  /// The upper words decide, and the lower ones where those are equal, as numbers without a sign.
  Value compare(CmpIPredicate predicate, Pair x, Pair y) {
    using enum CmpIPredicate;
    Value isEqual = is(eq, x.high, y.high);
    if (predicate == eq)
      return both(isEqual, is(eq, x.low, y.low));
    if (predicate == ne)
      return either(is(ne, x.high, y.high), is(ne, x.low, y.low));
    const bool isLess = predicate == slt || predicate == sle || predicate == ult || predicate == ule;
    const bool isSigned = predicate < ult;
    const CmpIPredicate strict = isSigned ? (isLess ? slt : sgt) : isLess ? ult : ugt;
    const bool isStrict = predicate == strict;
    const CmpIPredicate ofLow = isLess ? (isStrict ? ult : ule) : isStrict ? ugt : uge;
    return either(is(strict, x.high, y.high), both(isEqual, is(ofLow, x.low, y.low)));
  }

  /// f32 with the bits of a sign: the upper 32 digits from the first one on, and whether others follow, are rounded.
  Value toFloat(Pair x, Value sign) {
    Value isLow = is(CmpIPredicate::eq, x.high, word(0));
    Value zeros = make<math::CountLeadingZerosOp>(select(isLow, x.low, x.high));
    zeros = select(isLow, plus(zeros, word(32)), zeros);
    Pair moved = shiftUp(x, both(zeros, word(63)));
    Value digits = either(moved.high, number(is(CmpIPredicate::ne, moved.low, word(0))));
    Value rest = both(digits, word(0xff)), isOdd = is(CmpIPredicate::ne, both(digits, word(0x100)), word(0));
    Value isUp = either(is(CmpIPredicate::ugt, rest, word(0x80)), both(is(CmpIPredicate::eq, rest, word(0x80)), isOdd));
    // The first digit counts one to the exponent.
    Value bits = plus(left(minus(word(189), zeros), word(23)), plus(right(digits, 8), number(isUp)));
    bits = select(is(CmpIPredicate::eq, either(x.low, x.high), word(0)), word(0), bits);
    return make<arith::BitcastOp>(b.getF32Type(), either(bits, sign));
  }
  Value bitsOfFloat() { return make<arith::BitcastOp>(b.getI32Type(), op->getOperand(0)); }
  /// Of a number that there is, without its sign, rounded towards 0.
  Pair fromFloat() {
    Value bits = bitsOfFloat(), exponent = both(right(bits, 23), word(0xff));
    Value digits = either(both(bits, word(0x7fffff)), word(0x800000)), zero = word(0);
    Value isSmall = is(CmpIPredicate::ult, exponent, word(150)), by = minus(word(150), exponent);
    by = select(is(CmpIPredicate::ult, by, word(31)), by, word(31));
    Pair large = shiftUp({digits, zero}, both(minus(exponent, word(150)), word(63)));
    return select(isSmall, Pair{right(digits, by), zero}, large);
  }

  Operation *op;
  OpBuilder b;
  Location loc;
  Words &words;
};

} // namespace

void splitWideIntegers(FunctionOpInterface body) {
  expandQuotients(body, /*floats=*/false);
  SmallVector<Operation *> ops;
  body->walk([&](Operation *op) {
    auto isWide = [](Type type) { return type.isInteger(64); };
    if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op) ||
        (isa<arith::ArithDialect>(op->getDialect()) && op->getNumResults() == 1 && !op->hasAttr(wideIndexAttr) &&
         (llvm::any_of(op->getOperandTypes(), isWide) || llvm::any_of(op->getResultTypes(), isWide))))
      ops.push_back(op);
  });
  if (!ops.empty())
    body->getContext()->loadDialect<math::MathDialect>();
  Words words;
  for (Operation *op : ops) {
    SplitUp split(op, words);
    if (op->getNumResults() == 2) {
      const Pair product = split.extendedProduct();
      op->replaceAllUsesWith(ValueRange{product.low, product.high});
    } else if (Value value = split.find()) {
      op->getResult(0).replaceAllUsesWith(value);
    } else {
      continue;
    }
    op->erase();
  }
}

} // namespace zyx::kernel
