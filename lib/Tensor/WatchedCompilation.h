//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_WATCHEDCOMPILATION_H
#define ZYX_LIB_TENSOR_WATCHEDCOMPILATION_H

#include "zyx/Base/Interruption.h"
#include "zyx/Session/Compiler.h"
#include "zyx/Session/Progress.h"
#include "zyx/Tensor/Watch.h"

#include <memory>

namespace zyx::detail {

/// While it lives, compilations with its callbacks are shown to the watcher, or by a line.
class WatchedCompilation {
public:
  /// Without `isShown` the watcher may only end them.
  explicit WatchedCompilation(bool isShown, Trace *trace = nullptr);
  ~WatchedCompilation();
  WatchedCompilation(const WatchedCompilation &) = delete;
  WatchedCompilation &operator=(const WatchedCompilation &) = delete;

  const session::CompileCallbacks &callbacks() const { return told; }

private:
  const std::shared_ptr<const CompileWatcher> watcher;
  session::ProgressLine line;
  const session::CompileCallbacks told;
};

/// While it lives, waits of this thread for runs are shown to the watcher. Whoever has one holds no lock of a state.
class WatchedRun {
public:
  WatchedRun();

private:
  const std::shared_ptr<const CompileWatcher> watcher;
  const WatchedWait wait;
};

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_WATCHEDCOMPILATION_H
