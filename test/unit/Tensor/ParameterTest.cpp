//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <atomic>
#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::ElementsAre;
using testing::HasSubstr;

using ParameterTest = DeviceTest;

/// One thread trains, the others serve. A reader that had a reference would copy a tensor that was freed.
TEST_P(ParameterTest, ThreadsReadWhatOthersSet) {
  const Parameter parameter(Tensor::full({4}, 0));
  std::atomic<bool> isOver = false;
  std::atomic<int> wrong = 0, reads = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      while (!isOver || reads < 100) {
        wrong += parameter->type() != TensorType{DType::F32, {4}};
        wrong += (*parameter).shape() != Shape{4};
        const std::vector<float> values = parameter.value().toVector<float>();
        wrong += values != std::vector<float>(4, values[0]);
        ++reads;
      }
    });
  for (int i = 1; i < 3000; ++i)
    parameter.set(Tensor::from(std::vector<float>(4, float(i)), {4}));
  isOver = true;
  for (std::thread &reader : readers)
    reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(floats(*parameter), testing::Each(2999));
}

TEST_P(ParameterTest, FirstValuesAreMadeWhenTheyAreRead) {
  int calls = 0;
  const Initial first{{DType::F32, {2}}, [&] {
                        ++calls;
                        return Tensor::from({1.f, 2.f});
                      }};
  const Parameter read(first), set(first), cast(first);
  EXPECT_EQ(read.type(), (TensorType{DType::F32, {2}}));
  EXPECT_EQ(read.device(), GetParam());
  set.set(Tensor::from({3.f, 4.f}));
  cast.cast(DType::BF16);
  EXPECT_EQ(cast.type().dtype, DType::BF16);
  EXPECT_EQ(calls, 0);
  EXPECT_THAT(floats(*read), ElementsAre(1, 2));
  EXPECT_THAT(floats(*read), ElementsAre(1, 2));
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(floats(cast->cast(DType::F32)), ElementsAre(1, 2));
  EXPECT_THAT(floats(*set), ElementsAre(3, 4));
  EXPECT_EQ(calls, 2);
  const Parameter wrong(Initial{{DType::F32, {3}}, first.make});
  EXPECT_THAT(refusal([&] { wrong.value(); }), HasSubstr("a parameter of type f32[3] begins as one of type f32[2]"));
  EXPECT_THAT(refusal([&] { Parameter(Initial{{DType::F32, {3}}, nullptr}); }),
              HasSubstr("a parameter has no function that makes its first value"));
}

TEST_P(ParameterTest, TypesChangeOnRequestAlone) {
  const Parameter parameter(Tensor::from({1.f, 2.f}));
  EXPECT_THAT(refusal([&] { parameter.set(Tensor::from({1.0, 2.0})); }),
              HasSubstr("a parameter of type f32[2] does not become one of type f64[2]"));
  parameter.reset(Tensor::from({1.0, 2.0}));
  EXPECT_EQ(parameter.type().dtype, DType::F64);
  EXPECT_THAT(refusal([&] { parameter.reset(Tensor::from({1.0})); }), HasSubstr("does not become one of type f64[1]"));
  EXPECT_THAT(refusal([&] {
                Jit([&](std::span<const Tensor> a) {
                  parameter.cast(DType::F32);
                  return std::vector{a[0]};
                })({Tensor::ones({1})});
              }),
              HasSubstr("a parameter becomes of another dtype in a function that is captured; do it outside"));
  EXPECT_THAT(refusal([] { Parameter().value(); }), HasSubstr("there is no parameter in this place"));
  EXPECT_FALSE(Parameter().isDefined());
}

INSTANTIATE_TEST_SUITE_P(Devices, ParameterTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

/// What is set is a leaf, as the first value is: constants are told from others, two parameters with one value from
/// each other, and gradients end there.
TEST_P(ParameterTest, WhatIsSetIsALeafOfItsOwn) {
  const Parameter a(Tensor::ones({2})), b(Tensor::ones({2}));
  a.set(Tensor::zeros({2}));
  b.set(Tensor::zeros({2}));
  const auto gradients = [&] { return gradient((*a * 2 + *b * 3).sum(), {*a, *b}); };
  EXPECT_THAT(floats(gradients()[0]), testing::Each(2));
  EXPECT_THAT(floats(gradients()[1]), testing::Each(3));
  const Tensor both = Tensor::from({1.f, 2.f});
  a.set(both);
  b.set(both);
  EXPECT_THAT(floats(gradients()[0]), testing::Each(2));
  EXPECT_THAT(floats(gradients()[1]), testing::Each(3));
  b.set(*a * 5);
  EXPECT_THAT(floats(gradients()[0]), testing::Each(2));
  b.reset(*a * 5);
  EXPECT_THAT(floats(gradients()[0]), testing::Each(2));
  EXPECT_THAT(floats(*b), testing::ElementsAre(5, 10));
}

TEST_P(ParameterTest, SetKeepsNothingAliveAndSetLaterUntilItIsComputed) {
  const Context context = Context::current();
  const Parameter p(Tensor::ones({2}));
  const uint64_t nodes = context.counters().liveNodes;
  for (int i = 0; i < 50; ++i)
    p.set((*p + 1) * 0.5);
  EXPECT_EQ(context.counters().liveNodes, nodes);
  for (int i = 0; i < 50; ++i)
    p.setLater(*p + 1);
  EXPECT_GE(context.counters().liveNodes, nodes + 50);
  p->realize();
  EXPECT_THAT(floats(*p), testing::Each(51));
  EXPECT_LE(context.counters().liveNodes, nodes + 1);
  // Within a function that is captured, both are results of it.
  const Jit step([&](std::span<const Tensor> x) {
    p.set(*p + x[0]);
    return std::vector{*p * 2};
  });
  EXPECT_THAT(floats(step({Tensor::ones({2})})[0]), testing::Each(104));
  EXPECT_THAT(floats(*p), testing::Each(52));
}
