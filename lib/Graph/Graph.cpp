//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Graph.h"

#include "AttributeBytes.h"

#include "zyx/Base/Bytes.h"
#include "zyx/Graph/UnaryKind.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace zyx::graph {

std::string_view toString(Op op) {
  switch (op) {
#define ZYX_GRAPH_OP(Name, name, arity, number)                                                                        \
  case Op::Name:                                                                                                       \
    return #name;
#include "zyx/Graph/GraphOps.inc"
  }
  return "unknown op";
}

std::string_view toString(UnaryKind kind) {
  switch (kind) {
#define ZYX_GRAPH_UNARY(Name, name)                                                                                    \
  case UnaryKind::Name:                                                                                                \
    return #name;
#include "zyx/Graph/UnaryKinds.inc"
  }
  return "unknown unary";
}

bool isFlat(UnaryKind kind) {
  switch (kind) {
#define ZYX_GRAPH_UNARY_FLAT(Name) case UnaryKind::Name:
#include "zyx/Graph/UnaryKinds.inc"
    return true;
  default:
    return false;
  }
}

std::string_view toString(BinaryKind kind) {
  switch (kind) {
#define ZYX_GRAPH_BINARY(Name, name)                                                                                   \
  case BinaryKind::Name:                                                                                               \
    return #name;
#include "zyx/Graph/GraphOps.inc"
  }
  return "unknown binary";
}

std::string_view toString(ReduceKind kind) {
  switch (kind) {
#define ZYX_GRAPH_REDUCE(Name, name)                                                                                   \
  case ReduceKind::Name:                                                                                               \
    return #name;
#include "zyx/Graph/GraphOps.inc"
  }
  return "unknown reduce";
}

std::string_view toString(ScatterKind kind) {
  switch (kind) {
#define ZYX_GRAPH_SCATTER(Name, name)                                                                                  \
  case ScatterKind::Name:                                                                                              \
    return #name;
#include "zyx/Graph/GraphOps.inc"
  }
  return "unknown scatter";
}

std::string_view toString(SortKind kind) {
  switch (kind) {
#define ZYX_GRAPH_SORT(Name, name)                                                                                     \
  case SortKind::Name:                                                                                                 \
    return #name;
#include "zyx/Graph/GraphOps.inc"
  }
  return "unknown sort";
}

bool isOp(uint8_t number) {
  switch (static_cast<Op>(number)) {
#define ZYX_GRAPH_OP(Name, name, arity, number)                                                                        \
  case Op::Name:                                                                                                       \
    return true;
#include "zyx/Graph/GraphOps.inc"
  }
  return false;
}

int arity(Op op) {
  switch (op) {
#define ZYX_GRAPH_OP(Name, name, arity, number)                                                                        \
  case Op::Name:                                                                                                       \
    return arity;
#include "zyx/Graph/GraphOps.inc"
  }
  return 0;
}

/// Mixes one word into a hash that lives as long as the process; hash keys that last come from
/// canonicalHash.
static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

static uint64_t hashNode(Op op, const Attributes &attributes, std::span<const NodeId> operands,
                         const TensorType &type) {
  uint64_t hash = mix(static_cast<uint64_t>(op), attributes.kind);
  hash = mix(hash, static_cast<uint64_t>(type.dtype) | uint64_t(attributes.splat) << 8 |
                       uint64_t(attributes.exclusive) << 9 | uint64_t(attributes.reverse) << 10);
  for (NodeId operand : operands)
    hash = mix(hash, operand);
  for (int64_t extent : type.shape)
    hash = mix(hash, static_cast<uint64_t>(extent));
  for (const Extent &extent : type.extents)
    hash = mix(hash, std::hash<std::string>()(extent.toString()));
  for (const auto *list : {&attributes.dims, &attributes.low, &attributes.high, &attributes.interior, &attributes.size,
                           &attributes.stride, &attributes.dilation})
    for (int64_t number : *list)
      hash = mix(hash, static_cast<uint64_t>(number));
  if (attributes.body) {
    hash = mix(hash, attributes.body.hash().low);
    hash = mix(hash, static_cast<uint64_t>(attributes.result));
    hash = mix(hash, static_cast<uint64_t>(attributes.trips));
  }
  if (!attributes.value.empty())
    hash = mix(hash, hash64(attributes.value));
  if (!attributes.name.empty())
    hash = mix(hash, hash64(std::as_bytes(std::span(attributes.name))));
  return hash;
}

