//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MachineEmitter.h"

#include "zyx/Codegen/Tile/EmitLoop.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace zyx::kernel;

static bool is16Bit(Type element) { return element.isBF16() || element.isF16(); }

static Type withElement(Type type, Type element) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(element)) : element;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

FuncOp MachineEmitter::beginKernel(int64_t programs) {
  auto mapped = cast<FuncOp>(b.cloneWithoutRegions(*func.getOperation()));
  mapped.removeScheduleAttr();
  mapped.setForm(Form::Machine);
  mapped.setThreads(groupThreads * (groups + 1));
  mapped.setPrograms(programs);
  Block &entry = mapped.getBody().emplaceBlock();
  for (BlockArgument argument : func.getBody().getArguments())
    arguments.map(argument, entry.addArgument(argument.getType(), argument.getLoc()));
  b.setInsertionPointToEnd(&entry);
  return mapped;
}

void MachineEmitter::endKernel() {
  ReturnOp::create(b, loc);
  func.erase();
}

Value MachineEmitter::argument(unsigned number) {
  return arguments.lookup(static_cast<Value>(func.getBody().getArgument(number)));
}

void MachineEmitter::emitRole(StringRef name, int64_t count, int64_t registers, bool single,
                              llvm::function_ref<void(Value)> body, int64_t threads) {
  OpBuilder::InsertionGuard guard(b);
  IntegerAttr wanted = registers ? b.getI64IntegerAttr(registers) : IntegerAttr();
  auto role = RoleOp::create(b, loc, b.getStringAttr(name), b.getI64IntegerAttr(count), b.getI64IntegerAttr(threads),
                             wanted, single ? b.getUnitAttr() : UnitAttr());
  Block *block = b.createBlock(&role.getBody(), {}, b.getIndexType(), loc);
  body(block->getArgument(0));
  YieldOp::create(b, loc);
}

MachineEmitter::Carried MachineEmitter::loop(Value from, Value to, Value by, ValueRange init,
                                             llvm::function_ref<Carried(Value, ValueRange)> body) {
  return emitLoop(b, loc, from, to, by, init, body);
}

MachineEmitter::Carried MachineEmitter::branch(Value condition, llvm::function_ref<Carried()> body,
                                               llvm::function_ref<Carried()> otherwise) {
  // The types of the results are known when one side is there.
  Block *sides[2];
  Carried results[2];
  OpBuilder::InsertionGuard guard(b);
  Block *here = b.getInsertionBlock();
  auto at = b.getInsertionPoint();
  for (int side : {0, 1}) {
    sides[side] = new Block();
    b.setInsertionPointToEnd(sides[side]);
    results[side] = side == 0 ? body() : otherwise();
    scf::YieldOp::create(b, loc, results[side]);
  }
  b.setInsertionPoint(here, at);
  auto made = scf::IfOp::create(b, loc, ValueRange(results[0]).getTypes(), condition);
  made.getThenRegion().push_back(sides[0]);
  made.getElseRegion().push_back(sides[1]);
  return Carried(made.getResults());
}

void MachineEmitter::onFirst(llvm::function_ref<void()> body) {
  auto elect = ElectOp::create(b, loc);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&elect.getBody());
  body();
  YieldOp::create(b, loc);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value MachineEmitter::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
