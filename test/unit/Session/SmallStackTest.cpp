//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels pack into private memory on the stack, of which a thread may have too little.
#include "zyx/Base/TempFolder.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Runtime/ThreadPool.h"
#include "zyx/Session/Session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <pthread.h>

using namespace zyx;

namespace {

#if defined(__x86_64__)
constexpr const char *anyIsa = "x86-64";
#else
constexpr const char *anyIsa = "aarch64";
#endif
constexpr int64_t extent = 512;
constexpr size_t smallStack = 192 << 10;

constexpr std::string_view product = R"(
func.func @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %xr = graph.reshape %x : tensor<512x512xf32> -> tensor<512x512x1xf32>
  %xe = graph.expand %xr : tensor<512x512x1xf32> -> tensor<512x512x512xf32>
  %wr = graph.reshape %w : tensor<512x512xf32> -> tensor<1x512x512xf32>
  %we = graph.expand %wr : tensor<1x512x512xf32> -> tensor<512x512x512xf32>
  %p = graph.binary mul %xe, %we : tensor<512x512x512xf32>
  %d = graph.reduce add %p dims = [1] : tensor<512x512x512xf32> -> tensor<512x512xf32>
  return %d : tensor<512x512xf32>
}
)";

/// Runs and joins a thread with a stack of so many bytes.
void onThread(size_t stackBytes, std::function<void()> body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, stackBytes), 0);
  pthread_t thread;
  auto run = [](void *context) -> void * {
    (*static_cast<std::function<void()> *>(context))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

/// All calls but the caller's own are on threads with small stacks, and come first.
class SmallStackPool : public runtime::ThreadPool {
public:
  unsigned threads() const override { return 3; }
  void run(unsigned calls, Body body, void *context) override {
    for (unsigned i = 1; i < calls; ++i)
      onThread(smallStack, [=] { body(context, i); });
    used |= calls > 1;
    body(context, 0);
  }
  bool used = false;
};

std::unique_ptr<runtime::Executor> makeExecutor(std::shared_ptr<runtime::Device> device) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  session::Session session;
  const TempFolder folder = *TempFolder::create();
  auto graphs = session.readGraphs(*folder.write("program.mlir", std::as_bytes(std::span(product))));
  EXPECT_TRUE(graphs.isOk()) << graphs.status().toString();
  // A record that is the same on every machine: what is packed follows the caches.
  auto compiled = session.compile((*graphs)[0], {.isa = anyIsa});
  EXPECT_TRUE(compiled.isOk()) << compiled.status().toString();
  artifact::Artifact artifact = *artifact::Artifact::deserialize(compiled->output);
  // Else nothing here would be tested.
  EXPECT_GT(artifact.kernels[0].stackBytes, smallStack);
  auto executor = *runtime::Executor::create(std::move(device), std::move(artifact));
  const std::vector<float> ones(extent * extent, 1);
  for (size_t i : {0, 1})
    EXPECT_TRUE(executor->setInput(i, std::as_bytes(std::span(ones))).isOk());
  return executor;
}

void expectSums(runtime::Executor &executor) {
  std::vector<float> sums(extent * extent);
  ASSERT_TRUE(executor.readOutput(0, std::as_writable_bytes(std::span(sums))).isOk());
  EXPECT_THAT(sums, testing::Each(static_cast<float>(extent)));
}

} // namespace

TEST(SmallStackTest, ACallerWithTooLittleIsRefused) {
  auto executor = makeExecutor(*runtime::createDevice("cpu"));
  Status status;
  onThread(smallStack, [&] { status = executor->run(); });
  EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
  EXPECT_THAT(status.message(), testing::StartsWith("the stack of the calling thread has "));
  EXPECT_THAT(status.message(), testing::HasSubstr(" bytes left, and kernels of 'main' need "));
  // Nothing is lost.
  onThread(size_t(4) << 20, [&] { status = executor->run(); });
  ASSERT_TRUE(status.isOk()) << status.toString();
  expectSums(*executor);
  // A queue has a thread of its own.
  onThread(smallStack, [&] { status = executor->submit()->wait(); });
  EXPECT_TRUE(status.isOk()) << status.toString();
}

TEST(SmallStackTest, ThreadsOfAPoolWithTooLittleDoNotHelp) {
  auto pool = std::make_shared<SmallStackPool>();
  auto executor = makeExecutor(*runtime::createDevice("cpu", {.threadPool = pool}));
  const Status status = executor->run();
  ASSERT_TRUE(status.isOk()) << status.toString();
  EXPECT_TRUE(pool->used);
  expectSums(*executor);
}
