//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PtxTest.h"

using namespace zyx::test;

TEST(PtxArithmetic, Integers) {
  EXPECT_EQ(compute("add.s32 %r9, %r2, %r3;", {7, 0xffffffff}), 6u);
  EXPECT_EQ(compute("sub.s32 %r9, %r2, 8;", {7}), 0xffffffffu);
  EXPECT_EQ(compute("mul.lo.s32 %r9, %r2, %r3;", {0x10001, 0x10001}), 0x20001u);
  EXPECT_EQ(compute("mul.hi.u32 %r9, %r2, %r3;", {0x80000000, 6}), 3u);
  EXPECT_EQ(compute("mul.hi.s32 %r9, %r2, %r3;", {0x80000000, 6}), 0xfffffffdu);
  EXPECT_EQ(compute("mul.wide.s32 %rd9, %r2, %r3;\nshr.s64 %rd9, %rd9, 4;\ncvt.u32.u64 %r9, %rd9;", {0xfffffff0, 3}),
            0xfffffffdu);
  EXPECT_EQ(compute("mad.lo.s32 %r9, %r2, %r3, %r4;", {5, 6, 7}), 37u);
  EXPECT_EQ(compute("div.s32 %r9, %r2, %r3;", {0xfffffff9, 2}), 0xfffffffdu);
  EXPECT_EQ(compute("rem.s32 %r9, %r2, %r3;", {0xfffffff9, 2}), 0xffffffffu);
  EXPECT_EQ(compute("div.u32 %r9, %r2, %r3;", {5, 0}), 0xffffffffu);
  EXPECT_EQ(compute("min.s32 %r9, %r2, %r3;", {0xffffffff, 1}), 0xffffffffu);
  EXPECT_EQ(compute("max.u32 %r9, %r2, %r3;", {0xffffffff, 1}), 0xffffffffu);
  EXPECT_EQ(compute("add.sat.s32 %r9, %r2, %r3;", {0x7fffffff, 1}), 0x7fffffffu);
  EXPECT_EQ(compute("max.s16x2 %r9, %r2, %r3;", {0x0001ffff, 0xffff0000}), 0x00010000u);
  EXPECT_EQ(compute("dp4a.s32.s32 %r9, %r2, %r3, %r4;", {0xff010203, 0x01010101, 10}), 15u);
}

TEST(PtxArithmetic, Bits) {
  EXPECT_EQ(compute("lop3.b32 %r9, %r2, %r3, %r4, 0xe8;", {0xf0f0, 0xff00, 0x0ff0}), 0xfff0u);
  EXPECT_EQ(compute("prmt.b32 %r9, %r2, %r3, 0x7104;", {0x03020100, 0x07060504}), 0x07010004u);
  EXPECT_EQ(compute("prmt.b32 %r9, %r2, %r3, 0x888b;", {0x83020180, 0}), 0xffffffffu);
  EXPECT_EQ(compute("bfe.s32 %r9, %r2, 4, 4;", {0x80}), 0xfffffff8u);
  EXPECT_EQ(compute("bfe.u32 %r9, %r2, 4, 4;", {0x80}), 8u);
  EXPECT_EQ(compute("bfi.b32 %r9, %r2, %r3, 8, 8;", {0xab, 0x11111111}), 0x1111ab11u);
  EXPECT_EQ(compute("shf.l.wrap.b32 %r9, %r2, %r3, 36;", {0xf0000000, 1}), 0x1fu);
  EXPECT_EQ(compute("shl.b32 %r9, %r2, 32;", {1}), 0u);
  EXPECT_EQ(compute("shr.s32 %r9, %r2, 99;", {0x80000000}), 0xffffffffu);
  EXPECT_EQ(compute("popc.b32 %r9, %r2;", {0xf1}), 5u);
  EXPECT_EQ(compute("clz.b32 %r9, %r2;", {0xf1}), 24u);
  EXPECT_EQ(compute("brev.b32 %r9, %r2;", {1}), 0x80000000u);
  EXPECT_EQ(compute("bfind.u32 %r9, %r2;", {0xf1}), 7u);
}

