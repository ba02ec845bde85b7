//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "zyx/Base/TempFolder.h"
#include "zyx/Session/Compiler.h"

#include <fstream>
#include <sys/stat.h>

using namespace zyx;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using zyx::test::refusal;

namespace {

using PlotTest = test::DeviceTest;

std::string textOf(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

/// The PATH of the process, given back at the end.
struct Path {
  explicit Path(const std::string &path) { setenv("PATH", path.c_str(), 1); }
  ~Path() { setenv("PATH", before.c_str(), 1); }
  const std::string before = getenv("PATH");
};

} // namespace

TEST_P(PlotTest, ShowsOpsTypesPlacesAndValues) {
  const Tensor x = Tensor::from({1.f, 2.f}), big = Tensor::from(std::vector<float>(100, 1), {50, 2});
  const Tensor y = ((x * 0.5).exp() + big).sum({0});
  const int line = __LINE__ - 1;
  const std::string dot = plotDot({{y}});
  EXPECT_EQ(context.counters().runs, 0u);
  EXPECT_THAT(dot, HasSubstr("digraph \"tensors\" {"));
  EXPECT_THAT(dot, HasSubstr("[label=\"value\\nf32[2]\\n[1. 2.]\\nPlotTest.cpp:" + std::to_string(line - 1) +
                             "\", style=filled, fillcolor=\"#dde8f4\"]"));
  EXPECT_THAT(dot, HasSubstr("[label=\"value\\nf32[50, 2]\\n400 bytes are there\\nPlotTest.cpp:" +
                             std::to_string(line - 1) + "\", style=filled"));
  EXPECT_THAT(dot, HasSubstr("[label=\"constant\\nf32[]\\n0.5"));
  EXPECT_THAT(dot, HasSubstr("[label=\"reduce add dims [0]\\nf32[2]\\nPlotTest.cpp:" + std::to_string(line) +
                             "\", peripheries=2]"));
  EXPECT_THAT(dot, HasSubstr("[label=\"exp\\nf32[2]\\nPlotTest.cpp:" + std::to_string(line) + "\"]"));
  // Edges of ops with several operands say which one.
  EXPECT_EQ(count(dot, "[label=\"0\"]"), 2u);
  EXPECT_EQ(count(dot, "[label=\"1\"]"), 2u);

  // What was realized has forgotten what it was made of, unless a tape lives.
  {
    const Tape tape;
    y.realize();
    EXPECT_THAT(plotDot({{y}}),
                AllOf(HasSubstr("label=\"exp\\n"), HasSubstr("[label=\"reduce add dims [0]\\nf32[2]\\n[")));
  }
  const std::string after = plotDot({{y}});
  EXPECT_EQ(count(after, "[label="), 1u);
  EXPECT_THAT(after, HasSubstr("[label=\"value\\nf32[2]\\n["));
}

TEST_P(PlotTest, ShowsGroupsAndKernels) {
  const Tensor x = Tensor::from(std::vector<float>(64 * 32, 1), {64, 32});
  const Tensor y = (x - x.max({1}, true)).exp().sum({0});
  if (std::string_view(GetParam()) == "reference") {
    EXPECT_THAT(refusal([&] { plotDot({{y}}, PlotStage::Groups); }),
                AllOf(HasSubstr("PlotTest.cpp:"), HasSubstr("the interpreter makes no groups and kernels of tensors")));
    return;
  }
  EXPECT_THAT(plotDot({{y}}, PlotStage::Groups),
              AllOf(HasSubstr("digraph \"main\""), HasSubstr("label=\"group 0\""), HasSubstr("reduce max")));
  EXPECT_THAT(plotDot({{y}}, PlotStage::Kernels),
              AllOf(HasSubstr("digraph \"main\""), HasSubstr("launch main_0"), HasSubstr("launch main_1")));
  EXPECT_EQ(context.counters().runs, 0u);
  y.realize();
  EXPECT_THAT(refusal([&] { plotDot({{y}}, PlotStage::Kernels); }),
              HasSubstr("all of the tensors have values; there is nothing to compute"));
}

TEST_P(PlotTest, WritesAProgramAsText) {
  const Tensor x = Tensor::from(std::vector<float>(6, 2), {2, 3}), w = Tensor::from({1.f, 2.f, 3.f}).detach();
  const Tensor y = (x * w).sum({1});
  EXPECT_THAT(refusal([&] { programText({}); }), HasSubstr("programText: there are no tensors"));
  EXPECT_THAT(refusal([&] { programText({{Tensor()}}); }), HasSubstr("programText: there is no tensor in this place"));
  if (std::string_view(GetParam()) == "reference") {
    EXPECT_THAT(refusal([&] { programText({{y}}); }),
                HasSubstr("the interpreter makes no groups and kernels of tensors"));
    return;
  }
  const std::string text = programText(std::vector{y, gradient(y, {{w}})[0]});
  EXPECT_EQ(context.counters().runs, 0u);
  EXPECT_THAT(text, AllOf(HasSubstr("func.func @main(%arg0: tensor<2x3xf32>"), HasSubstr("%arg1: tensor<3xf32>")));
  // The text is a program for whoever reads it.
  const Result<std::unique_ptr<session::Compiler>> compiler = session::Compiler::open();
  ASSERT_TRUE(compiler.isOk()) << compiler.status().message();
  Result<std::vector<graph::Graph>> read = (*compiler)->parse(text, "text.mlir");
  ASSERT_TRUE(read.isOk()) << read.status().message();
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ((*read)[0].inputs.size(), 2u);
  EXPECT_EQ((*read)[0].outputs.size(), 2u);
}

TEST_P(PlotTest, WritesFiles) {
  const Result<TempFolder> folder = TempFolder::create();
  ASSERT_TRUE(folder.isOk());
  const std::string base = folder->file("plot"), program = folder->file("dot");
  const Tensor y = Tensor::from({1.f, 2.f}) + 1;
  plot({y}, base + ".dot");
  EXPECT_EQ(textOf(base + ".dot"), plotDot({{y}}));
  plot({y}, base + ".gv");
  EXPECT_EQ(textOf(base + ".gv"), plotDot({{y}}));
  EXPECT_THAT(refusal([&] { plot({y}, base + ".png"); }), HasSubstr("plot.png' ends in none of .dot, .gv and .svg"));
  EXPECT_THAT(refusal([&] { plot({}, base + ".dot"); }), HasSubstr("plot: there are no tensors"));
  EXPECT_THAT(refusal([&] { plot({Tensor()}, base + ".dot"); }), HasSubstr("plot: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { plot({y}, "/nowhere/plot.dot"); }), HasSubstr("/nowhere/plot.dot"));

  // An SVG is what the program of Graphviz makes of it.
  const Path path(program.substr(0, program.rfind('/')));
  EXPECT_THAT(
      refusal([&] { plot({y}, base + ".svg"); }),
      HasSubstr(
          "plot: an SVG is drawn by the program 'dot' of Graphviz, which is not found; a path that ends in .dot"));
  auto write = [&](const char *text) {
    std::ofstream(program) << "#!/bin/sh\n" << text << "\n";
    ASSERT_EQ(chmod(program.c_str(), 0700), 0);
  };
  write("echo \"<svg> $1\"; while read -r line; do echo \"$line\"; done");
  plot({y}, base + ".svg");
  EXPECT_THAT(textOf(base + ".svg"), AllOf(HasSubstr("<svg> -Tsvg\n"), HasSubstr("digraph")));
  write("echo no such language >&2; exit 1");
  EXPECT_THAT(refusal([&] { plot({y}, base + ".svg"); }), HasSubstr("plot: 'dot -Tsvg' failed: no such language"));
}

TEST_P(PlotTest, DrawsOneProgramAtATime) {
  const std::string other = GetParam() == std::string("cpu") ? "reference" : "cpu";
  const Tensor x = Tensor::from({1.f, 2.f}), y = (x * 2).to(other) * 3;
  EXPECT_THAT(refusal([&] { plotDot({{y}}, PlotStage::Groups); }),
              HasSubstr("the tensors are computed by 2 programs, on several devices; one is shown at a time"));
}

INSTANTIATE_TEST_SUITE_P(Devices, PlotTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
