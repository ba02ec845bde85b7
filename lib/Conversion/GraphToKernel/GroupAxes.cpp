//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GroupAxes.h"

#include "zyx/Dialect/Graph/Analysis/Attention.h"

#include "Elements.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

static ArrayRef<int64_t> getShape(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static SmallVector<unsigned> getNonUnitDims(Value value) {
  SmallVector<unsigned> dims;
  for (auto [i, extent] : llvm::enumerate(getShape(value)))
    if (extent != 1)
      dims.push_back(i);
  return dims;
}

/// Views that only move axes: expand, permute, and reshapes that add or drop dimensions of extent 1.
static bool movesAxesOnly(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape)
    return isa<ExpandOp, PermuteOp>(op);
  auto kept = [](Value value) {
    return llvm::filter_to_vector(getShape(value), [](int64_t extent) { return extent != 1; });
  };
  return kept(reshape.getX()) == kept(reshape.getResult());
}

//===----------------------------------------------------------------------===//
// Leaves and outputs
//===----------------------------------------------------------------------===//

static kernel::MapAttr applyView(Operation *op, kernel::MapAttr map) {
  ArrayRef<int64_t> shape = getShape(op->getResult(0));
  if (isa<ReshapeOp>(op))
    return kernel::reshapeMap(map, shape);
  if (auto permute = dyn_cast<PermuteOp>(op))
    return kernel::permuteMap(map, permute.getOrder());
  if (auto flip = dyn_cast<FlipOp>(op))
    return kernel::flipMap(map, flip.getDims());
  if (auto pad = dyn_cast<PadOp>(op))
    return kernel::padMap(map, pad.getLow(), pad.getHigh());
  if (auto window = dyn_cast<WindowOp>(op)) {
    SmallVector<int64_t> counts;
    for (int64_t dim : window.getDims())
      counts.push_back(shape[dim]);
    return kernel::windowMap(map, window.getDims(), counts, window.getSize(), window.getStride(), window.getDilation());
  }
  return kernel::expandMap(map, shape);
}

/// What a pad puts beside the elements, where it is known and nothing is put between them.
static TypedAttr getFill(PadOp op) {
  auto fill = op.getFill().getDefiningOp<ConstantOp>();
  bool isDense = llvm::all_of(op.getInterior(), [](int64_t count) { return count == 0; });
  return fill && isDense ? getSplatElement(fill.getValue()) : TypedAttr();
}

/// What a reduction over no elements gives.
static TypedAttr getReductionOfNothing(ReduceOp op) {
  Type element = toSignless(getElementTypeOrSelf(op.getResult().getType()));
  Builder builder(op.getContext());
  if (auto format = dyn_cast<FloatType>(element))
    return builder.getFloatAttr(format, op.getKind() == ReduceKind::Mul ? 1.0 : 0.0);
  unsigned width = element.getIntOrFloatBitWidth();
  if (op.getKind() == ReduceKind::And)
    return builder.getIntegerAttr(element, APInt::getAllOnes(width));
  return builder.getIntegerAttr(element, APInt(width, op.getKind() == ReduceKind::Mul ? 1 : 0));
}

void GroupAxes::findLeaves() {
  MLIRContext *context = group.getContext();
  Block &block = group.getBlock();
  auto addLeaf = [&](Value value) { leaves[value] = {value, kernel::MapAttr::identity(context, getShape(value)), {}}; };
  for (Value argument : block.getArguments())
    addLeaf(argument);
  for (Operation &op : block.without_terminator()) {
    Value result = op.getResult(0);
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      DenseElementsAttr value = constant.getValue();
      if (value.isSplat()) {
        splats[result] = getSplatElement(value);
      } else {
        constants.push_back(constant);
        addLeaf(result);
      }
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      ArrayRef<int64_t> shape = getShape(reduce.getX());
      if (llvm::any_of(reduce.getDims(), [&](int64_t dim) { return shape[dim] == 0; }))
        splats[result] = getReductionOfNothing(reduce);
    } else if (isView(&op)) {
      Value x = op.getOperand(0);
      auto pad = dyn_cast<PadOp>(op);
      TypedAttr fill = pad ? getFill(pad) : TypedAttr();
      const Leaf *leaf = getLeaf(x);
      if (pad && !fill)
        continue;
      if (leaf && (!pad || !leaf->fill || leaf->fill == fill)) {
        Leaf viewed = {leaf->root, applyView(&op, leaf->map), pad ? fill : leaf->fill};
        // What is nothing but fill reads no memory.
        if (viewed.fill && !llvm::is_contained(getShape(result), 0) && !kernel::hasElements(viewed.map))
          splats[result] = viewed.fill;
        else
          leaves[result] = viewed;
      } else if (TypedAttr element = getSplat(x); element && (!pad || element == fill)) {
        splats[result] = element;
      }
    }
  }
}

