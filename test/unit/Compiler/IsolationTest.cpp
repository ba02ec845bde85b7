//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx-c/Compiler.h"
#include "zyx-c/Runtime.h"

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Graph/UnaryKind.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using testing::AllOf;
using testing::HasSubstr;

namespace {

struct Release {
  void operator()(zyx_compiler_result *result) const { zyx_compiler_result_release(result); }
};
using Owned = std::unique_ptr<zyx_compiler_result, Release>;

std::vector<std::byte> softmaxLike() {
  graph::Graph graph;
  const graph::NodeId x = *graph.parameter("x", {DType::F32, {40, 300}});
  graph.name = "sums";
  graph.inputs = {x};
  graph.outputs = {{"y", *graph.reduce(graph::ReduceKind::Add, *graph.unary(graph::UnaryKind::Exp, x), {1})}};
  return graph.serialize();
}

Owned compile(const zyx_compiler_isolation *isolation, const char *target = "cpu") {
  std::vector<std::byte> graph = softmaxLike();
  zyx_compiler_compile_args args = {};
  args.struct_size = sizeof(args);
  args.graph = {graph.data(), graph.size()};
  args.target = target;
  args.isolation = isolation;
  return Owned(zyx_compiler_compile(&args));
}

std::string bytesOf(zyx_compiler_bytes bytes) { return {static_cast<const char *>(bytes.data), bytes.size}; }

std::string messageOf(const Owned &result) { return zyx_compiler_result_message(result.get()); }

/// The result of a worker that dies in that way.
Owned dieBy(const char *death, uint64_t milliseconds = 0, uint64_t memory = 0) {
  setenv("ZYX_TEST_DEATH", death, 1);
  zyx_compiler_isolation isolation = {sizeof(isolation), ZYX_TEST_DYING_WORKER, memory, milliseconds};
  Owned result = compile(&isolation);
  unsetenv("ZYX_TEST_DEATH");
  EXPECT_EQ(zyx_compiler_result_output(result.get()).size, 0u);
  return result;
}

const zyx_compiler_isolation plain = {sizeof(plain), nullptr, 0, 0};

} // namespace

TEST(IsolationTest, GivesWhatTheSameProcessGives) {
  Owned here = compile(nullptr), there = compile(&plain);
  ASSERT_EQ(zyx_compiler_result_code(there.get()), 0u) << messageOf(there);
  EXPECT_EQ(bytesOf(zyx_compiler_result_output(here.get())), bytesOf(zyx_compiler_result_output(there.get())));
  EXPECT_EQ(zyx_compiler_result_num_kernels(there.get()), 1u);
  EXPECT_EQ(zyx_compiler_result_num_stages(here.get()), zyx_compiler_result_num_stages(there.get()));
  EXPECT_STREQ(zyx_compiler_result_remarks(here.get()), zyx_compiler_result_remarks(there.get()));
  // The compiler's own refusals come through as they are.
  EXPECT_EQ(messageOf(compile(&plain, "abacus")), messageOf(compile(nullptr, "abacus")));
}

TEST(IsolationTest, ParsesTextWithItsDiagnostics) {
  auto parse = [](std::string_view text) {
    zyx_compiler_parse_args args = {sizeof(args), {text.data(), text.size()}, "f.mlir", &plain};
    return Owned(zyx_compiler_parse(&args));
  };
  Owned good = parse("func.func @a(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }");
  ASSERT_EQ(zyx_compiler_result_code(good.get()), 0u) << messageOf(good);
  std::string bytes = bytesOf(zyx_compiler_result_graph(good.get(), 0));
  auto graph = graph::Graph::deserialize(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(graph.isOk());
  EXPECT_EQ(graph->name, "a");
  Owned bad = parse("func.func @a(");
  EXPECT_EQ(zyx_compiler_result_code(bad.get()), uint32_t(ZYX_INVALID_ARGUMENT));
  EXPECT_THAT(messageOf(bad), HasSubstr("f.mlir:1:13: error: "));
}

TEST(IsolationTest, EveryDeathIsAStatusWithTheName) {
  Owned aborted = dieBy("abort");
  EXPECT_EQ(zyx_compiler_result_code(aborted.get()), uint32_t(ZYX_COMPILE_FAILED));
  EXPECT_THAT(messageOf(aborted), HasSubstr("the compiler's child process died by signal 6 "
                                            "(Aborted) compiling 'sums'; something is wrong"));
  EXPECT_THAT(messageOf(dieBy("exit")), HasSubstr("ended with exit code 3 compiling 'sums'"));
  Owned garbage = dieBy("garbage");
  EXPECT_EQ(zyx_compiler_result_code(garbage.get()), uint32_t(ZYX_INTERNAL));
  EXPECT_THAT(messageOf(garbage), HasSubstr("the compiler's child process wrote no answer"));
  Owned memory = dieBy("memory");
  EXPECT_EQ(zyx_compiler_result_code(memory.get()), uint32_t(ZYX_OUT_OF_MEMORY));
  EXPECT_THAT(messageOf(memory), HasSubstr("the compiler's child process needs more than "
                                           "17179869184 bytes compiling 'sums'"));
  Owned killed = dieBy("killed");
  EXPECT_EQ(zyx_compiler_result_code(killed.get()), uint32_t(ZYX_COMPILE_FAILED));
  EXPECT_THAT(messageOf(killed),
              HasSubstr("died by signal 9 (Killed), as the system ends processes where the machine's memory "
                        "ends, compiling 'sums'"));
  Owned hanging = dieBy("hang", 200);
  EXPECT_EQ(zyx_compiler_result_code(hanging.get()), uint32_t(ZYX_TIMEOUT));
  EXPECT_THAT(messageOf(hanging), HasSubstr("the compiler's child process took longer than 200 ms "
                                            "compiling 'sums'"));
}

/// Its real limit, in the middle of a pass: the caller learns of it, and compiles what it wants next.
TEST(IsolationTest, AChildWhoseMemoryEndsSaysSo) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's memory has no limit";
#endif
#endif
  for (const char *death : {"exhaust new", "exhaust LLVM"}) {
    Owned result = dieBy(death, 0, uint64_t(1) << 30);
    EXPECT_EQ(zyx_compiler_result_code(result.get()), uint32_t(ZYX_OUT_OF_MEMORY)) << death;
    EXPECT_THAT(messageOf(result), AllOf(HasSubstr("the compiler's child process needs more than 1073741824 bytes "
                                                   "compiling 'sums'"),
                                         HasSubstr("in pass 'zyx-"), HasSubstr("on kernel 'sums_")))
        << death;
    EXPECT_EQ(zyx_compiler_result_code(compile(&plain).get()), 0u) << death;
  }
}

