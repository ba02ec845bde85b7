//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_TEXT_C_H
#define ZYX_TARGET_TEXT_C_H

#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/Status.h"
#include "zyx/Target/Backend/Backend.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstddef>
#include <string>
#include <vector>

/// Kernels as portable C11, and what the system's compiler makes of it.
namespace zyx::target {

/// Prints every `kernel.func` of the module, which is in the lowered form and scalar (record "c"),
/// as one C11 source that needs only <stdint.h>, <string.h> and <math.h>.
Result<std::string> printC(mlir::ModuleOp kernels);

struct COptions {
  /// Looked up in PATH where it has no slash.
  std::string compiler = "cc";
  /// Added behind the fixed ones, which ask for -O3 without contraction of floating point.
  std::vector<std::string> flags;
  /// A compiler that takes longer is ended.
  ChildLimits limits;
};

/// Compiles C to an ELF shared object in a private temporary folder. A compiler that is missing,
/// refuses the text or takes too long is an error with its output.
Result<std::vector<std::byte>> compileC(const std::string &text, const COptions &options = {});

/// Compiles the C function of an external kernel to a shared object of its own, with a function around it that has the
/// calling convention of kernels. The compiler refuses a definition that does not take the kernel's buffers, and a text
/// without the function.
Result<ExternalCode> compileExternalC(kernel::FuncOp kernel, const COptions &options = {});

/// Adds the backend of C: scalar kernels of the lowered form, in one shared object.
Status registerCBackend(BackendRegistry &registry);

} // namespace zyx::target

#endif // ZYX_TARGET_TEXT_C_H
