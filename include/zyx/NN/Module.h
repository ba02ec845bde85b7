//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_MODULE_H
#define ZYX_NN_MODULE_H

#include "zyx/Tensor/Parameter.h"
#include "zyx/Tensor/Random.h"

#include <concepts>
#include <functional>

namespace zyx::nn {

struct LoadOptions {
  /// Whether what is missing or superfluous is refused. Without, a parameter that is missing keeps its value.
  bool strict = true;
  /// What a tensor is called in the module; "" leaves it out.
  std::function<std::string(const std::string &name)> rename = {};
  /// Floats that are loaded, and all parameters and buffers of floats, become of this dtype. Else both have one.
  std::optional<DType> dtype = std::nullopt;
  /// Of tensors that are given, whether parameters become these themselves, wherever they lie, instead of copies of
  /// their elements: what is mapped stays in its file until it is needed, and what is quantised stays so. Where that
  /// changes the dtype of a parameter, its value is computed, and so is that of a second parameter of the same tensor.
  /// Refused where a tensor is of another context.
  bool assign = false;
};
/// What a load that is not strict found, by the module's names.
struct LoadReport {
  std::vector<std::string> missing, superfluous;
};

/// Parameters and children by name. Modules are structs that declare both with `add`, in their order:
///
///   struct Mlp : nn::Module {
///     explicit Mlp(nn::InitRngRef rng)
///         : in(add("in", nn::Linear(64, 32, rng))), out(add("out", nn::Linear(32, 10, rng))) {}
///     Tensor operator()(const Tensor &x) const { return out(in(x).relu()); }
///     nn::Linear in, out;
///   };
///
/// A module is a handle: copies have the same parameters and the same mode.
class Module {
public:
  Module();

  /// Its own first, then those of its children, by dotted names such as "in.weight". What several modules share, as
  /// a child that is declared twice, comes once, under the first of its names.
  Parameters parameters() const;
  /// What a module keeps besides, and no optimizer moves: running means and the like.
  Parameters buffers() const;
  /// Of random numbers, which are no part of state() either: what trains on saves them (Training).
  std::vector<std::pair<std::string, std::shared_ptr<Generator>>> generators() const;
  /// What it declares itself: parameters, buffers, generators and children.
  std::vector<std::string> names() const;
  /// Values of parameters and buffers by those names.
  NamedTensors state() const;
  /// Their types. Draws no first values.
  std::map<std::string, TensorType> types() const;
  /// Takes values, on the devices on which the ones before lie; where such a device is lost, on that of new tensors.
  /// Refuses what is missing, superfluous, of another type or twice under one name, and then changes nothing; refuses a
  /// module that has neither parameters nor buffers. Looks at no value before, so that a step that failed is no
  /// obstacle.
  LoadReport load(const NamedTensors &state, const LoadOptions &options = {}, Place where = Place::current());
  /// From a safetensors file, an index of several ("model.safetensors.index.json"), or a folder that has either.
  /// Tensors are read one by one to where they stay, after all names and types were found right.
  LoadReport load(const std::string &path, const LoadOptions &options = {}, Place where = Place::current());
  /// To a safetensors file, one tensor after the other. Refuses a module that has neither parameters nor buffers: its
  /// children were not declared.
  void save(const std::string &path, Place where = Place::current()) const;
  /// All parameters and buffers of floats become of this dtype, as does what an optimizer makes of them from then on.
  void to(DType dtype, Place where = Place::current());

  /// The mode of this module and of all below it; modules begin in training. A Jit captures a function once for each.
  void train(bool on = true);
  void eval() { train(false); }
  bool isTraining() const;

protected:
  /// Declares a parameter that begins with this value. A name has no dots and is taken once.
  Parameter add(std::string name, const Tensor &first, Place where = Place::current());
  Parameter add(std::string name, Initial first, Place where = Place::current());
  Parameter addBuffer(std::string name, const Tensor &first, Place where = Place::current());
  std::shared_ptr<Generator> addGenerator(std::string name, uint64_t seed, Place where = Place::current());
  /// Declares a child, which is returned.
  template <std::derived_from<Module> M> M add(std::string name, M child, Place where = Place::current()) {
    adopt(std::move(name), child, where);
    return child;
  }
  /// The same, in the place of what has the name, if anything has.
  Parameter put(std::string name, const Tensor &first, Place where = Place::current());
  void put(std::string name, const Module &child, Place where = Place::current());
  /// A parameter or a buffer that is there already becomes the module's, as of a copy of a module.
  void putPlace(std::string name, const Parameter &parameter, bool isBuffer, Place where = Place::current());
  /// Forgets the parameter, buffer, generator or child of this name, if there is one. An optimizer that has the
  /// parameter keeps it.
  void remove(const std::string &name);

private:
  struct Node;
  struct Source;
  LoadReport loadFrom(const std::map<std::string, Source> &sources, const LoadOptions &options, const Place &where);
  void adopt(std::string name, const Module &child, const Place &where);
  std::shared_ptr<Node> node;
};

/// Tensors of a safetensors file, of several that an index names ("model.safetensors.index.json"), or of a folder that
/// has either; and to one file, one tensor after the other.
NamedTensors loadTensors(const std::string &path, Place where = Place::current());
/// The same, of which each but those of bools stays in its file until a program needs it (Tensor::fromFile): a file
/// that is shorter by then is an Error that names the tensor. The file should stay as it is.
NamedTensors mapTensors(const std::string &path, Place where = Place::current());
void saveTensors(const std::string &path, const NamedTensors &tensors, Place where = Place::current());

/// Modules and functions of a tensor, one after the other: Sequential(Linear(64, 32, rng),
/// [](const Tensor &x) { return x.relu(); }). Children are named by their position among all of them.
class Sequential : public Module {
public:
  template <typename... Layers>
    requires(std::is_invocable_r_v<Tensor, const Layers &, const Tensor &> && ...)
  explicit Sequential(Layers... all) {
    (append(std::move(all)), ...);
  }
  template <typename Layer>
    requires std::is_invocable_r_v<Tensor, const Layer &, const Tensor &>
  void append(Layer layer) {
    if constexpr (std::derived_from<Layer, Module>)
      add(std::to_string(layers.size()), layer);
    layers.push_back(std::move(layer));
  }
  /// A failure says in which layer.
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;

private:
  std::vector<std::function<Tensor(const Tensor &)>> layers;
};

} // namespace zyx::nn

#endif // ZYX_NN_MODULE_H
