//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MachineEmitter.h"

#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Dialect/Kernel/Transforms/TensorAttention.h"
#include "zyx/Dialect/Kernel/Transforms/TensorChain.h"
#include "zyx/Dialect/Kernel/Transforms/TensorDot.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_MAPTENSORCORESPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

constexpr int64_t mostRows = 128;
/// Columns that are finished at a time, so that what is computed on the way stays in registers. What threads multiply
/// is finished as they hold it.
constexpr int64_t pieceColumns = 16;
/// With two groups that multiply: a thread of theirs, and one that copies.
constexpr int64_t manyRegisters = 232, fewRegisters = 40;

/// Makes one kernel.
class Mapper : MachineEmitter {
public:
  using MachineEmitter::panelColumns;

  Mapper(FuncOp func, TensorDot found, const Axes &axes)
      : MachineEmitter(func, axes), dot(std::move(found)), m(axes.extent(this->dot.m)), n(axes.extent(this->dot.n)),
        k(this->dot.depth), tilesDown(llvm::divideCeil(m, step.getRows())),
        tilesAcross(llvm::divideCeil(n, step.getColumns())), sharers(step.getSplit()),
        finished(step.getColumns() / step.getSplit()), pieceWidth(this->dot.isExact ? step.getColumns() : pieceColumns) {}

  void run() {
    int64_t programs = tilesDown * tilesAcross;
    for (Axis axis : dot.batches)
      programs *= axes.extent(axis);
    FuncOp mapped = beginKernel(programs);
    if (sharers > 1)
      mapped.setCluster(sharers);
    acc = FragAttr::get(b.getContext(), dot.isExact ? FragKind::Block : FragKind::WgmmaAcc);
    sums = RankedTensorType::get({groupRows, step.getColumns()}, getElementTypeOrSelf(dot.dot.getType()), acc);
    allocate();
    first = IdOp::create(b, loc, b.getIndexType(), IdKind::Workgroup);
    begin = index(0);
    end = index(k);
    if (sharers > 1) {
      rank = IdOp::create(b, loc, b.getIndexType(), IdKind::ClusterRank);
      const int64_t part = llvm::divideCeil(llvm::divideCeil(k, step.getDepth()), sharers) * step.getDepth();
      begin = multiply(rank, part);
      end = arith::MinUIOp::create(b, loc, add(begin, part), end);
    } else {
      tiles = index(programs);
      stride = IdOp::create(b, loc, b.getIndexType(), IdKind::NumWorkgroups);
    }
    auto roles = RolesOp::create(b, loc);
    b.createBlock(&roles.getBody());
    // One group has as many registers as a thread can have already.
    emitRole("producer", 1, groups > 1 ? fewRegisters : 0, /*single=*/true, [&](Value) { emitProducer(); });
    emitRole("consumer", groups, groups > 1 ? manyRegisters : 0, /*single=*/false, [&](Value instance) { emitConsumer(instance); });
    YieldOp::create(b, loc);
    b.setInsertionPointAfter(roles);
    endKernel();
  }

private:
  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  struct Ring {
    Value view, memory;
    /// Elements along the axis that is not contracted, of all groups, of a place in memory, and of one copy.
    int64_t free = 0, box = 0, copied = 0;
    const TensorFactor *factor = nullptr;
  };

  /// How a result leaves.
  struct Way {
    Value view;
    /// Batches of the view's leading dimensions.
    SmallVector<Axis> batches;
    bool isCopied = false;
  };

  Ring makeRing(const TensorFactor &factor, int64_t free) {
    Ring ring;
    ring.factor = &factor;
    ring.free = free;
    LoadOp load = factor.load;
    ring.view = viewOf(load.getView(), factor.map);
    // Where the contraction does not run along rows, each group of the left factor has a box of its own.
    bool splits = !factor.alongDepth && &factor == &dot.lhs;
    ring.box = splits ? groupRows : free;
    // Rows that do not exist would be filled one by one; what they make is dropped.
    ring.copied = &factor == &dot.lhs && factor.alongDepth && m < free ? llvm::alignTo(m, 8) : ring.box;
    SmallVector<int64_t> shape = {step.getStages()};
    if (splits)
      shape.push_back(free / groupRows);
    if (factor.alongDepth)
      shape.append({ring.box, step.getDepth()});
    else
      shape.append({step.getDepth(), ring.box});
    ring.memory = allocShared(shape, getElementTypeOrSelf(load.getType()));
    return ring;
  }

