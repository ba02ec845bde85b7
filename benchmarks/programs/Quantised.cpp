//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a decoding step's product takes with quantised weights, beside f32:
//   zyx-bench-quantised [ROWS COLUMNS]
// y = x W^T with x of one row and W of ROWS x COLUMNS (4096 x 4096), by a Jit. Medians of 51 runs in turns, with the
// quartiles behind them; bytes are those of the weights as they are stored.
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Context.h"
#include "zyx/Tensor/Files.h"
#include "zyx/Tensor/Functions.h"
#include "zyx/Tensor/Jit.h"
#include "zyx/Tensor/Linalg.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

using namespace zyx;

namespace {

using Clock = std::chrono::steady_clock;

struct Product {
  std::string name;
  int64_t bytes;
  Jit jit;
  std::vector<double> milliseconds = {};
};

std::vector<std::byte> randomBytes(int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  uint64_t seed = 1;
  for (std::byte &byte : bytes) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    // Without the exponent's highest bit no scale is infinite, whatever the format.
    byte = static_cast<std::byte>(seed >> 40) & std::byte{0xbf};
  }
  return bytes;
}

Product make(std::string name, const Tensor &weight, int64_t bytes) {
  return {std::move(name), bytes,
          Jit([weight](std::span<const Tensor> x) { return std::vector{matmul(x[0], weight.transpose())}; })};
}

} // namespace

int main(int argc, char **argv) {
  const int64_t rows = argc > 2 ? std::atoll(argv[1]) : 4096, columns = argc > 2 ? std::atoll(argv[2]) : 4096;
  try {
    const Shape shape{rows, columns};
    const Tensor x = Tensor::full({1, columns}, 0.5).detach();
    std::vector<Product> products;
    products.push_back(make("f32", Tensor::full(shape, 0.25).detach(), 4 * rows * columns));
    for (int i = 0; i < numBlockFormats; ++i) {
      const auto format = static_cast<BlockFormat>(i);
      const TensorType stored = valueOrThrow(blockedType(format, shape));
      const int64_t bytes = valueOrThrow(byteSize(stored));
      products.push_back(make(std::string(toString(format)),
                              dequantise(Tensor::fromBytes(stored, randomBytes(bytes)), format, shape), bytes));
    }
    for (int turn = -1; turn < 51; ++turn)
      for (Product &product : products) {
        const auto begin = Clock::now();
        (void)product.jit({x})[0].bytes();
        const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
        // The first run compiles.
        if (turn >= 0)
          product.milliseconds.push_back(time.count());
      }
    for (Product &product : products) {
      std::vector<double> &times = product.milliseconds;
      std::ranges::sort(times);
      const double median = times[times.size() / 2];
      std::printf("%-5s %9.3f ms (%.3f to %.3f)  %6.1f MB  %6.1f GB/s of weights  %6.1f G weights/s\n",
                  product.name.c_str(), median, times[times.size() / 4], times[times.size() * 3 / 4],
                  static_cast<double>(product.bytes) / 1e6, static_cast<double>(product.bytes) / median / 1e6,
                  static_cast<double>(rows * columns) / median / 1e6);
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "zyx-bench-quantised: %s\n", error.what());
    return 1;
  }
}
