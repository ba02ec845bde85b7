//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Tensors on several devices of one context.
//===----------------------------------------------------------------------===//
#include "../../fake-cuda/FakeCuda.h"
#include "TensorFixture.h"

#include "zyx/Runtime/Device.h"
#include "zyx/Tensor/DeviceView.h"
#include "zyx/Tensor/HostView.h"
#include "zyx/Tensor/Profile.h"

#include <cstring>
#include <dlfcn.h>
#include <numeric>
#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// The first device is the default, to the second one values move and come back.
using Pair = std::pair<const char *, const char *>;
class DevicesTest : public testing::TestWithParam<Pair> {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
  const std::string here = GetParam().first, there = GetParam().second;
  Context context{{.device = here}};
  ContextScope scope{context};
};

} // namespace

TEST_P(DevicesTest, ValuesMoveAndComeBack) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f});
  EXPECT_EQ(x.device(), here);
  const Tensor moved = (x + 1).to(there), twice = moved * 2;
  EXPECT_EQ(moved.device(), there);
  EXPECT_EQ(twice.device(), there);
  EXPECT_EQ(context.counters().runs, 0u);
  const Tensor back = twice.to(here) * x;
  EXPECT_EQ(back.device(), here);
  EXPECT_THAT(floats(back), ElementsAre(4, 12, 24));
  EXPECT_EQ(context.counters().runs, 3u);
  // What has arrived stays while someone has it.
  EXPECT_TRUE(moved.isRealized());
  EXPECT_THAT(floats(moved), ElementsAre(2, 3, 4));
  EXPECT_EQ(context.counters().runs, 3u);
  EXPECT_THAT(floats(twice), ElementsAre(4, 6, 8));
  EXPECT_EQ(x.to(here).device(), here);
  EXPECT_THAT(floats(x.to(there)), ElementsAre(1, 2, 3));
}

TEST_P(DevicesTest, OperandsOnTwoDevicesAreRefused) {
  const Tensor x = Tensor::ones({2, 3}).detach(), y = Tensor::ones({3}).detach().to(there);
  const std::string places =
      "operands lie on two devices: f32[2, 3] on '" + here + "' and f32[3] on '" + there + "'; to() moves one of them";
  EXPECT_THAT(refusal([&] { x + y; }), HasSubstr("add: " + places));
  EXPECT_THAT(refusal([&] { matmul(x, y); }), HasSubstr("matmul: " + places));
  EXPECT_THAT(refusal([&] {
                const std::vector parts = {x, y.expand({2, 3})};
                concat(parts);
              }),
              HasSubstr("concat: operands lie on two devices: f32[2, 3] on '" + here + "' and f32[2, 3] on '" + there));
  EXPECT_THAT(refusal([&] { gradient(x * 2, std::vector{x}, y.expand({2, 3})); }),
              HasSubstr("gradient: operands lie on two devices"));
  EXPECT_THAT(refusal([&] { x.to("abacus"); }), HasSubstr("abacus"));
  EXPECT_THAT(refusal([&] { Tensor().to(there); }), HasSubstr("to: there is no tensor in this place"));
  EXPECT_THAT(floats((x.to(there) + y).sum({0})), ElementsAre(4, 4, 4));
}

TEST_P(DevicesTest, OperandsAreMovedWhereThatIsAskedFor) {
  ContextScope moves(Context({.device = here, .implicitCopies = true}));
  const Tensor x = Tensor::from({1.f, 2.f}), y = Tensor::from({3.f, 4.f}).to(there);
  EXPECT_EQ((x * y).device(), here);
  EXPECT_EQ((y * x).device(), there);
  EXPECT_THAT(floats(x * y + y), ElementsAre(6, 12));
  EXPECT_THAT(floats(matmul(y, x)), ElementsAre(11));
}