/// Gives equal constants one form; the attributes were accepted for the type.
static void normaliseConstant(Attributes &attributes, const TensorType &type) {
  const auto element = static_cast<size_t>(byteSize(type.dtype));
  if (*numElements(type.shape) == 0) {
    attributes.value.clear();
    attributes.splat = false;
    return;
  }
  if (attributes.splat)
    return;
  const std::byte *bytes = attributes.value.data();
  // All elements are the same where the bytes equal themselves, shifted by one element.
  if (std::memcmp(bytes, bytes + element, attributes.value.size() - element) != 0)
    return;
  attributes.value.resize(element);
  attributes.splat = true;
}

/// Those with a kind and nothing else, by kind. They are never destroyed: graphs may live as long as the process.
static const Attributes *plainAttributes(const Attributes &attributes) {
  static const std::vector<Attributes> &plain = *[] {
    auto *all = new std::vector<Attributes>(32);
    for (size_t kind = 0; kind < all->size(); ++kind)
      (*all)[kind].kind = static_cast<uint8_t>(kind);
    return all;
  }();
  return attributes.kind < plain.size() && attributes == plain[attributes.kind] ? &plain[attributes.kind] : nullptr;
}

Node::Node(Op op, Attributes attributes, std::span<const NodeId> operands, TensorType type)
    : Node(op, plainAttributes(attributes), std::move(attributes), operands, std::move(type)) {}
Node::Node(Op op, const Attributes *shared, Attributes attributes, std::span<const NodeId> operands, TensorType type)
    : owned(shared ? nullptr : std::make_shared<const Attributes>(std::move(attributes))), op(op),
      attributes(shared ? *shared : *owned), operands(operands.begin(), operands.end()), type(std::move(type)) {}

static constexpr NodeId emptySlot = ~NodeId(0);

void Graph::growTable() {
  table.assign(std::max<size_t>(16, table.size() * 2), {emptySlot, 0});
  for (NodeId id = 0; id < nodes.size(); ++id) {
    size_t slot = hashes[id] & (table.size() - 1);
    while (table[slot].node != emptySlot)
      slot = (slot + 1) & (table.size() - 1);
    table[slot] = {id, static_cast<uint32_t>(hashes[id] >> 32)};
  }
}

/// The slot of the node that equals this one, or the empty one where it belongs.
size_t Graph::slotFor(uint64_t hash, Op op, const Attributes &attributes, std::span<const NodeId> operands,
                      const TensorType &type) const {
  for (size_t slot = hash & (table.size() - 1);; slot = (slot + 1) & (table.size() - 1)) {
    const auto [id, upper] = table[slot];
    if (id == emptySlot)
      return slot;
    if (upper != static_cast<uint32_t>(hash >> 32))
      continue;
    const Node &other = nodes[id];
    if (other.op == op && std::ranges::equal(other.operands, operands) && other.type == type &&
        other.attributes == attributes)
      return slot;
  }
}

std::optional<NodeId> Graph::otherResult(NodeId id, size_t result) const {
  const Node &node = nodes[id];
  Attributes attributes = node.attributes;
  attributes.result = static_cast<int64_t>(result);
  const Graph &body = attributes.body.graph();
  const TensorType &type = body.node(body.outputs[result].node).type;
  const NodeId found =
      table[slotFor(hashNode(node.op, attributes, node.operands, type), node.op, attributes, node.operands, type)].node;
  return found == emptySlot ? std::nullopt : std::optional(found);
}

