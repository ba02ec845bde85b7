//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The device on a loader that is ours: what is told of it, what is refused, and how calls fail. Kernels are executed by
// a real driver in the conformance suite.
//===----------------------------------------------------------------------===//
#include "../../fake-vulkan/FakeVulkan.h"
#include "CudaTest.h"

#include <map>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::count;
using testing::HasSubstr;

namespace {

class VulkanDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("ZYX_VULKAN_DRIVER", ZYX_FAKE_VULKAN, 1);
    void *library = dlopen(ZYX_FAKE_VULKAN, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeVulkan *(*)()>(dlsym(library, "zyxFakeVulkan"))();
    *fake = {};
  }
  void TearDown() override {
    unsetenv("ZYX_VULKAN_DRIVER");
    EXPECT_EQ(fake->unordered, 0);
  }

  /// A module of no more than a header, what it needs, and the size of workgroups.
  static std::vector<uint32_t> words(std::vector<uint32_t> more = {}) {
    std::vector<uint32_t> all = {0x07230203, 0x10500, 0, 9, 0, 2u << 16 | 17, 1, 6u << 16 | 16, 4, 17, 64, 1, 1};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Artifact sample(const std::vector<uint32_t> &module = words()) {
    Artifact artifact = test::sampleForCuda();
    artifact.target = "vulkan";
    artifact.cpuFeatures.clear();
    const auto bytes = std::as_bytes(std::span(module));
    artifact.code = {{"spirv", {bytes.begin(), bytes.end()}}};
    return artifact;
  }
  /// Opens, loads, runs and compares.
  static Status tryAll(const DeviceOptions &options = {}) {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, createDevice("vulkan", options));
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, sample()));
    ZYX_RETURN_IF_ERROR(test::runSample(*executor));
    ZYX_ASSIGN_OR_RETURN(const auto times, executor->profile());
    EXPECT_EQ(times[0].nanoseconds, 1000u);
    return Status::ok();
  }
  void expectNothingLeft() const { EXPECT_EQ(fake->objects, 0); }
  static std::vector<DeviceListing> listed() {
    std::vector<DeviceListing> all = listDevices();
    std::erase_if(all, [](const DeviceListing &one) { return !one.name.starts_with("vulkan"); });
    return all;
  }

  FakeVulkan *fake = nullptr;
};

TEST_F(VulkanDeviceTest, RunsAndGivesBack) {
  for (int run = 0; run < 2; ++run) {
    const Status status = tryAll();
    EXPECT_TRUE(status.isOk()) << status.toString();
    expectNothingLeft();
  }
}

TEST_F(VulkanDeviceTest, TellsWhatTheDevicesAre) {
  const std::vector<DeviceListing> all = listed();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "vulkan");
  EXPECT_EQ(all[1].name, "vulkan:1");
  EXPECT_EQ(all[1].description, "Other, Vulkan 1.2, fake 7, 1024 MiB");
  auto device = createDevice("vulkan:1");
  ASSERT_TRUE(device) << device.status().toString();
  const DeviceFacts facts = (*device)->facts();
  EXPECT_EQ(facts.target, "vulkan");
  EXPECT_EQ(facts.identity, all[1].description);
  EXPECT_EQ(facts.workgroupThreads, 256u);
  EXPECT_EQ(facts.subgroupThreads, 8u);
  EXPECT_EQ(facts.sharedBytes, 32u << 10);
  EXPECT_EQ(facts.dtypes.size(), allDTypes().size());
  // Nobody gets it without having asked for it.
  EXPECT_EQ(facts.flops(), 0);
  for (const DeviceListing &one : listDefaultDevices())
    EXPECT_FALSE(one.name.starts_with("vulkan"));
  fake->hasSubgroups = true;
  EXPECT_EQ(listed()[0].facts.target, "vulkan-subgroups");
  fake->hasDoubles = false;
  EXPECT_EQ(listed()[0].facts.dtypes.size(), allDTypes().size() - 1);
  fake->hasSmallTypes = false;
  EXPECT_THAT(listed()[0].facts.dtypes,
              testing::ElementsAre(DType::I32, DType::I64, DType::U32, DType::U64, DType::F32));
}

