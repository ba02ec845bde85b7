//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A dot with `blocking` whose tile the threads of a workgroup share. They evaluate the elements of both factors, slice
// by slice along the contraction, whatever these are made of, and store them in shared memory. There each multiplies
// those of its own rows and columns; or, of factors of 16 bits, warps do by tensor cores. See docs/codegen-gpu.md.
//===----------------------------------------------------------------------===//
#include "FactorSlices.h"

#include "zyx/Codegen/Simt/Simt.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::kernel {

class SharedDotEmitter : SharedDot {
public:
  SharedDotEmitter(TileContext &context, DotOp dot) : SharedDot(context, dot), down(*this), across(*this) {}

  FailureOr<bool> emit();

private:
  using Accumulators = TileContext::Accumulators;

  FailureOr<bool> analyse();
  void chooseSides();
  void placeThreads();
  LogicalResult emitTile(const Point &at);
  Accumulators multiply(Value stage, Accumulators sums);
  Accumulators multiplyStep(Value row, Accumulators sums);
  SmallVector<Value> readBlocks(const FactorSlices &side, Value stage, Value start, bool isLeft);
  Accumulators multiplyBlocks(Value stage, Accumulators sums);
  Accumulators begin();
  Accumulators byRows(Accumulators sums);
  Value rowPosition(Value row);
  Value columnPosition(Value vector);
  void allocateSlices();
  FailureOr<SmallVector<Value>> readSlice(const Point &at, Value start);
  void writeSlice(ArrayRef<Value> read, Value stage);
  FailureOr<Accumulators> multiplySlices(const Point &at);
  FailureOr<Accumulators> multiplyInOneLoop(const Point &at);
  bool finishesAll() const;
  LogicalResult finish(const Point &at, ArrayRef<Value> sums);
  LogicalResult finishShared(const Point &at);
  LogicalResult inRow(Value row, Point at, llvm::function_ref<LogicalResult(Point &)> body);
  LogicalResult finishVector(Point at, Value vector, Value sum);
  void shareSums(ArrayRef<Value> sums);

  Type typeOf(int64_t lanes) { return lanes == 1 ? element : VectorType::get(lanes, element); }
  Value sumOf(Value a, Value b) {
    if (isa<FloatType>(element))
      return arith::AddFOp::create(t.builder, loc, a, b);
    return arith::AddIOp::create(t.builder, loc, a, b);
  }
  /// Rows that a thread has sums of, and vectors of each.
  int64_t rows() const { return byWarps ? 2 * down.each / blockRows() : down.each; }
  int64_t vectors() const { return across.each / (byWarps ? blockColumns() : across.lanes); }
  int64_t threadsOfTile() const { return shape.threadsOfTile(); }
  /// What a warp multiplies at once: rows, columns, and steps of the contraction.
  int64_t blockRows() const { return shape.product->m; }
  int64_t blockColumns() const { return shape.product->n; }
  int64_t blockDepth() const { return shape.product->k; }

  /// The sums' vectors lie along one axis; the other one's elements are multiplied with them one by one.
  FactorSlices down, across;
  /// How many vectors a thread brings of the latter in a slice.
  size_t numAcross = 0;
  /// Groups of threads that have the same sums, each of a part of every slice; what they have, where they are several.
  int64_t groups = 1;
  Value parts;
  /// Which thread of its group this is, and which group; whether it is in one, where not all are.
  Value own, group, isMember;
  /// Where warps multiply, the number of this thread in its own.
  Value lane;
  SmallVector<StoreOp> epilogue;
};

} // namespace zyx::kernel

//===----------------------------------------------------------------------===//
// Who does what
//===----------------------------------------------------------------------===//

