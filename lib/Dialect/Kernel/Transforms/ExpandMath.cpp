//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ExpandMathEmitter.h"

#include "zyx/Base/Float.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace zyx::kernel {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::kernel::expand;

namespace {
using Expansion = std::function<Num(ArrayRef<Num>)>;

struct ExpandMathPass : zyx::kernel::impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;
  void runOnOperation() override;
};
} // namespace

static Expansion unary(Num (*function)(Num)) {
  return [function](ArrayRef<Num> operands) { return function(operands[0]); };
}
static Expansion binary(Num (*function)(Num, Num)) {
  return [function](ArrayRef<Num> operands) { return function(operands[0], operands[1]); };
}

namespace {

/// Numbers by whose inverse a float of 16 bits may be multiplied instead of being divided by them.
class Divisors {
public:
  /// The inverse, rounded to f32, if the products of all floats of the type are rounded to what quotients are rounded
  /// to.
  std::optional<float> findInverse(arith::DivFOp division);

private:
  static std::optional<float> compute(Type element, float divisor);

  llvm::DenseMap<Attribute, std::optional<float>> known;
};

} // namespace

std::optional<float> Divisors::compute(Type element, float divisor) {
  const float inverse = 1 / divisor;
  if (!std::isnormal(divisor) || !std::isnormal(inverse))
    return std::nullopt;
  const bool isHalf = element.isF16();
  // A sign changes nothing.
  for (uint32_t bits = 0; bits < (1u << 15); ++bits) {
    const auto number = static_cast<uint16_t>(bits);
    const auto x = static_cast<float>(isHalf ? zyx::halfToFloat(number) : zyx::bfloat16ToFloat(number));
    if (std::isnan(x))
      continue;
    const float quotient = x / divisor, product = x * inverse;
    if (isHalf ? zyx::floatToHalf(quotient) != zyx::floatToHalf(product)
               : zyx::floatToBFloat16(quotient) != zyx::floatToBFloat16(product))
      return std::nullopt;
  }
  return inverse;
}

std::optional<float> Divisors::findInverse(arith::DivFOp division) {
  Type element = getElementTypeOrSelf(division.getType());
  APFloat divisor(0.0f);
  if ((!element.isF16() && !element.isBF16()) || !matchPattern(division.getRhs(), m_ConstantFloat(&divisor)))
    return std::nullopt;
  auto [place, isNew] = known.try_emplace(FloatAttr::get(element, divisor), std::nullopt);
  if (isNew)
    place->second = compute(element, static_cast<float>(FloatAttr::get(element, divisor).getValueAsDouble()));
  return place->second;
}

/// How `op` is computed, or null where it stays.
static Expansion findExpansion(Operation *op, Instructions has, Divisors &divisors) {
  if (!has.fma && isa<math::FmaOp>(op))
    return [](ArrayRef<Num> operands) { return operands[0] * operands[1] + operands[2]; };
  if (!has.rounding && isa<math::FloorOp>(op))
    return unary(floor);
  if (!has.rounding && isa<math::CeilOp>(op))
    return unary(ceil);
  if (!has.rounding && isa<math::TruncOp>(op))
    return unary(truncate);
  if (!has.rounding && isa<math::RoundEvenOp>(op))
    return unary(nearest);
  return llvm::TypeSwitch<Operation *, Expansion>(op)
      .Case([](math::ExpOp exponential) {
        return exponential->hasAttr(nonpositiveAttrName) ? unary(expNonpositive) : unary(exp);
      })
      .Case([&](math::Exp2Op power) {
        // Tiles are those of the machine form, which may have an instruction for it.
        bool isInstruction = (has.powers || isa<TensorType>(power.getType())) &&
                             bitEnumContainsAll(power.getFastmath(), arith::FastMathFlags::afn);
        return isInstruction ? Expansion() : unary(exp2);
      })
      .Case([](math::RsqrtOp root) {
        bool isInstruction =
            isa<TensorType>(root.getType()) && bitEnumContainsAll(root.getFastmath(), arith::FastMathFlags::afn);
        return isInstruction ? Expansion() : unary(rsqrt);
      })
      .Case([](math::TanhOp tangent) {
        bool isInstruction =
            isa<TensorType>(tangent.getType()) && bitEnumContainsAll(tangent.getFastmath(), arith::FastMathFlags::afn);
        return isInstruction ? Expansion() : unary(tanh);
      })
  // Those above are asked first.
#define ZYX_KERNEL_FUNCTION(Op, name, ...) .Case([](math::Op) { return unary(name); })
#include "zyx/Dialect/Kernel/IR/Functions.inc"
      .Case([](math::PowFOp) { return binary(pow); })
      .Case([](arith::RemFOp) { return binary(fmod); })
      .Case([&](arith::DivFOp division) {
        const std::optional<float> inverse = divisors.findInverse(division);
        return inverse ? Expansion([inverse](ArrayRef<Num> operands) { return operands[0] * double(*inverse); })
                       : Expansion();
      })
      .Default([](Operation *) { return Expansion(); });
}

static LogicalResult expandOp(Operation *op, const Expansion &expansion, Instructions has) {
  Type type = op->getResult(0).getType();
  Type element = getElementTypeOrSelf(type);
  if (!element.isF16() && !element.isBF16() && !element.isF32() && !element.isF64())
    return op->emitOpError("has no expansion for elements of type ") << element;

  OpBuilder builder(op);
  Emitter emitter(builder, op->getLoc(), has);
  Type computed = element.isF64() ? element : Type(builder.getF32Type());
  SmallVector<Num> operands;
  for (Value operand : op->getOperands())
    operands.push_back(toFormat(emitter.num(operand), computed));
  op->getResult(0).replaceAllUsesWith(toFormat(expansion(operands), element).value);
  op->erase();
  return success();
}

void ExpandMathPass::runOnOperation() {
  Instructions has;
  if (const zyx::target::TargetInfo *target = findTarget(getOperation())) {
    has.fma = target->arithmetic.hasFma;
    has.exactFma = target->arithmetic.hasExactFma();
    has.rounding = target->arithmetic.hasRounding;
    has.doubles = target->arithmetic.hasDoubles;
    // Machines of subgroups have functional units for powers of two: ex2.approx in PTX, v_exp_f32 in AMD's code.
    has.powers = target->hasSubgroups();
    has.maximum = target->hasSubgroups() && target->arithmetic.hasMaximum;
  }
  Divisors divisors;
  SmallVector<std::pair<Operation *, Expansion>> work;
  getOperation()->walk([&](Operation *op) {
    if (Expansion expansion = findExpansion(op, has, divisors))
      work.emplace_back(op, std::move(expansion));
  });
  for (auto &[op, expansion] : work)
    if (failed(expandOp(op, expansion, has)))
      return signalPassFailure();
}
