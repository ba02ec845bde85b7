//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OrderKernels.h"

#include "Elements.h"
#include "GroupAxes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// Columns of a scatter that one program takes: enough to read each index once for many elements.
static constexpr int64_t scatterColumns = 64;

Operation *findOrderOp(GroupOp group) {
  for (Operation &op : group.getBlock().without_terminator())
    if (isa<ScanOp, SortOp, ScatterOp>(op))
      return &op;
  return nullptr;
}

namespace {

using Values = SmallVector<Value>;

/// A tensor as [outer, extent, inner], where `extent` is that of one dimension.
struct Rows {
  int64_t outer = 1, extent = 1, inner = 1;

  Rows(ArrayRef<int64_t> shape, int64_t dim, int64_t numDims = 1) {
    for (auto [d, size] : llvm::enumerate(shape)) {
      int64_t at = d;
      (at < dim ? outer : at < dim + numDims ? extent : inner) *= size;
    }
  }
  SmallVector<int64_t> shape() const { return {outer, extent, inner}; }
};

/// What a load reads: a place in a buffer by the indices of a map, or one value everywhere.
struct Operand {
  kernel::MapAttr map;
  Value view;
  TypedAttr splat;
};

class Emitter {
public:
  Emitter(GroupOp group, Operation *op, OpBuilder &builder)
      : op(op), axes(group), group(group), builder(builder), loc(op->getLoc()) {}

