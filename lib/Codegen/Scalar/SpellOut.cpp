//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Ops on scalars by simpler ones, on whose results all machines agree.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace zyx::kernel {

namespace {

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// What stands for one op.
class SpelledOut {
public:
  explicit SpelledOut(Operation *op) : op(op), b(op), loc(op->getLoc()) {}

  /// Null where the op may stay.
  Value find() {
    if (op->getNumResults() != 1 || op->getNumOperands() == 0)
      return {};
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>([&](Operation *) { return shift(x(0), x(1)); })
        .Case([&](arith::RemSIOp) { return rest(make<arith::DivSIOp>(x(0), x(1))); })
        .Case([&](arith::FloorDivSIOp) { return rounded(false); })
        .Case([&](arith::CeilDivSIOp) { return rounded(true); })
        .Case([&](arith::CeilDivUIOp) {
          Value quotient = make<arith::DivUIOp>(x(0), x(1));
          Value isOff = icmp(CmpIPredicate::ne, rest(quotient), integer(x(0).getType(), 0));
          return select(isOff, make<arith::AddIOp>(quotient, integer(x(0).getType(), 1)), quotient);
        })
        .Case<arith::AddIOp, arith::SubIOp>([&](Operation *) { return ofBools<arith::XOrIOp>(); })
        .Case([&](arith::MulIOp) { return ofBools<arith::AndIOp>(); })
        .Case([&](arith::MinUIOp) { return least<arith::AndIOp>(CmpIPredicate::ult); })
        .Case([&](arith::MaxUIOp) { return least<arith::OrIOp>(CmpIPredicate::ugt); })
        .Case([&](arith::MinSIOp) { return least<arith::OrIOp>(CmpIPredicate::slt); })
        .Case([&](arith::MaxSIOp) { return least<arith::AndIOp>(CmpIPredicate::sgt); })
        .Case([&](arith::CmpIOp each) { return compare(each.getPredicate()); })
        .Case([&](arith::SIToFPOp) { return isBool() ? fromInteger<arith::SIToFPOp, arith::ExtSIOp>() : Value(); })
        .Case([&](arith::UIToFPOp) { return isBool() ? fromInteger<arith::UIToFPOp, arith::ExtUIOp>() : Value(); })
        .Case<arith::FPToSIOp, arith::FPToUIOp>([&](Operation *) { return toInteger(x(0)); })
        .Case([&](math::TruncOp) {
          Value isNegative = fcmp(CmpFPredicate::OLT, x(0), real(x(0).getType(), 0));
          return select(isNegative, make<math::CeilOp>(x(0)), make<math::FloorOp>(x(0)));
        })
        .Default([](Operation *) { return Value(); });
  }

private:
  Value x(unsigned number) { return op->getOperand(number); }
  bool isBool() { return x(0).getType().isInteger(1); }
  template <typename Op, typename... Operands> Value make(Operands... operands) {
    return Op::create(b, loc, operands...);
  }
  Value select(Value condition, Value first, Value second) { return make<arith::SelectOp>(condition, first, second); }
  Value icmp(CmpIPredicate predicate, Value first, Value second) {
    return make<arith::CmpIOp>(predicate, first, second);
  }
  Value fcmp(CmpFPredicate predicate, Value first, Value second) {
    return make<arith::CmpFOp>(predicate, first, second);
  }
  Value integer(Type type, int64_t value) { return make<arith::ConstantOp>(b.getIntegerAttr(type, value)); }
  Value real(Type type, double value) { return make<arith::ConstantOp>(b.getFloatAttr(type, value)); }

  /// A shift by more digits than there are leaves none, or copies of the sign.
  Value shift(Value number, Value by) {
    Type type = number.getType();
    if (!type.isInteger())
      return {};
    const unsigned width = type.getIntOrFloatBitWidth();
    APInt count;
    if (matchPattern(by, m_ConstantInt(&count)) && count.ult(width))
      return {};
    Value most = integer(type, width - 1), isInside = icmp(CmpIPredicate::ule, by, most);
    Value inside = select(isInside, by, most);
    if (isa<arith::ShRSIOp>(op))
      return make<arith::ShRSIOp>(number, inside);
    Value shifted = isa<arith::ShLIOp>(op) ? make<arith::ShLIOp>(number, inside) : make<arith::ShRUIOp>(number, inside);
    return select(isInside, shifted, integer(type, 0));
  }
  Value rest(Value quotient) { return make<arith::SubIOp>(x(0), make<arith::MulIOp>(quotient, x(1))); }
  /// A quotient that is no whole number is one off where it was rounded to the other side: its rest has the sign of the
  /// divisor where the quotient is above 0.
  Value rounded(bool isUp) {
    Value quotient = make<arith::DivSIOp>(x(0), x(1)), off = rest(quotient), zero = integer(x(0).getType(), 0);
    Value isBelow = icmp(CmpIPredicate::slt, make<arith::XOrIOp>(off, x(1)), zero);
    Value isOther =
        make<arith::CmpIOp>(isUp ? CmpIPredicate::eq : CmpIPredicate::ne, isBelow, integer(b.getI1Type(), 0));
    Value moved = make<arith::AddIOp>(quotient, integer(x(0).getType(), isUp ? 1 : -1));
    return select(make<arith::AndIOp>(icmp(CmpIPredicate::ne, off, zero), isOther), moved, quotient);
  }

