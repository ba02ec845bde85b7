/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/
#ifndef ZYX_C_COMPILER_H
#define ZYX_C_COMPILER_H

#include <stddef.h>
#include <stdint.h>

/* The compiler as a library: libZyxCompiler.so, bytes to bytes. It exports these functions and
 * nothing else; whoever needs it opens it with dlopen.
 *
 * Both calls return a result, never NULL: its code is 0 and its message empty, or it holds nothing
 * but the failure. What accessors return lives as long as the result. Calls from several threads
 * are safe.
 *
 * Structs start with `struct_size`, which the caller sets to sizeof the struct: members are only
 * ever added at the end, and those beyond the size that is given have their defaults. */

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZYX_COMPILER_API __attribute__((visibility("default")))
#else
#define ZYX_COMPILER_API
#endif

typedef struct zyx_compiler_result zyx_compiler_result;

typedef struct zyx_compiler_bytes {
  const void *data;
  size_t size;
} zyx_compiler_bytes;

/* The version of the library, as "1.2.3". */
ZYX_COMPILER_API const char *zyx_compiler_version(void);

/* Removes the temporary files and ends the child processes of compilations that are under way. For a handler of
 * signals: system calls alone. No compilation goes on behind it; the process is to end. */
ZYX_COMPILER_API void zyx_compiler_remove_leftovers(void);

/* Runs a call in a child process of its own, so that whatever the compiler does with it ends the
 * child alone: the result then says how it died and, where it came that far, in which pass and on
 * which kernel. */
typedef struct zyx_compiler_isolation {
  size_t struct_size;
  /* The program zyx-compiler-worker; NULL looks beside the library, and in ../bin of its folder. */
  const char *worker;
  /* Address space of the child; 0 is 16 GiB. */
  uint64_t memory_bytes;
  /* 0 is 10 minutes. */
  uint64_t milliseconds;
} zyx_compiler_isolation;

typedef struct zyx_compiler_parse_args {
  size_t struct_size;
  /* MLIR text of functions of graph ops. */
  zyx_compiler_bytes text;
  /* For messages; may be NULL. */
  const char *file_name;
  /* NULL for this process. */
  const zyx_compiler_isolation *isolation;
} zyx_compiler_parse_args;

/* Reads every entry of a file as a graph. Text that is too large or nests too deeply is refused
 * before the parser sees it. MLIR bytecode, whose reader trusts its input, is read in a child process
 * only. */
ZYX_COMPILER_API zyx_compiler_result *zyx_compiler_parse(const zyx_compiler_parse_args *args);

typedef struct zyx_compiler_compile_args {
  size_t struct_size;
  /* zyx::graph::Graph in its byte form. */
  zyx_compiler_bytes graph;
  /* The name of a target record: "cpu" (this machine), "c", ... NULL is "cpu". */
  const char *target;
  /* The phase after which to stop: "graph", "groups", "kernel", "schedule", "lowered", "plan",
   * "target". NULL or "" makes an artifact. */
  const char *stop_after;
  /* Whether to print and parse the program again behind every phase, and to fail where that
   * changes it. */
  int verify_roundtrip;
  /* Whether to leave out all that only makes the program faster: fusing ops, schedules. */
  int no_optimise;
  /* Whether the text of `stop_after`, which is then "graph", "groups" or "plan", is a drawing in the
   * language of Graphviz. */
  int dump_dot;
  /* Is ignored: members are never removed. */
  uint64_t reserved;
  /* Whether to keep what took how long, for zyx_compiler_result_span. */
  int trace;
  /* Unless NULL, is called by the thread of the call: a stage begins, or `done` of `total` kernels
   * are through it (0 of 0: they are not counted). */
  void (*progress)(void *context, const char *stage, size_t done, size_t total);
  void *progress_context;
  /* NULL for this process. A child tells no progress. */
  const zyx_compiler_isolation *isolation;
  /* The instruction set of code for "cpu", by the name of its record: "x86-64", "x86-64-v3", ... NULL
   * and "native" are all that this machine has. */
  const char *isa;
  /* Schedules that were measured to be the best: for each kernel a line of its key, a space, and the text of the
   * choice (zyx_compiler_result_choice). What a kernel does not list is ignored with a remark. NULL is none. */
  const char *measured;
  /* Unless 0, nothing is compiled: the result has at most so many choices of each kernel. */
  uint64_t list_choices;
  /* Unless NULL or "", the key of a kernel, of which alone the artifact is: its inputs are what its first launch
   * reads, its outputs what that writes. */
  const char *only_kernel;
  /* Unless NULL or "", topics of ZYX_DEBUG that the library tells of from now on, beside those of that variable. */
  const char *debug;
  /* The device that is to run it, as "cuda:1"; NULL and "" are the first one of the target's kind. A program that
   * names another one is refused. */
  const char *device;
  /* Which ops share a kernel: "weighed", where that is estimated to pay (NULL and ""), "all", as many as can, or
   * "none". */
  const char *fusion;
  /* Unless both are NULL, where kernels are kept that earlier calls have compiled: a kernel that is found is not
   * compiled again. Keys and bytes are the compiler's; the bytes of a key may get lost, and bytes that are damaged
   * count as lost. Keys depend on the kernel, the machine, options and the version of the compiler, but not on which
   * build of it this is, nor on other libraries and programs that it uses: who keeps bytes for other processes adds
   * that. Both are called by the thread of the call, in this process also where the compiler runs in another one.
   * `lookup` calls `take` with the bytes of the key and returns 1, or returns 0. */
  int (*lookup_kernel)(void *context, const char *key, void (*take)(void *taker, zyx_compiler_bytes bytes),
                       void *taker);
  void (*store_kernel)(void *context, const char *key, zyx_compiler_bytes bytes);
  void *kernels_context;
  /* Unless 0, the code of the artifact is the text of its kernels in C, in format "c", which no runtime loads. The
   * target is "c", and no C compiler is needed. */
  int c_source;
  /* Unless NULL, is asked by the thread of the call, at each phase and each kernel, whether nobody wants the program
   * any more: the call then fails with ZYX_CANCELLED. A call in a child process asks nobody. */
  int (*is_cancelled)(void *context);
  void *cancelled_context;
} zyx_compiler_compile_args;

