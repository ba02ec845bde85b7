//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GPUInstructions.h"

#include "zyx/Base/Assert.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace zyx::kernel;
using ROCDL::ROCDLDialect;

namespace {

/// A fence between `s_barrier` and accesses to memory, on either side. One of shared memory alone does not wait for
/// accesses to buffers that are on their way.
void fence(OpBuilder &builder, Location loc, LLVM::AtomicOrdering ordering, BarrierMemory memory) {
  auto made = LLVM::FenceOp::create(builder, loc, ordering, "workgroup");
  if (memory == BarrierMemory::Shared)
    made->setAttr(LLVM::LLVMDialect::getMmraAttrName(),
                  LLVM::MMRATagAttr::get(builder.getContext(), "amdgpu-synchronize-as", "local"));
}

/// What the driver writes behind a kernel's own arguments, from `offset` on, since version 5 of code objects. ROCDL's
/// ops for it would call functions of a library of AMD's.
Value hiddenArgument(OpBuilder &builder, Location loc, Type type, int32_t offset) {
  constexpr unsigned constantSpace = 4;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), constantSpace);
  Value base = LLVM::CallIntrinsicOp::create(builder, loc, pointer,
                                             builder.getStringAttr("llvm.amdgcn.implicitarg.ptr"), ValueRange())
                   .getResult(0);
  Value at = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
  return LLVM::LoadOp::create(builder, loc, type, at, /*alignment=*/type.getIntOrFloatBitWidth() / 8,
                              /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/true);
}

/// ROCDL, for AMD's GPUs. What it has not, clusters and products by warps, `check` refuses.
class ROCDLInstructions final : public GPUInstructions {
public:
  LogicalResult check(FuncOp func) const override {
    if (func.getCluster().value_or(1) > 1)
      return func.emitOpError("has workgroups in clusters, which AMD's GPUs have not");
    WalkResult walked = func.walk([](Operation *op) {
      if (auto barrier = dyn_cast<BarrierOp>(op); barrier && barrier.getThreads()) {
        barrier.emitOpError("is met by some threads of a workgroup alone, which AMD's GPUs have no instruction for");
        return WalkResult::interrupt();
      }
      if (!isa<PeerOp, WarpReadOp, WarpMultiplyOp>(op))
        return WalkResult::advance();
      op->emitOpError("has no counterpart in ROCDL: matrix instructions of AMD's GPUs are not used");
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  /// An empty instruction hides from LLVM that the number is the same for all programs: it would compute in front of
  /// their loop where a thread reads and writes, and have all that in registers. How large it may be LLVM knows again
  /// by the mask.
  Value id(OpBuilder &builder, Location loc, IdKind kind) const override {
    ZYX_ASSERT(kind == IdKind::Thread, "check() refuses clusters");
    constexpr int64_t mask = 1023;
    Type i32 = builder.getI32Type();
    Value thread = ROCDL::ThreadIdXOp::create(builder, loc, i32);
    Value hidden = LLVM::InlineAsmOp::create(
                       builder, loc, TypeRange(i32), ValueRange(thread), "", "=v,0",
                       /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                       LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
                       .getResult(0);
    return LLVM::AndOp::create(builder, loc, hidden,
                               LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(mask)));
  }

  void barrier(OpBuilder &builder, Location loc, Scope scope, BarrierMemory memory,
               std::optional<int64_t>) const override {
    ZYX_ASSERT(scope == Scope::Workgroup, "check() refuses clusters");
    fence(builder, loc, LLVM::AtomicOrdering::release, memory);
    ROCDL::SBarrierOp::create(builder, loc);
    fence(builder, loc, LLVM::AtomicOrdering::acquire, memory);
  }

  Value peer(OpBuilder &, Location, Value, Value) const override { llvm_unreachable("check() refuses clusters"); }

  SmallVector<Value> readMatrix(OpBuilder &, Location, Value, bool) const override {
    llvm_unreachable("check() refuses products by warps");
  }

  Value loadPastFirstCache(OpBuilder &builder, Location loc, Value address, VectorType type) const override {
    auto global = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace());
    Value from = LLVM::AddrSpaceCastOp::create(builder, loc, global, address);
    return LLVM::LoadOp::create(builder, loc, type, from, /*alignment=*/16, /*isVolatile=*/false,
                                /*isNonTemporal=*/true);
  }

  unsigned globalSpace() const override { return ROCDLDialect::kGlobalMemoryAddressSpace; }

  unsigned sharedSpace() const override { return ROCDLDialect::kSharedMemoryAddressSpace; }

  unsigned privateSpace() const override { return ROCDLDialect::kPrivateMemoryAddressSpace; }

  Value groupSize(OpBuilder &builder, Location loc) const override {
    constexpr int32_t groupSizeX = 12;
    return LLVM::ZExtOp::create(builder, loc, builder.getI32Type(),
                                hiddenArgument(builder, loc, builder.getI16Type(), groupSizeX));
  }

  Value numGroups(OpBuilder &builder, Location loc) const override {
    constexpr int32_t blockCountX = 0;
    return hiddenArgument(builder, loc, builder.getI32Type(), blockCountX);
  }

  Value group(OpBuilder &builder, Location loc) const override {
    return ROCDL::BlockIdXOp::create(builder, loc, builder.getI32Type());
  }

  /// Of the workgroups that a compute unit has at once nothing is said: LLVM would spill registers for more of them.
  void markKernel(LLVM::LLVMFuncOp func, Launch launch) const override {
    Builder builder(func.getContext());
    func->setAttr(ROCDLDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    func->setAttr(ROCDLDialect::getFlatWorkGroupSizeAttrName(),
                  builder.getStringAttr("1," + std::to_string(launch.threads)));
  }

  void lowerArithmetic(LLVM::LLVMFuncOp func) const override { lowerPowers(func, "llvm.amdgcn.exp2"); }
};

} // namespace

const GPUInstructions &zyx::kernel::rocdlInstructions() {
  static const ROCDLInstructions instructions;
  return instructions;
}
