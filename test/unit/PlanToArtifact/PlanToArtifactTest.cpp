//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/PlanToArtifact/PlanToArtifact.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::artifact;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Result<Artifact> convert(llvm::StringRef text) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, kernel::KernelDialect, plan::PlanDialect>();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "plan.mlir");
  if (!module)
    return Status::internal("the test's text is wrong");
  target::TargetInfo target;
  target.device = "cpu";
  target.requiredFeatures = {"avx2"};
  return plan::toArtifact(*module, target, {CodeBlob{"elf-so", {std::byte(1)}}});
}

constexpr const char *kernels = R"(
kernel.func @k(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>) {
  kernel.grid (%i, %j) in [100, 7] step [8, 7] {
    kernel.yield
  }
  kernel.return
}
kernel.func @deep(%a: !kernel.buffer<f32, global>, %n: index) {
  kernel.grid (%i, %j, %k, %l) in [2, 3, 4, 5] step [1, 1, 1, 1] {
    kernel.yield
  }
  kernel.return
}
kernel.func @dynamic(%a: !kernel.buffer<f32, global>, %n: index) {
  kernel.grid (%i) in [%n] step [1] {
    kernel.yield
  }
  kernel.return
}
)";

} // namespace

TEST(PlanToArtifactTest, WritesTheInit) {
  auto artifact = convert(std::string(kernels) + R"(
plan.func @main(%x: !plan.buffer<f32[4]> {plan.input = "x"},
                %w: !plan.buffer<f32[4]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %arena = plan.arena : !plan.buffer<u8[64]>
  %kept = plan.arena kept : !plan.buffer<u8[128]>
  %k = plan.slice %kept[64] : !plan.buffer<u8[128]> -> !plan.buffer<f32[4]>
  plan.init {
    %t = plan.slice %arena[0] : !plan.buffer<u8[64]> -> !plan.buffer<f32[4]>
    %0 = plan.launch @k ins(%w : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>)
    %1 = plan.launch @k ins(%t : !plan.buffer<f32[4]>) outs(%k : !plan.buffer<f32[4]>) wait(%0)
  }
  %2 = plan.launch @k ins(%k : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
  plan.return
})");
  ASSERT_TRUE(artifact.isOk()) << artifact.status().toString();
  EXPECT_FALSE(artifact->inputs[0].isWeight);
  EXPECT_TRUE(artifact->inputs[1].isWeight);
  EXPECT_EQ(artifact->arenaSize, 64u);
  EXPECT_EQ(artifact->keptSize, 128u);
  ASSERT_EQ(artifact->buffers.size(), 5u);
  EXPECT_EQ(artifact->buffers[3], (Buffer{BufferKind::Kept, 64, 16}));
  EXPECT_EQ(artifact->buffers[4], (Buffer{BufferKind::Arena, 0, 16}));
  EXPECT_EQ(artifact->numInitCommands, 2u);
  ASSERT_EQ(artifact->initSteps.size(), 1u);
  EXPECT_EQ(artifact->initSteps[0].numCommands, 2u);
  EXPECT_EQ(artifact->initSteps[0].keptSize, 128u);
  ASSERT_EQ(artifact->commands.size(), 3u);
  EXPECT_THAT(artifact->commands[1].wait, ElementsAre(0u));
  EXPECT_EQ(std::get<Launch>(artifact->commands[2].action).buffers[0].buffer, 3u);
}

/// Steps of the init of a plan with these kernels and this body.
static std::vector<InitStep> stepsOf(const std::string &functions, const std::string &name, const std::string &init) {
  auto artifact = convert(functions + "plan.func @" + name + R"((%x: !plan.buffer<f32[4]> {plan.input = "x"},
                %w: !plan.buffer<f32[4]> {plan.input = "w", plan.weight},
                %v: !plan.buffer<f32[4]> {plan.input = "v", plan.weight},
                %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %c = plan.constant [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] : !plan.buffer<f32[4]>
  %d = plan.constant [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17] : !plan.buffer<f32[4]>
  %arena = plan.arena : !plan.buffer<u8[128]>
  %kept = plan.arena kept : !plan.buffer<u8[192]>
  %k0 = plan.slice %kept[0] : !plan.buffer<u8[192]> -> !plan.buffer<f32[4]>
  %k1 = plan.slice %kept[64] : !plan.buffer<u8[192]> -> !plan.buffer<f32[4]>
  %k2 = plan.slice %kept[128] : !plan.buffer<u8[192]> -> !plan.buffer<f32[4]>
  plan.init {
    %t = plan.slice %arena[64] : !plan.buffer<u8[128]> -> !plan.buffer<f32[4]>
)" + init + R"(
  }
  plan.return
})");
  EXPECT_TRUE(artifact.isOk()) << artifact.status().toString();
  return artifact ? artifact->initSteps : std::vector<InitStep>();
}

