//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_BASE_NEWFILE_H
#define ZYX_LIB_BASE_NEWFILE_H

#include "zyx/Base/File.h"
#include "zyx/Base/Leftover.h"

#include <sys/stat.h>
#include <utility>

namespace zyx {

/// A descriptor that is closed with the object.
class OpenFile {
public:
  explicit OpenFile(int number = -1) : number(number) {}
  OpenFile(OpenFile &&other) noexcept : number(std::exchange(other.number, -1)) {}
  OpenFile &operator=(OpenFile &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~OpenFile() { close(); }
  void close();
  int get() const { return number; }
  int release() { return std::exchange(number, -1); }

private:
  int number;
};

/// The folder that a path names a file in.
std::string folderOf(const std::string &path);

/// A file that is written before it has a name: AtomicFile and PrivateFolder decide which one, and whose
/// it is. Failures are the reason alone.
class NewFile {
public:
  NewFile() = default;
  /// In a folder. The mode is cut by the process's mask.
  static Result<NewFile> create(const std::string &folder, mode_t mode, bool hasName = false);
  /// The same in a folder that is open; `path` names it.
  static Result<NewFile> createAt(OpenFile folder, const std::string &path, mode_t mode, bool hasName = false);
  NewFile(NewFile &&) noexcept = default;
  NewFile &operator=(NewFile &&other) noexcept;
  ~NewFile();

  int descriptor() const { return file.get(); }
  Status write(std::span<const std::byte> bytes) const;
  /// Gives it a name in its folder, in the place of any file of that name. Once.
  Status place(const std::string &name, Durability durability);

private:
  Status openNamed(mode_t mode);
  /// Takes the next name that nobody has.
  void nextName();

  OpenFile folder, file;
  std::string path;
  /// In the folder; empty while it has none.
  std::string temporary;
  Leftover leftover;
};

} // namespace zyx

#endif // ZYX_LIB_BASE_NEWFILE_H
