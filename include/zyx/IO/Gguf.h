//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_IO_GGUF_H
#define ZYX_IO_GGUF_H

#include "zyx/Base/BlockFormat.h"
#include "zyx/Base/File.h"
#include "zyx/Base/Tensor.h"

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zyx::io {

/// A value of a GGUF file's metadata. Integers are u64 where the file's type is unsigned and i64
/// where it is signed, whatever their width there; floats are doubles. Arrays of arrays are vectors
/// of values.
struct GgufValue {
  std::variant<bool, uint64_t, int64_t, double, std::string, std::vector<bool>, std::vector<uint64_t>,
               std::vector<int64_t>, std::vector<double>, std::vector<std::string>, std::vector<GgufValue>>
      value;

  /// Null where the value is of another type.
  template <typename T> const T *as() const { return std::get_if<T>(&value); }
  bool operator==(const GgufValue &) const = default;
};

class GgufHeaderReader;

/// A GGUF file of version 2 or 3, little-endian, opened for reading its tensors one by one. `open`
/// reads what precedes the data and checks all of it: metadata, names, types, shapes, alignment,
/// and that tensors lie inside of the file and apart from each other.
class GgufFile {
public:
  using Metadata = std::map<std::string, GgufValue, std::less<>>;
  struct Tensor {
    std::string name;
    /// Row-major, as everywhere in zyx: the reverse of the order in the file.
    Shape shape;
    std::variant<DType, BlockFormat> format;
    /// What `read` returns and a parameter of a graph holds: the tensor itself, or the u8 of its
    /// blocks, for graph::dequantise.
    TensorType stored;
    /// Of the first byte, from the start of the file.
    uint64_t offset = 0;
    uint64_t size = 0;
    /// Null where the elements are in blocks.
    const DType *dtype() const { return std::get_if<DType>(&format); }
    /// Null where they are not.
    const BlockFormat *blocks() const { return std::get_if<BlockFormat>(&format); }
  };

  static Result<GgufFile> open(const std::string &path);

  uint32_t version() const { return header.version; }
  /// Tensors start at multiples of this many bytes.
  uint64_t alignment() const { return header.alignment; }
  const Metadata &metadata() const { return header.metadata; }
  /// In the order of the file.
  const std::vector<Tensor> &tensors() const { return header.tensors; }
  /// Of types that zyx does not know: names, and "type 16". Reading them is refused, the others are there.
  const std::map<std::string, std::string> &unsupported() const { return header.unsupported; }
  /// Null where there is none of this name.
  const Tensor *find(std::string_view name) const;
  /// Reads one tensor and nothing else.
  Result<HostTensor> read(std::string_view name) const;
  /// Reads one tensor to where it is needed; `into` has its size.
  Status readInto(const Tensor &tensor, std::span<std::byte> into) const { return file->read(tensor.offset, into); }
  /// The whole file, of which a tensor is subspan(offset, size).
  Result<std::shared_ptr<const FileMapping>> map() const { return file->map(); }
  /// What is read: the same file, whatever gets its name meanwhile.
  const std::shared_ptr<const ReadOnlyFile> &source() const { return file; }

private:
  struct Header {
    uint32_t version = 0;
    uint64_t alignment = 0;
    Metadata metadata;
    std::vector<Tensor> tensors;
    std::map<std::string, std::string> unsupported;
  };
  friend class GgufHeaderReader;
  GgufFile(ReadOnlyFile file, Header header)
      : file(std::make_shared<ReadOnlyFile>(std::move(file))), header(std::move(header)) {}
  std::shared_ptr<const ReadOnlyFile> file;
  Header header;
};

} // namespace zyx::io

#endif // ZYX_IO_GGUF_H
