//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BENCHMARKS_PEERS_H
#define ZYX_BENCHMARKS_PEERS_H

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zyx::bench {

/// Name and version of each library measured beside zyx.
std::vector<std::pair<std::string, std::string>> peerVersions();

using Call = std::function<void()>;

/// c = a * b, all n x n, row-major.
Call openblasSgemm(int n, const float *a, const float *b, float *c);
Call onednnSgemm(int n, const float *a, const float *b, float *c);

/// Over rows of a rows x columns matrix. `scaleShift` holds the scales, then the shifts.
Call onednnSoftmax(int64_t rows, int64_t columns, const float *x, float *y);
Call onednnLayerNorm(int64_t rows, int64_t columns, const float *x, const float *scaleShift,
                     float *y);
Call onednnAdd(int64_t rows, int64_t columns, const float *x, const float *y, float *z);
/// The ten ops of programs/chain.mlir, as one addition with operations after it.
Call onednnChain(int64_t rows, int64_t columns, const float *x, const float *y, float *z);

} // namespace zyx::bench

#endif // ZYX_BENCHMARKS_PEERS_H
