//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ROCDLInstructions.h"

#include "zyx/Base/Assert.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace zyx::kernel;
using ROCDL::ROCDLDialect;

LogicalResult ROCDLInstructions::check(FuncOp func) const {
  if (func.getCluster().value_or(1) > 1)
    return func.emitOpError("has workgroups in clusters, which AMD's GPUs have not");
  WalkResult walked = func.walk([](Operation *op) {
    if (!isa<PeerOp, WarpReadOp, WarpMultiplyOp>(op))
      return WalkResult::advance();
    op->emitOpError("has no counterpart in ROCDL: matrix instructions of AMD's GPUs are not used");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

Value ROCDLInstructions::id(OpBuilder &builder, Location loc, IdKind kind) const {
  ZYX_ASSERT(kind == IdKind::Thread, "check() refuses clusters");
  return ROCDL::ThreadIdXOp::create(builder, loc, builder.getI32Type());
}

/// A fence between `s_barrier` and accesses to memory, on either side. One of shared memory alone does not wait for
/// accesses to buffers that are on their way.
static void fence(OpBuilder &builder, Location loc, LLVM::AtomicOrdering ordering, BarrierMemory memory) {
  auto made = LLVM::FenceOp::create(builder, loc, ordering, "workgroup");
  if (memory == BarrierMemory::Shared)
    made->setAttr(LLVM::LLVMDialect::getMmraAttrName(),
                  LLVM::MMRATagAttr::get(builder.getContext(), "amdgpu-synchronize-as", "local"));
}

void ROCDLInstructions::barrier(OpBuilder &builder, Location loc, Scope scope, BarrierMemory memory) const {
  ZYX_ASSERT(scope == Scope::Workgroup, "check() refuses clusters");
  fence(builder, loc, LLVM::AtomicOrdering::release, memory);
  ROCDL::SBarrierOp::create(builder, loc);
  fence(builder, loc, LLVM::AtomicOrdering::acquire, memory);
}

Value ROCDLInstructions::peer(OpBuilder &, Location, Value, Value) const {
  llvm_unreachable("check() refuses clusters");
}

SmallVector<Value> ROCDLInstructions::readMatrix(OpBuilder &, Location, Value, bool) const {
  llvm_unreachable("check() refuses products by warps");
}

Value ROCDLInstructions::loadPastFirstCache(OpBuilder &builder, Location loc, Value address, VectorType type) const {
  auto global = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace());
  Value from = LLVM::AddrSpaceCastOp::create(builder, loc, global, address);
  return LLVM::LoadOp::create(builder, loc, type, from, /*alignment=*/16, /*isVolatile=*/false, /*isNonTemporal=*/true);
}

unsigned ROCDLInstructions::globalSpace() const { return ROCDLDialect::kGlobalMemoryAddressSpace; }
unsigned ROCDLInstructions::sharedSpace() const { return ROCDLDialect::kSharedMemoryAddressSpace; }
unsigned ROCDLInstructions::privateSpace() const { return ROCDLDialect::kPrivateMemoryAddressSpace; }

/// What the driver writes behind a kernel's own arguments, from `offset` on, since version 5 of code objects. ROCDL's
/// ops for it would call functions of a library of AMD's.
static Value hiddenArgument(OpBuilder &builder, Location loc, Type type, int32_t offset) {
  constexpr unsigned constantSpace = 4;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), constantSpace);
  Value base = LLVM::CallIntrinsicOp::create(builder, loc, pointer,
                                             builder.getStringAttr("llvm.amdgcn.implicitarg.ptr"), ValueRange())
                   .getResult(0);
  Value at = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
  return LLVM::LoadOp::create(builder, loc, type, at, /*alignment=*/type.getIntOrFloatBitWidth() / 8,
                              /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/true);
}

Value ROCDLInstructions::groupSize(OpBuilder &builder, Location loc) const {
  constexpr int32_t groupSizeX = 12;
  return LLVM::ZExtOp::create(builder, loc, builder.getI32Type(),
                              hiddenArgument(builder, loc, builder.getI16Type(), groupSizeX));
}

Value ROCDLInstructions::numGroups(OpBuilder &builder, Location loc) const {
  constexpr int32_t blockCountX = 0;
  return hiddenArgument(builder, loc, builder.getI32Type(), blockCountX);
}

Value ROCDLInstructions::group(OpBuilder &builder, Location loc) const {
  return ROCDL::BlockIdXOp::create(builder, loc, builder.getI32Type());
}

/// Of the workgroups that a compute unit has at once nothing is said: LLVM would spill registers for more of them.
void ROCDLInstructions::markKernel(LLVM::LLVMFuncOp func, Launch launch) const {
  Builder builder(func.getContext());
  func->setAttr(ROCDLDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  func->setAttr(ROCDLDialect::getFlatWorkGroupSizeAttrName(),
                builder.getStringAttr("1," + std::to_string(launch.threads)));
}

void ROCDLInstructions::lowerArithmetic(LLVM::LLVMFuncOp func) const { lowerPowers(func, "llvm.amdgcn.exp2"); }
