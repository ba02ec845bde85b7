//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/DLPack.h"
#include "TestArtifact.h"
#include "TestKernels.h"
#include "zyx/Runtime/Executor.h"

#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <thread>

using namespace zyx;
using namespace zyx::runtime;
using testing::HasSubstr;

// The layout of dlpack.h 1.0, as another library has it.
extern "C" {
struct Element {
  uint8_t code, bits;
  uint16_t lanes;
};
struct Tensor {
  void *data;
  int32_t device, number, ndim;
  Element dtype;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(DLManagedTensorVersioned *);
  uint64_t flags;
  Tensor tensor;
};
struct DLManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *);
};
}

namespace {

/// f32[2, 2] of another library, which counts how often it gets it back.
struct Foreign {
  std::vector<float> values = {9, 1, 2, 3, 4};
  std::vector<int64_t> shape = {2, 2}, strides = {2, 1};
  int deleted = 0;
  DLManagedTensorVersioned tensor = {
      1,        0,
      &deleted, [](DLManagedTensorVersioned *given) { ++*static_cast<int *>(given->context); },
      0,        {values.data(), 1, 0, 2, {2, 32, 1}, shape.data(), strides.data(), 4}};
};

std::shared_ptr<Device> host() { return *createDevice("cpu", {.threads = 1}); }

std::string refusal(const std::function<void(Foreign &)> &change, ErrorCode code) {
  Foreign foreign;
  change(foreign);
  auto device = host();
  const auto result = importDLPack(*device, &foreign.tensor);
  EXPECT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), code);
  // The caller still has it.
  EXPECT_EQ(foreign.deleted, 0);
  return result.status().message();
}

TEST(DLPackTest, SharesMemoryOfAnotherLibrary) {
  Foreign foreign;
  auto device = host();
  auto imported = importDLPack(*device, &foreign.tensor);
  ASSERT_TRUE(imported) << imported.status().toString();
  EXPECT_EQ(imported->type, (TensorType{DType::F32, {2, 2}}));
  EXPECT_FALSE(imported->isReadOnly);
  EXPECT_EQ(imported->buffer->handle(), reinterpret_cast<uint64_t>(foreign.values.data() + 1));
  EXPECT_FALSE(imported->buffer->ownsMemory());

  // Read and written by a program where it lies, which is kept to the end of a submitted run.
  auto executor = Executor::create(device, sampleArtifact(testKernels()));
  ASSERT_TRUE(executor) << executor.status().toString();
  Foreign result;
  auto output = importDLPack(*device, &result.tensor);
  ASSERT_TRUE((*executor)->bindInput(0, std::move(imported->buffer)));
  ASSERT_TRUE((*executor)->bindOutput(0, std::move(output->buffer)));
  auto run = (*executor)->submit();
  ASSERT_TRUE(run && run->wait());
  EXPECT_EQ(foreign.deleted, 0);
  EXPECT_EQ(result.values, (std::vector<float>{9, 13, 25, 37, 49}));
  executor->reset();
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(result.deleted, 1);
}

