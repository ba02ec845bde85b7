//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What memory gives: a[i] = b[i] + s * c[i], the anchor of memory-bound programs.
#include "Worker.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace zyx::bench {
namespace {

using Vector [[gnu::vector_size(64), gnu::may_alias]] = float;

__attribute__((target("avx512f"))) void stream512(float *a, const float *b, const float *c, size_t count) {
  for (size_t i = 0; i < count; i += 16)
    __builtin_nontemporal_store(*reinterpret_cast<const Vector *>(b + i) +
                                    3.0f * *reinterpret_cast<const Vector *>(c + i),
                                reinterpret_cast<Vector *>(a + i));
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void plain(float *a, const float *b, const float *c,
                                                                        size_t count) {
  for (size_t i = 0; i < count; ++i)
    a[i] = b[i] + 3.0f * c[i];
}

/// The n-th processor that the process may use is the only one that the calling thread uses from now on.
void stayOn(int n) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &allowed) && n-- == 0)
      CPU_SET(processor, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/// Runs a function on the caller and on one other thread, which spins: the measured calls follow one
/// another, and take milliseconds. Each has a processor of its own: woken together after a stop, two that
/// spin can share one for longer than a measurement.
class Pair {
public:
  Pair()
      : other([this] {
          stayOn(1);
          serve();
        }) {
    stayOn(0);
  }
  ~Pair() {
    stop = true;
    ++wanted;
    other.join();
  }
  void run(const std::function<void(int)> &body) {
    work = &body;
    ++wanted;
    body(0);
    while (done != wanted)
      ;
  }

private:
  void serve() {
    for (uint64_t seen = 0;;) {
      while (wanted == seen)
        ;
      ++seen;
      if (stop)
        return;
      (*work)(1);
      ++done;
    }
  }
  std::atomic<uint64_t> wanted = 0, done = 0;
  std::atomic<bool> stop = false;
  const std::function<void(int)> *work = nullptr;
  std::thread other;
};

} // namespace

Contender triadContender(unsigned threads) {
  return {"", [threads](const Task &task) -> Call {
            if (task.variant != "plain" && !__builtin_cpu_supports("avx512f"))
              throw Unsupported("no AVX-512");
            // Three arrays, each a multiple of two vectors.
            const size_t count = task.arguments.at("bytes").get<size_t>() / 12 / 32 * 32;
            Memory memory(count * 12);
            float *a = memory.as<float>();
            std::fill(a, a + 3 * count, 1.0f);
            auto part = task.variant == "plain" ? plain : stream512;
            if (threads < 2)
              return [=] { part(memory.as<float>(), a + count, a + 2 * count, count); };
            // One for all tasks: threads that are made later would inherit the one processor.
            static auto pair = std::make_shared<Pair>();
            std::function<void(int)> body = [=](int half) {
              const size_t from = half * count / 2;
              part(memory.as<float>() + from, a + count + from, a + 2 * count + from, count / 2);
            };
            return [=] { pair->run(body); };
          }};
}

} // namespace zyx::bench