static std::string launch(const std::string &kernel, const std::string &from, const std::string &to) {
  return "plan.launch @" + kernel + " ins(" + from + " : !plan.buffer<f32[4]>) outs(" + to +
         " : !plan.buffer<f32[4]>)\n";
}

TEST(PlanToArtifactTest, CutsTheInitIntoStepsThatAreMadeAlone) {
  const std::vector<InitStep> steps =
      stepsOf(kernels, "main",
              launch("k", "%w", "%t") + launch("k", "%t", "%k0") + launch("k", "%v", "%k1") + launch("k", "%w", "%k2"));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].numCommands, 2u);
  EXPECT_EQ(steps[0].keptSize, 64u);
  EXPECT_EQ(steps[1].numCommands, 1u);
  // The same of another weight, elsewhere.
  EXPECT_EQ(steps[1], steps[2]);
  EXPECT_FALSE(steps[0].identity == steps[1].identity);
  // Where bytes of one lie between those of another, they are one.
  const std::vector<InitStep> mixed =
      stepsOf(kernels, "main", launch("k", "%w", "%k1") + launch("k", "%v", "%k0") + launch("k", "%v", "%k2"));
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_EQ(mixed[0].numCommands, 2u);
  EXPECT_EQ(mixed[0].keptSize, 128u);
}

TEST(PlanToArtifactTest, IdentitiesOfStepsAreOfWhatTheyMake) {
  auto identity = [](const std::string &functions, const std::string &name, const std::string &init) {
    const std::vector<InitStep> steps = stepsOf(functions, name, init);
    return steps.empty() ? Hash128() : steps[0].identity;
  };
  const std::string two = "kernel.func @add(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %c: "
                          "!kernel.buffer<f32, global>) {\n kernel.return\n}\n";
  auto kernel = [&](const std::string &name, int64_t extent) {
    return two + "kernel.func @" + name +
           "(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>) {\n kernel.grid (%i) in [" +
           std::to_string(extent) + "] step [1] {\n kernel.yield\n }\n kernel.return\n}\n";
  };
  auto add = [](const std::string &a, const std::string &b) {
    return "plan.launch @add ins(" + a + ", " + b +
           " : !plan.buffer<f32[4]>, !plan.buffer<f32[4]>) outs(%k0 : !plan.buffer<f32[4]>)\n";
  };
  const Hash128 first = identity(kernel("k", 4), "main", launch("k", "%w", "%k0"));
  // Names and lines are nothing that a result depends on, nor is where it lies.
  const std::vector<InitStep> later =
      stepsOf("\n\n" + kernel("pack", 4), "other", add("%w", "%c") + launch("pack", "%v", "%k1"));
  ASSERT_EQ(later.size(), 2u);
  EXPECT_EQ(later[1].identity, first);
  EXPECT_FALSE(identity(kernel("k", 5), "main", launch("k", "%w", "%k0")) == first);
  // A constant counts by its bytes, and weights by which are the same.
  const Hash128 constant = identity(kernel("k", 4), "main", add("%w", "%c"));
  EXPECT_EQ(identity(kernel("k", 4), "main", add("%v", "%c")), constant);
  EXPECT_FALSE(identity(kernel("k", 4), "main", add("%w", "%d")) == constant);
  EXPECT_FALSE(identity(kernel("k", 4), "main", add("%c", "%w")) == constant);
  const Hash128 both = identity(kernel("k", 4), "main", add("%w", "%v"));
  EXPECT_EQ(identity(kernel("k", 4), "main", add("%v", "%w")), both);
  EXPECT_FALSE(identity(kernel("k", 4), "main", add("%w", "%w")) == both);
}

