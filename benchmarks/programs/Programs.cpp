//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Writes the text of a program as tensors make it, gradients with them, to the standard output:
//   zyx-bench-programs attention-backward BATCH HEADS ROWS FEATURES DTYPE [causal]
//     takes queries, keys, values and the gradient of the result; returns the result and the gradients of the
//     first three
//   zyx-bench-programs gpt2-gradients LAYERS BATCH ROWS DTYPE
//     takes tokens, targets and weights of GPT-2 small's width; returns the mean cross-entropy and the gradients of all
//     weights
//   zyx-bench-programs softmax-backward ROWS COLUMNS DTYPE
//   zyx-bench-programs layer-norm-backward ROWS COLUMNS DTYPE
//   zyx-bench-programs rms-norm-backward ROWS COLUMNS DTYPE
//     take x, weights where there are some, and the gradient of the result; return the gradients of x, weight and bias
//   zyx-bench-programs cross-entropy-backward ROWS CLASSES DTYPE
//     takes logits and targets; returns the loss and the gradient of the logits
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Activations.h"
#include "zyx/Tensor/Context.h"
#include "zyx/Tensor/Functions.h"
#include "zyx/Tensor/Linalg.h"
#include "zyx/Tensor/Losses.h"
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

DType dtypeOf(const std::string &word) {
  const std::optional<DType> dtype = parseDType(word);
  if (!dtype)
    throw std::invalid_argument("there is no dtype '" + word + "'");
  return *dtype;
}

std::string attentionBackward(const std::vector<std::string> &words) {
  if (words.size() != 5 && !(words.size() == 6 && words[5] == "causal"))
    throw std::invalid_argument("attention-backward takes BATCH HEADS ROWS FEATURES DTYPE [causal]");
  const TensorType type = {dtypeOf(words[4]), {number(words[0]), number(words[1]), number(words[2]), number(words[3])}};
  const Tensor queries = input(type), keys = input(type), values = input(type), seed = input(type);
  const Tensor result = scaledDotProductAttention(queries, keys, values, {.causal = words.size() == 6});
  std::vector<Tensor> all = gradient(result, std::vector{queries, keys, values}, seed);
  all.insert(all.begin(), result);
  return programText(all);
}

std::string gpt2Gradients(const std::vector<std::string> &words) {
  if (words.size() != 4)
    throw std::invalid_argument("gpt2-gradients takes LAYERS BATCH ROWS DTYPE");
  constexpr int64_t width = 768, heads = 12, vocabulary = 50257;
  const int64_t layers = number(words[0]), batch = number(words[1]), rows = number(words[2]);
  const DType dtype = dtypeOf(words[3]);
  const Tensor tokens = input({DType::I64, {batch * rows}}), targets = input({DType::I64, {batch * rows}});
  std::vector<Tensor> weights;
  const auto weight = [&](const Shape &shape) { return weights.emplace_back(input({dtype, shape})); };
  const auto norm = [&](const Tensor &x) {
    const Tensor scale = weight({width}), shift = weight({width});
    return layerNorm(x, 1, scale, shift);
  };
  const auto linear = [&](const Tensor &x, int64_t in, int64_t out) {
    const Tensor factor = weight({in, out}), bias = weight({out});
    return matmul(x, factor) + bias;
  };
  const Tensor embedding = weight({vocabulary, width}), positions = weight({rows, width});
  Tensor x = take(embedding, tokens) + positions.reshape({1, rows, width}).expand({batch, rows, width}).flatten(0, 1);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Tensor all =
        linear(norm(x), width, 3 * width).reshape({batch, rows, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const Tensor attended =
        scaledDotProductAttention(all.select(0, 0), all.select(0, 1), all.select(0, 2), {.causal = true});
    x = x + linear(attended.permute({0, 2, 1, 3}).reshape({batch * rows, width}), width, width);
    x = x + linear(geluTanh(linear(norm(x), width, 4 * width)), 4 * width, width);
  }
  const Tensor loss = crossEntropy(matmul(norm(x), embedding.transpose()).cast(DType::F32), targets);
  std::vector<Tensor> all = gradient(loss, weights);
  all.insert(all.begin(), loss);
  return programText(all);
}

/// ROWS COLUMNS DTYPE.
TensorType matrix(const std::vector<std::string> &words) {
  if (words.size() != 3)
    throw std::invalid_argument("gradients of rows take ROWS COLUMNS DTYPE");
  return {dtypeOf(words[2]), {number(words[0]), number(words[1])}};
}

std::string softmaxBackward(const std::vector<std::string> &words) {
  const TensorType type = matrix(words);
  const Tensor x = input(type), seed = input(type);
  return programText(gradient(x.softmax(1), std::vector{x}, seed));
}

std::string layerNormBackward(const std::vector<std::string> &words) {
  const TensorType type = matrix(words), own = {type.dtype, {type.shape[1]}};
  const Tensor x = input(type), weight = input(own), bias = input(own), seed = input(type);
  return programText(gradient(layerNorm(x, 1, weight, bias), std::vector{x, weight, bias}, seed));
}

std::string rmsNormBackward(const std::vector<std::string> &words) {
  const TensorType type = matrix(words), own = {type.dtype, {type.shape[1]}};
  const Tensor x = input(type), weight = input(own), seed = input(type);
  return programText(gradient(rmsNorm(x, 1, weight), std::vector{x, weight}, seed));
}

std::string crossEntropyBackward(const std::vector<std::string> &words) {
  const TensorType type = matrix(words);
  const Tensor logits = input(type), targets = input({DType::I64, {type.shape[0]}});
  const Tensor loss = crossEntropy(logits, targets);
  std::vector<Tensor> all = gradient(loss, std::vector{logits});
  all.insert(all.begin(), loss);
  return programText(all);
}

using Program = std::string (*)(const std::vector<std::string> &words);
constexpr std::pair<std::string_view, Program> programs[] = {
    {"attention-backward", attentionBackward}, {"gpt2-gradients", gpt2Gradients},
    {"softmax-backward", softmaxBackward},     {"layer-norm-backward", layerNormBackward},
    {"rms-norm-backward", rmsNormBackward},    {"cross-entropy-backward", crossEntropyBackward}};

std::string textOf(const std::vector<std::string> &words) {
  std::string names;
  for (const auto &[name, program] : programs) {
    if (!words.empty() && words[0] == name)
      return program({words.begin() + 1, words.end()});
    names += std::string(names.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument("the programs are: " + names);
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    const std::string text = textOf(words);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout))
      throw std::runtime_error("the standard output cannot be written");
    return 0;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "zyx-bench-programs: %s\n", failure.what());
    return 1;
  }
}
