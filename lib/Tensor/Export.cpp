//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Export.h"

#include "Detail.h"
#include "WatchedCompilation.h"

#include "zyx/Artifact/Bake.h"
#include "zyx/Artifact/CSource.h"

#include <algorithm>
#include <set>

using namespace zyx;
using namespace zyx::detail;

namespace {

/// The names that are given, and others behind them; no two are the same.
Result<std::vector<std::string>> complete(std::vector<std::string> names, size_t count, const std::string &prefix,
                                          std::set<std::string> &taken) {
  if (names.size() > count)
    return Status::invalidArgument("export: " + std::to_string(names.size()) + " names of " + std::to_string(count));
  for (const std::string &name : names)
    if (name.empty() || !taken.insert(name).second)
      return Status::invalidArgument("export: the name '" + name + "' is empty or given twice");
  for (size_t i = names.size(); i < count; ++i) {
    std::string name = prefix + std::to_string(i);
    while (!taken.insert(name).second)
      name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

} // namespace

Result<graph::Graph> State::exportGraph(const Exporting &wanted, std::vector<std::pair<std::string, Tensor>> &values,
                                        std::string &target) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  const std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(wanted.arguments));
  ZYX_RETURN_IF_ERROR(checkMine(wanted.results));
  settle();
  std::set<std::string> taken, outputs;
  ZYX_ASSIGN_OR_RETURN(const std::vector<std::string> inputNames,
                       complete(wanted.inputNames, wanted.arguments.size(), "in", taken));
  ZYX_ASSIGN_OR_RETURN(const std::vector<std::string> outputNames,
                       complete(wanted.outputNames, wanted.results.size(), "out", outputs));
  graph::Graph made;
  made.name = wanted.entry;
  std::unordered_map<NodeId, NodeId> copies;
  uint16_t device = anywhere;
  const auto meet = [&](uint16_t other) {
    if (device == anywhere)
      device = other;
    return other == anywhere || other == device;
  };
  const Status apart = Status::unsupported("export: the tensors lie on several devices, and a program is of one");
  // An argument that nobody reads is an input all the same.
  for (size_t i = 0; i < wanted.arguments.size(); ++i) {
    const NodeId node = nodeOf(wanted.arguments[i]);
    ZYX_ASSIGN_OR_RETURN(const NodeId input, made.parameter(inputNames[i], graph.node(node).type));
    made.inputs.push_back(input);
    copies.emplace(node, input);
    if (!meet(states[node].device))
      return apart;
  }
  std::unordered_map<NodeId, Tensor> bound;
  for (const auto &[placeholder, value] : wanted.bound)
    bound.emplace(nodeOf(placeholder), value);
  const auto leafOf = [&](NodeId id) -> Result<std::optional<NodeId>> {
    const auto parameter = bound.find(id);
    const Tensor value = parameter != bound.end() ? parameter->second : states[id].value ? makeTensor(id) : Tensor();
    if (!value.isDefined()) {
      const NodeId from = graph.node(id).op == Op::Transfer ? graph.node(id).operands[0] : id;
      if (!meet(states[id].device) || !meet(states[from].device))
        return apart;
      return std::optional<NodeId>();
    }
    const NodeId node = nodeOf(value);
    if (!meet(states[node].device))
      return apart;
    ZYX_RETURN_IF_ERROR(takeFailure(node));
    if (states[node].value->size() > static_cast<uint64_t>(graph::maxConstantBytes)) {
      std::string name = "value" + std::to_string(values.size());
      while (!taken.insert(name).second)
        name += "_";
      ZYX_ASSIGN_OR_RETURN(const NodeId input, made.parameter(name, value.type()));
      made.inputs.push_back(input);
      values.emplace_back(name, value);
      return std::optional(input);
    }
    std::vector<std::byte> bytes(states[node].value->size());
    ZYX_RETURN_IF_ERROR(states[node].value->read(bytes));
    ZYX_ASSIGN_OR_RETURN(const NodeId constant, made.constant(value.type(), std::move(bytes)));
    return std::optional(constant);
  };
  for (size_t i = 0; i < wanted.results.size(); ++i) {
    const NodeId node = nodeOf(wanted.results[i]);
    ZYX_RETURN_IF_ERROR(copyInto(made, copies, node, leafOf));
    made.outputs.push_back({outputNames[i], copies.at(node)});
  }
  // The interpreter has none.
  if (const Home &home = homes[device == anywhere ? currentDevice() : device]; target.empty() && home.device)
    target = home.target;
  ZYX_RETURN_IF_ERROR(made.verify());
  return made;
}

