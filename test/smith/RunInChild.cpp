//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "conformance/Evaluate.h"
#include "smith/Reduce.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zyx::smith {

using conformance::Outcome;

[[noreturn]] static void runChild(const Program &program, int file,
                                  const std::function<std::unique_ptr<conformance::Device>()> &make, unsigned seconds,
                                  double tolerance) {
  // What an allocator says before it aborts is said hundreds of times.
  if (const int null = open("/dev/null", O_WRONLY); null >= 0)
    dup2(null, STDERR_FILENO);
  alarm(seconds);
  const conformance::Verdict verdict = conformance::runProgram(program, /*strict=*/false, *make(), tolerance);
  const std::string text = static_cast<char>(verdict.outcome) + verdict.text;
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR)
      _exit(3);
    done += written > 0 ? static_cast<size_t>(written) : 0;
  }
  _exit(0);
}

Failure runInChild(const Program &program, const std::function<std::unique_ptr<conformance::Device>()> &make,
                   unsigned seconds, double tolerance) {
  int ends[2];
  if (pipe(ends) != 0)
    return {Outcome::Crash, std::strerror(errno)};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    runChild(program, ends[1], make, seconds, tolerance);
  }
  close(ends[1]);
  std::string text;
  char bytes[4096];
  ssize_t count = 0;
  while ((count = read(ends[0], bytes, sizeof(bytes))) > 0 || (count < 0 && errno == EINTR))
    if (count > 0)
      text.append(bytes, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return {Outcome::Crash, std::string("ends with signal ") + strsignal(WTERMSIG(status))};
  if (WEXITSTATUS(status) != 0 || text.empty())
    return {Outcome::Crash, "exits with " + std::to_string(WEXITSTATUS(status))};
  return {static_cast<Outcome>(text[0]), text.substr(1)};
}

static std::string withoutNumbers(const std::string &text) {
  std::string result;
  for (char c : text)
    if (!std::isdigit(static_cast<unsigned char>(c)))
      result += c;
  return result;
}

bool isSameFailure(const Failure &a, const Failure &b) {
  return a.outcome == b.outcome && (a.outcome != Outcome::Refused || withoutNumbers(a.text) == withoutNumbers(b.text));
}

} // namespace zyx::smith
