//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Reverse mode: operands have smaller numbers than their users, so that the nodes between sources
// and targets in descending order are an order in which a node's gradient is whole before it is
// passed on.
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include "zyx/Graph/UnaryKind.h"

#include <algorithm>
#include <limits>

namespace zyx::graph {

static constexpr NodeId noNode = std::numeric_limits<NodeId>::max();

bool isDifferentiable(const Graph &graph, NodeId id, size_t operand) {
  const Node &node = graph.node(id);
  if (!isFloat(node.type.dtype) || !isFloat(graph.node(node.operands[operand]).type.dtype))
    return false;
  switch (node.op) {
  case Op::Unary:
    return !isFlat(static_cast<UnaryKind>(node.attributes.kind));
  case Op::Bitcast:
    return false;
  case Op::Pad:
    // Nothing is filled in where there is no dimension.
    return operand == 0 || !node.type.shape.empty();
  default:
    return true;
  }
}

/// "exp (model.mlir:3:5)": a node for diagnostics.
static std::string describe(const Node &node, const Location &location) {
  std::string text(toString(node.op));
  if (node.op == Op::Scatter)
    text += " " + std::string(toString(static_cast<ScatterKind>(node.attributes.kind)));
  text += " of " + toString(node.type);
  if (!location.file.empty())
    text += " (" + std::string(location.file) + ":" + std::to_string(location.line) + ":" +
            std::to_string(location.column) + ")";
  return text;
}

void GradientPass::refuse(const Node &node, const std::string &reason) {
  if (status.isOk())
    status = Status::unsupported("gradient of " + describe(node, location) + ": " + reason);
}

std::optional<NodeId> GradientPass::gradientOf(NodeId id) const {
  const auto place = places.find(id);
  if (place == places.end() || gradients[place->second] == noNode)
    return std::nullopt;
  return gradients[place->second];
}

/// The narrowest computed float that has the values of both.
static DType commonFloat(DType a, DType b) {
  if (a == b && !isStorageOnly(a))
    return a;
  if (byteSize(a) == byteSize(b))
    return DType::F32;
  return byteSize(a) < byteSize(b) ? b : a;
}

/// Whether a node is a product of tensors that both are repeated along some dimension, and perhaps cast then.
static bool isProductOfRepeated(const Graph &graph, NodeId id) {
  const Node &node = graph.node(id);
  const auto isRepeated = [&](NodeId operand) {
    const Node &factor = graph.node(operand);
    return (factor.op == Op::Cast ? graph.node(factor.operands[0]) : factor).op == Op::Expand;
  };
  return node.op == Op::Binary && static_cast<BinaryKind>(node.attributes.kind) == BinaryKind::Mul &&
         std::ranges::all_of(node.operands, isRepeated);
}

void GradientPass::give(NodeId id, NodeId gradient) {
  if (!status.isOk())
    return;
  ZYX_ASSERT(needs(id), "a gradient is given to a node that none is wanted of");
  ZYX_ASSERT(shape(id) == shape(gradient), "a gradient has its node's shape");
  // What is repeated for several products, such as the one input of three linear layers, gets from each of
  // them a sum of products, which is a contraction; a sum of their sums within is none.
  const Node &node = graph.node(id);
  if (node.op == Op::Expand && isProductOfRepeated(graph, gradient) && !isSource(id) && needs(node.operands[0]) &&
      !(options.isLeaf && options.isLeaf(id)))
    return differentiateView(*this, Node(node), gradient);
  NodeId &sum = gradients[places.find(id)->second];
  if (sum == noNode) {
    sum = gradient;
    return;
  }
  const DType common = commonFloat(dtype(sum), dtype(gradient));
  sum = accumulate(cast(sum, common), cast(gradient, common));
}

/// Finds what lies between sources and targets.
Status GradientPass::visit(std::span<const NodeId> targets) {
  // Nothing before the first source can depend on one.
  const NodeId first = *std::ranges::min_element(sources);
  std::vector<NodeId> found;
  const auto find = [&](NodeId id) {
    if (id >= first && places.try_emplace(id, 0).second)
      found.push_back(id);
  };
  for (NodeId target : targets)
    find(target);
  for (size_t next = 0; next < found.size(); ++next) {
    const NodeId id = found[next];
    if (isLeaf && isLeaf(id))
      continue;
    const std::vector<NodeId> &operands = graph.node(id).operands;
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i] >= first && isDifferentiable(graph, id, i))
        find(operands[i]);
  }
  std::ranges::sort(found);
  for (size_t i = 0; i < found.size(); ++i)
    places[found[i]] = static_cast<uint32_t>(i);
  gradients.assign(found.size(), noNode);
  wanted.resize(found.size());
  for (NodeId source : sources)
    if (const auto place = places.find(source); place != places.end())
      wanted[place->second] = isFloat(dtype(source));

  for (size_t n = 0; n < found.size(); ++n) {
    const NodeId id = found[n];
    if (!wanted[n] && !(isLeaf && isLeaf(id))) {
      const std::vector<NodeId> &operands = graph.node(id).operands;
      for (size_t i = 0; i < operands.size() && !wanted[n]; ++i)
        wanted[n] = needs(operands[i]) && isDifferentiable(graph, id, i);
    }
    if (!wanted[n])
      continue;
    if (type(id).isSymbolic())
      return Status::unsupported("gradient of " + describe(graph.node(id), graph.location(id)) +
                                 ": a type with symbols; give them values first");
    order.push_back(id);
  }
  return Status::ok();
}

