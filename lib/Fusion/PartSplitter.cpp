//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PartSplitter.h"
#include "Blocks.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::PartSplitter;

/// A softmax and its gradients have some twenty; what has many is something else.
static constexpr size_t mostValues = 128;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isAll(ArrayRef<int64_t> numbers, int64_t number) {
  return llvm::all_of(numbers, [=](int64_t each) { return each == number; });
}

/// Where the splitter adds elements and then computes with them, these are zeros that say so.
static bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() && isa<FloatType>(typeOf(value).getElementType()) &&
         constant.getValue().getSplatValue<APFloat>().isPosZero();
}

PartSplitter::PartSplitter(ConcatOp joined, Value main) : joined(joined), places{0} {
  const auto dim = static_cast<int64_t>(joined.getDim());
  for (Value part : joined.getParts()) {
    if (typeOf(part).getDimSize(dim) == 0)
      continue;
    if (part == main)
      this->main = first.size();
    first.push_back(part);
    places.push_back(places.back() + typeOf(part).getDimSize(dim));
  }
}

/// The type of what one part has of a value.
RankedTensorType PartSplitter::partOf(Value value, int64_t dim, size_t part) const {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] = places[part + 1] - places[part];
  return typeOf(value).clone(shape);
}

//===----------------------------------------------------------------------===//
// What is made of the concat
//===----------------------------------------------------------------------===//

bool PartSplitter::add(Value value, int64_t dim) {
  auto [known, isNew] = dims.try_emplace(value, dim);
  if (isNew)
    values.emplace_back(value, dim);
  return known->second == dim && values.size() <= mostValues;
}

/// The part that a slice is, if it is one.
std::optional<size_t> PartSplitter::findPart(PadOp slice, int64_t dim) const {
  for (int64_t other = 0, rank = typeOf(slice).getRank(); other < rank; ++other)
    if (slice.getInterior()[other] != 0 ||
        (other != dim && (slice.getLow()[other] != 0 || slice.getHigh()[other] != 0)))
      return std::nullopt;
  const int64_t begin = -slice.getLow()[dim], end = places.back() + slice.getHigh()[dim];
  for (size_t part = 0; part < first.size(); ++part)
    if (places[part] == begin && places[part + 1] == end)
      return part;
  return std::nullopt;
}

/// Whether what reads a value of the joined dimension may read its parts.
bool PartSplitter::follow(Value value, Operation *reader) {
  const int64_t dim = dims.lookup(value);
  if (reader->getBlock() != joined->getBlock())
    return false;
  if (isElementwise(reader))
    return add(reader->getResult(0), dim);
  if (auto reduce = dyn_cast<ReduceOp>(reader)) {
    if (llvm::is_contained(reduce.getDims(), dim))
      return zyx::fusion::getCombine(reduce.getKind()).has_value();
    return add(reduce, dim - llvm::count_if(reduce.getDims(), [=](int64_t other) { return other < dim; }));
  }
  if (auto slice = dyn_cast<PadOp>(reader))
    return slice.getX() == value && findPart(slice, dim);
  auto from = isView(reader) ? getOperandDims(reader) : std::nullopt;
  if (!from)
    return false;
  auto *found = llvm::find(*from, std::optional(dim));
  return found != from->end() && add(reader->getResult(0), found - from->begin());
}

//===----------------------------------------------------------------------===//
// Parts of values
//===----------------------------------------------------------------------===//

const PartSplitter::Parts *PartSplitter::get(Value value, int64_t dim) {
  auto [found, isNew] = known.try_emplace({value, dim});
  // It is counted before its operands are looked at, so that a long chain of ops ends.
  if (isNew && known.size() < 2 * mostValues) {
    std::optional<Parts> computed = compute(value, dim);
    found = known.insert_or_assign({value, dim}, std::move(computed)).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<PartSplitter::Parts> PartSplitter::compute(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != joined->getBlock())
    return std::nullopt;
  if (op == joined)
    return dim == static_cast<int64_t>(joined.getDim()) ? std::optional(first) : std::nullopt;
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Parts parts;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    for (size_t part = 0; splat && part < first.size(); ++part) {
      RankedTensorType type = partOf(value, dim, part);
      parts.push_back(ConstantOp::create(builder, op->getLoc(), type, splat.resizeSplat(type)));
    }
    return splat ? std::optional(parts) : std::nullopt;
  }
  if (auto pad = dyn_cast<PadOp>(op))
    return computePad(pad, dim);
  if (isElementwise(op)) {
    const int64_t rank = typeOf(value).getRank();
    return cloneOver(
        op,
        llvm::to_vector(llvm::map_range(llvm::seq<int64_t>(rank), [](int64_t each) { return std::optional(each); })),
        dim);
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    SmallVector<std::optional<int64_t>> kept;
    for (int64_t each = 0, rank = typeOf(reduce.getX()).getRank(); each < rank; ++each)
      if (!llvm::is_contained(reduce.getDims(), each))
        kept.emplace_back(each);
    return cloneOver(op, kept, dim);
  }
  auto from = isView(op) ? getOperandDims(op) : std::nullopt;
  return from ? cloneOver(op, *from, dim) : std::nullopt;
}

