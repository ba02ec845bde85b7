//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

/// Steps of one trip that a kernel still has in registers, and elements of one point.
constexpr size_t mostSteps = 1024;
constexpr int64_t mostElements = 64;
/// Parts of a group's result that one point has.
constexpr int64_t mostParts = 16;
constexpr unsigned maxSplitRank = 4;
/// Integers beyond this are no places.
constexpr int64_t largest = int64_t(1) << 40;

using Indices = SmallVector<Linear, 4>;

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

SmallVector<int64_t> dropUnits(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  llvm::copy_if(shape, std::back_inserter(result), [](int64_t extent) { return extent != 1; });
  return result;
}

/// Follows the values of a body from what a trip yields to what it reads.
class Analysis {
public:
  explicit Analysis(LoopOp loop) : loop(loop), block(loop.getBlock()) {}
  /// With parts, the domain is that part of the least of the group's results along a dimension.
  explicit Analysis(GroupOp group, unsigned splitDim = 0, int64_t splitParts = 1)
      : group(group), block(group.getBlock()), splitDim(splitDim), splitParts(splitParts) {}

  std::optional<ElementLoop> run();
  std::optional<ElementLoop> runGroup();

private:
  struct Root {
    Value value;
    ScatterOp scatter;
  };

  bool findRoots();
  bool findDomain();
  bool addCarried(unsigned position, Value next);
  bool addWritten(unsigned position, ScatterOp scatter) {
    return addRow(position, scatter, *indicesOf(shapeOf(scatter.getUpdates()), 0));
  }
  bool addRow(unsigned position, ScatterOp scatter, const Indices &at);
  std::optional<unsigned> evaluate(Value value, const Indices &at);
  std::optional<unsigned> evaluateNew(Value value, const Indices &at);
  std::optional<unsigned> evaluateOp(Operation *op, const Indices &at);
  std::optional<unsigned> evaluateReduce(ReduceOp reduce, const Indices &at);
  std::optional<unsigned> evaluatePad(PadOp pad, const Indices &at);
  std::optional<unsigned> evaluateConcat(ConcatOp concat, const Indices &at);
  std::optional<Indices> throughView(Operation *view, const Indices &at) const;
  std::optional<Indices> throughReshape(ReshapeOp reshape, const Indices &at) const;
  std::optional<Linear> evaluateNumber(Value value, const Indices &at);
  std::optional<Linear> foldNumbers(Operation *op, ArrayRef<unsigned> operands) const;

  void dropUnread();

  unsigned add(ElementStep step) {
    result.steps.push_back(std::move(step));
    return result.steps.size() - 1;
  }
  Linear constant(int64_t value) const {
    Linear result;
    result.constant = value;
    result.factors.assign(this->result.domain.size() + 1, 0);
    return result;
  }
  Linear linearize(ArrayRef<int64_t> shape, const Indices &at) const;
  /// The smallest and the largest value.
  std::pair<int64_t, int64_t> rangeOf(const Linear &linear) const;
  bool isWithin(const Linear &linear, int64_t begin, int64_t end) const {
    auto [low, high] = rangeOf(linear);
    return begin <= low && high < end;
  }
  /// Indices of element `own` of a tensor of that shape at a point of the domain; where all points share it, of that.
  std::optional<Indices> indicesOf(ArrayRef<int64_t> shape, int64_t own) const;
  std::optional<int64_t> countOwn(ArrayRef<int64_t> shape) const;

  bool findParts();
  std::optional<SmallVector<int64_t>> countParts(ArrayRef<int64_t> shape) const;

  LoopOp loop;
  GroupOp group;
  Block &block;
  unsigned splitDim = 0;
  int64_t splitParts = 1;
  ElementLoop result;
  /// By position in what is carried: rows that are written, or else elements that are carried on.
  SmallVector<Root> roots;
  /// First carried element of each position.
  SmallVector<unsigned> firstState;
  std::map<std::pair<void *, std::vector<Linear>>, std::optional<unsigned>> known;
};

} // namespace

static Linear plus(Linear a, const Linear &b, int64_t times = 1) {
  a.constant += b.constant * times;
  for (auto [x, y] : llvm::zip_equal(a.factors, b.factors))
    x += y * times;
  return a;
}

