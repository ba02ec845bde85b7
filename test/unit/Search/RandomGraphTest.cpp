//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Forms groups of random programs. A group that is dissolved must give back the program, by its
// canonical hash; moving views must keep every value, by the interpreter.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Reference/Reference.h"
#include "zyx/Search/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <random>

using namespace zyx;
using graph::NodeId;

namespace {

/// Draws programs in which everything meets everything: few extents, so that shapes agree often.
class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  graph::Graph make(int numOps) {
    for (int i = 0; i < 3; ++i) {
      NodeId id = *graph.parameter("p" + std::to_string(i), {DType::I32, drawShape()});
      graph.inputs.push_back(id);
      values.push_back(id);
    }
    for (int i = 0; i < numOps; ++i)
      values.push_back(addOp());
    // Late values and a few others leave the program.
    int numOutputs = 1 + draw(3);
    for (int i = 0; i < numOutputs; ++i)
      graph.outputs.push_back(
          {"y" + std::to_string(i), i == 0 ? values.back() : values[draw(values.size())]});
    return std::move(graph);
  }

private:
  size_t draw(size_t count) { return random() % count; }
  NodeId drawValue() {
    // Recent values more often, which makes chains.
    return draw(2) ? values[values.size() - 1 - draw(std::min<size_t>(4, values.size()))]
                   : values[draw(values.size())];
  }
  Shape drawShape() {
    static constexpr int64_t extents[] = {1, 2, 3, 4};
    Shape shape(draw(4));
    for (int64_t &extent : shape)
      extent = extents[draw(4)];
    return shape;
  }
  const Shape &shapeOf(NodeId id) const { return graph.node(id).type.shape; }

  /// Some way from a value to a shape: expands where that is one, else a reduce or a gather.
  NodeId fit(NodeId id, const Shape &shape) {
    if (shapeOf(id) == shape)
      return id;
    if (*numElements(shapeOf(id)) == *numElements(shape))
      return *graph.reshape(id, shape);
    // A row of matching extents may be repeated along the others.
    const Shape from = shapeOf(id);
    Shape narrow(shape.size(), 1);
    size_t next = 0;
    for (size_t i = 0; i < shape.size() && next < from.size(); ++i)
      if (shape[i] == from[next])
        narrow[i] = from[next++];
    if (next == from.size())
      return *graph.expand(*graph.reshape(id, narrow), shape);
    // All of it as one number, everywhere.
    std::vector<int64_t> all(from.size());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = i;
    NodeId sum = all.empty() ? id : *graph.reduce(graph::ReduceKind::Add, id, all);
    return *graph.expand(*graph.reshape(sum, Shape(shape.size(), 1)), shape);
  }

  NodeId addOp() {
    NodeId x = drawValue();
    const Shape shape = shapeOf(x);
    switch (draw(12)) {
    case 0:
      return *graph.unary(draw(2) ? graph::UnaryKind::Neg : graph::UnaryKind::Not, x);
    case 1:
    case 2:
    case 3: {
      static constexpr graph::BinaryKind kinds[] = {graph::BinaryKind::Add, graph::BinaryKind::Mul,
                                                    graph::BinaryKind::Sub, graph::BinaryKind::Min};
      return *graph.binary(kinds[draw(4)], x, fit(drawValue(), shape));
    }
    case 4:
    case 5:
      if (shape.empty())
        return *graph.unary(graph::UnaryKind::Abs, x);
      return *graph.reduce(draw(2) ? graph::ReduceKind::Add : graph::ReduceKind::Max, x,
                           {static_cast<int64_t>(draw(shape.size()))});
    case 6: {
      std::vector<int64_t> order(shape.size());
      for (size_t i = 0; i < order.size(); ++i)
        order[i] = i;
      std::shuffle(order.begin(), order.end(), random);
      return *graph.permute(x, order);
    }
    case 7:
      return fit(x, drawShape());
    case 8: {
      NodeId y = fit(drawValue(), shape);
      return *graph.select(*graph.binary(graph::BinaryKind::Lt, x, y), y, fit(drawValue(), shape));
    }
    case 9: {
      if (shape.empty())
        return x;
      NodeId iota = *graph.iota({DType::I32, shape}, draw(shape.size()));
      return *graph.binary(graph::BinaryKind::Add, x, iota);
    }
    case 10: {
      NodeId from = drawValue();
      if (shapeOf(from).empty() || shape.size() + shapeOf(from).size() > 4)
        return x;
      return *graph.gather(from, x, draw(shapeOf(from).size()));
    }
    default: {
      // A matrix product with what there is.
      NodeId y = drawValue();
      if (shape.size() != 2 || shapeOf(y).size() != 2 || shape[1] != shapeOf(y)[0])
        return *graph.cast(*graph.cast(x, DType::I8), DType::I32);
      const int64_t m = shape[0], k = shape[1], n = shapeOf(y)[1];
      NodeId a = *graph.expand(*graph.reshape(x, {m, 1, k}), {m, n, k});
      NodeId transposed = *graph.permute(y, {1, 0});
      NodeId b = *graph.expand(*graph.reshape(transposed, {1, n, k}), {m, n, k});
      return *graph.reduce(graph::ReduceKind::Add, *graph.binary(graph::BinaryKind::Mul, a, b),
                           {2});
    }
    }
  }

