//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_PLAN_IR_PLANDIALECT_H
#define ZYX_DIALECT_PLAN_IR_PLANDIALECT_H

#include "mlir/IR/Dialect.h"

#include "zyx/Dialect/Plan/IR/PlanDialect.h.inc"

#endif // ZYX_DIALECT_PLAN_IR_PLANDIALECT_H
