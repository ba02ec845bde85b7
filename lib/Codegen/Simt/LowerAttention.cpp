//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// An attention by workgroups whose threads share blocks of keys and values. A block passes through five steps, with
// barriers between: it is written to shared memory; each thread has a tile of scores, over a part of the features;
// whoever has a score adds up its parts and masks it; rows are compared, and weights taken; each thread adds to its
// part of the results. Loops with barriers have the same trips for all threads, and what follows their number is chosen
// by selects or is a store alone.
//===----------------------------------------------------------------------===//
#include "AttentionProgram.h"
#include "AttentionResults.h"
#include "FactorStaging.h"
#include "KeyLimits.h"

#include "zyx/Codegen/Simt/Simt.h"
#include "zyx/Codegen/Tile/Lanes.h"

#include <limits>

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }

namespace {

class AttentionLowering : AttentionProgram {
public:
  AttentionLowering(FuncOp func, const Axes &axes, const zyx::target::TargetInfo &machine,
                    const SharedAttention &attention, const SharedAttentionShape &shape)
      : AttentionProgram(func, axes, machine, attention, shape), func(func), subgroupSize(machine.simt.subgroupSize),
        scoreLanes(machine.simt.laneBytes / 4), queries(FactorStaging::ofQueries(*this)),
        keys(*this, attention.k, attention.keys, shape.keys, numKeys, attention.features, shape.depth),
        values(*this, attention.v, attention.keys, shape.keys, numKeys, attention.columns, shape.width), results(*this),
        each(shape.keys / perRow), tiles(llvm::divideCeil(numRows, shape.rows)),
        beginsLast(tiles > 1 && shape.cluster == 1 &&
                   attention.numPrograms() * tiles <= placesWithLongest * machine.cores && seesMoreLater()) {}

  LogicalResult run();

private:
  /// Of so many programs for each multiprocessor those that run longest come first; of more, neighbours that read the
  /// same keys stay together.
  static constexpr int64_t placesWithLongest = 16;

  /// Whether later rows may see more keys, which then take longer.
  bool seesMoreLater() const {
    return llvm::any_of(findKeyLimits(attention, axes), [&](const KeyLimit &limit) {
      return limit.isEnd && llvm::any_of(attention.rows, [&](const SharedAttention::Part &part) {
               return axes.contains(limit.number, part.axis);
             });
    });
  }
  LogicalResult stageQueries();
  LogicalResult narrowKeys(Value &begin, Value &end);
  void scoreParts();
  LogicalResult weigh(Value firstKey, Values &carried);
  /// Whether what the vote found out is kept until scores are masked.
  bool keepsVotes() const { return !conditions.empty() && static_cast<int64_t>(conditions.size()) * each <= mostKept; }
  Value hasBit(Value bits, int64_t bit) {
    Value mask = arith::ConstantIntOp::create(b, loc, b.getI32Type(), int64_t(1) << bit);
    Value none = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, bits, mask), none);
  }
  FailureOr<Value> vote(Value firstKey);
  void addValues(Values &carried, unsigned first);
  FailureOr<Values> fetchBoth(Value firstKey);
  FailureOr<Values> fetchNext(Value firstKey);
  FailureOr<Values> block(Value firstKey, ValueRange carried);
  FailureOr<Values> blockIfSeen(Value firstKey, ValueRange carried);

  FuncOp func;
  const int64_t subgroupSize;
  /// Scores that a thread reads at once.
  const int64_t scoreLanes;
  FactorStaging queries, keys, values;
  AttentionResults results;
  /// Scores, of each slice of features; the weights of rows, which may be the second slice; the largest score of each
  /// thread that compares; and what rows shrink by.
  Value parts, weights, tops, shrinks;
  Values weightAt(Value row, Value key) {
    return shape.sharesWeights() ? Values{index(1), row, key} : Values{row, key};
  }
  /// Of so many pairs at most a thread keeps what it found out, one bit each of a number that f32 has exactly.
  static constexpr int64_t mostKept = 24;
  /// What may hide a whole block and is found out by evaluating it, and the last blocks of which a thread sees a key.
  SmallVector<KeyCondition> conditions;
  Value votes;
  /// Keys of a block that a thread compares.
  const int64_t each;
  /// Programs that read the same keys, and whether the last one of them comes first, of all that read others.
  const int64_t tiles;
  const bool beginsLast;
};

} // namespace

