//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The device on a loader that is ours: what is told of it, what is refused, and how calls fail. Kernels are executed by
// a real driver in the conformance suite.
//===----------------------------------------------------------------------===//
#include "../../fake-opencl/FakeOpenCL.h"
#include "CudaTest.h"

#include <map>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::count;
using testing::HasSubstr;

namespace {

class OpenCLDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("ZYX_OPENCL_DRIVER", ZYX_FAKE_OPENCL, 1);
    void *library = dlopen(ZYX_FAKE_OPENCL, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeOpenCL *(*)()>(dlsym(library, "zyxFakeOpenCL"))();
    *fake = {};
  }
  void TearDown() override { unsetenv("ZYX_OPENCL_DRIVER"); }

  static Artifact sample(std::string_view text = "increment") {
    Artifact artifact = test::sampleForCuda();
    artifact.target = "opencl";
    artifact.cpuFeatures.clear();
    const auto bytes = std::as_bytes(std::span(text));
    artifact.code = {{"opencl-c", {bytes.begin(), bytes.end()}}};
    return artifact;
  }
  /// Opens, loads, runs and compares.
  static Status tryAll(const DeviceOptions &options = {}) {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, createDevice("opencl", options));
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, sample()));
    ZYX_RETURN_IF_ERROR(test::runSample(*executor));
    ZYX_ASSIGN_OR_RETURN(const auto times, executor->profile());
    EXPECT_EQ(times[0].nanoseconds, 1000u);
    return Status::ok();
  }
  void expectNothingLeft() const {
    EXPECT_EQ(fake->contexts, 0);
    EXPECT_EQ(fake->queues, 0);
    EXPECT_EQ(fake->memories, 0);
    EXPECT_EQ(fake->programs, 0);
    EXPECT_EQ(fake->kernels, 0);
    EXPECT_EQ(fake->events, 0);
    EXPECT_EQ(fake->lists, 0);
  }
  static std::vector<DeviceListing> listed() {
    std::vector<DeviceListing> all = listDevices();
    std::erase_if(all, [](const DeviceListing &one) { return !one.name.starts_with("opencl"); });
    return all;
  }

  FakeOpenCL *fake = nullptr;
};

TEST_F(OpenCLDeviceTest, RunsAndGivesBack) {
  for (int run = 0; run < 2; ++run) {
    const Status status = tryAll();
    EXPECT_TRUE(status.isOk()) << status.toString();
    expectNothingLeft();
  }
}

TEST_F(OpenCLDeviceTest, SetsArgumentsThatChange) {
  auto device = createDevice("opencl");
  ASSERT_TRUE(device) << device.status().toString();
  Artifact artifact = sample();
  std::get<Launch>(artifact.commands[0].action).buffers = {{0, 0}, {1, 0}};
  artifact.commands.resize(1);
  auto executor = Executor::create(*device, artifact);
  ASSERT_TRUE(executor) << executor.status().toString();
  const std::vector<int32_t> x = test::sampleInput();
  const auto run = [&] {
    fake->argumentsSet = 0;
    ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
    const Status status = (*executor)->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    std::vector<int32_t> y(count);
    ASSERT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
    EXPECT_EQ(y[5], x[5] + 1);
  };
  run();
  EXPECT_EQ(fake->argumentsSet, 7);
  run();
  EXPECT_EQ(fake->argumentsSet, 0);
  // Memory that was given back may be named like what is allocated next.
  const auto bind = [&](const std::shared_ptr<runtime::Buffer> &buffer) {
    ASSERT_TRUE((*executor)->bindOutput(0, buffer).isOk());
  };
  const auto kept = *runtime::Buffer::allocate((*device)->pool(), test::bytes);
  for (int i = 0; i < 8; ++i) {
    bind(*runtime::Buffer::allocate((*device)->pool(), test::bytes));
    run();
    bind(kept);
  }
  executor->reset();
}

