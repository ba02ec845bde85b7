//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Tensors of a card that go to another library and back. The other library is another device of zyx's on the same card.
//===----------------------------------------------------------------------===//
#include "CudaTest.h"
#include "zyx/Runtime/DLPack.h"

using namespace zyx;
using namespace zyx::runtime;
using test::bytes;
using test::count;

namespace {

class CudaDLPackTest : public test::CudaTest {
protected:
  const TensorType type{DType::I32, {count}};

  /// A tensor of another library on a card, with the numbers of input().
  DLManagedTensorVersioned *foreign(const std::string &card) {
    auto device = createDevice(card);
    EXPECT_TRUE(device) << device.status().toString();
    auto buffer = Buffer::allocate((*device)->pool(), bytes);
    EXPECT_TRUE(buffer) << buffer.status().toString();
    const std::vector<int32_t> x = input();
    EXPECT_TRUE((*buffer)->write(std::as_bytes(std::span(x))));
    auto tensor = exportDLPack(*device, *buffer, type);
    EXPECT_TRUE(tensor) << tensor.status().toString();
    return *tensor;
  }
};

TEST_F(CudaDLPackTest, RunsOnMemoryOfAnotherLibrary) {
  {
    auto device = createDevice("cuda");
    ASSERT_TRUE(device) << device.status().toString();
    EXPECT_EQ((*device)->dlpackPlace().kind, DLPackPlace::cuda);
    EXPECT_NE((*device)->nativeStream(), nullptr);
    auto executor = Executor::create(*device, test::sampleForCuda());
    ASSERT_TRUE(executor) << executor.status().toString();
    const uint64_t inUse = (*device)->pool()->usage().inUse;
    auto x = importDLPack(**device, foreign("cuda")), y = importDLPack(**device, foreign("cuda"));
    ASSERT_TRUE(x) << x.status().toString();
    ASSERT_TRUE(y) << y.status().toString();
    EXPECT_EQ(x->type, type);
    EXPECT_FALSE(x->buffer->ownsMemory());
    // It is no memory of this device's budget, and nothing is copied.
    EXPECT_EQ((*device)->pool()->usage().inUse, inUse);
    const uint64_t moved = fake->hostBytes;
    ASSERT_TRUE((*executor)->bindInput(0, x->buffer));
    ASSERT_TRUE((*executor)->bindOutput(0, y->buffer));
    EXPECT_EQ(fake->hostBytes, moved);
    auto run = (*executor)->submit();
    ASSERT_TRUE(run) << run.status().toString();
    x = Status::internal("let go");
    ASSERT_TRUE(run->wait()) << run->wait().toString();
    EXPECT_TRUE(check(**executor).isOk());
    // Copied like memory of its own, too.
    std::vector<int32_t> values(count), all = input();
    ASSERT_TRUE(y->buffer->read(std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(values[5], all[5] + 2);
    ASSERT_TRUE(y->buffer->write(std::as_bytes(std::span(all))));
    auto own = Buffer::allocate((*device)->pool(), bytes);
    ASSERT_TRUE(own && (*own)->copyFrom(*y->buffer));
    ASSERT_TRUE((*own)->read(std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(values, all);
    // Twice in the same memory, and in that of its own.
    auto tensor = exportDLPack(*device, *own, type), again = exportDLPack(*device, *own, type);
    auto one = importDLPack(**device, *tensor), two = importDLPack(**device, *again);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->buffer->handle(), two->buffer->handle());
    one = Status::internal("let go");
    ASSERT_TRUE(two->buffer->read(std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(values, all);
  }
  expectNothingLeft();
}

TEST_F(CudaDLPackTest, RefusesMemoryOfAnotherPlace) {
  fake->devices = 2;
  {
    auto first = createDevice("cuda"), second = createDevice("cuda:1"), host = createDevice("cpu", {.threads = 1});
    ASSERT_TRUE(first && second && host);
    DLManagedTensorVersioned *tensor = foreign("cuda:1");
    EXPECT_EQ(importDLPack(**first, tensor).status().message(),
              "the DLPack tensor lies on a device of kind 2 and number 1, and device 'cuda' is kind 2 and number 0");
    EXPECT_EQ(importDLPack(**host, tensor).status().message(),
              "the DLPack tensor lies on a device of kind 2 and number 1, and device 'cpu' is kind 1 and number 0");
    // What was refused is still the caller's.
    EXPECT_TRUE(importDLPack(**second, tensor));
    EXPECT_EQ((*host)->pool()->addForeign({64, 16}).message(), "this memory is its pool's alone");
  }
  expectNothingLeft();
}

} // namespace
