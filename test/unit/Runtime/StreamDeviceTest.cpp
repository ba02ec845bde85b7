//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What devices beside the host share, on a backend without addresses, graphs and peers: its memory is objects that are
// found by their handles and used at offsets, as those of OpenCL and WebGPU are.
//===----------------------------------------------------------------------===//
#include "../../../lib/Runtime/Devices/Stream/StreamDevice.h"
#include "CudaTest.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <utility>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::count;
using testing::HasSubstr;

namespace {

/// What the backends of a test have given out, and what is to fail.
struct World {
  int objects = 0, hostMemory = 0, modules = 0, streams = 0, events = 0, entered = 0;
  int launches = 0, trims = 0, backends = 0;
  /// The n-th call from now on, from 1, fails with this code.
  int failAt = 0;
  ErrorCode failWith = ErrorCode::Internal;

  void expectNothingLeft(bool isLost = false) const {
    // Memory of a device that is lost goes with it.
    if (!isLost)
      EXPECT_EQ(objects, 0);
    EXPECT_EQ(hostMemory, 0);
    EXPECT_EQ(modules, 0);
    EXPECT_EQ(streams, 0);
    EXPECT_EQ(events, 0);
    EXPECT_EQ(entered, 0);
    EXPECT_EQ(backends, 0);
  }
};

/// Does what is handed to it when somebody waits, and not before.
class ObjectBackend : public Backend {
public:
  ObjectBackend(World &world, std::string name) : world(world) {
    ++world.backends;
    itsFacts.name = std::move(name);
    itsFacts.target = "test";
    itsFacts.identity = "a backend of objects";
    itsFacts.alignment = 16;
    itsFacts.freeBytes = 1 << 20;
  }
  ~ObjectBackend() override { --world.backends; }

  const BackendFacts &facts() const override { return itsFacts; }
  Status enter() override {
    ++world.entered;
    return Status::ok();
  }
  void leave() override { --world.entered; }

  Result<uint64_t> allocate(StreamHandle, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(call());
    EXPECT_GT(size, 0u);
    ++world.objects;
    const uint64_t handle = nextHandle;
    // No two have bytes in common, and neither is an address of anything.
    nextHandle += (size + 63) / 64 * 64;
    objects[handle].resize(size);
    return handle;
  }
  Status free(StreamHandle, uint64_t handle) override {
    if (isLost)
      return Status(ErrorCode::DeviceLost, "says the test");
    --world.objects;
    return hand([this, handle] { EXPECT_EQ(objects.erase(handle), 1u); });
  }
  Status trim() override {
    ++world.trims;
    return call();
  }
  Result<void *> allocateHost(uint64_t size) override {
    ZYX_RETURN_IF_ERROR(call());
    ++world.hostMemory;
    return std::malloc(size);
  }
  void freeHost(void *memory) override {
    --world.hostMemory;
    drain();
    std::free(memory);
  }
  Status upload(StreamHandle, MemoryRef to, const void *from, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(call());
    return hand([this, to, from, size] { std::memcpy(at(to, size), from, size); });
  }
  Status download(StreamHandle, void *to, MemoryRef from, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(call());
    return hand([this, to, from, size] { std::memcpy(to, at(from, size), size); });
  }
  Status copy(StreamHandle, const CopyCommand &copy) override {
    ZYX_RETURN_IF_ERROR(call());
    EXPECT_TRUE(copy.isApart());
    return hand([this, copy] { std::memcpy(at(copy.to, copy.bytes), at(copy.from, copy.bytes), copy.bytes); });
  }
  Status fill(StreamHandle, const FillCommand &fill) override {
    ZYX_RETURN_IF_ERROR(call());
    EXPECT_GT(fill.bytes, 0u);
    return hand([this, fill] {
      for (uint64_t done = 0; done < fill.bytes; done += fill.patternBytes)
        std::memcpy(at(fill.to, fill.bytes) + done, &fill.pattern, fill.patternBytes);
    });
  }

