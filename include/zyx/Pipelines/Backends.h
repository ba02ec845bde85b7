//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_PIPELINES_BACKENDS_H
#define ZYX_PIPELINES_BACKENDS_H

#include "zyx/Target/Backend/Backend.h"

namespace zyx::pipelines {

/// Every backend of this compiler: a list of calls in Backends.cpp.
const target::BackendRegistry &backends();

} // namespace zyx::pipelines

#endif // ZYX_PIPELINES_BACKENDS_H
