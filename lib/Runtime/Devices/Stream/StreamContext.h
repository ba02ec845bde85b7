//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMCONTEXT_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMCONTEXT_H

#include "Backend.h"

#include "zyx/Runtime/Timeline.h"

#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace zyx::runtime {

/// One opened device: its backend, and the one stream that orders all its work. Calls from several threads are safe.
/// Once the device is lost, everything fails with the first cause.
class StreamContext : public std::enable_shared_from_this<StreamContext> {
public:
  static Result<std::shared_ptr<StreamContext>> open(std::unique_ptr<Backend> backend);
  ~StreamContext();
  StreamContext(const StreamContext &) = delete;

  Backend &backend() const { return *itsBackend; }
  const BackendFacts &facts() const { return itsBackend->facts(); }
  const std::string &name() const { return facts().name; }
  StreamHandle stream() const { return mainStream; }

  /// What the backend said. A failure gets "cannot ", followed by the parts of `action`, in front. A loss is kept.
  template <typename... Text> Status check(Status status, const Text &...action) {
    if (!status.isOk())
      status = refuse(status, {std::string_view(action)...});
    return status;
  }

  /// Waits until all work is over.
  template <typename... Text> Status synchronize(const Text &...action) {
    return check(itsBackend->synchronize(mainStream), action...);
  }
  /// Copies on the stream, as if through a temporary.
  Status copy(const CopyCommand &copy);
  /// A fence behind all work so far. None where no device is open that might wait for it.
  Result<std::shared_ptr<Fence>> record();
  /// Whether the device can wait for a fence by itself.
  bool canWaitFor(const Fence &fence) const;
  /// Has all work from now on wait for such a fence.
  Status wait(const Fence &fence);
  /// Copies memory of this device into that of `target`, on whose stream it is, and waits for the end. Unsupported
  /// where the devices do not reach each other: nothing has happened then, and the host can do it.
  Status copyTo(StreamContext &target, MemoryRef to, MemoryRef from, uint64_t bytes);
  /// Success where `reader` reaches the memory of this device, which it is allowed to from now on.
  Status allow(const StreamContext &reader);
  /// Gives memory that nobody uses back to the system.
  Status trim();

private:
  friend class EnteredContext;
  explicit StreamContext(std::unique_ptr<Backend> backend) : itsBackend(std::move(backend)) {}
  Status start();
  Status refuse(const Status &status, std::initializer_list<std::string_view> action);

  const std::unique_ptr<Backend> itsBackend;
  StreamHandle mainStream{};
  bool hasStream = false;
  std::mutex mutex;
  Status loss;
  std::mutex accessMutex;
  /// Of devices that have been asked for, by their names.
  std::map<std::string, Status, std::less<>> readers;
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