TEST_F(VulkanDeviceTest, SaysWhyThereIsNone) {
  fake->devices = 0;
  EXPECT_EQ(createDevice("vulkan").status().message(), "no driver of Vulkan has a device");
  fake->failIn = "vkCreateInstance";
  fake->failWith = -9;
  EXPECT_EQ(createDevice("vulkan").status().message(), "no driver of Vulkan is installed (ICD)");
  fake->after = 1;
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_FALSE(listed()[0].present);
  fake->after = 1;
  fake->failWith = -3;
  EXPECT_EQ(createDevice("vulkan").status().message(), "cannot begin with Vulkan: ErrorInitializationFailed");
  setenv("ZYX_VULKAN_DRIVER", "/none/libvulkan.so.1", 1);
  EXPECT_THAT(createDevice("vulkan").status().message(),
              HasSubstr("the loader of Vulkan cannot be opened: /none/libvulkan.so.1"));
  setenv("ZYX_VULKAN_DRIVER", ZYX_FAKE_CUDA, 1);
  EXPECT_THAT(listed()[0].description, HasSubstr("lacks the function vkAllocateCommandBuffers: Vulkan 1.2 is needed"));
  expectNothingLeft();
}

TEST_F(VulkanDeviceTest, RefusesDevices) {
  EXPECT_EQ(createDevice("vulkan:2").status().message(), "there is no device 'vulkan:2': Vulkan has 2");
  EXPECT_EQ(createDevice("vulkan:x").status().message(),
            "'vulkan:x' names no device: a number follows the colon, as in vulkan:1");
  const auto refusal = [&](auto change) {
    *fake = {};
    change();
    EXPECT_FALSE(listed()[0].present);
    return createDevice("vulkan").status().message();
  };
  EXPECT_THAT(refusal([&] { fake->minorVersion = 1; }), HasSubstr("it has Vulkan 1.1, and 1.2 is needed"));
  EXPECT_THAT(refusal([&] { fake->computes = false; }), HasSubstr("it has no queue that computes"));
  EXPECT_THAT(refusal([&] { fake->hasAddresses = false; }),
              HasSubstr("shaderInt64, bufferDeviceAddress, timelineSemaphore and vulkanMemoryModel are needed"));
  EXPECT_THAT(refusal([&] { fake->rounds = false; }), HasSubstr("it may drop infinity and NaN of f32"));
  expectNothingLeft();
}

TEST_F(VulkanDeviceTest, RefusesCode) {
  auto device = createDevice("vulkan");
  ASSERT_TRUE(device) << device.status().toString();
  const auto refusal = [&](auto change) {
    Artifact artifact = sample();
    change(artifact);
    return Executor::create(*device, artifact).status().message();
  };
  EXPECT_EQ(refusal([](Artifact &a) { a.target = "cuda"; }), "code for 'cuda' does not run on a device of Vulkan");
  EXPECT_EQ(refusal([](Artifact &a) { a.code[0].format = "ptx"; }),
            "code of format 'ptx' is not known to a device of Vulkan");
  EXPECT_EQ(refusal([](Artifact &a) { a.code[0].bytes.resize(3); }), "code of kernels is no SPIR-V");
  EXPECT_EQ(refusal([](Artifact &a) { a.code[0].bytes[0] = std::byte(0); }), "code of kernels is no SPIR-V");
  EXPECT_EQ(refusal([](Artifact &a) { a.code[0].bytes.resize(a.code[0].bytes.size() - 4); }),
            "the SPIR-V of kernels is cut");
  EXPECT_EQ(refusal([](Artifact &a) { a = sample(words({0})); }), "the SPIR-V of kernels is cut");
  EXPECT_EQ(refusal([](Artifact &a) { a.cpuFeatures = {"subgroups"}; }),
            "code that needs subgroups does not run on a device of Vulkan without");
  EXPECT_EQ(refusal([](Artifact &a) { a = sample(words({2u << 16 | 5, 0xbad0bad0})); }),
            "cannot compile kernel plus on device 'vulkan': ErrorInvalidShaderNV");
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].groupThreads = 512; }),
              HasSubstr("kernel plus has workgroups of 512 threads, and device 'vulkan' runs it with 256"));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].groupThreads = 64, a.kernels[0].sharedBytes = 40000; }),
              HasSubstr("kernel plus needs 40000 bytes of shared memory, and device 'vulkan' has 32768"));
  device->reset();
  fake->hasDoubles = false;
  fake->largestBytes = 1 << 20;
  device = createDevice("vulkan");
  EXPECT_THAT(refusal([](Artifact &a) { a = sample(words({2u << 16 | 17, 10})); }),
              HasSubstr("device 'vulkan' has no f64, which the program computes with"));
  EXPECT_THAT(runtime::Buffer::allocate((*device)->pool(), 2 << 20).status().message(),
              HasSubstr("device 'vulkan' allocates at most 1048576 bytes at once, and 2097152 are asked for"));
  device->reset();
  expectNothingLeft();
}