TEST_F(OpenCLDeviceTest, RecordsCommandsOnce) {
  for (const uint32_t version : {9U << 12 | 5, 1U << 22}) {
    *fake = {};
    fake->recordingVersion = version;
    auto device = createDevice("opencl");
    ASSERT_TRUE(device) << device.status().toString();
    auto executor = Executor::create(*device, sample());
    ASSERT_TRUE(executor) << executor.status().toString();
    for (int run = 0; run < 5; ++run) {
      const Status status = test::runSample(**executor);
      ASSERT_TRUE(status.isOk()) << status.toString();
    }
    const int lists = fake->lists;
    EXPECT_GT(lists, 0);
    EXPECT_EQ(fake->listsFinished, lists);
    EXPECT_GE(fake->listLaunches, 4 * lists);
    // Other memory is another list, in the place of the one before.
    ASSERT_TRUE((*executor)->bindOutput(0, *runtime::Buffer::allocate((*device)->pool(), test::bytes)).isOk());
    for (int run = 0; run < 2; ++run)
      EXPECT_TRUE(test::runSample(**executor).isOk());
    EXPECT_EQ(fake->lists, lists);
    EXPECT_EQ(fake->listsFinished, lists + 1);
    executor->reset();
    device->reset();
    expectNothingLeft();
  }
}

TEST_F(OpenCLDeviceTest, ListsMayBeChosen) {
  const auto listsOf = [&](uint64_t type, const char *choice) {
    *fake = {};
    fake->type = type;
    fake->recordingVersion = 1U << 22;
    if (choice)
      setenv("ZYX_OPENCL_GRAPHS", choice, 1);
    auto executor = Executor::create(*createDevice("opencl"), sample());
    unsetenv("ZYX_OPENCL_GRAPHS");
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(test::runSample(**executor).isOk());
    return fake->lists;
  };
  constexpr uint64_t processor = 2, card = 4;
  EXPECT_EQ(listsOf(processor, nullptr), 0);
  EXPECT_GT(listsOf(processor, "on"), 0);
  EXPECT_GT(listsOf(card, nullptr), 0);
  EXPECT_EQ(listsOf(card, "off"), 0);
  setenv("ZYX_OPENCL_GRAPHS", "yes", 1);
  EXPECT_EQ(createDevice("opencl").status().message(), "ZYX_OPENCL_GRAPHS is 'yes'; it may be on or off");
  unsetenv("ZYX_OPENCL_GRAPHS");
}

TEST_F(OpenCLDeviceTest, GoesOnWithoutLists) {
  const auto run = [&] {
    auto device = createDevice("opencl");
    ASSERT_TRUE(device) << device.status().toString();
    auto executor = Executor::create(*device, sample());
    ASSERT_TRUE(executor) << executor.status().toString();
    for (int i = 0; i < 3; ++i) {
      const Status status = test::runSample(**executor);
      EXPECT_TRUE(status.isOk()) << status.toString();
    }
  };
  // Copies and fills have had other parameters, too.
  for (const uint32_t version : {0U, 9U << 12 | 4}) {
    fake->recordingVersion = version;
    run();
    EXPECT_EQ(fake->listLaunches, 0);
  }
  for (const char *call : {"clCreateCommandBufferKHR", "clFinalizeCommandBufferKHR", "clEnqueueCommandBufferKHR",
                           "clCommandNDRangeKernelKHR", "clCommandCopyBufferKHR", "clCommandFillBufferKHR"})
    for (const int after : {1, 2, 3}) {
      *fake = {};
      fake->recordingVersion = 1U << 22;
      fake->failIn = call;
      fake->after = after;
      run();
      // A platform without the function has none of them.
      EXPECT_EQ(fake->listLaunches == 0, after == 1) << call;
      expectNothingLeft();
    }
  // A device that is lost is none that goes on.
  *fake = {};
  fake->recordingVersion = 1U << 22;
  auto device = createDevice("opencl");
  auto executor = Executor::create(*device, sample());
  EXPECT_TRUE(test::runSample(**executor).isOk());
  fake->failIn = "clEnqueueCommandBufferKHR";
  fake->failWith = -2;
  EXPECT_EQ(test::runSample(**executor).code(), ErrorCode::DeviceLost);
}

