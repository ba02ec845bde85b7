//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Extents, and products of extents, that 32 bits do not hold.
#include "zyx/Base/TempFolder.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Session/Session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace zyx;
using testing::ElementsAre;

namespace {

/// Pages that exist once they are touched.
class SparseMemory {
public:
  explicit SparseMemory(size_t size) : size(size) {
    address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  SparseMemory(const SparseMemory &) = delete;
  SparseMemory &operator=(const SparseMemory &) = delete;
  ~SparseMemory() {
    if (isThere())
      ::munmap(address, size);
  }
  bool isThere() const { return address != MAP_FAILED; }
  /// Lets all of it but the last `apart` bytes be the same few pages again and again, so that it can be
  /// written to.
  bool repeatPages(size_t apart) {
    constexpr size_t piece = size_t(32) << 20;
    const int file = ::memfd_create("repeated", MFD_CLOEXEC);
    bool done = file >= 0 && ::ftruncate(file, piece) == 0;
    for (size_t at = 0; done && at + piece <= size - apart; at += piece)
      done = ::mmap(as<char>() + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    if (file >= 0)
      ::close(file);
    return done;
  }
  template <typename T> T *as() { return static_cast<T *>(address); }
  std::shared_ptr<runtime::Buffer> buffer() { return runtime::Buffer::borrow(address, size); }

private:
  void *address;
  size_t size;
};

std::unique_ptr<runtime::Executor> makeExecutor(std::string_view text) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  session::Session session;
  const TempFolder folder = *TempFolder::create();
  auto graphs = session.readGraphs(*folder.write("program.mlir", std::as_bytes(std::span(text))));
  EXPECT_TRUE(graphs.isOk()) << graphs.status().toString();
  if (!graphs.isOk())
    return nullptr;
  auto compiled = session.compile((*graphs)[0], {});
  EXPECT_TRUE(compiled.isOk()) << compiled.status().toString();
  if (!compiled.isOk())
    return nullptr;
  auto made =
      runtime::Executor::create(*runtime::createDevice("cpu"), *artifact::Artifact::deserialize(compiled->output));
  EXPECT_TRUE(made.isOk()) << made.status().toString();
  return made.isOk() ? std::move(*made) : nullptr;
}

template <typename T> std::vector<T> read(runtime::Executor &executor, size_t output, size_t count) {
  std::vector<T> values(count);
  Status status = executor.readOutput(output, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(status.isOk()) << status.toString();
  return values;
}

} // namespace

TEST(LargeExtentsTest, ElementsBehindTwoToThe31AreRead) {
  constexpr size_t extent = (size_t(1) << 31) + (1 << 20);
  SparseMemory x(extent * 4);
  if (!x.isThere())
    GTEST_SKIP() << "the process may not map 8 GiB";
  auto executor = makeExecutor(R"(
func.func @main(%x: tensor<2148532224xf32>, %i: tensor<3xi64>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %end = graph.pad %x, %zero low = [-2148532220] high = [0] interior = [0] : tensor<2148532224xf32> -> tensor<4xf32>
  %f = graph.flip %x dims = [0] : tensor<2148532224xf32>
  %begin = graph.pad %f, %zero low = [0] high = [-2148532220] interior = [0] : tensor<2148532224xf32> -> tensor<4xf32>
  %w = graph.window %x dims = [0] size = [1] stride = [1073741824] dilation = [1] : tensor<2148532224xf32> -> tensor<3x1xf32>
  %far = graph.reshape %w : tensor<3x1xf32> -> tensor<3xf32>
  %g = graph.gather %x[%i] dim = 0 : (tensor<2148532224xf32>, tensor<3xi64>) -> tensor<3xf32>
  %r = graph.reshape %x : tensor<2148532224xf32> -> tensor<2x1074266112xf32>
  %t = graph.permute %r order = [1, 0] : tensor<2x1074266112xf32> -> tensor<1074266112x2xf32>
  %c = graph.pad %t, %zero low = [-1074266111, 0] high = [0, 0] interior = [0, 0] : tensor<1074266112x2xf32> -> tensor<1x2xf32>
  %column = graph.reshape %c : tensor<1x2xf32> -> tensor<2xf32>
  return %end, %begin, %far, %g, %column : tensor<4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>
}
)");
  ASSERT_TRUE(executor);
  float *elements = x.as<float>();
  for (size_t i = 0; i < 4; ++i)
    elements[extent - 4 + i] = static_cast<float>(i + 1);
  elements[size_t(1) << 30] = 30;
  elements[size_t(1) << 31] = 31;
  elements[extent / 2 - 1] = 5;
  const int64_t indices[] = {int64_t(1) << 31, static_cast<int64_t>(extent) - 1, -1};
  ASSERT_TRUE(executor->bindInput(0, x.buffer()).isOk());
  ASSERT_TRUE(executor->setInput(1, std::as_bytes(std::span(indices))).isOk());
  const Status status = executor->run();
  ASSERT_TRUE(status.isOk()) << status.toString();
  EXPECT_THAT(read<float>(*executor, 0, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read<float>(*executor, 1, 4), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(read<float>(*executor, 2, 3), ElementsAre(0, 30, 31));
  EXPECT_THAT(read<float>(*executor, 3, 3), ElementsAre(31, 4, 0));
  EXPECT_THAT(read<float>(*executor, 4, 2), ElementsAre(5, 4));
}

TEST(LargeExtentsTest, ElementsBehindTwoToThe31AreWritten) {
  constexpr size_t extent = (size_t(1) << 31) + 4096;
  SparseMemory x(extent), y(extent);
  if (!x.isThere() || !y.isThere() || !y.repeatPages(size_t(32) << 20))
    GTEST_SKIP() << "the process may not map 4 GiB";
  auto executor = makeExecutor(R"(
func.func @main(%x: tensor<2147487744xui8>, %z: tensor<1xui8>) -> tensor<2147487744xui8> {
  %e = graph.expand %z : tensor<1xui8> -> tensor<2147487744xui8>
  %y = graph.binary xor %x, %e : tensor<2147487744xui8>
  return %y : tensor<2147487744xui8>
}
)");
  ASSERT_TRUE(executor);
  auto *elements = x.as<uint8_t>();
  elements[(size_t(1) << 31) - 1] = 2;
  elements[size_t(1) << 31] = 3;
  elements[extent - 1] = 4;
  const std::byte mask[] = {std::byte(0x10)};
  ASSERT_TRUE(executor->bindInput(0, x.buffer()).isOk());
  ASSERT_TRUE(executor->setInput(1, mask).isOk());
  ASSERT_TRUE(executor->bindOutput(0, y.buffer()).isOk());
  const Status status = executor->run();
  ASSERT_TRUE(status.isOk()) << status.toString();
  const auto *results = y.as<uint8_t>();
  EXPECT_EQ(results[(size_t(1) << 31) - 2], 0x10);
  EXPECT_EQ(results[(size_t(1) << 31) - 1], 0x12);
  EXPECT_EQ(results[size_t(1) << 31], 0x13);
  EXPECT_EQ(results[extent - 2], 0x10);
  EXPECT_EQ(results[extent - 1], 0x14);
}

TEST(LargeExtentsTest, LoopsCountBeyond32Bits) {
  auto executor = makeExecutor(R"(
func.func @main(%x: tensor<1x1xi64>) -> (tensor<i64>, tensor<i64>) {
  %i = graph.iota dim = 0 : tensor<2148532224xi64>
  %last = graph.reduce max %i dims = [0] : tensor<2148532224xi64> -> tensor<i64>
  %e = graph.expand %x : tensor<1x1xi64> -> tensor<65537x65537xi64>
  %sum = graph.reduce add %e dims = [0, 1] : tensor<65537x65537xi64> -> tensor<i64>
  return %last, %sum : tensor<i64>, tensor<i64>
}
)");
  ASSERT_TRUE(executor);
  const int64_t x[] = {3};
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  const Status status = executor->run();
  ASSERT_TRUE(status.isOk()) << status.toString();
  EXPECT_THAT(read<int64_t>(*executor, 0, 1), ElementsAre(2148532223));
  EXPECT_THAT(read<int64_t>(*executor, 1, 1), ElementsAre(int64_t(3) * 65537 * 65537));
}
