//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "conformance/Builder.h"
#include "conformance/Device.h"
#include "conformance/Evaluate.h"

#include "zyx/Base/Float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace zyx;
using namespace zyx::conformance;

namespace {

/// Answers one value whatever it is asked.
class FixedDevice : public Device {
public:
  explicit FixedDevice(HostTensor answer, Roundings allowed = {}) : answer(std::move(answer)), allowed(allowed) {}
  Result<std::vector<HostTensor>> run(const graph::Graph &, std::span<const HostTensor>) override {
    return std::vector<HostTensor>{answer};
  }
  Roundings roundings() const override { return allowed; }

private:
  HostTensor answer;
  Roundings allowed;
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

constexpr size_t numKeys = 5;
constexpr double scores[numKeys] = {0.3, -0.2, 1.1, 0.7, -1.4}, values[numKeys] = {1.5, -2.25, 0.875, 3, -1.125},
                 seed = 1.625;

float narrow(double x) { return static_cast<float>(bfloat16ToFloat(floatToBFloat16(x))); }

/// The attention of one query to values of one feature in bf16, and the sum of its weights times their gradients.
struct Attention {
  /// As somebody computes it who rounds its weights.
  Attention(bool roundsWeights) {
    std::vector<float> weights;
    float sum = 0;
    for (double score : scores)
      sum += weights.emplace_back(std::exp(static_cast<float>(score) - static_cast<float>(scores[2])));
    for (size_t i = 0; i < numKeys; ++i) {
      const float weight = weights[i] / sum;
      result += (roundsWeights ? narrow(weight) : weight) * static_cast<float>(values[i]);
      weighted += weight * static_cast<float>(values[i] * seed);
    }
  }
  /// Of what is there in f32, the program.
  static Program program(bool isWeighted) {
    Program program;
    Builder b(program, "attention");
    const NodeId x = b.input(makeTensor(DType::F32, {1, numKeys}, {scores, scores + numKeys}));
    const NodeId v = b.cast(b.input(makeTensor(DType::BF16, {1, numKeys}, {values, values + numKeys})), DType::F32);
    const NodeId e = b.unary(UnaryKind::Exp, b.sub(x, b.back(b.reduce(ReduceKind::Max, x, {1}), 1, numKeys)));
    const NodeId w = b.div(e, b.back(b.reduce(ReduceKind::Add, e, {1}), 1, numKeys));
    // Of one feature.
    const NodeId seeds =
        b.cast(b.input(makeTensor(DType::BF16, {1, numKeys, 1}, std::vector(numKeys, seed))), DType::F32);
    const NodeId gradients = b.reduce(ReduceKind::Add, b.mul(seeds, b.reshape(v, {1, numKeys, 1})), {2});
    program.graph.outputs.push_back({"y", b.reduce(ReduceKind::Add, b.mul(w, isWeighted ? gradients : v), {1})});
    return program;
  }
  float result = 0, weighted = 0;
};

Outcome judgeAttention(bool isWeighted, double answer, Roundings allowed) {
  FixedDevice device(makeTensor(DType::F32, {1}, {answer}), allowed);
  return runProgram(Attention::program(isWeighted), true, device).outcome;
}

} // namespace

/// Devices with other freedoms share what does not depend on these, and nothing else.
TEST(ExpectationsTest, AreSharedWhereTheirBoundsWouldBeTheSame) {
  const Roundings none, weights{.ofWeights = true}, results{.ofResults = true};
  Expectations plain, asked;
  const Expectations::Known &first = plain.add({none, none, std::vector<Expected>()});
  for (const Roundings &roundings : {none, weights, results})
    EXPECT_EQ(plain.find(roundings), &first);
  const Expectations::Known &second = asked.add({none, weights, std::vector<Expected>()});
  EXPECT_EQ(asked.find(none), &second);
  EXPECT_EQ(asked.find(results), &second);
  EXPECT_EQ(asked.find(weights), nullptr);
  const Expectations::Known &third = asked.add({weights, weights, std::vector<Expected>()});
  EXPECT_EQ(asked.find(weights), &third);
  EXPECT_EQ(asked.find(none), &second);
}

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

TEST(BoundsTest, WeightsAreRoundedWhereTheDeviceSaysSo) {
  const Attention exact(false), rounded(true);
  EXPECT_EQ(judgeAttention(false, exact.result, {}), Outcome::Pass);
  EXPECT_EQ(judgeAttention(false, rounded.result, {}), Outcome::Wrong);
  EXPECT_EQ(judgeAttention(false, rounded.result, {.ofResults = true}), Outcome::Wrong);
  EXPECT_EQ(judgeAttention(false, rounded.result, {.ofWeights = true}), Outcome::Pass);
  EXPECT_EQ(judgeAttention(false, exact.result * 1.02, {.ofWeights = true}), Outcome::Wrong);
}

TEST(BoundsTest, WeightsBelowTheNormalNumbersAreZeroWhereTheDeviceSaysSo) {
  const auto judgeWeight = [](double weight, Roundings allowed) {
    Program program;
    Builder b(program, "weights");
    const NodeId x = b.reduce(ReduceKind::Add, b.input(makeTensor(DType::F32, {1, 2, 2}, {0, 0, -80, -8})), {2});
    const NodeId least = b.sub(x, b.back(b.reduce(ReduceKind::Max, x, {1}), 1, 2));
    program.graph.outputs.push_back({"y", b.unary(UnaryKind::Exp, least)});
    FixedDevice device(makeTensor(DType::F32, {1, 2}, {1, weight}), allowed);
    return runProgram(program, true, device).outcome;
  };
  // exp(-88) is 6.05e-39.
  EXPECT_EQ(judgeWeight(6.05460149e-39, {}), Outcome::Pass);
  EXPECT_EQ(judgeWeight(0, {}), Outcome::Wrong);
  EXPECT_EQ(judgeWeight(0, {.ofWeights = true}), Outcome::Pass);
  EXPECT_EQ(judgeWeight(3e-38, {.ofWeights = true}), Outcome::Wrong);
}

// A masked score is a constant, so that its power is off by nothing else.
TEST(BoundsTest, WeightsOfTheExponentsOfF32AreZeroBelowTheNormalNumbers) {
  const auto judgeMasked = [](DType dtype, double weight, Roundings allowed) {
    Program program;
    Builder b(program, "masked");
    const NodeId sum = b.reduce(ReduceKind::Add, b.input(makeTensor(DType::F32, {1, 1, 2}, {0, 0})), {2});
    const NodeId masked = b.constant(makeTensor(dtype, {}, {-88}));
    const NodeId scores = b.pad(b.cast(sum, dtype), masked, {0, 0}, {0, 1}, {0, 0});
    program.graph.outputs.push_back({"y", b.unary(UnaryKind::Exp, scores)});
    FixedDevice device(makeTensor(dtype, {1, 2}, {1, weight}), allowed);
    return runProgram(program, true, device).outcome;
  };
  for (DType dtype : {DType::F32, DType::BF16}) {
    EXPECT_EQ(judgeMasked(dtype, 6.05460149e-39, {}), Outcome::Pass);
    EXPECT_EQ(judgeMasked(dtype, 0, {}), Outcome::Wrong);
    EXPECT_EQ(judgeMasked(dtype, 0, {.ofWeights = true}), Outcome::Pass);
    EXPECT_EQ(judgeMasked(dtype, 3e-38, {.ofWeights = true}), Outcome::Wrong);
  }
}

TEST(BoundsTest, ResultsAreRoundedWhereTheDeviceSaysSo) {
  const Attention exact(false);
  const double ofResult = narrow(exact.result) * seed;
  EXPECT_EQ(judgeAttention(true, exact.weighted, {}), Outcome::Pass);
  EXPECT_EQ(judgeAttention(true, ofResult, {}), Outcome::Wrong);
  EXPECT_EQ(judgeAttention(true, ofResult, {.ofResults = true}), Outcome::Pass);
  EXPECT_EQ(judgeAttention(true, exact.weighted * 1.03, {.ofResults = true}), Outcome::Wrong);
}
