//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sorts of which only the first elements are read: one pass over a row, which keeps few candidates.
//===----------------------------------------------------------------------===//
#include "OrderPrograms.h"
#include "SortKeys.h"

#include "zyx/Dialect/Graph/Analysis/FirstElements.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// How many of its first elements a sort has to give.
static int64_t countFirst(SortOp sort) {
  const int64_t extent = cast<RankedTensorType>(sort.getType()).getShape()[sort.getDim()];
  auto first = sort->getAttrOfType<IntegerAttr>(firstElementsAttrName);
  return first ? std::min(first.getInt(), extent) : extent;
}

int64_t ProgramOrder::keyLanes(SortOp sort) const {
  return std::max<int64_t>(8 * vectorBytes / SortKeys::countBits(sort), 1);
}

/// At least half of them are new whenever they are ranked, each with all others, but many at once: no order of the
/// elements takes longer than a sort of them all.
int64_t ProgramOrder::countCandidates(SortOp sort) const {
  constexpr int64_t fewest = 32, mostPerLane = 256;
  const int64_t first = countFirst(sort), extent = cast<RankedTensorType>(sort.getType()).getShape()[sort.getDim()];
  if (isLockstep || extent > std::numeric_limits<int32_t>::max())
    return 0;
  const auto candidates = std::max(2 * static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(first))), fewest);
  return candidates <= mostPerLane * keyLanes(sort) && 2 * candidates <= extent ? candidates : 0;
}

