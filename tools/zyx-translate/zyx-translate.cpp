//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TextLimits.h"
#include "zyx/Conversion/KernelToNVVM/Passes.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/NVVM/NVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

static llvm::cl::opt<std::string> targetName("target", llvm::cl::desc("Record of the machine"),
                                             llvm::cl::init("sm_90a"));

static LogicalResult printStatus(const llvm::SourceMgr &sources, const zyx::Status &status) {
  llvm::errs() << sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier()
               << ": error: " << status.message() << '\n';
  return failure();
}

/// Kernels of the machine form, or what they become in the LLVM dialect, as PTX. Comments before it
/// say how each is launched.
static LogicalResult kernelToPTX(const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                                 MLIRContext *context) {
  llvm::StringRef text = sources->getMemoryBuffer(sources->getMainFileID())->getBuffer();
  if (zyx::Status status = zyx::checkTextLimits(text); !status.isOk())
    return printStatus(*sources, status);
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect, zyx::kernel::KernelDialect>();
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context);
  if (!module)
    return failure();
  PassManager passes(context);
  passes.addPass(zyx::kernel::createConvertKernelToNVVMPass({targetName}));
  if (failed(passes.run(*module)))
    return failure();
  zyx::Result<zyx::target::TargetInfo> target = zyx::target::lookUpTarget(targetName.getValue());
  if (!target)
    return printStatus(*sources, target.status());
  zyx::Result<std::string> ptx = zyx::target::emitPTX(*module, *target);
  if (!ptx)
    return printStatus(*sources, ptx.status());
  for (auto func : module->getOps<LLVM::LLVMFuncOp>()) {
    auto threads = func->getAttrOfType<DenseI32ArrayAttr>("nvvm.maxntid");
    auto shared = func->getAttrOfType<IntegerAttr>("kernel.shared_bytes");
    if (threads && shared)
      os << "// kernel " << func.getSymName() << " threads " << threads[0] << " shared " << shared.getInt()
         << '\n';
  }
  os << *ptx;
  return success();
}

int main(int argc, char **argv) {
  TranslateRegistration registration("kernel-to-ptx", "Kernels of the machine form as PTX", kernelToPTX);
  return failed(mlirTranslateMain(argc, argv, "zyx: translate files"));
}
