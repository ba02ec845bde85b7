//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels of the user's own: docs/custom-kernels.md.
//===----------------------------------------------------------------------===//
#include "ExternalKernel.h"

#include "GroupKernel.h"

#include "zyx/Base/TextLimits.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::graph::Language;

namespace zyx::lowering {

ExternalOp findExternal(GroupOp group) {
  auto ops = group.getBlock().getOps<ExternalOp>();
  return ops.empty() ? ExternalOp() : *ops.begin();
}

/// What is behind the name of an op in its errors.
static InFlightDiagnostic refuse(ExternalOp op) {
  return op.emitError() << "custom '" << op.getName() << "': its kernel '"
                        << op.getImplementation().getEntry().getValue() << "' ";
}

/// The one function of a text, taken out of its module.
static FailureOr<OwningOpRef<kernel::FuncOp>> parseKernel(ExternalOp op) {
  ImplementationAttr implementation = op.getImplementation();
  StringRef text = implementation.getText().getValue();
  if (Status status = checkTextLimits({text.data(), text.size()}); !status.isOk())
    return refuse(op) << "is no text that is read: " << status.message();
  ParserConfig config(op.getContext());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, config, ("custom '" + op.getName() + "'").str());
  if (!module)
    return refuse(op) << "is no text of the kernel dialect";
  const target::TargetInfo *own = kernel::findTarget(*module),
                           *wanted = kernel::findTarget(op->getParentOfType<ModuleOp>());
  if (own && wanted && own->name != wanted->name)
    return refuse(op) << "is for target '" << own->name << "', and the program for '" << wanted->name << "'";
  auto funcs = module->getOps<kernel::FuncOp>();
  if (!llvm::hasSingleElement(*module->getBody()) || funcs.empty() ||
      (*funcs.begin()).getName() != implementation.getEntry().getValue())
    return refuse(op) << "is not in its text, which holds one kernel.func of that name and nothing else";
  kernel::FuncOp func = *funcs.begin();
  func->remove();
  return OwningOpRef<kernel::FuncOp>(func);
}

/// A kernel takes the buffers that the group's own would.
static LogicalResult checkArguments(ExternalOp op, kernel::FuncOp func, kernel::FuncOp own) {
  if (func.getNumArguments() != own.getNumArguments())
    return refuse(op) << "takes " << func.getNumArguments() << " arguments, and the op has " << own.getNumArguments()
                      << " operands and results";
  for (auto [i, type, wanted] : llvm::enumerate(func.getArgumentTypes(), own.getArgumentTypes()))
    if (type != wanted)
      return refuse(op) << "takes " << type << " as argument " << i << ", which is " << wanted;
  if (func.getExternal())
    return refuse(op) << "is external itself";
  return success();
}

FailureOr<ConvertedGroup> convertExternalGroup(GroupOp group, ExternalOp op, StringRef name, OpBuilder &builder) {
  ImplementationAttr implementation = op.getImplementation();
  ConvertedGroup result;
  OpBuilder::InsertionGuard guard(builder);
  openKernel(group, {}, name, builder, result);
  kernel::FuncOp own = result.kernel;
  // Nothing splits it.
  auto whole = kernel::ScheduleAttr::get(op.getContext(), {});
  if (implementation.getLanguage() != Language::Kernel) {
    kernel::ReturnOp::create(builder, op.getLoc());
    const bool isPTX = implementation.getLanguage() == Language::PTX;
    own.setExternalAttr(kernel::ExternalAttr::get(op.getContext(), isPTX ? kernel::Language::PTX : kernel::Language::C,
                                                  implementation.getEntry(), op.getNameAttr(), op.getNumResults(),
                                                  implementation.getShared(), implementation.getText()));
    own.setForm(kernel::Form::Lowered);
    own.setScheduleAttr(whole);
    own.setThreads(implementation.getThreads());
    own.setPrograms(implementation.getGroups());
    return result;
  }
  FailureOr<OwningOpRef<kernel::FuncOp>> parsed = parseKernel(op);
  if (failed(parsed) || failed(checkArguments(op, **parsed, own))) {
    own.erase();
    return failure();
  }
  kernel::FuncOp func = parsed->release();
  func.setName(name);
  func->setLoc(op.getLoc());
  // One that says its programs is not split into others.
  if (!func.getScheduleAttr() && !func.getBody().getOps<kernel::GridOp>().empty())
    func.setScheduleAttr(whole);
  builder.setInsertionPoint(own);
  builder.insert(func);
  own.erase();
  result.kernel = func;
  return result;
}

} // namespace zyx::lowering
