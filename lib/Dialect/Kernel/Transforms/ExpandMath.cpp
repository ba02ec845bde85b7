//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ExpandMathEmitter.h"

#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

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

/// How `op` is computed, or null where it stays.
static Expansion findExpansion(Operation *op, Instructions has) {
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
  SmallVector<std::pair<Operation *, Expansion>> work;
  getOperation()->walk([&](Operation *op) {
    if (Expansion expansion = findExpansion(op, has))
      work.emplace_back(op, std::move(expansion));
  });
  for (auto &[op, expansion] : work)
    if (failed(expandOp(op, expansion, has)))
      return signalPassFailure();
}
