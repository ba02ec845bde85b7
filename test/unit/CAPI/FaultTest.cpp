//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Each allocation of each call of the C surface fails in turn: the call says OUT_OF_MEMORY or succeeds all the same,
// has changed nothing else, and holds no lock and no memory.
//===----------------------------------------------------------------------===//
#include "zyx-c/Runtime.h"

#include "../FailingAllocations.h"

#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>

static int failures = 0;
static long allFaults = 0;

#define CHECK(condition, ...)                                                                                          \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::printf("line %d: %s: ", __LINE__, #condition);                                                              \
      std::printf(__VA_ARGS__);                                                                                        \
      std::printf("\n");                                                                                               \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

using Call = std::function<zyx_error *()>;
using Check = std::function<void()>;

/// `undo` takes back what a call that succeeded has made.
static void
failEach(const char *name, const Call &call, const Check &after, const Check &undo = [] {}, int64_t mayKeep = 0) {
  allFaults += faults::failEach(
      name,
      [&] {
        zyx_error *error = call();
        if (!error)
          return faults::Outcome();
        const faults::Outcome outcome =
            faults::Outcome::failure(zyx_error_get_code(error) == ZYX_OUT_OF_MEMORY, zyx_error_get_message(error));
        zyx_error_release(error);
        return outcome;
      },
      [&](const std::string &text) { CHECK(false, "%s", text.c_str()); }, after, undo, mayKeep);
}

static void expectOk(zyx_error *error, const char *what) {
  CHECK(!error, "%s: %s", what, zyx_error_get_message(error));
  zyx_error_release(error);
}

/// Of work that was handed over and ran where memory had ended, too: that is its failure.
static void expectOver(zyx_event *event) {
  zyx_error *error = zyx_event_wait(event, UINT64_MAX);
  CHECK(!error || std::strstr(zyx_error_get_message(error), "out of memory"), "%s", zyx_error_get_message(error));
  zyx_error_release(error);
  zyx_event_release(event);
}

static const float x[4] = {1, 2, 3, 4};

/// By another thread, which waits for ever where a lock is still held.
static void expectRuns(zyx_executor *executor) {
  std::thread([&] {
    float y[4] = {};
    int32_t w[2] = {};
    expectOk(zyx_executor_set_input(executor, 0, x, sizeof(x)), "set");
    expectOk(zyx_executor_run(executor), "run");
    expectOk(zyx_executor_read_output(executor, 0, y, sizeof(y)), "read");
    expectOk(zyx_executor_read_output(executor, 2, w, sizeof(w)), "read");
    CHECK(y[0] == 13 && y[1] == 25 && y[2] == 37 && y[3] == 49 && w[0] == 7, "y[0] is %f", static_cast<double>(y[0]));
  }).join();
}

static uint64_t poolBytes(zyx_executor *executor) {
  zyx_executor_info info = {};
  info.struct_size = sizeof(info);
  expectOk(zyx_executor_get_info(executor, &info), "info");
  return info.pool_bytes;
}

static zyx_device *makeDevice(const zyx_thread_pool *pool = nullptr) {
  zyx_device_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 2;
  options.oversubscribe = 1;
  options.thread_pool = pool;
  zyx_device *device = nullptr;
  expectOk(zyx_device_create("cpu", &options, &device), "device");
  return device;
}

static void testDevices() {
  zyx_device *device = nullptr;
  zyx_device_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 3;
  options.oversubscribe = 1;
  int released = 0;
  zyx_thread_pool pool = {sizeof(pool), &released, 1,
                          [](void *, uint32_t, void (*body)(void *, uint32_t), void *argument) { body(argument, 0); },
                          [](void *context) { ++*static_cast<int *>(context); }};
  // The system's library keeps stacks of threads, and what belongs to them.
  failEach(
      "zyx_device_create", [&] { return zyx_device_create("cpu", &options, &device); }, [] {},
      [&] { zyx_device_release(device); }, 16);
  options.thread_pool = &pool;
  int made = 0;
  failEach(
      "zyx_device_create with a pool",
      [&] {
        zyx_error *error = zyx_device_create("c", &options, &device);
        made += error == nullptr;
        return error;
      },
      // A call that fails has not taken it.
      [&] { CHECK(released == made, "released %d times, taken %d times", released, made); },
      [&] { zyx_device_release(device); }, 16);
  failEach(
      "zyx_device_create of none",
      [&] {
        zyx_error *error = zyx_device_create("npu", nullptr, &device);
        CHECK(error && !device, "a device 'npu'");
        if (zyx_error_get_code(error) == ZYX_OUT_OF_MEMORY)
          return error;
        zyx_error_release(error);
        return static_cast<zyx_error *>(nullptr);
      },
      [] {});
}

static void testLoading(const char *path) {
  zyx_device *device = makeDevice();
  zyx_executor *executor = nullptr, *other = nullptr;
  expectOk(zyx_executor_load_file(device, path, &other), "load");
  const uint64_t bytes = poolBytes(other);
  // The loader of the system keeps some of what it has made when it fails.
  failEach(
      "zyx_executor_load_file", [&] { return zyx_executor_load_file(device, path, &executor); },
      [&] { CHECK(poolBytes(other) == bytes, "the pool has %lu bytes", static_cast<unsigned long>(poolBytes(other))); },
      [&] {
        expectRuns(executor);
        zyx_executor_release(executor);
      },
      400);
  expectRuns(other);
  zyx_executor_release(other);
  zyx_device_release(device);
}

