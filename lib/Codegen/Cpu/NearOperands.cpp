//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Cpu/NearOperands.h"

#include "NearCopier.h"

#include "zyx/Codegen/Tile/LaneAccess.h"
#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

bool NearOperands::comesNear(LoadOp load, Axis axis) {
  if (t.threads > 1 || !t.machine.hasVectors() || n.oneHot || n.reduces.empty())
    return false;
  const int64_t width =
      std::min<int64_t>(t.lanesFor(n.slice, axis), llvm::PowerOf2Ceil(std::max<uint64_t>(t.axes.extent(axis), 1)));
  std::optional<NearForm> form = formOf(load, axis, width);
  return form && (combinesMany() || form->laneStep != 1);
}

bool NearOperands::mayCopy() {
  return t.threads == 1 && t.machine.hasVectors() && n.vectorAxis && n.lanes != 1 && !n.unrolled && !n.oneHot &&
         !n.reduces.empty() && (!n.vectorCombined() || combinesMany());
}

uint64_t NearOperands::countReads() {
  uint64_t count = 1;
  for (Axis axis : n.domain)
    count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(t.axes.extent(axis)));
  return std::min<uint64_t>(count, INT64_MAX);
}

bool NearOperands::combinesMany() {
  uint64_t count = 1;
  for (Axis axis : n.combined)
    count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(t.axes.extent(axis)));
  return count > mostWindowElements;
}

std::optional<NearForm> NearOperands::formOf(LoadOp load, Axis along, int64_t width) {
  auto view = t.evaluator.mapping.lookupOrDefault(load.getView()).getDefiningOp<ViewOp>();
  if (!isTile(load.getResult()) || t.evaluator.memory.contains(load.getResult()) || !view)
    return std::nullopt;
  SmallVector<Axis> own = t.axes.of(load.getResult());
  const auto *place = llvm::find(own, along);
  if (place == own.end())
    return std::nullopt;
  std::optional<NearForm> form = NearForm::compute(view.getMap(), place - own.begin());
  ArrayRef<int64_t> tile = cast<RankedTensorType>(load.getType()).getShape();
  const bool isNear =
      form && form->isReused(tile, place - own.begin(), width, static_cast<int64_t>(countReads()), combinesMany());
  return isNear ? form : std::nullopt;
}

void NearOperands::copy() {
  if (!mayCopy())
    return;
  int64_t left = mostNearBytes;
  for (Operation *access : n.slice.accesses) {
    auto load = dyn_cast<LoadOp>(access);
    std::optional<NearForm> form = load ? formOf(load, *n.vectorAxis, n.lanes) : std::nullopt;
    if (!form)
      continue;
    auto view = t.evaluator.mapping.lookupOrDefault(load.getView()).getDefiningOp<ViewOp>();
    ArrayRef<int64_t> tile = cast<RankedTensorType>(load.getType()).getShape();
    // Behind the last row a vector may begin that has only its first lanes there.
    const int64_t elements = form->countElements(tile, n.lanes) + n.lanes * form->laneStep;
    Type element = view.getType().getElementType();
    const int64_t bytes = elements * std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
    if (bytes > left)
      continue;
    left -= bytes;
    copy(load, view, *form, elements);
  }
}

