//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_SPIRV_SPIRV_H
#define ZYX_TARGET_SPIRV_SPIRV_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <vector>

namespace mlir::spirv {
class ModuleOp;
} // namespace mlir::spirv

/// Kernels as SPIR-V for Vulkan: MLIR's spirv dialect, and its serializer.
namespace zyx::target {

class BackendRegistry;
/// Adds the backend of Vulkan: kernels of the lowered form, a module of SPIR-V for each.
Status registerSPIRVBackend(BackendRegistry &registry);

/// The words of a module. An internal error where it is not valid.
Result<std::vector<std::byte>> serializeModule(mlir::spirv::ModuleOp module);

} // namespace zyx::target

#endif // ZYX_TARGET_SPIRV_SPIRV_H
