//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LowerTiles.h"

using namespace mlir;
using namespace zyx::kernel;

TEST_F(LowerTiles, Elementwise) {
  for (const char *type : {"f32", "f64", "f16", "bf16"})
    for (std::vector<int64_t> shape : {std::vector<int64_t>{37}, {5, 19}, {1, 7}, {3, 1, 33}, {2, 3, 5}}) {
      std::string axes = shape.size() == 1 ? "\"i\"" : shape.size() == 2 ? "\"i\", \"j\"" : "\"i\", \"j\", \"l\"";
      std::string tile = "tensor<";
      for (int64_t extent : shape)
        tile += std::to_string(extent) + "x";
      tile += std::string(type) + ">";
      check(Writer()
                .in("x", shape, type, axes)
                .in("y", shape, type, axes)
                .op("%s = arith.addf %x, %y : " + tile)
                .op("%t = arith.mulf %s, %x : " + tile)
                .out("t", "z", shape, type),
            4);
    }
}

TEST_F(LowerTiles, RankZero) {
  check(Writer().in("x", {}, "f32", "").op("%s = arith.addf %x, %x : tensor<f32>").out("s", "y", {}, "f32"));
}

TEST_F(LowerTiles, ExtentZero) {
  check(Writer().in("x", {0}, "f32", "\"i\"").op("%s = arith.addf %x, %x : tensor<0xf32>").out("s", "y", {0}, "f32"));
  check(Writer()
            .in("x", {3, 0}, "f32", "\"i\", \"j\"")
            .op("%s = kernel.reduce add %x dims [1] : tensor<3x0xf32> -> tensor<3xf32>")
            .out("s", "y", {3}, "f32"));
  check(Writer()
            .in("x", {0, 3}, "f32", "\"i\", \"j\"")
            .op("%s = kernel.reduce max %x dims [0] : tensor<0x3xf32> -> tensor<3xf32>")
            .out("s", "y", {3}, "f32"));
  for (auto [m, n, k] : {std::tuple{3, 4, 0}, {0, 4, 3}, {3, 0, 4}})
    check(Writer()
              .in("x", {m, k}, "f32", "\"m\", \"k\"")
              .in("y", {k, n}, "f32", "\"k\", \"n\"")
              .op("%z = arith.constant dense<0.0> : tensor<" + std::to_string(m) + "x" + std::to_string(n) + "xf32>")
              .op("%d = kernel.dot %x, %y, %z : tensor<" + std::to_string(m) + "x" + std::to_string(k) +
                  "xf32>, tensor<" + std::to_string(k) + "x" + std::to_string(n) + "xf32> -> tensor<" +
                  std::to_string(m) + "x" + std::to_string(n) + "xf32>")
              .out("d", "o", {m, n}, "f32"));
}

TEST_F(LowerTiles, Integers) {
  for (const char *type : {"i8", "i16", "i32", "i64"}) {
    std::string t = "tensor<3x21x" + std::string(type) + ">";
    check(Writer()
              .in("x", {3, 21}, type, "\"i\", \"j\"")
              .op("%c = arith.constant dense<2> : " + t)
              .op("%p = arith.muli %x, %c : " + t)
              .op("%s = kernel.reduce add %p dims [1] : " + t + " -> tensor<3x" + type + ">")
              .op("%m = kernel.reduce umax %x dims [0] : " + t + " -> tensor<21x" + type + ">")
              .out("s", "y", {3}, type)
              .out("m", "z", {21}, type),
          6);
  }
}

// Lanes that do not exist must not divide by what they hold: here lane 25 holds zero.
TEST_F(LowerTiles, DivisionUnderAMask) {
  for (const char *op : {"arith.divsi", "arith.remsi"})
    check(Writer()
              .in("x", {21}, "i32", "\"i\"")
              .op("%t = kernel.iota dim 0 axes [\"i\"] : tensor<21xi32>")
              .op("%c = arith.constant dense<25> : tensor<21xi32>")
              .op("%d = arith.subi %c, %t : tensor<21xi32>")
              .op("%q = " + std::string(op) + " %x, %d : tensor<21xi32>")
              .out("q", "z", {21}, "i32"));
}