/// Marks the ops that the results need. Reshapes and permutes of results become maps of the stores.
LogicalResult GroupAxes::findNeeded(kernel::Refusal &refusal) {
  MLIRContext *context = group.getContext();
  Operation *yield = group.getBlock().getTerminator();
  SmallVector<Value> work;
  for (Value value : yield->getOperands()) {
    kernel::MapAttr map = kernel::MapAttr::identity(context, getShape(value));
    for (Operation *op = value.getDefiningOp();
         isa_and_nonnull<ReshapeOp, PermuteOp>(op) && !getLeaf(value) && !getSplat(value); op = value.getDefiningOp()) {
      Value x = op->getOperand(0);
      if (auto permute = dyn_cast<PermuteOp>(op)) {
        SmallVector<int64_t> inverse(permute.getOrder().size());
        for (auto [i, dim] : llvm::enumerate(permute.getOrder()))
          inverse[dim] = i;
        map = kernel::permuteMap(map, inverse);
      } else {
        map = kernel::reshapeMap(map, getShape(x));
      }
      value = x;
    }
    outputs.push_back({value, map});
    if (!llvm::is_contained(getShape(value), 0))
      work.push_back(value);
  }
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (getLeaf(value) || getSplat(value) || !needed.insert(op).second)
      continue;
    if (isa<ConcatOp, TransferOp, FlipOp, PadOp, WindowOp>(op))
      return refusal.at(op) << "is taken apart before groups are formed, or reads the memory that a "
                               "group is given";
    if (isView(op) && !movesAxesOnly(op))
      return refusal.at(op) << "splits or merges dimensions of a value that its group computes";
    llvm::append_range(work, op->getOperands());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Classes of dimensions
//===----------------------------------------------------------------------===//

unsigned GroupAxes::getNode(Value value, unsigned dim) {
  auto [found, isNew] = nodes.try_emplace({value, dim}, nodes.size());
  if (isNew)
    classes.grow(nodes.size());
  return found->second;
}

void GroupAxes::join(Value a, unsigned dimA, Value b, unsigned dimB) {
  classes.join(getNode(a, dimA), getNode(b, dimB));
}

GroupAxes::Class GroupAxes::getClass(Value value, unsigned dim) const {
  if (getShape(value)[dim] == 1)
    return unit;
  return classes.findLeader(nodes.lookup({value, dim}));
}

/// Dimensions that must be walked together become one class.
void GroupAxes::unify() {
  auto addNodes = [&](Value value) {
    for (unsigned dim = 0; dim != getShape(value).size(); ++dim)
      getNode(value, dim);
  };
  for (const Output &output : outputs)
    addNodes(output.value);
  for (Operation &op : group.getBlock().without_terminator()) {
    if (!isNeeded(&op))
      continue;
    Value result = op.getResult(0);
    addNodes(result);
    for (Value operand : op.getOperands())
      addNodes(operand);
    if (isElementwise(&op)) {
      for (Value operand : op.getOperands())
        for (unsigned dim = 0; dim != getShape(operand).size(); ++dim)
          join(result, dim, operand, dim);
    } else if (auto permute = dyn_cast<PermuteOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(permute.getOrder()))
        join(result, i, permute.getX(), dim);
    } else if (auto expand = dyn_cast<ExpandOp>(op)) {
      for (auto [i, extent] : llvm::enumerate(getShape(result)))
        if (extent == getShape(expand.getX())[i])
          join(result, i, expand.getX(), i);
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      for (auto [to, from] : llvm::zip_equal(getNonUnitDims(result), getNonUnitDims(reshape.getX())))
        join(result, to, reshape.getX(), from);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      unsigned kept = 0;
      for (unsigned dim = 0; dim != getShape(reduce.getX()).size(); ++dim)
        if (!llvm::is_contained(reduce.getDims(), dim))
          join(result, kept++, reduce.getX(), dim);
    } else if (auto gather = dyn_cast<GatherOp>(op)) {
      unsigned indexRank = getShape(gather.getIndices()).size(), at = gather.getDim();
      for (unsigned i = 0; i != indexRank; ++i)
        join(result, at + i, gather.getIndices(), i);
      for (unsigned dim = 0; dim != getShape(gather.getX()).size(); ++dim)
        if (dim != at)
          join(result, dim < at ? dim : dim + indexRank - 1, gather.getX(), dim);
    }
  }
  for (auto [node, number] : nodes)
    if (int64_t extent = getShape(node.first)[node.second]; extent != 1)
      extents[classes.findLeader(number)] = extent;
}

