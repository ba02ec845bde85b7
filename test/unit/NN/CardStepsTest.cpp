//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Training steps compile for cards that are not there: test/fake-cuda says that it is one, and runs no kernel. The
// examples themselves are in test/Examples/cards.test.
//===----------------------------------------------------------------------===//
#include "../../../benchmarks/Models.h"
#include "../../../examples/digits.h"
#include "../../fake-cuda/FakeCuda.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

using namespace zyx;

namespace {

/// A card by its compute capability.
class CardSteps : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
    setenv("ZYX_CACHE_DIR", "off", 1);
    setenv("ZYX_CUDA_DRIVER", ZYX_FAKE_CUDA, 1);
    setenv("FAKE_CUDA_EXECUTE", "0", 1);
    void *library = dlopen(ZYX_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "zyxFakeCuda"))();
    reinterpret_cast<void (*)()>(dlsym(library, "zyxFakeCudaReset"))();
    fake->capability = GetParam();
    fake->memoryBytes = uint64_t(16) << 30;
    context.emplace(ContextOptions{.device = "cuda", .progress = false});
    scope.emplace(*context);
  }
  void TearDown() override {
    scope.reset();
    context.reset();
    unsetenv("ZYX_CUDA_DRIVER");
  }

  /// Takes a step of training and one of inference.
  template <typename Model> void takeSteps(const Model &model, const Tensor &inputs, const Tensor &targets) {
    optim::Optimizer optimizer(model.parameters(), optim::adamW());
    const optim::TrainStep step(optimizer, [&](std::span<const Tensor> batch) {
      return std::vector<Tensor>{bench::lossOf(model(batch[0]), batch[1])};
    });
    const int before = fake->launches;
    (void)step({inputs, targets})[0].template item<float>();
    // Small kernels of a step share launches.
    EXPECT_GE(fake->launches, before + 5);
    const Jit inference([&](std::span<const Tensor> x) { return std::vector<Tensor>{model(x[0])}; });
    const int between = fake->launches;
    (void)inference({inputs})[0].bytes();
    EXPECT_GT(fake->launches, between);
  }

  static Tensor zeros(DType dtype, Shape shape) { return Tensor::zeros(std::move(shape), dtype); }

  FakeCuda *fake = nullptr;
  std::optional<Context> context;
  std::optional<ContextScope> scope;
};

std::string nameOf(const testing::TestParamInfo<int> &info) { return "sm_" + std::to_string(info.param); }

} // namespace

// The sizes of benchmarks/steps.
TEST_P(CardSteps, Digits) {
  nn::InitRng rng(1);
  takeSteps(digits::Network(rng), zeros(DType::F32, {50, 1, 8, 8}), zeros(DType::I64, {50}));
}

TEST_P(CardSteps, Characters) {
  nn::InitRng rng(1);
  const bench::TransformerSizes sizes = {65, 128, 128, 6, 4};
  takeSteps(bench::CharTransformer(sizes, rng), zeros(DType::I64, {16, 128}), zeros(DType::I64, {16, 128}));
}

// Sizes that fill no tile.
TEST_P(CardSteps, CharactersOfOddSizes) {
  nn::InitRng rng(1);
  const bench::TransformerSizes sizes = {37, 19, 24, 2, 3};
  takeSteps(bench::CharTransformer(sizes, rng), zeros(DType::I64, {5, 19}), zeros(DType::I64, {5, 19}));
}

INSTANTIATE_TEST_SUITE_P(Cards, CardSteps, testing::Values(80, 90), nameOf);
