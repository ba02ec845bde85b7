//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace zyx::kernel {

bool isSmallFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(element);
}

namespace {

/// The same shape with another element type.
Type like(Type shape, Type element) {
  if (auto vector = dyn_cast<VectorType>(shape))
    return vector.clone(element);
  return element;
}

/// Integers as wide as the floats.
Type bitsType(Type type) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return like(type, IntegerType::get(type.getContext(), width));
}

/// Builds conversions out of integer arithmetic, on scalars and vectors alike.
class FloatBits {
public:
  FloatBits(OpBuilder &builder, Location loc, SmallFloatConversions has) : b(builder), loc(loc), has(has) {}

  /// Any small float to f32, exactly.
  Value extend(Value small) {
    Type element = getElementTypeOrSelf(small.getType());
    if (isa<Float16Type>(element))
      return extendHalf(bits(small));
    if (isa<BFloat16Type>(element))
      return arith::BitcastOp::create(b, loc, f32(small), shl(extend32(bits(small)), 16));
    // f8E5M2 is the upper byte of f16.
    if (isa<Float8E5M2Type>(element)) {
      Value wide = arith::ExtUIOp::create(b, loc, like(small.getType(), b.getI16Type()), bits(small));
      return extendHalf(arith::ShLIOp::create(b, loc, wide, constant(wide.getType(), 8)));
    }
    return extendF8E4M3FN(bits(small));
  }

  /// An integer that rounds to few digits as `x` does: from 2^`digits` on the last `count` are dropped, and the one
  /// before them tells whether there was any.
  Value dropDigits(Value x, bool isSigned, unsigned digits, unsigned count) {
    const int64_t exact = int64_t(1) << digits, dropped = (int64_t(1) << count) - 1;
    Value isExact = compare(arith::CmpIPredicate::ult, isSigned ? add(x, exact) : x, isSigned ? 2 * exact : exact);
    Value carried = add(conjunction(x, dropped), dropped);
    return select(isExact, x, conjunction(disjunction(carried, x), ~dropped));
  }

  /// f32 or f64 to a small float, rounded once, to nearest even.
  Value truncate(Value wide, Type result) {
    Type element = getElementTypeOrSelf(result);
    if (getElementTypeOrSelf(wide.getType()).isF64())
      wide = roundToOdd(wide);
    Value bits;
    if (isa<Float16Type>(element))
      bits = truncateHalf(wide);
    else if (isa<BFloat16Type>(element))
      bits = truncateBFloat16(wide);
    else if (isa<Float8E5M2Type>(element))
      bits = truncateBits(wide, {21, 24, 15, 16, 0x7c, 0x7e, 0x1p7f, b.getI8Type()});
    else
      bits = truncateBits(wide, {20, 24, 7, 9, 0x7f, 0x7f, 0x1p14f, b.getI8Type()});
    return arith::BitcastOp::create(b, loc, result, bits);
  }

