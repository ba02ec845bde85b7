/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/
#ifndef ZYX_C_RUNTIME_H
#define ZYX_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/* Runs compiled programs from C: libZyxRuntime.so, without any compiler.
 *
 * Functions that can fail return a zyx_error, which the caller releases; NULL is success. A failed
 * call changes nothing, and results that are written through pointers are set to NULL or 0. Every
 * misuse that can be seen (NULL, a wrong size, an index out of range) is an error, not a crash.
 *
 * Structs start with `struct_size`, which the caller sets to sizeof the struct: members are only
 * ever added at the end, and those beyond the size that is given are not touched. Every size since
 * the first published one is accepted.
 *
 * Objects may be used by several threads at once, of one device or of several; an executor by one
 * thread at a time: a call while another thread is in one is ZYX_ABORTED. In a process that was
 * forked since, calls are ZYX_UNSUPPORTED. Where memory ends they are ZYX_OUT_OF_MEMORY, and what a
 * host program's function throws is ZYX_INTERNAL. */

#if defined(__GNUC__)
#define ZYX_C_API __attribute__((visibility("default")))
#else
#define ZYX_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zyx_error zyx_error;
typedef struct zyx_device zyx_device;
typedef struct zyx_executor zyx_executor;

typedef enum zyx_error_code {
  ZYX_OK = 0,
  ZYX_INVALID_ARGUMENT = 1,
  ZYX_UNSUPPORTED = 2,
  ZYX_NOT_FOUND = 3,
  ZYX_OUT_OF_MEMORY = 4,
  ZYX_DEVICE_LOST = 5,
  ZYX_COMPILE_FAILED = 6,
  ZYX_DATA_CORRUPTION = 7,
  ZYX_IO_ERROR = 8,
  ZYX_TIMEOUT = 9,
  ZYX_CANCELLED = 10,
  ZYX_ABORTED = 11,
  ZYX_INTERNAL = 12
} zyx_error_code;

typedef enum zyx_dtype {
  ZYX_BOOL = 0, /* one byte, 0 or 1 */
  ZYX_I8 = 1,
  ZYX_I16 = 2,
  ZYX_I32 = 3,
  ZYX_I64 = 4,
  ZYX_U8 = 5,
  ZYX_U16 = 6,
  ZYX_U32 = 7,
  ZYX_U64 = 8,
  ZYX_F16 = 9,
  ZYX_BF16 = 10,
  ZYX_F32 = 11,
  ZYX_F64 = 12,
  ZYX_F8E4M3FN = 13,
  ZYX_F8E5M2 = 14
} zyx_dtype;

/* The version of the library, as "1.2.3". */
ZYX_C_API const char *zyx_version(void);

/* ZYX_OK and "" for NULL. The text lives as long as the error. */
ZYX_C_API zyx_error_code zyx_error_get_code(const zyx_error *error);
ZYX_C_API const char *zyx_error_get_message(const zyx_error *error);
/* Does nothing for NULL, as all releases do. */
ZYX_C_API void zyx_error_release(zyx_error *error);

/* Lends a host program's threads to kernels, instead of threads of the device's own. */
typedef struct zyx_thread_pool {
  size_t struct_size;
  void *context;
  /* Threads that work at once, the caller among them; 1 to 4096. */
  uint32_t threads;
  /* Calls `body(argument, index)` for indices below `calls`, for each at most once, on as many threads
   * at once as it has, the caller's among them; returns when all these calls have. The calls share out
   * the work among themselves, and one of them alone does all of it: where the threads are in use, it
   * may do with the caller's and one call. */
  void (*run)(void *context, uint32_t calls, void (*body)(void *argument, uint32_t index), void *argument);
  /* Called once, when the device that was made with it and its executors are gone; may be NULL. */
  void (*release)(void *context);
} zyx_thread_pool;

typedef struct zyx_device_options {
  size_t struct_size;
  /* Of host devices; 0 = as many as the process may use processors (its affinity mask, and the limits
   * of its control groups), which is also the most. */
  uint32_t threads;
  /* In bytes; 0 = what the process may use: the memory of the machine, or less where its control
   * groups or its address space are limited. */
  uint64_t memory_limit;
  /* NULL = threads of the device's own. The struct is copied. */
  const zyx_thread_pool *thread_pool;
  /* Unless 0, gives `threads` even where that are more than the process may use processors. */
  int oversubscribe;
} zyx_device_options;

