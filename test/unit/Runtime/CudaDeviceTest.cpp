//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The device on a driver that is not NVIDIA's: how we use it, not what it computes.
//===----------------------------------------------------------------------===//
#include "CudaTest.h"

#include "../../../lib/Runtime/Devices/Cuda/Driver.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <thread>
#include <utility>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::bytes;
using test::count;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

class CudaDeviceTest : public test::CudaTest {
protected:
  Status replayAll(std::function<void(int run)> after);
};

TEST_F(CudaDeviceTest, DescribesBuffersToTheCopyEngine) {
  Artifact a = test::sampleForCuda();
  a.kernels[0].symbol = "mapped";
  a.kernels[0].groupThreads = 384;
  // 1000 elements as rows of 8, of which the first launch reads four more bytes further on.
  a.kernels[0].tensorMaps = {{0, 0, 4, {8, 125}, {32}, {8, 64}, 32}};
  auto device = createDevice("cuda");
  ASSERT_TRUE(device) << device.status().toString();
  // The loop's launch has less memory than the map says.
  std::erase_if(a.commands, [](const Command &command) {
    const auto *launch = std::get_if<Launch>(&command.action);
    return !launch || launch->buffers[0].buffer == 2;
  });
  auto executor = Executor::create(*device, a);
  ASSERT_TRUE(executor) << executor.status().toString();
  const std::vector<int32_t> x = input();
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
    Status status = (*executor)->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    std::vector<int32_t> y(count);
    ASSERT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
    for (uint64_t i = 0; i < count; ++i)
      EXPECT_EQ(y[i], x[i] + 2);
    // Made once for each launch; where a buffer stays, so does its map.
    EXPECT_EQ(fake->tensorMaps, 2);
    // A multiprocessor runs one workgroup.
    EXPECT_EQ(fake->lastGroups, 4u);
    EXPECT_EQ(fake->lastThreads, 384u);
  }
  auto other = runtime::Buffer::allocate((*device)->pool(), bytes);
  ASSERT_TRUE(other) << other.status().toString();
  ASSERT_TRUE((*other)->write(std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE((*executor)->bindInput(0, *other).isOk());
  ASSERT_TRUE((*executor)->run().isOk());
  EXPECT_EQ(fake->tensorMaps, 3);
  executor->reset();
  other->reset();
  device->reset();
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, DescribesPixelsToTheCopyEngine) {
  Artifact a = test::sampleForCuda();
  a.kernels[0].symbol = "mapped";
  // The loop's launch has less memory than the map says.
  std::erase_if(a.commands, [](const Command &command) {
    const auto *launch = std::get_if<Launch>(&command.action);
    return !launch || launch->buffers[0].buffer == 2;
  });
  const std::vector<int32_t> x = input();
  const auto run = [&](std::vector<int32_t> high, std::vector<uint32_t> steps) -> Status {
    // Images of 5 x 4 positions with 8 channels, windows of which begin two and one in front.
    a.kernels[0].tensorMaps = {
        {0, 0, 4, {8, 4, 5, 6}, {32, 128, 640}, {8, 64}, 32, {-1, -2}, std::move(high), std::move(steps)}};
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, createDevice("cuda"));
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, a));
    ZYX_RETURN_IF_ERROR(executor->setInput(0, std::as_bytes(std::span(x))));
    ZYX_RETURN_IF_ERROR(executor->run());
    std::vector<int32_t> y(count);
    ZYX_RETURN_IF_ERROR(executor->readOutput(0, std::as_writable_bytes(std::span(y))));
    for (uint64_t i = 0; i < count; ++i)
      EXPECT_EQ(y[i], x[i] + 2);
    return Status::ok();
  };
  EXPECT_EQ(run({-1, 3}, {2, 1}).message(), "");
  EXPECT_EQ(fake->tensorMaps, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(fake->lastLow[i], i == 0 ? -1 : -2);
    EXPECT_EQ(fake->lastHigh[i], i == 0 ? -1 : 3);
    EXPECT_EQ(fake->lastSteps[i], i == 0 ? 2u : 1u);
  }
  // No window begins in front of the last position, and none so far apart.
  EXPECT_THAT(run({-5, 0}, {1, 1}).message(), HasSubstr("cannot describe a buffer of kernel plus: "));
  EXPECT_THAT(run({-1, 0}, {1, 9}).message(), HasSubstr("cannot describe a buffer of kernel plus: "));
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, SaysWhatTheCopyEngineCannotTake) {
  Artifact a = test::sampleForCuda();
  a.kernels[0].symbol = "mapped";
  a.kernels[0].tensorMaps = {{0, 0, 4, {8, 125}, {20}, {8, 64}, 32}};
  EXPECT_THAT(tryAll(a).message(), HasSubstr("cannot describe a buffer of kernel plus: "));
  expectNothingLeft();
  fake->version = 11080;
  EXPECT_EQ(tryAll(a).message(), "kernel plus needs a driver of CUDA 12");
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, IsListedByCard) {
  fake->devices = 2;
  std::string names;
  for (const DeviceListing &listing : listDevices())
    if (listing.name.starts_with("cuda")) {
      EXPECT_TRUE(listing.present);
      EXPECT_EQ(listing.description, "Fake card, compute capability 9.0, 1024 MiB");
      names += listing.name + " ";
    }
  EXPECT_EQ(names, "cuda cuda:1 ");
  auto second = createDevice("cuda:1");
  ASSERT_TRUE(second) << second.status().toString();
  EXPECT_EQ((*second)->name(), "cuda:1");
  EXPECT_EQ((*second)->target(), "sm_90a");
  EXPECT_EQ(createDevice("cuda:2").status().message(), "there is no device 'cuda:2': the driver has 2");
  EXPECT_EQ(createDevice("cuda:x").status().message(),
            "'cuda:x' names no card: a number follows the colon, as in cuda:1");
  second->reset();
  fake->devices = 0;
  const auto all = listDevices();
  EXPECT_TRUE(std::ranges::any_of(all, [](const DeviceListing &one) {
    return one.name == "cuda" && !one.present && one.description == "the driver has no device";
  }));
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, TellsItsFacts) {
  fake->devices = 2;
  fake->othersBytes = 1 << 20;
  const std::vector<DeviceListing> listings = listDevices();
  for (const DeviceListing &listing : listings) {
    if (!listing.name.starts_with("cuda"))
      continue;
    EXPECT_EQ(listing.facts.target, "sm_90a");
    EXPECT_EQ(listing.facts.architecture, "sm_90");
    EXPECT_THAT(listing.facts.identity, StartsWith("Fake card, compute capability 9.0, 1024 MiB, CUDA 13.0"));
    EXPECT_EQ(listing.facts.flops(), 2e6 * 4 * 128 * 1980);
    EXPECT_EQ(listing.facts.memoryBytes, uint64_t(1) << 30);
    EXPECT_FALSE(listing.facts.freeBytes);
    EXPECT_EQ(listing.facts.alignment, 16u);
    EXPECT_EQ(listing.facts.workgroupThreads, 1024u);
    EXPECT_EQ(listing.facts.subgroupThreads, 32u);
    EXPECT_EQ(listing.facts.sharedBytes, 227u << 10);
  }
  // Nothing was opened for that.
  EXPECT_EQ(fake->contexts, 0);
  {
    auto device = createDevice("cuda:1");
    ASSERT_TRUE(device) << device.status().toString();
    const DeviceFacts facts = (*device)->facts();
    EXPECT_EQ(facts.identity, (*device)->identity());
    EXPECT_EQ(facts.freeBytes, (uint64_t(1) << 30) - (1 << 20));
  }
  // The first of two that are as fast; one that does not tell its clock is taken where nothing else is faster.
  std::vector<DeviceListing> cards;
  for (const DeviceListing &listing : listings)
    if (listing.name.starts_with("cuda"))
      cards.push_back(listing);
  EXPECT_EQ(fastestDevice(cards), "cuda");
  fake->kilohertz = 2000000000;
  auto fastest = createDevice("");
  ASSERT_TRUE(fastest) << fastest.status().toString();
  EXPECT_EQ((*fastest)->name(), "cuda");
  fastest->reset();
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, HasOneName) {
  fake->devices = 2;
  EXPECT_EQ((*createDevice("cuda:0"))->name(), "cuda");
  EXPECT_EQ((*createDevice("cuda:1"))->name(), "cuda:1");
  EXPECT_EQ((*createDevice("cpu:0"))->name(), "cpu");
  EXPECT_EQ(canonicalDeviceName("c:0"), "c");
  EXPECT_EQ(canonicalDeviceName("cuda:10"), "cuda:10");
  EXPECT_EQ(canonicalDeviceName("npu:0"), "npu:0");
  EXPECT_EQ(canonicalDeviceName(":0"), ":0");
  EXPECT_THAT(createDevice("cpu:1").status().message(), StartsWith("no device 'cpu:1'; known are "));
  EXPECT_EQ(createDevice("gpu").status().message(),
            "no device is called 'gpu'; there are cuda (Fake card, compute capability 9.0, 1024 MiB), "
            "cuda:1 (Fake card, compute capability 9.0, 1024 MiB)");
  fake->devices = 0;
  EXPECT_EQ(createDevice("gpu:0").status().message(),
            "no device 'gpu:0'; known are cpu, c, cuda, hip, opencl, vulkan, webgpu");
  // Whatever WebGPU has.
  EXPECT_THAT(
      createDevice("gpu").status().message(),
      testing::StartsWith(
          "no device is called 'gpu'; there is none: cuda (the driver has no device), hip (AMD's driver cannot be "
          "opened: /none/libamdhip64.so: cannot open shared object file: No such file or directory), opencl (the "
          "loader "
          "of OpenCL cannot be opened: /none/libOpenCL.so.1: cannot open shared object file: No such file or "
          "directory), vulkan (the loader of Vulkan cannot be opened: /none/libvulkan.so.1: cannot open shared object "
          "file: No such file or directory), webgpu ("));
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, NamesTheRecordOfItsCard) {
  const std::pair<int, const char *> cards[] = {{75, "sm_75"}, {80, "sm_80"},  {86, "sm_86"}, {87, "sm_86"},
                                                {89, "sm_89"}, {90, "sm_90a"}, {120, "cuda"}};
  for (auto [capability, target] : cards) {
    fake->capability = capability;
    EXPECT_EQ((*createDevice("cuda"))->target(), target);
  }
  fake->capability = 70;
  EXPECT_EQ(createDevice("cuda").status().message(),
            "Fake card, compute capability 7.0, 1024 MiB: compute capability 7.5 is needed");
}

