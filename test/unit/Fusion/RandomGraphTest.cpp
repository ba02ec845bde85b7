//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Forms groups of random programs. A group that is dissolved must give back the program, by its
// canonical hash; moving views must keep every value, by the interpreter.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Reference/Reference.h"

#include "smith/Drawer.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace zyx;

namespace {

/// The members of each group in its place.
void dissolve(mlir::func::FuncOp entry) {
  entry.walk([](graph::ir::GroupOp group) {
    mlir::IRMapping mapping;
    mapping.map(group.getBlock().getArguments(), group.getInputs());
    mlir::OpBuilder builder(group);
    for (mlir::Operation &op : group.getBlock().without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] : llvm::zip(group.getResults(), group.getBlock().getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    group.erase();
  });
}

/// An iota counts up from 0; where one must be stored, the former lets abs of it do that.
void dropAbsOfIota(mlir::func::FuncOp entry) {
  entry.walk([](graph::ir::UnaryOp op) {
    if (op.getKind() == graph::ir::UnaryKind::Abs && op.getX().getDefiningOp<graph::ir::IotaOp>()) {
      op.replaceAllUsesWith(op.getX());
      op.erase();
    }
  });
}

class RandomGraphTest : public testing::Test {
protected:
  RandomGraphTest() {
    mlir::DialectRegistry registry;
    registry.insert<graph::ir::GraphDialect, mlir::func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  mlir::OwningOpRef<mlir::ModuleOp> run(const graph::Graph &graph,
                                        llvm::function_ref<void(mlir::OpPassManager &)> addPasses) {
    auto module = graph::ir::importGraph(graph, &context);
    mlir::PassManager manager(&context);
    addPasses(manager);
    EXPECT_TRUE(succeeded(manager.run(*module)));
    return module;
  }

  mlir::MLIRContext context;
};

mlir::func::FuncOp entryOf(mlir::ModuleOp module) { return *module.getOps<mlir::func::FuncOp>().begin(); }

} // namespace

TEST_F(RandomGraphTest, GroupsMeanTheirProgram) {
  size_t numGroups = 0, numPrograms = 1000;
  for (unsigned seed = 0; seed < numPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [program, inputs] = smith::drawProgram(seed, smith::Profile::integers());

    auto normal = run(program, [](mlir::OpPassManager &passes) {
      passes.addNestedPass<mlir::func::FuncOp>(fusion::createDecomposeMovementPass());
      passes.addNestedPass<mlir::func::FuncOp>(fusion::createNormalizeViewsPass());
    });
    dropAbsOfIota(entryOf(*normal));
    auto normalGraph = graph::ir::exportGraph(entryOf(*normal));
    ASSERT_TRUE(normalGraph.isOk()) << normalGraph.status().toString();
    auto expected = reference::evaluate(program, inputs);
    auto actual = reference::evaluate(*normalGraph, inputs);
    ASSERT_TRUE(expected.isOk() && actual.isOk());
    EXPECT_TRUE(*expected == *actual);

    auto grouped = run(program, [](mlir::OpPassManager &passes) {
      pipelines::addFusionPasses(passes, {});
      passes.addNestedPass<mlir::func::FuncOp>(fusion::createVerifyGroupsPass());
    });
    ASSERT_TRUE(succeeded(mlir::verify(*grouped)));
    entryOf(*grouped).walk([&](graph::ir::GroupOp) { ++numGroups; });
    dissolve(entryOf(*grouped));
    dropAbsOfIota(entryOf(*grouped));
    auto dissolved = graph::ir::exportGraph(entryOf(*grouped));
    ASSERT_TRUE(dissolved.isOk()) << dissolved.status().toString();
    // Not only views are rewritten before groups are formed: loops, places and products are, too.
    auto values = reference::evaluate(*dissolved, inputs);
    ASSERT_TRUE(values.isOk());
    EXPECT_TRUE(*values == *expected) << conformance::printGraph(*dissolved);
    if (HasFailure())
      return;
  }
  // On average a program falls into a few groups; one per op would be no fusion at all.
  EXPECT_GT(numGroups, numPrograms);
  EXPECT_LT(numGroups, numPrograms * 8);
  RecordProperty("groups", static_cast<int>(numGroups));
}
