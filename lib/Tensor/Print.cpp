//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Print.h"

std::string zyx::toString(const Tensor &x, const io::PrintOptions &options, Place where) {
  return x ? toString(x.type()) + "\n" + io::toString({x.type(), x.bytes(where)}, options) : "none";
}

std::ostream &zyx::operator<<(std::ostream &stream, const Tensor &x) { return stream << toString(x); }