TEST_F(OpenCLDeviceTest, TellsWhatTheDevicesAre) {
  const std::vector<DeviceListing> all = listed();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "opencl");
  EXPECT_EQ(all[1].name, "opencl:1");
  EXPECT_EQ(all[1].description, "Other, OpenCL 1.2 fake, driver 7, 1024 MiB");
  auto device = createDevice("opencl:1");
  ASSERT_TRUE(device) << device.status().toString();
  const DeviceFacts facts = (*device)->facts();
  EXPECT_EQ(facts.target, "opencl");
  EXPECT_EQ(facts.identity, all[1].description);
  EXPECT_EQ(facts.processors, 4u);
  EXPECT_EQ(facts.workgroupThreads, 256u);
  EXPECT_EQ(facts.sharedBytes, 32u << 10);
  EXPECT_EQ(facts.dtypes.size(), allDTypes().size());
  // Nobody gets it without having asked for it.
  EXPECT_EQ(facts.flops(), 0);
  fake->doubles = 0;
  EXPECT_EQ(listed()[0].facts.dtypes.size(), allDTypes().size() - 1);
}

TEST_F(OpenCLDeviceTest, SubgroupsAreAnExtension) {
  Artifact needsThem = sample();
  needsThem.cpuFeatures = {"subgroups"};
  EXPECT_EQ(Executor::create(*createDevice("opencl"), needsThem).status().message(),
            "code that needs subgroups does not run on a device of OpenCL without");
  fake->extensions = "cl_khr_fp64 cl_khr_subgroups cl_khr_icd";
  EXPECT_EQ(listed()[0].facts.target, "opencl-subgroups");
  EXPECT_TRUE(Executor::create(*createDevice("opencl"), needsThem));
  // The record of processors has no workgroups, but they run kernels of others.
  fake->type = 2;
  EXPECT_EQ(listed()[0].facts.target, "opencl-cpu");
  EXPECT_TRUE(Executor::create(*createDevice("opencl"), needsThem));
}

TEST_F(OpenCLDeviceTest, SaysWhyThereIsNone) {
  fake->devices = 0;
  EXPECT_EQ(createDevice("opencl").status().message(), "no driver of OpenCL has a device");
  fake->platforms = 0;
  EXPECT_EQ(createDevice("opencl").status().message(), "no driver of OpenCL is installed (ICD)");
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_FALSE(listed()[0].present);
  EXPECT_EQ(listed()[0].description, "no driver of OpenCL is installed (ICD)");
  setenv("ZYX_OPENCL_DRIVER", "/none/libOpenCL.so.1", 1);
  EXPECT_THAT(createDevice("opencl").status().message(),
              HasSubstr("the loader of OpenCL cannot be opened: /none/libOpenCL.so.1"));
  setenv("ZYX_OPENCL_DRIVER", ZYX_FAKE_CUDA, 1);
  EXPECT_THAT(listed()[0].description, HasSubstr("lacks the function clGetPlatformIDs: OpenCL 1.2 is needed"));
}

TEST_F(OpenCLDeviceTest, RefusesDevices) {
  EXPECT_EQ(createDevice("opencl:2").status().message(), "there is no device 'opencl:2': OpenCL has 2");
  EXPECT_EQ(createDevice("opencl:x").status().message(),
            "'opencl:x' names no device: a number follows the colon, as in opencl:1");
  const auto refusal = [&](auto change) {
    *fake = {};
    change();
    EXPECT_FALSE(listed()[0].present);
    return createDevice("opencl").status().message();
  };
  EXPECT_THAT(refusal([&] { fake->version = "OpenCL 1.1 fake"; }), HasSubstr("1024 MiB: OpenCL 1.2 is needed"));
  EXPECT_THAT(refusal([&] { fake->compiler = 0; }),
              HasSubstr("it is not available, has no compiler, or stores the high byte first"));
  EXPECT_THAT(refusal([&] { fake->floats = 63; }), HasSubstr("it does not compute f32 as IEEE 754 says"));
}

