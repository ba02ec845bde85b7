//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Of a language whose memory has the types that it is declared with. A lane of a vector in memory is never accessed by
// itself: who writes one may write the others, too, as they were before.
//===----------------------------------------------------------------------===//
#include "KernelPrinter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

/// Lanes of what an op reads or writes.
static int64_t lanesOf(Operation *access) {
  auto store = dyn_cast<StoreOp>(access);
  auto vector = dyn_cast<VectorType>(store ? store.getValue().getType() : access->getResult(0).getType());
  return vector ? vector.getNumElements() : 1;
}

/// The buffer or the array of which a view is.
static Value memoryOf(Value view) {
  auto whole = view.getDefiningOp<ViewOp>();
  return whole ? whole.getBuffer() : view;
}

int64_t zyx::target::memoryLanesOf(Value memory) {
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
    if (!isa<LoadOp, StoreOp>(users[i]) || (lanes != 0 && lanesOf(users[i]) != lanes))
      return 1;
    lanes = lanesOf(users[i]);
  }
  // An array ends with a whole vector. Allocations of buffers are whole lines.
  return lanes == 0 || (array && array.getDimSize(0) % lanes != 0) ? 1 : lanes;
}

/// The place of a lane, from that of the first one.
static Value placeOf(OpBuilder &b, Location loc, Value first, int64_t lane) {
  return b.createOrFold<arith::AddIOp>(loc, first,
                                       arith::ConstantOp::create(b, loc, b.getIntegerAttr(first.getType(), lane)));
}

static void takeApart(LoadOp load) {
  OpBuilder b(load);
  const auto type = cast<VectorType>(load.getType());
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    lanes.push_back(LoadOp::create(b, load.getLoc(), type.getElementType(), load.getView(),
                                   placeOf(b, load.getLoc(), load.getIndices().front(), lane), Value(), Value(),
                                   ArrayAttr(), DenseBoolArrayAttr(), load.getStream()));
  for (Operation *user : llvm::make_early_inc_range(load->getUsers()))
    if (auto extract = dyn_cast<vector::ExtractOp>(user)) {
      extract.replaceAllUsesWith(lanes[static_cast<size_t>(extract.getStaticPosition()[0])]);
      extract.erase();
    }
  if (!load.use_empty())
    load.replaceAllUsesWith(vector::FromElementsOp::create(b, load.getLoc(), type, lanes).getResult());
  load.erase();
}

static void takeApart(StoreOp store) {
  OpBuilder b(store);
  for (int64_t lane = 0, end = lanesOf(store); lane < end; ++lane)
    StoreOp::create(b, store.getLoc(), b.createOrFold<vector::ExtractOp>(store.getLoc(), store.getValue(), lane),
                    store.getView(), placeOf(b, store.getLoc(), store.getIndices().front(), lane), Value(),
                    DenseBoolArrayAttr(), store.getStream());
  store.erase();
}

void zyx::target::keepWholeVectors(FuncOp func) {
  // Which memory that is, is seen before the first access is taken apart.
  SmallVector<Operation *> apart;
  func.walk([&](Operation *op) {
    if (!isa<LoadOp, StoreOp>(op) || lanesOf(op) == 1)
      return;
    auto store = dyn_cast<StoreOp>(op);
    if (memoryLanesOf(memoryOf(store ? store.getView() : cast<LoadOp>(op).getView())) == 1)
      apart.push_back(op);
  });
  for (Operation *op : apart)
    if (auto load = dyn_cast<LoadOp>(op))
      takeApart(load);
    else
      takeApart(cast<StoreOp>(op));
}