TEST(PlanToArtifactTest, WritesBuffersKernelsAndCommands) {
  Result<Artifact> result = convert(std::string(kernels) + R"(
    plan.func @main(%x: !plan.buffer<f32[4]> {plan.input = "x"}, %y: !plan.buffer<f32[4]> {plan.output = "y"},
                    %z: !plan.buffer<i32[3]> {plan.output = "z"}) {
      %c = plan.constant [1, 0, -1, 0] : !plan.buffer<i16[2]>
      %d = plan.constant [0, 0, 0, 64] : !plan.buffer<f32[1]>
      %arena = plan.arena : !plan.buffer<u8[128]>
      %t = plan.slice %arena[64] : !plan.buffer<u8[128]> -> !plan.buffer<f32[4]>
      %0 = plan.launch @k ins(%x : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>) flops 1000
      %1 = plan.launch @k ins(%t : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>) wait(%0)
      %2 = plan.fill %z bits 7 : !plan.buffer<i32[3]>
      %3 = plan.launch @deep outs(%t : !plan.buffer<f32[4]>) scalars [9] wait(%1, %2)
      plan.return
    })");
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  const Artifact &a = *result;
  EXPECT_EQ(a.entry, "main");
  EXPECT_EQ(a.target, "cpu");
  EXPECT_THAT(a.cpuFeatures, ElementsAre("avx2"));
  EXPECT_THAT(a.inputs, ElementsAre(Argument{"x", {DType::F32, {4}}}));
  EXPECT_THAT(a.outputs, ElementsAre(Argument{"y", {DType::F32, {4}}}, Argument{"z", {DType::I32, {3}}}));
  EXPECT_EQ(a.arenaSize, 128u);
  ASSERT_EQ(a.constants.size(), 68u);
  EXPECT_EQ(a.constants[2], std::byte(0xff));
  EXPECT_EQ(a.constants[67], std::byte(64));
  EXPECT_THAT(a.buffers, ElementsAre(Buffer{BufferKind::Input, 0, 16}, Buffer{BufferKind::Output, 0, 16},
                                     Buffer{BufferKind::Output, 1, 12}, Buffer{BufferKind::Constant, 0, 4},
                                     Buffer{BufferKind::Constant, 64, 4}, Buffer{BufferKind::Arena, 64, 16}));
  ASSERT_EQ(a.kernels.size(), 2u);
  Kernel k = {"k", 0, 2, 0, "k", {"plan.mlir", 2, 1}, 1};
  k.bufferBytes = {16, 16};
  EXPECT_EQ(a.kernels[0], k);
  EXPECT_THAT(a.kernels[1].bufferBytes, ElementsAre(16));
  ASSERT_EQ(a.commands.size(), 4u);
  const Launch &first = std::get<Launch>(a.commands[0].action);
  EXPECT_THAT(first.grid, ElementsAre(1, 13, 1));
  EXPECT_EQ(first.flops, 1000u);
  EXPECT_EQ(first.bytes, 32u);
  EXPECT_THAT(first.buffers, ElementsAre(BufferRef{0, 0}, BufferRef{5, 0}));
  EXPECT_THAT(a.commands[1].wait, ElementsAre(0));
  EXPECT_EQ(std::get<Fill>(a.commands[2].action), (Fill{{2, 0}, 12, 7, 4}));
  // Of four dimensions the two outermost are one.
  EXPECT_THAT(std::get<Launch>(a.commands[3].action).grid, ElementsAre(6, 4, 5));
  EXPECT_THAT(std::get<Launch>(a.commands[3].action).scalars, ElementsAre(9));
  EXPECT_THAT(a.commands[3].wait, ElementsAre(1, 2));
}

