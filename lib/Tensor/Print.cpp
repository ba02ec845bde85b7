//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Print.h"

std::string zyx::toString(const Tensor &x, const io::PrintOptions &options, Place where) {
  return x.isDefined() ? toString(x.type()) + "\n" + io::toString({x.type(), x.bytes(where)}, options) : "none";
}

std::ostream &zyx::operator<<(std::ostream &stream, const Tensor &x) {
  if (x.isDefined() && x.rank() == 0)
    return stream << io::toString({x.type(), x.bytes()});
  return stream << toString(x);
}

std::ostream &zyx::operator<<(std::ostream &stream, DType dtype) { return stream << toString(dtype); }
std::ostream &zyx::operator<<(std::ostream &stream, const TensorType &type) { return stream << toString(type); }
