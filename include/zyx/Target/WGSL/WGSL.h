//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_WGSL_WGSL_H
#define ZYX_TARGET_WGSL_WGSL_H

#include "zyx/Base/Status.h"

/// Kernels as text in WGSL, the language of WebGPU.
namespace zyx::target {

class BackendRegistry;
/// Adds the backend of WebGPU: kernels of the lowered form, in one text.
Status registerWGSLBackend(BackendRegistry &registry);

} // namespace zyx::target

#endif // ZYX_TARGET_WGSL_WGSL_H