/// What is one part and nothing besides, as the gradient of a slice is.
std::optional<PartSplitter::Parts> PartSplitter::computePad(PadOp pad, int64_t dim) {
  auto fill = pad.getFill().getDefiningOp<ConstantOp>();
  auto splat = fill ? dyn_cast<SplatElementsAttr>(fill.getValue()) : SplatElementsAttr();
  if (!splat || !isAll(pad.getInterior(), 0))
    return std::nullopt;
  for (int64_t other = 0, rank = typeOf(pad).getRank(); other < rank; ++other)
    if (other != dim && (pad.getLow()[other] != 0 || pad.getHigh()[other] != 0))
      return std::nullopt;
  const int64_t begin = pad.getLow()[dim], end = places.back() - pad.getHigh()[dim];
  OpBuilder builder(pad);
  Parts parts;
  bool found = false;
  for (size_t part = 0; part < first.size(); ++part) {
    RankedTensorType type = partOf(pad, dim, part);
    const bool isInside = places[part] == begin && places[part + 1] == end;
    found |= isInside;
    parts.push_back(isInside ? Value(pad.getX())
                             : ConstantOp::create(builder, pad.getLoc(), type, splat.resizeSplat(type)).getResult());
  }
  return found ? std::optional(parts) : std::nullopt;
}

/// Copies of an op for each part. `from` says for each dimension of the result which of the operands it is.
std::optional<PartSplitter::Parts> PartSplitter::cloneOver(Operation *op, ArrayRef<std::optional<int64_t>> from,
                                                           int64_t dim) {
  SmallVector<Parts> operands;
  for (Value operand : op->getOperands()) {
    const Parts *parts = from[dim] ? get(operand, *from[dim]) : nullptr;
    // What is repeated along the joined dimension is the same for each part.
    if (!parts && from[dim])
      return std::nullopt;
    operands.push_back(parts ? *parts : Parts(first.size(), operand));
  }
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Parts result;
  for (size_t part = 0; part < first.size(); ++part) {
    SmallVector<Value> own;
    for (const Parts &parts : operands)
      own.push_back(parts[part]);
    result.push_back(cloneElementwise(builder, op, own, partOf(op->getResult(0), dim, part)));
  }
  return result;
}

/// A copy of an op that is no computation where it computes with zeros that were added. What these are multiplied with
/// or divided by is finite where the other part's elements are.
Value PartSplitter::cloneElementwise(OpBuilder &builder, Operation *op, ValueRange operands, RankedTensorType type) {
  auto zero = [&] { return zyx::fusion::makeSplat(builder, op->getLoc(), type, 0); };
  if (auto binary = dyn_cast<BinaryOp>(op)) {
    const bool isFirst = isZero(operands[0]), isSecond = isZero(operands[1]);
    const BinaryKind kind = binary.getKind();
    if ((kind == BinaryKind::Mul && (isFirst || isSecond)) || (kind == BinaryKind::Div && isFirst))
      return zero();
    if (kind == BinaryKind::Add && (isFirst || isSecond))
      return operands[isFirst ? 1 : 0];
    if (kind == BinaryKind::Sub && isSecond)
      return operands[0];
  }
  if (isa<ExpandOp>(op) && operands[0].getType() == type)
    return operands[0];
  auto unary = dyn_cast<UnaryOp>(op);
  auto reduce = dyn_cast<ReduceOp>(op);
  const bool keepsZero = isView(op) || isa<CastOp>(op) || (unary && unary.getKind() == UnaryKind::Neg) ||
                         (reduce && reduce.getKind() == ReduceKind::Add);
  if (keepsZero && isa<FloatType>(type.getElementType()) && isZero(operands[0]))
    return zero();
  return zyx::fusion::cloneWith(builder, op, operands, type);
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// The combination of what a reduction along the joined dimension has of each part; null where it has none.
Value PartSplitter::replaceReduce(ReduceOp reduce, int64_t dim) {
  const Parts *parts = get(reduce.getX(), dim);
  if (!parts)
    return {};
  OpBuilder builder(reduce);
  const BinaryKind kind = *zyx::fusion::getCombine(reduce.getKind());
  RankedTensorType type = typeOf(reduce);
  Value own, others;
  for (auto [number, part] : llvm::enumerate(*parts)) {
    if (kind == BinaryKind::Add && number != *main && isZero(part))
      continue;
    const bool isOne = reduce.getDims().size() == 1 && typeOf(part).getDimSize(dim) == 1;
    Value value = isOne ? ReshapeOp::create(builder, reduce.getLoc(), type, part).getResult()
                        : zyx::fusion::cloneWith(builder, reduce, part, type);
    Value &into = number == *main ? own : others;
    into = into ? BinaryOp::create(builder, reduce.getLoc(), kind, into, value).getResult() : value;
  }
  return others ? BinaryOp::create(builder, reduce.getLoc(), kind, own, others).getResult() : own;
}

bool PartSplitter::run() {
  if (first.size() < 2 || !main || !add(joined, static_cast<int64_t>(joined.getDim())))
    return false;
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *reader : values[i].first.getUsers())
      if (!follow(values[i].first, reader))
        return false;
  llvm::MapVector<Value, Value> replaced;
  for (auto [value, dim] : values)
    for (Operation *reader : value.getUsers()) {
      if (auto slice = dyn_cast<PadOp>(reader)) {
        const Parts *parts = get(value, dim);
        if (!parts)
          return false;
        replaced[slice] = (*parts)[*findPart(slice, dim)];
      } else if (auto reduce = dyn_cast<ReduceOp>(reader); reduce && llvm::is_contained(reduce.getDims(), dim)) {
        Value combined = replaceReduce(reduce, dim);
        if (!combined)
          return false;
        replaced[reduce] = combined;
      }
    }
  for (auto [value, by] : replaced) {
    // A part may be a slice itself.
    while (Value next = replaced.lookup(by))
      by = next;
    value.replaceAllUsesWith(by);
  }
  return true;
}
