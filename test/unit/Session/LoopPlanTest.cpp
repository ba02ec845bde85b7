//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a pass of a compiled loop touches: it does not grow with the number of passes, and nothing is copied that was
// computed in the pass.
#include "zyx/Artifact/Commands.h"
#include "zyx/Graph/Gradient.h"
#include "zyx/Session/Session.h"

#include "conformance/Builder.h"
#include "conformance/Values.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

using namespace zyx;
using namespace zyx::graph;
using artifact::Artifact;
using conformance::Builder;

namespace {

/// Of the bodies of all loops: commands, and bytes of one pass.
struct Work {
  size_t loops = 0, copies = 0, launches = 0;
  uint64_t bytes = 0;
};

Work workOf(const Artifact &artifact) {
  Work work;
  for (size_t i = artifact.numInitCommands; i < artifact.commands.size(); ++i) {
    const auto *loop = std::get_if<artifact::Loop>(&artifact.commands[i].action);
    if (!loop)
      continue;
    ++work.loops;
    const std::vector<size_t> ends = artifact::endsOfBodies(*loop, i);
    for (size_t inside = i + 1; inside < ends.back(); ++inside) {
      const auto &action = artifact.commands[inside].action;
      const auto *launch = std::get_if<artifact::Launch>(&action);
      const auto *copy = std::get_if<artifact::Copy>(&action);
      const auto *fill = std::get_if<artifact::Fill>(&action);
      work.launches += launch != nullptr;
      work.copies += copy || fill;
      if (inside < ends.front())
        work.bytes += launch ? launch->bytes : copy ? copy->size : fill ? fill->size : 0;
    }
    i = ends.back() - 1;
  }
  return work;
}

class LoopPlanTest : public testing::TestWithParam<const char *> {
protected:
  Work compile(const std::function<std::vector<NodeId>(Builder &)> &build) {
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
    conformance::Program program;
    Builder b(program, "main");
    for (NodeId result : build(b))
      program.graph.outputs.push_back({"r" + std::to_string(program.graph.outputs.size()), result});
    session::CompileOptions options;
    options.target = GetParam();
    auto compiled = session.compile(program.graph, options);
    EXPECT_TRUE(compiled.isOk()) << compiled.status().toString();
    if (!compiled.isOk())
      return {};
    auto artifact = Artifact::deserialize(compiled->output);
    EXPECT_TRUE(artifact.isOk()) << artifact.status().toString();
    return artifact.isOk() ? workOf(*artifact) : Work();
  }

  session::Session session;
};

constexpr int64_t rows = 4, width = 16;

/// h = tanh(h w + x), so often, and the gradients of h w + x.
std::vector<NodeId> recurrence(Builder &b, int64_t trips, bool hasGradients) {
  const NodeId h = b.x(DType::F32, {rows, width}), w = b.x(DType::F32, {width, width}),
               x = b.x(DType::F32, {rows, width});
  const NodeId y = b.loop(trips, {h}, {w, x}, [](Builder &s, std::span<const NodeId> in) {
    return std::vector{s.unary(UnaryKind::Tanh, s.add(s.matmul(in[1], in[2], DType::F32), in[3]))};
  })[0];
  if (!hasGradients)
    return {y};
  const std::vector<NodeId> sources{h, w, x};
  const auto gradients = gradient(b.graph(), y, sources);
  EXPECT_TRUE(gradients.isOk()) << gradients.status().toString();
  std::vector<NodeId> all{y};
  for (const auto &found : *gradients)
    all.push_back(found.value());
  return all;
}

TEST_P(LoopPlanTest, ARecurrenceCopiesNothing) {
  for (int64_t trips : {1, 7, 500}) {
    const Work work = compile([&](Builder &b) { return recurrence(b, trips, false); });
    // Where there are clusters it is one kernel.
    EXPECT_EQ(work.loops, GetParam() == std::string_view("sm_90a") && trips > 1 ? 0u : 1u) << trips;
    EXPECT_EQ(work.copies, 0u) << trips;
  }
}

TEST_P(LoopPlanTest, PassesOfGradientsTouchTheSameHoweverManyThereAre) {
  const Work few = compile([](Builder &b) { return recurrence(b, 12, true); });
  const Work many = compile([](Builder &b) { return recurrence(b, 1200, true); });
  EXPECT_EQ(few.copies, 0u);
  EXPECT_EQ(many.copies, 0u);
  EXPECT_EQ(many.launches, few.launches);
  EXPECT_EQ(many.bytes, few.bytes);
  // A product, three in the way back, and the rows that are stored and read.
  EXPECT_LT(many.bytes, 40u * 4 * width * width);
}

/// Reads row i of x in trip i, and writes row i of the result.
std::vector<NodeId> walk(Builder &b, int64_t trips) {
  const NodeId x = b.x(DType::F32, {trips, width}), w = b.x(DType::F32, {width});
  const NodeId y = b.loop(trips, {b.splat(DType::F32, {width}, 0), b.splat(DType::F32, {trips, width}, 0)}, {x, w},
                          [](Builder &s, std::span<const NodeId> in) {
                            const NodeId next = s.add(s.mul(in[1], in[4]), s.gather(in[3], in[0], 0));
                            return std::vector{next, s.scatter(ScatterKind::Set, in[2], in[0], next, 0)};
                          })[1];
  const std::vector<NodeId> sources{x, w};
  const auto gradients = gradient(b.graph(), y, sources);
  EXPECT_TRUE(gradients.isOk()) << gradients.status().toString();
  return {y, gradients->at(0).value(), gradients->at(1).value()};
}

TEST_P(LoopPlanTest, RowsAreReadAndWrittenByThemselves) {
  const Work few = compile([](Builder &b) { return walk(b, 10); });
  const Work many = compile([](Builder &b) { return walk(b, 1000); });
  EXPECT_EQ(many.copies, 0u);
  EXPECT_EQ(many.launches, few.launches);
  EXPECT_EQ(many.bytes, few.bytes);
}

TEST_P(LoopPlanTest, ValuesThatChangePlacesAreNotCopied) {
  const Work work = compile([](Builder &b) {
    const NodeId x = b.x(DType::F32, {width}), y = b.x(DType::F32, {width});
    return b.loop(9, {x, y, x, y, x}, {}, [](Builder &s, std::span<const NodeId> in) {
      return std::vector{in[2], in[1], in[4], s.add(in[3], in[5]), s.unary(UnaryKind::Neg, in[5])};
    });
  });
  EXPECT_EQ(work.copies, 0u);
}

/// Who reads the whole of it behind the update gets a copy of it.
TEST_P(LoopPlanTest, WhatIsStillReadStaysWhole) {
  const Work work = compile([](Builder &b) {
    const NodeId x = b.x(DType::F32, {width, width});
    return b.loop(9, {x, x}, {}, [](Builder &s, std::span<const NodeId> in) {
      const NodeId next = s.scatter(ScatterKind::Set, in[1], in[0], s.gather(in[2], in[0], 0), 0);
      return std::vector{next, s.add(in[1], next)};
    });
  });
  EXPECT_GE(work.bytes, 4u * 4 * width * width);
}

INSTANTIATE_TEST_SUITE_P(Targets, LoopPlanTest, testing::Values("cpu", "c", "sm_80", "sm_90a"),
                         [](const auto &target) { return std::string(target.param); });

} // namespace
