//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products by mma.sync, for cards before Hopper. Slices of both factors pass through a ring in shared memory. While a
// slice is multiplied, later ones are on their way, and what the next instructions multiply is read out of shared
// memory: behind the last step of a slice that is the first step of the next one, for which all threads have met.
//===----------------------------------------------------------------------===//
#include "MapWarps.h"

#include "ProductEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Rows of an accumulator, and columns of it that are finished at a time; bytes along the contraction of one step.
constexpr int64_t blockRows = 16, pieceColumns = 16, stepBytes = 32;
constexpr int64_t mostPanelBytes = 128;

class WarpMapper : ProductEmitter {
public:
  WarpMapper(FuncOp func, const TensorDot &found, const Axes &axes)
      : ProductEmitter(func, found, axes, blockRows, pieceColumns), part(step.warpPart()),
        across(step.getWarps() / part.down), stepDepth(stepBytes / found.elementBytes()),
        steps(step.getDepth() / stepDepth), blocks(part.rows / blockRows), isAsync(step.getStages() > 2) {}

  void run() {
    FuncOp mapped = beginKernel(programs());
    mapped.setThreads(machine.simt.subgroupSize * step.getWarps());
    acc = FragAttr::get(b.getContext(), FragKind::MmaAcc);
    sums = RankedTensorType::get({blockRows, part.columns}, getElementTypeOrSelf(dot.dot.getType()), acc);
    left = makeRing(dot.lhs, step.getRows());
    right = makeRing(dot.rhs, step.getColumns());
    firstView = left.view;
    for (StoreOp store : dot.stores)
      accesses.push_back(
          makeAccess(store.getView(), store.getIndices(), store.getValue(), /*isResult=*/true, /*isCopied=*/false));
    Value first = IdOp::create(b, loc, b.getIndexType(), IdKind::Workgroup);
    Value stride = IdOp::create(b, loc, b.getIndexType(), IdKind::NumWorkgroups);
    Value tiles = index(programs());
    auto roles = RolesOp::create(b, loc);
    b.createBlock(&roles.getBody());
    emitRole(
        "warp", step.getWarps(), 0, /*single=*/false,
        [&](Value warp) {
          loop(first, tiles, stride, {}, [&](Value tile, ValueRange) -> Carried {
            emitTile(coordinatesOf(tile), warp);
            return {};
          });
        },
        machine.simt.subgroupSize);
    YieldOp::create(b, loc);
    b.setInsertionPointAfter(roles);
    endKernel();
  }

private:
  //===--------------------------------------------------------------------===//
  // Slices
  //===--------------------------------------------------------------------===//

  struct Ring {
    const TensorFactor *factor = nullptr;
    Value view, memory;
    /// Of a stage: rows, and the elements of one.
    SmallVector<int64_t> shape;
  };

  /// With the contraction along its rows a slice has a row for each of the tile's; otherwise it has its rows along
  /// those, in panels of at most 128 bytes.
  Ring makeRing(const TensorFactor &factor, int64_t free) {
    Ring ring;
    ring.factor = &factor;
    LoadOp load = factor.load;
    ring.view = viewOf(load.getView(), factor.map);
    ring.shape = {free, step.getDepth()};
    if (!factor.alongDepth)
      std::swap(ring.shape[0], ring.shape[1]);
    SmallVector<int64_t> shape = {step.getStages()};
    llvm::append_range(shape, ring.shape);
    ring.memory = AllocOp::create(b, loc, typeOf(ring, shape));
    return ring;
  }

  ViewType typeOf(const Ring &ring, ArrayRef<int64_t> shape) {
    const int64_t panel = std::min(mostPanelBytes, ring.shape.back() * dot.elementBytes());
    return ViewType::get(shape, getElementTypeOrSelf(LoadOp(ring.factor->load).getType()), Space::Shared,
                         SharedAttr::get(b.getContext(), panel));
  }
  Value slotOf(const Ring &ring, Value stage) {
    return SubviewOp::create(b, loc, typeOf(ring, ring.shape), ring.memory, ValueRange{stage, index(0), index(0)});
  }

