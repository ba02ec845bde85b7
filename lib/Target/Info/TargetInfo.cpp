//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Info/TargetInfo.h"

#include "zyx/Base/Processors.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace zyx::target {
namespace {

/// Cache sizes of this machine where the C library knows them (it does on x86), and as many of its cores
/// as this process may use.
void readMachine(TargetInfo &info) {
  if (long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE); l1 > 0)
    info.l1Bytes = l1;
  if (long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0)
    info.l2Bytes = l2;
  info.cores = usableProcessors();
}

/// What every 64-bit x86 has: SSE2.
TargetInfo x86Baseline() {
  TargetInfo info;
  info.name = info.cpu = "x86-64";
  info.device = "cpu";
  info.triple = "x86_64-unknown-linux-gnu";
  info.requiredFeatures = {"sse2"};
  info.vectorBytes = 16;
  info.vectorRegisters = 16;
  info.hasRounding = info.hasHalfConversion = info.hasMaximum = false;
  return info;
}

TargetInfo x86Level2() {
  TargetInfo info = x86Baseline();
  info.name = info.cpu = "x86-64-v2";
  info.requiredFeatures = {"sse4.2", "popcnt"};
  info.hasRounding = true;
  return info;
}

TargetInfo x86Level3() {
  TargetInfo info = x86Level2();
  info.name = info.cpu = "x86-64-v3";
  info.requiredFeatures = {"avx2", "fma", "f16c", "bmi2"};
  info.vectorBytes = 32;
  info.hasFma = info.hasHalfConversion = true;
  return info;
}

