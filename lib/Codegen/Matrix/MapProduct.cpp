//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MapProduct.h"
#include "ProductEmitter.h"

#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Target/Info/Budgets.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;
namespace fits = zyx::target::fits::groupProducts;

namespace {

constexpr int64_t simtF32Groups = MachineShape::simtF32Groups;
/// Columns that are finished at a time, so that what is computed on the way stays in registers. What threads multiply
/// is finished as they hold it.
constexpr int64_t pieceColumns = 16;
/// Of each group of warps, from which the copy engine takes a panel of a result.
constexpr int64_t slotsOfResults = 2;

/// Makes one kernel.
class ProductMapper : ProductEmitter {
public:
  using MachineEmitter::panelColumns;

  ProductMapper(FuncOp func, TensorDot found, const Axes &axes)
      : ProductEmitter(func, found, axes, found.isSimtF32 ? tensorStepOf(func).getRows() / simtF32Groups : groupRows,
                       found.isSimtF32 ? tensorStepOf(func).getColumns() : pieceColumns),
        epilogue(findEpilogue(func, step, axes, machine)), sharers(step.getSplit()),
        finished(step.getColumns() / step.getSplit()), workers(found.isSimtF32 ? simtF32Groups : groups) {}

  void run() {
    FuncOp mapped = beginKernel(programs());
    const bool transposes = dot.isTransposed(dot.lhs) || dot.isTransposed(dot.rhs);
    mapped.setThreads(groupThreads * (workers + 1 + transposes));
    if (sharers > 1)
      mapped.setCluster(sharers);
    acc = FragAttr::get(b.getContext(), dot.isSimtF32 ? FragKind::Block : FragKind::WgmmaAcc);
    sums = RankedTensorType::get({fragment.height, step.getColumns()}, getElementTypeOrSelf(dot.dot.getType()), acc);
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
      tiles = index(programs());
      stride = IdOp::create(b, loc, b.getIndexType(), IdKind::NumWorkgroups);
    }
    auto roles = RolesOp::create(b, loc);
    b.createBlock(&roles.getBody());
    const int64_t copying = fits::copyingRegisters[workers], others = copying + transposes * fits::transposingRegisters;
    emitRole("producer", 1, copying, /*single=*/true, [&](Value) { emitProducer(); });
    if (transposes)
      emitRole("transposer", 1, fits::transposingRegisters, /*single=*/false, [&](Value) { emitTransposer(); });
    int64_t registers = zyx::target::registersOfGroups(machine, workers, workers + 1 + transposes, others);
    if (transposes)
      registers = std::min(registers, fits::transposedRegisters);
    emitRole("consumer", workers, registers, /*single=*/false, [&](Value instance) { emitConsumer(instance); });
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
    /// What the copy engine fills: the same, or where slices wait to be transposed.
    Value filled;
    /// Elements along the axis that is not contracted, of all groups, of a place in memory, and of one copy.
    int64_t free = 0, box = 0, copied = 0;
    /// Copies of a slice.
    int64_t copies = 1;
    const TensorFactor *factor = nullptr;
  };

  /// The contraction runs along the rows of what is multiplied.
  bool isDeep(const TensorFactor &factor) const { return factor.alongDepth && !dot.isSimtF32; }

  Ring makeRing(const TensorFactor &factor, int64_t free) {
    Ring ring;
    ring.factor = &factor;
    ring.free = free;
    LoadOp load = factor.load;
    ring.view = viewOf(load.getView(), factor.map);
    // Where the contraction does not run along rows, each group of the left factor has a box of its own.
    const bool isLeft = &factor == &dot.lhs, splits = isLeft && !isDeep(factor);
    ring.box = splits ? groupRows : free;
    // Rows that do not exist would be filled one by one; what they make is dropped.
    ring.copied = !factor.alongDepth ? ring.box : isLeft && m < free ? llvm::alignTo(m, 8) : free;
    ring.copies = factor.alongDepth ? 1 : free / ring.box;
    SmallVector<int64_t> shape = {step.getStages()};
    if (splits)
      shape.push_back(free / groupRows);
    if (isDeep(factor))
      shape.append({ring.box, step.getDepth()});
    else
      shape.append({step.getDepth(), ring.box});
    Type element = getElementTypeOrSelf(load.getType());
    ring.filled = ring.memory = allocShared(shape, element);
    if (dot.isTransposed(factor))
      ring.filled = allocShared({step.getStages(), free, step.getDepth()}, element);
    return ring;
  }

