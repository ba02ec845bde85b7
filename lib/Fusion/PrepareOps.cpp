//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PrepareOps.h"

#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Dialect/Graph/Analysis/FactorReads.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace zyx::graph::ir;

//===----------------------------------------------------------------------===//
// Iotas
//===----------------------------------------------------------------------===//

/// Whether a view, or one of it, has dimensions that are none of the view's source, or is read by
/// an op that is a kernel of its own.
static bool needsMemory(Operation *reader) {
  if (isOrderOp(reader))
    return true;
  if (!isView(reader))
    return false;
  return !getSourceDims(reader->getResult(0)) || llvm::any_of(reader->getUsers(), needsMemory);
}

void zyx::fusion::storeIotas(Block &block) {
  for (auto iota : llvm::make_early_inc_range(block.getOps<IotaOp>())) {
    OpBuilder builder(iota->getContext());
    builder.setInsertionPointAfter(iota);
    Value stored;
    for (OpOperand &use : llvm::make_early_inc_range(iota->getUses())) {
      if (!needsMemory(use.getOwner()))
        continue;
      // The result of an op that does not change what is not negative.
      if (!stored)
        stored = UnaryOp::create(builder, iota.getLoc(), UnaryKind::Abs, iota.getResult());
      use.set(stored);
    }
  }
}

//===----------------------------------------------------------------------===//
// Comparisons of indices
//===----------------------------------------------------------------------===//

namespace {

/// Numbers of 64 bits that are known to fit 32, made again with those.
class IndexNarrower {
public:
  explicit IndexNarrower(Operation *op) : builder(op), i32(builder.getI32Type()), comparison(dyn_cast<BinaryOp>(op)) {}

  /// Casts narrow numbers to floats, of 16 bits and less by way of f32 where that has all of them: numbers of 32 bits
  /// have instructions for that, which round once.
  void runCast(CastOp op) {
    constexpr int64_t mostExact = int64_t(1) << 24;
    auto range = rangeOf(op.getX(), maxDepth);
    auto to = dyn_cast<FloatType>(cast<RankedTensorType>(op.getResult().getType()).getElementType());
    if (!range || !to)
      return;
    const bool isSmall = to.getWidth() < 32,
               isWide = cast<RankedTensorType>(op.getX().getType()).getElementTypeBitWidth() > 32;
    if ((!isSmall && !isWide) || (isSmall && (range->low < -mostExact || range->high > mostExact)))
      return;
    // Numbers that differ along two dimensions are made of those that differ along one, which are cast rather: fewer of
    // them.
    if (isExact(op.getX(), maxDepth) &&
        isa_and_nonnull<BinaryOp, UnaryOp>(zyx::graph::ir::getViewSource(op.getX()).getDefiningOp())) {
      Value real = toFloat(op.getX());
      if (to != builder.getF32Type())
        real = CastOp::create(builder, op.getLoc(), cast<RankedTensorType>(op.getResult().getType()), real);
      op.getResult().replaceAllUsesWith(real);
      return;
    }
    Value x = isWide ? narrow(op.getX()) : op.getX();
    if (isSmall)
      x = CastOp::create(builder, op.getLoc(), cast<RankedTensorType>(x.getType()).clone(builder.getF32Type()), x);
    op.getXMutable().assign(x);
  }

  /// Compares narrow numbers where both factors have some, or equals only those.
  void run() {
    std::optional<Range> a = rangeOf(comparison.getA(), maxDepth), b = rangeOf(comparison.getB(), maxDepth);
    if (!a && !b)
      return;
    if ((!a && !narrowsOutside(comparison.getA(), *b)) || (!b && !narrowsOutside(comparison.getB(), *a)))
      return;
    Value left = a ? narrow(comparison.getA()) : narrowOutside(comparison.getA(), *b);
    Value right = b ? narrow(comparison.getB()) : narrowOutside(comparison.getB(), *a);
    comparison.setOperand(0, left);
    comparison.setOperand(1, right);
  }

private:
  struct Range {
    int64_t low, high;
  };
  static constexpr int maxDepth = 16;

  static std::optional<Range> ifNarrow(int64_t low, int64_t high) {
    return low >= INT32_MIN && high <= INT32_MAX ? std::optional(Range{low, high}) : std::nullopt;
  }
  std::optional<Range> rangeOf(Value value, int depth);
  Value narrow(Value value);
  bool isExact(Value value, int depth);
  Value toFloat(Value value);
  bool narrowsOutside(Value value, Range others);
  Value narrowOutside(Value value, Range others);

  OpBuilder builder;
  Type i32;
  BinaryOp comparison;
  DenseMap<Value, Value> made, floats;
};

} // namespace

