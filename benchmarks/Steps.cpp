//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// zyx-bench-steps THREADS [CACHE]: training steps and inference by tensors, and the building of graphs,
// when standard input says so; one line of JSON for each request and each answer. benchmarks/steps gives
// it and its peers their turns. CACHE is a folder of compiled programs.
//===----------------------------------------------------------------------===//
#include "../examples/digits.h"
#include "Models.h"

#include "zyx/Graph/UnaryKind.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>

using namespace zyx;
using nlohmann::json;

namespace {

//===----------------------------------------------------------------------===//
// Workloads
//===----------------------------------------------------------------------===//

/// Takes one step, reads what it gives, and returns that.
using Step = std::function<std::vector<float>()>;

/// Batches of a workload, in turns; each is given anew as a program has it from its reader.
class Batches {
public:
  Batches(const NamedTensors &data, bool isTraining)
      : inputs(data.at("inputs").bytes()), inputType(data.at("inputs").type()) {
    if (isTraining) {
      targets = data.at("targets").bytes();
      targetType = data.at("targets").type();
    }
  }
  std::pair<Tensor, Tensor> next() {
    const int64_t batch = turn++ % inputType.shape[0];
    return {part(inputs, inputType, batch), targets.empty() ? Tensor() : part(targets, targetType, batch)};
  }

private:
  static Tensor part(const std::vector<std::byte> &all, const TensorType &type, int64_t batch) {
    const size_t size = all.size() / static_cast<size_t>(type.shape[0]);
    return Tensor::fromBytes({type.dtype, Shape(type.shape.begin() + 1, type.shape.end())},
                             std::span(all).subspan(static_cast<size_t>(batch) * size, size));
  }
  std::vector<std::byte> inputs, targets;
  TensorType inputType, targetType;
  int64_t turn = 0;
};

template <typename Model> Step makeStep(Model model, NamedTensors data, bool isTraining) {
  NamedTensors weights;
  for (const NamedParameter &named : model.parameters())
    weights[named.name] = data.at(named.name);
  model.load(weights);
  auto batches = std::make_shared<Batches>(data, isTraining);
  if (isTraining) {
    auto optimizer = std::make_shared<optim::Optimizer>(model.parameters(), optim::adamW());
    auto trainStep = std::make_shared<optim::TrainStep>(*optimizer, [=](std::span<const Tensor> batch) {
      return std::vector<Tensor>{bench::lossOf(model(batch[0]), batch[1])};
    });
    return [=] {
      const auto [x, y] = batches->next();
      // Named, so that the optimizer lives as long as the step.
      (void)optimizer;
      return std::vector<float>{(*trainStep)(std::vector{x, y})[0].template item<float>()};
    };
  }
  model.eval();
  const Jit jit([=](std::span<const Tensor> x) { return std::vector<Tensor>{model(x[0])}; });
  return [=] { return jit(std::vector<Tensor>{batches->next().first})[0].template toVector<float>(); };
}

Step makeStep(const json &request) {
  const NamedTensors data = nn::loadTensors(request.at("data"));
  nn::InitRng rng(1);
  const json &sizes = request.at("sizes");
  const bool isTraining = request.at("training");
  if (request.at("model") == "digits")
    return makeStep(digits::Network(rng), data, isTraining);
  const bench::TransformerSizes of = {sizes.at("vocabulary"), sizes.at("context"), sizes.at("width"),
                                      sizes.at("layers"), sizes.at("heads")};
  return makeStep(bench::CharTransformer(of, rng), data, isTraining);
}

//===----------------------------------------------------------------------===//
// Building of graphs
//===----------------------------------------------------------------------===//

double secondsSince(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Of the processor: one thread does all, and nothing waits.
double processorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Seconds per node of a plain graph of so many, of which none are the same.
double buildPlain(int64_t count) {
  const double began = processorSeconds();
  graph::Graph graph;
  graph::NodeId x = *graph.parameter("x", {DType::F32, {32, 128}}), y = x;
  for (int64_t i = 1; i < count; i += 3) {
    const graph::NodeId z = *graph.binary(graph::BinaryKind::Add, x, y);
    y = *graph.unary(graph::UnaryKind::Tanh, z);
    x = *graph.reshape(*graph.reshape(z, {4096}), {32, 128});
  }
  return (processorSeconds() - began) / static_cast<double>(graph.size());
}

/// The same by tensors.
double buildTensors(int64_t count) {
  const Tensor leaf = Tensor::from(std::vector<float>(4096), {32, 128});
  const uint64_t before = Context::current().counters().nodes;
  const double began = processorSeconds();
  Tensor x = leaf, y = leaf;
  for (int64_t i = 1; i < count; i += 3) {
    const Tensor z = x + y;
    y = z.tanh();
    x = z.reshape({4096}).reshape({32, 128});
  }
  const double seconds = processorSeconds() - began;
  return seconds / static_cast<double>(Context::current().counters().nodes - before);
}

json build() {
  json figures = json::object();
  for (int64_t count : {1000, 10000, 100000}) {
    figures["plain"].push_back(buildPlain(count));
    const ContextScope scope{Context({.threads = 1})};
    figures["tensors"].push_back(buildTensors(count));
  }
  return figures;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// A line of /proc/self/status, in bytes.
int64_t memory(const std::string &what) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(what + ":"))
      return 1024 * std::stoll(line.substr(what.size() + 1));
  return 0;
}

class Worker {
public:
  json answer(const json &request) {
    const std::string what = request.at("do");
    if (what == "version")
      return {{"version", "zyx"}, {"resident", memory("VmRSS")}};
    if (what == "build")
      return build();
    if (what == "prepare")
      return prepare(request);
    if (what == "round")
      return measure(request.at("seconds"));
    throw std::runtime_error("no request " + what);
  }

private:
  /// Takes the first steps, whose results are compared.
  json prepare(const json &request) {
    step = makeStep(request);
    std::vector<float> results;
    json seconds = json::array();
    for (int64_t i = 0; i < request.at("steps"); ++i) {
      const auto began = std::chrono::steady_clock::now();
      const uint64_t before = Context::current().counters().launches;
      const std::vector<float> result = step();
      launches = Context::current().counters().launches - before;
      results.insert(results.end(), result.begin(), result.end());
      seconds.push_back(secondsSince(began));
    }
    once = seconds.back();
    const ContextCounters counters = Context::current().counters();
    return {{"results", results}, {"seconds", seconds}, {"kernels", launches}, {"tensors", counters.peakBytes}};
  }

