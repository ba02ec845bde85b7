//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Session.h"
#include "zyx/Base/File.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Session/DriverTrial.h"
#include "zyx/Session/GraphDevice.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::session;
using testing::HasSubstr;

namespace {

/// y = x + w, with w bound by name.
graph::Graph sum() {
  graph::Graph graph;
  const TensorType type{DType::F32, {3}};
  const graph::NodeId x = *graph.parameter("x", type), w = *graph.parameter("w", type);
  graph.inputs = {x};
  graph.outputs = {{"y", *graph.binary(graph::BinaryKind::Add, x, w)}};
  return graph;
}

HostTensor tensor(std::vector<float> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {{DType::F32, {static_cast<int64_t>(values.size())}}, {bytes.begin(), bytes.end()}};
}

/// y = x * sum(x), of any number of elements.
graph::Graph anySize() {
  graph::Graph graph;
  const TensorType type = symbolicType(DType::F32, {*Extent::symbol("n")});
  const graph::NodeId x = *graph.parameter("x", type);
  const graph::NodeId sum = *graph.reduce(graph::ReduceKind::Add, x, {0});
  const graph::NodeId wide = *graph.add(graph::Op::Expand, {{*graph.reshape(sum, {1})}}, {}, type);
  graph.inputs = {x};
  graph.outputs = {{"y", *graph.binary(graph::BinaryKind::Mul, x, wide)}};
  return graph;
}

/// One executable called with several sizes, one of them twice and one of them refused.
void callWithSizes(Executable &executable) {
  EXPECT_THAT(executable.run().message(), HasSubstr("no inputs gave them values"));
  EXPECT_THAT(executable.readOutputs().status().message(),
              HasSubstr("graph main has symbols, and no inputs gave them values"));
  auto call = [&](std::vector<float> values) {
    EXPECT_TRUE(executable.setInputs({tensor(std::move(values))}).isOk());
    EXPECT_TRUE(executable.run().isOk());
    return (*executable.readOutputs())[0];
  };
  EXPECT_EQ(call({1, 2, 3}), tensor({6, 12, 18}));
  EXPECT_EQ(call({5}), tensor({25}));
  EXPECT_EQ(call({}), tensor({}));
  EXPECT_EQ(call({2, 2, 2}), tensor({12, 12, 12}));
  EXPECT_THAT(executable.setInputs({{{DType::F32, {1, 1}}, std::vector<std::byte>(4)}}).message(),
              HasSubstr("input 'x' is f32[n], and f32[1, 1] is given"));
}

Status openAs(const char *path) {
  setenv("ZYX_COMPILER", path, 1);
  Status status = Compiler::open().status();
  unsetenv("ZYX_COMPILER");
  return status;
}

} // namespace

TEST(SessionTest, ReferenceRunsWithParametersAsInputs) {
  Session session;
  auto executable = session.prepare(sum(), "reference");
  ASSERT_TRUE(executable.isOk());
  ASSERT_EQ((*executable)->inputs().size(), 2u);
  EXPECT_EQ((*executable)->inputs()[1].name, "w");
  ASSERT_TRUE((*executable)->setInputs({tensor({1, 2, 3}), tensor({10, 20, 30})}).isOk());
  ASSERT_TRUE((*executable)->run().isOk());
  EXPECT_EQ((*(*executable)->readOutputs())[0], tensor({11, 22, 33}));
}

TEST(SessionTest, RefusesInputsThatDoNotFit) {
  Session session;
  auto executable = session.prepare(sum(), "reference");
  ASSERT_TRUE(executable.isOk());
  EXPECT_THAT((*executable)->setInputs({tensor({1, 2, 3})}).message(), HasSubstr("1 tensors are given for 2 inputs"));
  EXPECT_THAT((*executable)->setInputs({tensor({1, 2, 3}), tensor({1})}).message(),
              HasSubstr("input 'w' is f32[3], and f32[1] is given"));
}

