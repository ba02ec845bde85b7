//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Devices of WebGPU as a plug-in, a library of its own: programs that name none neither open it nor carry its code.
//===----------------------------------------------------------------------===//
#include "WebGPUDevice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

using namespace zyx::webgpu;

namespace {

zyx_backend_code tell(const Failure &failure, zyx_backend_error *error) {
  if (failure)
    std::snprintf(error->text, error->size, "%s", failure.text.c_str());
  return failure.code;
}
/// Nothing may be thrown through the table, and the host's memory may end anywhere.
template <typename Body> zyx_backend_code guarded(zyx_backend_error *error, Body body) {
  try {
    return tell(body(), error);
  } catch (const std::bad_alloc &) {
    return tell({ZYX_OUT_OF_MEMORY, "out of memory"}, error);
  }
}
OpenDevice &of(void *device) { return *static_cast<OpenDevice *>(device); }

/// A method as a function of the table, with the stream, of which there is one, or without.
template <auto method> struct Entry;
template <typename... Parameters, Failure (OpenDevice::*method)(Parameters...)> struct Entry<method> {
  static zyx_backend_code plain(void *device, Parameters... parameters, zyx_backend_error *error) {
    return guarded(error, [&] {
      const std::lock_guard lock(of(device).mutex);
      return (of(device).*method)(parameters...);
    });
  }
  static zyx_backend_code onStream(void *device, uint64_t, Parameters... parameters, zyx_backend_error *error) {
    return plain(device, parameters..., error);
  }
};

/// What was found when the number of devices was asked for.
struct Listing {
  std::mutex mutex;
  Adapters adapters;
  Failure failure;
  Failure find(uint32_t index, std::shared_ptr<const AdapterFound> &found) {
    const std::lock_guard lock(mutex);
    if (index >= adapters.size())
      return failure ? failure : noAdapter();
    found = adapters[index];
    return {};
  }
};
Listing &listing() {
  static Listing &its = *new Listing;
  return its;
}

Failure readFacts(uint32_t index, zyx_backend_facts_v1 &facts) {
  std::shared_ptr<const AdapterFound> found;
  if (Failure failure = listing().find(index, found))
    return failure;
  const WGPULimits &limits = found->limits;
  if (limits.minStorageBufferOffsetAlignment > 64)
    return refuse(found->identity + std::string(" binds buffers from multiples of ") +
                  std::to_string(limits.minStorageBufferOffsetAlignment) + " bytes; zyx has them at multiples of 64");
  facts.target = "webgpu";
  facts.identity = found->identity;
  facts.architecture = found->architecture;
  facts.processors = 16;
  facts.workgroup_threads = limits.maxComputeInvocationsPerWorkgroup;
  facts.shared_bytes = limits.maxComputeWorkgroupStorageSize;
  // WebGPU tells of no memory. What is more than there is, is an error of an allocation.
  facts.memory_bytes = facts.free_bytes = uint64_t(8) << 30;
  facts.alignment = 64;
  // All but it.
  facts.dtypes = ~(1u << ZYX_F64);
  return {};
}

const zyx_backend_v1 table = {
    .struct_size = sizeof(zyx_backend_v1),
    .abi_version = ZYX_BACKEND_ABI_VERSION,
    .name = "webgpu",
    .description = "by wgpu-native",
    // Of one that is not there, its facts say why.
    .device_count =
        [] {
          const std::lock_guard lock(listing().mutex);
          listing().adapters.clear();
          try {
            listing().failure = findAdapters(listing().adapters);
          } catch (const std::bad_alloc &) {
            listing().failure = {ZYX_OUT_OF_MEMORY, "out of memory"};
          }
          return static_cast<uint32_t>(std::max<size_t>(listing().adapters.size(), 1));
        },
    .get_facts = [](uint32_t index, zyx_backend_facts_v1 *facts,
                    zyx_backend_error *error) { return guarded(error, [&] { return readFacts(index, *facts); }); },
    .open =
        [](uint32_t index, void **device, zyx_backend_error *error) {
          return guarded(error, [&]() -> Failure {
            std::shared_ptr<const AdapterFound> found;
            if (Failure failure = listing().find(index, found))
              return failure;
            auto made = std::make_unique<OpenDevice>(found);
            const std::unique_lock lock(made->mutex);
            Failure failure = made->open();
            if (!failure)
              *device = made.release();
            return failure;
          });
        },
    .close = [](void *device) { delete &of(device); },
    .enter = nullptr,
    .leave = nullptr,
    .is_lost = [](void *device) { return int(of(device).isLost()); },
    .allocate = Entry<&OpenDevice::allocate>::onStream,
    .free = Entry<&OpenDevice::free>::onStream,
    .free_memory = nullptr,
    .trim = nullptr,
    .allocate_host = [](void *, uint64_t bytes, void **memory, zyx_backend_error *error) -> zyx_backend_code {
      *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      return *memory ? 0 : tell({ZYX_OUT_OF_MEMORY, "the host has no memory"}, error);
    },
    // Copies of it are over when their calls return.
    .free_host = [](void *, void *memory) { std::free(memory); },
    .upload = Entry<&OpenDevice::upload>::onStream,
    .download = Entry<&OpenDevice::download>::onStream,
    .copy = Entry<&OpenDevice::copy>::onStream,
    .fill = Entry<&OpenDevice::fill>::onStream,
    .load = Entry<&OpenDevice::load>::plain,
    .unload =
        [](void *device, uint64_t module) {
          const std::lock_guard lock(of(device).mutex);
          of(device).unload(&objectOf<LoadedModule>(module));
        },
    .find = Entry<&OpenDevice::find>::plain,
    .launch = Entry<&OpenDevice::launch>::onStream,
    .create_stream = [](void *, uint64_t *stream, zyx_backend_error *) -> zyx_backend_code {
      *stream = 1;
      return 0;
    },
    .destroy_stream = [](void *, uint64_t) {},
    .synchronize_stream = Entry<&OpenDevice::synchronize>::onStream,
    .native_stream = nullptr,
    .create_event =
        [](void *, int isTimed, uint64_t *event, zyx_backend_error *error) {
          return guarded(error, [&]() -> Failure {
            *event = reinterpret_cast<uint64_t>(new RecordedEvent{.isTimed = isTimed != 0});
            return {};
          });
        },
    .destroy_event = [](void *, uint64_t event) { delete &objectOf<RecordedEvent>(event); },
    .record = Entry<&OpenDevice::record>::onStream,
    // All streams are one queue.
    .wait = [](void *, uint64_t, uint64_t, zyx_backend_error *) -> zyx_backend_code { return 0; },
    .synchronize_event = Entry<&OpenDevice::synchronizeEvent>::plain,
    .elapsed = [](void *, uint64_t begin, uint64_t end, uint64_t *nanoseconds,
                  zyx_backend_error *) -> zyx_backend_code {
      const uint64_t from = objectOf<RecordedEvent>(begin).reached, to = objectOf<RecordedEvent>(end).reached;
      *nanoseconds = to > from ? to - from : 0;
      return 0;
    },
};

} // namespace

const zyx_backend_v1 *zyx_backend(void) { return &table; }
