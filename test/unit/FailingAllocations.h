//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Allocations that are counted, and fail when they are told to: a program with FailingAllocations.cpp has a malloc that
// stands before that of libc for every library.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_FAILINGALLOCATIONS_H
#define ZYX_TEST_UNIT_FAILINGALLOCATIONS_H

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <unistd.h>

// A sanitizer has its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZYX_TEST_SANITIZED
#endif
#endif

namespace faults {

/// Allocations that succeed until one fails; none does where it is negative.
inline constinit std::atomic<int64_t> left = -1;
/// Whether all behind it fail, too.
inline constinit std::atomic<bool> forGood = false;
/// Whether one has failed.
inline constinit std::atomic<bool> hasFailed = false;
/// Blocks that are allocated and not freed.
inline constinit std::atomic<int64_t> live = 0;
/// Calls of any of its functions.
inline constinit std::atomic<size_t> calls = 0;

/// Fails one allocation, or all from then on, behind so many others, while it lives.
class Fault {
public:
  Fault(int64_t behind, bool all) {
    hasFailed = false;
    forGood = all;
    left = behind;
  }
  ~Fault() { left = -1; }
  Fault(const Fault &) = delete;
};

/// How a call ended. Made where there is no memory.
struct Outcome {
  bool isOk = true, isOutOfMemory = false;
  /// The beginning of why it failed.
  char message[240] = "";

  static Outcome failure(bool isOutOfMemory, const char *why) {
    Outcome outcome = {false, isOutOfMemory};
    std::snprintf(outcome.message, sizeof(outcome.message), "%s", why);
    return outcome;
  }
};
using Complain = std::function<void(const std::string &)>;

/// Has every allocation of a call fail, once alone and once with all behind it. Complains of one that fails in another
/// way than for memory, or where it had all of that; of one that is not back after a minute; and of more blocks that
/// are left than the system's library may keep for its next use. After each failure `after` says what must hold; `undo`
/// takes back what a call that succeeded has made. Returns how many allocations failed.
inline long failEach(
    const char *name, const std::function<Outcome()> &call, const Complain &complain,
    const std::function<void()> &after, const std::function<void()> &undo = [] {}, int64_t mayKeep = 0) {
  // For the handler of the alarm.
  static const char *nameOfCall;
  static volatile long failing;
  nameOfCall = name;
  long numFaults = 0, numErrors = 0, numComplaints = 0;
  auto wrong = [&](const std::string &what) {
    ++numComplaints;
    complain(std::string(name) + ", allocation " + std::to_string(failing) + ": " + what);
  };
  std::signal(SIGALRM, [](int) {
    char text[200];
    const int size = std::snprintf(text, sizeof(text), "%s hangs where allocation %ld fails\n", nameOfCall, failing);
    (void)!::write(STDOUT_FILENO, text, static_cast<size_t>(size));
    ::_exit(1);
  });
  // What is made once, in the first call of all.
  failing = -1;
  if (const Outcome first = call(); !first.isOk)
    wrong(first.message);
  undo();
  after();
  for (const bool all : {false, true}) {
    const int64_t before = live;
    for (failing = 0;; failing = failing + 1) {
      ::alarm(60);
      Outcome outcome;
      bool failed;
      {
        Fault fault(failing, all);
        outcome = call();
        failed = hasFailed;
      }
      numFaults += failed;
      numErrors += !outcome.isOk;
      if (!outcome.isOk && !(outcome.isOutOfMemory && failed))
        wrong(outcome.message);
      if (outcome.isOk)
        undo();
      outcome = {};
      after();
      if (!failed || numComplaints > 20)
        break;
    }
    // Other threads may be about to free what they worked on.
    for (int i = 0; i < 1000 && live - before > mayKeep; ++i)
      ::usleep(1000);
    if (live - before > mayKeep)
      wrong(std::to_string(live - before) + " blocks are left");
  }
  ::alarm(0);
  std::printf("%s: %ld faults, %ld errors\n", name, numFaults, numErrors);
  return numFaults;
}

} // namespace faults

#endif // ZYX_TEST_UNIT_FAILINGALLOCATIONS_H
