//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_BACKEND_REFUSEOP_H
#define ZYX_TARGET_BACKEND_REFUSEOP_H

#include "zyx/Base/Status.h"

#include "mlir/IR/Operation.h"

namespace zyx::target {

/// A refusal of an op that a backend has no form for: its name before the reason, and its location behind.
Status refuseOp(mlir::Operation *op, const llvm::Twine &why);
/// The same of an op with a type that a language has not, and of one that it has no form for.
Status refuseType(mlir::Operation *op, mlir::Type type, const llvm::Twine &language);
Status refuseForm(mlir::Operation *op, const llvm::Twine &language);

} // namespace zyx::target

#endif // ZYX_TARGET_BACKEND_REFUSEOP_H
