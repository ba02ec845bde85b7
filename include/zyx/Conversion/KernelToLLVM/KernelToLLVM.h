//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTOLLVM_KERNELTOLLVM_H
#define ZYX_CONVERSION_KERNELTOLLVM_KERNELTOLLVM_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zyx::kernel {

#define GEN_PASS_DECL
#include "zyx/Conversion/KernelToLLVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Conversion/KernelToLLVM/Passes.h.inc"

} // namespace zyx::kernel

#endif // ZYX_CONVERSION_KERNELTOLLVM_KERNELTOLLVM_H
