//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Common/LLVMOptions.h"
#include "zyx/Base/TextLimits.h"
#include "zyx/Conversion/KernelToLLVM/KernelToLLVM.h"
#include "zyx/Conversion/KernelToNVVM/Passes.h"
#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Pipelines/Backends.h"
#include "zyx/Pipelines/Dot.h"
#include "zyx/Pipelines/InitAll.h"
#include "zyx/Target/CPU/CPU.h"
#include "zyx/Target/NVVM/NVVM.h"
#include "zyx/Target/Text/C.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

static llvm::cl::opt<std::string> targetName("target",
                                             llvm::cl::desc("Record of the machine (default: the translation's own)"));

static LogicalResult printStatus(const llvm::SourceMgr &sources, const zyx::Status &status) {
  llvm::errs() << sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier()
               << ": error: " << status.message() << '\n';
  return failure();
}

/// The record that --target names; where it names none, the one given.
static std::string targetOr(const char *otherwise) { return targetName.empty() ? otherwise : targetName.getValue(); }

/// Reads a file of any of our dialects; null after an error.
static OwningOpRef<ModuleOp> readModule(const std::shared_ptr<llvm::SourceMgr> &sources, MLIRContext *context) {
  llvm::StringRef text = sources->getMemoryBuffer(sources->getMainFileID())->getBuffer();
  if (zyx::Status status = zyx::checkTextLimits(text); !status.isOk())
    return (void)printStatus(*sources, status), OwningOpRef<ModuleOp>();
  DialectRegistry registry;
  zyx::registerAllDialects(registry);
  context->appendDialectRegistry(registry);
  return parseSourceFile<ModuleOp>(sources, context);
}

/// Kernels of the machine form, or what they become in the LLVM dialect, as PTX. A comment before it says of each
/// kernel, while it is one, how many threads and how much memory its workgroups have.
static LogicalResult kernelToPTX(const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                                 MLIRContext *context) {
  OwningOpRef<ModuleOp> module = readModule(sources, context);
  if (!module)
    return failure();
  std::string comments;
  for (auto func : module->getOps<zyx::kernel::FuncOp>()) {
    FailureOr<zyx::kernel::LaunchInfo> info = zyx::kernel::launchInfoOf(func);
    if (failed(info))
      return failure();
    llvm::raw_string_ostream(comments) << "// kernel " << func.getName() << " threads " << info->threads << " shared "
                                       << info->sharedBytes << '\n';
  }
  zyx::Result<zyx::target::TargetInfo> target = zyx::target::lookUpTarget(targetOr("sm_90a"));
  if (!target)
    return printStatus(*sources, target.status());
  PassManager passes(context);
  passes.addPass(zyx::kernel::createAttachTargetPass({target->name, {}}));
  passes.addPass(zyx::kernel::createConvertKernelToNVVMPass());
  if (failed(passes.run(*module)))
    return failure();
  zyx::Result<std::string> ptx = zyx::target::emitPTX(*module, *target);
  if (!ptx)
    return printStatus(*sources, ptx.status());
  os << comments;
  os << *ptx;
  return success();
}

/// How kernels of the lowered and the machine form are launched: what the artifact and the backends read.
static LogicalResult kernelToLaunchInfo(const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                                        MLIRContext *context) {
  OwningOpRef<ModuleOp> module = readModule(sources, context);
  if (!module)
    return failure();
  for (auto func : module->getOps<zyx::kernel::FuncOp>()) {
    FailureOr<zyx::kernel::LaunchInfo> info = zyx::kernel::launchInfoOf(func);
    if (failed(info))
      return failure();
    os << "kernel " << func.getName() << '\n';
    zyx::kernel::print(*info, os);
  }
  return success();
}

