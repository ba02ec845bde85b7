//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_IO_NPZ_H
#define ZYX_IO_NPZ_H

#include "zyx/Base/File.h"
#include "zyx/Base/Tensor.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zyx::io {

/// What an array of an .npz file may become when it is unpacked: one of more than `bytes` bytes
/// must not be more than `ratio` times as large as in the file.
struct NpzLimits {
  uint64_t bytes = uint64_t(1) << 30;
  uint64_t ratio = 100;
};

/// NumPy's .npz files: zip archives of .npy files, stored or deflated, opened for reading their
/// arrays one by one. `open` reads the archive's directory and checks all of it: names, sizes, and
/// that the arrays lie in the file and apart from each other. Encryption and other compressions are
/// refused.
class NpzFile {
public:
  struct Entry {
    /// Without ".npy".
    std::string name;
    /// Of the first byte of the packed array, from the start of the file.
    uint64_t offset = 0;
    /// Bytes in the file, and bytes of the .npy file, of which this is the checksum.
    uint64_t packedSize = 0, size = 0;
    uint32_t checksum = 0;
    bool isDeflated = false;
  };

  static Result<NpzFile> open(const std::string &path, const NpzLimits &limits = {});

  /// In the order of the archive's directory.
  const std::vector<Entry> &arrays() const { return entries; }
  /// Null where there is none of this name.
  const Entry *find(std::string_view name) const;
  /// Reads one array and nothing else.
  Result<HostTensor> read(std::string_view name) const;

private:
  NpzFile(ReadOnlyFile file, std::vector<Entry> entries) : file(std::move(file)), entries(std::move(entries)) {}
  ReadOnlyFile file;
  std::vector<Entry> entries;
};

enum class NpzCompression { Stored, Deflated };

/// Writes arrays under their names, which are relative paths without ".npy"; the same arrays give
/// the same bytes. Atomic: never leaves a half-written file. Refuses dtypes that .npy lacks, names
/// that NpzFile refuses, and what needs zip64: 4 GiB or 65535 arrays.
Status writeNpz(const std::string &path, const std::vector<std::pair<std::string, HostTensor>> &arrays,
                NpzCompression compression = NpzCompression::Stored);

} // namespace zyx::io

#endif // ZYX_IO_NPZ_H