  Status accept(const Artifact &artifact) const override {
    return artifact.target == "test" ? Status::ok() : Status::unsupported("code for '" + artifact.target + "'");
  }
  Result<ModuleHandle> load(const CodeBlob &) override {
    ZYX_RETURN_IF_ERROR(call());
    ++world.modules;
    return ModuleHandle(7);
  }
  void unload(ModuleHandle module) override {
    EXPECT_EQ(module, ModuleHandle(7));
    --world.modules;
  }
  Result<KernelHandle> find(ModuleHandle module, const Kernel &kernel) override {
    ZYX_RETURN_IF_ERROR(call());
    EXPECT_EQ(module, ModuleHandle(7));
    EXPECT_EQ(kernel.symbol, "increment");
    return KernelHandle(11);
  }
  Status launch(StreamHandle, const LaunchCommand &launch) override {
    ZYX_RETURN_IF_ERROR(call());
    ++world.launches;
    EXPECT_EQ(launch.kernel, KernelHandle(11));
    // Two buffers, the scratch memory, and the number of programs.
    EXPECT_EQ(launch.arguments.size(), 4u);
    EXPECT_TRUE(launch.arguments[2].isBuffer && !launch.arguments[3].isBuffer);
    for (size_t i = 0; i < launch.arguments.size(); ++i)
      EXPECT_EQ(launch.parameters[i], &launch.arguments[i].value);
    const MemoryRef from = launch.arguments[0].memory, to = launch.arguments[1].memory;
    const uint64_t size = 4 * launch.arguments[3].value;
    return hand([this, from, to, size] {
      const std::byte *source = at(from, size);
      std::byte *target = at(to, size);
      for (uint64_t i = 0; i < size; i += 4) {
        int32_t value;
        std::memcpy(&value, source + i, 4);
        ++value;
        std::memcpy(target + i, &value, 4);
      }
    });
  }

  Result<StreamHandle> createStream() override {
    ZYX_RETURN_IF_ERROR(call());
    ++world.streams;
    return StreamHandle(3);
  }
  void destroyStream(StreamHandle) override { --world.streams; }
  Status synchronize(StreamHandle) override {
    // Of a device that is lost, too, what was handed over is over.
    drain();
    return call();
  }
  Result<EventHandle> createEvent(bool) override {
    ZYX_RETURN_IF_ERROR(call());
    ++world.events;
    return EventHandle(5);
  }
  void destroyEvent(EventHandle) override { --world.events; }
  Status record(StreamHandle, EventHandle) override { return call(); }
  Status wait(StreamHandle, EventHandle) override { return Status::internal("nobody waits for the events of others"); }
  Status synchronize(EventHandle) override { return synchronize(StreamHandle(3)); }
  Result<uint64_t> elapsed(EventHandle, EventHandle) override {
    ZYX_RETURN_IF_ERROR(call());
    return 1000u;
  }

private:
  Status call() {
    EXPECT_EQ(world.entered > 0, true);
    if (isLost)
      return Status(ErrorCode::DeviceLost, "says the test");
    if (world.failAt == 0 || --world.failAt != 0)
      return Status::ok();
    isLost = world.failWith == ErrorCode::DeviceLost;
    return Status(world.failWith, "says the test");
  }
  Status hand(std::function<void()> what) {
    work.push_back(std::move(what));
    return Status::ok();
  }
  void drain() {
    for (; !work.empty(); work.pop_front())
      work.front()();
  }
  std::byte *at(MemoryRef ref, uint64_t size) {
    const auto found = objects.find(ref.handle);
    if (found == objects.end() || ref.offset + size > found->second.size()) {
      ADD_FAILURE() << "no " << size << " bytes at " << ref.offset << " of " << ref.handle;
      std::abort();
    }
    return found->second.data() + ref.offset;
  }

