//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Allocate.h"
#include "zyx/Base/Interruption.h"
#include "zyx/Base/Processors.h"
#include "zyx/Graph/Symbols.h"
#include "zyx/Reference/Reference.h"

#include "Elements.h"
#include "Order.h"
#include "Planner.h"
#include "Reducer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace zyx::reference {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;

namespace {

class Evaluator {
public:
  Evaluator(const Graph &graph, int64_t maxBytes) : graph(graph), maxBytes(maxBytes) {}

  Status bind(std::span<const HostTensor> inputs);
  Status evaluate();

private:
  const std::byte *memory(NodeId id) const;
  Status allocate(NodeId id, int64_t bytes);
  Status run(const Program &program);
  Status runBody(NodeId id);
  HostTensor copyOf(NodeId id) const;
  void runBlock(const Program &program, int64_t begin, int64_t count);
  void load(const Instruction &instruction, int64_t begin, int64_t count, std::byte *block);
  void reduce(const Program &program, std::byte *out);
  void gather(const Program &program, int64_t begin, int64_t count, std::byte *out);
  void pad(const Program &program, int64_t begin, int64_t count, std::byte *out);
  void concat(const Program &program, int64_t begin, int64_t count, std::byte *out);
  void loadFrom(const Source &source, int64_t *at, int64_t count, std::byte *block);
  std::vector<std::byte> loadWhole(const Program &program, size_t operand);
  void order(const Program &program, std::byte *out);
  std::byte *block(uint32_t index) { return blocks.get() + index * blockBytes; }

  const Graph &graph;
  const int64_t maxBytes;
  int64_t usedBytes = 0;
  std::unordered_map<NodeId, const HostTensor *> parameters;
  std::unordered_map<NodeId, std::vector<std::byte>> values;
  /// The nodes that have programs.
  std::unordered_set<NodeId> planned;
  std::unique_ptr<std::byte[]> blocks;
  int64_t indices[blockElements];

public:
  /// The outputs; to be called once, after evaluate.
  std::vector<HostTensor> takeOutputs();
};

} // namespace

/// "node 7, reduce add, f32[2, 3]", for messages.
static std::string describe(const Graph &graph, NodeId id) {
  const Node &node = graph.node(id);
  std::string text = "node " + std::to_string(id) + ", " + std::string(toString(node.op));
  if (node.op == Op::Unary)
    text += " " + std::string(toString(static_cast<graph::UnaryKind>(node.attributes.kind)));
  if (node.op == Op::Binary)
    text += " " + std::string(toString(static_cast<graph::BinaryKind>(node.attributes.kind)));
  if (node.op == Op::Reduce || node.op == Op::Scan)
    text += " " + std::string(toString(static_cast<graph::ReduceKind>(node.attributes.kind)));
  if (node.op == Op::Scatter)
    text += " " + std::string(toString(static_cast<graph::ScatterKind>(node.attributes.kind)));
  return text + ", " + toString(node.type);
}

Status Evaluator::bind(std::span<const HostTensor> inputs) {
  if (inputs.size() != graph.inputs.size())
    return Status::invalidArgument("graph " + graph.name + " has " + std::to_string(graph.inputs.size()) +
                                   " inputs, but " + std::to_string(inputs.size()) + " tensors were given");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node &node = graph.node(graph.inputs[i]);
    const HostTensor &tensor = inputs[i];
    const std::string what = "input " + node.attributes.name;
    if (tensor.type != node.type)
      return Status::invalidArgument(what + " is " + toString(node.type) + ", but a tensor " + toString(tensor.type) +
                                     " was given");
    ZYX_ASSIGN_OR_RETURN(const int64_t bytes, byteSize(node.type));
    if (tensor.data.size() != static_cast<size_t>(bytes))
      return Status::invalidArgument(what + ", " + toString(node.type) + ", has " + std::to_string(bytes) +
                                     " bytes, but " + std::to_string(tensor.data.size()) + " were given");
    if (node.type.dtype == DType::Bool)
      for (std::byte b : tensor.data)
        if (static_cast<uint8_t>(b) > 1)
          return Status::invalidArgument(what + ", " + toString(node.type) + ", holds a byte that is neither 0 nor 1");
    parameters[graph.inputs[i]] = &tensor;
  }
  return Status::ok();
}

const std::byte *Evaluator::memory(NodeId id) const {
  const Node &node = graph.node(id);
  if (node.op == Op::Parameter)
    return parameters.at(id)->data.data();
  if (node.op == Op::Constant)
    return node.attributes.value.data();
  return values.at(id).data();
}

