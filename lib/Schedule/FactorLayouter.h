//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_FACTORLAYOUTER_H
#define ZYX_LIB_SCHEDULE_FACTORLAYOUTER_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Codegen/Tile/FactorLayout.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/SymbolTable.h"

#include <optional>
#include <string>

namespace zyx::schedule {

/// A copy of a buffer, which whoever reads it in the same order shares.
struct MadeCopy {
  mlir::Value source, buffer;
  kernel::MapAttr from, to;
  /// What is written where the source has no elements; null where it has all.
  mlir::Attribute other;
  bool isKept;
  plan::LaunchOp launch;
};
using Copies = llvm::SmallVector<MadeCopy>;

/// The maps of a copy with its dimensions in the order in which they lie in memory, and those that are one as one:
/// transposed copies are alike.
std::pair<kernel::MapAttr, kernel::MapAttr> inOrder(kernel::MapAttr from, kernel::MapAttr to);
/// The buffer of the same copy, made for another launch, which comes first then; null where there is none, or where the
/// source may be written in between. `wanted` says which launch reads it, and has no buffer.
mlir::Value findCopy(Copies &copies, const MadeCopy &wanted);
/// Has one launch read a copy: the same that another one has, or its own, of the kernel that `create` makes once.
void addCopy(Copies &copies, MadeCopy wanted, kernel::FuncOp &kernel, llvm::function_ref<kernel::FuncOp()> create,
             unsigned at, int64_t elements, mlir::OpBuilder &builder, mlir::Location loc);

inline kernel::MapAttr mapOf(kernel::LoadOp load) { return load.getView().getDefiningOp<kernel::ViewOp>().getMap(); }

/// The kernel as its axes are found: each constant has one user. What is decided by them may leave the kernel as it is.
mlir::OwningOpRef<kernel::FuncOp> cloneUnshared(kernel::FuncOp func);

/// Copies what one kernel reads: factors for tensor cores (LayOutFactors.cpp), and what reductions read across the
/// order of threads (TransposeReads.cpp).
class FactorLayouter {
public:
  FactorLayouter(kernel::FuncOp func, const target::TargetInfo &target, Copies *copies = nullptr)
      : func(func), target(target), copies(copies), builder(func.getContext()) {}
  bool run(mlir::SymbolTable &into, llvm::MutableArrayRef<plan::LaunchOp> launches);
  /// The same of windows whose factors threads bring to shared memory: with channels next to each other, and contracted
  /// in that order, they are read in vectors.
  bool runForSharedMemory(mlir::SymbolTable &into, llvm::MutableArrayRef<plan::LaunchOp> launches);
  /// Copies what a chain of products reads for each of its scores and what lies along its rows, as a bias does in the
  /// gradient of the keys, to where it lies along what is streamed. Whether something is copied.
  bool runForChain(mlir::SymbolTable &into, llvm::MutableArrayRef<plan::LaunchOp> launches);
  /// Copies what a kernel with reductions reads across the order in which its threads are neighbours. `hasWindows`: its
  /// windows are laid out.
  void transpose(mlir::SymbolTable &into, llvm::MutableArrayRef<plan::LaunchOp> launches, bool hasWindows);
  /// Whether tensor cores take the kernel as it is.
  bool isTaken();
  /// The layouts that take least, and their cycles; none where the kernel needs none.
  std::optional<std::pair<kernel::DotLayout, double>> findBest();

private:
  /// A load, by its number among those of the kernel, and the order in which it will read.
  struct Transposed {
    size_t number;
    kernel::FactorLayout layout;
  };
  /// What a sum reads across its rows, again and again: it will lie along them.
  llvm::SmallVector<Transposed> findTerms(kernel::FuncOp of, const kernel::Axes &axes);
  /// What a kernel reads across the order in which it writes, or reads the rest.
  llvm::SmallVector<Transposed> findWalked(kernel::FuncOp of, const kernel::Axes &axes);
  /// What sums read again and again, to where it lies along their results: threads then read vectors of it.
  llvm::SmallVector<Transposed> findSmall(kernel::FuncOp of, const kernel::Axes &axes);
  /// Whether there are launches, and all have as many inputs.
  static bool readAlike(llvm::ArrayRef<plan::LaunchOp> launches);
  /// Of all factors that tensor cores may take; or of windows that threads bring to shared memory.
  llvm::SmallVector<kernel::DotLayout> candidates(bool byThreads = false);
  std::optional<double> costOf(const kernel::DotLayout &layout, std::string &reason);
  std::optional<kernel::DotLayout> findAligned(bool keepsLeft, bool keepsRight);
  /// Cycles of a kernel with these layouts in shared memory; none where threads share none.
  std::optional<double> sharedCycles(const kernel::DotLayout &layout);
  /// Of windows that threads bring to shared memory, the layouts that take least, none among them, and their cycles;
  /// none where threads do not.
  std::optional<std::pair<kernel::DotLayout, double>> findShared(llvm::MutableArrayRef<plan::LaunchOp> launches);
  void applyBoth(const kernel::DotLayout &layout, llvm::MutableArrayRef<plan::LaunchOp> launches);
  /// What of the memory's rate a copy reaches.
  double rateOf(const kernel::FactorLayout &layout) const;
  int64_t countLines(const kernel::FactorLayout &layout) const;
  double copyCycles(const kernel::FactorLayout &layout) const;
  mlir::OwningOpRef<kernel::FuncOp> tryOut(const kernel::DotLayout &layout);
  void apply(const kernel::FactorLayout &layout, kernel::LoadOp load, llvm::StringRef suffix,
             llvm::MutableArrayRef<plan::LaunchOp> launches);
  kernel::FuncOp createCopy(const kernel::FactorLayout &layout, kernel::BufferType buffer, llvm::StringRef suffix);

  /// Cycles of so many products and elements, where each multiprocessor does so many in one.
  double cyclesOf(double count, double each) const { return count / (each * static_cast<double>(target.cores)); }

  kernel::FuncOp func;
  mlir::SymbolTable *symbols = nullptr;
  const target::TargetInfo &target;
  Copies *copies;
  mlir::OpBuilder builder;
};

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_FACTORLAYOUTER_H
