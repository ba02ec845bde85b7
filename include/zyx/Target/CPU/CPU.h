//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_CPU_CPU_H
#define ZYX_TARGET_CPU_CPU_H

#include "zyx/Base/Status.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Kernels in the LLVM dialect become one ELF shared object.
namespace zyx::target {

/// How much LLVM optimises before it generates code.
enum class CPUPasses : uint8_t {
  /// Nothing.
  None = 0,
  /// A short list for code that is vectorised already, which is what zyx writes.
  Short = 1,
  /// LLVM's own -O2, for code whose loops are scalar.
  O2 = 2,
};

struct CPUOptions {
  CPUPasses passes = CPUPasses::Short;
};

/// Where the time of the calling thread went, in milliseconds.
struct CPUTimes {
  double translate = 0, optimise = 0, generate = 0, link = 0;
};

class BackendRegistry;
/// Adds the backend of processors: kernels of the lowered form, each compiled by itself, in one shared object.
Status registerCPUBackend(BackendRegistry &registry);

/// Translates a module of the LLVM dialect for the record's processor and links it into a shared
/// object that depends on no library: only memcpy, memmove and memset may be left undefined, and
/// come from whoever loads it. Any other undefined symbol is an error, scalar libm above all: it
/// would be 15 to 45 times slower than inlined polynomials. May run on several threads, with one
/// MLIRContext each.
Result<std::vector<std::byte>> emitSharedObject(mlir::ModuleOp llvmModule, const TargetInfo &target,
                                                const CPUOptions &options = {}, CPUTimes *times = nullptr);

/// The LLVM IR (after optimising) or the assembly that emitSharedObject would compile and link.
Result<std::string> emitLLVMIR(mlir::ModuleOp llvmModule, const TargetInfo &target, const CPUOptions &options = {});
Result<std::string> emitAssembly(mlir::ModuleOp llvmModule, const TargetInfo &target, const CPUOptions &options = {});

} // namespace zyx::target

#endif // ZYX_TARGET_CPU_CPU_H
