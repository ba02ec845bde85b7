//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_FILE_H
#define ZYX_BASE_FILE_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zyx {

/// The bytes of a file, of which the system reads pages when they are first touched. A page that
/// another process has truncated away since ends this process with SIGBUS, so what must survive
/// that is read by ReadOnlyFile::read.
class FileMapping {
public:
  FileMapping(const FileMapping &) = delete;
  FileMapping &operator=(const FileMapping &) = delete;
  ~FileMapping();
  std::span<const std::byte> bytes() const { return contents; }

private:
  friend class ReadOnlyFile;
  explicit FileMapping(std::span<const std::byte> contents) : contents(contents) {}
  std::span<const std::byte> contents;
};

/// An open regular file that is only read. `read` never touches a mapping: a file that another
/// process truncates gives an error, not SIGBUS.
class ReadOnlyFile {
public:
  static Result<ReadOnlyFile> open(const std::string &path);
  /// Takes a descriptor of a regular file, which is closed where it is none; `path` is for messages.
  static Result<ReadOnlyFile> adopt(int descriptor, std::string path);
  ReadOnlyFile(ReadOnlyFile &&other) noexcept;
  ReadOnlyFile &operator=(ReadOnlyFile &&other) noexcept;
  ~ReadOnlyFile();

  /// Size in bytes when the file was opened.
  uint64_t size() const { return bytes; }
  const std::string &path() const { return name; }
  /// Fills `into` from `offset`; a failure where the file ends earlier.
  Status read(uint64_t offset, std::span<std::byte> into) const;
  /// All of the file, as long as it was when it was opened. It stays when the file is closed.
  Result<std::shared_ptr<const FileMapping>> map() const;

private:
  ReadOnlyFile(int descriptor, uint64_t bytes, std::string name)
      : descriptor(descriptor), bytes(bytes), name(std::move(name)) {}
  int descriptor;
  uint64_t bytes;
  std::string name;
};

/// The contents of a regular file of at most `limit` bytes.
Result<std::vector<std::byte>> readFile(const std::string &path, uint64_t limit = UINT64_MAX);

/// Whether a file and its name are forced to the disk. Without it a crash of the machine, not of the
/// program, may leave a file of the right name with other contents, or the one before.
enum class Durability { Sync, None };

/// A file that gets its name when it is complete; without commit() nothing of it stays, whatever ends
/// the process, where the file system has files without names (O_TMPFILE). Elsewhere it is written beside
/// `path` as ".zyx-NUMBERS.tmp", which a signal may leave behind (see Leftover); what dead processes left
/// in the folder goes when the next one writes there.
///
/// It takes the place of a file as opening that for writing would: the last file of a chain of symbolic
/// links is replaced, and keeps its mode, owner, group and access list; one that this process may not
/// write to is refused, and so is one of another owner where only root could give him the new one. Other
/// names of the same file (hard links) keep what was there before.
class AtomicFile {
public:
  /// `hasName` has it written under a name in any case.
  static Result<AtomicFile> create(const std::string &path, bool hasName = false);
  AtomicFile(AtomicFile &&other) noexcept;
  ~AtomicFile();
  AtomicFile &operator=(AtomicFile &&) = delete;

  /// Appends. Failures name `path`.
  Status write(std::span<const std::byte> bytes);
  /// At `path` there is what was there before, or after success all that was written.
  Status commit(Durability durability = Durability::Sync);

private:
  struct Target;
  explicit AtomicFile(std::unique_ptr<Target> target);
  std::unique_ptr<Target> target;
};

/// All of an AtomicFile at once.
Status writeFileAtomically(const std::string &path, std::span<const std::byte> bytes,
                           Durability durability = Durability::Sync);

} // namespace zyx

#endif // ZYX_BASE_FILE_H
