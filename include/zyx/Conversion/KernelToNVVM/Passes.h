//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTONVVM_PASSES_H
#define ZYX_CONVERSION_KERNELTONVVM_PASSES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zyx::kernel {

#define GEN_PASS_DECL
#include "zyx/Conversion/KernelToNVVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Conversion/KernelToNVVM/Passes.h.inc"

/// Of LLVM's functions whose vectors have instructions: emitters leave these whole.
inline constexpr llvm::StringLiteral keepsVectorsName = "zyx-keeps-vectors";

} // namespace zyx::kernel

#endif // ZYX_CONVERSION_KERNELTONVVM_PASSES_H
