//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scans, sorts and scatters whose rows are walked by a program each.
//===----------------------------------------------------------------------===//
#include "OrderBins.h"
#include "OrderPrograms.h"
#include "WorkgroupOrder.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/Updates.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// Columns of a scatter that one program takes: enough to read each index once for many elements.
static constexpr int64_t scatterColumns = 64;
/// From so many rows for each update on, a scatter is a copy above all.
static constexpr int64_t rowsOfUpdate = 4;

Operation *findOrderOp(GroupOp group) {
  for (Operation &op : group.getBlock().without_terminator())
    if (isa<ScanOp, SortOp, ScatterOp>(op))
      return &op;
  return nullptr;
}

/// The argument of its group that a value shows from its first to its last byte.
static BlockArgument getShown(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return dyn_cast<BlockArgument>(value);
}

OpOperand *findUpdated(GroupOp group) {
  auto scatter = dyn_cast_or_null<ScatterOp>(findOrderOp(group));
  if (!scatter || group->hasAttr(elementsAttrName))
    return nullptr;
  BlockArgument argument = getShown(scatter.getX());
  // Reshapes that nobody else reads lead from the argument to the scatter.
  for (Value value = argument; value != scatter.getX(); value = value.getUsers().begin()->getResult(0))
    if (!value || !value.hasOneUse())
      return nullptr;
  if (!argument || !scatter.getX().hasOneUse())
    return nullptr;
  OpOperand &operand = group->getOpOperand(argument.getArgNumber());
  return llvm::count(group.getInputs(), operand.get()) == 1 ? &operand : nullptr;
}

OpOperand *findUpdated(OpResult result) {
  auto group = cast<GroupOp>(result.getOwner());
  if (!group->hasAttr(elementsAttrName))
    return findUpdated(group);
  auto scatter = group.getBlock().getTerminator()->getOperand(result.getResultNumber()).getDefiningOp<ScatterOp>();
  return scatter ? &group->getOpOperand(cast<BlockArgument>(scatter.getX()).getArgNumber()) : nullptr;
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

int64_t ProgramOrder::lanesAlongRow(const Operand &operand, Type widest) const {
  const int64_t most = vectorBytes / std::max<int64_t>(widest.getIntOrFloatBitWidth() / 8, 1);
  if (most < 2 || widest.isInteger(1))
    return 1;
  const bool isDense = operand.splat || (operand.map.isSingleBlock() &&
                                         kernel::BlockAttr::constant(operand.map.front().getStrides().back()) == 1);
  return isDense ? most : 1;
}

/// Rows that are neighbours: a program walks a strip of them, element after element of all, and carries what each has
/// in memory of its own. What it reads at a time are long pieces, so that a processor fetches ahead.
void ProgramOrder::emitColumns(ScanOp scan, const Rows &rows, const Operand &x, int64_t lanes) {
  ScanTypes types(scan);
  this->lanes = lanes;
  // A page of f32, and less where there would be few programs.
  constexpr int64_t mostColumns = 1024, fewestColumns = 64, enoughPrograms = 4;
  int64_t columns = mostColumns;
  while (columns > fewestColumns && rows.outer * llvm::divideCeil(rows.inner, columns) < enoughPrograms)
    columns /= 2;
  columns = std::min<int64_t>(llvm::alignTo(columns, lanes), llvm::alignTo(rows.inner, lanes));
  // A piece of a row is over before a processor has found out where the next one begins.
  constexpr int64_t ahead = 4;
  const bool jumps = columns < rows.inner;
  Values at = openGrid({rows.outer, rows.inner}, {1, columns});
  Value carried =
      kernel::AllocOp::create(builder, loc, kernel::ViewType::get({columns}, types.carried, kernel::Space::Private));
  TypedAttr identity = getIdentity(types.kind, types.carried, scan.getExclusive());
  Value first = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(VectorType::get(lanes, types.carried), Attribute(identity)));
  // Strips are whole vectors, but for the last one.
  const int64_t rest = rows.inner % lanes;
  Value step = index(lanes), end = smaller(subtract(index(rows.inner), at[1]), index(columns));
  Value whole = rest != 0 ? subtract(end, builder.createOrFold<arith::RemUIOp>(loc, end, step)) : end;
  loop(index(0), end, step, [&](Value i) { store(first, carried, i); });
  loop(index(0), index(rows.extent), index(1), [&](Value j) {
    Value position = scan.getReverse() ? subtract(index(rows.extent - 1), j) : j;
    auto advance = [&](Value i, Value mask) {
      Value column = add(at[1], i), before = loadAt(carried, i, lanes);
      Value element = types.widen(builder, loc, load(x, {at[0], position, column}, lanes, mask));
      Value next = combine(types.kind, before, element);
      store(next, carried, i);
      if (jumps) {
        Value later = scan.getReverse() ? subtract(position, index(ahead)) : add(position, index(ahead));
        fetch(x, {at[0], later, column});
        kernel::PrefetchOp::create(builder, loc, out, linear(rows, at[0], later, column));
      }
      store(types.round(builder, loc, scan.getExclusive() ? before : next), out, linear(rows, at[0], position, column),
            mask);
    };
    loop(index(0), whole, step, [&](Value i) { advance(i, Value()); });
    if (rest != 0)
      when(isLess(whole, end), [&] {
        advance(whole, vector::ConstantMaskOp::create(builder, loc, VectorType::get(lanes, builder.getI1Type()),
                                                      ArrayRef<int64_t>(rest)));
      });
  });
}

