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

#include <map>
#include <mutex>

namespace zyx::detail {

/// What a context tells of its runs. Calls from several threads are safe.
class ProfileLog {
public:
  explicit ProfileLog(bool tracesRuns = true) : tracesRuns(tracesRuns) {}

  /// Of the compiler, and of runs where they are traced.
  Trace trace;

  /// A run of the program of that number, which began at a time of Trace::now(); the times are those of the artifact's
  /// commands.
  void add(uint64_t program, uint64_t begin, const artifact::Artifact &artifact,
           std::span<const runtime::CommandTime> times);
  /// One that the interpreter evaluated until now.
  void addEvaluation(uint64_t program, uint64_t begin);
  std::vector<KernelTime> kernels(const std::optional<runtime::Peak> &peak) const;

private:
  size_t numberOf(uint64_t program);
  KernelTime &entry(size_t program, size_t command, const std::string &name);

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
void printProfile(const ProfileLog &log, const std::optional<runtime::Peak> &peak);

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_PROFILELOG_H
