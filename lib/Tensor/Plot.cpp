//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Plot.h"

#include "Detail.h"
#include "WatchedCompilation.h"

#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/File.h"
#include "zyx/IO/Print.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;

/// Larger ones are told by their size.
static constexpr int64_t maxShownElements = 8;

//===----------------------------------------------------------------------===//
// What a node says of itself
//===----------------------------------------------------------------------===//

static std::string kindOf(const graph::Node &node) {
  const uint8_t kind = node.attributes.kind;
  switch (node.op) {
  case Op::Unary:
    return std::string(toString(static_cast<graph::UnaryKind>(kind)));
  case Op::Binary:
    return std::string(toString(static_cast<graph::BinaryKind>(kind)));
  case Op::Reduce:
  case Op::Scan:
    return " " + std::string(toString(static_cast<graph::ReduceKind>(kind)));
  case Op::Scatter:
    return " " + std::string(toString(static_cast<graph::ScatterKind>(kind)));
  case Op::Sort:
    return " " + std::string(toString(static_cast<graph::SortKind>(kind)));
  default:
    return "";
  }
}

std::string detail::describeOp(const graph::Node &node) {
  const graph::Attributes &attributes = node.attributes;
  std::string text = node.op == Op::Unary || node.op == Op::Binary ? "" : std::string(toString(node.op));
  text += kindOf(node);
  auto list = [&](const char *name, const std::vector<int64_t> &numbers) {
    if (!numbers.empty())
      text += std::string(" ") + name + " " + toString(Shape(numbers.begin(), numbers.end()));
  };
  list("dims", attributes.dims);
  list("low", attributes.low);
  list("high", attributes.high);
  list("size", attributes.size);
  list("stride", attributes.stride);
  if (node.op == Op::Custom || node.op == Op::Transfer)
    text += " " + attributes.name;
  if (node.op == Op::Loop)
    text += attributes.trips == graph::tripsAreData    ? " counted"
            : attributes.trips == graph::tripsAreWhile ? " while"
                                                       : " " + std::to_string(attributes.trips) + " trips";
  if (attributes.exclusive)
    text += " exclusive";
  if (attributes.reverse)
    text += node.op == Op::Sort ? " descending" : " reverse";
  return text;
}

static bool isFew(const TensorType &type) {
  const Result<int64_t> elements = numElements(type.shape);
  return elements && *elements <= maxShownElements;
}

/// As a string in DOT.
static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result + "\"";
}

//===----------------------------------------------------------------------===//
// The drawing
//===----------------------------------------------------------------------===//

Result<std::string> State::draw(std::span<const Tensor> tensors) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(tensors));
  std::vector<NodeId> found, asked;
  std::vector<bool> isFound(graph.size());
  auto find = [&](NodeId id) {
    if (!isFound[id])
      found.push_back(id);
    isFound[id] = true;
  };
  for (const Tensor &tensor : tensors) {
    asked.push_back(nodeOf(tensor));
    find(asked.back());
  }
  for (size_t i = 0; i < found.size(); ++i)
    if (states[found[i]].holdsOperands)
      for (NodeId operand : graph.node(found[i]).operands)
        find(operand);
  std::ranges::sort(found);

  std::string text = "digraph \"tensors\" {\n  rankdir=TB\n"
                     "  node [shape=box, fontname=\"monospace\", fontsize=10]\n";
  for (NodeId id : found) {
    const graph::Node &node = graph.node(id);
    const NodeState &state = states[id];
    std::string label = state.holdsOperands && node.op != Op::Parameter ? describeOp(node)
                        : state.value                                   ? "value"
                                                                        : "argument";
    label += "\n" + toString(node.type);
    std::optional<HostTensor> shown;
    if (node.op == Op::Constant) {
      shown = HostTensor{node.type, node.attributes.value};
      if (node.attributes.splat)
        shown->type.shape = {};
    } else if (state.value) {
      shown = HostTensor{node.type, {}};
      if (isFew(node.type)) {
        shown->data.resize(state.value->size());
        ZYX_RETURN_IF_ERROR(state.value->read(shown->data));
      }
    }
    if (shown && isFew(shown->type))
      label += "\n" + io::toString(*shown);
    else if (state.value)
      label += "\n" + std::to_string(state.value->size()) + " bytes are there";
    if (const graph::Location place = graph.location(id); !place.file.empty())
      label += "\n" + std::string(place.file.substr(place.file.rfind('/') + 1)) + ":" + std::to_string(place.line);
    text += "  n" + std::to_string(id) + " [label=" + quoted(label);
    if (state.value)
      text += ", style=filled, fillcolor=\"#dde8f4\"";
    if (std::ranges::count(asked, id))
      text += ", peripheries=2";
    text += "]\n";
  }
  for (NodeId id : found) {
    const std::vector<NodeId> &operands = graph.node(id).operands;
    for (size_t i = 0; states[id].holdsOperands && i < operands.size(); ++i) {
      text += "  n" + std::to_string(operands[i]) + " -> n" + std::to_string(id);
      if (operands.size() > 1)
        text += " [label=\"" + std::to_string(i) + "\"]";
      text += "\n";
    }
  }
  return text + "}\n";
}

