//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Transport.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {

/// Sends each function through the plain graph and its bytes, and puts what comes back in its
/// place.
struct TestTransportPass : PassWrapper<TestTransportPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestTransportPass)
  llvm::StringRef getArgument() const final { return "zyx-test-graph-transport"; }
  llvm::StringRef getDescription() const final {
    return "Export each function to bytes of the plain graph and import it again";
  }

  void runOnOperation() override {
    for (auto entry : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      auto graph = zyx::graph::ir::exportGraph(entry);
      if (!graph) {
        emitError(UnknownLoc::get(&getContext()), graph.status().message());
        return signalPassFailure();
      }
      auto again = zyx::graph::Graph::deserialize(graph->serialize());
      if (!again) {
        entry.emitError(again.status().message());
        return signalPassFailure();
      }
      auto module = zyx::graph::ir::importGraph(*again, &getContext());
      auto replacement = *module->getOps<func::FuncOp>().begin();
      replacement->moveBefore(entry);
      entry.erase();
    }
  }
};

} // namespace

namespace zyx::test {
void registerTestTransportPass() { PassRegistration<TestTransportPass>(); }
} // namespace zyx::test