TargetInfo x86Level4() {
  TargetInfo info = x86Level3();
  info.name = info.cpu = "x86-64-v4";
  for (const char *feature : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
    info.requiredFeatures.push_back(feature);
  info.vectorBytes = 64;
  info.vectorRegisters = 32;
  info.hasMaskedOps = true;
  info.l2Bytes = 1 << 20;
  return info;
}

/// Adds a feature that the code needs.
void addFeature(TargetInfo &info, const char *feature) {
  info.features.push_back(feature);
  info.requiredFeatures.push_back(feature);
}

/// AVX-512 with products of bf16 and of 8-bit integers.
TargetInfo zen4() {
  TargetInfo info = x86Level4();
  info.name = "znver4";
  addFeature(info, "avx512vnni");
  addFeature(info, "avx512bf16");
  info.hasI8Vectors = info.hasBf16Vectors = true;
  return info;
}

/// Adds what the matrix unit needs. A kernel keeps its packed factors in the second cache.
void addAmx(TargetInfo &info) {
  for (const char *feature : {"amx-tile", "amx-int8", "amx-bf16"})
    addFeature(info, feature);
  info.hasAmx = true;
  info.privateBytes = 3 << 19;
}

/// AVX-512 with a matrix unit.
TargetInfo sapphireRapids() {
  TargetInfo info = x86Level4();
  info.name = "sapphirerapids";
  info.l1Bytes = 48 << 10;
  info.l2Bytes = 2 << 20;
  addAmx(info);
  return info;
}

/// What every 64-bit ARM has: 128-bit vectors, fma, conversions of f16.
TargetInfo aarch64() {
  TargetInfo info;
  info.name = "aarch64";
  info.cpu = "generic";
  info.device = "cpu";
  info.triple = "aarch64-unknown-linux-gnu";
  info.requiredFeatures = {"neon"};
  info.vectorBytes = 16;
  info.vectorRegisters = 32;
  info.hasFma = true;
  return info;
}

#if defined(__x86_64__)
TargetInfo hostCPU() {
  __builtin_cpu_init();
  TargetInfo info;
  bool level3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                __builtin_cpu_supports("bmi2");
  bool level4 = level3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl");
  if (level4) {
    info = x86Level4();
    info.hasI8Vectors = __builtin_cpu_supports("avx512vnni");
    // Processors of Intel take as long for the products of two bf16 as for two fma.
    info.hasBf16Vectors = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_is("amd");
    if (info.hasI8Vectors)
      addFeature(info, "avx512vnni");
    if (__builtin_cpu_supports("avx512bf16"))
      addFeature(info, "avx512bf16");
    if (grantsMatrixTiles() && __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-int8") &&
        __builtin_cpu_supports("amx-bf16"))
      addAmx(info);
  } else if (level3) {
    info = x86Level3();
  } else {
    bool level2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    info = level2 ? x86Level2() : x86Baseline();
  }
  return info;
}
#elif defined(__aarch64__)
TargetInfo hostCPU() { return aarch64(); }
#else
#error "there is no record of this processor"
#endif

TargetInfo cTarget() {
  TargetInfo info;
  info.name = info.device = "c";
  info.kind = TargetKind::C;
  return info;
}

/// What every card since Turing has.
TargetInfo turing() {
  TargetInfo info;
  info.name = info.cpu = "sm_75";
  info.kind = TargetKind::CUDA;
  info.device = "cuda";
  info.requiredFeatures = {"sm_75"};
  info.vectorBytes = 16;
  info.vectorRegisters = 32;
  info.hasFma = true;
  // Before sm_80 there is no maximum of floats that gives NaN.
  info.hasMaximum = false;
  info.l1Bytes = 96 << 10;
  info.l2Bytes = 4 << 20;
  info.cores = 40;
  info.privateBytes = 1 << 10;
  info.sharedBytes = 64 << 10;
  info.warpSize = 32;
  info.ptxVersion = 78;
  info.features = {"ptx78"};
  info.threadsPerCore = 1024;
  info.hasPackedHalf = true;
  info.warpProductBytes = 16;
  // Estimates: none of these cards was there to be measured.
  info.threadProductsPerCycle = 10;
  info.launchCycles = 5000;
  info.megahertz = 1600;
  info.productsPerCycle = 512;
  info.bytesPerCycle = 32;
  info.tileCycles = 3000;
  info.memoryBytesPerCycle = 5;
  return info;
}

/// A newer card with these caches, multiprocessors, and bytes of shared memory for a workgroup.
TargetInfo card(const char *name, int64_t l1Bytes, int64_t l2Bytes, int64_t cores, int64_t sharedBytes) {
  TargetInfo info = turing();
  info.name = info.cpu = name;
  info.requiredFeatures = {name};
  info.hasMaximum = info.hasPackedBfloat = true;
  info.l1Bytes = l1Bytes;
  info.l2Bytes = l2Bytes;
  info.cores = cores;
  info.sharedBytes = sharedBytes;
  info.warpProductBytes = 32;
  info.hasAsyncCopies = true;
  return info;
}

/// A100.
TargetInfo ampere() {
  TargetInfo info = card("sm_80", 192 << 10, 40 << 20, 108, 163 << 10);
  info.productsPerCycle = 1024;
  info.bytesPerCycle = 48;
  info.tileCycles = 2000;
  info.memoryBytesPerCycle = 10;
  return info;
}
/// RTX 30.
TargetInfo ampereDesktop() { return card("sm_86", 128 << 10, 6 << 20, 82, 99 << 10); }
/// RTX 40, L40.
TargetInfo ada() { return card("sm_89", 128 << 10, 72 << 20, 128, 99 << 10); }

/// H100, H200.
TargetInfo hopper() {
  TargetInfo info = card("sm_90a", 256 << 10, 50 << 20, 132, 227 << 10);
  info.hasTensorTiles = true;
  info.clusterSize = 8;
  info.productsPerCycle = 2048;
  info.bytesPerCycle = 52;
  info.tileCycles = 1800;
  info.memoryBytesPerCycle = 13;
  info.exactProductsPerCycle = 100;
  info.threadProductsPerCycle = 17;
  info.sliceCycles = 200;
  info.meetingCycles = 100;
  info.sentBytesPerCycle = 2;
  info.launchCycles = 5300;
  info.megahertz = 1755;
  info.ptxVersion = 88;
  info.features = {"ptx88"};
  return info;
}

/// The same, where products need not have all digits.
TargetInfo hopperFast() {
  TargetInfo info = hopper();
  info.name = "sm_90a-fast";
  info.fewDigits = true;
  return info;
}

/// For a card that nobody names, and those without a record.
TargetInfo anyCard() {
  TargetInfo info = turing();
  info.name = "cuda";
  info.isAssembledByDriver = true;
  return info;
}

} // namespace