/// A program walks one row, a vector at a time, and carries what it has combined. Within a vector each lane combines
/// what is 1, 2, 4 and more lanes before it: only what is carried makes one vector wait for the one before.
void ProgramOrder::emitRow(ScanOp scan, const Rows &rows, const Operand &x, int64_t lanes) {
  ScanTypes types(scan);
  this->lanes = lanes;
  auto type = VectorType::get(lanes, types.carried);
  Values at = openGrid({rows.outer, 1}, {1, 1});
  auto constant = [&](Type of, bool exclusive) -> Value {
    TypedAttr identity = getIdentity(types.kind, types.carried, exclusive);
    return arith::ConstantOp::create(
        builder, loc, isa<VectorType>(of) ? TypedAttr(DenseElementsAttr::get(type, Attribute(identity))) : identity);
  };
  // What is combined with it stays what it is, which of a sum +0 does not do.
  Value neutral = constant(type, /*exclusive=*/false);
  auto moved = [&](Value vector, Value in, int64_t by) -> Value {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(lane < by ? lanes + lanes - by + lane : lane - by);
    return vector::ShuffleOp::create(builder, loc, vector, in, order);
  };
  SmallVector<int64_t> backwards;
  for (int64_t lane = lanes; lane-- > 0;)
    backwards.push_back(lane);
  auto turn = [&](Value vector) -> Value {
    return scan.getReverse() ? vector::ShuffleOp::create(builder, loc, vector, vector, backwards).getResult() : vector;
  };
  const int64_t whole = rows.extent - rows.extent % lanes;
  Values carried = loop(index(0), index(whole), index(lanes), ValueRange(constant(types.carried, scan.getExclusive())),
                        [&](Value j, ValueRange values) -> Values {
                          Value position = scan.getReverse() ? subtract(index(rows.extent - lanes), j) : j;
                          Value vector = turn(types.widen(builder, loc, load(x, {at[0], index(0), position}, lanes)));
                          for (int64_t by = 1; by < lanes; by *= 2)
                            vector = combine(types.kind, moved(vector, neutral, by), vector);
                          Value before = vector::BroadcastOp::create(builder, loc, type, values[0]);
                          Value sums = combine(types.kind, before, vector);
                          Value given = scan.getExclusive() ? moved(sums, before, 1) : sums;
                          store(types.round(builder, loc, turn(given)), out, linear(rows, at[0], position, index(0)));
                          return {vector::ExtractOp::create(builder, loc, sums, lanes - 1)};
                        });
  loop(index(whole), index(rows.extent), index(1), carried, [&](Value j, ValueRange values) -> Values {
    Value position = scan.getReverse() ? subtract(index(rows.extent - 1), j) : j;
    Value next = combine(types.kind, values[0], types.widen(builder, loc, load(x, {at[0], index(0), position})));
    store(types.round(builder, loc, scan.getExclusive() ? values[0] : next), out,
          linear(rows, at[0], position, index(0)));
    return {next};
  });
}

