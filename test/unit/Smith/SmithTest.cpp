//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "conformance/Builder.h"
#include "smith/Cases.h"
#include "smith/Drawer.h"
#include "smith/Reduce.h"
#include "zyx/Reference/Reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

using namespace zyx;
using namespace zyx::smith;
using conformance::Outcome;
using graph::Op;

namespace {

bool hasReduceMax(const Program &program) {
  for (NodeId id : program.graph.reachable()) {
    const graph::Node &node = program.graph.node(id);
    if (node.op == Op::Reduce && node.attributes.kind == static_cast<uint8_t>(ReduceKind::Max))
      return true;
  }
  return false;
}

/// The interpreter, but a reduce max ends the process, or is off by a bit.
class FaultyDevice : public conformance::Device {
public:
  explicit FaultyDevice(bool crashes) : crashes(crashes) {}
  Result<std::vector<HostTensor>> run(const graph::Graph &graph, std::span<const HostTensor> inputs) override {
    Program program{graph, {}};
    const bool faulty = hasReduceMax(program);
    if (faulty && crashes)
      std::abort();
    ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> outputs, reference::evaluate(graph, inputs));
    if (faulty)
      for (HostTensor &output : outputs)
        if (!output.data.empty())
          output.data.back() ^= std::byte(0x20);
    return outputs;
  }

private:
  bool crashes;
};

uint64_t firstSeedWithReduceMax() {
  for (uint64_t seed = 1;; ++seed)
    if (const Program program = drawProgram(seed, Profile::mixed());
        hasReduceMax(program) && program.graph.reachable().size() > 8)
      return seed;
}

} // namespace

TEST(DrawerTest, ASeedIsOneGraph) {
  for (uint64_t seed = 1; seed < 50; ++seed) {
    const Program a = drawProgram(seed, Profile::mixed()), b = drawProgram(seed, Profile::mixed());
    EXPECT_EQ(a.graph.canonicalHash(), b.graph.canonicalHash()) << seed;
    EXPECT_TRUE(a.tensors == b.tensors) << seed;
    EXPECT_NE(a.graph.canonicalHash(), drawProgram(seed + 1, Profile::mixed()).graph.canonicalHash());
  }
}

TEST(DrawerTest, GraphsVerifyAndEveryTableIsUsed) {
  std::set<Op> ops;
  std::set<DType> dtypes;
  for (uint64_t seed = 1; seed < 600; ++seed) {
    const Program program = drawProgram(seed, Profile::mixed());
    ASSERT_TRUE(program.graph.verify().isOk()) << seed;
    ASSERT_EQ(program.tensors.size(), program.graph.inputs.size());
    for (NodeId id : program.graph.reachable()) {
      ops.insert(program.graph.node(id).op);
      dtypes.insert(program.graph.node(id).type.dtype);
    }
  }
  for (Op op : {Op::Constant, Op::Parameter, Op::Reshape, Op::Expand, Op::Permute, Op::Reduce, Op::Cast, Op::Unary,
                Op::Binary, Op::Select, Op::Iota, Op::Gather, Op::Scan, Op::Sort, Op::Scatter, Op::RandomBits})
    EXPECT_TRUE(ops.contains(op)) << toString(op);
  EXPECT_EQ(dtypes.size(), std::size(conformance::allDTypes));
}

TEST(DrawerTest, IntegerGraphsHaveNoFloats) {
  for (uint64_t seed = 1; seed < 300; ++seed) {
    const Program program = drawProgram(seed, Profile::integers());
    for (NodeId id : program.graph.reachable())
      ASSERT_FALSE(isFloat(program.graph.node(id).type.dtype)) << seed;
  }
}