  std::mt19937 random;
  graph::Graph graph;
  std::vector<NodeId> values;
};

/// The members of each group in its place.
void dissolve(mlir::func::FuncOp entry) {
  for (auto group : llvm::make_early_inc_range(entry.getOps<graph::ir::GroupOp>())) {
    mlir::IRMapping mapping;
    mapping.map(group.getBlock().getArguments(), group.getInputs());
    mlir::OpBuilder builder(group);
    for (mlir::Operation &op : group.getBlock().without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] :
         llvm::zip(group.getResults(), group.getBlock().getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    group.erase();
  }
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
                                        std::vector<std::unique_ptr<mlir::Pass>> passes) {
    auto module = graph::ir::importGraph(graph, &context);
    mlir::PassManager manager(&context);
    for (std::unique_ptr<mlir::Pass> &pass : passes)
      manager.addNestedPass<mlir::func::FuncOp>(std::move(pass));
    EXPECT_TRUE(succeeded(manager.run(*module)));
    return module;
  }

  mlir::MLIRContext context;
};

mlir::func::FuncOp entryOf(mlir::ModuleOp module) {
  return *module.getOps<mlir::func::FuncOp>().begin();
}

template <typename... Passes> std::vector<std::unique_ptr<mlir::Pass>> list(Passes... passes) {
  std::vector<std::unique_ptr<mlir::Pass>> result;
  (result.push_back(std::move(passes)), ...);
  return result;
}

} // namespace

TEST_F(RandomGraphTest, GroupsMeanTheirProgram) {
  size_t numGroups = 0, numPrograms = 1000;
  for (unsigned seed = 0; seed < numPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const graph::Graph program = Generator(seed).make(4 + seed % 40);

    auto normal = run(program, list(search::createNormalizeViewsPass()));
    auto normalGraph = graph::ir::exportGraph(entryOf(*normal));
    ASSERT_TRUE(normalGraph.isOk()) << normalGraph.status().toString();
    std::vector<HostTensor> inputs;
    for (NodeId id : program.inputs) {
      HostTensor input{program.node(id).type, {}};
      input.data.resize(*byteSize(input.type));
      for (size_t i = 0; i < input.data.size(); i += 4)
        input.data[i] = static_cast<std::byte>(i * 7 % 5);
      inputs.push_back(std::move(input));
    }
    auto expected = reference::evaluate(program, inputs);
    auto actual = reference::evaluate(*normalGraph, inputs);
    ASSERT_TRUE(expected.isOk() && actual.isOk());
    EXPECT_TRUE(*expected == *actual);

    auto grouped =
        run(program, list(search::createFormGroupsPass(), search::createVerifyGroupsPass()));
    ASSERT_TRUE(succeeded(mlir::verify(*grouped)));
    for ([[maybe_unused]] auto group : entryOf(*grouped).getOps<graph::ir::GroupOp>())
      ++numGroups;
    dissolve(entryOf(*grouped));
    auto dissolved = graph::ir::exportGraph(entryOf(*grouped));
    ASSERT_TRUE(dissolved.isOk()) << dissolved.status().toString();
    EXPECT_EQ(dissolved->canonicalHash(), normalGraph->canonicalHash());
    if (HasFailure())
      return;
  }
  // On average a program falls into a few groups; one per op would be no fusion at all.
  EXPECT_GT(numGroups, numPrograms);
  EXPECT_LT(numGroups, numPrograms * 8);
  RecordProperty("groups", static_cast<int>(numGroups));
}
