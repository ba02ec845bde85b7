//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Strict/StrictOp.h"

using namespace mlir;
using namespace zyx::kernel;

#include "zyx/Dialect/Kernel/IR/KernelDialect.cpp.inc"
#include "zyx/Dialect/Kernel/IR/KernelEnums.cpp.inc"

void KernelDialect::initialize() {
  registerAttributesAndTypes();
  addStrictOperations<
#define GET_OP_LIST
#include "zyx/Dialect/Kernel/IR/KernelOps.cpp.inc"
      >(*this);
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == targetAttrName) {
    if (!isa<ModuleOp>(op) || !isa<TargetAttr>(attribute.getValue()))
      return op->emitError() << "attribute '" << targetAttrName << "' belongs on builtin.module, as a #kernel.target";
    return success();
  }
  if (attribute.getName() != nonpositiveAttrName)
    return success();
  if (op->getName().getStringRef() != "math.exp" || !isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << "attribute '" << nonpositiveAttrName << "' belongs on math.exp, without a value";
  return success();
}
