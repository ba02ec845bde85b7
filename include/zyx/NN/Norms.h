//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_NORMS_H
#define ZYX_NN_NORMS_H

#include "zyx/NN/Module.h"

namespace zyx::nn {

/// (x - mean) / sqrt(variance + epsilon) weight + bias over the last dimension, with the variance of the
/// elements themselves (no correction). Computed in f32 at least.
class LayerNorm : public Module {
public:
  explicit LayerNorm(int64_t width, double epsilon = 1e-5, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
  Parameter weight, bias;

private:
  double epsilon;
};

/// x / sqrt(mean of squares + epsilon) weight over the last dimension. Computed in f32 at least.
class RmsNorm : public Module {
public:
  explicit RmsNorm(int64_t width, double epsilon = 1e-6, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
  Parameter weight;

private:
  double epsilon;
};

/// [batch, channels, positions...]: the channels in so many groups, each of which is normalised as by LayerNorm, with
/// its positions; then weight and bias of each channel.
class GroupNorm : public Module {
public:
  GroupNorm(int64_t groups, int64_t channels, double epsilon = 1e-5, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
  Parameter weight, bias;

private:
  int64_t groups;
  double epsilon;
};

/// [batch, channels, positions...]: each channel normalised by its mean and variance in this batch, when training, and
/// by the running ones after that; then weight and bias of each channel. The running ones are buffers: a batch counts
/// for `momentum` of them, its variance with the correction of 1. Each batch in training makes them others, which
/// are computed when they are read, with a step (Optimizer::minimize), or else after some more batches.
class BatchNorm : public Module {
public:
  explicit BatchNorm(int64_t channels, double epsilon = 1e-5, double momentum = 0.1, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
  Parameter weight, bias, runningMean, runningVar;

private:
  Tensor normalize(const Tensor &x) const;
  double epsilon, momentum;
  /// Batches since the running moments had values; of all copies.
  std::shared_ptr<int> pending = std::make_shared<int>(0);
};

} // namespace zyx::nn

#endif // ZYX_NN_NORMS_H
