//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ConstantArguments.h"

#include "zyx/Base/Float.h"
#include "zyx/Graph/UnaryKind.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace zyx;
using namespace zyx::detail;
using graph::BinaryKind;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::UnaryKind;

namespace {

bool isView(Op op) { return op == Op::Reshape || op == Op::Expand || op == Op::Permute; }

template <typename T> T as(const std::vector<std::byte> &bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

/// Infinities and NaN are masks and marks, which say more than a number does.
bool isFiniteNumber(const Node &node) {
  const std::vector<std::byte> &value = node.attributes.value;
  switch (node.type.dtype) {
  case DType::F64:
    return std::isfinite(as<double>(value));
  case DType::F32:
    return std::isfinite(as<float>(value));
  case DType::F16:
    return std::isfinite(halfToFloat(as<uint16_t>(value)));
  case DType::BF16:
    return std::isfinite(bfloat16ToFloat(as<uint16_t>(value)));
  default:
    return isInteger(node.type.dtype);
  }
}

/// What of each node lies before and behind it.
class Reach {
public:
  explicit Reach(const Graph &of) : graph(of), facts(of.size()), users(of.size()) {
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node &node = graph.node(id);
      Facts &mine = facts[id];
      mine.dependsOnInput = node.op == Op::Parameter;
      mine.isBehindProduct = isSumOfProducts(node);
      mine.isBehindExp = isExp(node);
      for (NodeId operand : node.operands) {
        users[operand].push_back(id);
        mine.dependsOnInput |= facts[operand].dependsOnInput;
        mine.isBehindProduct |= facts[operand].isBehindProduct;
        mine.isBehindExp |= facts[operand].isBehindExp;
      }
    }
    for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
      const Node &node = graph.node(id);
      Facts &mine = facts[id];
      mine.leadsToProduct = isSumOfProducts(node);
      for (NodeId user : users[id]) {
        mine.leadsToProduct |= facts[user].leadsToProduct;
        mine.leadsToWeights |= facts[user].leadsToWeights;
      }
      mine.leadsToWeights |= isExp(node) && mine.isBehindProduct && mine.leadsToProduct;
    }
  }

  bool mayBeArgument(NodeId constant) const {
    const Node &node = graph.node(constant);
    if (node.op != Op::Constant || !node.attributes.splat || !node.type.shape.empty() || !isFiniteNumber(node))
      return false;
    std::vector<NodeId> work = {constant};
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      for (NodeId user : users[id]) {
        if (isView(graph.node(user).op))
          work.push_back(user);
        else if (!isPlainOperand(id, user))
          return false;
      }
    }
    return true;
  }

private:
  struct Facts {
    bool dependsOnInput = false, isBehindProduct = false, isBehindExp = false, leadsToProduct = false,
         leadsToWeights = false;
  };

  bool isExp(const Node &node) const {
    return node.op == Op::Unary && (node.attributes.kind == static_cast<uint8_t>(UnaryKind::Exp) ||
                                    node.attributes.kind == static_cast<uint8_t>(UnaryKind::Exp2));
  }
  bool isBinary(const Node &node, BinaryKind kind) const {
    return node.op == Op::Binary && node.attributes.kind == static_cast<uint8_t>(kind);
  }
  bool isSumOfProducts(const Node &node) const {
    if (node.op != Op::Reduce || node.attributes.kind != static_cast<uint8_t>(graph::ReduceKind::Add))
      return false;
    NodeId summed = node.operands[0];
    while (isView(graph.node(summed).op) || graph.node(summed).op == Op::Cast)
      summed = graph.node(summed).operands[0];
    const Node &product = graph.node(summed);
    return isBinary(product, BinaryKind::Mul) &&
           std::ranges::all_of(product.operands, [&](NodeId factor) { return facts[factor].dependsOnInput; });
  }

  /// Whether all that follows from the value is the value of the result.
  bool isPlainOperand(NodeId number, NodeId user) const {
    const Node &node = graph.node(user);
    if (node.op != Op::Binary)
      return false;
    const NodeId other = node.operands[node.operands[0] == number];
    const Facts &mine = facts[user];
    const bool isOfWeights = mine.isBehindProduct && (mine.leadsToWeights || (mine.isBehindExp && mine.leadsToProduct));
    if (!facts[other].dependsOnInput || isOfWeights)
      return false;
    switch (static_cast<BinaryKind>(node.attributes.kind)) {
    case BinaryKind::Add:
    case BinaryKind::Sub:
    case BinaryKind::Mul:
    case BinaryKind::Max:
    case BinaryKind::Min:
    case BinaryKind::Eq:
    case BinaryKind::Ne:
    case BinaryKind::Lt:
    case BinaryKind::Le:
    case BinaryKind::Gt:
    case BinaryKind::Ge:
      return true;
    case BinaryKind::Div:
      return isFloat(graph.node(number).type.dtype);
    default:
      return false;
    }
  }

  const Graph &graph;
  std::vector<Facts> facts;
  std::vector<std::vector<NodeId>> users;
};

/// The graph with inputs in the place of these constants.
Result<Graph> withInputs(const Graph &from, std::span<const NodeId> constants) {
  Graph to;
  to.name = from.name;
  std::vector<NodeId> copies;
  std::vector<NodeId> numbers;
  for (NodeId id = 0; id < from.size(); ++id) {
    const Node &node = from.node(id);
    if (std::ranges::binary_search(constants, id)) {
      ZYX_ASSIGN_OR_RETURN(numbers.emplace_back(), to.parameter("number" + std::to_string(numbers.size()), node.type));
      copies.push_back(numbers.back());
      continue;
    }
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands)
      operands.push_back(copies[operand]);
    ZYX_ASSIGN_OR_RETURN(copies.emplace_back(),
                         to.add(node.op, operands, node.attributes, node.type, from.location(id)));
  }
  for (NodeId input : from.inputs)
    to.inputs.push_back(copies[input]);
  to.inputs.insert(to.inputs.end(), numbers.begin(), numbers.end());
  for (const graph::Output &output : from.outputs)
    to.outputs.push_back({output.name, copies[output.node]});
  return to;
}

} // namespace

Result<std::optional<ConstantArguments::Split>> ConstantArguments::split(const Graph &graph, uint16_t device) {
  // Of what was seen, no more is kept.
  constexpr size_t mostFamilies = 4096;
  std::vector<NodeId> constants;
  const Reach reach(graph);
  for (NodeId id = 0; id < graph.size(); ++id)
    if (reach.mayBeArgument(id))
      constants.push_back(id);
  if (constants.empty())
    return std::optional<Split>();
  std::vector<std::vector<std::byte>> values;
  for (NodeId id : constants)
    values.push_back(graph.node(id).attributes.value);
  ZYX_ASSIGN_OR_RETURN(Graph open, withInputs(graph, constants));
  if (families.size() >= mostFamilies)
    families.clear();
  Family &family = families[open.canonicalHash().toHex() + " " + std::to_string(device)];
  if (family.first.empty()) {
    family.first = std::move(values);
    family.varies.resize(constants.size());
    return std::optional<Split>();
  }
  std::vector<NodeId> varying;
  Split split;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (values[i] != family.first[i])
      family.varies[i] = true;
    if (!family.varies[i])
      continue;
    varying.push_back(constants[i]);
    split.numbers.push_back(std::move(values[i]));
  }
  if (varying.empty())
    return std::optional<Split>();
  split.graph = std::move(open);
  if (varying.size() != constants.size()) {
    ZYX_ASSIGN_OR_RETURN(split.graph, withInputs(graph, varying));
  }
  return std::optional<Split>(std::move(split));
}
