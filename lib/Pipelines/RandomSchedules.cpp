//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The phases as tests with a seed run them: Options::scheduleSeed.
//===----------------------------------------------------------------------===//
#include "Phases.h"

#include "zyx/Conversion/GraphToKernel/Passes.h"
#include "zyx/Cost/Passes.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Target/Info/Budgets.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::pipelines;

/// On machines without tensor cores, half of the seeds group ops as for tensor cores of operands of any size.
static int64_t drawMatrixBits(const Options &options) {
  const int64_t bits = target::matrixOperandBits(options.target);
  return bits == 0 && options.scheduleSeed % 2 == 1 ? 64 : bits;
}

/// Groups are cut anywhere, and results are stored in any order of their axes.
static void addRandomKernelPhase(OpPassManager &passes, const Options &options) {
  const bool isWeighed = options.optimise && options.fusion == Fusion::Weighed;
  if (options.optimise)
    passes.addNestedPass<func::FuncOp>(createSplitGroupsPass());
  if (isWeighed)
    passes.addNestedPass<func::FuncOp>(cost::createCutGroupsPass({options.scheduleSeed}));
  if (isWeighed && options.target.hasTensorCores())
    passes.addNestedPass<func::FuncOp>(cost::createLayOutResultsPass({options.scheduleSeed}));
  addKernelPasses(passes, options);
}

bool zyx::pipelines::addRandomPhase(Phase phase, OpPassManager &passes, const Options &options) {
  switch (phase) {
  case Phase::Groups:
    addGroupPasses(passes, options, drawMatrixBits(options));
    return true;
  case Phase::Kernel:
    addRandomKernelPhase(passes, options);
    return true;
  case Phase::Schedule:
    passes.addPass(schedule::createDrawSchedulePass(
        {options.scheduleSeed,
         options.target.hasSharedMemory() ? std::min<int64_t>(256, options.target.simt.workgroupThreads) : 1}));
    return true;
  default:
    return false;
  }
}
