//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Plans of the compiler on the simulated device: their waits are enough, and none is there for
/// nothing.
#include "smith/Drawer.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Runtime/Simulation.h"
#include "zyx/Session/Session.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace zyx;
using artifact::Artifact;

namespace {

/// A loop that is known to make no pass touches nothing, but waits and is waited for like any other:
/// how often a loop runs may also be a number in a buffer.
bool neverRuns(const artifact::Command &command) {
  const auto *loop = std::get_if<artifact::Loop>(&command.action);
  return loop && !loop->count && loop->trips <= 0;
}

using Outputs = std::vector<std::vector<std::byte>>;

Outputs run(const std::shared_ptr<runtime::Device> &device, const Artifact &artifact,
            const std::vector<HostTensor> &tensors) {
  auto executor = runtime::Executor::create(device, artifact);
  EXPECT_TRUE(executor.isOk()) << executor.status().toString();
  Outputs outputs;
  if (!executor.isOk())
    return outputs;
  for (size_t i = 0; i < artifact.inputs.size(); ++i)
    EXPECT_TRUE((*executor)->setInput(i, tensors[i].data).isOk());
  Status status = (*executor)->run();
  EXPECT_TRUE(status.isOk()) << status.toString();
  for (size_t i = 0; i < artifact.outputs.size(); ++i) {
    outputs.emplace_back(static_cast<size_t>(*byteSize(artifact.outputs[i].type)));
    EXPECT_TRUE((*executor)->readOutput(i, outputs.back()).isOk());
  }
  return outputs;
}

TEST(CompiledPlanTest, WaitsForWhatItNeedsAndNothingElse) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  session::Session session;
  auto host = *runtime::createDevice("cpu", {.threads = 1});
  const smith::Profile profile = smith::Profile::integers();
  size_t waits = 0;
  for (uint64_t seed = 0; seed < 48 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    smith::Program program = smith::drawProgram(seed, profile);
    session::CompileOptions options;
    // Where each op is a kernel there are more commands.
    options.noOptimise = seed % 2 == 0;
    auto compiled = session.compile(program.graph, options);
    ASSERT_TRUE(compiled.isOk()) << compiled.status().toString();
    auto artifact = Artifact::deserialize(compiled->output);
    ASSERT_TRUE(artifact.isOk()) << artifact.status().toString();
    const Outputs expected = run(host, *artifact, program.tensors);
    auto simulation = *runtime::Simulation::create({.seed = seed, .queues = 3, .lanes = 4});
    EXPECT_EQ(run(simulation->device(), *artifact, program.tensors), expected);
    for (const runtime::Race &race : simulation->races())
      ADD_FAILURE() << race.toString();

    for (size_t i = 0; i < artifact->commands.size(); ++i) {
      for (size_t wait = 0; wait < artifact->commands[i].wait.size(); ++wait) {
        if (neverRuns(artifact->commands[i]) || neverRuns(artifact->commands[artifact->commands[i].wait[wait]]))
          continue;
        Artifact mutant = *artifact;
        auto &list = mutant.commands[i].wait;
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(wait));
        auto checked = *runtime::Simulation::create({.seed = seed});
        run(checked->device(), mutant, program.tensors);
        EXPECT_FALSE(checked->races().empty()) << "command " << i << " without its wait " << wait << " has no race";
        ++waits;
      }
      // A loop is one command to the device.
      if (const auto *loop = std::get_if<artifact::Loop>(&artifact->commands[i].action))
        i += loop->body;
    }
  }
  EXPECT_GT(waits, 24u);
}

} // namespace
