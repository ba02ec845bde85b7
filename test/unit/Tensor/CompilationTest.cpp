//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A compilation holds nobody up but those who need what it makes.
//===----------------------------------------------------------------------===//
#include "GatedCompiler.h"
#include "TensorFixture.h"

#include <chrono>
#include <dlfcn.h>
#include <new>
#include <optional>
#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::Each;
using testing::HasSubstr;

namespace {

class CompilationTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("ZYX_COMPILER", ZYX_TEST_GATED_COMPILER, 1);
    library = dlopen(ZYX_TEST_GATED_COMPILER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
    find(close, "gateClose"), find(open, "gateOpen"), find(await, "gateAwait"), find(fail, "gateFail");
    find(raise, "gateThrow"), find(compiles, "gateCompiles");
    context.emplace(ContextOptions{.device = "cpu", .cacheFolder = ""});
    before = compiles();
  }
  void TearDown() override {
    if (library)
      open();
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  }
  template <typename F> void find(F *&function, const char *name) {
    function = reinterpret_cast<F *>(dlsym(library, name));
    ASSERT_TRUE(function) << name;
  }
  unsigned compiled() const { return compiles() - before; }

  void *library = nullptr;
  decltype(&gateClose) close = nullptr;
  decltype(&gateOpen) open = nullptr;
  decltype(&gateAwait) await = nullptr;
  decltype(&gateFail) fail = nullptr;
  decltype(&gateThrow) raise = nullptr;
  decltype(&gateCompiles) compiles = nullptr;
  std::optional<Context> context;
  unsigned before = 0;
};

} // namespace

TEST_F(CompilationTest, OthersBuildReadAndRunMeanwhile) {
  ContextScope scope(*context);
  const Tensor x = Tensor::from({1.f, 2.f, 3.f});
  const Jit twice([](std::span<const Tensor> a) { return std::vector{a[0] + a[0]}; });
  EXPECT_THAT(floats(twice({x})[0]), testing::ElementsAre(2, 4, 6));
  EXPECT_THAT(floats(x + 7), testing::ElementsAre(8, 9, 10));
  Tensor y = (x * x).exp();
  close();
  std::vector<float> found;
  std::thread compiling([&] { found = floats(y); });
  await(1);
  // All that needs no compilation: values, programs that are there, expressions, handles that end, a graph that is
  // rebuilt.
  EXPECT_THAT(floats(x), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(floats(twice({x})[0]), testing::ElementsAre(2, 4, 6));
  const Tensor z = Tensor::from({0.f, 0.f, 1.f});
  for (int i = 0; i < 3000; ++i)
    Tensor unneeded = z.reshape({3, 1, 1}).reshape({1, 3, 1}) * float(i);
  EXPECT_THAT(floats(z + 7), testing::ElementsAre(7, 7, 8));
  EXPECT_LT(context->counters().nodes, 1000u);
  EXPECT_EQ(gradient((x * x).sum(), std::vector{x}).size(), 1u);
  open();
  compiling.join();
  expectNear(found, {std::exp(1), std::exp(4), std::exp(9)}, 1e-2);
}

TEST_F(CompilationTest, CapturesAndMovesHoldNobodyUp) {
  ContextScope scope(*context);
  const Tensor x = Tensor::from({1.f, 2.f, 3.f});
  const Jit step([](std::span<const Tensor> a) { return std::vector{(a[0] * a[0]).exp()}; });
  close();
  std::vector<float> found, drawn;
  std::thread capturing([&] {
    ContextScope inner(*context);
    found = floats(step({x})[0]);
  });
  await(1);
  std::thread showing([&] {
    ContextScope inner(*context);
    EXPECT_THAT(programText(std::vector{x + x}), HasSubstr("func.func @main"));
  });
  await(2);
  EXPECT_THAT(floats(x), testing::ElementsAre(1, 2, 3));
  open();
  capturing.join();
  showing.join();
  expectNear(found, {std::exp(1), std::exp(4), std::exp(9)}, 1e-2);
}

TEST_F(CompilationTest, WhoNeedsTheSameWaitsForIt) {
  ContextScope scope(*context);
  const Tensor a = Tensor::from({1.f, 2.f}), b = Tensor::from({3.f, 4.f});
  close();
  std::vector<float> ofA, ofB;
  std::thread first([&] { ofA = floats((a * a + a).sqrt()); });
  await(1);
  std::thread second([&] { ofB = floats((b * b + b).sqrt()); });
  // Another program is compiled at the same time.
  std::vector<float> other;
  std::thread third([&] { other = floats(a.max() + b); });
  await(2);
  open();
  first.join();
  second.join();
  third.join();
  EXPECT_EQ(compiled(), 2u);
  expectNear(ofA, {std::sqrt(2), std::sqrt(6)});
  expectNear(ofB, {std::sqrt(12), std::sqrt(20)});
  EXPECT_THAT(other, testing::ElementsAre(5, 6));
}

TEST_F(CompilationTest, FailuresReachAllWhoWaitAndNothingIsLost) {
  ContextScope scope(*context);
  const Tensor a = Tensor::from({1.f, 2.f}), b = Tensor::from({3.f, 4.f});
  const Tensor ofA = (a * a - a).sqrt(), ofB = (b * b - b).sqrt();
  close();
  fail(2);
  std::string first, second;
  std::thread one([&] { first = refusal([&] { ofA.realize(); }); });
  await(1);
  std::thread two([&] { second = refusal([&] { ofB.realize(); }); });
  open();
  one.join();
  two.join();
  // The second one waited for the first one's compilation, or failed with one of its own.
  EXPECT_THAT(first, HasSubstr("graph"));
  EXPECT_THAT(second, HasSubstr("graph"));
  fail(0);
  expectNear(floats(ofA), {0, std::sqrt(2)});
  expectNear(floats(ofB), {std::sqrt(6), std::sqrt(12)});
}

TEST_F(CompilationTest, ExceptionsLeaveNothingLocked) {
  ContextScope scope(*context);
  const Tensor a = Tensor::from({1.f, 2.f}), b = Tensor::from({3.f, 4.f});
  close();
  raise(1);
  std::thread one([&] { EXPECT_THROW((a * a - a).sqrt().realize(), std::bad_alloc); });
  await(1);
  std::string second;
  std::vector<float> found;
  std::thread two([&] { second = refusal([&] { found = floats((b * b - b).sqrt()); }); });
  // Most often it waits by then; else it compiles by itself.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  open();
  one.join();
  two.join();
  if (found.empty())
    EXPECT_THAT(second, HasSubstr("the thread that compiled the program ended before it was done"));
  expectNear(floats((b * b - b).sqrt()), {std::sqrt(6), std::sqrt(12)});
}

TEST_F(CompilationTest, TheContextMayEndMeanwhile) {
  std::vector<float> found;
  Tensor y;
  {
    ContextScope scope(*context);
    y = (Tensor::from({1.f, 2.f}) * 3).exp();
  }
  close();
  std::thread compiling([&found, mine = std::move(y)]() mutable { found = floats(mine); });
  await(1);
  context.reset();
  open();
  compiling.join();
  expectNear(found, {std::exp(3), std::exp(6)}, 1e-3);
}
