//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "conformance/Device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::conformance;

/// Random schedules would else be those that the compiler chooses, and nobody would see it.
TEST(DeviceTest, RefusesToDrawSchedulesWithoutTheCompiler) {
  graph::Graph graph;
  graph.name = "nothing";
  for (const std::unique_ptr<Device> &device :
       {openDevice("c", Optimise::Schedules, "native", true, "c"), openCompiler("c", Optimise::Schedules)}) {
    const Result<std::vector<HostTensor>> ran = device->run(graph, {});
    ASSERT_FALSE(ran.isOk());
    EXPECT_THAT(ran.status().message(), testing::HasSubstr("it needs to draw schedules"));
  }
}

/// The seed of the case, the target and the instruction set reach whoever draws.
TEST(DeviceTest, DrawsSchedulesByItsSeed) {
  const std::unique_ptr<Device> device = openCompiler(
      "c", Optimise::Schedules, true,
      [](const graph::Graph &graph, const std::string &target, const std::string &isa,
         uint64_t seed) -> Result<artifact::Artifact> {
        return Status::internal(graph.name + " for " + target + " on " + isa + " by " + std::to_string(seed));
      });
  graph::Graph graph;
  graph.name = "nothing";
  device->setSeed(7);
  EXPECT_EQ(device->run(graph, {}).status().message(), "nothing for c on native by 7");
}
