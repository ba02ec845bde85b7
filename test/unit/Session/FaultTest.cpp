//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Each allocation of each call of the C++ surface of session and runtime fails in turn: the call returns a Status for
// memory, or throws what the standard library throws there (Base/Exceptions.h), or succeeds all the same. It holds no
// lock then and no memory, and the next call is right.
//===----------------------------------------------------------------------===//
#include "../FailingAllocations.h"
#include "zyx/Base/Exceptions.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Base/Trace.h"
#include "zyx/Graph/UnaryKind.h"
#include "zyx/Runtime/Arena.h"
#include "zyx/Runtime/DiskPool.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Session/Session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <thread>

using namespace zyx;
using runtime::Buffer;

#ifdef ZYX_TEST_SANITIZED
#define ZYX_NEEDS_FAULTS() GTEST_SKIP() << "the sanitizer has its own malloc"
#else
#define ZYX_NEEDS_FAULTS() (void)0
#endif

namespace {

/// What the system's loader and its threads keep for their next use.
constexpr int64_t ofLoader = 400, ofThreads = 16;

using Call = std::function<Status()>;
/// Of the whole program.
long allFaults = 0;

/// Also where that is why something else did not run.
bool isOutOfMemory(const Status &status) {
  return status.code() == ErrorCode::OutOfMemory || (!status.cause().isOk() && isOutOfMemory(status.cause()));
}

void failEach(
    const char *name, const Call &call, const std::function<void()> &after, int64_t mayKeep = 0,
    const std::function<void()> &undo = [] {}) {
  allFaults += faults::failEach(
      name,
      [&] {
        try {
          const Status status = call();
          return status.isOk() ? faults::Outcome()
                               : faults::Outcome::failure(isOutOfMemory(status), status.message().c_str());
        } catch (const std::bad_alloc &) {
          return faults::Outcome::failure(true, "");
        } catch (const std::exception &error) {
          return faults::Outcome::failure(false, error.what());
        }
      },
      [](const std::string &text) { ADD_FAILURE() << text; }, after, undo, mayKeep);
}

/// Fails the test, and is no allocation of who is tested.
void expectOk(const Status &status) { EXPECT_TRUE(status.isOk()) << status.toString(); }

std::vector<float> floatsOf(const HostTensor &tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

/// y = exp(x) * 0 + x + 1 over rows, and its sum.
graph::Graph sample(const TensorType &type) {
  graph::Graph graph;
  graph.name = "sample";
  const graph::NodeId x = *graph.parameter("x", type);
  const graph::NodeId y = *graph.unary(graph::UnaryKind::Neg, x);
  graph.inputs = {x};
  graph.outputs = {{"y", y}, {"sum", *graph.reduce(graph::ReduceKind::Add, y, {1})}};
  return graph;
}
const TensorType type{DType::F32, {3, 4}};
HostTensor filled(int64_t rows, float value) {
  HostTensor tensor{{DType::F32, {rows, 4}}, std::vector<std::byte>(static_cast<size_t>(rows) * 16)};
  for (size_t i = 0; i < static_cast<size_t>(rows) * 4; ++i)
    std::memcpy(tensor.data.data() + i * 4, &value, 4);
  return tensor;
}

/// With a folder in which the sample was compiled before.
class FaultTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
    folder = new TempFolder(*TempFolder::create());
    session::Session first(options());
    for (int64_t rows : {1, 2, 3}) {
      auto made = first.prepare(sample({DType::F32, {rows, 4}}), "cpu");
      ASSERT_TRUE(made.isOk()) << made.status().toString();
    }
  }
  static void TearDownTestSuite() { delete folder; }
  void SetUp() override { allFaults = 0; }
  void TearDown() override {
    if (!IsSkipped())
      EXPECT_GT(allFaults, 20) << "no allocation of the library fails";
  }
  static session::SessionOptions options() {
    session::SessionOptions options;
    options.cacheFolder = folder->file("cache");
    options.config.threads = 1;
    return options;
  }

  /// The whole way, on one session.
  static Status runOnce(session::Session &session, float value) {
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<session::Executable> executable, session.prepare(sample(type), "cpu"));
    return runOnce(*executable, 3, value);
  }
  static Status runOnce(session::Executable &executable, int64_t rows, float value) {
    std::vector<HostTensor> inputs;
    inputs.push_back(filled(rows, value));
    ZYX_RETURN_IF_ERROR(executable.setInputs(std::move(inputs)));
    ZYX_RETURN_IF_ERROR(executable.run());
    ZYX_ASSIGN_OR_RETURN(const std::vector<HostTensor> outputs, executable.readOutputs());
    const std::vector<float> y = floatsOf(outputs[0]), sums = floatsOf(outputs[1]);
    return y.size() == static_cast<size_t>(rows) * 4 && y.back() == -value && sums.back() == -4 * value
               ? Status::ok()
               : Status::internal("the outputs are wrong");
  }
  /// By another thread, which waits for ever where a lock is still held.
  static void expectRuns(session::Session &session) {
    std::thread([&] { expectOk(runOnce(session, 2)); }).join();
  }

  static inline TempFolder *folder = nullptr;
};

} // namespace