TEST_F(VulkanDeviceTest, AsksForDenormalsWhereTheyAreKept) {
  const std::vector<uint32_t> module = words({2u << 16 | 17, 4464, 4u << 16 | 16, 4, 4459, 32, 2u << 16 | 17, 10});
  for (const bool keeps : {true, false}) {
    *fake = {};
    fake->keepsDenormals = keeps;
    auto device = createDevice("vulkan");
    ASSERT_TRUE(device) << device.status().toString();
    const auto executor = Executor::create(*device, sample(module));
    ASSERT_TRUE(executor) << executor.status().toString();
    EXPECT_EQ(fake->module, keeps ? module : words({2u << 16 | 17, 10}));
  }
  expectNothingLeft();
}

TEST_F(VulkanDeviceTest, AllocatesFewAndLarge) {
  auto device = createDevice("vulkan");
  ASSERT_TRUE(device) << device.status().toString();
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;
  for (int i = 0; i < 200; ++i)
    buffers.push_back(*runtime::Buffer::allocate((*device)->pool(), 1000 + 100 * i));
  EXPECT_EQ(fake->allocations, 1);
  // What is given back is given again, together with its neighbours.
  for (int i = 0; i < 200; i += 2)
    buffers[i].reset();
  for (int i = 1; i < 200; i += 2)
    buffers[i].reset();
  buffers = {*runtime::Buffer::allocate((*device)->pool(), 60 << 20)};
  EXPECT_EQ(fake->allocations, 1);
  buffers.push_back(*runtime::Buffer::allocate((*device)->pool(), 100 << 20));
  EXPECT_EQ(fake->allocations, 2);
  buffers.clear();
  device->reset();
  expectNothingLeft();
}

TEST_F(VulkanDeviceTest, RecordsCommandsOnce) {
  auto device = createDevice("vulkan");
  ASSERT_TRUE(device) << device.status().toString();
  auto executor = Executor::create(*device, sample());
  ASSERT_TRUE(executor) << executor.status().toString();
  const std::vector<int32_t> x = test::sampleInput();
  int recorded = 0;
  const auto run = [&] {
    fake->commands = 0;
    ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
    ASSERT_TRUE((*executor)->run().isOk());
    EXPECT_TRUE(test::checkSample(**executor).isOk());
    recorded = fake->commands;
  };
  run();
  const int byOne = recorded;
  run();
  // From the second run on what is not part of a graph is recorded alone: copies of inputs and results, and the loop.
  for (int i = 0; i < 6; ++i) {
    run();
    EXPECT_LT(recorded, byOne);
    const int before = recorded;
    // Outputs elsewhere are written into commands again.
    auto other = runtime::Buffer::allocate((*device)->pool(), test::bytes);
    ASSERT_TRUE(other) << other.status().toString();
    ASSERT_TRUE((*executor)->bindOutput(0, *other).isOk());
    run();
    EXPECT_GT(recorded, before);
    EXPECT_LE(recorded, byOne);
  }
  executor->reset();
  device->reset();
  expectNothingLeft();
}

