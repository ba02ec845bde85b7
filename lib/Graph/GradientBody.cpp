//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Loops and custom ops: their bodies are differentiated in graphs of their own, where nothing is
// known of what the values outside have in common.
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace zyx::graph {

namespace {

/// A graph that becomes a body: parameters are inputs in the order in which they are made.
class BodyEmitter : public GradientEmitter {
public:
  BodyEmitter() : GradientEmitter(body) {}
  BodyEmitter(const BodyEmitter &) = delete;

  Graph body;

  NodeId input(const TensorType &type) {
    const NodeId id = check(body.parameter("arg" + std::to_string(body.inputs.size()), type));
    body.inputs.push_back(id);
    return id;
  }
  void output(NodeId id) { body.outputs.push_back({"result" + std::to_string(body.outputs.size()), id}); }
  Result<Body> finish() {
    ZYX_RETURN_IF_ERROR(status);
    return Body::create(body);
  }
};

/// The gradient of a body as a body.
struct BodyGradient {
  /// Takes what the differentiated body takes, then the gradients of those results that have one, then these results
  /// themselves where they are known. None where nothing wanted has a gradient.
  Body body;
  /// Per input of the differentiated body the result that is its gradient.
  std::vector<std::optional<size_t>> resultOf;

  /// Whether the input is read, and the known result.
  std::vector<bool> isRead, isResultRead;
};

} // namespace

/// Nodes of the same values that are told from these, and that wait for others.
static std::vector<NodeId> holdApart(GradientEmitter &e, const std::vector<NodeId> &values,
                                     const std::vector<NodeId> &others) {
  BodyEmitter body;
  std::vector<NodeId> operands = values;
  operands.insert(operands.end(), others.begin(), others.end());
  for (size_t i = 0; i < operands.size(); ++i) {
    const NodeId input = body.input(e.type(operands[i]));
    if (i < values.size())
      body.output(input);
  }
  const Result<Body> handsOn = body.finish();
  if (!handsOn) {
    e.status = handsOn.status();
    return values;
  }
  return e.check(e.graph.custom(std::string(recomputeName), "", *handsOn, operands), values.size());
}

/// The graph with an input more for each of these nodes, which stands in its place: what only they need is gone.
static Result<Body> replaceByInputs(const Graph &from, const std::vector<NodeId> &nodes) {
  BodyEmitter to;
  std::unordered_map<NodeId, NodeId> copies;
  for (NodeId input : from.inputs)
    copies.emplace(input, to.input(from.node(input).type));
  for (NodeId node : nodes) {
    const NodeId input = to.input(from.node(node).type);
    copies.emplace(node, input);
  }
  std::vector<bool> isNeeded(from.size());
  for (const Output &output : from.outputs)
    isNeeded[output.node] = true;
  for (size_t id = from.size(); id-- > 0;)
    if (isNeeded[id] && !copies.contains(static_cast<NodeId>(id)))
      for (NodeId operand : from.node(static_cast<NodeId>(id)).operands)
        isNeeded[operand] = true;
  for (NodeId id = 0; id < from.size(); ++id) {
    if (!isNeeded[id] || copies.contains(id))
      continue;
    const Node &node = from.node(id);
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands)
      operands.push_back(copies.at(operand));
    copies.emplace(id, to.check(to.body.add(node.op, operands, node.attributes, node.type, from.location(id))));
  }
  for (const Output &output : from.outputs)
    to.output(copies.at(output.node));
  return to.finish();
}

