//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PtxTest.h"

#include "../../fake-cuda/ptx/TensorMap.h"

using namespace zyx::test;
using testing::HasSubstr;

namespace {

/// What the kernel reads: a tensor map in front, and elements.
struct Source {
  alignas(128) uint8_t map[128];
  uint32_t elements[4096];
};

/// Waits for bytes at a barrier that the first thread makes, and writes shared memory from 1024 bytes behind it on.
std::string loadBox(const std::string &copy, unsigned bytes, bool waits = true) {
  return kernel("mov.b32 %r2, dynamic;\nadd.s32 %r3, %r2, 1024;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra "
                "READY;\nmbarrier.init.shared.b64 [%r2], 1;\nfence.mbarrier_init.release.cluster;\n"
                "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], " +
                std::to_string(bytes) + ";\nmov.b32 %r10, 3;\nmov.b32 %r11, -1;\nmov.b32 %r12, 1;\nmov.b16 %rs1, 2;\n" +
                copy + "\nREADY:\nbar.sync 0;\n" +
                (waits ? "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra WAIT;\n" : "") +
                "mov.b32 %r4, 0;\nNEXT:\nshl.b32 %r5, %r4, 7;\nshl.b32 %r6, %r1, 2;\nadd.s32 %r7, %r5, %r6;\nadd.s32 "
                "%r8, %r7, %r3;\nld.shared.b32 %r9, [%r8];\ncvt.u64.u32 %rd6, %r7;\n"
                "add.s64 %rd7, %rd2, %rd6;\nst.global.b32 [%rd7], %r9;\nadd.s32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, " +
                std::to_string(bytes / 128) + ";\n@%p3 bra NEXT;");
}

std::vector<uint32_t> load(const std::string &text, zyx::ptx::TensorMap map, unsigned words, uint64_t seed = 0) {
  static Source source;
  for (uint32_t i = 0; i < 4096; ++i)
    source.elements[i] = i;
  map.address = reinterpret_cast<uint64_t>(source.elements);
  zyx::ptx::pack(map, source.map);
  const std::unique_ptr<zyx::ptx::Module> module = zyx::ptx::load(text);
  std::vector<uint32_t> out(words);
  zyx::ptx::Launch launch;
  launch.module = module.get();
  launch.program = &module->programs.front();
  launch.threads[0] = 32;
  launch.dynamicSharedBytes = 1024 + 4 * words;
  launch.options.seed = seed;
  const uint64_t places[] = {reinterpret_cast<uint64_t>(&source), reinterpret_cast<uint64_t>(out.data())};
  launch.parameters.resize(16);
  std::memcpy(launch.parameters.data(), places, 16);
  launch.memory = {{places[0], places[0] + sizeof(source)}, {places[1], places[1] + 4 * words}};
  zyx::ptx::run(launch);
  return out;
}

/// Rows of 40 words; a box has 8 of 32.
zyx::ptx::TensorMap tiled() {
  zyx::ptx::TensorMap map;
  map.rank = 2;
  map.elementBytes = 4;
  map.swizzle = 128;
  map.extents[0] = 40;
  map.extents[1] = 20;
  map.strides[1] = 160;
  map.box[0] = 32;
  map.box[1] = 8;
  map.steps[0] = map.steps[1] = 1;
  return map;
}

const char *const box = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], "
                        "[%rd1, {%r10, %r11}], [%r2];";

} // namespace

TEST(PtxCopy, BoxesAreSwizzledAndZeroOutside) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto out = load(loadBox(box, 1024), tiled(), 256, seed);
    // From column 3 of row -1: the first row is outside, and of each row what lies behind 40 words is not outside.
    for (uint32_t row = 0; row < 8; ++row)
      for (uint32_t column = 0; column < 32; ++column) {
        const uint32_t place = row * 32 + ((column / 4) ^ row) * 4 + column % 4;
        EXPECT_EQ(out[place], row == 0 ? 0 : (row - 1) * 40 + 3 + column) << row << ", " << column;
      }
  }
}