/// What the elements lie between, which follows from iotas and constants; none where that is not in 32 bits.
std::optional<IndexNarrower::Range> IndexNarrower::rangeOf(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  if (auto iota = dyn_cast<IotaOp>(op))
    return ifNarrow(0, cast<RankedTensorType>(value.getType()).getDimSize(iota.getDim()) - 1);
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (!constant.getValue().isSplat())
      return std::nullopt;
    const int64_t number = constant.getValue().getSplatValue<APInt>().getSExtValue();
    return ifNarrow(number, number);
  }
  if (isIndexMap(op))
    return rangeOf(op->getOperand(0), depth - 1);
  if (auto unary = dyn_cast<UnaryOp>(op)) {
    std::optional<Range> x = rangeOf(unary.getX(), depth - 1);
    if (!x || (unary.getKind() != UnaryKind::Neg && unary.getKind() != UnaryKind::Abs))
      return std::nullopt;
    if (unary.getKind() == UnaryKind::Neg)
      return ifNarrow(-x->high, -x->low);
    return ifNarrow(std::max<int64_t>({x->low, -x->high, 0}), std::max(-x->low, x->high));
  }
  auto binary = dyn_cast<BinaryOp>(op);
  std::optional<Range> a = binary ? rangeOf(binary.getA(), depth - 1) : std::nullopt;
  std::optional<Range> b = a ? rangeOf(binary.getB(), depth - 1) : std::nullopt;
  if (!b)
    return std::nullopt;
  switch (binary.getKind()) {
  case BinaryKind::Add:
    return ifNarrow(a->low + b->low, a->high + b->high);
  case BinaryKind::Sub:
    return ifNarrow(a->low - b->high, a->high - b->low);
  case BinaryKind::Mul: {
    auto [low, high] = std::minmax({a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high});
    return ifNarrow(low, high);
  }
  case BinaryKind::Max:
    return ifNarrow(std::max(a->low, b->low), std::max(a->high, b->high));
  case BinaryKind::Min:
    return ifNarrow(std::min(a->low, b->low), std::min(a->high, b->high));
  default:
    return std::nullopt;
  }
}

Value IndexNarrower::narrow(Value value) {
  Value &result = made[value];
  if (result)
    return result;
  Operation *op = value.getDefiningOp();
  RankedTensorType type = cast<RankedTensorType>(value.getType()).clone(i32);
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    const int64_t number = constant.getValue().getSplatValue<APInt>().getSExtValue();
    return result = ConstantOp::create(builder, op->getLoc(), type,
                                       DenseElementsAttr::get(type, Attribute(builder.getI32IntegerAttr(number))));
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, narrow(operand));
  Value copy = builder.clone(*op, mapping)->getResult(0);
  copy.setType(type);
  return made[value] = copy;
}

/// Whether f32 has all numbers on the way to a value, which are the same there as integers; no zero becomes negative.
bool IndexNarrower::isExact(Value value, int depth) {
  constexpr int64_t mostExact = int64_t(1) << 24;
  auto range = rangeOf(value, depth);
  Operation *op = value.getDefiningOp();
  if (!range || range->low < -mostExact || range->high > mostExact || !op)
    return false;
  if (isa<IotaOp, ConstantOp>(op))
    return true;
  if (auto binary = dyn_cast<BinaryOp>(op); binary && binary.getKind() == BinaryKind::Mul)
    if (rangeOf(binary.getA(), depth - 1)->low < 0 || rangeOf(binary.getB(), depth - 1)->low < 0)
      return false;
  if (auto unary = dyn_cast<UnaryOp>(op); unary && unary.getKind() != UnaryKind::Abs)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isExact(operand, depth - 1); });
}

Value IndexNarrower::toFloat(Value value) {
  if (Value known = floats.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  auto type = cast<RankedTensorType>(value.getType());
  const RankedTensorType real = type.clone(builder.getF32Type());
  Value result;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    const int64_t number = constant.getValue().getSplatValue<APInt>().getSExtValue();
    result = ConstantOp::create(builder, op->getLoc(), real, DenseElementsAttr::get(real, static_cast<float>(number)));
  } else if (isa<IotaOp>(op)) {
    result = CastOp::create(builder, op->getLoc(), real, type.getElementType() == i32 ? value : narrow(value));
  } else {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, toFloat(operand));
    result = builder.clone(*op, mapping)->getResult(0);
    result.setType(real);
  }
  return floats[value] = result;
}

/// Whether any number that is repeated along what it is compared with may become a narrow one, once for each of its
/// own: none of the others is negative, so that -1 equals none of them.
bool IndexNarrower::narrowsOutside(Value value, Range others) {
  Value source = getViewSource(value);
  auto numElements = [](Value x) { return cast<RankedTensorType>(x.getType()).getNumElements(); };
  bool isRepeated = numElements(source) < numElements(value);
  for (Value view = value; view != source; view = view.getDefiningOp()->getOperand(0))
    isRepeated &= isIndexMap(view.getDefiningOp());
  return isRepeated && others.low >= 0 && comparison.getKind() == BinaryKind::Eq;
}

/// What lies outside of the others' range becomes -1.
Value IndexNarrower::narrowOutside(Value value, Range others) {
  Value source = getViewSource(value);
  auto type = cast<RankedTensorType>(source.getType());
  Location loc = comparison.getLoc();
  auto number = [&](Type element, int64_t value) -> Value {
    auto splat = DenseElementsAttr::get(type.clone(element), Attribute(builder.getIntegerAttr(element, value)));
    return ConstantOp::create(builder, loc, splat.getType(), splat);
  };
  auto isInside = [&](BinaryKind kind, int64_t bound) -> Value {
    return BinaryOp::create(builder, loc, kind, source, number(type.getElementType(), bound));
  };
  Value inside = BinaryOp::create(builder, loc, BinaryKind::And, isInside(BinaryKind::Ge, others.low),
                                  isInside(BinaryKind::Le, others.high));
  Value small = CastOp::create(builder, loc, type.clone(i32), source);
  made[source] = SelectOp::create(builder, loc, inside, small, number(i32, -1));
  return narrow(value);
}

