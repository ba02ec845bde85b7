//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_PRIVATEFOLDER_H
#define ZYX_BASE_PRIVATEFOLDER_H

#include "zyx/Base/File.h"

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zyx {

/// A folder whose files are trusted, because no other user can have written them: it and they belong to
/// the user of this process, and neither their group nor others may write to them. It is opened once, and
/// all that is asked of it later is asked of that folder, whatever its path names by then. No symbolic link
/// is followed, neither to the folder nor to a file in it.
class PrivateFolder {
public:
  /// NotFound where there is none; InvalidArgument, with what mends it, where another user may have
  /// written to it or the path is no folder's; IoError otherwise.
  static Result<PrivateFolder> open(const std::string &path);
  /// The same, but makes it where there is none, with the folders above it; only its user may look into it.
  static Result<PrivateFolder> make(const std::string &path);
  PrivateFolder(PrivateFolder &&other) noexcept;
  PrivateFolder &operator=(PrivateFolder &&) = delete;
  ~PrivateFolder();

  /// The contents of a regular file of at most `limit` bytes. NotFound where there is nothing of that name;
  /// InvalidArgument where it is too large, no file, or another user may have written to it.
  Result<std::vector<std::byte>> read(const std::string &name, uint64_t limit) const;
  /// In the place of whatever has the name, for its user alone. A folder of that name that holds something
  /// is moved beside it, to the name with ".replaced" behind it.
  Status write(const std::string &name, std::span<const std::byte> bytes, Durability durability) const;
  /// Removes a file, a link, a pipe or an empty folder, and says whether it did.
  bool remove(const std::string &name) const;
  /// Its age counts from now on, where that can be written.
  void renew(const std::string &name) const;

  /// The time of a file's last change, by the clock of the system.
  using Time = std::chrono::system_clock::time_point;
  struct File {
    std::string name;
    uint64_t size = 0;
    Time changed;
  };
  /// The regular files in it, in no order. Those that come or go meanwhile may be missing.
  std::vector<File> files() const;

  /// A lock among processes on a file that is made for it. It goes with the object.
  class Lock {
  public:
    Lock(Lock &&other) noexcept;
    Lock &operator=(Lock &&) = delete;
    ~Lock();

  private:
    friend class PrivateFolder;
    explicit Lock(int descriptor) : descriptor(descriptor) {}
    int descriptor;
  };
  /// Timeout where another process holds it for longer than that. Says on the standard error that it waits.
  Result<Lock> lock(const std::string &name, std::chrono::milliseconds most) const;

private:
  PrivateFolder(int descriptor, std::string path) : descriptor(descriptor), path(std::move(path)) {}
  int descriptor;
  std::string path;
};

} // namespace zyx

#endif // ZYX_BASE_PRIVATEFOLDER_H
