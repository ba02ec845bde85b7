//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

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

/// Appends a line about a launch, behind the names of its columns.
static void writeProfile(const char *path, const std::string &line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::FILE *file = std::fopen(path, "a");
  if (!file) {
    std::fprintf(stderr, "fake CUDA: %s: cannot be written\n", path);
    return;
  }
  if (std::ftell(file) == 0)
    std::fprintf(file, "%s\n", ptx::profileColumns());
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

int cuda::execute(ptx::Launch &launch) {
  launch.options.seed = numberOf("FAKE_CUDA_SEED", 0);
  launch.options.hostThreads = static_cast<unsigned>(numberOf("FAKE_CUDA_THREADS", 1));
  launch.options.sample = static_cast<unsigned>(numberOf("FAKE_CUDA_SAMPLE", 0));
  const char *profile = std::getenv("FAKE_CUDA_PROFILE");
  ptx::Counts counts;
  if (profile && *profile)
    launch.options.counts = &counts;
  try {
    ptx::run(launch);
    if (launch.options.counts)
      writeProfile(profile, ptx::describe(launch, counts));
    return 0;
  } catch (const ptx::AddressFault &fault) {
    std::fprintf(stderr, "fake CUDA: %s\n", fault.what());
    return 700;
  } catch (const ptx::Fault &fault) {
    std::fprintf(stderr, "fake CUDA: %s\n", fault.what());
    return 719;
  }
}
