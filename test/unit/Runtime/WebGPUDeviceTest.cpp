//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Devices of WebGPU on a library that is ours: what is told of its adapters, what is refused, and how calls fail.
// Kernels are executed by a real library in the conformance suite.
//===----------------------------------------------------------------------===//
#include "../../fake-webgpu/FakeWebGPU.h"
#include "CudaTest.h"

#include "../../../lib/Runtime/Devices/Stream/Bundled.h"

#include <cstring>
#include <numeric>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::count;
using testing::HasSubstr;

namespace {

class WebGPUDeviceTest : public testing::Test {
protected:
  void SetUp() override { use(ZYX_FAKE_WEBGPU); }
  void use(const char *file) {
    setenv("ZYX_WEBGPU_DRIVER", file, 1);
    void *library = dlopen(file, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeWebGPU *(*)()>(dlsym(library, "zyxFakeWebGPU"))();
    *fake = {};
  }
  void TearDown() override {
    unsetenv("ZYX_WEBGPU_DRIVER");
    unsetenv("ZYX_WEBGPU_POWER_PREFERENCE");
  }

  static Artifact sample(std::string_view text = "increment") {
    Artifact artifact = test::sampleForCuda();
    artifact.target = "webgpu";
    artifact.cpuFeatures.clear();
    const auto bytes = std::as_bytes(std::span(text));
    artifact.code = {{"wgsl", {bytes.begin(), bytes.end()}}};
    return artifact;
  }
  /// Opens, loads, runs and compares.
  static Status tryAll(const Artifact &artifact = sample()) {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, createDevice("webgpu"));
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, artifact));
    ZYX_RETURN_IF_ERROR(test::runSample(*executor));
    return executor->profile().status();
  }
  void expectNothingLeft() const {
    EXPECT_EQ(fake->devices, 0);
    EXPECT_EQ(fake->buffers, 0);
    EXPECT_EQ(fake->shaders, 0);
    EXPECT_EQ(fake->layouts, 0);
    EXPECT_EQ(fake->pipelines, 0);
    EXPECT_EQ(fake->bindGroups, 0);
    EXPECT_EQ(fake->encoders, 0);
    EXPECT_EQ(fake->commandBuffers, 0);
    EXPECT_EQ(fake->panics, 0);
    EXPECT_EQ(fake->heldAdapters, 0);
    EXPECT_EQ(fake->instances, 0);
  }
  static std::vector<DeviceListing> listed() {
    std::vector<DeviceListing> all = listDevices();
    std::erase_if(all, [](const DeviceListing &one) { return !one.name.starts_with("webgpu"); });
    return all;
  }

  void copyAndFillBytes();

  /// Has a call fail in each way at its first times, with a device that begins as `fresh`.
  void failEachTime(const char *call, int times, const FakeWebGPU &fresh) {
    for (const uint32_t with : {2u, 3u, 0u})
      for (int after = 1; after <= times; ++after) {
        *fake = fresh;
        fake->failIn = call;
        fake->failWith = with;
        fake->after = after;
        const Status status = tryAll();
        // Memory of programs is asked for again.
        const bool wasCalled = fake->after <= 0 && !(std::string_view(call) == "wgpuDeviceCreateBuffer" && with == 3);
        EXPECT_EQ(status.isOk(), !wasCalled) << call << ' ' << with << ' ' << after << ' ' << status.toString();
        if (wasCalled && with == 0)
          EXPECT_THAT(status.toString(), HasSubstr("the device is lost: pulled out")) << call << after;
        expectNothingLeft();
      }
  }

  FakeWebGPU *fake = nullptr;
};

