//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the two files of executors share.
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

/// For messages: "input 'x'".
inline std::string describe(bool isInput, const artifact::Argument &argument) {
  return (isInput ? "input '" : "output '") + argument.name + "'";
}

/// "zyx-launches: 'main_0' of 'main' on cpu: 12.3 us, 4.56 GFLOP/s, 7.89 GB/s"
void printTimes(const std::vector<CommandTime> &times, const std::string &entry, const std::string &device);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_EXECUTORUSE_H
