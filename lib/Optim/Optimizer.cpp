//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Optim/Optimizer.h"

#include "zyx/Tensor/Tape.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

using namespace zyx;
using namespace zyx::optim;

/// A leaf of this number: data, no constant of a program.
static Tensor leaf(double number, DType dtype, const Place &where) {
  return dtype == DType::F64 ? Tensor::from(std::vector<double>{number}, {}, where)
                             : Tensor::from(std::vector<float>{static_cast<float>(number)}, {}, where);
}

namespace {

/// Refuses options, of one rule.
struct Options {
  std::string rule;
  const Place &where;

  void refuse(const std::string &what) const { throw Error(Status::invalidArgument(rule + ": " + what), where); }
  /// Each is at least 0.
  void expectLeast(std::initializer_list<std::pair<const char *, double>> options) const {
    for (const auto &[name, value] : options)
      if (!(value >= 0))
        refuse("a negative " + std::string(name) + " of " + std::to_string(value) + ", or none");
  }
  /// Each is at least 0 and below 1.
  void expectShares(std::initializer_list<std::pair<const char *, double>> options) const {
    for (const auto &[name, value] : options)
      if (!(value >= 0 && value < 1))
        refuse("a " + std::string(name) + " of " + std::to_string(value) + " is not from 0 up to but without 1");
  }
};

} // namespace

static Status refusal(const std::string &reason) { return Status::invalidArgument("optimizer: " + reason); }

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Tensors of the parameter's shape.
static auto alike(std::vector<std::string> names) {
  return [names = std::move(names)](const Shape &shape) {
    std::vector<StateSlot> kept;
    for (const std::string &name : names)
      kept.push_back({name, shape});
    return kept;
  };
}

static Tensor decayed(const Tensor &gradient, const Tensor &value, double weightDecay) {
  return weightDecay == 0 ? gradient : gradient + weightDecay * value;
}

UpdateRule zyx::optim::sgd(SgdOptions o, Place where) {
  const Options options{"sgd", where};
  options.expectLeast({{"learning rate", o.learningRate}, {"momentum", o.momentum}, {"weight decay", o.weightDecay}});
  if (o.nesterov && (o.momentum == 0 || o.dampening != 0))
    options.refuse("Nesterov needs a momentum and no dampening");
  UpdateRule rule{.learningRate = o.learningRate};
  if (o.momentum != 0)
    rule.state = alike({"momentum"});
  rule.hyperparameters = [o](double rate, int64_t step) {
    return std::vector<double>{rate, step == 1 ? 1 : 1 - o.dampening};
  };
  rule.update = [o](const Tensor &value, const Tensor &gradient, std::span<Tensor> state,
                    std::span<const Tensor> hyperparameters) {
    Tensor g = decayed(gradient, value, o.weightDecay);
    if (o.momentum != 0) {
      state[0] = o.momentum * state[0] + hyperparameters[1] * g;
      g = o.nesterov ? g + o.momentum * state[0] : state[0];
    }
    return value - hyperparameters[0] * g;
  };
  return rule;
}

static UpdateRule adamLike(AdamOptions o, bool decoupled, const Place &where) {
  const Options options{decoupled ? "adamW" : "adam", where};
  options.expectLeast({{"learning rate", o.learningRate}, {"epsilon", o.epsilon}, {"weight decay", o.weightDecay}});
  options.expectShares({{"beta1", o.beta1}, {"beta2", o.beta2}});
  std::vector<std::string> kept = {"m", "v"};
  if (o.amsgrad)
    kept.push_back("greatest");
  UpdateRule rule{.learningRate = o.learningRate, .state = alike(std::move(kept))};
  rule.hyperparameters = [o](double rate, int64_t step) {
    const double t = static_cast<double>(step);
    return std::vector<double>{rate / (1 - std::pow(o.beta1, t)), 1 / std::sqrt(1 - std::pow(o.beta2, t)),
                               1 - rate * o.weightDecay};
  };
  rule.update = [o, decoupled](const Tensor &value, const Tensor &gradient, std::span<Tensor> state,
                               std::span<const Tensor> hyperparameters) {
    const Tensor g = decoupled ? gradient : decayed(gradient, value, o.weightDecay);
    state[0] = o.beta1 * state[0] + (1 - o.beta1) * g;
    state[1] = o.beta2 * state[1] + (1 - o.beta2) * g * g;
    if (o.amsgrad)
      state[2] = maximum(state[2], state[1]);
    const Tensor kept = decoupled && o.weightDecay != 0 ? value * hyperparameters[2] : value;
    return kept - hyperparameters[0] * state[0] / (state[o.amsgrad ? 2 : 1].sqrt() * hyperparameters[1] + o.epsilon);
  };
  return rule;
}
UpdateRule zyx::optim::adam(AdamOptions options, Place where) { return adamLike(options, false, where); }
UpdateRule zyx::optim::adamW(AdamWOptions o, Place where) {
  return adamLike({o.learningRate, o.beta1, o.beta2, o.epsilon, o.weightDecay, o.amsgrad}, true, where);
}