Result<std::string> State::showProgram(std::span<const Tensor> tensors, const std::string &phase, bool isDrawing) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::unique_lock lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(tensors));
  std::vector<NodeId> targets;
  for (const Tensor &tensor : tensors)
    if (!states[nodeOf(tensor)].value)
      targets.push_back(nodeOf(tensor));
  if (targets.empty())
    return Status::invalidArgument("all of the tensors have values; there is nothing to compute");
  std::vector<std::pair<graph::Graph, uint16_t>> found;
  const Compile keep = [&](const graph::Graph &captured, uint16_t device) -> Result<std::shared_ptr<Program>> {
    found.emplace_back(captured, device);
    return std::shared_ptr<Program>();
  };
  Build none;
  ZYX_RETURN_IF_ERROR(schedule(targets, none, std::nullopt, keep).status());
  if (found.size() != 1)
    return Status::unsupported("the tensors are computed by " + std::to_string(found.size()) +
                               " programs, on several devices; one is shown at a time");
  const auto &[captured, device] = found[0];
  if (!homes[device].device)
    return Status::unsupported("the interpreter makes no groups and kernels of tensors");
  session::CompileOptions wanted;
  wanted.target = homes[device].target;
  wanted.stopAfter = phase;
  wanted.dumpDot = isDrawing;
  lock.unlock();
  const WatchedCompilation watched(/*isShown=*/false);
  ZYX_ASSIGN_OR_RETURN(const session::Compiled shown, session.compile(captured, wanted, nullptr, &watched.callbacks()));
  return std::string(reinterpret_cast<const char *>(shown.output.data()), shown.output.size());
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Result<std::vector<std::byte>> toSvg(std::string_view dot) {
  const std::string advice = "; a path that ends in .dot takes the drawing as text";
  Result<ChildResult> child = runChild({"dot", "-Tsvg"}, std::as_bytes(std::span(dot)));
  if (!child)
    return Status::notFound("plot: an SVG is drawn by the program 'dot' of Graphviz, which is not found" + advice);
  if (child->exitCode != 0 || child->signal != 0 || child->timedOut || child->tooMuchOutput)
    return Status::unsupported("plot: 'dot -Tsvg' failed: " + child->messages + advice);
  return std::move(child->output);
}

static State &stateOfAll(std::span<const Tensor> tensors, const std::string &function, Place where) {
  for (const Tensor &tensor : tensors)
    if (!tensor.isDefined())
      refuse(function + ": there is no tensor in this place", where);
  if (tensors.empty())
    refuse(function + ": there are no tensors", where);
  return stateOf(tensors[0]);
}

std::string zyx::plotDot(Tensors tensors, PlotStage stage, Place where) {
  State &state = stateOfAll(tensors, "plot", where);
  if (stage == PlotStage::Tensors)
    return valueOrThrow(state.draw(tensors), where);
  return valueOrThrow(state.showProgram(tensors, stage == PlotStage::Groups ? "groups" : "plan", /*isDrawing=*/true),
                      where);
}

std::string zyx::programText(Tensors tensors, Place where) {
  return valueOrThrow(stateOfAll(tensors, "programText", where).showProgram(tensors, "graph", /*isDrawing=*/false),
                      where);
}

void zyx::plot(Tensors tensors, const std::string &path, PlotStage stage, Place where) {
  const bool isSvg = path.ends_with(".svg");
  if (!isSvg && !path.ends_with(".dot") && !path.ends_with(".gv"))
    refuse("plot: '" + path + "' ends in none of .dot, .gv and .svg", where);
  const std::string dot = plotDot(tensors, stage, where);
  if (!isSvg) {
    throwIfError(writeFileAtomically(path, std::as_bytes(std::span(dot))), where);
    return;
  }
  throwIfError(writeFileAtomically(path, valueOrThrow(toSvg(dot), where)), where);
}
