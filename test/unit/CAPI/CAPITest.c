/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/
#include "zyx-c/Backend.h"
#include "zyx-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                           \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

/* `call` succeeds. */
#define OK(call) ok(call, __LINE__)
/* `call` fails with this code and a message that holds this text. */
#define FAILS(call, code, text) fails(call, code, text, __LINE__)

static void ok(zyx_error *error, int line) {
  if (error) {
    printf("line %d: %s\n", line, zyx_error_get_message(error));
    ++failures;
  }
  zyx_error_release(error);
}

static void fails(zyx_error *error, zyx_error_code code, const char *text, int line) {
  if (zyx_error_get_code(error) != code || !strstr(zyx_error_get_message(error), text)) {
    printf("line %d: code %d, %s\n", line, (int)zyx_error_get_code(error), zyx_error_get_message(error));
    ++failures;
  }
  zyx_error_release(error);
}

static void testErrors(void) {
  zyx_device *device = (zyx_device *)&failures;
  zyx_device_options options;
  CHECK(zyx_error_get_code(NULL) == ZYX_OK);
  CHECK(strcmp(zyx_error_get_message(NULL), "") == 0);
  CHECK(strlen(zyx_version()) >= 5);
  zyx_error_release(NULL);
  zyx_device_release(NULL);
  zyx_executor_release(NULL);

  FAILS(zyx_device_create("cpu", NULL, NULL), ZYX_INVALID_ARGUMENT, "the argument 'device' is NULL");
  FAILS(zyx_device_create(NULL, NULL, &device), ZYX_INVALID_ARGUMENT, "the argument 'name' is NULL");
  CHECK(device == NULL);
  FAILS(zyx_device_create("npu", NULL, &device), ZYX_NOT_FOUND, "no device 'npu'");
  FAILS(zyx_device_create("tenstorrent", NULL, &device), ZYX_UNSUPPORTED, "no Tenstorrent device");
  memset(&options, 0, sizeof(options));
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_INVALID_ARGUMENT, "struct_size of 'options' is 0, less than");
}

/* A pool of one thread that says that it has four, and what is asked of it. */
static struct {
  int runs, calls, released;
} asked;

static void runAlone(void *context, uint32_t calls, void (*body)(void *argument, uint32_t index), void *argument) {
  uint32_t i;
  CHECK(context == &asked);
  ++asked.runs;
  for (i = 0; i < calls; ++i, ++asked.calls)
    body(argument, i);
}

static void releasePool(void *context) {
  CHECK(context == &asked);
  ++asked.released;
}

static void testPool(const char *path) {
  zyx_device *device = NULL;
  zyx_executor *executor = NULL;
  zyx_device_options options;
  zyx_thread_pool pool;
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
  memset(&options, 0, sizeof(options));
  memset(&pool, 0, sizeof(pool));
  options.struct_size = sizeof(options);
  options.thread_pool = &pool;
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_INVALID_ARGUMENT,
        "struct_size of 'thread_pool' is 0, less than");
  pool.struct_size = sizeof(pool);
  pool.threads = 4;
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_INVALID_ARGUMENT, "the argument 'thread_pool.run' is NULL");
  pool.run = runAlone;
  pool.threads = 0;
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_INVALID_ARGUMENT,
        "a thread pool of 0 threads is given; it may have 1 to 4096");
  for (pool.threads = 4097; pool.threads != 0; pool.threads <<= 1)
    FAILS(zyx_device_create("cpu", &options, &device), ZYX_INVALID_ARGUMENT, "threads is given; it may have 1 to 4096");
  pool.threads = 4;
  pool.context = &asked;
  pool.release = releasePool;
  /* What fails has taken nothing. */
  FAILS(zyx_device_create("npu", &options, &device), ZYX_NOT_FOUND, "no device 'npu'");
  CHECK(asked.released == 0);
  OK(zyx_device_create("cpu", &options, &device));
  /* It was copied. */
  memset(&pool, 0, sizeof(pool));
  OK(zyx_executor_load_file(device, path, &executor));
  zyx_device_release(device);
  OK(zyx_executor_set_input(executor, 0, x, sizeof(x)));
  OK(zyx_executor_run(executor));
  OK(zyx_executor_read_output(executor, 0, y, sizeof(y)));
  CHECK(y[0] == 13 && y[1] == 25 && y[2] == 37 && y[3] == 49);
  CHECK(asked.runs >= 1 && asked.calls > asked.runs);
  CHECK(asked.released == 0);
  zyx_executor_release(executor);
  CHECK(asked.released == 1);
  pool.struct_size = sizeof(pool);
  pool.threads = 1;
  pool.run = runAlone;
  OK(zyx_device_create("cpu", &options, &device));
  zyx_device_release(device);
  /* A caller of the first version, whose options end before the pool. */
  options.struct_size = offsetof(zyx_device_options, thread_pool);
  options.thread_pool = (const zyx_thread_pool *)"no pool";
  OK(zyx_device_create("cpu", &options, &device));
  zyx_device_release(device);
}