// WebGPU copies whole words alone. Bytes that lie beside what is written stay as they are.
void WebGPUDeviceTest::copyAndFillBytes() {
  auto device = createDevice("webgpu");
  ASSERT_TRUE(device) << device.status().toString();
  using Bytes = std::vector<std::byte>;
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64}) {
    const auto size = static_cast<size_t>(byteSize(dtype));
    auto executor = Executor::create(*device, test::history("webgpu", dtype), {{1, 0}});
    ASSERT_TRUE(executor) << executor.status().toString();
    const auto past = *runtime::Buffer::allocate((*device)->pool(), 4 * size);
    Bytes expected(4 * size), read(4 * size);
    ASSERT_TRUE(past->write(expected).isOk());
    ASSERT_TRUE((*executor)->bindInput(1, past).isOk());
    ASSERT_TRUE((*executor)->bindOutput(0, past).isOk());
    for (int run = 1; run <= 6; ++run) {
      const Bytes number(size, std::byte(37 * run));
      ASSERT_TRUE((*executor)->setInput(0, number).isOk());
      const Status status = (*executor)->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      std::memmove(expected.data() + size, expected.data(), 3 * size);
      std::memcpy(expected.data(), number.data(), size);
      ASSERT_TRUE(past->read(read).isOk());
      EXPECT_EQ(read, expected) << toString(dtype) << ", run " << run;
    }
  }
  // All beginnings and lengths: a pattern, a copy to another buffer, and one within it.
  Artifact artifact = sample();
  artifact.inputs.clear();
  artifact.outputs = {{"x", {DType::U8, {32}}}, {"y", {DType::U8, {32}}}};
  artifact.buffers = {{BufferKind::Output, 0, 32}, {BufferKind::Output, 1, 32}};
  artifact.constants.clear();
  artifact.code.clear();
  artifact.kernels.clear();
  for (uint64_t begin = 0; begin < 9; ++begin)
    for (uint64_t bytes = 1; bytes < 12; ++bytes) {
      const uint8_t width = bytes % 8 == 0 ? 8 : bytes % 2 == 0 ? 2 : 1;
      const uint64_t pattern = 0x0807060504030201 & (~uint64_t(0) >> (64 - 8 * width));
      artifact.commands = {{Fill{{0, 0}, 32, 0x11, 1}, {}},
                           {Fill{{0, begin}, bytes, pattern, width}, {0}},
                           {Copy{{0, 0}, {1, 0}, 32}, {1}},
                           {Copy{{0, begin}, {1, 20 - bytes}, bytes}, {2}},
                           {Copy{{1, 20 - bytes}, {1, 20}, bytes}, {3}}};
      std::vector<uint8_t> x(32, 0x11);
      for (uint64_t i = 0; i < bytes; ++i)
        x[begin + i] = static_cast<uint8_t>(1 + i % width);
      std::vector<uint8_t> y = x, readX(32), readY(32);
      for (uint64_t i = 0; i < bytes; ++i)
        y[20 - bytes + i] = y[20 + i] = x[begin + i];
      auto executor = Executor::create(*device, artifact);
      ASSERT_TRUE(executor) << executor.status().toString();
      const Status status = (*executor)->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      ASSERT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(readX))).isOk());
      ASSERT_TRUE((*executor)->readOutput(1, std::as_writable_bytes(std::span(readY))).isOk());
      EXPECT_EQ(readX, x) << begin << ", " << bytes;
      EXPECT_EQ(readY, y) << begin << ", " << bytes;
    }
  device->reset();
  expectNothingLeft();
}

TEST_F(WebGPUDeviceTest, RunsAndGivesBack) {
  for (int run = 0; run < 2; ++run) {
    const Status status = tryAll();
    EXPECT_TRUE(status.isOk()) << status.toString();
    EXPECT_GT(fake->dispatches, 0);
    expectNothingLeft();
  }
}

TEST_F(WebGPUDeviceTest, AsksForSubgroupsWhereThereAreSome) {
  fake->hasSubgroups = true;
  EXPECT_EQ(listed()[0].facts.target, "webgpu-subgroups");
  const Status status = tryAll();
  EXPECT_TRUE(status.isOk()) << status.toString();
  expectNothingLeft();
}

TEST_F(WebGPUDeviceTest, TellsWhatTheAdaptersAre) {
  const auto identities = [] {
    std::vector<std::string> all;
    for (const DeviceListing &one : listed())
      all.push_back(one.facts.identity);
    return all;
  };
  const std::string processor = "Processor, driver 7, wgpu-native 29, a processor",
                    card = "Card, driver 7, wgpu-native 29", laptop = "Laptop, driver 7, wgpu-native 29";
  EXPECT_THAT(identities(), testing::ElementsAre(card, laptop, processor));
  setenv("ZYX_WEBGPU_POWER_PREFERENCE", "low-power", 1);
  EXPECT_THAT(identities(), testing::ElementsAre(laptop, card, processor));
  EXPECT_EQ(listed()[2].name, "webgpu:2");
  setenv("ZYX_WEBGPU_POWER_PREFERENCE", "lowpower", 1);
  EXPECT_EQ(createDevice("webgpu").status().message(),
            "ZYX_WEBGPU_POWER_PREFERENCE is low-power or high-performance, not lowpower");
  setenv("ZYX_WEBGPU_POWER_PREFERENCE", "high-performance", 1);
  EXPECT_THAT(identities(), testing::ElementsAre(card, laptop, processor));
  setenv("ZYX_WEBGPU_POWER_PREFERENCE", "low-power", 1);
  auto device = createDevice("webgpu:2");
  ASSERT_TRUE(device) << device.status().toString();
  const DeviceFacts facts = (*device)->facts();
  EXPECT_EQ(facts.target, "webgpu");
  EXPECT_EQ(facts.identity, processor);
  EXPECT_EQ(facts.workgroupThreads, 256u);
  EXPECT_EQ(facts.sharedBytes, 16384u);
  // Nobody gets it without having asked for it.
  EXPECT_EQ(facts.flops(), 0);
}

