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

/* Of this header: grows by one when functions or members are added. A library has all that headers of its own
 * version and of every earlier one declare: zyx_api_version() is at least this number. Version 1 had neither. */
#define ZYX_C_API_VERSION 4

typedef struct zyx_error zyx_error;
typedef struct zyx_device zyx_device;
typedef struct zyx_device_list zyx_device_list;
typedef struct zyx_executor zyx_executor;
typedef struct zyx_buffer zyx_buffer;
typedef struct zyx_event zyx_event;

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

/* The version of the library, as "1.2.3", and that of its interface: ZYX_C_API_VERSION of its own header. */
ZYX_C_API const char *zyx_version(void);
ZYX_C_API uint32_t zyx_api_version(void);

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

/* Where the memory of a host device comes from. Both functions are called on any thread, several at once. */
typedef struct zyx_allocator {
  size_t struct_size;
  void *context;
  /* `bytes` (at least 1) at a multiple of `alignment`, a power of two; NULL where there are none. */
  void *(*allocate)(void *context, size_t bytes, size_t alignment);
  /* What allocate() gave for so many bytes. */
  void (*deallocate)(void *context, void *data, size_t bytes);
  /* Called once, when the device that was made with it and all that lies in its memory are gone; may be NULL. */
  void (*release)(void *context);
} zyx_allocator;

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
  /* Of version 2. NULL = the system's. Devices whose memory is not the host's refuse one (ZYX_UNSUPPORTED). The struct
   * is copied. memory_limit holds with it, too. */
  const zyx_allocator *allocator;
} zyx_device_options;

/* `name` is "cpu", "c", "cuda" or "cuda:N". "" is the fastest device that is present, by its facts: the one with the
 * most processors * lanes * megahertz, of equals the first of zyx_device_list; "cpu" where no other is present.
 * `options` may be NULL. */
ZYX_C_API zyx_error *zyx_device_create(const char *name, const zyx_device_options *options, zyx_device **device);
/* Executors and buffers keep their device alive. */
ZYX_C_API void zyx_device_release(zyx_device *device);

#define ZYX_UNKNOWN_BYTES UINT64_MAX

/* What a device is. A number is 0, and a text "", where the device does not tell. Texts live as long as the list or the
 * device that was asked. */
typedef struct zyx_device_facts {
  size_t struct_size;
  const char *name;
  /* Unless 0, it can be created; else `description` says why not, and nothing else is known. */
  int present;
  const char *description;
  /* The record of targets that code for it is compiled with: "cpu", "sm_90a"; the machine behind it, as a key of what
   * was measured there; "x86-64", "aarch64", or a card's compute capability as "sm_90". */
  const char *target;
  const char *identity;
  const char *architecture;
  /* Processors or multiprocessors, elements of f32 that an instruction of each takes, and the highest clock. */
  uint32_t processors;
  uint32_t lanes;
  uint32_t megahertz;
  /* Threads of a workgroup and of a subgroup, bytes of a workgroup's shared memory, at most. */
  uint32_t workgroup_threads;
  uint32_t subgroup_threads;
  uint64_t shared_bytes;
  /* In all, and what nobody uses now: ZYX_UNKNOWN_BYTES of a card that is not open. */
  uint64_t memory_bytes;
  uint64_t free_bytes;
  /* Buffers of programs are aligned to multiples of it. */
  uint64_t alignment;
  /* A bit for each type that programs may have: 1 << ZYX_F32. */
  uint32_t dtypes;
} zyx_device_facts;

/* Of version 3. Loads a shared library that gives devices (zyx-c/Backend.h), whose names zyx_device_create and
 * zyx_device_list_create know from then on. It is never unloaded. A path that is loaded already is success. One of
 * another ABI version is ZYX_UNSUPPORTED. Those of the variable ZYX_BACKENDS (paths with commas between them) are
 * loaded when devices are first asked for. */
ZYX_C_API zyx_error *zyx_load_backend(const char *path);
/* Of version 3. The same of a table that the program has itself and keeps. */
struct zyx_backend_v1;
ZYX_C_API zyx_error *zyx_register_backend(const struct zyx_backend_v1 *table);

/* All devices that are known, present or not. Opens none. */
ZYX_C_API zyx_error *zyx_device_list_create(zyx_device_list **list);
ZYX_C_API size_t zyx_device_list_size(const zyx_device_list *list);
ZYX_C_API zyx_error *zyx_device_list_get(const zyx_device_list *list, size_t index, zyx_device_facts *facts);
ZYX_C_API void zyx_device_list_release(zyx_device_list *list);
/* Of an open device, with the memory that is free now. */
ZYX_C_API zyx_error *zyx_device_get_facts(zyx_device *device, zyx_device_facts *facts);

