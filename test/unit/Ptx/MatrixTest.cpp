//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PtxTest.h"

#include "../../fake-cuda/ptx/Numbers.h"

using namespace zyx::test;

namespace {

/// Small numbers, so that sums are exact.
float numberAt(uint32_t i) { return static_cast<float>(static_cast<int>(i * 7 % 13) - 6); }
uint16_t halfAt(uint32_t i) { return static_cast<uint16_t>(zyx::ptx::Half::encode(numberAt(i))); }
uint16_t bhalfAt(uint32_t i) { return static_cast<uint16_t>(zyx::ptx::BHalf::encode(numberAt(i))); }

/// Writes `count` registers, from %f1 on, behind each other for each thread.
std::string writeSums(unsigned count) {
  std::string text = "mul.wide.u32 %rd6, %r1, " + std::to_string(4 * count) + ";\nadd.s64 %rd7, %rd2, %rd6;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "st.global.b32 [%rd7+" + std::to_string(4 * i) + "], %f" + std::to_string(i + 1) + ";\n";
  return text;
}

} // namespace

TEST(PtxMatrix, WarpsMultiply) {
  // Left [16, 16] and right [8, 16], whose rows are along the contraction, lie in memory as they are.
  std::vector<uint16_t> in(16 * 16 + 8 * 16);
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = halfAt(i);
  std::string text =
      "shr.u32 %r2, %r1, 2;\nand.b32 %r3, %r1, 3;\nshl.b32 %r4, %r2, 5;\nshl.b32 %r5, %r3, 2;\nadd.s32 %r6, %r4, %r5;\n"
      "cvt.u64.u32 %rd6, %r6;\nadd.s64 %rd7, %rd1, %rd6;\n"
      "ld.global.b32 %r10, [%rd7];\nld.global.b32 %r11, [%rd7+256];\nld.global.b32 %r12, [%rd7+16];\nld.global.b32 "
      "%r13, [%rd7+272];\n"
      "ld.global.b32 %r14, [%rd7+512];\nld.global.b32 %r15, [%rd7+528];\nmov.f32 %f10, 0f3F800000;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, "
      "{%f10, %f10, %f10, %f10};\n";
  const auto out = run<uint16_t, float>(kernel(text + writeSums(4)), in, 128);
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 8; ++column) {
      float sum = 1;
      for (uint32_t k = 0; k < 16; ++k)
        sum += numberAt(row * 16 + k) * numberAt(256 + column * 16 + k);
      EXPECT_EQ(out[(row % 8 * 4 + column / 2) * 4 + row / 8 * 2 + column % 2], sum) << row << ", " << column;
    }
}

TEST(PtxMatrix, BytesAreMultiplied) {
  std::vector<uint8_t> in(16 * 32 + 8 * 32);
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<uint8_t>(static_cast<int8_t>(numberAt(i)));
  std::string text =
      "shr.u32 %r2, %r1, 2;\nand.b32 %r3, %r1, 3;\nshl.b32 %r4, %r2, 5;\nshl.b32 %r5, %r3, 2;\nadd.s32 %r6, %r4, %r5;\n"
      "cvt.u64.u32 %rd6, %r6;\nadd.s64 %rd7, %rd1, %rd6;\n"
      "ld.global.b32 %r10, [%rd7];\nld.global.b32 %r11, [%rd7+256];\nld.global.b32 %r12, [%rd7+16];\nld.global.b32 "
      "%r13, [%rd7+272];\n"
      "ld.global.b32 %r14, [%rd7+512];\nld.global.b32 %r15, [%rd7+528];\nmov.b32 %r16, 5;\n"
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, "
      "{%r16, %r16, %r16, %r16};\n";
  const auto out = run<uint8_t, int32_t>(kernel(text + writeSums(4)), in, 128);
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 8; ++column) {
      float sum = 5;
      for (uint32_t k = 0; k < 32; ++k)
        sum += numberAt(row * 32 + k) * numberAt(512 + column * 32 + k);
      EXPECT_EQ(static_cast<float>(out[(row % 8 * 4 + column / 2) * 4 + row / 8 * 2 + column % 2]), sum)
          << row << ", " << column;
    }
}

TEST(PtxMatrix, MatricesAreLoadedAndStored) {
  std::vector<uint32_t> in(128);
  std::iota(in.begin(), in.end(), 0);
  // Each lane names a row of 16 bytes of four matrices; of a transposed one it gets elements of a column.
  auto text = [](const std::string &load, const std::string &store) {
    return kernel(
        "mov.b32 %r2, dynamic;\nshl.b32 %r3, %r1, 4;\nadd.s32 %r4, %r2, %r3;\nmul.wide.u32 %rd6, %r1, 16;\nadd.s64 "
        "%rd7, %rd1, %rd6;\nadd.s64 %rd8, %rd2, %rd6;\n"
        "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%rd7];\nst.shared.v4.b32 [%r4], {%r5, %r6, %r7, %r8};\nbar.sync 0;\n"
        "ldmatrix.sync.aligned.m8n8.x4" +
        load +
        ".shared.b16 {%r10, %r11, %r12, %r13}, [%r4];\n"
        "stmatrix.sync.aligned.m8n8.x4" +
        store +
        ".shared.b16 [%r4], {%r10, %r11, %r12, %r13};\nbar.sync 0;\n"
        "ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r4];\nst.global.v4.b32 [%rd8], {%r5, %r6, %r7, %r8};");
  };
  EXPECT_EQ((run<uint32_t, uint32_t>(text("", ""), in, 128, {.sharedBytes = 512})), in);
  EXPECT_EQ((run<uint32_t, uint32_t>(text(".trans", ".trans"), in, 128, {.sharedBytes = 512})), in);
  const auto turned = run<uint32_t, uint32_t>(text(".trans", ""), in, 128, {.sharedBytes = 512});
  // The first row of the first matrix is now its first column: the lower halves of words 0, 4, 8, ...
  EXPECT_EQ(turned[0], 4u << 16);
  EXPECT_EQ(turned[1], 8u | 12u << 16);
}

