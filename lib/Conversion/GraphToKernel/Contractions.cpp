//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which reductions of a group are contractions, and in which order a dot walks their dimensions.
#include "Elements.h"
#include "GroupAxes.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// The value before casts to the accumulator's type, which a dot makes itself.
static Value stripFactor(Value value, Type accumulator, const GroupAxes &axes) {
  while (Operation *op = value.getDefiningOp()) {
    if (axes.getLeaf(value) || axes.getSplat(value))
      break;
    if (isa<CastOp>(op)) {
      Type from = getElementTypeOrSelf(op->getOperand(0).getType());
      bool isExact =
          isa<FloatType>(accumulator) ? from.isF16() || from.isBF16() || isFloat8(from) : from.isSignlessInteger(8);
      if (!isExact || getElementTypeOrSelf(value.getType()) != accumulator)
        break;
    } else if (!isView(op)) {
      break;
    }
    value = op->getOperand(0);
  }
  return value;
}

void GroupAxes::findContractions() {
  for (Operation &op : group.getBlock().without_terminator()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || !isNeeded(&op) || reduce.getKind() != ReduceKind::Add || reduce->hasAttr(sumAttrName))
      continue;
    auto product = reduce.getX().getDefiningOp<BinaryOp>();
    Type accumulator = getElementTypeOrSelf(reduce.getX().getType());
    if (!product || product.getKind() != BinaryKind::Mul ||
        !(accumulator.isF32() || accumulator.isF64() || accumulator.isSignlessInteger(32)))
      continue;
    auto a = getVaryingClasses(product.getA()), b = getVaryingClasses(product.getB());
    ClassContraction dot = {reduce, {}, {}, {}, {}, {}, {}};
    bool fits = true;
    for (Class c : order) {
      bool isReduced = llvm::any_of(reduce.getDims(), [&](int64_t dim) { return getClass(reduce.getX(), dim) == c; });
      bool inA = a.contains(c), inB = b.contains(c);
      if (isReduced) {
        fits &= inA && inB;
        dot.k.push_back(c);
      } else if (inA && inB) {
        dot.batch.push_back(c);
      } else if (inA) {
        dot.m.push_back(c);
      } else if (inB) {
        dot.n.push_back(c);
      }
    }
    // With one row or column a reduction of the product reads the matrix just as often.
    if (!fits || dot.m.empty() || dot.n.empty() || dot.k.empty())
      continue;
    dot.lhs = stripFactor(product.getA(), accumulator, *this);
    dot.rhs = stripFactor(product.getB(), accumulator, *this);
    if (!isSummedByTaps(dot) && !isSummedInPlace(dot))
      found.push_back(dot);
  }
  for (ClassContraction &dot : found)
    orderContraction(dot);
}

/// The number that the results add per step along a class, of those with most dimensions the first that has
/// it: what a row has beside them is written once.
int64_t GroupAxes::getStoreStride(Class c) const {
  const Output *best = nullptr;
  for (const Output &output : outputs)
    if (hasClass(output.value, c) &&
        (!best || getVaryingClasses(best->value).size() < getVaryingClasses(output.value).size()))
      best = &output;
  return best ? std::abs(getStride(best->value, best->map, c)) : 0;
}

/// Largest step first; of equal ones, in the order that they have.
void GroupAxes::sortBySteps(SmallVector<Class> &list, llvm::function_ref<int64_t(Class)> getStep) const {
  auto key = [&](Class c) { return std::pair(-getStep(c), llvm::find(order, c) - order.begin()); };
  llvm::sort(list, [&](Class a, Class b) { return key(a) < key(b); });
}

/// The leaf of a factor that varies along most classes, or null.
Value GroupAxes::getMainLeaf(Value factor) const {
  llvm::SetVector<Value> values;
  values.insert(factor);
  Value best;
  for (size_t i = 0; i != values.size(); ++i) {
    Value value = values[i];
    if (getLeaf(value)) {
      if (!best || getVaryingClasses(best).size() < getVaryingClasses(value).size())
        best = value;
    } else if (Operation *op = value.getDefiningOp(); isView(op) || isElementwise(op)) {
      values.insert(op->operand_begin(), op->operand_end());
    }
  }
  return best;
}

