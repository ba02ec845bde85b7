//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FuseAttention.h"

#include "zyx/Base/Debug.h"
#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::GroupGraph;

/// The ops that read a value, through views.
static void findReaders(Value value, SmallVectorImpl<Operation *> &readers) {
  for (Operation *user : value.getUsers()) {
    if (isView(user))
      findReaders(user->getResult(0), readers);
    else
      readers.push_back(user);
  }
}

bool zyx::fusion::isPrivate(Attention &found) {
  llvm::SmallPtrSet<Operation *, 8> chain;
  for (OpOperand *operand : found.weights)
    chain.insert(operand->getOwner());
  return llvm::all_of(found.weights, [&](OpOperand *operand) {
    SmallVector<Operation *> readers;
    if (!isView(operand->get().getDefiningOp()))
      findReaders(operand->get(), readers);
    return llvm::all_of(readers, [&](Operation *reader) {
      auto reduce = dyn_cast<ReduceOp>(reader);
      // A cast that feeds such a sum; where it feeds another op, no group is formed.
      return chain.contains(reader) || isa<CastOp>(reader) || (reduce && isSumOf(reduce, found.exp));
    });
  });
}

/// The computing ops on the ways from the product of the scores to the last sum, and the sums along
/// the keys.
static SmallVector<Operation *> getMembers(Attention &found, const GroupGraph &graph) {
  SmallVector<Operation *> ends = {found.output};
  SmallVector<Operation *> readers;
  findReaders(found.exp.getResult(), readers);
  for (size_t i = 0; i < readers.size(); ++i) {
    if (auto reduce = dyn_cast<ReduceOp>(readers[i]); reduce && isSumOf(reduce, found.exp))
      ends.push_back(reduce);
    else if (isa<CastOp>(readers[i]))
      findReaders(readers[i]->getResult(0), readers);
  }
  return graph.getWays({found.scores.getX().getDefiningOp()}, ends);
}

void zyx::fusion::mergeAttentions(GroupGraph &graph) {
  for (Operation *op : graph.getOps()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    auto found = reduce ? matchAttention(reduce) : std::nullopt;
    if (!found)
      continue;
    Status merged = graph.mergeAll(getMembers(*found, graph));
    if (merged.isOk())
      continue;
    ZYX_DEBUG(Fusion, "an attention is no kernel: " + merged.message());
    remark::missed(op->getLoc(), remark::RemarkOpts::name("FuseAttention").category("zyx-fusion"))
        << ("an attention is no kernel: " + merged.message());
  }
}