/* Compiles one graph to an artifact, or to the text of the phase at which it stops. */
ZYX_COMPILER_API zyx_compiler_result *zyx_compiler_compile(const zyx_compiler_compile_args *args);

ZYX_COMPILER_API void zyx_compiler_result_release(zyx_compiler_result *result);

/* 0 is success; otherwise a zyx_error_code of zyx-c/Runtime.h. Messages about a file start with
 * "file:line:column: ". */
ZYX_COMPILER_API uint32_t zyx_compiler_result_code(const zyx_compiler_result *result);
ZYX_COMPILER_API const char *zyx_compiler_result_message(const zyx_compiler_result *result);

/* Of zyx_compiler_parse: the graphs, in the order of the file. An index out of range gives no
 * bytes. */
ZYX_COMPILER_API size_t zyx_compiler_result_num_graphs(const zyx_compiler_result *result);
ZYX_COMPILER_API zyx_compiler_bytes zyx_compiler_result_graph(const zyx_compiler_result *result, size_t index);

/* Of zyx_compiler_compile: the artifact, or the text. */
ZYX_COMPILER_API zyx_compiler_bytes zyx_compiler_result_output(const zyx_compiler_result *result);
ZYX_COMPILER_API size_t zyx_compiler_result_num_kernels(const zyx_compiler_result *result);
/* How many kernels of the program were not compiled, but found by `lookup_kernel`. */
ZYX_COMPILER_API size_t zyx_compiler_result_num_found_kernels(const zyx_compiler_result *result);

typedef struct zyx_compiler_stage {
  size_t struct_size;
  const char *name;
  uint64_t nanoseconds;
} zyx_compiler_stage;
ZYX_COMPILER_API size_t zyx_compiler_result_num_stages(const zyx_compiler_result *result);
/* 0 where the index is out of range. */
ZYX_COMPILER_API int zyx_compiler_result_stage(const zyx_compiler_result *result, size_t index,
                                               zyx_compiler_stage *stage);

/* A stage or a pass: what it was, on what, and when, in nanoseconds of CLOCK_MONOTONIC. */
typedef struct zyx_compiler_span {
  size_t struct_size;
  const char *name;
  const char *detail;
  uint64_t begin;
  uint64_t nanoseconds;
} zyx_compiler_span;
ZYX_COMPILER_API size_t zyx_compiler_result_num_spans(const zyx_compiler_result *result);
/* 0 where the index is out of range. */
ZYX_COMPILER_API int zyx_compiler_result_span(const zyx_compiler_result *result, size_t index, zyx_compiler_span *span);

/* A schedule that a kernel may have. Those of a kernel follow each other, the one that it gets without measuring first.
 */
typedef struct zyx_compiler_choice {
  size_t struct_size;
  /* What the kernel is known by, whatever program it is in, and its name in this one. */
  const char *key;
  const char *kernel;
  const char *text;
  /* Estimated cycles; 0 where nothing estimates them. */
  double cost;
} zyx_compiler_choice;
ZYX_COMPILER_API size_t zyx_compiler_result_num_choices(const zyx_compiler_result *result);
/* 0 where the index is out of range. */
ZYX_COMPILER_API int zyx_compiler_result_choice(const zyx_compiler_result *result, size_t index,
                                                zyx_compiler_choice *choice);

/* The whole of the program zyx-compiler-worker: answers one request on the standard input, and
 * returns the exit code. */
ZYX_COMPILER_API int zyx_compiler_serve(void);

/* What the compiler chose, one line each. */
ZYX_COMPILER_API const char *zyx_compiler_result_remarks(const zyx_compiler_result *result);

#ifdef __cplusplus
}
#endif

#endif /* ZYX_C_COMPILER_H */
