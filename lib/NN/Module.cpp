//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Module.h"

#include "zyx/Base/Float.h"
#include "zyx/IO/Safetensors.h"
#include "zyx/NN/Gguf.h"
#include "zyx/Tensor/Files.h"
#include "zyx/Tensor/Jit.h"

#include <algorithm>
#include <cstring>
#include <set>

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
  /// Whether that one is this or below it.
  bool reaches(const Node *wanted) const {
    std::set<const Node *> seen;
    std::vector<const Node *> left = {this};
    while (!left.empty()) {
      const Node *const node = left.back();
      left.pop_back();
      if (node == wanted)
        return true;
      if (seen.insert(node).second)
        for (const auto &[name, child] : node->children)
          left.push_back(child.get());
    }
    return false;
  }
  void expectAbove(const Node &child, const std::string &name, const Place &where) const {
    if (child.reaches(this))
      throw Error(Status::invalidArgument("module: the child '" + name +
                                          "' is the module itself or has it below, so that names would have no end"),
                  where);
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
      throw Error(Status::invalidArgument("module: there are two parameters or children of the name '" + name + "'"),
                  where);
    if (name.empty() || name.find('.') != std::string::npos)
      throw Error(Status::invalidArgument("module: '" + name + "' is no name: it is empty or has a dot"), where);
  }
};

Module::Module() : node(std::make_shared<Node>()) {}

Parameter Module::add(std::string name, const Tensor &first, Place where) {
  node->expectFree(name, where);
  return node->parameters.emplace_back(NamedParameter{std::move(name), Parameter(first, where)}).parameter;
}

Parameter Module::add(std::string name, Initial first, Place where) {
  node->expectFree(name, where);
  return node->parameters.emplace_back(NamedParameter{std::move(name), Parameter(std::move(first), where)}).parameter;
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
  node->expectAbove(*child.node, name, where);
  node->children.emplace_back(std::move(name), child.node);
}

Parameter Module::put(std::string name, const Tensor &first, Place where) {
  const Parameter made(first, where);
  const auto own = std::ranges::find(node->parameters, name, &NamedParameter::name);
  if (own != node->parameters.end())
    return own->parameter = made;
  remove(name);
  node->expectFree(name, where);
  return node->parameters.emplace_back(NamedParameter{std::move(name), made}).parameter;
}

void Module::put(std::string name, const Module &child, Place where) {
  node->expectAbove(*child.node, name, where);
  const auto own = std::ranges::find(node->children, name, &decltype(node->children)::value_type::first);
  if (own != node->children.end()) {
    own->second = child.node;
    return;
  }
  remove(name);
  adopt(std::move(name), child, where);
}

void Module::putPlace(std::string name, const Parameter &parameter, bool isBuffer, Place where) {
  if (!parameter.isDefined())
    throw Error(Status::invalidArgument("module: there is no parameter in the place of '" + name + "'"), where);
  remove(name);
  node->expectFree(name, where);
  (isBuffer ? node->buffers : node->parameters).push_back({std::move(name), parameter});
}

