//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/ChildProcess.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace zyx;

namespace {

using Clock = std::chrono::steady_clock;

/// Of the standard error only the end is kept: a crash is told last.
constexpr size_t maxMessages = 1 << 16;
/// To write a stack dump in.
constexpr auto lastWords = std::chrono::seconds(2);

class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  Descriptor(Descriptor &&other) noexcept : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (number >= 0)
      ::close(number);
    number = -1;
  }
  int get() const { return number; }
  bool isOpen() const { return number >= 0; }

private:
  int number;
};

/// A connected pair of which a child gets the second.
struct Channel {
  Descriptor ours, theirs;
};

/// Sockets instead of pipes: to write to one whose reader has died is an error that `send` can
/// return, not a signal to the whole process.
Result<Channel> makeChannel() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return Status::ioError(std::string("cannot connect a child process: ") + std::strerror(errno));
  ::fcntl(pair[0], F_SETFL, O_NONBLOCK);
  return Channel{Descriptor(pair[0]), Descriptor(pair[1])};
}

/// Whether children stay in the group of this process.
std::atomic<bool> keepsChildren = false;

/// In the child, which may share the memory of the parent: system calls alone. Returns what failed.
int become(char *const *arguments, const int (&standard)[3], bool inOwnGroup, pid_t parent) {
  if (inOwnGroup && ::setpgid(0, 0) != 0)
    return errno;
#ifdef __linux__
  // It ends with the thread that waits for it.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent)
    ::_exit(127);
#endif
  for (int i = 0; i < 3; ++i)
    if ((standard[i] == i ? ::fcntl(i, F_SETFD, 0) : ::dup2(standard[i], i)) < 0)
      return errno;
  // Signals as a program expects them, whatever this one did to its own.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal)
    ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvp(arguments[0], arguments);
  return errno;
}

/// Not posix_spawn, which cannot ask for the end with the parent.
Result<pid_t> spawn(const std::vector<std::string> &command, const Channel (&channels)[3],
                    bool inOwnGroup) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  const int standard[] = {channels[0].theirs.get(), channels[1].theirs.get(),
                          channels[2].theirs.get()};
  // What the child says where it cannot become the program; at its end where it did.
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0)
    return Status::ioError(std::string("cannot connect a child process: ") + std::strerror(errno));
  Descriptor ours(report[0]), theirs(report[1]);
  // No handler of this process may run in the child.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  int error = 0;
  const pid_t child = ::vfork();
  if (child == 0) {
    const int failure = become(arguments.data(), standard, inOwnGroup, parent);
    while (::write(report[1], &failure, sizeof(failure)) < 0 && errno == EINTR)
      ;
    ::_exit(127);
  }
  if (child < 0)
    error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  theirs.close();
  if (child > 0)
    while (::read(report[0], &error, sizeof(error)) < 0 && errno == EINTR)
      ;
  if (error == 0)
    return child;
  if (child > 0)
    ::waitpid(child, nullptr, 0);
  return Status::notFound("cannot run " + command[0] + ": " + std::strerror(error));
}

void endGroup(int) { ::kill(0, SIGKILL); }

/// Reads what is there; closes the descriptor at its end.
template <typename Container> void readInto(Descriptor &from, Container &into) {
  char buffer[1 << 16];
  ssize_t got = ::read(from.get(), buffer, sizeof(buffer));
  if (got > 0) {
    auto *begin = reinterpret_cast<const typename Container::value_type *>(buffer);
    into.insert(into.end(), begin, begin + got);
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    from.close();
  }
}

} // namespace

void zyx::keepChildrenInGroup() {
  if (::getpgrp() != ::getpid())
    return;
  keepsChildren = true;
  struct sigaction action = {};
  action.sa_handler = endGroup;
  ::sigaction(SIGTERM, &action, nullptr);
}

Result<ChildResult> zyx::runChild(const std::vector<std::string> &command,
                                  std::span<const std::byte> input, const ChildLimits &limits) {
  Channel channels[3];
  for (Channel &channel : channels) {
    ZYX_ASSIGN_OR_RETURN(channel, makeChannel());
  }
  const bool inOwnGroup = !keepsChildren;
  ZYX_ASSIGN_OR_RETURN(pid_t child, spawn(command, channels, inOwnGroup));
  auto end = [&] { ::kill(inOwnGroup ? -child : child, SIGKILL); };
  for (Channel &channel : channels)
    channel.theirs.close();
  Descriptor &in = channels[0].ours, &out = channels[1].ours, &err = channels[2].ours;

  ChildResult result;
  Clock::time_point deadline = Clock::now() + limits.time;
  while (in.isOpen() || out.isOpen() || err.isOpen()) {
    if (in.isOpen() && input.empty())
      in.close();
    pollfd polled[3] = {{in.get(), POLLOUT, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    ::poll(polled, 3, static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60000)));
    // Whether or not there is something to read: there always is from one that never stops.
    if (Clock::now() >= deadline) {
      if (result.timedOut)
        break;
      result.timedOut = true;
      deadline = Clock::now() + lastWords;
      ::kill(child, SIGABRT);
      continue;
    }
    if (polled[0].revents) {
      ssize_t put = ::send(in.get(), input.data(), input.size(), MSG_NOSIGNAL);
      if (put > 0)
        input = input.subspan(static_cast<size_t>(put));
      else if (errno != EAGAIN && errno != EINTR)
        in.close(); // It does not listen any more; how it ends tells why.
    }
    if (polled[1].revents)
      readInto(out, result.output);
    if (polled[2].revents) {
      readInto(err, result.messages);
      if (result.messages.size() > maxMessages)
        result.messages.erase(0, result.messages.size() - maxMessages);
    }
    if (result.output.size() > limits.outputBytes) {
      result.tooMuchOutput = true;
      break;
    }
  }
  if (result.timedOut || result.tooMuchOutput)
    end();
  for (siginfo_t ended = {}; ended.si_pid != child;) {
    if (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 &&
        errno != EINTR)
      return Status::internal(std::string("cannot wait for a child process: ") +
                              std::strerror(errno));
    if (ended.si_pid == child)
      break;
    // One that has closed its ends may still run.
    if (Clock::now() >= deadline) {
      result.timedOut = true;
      end();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  // Whom it has left behind; before it is forgotten, because its number names the group.
  if (inOwnGroup)
    end();
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exitCode = WEXITSTATUS(status);
  return result;
}