TEST(DLPackTest, TakesTensorsWithoutStridesDeletersAndVersions) {
  Foreign foreign;
  foreign.tensor.tensor.strides = nullptr;
  foreign.tensor.deleter = nullptr;
  foreign.tensor.flags = 1;
  // Pinned memory is the host's, too.
  foreign.tensor.tensor.device = 3;
  auto imported = importDLPack(*host(), &foreign.tensor);
  ASSERT_TRUE(imported) << imported.status().toString();
  EXPECT_TRUE(imported->isReadOnly);

  int deleted = 0;
  DLManagedTensor old = {foreign.tensor.tensor, &deleted,
                         [](DLManagedTensor *given) { ++*static_cast<int *>(given->context); }};
  {
    auto taken = importDLPack(*host(), &old);
    ASSERT_TRUE(taken) << taken.status().toString();
    std::array<float, 4> values;
    ASSERT_TRUE(taken->buffer->read(std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(values, (std::array<float, 4>{1, 2, 3, 4}));
  }
  EXPECT_EQ(deleted, 1);

  // Extents of 1 have any stride; nothing has any, and no data.
  foreign.shape = {1, 4};
  foreign.strides = {77, 1};
  foreign.tensor.tensor.strides = foreign.strides.data();
  EXPECT_TRUE(importDLPack(*host(), &foreign.tensor));
  foreign.shape = {0, 4};
  foreign.strides = {5, 5};
  foreign.tensor.tensor.data = nullptr;
  foreign.tensor.tensor.byteOffset = 0;
  auto empty = importDLPack(*host(), &foreign.tensor);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->buffer->size(), 0u);
  foreign.tensor.tensor.ndim = 0;
  foreign.tensor.tensor.shape = foreign.tensor.tensor.strides = nullptr;
  foreign.tensor.tensor.data = foreign.values.data();
  auto scalar = importDLPack(*host(), &foreign.tensor);
  ASSERT_TRUE(scalar);
  EXPECT_EQ(scalar->type, (TensorType{DType::F32, {}}));
}

TEST(DLPackTest, RefusesWhatItCannotTake) {
  const auto invalid = ErrorCode::InvalidArgument, unsupported = ErrorCode::Unsupported;
  EXPECT_EQ(refusal([](Foreign &f) { f.tensor.major = 2; }, unsupported),
            "the tensor is of DLPack 2.0; zyx knows version 1");
  EXPECT_EQ(refusal([](Foreign &f) { f.tensor.tensor.dtype = {5, 64, 1}; }, unsupported),
            "zyx has no dtype of DLPack's code 5 with 64 bits and 1 lanes");
  EXPECT_THAT(refusal([](Foreign &f) { f.tensor.tensor.dtype.lanes = 4; }, unsupported), HasSubstr("4 lanes"));
  EXPECT_THAT(refusal(
                  [](Foreign &f) {
                    f.strides = {1, 2};
                    f.tensor.tensor.strides = f.strides.data();
                  },
                  unsupported),
              HasSubstr("the DLPack tensor is not dense and row-major; its owner can copy it to be so"));
  EXPECT_THAT(refusal([](Foreign &f) { f.shape[0] = -1; }, invalid), HasSubstr("the DLPack tensor has the extent -1"));
  EXPECT_THAT(refusal(
                  [](Foreign &f) {
                    f.shape = {INT64_MAX, INT64_MAX};
                    f.tensor.tensor.shape = f.shape.data();
                  },
                  invalid),
              testing::Not(""));
  EXPECT_THAT(refusal([](Foreign &f) { f.tensor.tensor.ndim = -1; }, invalid),
              HasSubstr("the DLPack tensor has rank -1"));
  EXPECT_THAT(refusal([](Foreign &f) { f.tensor.tensor.ndim = 65; }, invalid), HasSubstr("has rank 65"));
  EXPECT_THAT(refusal([](Foreign &f) { f.tensor.tensor.shape = nullptr; }, invalid), HasSubstr("no shape"));
  EXPECT_THAT(refusal([](Foreign &f) { f.tensor.tensor.data = nullptr; }, invalid),
              HasSubstr("the DLPack tensor has no data"));
  EXPECT_EQ(refusal(
                [](Foreign &f) {
                  f.tensor.tensor.device = 2;
                  f.tensor.tensor.number = 1;
                },
                unsupported),
            "the DLPack tensor lies on a device of kind 2 and number 1, and device 'cpu' is kind 1 and number 0");
}

TEST(DLPackTest, GivesEveryDTypeAndTakesItBack) {
  auto device = host();
  for (DType dtype : allDTypes()) {
    const TensorType type{dtype, {2, 3}};
    auto buffer = Buffer::allocate(device->pool(), static_cast<uint64_t>(*byteSize(type)));
    auto given = exportDLPack(device, *buffer, type);
    ASSERT_TRUE(given) << given.status().toString();
    EXPECT_EQ((*given)->tensor.data, reinterpret_cast<void *>((*buffer)->handle()));
    EXPECT_EQ((*given)->tensor.dtype.bits, 8 * byteSize(dtype));
    auto back = importDLPack(*device, *given);
    ASSERT_TRUE(back) << back.status().toString();
    EXPECT_EQ(back->type, type);
  }
}

TEST(DLPackTest, KeepsWhatItGaveOut) {
  auto device = host();
  std::weak_ptr<Device> isAlive = device;
  auto buffer = Buffer::allocate(device->pool(), 24);
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE((*buffer)->write(std::as_bytes(std::span(values))));
  auto old = exportOldDLPack(device, *buffer, {DType::F32, {3, 2}});
  auto given = exportDLPack(device, *buffer, {DType::F32, {3, 2}});
  EXPECT_THAT(exportDLPack(device, *buffer, {DType::F32, {3, 3}}).status().message(),
              HasSubstr("a buffer of 24 bytes is no f32[3, 3]"));
  buffer->reset();
  device.reset();
  ASSERT_TRUE(given && old);
  const Tensor &tensor = (*given)->tensor;
  EXPECT_EQ((*given)->major, 1u);
  EXPECT_EQ((*given)->flags, 0u);
  EXPECT_EQ(tensor.device, 1);
  EXPECT_EQ(tensor.number, 0);
  EXPECT_EQ(tensor.ndim, 2);
  EXPECT_EQ(std::vector<int64_t>(tensor.shape, tensor.shape + 2), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(std::vector<int64_t>(tensor.strides, tensor.strides + 2), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(static_cast<float *>(tensor.data)[5], 6);
  EXPECT_EQ((*old)->tensor.data, tensor.data);
  EXPECT_FALSE(isAlive.expired());
  (*given)->deleter(*given);
  EXPECT_FALSE(isAlive.expired());
  (*old)->deleter(*old);
  EXPECT_TRUE(isAlive.expired());
}

TEST(DLPackTest, WaitsForTheWriterAndFailsWithIt) {
  auto device = host();
  auto buffer = Buffer::allocate(device->pool(), 8);
  const Point write{std::make_shared<Timeline>(), 1};
  (*buffer)->noteWrite(write);
  std::thread writer([&] { ASSERT_TRUE(write.timeline->signal(1)); });
  auto given = exportDLPack(device, *buffer, {DType::I64, {1}});
  writer.join();
  ASSERT_TRUE(given) << given.status().toString();
  (*given)->deleter(*given);
  const Point failed{std::make_shared<Timeline>(), 1};
  failed.timeline->fail(Status::internal("the writer has failed"));
  (*buffer)->noteWrite(failed);
  EXPECT_THAT(exportDLPack(device, *buffer, {DType::I64, {1}}).status().message(), HasSubstr("the writer has failed"));
}

TEST(DLPackTest, RefusesDevicesWithoutAPlace) {
  auto device = *createDummyDevice();
  Foreign foreign;
  EXPECT_THAT(importDLPack(*device, &foreign.tensor).status().message(), HasSubstr("kind 1 and number 0"));
  EXPECT_EQ(device->borrow(64, 16, nullptr).status().message(), "device 'dummy' takes no memory of other libraries");
  EXPECT_EQ(device->nativeStream(), nullptr);
}

} // namespace
