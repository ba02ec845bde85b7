//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products of matrices, with what stands in front of and behind them.
//===----------------------------------------------------------------------===//
#include "LowerTiles.h"

using namespace mlir;
using namespace zyx::kernel;

/// A product with everything in front of and behind it.
static std::string product(int64_t m, int64_t n, int64_t k, const std::string &factor, const std::string &sum,
                           bool epilogue, const std::string &rightMap = "", const std::string &leftMap = "") {
  auto t = [](int64_t a, int64_t b, const std::string &type) {
    return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "x" + type + ">";
  };
  bool isFloat = sum[0] != 'i';
  std::string add = isFloat ? "arith.addf" : "arith.addi";
  Writer w;
  w.in("x", {m, k}, factor, "\"m\", \"k\"", leftMap).in("y", {k, n}, factor, "\"k\", \"n\"", rightMap);
  w.op("%z = arith.constant dense<" + std::string(isFloat ? "0.0" : "0") + "> : " + t(m, n, sum));
  w.op("%d = kernel.dot %x, %y, %z : " + t(m, k, factor) + ", " + t(k, n, factor) + " -> " + t(m, n, sum));
  if (!epilogue)
    return w.out("d", "o", {m, n}, sum);
  w.in("r", {n}, sum, "\"n\"").in("c", {m}, sum, "\"m\"");
  w.op("%rb = kernel.broadcast %r dims [1] : tensor<" + std::to_string(n) + "x" + sum + "> -> " + t(m, n, sum));
  w.op("%cb = kernel.broadcast %c dims [0] : tensor<" + std::to_string(m) + "x" + sum + "> -> " + t(m, n, sum));
  w.op("%e = " + add + " %d, %rb : " + t(m, n, sum));
  w.op("%f = " + add + " %e, %cb : " + t(m, n, sum));
  return w.out("f", "o", {m, n}, sum).out("d", "p", {m, n}, sum);
}

TEST_F(LowerTiles, Dots) {
  for (auto [m, n, k] : {std::tuple{1, 1, 1}, {1, 33, 5}, {7, 1, 9}, {8, 32, 1}, {5, 17, 6}, {13, 50, 11}, {33, 70, 3}})
    for (bool epilogue : {false, true})
      check(product(m, n, k, "f32", "f32", epilogue), 12);
  check(product(9, 40, 6, "bf16", "f32", true));
  check(product(9, 40, 6, "f16", "f32", true));
  check(product(9, 40, 6, "i8", "i32", true));
  check(product(9, 40, 6, "f64", "f64", true));
}

TEST_F(LowerTiles, DotOfATransposedFactor) {
  for (auto [m, n, k] : {std::tuple{5, 33, 6}, {9, 65, 4}, {40, 49, 7}})
    check(product(m, n, k, "f32", "f32", true,
                  "<[" + std::to_string(k) + ", " + std::to_string(n) + "] strides [1, " + std::to_string(k) + "]>"),
          24);
}

/// Factors that are packed through squares of vectors, with rests of every kind.
TEST_F(LowerTiles, DotOfTwoTransposedFactors) {
  auto transposed = [](int64_t rows, int64_t columns) {
    return "<[" + std::to_string(rows) + ", " + std::to_string(columns) + "] strides [1, " + std::to_string(rows) +
           "]>";
  };
  for (auto [m, n, k] : {std::tuple{37, 33, 21}, {16, 16, 16}, {19, 70, 35}})
    check(product(m, n, k, "f32", "f32", true, transposed(k, n), transposed(m, k)), 24);
  check(product(21, 35, 19, "bf16", "f32", true, transposed(19, 35), transposed(21, 19)), 24);
  check(product(21, 35, 19, "f64", "f64", true, transposed(19, 35), transposed(21, 19)), 24);
}

/// Blocks in a grid that none of the sizes divide, in pieces of the contraction, packed or not.
TEST_F(LowerTiles, DotInBlocks) {
  const char *packs[] = {"", ", pack lhs", ", pack rhs", ", pack lhs rhs"};
  for (auto [m, n, k] : {std::tuple{29, 75, 23}, {12, 32, 8}, {1, 40, 9}, {40, 1, 9}})
    for (const char *pack : packs)
      for (const char *grid : {"", "#kernel.grid_step<\"m\", 10>, #kernel.grid_step<\"n\", 40>, "})
        for (const char *blocks :
             {"<4 x 32, rows 8, depth 8", "<5 x 20, rows 10, depth 23", "<12 x 16, rows 12, depth 5"})
          for (int64_t vectorBytes : {64, 32, 0}) {
            std::string text = product(m, n, k, "f32", "f32", true);
            std::string schedule = std::string(grid) + "#kernel.block_step<" + blocks + pack + ">>";
            SCOPED_TRACE(text + "\nschedule: " + schedule + "\nvector bytes: " + std::to_string(vectorBytes));
            bool ran = runs(text, schedule, vectorBytes);
            EXPECT_TRUE(ran) << refusal;
            if (HasFailure())
              return;
          }
}

/// The sum is carried by a loop, and another for the rest, as a tile in memory. Where the first loop has
/// one round it is none, and the other begins with a sum in registers.
TEST_F(LowerTiles, DotInALoopOverTheContraction) {
  for (auto [m, n, k] : {std::tuple{5, 33, 18}, {1, 1, 7}, {9, 40, 16}, {3, 36, 6}, {5, 33, 7}})
    for (const char *grid : {"", "#kernel.grid_step<\"m\", 4>, #kernel.grid_step<\"n\", 24>, "})
      for (int64_t vectorBytes : {64, 32, 0}) {
        std::string text = product(m, n, k, "f32", "f32", true);
        std::string schedule = std::string(grid) + "#kernel.loop_step<\"k\", 4>";
        SCOPED_TRACE(text + "\nschedule: " + schedule + "\nvector bytes: " + std::to_string(vectorBytes));
        bool ran = runs(text, schedule, vectorBytes);
        EXPECT_TRUE(ran) << refusal;
        if (HasFailure())
          return;
      }
}