TEST(PtxArithmetic, Numbers) {
  EXPECT_EQ(compute("fma.rn.f32 %r9, %r2, %r3, %r4;", {bits(1 + 0x1p-23f), bits(1 + 0x1p-23f), bits(-1)}),
            bits(0x1p-22f + 0x1p-46f));
  EXPECT_EQ(compute("add.f32 %r9, %r2, %r3;", {0x7fc12345, bits(1)}), 0x7fffffffu);
  EXPECT_EQ(compute("mul.ftz.f32 %r9, %r2, %r3;", {bits(0x1p-100f), bits(-0x1p-30f)}), 0x80000000u);
  EXPECT_EQ(compute("mul.f32 %r9, %r2, %r3;", {bits(0x1p-100f), bits(0x1p-30f)}), bits(0x1p-130f));
  EXPECT_EQ(compute("min.f32 %r9, %r2, %r3;", {0x7fc00000, bits(2)}), bits(2));
  EXPECT_EQ(compute("min.NaN.f32 %r9, %r2, %r3;", {0x7fc00000, bits(2)}), 0x7fffffffu);
  EXPECT_EQ(compute("max.f32 %r9, %r2, %r3;", {0x80000000, 0}), 0u);
  EXPECT_EQ(compute("add.sat.f32 %r9, %r2, %r3;", {bits(3), bits(2)}), bits(1));
  EXPECT_EQ(compute("div.rn.f32 %r9, %r2, %r3;", {bits(1), bits(3)}), bits(1.f / 3));
  EXPECT_EQ(compute("ex2.approx.ftz.f32 %r9, %r2;", {bits(-3)}), bits(0.125f));
  EXPECT_EQ(compute("neg.f32 %r9, %r2;", {0x7fc00001}), 0xffc00001u);
  EXPECT_EQ(compute("copysign.f32 %r9, %r2, %r3;", {bits(-2), bits(5)}), bits(-5));
}

TEST(PtxArithmetic, Halves) {
  // 1 + 2^-11 is in the middle between two numbers, and goes to the even one; a little more does not.
  EXPECT_EQ(compute("fma.rn.f16x2 %r9, %r2, %r3, %r4;", {0x3c003c00, 0x3c003c00, 0x10011000}), 0x3c013c00u);
  EXPECT_EQ(compute("add.rn.bf16x2 %r9, %r2, %r3;", {0x3f803f80, 0x3f80bf80}), 0x40000000u);
  EXPECT_EQ(compute("max.NaN.f16x2 %r9, %r2, %r3;", {0x7e003c00, 0x3c004000}), 0x7fff4000u);
  EXPECT_EQ(compute("mul.rn.f16x2 %r9, %r2, %r3;", {0x7bff0001, 0x40003800}), 0x7c000000u);
  EXPECT_EQ(compute("abs.bf16x2 %r9, %r2;", {0xbf80ffc1}), 0x3f807fc1u);
}

TEST(PtxArithmetic, Conversions) {
  EXPECT_EQ(compute("cvt.rn.bf16x2.f32 %r9, %r2, %r3;", {bits(1 + 0x1p-8f), bits(1 + 0x1.8p-7f)}), 0x3f803f82u);
  EXPECT_EQ(compute("cvt.rn.f16x2.f32 %r9, %r2, %r3;", {bits(65520), bits(-2)}), 0x7c00c000u);
  EXPECT_EQ(compute("cvt.rna.tf32.f32 %r9, %r2;", {0x3f801000}), 0x3f802000u);
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %r9, %r2;", {bits(-3e9f)}), 0x80000000u);
  EXPECT_EQ(compute("cvt.rzi.u32.f32 %r9, %r2;", {0x7fc00000}), 0u);
  EXPECT_EQ(compute("cvt.rni.f32.f32 %r9, %r2;", {bits(2.5f)}), bits(2));
  EXPECT_EQ(compute("cvt.rn.f32.s32 %r9, %r2;", {0x01000003}), bits(16777220.f));
  EXPECT_EQ(compute("cvt.s32.s8 %r9, %r2;", {0x180}), 0xffffff80u);
  EXPECT_EQ(compute("cvt.rn.satfinite.e4m3x2.f32 %rs1, %r2, %r3;\ncvt.u32.u16 %r9, %rs1;", {bits(1000), bits(-1)}),
            0x7eb8u);
  EXPECT_EQ(compute("mov.b32 %r5, 0x7eb8;\ncvt.u16.u32 %rs1, %r5;\ncvt.rn.f16x2.e4m3x2 %r9, %rs1;", {}), 0x5f00bc00u);
}