  /// What instructions compute in the format itself, two elements at a time; null where there are none. A product of
  /// two and a sum are fused ones with -0 and 1, which change nothing.
  Value computePairs(Operation *op) {
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type || type.getNumElements() % 2 != 0)
      return {};
    Type element = type.getElementType();
    const bool isHalf = isa<Float16Type>(element);
    const bool isMaximum = isa<arith::MaximumFOp, arith::MinimumFOp>(op);
    if (!(isHalf ? has.halfPairs : has.bfloatPairs && isa<BFloat16Type>(element)) || (isMaximum && !has.maximum) ||
        !(isMaximum || isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, math::AbsFOp>(op)))
      return {};
    const int64_t count = type.getNumElements() / 2;
    auto words = VectorType::get({count}, b.getI32Type()), pair = VectorType::get({2}, element);
    auto word = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(words, APInt(32, static_cast<uint64_t>(value))));
    };
    SmallVector<Value> x;
    for (Value operand : op->getOperands())
      x.push_back(LLVM::BitcastOp::create(b, loc, words, bits(operand)));
    Value result;
    if (isa<arith::NegFOp>(op)) {
      result = arith::XOrIOp::create(b, loc, x[0], word(0x80008000));
    } else if (isa<math::AbsFOp>(op)) {
      result = arith::AndIOp::create(b, loc, x[0], word(0x7fff7fff));
    } else {
      const PairIntrinsics &pairs = has.pairs;
      const StringRef function = isa<arith::MaximumFOp>(op)   ? pairs.maximum
                                 : isa<arith::MinimumFOp>(op) ? pairs.minimum
                                                              : pairs.fma;
      const std::string name = (function + (isHalf ? pairs.half : pairs.bfloat)).str();
      auto pairOf = [&](Value vector, int64_t i) -> Value {
        Value place = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
        return LLVM::BitcastOp::create(b, loc, pair, LLVM::ExtractElementOp::create(b, loc, vector, place));
      };
      auto number = [&](double value) -> Value {
        FloatAttr attr = b.getFloatAttr(element, value);
        return LLVM::ConstantOp::create(b, loc, pair, DenseElementsAttr::get(pair, Attribute(attr)));
      };
      result = LLVM::PoisonOp::create(b, loc, words);
      for (int64_t i = 0; i < count; ++i) {
        Value first = pairOf(x[0], i), second = pairOf(x[1], i);
        SmallVector<Value> operands = {first, second};
        if (isa<arith::AddFOp>(op))
          operands = {first, number(1), second};
        else if (isa<arith::SubFOp>(op))
          operands = {second, number(-1), first};
        else if (isa<arith::MulFOp>(op))
          operands = {first, second, number(-0.0)};
        Value computed = LLVM::CallIntrinsicOp::create(b, loc, pair, b.getStringAttr(name), operands).getResult(0);
        Value place = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
        result = LLVM::InsertElementOp::create(b, loc, result,
                                               LLVM::BitcastOp::create(b, loc, b.getI32Type(), computed), place);
      }
    }
    Type bitsOfType = bitsType(type);
    return arith::BitcastOp::create(b, loc, type, LLVM::BitcastOp::create(b, loc, bitsOfType, result));
  }