/// Sorts the contracted dimensions as they lie in memory, outermost first, so that what one factor
/// reads along them are runs of neighbours. A window comes first, because its elements are read
/// several times.
void GroupAxes::orderContracted(ClassContraction &dot) const {
  Value chosen;
  bool chosenIsWindow = false;
  // A padded view counts in extents of its own.
  auto getStep = [&](Value value, Class c) {
    kernel::MapAttr map = getLeaf(value)->map;
    return packedLanes ? getMemoryStride(value, map, c) : std::abs(getStride(value, map, c));
  };
  for (Value factor : {dot.lhs, dot.rhs}) {
    Value value = getMainLeaf(factor);
    if (!value)
      continue;
    kernel::MapAttr map = getLeaf(value)->map;
    int64_t points = 1, span = 1;
    for (Class c : getVaryingClasses(value)) {
      points *= getClassExtent(c);
      span += (getClassExtent(c) - 1) * std::abs(getStride(value, map, c));
    }
    bool isWindow = points > span || !map.isOneWholeBlock();
    bool hasRuns = llvm::any_of(dot.k, [&](Class c) { return getStep(value, c) == 1; });
    if (hasRuns && (!chosen || (isWindow && !chosenIsWindow)))
      std::tie(chosen, chosenIsWindow) = std::pair(value, isWindow);
  }
  if (!chosen)
    return;
  sortBySteps(dot.k, [&](Class c) { return getStep(chosen, c); });
}

/// Whether a kernel of its own copies what windows are taken of (LayOutWindows.cpp), so that positions along a class
/// are neighbours there, though the images lie otherwise, as those whose channels come last: each element is read
/// often, and windows move by as much as their elements are apart.
bool GroupAxes::areWindowsCopied(Value window, Class along) const {
  constexpr int64_t fewestReads = 4, fewestReadsOfAll = int64_t(1) << 20;
  const Leaf *leaf = getLeaf(window);
  const int64_t step = getMemoryStride(window, leaf->map, along);
  const auto type = dyn_cast<RankedTensorType>(leaf->root.getType());
  if (!copiesWindows || step == 0 || !type)
    return false;
  int64_t points = 1;
  bool slides = false;
  for (Class c : getVaryingClasses(window)) {
    points *= getClassExtent(c);
    slides |= c != along && getClassExtent(c) > 1 && getMemoryStride(window, leaf->map, c) == step;
  }
  return slides && points >= fewestReadsOfAll && points / type.getNumElements() >= 2 * fewestReads;
}

/// Whether threads rather add up each element of a window (tap) by itself, as in filters' gradients of few channels a
/// group: a product would gather each element of the windows for the few rows that it is multiplied by, and a thread
/// reads neighbours of both factors in vectors, each for many taps.
bool GroupAxes::isSummedByTaps(const ClassContraction &dot) const {
  constexpr int64_t mostRows = 8, shortestRun = 2, fewestTerms = 1024;
  if (tapSums == 0 || llvm::range_size(group.getBlock().getOps<ReduceOp>()) != 1)
    return false;
  auto sharesWindows = [&](Value window, ArrayRef<Class> columns, Value other, ArrayRef<Class> rows) {
    window = getMainLeaf(window), other = getMainLeaf(other);
    if (!window || !other || countPoints(rows) > mostRows || countPoints(dot.k) < fewestTerms)
      return false;
    kernel::MapAttr map = getLeaf(window)->map, otherMap = getLeaf(other)->map;
    if (llvm::none_of(dot.k, [&](Class c) {
          return getClassExtent(c) % shortestRun == 0 && getMemoryStride(other, otherMap, c) == 1 &&
                 (getMemoryStride(window, map, c) == 1 || areWindowsCopied(window, c));
        }))
      return false;
    int64_t taps = 1;
    for (Class c : columns) {
      const int64_t step = getMemoryStride(window, map, c);
      if (step != 0 && llvm::any_of(dot.k, [&](Class along) {
            const int64_t inner = getMemoryStride(window, map, along);
            return inner != 0 && step * (getClassExtent(c) - 1) >= inner && inner * (getClassExtent(along) - 1) >= step;
          }))
        taps *= getClassExtent(c);
    }
    return taps > 1 && taps <= tapSums;
  };
  return sharesWindows(dot.rhs, dot.n, dot.lhs, dot.m) || sharesWindows(dot.lhs, dot.m, dot.rhs, dot.n);
}