/// Rows of 128 bytes with a swizzle of 128: left [64, 64] along the contraction; right [n, 64] likewise, or [64, n].
static void multiplyByFour(bool isTransposed, bool fromRegisters) {
  constexpr uint32_t columns = 64, depth = 16, panel = 64 * 128;
  std::vector<uint16_t> in(2 * 64 * 64);
  auto place = [](uint32_t row, uint32_t column) { return row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8; };
  auto left = [](uint32_t row, uint32_t k) { return row * 64 + k; };
  auto right = [](uint32_t k, uint32_t column) { return 5000 + k * 64 + column; };
  for (uint32_t i = 0; i < 64; ++i)
    for (uint32_t j = 0; j < 64; ++j) {
      in[place(i, j)] = bhalfAt(left(i, j));
      in[64 * 64 + place(i, j)] = isTransposed ? bhalfAt(right(i, j)) : bhalfAt(right(j, i));
    }
  // 128 threads copy two panels.
  std::string text = "mov.b32 %r2, dynamic;\nmov.b32 %r3, 0;\nmul.wide.u32 %rd6, %r1, 16;\nadd.s64 %rd7, %rd1, "
                     "%rd6;\nshl.b32 %r4, %r1, 4;\nadd.s32 %r4, %r4, %r2;\nCOPY:\n"
                     "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%rd7];\nst.shared.v4.b32 [%r4], {%r5, %r6, %r7, "
                     "%r8};\nadd.s64 %rd7, %rd7, 2048;\nadd.s32 %r4, %r4, 2048;\n"
                     "add.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 8;\n@%p1 bra "
                     "COPY;\nfence.proxy.async.shared::cta;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n";
  // The third step of 16 of the contraction: 64 bytes on, or 32 rows.
  text += "cvt.u64.u32 %rd8, %r2;\nshr.u64 %rd8, %rd8, 4;\nmov.b64 %rd9, 0x4000004000010000;\nadd.s64 %rd10, %rd8, "
          "4;\nor.b64 %rd10, %rd10, %rd9;\nadd.s64 %rd11, %rd8, " +
          std::to_string((panel + (isTransposed ? 32 * 128 : 64)) / 16) + ";\nor.b64 %rd11, %rd11, %rd9;\n";
  std::string sums;
  for (unsigned i = 0; i < columns / 2; ++i)
    sums += (i ? ", %f" : "%f") + std::to_string(i + 1);
  std::string factor = "%rd10";
  if (fromRegisters) {
    // Row l / 4 of each warp's sixteen, read through the swizzle.
    text +=
        "and.b32 %r10, %r1, 31;\nshr.u32 %r11, %r10, 2;\nand.b32 %r12, %r10, 3;\nshr.u32 %r13, %r1, 5;\nshl.b32 %r14, "
        "%r13, 11;\nshl.b32 %r15, %r11, 7;\n"
        "add.s32 %r16, %r14, %r15;\nadd.s32 %r16, %r16, %r2;\nxor.b32 %r17, %r11, 4;\nxor.b32 %r18, %r11, 5;\nshl.b32 "
        "%r17, %r17, 4;\nshl.b32 %r18, %r18, 4;\nshl.b32 %r12, %r12, 2;\n"
        "add.s32 %r17, %r17, %r12;\nadd.s32 %r18, %r18, %r12;\nadd.s32 %r17, %r17, %r16;\nadd.s32 %r18, %r18, %r16;\n"
        "ld.shared.b32 %r20, [%r17];\nld.shared.b32 %r21, [%r17+1024];\nld.shared.b32 %r22, [%r18];\nld.shared.b32 "
        "%r23, [%r18+1024];\n";
    factor = "{%r20, %r21, %r22, %r23}";
  }
  text += "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" + sums + "}, " + factor + ", %rd11, 0, 1, 1, " +
          (fromRegisters ? "" : "0, ") + (isTransposed ? "1" : "0") +
          ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  const auto out = run<uint16_t, float>(kernel(text + writeSums(columns / 2)), in, 64 * columns,
                                        {.threads = 128, .sharedBytes = 2 * panel});
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t column = 0; column < columns; ++column) {
      float sum = 0;
      for (uint32_t k = 2 * depth; k < 3 * depth; ++k)
        sum += numberAt(left(row, k)) * numberAt(right(k, column));
      const uint32_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2,
                     i = column / 8 * 4 + row / 8 % 2 * 2 + column % 2;
      ASSERT_EQ(out[thread * columns / 2 + i], sum) << row << ", " << column;
    }
}

TEST(PtxMatrix, FourWarpsMultiply) { multiplyByFour(false, false); }
TEST(PtxMatrix, FourWarpsMultiplyRowsOfColumns) { multiplyByFour(true, false); }
TEST(PtxMatrix, FourWarpsMultiplyRegisters) { multiplyByFour(false, true); }
