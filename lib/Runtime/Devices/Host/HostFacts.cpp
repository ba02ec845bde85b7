//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Host.h"

#include "zyx/Base/Processors.h"
#include "zyx/Base/SystemFile.h"

#include <algorithm>
#include <charconv>

using namespace zyx;
using namespace zyx::runtime;

/// The number behind `key` in a text of lines, whatever stands between them but other lines; 0 where there is none.
static uint64_t numberBehind(std::string_view text, std::string_view key) {
  const size_t found = text.find(key);
  if (found == std::string_view::npos)
    return 0;
  std::string_view rest = text.substr(found + key.size());
  rest = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.find_first_of("0123456789"), rest.size()));
  uint64_t number = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number;
}

/// The highest clock that the system tells of, or that of now; 0 where it tells neither, as many virtual machines do.
static unsigned megahertz() {
  static const unsigned once = [] {
    const uint64_t kilohertz =
        numberBehind(readSystemFile("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"), "");
    return static_cast<unsigned>(kilohertz ? kilohertz / 1000
                                           : numberBehind(readSystemFile("/proc/cpuinfo"), "cpu MHz"));
  }();
  return once;
}

/// Elements of f32 in the widest vector of this machine.
static unsigned vectorLanes() {
  const std::vector<std::string> features = hostCpuFeatures();
  const auto has = [&](const char *name) { return std::ranges::count(features, name) != 0; };
  return has("avx512f") ? 16 : has("avx") ? 8 : 4;
}

DeviceFacts runtime::hostFacts(std::string_view name, unsigned threads) {
  DeviceFacts facts;
  facts.target = name;
  facts.identity = processorName() + ", " + std::to_string(threads) + " threads";
#if defined(__x86_64__)
  facts.architecture = "x86-64";
#elif defined(__aarch64__)
  facts.architecture = "aarch64";
#endif
  facts.processors = threads;
  // The kernels in C are scalar.
  facts.lanes = name == "c" ? 1 : vectorLanes();
  facts.megahertz = megahertz();
  facts.memoryBytes = usableMemory();
  if (const uint64_t kibibytes = numberBehind(readSystemFile("/proc/meminfo"), "MemAvailable:"))
    facts.freeBytes = std::min(kibibytes << 10, facts.memoryBytes);
  facts.workgroupThreads = facts.subgroupThreads = 1;
  facts.dtypes = allDTypes();
  return facts;
}

DeviceFacts runtime::listedHostFacts(std::string_view name) { return hostFacts(name, usableProcessors()); }