Value MachineEmitter::bit(bool value) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(value)); }
Value MachineEmitter::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value MachineEmitter::sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
Value MachineEmitter::multiply(Value x, int64_t y) {
  return y == 1 ? x : arith::MulIOp::create(b, loc, x, index(y)).getResult();
}
Value MachineEmitter::divide(Value x, Value y) { return arith::DivUIOp::create(b, loc, x, y); }
Value MachineEmitter::rest(Value x, Value y) { return arith::RemUIOp::create(b, loc, x, y); }
Value MachineEmitter::choose(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

std::pair<Value, Value> MachineEmitter::advance(Value stage, Value parity) {
  Value up = add(stage, 1);
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, up, index(step.getStages()));
  return {choose(wraps, index(0), up), arith::XOrIOp::create(b, loc, parity, wraps)};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ViewType MachineEmitter::sharedView(ArrayRef<int64_t> shape, Type element) {
  return ViewType::get(shape, element, Space::Shared, SharedAttr::get(b.getContext(), swizzleBytes));
}

Value MachineEmitter::allocShared(ArrayRef<int64_t> shape, Type element) {
  return AllocOp::create(b, loc, sharedView(shape, element));
}

Value MachineEmitter::part(Value view, ArrayRef<Value> leading, ArrayRef<int64_t> shape) {
  auto type = cast<ViewType>(view.getType());
  SmallVector<Value> indices(leading);
  while (indices.size() < static_cast<size_t>(type.getRank()))
    indices.push_back(index(0));
  return SubviewOp::create(b, loc, sharedView(shape, type.getElementType()), view, indices);
}

Value MachineEmitter::viewOf(Value view, MapAttr map) {
  auto made = view.getDefiningOp<ViewOp>();
  auto shape = llvm::map_to_vector(map.front().getShape(), [](AffineExpr each) { return *BlockAttr::constant(each); });
  auto type = ViewType::get(shape, made.getType().getElementType(), Space::Global);
  return ViewOp::create(b, loc, type, arguments.lookup(made.getBuffer()), ValueRange(), map);
}

Value MachineEmitter::barriers(int64_t count, int64_t arrivals) {
  return BarriersOp::create(b, loc, BarriersType::get(b.getContext(), count), arrivals);
}

//===----------------------------------------------------------------------===//
// What is elementwise
//===----------------------------------------------------------------------===//

Type MachineEmitter::heldType(Value tile, const FragmentShape &fragment, Type element) {
  bool hasRows = axes.contains(tile, fragment.rows), hasColumns = axes.contains(tile, fragment.columns);
  if (hasRows && hasColumns)
    return RankedTensorType::get({fragment.height, fragment.width}, element, acc);
  if (hasRows)
    return RankedTensorType::get({fragment.height}, element, SliceAttr::get(b.getContext(), 1, acc));
  if (hasColumns)
    return RankedTensorType::get({fragment.width}, element, SliceAttr::get(b.getContext(), 0, acc));
  return element;
}

Type MachineEmitter::heldType(Value tile, const FragmentShape &fragment) {
  Type element = getElementTypeOrSelf(tile.getType());
  return heldType(tile, fragment, is16Bit(element) ? b.getF32Type() : element);
}

Value MachineEmitter::number(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  Attribute attr = element.isInteger() ? Attribute(b.getIntegerAttr(element, static_cast<int64_t>(value)))
                                       : b.getFloatAttr(element, value);
  if (auto tile = dyn_cast<RankedTensorType>(type))
    attr = DenseElementsAttr::get(tile, attr);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(attr));
}

Value MachineEmitter::narrow(Value held, Type element) {
  if (getElementTypeOrSelf(held.getType()) == element)
    return held;
  return arith::TruncFOp::create(b, loc, withElement(held.getType(), element), held);
}

Value MachineEmitter::widen(Value held) {
  if (!is16Bit(getElementTypeOrSelf(held.getType())))
    return held;
  return arith::ExtFOp::create(b, loc, withElement(held.getType(), b.getF32Type()), held);
}

/// A part that is zero would make a NaN of an infinity that it is multiplied with, where the number gives an infinity.
/// So what is rounded is smaller by one unit of its digits: from 2^-117 on the rest is never zero unless the number is,
/// and has its sign; of smaller numbers bf16 has no rest. It is an infinity where the number is one.
MachineEmitter::Carried MachineEmitter::partsOf(Value held) {
  Type type = held.getType(), element = b.getBF16Type();
  Value high = narrow(arith::MulFOp::create(b, loc, held, number(type, 1 - 0x1p-8)), element);
  Value rest = arith::SubFOp::create(b, loc, held, widen(high));
  Value isInfinite = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, loc, held),
                                           number(type, std::numeric_limits<double>::infinity()));
  return {high, narrow(choose(isInfinite, held, rest), element)};
}

Value MachineEmitter::spread(Value value, Type held) {
  if (value.getType() == held)
    return value;
  auto slice = isTile(value) ? cast<SliceAttr>(cast<RankedTensorType>(value.getType()).getEncoding()) : SliceAttr();
  if (!slice)
    return SplatOp::create(b, loc, held, value);
  return BroadcastOp::create(b, loc, held, value, ArrayRef<int64_t>{slice.getDim() == 1 ? 0 : 1});
}