FailureOr<bool> SharedDotEmitter::analyse() {
  FailureOr<std::optional<SharedDotShape>> found = SharedDotShape::of(dot, t.source, t.axes, t.machine);
  if (failed(found) || !*found)
    return failed(found) ? FailureOr<bool>(failure()) : false;
  shape = **found;
  depth = shape.depth;
  step = shape.sliceDepth();
  groups = shape.groups();
  byWarps = shape.product;
  auto setUp = [&](FactorSlices &side, Value factor, Axis axis, int64_t each, int64_t padded) -> LogicalResult {
    FailureOr<Extent> extent = t.extentOf(axis, loc);
    if (failed(extent))
      return failure();
    side.factor = factor;
    side.axis = axis;
    side.extent = *extent;
    side.size = t.axes.extent(axis);
    side.each = each;
    side.padded = padded;
    side.threads = padded / each;
    side.brought = byWarps ? side.size : padded;
    return success();
  };
  const Axis m = t.axes.of(dot.getResult(), rank - 2), n = t.axes.of(dot.getResult(), rank - 1);
  if (failed(setUp(down, dot.getLhs(), m, shape.ownRows, shape.paddedRows())) ||
      failed(setUp(across, dot.getRhs(), n, shape.ownColumns, shape.paddedColumns())))
    return failure();
  return true;
}

/// Sums lie along the axis along which more is stored side by side.
void SharedDotEmitter::chooseSides() {
  int64_t score = 0;
  for (StoreOp store : epilogue)
    for (auto [dim, axis] : llvm::enumerate(t.axes.of(store.getValue())))
      if (strideOf(store.getView(), dim) == 1)
        score += axis == across.axis ? 1 : axis == down.axis ? -1 : 0;
  const bool mayBeDown = !byWarps || across.each % blockRows() == 0;
  if ((score < 0 && mayBeDown) || (byWarps && down.each % blockRows() != 0))
    std::swap(down, across);
  const int64_t vector = std::max<int64_t>(t.machine.accessBytes() * 8 / element.getIntOrFloatBitWidth(), 1);
  for (FactorSlices *side : {&down, &across}) {
    while (!byWarps && side->lanes < vector && side->each % (2 * side->lanes) == 0)
      side->lanes *= 2;
    side->apart = side->padded / (side->each / side->lanes);
    side->chooseReads();
  }
  // As a warp's sums lie.
  if (byWarps)
    across.lanes = 2;
}

