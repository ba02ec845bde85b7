//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Losses.h"

#include "Compose.h"
#include "zyx/Tensor/Functions.h"

#include <cmath>

using namespace zyx;
using namespace zyx::detail;

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

static void expectPair(const Tensor &x, const Tensor &target, std::string_view function, const Place &where) {
  expectFloat(x, function, where);
  expectTensor(target, function, where);
  if (x.type() != target.type())
    refuse(std::string(function) + ": predictions of type " + toString(x.type()) + " and targets of type " +
               toString(target.type()),
           where);
}

/// The losses, which are wide, in the dtype of what they are made of.
static Tensor reduced(const Tensor &losses, Reduction reduction, DType dtype, const Place &where) {
  switch (reduction) {
  case Reduction::None:
    return losses.cast(dtype, where);
  case Reduction::Mean:
    return losses.mean({}, false, where).cast(dtype, where);
  case Reduction::Sum:
    return losses.sum({}, false, where).cast(dtype, where);
  }
  return losses;
}

static Tensor distances(const Tensor &x, const Tensor &target, const Place &where) {
  const At at{where};
  return at(wide(x, where)) - at(wide(target, where));
}

Tensor zyx::mseLoss(const Tensor &x, const Tensor &target, Reduction reduction, Place where) {
  expectPair(x, target, "mseLoss", where);
  const At at{where};
  const Tensor d = distances(x, target, where);
  return reduced(at(d) * at(d), reduction, x.dtype(), where);
}

Tensor zyx::l1Loss(const Tensor &x, const Tensor &target, Reduction reduction, Place where) {
  expectPair(x, target, "l1Loss", where);
  return reduced(distances(x, target, where).abs(where), reduction, x.dtype(), where);
}

static Tensor huber(const Tensor &x, const Tensor &target, double delta, double scale, Reduction reduction,
                    std::string_view function, const Place &where) {
  expectPair(x, target, function, where);
  if (!(delta > 0))
    refuse(std::string(function) + ": a threshold of " + std::to_string(delta) + " is not positive", where);
  const At at{where};
  const Tensor d = distances(x, target, where).abs(where);
  const Tensor near = at(at(d) * at(d)) * at(0.5 * scale), far = at(at(d) - at(0.5 * delta)) * at(delta * scale);
  return reduced(zyx::where(at(d) < at(delta), at(near), at(far)), reduction, x.dtype(), where);
}

Tensor zyx::huberLoss(const Tensor &x, const Tensor &target, double delta, Reduction reduction, Place where) {
  return huber(x, target, delta, 1, reduction, "huberLoss", where);
}
Tensor zyx::smoothL1Loss(const Tensor &x, const Tensor &target, double beta, Reduction reduction, Place where) {
  return huber(x, target, beta, 1 / beta, reduction, "smoothL1Loss", where);
}

/// max(x, 0) - x * target + log(1 + exp(-|x|)). At 0 the maximum has a slope of 1/2 and the rest has none.
Tensor zyx::bceWithLogits(const Tensor &logits, const Tensor &target, Reduction reduction, Place where) {
  expectPair(logits, target, "bceWithLogits", where);
  const At at{where};
  const Tensor x = wide(logits, where), t = wide(target, where);
  const Tensor rest = log1p(x.abs(where).neg(where).exp(where), where);
  const Tensor linear = at(maximum(at(x), at(0))) - at(at(x) * at(t));
  return reduced(at(linear) + at(rest), reduction, logits.dtype(), where);
}

Tensor zyx::klDivergence(const Tensor &x, const Tensor &target, Reduction reduction, Place where) {
  expectPair(x, target, "klDivergence", where);
  const At at{where};
  const Tensor p = wide(target, where), isZero = at(p) == at(0);
  // The logarithm of what is left out has no gradient that is infinite.
  const Tensor logarithm = zyx::where(isZero, at(1), at(p)).log(where);
  const Tensor terms = at(p) * at(at(logarithm) - at(wide(x, where)));
  return reduced(zyx::where(isZero, at(0), at(terms)), reduction, x.dtype(), where);
}

static void expectRows(const Tensor &x, const Tensor &target, std::string_view function, const char *what,
                       const Place &where) {
  expectFloat(x, function, where);
  expectTensor(target, function, where);
  if (x.rank() != 2 || target.rank() != 1 || x.shape()[0] != target.shape()[0])
    refuse(std::string(function) + ": " + what + " of shape " + toString(x.shape()) + " and targets of shape " +
               toString(target.shape()) + " are not [rows, classes] and [rows]",
           where);
}