Value MachineEmitter::compute(Value tile, const FragmentShape &fragment, llvm::function_ref<Value(Value)> evaluate) {
  Operation *op = tile.getDefiningOp();
  Type element = getElementTypeOrSelf(tile.getType()), held = heldType(tile, fragment);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>();
    if (auto real = dyn_cast<FloatAttr>(value))
      value = b.getF32FloatAttr(static_cast<float>(real.getValueAsDouble()));
    if (auto type = dyn_cast<RankedTensorType>(held))
      value = cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, Attribute(value))));
    return arith::ConstantOp::create(b, loc, value);
  }
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), evaluate);
  if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return spread(operands[0], held);
  // What is rounded is rounded; the format that it has is the wider one already.
  if (isa<arith::ExtFOp>(op))
    return operands[0];
  if (isa<arith::TruncFOp>(op))
    return widen(narrow(operands[0], element));
  Value result;
  if (isa<math::TanhOp>(op)) {
    result = tanh(operands[0], element);
  } else if (isa<math::RsqrtOp>(op)) {
    // An instruction, which is good to 2 ULP. A root and a quotient, each rounded correctly, take some thirty.
    result = math::RsqrtOp::create(b, loc, operands[0], arith::FastMathFlags::afn);
  } else if (auto quotient = dyn_cast<arith::DivFOp>(op); quotient && is16Bit(element)) {
    result = divide(operands, quotient.getRhs(), held);
  } else {
    OperationState state(loc, op->getName());
    state.addOperands(operands);
    state.addTypes(held);
    state.addAttributes(op->getAttrs());
    result = b.create(state)->getResult(0);
  }
  bool isRounded = is16Bit(element) && !isa<arith::SelectOp, arith::NegFOp>(op);
  return isRounded ? widen(narrow(result, element)) : result;
}

/// A quotient that is rounded to 16 bits next. A constant divisor c is two factors, 1/c towards zero and what that
/// lacks: the f32 sum of both products is x/c to less than 2^-23, and so is on its side of each place where 16 bits
/// round, which is a multiple of 2^-23 away or x/c itself. Signs of both factors agree, so infinities stay.
Value MachineEmitter::divide(ArrayRef<Value> operands, Value divisor, Type held) {
  // Divisors whose factors, or quotients whose parts, leave the normal numbers are none.
  constexpr double least = 0x1p-60, most = 0x1p60;
  DenseElementsAttr elements;
  if (!matchPattern(divisor, m_Constant(&elements)) || !elements.isSplat())
    return arith::DivFOp::create(b, loc, held, operands[0], operands[1]);
  const double by = elements.getSplatValue<APFloat>().convertToDouble(), size = std::abs(by);
  if (!(size >= least && size <= most))
    return arith::DivFOp::create(b, loc, held, operands[0], operands[1]);
  float upper = static_cast<float>(1 / by);
  if (std::abs(static_cast<double>(upper) * by) > 1)
    upper = std::nextafter(upper, 0.0F);
  // 1/by - upper, without the digits that the difference of two f64 would lose.
  const double lower = std::fma(-static_cast<double>(upper), by, 1.0) / by;
  if (lower == 0)
    return arith::MulFOp::create(b, loc, operands[0], number(held, upper));
  Value product = arith::MulFOp::create(b, loc, operands[0], number(held, lower));
  return math::FmaOp::create(b, loc, operands[0], number(held, upper), product);
}

/// The hyperbolic tangent, within 4 units in the last place like everywhere, but out of the card's own power of two
/// and inverse. To 2^-18 where 16 bits are left of it. Of a bf16 the card's own tangent, good to 2^-10.9, is a quarter
/// of a ULP off before it is rounded; of an f16 it would be a whole one.
Value MachineEmitter::tanh(Value x, Type element) {
  const auto few = arith::FastMathFlags::afn;
  if (element.isBF16())
    return math::TanhOp::create(b, loc, x, few);
  const bool to16Bits = is16Bit(element);
  auto times = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, loc, x, y); };
  auto fma = [&](Value x, Value y, double z) -> Value {
    return math::FmaOp::create(b, loc, x, y, number(x.getType(), z));
  };
  Value size = math::AbsFOp::create(b, loc, x), one = number(x.getType(), 1);
  // 1 - 2 / (e^2x + 1); near zero, where that loses digits, x + x^3 p(x^2), up to 0.625: 2^-27.7.
  Value power = math::Exp2Op::create(b, loc, times(size, number(x.getType(), 2.8853900817779268)), few);
  Value inverse = arith::DivFOp::create(b, loc, one, arith::AddFOp::create(b, loc, power, one), few);
  Value far = fma(inverse, number(x.getType(), -2), 1);
  Value square = times(x, x), near;
  if (to16Bits) {
    near = times(size, fma(square, number(x.getType(), -1.0 / 3), 1));
  } else {
    Value sum = number(x.getType(), -5.697994027e-3);
    for (double coefficient : {2.06322968e-2, -5.373743176e-2, 1.333141178e-1, -3.333328068e-1})
      sum = fma(sum, square, coefficient);
    near = math::FmaOp::create(b, loc, times(size, square), sum, size);
  }
  Value end = number(x.getType(), to16Bits ? 0.0625 : 0.625);
  Value isNear = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size, end);
  return math::CopySignOp::create(b, loc, choose(isNear, near, far), x);
}
