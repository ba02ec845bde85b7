//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AttributeBytes.h"

#include "zyx/Base/Envelope.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace zyx::graph {

// The byte form:
//   "ZYXG", u32 version, u64 XXH3 of all that follows,
//   entry name, file names, bodies in this form, nodes, inputs, how many of them
//   are weights, outputs; each list with a u64 count before it.
static constexpr Envelope envelope{"ZYXG", 5, Envelope::Checksum::Bits64};

/// Location files are numbered from 1 in the table of file names; 0 is no file.
static constexpr uint32_t noFile = 0;

std::vector<std::byte> Graph::serialize() const {
  std::vector<std::string_view> files;
  std::unordered_map<std::string_view, uint32_t> fileNumbers{{std::string_view(), noFile}};
  for (NodeId id = 0; id < nodes.size(); ++id)
    if (const std::string_view file = location(id).file;
        fileNumbers.try_emplace(file, static_cast<uint32_t>(files.size() + 1)).second)
      files.push_back(file);

  // Each body once, in the order in which nodes use them; nodes name them by numbers from 1.
  std::vector<const Body *> bodies;
  std::vector<uint32_t> bodyNumbers(nodes.size());
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> numberOf;
  for (size_t id = 0; id < nodes.size(); ++id) {
    const Body &inner = nodes[id].attributes.body;
    if (!inner)
      continue;
    const auto [it, isNew] =
        numberOf.try_emplace({inner.hash().high, inner.hash().low}, static_cast<uint32_t>(bodies.size() + 1));
    if (isNew)
      bodies.push_back(&inner);
    bodyNumbers[id] = it->second;
  }

  ByteWriter body;
  body.string(name);
  body.u64(files.size());
  for (std::string_view file : files)
    body.string(file);
  body.u64(bodies.size());
  for (const Body *inner : bodies)
    body.blob(inner->graph().serialize());
  body.u64(nodes.size());
  for (size_t id = 0; id < nodes.size(); ++id) {
    const Node &node = nodes[id];
    body.u8(static_cast<uint8_t>(node.op));
    writeAttributes(body, node.attributes);
    body.u32(bodyNumbers[id]);
    body.u64(node.operands.size());
    for (NodeId operand : node.operands)
      body.u32(operand);
    body.u8(static_cast<uint8_t>(node.type.dtype));
    body.u64(node.type.shape.size());
    for (int64_t extent : node.type.shape)
      body.i64(extent);
    body.u64(node.type.extents.size());
    for (const Extent &extent : node.type.extents)
      body.string(extent.toString());
    const Location where = location(static_cast<NodeId>(id));
    body.u32(fileNumbers.at(where.file));
    body.u32(where.line);
    body.u32(where.column);
  }
  body.u64(inputs.size());
  for (NodeId input : inputs)
    body.u32(input);
  body.u64(numWeights);
  body.u64(outputs.size());
  for (const Output &output : outputs) {
    body.string(output.name);
    body.u32(output.node);
  }
  return envelope.seal(body.view());
}

static Status corrupt(std::string reason) { return Status::dataCorruption("graph: " + std::move(reason)); }

namespace {
/// What a node of the byte form holds; the graph checks it when it is added.
struct StoredNode {
  uint8_t op = 0, flags = 0;
  Attributes attributes;
  /// From 1; 0 is no body.
  uint32_t body = 0;
  std::vector<NodeId> operands;
  uint8_t dtype = 0;
  Shape shape;
  std::vector<std::string> extents;
  uint32_t file = 0, line = 0, column = 0;
};
} // namespace

static StoredNode readNode(ByteReader &reader) {
  StoredNode node;
  node.op = reader.u8("an op");
  node.attributes = readAttributes(reader, node.flags);
  node.body = reader.u32("a body's number");
  node.operands.resize(reader.count("operands", 4));
  for (NodeId &operand : node.operands)
    operand = reader.u32("an operand");
  node.dtype = reader.u8("a dtype");
  node.shape.resize(reader.count("extents", 8));
  for (int64_t &extent : node.shape)
    extent = reader.i64("an extent");
  node.extents.resize(reader.count("symbolic extents", 8));
  for (std::string &extent : node.extents)
    extent = reader.string("a symbolic extent");
  node.file = reader.u32("a location's file");
  node.line = reader.u32("a line");
  node.column = reader.u32("a column");
  return node;
}

Result<Graph> Graph::deserialize(std::span<const std::byte> bytes) { return deserialize(bytes, 0); }

