//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKE_OPENCL_FAKEOPENCL_H
#define ZYX_TEST_FAKE_OPENCL_FAKEOPENCL_H

#include <cstdint>

/// What the loader of a test has, what is to fail, and what is given out. `zyxFakeOpenCL()` gives it.
struct FakeOpenCL {
  int platforms = 1, devices = 2;
  /// As the specification numbers them: 63 is all that there is of f32 but division, 191 that, too.
  uint64_t floats = 191, doubles = 63, groupThreads = 256, sharedBytes = 32 << 10, largestBytes = 1 << 20;
  /// 2 is a processor, 4 a card.
  uint64_t type = 4;
  uint32_t compiler = 1;
  const char *version = "OpenCL 1.2 fake", *driver = "7", *extensions = "cl_khr_fp64";
  /// Of cl_khr_command_buffer, as the specification numbers versions; 0 without it.
  uint32_t recordingVersion = 0;
  /// The call of this name fails with this code, the `after`-th one from now on.
  const char *failIn = nullptr;
  int failWith = -9999, after = 1;
  int contexts = 0, queues = 0, memories = 0, programs = 0, kernels = 0, events = 0;
  /// Command buffers there are, how often one was finished, and handed over.
  int lists = 0, listsFinished = 0, listLaunches = 0;
  int builds = 0, binaryBuilds = 0, launches = 0, argumentsSet = 0;
  /// The largest number of threads of a workgroup that was launched.
  uint64_t launchedThreads = 0;
  /// And of all threads of a launch.
  uint64_t launchedAll = 0;
};

#endif // ZYX_TEST_FAKE_OPENCL_FAKEOPENCL_H