/// A program looks for the first elements of one row. Those that come before the last one of the first that it has are
/// candidates; when there is no room for more, candidates are ranked and the first ones kept. Elements are looked at in
/// their order, so that of equal ones the earlier ones stand first, as in a stable sort.
void ProgramOrder::emitFirst(SortOp sort, int64_t candidates) {
  const int64_t first = countFirst(sort);
  Rows rows(getShape(sort.getX()), sort.getDim());
  // The last of the three dimensions is the row itself where it can be.
  const bool isRow = rows.inner == 1;
  Operand x = getOperand(sort.getX(), isRow ? SmallVector<int64_t>{rows.outer, 1, rows.extent} : rows.shape());
  Values at = openGrid({rows.outer, rows.inner}, {1, 1});
  if (first == 0)
    return;
  auto place = [&](Value j) -> Values { return isRow ? Values{at[0], index(0), j} : Values{at[0], j, at[1]}; };
  auto elementAt = [&](Value j) { return load(x, place(j)); };
  SortKeys keys(builder, loc, sort);
  const int64_t width = keyLanes(sort);
  auto vectorOf = [&](Type type) -> Type { return width == 1 ? type : VectorType::get(width, type); };
  auto spread = [&](Value value) -> Value {
    return width == 1 ? value : vector::BroadcastOp::create(builder, loc, vectorOf(value.getType()), value).getResult();
  };
  auto allocate = [&](int64_t count, Type element) -> Value {
    return kernel::AllocOp::create(builder, loc, kernel::ViewType::get({count}, element, kernel::Space::Private));
  };
  Type i32 = builder.getI32Type();
  const int64_t kept = llvm::alignTo(first, width);
  // Behind the last candidate the rest of a vector of keys that come before none.
  Value candidateKeys = allocate(candidates + width, keys.type), candidatePlaces = allocate(candidates, i32);
  Value ranks = allocate(candidates + width, keys.type), keptKeys = allocate(kept, keys.type),
        keptPlaces = allocate(kept, i32);
  Value zero = index(0), one = index(1), step = index(width);
  Value room = index(candidates), wanted = index(first), n = index(rows.extent);
  auto keep = [&](Value slot, Value j, Value element) {
    store(keys.of(element), candidateKeys, slot);
    store(arith::IndexCastOp::create(builder, loc, i32, j), candidatePlaces, slot);
  };
  auto isLessKey = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  };
  auto count = [&](Value sum, Value holds) -> Value {
    return arith::AddIOp::create(builder, loc, sum, arith::ExtUIOp::create(builder, loc, sum.getType(), holds));
  };

  // Has the first of `number` candidates in front, in their order. A rank is how many candidates stand before one:
  // those that come before it, and of equal ones those that were there before.
  auto settle = [&](Value number) {
    store(spread(keys.number(keys.getLast())), candidateKeys, number);
    Value none = spread(keys.number(APInt::getZero(keys.type.getWidth())));
    loop(zero, number, step, [&](Value i) {
      Value own = loadAt(candidateKeys, i, width), end = smaller(add(i, step), number);
      auto other = [&](Value j) { return spread(loadAt(candidateKeys, j)); };
      Values rank = loop(zero, i, one, ValueRange(none), [&](Value j, ValueRange sums) -> Values {
        Value comesAfter = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, other(j), own);
        return {count(sums[0], comesAfter)};
      });
      rank = loop(end, number, one, rank,
                  [&](Value j, ValueRange sums) -> Values { return {count(sums[0], isLessKey(other(j), own))}; });
      rank = loop(i, end, one, rank, [&](Value j, ValueRange sums) -> Values {
        Value theirs = other(j), equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, theirs, own);
        Value isEarlier;
        if (width == 1) {
          isEarlier = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, j, i);
        } else {
          SmallVector<APInt> numbers;
          for (int64_t lane = 0; lane < width; ++lane)
            numbers.emplace_back(keys.type.getWidth(), lane);
          Value lane = arith::ConstantOp::create(
              builder, loc, DenseElementsAttr::get(cast<VectorType>(vectorOf(keys.type)), numbers));
          Value distance = arith::IndexCastOp::create(builder, loc, keys.type, subtract(j, i));
          isEarlier = isLessKey(spread(distance), lane);
        }
        Value stands = arith::OrIOp::create(builder, loc, isLessKey(theirs, own),
                                            arith::AndIOp::create(builder, loc, equal, isEarlier));
        return {count(sums[0], stands)};
      });
      store(rank[0], ranks, i);
    });
    loop(zero, number, one, [&](Value i) {
      Value rank = toIndex(loadAt(ranks, i));
      when(isLess(rank, wanted), [&] {
        store(loadAt(candidateKeys, i), keptKeys, rank);
        store(loadAt(candidatePlaces, i), keptPlaces, rank);
      });
    });
    loop(zero, wanted, one, [&](Value i) {
      store(loadAt(keptKeys, i), candidateKeys, i);
      store(loadAt(keptPlaces, i), candidatePlaces, i);
    });
  };
  auto lastKept = [&] { return elementAt(toIndex(loadAt(candidatePlaces, index(first - 1)))); };
  auto mayCome = [&](Value element, Value limit) {
    return isBefore(element, limit, sortsUnsigned(sort), sort.getDescending());
  };
  loop(zero, room, one, [&](Value j) { keep(j, j, elementAt(j)); });
  settle(room);

  auto lookAt = [&](Value j, ValueRange carried) -> Values {
    Value element = elementAt(j), comes = mayCome(element, carried[1]);
    auto taken = scf::IfOp::create(builder, loc, TypeRange{zero.getType(), carried[1].getType()}, comes,
                                   /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(taken.elseBlock());
    scf::YieldOp::create(builder, loc, carried);
    builder.setInsertionPointToStart(taken.thenBlock());
    keep(carried[0], j, element);
    Value number = add(carried[0], one);
    Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, room);
    auto settled = scf::IfOp::create(builder, loc, taken.getResultTypes(), isFull, /*withElseRegion=*/true);
    scf::YieldOp::create(builder, loc, settled.getResults());
    builder.setInsertionPointToStart(settled.elseBlock());
    scf::YieldOp::create(builder, loc, ValueRange{number, carried[1]});
    builder.setInsertionPointToStart(settled.thenBlock());
    settle(room);
    scf::YieldOp::create(builder, loc, ValueRange{wanted, lastKept()});
    return Values(taken.getResults());
  };
  Values carried = {wanted, lastKept()};
  Value begin = room;
  // Vectors of which no element comes before the last candidate, nearly all of them, are done with.
  if (const int64_t most = isRow ? lanesAlongRow(x, getElement(sort.getX())) : 1; most > 1) {
    this->lanes = most;
    auto type = VectorType::get(most, getElement(sort.getX()));
    Value whole = index(candidates + (rows.extent - candidates) / most * most);
    carried = loop(room, whole, index(most), carried, [&](Value j, ValueRange values) -> Values {
      Value limit = vector::BroadcastOp::create(builder, loc, type, values[1]);
      Value come = mayCome(load(x, place(j), most), limit);
      Value some = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, come);
      auto looked = scf::IfOp::create(builder, loc, values.getTypes(), some, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(looked.elseBlock());
      scf::YieldOp::create(builder, loc, values);
      builder.setInsertionPointToStart(looked.thenBlock());
      scf::YieldOp::create(builder, loc, loop(j, add(j, index(most)), one, values, lookAt));
      return Values(looked.getResults());
    });
    begin = whole;
  }
  carried = loop(begin, n, one, carried, lookAt);
  settle(carried[0]);
  loop(zero, wanted, one, [&](Value j) {
    Value chosen = toIndex(loadAt(candidatePlaces, j));
    store(give(sort, elementAt(chosen), chosen), out, linear(rows, at[0], j, at[1]));
  });
}