/// A program walks one row and carries what it has combined.
void ProgramOrder::emitScan(ScanOp scan) {
  Rows rows(getShape(scan.getX()), scan.getDim());
  if (rows.inner == 1) {
    Operand row = getOperand(scan.getX(), {rows.outer, 1, rows.extent});
    if (const int64_t most = lanesAlongRow(row, ScanTypes(scan).carried); rows.extent >= 2 * most && most > 1)
      return emitRow(scan, rows, row, most);
  }
  Operand x = getOperand(scan.getX(), rows.shape());
  ScanTypes types(scan);
  if (const int64_t most = lanesAlongRow(x, types.carried); rows.inner >= most && most > 1)
    return emitColumns(scan, rows, x, most);
  Values at = openGrid({rows.outer, rows.inner}, {1, 1});
  Value first = arith::ConstantOp::create(builder, loc, getIdentity(types.kind, types.carried, scan.getExclusive()));
  loop(index(0), index(rows.extent), index(1), first, [&](Value j, ValueRange values) -> Values {
    Value position = scan.getReverse() ? subtract(index(rows.extent - 1), j) : j;
    Value element = types.widen(builder, loc, load(x, {at[0], position, at[1]}));
    Value next = combine(types.kind, values[0], element);
    Value given = types.round(builder, loc, scan.getExclusive() ? values[0] : next);
    store(given, out, linear(rows, at[0], position, at[1]));
    return {next};
  });
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

/// Indices, twice, or what digits want; candidates have memory of the program's own.
SmallVector<TensorType> ProgramOrder::getScratch() {
  auto sort = dyn_cast<SortOp>(op);
  if (!sort)
    return {};
  auto type = cast<RankedTensorType>(sort.getType());
  if (countCandidates(sort) != 0 || isShort(sort))
    return {};
  if (sortsDigits(sort))
    return getDigitScratch(sort);
  const bool isLong = type.getShape()[sort.getDim()] > std::numeric_limits<int32_t>::max();
  return {{isLong ? DType::I64 : DType::I32, {2 * type.getNumElements()}}};
}

Value ProgramOrder::give(SortOp sort, Value element, Value place) {
  return sort.getKind() == SortKind::Values ? element
                                            : arith::IndexCastOp::create(builder, loc, builder.getI64Type(), place);
}

/// A program sorts one row: it merges runs of indices, each twice as long as those before it, from
/// one half of its scratch memory to the other.
void ProgramOrder::emitSort(SortOp sort) {
  if (const int64_t candidates = countCandidates(sort))
    return emitFirst(sort, candidates);
  if (isShort(sort))
    return emitShort(sort);
  if (sortsDigits(sort))
    return emitDigitSort(sort);
  Rows rows(getShape(sort.getX()), sort.getDim());
  Operand x = getOperand(sort.getX(), rows.shape());
  Value scratch = this->scratch.front();
  Type number = cast<kernel::ViewType>(scratch.getType()).getElementType();
  Values at = openGrid({rows.outer, rows.inner}, {1, 1});
  Value zero = index(0), one = index(1), n = index(rows.extent), last = index(rows.extent - 1);
  Value base = multiply(add(multiply(at[0], rows.inner), at[1]), 2 * rows.extent);
  auto toNumber = [&](Value i) { return arith::IndexCastOp::create(builder, loc, number, i); };
  auto elementAt = [&](Value j) { return load(x, {at[0], j, at[1]}); };

  loop(zero, n, one, [&](Value j) { store(toNumber(j), scratch, add(base, j)); });
  int64_t numPasses = llvm::Log2_64_Ceil(rows.extent);
  auto mergePass = [&](Value, ValueRange values) -> Values {
    Value width = values[0], from = values[1], to = subtract(n, from);
    Value source = add(base, from), target = add(base, to), pair = multiply(width, 2);
    loop(zero, n, pair, [&](Value start) {
      Value middle = smaller(add(start, width), n), end = smaller(add(start, pair), n);
      auto mergeOne = [&](Value k, ValueRange heads) -> Values {
        Value hasLeft = isLess(heads[0], middle), hasRight = isLess(heads[1], end);
        Value left = loadAt(scratch, add(source, smaller(heads[0], last)));
        Value right = loadAt(scratch, add(source, smaller(heads[1], last)));
        Value overtakes =
            isBefore(elementAt(toIndex(right)), elementAt(toIndex(left)), sortsUnsigned(sort), sort.getDescending());
        Value takesRight = arith::AndIOp::create(builder, loc, hasRight, overtakes);
        Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
        Value takesLeft =
            arith::AndIOp::create(builder, loc, hasLeft, arith::XOrIOp::create(builder, loc, takesRight, yes));
        store(arith::SelectOp::create(builder, loc, takesLeft, left, right), scratch, add(target, k));
        Value leftStep = arith::SelectOp::create(builder, loc, takesLeft, one, zero);
        return {add(heads[0], leftStep), add(heads[1], subtract(one, leftStep))};
      };
      loop(start, end, one, {start, middle}, mergeOne);
    });
    return {pair, to};
  };
  loop(zero, index(numPasses), one, {one, zero}, mergePass);
  Value source = add(base, index(numPasses % 2 * rows.extent));
  loop(zero, n, one, [&](Value j) {
    Value chosen = toIndex(loadAt(scratch, add(source, j)));
    store(give(sort, elementAt(chosen), chosen), out, linear(rows, at[0], j, at[1]));
  });
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// Elements from `begin` to `end`, so many at a time; `body` takes the first of them and their number.
template <typename Body> void ProgramOrder::alongRow(int64_t width, Value begin, Value end, Body body) {
  if (width > 1) {
    Value step = index(width), count = subtract(end, begin);
    Value whole = subtract(end, builder.createOrFold<arith::RemUIOp>(loc, count, step));
    loop(begin, whole, step, [&](Value i) { body(i, width); });
    begin = whole;
  }
  loop(begin, end, index(1), [&](Value i) { body(i, 1); });
}

int64_t ProgramOrder::lanesOfUpdates(const Rows &rows, const Operand &updates) const {
  const int64_t most = isLockstep ? 1 : lanesAlongRow(updates, getElement(op->getResult(0)));
  return rows.inner < most ? 1 : most;
}

/// A program copies some columns of one outer row, unless they are there, and applies all updates to them in their
/// order.
void ProgramOrder::emitScatter(ScatterOp scatter) {
  Rows rows(getShape(scatter.getX()), scatter.getDim());
  ArrayRef<int64_t> indexShape = getShape(scatter.getIndices());
  Rows updateRows(getShape(scatter.getUpdates()), scatter.getDim(), indexShape.size());
  Operand indices = getOperand(scatter.getIndices(), {updateRows.extent});
  Operand updates = getOperand(scatter.getUpdates(), updateRows.shape());
  lanes = lanesOfUpdates(rows, updates);
  // Few updates: neighbouring threads write neighbouring elements.
  const int64_t columns = isUpdate && isLockstep ? 1 : scatterColumns;
  // Updates that do not meet are programs.
  if (isUpdate && rows.outer == 1 && scatter->hasAttr(apartAttrName)) {
    Values at = openGrid({updateRows.extent, rows.inner}, {1, std::min(rows.inner, columns)});
    Value end = smaller(add(at[1], index(columns)), index(rows.inner));
    Value chosen = getPlace(scatter, load(indices, {at[0]}));
    Value limit = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(rows.extent));
    return when(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, chosen, limit), [&] {
      alongRow(lanes, at[1], end, [&](Value i, int64_t width) {
        update(scatter, load(updates, {index(0), at[0], i}, width), linear(rows, index(0), toIndex(chosen), i), width);
      });
    });
  }
  if (!isUpdate && !isLockstep && updateRows.extent <= rows.extent / rowsOfUpdate)
    return emitFilled(scatter, rows, updateRows);
  Values at = openGrid({rows.outer, rows.inner}, {1, std::min(rows.inner, columns)});
  Value one = index(1), end = smaller(add(at[1], index(columns)), index(rows.inner));
  if (!isUpdate) {
    Operand x = getOperand(scatter.getX(), rows.shape());
    const int64_t copied = lanesOfUpdates(rows, x);
    loop(index(0), index(rows.extent), one, [&](Value j) {
      alongRow(copied, at[1], end,
               [&](Value i, int64_t width) { store(load(x, {at[0], j, i}, width), out, linear(rows, at[0], j, i)); });
    });
  }
  loop(index(0), index(updateRows.extent), one, [&](Value u) {
    Value chosen = getPlace(scatter, load(indices, {u}));
    Value limit = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(rows.extent));
    Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, chosen, limit);
    when(isInside, [&] {
      Value j = toIndex(chosen);
      alongRow(lanes, at[1], end, [&](Value i, int64_t width) {
        update(scatter, load(updates, {at[0], u, i}, width), linear(rows, at[0], j, i), width);
      });
    });
  });
}