void zyx::fusion::narrowIndices(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<BinaryOp>()))
    if (cast<RankedTensorType>(op.getA().getType()).getElementType().isSignlessInteger(64) &&
        cast<RankedTensorType>(op.getResult().getType()).getElementType().isInteger(1))
      IndexNarrower(op).run();
  for (auto op : llvm::make_early_inc_range(block.getOps<CastOp>())) {
    auto from = dyn_cast<IntegerType>(cast<RankedTensorType>(op.getX().getType()).getElementType());
    if (from && from.isSignless() && (from.getWidth() == 64 || from.getWidth() == 32))
      IndexNarrower(op).runCast(op);
  }
}

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

namespace {

/// Philox4x32-10 on tensors of u64 that hold 32-bit words: a product of two words has its place
/// there, and additions need no carry.
class Philox {
public:
  Philox(RandomBitsOp op)
      : builder(op), loc(op.getLoc()), result(cast<RankedTensorType>(op.getType())),
        type(result.clone(builder.getIntegerType(64, /*isSigned=*/false))) {}

  Value emit(Value seed) {
    Value place = linearIndex(), counter = shiftRight(place, 2);
    Value words[4] = {low(counter), shiftRight(counter, 32), constant(0), constant(0)};
    Value everywhere = repeat(seed);
    Value keys[2] = {low(everywhere), shiftRight(everywhere, 32)};
    for (int round = 0; round < 10; ++round) {
      Value first = multiply(words[0], 0xD2511F53), second = multiply(words[2], 0xCD9E8D57);
      Value next[4] = {exclusiveOr(exclusiveOr(shiftRight(second, 32), words[1]), keys[0]), low(second),
                       exclusiveOr(exclusiveOr(shiftRight(first, 32), words[3]), keys[1]), low(first)};
      std::copy(std::begin(next), std::end(next), std::begin(words));
      if (round == 9)
        break;
      keys[0] = low(add(keys[0], constant(0x9E3779B9)));
      keys[1] = low(add(keys[1], constant(0xBB67AE85)));
    }
    Value lane = binary(BinaryKind::And, place, constant(3)), chosen = words[3];
    for (int64_t word = 2; word >= 0; --word)
      chosen = SelectOp::create(builder, loc, binary(BinaryKind::Eq, lane, constant(word)), words[word], chosen);
    return CastOp::create(builder, loc, result, chosen);
  }

private:
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value add(Value a, Value b) { return binary(BinaryKind::Add, a, b); }
  Value exclusiveOr(Value a, Value b) { return binary(BinaryKind::Xor, a, b); }
  Value multiply(Value a, uint64_t b) { return binary(BinaryKind::Mul, a, constant(b)); }
  Value shiftRight(Value a, uint64_t b) { return binary(BinaryKind::Shr, a, constant(b)); }
  Value low(Value a) { return binary(BinaryKind::And, a, constant(0xFFFFFFFF)); }
  Value constant(uint64_t value) {
    auto element = IntegerAttr::get(type.getElementType(), APInt(64, value));
    return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, element));
  }

  Value linearIndex() {
    Value sum;
    int64_t stride = 1;
    for (int64_t dim = type.getRank(); dim-- > 0; stride *= type.getDimSize(dim)) {
      if (type.getDimSize(dim) == 1)
        continue;
      Value own = IotaOp::create(builder, loc, type, dim);
      if (stride != 1)
        own = multiply(own, stride);
      sum = sum ? add(sum, own) : own;
    }
    return sum ? sum : constant(0);
  }

  Value repeat(Value seed) {
    SmallVector<int64_t> ones(type.getRank(), 1);
    Value single = ReshapeOp::create(builder, loc, type.clone(ones), seed);
    return ExpandOp::create(builder, loc, type, single);
  }

  OpBuilder builder;
  Location loc;
  RankedTensorType result, type;
};

} // namespace

