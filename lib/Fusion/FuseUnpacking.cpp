//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FuseUnpacking.h"
#include "Blocks.h"
#include "GroupGraph.h"
#include "GroupRules.h"
#include "NormalizeViews.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;
using namespace zyx::fusion;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }

namespace {

/// One reduction, and the dimensions in which all that it sums up can be computed.
class Unpacking {
public:
  explicit Unpacking(ReduceOp reduce) : reduce(reduce), builder(reduce) {}
  void run();

private:
  using Atom = unsigned;
  /// Of each dimension of a value, what it is made of, outermost first: none where it is 1 or repeated.
  using Lists = SmallVector<SmallVector<Atom, 2>>;

  /// Which operands are computed from unpacked numbers, or are those.
  bool findUnpacked(Value value, int depth = 0);
  bool isUnpacked(ReshapeOp reshape);
  bool addSources(Value value, llvm::SmallSetVector<Value, 8> &sources, bool &isCheap);

  Lists resolve();
  void addLeaves(Atom atom, SmallVectorImpl<Atom> &into) const;
  /// The lists of a reshape's operand. None where its dimensions are no multiples of each other; where an atom had to
  /// be split for it, all begins anew.
  std::optional<Lists> reshape(ArrayRef<int64_t> from, const Lists &lists);
  Lists expand(ExpandOp op, const Lists &lists) const;
  Lists permute(PermuteOp op, const Lists &lists) const;
  bool align(Value value, const Lists &lists);

  /// The ops between a value and the reduction.
  struct Path {
    /// It is a part of what unpacks.
    bool isInside = false;
    /// Nobody else reads it or what is made of it.
    bool isSole = true;
    /// Values on the way that neither unpack nor are made of unpacked numbers.
    int numOthers = 0;
  };
  bool isEntered(Value value, const Path &path);
  SmallVector<int64_t> shapeOfLists(const Lists &lists) const;
  Value seenAs(Value value, ArrayRef<int64_t> shape);
  Value rebuild(Value value, const Lists &lists, Path path);
  Value rebuildAnew(Value value, const Lists &lists, const Path &path);

  ReduceOp reduce;
  OpBuilder builder;
  llvm::DenseMap<Value, bool> reaches;
  llvm::SmallPtrSet<Operation *, 4> unpacked;
  SmallVector<int64_t> extents;
  /// Outer and inner part of an atom that was split, else both 0, which no part is.
  SmallVector<std::pair<Atom, Atom>> parts;
  bool hasSplit = false;
  /// Values in dimensions in which align() and rebuild() have been there.
  llvm::DenseMap<Value, SmallVector<Lists, 1>> aligned;
  llvm::DenseMap<Value, SmallVector<std::pair<Lists, Value>, 1>> rebuilt;
};

} // namespace

/// Views on the way from unpacked numbers to what is summed up; ops that are looked at in all.
static constexpr int maxDepth = 32;

//===----------------------------------------------------------------------===//
// What is unpacked
//===----------------------------------------------------------------------===//

/// What a value is made of by element-wise ops and views. False where that is not worth looking at.
bool Unpacking::addSources(Value value, llvm::SmallSetVector<Value, 8> &sources, bool &isCheap) {
  llvm::SmallSetVector<Operation *, 32> ops;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value source = getViewSource(work.pop_back_val());
    Operation *op = source.getDefiningOp();
    if (!isElementwise(op)) {
      if (!op || !isa<ConstantOp, IotaOp>(op))
        sources.insert(source);
      continue;
    }
    if (!ops.insert(op))
      continue;
    if (ops.size() > maxGroupOps)
      return false;
    isCheap &= !isTranscendental(op);
    llvm::append_range(work, op->getOperands());
  }
  return true;
}

bool Unpacking::isUnpacked(ReshapeOp op) {
  Operation *source = getViewSource(op).getDefiningOp();
  // Of few ops it is made of inputs that are reshaped themselves, without the reshape.
  if (isUnitReshape(op) || !isElementwise(source) || canPushReshape(op) ||
      typeOf(op).getNumElements() != typeOf(reduce.getX()).getNumElements())
    return false;
  llvm::SmallSetVector<Value, 8> sources;
  bool isCheap = true;
  if (!addSources(op.getX(), sources, isCheap) || sources.empty())
    return false;
  int64_t packed = 0;
  for (Value value : sources)
    packed += bytesOf(value);
  // Floats that are only widened, as those of a norm, are no packed numbers: their reshapes move, and all readers share
  // what is computed.
  const Value largest = *llvm::max_element(sources, [](Value a, Value b) { return bytesOf(a) < bytesOf(b); });
  constexpr unsigned widestPacked = 8;
  if (isa<FloatType>(typeOf(largest).getElementType()) && typeOf(largest).getElementTypeBitWidth() > widestPacked)
    return false;
  // Others that read the numbers have them computed once more, or in memory.
  return packed < bytesOf(op) && (isCheap || (source->hasOneUse() && op->hasOneUse()));
}

