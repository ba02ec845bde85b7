//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Info/TargetInfo.h"

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
    if (name != "cpu") {
      EXPECT_TRUE(keys.insert(info->cacheKey()).second) << name;
    }
  }
}

TEST(TargetInfo, UnknownNameListsTheRecords) {
  Status failure = lookUpTarget("z80").status();
  EXPECT_EQ(failure.code(), ErrorCode::NotFound);
  EXPECT_EQ(failure.message(),
            "no target is named 'z80'; there are cpu, x86-64, x86-64-v2, x86-64-v3, "
            "x86-64-v4, znver4, sapphirerapids, aarch64, c, cuda, sm_75, sm_80, sm_86, sm_89, sm_90a, "
            "sm_90a-fast");
}

TEST(TargetInfo, InstructionSetsAreRecordsOfTheCpu) {
  for (const std::string &isa : isaNames()) {
    Result<TargetInfo> info = lookUpTarget("cpu", isa);
    ASSERT_TRUE(info) << info.status().toString();
    EXPECT_EQ(info->name, isa == "native" ? "cpu" : isa);
    EXPECT_EQ(info->device, "cpu");
    EXPECT_FALSE(info->requiredFeatures.empty()) << isa;
  }
  EXPECT_FALSE(lookUpTarget("cpu", "x86-64")->hasFma);
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

#if defined(__x86_64__)
TEST(TargetInfo, HostHasWhatItRequires) {
  TargetInfo host = *lookUpTarget("cpu");
  EXPECT_GE(host.vectorBytes, 16);
  EXPECT_GT(host.l1Bytes, 0);
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(host.vectorBytes == 64, wide);
}
#endif
