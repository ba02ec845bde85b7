//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_TEXT_PRINTER_H
#define ZYX_LIB_TARGET_TEXT_PRINTER_H

#include "Language.h"

#include "zyx/Base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace zyx::target {

/// Prints every kernel of the module, which is lowered and scalar, in one linear walk each. What
/// the language has no text for is refused by name, with its location.
Result<std::string> printKernels(mlir::ModuleOp module, const Language &language);

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_TEXT_PRINTER_H
