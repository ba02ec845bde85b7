//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TestArtifact.h"
#include "TestKernels.h"
#include "zyx/Runtime/Device.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sys/resource.h>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using testing::HasSubstr;

namespace {

#ifdef ZYX_WEBGPU
#define NO_WEBGPU "the library of WebGPU (ZYX_WEBGPU_DRIVER names it) cannot be opened: /none/libwgpu_native.so"
#else
#define NO_WEBGPU "a library of zyx cannot be opened: libZyxWebGPU.so"
#endif

/// The message of loading the sample after a change.
std::string refusal(const std::function<void(Artifact &)> &change) {
  auto device = createDevice("cpu", {.threads = 1});
  Artifact artifact = sampleArtifact(testKernels());
  change(artifact);
  Status status = (*device)->load(artifact).status();
  EXPECT_FALSE(status.isOk());
  EXPECT_EQ(status.device(), "cpu");
  EXPECT_EQ((*device)->pool()->usage().inUse, 0u);
  return status.message();
}

TEST(DeviceTest, ListsWhatIsPresentAndWhyNot) {
  // Whether or not this machine has a card.
  setenv("ZYX_CUDA_DRIVER", "/none/libcuda.so.1", 1);
  setenv("ZYX_HIP_DRIVER", "/none/libamdhip64.so", 1);
  setenv("ZYX_OPENCL_DRIVER", "/none/libOpenCL.so.1", 1);
  setenv("ZYX_VULKAN_DRIVER", "/none/libvulkan.so.1", 1);
  setenv("ZYX_WEBGPU_DRIVER", "/none/libwgpu_native.so", 1);
  for (const DeviceListing &listing : listDevices()) {
    auto device = createDevice(listing.name, {.threads = 1});
    EXPECT_EQ(device.isOk(), listing.present) << listing.name;
    if (listing.present) {
      EXPECT_EQ((*device)->name(), listing.name);
    } else {
      EXPECT_EQ(device.status().code(), listing.name == "tenstorrent" ? ErrorCode::Unsupported : ErrorCode::NotFound);
      EXPECT_EQ(device.status().message(), listing.description);
    }
  }
  std::string absent;
  for (const DeviceListing &listing : listDevices())
    if (!listing.present)
      absent += listing.description + "\n";
  EXPECT_EQ(absent,
            "NVIDIA's driver cannot be opened: /none/libcuda.so.1: cannot open shared object file: "
            "No such file or directory\n"
            "AMD's driver cannot be opened: /none/libamdhip64.so: cannot open shared object file: "
            "No such file or directory\n"
            "the loader of OpenCL cannot be opened: /none/libOpenCL.so.1: cannot open shared object file: "
            "No such file or directory\n"
            "the loader of Vulkan cannot be opened: /none/libvulkan.so.1: cannot open shared object file: "
            "No such file or directory\n" NO_WEBGPU ": cannot open shared object file: No such file or directory\n"
            "this build has no Tenstorrent device: no package has the compiler of its cores (sfpi)\n");
  EXPECT_EQ(createDevice("npu").status().message(),
            "no device 'npu'; known are cpu, c, cuda, hip, opencl, vulkan, webgpu");
}

TEST(DeviceTest, ListsFacts) {
  setenv("ZYX_CUDA_DRIVER", "/none/libcuda.so.1", 1);
  setenv("ZYX_HIP_DRIVER", "/none/libamdhip64.so", 1);
  setenv("ZYX_OPENCL_DRIVER", "/none/libOpenCL.so.1", 1);
  setenv("ZYX_VULKAN_DRIVER", "/none/libvulkan.so.1", 1);
  double flops = 0;
  for (const DeviceListing &listing : listDevices()) {
    const DeviceFacts &facts = listing.facts;
    if (!listing.present) {
      EXPECT_EQ(facts.target, "");
      continue;
    }
    EXPECT_EQ(facts.target, listing.name);
    EXPECT_THAT(facts.identity, HasSubstr(" threads"));
    EXPECT_GT(facts.processors, 0u);
    EXPECT_GE(facts.lanes, listing.name == "c" ? 1u : 4u);
    EXPECT_GT(facts.memoryBytes, uint64_t(1) << 20);
    ASSERT_TRUE(facts.freeBytes);
    EXPECT_LE(*facts.freeBytes, facts.memoryBytes);
    EXPECT_EQ(facts.dtypes.size(), size_t(numDTypes));
    if (listing.name == "cpu")
      flops = facts.flops();
    else
      EXPECT_LE(facts.flops(), flops);
  }
  // Of one that is open: its own threads and limit.
  auto device = createDevice("cpu", {.threads = 1, .memoryLimit = 1 << 20});
  ASSERT_TRUE(device);
  auto buffer = Buffer::allocate((*device)->pool(), 1 << 10);
  const DeviceFacts facts = (*device)->facts();
  EXPECT_EQ(facts.identity, (*device)->identity());
  EXPECT_EQ(facts.processors, 1u);
  EXPECT_EQ(facts.memoryBytes, 1u << 20);
  EXPECT_EQ(facts.freeBytes, (1u << 20) - (1u << 10));
}

TEST(DeviceTest, TakesTheFastestWithoutAName) {
  auto listing = [](const char *name, bool present, unsigned processors, unsigned megahertz) {
    DeviceListing listed;
    listed.name = name;
    listed.present = present;
    listed.facts.processors = processors;
    listed.facts.lanes = 4;
    listed.facts.megahertz = megahertz;
    return listed;
  };
  EXPECT_EQ(fastestDevice({}), "cpu");
  EXPECT_EQ(fastestDevice(std::vector{listing("a", false, 9, 9)}), "cpu");
  EXPECT_EQ(fastestDevice(std::vector{listing("a", true, 2, 9), listing("b", true, 3, 9), listing("c", true, 3, 9),
                                      listing("d", false, 4, 9)}),
            "b");
  // What does not tell its clock is behind those that do.
  EXPECT_EQ(fastestDevice(std::vector{listing("a", true, 99, 0), listing("b", true, 1, 1)}), "b");
  EXPECT_EQ(fastestDevice(std::vector{listing("a", true, 99, 0), listing("b", true, 100, 0)}), "a");
  setenv("ZYX_CUDA_DRIVER", "/none/libcuda.so.1", 1);
  setenv("ZYX_HIP_DRIVER", "/none/libamdhip64.so", 1);
  auto device = createDevice("", {.threads = 1});
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->name(), "cpu");
}

