//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_PARAMETER_H
#define ZYX_TENSOR_PARAMETER_H

#include "zyx/Tensor/Change.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace zyx {

/// Tensors by name, as files hold them.
using NamedTensors = std::map<std::string, Tensor>;

/// A place that holds the current value of what is trained: tensors do not change, so that a step of an
/// optimizer puts another one there. Copies refer to the same place. It has the type of its first value.
class Parameter {
public:
  /// No place.
  Parameter() = default;
  /// Begins as a leaf of its own, told from every other tensor (Tensor::detach).
  explicit Parameter(const Tensor &first, Place where = Place::current())
      : place(std::make_shared<Revised<Tensor>>(first.detach(where))) {}

  explicit operator bool() const { return place != nullptr; }
  /// Throws, as the operators do, where there is no place, and where a step failed in flight of which nobody was told:
  /// then, and after any such failure, it is that of the last step that was good.
  const Tensor &value(Place where = Place::current()) const;
  const Tensor &operator*() const { return value(); }
  const Tensor *operator->() const { return &value(); }
  /// What it was set to last, whatever came of the run that makes it: throws of no failure.
  Tensor latest(Place where = Place::current()) const;
  /// Refuses a tensor of another type.
  void set(Tensor next, Place where = Place::current()) const;
  /// What a run makes that may be in flight.
  void set(Tensor next, const Change &change, Place where = Place::current()) const;
  bool operator==(const Parameter &) const = default;

private:
  friend class StandIns;
  std::shared_ptr<Revised<Tensor>> place;
};

/// A parameter and what it is called, such as "encoder.0.weight".
struct NamedParameter {
  std::string name;
  Parameter parameter;
};
/// In the order in which a model declares them.
using Parameters = std::vector<NamedParameter>;

/// Of each, in order.
std::vector<Tensor> valuesOf(const Parameters &parameters, Place where = Place::current());

/// Parameters hold other tensors while it lives.
class StandIns {
public:
  StandIns(Parameters parameters, std::span<const Tensor> others, Place where = Place::current());
  ~StandIns();
  StandIns(const StandIns &) = delete;
  StandIns &operator=(const StandIns &) = delete;

private:
  const Parameters parameters;
  std::vector<Revised<Tensor>> before;
};

/// Throws where `given` has not the names of `expected` with its types; `what` says whose they are. The error
/// lists all that is missing, superfluous or of another type.
void expectNames(const NamedTensors &expected, const NamedTensors &given, std::string_view what,
                 Place where = Place::current());
/// A leaf of these elements in a context.
Tensor copyTo(const Context &context, const Tensor &value, Place where = Place::current());
/// The same where another tensor lies.
Tensor copyBeside(const Tensor &other, const Tensor &value, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_PARAMETER_H