Status Evaluator::allocate(NodeId id, int64_t bytes) {
  if (bytes > maxBytes - usedBytes)
    return Status::outOfMemory(describe(graph, id) + " needs " + std::to_string(bytes) + " bytes, but " +
                               std::to_string(usedBytes) + " of " + std::to_string(maxBytes) + " are in use");
  ZYX_ASSIGN_OR_RETURN(values[id], allocateBytes(static_cast<uint64_t>(bytes), describe(graph, id)));
  usedBytes += bytes;
  return Status::ok();
}

Status Evaluator::evaluate() {
  const std::vector<NodeId> order = graph.reachable();
  for (NodeId id : order)
    if (graph.node(id).op == Op::Parameter && !parameters.contains(id))
      return Status::invalidArgument("parameter " + graph.node(id).attributes.name + " of graph " + graph.name +
                                     " is not bound: it is not among its inputs");
  std::unordered_set<NodeId> kept;
  for (const graph::Output &output : graph.outputs)
    kept.insert(output.node);

  const Plan plan = makePlan(graph, order);
  uint32_t numBlocks = 0;
  for (const Program &program : plan.programs) {
    numBlocks = std::max(numBlocks, program.numBlocks);
    planned.insert(program.node);
  }
  blocks = std::make_unique<std::byte[]>(numBlocks * size_t(blockBytes));

  for (size_t i = 0; i < plan.programs.size(); ++i) {
    const Program &program = plan.programs[i];
    ZYX_RETURN_IF_ERROR(run(program));
    const auto release = [&](NodeId id) {
      const auto it = values.find(id);
      if (it == values.end() || kept.contains(id) || plan.lastRead.at(id) != i)
        return;
      usedBytes -= static_cast<int64_t>(it->second.size());
      values.erase(it);
    };
    for (const Instruction &instruction : program.instructions)
      if (instruction.access)
        release(instruction.node);
    for (const Source &source : program.sources)
      release(source.node);
    if (const Node &node = graph.node(program.node); node.attributes.body)
      for (NodeId operand : node.operands)
        release(operand);
  }
  return Status::ok();
}

Status Evaluator::run(const Program &program) {
  const Node &node = graph.node(program.node);
  // Another result of the same op may have brought this one.
  if (node.attributes.body)
    return values.contains(program.node) ? Status::ok() : runBody(program.node);
  const Result<int64_t> bytes = byteSize(node.type);
  if (!bytes.isOk())
    return bytes.status().withWhere(describe(graph, program.node));
  ZYX_RETURN_IF_ERROR(allocate(program.node, *bytes));
  if (*bytes == 0)
    return Status::ok();
  std::byte *out = values.at(program.node).data();
  if (node.op == Op::Reduce) {
    reduce(program, out);
    return Status::ok();
  }
  if (node.op == Op::Scan || node.op == Op::Sort || node.op == Op::Scatter || node.op == Op::RandomBits) {
    order(program, out);
    return Status::ok();
  }
  const int64_t elements = *numElements(node.type.shape);
  const int64_t width = byteSize(node.type.dtype);
  for (int64_t begin = 0; begin < elements; begin += blockElements) {
    const int64_t count = std::min(blockElements, elements - begin);
    runBlock(program, begin, count);
    if (node.op == Op::Gather)
      gather(program, begin, count, out + begin * width);
    else if (node.op == Op::Pad)
      pad(program, begin, count, out + begin * width);
    else if (node.op == Op::Concat)
      concat(program, begin, count, out + begin * width);
    else
      store(node.type.dtype, block(program.result), count, out + begin * width);
  }
  return Status::ok();
}

/// A parameter, or a node that is stored.
HostTensor Evaluator::copyOf(NodeId id) const {
  const Node &node = graph.node(id);
  return node.op == Op::Parameter ? *parameters.at(id) : HostTensor{node.type, values.at(id)};
}

