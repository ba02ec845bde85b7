//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

using namespace zyx;
using namespace zyx::smith;

namespace {

class ModelsTest : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
  static ModelProgram draw(uint64_t seed, uint64_t index, Scale scale) {
    Result<ModelProgram> program = drawModel(seed, index, scale);
    EXPECT_TRUE(program.isOk()) << program.status().toString();
    return program.isOk() ? std::move(*program) : ModelProgram();
  }
};

} // namespace

TEST_F(ModelsTest, ASeedAndAnIndexAreOneProgram) {
  for (uint64_t index = 0; index < 16; ++index) {
    const ModelProgram a = draw(3, index, Scale::Small), b = draw(3, index, Scale::Small);
    EXPECT_EQ(a.graph.canonicalHash(), b.graph.canonicalHash()) << nameOf(a);
    EXPECT_EQ(a.python, b.python);
    EXPECT_TRUE(drawValues(a) == drawValues(b));
    EXPECT_EQ(toJson(a), toJson(b));
  }
  EXPECT_NE(toJson(draw(3, 0, Scale::Small)), toJson(draw(4, 0, Scale::Small)));
}

TEST_F(ModelsTest, EachFamilyHasAtLeastFourPercent) {
  std::map<std::string, int> counts;
  constexpr int count = 120;
  for (uint64_t index = 0; index < count; ++index)
    ++counts[draw(7, index, Scale::Small).family];
  EXPECT_EQ(counts.size(), modelFamilies().size());
  for (const auto &[family, number] : counts)
    EXPECT_GE(number * 100, 4 * count) << family;
}

TEST_F(ModelsTest, ProgramsAreWholeAtEveryScale) {
  bool hasGradients = false;
  std::set<DType> dtypes;
  for (const Scale scale : {Scale::Full, Scale::Host, Scale::Small})
    for (uint64_t index = 0; index < 64; ++index) {
      const ModelProgram program = draw(11, index, scale);
      ASSERT_TRUE(program.graph.verify().isOk()) << nameOf(program);
      ASSERT_EQ(program.graph.inputs.size(), program.inputs.size());
      EXPECT_FALSE(program.graph.outputs.empty());
      EXPECT_NE(program.python.find("program"), std::string::npos);
      bool isWeight = false;
      for (size_t i = 0; i < program.inputs.size(); ++i) {
        const ModelInput &input = program.inputs[i];
        EXPECT_EQ(program.graph.node(program.graph.inputs[i]).type, input.type) << nameOf(program);
        EXPECT_NE(program.python.find(input.name), std::string::npos) << nameOf(program) << ": " << input.name;
        // Weights come last.
        EXPECT_TRUE(input.isWeight || !isWeight) << nameOf(program);
        isWeight |= input.isWeight;
        EXPECT_LE(input.bytes, *byteSize(input.type));
        dtypes.insert(input.type.dtype);
      }
      // With gradients each input that has one gives a result.
      hasGradients |= program.hasGradients;
      EXPECT_TRUE(!program.hasGradients || program.graph.outputs.size() > 1) << nameOf(program);
    }
  EXPECT_TRUE(hasGradients);
  for (DType dtype : {DType::F32, DType::BF16, DType::F16, DType::I8})
    EXPECT_TRUE(dtypes.contains(dtype)) << toString(dtype);
}

TEST_F(ModelsTest, SomeOfThoseForCardsHaveSeveralBatches) {
  int larger = 0;
  constexpr int count = 96;
  for (uint64_t index = 0; index < count; ++index) {
    const ModelProgram program = draw(17, index, Scale::Full);
    larger += program.batches > 1;
    EXPECT_LE(program.batches, 64) << nameOf(program);
    if (program.batches == 1)
      continue;
    double bytes = 0;
    for (const ModelInput &input : program.inputs)
      bytes += static_cast<double>(input.bytes);
    EXPECT_LE(bytes, 6e9) << nameOf(program);
    EXPECT_EQ(draw(17, index, Scale::Host).batches, 1);
  }
  EXPECT_GE(larger, count / 8);
  EXPECT_LE(larger, count * 6 / 10);
}

TEST_F(ModelsTest, SmallOnesAreForTheInterpreter) {
  for (uint64_t index = 0; index < 64; ++index) {
    const ModelProgram program = draw(13, index, Scale::Small);
    for (const ModelInput &input : program.inputs)
      EXPECT_LT(*numElements(input.type.shape), 20000) << nameOf(program) << ": " << input.name;
  }
}

TEST_F(ModelsTest, DocumentsAreBehindEachOther) {
  int found = 0;
  for (uint64_t index = 0; index < 600; ++index) {
    const ModelProgram program = draw(1, index, Scale::Small);
    if (program.variant != "documents")
      continue;
    const std::vector<HostTensor> values = drawValues(program);
    for (size_t i = 0; i < values.size(); ++i) {
      if (program.inputs[i].name != "document")
        continue;
      ASSERT_EQ(values[i].type.dtype, DType::I64);
      std::vector<int64_t> numbers(values[i].data.size() / sizeof(int64_t));
      std::memcpy(numbers.data(), values[i].data.data(), values[i].data.size());
      const auto length = values[i].type.shape.back();
      for (auto row = numbers.begin(); row != numbers.end(); row += length)
        EXPECT_TRUE(std::is_sorted(row, row + length)) << nameOf(program);
      found += std::set<int64_t>(numbers.begin(), numbers.end()).size() > 1;
    }
  }
  EXPECT_GT(found, 0);
}

TEST_F(ModelsTest, EqualGradientsAreResultsOfTheirOwn) {
  // Of two biases that are added one after the other.
  for (uint64_t index = 0; index < 600; ++index) {
    const ModelProgram program = draw(1, index, Scale::Small);
    std::set<graph::NodeId> different;
    for (const graph::Output &output : program.graph.outputs)
      different.insert(output.node);
    if (different.size() < program.graph.outputs.size())
      return;
  }
  FAIL() << "no program has two results that are one node";
}
