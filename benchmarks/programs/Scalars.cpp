//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a number of the host that changes from step to step takes, such as a learning rate:
//   ZYX_DEVICE=cuda zyx-bench-scalars KERNELS...
// A step multiplies KERNELS tensors by the number, each by a kernel of its own and where it lies, as an optimizer does.
// On CUDA a step is a graph. The number is
//   kept     one tensor, the same in all steps
//   in turns one of two tensors: a run takes another value along than the one before, as a fill
//   new      a new tensor: the same, and the tensor is made
// So "in turns" less "kept" is what it takes to bring a value to the device, and "new" less "in turns" what the host
// does to make a tensor. Devices that share the host's memory bind other memory instead. Microseconds of a step,
// medians of rounds in turns with the quartiles: of steps that follow each other, and of steps whose end the host waits
// for.
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Context.h"
#include "zyx/Tensor/Jit.h"
#include "zyx/Tensor/Tensor.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace zyx;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int rounds = 41, stepsOfRound = 50;

class Workload {
public:
  explicit Workload(size_t kernels)
      : step(
            [](std::span<const Tensor> a) {
              std::vector<Tensor> results;
              for (const Tensor &value : a.first(a.size() - 1))
                results.push_back(value * a.back());
              return results;
            },
            {.donated = allBut(kernels)}) {
    // Of shapes of their own, so that no two are one kernel.
    for (size_t i = 0; i < kernels; ++i) {
      const std::vector<float> ones(1024 + 8 * i, 1.0f);
      values.push_back(Tensor::from(ones, {static_cast<int64_t>(ones.size())}));
    }
  }

  void run(const Tensor &number) {
    std::vector<Tensor> arguments = std::move(values);
    arguments.push_back(number);
    values = step(arguments);
  }
  /// Of the last step.
  void wait() const { (void)values.back().bytes(); }

private:
  static std::vector<size_t> allBut(size_t count) {
    std::vector<size_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), size_t(0));
    return numbers;
  }
  std::vector<Tensor> values;
  const Jit step;
};

Tensor numberOf(float value) { return Tensor::from(std::vector<float>{value}, {}); }

double microseconds(const std::function<void()> &run) {
  const auto begin = Clock::now();
  run();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / stepsOfRound;
}

void measure(size_t kernels) {
  Workload workload(kernels);
  const Tensor two[] = {numberOf(1), numberOf(-1)};
  int count = 0;
  const std::pair<const char *, std::function<Tensor()>> numbers[] = {
      {"kept", [&] { return two[0]; }},
      {"in turns", [&] { return two[++count % 2]; }},
      {"new", [&] { return numberOf(1 + 1e-6f * static_cast<float>(++count % 1000)); }}};
  std::vector<double> following[3], waited[3];
  for (int round = -2; round < rounds; ++round)
    for (size_t i = 0; i < 3; ++i) {
      const double ofFollowing = microseconds([&] {
        for (int j = 0; j < stepsOfRound; ++j)
          workload.run(numbers[i].second());
        workload.wait();
      });
      const double ofWaited = microseconds([&] {
        for (int j = 0; j < stepsOfRound; ++j) {
          workload.run(numbers[i].second());
          workload.wait();
        }
      });
      // The first rounds compile and make the graph.
      if (round < 0)
        continue;
      following[i].push_back(ofFollowing);
      waited[i].push_back(ofWaited);
    }
  for (size_t i = 0; i < 3; ++i) {
    std::printf("%5zu kernels, %-9s", kernels, numbers[i].first);
    for (std::vector<double> *times : {&following[i], &waited[i]}) {
      std::ranges::sort(*times);
      const auto quartile = [&](size_t number) { return (*times)[(times->size() - 1) * number / 4]; };
      std::printf("%9.2f (%.2f to %.2f)", quartile(2), quartile(1), quartile(3));
    }
    std::printf("\n");
  }
}

} // namespace

int main(int argc, char **argv) try {
  if (argc < 2)
    throw std::invalid_argument("usage: zyx-bench-scalars KERNELS...");
  std::printf("microseconds of a step        following each other      waited for\n");
  for (int i = 1; i < argc; ++i) {
    size_t kernels = 0;
    const char *end = argv[i] + std::strlen(argv[i]);
    if (const auto [at, error] = std::from_chars(argv[i], end, kernels); error != std::errc() || at != end || !kernels)
      throw std::invalid_argument("'" + std::string(argv[i]) + "' is no number of kernels");
    measure(kernels);
  }
  return 0;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "zyx-bench-scalars: %s\n", failure.what());
  return 1;
}
