//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Evaluate.h"

#include "Bounds.h"
#include "zyx/Reference/Reference.h"

#include <algorithm>

namespace zyx::conformance {

namespace {

/// Some cases in one graph.
struct Packed {
  Program program;
  /// Per case, its first output among the graph's, and how many it has.
  std::vector<std::pair<size_t, size_t>> places;
  /// Per case.
  std::vector<bool> strict;
  std::vector<double> tolerances;
  /// Per output.
  std::vector<std::optional<NodeId>> sizes;
};

Packed pack(const std::vector<Case> &cases, std::span<const size_t> indices) {
  Packed packed;
  graph::Graph &graph = packed.program.graph;
  for (size_t index : indices) {
    Builder builder(packed.program, cases[index].name);
    builder.random = Random(index * 7919 + 1);
    const std::vector<NodeId> outputs = cases[index].build(builder);
    packed.places.emplace_back(graph.outputs.size(), outputs.size());
    packed.strict.push_back(cases[index].strict);
    packed.tolerances.push_back(cases[index].tolerance);
    for (size_t i = 0; i < outputs.size(); ++i) {
      graph.outputs.push_back({cases[index].name + "." + std::to_string(i), outputs[i]});
      packed.sizes.push_back(builder.sizeOf(outputs[i]));
    }
  }
  return packed;
}

/// What the reference answers, and the bounds it computes beside. `asked`: the roundings that these depend on.
Result<std::vector<Expected>> expect(const Packed &packed, const Roundings &roundings, Roundings &asked) {
  Program program = packed.program;
  graph::Graph &graph = program.graph;
  Builder builder(program, "bounds");
  Bounds bounds(builder, roundings);
  const std::vector<graph::Output> outputs = graph.outputs;
  std::vector<Expected> expected(outputs.size());
  // Where among the graph's outputs the bound or the size of each is.
  std::vector<int64_t> boundAt(outputs.size(), -1), sizeAt(outputs.size(), -1);
  for (size_t place = 0; place < packed.places.size(); ++place)
    for (size_t i = 0; i < packed.places[place].second; ++i) {
      expected[packed.places[place].first + i].strict = packed.strict[place];
      expected[packed.places[place].first + i].tolerance = packed.tolerances[place];
    }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (expected[i].tolerance != 0) {
      if (packed.sizes[i]) {
        sizeAt[i] = static_cast<int64_t>(graph.outputs.size());
        graph.outputs.push_back({"size." + std::to_string(i), builder.cast(*packed.sizes[i], DType::F64)});
      }
      continue;
    }
    expected[i].function = ulpFunction(builder, bounds, outputs[i].node);
    if (!expected[i].function.empty())
      continue;
    if (const std::optional<NodeId> bound = bounds.of(outputs[i].node)) {
      boundAt[i] = static_cast<int64_t>(graph.outputs.size());
      graph.outputs.push_back({"bound." + std::to_string(i), *bound});
    }
  }
  asked = bounds.asked();
  ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> values, reference::evaluate(graph, program.tensors));
  for (size_t i = 0; i < outputs.size(); ++i) {
    expected[i].value = std::move(values[i]);
    if (boundAt[i] >= 0)
      expected[i].bound = std::move(values[static_cast<size_t>(boundAt[i])]);
    if (sizeAt[i] >= 0)
      expected[i].size = std::move(values[static_cast<size_t>(sizeAt[i])]);
  }
  return expected;
}

/// What is known already, or what is found out now.
const Result<std::vector<Expected>> &expect(const Packed &packed, const Device &device, Expectations &shared) {
  const Roundings allowed = device.roundings();
  if (const Expectations::Known *known = shared.find(allowed))
    return known->expected;
  Roundings asked;
  Result<std::vector<Expected>> expected = expect(packed, allowed, asked);
  return shared.add({allowed, asked, std::move(expected)}).expected;
}

std::string describe(const graph::Output &output, const HostTensor &got, const Expected &expected,
                     const Difference &difference) {
  std::string text = output.name + " : " + toString(expected.value.type) + ", " + std::to_string(difference.numWrong) +
                     " wrong, first element " + std::to_string(difference.element) + ": got " +
                     describeElement(got, difference.element) + ", wanted " +
                     describeElement(expected.value, difference.element);
  if (expected.bound)
    text += ", bound " + describeElement(*expected.bound, difference.element);
  if (expected.size)
    text += ", size of its terms " + describeElement(*expected.size, difference.element);
  if (!expected.function.empty())
    text += ", " + std::to_string(difference.ulps) + " ULP";
  return text + "\n";
}

/// The elements of inputs that have the shape of the output, at its wrong element.
std::string describeInputs(const Packed &packed, const Expected &expected, int64_t element) {
  std::string text;
  for (size_t i = 0; i < packed.program.tensors.size(); ++i) {
    const HostTensor &input = packed.program.tensors[i];
    if (input.type.shape == expected.value.type.shape)
      text += "  input " + std::to_string(i) + " there: " + describeElement(input, element) + "\n";
  }
  return text;
}

