//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Few queries of heads that share keys are the rows of one head.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "FuseAttention.h"
#include "LoopValues.h"
#include "Machine.h"
#include "PartAttention.h"

#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

#include <numeric>

namespace zyx::fusion {
#define GEN_PASS_DEF_JOINHEADSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::AttentionSizes;
using zyx::target::TargetInfo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static int64_t productOf(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}
static SmallVector<int64_t> withExtent(ArrayRef<int64_t> shape, int64_t dim, int64_t extent) {
  SmallVector<int64_t> result(shape);
  result[dim] = extent;
  return result;
}
static bool isSameForEach(Operation *op) { return isa_and_nonnull<BinaryOp, UnaryOp, SelectOp, CastOp>(op); }

namespace {

/// Rewrites one attention of `heads` by `queries`, two dimensions side by side, as `heads / share` by `share *
/// queries`.
class HeadJoiner {
public:
  HeadJoiner(Attention &found, int64_t heads, int64_t queries)
      : found(found), heads(heads), queries(queries),
        builder(found.output->getBlock(), std::next(found.output->getIterator())), loc(found.output->getLoc()) {}

  bool run();

private:
  /// Heads that share what a tensor has along a dimension; 0 where they do not.
  static int64_t findShare(Value value, int64_t dim);
  /// The same tensor with one row for heads that share it; null where they do not.
  Value unshare(Value value, int64_t dim);
  /// A tensor of heads and queries, from dimension `dim` on, as one of shares and their queries.
  Value join(Value value, int64_t dim);
  Value joinAnew(Value value, int64_t dim);
  Value joinExpanded(ExpandOp expand, int64_t dim, RankedTensorType type);
  /// What is the same for all heads, once for each share along the queries' dimension; null where much would be read in
  /// another order.
  Value repeat(Value value, int64_t dim);
  /// The same op of what `change` makes of its operands; null where it makes nothing of one.
  Value cloneOf(Operation *op, RankedTensorType type, llvm::function_ref<Value(Value)> change);
  Value repeatAnew(Value value, int64_t dim);

  RankedTensorType joinedType(Value value, int64_t dim) {
    return typeOf(value).clone(
        withExtent(withExtent(typeOf(value).getShape(), dim, heads / share), dim + 1, share * queries));
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    return typeOf(x).getShape() == shape ? x : ReshapeOp::create(builder, loc, typeOf(x).clone(shape), x).getResult();
  }
  Value splat(ConstantOp constant, RankedTensorType type) {
    return ConstantOp::create(builder, loc, type, constant.getValue().resizeSplat(type));
  }

  Attention &found;
  const int64_t heads, queries;
  int64_t share = 0;
  OpBuilder builder;
  Location loc;
  /// A null for what cannot be had.
  llvm::DenseMap<std::pair<Value, int64_t>, Value> joined, repeated;
};

} // namespace

/// The dimension of as many elements behind the same number of rows.
static std::optional<int64_t> findDim(ArrayRef<int64_t> shape, int64_t rows, int64_t extent) {
  int64_t before = 1;
  for (auto [dim, own] : llvm::enumerate(shape)) {
    if (before == rows && own == extent)
      return static_cast<int64_t>(dim);
    before *= own;
  }
  return std::nullopt;
}

/// Where rows of a dimension are `share` times what one of a dimension in front has: the dimension that is repeated.
static std::optional<int64_t> findRepeated(ReshapeOp reshape, int64_t dim) {
  auto expand = reshape.getX().getDefiningOp<ExpandOp>();
  if (!expand)
    return std::nullopt;
  ArrayRef<int64_t> shape = typeOf(expand).getShape(), to = typeOf(reshape).getShape();
  const int64_t rows = productOf(to.take_front(dim));
  int64_t before = 1;
  for (size_t i = 0; i + 1 < shape.size(); before *= shape[i++])
    if (before == rows && shape[i] * shape[i + 1] == to[dim] && shape[i + 1] > 1 &&
        typeOf(expand.getX()).getShape() == ArrayRef(withExtent(shape, i + 1, 1)))
      return static_cast<int64_t>(i) + 1;
  return std::nullopt;
}

int64_t HeadJoiner::findShare(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op))
    return findShare(cast.getX(), dim);
  if (auto permute = dyn_cast_or_null<PermuteOp>(op))
    return findShare(permute.getX(), permute.getOrder()[dim]);
  auto reshape = dyn_cast_or_null<ReshapeOp>(op);
  if (!reshape)
    return 0;
  if (std::optional<int64_t> own = findRepeated(reshape, dim))
    return typeOf(reshape.getX()).getDimSize(static_cast<unsigned>(*own));
  ArrayRef<int64_t> to = typeOf(reshape).getShape();
  const auto from = findDim(typeOf(reshape.getX()).getShape(), productOf(to.take_front(dim)), to[dim]);
  return from ? findShare(reshape.getX(), *from) : 0;
}

