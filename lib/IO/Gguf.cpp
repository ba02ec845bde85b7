//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Gguf.h"

#include "Detail.h"
#include "zyx/Base/Allocate.h"
#include "zyx/Base/Bytes.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_set>

using namespace zyx;
using namespace zyx::io;

namespace {

constexpr uint32_t magic = 0x46554747; // "GGUF"
/// Vocabularies of a quarter of a million words need less than 16 MiB.
constexpr uint64_t maxHeaderBytes = uint64_t(256) << 20;
constexpr uint64_t defaultAlignment = 32;
constexpr uint64_t maxNameBytes = 65535;
/// Arrays of arrays.
constexpr int maxNesting = 8;

struct TensorFormat {
  uint32_t number;
  std::variant<DType, BlockFormat> format;
};
constexpr TensorFormat formats[] = {
    {0, DType::F32},         {1, DType::F16},         {30, DType::BF16},       {28, DType::F64},
    {24, DType::I8},         {25, DType::I16},        {26, DType::I32},        {27, DType::I64},
    {2, BlockFormat::Q4_0},  {3, BlockFormat::Q4_1},  {6, BlockFormat::Q5_0},  {7, BlockFormat::Q5_1},
    {8, BlockFormat::Q8_0},  {10, BlockFormat::Q2_K}, {11, BlockFormat::Q3_K}, {12, BlockFormat::Q4_K},
    {13, BlockFormat::Q5_K}, {14, BlockFormat::Q6_K},
};

/// The types of metadata, by their numbers in the file.
enum class ValueType : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

uint64_t minBytes(ValueType type) {
  switch (type) {
  case ValueType::U8:
  case ValueType::I8:
  case ValueType::Bool:
    return 1;
  case ValueType::U16:
  case ValueType::I16:
    return 2;
  case ValueType::U32:
  case ValueType::I32:
  case ValueType::F32:
    return 4;
  case ValueType::String:
  case ValueType::U64:
  case ValueType::I64:
  case ValueType::F64:
    return 8;
  case ValueType::Array:
    return 12;
  }
  return 0;
}

} // namespace

/// Parses the start of a file.
class io::GgufHeaderReader {
public:
  GgufHeaderReader(std::span<const std::byte> start, uint64_t fileSize)
      : from(start), startSize(start.size()), fileSize(fileSize) {}

  /// The header goes on behind `start`, or claims to.
  bool isCut() const { return !from.status().isOk(); }
  Status cut() const { return from.status(); }

  Result<GgufFile::Header> read() {
    if (from.u32("magic") != magic)
      return Status::dataCorruption("not a GGUF file");
    header.version = from.u32("version");
    if (header.version == 0x02000000 || header.version == 0x03000000)
      return Status::unsupported("holds big-endian numbers");
    if (header.version != 2 && header.version != 3)
      return Status::unsupported("has GGUF version " + std::to_string(header.version) + "; 2 and 3 are known");
    // A name's length, the number of dimensions, the type and the offset.
    const uint64_t numTensors = from.count("tensors", 8 + 4 + 4 + 8);
    // A key's length, the type and one byte.
    const uint64_t numValues = from.count("metadata", 8 + 4 + 1);
    for (uint64_t i = 0; i < numValues; ++i)
      ZYX_RETURN_IF_ERROR(readEntry());
    ZYX_RETURN_IF_ERROR(setAlignment());
    for (uint64_t i = 0; i < numTensors; ++i)
      ZYX_RETURN_IF_ERROR(readTensor());
    ZYX_RETURN_IF_ERROR(from.status());
    ZYX_RETURN_IF_ERROR(place());
    return std::move(header);
  }

private:
  /// What the zeros behind the end of `start` look like is no matter.
  Status fail(const std::string &why) { return from.status().isOk() ? Status::dataCorruption(why) : from.status(); }

  uint64_t u16() {
    const uint64_t low = from.u8("value");
    return low | uint64_t(from.u8("value")) << 8;
  }
  uint64_t unsignedNumber(ValueType type) {
    switch (minBytes(type)) {
    case 1:
      return from.u8("value");
    case 2:
      return u16();
    case 4:
      return from.u32("value");
    default:
      return from.u64("value");
    }
  }
  int64_t signedNumber(ValueType type) {
    const int unused = 64 - 8 * static_cast<int>(minBytes(type));
    return static_cast<int64_t>(unsignedNumber(type) << unused) >> unused;
  }
  double floatNumber(ValueType type) {
    if (type == ValueType::F32)
      return std::bit_cast<float>(from.u32("value"));
    return from.f64("value");
  }

  Result<bool> truth(const std::string &key) {
    const uint8_t value = from.u8("value");
    if (value > 1)
      return fail("'" + key + "' has the bool " + std::to_string(value));
    return value == 1;
  }

  template <typename T, typename Read> std::vector<T> array(uint64_t count, Read read) {
    std::vector<T> values;
    values.reserve(count);
    for (uint64_t i = 0; i < count && from.status().isOk(); ++i)
      values.push_back(read());
    return values;
  }