/// Where `isKnown`, results of that number are inputs of the gradient, too, instead of computed by it again.
static Result<BodyGradient> differentiate(const Body &body, const std::vector<bool> &isWanted,
                                          const std::vector<bool> &hasGradient, bool isRecomputed = false,
                                          const std::vector<bool> &isKnown = {}) {
  const Graph &from = body.graph();
  BodyEmitter emitter;
  std::vector<NodeId> inputs, targets, seeds, sources;
  for (NodeId input : from.inputs)
    inputs.push_back(emitter.input(from.node(input).type));
  for (size_t i = 0; i < from.outputs.size(); ++i)
    if (hasGradient[i])
      seeds.push_back(emitter.input(from.node(from.outputs[i].node).type));
  if (isRecomputed)
    inputs = holdApart(emitter, inputs, seeds);
  const std::vector<NodeId> results = emitter.check(emitter.body.inlineBody(body, inputs), from.outputs.size());
  ZYX_RETURN_IF_ERROR(emitter.status);
  for (size_t i = 0; i < results.size(); ++i)
    if (hasGradient[i])
      targets.push_back(results[i]);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (isWanted[i])
      sources.push_back(inputs[i]);
  ZYX_ASSIGN_OR_RETURN(const auto gradients, gradient(emitter.body, targets, seeds, sources));

  BodyGradient result;
  result.resultOf.resize(inputs.size());
  for (size_t i = 0, source = 0; i < inputs.size(); ++i) {
    if (!isWanted[i])
      continue;
    if (const std::optional<NodeId> found = gradients[source++]) {
      result.resultOf[i] = emitter.body.outputs.size();
      emitter.output(*found);
    }
  }
  if (emitter.body.outputs.empty())
    return result;
  std::vector<NodeId> known;
  for (size_t i = 0; i < isKnown.size(); ++i)
    if (isKnown[i])
      known.push_back(results[i]);
  ZYX_ASSIGN_OR_RETURN(result.body, known.empty() ? emitter.finish() : replaceByInputs(emitter.body, known));
  const Graph &made = result.body.graph();
  std::vector<bool> isReachable(made.size());
  for (NodeId id : made.reachable())
    isReachable[id] = true;
  for (size_t i = 0; i < inputs.size(); ++i)
    result.isRead.push_back(isReachable[made.inputs[i]]);
  result.isResultRead.resize(from.outputs.size());
  for (size_t i = 0, input = inputs.size() + seeds.size(); i < isKnown.size(); ++i)
    if (isKnown[i])
      result.isResultRead[i] = isReachable[made.inputs[input++]];
  return result;
}

static void differentiateCustom(GradientPass &p, const Node &node, std::span<const std::optional<NodeId>> gradients) {
  std::vector<bool> isWanted, hasGradient;
  std::vector<NodeId> arguments = node.operands;
  for (NodeId operand : node.operands)
    isWanted.push_back(p.needs(operand));
  for (const std::optional<NodeId> &gradient : gradients) {
    hasGradient.push_back(gradient.has_value());
    if (gradient)
      arguments.push_back(*gradient);
  }
  const Result<BodyGradient> body =
      differentiate(node.attributes.body, isWanted, hasGradient, node.attributes.name == checkpointName);
  if (!body.isOk())
    return p.refuse(node, body.status().message());
  if (!body->body)
    return;
  const std::vector<NodeId> results =
      p.check(p.graph.inlineBody(body->body, arguments), body->body.graph().outputs.size());
  for (size_t i = 0; i < node.operands.size(); ++i)
    if (body->resultOf[i] && p.status.isOk())
      p.give(node.operands[i], results[*body->resultOf[i]]);
}

/// A loop forwards again, which stores what it carries before the first trip and behind each, and one backwards,
/// which carries the gradients of the carried values and adds up those of the invariants. What a trip made of the
/// values that are stored is not computed again: it is the next row.
namespace {
class LoopGradient {
public:
  LoopGradient(GradientPass &pass, const Node &node)
      : p(pass), node(node), operands(node.operands), body(node.attributes.body), trips(node.attributes.trips),
        carried(body.graph().outputs.size()) {
    if (trips != tripsAreData)
      return;
    count = operands.front();
    operands.erase(operands.begin());
    if (const std::optional<int64_t> most = mostOf(*count))
      trips = *most;
  }