  void allocate() {
    left = makeRing(dot.lhs, step.getRows());
    right = makeRing(dot.rhs, step.getColumns());
    firstView = left.view;
    for (StoreOp store : dot.stores)
      accesses.push_back(
          makeAccess(store.getView(), store.getIndices(), store.getValue(), /*isResult=*/true, leavesByEngine(store)));
    for (auto [access, store] : llvm::zip(accesses, dot.stores))
      access.isStaged = !access.isCopied && mayBeStaged(access, store);
    for (const EpilogueAccess &access : accesses)
      if (access.hasSlot() && !out)
        out = allocShared({groups, slotsOfResults, groupRows, panelColumns}, bitsElement());
    readAhead = findReadAhead();
    readsNext = readAhead.size() == 1;
    full = barriers(step.getStages(), 1);
    empty = barriers(step.getStages(), workers);
    if (dot.isTransposed(dot.lhs) || dot.isTransposed(dot.rhs))
      transposed = barriers(step.getStages(), 1);
    if (sharers > 1) {
      // What each workgroup of the cluster has of this one's columns.
      parts = AllocOp::create(
          b, loc, ViewType::get({groups, sharers, groupRows, finished}, sums.getElementType(), Space::Shared));
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

  /// Of results that leave through shared memory: all have the same.
  Type bitsElement() {
    for (auto [access, store] : llvm::zip(accesses, dot.stores))
      if (access.hasSlot())
        return getElementTypeOrSelf(store.getValue().getType());
    return {};
  }

  bool leavesByEngine(StoreOp store) {
    Value tile = store.getValue();
    AxisStrides strides = *stridesOf(store.getView(), store.getIndices(), tile, axes);
    return is16Bit(tile) && finished % panelColumns == 0 && batchesOf(strides).size() <= 3 &&
           isCopied(strides, dot.n, 2, axes, machine.copies) && (m == 1 || strides.of(dot.m) >= n) &&
           (!bitsElement() || bitsElement() == getElementTypeOrSelf(tile.getType()));
  }

  /// Whether rows of a result are runs of memory, which begin where the copy engine cannot write. Loops over panels
  /// write as they hold: in random order the simulator finds wrong sums of those that leave through shared memory.
  bool mayBeStaged(const EpilogueAccess &access, StoreOp store) {
    Value tile = store.getValue();
    const AxisStrides strides = *stridesOf(store.getView(), store.getIndices(), tile, axes);
    return !dot.isSimtF32 && !epilogue.loops && is16Bit(tile) && finished % panelColumns == 0 && access.run == 0 &&
           strides.of(dot.n) == 1 && n >= panelColumns &&
           (!bitsElement() || bitsElement() == getElementTypeOrSelf(tile.getType()));
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// All tiles of this workgroup; its cluster's one where there is one.
  Carried overTiles(ValueRange init, llvm::function_ref<Carried(Value, ValueRange)> body) {
    return sharers > 1 ? body(first, init) : loop(first, tiles, stride, init, body);
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
  void fetchPixels(const Ring &ring, const TensorWindow &window, const TileCoordinates &place, Value stage, Value depth,
                   Value row) {
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
    Value slot = part(ring.filled, {stage}, {ring.copied, step.getDepth()});
    AsyncLoadOp::create(b, loc, ring.view, indices, slot, full, stage, offsets,
                        PixelsAttr::get(b.getContext(), window.low, window.high, window.steps));
  }

  void fetch(const Ring &ring, const TileCoordinates &place, Value stage, Value depth, Value free) {
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
      AsyncLoadOp::create(b, loc, ring.view, indices, slot, full, stage);
    };
    if (ring.copies == 1) {
      SmallVector<int64_t> shape = {ring.copied, step.getDepth()};
      if (!ring.factor->alongDepth)
        std::swap(shape[0], shape[1]);
      bool splits = cast<ViewType>(ring.filled.getType()).getRank() == 4;
      emit(part(ring.filled, splits ? ArrayRef<Value>{stage, index(0)} : ArrayRef<Value>{stage}, shape), free);
      return;
    }
    for (int64_t i = 0; i < ring.copies; ++i)
      emit(part(ring.filled, {stage, index(i)}, {step.getDepth(), ring.box}), add(free, i * ring.box));
  }

  void emitProducer() {
    overTiles({index(0), bit(true)}, [&](Value tile, ValueRange carried) {
      TileCoordinates place = coordinatesOf(tile);
      return loop(begin, end, index(step.getDepth()), carried, [&](Value depth, ValueRange ring) -> Carried {
        Value stage = ring[0], parity = ring[1];
        WaitOp::create(b, loc, empty, stage, parity);
        const int64_t copied = left.copied * left.copies + right.copied * right.copies;
        ExpectOp::create(b, loc, full, stage, copied * TensorDot::sliceBytes);
        fetch(left, place, stage, depth, place.row);
        fetch(right, place, stage, depth, place.column);
        auto [next, flipped] = advance(stage, parity);
        return {next, flipped};
      });
    });
  }

  /// Transposes what has come of factors along the contraction, and says so. A stage is free for that when it is for
  /// the copy.
  void emitTransposer() {
    overTiles({index(0), bit(false)}, [&](Value, ValueRange carried) {
      return loop(begin, end, index(step.getDepth()), carried, [&](Value, ValueRange ring) -> Carried {
        Value stage = ring[0], parity = ring[1];
        WaitOp::create(b, loc, full, stage, parity);
        if (dot.isTransposed(dot.lhs))
          for (int64_t i = 0; i < left.free / left.box; ++i)
            TransposeSharedOp::create(b, loc,
                                      part(left.filled, {stage, index(i * left.box)}, {left.box, step.getDepth()}),
                                      part(left.memory, {stage, index(i)}, {step.getDepth(), left.box}));
        if (dot.isTransposed(dot.rhs))
          TransposeSharedOp::create(b, loc, part(right.filled, {stage}, {right.free, step.getDepth()}), rightOf(stage));
        BarrierOp::create(b, loc, Scope::Role, /*async=*/false);
        ArriveOp::create(b, loc, transposed, stage);
        auto [next, flipped] = advance(stage, parity);
        return {next, flipped};
      });
    });
  }

  /// The factors of one group in a stage.
  Value leftOf(Value stage, Value instance) {
    if (isDeep(dot.lhs))
      return part(left.memory, {stage, multiply(instance, groupRows)}, {groupRows, step.getDepth()});
    // Of a box that two groups share each has its own panel.
    if (fragment.height < left.box)
      return part(left.memory, {stage, index(0), index(0), multiply(instance, fragment.height)},
                  {step.getDepth(), fragment.height});
    return part(left.memory, {stage, instance}, {step.getDepth(), left.box});
  }
  Value rightOf(Value stage) {
    SmallVector<int64_t> shape = {step.getColumns(), step.getDepth()};
    if (!isDeep(dot.rhs))
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
    ArriveOp::create(b, loc, empty, stage);
    auto [next, flipped] = advance(stage, parity);
    return {next, flipped, plus(ring[2], done)};
  }

  /// What every thread has read is given back.
  Carried multiplySlice(Value instance, ValueRange ring) {
    Value stage = ring[0], parity = ring[1];
    if (!dot.isTransposed(dot.lhs) || !dot.isTransposed(dot.rhs))
      WaitOp::create(b, loc, full, stage, parity);
    if (transposed)
      WaitOp::create(b, loc, transposed, stage, parity);
    Value sum = OuterProductsOp::create(b, loc, sums, leftOf(stage, instance), rightOf(stage), ring[2]);
    BarrierOp::create(b, loc, Scope::Role, /*async=*/false);
    ArriveOp::create(b, loc, empty, stage);
    auto [next, flipped] = advance(stage, parity);
    return {next, flipped, sum};
  }

  /// One contraction stays in flight; the stage before it is given back.
  void emitConsumer(Value instance) {
    Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(sums)));
    overTiles({index(0), bit(false)}, [&](Value tile, ValueRange outer) -> Carried {
      TileCoordinates place = coordinatesOf(tile);
      Carried entering(outer);
      if (dot.sumsSlices() || dot.isSimtF32) {
        entering.push_back(zero);
        Carried last = loop(begin, end, index(step.getDepth()), entering, [&](Value, ValueRange ring) {
          return dot.isSimtF32 ? multiplySlice(instance, ring) : addSlice(instance, ring);
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
          ArriveOp::create(b, loc, empty, previous);
        }
        auto [next, flipped] = advance(stage, parity);
        return {next, flipped, stage, waited};
      });
      // Memory answers while the last products are in flight.
      std::vector<Read> read =
          sharers == 1 && !epilogue.loops ? readPanel(ownPlace(place, instance), 0) : std::vector<Read>();
      Value done = MmaWaitOp::create(b, loc, TypeRange(sums), 0, last[3]).getResult(0);
      ArriveOp::create(b, loc, empty, last[2]);
      finish(done, place, instance, std::move(read));
      return {last[0], last[1]};
    });
    // Memory is this workgroup's until it has been read.
    if (hasCopied())
      onFirst([&] { AsyncWaitOp::create(b, loc, 0, /*read=*/true); });
  }

  /// Where the rows of a group are.
  TileCoordinates ownPlace(TileCoordinates place, Value instance) {
    place.row = add(place.row, multiply(instance, fragment.height));
    return place;
  }

  void finish(Value done, TileCoordinates place, Value instance, std::vector<Read> read = {}) {
    place = ownPlace(place, instance);
    if (sharers > 1) {
      done = exchange(done, instance);
      place.column = add(place.column, multiply(rank, finished));
    }
    emitResults(done, place, instance, std::move(read));
  }

  /// Every workgroup of the cluster gets what all have summed up of its columns, and adds it up in their order.
  Value exchange(Value done, Value instance) {
    auto type = RankedTensorType::get({groupRows, finished}, sums.getElementType(), acc);
    auto slotOf = [&](Value from) -> Value {
      return SubviewOp::create(b, loc, ViewType::get({groupRows, finished}, sums.getElementType(), Space::Shared),
                               parts, ValueRange{instance, from, index(0), index(0)});
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

  /// What is read of a panel's pieces, one by one; nothing where there are no registers for it.
  std::vector<Read> readPanel(const TileCoordinates &place, int64_t panel) {
    std::vector<Read> pieces;
    if (readAhead.empty() || dot.isSimtF32)
      return pieces;
    for (int64_t column = 0; column < std::min(panelColumns, finished - panel); column += pieceColumns)
      pieces.push_back(readPiece(readAhead, place, add(place.column, panel + column)));
    return pieces;
  }

  void emitResults(Value done, const TileCoordinates &place, Value instance, std::vector<Read> read) {
    const int64_t columns = std::min<int64_t>(finished, llvm::alignTo(n, panelColumns));
    forgetRows();
    if (dot.isSimtF32) {
      emitPiece(done, place, 0, 0, Read(), llvm::to_vector(llvm::seq(accesses.size())), {});
      return;
    }
    if (epilogue.loops)
      return loopOverPanels(done, place, instance, columns);
    const int64_t copies = llvm::divideCeil(columns, panelColumns) * copiesOfPanel();
    int64_t turn = 0;
    for (int64_t panel = 0; panel < columns; panel += panelColumns) {
      if (read.empty())
        read = readPanel(place, panel);
      std::vector<Read> next =
          readsNext && panel + panelColumns < columns ? readPanel(place, panel + panelColumns) : std::vector<Read>();
      emitPanel(done, place, instance, panel, read, copies % 2 == 1 && turn == 0,
                [&] { return index(turn++ % slotsOfResults); });
      read = std::move(next);
    }
  }

  /// One panel after the other, by the same code: the first of the sums that are carried is due.
  void loopOverPanels(Value done, const TileCoordinates &place, Value instance, int64_t columns) {
    auto type = RankedTensorType::get({fragment.height, panelColumns}, sums.getElementType(), acc);
    Carried panels;
    for (int64_t panel = 0; panel < columns; panel += panelColumns)
      panels.push_back(ExtractOp::create(b, loc, type, done, ArrayRef<int64_t>{0, panel}));
    const int64_t copies = copiesOfPanel();
    loop(index(0), index(columns), index(panelColumns), panels, [&](Value column, ValueRange left) {
      TileCoordinates here = place;
      here.column = add(place.column, column);
      Value first = copies % 2 == 1 ? rest(divide(column, index(panelColumns)), index(slotsOfResults)) : index(0);
      int64_t turn = 0;
      emitPanel(left.front(), here, instance, 0, readPanel(here, 0), copies * left.size() % 2 == 1,
                [&] { return rest(add(first, turn++), index(slotsOfResults)); });
      // The last one stays where it is: nothing reads what comes behind it.
      Carried next(left.drop_front());
      next.push_back(left.back());
      return next;
    });
    forgetRows();
  }

  /// Those of a panel that leave through shared memory.
  int64_t copiesOfPanel() const {
    return llvm::count_if(accesses, [](const EpilogueAccess &access) { return access.hasSlot(); });
  }

  bool hasCopied() const {
    return llvm::any_of(accesses, [](const EpilogueAccess &access) { return access.isCopied; });
  }
  bool hasStaged() const {
    return llvm::any_of(accesses, [](const EpilogueAccess &access) { return access.isStaged; });
  }

  /// The columns from `panel` on of all results. Of an odd number of copies the last one has the slot with which the
  /// next tile begins: `isSame` says that this is the first one.
  void emitPanel(Value done, const TileCoordinates &place, Value instance, int64_t panel, const std::vector<Read> &read,
                 bool isSame, llvm::function_ref<Value()> nextSlot) {
    for (const SmallVector<size_t> &together : joinResults(slotsOfResults)) {
      SmallVector<Value> slots(accesses.size());
      int64_t copied = 0;
      bool isEngines = false;
      for (size_t result : together)
        if (accesses[result].hasSlot()) {
          slots[result] = part(out, {instance, nextSlot()}, {groupRows, panelColumns});
          isEngines |= accesses[result].isCopied;
          ++copied;
        }
      if (copied > 0) {
        // What threads write is no group that the engine counts.
        const bool waitsForAll = isSame || copied == slotsOfResults || hasStaged();
        if (hasCopied())
          onFirst([&] { AsyncWaitOp::create(b, loc, waitsForAll ? 0 : 1, /*read=*/true); });
        BarrierOp::create(b, loc, Scope::Role, /*async=*/false);
      }
      for (int64_t column = 0; column < std::min(panelColumns, finished - panel); column += pieceColumns)
        emitPiece(done, place, panel + column, column, read.empty() ? Read() : read[column / pieceColumns], together,
                  slots);
      if (copied > 0)
        BarrierOp::create(b, loc, Scope::Role, /*async=*/isEngines);
      for (size_t result : together)
        if (slots[result]) {
          const EpilogueAccess &access = accesses[result];
          SmallVector<Value> indices = indicesOf(access, place, true, true, add(place.column, panel));
          if (access.isCopied)
            onFirst([&] { AsyncStoreOp::create(b, loc, slots[result], access.view, indices); });
          else
            StoreSharedOp::create(b, loc, slots[result], access.view, indices, inBounds(access, true, true));
        }
      isSame &= copied == 0;
    }
  }

  /// A piece of some results, those with a slot into it.
  void emitPiece(Value done, const TileCoordinates &place, int64_t column, int64_t inSlot, const Read &read,
                 ArrayRef<size_t> results, ArrayRef<Value> slots) {
    Value at = add(place.column, column);
    auto type = RankedTensorType::get({fragment.height, fragment.width}, sums.getElementType(), acc);
    beginPiece(dot.isSimtF32 ? done : ExtractOp::create(b, loc, type, done, ArrayRef<int64_t>{0, column}).getResult(),
               read);
    storePiece(place, at, results, slots, inSlot);
  }

  const Epilogue epilogue;
  /// Workgroups that share a tile, and columns of it that each finishes.
  const int64_t sharers, finished;
  /// Groups that multiply.
  const int64_t workers;
  RankedTensorType sums;
  Ring left, right;
  /// What is read a panel at a time, and whether one ahead: beside panels of two inputs there are too few registers for
  /// what is computed.
  SmallVector<LoadOp> readAhead;
  bool readsNext = false;
  Value out, full, empty, transposed, tiles, first, stride;
  /// Of the contraction, in this workgroup.
  Value begin, end;
  /// Of clusters: this workgroup's number, and what it gets of the others.
  Value rank, parts, received;
};

} // namespace

void zyx::kernel::mapProduct(FuncOp func, const TensorDot &dot, const Axes &axes) {
  ProductMapper(func, dot, axes).run();
}