  World &world;
  BackendFacts itsFacts;
  uint64_t nextHandle = uint64_t(1) << 20;
  std::map<uint64_t, std::vector<std::byte>> objects;
  std::deque<std::function<void()>> work;
  bool isLost = false;
};

class StreamDeviceTest : public testing::Test {
protected:
  Result<std::shared_ptr<Device>> open(std::string name = "test") {
    return createStreamDevice(std::unique_ptr<Backend>(std::make_unique<ObjectBackend>(world, std::move(name))), {});
  }
  static Artifact sample() {
    Artifact artifact = test::sampleForCuda();
    artifact.target = "test";
    return artifact;
  }
  static std::vector<int32_t> input() {
    std::vector<int32_t> x(count);
    for (uint64_t i = 0; i < count; ++i)
      x[i] = static_cast<int32_t>(5 * i) - 70;
    return x;
  }
  static Status runAndCheck(Executor &executor) {
    const std::vector<int32_t> x = input();
    ZYX_RETURN_IF_ERROR(executor.setInput(0, std::as_bytes(std::span(x))));
    ZYX_RETURN_IF_ERROR(executor.run());
    std::vector<int32_t> y(count), w(count);
    int64_t z[2];
    ZYX_RETURN_IF_ERROR(executor.readOutput(0, std::as_writable_bytes(std::span(y))));
    ZYX_RETURN_IF_ERROR(executor.readOutput(1, std::as_writable_bytes(std::span(z))));
    ZYX_RETURN_IF_ERROR(executor.readOutput(2, std::as_writable_bytes(std::span(w))));
    for (uint64_t i = 0; i < count; ++i)
      EXPECT_EQ(y[i], x[i] + 2);
    EXPECT_EQ(z[0], 0x100000008);
    EXPECT_EQ(z[1], 2);
    EXPECT_EQ(w, x);
    return Status::ok();
  }

  World world;
};

TEST_F(StreamDeviceTest, RunsWithoutAddressesAndGraphs) {
  auto device = open();
  ASSERT_TRUE(device) << device.status().toString();
  EXPECT_EQ((*device)->name(), "test");
  EXPECT_EQ((*device)->target(), "test");
  EXPECT_EQ((*device)->identity(), "a backend of objects");
  EXPECT_EQ((*device)->alignment(), 16u);
  EXPECT_EQ((*device)->pool()->usage().limit, uint64_t(1) << 20);
  auto executor = Executor::create(*device, sample());
  ASSERT_TRUE(executor) << executor.status().toString();
  for (int run = 0; run < 4; ++run) {
    if (run == 2) {
      auto other = runtime::Buffer::allocate((*device)->pool(), 16);
      ASSERT_TRUE(other);
      ASSERT_TRUE((*executor)->bindOutput(1, *other).isOk());
    }
    const Status status = runAndCheck(**executor);
    EXPECT_TRUE(status.isOk()) << status.toString();
    EXPECT_EQ(std::exchange(world.launches, 0), 5);
  }
  auto done = (*executor)->submit();
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->wait().isOk());
  auto times = (*executor)->profile();
  ASSERT_TRUE(times) << times.status().toString();
  EXPECT_EQ((*times)[0].nanoseconds, 1000u);
  executor->reset();
  device->reset();
  world.expectNothingLeft();
}

TEST_F(StreamDeviceTest, SaysWhatTheBackendLacks) {
  std::shared_ptr<Device> device = *open();
  std::unique_ptr<Executor> executor = *Executor::create(device, sample());
  ASSERT_TRUE(runAndCheck(*executor).isOk());
  EXPECT_EQ(executor->measure(1).status().message(), "device 'test' cannot hold back what is to be measured");
  EXPECT_TRUE(runAndCheck(*executor).isOk());
  Artifact mapped = sample();
  mapped.kernels[0].groupThreads = 384;
  mapped.kernels[0].tensorMaps = {{0, 0, 4, {8, 125}, {32}, {8, 64}, 32}};
  std::erase_if(mapped.commands, [](const Command &command) {
    const auto *launch = std::get_if<Launch>(&command.action);
    return !launch || launch->buffers[0].buffer == 2;
  });
  executor = *Executor::create(device, mapped);
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  EXPECT_EQ(executor->run().message(), "device 'test' has no tensor maps");
  Artifact other = sample();
  other.target = "cuda";
  EXPECT_EQ(Executor::create(device, other).status().message(), "code for 'cuda'");
  executor.reset();
  device.reset();
  world.expectNothingLeft();
}

