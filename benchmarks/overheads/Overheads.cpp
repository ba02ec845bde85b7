//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// zyx-bench-overheads: microseconds that the runtime adds to kernels, which here do nothing. Medians of
// rounds of a millisecond each.
//===----------------------------------------------------------------------===//
#include "zyx/Base/File.h"
#include "zyx/Runtime/Executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace zyx;
using namespace zyx::runtime;
using Clock = std::chrono::steady_clock;

namespace {

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

template <typename T> T get(Result<T> result) {
  if (!result.isOk()) {
    std::fprintf(stderr, "%s\n", result.status().toString().c_str());
    std::exit(1);
  }
  return std::move(*result);
}

/// Prints the median and the 90th percentile of a call's time, over calls of `repeat` each.
template <typename Body> void report(const char *name, int repeat, int rounds, Body body) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const Clock::time_point begin = Clock::now();
    for (int j = 0; j < repeat; ++j)
      body();
    times.push_back(microseconds(Clock::now() - begin) / repeat);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-58s %8.3f %8.3f\n", name, times[times.size() / 2], times[times.size() * 9 / 10]);
}

/// `launches` of one kernel with `chunks` chunks each.
std::unique_ptr<Executor> programOf(const std::shared_ptr<Device> &device, int launches, uint64_t chunks) {
  artifact::Artifact a;
  a.entry = "main";
  a.target = "cpu";
  a.code = {{"elf-so", get(readFile(ZYX_EMPTY_KERNEL))}};
  a.kernels = {{"nothing", 0, 0, 0, "nothing", {}, 0}};
  for (int i = 0; i < launches; ++i) {
    artifact::Launch launch;
    launch.grid = {64, 1, 1};
    // A chunk is 20 us at 8 bytes per nanosecond.
    launch.bytes = 1 + (chunks - 1) * 160'000;
    a.commands.push_back({launch, {}});
  }
  return get(Executor::create(device, std::move(a)));
}

/// A launch of the kernel that reads 6 buffers and writes 2, as a step of tensors.
std::unique_ptr<Executor> boundProgramOf(const std::shared_ptr<Device> &device) {
  artifact::Artifact a;
  a.entry = "main";
  a.target = "cpu";
  a.code = {{"elf-so", get(readFile(ZYX_EMPTY_KERNEL))}};
  a.kernels = {{"nothing", 0, 8, 0, "nothing", {}, 0}};
  artifact::Launch launch;
  launch.grid = {1, 1, 1};
  for (uint32_t i = 0; i < 8; ++i) {
    auto &list = i < 6 ? a.inputs : a.outputs;
    a.buffers.push_back({i < 6 ? artifact::BufferKind::Input : artifact::BufferKind::Output, list.size(), 64});
    list.push_back({"b" + std::to_string(i), {DType::F32, {16}}});
    launch.buffers.push_back({i, 0});
  }
  a.commands.push_back({launch, {}});
  return get(Executor::create(device, std::move(a)));
}

void run(Executor &executor) {
  if (!executor.run().isOk())
    std::abort();
}

} // namespace

int main(int argc, char **argv) {
  ThreadPoolOptions options;
  if (argc == 2)
    options.threads = static_cast<unsigned>(std::atoi(argv[1]));
  std::shared_ptr<ThreadPool> pool = get(createThreadPool(options));
  auto device = get(createDevice("cpu", {.threadPool = pool}));
  std::printf("%u threads; microseconds: median, 90th percentile\n", pool->threads());

  auto nothing = [](void *, unsigned) {};
  report("fork and join", 1000, 300, [&] { pool->run(pool->threads(), nothing, nullptr); });
  // The caller takes back what nobody has begun; here it cannot.
  struct Meeting {
    std::atomic<unsigned> arrived = 0;
    unsigned expected;
  };
  report("fork and join, in which all threads meet", 1000, 300, [&] {
    Meeting meeting{0, pool->threads()};
    pool->run(
        meeting.expected,
        [](void *context, unsigned) {
          auto &here = *static_cast<Meeting *>(context);
          for (++here.arrived; here.arrived.load(std::memory_order_acquire) != here.expected;) {
          }
        },
        &meeting);
  });
  // When the last thread begins, from the call on; its pause is as long as that of the caller.
  for (int pause : {0, 1000, 12'000, 50'000}) {
    struct Arrival {
      std::atomic<unsigned> arrived = 0;
      unsigned expected;
      Clock::time_point last;
    };
    std::vector<double> times;
    for (int i = 0; i < 100 && pool->threads() > 1; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
      Arrival arrival{0, pool->threads(), {}};
      const Clock::time_point begin = Clock::now();
      pool->run(
          arrival.expected,
          [](void *context, unsigned) {
            auto &here = *static_cast<Arrival *>(context);
            if (here.arrived.fetch_add(1) + 1 == here.expected)
              here.last = Clock::now();
            while (here.arrived.load(std::memory_order_acquire) != here.expected) {
            }
          },
          &arrival);
      times.push_back(microseconds(arrival.last - begin));
    }
    std::sort(times.begin(), times.end());
    if (!times.empty())
      std::printf("all threads at work after a pause of %6d us %26.3f %8.3f\n", pause, times[50], times[90]);
  }
  for (int pause : {100, 1000}) {
    std::vector<double> times;
    for (int i = 0; i < 300; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
      const Clock::time_point begin = Clock::now();
      pool->run(pool->threads(), nothing, nullptr);
      times.push_back(microseconds(Clock::now() - begin));
    }
    std::sort(times.begin(), times.end());
    std::printf("fork and join after a pause of %4d us %31.3f %8.3f\n", pause, times[150], times[270]);
  }
  auto bound = boundProgramOf(device);
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 16; ++i)
    buffers.push_back(get(Buffer::allocate(device->pool(), 64)));
  size_t first = 0;
  report("8 buffers bound, a run of one launch, and released", 1000, 300, [&] {
    // Others than in the last run.
    first = 8 - first;
    for (size_t i = 0; i < 8; ++i)
      if (!(i < 6 ? bound->bindInput(i, buffers[first + i]) : bound->bindOutput(i - 6, buffers[first + i])).isOk())
        std::abort();
    run(*bound);
    bound->release(/*keepWeights=*/true);
  });
  for (int launches : {1, 33}) {
    auto serial = programOf(device, launches, 1), forked = programOf(device, launches, 2);
    std::printf("%d launches a run:\n", launches);
    report("  replay of launches on one thread, per run", 1000, 300, [&] { run(*serial); });
    report("  replay of launches on two threads, per run", 300 / launches + 1, 300, [&] { run(*forked); });
  }
}
