//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "zyx/Runtime/Device.h"

#include <algorithm>
#include <fstream>

using namespace zyx;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using zyx::test::refusal;

namespace {

using ProfileTest = test::DeviceTest;

Tensor matrix(int64_t rows, int64_t columns) {
  return Tensor::from(std::vector<float>(rows * columns, 0.5f), {rows, columns});
}

} // namespace

TEST_P(ProfileTest, CountsEachKernelOfEachRun) {
  const bool isCompiled = std::string_view(GetParam()) != "reference";
  matmul(matrix(4, 4), matrix(4, 4)).realize();
  const Profile profile;
  EXPECT_TRUE(profile.kernels().empty());
  for (int run = 0; run < 3; ++run) {
    const Tensor product = matmul(matrix(32, 64), matrix(64, 16));
    product.realize();
    EXPECT_EQ(product.toVector<float>()[0], 16);
  }
  (matrix(8, 8) + 1).realize();
  const std::vector<KernelTime> kernels = profile.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  const KernelTime &product = kernels[kernels[0].name.starts_with("1:") ? 0 : 1];
  EXPECT_EQ(product.runs, 3u);
  EXPECT_GT(product.nanoseconds, 0u);
  EXPECT_GE(kernels[0].nanoseconds, kernels[1].nanoseconds);
  if (isCompiled) {
    EXPECT_EQ(product.name, "1:main_0");
    EXPECT_THAT(product.place, MatchesRegex("ProfileTest.cpp:[0-9]+"));
    EXPECT_EQ(product.flops, 3 * 2u * 32 * 64 * 16);
    EXPECT_EQ(product.bytes, 3 * 4u * (32 * 64 + 64 * 16 + 32 * 16));
    EXPECT_GT(product.ofPeak, 0);
  } else {
    EXPECT_EQ(product.name, "1:evaluate");
    EXPECT_EQ(product.flops + product.bytes, 0u);
    EXPECT_EQ(product.ofPeak, 0);
  }
}

TEST_P(ProfileTest, PrintsATable) {
  const Profile profile;
  matmul(matrix(32, 64), matrix(64, 16)).realize();
  const std::string table = profile.table();
  EXPECT_THAT(table, AllOf(HasSubstr("kernel"), HasSubstr("runs"), HasSubstr("GFLOP/s"), HasSubstr("of peak")));
  if (std::string_view(GetParam()) == "reference")
    EXPECT_THAT(table, AllOf(HasSubstr("1:evaluate"), HasSubstr("100%"), HasSubstr("-")));
  else
    EXPECT_THAT(table, AllOf(HasSubstr("1:main_0  ProfileTest.cpp:"), HasSubstr("100%"), Not(HasSubstr(" - "))));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
}

TEST_P(ProfileTest, TracesRunsAndTheCompiler) {
  const Profile profile;
  (matrix(7, 9) * 3).realize();
  const std::string trace = profile.trace();
  if (std::string_view(GetParam()) == "reference") {
    EXPECT_THAT(trace, AllOf(HasSubstr("\"device reference\""), HasSubstr("\"1:evaluate\"")));
  } else {
    EXPECT_THAT(trace, AllOf(HasSubstr("\"device cpu\""), HasSubstr("\"1:main_0\""), HasSubstr("\"compiler\""),
                             HasSubstr("\"of\": \"ProfileTest.cpp:")));
  }
  const std::string path = testing::TempDir() + "zyx-profile-" + GetParam() + ".json";
  profile.saveTrace(path);
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), trace);
  EXPECT_THAT(refusal([&] { profile.saveTrace("/nowhere/trace.json"); }),
              AllOf(HasSubstr("ProfileTest.cpp:"), HasSubstr("/nowhere/trace.json")));
}

TEST_P(ProfileTest, LivesInOthersAndEndsInAnyOrder) {
  auto outer = std::make_unique<Profile>();
  (matrix(2, 2) + 1).realize();
  const Profile inner;
  (matrix(2, 2) + 1).realize();
  EXPECT_EQ(outer->kernels()[0].runs, 2u);
  EXPECT_EQ(inner.kernels()[0].runs, 1u);
  outer.reset();
  (matrix(2, 2) + 1).realize();
  EXPECT_EQ(inner.kernels()[0].runs, 2u);
  {
    const ContextScope other{Context{{.device = GetParam()}}};
    (matrix(2, 2) + 1).realize();
  }
  EXPECT_EQ(inner.kernels()[0].runs, 2u);
}

TEST(ProfilePeakTest, EachDeviceHasAPeakOfItsOwn) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  const ContextScope scope{Context{{.device = "reference"}}};
  const Profile profile;
  const Tensor x = matrix(32, 64), y = matrix(64, 16);
  matmul(x.to("cpu"), y.to("cpu")).realize();
  bool isThere = false;
  for (const KernelTime &kernel : profile.kernels())
    if (kernel.device == "cpu" && kernel.flops != 0) {
      isThere = true;
      EXPECT_GT(kernel.ofPeak, 0);
    }
  EXPECT_TRUE(isThere);
}

INSTANTIATE_TEST_SUITE_P(Devices, ProfileTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

//===----------------------------------------------------------------------===//
// ZYX_DEBUG, which a process reads once
//===----------------------------------------------------------------------===//

namespace {

/// What a process with these topics prints while it computes on the cpu.
void expectDebug(const char *topics, const char *pattern) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("ZYX_DEBUG", topics, 1);
        setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
        setenv("ZYX_CACHE_DIR", "off", 1);
        {
          const Context context{{.device = "cpu"}};
          const ContextScope scope{context};
          matmul(matrix(4, 4), matrix(4, 4)).realize();
        }
        std::exit(0);
      },
      testing::ExitedWithCode(0), pattern);
}

} // namespace

TEST(DebugTest, EachNameShowsWhatTensorsDo) {
  expectDebug("graph", "zyx-graph: compile 'main' for cpu: [0-9]+ nodes, 2 inputs, 1 outputs");
  expectDebug("groups", "zyx-fusion: ");
  expectDebug("kernels", "zyx-schedule: main_0");
  expectDebug("code", "zyx-code: ");
  expectDebug("memory", "zyx-memory: ");
  expectDebug("cache", "zyx-cache: miss in memory: ");
  expectDebug("timing", "zyx-timing: compile 'main': .* ms");
}

TEST(DebugTest, TimingIsATableAtTheEnd) {
  expectDebug("timing", "zyx-timing: kernel +place +runs +ms .*\nzyx-timing: 1:main_0 +ProfileTest.cpp:[0-9]+ +1 ");
}