TEST(ReduceTest, KeepsWhatIsInterestingAndLittleElse) {
  const Program program = drawProgram(firstSeedWithReduceMax(), Profile::mixed());
  int64_t numTests = 0;
  const Program small = reduceProgram(program, [&](const Program &candidate) {
    ++numTests;
    return hasReduceMax(candidate);
  });
  EXPECT_TRUE(hasReduceMax(small));
  EXPECT_TRUE(small.graph.verify().isOk());
  EXPECT_LE(small.graph.reachable().size(), 2u) << conformance::printGraph(small.graph);
  for (NodeId id : small.graph.reachable())
    EXPECT_LE(*numElements(small.graph.node(id).type.shape), 1);
  EXPECT_LT(numTests, 300);
  EXPECT_TRUE(reference::evaluate(small.graph, small.tensors).isOk());
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The nodes of a graph and of all bodies in it.
void forEachNode(const graph::Graph &graph, const std::function<void(const graph::Node &, int)> &see, int depth = 0) {
  for (NodeId id : graph.reachable()) {
    const graph::Node &node = graph.node(id);
    see(node, depth);
    if (node.attributes.body)
      forEachNode(node.attributes.body.graph(), see, depth + 1);
  }
}

/// Whether there is a tangent, at least so deep inside of bodies.
bool hasTan(const Program &program, int least) {
  bool found = false;
  forEachNode(program.graph, [&](const graph::Node &node, int depth) {
    found |= depth >= least && node.op == Op::Unary && node.attributes.kind == static_cast<uint8_t>(UnaryKind::Tan);
  });
  return found;
}

/// A loop of three carried values and two invariants, around a custom op with two results, one of
/// them the tangent.
Program makeNested() {
  Program program;
  conformance::Builder b(program, "main");
  const NodeId x = b.x(DType::F32, {9, 33}), y = b.x(DType::F32, {9, 33});
  const NodeId w = b.x(DType::F32, {33}), unused = b.x(DType::F32, {9});
  using Inputs = std::span<const NodeId>;
  const auto results =
      b.loop(7, {x, y, b.splat(DType::I64, {}, 3)}, {w, unused}, [&](conformance::Builder &s, Inputs in) {
        const NodeId wide = s.along(in[4], {9, 33}, 1);
        const auto inner = s.custom("both", {in[1], wide}, [](conformance::Builder &t, Inputs parts) {
          const NodeId sum = t.add(parts[0], parts[1]);
          return std::vector<NodeId>{t.unary(UnaryKind::Exp, sum), t.add(sum, t.unary(UnaryKind::Tan, sum))};
        });
        return std::vector<NodeId>{s.mul(inner[0], in[2]), inner[1], s.add(in[3], in[0])};
      });
  program.graph.outputs = {{"a", b.add(results[0], results[1])}, {"n", results[2]}};
  return program;
}

TEST(ReduceTest, PutsBodiesInPlaceOfTheirCalls) {
  const Program small = reduceProgram(makeNested(), [](const Program &candidate) { return hasTan(candidate, 0); });
  EXPECT_TRUE(hasTan(small, 0));
  EXPECT_EQ(small.graph.reachable().size(), 2u) << conformance::printGraph(small.graph);
}

TEST(ReduceTest, CutsInsideOfBodies) {
  const Program program = makeNested();
  ASSERT_TRUE(hasTan(program, 2));
  const Program small = reduceProgram(program, [](const Program &candidate) { return hasTan(candidate, 2); });
  ASSERT_TRUE(hasTan(small, 2));
  EXPECT_TRUE(small.graph.verify().isOk());
  EXPECT_TRUE(reference::evaluate(small.graph, small.tensors).isOk());
  int64_t numNodes = 0;
  forEachNode(small.graph, [&](const graph::Node &node, int) {
    ++numNodes;
    EXPECT_EQ(*numElements(node.type.shape), 1);
    if (!node.attributes.body)
      return;
    const graph::Graph &body = node.attributes.body.graph();
    EXPECT_EQ(body.outputs.size(), 1u) << conformance::printGraph(body);
    EXPECT_LE(node.operands.size(), 1u);
    if (node.op == Op::Loop)
      EXPECT_EQ(node.attributes.trips, 1);
  });
  // A value, the loop; what it carries, the custom op; the tangent and its operand.
  EXPECT_LE(numNodes, 6) << conformance::printGraph(small.graph);
}

TEST(ReduceTest, StopsAfterSoManyTests) {
  uint64_t seed = 1;
  while (drawProgram(seed, Profile::mixed()).graph.reachable().size() < 20)
    ++seed;
  const Program program = drawProgram(seed, Profile::mixed());
  int64_t numTests = 0;
  (void)reduceProgram(program, [&](const Program &) { return ++numTests % 2 == 0; }, 5);
  EXPECT_EQ(numTests, 5);
}

TEST(RunInChildTest, SaysHowAProgramFails) {
  const Program program = drawProgram(firstSeedWithReduceMax(), Profile::mixed());
  const Failure right = runInChild(program, [] { return conformance::openDevice("reference", {}); }, 60);
  EXPECT_EQ(right.outcome, Outcome::Pass) << right.text;
  const Failure wrong = runInChild(program, [] { return std::make_unique<FaultyDevice>(false); }, 60);
  EXPECT_EQ(wrong.outcome, Outcome::Wrong);
  const Failure crash = runInChild(program, [] { return std::make_unique<FaultyDevice>(true); }, 60);
  EXPECT_EQ(crash.outcome, Outcome::Crash);
  EXPECT_EQ(crash.text, "ends with signal Aborted");
  EXPECT_FALSE(isSameFailure(wrong, crash));
  EXPECT_TRUE(isSameFailure({Outcome::Refused, "has 3 dims"}, {Outcome::Refused, "has 12 dims"}));
  EXPECT_FALSE(isSameFailure({Outcome::Refused, "has 3 dims"}, {Outcome::Refused, "no dims"}));
}

/// A crash in a batch is one verdict, named by its seed; the others have theirs.
TEST(RunCasesTest, ACrashIsNamedByItsSeed) {
  std::vector<conformance::Case> cases;
  addRandomCases(cases, 1, 60);
  conformance::RunOptions options;
  options.batch = 16;
  const std::vector<conformance::Verdict> verdicts =
      conformance::runCases(cases, {[] { return std::make_unique<FaultyDevice>(true); }}, options);
  ASSERT_EQ(verdicts.size(), cases.size());
  size_t numCrashes = 0;
  for (const conformance::Verdict &verdict : verdicts) {
    Program program;
    Builder builder(program, "x");
    const std::vector<NodeId> outputs = cases[verdict.index].build(builder);
    for (size_t i = 0; i < outputs.size(); ++i)
      program.graph.outputs.push_back({"y." + std::to_string(i), outputs[i]});
    EXPECT_EQ(verdict.outcome == Outcome::Crash, hasReduceMax(program)) << verdict.index;
    numCrashes += verdict.outcome == Outcome::Crash;
  }
  EXPECT_GT(numCrashes, 0u);
  EXPECT_LT(numCrashes, cases.size());
}

/// Each device has a verdict on each case, whatever becomes of the others that share its batch and the interpreter's
/// answers.
TEST(RunCasesTest, DevicesShareBatchesAndNoVerdicts) {
  std::vector<conformance::Case> cases;
  addRandomCases(cases, 1, 40);
  conformance::RunOptions options;
  options.batch = 16;
  const std::vector<conformance::Verdict> verdicts = conformance::runCases(
      cases,
      {[] { return conformance::openDevice("reference", {}); }, [] { return std::make_unique<FaultyDevice>(true); },
       [] { return conformance::openCorrupted(); }, [] { return conformance::openDevice("reference", {}); }},
      options);
  std::map<std::pair<size_t, Outcome>, std::set<size_t>> found;
  for (const conformance::Verdict &verdict : verdicts)
    found[{verdict.device, verdict.outcome}].insert(verdict.index);
  ASSERT_EQ(verdicts.size(), 4 * cases.size());
  for (size_t device : {0, 3})
    EXPECT_EQ((found[{device, Outcome::Pass}].size()), cases.size()) << device;
  EXPECT_GT((found[{1, Outcome::Crash}].size()), 0u);
  EXPECT_GT((found[{1, Outcome::Pass}].size()), 0u);
  // A bit of a bool or of what its bound leaves free is nothing wrong.
  EXPECT_GT((found[{2, Outcome::Wrong}].size()), cases.size() / 2);
  EXPECT_EQ((found[{2, Outcome::Crash}].size()), 0u);
}