uint32_t Graph::fileNumber(std::string_view file) {
  if (file.empty())
    return 0;
  // Nearly always the one of the node before.
  if (latestFile - 1 < files.size() && files[latestFile - 1] == file)
    return latestFile;
  const auto [known, isNew] = fileNumbers.try_emplace(std::string(file), static_cast<uint32_t>(files.size() + 1));
  if (isNew)
    files.emplace_back(file);
  return latestFile = known->second;
}

Result<NodeId> Graph::add(Op op, std::span<const NodeId> operands, Attributes attributes, TensorType requested,
                          Location location) {
  // Nearly all ops have few operands, and then nothing is allocated for their types.
  constexpr size_t fewOperands = 3;
  const TensorType *few[fewOperands] = {};
  std::vector<const TensorType *> many(operands.size() > fewOperands ? operands.size() : 0);
  const std::span<const TensorType *> types(many.empty() ? few : many.data(), operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] >= nodes.size())
      return Status::invalidArgument(std::string(toString(op)) + " has the operand " + std::to_string(operands[i]) +
                                     " of a graph with " + std::to_string(nodes.size()) + " nodes");
    types[i] = &nodes[operands[i]].type;
  }
  ZYX_ASSIGN_OR_RETURN(TensorType type,
                       inferType(op, attributes, std::span<const TensorType *const>(types), requested));
  if (op == Op::Constant)
    normaliseConstant(attributes, type);

  const uint64_t hash = hashNode(op, attributes, operands, type);
  // At most half full, so that a probe ends soon.
  if (nodes.size() * 2 >= table.size())
    growTable();
  Slot &slot = table[slotFor(hash, op, attributes, operands, type)];
  if (slot.node != emptySlot)
    return slot.node;
  const auto id = static_cast<NodeId>(nodes.size());
  if (op == Op::Parameter) {
    const auto [it, inserted] = parameters.try_emplace(attributes.name, id);
    if (!inserted)
      return Status::invalidArgument("parameter " + attributes.name + " is declared twice, as " +
                                     toString(nodes[it->second].type) + " and as " + toString(type));
  }
  slot = {id, static_cast<uint32_t>(hash >> 32)};
  hashes.push_back(hash);
  nodes.push_back(Node(op, std::move(attributes), operands, std::move(type)));
  locations.push_back({fileNumber(location.file), location.line, location.column});
  return id;
}

/// The dtype of a node for builders; an id that does not exist is refused by `add` afterwards.
static DType dtypeOf(const Graph &graph, NodeId id) {
  return id < graph.size() ? graph.node(id).type.dtype : DType::F32;
}

Result<NodeId> Graph::parameter(std::string name, TensorType type) {
  Attributes attributes;
  attributes.name = std::move(name);
  return add(Op::Parameter, {}, std::move(attributes), std::move(type));
}

Result<NodeId> Graph::constant(TensorType type, std::vector<std::byte> value) {
  Attributes attributes;
  attributes.value = std::move(value);
  return add(Op::Constant, {}, std::move(attributes), std::move(type));
}

Result<NodeId> Graph::splat(TensorType type, std::vector<std::byte> element) {
  Attributes attributes;
  attributes.value = std::move(element);
  attributes.splat = true;
  return add(Op::Constant, {}, std::move(attributes), std::move(type));
}

Result<NodeId> Graph::reshape(NodeId x, Shape shape) {
  return add(Op::Reshape, {{x}}, {}, {dtypeOf(*this, x), std::move(shape)});
}

Result<NodeId> Graph::expand(NodeId x, Shape shape) {
  return add(Op::Expand, {{x}}, {}, {dtypeOf(*this, x), std::move(shape)});
}

Result<NodeId> Graph::permute(NodeId x, std::vector<int64_t> order) {
  Attributes attributes;
  attributes.dims = std::move(order);
  return add(Op::Permute, {{x}}, std::move(attributes));
}

