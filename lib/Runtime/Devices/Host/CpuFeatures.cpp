//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Host.h"

#include "zyx/Base/Processors.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// What the operating system must save for a feature: bits of the register XCR0.
enum StateBits : uint32_t { None = 0, Ymm = 0x6, Zmm = 0xe6, Tile = 0x60000 };
enum Register { EAX, EBX, ECX, EDX };

/// One bit of CPUID (Intel SDM volume 2A; AMD APM volume 3), by LLVM's name.
struct X86Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  int bit;
  StateBits state;
};
constexpr X86Feature x86Table[] = {
    {"sse", 1, 0, EDX, 25, None},
    {"sse2", 1, 0, EDX, 26, None},
    {"sse3", 1, 0, ECX, 0, None},
    {"pclmul", 1, 0, ECX, 1, None},
    {"ssse3", 1, 0, ECX, 9, None},
    {"fma", 1, 0, ECX, 12, Ymm},
    {"cx16", 1, 0, ECX, 13, None},
    {"sse4.1", 1, 0, ECX, 19, None},
    {"sse4.2", 1, 0, ECX, 20, None},
    {"movbe", 1, 0, ECX, 22, None},
    {"popcnt", 1, 0, ECX, 23, None},
    {"aes", 1, 0, ECX, 25, None},
    {"avx", 1, 0, ECX, 28, Ymm},
    {"f16c", 1, 0, ECX, 29, Ymm},
    {"bmi", 7, 0, EBX, 3, None},
    {"avx2", 7, 0, EBX, 5, Ymm},
    {"bmi2", 7, 0, EBX, 8, None},
    {"avx512f", 7, 0, EBX, 16, Zmm},
    {"avx512dq", 7, 0, EBX, 17, Zmm},
    {"adx", 7, 0, EBX, 19, None},
    {"avx512ifma", 7, 0, EBX, 21, Zmm},
    {"avx512cd", 7, 0, EBX, 28, Zmm},
    {"sha", 7, 0, EBX, 29, None},
    {"avx512bw", 7, 0, EBX, 30, Zmm},
    {"avx512vl", 7, 0, EBX, 31, Zmm},
    {"avx512vbmi", 7, 0, ECX, 1, Zmm},
    {"avx512vbmi2", 7, 0, ECX, 6, Zmm},
    {"gfni", 7, 0, ECX, 8, None},
    {"vaes", 7, 0, ECX, 9, Ymm},
    {"vpclmulqdq", 7, 0, ECX, 10, Ymm},
    {"avx512vnni", 7, 0, ECX, 11, Zmm},
    {"avx512bitalg", 7, 0, ECX, 12, Zmm},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Zmm},
    {"avx512vp2intersect", 7, 0, EDX, 8, Zmm},
    {"amx-bf16", 7, 0, EDX, 22, Tile},
    {"avx512fp16", 7, 0, EDX, 23, Zmm},
    {"amx-tile", 7, 0, EDX, 24, Tile},
    {"amx-int8", 7, 0, EDX, 25, Tile},
    {"avxvnni", 7, 1, EAX, 4, Ymm},
    {"avx512bf16", 7, 1, EAX, 5, Zmm},
    {"amx-fp16", 7, 1, EAX, 21, Tile},
    {"lzcnt", 0x80000001, 0, ECX, 5, None},
};

/// One bit of what Linux tells of an ARM processor: the first or second word.
struct ArmFeature {
  std::string_view name;
  int word, bit;
};
constexpr ArmFeature armTable[] = {
    {"neon", 1, 1}, {"fullfp16", 1, 10}, {"dotprod", 1, 20}, {"i8mm", 2, 13}, {"bf16", 2, 14},
};

#if defined(__x86_64__)
constexpr auto &table = x86Table;

/// What CPUID says. A virtual machine is left at each, which takes many microseconds: none is asked twice.
class Processor {
public:
  Processor() {
    if (registers(1, 0)[ECX] & bit_OSXSAVE) {
      uint32_t high = 0;
      asm("xgetbv" : "=a"(savedState), "=d"(high) : "c"(0));
    }
  }
  bool has(const X86Feature &feature) {
    return (registers(feature.leaf, feature.subleaf)[feature.reg] >> feature.bit & 1) &&
           (savedState & feature.state) == static_cast<uint32_t>(feature.state);
  }

private:
  using Registers = std::array<uint32_t, 4>;
  struct Leaf {
    uint32_t leaf, subleaf;
    Registers registers;
  };
  /// Zeros where there is no such leaf.
  const Registers &registers(uint32_t leaf, uint32_t subleaf) {
    for (const Leaf &known : leaves)
      if (known.leaf == leaf && known.subleaf == subleaf)
        return known.registers;
    Registers r = {};
    __get_cpuid_count(leaf, subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]);
    leaves.push_back({leaf, subleaf, r});
    return leaves.back().registers;
  }

  /// A deque, because what it gave out stays where it is.
  std::deque<Leaf> leaves;
  /// XCR0; 0 where the operating system does not use XSAVE.
  uint32_t savedState = 0;
};

#elif defined(__aarch64__)
constexpr auto &table = armTable;

struct Processor {
  bool has(const ArmFeature &feature) {
    return ::getauxval(feature.word == 1 ? AT_HWCAP : AT_HWCAP2) >> feature.bit & 1;
  }
};

#endif

} // namespace

std::vector<std::string> runtime::hostCpuFeatures() {
  static const std::vector<std::string> features = [] {
    std::vector<std::string> names;
    Processor processor;
    for (const auto &feature : table)
      if (processor.has(feature) && (!feature.name.starts_with("amx-") || grantsMatrixTiles()))
        names.emplace_back(feature.name);
    return names;
  }();
  return features;
}

/// Its registers are 8 KiB per thread, which Linux saves only for processes that asked for them.
static Status requestTiles(std::span<const std::string> features) {
#if defined(__x86_64__)
  const bool needed =
      std::any_of(features.begin(), features.end(), [](const std::string &name) { return name.starts_with("amx-"); });
  constexpr int requestPermission = 0x1023, tileData = 18;
  if (needed && ::syscall(SYS_arch_prctl, requestPermission, tileData) != 0)
    return Status::unsupported("the code needs the CPU feature 'amx-tile', which Linux does not grant: " +
                               std::string(std::strerror(errno)));
#endif
  return Status::ok();
}

Status runtime::checkCpuFeatures(std::span<const std::string> features) {
  const std::vector<std::string> present = hostCpuFeatures();
  std::string missing;
  size_t numMissing = 0;
  for (const std::string &name : features) {
    const auto isNamed = [&](const auto &feature) { return feature.name == name; };
    if (!std::any_of(std::begin(x86Table), std::end(x86Table), isNamed) &&
        !std::any_of(std::begin(armTable), std::end(armTable), isNamed))
      return Status::unsupported("the code needs the CPU feature '" + name + "', which zyx does not know");
    if (std::find(present.begin(), present.end(), name) == present.end())
      missing += (numMissing++ ? ", '" : "'") + name + "'";
  }
  if (numMissing == 0)
    return requestTiles(features);
  return Status::unsupported(std::string("the code needs the CPU feature") + (numMissing == 1 ? " " : "s ") + missing +
                             ", which this machine lacks");
}
