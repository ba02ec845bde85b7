//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Parameter.h"

using namespace zyx;

const Tensor &Parameter::value(Place where) const {
  if (!place)
    throw Error(Status::invalidArgument("there is no parameter in this place"), where);
  return *place;
}

void Parameter::set(Tensor next, Place where) const {
  if (!next || next.type() != value(where).type())
    throw Error(Status::invalidArgument("a parameter of type " + toString(place->type()) + " does not become " +
                                        (next ? "one of type " + toString(next.type()) : "no tensor")),
                where);
  *place = std::move(next);
}

std::vector<Tensor> zyx::valuesOf(const Parameters &parameters) {
  std::vector<Tensor> values;
  for (const NamedParameter &named : parameters)
    values.push_back(*named.parameter);
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
  const DeviceScope device(other.device(), other.context());
  return copyTo(other.context(), value, where);
}
