//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// An attention of few queries reads many keys with few workgroups. Its keys fall into parts, which are rows of the
// same attention, and what the parts have is combined behind them.
//===----------------------------------------------------------------------===//
#include "PartAttention.h"

#include "Blocks.h"
#include "DivideAfterwards.h"
#include "FuseAttention.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_PARTATTENTIONPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::AttentionSizes;
using zyx::target::TargetInfo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// How many parts
//===----------------------------------------------------------------------===//

/// What is left of a value when casts and views in front of it are taken off: as many elements as differ in memory.
static RankedTensorType sourceOf(Value value) {
  value = getViewSource(value);
  while (auto cast = value.getDefiningOp<CastOp>())
    value = getViewSource(cast.getX());
  return typeOf(value);
}

std::optional<AttentionSizes> AttentionSizes::of(const Attention &found) {
  ReduceOp output = found.output, max = found.max, scores = found.scores;
  auto product = output.getX().getDefiningOp<BinaryOp>(), ofScores = scores.getX().getDefiningOp<BinaryOp>();
  Value weights = found.weights.front()->get(), values = product.getA() == weights ? product.getB() : product.getA();
  const int64_t all = typeOf(max.getResult()).getNumElements();
  if (all == 0)
    return std::nullopt;
  AttentionSizes sizes;
  sizes.keys = typeOf(max.getX()).getNumElements() / all;
  sizes.width = typeOf(output.getResult()).getNumElements() / all;
  sizes.depth = typeOf(scores.getX()).getDimSize(scores.getDims().front());
  if (sizes.keys < 2 || sizes.width < 2 || sizes.depth < 1)
    return std::nullopt;
  const RankedTensorType ofValues = sourceOf(values);
  sizes.programs = std::clamp<int64_t>(ofValues.getNumElements() / (sizes.keys * sizes.width), 1, all);
  sizes.rows = llvm::divideCeil(all, sizes.programs);
  sizes.queries = 1;
  for (int64_t extent : llvm::reverse(typeOf(max.getResult()).getShape()))
    if (sizes.queries = extent; extent != 1)
      break;
  sizes.isNarrow = ofValues.getElementTypeBitWidth() <= 16;
  // Of both factors of the scores the keys have more elements.
  const RankedTensorType a = sourceOf(ofScores.getA()), b = sourceOf(ofScores.getB());
  auto bytesOf = [](RankedTensorType type) { return llvm::divideCeil(type.getElementTypeBitWidth(), 8); };
  sizes.keyBytes = sizes.depth * static_cast<int64_t>(bytesOf(a.getNumElements() > b.getNumElements() ? a : b)) +
                   sizes.width * static_cast<int64_t>(bytesOf(ofValues));
  return sizes;
}

namespace {

/// Keys of a block, and rows and threads of a workgroup, as workgroups compute an attention.
constexpr int64_t blockKeys = 64, fewestKeys = 16, mostRows = 64, fewestRows = 16, threads = 256;

/// Workgroups of an attention: how many, rows of each, those of a cluster, and blocks of so many keys.
struct Grid {
  int64_t workgroups, rows, cluster, keys, blocks;
};

} // namespace

/// Keys of a block that leave room for a second workgroup: numbers of rows, of scores, and what a cluster gathers.
static int64_t findBlockKeys(const AttentionSizes &sizes, int64_t rows, int64_t cluster, const TargetInfo &machine) {
  constexpr int64_t scores = 4096 + 512, results = 4096;
  int64_t keys = blockKeys;
  auto bytesOf = [&](int64_t keys) {
    const int64_t gathered = cluster > 1 ? cluster * rows * sizes.width : 0;
    return keys * sizes.keyBytes + 4 * (rows * (sizes.depth + keys) + scores + results + threads + gathered);
  };
  while (keys > fewestKeys && bytesOf(keys) > machine.simt.sharedBytes / 2)
    keys /= 2;
  return keys;
}