TEST_F(CudaDeviceTest, SaysWhyThereIsNoDriver) {
  fake->version = 11040;
  // By another spelling, because a driver is opened once.
  setenv("ZYX_CUDA_DRIVER", (std::string("/./") + ZYX_FAKE_CUDA).c_str(), 1);
  EXPECT_THAT(createDevice("cuda").status().message(), HasSubstr("is of CUDA 11.4, and 11.8 is needed"));
  fake->version = 13000;
  fake->initCode = 100;
  EXPECT_THAT(createDevice("cuda").status().message(), StartsWith("cannot begin with the driver"));
  EXPECT_THAT(createDevice("cuda").status().message(), HasSubstr("CUDA_ERROR_NO_DEVICE: says the fake driver"));
  fake->initCode = 0;
  EXPECT_TRUE(createDevice("cuda").isOk());
  setenv("ZYX_CUDA_DRIVER", "libm.so.6", 1);
  EXPECT_EQ(createDevice("cuda").status().message(), "the driver 'libm.so.6' lacks the function cuInit");
}

TEST_F(CudaDeviceTest, RunsCommandsInOrder) {
  EXPECT_TRUE(tryAll().isOk());
  EXPECT_EQ(fake->launches, 5);
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, RunsBehindWhatItWaitsFor) {
  fake->slowness = 5;
  auto device = *createDevice("cuda");
  auto executor = *Executor::create(device, test::sampleForCuda());
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  Point begin{std::make_shared<Timeline>(), 1};
  auto done = executor->submit(std::span(&begin, 1));
  ASSERT_TRUE(done);
  EXPECT_FALSE(done->isDecided());
  ASSERT_TRUE(begin.timeline->signal(1).isOk());
  EXPECT_TRUE(done->wait().isOk());
  EXPECT_TRUE(check(*executor).isOk());
  auto times = executor->profile();
  ASSERT_TRUE(times);
  EXPECT_EQ(times->size(), 9u);
  EXPECT_EQ((*times)[0].name, "plus");
}