static void testLoading(zyx_device *device, const char *path, char *bytes, size_t size) {
  zyx_executor *executor = (zyx_executor *)&failures;
  size_t cut;
  FAILS(zyx_executor_load_file(device, path, NULL), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_load_file(NULL, path, &executor), ZYX_INVALID_ARGUMENT, "'device' is NULL");
  CHECK(executor == NULL);
  FAILS(zyx_executor_load_file(device, NULL, &executor), ZYX_INVALID_ARGUMENT, "'path' is NULL");
  FAILS(zyx_executor_load_file(device, "/no/such/file", &executor), ZYX_NOT_FOUND, "/no/such/file: cannot open");
  FAILS(zyx_executor_load_memory(device, bytes, size, NULL), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_load_memory(NULL, bytes, size, &executor), ZYX_INVALID_ARGUMENT, "'device' is NULL");
  FAILS(zyx_executor_load_memory(device, NULL, size, &executor), ZYX_INVALID_ARGUMENT, "'bytes' is NULL");
  for (cut = 0; cut < size; cut += cut < 200 ? 1 : 97)
    FAILS(zyx_executor_load_memory(device, bytes, cut, &executor), ZYX_DATA_CORRUPTION, "artifact: ");
  bytes[size - 1] ^= 1;
  FAILS(zyx_executor_load_memory(device, bytes, size, &executor), ZYX_DATA_CORRUPTION, "the checksum does not match");
  bytes[size - 1] ^= 1;
  CHECK(executor == NULL);
  OK(zyx_executor_load_memory(device, bytes, size, &executor));
  zyx_executor_release(executor);
}

