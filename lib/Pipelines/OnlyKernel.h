//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_PIPELINES_ONLYKERNEL_H
#define ZYX_LIB_PIPELINES_ONLYKERNEL_H

#include "zyx/Base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace zyx::pipelines {

/// Makes a program of one kernel, that of the key: its inputs are what its first launch reads, its outputs what that
/// writes. What are weights there are weights here, so that it is scheduled alike. NotFound where no kernel has the
/// key.
Status keepOnlyKernel(mlir::ModuleOp module, llvm::StringRef key);

} // namespace zyx::pipelines

#endif // ZYX_LIB_PIPELINES_ONLYKERNEL_H
