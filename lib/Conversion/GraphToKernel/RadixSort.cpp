//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sorts of whole rows by a processor, digit by digit.
//===----------------------------------------------------------------------===//
#include "OrderPrograms.h"
#include "SortKeys.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

static constexpr int64_t digitBits = 8, numDigitValues = int64_t(1) << digitBits;

static unsigned widthOf(SortOp sort) { return getElementTypeOrSelf(sort.getX().getType()).getIntOrFloatBitWidth(); }

/// Of few elements counting digits takes longer than comparing them. What threads count would not be near them.
bool ProgramOrder::sortsDigits(SortOp sort) const {
  constexpr int64_t fewest = 32;
  const int64_t extent = cast<RankedTensorType>(sort.getType()).getShape()[sort.getDim()];
  const bool isTiny = isa<FloatType>(getElementTypeOrSelf(sort.getX().getType())) && widthOf(sort) < 16;
  return !isLockstep && !isTiny && extent >= fewest && extent <= std::numeric_limits<int32_t>::max();
}

/// Keys, twice, and indices, twice.
SmallVector<TensorType> ProgramOrder::getDigitScratch(SortOp sort) const {
  const int64_t count = 2 * cast<RankedTensorType>(sort.getType()).getNumElements();
  return {{DType::I32, {count}}, {SortKeys::countBits(sort) == 64 ? DType::I64 : DType::I32, {count}}};
}

/// A program sorts one row: by the last digit first, and each time without changing the order of equal digits, from one
/// half of its memory to the other. A digit that all elements share is left out, as the first ones of small integers
/// are.
void ProgramOrder::emitDigitSort(SortOp sort) {
  Rows rows(getShape(sort.getX()), sort.getDim());
  Operand x = getOperand(sort.getX(), rows.shape());
  Value places = scratch[0], keyMemory = scratch[1];
  Values at = openGrid({rows.outer, rows.inner}, {1, 1});
  SortKeys keys(builder, loc, sort);
  Type i32 = builder.getI32Type();
  const unsigned width = widthOf(sort), keyWidth = keys.type.getWidth();
  const int64_t numDigits = llvm::divideCeil(width, digitBits);
  Value zero = index(0), one = index(1), n = index(rows.extent);
  Value base = multiply(add(multiply(at[0], rows.inner), at[1]), 2 * rows.extent);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(i32, value));
  };
  Value counts = kernel::AllocOp::create(
      builder, loc, kernel::ViewType::get({numDigits * numDigitValues}, i32, kernel::Space::Private));
  auto digitOf = [&](Value key, Value digit) {
    Value bits = arith::IndexCastOp::create(builder, loc, keys.type, multiply(digit, digitBits));
    Value moved = arith::ShRUIOp::create(builder, loc, key, bits);
    Value own = arith::AndIOp::create(builder, loc, moved, keys.number(APInt(keyWidth, numDigitValues - 1)));
    return add(multiply(digit, numDigitValues), toIndex(own));
  };
  auto countUp = [&](Value place) {
    Value before = loadAt(counts, place);
    store(arith::AddIOp::create(builder, loc, before, number(1)), counts, place);
    return before;
  };
  // Digits are unsigned. Of keys that are wider than elements the last digits alone differ, but for NaN's.
  auto keyOf = [&](Value element) {
    Value key = keys.of(element);
    if (width < keyWidth && isa<FloatType>(element.getType()))
      key = arith::MinSIOp::create(builder, loc, key, keys.number(APInt::getSignedMaxValue(width).zext(keyWidth)));
    const bool isSigned = width == keyWidth || !sortsUnsigned(sort);
    return isSigned ? arith::XOrIOp::create(builder, loc, key, keys.number(APInt::getSignMask(width).zext(keyWidth)))
                          .getResult()
                    : key;
  };

  loop(zero, index(numDigits * numDigitValues), one, [&](Value i) { store(number(0), counts, i); });
  loop(zero, n, one, [&](Value j) {
    Value key = keyOf(load(x, {at[0], j, at[1]}));
    store(key, keyMemory, add(base, j));
    store(arith::IndexCastOp::create(builder, loc, i32, j), places, add(base, j));
    for (int64_t digit = 0; digit < numDigits; ++digit)
      countUp(digitOf(key, index(digit)));
  });
  Values last = loop(zero, index(numDigits), one, ValueRange(zero), [&](Value digit, ValueRange from) -> Values {
    Value source = add(base, from[0]), to = subtract(n, from[0]), target = add(base, to);
    // At most one round, and none where nothing would move.
    Value common = toIndex(loadAt(counts, digitOf(loadAt(keyMemory, source), digit)));
    Value rounds = choose(isLess(common, n), one, zero);
    return loop(zero, rounds, one, ValueRange(from[0]), [&](Value, ValueRange) -> Values {
      Value begin = multiply(digit, numDigitValues);
      loop(begin, add(begin, index(numDigitValues)), one, ValueRange(number(0)),
           [&](Value i, ValueRange sum) -> Values {
             Value own = loadAt(counts, i);
             store(sum[0], counts, i);
             return {arith::AddIOp::create(builder, loc, sum[0], own)};
           });
      loop(zero, n, one, [&](Value j) {
        Value key = loadAt(keyMemory, add(source, j)), place = loadAt(places, add(source, j));
        Value next = add(target, toIndex(countUp(digitOf(key, digit))));
        store(key, keyMemory, next);
        store(place, places, next);
      });
      return {to};
    });
  });
  Value source = add(base, last.front());
  loop(zero, n, one, [&](Value j) {
    Value chosen = toIndex(loadAt(places, add(source, j)));
    Value element = sort.getKind() == SortKind::Values ? load(x, {at[0], chosen, at[1]}) : Value();
    store(give(sort, element, chosen), out, linear(rows, at[0], j, at[1]));
  });
}

} // namespace zyx::lowering