void GradientPass::differentiate(NodeId id) {
  // Adding nodes moves those of the graph.
  const Node node = graph.node(id);
  location = graph.location(id);
  if (node.op == Op::Loop || node.op == Op::Custom) {
    // The results of one op have the same operands, and the first of them comes last here.
    std::vector<std::optional<NodeId>> results(node.attributes.body.graph().outputs.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const std::optional<NodeId> result = graph.otherResult(id, i);
      if (!result)
        continue;
      if (*result < id && needs(*result))
        return;
      results[i] = gradientOf(*result);
      if (results[i])
        results[i] = cast(*results[i], dtype(*result));
    }
    if (std::ranges::any_of(results, [](const auto &result) { return result.has_value(); }))
      differentiateBody(*this, node, results);
    return;
  }
  const std::optional<NodeId> gradient = gradientOf(id);
  if (!gradient)
    return;
  switch (node.op) {
  case Op::Reshape:
  case Op::Expand:
  case Op::Permute:
  case Op::Flip:
  case Op::Pad:
  case Op::Window:
  case Op::Concat:
  case Op::Transfer:
    return differentiateView(*this, node, *gradient);
  case Op::Gather:
  case Op::Scatter:
  case Op::Sort:
    return differentiateIndexing(*this, id, node, *gradient);
  case Op::Unary:
  case Op::Binary:
  case Op::Select:
  case Op::Cast:
    return differentiateElementwise(*this, id, node, cast(*gradient, node.type.dtype));
  case Op::Reduce:
  case Op::Scan:
    return differentiateReduction(*this, id, node, cast(*gradient, node.type.dtype));
  case Op::Constant:
  case Op::Parameter:
  case Op::Iota:
  case Op::Bitcast:
  case Op::RandomBits:
  case Op::Loop:
  case Op::Custom:
    // Sources, or done above.
    return;
  }
}

Result<std::vector<std::optional<NodeId>>>
GradientPass::run(std::span<const NodeId> targets, std::span<const NodeId> seeds, std::span<const NodeId> wrt) {
  sources = wrt;
  std::vector<std::optional<NodeId>> results(sources.size());
  if (sources.empty() || targets.empty())
    return results;
  ZYX_RETURN_IF_ERROR(visit(targets));
  for (size_t i = 0; i < targets.size(); ++i)
    if (needs(targets[i]))
      give(targets[i], seeds[i]);
  // A source may be made of nodes that none is wanted of.
  const auto flowsOn = [&](NodeId id) {
    const std::vector<NodeId> &operands = graph.node(id).operands;
    for (size_t i = 0; i < operands.size(); ++i)
      if (needs(operands[i]) && isDifferentiable(graph, id, i))
        return true;
    return false;
  };
  for (size_t i = order.size(); i-- > 0 && status.isOk();) {
    const NodeId id = order[i];
    if (flowsOn(id) && !(isLeaf && isLeaf(id)))
      differentiate(id);
  }
  for (size_t i = 0; i < sources.size() && status.isOk(); ++i)
    if (const std::optional<NodeId> gradient = gradientOf(sources[i])) {
      location = graph.location(sources[i]);
      results[i] = cast(*gradient, dtype(sources[i]));
    }
  ZYX_RETURN_IF_ERROR(status);
  return results;
}

static Status checkExists(const Graph &graph, std::string_view what, NodeId id) {
  if (id < graph.size())
    return Status::ok();
  return Status::invalidArgument("gradient: the " + std::string(what) + " is node " + std::to_string(id) +
                                 " of a graph with " + std::to_string(graph.size()));
}

Result<std::vector<std::optional<NodeId>>> gradient(Graph &graph, std::span<const NodeId> targets,
                                                    std::span<const NodeId> seeds, std::span<const NodeId> sources,
                                                    const GradientOptions &options) {
  if (targets.size() != seeds.size())
    return Status::invalidArgument("gradient: " + std::to_string(targets.size()) + " targets have " +
                                   std::to_string(seeds.size()) + " seeds");
  for (NodeId source : sources)
    ZYX_RETURN_IF_ERROR(checkExists(graph, "source", source));
  for (size_t i = 0; i < targets.size(); ++i) {
    ZYX_RETURN_IF_ERROR(checkExists(graph, "target", targets[i]));
    ZYX_RETURN_IF_ERROR(checkExists(graph, "seed", seeds[i]));
    const TensorType &type = graph.node(targets[i]).type, &seed = graph.node(seeds[i]).type;
    if (!isFloat(type.dtype))
      return Status::invalidArgument("gradient of " + toString(type) + ": only floats have gradients");
    if (seed != type)
      return Status::invalidArgument("gradient of " + toString(type) + " has a seed of " + toString(seed));
  }
  return GradientPass(graph, options).run(targets, seeds, sources);
}

Result<std::vector<std::optional<NodeId>>> gradient(Graph &graph, NodeId target, std::span<const NodeId> sources,
                                                    const GradientOptions &options) {
  ZYX_RETURN_IF_ERROR(checkExists(graph, "target", target));
  NodeId seed = options.seed.value_or(target);
  if (!options.seed && isFloat(graph.node(target).type.dtype)) {
    GradientEmitter emitter(graph);
    seed = emitter.fillLike(target, 1);
    ZYX_RETURN_IF_ERROR(emitter.status);
  }
  return gradient(graph, {{target}}, {{seed}}, sources, options);
}

} // namespace zyx::graph