bool Unpacking::findUnpacked(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == maxDepth)
    return false;
  if (auto known = reaches.find(value); known != reaches.end())
    return known->second;
  bool found = false;
  if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && isUnpacked(reshape)) {
    unpacked.insert(op);
    found = true;
  } else if (isa<ReshapeOp, ExpandOp, PermuteOp>(op) || isElementwise(op)) {
    for (Value operand : op->getOperands())
      found |= findUnpacked(operand, depth + 1);
  }
  return reaches[value] = found;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

void Unpacking::addLeaves(Atom atom, SmallVectorImpl<Atom> &into) const {
  if (parts[atom].second == 0) {
    into.push_back(atom);
    return;
  }
  addLeaves(parts[atom].first, into);
  addLeaves(parts[atom].second, into);
}

/// The lists of what is summed up.
Unpacking::Lists Unpacking::resolve() {
  Lists lists(shapeOf(reduce.getX()).size());
  for (size_t dim = 0; dim < lists.size(); ++dim)
    if (shapeOf(reduce.getX())[dim] != 1)
      addLeaves(dim, lists[dim]);
  return lists;
}

std::optional<Unpacking::Lists> Unpacking::reshape(ArrayRef<int64_t> from, const Lists &lists) {
  SmallVector<Atom> flat;
  for (ArrayRef<Atom> list : lists)
    llvm::append_range(flat, list);
  Lists result(from.size());
  size_t next = 0;
  for (size_t dim = 0; dim < from.size(); ++dim)
    for (int64_t missing = from[dim]; missing != 1;) {
      if (next == flat.size())
        return std::nullopt;
      const Atom atom = flat[next];
      const int64_t extent = extents[atom];
      if (missing % extent == 0) {
        result[dim].push_back(atom);
        missing /= extent;
        ++next;
        continue;
      }
      if (extent % missing != 0)
        return std::nullopt;
      parts[atom] = {extents.size(), extents.size() + 1};
      extents.append({missing, extent / missing});
      parts.append(2, {0, 0});
      hasSplit = true;
      return std::nullopt;
    }
  return next == flat.size() ? std::optional(result) : std::nullopt;
}

Unpacking::Lists Unpacking::expand(ExpandOp op, const Lists &lists) const {
  Lists result = lists;
  for (auto [list, extent] : llvm::zip_equal(result, shapeOf(op.getX())))
    if (extent == 1)
      list.clear();
  return result;
}

Unpacking::Lists Unpacking::permute(PermuteOp op, const Lists &lists) const {
  Lists result(lists.size());
  for (auto [list, dim] : llvm::zip_equal(lists, op.getOrder()))
    result[dim] = list;
  return result;
}

/// Whether all reshapes on the way to unpacked numbers, and of others that are computed on it, are views of whole
/// atoms. Where they are not, or an atom was split, the answer is false at once.
bool Unpacking::align(Value value, const Lists &lists) {
  if (!reaches.lookup(value) || llvm::is_contained(aligned[value], lists))
    return true;
  aligned[value].push_back(lists);
  Operation *op = value.getDefiningOp();
  if (auto view = dyn_cast<ReshapeOp>(op)) {
    const std::optional<Lists> inner = reshape(shapeOf(view.getX()), lists);
    return inner && (unpacked.contains(op) || align(view.getX(), *inner));
  }
  if (auto view = dyn_cast<ExpandOp>(op))
    return align(view.getX(), expand(view, lists));
  if (auto view = dyn_cast<PermuteOp>(op))
    return align(view.getX(), permute(view, lists));
  return llvm::all_of(op->getOperands(), [&](Value operand) { return align(operand, lists); });
}

//===----------------------------------------------------------------------===//
// The same in other dimensions
//===----------------------------------------------------------------------===//

SmallVector<int64_t> Unpacking::shapeOfLists(const Lists &lists) const {
  SmallVector<int64_t> shape;
  for (ArrayRef<Atom> list : lists) {
    if (list.empty())
      shape.push_back(1);
    for (Atom atom : list)
      shape.push_back(extents[atom]);
  }
  return shape;
}

Value Unpacking::seenAs(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return ReshapeOp::create(builder, value.getLoc(), typeOf(value).clone(shape), value);
}

/// What is computed for other readers, or in fewer elements and no part of what unpacks, is read where it is.
bool Unpacking::isEntered(Value value, const Path &path) {
  Operation *op = value.getDefiningOp();
  if (!op || !(isElementwise(op) || isa<ReshapeOp, ExpandOp, PermuteOp>(op)))
    return false;
  if (path.isInside || reaches.lookup(value))
    return path.isInside || path.isSole || !isTranscendental(op);
  return path.numOthers <= maxDepth &&
         (isa<ExpandOp, PermuteOp>(op) || (isElementwise(op) && path.isSole &&
                                           typeOf(value).getNumElements() == typeOf(reduce.getX()).getNumElements()));
}

