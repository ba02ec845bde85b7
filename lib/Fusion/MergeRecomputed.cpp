//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Notes.h"
#include "RecomputeWeights.h"

#include "zyx/Base/Debug.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include <map>

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::GroupGraph;
using zyx::fusion::RecomputedRole;

namespace {

/// The ops of one kernel by what they are in it, in the order in which they were made.
struct Kernel {
  std::map<int64_t, Operation *> products, sums, beside;
};

} // namespace

/// Takes the notes off all ops. One that fits no op was written by hand, and is dropped.
static std::map<int64_t, Kernel> takeNotes(const GroupGraph &graph) {
  std::map<int64_t, Kernel> kernels;
  for (Operation *op : graph.getOps()) {
    auto note = dyn_cast_or_null<DenseI64ArrayAttr>(op->removeAttr(zyx::fusion::recomputedAttrName));
    if (!note || note.size() != 3)
      continue;
    Kernel &kernel = kernels[note[0]];
    const auto role = static_cast<RecomputedRole>(note[1]);
    auto reduce = dyn_cast<ReduceOp>(op);
    Operation *product = reduce ? reduce.getX().getDefiningOp() : nullptr;
    if (role == RecomputedRole::Inner && product && isElementwise(product))
      kernel.products[note[2]] = product;
    else if (role == RecomputedRole::Sum && reduce)
      kernel.sums[note[2]] = reduce;
    else if (role == RecomputedRole::Beside && isElementwise(op))
      kernel.beside[note[2]] = op;
  }
  return kernels;
}

void zyx::fusion::mergeRecomputed(GroupGraph &graph) {
  auto opsOf = [](const std::map<int64_t, Operation *> &noted) {
    return llvm::to_vector(llvm::map_range(noted, [](const auto &entry) { return entry.second; }));
  };
  for (const auto &[number, kernel] : takeNotes(graph)) {
    if (kernel.products.empty())
      continue;
    SmallVector<Operation *> members = graph.getWays(opsOf(kernel.products), opsOf(kernel.sums));
    llvm::append_range(members, opsOf(kernel.beside));
    Status merged = graph.mergeStreaming(members);
    if (!merged.isOk())
      ZYX_DEBUG(Fusion, "weights that are computed again are several kernels: " + merged.message());
  }
}
