//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Devices on a driver that is not NVIDIA's.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_RUNTIME_CUDATEST_H
#define ZYX_TEST_UNIT_RUNTIME_CUDATEST_H

#include "../../fake-cuda/FakeCuda.h"

#include "zyx/Runtime/Executor.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

namespace zyx::test {

using namespace zyx::artifact;
using namespace zyx::runtime;

inline constexpr uint64_t count = 1000, bytes = 4 * count;

/// y = x + 2 through the arena; z = the sum of a fill and of passes of a loop; w = x.
inline Artifact sampleForCuda() {
  Artifact a;
  a.entry = "main";
  a.target = "cuda";
  a.cpuFeatures = {"sm_75"};
  a.inputs = {{"x", {DType::I32, {count}}}};
  a.outputs = {{"y", {DType::I32, {count}}}, {"z", {DType::I64, {2}}}, {"w", {DType::I32, {count}}}};
  a.buffers = {{BufferKind::Input, 0, bytes},  {BufferKind::Output, 0, bytes},  {BufferKind::Output, 1, 16},
               {BufferKind::Output, 2, bytes}, {BufferKind::Arena, 64, bytes},  {BufferKind::Arena, 8192, 16},
               {BufferKind::Constant, 64, 8},  {BufferKind::Arena, 16384, 4096}};
  a.arenaSize = 32768;
  a.constants.resize(72);
  a.constants[64] = std::byte(3);
  a.code = {{"ptx", std::vector<std::byte>(8, std::byte('p'))}};
  Kernel kernel;
  kernel.symbol = "increment";
  kernel.name = "plus";
  kernel.numBuffers = 2;
  kernel.numWritten = 1;
  a.kernels = {kernel};
  a.commands = {{Launch{0, {{0, 0}, {4, 0}}, {1, 10, 100}, {}}, {}},
                {Launch{0, {{4, 0}, {1, 0}}, {count, 1, 1}, {}}, {0}},
                {Fill{{2, 0}, 16, 0x100000005, 8}, {}},
                // Each pass adds 1 to the low half of z[0], and leaves its number in z[1].
                {Loop{2, 0, BufferRef{6, 0}, BufferRef{2, 8}}, {2}},
                {Launch{0, {{2, 0}, {5, 0}}, {1, 1, 1}, {}}, {}},
                {Copy{{5, 0}, {2, 0}, 4}, {4}},
                {Copy{{0, 0}, {7, 0}, 4096 - 96}, {}},
                {Copy{{7, 0}, {7, 64}, 4000 - 64}, {6}},
                {Copy{{0, 0}, {3, 0}, bytes}, {}}};
  return a;
}

/// h' = [n, h[0], h[1], h[2]]: shows the numbers of the last runs, the latest first. h may be given up for h'. With
/// `trips` a loop does it so often. On CUDA, and the backend of a test, a kernel
/// increments what nobody reads.
inline Artifact history(std::string target, DType dtype, int64_t trips = 0) {
  const auto size = static_cast<uint64_t>(byteSize(dtype));
  Artifact a = sampleForCuda();
  a.target = std::move(target);
  if (a.target != "cuda" && a.target != "test") {
    a.cpuFeatures.clear();
    a.code.clear();
    a.kernels.clear();
  }
  a.inputs = {{"n", {dtype, {}}}, {"h", {dtype, {4}}}};
  a.outputs = {{"next", {dtype, {4}}}};
  a.buffers = {{BufferKind::Input, 0, size},
               {BufferKind::Input, 1, 4 * size},
               {BufferKind::Output, 0, 4 * size},
               {BufferKind::Arena, 0, 4 * size},
               {BufferKind::Arena, 64, 8}};
  a.arenaSize = 128;
  a.constants.clear();
  a.commands.clear();
  auto add = [&a](auto command, std::vector<uint32_t> wait = {}) { a.commands.push_back({command, std::move(wait)}); };
  add(Copy{{1, 0}, {3, 0}, 4 * size});
  uint32_t last = 0;
  if (trips != 0)
    add(Loop{3, trips, {}, {}}, {last++});
  const auto shifts = static_cast<uint32_t>(a.commands.size());
  add(Copy{{3, 0}, {2, 0}, 3 * size}, trips != 0 ? std::vector<uint32_t>() : std::vector<uint32_t>{0});
  add(Copy{{2, 0}, {3, size}, 3 * size}, {shifts});
  add(Copy{{0, 0}, {3, 0}, size}, {shifts + 1});
  add(Copy{{3, 0}, {2, 0}, 4 * size}, {trips != 0 ? last : shifts + 2});
  if (!a.kernels.empty())
    add(Launch{0, {{4, 0}, {4, 4}}, {1, 1, 1}, {}});
  return a;
}

/// The input of a sample.
inline std::vector<int32_t> sampleInput() {
  std::vector<int32_t> x(count);
  for (uint64_t i = 0; i < count; ++i)
    x[i] = static_cast<int32_t>(7 * i) - 100;
  return x;
}

/// Compares the outputs of a sample's run.
inline Status checkSample(Executor &executor) {
  std::vector<int32_t> y(count), w(count);
  int64_t z[2];
  ZYX_RETURN_IF_ERROR(executor.readOutput(0, std::as_writable_bytes(std::span(y))));
  ZYX_RETURN_IF_ERROR(executor.readOutput(1, std::as_writable_bytes(std::span(z))));
  ZYX_RETURN_IF_ERROR(executor.readOutput(2, std::as_writable_bytes(std::span(w))));
  const std::vector<int32_t> x = sampleInput();
  for (uint64_t i = 0; i < count; ++i)
    EXPECT_EQ(y[i], x[i] + 2);
  EXPECT_EQ(w, x);
  EXPECT_EQ(z[0], 0x100000008);
  EXPECT_EQ(z[1], 2);
  return Status::ok();
}

/// Runs a sample, and compares.
inline Status runSample(Executor &executor) {
  const std::vector<int32_t> x = sampleInput();
  ZYX_RETURN_IF_ERROR(executor.setInput(0, std::as_bytes(std::span(x))));
  ZYX_RETURN_IF_ERROR(executor.run());
  return checkSample(executor);
}

class CudaTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("ZYX_CUDA_DRIVER", ZYX_FAKE_CUDA, 1);
    setenv("ZYX_HIP_DRIVER", "/none/libamdhip64.so", 1);
    setenv("ZYX_OPENCL_DRIVER", "/none/libOpenCL.so.1", 1);
    setenv("ZYX_VULKAN_DRIVER", "/none/libvulkan.so.1", 1);
    void *library = dlopen(ZYX_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "zyxFakeCuda"))();
    reset = reinterpret_cast<void (*)()>(dlsym(library, "zyxFakeCudaReset"));
    holdRuns = reinterpret_cast<int (*)(int)>(dlsym(library, "zyxFakeCudaHoldRuns"));
    earlyWaits = reinterpret_cast<int (*)()>(dlsym(library, "zyxFakeCudaEarlyWaits"));
    allocationFaults = reinterpret_cast<int (*)()>(dlsym(library, "zyxFakeCudaAllocationFaults"));
    currentContext = reinterpret_cast<int (*)()>(dlsym(library, "zyxFakeCudaCurrent"));
    depthOfContexts = reinterpret_cast<int (*)()>(dlsym(library, "zyxFakeCudaDepth"));
    reset();
  }
  void TearDown() override { unsetenv("ZYX_CUDA_DRIVER"); }

  std::vector<int32_t> input() { return sampleInput(); }

  /// The first failure of a run from beginning to end.
  Status tryAll(Artifact artifact = sampleForCuda()) {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, createDevice("cuda"));
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, std::move(artifact)));
    return runSample(*executor);
  }

  Status check(Executor &executor) { return checkSample(executor); }

  /// Until the host waits for a run that is held back: all of it is handed over.
  void waitForRun() {
    while (holdRuns(-1) == 0)
      std::this_thread::yield();
  }

  void expectNothingLeft() {
    EXPECT_EQ(fake->allocations, 0);
    EXPECT_EQ(fake->pinned, 0);
    EXPECT_EQ(fake->modules, 0);
    EXPECT_EQ(fake->streams, 0);
    EXPECT_EQ(fake->events, 0);
    EXPECT_EQ(fake->contexts, 0);
    EXPECT_EQ(fake->graphs, 0);
    EXPECT_EQ(fake->pools, 0);
    EXPECT_EQ(fake->unordered, 0);
  }

  FakeCuda *fake = nullptr;
  void (*reset)() = nullptr;
  int (*holdRuns)(int areHeld) = nullptr;
  int (*earlyWaits)() = nullptr, (*allocationFaults)() = nullptr;
  int (*currentContext)() = nullptr, (*depthOfContexts)() = nullptr;
};

} // namespace zyx::test

#endif // ZYX_TEST_UNIT_RUNTIME_CUDATEST_H
