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
#include <vector>

namespace zyx::target {

using Capabilities = std::set<mlir::spirv::Capability>;

/// Arithmetic and control flow of a kernel. What has no form in SPIR-V is refused by name; what not every device has is
/// added to what is needed.
Status convertArithmetic(mlir::spirv::FuncOp kernel, Capabilities &needed);

/// The words of a module. An internal error where it is not valid.
Result<std::vector<std::byte>> serializeModule(mlir::spirv::ModuleOp module);

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_SPIRV_KERNELCONVERSION_H
