//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/File.h"
#include "zyx/Base/PrivateFolder.h"
#include "zyx/Base/RandomTensor.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Runtime/Device.h"
#include "zyx/Session/Agreement.h"
#include "zyx/Session/Session.h"

#include "../../fake-cuda/FakeCuda.h"
#include "../TestFiles.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace zyx;
using namespace zyx::session;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

const TuningTable::Key here{"cpu native", "a processor", "a compiler"};

MeasuredChoices one(const std::string &key, const std::string &text) { return {{key, {text, 10, 20}}}; }

class TuningTableTest : public testing::Test {
protected:
  TempFolder temporary = *TempFolder::create();
  std::string folder = temporary.file("cache");
};

std::vector<std::byte> floats(std::vector<float> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::string compare(std::vector<float> expected, std::vector<float> actual, double terms = 1) {
  const TensorType type{DType::F32, {static_cast<int64_t>(expected.size())}};
  return compareResults(type, floats(std::move(expected)), floats(std::move(actual)), terms);
}

} // namespace

TEST_F(TuningTableTest, KeepsChoicesForALaterProcess) {
  TuningTable table(folder, here);
  EXPECT_EQ(table.remark(), "");
  ASSERT_TRUE(table.add(one("key", "a choice")).isOk());
  const TuningTable later(folder, here);
  EXPECT_EQ(later.choices(), one("key", "a choice"));
  EXPECT_EQ(later.text(), "key a choice\n");
  EXPECT_EQ(later.text(std::vector<std::string>{"key", "none", "key"}), "key a choice\n");
  EXPECT_EQ(later.text(std::vector<std::string>{"none"}), "");
  // Without a folder they are this process's.
  TuningTable own(std::nullopt, here);
  ASSERT_TRUE(own.add(one("key", "a choice")).isOk());
  EXPECT_EQ(own.choices(), one("key", "a choice"));
  EXPECT_EQ(own.path(), "");
}

TEST_F(TuningTableTest, TwoProcessesLoseNothing) {
  TuningTable a(folder, here), b(folder, here);
  ASSERT_TRUE(a.add(one("a", "1")).isOk());
  ASSERT_TRUE(b.add(one("b", "2")).isOk());
  ASSERT_TRUE(a.add(one("a", "3")).isOk());
  EXPECT_EQ(TuningTable(folder, here).text(), "a 3\nb 2\n");
}

TEST_F(TuningTableTest, WhatIsDamagedForeignOrStaleIsIgnoredAndSaysWhy) {
  TuningTable table(folder, here);
  ASSERT_TRUE(table.add(one("key", "a choice")).isOk());
  const std::string whole = readBytes(table.path());
  for (size_t size = 0; size < whole.size(); ++size) {
    writeBytes(table.path(), whole.substr(0, size));
    const TuningTable cut(folder, here);
    EXPECT_TRUE(cut.choices().empty()) << size;
    EXPECT_THAT(cut.remark(), AllOf(HasSubstr("schedules that were measured are ignored: "), HasSubstr("is damaged")))
        << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    writeBytes(table.path(), changed);
    const TuningTable damaged(folder, here);
    EXPECT_TRUE(damaged.choices().empty()) << at;
    EXPECT_THAT(damaged.remark(), HasSubstr("is ")) << at;
  }
  writeBytes(table.path(), whole);
  // Each compiler has a file of its own; that of another one may be there under the name.
  const TuningTable::Key other{here.target, here.device, "another compiler"};
  ASSERT_NE(TuningTable(folder, other).path(), table.path());
  EXPECT_EQ(TuningTable(folder, other).remark(), "");
  fs::copy_file(table.path(), TuningTable(folder, other).path());
  const TuningTable stale(folder, other);
  EXPECT_TRUE(stale.choices().empty());
  EXPECT_THAT(stale.remark(), HasSubstr("was made with another compiler"));
  // A file of another device's, under the name of this one's.
  const TuningTable elsewhere(folder, {here.target, "another processor", here.toolchain});
  EXPECT_EQ(elsewhere.remark(), "");
  fs::copy_file(table.path(), elsewhere.path());
  const TuningTable foreign(folder, {here.target, "another processor", here.toolchain});
  EXPECT_TRUE(foreign.choices().empty());
  EXPECT_THAT(foreign.remark(), HasSubstr("is of another device"));
  // What is ignored gives way to what is measured next.
  TuningTable again(folder, {here.target, here.device, "another compiler"});
  ASSERT_TRUE(again.add(one("key", "another choice")).isOk());
  EXPECT_EQ(TuningTable(folder, {here.target, here.device, "another compiler"}).text(), "key another choice\n");
  EXPECT_EQ(TuningTable(folder, here).text(), "key a choice\n");
}

