//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Cpu/NearOperands.h"

#include "zyx/Codegen/Tile/LaneAccess.h"
#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Copies the array of one load.
class NearCopier {
public:
  NearCopier(OpBuilder &builder, Location loc, const NearForm &form, int64_t lanes, Type element)
      : builder(builder), loc(loc), form(form), lanes(lanes), element(element) {}

  /// Where the array is in the buffer that `row` shows, by dimension; how many of its elements there are; and what
  /// stands for those that do not exist.
  Value row, fill;
  SmallVector<Value> bases, counts;
  /// Where it comes to.
  Value memory;
  /// Of what only a maximum or minimum reads: the one whose order of bits the copy has.
  std::optional<Combine> ordered;
  SmallVector<int64_t> strides;

  void copy() { walk(0, index(form.offset), index(0), Value()); }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value multiply(Value a, int64_t b) { return builder.createOrFold<arith::MulIOp>(loc, a, index(b)); }
  VectorType vectorOf(Type type) { return VectorType::get(lanes, type); }
  void store(Value value, Value place) {
    if (ordered)
      value = toOrderedBits(builder, loc, *ordered, value);
    StoreOp::create(builder, loc, value, memory, place, Value(), DenseBoolArrayAttr());
  }
  template <typename Body> void loop(Value end, int64_t step, Body body) {
    auto made = scf::ForOp::create(builder, loc, index(0), end, index(step));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    body(made.getInductionVar());
  }

  /// How far a position lies behind the first one that exists; negative ones are large when read as unsigned.
  Value distance(const NearForm::Dim &dim, Value position) { return add(position, index(dim.offset - dim.low)); }

  void walk(size_t d, Value source, Value place, Value exists) {
    const NearForm::Dim &dim = form.dims[d];
    if (d + 1 == form.dims.size())
      return copyRow(add(source, multiply(bases[d], dim.step)), place, exists);
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

  void copyRow(Value source, Value place, Value exists) {
    if (!exists)
      return copyExisting(source, place);
    auto branch = scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    copyExisting(source, place);
    builder.setInsertionPointToStart(branch.elseBlock());
    Value filled = vector::BroadcastOp::create(builder, loc, vectorOf(element), fill);
    loop(counts.back(), lanes, [&](Value i) { store(filled, add(place, i)); });
  }

  void copyExisting(Value source, Value place) {
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

  /// One by one, from the first position that exists to the last one.
  void copyApart(Value source, Value place) {
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
      loop(counts.back(), lanes, [&](Value i) { store(filled, add(place, i)); });
    }
    auto made = scf::ForOp::create(builder, loc, first, end, index(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    Value i = made.getInductionVar();
    Value one = LoadOp::create(builder, loc, element, row, add(source, multiply(i, dim.step)), Value(), Value(),
                               ArrayAttr(), DenseBoolArrayAttr());
    store(one, add(place, i));
  }

  Value maskOf(const NearForm::Dim &dim, Value position) {
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

  OpBuilder &builder;
  Location loc;
  const NearForm &form;
  const int64_t lanes;
  Type element;
};

} // namespace

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
  const bool isNear = form && form->isReused(tile, width, static_cast<int64_t>(countReads()), combinesMany());
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
