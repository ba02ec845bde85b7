//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels of the fake driver that are PTX: loaded, and executed by the host.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_KERNELS_H
#define ZYX_TEST_FAKECUDA_KERNELS_H

#include "ptx/Machine.h"

#include <memory>
#include <string>

namespace zyx::runtime::cuda {

/// Whether an image is text whose kernels are executed. FAKE_CUDA_EXECUTE=0 says that none are.
bool isExecuted(const char *image);
/// Null where the text is wrong, which `log` says.
std::shared_ptr<const ptx::Module> loadKernels(const char *image, std::string &log);
/// The kernel's parameters, as they are now.
std::vector<uint8_t> takeParameters(const ptx::Program &program, void *const *parameters);
/// The driver's code: success, or why the card is lost, which is said on stderr.
int execute(ptx::Launch &launch);

} // namespace zyx::runtime::cuda

#endif // ZYX_TEST_FAKECUDA_KERNELS_H