TEST_P(DevicesTest, ConstantsAreWhereTheyAreNeeded) {
  const Tensor ones = Tensor::ones({2}), x = Tensor::from({1.f, 2.f}).to(there);
  EXPECT_EQ(ones.device(), here);
  EXPECT_EQ((ones + x).device(), there);
  EXPECT_THAT(floats(ones + 1), ElementsAre(2, 2));
  ones.realize();
  // The same constants elsewhere: a value that is here does not bind what others make of it.
  EXPECT_THAT(floats(Tensor::ones({2}) + x), ElementsAre(2, 3));
  EXPECT_THAT(floats(Tensor::ones({2}).to(there) + x), ElementsAre(2, 3));
  const Context context = Context::current();
  EXPECT_EQ(context.device(), here);
  const DeviceScope scope(there);
  EXPECT_EQ(context.device(), there);
  EXPECT_EQ(Tensor::zeros({2}).device(), there);
  const Tensor made = Tensor::from({5.f, 6.f});
  EXPECT_EQ(made.device(), there);
  EXPECT_THAT(floats(made + x), ElementsAre(6, 8));
  {
    const DeviceScope inner(here);
    EXPECT_EQ(Tensor::from({5.f}).device(), here);
    EXPECT_EQ((Tensor::zeros({3}) + 2).realize().device(), here);
  }
  EXPECT_EQ(Tensor::zeros({3}).detach().device(), there);
  EXPECT_THAT(refusal([] { DeviceScope("abacus"); }), HasSubstr("abacus"));
  // Scopes of coroutines end in any order, and in any thread.
  auto first = std::make_unique<DeviceScope>(here), second = std::make_unique<DeviceScope>(there);
  first.reset();
  EXPECT_EQ(Tensor::zeros({2}).device(), there);
  first = std::make_unique<DeviceScope>(here);
  std::thread([&] {
    EXPECT_FALSE(first->isOfThisThread());
    first.reset();
    first = std::make_unique<DeviceScope>(here);
  }).join();
  EXPECT_FALSE(first->isOfThisThread());
  EXPECT_TRUE(second->isOfThisThread());
  EXPECT_EQ(Tensor::zeros({2}).device(), there);
  first.reset();
}

TEST_P(DevicesTest, GradientsGoBackTheSameWay) {
  const Tensor x = Tensor::from({1.f, 2.f}), w = Tensor::from({3.f, 4.f}).to(there).detach();
  const Tensor y = ((x * x).to(there) * w).sum();
  const std::vector<Tensor> g = gradient(y, std::vector{x, w});
  EXPECT_EQ(g[0].device(), here);
  EXPECT_EQ(g[1].device(), there);
  realize(std::vector{y, g[0], g[1]});
  EXPECT_THAT(floats(g[0]), ElementsAre(6, 16));
  EXPECT_THAT(floats(g[1]), ElementsAre(1, 4));
  // A value that arrived does not end gradients.
  EXPECT_THAT(floats(gradient((x.to(there) * w).sum(), std::vector{x})[0]), ElementsAre(3, 4));
}

TEST_P(DevicesTest, CapturedFunctionsMoveValues) {
  const Tensor w = Tensor::from({10.f, 20.f}).to(there).realize();
  const Jit step([&](std::span<const Tensor> x) {
    const Tensor product = (x[0] * 2).to(there) * w;
    return std::vector{product, product.to(here) + x[0], x[0]};
  });
  for (float first : {1.f, 5.f}) {
    const std::vector<Tensor> results = step({Tensor::from({first, 1.f})});
    EXPECT_EQ(results[0].device(), there);
    EXPECT_EQ(results[1].device(), here);
    EXPECT_THAT(floats(results[0]), ElementsAre(20 * first, 40));
    EXPECT_THAT(floats(results[1]), ElementsAre(21 * first, 41));
    EXPECT_THAT(floats(results[2]), ElementsAre(first, 1));
  }
  EXPECT_EQ(step.numCaptures(), 1u);
  // Arguments that lie elsewhere are another program.
  EXPECT_THAT(refusal([&] { step({Tensor::from({1.f, 1.f}).to(there)}); }),
              HasSubstr("add: operands lie on two devices"));
  EXPECT_EQ(step.numCaptures(), 1u);
}

TEST_P(DevicesTest, MemoryIsThatOfTheDevice) {
  ContextScope limited(Context({.device = here, .memoryLimits = {{there, 1000}}}));
  const Tensor x = Tensor::from(std::vector<float>(500, 1), {500});
  EXPECT_THAT(refusal([&] { x.to(there).realize(); }), HasSubstr("1000 bytes"));
  EXPECT_EQ(x.slice({{0, 10}}).to(there).sum().item<float>(), 10);
}