void zyx::fusion::expandRandomBits(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<RandomBitsOp>())) {
    op.getResult().replaceAllUsesWith(Philox(op).emit(op.getSeed()));
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Long reductions
//===----------------------------------------------------------------------===//

/// Into how many parts an extent falls, for a processor; 0 where it does not.
static int64_t partsOf(int64_t extent) {
  for (int64_t parts : {256, 128, 64, 32, 16})
    if (extent % parts == 0)
      return parts;
  return 0;
}

/// What a thread of many has: 16 bytes of neighbours, or its share of a row.
constexpr int64_t threadBytes = 16, threadsPerRow = 256;

/// Whether results have fewer digits than the sums that they are rounded from.
static bool isRounded(ReduceOp op) {
  Type element = cast<RankedTensorType>(op.getX().getType()).getElementType();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 &&
         (op.getKind() == ReduceKind::Add || op.getKind() == ReduceKind::Mul);
}

/// The same with its terms in f32, and what they are cast from last: nothing is rounded between two steps of it.
static ReduceOp widen(ReduceOp op) {
  OpBuilder builder(op);
  auto wide = [&](Value value) { return cast<RankedTensorType>(value.getType()).clone(builder.getF32Type()); };
  Value x = CastOp::create(builder, op.getLoc(), wide(op.getX()), op.getX());
  auto sum = ReduceOp::create(builder, op.getLoc(), wide(op.getResult()), op.getKind(), x, op.getDims());
  op.replaceAllUsesWith(CastOp::create(builder, op.getLoc(), op.getResult().getType(), sum.getResult()).getResult());
  op.erase();
  return sum;
}

/// The last dimension that has neighbours, and how many elements there are.
static std::optional<std::pair<int64_t, int64_t>> findLast(ArrayRef<int64_t> shape) {
  const auto last = llvm::find_if(llvm::reverse(shape), [](int64_t extent) { return extent != 1; });
  if (last == shape.rend())
    return std::nullopt;
  return std::pair(shape.rend() - last - 1, ShapedType::getNumElements(shape));
}

/// Whether a contraction's result is read in this order alone, through permutes and element by element.
static bool isPermutedContraction(PermuteOp permute) {
  Value value = permute.getX();
  for (int depth = 0; depth < 4 && value.hasOneUse(); ++depth) {
    Operation *op = value.getDefiningOp();
    if (auto sum = dyn_cast_or_null<ReduceOp>(op))
      return matchContraction(sum).has_value();
    if (!isa_and_nonnull<PermuteOp, UnaryOp, BinaryOp, CastOp>(op))
      return false;
    // Of two operands the other one is repeated, or a number.
    Value next = op->getOperand(0);
    if (isa<BinaryOp>(op) && !next.getDefiningOp<ReduceOp>() &&
        !isa_and_nonnull<PermuteOp, UnaryOp, CastOp>(next.getDefiningOp()))
      next = op->getOperand(1);
    value = next;
  }
  return false;
}

/// On an op: the dimension of its result that lies last in memory.
static constexpr llvm::StringLiteral lastDimAttrName = "zyx.last";

void zyx::fusion::noteLastDims(Block &block) {
  llvm::MapVector<std::pair<Operation *, int64_t>, unsigned> wishes;
  for (auto reduce : block.getOps<ReduceOp>())
    for (const FactorRead &read : findFactorReads(reduce))
      if (Operation *source = read.source.getDefiningOp(); source && source->getBlock() == &block && read.isNarrow)
        if (std::optional<int64_t> last = findLastDim(read))
          ++wishes[{source, *last}];
  llvm::DenseMap<Operation *, unsigned> most;
  for (auto &[wish, count] : wishes)
    if (count > most[wish.first]) {
      most[wish.first] = count;
      wish.first->setAttr(lastDimAttrName, Builder(wish.first->getContext()).getI64IntegerAttr(wish.second));
    }
}

void zyx::fusion::forgetLastDims(Block &block) {
  for (Operation &op : block)
    op.removeAttr(lastDimAttrName);
}

/// The dimension along which neighbours lie side by side in memory, of what most of a value is read from, and how many
/// elements that has. None where the nearest ops do not tell.
static std::optional<std::pair<int64_t, int64_t>> findContiguous(Value value, int depth = 16) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  Operation *op = value.getDefiningOp();
  using Found = std::optional<std::pair<int64_t, int64_t>>;
  if (auto constant = dyn_cast_or_null<ConstantOp>(op); (constant && constant.getValue().isSplat()) || depth == 0)
    return std::nullopt;
  if (isElementwise(op)) {
    Found best;
    for (Value operand : op->getOperands())
      if (Found own = findContiguous(operand, depth - 1); own && (!best || own->second > best->second))
        best = own;
    return best;
  }
  if (!isView(op)) {
    if (auto noted = op ? op->getAttrOfType<IntegerAttr>(lastDimAttrName) : IntegerAttr())
      return std::pair(noted.getInt(), ShapedType::getNumElements(shape));
    return findLast(shape);
  }
  // Results of a contraction are written in the order in which they are read next.
  if (auto permute = dyn_cast<PermuteOp>(op); permute && isPermutedContraction(permute))
    return findLast(shape);
  Found source = findContiguous(op->getOperand(0), depth - 1);
  if (!source)
    return std::nullopt;
  if (isa<PadOp, FlipOp, WindowOp>(op))
    return source;
  if (isa<ReshapeOp>(op)) {
    // What is innermost of one dimension is innermost of another one, as many elements away from its neighbours.
    ArrayRef<int64_t> from = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
    const int64_t stride = ShapedType::getNumElements(from.drop_front(source->first + 1));
    int64_t own = 1;
    for (int64_t dim = static_cast<int64_t>(shape.size()); dim-- > 0; own *= shape[dim])
      if (shape[dim] != 1 && own == stride)
        return std::pair(dim, source->second);
    return std::nullopt;
  }
  const auto dims = getOperandDims(op);
  for (int64_t dim = 0; dims && dim < static_cast<int64_t>(shape.size()); ++dim)
    if ((*dims)[dim] == source->first && shape[dim] != 1)
      return std::pair(dim, source->second);
  return std::nullopt;
}

/// The dimension of what is reduced along which memory is read.
static int64_t contiguousDim(ReduceOp op) {
  const auto found = findContiguous(op.getX());
  return found ? found->first : cast<RankedTensorType>(op.getX().getType()).getRank() - 1;
}