void NearOperands::copy(LoadOp load, ViewOp view, const NearForm &form, int64_t elements) {
  Type element = view.getType().getElementType();
  SmallVector<Axis> own = t.axes.of(load.getResult());
  ArrayRef<int64_t> tile = cast<RankedTensorType>(load.getType()).getShape();
  NearCopier copier(t.builder, loc, form, n.lanes, element);
  SmallVector<int64_t> sizes = form.getExtents(tile);
  copier.strides.assign(sizes.size(), 1);
  for (size_t d = sizes.size() - 1; d-- > 0;)
    copier.strides[d] =
        copier.strides[d + 1] * (d + 2 == sizes.size() ? llvm::alignTo(sizes[d + 1], n.lanes) : sizes[d + 1]);
  for (auto [d, dim] : llvm::enumerate(form.dims)) {
    Value base = t.evaluator.constantIndex(0, loc), count = t.evaluator.constantIndex(sizes[d], loc);
    for (auto [i, factor] : llvm::enumerate(dim.factors)) {
      if (factor == 0)
        continue;
      Value first = t.evaluator.mapping.lookupOrDefault(load.getIndices()[i]);
      first = t.builder.createOrFold<arith::MulIOp>(loc, first, t.evaluator.constantIndex(factor, loc));
      base = t.builder.createOrFold<arith::AddIOp>(loc, base, first);
      // What lies beyond the view is not in the buffer; beyond what is padded it does not exist.
      if (!dim.isBounded && n.extents.contains(own[i])) {
        Value missing = t.builder.createOrFold<arith::SubIOp>(loc, t.evaluator.constantIndex(tile[i], loc),
                                                              t.materialise(n.extents[own[i]], loc));
        missing = t.builder.createOrFold<arith::MulIOp>(loc, missing, t.evaluator.constantIndex(factor, loc));
        count = t.builder.createOrFold<arith::SubIOp>(loc, count, missing);
      }
    }
    copier.bases.push_back(base);
    copier.counts.push_back(count);
  }
  // Elements of a window are turned into the order that is compared once, and not for each window that has them.
  if (load->hasOneUse())
    if (auto reduce = dyn_cast<ReduceOp>(*load->user_begin());
        reduce && llvm::is_contained(n.reduces, reduce) && n.comparesBits(reduce) && !n.vectorCombined())
      copier.ordered = reduce.getKind();
  {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(t.programStart);
    Type kept = copier.ordered ? n.bitsOf(element) : element;
    copier.memory = AllocOp::create(t.builder, loc, ViewType::get({elements}, kept, Space::Private));
    copier.kept = kept;
  }
  copier.row = viewAsRow(t.builder, view);
  copier.fill = load.getOther() ? t.evaluator.mapping.lookupOrDefault(load.getOther())
                                : arith::ConstantOp::create(t.builder, loc, t.builder.getZeroAttr(element)).getResult();
  copier.copy();
  MemoryTile &copied = t.evaluator.memory[load.getResult()];
  copied.view = copier.memory;
  copied.hasRoom = true;
  copied.strides.assign(tile.size(), 0);
  for (auto [d, dim] : llvm::enumerate(form.dims))
    for (auto [i, factor] : llvm::enumerate(dim.factors))
      copied.strides[i] += factor * copier.strides[d];
  n.near.push_back(load.getResult());
}

bool NearOperands::allocateAlong(Value result) {
  SmallVector<Axis> own = t.axes.of(result);
  if (!mayCopy() || t.source.walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted() ||
      !llvm::is_contained(own, *n.vectorAxis) || own.back() == *n.vectorAxis)
    return false;
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> strides(own.size(), 0);
  int64_t size = 1;
  auto lay = [&](bool isAlong) {
    for (size_t d = own.size(); d-- > 0;)
      if ((own[d] == *n.vectorAxis) == isAlong) {
        strides[d] = size;
        const int64_t most = t.machine.accessBytes() / std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
        size *= isAlong ? llvm::alignTo(type.getDimSize(d), std::max<int64_t>(most, n.lanes)) : type.getDimSize(d);
      }
  };
  lay(true);
  lay(false);
  OpBuilder::InsertionGuard guard(t.builder);
  t.builder.setInsertionPointToStart(t.programStart);
  t.evaluator.memory[result] = {
      AllocOp::create(t.builder, loc, ViewType::get({size}, type.getElementType(), Space::Private)), strides};
  return true;
}

int64_t NearOperands::positionsAtOnce(Axis axis) {
  const int64_t extent = t.axes.extent(axis);
  const int64_t most =
      std::clamp<int64_t>(t.machine.accessRegisters() * 3 / 8 / std::max<int64_t>(n.unroll, 1), 1, extent);
  int64_t best = most;
  for (int64_t count = most; 2 * count > most; --count)
    if (extent % count < extent % best)
      best = count;
  return best;
}