  Result<GgufValue> readArray(const std::string &key, int depth) {
    if (depth == maxNesting)
      return fail("'" + key + "' has more than " + std::to_string(maxNesting) + " arrays inside of each other");
    const auto type = static_cast<ValueType>(from.u32("type"));
    if (minBytes(type) == 0)
      return fail("'" + key + "' has values of the unknown type " + std::to_string(static_cast<uint32_t>(type)));
    const uint64_t count = from.count("values", minBytes(type));
    switch (type) {
    case ValueType::Bool: {
      std::vector<bool> values;
      for (uint64_t i = 0; i < count; ++i) {
        ZYX_ASSIGN_OR_RETURN(const bool value, truth(key));
        values.push_back(value);
      }
      return GgufValue{std::move(values)};
    }
    case ValueType::String:
      return GgufValue{array<std::string>(count, [&] { return from.string("text"); })};
    case ValueType::F32:
    case ValueType::F64:
      return GgufValue{array<double>(count, [&] { return floatNumber(type); })};
    case ValueType::Array: {
      std::vector<GgufValue> values;
      for (uint64_t i = 0; i < count; ++i) {
        ZYX_ASSIGN_OR_RETURN(GgufValue value, readArray(key, depth + 1));
        values.push_back(std::move(value));
      }
      return GgufValue{std::move(values)};
    }
    case ValueType::I8:
    case ValueType::I16:
    case ValueType::I32:
    case ValueType::I64:
      return GgufValue{array<int64_t>(count, [&] { return signedNumber(type); })};
    default:
      return GgufValue{array<uint64_t>(count, [&] { return unsignedNumber(type); })};
    }
  }

  Result<GgufValue> readValue(const std::string &key) {
    const auto type = static_cast<ValueType>(from.u32("type"));
    switch (type) {
    case ValueType::Bool: {
      ZYX_ASSIGN_OR_RETURN(const bool value, truth(key));
      return GgufValue{value};
    }
    case ValueType::String:
      return GgufValue{from.string("text")};
    case ValueType::F32:
    case ValueType::F64:
      return GgufValue{floatNumber(type)};
    case ValueType::Array:
      return readArray(key, 0);
    case ValueType::I8:
    case ValueType::I16:
    case ValueType::I32:
    case ValueType::I64:
      return GgufValue{signedNumber(type)};
    case ValueType::U8:
    case ValueType::U16:
    case ValueType::U32:
    case ValueType::U64:
      return GgufValue{unsignedNumber(type)};
    }
    return fail("'" + key + "' has the unknown type " + std::to_string(static_cast<uint32_t>(type)));
  }

  Status readEntry() {
    std::string key = from.string("key");
    if (key.empty() || key.size() > maxNameBytes)
      return fail("a key of the metadata has " + std::to_string(key.size()) + " bytes");
    if (header.metadata.contains(key))
      return fail("the key '" + key + "' is a duplicate");
    ZYX_ASSIGN_OR_RETURN(GgufValue value, readValue(key));
    ZYX_RETURN_IF_ERROR(from.status());
    header.metadata.emplace(std::move(key), std::move(value));
    return Status::ok();
  }

  Status setAlignment() {
    header.alignment = defaultAlignment;
    const auto found = header.metadata.find("general.alignment");
    if (found == header.metadata.end())
      return Status::ok();
    const uint64_t *value = found->second.as<uint64_t>();
    if (!value || !std::has_single_bit(*value) || *value > maxHeaderBytes)
      return fail("general.alignment is no power of two");
    header.alignment = *value;
    return Status::ok();
  }