Result<NodeId> Graph::reduce(ReduceKind kind, NodeId x, std::vector<int64_t> dims) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = std::move(dims);
  return add(Op::Reduce, {{x}}, std::move(attributes));
}

Result<NodeId> Graph::cast(NodeId x, DType dtype) {
  TensorType type = x < size() ? node(x).type : TensorType();
  type.dtype = dtype;
  return add(Op::Cast, {{x}}, {}, std::move(type));
}

Result<NodeId> Graph::unary(UnaryKind kind, NodeId x) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  return add(Op::Unary, {{x}}, std::move(attributes));
}

Result<NodeId> Graph::binary(BinaryKind kind, NodeId a, NodeId b) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  return add(Op::Binary, {{a, b}}, std::move(attributes));
}

Result<NodeId> Graph::select(NodeId condition, NodeId a, NodeId b) { return add(Op::Select, {{condition, a, b}}, {}); }

Result<NodeId> Graph::iota(TensorType type, int64_t dim) {
  Attributes attributes;
  attributes.dims = {dim};
  return add(Op::Iota, {}, std::move(attributes), std::move(type));
}

Result<NodeId> Graph::gather(NodeId x, NodeId indices, int64_t dim) {
  Attributes attributes;
  attributes.dims = {dim};
  return add(Op::Gather, {{x, indices}}, std::move(attributes));
}

Result<NodeId> Graph::flip(NodeId x, std::vector<int64_t> dims) {
  Attributes attributes;
  attributes.dims = std::move(dims);
  return add(Op::Flip, {{x}}, std::move(attributes));
}

Result<NodeId> Graph::pad(NodeId x, NodeId fill, std::vector<int64_t> low, std::vector<int64_t> high,
                          std::vector<int64_t> interior) {
  Attributes attributes;
  attributes.low = std::move(low);
  attributes.high = std::move(high);
  attributes.interior = std::move(interior);
  return add(Op::Pad, {{x, fill}}, std::move(attributes));
}

Result<NodeId> Graph::window(NodeId x, std::vector<int64_t> dims, std::vector<int64_t> size,
                             std::vector<int64_t> stride, std::vector<int64_t> dilation) {
  Attributes attributes;
  attributes.dims = std::move(dims);
  attributes.size = std::move(size);
  attributes.stride = std::move(stride);
  attributes.dilation = std::move(dilation);
  return add(Op::Window, {{x}}, std::move(attributes));
}

Result<NodeId> Graph::concat(std::span<const NodeId> parts, int64_t dim) {
  Attributes attributes;
  attributes.dims = {dim};
  return add(Op::Concat, parts, std::move(attributes));
}

Result<NodeId> Graph::bitcast(NodeId x, DType dtype) {
  return add(Op::Bitcast, {{x}}, {}, {dtype, x < size() ? node(x).type.shape : Shape()});
}

Result<NodeId> Graph::transfer(NodeId x, std::string device) {
  Attributes attributes;
  attributes.name = std::move(device);
  return add(Op::Transfer, {{x}}, std::move(attributes));
}

Result<NodeId> Graph::scan(ReduceKind kind, NodeId x, int64_t dim, bool exclusive, bool reverse) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = {dim};
  attributes.exclusive = exclusive;
  attributes.reverse = reverse;
  return add(Op::Scan, {{x}}, std::move(attributes));
}

Result<NodeId> Graph::sort(SortKind kind, NodeId x, int64_t dim, bool descending) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = {dim};
  attributes.reverse = descending;
  return add(Op::Sort, {{x}}, std::move(attributes));
}

Result<NodeId> Graph::scatter(ScatterKind kind, NodeId x, NodeId indices, NodeId updates, int64_t dim) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = {dim};
  return add(Op::Scatter, {{x, indices, updates}}, std::move(attributes));
}

