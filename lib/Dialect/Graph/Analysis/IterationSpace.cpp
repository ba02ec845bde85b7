//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/IterationSpace.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Result;
using zyx::Status;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

bool zyx::graph::ir::isSubset(ArrayRef<Axis> set, ArrayRef<Axis> of) {
  return std::includes(of.begin(), of.end(), set.begin(), set.end());
}

AxisSet IterationSpace::getAxisSet(Value value) const {
  AxisSet set;
  for (Axis axis : getAxes(value))
    if (axis >= 0)
      set.push_back(axis);
  llvm::sort(set);
  return set;
}

int64_t IterationSpace::getNumPoints(ArrayRef<Axis> set) const {
  int64_t points = 1;
  for (Axis axis : set)
    points *= extents[axis];
  return points;
}

namespace zyx::graph::ir {

/// Ties dimensions, then numbers the classes.
class IterationSpaceBuilder {
public:
  /// Uses of one value from outside tie its dimensions where that is asked for.
  IterationSpaceBuilder(const IterationSpace::Ops &ops, ValueRange outputs, bool tiesInputs)
      : ops(ops), outputs(outputs), tiesInputs(tiesInputs) {}

  Result<IterationSpace> build() {
    for (Operation *op : ops)
      ZYX_RETURN_IF_ERROR(addOp(op));
    for (Operation *op : ops)
      ZYX_RETURN_IF_ERROR(numberAxes(op));
    ZYX_RETURN_IF_ERROR(findRows());
    return std::move(space);
  }

private:
  /// Class members are numbered; -1 stands for a dimension of extent 1.
  using Classes = SmallVector<int>;

  Classes makeClasses(ArrayRef<int64_t> shape) {
    Classes result;
    for (int64_t extent : shape) {
      result.push_back(extent == 1 ? -1 : static_cast<int>(classExtents.size()));
      if (extent != 1)
        classExtents.push_back(extent);
    }
    tied.grow(classExtents.size());
    return result;
  }

  /// Ties the dimensions of a use to those of the value that it reads, where an op of the set
  /// computes that. `use` has a class per dimension of `operand`.
  Status tie(Value operand, ArrayRef<int> use) {
    Value source = getViewSource(operand);
    auto known = classes.find(source);
    bool isIota = source.getDefiningOp<IotaOp>();
    if (known == classes.end() && !isIota) {
      auto [before, isFirst] = inputClasses.try_emplace(operand, Classes(use));
      if (tiesInputs && !isFirst)
        for (auto [member, other] : llvm::zip(use, before->second))
          if (member >= 0)
            tied.join(member, other);
      return Status::ok();
    }
    auto dims = getSourceDims(operand);
    if (!dims) {
      for (Operation *op = operand.getDefiningOp(); isView(op); op = op->getOperand(0).getDefiningOp())
        if (isa<FlipOp, PadOp, WindowOp>(op))
          return Status::unsupported("a flip, pad or window reads what the same kernel computes");
      return Status::unsupported("a reshape of a computed value changes more than unit dimensions");
    }
    for (auto [member, dim] : llvm::zip(use, *dims))
      if (dim && !isIota)
        tied.join(member, known->second[*dim]);
    return Status::ok();
  }