private:
  Type f32(Value shape) { return like(shape.getType(), b.getF32Type()); }
  Type i32(Value shape) { return like(shape.getType(), b.getI32Type()); }
  Value constant(Type type, int64_t value) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = b.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(), value,
                                                     /*isSigned=*/false, /*implicitTrunc=*/true));
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value constantF32(Value shape, float value) {
    TypedAttr attr = b.getF32FloatAttr(value);
    if (auto vector = dyn_cast<VectorType>(f32(shape)))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value bits(Value small) { return arith::BitcastOp::create(b, loc, bitsType(small.getType()), small); }
  Value extend32(Value bits) { return arith::ExtUIOp::create(b, loc, i32(bits), bits); }
  Value shl(Value x, int64_t by) { return arith::ShLIOp::create(b, loc, x, constant(x.getType(), by)); }
  Value shr(Value x, int64_t by) { return arith::ShRUIOp::create(b, loc, x, constant(x.getType(), by)); }
  Value conjunction(Value x, int64_t y) { return arith::AndIOp::create(b, loc, x, constant(x.getType(), y)); }
  Value disjunction(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value add(Value x, int64_t y) { return add(x, constant(x.getType(), y)); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }
  Value compare(arith::CmpIPredicate p, Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, p, x, constant(x.getType(), y));
  }
  Value compare(arith::CmpFPredicate p, Value x, Value y) { return arith::CmpFOp::create(b, loc, p, x, y); }

  // LLVM's half, which the processor converts.
  Value extendHalf(Value bits16) {
    if (!has.half)
      return extendHalfBits(bits16);
    Value half = LLVM::BitcastOp::create(b, loc, like(bits16.getType(), b.getF16Type()), bits16);
    return LLVM::FPExtOp::create(b, loc, f32(bits16), half);
  }
  Value truncateHalf(Value wide) {
    if (!has.half)
      return truncateBits(wide, {13, 16, 15, 16, 0x7c00, 0x7e00, 0x1p-1f, b.getI16Type()});
    // Of a copied sign that was an f64's before, LLVM would make a half at once, by a call of a library. It looks
    // through no fence.
    if (!has.halfOfDouble && !isa<VectorType>(wide.getType()))
      wide = LLVM::CallIntrinsicOp::create(b, loc, wide.getType(), b.getStringAttr("llvm.arithmetic.fence"), wide)
                 .getResult(0);
    Value half = LLVM::FPTruncOp::create(b, loc, like(wide.getType(), b.getF16Type()), wide);
    return LLVM::BitcastOp::create(b, loc, like(wide.getType(), b.getI16Type()), half);
  }

  /// The number of an exponent and a mantissa. Placed behind a float's exponent it is 2^`by` times too small, denormals
  /// included.
  Value scale(Value magnitude, int64_t shift, int64_t by) {
    Value placed = shl(magnitude, shift);
    auto product = [&](Value x, int64_t power) -> Value {
      return arith::MulFOp::create(b, loc, x, constantF32(magnitude, std::ldexp(1.0f, static_cast<int>(power))));
    };
    if (has.denormals)
      return product(arith::BitcastOp::create(b, loc, f32(magnitude), placed), by);
    Value tiny = product(arith::UIToFPOp::create(b, loc, f32(magnitude), magnitude), by + shift - 149);
    Value normal = arith::BitcastOp::create(b, loc, f32(magnitude), add(placed, by << 23));
    return select(compare(arith::CmpIPredicate::ult, magnitude, int64_t(1) << (23 - shift)), tiny, normal);
  }

  /// As extendF8E4M3FN, but with infinities: the largest exponent stays the largest.
  Value extendHalfBits(Value bits16) {
    Value bits = extend32(bits16);
    Value sign = shl(conjunction(bits, 0x8000), 16);
    Value magnitude = conjunction(bits, 0x7fff);
    Value value = scale(magnitude, 13, 112);
    Value number = arith::BitcastOp::create(b, loc, i32(bits16), value);
    Value special = compare(arith::CmpIPredicate::uge, magnitude, 0x7c00);
    Value full = disjunction(number, constant(number.getType(), 0x7f800000));
    return arith::BitcastOp::create(b, loc, f32(bits16), disjunction(select(special, full, number), sign));
  }

  // On a CPU vcvtneps2bf16 would flush denormals.
  Value truncateBFloat16(Value wide) {
    if (has.bfloat) {
      Value narrow = LLVM::FPTruncOp::create(b, loc, like(wide.getType(), b.getBF16Type()), wide);
      return LLVM::BitcastOp::create(b, loc, like(wide.getType(), b.getI16Type()), narrow);
    }
    Value bits = arith::BitcastOp::create(b, loc, i32(wide), wide);
    Value even = conjunction(shr(bits, 16), 1);
    Value rounded = add(add(bits, 0x7fff), even);
    Value quiet = disjunction(bits, constant(bits.getType(), 0x400000));
    Value nan = compare(arith::CmpFPredicate::UNO, wide, wide);
    Value upper = shr(select(nan, quiet, rounded), 16);
    return arith::TruncIOp::create(b, loc, like(wide.getType(), b.getI16Type()), upper);
  }

  Value extendF8E4M3FN(Value bits8) {
    Value bits = extend32(bits8);
    Value sign = shl(conjunction(bits, 0x80), 24);
    Value magnitude = conjunction(bits, 0x7f);
    Value value = scale(magnitude, 20, 120);
    Value number = arith::BitcastOp::create(b, loc, i32(bits8), value);
    Value nan = compare(arith::CmpIPredicate::eq, magnitude, 0x7f);
    Value quiet = constant(number.getType(), 0x7fc00000);
    return arith::BitcastOp::create(b, loc, f32(bits8), disjunction(select(nan, quiet, number), sign));
  }

  /// A format by what makes it out of an f32: bits of the mantissa that go; places by which the sign
  /// moves; the exponents' bias, and the exponent of the first power of two that is too large; the first
  /// magnitude that overflows (infinity, of e4m3fn NaN); a NaN; and a number whose last place in f32 is
  /// the format's smallest denormal.
  struct Narrow {
    int64_t dropped, signShift, bias, tooLarge, overflow, nan;
    float anchor;
    Type bits;
  };

  Value truncateBits(Value wide, const Narrow &to) {
    // The smallest normal number.
    int64_t smallest = (1 - to.bias + 127) << 23;
    Value bits = arith::BitcastOp::create(b, loc, i32(wide), wide);
    Value sign = shr(conjunction(bits, 0x80000000), to.signShift);
    Value magnitude = conjunction(bits, 0x7fffffff);

    Value even = conjunction(shr(magnitude, to.dropped), 1);
    Value rounded = add(add(magnitude, (int64_t(1) << (to.dropped - 1)) - 1), even);
    Value normal = shr(add(rounded, -((127 - to.bias) << 23)), to.dropped);
    // A denormal is rounded at the right place by being added.
    Value absolute = arith::BitcastOp::create(b, loc, f32(wide), magnitude);
    Value sum = arith::AddFOp::create(b, loc, absolute, constantF32(wide, to.anchor));
    Value anchorBits = arith::BitcastOp::create(b, loc, i32(wide), constantF32(wide, to.anchor));
    Value sumBits = arith::BitcastOp::create(b, loc, i32(wide), sum);
    Value denormal = arith::SubIOp::create(b, loc, sumBits, anchorBits);

    Value result = select(compare(arith::CmpIPredicate::ult, magnitude, smallest), denormal, normal);
    Value large = compare(arith::CmpIPredicate::ugt, result, to.overflow);
    // An infinite or huge f32 wraps around in `normal`, so it is recognised by itself.
    Value huge = compare(arith::CmpIPredicate::uge, magnitude, (127 + to.tooLarge) << 23);
    Value limit = constant(result.getType(), to.overflow);
    result = select(huge, limit, select(large, limit, result));
    Value nan = compare(arith::CmpFPredicate::UNO, wide, wide);
    Value quiet = constant(result.getType(), to.nan);
    result = disjunction(select(nan, quiet, result), sign);
    return arith::TruncIOp::create(b, loc, like(wide.getType(), to.bits), result);
  }

  /// f64 to f32 such that rounding the result again, to fewer bits, is as rounding once: what is
  /// inexact gets an odd last bit.
  Value roundToOdd(Value wide) {
    Value nearest = arith::TruncFOp::create(b, loc, f32(wide), wide);
    Value back = arith::ExtFOp::create(b, loc, wide.getType(), nearest);
    Value inexact = compare(arith::CmpFPredicate::ONE, back, wide);
    Value above =
        compare(arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back), math::AbsFOp::create(b, loc, wide));
    Value bits = arith::BitcastOp::create(b, loc, i32(wide), nearest);
    Value even = compare(arith::CmpIPredicate::eq, conjunction(bits, 1), 0);
    Value towards = select(above, add(bits, -1), add(bits, 1));
    Value move = arith::AndIOp::create(b, loc, inexact, even);
    return arith::BitcastOp::create(b, loc, f32(wide), select(move, towards, bits));
  }

  OpBuilder &b;
  Location loc;
  SmallFloatConversions has;
};

