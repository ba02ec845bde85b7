//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The way to GPUs that every kernel of the lowered form can go: a program per thread.
//===----------------------------------------------------------------------===//
#include "Detail.h"

#include "zyx/Conversion/KernelToLLVM/KernelToLLVM.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_CONVERTKERNELTOTHREADSPASS
#include "zyx/Conversion/KernelToLLVM/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

/// LLVM has no word for it. That nobody writes there is known: a kernel reads no buffer that it writes.
Value zyx::kernel::loadPastFirstCache(OpBuilder &builder, Location loc, Value address, VectorType type) {
  Type i32 = builder.getI32Type();
  auto global = LLVM::LLVMPointerType::get(builder.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  Value from = LLVM::AddrSpaceCastOp::create(builder, loc, global, address);
  auto words = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, i32));
  Value read =
      LLVM::InlineAsmOp::create(builder, loc, TypeRange(words), ValueRange(from),
                                "ld.global.nc.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l",
                                /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
          .getResult(0);
  SmallVector<Value> all;
  for (int64_t word = 0; word < 4; ++word)
    all.push_back(LLVM::ExtractValueOp::create(builder, loc, read, word));
  Value vector = vector::FromElementsOp::create(builder, loc, VectorType::get(4, i32), all);
  return vector::BitCastOp::create(builder, loc, type, vector);
}

namespace {

/// The machine's powers of two, one by one: without denormals, which those of what is between -1/2 and 1/2 are not.
void lowerPowers(LLVM::LLVMFuncOp func) {
  func.walk([](math::Exp2Op power) {
    if (!getElementTypeOrSelf(power.getType()).isF32() ||
        !bitEnumContainsAll(power.getFastmath(), arith::FastMathFlags::afn))
      return;
    OpBuilder builder(power);
    Location loc = power.getLoc();
    auto take = [&](Value x) -> Value {
      StringAttr name = builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f");
      return LLVM::CallIntrinsicOp::create(builder, loc, x.getType(), name, x).getResult(0);
    };
    Value x = power.getOperand();
    Value result;
    if (auto type = dyn_cast<VectorType>(x.getType())) {
      SmallVector<Value> lanes;
      for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
        lanes.push_back(take(vector::ExtractOp::create(builder, loc, x, lane)));
      result = vector::FromElementsOp::create(builder, loc, type, lanes);
    } else {
      result = take(x);
    }
    power.replaceAllUsesWith(result);
    power.erase();
  });
}

/// Behind the conversions of small floats, which have no bits in a register of two.
void lowerWarpProducts(LLVM::LLVMFuncOp func) {
  func.walk([](WarpMultiplyOp multiply) {
    OpBuilder builder(multiply);
    Location loc = multiply.getLoc();
    const bool isHalf = multiply.getElement().isF16();
    const NVVM::MMATypes kind = isHalf ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    auto unpack = [&](Value vector) {
      SmallVector<Value> registers;
      for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i)
        registers.push_back(vector::ExtractOp::create(builder, loc, vector, i));
      return registers;
    };
    auto asFactor = [&](Value vector) {
      SmallVector<Value> registers = unpack(vector);
      for (Value &each : registers)
        if (isHalf)
          each = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, multiply.getElement()), each);
      return registers;
    };
    const SmallVector<Value> left = asFactor(multiply.getLhs()), right = asFactor(multiply.getRhs()),
                             sums = unpack(multiply.getAcc());
    auto four = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
    Value made = NVVM::MmaOp::create(builder, loc, four, left, right, sums, ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
                                     std::nullopt, std::array{kind, kind},
                                     std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    SmallVector<Value> all;
    for (int64_t i = 0; i < 4; ++i)
      all.push_back(LLVM::ExtractValueOp::create(builder, loc, made, i));
    multiply.replaceAllUsesWith(
        vector::FromElementsOp::create(builder, loc, cast<VectorType>(multiply.getType()), all).getResult());
    multiply.erase();
  });
}

struct ConvertKernelToThreads : zyx::kernel::impl::ConvertKernelToThreadsPassBase<ConvertKernelToThreads> {
  using ConvertKernelToThreadsPassBase::ConvertKernelToThreadsPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    converter = addPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> funcs;
    for (FuncOp func : llvm::make_early_inc_range(getOperation().getOps<FuncOp>())) {
      CrashNote note(func);
      const int64_t shared = bytesOf(func, Space::Shared), mostShared = sharedBytes;
      if (shared > mostShared) {
        func.emitOpError() << "needs " << shared << " bytes of shared memory; a workgroup has " << mostShared;
        return signalPassFailure();
      }
      const bool fitsStack = bytesOf(func, Space::Private) <= privateBytes;
      FailureOr<ThreadFunction> made = lowerThreadFunction(func);
      if (failed(made))
        return signalPassFailure();
      MemoryFacts facts{privateBytes};
      facts.shared = made->shared;
      facts.isCluster = made->isCluster;
      facts.streams = false;
      facts.isGpu = true;
      facts.bufferAlignment = gpuBufferAlignment;
      if (!fitsStack)
        facts.scratch = made->scratch;
      const SmallFloatConversions all{.half = true,
                                      .bfloat = true,
                                      .halfOfDouble = true,
                                      .halfPairs = packedHalf,
                                      .bfloatPairs = packedBfloat,
                                      .maximum = maximum};
      if (failed(lowerMemory(made->func, facts)) || failed(lowerSmallFloats(made->func, all)))
        return signalPassFailure();
      lowerPowers(made->func);
      lowerWarpProducts(made->func);
      funcs.push_back(made->func);
    }
    ConversionTarget target(getContext());
    target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    if (failed(applyFullConversion(funcs, target, patterns)))
      signalPassFailure();
  }

private:
  std::shared_ptr<LLVMTypeConverter> converter;
  FrozenRewritePatternSet patterns;
};

} // namespace
