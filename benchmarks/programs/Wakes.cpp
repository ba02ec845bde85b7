//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// How long the second thread of the runtime's pool takes to begin with work after a pause: its median, and more.
//   zyx-bench-wakes [WAKES] [MILLISECONDS...]     (default: 100 wake-ups after 0.1, 1, 12 and 100 ms each)
#include "zyx/Runtime/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace zyx;
using Clock = std::chrono::steady_clock;

namespace {

/// The caller waits until the other thread is there: a pool takes back what nobody has begun.
struct Meeting {
  std::atomic<unsigned> present = 0;
  std::thread::id caller = std::this_thread::get_id();
  Clock::time_point arrival;

  static void attend(void *context, unsigned) {
    auto &meeting = *static_cast<Meeting *>(context);
    if (std::this_thread::get_id() != meeting.caller)
      meeting.arrival = Clock::now();
    ++meeting.present;
    const Clock::time_point last = Clock::now() + std::chrono::milliseconds(100);
    while (meeting.present < 2 && Clock::now() < last) {
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  const long wakes = argc > 1 ? std::max(1L, std::atol(argv[1])) : 100;
  std::vector<double> pauses;
  for (int i = 2; i < argc; ++i)
    pauses.push_back(std::atof(argv[i]));
  if (pauses.empty())
    pauses = {0.1, 1, 12, 100};
  Result<std::shared_ptr<runtime::ThreadPool>> pool = runtime::createThreadPool({.threads = 2, .oversubscribe = true});
  if (!pool.isOk()) {
    std::fprintf(stderr, "zyx-bench-wakes: %s\n", pool.status().message().c_str());
    return 1;
  }
  for (double pause : pauses) {
    std::vector<double> taken;
    long missing = 0;
    for (long i = 0; i < wakes; ++i) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(pause));
      Meeting meeting;
      const Clock::time_point begin = Clock::now();
      (*pool)->run(2, Meeting::attend, &meeting);
      if (meeting.arrival == Clock::time_point())
        ++missing;
      else
        taken.push_back(std::chrono::duration<double, std::micro>(meeting.arrival - begin).count());
    }
    std::sort(taken.begin(), taken.end());
    auto at = [&](double share) {
      return taken.empty() ? 0 : taken[static_cast<size_t>(share * static_cast<double>(taken.size() - 1))];
    };
    std::printf(
        "after %6.1f ms: median %6.1f us, of ten the slowest %7.1f us, at most %8.1f us; did not come: %ld of %ld\n",
        pause, at(0.5), at(0.9), at(1), missing, wakes);
  }
  return 0;
}
