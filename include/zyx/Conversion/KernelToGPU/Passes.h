//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTOGPU_PASSES_H
#define ZYX_CONVERSION_KERNELTOGPU_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zyx::kernel {

/// The dialect of a GPU's own ops: NVIDIA's, AMD's.
enum class GPUDialect { NVVM, ROCDL };

#define GEN_PASS_DECL
#include "zyx/Conversion/KernelToGPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Conversion/KernelToGPU/Passes.h.inc"

/// Bytes to whose multiples a GPU's buffers are aligned: what a thread loads at once.
inline constexpr int64_t gpuBufferAlignment = 16;

} // namespace zyx::kernel

#endif // ZYX_CONVERSION_KERNELTOGPU_PASSES_H
