//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Quotients and roots that are made of other ops: their numbers are those of the machine.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <functional>
#include <random>

using namespace mlir;

namespace {

/// A function of numbers, whose ops are folded one by one.
class Quotients : public ::testing::Test {
protected:
  Quotients() { context.loadDialect<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect>(); }

  using Make = std::function<Value(OpBuilder &, Location, ValueRange)>;

  /// Expands what `make` makes of arguments of these types.
  void expand(TypeRange types, Type result, const Make &make) {
    OpBuilder b(&context);
    Location loc = b.getUnknownLoc();
    module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    func = func::FuncOp::create(b, loc, "f", b.getFunctionType(types, result));
    Block *block = func.addEntryBlock();
    b.setInsertionPointToStart(block);
    func::ReturnOp::create(b, loc, make(b, loc, block->getArguments()));
    zyx::kernel::expandQuotients(func);
    func.walk([](Operation *op) {
      const bool isLeft = isa<arith::DivFOp, math::SqrtOp>(op) ||
                          (isa<arith::DivUIOp, arith::RemUIOp, arith::DivSIOp, arith::RemSIOp>(op) &&
                           op->getResult(0).getType().isInteger(64));
      EXPECT_FALSE(isLeft) << op->getName().getStringRef().str();
    });
  }

  /// What the function gives, by the folders of its ops.
  Attribute evaluate(ArrayRef<Attribute> arguments) {
    known.clear();
    Block &block = func.getBody().front();
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
      known[argument] = value;
    return run(block);
  }
  Attribute run(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (auto branch = dyn_cast<scf::IfOp>(op)) {
        const bool holds = cast<IntegerAttr>(known[branch.getCondition()]).getValue().getBoolValue();
        Attribute result = run(holds ? *branch.thenBlock() : *branch.elseBlock());
        known[branch.getResult(0)] = result;
        continue;
      }
      SmallVector<Attribute> operands;
      for (Value operand : op.getOperands())
        operands.push_back(known[operand]);
      SmallVector<OpFoldResult> results;
      if (failed(op.fold(operands, results)) || results.size() != 1) {
        ADD_FAILURE() << "cannot fold " << op.getName().getStringRef().str();
        return {};
      }
      auto value = dyn_cast<Attribute>(results[0]);
      known[op.getResult(0)] = value ? value : known[cast<Value>(results[0])];
    }
    return known[block.getTerminator()->getOperand(0)];
  }

  uint32_t evaluateBits(ArrayRef<uint32_t> bits) {
    auto f32 = Float32Type::get(&context);
    SmallVector<Attribute> arguments;
    for (uint32_t each : bits)
      arguments.push_back(FloatAttr::get(f32, APFloat(llvm::APFloat::IEEEsingle(), APInt(32, each))));
    return cast<FloatAttr>(evaluate(arguments)).getValue().bitcastToAPInt().getZExtValue();
  }

  /// Each of these is what the processor makes, or a NaN as it.
  static void expectSame(uint32_t got, float wanted, const std::string &of) {
    if (std::isnan(wanted))
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(got))) << of;
    else
      EXPECT_EQ(got, std::bit_cast<uint32_t>(wanted)) << of;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;
  llvm::DenseMap<Value, Attribute> known;
};

constexpr uint32_t special[] = {0,          1,          2,          3,          0x007fffff, 0x00800000, 0x00800001,
                                0x3f800000, 0x3f7fffff, 0x3f800001, 0x40000000, 0x40400000, 0x4b000001, 0x7f7fffff,
                                0x7f800000, 0x7fc00000, 0x7f800001, 0x01000000, 0x33800000, 0x34000001};

} // namespace

