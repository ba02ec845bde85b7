//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelRun.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace zyx;
using namespace zyx::target;

/// Grids, loops, branches and memory: each kernel runs through both targets.
namespace {

class Structure : public testing::TestWithParam<const char *> {
protected:
  CompiledKernels compile(const std::string &text) {
    auto kernels = CompiledKernels::compile(text, {GetParam(), 1});
    if (!kernels) {
      ADD_FAILURE() << kernels.status().toString();
      std::abort();
    }
    return std::move(*kernels);
  }
};

std::vector<float> counting(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.f);
  return values;
}

} // namespace

TEST_P(Structure, GridOfTwoDimensionsInRanges) {
  auto kernels = compile(R"(
    #rows = #kernel.map<[#kernel.block<[6, s0] strides [s0, 1]>]>
    #columns = #kernel.map<[#kernel.block<[s0, 6] strides [1, s0] offset 2>]>
    !buffer = !kernel.buffer<f32, global>
    kernel.func @k(%x: !buffer, %y: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
      %xs = kernel.view %x[%n] map #columns : !buffer -> !kernel.view<?x6xf32, global>
      %ys = kernel.view %y[%n] map #rows : !buffer -> !kernel.view<6x?xf32, global>
      kernel.grid (%i, %j) in [6, %n] step [1, 2] {
        %v = kernel.load %xs[%j, %i] : !kernel.view<?x6xf32, global> -> f32
        kernel.store %v, %ys[%i, %j] : f32, !kernel.view<6x?xf32, global>
      }
      kernel.return
    })");
  const int64_t n = 5; // three programs a row
  std::vector<float> x = counting(32), y(30, 0.f);
  kernels.run("k", {x.data(), y.data()}, 4, 4, {n});
  EXPECT_EQ(y, std::vector<float>(30, 0.f));
  kernels.run("k", {x.data(), y.data()}, 4, 6, {n});
  kernels.run("k", {x.data(), y.data()}, 17, 18, {n});
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < n; ++j) {
      bool ran = (i == 1 && (j == 2 || j == 4)) || (i == 5 && j == 4);
      EXPECT_EQ(y[i * n + j], ran ? x[2 + j + i * n] : 0.f) << i << ' ' << j;
    }
}

TEST_P(Structure, NoGridIsOneProgram) {
  auto kernels = compile(R"(
    #one = #kernel.map<[#kernel.block<[] strides []>]>
    !buffer = !kernel.buffer<i64, global>
    !one = !kernel.view<i64, global>
    kernel.func @k(%x: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
      %xs = kernel.view %x map #one : !buffer -> !one
      %v = kernel.load %xs[] : !one -> i64
      %w = arith.index_cast %n : index to i64
      %s = arith.addi %v, %w : i64
      kernel.store %s, %xs[] : i64, !one
      kernel.return
    })");
  int64_t x = 40;
  kernels.run("k", {&x}, 0, 0, {2});
  EXPECT_EQ(x, 40);
  kernels.run("k", {&x}, 0, 1, {2});
  EXPECT_EQ(x, 42);
}

TEST_P(Structure, LoopsCarryValues) {
  // Fibonacci's step swaps its variables; the while loop counts the steps of a Collatz sequence.
  auto kernels = compile(R"(
    #all = #kernel.map<[#kernel.block<[8] strides [1]>]>
    !buffer = !kernel.buffer<i64, global>
    !all = !kernel.view<8xi64, global>
    kernel.func @k(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %three = arith.constant 3 : i64
      %xs = kernel.view %x map #all : !buffer -> !all
      %ys = kernel.view %y map #all : !buffer -> !all
      kernel.grid (%i) in [8] step [1] {
        %v = kernel.load %xs[%i] : !all -> i64
        %n = arith.index_cast %v : i64 to index
        %f:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %zero, %b = %one) -> (i64, i64) {
          %s = arith.addi %a, %b : i64
          scf.yield %b, %s : i64, i64
        }
        %steps:2 = scf.while (%m = %v, %count = %zero) : (i64, i64) -> (i64, i64) {
          %more = arith.cmpi sgt, %m, %one : i64
          scf.condition(%more) %count, %m : i64, i64
        } do {
        ^bb0(%count: i64, %m: i64):
          %low = arith.andi %m, %one : i64
          %odd = arith.cmpi ne, %low, %zero : i64
          %next = scf.if %odd -> i64 {
            %t = arith.muli %m, %three : i64
            %u = arith.addi %t, %one : i64
            scf.yield %u : i64
          } else {
            %h = arith.divsi %m, %two : i64
            scf.yield %h : i64
          }
          %more = arith.addi %count, %one : i64
          scf.yield %next, %more : i64, i64
        }
        %hundred = arith.constant 1000 : i64
        %p = arith.muli %steps#0, %hundred : i64
        %r = arith.addi %p, %f#0 : i64
        kernel.store %r, %ys[%i] : i64, !all
      }
      kernel.return
    })");
  std::vector<int64_t> x = {0, 1, 2, 3, 6, 7, 9, 10}, y(8);
  kernels.run("k", {x.data(), y.data()}, 0, 8);
  EXPECT_EQ(y, (std::vector<int64_t>{0, 1, 1001, 7002, 8008, 16013, 19034, 6055}));
}

