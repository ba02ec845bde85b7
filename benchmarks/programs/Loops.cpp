//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the gradient of a loop takes beside the loop, and a step of an LSTM:
//   zyx-bench-loops recurrence TRIPS...
//     h = tanh(h w + x), [32, 256] times [256, 256]: the loop, and the sum of squares of its result with the gradients
//     of h, w and x
//   zyx-bench-loops lstm STEPS...
//     an LSTM of [STEPS, 16, 64] to 128 features: the first step with gradients (with its compilation) and later ones
// Times are medians of runs in turns, with the quartiles behind them.
//===----------------------------------------------------------------------===//
#include "zyx/NN/Recurrent.h"
#include "zyx/Tensor/Activations.h"
#include "zyx/Tensor/Context.h"
#include "zyx/Tensor/Functions.h"
#include "zyx/Tensor/Jit.h"
#include "zyx/Tensor/Linalg.h"
#include "zyx/Tensor/Loop.h"
#include "zyx/Tensor/Tape.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace zyx;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(const std::function<void()> &run) {
  const auto begin = Clock::now();
  run();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Ascending.
struct Times {
  std::vector<double> all;
  double quartile(size_t number) const { return all[(all.size() - 1) * number / 4]; }
  double median() const { return quartile(2); }
};

/// Runs them in turns, so that what else the machine does meets all of them.
std::vector<Times> measure(const std::vector<std::function<void()>> &runs, int turns) {
  std::vector<Times> times(runs.size());
  for (int turn = 0; turn < turns; ++turn)
    for (size_t i = 0; i < runs.size(); ++i)
      times[i].all.push_back(milliseconds(runs[i]));
  for (Times &each : times)
    std::ranges::sort(each.all);
  return times;
}

std::string describe(const Times &times) {
  char text[96];
  std::snprintf(text, sizeof text, "%9.3f ms (%.3f to %.3f)", times.median(), times.quartile(1), times.quartile(3));
  return text;
}

Tensor random(Shape shape, double scale, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(*numElements(shape)));
  for (float &value : values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>((static_cast<double>(seed >> 40) / (1 << 24) * 2 - 1) * scale);
  }
  return Tensor::from(values, std::move(shape));
}

void readAll(const std::vector<Tensor> &results) {
  for (const Tensor &result : results)
    (void)result.bytes();
}

/// A reflection: its products keep their length, so that gradients neither vanish nor become denormal numbers, with
/// which processors compute slowly, however many trips there are.
Tensor reflection(int64_t size, uint64_t seed) {
  const Tensor v = random({size, 1}, 1, seed);
  return (Tensor::eye(size) - matmul(v, v.transpose()) * (2 / (v * v).sum())).detach();
}

void recurrence(int64_t trips) {
  const Tensor h = random({32, 256}, 0.1, 1), w = reflection(256, 2), x = random({32, 256}, 1e-4, 3);
  const auto run = [trips](std::span<const Tensor> a) {
    return loop(trips, std::vector{a[0]}, [&](const Tensor &, std::span<const Tensor> now) {
      return std::vector{(matmul(now[0], a[1]) + a[2]).tanh()};
    })[0];
  };
  const Jit forward([&](std::span<const Tensor> a) { return std::vector{run(a)}; });
  const Jit both([&](std::span<const Tensor> a) {
    const Tensor y = run(a), loss = (y * y).sum();
    std::vector<Tensor> results = gradient(loss, std::vector(a.begin(), a.end()));
    results.push_back(loss);
    return results;
  });
  const std::vector arguments{h, w, x};
  readAll(forward(arguments));
  const double first = milliseconds([&] { readAll(both(arguments)); });
  const std::vector<Times> times =
      measure({[&] { readAll(forward(arguments)); }, [&] { readAll(both(arguments)); }}, trips > 1000 ? 11 : 21);
  std::printf("%5lld trips: forward %s, with gradients %s, ratio %.2f; first call %.0f ms\n",
              static_cast<long long>(trips), describe(times[0]).c_str(), describe(times[1]).c_str(),
              times[1].median() / times[0].median(), first);
}

void lstm(int64_t steps) {
  nn::InitRng rng(1);
  const nn::Lstm module(64, 128, rng);
  const Tensor x = random({steps, 16, 64}, 1, 4);
  std::vector<Tensor> weights;
  for (const Parameter &parameter : {module.inputWeight, module.hiddenWeight, module.inputBias, module.hiddenBias})
    weights.push_back(*parameter);
  const Jit step([&](std::span<const Tensor> a) {
    const Tensor y = module(a[0]), loss = (y * y).sum();
    std::vector<Tensor> results = gradient(loss, weights);
    results.push_back(loss);
    return results;
  });
  const std::vector arguments{x};
  const double first = milliseconds([&] { readAll(step(arguments)); });
  const std::vector<Times> times = measure({[&] { readAll(step(arguments)); }}, 21);
  std::printf("%5lld steps: first %.0f ms, later %s\n", static_cast<long long>(steps), first,
              describe(times[0]).c_str());
}

} // namespace

int main(int argc, char **argv) try {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what != "recurrence" && what != "lstm")
    throw std::invalid_argument("usage: zyx-bench-loops recurrence|lstm NUMBER...");
  for (int i = 2; i < argc; ++i) {
    int64_t number = 0;
    const char *end = argv[i] + std::strlen(argv[i]);
    if (const auto [at, error] = std::from_chars(argv[i], end, number); error != std::errc() || at != end || number < 1)
      throw std::invalid_argument("'" + std::string(argv[i]) + "' is no number of trips");
    (what == "lstm" ? lstm : recurrence)(number);
  }
  return 0;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "zyx-bench-loops: %s\n", failure.what());
  return 1;
}