TEST_F(CudaDeviceTest, HoldsEachCommandWhileItIsHandedOver) {
  auto device = *createDevice("cuda");
  auto executor = *Executor::create(device, test::sampleForCuda());
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  // The first run loads the code of kernels, which may wait for the card.
  fake->gates = 0;
  ASSERT_TRUE(executor->profile());
  EXPECT_EQ(fake->gates, 0);
  fake->launches = 0;
  ASSERT_TRUE(executor->profile());
  EXPECT_GE(fake->gates, fake->launches);
  EXPECT_GT(fake->launches, 0);
  EXPECT_EQ(fake->stuck, 0);
  EXPECT_TRUE(check(*executor).isOk());
  // One word of pinned memory serves all of them.
  fake->failPinned = 2;
  ASSERT_TRUE(executor->profile());
  EXPECT_EQ(fake->failPinned, 1);
  fake->failPinned = 0;
  // A launch that fails opens the gate that it stands behind.
  fake->failLaunch = 2;
  EXPECT_THAT(executor->profile().status().message(), HasSubstr("cannot launch kernel plus"));
  EXPECT_EQ(fake->stuck, 0);
  EXPECT_TRUE(executor->profile());
  EXPECT_TRUE(check(*executor).isOk());
  fake->hasNoGates = true;
  EXPECT_EQ(executor->profile().status().message(), "cannot hold the device's stream: error 801");
}