static void testCalls(const char *path) {
  zyx_device *device = makeDevice();
  zyx_executor *executor = nullptr;
  auto load = [&] {
    zyx_executor_release(executor);
    expectOk(zyx_executor_load_file(device, path, &executor), "load");
  };
  load();
  expectRuns(executor);
  const Check runs = [&] { expectRuns(executor); };
  zyx_executor_info info = {};
  info.struct_size = sizeof(info);
  zyx_tensor_info tensor = {};
  tensor.struct_size = sizeof(tensor);
  size_t index = 0;
  float y[4] = {};
  uint64_t nanoseconds = 0;
  zyx_measurement measurement = {sizeof(measurement), 0, 0};
  failEach("zyx_executor_get_info", [&] { return zyx_executor_get_info(executor, &info); }, runs);
  failEach("zyx_executor_get_input", [&] { return zyx_executor_get_input(executor, 0, &tensor); }, runs);
  failEach("zyx_executor_get_output", [&] { return zyx_executor_get_output(executor, 0, &tensor); }, runs);
  failEach("zyx_executor_find_input", [&] { return zyx_executor_find_input(executor, "x", &index); }, runs);
  failEach("zyx_executor_find_output", [&] { return zyx_executor_find_output(executor, "w", &index); }, runs);
  failEach("zyx_executor_set_input", [&] { return zyx_executor_set_input(executor, 0, x, sizeof(x)); }, runs);
  failEach("zyx_executor_run", [&] { return zyx_executor_run(executor); }, runs);
  failEach("zyx_executor_profile", [&] { return zyx_executor_profile(executor, &nanoseconds); }, runs);
  failEach("zyx_executor_measure", [&] { return zyx_executor_measure(executor, 2, &measurement); }, runs);
  failEach("zyx_executor_read_output", [&] { return zyx_executor_read_output(executor, 0, y, sizeof(y)); }, runs);
  failEach("zyx_executor_borrow_input", [&] { return zyx_executor_borrow_input(executor, 0, x, sizeof(x)); }, runs);
  failEach(
      "zyx_executor_borrow_output", [&] { return zyx_executor_borrow_output(executor, 0, y, sizeof(y)); },
      [&] {
        expectOk(zyx_executor_run(executor), "run");
        CHECK(y[3] == 49, "y[3] is %f", static_cast<double>(y[3]));
      });
  zyx_event *event = nullptr;
  failEach(
      "zyx_executor_submit", [&] { return zyx_executor_submit(executor, nullptr, 0, &event); }, runs,
      [&] { expectOver(event); });
  failEach("zyx_event_create", [&] { return zyx_event_create(&event); }, runs, [&] { zyx_event_release(event); });
  zyx_buffer *buffer = nullptr, *other = nullptr;
  failEach(
      "zyx_buffer_allocate", [&] { return zyx_buffer_allocate(device, sizeof(x), &buffer); }, runs,
      [&] { zyx_buffer_release(buffer); });
  expectOk(zyx_buffer_allocate(device, sizeof(x), &buffer), "buffer");
  expectOk(zyx_buffer_allocate(device, sizeof(x), &other), "buffer");
  failEach("zyx_buffer_write", [&] { return zyx_buffer_write(buffer, x, sizeof(x)); }, runs);
  failEach("zyx_buffer_read", [&] { return zyx_buffer_read(buffer, 0, y, sizeof(y)); }, runs);
  failEach("zyx_buffer_copy", [&] { return zyx_buffer_copy(other, buffer, nullptr); }, runs);
  failEach(
      "zyx_buffer_copy later", [&] { return zyx_buffer_copy(other, buffer, &event); }, runs,
      [&] { expectOver(event); });
  failEach("zyx_executor_bind_output", [&] { return zyx_executor_bind_output(executor, 0, buffer); }, runs);
  zyx_buffer_release(buffer);
  zyx_buffer_release(other);
  // The first set and the first run of a program, which make its buffers.
  zyx_executor_release(executor);
  executor = nullptr;
  failEach(
      "the first run",
      [&]() -> zyx_error * {
        if (zyx_error *error = zyx_executor_load_file(device, path, &executor))
          return error;
        if (zyx_error *error = zyx_executor_set_input(executor, 0, x, sizeof(x)))
          return error;
        return zyx_executor_run(executor);
      },
      [&] {
        // One that was loaded can still be run.
        if (executor)
          expectRuns(executor);
        zyx_executor_release(executor);
        executor = nullptr;
      },
      [&] { expectRuns(executor); }, 400);
  zyx_executor_release(executor);
  zyx_device_release(device);
}

static void testFacts() {
  zyx_device *device = makeDevice();
  zyx_device_facts facts = {};
  facts.struct_size = sizeof(facts);
  zyx_device_list *list = nullptr;
  // The system keeps what its loader has said of a driver that is not there.
  failEach(
      "zyx_device_list_create", [&] { return zyx_device_list_create(&list); }, [] {},
      [&] { zyx_device_list_release(list); }, 400);
  failEach("zyx_device_get_facts", [&] { return zyx_device_get_facts(device, &facts); }, [] {});
  zyx_device_release(device);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
#ifdef ZYX_TEST_SANITIZED
  std::printf("a sanitizer has its own malloc\n");
#else
  testDevices();
  testFacts();
  testLoading(argv[1]);
  testCalls(argv[1]);
  CHECK(allFaults > 100, "no allocation of the library fails");
#endif
  std::printf(failures ? "%d failures\n" : "ok\n", failures);
  return failures != 0;
}
