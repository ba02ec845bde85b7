//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_NVVM_NVVM_H
#define ZYX_TARGET_NVVM_NVVM_H

#include "zyx/Base/Status.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

/// Kernels in the LLVM and NVVM dialects become PTX.
namespace zyx::target {

/// Fails where an op of the module needs a machine or a version of PTX that the record does not
/// have. LLVM would end the process instead.
Status checkNVVMFeatures(mlir::ModuleOp llvmModule, const TargetInfo &target);

/// Translates, optimises (-O3) and writes PTX for the record's machine, in process. The module stays
/// as it is. May run on several threads, with one MLIRContext each.
Result<std::string> emitPTX(mlir::ModuleOp llvmModule, const TargetInfo &target);

} // namespace zyx::target

#endif // ZYX_TARGET_NVVM_NVVM_H
