//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/KernelToWords/KernelToWords.h"

#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_CONVERTKERNELTOWORDSPASS
#include "zyx/Conversion/KernelToWords/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

bool isNarrow(Type type) { return type.isInteger(8) || type.isInteger(16); }

/// Whether the op sees its operands' signs.
bool isSigned(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicate() >= arith::CmpIPredicate::slt && compare.getPredicate() <= arith::CmpIPredicate::sge;
  return isa<arith::DivSIOp, arith::ShRSIOp, arith::MulSIExtendedOp, arith::ExtSIOp, arith::IndexCastOp,
             arith::SIToFPOp, arith::FPToSIOp>(op);
}

class Words {
public:
  explicit Words(Operation *op) : op(op), b(op), loc(op->getLoc()) {}
  void rewrite();

private:
  Type i32() { return b.getI32Type(); }
  Value number(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  /// Of fewer digits in 32, and of 64 the lower ones.
  Value toWord(Value value, bool isSigned) {
    Type type = value.getType();
    if (type.isInteger(64))
      return arith::TruncIOp::create(b, loc, i32(), value);
    if (!isNarrow(type) && !type.isInteger(1))
      return value;
    return isSigned ? arith::ExtSIOp::create(b, loc, i32(), value).getResult()
                    : arith::ExtUIOp::create(b, loc, i32(), value).getResult();
  }
  Value fromWord(Value word, Type type, bool isSigned) {
    if (type == word.getType())
      return word;
    if (!type.isInteger(64))
      return arith::TruncIOp::create(b, loc, type, word);
    return isSigned ? arith::ExtSIOp::create(b, loc, type, word).getResult()
                    : arith::ExtUIOp::create(b, loc, type, word).getResult();
  }
  void replace(Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
  void rewriteConversion();
  void rewriteToInteger();
  void rewriteExtended();

  Operation *op;
  OpBuilder b;
  Location loc;
};

/// Between integers, or an integer and an index.
void Words::rewriteConversion() {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (from.isInteger(32) || to.isInteger(32))
    return;
  Value word = toWord(op->getOperand(0), isSigned(op));
  if (from.isIndex())
    word = arith::IndexCastOp::create(b, loc, i32(), word);
  if (to.isIndex())
    return replace(arith::IndexCastOp::create(b, loc, to, word));
  replace(fromWord(word, to, isSigned(op)));
}

/// Of a float that is a number of the type: others have been told apart.
void Words::rewriteToInteger() {
  Value word = isSigned(op) ? arith::FPToSIOp::create(b, loc, i32(), op->getOperand(0)).getResult()
                            : arith::FPToUIOp::create(b, loc, i32(), op->getOperand(0)).getResult();
  replace(fromWord(word, op->getResult(0).getType(), false));
}

void Words::rewriteExtended() {
  Type type = op->getResult(0).getType();
  Value product =
      arith::MulIOp::create(b, loc, toWord(op->getOperand(0), isSigned(op)), toWord(op->getOperand(1), isSigned(op)));
  Value high = arith::ShRUIOp::create(b, loc, product, number(type.getIntOrFloatBitWidth()));
  op->getResult(0).replaceAllUsesWith(fromWord(product, type, false));
  op->getResult(1).replaceAllUsesWith(fromWord(high, type, false));
  op->erase();
}

void Words::rewrite() {
  // What may have an index of more than 32 bits is refused by its own name.
  if (isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op) || op->hasAttr(wideIndexAttr))
    return;
  if (isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return rewriteConversion();
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) && isNarrow(to))
    return rewriteToInteger();
  // Pairs of words have no sign: with the highest bit turned, their order is that of numbers with one.
  if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && from.isInteger(64) && isSigned(op)) {
    Value sign = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(std::numeric_limits<int64_t>::min()));
    for (OpOperand &operand : op->getOpOperands())
      operand.set(arith::XOrIOp::create(b, loc, operand.get(), sign));
    constexpr auto distance = int(arith::CmpIPredicate::ult) - int(arith::CmpIPredicate::slt);
    return compare.setPredicate(arith::CmpIPredicate(int(compare.getPredicate()) + distance));
  }
  if (!isNarrow(from))
    return;
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op))
    return rewriteExtended();
  // A distance of shifts has no sign.
  const bool isShift = isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(toWord(operand.get(), isSigned(op) && !(isShift && operand.getOperandNumber() == 1)));
  if (!isNarrow(to))
    return;
  Value result = op->getResult(0);
  result.setType(i32());
  b.setInsertionPointAfter(op);
  Value narrow = fromWord(result, to, false);
  result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
}

struct ConvertKernelToWords : zyx::kernel::impl::ConvertKernelToWordsPassBase<ConvertKernelToWords> {
  void runOnOperation() override {
    FuncOp func = getOperation();
    if (func.getExternal())
      return;
    if (failed(lowerSmallFloats(func, {.half = false, .doubles = false, .denormals = false})))
      return signalPassFailure();
    keepDenormals(func);
    spellOut(func);
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (isa<arith::ArithDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      Words(op).rewrite();
  }
};

} // namespace