  void run(std::span<const std::optional<NodeId>> gradients);

private:
  const TensorType &typeOf(size_t operand) const { return body.graph().node(body.graph().inputs[operand + 1]).type; }
  bool isInvariant(size_t operand) const { return operand >= carried; }
  TensorType bufferType(size_t operand) const {
    TensorType type = typeOf(operand);
    type.shape.insert(type.shape.begin(), trips + 1);
    return type;
  }

  std::optional<int64_t> constantOf(NodeId id) const;
  std::optional<int64_t> mostOf(NodeId count) const;
  std::vector<NodeId> loop(const Body &of, const std::vector<NodeId> &initial, std::span<const NodeId> invariants) {
    return p.check(count ? p.graph.countedLoop(of, *count, initial, invariants)
                         : p.graph.loop(of, trips, initial, invariants),
                   initial.size());
  }
  std::vector<NodeId> storeCarried();
  Result<Body> makeStoring() const;
  Result<Body> makeBackward() const;

  GradientPass &p;
  const Node &node;
  /// But for the count.
  std::vector<NodeId> operands;
  Body body;
  /// Of a loop whose trips are data, which `count` says: the most that there may be.
  int64_t trips;
  std::optional<NodeId> count;
  /// Operands below this are carried, the others are invariants.
  size_t carried;
  /// The gradient of a trip.
  BodyGradient trip;
  /// Carried values that the gradient of a trip reads; carried floats; invariants with a gradient.
  std::vector<size_t> stored, floats, summed;
  /// By carried value, whether the gradient of a trip takes what the trip makes of it.
  std::vector<bool> isKnown;
};
} // namespace

std::optional<int64_t> LoopGradient::constantOf(NodeId id) const {
  const Node &constant = p.graph.node(id);
  int64_t number = 0;
  if (constant.op != Op::Constant || constant.attributes.value.size() != sizeof(number))
    return std::nullopt;
  std::memcpy(&number, constant.attributes.value.data(), sizeof(number));
  return number;
}

/// What a count is at most: one that is made of a bool, as of a branch that data chooses, and the minimum of data and a
/// constant.
std::optional<int64_t> LoopGradient::mostOf(NodeId id) const {
  const Node &made = p.graph.node(id);
  if (made.op == Op::Reshape)
    return mostOf(made.operands[0]);
  if (made.op == Op::Cast && p.graph.node(made.operands[0]).type.dtype == DType::Bool)
    return 1;
  if (made.op != Op::Binary || made.attributes.kind != static_cast<uint8_t>(BinaryKind::Min))
    return std::nullopt;
  std::optional<int64_t> most = constantOf(made.operands[0]);
  if (!most)
    most = constantOf(made.operands[1]);
  return most ? std::optional(std::max<int64_t>(*most, 0)) : std::nullopt;
}

/// (i, carried, buffers, invariants) -> (carried, buffers)
Result<Body> LoopGradient::makeStoring() const {
  BodyEmitter e;
  std::vector<NodeId> arguments{e.input({DType::I64, {}})}, buffers;
  for (size_t i = 0; i < carried; ++i)
    arguments.push_back(e.input(typeOf(i)));
  for (size_t i : stored)
    buffers.push_back(e.input(bufferType(i)));
  for (size_t i = carried; i < operands.size(); ++i)
    arguments.push_back(e.input(typeOf(i)));
  const std::vector<NodeId> next = e.check(e.body.inlineBody(body, arguments), carried);
  const NodeId row = e.add(arguments[0], e.fillLike(arguments[0], 1));
  for (NodeId value : next)
    e.output(value);
  for (size_t i = 0; i < stored.size(); ++i)
    e.output(e.check(e.body.scatter(ScatterKind::Set, buffers[i], row, next[stored[i]], 0)));
  return e.finish();
}

