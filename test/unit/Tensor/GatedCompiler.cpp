//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The compiler behind a gate: while it is closed, compilations wait; and they fail when they are told to.
//===----------------------------------------------------------------------===//
#include "GatedCompiler.h"

#include "zyx-c/Compiler.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <new>

namespace {

std::mutex mutex;
std::condition_variable changed;
bool isClosed = false;
unsigned waiting = 0, compiles = 0, toFail = 0, toThrow = 0;

template <typename F> F *real(F *, const char *name) {
  static void *library = dlopen(ZYX_TEST_COMPILER, RTLD_LAZY | RTLD_LOCAL);
  void *found = library ? dlsym(library, name) : nullptr;
  if (!found) {
    std::fprintf(stderr, "the gated compiler lacks %s\n", name);
    std::abort();
  }
  return reinterpret_cast<F *>(found);
}

} // namespace

#define FORWARD(result, name, parameters, arguments)                                                                   \
  extern "C" ZYX_COMPILER_API result name parameters {                                                                 \
    static auto *const function = real(&name, #name);                                                                  \
    return function arguments;                                                                                         \
  }
FORWARD(const char *, zyx_compiler_version, (void), ())
FORWARD(zyx_compiler_result *, zyx_compiler_parse, (const zyx_compiler_parse_args *args), (args))
FORWARD(void, zyx_compiler_result_release, (zyx_compiler_result * result), (result))
FORWARD(uint32_t, zyx_compiler_result_code, (const zyx_compiler_result *result), (result))
FORWARD(const char *, zyx_compiler_result_message, (const zyx_compiler_result *result), (result))
FORWARD(size_t, zyx_compiler_result_num_graphs, (const zyx_compiler_result *result), (result))
FORWARD(zyx_compiler_bytes, zyx_compiler_result_graph, (const zyx_compiler_result *result, size_t index),
        (result, index))
FORWARD(zyx_compiler_bytes, zyx_compiler_result_output, (const zyx_compiler_result *result), (result))
FORWARD(size_t, zyx_compiler_result_num_kernels, (const zyx_compiler_result *result), (result))
FORWARD(size_t, zyx_compiler_result_num_found_kernels, (const zyx_compiler_result *result), (result))
FORWARD(size_t, zyx_compiler_result_num_stages, (const zyx_compiler_result *result), (result))
FORWARD(int, zyx_compiler_result_stage, (const zyx_compiler_result *result, size_t index, zyx_compiler_stage *stage),
        (result, index, stage))
FORWARD(size_t, zyx_compiler_result_num_spans, (const zyx_compiler_result *result), (result))
FORWARD(int, zyx_compiler_result_span, (const zyx_compiler_result *result, size_t index, zyx_compiler_span *span),
        (result, index, span))
FORWARD(const char *, zyx_compiler_result_remarks, (const zyx_compiler_result *result), (result))
FORWARD(size_t, zyx_compiler_result_num_choices, (const zyx_compiler_result *result), (result))
FORWARD(int, zyx_compiler_result_choice, (const zyx_compiler_result *result, size_t index, zyx_compiler_choice *choice),
        (result, index, choice))
#undef FORWARD

extern "C" ZYX_COMPILER_API zyx_compiler_result *zyx_compiler_compile(const zyx_compiler_compile_args *args) {
  static auto *const function = real(&zyx_compiler_compile, "zyx_compiler_compile");
  bool fails = false;
  {
    std::unique_lock lock(mutex);
    ++compiles;
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [] { return !isClosed; });
    --waiting;
    fails = toFail != 0;
    toFail -= fails;
    if (toThrow != 0) {
      --toThrow;
      throw std::bad_alloc();
    }
  }
  if (!fails)
    return function(args);
  zyx_compiler_compile_args broken = *args;
  broken.graph = {"no graph", 8};
  return function(&broken);
}

extern "C" ZYX_COMPILER_API void gateClose() {
  std::lock_guard lock(mutex);
  isClosed = true;
}
extern "C" ZYX_COMPILER_API void gateOpen() {
  std::lock_guard lock(mutex);
  isClosed = false;
  changed.notify_all();
}
extern "C" ZYX_COMPILER_API void gateAwait(unsigned count) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return waiting >= count; });
}
extern "C" ZYX_COMPILER_API void gateFail(unsigned count) {
  std::lock_guard lock(mutex);
  toFail = count;
}
extern "C" ZYX_COMPILER_API void gateThrow(unsigned count) {
  std::lock_guard lock(mutex);
  toThrow = count;
}
extern "C" ZYX_COMPILER_API unsigned gateCompiles() {
  std::lock_guard lock(mutex);
  return compiles;
}