TEST_F(CudaDeviceTest, MeasuresRunsThatAreHandedOverFirst) {
  auto device = *createDevice("cuda");
  auto executor = *Executor::create(device, test::sampleForCuda());
  EXPECT_EQ(executor->measure(1).status().message(), "input 'x' is not set");
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  // The loop waits for the card, and so does who hands over more than the card takes.
  for (unsigned times : {1u, 3u, 100u}) {
    fake->launches = fake->gates = 0;
    auto took = executor->measure(times);
    ASSERT_TRUE(took) << took.status().toString();
    EXPECT_GT(took->deviceNanoseconds, 0u);
    EXPECT_GT(took->hostNanoseconds, 0u);
    EXPECT_EQ(fake->launches, static_cast<int>(5 * (1 + times)));
    EXPECT_EQ(fake->gates, 1);
    EXPECT_EQ(fake->stuck, 0);
    EXPECT_TRUE(check(*executor).isOk());
  }
  // What stands behind the gate of a run that fails is let go.
  Artifact one = test::sampleForCuda();
  one.commands.resize(1);
  auto single = *Executor::create(device, one);
  ASSERT_TRUE(single->setInput(0, std::as_bytes(std::span(x))).isOk());
  fake->failLaunch = 3;
  EXPECT_THAT(single->measure(2).status().message(), HasSubstr("cannot launch kernel plus"));
  EXPECT_EQ(fake->stuck, 0);
  EXPECT_TRUE(single->run().isOk());
  single.reset();
  executor.reset();
  device.reset();
  // Two are the pool's.
  for (int at = 1; at <= 3; ++at) {
    reset();
    fake->failPinned = at;
    EXPECT_EQ(
        [&]() -> Status {
          ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> other, createDevice("cuda"));
          ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> on, Executor::create(other, test::sampleForCuda()));
          ZYX_RETURN_IF_ERROR(on->setInput(0, std::as_bytes(std::span(x))));
          return on->measure(1).status();
        }()
                     .code(),
        ErrorCode::OutOfMemory);
    expectNothingLeft();
  }
}