static Linear scale(Linear a, int64_t by) {
  a.constant *= by;
  for (int64_t &factor : a.factors)
    factor *= by;
  return a;
}

Linear Analysis::linearize(ArrayRef<int64_t> shape, const Indices &at) const {
  Linear place = constant(0);
  for (auto [extent, index] : llvm::zip_equal(shape, at))
    place = plus(scale(place, extent), index);
  return place;
}

std::pair<int64_t, int64_t> Analysis::rangeOf(const Linear &linear) const {
  int64_t low = linear.constant, high = linear.constant;
  for (auto [i, factor] : llvm::enumerate(linear.factors)) {
    const int64_t end = i < result.domain.size() ? result.domain[i] : result.trips;
    (factor < 0 ? low : high) += factor * (end - 1);
  }
  return {low, high};
}

//===----------------------------------------------------------------------===//
// What is carried
//===----------------------------------------------------------------------===//

/// A carried tensor is written row by row where the body does nothing with it but one scatter.
bool Analysis::findRoots() {
  for (auto [position, next] : llvm::enumerate(block.getTerminator()->getOperands())) {
    BlockArgument argument = block.getArgument(position + 1);
    auto scatter = next.getDefiningOp<ScatterOp>();
    const bool isWritten = scatter && scatter.getX() == argument && argument.hasOneUse() && scatter->hasOneUse();
    if (scatter && !isWritten)
      return false;
    roots.push_back({next, isWritten ? scatter : ScatterOp()});
  }
  return true;
}

/// The domain are the dimensions that all which is carried or written has in front; what is carried may have some more.
bool Analysis::findDomain() {
  SmallVector<SmallVector<int64_t>> shapes;
  for (Root &root : roots)
    shapes.push_back(dropUnits(shapeOf(root.scatter ? Value(root.scatter.getUpdates()) : root.value)));
  const SmallVector<int64_t> *least = nullptr;
  for (const SmallVector<int64_t> &shape : shapes)
    if (!shape.empty() && (!least || shape.size() < least->size()))
      least = &shape;
  if (least)
    result.domain = *least;
  if (llvm::is_contained(result.domain, 0))
    return false;
  for (auto [root, shape] : llvm::zip_equal(roots, shapes)) {
    std::optional<int64_t> own = countOwn(shape);
    if (!own || *own > (root.scatter ? 1 : mostElements))
      return false;
  }
  return true;
}

/// Elements that one point has of a tensor.
std::optional<int64_t> Analysis::countOwn(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> extents = dropUnits(shape);
  if (extents.empty())
    return 1;
  if (!ArrayRef(extents).take_front(result.domain.size()).equals(result.domain))
    return std::nullopt;
  int64_t own = 1;
  for (int64_t extent : ArrayRef(extents).drop_front(result.domain.size())) {
    own *= extent;
    if (own > mostElements || own == 0)
      return std::nullopt;
  }
  return own;
}

std::optional<Indices> Analysis::indicesOf(ArrayRef<int64_t> shape, int64_t own) const {
  Indices at(shape.size(), constant(0));
  if (dropUnits(shape).empty())
    return at;
  size_t dim = 0;
  int64_t rest = 1;
  SmallVector<int64_t> extents = dropUnits(shape);
  for (int64_t extent : ArrayRef(extents).drop_front(result.domain.size()))
    rest *= extent;
  for (auto [extent, index] : llvm::zip_equal(shape, at)) {
    if (extent == 1)
      continue;
    if (dim < result.domain.size()) {
      index.factors[dim++] = 1;
      continue;
    }
    rest /= extent;
    index.constant = own / rest % extent;
  }
  return at;
}

//===----------------------------------------------------------------------===//
// Values of a trip
//===----------------------------------------------------------------------===//