/// What has few updates takes the time of the copy: a program has whole rows, which are one piece of memory, and
/// applies the updates that name one of them.
void ProgramOrder::emitFilled(ScatterOp scatter, const Rows &rows, const Rows &updateRows) {
  // Each program reads all indices, beside which its copy is long.
  constexpr int64_t fewestElements = 16384, elementsOfIndex = 16;
  const int64_t elements = std::max(fewestElements, elementsOfIndex * updateRows.extent);
  const int64_t part = std::min<int64_t>(rows.extent, llvm::divideCeil(elements, rows.inner));
  Operand indices = getOperand(scatter.getIndices(), {updateRows.extent});
  Operand updates = getOperand(scatter.getUpdates(), updateRows.shape());
  Operand x = getOperand(scatter.getX(), rows.shape());
  Values at = openGrid({rows.outer, rows.extent}, {1, part});
  Value one = index(1), count = smaller(index(part), subtract(index(rows.extent), at[1]));
  if (x.splat) {
    Value first = linear(rows, at[0], at[1], index(0)), last = add(first, multiply(count, rows.inner));
    alongRow(lanesAlongRow(x, getElement(op->getResult(0))), first, last,
             [&](Value i, int64_t width) { store(load(x, {}, width), out, i); });
  } else {
    const int64_t copied = lanesOfUpdates(rows, x);
    loop(at[1], add(at[1], count), one, [&](Value j) {
      alongRow(copied, index(0), index(rows.inner),
               [&](Value i, int64_t width) { store(load(x, {at[0], j, i}, width), out, linear(rows, at[0], j, i)); });
    });
  }
  Type number = builder.getI64Type();
  Value begin = arith::IndexCastOp::create(builder, loc, number, at[1]);
  Value limit = arith::IndexCastOp::create(builder, loc, number, count);
  loop(index(0), index(updateRows.extent), one, [&](Value u) {
    // Unsigned, a place in front of the first row is behind the last one, too.
    Value chosen = getPlace(scatter, load(indices, {u}));
    Value inside = arith::SubIOp::create(builder, loc, chosen, begin);
    when(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, inside, limit), [&] {
      Value j = toIndex(chosen);
      alongRow(lanes, index(0), index(rows.inner), [&](Value i, int64_t width) {
        update(scatter, load(updates, {at[0], u, i}, width), linear(rows, at[0], j, i), width);
      });
    });
  });
}

