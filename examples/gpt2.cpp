//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Goes on behind tokens with what GPT-2 finds likeliest:
//   gpt2 WEIGHTS [--tokens=N,N,...] [--count=N] [--heads=N] [--runs=N] [--threads=N] [--device=DEVICE] [--recompute]
// WEIGHTS is a safetensors file with the names of the published checkpoints; examples/gpt2.py writes random ones.
// The prompt fills caches of keys and values in one program, and a loop in another one makes all tokens behind the
// first. With --recompute each token takes a pass over all of them instead, without caches.
//===----------------------------------------------------------------------===//
#include "gpt2.h"
#include "program.h"

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <sys/resource.h>

using namespace zyx;

namespace {

struct Arguments {
  std::string weights;
  std::optional<std::string> device;
  std::vector<int64_t> tokens = {464, 2068, 7586, 21831};
  int64_t count = 32, heads = 0, runs = 1;
  unsigned threads = 0;
  bool recompute = false;
};

/// Numbers with commas between them.
bool parseTokens(std::string_view text, std::vector<int64_t> &tokens) {
  tokens.clear();
  for (const char *next = text.data(), *last = next + text.size();; ++next) {
    const auto [end, error] = std::from_chars(next, last, tokens.emplace_back());
    if (error != std::errc())
      return false;
    if (end == last)
      return true;
    if (*end != ',')
      return false;
    next = end;
  }
}

double since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// Tokens behind the prompt, and when the first of them was there.
struct Decoded {
  std::vector<int64_t> tokens;
  double first = 0, all = 0;
};

class Decoder {
public:
  Decoder(const gpt2::Model &model, int64_t prompt, int64_t count)
      : begin([&model, prompt, count](std::span<const Tensor> a) {
          std::vector<nn::KVCache> caches = model.caches(prompt + count);
          std::vector<Tensor> results = {model.first(a[0], caches)};
          for (const auto &[keys, values] : caches)
            results.insert(results.end(), {keys, values});
          return results;
        }),
        rest([&model, prompt, count](std::span<const Tensor> a) {
          std::vector<nn::KVCache> caches;
          for (size_t i = 1; i < a.size(); i += 2)
            caches.push_back({a[i], a[i + 1]});
          return std::vector{model.continued(a[0], caches, prompt, count)};
        }),
        whole([&model](std::span<const Tensor> a) { return std::vector{take(model.logits(a[0]), a[1]).argmax(1)}; }) {}

  Decoded cached(const std::vector<int64_t> &prompt) const {
    const auto began = std::chrono::steady_clock::now();
    const std::vector<Tensor> state = begin({Tensor::from(prompt, {static_cast<int64_t>(prompt.size())})});
    state[0].bytes();
    const double first = since(began);
    const std::vector<int64_t> tokens = rest(state)[0].toVector<int64_t>();
    return {tokens, first, since(began)};
  }
  /// In a window of one shape: what stands behind a token is not seen by it.
  Decoded recomputed(const std::vector<int64_t> &prompt, int64_t count) const {
    const auto began = std::chrono::steady_clock::now();
    Decoded decoded;
    std::vector<int64_t> window = prompt;
    window.resize(prompt.size() + count);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t last = static_cast<int64_t>(prompt.size()) + i - 1;
      const Tensor token =
          whole({Tensor::from(window, {static_cast<int64_t>(window.size())}), Tensor::from({last})})[0];
      decoded.tokens.push_back(window[last + 1] = token.item<int64_t>());
      if (i == 0)
        decoded.first = since(began);
    }
    decoded.all = since(began);
    return decoded;
  }

private:
  Jit begin, rest, whole;
};

void run(const Arguments &arguments) {
  const auto began = std::chrono::steady_clock::now();
  const ContextScope scope(Context({.device = arguments.device, .threads = arguments.threads}));
  const gpt2::Model model(nn::mapTensors(arguments.weights), arguments.heads);
  const int64_t prompt = static_cast<int64_t>(arguments.tokens.size());
  if (prompt + arguments.count > model.positions)
    throw std::runtime_error("there are positions for " + std::to_string(model.positions) + " tokens, not for " +
                             std::to_string(prompt + arguments.count));
  for (int64_t token : arguments.tokens)
    if (token < 0 || token >= model.vocabulary)
      throw std::runtime_error("token " + std::to_string(token) + " is none of " + std::to_string(model.vocabulary));
  std::printf("%lld layers, %lld wide, %lld heads, %lld tokens; there after %.2f s\n",
              static_cast<long long>(model.layers), static_cast<long long>(model.width),
              static_cast<long long>(model.heads), static_cast<long long>(model.vocabulary), since(began));
  const Decoder decoder(model, prompt, arguments.count);
  for (int64_t i = 0; i < arguments.runs; ++i) {
    const Decoded found =
        arguments.recompute ? decoder.recomputed(arguments.tokens, arguments.count) : decoder.cached(arguments.tokens);
    if (i == 0) {
      std::printf("tokens:");
      for (int64_t token : found.tokens)
        std::printf(" %lld", static_cast<long long>(token));
      std::printf("\n");
    }
    std::printf("run %lld: the first token after %.3f s, the others %.1f per second%s\n", static_cast<long long>(i + 1),
                found.first, static_cast<double>(arguments.count - 1) / (found.all - found.first),
                i == 0 ? ", compiling included" : "");
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("at most %.0f MiB of memory\n", static_cast<double>(usage.ru_maxrss) / 1024);
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  const example::CommandLine commandLine = {
      "gpt2",
      "gpt2 WEIGHTS [--tokens=N,N,...] [--count=N] [--heads=N] [--runs=N] [--threads=N] [--device=DEVICE] "
      "[--recompute]",
      arguments.weights,
      {{"--tokens", [&](std::string_view text) { return parseTokens(text, arguments.tokens); }},
       example::number<int64_t>("--count", arguments.count, 1),
       example::number<int64_t>("--heads", arguments.heads, 0),
       example::number<int64_t>("--runs", arguments.runs, 1),
       example::number("--threads", arguments.threads, 0u),
       example::text("--device", arguments.device),
       example::flag("--recompute", arguments.recompute)}};
  if (const auto code = commandLine.parse(argc, argv))
    return *code;
  return example::run("gpt2", [&] { run(arguments); });
}
