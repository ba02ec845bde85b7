//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A transformer of characters: learns a text by its first nine tenths, is tested on the rest, is saved and read
// again, and writes a text of its own:
//   chargpt TEXT [--steps=N] [--seed=N] [--sample=N] [--temperature=X] [--device=DEVICE] [--out=FOLDER]
// FOLDER gets model.safetensors.
//===----------------------------------------------------------------------===//
#include "program.h"

#include <zyx/zyx.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <unistd.h>

using namespace zyx;

namespace {

constexpr int64_t layers = 6, width = 128, heads = 4, context = 64, batch = 8;
constexpr double highestRate = 3e-3, longestGradient = 1;

struct CharGpt : nn::Module {
  CharGpt(int64_t characters, nn::InitRng &rng)
      : token(add("token", nn::Embedding(characters, width, rng))), norm(add("norm", nn::LayerNorm(width))),
        out(add("out", nn::Linear(width, characters, rng, false))) {
    for (int64_t i = 0; i < layers; ++i)
      blocks.push_back(add("block" + std::to_string(i),
                           nn::TransformerBlock(width, {.heads = heads, .causal = true, .rotary = true}, rng)));
    token.weight.set((*token.weight * 0.02).detach());
  }

  /// [rows, context] to [rows, context, characters].
  Tensor operator()(const Tensor &tokens) const {
    Tensor x = token(tokens);
    for (const nn::TransformerBlock &block : blocks)
      x = block(x);
    return out(norm(x));
  }
  /// Of each character by those before it; `pieces` [rows, context + 1].
  Tensor loss(const Tensor &pieces) const {
    const Tensor logits = (*this)(pieces.slice({{}, {0, context}}));
    return crossEntropy(logits.flatten(0, 1), pieces.slice({{}, {1}}).flatten());
  }

  nn::Embedding token;
  std::vector<nn::TransformerBlock> blocks;
  nn::LayerNorm norm;
  nn::Linear out;
};

struct Arguments {
  std::string text, out = ".";
  std::optional<std::string> device;
  uint64_t seed = 1;
  int64_t steps = 500, sample = 400;
  double temperature = 0.8;
};

/// A text as positions in the list of its characters.
struct Text {
  explicit Text(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    const std::string all(std::istreambuf_iterator<char>(file), {});
    if (!file || static_cast<int64_t>(all.size()) < 20 * (context + 1))
      throw std::runtime_error("'" + path + "' is no text of " + std::to_string(20 * (context + 1)) + " characters");
    characters = all;
    std::sort(characters.begin(), characters.end());
    characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
    for (char c : all)
      positions.push_back(static_cast<int64_t>(characters.find(c)));
    numTrain = static_cast<int64_t>(positions.size()) * 9 / 10;
  }
  Tensor pieces(const std::vector<int64_t> &begins) const {
    std::vector<int64_t> rows;
    for (int64_t begin : begins)
      rows.insert(rows.end(), positions.begin() + begin, positions.begin() + begin + context + 1);
    return Tensor::from(rows, {static_cast<int64_t>(begins.size()), context + 1});
  }
  /// Nats per character of the part that is learned, for somebody who knows how often each character occurs
  /// behind each of those that stand `before` it.
  double entropy(int64_t before) const {
    std::map<std::vector<int64_t>, double> longer, shorter;
    const auto first = positions.begin();
    for (int64_t i = before; i < numTrain; ++i) {
      ++longer[std::vector<int64_t>(first + i - before, first + i + 1)];
      ++shorter[std::vector<int64_t>(first + i - before, first + i)];
    }
    double sum = 0;
    for (const auto &[characters, count] : longer)
      sum -= count * std::log(count / shorter.at({characters.begin(), characters.end() - 1}));
    return sum / static_cast<double>(numTrain - before);
  }

  std::string characters;
  std::vector<int64_t> positions;
  int64_t numTrain;
};

/// The mean over `count` batches of the part that was not learned.
double test(const CharGpt &model, const Text &text, int64_t count) {
  const Jit loss([&](std::span<const Tensor> pieces) { return std::vector{model.loss(pieces[0])}; });
  const int64_t rest = static_cast<int64_t>(text.positions.size()) - text.numTrain - context - 1;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> begins;
    for (int64_t row = 0; row < batch; ++row)
      begins.push_back(text.numTrain + rest * (i * batch + row) / (count * batch));
    sum += loss({text.pieces(begins)})[0].item<float>();
  }
  return sum / static_cast<double>(count);
}

