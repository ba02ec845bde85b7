//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A run calls no allocator: the process's own malloc counts.
//===----------------------------------------------------------------------===//
#include "../FailingAllocations.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Session/Session.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

using namespace zyx;

namespace {

/// A product, a softmax over its rows, a loop, and outputs that are copies: kernels with private
/// memory, in several chunks for several threads, and other commands.
constexpr std::string_view program = R"(
func.func @main(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>) -> (tensor<256x384xf32>, tensor<256x512xf32>, tensor<4xf32>, tensor<256x512xf32>) {
  %xr = graph.reshape %x : tensor<256x512xf32> -> tensor<256x512x1xf32>
  %xe = graph.expand %xr : tensor<256x512x1xf32> -> tensor<256x512x384xf32>
  %wr = graph.reshape %w : tensor<512x384xf32> -> tensor<1x512x384xf32>
  %we = graph.expand %wr : tensor<1x512x384xf32> -> tensor<256x512x384xf32>
  %p = graph.binary mul %xe, %we : tensor<256x512x384xf32>
  %d = graph.reduce add %p dims = [1] : tensor<256x512x384xf32> -> tensor<256x384xf32>
  %m = graph.reduce max %d dims = [1] : tensor<256x384xf32> -> tensor<256xf32>
  %mr = graph.reshape %m : tensor<256xf32> -> tensor<256x1xf32>
  %me = graph.expand %mr : tensor<256x1xf32> -> tensor<256x384xf32>
  %c = graph.binary sub %d, %me : tensor<256x384xf32>
  %e = graph.unary exp %c : tensor<256x384xf32>
  %s = graph.reduce add %e dims = [1] : tensor<256x384xf32> -> tensor<256xf32>
  %sr = graph.reshape %s : tensor<256xf32> -> tensor<256x1xf32>
  %se = graph.expand %sr : tensor<256x1xf32> -> tensor<256x384xf32>
  %y = graph.binary div %e, %se : tensor<256x384xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %l = graph.loop(%i to 3) carry(%c0 = %x : tensor<256x512xf32>) {
    %n = graph.unary exp %c0 : tensor<256x512xf32>
    %h = graph.unary neg %n : tensor<256x512xf32>
    graph.yield %h : tensor<256x512xf32>
  }
  return %y, %x, %one, %l : tensor<256x384xf32>, tensor<256x512xf32>, tensor<4xf32>, tensor<256x512xf32>
}
)";

runtime::Executor &makeExecutor(std::unique_ptr<runtime::Executor> &owner, unsigned threads) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  session::Session session;
  TempFolder folder = *TempFolder::create();
  const std::string path = *folder.write("program.mlir", std::as_bytes(std::span(program)));
  auto graphs = session.readGraphs(path);
  EXPECT_TRUE(graphs.isOk()) << graphs.status().toString();
  auto compiled = session.compile((*graphs)[0], {});
  EXPECT_TRUE(compiled.isOk()) << compiled.status().toString();
  auto device = runtime::createDevice("cpu", {.threads = threads, .oversubscribe = true});
  auto made = runtime::Executor::create(*device, *artifact::Artifact::deserialize(compiled->output));
  EXPECT_TRUE(made.isOk()) << made.status().toString();
  owner = std::move(*made);
  // What is said above is there.
  const artifact::Artifact &artifact = owner->artifact();
  EXPECT_GE(artifact.kernels.size(), 2u);
  std::set<size_t> kinds;
  uint64_t privateBytes = 0;
  for (const artifact::Command &command : artifact.commands)
    kinds.insert(command.action.index());
  for (const artifact::Kernel &kernel : artifact.kernels)
    privateBytes += kernel.stackBytes;
  // Launches, and copies or loops.
  EXPECT_GE(kinds.size(), 2u);
  EXPECT_GT(privateBytes, 0u);
  for (size_t i = 0; i < 2; ++i) {
    const std::vector<float> values(i == 0 ? 256 * 512 : 512 * 384, 0.25f);
    EXPECT_TRUE(owner->setInput(i, std::as_bytes(std::span(values))).isOk());
  }
  return *owner;
}

} // namespace

TEST(AllocationTest, RunsOfACompiledProgramCallNoAllocator) {
#ifdef ZYX_TEST_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator is not counted";
#endif
  for (unsigned threads : {1u, 3u}) {
    std::unique_ptr<runtime::Executor> owner;
    runtime::Executor &executor = makeExecutor(owner, threads);
    ASSERT_TRUE(executor.run().isOk());
    // It does count.
    size_t before = faults::calls;
    static void *volatile taken;
    taken = std::malloc(16);
    std::free(taken);
    ASSERT_GE(faults::calls, before + 2);
    Status status;
    before = faults::calls;
    for (int run = 0; run < 20 && status.isOk(); ++run)
      status = executor.run();
    const size_t during = faults::calls - before;
    EXPECT_TRUE(status.isOk());
    EXPECT_EQ(during, 0u) << threads << " threads";
  }
}