TEST(OwnDeviceTest, DevicesOfTheProgram) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  const std::shared_ptr<runtime::Device> own = *runtime::createDevice("cpu", {.threads = 1});
  const Context context({.device = "cpu:1", .devices = {{"cpu:1", own}}});
  ContextScope scope(context);
  const uint64_t before = own->pool()->usage().inUse;
  const Tensor x = Tensor::from({1.f, 2.f});
  EXPECT_EQ(own->pool()->usage().inUse, before + 8);
  EXPECT_EQ(x.device(), "cpu:1");
  EXPECT_THAT(floats((x + 1).to("cpu") * 2), ElementsAre(4, 6));
}

/// Values on two cards of a driver that computes nothing: they move.
class CardsTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("ZYX_CUDA_DRIVER", ZYX_FAKE_CUDA, 1);
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
    void *library = dlopen(ZYX_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    reinterpret_cast<void (*)()>(dlsym(library, "zyxFakeCudaReset"))();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "zyxFakeCuda"))();
    fake->devices = 2;
  }
  void TearDown() override { unsetenv("ZYX_CUDA_DRIVER"); }

  FakeCuda *fake = nullptr;
};

TEST_F(CardsTest, ValuesMoveWithoutTheHost) {
  ContextScope scope(Context({.device = "cuda"}));
  const Tensor x = Tensor::from({1.f, 2.f, 3.f});
  const uint64_t before = fake->hostBytes;
  const Tensor moved = x.to("cuda:1").realize();
  Context::current().sync();
  EXPECT_EQ(fake->peerCopies, 1);
  EXPECT_EQ(fake->hostBytes, before);
  EXPECT_EQ(moved.device(), "cuda:1");
  EXPECT_THAT(floats(moved), ElementsAre(1, 2, 3));
  EXPECT_THAT(floats(moved.detach().to("cuda")), ElementsAre(1, 2, 3));
  EXPECT_EQ(fake->peerCopies, 2);
}

TEST_F(CardsTest, ADeviceHasOneName) {
  ContextScope scope(Context({.device = "cuda:0", .memoryLimits = {{"cuda:0", 5000}}}));
  const Tensor x = Tensor::from({1.f, 2.f, 3.f});
  EXPECT_EQ(x.device(), "cuda");
  EXPECT_EQ(x.to("cuda:0").device(), "cuda");
  EXPECT_EQ((x.to("cuda") + x.to("cuda:0")).device(), "cuda");
  EXPECT_EQ(x.to("cpu:0").device(), "cpu");
  EXPECT_THAT(refusal([&] { Tensor::from(std::vector<float>(2000, 1), {2000}); }), HasSubstr("5000 bytes"));
  EXPECT_THAT(refusal([&] { x.to("gpu"); }), HasSubstr("no device is called 'gpu'; there are cuda (Fake card, "));
}

TEST_F(CardsTest, CodeForACardOfTheProgramIsThatOfTheCard) {
  setenv("ZYX_PTXAS", "", 1);
  setenv("ZYX_CACHE_DIR", "off", 1);
  const std::shared_ptr<runtime::Device> own = *runtime::createDevice("cuda:1");
  for (const char *name : {"cuda", "cuda:0", "cuda:1"}) {
    std::memset(fake->lastTarget, 0, sizeof(fake->lastTarget));
    ContextScope scope(Context({.device = name, .devices = {{name, own}}}));
    (Tensor::from({1.f, 2.f}) + 1).realize();
    Context::current().sync();
    EXPECT_STREQ(fake->lastTarget, "sm_90a") << name;
  }
  unsetenv("ZYX_PTXAS");
  unsetenv("ZYX_CACHE_DIR");
}