/// Goes on behind the first characters of the part that was not learned with characters drawn by their
/// probabilities. The window is of one shape: what stands behind its last character is not seen, as attention is
/// causal.
std::string sample(const CharGpt &model, const Text &text, const Arguments &arguments) {
  const Jit next([&](std::span<const Tensor> a) {
    const Tensor logits = take(model(a[0]).squeeze(Dims{0}), a[1], 0);
    return std::vector{multinomial(a[2], (logits / arguments.temperature).softmax(), 1)};
  });
  Generator seeds(arguments.seed);
  const auto rest = text.positions.begin() + text.numTrain;
  std::vector<int64_t> tokens(rest, rest + context / 2);
  for (int64_t i = 0; i < arguments.sample; ++i) {
    const int64_t seen = std::min<int64_t>(static_cast<int64_t>(tokens.size()), context);
    std::vector<int64_t> window(tokens.end() - seen, tokens.end());
    window.resize(context);
    const Tensor drawn = next({Tensor::from(window, {1, context}), Tensor::from({seen - 1}), seeds.next()})[0];
    tokens.push_back(drawn.flatten().item<int64_t>());
  }
  std::string written;
  for (int64_t token : tokens)
    written += text.characters[token];
  return written;
}

void showProgress(int64_t step, int64_t steps, double loss, double seconds) {
  if (!::isatty(STDOUT_FILENO)) {
    if (step % 50 == 0 || step == steps)
      std::printf("step %lld of %lld: loss %.3f, %.1f s\n", static_cast<long long>(step), static_cast<long long>(steps),
                  loss, seconds);
  } else {
    constexpr int64_t size = 30;
    const std::string bar(static_cast<size_t>(size * step / steps), '#');
    std::printf("\r[%-*s] step %lld of %lld: loss %.3f, %.1f s%s", static_cast<int>(size), bar.c_str(),
                static_cast<long long>(step), static_cast<long long>(steps), loss, seconds, step == steps ? "\n" : "");
  }
  std::fflush(stdout);
}

void run(const Arguments &arguments) {
  const auto began = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  example::checkFolder(arguments.out);
  const ContextScope scope(Context({.device = arguments.device}));
  const Text text(arguments.text);
  const int64_t characters = static_cast<int64_t>(text.characters.size());
  nn::InitRng rng(arguments.seed);
  const CharGpt model(characters, rng);
  int64_t numbers = 0;
  for (const NamedParameter &named : model.parameters())
    numbers += named.parameter->numel();
  std::printf("%zu characters, of %lld kinds; %lld numbers to learn\n", text.positions.size(),
              static_cast<long long>(characters), static_cast<long long>(numbers));
  std::printf("nats per character: %.2f by counting characters, %.2f by counting pairs\n", text.entropy(0),
              text.entropy(1));

  optim::Optimizer optimizer(model.parameters(), optim::adamW({.beta2 = 0.99, .weightDecay = 0.1}));
  const optim::TrainStep step(optimizer,
                              [&](std::span<const Tensor> pieces) { return std::vector{model.loss(pieces[0])}; },
                              {.gradients = [](std::span<const Tensor> all) {
                                return optim::clipByGlobalNorm(all, longestGradient).gradients;
                              }});
  std::mt19937_64 random(arguments.seed);
  double firstStep = 0, recent = 0;
  for (int64_t i = 0; i < arguments.steps; ++i) {
    std::vector<int64_t> begins(batch);
    for (int64_t &begin : begins)
      begin = static_cast<int64_t>(random() % static_cast<uint64_t>(text.numTrain - context));
    optimizer.setLearningRate(optim::linearWarmup(1, i, 40) *
                              optim::cosineDecay(highestRate, i, arguments.steps, highestRate / 10));
    const double loss = step({text.pieces(begins)})[0].item<float>();
    recent = i == 0 ? loss : 0.9 * recent + 0.1 * loss;
    if (i == 0)
      firstStep = seconds();
    showProgress(i + 1, arguments.steps, recent, seconds());
  }
  const double stepTime = (seconds() - firstStep) / static_cast<double>(std::max<int64_t>(arguments.steps - 1, 1));

  const std::string file = arguments.out + "/model.safetensors";
  model.save(file);
  nn::InitRng others(arguments.seed + 1);
  CharGpt restored(characters, others);
  restored.load(file);
  const double loss = test(model, text, 8);
  if (test(restored, text, 8) != loss)
    throw std::runtime_error("what was read from '" + file + "' is another model");
  std::printf("---\n%s\n---\n", sample(restored, text, arguments).c_str());
  std::printf("loss on the rest of the text: %.3f; %.1f s, the first step after %.2f s, then %.1f ms each\n", loss,
              seconds(), firstStep, 1000 * stepTime);
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  constexpr double coldest = 1e-6;
  const example::CommandLine commandLine = {
      "chargpt",
      "chargpt TEXT [--steps=N] [--seed=N] [--sample=N] [--temperature=X] [--device=DEVICE] [--out=FOLDER]",
      arguments.text,
      {example::number<int64_t>("--steps", arguments.steps, 1), example::number<uint64_t>("--seed", arguments.seed, 0),
       example::number<int64_t>("--sample", arguments.sample, 0),
       example::number("--temperature", arguments.temperature, coldest), example::text("--device", arguments.device),
       example::text("--out", arguments.out)}};
  if (const auto code = commandLine.parse(argc, argv))
    return *code;
  return example::run("chargpt", [&] { run(arguments); });
}