/// Evaluates a loop or a custom op, and stores its results.
Status Evaluator::runBody(NodeId id) {
  const Node &node = graph.node(id);
  const bool isLoop = node.op == Op::Loop;
  const Graph &body = node.attributes.body.graph();
  std::span<const NodeId> operands = node.operands;
  int64_t trips = isLoop ? node.attributes.trips : 1;
  if (trips == graph::tripsAreData) {
    std::memcpy(&trips, copyOf(operands[0]).data.data(), sizeof(trips));
    operands = operands.subspan(1);
  }
  std::vector<HostTensor> arguments;
  if (isLoop)
    arguments.push_back({{DType::I64, {}}, std::vector<std::byte>(sizeof(int64_t))});
  int64_t held = 0;
  for (NodeId operand : operands) {
    arguments.push_back(copyOf(operand));
    held += static_cast<int64_t>(arguments.back().data.size());
  }
  const std::span<HostTensor> carried = std::span(arguments).subspan(isLoop ? 1 : 0);
  std::vector<HostTensor> results;
  if (isLoop)
    results.assign(carried.begin(), carried.begin() + static_cast<ptrdiff_t>(body.outputs.size()));
  const Options options{std::max<int64_t>(1, maxBytes - usedBytes - held)};
  const auto goesOn = [&](int64_t trip) {
    return trips == graph::tripsAreWhile ? results[0].data[0] != std::byte{} : trip < trips;
  };
  const LoopInterruption interruption;
  for (int64_t trip = 0; goesOn(trip); ++trip) {
    if (trips == graph::tripsAreWhile && interruption.isSet())
      return LoopInterruption::status().withWhere(describe(graph, id));
    if (isLoop) {
      std::memcpy(arguments[0].data.data(), &trip, sizeof(trip));
      std::ranges::copy(results, carried.begin());
    }
    auto next = reference::evaluate(body, arguments, options);
    if (!next.isOk())
      return next.status().withWhere(describe(graph, id));
    results = std::move(*next);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const auto other = graph.otherResult(id, i);
    if (!other || !planned.contains(*other))
      continue;
    ZYX_RETURN_IF_ERROR(allocate(*other, static_cast<int64_t>(results[i].data.size())));
    values[*other] = std::move(results[i].data);
  }
  return Status::ok();
}

void Evaluator::runBlock(const Program &program, int64_t begin, int64_t count) {
  for (const Instruction &instruction : program.instructions) {
    std::byte *out = block(instruction.block);
    if (instruction.access) {
      load(instruction, begin, count, out);
      continue;
    }
    const Node &node = graph.node(instruction.node);
    const auto operand = [&](int i) { return block(instruction.operands[i]); };
    const auto dtypeOf = [&](int i) { return graph.node(node.operands[i]).type.dtype; };
    switch (node.op) {
    case Op::Cast:
      cast(dtypeOf(0), node.type.dtype, operand(0), count, out);
      break;
    case Op::Bitcast:
      bitcast(dtypeOf(0), node.type.dtype, operand(0), count, out);
      break;
    case Op::Unary:
      unary(static_cast<graph::UnaryKind>(node.attributes.kind), dtypeOf(0), operand(0), count, out);
      break;
    case Op::Binary:
      binary(static_cast<graph::BinaryKind>(node.attributes.kind), dtypeOf(0), operand(0), operand(1), count, out);
      break;
    case Op::Select:
      select(node.type.dtype, operand(0), operand(1), operand(2), count, out);
      break;
    default:
      ZYX_ASSERT(false, "only elementwise ops are computed in place");
    }
  }
}

void Evaluator::load(const Instruction &instruction, int64_t begin, int64_t count, std::byte *block) {
  const Node &node = graph.node(instruction.node);
  const DType dtype = node.type.dtype;
  const Access &access = *instruction.access;
  if (node.op == Op::Iota) {
    access.indices(begin, count, indices);
    fromIndices(dtype, indices, count, block);
  } else if (access.hasLongRuns()) {
    const int64_t width = heldBytes(dtype);
    access.forEachRun(begin, count, [&](int64_t index, int64_t stride, int64_t length) {
      loadRun(dtype, memory(instruction.node), index, stride, length, block);
      block += length * width;
    });
  } else {
    access.indices(begin, count, indices);
    loadAt(dtype, memory(instruction.node), indices, count, block);
  }
}

void Evaluator::reduce(const Program &program, std::byte *out) {
  const Node &node = graph.node(program.node);
  const DType dtype = node.type.dtype;
  const int64_t elements = *numElements(graph.node(node.operands[0]).type.shape);
  const int64_t results = *numElements(node.type.shape);
  const int64_t length = elements / results;
  const auto reducer = Reducer::create(static_cast<graph::ReduceKind>(node.attributes.kind), dtype);
  alignas(8) std::byte result[8];
  const auto finish = [&] {
    reducer->finish(result);
    store(dtype, result, 1, out);
    out += byteSize(dtype);
  };
  if (length == 0) {
    for (int64_t i = 0; i < results; ++i)
      finish();
    return;
  }
  int64_t missing = length;
  for (int64_t begin = 0; begin < elements; begin += blockElements) {
    const int64_t count = std::min(blockElements, elements - begin);
    runBlock(program, begin, count);
    for (int64_t i = 0; i < count;) {
      const int64_t piece = std::min(missing, count - i);
      reducer->add(block(program.result) + i * heldBytes(dtype), piece);
      i += piece;
      missing -= piece;
      if (missing == 0) {
        finish();
        missing = length;
      }
    }
  }
}