TEST_F(LowerTiles, MixedWidths) {
  check(Writer()
            .in("x", {5, 23}, "i8", "\"i\", \"j\"")
            .in("y", {5, 23}, "f64", "\"i\", \"j\"")
            .in("b", {5, 23}, "i1", "\"i\", \"j\"")
            .op("%w = arith.sitofp %x : tensor<5x23xi8> to tensor<5x23xf64>")
            .op("%s = arith.addf %w, %y : tensor<5x23xf64>")
            .op("%t = arith.select %b, %s, %y : tensor<5x23xi1>, tensor<5x23xf64>")
            .op("%u = arith.truncf %t : tensor<5x23xf64> to tensor<5x23xf16>")
            .op("%c = arith.cmpf olt, %t, %y : tensor<5x23xf64>")
            .out("u", "z", {5, 23}, "f16")
            .out("c", "d", {5, 23}, "i1"));
  check(Writer()
            .in("b", {3, 70}, "i1", "\"i\", \"j\"")
            .op("%r = kernel.reduce or %b dims [1] : tensor<3x70xi1> -> tensor<3xi1>")
            .op("%a = kernel.reduce and %b dims [0] : tensor<3x70xi1> -> tensor<70xi1>")
            .out("r", "y", {3}, "i1")
            .out("a", "z", {70}, "i1"));
}

TEST_F(LowerTiles, Strides) {
  // Transposed, repeated, and backwards.
  check(Writer()
            .in("x", {7, 18}, "f32", "\"i\", \"j\"", "<[7, 18] strides [1, 7]>")
            .in("y", {7, 18}, "f32", "\"i\", \"j\"", "<[7, 18] strides [0, 1]>")
            .in("z", {7, 18}, "f32", "\"i\", \"j\"", "<[7, 18] strides [1, 0]>")
            .in("w", {7, 18}, "f32", "\"i\", \"j\"", "<[7, 18] strides [18, -1] offset 17>")
            .op("%a = arith.addf %x, %y : tensor<7x18xf32>")
            .op("%b = arith.mulf %z, %w : tensor<7x18xf32>")
            .op("%c = arith.addf %a, %b : tensor<7x18xf32>")
            .out("c", "o", {7, 18}, "f32")
            .out("a", "p", {7, 18}, "f32", "<[7, 18] strides [1, 7]>"),
        30);
  check(Writer()
            .in("x", {7, 18}, "f32", "\"i\", \"j\"")
            .op("%t = kernel.transpose %x order [1, 0] : tensor<7x18xf32> -> tensor<18x7xf32>")
            .out("t", "o", {18, 7}, "f32"));
}

TEST_F(LowerTiles, ValidIntervalsAndBlocks) {
  check(Writer()
            .in("x", {9, 20}, "f32", "\"i\", \"j\"", "<[9, 20] strides [16, 1] offset -18 valid [1 : 8, 2 : 18]>")
            .op("%t = arith.addf %x, %x : tensor<9x20xf32>")
            .op("%s = kernel.reduce add %x dims [1] : tensor<9x20xf32> -> tensor<9xf32>")
            .out("t", "o", {9, 20}, "f32")
            .out("s", "p", {9}, "f32"),
        20);
  check(Writer()
            .in("x", {21}, "f32", "\"i\"", "<[21] strides [1]>, <[3, 7] strides [1, 3]>")
            .in("y", {21}, "f32", "\"i\"", "<[21] strides [1]>, <[3, 7] strides [5, 1] offset -1 valid [0 : 3, 1 : 6]>")
            .op("%t = arith.addf %x, %y : tensor<21xf32>")
            .out("t", "o", {21}, "f32"));
}

// What does not exist is `other`, not zero.
TEST_F(LowerTiles, Other) {
  check(Writer()
            .op("%five = arith.constant 5.0 : f32")
            .view("x", {20}, "f32", "<[20] strides [1] offset -2 valid [2 : 18]>")
            .load("x", "\"i\"", "other %five : f32")
            .op("%t = arith.addf %x, %x : tensor<20xf32>")
            .out("t", "o", {20}, "f32"));
}

TEST_F(LowerTiles, Reductions) {
  for (const char *kind : {"add", "max", "min"})
    for (const char *dims : {"[0]", "[1]", "[2]", "[0, 1]", "[0, 2]", "[1, 2]", "[0, 1, 2]"}) {
      std::vector<int64_t> shape = {3, 5, 37}, kept;
      std::string result = "tensor<";
      for (int64_t i = 0; i < 3; ++i)
        if (std::string(dims).find(std::to_string(i)) == std::string::npos) {
          kept.push_back(shape[i]);
          result += std::to_string(shape[i]) + "x";
        }
      check(Writer()
                .in("x", shape, "f32", "\"i\", \"j\", \"l\"")
                .op("%s = kernel.reduce " + std::string(kind) + " %x dims " + dims + " : tensor<3x5x37xf32> -> " +
                    result + "f32>")
                .out("s", "y", kept, "f32"),
            6);
    }
  // f8E4M3FN has no infinity to begin with.
  check(Writer()
            .in("x", {3, 21}, "f8E4M3FN", "\"i\", \"j\"")
            .op("%s = kernel.reduce max %x dims [1] : tensor<3x21xf8E4M3FN> -> tensor<3xf8E4M3FN>")
            .out("s", "y", {3}, "f8E4M3FN"),
        4);
  // Columns, with a rest.
  check(Writer()
            .in("x", {29, 133}, "f32", "\"i\", \"j\"")
            .op("%s = kernel.reduce add %x dims [0] : tensor<29x133xf32> -> tensor<133xf32>")
            .out("s", "y", {133}, "f32"));
}

