//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/BlockFormat.h"

using namespace zyx;

namespace {

struct Facts {
  std::string_view name;
  int64_t elements, bytes;
};

/// In the order of the enumeration.
constexpr Facts formats[numBlockFormats] = {
    {"Q4_0", 32, 18},  {"Q4_1", 32, 20},   {"Q5_0", 32, 22},   {"Q5_1", 32, 24},   {"Q8_0", 32, 34},
    {"Q2_K", 256, 84}, {"Q3_K", 256, 110}, {"Q4_K", 256, 144}, {"Q5_K", 256, 176}, {"Q6_K", 256, 210},
};

const Facts &factsOf(BlockFormat format) { return formats[static_cast<size_t>(format)]; }

} // namespace

int64_t zyx::blockElements(BlockFormat format) { return factsOf(format).elements; }
int64_t zyx::blockBytes(BlockFormat format) { return factsOf(format).bytes; }
std::string_view zyx::toString(BlockFormat format) { return factsOf(format).name; }

Result<TensorType> zyx::blockedType(BlockFormat format, const Shape &shape) {
  const Facts &facts = factsOf(format);
  if (shape.empty() || shape.back() % facts.elements != 0)
    return Status::invalidArgument("rows of " + toString(shape) + " are no whole number of " + std::string(facts.name) +
                                   " blocks of " + std::to_string(facts.elements) + " elements");
  TensorType type{DType::U8, shape};
  if (__builtin_mul_overflow(shape.back() / facts.elements, facts.bytes, &type.shape.back()))
    return Status::invalidArgument("the bytes of " + toString(shape) + " do not fit in 63 bits");
  ZYX_RETURN_IF_ERROR(byteSize(type).status());
  return type;
}