TEST(SessionTest, SelectsEntries) {
  graph::Graph one = sum(), two = sum();
  one.name = "one";
  two.name = "two";
  EXPECT_EQ(selectEntry({one, two}, "two", "f")->name, "two");
  EXPECT_EQ(selectEntry({one}, "", "f")->name, "one");
  EXPECT_THAT(selectEntry({one, two}, "", "f").status().message(),
              HasSubstr("f: choose one of its entries by --entry: one, two"));
  EXPECT_THAT(selectEntry({one, two}, "three", "f").status().message(),
              HasSubstr("f: has no entry 'three', but one, two"));
}

TEST(SessionTest, ReferenceRunsGraphsOfAnySize) {
  Session session;
  auto executable = session.prepare(anySize(), "reference");
  ASSERT_TRUE(executable.isOk());
  EXPECT_EQ(zyx::toString((*executable)->inputs()[0].type), "f32[n]");
  callWithSizes(**executable);
}

TEST(SessionTest, ListsTheReferenceFirst) {
  auto devices = Session::listDevices();
  ASSERT_GE(devices.size(), 3u);
  EXPECT_EQ(devices[0].name, "reference");
  EXPECT_TRUE(devices[0].present);
}

TEST(SessionTest, DevicesOfGraphsAreThoseThatNothingIsCompiledFor) {
  ASSERT_FALSE(graphDevices().empty());
  for (const GraphDevice &device : graphDevices()) {
    EXPECT_EQ(findGraphDevice(device.name), &device);
    EXPECT_EQ(device.listing().name, device.name);
    EXPECT_TRUE(device.listing().present);
    // What would compile for it is told so, with all that there is.
    const Status status = Session().device(std::string(device.name)).status();
    EXPECT_THAT(status.message(), HasSubstr(std::string(device.kind)));
  }
  EXPECT_EQ(findGraphDevice("cpu"), nullptr);
  EXPECT_EQ(findGraphDevice(""), nullptr);
}

TEST(SessionTest, TakesTheFastestDeviceThatIsOn) {
  setenv("ZYX_CUDA_DRIVER", "/none/libcuda.so.1", 1);
  EXPECT_EQ(Session::defaultDevice({}), "cpu");
  Config named, noCpu, none;
  named.device = "reference";
  noCpu.devices = {{"cpu", false}};
  none.devices = {{"cpu", false}, {"c", false}};
  EXPECT_EQ(Session::defaultDevice(named), "reference");
  EXPECT_EQ(Session::defaultDevice(noCpu), "c");
  EXPECT_EQ(Session::defaultDevice(none), "cpu");
  unsetenv("ZYX_CUDA_DRIVER");
}

TEST(CompilerTest, RefusesLibrariesThatAreNoCompiler) {
  EXPECT_THAT(openAs("/nowhere/libZyxCompiler.so").message(), HasSubstr("the compiler cannot be opened: /nowhere"));
  EXPECT_THAT(openAs(ZYX_TEST_EMPTY_COMPILER).message(),
              HasSubstr("the compiler lacks the function zyx_compiler_parse"));
  EXPECT_THAT(openAs(ZYX_TEST_OLD_COMPILER).message(), HasSubstr("the compiler is of version 0.0.0, this program of"));
}

#ifdef ZYX_TEST_COMPILER
TEST(SessionTest, CompilesAndRuns) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  Session session;
  auto executable = session.prepare(sum(), "cpu");
  unsetenv("ZYX_COMPILER");
  ASSERT_TRUE(executable.isOk()) << executable.status().toString();
  EXPECT_EQ((*executable)->numKernels, 1u);
  ASSERT_TRUE((*executable)->setInputs({tensor({1, 2, 3}), tensor({10, 20, 30})}).isOk());
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE((*executable)->run().isOk());
  EXPECT_EQ((*(*executable)->readOutputs())[0], tensor({11, 22, 33}));
  EXPECT_THAT(toString((*executable)->stages), HasSubstr(" ms (import "));

  auto anyExecutable = session.prepare(anySize(), "cpu");
  ASSERT_TRUE(anyExecutable.isOk()) << anyExecutable.status().toString();
  callWithSizes(**anyExecutable);

  // The same graph again needs no compiler.
  auto again = session.prepare(sum(), "cpu");
  ASSERT_TRUE(again.isOk());
  ASSERT_EQ((*again)->stages.size(), 1u);
  EXPECT_EQ((*again)->stages[0].name, "load");
  EXPECT_EQ((*again)->numKernels, 1u);
}

