//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Gradients of tensors, and what is refused because it would be 0 without a word.
//===----------------------------------------------------------------------===//
#include "Compose.h"

#include "zyx/Graph/Gradient.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;

std::unordered_set<NodeId> State::differentiable(NodeId target) const {
  std::unordered_set<NodeId> found;
  std::vector<NodeId> work = {target};
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    const graph::Node &node = graph.node(id);
    if (!isFloat(node.type.dtype) || !found.insert(id).second)
      continue;
    // A bitcast says that nothing comes through it.
    if (!states[id].holdsOperands || states[id].isCut || node.op == Op::Bitcast)
      continue;
    work.insert(work.end(), node.operands.begin(), node.operands.end());
  }
  return found;
}

std::shared_ptr<const State::Derivation> State::derivationOf(std::span<const Tensor> arguments, const Place &where) {
  std::lock_guard lock(mutex);
  auto derivation = std::make_shared<Derivation>(Derivation{{}, where});
  std::unordered_set<NodeId> nodes;
  for (const Tensor &argument : arguments) {
    const NodeId id = nodeOf(argument);
    // Most are leaves.
    if (!states[id].holdsOperands && !states[id].derivation) {
      if (isFloat(argument.dtype()))
        nodes.insert(id);
      continue;
    }
    for (NodeId behind : differentiable(id)) {
      nodes.insert(behind);
      // Of what nobody holds no gradient is asked for.
      if (states[behind].derivation)
        std::ranges::copy_if(states[behind].derivation->nodes, std::inserter(nodes, nodes.end()),
                             [&](NodeId each) { return states[each].uses != 0; });
    }
  }
  derivation->nodes.assign(nodes.begin(), nodes.end());
  derivations.push_back(derivation);
  return derivation;
}

void State::setDerivation(std::span<const Tensor> results, const std::shared_ptr<const Derivation> &derivation) {
  std::lock_guard lock(mutex);
  for (const Tensor &result : results)
    if (isFloat(result.dtype()))
      states[nodeOf(result)].derivation = derivation;
}

Status State::checkDerivations(const std::unordered_set<NodeId> &behind, std::span<const NodeId> sources) const {
  for (NodeId id : behind) {
    const std::shared_ptr<const Derivation> &derivation = states[id].derivation;
    if (!derivation)
      continue;
    for (size_t i = 0; i < sources.size(); ++i)
      if (sources[i] != id && std::ranges::find(derivation->nodes, sources[i]) != derivation->nodes.end())
        return Status::invalidArgument(
            "gradient: the target depends on source " + std::to_string(i) + ", " + describe(sources[i]) +
            ", through a result of the Jit that was called at " + derivation->where.file_name() + ":" +
            std::to_string(derivation->where.line()) +
            ", and nothing is known of what is inside: take the gradient in the function, or "
            "call it without the Jit; of detach() of the result it is none");
  }
  return Status::ok();
}

bool State::isConstant(const Tensor &tensor) {
  std::lock_guard lock(mutex);
  return states[nodeOf(tensor)].isConstant;
}

/// A factor of 1 has the derivative of what it is, to every order, and is gone when a program is compiled.
Tensor zyx::asSource(const Tensor &x, Place where) {
  expectFloat(x, "asSource", where);
  return stateOf(x).isConstant(x) ? x.detach(where) : Operand(x, where) * Operand(1, where);
}

Result<std::vector<Tensor>> State::gradient(const Tensor &target, std::span<const Tensor> sources,
                                            const GradientOptions &options, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine({&target, 1}));
  ZYX_RETURN_IF_ERROR(checkMine(sources));
  settle();
  const NodeId of = nodeOf(target);
  ZYX_RETURN_IF_ERROR(checkIsThere(of, sources));
  if ((states[of].hasForgotten || (states[of].isCut && !states[of].isConstant)) &&
      std::none_of(sources.begin(), sources.end(), [&](const Tensor &source) { return nodeOf(source) == of; }))
    return Status::invalidArgument("gradient: the target, " + zyx::toString(target.type()) +
                                   ", was realized and has forgotten what it was made of; take its gradient before "
                                   "its value is read, or realize it while a Tape lives");
  graph::GradientOptions gradientOptions;
  if (options.seed.isDefined()) {
    ZYX_RETURN_IF_ERROR(checkMine({&options.seed, 1}));
    NodeId both[] = {nodeOf(target), nodeOf(options.seed)};
    ZYX_RETURN_IF_ERROR(bringTogetherLocked(both, "gradient", where));
    gradientOptions.seed = both[1];
  }
  gradientOptions.deviceOf = [&](NodeId node) {
    return homes[states[node].device == anywhere ? currentDevice() : states[node].device].name;
  };
  gradientOptions.isLeaf = [&](NodeId node) {
    return node < states.size() && states[node].uses != 0 && (!states[node].holdsOperands || states[node].isCut);
  };
  std::vector<NodeId> nodes;
  for (const Tensor &source : sources) {
    nodes.push_back(nodeOf(source));
    if (states[nodes.back()].isConstant)
      return Status::invalidArgument("gradient: source " + std::to_string(nodes.size() - 1) + ", " +
                                     zyx::toString(source.type()) +
                                     ", is a constant, which is not told from others of the same elements; "
                                     "detach() makes a leaf of it");
  }
  const std::unordered_set<NodeId> behind = differentiable(of);
  ZYX_RETURN_IF_ERROR(checkDerivations(behind, nodes));
  std::vector<NodeId> emitted;
  gradientOptions.onEmit = [&](NodeId node) { emitted.push_back(node); };
  const auto found = graph::gradient(graph, of, nodes, gradientOptions);
  // What was added before a refusal stays in the graph.
  growStates();
  ZYX_RETURN_IF_ERROR(found.status());
  for (NodeId node : emitted)
    remember(node);
  const std::vector<std::optional<NodeId>> &gradients = *found;
  // Through rounding, say, the gradient is 0 wherever there is one.
  auto isUnused = [&](size_t i) { return !gradients[i] && isFloat(sources[i].dtype()) && !behind.contains(nodes[i]); };
  for (size_t i = 0; i < gradients.size() && !options.allowUnused; ++i)
    if (isUnused(i))
      return Status::invalidArgument("gradient: the target, " + describe(of) + ", does not depend on source " +
                                     std::to_string(i) + ", " + describe(nodes[i]) +
                                     ", through ops that have gradients, or what lies between was realized and has "
                                     "forgotten what it was made of (Tape); allowUnused takes that for 0");
  std::vector<std::optional<NodeId>> results;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i] || (isUnused(i) && !options.materialize)) {
      results.push_back(gradients[i]);
      continue;
    }
    const TensorType type = graph.node(nodes[i]).type;
    ZYX_ASSIGN_OR_RETURN(const NodeId zero,
                         graph.splat({type.dtype, {}}, std::vector<std::byte>(zyx::byteSize(type.dtype))));
    ZYX_ASSIGN_OR_RETURN(const NodeId ones, graph.reshape(zero, Shape(type.shape.size(), 1)));
    ZYX_ASSIGN_OR_RETURN(const NodeId zeros, graph.expand(ones, type.shape));
    results.push_back(zeros);
  }
  growStates();
  std::vector<Tensor> tensors;
  for (const std::optional<NodeId> &node : results)
    tensors.push_back(node ? makeTensor(*node) : Tensor());
  return tensors;
}
