//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zyx::kernel;

#include "zyx/Dialect/Kernel/IR/KernelDialect.cpp.inc"
#include "zyx/Dialect/Kernel/IR/KernelEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "zyx/Dialect/Kernel/IR/KernelAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "zyx/Dialect/Kernel/IR/KernelTypes.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "zyx/Dialect/Kernel/IR/KernelAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "zyx/Dialect/Kernel/IR/KernelTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "zyx/Dialect/Kernel/IR/KernelOps.cpp.inc"
      >();
}