/// Whether windows are rather summed up as they lie, as those of each channel by itself are. For the few rows of a
/// group of few channels a processor takes longer to pack them than to read them again. On a card a workgroup would
/// gather each element of a tile by itself, and multiply a tile that is mostly padding; a thread reads neighbours in
/// vectors, and each for all elements of the window that show it.
bool GroupAxes::isSummedInPlace(const ClassContraction &dot) const {
  constexpr int64_t mostTerms = 64, fewestNeighbours = 8;
  // Tensor cores multiply tiles of 16 bits.
  const bool isCard = packedLanes == 0;
  const bool isNarrow = getElementTypeOrSelf(dot.lhs.getType()).getIntOrFloatBitWidth() <= 16;
  const int64_t mostRows = !isCard ? 4 : isNarrow ? 8 : 16;
  if ((isCard && tapSums == 0) || llvm::range_size(group.getBlock().getOps<ReduceOp>()) != 1)
    return false;
  auto readsRuns = [&](Value window, ArrayRef<Class> columns, ArrayRef<Class> rows) {
    window = getMainLeaf(window);
    if (!window || getLeaf(window)->map.isSingleBlock() || countPoints(rows) > mostRows ||
        countPoints(dot.k) > mostTerms)
      return false;
    return llvm::any_of(columns, [&](Class c) {
      return (getMemoryStride(window, getLeaf(window)->map, c) == 1 || areWindowsCopied(window, c)) &&
             getStoreStride(c) == 1 &&
             (isCard ? getClassExtent(c) >= fewestNeighbours : 4 * getClassExtent(c) >= 3 * packedLanes);
    });
  };
  return readsRuns(dot.rhs, dot.n, dot.m) || readsRuns(dot.lhs, dot.m, dot.n);
}

/// Whether positions of a window are rather rows than columns, though results have them as neighbours: what the window
/// shows lies along the contraction, so that rows are packed as they lie, and columns would be transposed; and a result
/// is the sum of so much that it may be written by itself. Or the other way round, for factors that groups of narrow
/// elements are packed of: positions are rather columns where these have neighbours in memory.
bool GroupAxes::shouldSwapFactors(const ClassContraction &dot) const {
  constexpr int64_t fewestTerms = 256;
  if (!packedLanes || found.size() != 1 || countPoints(dot.k) < fewestTerms)
    return false;
  auto findWindow = [&](Value factor) {
    Value value = getMainLeaf(factor);
    return value && !getLeaf(value)->map.isSingleBlock() ? value : Value();
  };
  constexpr int64_t nearStep = 2;
  auto longestRun = [&](Value value, ArrayRef<Class> classes, int64_t mostStep) {
    int64_t longest = 0;
    for (Class c : classes)
      if (const int64_t step = getMemoryStride(value, getLeaf(value)->map, c); step >= 1 && step <= mostStep)
        longest = std::max(longest, getClassExtent(c));
    return longest;
  };
  const Type element = getElementTypeOrSelf(dot.lhs.getType());
  const bool isNarrow = element.isBF16() || element.getIntOrFloatBitWidth() == 8;
  if (Value right = findWindow(dot.rhs)) {
    const int64_t terms = longestRun(right, dot.k, /*mostStep=*/isNarrow ? nearStep : 1),
                  positions = longestRun(right, dot.n, nearStep);
    // Rows of narrow elements are packed as they lie only where a run fills a register of them, but that columns with
    // shorter runs than these are transposed.
    constexpr int64_t shortestRun = 4;
    const int64_t perRegister = 4 * packedLanes * 8 / element.getIntOrFloatBitWidth();
    const bool isTransposed = 2 * positions < packedLanes && terms >= packedLanes;
    if (isNarrow && terms < perRegister && positions >= shortestRun && !isTransposed)
      return false;
    return countPoints(dot.m) % packedLanes == 0 && terms > positions;
  }
  Value left = isNarrow ? findWindow(dot.lhs) : Value();
  return left && longestRun(left, dot.m, nearStep) > longestRun(left, dot.k, nearStep);
}

