//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_RANDOMTENSOR_H
#define ZYX_BASE_RANDOMTENSOR_H

#include "zyx/Base/Tensor.h"

namespace zyx {

/// Reproducible numbers: floats in [-1, 1), integers of 0 to 15, bools. A type with symbols is refused.
Result<HostTensor> randomTensor(const TensorType &type, uint64_t seed);

} // namespace zyx

#endif // ZYX_BASE_RANDOMTENSOR_H
