//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "zyx/Base/Interruption.h"
#include "zyx/Tensor/Watch.h"

#include <atomic>
#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::ElementsAre;
using testing::HasSubstr;

using LoopTest = DeviceTest;

TEST_P(LoopTest, CarriesValues) {
  const Tensor x = Tensor::from({0.5, -0.25}), w = Tensor::from({2., 3.});
  // What is read from outside: a leaf, what is made of one, and constants.
  const std::vector<Tensor> found =
      loop(4, std::vector{x, Tensor::from({1, 1}), w}, [&](const Tensor &trip, std::span<const Tensor> now) {
        return std::vector{now[0] * (w + 1) + trip.cast(DType::F64), now[1] + Tensor::arange(1, 3, 1, DType::I32), w};
      });
  double a = 0.5, b = -0.25;
  for (int i = 0; i < 4; ++i)
    a = a * 3 + i, b = b * 4 + i;
  EXPECT_THAT(found[0].toVector<double>(), ElementsAre(a, b));
  EXPECT_THAT(found[1].toVector<int32_t>(), ElementsAre(5, 9));
  EXPECT_THAT(found[2].toVector<double>(), ElementsAre(2, 3));
}

TEST_P(LoopTest, TripsMayBeData) {
  auto powers = [](const Tensor &trips) {
    return loop(trips, std::vector{Tensor::from({1, 2})},
                [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0] * 2}; })[0];
  };
  for (int64_t trips : {5, 0, -3}) {
    const int32_t factor = 1 << std::max<int64_t>(trips, 0);
    EXPECT_THAT(powers(Tensor::from(std::vector{trips}, {})).toVector<int32_t>(), ElementsAre(factor, 2 * factor));
  }
  const Tensor start = Tensor::from({3});
  EXPECT_THAT(loop(0, std::vector{start},
                   [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0] + 1}; })[0]
                  .toVector<int32_t>(),
              ElementsAre(3));
}

TEST_P(LoopTest, IsTheSameProgramAgain) {
  auto run = [](float factor) {
    const Tensor by = Tensor::from({factor}), more = Tensor::from({1.f});
    return loop(3, std::vector{Tensor::from({1.f})},
                [&](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0] * by + more}; })[0]
        .item<float>();
  };
  EXPECT_EQ(run(2), 15);
  EXPECT_EQ(run(3), 40);
  EXPECT_EQ(context.counters().hits, 1u);
}

TEST_P(LoopTest, LoopsLieInLoopsAndInJits) {
  // x of the outer loop, and y of the function, are read by the inner one.
  const Jit sums([](std::span<const Tensor> a) {
    return loop(3, std::vector{a[0]}, [&](const Tensor &i, std::span<const Tensor> outer) {
      return loop(2, std::vector{outer[0]}, [&](const Tensor &j, std::span<const Tensor> inner) {
        return std::vector{inner[0] + outer[0] * a[1] + i * 10 + j};
      });
    });
  });
  for (int64_t y : {1, 2}) {
    int64_t x = 7;
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t outer = x;
      for (int64_t j = 0; j < 2; ++j)
        x += outer * y + 10 * i + j;
    }
    EXPECT_EQ(sums({Tensor::from({int64_t(7)}), Tensor::from({y})})[0].item<int64_t>(), x);
  }
  EXPECT_EQ(sums.numCaptures(), 1u);
}

TEST_P(LoopTest, ViewsOfWhatIsReadAreNoCopies) {
  // The operands of a product are expanded: outside of the loop, that of the weights would have 16 MiB.
  const Tensor w = Tensor::full({256, 256}, 0.25).detach(), x = Tensor::ones({64, 256}).detach();
  const Tensor found = loop(2, std::vector{x}, [&](const Tensor &, std::span<const Tensor> now) {
    return std::vector{matmul(now[0], w.transpose())};
  })[0];
  EXPECT_EQ(floats(found)[0], 64 * 64);
  EXPECT_LT(context.counters().peakBytes, 2u << 20);
}

TEST_P(LoopTest, GradientsGoToViewsThatAreReadInTheBody) {
  const Tensor all = test::doubles({2, 3, 3});
  expectGradients(
      [](const std::vector<Tensor> &x) {
        const Tensor none = Tensor::zeros({3}, DType::F64), turned = x[0].transpose();
        return loop(3, std::vector{none}, [&](const Tensor &i, std::span<const Tensor> now) {
          return std::vector{now[0] * 0.5 + take(turned, i, 0)};
        })[0];
      },
      {all.select(0, 1)});
}

