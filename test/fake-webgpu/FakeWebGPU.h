//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKE_WEBGPU_FAKEWEBGPU_H
#define ZYX_TEST_FAKE_WEBGPU_FAKEWEBGPU_H

#include <cstddef>
#include <cstdint>

/// What the library of a test has, what is to fail, and what is given out. `zyxFakeWebGPU()` gives it.
struct FakeWebGPU {
  uint32_t version = 29;
  bool hasInstance = true;
  /// The first is a processor, the second a card, the third an integrated one.
  size_t adapters = 3;
  /// 1 is the null backend, 6 Vulkan.
  uint32_t backend = 6;
  uint32_t groupThreads = 256, sharedBytes = 16384, storageBuffers = 8, storageAlignment = 64, immediateBytes = 128;
  uint64_t storageBytes = 1 << 20;
  /// Whether its limits are a longer struct than that of our headers.
  bool hasOtherStructs = false;
  /// Whether kernels have ops of subgroups.
  bool hasSubgroups = false;
  /// The call of this name fails, the `after`-th one from now on: 2 is a validation error, 3 is out of memory. With 0
  /// the device is lost there, and with 1 nothing is made and nothing said.
  const char *failIn = nullptr;
  uint32_t failWith = 2;
  int after = 1;
  /// When a device is lost, buffers that are being mapped are answered for when adapters are looked for next, and not
  /// before: `lateAnswers` counts that. One that is to be written to the stack of the caller counts as a panic.
  bool answersLate = false;
  int lateAnswers = 0;
  int instances = 0, heldAdapters = 0, devices = 0, buffers = 0, shaders = 0, layouts = 0, pipelines = 0,
      bindGroups = 0, encoders = 0, commandBuffers = 0;
  int dispatches = 0, submissions = 0;
  /// What a real library ends the process for.
  int panics = 0;
};

#endif // ZYX_TEST_FAKE_WEBGPU_FAKEWEBGPU_H
