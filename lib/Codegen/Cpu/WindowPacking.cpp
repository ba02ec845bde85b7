//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Packing of what is read through several blocks or with padding: the windows of a convolution. Columns, or
// rows, are cut into runs that are neighbours in memory, so that what exists of a run is an interval.
//===----------------------------------------------------------------------===//
#include "MicroKernel.h"
#include "Packing.h"

#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Codegen/Tile/LaneAccess.h"
#include "zyx/Codegen/Tile/Lanes.h"
#include "zyx/Codegen/Tile/NearForm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::kernel {

/// Copies one box whose elements are those of one load, changed element by element.
class RunPacker {
public:
  RunPacker(TileContext &lowering, Location loc, const PackedBox &box, int64_t lanes)
      : t(lowering), b(lowering.builder), loc(loc), box(box), lanes(lanes) {}

  /// Rows that differ in the innermost parts of their dimension alone, as in a channel's window: how many of them are
  /// written out where runs are shorter than vectors, so that where each one is and what of it exists is known before,
  /// but for its place among the others. 1 where that does not pay.
  int64_t countWindow() {
    constexpr int64_t mostRows = 32;
    // Without masked loads, what is not whole is better found out by a branch.
    const int64_t vectorBytes = t.machine.vector.bytes;
    const unsigned bits = cast<ViewType>(memory.getType()).getElementType().getIntOrFloatBitWidth();
    const bool hasMasks = vectorBytes >= 64 || (vectorBytes >= 32 && bits >= 32);
    if (isTransposed || run > lanes || form.bounds.empty() || !hasMasks)
      return 1;
    int64_t rows = 1;
    numInner = 0;
    ArrayRef<unsigned> parts = form.dims[rowDim];
    while (numInner + 1 < parts.size()) {
      const int64_t extent = form.parts[parts[parts.size() - 1 - numInner]].extent;
      if (rows * extent > mostRows)
        break;
      rows *= extent;
      ++numInner;
    }
    return rows;
  }

  /// Whether the box can be packed so.
  bool analyse() {
    load = onlyLoad();
    if (!load)
      return false;
    auto view = t.evaluator.mapping.lookupOrDefault(load.getView()).getDefiningOp<ViewOp>();
    const bool isPlain = view && !isComplex(view.getResult());
    if (!view || (isPlain && !box.takesPlain))
      return false;
    std::optional<AccessForm> found = AccessForm::compute(view.getMap());
    if (!found)
      return false;
    form = std::move(*found);
    std::optional<unsigned> row, column;
    for (auto [dim, axis] : llvm::enumerate(t.axes.of(load.getResult()))) {
      if (axis == box.rowAxis)
        row = dim;
      if (axis == box.columnAxis)
        column = dim;
    }
    if (!row || !column)
      return false;
    rowDim = *row;
    columnDim = *column;
    isTransposed = !hasRuns(columnDim) || (2 * run < lanes && runsAlong(rowDim) >= lanes);
    if ((isTransposed && (!llvm::isPowerOf2_64(lanes) || !hasRuns(rowDim))) || (isPlain && !isTransposed))
      return false;
    memory = viewAsRow(b, view);
    other = load.getOther() ? t.evaluator.mapping.lookupOrDefault(load.getOther()) : Value();
    return true;
  }

  Packer::Runs runs() const { return {run, isTransposed}; }

