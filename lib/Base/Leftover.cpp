//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Leftover.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace zyx;

/// One of a list that only grows, so that a handler can walk it at any moment.
struct Leftover::Entry {
  std::atomic<int> kind = Free;
  /// The kind of what is being made.
  int what = Free;
  /// Who noted it: what a process has is not its forked children's.
  pid_t owner = 0;
  pid_t group = 0;
  char path[PATH_MAX] = {};
  Entry *next = nullptr;
};

static std::atomic<void *> firstEntry = nullptr;
/// The process that removes what it leaves, and ends then.
static std::atomic<pid_t> ending = 0;

void Leftover::stopAtEnd() {
  while (ending.load() == ::getpid())
    ::pause();
}

Leftover Leftover::note(Kind kind, const std::string &path, pid_t group) {
  Leftover result;
  if (path.size() >= PATH_MAX)
    return result;
  Entry *entry = static_cast<Entry *>(firstEntry.load());
  for (int free = Free; entry; entry = entry->next, free = Free)
    if (entry->kind.compare_exchange_strong(free, Taken))
      break;
  if (!entry) {
    entry = new Entry;
    entry->kind = Taken;
    void *next = firstEntry.load();
    do
      entry->next = static_cast<Entry *>(next);
    while (!firstEntry.compare_exchange_weak(next, entry));
  }
  entry->owner = ::getpid();
  entry->group = group;
  std::memcpy(entry->path, path.c_str(), path.size() + 1);
  entry->what = kind;
  // A handler either sees this one, or is seen here.
  entry->kind = kind == Processes ? Processes : Making;
  if (ending.load() == ::getpid()) {
    entry->kind = kind == Processes ? Processes : Free;
    stopAtEnd();
  }
  result.entry = entry;
  return result;
}

void Leftover::made() {
  int kind = Making;
  if (entry && !entry->kind.compare_exchange_strong(kind, entry->what))
    stopAtEnd();
}

void Leftover::forget() {
  Entry *const noted = std::exchange(entry, nullptr);
  if (!noted)
    return;
  int kind = noted->kind.load();
  if (kind != Taken && noted->kind.compare_exchange_strong(kind, Free))
    return;
  // A handler on another thread removes it, and ends the process then.
  for (;;)
    ::pause();
}

/// System calls alone: it runs in a handler. The folder itself is left to the caller.
static void removeFilesOf(int folder) {
  struct Record {
    unsigned long long inode;
    long long offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  alignas(Record) char buffer[8192];
  for (;;) {
    const long got = ::syscall(SYS_getdents64, folder, buffer, sizeof(buffer));
    if (got <= 0)
      return;
    for (long at = 0; at < got;) {
      const auto *record = reinterpret_cast<const Record *>(buffer + at);
      ::unlinkat(folder, record->name, 0);
      at += record->length;
    }
  }
}

static void waitAMoment() {
  const timespec moment = {0, 2'000'000};
  ::nanosleep(&moment, nullptr);
}

/// SIGTERM first, for those who have leftovers of their own. Their number is theirs until they are waited for.
static void endProcesses(pid_t group) {
  ::kill(-group, SIGTERM);
  for (int i = 0; i < 100; ++i) {
    siginfo_t ended = {};
    if (::waitid(P_PID, static_cast<id_t>(group), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == group)
      break;
    waitAMoment();
  }
  ::kill(-group, SIGKILL);
}

void Leftover::remove(Entry &entry) {
  constexpr int mostMoments = 100;
  if (entry.what == File) {
    ::unlink(entry.path);
  } else if (entry.what == Processes) {
    endProcesses(entry.group);
  } else {
    // Other threads, and processes that are about to end, may write into it still.
    for (int i = 0; i < mostMoments; ++i) {
      const int folder = ::open(entry.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (folder >= 0) {
        removeFilesOf(folder);
        ::close(folder);
      }
      if (::rmdir(entry.path) == 0 || (errno != ENOTEMPTY && errno != EEXIST))
        return;
      waitAMoment();
    }
  }
}

void Leftover::removeAll() {
  ending = ::getpid();
  // Processes first, because they write into the folders.
  for (bool ofProcesses : {true, false})
    for (Entry *entry = static_cast<Entry *>(firstEntry.load()); entry; entry = entry->next) {
      int kind = entry->kind.load();
      if (kind == Free || kind == Taken || entry->owner != ::getpid() || (entry->what == Processes) != ofProcesses)
        continue;
      // Another thread makes it. If this one does, it is interrupted and goes on no more.
      for (int i = 0; i < 50 && kind == Making; ++i) {
        waitAMoment();
        kind = entry->kind.load();
      }
      if (kind != Free && kind != Taken && entry->kind.compare_exchange_strong(kind, Taken))
        remove(*entry);
    }
}

/// As many as libraries of ours that one process opens.
static std::atomic<void (*)()> others[4];

void zyx::removeLeftovers() {
  Leftover::removeAll();
  for (const auto &other : others)
    if (void (*const remove)() = other.load())
      remove();
}

void zyx::alsoRemove(void (*remove)()) {
  for (auto &other : others) {
    void (*free)() = nullptr;
    if (other.compare_exchange_strong(free, remove) || free == remove)
      return;
  }
}

static void removeAndEnd(int signal) {
  zyx::removeLeftovers();
  // As if it had not been handled; it is delivered when the handler returns.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void zyx::removeLeftoversOnSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) || action.sa_handler != SIG_DFL)
      continue;
    action = {};
    action.sa_handler = removeAndEnd;
    // The first of them does all.
    for (int other : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&action.sa_mask, other);
    ::sigaction(signal, &action, nullptr);
  }
}
