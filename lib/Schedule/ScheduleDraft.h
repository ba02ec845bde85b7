//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_SCHEDULEDRAFT_H
#define ZYX_LIB_SCHEDULE_SCHEDULEDRAFT_H

#include "ChooseRules.h"

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// Programs that a kernel should have before its blocks grow further.
inline constexpr int64_t enoughPrograms = 16;
/// Where a row is walked again: elements that each thread keeps in registers. Twice as many are possible.
inline constexpr int64_t keptElements = 32;

/// A kernel, what its schedule is chosen by, and the steps that have been chosen. Threads, workgroups and how many
/// threads are resident stand on the kernel meanwhile.
class ScheduleDraft {
public:
  ScheduleDraft(kernel::FuncOp func, const kernel::Axes &axes, const target::TargetInfo &target);

  /// A choice of what was found, with the threads that the kernel was given.
  Choice takeSteps();
  /// Adds a step that splits an axis for the grid, unless a program has all of it.
  void grid(kernel::Axis axis, int64_t tile);
  mlir::StringAttr nameOf(kernel::Axis axis);
  /// Sets how many threads a multiprocessor should have room for.
  void setMinResidentThreads(int64_t count);
  /// Axes that every store has and nothing combines, in the order of the first store.
  llvm::SmallVector<kernel::Axis> parallelAxes();
  /// Of what is read along the axis, most lies side by side.
  bool isContiguous(kernel::Axis axis);
  /// Whether neighbours along an axis are neighbours in what is gathered from, as those of a row are whose number is
  /// data.
  bool gathersAlong(kernel::GatherOp gather, kernel::Axis axis);
  /// The widest element that is read along an axis, or any.
  int64_t widestRead(std::optional<kernel::Axis> axis);
  /// Whether more elements that a kernel reads and writes are neighbours along an axis than are not, through all blocks
  /// of maps.
  bool liesAlong(kernel::Axis axis);
  /// The axes in the order in which what is stored lies in memory: neighbours along the last one.
  llvm::SmallVector<kernel::Axis> asInMemory(llvm::SmallVector<kernel::Axis> sorted);
  /// Elements that are combined into one.
  uint64_t countCombined();
  /// A thread takes as many as it reads at once: its neighbours take their neighbours.
  int64_t elementsPerProgram(std::optional<kernel::Axis> along = std::nullopt);
  /// Elements of a thread, at most `most`, of which a row of its tile has whole ones: other rows would begin
  /// beside multiples of 16 bytes, and be read and written one by one with gaps between threads.
  int64_t wholeVectors(kernel::Axis axis, int64_t most);

  kernel::FuncOp func;
  const kernel::Axes &axes;
  const target::TargetInfo &target;
  /// Of threads that share a row: a subgroup; as many as have registers for what each may keep at most; and as many as
  /// a core has room for if each has the registers for so many elements and for computing with them: while some
  /// workgroups wait for a row's sum, others read theirs.
  const int64_t fewestThreads, mostKeepingThreads, residentThreads;
  llvm::SmallVector<kernel::StoreOp> stores;
  /// On a card without those of which each row looks at one element.
  llvm::SmallVector<kernel::LoadOp> loads;
  llvm::SmallVector<kernel::GatherOp> gathers;
  llvm::SmallVector<kernel::DotOp> dots;
  /// Whether elements are combined by anything but dots.
  bool combines = false;
  /// Along it a workgroup has a strip of columns, whose rows its threads have in turns.
  std::optional<kernel::Axis> columns;
  llvm::SmallVector<mlir::Attribute> steps;
  /// Of the first arguments: which keep their values from run to run.
  llvm::ArrayRef<bool> isFixed;
  Forms forms;
};

/// Bytes of one element of a tile, and of all.
int64_t bytesOf(mlir::Value tile);
int64_t bytesOfAll(mlir::Value tile);
/// Elements between the first and the last one of a block.
int64_t spanOf(kernel::BlockAttr block);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_SCHEDULEDRAFT_H