// Numbers of the host, such as learning rates: kernels that the fake card executes read what the host had when the step
// began, and nothing is allocated, uploaded or changed for a new one.
TEST_F(CardsTest, NumbersOfTheHostGoAlongWithSteps) {
  setenv("ZYX_PTXAS", "", 1);
  setenv("ZYX_CACHE_DIR", "off", 1);
  // So many bytes of the smallest type are more than go along.
  constexpr int64_t extent = 9;
  const std::vector<DType> dtypes = runtime::allDTypes();
  std::vector<size_t> donated(dtypes.size());
  std::iota(donated.begin(), donated.end(), size_t(0));
  {
    ContextScope scope(Context({.device = "cuda"}));
    // The numbers of the last steps, the latest first; those that are given up lie in the place of the next.
    const Jit step(
        [&](std::span<const Tensor> x) {
          std::vector<Tensor> next;
          for (size_t i = 0; i < dtypes.size(); ++i)
            next.push_back(concat({x[dtypes.size() + i].reshape({1}), x[i].slice({{0, extent - 1}})}));
          return next;
        },
        {.donated = donated});
    const auto fill = [](DType dtype, int64_t count, int seed) {
      std::vector<std::byte> bytes(static_cast<size_t>(count * byteSize(dtype)));
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(dtype == DType::Bool ? seed % 3 == 0 : (seed + 3) * (7 * i + 5) & 0x3f);
      return bytes;
    };
    std::vector<Tensor> values;
    std::vector<std::vector<std::byte>> expected;
    for (DType dtype : dtypes) {
      expected.push_back(fill(dtype, extent, 0));
      values.push_back(Tensor::fromBytes({dtype, {extent}}, expected.back()));
    }
    constexpr int steps = 9, warm = 3;
    for (int i = 0; i < steps; ++i) {
      if (i == warm)
        fake->fills = fake->uploads = fake->allocated = fake->graphLaunches = fake->graphUpdates = 0;
      std::vector<Tensor> arguments = std::move(values);
      for (size_t k = 0; k < dtypes.size(); ++k) {
        const std::vector<std::byte> number = fill(dtypes[k], 1, i);
        expected[k].insert(expected[k].begin(), number.begin(), number.end());
        expected[k].resize(expected[k].size() - number.size());
        arguments.push_back(Tensor::fromBytes({dtypes[k], {}}, number));
      }
      values = step(arguments);
    }
    for (size_t k = 0; k < dtypes.size(); ++k)
      EXPECT_EQ(values[k].bytes(), expected[k]) << toString(dtypes[k]);
    EXPECT_EQ(fake->graphLaunches, steps - warm);
    EXPECT_EQ(fake->graphUpdates, 0);
    EXPECT_EQ(fake->uploads, 0);
    EXPECT_EQ(fake->allocated, 0);
    EXPECT_GT(fake->fills, 0);
    EXPECT_EQ(step.numCaptures(), 1u);
    // They are values as others are, on this card and elsewhere.
    const Tensor number = Tensor::from(std::vector<float>{2.5f}, {});
    EXPECT_EQ(number.device(), "cuda");
    EXPECT_EQ(number.item<float>(), 2.5f);
    EXPECT_EQ((number.to("cpu") * 2).item<float>(), 5);
    EXPECT_EQ((number.to("cuda:1") * 4).item<float>(), 10);
    EXPECT_EQ(hostView(number).bytes.size(), 4u);
    // What is given up and lies with the host is nobody's memory.
    const Jit twice([](std::span<const Tensor> x) { return std::vector{x[0] * 2}; }, {.donated = {0}});
    EXPECT_EQ(twice({Tensor::from(std::vector<float>{3}, {})})[0].item<float>(), 6);
    EXPECT_EQ(Context::current().counters().notTaken, 1u);
    EXPECT_EQ(Context::current().counters().taken, steps * dtypes.size());
  }
  unsetenv("ZYX_PTXAS");
  unsetenv("ZYX_CACHE_DIR");
}