TEST(PtxCopy, WhoDoesNotWaitReadsWhatWasThere) {
  EXPECT_EQ(load(loadBox(box, 1024, false), tiled(), 256)[40], 0xffffffffu);
}

TEST(PtxCopy, BytesThatNeverComeAreADeadlock) {
  try {
    std::string text = loadBox(box, 1024);
    text.replace(text.find("_, [%r2], 1024"), 14, "_, [%r2], 2048");
    load(text, tiled(), 256);
    FAIL();
  } catch (const zyx::ptx::Fault &fault) {
    EXPECT_THAT(fault.what(), HasSubstr("nothing can go on"));
  }
}

TEST(PtxCopy, PixelsAreThoseOfAWindow) {
  // Images [2, 4, 5, 32]: a window of 3 x 3 with a padding of 1, at the position of the offsets. Coordinates: channel
  // 0, column and row 3 and -1 of the first image.
  zyx::ptx::TensorMap map;
  map.rank = 4;
  map.elementBytes = 4;
  map.swizzle = 128;
  map.isPixels = true;
  const uint64_t extents[] = {32, 5, 4, 2}, strides[] = {4, 128, 640, 2560};
  for (unsigned i = 0; i < 4; ++i) {
    map.extents[i] = extents[i];
    map.strides[i] = strides[i];
    map.steps[i] = 1;
    map.box[i] = 1;
  }
  map.box[0] = 32;
  map.box[1] = 8;
  map.low[0] = map.low[1] = -1;
  map.high[0] = map.high[1] = -1;
  const auto out = load(loadBox("mov.b32 %r13, 0;\nmov.b16 %rs2, "
                                "1;\ncp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::"
                                "bytes [%r3], [%rd1, {%r13, %r10, %r11, %r13}], "
                                "[%r2], {%rs1, %rs2};",
                                1024),
                        map, 256);
  int64_t column = 3, row = -1;
  for (uint32_t pixel = 0; pixel < 8; ++pixel) {
    const int64_t x = column + 2, y = row + 1;
    const bool exists = x < 5 && y >= 0 && y < 4;
    EXPECT_EQ(out[pixel * 32 + (pixel % 8) * 4], exists ? y * 160 + x * 32 : 0) << pixel;
    if (++column > 3) {
      column = -1;
      ++row;
    }
  }
}

TEST(PtxCopy, WorkgroupsOfAClusterReachEachOther) {
  // Each of two workgroups sends its number to the other one, which waits for the bytes.
  const std::string text =
      kernel("mov.u32 %r2, %cluster_ctarank;\nxor.b32 %r3, %r2, 1;\nmov.b32 %r4, dynamic;\nsetp.ne.s32 %p1, %r1, "
             "0;\n@%p1 bra READY;\nmbarrier.init.shared.b64 [%r4], 1;\n"
             "mbarrier.arrive.expect_tx.shared.b64 _, [%r4], "
             "4;\nREADY:\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n@%p1 bra WAIT;\nadd.s32 %r5, "
             "%r2, 70;\n"
             "mapa.shared::cluster.u32 %r6, %r4, %r3;\nadd.s32 %r7, %r6, "
             "16;\nst.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r7], %r5, [%r6];\nWAIT:\n"
             "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r4], 0;\n@!%p2 bra WAIT;\nld.shared.b32 "
             "%r8, [%r4+16];\nmov.u32 %r9, %ctaid.x;\nmul.wide.u32 %rd6, %r9, 4;\n"
             "add.s64 %rd7, %rd2, %rd6;\nst.global.b32 [%rd7], "
             "%r8;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;");
  std::string clustered = text;
  clustered.replace(clustered.find(")\n{"), 3, ")\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{");
  for (uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_THAT((run<uint32_t, uint32_t>(clustered, {0}, 4, {.groups = 4, .sharedBytes = 64, .seed = seed})),
                testing::ElementsAre(71, 70, 71, 70));
  EXPECT_THAT(faultOf(clustered, {.groups = 3, .sharedBytes = 64}), HasSubstr("no clusters of 2"));
}
