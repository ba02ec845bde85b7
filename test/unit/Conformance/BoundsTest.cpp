//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "conformance/Builder.h"
#include "conformance/Device.h"
#include "conformance/Evaluate.h"

#include <gtest/gtest.h>

#include <limits>

using namespace zyx;
using namespace zyx::conformance;

namespace {

/// Answers one value whatever it is asked.
class FixedDevice : public Device {
public:
  explicit FixedDevice(HostTensor answer) : answer(std::move(answer)) {}
  Result<std::vector<HostTensor>> run(const graph::Graph &, std::span<const HostTensor>) override {
    return std::vector<HostTensor>{answer};
  }

private:
  HostTensor answer;
};

/// The verdict of an answer to the sum of two numbers, which `to` cannot hold from 464 on.
Verdict judge(double first, double second, double answer) {
  const DType to = DType::F8E4M3FN;
  Program program;
  Builder b(program, "sum");
  const NodeId x = b.input(makeTensor(DType::F64, {2}, {first, second}));
  program.graph.outputs.push_back({"y", b.cast(b.reduce(ReduceKind::Add, x, {0}), to)});
  FixedDevice device(makeTensor(to, {}, {answer}));
  return runProgram(program, true, device);
}

} // namespace

TEST(BoundsTest, SumAtTheEdgeOfACastMayOverflow) {
  const double below = 464 - 0x1p-44;
  EXPECT_EQ(judge(below - 1, 1, 448).outcome, Outcome::Pass);
  const Verdict verdict = judge(below - 1, 1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(verdict.outcome, Outcome::Pass) << verdict.text;
  EXPECT_EQ(verdict.numFree, 1);
}

TEST(BoundsTest, SumFarFromTheEdgeMayNot) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge(400, 1, nan).outcome, Outcome::Wrong);
  EXPECT_EQ(judge(400, 100, nan).outcome, Outcome::Pass);
  EXPECT_EQ(judge(400, 100, 448).outcome, Outcome::Wrong);
}
