//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_MATRIX_PASSES_H
#define ZYX_CODEGEN_MATRIX_PASSES_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Pass/Pass.h"

namespace zyx::kernel {

#define GEN_PASS_DECL
#include "zyx/Codegen/Matrix/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Codegen/Matrix/Passes.h.inc"

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_MATRIX_PASSES_H
