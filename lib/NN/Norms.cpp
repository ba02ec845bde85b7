//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Norms.h"

#include "zyx/Tensor/Jit.h"
#include "zyx/Tensor/Losses.h"

using namespace zyx;
using namespace zyx::nn;

/// As data: a constant would be computed by a program.
static Tensor filled(int64_t count, float value, const Place &where) {
  return Tensor::from(std::vector<float>(valueOrThrow(numElements({count}), where), value), {count}, where);
}

LayerNorm::LayerNorm(int64_t width, double epsilon, Place where)
    : weight(add("weight", filled(width, 1, where), where)), bias(add("bias", filled(width, 0, where), where)),
      epsilon(epsilon) {}
Tensor LayerNorm::operator()(const Tensor &x, Place where) const {
  return callFor("LayerNorm", where, [&] { return layerNorm(x, 1, *weight, *bias, epsilon); });
}

RmsNorm::RmsNorm(int64_t width, double epsilon, Place where)
    : weight(add("weight", filled(width, 1, where), where)), epsilon(epsilon) {}
Tensor RmsNorm::operator()(const Tensor &x, Place where) const {
  return callFor("RmsNorm", where, [&] { return rmsNorm(x, 1, *weight, epsilon); });
}

static void expectChannels(const Tensor &x, const Parameter &weight) {
  if (x.rank() < 2 || x.shape()[1] != weight->numel())
    throw Error(Status::invalidArgument("a tensor of shape " + toString(x.shape()) + " is not [batch, " +
                                        std::to_string(weight->numel()) + ", positions...]"),
                Place::current());
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels, double epsilon, Place where)
    : weight(add("weight", filled(channels, 1, where), where)), bias(add("bias", filled(channels, 0, where), where)),
      groups(groups), epsilon(epsilon) {
  if (groups <= 0 || channels % groups != 0)
    throw Error(Status::invalidArgument("GroupNorm: " + std::to_string(channels) + " channels do not fall into " +
                                        std::to_string(groups) + " groups"),
                where);
}
Tensor GroupNorm::operator()(const Tensor &x, Place where) const {
  return callFor("GroupNorm", where, [&] {
    expectChannels(x, weight);
    return groupNorm(x, groups, *weight, *bias, epsilon);
  });
}

BatchNorm::BatchNorm(int64_t channels, double epsilon, double momentum, Place where)
    : weight(add("weight", filled(channels, 1, where), where)), bias(add("bias", filled(channels, 0, where), where)),
      runningMean(addBuffer("running_mean", filled(channels, 0, where), where)),
      runningVar(addBuffer("running_var", filled(channels, 1, where), where)), epsilon(epsilon), momentum(momentum) {}
/// Batches whose moments may wait to be computed: one where steps compute them.
static constexpr int maxPending = 16;

Tensor BatchNorm::normalize(const Tensor &given) const {
  expectChannels(given, weight);
  const Tensor x = given.cast(accumulatorType(given.dtype()));
  Tensor mean = *runningMean, variance = *runningVar;
  if (isTraining()) {
    Dims dims = {0};
    double count = static_cast<double>(x.size(0));
    for (int64_t dim = 2; dim < x.rank(); ++dim) {
      dims.push_back(dim);
      count *= static_cast<double>(x.size(dim));
    }
    if (count < 2)
      throw Error(Status::invalidArgument("a tensor of shape " + toString(x.shape()) +
                                          " has not two elements per channel: there is no variance to train with"),
                  Place::current());
    mean = x.mean(dims);
    variance = x.var(dims, false, 0);
    // What nobody computes holds its batch, and those before it. A Jit computes them in each call.
    if (!Jit::isCapturing()) {
      *pending = runningMean->isRealized() && runningVar->isRealized() ? 0 : *pending + 1;
      if (*pending == maxPending)
        realize({*runningMean, *runningVar});
    }
    auto blend = [&](const Parameter &running, const Tensor &fresh) {
      running.setLater(((1 - momentum) * *running + momentum * fresh).cast(running->dtype()));
    };
    blend(runningMean, mean);
    blend(runningVar, variance * (count / (count - 1)));
  }
  return batchNorm(given, mean, variance, *weight, *bias, epsilon);
}

Tensor BatchNorm::operator()(const Tensor &x, Place where) const {
  return callFor("BatchNorm", where, [&] { return normalize(x); });
}
