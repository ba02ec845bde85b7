//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Arithmetic, and lanes of vectors, as the spirv dialect has them: by MLIR's patterns, and by ours where those lack
// something.
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Backend/RefuseOp.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/VectorToSPIRV/VectorToSPIRV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/RegionUtils.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::kernel;
using namespace zyx::target;
using spirv::Capability;

namespace {

class Arithmetic {
public:
  explicit Arithmetic(spirv::FuncOp made) : made(made), b(made.getContext()), loc(made.getLoc()) {}
  Status convert();

private:
  Value function(Operation *op);
  Value sumOfProduct(math::FmaOp op);

  spirv::FuncOp made;
  OpBuilder b;
  Location loc;
  /// Products and sums that may be one op.
  DenseSet<Operation *> contracted;
};

/// The driver may make one op of a product and a sum: that of GLSL takes denormals for 0 on NVIDIA's. Where a summand
/// is a product of the same factor, drivers may add up factors instead, which overflow.
Value Arithmetic::sumOfProduct(math::FmaOp op) {
  Value x = op.getA(), y = op.getB(), sum = op.getC();
  auto before = sum.getDefiningOp<spirv::FAddOp>();
  auto its = before && contracted.contains(before) ? before.getOperand1().getDefiningOp<spirv::FMulOp>() : nullptr;
  if (op->hasAttr(keptFmaAttr) ||
      (its && llvm::any_of(its->getOperands(), [&](Value factor) { return factor == x || factor == y; })))
    return spirv::GLFmaOp::create(b, loc, op.getType(), x, y, sum);
  auto product = spirv::FMulOp::create(b, loc, x, y);
  auto made = spirv::FAddOp::create(b, loc, product, sum);
  contracted.insert(product);
  contracted.insert(made);
  return made;
}

/// A function that drivers compute as exactly as we need; null for others.
Value Arithmetic::function(Operation *op) {
  const ValueRange x = op->getOperands();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::FmaOp fma) { return sumOfProduct(fma); })
      .Case([&](math::SqrtOp) { return spirv::GLSqrtOp::create(b, loc, x[0]).getResult(); })
      .Case([&](math::FloorOp) { return spirv::GLFloorOp::create(b, loc, x[0]).getResult(); })
      .Case([&](math::CeilOp) { return spirv::GLCeilOp::create(b, loc, x[0]).getResult(); })
      .Case([&](math::RoundEvenOp) { return spirv::GLRoundEvenOp::create(b, loc, x[0]).getResult(); })
      .Case([&](math::Exp2Op) {
        return x[0].getType().isF32() ? spirv::GLExp2Op::create(b, loc, x[0]).getResult() : Value();
      })
      .Default([](Operation *) { return Value(); });
}

Status Arithmetic::convert() {
  IRRewriter rewriter(b);
  (void)runRegionDCE(rewriter, made->getRegions());
  made.walk([&](Operation *op) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
    if (Value value = function(op)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  });
  // By halves: on lavapipe (22.3) a number that OpSConvert widened from 32 bits is never below zero.
  made.walk([&](arith::ExtSIOp op) {
    if (!op.getIn().getType().isInteger(32) || !op.getType().isInteger(64))
      return;
    b.setInsertionPoint(op);
    loc = op.getLoc();
    Value digits = arith::ConstantIntOp::create(b, loc, 31, 32);
    Value sign = arith::ShRSIOp::create(b, loc, op.getIn(), digits);
    Value high = arith::ExtUIOp::create(b, loc, op.getType(), sign),
          low = arith::ExtUIOp::create(b, loc, op.getType(), op.getIn()).getResult();
    high = arith::ShLIOp::create(b, loc, high, arith::ConstantIntOp::create(b, loc, 32, 64));
    op.getResult().replaceAllUsesWith(arith::OrIOp::create(b, loc, low, high));
    op.erase();
  });
  MLIRContext *context = b.getContext();
  auto needed = spirv::VerCapExtAttr::get(
      spirv::Version::V_1_5,
      {Capability::Shader, Capability::Int64, Capability::Int16, Capability::Int8, Capability::Float64}, {}, context);
  SPIRVTypeConverter types(
      spirv::TargetEnvAttr::get(needed, spirv::getDefaultResourceLimits(context), spirv::ClientAPI::Vulkan));
  RewritePatternSet patterns(context);
  arith::populateArithToSPIRVPatterns(types, patterns);
  populateVectorToSPIRVPatterns(types, patterns);
  ConversionTarget target(*context);
  // Some patterns make ops of OpenCL.
  target.addDynamicallyLegalDialect<spirv::SPIRVDialect>(
      [](Operation *op) { return !op->getName().stripDialect().starts_with("CL."); });
  // What is left is refused with its name.
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  (void)applyPartialConversion(made, target, std::move(patterns), config);
  Status status;
  made.walk([&](Operation *op) {
    // No driver may make one op of two such: results would differ from those of other devices.
    if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp>(op) && !contracted.contains(op))
      op->setAttr("no_contraction", b.getUnitAttr());
    if (!isa<spirv::SPIRVDialect>(op->getDialect()) && status.isOk())
      status = refuseOp(op, (op->getNumOperands() == 0 ? "" : "of " + textOf(op->getOperand(0).getType()) + " ") +
                                "has no form in SPIR-V");
  });
  return status;
}

} // namespace

Status zyx::target::convertArithmetic(spirv::FuncOp kernel) { return Arithmetic(kernel).convert(); }
