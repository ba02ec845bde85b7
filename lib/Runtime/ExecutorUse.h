//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the files of executors share.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_EXECUTORUSE_H
#define ZYX_LIB_RUNTIME_EXECUTORUSE_H

#include "zyx/Runtime/Executor.h"

namespace zyx::runtime {

/// Only one call at a time may go on; `status` says why one may not.
class Executor::Use {
public:
  explicit Use(const Executor &of) : executor(of) {
    if (executor.isUsed.exchange(true, std::memory_order_acquire)) {
      status = Status::aborted("the executor of '" + executor.artifact().entry +
                               "' is in use by another thread; it is one thread's at a time");
      return;
    }
    isOwner = true;
    status = executor.mark.check();
  }
  ~Use() {
    if (isOwner)
      executor.isUsed.store(false, std::memory_order_release);
  }
  Use(const Use &) = delete;

  Status status;

private:
  const Executor &executor;
  bool isOwner = false;
};

/// Whoever waits for a point learns of its failure; here it only matters that it is over.
inline void finish(const Point &point) { [[maybe_unused]] Status status = point.wait(); }

/// What the caller finds bound is held against others from here on.
class Executor::Hold {
public:
  explicit Hold(const Executor &of) : buffers(of.bound) {
    for (const Buffer *buffer : buffers)
      buffer->lock();
  }
  ~Hold() {
    for (const Buffer *buffer : buffers)
      buffer->unlock();
  }
  Hold(const Hold &) = delete;

private:
  const std::vector<const Buffer *> &buffers;
};

/// A shared arena, and what is kept, is left at the end of each call, however that ends.
class Executor::MemoryUse {
public:
  explicit MemoryUse(Executor &of) : executor(of) {}
  ~MemoryUse() { executor.leaveMemory(); }
  MemoryUse(const MemoryUse &) = delete;

private:
  Executor &executor;
};

/// Outputs that are bound to the buffers of donated inputs.
template <typename F> void Executor::forEachTaken(F &&visit) const {
  for (const artifact::Donation &donation : donations)
    if (const std::shared_ptr<Buffer> &buffer = outputs[donation.output].buffer;
        buffer == inputs[donation.input].buffer)
      visit(buffer);
}

/// For messages: "input 'x'".
inline std::string describe(bool isInput, const artifact::Argument &argument) {
  return (isInput ? "input '" : "output '") + argument.name + "'";
}

/// "zyx-launches: 'main_0' of 'main' on cpu: 12.3 us, 4.56 GFLOP/s, 7.89 GB/s"
void printTimes(const std::vector<CommandTime> &times, const std::string &entry, const std::string &device);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_EXECUTORUSE_H
