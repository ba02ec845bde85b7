//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Host.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// Multiplications with additions that do not wait for each other, as many as the latency of the
/// unit asks for.
constexpr int numChains = 12;
constexpr int64_t numSteps = 100'000;
constexpr int numRounds = 8;
/// More than the last cache of most machines holds.
constexpr size_t numBytes = size_t(64) << 20;

/// What a call computes is stored there, so that it is computed; by each thread. `used`: stores to a variable that
/// nobody reads are dropped, atomic ones as well, and what computes them with them.
[[gnu::used]] std::atomic<float> sink;

using Arithmetic = void (*)();

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void multiplyAdd512() {
  __m512 sums[numChains], factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(1e-3f);
  std::fill(std::begin(sums), std::end(sums), term);
  for (int64_t step = 0; step < numSteps; ++step)
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(sum, factor, term);
  for (const __m512 &sum : sums)
    sink = _mm512_cvtss_f32(sum);
}

__attribute__((target("avx2,fma"))) void multiplyAdd256() {
  __m256 sums[numChains], factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(1e-3f);
  std::fill(std::begin(sums), std::end(sums), term);
  for (int64_t step = 0; step < numSteps; ++step)
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, factor, term);
  for (const __m256 &sum : sums)
    sink = _mm256_cvtss_f32(sum);
}
#endif

/// Four elements, which every vector unit has.
void multiplyAdd128() {
  typedef float Vector __attribute__((vector_size(16)));
  Vector sums[numChains], factor = {0.999f, 0.999f, 0.999f, 0.999f}, term = {1e-3f, 1e-3f, 1e-3f, 1e-3f};
  std::fill(std::begin(sums), std::end(sums), term);
  for (int64_t step = 0; step < numSteps; ++step)
    for (Vector &sum : sums)
      sum = sum * factor + term;
  for (const Vector &sum : sums)
    sink = sum[0];
}

struct Machine {
  Arithmetic arithmetic;
  /// Elements of its vectors.
  int width;
};

Machine thisMachine() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f"))
    return {multiplyAdd512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {multiplyAdd256, 8};
#endif
  return {multiplyAdd128, 4};
}

/// The most work per second of some rounds, where each call does `work`.
template <typename Body> double best(ThreadPool &threads, double work, Body body) {
  struct Round {
    const Body &body;
    std::atomic<unsigned> calls{0};
  };
  double most = 0;
  for (int i = 0; i < numRounds; ++i) {
    Round round{body};
    const auto begin = std::chrono::steady_clock::now();
    threads.run(
        threads.threads(),
        [](void *context, unsigned index) {
          auto &of = *static_cast<Round *>(context);
          of.body(index);
          ++of.calls;
        },
        &round);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    most = std::max(most, round.calls * work / seconds.count());
  }
  return most;
}

} // namespace

std::optional<Peak> runtime::measureHostPeak(ThreadPool &threads) {
  const size_t numWords = numBytes / sizeof(uint64_t), part = numWords / threads.threads();
  const std::unique_ptr<uint64_t[]> memory(new (std::nothrow) uint64_t[numWords]);
  if (!memory || part == 0)
    return std::nullopt;
  // Pages that were never written are one page.
  std::fill_n(memory.get(), numWords, 1);
  const Machine machine = thisMachine();
  Peak peak;
  peak.flops = best(threads, 2.0 * numSteps * numChains * machine.width, [&](unsigned) { machine.arithmetic(); });
  peak.bytes = best(threads, static_cast<double>(part * sizeof(uint64_t)), [&](unsigned index) {
    // Several sums, so that no addition waits for the one before.
    uint64_t sums[8] = {};
    const uint64_t *from = memory.get() + index * part;
    for (size_t i = 0; i + 8 <= part; i += 8)
      for (size_t k = 0; k < 8; ++k)
        sums[k] += from[i + k];
    for (uint64_t sum : sums)
      sink = static_cast<float>(sum);
  });
  return peak;
}
