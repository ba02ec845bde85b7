//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_H
#define ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Pass/Pass.h"

namespace zyx::kernel {

/// Of an op that computes with an index of more than 32 bits, or may, where there is no such.
inline constexpr llvm::StringLiteral wideIndexAttr = "wide_index";
/// On an fma of a function, where the machine's is not exact: nobody writes a product and a sum in its place, which a
/// driver may rearrange.
inline constexpr llvm::StringLiteral keptFmaAttr = "kept_fma";

#define GEN_PASS_DECL
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_H
