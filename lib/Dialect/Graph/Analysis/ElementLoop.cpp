//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"

#include "ElementEvaluator.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;

bool zyx::graph::ir::isInLoopKernel(Value operand) {
  auto constant = operand.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat();
}

namespace {

/// Parts of a group's result that one point has.
constexpr int64_t mostParts = 16;
constexpr unsigned maxSplitRank = 4;

SmallVector<int64_t> dropUnits(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  llvm::copy_if(shape, std::back_inserter(result), [](int64_t extent) { return extent != 1; });
  return result;
}

/// What a body yields: rows that are written by a scatter, or else elements.
struct Root {
  Value value;
  ScatterOp scatter;

  /// That of what a trip computes.
  ArrayRef<int64_t> shape() { return shapeOf(scatter ? Value(scatter.getUpdates()) : value); }
};

/// A loop whose points carry elements of their own from trip to trip.
class LoopAnalysis : public ElementEvaluator {
public:
  explicit LoopAnalysis(LoopOp loop) : loop(loop), block(loop.getBlock()) {}

  std::optional<ElementLoop> run();

protected:
  virtual bool findDomain();
  /// Indices of element `own` of a tensor of that shape at a point of the domain; where all points share it, of that.
  virtual std::optional<Indices> indicesOf(ArrayRef<int64_t> shape, int64_t own) const;
  virtual std::optional<int64_t> countOwn(ArrayRef<int64_t> shape) const;

  LoopOp loop;
  /// By position in what is carried.
  SmallVector<Root> roots;

private:
  std::optional<unsigned> evaluateArgument(BlockArgument argument, const Indices &at) override;
  bool findRoots();
  bool addCarried(unsigned position, Value next);
  bool addWritten(unsigned position, ScatterOp scatter);

  Block &block;
  /// First carried element of each position.
  SmallVector<unsigned> firstState;
};

/// A loop in which the points of a row read what each of them has, as factors of products with invariants. Along the
/// last dimension tensors may be several times as long as the domain.
class RecurrentAnalysis : public LoopAnalysis {
public:
  using LoopAnalysis::LoopAnalysis;

private:
  bool findDomain() override;
  std::optional<Indices> indicesOf(ArrayRef<int64_t> shape, int64_t own) const override;
  std::optional<int64_t> countOwn(ArrayRef<int64_t> shape) const override;
  std::optional<unsigned> evaluateReduce(ReduceOp reduce, const Indices &at) override;
  std::optional<unsigned> evaluateDot(ReduceOp reduce, const Indices &at);
  std::optional<ElementStep> findColumn(Value factor, Indices at);
  std::optional<Value> findRow(Value factor, Indices at) const;
};

/// One trip of a group inside of a loop.
class GroupAnalysis : public ElementEvaluator {
public:
  /// With parts, the domain is that part of the least of the group's results along a dimension.
  explicit GroupAnalysis(GroupOp group, unsigned splitDim = 0, int64_t splitParts = 1)
      : group(group), block(group.getBlock()), splitDim(splitDim), splitParts(splitParts) {}

  std::optional<ElementLoop> run();

private:
  std::optional<unsigned> evaluateArgument(BlockArgument argument, const Indices &at) override;
  bool findParts();
  std::optional<SmallVector<int64_t>> countParts(ArrayRef<int64_t> shape) const;

