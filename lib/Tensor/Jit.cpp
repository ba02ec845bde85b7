//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Jit.h"

#include "Detail.h"

#include <algorithm>
#include <map>

using namespace zyx;
using namespace zyx::detail;

struct Jit::Contents {
  Function function;
  JitOptions options;
  /// By the context's state, which they keep, and the types of the arguments.
  std::map<std::pair<std::shared_ptr<State>, std::string>, State::Plan> plans;
};

Jit::Jit(Function function, JitOptions options)
    : contents(std::make_shared<Contents>(Contents{std::move(function), std::move(options), {}})) {}

size_t Jit::numCaptures() const { return contents->plans.size(); }

std::vector<Tensor> Jit::operator()(std::span<const Tensor> arguments, Place where) const {
  return call(arguments, nullptr, where);
}
std::vector<Tensor> Jit::operator()(std::span<const Tensor> arguments, const Change &change, Place where) const {
  return call(arguments, &change, where);
}

std::vector<Tensor> Jit::call(std::span<const Tensor> arguments, const Change *change, const Place &where) const {
  if (!contents->function)
    refuse("jit: there is no function", where);
  std::string types;
  for (const Tensor &argument : arguments) {
    if (!argument)
      refuse("jit: there is no tensor in this place", where);
    types += toString(argument.type()) + " " + argument.device() + ";";
  }
  const std::shared_ptr<State> state = arguments.empty() ? State::current(where) : State::handleOf(arguments[0])->state;
  const std::vector<size_t> &givenUp = contents->options.givenUp;
  for (auto number = givenUp.begin(); number != givenUp.end(); ++number) {
    if (*number >= arguments.size())
      refuse("jit: argument " + std::to_string(*number) + " of " + std::to_string(arguments.size()) + " is given up", where);
    if (std::find(givenUp.begin(), number, *number) != number)
      refuse("jit: argument " + std::to_string(*number) + " is given up twice", where);
  }
  auto [found, isNew] = contents->plans.try_emplace({state, types});
  if (isNew) {
    try {
      std::vector<Tensor> placeholders;
      for (const Tensor &argument : arguments)
        placeholders.push_back(valueOrThrow(state->addPlaceholder(argument.type(), argument, /*isPlaced=*/true), where));
      const CaptureScope capture;
      const std::vector<Tensor> results = contents->function(placeholders);
      for (const Tensor &result : results)
        if (!result)
          refuse("jit: the function returns no tensor in one place", where);
      found->second = valueOrThrow(state->plan(placeholders, results, contents->options), where);
    } catch (...) {
      contents->plans.erase(found);
      throw;
    }
  }
  return valueOrThrow(state->run(found->second, arguments, where, change), where);
}