static void testQueries(zyx_executor *executor) {
  zyx_executor_info info;
  zyx_tensor_info tensor;
  struct {
    zyx_tensor_info known;
    long later;
  } newer;
  size_t index = 9;

  memset(&info, 0, sizeof(info));
  FAILS(zyx_executor_get_info(executor, &info), ZYX_INVALID_ARGUMENT, "struct_size of 'info' is 0, less than");
  FAILS(zyx_executor_get_info(executor, NULL), ZYX_INVALID_ARGUMENT, "'info' is NULL");
  FAILS(zyx_executor_get_info(NULL, &info), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  info.struct_size = sizeof(info);
  OK(zyx_executor_get_info(executor, &info));
  CHECK(info.struct_size == sizeof(info));
  CHECK(strcmp(info.entry, "main") == 0 && strcmp(info.target, "cpu") == 0);
  CHECK(info.num_inputs == 1 && info.num_outputs == 3);
  CHECK(info.num_kernels == 2 && info.num_launches == 3);
  CHECK(info.arena_bytes == 128 && info.constant_bytes == 80);
  CHECK(info.pool_bytes >= 208 && info.pool_high_water >= info.pool_bytes);

  memset(&tensor, 0, sizeof(tensor));
  FAILS(zyx_executor_get_input(executor, 0, &tensor), ZYX_INVALID_ARGUMENT, "struct_size");
  FAILS(zyx_executor_get_input(executor, 0, NULL), ZYX_INVALID_ARGUMENT, "'info' is NULL");
  FAILS(zyx_executor_get_input(NULL, 0, &tensor), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_get_output(executor, 0, NULL), ZYX_INVALID_ARGUMENT, "'info' is NULL");
  FAILS(zyx_executor_get_output(NULL, 0, &tensor), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  tensor.struct_size = sizeof(tensor);
  FAILS(zyx_executor_get_input(executor, 1, &tensor), ZYX_INVALID_ARGUMENT, "input 1 of 1 does not exist");
  FAILS(zyx_executor_get_output(executor, (size_t)-1, &tensor), ZYX_INVALID_ARGUMENT, "does not exist");
  OK(zyx_executor_get_input(executor, 0, &tensor));
  CHECK(strcmp(tensor.name, "x") == 0 && tensor.dtype == ZYX_F32);
  CHECK(tensor.rank == 1 && tensor.dims[0] == 4 && tensor.bytes == 16);

  /* A caller of a later version: what this one does not know stays as it is. */
  newer.known.struct_size = sizeof(newer);
  newer.later = 42;
  OK(zyx_executor_get_output(executor, 1, &newer.known));
  CHECK(newer.known.rank == 2 && newer.known.dims[1] == 2 && newer.later == 42);
  CHECK(newer.known.struct_size == sizeof(newer));

  OK(zyx_executor_find_output(executor, "w", &index));
  CHECK(index == 2);
  OK(zyx_executor_find_input(executor, "x", &index));
  CHECK(index == 0);
  FAILS(zyx_executor_find_input(executor, "y", &index), ZYX_NOT_FOUND, "no input 'y'");
  FAILS(zyx_executor_find_input(executor, NULL, &index), ZYX_INVALID_ARGUMENT, "'name' is NULL");
  FAILS(zyx_executor_find_input(executor, "x", NULL), ZYX_INVALID_ARGUMENT, "'index' is NULL");
  FAILS(zyx_executor_find_output(NULL, "x", &index), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
}

static void testRunning(zyx_executor *executor) {
  float x[4] = {1, 2, 3, 4}, y[4] = {0}, borrowed[4] = {0};
  int32_t w[2] = {0};
  uint64_t nanoseconds = 0;
  zyx_measurement measurement;
  FAILS(zyx_executor_run(NULL), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_run(executor), ZYX_INVALID_ARGUMENT, "input 'x' is not set");
  FAILS(zyx_executor_profile(NULL, &nanoseconds), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_profile(executor, NULL), ZYX_INVALID_ARGUMENT, "'nanoseconds' is NULL");
  FAILS(zyx_executor_profile(executor, &nanoseconds), ZYX_INVALID_ARGUMENT, "input 'x' is not set");
  FAILS(zyx_executor_measure(NULL, 1, &measurement), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_measure(executor, 1, NULL), ZYX_INVALID_ARGUMENT, "'measurement' is NULL");
  measurement.struct_size = 8;
  FAILS(zyx_executor_measure(executor, 1, &measurement), ZYX_INVALID_ARGUMENT,
        "struct_size of 'measurement' is 8, less than 24");
  measurement.struct_size = sizeof(measurement);
  FAILS(zyx_executor_measure(executor, 1, &measurement), ZYX_INVALID_ARGUMENT, "input 'x' is not set");
  FAILS(zyx_executor_set_input(NULL, 0, x, 16), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_set_input(executor, 0, NULL, 16), ZYX_INVALID_ARGUMENT, "'data' is NULL");
  FAILS(zyx_executor_set_input(executor, 0, NULL, 0), ZYX_INVALID_ARGUMENT, "f32[4] of 16 bytes; 0 were given");
  FAILS(zyx_executor_set_input(executor, 0, x, (size_t)-1), ZYX_INVALID_ARGUMENT, "were given");
  FAILS(zyx_executor_set_input(executor, 7, x, 16), ZYX_INVALID_ARGUMENT, "input 7 of 1 does not exist");
  OK(zyx_executor_set_input(executor, 0, x, sizeof(x)));
  FAILS(zyx_executor_read_output(executor, 0, y, sizeof(y)), ZYX_INVALID_ARGUMENT, "not there before the first run");
  OK(zyx_executor_measure(executor, 2, &measurement));
  CHECK(measurement.device_nanoseconds > 0 && measurement.host_nanoseconds > 0);
  OK(zyx_executor_profile(executor, &nanoseconds));
  CHECK(nanoseconds > 0);
  OK(zyx_executor_read_output(executor, 0, y, sizeof(y)));
  CHECK(y[0] == 13 && y[1] == 25 && y[2] == 37 && y[3] == 49);
  OK(zyx_executor_read_output(executor, 2, w, sizeof(w)));
  CHECK(w[0] == 7 && w[1] == 7);
  FAILS(zyx_executor_read_output(executor, 0, y, 15), ZYX_INVALID_ARGUMENT, "were given");
  FAILS(zyx_executor_read_output(executor, 3, y, 16), ZYX_INVALID_ARGUMENT, "does not exist");
  FAILS(zyx_executor_read_output(executor, 0, NULL, 16), ZYX_INVALID_ARGUMENT, "'data' is NULL");
  FAILS(zyx_executor_read_output(NULL, 0, y, 16), ZYX_INVALID_ARGUMENT, "'executor' is NULL");

  FAILS(zyx_executor_borrow_input(NULL, 0, x, 16), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_borrow_input(executor, 0, NULL, 16), ZYX_INVALID_ARGUMENT, "'data' is NULL");
  FAILS(zyx_executor_borrow_input(executor, 0, (char *)x + 1, 16), ZYX_INVALID_ARGUMENT,
        "not aligned to its 4 byte elements");
  FAILS(zyx_executor_borrow_output(NULL, 0, y, 16), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_borrow_output(executor, 0, NULL, 16), ZYX_INVALID_ARGUMENT, "'data' is NULL");
  FAILS(zyx_executor_borrow_output(executor, 0, y, 12), ZYX_INVALID_ARGUMENT, "were given");
  OK(zyx_executor_borrow_input(executor, 0, x, sizeof(x)));
  OK(zyx_executor_borrow_output(executor, 0, borrowed, sizeof(borrowed)));
  x[0] = 0;
  OK(zyx_executor_run(executor));
  CHECK(borrowed[0] == 11 && borrowed[3] == 49);
}

static void testFacts(void) {
  zyx_device_list *list = NULL;
  zyx_device *device = NULL;
  zyx_device_facts facts, open;
  zyx_statistics statistics;
  zyx_backend_v1 table;
  size_t i;
  int found = 0;
  memset(&facts, 0, sizeof(facts));
  FAILS(zyx_device_list_create(NULL), ZYX_INVALID_ARGUMENT, "'list' is NULL");
  FAILS(zyx_device_list_get(NULL, 0, &facts), ZYX_INVALID_ARGUMENT, "'list' is NULL");
  CHECK(zyx_device_list_size(NULL) == 0);
  zyx_device_list_release(NULL);
  OK(zyx_device_list_create(&list));
  FAILS(zyx_device_list_get(list, 0, NULL), ZYX_INVALID_ARGUMENT, "'facts' is NULL");
  FAILS(zyx_device_list_get(list, 0, &facts), ZYX_INVALID_ARGUMENT, "struct_size of 'facts' is 0, less than");
  facts.struct_size = sizeof(facts);
  FAILS(zyx_device_list_get(list, 1000, &facts), ZYX_INVALID_ARGUMENT, "device 1000 of ");
  for (i = 0; i < zyx_device_list_size(list); ++i) {
    OK(zyx_device_list_get(list, i, &facts));
    CHECK(*facts.name && *facts.description && (!facts.present == !facts.memory_bytes));
    if (strcmp(facts.name, "cpu") != 0)
      continue;
    ++found;
    CHECK(facts.present && strcmp(facts.target, "cpu") == 0 && *facts.architecture && *facts.identity);
    CHECK(facts.processors >= 1 && facts.lanes >= 4 && facts.alignment == 1);
    CHECK(facts.dtypes & 1u << ZYX_F32 && facts.dtypes & 1u << ZYX_F8E5M2);
    CHECK(facts.free_bytes <= facts.memory_bytes && facts.workgroup_threads == 1);
  }
  CHECK(found == 1);
  zyx_device_list_release(list);

  OK(zyx_device_create("", NULL, &device));
  open.struct_size = sizeof(open);
  FAILS(zyx_device_get_facts(NULL, &open), ZYX_INVALID_ARGUMENT, "'device' is NULL");
  FAILS(zyx_device_get_facts(device, NULL), ZYX_INVALID_ARGUMENT, "'facts' is NULL");
  OK(zyx_device_get_facts(device, &open));
  CHECK(open.present && *open.name && *open.description && open.free_bytes != ZYX_UNKNOWN_BYTES);
  memset(&statistics, 0, sizeof(statistics));
  FAILS(zyx_device_get_statistics(device, &statistics), ZYX_INVALID_ARGUMENT, "struct_size of 'statistics'");
  FAILS(zyx_device_get_statistics(device, NULL), ZYX_INVALID_ARGUMENT, "'statistics' is NULL");
  statistics.struct_size = sizeof(statistics);
  FAILS(zyx_device_get_statistics(NULL, &statistics), ZYX_INVALID_ARGUMENT, "'device' is NULL");
  OK(zyx_device_get_statistics(device, &statistics));
  CHECK(statistics.executors_loaded == 0 && statistics.pool_limit > 0 && statistics.pool_bytes == 0);
  zyx_device_release(device);
  CHECK(zyx_api_version() == ZYX_C_API_VERSION);

  FAILS(zyx_load_backend(NULL), ZYX_INVALID_ARGUMENT, "'path' is NULL");
  FAILS(zyx_load_backend("/nonexistent/lib.so"), ZYX_NOT_FOUND, "backend '/nonexistent/lib.so' cannot be loaded");
  FAILS(zyx_register_backend(NULL), ZYX_INVALID_ARGUMENT, "'table' is NULL");
  memset(&table, 0, sizeof(table));
  table.struct_size = sizeof(table);
  table.abi_version = ZYX_BACKEND_ABI_VERSION + 1;
  FAILS(zyx_register_backend(&table), ZYX_UNSUPPORTED, "is of ABI version 2, and this zyx takes version 1");
}

/* What was asked of an allocator. */
static struct {
  int allocations, deallocations, released, refuses;
  size_t bytes;
} memory;

static void *allocateMemory(void *context, size_t bytes, size_t alignment) {
  char *data = memory.refuses ? NULL : malloc(bytes + alignment + sizeof(char *));
  char *aligned;
  CHECK(context == &memory && bytes > 0 && alignment >= 64 && (alignment & (alignment - 1)) == 0);
  if (!data)
    return NULL;
  ++memory.allocations;
  memory.bytes += bytes;
  aligned = data + sizeof(char *);
  aligned += (alignment - (size_t)aligned % alignment) % alignment;
  memcpy(aligned - sizeof(char *), &data, sizeof(char *));
  return aligned;
}

static void deallocateMemory(void *context, void *data, size_t bytes) {
  char *begin;
  CHECK(context == &memory);
  ++memory.deallocations;
  memory.bytes -= bytes;
  memcpy(&begin, (char *)data - sizeof(char *), sizeof(char *));
  free(begin);
}

static void releaseMemory(void *context) {
  CHECK(context == &memory && memory.bytes == 0);
  ++memory.released;
}

static void testAllocator(const char *path) {
  zyx_device *device = NULL;
  zyx_executor *executor = NULL;
  zyx_buffer *buffer = NULL, *other = (zyx_buffer *)&failures;
  zyx_device_options options;
  zyx_allocator allocator;
  memset(&options, 0, sizeof(options));
  memset(&allocator, 0, sizeof(allocator));
  options.struct_size = sizeof(options);
  options.memory_limit = 1 << 16;
  options.allocator = &allocator;
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_INVALID_ARGUMENT,
        "struct_size of 'allocator' is 0, less than");
  allocator.struct_size = sizeof(allocator);
  allocator.context = &memory;
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_INVALID_ARGUMENT, "'allocator.allocate' is NULL");
  allocator.allocate = allocateMemory;
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_INVALID_ARGUMENT, "'allocator.deallocate' is NULL");
  allocator.deallocate = deallocateMemory;
  allocator.release = releaseMemory;
  FAILS(zyx_device_create("cuda", &options, &device), ZYX_UNSUPPORTED,
        "the memory of device 'cuda' is its driver's, and takes no allocator");
  CHECK(memory.released == 0);
  OK(zyx_device_create("cpu", &options, &device));
  memset(&allocator, 0, sizeof(allocator));
  OK(zyx_executor_load_file(device, path, &executor));
  CHECK(memory.allocations > 0 && memory.bytes >= 80);
  OK(zyx_buffer_allocate(device, 1000, &buffer));
  FAILS(zyx_buffer_allocate(device, 1 << 16, &other), ZYX_OUT_OF_MEMORY, "pool host holds");
  CHECK(other == NULL);
  OK(zyx_buffer_allocate(device, 0, &other));
  zyx_buffer_release(other);
  memory.refuses = 1;
  FAILS(zyx_buffer_allocate(device, 16, &other), ZYX_OUT_OF_MEMORY, "pool host holds");
  memory.refuses = 0;
  zyx_device_release(device);
  zyx_executor_release(executor);
  CHECK(memory.released == 0 && memory.bytes == 1000);
  zyx_buffer_release(buffer);
  CHECK(memory.released == 1 && memory.allocations == memory.deallocations);
}