/// (j, gradients of the carried floats, sums, buffers, the count where it is data, invariants) -> (gradients, sums)
Result<Body> LoopGradient::makeBackward() const {
  BodyEmitter e;
  const TensorType number{DType::I64, {}};
  const NodeId j = e.input(number);
  std::vector<NodeId> gradients, sums, arguments(operands.size() + 1);
  for (size_t i : floats)
    gradients.push_back(e.input(typeOf(i)));
  for (size_t i : summed)
    sums.push_back(e.input({accumulatorType(typeOf(i).dtype), typeOf(i).shape}));
  for (size_t i = 0; i < carried; ++i)
    if (!std::ranges::binary_search(stored, i))
      arguments[i + 1] = e.zeros(typeOf(i));
  std::vector<NodeId> known, buffers;
  for (size_t i : stored)
    buffers.push_back(e.input(bufferType(i)));
  const NodeId index = count ? e.sub(e.sub(e.input(number), e.fill(number, 1)), j)
                             : e.sub(e.fill(number, static_cast<double>(trips - 1)), j);
  const NodeId next = e.add(index, e.fill(number, 1));
  arguments[0] = index;
  for (size_t k = 0; k < stored.size(); ++k) {
    const size_t i = stored[k];
    const NodeId rows = buffers[k];
    arguments[i + 1] = e.check(e.body.gather(rows, index, 0));
    known.push_back(e.check(e.body.gather(rows, next, 0)));
  }
  for (size_t i = carried; i < operands.size(); ++i)
    arguments[i + 1] = e.input(typeOf(i));
  arguments.insert(arguments.end(), gradients.begin(), gradients.end());
  for (size_t i = 0; i < carried; ++i) {
    const auto place = std::ranges::lower_bound(stored, i);
    if (isKnown[i])
      arguments.push_back(place != stored.end() && *place == i ? known[static_cast<size_t>(place - stored.begin())]
                                                               : e.zeros(typeOf(i)));
  }

  const std::vector<NodeId> results =
      e.check(e.body.inlineBody(trip.body, arguments), trip.body.graph().outputs.size());
  for (size_t i : floats) {
    const std::optional<size_t> result = trip.resultOf[i + 1];
    e.output(result ? results[*result] : e.zeros(typeOf(i)));
  }
  for (size_t k = 0; k < summed.size(); ++k) {
    NodeId result = results[*trip.resultOf[summed[k] + 1]];
    // What was added up in the type of the sum need not be rounded before.
    if (const Node *cast = e.visible(result, Op::Cast); cast && e.dtype(cast->operands[0]) == e.dtype(sums[k]))
      result = cast->operands[0];
    e.output(e.accumulate(sums[k], e.cast(result, e.dtype(sums[k]))));
  }
  return e.finish();
}

/// The buffers of the stored values, one row per trip.
std::vector<NodeId> LoopGradient::storeCarried() {
  if (stored.empty())
    return {};
  const Result<Body> storing = makeStoring();
  if (!storing.isOk()) {
    p.refuse(node, storing.status().message());
    return {};
  }
  const auto firstInvariant = operands.begin() + static_cast<ptrdiff_t>(carried);
  std::vector<NodeId> initial(operands.begin(), firstInvariant);
  for (size_t i : stored) {
    Shape row = typeOf(i).shape;
    row.insert(row.begin(), 1);
    initial.push_back(p.padDim(p.reshape(initial[i], row), 0, 0, trips));
  }
  std::vector<NodeId> results = loop(*storing, initial, {firstInvariant, operands.end()});
  results.erase(results.begin(), results.begin() + static_cast<ptrdiff_t>(carried));
  return results;
}

