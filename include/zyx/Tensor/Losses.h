//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Losses, and normalizations as functions. All take floats; f16 and bf16 are f32 inside.
#ifndef ZYX_TENSOR_LOSSES_H
#define ZYX_TENSOR_LOSSES_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// What becomes of the losses of elements or rows.
enum class Reduction { None, Mean, Sum };

// Of predictions and targets of one dtype and shape; what has another shape is refused, as it would
// otherwise broadcast unseen.
/// (x - target)^2.
Tensor mseLoss(const Tensor &x, const Tensor &target, Reduction reduction = Reduction::Mean,
               Place where = Place::current());
/// |x - target|.
Tensor l1Loss(const Tensor &x, const Tensor &target, Reduction reduction = Reduction::Mean,
              Place where = Place::current());
/// d^2 / 2 of distances d below delta, which is positive, and delta * (d - delta / 2) of others.
Tensor huberLoss(const Tensor &x, const Tensor &target, double delta = 1, Reduction reduction = Reduction::Mean,
                 Place where = Place::current());
/// huberLoss() divided by beta, its delta.
Tensor smoothL1Loss(const Tensor &x, const Tensor &target, double beta = 1, Reduction reduction = Reduction::Mean,
                    Place where = Place::current());
/// -target * log(p) - (1 - target) * log(1 - p), where p is the sigmoid of the logits, without overflow.
Tensor bceWithLogits(const Tensor &logits, const Tensor &target, Reduction reduction = Reduction::Mean,
                     Place where = Place::current());
/// target * (log(target) - x), where x are logarithms of probabilities; 0 where the target is 0.
Tensor klDivergence(const Tensor &x, const Tensor &target, Reduction reduction = Reduction::Mean,
                    Place where = Place::current());

struct ClassLossOptions {
  Reduction reduction = Reduction::Mean;
  /// Rows of this target have a loss of 0 and no gradient, and do not count in the mean, which is NaN where all are
  /// such.
  int64_t ignoreIndex = -100;
};
/// -x[target] of logarithms of probabilities [rows, classes] and integers [rows]; NaN where a target is neither a class
/// nor ignored.
Tensor nllLoss(const Tensor &x, const Tensor &target, Reduction reduction = Reduction::Mean,
               Place where = Place::current());
Tensor nllLoss(const Tensor &x, const Tensor &target, const ClassLossOptions &options, Place where = Place::current());
/// The same of logits: log(sum(exp(logits))) - logits[target].
Tensor crossEntropy(const Tensor &logits, const Tensor &targets, const ClassLossOptions &options = {},
                    Place where = Place::current());
/// The mean over rows of -sum(probabilities log(softmax(logits))): both [rows, classes], of floats.
Tensor softCrossEntropy(const Tensor &logits, const Tensor &probabilities, Reduction reduction = Reduction::Mean,
                        Place where = Place::current());
/// -target log(x) - (1 - target) log(1 - x) of probabilities, whose logarithms are at least -100.
Tensor bceLoss(const Tensor &x, const Tensor &target, Reduction reduction = Reduction::Mean,
               Place where = Place::current());

struct TripletOptions {
  double margin = 1;
  /// Of the norm.
  double p = 2;
  /// Added to each difference.
  double epsilon = 1e-6;
  /// The negative is as far as the nearer one of anchor and positive is.
  bool swap = false;
  Reduction reduction = Reduction::Mean;
};
/// max(|anchor - positive| - |anchor - negative| + margin, 0), with norms along the last dimension.
Tensor tripletMarginLoss(const Tensor &anchor, const Tensor &positive, const Tensor &negative,
                         TripletOptions options = {}, Place where = Place::current());

struct CtcOptions {
  /// The class that stands for no label.
  int64_t blank = 0;
  /// What cannot be read in so many steps costs 0 instead of infinity; its gradient is 0 both times.
  bool zeroInfinity = false;
  /// The mean is that of losses divided by the lengths of their targets.
  Reduction reduction = Reduction::Mean;
};
/// -log of the probability that a sequence of steps reads as the target, where labels may be repeated and blanks stand
/// between: logarithms of probabilities [steps, batch, classes], targets [batch, length], and of each the steps and
/// labels that count, [batch]. A label that is no class cannot be read. In f32 at least.
Tensor ctcLoss(const Tensor &logProbabilities, const Tensor &targets, const Tensor &steps, const Tensor &lengths,
               CtcOptions options = {}, Place where = Place::current());

// Normalizations: (x - mean) / sqrt(variance + epsilon) * weight + bias, where weight and bias may be no tensor.
/// Mean and variance of the last `dims` dimensions, whose shape weight and bias have.
Tensor layerNorm(const Tensor &x, int64_t dims, const Tensor &weight = {}, const Tensor &bias = {},
                 double epsilon = 1e-5, Place where = Place::current());
/// x / sqrt(mean(x^2) + epsilon) * weight.
Tensor rmsNorm(const Tensor &x, int64_t dims, const Tensor &weight = {}, double epsilon = 1e-5,
               Place where = Place::current());
/// Of x [batch, channels, ...], for each group of channels of an element of the batch; weight and bias [channels].
Tensor groupNorm(const Tensor &x, int64_t groups, const Tensor &weight = {}, const Tensor &bias = {},
                 double epsilon = 1e-5, Place where = Place::current());
/// Of x [batch, channels, ...], with mean and variance [channels] as they are given.
Tensor batchNorm(const Tensor &x, const Tensor &mean, const Tensor &variance, const Tensor &weight = {},
                 const Tensor &bias = {}, double epsilon = 1e-5, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_LOSSES_H