/// Compares the outputs of one case; every bit where `isExact`.
Verdict judge(const Packed &packed, size_t place, const std::vector<HostTensor> &got,
              const std::vector<Expected> &bounded, bool isExact) {
  Verdict verdict;
  const auto [first, count] = packed.places[place];
  for (size_t i = first; i < first + count; ++i) {
    Expected exact;
    if (isExact) {
      exact.value = bounded[i].value;
      exact.strict = bounded[i].strict;
    }
    const Expected &expected = isExact ? exact : bounded[i];
    const Difference difference = compare(got[i], expected);
    verdict.numFree += difference.numFree;
    if (!expected.function.empty()) {
      int64_t &largest = verdict.ulps[expected.function];
      largest = std::max(largest, difference.ulps);
    }
    if (difference.element < 0)
      continue;
    verdict.outcome = Outcome::Wrong;
    verdict.text += describe(packed.program.graph.outputs[i], got[i], expected, difference);
    if (packed.places.size() == 1)
      verdict.text += describeInputs(packed, expected, difference.element);
  }
  return verdict;
}

/// Of a graph that has no results. An internal error is nobody's decision.
Verdict judge(const Status &failure) {
  const bool isWrong = failure.code() == ErrorCode::Internal;
  return {0, 0, isWrong ? Outcome::Wrong : Outcome::Refused, 0, failure.toString(), {}};
}

} // namespace

const Expectations::Known *Expectations::find(const Roundings &roundings) const {
  const auto isAsGood = [&](const Known &made, bool Roundings::*rounding) {
    return !(made.asked.*rounding) || made.allowed.*rounding == roundings.*rounding;
  };
  for (const std::unique_ptr<Known> &made : known)
    if (isAsGood(*made, &Roundings::ofWeights) && isAsGood(*made, &Roundings::ofResults))
      return made.get();
  return nullptr;
}

Verdict runProgram(const Program &program, bool strict, Device &device, double tolerance) {
  const size_t numOutputs = program.graph.outputs.size();
  const Packed packed{
      program, {{0, numOutputs}}, {strict}, {tolerance}, std::vector<std::optional<NodeId>>(numOutputs)};
  const Result<std::vector<HostTensor>> got = device.run(program.graph, program.tensors);
  if (!got.isOk())
    return judge(got.status());
  if (device.isCompiler())
    return {};
  Expectations own;
  const Result<std::vector<Expected>> &expected = expect(packed, device, own);
  if (!expected.isOk())
    return {0, 0, Outcome::Wrong, 0, "the reference fails: " + expected.status().toString(), {}};
  return judge(packed, 0, *got, *expected, /*isExact=*/false);
}

void runBatch(const std::vector<Case> &cases, std::span<const size_t> indices, Device &device,
              const std::function<void(const Verdict &)> &report, Expectations *shared) {
  if (indices.empty())
    return;
  Expectations own;
  const bool alone = indices.size() == 1;
  const auto send = [&](size_t index, Verdict verdict) {
    verdict.index = index;
    report(verdict);
  };
  Packed packed = pack(cases, indices);
  device.setSeed(cases[indices[0]].seed);
  const Result<std::vector<HostTensor>> got = device.run(packed.program.graph, packed.program.tensors);
  if (!got.isOk()) {
    if (alone)
      return send(indices[0], judge(got.status()));
    runBatch(cases, indices.first(indices.size() / 2), device, report);
    return runBatch(cases, indices.subspan(indices.size() / 2), device, report);
  }
  if (device.isCompiler()) {
    for (size_t index : indices)
      send(index, {});
    return;
  }
  const Result<std::vector<Expected>> &expected = expect(packed, device, shared ? *shared : own);
  if (!expected.isOk() || got->size() != packed.program.graph.outputs.size()) {
    for (size_t index : indices)
      send(index, {0,
                   0,
                   Outcome::Wrong,
                   0,
                   expected.isOk() ? "the device gives another number of outputs"
                                   : "the reference fails: " + expected.status().toString(),
                   {}});
    return;
  }
  for (size_t place = 0; place < indices.size(); ++place) {
    Verdict verdict = judge(packed, place, *got, *expected, device.isExact());
    if (verdict.outcome == Outcome::Wrong && alone)
      verdict.text += printGraph(packed.program.graph);
    if (verdict.outcome != Outcome::Wrong || alone) {
      send(indices[place], std::move(verdict));
      continue;
    }
    runBatch(cases, indices.subspan(place, 1), device, [&](const Verdict &single) {
      if (single.outcome == Outcome::Wrong)
        return send(indices[place], single);
      verdict.text += "right when it runs alone, wrong in one graph with " + cases[indices[0]].name + " .. " +
                      cases[indices.back()].name;
      send(indices[place], verdict);
    });
  }
}

} // namespace zyx::conformance