  void allocate() {
    left = makeRing(dot.lhs, step.getRows());
    right = makeRing(dot.rhs, step.getColumns());
    for (StoreOp store : dot.stores)
      ways.push_back(makeWay(store.getView(), store.getIndices(), store.getValue(), /*isResult=*/true));
    for (auto [way, store] : llvm::zip(ways, dot.stores))
      if (way.isCopied && !out)
        out = allocShared({groups, 2, groupRows, panelColumns}, bitsElement());
    full = barriers(step.getStages(), 1);
    empty = barriers(step.getStages(), groups);
    if (sharers > 1) {
      // What each workgroup of the cluster has of this one's columns.
      parts = AllocOp::create(b, loc, ViewType::get({groups, sharers, groupRows, finished}, sums.getElementType(), Space::Shared));
      received = barriers(1, 1);
      ExpectOp::create(b, loc, received, index(0), groups * sharers * groupRows * finished * 4);
    }
    BarrierOp::create(b, loc, Scope::Workgroup, /*async=*/false);
    if (sharers > 1)
      ClusterArriveOp::create(b, loc);
  }

  static bool is16Bit(Value tile) {
    Type element = getElementTypeOrSelf(tile.getType());
    return element.isBF16() || element.isF16();
  }

  /// Of results that are copied out: all have the same.
  Type bitsElement() {
    for (auto [way, store] : llvm::zip(ways, dot.stores))
      if (way.isCopied)
        return getElementTypeOrSelf(store.getValue().getType());
    return {};
  }