Value HeadJoiner::unshare(Value value, int64_t dim) {
  if (findShare(value, dim) != share)
    return {};
  RankedTensorType type = typeOf(value).clone(withExtent(typeOf(value).getShape(), dim, heads / share));
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast<CastOp>(op))
    return zyx::fusion::cloneWith(builder, op, unshare(cast.getX(), dim), type);
  if (auto permute = dyn_cast<PermuteOp>(op))
    return PermuteOp::create(builder, loc, type, unshare(permute.getX(), permute.getOrder()[dim]), permute.getOrder());
  auto whole = cast<ReshapeOp>(op);
  if (findRepeated(whole, dim))
    return reshape(whole.getX().getDefiningOp<ExpandOp>().getX(), type.getShape());
  ArrayRef<int64_t> to = typeOf(whole).getShape();
  return reshape(
      unshare(whole.getX(), *findDim(typeOf(whole.getX()).getShape(), productOf(to.take_front(dim)), to[dim])),
      type.getShape());
}

Value HeadJoiner::repeat(Value value, int64_t dim) {
  auto [place, isNew] = repeated.try_emplace({value, dim}, Value());
  if (!isNew)
    return place->second;
  Value result = repeatAnew(value, dim);
  return repeated[{value, dim}] = result;
}

Value HeadJoiner::cloneOf(Operation *op, RankedTensorType type, llvm::function_ref<Value(Value)> change) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(change(operand));
    if (!operands.back())
      return {};
  }
  return zyx::fusion::cloneWith(builder, op, operands, type);
}

Value HeadJoiner::repeatAnew(Value value, int64_t dim) {
  // More is not to be read in rows that come again and again.
  constexpr int64_t mostElements = 1 << 12;
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  RankedTensorType type = typeOf(value).clone(withExtent(shape, dim, share * queries));
  Operation *op = value.getDefiningOp();
  if (ConstantOp constant = zyx::fusion::getSplat(value))
    return splat(constant, type);
  if (isSameForEach(op))
    return cloneOf(op, type, [&](Value operand) { return repeat(operand, dim); });
  if (auto expand = dyn_cast_or_null<ExpandOp>(op)) {
    Value x = expand.getX();
    if (typeOf(x).getDimSize(static_cast<unsigned>(dim)) != 1)
      x = repeat(x, dim);
    return x ? ExpandOp::create(builder, loc, type, x).getResult() : Value();
  }
  if (auto whole = dyn_cast_or_null<ReshapeOp>(op))
    if (const auto from = findDim(typeOf(whole.getX()).getShape(), productOf(shape.take_front(dim)), queries)) {
      Value x = repeat(whole.getX(), *from);
      return x ? reshape(x, type.getShape()) : Value();
    }
  if (auto iota = dyn_cast_or_null<IotaOp>(op); iota && static_cast<int64_t>(iota.getDim()) != dim)
    return IotaOp::create(builder, loc, type, iota.getDim());
  if (typeOf(value).getNumElements() > mostElements)
    return {};
  SmallVector<int64_t> apart(shape);
  apart.insert(apart.begin() + dim, 1);
  Value x = reshape(value, apart);
  apart[dim] = share;
  return reshape(ExpandOp::create(builder, loc, typeOf(value).clone(apart), x), type.getShape());
}

Value HeadJoiner::join(Value value, int64_t dim) {
  auto [place, isNew] = joined.try_emplace({value, dim}, Value());
  if (!isNew)
    return place->second;
  Value result = joinAnew(value, dim);
  return joined[{value, dim}] = result;
}

Value HeadJoiner::joinExpanded(ExpandOp expand, int64_t dim, RankedTensorType type) {
  ArrayRef<int64_t> from = typeOf(expand.getX()).getShape();
  Value x = expand.getX();
  if (from[dim] == heads)
    x = from[dim + 1] == queries ? join(x, dim) : unshare(x, dim);
  else if (from[dim + 1] == queries)
    x = repeat(x, dim + 1);
  return x ? ExpandOp::create(builder, loc, type, x).getResult() : Value();
}

