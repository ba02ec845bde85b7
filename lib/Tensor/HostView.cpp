//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/HostView.h"

#include "Detail.h"
#include "WatchedCompilation.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;
using zyx::runtime::Buffer;

/// Counts as a reader for as long as it lives: what is read is given to no result.
struct State::Reader {
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

/// Waits for what a reader sees, and tells why it is not there.
Status State::await(const Reader &reader, const Tensor &tensor) {
  Status status;
  {
    const WatchedRun watched;
    status = reader.value->wait(/*toWrite=*/false);
  }
  const std::lock_guard lock(mutex);
  settle();
  if (Status told = takeFailure(nodeOf(tensor)); !told.isOk())
    status = told;
  return status;
}

Result<HostView> State::view(const Tensor &tensor, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::shared_ptr<const Reader> reader;
  bool isShared = false;
  {
    std::unique_lock lock(mutex);
    ZYX_RETURN_IF_ERROR(realizeLocked({&tensor, 1}, where, lock));
    // What is handed over may have failed already.
    ZYX_RETURN_IF_ERROR(takeFailure(nodeOf(tensor)));
    const NodeState &node = states[nodeOf(tensor)];
    isShared = node.at < homes.size() && homes[node.at].isOnHost();
    if (isShared)
      reader = std::make_shared<const Reader>(shared_from_this(), node.value);
  }
  if (!isShared) {
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read(tensor, where));
    const auto copy = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return HostView{*copy, copy, false};
  }
  ZYX_RETURN_IF_ERROR(await(*reader, tensor));
  const auto *begin = reinterpret_cast<const std::byte *>(reader->value->handle());
  return HostView{{begin, reader->value->size()}, reader, true};
}

Result<DeviceView> State::deviceView(const Tensor &tensor, std::optional<void *> stream, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::shared_ptr<const Reader> reader;
  std::shared_ptr<runtime::Device> device;
  {
    std::unique_lock lock(mutex);
    ZYX_RETURN_IF_ERROR(realizeLocked({&tensor, 1}, where, lock));
    ZYX_RETURN_IF_ERROR(takeFailure(nodeOf(tensor)));
    const NodeState &node = states[nodeOf(tensor)];
    const uint16_t home = node.device != anywhere ? node.device : node.at;
    if (home >= homes.size() || !homes[home].device)
      return Status::unsupported("the tensor lies on no device, so that there is no memory of one to see");
    device = homes[home].device;
    // Else it lies in a file, has left a full device, or is a few bytes that each run takes along.
    if (node.at == home && node.value->isUsableIn(*homes[home].pool))
      reader = std::make_shared<const Reader>(shared_from_this(), node.value);
  }
  if (!reader) {
    ZYX_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read(tensor, where));
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Buffer> copy,
                         runtime::Buffer::allocate(device->pool(), bytes.size()));
    ZYX_RETURN_IF_ERROR(copy->write(bytes));
    return DeviceView{std::move(device), copy, copy};
  }
  if (!stream) {
    ZYX_RETURN_IF_ERROR(await(*reader, tensor));
    return DeviceView{std::move(device), reader->value, reader};
  }
  std::vector<runtime::Point> points;
  {
    const std::lock_guard held(*reader->value);
    reader->value->beforeRead(points);
  }
  for (const runtime::Point &point : points)
    ZYX_RETURN_IF_ERROR(device->letStreamWait(*stream, point));
  return DeviceView{std::move(device), reader->value, reader};
}

Result<Tensor> State::addDeviceMemory(TensorType type, uint64_t address, std::shared_ptr<const void> owner,
                                      const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(type));
  uint16_t at = 0;
  std::shared_ptr<runtime::Device> device;
  {
    std::lock_guard lock(mutex);
    at = currentDevice();
    device = homes[at].device;
    if (!device)
      return Status::unsupported("device '" + homes[at].name + "' has no memory of its own");
  }
  ZYX_ASSIGN_OR_RETURN(
      std::shared_ptr<runtime::Buffer> value,
      device->borrow(address, static_cast<uint64_t>(size), std::const_pointer_cast<void>(std::move(owner))));
  const uint64_t alignment = std::max<uint64_t>(device->alignment(), static_cast<uint64_t>(byteSize(type.dtype)));
  if (type.dtype == DType::Bool || address % alignment != 0) {
    std::vector<std::byte> bytes(static_cast<size_t>(size));
    ZYX_RETURN_IF_ERROR(value->read(bytes));
    return addData(std::move(type), bytes, where);
  }
  std::lock_guard lock(mutex);
  return addLeaf(std::move(type), std::move(value), at, where);
}