std::optional<Indices> Analysis::throughReshape(ReshapeOp reshape, const Indices &at) const {
  ArrayRef<int64_t> from = shapeOf(reshape.getX()), to = shapeOf(reshape);
  Indices result;
  size_t j = 0;
  if (llvm::is_contained(from, 0))
    return std::nullopt;
  // Neighbouring dimensions of the same product; those of one element belong to nobody.
  for (size_t i = 0; i < from.size();) {
    if (from[i] == 1) {
      result.push_back(constant(0));
      ++i;
      continue;
    }
    while (j < to.size() && to[j] == 1)
      ++j;
    size_t endFrom = i + 1, endTo = j + 1;
    int64_t productFrom = from[i], productTo = to[j];
    while (productFrom != productTo) {
      if (productFrom < productTo)
        productFrom *= from[endFrom++];
      else
        productTo *= to[endTo++];
    }
    Linear place = linearize(to.slice(j, endTo - j), Indices(ArrayRef(at).slice(j, endTo - j)));
    Indices parts(endFrom - i, constant(0));
    for (size_t k = endFrom; k-- > i;) {
      if (k == i) {
        parts[0] = place;
        break;
      }
      // What is a whole multiple of the extent leaves the index; the rest must not reach it.
      const int64_t extent = from[k];
      Linear rest = constant(0), whole = constant(0);
      rest.constant = (place.constant % extent + extent) % extent;
      whole.constant = (place.constant - rest.constant) / extent;
      for (auto [factor, r, w] : llvm::zip_equal(place.factors, rest.factors, whole.factors)) {
        if (factor % extent == 0)
          w = factor / extent;
        else
          r = factor;
      }
      if (!isWithin(rest, 0, extent))
        return std::nullopt;
      parts[k - i] = rest;
      place = whole;
    }
    result.append(parts.begin(), parts.end());
    i = endFrom;
    j = endTo;
  }
  return result;
}

std::optional<Indices> Analysis::throughView(Operation *view, const Indices &at) const {
  ArrayRef<int64_t> from = shapeOf(view->getOperand(0));
  Indices result = at;
  if (auto reshape = dyn_cast<ReshapeOp>(view))
    return throughReshape(reshape, at);
  if (isa<ExpandOp>(view)) {
    for (auto [extent, index] : llvm::zip_equal(from, result))
      if (extent == 1)
        index = constant(0);
    return result;
  }
  if (auto permute = dyn_cast<PermuteOp>(view)) {
    for (auto [index, dim] : llvm::zip_equal(at, permute.getOrder()))
      result[dim] = index;
    return result;
  }
  if (auto flip = dyn_cast<FlipOp>(view)) {
    for (int64_t dim : flip.getDims())
      result[dim] = plus(constant(from[dim] - 1), at[dim], -1);
    return result;
  }
  return std::nullopt;
}

std::optional<unsigned> Analysis::evaluate(Value value, const Indices &at) {
  std::pair<void *, std::vector<Linear>> key{value.getAsOpaquePointer(), std::vector<Linear>(at.begin(), at.end())};
  if (auto found = known.find(key); found != known.end())
    return found->second;
  if (result.steps.size() >= mostSteps)
    return std::nullopt;
  std::optional<unsigned> step = evaluateNew(value, at);
  known.emplace(std::move(key), step);
  return step;
}

std::optional<unsigned> Analysis::evaluateNew(Value value, const Indices &at) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return evaluateOp(value.getDefiningOp(), at);
  Linear trip = constant(0);
  trip.factors.back() = 1;
  const Linear place = linearize(shapeOf(value), at);
  if (group) {
    auto outside = dyn_cast<BlockArgument>(group.getInputs()[argument.getArgNumber()]);
    if (outside && outside.getOwner() == group->getBlock() && outside.getArgNumber() == 0)
      return add({ElementStep::Kind::Number, nullptr, {}, {}, trip, 0, elementOf(value)});
    return add({ElementStep::Kind::Load, nullptr, {}, value, place, 0, elementOf(value)});
  }
  const unsigned number = argument.getArgNumber(), numCarried = loop.getInitial().size();
  if (number == 0)
    return add({ElementStep::Kind::Number, nullptr, {}, {}, trip, 0, elementOf(value)});
  if (number > numCarried) {
    Value source = loop.getInvariants()[number - 1 - numCarried];
    return add({ElementStep::Kind::Load, nullptr, {}, source, place, 0, elementOf(value)});
  }
  const unsigned position = number - 1;
  if (roots[position].scatter)
    return std::nullopt;
  // One of the point's own elements, and no other's.
  for (unsigned state = firstState[position];
       state < result.carried.size() && result.carried[state].position == position; ++state)
    if (result.carried[state].place == place)
      return add({ElementStep::Kind::State, nullptr, {}, {}, {}, state, elementOf(value)});
  return std::nullopt;
}