/// Whether elements that lie next to each other are combined.
static bool isAlongRows(ReduceOp op) { return llvm::is_contained(op.getDims(), contiguousDim(op)); }

/// What a workgroup of a card has of column sums: so many vectors of neighbouring columns, and threads for each.
constexpr int64_t stripVectors = 32, threadsPerStrip = 512;

/// Workgroups that a machine with so many threads has for column sums that are not cut into parts.
static int64_t stripsOf(ReduceOp op) {
  auto widened = op.getX().getDefiningOp<CastOp>();
  auto type = cast<RankedTensorType>((widened ? widened.getX() : op.getX()).getType());
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  const int64_t columns = type.getDimSize(contiguousDim(op));
  const int64_t bytes = llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  const int64_t strips = llvm::divideCeil(columns * bytes, threadBytes * stripVectors);
  return std::max<int64_t>(results / std::max<int64_t>(columns, 1), 1) * strips;
}

static int64_t threadsOf(ReduceOp op) {
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  return isAlongRows(op) ? results * threadsPerRow : stripsOf(op) * threadsPerStrip;
}

/// What takes as long as some hundred launches.
static bool hasManyElements(ReduceOp op) {
  constexpr int64_t fewestElements = int64_t(1) << 18;
  return cast<RankedTensorType>(op.getX().getType()).getNumElements() >= fewestElements;
}

/// The same, and results that are too few to share it.
static bool isLong(ReduceOp op, int64_t threads) {
  constexpr int64_t mostResults = 8;
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  const int64_t elements = cast<RankedTensorType>(op.getX().getType()).getNumElements();
  // Columns that a few multiprocessors have take longer than launches, though there are fewer elements.
  constexpr int64_t fewestOfColumns = int64_t(1) << 17, fewStrips = 4;
  const bool isOfFew = threads != 0 && elements >= fewestOfColumns && !isAlongRows(op) && stripsOf(op) <= fewStrips;
  if (!(hasManyElements(op) || isOfFew) || matchContraction(op))
    return false;
  // Half of the threads are enough: a second kernel takes its time, too.
  return results <= mostResults || (results > 0 && elements / results >= 64 && threadsOf(op) < threads / 2);
}

/// Rows that are programs of their own: the first of several dimensions that are reduced.
static bool hasRows(ReduceOp op) {
  constexpr int64_t fewestRows = 16, mostRows = 4096;
  const int64_t rows = cast<RankedTensorType>(op.getX().getType()).getDimSize(op.getDims().front());
  return op.getDims().size() > 1 && rows >= fewestRows && rows <= mostRows;
}

/// The reductions of attentions that workgroups walk in one pass, of which there are enough for the machine: with parts
/// of their own they would be none.
static llvm::DenseSet<Operation *> findWholeAttentions(Block &block, int64_t threads, int64_t cluster) {
  constexpr int64_t threadsPerProgram = 4096, keysOfFew = 8192;
  llvm::DenseSet<Operation *> whole;
  if (threads == 0)
    return whole;
  for (auto output : block.getOps<ReduceOp>()) {
    auto found = matchAttention(output);
    if (!found || !cast<RankedTensorType>(found->exp.getType()).getElementType().isF32())
      continue;
    auto product = output.getX().getDefiningOp<BinaryOp>();
    Value weights = found->weights.front()->get(), values = product.getA() == weights ? product.getB() : product.getA();
    auto numElements = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
    // Of each of its programs values are keys times columns; heads that share them are one.
    const int64_t rows = numElements(found->max.getResult()),
                  keys = numElements(found->max.getX()) / std::max<int64_t>(rows, 1);
    const int64_t columns = numElements(output.getResult()) / std::max<int64_t>(rows, 1);
    if (columns < 2 || keys < 2)
      continue;
    // So few keys take no longer, however few workgroups a cluster has.
    const int64_t programs = numElements(getViewSource(values)) / (keys * columns);
    if (programs * cluster < threads / threadsPerProgram && (cluster == 1 || keys > keysOfFew))
      continue;
    for (Operation *op : {found->scores.getOperation(), found->max.getOperation(), output.getOperation()})
      whole.insert(op);
    for (auto sum : block.getOps<ReduceOp>())
      if (isSumOf(sum, found->exp))
        whole.insert(sum);
  }
  return whole;
}

namespace {

/// Which reduced dimensions are parts as they are, and one that falls into parts.
struct Parts {
  SmallVector<int64_t> whole;
  int64_t cut = -1, count = 1;
};

} // namespace

