//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AttributeBytes.h"

namespace zyx::graph {

void writeAttributes(ByteWriter &writer, const Attributes &attributes) {
  writer.u8(attributes.kind);
  writer.u8(static_cast<uint8_t>(attributes.splat | attributes.exclusive << 1 | attributes.reverse << 2));
  for (const auto *list : {&attributes.dims, &attributes.low, &attributes.high, &attributes.interior, &attributes.size,
                           &attributes.stride, &attributes.dilation}) {
    writer.u64(list->size());
    for (int64_t number : *list)
      writer.i64(number);
  }
  writer.blob(attributes.value);
  writer.string(attributes.name);
  writer.i64(attributes.result);
  writer.i64(attributes.trips);
}

Attributes readAttributes(ByteReader &reader, uint8_t &flags) {
  Attributes attributes;
  attributes.kind = reader.u8("a kind");
  flags = reader.u8("the flags");
  attributes.splat = flags & 1;
  attributes.exclusive = flags >> 1 & 1;
  attributes.reverse = flags >> 2 & 1;
  for (auto *list : {&attributes.dims, &attributes.low, &attributes.high, &attributes.interior, &attributes.size,
                     &attributes.stride, &attributes.dilation}) {
    list->resize(reader.count("numbers", 8));
    for (int64_t &number : *list)
      number = reader.i64("a number");
  }
  const std::span<const std::byte> value = reader.blob("a constant");
  attributes.value.assign(value.begin(), value.end());
  attributes.name = reader.string("a name");
  attributes.result = reader.i64("a result's number");
  attributes.trips = reader.i64("trips");
  return attributes;
}

} // namespace zyx::graph
