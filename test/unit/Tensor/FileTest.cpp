//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Tensors whose elements lie in files.
//===----------------------------------------------------------------------===//
#include "../TestFiles.h"
#include "TensorFixture.h"

#include "zyx/Base/TempFolder.h"

#include <filesystem>

using namespace zyx;
using namespace zyx::test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class FileTest : public DeviceTest {
protected:
  /// Behind 3 bytes of something else, so that nothing is aligned.
  std::string write(const std::vector<float> &elements) {
    const std::string path = temporary.file("elements");
    writeBytes(path, "abc" + std::string(reinterpret_cast<const char *>(elements.data()), 4 * elements.size()));
    return path;
  }
  TempFolder temporary = *TempFolder::create();
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Devices, FileTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(FileTest, AreReadByTheFirstProgramThatNeedsThem) {
  const std::string path = write({1, 2, 3, 4, 5, 6});
  const Tensor x = Tensor::fromFile(path, DType::F32, {2, 3}, 3);
  EXPECT_TRUE(x.isRealized());
  EXPECT_EQ(context.counters().valueBytes, 0u);
  EXPECT_EQ(x.device(), GetParam());
  // Its elements are those of the file, which takes no memory.
  EXPECT_THAT(floats(x), ElementsAre(1, 2, 3, 4, 5, 6));
  const Tensor other = x.detach();
  EXPECT_EQ(context.counters().valueBytes, 0u);
  EXPECT_THAT(floats(x * 2), ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_EQ(context.counters().valueBytes, 24u);
  // From then on it is in memory.
  std::filesystem::remove(path);
  std::filesystem::resize_file(write({}), 0);
  EXPECT_THAT(floats(x), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(floats(x.sum()), ElementsAre(21));
  EXPECT_THAT(floats(gradient((x * x).sum(), std::vector{x})[0]), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_P(FileTest, ThatGetShorterAreErrorsAndNoSignals) {
  const std::string path = write(std::vector<float>(100'000, 1));
  const Tensor x = Tensor::fromFile(path, DType::F32, {100'000}, 3), y = x + 1;
  std::filesystem::resize_file(path, 5000);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(refusal([&] { y.realize(); }), HasSubstr(path));
    EXPECT_THAT(refusal([&] { x.bytes(); }), HasSubstr(path));
  }
  const Jit step([&](std::span<const Tensor> a) { return std::vector{a[0] + x}; });
  EXPECT_THAT(refusal([&] { step({x}); }), HasSubstr(path));
  // Nothing is lost: it may grow again.
  write(std::vector<float>(100'000, 3));
  EXPECT_EQ(context.counters().valueBytes, 0u);
}

TEST_P(FileTest, AreArgumentsAndWeightsOfPlans) {
  const std::string path = write({1, 2, 3, 4});
  const Tensor a = Tensor::fromFile(path, DType::F32, {2, 2}, 3), w = Tensor::fromFile(path, DType::F32, {2, 2}, 3);
  const Jit step([&](std::span<const Tensor> x) { return std::vector{matmul(x[0], w), w}; });
  const std::vector<Tensor> results = step({a});
  EXPECT_THAT(floats(results[0]), ElementsAre(7, 10, 15, 22));
  EXPECT_THAT(floats(results[1]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(floats(step({a + 1})[0]), ElementsAre(11, 16, 19, 28));
  EXPECT_THAT(floats(concat(std::vector{a, w}, 0)), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
}

TEST_P(FileTest, BadOnesAreRefusedAtTheCall) {
  const std::string path = write({1, 2});
  EXPECT_THAT(refusal([&] { Tensor::fromFile(path, DType::F32, {2}, 4); }),
              HasSubstr("has 11 bytes, not 8 from byte 4"));
  EXPECT_THAT(refusal([&] { Tensor::fromFile(path, DType::F32, {2}, UINT64_MAX - 3); }),
              HasSubstr("has 11 bytes, not 8"));
  EXPECT_THAT(refusal([&] { Tensor::fromFile(path + "none", DType::F32, {2}); }), HasSubstr(path + "none"));
  EXPECT_THAT(refusal([&] { Tensor::fromFile(path, DType::Bool, {3}); }), HasSubstr("not 0 or 1"));
  EXPECT_THAT(Tensor::fromFile(path, DType::U8, {3}).toVector<uint8_t>(), ElementsAre('a', 'b', 'c'));
  EXPECT_EQ(Tensor::fromFile(path, DType::F32, {0, 3}, 11).sum().item<float>(), 0);
}
