//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/Backend.h"

#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Backend/RefuseOp.h"

#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace zyx;
using namespace zyx::target;

Status zyx::target::refuseKernel(kernel::FuncOp kernel, const std::string &reason) {
  std::string text;
  if (auto place = kernel.getLoc()->findInstanceOf<mlir::FileLineColLoc>())
    text = place.getFilename().str() + ":" + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn()) +
           ": ";
  return Status::compileFailed(text + "kernel '" + kernel.getName().str() + "' " + reason);
}

Status zyx::target::refuseOp(mlir::Operation *op, const llvm::Twine &why) {
  std::string where;
  llvm::raw_string_ostream stream(where);
  // A constant that several ops share comes from no single place.
  auto kernel = mlir::dyn_cast<kernel::FuncOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<kernel::FuncOp>();
  if (kernel && mlir::isa<mlir::UnknownLoc>(op->getLoc()))
    stream << kernel.getLoc() << " in kernel '" << kernel.getName() << "'";
  else
    stream << op->getLoc();
  return Status::unsupported("'" + op->getName().getStringRef().str() + "' " + why.str() + " at " + where);
}

static std::string textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Status zyx::target::refuseType(mlir::Operation *op, mlir::Type type, const llvm::Twine &language) {
  return refuseOp(op, "has the type " + textOf(type) + ", which is no scalar of " + language);
}

Status zyx::target::refuseForm(mlir::Operation *op, const llvm::Twine &language) {
  const std::string of = op->getNumOperands() == 0 ? "" : "of " + textOf(op->getOperand(0).getType()) + " ";
  return refuseOp(op, of + "has no form in " + language);
}

Status zyx::target::refuseExternal(kernel::FuncOp kernel, const std::string &reason) {
  return refuseKernel(kernel, "of custom '" + kernel.getExternalAttr().getOp().str() + "' " + reason);
}

Result<ExternalCode> Backend::emitExternal(kernel::FuncOp kernel, const TargetInfo &target) const {
  return refuseExternal(kernel, "is " + kernel::stringifyLanguage(kernel.getExternalAttr().getLanguage()).str() +
                                    " text, which target '" + target.name + "' does not take");
}

Result<kernel::LaunchInfo> zyx::target::checkOneThread(kernel::FuncOp kernel, const std::string &who) {
  mlir::FailureOr<kernel::LaunchInfo> info = kernel::launchInfoOf(kernel);
  if (failed(info) || kernel.getForm() == kernel::Form::Machine)
    return refuseKernel(kernel, "is in the machine form, which is of GPUs");
  if (info->threads > 1 || info->cluster > 1)
    return refuseKernel(kernel, "asks for " + std::to_string(info->threads) + " threads in a cluster of " +
                                    std::to_string(info->cluster) + "; " + who + " runs a program by one thread");
  return *info;
}

Status zyx::target::checkWorkgroup(kernel::FuncOp kernel, const kernel::LaunchInfo &info, const TargetInfo &target) {
  auto refuse = [&](const char *what, int64_t needed, int64_t most) {
    return refuseKernel(kernel, "needs " + std::to_string(needed) + " " + what + "; target '" + target.name + "' has " +
                                    std::to_string(most));
  };
  if (info.threads > target.simt.workgroupThreads)
    return refuse("threads of a workgroup", info.threads, target.simt.workgroupThreads);
  if (info.cluster > target.simt.clusterSize)
    return refuse("workgroups of a cluster", info.cluster, target.simt.clusterSize);
  if (info.sharedBytes > target.simt.sharedBytes)
    return refuse("bytes of shared memory", info.sharedBytes, target.simt.sharedBytes);
  const int64_t buffers = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<kernel::BufferType>);
  if (target.simt.maxBuffers != 0 && buffers > target.simt.maxBuffers)
    return refuse("buffers", buffers, target.simt.maxBuffers);
  return Status::ok();
}

Status zyx::target::checkLowered(kernel::FuncOp kernel, const TargetInfo &target, const std::string &who) {
  mlir::FailureOr<kernel::LaunchInfo> info = kernel::launchInfoOf(kernel);
  if (failed(info) || kernel.getForm() == kernel::Form::Machine)
    return refuseKernel(kernel, "is in the machine form, which is not lowered for " + who);
  return checkWorkgroup(kernel, *info, target);
}

void zyx::target::addScalarLowering(mlir::OpPassManager &passes, unsigned lanes, unsigned accessLanes) {
  passes.addNestedPass<kernel::FuncOp>(kernel::createScalarizePass({lanes, accessLanes}));
  passes.addPass(mlir::createCSEPass());
}

Status Emitter::addKept(std::vector<std::byte>) { return Status::internal("this emitter keeps no code of a module"); }

Status BackendRegistry::add(std::unique_ptr<Backend> backend) {
  if (llvm::is_contained(names(), backend->name()))
    return Status::invalidArgument("backend '" + std::string(backend->name()) + "' is registered twice");
  backends.push_back(std::move(backend));
  return Status::ok();
}

Result<const Backend *> BackendRegistry::find(const TargetInfo &target) const {
  for (const std::unique_ptr<Backend> &backend : backends)
    if (backend->makesCodeFor(target))
      return backend.get();
  std::string known;
  for (std::string_view name : names())
    known += (known.empty() ? "" : ", ") + std::string(name);
  return Status::unsupported("no backend makes code for target '" + target.name + "'; there are " +
                             (known.empty() ? "none" : known));
}

std::vector<std::string_view> BackendRegistry::names() const {
  std::vector<std::string_view> all;
  for (const std::unique_ptr<Backend> &backend : backends)
    all.push_back(backend->name());
  return all;
}
