//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/File.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Target/Text/C.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace zyx::target {
namespace {

/// Longer messages are cut: a compiler can print one for every line.
constexpr size_t maxOutput = 4000;

std::string outputOf(const std::string &path) {
  Result<ReadOnlyFile> file = ReadOnlyFile::open(path);
  if (!file)
    return "";
  std::string text(std::min<uint64_t>(file->size(), maxOutput), '\0');
  Status read = file->read(0, std::as_writable_bytes(std::span(text)));
  return read ? text : "";
}

/// Runs a program without a shell, its output into a file. Returns its wait status.
Result<int> runProgram(const std::vector<std::string> &command, const std::string &output) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child;
  int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    return Status::notFound("cannot run the C compiler '" + command[0] + "': " + std::strerror(error));
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return Status::internal(std::string("cannot wait for the C compiler: ") + std::strerror(errno));
  return status;
}

} // namespace

Result<std::vector<std::byte>> compileC(const std::string &text, const COptions &options) {
  ZYX_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::create());
  ZYX_ASSIGN_OR_RETURN(std::string source, folder.write("kernels.c", std::as_bytes(std::span(text))));
  std::string object = folder.file("kernels.so"), messages = folder.file("messages");
  std::vector<std::string> command = {options.compiler, "-std=c11", "-O3", "-ffp-contract=off",
                                      "-fno-math-errno", "-fPIC", "-shared"};
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  command.insert(command.end(), {"-o", object, source, "-lm"});
  ZYX_ASSIGN_OR_RETURN(int status, runProgram(command, messages));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Status::compileFailed("the C compiler '" + options.compiler + "' refused the kernels: " +
                                 outputOf(messages));
  return readFile(object);
}

} // namespace zyx::target