TEST(SessionTest, KeepsFewArtifactsInMemory) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  auto stagesOfSecond = [](SessionOptions options) {
    Session session(std::move(options));
    const Result<Compiled> first = session.compile(sum(), {});
    EXPECT_TRUE(first.isOk()) << first.status().toString();
    graph::Graph other = sum();
    other.name = "other";
    EXPECT_TRUE(session.compile(other, {}).isOk());
    return session.compile(sum(), {})->stages.size();
  };
  EXPECT_EQ(stagesOfSecond({}), 0u);
  EXPECT_GT(stagesOfSecond({.artifactBytes = 1}), 0u);
  unsetenv("ZYX_COMPILER");
}

/// y = x * sum(w), of any number of elements, with 1 MiB of weights.
static graph::Graph anySizeOfWeights() {
  graph::Graph graph;
  const TensorType type = symbolicType(DType::F32, {*Extent::symbol("n")});
  const graph::NodeId x = *graph.parameter("x", type);
  const graph::NodeId w = *graph.parameter("w", {DType::F32, {1 << 18}});
  const graph::NodeId sum = *graph.reduce(graph::ReduceKind::Add, w, {0});
  const graph::NodeId wide = *graph.add(graph::Op::Expand, {{*graph.reshape(sum, {1})}}, {}, type);
  graph.inputs = {x};
  graph.outputs = {{"y", *graph.binary(graph::BinaryKind::Mul, x, wide)}};
  return graph;
}

/// A limit of memory that two programs fit, but not what all sizes need one after the other.
TEST(SessionTest, SharesWeightsAndForgetsSizes) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  auto call = [&](Executable &executable, size_t size, float factor) {
    std::vector<float> x(size, 2), w(1 << 18, factor);
    const Status set = executable.setInputs({tensor(x), tensor(w)});
    ASSERT_TRUE(set.isOk()) << set.toString();
    ASSERT_TRUE(executable.run().isOk());
    EXPECT_EQ((*executable.readOutputs())[0], tensor(std::vector<float>(size, factor * (1 << 19))));
  };
  SessionOptions options;
  options.config.memoryLimits["cpu"] = uint64_t(2) << 20;
  Session session(options);
  auto executable = session.prepare(anySizeOfWeights(), "cpu");
  ASSERT_TRUE(executable.isOk());
  for (size_t size : {1, 2, 3, 1})
    call(**executable, size, static_cast<float>(size));

  options.config.memoryLimits["cpu"] = uint64_t(4) << 20;
  options.readyBytes = 1;
  Session forgetful(options);
  executable = forgetful.prepare(anySizeOfWeights(), "cpu");
  ASSERT_TRUE(executable.isOk());
  for (size_t size : {100'000, 100'001, 100'002, 100'003, 100'000})
    call(**executable, size, 1);
  unsetenv("ZYX_COMPILER");
}

TEST(SessionTest, ComputesOnceWhatDependsOnWeightsAlone) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  graph::Graph graph;
  const TensorType type{DType::F32, {3}};
  const graph::NodeId x = *graph.parameter("x", type), w = *graph.parameter("w", type);
  graph.inputs = {x};
  graph.outputs = {{"y", *graph.binary(graph::BinaryKind::Add, x, *graph.sort(graph::SortKind::Values, w, 0))}};
  Session session;
  for (const char *device : {"cpu", "c"}) {
    auto executable = session.prepare(graph, device);
    ASSERT_TRUE(executable.isOk()) << executable.status().toString();
    EXPECT_EQ((*executable)->numKernels, 2u);
    EXPECT_EQ((*executable)->numLaunches, 1u);
    EXPECT_TRUE((*executable)->inputs()[1].isWeight);
    for (float offset : {0.0f, 10.0f}) {
      ASSERT_TRUE((*executable)->setInputs({tensor({1, 1, 1}), tensor({3, 1, 2 + offset})}).isOk());
      for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE((*executable)->run().isOk());
        EXPECT_EQ((*(*executable)->readOutputs())[0], offset == 0 ? tensor({2, 3, 4}) : tensor({2, 4, 13}));
      }
    }
  }
  // An input in the place of the weight is another program.
  graph.inputs.push_back(w);
  auto executable = session.prepare(graph, "cpu");
  unsetenv("ZYX_COMPILER");
  ASSERT_TRUE(executable.isOk());
  EXPECT_EQ((*executable)->numLaunches, 2u);
  EXPECT_FALSE((*executable)->inputs()[1].isWeight);
}

