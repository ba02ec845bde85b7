//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Info/Fields.h"

#include "gtest/gtest.h"

#include <sched.h>

#include <set>

using namespace zyx;
using namespace zyx::target;

TEST(TargetInfo, EveryNameHasARecord) {
  std::set<std::string> keys;
  for (const std::string &name : targetNames()) {
    Result<TargetInfo> info = lookUpTarget(name);
    ASSERT_TRUE(info) << info.status().toString();
    EXPECT_EQ(info->name, name);
    EXPECT_FALSE(info->device.empty());
    // Of the languages WGSL alone knows memory by one type.
    EXPECT_EQ(info->memory.isTyped, info->device == "webgpu") << name;
    if (name != "cpu") {
      EXPECT_TRUE(keys.insert(info->cacheKey()).second) << name;
    }
  }
}

TEST(TargetInfo, WhatADriverCompilesIsFusedUpToAFewBuffers) {
  for (const std::string &name : targetNames()) {
    const TargetInfo info = *lookUpTarget(name);
    const bool isDrivers = info.device == "opencl" || info.device == "vulkan" || info.device == "webgpu";
    EXPECT_EQ(info.simt.mostFusedBuffers(), info.device == "webgpu" ? 8 : isDrivers ? 32 : 0) << name;
    // What is fused is not what is refused.
    EXPECT_EQ(info.simt.maxBuffers, info.device == "webgpu" ? 8 : 0) << name;
  }
  SimtFacts facts;
  facts.maxBuffers = 40, facts.fusedBuffers = 32;
  EXPECT_EQ(facts.mostFusedBuffers(), 32);
}

TEST(TargetInfo, SubgroupsAreOfTheDriver) {
  for (const std::string &name : targetNames())
    EXPECT_EQ(lookUpTarget(name)->simt.hasSubgroupOps, name.ends_with("-subgroups")) << name;
  EXPECT_EQ(lookUpTarget("vulkan-subgroups")->device, "vulkan");
  EXPECT_NE(lookUpTarget("vulkan-subgroups")->cacheKey(), lookUpTarget("vulkan")->cacheKey());
}

TEST(TargetInfo, EveryRecordSaysItsRates) {
  for (const std::string &name : targetNames()) {
    const TargetInfo info = *lookUpTarget(name);
    EXPECT_GT(info.costs.megahertz, 0) << name;
    EXPECT_GT(info.costs.launchCycles, 0) << name;
    EXPECT_GT(info.costs.memoryBytesPerCycle, 0) << name;
    EXPECT_GT(info.costs.cacheBytesPerCycle, 0) << name;
    EXPECT_GT(info.opsPerCycle(), 0) << name;
    if (info.hasSubgroups()) {
      EXPECT_GT(info.costs.threadProductsPerCycle, 0) << name;
      EXPECT_GT(info.costs.threadF32ProductsPerCycle, 0) << name;
      EXPECT_GT(info.costs.sharedLatencyCycles, 0) << name;
      EXPECT_GT(info.costs.workgroupBarrierCycles, 0) << name;
    } else {
      EXPECT_GT(info.costs.laneProductsPerCycle, 0) << name;
    }
    if (info.simt.clusterSize > 1) {
      EXPECT_GT(info.costs.clusterLatencyCycles, info.costs.workgroupBarrierCycles) << name;
    }
    // Epilogues of products are loops where their code would not be kept.
    if (info.hasTensorCores()) {
      EXPECT_GT(info.memory.instructionBytes, 0) << name;
      EXPECT_GT(info.memory.codeBytes, info.memory.instructionBytes) << name;
      EXPECT_GT(info.costs.codeBytesPerCycle, 0) << name;
    }
  }
}

TEST(TargetInfo, UnknownNameListsTheRecords) {
  Status failure = lookUpTarget("z80").status();
  EXPECT_EQ(failure.code(), ErrorCode::NotFound);
  EXPECT_EQ(failure.message(),
            "no target is named 'z80'; there are cpu, x86-64, x86-64-v2, x86-64-v3, "
            "x86-64-v4, znver4, sapphirerapids, aarch64, c, cuda, sm_75, sm_80, sm_86, sm_89, sm_90a, "
            "sm_90a-fast, gfx942, gfx1100, gfx1201, opencl, opencl-subgroups, vulkan, vulkan-subgroups, "
            "webgpu, webgpu-subgroups, opencl-cpu");
}

TEST(TargetInfo, OpenCLHasProcessors) {
  const TargetInfo info = *lookUpTarget("opencl-x86-64-v4"), its = *lookUpTarget("x86-64-v4");
  EXPECT_EQ(info.name, "opencl-x86-64-v4");
  EXPECT_EQ(info.device, "opencl");
  EXPECT_EQ(info.vector.bytes, its.vector.bytes);
  EXPECT_EQ(info.vector.registers, its.vector.registers);
  EXPECT_TRUE(info.requiredFeatures.empty());
  EXPECT_TRUE(lookUpTarget("opencl-sapphirerapids")->matrix.instructions.empty());
  EXPECT_EQ(lookUpTarget("opencl-cpu")->cores, lookUpTarget("cpu")->cores);
  for (const char *name : {"opencl-", "opencl-c", "opencl-sm_80", "opencl-opencl", "opencl-z80"})
    EXPECT_EQ(lookUpTarget(name).status().code(), ErrorCode::NotFound) << name;
}

