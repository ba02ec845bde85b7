//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PtxTest.h"

#include "../../fake-cuda/ptx/Profile.h"

#include <array>

using namespace zyx::test;
using zyx::ptx::Counts;

namespace {

/// What 64 workgroups of two warps do, of which `sample` are executed.
Counts countsOf(const std::string &body, unsigned sample = 0) {
  /// Two warps would share a sector between them in memory that is aligned to less.
  alignas(32) static std::array<uint32_t, 1 << 14> in, out;
  const std::unique_ptr<zyx::ptx::Module> module = zyx::ptx::load(kernel(body));
  Counts counts;
  zyx::ptx::Launch launch;
  launch.module = module.get();
  launch.program = &module->programs.front();
  launch.threads[0] = 64;
  launch.groups[0] = 64;
  launch.dynamicSharedBytes = 16384;
  launch.options.counts = &counts;
  launch.options.sample = sample;
  const uint64_t places[] = {reinterpret_cast<uint64_t>(in.data()), reinterpret_cast<uint64_t>(out.data())};
  launch.parameters.resize(16);
  std::memcpy(launch.parameters.data(), places, 16);
  launch.memory = {{places[0], places[0] + (4 << 14)}, {places[1], places[1] + (4 << 14)}};
  zyx::ptx::run(launch);
  return counts;
}

} // namespace

TEST(PtxProfile, NeighboursShareSectors) {
  const Counts counts = countsOf("ld.global.b32 %r2, [%rd3];");
  EXPECT_EQ(counts.groups, 64);
  EXPECT_EQ(counts.requests, 128);
  EXPECT_EQ(counts.sectors, 4 * counts.requests);
}

TEST(PtxProfile, EachLaneApartHasASectorOfItsOwn) {
  const Counts counts = countsOf("mul.wide.u32 %rd6, %r1, 128;\nadd.s64 %rd7, %rd1, %rd6;\nld.global.b32 %r2, [%rd7];");
  EXPECT_EQ(counts.sectors, 32 * counts.requests);
}

TEST(PtxProfile, TheSecondReadHits) {
  const Counts once = countsOf("ld.global.b32 %r2, [%rd3];");
  const Counts twice = countsOf("ld.global.b32 %r2, [%rd3];\nld.global.b32 %r3, [%rd3];");
  EXPECT_EQ(twice.sectors, 2 * once.sectors);
  EXPECT_EQ(twice.missed, once.missed);
  const Counts past =
      countsOf("ld.global.nc.L1::no_allocate.b32 %r2, [%rd3];\nld.global.nc.L1::no_allocate.b32 %r3, [%rd3];");
  EXPECT_EQ(past.missed, 2 * once.missed);
}

TEST(PtxProfile, BanksTakeTurns) {
  const Counts apart = countsOf("mov.b32 %r2, dynamic;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\n"
                                "st.shared.b32 [%r4], %r1;");
  EXPECT_EQ(apart.sharedWavefronts, apart.sharedRequests);
  const Counts same = countsOf("mov.b32 %r2, dynamic;\nshl.b32 %r3, %r1, 7;\nadd.s32 %r4, %r2, %r3;\n"
                               "st.shared.b32 [%r4], %r1;");
  EXPECT_EQ(same.sharedWavefronts, 32 * same.sharedRequests);
}

TEST(PtxProfile, SamplesCountForAll) {
  const Counts counts = countsOf("ld.global.b32 %r2, [%rd3];", 4);
  EXPECT_EQ(counts.groups, 4);
  EXPECT_EQ(counts.requests, 8);
}

TEST(PtxProfile, LongDivisionsCostMore) {
  const Counts narrow = countsOf("div.u32 %r2, %r1, 7;"), wide = countsOf("div.u64 %rd6, %rd5, 7;");
  EXPECT_GT(wide.issue, narrow.issue);
}