TEST_P(LoopTest, HasAGradient) {
  expectGradients(
      [](const std::vector<Tensor> &x) {
        return loop(3, std::vector{x[0]}, [&](const Tensor &trip, std::span<const Tensor> now) {
          return std::vector{(now[0] * x[1]).sin() + now[0] * trip.cast(DType::F64) * 0.1};
        })[0];
      },
      {doubles({2, 3}), doubles({3}, 2)});
}

TEST_P(LoopTest, GradientsOfRowsThatAreUpdated) {
  // What a row was is read before it is replaced, and the row before it behind that.
  expectGradients(
      [](const std::vector<Tensor> &x) {
        const std::vector<Tensor> found =
            loop(4, std::vector{x[0], x[1]}, [&](const Tensor &i, std::span<const Tensor> now) {
              const Tensor next = (now[0] * take(now[1], i, 0) + take(x[2], i, 0)).sin();
              const Tensor all = scatter(now[1], i, next, 0);
              return std::vector{next * take(all, i - 1, 0) + now[0], all};
            });
        return concat(std::vector{found[0].unsqueeze(0), found[1]});
      },
      {doubles({3}), doubles({4, 3}, 2), doubles({4, 3}, 3)});
}

TEST_P(LoopTest, ValuesMoveOn) {
  // New ones push those before them, and two pairs change places.
  const Tensor a = Tensor::from({1, 2}), b = Tensor::from({3, 4}), c = Tensor::from({5, 6});
  for (int trips : {0, 1, 2, 3, 5, 8, 13}) {
    const std::vector<Tensor> found =
        loop(trips, std::vector{a, b, c, a, b, c}, [&](const Tensor &, std::span<const Tensor> now) {
          return std::vector{now[1], now[2], now[0] + now[2], now[4], now[3], now[5] * 2 + now[3]};
        });
    std::vector<std::vector<int>> expected{{1, 2}, {3, 4}, {5, 6}, {1, 2}, {3, 4}, {5, 6}};
    for (int trip = 0; trip < trips; ++trip) {
      const auto now = expected;
      for (size_t i = 0; i < 2; ++i) {
        expected[0][i] = now[1][i], expected[1][i] = now[2][i], expected[2][i] = now[0][i] + now[2][i];
        expected[3][i] = now[4][i], expected[4][i] = now[3][i], expected[5][i] = now[5][i] * 2 + now[3][i];
      }
    }
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i].toVector<int32_t>(), expected[i]) << trips << " trips, value " << i;
  }
  EXPECT_THAT(a.toVector<int32_t>(), ElementsAre(1, 2));
}

TEST_P(LoopTest, Refusals) {
  const Tensor x = Tensor::from({1.f, 2.f});
  auto same = [](const Tensor &, std::span<const Tensor> now) { return std::vector<Tensor>(now.begin(), now.end()); };
  EXPECT_THAT(refusal([&] { loop(-1, std::vector{x}, same); }), HasSubstr("LoopTest.cpp"));
  EXPECT_THAT(refusal([&] { loop(-1, std::vector{x}, same); }), HasSubstr("loop: there are no -1 trips"));
  EXPECT_THAT(refusal([&] { loop(1, {}, same); }), HasSubstr("loop: nothing is carried"));
  EXPECT_THAT(refusal([&] { loop(1, std::vector{Tensor::from({1.f})}, nullptr); }),
              HasSubstr("loop: there is no body"));
  EXPECT_THAT(refusal([&] { loop(1, std::vector{x, Tensor()}, same); }),
              HasSubstr("loop: there is no tensor in one place of what is carried"));
  EXPECT_THAT(refusal([&] { loop(Tensor::from({1}), std::vector{x}, same); }),
              HasSubstr("loop: the number of trips is of type i32[1], not i64[]"));
  EXPECT_THAT(refusal([&] { loop(Tensor(), std::vector{x}, same); }),
              HasSubstr("loop: the number of trips is no tensor, not i64[]"));
  EXPECT_THAT(refusal([&] {
                loop(1, std::vector{x, x},
                     [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0]}; });
              }),
              HasSubstr("loop: the body makes 1 values of 2"));
  EXPECT_THAT(refusal([&] {
                loop(1, std::vector{x},
                     [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0].sum()}; });
              }),
              HasSubstr("loop: value 0 is of type f32[2], and the body makes it f32[]"));
  EXPECT_THAT(refusal([&] {
                loop(1, std::vector{x}, [](const Tensor &, std::span<const Tensor>) { return std::vector{Tensor()}; });
              }),
              HasSubstr("loop: value 0 is of type f32[2], and the body makes it no tensor"));
  EXPECT_THAT(refusal([&] {
                loop(1, std::vector{x}, [](const Tensor &, std::span<const Tensor> now) {
                  now[0].bytes();
                  return std::vector{now[0]};
                });
              }),
              HasSubstr("a value is read that depends on the arguments of a function which is captured"));
}

