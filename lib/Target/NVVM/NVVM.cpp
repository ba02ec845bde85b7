//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/NVVM/NVVM.h"

#include "PTXCompilation.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace zyx::target {
namespace {

/// What an instruction needs.
struct Needs {
  int sm = 0;
  int ptx = 0;
  /// It exists on that one machine only ("sm_90a").
  bool exact = false;
};

Needs needsOf(Operation *op) {
  if (auto load = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op))
    return {90, load.getIsCTAOnly() ? 86 : 80};
  if (isa<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp, NVVM::CpAsyncBulkCommitGroupOp, NVVM::CpAsyncBulkWaitGroupOp,
          NVVM::MBarrierTryWaitOp, NVVM::MBarrierArriveExpectTxOp, NVVM::FenceMbarrierInitOp, NVVM::FenceProxyOp,
          NVVM::PrefetchOp>(op))
    return {90, 80};
  if (isa<NVVM::StMatrixOp, NVVM::MapaOp, NVVM::ClusterArriveOp, NVVM::ClusterWaitOp>(op))
    return {90, 78};
  if (isa<NVVM::MBarrierInitOp, NVVM::MBarrierArriveOp, NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp,
          NVVM::CpAsyncWaitGroupOp>(op))
    return {80, 70};
  if (auto mma = dyn_cast<NVVM::MmaOp>(op))
    return mma.getShape().getK() == 8 && mma.getMultiplicandAPtxType() == NVVM::MMATypes::f16 ? Needs{75, 65}
                                                                                              : Needs{80, 70};
  if (isa<NVVM::LdMatrixOp>(op))
    return {75, 65};
  if (isa<NVVM::WgmmaMmaAsyncOp, NVVM::WgmmaFenceAlignedOp, NVVM::WgmmaGroupSyncAlignedOp, NVVM::WgmmaWaitGroupSyncOp,
          NVVM::SetMaxRegisterOp>(op))
    return {90, 80, true};
  if (auto text = dyn_cast<LLVM::InlineAsmOp>(op); text && text.getAsmString().contains("wgmma."))
    return {90, 80, true};
  if (auto text = dyn_cast<LLVM::InlineAsmOp>(op); text && text.getAsmString().contains("st.async."))
    return {90, 81};
  return {};
}

/// 90 of "sm_90a"; 0 of anything else.
int architectureOf(StringRef cpu) {
  int number = 0;
  if (!cpu.consume_front("sm_") || cpu.consumeInteger(10, number))
    return 0;
  return number;
}

std::string version(int number) { return std::to_string(number / 10) + "." + std::to_string(number % 10); }

} // namespace

Status checkNVVMFeatures(ModuleOp llvmModule, const TargetInfo &target) {
  int sm = architectureOf(target.cpu);
  if (target.kind != TargetKind::CUDA || sm == 0)
    return Status::invalidArgument("target '" + target.name + "' runs no PTX");
  Status result;
  llvmModule.walk([&](Operation *op) {
    Needs needs = needsOf(op);
    bool exact = StringRef(target.cpu).ends_with("a") && sm == needs.sm;
    std::string name = op->getName().getStringRef().str();
    if (needs.exact ? !exact : sm < needs.sm)
      result = Status::unsupported(name + " needs sm_" + std::to_string(needs.sm) + (needs.exact ? "a" : "") +
                                   "; the target is " + target.cpu);
    else if (target.ptxVersion < needs.ptx)
      result = Status::unsupported(name + " needs PTX " + version(needs.ptx) + "; target '" + target.name + "' has " +
                                   version(target.ptxVersion));
    return result.isOk() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result;
}

Result<std::string> emitPTX(ModuleOp llvmModule, const TargetInfo &target, bool scalarise) {
  PTXCompilation compilation;
  ZYX_RETURN_IF_ERROR(compilation.translate(llvmModule, target));
  return compilation.generate(target, scalarise);
}

} // namespace zyx::target