  Way makeWay(Value view, ValueRange indices, Value tile, bool isResult) {
    AxisStrides strides = *stridesOf(view, indices, tile, axes);
    Way way;
    SmallVector<int64_t> shape, places;
    for (Axis axis : dot.batches)
      if (int64_t place = strides.of(axis)) {
        way.batches.push_back(axis);
        shape.push_back(axes.extent(axis));
        places.push_back(place);
      }
    bool hasRows = axes.contains(tile, dot.m), hasColumns = axes.contains(tile, dot.n);
    Type element = getElementTypeOrSelf(tile.getType());
    way.isCopied = isResult && is16Bit(tile) && finished % panelColumns == 0 && shape.size() <= 3 &&
                   isCopied(strides, dot.n, 2, axes) && (m == 1 || strides.of(dot.m) >= n);
    if (way.isCopied && bitsElement() && bitsElement() != element)
      way.isCopied = false;
    if (hasRows || isResult) {
      shape.push_back(m);
      places.push_back(strides.of(dot.m) || !way.isCopied ? strides.of(dot.m) : llvm::alignTo(n, 8));
    }
    if (hasColumns || isResult) {
      shape.push_back(n);
      places.push_back(way.isCopied ? 1 : strides.of(dot.n));
    }
    way.view = viewOf(view, MapAttr::get(b.getContext(), stridedBlock(b.getContext(), shape, places, strides.offset)));
    return way;
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// All tiles of this workgroup; its cluster's one where there is one.
  Carried overTiles(ValueRange init, llvm::function_ref<Carried(Value, ValueRange)> body) {
    return sharers > 1 ? body(first, init) : loop(first, tiles, stride, init, body);
  }

  /// The place of a tile.
  struct Place {
    llvm::SmallDenseMap<Axis, Value> batches;
    Value row, column;
  };

  /// Tiles are taken in columns of some rows, so that workgroups that run together share slices in the cache.
  Place placeOf(Value tile) {
    Place place;
    Value each = tile;
    if (!dot.batches.empty()) {
      Value size = index(tilesDown * tilesAcross);
      Value batch = divide(tile, size);
      each = rest(tile, size);
      for (auto [i, axis] : llvm::enumerate(llvm::reverse(dot.batches))) {
        Value extent = index(axes.extent(axis));
        bool isLast = i + 1 == dot.batches.size();
        place.batches[axis] = isLast ? batch : rest(batch, extent);
        if (!isLast)
          batch = divide(batch, extent);
      }
    }
    int64_t height = std::min(step.getGroup(), tilesDown);
    Value down = each, right;
    if (tilesAcross == 1) {
      right = index(0);
    } else if (tilesDown % height == 0) {
      Value area = index(tilesAcross * height), inGroup = rest(each, area);
      down = add(multiply(divide(each, area), height), rest(inGroup, index(height)));
      right = divide(inGroup, index(height));
    } else {
      Value area = index(tilesAcross * height), inGroup = rest(each, area);
      Value top = multiply(divide(each, area), height);
      Value below = sub(index(tilesDown), top);
      Value here = arith::MinUIOp::create(b, loc, below, index(height));
      down = add(top, rest(inGroup, here));
      right = divide(inGroup, here);
    }
    place.row = multiply(down, step.getRows());
    place.column = multiply(right, step.getColumns());
    return place;
  }

  /// The numbers along dimensions, outermost first, of the element with this number.
  SmallVector<Value> split(Value number, ArrayRef<int64_t> extents) {
    SmallVector<Value> indices(extents.size());
    for (size_t i = extents.size(); i-- > 0;) {
      Value extent = index(extents[i]);
      indices[i] = i ? rest(number, extent) : number;
      number = i ? divide(number, extent) : number;
    }
    return indices;
  }

  /// Of windows: from that with the number `row` on, the element and channels at `depth`.
  void fetchPixels(const Ring &ring, const TensorWindow &window, const Place &place, Value stage, Value depth, Value row) {
    SmallVector<int64_t> counts = {window.images}, extents;
    llvm::append_range(counts, window.counts);
    SmallVector<Value> indices = split(row, counts);
    if (window.image)
      indices.front() = place.batches.lookup(*window.image);
    for (auto [at, low, step] : llvm::zip(MutableArrayRef(indices).drop_front(), window.low, window.steps))
      at = add(multiply(at, step), low);
    const int64_t channels = llvm::alignTo(window.channels, step.getDepth());
    SmallVector<Value> offsets(window.counts.size(), index(0));
    for (const TensorWindow::Elements &each : window.elements)
      extents.push_back(each.extent);
    SmallVector<Value> elements = split(divide(depth, index(channels)), extents);
    for (auto [element, each] : llvm::zip(elements, window.elements))
      offsets[each.position] = multiply(element, each.apart);
    indices.push_back(extents.empty() ? depth : rest(depth, index(channels)));
    Value slot = part(ring.memory, {stage}, {ring.copied, step.getDepth()});
    AsyncLoadOp::create(b, loc, ring.view, indices, slot, full, stage, IntegerAttr(), offsets,
                        PixelsAttr::get(b.getContext(), window.low, window.high, window.steps));
  }

  void fetch(const Ring &ring, const Place &place, Value stage, Value depth, Value free) {
    if (ring.factor->window)
      return fetchPixels(ring, *ring.factor->window, place, stage, depth, free);
    Value element;
    if (ring.factor->channels) {
      Value channels = index(llvm::alignTo(ring.factor->channels, step.getDepth()));
      element = divide(depth, channels);
      depth = rest(depth, channels);
    }
    auto emit = [&](Value slot, Value at) {
      SmallVector<Value> indices;
      for (Axis axis : ring.factor->batches)
        indices.push_back(place.batches.lookup(axis));
      if (element)
        indices.push_back(element);
      indices.append({ring.factor->alongDepth ? at : depth, ring.factor->alongDepth ? depth : at});
      AsyncLoadOp::create(b, loc, ring.view, indices, slot, full, stage, IntegerAttr());
    };
    if (ring.box == ring.free || cast<ViewType>(ring.memory.getType()).getRank() == 3) {
      SmallVector<int64_t> shape = {ring.copied, step.getDepth()};
      if (!ring.factor->alongDepth)
        std::swap(shape[0], shape[1]);
      bool splits = cast<ViewType>(ring.memory.getType()).getRank() == 4;
      emit(part(ring.memory, splits ? ArrayRef<Value>{stage, index(0)} : ArrayRef<Value>{stage}, shape), free);
      return;
    }
    for (int64_t i = 0; i < ring.free / ring.box; ++i)
      emit(part(ring.memory, {stage, index(i)}, {step.getDepth(), ring.box}), add(free, i * ring.box));
  }

  void emitProducer() {
    overTiles({index(0), bit(true)}, [&](Value tile, ValueRange carried) {
      Place place = placeOf(tile);
      return loop(begin, end, index(step.getDepth()), carried, [&](Value depth, ValueRange ring) -> Carried {
        Value stage = ring[0], parity = ring[1];
        WaitOp::create(b, loc, empty, stage, parity);
        const int64_t rows = left.copied == left.box ? left.free : left.copied;
        ExpectOp::create(b, loc, full, stage, (rows + right.free) * TensorDot::sliceBytes);
        fetch(left, place, stage, depth, place.row);
        fetch(right, place, stage, depth, place.column);
        auto [next, flipped] = advance(stage, parity);
        return {next, flipped};
      });
    });
  }

  /// The factors of one group in a stage.
  Value leftOf(Value stage, Value instance) {
    if (dot.lhs.alongDepth)
      return part(left.memory, {stage, multiply(instance, groupRows)}, {groupRows, step.getDepth()});
    return part(left.memory, {stage, instance}, {step.getDepth(), groupRows});
  }
  Value rightOf(Value stage) {
    SmallVector<int64_t> shape = {step.getColumns(), step.getDepth()};
    if (!dot.rhs.alongDepth)
      std::swap(shape[0], shape[1]);
    return part(right.memory, {stage}, shape);
  }

  Value start(Value stage, Value instance, Value onto) {
    Value started = MmaAsyncOp::create(b, loc, sums, leftOf(stage, instance), rightOf(stage), onto,
                                       /*transpose_lhs=*/!dot.lhs.alongDepth, /*transpose_rhs=*/dot.rhs.alongDepth);
    MmaCommitOp::create(b, loc);
    return started;
  }

  Value plus(Value x, Value y) {
    if (sums.getElementType().isF32())
      return arith::AddFOp::create(b, loc, x, y);
    return arith::AddIOp::create(b, loc, x, y);
  }

  /// A slice by itself, which is added to those before it: meanwhile the other group multiplies.
  Carried addSlice(Value instance, ValueRange ring) {
    Value stage = ring[0], parity = ring[1];
    WaitOp::create(b, loc, full, stage, parity);
    MmaFenceOp::create(b, loc);
    Value done = MmaWaitOp::create(b, loc, TypeRange(sums), 0, start(stage, instance, Value())).getResult(0);
    ArriveOp::create(b, loc, empty, stage, Value());
    auto [next, flipped] = advance(stage, parity);
    return {next, flipped, plus(ring[2], done)};
  }

  /// What every thread has read is given back.
  Carried multiplySlice(Value instance, ValueRange ring) {
    Value stage = ring[0], parity = ring[1];
    WaitOp::create(b, loc, full, stage, parity);
    Value sum = OuterProductsOp::create(b, loc, sums, leftOf(stage, instance), rightOf(stage), ring[2]);
    BarrierOp::create(b, loc, Scope::Role, /*async=*/false);
    ArriveOp::create(b, loc, empty, stage, Value());
    auto [next, flipped] = advance(stage, parity);
    return {next, flipped, sum};
  }

  /// One contraction stays in flight; the stage before it is given back.
  void emitConsumer(Value instance) {
    Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(sums)));
    overTiles({index(0), bit(false)}, [&](Value tile, ValueRange outer) -> Carried {
      Place place = placeOf(tile);
      Carried entering(outer);
      if (dot.sumsSlices() || dot.isExact) {
        entering.push_back(zero);
        Carried last = loop(begin, end, index(step.getDepth()), entering, [&](Value, ValueRange ring) {
          return dot.isExact ? multiplySlice(instance, ring) : addSlice(instance, ring);
        });
        finish(last[2], place, instance);
        return {last[0], last[1]};
      }
      entering.append({index(0), zero});
      Carried last = loop(begin, end, index(step.getDepth()), entering, [&](Value depth, ValueRange ring) -> Carried {
        Value stage = ring[0], parity = ring[1], previous = ring[2];
        WaitOp::create(b, loc, full, stage, parity);
        MmaFenceOp::create(b, loc);
        Value waited = MmaWaitOp::create(b, loc, TypeRange(sums), 1, start(stage, instance, ring[3])).getResult(0);
        Value notFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, depth, begin);
        auto branch = scf::IfOp::create(b, loc, notFirst, /*withElseRegion=*/false);
        {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(branch.thenBlock()->getTerminator());
          ArriveOp::create(b, loc, empty, previous, Value());
        }
        auto [next, flipped] = advance(stage, parity);
        return {next, flipped, stage, waited};
      });
      Value done = MmaWaitOp::create(b, loc, TypeRange(sums), 0, last[3]).getResult(0);
      ArriveOp::create(b, loc, empty, last[2], Value());
      finish(done, place, instance);
      return {last[0], last[1]};
    });
    // Memory is this workgroup's until it has been read.
    if (out)
      onFirst([&] { AsyncWaitOp::create(b, loc, 0, /*read=*/true); });
  }

  void finish(Value done, Place place, Value instance) {
    place.row = add(place.row, multiply(instance, groupRows));
    if (sharers > 1) {
      done = exchange(done, instance);
      place.column = add(place.column, multiply(rank, finished));
    }
    emitResults(done, place, instance);
  }

  /// Every workgroup of the cluster gets what all have summed up of its columns, and adds it up in their order.
  Value exchange(Value done, Value instance) {
    auto type = RankedTensorType::get({groupRows, finished}, sums.getElementType(), acc);
    auto slotOf = [&](Value from) -> Value {
      return SubviewOp::create(b, loc, ViewType::get({groupRows, finished}, sums.getElementType(), Space::Shared), parts,
                               ValueRange{instance, from, index(0), index(0)});
    };
    ClusterWaitOp::create(b, loc);
    Value mine = slotOf(rank);
    for (int64_t i = 0; i < sharers; ++i) {
      Value part = ExtractOp::create(b, loc, type, done, ArrayRef<int64_t>{0, i * finished});
      ClusterSendOp::create(b, loc, part, mine, index(i), received, index(0));
    }
    WaitOp::create(b, loc, received, index(0), bit(false), /*cluster=*/true);
    Value sum;
    for (int64_t i = 0; i < sharers; ++i) {
      Value part = ClusterReceiveOp::create(b, loc, type, slotOf(index(i)));
      sum = sum ? plus(sum, part) : part;
    }
    return sum;
  }

  //===--------------------------------------------------------------------===//
  // Behind the dot
  //===--------------------------------------------------------------------===//

  SmallVector<Value> indicesOf(const Way &way, const Place &place, bool hasRows, bool hasColumns, Value column) {
    SmallVector<Value> indices;
    for (Axis axis : way.batches)
      indices.push_back(place.batches.lookup(axis));
    if (hasRows)
      indices.push_back(place.row);
    if (hasColumns)
      indices.push_back(column);
    return indices;
  }

  /// True for dimensions of a view of which no tile has elements outside.
  DenseBoolArrayAttr inBounds(const Way &way, bool hasRows, bool hasColumns) {
    SmallVector<bool> flags(way.batches.size(), true);
    if (hasRows)
      flags.push_back(m % step.getRows() == 0);
    if (hasColumns)
      flags.push_back(n % step.getColumns() == 0);
    return b.getDenseBoolArrayAttr(flags);
  }

  void emitResults(Value done, const Place &place, Value instance) {
    int64_t turn = 0;
    const int64_t columns = std::min<int64_t>(finished, llvm::alignTo(n, panelColumns));
    // Of an odd number of copies the last one has the slot with which the next tile begins.
    const int64_t copies = llvm::divideCeil(columns, panelColumns) * llvm::count_if(ways, [](const Way &way) { return way.isCopied; });
    common.clear();
    if (dot.isExact) {
      for (auto [way, store] : llvm::zip(ways, dot.stores))
        emitPiece(done, place, 0, store, way, Value(), 0);
      return;
    }
    for (int64_t panel = 0; panel < columns; panel += panelColumns)
      for (auto [way, store] : llvm::zip(ways, dot.stores)) {
        Value slot;
        if (way.isCopied) {
          slot = part(out, {instance, index(turn++ % 2)}, {groupRows, panelColumns});
          const bool isSame = copies % 2 == 1 && turn == 1;
          onFirst([&] { AsyncWaitOp::create(b, loc, isSame ? 0 : 1, /*read=*/true); });
          BarrierOp::create(b, loc, Scope::Role, /*async=*/false);
        }
        for (int64_t column = 0; column < std::min(panelColumns, finished - panel); column += pieceColumns)
          emitPiece(done, place, panel + column, store, way, slot, column);
        if (way.isCopied) {
          BarrierOp::create(b, loc, Scope::Role, /*async=*/true);
          SmallVector<Value> indices = indicesOf(way, place, true, true, add(place.column, panel));
          onFirst([&] { AsyncStoreOp::create(b, loc, slot, way.view, indices); });
        }
      }
  }

  /// Results of several stores compute what they share again: it would take registers meanwhile.
  void emitPiece(Value done, const Place &place, int64_t column, StoreOp store, const Way &way, Value slot, int64_t inSlot) {
    piece.clear();
    Value at = add(place.column, column);
    auto type = RankedTensorType::get({groupRows, pieceWidth}, sums.getElementType(), acc);
    piece[dot.dot.getResult()] =
        dot.isExact ? done : ExtractOp::create(b, loc, type, done, ArrayRef<int64_t>{0, column}).getResult();
    Value result = narrow(evaluate(store.getValue(), place, at), getElementTypeOrSelf(store.getValue().getType()));
    if (slot)
      StoreOp::create(b, loc, result, slot, ValueRange{index(0), index(inSlot)}, Value(), DenseBoolArrayAttr());
    else
      StoreOp::create(b, loc, result, way.view, indicesOf(way, place, true, true, at), Value(), inBounds(way, true, true));
  }

  /// The part of a tile at a piece of the result. What does not depend on columns is evaluated once.
  Value evaluate(Value tile, const Place &place, Value column) {
    bool hasColumns = axes.contains(tile, dot.n);
    auto &known = hasColumns ? piece : common;
    if (Value value = known.lookup(tile))
      return value;
    Value value = compute(tile, place, column);
    known[tile] = value;
    return value;
  }

  Value compute(Value tile, const Place &place, Value column) {
    const Frame frame{dot.m, dot.n, pieceWidth};
    if (auto load = tile.getDefiningOp<LoadOp>()) {
      Way way = makeWayOf(load);
      bool hasRows = axes.contains(tile, dot.m), hasColumns = axes.contains(tile, dot.n);
      return widen(LoadOp::create(b, loc, heldType(tile, frame, getElementTypeOrSelf(tile.getType())), way.view,
                                  indicesOf(way, place, hasRows, hasColumns, column), Value(), Value(), ArrayAttr(),
                                  inBounds(way, hasRows, hasColumns)));
    }
    return MachineEmitter::compute(tile, frame, [&](Value operand) { return evaluate(operand, place, column); });
  }

  /// A view stands once, before the roles.
  Way makeWayOf(LoadOp load) {
    auto [known, isNew] = loads.try_emplace(load);
    if (isNew) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(left.view);
      known->second = makeWay(load.getView(), load.getIndices(), load.getResult(), /*isResult=*/false);
    }
    return known->second;
  }

  TensorDot dot;
  const int64_t m, n, k, tilesDown, tilesAcross;
  /// Workgroups that share a tile, and columns of it that each finishes.
  const int64_t sharers, finished;
  /// Columns that are finished at a time.
  const int64_t pieceWidth;
  RankedTensorType sums;
  Ring left, right;
  SmallVector<Way> ways;
  llvm::DenseMap<Operation *, Way> loads;
  Value out, full, empty, tiles, first, stride;
  /// Of the contraction, in this workgroup.
  Value begin, end;
  /// Of clusters: this workgroup's number, and what it gets of the others.
  Value rank, parts, received;
  /// What has been evaluated, of a piece and of all.
  llvm::DenseMap<Value, Value> piece, common;
};