/// As many parts as a card wants, as nearly as the extents allow. Each has some rows to add up, so that adding up parts
/// is not the most of it.
static std::optional<Parts> chooseParts(ReduceOp op, int64_t threads) {
  constexpr int64_t fewestElements = 64, mostParts = 4096;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getX().getType()).getShape(), dims = op.getDims();
  const int64_t contiguous = contiguousDim(op), all = ShapedType::getNumElements(shape);
  const int64_t combined =
      all / std::max<int64_t>(cast<RankedTensorType>(op.getResult().getType()).getNumElements(), 1);
  // Of a row each thread of a workgroup has several vectors.
  const int64_t fewest = isAlongRows(op) ? fewestElements * threadsPerRow / 8 : fewestElements;
  const int64_t most = std::min(combined / fewest, mostParts);
  const int64_t wanted = std::min(threads / std::max<int64_t>(threadsOf(op), 1), most);
  if (wanted < 2 || dims.size() > 8)
    return std::nullopt;
  std::optional<std::pair<Parts, int64_t>> best;
  auto distance = [&](int64_t parts) { return parts > wanted ? parts - wanted : 2 * (wanted - parts); };
  auto consider = [&](Parts parts, int64_t total) {
    if (total >= 2 && total <= most && (!best || distance(total) < distance(best->second)))
      best = {std::move(parts), total};
  };
  for (unsigned subset = 0; subset < 1u << dims.size(); ++subset) {
    Parts parts;
    int64_t total = 1;
    bool isAllowed = true;
    for (auto [i, dim] : llvm::enumerate(dims))
      if (subset >> i & 1) {
        isAllowed &= dim != contiguous;
        parts.whole.push_back(dim);
        total = std::min(total * shape[dim], all);
      }
    if (!isAllowed || total > most || parts.whole.size() == dims.size())
      continue;
    consider(parts, total);
    for (auto [i, dim] : llvm::enumerate(dims)) {
      if (subset >> i & 1)
        continue;
      // Parts of a row begin where lines of memory do.
      const int64_t step = dim == contiguous ? 64 : 1;
      for (int64_t count = 2; count * total <= most && count <= shape[dim]; ++count)
        if (shape[dim] % (count * step) == 0) {
          parts.cut = dim, parts.count = count;
          consider(parts, total * count);
        }
    }
  }
  // A second kernel is not worth a few more workgroups.
  constexpr int64_t fewestParts = 8;
  if (!best || (best->second < fewestParts && 4 * best->second < wanted))
    return std::nullopt;
  return best->first;
}

namespace {

/// Makes two dimensions of one: parts, and what each has. Through gathers, too, whose result a kernel sees under no
/// other extents: what they gather from gets the dimensions, or their indices.
class DimSplitter {
public:
  DimSplitter(OpBuilder &builder, int64_t count) : builder(builder), count(count) {}

  /// Whether a gather lies between the value and what is in memory, with nothing else on the way than `split` goes
  /// through.
  bool meetsGather(Value value, int64_t dim, int depth = 16) {
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0 || (!value.hasOneUse() && !isa<GatherOp>(op)))
      return false;
    if (isa<GatherOp>(op))
      return true;
    if (isElementwise(op))
      return llvm::any_of(op->getOperands(), [&](Value operand) { return meetsGather(operand, dim, depth - 1); });
    const std::optional<int64_t> inner = innerDim(op, dim);
    return inner && meetsGather(op->getOperand(0), *inner, depth - 1);
  }

  Value split(Value value, int64_t dim) {
    Operation *op = value.getDefiningOp();
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = splitShape(type.getShape(), dim);
    Location loc = value.getLoc();
    if (auto constant = dyn_cast_or_null<ConstantOp>(op); constant && constant.getValue().isSplat()) {
      auto made = type.clone(shape);
      return ConstantOp::create(builder, loc, made, constant.getValue().resizeSplat(made));
    }
    if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
      const auto at = static_cast<int64_t>(gather.getDim());
      const int64_t rank = cast<RankedTensorType>(gather.getIndices().getType()).getRank();
      if (dim >= at && dim < at + rank)
        return GatherOp::create(builder, loc, type.clone(shape), gather.getX(), split(gather.getIndices(), dim - at),
                                at);
      Value x = split(gather.getX(), dim < at ? dim : dim - rank + 1);
      return GatherOp::create(builder, loc, type.clone(shape), x, gather.getIndices(), dim < at ? at + 1 : at);
    }
    if (isElementwise(op) && value.hasOneUse()) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(split(operand, dim));
      Operation *clone = builder.clone(*op);
      clone->setOperands(operands);
      clone->getResult(0).setType(type.clone(shape));
      return clone->getResult(0);
    }
    if (auto expand = dyn_cast_or_null<ExpandOp>(op)) {
      auto from = cast<RankedTensorType>(expand.getX().getType());
      if (from.getDimSize(dim) != 1)
        return ExpandOp::create(builder, loc, type.clone(shape), split(expand.getX(), dim));
      SmallVector<int64_t> units(from.getShape());
      units.insert(units.begin() + dim, 1);
      Value source = ReshapeOp::create(builder, loc, from.clone(units), expand.getX());
      return ExpandOp::create(builder, loc, type.clone(shape), source);
    }
    if (const std::optional<int64_t> inner = op ? innerDim(op, dim) : std::nullopt) {
      Value source = split(op->getOperand(0), *inner);
      auto permute = dyn_cast<PermuteOp>(op);
      if (!permute)
        return ReshapeOp::create(builder, loc, type.clone(shape), source);
      SmallVector<int64_t> order;
      for (int64_t from : permute.getOrder()) {
        order.push_back(from > *inner ? from + 1 : from);
        if (from == *inner)
          order.push_back(from + 1);
      }
      return PermuteOp::create(builder, loc, type.clone(shape), source, order);
    }
    return ReshapeOp::create(builder, loc, type.clone(shape), value);
  }

