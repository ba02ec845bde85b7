//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_IO_PRINT_H
#define ZYX_IO_PRINT_H

#include "zyx/Base/Tensor.h"

#include <string>

namespace zyx::io {

/// NumPy's print options; the defaults are NumPy's.
struct PrintOptions {
  /// Digits after the point at most.
  int precision = 8;
  /// Tensors of more elements are summarised: `edgeItems` at both ends of each dimension, "...".
  int64_t threshold = 1000;
  int64_t edgeItems = 3;
  int lineWidth = 75;
};

/// The text of NumPy's `str(array)`: "[[1.  2.5]\n [3.  4. ]]", without a final newline. bf16 and
/// f8, which NumPy lacks, print as the f32 of the same value.
std::string toString(const HostTensor &tensor, const PrintOptions &options = {});

} // namespace zyx::io

#endif // ZYX_IO_PRINT_H
