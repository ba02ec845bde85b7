//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_PIPELINES_INITALL_H
#define ZYX_PIPELINES_INITALL_H

#include "zyx/Codegen/Loops/Passes.h"
#include "zyx/Codegen/Matrix/Passes.h"
#include "zyx/Codegen/Tile/Passes.h"
#include "zyx/Conversion/GraphToKernel/Passes.h"
#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Conversion/KernelToLLVM/KernelToLLVM.h"
#include "zyx/Conversion/KernelToNVVM/Passes.h"
#include "zyx/Cost/Passes.h"
#include "zyx/Dialect/Graph/IR/GraphDialect.h"
#include "zyx/Dialect/Graph/Transforms/Passes.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Dialect/Plan/IR/PlanDialect.h"
#include "zyx/Dialect/Plan/Transforms/Passes.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Schedule/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace zyx {

/// Every dialect that a file of ours may hold: our own, and those of upstream that our lowerings
/// use.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::NVVM::NVVMDialect, mlir::ROCDL::ROCDLDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  registry.insert<graph::ir::GraphDialect, kernel::KernelDialect, plan::PlanDialect>();
  mlir::func::registerInlinerExtension(registry);
}

/// Every pass and pipeline of ours, and the general ones of upstream.
inline void registerAllPasses() {
  mlir::registerTransformsPasses();
  registerZyxGraphToKernelPasses();
  cost::registerZyxCostPasses();
  graph::ir::registerZyxGraphPasses();
  kernel::registerZyxKernelPasses();
  kernel::registerZyxTilePasses();
  kernel::registerZyxMatrixPasses();
  kernel::registerZyxLoopsPasses();
  kernel::registerZyxKernelToGPUPasses();
  kernel::registerZyxKernelToLLVMPasses();
  kernel::registerZyxKernelToNVVMPasses();
  plan::registerZyxPlanPasses();
  schedule::registerZyxSchedulePasses();
  fusion::registerZyxFusionPasses();
  pipelines::registerCompilePipeline();
  pipelines::registerFusePipeline();
}

} // namespace zyx

#endif // ZYX_PIPELINES_INITALL_H
