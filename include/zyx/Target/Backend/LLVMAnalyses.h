//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_BACKEND_LLVMANALYSES_H
#define ZYX_TARGET_BACKEND_LLVMANALYSES_H

#include "llvm/Passes/PassBuilder.h"

namespace zyx::target {

/// What passes over LLVM IR need beside themselves: analyses of every level, which know each other.
/// `builder` makes the passes for the machine.
struct LLVMAnalyses {
  explicit LLVMAnalyses(llvm::TargetMachine *machine, llvm::PipelineTuningOptions tuning = {})
      : builder(machine, tuning) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(callGraphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, callGraphs, modules);
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

} // namespace zyx::target

#endif // ZYX_TARGET_BACKEND_LLVMANALYSES_H
