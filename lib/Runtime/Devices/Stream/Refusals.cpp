//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Refusals.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime;

BackendFacts runtime::backendFacts(std::string name, DeviceFacts facts) {
  BackendFacts all;
  all.name = std::move(name);
  all.target = facts.target;
  all.identity = facts.identity;
  all.alignment = facts.alignment;
  all.freeBytes = facts.memoryBytes;
  all.processors = std::max(static_cast<int>(facts.processors), 1);
  all.device = std::move(facts);
  return all;
}

Status runtime::checkFormat(const artifact::Artifact &artifact, std::string_view target, std::string_view format,
                            const std::string &device) {
  if (artifact.target != target)
    return Status::unsupported("code for '" + artifact.target + "' does not run on " + device);
  for (const artifact::CodeBlob &code : artifact.code)
    if (code.format != format)
      return Status::unsupported("code of format '" + code.format + "' is not known to " + device);
  return Status::ok();
}

Status runtime::checkLimits(const artifact::Kernel &kernel, const std::string &device, uint64_t threads,
                            uint64_t sharedBytes) {
  if (kernel.groupThreads > threads)
    return Status::unsupported("kernel " + kernel.name + " has workgroups of " + std::to_string(kernel.groupThreads) +
                               " threads, and device '" + device + "' runs it with " + std::to_string(threads));
  if (kernel.sharedBytes > sharedBytes)
    return Status::unsupported("kernel " + kernel.name + " needs " + std::to_string(kernel.sharedBytes) +
                               " bytes of shared memory, and device '" + device + "' has " +
                               std::to_string(sharedBytes));
  return Status::ok();
}

Status runtime::checkAllocation(uint64_t bytes, const std::string &device, uint64_t largest) {
  if (bytes <= largest)
    return Status::ok();
  return Status::unsupported("device '" + device + "' allocates at most " + std::to_string(largest) +
                             " bytes at once, and " + std::to_string(bytes) + " are asked for");
}