  Status addOp(Operation *op) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      Classes operand = makeClasses(shapeOf(reduce.getX())), result;
      for (auto [dim, member] : llvm::enumerate(operand))
        if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim)))
          result.push_back(member);
      ZYX_RETURN_IF_ERROR(tie(reduce.getX(), operand));
      space.reduces.push_back(reduce);
      operandClasses[op] = std::move(operand);
      classes[reduce] = std::move(result);
      return Status::ok();
    }
    Value value = op->getResult(0);
    Classes result = makeClasses(shapeOf(value));
    if (isOrderOp(op)) {
      if (ops.size() != 1)
        return Status::unsupported("a scan, sort or scatter is a kernel of its own");
      classes[value] = std::move(result);
      return Status::ok();
    }
    if (auto gather = dyn_cast<GatherOp>(op)) {
      if (classes.contains(getViewSource(gather.getX())))
        return Status::unsupported("a gather reads what the same kernel computes");
      size_t rank = shapeOf(gather.getIndices()).size();
      ZYX_RETURN_IF_ERROR(tie(gather.getIndices(), ArrayRef(result).slice(gather.getDim(), rank)));
    } else if (isView(op)) {
      ZYX_RETURN_IF_ERROR(tie(value, result));
    } else if (isa<ConcatOp, TransferOp>(op)) {
      return Status::unsupported("an op is left that is taken apart before groups are formed");
    } else {
      for (Value operand : op->getOperands())
        ZYX_RETURN_IF_ERROR(tie(operand, result));
    }
    classes[value] = std::move(result);
    return Status::ok();
  }

  Axis toAxis(int member) {
    if (member < 0)
      return -1;
    auto [entry, isNew] = axisOf.try_emplace(tied.findLeader(member), space.extents.size());
    if (isNew)
      space.extents.push_back(classExtents[member]);
    return entry->second;
  }

  static bool hasTwice(ArrayRef<Axis> axes) {
    llvm::SmallDenseSet<Axis> seen;
    return llvm::any_of(axes, [&](Axis axis) { return axis >= 0 && !seen.insert(axis).second; });
  }

  Status numberAxes(Operation *op) {
    auto toAxes = [&](ArrayRef<int> members) {
      return llvm::map_to_vector(members, [&](int member) { return toAxis(member); });
    };
    Value value = op->getResult(0);
    SmallVector<Axis> axes = toAxes(classes[value]), operandAxes;
    if (isa<ReduceOp>(op))
      operandAxes = toAxes(operandClasses[op]);
    if (hasTwice(axes) || hasTwice(operandAxes))
      return Status::unsupported("one axis would walk along two dimensions of a value");
    space.axes[value] = std::move(axes);
    space.operandAxes[op] = std::move(operandAxes);
    return Status::ok();
  }

  /// The attention that the reduces are, with nothing left to divide before its last sum.
  std::optional<Attention> findAttention() {
    for (ReduceOp reduce : space.reduces)
      if (auto found = matchAttention(reduce); found && found->beside.empty() && ops.contains(found->scores) &&
                                               ops.contains(found->max) && ops.contains(found->exp))
        return found;
    return std::nullopt;
  }

  Status findAttentionRows() {
    Attention &found = *space.attention;
    space.rowAxes = space.getAxisSet(found.max);
    const Axis keys = space.getOperandAxes(found.max)[found.max.getDims().front()];
    AxisSet withKeys = space.rowAxes;
    withKeys.push_back(keys);
    llvm::sort(withKeys);
    for (ReduceOp reduce : space.reduces) {
      AxisSet kept = space.getAxisSet(reduce);
      if (reduce == found.scores) {
        if (kept != withKeys)
          return Status::unsupported("the sums of an attention have other axes than its softmax");
        continue;
      }
      if (space.getOperandAxes(reduce)[reduce.getDims().front()] != keys ||
          (reduce == found.output ? !isSubset(space.rowAxes, kept) : kept != space.rowAxes))
        return Status::unsupported("the sums of an attention have other axes than its softmax");
      if (reduce != found.output && reduce != found.max && !isSumOf(reduce, found.exp))
        return Status::unsupported("an attention stands alone among reductions");
    }
    for (Value output : outputs) {
      AxisSet set = space.getAxisSet(output);
      if (llvm::is_contained(set, keys))
        return Status::unsupported("a result of an attention has an element per key");
      if (!isSubset(space.rowAxes, set))
        return Status::unsupported("its results do not share their rows");
    }
    return Status::ok();
  }

  /// The contractions that reduces of others' results are, with those; none where one is no contraction,
  /// or none reads another.
  std::optional<ContractionChain> findChain() {
    ContractionChain found;
    llvm::SmallPtrSet<Operation *, 16> afterReduce;
    for (Operation *op : ops) {
      auto reduce = dyn_cast<ReduceOp>(op);
      bool isAfter = llvm::any_of(op->getOperands(), [&](Value operand) {
        return afterReduce.contains(getViewSource(operand).getDefiningOp());
      });
      if (isAfter || reduce)
        afterReduce.insert(op);
      if (!reduce)
        continue;
      if (reduce.getDims().size() != 1 || !matchContraction(reduce))
        return std::nullopt;
      (isAfter ? found.sums : found.inner).push_back(reduce);
    }
    if (found.inner.empty() || found.sums.empty())
      return std::nullopt;
    found.walked = reducedAxis(found.sums.front());
    return found;
  }

  /// The sum over batches of what is computed of products; none where the reduces are none.
  std::optional<ProductsSum> findProductsSum() {
    ProductsSum found;
    for (ReduceOp reduce : space.reduces) {
      const std::optional<Contraction> product = matchContraction(reduce);
      if (product && reduce.getDims().size() == 1 && product->first.size() == 1 && product->second.size() == 1)
        found.inner.push_back(reduce);
      else if (!product && !found.sum && reduce.getKind() == ReduceKind::Add &&
               cast<RankedTensorType>(reduce.getType()).getElementType().isF32())
        found.sum = reduce;
      else
        return std::nullopt;
    }
    return found.sum && !found.inner.empty() ? std::optional(found) : std::nullopt;
  }

  Status findProductsSumRows() {
    ProductsSum &found = *space.productsSum;
    space.rowAxes = space.getAxisSet(found.sum);
    AxisSet all;
    for (Axis axis : space.getOperandAxes(found.sum))
      if (axis >= 0)
        all.push_back(axis);
    llvm::sort(all);
    llvm::SmallPtrSet<Operation *, 16> before, behind;
    for (ReduceOp inner : found.inner) {
      const Contraction product = *matchContraction(inner);
      const auto isOfBatches = [&](Axis axis) { return axis >= 0 && !llvm::is_contained(space.rowAxes, axis); };
      auto axisOf = [&](int64_t dim) { return space.getOperandAxes(inner)[dim]; };
      if (space.getAxisSet(inner) != all || all.size() == space.rowAxes.size() ||
          isOfBatches(axisOf(product.first.front())) || isOfBatches(axisOf(product.second.front())))
        return Status::unsupported("its reductions keep different axes");
      before.insert(inner);
    }
    for (Operation *op : ops) {
      auto reads = [&](const llvm::SmallPtrSet<Operation *, 16> &set) {
        return llvm::any_of(op->getOperands(),
                            [&](Value operand) { return set.contains(getViewSource(operand).getDefiningOp()); });
      };
      const bool isInner = llvm::is_contained(found.inner, dyn_cast<ReduceOp>(op));
      if (isInner && (reads(behind) || llvm::any_of(op->getOperands(), [&](Value operand) {
                        auto product = operand.getDefiningOp<BinaryOp>();
                        return llvm::any_of(product.getOperands(), [&](Value factor) {
                          return before.contains(getViewSource(factor).getDefiningOp());
                        });
                      })))
        return Status::unsupported("its reductions keep different axes");
      if (op != found.sum.getOperation() && !isInner && reads(before))
        before.insert(op);
      if (op == found.sum.getOperation() || reads(behind))
        behind.insert(op);
    }
    for (Value output : outputs)
      if (space.getAxisSet(output) != space.rowAxes || !behind.contains(output.getDefiningOp()))
        return Status::unsupported("its results do not share their rows");
    return Status::ok();
  }

  Axis reducedAxis(ReduceOp reduce) { return space.getOperandAxes(reduce)[reduce.getDims().front()]; }

  Status findChainRows() {
    ContractionChain &chain = *space.chain;
    const AxisSet scores = space.getAxisSet(chain.inner.front());
    for (Axis axis : scores)
      if (axis != chain.walked)
        space.rowAxes.push_back(axis);
    llvm::SmallDenseSet<Axis> features;
    for (ReduceOp inner : chain.inner) {
      if (space.getAxisSet(inner) != scores || scores.size() == space.rowAxes.size())
        return Status::unsupported(
            "its products keep other axes than those of its rows and the one they are summed along");
      features.insert(reducedAxis(inner));
    }
    for (ReduceOp sum : chain.sums) {
      AxisSet kept = space.getAxisSet(sum);
      if (reducedAxis(sum) != chain.walked || !isSubset(space.rowAxes, kept) || kept.size() != space.rowAxes.size() + 1)
        return Status::unsupported("its sums of products are along different axes, or keep others than its rows");
      // A part of such an axis would be a part of a product.
      if (llvm::any_of(kept, [&](Axis axis) { return features.contains(axis); }))
        return Status::unsupported("a result has an axis along which a product is summed up");
    }
    return checkBehindSums(chain);
  }

  /// What is made of complete sums does not walk along with them.
  Status checkBehindSums(ContractionChain &chain) {
    llvm::SmallPtrSet<Operation *, 16> behind;
    for (Operation *op : ops) {
      bool isBehind = llvm::any_of(
          op->getOperands(), [&](Value operand) { return behind.contains(getViewSource(operand).getDefiningOp()); });
      if (isBehind && (isa<ReduceOp>(op) || llvm::is_contained(space.getAxisSet(op->getResult(0)), chain.walked)))
        return Status::unsupported("a sum of products is needed before it is complete");
      auto reduce = dyn_cast<ReduceOp>(op);
      if (isBehind || (reduce && llvm::is_contained(chain.sums, reduce)))
        behind.insert(op);
    }
    for (Value output : outputs) {
      AxisSet set = space.getAxisSet(output);
      if (llvm::is_contained(set, chain.walked))
        return Status::unsupported("a result has an element for each that is summed up");
      if (!isSubset(space.rowAxes, set))
        return Status::unsupported("its results do not share their rows");
    }
    return Status::ok();
  }

  Axis extraAxis(const AxisSet &kept) {
    AxisSet extra;
    std::set_difference(kept.begin(), kept.end(), space.rowAxes.begin(), space.rowAxes.end(),
                        std::back_inserter(extra));
    return extra.size() == 1 ? extra.front() : -1;
  }

  /// Crossed sums, whose results across rows nobody reads before they are complete; none where the reduces are none.
  std::optional<RowAndColumnReductions> findRowAndColumnReductions() {
    AxisSet kept = space.getAxisSet(space.reduces.front());
    for (ReduceOp reduce : space.reduces) {
      AxisSet both, other = space.getAxisSet(reduce);
      std::set_intersection(kept.begin(), kept.end(), other.begin(), other.end(), std::back_inserter(both));
      kept = both;
    }
    space.rowAxes = kept;
    RowAndColumnReductions found;
    found.columns = found.rows = -1;
    for (ReduceOp reduce : space.reduces) {
      const Axis summed = reduce.getDims().size() == 1 ? reducedAxis(reduce) : -1,
                 extra = extraAxis(space.getAxisSet(reduce));
      const bool isLast = reduce.getDims().front() + 1 == static_cast<int64_t>(shapeOf(reduce.getX()).size());
      if (summed < 0 || extra < 0 || matchContraction(reduce))
        return std::nullopt;
      Axis &columns = isLast ? found.columns : found.rows, &rows = isLast ? found.rows : found.columns;
      if ((columns >= 0 && columns != summed) || (rows >= 0 && rows != extra))
        return std::nullopt;
      columns = summed;
      rows = extra;
      (isLast ? found.along : found.across).push_back(reduce);
    }
    auto isComplete = [&](ReduceOp sum) {
      return sum.getKind() == ReduceKind::Add && cast<RankedTensorType>(sum.getType()).getElementType().isF32() &&
             llvm::none_of(ops, [&](Operation *op) {
               return llvm::any_of(op->getOperands(),
                                   [&](Value operand) { return getViewSource(operand) == sum.getResult(); });
             });
    };
    const bool isCrossed =
        !found.along.empty() && !found.across.empty() && !space.rowAxes.empty() &&
        llvm::all_of(found.across, isComplete) &&
        llvm::all_of(outputs, [&](Value output) { return isSubset(space.rowAxes, space.getAxisSet(output)); });
    return isCrossed ? std::optional(found) : std::nullopt;
  }

  Status findRows() {
    if (tiesInputs)
      return (space.crossed = findRowAndColumnReductions()) ? Status::ok()
                                                            : Status::unsupported("its reductions keep different axes");
    if (space.reduces.size() > 2 && (space.attention = findAttention()))
      return findAttentionRows();
    if (space.reduces.size() > 1 && (space.chain = findChain()))
      return findChainRows();
    if (space.reduces.size() > 1 && (space.productsSum = findProductsSum()))
      return findProductsSumRows();
    for (ReduceOp reduce : space.reduces) {
      AxisSet kept = space.getAxisSet(reduce);
      if (reduce == space.reduces.front())
        space.rowAxes = kept;
      else if (kept != space.rowAxes)
        return Status::unsupported("its reductions keep different axes");
      if (matchContraction(reduce))
        space.contraction = reduce;
    }
    bool hasRows = !space.reduces.empty();
    for (Value output : outputs) {
      AxisSet set = space.getAxisSet(output);
      if (!hasRows) {
        space.rowAxes = set;
        hasRows = true;
      }
      if (space.reduces.empty() ? set != space.rowAxes : !isSubset(space.rowAxes, set))
        return Status::unsupported("its results do not share their rows");
    }
    return Status::ok();
  }

  const IterationSpace::Ops &ops;
  ValueRange outputs;
  const bool tiesInputs;
  IterationSpace space;
  llvm::IntEqClasses tied;
  SmallVector<int64_t> classExtents;
  llvm::DenseMap<Value, Classes> classes, inputClasses;
  llvm::DenseMap<Operation *, Classes> operandClasses;
  llvm::DenseMap<int, Axis> axisOf;
};

} // namespace zyx::graph::ir

Result<IterationSpace> IterationSpace::compute(const Ops &ops, ValueRange outputs) {
  Result<IterationSpace> space = IterationSpaceBuilder(ops, outputs, /*tiesInputs=*/false).build();
  if (space || llvm::count_if(ops, llvm::IsaPred<ReduceOp>) < 2)
    return space;
  Result<IterationSpace> crossed = IterationSpaceBuilder(ops, outputs, /*tiesInputs=*/true).build();
  return crossed ? std::move(crossed) : std::move(space);
}

Result<IterationSpace> IterationSpace::compute(GroupOp group) {
  Ops ops;
  ValueRange outputs = cast<YieldOp>(group.getBlock().getTerminator()).getValues();
  for (Operation &op : group.getBlock().without_terminator()) {
    bool isLeaf = isa<ConstantOp, IotaOp>(op) || isView(&op);
    if (!isLeaf || llvm::is_contained(outputs, op.getResult(0)))
      ops.insert(&op);
  }
  return compute(ops, outputs);
}
