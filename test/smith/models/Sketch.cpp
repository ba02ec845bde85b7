//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/models/Sketch.h"

#include "smith/WriteProgram.h"
#include "zyx/Tensor/Plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <sys/mman.h>

namespace zyx::smith {

std::string pythonTuple(const Shape &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Sketch::Sketch(ModelProgram &program, Context context)
    : program(program), context(std::move(context)), random(program.seed * 0x9e3779b97f4a7c15u + program.index) {
  using enum DType;
  // Few programs for processors are written in 16 bits.
  static constexpr DType onCards[] = {BF16, BF16, BF16, BF16, F16, F16, F32, F32, F32},
                         onHosts[] = {F32, F32, F32, F32, F32, BF16, BF16, F16};
  // That of a network is given.
  if (program.variant.empty())
    program.dtype =
        program.scale == Scale::Host ? onHosts[below(std::size(onHosts))] : onCards[below(std::size(onCards))];
}

//===----------------------------------------------------------------------===//
// What is drawn
//===----------------------------------------------------------------------===//

int64_t Sketch::choose(Choices full, Choices host, Choices small) {
  const Choices &choices = program.scale == Scale::Full ? full : program.scale == Scale::Host ? host : small;
  return *(choices.begin() + below(static_cast<int64_t>(choices.size())));
}

int64_t Sketch::pick(const char *name, Choices full, Choices host, Choices small) {
  const int64_t value = choose(full, host, small);
  note(name, value);
  return value;
}

int64_t Sketch::batch(const char *name, Choices full, Choices host, Choices small) {
  const int64_t value = choose(full, host, small) * program.batches;
  note(name, value);
  return value;
}

size_t Sketch::variant(std::initializer_list<const char *> names) {
  const auto chosen = static_cast<size_t>(below(static_cast<int64_t>(names.size())));
  program.variant += (program.variant.empty() ? "" : "-") + std::string(*(names.begin() + chosen));
  return chosen;
}

void Sketch::note(const char *name, int64_t value) {
  for (auto &[known, size] : program.sizes)
    if (known == name) {
      size = value;
      return;
    }
  program.sizes.emplace_back(name, value);
}

int64_t Sketch::atMost(const char *name, int64_t value, int64_t most) {
  note(name, std::min(value, most));
  return std::min(value, most);
}

Sketch::Tokens Sketch::tokens(bool grows) {
  static constexpr Tokens full[] = {{4, 2048}, {8, 2048},  {1, 8192},  {64, 197}, {128, 197}, {32, 577},  {32, 512},
                                    {64, 384}, {16, 1500}, {15, 1023}, {256, 77}, {4, 4096},  {1, 16384}, {3, 8192}};
  static constexpr Tokens host[] = {{1, 128}, {1, 197}, {2, 77}, {1, 257}, {4, 49}, {1, 333}, {8, 32}};
  static constexpr Tokens small[] = {{1, 5}, {2, 7}, {3, 4}, {1, 17}};
  const std::span<const Tokens> all = program.scale == Scale::Full   ? std::span<const Tokens>(full)
                                      : program.scale == Scale::Host ? std::span<const Tokens>(host)
                                                                     : std::span<const Tokens>(small);
  Tokens chosen = all[static_cast<size_t>(below(static_cast<int64_t>(all.size())))];
  if (grows)
    chosen.batch *= program.batches;
  note("batch", chosen.batch);
  note("rows", chosen.rows);
  return chosen;
}

bool Sketch::drawGradients(double probability) { return program.hasGradients = random.chance(probability); }

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// A leaf of the context, whose elements nobody looks at: pages that are never touched.
static Tensor placeholder(const TensorType &type) {
  const auto size = static_cast<size_t>(std::max<int64_t>(*byteSize(type), 1));
  void *pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    throw Error(Status::outOfMemory("no addresses for an input of " + std::to_string(size) + " bytes"),
                Place::current());
  const std::shared_ptr<const void> owner(pages,
                                          [size](const void *begin) { munmap(const_cast<void *>(begin), size); });
  return Tensor::borrow(type, {static_cast<const std::byte *>(pages), static_cast<size_t>(*byteSize(type))}, owner);
}

Tensor Sketch::add(const char *name, TensorType type, Values values, bool isWeight, bool hasGradient) {
  Tensor tensor = placeholder(type);
  inputs.push_back({{name, type, values, isWeight, *byteSize(type)}, tensor, hasGradient});
  return tensor;
}

Tensor Sketch::x(const char *name, const Shape &shape, Values values) {
  return add(name, {dtype(), shape}, values, false, true);
}
Tensor Sketch::weight(const char *name, const Shape &shape, int64_t fanIn) {
  return weight(name, shape, Values{Values::Kind::Normal, 0, 1 / std::sqrt(static_cast<double>(fanIn))});
}
Tensor Sketch::weight(const char *name, const Shape &shape, Values values) {
  return add(name, {dtype(), shape}, values, true, true);
}
Tensor Sketch::data(const char *name, TensorType type, Values values) {
  return add(name, std::move(type), values, false, false);
}
Tensor Sketch::constant(const char *name, TensorType type, Values values) {
  return add(name, std::move(type), values, true, false);
}

void Sketch::touches(const char *name, int64_t bytes) {
  for (Input &input : inputs)
    if (input.about.name == name)
      input.about.bytes = std::min(input.about.bytes, bytes);
}

void Sketch::updatesInPlace(const char *name, int64_t elements) {
  const auto result = std::ranges::find(results, name, &std::pair<std::string, Tensor>::first);
  for (Input &input : inputs)
    if (input.about.name == name)
      input.about.donatedTo = result - results.begin();
  written[name] = elements * byteSize(result->second.dtype());
}

Tensor Sketch::linear(const Tensor &x, const char *from, const char *to, const std::string &name, int64_t out,
                      bool hasBias) {
  const int64_t in = x.size(-1);
  const Tensor factor = weight((name + "_weight").c_str(), {out, in}, in);
  countProduct(x.numel() / in, out, in);
  Tensor y = matmul(x, factor.transpose());
  if (hasBias)
    y = y + weight((name + "_bias").c_str(), {out}, Values{Values::Kind::Normal, 0, 0.1});
  say(to, " = F.linear(", from, ", ", name, "_weight", hasBias ? ", " + name + "_bias" : std::string(), ")");
  return y;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void Sketch::append(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  body += text;
}
void Sketch::append(const Shape &shape) { body += pythonTuple(shape); }

/// The graph of results whose inputs are named by their positions. Text names leaves in the order in which it meets
/// them: views of all inputs, which come first and go again, fix it.
Result<graph::Graph> Sketch::captureNumbered(std::span<const Tensor> all) {
  std::vector<Tensor> targets;
  for (const Input &input : inputs)
    targets.push_back(input.tensor.unsqueeze(0));
  targets.insert(targets.end(), all.begin(), all.end());
  ZYX_ASSIGN_OR_RETURN(graph::Graph numbered, fromText(programText(targets)));
  numbered.outputs.erase(numbered.outputs.begin(), numbered.outputs.begin() + static_cast<ptrdiff_t>(inputs.size()));
  for (size_t i = 0; i < numbered.outputs.size(); ++i)
    numbered.outputs[i].name = "result" + std::to_string(i);
  return numbered;
}

/// Which output each of the results is. Text has equal ones once: the gradients of two biases that are added, say.
Result<std::vector<size_t>> Sketch::placesOf(std::span<const Tensor> all, size_t numOutputs) {
  std::vector<size_t> places(all.size());
  std::iota(places.begin(), places.end(), 0);
  if (numOutputs == all.size())
    return places;
  std::vector<Hash128> different;
  for (size_t i = 0; i < all.size(); ++i) {
    ZYX_ASSIGN_OR_RETURN(const graph::Graph alone, captureNumbered(all.subspan(i, 1)));
    const auto found = std::find(different.begin(), different.end(), alone.canonicalHash());
    places[i] = static_cast<size_t>(found - different.begin());
    if (found == different.end())
      different.push_back(alone.canonicalHash());
  }
  if (different.size() != numOutputs)
    return Status::internal("of " + std::to_string(all.size()) + " results " + std::to_string(different.size()) +
                            " are different, and the text has " + std::to_string(numOutputs));
  return places;
}

/// The graph with the inputs in their order and by their names.
Result<graph::Graph> Sketch::capture(std::span<const Tensor> all) {
  ZYX_ASSIGN_OR_RETURN(const graph::Graph numbered, captureNumbered(all));
  ZYX_ASSIGN_OR_RETURN(const std::vector<size_t> places, placesOf(all, numbered.outputs.size()));
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < inputs.size(); ++i)
    numbers["in" + std::to_string(i)] = i;
  graph::Graph made;
  for (const Input &input : inputs) {
    ZYX_ASSIGN_OR_RETURN(const graph::NodeId id, made.parameter(input.about.name, input.about.type));
    made.inputs.push_back(id);
    made.numWeights += input.about.isWeight;
  }
  std::vector<graph::NodeId> arguments;
  for (graph::NodeId id : numbered.inputs) {
    const auto found = numbers.find(numbered.node(id).attributes.name);
    if (found == numbers.end() || numbered.node(id).type != inputs[found->second].about.type)
      return Status::internal("an input '" + numbered.node(id).attributes.name +
                              "' of the text is none of the program");
    arguments.push_back(made.inputs[found->second]);
  }
  ZYX_ASSIGN_OR_RETURN(const graph::Body body, graph::Body::create(numbered));
  ZYX_ASSIGN_OR_RETURN(const std::vector<graph::NodeId> outputs, made.inlineBody(body, arguments));
  for (size_t i = 0; i < all.size(); ++i)
    made.outputs.push_back({"result" + std::to_string(i), outputs[places[i]]});
  ZYX_RETURN_IF_ERROR(made.verify());
  return made;
}

static std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Of all weights their next values, then both moments of all. Moments become inputs, by these names.
std::vector<Tensor> Sketch::updated(std::span<const Tensor> weights, std::span<const Tensor> gradients,
                                    std::vector<std::string> &means, std::vector<std::string> &squares) {
  constexpr double rate = 1e-3, decay = 0.01, first = 0.9, second = 0.999, epsilon = 1e-8;
  program.python += "def update(weights, gradients, means, squares):\n"
                    "    gradients = [wide(t) for t in gradients]\n"
                    "    means = torch._foreach_add(torch._foreach_mul(means, 0.9), gradients, alpha=0.1)\n"
                    "    powers = torch._foreach_mul(gradients, gradients)\n"
                    "    squares = torch._foreach_add(torch._foreach_mul(squares, 0.999), powers, alpha=0.001)\n"
                    "    steps = torch._foreach_div(means, torch._foreach_add(torch._foreach_sqrt(squares), 1e-8))\n"
                    "    kept = torch._foreach_mul([wide(t) for t in weights], 1 - 1e-5)\n"
                    "    made = torch._foreach_sub(kept, steps, alpha=1e-3)\n"
                    "    return (*(n.to(t.dtype) for n, t in zip(made, weights)), *means, *squares)\n\n\n";
  const auto moments = [&](const char *kind, Values values, std::vector<std::string> &names) {
    std::vector<Tensor> made;
    for (size_t i = 0; i < weights.size(); ++i) {
      names.push_back(kind + std::to_string(i));
      made.push_back(add(names.back().c_str(), {DType::F32, weights[i].shape()}, values, false, false));
    }
    return made;
  };
  std::vector<Tensor> mean = moments("mean", {Values::Kind::Normal, 0, 1e-3}, means),
                      square = moments("square", {Values::Kind::Uniform, 1e-6, 1e-5}, squares), made;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Tensor g = gradients[i].cast(DType::F32);
    mean[i] = mean[i] * first + g * (1 - first);
    square[i] = square[i] * second + g * g * (1 - second);
    const Tensor kept = weights[i].cast(DType::F32) * (1 - rate * decay);
    made.push_back((kept - mean[i] / (square[i].sqrt() + epsilon) * rate).cast(weights[i].dtype()));
  }
  made.insert(made.end(), mean.begin(), mean.end());
  made.insert(made.end(), square.begin(), square.end());
  return made;
}

Status Sketch::finish() {
  std::vector<Tensor> all;
  std::vector<std::string> arguments, sources, returned;
  std::vector<Tensor> leaves;
  const std::string seedName = "d" + results[0].first;
  const bool hasSeed = program.hasGradients && results[0].second.rank() != 0;
  std::vector<Input> ordered;
  for (const bool isWeight : {false, true})
    for (const Input &input : inputs)
      if (input.about.isWeight == isWeight)
        ordered.push_back(input);
  inputs = std::move(ordered);
  for (const Input &input : inputs) {
    arguments.push_back(input.about.name);
    if (input.hasGradient) {
      sources.push_back(input.about.name);
      leaves.push_back(input.tensor);
    }
  }
  for (const auto &[name, value] : results) {
    returned.push_back(name);
    all.push_back(value);
  }
  program.python = "import torch\nimport torch.nn.functional as F\n\n\ndef wide(t):\n"
                   "    return t if t.dtype == torch.float64 else t.float()\n\n\n";
  program.python += "def forward(" + joined(arguments) + "):\n" + body;
  if (!program.hasGradients) {
    program.python += "    return (" + joined(returned) + ",)\n\n\nprogram = forward\n";
  } else {
    program.python += "    return " + returned[0] + "\n\n\n";
    program.flops *= 3;
    // Each step has other weights.
    for (Input &input : inputs)
      input.about.isWeight = false;
    GradientOptions options;
    if (hasSeed) {
      inputs.push_back({{seedName, results[0].second.type(), {}, false, *byteSize(results[0].second.type())},
                        placeholder(results[0].second.type()),
                        false});
      options.seed = inputs.back().tensor;
    }
    std::vector<Tensor> made = gradient(results[0].second, leaves, options);
    std::vector<std::string> given = arguments, means, squares;
    if (hasSeed)
      given.push_back(seedName);
    if (hasUpdate)
      made = updated(leaves, made, means, squares);
    given.insert(given.end(), means.begin(), means.end());
    given.insert(given.end(), squares.begin(), squares.end());
    all = {results[0].second};
    all.insert(all.end(), made.begin(), made.end());
    program.python += "def program(" + joined(given) + ", forward=forward" + (hasUpdate ? ", update=update" : "") +
                      "):\n    " + joined(sources) + ", = (t.detach().requires_grad_() for t in (" + joined(sources) +
                      ",))\n    result = forward(" + joined(arguments) +
                      ")\n    gradients = torch.autograd.grad(result, (" + joined(sources) + ",)" +
                      (hasSeed ? ", " + seedName : "") + ")\n";
    if (hasUpdate)
      program.python += "    weights = [t.detach() for t in (" + joined(sources) +
                        ",)]\n    return (result.detach(), *update(" + "weights, gradients, [" + joined(means) +
                        "], [" + joined(squares) + "]))\n";
    else
      program.python += "    return (result, *gradients)\n";
  }
  for (const Input &input : inputs)
    program.inputs.push_back(input.about);
  ZYX_ASSIGN_OR_RETURN(program.graph, capture(all));
  for (size_t i = 0; i < all.size(); ++i) {
    const auto found = i < results.size() ? written.find(results[i].first) : written.end();
    program.written.push_back(found == written.end() ? *byteSize(all[i].type()) : found->second);
  }
  return Status::ok();
}

} // namespace zyx::smith
