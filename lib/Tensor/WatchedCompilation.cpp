//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "WatchedCompilation.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

using namespace zyx;
using namespace zyx::detail;
using session::ProgressMode;

namespace {

struct Current {
  std::mutex mutex;
  std::condition_variable isOver;
  std::shared_ptr<const CompileWatcher> watcher = std::make_shared<CompileWatcher>();
  /// Compilations that run.
  int count = 0;
  std::atomic<bool> isEnding = false;
};
/// Threads may compile while the process ends.
Current &current() {
  static auto *one = new Current;
  return *one;
}

std::shared_ptr<const CompileWatcher> present() {
  const std::lock_guard lock(current().mutex);
  return current().watcher;
}

std::shared_ptr<const CompileWatcher> begin() {
  const std::lock_guard lock(current().mutex);
  ++current().count;
  return current().watcher;
}

} // namespace

void zyx::setCompileWatcher(CompileWatcher watcher) {
  auto next = std::make_shared<const CompileWatcher>(std::move(watcher));
  const std::lock_guard lock(current().mutex);
  current().watcher = std::move(next);
}

void zyx::endCompilations(std::chrono::milliseconds most) {
  Current &all = current();
  all.isEnding = true;
  std::unique_lock lock(all.mutex);
  all.isOver.wait_for(lock, most, [&] { return all.count == 0; });
}

WatchedCompilation::WatchedCompilation(bool isShown, Trace *trace)
    : watcher(begin()), line(isShown && !watcher->progress ? ProgressMode::Auto : ProgressMode::Never),
      told{trace, isShown && watcher->progress ? watcher->progress : line.callback(),
           [watcher = watcher] { return current().isEnding || (watcher->isCancelled && watcher->isCancelled()); }} {}

WatchedCompilation::~WatchedCompilation() {
  if (watcher->end)
    watcher->end();
  const std::lock_guard lock(current().mutex);
  --current().count;
  current().isOver.notify_all();
}

WatchedRun::WatchedRun() : watcher(present()), wait(watcher->waits) {}
