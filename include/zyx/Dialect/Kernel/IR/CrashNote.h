//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_CRASHNOTE_H
#define ZYX_DIALECT_KERNEL_IR_CRASHNOTE_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "llvm/Support/PrettyStackTrace.h"

namespace zyx::kernel {

/// While it lives, the stack dump of a crash names the kernel. For passes over many of them.
class CrashNote : public llvm::PrettyStackTraceEntry {
public:
  explicit CrashNote(FuncOp func) : name(func.getSymName()) {}
  void print(llvm::raw_ostream &stream) const override { stream << "on kernel '" << name << "'\n"; }

private:
  /// A copy: passes replace the op.
  std::string name;
};

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_CRASHNOTE_H