  LogicalResult emit() {
    first = add(indexBase(runDim()), isTransposed ? box.row0 : box.column0);
    last = add(first, t.materialise(isTransposed ? box.rows : box.columns, loc));
    Value length = constant(run);
    firstRun = b.createOrFold<arith::DivUIOp>(loc, first, length);
    Value runs = b.createOrFold<arith::SubIOp>(
        loc, b.createOrFold<arith::DivUIOp>(loc, add(last, constant(run - 1)), length), firstRun);
    auto overRows = [&](llvm::function_ref<LogicalResult(Value row)> body) {
      return loop(t.materialise(box.rows, loc), 1, body);
    };
    numWindow = countWindow();
    auto overRuns = [&](llvm::function_ref<LogicalResult(Value number)> body) {
      if (!hasInnerRuns())
        return loop(runs, 1, [&](Value i) { return body(add(firstRun, i)); });
      return overCutRuns(runs, body);
    };
    if (isTransposed)
      return overRuns([&](Value number) { return emitSquares(number); });
    if (failed(clearSurplus(overRows)))
      return failure();
    // What is outside is computed less often: long runs are inside.
    bool isWide = !box.columns.constant || *box.columns.constant > 8 * lanes;
    if (numWindow > 1 && isWide)
      return overWindows([&](Value row) { return overRuns([&](Value number) { return emitShortRun(row, number); }); });
    if (numWindow > 1)
      return overRuns([&](Value number) { return overWindows([&](Value row) { return emitShortRun(row, number); }); });
    if (isWide)
      return overRows([&](Value row) { return overRuns([&](Value number) { return emitRun(row, number); }); });
    return overRuns([&](Value number) { return overRows([&](Value row) { return emitRun(row, number); }); });
  }

private:
  /// What exists of a run, in its own numbers, and the place of its first element.
  struct Run {
    Value low, high, place;
  };

  unsigned runDim() const { return isTransposed ? rowDim : columnDim; }

  /// How many elements along a dimension are neighbours, if they are near enough to each other; else 0.
  int64_t runsAlong(unsigned dim) {
    if (form.dims[dim].empty())
      return 0;
    form.mergeInnermost(dim);
    const unsigned part = form.dims[dim].back();
    const auto [extent, stride] = form.parts[part];
    bool isForward =
        llvm::all_of(form.bounds, [&](const AccessForm::Bound &bound) { return bound.factors[part] >= 0; });
    // Runs much shorter than a vector leave most of its lanes empty.
    return stride < 1 || stride > mostRunStep || !isForward || 4 * extent < lanes ||
                   extent > std::numeric_limits<int32_t>::max() / 8
               ? 0
               : extent;
  }

  /// Whether most runs of the box are whole, which is known of all but the first and the last one.
  bool hasInnerRuns() {
    constexpr int64_t enoughRuns = 4;
    const std::optional<int64_t> along = (isTransposed ? box.rows : box.columns).constant;
    return (!along || *along >= enoughRuns * run) && !beginsAndEndsWithRuns();
  }

