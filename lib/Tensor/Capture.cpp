//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Capture.h"

#include "Detail.h"

using namespace zyx;
using namespace zyx::detail;

static ParameterScope *&innermostOfThread() {
  thread_local ParameterScope *innermost = nullptr;
  return innermost;
}

ParameterScope::ParameterScope(Kind kind, std::shared_ptr<State> state)
    : kind(kind), state(std::move(state)), outer(std::exchange(innermostOfThread(), this)) {}
ParameterScope::~ParameterScope() { innermostOfThread() = outer; }

ParameterScope *ParameterScope::innermost() { return innermostOfThread(); }

ParameterScope *ParameterScope::capturing() {
  for (ParameterScope *scope = innermost(); scope && scope->kind != Kind::Body; scope = scope->outer)
    if (scope->kind == Kind::Capturing)
      return scope;
  return nullptr;
}

ParameterScope::Entry *ParameterScope::find(const Parameter &parameter) {
  const auto found = numbers.find(parameter.place.get());
  return found == numbers.end() ? nullptr : &entries[found->second];
}

void ParameterScope::replace(const Parameter &parameter, Tensor by) {
  if (Entry *known = find(parameter)) {
    known->now = std::move(by);
    return;
  }
  numbers.emplace(parameter.place.get(), entries.size());
  entries.push_back({parameter, by, by});
}

Tensor ParameterScope::addSeed(const Place &where) {
  return valueOrThrow(state->addPlaceholder({DType::U64, {}}, Tensor(), /*isPlaced=*/true), where);
}

ParameterScope::Entry *ParameterScope::findOrAdd(const Parameter &parameter, const Place &where) {
  if (Entry *known = find(parameter))
    return known;
  const Tensor value = parameter.place->versioned().get(where);
  if (State::handleOf(value)->state != state)
    return nullptr;
  if (state->isMadeOfLess(value)) {
    replace(parameter, value);
    entries.back().isInlined = true;
    // Whoever captures does not keep what nobody else has any more.
    const std::weak_ptr<const void> &inlined = inlines.emplace_back(State::handleOf(value));
    assumptions.push_back([parameter, inlined] { return inlined.lock() == State::handleOf(parameter.latest()); });
    return &entries.back();
  }
  replace(parameter, valueOrThrow(state->addPlaceholder(value.type(), value, /*isPlaced=*/true), where));
  return &entries.back();
}

std::optional<Tensor> ParameterScope::read(const Parameter &parameter, const Place &where) {
  for (ParameterScope *scope = innermost(); scope; scope = scope->outer) {
    if (scope->kind == Kind::Body)
      continue;
    if (Entry *entry = scope->kind == Kind::Capturing ? scope->findOrAdd(parameter, where) : scope->find(parameter))
      return entry->now;
  }
  return std::nullopt;
}

bool ParameterScope::set(const Parameter &parameter, const Tensor &next, const Place &where) {
  for (ParameterScope *scope = innermost(); scope; scope = scope->outer) {
    if (scope->kind == Kind::Body)
      refuse(
          "a parameter is set in the body of a loop, which is called once for all trips: carry its value from trip to "
          "trip, and set it behind the loop",
          where);
    if (Entry *entry = scope->kind == Kind::Capturing ? scope->findOrAdd(parameter, where) : scope->find(parameter)) {
      entry->now = next;
      entry->isSet = true;
      return true;
    }
  }
  return false;
}

std::string State::describe(const Tensor &tensor) {
  std::lock_guard lock(mutex);
  return describe(nodeOf(tensor));
}

bool State::isMadeOfLess(const Tensor &tensor) {
  std::lock_guard lock(mutex);
  const NodeId node = nodeOf(tensor);
  if (states[node].value || states[node].isConstant)
    return false;
  uint64_t bytes = 0;
  std::unordered_set<NodeId> seen = {node};
  std::vector<NodeId> work = {node};
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (states[id].value)
      bytes += static_cast<uint64_t>(*byteSize(graph.node(id).type));
    else if (graph.node(id).op == Op::Parameter)
      return false;
    else
      for (NodeId operand : graph.node(id).operands)
        if (seen.insert(operand).second)
          work.push_back(operand);
  }
  return bytes != 0 && bytes < static_cast<uint64_t>(*byteSize(tensor.type()));
}

bool State::isOpen(const Tensor &tensor) {
  std::lock_guard lock(mutex);
  std::unordered_set<NodeId> seen = {nodeOf(tensor)};
  std::vector<NodeId> work = {nodeOf(tensor)};
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (states[id].value || states[id].isConstant)
      continue;
    if (graph.node(id).op == Op::Parameter && !states[id].failure)
      return true;
    for (NodeId operand : graph.node(id).operands)
      if (seen.insert(operand).second)
        work.push_back(operand);
  }
  return false;
}
