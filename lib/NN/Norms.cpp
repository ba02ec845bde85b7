//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Norms.h"

#include "zyx/Tensor/Losses.h"

using namespace zyx;
using namespace zyx::nn;

/// As data: a constant would be computed by a program.
static Tensor filled(int64_t count, float value, const Place &where) {
  return Tensor::from(std::vector<float>(valueOrThrow(numElements({count}), where), value), {count}, where);
}

/// f16 and bf16 in f32.
static Tensor wide(const Tensor &x) { return byteSize(x.dtype()) < 4 ? x.cast(DType::F32) : x; }

LayerNorm::LayerNorm(int64_t width, double epsilon, Place where)
    : weight(add("weight", filled(width, 1, where), where)),
      bias(add("bias", filled(width, 0, where), where)), epsilon(epsilon) {}
Tensor LayerNorm::operator()(const Tensor &x) const { return layerNorm(x, 1, *weight, *bias, epsilon); }

RmsNorm::RmsNorm(int64_t width, double epsilon, Place where)
    : weight(add("weight", filled(width, 1, where), where)), epsilon(epsilon) {}
Tensor RmsNorm::operator()(const Tensor &x) const { return rmsNorm(x, 1, *weight, epsilon); }

static void expectChannels(const char *module, const Tensor &x, const Parameter &weight) {
  if (x.rank() < 2 || x.shape()[1] != weight->numel())
    throw Error(Status::invalidArgument(std::string(module) + ": a tensor of shape " + toString(x.shape()) + " is not [batch, " +
                                        std::to_string(weight->numel()) + ", positions...]"),
                Place::current());
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels, double epsilon, Place where)
    : weight(add("weight", filled(channels, 1, where), where)),
      bias(add("bias", filled(channels, 0, where), where)), groups(groups), epsilon(epsilon) {
  if (groups <= 0 || channels % groups != 0)
    throw Error(Status::invalidArgument("GroupNorm: " + std::to_string(channels) + " channels do not fall into " +
                                        std::to_string(groups) + " groups"),
                where);
}
Tensor GroupNorm::operator()(const Tensor &x) const {
  expectChannels("GroupNorm", x, weight);
  return groupNorm(x, groups, *weight, *bias, epsilon);
}

BatchNorm::BatchNorm(int64_t channels, double epsilon, double momentum, Place where)
    : weight(add("weight", filled(channels, 1, where), where)),
      bias(add("bias", filled(channels, 0, where), where)),
      runningMean(addBuffer("running_mean", filled(channels, 0, where), where)),
      runningVar(addBuffer("running_var", filled(channels, 1, where), where)), epsilon(epsilon),
      momentum(momentum) {}
Tensor BatchNorm::operator()(const Tensor &given) const {
  expectChannels("BatchNorm", given, weight);
  const Tensor x = wide(given);
  Tensor mean = *runningMean, variance = *runningVar;
  if (isTraining()) {
    Dims dims = {0};
    for (int64_t dim = 2; dim < x.rank(); ++dim)
      dims.push_back(dim);
    mean = x.mean(dims);
    variance = x.var(dims, false, 0);
    const double count = static_cast<double>(x.numel() / weight->numel());
    if (count < 2)
      throw Error(Status::invalidArgument("BatchNorm: a tensor of shape " + toString(x.shape()) +
                                          " has one element per channel, which has no variance to train with"),
                  Place::current());
    auto blend = [&](const Parameter &running, const Tensor &fresh) {
      running.set(((1 - momentum) * *running + momentum * fresh).cast(running->dtype()));
    };
    blend(runningMean, mean);
    blend(runningVar, variance * (count / (count - 1)));
  }
  return batchNorm(given, mean, variance, *weight, *bias, epsilon);
}