TEST(PlanToArtifactTest, AKernelIsOneForEachNumberOfBuffersThatItWrites) {
  // One that touches nothing, because its tensors have no elements, is merged with others like it.
  Result<Artifact> result = convert(std::string(kernels) + R"(
    plan.func @main(%x: !plan.buffer<f32[0]> {plan.input = "x"}, %y: !plan.buffer<f32[0]> {plan.output = "y"},
                    %z: !plan.buffer<f32[0]> {plan.output = "z"}) {
      %0 = plan.launch @k ins(%x : !plan.buffer<f32[0]>) outs(%y : !plan.buffer<f32[0]>)
      %1 = plan.launch @k outs(%y, %z : !plan.buffer<f32[0]>, !plan.buffer<f32[0]>) wait(%0)
      %2 = plan.launch @k ins(%x : !plan.buffer<f32[0]>) outs(%z : !plan.buffer<f32[0]>) wait(%1)
      plan.return
    })");
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  ASSERT_EQ(result->kernels.size(), 2u);
  EXPECT_EQ(result->kernels[0].numWritten, 1u);
  EXPECT_EQ(result->kernels[1].numWritten, 2u);
  EXPECT_EQ(result->kernels[1].symbol, "k");
  EXPECT_EQ(std::get<Launch>(result->commands[2].action).kernel, 0u);
}

TEST(PlanToArtifactTest, AKernelIsOneForEachSizeOfItsBuffers) {
  // Such a one may be given tensors of other sizes, too.
  Result<Artifact> result = convert(std::string(kernels) + R"(
    plan.func @main(%x: !plan.buffer<f32[3]> {plan.input = "x"}, %e: !plan.buffer<f32[0]> {plan.input = "e"},
                    %y: !plan.buffer<f32[0]> {plan.output = "y"}, %z: !plan.buffer<f32[0]> {plan.output = "z"}) {
      %0 = plan.launch @k ins(%x : !plan.buffer<f32[3]>) outs(%y : !plan.buffer<f32[0]>)
      %1 = plan.launch @k ins(%e : !plan.buffer<f32[0]>) outs(%z : !plan.buffer<f32[0]>) wait(%0)
      plan.return
    })");
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  ASSERT_EQ(result->kernels.size(), 2u);
  EXPECT_THAT(result->kernels[0].bufferBytes, ElementsAre(12, 0));
  EXPECT_THAT(result->kernels[1].bufferBytes, ElementsAre(0, 0));
  EXPECT_TRUE(result->verify().isOk()) << result->verify().toString();
}

TEST(PlanToArtifactTest, PrivateMemoryIsOnTheStack) {
  Result<Artifact> result = convert(R"(
    kernel.func @k(%y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
      %a = kernel.alloc : <3x5xf32, private>
      %b = kernel.alloc : <100xi1, private>
      kernel.return
    }
    plan.func @main(%y: !plan.buffer<f32[4]> {plan.output = "y"}) {
      %0 = plan.launch @k outs(%y : !plan.buffer<f32[4]>)
      plan.return
    })");
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  // Each begins at a multiple of 64 bytes.
  EXPECT_EQ(result->kernels[0].stackBytes, 64u + 128u);
}

