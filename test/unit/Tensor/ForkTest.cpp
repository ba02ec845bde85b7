//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Tensors in a process that was forked, whoever held a lock of theirs.
//===----------------------------------------------------------------------===//
#include "../Children.h"
#include "TensorFixture.h"

#include "zyx/Runtime/Simulation.h"
#include "zyx/Session/Session.h"
#include "zyx/Tensor/Tape.h"

#include <atomic>
#include <optional>
#include <thread>

using namespace zyx;
using namespace zyx::test;
using runtime::Simulation;
using testing::Each;
using testing::HasSubstr;

namespace {

constexpr const char *forked =
    "this process was forked after zyx began, and has none of the threads that zyx began with";

/// Whether a call is refused for the fork, at a place of this file where it `hasPlace`.
template <typename F> bool isRefused(F &&call, bool hasPlace = true) {
  const std::string text = refusal(call);
  return text.find(forked) != std::string::npos && (text.find("ForkTest.cpp:") != std::string::npos) == hasPlace;
}

class TensorForkTest : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
};

} // namespace

TEST_F(TensorForkTest, AContextIsRefusedWhereAnotherThreadHeldItsLock) {
  auto simulation = *Simulation::create({.seed = 3});
  const Context context{{.device = "cpu:1", .devices = {{"cpu:1", simulation->device()}}}};
  const ContextScope scope(context);
  const Tensor x = Tensor::ones({4}).detach();
  const Parameter parameter(x);
  const Tensor total = x.sum();
  EXPECT_THAT(floats(x + 1), Each(2));
  std::optional<Tape> tape(context);
  std::optional<Profile> profile(context);
  profile.reset();
  // A short program runs on the thread that asks for it, which holds the lock meanwhile.
  const uint64_t before = simulation->counts().submitted;
  simulation->hold();
  std::thread running([&] {
    const ContextScope inner(context);
    EXPECT_THAT(floats(x + 1), Each(2));
  });
  while (simulation->counts().submitted == before)
    std::this_thread::yield();
  EXPECT_EQ(inChild([&] {
              const std::vector<bool> refused = {
                  isRefused([&] { (void)(x + x); }),
                  isRefused([&] { (void)Tensor::from({1.f}); }),
                  isRefused([&] { (void)x.bytes(); }),
                  isRefused([&] { (void)x.realize(); }),
                  isRefused([&] { (void)x.detach(); }),
                  isRefused([&] { (void)gradient(total, std::vector{x}); }),
                  isRefused([&] { context.sync(); }),
                  isRefused([&] { (void)parameter.value(); }),
                  isRefused([&] { parameter.set(x); }),
                  isRefused([&] { const DeviceScope onDevice("reference"); }),
                  isRefused([&] { (void)context.counters(); }, false),
                  isRefused([&] { (void)x.isRealized(); }, false),
                  isRefused([&] { const Profile begun(context); }, false),
              };
              for (size_t i = 0; i < refused.size(); ++i)
                if (!refused[i])
                  return static_cast<int>(i) + 1;
              // What ends does so without a word.
              tape.reset();
              {
                const Tensor copy = x;
              }
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
              // It lets no thread begin in a child of a process that had several.
              return 0;
#endif
#endif
              // One that begins here is as good as any.
              const Context own{{.device = "cpu", .threads = 1, .cacheFolder = ""}};
              const ContextScope inner(own);
              return floats(Tensor::from({1.f, 2.f}) * 3 - 1) == std::vector{2.f, 5.f} ? 0 : 100;
            }),
            0);
  simulation->release();
  running.join();
  EXPECT_THAT(floats(x + 1), Each(2));
  tape.reset();
}

TEST_F(TensorForkTest, AParameterIsRefusedWhereAnotherThreadMadeItsFirstValue) {
  const Context context{{.device = "reference"}};
  const ContextScope scope(context);
  std::atomic<bool> isMaking = false, over = false;
  const Parameter parameter(Initial{{DType::F32, {2}}, [&] {
                                      isMaking = true;
                                      while (!over)
                                        std::this_thread::yield();
                                      return Tensor::ones({2});
                                    }});
  std::thread making([&] {
    const ContextScope inner(context);
    EXPECT_THAT(floats(parameter.value()), Each(1));
  });
  while (!isMaking)
    std::this_thread::yield();
  EXPECT_EQ(inChild([&] {
              return isRefused([&] { (void)*parameter; }, false) + 2 * isRefused([&] { (void)parameter.type(); }) +
                     4 * isRefused([&] { (void)parameter.latest(); });
            }),
            6 | 1);
  over = true;
  making.join();
}

TEST_F(TensorForkTest, ASessionIsRefused) {
  session::Session session;
  ASSERT_TRUE(session.device("cpu").isOk());
  EXPECT_EQ(inChild([&] {
              const Status opened = session.device("cpu").status(), parsed = session.parseGraphs({}, "x").status(),
                           compiled = session.compile({}, {}).status();
              return opened.message().starts_with(forked) + 2 * parsed.message().starts_with(forked) +
                     4 * compiled.message().starts_with(forked);
            }),
            7);
}