  /// The first run and the last one, which may be cut, then those between them: of these fewer things are computed.
  LogicalResult overCutRuns(Value runs, llvm::function_ref<LogicalResult(Value number)> body) {
    Value one = constant(1), last = subtract(runs, one);
    auto ends = scf::ForOp::create(b, loc, constant(0), runs, larger(last, one));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ends.getBody());
      if (failed(body(add(firstRun, ends.getInductionVar()))))
        return failure();
    }
    auto inner = scf::ForOp::create(b, loc, one, last, one);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(inner.getBody());
    isInner = true;
    LogicalResult done = body(add(firstRun, inner.getInductionVar()));
    isInner = false;
    return done;
  }

  /// All rows of the box, a window of them at a time.
  LogicalResult overWindows(llvm::function_ref<LogicalResult(Value row)> body) {
    Value begin = add(indexBase(rowDim), box.row0), count = t.materialise(box.rows, loc);
    Value size = constant(numWindow), beginWindow = b.createOrFold<arith::DivUIOp>(loc, begin, size);
    Value endWindow = b.createOrFold<arith::DivUIOp>(loc, add(add(begin, count), constant(numWindow - 1)), size);
    const bool isWhole = getConstantIntValue(begin) && *getConstantIntValue(begin) % numWindow == 0 &&
                         box.rows.constant && *box.rows.constant % numWindow == 0;
    LogicalResult done = loop(subtract(endWindow, beginWindow), 1, [&](Value i) -> LogicalResult {
      window = add(beginWindow, i);
      Value first = subtract(times(window, numWindow), begin);
      for (inWindow = 0; inWindow < numWindow; ++inWindow) {
        Value row = add(first, constant(inWindow));
        OpBuilder::InsertionGuard guard(b);
        if (!isWhole) {
          // Numbers before the first row are large when read as unsigned.
          Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, count);
          b.setInsertionPointToStart(scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false).thenBlock());
        }
        if (failed(body(row)))
          return failure();
      }
      return success();
    });
    window = Value();
    return done;
  }

  /// A run of at most one vector. Where some of it does not exist it is read under a mask, without asking.
  LogicalResult emitShortRun(Value row, Value number) {
    currentRow = row;
    Value begin = beginRun(number);
    return emitVector(locate(Value(), number), begin, /*isPartial=*/true, /*isWhole=*/false);
  }

  /// Takes the runs along a dimension, if there are any.
  bool hasRuns(unsigned dim) {
    run = runsAlong(dim);
    if (run == 0)
      return false;
    inner = form.dims[dim].back();
    step = form.parts[inner].stride;
    return true;
  }

  /// The load that a tile's elements are made of, with casts, splats and what renames dimensions; null where
  /// there is more to it.
  LoadOp onlyLoad() {
    LoadOp found;
    llvm::SmallSetVector<Value, 8> values;
    values.insert(box.tile);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!isTile(values[i]))
        continue;
      if (t.evaluator.memory.contains(values[i]) || t.evaluator.registers.contains(values[i]))
        return {};
      Operation *op = values[i].getDefiningOp();
      if (auto load = dyn_cast_or_null<LoadOp>(op)) {
        if (found)
          return {};
        found = load;
      } else if (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp, SplatOp, arith::ConstantOp>(op) ||
                 (op && isElementwise(op))) {
        values.insert(op->operand_begin(), op->operand_end());
      } else {
        return {};
      }
    }
    return found;
  }

  /// The last vector of a row is read whole, and what memory holds by chance may be slow to compute with.
  LogicalResult clearSurplus(llvm::function_ref<LogicalResult(llvm::function_ref<LogicalResult(Value)>)> overRows) {
    if (box.columns.constant && *box.columns.constant % lanes == 0)
      return success();
    Value count = t.materialise(box.columns, loc), width = constant(lanes);
    Value rest = b.createOrFold<arith::RemUIOp>(loc, count, width), at = subtract(count, rest);
    Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get(lanes, box.element)));
    auto clear = [&](Value row) -> LogicalResult {
      // At most one round, and none where the columns are whole vectors.
      auto once = scf::ForOp::create(b, loc, at, count, width);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(once.getBody());
      StoreOp::create(b, loc, zeros, box.memory, box.place(row, once.getInductionVar()), Value(), DenseBoolArrayAttr());
      return success();
    };
    return overRows(clear);
  }

  Value constant(int64_t value) { return t.evaluator.constantIndex(value, loc); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value subtract(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value smaller(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
  Value larger(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); }
  Value times(Value x, int64_t factor) { return b.createOrFold<arith::MulIOp>(loc, x, constant(factor)); }

  /// Where the load begins along a dimension.
  Value indexBase(unsigned dim) { return t.evaluator.mapping.lookupOrDefault(load.getIndices()[dim]); }

  LogicalResult loop(Value count, int64_t by, llvm::function_ref<LogicalResult(Value)> body) {
    Extent extent{std::nullopt, count};
    if (std::optional<int64_t> known = getConstantIntValue(count))
      extent = {*known};
    FailureOr<TileContext::Accumulators> done = t.emitLoop(
        0, extent, by, {}, loc, [&](Value i, TileContext::Accumulators) -> FailureOr<TileContext::Accumulators> {
          if (failed(body(i)))
            return failure();
          return TileContext::Accumulators();
        });
    return failed(done) ? failure() : success();
  }

  /// The positions of a dimension's parts, from `count` of them on inwards.
  void decompose(unsigned dim, Value index, size_t count) {
    ArrayRef<unsigned> parts = form.dims[dim];
    for (size_t i = count; i-- > 0;) {
      if (i == 0) {
        positions[parts[i]] = index;
        return;
      }
      Value extent = constant(form.parts[parts[i]].extent);
      positions[parts[i]] = b.createOrFold<arith::RemUIOp>(loc, index, extent);
      index = b.createOrFold<arith::DivUIOp>(loc, index, extent);
    }
  }

  /// The positions of the rows' parts at the row of the window that is written out.
  void decomposeWindow() {
    ArrayRef<unsigned> parts = form.dims[rowDim];
    int64_t index = inWindow;
    for (size_t i = parts.size(); i-- > parts.size() - numInner;) {
      positions[parts[i]] = constant(index % form.parts[parts[i]].extent);
      index /= form.parts[parts[i]].extent;
    }
    decompose(rowDim, window, parts.size() - numInner);
  }

  /// offset + sum of factor(p) * position of p, without the run's own part.
  Value sum(int64_t offset, llvm::function_ref<int64_t(unsigned)> factor) {
    Value total = constant(offset);
    for (auto [part, position] : positions)
      if (int64_t by = factor(part); by != 0 && part != inner)
        total = add(total, times(position, by));
    return total;
  }

  /// A run of the box, by its number along its dimension; `across`: the index along the other one.
  Run locate(Value across, Value number) {
    positions.clear();
    for (auto [dim, axis] : llvm::enumerate(t.axes.of(load.getResult()))) {
      Point base = box.base;
      if (dim == runDim())
        decompose(dim, number, form.dims[dim].size() - 1);
      else if (dim == rowDim && window)
        decomposeWindow();
      else if (dim == rowDim || dim == columnDim)
        decompose(dim, across, form.dims[dim].size());
      else
        decompose(dim, add(indexBase(dim), t.evaluator.position(base, axis, loc)), form.dims[dim].size());
    }
    Value low = constant(0), high = constant(run), exists;
    for (const AccessForm::Bound &bound : form.bounds) {
      Value at = sum(bound.offset, [&](unsigned p) { return bound.factors[p]; });
      int64_t by = bound.factors[inner];
      if (by == 0) {
        // Numbers below `low` are large when read as unsigned.
        Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, subtract(at, constant(bound.low)),
                                             constant(bound.high - bound.low));
        exists = exists ? arith::AndIOp::create(b, loc, exists, inside).getResult() : inside;
        continue;
      }
      // The quotient is rounded up; whole ones are added before, so that nothing is negative.
      int64_t most = bound.offset;
      for (auto [part, factor] : llvm::zip(form.parts, bound.factors))
        most += std::max<int64_t>(factor, 0) * (part.extent - 1);
      int64_t added = by == 1 ? 0 : llvm::divideCeil(std::max<int64_t>(most, 0), by);
      auto firstBeyond = [&](int64_t limit) {
        Value distance = subtract(constant(limit + added * by + by - 1), at);
        return by == 1 ? distance
                       : subtract(b.createOrFold<arith::DivUIOp>(loc, distance, constant(by)), constant(added));
      };
      low = larger(low, firstBeyond(bound.low));
      high = smaller(high, firstBeyond(bound.high));
    }
    if (exists)
      high = arith::SelectOp::create(b, loc, exists, high, constant(0));
    low = smaller(low, constant(run));
    high = larger(high, low);
    Value place = sum(form.offset, [&](unsigned p) { return form.parts[p].stride; });
    // Where nothing of a run exists its place may be far away.
    if (!form.bounds.empty()) {
      Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low, high);
      place = arith::SelectOp::create(b, loc, none, constant(0), place);
    }
    return {low, high, place};
  }

  /// All runs are whole then.
  bool beginsAndEndsWithRuns() {
    std::optional<int64_t> firstIndex = getConstantIntValue(first), lastIndex = getConstantIntValue(last);
    return firstIndex && lastIndex && *firstIndex % run == 0 && *lastIndex % run == 0;
  }

  /// What is wanted of a run, in its own numbers: from what is returned on up to `end`.
  Value beginRun(Value number) {
    start = times(number, run);
    if (isInner || beginsAndEndsWithRuns()) {
      end = constant(run);
      return constant(0);
    }
    end = smaller(subtract(last, start), constant(run));
    return subtract(larger(first, start), start);
  }

  /// One run of columns in one row.
  LogicalResult emitRun(Value row, Value number) {
    currentRow = row;
    Value begin = beginRun(number);
    const Run own = locate(add(indexBase(rowDim), add(box.row0, row)), number);
    if (form.bounds.empty())
      return emitVectors(own, begin, /*isWhole=*/true);
    Value reaches = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, own.low, begin);
    Value lasts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, own.high, end);
    Value isWhole = arith::AndIOp::create(b, loc, reaches, lasts);
    auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    if (failed(emitVectors(own, begin, /*isWhole=*/true)))
      return failure();
    b.setInsertionPointToStart(branch.elseBlock());
    return emitVectors(own, begin, /*isWhole=*/false);
  }

  /// From `begin` to the end of the run: whole vectors, then some lanes of one. Where the run is not whole all
  /// vectors are read under masks.
  LogicalResult emitVectors(const Run &own, Value begin, bool isWhole) {
    return overVectors(begin, [&](Value at, bool isPartial) { return emitVector(own, at, isPartial, isWhole); });
  }

  LogicalResult overVectors(Value begin, llvm::function_ref<LogicalResult(Value at, bool isPartial)> body) {
    Value count = subtract(end, begin), width = constant(lanes);
    Value rest = b.createOrFold<arith::RemUIOp>(loc, count, width), whole = subtract(count, rest);
    if (failed(loop(whole, lanes, [&](Value i) { return body(add(begin, i), false); })))
      return failure();
    if (getConstantIntValue(rest) == 0)
      return success();
    // At most one round: the structured way to say "if there is a rest".
    auto once = scf::ForOp::create(b, loc, whole, count, width);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(once.getBody());
    return body(add(begin, once.getInductionVar()), true);
  }

  /// One run of rows, in all columns: as many of these as a vector has lanes are read along the run and transposed.
  LogicalResult emitSquares(Value number) {
    Value begin = beginRun(number);
    const bool isWhole = box.columns.constant && *box.columns.constant % lanes == 0;
    Value count = t.materialise(box.columns, loc);
    return loop(count, lanes, [&](Value column) -> LogicalResult {
      SmallVector<Run> runs;
      for (int64_t j = 0; j < lanes; ++j) {
        // Behind the last column it is read again: what is made of it is not used.
        Value at = add(column, constant(j));
        if (!isWhole && j > 0)
          at = smaller(at, subtract(count, constant(1)));
        runs.push_back(locate(add(indexBase(columnDim), add(box.column0, at)), number));
      }
      return overVectors(begin, [&](Value at, bool isPartial) { return emitSquare(runs, column, at, isPartial); });
    });
  }

  LogicalResult emitSquare(ArrayRef<Run> runs, Value column, Value at, bool isPartial) {
    SmallVector<Value> square;
    for (const Run &own : runs) {
      FailureOr<Value> read = readVector(own, at, isPartial, /*isWhole=*/form.bounds.empty());
      if (failed(read))
        return failure();
      square.push_back(*read);
    }
    transposeVectors(b, loc, square);
    Value row = subtract(add(start, at), first);
    for (auto [i, vector] : llvm::enumerate(square)) {
      OpBuilder::InsertionGuard guard(b);
      // Rows behind the run are another run's, or nobody's, for whom there may be no room.
      if (isPartial && i > 0) {
        Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, add(at, constant(i)), end);
        b.setInsertionPointToStart(scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false).thenBlock());
      }
      StoreOp::create(b, loc, vector, box.memory, box.place(add(row, constant(i)), column), Value(),
                      DenseBoolArrayAttr());
    }
    return success();
  }

  /// Lanes l with 0 <= from + l * by < count.
  Value lanesInside(Value from, int64_t offset, Value count) {
    auto type = VectorType::get(lanes, b.getI32Type());
    auto splat = [&](Value index) -> Value {
      return vector::BroadcastOp::create(b, loc, type, b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), index));
    };
    SmallVector<int32_t> numbers;
    for (int64_t lane = 0; lane < lanes; ++lane)
      numbers.push_back(offset + lane);
    Value own = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
    Value distance = arith::AddIOp::create(b, loc, splat(from), own);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, distance, splat(count));
  }

  LogicalResult emitVector(const Run &own, Value at, bool isPartial, bool isWhole) {
    FailureOr<Value> read = readVector(own, at, isPartial, isWhole);
    if (failed(read))
      return failure();
    StoreOp::create(b, loc, *read, box.memory, box.place(currentRow, subtract(add(start, at), first)),
                    lanesWanted(at, isPartial), DenseBoolArrayAttr());
    return success();
  }

  Value lanesWanted(Value at, bool isPartial) {
    return isPartial ? lanesInside(constant(0), 0, subtract(end, at)) : Value();
  }

  /// A vector of the box along a run, in the type that is packed. Where the run is not whole it is read under a mask.
  FailureOr<Value> readVector(const Run &own, Value at, bool isPartial, bool isWhole) {
    Value begin = add(own.place, times(at, step)), value;
    auto type = VectorType::get(lanes, cast<ViewType>(memory.getType()).getElementType());
    for (int64_t piece = 0; piece < step; ++piece) {
      // Up to the last element that is taken, behind which no memory may be.
      int64_t wanted = (lanes - 1) * step + 1 - piece * lanes;
      if (wanted <= 0)
        break;
      Value mask;
      if (!isWhole) {
        // Between the first and the last element that exist all memory does.
        Value length = subtract(smaller(own.high, end), own.low);
        length = larger(subtract(times(length, step), constant(step - 1)), constant(0));
        mask = lanesInside(times(subtract(at, own.low), step), piece * lanes, length);
      } else if (isPartial) {
        Value length = subtract(times(subtract(end, at), step), constant(step - 1));
        mask = lanesInside(constant(0), piece * lanes, length);
      } else if (wanted < lanes) {
        mask = lanesInside(constant(0), 0, constant(wanted));
      }
      Value read = LoadOp::create(b, loc, type, memory, add(begin, constant(piece * lanes)), mask,
                                  mask ? other : Value(), ArrayAttr(), DenseBoolArrayAttr());
      value = value ? chooseLanes(b, loc, value, read, piece, step) : read;
    }
    Point point = box.base;
    point.memo.clear();
    point.vectorAxis = isTransposed ? box.rowAxis : box.columnAxis;
    point.lanes = lanes;
    point.mask = lanesWanted(at, isPartial);
    point.memo[load.getResult()] = value;
    FailureOr<Value> packed = t.evaluator.evaluateVector(box.tile, point);
    if (failed(packed))
      return failure();
    return widenFactor(b, loc, *packed, box.element);
  }

  TileContext &t;
  OpBuilder &b;
  Location loc;
  const PackedBox &box;
  int64_t lanes;

  LoadOp load;
  AccessForm form;
  unsigned rowDim = 0, columnDim = 0;
  /// Runs lie along the rows' dimension, and are transposed as they are packed.
  bool isTransposed = false;
  /// The part along which elements of a run are neighbours, its stride and its extent.
  unsigned inner = 0;
  int64_t step = 1, run = 1;
  /// The view's buffer as one row, and what is read where nothing exists.
  Value memory, other;

  /// Along the runs: the first index of the box and the one behind it, and the run in which it begins.
  Value first, last, firstRun;
  /// Of a run: its first index, and where it ends; and whether the box has others before and behind it.
  Value start, end;
  bool isInner = false;
  llvm::MapVector<unsigned, Value> positions;
  Value currentRow;
  /// Of rows that are written out: how many there are, which parts differ in them, and the number of the window and of
  /// the row in it.
  int64_t numWindow = 1, inWindow = 0;
  size_t numInner = 0;
  Value window;
};

} // namespace zyx::kernel

FailureOr<bool> Packer::packRuns(const PackedBox &box, int64_t lanes) {
  RunPacker packer(t, loc, box, lanes);
  if (lanes == 1 || !packer.analyse())
    return false;
  if (failed(packer.emit()))
    return failure();
  return true;
}

Packer::Runs Packer::findRuns(const PackedBox &box, int64_t lanes) {
  RunPacker packer(t, loc, box, lanes);
  return lanes > 1 && packer.analyse() ? packer.runs() : Runs();
}

int64_t Packer::rowsOfWindow(const PackedBox &box, int64_t lanes) {
  RunPacker packer(t, loc, box, lanes);
  return lanes > 1 && packer.analyse() ? packer.countWindow() : 1;
}