//===----------------------------------------------------------------------===//
// Queries, and which blocks of keys
//===----------------------------------------------------------------------===//

LogicalResult AttentionLowering::stageQueries() {
  queries.allocate(shape.depth, f32);
  FailureOr<Values> read = queries.fetch(firstRow);
  if (failed(read))
    return failure();
  queries.put(*read);
  return success();
}

/// Leaves out keys that no row of the program sees: in front, whole blocks.
LogicalResult AttentionLowering::narrowKeys(Value &begin, Value &end) {
  auto smaller = [&](Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); };
  auto larger = [&](Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); };
  LogicalResult evaluated = success();
  auto numberAt = [&](const KeyLimit &limit, Point point) -> Value {
    FailureOr<Value> number = evaluator.evaluate(limit.number, point);
    if (failed(number)) {
      evaluated = failure();
      return index(0);
    }
    Value place = arith::IndexCastOp::create(b, loc, b.getIndexType(), *number);
    if (limit.base) {
      // From what is negative nothing may be subtracted that it would wrap by.
      place = larger(place, index(-1));
      FailureOr<Value> base = evaluator.evaluate(limit.base, point);
      if (failed(base)) {
        evaluated = failure();
        return index(0);
      }
      place = b.createOrFold<arith::SubIOp>(loc, place, arith::IndexCastOp::create(b, loc, b.getIndexType(), *base));
    }
    place = smaller(larger(place, index(-1)), index(numKeys));
    return larger(smaller(add(place, limit.plus), index(numKeys)), index(0));
  };
  for (const KeyLimit &limit : findKeyLimits(attention, axes)) {
    const bool differs = llvm::any_of(attention.rows, [&](const SharedAttention::Part &part) {
      return axes.contains(limit.number, part.axis) || (limit.base && axes.contains(limit.base, part.axis));
    });
    Value all;
    if (!differs)
      all = numberAt(limit, program);
    else
      all = loop(index(0), index(shape.rows), index(1), limit.isEnd ? index(0) : index(numKeys),
                 [&](Value row, ValueRange before) -> Values {
                   Point point = program;
                   setRow(point, add(firstRow, row));
                   Value own = numberAt(limit, point);
                   return {limit.isEnd ? larger(before[0], own) : smaller(before[0], own)};
                 })[0];
    if (limit.isEnd)
      end = smaller(end, all);
    else
      begin = larger(begin, all);
  }
  begin = times(over(begin, shape.keys), shape.keys);
  return evaluated;
}

//===----------------------------------------------------------------------===//
// A block
//===----------------------------------------------------------------------===//

/// Scores of a thread: rows and keys that lie as far apart as there are threads along them, so that neighbours read
/// neighbouring keys, and the same rows.
void AttentionLowering::scoreParts() {
  const int64_t across = shape.keys / shape.ownKeys, down = shape.rows / shape.ownRows;
  Value key = rest(thread, across), row = rest(over(thread, across), down), slice = over(thread, across * down);
  const int64_t lanes = shape.keyLanes;
  Values sums(static_cast<size_t>(shape.ownRows * shape.ownKeys), number(0));
  sums = loop(times(slice, lanes), index(shape.depth), index(shape.slices * lanes), sums,
              [&](Value feature, ValueRange before) -> Values {
                Values q, k, next(before);
                for (int64_t r = 0; r < shape.ownRows; ++r)
                  q.push_back(read(queries.memory, {add(row, r * down), feature}, lanes));
                for (int64_t c = 0; c < shape.ownKeys; ++c)
                  k.push_back(widen(read(keys.memory, {add(key, c * across), feature}, lanes)));
                for (int64_t l = 0; l < lanes; ++l)
                  for (int64_t r = 0; r < shape.ownRows; ++r)
                    for (int64_t c = 0; c < shape.ownKeys; ++c) {
                      Value &sum = next[static_cast<size_t>(r * shape.ownKeys + c)];
                      sum = fma(lane(q[static_cast<size_t>(r)], l), lane(k[static_cast<size_t>(c)], l), sum);
                    }
                return next;
              });
  Value exists = across * down * shape.slices < shape.threads ? isBelow(slice, shape.slices) : Value();
  when(exists, [&] {
    for (int64_t r = 0; r < shape.ownRows; ++r)
      for (int64_t c = 0; c < shape.ownKeys; ++c)
        write(sums[static_cast<size_t>(r * shape.ownKeys + c)], parts,
              {slice, add(row, r * down), add(key, c * across)});
  });
}

