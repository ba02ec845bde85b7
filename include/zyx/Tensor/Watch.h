//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Who is told of compilations that take long, and may end them: the host of another language, such as Python.
#ifndef ZYX_TENSOR_WATCH_H
#define ZYX_TENSOR_WATCH_H

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>

namespace zyx {

/// Its functions are called by the threads that compile or wait, which hold no lock of a context.
struct CompileWatcher {
  /// Learns of a stage, and how many of `total` kernels are done (0 of 0 where they are not counted), in place of the
  /// line on the standard error; without it that line is shown.
  std::function<void(std::string_view stage, size_t done, size_t total)> progress = nullptr;
  /// A compilation is over, however it ended.
  std::function<void()> end = nullptr;
  /// Asked at each phase and each kernel. Where it says so the call fails with ErrorCode::Cancelled, and every tensor
  /// is what it was.
  std::function<bool()> isCancelled = nullptr;
  /// Called now and then by a thread that waits for a value which a run makes. It may end loops of the run by
  /// interruptLoops() of zyx/Base/Interruption.h: the run then fails with ErrorCode::Cancelled.
  std::function<void()> waits = nullptr;
};

/// Of all contexts of the process, from the next compilation on.
void setCompileWatcher(CompileWatcher watcher);

/// Call it before the static objects of a process are destroyed, which compilers use. Compilations that run in other
/// threads are cancelled, and so is each later one. Waits until none runs, at most for `most`; then it returns all the
/// same.
void endCompilations(std::chrono::milliseconds most);

} // namespace zyx

#endif // ZYX_TENSOR_WATCH_H