TEST(PtxArithmetic, Comparisons) {
  const std::string choose = "\nselp.b32 %r9, 1, 0, %p1;";
  EXPECT_EQ(compute("setp.lt.s32 %p1, %r2, %r3;" + choose, {0xffffffff, 0}), 1u);
  EXPECT_EQ(compute("setp.lt.u32 %p1, %r2, %r3;" + choose, {0xffffffff, 0}), 0u);
  EXPECT_EQ(compute("setp.lt.f32 %p1, %r2, %r3;" + choose, {0x7fc00000, 0}), 0u);
  EXPECT_EQ(compute("setp.ltu.f32 %p1, %r2, %r3;" + choose, {0x7fc00000, 0}), 1u);
  EXPECT_EQ(compute("setp.nan.f32 %p1, %r2, %r3;" + choose, {0x7fc00000, 0}), 1u);
  EXPECT_EQ(compute("setp.eq.s32 %p2, %r2, 5;\nsetp.eq.and.s32 %p1, %r3, 6, %p2;" + choose, {5, 6}), 1u);
  EXPECT_EQ(compute("setp.eq.s32 %p2, %r2, 5;\nnot.pred %p1, %p2;" + choose, {5}), 0u);
}

TEST(PtxArithmetic, ComparisonsOfPairs) {
  // The first predicate is that of the lower halves.
  const std::string choose = "\nselp.b32 %r9, 1, 0, %p1;\nselp.b32 %r8, 2, 0, %p2;\nadd.s32 %r9, %r9, %r8;";
  auto compare = [&](const std::string &how, uint32_t a, uint32_t b) {
    return compute("setp." + how + " %p1|%p2, %r2, %r3;" + choose, {a, b});
  };
  // f16: the upper halves 2 and 1, the lower ones -1 and 1; bf16: 1 and 2, -1 and -1.
  const uint32_t a = 0x4000bc00, b = 0x3c003c00, c = 0x3f80bf80, d = 0x4000bf80;
  const std::tuple<const char *, uint32_t, uint32_t> expected[] = {
      {"eq", 0, 1},  {"ne", 3, 2},  {"lt", 1, 2},  {"le", 1, 3},  {"gt", 2, 0},  {"ge", 2, 1},  {"num", 3, 3},
      {"equ", 0, 1}, {"neu", 3, 2}, {"ltu", 1, 2}, {"leu", 1, 3}, {"gtu", 2, 0}, {"geu", 2, 1}, {"nan", 0, 0},
  };
  for (const auto &[how, half, bhalf] : expected) {
    EXPECT_EQ(compare(how + std::string(".f16x2"), a, b), half) << how;
    EXPECT_EQ(compare(how + std::string(".bf16x2"), c, d), bhalf) << how;
    // The upper halves are no numbers: those that are unordered hold.
    const bool isUnordered = std::string(how).back() == 'u' || how == std::string("nan");
    EXPECT_EQ(compare(how + std::string(".f16x2"), 0x7e00bc00, b), (half & 1) | (isUnordered ? 2 : 0)) << how;
    EXPECT_EQ(compare(how + std::string(".bf16x2"), c, 0xffc1bf80), (bhalf & 1) | (isUnordered ? 2 : 0)) << how;
  }
  // Zeros of both signs are equal, as are subnormal numbers that are flushed.
  EXPECT_EQ(compare("eq.f16x2", 0x80000001, 0), 2u);
  EXPECT_EQ(compare("eq.ftz.f16x2", 0x80000001, 0), 3u);
  // Another predicate is part of both.
  const std::string both = "setp.ne.s32 %p3, %r4, 0;\nsetp.lt.";
  EXPECT_EQ(compute(both + "and.f16x2 %p1|%p2, %r2, %r3, %p3;" + choose, {a, b, 1}), 1u);
  EXPECT_EQ(compute(both + "and.f16x2 %p1|%p2, %r2, %r3, !%p3;" + choose, {a, b, 1}), 0u);
  EXPECT_EQ(compute(both + "xor.bf16x2 %p1|%p2, %r2, %r3, %p3;" + choose, {c, d, 1}), 1u);
  EXPECT_EQ(compute(both + "or.bf16x2 %p1|%p2, %r2, %r3, %p3;" + choose, {c, d, 0}), 2u);
}

TEST(PtxArithmetic, ComparisonsThatThereAreNot) {
  EXPECT_THAT(faultOf(kernel("setp.lt.s16x2 %p1|%p2, %r2, %r3;")),
              testing::HasSubstr("compares pairs of another type"));
  EXPECT_THAT(faultOf(kernel("setp.lt.f16x2 %p1, %r2, %r3;")), testing::HasSubstr("has another number of operands"));
  EXPECT_THAT(faultOf(kernel("setp.lt.ftz.bf16x2 %p1|%p2, %r2, %r3;")), testing::HasSubstr("flushes nothing"));
}
