//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_CONVOLUTION_H
#define ZYX_NN_CONVOLUTION_H

#include "zyx/NN/Layers.h"
#include "zyx/Tensor/Convolution.h"

namespace zyx::nn {

/// convolution() of [batch, in, positions...] along as many dimensions as `window` has extents. weight
/// [out, in / groups, window...] and bias [out] begin uniform in +-1 / sqrt(elements of a filter).
class Convolution : public Module {
public:
  Convolution(int64_t in, int64_t out, Dims window, InitRngRef rng, ConvolutionOptions options = {},
              bool hasBias = true, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
  Parameter weight, bias;

private:
  ConvolutionOptions options;
};

/// transposedConvolution() of the same. weight [in, out / groups, window...] and bias [out] begin uniform in
/// +-1 / sqrt(elements that an input reaches), as PyTorch's do.
class TransposedConvolution : public Module {
public:
  TransposedConvolution(int64_t in, int64_t out, Dims window, InitRngRef rng, TransposedConvolutionOptions options = {},
                        bool hasBias = true, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
  Parameter weight, bias;

private:
  TransposedConvolutionOptions options;
};

} // namespace zyx::nn

#endif // ZYX_NN_CONVOLUTION_H