private:
  SmallVector<int64_t> splitShape(ArrayRef<int64_t> shape, int64_t dim) const {
    SmallVector<int64_t> result(shape);
    result.insert(result.begin() + dim, count);
    result[dim + 1] /= count;
    return result;
  }
  /// The dimension of its operand that one of a permute or a unit reshape is; an expand's own, where that is not
  /// repeated.
  static std::optional<int64_t> innerDim(Operation *op, int64_t dim) {
    if (!isa<PermuteOp, ReshapeOp, ExpandOp>(op))
      return std::nullopt;
    const auto dims = getOperandDims(op);
    return dims ? (*dims)[dim] : std::nullopt;
  }

  OpBuilder &builder;
  const int64_t count;
};

} // namespace

/// Gives a reduction parts as dimensions of their own, and notes which these are.
static void partForCard(ReduceOp op, int64_t threads) {
  const std::optional<Parts> parts = chooseParts(op, threads);
  if (!parts)
    return;
  auto type = cast<RankedTensorType>(op.getX().getType());
  SmallVector<int64_t> shape(type.getShape()), dims(op.getDims()), whole(parts->whole);
  OpBuilder builder(op);
  if (parts->cut >= 0) {
    shape.insert(shape.begin() + parts->cut, parts->count);
    shape[parts->cut + 1] /= parts->count;
    for (SmallVector<int64_t> *list : {&dims, &whole})
      for (int64_t &dim : *list)
        dim += dim >= parts->cut;
    dims.push_back(parts->cut);
    whole.push_back(parts->cut);
    llvm::sort(dims);
    llvm::sort(whole);
    DimSplitter splitter(builder, parts->count);
    Value parted = splitter.meetsGather(op.getX(), parts->cut)
                       ? splitter.split(op.getX(), parts->cut)
                       : ReshapeOp::create(builder, op.getLoc(), type.clone(shape), op.getX()).getResult();
    auto made = ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), op.getKind(), parted, dims);
    op.replaceAllUsesWith(made.getResult());
    op.erase();
    op = made;
  }
  op->setAttr(zyx::fusion::partsAttrName, builder.getDenseI64ArrayAttr(whole));
}

void zyx::fusion::partReductions(Block &block, int64_t threads, int64_t cluster) {
  const llvm::DenseSet<Operation *> whole = findWholeAttentions(block, threads, cluster);
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    // Rows may have parts already.
    if (op->hasAttr(partsAttrName)) {
      if (!hasManyElements(op))
        op->removeAttr(partsAttrName);
      continue;
    }
    if (!isLong(op, threads) || whole.contains(op))
      continue;
    if (isRounded(op))
      op = widen(op);
    if (threads != 0) {
      partForCard(op, threads);
      continue;
    }
    if (hasRows(op))
      continue;
    auto type = cast<RankedTensorType>(op.getX().getType());
    SmallVector<int64_t> shape(type.getShape()), dims(op.getDims());
    const int64_t first = dims.front();
    const int64_t parts = partsOf(shape[first]);
    if (parts == 0)
      continue;
    shape.insert(shape.begin() + first, parts);
    shape[first + 1] /= parts;
    for (int64_t &dim : dims)
      ++dim;
    dims.insert(dims.begin(), first);
    OpBuilder builder(op);
    Value parted = ReshapeOp::create(builder, op.getLoc(), type.clone(shape), op.getX());
    op.replaceAllUsesWith(
        ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), op.getKind(), parted, dims).getResult());
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Long contractions
//===----------------------------------------------------------------------===//

/// Whether a value is computed from the result of another reduction, element by element and through views.
static bool followsReduction(Value value, llvm::DenseSet<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return false;
  if (isa<ReduceOp>(op))
    return true;
  const bool isPassed = isView(op) || isa<UnaryOp, BinaryOp, CastOp, SelectOp>(op);
  return isPassed && llvm::any_of(op->getOperands(), [&](Value operand) { return followsReduction(operand, seen); });
}

namespace {

/// The leading part of what is summed up: whole dimensions, and then a part of another one.
struct LeadingPart {
  int64_t parts = 1;
  SmallVector<int64_t> whole;
  int64_t cut = -1, pieces = 1;
};

} // namespace

/// At most so many parts, of the dimensions in their order.
static LeadingPart findLeadingPart(ReduceOp op, int64_t most) {
  LeadingPart result;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getX().getType()).getShape();
  for (int64_t dim : op.getDims()) {
    const int64_t extent = shape[dim];
    if (result.parts * extent <= most && result.whole.size() + 1 < op.getDims().size()) {
      result.whole.push_back(dim);
      result.parts *= extent;
      continue;
    }
    for (int64_t pieces = std::min(most / result.parts, extent - 1); pieces > 1; --pieces)
      if (extent % pieces == 0) {
        result.cut = dim;
        result.pieces = pieces;
        result.parts *= pieces;
        break;
      }
    break;
  }
  return result;
}