/// Maxima, sums and weights of a block. Carried are the row's maximum and, for each sum, the thread's part of it.
LogicalResult AttentionLowering::weigh(Value firstKey, Values &carried) {
  const bool isPartial = numKeys % shape.keys != 0;
  Point row = program;
  setRow(row, add(firstRow, comparedRow));
  Value none = number(-std::numeric_limits<double>::infinity());
  struct Own {
    Value place, exists;
    Point point;
  };
  SmallVector<Own> all;
  // Sums of what is known before the loop would be kept in registers throughout it.
  Value firstOwn = add(firstKey, comparedPlace), own, kept;
  if (keepsVotes())
    kept = arith::FPToSIOp::create(b, loc, b.getI32Type(), read(tops, {comparedRow, comparedPlace}));
  for (int64_t i = 0; i < each; ++i) {
    Own one{add(comparedPlace, i * perRow), Value(), row};
    for (auto [c, condition] : llvm::enumerate(conditions))
      if (kept)
        one.point.memo[condition.tile] = hasBit(kept, static_cast<int64_t>(c) * each + i);
    Value key = add(firstOwn, i * perRow);
    if (isPartial) {
      one.exists = isBelow(key, numKeys);
      key = atMost(key, numKeys - 1);
    }
    one.point.positions[attention.keys] = key;
    Value score;
    for (int64_t slice = 0; slice < shape.slices; ++slice) {
      Value part = read(parts, {index(slice), comparedRow, one.place});
      score = score ? arith::AddFOp::create(b, loc, score, part).getResult() : part;
    }
    one.point.memo[attention.scores->getResult(0)] = score;
    FailureOr<Value> masked = evaluator.evaluate(attention.max.getInput(), one.point);
    if (failed(masked))
      return failure();
    Value seen = choose(one.exists, widen(*masked), none);
    own = own ? arith::MaximumFOp::create(b, loc, own, seen).getResult() : seen;
    all.push_back(std::move(one));
  }
  write(own, tops, {comparedRow, comparedPlace});
  meet();
  const int64_t lanes = std::min(scoreLanes, perRow);
  Value largest;
  for (int64_t at = 0; at < perRow; at += lanes) {
    Value some = read(tops, {comparedRow, index(at)}, lanes);
    largest = largest ? arith::MaximumFOp::create(b, loc, largest, some).getResult() : some;
  }
  if (lanes > 1)
    largest = combineLanes(b, loc, Combine::Max, largest);
  largest = arith::MaximumFOp::create(b, loc, carried[0], largest);
  Value base = emitSoftmaxBase(b, loc, largest);
  Value shrink = exponential(arith::SubFOp::create(b, loc, carried[0], base));
  carried[0] = largest;
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, comparedPlace, index(0));
  when(isFirst, [&] { write(shrink, shrinks, comparedRow); });
  for (size_t s = 0; s < attention.sums.size(); ++s)
    carried[1 + s] = arith::MulFOp::create(b, loc, carried[1 + s], shrink);
  Value known = narrow(base, elementOf(attention.max.getResult()));
  for (Own &one : all) {
    one.point.memo[attention.max.getResult()] = known;
    for (auto [s, sum] : llvm::enumerate(attention.sums)) {
      ReduceOp reduce = sum;
      FailureOr<Value> term = evaluator.evaluate(reduce.getInput(), one.point);
      if (failed(term))
        return failure();
      carried[1 + s] = arith::AddFOp::create(b, loc, carried[1 + s], choose(one.exists, *term, number(0)));
    }
    FailureOr<Value> weight = evaluator.evaluate(attention.weights, one.point);
    if (failed(weight))
      return failure();
    write(choose(one.exists, widen(*weight), number(0)), weights, weightAt(comparedRow, one.place));
  }
  return success();
}