TEST(HostDeviceTest, LoadsManyProgramsAtOnce) {
  auto device = createDevice("c", {.threads = 1});
  ASSERT_TRUE(device.isOk());
  std::vector<std::shared_ptr<Program>> programs;
  // Descriptors are reused from load to load; each must still get its own code.
  for (int i = 0; i < 5; ++i) {
    auto program = (*device)->load(sampleArtifact(testKernels()));
    ASSERT_TRUE(program.isOk()) << program.status().toString();
    EXPECT_TRUE((*program)->artifact().constants.empty());
    EXPECT_EQ((*program)->constants().size(), 80u);
    EXPECT_EQ(&(*program)->device(), device->get());
    programs.push_back(*program);
  }
  EXPECT_EQ((*device)->pool()->usage().inUse, 400u);
}

TEST(HostDeviceTest, MeasuresAPeakThatAMachineCanHave) {
  const std::optional<Peak> peak = (*createDevice("cpu", {.threads = 1}))->measurePeak();
  ASSERT_TRUE(peak);
  // One core has at most two units of 32 elements at 8 GHz. A loop that the compiler dropped exceeds both limits by
  // far.
  EXPECT_GT(peak->flops, 1e6);
  EXPECT_LT(peak->flops, 1.1e12);
  EXPECT_GT(peak->bytes, 1e6);
  EXPECT_LT(peak->bytes, 4e12);
}

TEST(HostDeviceTest, RefusesWhatItCannotRun) {
  EXPECT_THAT(refusal([](Artifact &a) { a.target = "cuda"; }), HasSubstr("code for 'cuda' does not run on a host"));
  EXPECT_THAT(refusal([](Artifact &a) { a.code[0].format = "cubin"; }),
              HasSubstr("code of format 'cubin' is not known to a host"));
  EXPECT_THAT(refusal([](Artifact &a) { a.code[0].bytes.resize(10); }), HasSubstr("cannot load code: "));
  EXPECT_THAT(refusal([](Artifact &a) { a.kernels[0].symbol = "nothing"; }),
              HasSubstr("the code has no symbol 'nothing'"));
  EXPECT_THAT(refusal([](Artifact &a) { a.commands[0].wait = {9}; }), HasSubstr("waits for command 9"));
}

