//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Ops that kernels of the user's own compute.
#ifndef ZYX_TENSOR_CUSTOM_H
#define ZYX_TENSOR_CUSTOM_H

#include "zyx/Graph/Implementation.h"
#include "zyx/Tensor/Tensor.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace zyx {

/// What a custom op computes, by ops that are there: of as many tensors as the op has inputs, and of their types.
using CustomMeaning = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;
using graph::Implementation;
using graph::Language;

/// An op by name whose meaning is a function, and that kernels of the user's own compute on the machines that they are
/// for (docs/custom-kernels.md). The function is called once, with tensors that have no values, and reads no others. It
/// is what other machines compute, and its gradient is the op's.
std::vector<Tensor> custom(const std::string &name, Tensors inputs, const CustomMeaning &meaning,
                           std::vector<Implementation> implementations, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_CUSTOM_H
