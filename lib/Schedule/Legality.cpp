//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Legality.h"

#include "zyx/Codegen/Tile/Passes.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace zyx::kernel;

bool zyx::schedule::isLegal(FuncOp func, ArrayRef<Attribute> steps) {
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(func.getLoc()));
  FuncOp copy = func.clone();
  scratch->push_back(copy);
  copy.setScheduleAttr(ScheduleAttr::get(func.getContext(), steps));
  ScopedDiagnosticHandler quiet(func.getContext(), [](Diagnostic &) { return success(); });
  PassManager passes(func.getContext());
  passes.addPass(createApplySchedulePass());
  passes.addPass(createVerifyFormPass({.form = {"tiled"}}));
  return succeeded(passes.run(*scratch));
}
