//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the handles of the C surface hold, and what all of its functions share.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_CAPI_OBJECTS_H
#define ZYX_LIB_RUNTIME_CAPI_OBJECTS_H

#include "zyx-c/Runtime.h"

#include "zyx/Base/Exceptions.h"
#include "zyx/Runtime/Executor.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace zyx::runtime::c {

/// What a device has done: zyx_statistics. Executors and buffers count on behind the end of the handle.
struct Counters {
  std::atomic<uint64_t> executorsLoaded = 0, executorsAlive = 0, runs = 0, submittedRuns = 0, launches = 0,
                        buffersAllocated = 0;
};

/// One more for as long as it lives.
class Alive {
public:
  explicit Alive(std::shared_ptr<Counters> of) : counters(std::move(of)) {
    ++counters->executorsLoaded;
    ++counters->executorsAlive;
  }
  ~Alive() { --counters->executorsAlive; }
  Alive(const Alive &) = delete;

private:
  const std::shared_ptr<Counters> counters;
};

} // namespace zyx::runtime::c

struct zyx_error {
  zyx::Status status;
  std::string text;
};
struct zyx_device {
  std::shared_ptr<zyx::runtime::Device> device;
  /// Whose texts were given out.
  zyx::runtime::DeviceListing listing;
  std::shared_ptr<zyx::runtime::c::Counters> counters;
};
struct zyx_device_list {
  std::vector<zyx::runtime::DeviceListing> listings;
};
struct zyx_executor {
  std::shared_ptr<zyx::runtime::Device> device;
  std::unique_ptr<zyx::runtime::Executor> executor;
  uint64_t constantBytes = 0;
  size_t numLaunches = 0;
  std::shared_ptr<zyx::runtime::c::Counters> counters;
  std::optional<zyx::runtime::c::Alive> alive;
  zyx_trace_callback trace = nullptr;
  void *traceContext = nullptr;
};
struct zyx_buffer {
  std::shared_ptr<zyx::runtime::Device> device;
  std::shared_ptr<zyx::runtime::Buffer> buffer;
  /// Of one that came by DLPack.
  zyx::TensorType type = {};
  bool isReadOnly = false;
};
struct zyx_event {
  zyx::runtime::Point point;
  /// Made by the caller, who signals it.
  bool isOwn = false;
  zyx::ForkMark mark = {};
};

namespace zyx::runtime::c {

zyx_error *makeError(const Status &status) noexcept;

/// Runs what a function of the surface does. The rooms below throw nothing themselves; what the
/// standard library throws, or a host program's functions, stops here.
template <typename Body> zyx_error *guard(Body body) noexcept {
  const Status status = withoutExceptions(body);
  return status.isOk() ? nullptr : makeError(status);
}

Status checkNull(const void *pointer, const char *what);
/// Only memory of no bytes may lie nowhere.
Status checkData(const void *data, size_t size);

/// The size of a struct whose last member this is: of its first version that was published. It stays what it is when
/// members are added. What a caller's version lacks is 0, or is not written.
#define ZYX_SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(type::member))

/// Of those that several files give.
inline constexpr size_t leastTensorInfo = ZYX_SIZE_UP_TO(zyx_tensor_info, bytes);

/// `least` is the size of the struct's first version.
Status checkStruct(size_t size, size_t least, const char *what);

/// What the caller's version of the struct has, and 0 for the rest.
template <typename Options> Result<Options> take(const Options &from, size_t least, const char *what) {
  ZYX_RETURN_IF_ERROR(checkStruct(from.struct_size, least, what));
  Options known = {};
  std::memcpy(&known, &from, std::min(from.struct_size, sizeof(Options)));
  return known;
}

/// Writes as much as the caller's version of the struct has.
template <typename Info> void give(Info *to, Info value) {
  value.struct_size = to->struct_size;
  std::memcpy(to, &value, std::min(to->struct_size, sizeof(Info)));
}

/// Where somebody else's memory may not be written.
Status checkWritable(const zyx_buffer &buffer);

inline std::span<const std::byte> asBytes(const void *data, size_t size) {
  return {static_cast<const std::byte *>(data), size};
}

} // namespace zyx::runtime::c

#endif // ZYX_LIB_RUNTIME_CAPI_OBJECTS_H