TEST_P(Structure, SwappedLoopValues) {
  auto kernels = compile(R"(
    #all = #kernel.map<[#kernel.block<[2] strides [1]>]>
    !buffer = !kernel.buffer<i32, global>
    !all = !kernel.view<2xi32, global>
    kernel.func @k(%x: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %xs = kernel.view %x map #all : !buffer -> !all
      %a = kernel.load %xs[%c0] : !all -> i32
      %b = kernel.load %xs[%c1] : !all -> i32
      %s:2 = scf.for %j = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (i32, i32) {
        scf.yield %q, %p : i32, i32
      }
      kernel.store %s#0, %xs[%c0] : i32, !all
      kernel.store %s#1, %xs[%c1] : i32, !all
      kernel.return
    })");
  std::vector<int32_t> x = {1, 2};
  kernels.run("k", {x.data()}, 0, 1, {3});
  EXPECT_EQ(x, (std::vector<int32_t>{2, 1}));
}

TEST_P(Structure, MasksAndBranchesGuardMemory) {
  auto kernels = compile(R"(
    #all = #kernel.map<[#kernel.block<[s0] strides [1]>]>
    !buffer = !kernel.buffer<f32, global>
    !all = !kernel.view<?xf32, global>
    kernel.func @k(%x: !buffer, %y: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
      %minus = arith.constant -1.5 : f32
      %xs = kernel.view %x[%n] map #all : !buffer -> !all
      %ys = kernel.view %y[%n] map #all : !buffer -> !all
      kernel.grid (%i) in [8] step [1] {
        %in = arith.cmpi ult, %i, %n : index
        %v = kernel.load %xs[%i] mask %in : i1 other %minus : f32 : !all -> f32
        %w = kernel.load %xs[%i] mask %in : i1 : !all -> f32
        %s = arith.addf %v, %w : f32
        kernel.store %s, %ys[%i] mask %in : i1 : f32, !all
        scf.if %in {
        } else {
          kernel.store %v, %ys[%i] : f32, !all
        }
      }
      kernel.return
    })");
  std::vector<float> x = counting(5), y(8, 0.f);
  kernels.run("k", {x.data(), y.data()}, 0, 8, {5});
  EXPECT_EQ(y, (std::vector<float>{2, 4, 6, 8, 10, -1.5, -1.5, -1.5}));
}

TEST_P(Structure, PrivateMemoryAndSubviews) {
  auto kernels = compile(R"(
    #in = #kernel.map<[#kernel.block<[4, 8] strides [8, 1]>]>
    #out = #kernel.map<[#kernel.block<[8, 4] strides [4, 1]>]>
    !buffer = !kernel.buffer<f32, global>
    !in = !kernel.view<4x8xf32, global>
    !out = !kernel.view<8x4xf32, global>
    !tile = !kernel.view<2x4x8xf32, private>
    !slot = !kernel.view<4x8xf32, private>
    kernel.func @k(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %xs = kernel.view %x map #in : !buffer -> !in
      %ys = kernel.view %y map #out : !buffer -> !out
      %tile = kernel.alloc : !tile
      scf.for %i = %c0 to %c4 step %c1 {
        %slot = kernel.subview %tile[%c1, %c0, %c0] : !tile -> !slot
        scf.for %j = %c0 to %c8 step %c1 {
          %v = kernel.load %xs[%i, %j] : !in -> f32
          kernel.store %v, %slot[%i, %j] : f32, !slot
        }
      }
      scf.for %i = %c0 to %c8 step %c1 {
        scf.for %j = %c0 to %c4 step %c1 {
          %v = kernel.load %tile[%c1, %j, %i] : !tile -> f32
          kernel.store %v, %ys[%i, %j] : f32, !out
        }
      }
      kernel.return
    })");
  std::vector<float> x = counting(32), y(32);
  kernels.run("k", {x.data(), y.data()});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(y[j * 4 + i], x[i * 8 + j]);
}

INSTANTIATE_TEST_SUITE_P(Targets, Structure, testing::Values("cpu", "c"),
                         [](const auto &info) { return std::string(info.param); });

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

namespace {
CompiledKernels compileForHost(const std::string &text) {
  auto kernels = CompiledKernels::compile(text, {"cpu", 16});
  if (!kernels) {
    ADD_FAILURE() << kernels.status().toString();
    std::abort();
  }
  return std::move(*kernels);
}
} // namespace

