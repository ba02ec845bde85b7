//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sums of few rows of a table that is stored in a narrower type than they are added up in.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LoopValues.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_NARROWSCATTERSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::makeIntegerSplat;
using zyx::fusion::makeSplat;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The cast that is all that reads the sums of a scatter, where few of its rows are named; none otherwise.
static CastOp findCast(ScatterOp scatter) {
  // Smaller tables stay in a cache, and five kernels take longer to launch than two.
  constexpr int64_t fewestElements = int64_t(1) << 16;
  // Sums apart are written, read and cast, and so are their places. A table of sums costs 8 bytes an element.
  constexpr int64_t rowsOfUpdate = 4;
  RankedTensorType type = typeOf(scatter), indices = typeOf(scatter.getIndices());
  auto number = dyn_cast<IntegerType>(indices.getElementType());
  // A place of -1 must be none.
  if (scatter.getKind() != ScatterKind::Add || !number || number.getWidth() < 32 ||
      !isa<FloatType>(type.getElementType()) || !zyx::fusion::isZero(scatter.getX()) || !scatter->hasOneUse() ||
      type.getNumElements() < fewestElements || indices.getNumElements() == 0 ||
      indices.getNumElements() > type.getDimSize(scatter.getDim()) / rowsOfUpdate)
    return {};
  auto cast = dyn_cast<CastOp>(*scatter->getUsers().begin());
  auto narrow = cast ? dyn_cast<FloatType>(typeOf(cast).getElementType()) : FloatType();
  return narrow && narrow.getWidth() < type.getElementTypeBitWidth() ? cast : CastOp();
}

static void narrow(ScatterOp scatter, CastOp cast) {
  OpBuilder builder(scatter);
  Location loc = scatter.getLoc();
  const int64_t dim = scatter.getDim();
  RankedTensorType type = typeOf(scatter), indices = typeOf(scatter.getIndices());
  const int64_t updates = indices.getNumElements(), rows = type.getDimSize(dim);
  auto placeType = RankedTensorType::get({updates}, builder.getI32Type());
  auto indexType = RankedTensorType::get({updates}, indices.getElementType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = updates;
  auto binary = [&](BinaryKind kind, Value a, Value b) -> Value { return BinaryOp::create(builder, loc, kind, a, b); };
  auto number = [&](RankedTensorType of, int64_t value) { return makeIntegerSplat(builder, loc, of, value); };

  // The last update of each row has the place of all of them. What is outside gives a place behind the last one: places
  // count from below 0 in the table, so that 0 says that there is none.
  Value named = ReshapeOp::create(builder, loc, indexType, scatter.getIndices());
  Value own = IotaOp::create(builder, loc, placeType, 0);
  auto tableType = RankedTensorType::get({rows}, builder.getI32Type());
  Value table = ScatterOp::create(builder, loc, tableType, ScatterKind::Set, number(tableType, 0), named,
                                  binary(BinaryKind::Sub, own, number(placeType, updates)), 0);
  Value place =
      binary(BinaryKind::Add, GatherOp::create(builder, loc, placeType, table, named, 0), number(placeType, updates));

  RankedTensorType sumType = type.clone(shape);
  Value terms = ReshapeOp::create(builder, loc, sumType, scatter.getUpdates());
  Value sums = ScatterOp::create(builder, loc, sumType, ScatterKind::Add, makeSplat(builder, loc, sumType, 0), place,
                                 terms, dim);
  RankedTensorType narrowType = typeOf(cast);
  Value rounded = CastOp::create(builder, loc, narrowType.clone(shape), sums);
  Value isLast = BinaryOp::create(builder, loc, BinaryKind::Eq, place, own);
  Value written = SelectOp::create(builder, loc, isLast, named, number(indexType, -1));
  Value result = ScatterOp::create(builder, loc, narrowType, ScatterKind::Set, makeSplat(builder, loc, narrowType, 0),
                                   written, rounded, dim);
  cast.replaceAllUsesWith(result);
  cast.erase();
  scatter.erase();
}

namespace {

struct NarrowScatters : zyx::fusion::impl::NarrowScattersPassBase<NarrowScatters> {
  void runOnOperation() override {
    // Threads of a card share rows in other ways.
    if (zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    auto rewrite = [](Block &block) {
      for (auto scatter : llvm::make_early_inc_range(block.getOps<ScatterOp>()))
        if (CastOp cast = findCast(scatter); cast && cast->getBlock() == &block)
          narrow(scatter, cast);
    };
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), rewrite)))
      signalPassFailure();
  }
};

} // namespace