static struct {
  int lines, runtime;
} logged;

static void takeLine(void *context, const char *topic, const char *text) {
  CHECK(context == &logged && *text && !strchr(text, '\n'));
  ++logged.lines;
  logged.runtime += strcmp(topic, "runtime") == 0;
}

static void testLog(const char *path) {
  zyx_device *device = NULL;
  zyx_executor *executor = NULL;
  int lines;
  FAILS(zyx_set_log("abacus", takeLine, &logged), ZYX_INVALID_ARGUMENT, "the log has no topic 'abacus'");
  OK(zyx_set_log("runtime,memory", takeLine, &logged));
  OK(zyx_device_create("cpu", NULL, &device));
  OK(zyx_executor_load_file(device, path, &executor));
  zyx_executor_release(executor);
  CHECK(logged.lines > logged.runtime && logged.runtime > 0);
  lines = logged.lines;
  /* Nothing is switched off: the lines are on the standard error again. */
  OK(zyx_set_log(NULL, NULL, NULL));
  OK(zyx_executor_load_file(device, path, &executor));
  zyx_executor_release(executor);
  zyx_device_release(device);
  CHECK(logged.lines == lines);
}

static void testEvents(void) {
  zyx_event *event = (zyx_event *)&failures;
  int done = 9;
  zyx_event_release(NULL);
  FAILS(zyx_event_create(NULL), ZYX_INVALID_ARGUMENT, "'event' is NULL");
  FAILS(zyx_event_signal(NULL, ZYX_OK, NULL), ZYX_INVALID_ARGUMENT, "'event' is NULL");
  OK(zyx_event_wait(NULL, 0));
  OK(zyx_event_poll(NULL, &done));
  CHECK(done == 1);
  OK(zyx_event_create(&event));
  FAILS(zyx_event_poll(event, NULL), ZYX_INVALID_ARGUMENT, "'done' is NULL");
  OK(zyx_event_poll(event, &done));
  CHECK(done == 0);
  FAILS(zyx_event_wait(event, 0), ZYX_TIMEOUT, "in time");
  FAILS(zyx_event_wait(event, 1000000), ZYX_TIMEOUT, "in time");
  FAILS(zyx_event_signal(event, (zyx_error_code)99, NULL), ZYX_INVALID_ARGUMENT, "there is no error code 99");
  OK(zyx_event_signal(event, ZYX_OK, NULL));
  OK(zyx_event_poll(event, &done));
  CHECK(done == 1);
  OK(zyx_event_wait(event, UINT64_MAX));
  FAILS(zyx_event_signal(event, ZYX_OK, NULL), ZYX_INVALID_ARGUMENT, "an event that is over is signalled");
  zyx_event_release(event);
  OK(zyx_event_create(&event));
  OK(zyx_event_signal(event, ZYX_IO_ERROR, "the wire is cut"));
  done = 0;
  FAILS(zyx_event_poll(event, &done), ZYX_IO_ERROR, "the wire is cut");
  CHECK(done == 1);
  FAILS(zyx_event_wait(event, 0), ZYX_IO_ERROR, "the wire is cut");
  zyx_event_release(event);
  OK(zyx_event_create(&event));
  OK(zyx_event_signal(event, ZYX_ABORTED, NULL));
  FAILS(zyx_event_wait(event, 0), ZYX_ABORTED, "an event has failed");
  zyx_event_release(event);
}