/// Cycles of an attention by workgroups, as -zyx-schedule-choose estimates them (EstimateKernel), without its masks.
static double cyclesOf(const AttentionSizes &sizes, const Grid &grid, const TargetInfo &machine) {
  namespace fits = zyx::target::fits::kernels;
  const auto cores = static_cast<double>(machine.cores), all = static_cast<double>(grid.workgroups);
  const auto blocks = static_cast<double>(grid.blocks);
  const auto products = static_cast<double>(grid.keys * grid.rows * (sizes.depth + sizes.width));
  const double each =
      blocks * products / (static_cast<double>(machine.costs.lanesPerCycle) * fits::sharedAttentionRate);
  const double alone = blocks * static_cast<double>(machine.sharedProducts.attentionBlockCycles);
  // Two workgroups of a core work in turns.
  const double compute = std::max(std::ceil(all / cores) * each, std::ceil(all / (2 * cores)) * (each + alone));
  const auto bytes = static_cast<double>(sizes.programs * sizes.keys * sizes.keyBytes);
  const double memory = bytes / (static_cast<double>(machine.costs.memoryBytesPerCycle) * std::min(cores, all));
  return std::max(compute, memory) + zyx::target::fits::notHidden * std::min(compute, memory);
}

/// The same by tensor cores, which have tiles of 64 queries of each head.
static double tensorCyclesOf(const AttentionSizes &sizes, const TargetInfo &machine) {
  constexpr int64_t tileRows = 64;
  const int64_t tiles =
      sizes.programs * sizes.rows / sizes.queries * static_cast<int64_t>(llvm::divideCeil(sizes.queries, tileRows));
  const double products = static_cast<double>(sizes.keys * tileRows * (sizes.depth + sizes.width));
  const auto waves = static_cast<double>(llvm::divideCeil(tiles, machine.cores));
  return waves * products /
             (zyx::target::fits::kernels::attentionRate * static_cast<double>(machine.costs.matrixProductsPerCycle)) +
         static_cast<double>(machine.costs.tileCycles);
}