/// The value of a small float constant's bits.
TypedAttr constantBits(Attribute value, OpBuilder &b) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return b.getIntegerAttr(bitsType(number.getType()), number.getValue().bitcastToAPInt());
  auto elements = cast<DenseElementsAttr>(value);
  return elements.bitcast(bitsType(elements.getElementType()));
}

LogicalResult lower(Operation *op, SmallFloatConversions has) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  FloatBits floats(b, loc, has);
  auto replace = [&](Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  };
  auto small = [](Value value) { return isSmallFloat(value.getType()); };
  Value result = op->getResult(0);

  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Value bits = arith::ConstantOp::create(b, loc, constantBits(constant.getValue(), b));
    return replace(arith::BitcastOp::create(b, loc, result.getType(), bits));
  }
  // These move bits.
  if (isa<arith::SelectOp, arith::BitcastOp>(op))
    return success();
  if (isa<math::FmaOp>(op))
    return op->emitOpError() << "of " << result.getType() << " would be rounded twice: it is computed in f32";

  if (Value computed = small(result) ? floats.computePairs(op) : Value())
    return replace(computed);

  auto extended = [&](Value value) { return small(value) ? floats.extend(value) : value; };
  Type f32 = like(result.getType(), b.getF32Type());
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Value value = extended(op->getOperand(0));
    if (small(result))
      return replace(floats.truncate(value, result.getType()));
    return replace(value.getType() == result.getType()
                       ? value
                       : arith::ExtFOp::create(b, loc, result.getType(), value).getResult());
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    // f64 holds every i32, so that there is one rounding. What it rounds of an i64 is too large for
    // all formats but bf16, and so is what f32 rounds.
    bool isSigned = isa<arith::SIToFPOp>(op);
    Value value = op->getOperand(0);
    unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
    Type through = like(result.getType(), width > 16 && has.doubles ? b.getF64Type() : b.getF32Type());
    using Dropped = std::pair<unsigned, unsigned>;
    const SmallVector<Dropped> steps =
        has.doubles ? SmallVector<Dropped>{{53, 11}} : SmallVector<Dropped>{{24, 8}, {32, 20}, {44, 32}, {56, 40}};
    if (getElementTypeOrSelf(result.getType()).isBF16())
      for (auto [digits, count] : steps)
        if (digits < width - 1)
          value = floats.dropDigits(value, isSigned, digits, count);
    value = isSigned ? arith::SIToFPOp::create(b, loc, through, value).getResult()
                     : arith::UIToFPOp::create(b, loc, through, value).getResult();
    return replace(floats.truncate(value, result.getType()));
  }
  // Everything else is done in f32: with f16 and bf16 as operands + - * / and sqrt are right after
  // the second rounding, because f32 has more than twice their bits.
  Operation *wide = b.clone(*op);
  for (OpOperand &operand : wide->getOpOperands())
    operand.set(extended(operand.get()));
  wide->moveBefore(op);
  if (!small(result))
    return replace(wide->getResult(0));
  wide->getResult(0).setType(f32);
  return replace(floats.truncate(wide->getResult(0), result.getType()));
}

} // namespace

