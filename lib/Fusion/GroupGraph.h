//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_GROUPGRAPH_H
#define ZYX_LIB_FUSION_GROUPGRAPH_H

#include "zyx/Dialect/Graph/Analysis/IterationSpace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace zyx::fusion {

/// What is stored where `value` is returned or read by a loop: behind reshapes of what is computed that
/// itself, because they show the same bytes; otherwise `value`.
mlir::Value getStored(mlir::Value value);
int64_t bytesOf(mlir::Value value);

/// The computing ops of a function, or of the body of a loop, and their groups, before there is IR
/// for them. Constants, iotas and views are no members; each group gets copies of those it reads. A
/// loop or an external kernel is alone in its group, and what it reads is stored.
class GroupGraph {
public:
  using Ops = graph::ir::IterationSpace::Ops;
  using GroupId = unsigned;

  /// One group per computing op. A view, constant or iota that the block returns, or that a loop
  /// or an external kernel reads, counts as one, but for reshapes of what is computed.
  /// Streaming kernels may keep so many bytes of column sums beside sums of rows. Ops that are joined read and write no
  /// more than `mostBuffers` together; 0 is any number.
  explicit GroupGraph(mlir::Block &block, int64_t columnSumBytes = 0, size_t mostBuffers = 0);

  mlir::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  /// The group that computes the op for others.
  GroupId getHome(mlir::Operation *op) const { return homes.lookup(op); }
  /// The loop or the external kernel that is all of the group, if it is one.
  mlir::Operation *getAlone(GroupId group) const;
  /// Members in the order of the block; none where the group was merged into another.
  const Ops &getMembers(GroupId group) const { return members[group]; }
  /// The computing ops that an op reads, through views; each once.
  mlir::ArrayRef<mlir::Operation *> getProducers(mlir::Operation *op) const;
  /// The ops on the ways from some ops to others, with both.
  llvm::SmallVector<mlir::Operation *> getWays(mlir::ArrayRef<mlir::Operation *> from,
                                               mlir::ArrayRef<mlir::Operation *> to) const;
  /// The values that others read or that the block returns; to be asked for groups that are no such op.
  llvm::SmallVector<mlir::Value> getOutputs(GroupId group) const;

  /// Why the two would make no good kernel or a cycle; success where they would.
  Status checkMerge(GroupId first, GroupId second) const;
  void merge(GroupId first, GroupId second);
  /// Joins the groups of all these ops, where two of them alone would make no kernel. A failure says
  /// why they make none together, and changes nothing.
  Status mergeAll(mlir::ArrayRef<mlir::Operation *> ops);
  /// The same of ops that may be a chain of contractions or crossed sums, as which no others are joined.
  Status mergeStreaming(mlir::ArrayRef<mlir::Operation *> ops);

  /// Lets the readers of a cheap value compute it themselves, where that saves storing or reading
  /// it, and drops what nobody reads then. To be called when all merging is done.
  bool tryClone(mlir::Operation *root);
  /// Groups that have members, producers before consumers. Where that leaves a choice, it is the order of their
  /// first members in the block, unless less memory is alive at once in another one.
  llvm::SmallVector<GroupId> sort() const;

private:
  mlir::ArrayRef<mlir::Operation *> getConsumers(mlir::Operation *op) const;
  bool isStored(mlir::Operation *op) const;
  bool reachesAround(GroupId from, GroupId to) const;
  bool reachesAround(const llvm::SetVector<GroupId> &groups) const;
  llvm::SmallVector<mlir::Value> getOutputs(const Ops &all) const;
  Ops unite(const Ops &first, const Ops &second) const;
  /// What a reader would compute itself instead of reading a value.
  struct Slice {
    Ops ops;
    /// Producers outside that it reads, and the bytes of all that it reads.
    Ops frontier;
    int64_t read = 0;
  };
  Status check(const Ops &all, mlir::ValueRange outputs) const;
  size_t countInputs(const Ops &all) const;
  bool growSlice(mlir::Operation *root, GroupId into, Slice &slice) const;
  unsigned findEndOfPaths(unsigned end) const;
  bool cloneInto(GroupId into, mlir::Operation *root, Slice &slice, std::map<GroupId, Ops> &touched);
  void undo(std::map<GroupId, Ops> &touched);
  bool hasContraction(GroupId group) const;
  void removeUnused(GroupId start, std::map<GroupId, Ops> &touched);
  struct Uses;
  /// Of the groups that may come next: the first one; the first of those that free what they make; the one that makes
  /// least more than it frees.
  enum class Preference { First, Freeing, Least };
  std::pair<llvm::SmallVector<GroupId>, int64_t> sort(const Uses &uses, Preference preference) const;
  mlir::Value getBuffer(mlir::Value value) const;

  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 2>> producers, consumers;
  /// What the block returns or a loop reads.
  llvm::DenseSet<mlir::Operation *> returned;
  llvm::DenseMap<mlir::Operation *, GroupId> homes;
  /// The groups that compute an op: its home, and those with a copy.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<GroupId, 2>> holders;
  std::vector<Ops> members;
  /// A tree of Fenwick's: the last positions of groups of several ops that begin at or before a position.
  std::vector<unsigned> ends;
  /// Tells it of a group that has grown.
  void spread(GroupId group);
  /// Members of groups that may be chains of contractions or crossed sums.
  llvm::DenseSet<mlir::Operation *> streaming;
  const int64_t columnSumBytes;
  const size_t mostBuffers;
};

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_GROUPGRAPH_H
