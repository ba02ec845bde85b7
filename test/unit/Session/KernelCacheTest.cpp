//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Kernels that are kept by themselves: a program compiles those that no other one has.
#include "zyx/Base/File.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Graph/UnaryKind.h"
#include "zyx/Session/Session.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace zyx;
using namespace zyx::session;

namespace {

constexpr size_t many = 99;

/// The sum of the squares of each input. Input i has i + 2 rows: no two of them have one kernel in common.
graph::Graph sums(size_t count, const std::string &name = "main") {
  graph::Graph graph;
  graph.name = name;
  for (size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    const graph::NodeId x = *graph.parameter("x" + number, {DType::F32, {static_cast<int64_t>(i) + 2, 3}});
    const graph::NodeId square = *graph.binary(graph::BinaryKind::Mul, x, x);
    graph.inputs.push_back(x);
    graph.outputs.push_back({"y" + number, *graph.reduce(graph::ReduceKind::Add, square, {0})});
  }
  return graph;
}

HostTensor filled(TensorType type, float value) {
  const std::vector<float> values(static_cast<size_t>(*byteSize(type)) / sizeof(float), value);
  const auto bytes = std::as_bytes(std::span(values));
  return {std::move(type), {bytes.begin(), bytes.end()}};
}

/// Runs such a program and says whether every sum is right.
bool isRight(Executable &executable) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < executable.inputs().size(); ++i)
    inputs.push_back(filled(executable.inputs()[i].type, static_cast<float>(i % 7)));
  if (!executable.setInputs(inputs) || !executable.run())
    return false;
  const Result<std::vector<HostTensor>> outputs = executable.readOutputs();
  for (size_t i = 0; outputs && i < outputs->size(); ++i)
    if ((*outputs)[i] != filled({DType::F32, {3}}, static_cast<float>((i % 7) * (i % 7) * (i + 2))))
      return false;
  return outputs.isOk();
}

/// y = softmax-like rows of a b^T in bf16, which a card of today multiplies by its tensor cores.
graph::Graph product() {
  graph::Graph graph;
  const int64_t size = 256;
  auto operand = [&](const char *name, Shape shape) {
    const graph::NodeId given = *graph.parameter(name, {DType::BF16, {size, size}});
    graph.inputs.push_back(given);
    return *graph.expand(*graph.reshape(*graph.cast(given, DType::F32), std::move(shape)), {size, size, size});
  };
  const graph::NodeId a = operand("a", {size, 1, size}), b = operand("b", {1, size, size});
  const graph::NodeId sum = *graph.reduce(graph::ReduceKind::Add, *graph.binary(graph::BinaryKind::Mul, a, b), {2});
  graph.outputs = {{"y", sum},
                   {"m", *graph.reduce(graph::ReduceKind::Max, *graph.unary(graph::UnaryKind::Exp, sum), {1})}};
  return graph;
}

/// Kernels in memory, as bytes that a test may change.
struct Shelf {
  std::map<std::string, std::vector<std::byte>> kernels;
  size_t lookups = 0;
  KernelStore store() {
    return {[this](const std::string &key) -> std::optional<std::vector<std::byte>> {
              ++lookups;
              const auto found = kernels.find(key);
              return found == kernels.end() ? std::nullopt : std::optional(found->second);
            },
            [this](const std::string &key, std::span<const std::byte> bytes) {
              kernels[key].assign(bytes.begin(), bytes.end());
            }};
  }
};

class KernelCacheTest : public testing::Test {
protected:
  void SetUp() override { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
  void TearDown() override { unsetenv("ZYX_COMPILER"); }

  TempFolder temporary = *TempFolder::create();
  const SessionOptions onDisk = {temporary.file("cache")};

  void expect(Session &session, size_t compiled, size_t inMemory, size_t disk) {
    const KernelStatistics counts = session.kernelStatistics();
    EXPECT_EQ(counts.compiled, compiled);
    EXPECT_EQ(counts.foundInMemory, inMemory);
    EXPECT_EQ(counts.foundOnDisk, disk);
  }
  void prepareAndRun(Session &session, graph::Graph graph) {
    auto executable = session.prepare(std::move(graph), "cpu");
    ASSERT_TRUE(executable.isOk()) << executable.status().toString();
    EXPECT_TRUE(isRight(**executable));
  }
  /// The entries of the folder that hold a kernel.
  std::vector<std::filesystem::path> kernelFiles() {
    std::vector<std::filesystem::path> files;
    for (const auto &file : std::filesystem::directory_iterator(*onDisk.cacheFolder))
      if (CacheEntry::deserialize(*readFile(file.path()))->kernel)
        files.push_back(file.path());
    return files;
  }
};

} // namespace