TEST_F(CudaDeviceTest, MeasuringEndsThoughLaunchesWaitForTheCard) {
  auto device = *createDevice("cuda");
  auto executor = *Executor::create(device, test::sampleForCuda());
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE(executor->measure(1));
  // Launches one by one, of which the first waits for the card.
  fake->hasNoGraphs = true;
  fake->launchesWait = true;
  const Status status = executor->measure(1).status();
  EXPECT_EQ(status.code(), ErrorCode::Aborted);
  EXPECT_EQ(status.message(), "runs of 'main' were not handed over within 1 s, so that nothing is known of their time: "
                              "another thread may wait for the device");
  fake->launchesWait = false;
  EXPECT_TRUE(executor->measure(1));
  EXPECT_TRUE(check(*executor).isOk());
  executor.reset();
  device.reset();
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, LeavesTheContextOfTheThreadAsItWas) {
  fake->devices = 2;
  // A program that uses the second card by itself.
  void *library = dlopen(ZYX_FAKE_CUDA, RTLD_NOW);
  cuda::Context context = nullptr;
  reinterpret_cast<int (*)(cuda::Context *, int)>(dlsym(library, "cuDevicePrimaryCtxRetain"))(&context, 1);
  reinterpret_cast<int (*)(cuda::Context)>(dlsym(library, "cuCtxPushCurrent_v2"))(context);
  const auto expectOwn = [&](const char *behind) {
    EXPECT_EQ(currentContext(), 1) << behind;
    EXPECT_EQ(depthOfContexts(), 1) << behind;
  };
  auto device = *createDevice("cuda");
  expectOwn("opening");
  auto executor = *Executor::create(device, test::sampleForCuda());
  expectOwn("loading");
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  expectOwn("a copy to the card");
  ASSERT_TRUE(executor->run().isOk());
  expectOwn("a run");
  EXPECT_TRUE(check(*executor).isOk());
  expectOwn("a copy from the card");
  ASSERT_TRUE(executor->measure(2));
  expectOwn("measuring");
  fake->hasNoGraphs = true;
  fake->failLaunch = 1;
  EXPECT_FALSE(executor->run().isOk());
  expectOwn("a run that fails");
  auto other = *createDevice("cuda:1");
  auto mine = *runtime::Buffer::allocate(device->pool(), bytes),
       theirs = *runtime::Buffer::allocate(other->pool(), bytes);
  ASSERT_TRUE(mine->write(std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE(theirs->copyFrom(*mine).isOk());
  expectOwn("a copy to another card");
  mine.reset();
  theirs.reset();
  expectOwn("giving memory back");
  executor.reset();
  device.reset();
  other.reset();
  expectOwn("closing");
  // Of a card that is lost the driver takes back what it gave out, and memory is gone with it.
  device = *createDevice("cuda");
  executor = *Executor::create(device, test::sampleForCuda());
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  fake->loseAtWork = 1;
  EXPECT_EQ(executor->run().code(), ErrorCode::DeviceLost);
  EXPECT_EQ(executor->run().code(), ErrorCode::DeviceLost);
  expectOwn("a loss");
  executor.reset();
  device.reset();
  expectOwn("closing a card that is lost");
  fake->allocations = 0;
  cuda::Context popped = nullptr;
  reinterpret_cast<int (*)(cuda::Context *)>(dlsym(library, "cuCtxPopCurrent_v2"))(&popped);
  EXPECT_EQ(popped, context);
  reinterpret_cast<int (*)(int)>(dlsym(library, "cuDevicePrimaryCtxRelease_v2"))(1);
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, HasAPoolOfItsOwnThatFreeMemoryBounds) {
  fake->othersBytes = fake->memoryBytes - 1000;
  auto device = *createDevice("cuda");
  EXPECT_EQ(fake->pools, 1);
  EXPECT_EQ(device->pool()->usage().limit, 1000u);
  EXPECT_THAT(device->pool()->allocate(1001).status().message(),
              HasSubstr("holds 0 of 1000 bytes and cannot give 1001 more"));
  auto all = device->pool()->allocate(1000);
  ASSERT_TRUE(all);
  EXPECT_TRUE(device->pool()->deallocate(*all).isOk());
  device.reset();
  DeviceOptions options;
  options.memoryLimit = 5000;
  EXPECT_EQ((*createDevice("cuda", options))->pool()->usage().limit, 5000u);
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, OthersAllocateWhileOneWaitsForTheCard) {
  auto device = *createDevice("cuda");
  auto executor = *Executor::create(device, test::sampleForCuda());
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE(executor->run().isOk());
  MemoryPool &pool = *device->pool();
  const uint64_t before = pool.usage().inUse;
  holdRuns(1);
  auto run = executor->submit();
  ASSERT_TRUE(run);
  waitForRun();
  fake->failAllocation = 1;
  // The card is full: what it keeps for the next one is given back when all work is over.
  auto waiting = std::async(std::launch::async, [&] { return pool.allocate(100); });
  while (allocationFaults())
    std::this_thread::yield();
  auto other = std::async(std::launch::async, [&] { return pool.allocate(200); });
  const bool isFree = other.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  EXPECT_TRUE(isFree);
  EXPECT_EQ(waiting.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  holdRuns(0);
  auto first = waiting.get(), second = other.get();
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_EQ(fake->trims, 1);
  EXPECT_EQ(pool.usage().inUse, before + 300u);
  EXPECT_TRUE(pool.deallocate(*first).isOk());
  EXPECT_TRUE(pool.deallocate(*second).isOk());
  EXPECT_EQ(pool.usage().inUse, before);
  EXPECT_TRUE(run->wait().isOk());
  executor.reset();
  device.reset();
  expectNothingLeft();
}

/// Three runs, one with another input, one with another output, one more; all are right, or the first failure.
Status CudaDeviceTest::replayAll(std::function<void(int run)> after) {
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, createDevice("cuda"));
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, test::sampleForCuda()));
  const std::vector<int32_t> x = input();
  ZYX_RETURN_IF_ERROR(executor->setInput(0, std::as_bytes(std::span(x))));
  for (int run = 0; run < 6; ++run) {
    if (run == 3) {
      ZYX_ASSIGN_OR_RETURN(auto other, runtime::Buffer::allocate(device->pool(), bytes));
      ZYX_RETURN_IF_ERROR(other->write(std::as_bytes(std::span(x))));
      ZYX_RETURN_IF_ERROR(executor->bindInput(0, other));
    } else if (run == 4) {
      ZYX_ASSIGN_OR_RETURN(auto other, runtime::Buffer::allocate(device->pool(), 16));
      ZYX_RETURN_IF_ERROR(executor->bindOutput(1, other));
    }
    ZYX_RETURN_IF_ERROR(executor->run());
    ZYX_RETURN_IF_ERROR(check(*executor));
    after(run);
  }
  return Status::ok();
}

TEST_F(CudaDeviceTest, LaunchesCommandsAsGraphsThatAreChanged) {
  // Without loops: three segments, one of which is the body of a loop of three passes. One copies to where it overlaps,
  // and goes on one by one.
  int graphs = 0, launches = 0, updates = 0;
  Status status = replayAll([&](int run) {
    launches = std::exchange(fake->graphLaunches, 0);
    updates = std::exchange(fake->graphUpdates, 0);
    graphs = fake->graphs;
    // What a program does once is done one by one, the first pass of the loop too.
    EXPECT_EQ(launches, run == 0 ? 2 : 4) << run;
    // What is launched, and what it was made of.
    EXPECT_EQ(graphs, run == 0 ? 2 : 4) << run;
    // An input of one kernel; an output which a fill in two halves, a kernel and a copy write.
    EXPECT_EQ(updates, run == 3 ? 1 : run == 4 ? 4 : 0) << run;
    EXPECT_EQ(std::exchange(fake->launches, 0), 5);
  });
  EXPECT_TRUE(status.isOk()) << status.toString();
  expectNothingLeft();
}