/// Vectors along the contraction, with and without a rest, of factors in either direction.
TEST_F(LowerTiles, DotAlongDepth) {
  for (auto [m, n, k] : {std::tuple{3, 14, 35}, {1, 9, 64}, {8, 6, 7}, {5, 1, 40}})
    for (const char *map : {"", "along"})
      for (const char *blocks : {"<2 x 6 along depth, rows 2, depth 64", "<4 x 3 along depth, rows 4, depth 20"})
        for (int64_t vectorBytes : {64, 32, 0}) {
          std::string right =
              "<[" + std::to_string(k) + ", " + std::to_string(n) + "] strides [1, " + std::to_string(k) + "]>";
          std::string text = product(m, n, k, "f32", "f32", true, *map ? right : "");
          std::string schedule = std::string("#kernel.block_step<") + blocks + ">>";
          SCOPED_TRACE(text + "\nschedule: " + schedule + "\nvector bytes: " + std::to_string(vectorBytes));
          bool ran = runs(text, schedule, vectorBytes);
          EXPECT_TRUE(ran) << refusal;
          if (HasFailure())
            return;
        }
}

TEST_F(LowerTiles, DotInBatches) {
  check(Writer()
            .in("x", {3, 5, 6}, "f32", "\"b\", \"m\", \"k\"")
            .in("y", {3, 6, 19}, "f32", "\"b\", \"k\", \"n\"")
            .op("%z = arith.constant dense<1.0> : tensor<3x5x19xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<3x5x6xf32>, tensor<3x6x19xf32> -> tensor<3x5x19xf32>")
            .op("%r = arith.addf %d, %d : tensor<3x5x19xf32>")
            .out("r", "o", {3, 5, 19}, "f32"),
        24);
}

TEST_F(LowerTiles, DotThenReduce) {
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 19}, "f32", "\"k\", \"n\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x19xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x19xf32> -> tensor<4x19xf32>")
            .op("%r = kernel.reduce add %d dims [1] : tensor<4x19xf32> -> tensor<4xf32>")
            .op("%c = kernel.reduce max %d dims [0] : tensor<4x19xf32> -> tensor<19xf32>")
            .out("r", "o", {4}, "f32")
            .out("c", "p", {19}, "f32"),
        24);
}

TEST_F(LowerTiles, DotOfADot) {
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 9}, "f32", "\"k\", \"n\"")
            .in("w", {9, 18}, "f32", "\"n\", \"p\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x9xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x9xf32> -> tensor<4x9xf32>")
            .op("%r = arith.maximumf %d, %z : tensor<4x9xf32>")
            .op("%z2 = arith.constant dense<0.0> : tensor<4x18xf32>")
            .op("%e = kernel.dot %r, %w, %z2 : tensor<4x9xf32>, tensor<9x18xf32> -> tensor<4x18xf32>")
            .out("e", "o", {4, 18}, "f32"),
        24);
}

TEST_F(LowerTiles, TwoDots) {
  // Of different vectors: f32 and f64.
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 19}, "f32", "\"k\", \"n\"")
            .in("v", {4, 6}, "f64", "\"m\", \"l\"")
            .in("w", {6, 19}, "f64", "\"l\", \"n\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x19xf32>")
            .op("%z2 = arith.constant dense<0.0> : tensor<4x19xf64>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x19xf32> -> tensor<4x19xf32>")
            .op("%e = kernel.dot %v, %w, %z2 : tensor<4x6xf64>, tensor<6x19xf64> -> tensor<4x19xf64>")
            .op("%f = arith.extf %d : tensor<4x19xf32> to tensor<4x19xf64>")
            .op("%s = arith.addf %e, %f : tensor<4x19xf64>")
            .out("s", "o", {4, 19}, "f64"),
        24);
  // One transposed.
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 5}, "f32", "\"k\", \"n\"")
            .in("v", {5, 6}, "f32", "\"n\", \"l\"")
            .in("w", {6, 4}, "f32", "\"l\", \"m\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x5xf32>")
            .op("%z2 = arith.constant dense<0.0> : tensor<5x4xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>")
            .op("%e = kernel.dot %v, %w, %z2 : tensor<5x6xf32>, tensor<6x4xf32> -> tensor<5x4xf32>")
            .op("%t = kernel.transpose %e order [1, 0] : tensor<5x4xf32> -> tensor<4x5xf32>")
            .op("%s = arith.addf %d, %t : tensor<4x5xf32>")
            .out("s", "o", {4, 5}, "f32"),
        24);
}

TEST_F(LowerTiles, DotRepeatedAlongAnotherAxis) {
  check(Writer()
            .in("x", {4, 6}, "f32", "\"m\", \"k\"")
            .in("y", {6, 5}, "f32", "\"k\", \"n\"")
            .in("b", {40, 4, 5}, "f32", "\"b\", \"m\", \"n\"")
            .op("%z = arith.constant dense<0.0> : tensor<4x5xf32>")
            .op("%d = kernel.dot %x, %y, %z : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>")
            .op("%r = kernel.broadcast %d dims [1, 2] : tensor<4x5xf32> -> tensor<40x4x5xf32>")
            .op("%s = arith.addf %b, %r : tensor<40x4x5xf32>")
            .out("s", "o", {40, 4, 5}, "f32"),
        24);
}
