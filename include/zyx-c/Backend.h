/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/
#ifndef ZYX_C_BACKEND_H
#define ZYX_C_BACKEND_H

#include <stddef.h>
#include <stdint.h>

/* A device of somebody else's: a shared library (a plug-in) that gives zyx the calls of a driver. docs/plugins.md has a
 * whole one, step by step. This header needs no library of zyx.
 *
 * Version. The library exports zyx_backend(), which returns a zyx_backend_v1. In every version of this interface the
 * table begins with struct_size and abi_version, so that a library of another version is refused, with both numbers.
 * Within a version members are only added, at the end: the library sets struct_size of the table to the sizeof that it
 * was compiled with, zyx takes every size from the first one on, reads what is beyond as NULL or 0, and writes nothing
 * beyond. zyx sets struct_size of the structs that it passes. Functions that are marked "may be NULL" may be left out.
 *
 * Life. The library is never unloaded: the table, the functions and the texts live as long as the process. A
 * `void *device` lives from open() to close(); what it gave out is given back before close(), and events, modules,
 * graphs and memory before the streams.
 *
 * Threads. zyx calls from several threads, several at once, also for one device and for one stream. Between enter() and
 * leave() a thread makes all the calls but the facts; they do not nest.
 *
 * Order. What is handed to a stream is done in the order of the calls; a call may return before it is done, and may as
 * well do it at once. zyx waits by synchronize_stream() and synchronize_event().
 *
 * Errors. A function that can fail returns 0 or one of the codes of zyx_error_code in zyx-c/Runtime.h, and may write a
 * text to `error`, which belongs to zyx: nothing is given to the other side, and nothing is released. zyx says which
 * call it was, and for which device, in front of the text. A failed call has changed nothing. ZYX_OUT_OF_MEMORY (4) of
 * an allocation makes zyx give back what it keeps, and try again. ZYX_DEVICE_LOST (5), or is_lost(), ends the device:
 * from then on things are only given back. Nothing may be thrown. */

