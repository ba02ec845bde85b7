//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Of a language whose memory has the types that it is declared with: of which memory they may be vectors.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace zyx::kernel {

int64_t accessLanesOf(Operation *access) {
  auto store = dyn_cast<StoreOp>(access);
  return lanesOf(store ? store.getValue().getType() : access->getResult(0).getType());
}

static Value numberOf(OpBuilder &b, Location loc, int64_t value, Type type) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// Null where a term is no multiple.
static Value quotientOfTerms(OpBuilder &b, Location loc, Value of, int64_t by, Type type) {
  const auto resized = [&](Value value) { return value.getType() == type ? value : resize(b, loc, value, type); };
  if (auto wide = of.getDefiningOp<arith::ExtUIOp>(); wide && wide.getIn().getType() == type)
    of = wide.getIn();
  if (const std::optional<int64_t> constant = getConstantIntValue(of))
    return *constant % by == 0 ? numberOf(b, loc, *constant / by, type) : Value();
  // What may have too many bits is refused by its own name.
  if (Operation *op = of.getDefiningOp(); op && op->hasAttr(wideIndexAttr))
    return {};
  if (auto product = of.getDefiningOp<arith::MulIOp>())
    if (Value factor = quotientOfTerms(b, loc, product.getRhs(), by, type))
      return b.createOrFold<arith::MulIOp>(loc, resized(product.getLhs()), factor);
  auto sum = of.getDefiningOp<arith::AddIOp>();
  Value left = sum ? quotientOfTerms(b, loc, sum.getLhs(), by, type) : Value();
  Value right = left ? quotientOfTerms(b, loc, sum.getRhs(), by, type) : Value();
  return right ? b.createOrFold<arith::AddIOp>(loc, left, right) : Value();
}

Value vectorPlaceOf(OpBuilder &b, Location loc, Value element, int64_t lanes, Type type) {
  if (Value found = quotientOfTerms(b, loc, element, lanes, type))
    return found;
  Value whole = element.getType() == type ? element : resize(b, loc, element, type);
  return b.createOrFold<arith::DivUIOp>(loc, whole, numberOf(b, loc, lanes, type));
}

/// The buffer or the array of which a view is.
static Value memoryOf(Value view) {
  auto whole = view.getDefiningOp<ViewOp>();
  return whole ? whole.getBuffer() : view;
}

int64_t memoryLanesOf(Value memory) {
  const auto array = dyn_cast<ViewType>(memory.getType());
  const auto buffer = dyn_cast<BufferType>(memory.getType());
  const Type element = array ? array.getElementType() : buffer ? buffer.getElementType() : Type();
  if (!element || !element.isIntOrFloat() || element.getIntOrFloatBitWidth() != 32)
    return 1;
  SmallVector<Operation *> users(memory.getUsers());
  int64_t lanes = 0;
  for (size_t i = 0; i < users.size(); ++i) {
    if (auto view = dyn_cast<ViewOp>(users[i])) {
      llvm::append_range(users, view->getUsers());
      continue;
    }
    if (!isa<LoadOp, StoreOp>(users[i]) || (lanes != 0 && accessLanesOf(users[i]) != lanes))
      return 1;
    lanes = accessLanesOf(users[i]);
  }
  // An array ends with a whole vector. Allocations of buffers are whole lines.
  return lanes == 0 || (array && array.getDimSize(0) % lanes != 0) ? 1 : lanes;
}

/// The place of a lane, from that of the first one.
static Value placeOf(OpBuilder &b, Location loc, Value first, int64_t lane) {
  return b.createOrFold<arith::AddIOp>(loc, first, numberOf(b, loc, lane, first.getType()));
}

static void takeApart(LoadOp load, int64_t lanesOfEach) {
  OpBuilder b(load);
  const auto type = cast<VectorType>(load.getType());
  SmallVector<Value> lanes;
  for (int64_t first = 0; first < type.getNumElements(); first += lanesOfEach) {
    Value piece = LoadOp::create(b, load.getLoc(), lanesType(type.getElementType(), lanesOfEach), load.getView(),
                                 placeOf(b, load.getLoc(), load.getIndices().front(), first), Value(), Value(),
                                 ArrayAttr(), DenseBoolArrayAttr(), load.getStream());
    for (int64_t lane = 0; lane < lanesOfEach; ++lane)
      lanes.push_back(lanesOfEach == 1 ? piece : vector::ExtractOp::create(b, load.getLoc(), piece, lane).getResult());
  }
  for (Operation *user : llvm::make_early_inc_range(load->getUsers()))
    if (auto extract = dyn_cast<vector::ExtractOp>(user)) {
      extract.replaceAllUsesWith(lanes[static_cast<size_t>(extract.getStaticPosition()[0])]);
      extract.erase();
    }
  if (!load.use_empty())
    load.replaceAllUsesWith(vector::FromElementsOp::create(b, load.getLoc(), type, lanes).getResult());
  load.erase();
}

static void takeApart(StoreOp store, int64_t lanesOfEach) {
  OpBuilder b(store);
  Location loc = store.getLoc();
  Value value = store.getValue();
  for (int64_t first = 0, end = accessLanesOf(store); first < end; first += lanesOfEach) {
    const auto own = llvm::to_vector(llvm::seq(first, first + lanesOfEach));
    Value piece = lanesOfEach == 1 ? b.createOrFold<vector::ExtractOp>(loc, value, first)
                                   : vector::ShuffleOp::create(b, loc, value, value, own).getResult();
    StoreOp::create(b, loc, piece, store.getView(), placeOf(b, loc, store.getIndices().front(), first), Value(),
                    DenseBoolArrayAttr(), store.getStream());
  }
  store.erase();
}

void takeApart(Operation *access, int64_t lanesOfEach) {
  if (auto load = dyn_cast<LoadOp>(access))
    takeApart(load, lanesOfEach);
  else
    takeApart(cast<StoreOp>(access), lanesOfEach);
}

void keepWholeVectors(FuncOp func) {
  // Which memory that is, is seen before the first access is taken apart.
  SmallVector<Operation *> whole, apart;
  func.walk([&](Operation *op) {
    if (!isa<LoadOp, StoreOp>(op) || accessLanesOf(op) == 1)
      return;
    auto store = dyn_cast<StoreOp>(op);
    const int64_t lanes = memoryLanesOf(memoryOf(store ? store.getView() : cast<LoadOp>(op).getView()));
    (lanes == 1 ? apart : whole).push_back(op);
  });
  for (Operation *op : whole) {
    OpBuilder b(op);
    auto store = dyn_cast<StoreOp>(op);
    OpOperand &at = *(store ? store.getIndicesMutable() : cast<LoadOp>(op).getIndicesMutable()).begin();
    at.set(vectorPlaceOf(b, op->getLoc(), at.get(), accessLanesOf(op), at.get().getType()));
  }
  for (Operation *op : apart)
    takeApart(op, 1);
}

} // namespace zyx::kernel