UpdateRule zyx::optim::rmsprop(RmspropOptions o, Place where) {
  const Options options{"rmsprop", where};
  options.expectLeast({{"learning rate", o.learningRate},
                       {"alpha", o.alpha},
                       {"epsilon", o.epsilon},
                       {"weight decay", o.weightDecay},
                       {"momentum", o.momentum}});
  std::vector<std::string> kept = {"v"};
  if (o.centered)
    kept.push_back("mean");
  if (o.momentum != 0)
    kept.push_back("momentum");
  UpdateRule rule{.learningRate = o.learningRate, .state = alike(std::move(kept))};
  rule.hyperparameters = [](double rate, int64_t) { return std::vector<double>{rate}; };
  rule.update = [o](const Tensor &value, const Tensor &gradient, std::span<Tensor> state,
                    std::span<const Tensor> hyperparameters) {
    const Tensor g = decayed(gradient, value, o.weightDecay);
    Tensor spread = state[0] = o.alpha * state[0] + (1 - o.alpha) * g * g;
    if (o.centered) {
      state[1] = o.alpha * state[1] + (1 - o.alpha) * g;
      spread = spread - state[1] * state[1];
    }
    Tensor move = g / (spread.sqrt() + o.epsilon);
    if (o.momentum != 0)
      move = state.back() = o.momentum * state.back() + move;
    return value - hyperparameters[0] * move;
  };
  return rule;
}

UpdateRule zyx::optim::lion(LionOptions o, Place where) {
  const Options options{"lion", where};
  options.expectLeast({{"learning rate", o.learningRate}, {"weight decay", o.weightDecay}});
  options.expectShares({{"beta1", o.beta1}, {"beta2", o.beta2}});
  UpdateRule rule{.learningRate = o.learningRate, .state = alike({"m"})};
  rule.hyperparameters = [o](double rate, int64_t) { return std::vector<double>{rate, 1 - rate * o.weightDecay}; };
  rule.update = [o](const Tensor &value, const Tensor &gradient, std::span<Tensor> state,
                    std::span<const Tensor> hyperparameters) {
    const Tensor direction = o.beta1 * state[0] + (1 - o.beta1) * gradient;
    // 0 and NaN stay.
    const Tensor sign = zyx::where(direction > 0, 1, zyx::where(direction < 0, -1, direction));
    state[0] = o.beta2 * state[0] + (1 - o.beta2) * gradient;
    return (o.weightDecay == 0 ? value : value * hyperparameters[1]) - hyperparameters[0] * sign;
  };
  return rule;
}

