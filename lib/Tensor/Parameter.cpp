//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Parameter.h"

#include "Capture.h"
#include "Detail.h"

using namespace zyx;
using namespace zyx::detail;

//===----------------------------------------------------------------------===//
// What a parameter holds
//===----------------------------------------------------------------------===//

ParameterPlace::ParameterPlace(Tensor first)
    : context(first.context()), type(first.type()), device(first.device()), value(std::move(first)) {}
ParameterPlace::ParameterPlace(Initial first, Context context, std::string device)
    : context(std::move(context)), type(std::move(first.type)), device(std::move(device)), make(std::move(first.make)),
      value(Tensor()) {}

Versioned<Tensor> &ParameterPlace::versioned() {
  const std::lock_guard lock(mutex);
  if (!make)
    return value;
  const ContextScope inContext(context);
  const DeviceScope onDevice(device, context);
  const Tensor made = make();
  if (!made.isDefined() || made.type() != type)
    refuse("a parameter of type " + toString(type) + " begins as " +
               (made.isDefined() ? "one of type " + toString(made.type()) : "no tensor"),
           Place::current());
  value.set(made.detach());
  make = nullptr;
  return value;
}

TensorType ParameterPlace::typeNow() const {
  const std::lock_guard lock(mutex);
  return type;
}

std::string ParameterPlace::deviceNow() const {
  const std::lock_guard lock(mutex);
  return make ? device : value.latest().device();
}

void ParameterPlace::set(Tensor next, const PendingUpdate *pending) {
  // What a failure goes back to has to be there.
  if (pending) {
    versioned().set(std::move(next), *pending);
    return;
  }
  const std::lock_guard lock(mutex);
  make = nullptr;
  value.set(std::move(next));
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static void expectPlace(const Parameter &parameter, const Place &where) {
  if (!parameter.isDefined())
    throw Error(Status::invalidArgument("there is no parameter in this place"), where);
  // Before its own locks are taken, which another thread may have held at a fork.
  throwIfError(State::of(ParameterScope::contextOf(parameter))->checkProcess(), where);
}

/// Throws of no failure of the runs that made the value.
static void expectLike(const Parameter &parameter, const Tensor &next, const Place &where) {
  expectPlace(parameter, where);
  if (const TensorType type = parameter.type(where); !next.isDefined() || next.type() != type)
    throw Error(Status::invalidArgument("a parameter of type " + toString(type) + " does not become " +
                                        (next.isDefined() ? "one of type " + toString(next.type()) : "no tensor")),
                where);
}

/// What is no part of a program.
static void expectNoCapture(const char *what, const Place &where) {
  if (ParameterScope::innermost())
    throw Error(
        Status::invalidArgument("a parameter " + std::string(what) + " in a function that is captured; do it outside"),
        where);
}

Parameter::Parameter(const Tensor &first, Place where) : place(std::make_shared<ParameterPlace>(first.detach(where))) {}

Parameter::Parameter(Initial first, Place where) {
  if (!first.make)
    throw Error(Status::invalidArgument("a parameter has no function that makes its first value"), where);
  const Context context = Context::current(where);
  place = std::make_shared<ParameterPlace>(std::move(first), context, State::of(context)->currentDeviceName());
}

Tensor Parameter::value(Place where) const {
  expectPlace(*this, where);
  if (std::optional<Tensor> own = ParameterScope::read(*this, where))
    return *std::move(own);
  return place->versioned().get(where);
}

Tensor Parameter::latest(Place where) const {
  expectPlace(*this, where);
  if (std::optional<Tensor> own = ParameterScope::read(*this, where))
    return *std::move(own);
  return place->versioned().latest();
}

TensorType Parameter::type(Place where) const {
  expectPlace(*this, where);
  return place->typeNow();
}

std::string Parameter::device(Place where) const {
  expectPlace(*this, where);
  return place->deviceNow();
}

Context Parameter::context(Place where) const {
  expectPlace(*this, where);
  return place->context;
}

void Parameter::set(Tensor next, Place where) const {
  expectLike(*this, next, where);
  if (!ParameterScope::set(*this, next, where))
    place->set(next.detach(where), nullptr);
}

void Parameter::setLater(Tensor next, Place where) const {
  expectLike(*this, next, where);
  if (!ParameterScope::set(*this, next, where))
    place->set(std::move(next), nullptr);
}

void Parameter::set(Tensor next, const PendingUpdate &pending, Place where) const {
  expectLike(*this, next, where);
  if (ParameterScope::set(*this, next, where))
    return;
  pending.replacesBy(next);
  place->set(std::move(next), &pending);
}

void Parameter::cast(DType dtype, Place where) const {
  expectPlace(*this, where);
  expectNoCapture("becomes of another dtype", where);
  {
    const std::lock_guard lock(place->mutex);
    if (place->type.dtype == dtype)
      return;
    if (place->make) {
      place->make = [first = std::move(place->make), dtype, where] { return first().cast(dtype, where); };
      place->type.dtype = dtype;
      return;
    }
  }
  reset(value(where).cast(dtype, where), where);
}

void Parameter::reset(Tensor next, Place where) const {
  expectPlace(*this, where);
  expectNoCapture("gets a value of another type", where);
  if (!next.isDefined() || next.shape() != place->typeNow().shape)
    throw Error(Status::invalidArgument("a parameter of type " + toString(place->typeNow()) + " does not become " +
                                        (next.isDefined() ? "one of type " + toString(next.type()) : "no tensor")),
                where);
  Tensor leaf = next.detach(where);
  const std::lock_guard lock(place->mutex);
  place->make = nullptr;
  place->type = leaf.type();
  place->value.set(std::move(leaf));
}

ParameterOverride::ParameterOverride(const Parameters &parameters, Tensors others, Place where)
    : scope(std::make_unique<ParameterScope>(ParameterScope::Kind::Replacing)) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    expectLike(parameters[i].parameter, others[i], where);
    scope->replace(parameters[i].parameter, others[i]);
  }
}

