//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_COMMANDORDER_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_COMMANDORDER_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace zyx::runtime {

/// Bytes [begin, end) that a command reads, or writes and may read.
struct Touch {
  uint64_t begin = 0, end = 0;
  bool isWritten = false;
};

/// Which commands of a sequence have to be behind which, by the bytes that they touch: a reader behind the last writer,
/// a writer behind it and all readers since. So any order that keeps to that computes what the sequence does. Memory is
/// reused for other values, so that names of buffers would not do.
class CommandOrder {
public:
  /// Of the next command: the numbers of those that it is behind, the latest first, from 0 on. Left out are those that
  /// one of the others is behind. Valid until the next call.
  std::span<const size_t> add(std::span<const Touch> touches);

private:
  static constexpr size_t none = SIZE_MAX;
  /// Bytes from a key of `pieces` up to `end`, which were touched alike: by a writer, then by a list of readers.
  struct Piece {
    uint64_t end = 0;
    size_t writer = none, readers = none;
  };
  /// Pieces that are cut in two share their lists.
  struct Reader {
    size_t command, next;
    /// Who was put behind it last.
    size_t asked;
  };

  /// The first of the pieces that are [begin, end) altogether.
  std::map<uint64_t, Piece>::iterator cut(uint64_t begin, uint64_t end);
  void cutAt(uint64_t address);
  /// Puts `command` behind what it may be behind, of which there are too many.
  void reduce(size_t command);

  std::map<uint64_t, Piece> pieces;
  std::vector<Reader> readers;
  /// For each command, those that it is behind in any number of steps: a bit each.
  std::vector<std::vector<uint64_t>> reached;
  std::vector<size_t> behind;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_COMMANDORDER_H
