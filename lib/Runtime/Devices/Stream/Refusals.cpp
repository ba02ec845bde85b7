//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Refusals.h"

#include <algorithm>
#include <charconv>

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

std::vector<DType> runtime::dtypesWith(bool has8Bits, bool has16Bits, bool hasF64) {
  std::vector<DType> all = allDTypes();
  std::erase_if(all, [&](DType dtype) {
    return byteSize(dtype) == 1 ? !has8Bits : byteSize(dtype) == 2 ? !has16Bits : dtype == DType::F64 && !hasF64;
  });
  return all;
}

std::string runtime::textOf(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts)
    text += part;
  return text;
}

Status runtime::driverFailure(std::string text, bool isShort, bool isLost) {
  if (isShort)
    return Status::outOfMemory(std::move(text));
  return {isLost ? ErrorCode::DeviceLost : ErrorCode::Internal, std::move(text)};
}

Status runtime::cannot(std::string_view action, Status status) {
  if (status.isOk() || action.empty())
    return status;
  return {status.code(), textOf({"cannot ", action, ": ", status.message()})};
}

std::string runtime::nameOf(int code, std::span<const std::pair<int, const char *>> names) {
  for (const auto &[known, name] : names)
    if (code == known)
      return name;
  return "error " + std::to_string(code);
}

Result<int> runtime::ordinalIn(const std::string &name, const char *what) {
  int index = 0;
  const size_t colon = name.find(':');
  if (colon == std::string::npos)
    return index;
  const char *const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + colon + 1, end, index);
  if (error != std::errc() || rest != end || index < 0)
    return Status::invalidArgument("'" + name + "' names no " + what + ": a number follows the colon, as in " +
                                   name.substr(0, colon) + ":1");
  return index;
}

Result<size_t> runtime::indexAmong(const std::string &name, std::string_view driverName, size_t count) {
  ZYX_ASSIGN_OR_RETURN(const int index, ordinalIn(name, "device"));
  if (static_cast<size_t>(index) >= count)
    return Status::notFound(textOf({"there is no device '", name, "': ", driverName, " has ", std::to_string(count)}));
  return static_cast<size_t>(index);
}

Status runtime::checkRefusal(const DeviceFacts &facts, const std::string &refusal) {
  return refusal.empty() ? Status::ok() : Status::unsupported(textOf({facts.identity, ": ", refusal}));
}

void runtime::addListing(std::vector<DeviceListing> &listings, std::string_view name, const DeviceFacts &facts,
                         const Status &refused) {
  const size_t number = listings.size();
  DeviceListing &one = listings.emplace_back();
  one.name = number == 0 ? std::string(name) : textOf({name, ":", std::to_string(number)});
  one.present = refused.isOk();
  one.description = one.present ? facts.identity : refused.message();
  if (one.present)
    one.facts = facts;
}

Status runtime::checkFormat(const artifact::Artifact &artifact, std::string_view target, std::string_view format,
                            const std::string &device, bool hasSubgroups) {
  if (artifact.target != target)
    return Status::unsupported(textOf({"code for '", artifact.target, "' does not run on ", device}));
  for (const artifact::CodeBlob &code : artifact.code)
    if (code.format != format)
      return Status::unsupported(textOf({"code of format '", code.format, "' is not known to ", device}));
  // What records of drivers ask for.
  for (const std::string &feature : artifact.cpuFeatures)
    if (feature != "subgroups" || !hasSubgroups)
      return Status::unsupported(textOf({"code that needs ", feature, " does not run on ", device, " without"}));
  return Status::ok();
}

Status runtime::checkLimits(const artifact::Kernel &kernel, const std::string &device, const KernelLimits &most) {
  const struct {
    const char *has;
    uint64_t needed;
    const char *unit, *most;
    uint64_t limit;
  } all[] = {
      {" has workgroups of ", kernel.groupThreads, " threads", "' runs it with ", most.threads},
      {" needs ", kernel.sharedBytes, " bytes of shared memory", "' has ", most.sharedBytes},
      {" has ", kernel.numBuffers, " buffers", "' binds ", most.buffers},
      {" has ", kernel.numScalars, " scalars", "' has room for ", most.scalars},
      {" has ", uint64_t(kernel.numBuffers) + kernel.numScalars, " arguments", "' has room for ", most.arguments},
  };
  for (const auto &each : all)
    if (each.needed > each.limit)
      return Status::unsupported(textOf({"kernel ", kernel.name, each.has, std::to_string(each.needed), each.unit,
                                         ", and device '", device, each.most, std::to_string(each.limit)}));
  return Status::ok();
}

Status runtime::refuseDType(const std::string &device, DType dtype) {
  return Status::unsupported(
      textOf({"device '", device, "' has no ", toString(dtype), ", which the program computes with"}));
}

Status runtime::checkAllocation(uint64_t bytes, const std::string &device, uint64_t largest) {
  if (bytes <= largest)
    return Status::ok();
  return Status::unsupported(textOf({"device '", device, "' allocates at most ", std::to_string(largest),
                                     " bytes at once, and ", std::to_string(bytes), " are asked for"}));
}
