//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "WatchedCompilation.h"

#include <mutex>

using namespace zyx;
using namespace zyx::detail;
using session::ProgressMode;

namespace {

struct Current {
  std::mutex mutex;
  std::shared_ptr<const CompileWatcher> watcher = std::make_shared<CompileWatcher>();
};
/// Threads may compile while the process ends.
Current &current() {
  static auto *one = new Current;
  return *one;
}

std::shared_ptr<const CompileWatcher> currentWatcher() {
  const std::lock_guard lock(current().mutex);
  return current().watcher;
}

} // namespace

void zyx::setCompileWatcher(CompileWatcher watcher) {
  auto next = std::make_shared<const CompileWatcher>(std::move(watcher));
  const std::lock_guard lock(current().mutex);
  current().watcher = std::move(next);
}

WatchedCompilation::WatchedCompilation(bool isShown, Trace *trace)
    : watcher(currentWatcher()), line(isShown && !watcher->progress ? ProgressMode::Auto : ProgressMode::Never),
      told{trace, isShown && watcher->progress ? watcher->progress : line.callback(), watcher->isCancelled} {}

WatchedCompilation::~WatchedCompilation() {
  if (watcher->end)
    watcher->end();
}