void SharedDotEmitter::placeThreads() {
  Value thread = t.threadInGroup();
  const int64_t each = threadsOfTile();
  own = each == t.threads ? thread : rest(thread, each);
  if (groups > 1) {
    group = over(thread, each);
    if (groups * each < t.threads)
      group = arith::MinUIOp::create(t.builder, loc, group, index(groups - 1));
  }
  if (groups * each < t.threads)
    isMember = isBelow(thread, index(groups * each));
  if (byWarps) {
    lane = rest(own, shape.product->threads);
    Value warp = over(own, shape.product->threads);
    across.number = rest(warp, across.threads);
    down.number = over(warp, across.threads);
    return;
  }
  // Eight threads of a subgroup are side by side, and four or more such rows below each other: it reads few different
  // rows and columns.
  constexpr int64_t subgroupAcross = 8;
  const int64_t subgroup = t.machine.simt.subgroupSize, subgroupDown = subgroup / subgroupAcross;
  if (subgroupDown != 0 && down.threads % subgroupDown == 0 && across.threads % subgroupAcross == 0) {
    Value lane = rest(own, subgroup), number = over(own, subgroup);
    const int64_t subgroups = across.threads / subgroupAcross;
    across.number = add(times(rest(number, subgroups), subgroupAcross), rest(lane, subgroupAcross));
    down.number = add(times(over(number, subgroups), subgroupDown), over(lane, subgroupAcross));
  } else {
    across.number = rest(own, across.threads);
    down.number = over(own, across.threads);
  }
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

SharedDotEmitter::Accumulators SharedDotEmitter::multiplyStep(Value row, Accumulators sums) {
  auto read = [&](const FactorSlices &side, int64_t vector) {
    Value place = add(times(side.number, side.lanes), index(vector * side.apart));
    return load(typeOf(side.lanes), side.memory, {row, place});
  };
  SmallVector<Value> columns, rows;
  for (int64_t v = 0; v < vectors(); ++v)
    columns.push_back(read(across, v));
  for (int64_t v = 0; v < down.each / down.lanes; ++v) {
    Value several = read(down, v);
    for (int64_t lane = 0; lane < down.lanes; ++lane)
      rows.push_back(down.lanes == 1 ? several : vector::ExtractOp::create(t.builder, loc, several, lane).getResult());
  }
  for (auto [r, one] : llvm::enumerate(rows)) {
    Value factor =
        across.lanes == 1 ? one : vector::BroadcastOp::create(t.builder, loc, typeOf(across.lanes), one).getResult();
    for (int64_t v = 0; v < vectors(); ++v) {
      Value &sum = sums[r * vectors() + v];
      if (isa<FloatType>(element))
        sum = math::FmaOp::create(t.builder, loc, factor, columns[v], sum);
      else
        sum = arith::AddIOp::create(t.builder, loc, sum, arith::MulIOp::create(t.builder, loc, factor, columns[v]));
    }
  }
  return sums;
}

/// Blocks of 16 elements of the tile by 16 steps of the contraction, all that the warp has from `start` on: of the left
/// factor those of rows come before those of steps, of the right one the other way round.
SmallVector<Value> SharedDotEmitter::readBlocks(const FactorSlices &side, Value stage, Value start, bool isLeft) {
  constexpr int64_t half = 8;
  Value low = rest(lane, half), first = rest(over(lane, half), 2), second = over(lane, 2 * half);
  Value words = times(isLeft ? first : second, half), steps = times(isLeft ? second : first, half);
  Value from = times(side.number, side.each);
  SmallVector<Value> read;
  auto type = VectorType::get(4, t.builder.getI32Type());
  for (int64_t at = 0; at < side.each; at += 2 * half) {
    // Of a single column of blocks both halves of the warp name the same one.
    Value part = at + half == side.each ? index(0) : words;
    SmallVector<Value> place;
    if (side.isByElements()) {
      place = {add(add(add(times(stage, side.padded), from), add(part, low)), index(at)), add(start, steps)};
    } else {
      place = {add(add(times(stage, step), start), add(steps, low)), add(add(from, part), index(at))};
    }
    read.push_back(WarpReadOp::create(t.builder, loc, type, side.memory, place, /*transposed=*/!side.isByElements()));
  }
  return read;
}

/// The same by warps.
SharedDotEmitter::Accumulators SharedDotEmitter::multiplyBlocks(Value stage, Accumulators sums) {
  constexpr int64_t mostUnrolled = 64;
  const int64_t steps = step / groups;
  Value first = group ? times(group, steps) : index(0);
  int64_t unroll = steps / blockDepth();
  while (unroll > 1 &&
         (steps / blockDepth() % unroll != 0 || unroll * static_cast<int64_t>(sums.size()) > mostUnrolled))
    --unroll;
  const Type factor = getElementTypeOrSelf(dot.getLhs().getType());
  FailureOr<Accumulators> next = t.emitLoop(
      0, {steps}, unroll * blockDepth(), sums, loc, [&](Value i, Accumulators carried) -> FailureOr<Accumulators> {
        for (int64_t u = 0; u < unroll; ++u) {
          Value start = add(add(first, i), index(u * blockDepth()));
          SmallVector<Value> right = readBlocks(across, stage, start, /*isLeft=*/false),
                             left = readBlocks(down, stage, start, true);
          for (int64_t v = 0; v < vectors(); ++v) {
            const SmallVector<int64_t> own = {v % 2 * 2, v % 2 * 2 + 1};
            Value columns = vector::ShuffleOp::create(t.builder, loc, right[v / 2], right[v / 2], own);
            for (auto [block, rows] : llvm::enumerate(left)) {
              Value &sum = carried[block * vectors() + v];
              sum = WarpMultiplyOp::create(t.builder, loc, factor, rows, columns, sum);
            }
          }
        }
        return carried;
      });
  return *next;
}

/// This group's part of a slice.
SharedDotEmitter::Accumulators SharedDotEmitter::multiply(Value stage, Accumulators sums) {
  if (byWarps)
    return multiplyBlocks(stage, std::move(sums));
  constexpr int64_t mostUnrolled = 256;
  const int64_t steps = step / groups;
  Value first = times(stage, step);
  // Groups that share a warp read neighbouring steps at once: those of parts that begin a multiple of 32 words apart
  // lie in the same banks.
  const bool isShared = threadsOfTile() % std::max<int64_t>(t.machine.simt.subgroupSize, 1) != 0;
  const int64_t apart = group && isShared ? groups : 1;
  if (group)
    first = add(first, times(group, isShared ? 1 : steps));
  int64_t unroll = steps;
  while (unroll > 1 && (steps % unroll != 0 || unroll * static_cast<int64_t>(sums.size()) > mostUnrolled))
    --unroll;
  FailureOr<Accumulators> next =
      t.emitLoop(0, {steps}, unroll, sums, loc, [&](Value i, Accumulators carried) -> FailureOr<Accumulators> {
        for (int64_t u = 0; u < unroll; ++u)
          carried = multiplyStep(add(first, times(add(i, index(u)), apart)), carried);
        return carried;
      });
  return *next;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

SharedDotEmitter::Accumulators SharedDotEmitter::begin() {
  Type type = byWarps ? VectorType::get(4, element) : typeOf(across.lanes);
  Value zero = arith::ConstantOp::create(t.builder, loc, t.builder.getZeroAttr(type));
  return Accumulators(rows() * vectors() / (byWarps ? 2 : 1), zero);
}

/// A thread's sums of two rows of each block that a warp has, row by row.
SharedDotEmitter::Accumulators SharedDotEmitter::byRows(Accumulators sums) {
  if (!byWarps)
    return sums;
  Accumulators result;
  for (int64_t r = 0; r < rows(); ++r)
    for (int64_t v = 0; v < vectors(); ++v) {
      Value both = sums[r / 2 * vectors() + v];
      const SmallVector<int64_t> own = {r % 2 * 2, r % 2 * 2 + 1};
      result.push_back(vector::ShuffleOp::create(t.builder, loc, both, both, own));
    }
  return result;
}

Value SharedDotEmitter::rowPosition(Value row) {
  if (byWarps)
    return add(add(times(down.number, down.each), over(lane, 4)), times(row, blockRows() / 2));
  Value vector = times(over(row, down.lanes), down.apart);
  return add(add(times(down.number, down.lanes), vector), rest(row, down.lanes));
}

Value SharedDotEmitter::columnPosition(Value vector) {
  if (byWarps)
    return add(add(times(across.number, across.each), times(rest(lane, 4), 2)), times(vector, blockColumns()));
  return add(times(across.number, across.lanes), times(vector, across.apart));
}

/// Each group hands over what it has.
void SharedDotEmitter::shareSums(ArrayRef<Value> sums) {
  (void)where(isMember, [&] {
    for (auto [i, sum] : llvm::enumerate(sums))
      store(sum, parts, {group, index(i), times(own, across.lanes)});
    return success();
  });
}

LogicalResult SharedDotEmitter::finishVector(Point at, Value vector, Value sum) {
  const bool isEverywhere = across.extent.constant == across.padded, isMasked = !across.isWhole(across.lanes);
  Value position = columnPosition(vector), exists;
  // Vectors that begin beyond the tile have no place in memory that is as large as the tile: its rows end with the last
  // vector that begins inside, and no mask leaves anything out.
  if (!isEverywhere && (!isMasked || epilogue.empty()))
    exists = isBelow(position, t.materialise(across.extent, loc));
  return where(exists, [&]() -> LogicalResult {
    Point point = at;
    point.memo.clear();
    t.setLanes(point, across.axis, position, across.lanes, across.extent, isMasked, loc);
    // Sums begin with zero: more groups than one have some.
    DenseElementsAttr constant;
    const bool isZero = matchPattern(dot.getAcc(), m_Constant(&constant)) &&
                        (matchPattern(dot.getAcc(), m_Zero()) || matchPattern(dot.getAcc(), m_AnyZeroFloat()));
    if (!isZero) {
      FailureOr<Value> before = t.evaluator.evaluateVector(dot.getAcc(), point);
      if (failed(before))
        return failure();
      sum = sumOf(*before, sum);
    }
    point.memo[dot.getResult()] = sum;
    if (epilogue.empty())
      t.evaluator.storeToMemory(dot.getResult(), sum, point);
    for (StoreOp each : epilogue) {
      FailureOr<Value> value = t.evaluator.evaluate(each.getValue(), point);
      if (failed(value) || failed(t.evaluator.store(each, *value, point)))
        return failure();
    }
    return success();
  });
}

/// `body` at a row of a thread, where that exists.
LogicalResult SharedDotEmitter::inRow(Value row, Point at, llvm::function_ref<LogicalResult(Point &)> body) {
  Value position = rowPosition(row), exists;
  if (down.extent.constant != down.padded)
    exists = isBelow(position, t.materialise(down.extent, loc));
  at.positions[down.axis] = position;
  return where(exists, [&] { return body(at); });
}

/// Whether each thread finishes all of its sums, without a test.
bool SharedDotEmitter::finishesAll() const {
  return !isMember && down.extent.constant == down.padded && across.extent.constant == across.padded;
}

LogicalResult SharedDotEmitter::finish(const Point &base, ArrayRef<Value> sums) {
  return where(isMember, [&]() -> LogicalResult {
    for (int64_t r = 0; r < rows(); ++r)
      if (failed(inRow(index(r), base, [&](Point &at) -> LogicalResult {
            for (int64_t v = 0; v < vectors(); ++v)
              if (failed(finishVector(at, index(v), sums[r * vectors() + v])))
                return failure();
            return success();
          })))
        return failure();
    return success();
  });
}

/// Each group adds up some of the sums, in the order of the groups, and finishes these. If the first one did it alone,
/// few threads would compute the epilogue of the whole tile and wait for what it reads, one element after the other.
LogicalResult SharedDotEmitter::finishShared(const Point &base) {
  const int64_t all = rows() * vectors();
  return where(isMember, [&]() -> LogicalResult {
    for (int64_t first = 0; first < all; first += groups) {
      Value number = add(group, index(first)), exists;
      if (first + groups > all)
        exists = isBelow(number, index(all));
      auto finishOne = [&](Point &at) {
        Value sum;
        for (int64_t g = 0; g < groups; ++g) {
          Value part = load(typeOf(across.lanes), parts, {index(g), number, times(own, across.lanes)});
          sum = sum ? sumOf(sum, part) : part;
        }
        return finishVector(at, rest(number, vectors()), sum);
      };
      if (failed(where(exists, [&] { return inRow(over(number, vectors()), base, finishOne); })))
        return failure();
    }
    return success();
  });
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// What this thread brings of a slice of both factors, in registers.
FailureOr<SmallVector<Value>> SharedDotEmitter::readSlice(const Point &at, Value start) {
  FailureOr<SmallVector<Value>> read = across.read(at, start), others = down.read(at, start);
  if (failed(read) || failed(others))
    return failure();
  numAcross = read->size();
  read->append(*others);
  return read;
}

void SharedDotEmitter::writeSlice(ArrayRef<Value> read, Value stage) {
  across.write(read.take_front(numAcross), stage);
  down.write(read.drop_front(numAcross), stage);
}

/// While a slice is multiplied, the elements of the next one are on their way into registers. Between slices all
/// threads meet once: who writes the one stage then, has multiplied what was there before.
FailureOr<SharedDotEmitter::Accumulators> SharedDotEmitter::multiplySlices(const Point &at) {
  auto bring = [&](Value start, Value stage, llvm::function_ref<void()> meanwhile) -> LogicalResult {
    FailureOr<SmallVector<Value>> read = readSlice(at, start);
    if (failed(read))
      return failure();
    meanwhile();
    writeSlice(*read, stage);
    t.barrier(loc);
    return success();
  };
  if (failed(bring(index(0), index(0), [] {})))
    return failure();
  const int64_t slices = llvm::divideCeil(depth, step);
  FailureOr<Accumulators> sums =
      t.emitLoop(0, {slices - 1}, 1, begin(), loc, [&](Value slice, Accumulators carried) -> FailureOr<Accumulators> {
        Value next = add(slice, index(1));
        if (failed(bring(times(next, step), rest(next, 2), [&] { carried = multiply(rest(slice, 2), carried); })))
          return failure();
        return carried;
      });
  if (failed(sums))
    return failure();
  return multiply(index((slices - 1) % 2), *sums);
}

/// The same, with the last slice in the loop. LLVM moves products of a slice behind the loop into the branches that
/// store them, one row after the other, but not what they read from shared memory: of a slice of 16 steps a thread had
/// 256 elements in registers, which spilled.
FailureOr<SharedDotEmitter::Accumulators> SharedDotEmitter::multiplyInOneLoop(const Point &at) {
  FailureOr<SmallVector<Value>> first = readSlice(at, index(0));
  if (failed(first))
    return failure();
  writeSlice(*first, index(0));
  t.barrier(loc);
  const SmallVector<Type> types(ValueRange(*first).getTypes());
  const int64_t slices = llvm::divideCeil(depth, step);
  return t.emitLoop(0, {slices}, 1, begin(), loc, [&](Value slice, Accumulators carried) -> FailureOr<Accumulators> {
    Value next = add(slice, index(1)), isMore = isBelow(next, index(slices));
    auto branch = scf::IfOp::create(t.builder, loc, types, isMore, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(t.builder);
      t.builder.setInsertionPointToStart(branch.thenBlock());
      FailureOr<SmallVector<Value>> read = readSlice(at, times(next, step));
      if (failed(read))
        return failure();
      scf::YieldOp::create(t.builder, loc, *read);
      t.builder.setInsertionPointToStart(branch.elseBlock());
      SmallVector<Value> zeros;
      for (Type type : types)
        zeros.push_back(arith::ConstantOp::create(t.builder, loc, t.builder.getZeroAttr(type)));
      scf::YieldOp::create(t.builder, loc, zeros);
    }
    carried = multiply(rest(slice, 2), carried);
    if (failed(where(isMore, [&] {
          writeSlice(SmallVector<Value>(branch.getResults()), rest(next, 2));
          return success();
        })))
      return failure();
    t.barrier(loc);
    return carried;
  });
}

LogicalResult SharedDotEmitter::emitTile(const Point &at) {
  // Others may still multiply slices of what came before.
  t.barrier(loc);
  const bool inOneLoop = !byWarps && depth > step && (groups == 1 ? !finishesAll() : static_cast<bool>(isMember));
  FailureOr<Accumulators> sums = inOneLoop ? multiplyInOneLoop(at) : multiplySlices(at);
  if (failed(sums))
    return failure();
  sums = byRows(*sums);
  if (groups == 1)
    return finish(at, *sums);
  shareSums(*sums);
  t.barrier(loc);
  return finishShared(at);
}

void SharedDotEmitter::allocateSlices() {
  OpBuilder::InsertionGuard guard(t.builder);
  t.builder.setInsertionPointToStart(t.programStart);
  down.allocate();
  across.allocate();
  if (groups > 1)
    parts = AllocOp::create(
        t.builder, loc,
        ViewType::get({groups, rows() * vectors(), threadsOfTile() * across.lanes}, element, Space::Shared));
}

FailureOr<bool> SharedDotEmitter::emit() {
  FailureOr<bool> possible = analyse();
  if (failed(possible) || !*possible)
    return possible;
  epilogue = t.takeStores(dot);
  chooseSides();
  if (epilogue.empty())
    t.allocate(dot.getResult());
  allocateSlices();
  placeThreads();
  down.placePieces();
  across.placePieces();
  t.evaluator.sumsByDimension = true;
  LogicalResult emitted = t.overBatches(dot, Point(), [&](const Point &at) { return emitTile(at); });
  t.evaluator.sumsByDimension = false;
  if (failed(emitted))
    return failure();
  // Others read what is in memory then.
  if (epilogue.empty())
    t.barrier(loc);
  for (StoreOp each : epilogue)
    t.done.insert(each);
  return true;
}

FailureOr<bool> zyx::kernel::emitSharedDot(TileContext &context, DotOp dot) {
  return SharedDotEmitter(context, dot).emit();
}
