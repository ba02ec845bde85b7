//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_NVVM_NVVM_H
#define ZYX_TARGET_NVVM_NVVM_H

#include "zyx/Base/Status.h"
#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Kernels in the LLVM and NVVM dialects become PTX, and code for one card where there is an assembler.
namespace zyx::target {

/// Fails where an op of the module needs a machine or a version of PTX that the record does not
/// have. LLVM would end the process instead.
Status checkNVVMFeatures(mlir::ModuleOp llvmModule, const TargetInfo &target);

/// Translates, optimises (-O3) and writes PTX for the record's machine, in process. The module stays
/// as it is. May run on several threads, with one MLIRContext each. With `scalarise`, vectors are taken
/// apart but where they are loaded and stored: no instruction computes with ours.
Result<std::string> emitPTX(mlir::ModuleOp llvmModule, const TargetInfo &target, bool scalarise = false);

/// Runs ptxas: PTX becomes a cubin for the record's machine. The failure holds what it printed.
Result<std::vector<std::byte>> assemble(std::string_view ptx, const TargetInfo &target, const std::string &assembler);

/// The code of an external kernel in PTX: a cubin where there is an assembler, else the text, which the driver
/// assembles. Its entry takes an address for each buffer of the kernel.
Result<ExternalCode> assembleExternal(kernel::FuncOp kernel, const TargetInfo &target);

/// Adds the backend of NVIDIA's GPUs: kernels of the lowered and of the machine form, a piece of code for each.
Status registerNVVMBackend(BackendRegistry &registry);

} // namespace zyx::target

#endif // ZYX_TARGET_NVVM_NVVM_H