void Evaluator::gather(const Program &program, int64_t begin, int64_t count, std::byte *out) {
  const Node &node = graph.node(program.node);
  const TensorType &x = graph.node(node.operands[0]).type;
  const TensorType &by = graph.node(node.operands[1]).type;
  const auto dim = static_cast<size_t>(node.attributes.dims[0]);
  int64_t inner = 1;
  for (size_t d = dim + 1; d < x.shape.size(); ++d)
    inner *= x.shape[d];
  const int64_t extent = x.shape[dim], chosen = *numElements(by.shape) * inner;

  toIndices(by.dtype, block(program.result), count, indices);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = begin + i;
    if (indices[i] >= extent)
      indices[i] = -1;
    if (indices[i] >= 0)
      indices[i] = (position / chosen * extent + indices[i]) * inner + position % inner;
  }
  // The indices were read; their block takes the elements.
  std::byte *elements = block(program.result);
  loadFrom(program.sources[0], indices, count, elements);
  store(x.dtype, elements, count, out);
}

/// The elements of an operand by its linear indices, which are overwritten; 0 where one is negative.
void Evaluator::loadFrom(const Source &source, int64_t *at, int64_t count, std::byte *block) {
  const Node &node = graph.node(source.node);
  source.access.map(at, count);
  if (node.op == Op::Iota) {
    for (int64_t i = 0; i < count; ++i)
      at[i] = std::max<int64_t>(at[i], 0);
    fromIndices(node.type.dtype, at, count, block);
  } else {
    loadAt(node.type.dtype, memory(source.node), at, count, block);
  }
}

void Evaluator::pad(const Program &program, int64_t begin, int64_t count, std::byte *out) {
  const Node &node = graph.node(program.node);
  const Shape &shape = graph.node(node.operands[0]).type.shape;
  const graph::Attributes &a = node.attributes;
  const DType dtype = node.type.dtype;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = begin + i, index = 0, step = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      const int64_t place = rest % node.type.shape[d] - a.low[d];
      rest /= node.type.shape[d];
      const int64_t position = place / (a.interior[d] + 1);
      if (place < 0 || place % (a.interior[d] + 1) != 0 || position >= shape[d])
        index = -1;
      if (index >= 0)
        index += position * step;
      step *= shape[d];
    }
    indices[i] = index;
  }
  // The fill is the source of the places that x does not have.
  const int64_t width = heldBytes(dtype);
  std::vector<bool> isFill(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    isFill[i] = indices[i] < 0;
  std::byte *elements = block(program.result);
  loadFrom(program.sources[0], indices, count, elements);
  alignas(8) std::byte fill[8];
  int64_t first = 0;
  loadFrom(program.sources[1], &first, 1, fill);
  for (int64_t i = 0; i < count; ++i)
    if (isFill[i])
      std::memcpy(elements + i * width, fill, static_cast<size_t>(width));
  store(dtype, elements, count, out);
}

void Evaluator::concat(const Program &program, int64_t begin, int64_t count, std::byte *out) {
  const Node &node = graph.node(program.node);
  const DType dtype = node.type.dtype;
  const auto dim = static_cast<size_t>(node.attributes.dims[0]);
  int64_t inner = 1;
  for (size_t d = dim + 1; d < node.type.shape.size(); ++d)
    inner *= node.type.shape[d];
  const int64_t all = node.type.shape[dim];
  std::byte *elements = block(program.result);
  // Where each part begins; those without elements begin where the next one does.
  std::vector<int64_t> starts;
  for (int64_t start = 0; NodeId operand : node.operands) {
    starts.push_back(start);
    start += graph.node(operand).type.shape[dim] * inner;
  }
  for (int64_t i = 0; i < count;) {
    const int64_t row = (begin + i) / (all * inner), place = (begin + i) % (all * inner);
    const auto next = std::ranges::upper_bound(starts, place);
    const size_t part = next - starts.begin() - 1;
    const int64_t end = next == starts.end() ? all * inner : *next, start = starts[part];
    const int64_t run = std::min(count - i, end - place);
    for (int64_t k = 0; k < run; ++k)
      indices[k] = row * (end - start) + place - start + k;
    loadFrom(program.sources[part], indices, run, elements + i * heldBytes(dtype));
    i += run;
  }
  store(dtype, elements, count, out);
}

