//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../PoolLedger.h"
#include "Cuda.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

namespace {

/// Memory of the host that the card reaches without the driver's help: copies of two halves overlap.
class Staging {
public:
  static constexpr size_t bytes = size_t(4) << 20;

  explicit Staging(Card &card) : card(card) {}
  ~Staging() {
    // Of a card that is lost the driver gives back what it can.
    const PushedContext inside(card);
    for (Half &half : halves) {
      if (half.memory)
        (void)card.api().deallocateHost(half.memory);
      if (half.done)
        (void)card.api().eventDestroy(half.done);
    }
  }

  Status open() {
    for (Half &half : halves) {
      if (!half.memory)
        ZYX_RETURN_IF_ERROR(
            card.check(card.api().allocateHost(&half.memory, bytes, hostPortable), "allocate staging memory"));
      if (!half.done)
        ZYX_RETURN_IF_ERROR(card.check(card.api().eventCreate(&half.done, eventDefault), "make an event"));
    }
    return Status::ok();
  }

  Status in(Address to, std::span<const std::byte> from) {
    for (size_t i = 0; !from.empty(); i ^= 1) {
      const size_t size = std::min(bytes, from.size());
      ZYX_RETURN_IF_ERROR(wait(i));
      std::memcpy(halves[i].memory, from.data(), size);
      ZYX_RETURN_IF_ERROR(card.check(card.api().copyIn(to, halves[i].memory, size, card.stream()), action));
      ZYX_RETURN_IF_ERROR(record(i));
      to += size;
      from = from.subspan(size);
    }
    return finish();
  }

  Status out(Address from, std::span<std::byte> to) {
    // What each half holds, and where it goes.
    std::array<std::span<std::byte>, 2> due;
    for (size_t i = 0;; i ^= 1) {
      if (!due[i].empty()) {
        ZYX_RETURN_IF_ERROR(wait(i));
        std::memcpy(due[i].data(), halves[i].memory, due[i].size());
        due[i] = {};
      }
      if (to.empty()) {
        if (due[i ^ 1].empty())
          return Status::ok();
        continue;
      }
      due[i] = to.first(std::min(bytes, to.size()));
      ZYX_RETURN_IF_ERROR(card.check(card.api().copyOut(halves[i].memory, from, due[i].size(), card.stream()), action));
      ZYX_RETURN_IF_ERROR(record(i));
      from += due[i].size();
      to = to.subspan(due[i].size());
    }
  }

private:
  struct Half {
    void *memory = nullptr;
    Event done = nullptr;
    bool isInFlight = false;
  };

  Status record(size_t i) {
    halves[i].isInFlight = true;
    return card.check(card.api().eventRecord(halves[i].done, card.stream()), action);
  }
  Status wait(size_t i) {
    if (!halves[i].isInFlight)
      return Status::ok();
    halves[i].isInFlight = false;
    return card.check(card.api().eventSynchronize(halves[i].done), action);
  }
  Status finish() {
    for (size_t i : {0, 1})
      ZYX_RETURN_IF_ERROR(wait(i));
    return Status::ok();
  }

  static constexpr const char *action = "copy between the host and the device";
  Card &card;
  std::array<Half, 2> halves;
};

class CudaPool : public MemoryPool {
public:
  CudaPool(std::shared_ptr<Card> card, uint64_t limit)
      : card(std::move(card)), ledger(this->card->name(), limit), staging(*this->card) {}

  PoolUsage usage() const override { return ledger.usage(); }
  bool isHostMemory() const override { return false; }

  Result<Allocation> allocate(uint64_t size) override {
    const PushedContext inside(*card);
    ZYX_RETURN_IF_ERROR(inside.status());
    Status status;
    Result<Allocation> made = ledger.allocate(size, [&]() -> std::optional<uint64_t> {
      Address address = 0;
      status = take(size, address);
      // Others may hold what the pool keeps for a next one.
      if (status.code() == ErrorCode::OutOfMemory && card->trim().isOk())
        status = take(size, address);
      return status.isOk() ? std::optional<uint64_t>(address) : std::nullopt;
    });
    if (made || status.isOk())
      return made;
    return status.code() == ErrorCode::OutOfMemory ? made.status().withCause(status) : status;
  }