TEST_F(WebGPUDeviceTest, SaysWhyThereIsNone) {
  EXPECT_EQ(createDevice("webgpu:3").status().message(), "there is no device 'webgpu:3': WebGPU has 3");
  const std::string none = "no driver of Vulkan, Metal or DX12 has an adapter for WebGPU";
  fake->backend = 1;
  EXPECT_EQ(createDevice("webgpu").status().message(), none);
  *fake = {.adapters = 0};
  EXPECT_EQ(createDevice("webgpu").status().message(), none);
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_FALSE(listed()[0].present);
  EXPECT_EQ(listed()[0].description, none);
  *fake = {.storageAlignment = 256};
  EXPECT_EQ(
      createDevice("webgpu").status().message(),
      "Card, driver 7, wgpu-native 29: it binds buffers from multiples of 256 bytes; zyx has them at multiples of 64");
  *fake = {.immediateBytes = 60};
  EXPECT_EQ(listed()[0].description,
            "Card, driver 7, wgpu-native 29: a launch gives kernels 60 bytes of numbers, and 64 are needed");
  *fake = {.hasOtherStructs = true};
  EXPECT_EQ(listed()[0].description,
            "Card, driver 7, wgpu-native 29: the library has other structs than the headers of wgpu-native 29");
  setenv("ZYX_WEBGPU_DRIVER", "/none/libwgpu_native.so", 1);
  EXPECT_THAT(createDevice("webgpu").status().message(),
              HasSubstr("the library of WebGPU (ZYX_WEBGPU_DRIVER names it) cannot be opened: /none/"));
  setenv("ZYX_WEBGPU_DRIVER", ZYX_FAKE_CUDA, 1);
  EXPECT_THAT(listed()[0].description,
              HasSubstr("lacks the function wgpuAdapterGetInfo: wgpu-native 29, or Dawn, is needed"));
}

// Of a name of its own: a library that could be opened stays open.
TEST_F(WebGPUDeviceTest, RefusesLibraries) {
  const std::string file = ZYX_FAKE_WEBGPU, folder = file.substr(0, file.rfind('/'));
  setenv("ZYX_WEBGPU_DRIVER", (folder + "/." + file.substr(file.rfind('/'))).c_str(), 1);
  fake->version = 28;
  EXPECT_THAT(createDevice("webgpu").status().message(),
              HasSubstr("the library of WebGPU is wgpu-native 28, and this zyx calls version 29"));
  *fake = {.hasInstance = false};
  EXPECT_EQ(createDevice("webgpu").status().message(), "wgpu-native 29 gives no instance");
  *fake = {};
  EXPECT_TRUE(createDevice("webgpu"));
}

TEST_F(WebGPUDeviceTest, RefusesCode) {
  auto device = createDevice("webgpu");
  ASSERT_TRUE(device) << device.status().toString();
  const auto refusal = [&](auto change) {
    Artifact artifact = sample();
    change(artifact);
    return Executor::create(*device, artifact).status().message();
  };
  EXPECT_EQ(refusal([](Artifact &a) { a.target = "cuda"; }), "code for 'cuda' does not run on a device of WebGPU");
  EXPECT_THAT(refusal([](Artifact &a) { a.code[0].format = "ptx"; }),
              HasSubstr("code of format 'ptx' is not known to a device of WebGPU"));
  EXPECT_THAT(refusal([](Artifact &a) { a = sample("wrong"); }),
              HasSubstr("cannot compile kernels: 1:1: error: that is wrong"));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].symbol = "decrement"; }),
              HasSubstr("cannot compile kernel plus: there is no entry point k_decrement"));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].groupThreads = 512; }),
              HasSubstr("kernel plus has workgroups of 512 threads, and device 'webgpu' runs it with 256"));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].groupThreads = 64, a.kernels[0].sharedBytes = 40000; }),
              HasSubstr("kernel plus needs 40000 bytes of shared memory, and device 'webgpu' has 16384"));
  EXPECT_THAT(runtime::Buffer::allocate((*device)->pool(), 2 << 20).status().message(),
              HasSubstr("device 'webgpu' allocates at most 1048576 bytes at once, and 2097152 are asked for"));
  device->reset();
  *fake = {.storageBuffers = 1};
  EXPECT_THAT(tryAll().message(), HasSubstr("kernel plus has 2 buffers, and device 'webgpu' binds 1"));
  expectNothingLeft();
}