TEST_F(StreamDeviceTest, CopiesBetweenStrangersGoThroughTheHost) {
  std::shared_ptr<Device> here = *open("here"), there = *open("there");
  std::vector<std::byte> from((9 << 16) + 5), to(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<std::byte>(i * 31 >> 3);
  auto a = *runtime::Buffer::allocate(here->pool(), from.size()),
       b = *runtime::Buffer::allocate(there->pool(), from.size());
  ASSERT_TRUE(a->write(from).isOk());
  EXPECT_FALSE(b->reaches(*a));
  ASSERT_TRUE(b->copyFrom(*a).isOk());
  ASSERT_TRUE(b->read(to).isOk());
  EXPECT_EQ(from, to);
  a.reset();
  b.reset();
  here.reset();
  there.reset();
  world.expectNothingLeft();
}

TEST_F(StreamDeviceTest, StrangersAreNoPeers) {
  {
    auto here = *StreamContext::open(std::make_unique<ObjectBackend>(world, "here"));
    auto there = *StreamContext::open(std::make_unique<ObjectBackend>(world, "there"));
    const Status status = here->allow(*there);
    EXPECT_EQ(status.code(), ErrorCode::Unsupported);
    EXPECT_EQ(status.message(), "devices 'here' and 'there' are no peers");
    EXPECT_EQ(here->copyTo(*there, {}, {}, 4).code(), ErrorCode::Unsupported);
    EXPECT_EQ(here->backend().allow(there->backend()).message(), "the devices are no peers");
    EXPECT_EQ(here->backend().copyFromPeer(here->stream(), {}, there->backend(), {}, 4).message(),
              "the devices are no peers");
    EXPECT_FALSE(here->backend().hasPeers());
  }
  world.expectNothingLeft();
}

TEST_F(StreamDeviceTest, GivesMemoryBackBeforeItHasNone) {
  std::shared_ptr<Device> device = *open();
  world.failWith = ErrorCode::OutOfMemory;
  world.failAt = 1;
  auto buffer = runtime::Buffer::allocate(device->pool(), 100);
  EXPECT_TRUE(buffer);
  EXPECT_EQ(world.trims, 1);
  EXPECT_THAT(runtime::Buffer::allocate(device->pool(), 1 << 20).status().message(),
              HasSubstr("pool test holds 100 of 1048576 bytes"));
  EXPECT_EQ(world.trims, 1);
}

TEST_F(StreamDeviceTest, LosesNothingWhicheverCallFails) {
  const auto tryAll = [&]() -> Status {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, open());
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, sample()));
    ZYX_RETURN_IF_ERROR(runAndCheck(*executor));
    ZYX_RETURN_IF_ERROR(executor->profile().status());
    // What a run takes along from the host.
    ZYX_ASSIGN_OR_RETURN(executor, Executor::create(device, test::history("test", DType::I64)));
    std::vector<int64_t> past = {1, 2, 3, 4}, next(4);
    ZYX_RETURN_IF_ERROR(executor->setInput(1, std::as_bytes(std::span(past))));
    for (int64_t number : {5, -6}) {
      ZYX_RETURN_IF_ERROR(executor->setInput(0, std::as_bytes(std::span(&number, 1))));
      ZYX_RETURN_IF_ERROR(executor->run());
      ZYX_RETURN_IF_ERROR(executor->readOutput(0, std::as_writable_bytes(std::span(next))));
      EXPECT_EQ(next, (std::vector<int64_t>{number, 1, 2, 3}));
    }
    return Status::ok();
  };
  for (ErrorCode code : {ErrorCode::Internal, ErrorCode::OutOfMemory, ErrorCode::DeviceLost}) {
    int failures = 0;
    for (int at = 1; at < 200; ++at) {
      world = World();
      world.failWith = code;
      world.failAt = at;
      const Status status = tryAll();
      const bool hasFailed = world.failAt == 0;
      world.failAt = 0;
      if (!status.isOk()) {
        ++failures;
        EXPECT_EQ(status.code(), code) << at << ": " << status.toString();
        EXPECT_THAT(status.toString(), HasSubstr("says the test"));
        if (code == ErrorCode::DeviceLost)
          EXPECT_THAT(status.toString(), HasSubstr("device 'test' is lost"));
      }
      world.expectNothingLeft(code == ErrorCode::DeviceLost);
      if (!hasFailed)
        break;
    }
    EXPECT_GT(failures, 40) << toString(code);
  }
}

} // namespace
