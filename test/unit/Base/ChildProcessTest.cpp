//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/ChildProcess.h"

#include "../Children.h"
#include "zyx/Base/Leftover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace zyx;

namespace {

std::string textOf(const ChildResult &result) {
  return std::string(reinterpret_cast<const char *>(result.output.data()), result.output.size());
}

/// Whether the process ends, or has ended, within seconds. A zombie has.
bool ends(const std::string &process) {
  for (int i = 0; i < 1000; ++i) {
    std::ifstream file("/proc/" + process + "/stat");
    std::string number, name, state;
    if (!(file >> number >> name >> state) || state == "Z")
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// The first line that is there.
std::string lineOf(const std::filesystem::path &path) {
  std::string line;
  for (int i = 0; i < 1000; ++i) {
    std::ifstream file(path);
    if (std::getline(file, line) && !file.eof())
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return line;
}

/// Ends the process with the refusal as its last words, which EXPECT_EXIT compares.
[[noreturn]] void exitWith(const Result<ChildResult> &result) {
  std::fputs(result.isOk() ? "it ran" : result.status().message().c_str(), stderr);
  std::_Exit(1);
}

} // namespace

TEST(ChildProcessTest, GivesWhatTheChildWrites) {
  const std::string_view text = "some bytes";
  const Result<ChildResult> echo = runChild({"/bin/cat"}, std::as_bytes(std::span(text)));
  ASSERT_TRUE(echo.isOk()) << echo.status().message();
  EXPECT_EQ(textOf(*echo), text);
  EXPECT_EQ(echo->exitCode, 0);
  const Result<ChildResult> failing = runChild({"/bin/sh", "-c", "echo no >&2; exit 3"}, {});
  ASSERT_TRUE(failing.isOk());
  EXPECT_EQ(failing->exitCode, 3);
  EXPECT_EQ(failing->messages, "no\n");
}

TEST(ChildProcessTest, EndsChildrenThatTakeOrWriteTooMuch) {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(50);
  const Result<ChildResult> sleeping = runChild({"/bin/sleep", "60"}, {}, limits);
  ASSERT_TRUE(sleeping.isOk());
  EXPECT_TRUE(sleeping->timedOut);
  limits.time = std::chrono::minutes(1);
  limits.outputBytes = 100;
  const Result<ChildResult> writing = runChild({"/bin/cat", "/dev/zero"}, {}, limits);
  ASSERT_TRUE(writing.isOk());
  EXPECT_TRUE(writing->tooMuchOutput);
}

TEST(ChildProcessTest, EndsChildrenThatNeverStopWriting) {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(50);
  const Result<ChildResult> writing = runChild({"/bin/sh", "-c", "exec cat /dev/zero >&2"}, {}, limits);
  ASSERT_TRUE(writing.isOk());
  EXPECT_TRUE(writing->timedOut);
  EXPECT_EQ(writing->messages.size(), 1u << 16);
}

TEST(ChildProcessTest, EndsWhomTheChildHasStarted) {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(200);
  const std::string start = "sleep 1000 <&- >&- 2>&- & echo $!";
  for (const char *then : {"; exec sleep 1000", "; exit 3"}) {
    const Result<ChildResult> child = runChild({"/bin/sh", "-c", start + then}, {}, limits);
    ASSERT_TRUE(child.isOk());
    std::string number = textOf(*child);
    ASSERT_FALSE(number.empty());
    number.pop_back();
    EXPECT_TRUE(ends(number)) << then;
  }
}

TEST(ChildProcessTest, EndsWithItsParent) {
  const auto path = std::filesystem::temp_directory_path() / ("zyx-child-process-test-" + std::to_string(::getpid()));
  for (bool isWorker : {false, true}) {
    const std::string write = " >" + path.string();
    const pid_t parent = ::fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
      if (isWorker) {
        // One that leads a group, as runChild makes them.
        ::setpgid(0, 0);
        keepChildrenInGroup();
      }
      (void)runChild({"/bin/sh", "-c",
                      isWorker ? "sleep 1000 & echo $!" + write + "; wait" : "echo $$" + write + "; exec sleep 1000"},
                     {});
      ::_exit(0);
    }
    const std::string number = lineOf(path);
    // A worker is told of the death of its own parent by SIGTERM.
    ::kill(parent, isWorker ? SIGTERM : SIGKILL);
    ::waitpid(parent, nullptr, 0);
    EXPECT_FALSE(number.empty());
    EXPECT_TRUE(ends(number)) << isWorker;
    std::filesystem::remove(path);
  }
}

TEST(ChildProcessTest, SaysWhyNothingCouldBeRun) {
  EXPECT_FALSE(runChild({"/no/such/program"}, {}).isOk());
  EXPECT_EXIT(
      {
        rlimit none;
        none.rlim_cur = none.rlim_max = 3;
        setrlimit(RLIMIT_NOFILE, &none);
        exitWith(runChild({"/bin/true"}, {}));
      },
      testing::ExitedWithCode(1), "cannot connect a child process: ");
}

/// What holds of a child's end, whatever this process does with SIGCHLD.
static void expectEnds(bool isKnown) {
  const std::string_view text = "some bytes";
  const Result<ChildResult> echo = runChild({"/bin/cat"}, std::as_bytes(std::span(text)));
  ASSERT_TRUE(echo.isOk()) << echo.status().message();
  EXPECT_EQ(textOf(*echo), text);
  EXPECT_EQ(echo->signal, 0);
  EXPECT_EQ(echo->exitCode, 0);
  const Result<ChildResult> failing = runChild({"/bin/sh", "-c", "echo no >&2; exit 3"}, {});
  ASSERT_TRUE(failing.isOk()) << failing.status().message();
  EXPECT_EQ(failing->messages, "no\n");
  EXPECT_EQ(failing->isEndUnknown ? 3 : failing->exitCode, 3);
  const Result<ChildResult> killed = runChild({"/bin/sh", "-c", "kill -9 $$"}, {});
  ASSERT_TRUE(killed.isOk()) << killed.status().message();
  EXPECT_EQ(killed->isEndUnknown ? SIGKILL : killed->signal, SIGKILL);
  if (isKnown)
    EXPECT_FALSE(echo->isEndUnknown || failing->isEndUnknown || killed->isEndUnknown);
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(50);
  const auto begin = std::chrono::steady_clock::now();
  const Result<ChildResult> sleeping = runChild({"/bin/sleep", "1000"}, {}, limits);
  ASSERT_TRUE(sleeping.isOk()) << sleeping.status().message();
  EXPECT_TRUE(sleeping->timedOut);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  const Result<ChildResult> missing = runChild({"/no/such/program"}, {});
  EXPECT_EQ(missing.status().code(), ErrorCode::NotFound) << missing.status().message();
}

/// As daemons do, and hosts that have their own way to learn of ends.
TEST(ChildProcessTest, EndsAreKnownWhereSIGCHLDIsIgnored) {
  struct sigaction before, action = {};
  ASSERT_EQ(sigaction(SIGCHLD, nullptr, &before), 0);
  action.sa_handler = SIG_IGN;
  ASSERT_EQ(sigaction(SIGCHLD, &action, nullptr), 0);
  expectEnds(true);
  action.sa_handler = SIG_DFL;
  action.sa_flags = SA_NOCLDWAIT;
  ASSERT_EQ(sigaction(SIGCHLD, &action, nullptr), 0);
  expectEnds(true);
  ASSERT_EQ(sigaction(SIGCHLD, &before, nullptr), 0);
  expectEnds(true);
}

TEST(ChildProcessTest, AChildThatAnotherThreadWaitsForHasEnded) {
  std::atomic<bool> over = false;
  std::thread reaper([&] {
    while (!over)
      if (waitpid(-1, nullptr, WNOHANG) <= 0)
        std::this_thread::yield();
  });
  for (int i = 0; i < 10; ++i)
    expectEnds(false);
  over = true;
  reaper.join();
}

TEST(ChildProcessTest, GivesTheChildVariables) {
  ChildLimits limits;
  limits.environment = {"ZYX_TEST_VARIABLE=a value", "HOME=/elsewhere"};
  const Result<ChildResult> child =
      runChild({"/bin/sh", "-c", "echo $ZYX_TEST_VARIABLE $HOME; env | grep -c ^HOME="}, {}, limits);
  ASSERT_TRUE(child.isOk());
  EXPECT_EQ(textOf(*child), "a value /elsewhere\n1\n");
}

/// A program that removes leftovers takes its children with it, and theirs.
TEST(ChildProcessTest, EndWithASignalToTheProcess) {
  const auto path = std::filesystem::temp_directory_path() / ("zyx-child-signal-test-" + std::to_string(::getpid()));
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t parent = ::fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
      std::signal(signal, SIG_DFL);
      removeLeftoversOnSignals();
      (void)runChild({"/bin/sh", "-c", "sleep 1000 & echo $! >" + path.string() + "; wait"}, {});
      ::_exit(0);
    }
    const std::string number = lineOf(path);
    ::kill(parent, signal);
    int status = 0;
    ::waitpid(parent, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_FALSE(number.empty());
    EXPECT_TRUE(ends(number)) << signal;
    std::filesystem::remove(path);
  }
}

#ifdef __linux__
/// Has waitid() fail in this process, and in those that come of it: with any argument, or for descriptors of processes.
static bool refuseToWait(bool always, unsigned error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_waitid, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      // P_PIDFD
      BPF_JUMP(BPF_JMP | (always ? BPF_JGE : BPF_JEQ) | BPF_K, always ? 0u : 3u, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(filter), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// What `body` says in a process where the system refuses that; none where it takes no filters.
static std::optional<int> whereRefused(bool always, unsigned error, const std::function<bool()> &body) {
  constexpr int unable = 77;
  const int code = inChild([&] {
    return !refuseToWait(always, error) ? unable : body() && !testing::Test::HasFailure() ? 0 : 1;
  });
  return code == unable ? std::nullopt : std::optional(code);
}

/// Linux 5.3 has descriptors of processes for which it does not wait.
TEST(ChildProcessTest, WaitsByNumberWhereTheSystemKnowsNoOtherWay) {
  const std::optional<int> code = whereRefused(false, EINVAL, [] {
    expectEnds(true);
    return true;
  });
  if (!code)
    GTEST_SKIP() << "no system call can be refused here";
  EXPECT_EQ(*code, 0);
}

TEST(ChildProcessTest, DoesNotWaitForEverWhereTheSystemSaysNothingOfChildren) {
  const std::optional<int> code = whereRefused(true, EPERM, [] {
    const Result<ChildResult> echo = runChild({"/bin/sh", "-c", "echo yes"}, {});
    return echo && textOf(*echo) == "yes\n" && echo->isEndUnknown;
  });
  if (!code)
    GTEST_SKIP() << "no system call can be refused here";
  EXPECT_EQ(*code, 0);
}
#endif