std::string TargetInfo::featureString() const {
  std::string text;
  for (const std::string &feature : features)
    text += (text.empty() ? "+" : ",+") + feature;
  return text;
}

std::string TargetInfo::cacheKey() const {
  std::string text = std::to_string(static_cast<int>(kind)) + ';' + triple + ';' + cpu + ';' + featureString();
  for (int64_t fact : {vectorBytes,
                       vectorRegisters,
                       int64_t(hasFma),
                       int64_t(hasMaskedOps),
                       int64_t(hasAmx),
                       int64_t(hasBf16Vectors),
                       int64_t(hasI8Vectors),
                       int64_t(hasRounding),
                       int64_t(hasMaximum),
                       int64_t(hasHalfConversion),
                       int64_t(isAssembledByDriver),
                       int64_t(hasTensorTiles),
                       int64_t(hasAsyncCopies),
                       warpProductBytes,
                       int64_t(fewDigits),
                       productsPerCycle,
                       bytesPerCycle,
                       tileCycles,
                       memoryBytesPerCycle,
                       exactProductsPerCycle,
                       threadProductsPerCycle,
                       sliceCycles,
                       meetingCycles,
                       sentBytesPerCycle,
                       launchCycles,
                       megahertz,
                       clusterSize,
                       int64_t(hasPackedHalf),
                       int64_t(hasPackedBfloat),
                       threadsPerCore,
                       l1Bytes,
                       l2Bytes,
                       cores,
                       privateBytes,
                       sharedBytes,
                       warpSize,
                       int64_t(ptxVersion)})
    text += ';' + std::to_string(fact);
  return text;
}

/// Records that are instruction sets of CPUs.
constexpr std::pair<const char *, TargetInfo (*)()> isaRecords[] = {
    {"x86-64", x86Baseline}, {"x86-64-v2", x86Level2},           {"x86-64-v3", x86Level3}, {"x86-64-v4", x86Level4},
    {"znver4", zen4},        {"sapphirerapids", sapphireRapids}, {"aarch64", aarch64}};

/// Records that are no CPUs.
constexpr std::pair<const char *, TargetInfo (*)()> otherRecords[] = {
    {"cuda", anyCard}, {"sm_75", turing},  {"sm_80", ampere},          {"sm_86", ampereDesktop},
    {"sm_89", ada},    {"sm_90a", hopper}, {"sm_90a-fast", hopperFast}};

static std::string join(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

const std::vector<std::string> &isaNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"native"};
    for (const auto &[name, make] : isaRecords)
      all.emplace_back(name);
    return all;
  }();
  return names;
}

const std::vector<std::string> &targetNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = isaNames();
    all[0] = "cpu";
    all.emplace_back("c");
    for (const auto &[name, make] : otherRecords)
      all.emplace_back(name);
    return all;
  }();
  return names;
}

Result<TargetInfo> lookUpTarget(std::string_view name, std::string_view isa) {
  if (isa != "native") {
    const std::vector<std::string> &known = isaNames();
    if (std::find(known.begin(), known.end(), isa) == known.end())
      return Status::notFound("no instruction set is named '" + std::string(isa) + "'; there are " + join(known));
    if (name != "cpu")
      return Status::invalidArgument("target '" + std::string(name) + "' has no instruction set '" + std::string(isa) +
                                     "'; only 'cpu' has one");
    name = isa;
  }
  for (const auto &[record, make] : isaRecords)
    if (name == record)
      return make();
  if (name == "cpu") {
    TargetInfo info = hostCPU();
    info.name = info.device = "cpu";
    readMachine(info);
    return info;
  }
  if (name == "c") {
    TargetInfo info = cTarget();
    readMachine(info);
    return info;
  }
  for (const auto &[record, make] : otherRecords)
    if (name == record)
      return make();
  return Status::notFound("no target is named '" + std::string(name) + "'; there are " + join(targetNames()));
}

} // namespace zyx::target