void LoopGradient::run(std::span<const std::optional<NodeId>> gradients) {
  if (trips == tripsAreData)
    return p.refuse(node, "how often its body is evaluated is data, so that nobody knows how much "
                          "of what it carries is to be stored; give it a constant number of trips, or one of "
                          "data and a constant as the smaller of both");
  if (trips == tripsAreWhile)
    return p.refuse(node, "how often its body is evaluated is known behind its last trip alone, so that nobody knows "
                          "how much of what it carries is to be stored; give it a constant number of trips");
  std::vector<bool> isWanted{false}, hasGradient;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool hasFloats = isFloat(typeOf(i).dtype);
    isWanted.push_back(hasFloats && (!isInvariant(i) || p.needs(operands[i])));
    if (!isInvariant(i)) {
      hasGradient.push_back(hasFloats);
      if (hasFloats)
        floats.push_back(i);
    }
  }
  Result<BodyGradient> differentiated = differentiate(body, isWanted, hasGradient);
  if (!differentiated.isOk())
    return p.refuse(node, differentiated.status().message());
  trip = std::move(*differentiated);
  if (!trip.body) {
    // What is carried depends on nothing that was carried before, unless there is no trip.
    for (size_t i : floats) {
      if ((trips != 0 && !count) || !gradients[i] || !p.needs(operands[i]))
        continue;
      if (!count) {
        p.give(operands[i], *gradients[i]);
        continue;
      }
      const Shape shape = p.shape(*gradients[i]);
      const NodeId isLeft = p.binary(BinaryKind::Lt, p.fillLike(*count, 0), *count);
      p.give(operands[i], p.zeroWhere(p.expand(p.reshape(isLeft, Shape(shape.size(), 1)), shape), *gradients[i]));
    }
    return;
  }
  // What is stored for its trip is known behind the trip before.
  const Graph &inside = body.graph();
  for (size_t i = 0; i < carried; ++i) {
    const Node &result = inside.node(inside.outputs[i].node);
    const bool isMade = result.op != Op::Parameter && result.op != Op::Constant;
    const auto same = [&](size_t other) {
      return inside.outputs[other].node == inside.outputs[i].node && isKnown[other];
    };
    bool isFirst = true;
    for (size_t other = 0; other < i; ++other)
      isFirst = isFirst && !same(other);
    isKnown.push_back(trip.isRead[i + 1] && isMade && isFirst);
  }
  Result<BodyGradient> shorter = differentiate(body, isWanted, hasGradient, /*isRecomputed=*/false, isKnown);
  if (!shorter.isOk())
    return p.refuse(node, shorter.status().message());
  trip = std::move(*shorter);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!isInvariant(i) && (trip.isRead[i + 1] || trip.isResultRead[i]))
      stored.push_back(i);
    if (isInvariant(i) && trip.resultOf[i + 1])
      summed.push_back(i);
  }

  const std::vector<NodeId> buffers = storeCarried();
  const Result<Body> backward = makeBackward();
  if (!backward.isOk())
    return p.refuse(node, backward.status().message());
  std::vector<NodeId> initial, invariants = buffers;
  for (size_t i : floats)
    initial.push_back(gradients[i] ? *gradients[i] : p.zeros(typeOf(i)));
  for (size_t i : summed)
    initial.push_back(p.zeros({accumulatorType(typeOf(i).dtype), typeOf(i).shape}));
  if (count)
    invariants.push_back(*count);
  invariants.insert(invariants.end(), operands.begin() + static_cast<ptrdiff_t>(carried), operands.end());
  if (!p.status.isOk())
    return;
  const std::vector<NodeId> results = loop(*backward, initial, invariants);
  if (!p.status.isOk())
    return;
  for (size_t k = 0; k < floats.size(); ++k)
    if (p.needs(operands[floats[k]]))
      p.give(operands[floats[k]], results[k]);
  for (size_t k = 0; k < summed.size(); ++k)
    p.give(operands[summed[k]], results[floats.size() + k]);
}

void differentiateBody(GradientPass &pass, const Node &node, std::span<const std::optional<NodeId>> gradients) {
  if (node.op == Op::Custom)
    differentiateCustom(pass, node, gradients);
  else
    LoopGradient(pass, node).run(gradients);
}

} // namespace zyx::graph
