//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Optim/TrainStep.h"

#include "zyx/Tensor/Creation.h"
#include "zyx/Tensor/Tape.h"

#include <algorithm>
#include <iterator>
#include <numeric>

using namespace zyx;
using namespace zyx::optim;

/// The first arguments, each of which has one more handle: that of its place.
static JitOptions donateFirst(size_t count) {
  JitOptions options{std::vector<size_t>(count), 1};
  std::iota(options.donated.begin(), options.donated.end(), size_t(0));
  return options;
}

TrainStep::TrainStep(Optimizer &optimizer, Loss loss, TrainStepOptions given)
    : optimizer(optimizer), loss(std::move(loss)), options(std::move(given)),
      step([this](std::span<const Tensor> arguments) { return build(arguments); },
           options.donates ? donateFirst(optimizer.all.size() + options.buffers.size() + optimizer.numStates())
                           : JitOptions()) {}

/// Arguments are parameters, buffers, the optimizer's state, its hyperparameters, and the batch; results are the next
/// parameters, buffers and state, and what the loss returned.
std::vector<Tensor> TrainStep::build(std::span<const Tensor> arguments) const {
  auto take = [&](size_t count) {
    const std::span<const Tensor> taken = arguments.first(count);
    arguments = arguments.subspan(count);
    return taken;
  };
  const ParameterOverride parameters(optimizer.all, take(optimizer.all.size()));
  const ParameterOverride buffers(options.buffers, take(options.buffers.size()));
  Optimizer::Progress progress = optimizer.progress.latest();
  for (Optimizer::Slot &slot : progress.slots)
    for (Tensor &state : slot.state)
      state = take(1)[0];
  Optimizer::Hyperparameters hyperparameters = optimizer.hyperparameters(progress, Place::current());
  for (auto &group : hyperparameters)
    for (auto &[dtype, ofDType] : group)
      for (Tensor &number : ofDType)
        number = take(1)[0];

  const std::vector<Tensor> found = loss(arguments);
  if (found.empty() || !found[0].isDefined())
    throw Error(Status::invalidArgument("TrainStep: the function returns no loss"), Place::current());
  const std::vector<Tensor> values = valuesOf(optimizer.all);
  std::vector<Tensor> gradients = optimizer.gradients(found[0], Place::current());
  if (options.gradients) {
    // The function sees a gradient of each; what has none stays what it is nevertheless.
    std::vector<Tensor> given = gradients;
    for (size_t i = 0; i < given.size(); ++i)
      if (!given[i].isDefined())
        given[i] = zerosLike(values[i]);
    given = options.gradients(given);
    if (given.size() == gradients.size())
      for (size_t i = 0; i < given.size(); ++i)
        if (!gradients[i].isDefined())
          given[i] = {};
    gradients = std::move(given);
  }
  std::vector<Tensor> results = optimizer.next(gradients, hyperparameters, progress.slots, Place::current());
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i].isDefined())
      results[i] = values[i];
  const std::vector<Tensor> changed = valuesOf(options.buffers);
  results.insert(results.end(), changed.begin(), changed.end());
  for (const Optimizer::Slot &slot : progress.slots)
    results.insert(results.end(), slot.state.begin(), slot.state.end());
  results.insert(results.end(), found.begin(), found.end());
  return results;
}

std::vector<Tensor> TrainStep::operator()(Tensors batch, Place where) const {
  auto refuse = [&](const std::string &text) { throw Error(Status::invalidArgument("TrainStep: " + text), where); };
  if (!loss)
    refuse("there is no function of a loss");
  for (auto buffer = options.buffers.begin(); buffer != options.buffers.end(); ++buffer) {
    auto isIt = [&](const NamedParameter &other) { return other.parameter == buffer->parameter; };
    if (!buffer->parameter.isDefined())
      refuse("there is no parameter in the place of '" + buffer->name + "'");
    if (std::any_of(optimizer.all.begin(), optimizer.all.end(), isIt))
      refuse("the buffer '" + buffer->name + "' is a parameter that is trained");
    if (std::any_of(options.buffers.begin(), buffer, isIt))
      refuse("the buffer '" + buffer->name + "' is named twice");
  }
  Optimizer::Progress progress = optimizer.progress.get(where);
  const Optimizer::Hyperparameters ofStep = optimizer.hyperparameters(progress, where);
  std::vector<Tensor> arguments = valuesOf(optimizer.all, where);
  for (const NamedParameter &named : options.buffers)
    arguments.push_back(named.parameter.value(where));
  // Moved, so that nobody but the optimizer has one besides.
  for (Optimizer::Slot &slot : progress.slots)
    std::move(slot.state.begin(), slot.state.end(), std::back_inserter(arguments));
  for (const auto &group : ofStep)
    for (const auto &[dtype, hyperparameters] : group)
      arguments.insert(arguments.end(), hyperparameters.begin(), hyperparameters.end());
  arguments.insert(arguments.end(), batch.begin(), batch.end());

  // Donated values may have nothing to roll back to, and then say why.
  const PendingUpdate pending;
  std::vector<Tensor> results = step(arguments, pending, where);
  auto result = results.begin();
  const Parameters *const all[] = {&optimizer.all, &options.buffers};
  for (const Parameters *places : all)
    for (const NamedParameter &named : *places)
      named.parameter.set(*result++, pending, where);
  for (Optimizer::Slot &slot : progress.slots)
    for (Tensor &state : slot.state)
      state = *result++;
  ++progress.step;
  optimizer.progress.set(std::move(progress), pending);
  return {result, results.end()};
}
