//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A dot with `blocking`: pieces of the contraction outside, packed factors inside them, then tiles in
// registers. docs/codegen-cpu.md follows one.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Cpu/BlockedDots.h"

#include "MatrixUnit.h"
#include "MicroKernel.h"
#include "NearWindow.h"
#include "Packing.h"
#include "WeightPanels.h"

#include "zyx/Codegen/Tile/Lanes.h"
#include "zyx/Codegen/Tile/TileContext.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::kernel {

class BlockedDotEmitter {
public:
  BlockedDotEmitter(TileContext &lowering, DotOp dot)
      : t(lowering), dot(dot), blocking(*dot.getBlocking()), loc(dot.getLoc()), packer(lowering, loc) {
    auto type = cast<RankedTensorType>(dot.getType());
    rank = type.getRank();
    element = type.getElementType();
    m = t.axes.of(dot.getResult(), rank - 2);
    n = t.axes.of(dot.getResult(), rank - 1);
    k = t.axes.of(dot.getLhs(), rank - 1);
    int64_t bytes = std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
    lanes = std::max<int64_t>(t.machine.accessBytes() / bytes, 1);
    // The vectors of a narrow result are no wider than it.
    Axis along = blocking.getAlongDepth() ? k : n;
    lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(std::max<int64_t>(t.axes.extent(along), 1)));
    if (blocking.getAlongDepth())
      depthLanes = std::exchange(lanes, 1);
  }

  FailureOr<bool> emit() {
    FailureOr<bool> possible = analyse();
    if (failed(possible))
      return failure();
    if (!*possible) {
      missed("a dot is walked by rows, not in blocks: what is left of its rows or columns is not one number");
      return false;
    }
    if (auto found = NearWindow::find(t, dot, k, n, lanes)) {
      near.emplace(*found);
      lanes = near->lanes();
    }
    epilogue = t.takeStores(dot);
    if (!placeSums()) {
      missed("a dot is walked by rows, not in blocks: sums have no place between pieces of the contraction");
      return false;
    }
    chooseMatrixUnit();
    findPanels();
    if (blocking.getNarrow() && !matrix)
      missed("a dot is multiplied by vectors: the matrix unit takes no such factors, or is not there");
    allocatePacked();
    if (failed(packBefore()))
      return failure();
    if (failed(t.overBatches(dot, Point(), [&](const Point &at) { return overDepth(at); })))
      return failure();
    for (StoreOp store : epilogue)
      t.done.insert(store);
    return true;
  }