/// Of logarithms, which are wide.
static Tensor classLosses(const Tensor &x, const Tensor &target, const ClassLossOptions &options, DType dtype,
                          const Place &where) {
  const At at{where};
  const int64_t classes = x.shape()[1];
  const Tensor chosen = oneHot(target, classes, DType::Bool, where);
  Tensor losses = zyx::where(chosen, at(x), at(0)).sum({1}, false, where).neg(where);
  // Numbers that the targets' dtype does not hold are none of them.
  auto holds = [&](int64_t number) { return isRepresentable(static_cast<double>(number), target.dtype()); };
  if (isSignedInteger(target.dtype()))
    losses = zyx::where(at(target) >= at(0), at(losses), at(NAN));
  if (holds(classes))
    losses = zyx::where(at(target) < at(classes), at(losses), at(NAN));
  if (!holds(options.ignoreIndex))
    return reduced(losses, options.reduction, dtype, where);
  const Tensor counts = at(target) != at(options.ignoreIndex);
  losses = zyx::where(counts, at(losses), at(0));
  if (options.reduction != Reduction::Mean)
    return reduced(losses, options.reduction, dtype, where);
  const Tensor count = counts.sum({}, false, where).cast(x.dtype(), where);
  return (at(losses.sum({}, false, where)) / at(count)).cast(dtype, where);
}

Tensor zyx::nllLoss(const Tensor &x, const Tensor &target, const ClassLossOptions &options, Place where) {
  expectRows(x, target, "nllLoss", "logarithms", where);
  return classLosses(wide(x, where), target, options, x.dtype(), where);
}

Tensor zyx::nllLoss(const Tensor &x, const Tensor &target, Reduction reduction, Place where) {
  return nllLoss(x, target, ClassLossOptions{.reduction = reduction}, where);
}

Tensor zyx::crossEntropy(const Tensor &logits, const Tensor &targets, const ClassLossOptions &options, Place where) {
  expectRows(logits, targets, "crossEntropy", "logits", where);
  return classLosses(wide(logits, where).logSoftmax(1, where), targets, options, logits.dtype(), where);
}

Tensor zyx::softCrossEntropy(const Tensor &logits, const Tensor &probabilities, Reduction reduction, Place where) {
  expectPair(logits, probabilities, "softCrossEntropy", where);
  if (logits.rank() != 2)
    refuse("softCrossEntropy: logits of shape " + toString(logits.shape()) + " are not [rows, classes]", where);
  const At at{where};
  const Tensor products = at(wide(probabilities, where)) * at(wide(logits, where).logSoftmax(1, where));
  return reduced(products.sum({1}, false, where).neg(where), reduction, logits.dtype(), where);
}

/// The logarithm of 0 is not taken: its gradient would be infinite, and NaN where it counts for nothing.
Tensor zyx::bceLoss(const Tensor &x, const Tensor &target, Reduction reduction, Place where) {
  expectPair(x, target, "bceLoss", where);
  const At at{where};
  const auto logarithm = [&](const Tensor &p) {
    const Tensor isZero = at(p) == at(0);
    const Tensor log = maximum(at(zyx::where(isZero, at(1), at(p)).log(where)), at(-100));
    return zyx::where(isZero, at(-100), at(log));
  };
  const Tensor p = wide(x, where), t = wide(target, where);
  const Tensor yes = at(t) * at(logarithm(p)), no = at(at(1) - at(t)) * at(logarithm(at(1) - at(p)));
  return reduced((at(yes) + at(no)).neg(where), reduction, x.dtype(), where);
}

