//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Arithmetic, control flow and lanes of vectors, as the spirv dialect has them: by MLIR's patterns, and by ours where
// those lack something.
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Backend/RefuseOp.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/GPUToSPIRV/GPUToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/VectorToSPIRV/VectorToSPIRV.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace zyx;
using spirv::Capability;

/// Products and sums that may be one op.
using Contracted = DenseSet<Operation *>;

/// The driver may make one op of a product and a sum: that of GLSL takes denormals for 0 on NVIDIA's. Where a summand
/// is a product of the same factor, drivers may add up factors instead, which overflow.
static Value sumOfProduct(OpBuilder &b, math::FmaOp op, Contracted &contracted) {
  Value x = op.getA(), y = op.getB();
  auto before = op.getC().getDefiningOp<spirv::FAddOp>();
  auto its = before && contracted.contains(before) ? before.getOperand1().getDefiningOp<spirv::FMulOp>() : nullptr;
  if (op->hasAttr(kernel::keptFmaAttr) ||
      (its && llvm::any_of(its->getOperands(), [&](Value factor) { return factor == x || factor == y; })))
    return spirv::GLFmaOp::create(b, op.getLoc(), op.getType(), x, y, op.getC());
  auto product = spirv::FMulOp::create(b, op.getLoc(), x, y);
  auto sum = spirv::FAddOp::create(b, op.getLoc(), product, op.getC());
  contracted.insert(product);
  contracted.insert(sum);
  return sum;
}

/// Of what MLIR's patterns lack; null for all else.
static Value convert(OpBuilder &b, Operation *op, Contracted &contracted) {
  if (auto fma = dyn_cast<math::FmaOp>(op))
    return sumOfProduct(b, fma, contracted);
  // By shifts: on lavapipe (22.3) a number that OpSConvert widened from 32 bits is never below zero.
  if (auto wide = dyn_cast<arith::ExtSIOp>(op);
      wide && wide.getIn().getType().isInteger(32) && wide.getType().isInteger(64)) {
    Value half = arith::ConstantIntOp::create(b, op->getLoc(), 32, 64);
    Value low = arith::ExtUIOp::create(b, op->getLoc(), wide.getType(), wide.getIn());
    return arith::ShRSIOp::create(b, op->getLoc(), arith::ShLIOp::create(b, op->getLoc(), low, half), half);
  }
  if (auto power = dyn_cast<math::Exp2Op>(op); power && power.getType().isF32())
    return spirv::GLExp2Op::create(b, op->getLoc(), power.getOperand());
  return {};
}

/// MLIR's loops test in their header, and their body is the continue block. Drivers want no control flow in either:
/// each gets a block of its own.
static void splitBlocks(spirv::LoopOp loop) {
  Block *const header = loop.getHeaderBlock(), *const body = loop.getContinueBlock();
  OpBuilder b(loop);
  for (auto [block, first] : {std::pair(header, header->begin()), std::pair(body, std::prev(body->end()))}) {
    Block *const rest = block->splitBlock(first);
    b.setInsertionPointToEnd(block);
    spirv::BranchOp::create(b, loop.getLoc(), rest);
  }
}

/// Refuses an op that is none of SPIR-V.
static Status checkOp(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!isa<spirv::SPIRVType>(type))
      return target::refuseType(op, type, "SPIR-V");
  return isa<spirv::SPIRVDialect>(op->getDialect()) ? Status::ok() : target::refuseForm(op, "SPIR-V");
}

Status zyx::target::convertArithmetic(spirv::FuncOp kernel, Capabilities &needed) {
  // Of loops with a counter MLIR's patterns forget the results where no trip is made. Dead ops go, too.
  PassManager loops(kernel.getContext(), kernel->getName().getStringRef());
  loops.enableVerifier(false);
  loops.addPass(createForToWhileLoopPass());
  if (failed(loops.run(kernel)))
    return target::refuseForm(kernel, "SPIR-V");
  IRRewriter rewriter(kernel);
  Contracted contracted;
  kernel.walk([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    if (Value value = convert(rewriter, op, contracted))
      rewriter.replaceOp(op, value);
  });
  MLIRContext *context = kernel.getContext();
  auto available = spirv::VerCapExtAttr::get(
      spirv::Version::V_1_5,
      {Capability::Shader, Capability::Int64, Capability::Int16, Capability::Int8, Capability::Float64}, {}, context);
  SPIRVTypeConverter types(
      spirv::TargetEnvAttr::get(available, spirv::getDefaultResourceLimits(context), spirv::ClientAPI::Vulkan));
  RewritePatternSet patterns(context);
  arith::populateArithToSPIRVPatterns(types, patterns);
  populateGPUToSPIRVPatterns(types, patterns);
  populateMathToSPIRVPatterns(types, patterns);
  populateVectorToSPIRVPatterns(types, patterns);
  ScfToSPIRVContext branches;
  populateSCFToSPIRVPatterns(types, branches, patterns);
  ConversionTarget target(*context);
  // Some patterns make ops of OpenCL.
  target.addDynamicallyLegalDialect<spirv::SPIRVDialect>(
      [](Operation *op) { return !op->getName().stripDialect().starts_with("CL."); });
  // Of functions, those that drivers compute as exactly as we need.
  target.addLegalDialect<math::MathDialect>();
  target.addIllegalOp<math::SqrtOp, math::FloorOp, math::CeilOp, math::RoundEvenOp>();
  // What is left is refused with its name.
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  (void)applyPartialConversion(kernel, target, std::move(patterns), config);
  kernel.walk(splitBlocks);
  Status status;
  kernel.walk([&](Operation *op) {
    // No driver may make one op of two such: results would differ from those of other devices.
    if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp>(op) && !contracted.contains(op))
      op->setAttr("no_contraction", rewriter.getUnitAttr());
    if (op->getName().stripDialect().starts_with("GroupNonUniform"))
      needed.insert({Capability::GroupNonUniform, Capability::GroupNonUniformArithmetic});
    for (Type type : op->getResultTypes())
      if (Type element = getElementTypeOrSelf(type); element.isInteger(8))
        needed.insert({Capability::Int8, Capability::StorageBuffer8BitAccess});
      else if (element.isInteger(16))
        needed.insert({Capability::Int16, Capability::StorageBuffer16BitAccess});
      else if (element.isF64())
        needed.insert(Capability::Float64);
    if (status.isOk())
      status = checkOp(op);
  });
  return status;
}
