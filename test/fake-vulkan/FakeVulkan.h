//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKE_VULKAN_FAKEVULKAN_H
#define ZYX_TEST_FAKE_VULKAN_FAKEVULKAN_H

#include <cstdint>
#include <vector>

/// What the loader of a test has, what is to fail, and what is given out. `zyxFakeVulkan()` gives it.
struct FakeVulkan {
  unsigned devices = 2, minorVersion = 2, driverVersion = 7;
  /// Whether there is a queue that computes, the features that every device needs, those that some have, and rounding.
  bool computes = true, hasAddresses = true, hasSmallTypes = true, hasDoubles = true, rounds = true;
  /// Whether denormals of floats are kept where a module asks for it.
  bool keepsDenormals = true;
  /// Whether kernels have ops of subgroups.
  bool hasSubgroups = false;
  /// Whether a second family of queues computes and has no graphics, and the family that was taken.
  bool hasOwnQueue = false;
  unsigned queueFamily = 0;
  /// Whether nothing seems to be over before somebody waits.
  bool isSlow = false;
  uint32_t groupThreads = 256, sharedBytes = 32 << 10, mostGroups = 65535;
  uint64_t largestBytes = 1 << 30;
  /// The call of this name fails with this result, the `after`-th one from now on.
  const char *failIn = nullptr;
  /// Whether there are messages of layers, and the call of this name in which a layer finds an error.
  bool hasMessages = true;
  const char *wrongIn = nullptr;
  int failWith = -13, after = 1;
  /// Objects that were made, and not destroyed.
  int objects = 0;
  /// The last module that was taken.
  std::vector<uint32_t> module = {};
  int allocations = 0, pipelines = 0, keptPipelines = 0, submissions = 0, launches = 0, commands = 0;
  /// Submissions that do not wait for the one before, or of lists that are not whole; and barriers in front of the
  /// host.
  int unordered = 0, hostBarriers = 0;
};

#endif // ZYX_TEST_FAKE_VULKAN_FAKEVULKAN_H
