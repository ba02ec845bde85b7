//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_PARAMETER_H
#define ZYX_TENSOR_PARAMETER_H

#include "zyx/Tensor/PendingUpdate.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace zyx {

/// Tensors by name, as files hold them.
using NamedTensors = std::map<std::string, Tensor>;

namespace detail {
struct ParameterPlace;
class ParameterScope;
} // namespace detail

/// A first value that is made when it is first read: one that is loaded before that is never made. The function is
/// called at most once, in the context and with the device that were current here.
struct Initial {
  TensorType type;
  std::function<Tensor()> make;
};

/// A place that holds the current value of what is trained: tensors do not change, so that a step of an
/// optimizer puts another one there. Copies refer to the same place. It has the type of its first value.
///
/// In a function that a Jit captures, a parameter that is read is an argument of the function, which each call binds to
/// the value of then; one that is set is a result, which each call puts there. In the body of a loop none is set.
///
/// Threads may read and set a parameter at the same time.
class Parameter {
public:
  /// No place.
  Parameter() = default;
  /// Begins as a leaf of its own, told from every other tensor (Tensor::detach).
  explicit Parameter(const Tensor &first, Place where = Place::current());
  explicit Parameter(Initial first, Place where = Place::current());

  /// Whether there is a place.
  bool isDefined() const { return place != nullptr; }
  /// A copy of the handle, as another thread may free what stands here. Throws, as the operators do, where there is no
  /// place, and where a step failed in flight of which nobody was told: then, and after any such failure, it is that of
  /// the last step that was good.
  Tensor value(Place where = Place::current()) const;
  Tensor operator*() const { return value(); }

  /// For the time of a call, the current tensor; type and shape are copies, which outlive it.
  class Arrow {
  public:
    struct Value : Tensor {
      explicit Value(Tensor tensor) : Tensor(std::move(tensor)) {}
      TensorType type() const { return Tensor::type(); }
      Shape shape() const { return Tensor::shape(); }
    };
    explicit Arrow(Tensor tensor) : value(std::move(tensor)) {}
    const Value *operator->() const { return &value; }

  private:
    Value value;
  };
  Arrow operator->() const { return Arrow(value()); }

  /// Of its values. Does not make the first one.
  TensorType type(Place where = Place::current()) const;
  /// Where its value lies, or its first one would.
  std::string device(Place where = Place::current()) const;
  Context context(Place where = Place::current()) const;
  /// What it was set to last, whatever came of the run that makes it: throws of no failure.
  Tensor latest(Place where = Place::current()) const;
  /// A leaf of its own with the value of `next`, which is computed now (Tensor::detach): nothing that it was made of
  /// is kept, gradients end there, and it is told from other parameters with the same value. Refuses a tensor of
  /// another type.
  void set(Tensor next, Place where = Place::current()) const;
  /// The same without computing it: until somebody does, as a step of an optimizer with what stands in its
  /// `alsoCompute`, it holds all that it was made of.
  void setLater(Tensor next, Place where = Place::current()) const;
  /// What a run makes that may be in flight.
  void set(Tensor next, const PendingUpdate &pending, Place where = Place::current()) const;
  /// Its value becomes one of another dtype, and so do all that follow. A first value that was not made is cast when
  /// it is. Refused in functions that are captured.
  void cast(DType dtype, Place where = Place::current()) const;
  /// As set(), but takes a value of another dtype, too, and is of that from then on. Refused in functions that are
  /// captured.
  void reset(Tensor next, Place where = Place::current()) const;
  bool operator==(const Parameter &) const = default;

private:
  friend class detail::ParameterScope;
  std::shared_ptr<detail::ParameterPlace> place;
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

/// While it lives, parameters have other values for this thread, as in torch.func.functional_call. The override that
/// began last ends first.
class ParameterOverride {
public:
  ParameterOverride(const Parameters &parameters, Tensors others, Place where = Place::current());
  ~ParameterOverride();
  ParameterOverride(const ParameterOverride &) = delete;
  ParameterOverride &operator=(const ParameterOverride &) = delete;

private:
  std::unique_ptr<detail::ParameterScope> scope;
};

/// Of each tensor by name.
std::map<std::string, TensorType> typesOf(const NamedTensors &tensors);
/// Throws where `given` has not the names of `expected` with its types; `what` says whose they are. The error
/// lists all that is missing, superfluous or of another type.
void expectNames(const std::map<std::string, TensorType> &expected, const NamedTensors &given, std::string_view what,
                 Place where = Place::current());
/// A leaf of these elements in a context.
Tensor copyTo(const Context &context, const Tensor &value, Place where = Place::current());
/// The same where the value of a parameter lies, or a new tensor would where that device is lost.
Tensor copyBeside(const Parameter &other, const Tensor &value, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_PARAMETER_H