/// How many parts a contraction is worth: few results of a long sum are few tiles, which fill no card.
static int64_t partsOfContraction(ReduceOp op, int64_t threads) {
  // A tile's results; steps that a part has at least; parts that are worth a second kernel.
  constexpr int64_t tileResults = 1024, fewestSteps = 256, fewestParts = 8, fewestProducts = int64_t(1) << 23;
  constexpr int64_t threadsPerTile = 128;
  auto type = cast<RankedTensorType>(op.getX().getType());
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  if (results == 0 || type.getNumElements() < fewestProducts || type.getElementTypeBitWidth() < 32)
    return 0;
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction)
    return 0;
  int64_t batches = 1;
  for (int64_t dim : contraction->batch)
    batches *= type.getDimSize(dim);
  const int64_t tiles = std::max<int64_t>(llvm::divideCeil(results, tileResults), batches);
  const int64_t steps = type.getNumElements() / results;
  const int64_t parts = std::min(threads / threadsPerTile / tiles, steps / fewestSteps);
  return parts < fewestParts ? 0 : parts;
}

/// The contraction's parts, where it is worth some; attentions are walked as a whole.
static std::optional<LeadingPart> partsWorth(ReduceOp op, int64_t threads) {
  const int64_t most = partsOfContraction(op, threads);
  llvm::DenseSet<Operation *> seen;
  if (most == 0 || followsReduction(op.getX(), seen))
    return std::nullopt;
  LeadingPart leading = findLeadingPart(op, most);
  if (2 * leading.parts < most && leading.parts < 16)
    return std::nullopt;
  return leading;
}

void zyx::fusion::partContractions(Block &block, int64_t threads) {
  if (threads == 0)
    return;
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    std::optional<LeadingPart> leading = partsWorth(op, threads);
    if (!leading || leading->cut < 0)
      continue;
    // The cut dimension becomes two: its pieces, and what each has.
    auto type = cast<RankedTensorType>(op.getX().getType());
    SmallVector<int64_t> shape(type.getShape()), dims;
    for (int64_t dim : op.getDims()) {
      dims.push_back(dim > leading->cut ? dim + 1 : dim);
      if (dim == leading->cut)
        dims.push_back(dim + 1);
    }
    shape[leading->cut] /= leading->pieces;
    shape.insert(shape.begin() + leading->cut, leading->pieces);
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto product = op.getX().getDefiningOp<BinaryOp>();
    // In front of what repeats a factor, so that it is still seen to do so.
    std::function<Value(Value)> parted = [&](Value value) -> Value {
      auto own = cast<RankedTensorType>(value.getType());
      SmallVector<int64_t> extents(own.getShape());
      const bool isRepeated = extents[leading->cut] == 1;
      extents[leading->cut] /= isRepeated ? 1 : leading->pieces;
      extents.insert(extents.begin() + leading->cut, isRepeated ? 1 : leading->pieces);
      if (auto expand = value.getDefiningOp<ExpandOp>())
        return ExpandOp::create(builder, loc, own.clone(extents), parted(expand.getX()));
      return ReshapeOp::create(builder, loc, own.clone(extents), value);
    };
    Value terms = BinaryOp::create(builder, loc, type.clone(shape), BinaryKind::Mul, parted(product.getA()),
                                   parted(product.getB()));
    op.replaceAllUsesWith(
        ReduceOp::create(builder, loc, op.getResult().getType(), ReduceKind::Add, terms, dims).getResult());
    op.erase();
  }
}

void zyx::fusion::splitContractions(Block &block, int64_t threads) {
  if (threads == 0)
    return;
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    std::optional<LeadingPart> leading = partsWorth(op, threads);
    if (!leading || leading->whole.empty())
      continue;
    auto type = cast<RankedTensorType>(op.getX().getType());
    SmallVector<int64_t> inner, kept, last;
    for (int64_t dim : op.getDims())
      if (!llvm::is_contained(leading->whole, dim))
        inner.push_back(dim);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(inner, dim)) {
        if (llvm::is_contained(leading->whole, dim))
          last.push_back(static_cast<int64_t>(kept.size()));
        kept.push_back(type.getDimSize(dim));
      }
    OpBuilder builder(op);
    Value partial = ReduceOp::create(builder, op.getLoc(), type.clone(kept), ReduceKind::Add, op.getX(), inner);
    op.replaceAllUsesWith(
        ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), ReduceKind::Add, partial, last).getResult());
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The reduction of each part, and that of what they have.
static void splitParts(ReduceOp op, ArrayRef<int64_t> parts) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  SmallVector<int64_t> inner, shape, outer;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    const bool isPart = llvm::is_contained(parts, dim);
    if (llvm::is_contained(op.getDims(), dim) && !isPart) {
      inner.push_back(dim);
      continue;
    }
    if (isPart)
      outer.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(type.getDimSize(dim));
  }
  if (inner.empty() || outer.empty())
    return;
  OpBuilder builder(op);
  Value partial = ReduceOp::create(builder, op.getLoc(), type.clone(shape), op.getKind(), op.getX(), inner);
  op.replaceAllUsesWith(
      ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), op.getKind(), partial, outer).getResult());
  op.erase();
}

void zyx::fusion::splitReductions(Block &block, int64_t threads) {
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    if (threads != 0) {
      if (auto parts = op->getAttrOfType<DenseI64ArrayAttr>(partsAttrName)) {
        op->removeAttr(partsAttrName);
        splitParts(op, parts.asArrayRef());
      }
      continue;
    }
    if (isLong(op, threads) && hasRows(op))
      splitParts(op, op.getDims().take_front());
  }
}
