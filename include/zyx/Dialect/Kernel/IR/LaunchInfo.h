//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_LAUNCHINFO_H
#define ZYX_DIALECT_KERNEL_IR_LAUNCHINFO_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Kernel/IR/TensorMaps.h"

#include <array>
#include <optional>

namespace zyx::kernel {

/// One dimension of a kernel's grid: a program begins at every multiple of `step` below the extent.
struct GridDimension {
  /// Of these at most one is there: the extent, or the number of the kernel's argument that is the extent.
  std::optional<int64_t> extent;
  std::optional<unsigned> argument;
  int64_t step = 1;
};

/// A parameter of a kernel's code, by the number of a tensor map or of the kernel's argument.
struct LaunchParameter {
  enum class Kind : uint8_t { TensorMap, Address, Scalar };
  Kind kind;
  unsigned number;
};

/// How a kernel of the lowered or the machine form is launched. The plan, the artifact and every backend read it.
struct LaunchInfo {
  /// The last dimension is x. Empty where the kernel has no grid: its `programs`, or one, are launched.
  llvm::SmallVector<GridDimension> grid;
  std::optional<int64_t> programs;
  /// Of a workgroup; 1 where each program is a thread.
  int64_t threads = 1;
  /// Workgroups of a cluster.
  int64_t cluster = 1;
  /// Of a workgroup, and of one program.
  int64_t sharedBytes = 0, privateBytes = 0;
  /// Where each copy through a tensor map finds its own.
  llvm::SmallVector<TensorMap> tensorMaps;
  /// In order. The calling convention of a target may have more behind them.
  llvm::SmallVector<LaunchParameter> parameters;

  /// Programs along z, y and x. Dimensions beyond three are part of z, since programs are numbered in row-major order.
  /// Nothing where an extent is known at run time only.
  std::optional<std::array<int64_t, 3>> countPrograms() const;
};

/// Fails, with an error at the op, where a copy of the kernel has no tensor map on `machine`, as tensorMapOf().
mlir::FailureOr<LaunchInfo> launchInfoOf(FuncOp func, const target::TargetInfo *machine = nullptr);

/// The facts as lines of text, for tools and tests.
void print(const LaunchInfo &info, llvm::raw_ostream &os);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_LAUNCHINFO_H