/* What a device has done since it was created, and what its pool holds. */
typedef struct zyx_statistics {
  size_t struct_size;
  /* Executors that were loaded, and those of them that are not yet released. */
  uint64_t executors_loaded;
  uint64_t executors_alive;
  /* Runs that were begun, submitted ones among them, and the launches of kernels in these. */
  uint64_t runs;
  uint64_t submitted_runs;
  uint64_t launches;
  /* Buffers that zyx_buffer_allocate has made. */
  uint64_t buffers_allocated;
  /* Bytes of the pool: the most that may be in use, in use now, and at the highest. */
  uint64_t pool_limit;
  uint64_t pool_bytes;
  uint64_t pool_high_water;
} zyx_statistics;
ZYX_C_API zyx_error *zyx_device_get_statistics(const zyx_device *device, zyx_statistics *statistics);

/* Takes the lines of the log, instead of the standard error: `topic` is "runtime", `text` is without an end of the
 * line. One call at a time, on any thread; it may call other functions than zyx_set_log. */
typedef void (*zyx_log_callback)(void *context, const char *topic, const char *text);
/* `topics`, as "runtime,memory", are written from now on, also by devices that there are already; nothing is ever
 * switched off, and ZYX_DEBUG adds its own. NULL is none. `callback` takes the place of the one before; NULL is the
 * standard error. Behind this call the one before is called no more. Of this library; libZyxCompiler.so has a log of
 * its own. ZYX_INVALID_ARGUMENT for a topic that there is not. */
ZYX_C_API zyx_error *zyx_set_log(const char *topics, zyx_log_callback callback, void *context);

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

/* Copies an input; `size` is that of the tensor. On GPUs and plug-ins one of at most 8 bytes waits for no run in
 * flight, which keeps its own value. */
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

/* Events: a piece of work that ends once, in success or in failure. */

/* NULL waits for nothing and counts as done. */
ZYX_C_API void zyx_event_release(zyx_event *event);
/* Returns when the event is over, with its failure where it failed; ZYX_TIMEOUT after so many nanoseconds, which
 * changes nothing. UINT64_MAX waits as long as it takes. */
ZYX_C_API zyx_error *zyx_event_wait(const zyx_event *event, uint64_t nanoseconds);
/* Does not wait. *done is 1 where the event is over; an event that failed says its failure, and is done. */
ZYX_C_API zyx_error *zyx_event_poll(const zyx_event *event, int *done);
/* An event of the caller's own, for work of others that runs should wait for. It is over when it is signalled; where it
 * is released before, it has failed with ZYX_CANCELLED. */
ZYX_C_API zyx_error *zyx_event_create(zyx_event **event);
/* `code` is ZYX_OK for success; else the event fails with this code and this message, which may be NULL. An event that
 * is over, and one that zyx made, are ZYX_INVALID_ARGUMENT. */
ZYX_C_API zyx_error *zyx_event_signal(zyx_event *event, zyx_error_code code, const char *message);

/* Hands a run to the device and returns. It begins when the `num_wait` events of `wait` have succeeded (where one
 * fails, so does the run, with ZYX_ABORTED and that cause), and behind earlier runs and all others that use the memory
 * which is bound. The event is over when the outputs are there; `event` may be NULL. What is bound may be bound anew,
 * and inputs be set, at once: these wait for the run where they must. Releasing the executor waits for it, too. */
ZYX_C_API zyx_error *zyx_executor_submit(zyx_executor *executor, const zyx_event *const *wait, size_t num_wait,
                                         zyx_event **event);

/* Of version 4: streams of the host program's own, as the driver of the executor's device knows them (a CUstream, a
 * hipStream_t) and of its context. A stream stays the caller's, who may destroy it when the call is over. Devices
 * without such streams are ZYX_UNSUPPORTED; what the driver does not know is an error with its own words.
 *
 * As zyx_executor_submit, and behind all that the stream has when it is called. The host does not wait for that. */
ZYX_C_API zyx_error *zyx_executor_submit_behind(zyx_executor *executor, void *stream, const zyx_event *const *wait,
                                                size_t num_wait, zyx_event **event);
/* The same, and what is put on the stream later is behind the run, as if it ran there. Returns when the run was handed
 * to the driver: behind the events of `wait` and earlier runs of the device, and where a loop's count is data, behind
 * what the count is made of. Where the run fails, its event says so. */
ZYX_C_API zyx_error *zyx_executor_submit_on(zyx_executor *executor, void *stream, const zyx_event *const *wait,
                                            size_t num_wait, zyx_event **event);
/* Has the stream wait for an event: what is put there later is behind it. Returns when the work of the event was handed
 * to a driver, or, where the stream cannot wait for that one, when it is over; with the failure of an event that has
 * failed. */
ZYX_C_API zyx_error *zyx_device_stream_wait(zyx_device *device, void *stream, const zyx_event *event);

/* A command of a run. */
typedef struct zyx_trace_record {
  size_t struct_size;
  /* The kernel's name, "copy", "fill" or "loop"; lives as long as the call. */
  const char *name;
  /* What it took on the device, in all passes of loops around it; operations and bytes, 0 where not known. */
  uint64_t nanoseconds;
  uint64_t flops;
  uint64_t bytes;
} zyx_trace_record;
typedef void (*zyx_trace_callback)(void *context, const zyx_trace_record *record);
/* Every later run of the executor calls `callback` for each of its commands, in their order, on the thread that runs or
 * submits, before it returns. Commands then run one by one, and a submitted run is over when submit returns: for
 * finding out what takes how long. It may not call functions of the executor. NULL ends it. */