Tensor zyx::tripletMarginLoss(const Tensor &anchor, const Tensor &positive, const Tensor &negative,
                              TripletOptions options, Place where) {
  expectPair(anchor, positive, "tripletMarginLoss", where);
  expectPair(anchor, negative, "tripletMarginLoss", where);
  const At at{where};
  const auto distance = [&](const Tensor &a, const Tensor &b) {
    return norm(at(distances(a, b, where)) + at(options.epsilon), options.p, {-1}, false, where);
  };
  Tensor far = distance(anchor, negative);
  if (options.swap)
    far = minimum(at(far), at(distance(positive, negative)));
  const Tensor rest = at(at(distance(anchor, positive)) - at(far)) + at(options.margin);
  return reduced(rest.relu(where), options.reduction, anchor.dtype(), where);
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

/// A parameter in a shape that broadcasts to x; `own` is the shape that it has to have.
static Tensor parameter(const Tensor &given, const Shape &own, const Shape &shape, std::string_view function,
                        std::string_view what, const Place &where) {
  if (!given.isDefined() || given.shape() != own || !isFloat(given.dtype()))
    refuse(std::string(function) + ": a " + std::string(what) + " of type " +
               (given.isDefined() ? toString(given.type()) : "none") + ", not floats of shape " + toString(own),
           where);
  return wide(given, where).reshape(shape, where);
}

/// x * weight + bias, of floats that are wide.
static Tensor scaled(const Tensor &x, const Tensor &weight, const Tensor &bias, const Shape &own, const Shape &shape,
                     std::string_view function, const Place &where) {
  const At at{where};
  Tensor result = x;
  if (weight.isDefined())
    result = at(result) * at(parameter(weight, own, shape, function, "weight", where));
  if (bias.isDefined())
    result = at(result) + at(parameter(bias, own, shape, function, "bias", where));
  return result;
}

static Tensor standardized(const Tensor &x, const Dims &dims, double epsilon, const Place &where) {
  const At at{where};
  const Tensor distance = at(x) - at(x.mean(dims, true, where));
  const Tensor variance = (at(distance) * at(distance)).mean(dims, true, where);
  return at(distance) * at((at(variance) + at(epsilon)).rsqrt(where));
}

static Dims lastDims(const Tensor &x, int64_t count, std::string_view function, const Place &where) {
  expectFloat(x, function, where);
  if (count < 1 || count > x.rank())
    refuse(std::string(function) + ": a tensor of rank " + std::to_string(x.rank()) + " has no last " +
               std::to_string(count) + " dimensions",
           where);
  Dims dims;
  for (int64_t i = count; i > 0; --i)
    dims.push_back(-i);
  return dims;
}

Tensor zyx::layerNorm(const Tensor &x, int64_t dims, const Tensor &weight, const Tensor &bias, double epsilon,
                      Place where) {
  const Dims last = lastDims(x, dims, "layerNorm", where);
  const Shape own(x.shape().end() - dims, x.shape().end());
  const Tensor unit = standardized(wide(x, where), last, epsilon, where);
  return scaled(unit, weight, bias, own, own, "layerNorm", where).cast(x.dtype(), where);
}

Tensor zyx::rmsNorm(const Tensor &x, int64_t dims, const Tensor &weight, double epsilon, Place where) {
  const Dims last = lastDims(x, dims, "rmsNorm", where);
  const At at{where};
  const Shape own(x.shape().end() - dims, x.shape().end());
  const Tensor given = wide(x, where), squares = (at(given) * at(given)).mean(last, true, where);
  const Tensor unit = at(given) * at((at(squares) + at(epsilon)).rsqrt(where));
  return scaled(unit, weight, {}, own, own, "rmsNorm", where).cast(x.dtype(), where);
}

/// The shape of what there is one of per channel, beside x.
static Shape besideChannels(const Tensor &x, std::string_view function, const Place &where) {
  expectFloat(x, function, where);
  if (x.rank() < 2)
    refuse(std::string(function) + ": a tensor of rank " + std::to_string(x.rank()) + " has no channels", where);
  Shape shape(x.rank() - 1, 1);
  shape[0] = x.shape()[1];
  return shape;
}

Tensor zyx::groupNorm(const Tensor &x, int64_t groups, const Tensor &weight, const Tensor &bias, double epsilon,
                      Place where) {
  const Shape shape = besideChannels(x, "groupNorm", where);
  const int64_t channels = shape[0];
  if (groups < 1 || channels % groups != 0)
    refuse("groupNorm: " + std::to_string(channels) + " channels do not fall into " + std::to_string(groups) +
               " groups",
           where);
  Shape apart = x.shape();
  apart[1] /= groups;
  apart.insert(apart.begin() + 1, groups);
  const Dims dims = lastDims(x, x.rank() - 1, "groupNorm", where);
  const Tensor unit =
      standardized(wide(x, where).reshape(apart, where), dims, epsilon, where).reshape(x.shape(), where);
  return scaled(unit, weight, bias, {channels}, shape, "groupNorm", where).cast(x.dtype(), where);
}

Tensor zyx::batchNorm(const Tensor &x, const Tensor &mean, const Tensor &variance, const Tensor &weight,
                      const Tensor &bias, double epsilon, Place where) {
  const Shape shape = besideChannels(x, "batchNorm", where), own = {shape[0]};
  const At at{where};
  const Tensor center = parameter(mean, own, shape, "batchNorm", "mean", where);
  const Tensor spread = parameter(variance, own, shape, "batchNorm", "variance", where);
  const Tensor unit = at(at(wide(x, where)) - at(center)) * at((at(spread) + at(epsilon)).rsqrt(where));
  return scaled(unit, weight, bias, own, shape, "batchNorm", where).cast(x.dtype(), where);
}