TEST_F(WebGPUDeviceTest, RefusesLaunches) {
  const auto refusal = [&](auto change) {
    Artifact artifact = sample();
    change(artifact);
    return tryAll(artifact).message();
  };
  EXPECT_THAT(refusal([](Artifact &a) {
                a.kernels[0].numScalars = 31;
                for (Command &command : a.commands)
                  if (auto *launch = std::get_if<Launch>(&command.action))
                    launch->scalars.resize(31);
              }),
              HasSubstr("kernel plus has 31 scalars, and device 'webgpu' has room for 30"));
  EXPECT_THAT(refusal([](Artifact &a) {
                a.kernels[0].numScalars = 1;
                for (Command &command : a.commands)
                  if (auto *launch = std::get_if<Launch>(&command.action))
                    launch->scalars = {int64_t(1) << 31};
              }),
              HasSubstr("kernel plus gets the number 2147483648, which has more than 32 bits"));
  EXPECT_THAT(refusal([](Artifact &a) { a.commands[1] = {Launch{0, {{4, 4}, {1, 0}}, {count - 1, 1, 1}, {}}, {0}}; }),
              HasSubstr("cannot bind the buffers of kernel plus: offset 68 is no multiple of 64"));
  EXPECT_THAT(
      refusal([](Artifact &a) { a.commands[0] = {Launch{0, {{0, 0}, {4, 0}}, {1 << 11, 1 << 11, 1 << 11}, {}}, {}}; }),
      HasSubstr("kernel plus has 8589934592 programs, more than numbers of 32 bits count"));
  expectNothingLeft();
}

TEST_F(WebGPUDeviceTest, CopiesAndFillsBytes) { copyAndFillBytes(); }

TEST_F(WebGPUDeviceTest, EveryCallMayFail) {
  fake->failIn = "wgpuAdapterRequestDevice";
  EXPECT_EQ(createDevice("webgpu").status().message(),
            "Card, driver 7, wgpu-native 29 gives no device: limits are too high");
  for (const char *call :
       {"wgpuDeviceCreateBuffer", "wgpuDeviceCreateBindGroupLayout", "wgpuDeviceCreatePipelineLayout",
        "wgpuDeviceCreateShaderModuleTrusted", "wgpuDeviceCreateComputePipeline", "wgpuDeviceCreateBindGroup",
        "wgpuCommandEncoderCopyBufferToBuffer", "wgpuComputePassEncoderDispatchWorkgroups", "wgpuCommandEncoderFinish",
        "wgpuQueueWriteBuffer", "wgpuQueueSubmitForIndex", "wgpuBufferMapAsync", "wgpuDevicePoll"})
    failEachTime(call, 4, {});
}

class DawnDeviceTest : public WebGPUDeviceTest {
  void SetUp() override {
    use(ZYX_FAKE_DAWN);
    *fake = {.immediateBytes = 64};
  }
};

TEST_F(DawnDeviceTest, RunsAndGivesBack) {
  for (const bool hasSubgroups : {false, true}) {
    fake->hasSubgroups = hasSubgroups;
    const std::vector<DeviceListing> all = listed();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].facts.identity, "Card, driver 7, Dawn");
    EXPECT_EQ(all[1].facts.identity, "Laptop, driver 7, Dawn");
    EXPECT_EQ(all[0].facts.target, hasSubgroups ? "webgpu-subgroups" : "webgpu");
    const Status status = tryAll();
    EXPECT_TRUE(status.isOk()) << status.toString();
    EXPECT_GT(fake->dispatches, 0);
    expectNothingLeft();
  }
  // The one that there is, is found by both preferences.
  fake->adapters = 1;
  EXPECT_EQ(listed().size(), 1u);
  fake->adapters = 0;
  EXPECT_EQ(createDevice("webgpu").status().message(), "no driver of Vulkan, Metal or DX12 has an adapter for WebGPU");
  fake->hasInstance = false;
  EXPECT_EQ(createDevice("webgpu").status().message(), "Dawn gives no instance");
  *fake = {.hasOtherStructs = true};
  EXPECT_EQ(createDevice("webgpu").status().message(),
            "Card, driver 7, Dawn: the library has other structs than the headers of wgpu-native 29");
}