/// Integers of the domain and the trip stay such as long as nothing can overflow.
std::optional<Linear> Analysis::foldNumbers(Operation *op, ArrayRef<unsigned> operands) const {
  auto type = dyn_cast<IntegerType>(elementOf(op->getResult(0)));
  if (!type || (type.getWidth() != 64 && type.getWidth() != 32))
    return std::nullopt;
  SmallVector<Linear, 2> numbers;
  for (unsigned operand : operands) {
    if (result.steps[operand].kind != ElementStep::Kind::Number)
      return std::nullopt;
    numbers.push_back(result.steps[operand].place);
  }
  Linear folded;
  if (isa<CastOp>(op)) {
    folded = numbers[0];
  } else if (auto binary = dyn_cast<BinaryOp>(op)) {
    if (binary.getKind() == BinaryKind::Add)
      folded = plus(numbers[0], numbers[1]);
    else if (binary.getKind() == BinaryKind::Sub)
      folded = plus(numbers[0], numbers[1], -1);
    else if (binary.getKind() == BinaryKind::Mul && (numbers[0].isConstant() || numbers[1].isConstant()))
      folded =
          numbers[0].isConstant() ? scale(numbers[1], numbers[0].constant) : scale(numbers[0], numbers[1].constant);
    else
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  const int64_t limit = type.getWidth() == 32 ? int64_t(1) << 31 : largest;
  return isWithin(folded, type.isUnsigned() ? 0 : -limit, limit) ? std::optional(folded) : std::nullopt;
}

std::optional<Linear> Analysis::evaluateNumber(Value value, const Indices &at) {
  std::optional<unsigned> step = evaluate(value, at);
  if (!step || result.steps[*step].kind != ElementStep::Kind::Number)
    return std::nullopt;
  return result.steps[*step].place;
}

std::optional<unsigned> Analysis::evaluateReduce(ReduceOp reduce, const Indices &at) {
  ArrayRef<int64_t> shape = shapeOf(reduce.getX());
  int64_t count = 1;
  for (int64_t dim : reduce.getDims()) {
    count *= shape[dim];
    if (count == 0 || count > mostElements)
      return std::nullopt;
  }
  ElementStep step{ElementStep::Kind::Reduce, reduce, {}, {}, {}, 0, elementOf(reduce)};
  for (int64_t i = 0; i < count; ++i) {
    Indices inside;
    size_t next = 0;
    int64_t rest = count, number = i;
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim))) {
        inside.push_back(at[next++]);
        continue;
      }
      rest /= extent;
      inside.push_back(constant(number / rest));
      number %= rest;
    }
    std::optional<unsigned> operand = evaluate(reduce.getX(), inside);
    if (!operand)
      return std::nullopt;
    step.operands.push_back(*operand);
  }
  return add(std::move(step));
}

/// Of a pad only what lies wholly inside or outside of what is padded.
std::optional<unsigned> Analysis::evaluatePad(PadOp pad, const Indices &at) {
  Indices inside = at;
  for (auto [dim, extent] : llvm::enumerate(shapeOf(pad.getX()))) {
    if (pad.getInterior()[dim] != 0)
      return std::nullopt;
    inside[dim].constant -= pad.getLow()[dim];
    auto [low, high] = rangeOf(inside[dim]);
    if (high < 0 || low >= extent)
      return evaluate(pad.getFill(), {});
    if (low < 0 || high >= extent)
      return std::nullopt;
  }
  return evaluate(pad.getX(), inside);
}

std::optional<unsigned> Analysis::evaluateConcat(ConcatOp concat, const Indices &at) {
  const int64_t dim = concat.getDim();
  Indices inside = at;
  for (Value input : concat->getOperands()) {
    const int64_t extent = shapeOf(input)[dim];
    auto [low, high] = rangeOf(inside[dim]);
    if (low >= 0 && high < extent)
      return evaluate(input, inside);
    if (low < extent)
      return std::nullopt;
    inside[dim].constant -= extent;
  }
  return std::nullopt;
}

