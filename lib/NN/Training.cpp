//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Training.h"

using namespace zyx;
using namespace zyx::nn;

static constexpr std::string_view ofModel = "model.", ofOptimizer = "optimizer.", ofGenerators = "generator.";

Training::Training(Module model, optim::UpdateRule rule, Place where)
    : trained(std::move(model)), steps(trained, std::move(rule), where) {}
Training::Training(Module model, std::vector<optim::Group> groups, Place where)
    : trained(std::move(model)), steps(std::move(groups), where) {}

void Training::minimize(const Tensor &loss, Place where) { steps.minimize(loss, trained.buffers(), where); }

void Training::step(Tensors gradients, Tensors alsoCompute, Place where) {
  std::vector<Tensor> all = valuesOf(trained.buffers());
  all.insert(all.end(), alsoCompute.begin(), alsoCompute.end());
  steps.step(gradients, all, where);
}

NamedTensors Training::state() const { return joined(trained.state(), steps.state()); }

NamedTensors Training::joined(const NamedTensors &model, const NamedTensors &optimizer) const {
  NamedTensors state;
  for (const auto &[name, tensor] : model)
    state[std::string(ofModel) + name] = tensor;
  for (const auto &[name, tensor] : optimizer)
    state[std::string(ofOptimizer) + name] = tensor;
  for (const auto &[name, generator] : trained.generators()) {
    const std::array<uint64_t, 2> numbers = generator->state();
    state[std::string(ofGenerators) + name] = Tensor::from(std::vector<uint64_t>(numbers.begin(), numbers.end()), {2});
  }
  return state;
}

void Training::load(const NamedTensors &given, Place where) {
  std::map<std::string, TensorType> types = typesOf(joined({}, steps.latestState(where)));
  for (const auto &[name, type] : trained.types())
    types[std::string(ofModel) + name] = type;
  expectNames(types, given, "the state of a training", where);
  NamedTensors model, optimizer;
  std::map<std::string, std::vector<uint64_t>> generators;
  for (const auto &[name, tensor] : given) {
    if (name.starts_with(ofModel))
      model[name.substr(ofModel.size())] = tensor;
    else if (name.starts_with(ofOptimizer))
      optimizer[name.substr(ofOptimizer.size())] = tensor;
    else
      generators[name.substr(ofGenerators.size())] = tensor.toVector<uint64_t>(where);
  }
  // Values that cannot be read fail here, before anything changes.
  for (const NamedTensors *part : {&model, &optimizer})
    for (const auto &[name, tensor] : *part)
      tensor.realize(where);
  trained.load(model, {}, where);
  steps.load(optimizer, where);
  for (const auto &[name, generator] : trained.generators()) {
    const std::vector<uint64_t> &numbers = generators.at(name);
    generator->restore({numbers[0], numbers[1]});
  }
}

void Training::save(const std::string &path, Place where) const { saveTensors(path, state(), where); }
void Training::load(const std::string &path, Place where) { load(loadTensors(path, where), where); }
