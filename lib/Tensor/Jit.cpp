//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Jit.h"

#include "Detail.h"

#include <algorithm>
#include <iterator>
#include <map>

using namespace zyx;
using namespace zyx::detail;

/// What was built for one set of argument types. Behind the caller's arguments come seeds, then parameters.
struct Jit::Captured {
  struct Seed {
    std::shared_ptr<Generator::Numbers> generator;
    std::string device;
  };
  State::Plan plan;
  std::vector<Seed> seeds;
  /// Those that the function sets come first, in the order of the last results.
  struct Read {
    Parameter parameter;
    TensorType type;
    std::string device;
  };
  std::vector<Read> parameters;
  size_t numSet = 0;
  std::vector<std::function<bool()>> assumptions;
  std::vector<std::weak_ptr<const void>> inlines;

  /// Whether it will never be right again: tensors that are part of it are gone.
  bool isOver() const { return std::ranges::any_of(inlines, &std::weak_ptr<const void>::expired); }

  /// Whether it is right by now, and then the parameters' values.
  bool holds(const State &state, std::vector<Tensor> &values, const Place &where) const {
    values.clear();
    if (!std::ranges::all_of(assumptions, [](const auto &assumption) { return assumption(); }))
      return false;
    for (const Read &read : parameters) {
      const Tensor &value = values.emplace_back(read.parameter.value(where));
      if (value.type() != read.type || (!state.isOfOneDevice() && value.device() != read.device))
        return false;
    }
    return true;
  }
};

struct Jit::Contents {
  Function function;
  JitOptions options;
  /// By the context's state, which they keep, and the types of the arguments.
  std::map<std::pair<std::shared_ptr<State>, std::string>, std::vector<Captured>> plans;
  bool isCalled = false;
};

namespace {

/// A function that is called by what it calls would go on for ever.
class Guard {
public:
  Guard(bool &isCalled, const Place &where) : isCalled(isCalled) {
    if (isCalled)
      refuse("jit: the function calls the Jit that it is captured for", where);
    isCalled = true;
  }
  ~Guard() { isCalled = false; }
  Guard(const Guard &) = delete;
  Guard &operator=(const Guard &) = delete;

private:
  bool &isCalled;
};

} // namespace

Jit::Jit(Function function, JitOptions options)
    : contents(std::make_shared<Contents>(Contents{std::move(function), std::move(options), {}})) {}

size_t Jit::numCaptures() const {
  size_t count = 0;
  for (const auto &[key, captured] : contents->plans)
    count += captured.size();
  return count;
}

bool Jit::isCapturing() { return ParameterScope::capturing() != nullptr; }

void Jit::assume(std::function<bool()> holds) {
  if (ParameterScope *scope = ParameterScope::capturing())
    scope->assumptions.push_back(std::move(holds));
}

std::vector<Tensor> Jit::operator()(Tensors arguments, Place where) const { return call(arguments, nullptr, where); }
std::vector<Tensor> Jit::operator()(Tensors arguments, const PendingUpdate &pending, Place where) const {
  return call(arguments, &pending, where);
}

Jit::Captured Jit::capture(const std::shared_ptr<State> &state, std::span<const Tensor> arguments,
                           const Place &where) const {
  std::vector<Tensor> placeholders;
  for (const Tensor &argument : arguments)
    placeholders.push_back(valueOrThrow(state->addPlaceholder(argument.type(), argument, /*isPlaced=*/true), where));
  CaptureScope scope(state);
  std::vector<Tensor> results = contents->function(placeholders);
  for (const Tensor &result : results)
    if (!result.isDefined())
      refuse("jit: the function returns no tensor in one place", where);
  Captured captured;
  for (const ParameterScope::Seed &seed : scope.parameters.seeds) {
    placeholders.push_back(seed.placeholder);
    captured.seeds.push_back({seed.generator, seed.placeholder.device()});
  }
  for (bool isSet : {true, false})
    for (const ParameterScope::Entry &entry : scope.parameters.entries) {
      if (entry.isSet != isSet || (entry.isInlined && !isSet))
        continue;
      placeholders.push_back(entry.first);
      captured.parameters.push_back({entry.parameter, entry.first.type(), entry.first.device()});
      if (isSet) {
        results.push_back(entry.now);
        ++captured.numSet;
      }
    }
  JitOptions options = contents->options;
  // call() has a copy of each.
  if (options.callerHandles)
    ++*options.callerHandles;
  captured.assumptions = std::move(scope.parameters.assumptions);
  captured.inlines = std::move(scope.parameters.inlines);
  captured.plan =
      valueOrThrow(state->plan(placeholders, results, options, captured.parameters.size() - captured.numSet), where);
  return captured;
}

