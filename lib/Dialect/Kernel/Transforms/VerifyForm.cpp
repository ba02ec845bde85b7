//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_VERIFYFORMPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

bool isExactMath(Operation *op) {
  return isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp,
             math::CopySignOp>(op);
}

/// A function that an instruction of the machine approximates.
bool isMachineMath(Operation *op) {
  return isa<math::Exp2Op, math::RsqrtOp, math::TanhOp>(op) &&
         bitEnumContainsAll(cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::afn);
}

/// Whether a kernel of the lowered form has functions left that not every machine has.
LogicalResult verifyExpanded(FuncOp func) {
  WalkResult result = func.walk([](Operation *op) -> WalkResult {
    if (isa_and_nonnull<math::MathDialect>(op->getDialect()) && !isExactMath(op) && !isMachineMath(op))
      return op->emitOpError("is a function that the lowered form has no more once functions are expanded");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct VerifyForm : zyx::kernel::impl::VerifyFormPassBase<VerifyForm> {
  using VerifyFormPassBase::VerifyFormPassBase;

  void runOnOperation() override {
    SmallVector<Form> wanted;
    for (StringRef name : form) {
      std::optional<Form> known = symbolizeForm(name);
      if (!known) {
        getOperation()->emitError() << "there is no form '" << name << "'; tiled, machine and lowered exist";
        return signalPassFailure();
      }
      wanted.push_back(*known);
    }
    WalkResult result = getOperation()->walk([&](FuncOp func) -> WalkResult {
      if (!wanted.empty() && !llvm::is_contained(wanted, func.getForm()))
        return func.emitOpError() << "is in the " << stringifyForm(func.getForm()) << " form, which is not "
                                  << llvm::join(form, " or ");
      // The verifier runs once behind each phase: passes since then are held to the form here.
      if (failed(func.verifyRegions()))
        return WalkResult::interrupt();
      return WalkResult(func.getForm() == Form::Lowered && expanded ? verifyExpanded(func) : success());
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