std::optional<unsigned> Analysis::evaluateOp(Operation *op, const Indices &at) {
  Type type = elementOf(op->getResult(0));
  if (auto constantOp = dyn_cast<ConstantOp>(op)) {
    if (!constantOp.getValue().isSplat())
      return std::nullopt;
    auto integer = dyn_cast<IntegerType>(type);
    if (integer && integer.getWidth() > 1) {
      const APInt value = constantOp.getValue().getSplatValue<APInt>();
      std::optional<int64_t> number = integer.isUnsigned() ? std::optional<int64_t>() : value.trySExtValue();
      if (integer.isUnsigned() && value.getActiveBits() < 63)
        number = static_cast<int64_t>(value.getZExtValue());
      if (number && std::abs(*number) < largest)
        return add({ElementStep::Kind::Number, nullptr, {}, {}, constant(*number), 0, type});
    }
    return add({ElementStep::Kind::Constant, op, {}, {}, {}, 0, type});
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    if (!type.isInteger())
      return std::nullopt;
    return add({ElementStep::Kind::Number, nullptr, {}, {}, at[iota.getDim()], 0, type});
  }
  if (isa<ReshapeOp, ExpandOp, PermuteOp, FlipOp>(op)) {
    std::optional<Indices> inside = throughView(op, at);
    return inside ? evaluate(op->getOperand(0), *inside) : std::nullopt;
  }
  if (auto pad = dyn_cast<PadOp>(op))
    return evaluatePad(pad, at);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return evaluateConcat(concat, at);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return evaluateReduce(reduce, at);
  if (auto gather = dyn_cast<GatherOp>(op)) {
    const size_t dim = gather.getDim(), rank = shapeOf(gather.getIndices()).size();
    std::optional<Linear> row = evaluateNumber(gather.getIndices(), Indices(ArrayRef(at).slice(dim, rank)));
    // Rows that do not exist would be zero.
    if (!row || !isWithin(*row, 0, shapeOf(gather.getX())[dim]))
      return std::nullopt;
    Indices inside(ArrayRef(at).take_front(dim));
    inside.push_back(*row);
    inside.append(at.begin() + dim + rank, at.end());
    return evaluate(gather.getX(), inside);
  }
  if (!isElementwise(op))
    return std::nullopt;
  ElementStep step{ElementStep::Kind::Compute, op, {}, {}, {}, 0, type};
  for (Value operand : op->getOperands()) {
    if (shapeOf(operand) != shapeOf(op->getResult(0)))
      return std::nullopt;
    std::optional<unsigned> known = evaluate(operand, at);
    if (!known)
      return std::nullopt;
    step.operands.push_back(*known);
  }
  if (std::optional<Linear> folded = foldNumbers(op, step.operands))
    return add({ElementStep::Kind::Number, nullptr, {}, {}, *folded, 0, type});
  return add(std::move(step));
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

bool Analysis::addCarried(unsigned position, Value next) {
  for (unsigned state = firstState[position];
       state < result.carried.size() && result.carried[state].position == position; ++state) {
    std::optional<unsigned> step = evaluate(next, *indicesOf(shapeOf(next), state - firstState[position]));
    if (!step)
      return false;
    result.carried[state].next = *step;
  }
  return true;
}

/// The element of the updates at these indices.
bool Analysis::addRow(unsigned position, ScatterOp scatter, const Indices &at) {
  Value updates = scatter.getUpdates();
  ArrayRef<int64_t> shape = shapeOf(scatter.getX());
  const size_t dim = scatter.getDim(), rank = shapeOf(scatter.getIndices()).size();
  if (rank != 0 && shapeOf(scatter.getIndices()) != ArrayRef<int64_t>(SmallVector<int64_t>(rank, 1)))
    return false;
  std::optional<Linear> row = evaluateNumber(scatter.getIndices(), Indices(rank, constant(0)));
  // A row for each trip: they are written once, in any order.
  const int64_t step = row ? row->factors.back() : 0;
  if (!row || (step != 1 && step != -1) || !isWithin(*row, 0, shape[dim]))
    return false;
  for (int64_t factor : ArrayRef(row->factors).drop_back())
    if (factor != 0)
      return false;
  std::optional<unsigned> update = evaluate(updates, at);
  if (!update)
    return false;
  Indices place(ArrayRef(at).take_front(dim));
  place.push_back(*row);
  place.append(at.begin() + dim + rank, at.end());
  int64_t stride = 1;
  for (int64_t extent : shape.drop_front(dim + 1))
    stride *= extent;
  auto [first, last] = rangeOf(*row);
  result.written.push_back(
      {position, linearize(shape, place), *update, scatter.getKind(), first, last + 1, shape[dim], stride});
  return true;
}

/// Indices have become places.
void Analysis::dropUnread() {
  std::vector<bool> isRead(result.steps.size());
  for (const CarriedElement &element : result.carried)
    isRead[element.next] = true;
  for (const WrittenElement &element : result.written)
    isRead[element.update] = true;
  for (const StoredElement &element : result.stored)
    isRead[element.step] = true;
  for (size_t step = result.steps.size(); step-- > 0;)
    if (isRead[step])
      for (unsigned operand : result.steps[step].operands)
        isRead[operand] = true;
  SmallVector<unsigned> places;
  std::vector<ElementStep> read;
  for (auto [step, isKept] : llvm::zip_equal(result.steps, isRead)) {
    places.push_back(read.size());
    if (!isKept)
      continue;
    for (unsigned &operand : step.operands)
      operand = places[operand];
    read.push_back(std::move(step));
  }
  result.steps = std::move(read);
  for (CarriedElement &element : result.carried)
    element.next = places[element.next];
  for (WrittenElement &element : result.written)
    element.update = places[element.update];
  for (StoredElement &element : result.stored)
    element.step = places[element.step];
}

std::optional<ElementLoop> Analysis::run() {
  if (!loop.getTripsAttr() || loop.getTripsAttr().getInt() < 2)
    return std::nullopt;
  result.trips = loop.getTripsAttr().getInt();
  for (Type type : loop->getOperandTypes())
    if (!cast<RankedTensorType>(type).hasStaticShape())
      return std::nullopt;
  if (!findRoots() || !findDomain())
    return std::nullopt;
  for (auto [position, root] : llvm::enumerate(roots)) {
    firstState.push_back(result.carried.size());
    if (root.scatter)
      continue;
    ArrayRef<int64_t> shape = shapeOf(root.value);
    for (int64_t own = 0, count = *countOwn(shape); own < count; ++own)
      result.carried.push_back({static_cast<unsigned>(position), linearize(shape, *indicesOf(shape, own)), 0});
  }
  if (result.carried.size() > 2 * mostElements)
    return std::nullopt;
  for (auto [position, root] : llvm::enumerate(roots))
    if (root.scatter ? !addWritten(position, root.scatter) : !addCarried(position, root.value))
      return std::nullopt;
  if (result.steps.size() > mostSteps)
    return std::nullopt;
  dropUnread();
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// How many parts of the length of the domain a tensor has along each of its dimensions.
std::optional<SmallVector<int64_t>> Analysis::countParts(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> parts(shape.size(), 1);
  size_t dim = 0;
  int64_t all = 1;
  if (dropUnits(shape).empty())
    return parts;
  for (auto [extent, count] : llvm::zip_equal(shape, parts)) {
    if (extent == 1)
      continue;
    if (dim == result.domain.size() || extent % result.domain[dim] != 0)
      return std::nullopt;
    count = extent / result.domain[dim++];
    all *= count;
  }
  return dim == result.domain.size() && all <= mostParts ? std::optional(parts) : std::nullopt;
}

/// The domain of a group is the least of its results, of which the others are whole multiples.
bool Analysis::findParts() {
  for (Root &root : roots) {
    const SmallVector<int64_t> shape = dropUnits(shapeOf(root.scatter ? Value(root.scatter.getUpdates()) : root.value));
    if (llvm::is_contained(shape, 0))
      return false;
    if (shape.empty())
      continue;
    if (result.domain.empty())
      result.domain = shape;
    if (shape.size() != result.domain.size())
      return false;
    for (auto [extent, least] : llvm::zip_equal(shape, result.domain))
      least = std::min(extent, least);
  }
  if (splitParts != 1) {
    if (splitDim >= result.domain.size() || result.domain[splitDim] % splitParts != 0)
      return false;
    result.domain[splitDim] /= splitParts;
    if (result.domain[splitDim] == 1)
      return false;
  }
  return llvm::all_of(roots, [&](Root &root) {
    return countParts(shapeOf(root.scatter ? Value(root.scatter.getUpdates()) : root.value)).has_value();
  });
}

std::optional<ElementLoop> Analysis::runGroup() {
  auto around = dyn_cast<LoopOp>(group->getParentOp());
  if (!around || !around.getTripsAttr() || around.getTripsAttr().getInt() < 1)
    return std::nullopt;
  result.trips = around.getTripsAttr().getInt();
  for (auto [position, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    auto scatter = value.getDefiningOp<ScatterOp>();
    auto argument = scatter ? dyn_cast<BlockArgument>(scatter.getX()) : BlockArgument();
    if (scatter && (!argument || !argument.hasOneUse() || !scatter->hasOneUse()))
      return std::nullopt;
    roots.push_back({value, scatter});
  }
  if (!findParts())
    return std::nullopt;
  for (auto [position, root] : llvm::enumerate(roots)) {
    ArrayRef<int64_t> shape = shapeOf(root.scatter ? Value(root.scatter.getUpdates()) : root.value);
    SmallVector<int64_t> parts = *countParts(shape);
    int64_t count = 1;
    for (int64_t each : parts)
      count *= each;
    for (int64_t number = 0; number < count; ++number) {
      Indices at(shape.size(), constant(0));
      size_t dim = 0;
      int64_t rest = number;
      for (size_t i = shape.size(); i-- > 0;) {
        const int64_t part = rest % parts[i];
        rest /= parts[i];
        at[i].constant = part * (shape[i] / parts[i]);
      }
      if (!dropUnits(shape).empty())
        for (auto [extent, index] : llvm::zip_equal(shape, at))
          if (extent != 1)
            index.factors[dim++] = 1;
      if (root.scatter) {
        if (!addRow(position, root.scatter, at))
          return std::nullopt;
        continue;
      }
      std::optional<unsigned> step = evaluate(root.value, at);
      if (!step)
        return std::nullopt;
      result.stored.push_back({static_cast<unsigned>(position), linearize(shape, at), *step});
    }
  }
  if (result.steps.size() > mostSteps)
    return std::nullopt;
  dropUnread();
  return std::move(result);
}

std::optional<ElementLoop> ElementLoop::analyse(LoopOp loop) { return Analysis(loop).run(); }

std::optional<ElementLoop> ElementLoop::analyse(GroupOp group) {
  if (std::optional<ElementLoop> whole = Analysis(group).runGroup())
    return whole;
  // What is put together of pads is whole in parts of one length.
  if (group.getBlock().getOps<PadOp>().empty() && group.getBlock().getOps<ConcatOp>().empty())
    return std::nullopt;
  for (unsigned dim = maxSplitRank; dim-- > 0;)
    for (int64_t parts = 2; parts <= mostParts; ++parts)
      if (std::optional<ElementLoop> split = Analysis(group, dim, parts).runGroup())
        return split;
  return std::nullopt;
}

int64_t ElementLoop::numPoints() const {
  int64_t points = 1;
  for (int64_t extent : domain)
    points *= extent;
  return points;
}

void ElementLoop::joinDims() {
  auto forEach = [&](auto visit) {
    for (ElementStep &step : steps)
      if (step.kind == ElementStep::Kind::Load || step.kind == ElementStep::Kind::Number)
        visit(step.place);
    for (CarriedElement &element : carried)
      visit(element.place);
    for (WrittenElement &element : written)
      visit(element.place);
    for (StoredElement &element : stored)
      visit(element.place);
  };
  for (size_t dim = domain.size(); dim-- > 1;) {
    bool isOne = true;
    forEach([&](Linear &place) { isOne &= place.factors[dim - 1] == place.factors[dim] * domain[dim]; });
    if (!isOne)
      continue;
    forEach([&](Linear &place) { place.factors.erase(place.factors.begin() + (dim - 1)); });
    domain[dim - 1] *= domain[dim];
    domain.erase(domain.begin() + dim);
  }
}