  GroupOp group;
  Block &block;
  unsigned splitDim;
  int64_t splitParts;
  SmallVector<Root> roots;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<unsigned> LoopAnalysis::evaluateArgument(BlockArgument argument, const Indices &at) {
  const unsigned number = argument.getArgNumber(), numCarried = loop.getInitial().size();
  if (number == 0)
    return addNumber(trip(), elementOf(argument));
  const Linear place = linearize(shapeOf(argument), at);
  if (number > numCarried) {
    Value source = loop.getInvariants()[number - 1 - numCarried];
    return add({ElementStep::Kind::Load, nullptr, {}, source, place, 0, elementOf(argument)});
  }
  const unsigned position = number - 1;
  if (roots[position].scatter)
    return std::nullopt;
  // One of the point's own elements, and no other's.
  for (unsigned state = firstState[position];
       state < result.carried.size() && result.carried[state].position == position; ++state)
    if (result.carried[state].place == place)
      return add({ElementStep::Kind::State, nullptr, {}, {}, {}, state, elementOf(argument)});
  return std::nullopt;
}

/// A carried tensor is written row by row where the body does nothing with it but one scatter.
bool LoopAnalysis::findRoots() {
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
bool LoopAnalysis::findDomain() {
  SmallVector<SmallVector<int64_t>> shapes;
  for (Root &root : roots)
    shapes.push_back(dropUnits(root.shape()));
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
std::optional<int64_t> LoopAnalysis::countOwn(ArrayRef<int64_t> shape) const {
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

std::optional<Indices> LoopAnalysis::indicesOf(ArrayRef<int64_t> shape, int64_t own) const {
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

bool LoopAnalysis::addWritten(unsigned position, ScatterOp scatter) {
  ArrayRef<int64_t> shape = shapeOf(scatter.getUpdates());
  for (int64_t own = 0, count = *countOwn(shape); own < count; ++own)
    if (!addRow(position, scatter, *indicesOf(shape, own)))
      return false;
  return true;
}

bool LoopAnalysis::addCarried(unsigned position, Value next) {
  for (unsigned state = firstState[position];
       state < result.carried.size() && result.carried[state].position == position; ++state) {
    std::optional<unsigned> step = evaluate(next, *indicesOf(shapeOf(next), state - firstState[position]));
    if (!step)
      return false;
    result.carried[state].next = *step;
  }
  return true;
}

std::optional<ElementLoop> LoopAnalysis::run() {
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
// Recurrent loops
//===----------------------------------------------------------------------===//

/// The domain is the least of what is carried or written, of which the others are whole multiples.
bool RecurrentAnalysis::findDomain() {
  for (Root &root : roots) {
    const SmallVector<int64_t> shape = dropUnits(root.shape());
    if (shape.empty() || llvm::is_contained(shape, 0))
      return false;
    if (result.domain.empty() || (shape.size() == result.domain.size() && shape.back() < result.domain.back()))
      result.domain = shape;
  }
  return !result.domain.empty() && llvm::all_of(roots, [&](Root &root) { return countOwn(root.shape()).has_value(); });
}

/// How many times as long as the domain a tensor is along its last dimension, if it is as long along the others.
static std::optional<int64_t> countTimes(ArrayRef<int64_t> domain, ArrayRef<int64_t> shape) {
  const SmallVector<int64_t> extents = dropUnits(shape);
  if (extents.size() != domain.size() || extents.back() % domain.back() != 0 ||
      extents.back() / domain.back() > mostParts || ArrayRef(extents).drop_back() != domain.drop_back())
    return std::nullopt;
  return extents.back() / domain.back();
}

std::optional<int64_t> RecurrentAnalysis::countOwn(ArrayRef<int64_t> shape) const {
  return countTimes(result.domain, shape);
}

std::optional<Indices> RecurrentAnalysis::indicesOf(ArrayRef<int64_t> shape, int64_t own) const {
  Indices at(shape.size(), constant(0));
  size_t dim = 0;
  for (auto [extent, index] : llvm::zip_equal(shape, at)) {
    if (extent == 1)
      continue;
    if (dim + 1 == result.domain.size())
      index.constant = own * result.domain.back();
    index.factors[dim++] = 1;
  }
  return at;
}

/// The invariant of which a factor of a contraction is a column for each point of a row, the same in all rows and
/// trips. The contraction is the last dimension of the domain meanwhile.
std::optional<ElementStep> RecurrentAnalysis::findColumn(Value factor, Indices at) {
  while (Operation *op = factor.getDefiningOp()) {
    auto cast = dyn_cast<CastOp>(op);
    const bool isWidening = cast && elementOf(cast).isF32() && isa<FloatType>(elementOf(cast.getX())) &&
                            elementOf(cast.getX()).getIntOrFloatBitWidth() == 16;
    std::optional<Indices> inside = isWidening ? std::optional(at) : throughView(op, at);
    if (!inside)
      return std::nullopt;
    at = *inside;
    factor = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(factor);
  const unsigned numCarried = loop.getInitial().size();
  if (argument.getOwner() != &loop.getBlock() || argument.getArgNumber() <= numCarried)
    return std::nullopt;
  Value source = loop.getInvariants()[argument.getArgNumber() - 1 - numCarried];
  Linear place = linearize(shapeOf(argument), at);
  const size_t numRows = result.domain.size() - 2;
  for (size_t dim = 0; dim < numRows; ++dim)
    if (place.factors[dim] != 0)
      return std::nullopt;
  if (place.factors.back() != 0)
    return std::nullopt;
  const int64_t stride = place.factors[numRows + 1];
  place.factors.erase(place.factors.begin() + numRows + 1);
  return ElementStep{ElementStep::Kind::Dot, nullptr, {}, source, std::move(place), 0, {}, stride};
}

/// The value of which a factor of a contraction is the row of each point.
std::optional<Value> RecurrentAnalysis::findRow(Value factor, Indices at) const {
  while (Operation *op = factor.getDefiningOp()) {
    std::optional<Indices> inside = throughView(op, at);
    if (!inside)
      break;
    at = *inside;
    factor = op->getOperand(0);
  }
  ArrayRef<int64_t> domain = ArrayRef(result.domain).drop_back();
  std::optional<int64_t> times = countTimes(domain, shapeOf(factor));
  if (!times || *times * domain.back() != result.domain.back())
    return std::nullopt;
  size_t dim = 0;
  for (auto [extent, index] : llvm::zip_equal(shapeOf(factor), at)) {
    Linear wanted = constant(0);
    if (extent != 1) {
      const bool isLast = ++dim == domain.size();
      wanted.factors[isLast ? dim : dim - 1] = 1;
    }
    if (index != wanted)
      return std::nullopt;
  }
  return factor;
}

std::optional<unsigned> RecurrentAnalysis::evaluateDot(ReduceOp reduce, const Indices &at) {
  auto product = reduce.getX().getDefiningOp<BinaryOp>();
  Type type = elementOf(reduce);
  if (reduce.getKind() != ReduceKind::Add || reduce.getDims().size() != 1 || !product ||
      product.getKind() != BinaryKind::Mul || !(type.isF32() || type.isF16() || type.isBF16()))
    return std::nullopt;
  const int64_t summed = reduce.getDims().front();
  const size_t rank = result.domain.size();
  result.domain.push_back(shapeOf(reduce.getX())[summed]);
  Indices inside;
  for (const Linear &index : at) {
    inside.push_back(index);
    inside.back().factors.insert(inside.back().factors.end() - 1, 0);
  }
  Linear along = constant(0);
  along.factors[rank] = 1;
  inside.insert(inside.begin() + summed, along);
  std::optional<ElementStep> column = findColumn(product.getA(), inside);
  std::optional<Value> row = findRow(column ? product.getB() : product.getA(), inside);
  if (!column)
    column = findColumn(product.getB(), inside);
  const int64_t length = result.domain.pop_back_val();
  if (!column || !row)
    return std::nullopt;
  for (int64_t own = 0; own < length / result.domain.back(); ++own) {
    std::optional<unsigned> part = evaluate(*row, *indicesOf(shapeOf(*row), own));
    if (!part)
      return std::nullopt;
    column->operands.push_back(*part);
  }
  column->op = reduce;
  column->type = type;
  return add(std::move(*column));
}

std::optional<unsigned> RecurrentAnalysis::evaluateReduce(ReduceOp reduce, const Indices &at) {
  std::optional<unsigned> dot = evaluateDot(reduce, at);
  return dot ? dot : LoopAnalysis::evaluateReduce(reduce, at);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

std::optional<unsigned> GroupAnalysis::evaluateArgument(BlockArgument argument, const Indices &at) {
  auto outside = dyn_cast<BlockArgument>(group.getInputs()[argument.getArgNumber()]);
  if (outside && outside.getOwner() == group->getBlock() && outside.getArgNumber() == 0)
    return addNumber(trip(), elementOf(argument));
  return add(
      {ElementStep::Kind::Load, nullptr, {}, argument, linearize(shapeOf(argument), at), 0, elementOf(argument)});
}

/// How many parts of the length of the domain a tensor has along each of its dimensions.
std::optional<SmallVector<int64_t>> GroupAnalysis::countParts(ArrayRef<int64_t> shape) const {
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
bool GroupAnalysis::findParts() {
  for (Root &root : roots) {
    const SmallVector<int64_t> shape = dropUnits(root.shape());
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
  return llvm::all_of(roots, [&](Root &root) { return countParts(root.shape()).has_value(); });
}

std::optional<ElementLoop> GroupAnalysis::run() {
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
    ArrayRef<int64_t> shape = root.shape();
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

std::optional<ElementLoop> ElementLoop::analyse(LoopOp loop) { return LoopAnalysis(loop).run(); }

std::optional<ElementLoop> ElementLoop::analyseRecurrent(LoopOp loop) {
  std::optional<ElementLoop> found = RecurrentAnalysis(loop).run();
  const bool hasDots =
      found && llvm::any_of(found->steps, [](const ElementStep &step) { return step.kind == ElementStep::Kind::Dot; });
  return hasDots ? std::move(found) : std::nullopt;
}

std::optional<ElementLoop> ElementLoop::analyse(GroupOp group) {
  if (std::optional<ElementLoop> whole = GroupAnalysis(group).run())
    return whole;
  // What is put together of pads is whole in parts of one length.
  if (group.getBlock().getOps<PadOp>().empty() && group.getBlock().getOps<ConcatOp>().empty())
    return std::nullopt;
  for (unsigned dim = maxSplitRank; dim-- > 0;)
    for (int64_t parts = 2; parts <= mostParts; ++parts)
      if (std::optional<ElementLoop> split = GroupAnalysis(group, dim, parts).run())
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
