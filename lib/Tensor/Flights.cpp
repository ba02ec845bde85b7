//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs in flight: what is known of them while they run, and what comes of those that fail.
//===----------------------------------------------------------------------===//
#include "State.h"
#include "WatchedCompilation.h"

#include <algorithm>
#include <unordered_set>

using namespace zyx;
using namespace zyx::detail;
using zyx::runtime::Buffer;
using zyx::runtime::Point;

void State::addFlight(Flight flight, const PendingUpdate *pending) {
  if (pending) {
    pending->contents->isGiven = true;
    pending->contents->state = weak_from_this();
    pending->contents->end = PendingUpdate::End::Open;
    flight.pending = pending->contents;
  }
  flights.push_back(std::move(flight));
  settle();
}

void State::settle() {
  size_t kept = 0;
  for (size_t i = 0; i < flights.size(); ++i) {
    const std::vector<Point> &points = flights[i].points;
    if (std::all_of(points.begin(), points.end(), [](const Point &point) { return point.isDecided(); })) {
      settle(flights[i]);
      continue;
    }
    if (kept != i)
      flights[kept] = std::move(flights[i]);
    ++kept;
  }
  flights.erase(flights.begin() + static_cast<ptrdiff_t>(kept), flights.end());
}

void State::settle(const Flight &flight) {
  std::shared_ptr<Failure> failure;
  for (const Point &point : flight.points) {
    const Status status = point.wait();
    if (status.isOk())
      continue;
    failure = std::make_shared<Failure>();
    const std::string place = flight.where.file_name();
    const std::string began =
        place.empty() ? "" : " that began at " + place + ":" + std::to_string(flight.where.line());
    failure->status = Status(status.code(), "the run" + began + " failed").withCause(status);
    if (!firstFailure)
      firstFailure = failure;
    break;
  }
  if (const auto pending = flight.pending.lock()) {
    pending->end = failure ? PendingUpdate::End::Failed : PendingUpdate::End::Good;
    pending->failure = failure;
    if (!failure)
      pending->kept.clear();
  }
  for (const auto &[node, weak] : flight.targets) {
    const std::shared_ptr<Buffer> value = weak.lock();
    // Nobody needs it any more, or it was computed again.
    if (!value || states[node].value != value)
      continue;
    // Of several programs some may have succeeded.
    if (failure && !value->wait(false).isOk()) {
      resetValue(node, failure);
    } else if (states[node].isCut) {
      dropOperands(node);
    } else if (tapes != 0 && graph.node(node).op != Op::Parameter) {
      taped.push_back(node);
    }
  }
  for (const auto &[node, weak] : flight.moved)
    if (const std::shared_ptr<Buffer> value = weak.lock();
        failure && value && states[node].value == value && !value->wait(false).isOk())
      resetValue(node, failure);
  if (!failure)
    return;
  for (NodeId node : flight.replacements)
    if (states[node].uses != 0)
      states[node].undone = failure;
  recoverDonated(flight, failure->status);
}

void State::noteReplacement(const PendingUpdate::Contents &pending, const Tensor &next) {
  std::lock_guard lock(mutex);
  for (Flight &flight : flights)
    if (flight.pending.lock().get() == &pending)
      flight.replacements.push_back(nodeOf(next));
  if (pending.end == PendingUpdate::End::Failed)
    states[nodeOf(next)].undone = pending.failure;
}

void State::recoverDonated(const Flight &flight, const Status &failure) {
  for (const auto &[node, buffer] : flight.taken) {
    if (states[node].uses == 0)
      continue;
    if (std::shared_ptr<Buffer> back = buffer->recoverDonated())
      setValue(node, std::move(back), states[node].device);
    else
      invalidateDonated(node, flight.where, failure);
  }
}

void State::resetValue(NodeId node, const std::shared_ptr<Failure> &failure) {
  setValue(node, nullptr);
  states[node].isCut = false;
  states[node].failure = failure;
  hasFailed = true;
}

Status State::takeFailure(NodeId node) {
  // What is no expression cannot be computed again.
  std::shared_ptr<Failure> &failure = states[node].failure;
  if (!failure)
    return Status::ok();
  return graph.node(node).op == Op::Parameter ? failure->tell() : std::exchange(failure, nullptr)->tell();
}

std::string State::describe(NodeId node) const {
  const graph::Location location = graph.location(node);
  return zyx::toString(graph.node(node).type) + " of '" + describeOp(graph.node(node)) + "'" +
         (location.file.empty() ? "" : " from " + std::string(location.file) + ":" + std::to_string(location.line));
}

Status State::takeFailuresBehind(std::span<const NodeId> targets) {
  if (!hasFailed)
    return Status::ok();
  std::unordered_set<NodeId> seen(targets.begin(), targets.end());
  std::vector<NodeId> work(targets.begin(), targets.end());
  std::vector<std::pair<NodeId, std::shared_ptr<Failure>>> found;
  while (!work.empty()) {
    const NodeId node = work.back();
    work.pop_back();
    // Of what is no expression the schedule tells it.
    if (states[node].failure && graph.node(node).op != Op::Parameter)
      found.emplace_back(node, std::exchange(states[node].failure, nullptr));
    if (!states[node].value)
      for (NodeId operand : graph.node(node).operands)
        if (seen.insert(operand).second)
          work.push_back(operand);
  }
  if (std::ranges::any_of(found, [](const auto &each) { return each.second->isTold; }) || found.empty())
    return Status::ok();
  const Status cause = found[0].second->tell();
  return Status(cause.code(), describe(found[0].first) + ", of which a value is made, was not computed")
      .withCause(cause);
}

Status State::checkIsThere(NodeId target, std::span<const Tensor> sources) const {
  if (!hasFailed)
    return Status::ok();
  std::unordered_set<NodeId> ends, seen = {target};
  for (const Tensor &source : sources)
    ends.insert(nodeOf(source));
  std::vector<NodeId> work = {target};
  while (!work.empty()) {
    const NodeId node = work.back();
    work.pop_back();
    const NodeState &state = states[node];
    const bool isLost = graph.node(node).op == Op::Parameter && state.failure;
    if (isLost || (state.undone && !ends.contains(node))) {
      const Status cause = (isLost ? state.failure : state.undone)->tell();
      return Status(cause.code(), "gradient: the target, " + describe(target) + ", depends on " + describe(node) +
                                      ", whose value is not there any more; it is to be built anew")
          .withCause(cause);
    }
    if (state.holdsOperands && !state.isCut && !ends.contains(node))
      for (NodeId operand : graph.node(node).operands)
        if (seen.insert(operand).second)
          work.push_back(operand);
  }
  return Status::ok();
}

void State::waitForFlights() {
  for (const Flight &flight : flights)
    for (const Point &point : flight.points) [[maybe_unused]]
      const Status status = point.wait();
  settle();
}

Status State::sync() {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::vector<Point> points;
  {
    std::lock_guard lock(mutex);
    for (const Flight &flight : flights)
      points.insert(points.end(), flight.points.begin(), flight.points.end());
  }
  {
    const WatchedRun watched;
    for (const Point &point : points) [[maybe_unused]]
      const Status status = point.wait();
  }
  std::lock_guard lock(mutex);
  settle();
  const std::shared_ptr<Failure> first = std::exchange(firstFailure, nullptr);
  return first ? first->tell() : Status::ok();
}
