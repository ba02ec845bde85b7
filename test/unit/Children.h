//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Children that are forked, without another program.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_CHILDREN_H
#define ZYX_TEST_UNIT_CHILDREN_H

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

/// The exit code of a child that runs `body`: 1000 and the number of the signal that ended it, which is SIGALRM's after
/// a minute, and 99 where an exception did.
inline int inChild(const std::function<int()> &body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    try {
      ::_exit(body());
    } catch (const std::exception &error) {
      std::fprintf(stderr, "the child throws: %s\n", error.what());
      ::_exit(99);
    }
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// A child calls `begin`, and waits for ever within, where that calls its argument. Then `look` is called here, and the
/// signal ends the child.
inline void endInTheMiddle(int signal, const std::function<void(const std::function<void()> &)> &begin,
                           const std::function<void()> &look) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(signal, SIG_DFL);
    begin([&] {
      (void)!::write(ready[1], "x", 1);
      for (;;)
        ::pause();
    });
    ::_exit(1);
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::close(ready[1]);
  look();
  ::kill(child, signal);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
}

#endif // ZYX_TEST_UNIT_CHILDREN_H
