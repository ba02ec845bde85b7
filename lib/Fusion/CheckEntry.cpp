//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CheckEntry.h"
#include "Blocks.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/FirstElements.h"
#include "zyx/Dialect/Graph/Analysis/InsideGathers.h"
#include "zyx/Dialect/Graph/Analysis/Updates.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Fusion/Passes.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_CHECKENTRYPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

LogicalResult zyx::fusion::checkEntry(func::FuncOp entry) {
  if (failed(requireNumbers(entry)))
    return failure();
  if (!entry.getBody().hasOneBlock())
    return entry.emitError("groups are formed in functions of one block");
  for (Block *block : getBlocks(entry))
    for (Operation &op : block->without_terminator())
      if (!isa<NodeOpInterface, LoopOp, ExternalOp>(op))
        return op.emitError("groups are formed of graph ops, of which this is none");
  return success();
}

namespace {

struct CheckEntry : zyx::fusion::impl::CheckEntryPassBase<CheckEntry> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (entry.isExternal())
      return;
    if (failed(zyx::fusion::checkEntry(entry)))
      return signalPassFailure();
    for (Block *block : zyx::fusion::getBlocks(entry))
      for (Operation &op : *block)
        for (StringRef note : {zyx::fusion::partsAttrName, zyx::fusion::headsAttrName, zyx::fusion::lastDimAttrName,
                               zyx::fusion::storedAttrName, zyx::fusion::recomputedAttrName, zyx::fusion::tableAttrName,
                               zyx::fusion::productsSumAttrName, runsAttrName, scatterPartsAttrName, segmentsAttrName,
                               insideAttrName, oneKernelAttrName, sumAttrName})
          op.removeAttr(note);
  }
};

} // namespace
