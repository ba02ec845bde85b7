//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Writes the text of a program as tensors make it, gradients with them, to the standard output:
//   zyx-bench-programs attention-backward BATCH HEADS ROWS FEATURES DTYPE [causal]
//     takes queries, keys, values and the gradient of the result; returns the result and the gradients of the
//     first three
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Context.h"
#include "zyx/Tensor/Linalg.h"
#include "zyx/Tensor/Plot.h"
#include "zyx/Tensor/Tape.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

using namespace zyx;

namespace {

int64_t number(const std::string &text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("'" + text + "' is no number");
  return value;
}

/// An input. Its elements are of no interest, but no two inputs may be one node.
Tensor input(const TensorType &type) {
  return Tensor::fromBytes(type, std::vector<std::byte>(static_cast<size_t>(*byteSize(type)))).detach();
}

std::string attentionBackward(const std::vector<std::string> &words) {
  if (words.size() != 5 && !(words.size() == 6 && words[5] == "causal"))
    throw std::invalid_argument("attention-backward takes BATCH HEADS ROWS FEATURES DTYPE [causal]");
  const std::optional<DType> dtype = parseDType(words[4]);
  if (!dtype)
    throw std::invalid_argument("there is no dtype '" + words[4] + "'");
  const TensorType type = {*dtype, {number(words[0]), number(words[1]), number(words[2]), number(words[3])}};
  const Tensor queries = input(type), keys = input(type), values = input(type), seed = input(type);
  const Tensor result = scaledDotProductAttention(queries, keys, values, {.causal = words.size() == 6});
  std::vector<Tensor> all = gradient(result, std::vector{queries, keys, values}, seed);
  all.insert(all.begin(), result);
  return programText(all);
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.empty() || words[0] != "attention-backward")
      throw std::invalid_argument("the programs are: attention-backward");
    const std::string text = attentionBackward({words.begin() + 1, words.end()});
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout))
      throw std::runtime_error("the standard output cannot be written");
    return 0;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "zyx-bench-programs: %s\n", failure.what());
    return 1;
  }
}
