//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AttributeBytes.h"

namespace zyx::graph {

/// The bit of the flags that a list of implementations follows.
static constexpr unsigned hasImplementations = 1 << 3;

static void writeTypes(ByteWriter &writer, const std::vector<TensorType> &types) {
  writer.u64(types.size());
  for (const TensorType &type : types) {
    writer.u8(static_cast<uint8_t>(type.dtype));
    writer.u64(type.shape.size());
    for (int64_t extent : type.shape)
      writer.i64(extent);
  }
}

static std::vector<TensorType> readTypes(ByteReader &reader) {
  std::vector<TensorType> types(reader.count("types", 9));
  for (TensorType &type : types) {
    const auto dtype = dtypeFromValue(reader.u8("a dtype"));
    type.dtype = dtype.value_or(DType::Bool);
    type.shape.resize(reader.count("extents", 8));
    for (int64_t &extent : type.shape)
      extent = reader.i64("an extent");
    // A type that no op has: the graph refuses it.
    if (!dtype)
      type.shape.assign(1, -1);
  }
  return types;
}

static void writeImplementations(ByteWriter &writer, const std::vector<Implementation> &implementations) {
  writer.u64(implementations.size());
  for (const Implementation &implementation : implementations) {
    writer.u8(static_cast<uint8_t>(implementation.language));
    writer.string(implementation.target);
    writer.string(implementation.entry);
    writer.string(implementation.text);
    writeTypes(writer, implementation.operands);
    writeTypes(writer, implementation.results);
    writer.i64(implementation.groups);
    writer.i64(implementation.threads);
    writer.i64(implementation.sharedBytes);
  }
}

static std::vector<Implementation> readImplementations(ByteReader &reader) {
  std::vector<Implementation> implementations(reader.count("implementations", 65));
  for (Implementation &implementation : implementations) {
    implementation.language = static_cast<Language>(reader.u8("a language"));
    implementation.target = reader.string("a target");
    implementation.entry = reader.string("an entry");
    implementation.text = reader.string("a text");
    implementation.operands = readTypes(reader);
    implementation.results = readTypes(reader);
    implementation.groups = reader.i64("groups");
    implementation.threads = reader.i64("threads");
    implementation.sharedBytes = reader.i64("shared bytes");
  }
  return implementations;
}

void writeAttributes(ByteWriter &writer, const Attributes &attributes) {
  writer.u8(attributes.kind);
  writer.u8(static_cast<uint8_t>(attributes.splat | attributes.exclusive << 1 | attributes.reverse << 2 |
                                 (attributes.implementations.empty() ? 0 : hasImplementations)));
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
  if (!attributes.implementations.empty())
    writeImplementations(writer, attributes.implementations);
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
  if (flags & hasImplementations)
    attributes.implementations = readImplementations(reader);
  return attributes;
}

} // namespace zyx::graph
