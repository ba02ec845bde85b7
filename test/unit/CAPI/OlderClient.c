/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/

/* A client that was compiled with first/zyx-c/Runtime.h, the header of version 1, and runs with the library of today.
 * Every struct ends where version 1 ended; behind it lie words that the library may neither read nor write. */

#include "zyx-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ZYX_C_API_VERSION
#error "this is not the header of version 1"
#endif

static int failures = 0;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                           \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

static void ok(zyx_error *error, int line) {
  if (error) {
    printf("line %d: %s\n", line, zyx_error_get_message(error));
    ++failures;
  }
  zyx_error_release(error);
}
#define OK(call) ok(call, __LINE__)

enum { numWords = 16 };
static const uint64_t word = 0x5a5a5a5a5a5a5a5aull;
/* A pointer that leads nowhere, if it were taken for one. */
static void fence(uint64_t *words) {
  int i;
  for (i = 0; i < numWords; ++i)
    words[i] = word;
}
static int isWhole(const uint64_t *words) {
  int i;
  for (i = 0; i < numWords; ++i)
    if (words[i] != word)
      return 0;
  return 1;
}

static int released = 0;
static void release(void *context) { ++*(int *)context; }
static void run(void *context, uint32_t calls, void (*body)(void *argument, uint32_t index), void *argument) {
  uint32_t i;
  (void)context;
  for (i = 0; i < calls; ++i)
    body(argument, i);
}

int main(int argc, char **argv) {
  struct {
    zyx_thread_pool own;
    uint64_t behind[numWords];
  } pool;
  struct {
    zyx_device_options own;
    uint64_t behind[numWords];
  } options;
  struct {
    zyx_executor_info own;
    uint64_t behind[numWords];
  } info;
  struct {
    zyx_tensor_info own;
    uint64_t behind[numWords];
  } tensor;
  struct {
    zyx_measurement own;
    uint64_t behind[numWords];
  } measurement;
  zyx_device *device = NULL;
  zyx_executor *executor = NULL;
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
  if (argc != 2)
    return 2;
  fence(pool.behind);
  fence(options.behind);
  fence(info.behind);
  fence(tensor.behind);
  fence(measurement.behind);

  pool.own.struct_size = sizeof(pool.own);
  pool.own.context = &released;
  pool.own.threads = 2;
  pool.own.run = run;
  pool.own.release = release;
  memset(&options.own, 0, sizeof(options.own));
  options.own.struct_size = sizeof(options.own);
  options.own.memory_limit = 1 << 20;
  options.own.thread_pool = &pool.own;
  OK(zyx_device_create("cpu", &options.own, &device));
  OK(zyx_executor_load_file(device, argv[1], &executor));

  info.own.struct_size = sizeof(info.own);
  OK(zyx_executor_get_info(executor, &info.own));
  CHECK(info.own.struct_size == sizeof(info.own) && info.own.num_inputs == 1 && info.own.num_outputs == 3);
  CHECK(info.own.pool_high_water >= info.own.pool_bytes);
  tensor.own.struct_size = sizeof(tensor.own);
  OK(zyx_executor_get_input(executor, 0, &tensor.own));
  CHECK(tensor.own.struct_size == sizeof(tensor.own) && tensor.own.bytes == sizeof(x));

  OK(zyx_executor_set_input(executor, 0, x, sizeof(x)));
  measurement.own.struct_size = sizeof(measurement.own);
  OK(zyx_executor_measure(executor, 1, &measurement.own));
  CHECK(measurement.own.device_nanoseconds > 0);
  OK(zyx_executor_run(executor));
  OK(zyx_executor_read_output(executor, 0, y, sizeof(y)));
  CHECK(y[0] == 13 && y[1] == 25 && y[2] == 37 && y[3] == 49);
  zyx_executor_release(executor);
  zyx_device_release(device);
  CHECK(released == 1);
  CHECK(isWhole(pool.behind) && isWhole(options.behind) && isWhole(info.behind) && isWhole(tensor.behind) &&
        isWhole(measurement.behind));
  printf(failures ? "%d failures\n" : "ok\n", failures);
  return failures != 0;
}
