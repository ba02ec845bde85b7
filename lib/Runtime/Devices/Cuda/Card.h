//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_CARD_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_CARD_H

#include "Driver.h"

#include "zyx/Runtime/Timeline.h"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace zyx::runtime::cuda {

/// What a card is.
struct CardFacts {
  std::string description;
  /// What drives it: "CUDA 13.0, driver 580.159.04".
  std::string driver;
  /// Compute capability: 90 for 9.0.
  int capability = 0;
  int processors = 1;
  /// What it has, and how much of that was free when it was opened; 0 of a card that is only asked for its facts.
  uint64_t memoryBytes = 0, freeBytes = 0;
};

/// How many cards there are.
Result<int> countCards(const Driver &driver);
Result<CardFacts> readFacts(const Driver &driver, int index);
/// The record of targets that code for such a card is compiled with: "sm_90a", or "cuda" for a card that
/// has none of its own.
std::string targetOf(int capability);

/// Reached when a card's stream has come to where it was recorded.
class CardFence;

/// One opened card: its context, and the one stream that orders all its work. Calls from several threads are
/// safe. Once the card is lost, everything fails with the first cause.
class Card : public std::enable_shared_from_this<Card> {
public:
  static Result<std::shared_ptr<Card>> open(std::string name, int index);
  ~Card();
  Card(const Card &) = delete;

  const std::string &name() const { return deviceName; }
  const CardFacts &facts() const { return itsFacts; }
  const Driver &api() const { return driver; }
  Stream stream() const { return mainStream; }
  Context itsContext() const { return context; }
  /// What allocations come from: a pool of our own, so that nobody else's memory is kept or let go.
  MemoryPoolHandle memoryPool() const { return memory; }

  /// What a call of the driver said. A loss is kept, with `action` as its cause.
  Status check(Code code, const std::string &action);
  /// Waits until all work is over.
  Status synchronize(const std::string &action);
  /// A fence behind all work so far. None where no other card is open, which might wait for it.
  Result<std::shared_ptr<Fence>> record();
  static bool isFence(const Fence &fence);
  /// Has all work from now on wait for a fence of any card.
  Status wait(const Fence &fence);
  /// Copies memory of this card into that of `target`, on whose stream it is, and waits for the end. Unsupported where
  /// the cards do not reach each other: nothing has happened then, and the host can do it.
  Status copyTo(Card &target, Address to, Address from, uint64_t size);
  /// Success where `reader` reaches the memory of this card, which it is allowed to from now on.
  Status allow(const Card &reader);
  /// Gives memory that nobody uses back to the system.
  Status trim();

private:
  friend class PushedContext;
  Card(const Driver &driver, std::string name, int index) : driver(driver), deviceName(std::move(name)), index(index) {}
  Status start();

  const Driver &driver;
  const std::string deviceName;
  const int index;
  CardFacts itsFacts;
  Ordinal ordinal = 0;
  Context context = nullptr;
  Stream mainStream = nullptr;
  MemoryPoolHandle memory = nullptr;
  std::mutex mutex;
  Status loss;
  std::mutex accessMutex;
  /// Of cards that have been asked for, by their numbers.
  std::map<Ordinal, Status> readers;
  bool isCounted = false;
};

/// While it lives, the calling thread may talk to a card. The context that was the thread's before, of another card or
/// another library, is so again behind it.
class PushedContext {
public:
  explicit PushedContext(Card &card);
  ~PushedContext();
  PushedContext(const PushedContext &) = delete;

  /// Fails where the card is lost; the driver still takes back what it gave out.
  const Status &status() const { return entered; }

private:
  const Driver &driver;
  bool isPushed = false;
  Status entered;
};

} // namespace zyx::runtime::cuda

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CARD_H