  SmallVector<Value> indicesOf(const Ring &ring, const TileCoordinates &place, Value free, Value depth) {
    SmallVector<Value> indices;
    for (Axis axis : ring.factor->batches)
      indices.push_back(place.batches.lookup(axis));
    indices.append({ring.factor->alongDepth ? free : depth, ring.factor->alongDepth ? depth : free});
    return indices;
  }
  /// Slices behind the last one are zero: so nothing branches around them.
  DenseBoolArrayAttr insideOf(const Ring &ring, bool isFreeInside) {
    SmallVector<bool> flags(ring.factor->batches.size(), true);
    flags.append({ring.factor->alongDepth && isFreeInside, !ring.factor->alongDepth && isFreeInside});
    return b.getDenseBoolArrayAttr(flags);
  }

  /// Of both factors, the left one first: what is copied, its place along the other axis, and whether all of it exists.
  struct Copied {
    const Ring *ring;
    Value free;
    bool isInside;
  };
  SmallVector<Copied, 2> copiesOf(const TileCoordinates &place) {
    return {{&left, place.row, m % step.getRows() == 0}, {&right, place.column, n % step.getColumns() == 0}};
  }

  void copy(const TileCoordinates &place, Value depth, Value stage) {
    for (const Copied &each : copiesOf(place))
      CopyAsyncOp::create(b, loc, each.ring->view, indicesOf(*each.ring, place, each.free, depth),
                          slotOf(*each.ring, stage), insideOf(*each.ring, each.isInside));
    CopyCommitOp::create(b, loc);
  }

  SmallVector<Value, 2> fetch(const TileCoordinates &place, Value depth) {
    SmallVector<Value, 2> held;
    for (const Copied &each : copiesOf(place)) {
      auto type = RankedTensorType::get(each.ring->shape, cast<ViewType>(each.ring->view.getType()).getElementType(),
                                        FragAttr::get(b.getContext(), FragKind::Pieces));
      held.push_back(FetchOp::create(b, loc, type, each.ring->view, indicesOf(*each.ring, place, each.free, depth),
                                     insideOf(*each.ring, each.isInside)));
    }
    return held;
  }
  void put(ArrayRef<Value> held, Value stage) {
    const Ring *rings[] = {&left, &right};
    for (auto [value, ring] : llvm::zip(held, rings))
      StoreOp::create(b, loc, value, slotOf(*ring, stage), ValueRange{index(0), index(0)}, Value(),
                      DenseBoolArrayAttr());
  }

  void meet() { BarrierOp::create(b, loc, Scope::Workgroup, /*async=*/false); }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// What a warp multiplies in one step: blocks of the left factor, and the right one last.
  Carried readFactors(Value stage, int64_t at) {
    Carried read;
    auto load = [&](const Ring &ring, FragKind kind, Value free, ArrayRef<int64_t> shape) {
      Value depth = index(at * stepDepth);
      auto type = RankedTensorType::get(shape, cast<ViewType>(ring.view.getType()).getElementType(),
                                        FragAttr::get(b.getContext(), kind));
      const bool along = ring.factor->alongDepth;
      read.push_back(
          LoadMatrixOp::create(b, loc, type, slotOf(ring, stage), along ? free : depth, along ? depth : free, !along));
    };
    for (int64_t block = 0; block < blocks; ++block)
      load(left, FragKind::MmaA, add(warpRow, block * blockRows), {blockRows, stepDepth});
    load(right, FragKind::MmaB, warpColumn, {stepDepth, part.columns});
    return read;
  }

  void multiply(ArrayRef<Value> factors, MutableArrayRef<Value> onto) {
    for (auto [sum, lhs] : llvm::zip(onto, factors))
      sum = MmaOp::create(b, loc, sums, lhs, factors.back(), sum);
  }