TEST(Vectors, MaskedTail) {
  auto kernels = compileForHost(R"(
    #all = #kernel.map<[#kernel.block<[s0] strides [1]>]>
    !buffer = !kernel.buffer<f32, global>
    !all = !kernel.view<?xf32, global>
    kernel.func @k(%x: !buffer, %y: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
      %xs = kernel.view %x[%n] map #all : !buffer -> !all
      %ys = kernel.view %y[%n] map #all : !buffer -> !all
      kernel.grid (%i) in [%n] step [16] {
        %left = arith.subi %n, %i : index
        %m = vector.create_mask %left : vector<16xi1>
        %v = kernel.load %xs[%i] mask %m : vector<16xi1> : !all -> vector<16xf32>
        %d = arith.addf %v, %v : vector<16xf32>
        kernel.store %d, %ys[%i] mask %m : vector<16xi1> : vector<16xf32>, !all
      }
      kernel.return
    })");
  for (int64_t n : {1, 15, 16, 17, 1000}) {
    std::vector<float> x = counting(n), y(n + 16, -1.f);
    kernels.run("k", {x.data(), y.data()}, 0, (n + 15) / 16, {n});
    for (int64_t i = 0; i < n + 16; ++i)
      EXPECT_EQ(y[i], i < n ? 2 * x[i] : -1.f) << i << " of " << n;
  }
}

TEST(Vectors, StridesAreGatheredAndScattered) {
  auto kernels = compileForHost(R"(
    #columns = #kernel.map<[#kernel.block<[3, 16] strides [1, 3]>]>
    #same = #kernel.map<[#kernel.block<[3, 16] strides [1, 0]>]>
    !buffer = !kernel.buffer<f32, global>
    !v = !kernel.view<3x16xf32, global>
    kernel.func @k(%x: !buffer, %z: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
      %c0 = arith.constant 0 : index
      %xs = kernel.view %x map #columns : !buffer -> !v
      %zs = kernel.view %z map #same : !buffer -> !v
      %ys = kernel.view %y map #columns : !buffer -> !v
      %m = vector.constant_mask [12] : vector<16xi1>
      kernel.grid (%i) in [3] step [1] {
        %a = kernel.load %xs[%i, %c0] : !v -> vector<16xf32>
        %b = kernel.load %zs[%i, %c0] : !v -> vector<16xf32>
        %c = arith.mulf %a, %b : vector<16xf32>
        kernel.store %c, %ys[%i, %c0] mask %m : vector<16xi1> : vector<16xf32>, !v
      }
      kernel.return
    })");
  std::vector<float> x = counting(48), z = {1, 10, 100}, y(48, 0.f);
  kernels.run("k", {x.data(), z.data(), y.data()}, 0, 3);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 16; ++j)
      EXPECT_EQ(y[j * 3 + i], j < 12 ? x[j * 3 + i] * z[i] : 0.f);
}

TEST(Vectors, LaneOps) {
  auto kernels = compileForHost(R"(
    #all = #kernel.map<[#kernel.block<[16] strides [1]>]>
    !buffer = !kernel.buffer<f32, global>
    !all = !kernel.view<16xf32, global>
    !halves = !kernel.buffer<f16, global>
    !half_view = !kernel.view<16xf16, global>
    kernel.func @k(%x: !buffer, %h: !halves, %y: !buffer) attributes {form = #kernel.form<lowered>} {
      %c0 = arith.constant 0 : index
      %xs = kernel.view %x map #all : !buffer -> !all
      %hs = kernel.view %h map #all : !halves -> !half_view
      %ys = kernel.view %y map #all : !buffer -> !all
      %v = kernel.load %xs[%c0] : !all -> vector<16xf32>
      %sum = vector.reduction <add>, %v fastmath<reassoc> : vector<16xf32> into f32
      %max = vector.reduction <maximumf>, %v : vector<16xf32> into f32
      %hv = kernel.load %hs[%c0] : !half_view -> vector<16xf16>
      %hmax = vector.reduction <maximumf>, %hv : vector<16xf16> into f16
      %hf = arith.extf %hmax : f16 to f32
      %steps = vector.step : vector<16xindex>
      %ints = arith.index_cast %steps : vector<16xindex> to vector<16xi32>
      %ramp = arith.sitofp %ints : vector<16xi32> to vector<16xf32>
      %reversed = vector.shuffle %ramp, %v [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 16] : vector<16xf32>, vector<16xf32>
      %third = vector.extract %v[3] : f32 from vector<16xf32>
      %w0 = vector.insert %sum, %reversed[0] : f32 into vector<16xf32>
      %w1 = vector.insert %max, %w0[1] : f32 into vector<16xf32>
      %w2 = vector.insert %third, %w1[2] : f32 into vector<16xf32>
      %w3 = vector.insert %hf, %w2[3] : f32 into vector<16xf32>
      %pair = vector.from_elements %third, %sum : vector<2xf32>
      %w4 = vector.extract %pair[1] : f32 from vector<2xf32>
      %w5 = vector.insert %w4, %w3[4] : f32 into vector<16xf32>
      kernel.store %w5, %ys[%c0] : vector<16xf32>, !all
      kernel.return
    })");
  std::vector<float> x = counting(16), y(16);
  std::vector<uint16_t> h(16, 0x3c00); // 1
  h[9] = 0x4500;                       // 5
  kernels.run("k", {x.data(), h.data(), y.data()});
  EXPECT_EQ(y, (std::vector<float>{136, 16, 4, 5, 136, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1}));
}