bool ProgramOrder::isShort(SortOp sort) const {
  constexpr int64_t mostElements = 32;
  const int64_t extent = cast<RankedTensorType>(sort.getType()).getShape()[sort.getDim()];
  return isLockstep && extent > 0 && extent <= mostElements && SortKeys::countBits(sort) == 32;
}

/// Threads have a row each. Keys with their places behind them are numbers of which no two are the same: of few first
/// ones each is the least of those behind the one before; of more, an element goes behind as many as are less.
void ProgramOrder::emitShort(SortOp sort) {
  const int64_t first = countFirst(sort);
  Rows rows(getShape(sort.getX()), sort.getDim());
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGrid({rows.outer, rows.inner}, {1, 1});
  SortKeys keys(builder, loc, sort);
  Type i64 = builder.getI64Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  Values elements, words;
  for (int64_t j = 0; j < rows.extent; ++j) {
    elements.push_back(load(x, {at[0], index(j), at[1]}));
    Value key = arith::ExtSIOp::create(builder, loc, i64, keys.of(elements.back()));
    words.push_back(
        arith::OrIOp::create(builder, loc, arith::ShLIOp::create(builder, loc, key, number(32)), number(j)));
  }
  auto less = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  };
  constexpr int64_t few = 8;
  if (first <= few && 2 * first <= rows.extent) {
    Value last = number(std::numeric_limits<int64_t>::max()), before;
    for (int64_t j = 0; j < first; ++j) {
      Value least = last;
      for (Value word : words) {
        Value open = before ? choose(less(before, word), word, last) : word;
        least = arith::MinSIOp::create(builder, loc, least, open);
      }
      before = least;
      Value place = toIndex(arith::AndIOp::create(builder, loc, least, number(std::numeric_limits<uint32_t>::max())));
      store(give(sort, load(x, {at[0], place, at[1]}), place), out, linear(rows, at[0], index(j), at[1]));
    }
    return;
  }
  for (int64_t j = 0; j < rows.extent; ++j) {
    Value rank = index(0);
    for (int64_t i = 0; i < rows.extent; ++i)
      if (i != j)
        rank = add(rank, choose(less(words[i], words[j]), index(1), index(0)));
    store(give(sort, elements[j], index(j)), out, linear(rows, at[0], rank, at[1]));
  }
}

} // namespace zyx::lowering