/// Keys of a part, a multiple of those of a block; none where the attention is better off whole.
static std::optional<int64_t> findPartKeys(const AttentionSizes &sizes, const TargetInfo &machine) {
  if (sizes.keys < 4 * blockKeys)
    return std::nullopt;
  const int64_t cores = machine.cores;
  auto tilesOf = [&](int64_t rows) {
    return sizes.programs * static_cast<int64_t>(llvm::divideCeil(sizes.rows, rows));
  };
  int64_t rows = std::min(mostRows, static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(sizes.rows))));
  // Parts fill the machine once, two workgroups on each core.
  const int64_t blocks = llvm::divideCeil(sizes.keys, blockKeys);
  const int64_t wanted = std::min(std::max<int64_t>(2 * cores / tilesOf(rows), 1), blocks);
  const int64_t each = llvm::divideCeil(blocks, wanted), parts = llvm::divideCeil(blocks, each);
  if (parts < 2)
    return std::nullopt;
  const int64_t partKeys = findBlockKeys(sizes, rows, 1, machine);
  const Grid parted{tilesOf(rows) * parts, rows, 1, partKeys, each * blockKeys / partKeys};
  // As it is, tiles have fewer rows, and a cluster has parts of the keys.
  while (rows > fewestRows && tilesOf(rows) < 2 * cores)
    rows /= 2;
  int64_t cluster = 1;
  while (2 * cluster <= machine.simt.clusterSize && 2 * cluster * tilesOf(rows) <= 2 * cores && 4 * cluster <= blocks)
    cluster *= 2;
  const int64_t wholeKeys = findBlockKeys(sizes, rows, cluster, machine);
  const Grid whole{tilesOf(rows) * cluster, rows, cluster, wholeKeys,
                   static_cast<int64_t>(llvm::divideCeil(sizes.keys, wholeKeys * cluster))};
  double least = cyclesOf(sizes, whole, machine);
  constexpr int64_t fewRows = 8;
  if (sizes.isNarrow && machine.hasTensorTiles() && sizes.rows > fewRows)
    least = std::min(least, tensorCyclesOf(sizes, machine));
  // What the parts have takes two kernels more.
  if (cyclesOf(sizes, parted, machine) + 2 * static_cast<double>(machine.costs.launchCycles) >= least)
    return std::nullopt;
  return each * blockKeys;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {

/// Makes two dimensions of the keys' one, wherever what is computed of scores, weights and values has it.
class AttentionParter {
public:
  AttentionParter(Attention &found, int64_t partKeys)
      : found(found), numKeys(keysOf(found)), partKeys(partKeys), parts(llvm::divideCeil(numKeys, partKeys)),
        builder(found.output->getBlock(), std::next(found.output->getIterator())), loc(found.output->getLoc()) {}

  bool run();

private:
  static int64_t keysOf(Attention &found) { return typeOf(found.max.getX()).getDimSize(found.max.getDims().front()); }
  void findOwn();
  bool canPart(Value value, int64_t dim);
  bool staysFinite(Value value, int64_t dim);
  Value part(Value value, int64_t dim);
  Value build(Value value, int64_t dim);
  Value partLeaf(Value value, int64_t dim);
  Value count(RankedTensorType type, int64_t dim);
  Value hideRest(Value scores, int64_t dim);
  RankedTensorType partedType(Value value, int64_t dim, bool isRepeated = false) const;
  static std::optional<int64_t> innerDim(Operation *op, int64_t dim);

  bool followsScores(Value value);
  bool findSums();
  bool findPlaces();
  Value makeExponentials(Value scores, Value largest, int64_t dim);

  ReduceOp reduce(ReduceKind kind, Value x, int64_t dim) {
    return ReduceOp::create(builder, loc, kind, x, ArrayRef<int64_t>{dim});
  }
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value splat(Value like, double number) { return zyx::fusion::makeSplat(builder, loc, typeOf(like), number); }
  Value spread(Value row, Value like);
  Value repeat(Value row, Value like, int64_t dim);

  Attention &found;
  const int64_t numKeys, partKeys, parts;
  OpBuilder builder;
  Location loc;
  /// Of what is linear in the exponentials, along the keys.
  SmallVector<ReduceOp> sums;
  /// For each dimension of the last product the one of the scores that it is.
  SmallVector<std::optional<int64_t>> places;
  /// What nobody else reads: it is computed in parts alone.
  llvm::DenseSet<Operation *> own;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> known;
};

} // namespace

RankedTensorType AttentionParter::partedType(Value value, int64_t dim, bool isRepeated) const {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] = isRepeated ? 1 : partKeys;
  shape.insert(shape.begin() + dim, isRepeated ? 1 : parts);
  return typeOf(value).clone(shape);
}

/// The dimension of its operand that one of a view's result is.
std::optional<int64_t> AttentionParter::innerDim(Operation *op, int64_t dim) {
  if (!isa<PermuteOp, ReshapeOp, ExpandOp>(op))
    return std::nullopt;
  if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && !isUnitReshape(reshape)) {
    // One that splits and merges other dimensions alone.
    ArrayRef<int64_t> from = typeOf(reshape.getX()).getShape(), to = typeOf(reshape).getShape();
    const int64_t behind = ShapedType::getNumElements(to.drop_front(dim + 1));
    int64_t own = 1;
    for (auto at = static_cast<int64_t>(from.size()); at-- > 0; own *= from[at])
      if (from[at] == to[dim] && own == behind)
        return at;
    return std::nullopt;
  }
  const auto dims = getOperandDims(op);
  return dims ? (*dims)[dim] : std::nullopt;
}

