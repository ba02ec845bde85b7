//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMCONTEXT_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMCONTEXT_H

#include "Backend.h"

#include "zyx/Runtime/Timeline.h"

#include <array>
#include <atomic>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace zyx::runtime {

/// What a device has a stream for. The work of one lane is done in order; what is in two lanes may overlap, and whoever
/// hands it over orders it where that matters.
enum class Lane : uint8_t {
  /// Commands of programs.
  Runs,
  /// Allocations of the pool, and nothing else: they are there, and gone, without a wait for programs and copies.
  Memory,
  /// Copies from the host, copies to it, and those between devices and within one.
  Uploads,
  Downloads,
  Copies
};
inline constexpr size_t numLanes = 5;

/// One opened device: its backend, and its streams. Calls from several threads are safe. Once the device is lost,
/// everything fails with the first cause.
class StreamContext : public std::enable_shared_from_this<StreamContext> {
public:
  static Result<std::shared_ptr<StreamContext>> open(std::unique_ptr<Backend> backend);
  ~StreamContext();
  StreamContext(const StreamContext &) = delete;

  Backend &backend() const { return *itsBackend; }
  const BackendFacts &facts() const { return itsBackend->facts(); }
  const std::string &name() const { return facts().name; }
  /// Work of a run that is over for the host is over for all lanes.
  StreamHandle stream(Lane lane = Lane::Runs) const {
    return streams[static_cast<size_t>(isShared ? Lane::Runs : lane)];
  }
  /// The stream of runs as other libraries know it. Who has it may put work there that copies and allocations must be
  /// behind: from now on they are on it, too.
  void *share();

  bool isStreamShared() const { return isShared; }

  /// What the backend said. A failure gets "cannot ", followed by the parts of `action`, in front. A loss is kept.
  template <typename... Text> Status check(Status status, const Text &...action) {
    if (!status.isOk())
      status = refuse(status, {std::string_view(action)...});
    return status;
  }

  /// Waits until the work of a stream is over.
  template <typename... Text> Status synchronize(StreamHandle stream, const Text &...action) {
    return check(itsBackend->synchronize(stream), action...);
  }
  /// Copies on the stream of runs, as if through a temporary.
  Status copy(const CopyCommand &copy);
  /// A fence behind all runs so far. None where nobody might wait for it.
  Result<std::shared_ptr<Fence>> record();
  /// Runs that were handed over hold what they write to their end, while the host program goes on. At most so many do,
  /// and of more than one the outputs are at most that part of the device's memory.
  static constexpr size_t mostFlights = 8, leastPart = 32;
  void noteFlight(const Point &end, uint64_t bytes);
  /// Waits until there is room for another one.
  void awaitFlights(uint64_t bytes);
  /// A fence behind all that a stream of the host program has now. From now on runs have fences.
  Result<std::shared_ptr<Fence>> recordNative(void *native);
  /// Has such a stream wait for a point, as Device::letStreamWait says.
  Status letNativeWait(void *native, const Point &point);
  /// Whether the device can wait for a fence by itself.
  bool canWaitFor(const Fence &fence) const;
  /// Has all work of a lane from now on wait for such a fence.
  Status wait(Lane lane, const Fence &fence);
  /// Copies memory of this device into that of `target`, on whose stream it is, and waits for the end. Unsupported
  /// where the devices do not reach each other: nothing has happened then, and the host can do it.
  Status copyTo(StreamContext &target, MemoryRef to, MemoryRef from, uint64_t bytes);
  /// Success where `reader` reaches the memory of this device, which it is allowed to from now on.
  Status allow(const StreamContext &reader);
  /// Waits until all work is over, and gives memory that nobody uses back to the system.
  Status trim();

private:
  friend class EnteredContext;
  explicit StreamContext(std::unique_ptr<Backend> backend) : itsBackend(std::move(backend)) {}
  Status start();
  Status refuse(const Status &status, std::initializer_list<std::string_view> action);
  Result<std::shared_ptr<Fence>> recordOn(StreamHandle stream);
  Status waitOn(StreamHandle stream, const Fence &fence, const char *action);

  const std::unique_ptr<Backend> itsBackend;
  /// By their lanes.
  std::array<StreamHandle, numLanes> streams{};
  size_t numStreams = 0;
  /// Whether runs have fences for streams of the host program, besides those for other devices.
  std::atomic<bool> isShared = false, isWatched = false;
  std::mutex mutex;
  Status loss;
  std::mutex accessMutex;
  /// Of devices that have been asked for, by their names.
  std::map<std::string, Status, std::less<>> readers;
  std::mutex flightMutex;
  struct Flight {
    Point end;
    uint64_t bytes = 0;
  };
  std::deque<Flight> flights;
  uint64_t bytesInFlight = 0;
};

/// While it lives, the calling thread may talk to a device. What the thread had before, another device or another
/// library's, it has again behind it.
class EnteredContext {
public:
  explicit EnteredContext(StreamContext &context);
  ~EnteredContext();
  EnteredContext(const EnteredContext &) = delete;

  /// Fails where the device is lost; the driver still takes back what it gave out.
  const Status &status() const { return entered; }

private:
  StreamContext &context;
  bool isInside = false;
  Status entered;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMCONTEXT_H
