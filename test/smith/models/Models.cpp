//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Models.h"

#include "smith/WriteProgram.h"
#include "smith/models/Sketch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace zyx::smith {

static constexpr std::string_view scaleNames[] = {"full", "host", "small"};

std::string_view toString(Scale scale) { return scaleNames[static_cast<size_t>(scale)]; }
std::optional<Scale> parseScale(std::string_view name) {
  for (size_t i = 0; i < std::size(scaleNames); ++i)
    if (scaleNames[i] == name)
      return static_cast<Scale>(i);
  return std::nullopt;
}
std::string_view toString(Values::Kind kind) {
  static constexpr std::string_view names[] = {"normal", "uniform", "ascending", "mask"};
  return names[static_cast<size_t>(kind)];
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::vector<Family> allFamilies() {
  std::vector<Family> all;
  for (std::span<const Family> part : {rowFamilies(), attentionFamilies(), imageFamilies(), sequenceFamilies()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<std::string_view> modelFamilies() {
  std::vector<std::string_view> names;
  for (const Family &family : allFamilies())
    names.push_back(family.name);
  return names;
}

/// All families once, in an order of their own, and then again.
static Family familyOf(uint64_t seed, uint64_t index) {
  std::vector<Family> all = allFamilies();
  const uint64_t round = index / all.size();
  conformance::Random random(seed ^ (round * 0xbf58476d1ce4e5b9u));
  for (size_t i = all.size() - 1; i > 0; --i)
    std::swap(all[i], all[static_cast<size_t>(random.below(static_cast<int64_t>(i) + 1))]);
  return all[index % all.size()];
}

static Result<ModelProgram> make(const Family &family, ModelProgram program) {
  try {
    const Context context({.device = "cpu", .threads = 1, .cacheFolder = "", .progress = false});
    const ContextScope scope(context);
    Sketch sketch(program, context);
    family.draw(sketch);
    ZYX_RETURN_IF_ERROR(sketch.finish());
  } catch (const Error &error) {
    return Status::internal(nameOf(program) + ": " + error.what());
  }
  return program;
}

/// How many batches a program has to be given so that a card takes about a millisecond for it, as a power of two: no
/// more than fit beside PyTorch's own values, and one where it takes so long already.
static int64_t batchesToFill(const ModelProgram &program) {
  constexpr double bytesPerSecond = 4e12, fastProducts = 1e15, wideProducts = 67e12, wanted = 1e-3, mostBytes = 6e9;
  constexpr int64_t most = 64;
  double bytes = std::accumulate(program.written.begin(), program.written.end(), 0.0);
  for (const ModelInput &input : program.inputs)
    bytes += static_cast<double>(input.bytes);
  const bool isWide = program.products.value_or(program.dtype) == DType::F32;
  const double takes = std::max(bytes / bytesPerSecond, program.flops / (isWide ? wideProducts : fastProducts));
  int64_t batches = 1;
  while (batches < most && takes * static_cast<double>(batches) < wanted &&
         bytes * static_cast<double>(batches) * 2 <= mostBytes)
    batches *= 2;
  return batches;
}

Result<ModelProgram> drawModel(uint64_t seed, uint64_t index, Scale scale) {
  const Family family = familyOf(seed, index);
  ModelProgram program;
  program.family = family.name;
  program.seed = seed;
  program.index = index;
  program.scale = scale;
  ZYX_ASSIGN_OR_RETURN(ModelProgram drawn, make(family, program));
  // As they are drawn most take a card less than a millisecond, so half of them may grow.
  conformance::Random random(seed * 0xd1342543de82ef95u + index);
  if (scale != Scale::Full || !random.chance(0.5))
    return drawn;
  program.batches = batchesToFill(drawn);
  return program.batches == 1 ? std::move(drawn) : make(family, program);
}

static std::span<const Family> programsOf(FixedList list) {
  return list == FixedList::Networks ? networks() : workloads();
}

std::vector<std::string_view> namesOf(FixedList list) {
  std::vector<std::string_view> names;
  for (const Family &program : programsOf(list))
    names.push_back(program.name);
  return names;
}

Result<ModelProgram> makeFixed(FixedList list, uint64_t index, Scale scale) {
  const bool isNetwork = list == FixedList::Networks;
  const std::span<const Family> all = programsOf(list);
  if (index >= all.size())
    return Status::invalidArgument("there are " + std::to_string(all.size()) +
                                   (isNetwork ? " networks" : " workloads"));
  ModelProgram program;
  program.family = isNetwork ? "network" : "workload";
  program.variant = all[index].name;
  program.index = index;
  program.scale = scale;
  // What is compared with the interpreter has all digits; processors have libraries for f32.
  program.dtype = scale == Scale::Small || (scale == Scale::Host && !isNetwork) ? DType::F32 : DType::BF16;
  return make(all[index], std::move(program));
}

std::string nameOf(const ModelProgram &program) {
  return program.family + "." + program.variant + (program.hasGradients ? ".gradients" : "") + ", seed " +
         std::to_string(program.seed) + ", index " + std::to_string(program.index);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static double drawElement(const ModelInput &input, int64_t position, conformance::Random &random) {
  const Values &values = input.values;
  switch (values.kind) {
  case Values::Kind::Normal: {
    // By Box and Muller.
    const double length = std::sqrt(-2 * std::log(1 - random.unit()));
    return values.a + values.b * length * std::cos(2 * 3.14159265358979323846 * random.unit());
  }
  case Values::Kind::Uniform:
  case Values::Kind::Ascending: {
    const double value = values.a + (values.b - values.a) * random.unit();
    return isFloat(input.type.dtype) ? value : std::floor(value);
  }
  case Values::Kind::Mask:
    return random.chance(values.a) || position % input.type.shape.back() == 0;
  }
  return 0;
}

std::vector<HostTensor> drawValues(const ModelProgram &program) {
  conformance::Random random(program.seed * 31 + program.index);
  std::vector<HostTensor> made;
  for (const ModelInput &input : program.inputs) {
    std::vector<double> values(static_cast<size_t>(*numElements(input.type.shape)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = drawElement(input, static_cast<int64_t>(i), random);
    if (input.values.kind == Values::Kind::Ascending)
      for (auto row = values.begin(); row != values.end(); row += input.type.shape.back())
        std::sort(row, row + input.type.shape.back());
    made.push_back(conformance::makeTensor(input.type.dtype, input.type.shape, values));
  }
  return made;
}

double toleranceOf(const ModelProgram &program) {
  // Digits of the dtype, and what a chain of sums loses of them.
  const double rounding = program.dtype == DType::BF16 ? 0x1p-8 : program.dtype == DType::F16 ? 0x1p-11 : 0x1p-20;
  // A step of a whole network is such a chain forth and back, and divides by what it made.
  return (program.hasGradients && program.family == "network" ? 32 : 8) * rounding;
}

conformance::Program toProgram(const ModelProgram &model) { return {model.graph, drawValues(model)}; }

/// What the largest element of a result would be if the terms that it sums up did not cancel; none where it is no sum.
/// The gradient of a bias of keys is a sum of gradients of scores, which add up to zero: all that is left of it is what
/// rounding made of its terms.
static std::optional<conformance::NodeId> sizeOfTerms(conformance::Builder &b, conformance::NodeId result) {
  const TensorType type = b.type(result);
  conformance::NodeId sum = result;
  const auto isRenamed = [&] {
    const graph::Op op = b.graph().node(sum).op;
    return op == graph::Op::Cast || op == graph::Op::Reshape || op == graph::Op::Permute;
  };
  while (isRenamed())
    sum = b.graph().node(sum).operands[0];
  const graph::Node &node = b.graph().node(sum);
  if (node.op != graph::Op::Reduce || static_cast<graph::ReduceKind>(node.attributes.kind) != graph::ReduceKind::Add ||
      !isFloat(type.dtype))
    return std::nullopt;
  const conformance::NodeId x = node.operands[0];
  const std::vector<int64_t> dims = node.attributes.dims;
  const conformance::NodeId terms = b.unary(graph::UnaryKind::Abs, b.cast(x, DType::F64));
  const conformance::NodeId sums = b.reduce(graph::ReduceKind::Add, terms, dims);
  std::vector<int64_t> all(b.type(sums).shape.size());
  std::iota(all.begin(), all.end(), 0);
  const conformance::NodeId largest = b.reduce(graph::ReduceKind::Max, sums, all);
  return b.expand(b.reshape(largest, Shape(type.shape.size(), 1)), type.shape);
}

static Status addCase(std::vector<conformance::Case> &cases, const ModelProgram &model) {
  ZYX_ASSIGN_OR_RETURN(const graph::Body body, graph::Body::create(model.graph));
  conformance::Case made;
  made.name = nameOf(model);
  made.build = [body, values = drawValues(model)](conformance::Builder &b) {
    std::vector<conformance::NodeId> inputs;
    for (const HostTensor &value : values)
      inputs.push_back(b.input(value));
    const std::vector<conformance::NodeId> results = b.inlined(body, inputs);
    for (const conformance::NodeId result : results)
      if (const std::optional<conformance::NodeId> size = sizeOfTerms(b, result))
        b.setSize(result, *size);
    return results;
  };
  made.seed = model.seed + model.index;
  made.tolerance = toleranceOf(model);
  cases.push_back(std::move(made));
  return Status::ok();
}

Status addModelCases(std::vector<conformance::Case> &cases, uint64_t seed, uint64_t first, int64_t count, Scale scale) {
  for (uint64_t index = first; index < first + static_cast<uint64_t>(count); ++index) {
    ZYX_ASSIGN_OR_RETURN(const ModelProgram model, drawModel(seed, index, scale));
    ZYX_RETURN_IF_ERROR(addCase(cases, model));
  }
  return Status::ok();
}

Status addFixedCases(std::vector<conformance::Case> &cases, FixedList list, uint64_t first, int64_t count,
                     Scale scale) {
  for (uint64_t index = first; index < first + static_cast<uint64_t>(count); ++index) {
    ZYX_ASSIGN_OR_RETURN(const ModelProgram model, makeFixed(list, index, scale));
    ZYX_RETURN_IF_ERROR(addCase(cases, model));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n')
      result += "\\n";
    else if (static_cast<unsigned char>(c) < 32)
      result += ' ';
    else
      result += c;
  }
  return result + "\"";
}
static std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}
static std::string list(const Shape &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : ",") + std::to_string(extent);
  return "[" + text + "]";
}

std::string toJson(const ModelProgram &program) {
  std::string sizes, inputs, outputs;
  for (const auto &[name, value] : program.sizes)
    sizes += (sizes.empty() ? "" : ",") + ("[" + quoted(name)) + "," + std::to_string(value) + "]";
  for (const ModelInput &input : program.inputs)
    inputs += (inputs.empty() ? "" : ",") + ("{\"name\":" + quoted(input.name)) +
              ",\"dtype\":" + quoted(toString(input.type.dtype)) + ",\"shape\":" + list(input.type.shape) +
              ",\"values\":[" + quoted(toString(input.values.kind)) + "," + number(input.values.a) + "," +
              number(input.values.b) + "],\"weight\":" + (input.isWeight ? "true" : "false") +
              ",\"bytes\":" + std::to_string(input.bytes) + ",\"donated_to\":" + std::to_string(input.donatedTo) + "}";
  for (size_t i = 0; i < program.graph.outputs.size(); ++i) {
    const TensorType &type = program.graph.node(program.graph.outputs[i].node).type;
    outputs += (outputs.empty() ? "" : ",") + ("{\"dtype\":" + quoted(toString(type.dtype))) +
               ",\"shape\":" + list(type.shape) + ",\"bytes\":" + std::to_string(program.written[i]) + "}";
  }
  return "{\"family\":" + quoted(program.family) + ",\"variant\":" + quoted(program.variant) +
         ",\"seed\":" + std::to_string(program.seed) + ",\"index\":" + std::to_string(program.index) +
         ",\"scale\":" + quoted(toString(program.scale)) + ",\"dtype\":" + quoted(toString(program.dtype)) +
         ",\"gradients\":" + (program.hasGradients ? "true" : "false") + ",\"sizes\":[" + sizes + "],\"inputs\":[" +
         inputs + "],\"outputs\":[" + outputs + "],\"flops\":" + number(program.flops) +
         ",\"products\":" + quoted(toString(program.products.value_or(program.dtype))) +
         ",\"sorted\":" + std::to_string(program.sorted) + ",\"trips\":" + std::to_string(program.trips) +
         ",\"may_differ\":" + number(program.mayDiffer) + ",\"python\":" + quoted(program.python) +
         ",\"text\":" + quoted(toText(program.graph)) + "}";
}

} // namespace zyx::smith
