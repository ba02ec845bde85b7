//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx-c/Compiler.h"

#include "zyx/Graph/UnaryKind.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using testing::HasSubstr;

namespace {

struct Release {
  void operator()(zyx_compiler_result *result) const { zyx_compiler_result_release(result); }
};
using Owned = std::unique_ptr<zyx_compiler_result, Release>;

Owned parse(std::string_view text) {
  zyx_compiler_parse_args args = {sizeof(args), {text.data(), text.size()}, "file.mlir", nullptr};
  return Owned(zyx_compiler_parse(&args));
}

std::vector<std::byte> negation() {
  graph::Graph graph;
  const graph::NodeId x = *graph.parameter("x", {DType::F32, {4}});
  graph.inputs = {x};
  graph.outputs = {{"y", *graph.unary(graph::UnaryKind::Neg, x)}};
  return graph.serialize();
}

Owned compile(const std::vector<std::byte> &graph, const char *stopAfter = nullptr) {
  zyx_compiler_compile_args args = {};
  args.struct_size = sizeof(args);
  args.graph = {graph.data(), graph.size()};
  args.stop_after = stopAfter;
  return Owned(zyx_compiler_compile(&args));
}

std::string_view outputOf(const Owned &result) {
  zyx_compiler_bytes bytes = zyx_compiler_result_output(result.get());
  return {static_cast<const char *>(bytes.data), bytes.size};
}

} // namespace

TEST(CompilerTest, ParsesEveryEntry) {
  Owned result = parse("func.func @a(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n"
                       "func.func @b() -> tensor<i32> { %0 = graph.constant dense<7> : tensor<i32>\n"
                       "return %0 : tensor<i32> }\n");
  ASSERT_EQ(zyx_compiler_result_code(result.get()), 0u) << zyx_compiler_result_message(result.get());
  ASSERT_EQ(zyx_compiler_result_num_graphs(result.get()), 2u);
  zyx_compiler_bytes bytes = zyx_compiler_result_graph(result.get(), 1);
  auto graph = graph::Graph::deserialize({static_cast<const std::byte *>(bytes.data), bytes.size});
  ASSERT_TRUE(graph.isOk());
  EXPECT_EQ(graph->name, "b");
  EXPECT_EQ(zyx_compiler_result_graph(result.get(), 2).data, nullptr);
  EXPECT_EQ(zyx_compiler_result_num_stages(result.get()), 0u);
}

TEST(CompilerTest, MessagesHavePlaces) {
  Owned result = parse("func.func @a() {\n  oh no\n}");
  EXPECT_EQ(zyx_compiler_result_code(result.get()), static_cast<uint32_t>(ErrorCode::InvalidArgument));
  EXPECT_THAT(zyx_compiler_result_message(result.get()), HasSubstr("file.mlir:2:3: error: "));
  EXPECT_EQ(zyx_compiler_result_num_graphs(result.get()), 0u);
  EXPECT_THAT(zyx_compiler_result_message(parse("").get()),
              HasSubstr("file.mlir: has no entry, that is no 'func.func'"));
}

TEST(CompilerTest, CompilesToBytesWithStagesAndRemarks) {
  Owned result = compile(negation());
  ASSERT_EQ(zyx_compiler_result_code(result.get()), 0u) << zyx_compiler_result_message(result.get());
  EXPECT_EQ(zyx_compiler_result_num_kernels(result.get()), 1u);
  EXPECT_THAT(std::string(outputOf(result)), HasSubstr("ZYXPLAN"));
  ASSERT_GE(zyx_compiler_result_num_stages(result.get()), 7u);
  zyx_compiler_stage stage = {sizeof(stage), nullptr, 0};
  ASSERT_TRUE(zyx_compiler_result_stage(result.get(), 0, &stage));
  EXPECT_STREQ(stage.name, "import");
  EXPECT_FALSE(zyx_compiler_result_stage(result.get(), 1000, &stage));
  EXPECT_THAT(zyx_compiler_result_remarks(result.get()), HasSubstr("1 op with no reduction"));
}

TEST(CompilerTest, TheSameGraphGivesTheSameBytes) {
  EXPECT_EQ(outputOf(compile(negation())), outputOf(compile(negation())));
}

TEST(CompilerTest, StopsAfterAPhase) {
  EXPECT_THAT(std::string(outputOf(compile(negation(), "kernel"))), HasSubstr("kernel.func"));
  EXPECT_THAT(zyx_compiler_result_message(compile(negation(), "lunch").get()), HasSubstr("there is no phase 'lunch'"));
}

TEST(CompilerTest, RefusesArgumentsAndGraphsThatAreNone) {
  Owned result(zyx_compiler_compile(nullptr));
  EXPECT_THAT(zyx_compiler_result_message(result.get()), HasSubstr("the arguments are NULL or have no struct_size"));
  zyx_compiler_parse_args args = {};
  EXPECT_NE(zyx_compiler_result_code(Owned(zyx_compiler_parse(&args)).get()), 0u);
  std::vector<std::byte> graph = negation();
  graph.resize(graph.size() / 2);
  EXPECT_NE(zyx_compiler_result_code(compile(graph).get()), 0u);
  graph = negation();
  for (size_t i = 0; i < graph.size(); ++i) {
    std::vector<std::byte> changed = graph;
    changed[i] ^= std::byte(0x10);
    EXPECT_NE(zyx_compiler_result_code(compile(changed).get()), 0u) << "byte " << i;
  }
}