/// A value whose two dimensions are one axis would be read along its diagonal.
Operation *GroupAxes::findConflict() {
  auto conflicts = [&](Value value) {
    llvm::SmallSet<Class, 4> seen;
    for (unsigned dim = 0; dim != getShape(value).size(); ++dim)
      if (Class c = getClass(value, dim); c != unit && !seen.insert(c).second)
        return true;
    return false;
  };
  for (Operation &op : group.getBlock().without_terminator()) {
    if (!isNeeded(&op))
      continue;
    if (llvm::any_of(op.getOperands(), conflicts) || conflicts(op.getResult(0)))
      return &op;
    // What a gather reads is stepped over by data: no tile of it ties its dimensions to others.
    if (auto gather = dyn_cast<GatherOp>(op); gather && !gather.getX().hasOneUse())
      return &op;
  }
  return nullptr;
}

int64_t GroupAxes::getStride(Value value, kernel::MapAttr map, Class c) const {
  for (unsigned dim = 0; dim != getShape(value).size(); ++dim)
    if (getClass(value, dim) == c)
      return *kernel::BlockAttr::constant(map.front().getStrides()[dim]);
  return 0;
}

int64_t GroupAxes::getMemoryStride(Value value, kernel::MapAttr map, Class c) const {
  int64_t step = std::abs(getStride(value, map, c));
  for (kernel::BlockAttr block : map.getBlocks().drop_front()) {
    int64_t next = 0;
    for (unsigned dim = block.getRank(); dim-- > 0;) {
      const int64_t extent = *kernel::BlockAttr::constant(block.getShape()[dim]);
      const int64_t own = dim == 0 || extent == 0 ? step : step % extent;
      next += own * std::abs(*kernel::BlockAttr::constant(block.getStrides()[dim]));
      step = dim == 0 || extent == 0 ? 0 : step / extent;
    }
    step = next;
  }
  return step;
}

bool GroupAxes::isWhole(Value value, kernel::MapAttr map, Class c) const {
  for (unsigned dim = 0; dim != getShape(value).size(); ++dim)
    if (getClass(value, dim) == c)
      return kernel::isWhole(map, dim);
  return true;
}

void GroupAxes::findVarying() {
  auto addLeaf = [&](Value value) {
    const Leaf *leaf = getLeaf(value);
    if (!leaf || varying.contains(value))
      return;
    auto &set = varying[value];
    for (unsigned dim = 0; dim != getShape(value).size(); ++dim)
      if (Class c = getClass(value, dim);
          c != unit && (getStride(value, leaf->map, c) != 0 || !isWhole(value, leaf->map, c)))
        set.insert(c);
  };
  for (const Output &output : outputs)
    addLeaf(output.value);
  for (Operation &op : group.getBlock().without_terminator()) {
    if (!isNeeded(&op))
      continue;
    llvm::SmallSet<Class, 4> set;
    for (Value operand : op.getOperands()) {
      addLeaf(operand);
      for (Class c : varying[operand])
        set.insert(c);
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      for (int64_t dim : reduce.getDims())
        set.erase(getClass(reduce.getX(), dim));
    } else if (auto gather = dyn_cast<GatherOp>(op)) {
      set.erase(getClass(gather.getX(), gather.getDim()));
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      if (Class c = getClass(iota.getResult(), iota.getDim()); c != unit)
        set.insert(c);
    }
    varying[op.getResult(0)] = set;
  }
}