Value HeadJoiner::joinAnew(Value value, int64_t dim) {
  RankedTensorType type = joinedType(value, dim);
  Operation *op = value.getDefiningOp();
  if (ConstantOp constant = zyx::fusion::getSplat(value))
    return splat(constant, type);
  if (isSameForEach(op))
    return cloneOf(op, type, [&](Value operand) { return join(operand, dim); });
  if (auto expand = dyn_cast_or_null<ExpandOp>(op))
    return joinExpanded(expand, dim, type);
  if (auto sum = dyn_cast_or_null<ReduceOp>(op)) {
    int64_t from = dim;
    for (int64_t reduced : sum.getDims())
      from += reduced <= from;
    if (llvm::is_contained(sum.getDims(), from + 1))
      return {};
    Value x = join(sum.getX(), from);
    return x ? zyx::fusion::cloneWith(builder, op, x, type) : Value();
  }
  if (auto whole = dyn_cast_or_null<ReshapeOp>(op)) {
    ArrayRef<int64_t> from = typeOf(whole.getX()).getShape();
    const auto own = findDim(from, productOf(typeOf(value).getShape().take_front(dim)), heads);
    if (own && *own + 1 < static_cast<int64_t>(from.size()) && from[*own + 1] == queries) {
      Value x = join(whole.getX(), *own);
      return x ? reshape(x, type.getShape()) : Value();
    }
  }
  if (auto iota = dyn_cast_or_null<IotaOp>(op);
      iota && static_cast<int64_t>(iota.getDim()) != dim && static_cast<int64_t>(iota.getDim()) != dim + 1)
    return IotaOp::create(builder, loc, type, iota.getDim());
  return reshape(value, type.getShape());
}

bool HeadJoiner::run() {
  auto product = found.scores.getX().getDefiningOp<BinaryOp>();
  const int64_t dim = typeOf(found.max.getResult()).getRank() - 2;
  int64_t from = dim;
  for (int64_t reduced : found.scores.getDims())
    from += reduced <= from;
  for (Value operand : {product.getA(), product.getB()}) {
    while (auto cast = operand.getDefiningOp<CastOp>())
      operand = cast.getX();
    auto expand = operand.getDefiningOp<ExpandOp>();
    ArrayRef<int64_t> shape = expand ? typeOf(expand.getX()).getShape() : ArrayRef<int64_t>();
    if (expand && from + 1 < static_cast<int64_t>(shape.size()) && shape[from] == heads && shape[from + 1] == 1)
      share = std::max(share, findShare(expand.getX(), from));
  }
  if (share < 2)
    return false;
  Value result = join(found.output.getResult(), dim);
  if (!result)
    return false;
  Value whole = ReshapeOp::create(builder, loc, found.output.getType(), result);
  found.output.getResult().replaceAllUsesWith(whole);
  return true;
}

static void joinHeads(Block &block, const TargetInfo &machine) {
  // Tensor cores have tiles of 64 rows of each head, which more queries fill as they are.
  constexpr int64_t mostQueries = 32, fewestQueries = 2;
  if (!machine.hasTensorTiles())
    return;
  SmallVector<Attention> all;
  for (auto output : block.getOps<ReduceOp>()) {
    std::optional<Attention> attention = matchAttention(output);
    const auto sizes = attention ? AttentionSizes::of(*attention) : std::nullopt;
    if (sizes && sizes->isNarrow && typeOf(attention->max.getResult()).getRank() >= 2 &&
        zyx::fusion::isPrivate(*attention))
      all.push_back(*attention);
  }
  for (Attention &attention : all) {
    ArrayRef<int64_t> rows = typeOf(attention.max.getResult()).getShape(),
                      results = typeOf(attention.output.getResult()).getShape();
    const int64_t queries = rows.back(), heads = rows[rows.size() - 2];
    if (queries < fewestQueries || queries > mostQueries || heads < 2 || results.size() != rows.size() + 1 ||
        results.drop_back() != rows)
      continue;
    HeadJoiner(attention, heads, queries).run();
  }
  // What could not be joined has left parts of it.
  zyx::fusion::eraseUnused(block);
}

namespace {

struct JoinHeads : zyx::fusion::impl::JoinHeadsPassBase<JoinHeads> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { joinHeads(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