void Module::remove(const std::string &name) {
  for (Parameters *own : {&node->parameters, &node->buffers})
    std::erase_if(*own, [&](const NamedParameter &named) { return named.name == name; });
  const auto isIt = [&](const auto &named) { return named.first == name; };
  std::erase_if(node->generators, isIt);
  std::erase_if(node->children, isIt);
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

std::vector<std::string> Module::names() const {
  std::vector<std::string> names;
  for (const Parameters *own : {&node->parameters, &node->buffers})
    for (const NamedParameter &named : *own)
      names.push_back(named.name);
  for (const auto &[name, generator] : node->generators)
    names.push_back(name);
  for (const auto &[name, child] : node->children)
    names.push_back(name);
  return names;
}

void Module::train(bool on) { node->train(on); }
bool Module::isTraining() const {
  if (Jit::isCapturing())
    Jit::assume([node = node, training = node->training] { return node->training == training; });
  return node->training;
}

void Module::to(DType dtype, Place where) {
  if (!isFloat(dtype))
    throw Error(Status::invalidArgument("module: parameters do not become of dtype " + std::string(toString(dtype)) +
                                        ", which is none of floats"),
                where);
  for (const auto &[name, parameter] : node->everything())
    if (isFloat(parameter.type(where).dtype))
      parameter.cast(dtype, where);
}

NamedTensors Module::state() const {
  NamedTensors state;
  for (const auto &[name, parameter] : node->everything())
    state[name] = *parameter;
  return state;
}

std::map<std::string, TensorType> Module::types() const {
  std::map<std::string, TensorType> types;
  for (const auto &[name, parameter] : node->everything())
    types[name] = parameter.type();
  return types;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// A value that is made where it stays.
struct Module::Source {
  TensorType type;
  /// Of this dtype, on the current device.
  std::function<Tensor(DType dtype)> make;
};

/// Makes a tensor where the value of a parameter lies, or a new tensor would where that device is lost.
template <typename F> static Tensor makeBeside(const Parameter &parameter, F &&make) {
  const ContextScope context(parameter.context());
  try {
    const DeviceScope device(parameter.device(), parameter.context());
    return make();
  } catch (const Error &error) {
    if (error.code() != ErrorCode::DeviceLost)
      throw;
  }
  return make();
}

static void expectSome(const Parameters &all, const char *what, const Place &where) {
  if (all.empty())
    throw Error(
        Status::invalidArgument("module: there is nothing to " + std::string(what) +
                                ": it has no parameters, as where children are members that were not declared with "
                                "add()"),
        where);
}

LoadReport Module::loadFrom(const std::map<std::string, Source> &given, const LoadOptions &options,
                            const Place &where) {
  Parameters all = node->everything();
  expectSome(all, "load", where);
  std::ranges::sort(all, {}, &NamedParameter::name);
  const std::string what = "the module's state: the tensors do not fit:";
  std::map<std::string, const Source *> sources;
  for (const auto &[name, source] : given) {
    const std::string own = options.rename ? options.rename(name) : name;
    if (!own.empty() && !sources.emplace(own, &source).second)
      throw Error(Status::invalidArgument(what + " two of them are called '" + own + "'"), where);
  }
  LoadReport report;
  std::string wrong;
  auto add = [&](const std::string &text) { wrong += (wrong.empty() ? " " : ", ") + text; };
  for (const auto &[name, parameter] : all) {
    const auto found = sources.find(name);
    if (found == sources.end()) {
      report.missing.push_back(name);
      if (options.strict)
        add("'" + name + "' is missing");
      continue;
    }
    const TensorType type = parameter.type(where), &other = found->second->type;
    const bool fits = options.dtype ? type.shape == other.shape && isFloat(type.dtype) == isFloat(other.dtype) &&
                                          (isFloat(type.dtype) || type == other)
                                    : type == other;
    if (!fits)
      add("'" + name + "' is " + toString(other) + ", not " + toString(type));
  }
  for (const auto &[name, source] : sources)
    if (std::ranges::find(all, name, &NamedParameter::name) == all.end()) {
      report.superfluous.push_back(name);
      if (options.strict)
        add("'" + name + "' is superfluous");
    }
  if (options.dtype && !isFloat(*options.dtype))
    add("they do not become of dtype " + std::string(toString(*options.dtype)) + ", which is none of floats");
  if (!wrong.empty())
    throw Error(Status::invalidArgument(what + wrong), where);
  std::vector<std::pair<Parameter, Tensor>> values;
  for (const auto &[name, parameter] : all)
    if (const auto found = sources.find(name); found != sources.end()) {
      const DType own = parameter.type(where).dtype, dtype = options.dtype && isFloat(own) ? *options.dtype : own;
      values.emplace_back(parameter, makeBeside(parameter, [&] { return found->second->make(dtype); }));
    }
  // Parameters of one tensor would be one source of gradients.
  std::set<uint64_t> assigned;
  for (auto &[parameter, value] : values)
    if (options.assign && value.type() == parameter.type(where) && assigned.insert(value.id(where)).second)
      parameter.setLater(std::move(value), where);
    else
      parameter.reset(std::move(value), where);
  if (options.dtype)
    to(*options.dtype, where);
  return report;
}

LoadReport Module::load(const NamedTensors &given, const LoadOptions &options, Place where) {
  std::map<std::string, Source> sources;
  for (const auto &[name, tensor] : given) {
    if (!tensor.isDefined())
      throw Error(Status::invalidArgument("the module's state: '" + name + "' is no tensor"), where);
    sources[name] = {tensor.type(), [&name, &tensor, &options, where](DType dtype) {
                       const Tensor value = tensor.dtype() == dtype ? tensor : tensor.cast(dtype, where);
                       if (!options.assign)
                         return copyTo(Context::current(where), value, where);
                       if (tensor.context(where) != Context::current(where))
                         throw Error(
                             Status::invalidArgument("the module's state: '" + name +
                                                     "' is of another context than "
                                                     "the parameter that would become it; without assign it is copied"),
                             where);
                       return value;
                     }};
  }
  return loadFrom(sources, options, where);
}

static double decode(const std::byte *element, DType dtype) {
  auto as = [&]<typename T>(T) {
    T value;
    std::memcpy(&value, element, sizeof(T));
    return value;
  };
  switch (dtype) {
  case DType::F64:
    return as(double());
  case DType::F32:
    return as(float());
  case DType::F16:
    return halfToFloat(as(uint16_t()));
  case DType::BF16:
    return bfloat16ToFloat(as(uint16_t()));
  case DType::F8E4M3FN:
    return f8E4M3FNToFloat(as(uint8_t()));
  default:
    return f8E5M2ToFloat(as(uint8_t()));
  }
}

/// Floats as those of another dtype, rounded once.
static std::vector<std::byte> converted(const std::vector<std::byte> &given, DType from, DType to) {
  const size_t width = static_cast<size_t>(byteSize(from)), wanted = static_cast<size_t>(byteSize(to));
  const size_t count = given.size() / width;
  std::vector<std::byte> bytes(count * wanted);
  for (size_t i = 0; i < count; ++i) {
    const double value = decode(given.data() + i * width, from);
    if (to == DType::F32) {
      const float narrow = static_cast<float>(value);
      std::memcpy(bytes.data() + i * wanted, &narrow, wanted);
    } else if (to == DType::BF16 || to == DType::F16) {
      const uint16_t narrow = to == DType::BF16 ? floatToBFloat16(value) : floatToHalf(value);
      std::memcpy(bytes.data() + i * wanted, &narrow, wanted);
    } else {
      std::ranges::copy(encodeElement(value, to), bytes.begin() + static_cast<ptrdiff_t>(i * wanted));
    }
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Of which no tensor is left out.
static std::vector<io::SafetensorsFile> openWhole(const std::string &path, const Place &where) {
  std::vector<io::SafetensorsFile> files = valueOrThrow(io::openSafetensors(path), where);
  for (const io::SafetensorsFile &file : files)
    if (!file.unsupported().empty())
      throwIfError(file.read(file.unsupported().begin()->first).status(), where);
  return files;
}

LoadReport Module::load(const std::string &path, const LoadOptions &options, Place where) {
  const std::vector<io::SafetensorsFile> files = openWhole(path, where);
  std::map<std::string, Source> sources;
  for (const io::SafetensorsFile &file : files)
    for (const io::SafetensorsFile::Entry &entry : file.tensors())
      sources[entry.name] = {entry.type, [&file, &entry, where](DType dtype) {
                               HostTensor value = valueOrThrow(file.read(entry.name), where);
                               if (dtype != entry.type.dtype)
                                 value.data = converted(value.data, entry.type.dtype, dtype);
                               return Tensor::fromBytes({dtype, entry.type.shape}, value.data, where);
                             }};
  return loadFrom(sources, options, where);
}

void Module::save(const std::string &path, Place where) const {
  expectSome(node->everything(), "save", where);
  saveTensors(path, state(), where);
}

NamedTensors zyx::nn::loadTensors(const std::string &path, Place where) {
  NamedTensors tensors;
  for (const io::SafetensorsFile &file : openWhole(path, where))
    for (const io::SafetensorsFile::Entry &entry : file.tensors()) {
      const HostTensor value = valueOrThrow(file.read(entry.name), where);
      tensors[entry.name] = Tensor::fromBytes(value.type, value.data, where);
    }
  return tensors;
}

NamedTensors zyx::nn::mapTensors(const std::string &path, Place where) {
  NamedTensors tensors;
  for (const io::SafetensorsFile &file : openWhole(path, where)) {
    for (const io::SafetensorsFile::Entry &entry : file.tensors()) {
      // Bools of a file may be bytes that are none.
      tensors[entry.name] =
          entry.type.dtype == DType::Bool
              ? Tensor::fromBytes(entry.type, valueOrThrow(file.read(entry.name), where).data, where)
              : fromFile(file.source(), entry.type, entry.offset, "tensor '" + entry.name + "'", where);
    }
  }
  return tensors;
}

NamedTensors zyx::nn::mapGguf(const io::GgufFile &file, Place where) {
  if (!file.unsupported().empty())
    throwIfError(file.read(file.unsupported().begin()->first).status(), where);
  NamedTensors tensors;
  for (const io::GgufFile::Tensor &entry : file.tensors()) {
    const Tensor stored = fromFile(file.source(), entry.stored, entry.offset, "tensor '" + entry.name + "'", where);
    tensors[entry.name] = entry.blocks() ? dequantise(stored, *entry.blocks(), entry.shape, where) : stored;
  }
  return tensors;
}

NamedTensors zyx::nn::mapGguf(const std::string &path, Place where) {
  return mapGguf(valueOrThrow(io::GgufFile::open(path), where), where);
}

void zyx::nn::saveTensors(const std::string &path, const NamedTensors &tensors, Place where) {
  std::vector<std::pair<std::string, TensorType>> types;
  std::vector<const Tensor *> values;
  for (const auto &[name, tensor] : tensors) {
    types.emplace_back(name, tensor.type());
    values.push_back(&tensor);
  }
  io::SafetensorsWriter writer = valueOrThrow(io::SafetensorsWriter::create(path, types), where);
  for (size_t index : writer.order())
    throwIfError(writer.write(values[index]->bytes(where)), where);
  throwIfError(writer.commit(), where);
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
