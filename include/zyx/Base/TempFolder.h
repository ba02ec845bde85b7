//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_TEMPFOLDER_H
#define ZYX_BASE_TEMPFOLDER_H

#include "zyx/Base/Leftover.h"
#include "zyx/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace zyx {

/// A new folder that only this user can read, under TMPDIR or /tmp. It is removed with the files
/// in it when the object goes. What a process leaves that dies before (see Leftover) goes when the next one
/// makes such a folder there.
class TempFolder {
public:
  static Result<TempFolder> create();
  /// The same in memory, where files come and go several times as fast as on a disk: under /dev/shm, if
  /// that has room for `bytes` several times over and no TMPDIR asks for another place.
  static Result<TempFolder> createInMemory(uint64_t bytes);
  TempFolder(TempFolder &&other) noexcept
      : folder(std::move(other.folder)), descriptor(std::exchange(other.descriptor, -1)),
        leftover(std::move(other.leftover)) {
    other.folder.clear();
  }
  TempFolder &operator=(TempFolder &&) = delete;
  ~TempFolder();

  /// The path of a file of that name in the folder.
  std::string file(const char *name) const { return folder + '/' + name; }
  /// Writes such a file and returns its path. Nobody reads it after a crash, so that it is not
  /// forced to the disk, which would take longer than linking.
  Result<std::string> write(const char *name, std::span<const std::byte> bytes) const;

private:
  static Result<TempFolder> createIn(const std::string &parent);
  TempFolder(std::string folder, int descriptor, Leftover leftover)
      : folder(std::move(folder)), descriptor(descriptor), leftover(std::move(leftover)) {}
  std::string folder;
  /// Of the folder, locked for as long as somebody uses it.
  int descriptor = -1;
  Leftover leftover;
};

} // namespace zyx

#endif // ZYX_BASE_TEMPFOLDER_H
