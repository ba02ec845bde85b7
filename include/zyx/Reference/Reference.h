//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_REFERENCE_REFERENCE_H
#define ZYX_REFERENCE_REFERENCE_H

#include "zyx/Base/Tensor.h"
#include "zyx/Graph/Graph.h"

#include <span>
#include <vector>

/// The interpreter: the meaning of every op, as code that shares nothing with the compiler. What
/// another device computes is compared with it.
namespace zyx::reference {

struct Options {
  /// Bytes of values that may be alive at once, inputs not counted; 0 is this machine's memory.
  int64_t maxBytes = 0;
};

/// Evaluates the outputs of a graph, in their order, from one tensor per graph input. To bind other
/// parameters, list them among the graph's inputs.
///
/// Every op rounds to its dtype: + - * / sqrt correctly, f32 and f16 transcendentals from double.
/// Where the meaning leaves a freedom, in floating sums and products of a reduce, the reference
/// is as near to the exact value as it can cheaply be: f16, bf16 and f32 accumulate in double and
/// round once, f64 sums are compensated.
///
/// Views are index maps and are never stored; elementwise ops whose only use is one place of one
/// reduce (or of one stored value) are evaluated there, in blocks. So a matmul written as
/// reduce(mul(expand, expand)) needs memory for its operands and its result alone.
///
/// Fails on inputs that do not fit the graph, on a value larger than maxTensorBytes
/// (InvalidArgument), and where values alive at once exceed `maxBytes` (OutOfMemory).
Result<std::vector<HostTensor>> evaluate(const graph::Graph &graph, std::span<const HostTensor> inputs,
                                         const Options &options = {});

} // namespace zyx::reference

#endif // ZYX_REFERENCE_REFERENCE_H