  json measure(double sample) {
    const auto repeat = std::clamp<int64_t>(static_cast<int64_t>(sample / once), 1, 100000);
    for (int64_t i = 0; i < std::max<int64_t>(1, repeat / 4); ++i)
      step();
    const auto began = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < repeat; ++i)
      step();
    const double seconds = secondsSince(began) / static_cast<double>(repeat);
    once = std::min(once, seconds);
    return {{"seconds", seconds}, {"peak", memory("VmHWM")}};
  }

  Step step;
  uint64_t launches = 0;
  double once = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: zyx-bench-steps THREADS [CACHE]; see benchmarks/steps.sh\n";
    return 2;
  }
  try {
    ContextOptions options;
    options.threads = static_cast<unsigned>(std::stoul(argv[1]));
    options.cacheFolder = argc == 3 ? argv[2] : "";
    const ContextScope scope{Context(options)};
    Worker worker;
    for (std::string line; std::getline(std::cin, line);) {
      json answer;
      try {
        answer = worker.answer(json::parse(line));
      } catch (const std::exception &failure) {
        answer = {{"error", failure.what()}};
      }
      std::cout << answer.dump() << std::endl;
    }
  } catch (const std::exception &failure) {
    std::cout << json{{"error", failure.what()}}.dump() << std::endl;
    return 1;
  }
}
