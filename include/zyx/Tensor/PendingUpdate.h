//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_PENDINGUPDATE_H
#define ZYX_TENSOR_PENDINGUPDATE_H

#include "zyx/Base/Forked.h"
#include "zyx/Tensor/Tensor.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

namespace zyx {

/// The outcome of a run that updates values, which may still be in flight. The old values are kept until the run is
/// known to have succeeded; if it fails, they come back. An update belongs to one run, and a second one is refused.
/// Copies are the same update. An update without a run has succeeded.
class PendingUpdate {
public:
  PendingUpdate();

private:
  template <typename T> friend class Versioned;
  friend class Parameter;
  friend class detail::State;
  struct Contents;
  enum class End { Open, Good, Failed };

  /// What is known by now; does not wait.
  End end() const;
  /// While it is open or has failed; freed as soon as the context learns of a success.
  void keep(std::shared_ptr<const void> value) const;
  /// Whether somebody was told of the failure.
  bool isTold() const;
  /// Tells it.
  Status takeFailure() const;
  /// The run makes this tensor, which is no parameter's value any more where it fails.
  void replacesBy(const Tensor &next) const;

  std::shared_ptr<Contents> contents;
};

/// A value with rollback. Runs in flight compute the next versions, each from the one before. If a run fails, the value
/// is the version before it. Threads may read and set it at the same time. A reader gets a copy, since another thread
/// may free the version that is here.
template <typename T> class Versioned {
public:
  explicit Versioned(T first) : now(std::move(first)) {}
  Versioned(const Versioned &other) {
    const std::lock_guard lock = other.locked(Place::current());
    now = other.now;
    steps = other.steps;
  }

  /// The latest value that is there or still may come. A failure of which nobody was told is thrown here, once.
  T get(Place where = Place::current()) const {
    const std::lock_guard lock = locked(where);
    const auto goodOnes = std::find_if(steps.begin(), steps.end(),
                                       [](const Step &step) { return step.pending.end() != PendingUpdate::End::Good; });
    steps.erase(steps.begin(), goodOnes);
    const auto failed = std::find_if(steps.begin(), steps.end(),
                                     [](const Step &step) { return step.pending.end() == PendingUpdate::End::Failed; });
    if (failed == steps.end())
      return now;
    const bool isTold = std::any_of(failed, steps.end(), [](const Step &step) { return step.pending.isTold(); });
    const Status failure = failed->pending.takeFailure();
    now = *failed->before.lock();
    steps.erase(failed, steps.end());
    if (!isTold)
      throw Error(failure, where);
    return now;
  }
  /// What it was set to last, whatever came of that.
  T latest() const {
    const std::lock_guard lock = locked(Place::current());
    return now;
  }
  /// Sets it without a run and forgets the versions before.
  void set(T next) {
    const std::lock_guard lock = locked(Place::current());
    now = std::move(next);
    steps.clear();
  }
  /// Sets the version that a pending update computes.
  void set(T next, const PendingUpdate &pending) {
    const std::lock_guard lock = locked(Place::current());
    const auto before = std::make_shared<const T>(std::exchange(now, std::move(next)));
    pending.keep(before);
    steps.push_back({pending, before});
  }

private:
  /// In a process that was forked since, a thread that is not there may hold it.
  std::lock_guard<std::mutex> locked(const Place &where) const {
    throwIfError(mark.check(), where);
    return std::lock_guard(mutex);
  }

  /// The update keeps the version before it.
  struct Step {
    PendingUpdate pending;
    std::weak_ptr<const T> before;
  };
  /// Of this value alone. Looking at an update takes the lock of its context, and readers of other values do not wait
  /// for it.
  mutable std::mutex mutex;
  ForkMark mark;
  mutable T now;
  /// In order; none of them is known to be good.
  mutable std::vector<Step> steps;
};

/// realize() as the run of a pending update.
void realize(Tensors tensors, const PendingUpdate &pending, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_PENDINGUPDATE_H
