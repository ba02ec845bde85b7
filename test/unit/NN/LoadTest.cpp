//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Dtypes of modules, and what they load: options, indices of several files, memory.
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"

#include "zyx/Base/TempFolder.h"

#include <fstream>
#include <sys/resource.h>

using namespace zyx;
using testing::ElementsAre;
using testing::HasSubstr;
using zyx::test::doubles;
using zyx::test::floats;
using zyx::test::refusal;

namespace {

class LoadTest : public test::DeviceTest {
protected:
  void SetUp() override { ASSERT_TRUE(folder.isOk()); }
  const Result<TempFolder> folder = TempFolder::create();
};

/// Of two layers.
struct Pair : nn::Module {
  explicit Pair(nn::InitRngRef rng) : a(add("a", nn::Linear(4, 3, rng))), b(add("b", nn::Linear(3, 2, rng))) {}
  nn::Linear a, b;
};

void write(const std::string &path, const std::string &text) { std::ofstream(path) << text; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool isSanitized = true;
#elif defined(__has_feature)
constexpr bool isSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool isSanitized = false;
#endif

/// The bytes of this process's own data that count against RLIMIT_DATA.
uint64_t dataBytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmData:"))
      return std::stoull(line.substr(7)) << 10;
  return 0;
}

/// While it lives, so many bytes more can be had and no others.
class DataLimit {
public:
  explicit DataLimit(uint64_t more) {
    getrlimit(RLIMIT_DATA, &before);
    rlimit now = before;
    now.rlim_cur = dataBytes() + more;
    setrlimit(RLIMIT_DATA, &now);
  }
  ~DataLimit() { setrlimit(RLIMIT_DATA, &before); }

private:
  rlimit before{};
};

} // namespace

//===----------------------------------------------------------------------===//
// Dtypes
//===----------------------------------------------------------------------===//

TEST_P(LoadTest, ModulesBecomeOfAnotherDtype) {
  nn::Linear layer(4, 3, nn::InitRng(1));
  const Tensor x = doubles({2, 4}).cast(DType::F32);
  const std::vector<float> before = floats(layer(x));
  layer.to(DType::BF16);
  for (const auto &[name, tensor] : layer.state())
    EXPECT_EQ(tensor.dtype(), DType::BF16) << name;
  const Tensor y = layer(x.cast(DType::BF16));
  EXPECT_EQ(y.dtype(), DType::BF16);
  test::expectNear(floats(y.cast(DType::F32)), test::wide(before), 0.05);
  // It is trained as such.
  optim::Optimizer optimizer(layer, optim::sgd({.learningRate = 0.5}));
  const std::vector<float> weight = floats(layer.weight->cast(DType::F32));
  optimizer.minimize(layer(x.cast(DType::BF16)).cast(DType::F32).square().sum());
  EXPECT_EQ(layer.weight->dtype(), DType::BF16);
  EXPECT_NE(floats(layer.weight->cast(DType::F32)), weight);
  EXPECT_THAT(refusal([&] { layer.to(DType::I8); }),
              HasSubstr("module: parameters do not become of dtype i8, which is none of floats"));
  nn::BatchNorm norm(3);
  norm.to(DType::BF16);
  EXPECT_EQ(norm(Tensor::ones({2, 3}, DType::BF16)).dtype(), DType::BF16);
  EXPECT_EQ(norm.runningMean->dtype(), DType::BF16);
}

