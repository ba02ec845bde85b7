//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Folded.h"

#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/Transforms/Passes.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Reference/Reference.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace zyx::conformance {

namespace {

class FoldedDevice final : public Device {
public:
  explicit FoldedDevice(bool groups) : groups(groups) {}
  bool isExact() const override { return !groups; }
  Roundings roundings() const override { return {.ofResults = groups}; }
  Result<std::vector<HostTensor>> run(const graph::Graph &graph, std::span<const HostTensor> inputs) override;

private:
  bool groups;
};

} // namespace

/// Puts the ops of each group back in its place.
static void dissolveGroups(ModuleOp module) {
  SmallVector<graph::ir::GroupOp> groups;
  module.walk([&](graph::ir::GroupOp group) { groups.push_back(group); });
  for (graph::ir::GroupOp group : groups) {
    OpBuilder builder(group);
    IRMapping mapping;
    mapping.map(group.getBlock().getArguments(), group.getInputs());
    for (Operation &op : group.getBlock().without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] : llvm::zip_equal(group.getResults(), group.getBlock().getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    group.erase();
  }
}

Result<std::vector<HostTensor>> FoldedDevice::run(const graph::Graph &graph, std::span<const HostTensor> inputs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::ir::GraphDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = graph::ir::importGraph(graph, &context);
  PassManager passes(&context);
  // Groups are formed without custom ops.
  if (groups)
    passes.addNestedPass<func::FuncOp>(graph::ir::createInlineCustomPass());
  passes.addPass(createCanonicalizerPass(GreedyRewriteConfig().setMaxIterations(10)));
  passes.addPass(createCSEPass());
  // As for a machine that computes the weights of any attention again.
  if (groups)
    pipelines::addFusionPasses(passes, {.tensorBits = 64});
  if (failed(passes.run(*module)))
    return Status::internal("the passes fail");
  dissolveGroups(*module);
  ZYX_ASSIGN_OR_RETURN(graph::Graph folded, graph::ir::exportGraph(*module->getOps<func::FuncOp>().begin()));
  return reference::evaluate(folded, inputs);
}

std::unique_ptr<Device> openFolded(bool groups) { return std::make_unique<FoldedDevice>(groups); }

} // namespace zyx::conformance