TEST_F(OpenCLDeviceTest, RefusesCode) {
  auto device = createDevice("opencl");
  ASSERT_TRUE(device) << device.status().toString();
  const auto refusal = [&](auto change) {
    Artifact artifact = sample();
    change(artifact);
    return Executor::create(*device, artifact).status().message();
  };
  EXPECT_EQ(refusal([](Artifact &a) { a.target = "cuda"; }), "code for 'cuda' does not run on a device of OpenCL");
  EXPECT_EQ(refusal([](Artifact &a) { a.code[0].format = "ptx"; }),
            "code of format 'ptx' is not known to a device of OpenCL");
  EXPECT_EQ(refusal([](Artifact &a) { a = sample("wrong"); }),
            "cannot compile kernels on device 'opencl': CL_BUILD_PROGRAM_FAILURE: 1:1: error: that is wrong");
  EXPECT_THAT(Executor::create(*device, sample("wrong")).status().toString(), HasSubstr("in plus"));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].symbol = "decrement"; }),
              HasSubstr("cannot find kernel plus in its code: error -46"));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].groupThreads = 512; }),
              HasSubstr("kernel plus has workgroups of 512 threads, and device 'opencl' runs it with 256"));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].groupThreads = 64, a.kernels[0].sharedBytes = 40000; }),
              HasSubstr("kernel plus needs 40000 bytes of shared memory, and device 'opencl' has 32768"));
  device->reset();
  fake->doubles = 0;
  device = createDevice("opencl");
  EXPECT_THAT(refusal([](Artifact &a) { a = sample("#pragma OPENCL EXTENSION cl_khr_fp64 : enable"); }),
              HasSubstr("device 'opencl' has no f64, which the program computes with"));
  EXPECT_THAT(runtime::Buffer::allocate((*device)->pool(), 2 << 20).status().message(),
              HasSubstr("device 'opencl' allocates at most 1048576 bytes at once, and 2097152 are asked for"));
  device->reset();
  expectNothingLeft();
}

TEST_F(OpenCLDeviceTest, FewThreadsSuffice) {
  fake->groupThreads = 24;
  EXPECT_TRUE(tryAll().isOk());
  EXPECT_EQ(fake->launchedThreads, 16u);
}

TEST_F(OpenCLDeviceTest, AProcessorHasARecordOfItsOwn) {
  fake->type = 2;
  EXPECT_EQ((*createDevice("opencl"))->target(), "opencl-cpu");
  // Programs are work items by themselves: a few for each of the four processors.
  EXPECT_TRUE(tryAll().isOk());
  EXPECT_EQ(fake->launchedThreads, 1u);
  EXPECT_LE(fake->launchedAll, 32u);
}

TEST_F(OpenCLDeviceTest, EveryCallMayFail) {
  for (const char *call : {"clCreateContext", "clCreateCommandQueue", "clCreateBuffer", "clEnqueueMigrateMemObjects",
                           "clCreateProgramWithSource", "clBuildProgram", "clCreateKernel", "clSetKernelArg",
                           "clEnqueueNDRangeKernel", "clEnqueueFillBuffer", "clEnqueueCopyBuffer",
                           "clEnqueueWriteBuffer", "clEnqueueReadBuffer", "clFinish", "clEnqueueMarkerWithWaitList"})
    for (const int code : {-5, -2}) {
      *fake = {};
      fake->failIn = call;
      fake->failWith = code;
      const Status status = tryAll();
      EXPECT_FALSE(status.isOk()) << call;
      EXPECT_EQ(status.code() == ErrorCode::DeviceLost, code == -2 || std::string_view(call) == "clFinish")
          << call << ": " << status.toString();
      EXPECT_THAT(status.toString(), HasSubstr(code == -2 ? "CL_DEVICE_NOT_AVAILABLE" : "CL_OUT_OF_RESOURCES")) << call;
      // Memory of a device that is lost goes with its context.
      expectNothingLeft();
    }
}

TEST_F(OpenCLDeviceTest, KeepsWhatTheDriverMade) {
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
  EXPECT_EQ(fake->binaryBuilds, 0);
  EXPECT_TRUE(tryAll(options).isOk());
  EXPECT_EQ(fake->binaryBuilds, 1);
  EXPECT_EQ(fake->builds, 2);
  // Another version of the driver makes its own.
  fake->driver = "8";
  EXPECT_TRUE(tryAll(options).isOk());
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_EQ(fake->binaryBuilds, 1);
  // What the driver does not take any more is compiled again.
  for (auto &[key, code] : kept) {
    const auto wrong = std::as_bytes(std::span("wrong"));
    code = {wrong.begin(), wrong.end()};
  }
  EXPECT_TRUE(tryAll(options).isOk());
  EXPECT_EQ(fake->binaryBuilds, 2);
  expectNothingLeft();
}

} // namespace
