//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_IO_NPY_H
#define ZYX_IO_NPY_H

#include "zyx/Base/File.h"
#include "zyx/Base/Tensor.h"

#include <span>
#include <string>
#include <vector>

/// NumPy's .npy files, versions 1.0 to 3.0: little-endian, row-major, of bool, integers, f16, f32
/// or f64. The format has no bf16 and no f8.
namespace zyx::io {

/// Every message starts with `name`, usually the path.
Result<HostTensor> parseNpy(std::span<const std::byte> bytes, const std::string &name);
/// The same; the tensor takes the memory of `bytes`.
Result<HostTensor> parseNpy(std::vector<std::byte> &&bytes, const std::string &name);
Result<HostTensor> readNpy(const std::string &path);

/// A .npy file of which the header was read, and nothing else. The header fits the file's size.
class NpyFile {
public:
  static Result<NpyFile> open(ReadOnlyFile file);

  const TensorType &type() const { return tensorType; }
  /// Bytes of the whole file.
  uint64_t size() const { return file.size(); }
  Result<HostTensor> read() const;
  /// The rows [begin, end): of the first dimension, which there is and which is as long.
  Result<HostTensor> readRows(int64_t begin, int64_t end) const;

private:
  NpyFile(ReadOnlyFile file, TensorType type, uint64_t offset, bool isFortran)
      : file(std::move(file)), tensorType(std::move(type)), offset(offset), isFortran(isFortran) {}
  ReadOnlyFile file;
  TensorType tensorType;
  /// Of the first element.
  uint64_t offset;
  /// Whether the first index is the fastest.
  bool isFortran;
};

/// What a file that begins like this says that it holds. `start` is all of it, or its first 64 KiB.
/// Fails where it is no .npy file.
struct NpyStart {
  TensorType type;
  /// Of the file.
  uint64_t size = 0;
};
Result<NpyStart> readNpyStart(std::span<const std::byte> start);

/// What precedes the elements in a version 1.0 file; refuses dtypes that the format lacks.
Result<std::string> npyHeader(const TensorType &type);
/// The bytes of such a file.
Result<std::vector<std::byte>> encodeNpy(const HostTensor &tensor);
/// Atomic: never leaves a half-written file.
Status writeNpy(const std::string &path, const HostTensor &tensor);

} // namespace zyx::io

#endif // ZYX_IO_NPY_H
