//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ContainedLoops.h"
#include "LoopValues.h"

#include "mlir/Analysis/TopologicalSortUtils.h"

#include <set>

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::fusion {

namespace {

/// Whether all that one loop carries another one carries, too: pairs of carried values that begin alike, and that go on
/// alike as long as all pairs are alike.
class Containment {
public:
  Containment(LoopOp inner, LoopOp outer) : inner(inner), outer(outer) {}

  /// By carried value of the inner one that of the outer one.
  std::optional<SmallVector<unsigned>> find() {
    for (unsigned i = 0; i < inner.getInitial().size(); ++i)
      for (unsigned j = 0; j < outer.getInitial().size(); ++j)
        if (isSame(inner.getInitial()[i], outer.getInitial()[j]))
          pairs.insert({i, j});
    for (bool changed = true; changed;) {
      changed = false;
      known.clear();
      for (auto pair = pairs.begin(); pair != pairs.end();)
        if (isAlike(yieldOf(inner)->getOperand(pair->first), yieldOf(outer)->getOperand(pair->second))) {
          ++pair;
        } else {
          pair = pairs.erase(pair);
          changed = true;
        }
    }
    SmallVector<unsigned> result;
    for (unsigned i = 0; i < inner.getInitial().size(); ++i) {
      auto found = pairs.lower_bound({i, 0});
      if (found == pairs.end() || found->first != i)
        return std::nullopt;
      result.push_back(found->second);
    }
    return result;
  }

private:
  static bool isSame(Value a, Value b) {
    if (a == b)
      return true;
    ConstantOp x = getSplat(a), y = getSplat(b);
    return a.getType() == b.getType() && x && y &&
           x.getValue().getSplatValue<Attribute>() == y.getValue().getSplatValue<Attribute>();
  }

  bool isAlike(Value a, Value b) {
    auto [entry, isNew] = known.try_emplace({a, b}, false);
    if (!isNew)
      return entry->second;
    const bool result = compare(a, b);
    return known[{a, b}] = result;
  }

  bool compare(Value a, Value b) {
    if (a.getType() != b.getType())
      return false;
    auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
    if (x || y) {
      if (!x || !y || x.getOwner() != &inner.getBlock() || y.getOwner() != &outer.getBlock())
        return false;
      const unsigned i = x.getArgNumber(), j = y.getArgNumber();
      const unsigned numInner = inner.getInitial().size(), numOuter = outer.getInitial().size();
      if (i == 0 || j == 0)
        return i == j;
      if (i <= numInner && j <= numOuter)
        return pairs.count({i - 1, j - 1}) != 0;
      return i > numInner && j > numOuter &&
             isSame(inner.getInvariants()[i - 1 - numInner], outer.getInvariants()[j - 1 - numOuter]);
    }
    Operation *p = a.getDefiningOp(), *q = b.getDefiningOp();
    return p->getName() == q->getName() && p->getNumRegions() == 0 && p->getNumResults() == 1 &&
           p->getNumOperands() == q->getNumOperands() && p->getAttrDictionary() == q->getAttrDictionary() &&
           p->getPropertiesAsAttribute() == q->getPropertiesAsAttribute() &&
           llvm::all_of(llvm::zip_equal(p->getOperands(), q->getOperands()),
                        [&](auto both) { return isAlike(std::get<0>(both), std::get<1>(both)); });
  }

  LoopOp inner, outer;
  std::set<std::pair<unsigned, unsigned>> pairs;
  DenseMap<std::pair<Value, Value>, bool> known;
};

} // namespace

static bool reaches(Operation *from, Operation *to, DenseSet<Operation *> &seen) {
  if (from == to)
    return true;
  return seen.insert(from).second &&
         llvm::any_of(from->getUsers(), [&](Operation *user) { return reaches(user, to, seen); });
}

void replaceContained(Block &block) {
  for (bool changed = true; std::exchange(changed, false);) {
    SmallVector<LoopOp> loops(llvm::make_filter_range(block.getOps<LoopOp>(), isKnown));
    for (LoopOp inner : loops) {
      for (LoopOp outer : loops) {
        DenseSet<Operation *> ahead, behind;
        if (inner == outer || inner.getTripsAttr() != outer.getTripsAttr() ||
            inner.getInitial().size() > outer.getInitial().size() || reaches(inner, outer, ahead) ||
            reaches(outer, inner, behind))
          continue;
        std::optional<SmallVector<unsigned>> found = Containment(inner, outer).find();
        if (!found)
          continue;
        for (auto [result, position] : llvm::zip_equal(inner.getResults(), *found))
          result.replaceAllUsesWith(outer.getResult(position));
        inner.erase();
        sortTopologically(&block);
        changed = true;
        break;
      }
      if (changed)
        break;
    }
  }
}

} // namespace zyx::fusion