static void testSubmit(zyx_device *device, const char *path) {
  zyx_executor *executor = NULL;
  zyx_event *first = NULL, *second = NULL, *gate = NULL;
  const zyx_event *wait[2];
  zyx_statistics before, after;
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
  int done = 1;
  before.struct_size = after.struct_size = sizeof(before);
  OK(zyx_device_get_statistics(device, &before));
  OK(zyx_executor_load_file(device, path, &executor));
  FAILS(zyx_executor_submit(NULL, NULL, 0, &first), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_submit_on(NULL, NULL, NULL, 0, &first), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_submit_behind(executor, NULL, NULL, 1, &first), ZYX_INVALID_ARGUMENT, "'wait' is NULL");
  FAILS(zyx_executor_submit_behind(executor, &failures, NULL, 0, &first), ZYX_UNSUPPORTED,
        "device 'cpu' takes no streams of the host program");
  CHECK(first == NULL);
  FAILS(zyx_executor_submit_on(executor, &failures, NULL, 0, NULL), ZYX_UNSUPPORTED, "takes no streams");
  FAILS(zyx_device_stream_wait(NULL, &failures, NULL), ZYX_INVALID_ARGUMENT, "'device' is NULL");
  FAILS(zyx_device_stream_wait(device, &failures, NULL), ZYX_UNSUPPORTED, "takes no streams");
  FAILS(zyx_executor_submit(executor, NULL, 1, &first), ZYX_INVALID_ARGUMENT, "'wait' is NULL");
  FAILS(zyx_executor_submit(executor, NULL, 0, &first), ZYX_INVALID_ARGUMENT, "input 'x' is not set");
  CHECK(first == NULL);
  OK(zyx_executor_set_input(executor, 0, x, sizeof(x)));
  OK(zyx_event_create(&gate));
  wait[0] = gate;
  wait[1] = NULL;
  OK(zyx_executor_submit(executor, wait, 2, &first));
  wait[0] = first;
  OK(zyx_executor_submit(executor, wait, 1, &second));
  OK(zyx_event_poll(first, &done));
  CHECK(done == 0);
  FAILS(zyx_event_wait(second, 1000000), ZYX_TIMEOUT, "in time");
  FAILS(zyx_event_signal(first, ZYX_OK, NULL), ZYX_INVALID_ARGUMENT, "an event of zyx's own is signalled");
  OK(zyx_event_signal(gate, ZYX_OK, NULL));
  OK(zyx_event_wait(second, UINT64_MAX));
  OK(zyx_event_poll(first, &done));
  CHECK(done == 1);
  OK(zyx_executor_read_output(executor, 0, y, sizeof(y)));
  CHECK(y[0] == 13 && y[1] == 25 && y[2] == 37 && y[3] == 49);
  zyx_event_release(first);
  zyx_event_release(second);
  zyx_event_release(gate);

  /* What waits for a failure fails with it, and what waits for an event that is released, too. */
  OK(zyx_event_create(&gate));
  wait[0] = gate;
  OK(zyx_executor_submit(executor, wait, 1, &first));
  OK(zyx_event_signal(gate, ZYX_IO_ERROR, "the wire is cut"));
  FAILS(zyx_event_wait(first, UINT64_MAX), ZYX_ABORTED, "caused by: I/O error: the wire is cut");
  zyx_event_release(first);
  zyx_event_release(gate);
  OK(zyx_event_create(&gate));
  wait[0] = gate;
  OK(zyx_executor_submit(executor, wait, 1, &first));
  zyx_event_release(gate);
  FAILS(zyx_event_wait(first, UINT64_MAX), ZYX_ABORTED, "cancelled: an event was released before it was signalled");
  zyx_event_release(first);
  /* Later runs have nothing to do with that; nobody has to take the event. */
  OK(zyx_executor_submit(executor, NULL, 0, NULL));
  OK(zyx_executor_read_output(executor, 0, y, sizeof(y)));
  CHECK(y[3] == 49);
  OK(zyx_device_get_statistics(device, &after));
  CHECK(after.executors_alive == before.executors_alive + 1 && after.executors_loaded == before.executors_loaded + 1);
  CHECK(after.runs == before.runs + 5 && after.submitted_runs == before.submitted_runs + 5);
  CHECK(after.launches == before.launches + 15 && after.pool_bytes > before.pool_bytes);
  zyx_executor_release(executor);
  OK(zyx_device_get_statistics(device, &after));
  CHECK(after.executors_alive == before.executors_alive && after.pool_bytes == before.pool_bytes);
}