TEST_F(FaultTest, OpenCompileFromTheCacheLoadAndRun) {
  ZYX_NEEDS_FAULTS();
  failEach(
      "a new session",
      []() -> Status {
        session::Session session(options());
        return runOnce(session, 3);
      },
      [] {}, ofLoader);
  session::Session session(options());
  expectRuns(session);
  const auto runs = [&] { expectRuns(session); };
  failEach("Session::targetOf", [&]() -> Status { return session.targetOf("cpu").status(); }, runs);
  failEach(
      "Session::device of none",
      [&]() -> Status {
        const Status status = session.device("npu").status();
        return status.code() == ErrorCode::NotFound ? Status::ok() : status;
      },
      runs);
  failEach(
      "Session::compile", [&]() -> Status { return session.compile(sample(type), {.target = "cpu"}).status(); }, runs);
  failEach(
      "Session::prepare", [&]() -> Status { return session.prepare(sample(type), "cpu").status(); }, runs, ofLoader);
  // Drivers of OpenCL and Vulkan have compilers of their own, which end the process without memory.
  setenv("ZYX_OPENCL_DRIVER", "/none/libOpenCL.so.1", 1);
  setenv("ZYX_VULKAN_DRIVER", "/none/libvulkan.so.1", 1);
  failEach(
      "Session::listDevices",
      [&]() -> Status { return session::Session::listDevices().empty() ? Status::internal("") : Status::ok(); }, runs);
}

/// What one call adds to what the session keeps is counted once, or not at all.
TEST_F(FaultTest, WhatASessionKeepsInMemoryIsRightAfterwards) {
  ZYX_NEEDS_FAULTS();
  session::SessionOptions few = options();
  // Two of three.
  few.artifactBytes = 2 * session::Session(options()).compile(sample(type), {.target = "cpu"})->output.size();
  session::Session session(few);
  int64_t rows = 0;
  failEach(
      "Session::compile of others",
      [&]() -> Status {
        rows = rows % 3 + 1;
        return session.compile(sample({DType::F32, {rows, 4}}), {.target = "cpu"}).status();
      },
      [&] { expectRuns(session); }, 64);
}

TEST_F(FaultTest, ExecutablesRunAndAreRead) {
  ZYX_NEEDS_FAULTS();
  for (const char *name : {"cpu", "reference"}) {
    session::Session session(options());
    auto executable = *session.prepare(sample(type), name);
    expectOk(runOnce(*executable, 3, 1));
    const auto runs = [&] { std::thread([&] { expectOk(runOnce(*executable, 3, 2)); }).join(); };
    failEach(
        "Executable::setInputs",
        [&]() -> Status {
          std::vector<HostTensor> inputs;
          inputs.push_back(filled(3, 5));
          return executable->setInputs(std::move(inputs));
        },
        runs, 8);
    if (name == std::string_view("reference"))
      failEach("Executable::run", [&]() -> Status { return executable->run(); }, runs, 8);
    failEach(
        "Executable::run with a trace",
        [&]() -> Status {
          Trace trace;
          return executable->run(trace);
        },
        runs, 8);
    failEach("Executable::readOutputs", [&]() -> Status { return executable->readOutputs().status(); }, runs);
    failEach("Executable::readOutput", [&]() -> Status { return executable->readOutput(1).status(); }, runs);
    failEach(
        "Executable::streamOutput",
        [&]() -> Status {
          std::vector<std::byte> piece(16);
          uint64_t bytes = 0;
          ZYX_RETURN_IF_ERROR(executable->streamOutput(0, piece, [&](std::span<const std::byte> part) {
            bytes += part.size();
            return Status::ok();
          }));
          return bytes == 48 ? Status::ok() : Status::internal("not all bytes");
        },
        runs);
  }
}