TEST_F(KernelCacheTest, CompilesTheOneOfAHundredThatIsNew) {
  Session session;
  prepareAndRun(session, sums(many));
  expect(session, many, 0, 0);
  prepareAndRun(session, sums(many + 1));
  expect(session, many + 1, many, 0);
  // A name is no part of what is computed.
  prepareAndRun(session, sums(many, "other"));
  expect(session, many + 1, 2 * many, 0);
}

TEST_F(KernelCacheTest, KeepsKernelsForLaterProcesses) {
  {
    Session first(onDisk);
    prepareAndRun(first, sums(9));
    expect(first, 9, 0, 0);
  }
  EXPECT_EQ(kernelFiles().size(), 9u);
  Session second(onDisk);
  prepareAndRun(second, sums(10));
  expect(second, 1, 0, 9);
  prepareAndRun(second, sums(8));
  expect(second, 1, 8, 9);
  // Without memory they are read again.
  SessionOptions options = onDisk;
  options.kernelBytes = 0;
  Session third(options);
  prepareAndRun(third, sums(7));
  prepareAndRun(third, sums(6));
  expect(third, 0, 0, 13);
}

TEST_F(KernelCacheTest, KeepsFewInMemoryAndNoneWhereNothingIsKept) {
  Session small({.kernelBytes = 2000});
  prepareAndRun(small, sums(8));
  prepareAndRun(small, sums(9));
  EXPECT_GT(small.kernelStatistics().compiled, 9u);
  EXPECT_LT(small.kernelStatistics().foundInMemory, 8u);
  Session none({.kernelBytes = 0});
  prepareAndRun(none, sums(2));
  prepareAndRun(none, sums(3));
  expect(none, 5, 0, 0);
}

TEST_F(KernelCacheTest, ACompilerInAChildProcessAsksForThemToo) {
  SessionOptions options = onDisk;
  options.isolation.emplace();
  {
    Session first(options);
    prepareAndRun(first, sums(5));
    expect(first, 5, 0, 0);
    prepareAndRun(first, sums(6));
    expect(first, 6, 5, 0);
  }
  Session second(options);
  prepareAndRun(second, sums(7));
  expect(second, 1, 0, 6);
}

TEST_F(KernelCacheTest, DamagedEntriesAreCompiledAgain) {
  {
    prepareAndRun(*std::make_unique<Session>(onDisk), sums(6));
  }
  std::vector<std::filesystem::path> files = kernelFiles();
  ASSERT_EQ(files.size(), 6u);
  auto flip = [](std::vector<std::byte> bytes, size_t at) {
    bytes[at] ^= std::byte(1);
    return bytes;
  };
  // The file; the bytes of the compiler in a file that is whole; bytes that are cut; those of another kernel.
  const std::vector<std::byte> first = *readFile(files[0]);
  ASSERT_TRUE(writeFileAtomically(files[0], flip(first, first.size() - 1)).isOk());
  auto change = [&](size_t file, auto &&edit) {
    CacheEntry entry = *CacheEntry::deserialize(*readFile(files[file]));
    edit(*entry.kernel);
    ASSERT_TRUE(writeFileAtomically(files[file], entry.serialize()).isOk());
  };
  change(1, [&](std::vector<std::byte> &kernel) { kernel = flip(kernel, kernel.size() / 2); });
  change(2, [&](std::vector<std::byte> &kernel) { kernel.resize(kernel.size() / 2); });
  const std::vector<std::byte> other = *CacheEntry::deserialize(*readFile(files[5]))->kernel;
  change(3, [&](std::vector<std::byte> &kernel) { kernel = other; });
  change(4, [&](std::vector<std::byte> &kernel) { kernel.clear(); });
  Session session(onDisk);
  prepareAndRun(session, sums(6, "again"));
  EXPECT_EQ(session.kernelStatistics().compiled, 5u);
  // They are whole again.
  Session later(onDisk);
  prepareAndRun(later, sums(6, "later"));
  expect(later, 0, 0, 6);
}

