//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_PROFILELOG_H
#define ZYX_LIB_TENSOR_PROFILELOG_H

#include "zyx/Base/Hash.h"
#include "zyx/Base/Trace.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Tensor/Profile.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace zyx::detail {

/// What a device reaches at best; none where nobody has measured that.
using PeakOf = std::function<std::optional<runtime::Peak>(const std::string &device)>;

/// What a context tells of its runs. Calls from several threads are safe.
class ProfileLog {
public:
  explicit ProfileLog(bool tracesRuns = true) : tracesRuns(tracesRuns) {}

  /// Of the compiler, and of runs where they are traced.
  Trace trace;

  /// A run of the program of that number, which began at a time of Trace::now(); the times are those of the artifact's
  /// commands.
  void add(uint64_t program, const std::string &device, uint64_t begin, const artifact::Artifact &artifact,
           std::span<const runtime::CommandTime> times);
  /// One that the interpreter evaluated until now.
  void addEvaluation(uint64_t program, const std::string &device, uint64_t begin);
  /// `peakOf` is asked for each device that has run a kernel.
  std::vector<KernelTime> kernels(const PeakOf &peakOf) const;

private:
  size_t numberOf(uint64_t program);
  KernelTime &entry(size_t program, size_t command, const std::string &name, const std::string &device);

  const bool tracesRuns;
  mutable std::mutex mutex;
  /// As they were first run while it was there: from 1 on.
  std::map<uint64_t, size_t> programs;
  /// By the number of the program and that of the command.
  std::map<std::pair<size_t, size_t>, KernelTime> entries;
};

/// A line per kernel and one for all.
std::string formatProfile(std::span<const KernelTime> kernels);
/// The same as lines of ZYX_DEBUG=timing; nothing where nothing was run.
void printProfile(const ProfileLog &log, const PeakOf &peakOf);

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_PROFILELOG_H
