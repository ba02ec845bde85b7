//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTOWORDS_KERNELTOWORDS_H
#define ZYX_CONVERSION_KERNELTOWORDS_KERNELTOWORDS_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/Pass.h"

namespace zyx::kernel {

#define GEN_PASS_DECL
#include "zyx/Conversion/KernelToWords/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Conversion/KernelToWords/Passes.h.inc"

} // namespace zyx::kernel

#endif // ZYX_CONVERSION_KERNELTOWORDS_KERNELTOWORDS_H
