//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TestGraph.h"

using namespace zyx;
using namespace zyx::reference;
using graph::NodeId;
using graph::ReduceKind;

namespace {
void expectReduce(ReduceKind kind, DType dtype, const std::vector<double> &x, double expected) {
  SCOPED_TRACE(std::string(toString(kind)) + " of " + std::string(toString(dtype)));
  expectNumbers(evaluateReduce(kind, tensor(dtype, {int64_t(x.size())}, x), {0}), {expected});
}
} // namespace

TEST(ReduceTest, Dimensions) {
  std::vector<double> values(24);
  for (int i = 0; i < 24; ++i)
    values[i] = i;
  for (DType dtype : {DType::I32, DType::F32, DType::F64, DType::U16}) {
    const HostTensor x = tensor(dtype, {2, 3, 4}, values);
    expectNumbers(evaluateReduce(ReduceKind::Add, x, {2}), {6, 22, 38, 54, 70, 86});
    expectNumbers(evaluateReduce(ReduceKind::Add, x, {0}), {12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34});
    expectNumbers(evaluateReduce(ReduceKind::Add, x, {0, 2}), {60, 92, 124});
    expectNumbers(evaluateReduce(ReduceKind::Max, x, {1}), {8, 9, 10, 11, 20, 21, 22, 23});
    expectNumbers(evaluateReduce(ReduceKind::Min, x, {0, 1, 2}), {0});
  }
}

TEST(ReduceTest, OfNothing) {
  for (DType dtype : {DType::I8, DType::U64, DType::F16, DType::F32, DType::F64}) {
    const HostTensor x = tensor(dtype, {2, 0}, {});
    expectNumbers(evaluateReduce(ReduceKind::Add, x, {1}), {0, 0});
    expectNumbers(evaluateReduce(ReduceKind::Mul, x, {1}), {1, 1});
    expectNumbers(evaluateReduce(ReduceKind::Add, x, {0}), {});
    expectNumbers(evaluateReduce(ReduceKind::Max, x, {0}), {});
  }
  expectNumbers(evaluateReduce(ReduceKind::And, tensor(DType::Bool, {0}, {}), {0}), {1});
  expectNumbers(evaluateReduce(ReduceKind::Or, tensor(DType::Bool, {0}, {}), {0}), {0});
  expectNumbers(evaluateReduce(ReduceKind::And, tensor(DType::I16, {0}, {}), {0}), {-1});
  expectNumbers(evaluateReduce(ReduceKind::And, tensor(DType::U8, {0}, {}), {0}), {255});
  expectNumbers(evaluateReduce(ReduceKind::Or, tensor(DType::U8, {0}, {}), {0}), {0});
}

TEST(ReduceTest, NaNWins) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min, ReduceKind::Add, ReduceKind::Mul}) {
      expectReduce(kind, dtype, {1, quietNaN, 2}, quietNaN);
      expectReduce(kind, dtype, {quietNaN, 1}, quietNaN);
    }
    expectReduce(ReduceKind::Max, dtype, {-inf, -inf}, -inf);
    expectReduce(ReduceKind::Min, dtype, {inf}, inf);
    expectReduce(ReduceKind::Max, dtype, {-0.0, 0}, 0);
    expectReduce(ReduceKind::Min, dtype, {0, -0.0}, -0.0);
    expectReduce(ReduceKind::Add, dtype, {inf, 1}, inf);
    expectReduce(ReduceKind::Add, dtype, {inf, -inf}, quietNaN);
    expectReduce(ReduceKind::Mul, dtype, {-2, 3, 0.5}, -3);
  }
}

TEST(ReduceTest, IntegersWrap) {
  expectReduce(ReduceKind::Add, DType::I8, {127, 1}, -128);
  expectReduce(ReduceKind::Mul, DType::U8, {16, 17}, 16);
  expectReduce(ReduceKind::Mul, DType::I32, {2147483647.0, 2}, -2);
  expectReduce(ReduceKind::Max, DType::I8, {-128, -127}, -127);
  expectReduce(ReduceKind::Min, DType::U16, {65535}, 65535);
  expectReduce(ReduceKind::And, DType::I32, {7, 14, -1}, 6);
  expectReduce(ReduceKind::Or, DType::I64, {1, 4}, 5);
  expectReduce(ReduceKind::Max, DType::Bool, {0, 1, 0}, 1);
  expectReduce(ReduceKind::Min, DType::Bool, {1, 1, 0}, 0);
  expectReduce(ReduceKind::And, DType::Bool, {1, 1}, 1);
  expectReduce(ReduceKind::Or, DType::Bool, {0, 0}, 0);
}

TEST(ReduceTest, SumsRoundOnce) {
  // In f16 steps the sum would stop at 2048, in bf16 steps at 256.
  expectReduce(ReduceKind::Add, DType::F16, std::vector<double>(5000, 1), 5000);
  expectReduce(ReduceKind::Add, DType::BF16, std::vector<double>(4096, 1), 4096);
  std::vector<double> halves(3000, 0.5);
  halves[0] = 16777216;
  expectReduce(ReduceKind::Add, DType::F32, halves, 16777216 + 1500);
  // The small terms are lost in plain double.
  std::vector<double> small(2001, 0x1p-53);
  small[0] = 1;
  expectReduce(ReduceKind::Add, DType::F64, small, 1 + 2000 * 0x1p-53);
  expectReduce(ReduceKind::Add, DType::F64, {1e100, 1, -1e100}, 1);
}

TEST(ReduceTest, ManyBlocks) {
  // Rows longer and shorter than a block, that begin anywhere in one.
  for (int64_t length : {1, 2, 3, 700, 1023, 1024, 1025, 3000}) {
    const int64_t rows = 5000 / length + 2;
    std::vector<double> x, sums;
    for (int64_t r = 0; r < rows; ++r) {
      sums.push_back(0);
      for (int64_t i = 0; i < length; ++i) {
        x.push_back(double((r * 31 + i * 7) % 100));
        sums.back() += x.back();
      }
    }
    SCOPED_TRACE(length);
    expectNumbers(evaluateReduce(ReduceKind::Add, tensor(DType::I32, {rows, length}, x), {1}), sums);
  }
}
