//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_ROCDL_ROCDL_H
#define ZYX_TARGET_ROCDL_ROCDL_H

#include "zyx/Base/Status.h"

/// Kernels in the LLVM and ROCDL dialects become code objects for AMD's GPUs, by LLVM and lld in this process.
namespace zyx::target {

class BackendRegistry;
/// Adds the backend of AMD's GPUs: kernels of the lowered form, a code object for each.
Status registerROCDLBackend(BackendRegistry &registry);

} // namespace zyx::target

#endif // ZYX_TARGET_ROCDL_ROCDL_H
