//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/ChildProcess.h"

#include "zyx/Base/Leftover.h"

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
#include <sys/syscall.h>
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

/// What a child becomes.
struct Image {
  std::vector<char *> arguments, environment;
  int standard[3];
  /// Where it says why it could not.
  int report;
};

/// In a new process: it ends with the thread that waits for it. Returns what failed.
int tieToParent(bool inOwnGroup, pid_t parent) {
  if (inOwnGroup && ::setpgid(0, 0) != 0)
    return errno;
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent)
    ::_exit(127);
#endif
  return 0;
}

/// Signals as a program expects them, whatever this one did to its own.
void resetSignals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal)
    ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// In the child, which may share the memory of the parent: system calls alone.
[[noreturn]] void become(const Image &image, bool inOwnGroup, pid_t parent) {
  int failure = tieToParent(inOwnGroup, parent);
  for (int i = 0; i < 3 && failure == 0; ++i)
    if ((image.standard[i] == i ? ::fcntl(i, F_SETFD, 0) : ::dup2(image.standard[i], i)) < 0)
      failure = errno;
  if (failure == 0) {
    resetSignals();
    ::execvpe(image.arguments[0], image.arguments.data(), image.environment.data());
    failure = errno;
  }
  while (::write(image.report, &failure, sizeof(failure)) < 0 && errno == EINTR)
    ;
  ::_exit(127);
}

/// Where this process ignores SIGCHLD, the system reports the end of no child of its own: another process
/// between them waits for it, and writes how it ended. System calls alone.
[[noreturn]] void supervise(const Image &image, bool inOwnGroup, pid_t parent, int status) {
  if (const int failure = tieToParent(inOwnGroup, parent)) {
    (void)!::write(image.report, &failure, sizeof(failure));
    ::_exit(127);
  }
  resetSignals();
  // That one is for the child, which is in the same group.
  ::signal(SIGABRT, SIG_IGN);
  const pid_t self = ::getpid(), child = ::vfork();
  if (child == 0)
    become(image, false, self);
  if (child < 0) {
    const int failure = errno;
    (void)!::write(image.report, &failure, sizeof(failure));
    ::_exit(127);
  }
  // Whoever reads or writes at another end waits for the child alone.
  constexpr unsigned last = ~0u;
  if ((status > 0 && ::syscall(SYS_close_range, 0u, static_cast<unsigned>(status) - 1, 0u) != 0) ||
      ::syscall(SYS_close_range, static_cast<unsigned>(status) + 1, last, 0u) != 0)
    for (int number = 0; number < 1024; ++number)
      if (number != status)
        ::close(number);
  int how = 0;
  while (::waitpid(child, &how, 0) < 0 && errno == EINTR)
    ;
  (void)!::write(status, &how, sizeof(how));
  // Whom it has left behind, and this process with them.
  if (inOwnGroup)
    ::kill(0, SIGKILL);
  ::_exit(0);
}

bool ignoresChildren() {
  struct sigaction action = {};
  return ::sigaction(SIGCHLD, nullptr, &action) == 0 &&
         ((!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN) || (action.sa_flags & SA_NOCLDWAIT));
}

/// The variables of this process, but for those that are given as "NAME=VALUE".
std::vector<char *> withVariables(const std::vector<std::string> &given) {
  std::vector<char *> all;
  for (char **variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    const bool isGiven = std::any_of(given.begin(), given.end(), [&](const std::string &other) {
      return text.starts_with(other.substr(0, other.find('=') + 1));
    });
    if (!isGiven)
      all.push_back(*variable);
  }
  for (const std::string &variable : given)
    all.push_back(const_cast<char *>(variable.c_str()));
  all.push_back(nullptr);
  return all;
}

struct Spawned {
  pid_t process;
  /// Its group, if it has one of its own.
  Leftover processes;
  /// Where another process tells how the child ended.
  Descriptor status;
};

/// Not posix_spawn, which cannot ask for the end with the parent.
Result<Spawned> spawn(const std::vector<std::string> &command, const std::vector<std::string> &variables,
                      const Channel (&channels)[3], bool inOwnGroup) {
  Image image;
  for (const std::string &argument : command)
    image.arguments.push_back(const_cast<char *>(argument.c_str()));
  image.arguments.push_back(nullptr);
  image.environment = withVariables(variables);
  for (int i = 0; i < 3; ++i)
    image.standard[i] = channels[i].theirs.get();
  // What the child says where it cannot become the program; at its end where it did.
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0)
    return Status::ioError(std::string("cannot connect a child process: ") + std::strerror(errno));
  Descriptor ours(report[0]), theirs(report[1]);
  image.report = report[1];
  int status[2] = {-1, -1};
  const bool isSupervised = ignoresChildren();
  if (isSupervised && ::pipe2(status, O_CLOEXEC) != 0)
    return Status::ioError(std::string("cannot connect a child process: ") + std::strerror(errno));
  Descriptor told(status[0]), tells(status[1]);
  Leftover::stopAtEnd();
  // No handler of this process may run in the child.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  int error = 0;
  pid_t child;
  if (isSupervised) {
    // It lives on beside this process, and so has memory of its own.
    child = ::_Fork();
    if (child == 0)
      supervise(image, inOwnGroup, parent, status[1]);
  } else {
    child = ::vfork();
    if (child == 0)
      become(image, inOwnGroup, parent);
  }
  if (child < 0)
    error = errno;
  // Before a signal can end this process again.
  Leftover processes = child > 0 && inOwnGroup ? Leftover::processes(child) : Leftover();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  theirs.close();
  if (child > 0)
    while (::read(report[0], &error, sizeof(error)) < 0 && errno == EINTR)
      ;
  if (error == 0)
    return Spawned{child, std::move(processes), std::move(told)};
  processes.forget();
  if (child > 0)
    ::waitpid(child, nullptr, 0);
  return Status::notFound("cannot run " + command[0] + ": " + std::strerror(error));
}