Result<NodeId> Graph::randomBits(NodeId seed, Shape shape) {
  return add(Op::RandomBits, {{seed}}, {}, {DType::U32, std::move(shape)});
}

std::vector<NodeId> Graph::reachable() const {
  std::vector<NodeId> order;
  std::vector<bool> found(nodes.size());
  // A node and how many of its operands were walked; no recursion, because chains may be long.
  std::vector<std::pair<NodeId, size_t>> path;
  for (const Output &output : outputs) {
    if (found[output.node])
      continue;
    found[output.node] = true;
    path.push_back({output.node, 0});
    while (!path.empty()) {
      auto &[id, next] = path.back();
      if (next == nodes[id].operands.size()) {
        order.push_back(id);
        path.pop_back();
        continue;
      }
      const NodeId operand = nodes[id].operands[next++];
      if (!found[operand]) {
        found[operand] = true;
        path.push_back({operand, 0});
      }
    }
  }
  return order;
}

void Graph::bindParameters() {
  std::unordered_set<NodeId> bound(inputs.begin(), inputs.end());
  for (NodeId id = 0; id < nodes.size(); ++id)
    if (nodes[id].op == Op::Parameter && bound.insert(id).second) {
      inputs.push_back(id);
      ++numWeights;
    }
}

Status Graph::verify() const {
  std::unordered_set<NodeId> bound;
  for (NodeId input : inputs) {
    if (input >= nodes.size() || nodes[input].op != Op::Parameter)
      return Status::invalidArgument("input " + std::to_string(input) + " of graph " + name + " is not a parameter");
    if (!bound.insert(input).second)
      return Status::invalidArgument("input " + nodes[input].attributes.name + " of graph " + name +
                                     " is listed twice");
  }
  if (numWeights > inputs.size())
    return Status::invalidArgument("graph " + name + " has " + std::to_string(numWeights) + " weights among " +
                                   std::to_string(inputs.size()) + " inputs");
  std::unordered_set<std::string_view> names;
  for (const Output &output : outputs) {
    if (output.node >= nodes.size())
      return Status::invalidArgument("output " + output.name + " of graph " + name + " is node " +
                                     std::to_string(output.node) + " of " + std::to_string(nodes.size()));
    if (output.name.empty())
      return Status::invalidArgument("an output of graph " + name + " has no name");
    if (!names.insert(output.name).second)
      return Status::invalidArgument("graph " + name + " has two outputs named " + output.name);
  }
  return Status::ok();
}

Hash128 Graph::canonicalHash() const {
  ByteWriter writer;
  writer.string("zyx graph 3");
  writer.string(name);
  std::vector<uint32_t> number(nodes.size());
  auto writeNode = [&](const Node &node) {
    writer.u8(static_cast<uint8_t>(node.op));
    writeAttributes(writer, node.attributes);
    if (node.attributes.body) {
      writer.u64(node.attributes.body.hash().high);
      writer.u64(node.attributes.body.hash().low);
    }
    writer.u64(node.operands.size());
    for (NodeId operand : node.operands)
      writer.u32(number[operand]);
    writer.u8(static_cast<uint8_t>(node.type.dtype));
    writer.u64(node.type.shape.size());
    for (int64_t extent : node.type.shape)
      writer.i64(extent);
    for (const Extent &extent : node.type.extents)
      writer.string(extent.toString());
  };
  // Inputs are written whether they are used or not: they are the entry's signature.
  writer.u64(inputs.size());
  for (NodeId input : inputs)
    writeNode(nodes[input]);
  writer.u64(numWeights);
  const std::vector<NodeId> order = reachable();
  writer.u64(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    number[order[i]] = static_cast<uint32_t>(i);
    writeNode(nodes[order[i]]);
  }
  writer.u64(outputs.size());
  for (const Output &output : outputs) {
    writer.string(output.name);
    writer.u32(number[output.node]);
  }
  return hashBytes(writer.view());
}

} // namespace zyx::graph