/// Whether any row sees any key of a block: a thread looks at the pairs that it compares, and says so in memory that
/// all read. Of two places each block has the other one: who is late reads it before the next block but one begins.
/// What it found out is kept where its largest score will be: in registers, with what it was computed of, it would
/// push scores into local memory.
FailureOr<Value> AttentionLowering::vote(Value firstKey) {
  Point point = program;
  setRow(point, add(firstRow, comparedRow));
  Type i32 = b.getI32Type();
  Value firstOwn = add(firstKey, comparedPlace), any, kept;
  for (int64_t i = 0; i < each; ++i) {
    Value key = add(firstOwn, i * perRow), seen;
    if (numKeys % shape.keys != 0)
      key = atMost(key, numKeys - 1);
    point.positions[attention.keys] = key;
    point.memo.clear();
    for (auto [c, condition] : llvm::enumerate(conditions)) {
      FailureOr<Value> holds = evaluator.evaluate(condition.tile, point);
      if (failed(holds))
        return failure();
      Value own = *holds;
      if (keepsVotes()) {
        const int64_t bit = int64_t(1) << (static_cast<int64_t>(c) * each + i);
        Value here =
            choose(own, arith::ConstantIntOp::create(b, loc, i32, bit), arith::ConstantIntOp::create(b, loc, i32, 0));
        kept = kept ? arith::OrIOp::create(b, loc, kept, here).getResult() : here;
      }
      if (!condition.isSeen)
        own = arith::XOrIOp::create(b, loc, own, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
      seen = both(seen, own);
    }
    any = any ? arith::OrIOp::create(b, loc, any, seen).getResult() : seen;
  }
  if (kept)
    write(arith::SIToFPOp::create(b, loc, f32, kept), tops, {comparedRow, comparedPlace});
  Value place = rest(over(firstKey, shape.keys), 2), stamp = arith::IndexCastOp::create(b, loc, i32, firstKey);
  when(any, [&] { write(stamp, votes, place); });
  meet();
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, read(votes, place), stamp).getResult();
}

