//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_TEXT_PRINTER_H
#define ZYX_TARGET_TEXT_PRINTER_H

#include "zyx/Base/Status.h"
#include "zyx/Target/Text/Language.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace zyx::target {

/// Prints every kernel of the module, which is lowered and scalar, in one linear walk each. What
/// the language has no text for is refused by name, with its location. Head and helpers come with `completeText`. With
/// `hasPlaces`, for people alone, a line ends with the place in the source that it comes from, where that is another
/// one than of the line before.
Result<std::string> printKernels(mlir::ModuleOp module, const Language &language, bool hasPlaces = false);
/// A file of the language with these kernels: its head, the helpers that they use, and they themselves.
std::string completeText(std::string kernels, const Language &language);

class Emitter;
/// Prints modules as they come: the code is one text of all of them, and what is kept of each is its kernels.
std::unique_ptr<Emitter> createTextEmitter(std::string format, const Language &language);

} // namespace zyx::target

#endif // ZYX_TARGET_TEXT_PRINTER_H
