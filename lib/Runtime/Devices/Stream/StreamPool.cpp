//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../PoolLedger.h"
#include "Staging.h"
#include "StreamDevice.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;

namespace {

class StreamPool : public MemoryPool {
public:
  StreamPool(std::shared_ptr<StreamContext> context, uint64_t limit)
      : context(std::move(context)), ledger(this->context->name(), limit), uploads(*this->context, Lane::Uploads),
        downloads(*this->context, Lane::Downloads) {}

  PoolUsage usage() const override { return ledger.usage(); }
  bool isHostMemory() const override { return false; }

  Result<Allocation> allocate(uint64_t size) override {
    const EnteredContext inside(*context);
    ZYX_RETURN_IF_ERROR(inside.status());
    Status status;
    Result<Allocation> made = ledger.allocate(size, [&]() -> std::optional<uint64_t> {
      Result<uint64_t> handle = take(size);
      // Others may hold what the driver keeps for a next one.
      if (handle.status().code() == ErrorCode::OutOfMemory && context->trim().isOk())
        handle = take(size);
      status = handle.status();
      return handle ? std::optional<uint64_t>(*handle) : std::nullopt;
    });
    if (made || status.isOk())
      return made;
    return status.code() == ErrorCode::OutOfMemory ? made.status().withCause(status) : status;
  }

  Status deallocate(const Allocation &allocation) override {
    ZYX_RETURN_IF_ERROR(ledger.deallocate(allocation));
    // The memory of a device that is lost went with it.
    const EnteredContext inside(*context);
    if (!inside.status().isOk())
      return Status::ok();
    Status status = free(allocation.handle);
    return status.code() == ErrorCode::DeviceLost ? Status::ok() : status;
  }

  Status addForeign(const Allocation &allocation) override {
    ledger.addForeign(allocation);
    return Status::ok();
  }
  void dropForeign(const Allocation &allocation) override { ledger.dropForeign(allocation); }

  Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) override {
    ZYX_RETURN_IF_ERROR(ledger.check(to, offset, from.size()));
    const EnteredContext inside(*context);
    ZYX_RETURN_IF_ERROR(inside.status());
    return uploads.upload({to.handle, offset}, from);
  }

  Status copyOut(const Allocation &from, uint64_t offset, std::span<std::byte> to) override {
    ZYX_RETURN_IF_ERROR(ledger.check(from, offset, to.size()));
    const EnteredContext inside(*context);
    ZYX_RETURN_IF_ERROR(inside.status());
    return downloads.download(to, {from.handle, offset});
  }

  Status copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(ledger.check(from, 0, size));
    if (&pool == this) {
      ZYX_RETURN_IF_ERROR(ledger.check(to, 0, size));
      const EnteredContext inside(*context);
      ZYX_RETURN_IF_ERROR(inside.status());
      const char *action = "copy within the device";
      const StreamHandle stream = context->stream(Lane::Copies);
      ZYX_RETURN_IF_ERROR(
          context->check(context->backend().copy(stream, {{to.handle, 0}, {from.handle, 0}, size}), action));
      return context->synchronize(stream, action);
    }
    if (auto *other = dynamic_cast<StreamPool *>(&pool)) {
      ZYX_RETURN_IF_ERROR(other->ledger.check(to, 0, size));
      Status status = context->copyTo(*other->context, {to.handle, 0}, {from.handle, 0}, size);
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
    const auto *pool = dynamic_cast<const StreamPool *>(&other);
    return pool && pool->context->allow(*context).isOk();
  }
  bool canWaitFor(const Fence &fence) const override { return context->canWaitFor(fence); }
  Status waitFor(const Fence &fence) override { return context->wait(Lane::Copies, fence); }

  Result<std::byte *> address(const Allocation &, uint64_t, uint64_t) override {
    return Status::unsupported("the host does not reach the memory of device '" + context->name() + "'");
  }

private:
  /// Memory that is there for every lane. An allocation of nothing has a handle too.
  Result<uint64_t> take(uint64_t size) {
    const StreamHandle stream = context->stream(Lane::Memory);
    Result<uint64_t> handle = context->backend().allocate(stream, std::max<uint64_t>(size, 1));
    Status status = handle.status();
    // Programs wait for their own stream, and for no work of others.
    if (status.isOk() && stream != context->stream())
      status = context->backend().synchronize(stream);
    status = context->check(status, "allocate ", std::to_string(size), " bytes");
    if (!status.isOk() && handle)
      (void)free(*handle);
    ZYX_RETURN_IF_ERROR(status);
    return handle;
  }

  /// All that used it is over for the host, and so for the device.
  Status free(uint64_t handle) {
    return context->check(context->backend().free(context->stream(Lane::Memory), handle), "free memory");
  }

  const std::shared_ptr<StreamContext> context;
  PoolLedger ledger;
  Staging uploads, downloads;
};

} // namespace

std::shared_ptr<MemoryPool> runtime::createStreamPool(std::shared_ptr<StreamContext> context, uint64_t limit) {
  return std::make_shared<StreamPool>(std::move(context), limit);
}