void endGroup(int) {
  removeLeftovers();
  ::kill(0, SIGKILL);
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

void zyx::keepChildrenInGroup() {
  if (::getpgrp() != ::getpid())
    return;
  keepsChildren = true;
  struct sigaction action = {};
  action.sa_handler = endGroup;
  ::sigaction(SIGTERM, &action, nullptr);
}

Result<ChildResult> zyx::runChild(const std::vector<std::string> &command, std::span<const std::byte> input,
                                  const ChildLimits &limits) {
  Channel channels[3];
  for (Channel &channel : channels) {
    ZYX_ASSIGN_OR_RETURN(channel, makeChannel());
  }
  const bool inOwnGroup = !keepsChildren;
  ZYX_ASSIGN_OR_RETURN(Spawned spawned, spawn(command, limits.environment, channels, inOwnGroup));
  const pid_t child = spawned.process;
  const bool isSupervised = spawned.status.isOpen();
  Leftover &processes = spawned.processes;
#ifdef SYS_pidfd_open
  // A number may be another process's once it was waited for, this cannot. Not there before Linux 5.3.
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0u)));
#else
  Descriptor process;
#endif
  auto end = [&] { ::kill(inOwnGroup ? -child : child, SIGKILL); };
  for (Channel &channel : channels)
    channel.theirs.close();
  Descriptor &in = channels[0].ours, &out = channels[1].ours, &err = channels[2].ours;

  ChildResult result;
  Clock::time_point deadline = Clock::now() + limits.time;
  std::vector<std::byte> answer;
  while (in.isOpen() || out.isOpen() || err.isOpen()) {
    if (in.isOpen() && input.empty() && (!limits.answer || !out.isOpen())) {
      in.close();
      continue;
    }
    // Where there is nothing to write it would be ready all the time.
    pollfd polled[3] = {{input.empty() ? -1 : in.get(), POLLOUT, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    ::poll(polled, 3, static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60000)));
    // Whether or not there is something to read: there always is from one that never stops.
    if (Clock::now() >= deadline) {
      if (result.timedOut)
        break;
      result.timedOut = true;
      deadline = Clock::now() + lastWords;
      ::kill(isSupervised && inOwnGroup ? -child : child, SIGABRT);
      continue;
    }
    if (polled[0].revents) {
      ssize_t put = ::send(in.get(), input.data(), input.size(), MSG_NOSIGNAL);
      if (put > 0)
        input = input.subspan(static_cast<size_t>(put));
      else if (errno != EAGAIN && errno != EINTR)
        in.close(); // It does not listen any more; how it ends tells why.
    }
    if (polled[1].revents) {
      readInto(out, result.output);
      // The next question comes behind the answer to this one.
      if (limits.answer && input.empty()) {
        answer = limits.answer(result.output);
        input = answer;
      }
    }
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
  bool isWaitedFor = false;
  constexpr auto byDescriptor = static_cast<idtype_t>(3); // P_PIDFD, which older headers lack
  for (;;) {
    siginfo_t ended = {};
    if (::waitid(process.isOpen() ? byDescriptor : P_PID, static_cast<id_t>(process.isOpen() ? process.get() : child),
                 &ended, WEXITED | WNOHANG | WNOWAIT) != 0 &&
        errno != EINTR) {
      // Linux 5.3 opens such descriptors, but does not wait for them.
      if (errno == EINVAL && process.isOpen()) {
        process.close();
        continue;
      }
      // It has ended, but another part of this process waits for every child, or ignores SIGCHLD. Its number, and so
      // that of its group, may be another's by now. Or the system says nothing of children at all: asking again gives
      // the same.
      isWaitedFor = true;
      break;
    }
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
  if (inOwnGroup && !isWaitedFor)
    end();
  processes.forget();
  int status = 0;
  if (isSupervised) {
    // The supervisor ends by itself when it has told, unless it was ended with the group.
    if (!isWaitedFor)
      ::waitpid(child, nullptr, 0);
    ssize_t got;
    while ((got = ::read(spawned.status.get(), &status, sizeof(status))) < 0 && errno == EINTR)
      ;
    if (result.timedOut || result.tooMuchOutput)
      status = SIGKILL;
    else
      result.isEndUnknown = got != sizeof(status);
  } else if (isWaitedFor || ::waitpid(child, &status, 0) != child) {
    result.isEndUnknown = true;
    return result;
  }
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exitCode = WEXITSTATUS(status);
  return result;
}