TEST_F(VulkanDeviceTest, TakesAQueueWithoutGraphics) {
  ASSERT_TRUE(tryAll().isOk());
  EXPECT_EQ(fake->queueFamily, 0u);
  fake->hasOwnQueue = true;
  ASSERT_TRUE(tryAll().isOk());
  EXPECT_EQ(fake->queueFamily, 1u);
}

TEST_F(VulkanDeviceTest, HasBarriersInFrontOfTheHostWhereItReads) {
  auto device = createDevice("vulkan");
  ASSERT_TRUE(device) << device.status().toString();
  auto executor = Executor::create(*device, sample());
  ASSERT_TRUE(executor) << executor.status().toString();
  const std::vector<int32_t> x = test::sampleInput();
  ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE((*executor)->run().isOk());
  const int before = fake->hostBarriers;
  EXPECT_TRUE(test::checkSample(**executor).isOk());
  EXPECT_GT(fake->hostBarriers, before);
}

TEST_F(VulkanDeviceTest, RecordsASingleCommandOnce) {
  Artifact artifact = sample();
  artifact.commands.resize(1);
  auto device = createDevice("vulkan");
  ASSERT_TRUE(device) << device.status().toString();
  auto executor = Executor::create(*device, artifact);
  ASSERT_TRUE(executor) << executor.status().toString();
  const std::vector<int32_t> x = test::sampleInput();
  ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
  std::vector<int> recorded;
  for (int run = 0; run < 4; ++run) {
    fake->commands = fake->launches = 0;
    ASSERT_TRUE((*executor)->run().isOk());
    EXPECT_EQ(fake->launches, 1);
    recorded.push_back(fake->commands);
  }
  EXPECT_GT(recorded[0], 0);
  EXPECT_GT(recorded[1], 0);
  EXPECT_EQ(recorded[2], 0);
  EXPECT_EQ(recorded[3], 0);
}

TEST_F(VulkanDeviceTest, GoesOnWithoutGraphs) {
  for (const char *call : {"vkBeginCommandBuffer", "vkEndCommandBuffer", "vkAllocateCommandBuffers", "vkQueueSubmit"})
    for (int after = 1; after < 8; ++after) {
      *fake = {};
      auto device = createDevice("vulkan");
      ASSERT_TRUE(device) << device.status().toString();
      auto executor = Executor::create(*device, sample());
      ASSERT_TRUE(executor) << executor.status().toString();
      ASSERT_TRUE(test::runSample(**executor).isOk());
      fake->failIn = call;
      fake->after = after;
      // No run is right whose commands were lost.
      int failures = 0;
      for (int run = 0; run < 4; ++run)
        failures += !test::runSample(**executor).isOk();
      EXPECT_LE(failures, 1) << call << ' ' << after;
      executor->reset();
      device->reset();
      expectNothingLeft();
    }
}

TEST_F(VulkanDeviceTest, FewGroupsSuffice) {
  fake->mostGroups = 1;
  EXPECT_TRUE(tryAll().isOk());
}

TEST_F(VulkanDeviceTest, RefusesTooManyArguments) {
  Artifact artifact = sample();
  constexpr uint32_t most = (64 << 10) / sizeof(uint64_t);
  artifact.kernels[0].numBuffers = most;
  std::get<Launch>(artifact.commands[0].action).buffers.assign(most, {0, 0});
  std::get<Launch>(artifact.commands[0].action).buffers.back() = {4, 0};
  artifact.commands.resize(1);
  auto device = createDevice("vulkan");
  ASSERT_TRUE(device) << device.status().toString();
  EXPECT_THAT(Executor::create(*device, artifact).status().toString(),
              HasSubstr("kernel plus has 8192 arguments, and device 'vulkan' has room for 8188"));
}

