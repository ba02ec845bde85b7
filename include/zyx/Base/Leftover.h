//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_LEFTOVER_H
#define ZYX_BASE_LEFTOVER_H

#include <string>
#include <sys/types.h>
#include <utility>

namespace zyx {

/// What must not outlast the process: it is noted as long as the object lives, and a program that
/// asks for it by removeLeftoversOnSignals() removes what is noted when a signal ends it. Whoever
/// notes something removes it by himself in every other case.
class Leftover {
public:
  Leftover() = default;
  /// A file that is about to be made: made() says that it was.
  static Leftover file(const std::string &path) { return note(File, path, 0); }
  /// A folder that is about to be made, with the files in it, and no folders below it.
  static Leftover folder(const std::string &path) { return note(Folder, path, 0); }
  /// All processes of a group.
  static Leftover processes(pid_t group) { return note(Processes, "", group); }
  Leftover(Leftover &&other) noexcept : entry(std::exchange(other.entry, nullptr)) {}
  Leftover &operator=(Leftover &&other) noexcept {
    std::swap(entry, other.entry);
    return *this;
  }
  ~Leftover() { forget(); }
  /// What was about to be made is there. A handler on another thread waits for it, a moment.
  void made();
  /// It is no longer there, or no longer ours.
  void forget();
  /// Does not return where a handler on another thread removes leftovers and ends the process then: nothing new may
  /// begin.
  static void stopAtEnd();

private:
  friend void removeLeftovers();
  enum Kind : int { Free, File, Folder, Processes, Taken, Making };
  struct Entry;
  /// Nothing is noted where the path is too long for the system.
  static Leftover note(Kind kind, const std::string &path, pid_t group);
  static void removeAll();
  static void remove(Entry &entry);
  Entry *entry = nullptr;
};

/// For a handler of signals after which the process ends.
void removeLeftovers();

/// `remove` is called behind that: a library that was opened has leftovers of its own. It must be fit for a handler of
/// signals, and stay loaded.
void alsoRemove(void (*remove)());

/// For programs, never for libraries: SIGINT, SIGTERM and SIGHUP first remove all leftovers, and end the
/// process then as they always do. A signal that is ignored or handled already stays so.
void removeLeftoversOnSignals();

} // namespace zyx

#endif // ZYX_BASE_LEFTOVER_H
