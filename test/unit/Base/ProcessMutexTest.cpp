//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/ProcessMutex.h"

#include "../Children.h"

#include <atomic>
#include <thread>
#include <vector>

using namespace zyx;

TEST(ProcessMutexTest, OneThreadHoldsItAtATime) {
  ProcessMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) {
        const ProcessMutex::Guard guard(mutex);
        if (guard)
          ++count;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(count, 40'000);
}

TEST(ProcessMutexTest, IsLostToTheChildOfAForkWhileAnotherThreadHoldsIt) {
  ProcessMutex held, isFree;
  std::atomic<bool> holds = false, over = false;
  std::thread other([&] {
    const ProcessMutex::Guard guard(held);
    holds = true;
    while (!over)
      std::this_thread::yield();
  });
  while (!holds)
    std::this_thread::yield();
  EXPECT_EQ(inChild([&] {
              for (int i = 0; i < 2; ++i) {
                const ProcessMutex::Guard lost(held), own(isFree);
                if (lost || lost.check().code() != ErrorCode::Unsupported || !own || !own.check().isOk())
                  return 1;
              }
              return 0;
            }),
            0);
  over = true;
  other.join();
  EXPECT_TRUE(ProcessMutex::Guard(held));
  EXPECT_EQ(inChild([&] { return ProcessMutex::Guard(held) ? 0 : 1; }), 0);
}
