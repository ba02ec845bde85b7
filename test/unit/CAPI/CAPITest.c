/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/
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
  FAILS(zyx_device_create("hip", NULL, &device), ZYX_UNSUPPORTED, "no HIP device");
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

int main(int argc, char **argv) {
  zyx_device *device = NULL;
  zyx_executor *executor = NULL;
  zyx_device_options options;
  size_t size = 0;
  char *bytes;
  if (argc != 2)
    return 2;
  if (strcmp(argv[1], "--exhaust") == 0)
    return testExhaustion();
  bytes = readAll(argv[1], &size);
  testErrors();
  testPool(argv[1]);
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.threads = 2;
  OK(zyx_device_create("cpu", &options, &device));
  testLoading(device, argv[1], bytes, size);
  OK(zyx_executor_load_file(device, argv[1], &executor));
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
  printf(failures ? "%d failures\n" : "ok\n", failures);
  return failures != 0;
}
