//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_SPIRV_KERNELCONVERSION_H
#define ZYX_LIB_TARGET_SPIRV_KERNELCONVERSION_H

#include "zyx/Base/Status.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

#include "llvm/ADT/TypeSwitch.h"

#include <set>

namespace zyx::target {

using Capabilities = std::set<mlir::spirv::Capability>;

/// All kernels of a module of the lowered form as one module of the spirv dialect: an entry point for each.
/// docs/device-vulkan.md says how one is called. -zyx-kernel-scalarize has left scalars, and views of one dimension.
Result<mlir::OwningOpRef<mlir::spirv::ModuleOp>> convertKernels(mlir::ModuleOp kernels);

/// Loops and branches of the scf dialect as those of spirv. What they carry lies in variables of the function.
void convertControlFlow(mlir::Operation *kernel);

/// Arithmetic of a kernel whose control flow is that of spirv. What has no form in SPIR-V is refused by name; what not
/// every device has is added to what is needed.
Status convertArithmetic(mlir::spirv::FuncOp kernel, Capabilities &needed);

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_SPIRV_KERNELCONVERSION_H
