//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_SYSTEMFILE_H
#define ZYX_BASE_SYSTEMFILE_H

#include <string>

namespace zyx {

/// What a small file of the system's says, as in /proc and /sys, where files have no size; empty where there is none.
std::string readSystemFile(const std::string &path);

} // namespace zyx

#endif // ZYX_BASE_SYSTEMFILE_H