TEST_F(TuningTableTest, IsReadAsTheCacheIs) {
  TuningTable table(folder, here);
  ASSERT_TRUE(table.add(one("key", "a choice")).isOk());
  EXPECT_EQ(fs::status(table.path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  // A table that others may have written is said and ignored, and replaced by the next one.
  fs::permissions(table.path(), fs::perms::group_write, fs::perm_options::add);
  TuningTable foreign(folder, here);
  EXPECT_TRUE(foreign.choices().empty());
  EXPECT_THAT(foreign.remark(), HasSubstr("its group may write to it (mode 0620)"));
  ASSERT_TRUE(foreign.add(one("key", "another")).isOk());
  EXPECT_EQ(TuningTable(folder, here).text(), "key another\n");
  // So is a link, and one in the place of the lock's file.
  fs::rename(table.path(), temporary.file("elsewhere"));
  fs::create_symlink(temporary.file("elsewhere"), table.path());
  fs::remove(folder + "/tuning.lock");
  fs::create_symlink(temporary.file("lock"), folder + "/tuning.lock");
  TuningTable linked(folder, here);
  EXPECT_TRUE(linked.choices().empty());
  EXPECT_THAT(linked.remark(), HasSubstr("is no file"));
  ASSERT_TRUE(linked.add(one("key", "third")).isOk());
  EXPECT_EQ(TuningTable(folder, here).text(), "key third\n");
  EXPECT_FALSE(fs::exists(temporary.file("lock")));
  // Nothing is read from or written to a folder that others may write to.
  fs::permissions(folder, fs::perms::group_write, fs::perm_options::add);
  testing::internal::CaptureStderr();
  TuningTable shared(folder, here);
  EXPECT_TRUE(shared.choices().empty());
  EXPECT_THAT(shared.add(one("key", "fourth")).message(), HasSubstr("its group may write to it"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("zyx: warning: the cache is not used"));
  EXPECT_EQ(shared.text(), "key fourth\n");
}

TEST_F(TuningTableTest, SaysThatItWaitsForAnotherProcess) {
  TuningTable table(folder, here);
  ASSERT_TRUE(table.add(one("key", "a choice")).isOk());
  const Result<PrivateFolder> open = PrivateFolder::open(folder);
  ASSERT_TRUE(open);
  std::optional<PrivateFolder::Lock> held(*open->lock("tuning.lock", {}));
  testing::internal::CaptureStderr();
  const Status busy = open->lock("tuning.lock", std::chrono::milliseconds(30)).status();
  EXPECT_EQ(busy.code(), ErrorCode::Timeout);
  EXPECT_THAT(busy.message(), HasSubstr("another process holds the lock for longer than 30 ms"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "zyx: waits for another process that holds " + folder + "/tuning.lock\n");
  held.reset();
  EXPECT_TRUE(open->lock("tuning.lock", {}));
}

TEST_F(TuningTableTest, IsOfLimitedSize) {
  TuningTable table(folder, here);
  MeasuredChoices many;
  for (size_t i = 0; i < TuningTable::mostKernels; ++i)
    many[std::to_string(i)] = {"a choice", 1, 1};
  ASSERT_TRUE(table.add(many).isOk());
  EXPECT_THAT(table.add(one("key", "x")).message(), HasSubstr("kernels, and no more are kept"));
  EXPECT_FALSE(table.choices().contains("key"));
  // One that is there may change.
  EXPECT_TRUE(table.add(one("7", "x")).isOk());
  EXPECT_EQ(TuningTable(folder, here).choices().at("7").text, "x");
}

TEST_F(TuningTableTest, AFolderThatCannotBeWrittenLeavesThemToThisProcess) {
  writeBytes(temporary.file("file"), "x");
  TuningTable table(temporary.file("file"), here);
  EXPECT_FALSE(table.add(one("key", "x")).isOk());
  EXPECT_EQ(table.text(), "key x\n");
}

TEST(AgreementTest, SumsInAnotherOrderAgree) {
  EXPECT_EQ(compare({1, 2, 3}, {1, 2, 3}), "");
  EXPECT_EQ(compare({1, 2, 3}, {1.00001f, 2, 3}), "");
  EXPECT_THAT(compare({1, 2, 3}, {1.01f, 2, 3}), HasSubstr("element 0 is 1.010000 and not 1.000000"));
  // Sums of many terms may differ more where they are small.
  EXPECT_EQ(compare({1e-4f, 100, 100, 100}, {2e-4f, 100, 100, 100}, 4096), "");
  EXPECT_THAT(compare({0, 1, 1, 1}, {1, 1, 1, 1}, 4096), HasSubstr("element 0"));
}

TEST(AgreementTest, AllElementsTogetherAgreeCloser) {
  // Each is within what a sum of many terms may be off, but not all of them.
  const std::vector<float> expected(1000, 1.0f), actual(1000, 1.02f);
  EXPECT_THAT(compare(expected, actual, 4096), HasSubstr("over all elements"));
  EXPECT_EQ(compare(expected, std::vector<float>(1000, 1.00005f), 4096), "");
}

TEST(AgreementTest, WhatIsNoNumberMustBeNoneInBoth) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare({nan, infinity, 1}, {-nan, infinity, 1}), "");
  EXPECT_NE(compare({nan}, {1}), "");
  EXPECT_NE(compare({1}, {nan}), "");
  EXPECT_NE(compare({infinity}, {-infinity}), "");
  EXPECT_NE(compare({1}, {infinity}), "");
}

TEST(AgreementTest, IntegersAgreeExactly) {
  const TensorType type{DType::I32, {1}};
  const std::vector<std::byte> a = {std::byte(1), {}, {}, {}}, b = {std::byte(2), {}, {}, {}};
  EXPECT_EQ(compareResults(type, a, a, 1), "");
  EXPECT_THAT(compareResults(type, a, b, 1), HasSubstr("differs in an element of i32"));
}

TEST(AgreementTest, ResultsOf16BitsMayBeRoundedTheOtherWay) {
  const TensorType type{DType::BF16, {2}};
  const std::vector<std::byte> a = {std::byte(0x80), std::byte(0x3f), std::byte(0x80), std::byte(0x3f)},
                               near = {std::byte(0x81), std::byte(0x3f), std::byte(0x80), std::byte(0x3f)},
                               far = {std::byte(0x90), std::byte(0x3f), std::byte(0x80), std::byte(0x3f)};
  EXPECT_EQ(compareResults(type, a, near, 1), "");
  EXPECT_NE(compareResults(type, a, far, 1), "");
}

#ifdef ZYX_TEST_COMPILER
namespace {

/// [m, k] by [n, k] of a dtype, summed in f32.
graph::Graph product(int64_t m, int64_t n, int64_t k, DType dtype = DType::F32) {
  graph::Graph graph;
  const graph::NodeId a = *graph.parameter("a", {dtype, {m, k}}), b = *graph.parameter("b", {dtype, {n, k}});
  const TensorType wide{dtype, {m, n, k}}, sums{DType::F32, {m, n, k}};
  graph::NodeId left = *graph.add(graph::Op::Expand, {{*graph.reshape(a, {m, 1, k})}}, {}, wide);
  graph::NodeId right = *graph.add(graph::Op::Expand, {{*graph.reshape(b, {1, n, k})}}, {}, wide);
  if (dtype != DType::F32) {
    left = *graph.cast(left, DType::F32);
    right = *graph.cast(right, DType::F32);
  }
  graph.inputs = {a, b};
  graph::NodeId result = *graph.reduce(graph::ReduceKind::Add, *graph.binary(graph::BinaryKind::Mul, left, right), {2});
  if (dtype != DType::F32)
    result = *graph.cast(result, dtype);
  graph.outputs = {{"c", result}};
  return graph;
}

class TuningTest : public testing::Test {
protected:
  void SetUp() override { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
  void TearDown() override { unsetenv("ZYX_COMPILER"); }

  SessionOptions options(bool tune) {
    SessionOptions result;
    result.cacheFolder = folder;
    result.tune = tune;
    return result;
  }

  /// The only table in the folder.
  std::string tablePath() {
    for (const fs::directory_entry &file : fs::directory_iterator(folder))
      if (file.path().extension() == ".zyxt")
        return file.path();
    return "";
  }

  /// Runs a product on the device, and on the interpreter.
  void expectRight(Executable &executable, int64_t m, int64_t n, int64_t k) {
    auto reference = Session().prepare(product(m, n, k), "reference");
    ASSERT_TRUE(reference.isOk());
    std::vector<HostTensor> inputs = {*randomTensor({DType::F32, {m, k}}, 1), *randomTensor({DType::F32, {n, k}}, 2)};
    for (Executable *each : {&executable, reference->get()}) {
      ASSERT_TRUE(each->setInputs(inputs).isOk());
      ASSERT_TRUE(each->run().isOk());
    }
    const HostTensor expected = (*(*reference)->readOutputs())[0], actual = (*executable.readOutputs())[0];
    EXPECT_EQ(compareResults(expected.type, expected.data, actual.data, static_cast<double>(k)), "");
  }

  TempFolder temporary = *TempFolder::create();
  std::string folder = temporary.file("cache");
};

} // namespace

TEST_F(TuningTest, MeasuresAProductAndKeepsTheBestForLaterSessions) {
  {
    Session session(options(/*tune=*/true));
    auto executable = session.prepare(product(96, 128, 80), "cpu");
    ASSERT_TRUE(executable.isOk()) << executable.status().toString();
    EXPECT_THAT((*executable)->remarks,
                AllOf(HasSubstr("measured on cpu: #kernel.schedule<"), HasSubstr(" samples"), HasSubstr("estimated "),
                      HasSubstr(", which was measured to be the best")));
    EXPECT_THAT((*executable)->remarks, Not(HasSubstr("left out")));
    expectRight(**executable, 96, 128, 80);
  }
  ASSERT_NE(tablePath(), "");
  // Of two samples, one is the faster one: what is kept is what is used.
  Session later(options(/*tune=*/false));
  auto executable = later.prepare(product(96, 128, 80), "cpu");
  ASSERT_TRUE(executable.isOk());
  EXPECT_THAT((*executable)->remarks,
              AllOf(HasSubstr(", which was measured to be the best"), Not(HasSubstr("measured on"))));
  // Nor is it measured again.
  Session again(options(/*tune=*/true));
  executable = again.prepare(product(96, 128, 80), "cpu");
  ASSERT_TRUE(executable.isOk());
  EXPECT_THAT((*executable)->remarks, Not(HasSubstr("measured on")));
  // Another shape is another kernel.
  executable = later.prepare(product(96, 128, 81), "cpu");
  ASSERT_TRUE(executable.isOk());
  EXPECT_THAT((*executable)->remarks, Not(HasSubstr("measured")));
}

TEST_F(TuningTest, WhatIsMeasuredMakesNoOtherProgramAnew) {
  const auto stagesOf = [&](Session &session, int64_t m) {
    auto compiled = session.compile(product(m, 128, 80), {}, *session.device("cpu"));
    EXPECT_TRUE(compiled.isOk()) << compiled.status().toString();
    std::vector<std::string> names;
    for (const Stage &stage : compiled->stages)
      names.push_back(stage.name);
    return names;
  };
  const auto compilesIn = [&](int64_t m, bool tune) {
    Session session(options(tune));
    return stagesOf(session, m) != std::vector<std::string>{"cache"};
  };
  // Two programs, of which one is measured; then a third one.
  EXPECT_TRUE(compilesIn(96, false));
  EXPECT_TRUE(compilesIn(97, true));
  EXPECT_FALSE(compilesIn(96, false));
  EXPECT_TRUE(compilesIn(98, true));
  EXPECT_FALSE(compilesIn(96, false));
  EXPECT_FALSE(compilesIn(97, false));
  EXPECT_FALSE(compilesIn(97, true));
  // It is that program's own choices that make it anew.
  EXPECT_TRUE(compilesIn(96, true));
  EXPECT_FALSE(compilesIn(96, false));
}

TEST_F(TuningTest, AHitOpensNoCompiler) {
  const auto product96 = product(96, 128, 80);
  {
    Session session(options(/*tune=*/true));
    ASSERT_TRUE(session.prepare(product96, "cpu").isOk());
  }
  // One that is that compiler by its identity, and cannot be opened.
  const std::string closed = temporary.file("closed.so"), whole = readBytes(ZYX_TEST_COMPILER);
  writeBytes(closed, whole.substr(0, whole.size() / 2));
  setenv("ZYX_COMPILER", closed.c_str(), 1);
  if (fileIdentity(closed) != fileIdentity(ZYX_TEST_COMPILER))
    GTEST_SKIP() << "the compiler has no build id in its first half";
  Session session(options(/*tune=*/true));
  auto executable = session.prepare(product96, "cpu");
  ASSERT_TRUE(executable.isOk()) << executable.status().toString();
  expectRight(**executable, 96, 128, 80);
}

TEST_F(TuningTest, ADamagedTableIsIgnoredWithARemark) {
  {
    Session session(options(/*tune=*/true));
    ASSERT_TRUE(session.prepare(product(96, 128, 80), "cpu").isOk());
  }
  const std::string path = tablePath(), whole = readBytes(path);
  writeBytes(path, whole.substr(0, whole.size() / 2));
  Session session(options(/*tune=*/false));
  auto executable = session.prepare(product(96, 128, 80), "cpu");
  ASSERT_TRUE(executable.isOk());
  EXPECT_THAT((*executable)->remarks, AllOf(HasSubstr("is damaged"), Not(HasSubstr("measured to be the best"))));
  expectRight(**executable, 96, 128, 80);
}

TEST_F(TuningTest, AChoiceThatIsNoneIsIgnoredWithARemark) {
  Session session;
  CompileOptions listing;
  listing.listChoices = 8;
  auto listed = session.compile(product(96, 128, 80), listing);
  ASSERT_TRUE(listed.isOk()) << listed.status().toString();
  ASSERT_GE(listed->choices.size(), 2u);
  EXPECT_TRUE(listed->output.empty());
  const KernelChoice &first = listed->choices[0], &second = listed->choices[1];
  EXPECT_EQ(first.key, second.key);
  EXPECT_NE(first.text, second.text);
  CompileOptions measured;
  measured.measured = first.key + " " + second.text + "\n";
  auto compiled = session.compile(product(96, 128, 80), measured);
  ASSERT_TRUE(compiled.isOk());
  EXPECT_THAT(compiled->remarks, AllOf(HasSubstr(second.text), HasSubstr(", which was measured to be the best")));
  measured.measured = first.key + " #kernel.schedule<[]> threads 7\n";
  compiled = session.compile(product(96, 128, 80), measured);
  ASSERT_TRUE(compiled.isOk());
  EXPECT_THAT(compiled->remarks, AllOf(HasSubstr("is none of its schedules, and is ignored: "),
                                       HasSubstr("#kernel.schedule<[]> threads 7"), HasSubstr(first.text),
                                       Not(HasSubstr(", which was measured"))));
}

TEST_F(TuningTest, AKernelAloneIsAProgram) {
  Session session;
  CompileOptions listing;
  listing.listChoices = 1;
  auto listed = session.compile(product(16, 32, 48), listing);
  ASSERT_TRUE(listed.isOk());
  ASSERT_EQ(listed->choices.size(), 1u);
  CompileOptions alone;
  alone.onlyKernel = listed->choices[0].key;
  auto compiled = session.compile(product(16, 32, 48), alone);
  ASSERT_TRUE(compiled.isOk()) << compiled.status().toString();
  auto artifact = artifact::Artifact::deserialize(compiled->output);
  ASSERT_TRUE(artifact.isOk());
  ASSERT_EQ(artifact->inputs.size(), 2u);
  EXPECT_EQ(zyx::toString(artifact->outputs[0].type), "f32[16, 32]");
  alone.onlyKernel = "none";
  EXPECT_THAT(session.compile(product(16, 32, 48), alone).status().message(),
              HasSubstr("no kernel of the program has the key none"));
}

TEST_F(TuningTest, MeasuresInAChildProcessOfTheCompiler) {
  SessionOptions isolated = options(/*tune=*/true);
  isolated.isolation.emplace();
  Session session(std::move(isolated));
  auto executable = session.prepare(product(96, 128, 80), "cpu");
  ASSERT_TRUE(executable.isOk()) << executable.status().toString();
  EXPECT_THAT((*executable)->remarks, HasSubstr("measured on cpu"));
}

namespace {

/// On a card that does what it is told to when somebody waits, and of kernels nothing.
class CudaTuningTest : public TuningTest {
protected:
  void SetUp() override {
    TuningTest::SetUp();
    setenv("ZYX_CUDA_DRIVER", ZYX_FAKE_CUDA, 1);
    setenv("FAKE_CUDA_EXECUTE", "0", 1);
    void *library = dlopen(ZYX_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "zyxFakeCuda"))();
    reinterpret_cast<void (*)()>(dlsym(library, "zyxFakeCudaReset"))();
  }
  void TearDown() override {
    unsetenv("ZYX_CUDA_DRIVER");
    unsetenv("FAKE_CUDA_EXECUTE");
    TuningTest::TearDown();
  }
  FakeCuda *fake = nullptr;
};

} // namespace

TEST_F(CudaTuningTest, MeasuresTilesOfTensorCores) {
  {
    Session session(options(/*tune=*/true));
    auto executable = session.prepare(product(256, 512, 256, DType::BF16), "cuda");
    ASSERT_TRUE(executable.isOk()) << executable.status().toString();
    EXPECT_THAT((*executable)->remarks, AllOf(HasSubstr("measured on cuda: #kernel.schedule<[#kernel.tensor_step<"),
                                              Not(HasSubstr("left out"))));
    // Each choice runs, and is measured behind a gate.
    EXPECT_GE(fake->gates, 8);
    EXPECT_EQ(fake->stuck, 0);
  }
  EXPECT_EQ(fake->allocations, 0);
  EXPECT_EQ(fake->modules, 0);
  // The driver's version is part of what the choice is good for.
  Session same(options(/*tune=*/false));
  EXPECT_THAT((*same.prepare(product(256, 512, 256, DType::BF16), "cuda"))->remarks,
              HasSubstr("measured to be the best"));
  fake->version = 12080;
  Session later(options(/*tune=*/false));
  EXPECT_THAT((*later.prepare(product(256, 512, 256, DType::BF16), "cuda"))->remarks, Not(HasSubstr("measured")));
}

TEST_F(CudaTuningTest, AChoiceThatDoesNotRunIsLeftOut) {
  Session session(options(/*tune=*/true));
  // The second choice's first run.
  fake->failLaunch = 2;
  auto executable = session.prepare(product(256, 512, 256, DType::BF16), "cuda");
  ASSERT_TRUE(executable.isOk()) << executable.status().toString();
  EXPECT_THAT((*executable)->remarks, AllOf(HasSubstr("measured on cuda"), HasSubstr(": left out: ")));
}

TEST_F(CudaTuningTest, ADeviceThatHoldsNoStreamMeasuresNothing) {
  Session session(options(/*tune=*/true));
  fake->hasNoGates = true;
  auto executable = session.prepare(product(256, 512, 256, DType::BF16), "cuda");
  ASSERT_TRUE(executable.isOk()) << executable.status().toString();
  EXPECT_THAT((*executable)->remarks, AllOf(HasSubstr("is not measured: "), Not(HasSubstr("measured on cuda"))));
}

TEST_F(CudaTuningTest, WithoutMemoryNothingIsMeasured) {
  fake->memoryBytes = 1 << 16;
  Session session(options(/*tune=*/true));
  auto compiled = session.compile(product(256, 512, 256, DType::BF16), {.target = "sm_90a"}, *session.device("cuda"));
  ASSERT_TRUE(compiled.isOk()) << compiled.status().toString();
  EXPECT_THAT(compiled->remarks, AllOf(HasSubstr("is not measured: "), Not(HasSubstr("measured to be the best"))));
}
#endif