Value Unpacking::rebuild(Value value, const Lists &lists, Path path) {
  for (const auto &[known, result] : rebuilt[value])
    if (known == lists)
      return result;
  path.isSole &= value.hasOneUse();
  path.numOthers += !path.isInside && !reaches.lookup(value);
  Value result = rebuildAnew(value, lists, path);
  rebuilt[value].emplace_back(lists, result);
  return result;
}

Value Unpacking::rebuildAnew(Value value, const Lists &lists, const Path &path) {
  Operation *op = value.getDefiningOp();
  const SmallVector<int64_t> shape = shapeOfLists(lists);
  if (auto constant = dyn_cast_or_null<ConstantOp>(op); constant && constant.getValue().isSplat()) {
    RankedTensorType type = typeOf(value).clone(shape);
    return ConstantOp::create(builder, op->getLoc(), type, constant.getValue().resizeSplat(type));
  }
  if (auto iota = dyn_cast_or_null<IotaOp>(op); iota && lists[iota.getDim()].size() < 2) {
    size_t dim = 0;
    for (ArrayRef<Atom> list : ArrayRef(lists).take_front(iota.getDim()))
      dim += std::max<size_t>(list.size(), 1);
    Operation *clone = builder.clone(*op);
    cast<IotaOp>(clone).setDim(dim);
    clone->getResult(0).setType(typeOf(value).clone(shape));
    return clone->getResult(0);
  }
  if (!isEntered(value, path))
    return seenAs(value, shape);
  if (auto view = dyn_cast<ExpandOp>(op)) {
    Value x = rebuild(view.getX(), expand(view, lists), path);
    SmallVector<int64_t> narrow;
    for (auto [list, extent] : llvm::zip_equal(lists, shapeOf(view.getX())))
      if (list.empty())
        narrow.push_back(1);
      else
        for (Atom atom : list)
          narrow.push_back(extent == 1 ? 1 : extents[atom]);
    x = seenAs(x, narrow);
    return narrow == shape ? x : ExpandOp::create(builder, op->getLoc(), typeOf(x).clone(shape), x);
  }
  if (auto view = dyn_cast<PermuteOp>(op)) {
    const Lists inner = permute(view, lists);
    SmallVector<int64_t> begins, order;
    int64_t count = 0;
    for (ArrayRef<Atom> list : inner) {
      begins.push_back(count);
      count += std::max<int64_t>(list.size(), 1);
    }
    for (int64_t dim : view.getOrder())
      for (int64_t i = 0; i < std::max<int64_t>(inner[dim].size(), 1); ++i)
        order.push_back(begins[dim] + i);
    Value x = rebuild(view.getX(), inner, path);
    return PermuteOp::create(builder, op->getLoc(), typeOf(x).clone(shape), x, order);
  }
  if (auto view = dyn_cast<ReshapeOp>(op)) {
    // Of inputs in other dimensions it is a load, whatever it does.
    const std::optional<Lists> inner = isElementwise(getViewSource(view).getDefiningOp()) || reaches.lookup(value)
                                           ? reshape(shapeOf(view.getX()), lists)
                                           : std::nullopt;
    if (!inner)
      return seenAs(value, shape);
    Path next = path;
    next.isInside |= unpacked.contains(op);
    return seenAs(rebuild(view.getX(), *inner, next), shape);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(rebuild(operand, lists, path));
  return zyx::fusion::cloneWith(builder, op, operands, typeOf(value).clone(shape));
}

void Unpacking::run() {
  if (llvm::is_contained(shapeOf(reduce.getX()), 0) || !findUnpacked(reduce.getX()))
    return;
  // Atoms of dimensions come first, by their numbers.
  llvm::append_range(extents, shapeOf(reduce.getX()));
  parts.assign(extents.size(), {0, 0});
  bool fits = false;
  do {
    hasSplit = false;
    aligned.clear();
    fits = align(reduce.getX(), resolve());
  } while (hasSplit);
  const Lists lists = resolve();
  SmallVector<int64_t> dims;
  int64_t count = 0;
  for (auto [dim, list] : llvm::enumerate(lists)) {
    const int64_t size = std::max<int64_t>(list.size(), 1);
    const bool isReduced = llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim));
    // Results in several dimensions would be seen through a reshape by whoever reads them.
    fits &= isReduced || size == 1;
    for (int64_t i = 0; i < size && isReduced; ++i)
      dims.push_back(count + i);
    count += size;
  }
  if (!fits)
    return;
  Value x = rebuild(reduce.getX(), lists, {});
  reduce.getXMutable().assign(x);
  reduce.setDims(dims);
}

void zyx::fusion::fuseUnpacking(Block &block) {
  for (auto reduce : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
    Unpacking(reduce).run();
  eraseUnused(block);
}