TEST_F(CardsTest, OtherLibrariesSeeMemoryOfACard) {
  setenv("ZYX_PTXAS", "", 1);
  setenv("ZYX_CACHE_DIR", "off", 1);
  {
    ContextScope scope(Context({.device = "cuda:1"}));
    const Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f});
    EXPECT_EQ(dlpackPlaceOf(x * 2).kind, runtime::DLPackPlace::cuda);
    EXPECT_EQ(dlpackPlaceOf(x * 2).number, 1);
    const Tensor y = x * 2;
    std::optional<DeviceView> view = deviceView(y);
    EXPECT_EQ(view->device->name(), "cuda:1");
    std::vector<float> seen(4);
    ASSERT_TRUE(view->buffer->read(std::as_writable_bytes(std::span(seen))).isOk());
    EXPECT_THAT(seen, ElementsAre(2, 4, 6, 8));

    // The memory is given to no result while somebody sees it.
    const Jit twice([](std::span<const Tensor> x) { return std::vector{x[0] * 2}; }, {.donated = {0}});
    const uint64_t taken = Context::current().counters().taken;
    const Tensor z = twice({y})[0];
    EXPECT_THAT(floats(z), ElementsAre(4, 8, 12, 16));
    EXPECT_EQ(Context::current().counters().taken, taken);
    ASSERT_TRUE(view->buffer->read(std::as_writable_bytes(std::span(seen))).isOk());
    EXPECT_THAT(seen, ElementsAre(2, 4, 6, 8));

    // The same for a stream of the host program, CUDA's legacy default stream.
    void *const theirs = reinterpret_cast<void *>(1);
    {
      const Tensor w = x * 5;
      const DeviceView behind = deviceViewOn(w, theirs);
      EXPECT_EQ(behind.buffer->handle(), deviceView(w).buffer->handle());
      const uint64_t before = Context::current().counters().taken;
      EXPECT_THAT(floats(twice({w})[0]), ElementsAre(10, 20, 30, 40));
      EXPECT_EQ(Context::current().counters().taken, before);
      ASSERT_TRUE(behind.buffer->read(std::as_writable_bytes(std::span(seen))).isOk());
      EXPECT_THAT(seen, ElementsAre(5, 10, 15, 20));
    }

    // And back: over the same memory, which its owner keeps.
    void *stream = nullptr;
    EXPECT_EQ(currentDLPackPlace(stream).number, 1);
    EXPECT_EQ(stream, view->device->nativeStream());
    const std::weak_ptr<const void> owner = view->owner;
    const uint64_t address = view->buffer->handle(), before = fake->hostBytes;
    std::optional<Tensor> borrowed = fromDeviceMemory({DType::F32, {2, 2}}, address, view->owner);
    EXPECT_EQ(borrowed->device(), "cuda:1");
    EXPECT_EQ(fake->hostBytes, before);
    view.reset();
    EXPECT_EQ(deviceView(*borrowed).buffer->handle(), address);
    EXPECT_THAT(floats(*borrowed + 1), ElementsAre(3, 5, 7, 9));
    // Elements that the card cannot read in vectors are copied.
    EXPECT_NE(deviceView(fromDeviceMemory({DType::F32, {3}}, address + 4, owner.lock())).buffer->handle(), address + 4);
    EXPECT_THAT(floats(fromDeviceMemory({DType::F32, {3}}, address + 4, owner.lock()) + 1), ElementsAre(5, 7, 9));
    borrowed.reset();
    Context::current().sync();

    // A few bytes that lie with the host come to the card.
    const Tensor number = Tensor::from(std::vector<float>{2.5f}, {});
    const DeviceView small = deviceView(number);
    EXPECT_FALSE(small.buffer->isOnHost());
    float value = 0;
    ASSERT_TRUE(small.buffer->read(std::as_writable_bytes(std::span(&value, 1))).isOk());
    EXPECT_EQ(value, 2.5f);
  }
  {
    ContextScope scope(Context({.device = "reference"}));
    EXPECT_THAT(refusal([] { (void)deviceView(Tensor::from({1.f})); }),
                HasSubstr("the tensor lies on no device, so that there is no memory of one to see"));
    EXPECT_THAT(refusal([] { (void)deviceViewOn(Tensor::from({1.f}), nullptr); }),
                HasSubstr("the tensor lies on no device"));
    EXPECT_THAT(refusal([] { fromDeviceMemory({DType::F32, {1}}, 64, nullptr); }),
                HasSubstr("has no memory of its own"));
    EXPECT_EQ(dlpackPlaceOf(Tensor::from({1.f})).kind, runtime::DLPackPlace::host);
  }
  unsetenv("ZYX_PTXAS");
  unsetenv("ZYX_CACHE_DIR");
}

TEST_F(CardsTest, ACardIsNotComparedWithThePeakOfTheHost) {
  ContextScope scope(Context({.device = "cpu"}));
  const Tensor x = Tensor::from(std::vector<float>(1000, 1), {1000});
  const Profile profile;
  (x.to("cuda") * 3).realize();
  (x * 3).realize();
  Context::current().sync();
  bool hasCard = false, hasHost = false;
  for (const KernelTime &kernel : profile.kernels()) {
    hasCard |= kernel.device == "cuda";
    hasHost |= kernel.device == "cpu";
    if (kernel.device == "cuda")
      EXPECT_EQ(kernel.ofPeak, 0) << kernel.name;
    else if (kernel.flops != 0)
      EXPECT_GT(kernel.ofPeak, 0) << kernel.name;
  }
  EXPECT_TRUE(hasCard);
  EXPECT_TRUE(hasHost);
}

