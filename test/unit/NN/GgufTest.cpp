//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Tensors of GGUF files, and products with quantised weights.
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"
#include "../TestBlocks.h"
#include "../TestFiles.h"

#include "zyx/Base/TempFolder.h"

#include <filesystem>

using namespace zyx;
using namespace zyx::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A tensor of a file: the type's number in GGUF, row-major extents, and bytes.
struct Stored {
  std::string name;
  uint32_t type;
  Shape shape;
  std::vector<std::byte> data;
};

uint32_t numberOf(BlockFormat format) {
  constexpr uint32_t numbers[] = {2, 3, 6, 7, 8, 10, 11, 12, 13, 14};
  return numbers[static_cast<int>(format)];
}

template <typename T> std::string raw(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(T));
}
std::string text(const std::string &value) { return raw<uint64_t>(value.size()) + value; }

void writeGguf(const std::string &path, const std::vector<Stored> &tensors) {
  std::string head = "GGUF" + raw<uint32_t>(3) + raw<uint64_t>(tensors.size()) + raw<uint64_t>(1) +
                     text("general.name") + raw<uint32_t>(8) + text("tiny"),
              data;
  for (const Stored &tensor : tensors) {
    data.append((32 - data.size() % 32) % 32, '\0');
    head += text(tensor.name) + raw(static_cast<uint32_t>(tensor.shape.size()));
    for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent)
      head += raw(static_cast<uint64_t>(*extent));
    head += raw(tensor.type) + raw<uint64_t>(data.size());
    data.append(reinterpret_cast<const char *>(tensor.data.data()), tensor.data.size());
  }
  head.append((32 - head.size() % 32) % 32, '\0');
  writeBytes(path, head + data);
}

Stored quantised(const std::string &name, BlockFormat format, const Shape &shape, unsigned seed) {
  return {name, numberOf(format), shape, randomBlocks(format, shape, seed, true).data};
}

class GgufTest : public DeviceTest {
protected:
  TempFolder folder = *TempFolder::create();
  std::string path = folder.file("model.gguf");
};

/// x W^T in f64, and how large the sum of the terms' sizes is.
std::pair<double, double> dot(const std::vector<float> &x, const float *row) {
  double sum = 0, size = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    sum += double(x[k]) * row[k];
    size += std::abs(double(x[k]) * row[k]);
  }
  return {sum, size};
}

void expectProduct(const std::vector<float> &y, const std::vector<float> &x, const std::vector<float> &weights) {
  ASSERT_EQ(y.size() * x.size(), weights.size());
  for (size_t row = 0; row < y.size(); ++row) {
    const auto [sum, size] = dot(x, weights.data() + row * x.size());
    EXPECT_NEAR(y[row], sum, size * 1e-5) << "row " << row;
  }
}

std::vector<float> someNumbers(int64_t count) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(std::sin(1.3f * static_cast<float>(i) + 0.2f));
  return numbers;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Devices, GgufTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(GgufTest, MapsTensorsOfEachType) {
  const std::vector<float> floatsOf = {1, -2.5, 3, 0.5};
  std::vector<Stored> stored = {
      {"f32", 0, {2, 2}, {}}, {"f16", 1, {4}, {}}, {"bf16", 30, {4}, {}}, {"i32", 26, {2}, {}}};
  for (float value : floatsOf) {
    const uint16_t half = floatToHalf(value), brain = floatToBFloat16(value);
    std::ranges::copy(std::as_bytes(std::span(&value, 1)), std::back_inserter(stored[0].data));
    std::ranges::copy(std::as_bytes(std::span(&half, 1)), std::back_inserter(stored[1].data));
    std::ranges::copy(std::as_bytes(std::span(&brain, 1)), std::back_inserter(stored[2].data));
  }
  const int32_t integers[] = {7, -8};
  std::ranges::copy(std::as_bytes(std::span(integers)), std::back_inserter(stored[3].data));
  for (BlockFormat format : allFormats)
    stored.push_back(quantised(std::string(toString(format)), format, {3, 2 * blockElements(format)}, 5));
  writeGguf(path, stored);
  const NamedTensors mapped = nn::mapGguf(path);
  EXPECT_EQ(mapped.size(), stored.size());
  EXPECT_EQ(context.counters().valueBytes, 0u);
  EXPECT_EQ(mapped.at("f32").type(), (TensorType{DType::F32, {2, 2}}));
  EXPECT_EQ(mapped.at("bf16").dtype(), DType::BF16);
  EXPECT_EQ(floats(mapped.at("f32")), floatsOf);
  EXPECT_EQ(floats(mapped.at("f16").cast(DType::F32)), floatsOf);
  EXPECT_EQ(floats(mapped.at("bf16").cast(DType::F32)), floatsOf);
  EXPECT_THAT(mapped.at("i32").toVector<int32_t>(), ElementsAre(7, -8));
  for (BlockFormat format : allFormats) {
    SCOPED_TRACE(toString(format));
    const Shape shape{3, 2 * blockElements(format)};
    const Tensor &w = mapped.at(std::string(toString(format)));
    EXPECT_EQ(w.type(), (TensorType{DType::F32, shape}));
    EXPECT_EQ(floats(w), decodeAll(format, randomBlocks(format, shape, 5, true)));
  }
  // What was read of the file besides is there for who asks for it.
  const io::GgufFile file = *io::GgufFile::open(path);
  EXPECT_EQ(*file.metadata().at("general.name").as<std::string>(), "tiny");
  EXPECT_EQ(nn::mapGguf(file).size(), stored.size());
}