void ProgramOrder::emitOp() {
  llvm::TypeSwitch<Operation *>(op)
      .Case<ScanOp>([&](ScanOp scan) { emitScan(scan); })
      .Case<SortOp>([&](SortOp sort) { emitSort(sort); })
      .Case<ScatterOp>([&](ScatterOp scatter) { emitScatter(scatter); });
}

void ProgramOrder::explain(StringRef name) {
  if (lanes > 1) {
    remark::passed(loc, remark::RemarkOpts::name("VectorRows").category("zyx-scalar"))
        << (name + ": '" + op->getName().getStringRef() + "' is computed in vectors of " + Twine(lanes) + " elements")
               .str();
    return;
  }
  remark::missed(loc, remark::RemarkOpts::name("ScalarKernel").category("zyx-scalar"))
      << (name + ": '" + op->getName().getStringRef() + "' is computed element by element, without vectors").str();
}

FailureOr<ConvertedGroup> convertOrderGroup(GroupOp group, Operation *op, StringRef name, OpBuilder &builder,
                                            const Workgroups &machine, bool isUpdate) {
  std::unique_ptr<OrderEmitter> emitter = createBinOrder(group, op, builder, machine, isUpdate);
  if (!emitter)
    emitter = createWorkgroupOrder(group, op, builder, machine, isUpdate);
  if (!emitter)
    emitter = std::make_unique<ProgramOrder>(group, op, builder, machine);
  return emitter->emit(name, isUpdate);
}

} // namespace zyx::lowering