/// All elements of operand `operand`, held as in blocks.
std::vector<std::byte> Evaluator::loadWhole(const Program &program, size_t operand) {
  const TensorType &type = graph.node(graph.node(program.node).operands[operand]).type;
  const int64_t elements = *numElements(type.shape), width = heldBytes(type.dtype);
  std::vector<std::byte> held(static_cast<size_t>(elements * width));
  for (int64_t begin = 0; begin < elements; begin += blockElements) {
    const int64_t count = std::min(blockElements, elements - begin);
    std::iota(indices, indices + count, begin);
    loadFrom(program.sources[operand], indices, count, held.data() + begin * width);
  }
  return held;
}

void Evaluator::order(const Program &program, std::byte *out) {
  const Node &node = graph.node(program.node);
  const TensorType &type = graph.node(node.operands[0]).type;
  const int64_t elements = *numElements(node.type.shape);
  std::vector<std::byte> x = loadWhole(program, 0);
  switch (node.op) {
  case Op::Scan: {
    std::vector<std::byte> scanned(x.size());
    scan(node.attributes, type, x.data(), scanned.data());
    store(node.type.dtype, scanned.data(), elements, out);
    return;
  }
  case Op::Sort: {
    std::vector<int64_t> chosen(static_cast<size_t>(elements));
    sortOrder(node.attributes, type, x.data(), chosen.data());
    if (static_cast<graph::SortKind>(node.attributes.kind) == graph::SortKind::Indices) {
      std::memcpy(out, chosen.data(), chosen.size() * sizeof(int64_t));
      return;
    }
    const Rows rows(type.shape, node.attributes.dims[0]);
    const int64_t width = heldBytes(type.dtype);
    std::vector<std::byte> sorted(x.size());
    for (int64_t i = 0; i < elements; ++i) {
      const int64_t from = rows.at(i / (rows.extent * rows.inner), chosen[i], i % rows.inner);
      std::memcpy(sorted.data() + i * width, x.data() + from * width, width);
    }
    store(type.dtype, sorted.data(), elements, out);
    return;
  }
  case Op::Scatter: {
    const TensorType &by = graph.node(node.operands[1]).type;
    const std::vector<std::byte> held = loadWhole(program, 1);
    const int64_t count = *numElements(by.shape);
    std::vector<int64_t> at(static_cast<size_t>(count));
    toIndices(by.dtype, held.data(), count, at.data());
    scatter(node.attributes, type, x.data(), at.data(), count, loadWhole(program, 2).data());
    store(type.dtype, x.data(), elements, out);
    return;
  }
  default: {
    uint64_t seed = 0;
    std::memcpy(&seed, x.data(), sizeof seed);
    for (int64_t i = 0; i < elements; ++i) {
      const uint32_t word = randomWord(seed, static_cast<uint64_t>(i));
      std::memcpy(out + i * 4, &word, sizeof word);
    }
  }
  }
}

std::vector<HostTensor> Evaluator::takeOutputs() {
  std::unordered_map<NodeId, size_t> uses;
  for (const graph::Output &output : graph.outputs)
    ++uses[output.node];
  std::vector<HostTensor> results;
  for (const graph::Output &output : graph.outputs) {
    const Node &node = graph.node(output.node);
    if (node.op == Op::Parameter)
      results.push_back(*parameters.at(output.node));
    else if (--uses[output.node] == 0)
      results.push_back({node.type, std::move(values.at(output.node))});
    else
      results.push_back({node.type, values.at(output.node)});
  }
  return results;
}

Result<std::vector<HostTensor>> evaluate(const Graph &graph, std::span<const HostTensor> inputs,
                                         const Options &options) {
  ZYX_RETURN_IF_ERROR(graph.verify());
  if (const std::set<std::string> symbols = graph::collectSymbols(graph); !symbols.empty())
    return Status::invalidArgument("graph " + graph.name + " has the symbol " + *symbols.begin() +
                                   " without a value: specialise it before it is evaluated");
  int64_t maxBytes = options.maxBytes;
  if (maxBytes <= 0)
    maxBytes = static_cast<int64_t>(std::min<uint64_t>(usableMemory(), INT64_MAX));
  Evaluator evaluator(graph, maxBytes);
  ZYX_RETURN_IF_ERROR(evaluator.bind(inputs));
  ZYX_RETURN_IF_ERROR(evaluator.evaluate());
  return evaluator.takeOutputs();
}

} // namespace zyx::reference
