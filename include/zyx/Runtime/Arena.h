//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_ARENA_H
#define ZYX_RUNTIME_ARENA_H

#include "zyx/Runtime/Buffer.h"

#include <mutex>

namespace zyx::runtime {

/// Scratch memory that the executors of one device may have in common, because their runs come one behind the other: as
/// large as the largest of them needs. A run that uses it is noted as one that writes it. Calls from several threads
/// are safe.
class Arena {
public:
  explicit Arena(std::shared_ptr<MemoryPool> pool) : pool(std::move(pool)) {}

  /// At least so many bytes. Where there are fewer, another buffer takes the place of the one that there was, whose
  /// memory ends with the runs in flight that use it. Contents mean nothing to anyone but the run that wrote them.
  /// OutOfMemory leaves no buffer.
  Result<std::shared_ptr<Buffer>> reserve(uint64_t bytes);
  /// Whether no run in flight uses it.
  bool isFree() const;
  /// Bytes of the buffer; 0 where there is none.
  uint64_t size() const;
  /// Gives the buffer back, behind the runs in flight that use it.
  void trim();

private:
  const std::shared_ptr<MemoryPool> pool;
  mutable std::mutex mutex;
  std::shared_ptr<Buffer> buffer;
};

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_ARENA_H