ZYX_C_API zyx_error *zyx_executor_set_trace(zyx_executor *executor, zyx_trace_callback callback, void *context);

/* Memory of a device, of which executors on it, on other devices and the host can be users one behind the other: each
 * waits for those whom it must, and nobody has to say so. Buffers may be used by several threads at once. */

/* Uninitialised. ZYX_OUT_OF_MEMORY where the device's pool has no more. */
ZYX_C_API zyx_error *zyx_buffer_allocate(zyx_device *device, size_t size, zyx_buffer **buffer);
/* Runs in flight and executors that it is bound to keep its memory. */
ZYX_C_API void zyx_buffer_release(zyx_buffer *buffer);

typedef struct zyx_buffer_info {
  size_t struct_size;
  size_t size;
  /* The address on the device: of the host's memory, or as CUDA's CUdeviceptr. Who uses it by other means waits for the
   * runs that use it. */
  uint64_t address;
  /* Unless 0, the host can read and write there. */
  int is_host;
} zyx_buffer_info;
ZYX_C_API zyx_error *zyx_buffer_get_info(const zyx_buffer *buffer, zyx_buffer_info *info);

/* Copies all of it; `size` is that of the buffer. Returns when it is done. */
ZYX_C_API zyx_error *zyx_buffer_write(zyx_buffer *buffer, const void *data, size_t size);
/* Copies `size` bytes from `offset` on. */
ZYX_C_API zyx_error *zyx_buffer_read(const zyx_buffer *buffer, size_t offset, void *data, size_t size);
/* Copies between buffers of one size, of one device or of two. With `event` it is handed to the device of `to`, and the
 * event is over when it is done; without one it returns then. */
ZYX_C_API zyx_error *zyx_buffer_copy(zyx_buffer *to, const zyx_buffer *from, zyx_event **event);

/* The buffer is of the executor's device, or both are the host's, and has the size of the tensor. It stays bound until
 * another is given. Nothing is copied. An input of at most 8 bytes may be the host's for GPUs and plug-ins, too: each
 * run takes its value along. */
ZYX_C_API zyx_error *zyx_executor_bind_input(zyx_executor *executor, size_t index, zyx_buffer *buffer);
ZYX_C_API zyx_error *zyx_executor_bind_output(zyx_executor *executor, size_t index, zyx_buffer *buffer);

/* Tensors that go from one library to another without a copy. The structs are those of dlpack.h, of version 1 and (old)
 * from before there were versions; whoever uses their members includes that header. */
struct DLManagedTensorVersioned;
struct DLManagedTensor;

/* A buffer that has the tensor's memory, and calls its deleter when it is released and no run uses it any more. The
 * tensor is dense and row-major, of a dtype that there is, and lies on the device: in the CPU's memory, or memory of
 * the host that CUDA has pinned, for host devices; on the card of its number for "cuda". One that is read-only is no
 * output, and is not written. A call that fails has not taken the tensor. `info` may be NULL; its texts and dims live
 * as long as the buffer. What the tensor holds is there before the call, or, on a card, is behind what
 * zyx_device_get_stream's stream has when it is called. */
ZYX_C_API zyx_error *zyx_buffer_from_dlpack(zyx_device *device, struct DLManagedTensorVersioned *tensor,
                                            zyx_tensor_info *info, zyx_buffer **buffer);
ZYX_C_API zyx_error *zyx_buffer_from_old_dlpack(zyx_device *device, struct DLManagedTensor *tensor,
                                                zyx_tensor_info *info, zyx_buffer **buffer);
/* A tensor that shares the buffer's memory and keeps it until its deleter is called. Waits for the runs that write it,
 * so that every stream may read it. Runs that are begun later know nothing of the other library: the caller orders
 * them. The type has the size of the buffer. */
ZYX_C_API zyx_error *zyx_buffer_to_dlpack(zyx_buffer *buffer, zyx_dtype dtype, size_t rank, const int64_t *dims,
                                          struct DLManagedTensorVersioned **tensor);
ZYX_C_API zyx_error *zyx_buffer_to_old_dlpack(zyx_buffer *buffer, zyx_dtype dtype, size_t rank, const int64_t *dims,
                                              struct DLManagedTensor **tensor);
/* The stream that orders all work of a card, a CUstream; NULL for devices without one. Another library's work that is
 * put there, or for which it waits (cuStreamWaitEvent), is behind what was handed over before and in front of what is
 * handed over later. Copies go on beside runs until it is asked for, and are on it from then on. */
ZYX_C_API zyx_error *zyx_device_get_stream(zyx_device *device, void **stream);

#ifdef __cplusplus
}
#endif

#endif /* ZYX_C_RUNTIME_H */