UpdateRule zyx::optim::adafactor(AdafactorOptions o, Place where) {
  const Options options{"adafactor", where};
  options.expectLeast(
      {{"learning rate", o.learningRate}, {"floor", o.floor}, {"weight decay", o.weightDecay}, {"epsilon", o.epsilon}});
  if (!(o.clip > 0 && o.decay <= 0))
    options.refuse("a clip of " + std::to_string(o.clip) + " and a decay of " + std::to_string(o.decay) +
                   " are not above 0 and at most 0");
  UpdateRule rule{.learningRate = o.learningRate};
  rule.state = [](const Shape &shape) {
    if (shape.size() < 2)
      return std::vector<StateSlot>{{"v", shape}};
    Shape rows = shape, columns = shape;
    rows.back() = columns[columns.size() - 2] = 1;
    return std::vector<StateSlot>{{"rows", rows}, {"columns", columns}};
  };
  rule.hyperparameters = [o](double rate, int64_t step) {
    const double t = static_cast<double>(step), fresh = std::pow(t, o.decay);
    return std::vector<double>{std::min(rate, 1 / std::sqrt(t)), fresh, 1 - fresh, 1 - rate * o.weightDecay};
  };
  rule.update = [o](const Tensor &value, const Tensor &g, std::span<Tensor> state,
                    std::span<const Tensor> hyperparameters) {
    auto blend = [&](Tensor &kept, const Tensor &fresh) {
      kept = hyperparameters[2] * kept + hyperparameters[1] * fresh;
    };
    auto rms = [](const Tensor &x) { return (x * x).mean().sqrt(); };
    Tensor v;
    if (state.size() == 1) {
      blend(state[0], g * g);
      v = state[0];
    } else {
      blend(state[0], (g * g).mean({-1}, true));
      blend(state[1], (g * g).mean({-2}, true));
      v = state[0] * state[1] / maximum(state[0].mean({-2}, true), o.epsilon);
    }
    const Tensor move = g / maximum(v, o.epsilon * o.epsilon).sqrt();
    const Tensor pace = hyperparameters[0] * maximum(rms(value), o.floor) / maximum(rms(move) / o.clip, 1);
    return (o.weightDecay == 0 ? value : value * hyperparameters[3]) - pace * move;
  };
  return rule;
}

//===----------------------------------------------------------------------===//
// Optimizer
//===----------------------------------------------------------------------===//

Optimizer::Optimizer(Parameters parameters, UpdateRule rule, Place where)
    : Optimizer(std::vector<Group>{{std::move(parameters), std::move(rule)}}, where) {}

Optimizer::Optimizer(std::vector<Group> given, Place where) : groups(std::move(given)) {
  Progress first;
  for (size_t group = 0; group < groups.size(); ++group) {
    if (const UpdateRule &rule = groups[group].rule; !rule.state || !rule.hyperparameters || !rule.update)
      throw Error(refusal("the rule of group " + std::to_string(group) + " lacks a function"), where);
    learningRates.push_back(groups[group].rule.learningRate);
    for (const NamedParameter &named : groups[group].parameters) {
      if (!named.parameter.isDefined())
        throw Error(refusal("there is no parameter in the place of '" + named.name + "'"), where);
      const TensorType type = named.parameter.type(where);
      if (!isFloat(type.dtype))
        throw Error(refusal("'" + named.name + "' is of type " + toString(type) + ", not of floats"), where);
      for (const NamedParameter &other : all)
        if (other.name == named.name || other.parameter == named.parameter)
          throw Error(refusal("'" + other.name + "' and '" + named.name + "' are one parameter or of one name"), where);
      all.push_back(named);
      const ContextScope scope(named.parameter.context(where));
      const DeviceScope device(named.parameter.device(where));
      Slot &slot = first.slots.emplace_back(Slot{group, {}, {}});
      for (const StateSlot &kept : groups[group].rule.state(type.shape)) {
        const TensorType keptType{accumulatorType(type.dtype), kept.shape};
        const std::vector<std::byte> zeros(valueOrThrow(byteSize(keptType), where));
        slot.names.push_back(named.name + "." + kept.name);
        slot.state.push_back(Tensor::fromBytes(keptType, zeros, where));
      }
    }
  }
  if (all.empty())
    throw Error(refusal("there are no parameters to train, as of a module whose children are members that were not "
                        "declared with add()"),
                where);
  progress.set(std::move(first));
}