TEST_P(GgufTest, BadFilesAreErrors) {
  EXPECT_THAT(refusal([&] { nn::mapGguf(path); }), HasSubstr(path));
  writeGguf(path, {{"odd", 16, {256}, std::vector<std::byte>(66)}});
  EXPECT_THAT(refusal([&] { nn::mapGguf(path); }), HasSubstr("tensor 'odd' has the unsupported type 16"));
  EXPECT_THAT(refusal([&] { dequantise(Tensor::zeros({4}), BlockFormat::Q4_0, {1, 32}); }),
              HasSubstr("the blocks of Q4_0[1, 32] are u8 of 18 elements, not f32[4]"));
  EXPECT_THAT(refusal([&] { dequantise(Tensor(), BlockFormat::Q4_0, {1, 32}); }),
              HasSubstr("dequantise: there is no tensor in this place"));
  writeGguf(path, {quantised("w", BlockFormat::Q4_0, {64, 256}, 1)});
  const NamedTensors mapped = nn::mapGguf(path);
  std::filesystem::resize_file(path, 4096);
  const std::string reason = refusal([&] { mapped.at("w").sum().realize(); });
  EXPECT_THAT(reason, HasSubstr("tensor 'w'"));
  EXPECT_THAT(reason, HasSubstr(path));
}

/// Of each format, with 1 row and with several, a vector that was computed, and transposed blocks.
TEST_P(GgufTest, ProductsAreThoseOfTheNumbers) {
  for (BlockFormat format : allFormats) {
    SCOPED_TRACE(toString(format));
    const int64_t in = 2 * blockElements(format), out = 24;
    writeGguf(path, {quantised("w", format, {out, in}, 3)});
    const std::vector<float> weights = decodeAll(format, randomBlocks(format, {out, in}, 3, true)), x = someNumbers(in);
    const Tensor w = nn::mapGguf(path).at("w"), row = Tensor::from(x, {1, in});
    expectProduct(floats(matmul(row, w.transpose())), x, weights);
    expectProduct(floats(matmul(w, row.reshape({in}))), x, weights);
    const Tensor normed = row / row.square().mean(-1, true).sqrt();
    expectProduct(floats(matmul(normed, w.transpose()).relu() - matmul(-normed, w.transpose()).relu()), floats(normed),
                  weights);
    const std::vector<float> both = floats(matmul(concat({row, row * 2}), w.transpose()));
    expectProduct({both.begin(), both.begin() + out}, x, weights);
    // Rows of the blocks are summed up.
    const std::vector<float> y = someNumbers(out);
    std::vector<float> columns(weights.size());
    for (int64_t i = 0; i < out; ++i)
      for (int64_t k = 0; k < in; ++k)
        columns[k * out + i] = weights[i * in + k];
    expectProduct(floats(matmul(Tensor::from(y, {1, out}), w)), y, columns);
  }
}

/// Parameters of one tensor would be one source, to which gradient() gives the sum of both.
TEST_P(GgufTest, ParametersOfOneTensorHaveGradientsOfTheirOwn) {
  struct Two : nn::Module {
    explicit Two(nn::InitRng rng)
        : a(add("a", nn::Linear(32, 32, rng, /*hasBias=*/false))),
          b(add("b", nn::Linear(32, 32, rng, /*hasBias=*/false))) {}
    nn::Linear a, b;
  };
  writeGguf(path, {quantised("w", BlockFormat::Q8_0, {32, 32}, 1)});
  const Tensor w = nn::mapGguf(path).at("w"), x = Tensor::from(someNumbers(32), {1, 32});
  Two two(nn::InitRng(1));
  two.load({{"a.weight", w}, {"b.weight", w}}, {.assign = true});
  EXPECT_NE(two.a.weight.value().id(), two.b.weight.value().id());
  const std::vector<Tensor> found =
      gradient((two.a(x) + two.b(x) * 3).sum(), {two.a.weight.value(), two.b.weight.value()});
  const std::vector<float> of = floats(found[0]), other = floats(found[1]);
  for (size_t i = 0; i < of.size(); ++i)
    EXPECT_FLOAT_EQ(3 * of[i], other[i]);
  // What set that by hand is told.
  two.b.weight.setLater(two.a.weight.value());
  optim::Optimizer optimizer(two, optim::sgd());
  EXPECT_THAT(
      refusal([&] { optimizer.minimize((two.a(x) + two.b(x)).sum()); }),
      HasSubstr("optimizer: 'a.weight' and 'b.weight' hold one tensor, so that gradients of the two cannot be told: "
                "Parameter::set gives one a tensor of its own"));
}

