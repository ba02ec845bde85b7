//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "zyx/Artifact/Artifact.h"
#include "zyx/Session/Session.h"
#include "zyx/Tensor/Watch.h"

#include <atomic>

using namespace zyx;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using zyx::test::floats;
using zyx::test::refusal;

namespace {

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// Runs a program on the interpreter, by what its text says.
std::vector<HostTensor> evaluate(std::span<const std::byte> program, std::vector<HostTensor> inputs) {
  session::Session session;
  std::vector<graph::Graph> graphs = *session.parseGraphs(program, "exported");
  const std::unique_ptr<session::Executable> made = *session.prepare(graphs.at(0), "reference");
  EXPECT_TRUE(made->setInputs(std::move(inputs)).isOk());
  EXPECT_TRUE(made->run().isOk());
  return *made->readOutputs();
}

HostTensor host(const Tensor &x) {
  const std::vector<std::byte> bytes = x.bytes();
  return {x.type(), bytes};
}

class ExportTest : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
};

} // namespace

TEST_F(ExportTest, TextHasArgumentsConstantsAndResults) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f}), read = Tensor::from({10.f, 20.f, 30.f});
  const Parameter parameter(Tensor::from({0.5f, 0.25f, 2.f}) * 2);
  const Jit::Function function = [&](std::span<const Tensor> given) {
    return std::vector<Tensor>{given[0] * parameter.value() + read, given[1], given[0].sum(), given[0].sum()};
  };
  const std::vector<std::byte> program =
      exportProgram(function, {{x, Tensor::from({7.f}), Tensor::from({8.f})}}, ExportForm::Text,
                    {.entry = "layer", .inputs = {"x", "y", "unread"}, .outputs = {"a", "b"}})
          .bytes;
  EXPECT_THAT(text(program), AllOf(HasSubstr("func.func @layer("), HasSubstr("graph.name = \"unread\""),
                                   HasSubstr("graph.name = \"a\""), HasSubstr("graph.name = \"out3\"")));
  const std::vector<HostTensor> results =
      evaluate(program, {host(Tensor::from({2.f, 4.f, 6.f})), host(Tensor::from({7.f})), host(Tensor::from({8.f}))});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0], host(Tensor::from({12.f, 22.f, 54.f})));
  EXPECT_EQ(results[1], host(Tensor::from({7.f})));
  EXPECT_EQ(results[2], results[3]);
}

TEST_F(ExportTest, SourcesAndArtifacts) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f});
  const Jit::Function twice = [](std::span<const Tensor> given) { return std::vector<Tensor>{given[0] * 2}; };
  const std::string source = text(exportProgram(twice, {{x}}, ExportForm::CSource, {.entry = "twice"}).bytes);
  EXPECT_THAT(source, AllOf(HasSubstr("int twice(const float *in0, float *out0) {"), HasSubstr("return 0;")));
  EXPECT_THAT(text(exportProgram(twice, {{x}}, ExportForm::CSource).bytes), HasSubstr("int zyx_main(const float *in0"));
  const std::vector<std::byte> bytes = exportProgram(twice, {{x}}, ExportForm::Artifact, {.target = "cpu"}).bytes;
  const artifact::Artifact program = *artifact::Artifact::deserialize(bytes);
  EXPECT_EQ(program.entry, "main");
  EXPECT_EQ(program.inputs.at(0).name, "in0");
}

TEST_F(ExportTest, LargeValuesAreInputsOfATextAndConstantsOfAnArtifact) {
  const Tensor x = Tensor::from(std::vector<float>(32, 1), {1, 32});
  std::vector<float> elements(32 * 40);
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<float>(i % 7) - 3;
  const Parameter weight(Tensor::from(elements, {32, 40}));
  const Jit::Function function = [&](std::span<const Tensor> given) {
    return std::vector<Tensor>{given[0].matmul(weight.value())};
  };
  const Exported made = exportProgram(function, {{x}}, ExportForm::Text);
  ASSERT_EQ(made.values.size(), 1u);
  EXPECT_EQ(made.values[0].first, "value0");
  const HostTensor right = host(x.matmul(weight.value()));
  EXPECT_EQ(evaluate(made.bytes, {host(x), host(made.values[0].second)})[0], right);
  const Exported compiled = exportProgram(function, {{x}}, ExportForm::Artifact, {.target = "cpu"});
  EXPECT_TRUE(compiled.values.empty());
  const artifact::Artifact program = *artifact::Artifact::deserialize(compiled.bytes);
  EXPECT_EQ(program.inputs.size(), 1u);
  // What the init makes follows from constants that no step's identity says.
  EXPECT_TRUE(program.initSteps.empty());
  session::Session session;
  const std::unique_ptr<session::Executable> ready = *session.load(program, "");
  ASSERT_TRUE(ready->setInputs({host(x)}).isOk());
  ASSERT_TRUE(ready->run().isOk());
  EXPECT_EQ((*ready->readOutputs())[0], right);
}