TEST(TargetInfo, InstructionSetsAreRecordsOfTheCpu) {
  for (const std::string &isa : isaNames()) {
    Result<TargetInfo> info = lookUpTarget("cpu", isa);
    ASSERT_TRUE(info) << info.status().toString();
    EXPECT_EQ(info->name, isa == "native" ? "cpu" : isa);
    EXPECT_EQ(info->device, "cpu");
    EXPECT_FALSE(info->requiredFeatures.empty()) << isa;
  }
  EXPECT_FALSE(lookUpTarget("cpu", "x86-64")->arithmetic.hasFma);
  EXPECT_EQ(lookUpTarget("cpu", "z80").status().message(),
            "no instruction set is named 'z80'; there are native, x86-64, x86-64-v2, x86-64-v3, "
            "x86-64-v4, znver4, sapphirerapids, aarch64");
  EXPECT_EQ(lookUpTarget("c", "x86-64").status().message(),
            "target 'c' has no instruction set 'x86-64'; only 'cpu' has one");
}

TEST(TargetInfo, LanesFollowTheVector) {
  EXPECT_EQ(lookUpTarget("x86-64-v4")->lanes(4), 16);
  EXPECT_EQ(lookUpTarget("x86-64-v3")->lanes(8), 4);
  EXPECT_EQ(lookUpTarget("c")->lanes(4), 1);
  TargetInfo info;
  info.features = {"avx2", "fma"};
  EXPECT_EQ(info.featureString(), "+avx2,+fma");
}