TEST_P(LoopTest, GoesOnWhileAConditionIsTrue) {
  // Of Collatz: how many steps to 1.
  for (int64_t first : {1, 2, 27}) {
    const std::vector<Tensor> found = whileLoop(
        std::vector{Tensor::from(std::vector{first}, {}), Tensor::zeros({}, DType::I64)},
        [](std::span<const Tensor> now) { return now[0] > 1; },
        [](const Tensor &trip, std::span<const Tensor> now) {
          const Tensor isOdd = (now[0] % 2).cast(DType::Bool);
          return std::vector{where(isOdd, now[0] * 3 + 1, now[0] / 2), trip + 1};
        });
    int64_t steps = 0;
    for (int64_t n = first; n > 1; ++steps)
      n = n % 2 ? 3 * n + 1 : n / 2;
    EXPECT_EQ(found[0].item<int64_t>(), 1);
    EXPECT_EQ(found[1].item<int64_t>(), steps);
  }
}

TEST_P(LoopTest, LoopsWithoutAnEndAreInterrupted) {
  const Jit endless([](std::span<const Tensor> a) {
    return whileLoop(
        std::vector{a[0], a[1]}, [](std::span<const Tensor> now) { return now[0] >= 0; },
        [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0], now[1].sin()}; });
  });
  const std::vector arguments{Tensor::from(std::vector<int64_t>{1}, {}), Tensor::from({1.f, 2.f})};
  const auto read = [&] { return endless(arguments)[1].toVector<float>(); };
  // Some devices compute in the call, so that another thread interrupts.
  std::atomic<bool> isOver = false;
  std::thread other([&] {
    while (!isOver) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      interruptLoops();
    }
  });
  EXPECT_THAT(refusal(read), HasSubstr("a loop was interrupted"));
  EXPECT_THAT(refusal(read), HasSubstr("a loop was interrupted"));
  // Those with a number of trips come to their end.
  const std::vector<Tensor> counted =
      loop(Tensor::from(std::vector<int64_t>{3000}, {}), std::vector{Tensor::from({1})},
           [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0] + 2}; });
  EXPECT_EQ(counted[0].item<int32_t>(), 6001);
  isOver = true;
  other.join();
  // Later runs are not touched.
  EXPECT_EQ(loop(3, std::vector{Tensor::from({1})},
                 [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0] * 2}; })[0]
                .item<int32_t>(),
            8);
}

TEST_P(LoopTest, WhoWaitsMayInterrupt) {
  // It computes in the call, and nobody waits.
  if (std::string(GetParam()) == "reference")
    return;
  std::atomic<int> asked = 0;
  setCompileWatcher({.waits = [&] {
    if (++asked > 2)
      interruptLoops();
  }});
  const std::vector<Tensor> found = whileLoop(
      std::vector{Tensor::from(std::vector<int64_t>{1}, {}), Tensor::from({1.f, 2.f})},
      [](std::span<const Tensor> now) { return now[0] >= 0; },
      [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0], now[1].sin()}; });
  EXPECT_THAT(refusal([&] { found[1].toVector<float>(); }), HasSubstr("a loop was interrupted"));
  setCompileWatcher({});
  EXPECT_GT(asked, 2);
}

TEST_P(LoopTest, LoopsThatConditionsEndLieInOthersAndInJits) {
  const Jit sums([](std::span<const Tensor> a) {
    return loop(3, std::vector{a[0]}, [&](const Tensor &trip, std::span<const Tensor> outer) {
      return whileLoop(
          std::vector{outer[0]}, [&](std::span<const Tensor> now) { return now[0].sum() < a[1] + trip * 10; },
          [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0] + 1}; });
    });
  });
  for (int64_t most : {5, -40}) {
    int64_t x = 1, y = 2;
    for (int trip = 0; trip < 3; ++trip)
      while (x + y < most + trip * 10)
        ++x, ++y;
    const std::vector<Tensor> found =
        sums(std::vector{Tensor::from(std::vector<int64_t>{1, 2}, {2}), Tensor::from(std::vector{most}, {})});
    EXPECT_THAT(found[0].toVector<int64_t>(), ElementsAre(x, y));
  }
}

