//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/ChildProcess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char **environ;

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

Result<pid_t> spawn(const std::vector<std::string> &command, const Channel (&channels)[3]) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i)
    posix_spawn_file_actions_adddup2(&actions, channels[i].theirs.get(), i);
  // Signals as a program expects them, whatever this one did to its own.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child;
  int error =
      posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    return Status::notFound("cannot run " + command[0] + ": " + std::strerror(error));
  return child;
}

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

Result<ChildResult> zyx::runChild(const std::vector<std::string> &command,
                                  std::span<const std::byte> input, const ChildLimits &limits) {
  Channel channels[3];
  for (Channel &channel : channels) {
    ZYX_ASSIGN_OR_RETURN(channel, makeChannel());
  }
  ZYX_ASSIGN_OR_RETURN(pid_t child, spawn(command, channels));
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
    int ready = ::poll(polled, 3, static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60000)));
    if (ready == 0 && Clock::now() >= deadline) {
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
    ::kill(child, SIGKILL);
  int status = 0;
  for (pid_t ended; (ended = ::waitpid(child, &status, WNOHANG)) != child;) {
    if (ended < 0 && errno != EINTR)
      return Status::internal(std::string("cannot wait for a child process: ") +
                              std::strerror(errno));
    // One that has closed its ends may still run.
    if (Clock::now() >= deadline) {
      result.timedOut = true;
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exitCode = WEXITSTATUS(status);
  return result;
}