  Status deallocate(const Allocation &allocation) override {
    ZYX_RETURN_IF_ERROR(ledger.deallocate(allocation));
    // The memory of a card that is lost went with it.
    const PushedContext inside(*card);
    if (!inside.status().isOk())
      return Status::ok();
    Status status = card->check(card->api().deallocate(allocation.handle, card->stream()), "free memory");
    return status.code() == ErrorCode::DeviceLost ? Status::ok() : status;
  }

  Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) override {
    ZYX_RETURN_IF_ERROR(ledger.check(to, offset, from.size()));
    std::lock_guard lock(mutex);
    const PushedContext inside(*card);
    ZYX_RETURN_IF_ERROR(inside.status());
    ZYX_RETURN_IF_ERROR(staging.open());
    return staging.in(to.handle + offset, from);
  }

  Status copyOut(const Allocation &from, uint64_t offset, std::span<std::byte> to) override {
    ZYX_RETURN_IF_ERROR(ledger.check(from, offset, to.size()));
    std::lock_guard lock(mutex);
    const PushedContext inside(*card);
    ZYX_RETURN_IF_ERROR(inside.status());
    ZYX_RETURN_IF_ERROR(staging.open());
    return staging.out(from.handle + offset, to);
  }

  Status copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(ledger.check(from, 0, size));
    if (&pool == this) {
      ZYX_RETURN_IF_ERROR(ledger.check(to, 0, size));
      const PushedContext inside(*card);
      ZYX_RETURN_IF_ERROR(inside.status());
      const char *action = "copy within the device";
      ZYX_RETURN_IF_ERROR(card->check(card->api().copy(to.handle, from.handle, size, card->stream()), action));
      return card->synchronize(action);
    }
    if (auto *other = dynamic_cast<CudaPool *>(&pool)) {
      ZYX_RETURN_IF_ERROR(other->ledger.check(to, 0, size));
      Status status = card->copyTo(*other->card, to.handle, from.handle, size);
      if (status.code() != ErrorCode::Unsupported)
        return status;
    }
    if (pool.isHostMemory()) {
      ZYX_ASSIGN_OR_RETURN(std::byte * target, pool.address(to, 0, size));
      return copyOut(from, 0, {target, size});
    }
    std::vector<std::byte> piece(std::min<uint64_t>(size, Staging::bytes));
    for (uint64_t done = 0; done < size; done += piece.size()) {
      const std::span<std::byte> part = std::span(piece).first(std::min<uint64_t>(piece.size(), size - done));
      ZYX_RETURN_IF_ERROR(copyOut(from, done, part));
      ZYX_RETURN_IF_ERROR(pool.copyIn(to, done, part));
    }
    return Status::ok();
  }

  bool reaches(const MemoryPool &other) override {
    const auto *pool = dynamic_cast<const CudaPool *>(&other);
    return pool && pool->card->allow(*card).isOk();
  }
  bool canWaitFor(const Fence &fence) const override { return Card::isFence(fence); }
  Status waitFor(const Fence &fence) override { return card->wait(fence); }

  Result<std::byte *> address(const Allocation &, uint64_t, uint64_t) override {
    return Status::unsupported("the host does not reach the memory of device '" + card->name() + "'");
  }

private:
  /// An allocation of nothing has an address too.
  Status take(uint64_t size, Address &address) {
    return card->check(card->api().allocate(&address, std::max<uint64_t>(size, 1), card->memoryPool(), card->stream()),
                       "allocate " + std::to_string(size) + " bytes");
  }

  const std::shared_ptr<Card> card;
  PoolLedger ledger;
  std::mutex mutex;
  Staging staging;
};

} // namespace

std::shared_ptr<MemoryPool> cuda::createPool(std::shared_ptr<Card> card, uint64_t limit) {
  return std::make_shared<CudaPool>(std::move(card), limit);
}
