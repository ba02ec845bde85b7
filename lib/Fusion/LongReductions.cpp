//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LongReductions.h"
#include "Notes.h"
#include "OneHots.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Target/Info/Budgets.h"

#include "llvm/ADT/SetVector.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::contiguousDim;
using zyx::fusion::lastDimAttrName;
using zyx::target::TargetInfo;

/// The last dimension that has neighbours, and how many elements there are.
static std::optional<std::pair<int64_t, int64_t>> findLast(ArrayRef<int64_t> shape) {
  const auto last = llvm::find_if(llvm::reverse(shape), [](int64_t extent) { return extent != 1; });
  if (last == shape.rend())
    return std::nullopt;
  return std::pair(shape.rend() - last - 1, ShapedType::getNumElements(shape));
}

/// Whether pads alone read a value, as parts of a concat do: its permute is how the kernel that puts them together
/// reads it then, and not how it is stored.
static bool isPart(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<PadOp>(user) || (isa<ReshapeOp>(user) && isPart(user->getResult(0)));
  });
}

/// Whether a contraction's result is read in this order alone, through permutes and element by element.
static bool isPermutedContraction(PermuteOp permute) {
  if (isPart(permute))
    return false;
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

/// Whether a value is a contraction's result, element by element: its kernel finishes and stores it, in its own order.
static bool finishesContraction(Value value, int depth = 4) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (auto sum = dyn_cast<ReduceOp>(op))
    return matchContraction(sum).has_value();
  return isElementwise(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return finishesContraction(operand, depth - 1); });
}

/// The dimension along which neighbours lie side by side in memory, of what most of a value is read from, and how many
/// elements that has. None where the nearest ops do not tell.
static std::optional<std::pair<int64_t, int64_t>> findContiguous(Value value, int depth = 16) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  Operation *op = value.getDefiningOp();
  using Found = std::optional<std::pair<int64_t, int64_t>>;
  // Numbers that are counted lie nowhere.
  if (auto constant = dyn_cast_or_null<ConstantOp>(op);
      (constant && constant.getValue().isSplat()) || isa_and_nonnull<IotaOp>(op) || depth == 0)
    return std::nullopt;
  // What is compared with each place is read alike for all of them: results for these are neighbours.
  if (auto binary = dyn_cast_or_null<BinaryOp>(op); binary && binary.getKind() == BinaryKind::Eq) {
    zyx::fusion::Shown all{value, {}};
    for (int64_t dim = 0, rank = static_cast<int64_t>(shape.size()); dim < rank; ++dim)
      all.dims.push_back(dim);
    for (int64_t dim = 0, rank = static_cast<int64_t>(shape.size()); dim < rank; ++dim)
      if (const auto given = shape[dim] != 1 ? zyx::fusion::matchOneHot(all, dim) : std::nullopt)
        return std::pair(dim, cast<RankedTensorType>(given->value.getType()).getNumElements());
  }
  if (isElementwise(op)) {
    Found best;
    for (Value operand : op->getOperands())
      if (Found own = findContiguous(operand, depth - 1);
          own && (!best || own->second > best->second ||
                  (own->second == best->second && own->first != best->first && finishesContraction(operand))))
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

std::optional<int64_t> zyx::fusion::findContiguousDim(Value value) {
  const auto found = findContiguous(value);
  return found ? std::optional(found->first) : std::nullopt;
}

int64_t zyx::fusion::contiguousDim(ReduceOp op) {
  return findContiguousDim(op.getX()).value_or(cast<RankedTensorType>(op.getX().getType()).getRank() - 1);
}

bool zyx::fusion::isAlongRows(ReduceOp op) { return llvm::is_contained(op.getDims(), contiguousDim(op)); }

/// Workgroups for column sums that are not cut into parts: each has a strip of neighbouring columns.
static int64_t stripsOf(ReduceOp op, const TargetInfo &machine) {
  auto widened = op.getX().getDefiningOp<CastOp>();
  auto type = cast<RankedTensorType>((widened ? widened.getX() : op.getX()).getType());
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  const int64_t columns = type.getDimSize(contiguousDim(op));
  const int64_t bytes = llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  const int64_t strips = llvm::divideCeil(columns * bytes, zyx::target::stripBytes(machine));
  return std::max<int64_t>(results / std::max<int64_t>(columns, 1), 1) * strips;
}

/// Dimensions of what is reduced that are those of windows, which slide along reduced ones.
static void collectTaps(Value value, ArrayRef<std::optional<int64_t>> dims, ArrayRef<int64_t> reduced,
                        llvm::SmallSetVector<int64_t, 4> &taps, llvm::SmallDenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(value).second)
    return;
  if (isElementwise(op)) {
    for (Value operand : op->getOperands())
      if (cast<RankedTensorType>(operand.getType()).getRank() == static_cast<int64_t>(dims.size()))
        collectTaps(operand, dims, reduced, taps, seen);
    return;
  }
  if (auto window = dyn_cast<WindowOp>(op)) {
    const auto rank = static_cast<size_t>(cast<RankedTensorType>(window.getX().getType()).getRank());
    for (auto [i, dim] : llvm::enumerate(window.getDims()))
      if (dims[dim] && dims[rank + i] && llvm::is_contained(reduced, *dims[dim]) &&
          !llvm::is_contained(reduced, *dims[rank + i]))
        taps.insert(*dims[rank + i]);
    return;
  }
  const auto inner = isView(op) ? getOperandDims(op) : std::nullopt;
  if (!inner)
    return;
  const int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  SmallVector<std::optional<int64_t>> own(rank);
  for (auto [dim, from] : llvm::zip_equal(dims, *inner))
    if (from)
      own[*from] = dim;
  collectTaps(op->getOperand(0), own, reduced, taps, seen);
}