TEST_P(LoopTest, BranchesThatDataChooses) {
  const Tensor x = Tensor::from({1.f, 2.f}), y = Tensor::from({3.f, -1.f});
  const auto chosen = [&](const Tensor &condition, const Tensor &a, const Tensor &b) {
    return cond(
        condition, {a, b}, [](std::span<const Tensor> in) { return std::vector{in[0] * in[1], in[0].sum()}; },
        [](std::span<const Tensor> in) { return std::vector{in[1] - in[0], in[1].max()}; });
  };
  for (bool isTrue : {true, false}) {
    const std::vector<Tensor> found = chosen(Tensor::from(std::vector{isTrue}, {}), x, y);
    EXPECT_THAT(found[0].toVector<float>(), isTrue ? ElementsAre(3, -2) : ElementsAre(2, -3));
    EXPECT_EQ(found[1].item<float>(), 3);
    expectGradients(
        [&](const std::vector<Tensor> &in) {
          return chosen(Tensor::from(std::vector{isTrue}, {}), in[0] * 2, in[1])[0].sin();
        },
        {doubles({2, 3}), doubles({2, 3}, 2)});
  }
}

TEST_P(LoopTest, BranchesThatANumberChooses) {
  const Branch twice = [](std::span<const Tensor> in) { return std::vector{in[0] * 2}; };
  const Branch less = [](std::span<const Tensor> in) { return std::vector{in[0] - 1}; };
  const Branch minus = [](std::span<const Tensor> in) { return std::vector{-in[0]}; };
  for (int64_t index : {-1, 0, 1, 2, 3}) {
    const float expected = index == 0 ? 10 : index == 1 ? 4 : -5;
    EXPECT_EQ(choose(Tensor::from(std::vector{index}, {}), {Tensor::from({5.f})}, std::vector{twice, less, minus})[0]
                  .item<float>(),
              expected);
  }
}

TEST_P(LoopTest, RefusalsOfConditions) {
  const Tensor x = Tensor::from({1.f, 2.f}), yes = Tensor::from(std::vector{true}, {});
  auto same = [](const Tensor &, std::span<const Tensor> now) { return std::vector<Tensor>(now.begin(), now.end()); };
  auto pass = [](std::span<const Tensor> in) { return std::vector<Tensor>(in.begin(), in.end()); };
  EXPECT_THAT(refusal([&] { whileLoop(std::vector{x}, [](std::span<const Tensor> now) { return now[0]; }, same); }),
              HasSubstr("whileLoop: the condition is of type f32[2], not bool[]"));
  EXPECT_THAT(refusal([&] { whileLoop(std::vector{x}, nullptr, same); }),
              HasSubstr("whileLoop: there is no condition"));
  EXPECT_THAT(refusal([&] { whileLoop({}, [&](std::span<const Tensor>) { return yes; }, same); }),
              HasSubstr("loop: nothing is carried"));
  EXPECT_THAT(refusal([&] {
                whileLoop(
                    std::vector{x}, [&](std::span<const Tensor>) { return yes; },
                    [](const Tensor &, std::span<const Tensor>) { return std::vector<Tensor>(); });
              }),
              HasSubstr("whileLoop: the body makes 0 values of 1"));
  EXPECT_THAT(refusal([&] { cond(x, {x}, pass, pass); }),
              HasSubstr("cond: the condition is of type f32[2], not bool[]"));
  EXPECT_THAT(refusal([&] { cond(yes, {x}, pass, nullptr); }), HasSubstr("cond: there is no branch"));
  EXPECT_THAT(refusal([&] { cond(yes, {x, Tensor()}, pass, pass); }),
              HasSubstr("cond: there is no tensor in one place of the operands"));
  EXPECT_THAT(
      refusal([&] { cond(yes, {x}, pass, [](std::span<const Tensor> in) { return std::vector{in[0], in[0]}; }); }),
      HasSubstr("cond: one branch makes 1 values, and the other 2"));
  EXPECT_THAT(
      refusal([&] { cond(yes, {x}, pass, [](std::span<const Tensor> in) { return std::vector{in[0].sum()}; }); }),
      HasSubstr("cond: one branch makes f32[2] as value 0, and the other f32[]"));
  EXPECT_THAT(refusal([&] { cond(yes, {}, pass, pass); }), HasSubstr("cond: a branch makes nothing"));
  EXPECT_THAT(refusal([&] { cond(yes, {x}, [](std::span<const Tensor>) { return std::vector{Tensor()}; }, pass); }),
              HasSubstr("cond: there is no tensor in one place of what a branch makes"));
  EXPECT_THAT(refusal([&] { choose(x, {x}, std::vector<Branch>{pass}); }),
              HasSubstr("choose: the index is of type f32[2], not i64[]"));
  EXPECT_THAT(refusal([&] { choose(Tensor::zeros({}, DType::I64), {x}, {}); }),
              HasSubstr("choose: there are no branches"));
}

INSTANTIATE_TEST_SUITE_P(Devices, LoopTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