  FailureOr<ConvertedGroup> emit(StringRef name);

private:
  LogicalResult check();
  void emitScan(ScanOp scan);
  void emitSort(SortOp sort);
  void emitScatter(ScatterOp scatter);

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value subtract(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
  Value multiply(Value a, int64_t b) {
    return builder.createOrFold<arith::MulIOp>(loc, a, index(b));
  }
  Value smaller(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }
  Value isLess(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  }
  Value linear(const Rows &rows, Value o, Value j, Value i) {
    return add(multiply(add(multiply(o, rows.extent), j), rows.inner), i);
  }

  Value viewBuffer(Value buffer, int64_t numElements);
  Operand getOperand(Value value, ArrayRef<int64_t> shape);
  Value load(const Operand &operand, ArrayRef<Value> at);
  Value loadAt(Value view, Value at);
  void store(Value value, Value view, Value at) {
    kernel::StoreOp::create(builder, loc, value, view, at, Value(), DenseBoolArrayAttr());
  }
  Value combine(kernel::Combine kind, Value a, Value b);
  Value isBefore(Value a, Value b, bool isUnsigned, bool descending);
  TypedAttr getIdentity(kernel::Combine kind, Type element, bool exclusive);

  template <typename Body>
  Values loop(Value begin, Value end, Value step, ValueRange carried, Body body) {
    auto result = scf::ForOp::create(builder, loc, begin, end, step, carried,
                                     [&](OpBuilder &, Location, Value at, ValueRange values) {
                                       Values next = body(at, values);
                                       scf::YieldOp::create(builder, loc, next);
                                     });
    return Values(result.getResults());
  }
  /// Opens the grid; what is built next goes into its body.
  SmallVector<Value> openGrid(int64_t outer, int64_t inner, int64_t columns);

  static Type getElement(Value value) { return toSignless(getElementTypeOrSelf(value.getType())); }
  static ArrayRef<int64_t> getShape(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  Operation *op;
  GroupAxes axes;
  GroupOp group;
  OpBuilder &builder;
  Location loc;
  DenseMap<Value, Value> buffers;
  Value out, scratch;
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emitter::viewBuffer(Value buffer, int64_t numElements) {
  Type element = cast<kernel::BufferType>(buffer.getType()).getElementType();
  auto type = kernel::ViewType::get({numElements}, element, kernel::Space::Global);
  return kernel::ViewOp::create(builder, loc, type, buffer, ValueRange(),
                                kernel::MapAttr::identity(builder.getContext(), {numElements}));
}

/// The operand with other extents, which are those of `shape`.
Operand Emitter::getOperand(Value value, ArrayRef<int64_t> shape) {
  if (TypedAttr splat = axes.getSplat(value))
    return {{}, {}, splat};
  const Leaf *leaf = axes.getLeaf(value);
  int64_t numElements = cast<RankedTensorType>(leaf->root.getType()).getNumElements();
  return {kernel::reshapeMap(leaf->map, shape),
          viewBuffer(buffers.lookup(leaf->root), numElements),
          {}};
}

Value Emitter::loadAt(Value view, Value at) {
  Type element = cast<kernel::ViewType>(view.getType()).getElementType();
  return kernel::LoadOp::create(builder, loc, element, view, at, Value(), Value(), ArrayAttr(),
                                DenseBoolArrayAttr());
}

Value Emitter::load(const Operand &operand, ArrayRef<Value> at) {
  if (operand.splat)
    return arith::ConstantOp::create(builder, loc, operand.splat);
  Values indices(at);
  Value place;
  for (kernel::BlockAttr block : operand.map.getBlocks()) {
    if (place) {
      // The number that a block yields is split into indices of the next one.
      indices.assign(block.getRank(), {});
      for (unsigned d = block.getRank(); d-- > 0;) {
        Value extent = index(*kernel::BlockAttr::constant(block.getShape()[d]));
        indices[d] = d == 0 ? place : arith::RemUIOp::create(builder, loc, place, extent);
        if (d != 0)
          place = arith::DivUIOp::create(builder, loc, place, extent);
      }
    }
    place = index(*kernel::BlockAttr::constant(block.getOffset()));
    for (auto [i, stride] : llvm::zip_equal(indices, block.getStrides()))
      place = add(place, multiply(i, *kernel::BlockAttr::constant(stride)));
  }
  return loadAt(operand.view, place);
}

SmallVector<Value> Emitter::openGrid(int64_t outer, int64_t inner, int64_t columns) {
  auto grid = kernel::GridOp::create(
      builder, loc,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(outer), builder.getIndexAttr(inner)},
      ArrayRef<int64_t>{1, columns});
  builder.setInsertionPointToStart(&grid.getBody().front());
  return SmallVector<Value>(grid.getIndices());
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value Emitter::combine(kernel::Combine kind, Value a, Value b) {
  bool isFloat = isa<FloatType>(a.getType());
  switch (kind) {
  case kernel::Combine::Add:
    return isFloat ? arith::AddFOp::create(builder, loc, a, b).getResult()
                   : arith::AddIOp::create(builder, loc, a, b).getResult();
  case kernel::Combine::Mul:
    return isFloat ? arith::MulFOp::create(builder, loc, a, b).getResult()
                   : arith::MulIOp::create(builder, loc, a, b).getResult();
  case kernel::Combine::Max:
    return isFloat ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                   : arith::MaxSIOp::create(builder, loc, a, b).getResult();
  case kernel::Combine::Min:
    return isFloat ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                   : arith::MinSIOp::create(builder, loc, a, b).getResult();
  case kernel::Combine::UMax:
    return arith::MaxUIOp::create(builder, loc, a, b);
  case kernel::Combine::UMin:
    return arith::MinUIOp::create(builder, loc, a, b);
  case kernel::Combine::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case kernel::Combine::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  }
  llvm_unreachable("all kinds are handled");
}

/// What a scan begins with. From -0 on, the first element of a sum stays what it is.
TypedAttr Emitter::getIdentity(kernel::Combine kind, Type element, bool exclusive) {
  if (auto format = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = format.getFloatSemantics();
    switch (kind) {
    case kernel::Combine::Add:
      return FloatAttr::get(element, APFloat::getZero(semantics, !exclusive));
    case kernel::Combine::Mul:
      return FloatAttr::get(element, 1.0);
    default:
      return FloatAttr::get(element, APFloat::getInf(semantics, kind == kernel::Combine::Max));
    }
  }
  unsigned width = element.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(width);
  if (kind == kernel::Combine::Mul)
    value = APInt(width, 1);
  else if (kind == kernel::Combine::And || kind == kernel::Combine::UMin)
    value = APInt::getAllOnes(width);
  else if (kind == kernel::Combine::Max)
    value = APInt::getSignedMinValue(width);
  else if (kind == kernel::Combine::Min)
    value = APInt::getSignedMaxValue(width);
  return IntegerAttr::get(element, value);
}

/// Whether a must stand before b. NaN stands last either way.
Value Emitter::isBefore(Value a, Value b, bool isUnsigned, bool descending) {
  if (!isa<FloatType>(a.getType())) {
    using I = arith::CmpIPredicate;
    I predicate = descending ? (isUnsigned ? I::ugt : I::sgt) : (isUnsigned ? I::ult : I::slt);
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  using F = arith::CmpFPredicate;
  Value inOrder = arith::CmpFOp::create(builder, loc, descending ? F::OGT : F::OLT, a, b);
  Value isNumber = arith::CmpFOp::create(builder, loc, F::ORD, a, a);
  Value isNaN = arith::CmpFOp::create(builder, loc, F::UNO, b, b);
  return arith::OrIOp::create(builder, loc, inOrder,
                              arith::AndIOp::create(builder, loc, isNumber, isNaN));
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// A program walks one row and carries what it has combined.
void Emitter::emitScan(ScanOp scan) {
  Rows rows(getShape(scan.getX()), scan.getDim());
  Operand x = getOperand(scan.getX(), rows.shape());
  Type graphElement = getElementTypeOrSelf(scan.getX().getType());
  kernel::Combine kind = getCombine(scan.getKind(), graphElement);
  Type stored = getElement(scan.getX());
  bool isWidened = (stored.isF16() || stored.isBF16()) &&
                   (kind == kernel::Combine::Add || kind == kernel::Combine::Mul);
  Type carried = isWidened ? Type(builder.getF32Type()) : stored;
  Values at = openGrid(rows.outer, rows.inner, 1);
  Value first =
      arith::ConstantOp::create(builder, loc, getIdentity(kind, carried, scan.getExclusive()));
  loop(index(0), index(rows.extent), index(1), first, [&](Value j, ValueRange values) -> Values {
    Value position = scan.getReverse() ? subtract(index(rows.extent - 1), j) : j;
    Value element = load(x, {at[0], position, at[1]});
    if (isWidened)
      element = arith::ExtFOp::create(builder, loc, carried, element);
    Value next = combine(kind, values[0], element);
    Value given = scan.getExclusive() ? values[0] : next;
    if (isWidened)
      given = arith::TruncFOp::create(builder, loc, stored, given);
    store(given, out, linear(rows, at[0], position, at[1]));
    return {next};
  });
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

/// A program sorts one row: it merges runs of indices, each twice as long as those before it, from
/// one half of its scratch memory to the other.
void Emitter::emitSort(SortOp sort) {
  Rows rows(getShape(sort.getX()), sort.getDim());
  Operand x = getOperand(sort.getX(), rows.shape());
  Type graphElement = getElementTypeOrSelf(sort.getX().getType());
  bool isUnsigned = graphElement.isUnsignedInteger() || graphElement.isInteger(1);
  Type number = cast<kernel::ViewType>(scratch.getType()).getElementType();
  Values at = openGrid(rows.outer, rows.inner, 1);
  Value zero = index(0), one = index(1), n = index(rows.extent), last = index(rows.extent - 1);
  Value base = multiply(add(multiply(at[0], rows.inner), at[1]), 2 * rows.extent);
  auto toNumber = [&](Value i) { return arith::IndexCastOp::create(builder, loc, number, i); };
  auto toIndex = [&](Value i) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), i);
  };
  auto elementAt = [&](Value j) { return load(x, {at[0], j, at[1]}); };

  loop(zero, n, one, {}, [&](Value j, ValueRange) -> Values {
    store(toNumber(j), scratch, add(base, j));
    return {};
  });
  int64_t numPasses = llvm::Log2_64_Ceil(rows.extent);
  auto mergePass = [&](Value, ValueRange values) -> Values {
    Value width = values[0], from = values[1], to = subtract(n, from);
    Value source = add(base, from), target = add(base, to), pair = multiply(width, 2);
    loop(zero, n, pair, {}, [&](Value start, ValueRange) -> Values {
      Value middle = smaller(add(start, width), n), end = smaller(add(start, pair), n);
      auto mergeOne = [&](Value k, ValueRange heads) -> Values {
        Value hasLeft = isLess(heads[0], middle), hasRight = isLess(heads[1], end);
        Value left = loadAt(scratch, add(source, smaller(heads[0], last)));
        Value right = loadAt(scratch, add(source, smaller(heads[1], last)));
        Value overtakes = isBefore(elementAt(toIndex(right)), elementAt(toIndex(left)), isUnsigned,
                                   sort.getDescending());
        Value takesRight = arith::AndIOp::create(builder, loc, hasRight, overtakes);
        Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
        Value takesLeft = arith::AndIOp::create(
            builder, loc, hasLeft, arith::XOrIOp::create(builder, loc, takesRight, yes));
        store(arith::SelectOp::create(builder, loc, takesLeft, left, right), scratch,
              add(target, k));
        Value leftStep = arith::SelectOp::create(builder, loc, takesLeft, one, zero);
        return {add(heads[0], leftStep), add(heads[1], subtract(one, leftStep))};
      };
      loop(start, end, one, {start, middle}, mergeOne);
      return {};
    });
    return {pair, to};
  };
  loop(zero, index(numPasses), one, {one, zero}, mergePass);
  Value source = add(base, index(numPasses % 2 * rows.extent));
  loop(zero, n, one, {}, [&](Value j, ValueRange) -> Values {
    Value chosen = toIndex(loadAt(scratch, add(source, j)));
    Value given = sort.getKind() == SortKind::Values
                      ? elementAt(chosen)
                      : arith::IndexCastOp::create(builder, loc, builder.getI64Type(), chosen);
    store(given, out, linear(rows, at[0], j, at[1]));
    return {};
  });
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

static kernel::Combine getCombine(ScatterKind kind, Type graphElement) {
  switch (kind) {
  case ScatterKind::Max:
    return getCombine(ReduceKind::Max, graphElement);
  case ScatterKind::Min:
    return getCombine(ReduceKind::Min, graphElement);
  case ScatterKind::Mul:
    return getCombine(ReduceKind::Mul, graphElement);
  case ScatterKind::Add:
    return getCombine(ReduceKind::Add, graphElement);
  case ScatterKind::Set:
    break;
  }
  llvm_unreachable("an element that is set is combined with nothing");
}

/// A program copies some columns of one outer row and applies all updates to them in their order.
void Emitter::emitScatter(ScatterOp scatter) {
  Rows rows(getShape(scatter.getX()), scatter.getDim());
  ArrayRef<int64_t> indexShape = getShape(scatter.getIndices());
  Rows updateRows(getShape(scatter.getUpdates()), scatter.getDim(), indexShape.size());
  Operand x = getOperand(scatter.getX(), rows.shape());
  Operand indices = getOperand(scatter.getIndices(), {updateRows.extent});
  Operand updates = getOperand(scatter.getUpdates(), updateRows.shape());
  Type indexElement = getElementTypeOrSelf(scatter.getIndices().getType());
  Type graphElement = getElementTypeOrSelf(scatter.getX().getType());
  Values at = openGrid(rows.outer, rows.inner, std::min(rows.inner, scatterColumns));
  Value one = index(1), end = smaller(add(at[1], index(scatterColumns)), index(rows.inner));
  auto forColumns = [&](llvm::function_ref<void(Value)> body) {
    loop(at[1], end, one, {}, [&](Value i, ValueRange) -> Values {
      body(i);
      return {};
    });
  };
  loop(index(0), index(rows.extent), one, {}, [&](Value j, ValueRange) -> Values {
    forColumns([&](Value i) { store(load(x, {at[0], j, i}), out, linear(rows, at[0], j, i)); });
    return {};
  });
  loop(index(0), index(updateRows.extent), one, {}, [&](Value u, ValueRange) -> Values {
    Value chosen = load(indices, {u});
    Type i64 = builder.getI64Type();
    if (chosen.getType() != i64)
      chosen = indexElement.isUnsignedInteger()
                   ? arith::ExtUIOp::create(builder, loc, i64, chosen).getResult()
                   : arith::ExtSIOp::create(builder, loc, i64, chosen).getResult();
    // As unsigned numbers, negative ones and those of u64 beyond i64 are outside, too.
    Value limit = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(rows.extent));
    Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, chosen, limit);
    scf::IfOp::create(builder, loc, isInside, [&](OpBuilder &, Location) {
      Value j = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), chosen);
      forColumns([&](Value i) {
        Value update = load(updates, {at[0], u, i}), place = linear(rows, at[0], j, i);
        if (scatter.getKind() != ScatterKind::Set)
          update = combine(getCombine(scatter.getKind(), graphElement), loadAt(out, place), update);
        store(update, out, place);
      });
      scf::YieldOp::create(builder, loc);
    });
    return {};
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult Emitter::check() {
  axes.findLeaves();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (axes.getSplat(operand))
      continue;
    const Leaf *leaf = axes.getLeaf(operand);
    if (!leaf)
      return op->emitOpError("reads what its group computes, but is a kernel of its own");
    // Loads of scalars have no mask, so a place without an element would be read.
    if (llvm::any_of(leaf->map.getBlocks(), [](kernel::BlockAttr block) { return block.hasValid(); }))
      return op->emitOpError("reads padding through operand ")
             << i << ", but its loops over scalars read memory alone: "
             << "-zyx-search-decompose-movement makes a select of such a pad";
  }
  Operation *yield = group.getBlock().getTerminator();
  if (yield->getNumOperands() != 1 || yield->getOperand(0) != op->getResult(0))
    return op->emitOpError("must be the only result of its group");
  return success();
}

FailureOr<ConvertedGroup> Emitter::emit(StringRef name) {
  if (failed(check()))
    return failure();
  ConvertedGroup result;
  SmallVector<Type> types;
  auto addBuffer = [&](Type element) {
    types.push_back(kernel::BufferType::get(builder.getContext(), element, kernel::Space::Global));
  };
  Block &block = group.getBlock();
  for (Value argument : block.getArguments())
    addBuffer(getElement(argument));
  for (ConstantOp constant : axes.getConstants()) {
    addBuffer(getElement(constant.getResult()));
    result.constants.push_back(constant.getValue());
  }
  Value value = op->getResult(0);
  int64_t numElements = cast<RankedTensorType>(value.getType()).getNumElements();
  addBuffer(getElement(value));
  auto sort = dyn_cast<SortOp>(op);
  if (sort) {
    bool isLong = getShape(value)[sort.getDim()] > std::numeric_limits<int32_t>::max();
    result.scratch.push_back({isLong ? DType::I64 : DType::I32, {2 * numElements}});
    addBuffer(builder.getIntegerType(isLong ? 64 : 32));
  }

  result.kernel = kernel::FuncOp::create(builder, loc, name, builder.getFunctionType(types, {}));
  // There is no tile to split.
  result.kernel.setScheduleAttr(kernel::ScheduleAttr::get(builder.getContext(), {}));
  OpBuilder::InsertionGuard guard(builder);
  Block &body = result.kernel.getBody().front();
  builder.setInsertionPointToStart(&body);
  auto argument = body.args_begin();
  for (Value input : block.getArguments())
    buffers[input] = *argument++;
  for (ConstantOp constant : axes.getConstants())
    buffers[constant.getResult()] = *argument++;
  if (numElements != 0) {
    out = viewBuffer(*argument++, numElements);
    if (sort)
      scratch = viewBuffer(*argument++, 2 * numElements);
    if (auto scan = dyn_cast<ScanOp>(op))
      emitScan(scan);
    else if (sort)
      emitSort(sort);
    else
      emitScatter(cast<ScatterOp>(op));
  }
  builder.setInsertionPointToEnd(&body);
  kernel::ReturnOp::create(builder, loc);
  for (Value operand : op->getOperands())
    result.flops += cast<RankedTensorType>(operand.getType()).getNumElements();
  remark::missed(loc, remark::RemarkOpts::name("ScalarKernel").category("zyx-scalar"))
      << (name + ": '" + op->getName().getStringRef() +
          "' is computed element by element, without vectors")
             .str();
  return result;
}

FailureOr<ConvertedGroup> convertOrderGroup(GroupOp group, Operation *op, StringRef name,
                                            OpBuilder &builder) {
  return Emitter(group, op, builder).emit(name);
}

} // namespace zyx::lowering