TEST_F(ExportTest, Refusals) {
  const Tensor x = Tensor::from({1.f, 2.f});
  const auto exported = [&](const Jit::Function &function, ExportOptions options = {},
                            ExportForm form = ExportForm::Text) {
    return refusal([&] { (void)exportProgram(function, {{x}}, form, options); });
  };
  const Jit::Function same = [](std::span<const Tensor> given) { return std::vector<Tensor>{given[0]}; };
  EXPECT_EQ(exported(same), "");
  EXPECT_THAT(exported(nullptr), HasSubstr("export: there is no function"));
  EXPECT_THAT(exported([](std::span<const Tensor>) { return std::vector<Tensor>(); }),
              HasSubstr("export: the function returns no tensor"));
  EXPECT_THAT(exported([](std::span<const Tensor>) { return std::vector<Tensor>(1); }),
              HasSubstr("export: the function returns no tensor in one place"));
  EXPECT_THAT(exported(same, {.inputs = {"a", "b"}}), HasSubstr("2 names of 1"));
  EXPECT_THAT(exported(same, {.inputs = {""}}), HasSubstr("is empty or given twice"));
  EXPECT_THAT(exported(same, {.entry = "no name"}, ExportForm::CSource),
              HasSubstr("is no name that a function of C may have"));
  EXPECT_THAT(exported(same, {.target = "z80"}, ExportForm::Artifact), HasSubstr("z80"));
  EXPECT_THAT(exported([](std::span<const Tensor> given) {
                (void)given[0].bytes();
                return std::vector<Tensor>{given[0]};
              }),
              HasSubstr("captured"));
  Parameter set(Tensor::from({1.f, 2.f}));
  EXPECT_THAT(
      exported([&](std::span<const Tensor> given) {
        set.set(given[0]);
        return std::vector<Tensor>{given[0]};
      }),
      HasSubstr("export: the function sets a parameter, which nobody would keep; eval() of a module sets none"));
  EXPECT_EQ(floats(set.value()), (std::vector<float>{1, 2}));
  Generator generator(1);
  EXPECT_THAT(
      exported([&](std::span<const Tensor> given) {
        return std::vector<Tensor>{given[0] * uniform(generator.next(), {2})};
      }),
      HasSubstr("export: the function draws numbers from a Generator, which is no part of a program; give it a seed as "
                "an argument"));
  EXPECT_THAT(refusal([&] { (void)exportProgram(same, {{Tensor()}}, ExportForm::Text); }),
              HasSubstr("export: there is no tensor in this place"));
  const Context interpreted({.device = "reference"});
  const ContextScope scope(interpreted);
  const Tensor y = Tensor::from({1.f});
  EXPECT_THAT(refusal([&] { (void)exportProgram(same, {{y}}, ExportForm::Artifact); }),
              HasSubstr("export: the arguments lie on the interpreter, which has no code; name a target"));
  Tensor other;
  {
    const DeviceScope device("c", interpreted);
    other = Tensor::from({1.f});
  }
  EXPECT_THAT(refusal([&] { (void)exportProgram(same, {{y, other}}, ExportForm::Text); }),
              HasSubstr("export: the tensors lie on several devices, and a program is of one"));
}

TEST_F(ExportTest, AWatcherIsToldAndEndsCompilations) {
  const Context context({.device = "cpu", .cacheFolder = ""});
  const ContextScope scope(context);
  std::atomic<int> asked = 0, told = 0, ended = 0;
  std::atomic<int> patience = 3;
  setCompileWatcher({.progress = [&](std::string_view, size_t, size_t) { ++told; },
                     .end = [&] { ++ended; },
                     .isCancelled = [&] { return ++asked > patience; }});
  const Tensor x = Tensor::from({1.f, 2.f, 3.f});
  const Tensor y = (x * 3 + 1).sum();
  EXPECT_THAT(refusal([&] { (void)y.item<float>(); }), HasSubstr("the compilation was cancelled"));
  EXPECT_EQ(asked, 4);
  EXPECT_GE(told, 1);
  EXPECT_EQ(ended, 1);
  EXPECT_FALSE(y.isRealized());
  // At each phase and kernel it may end, and never is anything lost.
  for (; patience < 1000; ++patience) {
    asked = 0;
    if (refusal([&] { (void)y.item<float>(); }).empty())
      break;
  }
  EXPECT_GT(patience, 5);
  EXPECT_LT(patience, 100);
  EXPECT_EQ(y.item<float>(), 21.f);
  setCompileWatcher({});
}
