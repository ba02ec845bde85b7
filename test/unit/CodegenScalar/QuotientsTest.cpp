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
    if (isInWords)
      zyx::kernel::splitWideIntegers(func);
    else
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
      if (auto fma = dyn_cast<math::FmaOp>(op)) {
        auto number = [&](unsigned i) { return cast<FloatAttr>(operands[i]).getValue(); };
        APFloat value = number(0);
        if (isFmaOneOp) {
          value.fusedMultiplyAdd(number(1), number(2), APFloat::rmNearestTiesToEven);
        } else {
          value.multiply(number(1), APFloat::rmNearestTiesToEven);
          value.add(number(2), APFloat::rmNearestTiesToEven);
        }
        known[fma] = FloatAttr::get(fma.getType(), value);
        continue;
      }
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

  /// Drivers may round the product of an `fma`.
  bool isFmaOneOp = true;
  /// For languages whose integers have 32 bits.
  bool isInWords = false;
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
  for (bool isOneOp : {true, false}) {
    isFmaOneOp = isOneOp;
    for (uint32_t x : special)
      for (uint32_t y : special)
        for (uint32_t sign : {0U, 0x80000000U})
          check(x | sign, y);
    std::mt19937 random(1);
    for (int i = 0; i < 600; ++i)
      check(random(), random());
    for (int i = 0; i < 300; ++i)
      check(0x3f800000 + random() % 0x01000000, 0x3f800000 + random() % 0x01000000);
    // Results around the smallest normal number, and subnormal dividends.
    for (int i = 0; i < 300; ++i)
      check(random() % 0x01800000, 0x3e000000 + random() % 0x03000000);
    // The reciprocal of a significand of ones.
    check(0x3f800000, 0x3fffffff);
    // Quotients as near to the middle between two numbers as can be: divisors times odd numbers that are 1 or -1 modulo
    // 2^24.
    for (uint32_t y = 0x800001; y < 0x1000000; y += 0x10002) {
      uint32_t inverse = y;
      for (int step = 0; step < 4; ++step)
        inverse *= 2 - y * inverse;
      for (uint64_t odd : {inverse & 0xffffff, -inverse & 0xffffff}) {
        const uint64_t product = (odd | 0x1000000) * y;
        const uint64_t x = (product + 1) >> 25;
        if (x >= 0x800000 && x < 0x1000000)
          check(0x3f000000 + static_cast<uint32_t>(x), 0x3f000000 + y);
      }
    }
  }
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
  for (bool inWords : {false, true}) {
    isInWords = inWords;
    checkAll(arith::DivUIOp(), [](uint64_t x, uint64_t y) { return x / y; }, false);
    checkAll(arith::RemUIOp(), [](uint64_t x, uint64_t y) { return x % y; }, false);
    checkAll(arith::DivSIOp(), [](uint64_t x, uint64_t y) { return uint64_t(int64_t(x) / int64_t(y)); }, true);
    checkAll(arith::RemSIOp(), [](uint64_t x, uint64_t y) { return uint64_t(int64_t(x) % int64_t(y)); }, true);
  }
}

TEST_F(Quotients, ConstantDivisors) {
  Type i64 = IntegerType::get(&context, 64);
  auto expandBy = [&](auto op, int64_t by) {
    using Op = decltype(op);
    expand({i64}, i64, [&](OpBuilder &b, Location loc, ValueRange of) -> Value {
      return Op::create(b, loc, of[0], arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(by)).getResult());
    });
  };
  auto numberOf = [&](uint64_t x) {
    return cast<IntegerAttr>(evaluate({IntegerAttr::get(i64, APInt(64, x))})).getValue().getZExtValue();
  };
  // Powers of two are shifts, and divisors of 16 bits need no branch.
  for (int64_t by : {int64_t(8), int64_t(11), int64_t(65535), int64_t(65537), int64_t(1) << 40}) {
    for (uint64_t x :
         {uint64_t(0), uint64_t(1000), uint64_t(0xffffffff), ~uint64_t(21), ~uint64_t(0), uint64_t(1) << 63}) {
      expandBy(arith::DivUIOp(), by);
      EXPECT_EQ(func.getOps<scf::IfOp>().empty(), by != 65537);
      EXPECT_EQ(numberOf(x), x / by);
      expandBy(arith::RemUIOp(), by);
      EXPECT_EQ(numberOf(x), x % by);
      expandBy(arith::DivSIOp(), by);
      EXPECT_EQ(func.getOps<scf::IfOp>().empty(), by != 65537);
      EXPECT_EQ(numberOf(x), uint64_t(int64_t(x) / by));
      expandBy(arith::DivSIOp(), -by);
      EXPECT_EQ(numberOf(x), uint64_t(int64_t(x) / -by));
      expandBy(arith::RemSIOp(), -by);
      EXPECT_EQ(numberOf(x), uint64_t(int64_t(x) % -by));
      expandBy(arith::RemSIOp(), by);
      EXPECT_EQ(numberOf(x), uint64_t(int64_t(x) % by));
    }
  }
}
