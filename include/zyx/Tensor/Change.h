//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_CHANGE_H
#define ZYX_TENSOR_CHANGE_H

#include "zyx/Base/Forked.h"
#include "zyx/Tensor/Tensor.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

namespace zyx {

/// A run that makes what takes the place of other values: what it replaces is kept until it is known to have
/// succeeded, because a run in flight may fail later. Copies are the same change, which is of one run; another one is
/// refused. One that no run was given to has succeeded.
class Change {
public:
  Change();

private:
  template <typename T> friend class Revised;
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

/// A value of which runs in flight make the next ones, each of the one before. Where one fails, it is again what it
/// was before that one. Threads may read and set it at the same time: a reader has a copy of its own, since another
/// thread may free what stands here.
template <typename T> class Revised {
public:
  explicit Revised(T first) : now(std::move(first)) {}
  Revised(const Revised &other) {
    const std::lock_guard lock = other.locked(Place::current());
    now = other.now;
    steps = other.steps;
  }

  /// The latest value that is there or still may come. A failure of which nobody was told is thrown here, once.
  T get(Place where = Place::current()) const {
    const std::lock_guard lock = locked(where);
    const auto goodOnes = std::find_if(steps.begin(), steps.end(),
                                       [](const Step &step) { return step.change.end() != Change::End::Good; });
    steps.erase(steps.begin(), goodOnes);
    const auto failed = std::find_if(steps.begin(), steps.end(),
                                     [](const Step &step) { return step.change.end() == Change::End::Failed; });
    if (failed == steps.end())
      return now;
    const bool isTold = std::any_of(failed, steps.end(), [](const Step &step) { return step.change.isTold(); });
    const Status failure = failed->change.takeFailure();
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
  /// By hand: what was before is forgotten.
  void set(T next) {
    const std::lock_guard lock = locked(Place::current());
    now = std::move(next);
    steps.clear();
  }
  /// What a change makes.
  void set(T next, const Change &change) {
    const std::lock_guard lock = locked(Place::current());
    const auto before = std::make_shared<const T>(std::exchange(now, std::move(next)));
    change.keep(before);
    steps.push_back({change, before});
  }

private:
  /// In a process that was forked since, a thread that is not there may hold it.
  std::lock_guard<std::mutex> locked(const Place &where) const {
    throwIfError(mark.check(), where);
    return std::lock_guard(mutex);
  }

  /// What it was is kept by the change.
  struct Step {
    Change change;
    std::weak_ptr<const T> before;
  };
  /// Of this value alone: looking at a change takes the lock of that change's context, for which readers of other
  /// values do not wait.
  mutable std::mutex mutex;
  ForkMark mark;
  mutable T now;
  /// In order; none of them is known to be good.
  mutable std::vector<Step> steps;
};

/// realize() as such a run.
void realize(Tensors tensors, const Change &change, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_CHANGE_H
