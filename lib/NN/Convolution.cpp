//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Convolution.h"

#include <cmath>

using namespace zyx;
using namespace zyx::nn;

/// Of both kinds: [first, second / groups, window...].
static Initial drawFilters(int64_t first, int64_t second, int64_t groups, const Dims &window, InitRngRef rng,
                           double &bound, const Place &where) {
  if (groups <= 0 || first % groups != 0 || second % groups != 0)
    throw Error(Status::invalidArgument("convolution: channels of " + std::to_string(first) + " and " +
                                        std::to_string(second) + " do not fall into " + std::to_string(groups) +
                                        " groups"),
                where);
  Shape shape = {second / groups};
  shape.insert(shape.end(), window.begin(), window.end());
  const int64_t reached = valueOrThrow(numElements(shape), where);
  bound = reached == 0 ? 0 : 1 / std::sqrt(static_cast<double>(reached));
  shape.insert(shape.begin(), first);
  return rng->uniformLater(std::move(shape), -bound, bound, where);
}

nn::Convolution::Convolution(int64_t in, int64_t out, Dims window, InitRngRef rng, ConvolutionOptions given,
                             bool hasBias, Place where)
    : options(std::move(given)) {
  double bound = 0;
  weight = add("weight", drawFilters(out, in, options.groups, window, rng, bound, where), where);
  if (hasBias)
    bias = add("bias", rng->uniformLater({out}, -bound, bound, where), where);
}

nn::TransposedConvolution::TransposedConvolution(int64_t in, int64_t out, Dims window, InitRngRef rng,
                                                 TransposedConvolutionOptions given, bool hasBias, Place where)
    : options(std::move(given)) {
  double bound = 0;
  weight = add("weight", drawFilters(in, out, options.groups, window, rng, bound, where), where);
  if (hasBias)
    bias = add("bias", rng->uniformLater({out}, -bound, bound, where), where);
}

Tensor nn::Convolution::operator()(const Tensor &x, Place where) const {
  return callFor("Convolution", where,
                 [&] { return convolution(x, *weight, bias.isDefined() ? *bias : Tensor(), options); });
}

Tensor nn::TransposedConvolution::operator()(const Tensor &x, Place where) const {
  return callFor("TransposedConvolution", where,
                 [&] { return transposedConvolution(x, *weight, bias.isDefined() ? *bias : Tensor(), options); });
}