  template <typename Op> Value ofBools() { return isBool() ? make<Op>(x(0), x(1)) : Value(); }
  /// A bool with a sign is -1 where it is true. Each language has those of 32 bits.
  template <typename OfBools> Value least(CmpIPredicate predicate) {
    return isBool()                       ? make<OfBools>(x(0), x(1))
           : x(0).getType().isInteger(32) ? Value()
                                          : select(icmp(predicate, x(0), x(1)), x(0), x(1));
  }
  Value compare(CmpIPredicate predicate) {
    if (!isBool() || predicate == CmpIPredicate::eq || predicate == CmpIPredicate::ne)
      return {};
    auto wide = [&](Value value) {
      return predicate < CmpIPredicate::ult ? make<arith::ExtSIOp>(b.getI32Type(), value)
                                            : make<arith::ExtUIOp>(b.getI32Type(), value);
    };
    return icmp(predicate, wide(x(0)), wide(x(1)));
  }
  template <typename Op, typename Extend> Value fromInteger() {
    return make<Op>(op->getResult(0).getType(), make<Extend>(b.getI32Type(), x(0)));
  }

  /// Rounds towards 0; 0 where the type has no such number.
  Value toInteger(Value number) {
    Type to = op->getResult(0).getType(), from = number.getType();
    const bool isSigned = isa<arith::FPToSIOp>(op);
    const int digits = static_cast<int>(to.getIntOrFloatBitWidth()) - (isSigned ? 1 : 0);
    const int mantissa = cast<FloatType>(from).getFPMantissaWidth();
    const double end = std::ldexp(1.0, digits);
    // The number before the smallest one is excluded where the format has it; else nothing is between the two.
    Value isAbove = !isSigned           ? fcmp(CmpFPredicate::OGT, number, real(from, -1))
                    : digits < mantissa ? fcmp(CmpFPredicate::OGT, number, real(from, -end - 1))
                                        : fcmp(CmpFPredicate::OGE, number, real(from, -end));
    Value isInside = make<arith::AndIOp>(isAbove, fcmp(CmpFPredicate::OLT, number, real(from, end)));
    Value inside = select(isInside, number, real(from, 0));
    if (isSigned)
      return make<arith::FPToSIOp>(to, inside);
    // From -1 on, an unsigned 0 comes of the number towards which it is rounded.
    inside = select(fcmp(CmpFPredicate::OLT, inside, real(from, 0)), real(from, 0), inside);
    return make<arith::FPToUIOp>(to, inside);
  }

  Operation *op;
  OpBuilder b;
  Location loc;
};

} // namespace

void spellOut(FunctionOpInterface body) {
  SmallVector<Operation *> ops;
  body->walk([&](Operation *op) {
    // What may have an index of more bits than there are is refused by its own name.
    if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !op->hasAttr(wideIndexAttr))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    Value value = SpelledOut(op).find();
    if (!value)
      continue;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

namespace {

/// Makes numbers of an argument that is zero.
class Hider {
public:
  explicit Hider(FunctionOpInterface func) : func(func), b(func) {}

  void hideZero(arith::ConstantOp op);
  Value result() const { return zero; }

private:
  Value argument() {
    if (!zero)
      zero = func.getFunctionBody().addArgument(b.getI64Type(), func->getLoc());
    return zero;
  }

  FunctionOpInterface func;
  OpBuilder b;
  Value zero;
};

} // namespace

void Hider::hideZero(arith::ConstantOp op) {
  auto computes = [](OpOperand &use) {
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, math::FmaOp, scf::ForOp, scf::IfOp,
               scf::WhileOp, scf::YieldOp>(use.getOwner());
  };
  auto number = dyn_cast<FloatAttr>(op.getValue());
  if (!number || !number.getValue().isZero() || llvm::none_of(op->getUses(), computes))
    return;
  b.setInsertionPointAfter(op);
  const APInt bits = number.getValue().bitcastToAPInt();
  Type integer = b.getIntegerType(bits.getBitWidth());
  Value narrow =
      bits.getBitWidth() == 64 ? argument() : arith::TruncIOp::create(b, op.getLoc(), integer, argument()).getResult();
  Value sign = arith::ConstantOp::create(b, op.getLoc(), b.getIntegerAttr(integer, bits));
  Value hidden = arith::OrIOp::create(b, op.getLoc(), narrow, sign);
  hidden = arith::BitcastOp::create(b, op.getLoc(), op.getType(), hidden);
  op.getResult().replaceUsesWithIf(hidden, computes);
}

Value hideConstants(FunctionOpInterface func) {
  Hider hider(func);
  func->walk([&](arith::ConstantOp op) { hider.hideZero(op); });
  return hider.result();
}

} // namespace zyx::kernel