TEST(TargetInfo, TheHostHasTheCoresThatTheProcessMayUse) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &all))
      CPU_SET(i, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(lookUpTarget("cpu")->cores, 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

namespace {

/// Stands for a member of any type where an aggregate is initialised.
struct AnyMember {
  template <typename Type> operator Type() const;
};

/// How many members an aggregate has, its base included: as many as it can be initialised with.
template <typename Aggregate, typename... Members> constexpr size_t countMembers() {
  if constexpr (requires { Aggregate{Members{}..., AnyMember{}}; })
    return countMembers<Aggregate, Members..., AnyMember>();
  else
    return sizeof...(Members);
}

template <typename Group> constexpr size_t countFields() {
  return std::tuple_size_v<std::remove_const_t<decltype(fieldsOf<Group>)>>;
}

/// Another value of a field.
void change(std::string &field) { field += "x"; }
void change(bool &field) { field = !field; }
void change(int &field) { ++field; }
void change(int64_t &field) { ++field; }
void change(double &field) { field += 0.125; }
void change(TargetKind &field) { field = field == TargetKind::CPU ? TargetKind::C : TargetKind::CPU; }
void change(CopyEngine &field) { field = field == CopyEngine::None ? CopyEngine::Boxes : CopyEngine::None; }
void change(MatrixType &field) { field = field == MatrixType::F16 ? MatrixType::I8 : MatrixType::F16; }
void change(OperandSource &field) {
  field = field == OperandSource::Shared ? OperandSource::Registers : OperandSource::Shared;
}
template <typename Element> void change(std::vector<Element> &field) { field.emplace_back(); }

} // namespace

TEST(TargetInfo, TheVisitorHasAllFieldsOfEachGroup) {
  EXPECT_EQ(countMembers<Identity>(), countFields<Identity>());
  EXPECT_EQ(countMembers<MatrixInstruction>(), countFields<MatrixInstruction>());
  // The identity is the base of a record, and the groups are its members.
  EXPECT_EQ(countMembers<TargetInfo>(), 1 + std::tuple_size_v<std::remove_const_t<decltype(groups)>>);
  std::apply(
      [](auto... group) {
        (
            [&] {
              using Group = std::remove_cvref_t<decltype(std::declval<TargetInfo>().*group.member)>;
              EXPECT_EQ(countMembers<Group>(), countFields<Group>()) << group.name;
            }(),
            ...);
      },
      groups);
}

TEST(TargetInfo, EachFieldIsInTheKeyAndInTheText) {
  TargetInfo before = *lookUpTarget("sm_90a");
  size_t numFields = 0;
  forEachField(before, [&](const char *, const char *, auto &) { ++numFields; });
  for (size_t i = 0; i < numFields; ++i) {
    TargetInfo after = before;
    size_t index = 0;
    std::string name;
    forEachField(after, [&](const char *group, const char *field, auto &value) {
      if (index++ == i) {
        name = std::string(group) + "." + field;
        change(value);
      }
    });
    EXPECT_NE(after.toString(), before.toString()) << name;
    // Another name for the same machine makes no other code.
    EXPECT_EQ(after.cacheKey() == before.cacheKey(), name == "identity.name") << name;
  }
}

TEST(TargetInfo, EachFieldOfAnInstructionIsInTheKey) {
  TargetInfo before = *lookUpTarget("sm_90a");
  size_t numFields = countFields<MatrixInstruction>();
  for (size_t i = 0; i < numFields; ++i) {
    TargetInfo after = before;
    size_t index = 0;
    std::string name;
    forEachFieldOf(after.matrix.instructions.front(), [&](const char *field, auto &value) {
      if (index++ == i) {
        name = field;
        change(value);
      }
    });
    EXPECT_NE(after.cacheKey(), before.cacheKey()) << name;
  }
}

TEST(TargetInfo, TextHasALineForEachField) {
  const std::string text = lookUpTarget("sm_80")->toString();
  EXPECT_NE(text.find("identity.name: sm_80\n"), std::string::npos) << text;
  EXPECT_NE(text.find("identity.requiredFeatures: [sm_80]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("simt.subgroupSize: 32\n"), std::string::npos) << text;
  EXPECT_NE(text.find("copies.engine: per thread\n"), std::string::npos) << text;
  EXPECT_NE(text.find("sharedProducts.readCycles: 0.90000000000000002\n"), std::string::npos) << text;
  EXPECT_NE(text.find("name=mma.m16n8k8.tf32 m=16 n=8 k=8 threads=32 factors=tf32 sums=f32 lhs=registers "
                      "rhs=registers isAsync=0"),
            std::string::npos)
      << text;
}

TEST(TargetInfo, FactsFollowTheTableOfInstructions) {
  struct Expected {
    const char *name;
    bool bf16Dots, i8Dots, tileRegisters, tensorCores, tensorTiles, asyncCopies;
    int64_t depthOfF16, depthOfBf16;
  };
  for (const Expected &expected : {Expected{"x86-64-v4", false, false, false, false, false, false, 0, 0},
                                   Expected{"znver4", true, true, false, false, false, false, 0, 0},
                                   Expected{"sapphirerapids", true, true, true, false, false, false, 0, 0},
                                   Expected{"c", false, false, false, false, false, false, 0, 0},
                                   Expected{"sm_75", false, false, false, true, false, false, 8, 0},
                                   Expected{"sm_80", false, false, false, true, false, true, 16, 16},
                                   Expected{"sm_90a", false, false, false, true, true, true, 16, 16},
                                   Expected{"gfx942", false, false, false, false, false, false, 0, 0}}) {
    const TargetInfo info = *lookUpTarget(expected.name);
    EXPECT_EQ(info.hasBf16Dots(), expected.bf16Dots) << expected.name;
    EXPECT_EQ(info.hasI8Dots(), expected.i8Dots) << expected.name;
    EXPECT_EQ(info.hasTileRegisters(), expected.tileRegisters) << expected.name;
    EXPECT_EQ(info.hasTensorCores(), expected.tensorCores) << expected.name;
    EXPECT_EQ(info.hasTensorTiles(), expected.tensorTiles) << expected.name;
    EXPECT_EQ(info.hasAsyncCopies(), expected.asyncCopies) << expected.name;
    auto depthOf = [&](MatrixType type) {
      const MatrixInstruction *found = info.findSubgroupProduct(type);
      return found ? found->k : 0;
    };
    EXPECT_EQ(depthOf(MatrixType::F16), expected.depthOfF16) << expected.name;
    EXPECT_EQ(depthOf(MatrixType::BF16), expected.depthOfBf16) << expected.name;
    // Each instruction's rates are known.
    EXPECT_EQ(info.costs.matrixProductsPerCycle != 0, !info.matrix.instructions.empty()) << expected.name;
  }
}

TEST(TargetInfo, GpusOfAmdHaveWavesOfTheirWidth) {
  for (const auto &[name, threads] : {std::pair("gfx942", 64), std::pair("gfx1100", 32), std::pair("gfx1201", 32)}) {
    const TargetInfo info = *lookUpTarget(name);
    EXPECT_EQ(info.simt.subgroupSize, threads) << name;
    EXPECT_EQ(info.simt.sharedBytes, 64 << 10) << name;
    // What a driver would keep for every thread is not asked for.
    EXPECT_EQ(info.memory.privateBytes, 0) << name;
    EXPECT_EQ(info.device, "hip") << name;
  }
}

TEST(TargetInfo, ACpuHasRoomOnItsStackThatSchedulesDoNotTake) {
  for (const char *name : {"cpu", "x86-64-v3", "sapphirerapids", "aarch64"}) {
    const TargetInfo info = *lookUpTarget(name);
    EXPECT_EQ(info.memory.stackBytes, 4 << 20) << name;
    EXPECT_LT(info.memory.privateBytes, info.memory.stackBytes) << name;
  }
  const TargetInfo card = *lookUpTarget("sm_80");
  EXPECT_EQ(card.memory.stackBytes, card.memory.privateBytes);
}

#if defined(__x86_64__)
TEST(TargetInfo, HostHasWhatItRequires) {
  TargetInfo host = *lookUpTarget("cpu");
  EXPECT_GE(host.vector.bytes, 16);
  EXPECT_GT(host.memory.l1Bytes, 0);
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(host.vector.bytes == 64, wide);
}
#endif