/// Ops whose readers are all the attention's: of others a part is read where they are stored.
void AttentionParter::findOwn() {
  for (Operation *op : {found.output.getOperation(), found.scores.getOperation(), found.max.getOperation()})
    own.insert(op);
  Block &block = *found.output->getBlock();
  for (Operation &op : llvm::make_range(std::next(found.output->getReverseIterator()), block.rend()))
    if (isa<NodeOpInterface>(op) && !op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
          auto reduce = dyn_cast<ReduceOp>(user);
          return own.contains(user) || (reduce && isSumOf(reduce, found.exp));
        }))
      own.insert(&op);
}

/// Whether each part of a value can be read where it lies, or is computed of such parts.
bool AttentionParter::canPart(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (typeOf(value).getDimSize(dim) == 1 || !op || isa<ConstantOp, IotaOp, ParameterOp>(op))
    return true;
  if (op == found.scores) {
    const int64_t inner = dim + (found.scores.getDims().front() <= dim);
    return canPart(found.scores.getX(), inner);
  }
  if (isElementwise(op) && own.contains(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return canPart(operand, dim); });
  if (auto expand = dyn_cast<ExpandOp>(op); expand && typeOf(expand.getX()).getDimSize(dim) == 1)
    return true;
  if (const std::optional<int64_t> inner = innerDim(op, dim))
    return canPart(op->getOperand(0), *inner);
  // What is stored anyway.
  if (followsScores(value))
    return false;
  Operation *source = getViewSource(value).getDefiningOp();
  return !source || isa<ParameterOp, ConstantOp, ReduceOp, LoopOp>(source) || isOrderOp(source) ||
         (isElementwise(source) && !own.contains(source)) || isa<ConcatOp>(source);
}

/// Whether what is computed of the zeros that fill the last part is finite: weights of 0 hide nothing else.
bool AttentionParter::staysFinite(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<FloatType>(typeOf(value).getElementType()) || typeOf(value).getDimSize(dim) == 1)
    return true;
  if (isElementwise(op) && own.contains(op)) {
    auto binary = dyn_cast<BinaryOp>(op);
    auto unary = dyn_cast<UnaryOp>(op);
    const bool isSafe =
        isa<CastOp, SelectOp>(op) ||
        (binary &&
         llvm::is_contained({BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul, BinaryKind::Max, BinaryKind::Min},
                            binary.getKind())) ||
        (unary && llvm::is_contained({UnaryKind::Neg, UnaryKind::Abs, UnaryKind::Tanh}, unary.getKind()));
    return isSafe && llvm::all_of(op->getOperands(), [&](Value operand) { return staysFinite(operand, dim); });
  }
  const std::optional<int64_t> inner = innerDim(op, dim);
  return !inner || staysFinite(op->getOperand(0), *inner);
}

/// A part for each number of rows at the end is read as zeros.
Value AttentionParter::partLeaf(Value value, int64_t dim) {
  RankedTensorType type = typeOf(value);
  if (const int64_t missing = parts * partKeys - numKeys; missing > 0) {
    SmallVector<int64_t> none(type.getRank(), 0), high(none), shape(type.getShape());
    high[dim] = missing;
    shape[dim] += missing;
    auto number = RankedTensorType::get({}, type.getElementType());
    Value fill = ConstantOp::create(builder, loc, number,
                                    DenseElementsAttr::get(number, builder.getZeroAttr(type.getElementType())));
    value = PadOp::create(builder, loc, type.clone(shape), value, fill, none, high, none);
  }
  return ReshapeOp::create(builder, loc, partedType(value, dim), value);
}

/// Numbers of keys: those of parts and within a part, which are counted along a dimension each.
Value AttentionParter::count(RankedTensorType type, int64_t dim) {
  Value outer = IotaOp::create(builder, loc, type, dim), inner = IotaOp::create(builder, loc, type, dim + 1);
  Value first = isa<FloatType>(type.getElementType())
                    ? zyx::fusion::makeSplat(builder, loc, type, static_cast<double>(partKeys))
                    : zyx::fusion::makeIntegerSplat(builder, loc, type, partKeys);
  return binary(BinaryKind::Add, binary(BinaryKind::Mul, outer, first), inner);
}