// A launch has room for 14 scalars there.
TEST_F(DawnDeviceTest, RefusesScalars) {
  Artifact artifact = sample();
  artifact.kernels[0].numScalars = 15;
  for (Command &command : artifact.commands)
    if (auto *launch = std::get_if<Launch>(&command.action))
      launch->scalars.resize(15);
  EXPECT_THAT(tryAll(artifact).message(), HasSubstr("kernel plus has 15 scalars, and device 'webgpu' has room for 14"));
  expectNothingLeft();
}

// It lets no kernel have a byte by two names: what is only read is copied, and only where it is not apart.
TEST_F(DawnDeviceTest, CopiesWhatAKernelHasTwice) {
  Artifact artifact = sample();
  const uint64_t bytes = 4 * count;
  artifact.kernels[0].bufferBytes = {bytes, bytes};
  auto device = createDevice("webgpu");
  ASSERT_TRUE(device) << device.status().toString();
  artifact.constants.clear();
  artifact.inputs = {{"x", {DType::I32, {count}}}};
  artifact.outputs = {{"y", {DType::I32, {count}}}};
  artifact.buffers = {{BufferKind::Input, 0, bytes}, {BufferKind::Output, 0, bytes}};
  artifact.commands = {{Launch{0, {{0, 0}, {1, 0}}, {count, 1, 1}, {}}, {}}};
  ASSERT_TRUE(artifact.verify().isOk()) << artifact.verify().toString();
  auto executor = Executor::create(*device, artifact, {{0, 0}});
  ASSERT_TRUE(executor) << executor.status().toString();
  const auto memory = *runtime::Buffer::allocate((*device)->pool(), bytes);
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 7);
  ASSERT_TRUE(memory->write(std::as_bytes(std::span(values))).isOk());
  ASSERT_TRUE((*executor)->bindInput(0, memory).isOk());
  ASSERT_TRUE((*executor)->bindOutput(0, memory).isOk());
  for (int run = 1; run <= 3; ++run) {
    const Status status = (*executor)->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    std::vector<int32_t> read(count);
    ASSERT_TRUE(memory->read(std::as_writable_bytes(std::span(read))).isOk());
    for (size_t i = 0; i < read.size(); ++i)
      ASSERT_EQ(read[i], values[i] + run) << run << ", " << i;
  }
}

TEST_F(DawnDeviceTest, CopiesAndFillsBytes) { copyAndFillBytes(); }

TEST_F(DawnDeviceTest, EveryCallMayFail) {
  for (const char *call : {"wgpuDeviceCreateBuffer", "wgpuDeviceCreateShaderModule", "wgpuDeviceCreateComputePipeline",
                           "wgpuCommandEncoderFinish", "wgpuQueueSubmit", "wgpuBufferMapAsync", "wgpuInstanceWaitAny"})
    failEachTime(call, 3, {.immediateBytes = 64});
}

TEST_F(WebGPUDeviceTest, RefusesObjectsThatAreNone) {
  fake->failIn = "wgpuDeviceCreateBindGroupLayout";
  fake->failWith = 1;
  EXPECT_THAT(tryAll().message(), HasSubstr("cannot lay out kernel bytes: nothing was made"));
  expectNothingLeft();
}

// Only a library of the same build has the classes that the runtime has.
TEST_F(WebGPUDeviceTest, ALibraryBesideTheRuntimeIsOfItsVersion) {
  EXPECT_TRUE(findBundled(ZYX_WEBGPU));
  EXPECT_THAT(findBundled("libZyxNone.so").status().message(),
              HasSubstr("a library of zyx cannot be opened: libZyxNone"));
  EXPECT_THAT(findBundled(ZYX_FAKE_CUDA).status().message(), HasSubstr("lacks the function zyxBundledDevices"));
  EXPECT_THAT(findBundled(ZYX_FAKE_WEBGPU).status().message(), HasSubstr("is of zyx 0.0.0, this program of "));
}

// The answer to a download that ended because the device was lost comes when its call and the device are gone.
TEST_F(WebGPUDeviceTest, ALateAnswerOfALostDeviceComesToNothing) {
  fake->failIn = "wgpuDevicePoll";
  fake->failWith = 0;
  fake->answersLate = true;
  int answers = 0;
  for (int after = 1; after <= 4; ++after) {
    fake->after = after;
    const Status status = tryAll();
    EXPECT_THAT(status.toString(), HasSubstr("the device is lost: pulled out")) << after;
    EXPECT_EQ(fake->lateAnswers, answers) << after;
    (void)listed();
    answers = fake->lateAnswers;
    expectNothingLeft();
  }
  EXPECT_GT(answers, 0);
}

} // namespace