/// Kernels of the lowered form, or what they become in the LLVM dialect, as text of a CPU.
static LogicalResult kernelToCPU(const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                                 MLIRContext *context, bool assembly) {
  OwningOpRef<ModuleOp> module = readModule(sources, context);
  if (!module)
    return failure();
  zyx::Result<zyx::target::TargetInfo> target = zyx::target::lookUpTarget(targetOr("cpu"));
  if (!target)
    return printStatus(*sources, target.status());
  PassManager passes(context);
  passes.addPass(zyx::kernel::createAttachTargetPass({target->name, {}}));
  passes.addPass(zyx::kernel::createConvertKernelToLLVMPass());
  if (failed(passes.run(*module)))
    return failure();
  zyx::Result<std::string> text =
      assembly ? zyx::target::emitAssembly(*module, *target) : zyx::target::emitLLVMIR(*module, *target);
  if (!text)
    return printStatus(*sources, text.status());
  os << *text;
  return success();
}

/// Kernels of the lowered form as C11.
static LogicalResult kernelToC(const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                               MLIRContext *context) {
  OwningOpRef<ModuleOp> module = readModule(sources, context);
  if (!module)
    return failure();
  PassManager passes(context);
  zyx::target::addScalarLowering(passes);
  if (failed(passes.run(*module)))
    return failure();
  zyx::Result<std::string> text = zyx::target::printC(*module);
  if (!text)
    return printStatus(*sources, text.status());
  os << *text;
  return success();
}

/// Kernels of the lowered form, or of the machine form of the target, in the language that its backend emits.
static LogicalResult kernelToTarget(const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                                    MLIRContext *context) {
  OwningOpRef<ModuleOp> module = readModule(sources, context);
  if (!module)
    return failure();
  zyx::Result<zyx::target::TargetInfo> target = zyx::target::lookUpTarget(targetOr("cpu"));
  if (!target)
    return printStatus(*sources, target.status());
  const zyx::target::Backend *backend = *zyx::pipelines::backends().find(*target);
  for (auto func : module->getOps<zyx::kernel::FuncOp>())
    if (zyx::Status status = backend->supports(func, *target); !status.isOk())
      return printStatus(*sources, status);
  PassManager passes(context);
  passes.addPass(zyx::kernel::createAttachTargetPass({target->name, {}}));
  backend->addLowering(passes, *target);
  if (failed(passes.run(*module)))
    return failure();
  zyx::Result<std::string> text = backend->toText(*module, *target);
  if (!text)
    return printStatus(*sources, text.status());
  os << *text;
  return success();
}

/// Entries of graphs, groups or plans as a drawing.
static LogicalResult toDot(const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                           MLIRContext *context) {
  OwningOpRef<ModuleOp> module = readModule(sources, context);
  if (!module)
    return failure();
  zyx::Result<std::string> text = zyx::pipelines::toDot(*module);
  if (!text)
    return printStatus(*sources, text.status());
  os << *text;
  return success();
}

int main(int argc, char **argv) {
  zyx::tools::tidyOptions("zyx-translate");
  TranslateRegistration ptx("kernel-to-ptx", "Kernels of the machine form as PTX", kernelToPTX);
  TranslateRegistration c("kernel-to-c", "Scalar kernels of the lowered form as C11", kernelToC);
  TranslateRegistration llvmIR(
      "kernel-to-llvmir", "Kernels of the lowered form as optimised LLVM IR of a CPU",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os, MLIRContext *context) {
        return kernelToCPU(sources, os, context, /*assembly=*/false);
      });
  TranslateRegistration assembly(
      "kernel-to-asm", "Kernels of the lowered form as assembly of a CPU",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os, MLIRContext *context) {
        return kernelToCPU(sources, os, context, /*assembly=*/true);
      });
  TranslateRegistration target("kernel-to-target", "Kernels in the language of the target's backend", kernelToTarget);
  TranslateRegistration launch("kernel-to-launch-info", "How kernels of the lowered and the machine form are launched",
                               kernelToLaunchInfo);
  TranslateRegistration dot("to-dot", "Entries of graphs, groups or plans in the language of Graphviz", toDot);
  return failed(mlirTranslateMain(argc, argv, "zyx: translate files"));
}