  Value wrapped(Value stage) {
    Value up = add(stage, 1);
    Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, up, index(step.getStages()));
    return choose(wraps, index(0), up);
  }

  /// Fills all stages but one, and waits for the first.
  void begin(const TileCoordinates &place) {
    if (isAsync) {
      for (int64_t stage = 0; stage + 1 < step.getStages(); ++stage)
        copy(place, index(stage * step.getDepth()), index(stage));
      CopyWaitOp::create(b, loc, step.getStages() - 2);
    } else {
      put(fetch(place, index(0)), index(0));
    }
    meet();
  }

  void emitTile(const TileCoordinates &place, Value warp) {
    warpRow = MachineEmitter::multiply(divide(warp, index(across)), part.rows);
    warpColumn = MachineEmitter::multiply(rest(warp, index(across)), part.columns);
    begin(place);
    Carried entering = {index(0)};
    Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(sums)));
    entering.append(blocks, zero);
    llvm::append_range(entering, readFactors(index(0), 0));
    Carried last = loop(index(0), index(k), index(step.getDepth()), entering,
                        [&](Value depth, ValueRange carried) { return emitSlice(place, depth, carried); });
    // What the next tile copies goes where slices of this one are.
    if (isAsync)
      CopyWaitOp::create(b, loc, 0);
    meet();
    emitResults(place, ArrayRef(last).slice(1, blocks));
  }

  Carried emitSlice(const TileCoordinates &place, Value depth, ValueRange carried) {
    Value stage = carried[0], next = wrapped(stage);
    Carried onto(carried.slice(1, blocks)), factors(carried.drop_front(1 + blocks));
    SmallVector<Value, 2> held;
    for (int64_t at = 0; at < steps; ++at) {
      Carried ahead;
      if (at + 1 < steps) {
        ahead = readFactors(stage, at + 1);
      } else {
        if (isAsync)
          CopyWaitOp::create(b, loc, step.getStages() - 2);
        else
          put(held, next);
        meet();
        ahead = readFactors(next, 0);
      }
      // The stage of the slice before this one is free.
      if (at == 0) {
        Value further = add(depth, (step.getStages() - 1) * step.getDepth());
        if (isAsync)
          copy(place, further, before(stage));
        else
          held = fetch(place, further);
      }
      multiply(factors, onto);
      factors = std::move(ahead);
    }
    Carried result = {next};
    llvm::append_range(result, onto);
    llvm::append_range(result, factors);
    return result;
  }

  Value before(Value stage) {
    Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, stage, index(0));
    return choose(wraps, index(step.getStages() - 1), sub(stage, index(1)));
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  void emitResults(const TileCoordinates &tile, ArrayRef<Value> done) {
    auto type = RankedTensorType::get({blockRows, pieceColumns}, sums.getElementType(), acc);
    for (auto [block, sum] : llvm::enumerate(done)) {
      TileCoordinates place = tile;
      place.row = add(tile.row, add(warpRow, static_cast<int64_t>(block) * blockRows));
      forgetRows();
      for (int64_t column = 0; column < part.columns; column += pieceColumns) {
        Value at = add(tile.column, add(warpColumn, column));
        beginPiece(ExtractOp::create(b, loc, type, sum, ArrayRef<int64_t>{0, column}));
        storePiece(place, at, llvm::to_vector(llvm::seq(accesses.size())));
      }
    }
  }

  /// Of each warp; warps beside each other; elements along the contraction of a step, steps of a slice, blocks of a
  /// warp.
  const TensorStepAttr::WarpPart part;
  const int64_t across, stepDepth, steps, blocks;
  const bool isAsync;
  RankedTensorType sums;
  Ring left, right;
  Value warpRow, warpColumn;
};

/// Why a step does not fit a product; empty where it does.
std::string refusal(TensorStepAttr step, const TensorDot &dot) {
  const int64_t stepDepth = stepBytes / dot.elementBytes();
  if (step.getDepth() < 2 * stepDepth || step.getDepth() * dot.elementBytes() > mostPanelBytes)
    return "slices have 64 or 128 bytes along the contraction";
  for (auto [factor, free] : {std::pair(&dot.lhs, step.getRows()), std::pair(&dot.rhs, step.getColumns())})
    if (!factor->alongDepth && !llvm::isPowerOf2_64(free))
      return "a factor that does not run along the contraction has tiles of 2^n elements";
  return "";
}

} // namespace

LogicalResult zyx::kernel::mapWarps(FuncOp func, const TensorDot &dot, const Axes &axes, std::string &reason) {
  if (!isForWarps(dot, reason))
    return failure();
  reason = refusal(tensorStepOf(func), dot);
  if (!reason.empty())
    return failure();
  WarpMapper(func, dot, axes).run();
  return success();
}