/// One that is made ready for new sizes lets go of others.
TEST_F(FaultTest, ProgramsWithSymbolsAreMadeReadyForOtherSizes) {
  ZYX_NEEDS_FAULTS();
  session::SessionOptions few = options();
  few.readyBytes = 100;
  session::Session session(few);
  auto executable = *session.prepare(sample(symbolicType(DType::F32, {*Extent::symbol("n"), Extent(4)})), "cpu");
  int64_t rows = 0;
  failEach(
      "Executable::setInputs of other sizes",
      [&]() -> Status {
        rows = rows % 3 + 1;
        return runOnce(*executable, rows, 4);
      },
      [&] {
        // Whatever is there: it runs, or says that it has no inputs.
        const Status status = executable->run();
        EXPECT_TRUE(status.isOk() || status.code() == ErrorCode::InvalidArgument) << status.toString();
        std::thread([&] { expectOk(runOnce(*executable, 2, 4)); }).join();
      },
      ofLoader);
}

/// Spans are told in destructors.
TEST_F(FaultTest, ObserversMayRunOutOfMemory) {
  ZYX_NEEDS_FAULTS();
  session::Session session(options());
  expectRuns(session);
  failEach(
      "Session::prepare with a trace",
      [&]() -> Status {
        Trace trace;
        session.callbacks.trace = &trace;
        struct Reset {
          session::Session &session;
          ~Reset() { session.callbacks.trace = nullptr; }
        } reset{session};
        return session.prepare(sample(type), "cpu").status();
      },
      [&] { expectRuns(session); }, ofLoader);
}

TEST_F(FaultTest, BuffersAndPools) {
  ZYX_NEEDS_FAULTS();
  std::shared_ptr<runtime::Device> device;
  failEach(
      "createDevice",
      [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(device, runtime::createDevice("cpu", {.threads = 3, .oversubscribe = true}));
        return Status::ok();
      },
      [] {}, ofThreads, [&] { device.reset(); });
  device = *runtime::createDevice("cpu", {.threads = 1});
  const auto pool = device->pool();
  const auto isEmpty = [&] { EXPECT_EQ(pool->usage().inUse, 0u); };
  std::shared_ptr<Buffer> made;
  failEach(
      "Buffer::allocate",
      [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(made, Buffer::allocate(pool, 4096));
        return Status::ok();
      },
      isEmpty, 0, [&] { made.reset(); });
  failEach(
      "Buffer::borrow",
      [&]() -> Status {
        static float memory[4];
        made = Buffer::borrow(memory, sizeof(memory));
        return Status::ok();
      },
      isEmpty, 0, [&] { made.reset(); });
  std::vector<std::byte> ones(4096, std::byte{1}), twos(4096, std::byte{2}), read(4096);
  {
    const auto a = *Buffer::allocate(pool, 4096), b = *Buffer::allocate(pool, 4096);
    expectOk(a->write(ones));
    const auto isThere = [&] {
      std::thread([&] {
        expectOk(a->write(ones));
        expectOk(b->copyFrom(*a));
        expectOk(b->read(read));
        EXPECT_TRUE(read == ones);
      }).join();
    };
    failEach(
        "Buffer::copyLater",
        [&]() -> Status {
          ZYX_ASSIGN_OR_RETURN(const runtime::Point end, Buffer::copyLater(a, b, device->queue()));
          return end.wait();
        },
        isThere, 8);
    failEach(
        "Executor and Buffer in one queue",
        [&]() -> Status {
          ZYX_RETURN_IF_ERROR(a->write(twos));
          ZYX_ASSIGN_OR_RETURN(const runtime::Point end, Buffer::copyLater(a, b, device->queue()));
          ZYX_RETURN_IF_ERROR(b->read(read));
          return read == twos ? Status::ok() : Status::internal("not what was copied");
        },
        isThere, 8);
    runtime::Arena arena(pool);
    failEach(
        "Arena::reserve",
        [&]() -> Status {
          arena.trim();
          return arena.reserve(1000).status();
        },
        isThere);
  }
  isEmpty();
  const std::string path = *folder->write("bytes", twos);
  std::shared_ptr<runtime::DiskPool> disk;
  failEach(
      "DiskPool::create",
      [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(disk, runtime::DiskPool::create());
        return Status::ok();
      },
      [] {}, 0, [&] { disk.reset(); });
  disk = *runtime::DiskPool::create();
  const auto openFiles = [] {
    using Files = std::filesystem::directory_iterator;
    return std::distance(Files("/proc/self/fd"), Files());
  };
  const auto files = openFiles();
  const auto isDiskEmpty = [&] {
    EXPECT_EQ(disk->usage().inUse, 0u);
    EXPECT_EQ(openFiles(), files);
  };
  failEach(
      "mapFile",
      [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(made, runtime::mapFile(disk, path, 0, 4096));
        return made->read(read);
      },
      [&] {
        made.reset();
        isDiskEmpty();
      });
  failEach(
      "Buffer::allocate on disk",
      [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(made, Buffer::allocate(disk, 4096));
        ZYX_RETURN_IF_ERROR(made->write(ones));
        return made->read(read);
      },
      [&] {
        made.reset();
        isDiskEmpty();
      });
}

