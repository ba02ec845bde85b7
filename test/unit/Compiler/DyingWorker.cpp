//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx-c/Compiler.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/MemAlloc.h"

// A crash is a signal to the parent, also where a sanitizer would make an exit code of it.
extern "C" const char *__asan_default_options() { return "handle_segv=0"; }
extern "C" const char *__tsan_default_options() { return "handle_segv=0"; }

/// A worker that dies as ZYX_TEST_DEATH says, to see what its parent makes of it.
static std::string_view death() {
  const char *value = std::getenv("ZYX_TEST_DEATH");
  return value ? value : "";
}

/// Takes the place of MLIR's own for the compiler's library: a crash inside a pass.
mlir::scf::ForOp mlir::scf::ForOp::create(OpBuilder &, Location, Value, Value, Value, ValueRange,
                                          llvm::function_ref<void(OpBuilder &, Location, Value, ValueRange)>, bool) {
  // What the limit of the child leaves, by the allocators of the standard library and of LLVM.
  [[maybe_unused]] static void *volatile taken;
  while (death() == "exhaust new")
    taken = ::operator new(size_t(1) << 20);
  while (death() == "exhaust LLVM")
    taken = llvm::safe_malloc(size_t(1) << 20);
  std::raise(SIGSEGV);
  std::abort();
}

int main() {
  if (death() == "abort") {
    std::fputs("first line\nsomething is wrong\n", stderr);
    std::abort();
  }
  if (death() == "exit")
    return 3;
  if (death() == "killed")
    std::raise(SIGKILL);
  if (death() == "hang")
    pause();
  if (death() == "garbage") {
    std::puts("no answer");
    return 0;
  }
  if (death() == "memory") {
    // What LLVM's handler of a failed allocation does.
    std::fputs("LLVM ERROR: out of memory\n", stderr);
    std::abort();
  }
  return zyx_compiler_serve();
}