/// A capture that will never be right again is not kept, and so nothing of what was assigned before.
TEST_P(GgufTest, ModelsThatAreReplacedAreForgotten) {
  writeGguf(path, {quantised("weight", BlockFormat::Q8_0, {64, 64}, 1)});
  const Context own{{.device = GetParam()}};
  const ContextScope scope(own);
  nn::Linear layer(64, 64, nn::InitRng(1), /*hasBias=*/false);
  const Jit jit([&](std::span<const Tensor> a) { return std::vector{layer(a[0])}; });
  const Tensor x = Tensor::from(someNumbers(64), {1, 64});
  std::vector<uint64_t> nodes;
  for (int i = 0; i < 4; ++i) {
    layer.load(nn::mapGguf(path), {.assign = true});
    (void)floats(jit({x})[0]);
    EXPECT_EQ(jit.numCaptures(), 1u);
    nodes.push_back(own.counters().liveNodes);
  }
  EXPECT_EQ(nodes[3], nodes[1]);
}

TEST_P(GgufTest, ModulesTakeThemUnderOtherNames) {
  const Shape shape{32, 64};
  writeGguf(path, {quantised("blk.0.weight", BlockFormat::Q4_0, shape, 1),
                   {"blk.0.bias", 0, {32}, std::vector<std::byte>(128)}});
  const std::vector<float> weights = decodeAll(BlockFormat::Q4_0, randomBlocks(BlockFormat::Q4_0, shape, 1, true)),
                           x = someNumbers(64);
  const Tensor row = Tensor::from(x, {1, 64});
  const auto rename = [](const std::string &name) { return name.substr(name.rfind('.') + 1); };
  for (bool assign : {false, true}) {
    nn::Linear layer(64, 32, nn::InitRng(1));
    layer.load(nn::mapGguf(path), {.rename = rename, .assign = assign});
    EXPECT_EQ(layer.weight->isRealized(), !assign);
    expectProduct(floats(layer(row)), x, weights);
    const Jit jit([&](std::span<const Tensor> a) { return std::vector{layer(a[0])}; });
    expectProduct(floats(jit({row})[0]), x, weights);
    expectProduct(floats(jit({row})[0]), x, weights);
    EXPECT_EQ(jit.numCaptures(), 1u);
    EXPECT_EQ(layer.weight->isRealized(), !assign);
    // Another value is that of the next call.
    layer.weight.set(Tensor::ones(shape).detach());
    expectProduct(floats(jit({row})[0]), x, std::vector<float>(weights.size(), 1));
  }
  nn::Linear layer(64, 32, nn::InitRng(1));
  const Context other{{.device = "reference"}};
  std::optional<ContextScope> scope(std::in_place, other);
  const NamedTensors mapped = nn::mapGguf(path);
  scope.reset();
  EXPECT_THAT(
      refusal([&] { layer.load(mapped, {.rename = rename, .assign = true}); }),
      HasSubstr("' is of another context than the parameter that would become it; without assign it is copied"));
}

/// In memory are the blocks, and nothing of the size of the numbers.
TEST_P(GgufTest, ProductsOfOneRowReadTheBlocks) {
  if (GetParam() == std::string("reference"))
    GTEST_SKIP() << "the interpreter computes all that there is";
  const int64_t size = 1024;
  for (BlockFormat format : allFormats) {
    SCOPED_TRACE(toString(format));
    writeGguf(path, {quantised("weight", format, {size, size}, 2)});
    const uint64_t blocks = static_cast<uint64_t>(*byteSize(*blockedType(format, {size, size})));
    const Context own{{.device = GetParam()}};
    const ContextScope scope(own);
    nn::Linear layer(size, size, nn::InitRng(1), /*hasBias=*/false);
    layer.load(nn::mapGguf(path), {.assign = true});
    const std::vector<float> x = someNumbers(size);
    const Tensor row = Tensor::from(x, {1, size});
    const std::vector<float> weights = decodeAll(format, randomBlocks(format, {size, size}, 2, true));
    const Jit jit([&](std::span<const Tensor> a) { return std::vector{layer(a[0])}; });
    expectProduct(floats(layer(row)), x, weights);
    expectProduct(floats(jit({row})[0]), x, weights);
    const ContextCounters counters = own.counters();
    EXPECT_LT(counters.valueBytes, blocks + 10 * 4 * size);
    // Scales may come first, in each of both programs.
    EXPECT_LT(counters.programBytes, 4 * size * size / 4 + 65536);
    EXPECT_LT(counters.peakBytes, 2 * blocks + 4 * size * size / 4);
    EXPECT_LE(counters.launches, 2 * 2u);
  }
}
