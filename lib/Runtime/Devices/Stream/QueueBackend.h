//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Of drivers with one queue, to which lists of commands are handed over: Vulkan, WebGPU.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_QUEUEBACKEND_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_QUEUEBACKEND_H

#include "ObjectTable.h"

#include <map>
#include <mutex>
#include <set>

namespace zyx::runtime {

/// What streams are handed is done in the order of the calls. It is collected in a list until the list is full or
/// somebody waits. All calls of several threads go to the one queue, so that streams need not wait for each other.
class QueueBackend : public Backend {
public:
  Result<StreamHandle> createStream() override;
  void destroyStream(StreamHandle) override {}
  /// What was handed over before something was lost still runs.
  Status synchronize(StreamHandle stream) override;
  Result<EventHandle> createEvent(bool isTimed) override { return handleOf<EventHandle>(new QueuedEvent(isTimed)); }
  void destroyEvent(EventHandle event) override { delete objectOf<QueuedEvent>(event); }
  Status record(StreamHandle stream, EventHandle event) override;
  Status wait(StreamHandle, EventHandle) override { return Status::ok(); }
  Status synchronize(EventHandle event) override {
    ZYX_RETURN_IF_ERROR(waitFor(objectOf<QueuedEvent>(event)->value));
    return takeSaid();
  }
  Result<uint64_t> elapsed(EventHandle begin, EventHandle end) override;

protected:
  struct QueuedEvent {
    explicit QueuedEvent(bool isTimed) : isTimed(isTimed) {}
    virtual ~QueuedEvent() = default;
    const bool isTimed;
    /// Where the queue is when it is reached; 0 where it was not recorded. By the host's clock when that was.
    uint64_t value = 0, nanoseconds = 0;
  };

  /// Makes an empty list.
  virtual Status beginList() = 0;
  /// Hands over the list, in which nothing is put later. The queue comes to `next`, or to what it is set to.
  virtual Status submitList(uint64_t &next) = 0;
  /// Waits until the queue is there. Others hand over meanwhile.
  virtual Status waitFor(uint64_t awaited) = 0;
  /// Of an event that is timed: notes when what comes before is over. By the host's clock, if the driver has none.
  virtual Status stamp(StreamHandle stream, QueuedEvent &event);
  /// When that was, in ticks.
  virtual Result<uint64_t> stampOf(const QueuedEvent &event) { return event.nanoseconds; }

  /// What a driver says when nobody calls, on any thread, until the derived class is gone: of a device that is lost,
  /// and then everything fails with the first cause.
  void lose(std::string why);
  Status checkLost() const;
  /// The same of an error that ends nothing, as a layer that validates tells of: who waits next is told.
  void say(std::string text);
  Status takeSaid();

  /// Before each command is put into the list. Called, as the next one is, with the mutex held.
  Status collect(StreamHandle stream);
  /// Hands over what is collected. Where that fails, each stream that has commands there is told when it waits: others
  /// have lost nothing.
  void flush();
  /// Waits for all that could be handed over, and leaves what is lost to those who are to be told.
  Status settle();

  /// Threads of a workgroup where each computes programs by itself, as the compiler has them.
  static constexpr uint32_t threadsOfGroup = 64;
  /// Commands after which the device begins with a list.
  static constexpr unsigned mostCommands = 64;
  /// Of what follows, the list and the queue. Held once more where one call uses another.
  std::recursive_mutex mutex;
  /// Where the queue is when all that was handed over is done.
  uint64_t value = 0;
  double nanosecondsOfTick = 1;

private:
  unsigned numCommands = 0;
  uint64_t numStreams = 0;
  /// Who put commands into the list, and why those of a stream could not be handed over, until it is told.
  std::set<StreamHandle> streams;
  std::map<StreamHandle, Status> lost;
  /// Of what the driver says by itself.
  mutable std::mutex saidMutex;
  std::string whyLost, said;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_QUEUEBACKEND_H
