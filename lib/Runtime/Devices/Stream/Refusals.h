//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What backends say and refuse alike. Libraries that are bundled have it, too.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_REFUSALS_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_REFUSALS_H

#include "Backend.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace zyx::runtime {

/// The parts one behind the other: smaller than operators, of which libZyxRuntime.so would have many.
std::string textOf(std::initializer_list<std::string_view> parts);

/// The number behind a device's name: 1 of "cuda:1", 0 of "cuda". `what` the name is of, a refusal says.
Result<int> ordinalIn(const std::string &name, const char *what);

/// The same of a device among so many of a driver.
Result<size_t> indexAmong(const std::string &name, std::string_view driverName, size_t count);
/// Why the compiler's code does not run on a device, where it does not; and the line of the next device of a list.
Status checkRefusal(const DeviceFacts &facts, const std::string &refusal);
void addListing(std::vector<DeviceListing> &listings, std::string_view name, const DeviceFacts &facts,
                const Status &refused);

/// What a driver tells of each of its devices.
struct FoundFacts {
  DeviceFacts facts;
  /// Of one allocation.
  uint64_t largestBytes = 0;
  /// Why the compiler's code does not run there; empty where it does.
  std::string refusal;

  /// Kernels may have ops of subgroups.
  bool hasSubgroups = false;

  /// The record that programs are compiled for. Of most there are two: one has ops of subgroups.
  void setTarget(const char *name, bool hasOps) {
    hasSubgroups = hasOps;
    facts.target = name;
    if (hasOps)
      facts.target += "-subgroups";
  }
  bool has(DType dtype) const { return std::ranges::find(facts.dtypes, dtype) != facts.dtypes.end(); }
};
/// The dtypes of a device that may lack integers of 8 bits, or of 16, which small types are stored in, and f64.
std::vector<DType> dtypesWith(bool has8Bits, bool has16Bits, bool hasF64);
/// What a call failed with, by what a driver says: memory is short, the device is lost, or another thing.
Status driverFailure(std::string text, bool isShort, bool isLost);
/// A failure behind what could not be done, if that is known here.
Status cannot(std::string_view action, Status status);
/// A driver's name of one of its codes.
std::string nameOf(int code, std::span<const std::pair<int, const char *>> names);

/// What a backend says of a device that has nothing but these facts.
BackendFacts backendFacts(std::string name, DeviceFacts facts);
/// What a device has for one kernel: threads of a workgroup and their memory, buffers and scalars that a launch gives,
/// and both together.
struct KernelLimits {
  uint64_t threads, sharedBytes, buffers = UINT64_MAX, scalars = UINT64_MAX, arguments = UINT64_MAX;
};
/// Refuse what a device has not: code for another target, of another format, or that needs ops of subgroups; a kernel
/// beyond its limits; an allocation that is larger than the largest; and a dtype that a program computes with.
Status checkFormat(const artifact::Artifact &artifact, std::string_view target, std::string_view format,
                   const std::string &device, bool hasSubgroups);
Status checkLimits(const artifact::Kernel &kernel, const std::string &device, const KernelLimits &most);
Status checkAllocation(uint64_t bytes, const std::string &device, uint64_t largest);
Status refuseDType(const std::string &device, DType dtype);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_REFUSALS_H
