//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Random plans on the simulated device: results as those of the host device, no race with all
/// waits, and a race for each wait that mattered and was taken away.
#include "RandomOrder.h"
#include "TestKernels.h"
#include "zyx/Base/File.h"
#include "zyx/Runtime/Executor.h"

#include <array>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using artifact::BufferKind;

namespace {

constexpr size_t elements = 4;
constexpr uint64_t bytes = elements * sizeof(uint64_t);
using Values = std::vector<uint64_t>;

/// The buffers that a command uses.
struct Uses {
  std::vector<uint32_t> reads;
  uint32_t write = 0;
};

Uses usesOf(const artifact::Command &command) {
  if (const auto *launch = std::get_if<artifact::Launch>(&command.action))
    return {{launch->buffers[0].buffer, launch->buffers[1].buffer}, launch->buffers[2].buffer};
  if (const auto *copy = std::get_if<artifact::Copy>(&command.action))
    return {{copy->source.buffer}, copy->destination.buffer};
  return {{}, std::get<artifact::Fill>(command.action).destination.buffer};
}

bool conflict(const Uses &later, const Uses &earlier) {
  auto has = [](const Uses &uses, uint32_t buffer) {
    return std::find(uses.reads.begin(), uses.reads.end(), buffer) != uses.reads.end();
  };
  return later.write == earlier.write || has(later, earlier.write) || has(earlier, later.write);
}

/// Two inputs, two outputs, some buffers of the arena; each command waits for all earlier ones that
/// it conflicts with and that no other wait implies.
Artifact randomPlan(Random &random, const std::vector<std::byte> &code) {
  Artifact a;
  a.entry = "plan";
  a.target = "cpu";
  const TensorType type{DType::U64, {elements}};
  a.inputs = {{"a", type}, {"b", type}};
  a.outputs = {{"x", type}, {"y", type}};
  a.buffers = {{BufferKind::Input, 0, bytes},
               {BufferKind::Input, 1, bytes},
               {BufferKind::Output, 0, bytes},
               {BufferKind::Output, 1, bytes}};
  const uint32_t numArena = 1 + static_cast<uint32_t>(random.below(4));
  for (uint32_t i = 0; i < numArena; ++i)
    a.buffers.push_back({BufferKind::Arena, i * artifact::alignment, bytes});
  a.arenaSize = numArena * artifact::alignment;
  a.code = {{"elf-so", code}};
  a.kernels = {{"mix", 0, 3, 1, "mix", {}, 1}};
  const auto numBuffers = static_cast<uint32_t>(a.buffers.size());
  // All that is not input gets a value first.
  for (uint32_t i = 2; i < numBuffers; ++i)
    a.commands.push_back({artifact::Fill{{i, 0}, bytes, random.next(), 8}, {}});
  const size_t count = 1 + random.below(15);
  for (size_t i = 0; i < count; ++i) {
    const auto to = static_cast<uint32_t>(2 + random.below(numBuffers - 2));
    auto from = [&] { return static_cast<uint32_t>((to + 1 + random.below(numBuffers - 1)) % numBuffers); };
    if (random.oneIn(5))
      a.commands.push_back({artifact::Copy{{from(), 0}, {to, 0}, bytes}, {}});
    else
      a.commands.push_back(
          {artifact::Launch{
               0, {{from(), 0}, {from(), 0}, {to, 0}}, {1, 1, elements}, {static_cast<int64_t>(random.next())}},
           {}});
  }
  std::vector<std::vector<bool>> before;
  for (uint32_t i = 0; i < a.commands.size(); ++i) {
    std::vector<bool> done(i);
    for (uint32_t j = i; j-- > 0;) {
      if (done[j] || !conflict(usesOf(a.commands[i]), usesOf(a.commands[j])))
        continue;
      a.commands[i].wait.push_back(j);
      done[j] = true;
      for (uint32_t k = 0; k < j; ++k)
        done[k] = done[k] || before[j][k];
    }
    before.push_back(std::move(done));
  }
  return a;
}

/// What must be found, by the buffers' numbers in place of addresses.
Order orderOf(const Artifact &artifact) {
  Order order;
  for (size_t i = 0; i < artifact.commands.size(); ++i) {
    const artifact::Command &command = artifact.commands[i];
    const Uses uses = usesOf(command);
    std::vector<Access> accesses = {{uses.write, uses.write + 1, true}};
    for (uint32_t read : uses.reads)
      accesses.push_back({read, read + 1, false});
    static constexpr const char *kinds[] = {"mix", "copy", "fill"};
    order.add(kinds[command.action.index()] + std::string(", command ") + std::to_string(i) + " of plan", accesses,
              {command.wait.begin(), command.wait.end()});
  }
  return order;
}

class RandomPlanTest : public testing::Test {
protected:
  void SetUp() override {
    auto read = readFile(testKernels());
    ASSERT_TRUE(read.isOk());
    code = std::move(*read);
  }