private:
  using Accumulators = TileContext::Accumulators;

  /// Says that the dot is computed, but slower than its blocking asks for.
  void missed(StringRef text) {
    remark::missed(loc, remark::RemarkOpts::name("SlowerDot").category("zyx-schedule")) << text;
  }

  /// An axis in pieces of `step`, then one of `rest`, which may be 0.
  struct Cut {
    Extent extent;
    int64_t step = 1, rest = 0;
  };

  /// Where in the contraction, and which of its ends that is: a constant or a value.
  struct Depth {
    Value start, count;
    OpFoldResult first, last;
  };

  /// Whether the sizes are known well enough: what is left of an axis must be one number, which tiles of
  /// its own are made for.
  FailureOr<bool> analyse() {
    FailureOr<Extent> rowExtent = t.extentOf(m, loc), columnExtent = t.extentOf(n, loc),
                      depthExtent = t.extentOf(k, loc);
    if (failed(rowExtent) || failed(columnExtent) || failed(depthExtent))
      return failure();
    depth = *depthExtent->constant;
    if (depth == 0 || !cut(*rowExtent, blocking.getRows(), rows) || !cut(*columnExtent, blocking.getColumns(), columns))
      return false;
    return true;
  }

  bool cut(Extent extent, int64_t step, Cut &result) {
    result = {extent, step, 0};
    if (extent.constant) {
      result.rest = *extent.constant % step;
      return *extent.constant > 0;
    }
    if (!extent.last)
      return false;
    Axis axis = &result == &rows ? m : n;
    int64_t whole = t.axes.extent(axis) % step, last = extent.last % step;
    result.rest = std::max(whole, last);
    return whole == last || whole == 0 || last == 0;
  }

  //===--------------------------------------------------------------------===//
  // What happens to the sums
  //===--------------------------------------------------------------------===//

  /// Between pieces of the contraction sums are in the output where one has their type, in the columns'
  /// order; else in memory of the program. There whole vectors are written, so that a panel of less would
  /// write over the next one.
  bool placeSums() {
    int64_t pieces = llvm::divideCeil(depth, blocking.getDepth());
    if (!epilogue.empty() && pieces == 1)
      return true;
    for (StoreOp store : epilogue) {
      SmallVector<Axis> dims = t.axes.of(store.getValue());
      auto dim = llvm::find(dims, n);
      if (elementOf(store.getValue()) == element && dim != dims.end() && llvm::is_contained(dims, m) &&
          (lanes == 1 || strideOf(store.getView(), dim - dims.begin()) == 1)) {
        partial = store;
        return true;
      }
    }
    if (blocking.getColumns() % lanes != 0 && blocking.getColumns() < t.axes.extent(n))
      return false;
    t.allocate(dot.getResult());
    return true;
  }

  Type vectorType() { return lanes == 1 ? element : VectorType::get(lanes, element); }
  static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// Where the blocking asks for it and all that is needed is there.
  void chooseMatrixUnit() {
    auto fits = [](int64_t extent) { return extent == 16 || extent == 32; };
    if (!blocking.getNarrow() || lanes != MatrixUnit::lanesOf(t.machine) ||
        depth % std::min(blocking.getDepth(), depth) != 0 || !fits(blocking.getRows()) || !fits(blocking.getColumns()))
      return;
    MatrixUnit unit(t, dot, m, n, k);
    if (unit.takes())
      matrix.emplace(unit);
  }

  void allocatePacked() {
    if (matrix) {
      int64_t steps = std::min(blocking.getDepth(), depth);
      // Registers take whole rows: a tile of fewer is filled up where it is packed.
      bool inPlace = !blocking.getPackLhs() && rows.rest == 0 && matrix->readsLhs(steps);
      return matrix->allocate(llvm::divideCeil(t.axes.extent(n), blocking.getColumns()), blocking.getRows(),
                              blocking.getColumns(), std::min(blocking.getRowBlock(), t.axes.extent(m)), steps,
                              inPlace);
    }
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(t.programStart);
    int64_t deep = llvm::alignTo(std::min(blocking.getDepth(), depth), std::max(lanes, depthLanes));
    if (blocking.getPackRhs() && !rhsMemory) {
      int64_t panels = llvm::divideCeil(t.axes.extent(n), blocking.getColumns());
      int64_t width = llvm::alignTo(blocking.getColumns(), lanes);
      rhsMemory = AllocOp::create(t.builder, loc, ViewType::get({panels, deep, width}, element, Space::Private));
    }
    if (blocking.getPackLhs()) {
      int64_t height = llvm::alignTo(std::min(blocking.getRowBlock(), t.axes.extent(m)), lanes);
      lhsMemory = AllocOp::create(t.builder, loc, ViewType::get({height, deep}, element, Space::Private));
    }
  }

  LogicalResult overDepth(Point at) {
    int64_t step = std::min(blocking.getDepth(), depth);
    Builder &b = t.builder;
    Value zero = t.evaluator.constantIndex(0, loc);
    if (step == depth)
      return overBlocks(at, {zero, t.evaluator.constantIndex(depth, loc), b.getBoolAttr(true), b.getBoolAttr(true)});
    return t.emitLoop(0, {depth}, step, {}, loc, [&](Value start, Accumulators) -> FailureOr<Accumulators> {
      Value last = t.evaluator.constantIndex((depth - 1) / step * step, loc);
      Value whole = t.evaluator.constantIndex(step, loc), count = whole;
      if (depth % step != 0) {
        Value left = arith::SubIOp::create(t.builder, loc, t.evaluator.constantIndex(depth, loc), start);
        count = arith::MinSIOp::create(t.builder, loc, whole, left);
      }
      Value isFirst = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::eq, start, zero);
      Value isLast = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::eq, start, last);
      if (failed(overBlocks(at, {start, count, isFirst, isLast})))
        return failure();
      return Accumulators();
    });
  }

  /// Runs `body` on the pieces of an axis, at positions that count from `from`.
  LogicalResult overPieces(Cut cut, llvm::function_ref<LogicalResult(Value position, int64_t size)> body) {
    auto piece = [&](int64_t size) {
      return [&, size](Value i, Accumulators) -> FailureOr<Accumulators> {
        if (failed(body(i, size)))
          return failure();
        return Accumulators();
      };
    };
    if (cut.extent.constant) {
      int64_t whole = *cut.extent.constant - cut.rest;
      if (failed(t.emitLoop(0, {whole}, cut.step, {}, loc, piece(cut.step))) ||
          failed(t.emitLoop(whole, cut.extent, cut.step, {}, loc, piece(cut.rest))))
        return failure();
      return success();
    }
    Value by = t.evaluator.constantIndex(cut.step, loc);
    Value rest = arith::RemUIOp::create(t.builder, loc, cut.extent.value, by);
    Value whole = arith::SubIOp::create(t.builder, loc, cut.extent.value, rest);
    if (failed(t.emitLoop(0, {std::nullopt, whole}, cut.step, {}, loc, piece(cut.step))))
      return failure();
    if (cut.rest == 0)
      return success();
    // At most one round: the structured way to say "if there is a rest".
    auto loop = scf::ForOp::create(t.builder, loc, whole, cut.extent.value, by);
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(loop.getBody());
    return body(loop.getInductionVar(), cut.rest);
  }

  LogicalResult overBlocks(Point at, Depth piece) {
    if (near)
      near->copy(at);
    if (matrix && weights) {
      if (failed(matrix->lookThroughRhs([&](MatrixUnit::Panel body) {
            return overPieces(columns, [&](Value column, int64_t width) {
              return body(weights->panelOfAll(piece.start, column), column, width);
            });
          })))
        return failure();
    } else if ((rhsMemory || matrix) && !weights && !isPackedBefore && failed(packRhs(at, piece))) {
      return failure();
    }
    int64_t block = blocking.getRowBlock();
    if (block == blocking.getRows())
      return overPieces(rows,
                        [&](Value row0, int64_t height) { return overTiles(at, piece, row0, {{height}, height, 0}); });
    if (t.axes.extent(m) <= block)
      return overTiles(at, piece, t.evaluator.constantIndex(0, loc), rows);
    return t.emitLoop(0, rows.extent, block, {}, loc, [&](Value row0, Accumulators) -> FailureOr<Accumulators> {
      Cut inner = rows;
      inner.extent = {block};
      if (!rows.extent.constant || *rows.extent.constant % block != 0) {
        Value left = arith::SubIOp::create(t.builder, loc, t.materialise(rows.extent, loc), row0);
        left = arith::MinSIOp::create(t.builder, loc, left, t.evaluator.constantIndex(block, loc));
        inner.extent = {std::nullopt, left};
      }
      if (failed(overTiles(at, piece, row0, inner)))
        return failure();
      return Accumulators();
    });
  }

  /// Panels of a packed factor come from the second cache as fast as they are used, so that rows of the left one
  /// stay in the first while all panels pass by. Of what is not packed a panel stays there for all rows. Weights come
  /// from farther away: where rows are few, a panel passes by once for all of them.
  LogicalResult overTiles(Point at, Depth piece, Value row0, Cut block) {
    constexpr int64_t fewRowsOfWeights = 64;
    if ((lhsMemory || matrix) && failed(packLhs(at, piece, row0, block.extent)))
      return failure();
    if (rhsMemory && !(weights && block.extent.constant && *block.extent.constant <= fewRowsOfWeights))
      return overPieces(block, [&](Value row, int64_t height) {
        return overPieces(columns, [&](Value column, int64_t width) {
          return emitTile(at, piece, row0, row, height, column, width);
        });
      });
    return overPieces(columns, [&](Value column, int64_t width) {
      return overPieces(block, [&](Value row, int64_t height) {
        if (matrix)
          return emitMatrixTile(at, piece, row0, row, height, column, width);
        return emitTile(at, piece, row0, row, height, column, width);
      });
    });
  }

  //===--------------------------------------------------------------------===//
  // Packing
  //===--------------------------------------------------------------------===//

  Extent extentOf(Value count) {
    if (std::optional<int64_t> constant = getConstantIntValue(count))
      return {*constant};
    return {std::nullopt, count};
  }

  /// Panels of `columns` columns, each with all rows of the piece. Where rows of the factor lie along columns
  /// a few of them are read at a time across all panels, in the order in which memory likes to be read.
  LogicalResult packRhs(Point at, Depth piece) {
    if (matrix)
      return matrix->packRhs(
          at, piece.start, t.contiguousAxis(matrix->rhsTile(), k, n) == k, columns.extent, [&](MatrixUnit::Panel body) {
            return overPieces(columns,
                              [&](Value column, int64_t width) { return body(panelOf(column), column, width); });
          });
    Extent count = extentOf(piece.count);
    if (t.contiguousAxis(dot.getRhs(), k, n) == k)
      return packPanels(at, piece.start, t.evaluator.constantIndex(0, loc), count);
    // Windows that are written out are cut at both ends.
    constexpr int64_t fewRows = 8, windowsAtOnce = 8;
    const PackedBox any{dot.getRhs(), k,     n,       at, piece.start, t.evaluator.constantIndex(0, loc),
                        count,        count, element, {}, {}};
    const int64_t window = packer.rowsOfWindow(any, lanes), rowsAtOnce = window == 1 ? fewRows : windowsAtOnce * window;
    if (count.constant && *count.constant <= rowsAtOnce)
      return packPanels(at, piece.start, t.evaluator.constantIndex(0, loc), count);
    return t.emitLoop(0, count, rowsAtOnce, {}, loc, [&](Value row, Accumulators) -> FailureOr<Accumulators> {
      Extent some{rowsAtOnce};
      if (!count.constant || *count.constant % rowsAtOnce != 0) {
        Value left = arith::SubIOp::create(t.builder, loc, t.materialise(count, loc), row);
        some = {std::nullopt, arith::MinSIOp::create(t.builder, loc, left, t.evaluator.constantIndex(rowsAtOnce, loc))};
      }
      if (failed(packPanels(at, t.evaluator.addIndex(piece.start, row, loc), row, some)))
        return failure();
      return Accumulators();
    });
  }

  /// `count` rows of all panels, from row `start` of the factor and `row` of the panels on.
  LogicalResult packPanels(Point at, Value start, Value row, Extent count) {
    return overPieces(columns, [&](Value column, int64_t width) {
      Value panel = panelOf(column);
      auto place = [&](Value r, Value c) { return SmallVector<Value>{panel, t.evaluator.addIndex(row, r, loc), c}; };
      return packer.pack({dot.getRhs(), k, n, at, start, column, count, {width}, element, rhsMemory, place}, lanes);
    });
  }

  /// The loop whose trips multiply with the same right factor, as an attention does with queries; null where there is
  /// none, or a trip packs several factors or pieces one after the other.
  scf::ForOp loopOfOneRhs() {
    auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
    if (!loop || !matrix || weights || blocking.getDepth() < depth)
      return {};
    Operation *made = matrix->rhsTile().getDefiningOp();
    ArrayRef<int64_t> batches = cast<RankedTensorType>(dot.getType()).getShape().drop_back(2);
    if (!made || loop->isAncestor(made) || llvm::any_of(batches, [](int64_t extent) { return extent != 1; }))
      return {};
    return dyn_cast<scf::ForOp>(t.builder.getInsertionBlock()->getParentOp());
  }

  LogicalResult packBefore() {
    scf::ForOp loop = loopOfOneRhs();
    if (!loop)
      return success();
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPoint(loop);
    FailureOr<Extent> outside = t.extentOf(n, loc);
    if (failed(outside))
      return failure();
    const Extent inside = std::exchange(columns.extent, *outside);
    Builder &b = t.builder;
    const Depth whole{t.evaluator.constantIndex(0, loc), t.evaluator.constantIndex(depth, loc), b.getBoolAttr(true),
                      b.getBoolAttr(true)};
    if (failed(t.overBatches(dot, Point(), [&](const Point &at) { return packRhs(at, whole); })))
      return failure();
    columns.extent = inside;
    isPackedBefore = true;
    return success();
  }

  LogicalResult packLhs(Point at, Depth piece, Value row0, Extent height) {
    if (matrix)
      return matrix->packLhs(at, piece.start, row0, height);
    auto place = [&](Value r, Value c) { return SmallVector<Value>{r, c}; };
    return packer.pack(
        {dot.getLhs(), m, k, at, row0, piece.start, height, extentOf(piece.count), element, lhsMemory, place},
        std::max(lanes, depthLanes));
  }

  /// A right factor that lies in such panels already is read there.
  void findPanels() {
    if (!matrix && elementOf(dot.getRhs()) != element)
      return;
    Value rhs = matrix ? matrix->rhsTile() : dot.getRhs();
    if (auto found = WeightPanels::find(t, dot, rhs, matrix ? matrix->group() : 1, lanes, depth))
      weights.emplace(*found);
    if (weights && matrix)
      matrix->readPackedRhs(weights->view());
    else if (weights)
      rhsMemory = weights->view();
  }

  Value panelOfProgram(Value column) {
    return arith::DivUIOp::create(t.builder, loc, column, t.evaluator.constantIndex(blocking.getColumns(), loc));
  }
  Value panelOf(Value column) { return weights ? weights->panel(column) : panelOfProgram(column); }

  //===--------------------------------------------------------------------===//
  // One tile
  //===--------------------------------------------------------------------===//

  /// `height` rows from row0 + row on, `width` columns from `column` on, along one piece.
  LogicalResult emitTile(Point at, Depth piece, Value row0, Value row, int64_t height, Value column, int64_t width) {
    bool isWhole = height == blocking.getRows() && width == blocking.getColumns();
    MicroTile tile{height, (width + lanes - 1) / lanes, lanes, near ? near->stepsAtOnce() : isWhole ? 2 : 1};
    Value rowStart = t.evaluator.addIndex(row0, row, loc);
    at.memo.clear();
    auto rowPoint = [&](Point from, int64_t r) {
      from.positions[m] = t.evaluator.addIndex(rowStart, t.evaluator.constantIndex(r, loc), loc);
      from.memo.clear();
      return from;
    };
    SmallVector<Point> columnPoints;
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Point point = at;
      t.setLanes(point, n, t.evaluator.constantIndex(v * lanes, loc), lanes, {width}, (v + 1) * lanes > width, loc);
      point.positions[n] = t.evaluator.addIndex(column, t.evaluator.constantIndex(v * lanes, loc), loc);
      columnPoints.push_back(point);
    }
    SmallVector<Point> points;
    for (int64_t r = 0; r < height; ++r)
      for (Point &point : columnPoints)
        points.push_back(rowPoint(point, r));

    FailureOr<Accumulators> sums = sumsBefore(piece, points);
    if (failed(sums))
      return failure();
    Value panel = rhsMemory ? panelOf(column) : Value(), pieceNumber = weights ? weights->piece(piece.start) : Value();
    auto load = [&](Type type, Value view, ArrayRef<Value> indices) -> Value {
      return LoadOp::create(t.builder, loc, type, view, indices, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
    };
    auto lhs = [&](int64_t r, Value i) -> FailureOr<Value> {
      if (lhsMemory)
        return load(element, lhsMemory, {t.evaluator.addIndex(row, t.evaluator.constantIndex(r, loc), loc), i});
      Point point = rowPoint(at, r);
      point.positions[k] = t.evaluator.addIndex(piece.start, i, loc);
      FailureOr<Value> value = t.evaluator.evaluate(dot.getLhs(), point);
      if (failed(value))
        return failure();
      return widenFactor(t.builder, loc, *value, element);
    };
    std::optional<WeightPanels::Ahead> ahead;
    if (weights)
      ahead = weights->readAhead(piece.start, column, rowStart, tile.unroll);
    int64_t calls = 0;
    Value begin = near ? near->beginOf(column) : Value(), round;
    auto rhs = [&](Value i, int64_t v) -> FailureOr<Value> {
      if (near) {
        const int64_t step = calls++ / tile.vectors % tile.unroll;
        if (step == 0 && v == 0)
          round = near->round(begin, i);
        return near->load(round, step, v);
      }
      if (ahead && v == 0 && calls++ % tile.unroll == 0)
        weights->fetch(*ahead, i);
      if (weights)
        return load(vectorType(), rhsMemory, {pieceNumber, panel, i, t.evaluator.constantIndex(v * lanes, loc)});
      if (rhsMemory)
        return load(vectorType(), rhsMemory, {panel, i, t.evaluator.constantIndex(v * lanes, loc)});
      Point point = columnPoints[v];
      point.positions[k] = t.evaluator.addIndex(piece.start, i, loc);
      FailureOr<Value> value = t.evaluator.evaluateVector(dot.getRhs(), point);
      if (failed(value))
        return failure();
      return widenFactor(t.builder, loc, *value, element);
    };
    // Both factors in vectors along k; lanes that do not exist must not count, whatever is made of them.
    auto alongDepth = [&](Point point, Value i, bool isPartial,
                          llvm::function_ref<FailureOr<Value>(Point &)> read) -> FailureOr<Value> {
      t.setLanes(point, k, i, depthLanes, extentOf(piece.count), isPartial, loc);
      point.positions[k] = t.evaluator.addIndex(piece.start, i, loc);
      FailureOr<Value> value = read(point);
      if (failed(value) || !point.mask)
        return value;
      Value none = arith::ConstantOp::create(t.builder, loc, t.builder.getZeroAttr(value->getType()));
      return arith::SelectOp::create(t.builder, loc, point.mask, *value, none).getResult();
    };
    auto evaluate = [&](Value factor) {
      return [&, factor](Point &point) -> FailureOr<Value> {
        FailureOr<Value> value = t.evaluator.evaluateVector(factor, point);
        if (failed(value))
          return failure();
        return widenFactor(t.builder, loc, *value, element);
      };
    };
    auto lhsAlong = [&](int64_t r, Value i, bool isPartial) {
      if (!lhsMemory)
        return alongDepth(rowPoint(at, r), i, isPartial, evaluate(dot.getLhs()));
      return alongDepth(rowPoint(at, r), i, isPartial, [&](Point &) -> FailureOr<Value> {
        Type type = depthLanes > 1 ? VectorType::get(depthLanes, element) : element;
        return load(type, lhsMemory, {t.evaluator.addIndex(row, t.evaluator.constantIndex(r, loc), loc), i});
      });
    };
    auto rhsAlong = [&](Value i, int64_t c, bool isPartial) {
      return alongDepth(columnPoints[c], i, isPartial, evaluate(dot.getRhs()));
    };
    if (depthLanes)
      sums = emitMicroKernelAlongDepth(t.builder, loc, {height, width, depthLanes, 1}, piece.count, *sums,
                                       {lhsAlong, rhsAlong});
    else
      sums = emitMicroKernel(t.builder, loc, tile, piece.count, *sums, {lhs, rhs});
    if (failed(sums))
      return failure();
    return finishTile(piece, *sums, points);
  }

  /// The same by the matrix unit. Its sums are in memory, from where a loop takes a few rows at a time.
  LogicalResult emitMatrixTile(Point at, Depth piece, Value row0, Value row, int64_t height, Value column,
                               int64_t width) {
    Value share = panelOfProgram(column), panel = weights ? weights->panelOfAll(piece.start, column) : share;
    if (failed(matrix->multiply(at, piece.start, row0, row, panel, share)))
      return failure();
    Value rowStart = t.evaluator.addIndex(row0, row, loc);
    constexpr int64_t rowsAtOnce = 4;
    // A square of them has all rows of some columns.
    auto inRowsOf = [&](Value first, int64_t count, int64_t beginVector, int64_t endVector) -> LogicalResult {
      SmallVector<Point> points;
      Accumulators sums;
      std::optional<Square> square;
      if (endVector - beginVector == 1 && count == lanes && findAcross()) {
        const int64_t begin = beginVector * lanes;
        square = {t.evaluator.addIndex(rowStart, first, loc),
                  t.evaluator.addIndex(column, t.evaluator.constantIndex(begin, loc), loc),
                  std::min(lanes, width - begin)};
      }
      for (int64_t i = 0; i < count; ++i) {
        Value r = t.evaluator.addIndex(first, t.evaluator.constantIndex(i, loc), loc);
        for (int64_t v = beginVector; v < endVector; ++v) {
          Point point = at;
          point.memo.clear();
          Value offset = t.evaluator.constantIndex(v * lanes, loc);
          t.setLanes(point, n, offset, lanes, {width}, (v + 1) * lanes > width, loc);
          point.positions[n] = t.evaluator.addIndex(column, offset, loc);
          point.positions[m] = t.evaluator.addIndex(rowStart, r, loc);
          points.push_back(point);
          sums.push_back(matrix->sums(r, v));
        }
      }
      bool fromZero = isa<Attribute>(piece.first) && isZero(dot.getAcc());
      if (!fromZero) {
        FailureOr<Accumulators> before = sumsBefore(piece, points);
        if (failed(before))
          return failure();
        for (auto [sum, earlier] : llvm::zip(sums, *before))
          sum = isa<FloatType>(element) ? arith::AddFOp::create(t.builder, loc, sum, earlier).getResult()
                                        : arith::AddIOp::create(t.builder, loc, sum, earlier).getResult();
      }
      return finishTile(piece, sums, points, square);
    };
    auto inRows = [&](int64_t count) {
      return [&, count](Value first, Accumulators) -> FailureOr<Accumulators> {
        if (failed(inRowsOf(first, count, 0, llvm::divideCeil(width, lanes))))
          return failure();
        return Accumulators();
      };
    };
    int64_t inSquares = 0;
    if (findAcross()) {
      inSquares = height - height % lanes;
      auto squares = [&](Value first, Accumulators) -> FailureOr<Accumulators> {
        for (int64_t v = 0; v * lanes < width; ++v)
          if (failed(inRowsOf(first, lanes, v, v + 1)))
            return failure();
        return Accumulators();
      };
      if (failed(t.emitLoop(0, {inSquares}, lanes, {}, loc, squares)))
        return failure();
    }
    int64_t most = height - (height - inSquares) % rowsAtOnce;
    if (failed(t.emitLoop(inSquares, {most}, rowsAtOnce, {}, loc, inRows(rowsAtOnce))))
      return failure();
    return t.emitLoop(most, {height}, 1, {}, loc, inRows(1));
  }

  static bool isZero(Value tile) {
    DenseElementsAttr value;
    return matchPattern(tile, m_Constant(&value)) && value.isSplat() &&
           (matchPattern(tile, m_Zero()) || matchPattern(tile, m_AnyZeroFloat()));
  }

  /// What is there before a piece: the accumulator, or the sums of the pieces before it.
  FailureOr<Accumulators> sumsBefore(Depth piece, ArrayRef<Point> points) {
    return emitEither(
        piece.first, SmallVector<Type>(points.size(), vectorType()), [&] { return evaluateAll(dot.getAcc(), points); },
        [&] { return loadSums(points); });
  }

  /// As many rows as lanes of a vector of columns, of which `columns` exist: where they begin.
  struct Square {
    Value row, column;
    int64_t columns;
  };

  /// Whether neighbours in memory are those along rows, not along columns.
  bool liesAcross(Value view, Value tile) {
    view = t.evaluator.mapping.lookupOrDefault(view);
    if (isComplex(view))
      return false;
    std::optional<int64_t> down, right;
    for (auto [dim, axis] : llvm::enumerate(t.axes.of(tile))) {
      if (axis == m)
        down = strideOf(view, dim);
      else if (axis == n)
        right = strideOf(view, dim);
    }
    return down == 1 && right && *right != 0 && *right != 1;
  }

  /// What the epilogue reads and writes across the vectors of columns: element by element it would take longer than
  /// many a product. False where there is none.
  bool findAcross() {
    if (acrossIsKnown || lanes < 4 || !llvm::isPowerOf2_64(lanes))
      return !acrossLoads.empty() || !acrossStores.empty();
    acrossIsKnown = true;
    llvm::SetVector<Value> slice;
    for (StoreOp store : epilogue) {
      if (liesAcross(store.getView(), store.getValue()))
        acrossStores.insert(store);
      slice.insert(store.getValue());
    }
    for (size_t i = 0; i < slice.size(); ++i) {
      Value tile = slice[i];
      Operation *def = tile.getDefiningOp();
      if (!def || tile == dot.getResult() || t.evaluator.memory.contains(tile))
        continue;
      if (auto load = dyn_cast<LoadOp>(def)) {
        if (liesAcross(load.getView(), tile))
          acrossLoads.insert(tile);
        continue;
      }
      for (Value operand : def->getOperands())
        if (isTile(operand))
          slice.insert(operand);
    }
    return !acrossLoads.empty() || !acrossStores.empty();
  }

  /// The point of a square's column, whose vector lies along rows.
  Point alongRows(const Square &square, Point point, int64_t column) {
    point.memo.clear();
    t.setLanes(point, m, square.row, lanes, {lanes}, /*partial=*/false, loc);
    point.positions[n] = t.evaluator.addIndex(square.column, t.evaluator.constantIndex(column, loc), loc);
    return point;
  }

  /// What lies across is read in vectors along rows, which are transposed in registers, and written so.
  LogicalResult finishSquare(const Square &square, ArrayRef<Value> sums, ArrayRef<Point> points) {
    SmallVector<Point> ends(points);
    for (auto [end, sum] : llvm::zip_equal(ends, sums))
      end.memo[dot.getResult()] = sum;
    for (Value tile : acrossLoads) {
      SmallVector<Value> vectors;
      for (int64_t c = 0; c < lanes; ++c) {
        // Behind the last column it is there again: what is made of it is not stored.
        if (c >= square.columns) {
          vectors.push_back(vectors.back());
          continue;
        }
        Point along = alongRows(square, points.front(), c);
        FailureOr<Value> vector = t.evaluator.evaluateVector(tile, along);
        if (failed(vector))
          return failure();
        vectors.push_back(*vector);
      }
      transposeVectors(t.builder, loc, vectors);
      for (auto [end, vector] : llvm::zip_equal(ends, vectors))
        end.memo[tile] = vector;
    }
    for (StoreOp store : epilogue) {
      SmallVector<Value> values;
      for (Point &end : ends) {
        FailureOr<Value> value = t.evaluator.evaluateVector(store.getValue(), end);
        if (failed(value))
          return failure();
        values.push_back(*value);
        if (!acrossStores.contains(store) && failed(t.evaluator.store(store, *value, end)))
          return failure();
      }
      if (!acrossStores.contains(store))
        continue;
      transposeVectors(t.builder, loc, values);
      for (int64_t c = 0; c < square.columns; ++c) {
        Point along = alongRows(square, points.front(), c);
        if (failed(t.evaluator.store(store, values[c], along)))
          return failure();
      }
    }
    return success();
  }

  /// Keeps the sums for the next piece, or does behind the last one what follows the dot.
  LogicalResult finishTile(Depth piece, ArrayRef<Value> sums, ArrayRef<Point> points,
                           std::optional<Square> square = std::nullopt) {
    auto keep = [&]() -> FailureOr<Accumulators> {
      for (auto [sum, point] : llvm::zip(sums, points)) {
        Point to = point;
        if (!partial)
          t.evaluator.storeToMemory(dot.getResult(), sum, to);
        else if (failed(t.evaluator.store(partial, sum, to)))
          return failure();
      }
      return Accumulators();
    };
    if (epilogue.empty())
      return success(succeeded(keep()));
    auto finish = [&]() -> FailureOr<Accumulators> {
      if (square) {
        if (failed(finishSquare(*square, sums, points)))
          return failure();
        return Accumulators();
      }
      for (auto [sum, point] : llvm::zip(sums, points)) {
        Point end = point;
        end.memo[dot.getResult()] = sum;
        for (StoreOp store : epilogue) {
          FailureOr<Value> value = t.evaluator.evaluate(store.getValue(), end);
          if (failed(value) || failed(t.evaluator.store(store, *value, end)))
            return failure();
        }
      }
      return Accumulators();
    };
    return success(succeeded(emitEither(piece.last, {}, finish, keep)));
  }

  FailureOr<Accumulators> evaluateAll(Value tile, ArrayRef<Point> points) {
    Accumulators values;
    for (Point point : points) {
      FailureOr<Value> value = t.evaluator.evaluateVector(tile, point);
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
    return values;
  }

  FailureOr<Accumulators> loadSums(ArrayRef<Point> points) {
    if (!partial)
      return evaluateAll(dot.getResult(), points);
    Accumulators values;
    for (Point point : points)
      values.push_back(t.evaluator.readBack(partial, point));
    return values;
  }

  /// One of two pieces of code that yield `types`, or a branch where that is not known.
  FailureOr<Accumulators> emitEither(OpFoldResult condition, ArrayRef<Type> types,
                                     llvm::function_ref<FailureOr<Accumulators>()> then,
                                     llvm::function_ref<FailureOr<Accumulators>()> otherwise) {
    if (auto known = dyn_cast<Attribute>(condition))
      return cast<BoolAttr>(known).getValue() ? then() : otherwise();
    auto branch = scf::IfOp::create(t.builder, loc, types, cast<Value>(condition), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(t.builder);
    auto fill = [&](Block *block, llvm::function_ref<FailureOr<Accumulators>()> body) -> LogicalResult {
      // With no results the branches have their terminators already.
      if (types.empty())
        t.builder.setInsertionPointToStart(block);
      else
        t.builder.setInsertionPointToEnd(block);
      FailureOr<Accumulators> values = body();
      if (failed(values))
        return failure();
      if (!types.empty())
        scf::YieldOp::create(t.builder, loc, *values);
      return success();
    };
    if (failed(fill(branch.thenBlock(), then)) || failed(fill(branch.elseBlock(), otherwise)))
      return failure();
    return Accumulators(branch.getResults());
  }

  TileContext &t;
  DotOp dot;
  BlockingAttr blocking;
  Location loc;
  Packer packer;
  unsigned rank;
  Type element;
  Axis m, n, k;
  /// Lanes along columns; those along the contraction where vectors lie so, and columns have one then.
  int64_t lanes, depthLanes = 0, depth = 0;
  Cut rows, columns;
  std::optional<MatrixUnit> matrix;
  /// Whether the right factor is packed before the loop that the dot is in.
  bool isPackedBefore = false;
  /// Packed factors: [row, k], and [panel, k, column]; null where they are not packed.
  Value lhsMemory, rhsMemory;
  /// The right factor, where it is read out of a copy of an image.
  std::optional<NearWindow> near;
  /// The same, where it was packed before the kernel.
  std::optional<WeightPanels> weights;
  /// Stores that are done to tiles in registers; where there are none the result goes to memory.
  SmallVector<StoreOp> epilogue;
  /// Of those what lies across, found once.
  llvm::SetVector<Value> acrossLoads;
  llvm::SmallPtrSet<Operation *, 4> acrossStores;
  bool acrossIsKnown = false;
  /// The store to whose place partial sums go; null where they go to private memory.
  StoreOp partial;
};

} // namespace zyx::kernel

FailureOr<bool> zyx::kernel::emitBlockedDot(TileContext &context, DotOp dot) {
  return BlockedDotEmitter(context, dot).emit();
}
