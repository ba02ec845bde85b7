//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zyx::kernel;

LogicalResult Lowering::lowerConstant(arith::ConstantOp op) {
  if (isa<TensorType>(op.getType()))
    return lowerTileConstant(op);
  Type type = convert(op.getType());
  if (!type)
    return op.emitOpError() << "has the type " << op.getType() << ", which no thread can hold";
  if (auto number = dyn_cast<IntegerAttr>(op.getValue()); number && op.getType().isIndex()) {
    if (!number.getValue().isSignedIntN(32))
      return op.emitOpError() << number.getInt() << " does not fit an index of 32 bits";
    map.map(op.getResult(), constant(number.getInt()));
    return success();
  }
  map.map(op.getResult(), LLVM::ConstantOp::create(b, loc, type, op.getValue()).getResult());
  return success();
}

static LLVM::FastmathFlags fastMath(Operation *op) {
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue();
  return arith::convertArithFastMathFlagsToLLVM(flags);
}

Value Lowering::lowerElement(Operation *op, ValueRange v, Type type) {
  auto binary = [&]<typename Op>(std::type_identity<Op>) -> Value { return Op::create(b, loc, v[0], v[1]); };
  auto withFlags = [&](Value result) {
    cast<LLVM::FastmathFlagsInterface>(result.getDefiningOp())
        ->setAttr("fastmathFlags", LLVM::FastmathFlagsAttr::get(b.getContext(), fastMath(op)));
    return result;
  };
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::AddIOp) { return binary(std::type_identity<LLVM::AddOp>()); })
      .Case([&](arith::SubIOp) { return binary(std::type_identity<LLVM::SubOp>()); })
      .Case([&](arith::MulIOp) { return binary(std::type_identity<LLVM::MulOp>()); })
      .Case([&](arith::DivUIOp) { return binary(std::type_identity<LLVM::UDivOp>()); })
      .Case([&](arith::RemUIOp) { return binary(std::type_identity<LLVM::URemOp>()); })
      .Case([&](arith::AndIOp) { return binary(std::type_identity<LLVM::AndOp>()); })
      .Case([&](arith::OrIOp) { return binary(std::type_identity<LLVM::OrOp>()); })
      .Case([&](arith::XOrIOp) { return binary(std::type_identity<LLVM::XOrOp>()); })
      .Case([&](arith::MinUIOp) { return binary(std::type_identity<LLVM::UMinOp>()); })
      .Case([&](arith::MaxUIOp) { return binary(std::type_identity<LLVM::UMaxOp>()); })
      .Case([&](arith::MinSIOp) { return binary(std::type_identity<LLVM::SMinOp>()); })
      .Case([&](arith::MaxSIOp) { return binary(std::type_identity<LLVM::SMaxOp>()); })
      .Case([&](arith::CeilDivUIOp) -> Value {
        // Not (a + b - 1) / b, which overflows.
        Value quotient = LLVM::UDivOp::create(b, loc, v[0], v[1]);
        Value rest = LLVM::URemOp::create(b, loc, v[0], v[1]);
        Value more = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, rest, constant(type, 0));
        return LLVM::AddOp::create(b, loc, quotient, LLVM::ZExtOp::create(b, loc, type, more));
      })
      .Case([&](arith::CmpIOp cmp) -> Value {
        return LLVM::ICmpOp::create(b, loc, static_cast<LLVM::ICmpPredicate>(cmp.getPredicate()), v[0], v[1]);
      })
      .Case([&](arith::CmpFOp cmp) -> Value {
        // In the order of LLVM, which has the same names.
        auto predicate = LLVM::symbolizeFCmpPredicate(cmp.getPredicate() == arith::CmpFPredicate::AlwaysFalse ? "_false"
                                                      : cmp.getPredicate() == arith::CmpFPredicate::AlwaysTrue
                                                          ? "_true"
                                                          : arith::stringifyCmpFPredicate(cmp.getPredicate()));
        return LLVM::FCmpOp::create(b, loc, *predicate, v[0], v[1]);
      })
      .Case([&](arith::ShLIOp) { return binary(std::type_identity<LLVM::ShlOp>()); })
      .Case([&](arith::ShRUIOp) { return binary(std::type_identity<LLVM::LShrOp>()); })
      .Case([&](arith::ShRSIOp) { return binary(std::type_identity<LLVM::AShrOp>()); })
      // An index has 32 bits.
      .Case([&](arith::IndexCastOp) { return v[0].getType() == type ? v[0] : Value(); })
      .Case([&](arith::BitcastOp) -> Value { return LLVM::BitcastOp::create(b, loc, type, v[0]); })
      .Case([&](arith::SIToFPOp) -> Value { return LLVM::SIToFPOp::create(b, loc, type, v[0]); })
      .Case([&](arith::UIToFPOp) -> Value { return LLVM::UIToFPOp::create(b, loc, type, v[0]); })
      .Case([&](math::AbsFOp) -> Value { return LLVM::FAbsOp::create(b, loc, type, v[0]); })
      .Case([&](math::SqrtOp) -> Value { return LLVM::SqrtOp::create(b, loc, type, v[0]); })
      .Case([&](math::FloorOp) -> Value { return LLVM::FFloorOp::create(b, loc, type, v[0]); })
      .Case([&](math::CeilOp) -> Value { return LLVM::FCeilOp::create(b, loc, type, v[0]); })
      .Case([&](math::TruncOp) -> Value { return LLVM::FTruncOp::create(b, loc, type, v[0]); })
      .Case([&](math::RoundEvenOp) -> Value { return LLVM::RoundEvenOp::create(b, loc, type, v[0]); })
      .Case([&](math::CopySignOp) -> Value { return LLVM::CopySignOp::create(b, loc, v[0], v[1]); })
      .Case([&](arith::SelectOp) -> Value { return LLVM::SelectOp::create(b, loc, v[0], v[1], v[2]); })
      .Case([&](arith::AddFOp) { return withFlags(LLVM::FAddOp::create(b, loc, v[0], v[1])); })
      .Case([&](arith::SubFOp) { return withFlags(LLVM::FSubOp::create(b, loc, v[0], v[1])); })
      .Case([&](arith::MulFOp) { return withFlags(LLVM::FMulOp::create(b, loc, v[0], v[1])); })
      .Case([&](arith::DivFOp division) -> Value {
        // Of numbers from 1 on it is good to one ULP.
        if (type.isF32() && bitEnumContainsAll(division.getFastmath(), arith::FastMathFlags::afn) &&
            matchPattern(division.getLhs(), m_OneFloat()))
          return LLVM::CallIntrinsicOp::create(b, loc, f32, b.getStringAttr("llvm.nvvm.rcp.approx.ftz.f"), v[1])
              .getResult(0);
        return withFlags(LLVM::FDivOp::create(b, loc, v[0], v[1]));
      })
      .Case([&](arith::NegFOp) { return withFlags(LLVM::FNegOp::create(b, loc, v[0])); })
      .Case([&](arith::MaximumFOp) { return withFlags(LLVM::MaximumOp::create(b, loc, v[0], v[1])); })
      .Case([&](arith::MinimumFOp) { return withFlags(LLVM::MinimumOp::create(b, loc, v[0], v[1])); })
      .Case([&](math::FmaOp) { return withFlags(LLVM::FMAOp::create(b, loc, v[0], v[1], v[2])); })
      .Case([&](math::Exp2Op exp) -> Value {
        // The machine's own is good to 2 ULP and flushes denormals; only `afn` allows that.
        if (!type.isF32() || !bitEnumContainsAll(exp.getFastmath(), arith::FastMathFlags::afn))
          return {};
        return LLVM::CallIntrinsicOp::create(b, loc, f32, b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"), v)
            .getResult(0);
      })
      .Case([&](math::RsqrtOp root) -> Value {
        if (!type.isF32() || !bitEnumContainsAll(root.getFastmath(), arith::FastMathFlags::afn))
          return {};
        return LLVM::CallIntrinsicOp::create(b, loc, f32, b.getStringAttr("llvm.nvvm.rsqrt.approx.f"), v).getResult(0);
      })
      .Case([&](math::TanhOp tangent) -> Value {
        if (!type.isF32() || !bitEnumContainsAll(tangent.getFastmath(), arith::FastMathFlags::afn))
          return {};
        return withFlags(LLVM::TanhOp::create(b, loc, type, v[0]));
      })
      .Default([](Operation *) { return Value(); });
}
