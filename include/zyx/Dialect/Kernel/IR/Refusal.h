//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_REFUSAL_H
#define ZYX_DIALECT_KERNEL_IR_REFUSAL_H

#include "mlir/IR/Operation.h"

#include "llvm/Support/raw_ostream.h"

namespace zyx::kernel {

/// Why a transformation is not legal: what a pass reports as an error, and a predicate answers with. Nothing is emitted
/// until somebody asks for it, so that a caller may try, read the reason and do something else:
///
///   return refusal.at(op) << "gives axis " << name << " to the grid after a loop was made";
class Refusal {
public:
  /// Begins the reason as emitOpError does, with the op's name.
  Refusal &at(mlir::Operation *refused) {
    at(refused->getLoc());
    op = refused;
    return *this << "'" << refused->getName().getStringRef() << "' op ";
  }
  Refusal &at(mlir::Location place) {
    op = nullptr;
    loc = place;
    text.clear();
    return *this;
  }
  template <typename Part> Refusal &operator<<(const Part &part) {
    llvm::raw_string_ostream(text) << part;
    return *this;
  }
  operator llvm::LogicalResult() const { return llvm::failure(); }
  template <typename Result> operator llvm::FailureOr<Result>() const { return llvm::failure(); }

  /// The reason, with the name of the op that it is about; empty where nothing was refused.
  llvm::StringRef getText() const { return text; }
  /// Makes it an error at the op, which must still be there.
  void emit() const {
    if (op)
      op->emitError() << text;
    else if (loc)
      mlir::emitError(*loc) << text;
  }

private:
  mlir::Operation *op = nullptr;
  std::optional<mlir::Location> loc;
  std::string text;
};

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_REFUSAL_H
