//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_MATRIX_EPILOGUE_H
#define ZYX_CODEGEN_MATRIX_EPILOGUE_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::kernel {

/// Rows of a tile that a group of threads multiplies; groups where threads multiply by themselves, so that each of a
/// multiprocessor's four parts has two warps; and columns of a 16-bit result that the copy engine takes at once: a row
/// of a swizzled panel.
struct MachineShape {
  static constexpr int64_t groupRows = 64, groupThreads = 128, simtF32Groups = 2, panelColumns = 64;
};

/// The instructions that finish a tile of a product. Sums are in registers, which no instruction picks by a number:
/// each element of a thread has code of its own.
struct Epilogue {
  /// Simple instructions for each element of the product, without those that feed it.
  double ops = 0;
  /// Their code is there for one panel of the tile, and a loop carries the sums of the others: the code of all panels
  /// would not fit the instruction cache.
  bool loops = false;
  /// Bytes of code that is there for each of its elements.
  int64_t bytes = 0;
};

/// What finishes tiles of a kernel of one product with this step.
Epilogue findEpilogue(FuncOp func, TensorStepAttr step, const Axes &axes, const target::TargetInfo &target);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_MATRIX_EPILOGUE_H