TEST_P(LoadTest, FilesOfBf16) {
  const std::string path = folder->file("bf16.safetensors");
  Pair given{nn::InitRng(1)};
  given.to(DType::BF16);
  given.save(path);
  Pair model{nn::InitRng(2)};
  const std::string text = refusal([&] { model.load(path); });
  EXPECT_THAT(text, HasSubstr("'a.weight' is bf16[3, 4], not f32[3, 4]"));
  model.load(path, {.dtype = DType::BF16});
  EXPECT_EQ(model.a.weight.type().dtype, DType::BF16);
  EXPECT_EQ(model.a.weight->bytes(), given.a.weight->bytes());
  Pair wide{nn::InitRng(2)};
  for (DType dtype : {DType::F32, DType::F16, DType::F64}) {
    wide.load(path, {.dtype = dtype});
    EXPECT_EQ(wide.b.bias.type().dtype, dtype);
    EXPECT_EQ(floats(wide.b.weight->cast(DType::F32)), floats(given.b.weight->cast(DType::F32)));
  }
  // Of tensors, too, with one rounding.
  wide.load(nn::loadTensors(path), {.dtype = DType::F32});
  EXPECT_EQ(floats(*wide.a.bias), floats(given.a.bias->cast(DType::F32)));
  EXPECT_THAT(refusal([&] { wide.load(path, {.dtype = DType::I32}); }), HasSubstr("they do not become of dtype i32"));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST_P(LoadTest, NamesMayDiffer) {
  const std::string path = folder->file("names.safetensors");
  const Pair given{nn::InitRng(1)};
  NamedTensors published;
  for (const auto &[name, tensor] : given.state())
    if (name != "b.bias")
      published["model." + name] = tensor;
  published["model.extra"] = Tensor::ones({1});
  published["head"] = Tensor::ones({1});
  nn::saveTensors(path, published);
  const auto rename = [](const std::string &name) {
    return name.starts_with("model.") ? name.substr(6) : std::string();
  };
  Pair model{nn::InitRng(2)};
  const std::vector<float> bias = floats(*model.b.bias), weight = floats(*model.a.weight);
  EXPECT_THAT(refusal([&] { model.load(path, {.rename = rename}); }),
              HasSubstr("the tensors do not fit: 'b.bias' is missing, 'extra' is superfluous"));
  EXPECT_EQ(floats(*model.a.weight), weight);
  const nn::LoadReport report = model.load(path, {.strict = false, .rename = rename});
  EXPECT_THAT(report.missing, ElementsAre("b.bias"));
  EXPECT_THAT(report.superfluous, ElementsAre("extra"));
  EXPECT_EQ(floats(*model.b.bias), bias);
  EXPECT_EQ(floats(*model.a.weight), floats(*given.a.weight));
  EXPECT_THAT(refusal([&] { model.load(path, {.rename = [](const std::string &) { return std::string("x"); }}); }),
              HasSubstr("two of them are called 'x'"));
}

TEST_P(LoadTest, ModulesWithoutParametersAreRefused) {
  // Its child is a member and no more.
  struct Forgotten : nn::Module {
    nn::Linear layer{2, 2, nn::InitRng(1)};
  };
  Forgotten module;
  const std::string path = folder->file("none.safetensors");
  const std::string reason = "it has no parameters, as where children are members that were not declared with add()";
  EXPECT_THAT(refusal([&] { module.save(path); }), HasSubstr("module: there is nothing to save: " + reason));
  EXPECT_FALSE(std::ifstream(path).good());
  EXPECT_THAT(refusal([&] { module.load(NamedTensors()); }), HasSubstr("module: there is nothing to load: " + reason));
  EXPECT_THAT(
      refusal([&] { optim::Optimizer(module, optim::sgd()); }),
      HasSubstr("optimizer: there are no parameters to train, as of a module whose children are members that were not "
                "declared with add()"));
  EXPECT_THAT(refusal([&] { nn::Training(module, optim::sgd()); }), HasSubstr("there are no parameters to train"));
}

//===----------------------------------------------------------------------===//
// Several files
//===----------------------------------------------------------------------===//

TEST_P(LoadTest, AnIndexNamesSeveralFiles) {
  const Pair given{nn::InitRng(1)};
  const NamedTensors state = given.state();
  nn::saveTensors(folder->file("one.safetensors"),
                  {{"a.weight", state.at("a.weight")}, {"b.bias", state.at("b.bias")}});
  nn::saveTensors(folder->file("two.safetensors"),
                  {{"a.bias", state.at("a.bias")}, {"b.weight", state.at("b.weight")}});
  const std::string index = folder->file("model.safetensors.index.json");
  const auto of = [](const std::string &last) {
    return R"({"metadata": {"total_size": 96, "weight_map": [1]}, "weight_map": {"a.weight": "one.safetensors",
               "a.bias": "two.safetensors", "b.bias": "one.safetensors", "b.weight": )" +
           last + "}}";
  };
  write(index, of("\"two.safetensors\""));
  const std::string path = index.substr(0, index.rfind('/'));
  for (const std::string &from : {index, path}) {
    Pair model{nn::InitRng(2)};
    model.load(from);
    for (const auto &[name, tensor] : model.state())
      EXPECT_EQ(tensor.bytes(), state.at(name).bytes()) << name;
    EXPECT_EQ(nn::mapTensors(from).size(), 4u);
    EXPECT_EQ(nn::loadTensors(from).size(), 4u);
  }
  Pair model{nn::InitRng(2)};
  const auto failure = [&](const std::string &text) {
    write(index, text);
    return refusal([&] { model.load(index); });
  };
  EXPECT_THAT(failure(of("\"one.safetensors\"")),
              HasSubstr("tensor 'b.weight' is said to be in 'one.safetensors', which has none of the name"));
  for (const std::string name : {"\"../one.safetensors\"", "\"/etc/passwd\"", "\"..\"", "\"\""})
    EXPECT_THAT(failure(of(name)), HasSubstr("which is no file beside the index"));
  EXPECT_THAT(failure(of("7")), HasSubstr("the file of tensor 'b.weight' is no text"));
  EXPECT_THAT(failure(of("[]")), HasSubstr("the file of tensor 'b.weight' is no text"));
  EXPECT_THAT(failure(of("{}")), HasSubstr("the file of tensor 'b.weight' is no text"));
  EXPECT_THAT(failure(of("\"three.safetensors\"")), HasSubstr("three.safetensors"));
  EXPECT_THAT(failure("{}"), HasSubstr("an index has an object \"weight_map\", and this has none"));
  EXPECT_THAT(failure("{"), HasSubstr("it is no JSON at byte"));
  EXPECT_THAT(failure(R"({"weight_map": {"a.weight": "one.safetensors", "a.weight": "one.safetensors"}})"),
              HasSubstr("tensor 'a.weight' is named twice"));
  EXPECT_THAT(failure(R"({"weight_map": {}, "weight_map": {}})"), HasSubstr("there are two of \"weight_map\""));
  EXPECT_THAT(failure("{\"x\": " + std::string(100, '[') + std::string(100, ']') + "}"),
              HasSubstr("it has more than 64 levels"));
  EXPECT_THAT(failure(R"({"weight_map": {"a.weight": "one.safetensors"}})"),
              HasSubstr("'one.safetensors' has a tensor 'b.bias' that the index does not name"));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// What is loaded is there once: no first values are drawn, and of the file one tensor at a time is in memory.
TEST_P(LoadTest, WeightsAreInMemoryOnce) {
  if (GetParam() == std::string("reference"))
    GTEST_SKIP() << "the same pool, and the same code";
  if (isSanitized)
    GTEST_SKIP() << "a sanitizer has memory of its own";
  constexpr int64_t layers = 8, width = 1024;
  constexpr uint64_t layerBytes = width * width * sizeof(float), bytes = layers * layerBytes;
  const auto build = [] {
    nn::Sequential model;
    nn::InitRng rng(1);
    for (int64_t i = 0; i < layers; ++i)
      model.append(nn::Linear(width, width, rng, false));
    return model;
  };
  const std::string path = folder->file("large.safetensors");
  {
    const Context own({.device = GetParam()});
    const ContextScope inside(own);
    build().save(path);
  }
  const Context own({.device = GetParam()});
  const ContextScope inside(own);
  nn::Sequential model = build();
  EXPECT_LT(own.counters().peakBytes, layerBytes);
  {
    // Memory comes in huge pages.
    const DataLimit limit(2 * bytes);
    model.load(path);
  }
  EXPECT_LT(own.counters().peakBytes, bytes + layerBytes);
  {
    const DataLimit limit(bytes / 2);
    model.save(path);
  }
  // As bf16 half of that.
  const Context other({.device = GetParam()});
  const ContextScope inner(other);
  nn::Sequential half = build();
  half.load(path, {.dtype = DType::BF16});
  EXPECT_LT(other.counters().peakBytes, bytes / 2 + layerBytes);
}

INSTANTIATE_TEST_SUITE_P(Devices, LoadTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