/// A dot has one dimension of rows: the largest run of classes that the results step over as over
/// one. The other classes become batches, along which one factor is the same; first of all those that are the batch
/// of another contraction, so that both have the same rows. Threads write neighbours together: a run of neighbours is
/// kept beside a larger one, of images for example, each element of which would be written to a sector of its own.
void GroupAxes::keepLargestRun(SmallVector<Class> &list, SmallVector<Class> &batch) const {
  SmallVector<SmallVector<Class>> runs;
  for (Class c : list) {
    bool follows = !runs.empty() && opsAllowMerge(runs.back().back(), c) && storesAllowMerge(runs.back().back(), c) &&
                   dotsAllowMerge(runs.back(), c);
    if (!follows)
      runs.emplace_back();
    runs.back().push_back(c);
  }
  auto isBatch = [&](Class c) {
    return llvm::any_of(found, [&](const ClassContraction &dot) { return llvm::is_contained(dot.batch, c); });
  };
  // Shorter runs are mostly padding in a tile.
  constexpr int64_t fewestNeighbours = 16;
  auto size = [&](ArrayRef<Class> run) {
    int64_t points = 1;
    for (Class c : run)
      points *= getClassExtent(c);
    const bool isNear = !packedLanes && points >= fewestNeighbours && getStoreStride(run.back()) == 1;
    return std::tuple(llvm::none_of(run, isBatch), isNear, points);
  };
  auto *largest = llvm::max_element(runs, [&](const auto &a, const auto &b) { return size(a) <= size(b); });
  for (SmallVector<Class> &run : runs)
    if (&run != largest)
      llvm::append_range(batch, run);
  list = SmallVector<Class>(*largest);
}

/// Puts the axes that a dot flattens together, the batches before them.
void GroupAxes::orderContraction(ClassContraction &dot) {
  auto rank = [&](Class c) { return llvm::find(order, c) - order.begin(); };
  auto step = [&](Class c) { return getStoreStride(c); };
  for (SmallVector<Class> *list : {&dot.m, &dot.n}) {
    sortBySteps(*list, step);
    keepLargestRun(*list, dot.batch);
  }
  sortBySteps(dot.batch, step);
  orderContracted(dot);
  // The columns are what the results have as neighbours; the transposed product gives the transposed
  // result.
  int64_t rowStep = getStoreStride(dot.m.back()), columnStep = getStoreStride(dot.n.back());
  bool swap = rowStep == columnStep ? rank(dot.n.front()) < rank(dot.m.front()) : rowStep < columnStep;
  auto turn = [&] {
    std::swap(dot.m, dot.n);
    std::swap(dot.lhs, dot.rhs);
  };
  if (swap)
    turn();
  if (shouldSwapFactors(dot))
    turn();
  SmallVector<Class> front(dot.batch);
  llvm::append_range(front, dot.m);
  if (rank(dot.k.front()) < rank(dot.n.front())) {
    llvm::append_range(front, dot.k);
    llvm::append_range(front, dot.n);
  } else {
    llvm::append_range(front, dot.n);
    llvm::append_range(front, dot.k);
  }
  size_t at = order.size();
  for (Class c : front)
    at = std::min<size_t>(at, rank(c));
  llvm::erase_if(order, [&](Class c) { return llvm::is_contained(front, c); });
  order.insert(order.begin() + std::min(at, order.size()), front.begin(), front.end());
}

} // namespace zyx::lowering