TEST(SessionTest, KeepsArtifactsForLaterSessions) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  const TempFolder temporary = *TempFolder::create();
  const SessionOptions options = {temporary.file("cache")};
  CompileOptions fast, plain;
  plain.noOptimise = true;
  auto stages = [&](const SessionOptions &with, const CompileOptions &how, const std::string &entry = "main") {
    graph::Graph graph = sum();
    graph.name = entry;
    Result<Compiled> compiled = Session(with).compile(std::move(graph), how);
    EXPECT_TRUE(compiled.isOk()) << compiled.status().toString();
    return compiled.isOk() ? toString(compiled->stages) : "";
  };
  EXPECT_THAT(stages(options, fast), HasSubstr("graph"));
  // Other options and other names of the same program are other artifacts.
  EXPECT_THAT(stages(options, plain), HasSubstr("graph"));
  EXPECT_THAT(stages(options, fast, "other"), HasSubstr("graph"));
  for (const CompileOptions &how : {fast, plain})
    EXPECT_THAT(stages(options, how), HasSubstr("ms (cache "));
  EXPECT_THAT(stages({}, fast), HasSubstr("graph"));

  // A hit needs no compiler's library but its identity, and runs.
  Session session(options);
  auto executable = session.prepare(sum(), "cpu");
  ASSERT_TRUE(executable.isOk()) << executable.status().toString();
  EXPECT_EQ((*executable)->stages[0].name, "cache");
  EXPECT_EQ((*executable)->numKernels, 1u);
  ASSERT_TRUE((*executable)->setInputs({tensor({1, 2, 3}), tensor({10, 20, 30})}).isOk());
  ASSERT_TRUE((*executable)->run().isOk());
  EXPECT_EQ((*(*executable)->readOutputs())[0], tensor({11, 22, 33}));

  // The cache reads the artifact to see whether it is one, and nobody reads it again; what stays in memory has bytes
  // alone.
  Session later(options);
  Compiled hit = *later.compile(sum(), fast);
  ASSERT_TRUE(hit.program);
  EXPECT_EQ(*hit.program, *artifact::Artifact::deserialize(hit.output));
  EXPECT_FALSE(later.compile(sum(), fast)->program);
  hit.output.clear();
  ASSERT_TRUE(hit.readArtifact().isOk());
  EXPECT_EQ(hit.readArtifact()->entry, "main");
  hit.program = nullptr;
  EXPECT_FALSE(hit.readArtifact().isOk());

  // Another compiler has other entries.
  setenv("ZYX_COMPILER", ZYX_TEST_OLD_COMPILER, 1);
  EXPECT_THAT(Session(options).compile(sum(), fast).status().message(), HasSubstr("the compiler is of version 0.0.0"));
  unsetenv("ZYX_COMPILER");
}

TEST(SessionTest, AnEntryOfAnotherMachineIsAMissOrRefusedByName) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  const TempFolder temporary = *TempFolder::create();
  const SessionOptions options = {temporary.file("cache")};
  ASSERT_TRUE(Session(options).compile(sum(), {}).isOk());
  std::filesystem::path path;
  for (const auto &file : std::filesystem::directory_iterator(*options.cacheFolder))
    if (!CacheEntry::deserialize(*readFile(file.path()))->kernel)
      path = file.path();
  CacheEntry entry = *CacheEntry::deserialize(*readFile(path));
  // The key has this processor's features. An entry that a machine with others has left is not found,
  // even under this one's name; code is compiled instead.
  const std::string key = entry.key, mark = "features=[";
  ASSERT_NE(key.find(mark), std::string::npos);
  entry.key.insert(key.find(mark) + mark.size(), "another-feature, ");
  ASSERT_TRUE(writeFileAtomically(path, entry.serialize()).isOk());
  Result<Compiled> compiled = Session(options).compile(sum(), {});
  ASSERT_TRUE(compiled.isOk()) << compiled.status().toString();
  EXPECT_THAT(toString(compiled->stages), HasSubstr("graph"));

  // One that claims to be of this machine, and is not, does not run into its instructions.
  entry.key = key;
  artifact::Artifact other = *artifact::Artifact::deserialize(entry.artifact);
  other.cpuFeatures = {"not-of-this-world"};
  entry.artifact = other.serialize();
  ASSERT_TRUE(ArtifactCache(*options.cacheFolder).insert(entry).isOk());
  EXPECT_THAT(Session(options).prepare(sum(), "cpu").status().message(),
              HasSubstr("the code needs the CPU feature 'not-of-this-world'"));
  unsetenv("ZYX_COMPILER");
}

