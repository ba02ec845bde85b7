//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_OPENCL_OPENCL_H
#define ZYX_TARGET_OPENCL_OPENCL_H

#include "zyx/Base/Status.h"

/// Kernels as text in OpenCL C 1.2, which the driver of a device compiles.
namespace zyx::target {

class BackendRegistry;
/// Adds the backend of OpenCL: kernels of the lowered form, in one text.
Status registerOpenCLBackend(BackendRegistry &registry);

} // namespace zyx::target

#endif // ZYX_TARGET_OPENCL_OPENCL_H