/// A crash tells the pass and the kernel.
TEST(IsolationTest, ADeathInAPassNamesTheKernel) {
  Owned result = dieBy("in pass");
  EXPECT_EQ(zyx_compiler_result_code(result.get()), uint32_t(ZYX_COMPILE_FAILED));
  EXPECT_THAT(messageOf(result), AllOf(HasSubstr("died by signal 11"), HasSubstr("compiling 'sums'; in pass 'zyx-"),
                                       HasSubstr("on kernel 'sums_")));
}

TEST(IsolationTest, RefusesWhatCannotRun) {
  zyx_compiler_isolation isolation = {sizeof(isolation), "/no/such/worker", 0, 0};
  EXPECT_THAT(messageOf(compile(&isolation)), HasSubstr("cannot run /no/such/worker: "));
  isolation = {sizeof(isolation), nullptr, 1000, 0};
  EXPECT_THAT(messageOf(compile(&isolation)), HasSubstr("of 1000 bytes is too small for the compiler"));
  isolation.struct_size = 0;
  EXPECT_THAT(messageOf(compile(&isolation)), HasSubstr("the isolation has no struct_size"));
}

/// What the child has started ends with it: here a C compiler, and what that has started.
TEST(IsolationTest, AnEndedChildLeavesNoCompilerBehind) {
  auto folder = TempFolder::create();
  ASSERT_TRUE(folder.isOk());
  const std::string number = folder->file("number");
  const std::string script = "#!/bin/sh\nsleep 1000 &\necho $! >" + number + "\nwait\n";
  auto cc = folder->write("cc", std::as_bytes(std::span(script)));
  ASSERT_TRUE(cc.isOk());
  std::filesystem::permissions(*cc, std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  setenv("PATH", (std::filesystem::path(*cc).parent_path().string() + ":" + before).c_str(), 1);
  zyx_compiler_isolation isolation = {sizeof(isolation), nullptr, 0, 1};
  // Until the compiler is slow enough to be there.
  for (isolation.milliseconds = 1000; !std::filesystem::exists(number) && isolation.milliseconds < 60'000;
       isolation.milliseconds *= 2)
    EXPECT_EQ(zyx_compiler_result_code(compile(&isolation, "c").get()), uint32_t(ZYX_TIMEOUT));
  setenv("PATH", before.c_str(), 1);
  std::ifstream file(number);
  std::string process;
  ASSERT_TRUE(file >> process);
  bool ended = false;
  for (int i = 0; i < 1000 && !ended; ++i) {
    std::ifstream stat("/proc/" + process + "/stat");
    std::string id, name, state;
    ended = !(stat >> id >> name >> state) || state == "Z";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(ended);
}

TEST(ChildProcessTest, PassesBytesBothWays) {
  // More than the sockets hold, while the child writes back.
  std::vector<std::byte> input(3 << 20);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<std::byte>(i * 7);
  auto result = runChild({"/bin/cat"}, input);
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  EXPECT_EQ(result->output, input);
  EXPECT_EQ(result->signal, 0);
  EXPECT_EQ(result->exitCode, 0);
}

TEST(ChildProcessTest, EndsOnesThatDoNotEnd) {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(100);
  auto sleeping = runChild({"/bin/sleep", "100"}, {}, limits);
  ASSERT_TRUE(sleeping.isOk());
  EXPECT_TRUE(sleeping->timedOut);
  EXPECT_EQ(sleeping->signal, SIGABRT);
  // One that has closed its ends, and one that does not listen to SIGABRT.
  for (const char *script : {"exec <&- >&- 2>&-; sleep 100", "trap '' ABRT; sleep 100; sleep 100"}) {
    auto result = runChild({"/bin/sh", "-c", script}, {}, limits);
    ASSERT_TRUE(result.isOk());
    EXPECT_TRUE(result->timedOut) << script;
  }
  limits = {};
  limits.outputBytes = 1000;
  auto writing = runChild({"/bin/cat", "/dev/zero"}, {}, limits);
  ASSERT_TRUE(writing.isOk());
  EXPECT_TRUE(writing->tooMuchOutput);
  EXPECT_EQ(writing->signal, SIGKILL);
}

TEST(ChildProcessTest, AChildThatReadsNothingIsNoSignalForUs) {
  std::vector<std::byte> input(3 << 20);
  auto result = runChild({"/bin/sh", "-c", "echo words >&2; exit 5"}, input);
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  EXPECT_EQ(result->exitCode, 5);
  EXPECT_EQ(result->messages, "words\n");
}
