//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Fusion/Passes.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_ERASEUNUSEDPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;

namespace {

struct EraseUnused : zyx::fusion::impl::EraseUnusedPassBase<EraseUnused> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), zyx::fusion::eraseUnused)))
      signalPassFailure();
  }
};

} // namespace
