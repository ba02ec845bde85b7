//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_PLANTOARTIFACT_PLANTOARTIFACT_H
#define ZYX_CONVERSION_PLANTOARTIFACT_PLANTOARTIFACT_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Conversion/PlanToArtifact/KernelFacts.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

namespace zyx::plan {

/// The module's one `plan.func`, whose temporaries are slices of an arena, together with the code
/// of all its kernels: one piece, or one for each in the module's order. Kernels whose facts are
/// not given are still in the module in their lowered form. The failure names the entry and what an artifact cannot
/// hold.
Result<artifact::Artifact> toArtifact(mlir::ModuleOp module, const target::TargetInfo &target,
                                      std::vector<artifact::CodeBlob> code, FactsByName facts = {});

} // namespace zyx::plan

#endif // ZYX_CONVERSION_PLANTOARTIFACT_PLANTOARTIFACT_H
