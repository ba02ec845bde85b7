//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Pipelines/Backends.h"

#include "zyx/Target/CPU/CPU.h"
#include "zyx/Target/NVVM/NVVM.h"
#include "zyx/Target/ROCDL/ROCDL.h"
#include "zyx/Target/Text/C.h"

using namespace zyx;

const target::BackendRegistry &zyx::pipelines::backends() {
  // Never freed: threads may compile while the process ends.
  static const target::BackendRegistry &all = []() -> const target::BackendRegistry & {
    auto *registry = new target::BackendRegistry;
    for (auto *add : {target::registerCPUBackend, target::registerCBackend, target::registerNVVMBackend,
                      target::registerROCDLBackend, target::registerOpenCLBackend, target::registerSPIRVBackend,
                      target::registerWGSLBackend}) {
      [[maybe_unused]] const Status added = add(*registry);
      ZYX_ASSERT(added.isOk(), "each backend has a name of its own");
    }
    return *registry;
  }();
  return all;
}
