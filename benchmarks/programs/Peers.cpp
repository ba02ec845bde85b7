//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Checks and measures two cards of NVIDIA's of one machine:
//   zyx-bench-peers [--lose]
// Copies 1 GiB from one to the other and looks at what came; computes with values on both, and compares with the
// processors; has values go to and fro. With --lose it makes a kernel of the first card fail in the end, while the
// second one waits for it: both have to say so, and values of the host survive; whether the second card does is the
// driver's choice. Exits with 1 where something is wrong.
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Executor.h"
#include "zyx/zyx.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

using namespace zyx;

namespace {

using Clock = std::chrono::steady_clock;

void expect(bool isTrue, const std::string &what) {
  if (!isTrue)
    throw std::runtime_error(what);
}
void expectOk(const Status &status) { expect(status.isOk(), status.toString()); }
template <typename T> T expectOk(Result<T> result) {
  expectOk(result.status());
  return std::move(*result);
}

double microsecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Numbers that are not alike, of a seed.
std::vector<float> numbers(size_t count, uint32_t seed) {
  std::vector<float> made(count);
  for (float &each : made) {
    seed = seed * 1664525 + 1013904223;
    each = static_cast<float>(seed >> 8) / (1 << 24) - 0.5f;
  }
  return made;
}

void copyMuch(runtime::Device &here, runtime::Device &there) {
  constexpr uint64_t size = uint64_t(1) << 30;
  const std::vector<float> data = numbers(size / sizeof(float), 1);
  const auto from = expectOk(runtime::Buffer::allocate(here.pool(), size));
  const auto to = expectOk(runtime::Buffer::allocate(there.pool(), size));
  expectOk(from->write(std::as_bytes(std::span(data))));
  std::printf("%s reaches %s: %s\n", there.name().c_str(), here.name().c_str(), to->reaches(*from) ? "yes" : "no");
  std::vector<double> took;
  for (int i = 0; i < 12; ++i) {
    const auto begin = Clock::now();
    expectOk(to->copyFrom(*from));
    took.push_back(microsecondsSince(begin));
  }
  took.erase(took.begin());
  std::vector<float> found(data.size());
  expectOk(to->read(std::as_writable_bytes(std::span(found))));
  expect(found == data, "what came is not what was sent");
  std::printf("1 GiB from %s to %s: %.0f us in the median, %.1f GB/s\n", here.name().c_str(), there.name().c_str(),
              median(took), static_cast<double>(size) / median(took) / 1e3);
}

/// The same function on any two devices.
std::vector<float> computeOnBoth(const std::string &first, const std::string &second) {
  ContextScope scope(Context({.device = first}));
  const Tensor x = Tensor::from(numbers(512 * 512, 2), {512, 512});
  const Tensor w = Tensor::from(numbers(512 * 512, 3), {512, 512}).to(second).detach();
  const Tensor product = matmul(x, x).to(second);
  const Tensor mixed = (matmul(product, w) * 0.125 + w).to(first);
  return (mixed.softmax(1) + x).toVector<float>();
}

void compute() {
  const std::vector<float> got = computeOnBoth("cuda", "cuda:1"), expected = computeOnBoth("cpu", "cpu");
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - expected[i]));
  std::printf("values on both: off by %.1e at most\n", static_cast<double>(worst));
  expect(worst <= 1e-4f, "values on both are wrong");
}

/// A value that goes to and fro, each time through a program that is long enough to be in flight.
void goToAndFro() {
  ContextScope scope(Context({.device = "cuda"}));
  constexpr int64_t size = 1 << 22;
  const std::vector<float> data = numbers(size, 4);
  std::vector<float> expected = data;
  Tensor x = Tensor::from(data, {size});
  std::vector<double> took;
  for (int trip = 0; trip < 100; ++trip) {
    const auto begin = Clock::now();
    x = (x * 0.75 + 0.125).to(trip % 2 == 0 ? "cuda:1" : "cuda");
    x.realize();
    Context::current().sync();
    took.push_back(microsecondsSince(begin));
    for (float &each : expected)
      each = each * 0.75f + 0.125f;
  }
  expect(x.toVector<float>() == expected, "a value that went to and fro is wrong");
  std::printf("16 MiB through a program to the other card: %.0f us in the median of 100\n", median(took));
}

