//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The device on a driver that is not AMD's: what is told of it, memory, and what is refused. Kernels are in
// test/Tools/zyx-run/hip.test, where the compiler makes them.
//===----------------------------------------------------------------------===//
#include "CudaTest.h"

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::bytes;
using test::count;
using testing::HasSubstr;

namespace {

class HipDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("ZYX_HIP_DRIVER", ZYX_FAKE_HIP, 1);
    void *library = dlopen(ZYX_FAKE_HIP, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "zyxFakeCuda"))();
    reinterpret_cast<void (*)()>(dlsym(library, "zyxFakeCudaReset"))();
    fake->version = 60200000;
  }
  void TearDown() override {
    unsetenv("ZYX_HIP_DRIVER");
    unsetenv("FAKE_HIP_ARCHITECTURE");
  }

  /// What fills and copies do: two words that differ, through the arena.
  static Artifact withoutKernels() {
    Artifact a = test::sampleForCuda();
    a.target = "hip";
    a.cpuFeatures = {"gfx942"};
    a.code.clear();
    a.kernels.clear();
    a.outputs[1].type.shape = {125};
    a.buffers[2].size = 1000;
    a.commands = {{Fill{{2, 0}, 1000, 0x100000005, 8}, {}},
                  {Copy{{0, 0}, {4, 0}, bytes}, {}},
                  {Copy{{4, 0}, {1, 0}, bytes}, {1}},
                  {Copy{{0, 0}, {3, 0}, bytes}, {}}};
    return a;
  }
  FakeCuda *fake = nullptr;
};

TEST_F(HipDeviceTest, TellsWhatTheCardIs) {
  for (const auto &[architecture, threads] :
       {std::pair("gfx942", 64u), std::pair("gfx1100", 32u), std::pair("gfx1201", 32u)}) {
    setenv("FAKE_HIP_ARCHITECTURE", architecture, 1);
    auto device = createDevice("hip:0");
    ASSERT_TRUE(device) << device.status().toString();
    EXPECT_EQ((*device)->name(), "hip");
    const DeviceFacts facts = (*device)->facts();
    EXPECT_EQ(facts.target, architecture);
    EXPECT_EQ(facts.architecture, architecture);
    EXPECT_EQ(facts.subgroupThreads, threads);
    EXPECT_EQ(facts.workgroupThreads, 1024u);
    EXPECT_EQ(facts.sharedBytes, 64u << 10);
    EXPECT_EQ(facts.processors, 4u);
    EXPECT_EQ(facts.megahertz, 1980u);
    EXPECT_EQ(facts.identity, std::string("Fake card, ") + architecture + ", 1024 MiB, HIP 6.2");
    EXPECT_EQ((*device)->dlpackPlace().kind, 10);
  }
}

TEST_F(HipDeviceTest, FillsAndCopies) {
  auto device = createDevice("hip");
  ASSERT_TRUE(device) << device.status().toString();
  auto executor = Executor::create(*device, withoutKernels());
  ASSERT_TRUE(executor) << executor.status().toString();
  std::vector<int32_t> x(count), y(count);
  for (uint64_t i = 0; i < count; ++i)
    x[i] = static_cast<int32_t>(3 * i);
  ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
  const Status status = (*executor)->run();
  ASSERT_TRUE(status.isOk()) << status.toString();
  ASSERT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
  EXPECT_EQ(y, x);
  std::vector<int64_t> z(125);
  ASSERT_TRUE((*executor)->readOutput(1, std::as_writable_bytes(std::span(z))).isOk());
  EXPECT_THAT(z, testing::Each(0x100000005));
  executor->reset();
  device->reset();
  EXPECT_EQ(fake->allocations + fake->pinned + fake->streams + fake->events + fake->contexts + fake->pools, 0);
}

TEST_F(HipDeviceTest, RefusesWhatTheCardCannotRun) {
  auto device = createDevice("hip");
  ASSERT_TRUE(device) << device.status().toString();
  const auto refusal = [&](auto change) {
    Artifact a = withoutKernels();
    change(a);
    return Executor::create(*device, a).status().message();
  };
  EXPECT_EQ(refusal([](Artifact &a) { a.cpuFeatures = {"gfx1100"}; }),
            "code for gfx1100 does not run on Fake card, gfx942, 1024 MiB");
  EXPECT_EQ(refusal([](Artifact &a) { a.target = "cuda"; }), "code for 'cuda' does not run on a card of AMD's");
  EXPECT_EQ(refusal([](Artifact &a) { a.code = {{"ptx", std::vector<std::byte>(64)}}; }),
            "code of format 'ptx' is not known to a card of AMD's");
  EXPECT_THAT(refusal([](Artifact &a) { a.code = {{"hsaco", std::vector<std::byte>(64)}}; }),
              HasSubstr("cannot load code of format 'hsaco'"));
}

TEST_F(HipDeviceTest, RefusesOtherCardsAndOldDrivers) {
  setenv("FAKE_HIP_ARCHITECTURE", "gfx906", 1);
  EXPECT_EQ(createDevice("hip").status().message(),
            "Fake card, gfx906, 1024 MiB: code is made for gfx942, gfx1100 and gfx1201");
  EXPECT_EQ(createDevice("hip:3").status().message(), "there is no device 'hip:3': the driver has 1");
  EXPECT_EQ(createDevice("hip:x").status().message(), "'hip:x' names no card: a number follows the colon, as in hip:1");
  setenv("ZYX_HIP_DRIVER", "/none/libamdhip64.so", 1);
  EXPECT_THAT(createDevice("hip").status().message(), HasSubstr("AMD's driver cannot be opened: /none/libamdhip64.so"));
  setenv("ZYX_HIP_DRIVER", ZYX_FAKE_CUDA, 1);
  EXPECT_THAT(createDevice("hip").status().message(), HasSubstr("lacks the function hipInit"));
}

} // namespace
