//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_MATRIX_MACHINEEMITTER_H
#define ZYX_LIB_CODEGEN_MATRIX_MACHINEEMITTER_H

#include "zyx/Codegen/Matrix/Epilogue.h"
#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/IR/IRMapping.h"

namespace zyx::kernel {

/// What the makers of machine forms for tensor cores have in common: small ops, memory that workgroups share, roles,
/// and what is computed element by element in the registers of a group of warps.
class MachineEmitter {
protected:
  using Carried = llvm::SmallVector<mlir::Value>;

  /// Rows of a group of four warps, and its threads; bytes that a swizzle exchanges, and columns of 16 bits that it
  /// has.
  static constexpr int64_t groupRows = MachineShape::groupRows, groupThreads = MachineShape::groupThreads,
                           panelColumns = MachineShape::panelColumns, swizzleBytes = 128;

  MachineEmitter(FuncOp func, const Axes &axes)
      : func(func), axes(axes), machine(*findTarget(func)), step(tensorStepOf(func)), b(func), loc(func.getLoc()),
        groups(step.getRows() / groupRows) {}

  //===--------------------------------------------------------------------===//
  // The kernel
  //===--------------------------------------------------------------------===//

  /// Puts a kernel without a body in front of the one that it replaces, for a thread group that copies and `groups`
  /// that multiply, and goes on in it. `endKernel` ends it and erases the other.
  FuncOp beginKernel(int64_t programs);
  void endKernel();
  /// An argument of the kernel.
  mlir::Value argument(unsigned number);
  /// Warps of one kind; they get `registers` each, or with 0 what all have. Of a `single` one a thread works.
  void emitRole(llvm::StringRef name, int64_t count, int64_t registers, bool single,
                llvm::function_ref<void(mlir::Value)> body, int64_t threads = groupThreads);
  Carried loop(mlir::Value from, mlir::Value to, mlir::Value by, mlir::ValueRange init,
               llvm::function_ref<Carried(mlir::Value, mlir::ValueRange)> body);
  /// What `body` gives where a condition holds, and `otherwise` where it does not.
  Carried branch(mlir::Value condition, llvm::function_ref<Carried()> body, llvm::function_ref<Carried()> otherwise);
  /// By one thread of the group.
  void onFirst(llvm::function_ref<void()> body);

  //===--------------------------------------------------------------------===//
  // Indices
  //===--------------------------------------------------------------------===//

  mlir::Value index(int64_t value);
  mlir::Value bit(bool value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y) { return y ? add(x, index(y)) : x; }
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value multiply(mlir::Value x, int64_t y);
  mlir::Value divide(mlir::Value x, mlir::Value y);
  mlir::Value divide(mlir::Value x, int64_t y) { return y == 1 ? x : divide(x, index(y)); }
  mlir::Value rest(mlir::Value x, mlir::Value y);
  mlir::Value choose(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// The next stage of a ring, and the parity with which it is waited for.
  std::pair<mlir::Value, mlir::Value> advance(mlir::Value stage, mlir::Value parity);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  ViewType sharedView(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value allocShared(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// A part of shared memory that begins at these indices, and at zero along the dimensions behind them.
  mlir::Value part(mlir::Value view, llvm::ArrayRef<mlir::Value> leading, llvm::ArrayRef<int64_t> shape);
  /// The buffer of a view, seen through another map.
  mlir::Value viewOf(mlir::Value view, MapAttr map);
  mlir::Value barriers(int64_t count, int64_t arrivals);

  //===--------------------------------------------------------------------===//
  // What is elementwise
  //===--------------------------------------------------------------------===//

  /// Where tiles of the kernel are held: the axes of a fragment's rows and columns, and how many columns and rows it
  /// has.
  struct FragmentShape {
    Axis rows, columns;
    int64_t width, height = groupRows;
  };
  /// A tile without rows, or without columns, is held by the threads that have elements of these; one without both is a
  /// scalar.
  mlir::Type heldType(mlir::Value tile, const FragmentShape &fragment, mlir::Type element);
  /// The same, with 16-bit floats as f32.
  mlir::Type heldType(mlir::Value tile, const FragmentShape &fragment);
  /// A number in each element of a tile, or a scalar.
  mlir::Value number(mlir::Type type, double value);
  mlir::Value narrow(mlir::Value held, mlir::Type element);
  mlir::Value widen(mlir::Value held);
  /// Two tiles of bf16 whose sum a tile of f32 is, but for 2^-16 of it.
  Carried partsOf(mlir::Value held);
  mlir::Value spread(mlir::Value value, mlir::Type held);
  /// An elementwise op, constant or change of shape, whose operands `evaluate` gives; 16-bit floats are rounded after
  /// each.
  mlir::Value compute(mlir::Value tile, const FragmentShape &fragment,
                      llvm::function_ref<mlir::Value(mlir::Value)> evaluate);

  FuncOp func;
  const Axes &axes;
  /// The pass has seen that the module says so.
  const target::TargetInfo &machine;
  const TensorStepAttr step;
  mlir::OpBuilder b;
  mlir::Location loc;
  /// Groups of four warps that multiply.
  const int64_t groups;
  /// The layout of what they hold.
  FragAttr acc;

private:
  mlir::Value divide(llvm::ArrayRef<mlir::Value> operands, mlir::Value divisor, mlir::Type held);
  /// Of what is rounded to `element` next.
  mlir::Value tanh(mlir::Value x, mlir::Type element);

  mlir::IRMapping arguments;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_MATRIX_MACHINEEMITTER_H