size_t Optimizer::expectGroup(size_t group, const Place &where) const {
  if (group >= groups.size())
    throw Error(refusal("there is no group " + std::to_string(group) + " of " + std::to_string(groups.size())), where);
  return group;
}
double Optimizer::learningRate(size_t group, Place where) const { return learningRates[expectGroup(group, where)]; }
void Optimizer::setLearningRate(size_t group, double rate, Place where) {
  learningRates[expectGroup(group, where)] = rate;
}

Optimizer::Hyperparameters Optimizer::hyperparameters(const Progress &at, const Place &where) const {
  Hyperparameters hyperparameters(groups.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor value = all[i].parameter.value(where);
    const DType dtype = accumulatorType(value.dtype());
    const ContextScope scope(value.context());
    const DeviceScope device(value.device());
    const size_t group = at.slots[i].group;
    auto [known, isNew] = hyperparameters[group].try_emplace({dtype, value.device()});
    if (isNew)
      for (double number : groups[group].rule.hyperparameters(learningRates[group], at.step + 1))
        known->second.push_back(leaf(number, dtype, where));
  }
  return hyperparameters;
}

size_t Optimizer::numStates() const {
  const Progress latest = progress.latest();
  size_t count = 0;
  for (const Slot &slot : latest.slots)
    count += slot.state.size();
  return count;
}

std::vector<Tensor> Optimizer::next(std::span<const Tensor> gradients, const Hyperparameters &hyperparameters,
                                    std::vector<Slot> &next, const Place &where) const {
  if (gradients.size() != all.size())
    throw Error(
        refusal(std::to_string(gradients.size()) + " gradients for " + std::to_string(all.size()) + " parameters"),
        where);
  std::vector<Tensor> values;
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor value = all[i].parameter.value(where), &gradient = gradients[i];
    if (!gradient.isDefined()) {
      values.emplace_back();
      continue;
    }
    if (gradient.shape() != value.shape())
      throw Error(refusal("the gradient of '" + all[i].name + "', " + toString(value.type()) + ", is of type " +
                          toString(gradient.type())),
                  where);
    const DType dtype = accumulatorType(value.dtype());
    const ContextScope scope(value.context());
    Slot &slot = next[i];
    values.push_back(callFor("optimizer: '" + all[i].name + "'", where, [&] {
      return groups[slot.group]
          .rule
          .update(value.cast(dtype), gradient.cast(dtype), slot.state,
                  hyperparameters[slot.group].at({dtype, value.device()}))
          .cast(value.dtype());
    }));
    if (values.back().shape() != value.shape())
      throw Error(refusal("the rule makes '" + all[i].name + "', " + toString(value.type()) + ", a tensor of shape " +
                          toString(values.back().shape())),
                  where);
  }
  return values;
}

void Optimizer::step(Tensors gradients, Tensors alsoCompute, Place where) {
  Progress after = progress.get(where);
  const std::vector<Tensor> values = next(gradients, hyperparameters(after, where), after.slots, where);
  std::vector<Tensor> targets;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!values[i].isDefined())
      continue;
    targets.push_back(values[i]);
    targets.insert(targets.end(), after.slots[i].state.begin(), after.slots[i].state.end());
  }
  targets.insert(targets.end(), alsoCompute.begin(), alsoCompute.end());
  const PendingUpdate pending;
  realize(targets, pending, where);
  for (size_t i = 0; i < all.size(); ++i)
    if (values[i].isDefined())
      all[i].parameter.set(values[i], pending, where);
  ++after.step;
  progress.set(std::move(after), pending);
}

void Optimizer::minimize(const Tensor &loss, const Parameters &alsoCompute, Place where) {
  std::vector<Tensor> others = valuesOf(alsoCompute, where);
  for (const NamedParameter &named : carried)
    others.push_back(named.parameter.value(where));
  others.push_back(loss);
  step(gradients(loss, where), others, where);
}