Value AttentionParter::part(Value value, int64_t dim) {
  if (auto made = known.find({value, dim}); made != known.end())
    return made->second;
  Value made = build(value, dim);
  known[{value, dim}] = made;
  return made;
}

Value AttentionParter::build(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  RankedTensorType type = typeOf(value);
  if (type.getDimSize(dim) == 1)
    return ReshapeOp::create(builder, loc, partedType(value, dim, /*isRepeated=*/true), value);
  if (auto constant = dyn_cast_or_null<ConstantOp>(op); constant && constant.getValue().isSplat()) {
    RankedTensorType made = partedType(value, dim);
    return ConstantOp::create(builder, loc, made, constant.getValue().resizeSplat(made));
  }
  if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
    const auto along = static_cast<int64_t>(iota.getDim());
    RankedTensorType made = partedType(value, dim);
    // Numbers of f32 are whole up to 2^24.
    Type element = type.getElementType();
    const bool isExact = isa<IntegerType>(element) || ((element.isF32() || element.isF64()) && numKeys < 1 << 24);
    if (along == dim && isExact && element.getIntOrFloatBitWidth() >= 32)
      return count(made, dim);
    if (along != dim)
      return IotaOp::create(builder, loc, made, along + (along > dim));
    return partLeaf(value, dim);
  }
  if (op == found.scores) {
    const int64_t features = found.scores.getDims().front(), inner = dim + (features <= dim);
    return ReduceOp::create(builder, loc, found.scores.getKind(), part(found.scores.getX(), inner),
                            ArrayRef<int64_t>{features + (features > inner)});
  }
  if (isElementwise(op) && own.contains(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(part(operand, dim));
    return zyx::fusion::cloneWith(builder, op, operands, partedType(value, dim));
  }
  if (auto expand = dyn_cast_or_null<ExpandOp>(op)) {
    const bool isRepeated = typeOf(expand.getX()).getDimSize(dim) == 1;
    Value source = isRepeated ? ReshapeOp::create(builder, loc, partedType(expand.getX(), dim, true), expand.getX())
                              : part(expand.getX(), dim);
    return ExpandOp::create(builder, loc, partedType(value, dim), source);
  }
  if (const std::optional<int64_t> inner = op ? innerDim(op, dim) : std::nullopt) {
    Value source = part(op->getOperand(0), *inner);
    auto permute = dyn_cast<PermuteOp>(op);
    if (!permute)
      return ReshapeOp::create(builder, loc, partedType(value, dim), source);
    SmallVector<int64_t> order;
    for (int64_t from : permute.getOrder()) {
      order.push_back(from > *inner ? from + 1 : from);
      if (from == *inner)
        order.push_back(from + 1);
    }
    return PermuteOp::create(builder, loc, partedType(value, dim), source, order);
  }
  return partLeaf(value, dim);
}

/// Scores of keys that are none are minus infinity.
Value AttentionParter::hideRest(Value scores, int64_t dim) {
  if (parts * partKeys == numKeys)
    return scores;
  RankedTensorType numbers = typeOf(scores).clone(builder.getI64Type());
  Value exists =
      binary(BinaryKind::Lt, count(numbers, dim), zyx::fusion::makeIntegerSplat(builder, loc, numbers, numKeys));
  return SelectOp::create(builder, loc, exists, scores, splat(scores, -std::numeric_limits<double>::infinity()));
}