/// Bytes that tell types and devices of arguments apart; each call makes them, so that they are no text.
static void appendKey(std::string &key, const Tensor &argument, bool isOfOneDevice) {
  const TensorType &type = argument.type();
  key += static_cast<char>(type.dtype);
  key += static_cast<char>(type.shape.size());
  key.append(reinterpret_cast<const char *>(type.shape.data()), type.shape.size() * sizeof(int64_t));
  if (!isOfOneDevice)
    key += argument.device();
  key += ';';
}

std::vector<Tensor> Jit::call(std::span<const Tensor> arguments, const PendingUpdate *pending,
                              const Place &where) const {
  if (!contents->function)
    refuse("jit: there is no function", where);
  for (const Tensor &argument : arguments)
    if (!argument.isDefined())
      refuse("jit: there is no tensor in this place", where);
  const std::shared_ptr<State> state = arguments.empty() ? State::current(where) : State::handleOf(arguments[0])->state;
  const bool isOfOneDevice = state->isOfOneDevice();
  std::string types;
  for (const Tensor &argument : arguments)
    appendKey(types, argument, isOfOneDevice);
  const std::vector<size_t> &donated = contents->options.donated;
  for (auto number = donated.begin(); number != donated.end(); ++number) {
    if (*number >= arguments.size())
      refuse("jit: argument " + std::to_string(*number) + " of " + std::to_string(arguments.size()) + " is donated",
             where);
    if (std::find(donated.begin(), number, *number) != number)
      refuse("jit: argument " + std::to_string(*number) + " is donated twice", where);
  }
  // A function that is captured is made of what it calls.
  if (CaptureScope::isOpen()) {
    const Guard guard(contents->isCalled, where);
    return contents->function(arguments);
  }
  std::vector<Captured> &plans = contents->plans[{state, types}];
  std::vector<Tensor> values;
  auto holds = [&](const Captured &captured) { return captured.holds(*state, values, where); };
  auto found = std::ranges::find_if(plans, holds);
  if (found == plans.end()) {
    const Guard guard(contents->isCalled, where);
    std::erase_if(plans, &Captured::isOver);
    plans.push_back(capture(state, arguments, where));
    found = plans.end() - 1;
    if (!holds(*found))
      refuse("jit: while the function was captured, a parameter or an assumption of it has changed", where);
  }

  std::vector<Tensor> all(arguments.begin(), arguments.end());
  std::vector<uint64_t> counts;
  for (const Captured::Seed &seed : found->seeds) {
    counts.push_back(seed.generator->count);
    const uint64_t key = seed.generator->draw();
    const ContextScope context(all.empty() ? Context::current(where) : all.front().context(where));
    const DeviceScope device(seed.device);
    all.push_back(Tensor::from(std::span<const uint64_t>(&key, 1), {}, where));
  }
  try {
    std::ranges::move(values, std::back_inserter(all));
    // Of what a step of an optimizer makes, parameters begin anew.
    const auto derivation = pending ? nullptr : state->derivationOf(all, where);
    const PendingUpdate own;
    const PendingUpdate *const of = pending || found->numSet == 0 ? pending : &own;
    std::vector<Tensor> results = valueOrThrow(state->run(found->plan, all, where, of), where);
    for (size_t i = 0, first = results.size() - found->numSet; i < found->numSet; ++i)
      found->parameters[i].parameter.set(results[first + i], *of, where);
    results.resize(results.size() - found->numSet);
    if (derivation)
      state->setDerivation(results, derivation);
    return results;
  } catch (...) {
    // A call that did not begin has drawn nothing.
    for (size_t i = counts.size(); i-- != 0;)
      found->seeds[i].generator->count = counts[i];
    throw;
  }
}