TEST(HostDeviceTest, ChecksCpuFeatures) {
  EXPECT_THAT(refusal([](Artifact &a) { a.cpuFeatures = {"warp-drive"}; }),
              HasSubstr("the code needs the CPU feature 'warp-drive', which zyx does not know"));
  auto device = createDevice("cpu", {.threads = 1});
  bool anyMissing = false;
  for (const char *feature : {"amx-fp16", "avx512vp2intersect", "avxvnni", "avx512fp16", "sha"}) {
    Artifact artifact = sampleArtifact(testKernels());
    artifact.cpuFeatures = {feature};
    auto program = (*device)->load(artifact);
    if (!program.isOk()) {
      anyMissing = true;
      EXPECT_EQ(program.status().message(),
                "the code needs the CPU feature '" + std::string(feature) + "', which this machine lacks");
    }
  }
  // All that is missing is named at once.
  Artifact artifact = sampleArtifact(testKernels());
  artifact.cpuFeatures = {"sse2", "neon", "i8mm"};
#if defined(__x86_64__)
  EXPECT_EQ((*device)->load(artifact).status().message(),
            "the code needs the CPU features 'neon', 'i8mm', which this machine lacks");
#endif
  if (!anyMissing)
    GTEST_SKIP() << "this machine has every feature";
}

#if defined(__x86_64__)
// Linux wants room for its registers on the stacks of signal handlers.
TEST(HostDeviceTest, TellsWhyTheMatrixUnitIsNotGranted) {
  const std::vector<std::string> features = hostCpuFeatures();
  if (std::find(features.begin(), features.end(), "amx-tile") == features.end())
    GTEST_SKIP() << "this machine has no matrix unit";
  const auto loadWithSmallStack = [] {
    static char memory[2048];
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = sizeof(memory);
    if (::sigaltstack(&stack, nullptr) != 0)
      std::exit(2);
    auto device = createDevice("cpu", {.threads = 1});
    Artifact artifact = sampleArtifact(testKernels());
    artifact.cpuFeatures = {"amx-tile"};
    const Status status = (*device)->load(artifact).status();
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::_Exit(status.isOk() ? 0 : 1);
  };
  EXPECT_EXIT(loadWithSmallStack(), testing::ExitedWithCode(1),
              "the code needs the CPU feature 'amx-tile', which Linux does not grant: No space left");
}

TEST(HostDeviceTest, AgreesWithTheCompilerOnCpuFeatures) {
  auto device = createDevice("cpu", {.threads = 1});
  auto loads = [&](const char *feature) {
    Artifact artifact = sampleArtifact(testKernels());
    artifact.cpuFeatures = {feature};
    return (*device)->load(artifact).isOk();
  };
  EXPECT_EQ(loads("sse2"), __builtin_cpu_supports("sse2") != 0);
  EXPECT_EQ(loads("sse4.2"), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(loads("avx"), __builtin_cpu_supports("avx") != 0);
  EXPECT_EQ(loads("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(loads("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(loads("bmi2"), __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(loads("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(loads("avx512bw"), __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(loads("avx512vl"), __builtin_cpu_supports("avx512vl") != 0);
  EXPECT_EQ(loads("avx512vnni"), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(loads("avx512bf16"), __builtin_cpu_supports("avx512bf16") != 0);
}
#endif

/// Lowers a limit of the process for as long as it lives.
class LowerLimit {
public:
  LowerLimit(int resource, rlim_t value) : resource(resource) {
    ::getrlimit(static_cast<__rlimit_resource>(resource), &before);
    rlimit lower = before;
    lower.rlim_cur = value;
    ::setrlimit(static_cast<__rlimit_resource>(resource), &lower);
  }
  ~LowerLimit() { ::setrlimit(static_cast<__rlimit_resource>(resource), &before); }

private:
  int resource;
  rlimit before;
};

TEST(HostDeviceTest, ReportsWhatTheSystemRefuses) {
  auto device = createDevice("cpu", {.threads = 1});
  const Artifact artifact = sampleArtifact(testKernels());
  {
    LowerLimit files(RLIMIT_NOFILE, 3);
    EXPECT_THAT((*device)->load(artifact).status().message(),
                HasSubstr("cannot create a file in memory: Too many open files"));
  }
  {
    std::signal(SIGXFSZ, SIG_IGN);
    LowerLimit size(RLIMIT_FSIZE, 0);
    EXPECT_THAT((*device)->load(artifact).status().message(), HasSubstr("cannot write code to memory: File too large"));
    std::signal(SIGXFSZ, SIG_DFL);
  }
  EXPECT_TRUE((*device)->load(artifact).isOk());
}

} // namespace