Result<std::vector<std::byte>> State::compileAlone(const graph::Graph &wanted, const session::CompileOptions &how) {
  const WatchedCompilation watched(options.progress);
  ZYX_ASSIGN_OR_RETURN(session::Compiled compiled, session.compile(wanted, how, nullptr, &watched.callbacks()));
  return std::move(compiled.output);
}

Exported zyx::exportProgram(const Jit::Function &function, Tensors arguments, ExportForm form,
                            const ExportOptions &options, Place where) {
  const std::span<const Tensor> given = arguments;
  if (!function)
    refuse("export: there is no function", where);
  for (const Tensor &argument : given)
    if (!argument.isDefined())
      refuse("export: there is no tensor in this place", where);
  const std::shared_ptr<State> state = given.empty() ? State::current(where) : State::handleOf(given[0])->state;
  std::vector<Tensor> placeholders, results;
  for (const Tensor &argument : given)
    placeholders.push_back(valueOrThrow(state->addPlaceholder(argument.type(), argument, /*isPlaced=*/true), where));
  State::Exporting wanted;
  std::vector<std::pair<Tensor, Parameter>> read;
  {
    CaptureScope scope(state);
    results = function(placeholders);
    if (!scope.parameters.seeds.empty())
      refuse("export: the function draws numbers from a Generator, which is no part of a program; give it a seed as an "
             "argument",
             where);
    for (const ParameterScope::Entry &entry : scope.parameters.entries) {
      if (entry.isSet)
        refuse("export: the function sets a parameter, which nobody would keep; eval() of a module sets none", where);
      if (!entry.isInlined)
        read.emplace_back(entry.first, entry.parameter);
    }
  }
  if (results.empty())
    refuse("export: the function returns no tensor", where);
  for (const Tensor &result : results)
    if (!result.isDefined())
      refuse("export: the function returns no tensor in one place", where);
  wanted.arguments = placeholders;
  wanted.results = results;
  wanted.inputNames = options.inputs;
  wanted.outputNames = options.outputs;
  wanted.entry = options.entry;
  // What else the function reads and is not computed is a part of the program.
  std::vector<Tensor> bound;
  for (const auto &[placeholder, parameter] : read) {
    bound.push_back(parameter.value(where));
    wanted.bound.emplace_back(placeholder, bound.back());
  }
  if (!bound.empty())
    throwIfError(state->realize(bound, where), where);
  session::CompileOptions compile;
  compile.target = form == ExportForm::CSource ? "c" : form == ExportForm::Text ? "cpu" : options.target;
  compile.isa = options.isa;
  compile.cSource = form == ExportForm::CSource;
  if (form == ExportForm::Text)
    compile.stopAfter = "graph";
  Exported made;
  graph::Graph graph = valueOrThrow(state->exportGraph(wanted, made.values, compile.target), where);
  if (compile.target.empty())
    refuse("export: the arguments lie on the interpreter, which has no code; name a target", where);
  // What depends on constants alone an artifact computes once, and a function of C, which keeps nothing, in each call.
  if (form == ExportForm::Artifact)
    graph.numWeights = made.values.size();
  made.bytes = valueOrThrow(state->compileAlone(graph, compile), where);
  if (form == ExportForm::Text)
    return made;
  std::vector<std::vector<std::byte>> values;
  for (const auto &[name, value] : std::exchange(made.values, {}))
    values.push_back(value.bytes(where));
  const artifact::Artifact program =
      valueOrThrow(artifact::bake(valueOrThrow(artifact::Artifact::deserialize(made.bytes), where), values), where);
  if (form == ExportForm::Artifact) {
    made.bytes = program.serialize();
    return made;
  }
  const std::string source = valueOrThrow(artifact::printCSource(program), where);
  const auto bytes = std::as_bytes(std::span(source));
  made.bytes.assign(bytes.begin(), bytes.end());
  return made;
}