// w = x is no copy where w lies in x, and is one again where it lies elsewhere.
TEST_F(CudaDeviceTest, CopiesNothingToWhereItIs) {
  Result<std::shared_ptr<Device>> device = createDevice("cuda");
  ASSERT_TRUE(device.isOk());
  auto executor = Executor::create(*device, test::sampleForCuda(), {{0, 2}});
  ASSERT_TRUE(executor.isOk()) << executor.status().toString();
  const std::vector<int32_t> x = input();
  auto given = runtime::Buffer::allocate((*device)->pool(), bytes),
       other = runtime::Buffer::allocate((*device)->pool(), bytes);
  ASSERT_TRUE(given.isOk() && other.isOk());
  ASSERT_TRUE((*given)->write(std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE((*executor)->bindInput(0, *given).isOk());
  int graphs = 0;
  for (int run = 0; run < 9; ++run) {
    if (run % 3 == 0)
      ASSERT_TRUE((*executor)->bindOutput(2, run == 3 ? *other : *given).isOk());
    const Status status = (*executor)->run();
    ASSERT_TRUE(status.isOk()) << run << ": " << status.toString();
    const Status right = check(**executor);
    EXPECT_TRUE(right.isOk()) << run << ": " << right.toString();
    graphs += std::exchange(fake->graphLaunches, 0);
  }
  // All runs but the first go by graphs.
  EXPECT_EQ(graphs, 2 + 8 * 4);
  *executor = nullptr;
  given = other = std::shared_ptr<runtime::Buffer>();
  *device = nullptr;
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, LaunchesLoopsOfFewTripsInGraphs) {
  Artifact artifact = test::sampleForCuda();
  auto &loop = std::get<Loop>(artifact.commands[3].action);
  loop.count.reset();
  loop.trips = 3;
  // Around it another one of one trip, which does not say which.
  artifact.commands.insert(artifact.commands.begin() + 3, {Loop{3, 1, {}, {}}, {2}});
  artifact.commands[4].wait = {};
  artifact.commands[6].wait = {5};
  artifact.commands[8].wait = {7};
  std::shared_ptr<Device> device = *createDevice("cuda");
  std::unique_ptr<Executor> executor = *Executor::create(device, artifact);
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  for (int run = 0; run < 4; ++run) {
    if (run == 3) {
      // What the loop writes: a fill in two halves, and of each pass a kernel, a copy and a number.
      auto other = *runtime::Buffer::allocate(device->pool(), 16);
      ASSERT_TRUE(executor->bindOutput(1, other).isOk());
    }
    ASSERT_TRUE(executor->run().isOk());
    EXPECT_TRUE(check(*executor).isOk()) << run;
    // All before the copy that overlaps is one graph.
    EXPECT_EQ(std::exchange(fake->graphLaunches, 0), run == 0 ? 0 : 1) << run;
    EXPECT_EQ(fake->graphs, run == 0 ? 0 : 2) << run;
    EXPECT_EQ(std::exchange(fake->graphUpdates, 0), run == 3 ? 2 + 3 * 3 : 0) << run;
    EXPECT_EQ(std::exchange(fake->launches, 0), 5) << run;
  }
  executor.reset();
  device.reset();
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, WalksLoopsOfManyTrips) {
  Artifact artifact = test::sampleForCuda();
  auto &loop = std::get<Loop>(artifact.commands[3].action);
  loop.count.reset();
  loop.trips = 5000;
  std::shared_ptr<Device> device = *createDevice("cuda");
  std::unique_ptr<Executor> executor = *Executor::create(device, artifact);
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(executor->run().isOk());
    int64_t z[2];
    ASSERT_TRUE(executor->readOutput(1, std::as_writable_bytes(std::span(z))).isOk());
    EXPECT_EQ(z[0], 0x100000005 + 5000);
    EXPECT_EQ(z[1], 4999);
    // The first pass of the first run is handed over one by one, as is all in front of the loop then.
    EXPECT_EQ(std::exchange(fake->graphLaunches, 0), run == 0 ? 4999 : 5001) << run;
  }
}

TEST_F(CudaDeviceTest, GoesOnWithoutGraphs) {
  int failures = 0;
  for (int at = 1; at < 60; ++at) {
    reset();
    fake->failGraph = at;
    Status status = replayAll([](int) {});
    EXPECT_TRUE(status.isOk()) << at << ": " << status.toString();
    failures += fake->failGraph == 0;
    expectNothingLeft();
  }
  EXPECT_GT(failures, 30);
  // A driver that has none.
  reset();
  fake->hasNoGraphs = true;
  EXPECT_TRUE(replayAll([](int) {}).isOk());
  EXPECT_EQ(fake->graphLaunches, 0);
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, IsLostInGraphs) {
  int losses = 0;
  for (int at = 1; at < 120; at += 3) {
    reset();
    fake->loseAtWork = at;
    Status status = replayAll([](int) {});
    if (status.isOk())
      continue;
    ++losses;
    EXPECT_EQ(status.code(), ErrorCode::DeviceLost) << status.toString();
    EXPECT_EQ(fake->graphs, 0);
    EXPECT_EQ(fake->modules, 0);
    EXPECT_EQ(fake->contexts, 0);
  }
  EXPECT_GT(losses, 30);
}

TEST_F(CudaDeviceTest, CopiesMoreThanItStages) {
  auto pool = (*createDevice("cuda"))->pool();
  auto host = createHostPool();
  std::vector<std::byte> from((9 << 20) + 5), to(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<std::byte>(i * 31 >> 3);
  auto a = *pool->allocate(from.size()), b = *pool->allocate(from.size()), c = *host->allocate(from.size());
  ASSERT_TRUE(pool->copyIn(a, 0, from).isOk());
  ASSERT_TRUE(pool->copyTo(a, *pool, b, from.size()).isOk());
  ASSERT_TRUE(pool->copyOut(b, 0, to).isOk());
  EXPECT_EQ(from, to);
  ASSERT_TRUE(pool->copyTo(b, *host, c, from.size()).isOk());
  EXPECT_EQ(std::memcmp(reinterpret_cast<void *>(c.handle), from.data(), from.size()), 0);
  EXPECT_EQ(pool->address(a, 0, 1).status().message(), "the host does not reach the memory of device 'cuda'");
  EXPECT_EQ(pool->copyIn(a, 6, from).message(), "a copy of " + std::to_string(from.size()) +
                                                    " bytes at byte 6 leaves an allocation of " +
                                                    std::to_string(from.size()));
  for (const Allocation &one : {a, b})
    EXPECT_TRUE(pool->deallocate(one).isOk());
  EXPECT_TRUE(host->deallocate(c).isOk());
  pool.reset();
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, TrimsBeforeItHasNoMemory) {
  fake->failAllocation = 2;
  EXPECT_TRUE(tryAll().isOk());
  EXPECT_EQ(fake->trims, 1);
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, LosesNothingWhereMemoryEnds) {
  int failures = 0;
  for (int room = 0; room < 12; ++room) {
    reset();
    fake->room = room;
    Status status = tryAll();
    if (!status.isOk()) {
      EXPECT_EQ(status.code(), ErrorCode::OutOfMemory) << status.toString();
      EXPECT_THAT(status.toString(), AnyOf(HasSubstr("pool cuda holds"), HasSubstr("allocate memory for a copy")));
      ++failures;
    }
    expectNothingLeft();
  }
  EXPECT_GT(failures, 5);
  reset();
  fake->failPinned = 2;
  EXPECT_EQ(tryAll().code(), ErrorCode::OutOfMemory);
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, ALaunchThatIsRefusedIsNoLoss) {
  auto device = *createDevice("cuda");
  auto executor = *Executor::create(device, test::sampleForCuda());
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  fake->failLaunch = 2;
  EXPECT_THAT(executor->run().message(), HasSubstr("cannot launch kernel plus: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  EXPECT_TRUE(executor->run().isOk());
  EXPECT_TRUE(check(*executor).isOk());
}

TEST_F(CudaDeviceTest, IsLostForGood) {
  int losses = 0;
  for (int at = 1; at < 40; ++at) {
    reset();
    fake->loseAtWork = at;
    Status status = tryAll();
    if (status.isOk())
      continue;
    ++losses;
    EXPECT_EQ(status.code(), ErrorCode::DeviceLost) << status.toString();
    EXPECT_EQ(fake->modules, 0);
    EXPECT_EQ(fake->streams, 0);
    EXPECT_EQ(fake->events, 0);
    EXPECT_EQ(fake->pinned, 0);
    EXPECT_EQ(fake->contexts, 0);
    EXPECT_EQ(fake->graphs, 0);
  }
  EXPECT_GT(losses, 15);
}

TEST_F(CudaDeviceTest, NamesTheKernelsThatMayHaveFailed) {
  Artifact artifact = test::sampleForCuda();
  artifact.kernels[0].symbol = "trap";
  auto device = *createDevice("cuda");
  auto executor = *Executor::create(device, artifact);
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  Status status = executor->run();
  EXPECT_EQ(status.code(), ErrorCode::DeviceLost);
  EXPECT_THAT(status.toString(), HasSubstr("device 'cuda' is lost"));
  EXPECT_THAT(status.toString(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  // It goes on to say so, while other devices work.
  EXPECT_EQ(executor->setInput(0, std::as_bytes(std::span(x))).code(), ErrorCode::DeviceLost);
  EXPECT_EQ(device->pool()->allocate(4).status().code(), ErrorCode::DeviceLost);
  EXPECT_TRUE(runtime::Buffer::allocate((*createDevice("cpu", {.threads = 1}))->pool(), 4).isOk());
}

TEST_F(CudaDeviceTest, RefusesCodeThatItCannotRun) {
  auto refusal = [&](auto change) {
    Artifact artifact = test::sampleForCuda();
    change(artifact);
    const std::string message = tryAll(artifact).message();
    expectNothingLeft();
    return message;
  };
  EXPECT_EQ(refusal([](Artifact &a) { a.target = "cpu"; }), "code for 'cpu' does not run on a card of NVIDIA's");
  EXPECT_EQ(refusal([](Artifact &a) { a.code[0].format = "elf-so"; }),
            "code of format 'elf-so' is not known to a card of NVIDIA's");
  const std::string other = " does not run on Fake card, compute capability 9.0, 1024 MiB";
  EXPECT_EQ(refusal([](Artifact &a) { a.cpuFeatures = {"sm_100"}; }), "code for sm_100" + other);
  EXPECT_EQ(refusal([](Artifact &a) { a.cpuFeatures = {"sm_80a"}; }), "code for sm_80a" + other);
  EXPECT_EQ(refusal([](Artifact &a) { a.cpuFeatures = {"avx2"}; }), "code for the unknown architecture 'avx2'");
  EXPECT_EQ(refusal([](Artifact &a) {
              a.code[0].format = "cubin";
              a.cpuFeatures = {"sm_80"};
            }),
            "code for sm_80" + other);
  EXPECT_THAT(
      refusal([](Artifact &a) {
        const char *text = "broken";
        a.code[0].bytes.assign(reinterpret_cast<const std::byte *>(text),
                               reinterpret_cast<const std::byte *>(text) + 6);
      }),
      HasSubstr("cannot load code of format 'ptx': CUDA_ERROR_INVALID_PTX: says the fake driver: line 1 is broken"));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].symbol = "missing"; }),
              HasSubstr("cannot find kernel plus in its code"));
}

TEST_F(CudaDeviceTest, HasAsManyThreadsAsFit) {
  Artifact artifact = test::sampleForCuda();
  EXPECT_TRUE(tryAll(artifact).isOk());
  // The last launch has one program, of which a processor has one workgroup of few threads.
  EXPECT_EQ(fake->lastThreads, 32u);
  EXPECT_EQ(fake->lastGroups, 1u);
  // A workgroup is a program.
  artifact.commands.resize(2);
  auto runs = [&] {
    auto executor = *Executor::create(*createDevice("cuda"), artifact);
    const std::vector<int32_t> x = input();
    EXPECT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
    EXPECT_TRUE(executor->run().isOk());
  };
  artifact.kernels[0].groupThreads = 64;
  artifact.kernels[0].sharedBytes = 128;
  runs();
  EXPECT_EQ(fake->lastThreads, 64u);
  EXPECT_EQ(fake->lastGroups, count);
  // Or a cluster of them is.
  artifact.kernels[0].clusterGroups = 4;
  runs();
  EXPECT_EQ(fake->lastGroups, 4 * count);
  // Of which whole ones have room.
  artifact.kernels[0].stackBytes = uint64_t(1) << 20;
  runs();
  EXPECT_EQ(fake->lastGroups % 4, 0u);
  EXPECT_LT(fake->lastGroups, 4 * count);
  artifact.kernels[0].clusterGroups = 0;
  // Few have room for what each keeps in scratch memory; they take the programs in turn.
  artifact.kernels[0].groupThreads = 0;
  artifact.kernels[0].stackBytes = uint64_t(100) << 20;
  runs();
  EXPECT_EQ(fake->lastThreads * fake->lastGroups, 2u);
  expectNothingLeft();
}

TEST_F(CudaDeviceTest, RefusesBuffersThatAreNotAligned) {
  auto device = *createDevice("cuda");
  auto executor = *Executor::create(device, test::sampleForCuda());
  fake->shift = 4;
  EXPECT_EQ(executor->bindInput(0, *runtime::Buffer::allocate(device->pool(), bytes)).message(),
            "input 'x' is not aligned to 16 bytes, as device 'cuda' needs it");
}

} // namespace
