//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_PRINT_H
#define ZYX_TENSOR_PRINT_H

#include "zyx/IO/Print.h"
#include "zyx/Tensor/Tensor.h"

#include <ostream>
#include <string>

namespace zyx {

/// The type in a line, and then the elements, as NumPy prints them; computes them where that was not done. "none"
/// where there is no tensor.
std::string toString(const Tensor &x, const io::PrintOptions &options = {}, Place where = Place::current());
/// The same; of rank 0 the number alone, which goes into a line: "loss 0.845".
std::ostream &operator<<(std::ostream &stream, const Tensor &x);
std::ostream &operator<<(std::ostream &stream, DType dtype);
std::ostream &operator<<(std::ostream &stream, const TensorType &type);

} // namespace zyx

#endif // ZYX_TENSOR_PRINT_H