TEST(PlanToArtifactTest, RefusesWhatAnArtifactCannotHold) {
  EXPECT_THAT(convert(kernels).status().message(), HasSubstr("an artifact holds one entry, and the module has 0"));
  EXPECT_THAT(convert(std::string(kernels) + R"(
    plan.func @main() {
      %t = plan.alloc : !plan.buffer<f32[4]>
      plan.return
    })")
                  .status()
                  .message(),
              HasSubstr("entry 'main': plan.alloc is nothing that an artifact can hold"));
  EXPECT_THAT(convert(std::string(kernels) + R"(
    plan.func @main(%y: !plan.buffer<f32[4]> {plan.output = "y"}) {
      %0 = plan.launch @dynamic outs(%y : !plan.buffer<f32[4]>) scalars [4]
      plan.return
    })")
                  .status()
                  .message(),
              HasSubstr("launches 'dynamic', whose grid is known at run time only"));
  EXPECT_THAT(convert(R"(
    func.func private @host(!plan.buffer<f32[4]>)
    plan.func @main(%y: !plan.buffer<f32[4]> {plan.output = "y"}) {
      %0 = plan.launch @host outs(%y : !plan.buffer<f32[4]>)
      plan.return
    })")
                  .status()
                  .message(),
              HasSubstr("launches 'host', which is no kernel.func"));
}

TEST(PlanToArtifactTest, WritesBodiesOneBehindTheOther) {
  Result<Artifact> result = convert(std::string(kernels) + R"(
    plan.func @main(%y: !plan.buffer<i64[]> {plan.output = "y"}, %z: !plan.buffer<i64[]> {plan.output = "z"}) {
      %0 = plan.loop trips 5 {
        %1 = plan.fill %y bits 1 : !plan.buffer<i64[]>
      }, {
        %2 = plan.copy %y to %z : !plan.buffer<i64[]> to !plan.buffer<i64[]>
        %3 = plan.fill %y bits 2 wait(%2) : !plan.buffer<i64[]>
      }
      plan.return
    })");
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  ASSERT_EQ(result->commands.size(), 4u);
  EXPECT_EQ(std::get<Loop>(result->commands[0].action), (Loop{3, 5, {}, {}, {1, 2}}));
  EXPECT_THAT(result->commands[3].wait, ElementsAre(2));
}

TEST(PlanToArtifactTest, WritesLoopsBeforeTheirBodies) {
  Result<Artifact> result = convert(std::string(kernels) + R"(
    plan.func @main(%n: !plan.buffer<i64[]> {plan.input = "n"}, %y: !plan.buffer<i64[]> {plan.output = "y"}) {
      %arena = plan.arena : !plan.buffer<u8[64]>
      %i = plan.slice %arena[0] : !plan.buffer<u8[64]> -> !plan.buffer<i64[]>
      %0 = plan.fill %y bits 0 : !plan.buffer<i64[]>
      %1 = plan.loop trips 3 index(%i : !plan.buffer<i64[]>) {
        %c = plan.constant [1, 0, 0, 0, 0, 0, 0, 0] : !plan.buffer<i64[]>
        %2 = plan.copy %c to %y : !plan.buffer<i64[]> to !plan.buffer<i64[]>
        %3 = plan.loop count(%n : !plan.buffer<i64[]>) {
          %4 = plan.copy %i to %y : !plan.buffer<i64[]> to !plan.buffer<i64[]>
        } wait(%2)
      } wait(%0)
      %5 = plan.fill %y bits 0 wait(%1) : !plan.buffer<i64[]>
      plan.return
    })");
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  ASSERT_EQ(result->commands.size(), 6u);
  EXPECT_EQ(std::get<Loop>(result->commands[1].action), (Loop{3, 3, {}, BufferRef{2, 0}}));
  EXPECT_EQ(std::get<Loop>(result->commands[3].action), (Loop{1, 0, BufferRef{0, 0}, {}}));
  EXPECT_THAT(result->commands[1].wait, ElementsAre(0));
  EXPECT_THAT(result->commands[3].wait, ElementsAre(2));
  EXPECT_THAT(result->commands[5].wait, ElementsAre(1));
}
