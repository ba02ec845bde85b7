//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_IO_TRACEFILE_H
#define ZYX_IO_TRACEFILE_H

#include "zyx/Base/Trace.h"

namespace zyx::io {

/// JSON in Chrome's trace event format, which Perfetto and chrome://tracing show: a thread per track,
/// a slice per span, an arrow per dependency. Times are microseconds since the first span.
std::string encodeTrace(const Trace &trace);

} // namespace zyx::io

#endif // ZYX_IO_TRACEFILE_H
