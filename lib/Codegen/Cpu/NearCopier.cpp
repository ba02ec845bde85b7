//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "NearCopier.h"

#include "zyx/Codegen/Tile/Lanes.h"
#include "zyx/Codegen/Tile/TileContext.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

/// Rows beside each other from which what lies across them is transposed in registers.
static constexpr int64_t fewestInSquares = 4;

void NearCopier::copy() {
  for (auto [d, dim] : llvm::enumerate(form.dims))
    if (form.dims.back().step != 1 && dim.step == 1 && !dim.isBounded)
      beside = d;
  walk(0, origin ? add(origin, index(form.offset)) : index(form.offset), index(0), Value());
}

void NearCopier::store(Value value, Value place) {
  if (ordered)
    value = toOrderedBits(builder, loc, *ordered, value);
  else
    value = widenFactor(builder, loc, value, kept);
  StoreOp::create(builder, loc, value, memory, place, Value(), DenseBoolArrayAttr());
}

void NearCopier::loop(Value end, int64_t step, llvm::function_ref<void(Value)> body) {
  auto made = scf::ForOp::create(builder, loc, index(0), end, index(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  body(made.getInductionVar());
}

void NearCopier::walk(size_t d, Value source, Value place, Value exists) {
  const NearForm::Dim &dim = form.dims[d];
  if (d + 1 == form.dims.size())
    return copyRow(add(source, multiply(bases[d], dim.step)), place, exists);
  if (d == beside)
    return walk(d + 1, add(source, bases[d]), place, exists);
  loop(counts[d], 1, [&](Value i) {
    Value position = add(bases[d], i), also = exists;
    if (dim.isBounded) {
      also = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, distance(dim, position),
                                   index(std::max<int64_t>(dim.high - dim.low, 0)));
      if (exists)
        also = arith::AndIOp::create(builder, loc, exists, also);
    }
    walk(d + 1, add(source, multiply(position, dim.step)), add(place, multiply(i, strides[d])), also);
  });
}

void NearCopier::forBeside(Value place, llvm::function_ref<void(Value, Value)> body) {
  if (!beside)
    return body(place, index(0));
  loop(counts[*beside], 1, [&](Value i) { body(add(place, multiply(i, strides[*beside])), i); });
}

void NearCopier::copyRow(Value source, Value place, Value exists) {
  if (!exists)
    return copyExisting(source, place);
  auto branch = scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  copyExisting(source, place);
  builder.setInsertionPointToStart(branch.elseBlock());
  Value filled = vector::BroadcastOp::create(builder, loc, vectorOf(element), fill);
  forBeside(place, [&](Value own, Value) { loop(counts.back(), lanes, [&](Value i) { store(filled, add(own, i)); }); });
}

void NearCopier::copyExisting(Value source, Value place) {
  const NearForm::Dim &dim = form.dims.back();
  if (dim.step != 1)
    return copyApart(source, place);
  loop(counts.back(), lanes, [&](Value i) {
    Value at = add(source, i), mask;
    if (dim.isBounded) {
      mask = maskOf(dim, add(bases.back(), i));
      // Where no lane exists the place may be far away, and even a load of no lane asks for its page.
      at = builder.createOrFold<arith::MaxSIOp>(loc, at, index(1 - lanes));
      at = builder.createOrFold<arith::MinSIOp>(
          loc, at, index(std::max<int64_t>(cast<ViewType>(row.getType()).getDimSize(0) - 1, 0)));
    } else {
      Value left = arith::SubIOp::create(builder, loc, counts.back(), i);
      mask = vector::CreateMaskOp::create(builder, loc, vectorOf(builder.getI1Type()), ValueRange(left));
    }
    store(LoadOp::create(builder, loc, vectorOf(element), row, at, mask, fill, ArrayAttr(), DenseBoolArrayAttr()),
          add(place, i));
  });
}

void NearCopier::copyApart(Value source, Value place) {
  const NearForm::Dim &dim = form.dims.back();
  Value first = index(0), end = counts.back();
  if (dim.isBounded) {
    auto positionOf = [&](int64_t limit) {
      Value at = arith::SubIOp::create(builder, loc, index(limit - dim.offset), bases.back());
      at = builder.createOrFold<arith::MaxSIOp>(loc, at, index(0));
      return builder.createOrFold<arith::MinSIOp>(loc, at, counts.back());
    };
    first = positionOf(dim.low);
    end = positionOf(std::max(dim.low, dim.high));
    Value filled = vector::BroadcastOp::create(builder, loc, vectorOf(element), fill);
    forBeside(place,
              [&](Value own, Value) { loop(counts.back(), lanes, [&](Value i) { store(filled, add(own, i)); }); });
  }
  if (beside)
    if (std::optional<int64_t> rows = getConstantIntValue(counts[*beside]); rows && *rows >= fewestInSquares)
      return copySquares(source, place, first, end, std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(*rows)));
  copyOneByOne(source, place, first, end);
}

void NearCopier::copyOneByOne(Value source, Value place, Value first, Value end) {
  auto made = scf::ForOp::create(builder, loc, first, end, index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  Value i = made.getInductionVar();
  const Value at = add(source, multiply(i, form.dims.back().step));
  forBeside(place, [&](Value own, Value behind) {
    Value one = LoadOp::create(builder, loc, element, row, add(at, behind), Value(), Value(), ArrayAttr(),
                               DenseBoolArrayAttr());
    store(one, add(own, i));
  });
}

void NearCopier::copySquares(Value source, Value place, Value first, Value end, int64_t side) {
  const int64_t rows = *getConstantIntValue(counts[*beside]);
  Value length = arith::SubIOp::create(builder, loc, end, first);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, length, index(side));
  auto branch = scf::IfOp::create(builder, loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  copyOneByOne(source, place, first, end);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto made = scf::ForOp::create(builder, loc, first, end, index(side));
  builder.setInsertionPointToStart(made.getBody());
  // The last squares of a row and of the rows begin where they are whole: some elements are copied twice.
  Value last = arith::SubIOp::create(builder, loc, end, index(side));
  Value i = builder.createOrFold<arith::MinSIOp>(loc, made.getInductionVar(), last);
  for (int64_t begin = 0; begin < rows; begin += side) {
    const int64_t at = std::min(begin, rows - side);
    SmallVector<Value> square;
    for (int64_t j = 0; j < side; ++j)
      square.push_back(LoadOp::create(builder, loc, VectorType::get(side, element), row,
                                      add(add(source, multiply(add(i, index(j)), form.dims.back().step)), index(at)),
                                      Value(), Value(), ArrayAttr(), DenseBoolArrayAttr()));
    transposeVectors(builder, loc, square);
    for (auto [j, vector] : llvm::enumerate(square))
      store(vector, add(add(place, multiply(index(at + static_cast<int64_t>(j)), strides[*beside])), i));
  }
}

Value NearCopier::maskOf(const NearForm::Dim &dim, Value position) {
  auto type = vectorOf(builder.getI32Type());
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(static_cast<int32_t>(i));
  Value own = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value first = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), distance(dim, position));
  Value each = arith::AddIOp::create(builder, loc, vector::BroadcastOp::create(builder, loc, type, first), own);
  const auto length = static_cast<int32_t>(std::max<int64_t>(dim.high - dim.low, 0));
  Value limit = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, length));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, each, limit);
}