/// Adds a block's weighted values to the thread's parts of the results, which shrink first.
void AttentionLowering::addValues(Values &carried, unsigned first) {
  const int64_t columns = shape.outColumns(), items = shape.rows / shape.outRows * columns;
  const int64_t perSlice = shape.keys / shape.outSlices, lanes = shape.valueLanes,
                each = shape.outRows * shape.outVectors;
  const int64_t keysAtOnce = perSlice % 4 == 0 ? 4 : 1;
  Value slice = shape.outSlices > 1 ? atMost(over(thread, items), shape.outSlices - 1) : index(0);
  Value start = times(slice, perSlice);
  for (int64_t i = 0; i < shape.outItems; ++i) {
    Value item = shape.outSlices > 1 ? rest(thread, items) : atMost(add(thread, i * shape.threads), items - 1);
    Value row = times(over(item, columns), shape.outRows), column = times(rest(item, columns), lanes);
    const size_t at = first + static_cast<size_t>(i * each);
    // Whole subgroups without results rest meanwhile: others use the units.
    const int64_t busy = shape.outSlices > 1 ? items * shape.outSlices : items - i * shape.threads;
    scf::IfOp branch;
    if (busy + subgroupSize <= shape.threads) {
      const ValueRange before = ValueRange(carried).slice(at, static_cast<size_t>(each));
      branch = scf::IfOp::create(b, loc, before.getTypes(), isBelow(thread, busy), /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, loc, before);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    Values sums;
    for (int64_t r = 0; r < shape.outRows; ++r) {
      Value shrink = repeat(read(shrinks, add(row, r)), lanes);
      for (int64_t c = 0; c < shape.outVectors; ++c)
        sums.push_back(
            arith::MulFOp::create(b, loc, carried[at + static_cast<size_t>(r * shape.outVectors + c)], shrink));
    }
    sums = loop(start, add(start, perSlice), index(keysAtOnce), sums, [&](Value key, ValueRange before) -> Values {
      Values next(before), weight;
      for (int64_t r = 0; r < shape.outRows; ++r)
        weight.push_back(read(weights, weightAt(add(row, r), key), keysAtOnce));
      for (int64_t k = 0; k < keysAtOnce; ++k)
        for (int64_t c = 0; c < shape.outVectors; ++c) {
          Value own = widen(read(values.memory, {add(key, k), add(column, c * columns * lanes)}, lanes));
          for (int64_t r = 0; r < shape.outRows; ++r) {
            Value &sum = next[static_cast<size_t>(r * shape.outVectors + c)];
            sum = fma(repeat(lane(weight[static_cast<size_t>(r)], k), lanes), own, sum);
          }
        }
      return next;
    });
    if (branch) {
      scf::YieldOp::create(b, loc, sums);
      b.setInsertionPointAfter(branch);
      sums = Values(branch.getResults());
    }
    for (auto [place, sum] : llvm::enumerate(sums))
      carried[at + place] = sum;
  }
}

/// The thread's vectors of keys, and behind them those of values.
FailureOr<AttentionLowering::Values> AttentionLowering::fetchBoth(Value firstKey) {
  FailureOr<Values> k = keys.fetch(firstKey), v = failed(k) ? FailureOr<Values>(failure()) : values.fetch(firstKey);
  if (failed(v))
    return failure();
  k->append(v->begin(), v->end());
  return k;
}

/// The same of the next block. Behind the last one it is read once more: nobody looks at that.
FailureOr<AttentionLowering::Values> AttentionLowering::fetchNext(Value firstKey) {
  return fetchBoth(atMost(add(firstKey, shape.keys), (numKeys - 1) / shape.keys * shape.keys));
}

/// The loop carries the row's maximum, parts of sums, results, and what was read ahead.
FailureOr<AttentionLowering::Values> AttentionLowering::block(Value firstKey, ValueRange before) {
  const size_t numSums = attention.sums.size(), numResults = static_cast<size_t>(shape.numOutVectors());
  Values carried(before.take_front(1 + numSums + numResults)), next;
  const size_t numKeyVectors = static_cast<size_t>(llvm::divideCeil(keys.vectors(), shape.threads));
  Values here(before.drop_front(carried.size()));
  if (!shape.ahead) {
    FailureOr<Values> read = fetchBoth(firstKey);
    if (failed(read))
      return failure();
    here = *read;
  }
  keys.put(ValueRange(here).take_front(numKeyVectors));
  values.put(ValueRange(here).drop_front(numKeyVectors), numKeys % shape.keys != 0 ? firstKey : Value());
  meet();
  if (shape.ahead) {
    FailureOr<Values> read = fetchNext(firstKey);
    if (failed(read))
      return failure();
    next = *read;
  }
  scoreParts();
  meet();
  if (failed(weigh(firstKey, carried)))
    return failure();
  meet();
  addValues(carried, static_cast<unsigned>(1 + numSums));
  // The next block takes this one's place.
  meet();
  carried.append(next);
  return carried;
}

/// Leaves out a block of which no row sees a key, once all threads know.
FailureOr<AttentionLowering::Values> AttentionLowering::blockIfSeen(Value firstKey, ValueRange before) {
  if (conditions.empty())
    return block(firstKey, before);
  FailureOr<Value> seen = vote(firstKey);
  if (failed(seen))
    return failure();
  auto branch = scf::IfOp::create(b, loc, before.getTypes(), *seen, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  FailureOr<Values> next = block(firstKey, before);
  if (failed(next))
    return failure();
  scf::YieldOp::create(b, loc, *next);
  b.setInsertionPointToStart(branch.elseBlock());
  Values kept(before);
  if (shape.ahead) {
    FailureOr<Values> read = fetchNext(firstKey);
    if (failed(read))
      return failure();
    llvm::copy(*read, kept.end() - read->size());
  }
  scf::YieldOp::create(b, loc, kept);
  return Values(branch.getResults());
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult AttentionLowering::run() {
  auto lowered = cast<FuncOp>(b.cloneWithoutRegions(*func.getOperation()));
  lowered.removeScheduleAttr();
  lowered.setForm(Form::Lowered);
  // Two workgroups of a multiprocessor work in turns: one computes while the other waits.
  lowered.setMinResidentThreads(2 * shape.threads);
  Block &entry = lowered.getBody().emplaceBlock();
  for (BlockArgument argument : func.getBody().getArguments())
    evaluator.mapping.map(argument, entry.addArgument(argument.getType(), argument.getLoc()));
  b.setInsertionPointToEnd(&entry);
  // Views, and what stands beside tiles.
  for (Operation &op : func.getBody().front().without_terminator())
    if (llvm::none_of(op.getResults(), [](Value result) { return isTile(result); }) && !isa<StoreOp>(op))
      b.clone(op, evaluator.mapping);
  SmallVector<OpFoldResult> extents;
  SmallVector<int64_t> steps;
  for (const SharedAttention::Part &part : attention.batches) {
    extents.push_back(b.getIndexAttr(part.extent));
    steps.push_back(1);
  }
  extents.insert(beginsLast ? extents.begin() : extents.end(), b.getIndexAttr(tiles));
  steps.push_back(1);
  auto grid = GridOp::create(b, loc, extents, steps);
  OpBuilder::InsertPoint behind = b.saveInsertionPoint();
  b.setInsertionPointToStart(&grid.getBody().front());
  ValueRange indices = grid.getIndices();
  for (auto [part, at] : llvm::zip(attention.batches, beginsLast ? indices.drop_front() : indices.drop_back()))
    program.positions[part.axis] = times(at, axes.extent(part.axis) / part.extent);
  Value tile = beginsLast ? b.createOrFold<arith::SubIOp>(loc, index(tiles - 1), indices.front()) : indices.back();
  firstRow = times(tile, shape.rows);
  thread = IdOp::create(b, loc, b.getIndexType(), IdKind::Thread);

  auto shared = [&](Value factor) {
    Type type = elementOf(factor);
    return type.isF32() || type.isBF16() || type.isF16() ? type : f32;
  };
  keys.allocate(shape.keyStride, shared(attention.k));
  values.allocate(shape.valueStride, shared(attention.v));
  // Rows four numbers further apart lie in other banks.
  parts = share({shape.slices, shape.rows, shape.keys + 4}, f32);
  weights = shape.sharesWeights() ? parts : share({shape.rows, shape.keys + 4}, f32);
  tops = share({shape.rows, perRow}, f32);
  shrinks = share({shape.rows}, f32);
  results.allocate();
  Value begin = index(0), end = index(numKeys);
  if (failed(narrowKeys(begin, end)))
    return lowered.erase(), failure();
  if (shape.cluster > 1) {
    results.allocateForCluster();
    // What all see falls into parts of whole blocks.
    Value seen = b.createOrFold<arith::SubIOp>(loc, b.createOrFold<arith::MaxSIOp>(loc, end, begin), begin);
    Value own = times(over(add(seen, shape.keys * shape.cluster - 1), shape.keys * shape.cluster), shape.keys);
    begin = add(begin, b.createOrFold<arith::MulIOp>(loc, results.rank, own));
    end = b.createOrFold<arith::MinSIOp>(loc, add(begin, own), end);
  }
  comparedRow = over(thread, perRow);
  comparedPlace = rest(thread, perRow);
  if (failed(stageQueries()))
    return lowered.erase(), failure();

  // Few rows take no longer for a block than for finding out.
  constexpr int64_t fewestVoters = 16;
  if (shape.rows >= fewestVoters)
    conditions = findKeyConditions(attention, axes);
  if (!conditions.empty()) {
    // No block begins there.
    Type i32 = b.getI32Type();
    votes = share({2}, i32);
    Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1));
    when(isBelow(thread, 2), [&] { write(none, votes, thread); });
    meet();
  }

  Values carried{number(-std::numeric_limits<double>::infinity())};
  carried.append(attention.sums.size(), number(0));
  carried.append(static_cast<size_t>(shape.numOutVectors()), zeros(vectorOf(f32, shape.valueLanes)));
  if (shape.ahead) {
    FailureOr<Values> read = fetchBoth(begin);
    if (failed(read))
      return lowered.erase(), failure();
    carried.append(*read);
  }
  LogicalResult emitted = success();
  carried = loop(begin, end, index(shape.keys), carried, [&](Value firstKey, ValueRange before) -> Values {
    FailureOr<Values> next = blockIfSeen(firstKey, before);
    if (succeeded(next))
      return *next;
    emitted = failure();
    return Values(before);
  });
  if (failed(emitted) || failed(results.finish(carried)))
    return lowered.erase(), failure();
  b.restoreInsertionPoint(behind);
  b.setInsertionPointToEnd(&entry);
  ReturnOp::create(b, loc);
  func.erase();
  return success();
}

LogicalResult zyx::kernel::lowerSharedAttention(FuncOp func, const Axes &axes, const zyx::target::TargetInfo &machine) {
  std::optional<SharedStep> step = sharedStepOf(func, axes);
  std::optional<SharedAttention> attention = matchSharedAttention(func, axes);
  assert(step && attention && "who lowers asks sharedStepOf first");
  if (machine.simt.laneBytes == 0)
    return func.emitOpError("is an attention that threads share, which target '") << machine.name << "' does not run";
  auto shape = SharedAttentionShape::of(*attention, axes, machine, step->rows, step->keys,
                                        static_cast<int64_t>(func.getThreads().value_or(1)),
                                        static_cast<int64_t>(func.getCluster().value_or(1)));
  if (!shape)
    return func.emitOpError("has too few threads for its rows and keys");
  return AttentionLowering(func, axes, machine, *attention, *shape).run();
}