TEST_F(FaultTest, QueuesAndEvents) {
  ZYX_NEEDS_FAULTS();
  std::unique_ptr<runtime::Queue> queue;
  failEach(
      "createThreadQueue",
      [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(queue, runtime::createThreadQueue());
        return Status::ok();
      },
      [] {}, ofThreads, [&] { queue.reset(); });
  queue = *runtime::createThreadQueue();
  /// Work behind other work: it ends in some way, and the queue goes on.
  const auto submit = [&]() -> Status {
    const auto timeline = std::make_shared<runtime::Timeline>();
    const runtime::Point first{timeline, 1}, second{std::make_shared<runtime::Timeline>(), 1};
    bool hasRun = false;
    queue->submit({.body = [] { return Status::ok(); },
                   .wait = {},
                   .after = {},
                   .signal = first,
                   .name = "first",
                   .accesses = {}});
    queue->submit({.body =
                       [&] {
                         hasRun = true;
                         return Status::ok();
                       },
                   .wait = {first},
                   .after = {},
                   .signal = second,
                   .name = "second",
                   .accesses = {}});
    ZYX_RETURN_IF_ERROR(second.wait());
    return hasRun ? Status::ok() : Status::internal("the work did not run");
  };
  failEach("Queue::submit", submit, [&] { std::thread([&] { expectOk(submit()); }).join(); }, 8);
  failEach(
      "Timeline::onReach",
      [&]() -> Status {
        runtime::Timeline timeline;
        Status told = Status::internal("nobody called");
        timeline.onReach(2, [&](const Status &status) { told = status; });
        ZYX_RETURN_IF_ERROR(timeline.signal(1));
        ZYX_RETURN_IF_ERROR(timeline.signal(2));
        ZYX_RETURN_IF_ERROR(timeline.wait(2));
        return told;
      },
      [] {});
}

TEST_F(FaultTest, Executors) {
  ZYX_NEEDS_FAULTS();
  session::Session session(options());
  const auto artifact = *artifact::Artifact::deserialize(session.compile(sample(type), {.target = "cpu"})->output);
  const auto device = *runtime::createDevice("cpu", {.threads = 2, .oversubscribe = true});
  std::unique_ptr<runtime::Executor> executor;
  const std::vector<float> x(12, 3.f);
  std::vector<float> y(12);
  const auto isRight = [&] {
    std::thread([&] {
      expectOk(executor->setInput(0, std::as_bytes(std::span(x))));
      expectOk(executor->run());
      expectOk(executor->readOutput(0, std::as_writable_bytes(std::span(y))));
      EXPECT_TRUE(y == std::vector<float>(12, -3.f));
    }).join();
  };
  failEach(
      "Executor::create",
      [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(executor, runtime::Executor::create(device, artifact));
        return Status::ok();
      },
      [&] { EXPECT_EQ(device->pool()->usage().inUse, 0u); }, ofLoader, [&] { executor.reset(); });
  executor = *runtime::Executor::create(device, artifact);
  const auto a = *Buffer::allocate(device->pool(), 48), b = *Buffer::allocate(device->pool(), 48);
  failEach(
      "Executor::bindInput and bindOutput",
      [&]() -> Status {
        ZYX_RETURN_IF_ERROR(a->write(std::as_bytes(std::span(x))));
        ZYX_RETURN_IF_ERROR(executor->bindInput(0, a));
        ZYX_RETURN_IF_ERROR(executor->bindOutput(0, b));
        ZYX_RETURN_IF_ERROR(executor->run());
        return b->read(std::as_writable_bytes(std::span(y)));
      },
      [&] {
        executor->release();
        isRight();
      },
      8);
  failEach(
      "Executor::submit",
      [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(const runtime::Point end, executor->submit());
        return end.wait();
      },
      isRight, 8);
  failEach(
      "Executor::submit behind a point",
      [&]() -> Status {
        const runtime::Point gate{std::make_shared<runtime::Timeline>(), 1};
        ZYX_ASSIGN_OR_RETURN(const runtime::Point end, executor->submit(std::span(&gate, 1)));
        ZYX_RETURN_IF_ERROR(gate.timeline->signal(1));
        return end.wait();
      },
      isRight, 8);
  failEach("Executor::profile", [&]() -> Status { return executor->profile().status(); }, isRight);
  failEach("Executor::measure", [&]() -> Status { return executor->measure(2).status(); }, isRight, 8);
  failEach(
      "Executor::trim",
      [&]() -> Status {
        executor->trim();
        return executor->run();
      },
      isRight, 8);
}