static struct {
  int commands, launches;
} traced;

static void takeRecord(void *context, const zyx_trace_record *record) {
  CHECK(context == &traced && record->struct_size == sizeof(*record));
  ++traced.commands;
  traced.launches += strcmp(record->name, "affine") == 0 || strcmp(record->name, "sum") == 0;
}

static void testTrace(zyx_device *device, const char *path) {
  zyx_executor *executor = NULL;
  zyx_event *event = NULL;
  float x[4] = {1, 2, 3, 4};
  int done = 0;
  OK(zyx_executor_load_file(device, path, &executor));
  FAILS(zyx_executor_set_trace(NULL, takeRecord, &traced), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  OK(zyx_executor_set_trace(executor, takeRecord, &traced));
  FAILS(zyx_executor_run(executor), ZYX_INVALID_ARGUMENT, "input 'x' is not set");
  OK(zyx_executor_set_input(executor, 0, x, sizeof(x)));
  OK(zyx_executor_run(executor));
  CHECK(traced.commands == 5 && traced.launches == 3);
  OK(zyx_executor_submit(executor, NULL, 0, &event));
  CHECK(traced.commands == 10);
  OK(zyx_event_poll(event, &done));
  CHECK(done == 1);
  zyx_event_release(event);
  OK(zyx_executor_set_trace(executor, NULL, NULL));
  OK(zyx_executor_run(executor));
  CHECK(traced.commands == 10);
  zyx_executor_release(executor);
}

static void testBuffers(zyx_device *device, const char *path) {
  zyx_executor *executor = NULL, *next = NULL;
  zyx_buffer *x = NULL, *y = NULL, *copy = NULL, *small = NULL;
  zyx_buffer_info info;
  zyx_event *gate = NULL, *event = NULL;
  const zyx_event *wait[1];
  zyx_statistics statistics;
  float given[4] = {1, 2, 3, 4}, taken[4] = {0};
  int done = 1;
  FAILS(zyx_buffer_allocate(NULL, 16, &x), ZYX_INVALID_ARGUMENT, "'device' is NULL");
  FAILS(zyx_buffer_allocate(device, 16, NULL), ZYX_INVALID_ARGUMENT, "'buffer' is NULL");
  zyx_buffer_release(NULL);
  OK(zyx_buffer_allocate(device, 16, &x));
  OK(zyx_buffer_allocate(device, 16, &y));
  OK(zyx_buffer_allocate(device, 16, &copy));
  OK(zyx_buffer_allocate(device, 8, &small));
  memset(&info, 0, sizeof(info));
  FAILS(zyx_buffer_get_info(x, &info), ZYX_INVALID_ARGUMENT, "struct_size");
  info.struct_size = sizeof(info);
  FAILS(zyx_buffer_get_info(NULL, &info), ZYX_INVALID_ARGUMENT, "'buffer' is NULL");
  OK(zyx_buffer_get_info(x, &info));
  CHECK(info.size == 16 && info.is_host && info.address % 64 == 0);
  FAILS(zyx_buffer_write(x, given, 15), ZYX_INVALID_ARGUMENT, "the buffer has 16 bytes, not 15");
  FAILS(zyx_buffer_write(x, NULL, 16), ZYX_INVALID_ARGUMENT, "'data' is NULL");
  FAILS(zyx_buffer_write(NULL, given, 16), ZYX_INVALID_ARGUMENT, "'buffer' is NULL");
  OK(zyx_buffer_write(x, given, sizeof(given)));
  FAILS(zyx_buffer_read(x, 8, taken, 16), ZYX_INVALID_ARGUMENT, "bytes 8 to 24 of a buffer of 16 are read");
  FAILS(zyx_buffer_read(NULL, 0, taken, 16), ZYX_INVALID_ARGUMENT, "'buffer' is NULL");
  OK(zyx_buffer_read(x, 4, taken, 8));
  CHECK(taken[0] == 2 && taken[1] == 3);

  OK(zyx_executor_load_file(device, path, &executor));
  OK(zyx_executor_load_file(device, path, &next));
  FAILS(zyx_executor_bind_input(NULL, 0, x), ZYX_INVALID_ARGUMENT, "'executor' is NULL");
  FAILS(zyx_executor_bind_input(executor, 0, NULL), ZYX_INVALID_ARGUMENT, "'buffer' is NULL");
  FAILS(zyx_executor_bind_input(executor, 0, small), ZYX_INVALID_ARGUMENT, "were given");
  FAILS(zyx_executor_bind_output(executor, 9, y), ZYX_INVALID_ARGUMENT, "does not exist");
  /* Two programs, a copy and the host one behind the other, by the buffers alone. */
  OK(zyx_executor_bind_input(executor, 0, x));
  OK(zyx_executor_bind_output(executor, 0, y));
  OK(zyx_executor_bind_input(next, 0, y));
  OK(zyx_event_create(&gate));
  wait[0] = gate;
  OK(zyx_executor_submit(executor, wait, 1, NULL));
  OK(zyx_executor_submit(next, NULL, 0, NULL));
  FAILS(zyx_buffer_copy(copy, small, &event), ZYX_INVALID_ARGUMENT, "bytes, not");
  FAILS(zyx_buffer_copy(NULL, y, &event), ZYX_INVALID_ARGUMENT, "'to' is NULL");
  FAILS(zyx_buffer_copy(copy, NULL, &event), ZYX_INVALID_ARGUMENT, "'from' is NULL");
  CHECK(event == NULL);
  OK(zyx_buffer_copy(copy, y, &event));
  OK(zyx_event_poll(event, &done));
  CHECK(done == 0);
  OK(zyx_event_signal(gate, ZYX_OK, NULL));
  OK(zyx_event_wait(event, UINT64_MAX));
  OK(zyx_buffer_read(copy, 0, taken, sizeof(taken)));
  CHECK(taken[0] == 13 && taken[3] == 49);
  OK(zyx_executor_read_output(next, 0, taken, sizeof(taken)));
  CHECK(taken[0] == 37 && taken[3] == 139);
  zyx_event_release(event);
  OK(zyx_buffer_copy(copy, copy, &event));
  OK(zyx_event_wait(event, UINT64_MAX));
  zyx_event_release(event);
  OK(zyx_buffer_copy(copy, x, NULL));
  OK(zyx_buffer_read(copy, 0, taken, sizeof(taken)));
  CHECK(taken[0] == 1 && taken[3] == 4);
  /* What is bound stays. */
  zyx_buffer_release(x);
  zyx_buffer_release(y);
  OK(zyx_executor_run(executor));
  statistics.struct_size = sizeof(statistics);
  OK(zyx_device_get_statistics(device, &statistics));
  CHECK(statistics.buffers_allocated >= 4);
  zyx_executor_release(executor);
  zyx_executor_release(next);
  zyx_buffer_release(copy);
  zyx_buffer_release(small);
  zyx_event_release(gate);
}

/* The layout of dlpack.h 1.0. */
struct Tensor {
  void *data;
  int32_t device, number, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t offset;
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct DLManagedTensorVersioned *tensor);
  uint64_t flags;
  struct Tensor tensor;
};
struct DLManagedTensor {
  struct Tensor tensor;
  void *context;
  void (*deleter)(struct DLManagedTensor *tensor);
};

