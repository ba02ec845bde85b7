//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_DISKPOOL_H
#define ZYX_RUNTIME_DISKPOOL_H

#include "zyx/Base/File.h"
#include "zyx/Runtime/Buffer.h"

#include <string>

namespace zyx::runtime {

/// Memory in files. An allocation is a file of the pool's own, which has no name, so that nothing
/// is left behind even by a process that dies. Ranges of files that exist become buffers without
/// being read: their bytes travel when they are copied to another pool, straight into its memory
/// where that is host memory, and such files are never written.
class DiskPool : public MemoryPool {
public:
  /// Its files are made in `folder`; an empty name means TMPDIR, or /tmp. A `limit` of 0 means what
  /// the file system has.
  static Result<std::shared_ptr<DiskPool>> create(const std::string &folder = "", uint64_t limit = 0);

  /// Bytes [offset, offset + size) of a regular file, as they are: whoever needs bools of 0 and 1
  /// alone looks at them. They take nothing of the pool's limit. Fails where the file is shorter;
  /// where it gets shorter later, reading fails.
  /// Any number of ranges takes one descriptor. Failures to read begin with `what`.
  virtual Result<Allocation> map(std::shared_ptr<const ReadOnlyFile> file, uint64_t offset, uint64_t size,
                                 std::string what) = 0;
  /// How many bytes were read from files so far.
  virtual uint64_t bytesRead() const = 0;
};

/// `map` as a buffer.
Result<std::shared_ptr<Buffer>> mapFile(std::shared_ptr<DiskPool> pool, const std::string &path, uint64_t offset,
                                        uint64_t size);
Result<std::shared_ptr<Buffer>> mapFile(std::shared_ptr<DiskPool> pool, std::shared_ptr<const ReadOnlyFile> file,
                                        uint64_t offset, uint64_t size, std::string what);

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_DISKPOOL_H
