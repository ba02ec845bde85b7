//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which values share memory with others: what is updated where it lies, and what a loop carries.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_CARRIEDVALUES_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_CARRIEDVALUES_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include <map>

namespace zyx::lowering {

/// Carried values of a loop between which values move: what pass n carries as one of them, pass n + 1 carries as the
/// next. What the last one carried goes, and something new becomes the first one, unless they are a circle.
struct ShiftRegister {
  /// Numbers of carried values.
  llvm::SmallVector<unsigned> positions;
  /// What becomes the first one: null in a circle. It is made in the body, by a group or a loop, or else copied.
  mlir::Value source;
  bool isMade = false;
  /// Whether the source may be written where the last one lay; else there is memory for one value more.
  bool isDirect = true;

  /// Each value lies in one of so many buffers for all of its passes. In pass p, value k of the register is in number
  /// (k - p) mod cells(); and the source goes to number (-p - 1) mod cells().
  int64_t cells() const { return static_cast<int64_t>(positions.size()) + !isDirect; }
};

/// How a loop carries its values without copies.
struct CarriedValues {
  llvm::SmallVector<ShiftRegister> shiftRegisters;
  /// After so many passes each value is in the buffer again in which it was.
  int64_t numBodies = 1;
  /// Commands of all bodies, as far as they are known.
  int64_t numCommands = 0;
};

/// Answers for an entry whose ops are groups, loops, constants, parameters and reshapes; it must not change meanwhile.
class MemoryReuse {
public:
  /// The value whose memory this one has: reshapes show it, and loops may hand it on.
  mlir::Value getRoot(mlir::Value value) const;
  /// Whether every pass of the loop carries what the one before did.
  bool isHandedOn(graph::ir::LoopOp loop, unsigned position) const;
  /// What a loop begins to carry at a position, where nobody else needs its memory any more; or null.
  mlir::Value findFree(graph::ir::LoopOp loop, unsigned position) const;
  /// The value whose memory a result of a group or loop takes because nobody reads it any more, or null. It is updated
  /// there: by a scatter, or from pass to pass.
  mlir::Value findTaken(mlir::Value result);
  /// Whether a group's scatter updates a copy of what it begins with, made beforehand: where it changes little, of what
  /// may be donated when the program runs, so that nothing is to be copied then.
  bool isCopied(graph::ir::GroupOp group) const;
  /// The first one of the values of which each takes the memory of the one before.
  mlir::Value getFirst(mlir::Value value);
  const CarriedValues &get(graph::ir::LoopOp loop);

  /// Moves scatters behind the last one who reads what they begin with, where nobody waits for them before.
  void delayUpdates(mlir::Block &block) const;

private:
  llvm::SmallVector<mlir::OpOperand *> getReaders(mlir::Value root) const;
  bool isOwned(mlir::Value root) const;
  bool isDeadBehind(mlir::Value root, mlir::Operation *op, mlir::OpOperand *besides = nullptr) const;
  mlir::Value findFree(mlir::OpOperand &operand) const;
  bool isMadeOfWeights(mlir::Value root) const;
  bool isTaken(mlir::Value root);
  CarriedValues compute(graph::ir::LoopOp loop);

  std::map<mlir::Operation *, CarriedValues> known;
};

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_CARRIEDVALUES_H