/// Whether a value is computed of scores.
bool AttentionParter::followsScores(Value value) {
  SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (next == found.scores.getResult())
      return true;
    if (Operation *op = next.getDefiningOp(); op && seen.insert(next).second && (isView(op) || isElementwise(op)))
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

/// The sums along the keys. False where one has its rows in another order.
bool AttentionParter::findSums() {
  const int64_t keys = found.max.getDims().front();
  for (auto sum : found.output->getBlock()->getOps<ReduceOp>()) {
    if (sum == found.output || !isSumOf(sum, found.exp))
      continue;
    Value terms = sum.getX();
    while (terms != found.exp.getResult()) {
      Operation *op = terms.getDefiningOp();
      if (isView(op))
        return false;
      terms = op->getOperand(isa<CastOp>(op) || followsScores(op->getOperand(0)) ? 0 : 1);
    }
    if (sum.getDims().front() != keys || typeOf(sum.getResult()).getElementType() != typeOf(found.exp).getElementType())
      return false;
    sums.push_back(sum);
  }
  return true;
}

/// Where numbers of rows stand beside results. False where rows are in another order there.
bool AttentionParter::findPlaces() {
  for (int64_t dim = 0, rank = typeOf(found.output.getX()).getRank(); dim < rank; ++dim)
    places.emplace_back(dim);
  for (OpOperand *operand : found.weights)
    if (isView(operand->getOwner())) {
      const auto step = getOperandDims(operand->getOwner());
      for (std::optional<int64_t> &dim : places)
        if (dim)
          dim = (*step)[*dim];
    }
  std::optional<int64_t> last;
  SmallVector<bool> isPlaced(typeOf(found.exp).getRank(), false);
  for (const std::optional<int64_t> &dim : places) {
    if (!dim || typeOf(found.exp).getDimSize(*dim) == 1)
      continue;
    if (last && *dim <= *last)
      return false;
    last = *dim;
    isPlaced[*dim] = true;
  }
  for (auto [dim, extent] : llvm::enumerate(typeOf(found.exp).getShape()))
    if (extent != 1 && !isPlaced[dim])
      return false;
  return true;
}

/// A number of each row and part, repeated along the columns of results.
Value AttentionParter::spread(Value row, Value like) {
  SmallVector<int64_t> ones;
  for (const std::optional<int64_t> &dim : places)
    ones.push_back(dim ? typeOf(row).getDimSize(*dim) : 1);
  Value placed = ReshapeOp::create(builder, loc, typeOf(row).clone(ones), row);
  return ExpandOp::create(builder, loc, typeOf(row).clone(typeOf(like).getShape()), placed);
}

/// A number of each row, repeated along a dimension that `like` has more.
Value AttentionParter::repeat(Value row, Value like, int64_t dim) {
  SmallVector<int64_t> ones(typeOf(like).getShape());
  ones[dim] = 1;
  Value placed = ReshapeOp::create(builder, loc, typeOf(row).clone(ones), row);
  return ExpandOp::create(builder, loc, typeOf(row).clone(typeOf(like).getShape()), placed);
}

/// Exponentials of distances to the largest score, with the casts that the attention has between.
Value AttentionParter::makeExponentials(Value scores, Value largest, int64_t dim) {
  Value distance = binary(BinaryKind::Sub, scores, repeat(largest, scores, dim));
  SmallVector<CastOp> casts;
  for (auto cast = found.exp.getX().getDefiningOp<CastOp>(); cast; cast = cast.getX().getDefiningOp<CastOp>())
    casts.push_back(cast);
  for (CastOp cast : llvm::reverse(casts))
    distance =
        CastOp::create(builder, loc, typeOf(distance).clone(typeOf(cast.getResult()).getElementType()), distance);
  return UnaryOp::create(builder, loc, UnaryKind::Exp, distance);
}

bool AttentionParter::run() {
  const int64_t keys = found.max.getDims().front(), last = found.output.getDims().front();
  findOwn();
  if (typeOf(found.output.getResult()).getElementType() != typeOf(found.exp).getElementType() || !findPlaces() ||
      places[last] != std::optional(keys) || !own.contains(found.exp) || !findSums() ||
      !canPart(found.max.getX(), keys))
    return false;
  auto product = cast<BinaryOp>(found.output.getX().getDefiningOp());
  Value weights = found.weights.front()->get(), values = product.getA() == weights ? product.getB() : product.getA();
  if (!canPart(values, last) || (parts * partKeys != numKeys && !staysFinite(values, last)))
    return false;

  // The attention of each part.
  Value scores = hideRest(part(found.max.getX(), keys), keys);
  Value largest = reduce(ReduceKind::Max, scores, keys + 1);
  known[{found.exp.getResult(), keys}] = makeExponentials(scores, largest, keys + 1);
  SmallVector<Value> partSums;
  for (ReduceOp sum : sums)
    partSums.push_back(reduce(ReduceKind::Add, part(sum.getX(), keys), keys + 1));
  Value partOutput = reduce(ReduceKind::Add, part(product.getResult(), last), last + 1);

  // Parts whose keys are all hidden have no distances. Rows that see nothing keep what they are: NaN.
  Value max = reduce(ReduceKind::Max, largest, keys);
  Value least = splat(largest, -std::numeric_limits<double>::infinity());
  Value isLeast = binary(BinaryKind::Eq, largest, least);
  Value sees = binary(BinaryKind::Ne, repeat(max, largest, keys), least);
  Value isHidden = binary(BinaryKind::And, isLeast, sees);
  Value shrink = makeExponentials(largest, max, keys);
  shrink = SelectOp::create(builder, loc, isHidden, splat(shrink, 0), shrink);
  auto combine = [&](Value own, Value hidden, Value factor, int64_t dim) {
    Value seen = SelectOp::create(builder, loc, hidden, splat(own, 0), own);
    return reduce(ReduceKind::Add, binary(BinaryKind::Mul, seen, factor), dim);
  };
  for (auto [sum, ofParts] : llvm::zip_equal(sums, partSums))
    sum.getResult().replaceAllUsesWith(combine(ofParts, isHidden, shrink, keys));
  found.output.getResult().replaceAllUsesWith(
      combine(partOutput, spread(isHidden, partOutput), spread(shrink, partOutput), last));
  found.max.getResult().replaceAllUsesWith(max);
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The attentions whose keys fall into parts, with what each part has.
static SmallVector<std::pair<Attention, int64_t>> findAttentions(Block &block, const TargetInfo &machine) {
  SmallVector<std::pair<Attention, int64_t>> all;
  for (auto output : block.getOps<ReduceOp>()) {
    auto attention = matchAttention(output);
    const auto sizes = attention ? AttentionSizes::of(*attention) : std::nullopt;
    const auto partKeys = sizes ? findPartKeys(*sizes, machine) : std::nullopt;
    if (partKeys && typeOf(attention->exp).getElementType().isF32() && zyx::fusion::isPrivate(*attention))
      all.emplace_back(*attention, *partKeys);
  }
  return all;
}

static void partAttentions(Block &block, const TargetInfo &machine) {
  if (!machine.hasSubgroups() || !machine.hasSharedMemory())
    return;
  bool changed = false;
  // The division by the sum comes behind the parts.
  for (auto &[attention, partKeys] : findAttentions(block, machine))
    if (!attention.beside.empty())
      changed |= zyx::fusion::divideBySums(attention);
  if (changed)
    zyx::fusion::eraseUnused(block);
  changed = false;
  for (auto &[attention, partKeys] : findAttentions(block, machine))
    if (attention.beside.empty())
      changed |= AttentionParter(attention, partKeys).run();
  if (!changed)
    return;
  // What reads the sums may stand before what they are now.
  sortTopologically(&block);
  zyx::fusion::eraseUnused(block);
}

namespace {

struct PartAttention : zyx::fusion::impl::PartAttentionPassBase<PartAttention> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { partAttentions(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
