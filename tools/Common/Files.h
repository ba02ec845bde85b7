//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Files that a command line names, to read and to write.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_COMMON_FILES_H
#define ZYX_TOOLS_COMMON_FILES_H

#include "zyx/Base/File.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zyx::tools {

/// Whether it is "-", a pipe, a terminal or whatever else can be read once and has no size.
bool isStream(const std::string &path);

/// How many bytes a stream has that begins like this, at the most; a failure where it is none of what
/// is wanted. `start` is all of it, or its first 64 KiB.
using StreamLimit = std::function<Result<uint64_t>(std::span<const std::byte> start)>;

/// Half of the machine's memory: what a stream of unknown size may take of it.
uint64_t memoryForStreams();

/// A file that is only read. A regular file is as it is; "-", the standard input, and other streams are
/// read to their end into memory, as far as `limit` says. A named pipe waits for somebody who writes.
Result<ReadOnlyFile> openInput(const std::string &path, const StreamLimit &limit);
/// A program as text, or as bytecode: of a file or of a stream.
Result<std::vector<std::byte>> readProgram(const std::string &path);

/// The files that a program is going to write. What would lose something is refused before the program
/// does anything: a file that is read, one that another output is, one that cannot be written.
class OutputFiles {
public:
  /// A file that no output may be; `what` it is stands in the message: "the program".
  void protect(const std::string &path, const std::string &what);
  /// `option` as the user wrote it starts the messages: "--output=y.npy".
  Status claim(const std::string &option, const std::string &path);

private:
  struct File {
    std::string key, what;
  };
  std::vector<File> sources, outputs;
};

} // namespace zyx::tools

#endif // ZYX_TOOLS_COMMON_FILES_H
