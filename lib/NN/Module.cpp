//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Module.h"

#include "zyx/IO/Safetensors.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::nn;

/// Children are nodes, so that modules can be moved.
struct Module::Node {
  bool training = true;
  Parameters parameters, buffers;
  std::vector<std::pair<std::string, std::shared_ptr<Generator>>> generators;
  std::vector<std::pair<std::string, std::shared_ptr<Node>>> children;

  /// Each once, however many modules share it.
  void collect(Parameters Node::*which, const std::string &prefix, Parameters &into) const {
    for (const NamedParameter &own : this->*which)
      if (std::ranges::find(into, own.parameter, &NamedParameter::parameter) == into.end())
        into.push_back({prefix + own.name, own.parameter});
    for (const auto &[name, child] : children)
      child->collect(which, prefix + name + ".", into);
  }
  void collectGenerators(const std::string &prefix,
                         std::vector<std::pair<std::string, std::shared_ptr<Generator>>> &into) const {
    for (const auto &[name, generator] : generators)
      into.emplace_back(prefix + name, generator);
    for (const auto &[name, child] : children)
      child->collectGenerators(prefix + name + ".", into);
  }
  Parameters everything() const {
    Parameters all;
    collect(&Node::parameters, "", all);
    collect(&Node::buffers, "", all);
    return all;
  }
  void train(bool on) {
    training = on;
    for (const auto &[name, child] : children)
      child->train(on);
  }
  void expectFree(const std::string &name, const Place &where) const {
    bool isTaken = false;
    for (const Parameters *own : {&parameters, &buffers})
      for (const NamedParameter &named : *own)
        isTaken |= named.name == name;
    for (const auto &[other, child] : children)
      isTaken |= other == name;
    for (const auto &[other, generator] : generators)
      isTaken |= other == name;
    if (isTaken)
      throw Error(Status::invalidArgument("module: there are two parameters or children of the name '" + name + "'"), where);
    if (name.empty() || name.find('.') != std::string::npos)
      throw Error(Status::invalidArgument("module: '" + name + "' is no name: it is empty or has a dot"), where);
  }
};

Module::Module() : node(std::make_shared<Node>()) {}

Parameter Module::add(std::string name, const Tensor &first, Place where) {
  node->expectFree(name, where);
  return node->parameters.emplace_back(NamedParameter{std::move(name), Parameter(first, where)}).parameter;
}

Parameter Module::addBuffer(std::string name, const Tensor &first, Place where) {
  node->expectFree(name, where);
  return node->buffers.emplace_back(NamedParameter{std::move(name), Parameter(first, where)}).parameter;
}

std::shared_ptr<Generator> Module::addGenerator(std::string name, uint64_t seed, Place where) {
  node->expectFree(name, where);
  return node->generators.emplace_back(std::move(name), std::make_shared<Generator>(seed)).second;
}

void Module::adopt(std::string name, const Module &child, const Place &where) {
  node->expectFree(name, where);
  node->children.emplace_back(std::move(name), child.node);
}

Parameters Module::parameters() const {
  Parameters all;
  node->collect(&Node::parameters, "", all);
  return all;
}

Parameters Module::buffers() const {
  Parameters all;
  node->collect(&Node::buffers, "", all);
  return all;
}

std::vector<std::pair<std::string, std::shared_ptr<Generator>>> Module::generators() const {
  std::vector<std::pair<std::string, std::shared_ptr<Generator>>> all;
  node->collectGenerators("", all);
  return all;
}

void Module::train(bool on) { node->train(on); }
bool Module::isTraining() const { return node->training; }

NamedTensors Module::state() const {
  NamedTensors state;
  for (const auto &[name, parameter] : node->everything())
    state[name] = *parameter;
  return state;
}

NamedTensors Module::latestState() const {
  NamedTensors state;
  for (const auto &[name, parameter] : node->everything())
    state[name] = parameter.latest();
  return state;
}

void Module::load(const NamedTensors &given, Place where) {
  expectNames(latestState(), given, "the module's state", where);
  std::vector<Tensor> values;
  for (const auto &[name, parameter] : node->everything())
    values.push_back(copyBeside(parameter.latest(where), given.at(name), where));
  size_t i = 0;
  for (const auto &[name, parameter] : node->everything())
    parameter.set(std::move(values[i++]), where);
}

void Module::save(const std::string &path, Place where) const { saveTensors(path, state(), where); }
void Module::load(const std::string &path, Place where) { load(loadTensors(path, where), where); }

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Of which no tensor is left out.
static io::SafetensorsFile openWhole(const std::string &path, const Place &where) {
  io::SafetensorsFile file = valueOrThrow(io::SafetensorsFile::open(path), where);
  if (!file.unsupported().empty())
    throwIfError(file.read(file.unsupported().begin()->first).status(), where);
  return file;
}

NamedTensors zyx::nn::loadTensors(const std::string &path, Place where) {
  const io::SafetensorsFile file = openWhole(path, where);
  NamedTensors tensors;
  for (const io::SafetensorsFile::Entry &entry : file.tensors()) {
    const HostTensor value = valueOrThrow(file.read(entry.name), where);
    tensors[entry.name] = Tensor::fromBytes(value.type, value.data, where);
  }
  return tensors;
}

NamedTensors zyx::nn::mapTensors(const std::string &path, Place where) {
  const io::SafetensorsFile file = openWhole(path, where);
  const std::shared_ptr<const FileMapping> mapping = valueOrThrow(file.map(), where);
  NamedTensors tensors;
  for (const io::SafetensorsFile::Entry &entry : file.tensors()) {
    // Bools of a file may be bytes that are none.
    tensors[entry.name] =
        entry.type.dtype == DType::Bool
            ? Tensor::fromBytes(entry.type, valueOrThrow(file.read(entry.name), where).data, where)
            : Tensor::borrow(entry.type, mapping->bytes().subspan(entry.offset, entry.size), mapping, where);
  }
  return tensors;
}

void zyx::nn::saveTensors(const std::string &path, const NamedTensors &tensors, Place where) {
  std::vector<std::pair<std::string, HostTensor>> values;
  for (const auto &[name, tensor] : tensors)
    values.emplace_back(name, HostTensor{tensor.type(), tensor.bytes(where)});
  throwIfError(io::writeSafetensors(path, values), where);
}

//===----------------------------------------------------------------------===//
// Sequential
//===----------------------------------------------------------------------===//

Tensor Sequential::operator()(const Tensor &x, Place where) const {
  Tensor value = x;
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string name = "Sequential " + std::to_string(i);
    if (!layers[i])
      throw Error(Status::invalidArgument(name + ": there is no function in this place"), where);
    value = callFor(name, where, [&] { return layers[i](value); });
  }
  return value;
}