ParameterOverride::~ParameterOverride() = default;

//===----------------------------------------------------------------------===//
// Names and copies
//===----------------------------------------------------------------------===//

std::vector<Tensor> zyx::valuesOf(const Parameters &parameters, Place where) {
  std::vector<Tensor> values;
  for (const NamedParameter &named : parameters)
    values.push_back(named.parameter.value(where));
  return values;
}

std::map<std::string, TensorType> zyx::typesOf(const NamedTensors &tensors) {
  std::map<std::string, TensorType> types;
  for (const auto &[name, tensor] : tensors)
    types[name] = tensor.type();
  return types;
}

void zyx::expectNames(const std::map<std::string, TensorType> &expected, const NamedTensors &given,
                      std::string_view what, Place where) {
  std::string wrong;
  auto add = [&](const std::string &text) { wrong += (wrong.empty() ? " " : ", ") + text; };
  for (const auto &[name, type] : expected) {
    const auto found = given.find(name);
    if (found == given.end())
      add("'" + name + "' is missing");
    else if (!found->second.isDefined() || found->second.type() != type)
      add("'" + name + "' is " + (found->second.isDefined() ? toString(found->second.type()) : "no tensor") + ", not " +
          toString(type));
  }
  for (const auto &[name, tensor] : given)
    if (!expected.contains(name))
      add("'" + name + "' is superfluous");
  if (!wrong.empty())
    throw Error(Status::invalidArgument(std::string(what) + ": the tensors do not fit:" + wrong), where);
}

Tensor zyx::copyTo(const Context &context, const Tensor &value, Place where) {
  const std::vector<std::byte> bytes = value.bytes(where);
  const ContextScope scope(context);
  return Tensor::fromBytes(value.type(), bytes, where);
}

Tensor zyx::copyBeside(const Parameter &other, const Tensor &value, Place where) {
  try {
    const DeviceScope device(other.device(), other.context());
    return copyTo(other.context(), value, where);
  } catch (const Error &error) {
    if (error.code() != ErrorCode::DeviceLost)
      throw;
  }
  // It goes where a new tensor would.
  return copyTo(other.context(), value, where);
}