std::vector<Tensor> Optimizer::gradients(const Tensor &loss, const Place &where) const {
  const std::vector<Tensor> values = valuesOf(all, where);
  std::map<uint64_t, size_t> numbers;
  for (size_t i = 0; i < values.size(); ++i)
    if (const auto [other, isNew] = numbers.try_emplace(values[i].id(where), i); !isNew)
      throw Error(
          refusal(
              "'" + all[other->second].name + "' and '" + all[i].name +
              "' hold one tensor, so that gradients of the two cannot be told: Parameter::set gives one a tensor of "
              "its own"),
          where);
  std::vector<Tensor> found = gradient(loss, values, {.allowUnused = true, .materialize = false}, where);
  if (std::ranges::none_of(found, &Tensor::isDefined))
    throw Error(refusal("the loss depends on none of the parameters, so that there is nothing to learn: it reads other "
                        "ones, or was computed before"),
                where);
  return found;
}

NamedTensors Optimizer::state(Place where) const { return stateOf(progress.get(where), where); }
NamedTensors Optimizer::latestState(Place where) const { return stateOf(progress.latest(), where); }

NamedTensors Optimizer::stateOf(const Progress &now, const Place &where) const {
  NamedTensors state;
  state["step"] = Tensor::from(std::vector<int64_t>{now.step}, {});
  for (size_t group = 0; group < groups.size(); ++group)
    state["learning_rate." + std::to_string(group)] = leaf(learningRates[group], DType::F64, where);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < now.slots[i].state.size(); ++k)
      state[now.slots[i].names[k]] = now.slots[i].state[k];
  return state;
}

void Optimizer::load(const NamedTensors &given, Place where) {
  expectNames(typesOf(latestState(where)), given, "the optimizer's state", where);
  // Values are read before anything changes.
  const int64_t steps = given.at("step").item<int64_t>(where);
  std::vector<double> rates;
  for (size_t group = 0; group < groups.size(); ++group)
    rates.push_back(given.at("learning_rate." + std::to_string(group)).item<double>(where));
  Progress next = progress.latest();
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < next.slots[i].state.size(); ++k)
      next.slots[i].state[k] = copyBeside(all[i].parameter, given.at(next.slots[i].names[k]), where);
  next.step = steps;
  progress.set(std::move(next));
  learningRates = std::move(rates);
}

//===----------------------------------------------------------------------===//
// Gradients and schedules
//===----------------------------------------------------------------------===//

Clipped zyx::optim::clipByGlobalNorm(Tensors gradients, double most, Place where) {
  Tensor total;
  for (const Tensor &gradient : gradients) {
    if (!gradient.isDefined())
      continue;
    const Tensor g = gradient.cast(accumulatorType(gradient.dtype()), where);
    const Tensor squares = (g * g).sum({}, false, where);
    total = total.isDefined() ? total + squares : squares;
  }
  if (!total.isDefined())
    throw Error(Status::invalidArgument("clipByGlobalNorm: there are no gradients"), where);
  Clipped clipped{{}, total.sqrt(where)};
  const Tensor factor = minimum(most / (clipped.norm + 1e-6), 1);
  for (const Tensor &gradient : gradients) {
    if (!gradient.isDefined()) {
      clipped.gradients.emplace_back();
      continue;
    }
    const DType dtype = accumulatorType(gradient.dtype());
    clipped.gradients.push_back(
        (gradient.cast(dtype, where) * factor.cast(dtype, where)).cast(gradient.dtype(), where));
  }
  return clipped;
}

double zyx::optim::stepDecay(double rate, int64_t step, int64_t every, double factor) {
  if (every <= 0)
    throw Error(Status::invalidArgument("stepDecay: a rate does not change every " + std::to_string(every) + " steps"),
                Place::current());
  return rate * std::pow(factor, static_cast<double>(step / every));
}
double zyx::optim::exponentialDecay(double rate, int64_t step, double factor) {
  return rate * std::pow(factor, static_cast<double>(step));
}
double zyx::optim::cosineDecay(double rate, int64_t step, int64_t total, double low) {
  if (step >= total)
    return low;
  const double angle = std::numbers::pi * static_cast<double>(step) / static_cast<double>(total);
  return low + (rate - low) * 0.5 * (1 + std::cos(angle));
}
double zyx::optim::linearWarmup(double rate, int64_t step, int64_t steps) {
  return step + 1 >= steps ? rate : rate * static_cast<double>(step + 1) / static_cast<double>(steps);
}
