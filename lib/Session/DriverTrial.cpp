//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/DriverTrial.h"

#include "zyx/Base/Bytes.h"
#include "zyx/Base/ChildProcess.h"
#include "zyx/Session/Session.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <unistd.h>

using namespace zyx;
using namespace zyx::session;

// A request: the device, the folder of the cache or nothing, its bytes, the artifact. The child's exit code is its
// answer.

static constexpr uint64_t defaultMilliseconds = 10 * 60 * 1000;
/// A child that was not asked as it must be, so that nothing was tried.
static constexpr int wrongRequest = 3;

/// Beside this program, or of what this code is linked into, where it is installed.
static Result<std::string> findWorker(const std::string &named) {
  if (!named.empty())
    return named;
  std::string tried;
  char program[4096] = "";
  (void)!::readlink("/proc/self/exe", program, sizeof(program) - 1);
  Dl_info info;
  const bool isKnown = ::dladdr(reinterpret_cast<void *>(&isCompiledByDriver), &info) != 0 && info.dli_fname;
  for (const std::string &file : {std::string(program), std::string(isKnown ? info.dli_fname : "")}) {
    const std::string folder = file.substr(0, file.rfind('/') + 1);
    for (const char *place : {"zyx-driver-worker", "../bin/zyx-driver-worker"})
      if (::access((folder + place).c_str(), X_OK) == 0)
        return folder + place;
    tried += (tried.empty() ? "" : ", ") + folder;
  }
  return Status::notFound("there is no zyx-driver-worker in " + tried + " or ../bin of these");
}

bool session::isCompiledByDriver(const artifact::Artifact &artifact) {
  constexpr std::string_view formats[] = {"opencl-c", "spirv", "wgsl", "ptx"};
  return std::ranges::any_of(artifact.code,
                             [&](const auto &blob) { return std::ranges::count(formats, blob.format) != 0; });
}

/// "kernels 'a', 'b' and 7 more".
static std::string kernelsOf(const artifact::Artifact &artifact) {
  constexpr size_t mostNames = 8;
  std::string text = artifact.kernels.size() == 1 ? "kernel" : "kernels";
  for (size_t i = 0; i < std::min(mostNames, artifact.kernels.size()); ++i)
    text += (i == 0 ? " '" : ", '") + artifact.kernels[i].name + "'";
  if (artifact.kernels.size() > mostNames)
    text += " and " + std::to_string(artifact.kernels.size() - mostNames) + " more";
  return text;
}

/// The last line that is not empty.
static std::string lastLine(std::string_view text) {
  constexpr size_t longest = 500;
  const size_t end = text.find_last_not_of(std::string_view("\n\0", 2));
  if (end == text.npos)
    return "";
  text = text.substr(0, end + 1);
  return ": " + std::string(text.substr(text.rfind('\n') + 1, longest));
}

Status session::tryInChild(const artifact::Artifact &artifact, const DriverTrial &trial, const Isolation &isolation) {
  ZYX_ASSIGN_OR_RETURN(const std::string worker, findWorker(isolation.driverWorker));
  ByteWriter request;
  request.string(trial.device);
  request.string(trial.cacheFolder.value_or(""));
  request.u64(trial.cacheBytes);
  request.blob(artifact.serialize());
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(isolation.milliseconds ? isolation.milliseconds : defaultMilliseconds);
  ZYX_ASSIGN_OR_RETURN(const ChildResult child, runChild({worker}, request.view(), limits));
  const std::string what = " loading " + kernelsOf(artifact) + " of '" + artifact.entry + "' on device '" +
                           trial.device + "'" + lastLine(child.messages);
  if (child.timedOut)
    return Status(ErrorCode::Timeout,
                  "the driver's child process took longer than " + std::to_string(limits.time.count()) + " ms" + what);
  if (child.signal != 0)
    return Status::compileFailed("the driver's child process died by signal " + std::to_string(child.signal) + " (" +
                                 ::strsignal(child.signal) + ")" + what);
  if (child.exitCode != 0)
    return Status::compileFailed("the driver's child process ended with exit code " + std::to_string(child.exitCode) +
                                 what);
  return Status::ok();
}

static std::vector<std::byte> readStandardInput() {
  std::vector<std::byte> bytes;
  std::byte buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return bytes;
    bytes.insert(bytes.end(), buffer, buffer + got);
  }
}

int session::serveDriverTrial() {
  keepChildrenInGroup();
  const std::vector<std::byte> request = readStandardInput();
  ByteReader from(request);
  const std::string device = from.string("device");
  const std::string folder = from.string("folder");
  SessionOptions options;
  options.cacheBytes = from.u64("bytes of the cache");
  const std::span<const std::byte> blob = from.blob("artifact");
  Result<artifact::Artifact> artifact =
      from.status().isOk() ? artifact::Artifact::deserialize(blob) : Result<artifact::Artifact>(from.status());
  if (!artifact)
    return wrongRequest;
  if (!folder.empty())
    options.cacheFolder = folder;
  // What it is refused with is said where it is loaded to stay.
  Session session(std::move(options));
  (void)session.load(std::move(*artifact), device);
  return 0;
}