  Status readTensor() {
    GgufFile::Tensor tensor;
    tensor.name = from.string("name");
    if (tensor.name.empty() || tensor.name.size() > maxNameBytes)
      return fail("the name of a tensor has " + std::to_string(tensor.name.size()) + " bytes");
    const std::string what = "tensor '" + tensor.name + "' ";
    if (!names.insert(tensor.name).second)
      return fail(what + "is a duplicate");
    const uint32_t rank = from.u32("rank");
    if (rank > static_cast<uint32_t>(maxRank))
      return fail(what + "has " + std::to_string(rank) + " dimensions; at most " + std::to_string(maxRank) +
                  " are accepted");
    for (uint32_t d = 0; d < rank; ++d) {
      const uint64_t extent = from.u64("extent");
      if (extent > INT64_MAX)
        return fail(what + "has the extent " + std::to_string(extent));
      // The file names the fastest dimension first.
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(extent));
    }
    const uint32_t number = from.u32("type");
    const auto *known = std::ranges::find(formats, number, &TensorFormat::number);
    if (known == std::end(formats)) {
      // How many bytes it has is not known, but where they begin.
      tensor.offset = from.u64("offset");
      ZYX_RETURN_IF_ERROR(from.status());
      header.unsupported.emplace(tensor.name, "type " + std::to_string(number));
      unknown.push_back(std::move(tensor));
      return Status::ok();
    }
    tensor.format = known->format;
    tensor.offset = from.u64("offset");
    ZYX_RETURN_IF_ERROR(from.status());
    if (tensor.blocks()) {
      Result<TensorType> stored = blockedType(*tensor.blocks(), tensor.shape);
      if (!stored)
        return fail(what + "is refused: " + stored.status().message());
      tensor.stored = std::move(*stored);
    } else {
      tensor.stored = {*tensor.dtype(), tensor.shape};
    }
    Result<int64_t> size = byteSize(tensor.stored);
    if (!size)
      return fail(what + "is refused: " + size.status().message());
    tensor.size = static_cast<uint64_t>(*size);
    header.tensors.push_back(std::move(tensor));
    return Status::ok();
  }

  /// Checks where the tensors lie, and moves their offsets to count from the start of the file.
  Status place() {
    const uint64_t headerSize = startSize - from.remaining();
    const uint64_t dataOffset = (headerSize + header.alignment - 1) & ~(header.alignment - 1);
    const uint64_t dataSize = fileSize - std::min(dataOffset, fileSize);
    std::vector<const GgufFile::Tensor *> order;
    std::vector<GgufFile::Tensor *> all;
    for (std::vector<GgufFile::Tensor> *tensors : {&header.tensors, &unknown})
      for (GgufFile::Tensor &tensor : *tensors)
        all.push_back(&tensor);
    for (GgufFile::Tensor *one : all) {
      GgufFile::Tensor &tensor = *one;
      const std::string what = "tensor '" + tensor.name + "' ";
      if (tensor.offset % header.alignment != 0)
        return fail(what + "starts at byte " + std::to_string(tensor.offset) + " of the data, no multiple of " +
                    std::to_string(header.alignment));
      if (header.unsupported.contains(tensor.name))
        tensor.size = tensor.offset < dataSize ? 1 : 0;
      if (tensor.offset > dataSize || tensor.size > dataSize - tensor.offset)
        return fail(what + "has " + std::to_string(tensor.size) + " bytes at " + std::to_string(tensor.offset) +
                    " of " + std::to_string(dataSize) + " bytes of data");
      tensor.offset += dataOffset;
      if (tensor.size != 0)
        order.push_back(&tensor);
    }
    std::ranges::sort(order, {}, &GgufFile::Tensor::offset);
    for (size_t i = 1; i < order.size(); ++i)
      if (order[i - 1]->offset + order[i - 1]->size > order[i]->offset)
        return fail("tensors '" + order[i - 1]->name + "' and '" + order[i]->name + "' overlap");
    return Status::ok();
  }

public:
  static Result<GgufFile> open(const std::string &path) {
    ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, ReadOnlyFile::open(path));
    auto named = [&](const Status &status) { return io::named(path, status); };
    // How long the header is shows when it is read: more and more of the file is tried.
    const uint64_t most = std::min(file.size(), maxHeaderBytes);
    for (uint64_t size = std::min<uint64_t>(most, 1 << 16);; size = std::min(most, size * 8)) {
      std::vector<std::byte> start(size);
      ZYX_RETURN_IF_ERROR(file.read(0, start));
      GgufHeaderReader reader(start, file.size());
      Result<GgufFile::Header> header = reader.read();
      if (reader.isCut() && size < most)
        continue;
      if (reader.isCut() && size < file.size())
        return named(Status::unsupported("has a header of more than " + std::to_string(maxHeaderBytes) + " bytes"));
      if (reader.isCut())
        return named(reader.cut());
      if (!header)
        return named(header.status());
      return GgufFile(std::move(file), std::move(*header));
    }
  }

private:
  ByteReader from;
  uint64_t startSize, fileSize;
  GgufFile::Header header;
  std::unordered_set<std::string> names;
  /// Of types that are not known, with one byte each where that is in the file.
  std::vector<GgufFile::Tensor> unknown;
};

Result<GgufFile> GgufFile::open(const std::string &path) { return GgufHeaderReader::open(path); }

const GgufFile::Tensor *GgufFile::find(std::string_view name) const {
  const auto found = std::ranges::find(header.tensors, name, &Tensor::name);
  return found == header.tensors.end() ? nullptr : &*found;
}

Result<HostTensor> GgufFile::read(std::string_view name) const {
  const Tensor *tensor = find(name);
  if (const auto other = header.unsupported.find(std::string(name)); other != header.unsupported.end())
    return Status::unsupported(file->path() + ": tensor '" + other->first + "' has the unsupported " + other->second);
  if (!tensor)
    return Status::notFound(file->path() + ": no tensor '" + std::string(name) + "'");
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                       allocateBytes(tensor->size, file->path() + ": tensor '" + tensor->name + "'"));
  HostTensor result{tensor->stored, std::move(bytes)};
  ZYX_RETURN_IF_ERROR(readInto(*tensor, result.data));
  return result;
}
