//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Parameter.h"

using namespace zyx;

static void expectPlace(const std::shared_ptr<Revised<Tensor>> &place, const Place &where) {
  if (!place)
    throw Error(Status::invalidArgument("there is no parameter in this place"), where);
}

/// Throws of no failure of the runs that made the value.
static void expectLike(const std::shared_ptr<Revised<Tensor>> &place, const Tensor &next, const Place &where) {
  expectPlace(place, where);
  const Tensor value = place->latest();
  if (!next || next.type() != value.type())
    throw Error(Status::invalidArgument("a parameter of type " + toString(value.type()) + " does not become " +
                                        (next ? "one of type " + toString(next.type()) : "no tensor")),
                where);
}

const Tensor &Parameter::value(Place where) const {
  expectPlace(place, where);
  return place->get(where);
}

Tensor Parameter::latest(Place where) const {
  expectPlace(place, where);
  return place->latest();
}

void Parameter::set(Tensor next, Place where) const {
  expectLike(place, next, where);
  place->set(std::move(next));
}

void Parameter::set(Tensor next, const Change &change, Place where) const {
  expectLike(place, next, where);
  change.replacesBy(next);
  place->set(std::move(next), change);
}

StandIns::StandIns(Parameters given, std::span<const Tensor> others, Place where) : parameters(std::move(given)) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    before.push_back(*parameters[i].parameter.place);
    parameters[i].parameter.set(others[i], where);
  }
}

StandIns::~StandIns() {
  // Of one that stands twice, the first one is what it was.
  for (size_t i = before.size(); i-- != 0;)
    *parameters[i].parameter.place = std::move(before[i]);
}

std::vector<Tensor> zyx::valuesOf(const Parameters &parameters, Place where) {
  std::vector<Tensor> values;
  for (const NamedParameter &named : parameters)
    values.push_back(named.parameter.value(where));
  return values;
}

void zyx::expectNames(const NamedTensors &expected, const NamedTensors &given, std::string_view what, Place where) {
  std::string wrong;
  auto add = [&](const std::string &text) { wrong += (wrong.empty() ? " " : ", ") + text; };
  for (const auto &[name, tensor] : expected) {
    const auto found = given.find(name);
    if (found == given.end())
      add("'" + name + "' is missing");
    else if (!found->second || found->second.type() != tensor.type())
      add("'" + name + "' is " + (found->second ? toString(found->second.type()) : "no tensor") + ", not " +
          toString(tensor.type()));
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

Tensor zyx::copyBeside(const Tensor &other, const Tensor &value, Place where) {
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