Result<Graph> Graph::deserialize(std::span<const std::byte> bytes, int depth) {
  if (depth > maxBodyDepth)
    return corrupt("more than " + std::to_string(maxBodyDepth) + " bodies are inside of each other");
  const Envelope::Opened opened = envelope.open(bytes);
  switch (opened.state) {
  case Envelope::State::Whole:
    break;
  case Envelope::State::Cut:
    return corrupt(opened.cut.message());
  case Envelope::State::OtherMark:
    return corrupt("the bytes are not a graph");
  case Envelope::State::OtherVersion:
    return corrupt("the bytes have version " + std::to_string(opened.version) + ", this build reads " +
                   std::to_string(envelope.version));
  case Envelope::State::Damaged:
    return corrupt("the checksum does not match: the bytes are damaged");
  }
  ByteReader reader(opened.contents);

  Graph graph;
  graph.name = reader.string("the entry's name");
  std::vector<std::string> files(reader.count("file names", 8));
  for (std::string &file : files)
    file = reader.string("a file name");

  std::vector<Body> bodies(reader.count("bodies", 8));
  for (size_t i = 0; i < bodies.size(); ++i) {
    const std::string what = "body " + std::to_string(i);
    const std::span<const std::byte> stored = reader.blob("a body");
    ZYX_RETURN_IF_ERROR(reader.status());
    const Result<Graph> inner = deserialize(stored, depth + 1);
    if (!inner.isOk())
      return corrupt(what + " is malformed").withCause(inner.status());
    Result<Body> made = Body::create(*inner);
    if (!made.isOk())
      return corrupt(what + " is malformed").withCause(made.status());
    if (!std::ranges::equal(made->graph().serialize(), stored) ||
        std::find(bodies.begin(), bodies.begin() + static_cast<ptrdiff_t>(i), *made) !=
            bodies.begin() + static_cast<ptrdiff_t>(i))
      return corrupt(what + " is not in its one form, or there twice");
    bodies[i] = std::move(*made);
  }
  uint32_t numUsed = 0;

  const uint64_t numNodes = reader.count("nodes", minAttributeBytes + 34);
  for (uint64_t id = 0; id < numNodes; ++id) {
    StoredNode stored = readNode(reader);
    ZYX_RETURN_IF_ERROR(reader.status());
    const std::string what = "node " + std::to_string(id);
    const auto dtype = dtypeFromValue(stored.dtype);
    if (!dtype)
      return corrupt(what + " has the unknown dtype " + std::to_string(stored.dtype));
    if (stored.flags > 15 || ((stored.flags & 8) != 0) == stored.attributes.implementations.empty())
      return corrupt(what + " has the flags " + std::to_string(stored.flags));
    if (stored.body > std::min<size_t>(numUsed + 1, bodies.size()))
      return corrupt(what + " has body " + std::to_string(stored.body) + " after the first " + std::to_string(numUsed) +
                     " of " + std::to_string(bodies.size()));
    numUsed = std::max(numUsed, stored.body);
    if (stored.body != 0)
      stored.attributes.body = bodies[stored.body - 1];
    if (stored.file > files.size())
      return corrupt(what + " comes from file " + std::to_string(stored.file) + " of " + std::to_string(files.size()));
    const Location location{stored.file == noFile ? std::string_view() : files[stored.file - 1], stored.line,
                            stored.column};
    TensorType type{*dtype, std::move(stored.shape)};
    if (!stored.extents.empty()) {
      std::vector<Extent> extents;
      for (const std::string &text : stored.extents) {
        Result<Extent> extent = Extent::parse(text);
        if (!extent.isOk() || extent->toString() != text)
          return corrupt(what + " has an extent that is not in its one form");
        extents.push_back(std::move(*extent));
      }
      TensorType symbolic = symbolicType(*dtype, std::move(extents));
      if (symbolic.shape != type.shape || !symbolic.isSymbolic())
        return corrupt(what + " has the shape " + zyx::toString(type.shape) + ", and other symbolic extents");
      type = std::move(symbolic);
    }
    const Attributes attributes = stored.attributes;
    const Result<NodeId> added =
        graph.add(static_cast<Op>(stored.op), stored.operands, std::move(stored.attributes), type, location);
    if (!added.isOk())
      return corrupt(what + " is malformed").withCause(added.status());
    if (*added != id)
      return corrupt(what + " repeats node " + std::to_string(*added));
    if (graph.node(*added).type != type)
      return corrupt(what + " is stored as " + toString(type) + ", but it is " + toString(graph.node(*added).type));
    if (graph.node(*added).attributes != attributes)
      return corrupt(what + " is a constant that is not in its one form");
  }
  if (numUsed != bodies.size() && reader.status().isOk())
    return corrupt("of " + std::to_string(bodies.size()) + " bodies only " + std::to_string(numUsed) + " are used");
  graph.inputs.resize(reader.count("inputs", 4));
  for (NodeId &input : graph.inputs)
    input = reader.u32("an input");
  graph.numWeights = reader.u64("the weights");
  graph.outputs.resize(reader.count("outputs", 12));
  for (Output &output : graph.outputs) {
    output.name = reader.string("an output's name");
    output.node = reader.u32("an output");
  }
  ZYX_RETURN_IF_ERROR(reader.status());
  if (reader.remaining() != 0)
    return corrupt(std::to_string(reader.remaining()) + " bytes follow the end");
  if (const Status status = graph.verify(); !status.isOk())
    return corrupt("it is no program").withCause(status);
  return graph;
}

} // namespace zyx::graph
