//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_IO_SAFETENSORS_H
#define ZYX_IO_SAFETENSORS_H

#include "zyx/Base/File.h"
#include "zyx/Base/Tensor.h"

#include <string>
#include <string_view>
#include <vector>

namespace zyx::io {

/// A safetensors file, opened for reading its tensors one by one. `open` reads the header alone
/// and checks all of it: dtypes, shapes, sizes, and that the tensors cover the data without holes
/// or overlaps.
class SafetensorsFile {
public:
  struct Entry {
    std::string name;
    TensorType type;
    /// Of the first byte, from the start of the file.
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  static Result<SafetensorsFile> open(const std::string &path);

  /// In the order of their data.
  const std::vector<Entry> &tensors() const { return entries; }
  /// Null where there is none of this name.
  const Entry *find(std::string_view name) const;
  /// Reads one tensor and nothing else.
  Result<HostTensor> read(std::string_view name) const;
  /// Reads one tensor to where it is needed; `into` has its size. Bools come as they are in the file.
  Status readInto(const Entry &entry, std::span<std::byte> into) const {
    return file.read(entry.offset, into);
  }
  /// The whole file, of which a tensor is subspan(offset, size).
  Result<std::shared_ptr<const FileMapping>> map() const { return file.map(); }

private:
  SafetensorsFile(ReadOnlyFile file, std::vector<Entry> entries)
      : file(std::move(file)), entries(std::move(entries)) {}
  ReadOnlyFile file;
  std::vector<Entry> entries;
};

} // namespace zyx::io

#endif // ZYX_IO_SAFETENSORS_H