#ifdef __cplusplus
extern "C" {
#endif

/* Of a library: the table changes as a whole with the number. */
#define ZYX_BACKEND_ABI_VERSION 1

#if defined(__GNUC__)
#define ZYX_BACKEND_EXPORT __attribute__((visibility("default")))
#else
#define ZYX_BACKEND_EXPORT
#endif

/* 0 is success; else a zyx_error_code. */
typedef int32_t zyx_backend_code;

/* Where a function that fails says why: a text that ends with a zero, such as snprintf(error->text, error->size, ...).
 */
typedef struct zyx_backend_error {
  size_t struct_size;
  char *text;
  size_t size;
} zyx_backend_error;

/* Flags of zyx_backend_facts_v1. */
/* Kernels are code for the host's processor ("cpu", "c"): zyx refuses what needs instructions that it lacks, and makes
 * no scratch memory, because kernels have a stack of their own. */
#define ZYX_BACKEND_RUNS_HOST_CODE 1u

/* What a device is. Texts live as long as the process; a number is 0, and a text NULL, where nothing is known. */
typedef struct zyx_backend_facts_v1 {
  size_t struct_size;
  /* The record of targets that the compiler compiles for: "cpu", "c", "sm_80". Required. */
  const char *target;
  /* The machine behind it: devices of one identity take as long for one program. Required. */
  const char *identity;
  const char *architecture;
  /* What computes: processors, elements of f32 that an instruction of each takes, millions of cycles a second. The
   * device with the highest product is what "" opens; 0 is never chosen without its name. */
  uint32_t processors;
  uint32_t lanes;
  uint32_t megahertz;
  /* Threads of a workgroup and of a subgroup, bytes of a workgroup's shared memory, at most. */
  uint32_t workgroup_threads;
  uint32_t subgroup_threads;
  uint32_t flags;
  uint64_t shared_bytes;
  /* In all, and what nobody has; the limit of the device's pool, unless the user sets one. free_bytes is required. */
  uint64_t memory_bytes;
  uint64_t free_bytes;
  /* Of buffers, in bytes: a power of two, at most 64; 0 is 1. */
  uint64_t alignment;
  /* A bit for each type that programs may have, 1 << ZYX_F32; 0 is all. */
  uint32_t dtypes;
  /* The device's place in DLPack, where handles of memory are addresses; kind 0 is none. */
  int32_t dlpack_kind;
  int32_t dlpack_number;
  /* Longer copies are faster outside of graphs; 0 is without a limit. */
  uint64_t largest_copy_in_graph;
} zyx_backend_facts_v1;

/* A byte of the device's memory: what allocate() gave, and an offset in it. */
typedef struct zyx_backend_memory {
  uint64_t handle;
  uint64_t offset;
} zyx_backend_memory;

/* A function of a module. */
typedef struct zyx_backend_kernel_v1 {
  size_t struct_size;
  /* Its name in the code, and one for messages. They live as long as the call. */
  const char *symbol;
  const char *name;
  /* What every launch passes; the last `num_written` buffers are written. */
  uint32_t num_buffers;
  uint32_t num_scalars;
  uint32_t num_written;
  /* Threads of a workgroup, which computes one program; 0 where each thread computes programs by itself. */
  uint32_t group_threads;
  /* Of a workgroup, beyond what the code declares. */
  uint32_t shared_bytes;
  /* Workgroups of a cluster; 0 where there are none. */
  uint32_t cluster_groups;
  /* Of private memory: of the calling thread's stack for host code, else of each thread in the scratch memory. */
  uint64_t stack_bytes;
} zyx_backend_kernel_v1;

/* What a kernel gets for a parameter. */
typedef struct zyx_backend_argument {
  /* A scalar, or handle + offset of a buffer. */
  uint64_t value;
  zyx_backend_memory memory;
  uint8_t is_buffer;
  uint8_t reserved[7];
} zyx_backend_argument;

typedef struct zyx_backend_launch_v1 {
  size_t struct_size;
  /* As find() gave it. */
  uint64_t kernel;
  uint32_t groups;
  uint32_t threads;
  uint32_t shared_bytes;
  /* The kernel's buffers, its scalars, scratch memory (a buffer), and the number of programs, which `programs` is. */
  uint32_t num_arguments;
  const zyx_backend_argument *arguments;
  /* Where the bytes of each argument's value lie, for drivers that copy parameters. */
  void **parameters;
  uint64_t programs;
} zyx_backend_launch_v1;

/* What host code is called by, with the programs [begin, end): the function of a kernel of "cpu" and "c". Several calls
 * may run at once, on parts of the programs; nothing is written twice. */
typedef struct zyx_kernel_args {
  void *const *buffers;
  const int64_t *scalars;
} zyx_kernel_args;
typedef void (*zyx_kernel_function)(const zyx_kernel_args *args, int64_t begin, int64_t end);

typedef struct zyx_backend_v1 {
  size_t struct_size;
  /* ZYX_BACKEND_ABI_VERSION. */
  uint32_t abi_version;
  /* Of its devices: "name" is the first and "name:1" the second. Small letters, digits, - and _. Not that of a device
   * that zyx has. */
  const char *name;
  /* For lists of devices. */
  const char *description;

  /* Devices that are there now. */
  uint32_t (*device_count)(void);
  /* Of a device that need not be open. */
  zyx_backend_code (*get_facts)(uint32_t index, zyx_backend_facts_v1 *facts, zyx_backend_error *error);
  zyx_backend_code (*open)(uint32_t index, void **device, zyx_backend_error *error);
  void (*close)(void *device);
  /* Makes the device that of the calling thread, and leaves it again. Both may be NULL. */
  zyx_backend_code (*enter)(void *device, zyx_backend_error *error);
  void (*leave)(void *device);
  /* Asked when a call has failed: unless 0, nothing works any more. May be NULL. */
  int (*is_lost)(void *device);

  /* Memory, at a multiple of 64, for what comes behind on the stream; `bytes` is never 0. The ranges
   * [handle, handle + bytes) do not overlap: addresses, or numbers that are chosen like addresses. */
  zyx_backend_code (*allocate)(void *device, uint64_t stream, uint64_t bytes, uint64_t *handle,
                               zyx_backend_error *error);
  /* Nothing that comes behind on the stream uses it. */
  zyx_backend_code (*free)(void *device, uint64_t stream, uint64_t handle, zyx_backend_error *error);
  /* Bytes that nobody has now. May be NULL. */
  zyx_backend_code (*free_memory)(void *device, uint64_t *bytes, zyx_backend_error *error);
  /* Gives memory that was freed and kept back to the system. May be NULL. */
  zyx_backend_code (*trim)(void *device, zyx_backend_error *error);
  /* Memory of the host that copies are fast with. free_host waits for what streams still do with it. */
  zyx_backend_code (*allocate_host)(void *device, uint64_t bytes, void **memory, zyx_backend_error *error);
  void (*free_host)(void *device, void *memory);
  /* The host's side stays as it is until the stream is behind the copy. */
  zyx_backend_code (*upload)(void *device, uint64_t stream, zyx_backend_memory to, const void *from, uint64_t bytes,
                             zyx_backend_error *error);
  zyx_backend_code (*download)(void *device, uint64_t stream, void *to, zyx_backend_memory from, uint64_t bytes,
                               zyx_backend_error *error);
  /* Both sides are apart. */
  zyx_backend_code (*copy)(void *device, uint64_t stream, zyx_backend_memory to, zyx_backend_memory from,
                           uint64_t bytes, zyx_backend_error *error);
  /* Repeats the low `pattern_bytes` (1, 2, 4 or 8) bytes of the pattern; `bytes` is a multiple of it. */
  zyx_backend_code (*fill)(void *device, uint64_t stream, zyx_backend_memory to, uint64_t bytes, uint64_t pattern,
                           uint32_t pattern_bytes, zyx_backend_error *error);

  /* Code that the compiler made for the target: "elf-so", "cubin", "ptx". The bytes live as long as the call. */
  zyx_backend_code (*load)(void *device, const char *format, const void *code, size_t size, uint64_t *module,
                           zyx_backend_error *error);
  /* Its kernels end with it. */
  void (*unload)(void *device, uint64_t module);
  /* By the thread that loaded the module, one kernel after another. */
  zyx_backend_code (*find)(void *device, uint64_t module, const zyx_backend_kernel_v1 *what, uint64_t *kernel,
                           zyx_backend_error *error);
  zyx_backend_code (*launch)(void *device, uint64_t stream, const zyx_backend_launch_v1 *launch,
                             zyx_backend_error *error);

  zyx_backend_code (*create_stream)(void *device, uint64_t *stream, zyx_backend_error *error);
  void (*destroy_stream)(void *device, uint64_t stream);
  zyx_backend_code (*synchronize_stream)(void *device, uint64_t stream, zyx_backend_error *error);
  /* As other libraries know a stream. May be NULL. */
  void *(*native_stream)(void *device, uint64_t stream);
  /* One that is timed says when it was reached. */
  zyx_backend_code (*create_event)(void *device, int is_timed, uint64_t *event, zyx_backend_error *error);
  void (*destroy_event)(void *device, uint64_t event);
  zyx_backend_code (*record)(void *device, uint64_t stream, uint64_t event, zyx_backend_error *error);
  /* Has the stream wait for an event of the same device. */
  zyx_backend_code (*wait)(void *device, uint64_t stream, uint64_t event, zyx_backend_error *error);
  zyx_backend_code (*synchronize_event)(void *device, uint64_t event, zyx_backend_error *error);
  /* Between two timed events that were reached. */
  zyx_backend_code (*elapsed)(void *device, uint64_t begin, uint64_t end, uint64_t *nanoseconds,
                              zyx_backend_error *error);
  /* Has the stream wait until the host writes 1 to a word of allocate_host(). May be NULL: schedules are not measured
   * on the device then. */
  zyx_backend_code (*hold)(void *device, uint64_t stream, const uint32_t *word, zyx_backend_error *error);

  /* Graphs: commands that the driver keeps and launches as one, each behind the one before. All of these, or none. A
   * command may change in its memory and values, and not in its kind. A call that fails leaves what may only be
   * destroyed. */
  zyx_backend_code (*create_graph)(void *device, uint64_t *graph, zyx_backend_error *error);
  void (*destroy_graph)(void *device, uint64_t graph);
  zyx_backend_code (*add_launch)(void *device, uint64_t graph, const zyx_backend_launch_v1 *launch, uint64_t *node,
                                 zyx_backend_error *error);
  zyx_backend_code (*add_copy)(void *device, uint64_t graph, zyx_backend_memory to, zyx_backend_memory from,
                               uint64_t bytes, uint64_t *node, zyx_backend_error *error);
  zyx_backend_code (*add_fill)(void *device, uint64_t graph, zyx_backend_memory to, uint64_t bytes, uint64_t pattern,
                               uint32_t pattern_bytes, uint64_t *node, zyx_backend_error *error);
  /* Nothing is added behind it. */
  zyx_backend_code (*finish_graph)(void *device, uint64_t graph, zyx_backend_error *error);
  zyx_backend_code (*update_launch)(void *device, uint64_t graph, uint64_t node, const zyx_backend_launch_v1 *launch,
                                    zyx_backend_error *error);
  zyx_backend_code (*update_copy)(void *device, uint64_t graph, uint64_t node, zyx_backend_memory to,
                                  zyx_backend_memory from, uint64_t bytes, zyx_backend_error *error);
  zyx_backend_code (*update_fill)(void *device, uint64_t graph, uint64_t node, zyx_backend_memory to, uint64_t bytes,
                                  uint64_t pattern, uint32_t pattern_bytes, zyx_backend_error *error);
  zyx_backend_code (*launch_graph)(void *device, uint64_t stream, uint64_t graph, zyx_backend_error *error);
} zyx_backend_v1;

/* The one function that a library exports; NULL where it has nothing to give on this machine. Called once. */
ZYX_BACKEND_EXPORT const zyx_backend_v1 *zyx_backend(void);

#ifdef __cplusplus
}
#endif

#endif /* ZYX_C_BACKEND_H */
