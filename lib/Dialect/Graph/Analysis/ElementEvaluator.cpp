//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ElementEvaluator.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;

/// Integers beyond this are no places.
static constexpr int64_t largest = int64_t(1) << 40;

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

Linear ElementEvaluator::linearize(ArrayRef<int64_t> shape, const Indices &at) const {
  Linear place = constant(0);
  for (auto [extent, index] : llvm::zip_equal(shape, at))
    place = plus(scale(place, extent), index);
  return place;
}

std::pair<int64_t, int64_t> ElementEvaluator::rangeOf(const Linear &linear) const {
  int64_t low = linear.constant, high = linear.constant;
  for (auto [i, factor] : llvm::enumerate(linear.factors)) {
    const int64_t end = i < result.domain.size() ? result.domain[i] : result.trips;
    (factor < 0 ? low : high) += factor * (end - 1);
  }
  return {low, high};
}

std::optional<Indices> ElementEvaluator::throughReshape(ReshapeOp reshape, const Indices &at) const {
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

std::optional<Indices> ElementEvaluator::throughView(Operation *view, const Indices &at) const {
  if (!isa<ReshapeOp, ExpandOp, PermuteOp, FlipOp>(view))
    return std::nullopt;
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

std::optional<unsigned> ElementEvaluator::evaluate(Value value, const Indices &at) {
  std::pair<void *, std::vector<Linear>> key{value.getAsOpaquePointer(), std::vector<Linear>(at.begin(), at.end())};
  if (auto found = known.find(key); found != known.end())
    return found->second;
  if (result.steps.size() >= mostSteps)
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(value);
  std::optional<unsigned> step = argument ? evaluateArgument(argument, at) : evaluateOp(value.getDefiningOp(), at);
  known.emplace(std::move(key), step);
  return step;
}

/// Integers of the domain and the trip stay such as long as nothing can overflow.
std::optional<Linear> ElementEvaluator::foldNumbers(Operation *op, ArrayRef<unsigned> operands) const {
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

std::optional<Linear> ElementEvaluator::evaluateNumber(Value value, const Indices &at) {
  std::optional<unsigned> step = evaluate(value, at);
  if (!step || result.steps[*step].kind != ElementStep::Kind::Number)
    return std::nullopt;
  return result.steps[*step].place;
}

std::optional<unsigned> ElementEvaluator::evaluateReduce(ReduceOp reduce, const Indices &at) {
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
std::optional<unsigned> ElementEvaluator::evaluatePad(PadOp pad, const Indices &at) {
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

std::optional<unsigned> ElementEvaluator::evaluateConcat(ConcatOp concat, const Indices &at) {
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

std::optional<unsigned> ElementEvaluator::evaluateOp(Operation *op, const Indices &at) {
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
        return addNumber(constant(*number), type);
    }
    return add({ElementStep::Kind::Constant, op, {}, {}, {}, 0, type});
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    if (!type.isInteger())
      return std::nullopt;
    return addNumber(at[iota.getDim()], type);
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
    return addNumber(*folded, type);
  return add(std::move(step));
}

bool ElementEvaluator::addRow(unsigned position, ScatterOp scatter, const Indices &at) {
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

void ElementEvaluator::dropUnread() {
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