  /// The outputs of `runs` runs, each of which gets the first output of the one before.
  std::vector<Values> outputs(const std::shared_ptr<Device> &device, const Artifact &artifact, Random random,
                              size_t runs, Simulation *simulation) {
    std::vector<std::unique_ptr<Executor>> executors;
    std::vector<std::shared_ptr<Buffer>> chain;
    std::vector<Values> results;
    for (size_t run = 0; run < runs; ++run) {
      auto created = Executor::create(device, artifact);
      EXPECT_TRUE(created.isOk()) << created.status().toString();
      Executor &executor = **created;
      Values values(elements);
      for (uint64_t &value : values)
        value = random.next();
      EXPECT_TRUE(executor.setInput(1, std::as_bytes(std::span(values))).isOk());
      if (run == 0)
        EXPECT_TRUE(executor.setInput(0, std::as_bytes(std::span(values))).isOk());
      else
        EXPECT_TRUE(executor.bindInput(0, chain.back()).isOk());
      chain.push_back(*Buffer::allocate(device->pool(), bytes));
      EXPECT_TRUE(executor.bindOutput(0, chain.back()).isOk());
      executors.push_back(std::move(*created));
    }
    if (simulation)
      simulation->hold();
    // Twice, so that runs of one program follow each other.
    for (int round = 0; round < 2; ++round)
      for (auto &executor : executors)
        EXPECT_TRUE(executor->submit().isOk());
    if (simulation)
      simulation->release();
    for (auto &executor : executors)
      for (size_t i = 0; i < 2; ++i) {
        results.emplace_back(elements);
        Status status = executor->readOutput(i, std::as_writable_bytes(std::span(results.back())));
        EXPECT_TRUE(status.isOk()) << status.toString();
      }
    return results;
  }

  std::vector<std::byte> code;
};

TEST_F(RandomPlanTest, RunsAsOnTheHost) {
  auto host = *createDevice("cpu", {.threads = 1});
  const uint64_t count = numGraphs(200);
  for (uint64_t seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    const Artifact artifact = randomPlan(random, code);
    auto simulation = *Simulation::create({.seed = seed,
                                           .queues = 1 + static_cast<unsigned>(random.below(4)),
                                           .lanes = 1 + static_cast<unsigned>(random.below(4))});
    const size_t runs = 1 + random.below(3);
    EXPECT_EQ(outputs(simulation->device(), artifact, random, runs, simulation.get()),
              outputs(host, artifact, random, runs, nullptr));
    simulation->waitIdle();
    for (const Race &race : simulation->races())
      ADD_FAILURE() << race.toString();
    EXPECT_EQ(simulation->device()->pool()->usage().inUse, 0u);
    EXPECT_EQ(host->pool()->usage().inUse, 0u);
  }
}

// Outputs are bound to the buffers of inputs that are given up for them, or not.
TEST_F(RandomPlanTest, OutputsLieInTheMemoryOfTheirInputs) {
  auto host = *createDevice("cpu", {.threads = 1});
  const std::vector<artifact::Donation> donations = {{0, 1}, {1, 0}};
  auto results = [&](const std::shared_ptr<Device> &device, const Artifact &artifact, std::array<Values, 2> values,
                     size_t taken) {
    auto created = Executor::create(device, artifact, taken == 0 ? std::vector<artifact::Donation>() : donations);
    EXPECT_TRUE(created.isOk()) << created.status().toString();
    // The second run starts from what the first one made.
    std::array<std::shared_ptr<Buffer>, 2> now, next;
    for (size_t i = 0; i < 2; ++i) {
      now[i] = *Buffer::allocate(device->pool(), bytes);
      EXPECT_TRUE(now[i]->write(std::as_bytes(std::span(values[i]))).isOk());
    }
    for (int run = 0; run < 2; ++run) {
      for (const auto &[input, output] : donations) {
        next[output] = input < taken ? now[input] : *Buffer::allocate(device->pool(), bytes);
        EXPECT_TRUE((*created)->bindInput(input, now[input]).isOk());
        EXPECT_TRUE((*created)->bindOutput(output, next[output]).isOk());
      }
      const auto submitted = (*created)->submit();
      EXPECT_TRUE(submitted.isOk()) << submitted.status().toString();
      now = next;
    }
    for (size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(now[i]->read(std::as_writable_bytes(std::span(values[i]))).isOk());
    return values;
  };
  const uint64_t count = numGraphs(200);
  for (uint64_t seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    const Artifact artifact = randomPlan(random, code);
    std::array<Values, 2> values;
    for (Values &some : values)
      for (size_t i = 0; i < elements; ++i)
        some.push_back(random.next());
    auto simulation =
        *Simulation::create({.seed = seed, .queues = 2, .lanes = 1 + static_cast<unsigned>(random.below(4))});
    const std::array<Values, 2> expected = results(host, artifact, values, 0);
    for (size_t taken : {2, 1}) {
      EXPECT_EQ(results(host, artifact, values, taken), expected);
      EXPECT_EQ(results(simulation->device(), artifact, values, taken), expected);
    }
    simulation->waitIdle();
    for (const Race &race : simulation->races())
      ADD_FAILURE() << race.toString();
    // What is in between is at most a copy of each output more.
    auto given = artifact::donate(artifact, donations);
    ASSERT_TRUE(given.isOk());
    EXPECT_LE(given->arenaSize, artifact.arenaSize + 2 * artifact::alignment);
  }
}

TEST_F(RandomPlanTest, EveryWaitThatIsMissedIsReported) {
  const uint64_t count = numGraphs(200);
  size_t mutants = 0, caught = 0;
  for (uint64_t seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    Artifact artifact = randomPlan(random, code);
    // One of all waits.
    size_t waits = 0;
    for (const artifact::Command &command : artifact.commands)
      waits += command.wait.size();
    if (waits == 0)
      continue;
    size_t chosen = random.below(waits);
    for (artifact::Command &command : artifact.commands) {
      if (chosen < command.wait.size()) {
        command.wait.erase(command.wait.begin() + static_cast<std::ptrdiff_t>(chosen));
        break;
      }
      chosen -= command.wait.size();
    }
    auto simulation = *Simulation::create({.seed = seed, .queues = 2});
    outputs(simulation->device(), artifact, random, 1, simulation.get());
    simulation->waitIdle();
    // Each wait was needed by itself.
    EXPECT_FALSE(orderOf(artifact).conflicts().empty());
    ++mutants;
    caught += !simulation->races().empty();
  }
  EXPECT_EQ(caught, mutants);
  EXPECT_GT(mutants, count / 2);
}

} // namespace