TEST_F(LowerTiles, RowNormalised) {
  check(Writer()
            .in("x", {6, 45}, "f32", "\"i\", \"j\"")
            .op("%m = kernel.reduce max %x dims [1] : tensor<6x45xf32> -> tensor<6xf32>")
            .op("%mb = kernel.broadcast %m dims [0] : tensor<6xf32> -> tensor<6x45xf32>")
            .op("%d = arith.subf %x, %mb : tensor<6x45xf32>")
            .op("%e = math.exp %d : tensor<6x45xf32>")
            .op("%s = kernel.reduce add %e dims [1] : tensor<6x45xf32> -> tensor<6xf32>")
            .op("%sb = kernel.broadcast %s dims [0] : tensor<6xf32> -> tensor<6x45xf32>")
            .op("%q = arith.divf %e, %sb : tensor<6x45xf32>")
            .out("q", "y", {6, 45}, "f32"),
        40);
}

TEST_F(LowerTiles, Gathers) {
  for (const char *index : {"i8", "i32", "i64"})
    check(Writer()
              .view("x", {3, 11}, "f32")
              .in("i", {4, 21}, index, "\"i\", \"j\"")
              .in("j", {21}, index, "\"j\"")
              .op("%jb = kernel.broadcast %j dims [1] : tensor<21x" + std::string(index) + "> -> tensor<4x21x" + index +
                  ">")
              .op("%g = kernel.gather %x.v[%i, %jb] : !kernel.view<3x11xf32, global>, tensor<4x21x" +
                  std::string(index) + ">, tensor<4x21x" + index + "> -> tensor<4x21xf32>")
              .op("%s = arith.addf %g, %g : tensor<4x21xf32>")
              .out("s", "o", {4, 21}, "f32"));
}

TEST_F(LowerTiles, Iotas) {
  for (const char *type : {"i8", "i32", "i64"})
    check(Writer()
              .op("%c100 = arith.constant 100 : index")
              .op("%t = kernel.iota dim 1 base %c100 axes [\"i\", \"j\"] : tensor<5x61x" + std::string(type) + ">")
              .op("%u = kernel.iota dim 0 axes [\"i\", \"j\"] : tensor<5x61x" + std::string(type) + ">")
              .op("%s = arith.addi %t, %u : tensor<5x61x" + std::string(type) + ">")
              .out("s", "o", {5, 61}, type),
          20);
}

TEST_F(LowerTiles, OutputsOverDifferentAxes) {
  check(Writer()
            .in("x", {6, 20}, "f32", "\"i\", \"j\"")
            .in("b", {20}, "f32", "\"j\"")
            .op("%bb = kernel.broadcast %b dims [1] : tensor<20xf32> -> tensor<6x20xf32>")
            .op("%s = arith.addf %x, %bb : tensor<6x20xf32>")
            .op("%t = arith.mulf %b, %b : tensor<20xf32>")
            .op("%r = kernel.reduce add %s dims [1] : tensor<6x20xf32> -> tensor<6xf32>")
            .out("s", "o", {6, 20}, "f32")
            .out("t", "p", {20}, "f32")
            .out("r", "q", {6}, "f32"),
        40);
}

// The bias stays before the loop over rows when columns are split after it.
TEST_F(LowerTiles, LoopsOverTwoAxes) {
  check(Writer()
            .in("x", {6, 20}, "f32", "\"i\", \"j\"")
            .in("b", {20}, "f32", "\"j\"")
            .in("c", {20}, "f32", "\"j\"")
            .op("%d = arith.addf %b, %c : tensor<20xf32>")
            .op("%bb = kernel.broadcast %d dims [1] : tensor<20xf32> -> tensor<6x20xf32>")
            .op("%s = arith.addf %x, %bb : tensor<6x20xf32>")
            .out("s", "o", {6, 20}, "f32"),
        60);
}

TEST_F(LowerTiles, UnitDimensionsComeAndGo) {
  check(Writer()
            .in("x", {6, 1, 20}, "f32", "\"i\", \"u\", \"j\"")
            .op("%r = kernel.reshape %x : tensor<6x1x20xf32> -> tensor<1x6x20x1xf32>")
            .op("%s = arith.addf %r, %r : tensor<1x6x20x1xf32>")
            .out("s", "o", {1, 6, 20, 1}, "f32"),
        20);
}