static void countDeleted(struct DLManagedTensorVersioned *tensor) { ++*(int *)tensor->context; }
static void countDeletedOld(struct DLManagedTensor *tensor) { ++*(int *)tensor->context; }

static void testDLPack(zyx_device *device, const char *path) {
  zyx_executor *executor = NULL;
  zyx_buffer *x = NULL, *y = NULL;
  zyx_tensor_info info;
  zyx_event *event = NULL;
  struct DLManagedTensorVersioned tensor, *given = NULL;
  struct DLManagedTensor old, *givenOld = NULL;
  void *stream = &failures;
  float values[4] = {1, 2, 3, 4}, taken[4] = {0};
  int64_t shape[1] = {4}, wrong[2] = {2, -2};
  int deleted = 0;
  memset(&tensor, 0, sizeof(tensor));
  memset(&old, 0, sizeof(old));
  memset(&info, 0, sizeof(info));
  tensor.major = 1;
  tensor.context = &deleted;
  tensor.deleter = countDeleted;
  tensor.flags = 1;
  tensor.tensor.data = values;
  tensor.tensor.device = 1;
  tensor.tensor.rank = 1;
  tensor.tensor.code = 2;
  tensor.tensor.bits = 32;
  tensor.tensor.lanes = 1;
  tensor.tensor.shape = shape;
  old.tensor = tensor.tensor;
  old.context = &deleted;
  old.deleter = countDeletedOld;
  OK(zyx_device_get_stream(device, &stream));
  CHECK(stream == NULL);
  FAILS(zyx_device_get_stream(NULL, &stream), ZYX_INVALID_ARGUMENT, "'device' is NULL");
  FAILS(zyx_device_get_stream(device, NULL), ZYX_INVALID_ARGUMENT, "'stream' is NULL");
  FAILS(zyx_buffer_from_dlpack(NULL, &tensor, NULL, &x), ZYX_INVALID_ARGUMENT, "'device' is NULL");
  FAILS(zyx_buffer_from_dlpack(device, NULL, NULL, &x), ZYX_INVALID_ARGUMENT, "'tensor' is NULL");
  FAILS(zyx_buffer_from_dlpack(device, &tensor, NULL, NULL), ZYX_INVALID_ARGUMENT, "'buffer' is NULL");
  FAILS(zyx_buffer_from_dlpack(device, &tensor, &info, &x), ZYX_INVALID_ARGUMENT, "struct_size of 'info'");
  tensor.tensor.bits = 33;
  FAILS(zyx_buffer_from_dlpack(device, &tensor, NULL, &x), ZYX_UNSUPPORTED, "zyx has no dtype of DLPack's code 2");
  tensor.tensor.bits = 32;
  CHECK(x == NULL && deleted == 0);
  info.struct_size = sizeof(info);
  OK(zyx_buffer_from_dlpack(device, &tensor, &info, &x));
  CHECK(info.dtype == ZYX_F32 && info.rank == 1 && info.dims[0] == 4 && info.bytes == 16 && *info.name == 0);

  /* A program reads it where it lies. It is no output, since it is read-only. */
  OK(zyx_executor_load_file(device, path, &executor));
  OK(zyx_executor_bind_input(executor, 0, x));
  FAILS(zyx_executor_bind_output(executor, 0, x), ZYX_INVALID_ARGUMENT,
        "the buffer is another library's tensor, which is read-only");
  FAILS(zyx_buffer_write(x, values, sizeof(values)), ZYX_INVALID_ARGUMENT, "read-only");
  FAILS(zyx_buffer_copy(x, x, NULL), ZYX_INVALID_ARGUMENT, "read-only");
  FAILS(zyx_buffer_to_dlpack(x, ZYX_F32, 1, shape, &given), ZYX_INVALID_ARGUMENT, "read-only");
  OK(zyx_buffer_allocate(device, sizeof(values), &y));
  OK(zyx_executor_bind_output(executor, 0, y));
  OK(zyx_executor_submit(executor, NULL, 0, NULL));
  FAILS(zyx_buffer_to_dlpack(y, (zyx_dtype)99, 1, shape, &given), ZYX_INVALID_ARGUMENT, "there is no dtype 99");
  FAILS(zyx_buffer_to_dlpack(y, ZYX_F64, 1, shape, &given), ZYX_INVALID_ARGUMENT, "a buffer of 16 bytes is no f64[4]");
  FAILS(zyx_buffer_to_dlpack(y, ZYX_F32, 2, wrong, &given), ZYX_INVALID_ARGUMENT, "an extent is -2");
  FAILS(zyx_buffer_to_dlpack(y, ZYX_F32, 1, NULL, &given), ZYX_INVALID_ARGUMENT, "'dims' is NULL");
  FAILS(zyx_buffer_to_dlpack(NULL, ZYX_F32, 1, shape, &given), ZYX_INVALID_ARGUMENT, "'buffer' is NULL");
  FAILS(zyx_buffer_to_dlpack(y, ZYX_F32, 1, shape, NULL), ZYX_INVALID_ARGUMENT, "'tensor' is NULL");
  CHECK(given == NULL);
  OK(zyx_buffer_to_dlpack(y, ZYX_F32, 1, shape, &given));
  OK(zyx_buffer_to_old_dlpack(y, ZYX_F32, 1, shape, &givenOld));
  OK(zyx_buffer_copy(y, x, &event));
  OK(zyx_event_wait(event, UINT64_MAX));
  zyx_event_release(event);
  CHECK(given && givenOld && given->tensor.data == givenOld->tensor.data);
  memcpy(taken, given->tensor.data, sizeof(taken));
  CHECK(taken[3] == 4);
  OK(zyx_executor_run(executor));
  zyx_buffer_release(x);
  CHECK(deleted == 0);
  zyx_executor_release(executor);
  CHECK(deleted == 1);
  zyx_buffer_release(y);
  memcpy(taken, given->tensor.data, sizeof(taken));
  CHECK(taken[0] == 13 && taken[3] == 49);
  givenOld->deleter(givenOld);
  given->deleter(given);
  OK(zyx_buffer_from_old_dlpack(device, &old, NULL, &x));
  zyx_buffer_release(x);
  CHECK(deleted == 2);
}

