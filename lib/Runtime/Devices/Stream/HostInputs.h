//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_HOSTINPUTS_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_HOSTINPUTS_H

#include "StreamDevice.h"
#include "StreamGate.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace zyx::runtime {

/// Where a replay's kernels read inputs that are bound to memory of the host. Each has a fixed place, so that no
/// command changes with its value. A value goes there by fills on the stream of runs: these carry it, so that the
/// host's memory is free as soon as they are handed over, and they are behind the run before, which may still read the
/// last value.
class HostInputs {
public:
  /// The context outlives it.
  HostInputs(StreamContext &context, const artifact::Artifact &artifact);
  ~HostInputs();
  HostInputs(const HostInputs &) = delete;

  /// Binds the inputs of a run to their places, and fills those of which the value is another one. The calling thread
  /// has entered the context. `gate` is there while runs are measured.
  Status take(std::span<const HostInput> inputs, Replay &replay, std::optional<StreamGate> &gate);

private:
  struct BoundInput {
    /// An index in Artifact::buffers.
    uint32_t buffer = 0;
    /// What was handed over last.
    std::array<std::optional<uint32_t>, largestHostInput / 4> words = {};
  };

  StreamContext &context;
  const StreamHandle stream;
  /// In the order of their buffers.
  std::vector<BoundInput> bound;
  /// Of all of them, from the first run on that needs it.
  std::optional<uint64_t> memory;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_HOSTINPUTS_H