TEST_F(VulkanDeviceTest, EveryCallMayFail) {
  for (const char *call :
       {"vkCreateDevice", "vkCreatePipelineLayout", "vkCreateCommandPool", "vkCreateSemaphore", "vkCreateBuffer",
        "vkAllocateMemory", "vkBindBufferMemory", "vkMapMemory", "vkCreateShaderModule", "vkCreateComputePipelines",
        "vkAllocateCommandBuffers", "vkBeginCommandBuffer", "vkEndCommandBuffer", "vkQueueSubmit", "vkWaitSemaphores",
        "vkGetSemaphoreCounterValue", "vkCreateQueryPool", "vkGetQueryPoolResults"})
    for (const int code : {-13, -4}) {
      *fake = {};
      fake->isSlow = std::string_view(call) == "vkWaitSemaphores";
      fake->failIn = call;
      fake->failWith = code;
      const Status status = tryAll();
      EXPECT_FALSE(status.isOk()) << call;
      EXPECT_EQ(status.code() == ErrorCode::DeviceLost, code == -4) << call << ": " << status.toString();
      EXPECT_THAT(status.toString(), HasSubstr(code == -4 ? "ErrorDeviceLost" : "ErrorUnknown")) << call;
      // Memory of a device that is lost goes with it.
      expectNothingLeft();
    }
}

TEST_F(VulkanDeviceTest, MessagesOfLayersAreErrors) {
  const std::pair<const char *, const char *> calls[] = {
      {"vkCreateComputePipelines", "cannot compile kernel plus on device 'vulkan': VUID-fake: this is wrong"},
      {"vkCmdDispatch", "kernel plus: VUID-fake: this is wrong"},
      {"vkQueueSubmit", "VUID-fake: this is wrong"}};
  for (const auto &[call, text] : calls) {
    *fake = {};
    fake->wrongIn = call;
    const Status status = tryAll();
    EXPECT_EQ(status.code(), ErrorCode::Internal) << call;
    EXPECT_THAT(status.message(), testing::EndsWith(text));
    expectNothingLeft();
    // Nobody listens.
    fake->failIn = "vkCreateDebugUtilsMessengerEXT";
    EXPECT_TRUE(tryAll().isOk()) << call;
    fake->hasMessages = false;
    EXPECT_TRUE(tryAll().isOk()) << call;
    expectNothingLeft();
  }
}

TEST_F(VulkanDeviceTest, AnErrorOfALayerIsToldOnce) {
  auto device = createDevice("vulkan");
  ASSERT_TRUE(device) << device.status().toString();
  auto executor = Executor::create(*device, sample());
  ASSERT_TRUE(executor) << executor.status().toString();
  fake->wrongIn = "vkQueueSubmit";
  EXPECT_FALSE(test::runSample(**executor).isOk());
  fake->wrongIn = nullptr;
  EXPECT_TRUE(test::runSample(**executor).isOk());
}

TEST_F(VulkanDeviceTest, KeepsWhatTheDriverMade) {
  std::map<std::string, std::vector<std::byte>> kept;
  DeviceOptions options;
  options.codeCache = std::make_shared<CodeCache>(CodeCache{
      [&](const std::string &key) {
        const auto found = kept.find(key);
        return found == kept.end() ? std::nullopt : std::optional(found->second);
      },
      [&](const std::string &key, std::span<const std::byte> code) { kept[key] = {code.begin(), code.end()}; }});
  EXPECT_TRUE(tryAll(options).isOk());
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(fake->keptPipelines, 0);
  EXPECT_TRUE(tryAll(options).isOk());
  EXPECT_EQ(fake->keptPipelines, 1);
  // Another version of the driver makes its own.
  fake->driverVersion = 8;
  EXPECT_TRUE(tryAll(options).isOk());
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_EQ(fake->keptPipelines, 1);
  // Without a cache of the driver's, and with data that it does not know, pipelines are made.
  fake->failIn = "vkCreatePipelineCache";
  EXPECT_TRUE(tryAll(options).isOk());
  for (auto &[key, code] : kept)
    code.resize(1);
  EXPECT_TRUE(tryAll(options).isOk());
  EXPECT_EQ(fake->keptPipelines, 1);
  expectNothingLeft();
}

} // namespace