/* `name` is "cpu", "c", "cuda" or "cuda:N". `options` may be NULL. */
ZYX_C_API zyx_error *zyx_device_create(const char *name, const zyx_device_options *options, zyx_device **device);
/* Executors keep their device alive. */
ZYX_C_API void zyx_device_release(zyx_device *device);

/* An executor of the artifact in memory, of which nothing is kept, or in a file. */
ZYX_C_API zyx_error *zyx_executor_load_memory(zyx_device *device, const void *bytes, size_t size,
                                              zyx_executor **executor);
ZYX_C_API zyx_error *zyx_executor_load_file(zyx_device *device, const char *path, zyx_executor **executor);
ZYX_C_API void zyx_executor_release(zyx_executor *executor);

/* Texts live as long as the executor. */
typedef struct zyx_executor_info {
  size_t struct_size;
  const char *entry;
  const char *target;
  size_t num_inputs;
  size_t num_outputs;
  size_t num_kernels;
  /* Of a run, without what is computed once of weights. */
  size_t num_launches;
  /* Scratch memory, and constants. */
  uint64_t arena_bytes;
  uint64_t constant_bytes;
  /* In use in the device's pool now, and at the highest. */
  uint64_t pool_bytes;
  uint64_t pool_high_water;
} zyx_executor_info;
ZYX_C_API zyx_error *zyx_executor_get_info(const zyx_executor *executor, zyx_executor_info *info);

/* A dense row-major tensor. `name` and `dims` live as long as the executor. */
typedef struct zyx_tensor_info {
  size_t struct_size;
  const char *name;
  zyx_dtype dtype;
  size_t rank;
  const int64_t *dims;
  size_t bytes;
} zyx_tensor_info;
ZYX_C_API zyx_error *zyx_executor_get_input(const zyx_executor *executor, size_t index, zyx_tensor_info *info);
ZYX_C_API zyx_error *zyx_executor_get_output(const zyx_executor *executor, size_t index, zyx_tensor_info *info);
ZYX_C_API zyx_error *zyx_executor_find_input(const zyx_executor *executor, const char *name, size_t *index);
ZYX_C_API zyx_error *zyx_executor_find_output(const zyx_executor *executor, const char *name, size_t *index);

/* Copies an input; `size` is that of the tensor. */
ZYX_C_API zyx_error *zyx_executor_set_input(zyx_executor *executor, size_t index, const void *data, size_t size);
/* Uses the caller's memory, aligned to the element, until another is given or the executor is
 * released. A run is refused where an output shares memory with an input or another output. Of weights,
 * the inputs that are parameters of the program, some things are computed once and kept: lend the memory
 * anew, or set the input, where a weight has changed. */
ZYX_C_API zyx_error *zyx_executor_borrow_input(zyx_executor *executor, size_t index, const void *data, size_t size);
ZYX_C_API zyx_error *zyx_executor_borrow_output(zyx_executor *executor, size_t index, void *data, size_t size);

/* Returns when the outputs are there. */
ZYX_C_API zyx_error *zyx_executor_run(zyx_executor *executor);

/* The same, with the time that its commands took on the device, one after the other. */
ZYX_C_API zyx_error *zyx_executor_profile(zyx_executor *executor, uint64_t *nanoseconds);

/* What some runs took that were handed over one behind the other: the device from the beginning of the first to the end
 * of the last, and the host until the last was handed over. */
typedef struct zyx_measurement {
  size_t struct_size;
  uint64_t device_nanoseconds;
  uint64_t host_nanoseconds;
} zyx_measurement;

/* Runs once, and then `runs` more without a wait in between. A device that works beside the host begins with these when
 * all are handed over, as far as it takes so many at once: its time has none of the host's. */
ZYX_C_API zyx_error *zyx_executor_measure(zyx_executor *executor, uint32_t runs, zyx_measurement *measurement);

/* Copies an output of the latest run. */
ZYX_C_API zyx_error *zyx_executor_read_output(const zyx_executor *executor, size_t index, void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* ZYX_C_RUNTIME_H */
