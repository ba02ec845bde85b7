//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RecompileLog.h"

#include "State.h"

#include "zyx/Base/Bytes.h"

#include <cstdio>

using namespace zyx;
using namespace zyx::detail;
using graph::Attributes;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;

/// Programs of as many structures are told from each other.
static constexpr size_t mostStructures = 1024;

/// Ops and what reads what, with no size and no number.
static std::string structureOf(const Graph &graph, const std::vector<NodeId> &order) {
  ByteWriter writer;
  std::vector<uint32_t> number(graph.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const Node &node = graph.node(order[i]);
    number[order[i]] = static_cast<uint32_t>(i);
    writer.u8(static_cast<uint8_t>(node.op));
    writer.u8(node.attributes.kind);
    writer.u8(static_cast<uint8_t>(node.type.dtype));
    writer.u64(node.type.shape.size());
    writer.u64(node.operands.size());
    for (NodeId operand : node.operands)
      writer.u32(number[operand]);
  }
  return hashBytes(writer.view()).toHex();
}

static uint64_t hashOf(const Shape &shape) {
  ByteWriter writer;
  for (int64_t extent : shape)
    writer.i64(extent);
  return hash64(writer.view());
}

static uint64_t hashOf(const Attributes &attributes) {
  ByteWriter writer;
  for (const auto *list : {&attributes.dims, &attributes.low, &attributes.high, &attributes.interior, &attributes.size,
                           &attributes.stride, &attributes.dilation}) {
    writer.u64(list->size());
    for (int64_t number : *list)
      writer.i64(number);
  }
  writer.i64(attributes.trips);
  if (attributes.body) {
    writer.u64(attributes.body.hash().high);
    writer.u64(attributes.body.hash().low);
  }
  writer.blob(attributes.value);
  return hash64(writer.view());
}

void RecompileLog::note(const Graph &graph) {
  const std::vector<NodeId> order = graph.reachable();
  if (structures.size() >= mostStructures)
    structures.clear();
  Structure &structure = structures[structureOf(graph, order)];
  const bool isFirst = structure.programs.empty();
  // One that was let go is no other one.
  if (structure.programs.size() >= enough || !structure.programs.insert(graph.canonicalHash().toHex()).second)
    return;
  structure.shapeVaries.resize(order.size());
  structure.attributesVary.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const Node &node = graph.node(order[i]);
    const uint64_t shape = hashOf(node.type.shape), attributes = hashOf(node.attributes);
    if (isFirst) {
      structure.shapes.push_back(shape);
      structure.attributes.push_back(attributes);
      continue;
    }
    if (shape != structure.shapes[i])
      structure.shapeVaries[i] = true;
    if (attributes != structure.attributes[i])
      structure.attributesVary[i] = true;
  }
  if (structure.programs.size() == enough)
    std::fputs(describe(graph, order, structure).c_str(), stderr);
}

std::string RecompileLog::describe(const Graph &graph, const std::vector<NodeId> &order,
                                   const Structure &structure) const {
  constexpr size_t most = 3;
  const auto placeOf = [&](NodeId id) {
    const graph::Location place = graph.location(id);
    return place.file.empty()
               ? std::string()
               : " at " + std::string(place.file.substr(place.file.rfind('/') + 1)) + ":" + std::to_string(place.line);
  };
  std::vector<std::string> sizes, inner, numbers, positions;
  for (size_t i = 0; i < order.size(); ++i) {
    const NodeId id = order[i];
    const Node &node = graph.node(id);
    const std::string type = toString(node.type);
    if (structure.shapeVaries[i])
      (node.op == Op::Parameter ? sizes : inner)
          .push_back(node.op == Op::Parameter ? "input '" + node.attributes.name + "', now " + type
                                              : "'" + describeOp(node) + "'" + placeOf(id) + ", now " + type);
    else if (structure.attributesVary[i])
      (node.op == Op::Constant ? numbers : positions)
          .push_back((node.op == Op::Constant ? "the constant" : "'" + describeOp(node) + "'") + placeOf(id));
  }
  // What follows from sizes of inputs says nothing more.
  if (sizes.empty())
    sizes = std::move(inner);
  std::string text = "zyx: " + std::to_string(enough) +
                     " programs of one structure were compiled, the last one for what is made" +
                     (graph.outputs.empty() ? "" : placeOf(graph.outputs[0].node)) + ":";
  const auto tell = [&](const char *what, const std::vector<std::string> &all, const char *advice) {
    if (all.empty())
      return;
    text += std::string(" ") + what + " (";
    for (size_t i = 0; i < std::min(all.size(), most); ++i)
      text += (i == 0 ? "" : "; ") + all[i];
    text += std::string(all.size() > most ? "; ..." : "") + "): " + advice + ".";
  };
  tell("sizes vary", sizes, "pad them to a few");
  tell("numbers vary", numbers, "a tensor of Tensor::from in their place is data");
  tell("positions vary", positions, "takeAlongAxis and gather take positions that are data");
  return text + " recompile_notice=false switches this off.\n";
}
