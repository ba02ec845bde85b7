//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Ops that kernels of the user's own compute.
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Custom.h"

#include "Detail.h"

using namespace zyx;
using namespace zyx::detail;

std::vector<Tensor> zyx::custom(const std::string &name, Tensors inputs, const CustomMeaning &meaning,
                                std::vector<Implementation> implementations, Place where) {
  if (!meaning)
    refuse("custom: there is no meaning", where);
  if (inputs.empty())
    refuse("custom: there are no inputs", where);
  for (const Tensor &input : inputs)
    if (!input.isDefined())
      refuse("custom: there is no tensor in one place of the inputs", where);
  const std::shared_ptr<State> state = State::handleOf(inputs[0])->state;
  std::vector<Tensor> placeholders;
  for (const Tensor &input : inputs)
    placeholders.push_back(valueOrThrow(state->addPlaceholder(input.type(), input, /*isPlaced=*/false), where));
  const CaptureScope capture;
  const std::vector<Tensor> results = meaning(placeholders);
  if (results.empty())
    refuse("custom: the meaning of '" + name + "' makes nothing", where);
  for (const Tensor &result : results)
    if (!result.isDefined())
      refuse("custom: the meaning of '" + name + "' makes no tensor in one place of its results", where);
  graph::Attributes attributes;
  attributes.name = name;
  attributes.implementations = std::move(implementations);
  return valueOrThrow(state->addBodyOp(Op::Custom, std::move(attributes), inputs, placeholders, results, where), where);
}