/// An attention, or a chain of products.
LogicalResult mapWalk(FuncOp func, const Axes &axes) {
  TensorStepAttr step = tensorStepOf(func);
  if (step.getSplit() != 1 || step.getTf32() || step.getDepth() != 64)
    return func.emitOpError() << "walks blocks: its tiles are of one workgroup each, its slices of 64 elements";
  std::string reason;
  if (isAttention(func)) {
    if (std::optional<TensorAttention> attention = matchTensorAttention(func, axes, reason))
      return mapAttention(func, *attention, axes), success();
    return func.emitOpError() << "is no attention for tensor cores: " << reason;
  }
  if (std::optional<TensorChain> chain = matchTensorChain(func, axes, reason))
    return mapChain(func, *chain, axes), success();
  return func.emitOpError() << "is no chain of products for tensor cores: " << reason;
}

struct MapTensorCores : zyx::kernel::impl::MapTensorCoresPassBase<MapTensorCores> {
  using MapTensorCoresPassBase::MapTensorCoresPassBase;

  void runOnOperation() override {
    SmallVector<FuncOp> funcs;
    getOperation()->walk([&](FuncOp func) {
      if (tensorStepOf(func))
        funcs.push_back(func);
    });
    for (FuncOp func : funcs) {
      CrashNote note(func);
      unshareConstants(func);
      FailureOr<Axes> axes = Axes::compute(func);
      if (failed(axes))
        return signalPassFailure();
      std::string reason;
      TensorStepAttr step = tensorStepOf(func);
      if (isAttention(func) || isChain(func)) {
        if (failed(mapWalk(func, *axes)))
          return signalPassFailure();
        continue;
      }
      std::optional<TensorDot> dot = matchTensorDot(func, *axes, step.getTf32() || step.getDepth() == 128, reason);
      if (dot && step.getRows() > mostRows) {
        dot.reset();
        reason = "tiles of a product have 64 or 128 rows";
      }
      if (dot && dot->isExact && (step.getColumns() != 128 || step.getSplit() != 1)) {
        dot.reset();
        reason = "threads multiply tiles of 128 columns, each in one workgroup";
      }
      if (dot && !dot->rhs.alongDepth && step.getColumns() % Mapper::panelColumns != 0) {
        dot.reset();
        reason = "a factor that does not run along the contraction lies in panels of 64 columns";
      }
      if (!dot) {
        func.emitOpError() << "is not for tensor cores: " << reason;
        return signalPassFailure();
      }
      if (step.getDepth() != dot->sliceElements()) {
        func.emitOpError() << "has slices of " << step.getDepth() << " elements, which are not "
                           << TensorDot::sliceBytes << " bytes";
        return signalPassFailure();
      }
      Mapper(func, *dot, *axes).run();
    }
  }
};

} // namespace