/// A kernel that fails after 0.3 s.
artifact::Artifact failing() {
  static constexpr char text[] = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry fails(.param .u64 x, .param .u64 y, .param .u64 scratch, .param .u64 programs)
{
  .reg .u64 %begin, %now;
  .reg .pred %early;
  mov.u64 %begin, %globaltimer;
  add.u64 %begin, %begin, 300000000;
again:
  mov.u64 %now, %globaltimer;
  setp.lt.u64 %early, %now, %begin;
  @%early bra again;
  trap;
}
)";
  artifact::Artifact made;
  made.entry = "main";
  made.target = "cuda";
  made.cpuFeatures = {"sm_75"};
  made.inputs = {{"x", {DType::I32, {64}}}};
  made.outputs = {{"y", {DType::I32, {64}}}};
  made.buffers = {{artifact::BufferKind::Input, 0, 256}, {artifact::BufferKind::Output, 0, 256}};
  const auto *bytes = reinterpret_cast<const std::byte *>(text);
  made.code = {{"ptx", std::vector<std::byte>(bytes, bytes + sizeof(text) - 1)}};
  artifact::Kernel kernel;
  kernel.symbol = kernel.name = "fails";
  kernel.numBuffers = 2;
  kernel.numWritten = 1;
  made.kernels = {kernel};
  made.commands = {{artifact::Launch{0, {{0, 0}, {1, 0}}, {1, 1, 1}, {}}, {}}};
  return made;
}

void lose(const std::shared_ptr<runtime::Device> &here, const std::shared_ptr<runtime::Device> &there) {
  const std::vector<float> data = numbers(64, 5);
  const auto x = expectOk(runtime::Buffer::allocate(here->pool(), 256)),
             y = expectOk(runtime::Buffer::allocate(here->pool(), 256));
  const auto moved = expectOk(runtime::Buffer::allocate(there->pool(), 256)),
             value = expectOk(runtime::Buffer::allocate(there->pool(), 256)),
             onHost = expectOk(runtime::Buffer::allocate(runtime::createHostPool(), 256));
  expectOk(x->write(std::as_bytes(std::span(data))));
  expectOk(value->write(std::as_bytes(std::span(data))));
  expectOk(onHost->write(std::as_bytes(std::span(data))));
  const auto executor = expectOk(runtime::Executor::create(here, failing()));
  expectOk(executor->bindInput(0, x));
  expectOk(executor->bindOutput(0, y));
  const auto begin = Clock::now();
  const runtime::Point run = expectOk(executor->submit());
  const runtime::Point copy = expectOk(runtime::Buffer::copyLater(y, moved, there->queue()));
  const Status ran = run.wait(), copied = copy.wait();
  std::printf("the run, after %.0f ms: %s\nthe copy: %s\n", microsecondsSince(begin) / 1e3, ran.toString().c_str(),
              copied.toString().c_str());
  expect(ran.code() == ErrorCode::DeviceLost && !copied.isOk(), "the first card is not lost");
  std::vector<float> found(64);
  expectOk(onHost->read(std::as_writable_bytes(std::span(found))));
  expect(found == data, "a value of the host is not what it was");
  const Status read = value->read(std::as_writable_bytes(std::span(found)));
  expect(read.isOk() ? found == data : read.code() == ErrorCode::DeviceLost, "a value of the second card is wrong");
  std::printf("values of the host survive, those of the second card %s\n", read.isOk() ? "too" : "do not");
}

} // namespace

int main(int argc, char **argv) {
  try {
    const auto here = expectOk(runtime::createDevice("cuda")), there = expectOk(runtime::createDevice("cuda:1"));
    copyMuch(*here, *there);
    copyMuch(*there, *here);
    compute();
    goToAndFro();
    if (argc > 1 && std::strcmp(argv[1], "--lose") == 0)
      lose(here, there);
    return 0;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "zyx-bench-peers: %s\n", failure.what());
    return 1;
  }
}