/// Results that a workgroup has at once: those of all elements of a window that slides along what is reduced.
static int64_t countTaps(ReduceOp op, const TargetInfo &machine) {
  const auto type = cast<RankedTensorType>(op.getX().getType());
  llvm::SmallSetVector<int64_t, 4> dims;
  SmallVector<std::optional<int64_t>> own;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    own.emplace_back(dim);
  llvm::SmallDenseSet<Value> seen;
  collectTaps(op.getX(), own, op.getDims(), dims, seen);
  int64_t taps = 1;
  for (int64_t dim : dims)
    taps = std::min<int64_t>(taps * type.getDimSize(dim), zyx::target::tapSums(machine) + 1);
  return taps <= zyx::target::tapSums(machine) ? taps : 1;
}

int64_t zyx::fusion::threadsOf(ReduceOp op, const TargetInfo &machine) {
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  return isAlongRows(op) ? results / countTaps(op, machine) * zyx::target::rowThreads(machine)
                         : stripsOf(op, machine) * zyx::target::columnThreads(machine);
}

bool zyx::fusion::hasManyElements(ReduceOp op) {
  constexpr int64_t fewestElements = int64_t(1) << 18;
  return cast<RankedTensorType>(op.getX().getType()).getNumElements() >= fewestElements;
}

bool zyx::fusion::isLong(ReduceOp op, const TargetInfo &machine) {
  constexpr int64_t mostResults = 8;
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  const int64_t elements = cast<RankedTensorType>(op.getX().getType()).getNumElements();
  // Columns that a few cores have take longer than launches, though there are fewer elements.
  constexpr int64_t fewestOfColumns = int64_t(1) << 17, fewStrips = 4;
  const bool isOfFew =
      machine.hasSubgroups() && elements >= fewestOfColumns && !isAlongRows(op) && stripsOf(op, machine) <= fewStrips;
  if (!(hasManyElements(op) || isOfFew) || matchContraction(op) || (machine.hasSubgroups() && isLookedUp(op)))
    return false;
  // Half of the threads are enough: a second kernel takes its time, too.
  return results <= mostResults || (machine.hasSubgroups() && results > 0 && elements / results >= 64 &&
                                    threadsOf(op, machine) < machine.busyThreads() / 2);
}

bool zyx::fusion::hasRows(ReduceOp op) {
  constexpr int64_t fewestRows = 16, mostRows = 4096;
  const int64_t rows = cast<RankedTensorType>(op.getX().getType()).getDimSize(op.getDims().front());
  return op.getDims().size() > 1 && rows >= fewestRows && rows <= mostRows;
}