TEST(SessionTest, CompilesWhereNothingCanBeKept) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  SessionOptions options;
  options.cacheFolder = "/dev/null/cache";
  Result<Compiled> compiled = Session(options).compile(sum(), {});
  unsetenv("ZYX_COMPILER");
  ASSERT_TRUE(compiled.isOk()) << compiled.status().toString();
  EXPECT_THAT(compiled->remarks, HasSubstr("not kept in the cache: /dev/null/cache: "));
}

// The driver compiles what a device loads; a child that does so first is lost in its place.
TEST(SessionTest, ADriverThatHangsEndsAChild) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  setenv("ZYX_OPENCL_DRIVER", ZYX_FAKE_OPENCL, 1);
  CompileOptions options;
  options.target = "opencl";
  const Result<Compiled> compiled = Session().compile(sum(), options);
  unsetenv("ZYX_COMPILER");
  ASSERT_TRUE(compiled.isOk()) << compiled.status().toString();
  const Result<artifact::Artifact> artifact = compiled->readArtifact();
  ASSERT_TRUE(artifact.isOk());
  EXPECT_TRUE(isCompiledByDriver(*artifact));
  const auto tried = [&](const char *ends, const Isolation &isolation) {
    setenv("FAKE_OPENCL_BUILD", ends, 1);
    const Status status = tryInChild(*artifact, {"opencl"}, isolation);
    unsetenv("FAKE_OPENCL_BUILD");
    return status;
  };
  const Status hangs = tried("hangs", {.milliseconds = 2000, .driverWorker = ZYX_DRIVER_WORKER});
  EXPECT_EQ(hangs.code(), ErrorCode::Timeout);
  EXPECT_THAT(hangs.message(), HasSubstr("the driver's child process took longer than 2000 ms loading kernel"));
  const Status dies = tried("dies", {.driverWorker = ZYX_DRIVER_WORKER});
  EXPECT_EQ(dies.code(), ErrorCode::CompileFailed);
  EXPECT_THAT(dies.message(), HasSubstr("died by signal 11"));
  // No request: nothing was tried.
  EXPECT_THAT(tried("dies", {.driverWorker = "false"}).message(),
              HasSubstr("the driver's child process ended with exit code 1 loading kernel"));
  EXPECT_THAT(tried("dies", {}).message(), HasSubstr("there is no zyx-driver-worker in "));
  // A refusal is said where the program is loaded to stay.
  EXPECT_TRUE(tryInChild(*artifact, {"opencl"}, {.driverWorker = ZYX_DRIVER_WORKER}).isOk());
  unsetenv("ZYX_OPENCL_DRIVER");
}

TEST(SessionTest, SaysWhereAWorkerIsMissing) {
  Result<TempFolder> folder = TempFolder::create();
  ASSERT_TRUE(folder.isOk());
  const std::string alone = folder->file("libZyxCompiler.so");
  std::filesystem::copy_file(ZYX_TEST_COMPILER, alone);
  setenv("ZYX_COMPILER", alone.c_str(), 1);
  SessionOptions options;
  options.isolation.emplace();
  Session session(options);
  const Status status = session.prepare(sum(), "cpu").status();
  unsetenv("ZYX_COMPILER");
  std::filesystem::remove(alone);
  EXPECT_THAT(status.toString(), HasSubstr("there is no zyx-compiler-worker in "));
}
#endif
