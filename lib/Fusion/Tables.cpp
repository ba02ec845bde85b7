//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tables.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::Table;
using zyx::fusion::TableEvaluator;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static Table splat(ConstantOp source, int64_t count) {
  Table table;
  if (isa<FloatType>(typeOf(source).getElementType()))
    table.floats.assign(count, source.getValue().getSplatValue<APFloat>());
  else
    table.integers.assign(count, source.getValue().getSplatValue<APInt>());
  return table;
}

static Table count(RankedTensorType type, int64_t dim) {
  Table table;
  int64_t step = 1;
  for (int64_t extent : type.getShape().drop_front(dim + 1))
    step *= extent;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    table.integers.push_back(
        APInt(type.getElementTypeBitWidth(), static_cast<uint64_t>(i / step % type.getDimSize(dim))));
  return table;
}

/// Of positions: divisions of what is negative, or by it, are left to whoever computes them.
static std::optional<APInt> combine(BinaryKind kind, const APInt &x, const APInt &y) {
  switch (kind) {
  case BinaryKind::Add:
    return x + y;
  case BinaryKind::Sub:
    return x - y;
  case BinaryKind::Mul:
    return x * y;
  case BinaryKind::Max:
    return x.sgt(y) ? x : y;
  case BinaryKind::Min:
    return x.slt(y) ? x : y;
  case BinaryKind::Div:
    return x.isNonNegative() && y.isStrictlyPositive() ? std::optional(x.udiv(y)) : std::nullopt;
  case BinaryKind::Rem:
    return x.isNonNegative() && y.isStrictlyPositive() ? std::optional(x.urem(y)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

const Table *TableEvaluator::get(Value value) {
  auto [known, isNew] = tables.try_emplace(value);
  if (isNew) {
    std::optional<Table> made = compute(value);
    tables[value] = std::move(made);
  }
  const std::optional<Table> &table = tables[value];
  return table ? &*table : nullptr;
}

std::optional<Table> TableEvaluator::compute(Value value) {
  constexpr int64_t mostElements = 4096;
  RankedTensorType type = typeOf(value);
  Type element = type.getElementType();
  Operation *op = value.getDefiningOp();
  if (!op || type.getNumElements() > mostElements || type.getNumElements() == 0 ||
      !(element.isF32() || (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() >= 32 &&
                            !cast<IntegerType>(element).isUnsigned())))
    return std::nullopt;
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    const Table *table = get(reshape.getX());
    return table ? std::optional(*table) : std::nullopt;
  }
  Value source = value;
  while (isIndexMap(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  if (auto constant = source.getDefiningOp<ConstantOp>(); constant && constant.getValue().isSplat())
    return splat(constant, type.getNumElements());
  if (auto iota = dyn_cast<IotaOp>(op); iota && isa<IntegerType>(element))
    return count(type, iota.getDim());
  if (auto binary = dyn_cast<BinaryOp>(op))
    return compute(binary);
  if (auto cast = dyn_cast<CastOp>(op))
    return compute(cast);
  return std::nullopt;
}

std::optional<Table> TableEvaluator::compute(BinaryOp op) {
  const Table *a = get(op.getA()), *b = a ? get(op.getB()) : nullptr;
  a = b ? get(op.getA()) : nullptr;
  if (!a || typeOf(op.getA()).getElementType() != typeOf(op).getElementType())
    return std::nullopt;
  Table table;
  for (auto [x, y] : llvm::zip(a->integers, b->integers)) {
    std::optional<APInt> value = combine(op.getKind(), x, y);
    if (!value)
      return std::nullopt;
    table.integers.push_back(*value);
  }
  for (auto [x, y] : llvm::zip(a->floats, b->floats)) {
    APFloat value = x;
    switch (op.getKind()) {
    case BinaryKind::Add:
      value.add(y, APFloat::rmNearestTiesToEven);
      break;
    case BinaryKind::Sub:
      value.subtract(y, APFloat::rmNearestTiesToEven);
      break;
    case BinaryKind::Mul:
      value.multiply(y, APFloat::rmNearestTiesToEven);
      break;
    case BinaryKind::Div:
      value.divide(y, APFloat::rmNearestTiesToEven);
      break;
    default:
      return std::nullopt;
    }
    if (!value.isFinite() || value.isDenormal())
      return std::nullopt;
    table.floats.push_back(value);
  }
  return table;
}

std::optional<Table> TableEvaluator::compute(CastOp op) {
  auto from = dyn_cast<IntegerType>(typeOf(op.getX()).getElementType());
  Type to = typeOf(op).getElementType();
  const Table *x = from && !from.isUnsigned() ? get(op.getX()) : nullptr;
  if (!x || (isa<IntegerType>(to) && cast<IntegerType>(to).isUnsigned()))
    return std::nullopt;
  Table table;
  for (const APInt &value : x->integers)
    if (auto format = dyn_cast<FloatType>(to)) {
      APFloat number(format.getFloatSemantics());
      number.convertFromAPInt(value, /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
      table.floats.push_back(number);
    } else {
      table.integers.push_back(value.sextOrTrunc(to.getIntOrFloatBitWidth()));
    }
  return table;
}

Value zyx::fusion::makeTable(OpBuilder &builder, Location loc, RankedTensorType type, const Table &table) {
  auto elements =
      table.floats.empty() ? DenseElementsAttr::get(type, table.integers) : DenseElementsAttr::get(type, table.floats);
  return ConstantOp::create(builder, loc, type, elements);
}
