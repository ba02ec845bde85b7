//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_ARTIFACT_CSOURCE_H
#define ZYX_ARTIFACT_CSOURCE_H

#include "zyx/Artifact/Artifact.h"

#include <string>

namespace zyx::artifact {

/// Whether a function of a C source may have the name: an identifier that is none of C's words, of its library's
/// functions or of zyx's.
bool isNameOfCFunction(const std::string &name);

/// One C11 source of a whole program whose code is in format "c", the text of its kernels: a function of the name of
/// the entry, zyx_main for "main", that takes the inputs and then the outputs. Refuses an entry that is no name in C,
/// and code in another format.
Result<std::string> printCSource(const Artifact &program);

} // namespace zyx::artifact

#endif // ZYX_ARTIFACT_CSOURCE_H