LogicalResult lowerSmallFloats(FunctionOpInterface body, SmallFloatConversions has) {
  SmallVector<Operation *> ops;
  body->walk([&](Operation *op) {
    bool computes = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || isa<vector::ReductionOp>(op);
    if (computes &&
        (llvm::any_of(op->getOperandTypes(), isSmallFloat) || llvm::any_of(op->getResultTypes(), isSmallFloat)))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(lower(op, has)))
      return failure();

  // What is left moves values and does not look into them.
  auto retype = [](Value value) {
    Type type = value.getType();
    if (isSmallFloat(type))
      value.setType(bitsType(type));
    else if (auto view = dyn_cast<ViewType>(type); view && isSmallFloat(view.getElementType()))
      value.setType(ViewType::get(view.getShape(), bitsType(view.getElementType()), view.getSpace(), view.getLayout()));
    else if (auto buffer = dyn_cast<BufferType>(type); buffer && isSmallFloat(buffer.getElementType()))
      value.setType(BufferType::get(buffer.getContext(), bitsType(buffer.getElementType()), buffer.getSpace()));
  };
  body->walk([&](Operation *op) {
    // LLVM's half stays where it is converted.
    if (isa<LLVM::LLVMDialect>(op->getDialect()))
      return;
    llvm::for_each(op->getResults(), retype);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), retype);
  });
  if (auto kernel = dyn_cast<FuncOp>(body.getOperation()))
    kernel.setFunctionType(FunctionType::get(kernel.getContext(), kernel.getBody().getArgumentTypes(), {}));
  body->walk([](arith::BitcastOp cast) {
    if (cast.getType() == cast.getIn().getType()) {
      cast.replaceAllUsesWith(cast.getIn());
      cast.erase();
    }
  });
  return success();
}

} // namespace zyx::kernel
