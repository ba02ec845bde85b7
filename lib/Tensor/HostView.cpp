//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/HostView.h"

#include "Detail.h"

using namespace zyx;
using namespace zyx::detail;

Result<HostView> State::view(const Tensor &tensor, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  /// Counts as a reader for as long as it lives: what is read is given to no result.
  struct Reader {
    const std::shared_ptr<State> state;
    const std::shared_ptr<runtime::Buffer> value;
    /// Under the lock.
    Reader(std::shared_ptr<State> of, std::shared_ptr<runtime::Buffer> read)
        : state(std::move(of)), value(std::move(read)) {
      ++state->beingRead[value.get()];
    }
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
    ~Reader() {
      // Of a process that was forked since, nobody asks.
      if (state->mutex.isForked())
        return;
      const std::lock_guard lock(state->mutex);
      state->endRead(value.get());
    }
  };
  std::shared_ptr<const Reader> reader;
  bool isShared = false;
  {
    std::unique_lock lock(mutex);
    ZYX_RETURN_IF_ERROR(realizeLocked({&tensor, 1}, where, lock));
    // What is handed over may have failed already.
    ZYX_RETURN_IF_ERROR(takeFailure(nodeOf(tensor)));
    const NodeState &node = states[nodeOf(tensor)];
    isShared = node.at < homes.size() && homes[node.at].pool && homes[node.at].pool->isHostMemory();
    if (isShared)
      reader = std::make_shared<const Reader>(shared_from_this(), node.value);
  }
  if (!isShared) {
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read(tensor, where));
    const auto copy = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return HostView{*copy, copy, false};
  }
  Status status = reader->value->wait(/*toWrite=*/false);
  {
    const std::lock_guard lock(mutex);
    settle();
    if (Status told = takeFailure(nodeOf(tensor)); !told.isOk())
      status = told;
  }
  ZYX_RETURN_IF_ERROR(status);
  const auto *begin = reinterpret_cast<const std::byte *>(reader->value->handle());
  return HostView{{begin, reader->value->size()}, reader, true};
}

void State::endRead(const runtime::Buffer *value) {
  if (auto reads = beingRead.find(value); --reads->second == 0)
    beingRead.erase(reads);
}

HostView zyx::hostView(const Tensor &x, Place where) {
  if (!x.isDefined())
    refuse("there is no tensor to read", where);
  return valueOrThrow(stateOf(x).view(x, where), where);
}