TEST_F(CardsTest, AMoveThatFailsIsToldOnceAndDoneAgain) {
  ContextScope scope(Context({.device = "cuda"}));
  const Tensor x = Tensor::from({1.f, 2.f, 3.f}), moved = x.to("cuda:1");
  fake->failPeerCopy = 1;
  EXPECT_THAT(refusal([&] { moved.bytes(); }), HasSubstr("cannot copy from device 'cuda' to device 'cuda:1'"));
  EXPECT_FALSE(moved.isRealized());
  EXPECT_THAT(floats(moved), ElementsAre(1, 2, 3));
  // Of one that fails before anybody looks, or behind that.
  const Tensor other = moved.detach().to("cuda");
  fake->failPeerCopy = 1;
  EXPECT_THAT(refusal([&] { other.detach().bytes(); }), HasSubstr("cannot copy from device 'cuda:1' to device 'cuda'"));
  refusal([&] { other.bytes(); });
  EXPECT_THAT(floats(other), ElementsAre(1, 2, 3));
  EXPECT_THAT(floats(x), ElementsAre(1, 2, 3));
}

TEST_F(CardsTest, ValuesOfACardThatIsLeftSurviveTheOther) {
  ContextScope scope(Context({.device = "cuda"}));
  const Tensor x = Tensor::from({1.f, 2.f, 3.f}), there = x.to("cuda:1").detach(), moved = there.to("cuda");
  moved.realize();
  Context::current().sync();
  fake->loseAtWork = 1;
  EXPECT_THAT(refusal([&] { x.bytes(); }), HasSubstr("device 'cuda' is lost"));
  EXPECT_THAT(floats(there), ElementsAre(1, 2, 3));
  EXPECT_THAT(refusal([&] { x.to("cuda:1").bytes(); }), HasSubstr("device 'cuda' is lost"));
  EXPECT_THAT(floats(there), ElementsAre(1, 2, 3));
}

TEST_F(CardsTest, WhatTheDriverDoesNotLaunchTakesNothing) {
  fake->devices = 1;
  ContextScope scope(Context({.device = "cuda"}));
  fake->hasNoGraphs = true;
  // Two launches: what waits for a sort does not share its launch.
  const Jit step([](std::span<const Tensor> a) { return std::vector{a[0] * 2, a[1].sort().cumsum(0)}; },
                 {.donated = {0}});
  const Tensor x = Tensor::from({1.f, 2.f, 3.f}), y = Tensor::from({3.f, 4.f, 5.f, 6.f});
  // The first command, then a later one.
  fake->failLaunch = 1;
  EXPECT_THAT(refusal([&] { step({x, y}); }), HasSubstr("launch kernel"));
  EXPECT_THAT(floats(x), ElementsAre(1, 2, 3));
  fake->failLaunch = 2;
  EXPECT_THAT(refusal([&] { step({x, y}); }), HasSubstr("launch kernel"));
  EXPECT_FALSE(x.isRealized());
  EXPECT_THAT(refusal([&] { x.bytes(); }), HasSubstr(", which failed"));
}

TEST_F(CardsTest, WithoutMemoryNothingIsTaken) {
  fake->devices = 1;
  ContextScope scope(Context({.device = "cuda"}));
  const Jit step([](std::span<const Tensor> a) { return std::vector{a[0] * 2, (a[0] + a[1].sum()).cast(DType::F64)}; },
                 {.donated = {0}});
  const Tensor y = Tensor::from({3.f, 4.f, 5.f});
  Tensor x = Tensor::from({1.f, 2.f, 3.f});
  step({x, y})[1].bytes();
  x = Tensor::from({1.f, 2.f, 3.f});
  fake->room = fake->allocations;
  int refused = 0;
  for (; refused < 100; ++refused) {
    if (refusal([&] { step({x, y}); }).empty())
      break;
    EXPECT_THAT(floats(x), ElementsAre(1, 2, 3)) << refused;
    ++fake->room;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 100);
  EXPECT_FALSE(x.isRealized());
}

INSTANTIATE_TEST_SUITE_P(Devices, DevicesTest,
                         testing::Values(Pair("cpu", "reference"), Pair("reference", "cpu"), Pair("cpu", "c")),
                         [](const auto &info) { return std::string(info.param.first) + "_" + info.param.second; });
