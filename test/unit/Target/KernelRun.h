//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_TARGET_KERNELRUN_H
#define ZYX_TEST_UNIT_TARGET_KERNELRUN_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Kernels, written in the lowered form, compiled for a host target and run.
namespace zyx::target {

/// How a test's kernels are compiled. Elementwise kernels are written for `lanes` elements.
struct Way {
  const char *target;
  int64_t lanes;
};
void PrintTo(const Way &way, std::ostream *stream);

/// True where this machine can run what the way compiles.
bool canRun(const Way &way);

class CompiledKernels {
public:
  static Result<CompiledKernels> compile(const std::string &text, const Way &way);
  CompiledKernels(CompiledKernels &&);
  ~CompiledKernels();
  artifact::KernelFunction find(const char *name) const;
  /// Runs programs [begin, end) of the kernel.
  void run(const char *name, std::vector<void *> buffers, int64_t begin = 0, int64_t end = 1,
           std::vector<int64_t> scalars = {}) const;

private:
  struct Loaded;
  explicit CompiledKernels(std::unique_ptr<Loaded> loaded);
  std::unique_ptr<Loaded> loaded;
};

/// A kernel @k over `n` elements in steps of `lanes`: arguments %a, %b, ... of the `inputs` types,
/// and `code`, which computes %r of type `output`. In it and only there, "$f32" is f32 or
/// vector<16xf32>, and "#(1.0)" the constant or dense constant.
std::string elementwise(const std::vector<std::string> &inputs, const std::string &output, const std::string &code,
                        int64_t n, int64_t lanes);

} // namespace zyx::target

#endif // ZYX_TEST_UNIT_TARGET_KERNELRUN_H