TEST_F(KernelCacheTest, ProcessesShareAFolder) {
  constexpr int numProcesses = 4;
  std::vector<pid_t> children;
  for (int process = 0; process < numProcesses; ++process) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool good = true;
      for (int round = 0; round < 3 && good; ++round) {
        Session session(onDisk);
        auto executable = session.prepare(sums(4 + (process + round) % 4, "p" + std::to_string(process)), "cpu");
        good = executable && isRight(**executable);
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(kernelFiles().size(), 7u);
}

TEST_F(KernelCacheTest, TheArtifactIsTheSameWhetherKernelsAreFoundOrCompiled) {
  const Result<std::unique_ptr<Compiler>> compiler = Compiler::open();
  ASSERT_TRUE(compiler.isOk()) << compiler.status().toString();
  setenv("ZYX_PTXAS", "", 1);
  for (const char *target : {"cpu", "sm_90a", "sm_80", "gfx942", "gfx1201", "c"}) {
    SCOPED_TRACE(target);
    for (const graph::Graph &graph : {sums(3), product()}) {
      CompileOptions options;
      options.target = target;
      Shelf shelf;
      const Result<Compiled> made = (*compiler)->compile(graph, options, {}, shelf.store());
      ASSERT_TRUE(made.isOk()) << made.status().toString();
      EXPECT_EQ(made->numFoundKernels, 0u);
      const Result<Compiled> found = (*compiler)->compile(graph, options, {}, shelf.store());
      ASSERT_TRUE(found.isOk()) << found.status().toString();
      EXPECT_EQ(found->output, made->output);
      EXPECT_EQ(found->remarks, made->remarks);
      // The system's C compiler gets one text of all kernels.
      const bool isText = std::string_view(target) == "c";
      EXPECT_EQ(found->numFoundKernels, isText ? 0 : made->numKernels);
      EXPECT_EQ(shelf.kernels.size(), isText ? 0 : made->numKernels);
      // Nor does it depend on whether there is a store at all.
      EXPECT_EQ((*compiler)->compile(graph, options)->output, made->output);
      // Other options and machines are other kernels.
      const size_t before = shelf.kernels.size();
      options.noOptimise = true;
      const Result<Compiled> plain = (*compiler)->compile(graph, options, {}, shelf.store());
      ASSERT_TRUE(plain.isOk()) << plain.status().toString();
      EXPECT_EQ(shelf.kernels.size() > before, !isText);
    }
  }
  unsetenv("ZYX_PTXAS");
}

TEST_F(KernelCacheTest, EqualKernelsOfOneProgramAreAskedForOnce) {
  const Result<std::unique_ptr<Compiler>> compiler = Compiler::open();
  ASSERT_TRUE(compiler.isOk()) << compiler.status().toString();
  graph::Graph graph;
  for (const char *name : {"a", "b"}) {
    const graph::NodeId x = *graph.parameter(name, {DType::F32, {4}});
    graph.inputs.push_back(x);
    graph.outputs.push_back({std::string("y") + name, *graph.unary(graph::UnaryKind::Neg, x)});
  }
  // Not even equal kernels are merged.
  CompileOptions options;
  options.noOptimise = true;
  setenv("ZYX_PTXAS", "", 1);
  for (const char *target : {"cpu", "sm_80", "gfx1100"}) {
    SCOPED_TRACE(target);
    options.target = target;
    Shelf shelf;
    const Result<Compiled> made = (*compiler)->compile(graph, options, {}, shelf.store());
    ASSERT_TRUE(made.isOk()) << made.status().toString();
    EXPECT_EQ(made->numKernels, 2u);
    EXPECT_EQ(shelf.lookups, 1u);
    EXPECT_EQ(shelf.kernels.size(), 1u);
    const Result<Compiled> found = (*compiler)->compile(graph, options, {}, shelf.store());
    ASSERT_TRUE(found.isOk()) << found.status().toString();
    EXPECT_EQ(found->numFoundKernels, 2u);
    EXPECT_TRUE(found->readArtifact().isOk());
  }
  unsetenv("ZYX_PTXAS");
}
