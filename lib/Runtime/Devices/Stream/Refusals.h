//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What backends say and refuse alike. Plug-ins that are backends have it, too.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_REFUSALS_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_REFUSALS_H

#include "Backend.h"

#include <initializer_list>
#include <string_view>

namespace zyx::runtime {

/// The parts one behind the other: smaller than operators, of which libZyxRuntime.so would have many.
std::string textOf(std::initializer_list<std::string_view> parts);

/// What a backend says of a device that has nothing but these facts.
BackendFacts backendFacts(std::string name, DeviceFacts facts);
/// Refuse what a device has not: code for another target or of another format; a kernel whose workgroups have too many
/// threads or too much shared memory; and an allocation that is larger than the largest.
Status checkFormat(const artifact::Artifact &artifact, std::string_view target, std::string_view format,
                   const std::string &device);
Status checkLimits(const artifact::Kernel &kernel, const std::string &device, uint64_t threads, uint64_t sharedBytes);
Status checkAllocation(uint64_t bytes, const std::string &device, uint64_t largest);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_REFUSALS_H
