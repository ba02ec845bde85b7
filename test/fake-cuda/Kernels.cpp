//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace zyx;
using namespace zyx::runtime;

static uint64_t numberOf(const char *variable, uint64_t otherwise) {
  const char *given = std::getenv(variable);
  return given && *given ? std::strtoull(given, nullptr, 0) : otherwise;
}

bool cuda::isExecuted(const char *image) {
  return std::strstr(image, ".version") && numberOf("FAKE_CUDA_EXECUTE", 1) != 0;
}

std::shared_ptr<const ptx::Module> cuda::loadKernels(const char *image, std::string &log) {
  try {
    return ptx::load(image);
  } catch (const ptx::Fault &fault) {
    log = fault.what();
    std::fprintf(stderr, "fake CUDA: %s\n", fault.what());
    return nullptr;
  }
}

std::vector<uint8_t> cuda::takeParameters(const ptx::Program &program, void *const *parameters) {
  std::vector<uint8_t> all(program.parameterBytes);
  for (size_t i = 0; i < program.parameters.size(); ++i)
    std::memcpy(all.data() + program.parameters[i].first, parameters[i], program.parameters[i].second);
  return all;
}

int cuda::execute(ptx::Launch &launch) {
  launch.options.seed = numberOf("FAKE_CUDA_SEED", 0);
  launch.options.hostThreads = static_cast<unsigned>(numberOf("FAKE_CUDA_THREADS", 1));
  try {
    ptx::run(launch);
    return 0;
  } catch (const ptx::AddressFault &fault) {
    std::fprintf(stderr, "fake CUDA: %s\n", fault.what());
    return 700;
  } catch (const ptx::Fault &fault) {
    std::fprintf(stderr, "fake CUDA: %s\n", fault.what());
    return 719;
  }
}