Result<bool> State::bindArguments(std::span<const Tensor> arguments, std::span<ForeignMemory> memory) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  const std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(arguments));
  auto homeOf = [&](const Tensor &argument) -> const Home & { return homes[states[nodeOf(argument)].device]; };
  // Owners stay with the caller unless all of them can be bound.
  for (size_t i = 0; i < arguments.size(); ++i) {
    const DType dtype = arguments[i].type().dtype;
    const Home &home = homeOf(arguments[i]);
    auto alignment = static_cast<uint64_t>(byteSize(dtype));
    if (home.device && !home.isOnHost())
      alignment = std::max(alignment, home.device->alignment());
    if (dtype == DType::Bool || memory[i].address % alignment != 0)
      return false;
    if (!home.device && !home.isOnHost())
      return Status::unsupported("device '" + home.name + "' has no memory of its own");
  }
  std::vector<std::shared_ptr<Buffer>> made;
  made.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto size = static_cast<uint64_t>(*byteSize(arguments[i].type()));
    const Home &home = homeOf(arguments[i]);
    std::shared_ptr<void> owner = std::const_pointer_cast<void>(std::move(memory[i].owner));
    if (home.isOnHost()) {
      made.push_back(Buffer::borrow(reinterpret_cast<void *>(memory[i].address), size, std::move(owner)));
      continue;
    }
    ZYX_ASSIGN_OR_RETURN(made.emplace_back(), home.device->borrow(memory[i].address, size, std::move(owner)));
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    setValue(nodeOf(arguments[i]), std::move(made[i]), states[nodeOf(arguments[i])].device);
  return true;
}

void State::unbindArguments(std::span<const Tensor> arguments) {
  // Of a child that was forked nobody asks.
  if (mutex.isForked())
    return;
  const std::lock_guard lock(mutex);
  for (const Tensor &argument : arguments)
    setValue(nodeOf(argument), nullptr);
}

runtime::DLPackPlace State::dlpackPlaceOf(const Tensor &tensor) {
  const std::string name = deviceOf(tensor);
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find_if(homes, [&](const Home &home) { return home.name == name; });
  return found != homes.end() && found->device ? found->device->dlpackPlace() : runtime::DLPackPlace();
}

std::shared_ptr<runtime::Device> State::currentRuntimeDevice() {
  const std::lock_guard lock(mutex);
  return homes[currentDevice()].device;
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

DeviceView zyx::deviceView(const Tensor &x, Place where) {
  if (!x.isDefined())
    refuse("there is no tensor to read", where);
  return valueOrThrow(stateOf(x).deviceView(x, std::nullopt, where), where);
}

DeviceView zyx::deviceViewOn(const Tensor &x, void *stream, Place where) {
  if (!x.isDefined())
    refuse("there is no tensor to read", where);
  return valueOrThrow(stateOf(x).deviceView(x, stream, where), where);
}

runtime::DLPackPlace zyx::dlpackPlaceOf(const Tensor &x) { return stateOf(x).dlpackPlaceOf(x); }

runtime::DLPackPlace zyx::currentDLPackPlace(void *&stream, Place where) {
  const std::shared_ptr<runtime::Device> device = State::current(where)->currentRuntimeDevice();
  stream = device ? device->nativeStream() : nullptr;
  return device ? device->dlpackPlace() : runtime::DLPackPlace();
}

std::shared_ptr<runtime::Device> zyx::currentStreamDevice(void *&stream, Place where) {
  std::shared_ptr<runtime::Device> device = State::current(where)->currentRuntimeDevice();
  stream = device ? device->nativeStream() : nullptr;
  if (!stream)
    refuse("the current device has no stream that other libraries know", where);
  return device;
}

Tensor zyx::fromDeviceMemory(TensorType type, uint64_t address, std::shared_ptr<const void> owner, Place where) {
  return valueOrThrow(State::current(where)->addDeviceMemory(std::move(type), address, std::move(owner), where), where);
}

Tensor zyx::openArgument(TensorType type, Place where) {
  return valueOrThrow(State::current(where)->addPlaceholder(std::move(type), Tensor(), /*isPlaced=*/true), where);
}

bool zyx::bindArguments(std::span<const Tensor> arguments, std::span<ForeignMemory> memory, Place where) {
  ZYX_ASSERT(arguments.size() == memory.size(), "each has memory");
  return arguments.empty() || valueOrThrow(stateOf(arguments[0]).bindArguments(arguments, memory), where);
}

void zyx::unbindArguments(std::span<const Tensor> arguments) {
  if (!arguments.empty())
    stateOf(arguments[0]).unbindArguments(arguments);
}