/// What is gathered from lies in memory, or is known without computing it at the index.
LogicalResult GroupAxes::checkGathers(kernel::Refusal &refusal) {
  for (auto op : group.getBlock().getOps<GatherOp>()) {
    Value x = op.getX();
    TypedAttr fill = getLeaf(x) ? getLeaf(x)->fill : TypedAttr();
    if (isNeeded(op) && fill && fill != Builder(op.getContext()).getZeroAttr(fill.getType()))
      return refusal.at(op) << "gathers from a tensor that is padded with other elements than zero";
    if (isNeeded(op) && !getLeaf(x) && !getSplat(x) && !x.getDefiningOp<IotaOp>() &&
        getVaryingClasses(x).contains(getClass(x, op.getDim())))
      return refusal.at(op) << "gathers from a value that its group computes";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

bool GroupAxes::hasClass(Value value, Class c) const {
  for (unsigned dim = 0; dim != getShape(value).size(); ++dim)
    if (getClass(value, dim) == c)
      return true;
  return false;
}

/// Classes in the order of the dimensions of the values that have most: the innermost dimension of
/// tiles is that of memory where values agree.
void GroupAxes::orderClasses() {
  SmallVector<Value> values;
  // A dimension that only a gather steps over is none of a tile.
  llvm::SmallSet<Class, 8> inTiles;
  auto addAll = [&](Value value) {
    for (unsigned dim = 0; dim != getShape(value).size(); ++dim)
      inTiles.insert(getClass(value, dim));
  };
  for (const Output &output : outputs) {
    values.push_back(output.value);
    addAll(output.value);
  }
  for (Operation &op : group.getBlock().without_terminator()) {
    if (!isNeeded(&op))
      continue;
    llvm::append_range(values, op.getOperands());
    values.push_back(op.getResult(0));
    for (Class c : getVaryingClasses(op.getResult(0)))
      inTiles.insert(c);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      addAll(reduce.getX());
  }
  size_t rank = 0;
  for (Value value : values)
    rank = std::max(rank, getNonUnitDims(value).size());
  SmallVector<Value> sorted;
  for (size_t r = rank + 1; r-- > 0;)
    llvm::copy_if(values, std::back_inserter(sorted), [&](Value value) { return getNonUnitDims(value).size() == r; });
  for (Value value : sorted) {
    // Each new class goes behind the class of the dimension before it.
    size_t at = 0;
    for (unsigned dim = 0; dim != getShape(value).size(); ++dim) {
      Class c = getClass(value, dim);
      if (c == unit || !inTiles.contains(c))
        continue;
      auto known = llvm::find(order, c);
      if (known == order.end())
        known = order.insert(order.begin() + at, c);
      at = known - order.begin() + 1;
    }
  }
}

//===----------------------------------------------------------------------===//
// Collapsing
//===----------------------------------------------------------------------===//

/// True where no op tells the two classes apart.
bool GroupAxes::opsAllowMerge(Class outer, Class inner) const {
  for (Operation &op : group.getBlock().without_terminator()) {
    if (!isNeeded(&op))
      continue;
    if (auto iota = dyn_cast<IotaOp>(op)) {
      Class c = getClass(iota.getResult(), iota.getDim());
      if (c == outer || c == inner)
        return false;
    } else if (auto gather = dyn_cast<GatherOp>(op)) {
      Class c = getClass(gather.getX(), gather.getDim());
      if (c == outer || c == inner)
        return false;
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      bool hasOuter = false, hasInner = false;
      for (int64_t dim : reduce.getDims()) {
        hasOuter |= getClass(reduce.getX(), dim) == outer;
        hasInner |= getClass(reduce.getX(), dim) == inner;
      }
      if (hasOuter != hasInner)
        return false;
    }
  }
  return true;
}

/// True where no contraction has the class in another place than the parts of an axis: the batch of one may be
/// rows of another, which has the same second factor for all of it.
bool GroupAxes::dotsAllowMerge(ArrayRef<Class> parts, Class inner) const {
  return llvm::all_of(found, [&](const ClassContraction &dot) {
    auto placeOf = [&](Class c) -> const SmallVector<Class> * {
      for (const SmallVector<Class> *list : {&dot.batch, &dot.m, &dot.n, &dot.k})
        if (llvm::is_contained(*list, c))
          return list;
      return nullptr;
    };
    const auto *place = placeOf(inner);
    return !place || llvm::all_of(parts, [&](Class part) {
      const auto *other = placeOf(part);
      return !other || other == place;
    });
  });
}

/// True where a view has both classes and steps from one to the other, or has none.
bool GroupAxes::viewAllowsMerge(Value value, kernel::MapAttr map, bool hasOuter, bool hasInner, Class outer,
                                Class inner) const {
  if (hasOuter != hasInner)
    return false;
  // One axis is one step in memory too, or its elements would have to be divided out of an index.
  const int64_t extent = getClassExtent(inner);
  return !hasOuter || (isWhole(value, map, outer) && isWhole(value, map, inner) &&
                       getStride(value, map, outer) == getStride(value, map, inner) * extent &&
                       getMemoryStride(value, map, outer) == getMemoryStride(value, map, inner) * extent);
}

/// The same of the results, which are written through one block.
bool GroupAxes::storesAllowMerge(Class outer, Class inner) const {
  if (group->hasAttr(keepsRowsAttrName) && llvm::any_of(outputs, [&](const Output &output) {
        return hasClass(output.value, inner) && getMemoryStride(output.value, output.map, inner) == 1;
      }))
    return false;
  return llvm::all_of(outputs, [&](const Output &output) {
    return llvm::is_contained(getShape(output.value), 0) ||
           viewAllowsMerge(output.value, output.map, hasClass(output.value, outer), hasClass(output.value, inner),
                           outer, inner);
  });
}

/// The same of everything that is read and written.
bool GroupAxes::viewsAllowMerge(Class outer, Class inner) const {
  auto leafMerges = [&](Value value) {
    const Leaf *leaf = getLeaf(value);
    auto set = getVaryingClasses(value);
    return !leaf || viewAllowsMerge(value, leaf->map, set.contains(outer), set.contains(inner), outer, inner);
  };
  if (!storesAllowMerge(outer, inner))
    return false;
  for (const Output &output : outputs)
    if (!llvm::is_contained(getShape(output.value), 0) && !leafMerges(output.value))
      return false;
  for (Operation &op : group.getBlock().without_terminator())
    if (isNeeded(&op) && !llvm::all_of(op.getOperands(), leafMerges))
      return false;
  return true;
}

/// Makes axes of the classes. What a dot has as one dimension is one axis even where a view that is
/// read cannot step over it: its map gets a second block.
void GroupAxes::collapse() {
  auto areFlattened = [&](Class outer, Class inner) {
    for (const ClassContraction &dot : found)
      for (const SmallVector<Class> *list : {&dot.m, &dot.n, &dot.k})
        if (llvm::is_contained(*list, outer) && llvm::is_contained(*list, inner))
          return true;
    return false;
  };
  for (Class c : order) {
    Class last = axes.empty() ? unit : axes.back().parts.back();
    if (last != unit && opsAllowMerge(last, c) && dotsAllowMerge(axes.back().parts, c) &&
        (areFlattened(last, c) ? storesAllowMerge(last, c) : viewsAllowMerge(last, c))) {
      axes.back().parts.push_back(c);
      axes.back().extent *= getClassExtent(c);
    } else {
      axes.push_back({getClassExtent(c), {c}, ""});
    }
    axisOfClass[c] = axes.size() - 1;
  }
  // A contraction whose dimensions could not be flattened stays a reduction of a product.
  llvm::erase_if(found, [&](const ClassContraction &dot) {
    return toAxes(dot.m).size() != 1 || toAxes(dot.n).size() != 1 || toAxes(dot.k).size() != 1;
  });
  for (const ClassContraction &dot : found)
    contractions[dot.op] = {dot.lhs,
                            dot.rhs,
                            toAxes(dot.batch),
                            axisOfClass[dot.m.front()],
                            axisOfClass[dot.n.front()],
                            axisOfClass[dot.k.front()]};
}

void GroupAxes::nameAxes() {
  llvm::StringMap<unsigned> used;
  auto number = [&](StringRef stem) { return (stem + Twine(used[stem]++)).str(); };
  for (const ClassContraction &dot : found) {
    const ContractionAxes &contraction = contractions[dot.op];
    for (unsigned batch : contraction.batch)
      if (axes[batch].name.empty())
        axes[batch].name = number("b");
    for (auto [stem, axis] : {std::pair("m", contraction.m), {"n", contraction.n}, {"k", contraction.k}})
      if (axes[axis].name.empty())
        axes[axis].name = used.contains(stem) ? number(stem) : (used[stem] = 1, std::string(stem));
  }
  llvm::SmallSet<unsigned, 8> parallel;
  for (const Output &output : outputs)
    for (unsigned axis : getAll(output.value))
      parallel.insert(axis);
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis.name.empty())
      axis.name = number(parallel.contains(i) ? "i" : "k");
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

AxisList GroupAxes::toAxes(ArrayRef<Class> list) const {
  AxisList result;
  for (Class c : list)
    if (auto axis = axisOfClass.find(c); axis != axisOfClass.end())
      result.push_back(axis->second);
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

AxisList GroupAxes::getVarying(Value value) const {
  auto set = getVaryingClasses(value);
  return toAxes(SmallVector<Class>(set.begin(), set.end()));
}

AxisList GroupAxes::getGatherAxes(GatherOp op) const {
  auto set = getVaryingClasses(op.getX());
  set.erase(getClass(op.getX(), op.getDim()));
  return toAxes(SmallVector<Class>(set.begin(), set.end()));
}

AxisList GroupAxes::getAll(Value value) const {
  return getAxesOf(value, llvm::to_vector(llvm::seq<int64_t>(0, getShape(value).size())));
}

AxisList GroupAxes::getAxesOf(Value value, ArrayRef<int64_t> dims) const {
  SmallVector<Class> list;
  for (int64_t dim : dims)
    list.push_back(getClass(value, dim));
  return toAxes(list);
}

kernel::MapAttr GroupAxes::selectAxes(kernel::MapAttr map, Value value, SmallVector<int64_t> dims,
                                      ArrayRef<unsigned> tileAxes) const {
  SmallVector<int64_t> partExtents, shape;
  for (int64_t dim : dims)
    partExtents.push_back(getShape(value)[dim]);
  shape = partExtents;
  for (unsigned axis : tileAxes) {
    shape.push_back(axes[axis].extent);
    for (Class part : axes[axis].parts) {
      int64_t found = -1;
      for (unsigned dim = 0; dim != getShape(value).size(); ++dim)
        if (getClass(value, dim) == part)
          found = dim;
      dims.push_back(found);
      partExtents.push_back(getClassExtent(part));
    }
  }
  kernel::MapAttr selected = kernel::selectDims(map, dims, partExtents);
  return shape == partExtents ? selected : kernel::reshapeMap(selected, shape);
}

kernel::MapAttr GroupAxes::getTileMap(kernel::MapAttr map, Value value, ArrayRef<unsigned> tileAxes) const {
  return selectAxes(map, value, {}, tileAxes);
}

kernel::MapAttr GroupAxes::getGatherMap(kernel::MapAttr map, Value value, unsigned dim,
                                        ArrayRef<unsigned> tileAxes) const {
  return selectAxes(map, value, {dim}, tileAxes);
}

LogicalResult GroupAxes::analyse(Operation *&conflict, kernel::Refusal &refusal) {
  findLeaves();
  if (failed(findNeeded(refusal)))
    return failure();
  unify();
  conflict = findConflict();
  if (conflict)
    return failure();
  findVarying();
  if (failed(checkGathers(refusal)))
    return failure();
  orderClasses();
  findContractions();
  collapse();
  nameAxes();
  return success();
}

} // namespace zyx::lowering
