//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_RUNTIME_TESTKERNELS_H
#define ZYX_TEST_UNIT_RUNTIME_TESTKERNELS_H

#include <filesystem>
#include <string>

/// The shared object of Kernels.c. It lies beside the program that runs, so that a build folder can
/// be moved.
inline std::string testKernels() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / ZYX_TEST_KERNELS;
}

#endif // ZYX_TEST_UNIT_RUNTIME_TESTKERNELS_H