static char *readAll(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(1 << 20);
  if (!file || !bytes) {
    printf("cannot read %s\n", path);
    exit(2);
  }
  *size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

/* Run with little address space: the stacks of the threads do not fit. */
static int testExhaustion(void) {
  zyx_device *device = NULL;
  zyx_device_options options;
  size_t size;
  /* So that the compiler keeps the calls. */
  static void *volatile sink;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.threads = 1000;
  options.oversubscribe = 1;
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_OUT_OF_MEMORY, "cannot start a thread: ");
  /* All that is left is taken. */
  options.threads = 1;
  for (size = (size_t)1 << 26; size >= 16; size /= 2)
    while ((sink = malloc(size)) != NULL)
      ;
  FAILS(zyx_device_create("cpu", &options, &device), ZYX_OUT_OF_MEMORY,
        "out of memory: the host has no memory or threads left");
  CHECK(device == NULL);
  return failures != 0;
}

/* The program of an artifact that an earlier version wrote. */
static int testRun(const char *path) {
  zyx_device *device = NULL;
  zyx_executor *executor = NULL;
  OK(zyx_device_create("cpu", NULL, &device));
  OK(zyx_executor_load_file(device, path, &executor));
  if (executor)
    testRunning(executor);
  zyx_executor_release(executor);
  zyx_device_release(device);
  return failures != 0;
}

int main(int argc, char **argv) {
  zyx_device *device = NULL;
  zyx_executor *executor = NULL;
  zyx_device_options options;
  size_t size = 0;
  char *bytes;
  if (argc == 3 && strcmp(argv[1], "--only-run") == 0)
    return testRun(argv[2]);
  if (argc != 2)
    return 2;
  if (strcmp(argv[1], "--exhaust") == 0)
    return testExhaustion();
  bytes = readAll(argv[1], &size);
  testErrors();
  testPool(argv[1]);
  testFacts();
  testAllocator(argv[1]);
  testEvents();
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.threads = 2;
  OK(zyx_device_create("cpu", &options, &device));
  testLoading(device, argv[1], bytes, size);
  OK(zyx_executor_load_file(device, argv[1], &executor));
  testSubmit(device, argv[1]);
  testTrace(device, argv[1]);
  testBuffers(device, argv[1]);
  testDLPack(device, argv[1]);
  /* The executor keeps it alive. */
  zyx_device_release(device);
  testQueries(executor);
  testRunning(executor);
  zyx_executor_release(executor);

  options.memory_limit = 100;
  OK(zyx_device_create("c", &options, &device));
  FAILS(zyx_executor_load_file(device, argv[1], &executor), ZYX_OUT_OF_MEMORY, "cannot give 128 more");
  zyx_device_release(device);
  free(bytes);
  testLog(argv[1]);
  printf(failures ? "%d failures\n" : "ok\n", failures);
  return failures != 0;
}