TEST_F(Quotients, FloatsAreRoundedOnce) {
  Type f32 = Float32Type::get(&context);
  expand({f32, f32}, f32, [](OpBuilder &b, Location loc, ValueRange of) -> Value {
    return arith::DivFOp::create(b, loc, of[0], of[1]);
  });
  auto check = [&](uint32_t x, uint32_t y) {
    expectSame(evaluateBits({x, y}), std::bit_cast<float>(x) / std::bit_cast<float>(y),
               std::to_string(x) + " / " + std::to_string(y));
  };
  for (uint32_t x : special)
    for (uint32_t y : special)
      for (uint32_t sign : {0U, 0x80000000U})
        check(x | sign, y);
  std::mt19937 random(1);
  for (int i = 0; i < 600; ++i)
    check(random(), random());
  // Results around the smallest normal number, and dividends without a first digit.
  for (int i = 0; i < 300; ++i)
    check(random() % 0x01800000, 0x3e000000 + random() % 0x03000000);
}

TEST_F(Quotients, RootsAreRoundedOnce) {
  Type f32 = Float32Type::get(&context);
  expand({f32}, f32,
         [](OpBuilder &b, Location loc, ValueRange of) -> Value { return math::SqrtOp::create(b, loc, of[0]); });
  auto check = [&](uint32_t x) {
    expectSame(evaluateBits({x}), std::sqrt(std::bit_cast<float>(x)), std::to_string(x));
  };
  for (uint32_t x : special)
    for (uint32_t sign : {0U, 0x80000000U})
      check(x | sign);
  std::mt19937 random(2);
  for (int i = 0; i < 800; ++i)
    check(random() & 0x7fffffff);
  for (int i = 0; i < 200; ++i)
    check(random() & 0x00ffffff);
}

TEST_F(Quotients, IntegersOf64Bits) {
  Type i64 = IntegerType::get(&context, 64);
  std::mt19937_64 random(3);
  auto number = [&] {
    const uint64_t bits = random();
    return bits >> (random() % 64);
  };
  auto checkAll = [&](auto op, auto wanted, bool isSigned) {
    using Op = decltype(op);
    expand({i64, i64}, i64,
           [](OpBuilder &b, Location loc, ValueRange of) -> Value { return Op::create(b, loc, of[0], of[1]); });
    auto check = [&](uint64_t x, uint64_t y) {
      // No machine divides by zero, or the least number by -1.
      if (y == 0 || (isSigned && y == ~uint64_t(0)))
        return;
      Attribute got = evaluate({IntegerAttr::get(i64, APInt(64, x)), IntegerAttr::get(i64, APInt(64, y))});
      EXPECT_EQ(cast<IntegerAttr>(got).getValue().getZExtValue(), wanted(x, y)) << x << " and " << y;
    };
    for (uint64_t x : {uint64_t(0), uint64_t(1), uint64_t(0xffffffff), uint64_t(1) << 32, uint64_t(1) << 63,
                       ~uint64_t(0), ~uint64_t(21)})
      for (uint64_t y :
           {uint64_t(1), uint64_t(11), uint64_t(1) << 32, (uint64_t(1) << 32) + 1, uint64_t(1) << 63, ~uint64_t(0)})
        check(x, y);
    for (int i = 0; i < 200; ++i)
      check(number(), number());
    // What is about a multiple.
    for (int i = 0; i < 100; ++i) {
      const uint64_t y = number() | 1;
      check(y * (~uint64_t(0) / y) - i % 3, y);
    }
  };
  checkAll(arith::DivUIOp(), [](uint64_t x, uint64_t y) { return x / y; }, false);
  checkAll(arith::RemUIOp(), [](uint64_t x, uint64_t y) { return x % y; }, false);
  checkAll(arith::DivSIOp(), [](uint64_t x, uint64_t y) { return uint64_t(int64_t(x) / int64_t(y)); }, true);
  checkAll(arith::RemSIOp(), [](uint64_t x, uint64_t y) { return uint64_t(int64_t(x) % int64_t(y)); }, true);
}

TEST_F(Quotients, PowersOfTwoAreShifts) {
  Type i64 = IntegerType::get(&context, 64);
  expand({i64}, i64, [&](OpBuilder &b, Location loc, ValueRange of) -> Value {
    Value eight = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(8));
    return arith::DivUIOp::create(b, loc, of[0], eight);
  });
  EXPECT_TRUE(func.getOps<scf::IfOp>().empty());
  EXPECT_EQ(cast<IntegerAttr>(evaluate({IntegerAttr::get(i64, 1000)})).getInt(), 125);
}
