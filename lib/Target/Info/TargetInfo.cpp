//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Info/TargetInfo.h"

#include "zyx/Base/Processors.h"
#include "zyx/Target/Info/Fields.h"

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace zyx::target {
namespace {

/// Cache sizes of this machine where the C library knows them (it does on x86), and as many of its cores
/// as this process may use.
void readMachine(TargetInfo &info) {
  if (long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE); l1 > 0)
    info.memory.l1Bytes = l1;
  if (long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0)
    info.memory.l2Bytes = l2;
  info.cores = usableProcessors();
}

/// Rates that are taken for all processors.
void addProcessorCosts(TargetInfo &info) {
  CostFacts &costs = info.costs;
  costs.megahertz = 3000;
  costs.launchCycles = 4000;
  costs.memoryBytesPerCycle = 4;
  costs.cacheBytesPerCycle = 16;
  costs.gatherCycles = 12;
  costs.strideCycles = 3;
  costs.packCycles = 8;
  costs.laneProductsPerCycle = 2;
  costs.streamBytes = 32 << 20;
}

/// What every 64-bit x86 has: SSE2.
TargetInfo x86Baseline() {
  TargetInfo info;
  info.name = info.cpu = "x86-64";
  info.device = "cpu";
  info.triple = "x86_64-unknown-linux-gnu";
  info.requiredFeatures = {"sse2"};
  info.vector.bytes = 16;
  info.vector.registers = 16;
  addProcessorCosts(info);
  info.arithmetic.hasRounding = info.arithmetic.hasHalfConversion = info.arithmetic.hasMaximum = false;
  return info;
}

TargetInfo x86Level2() {
  TargetInfo info = x86Baseline();
  info.name = info.cpu = "x86-64-v2";
  info.requiredFeatures = {"sse4.2", "popcnt"};
  info.arithmetic.hasRounding = true;
  return info;
}

TargetInfo x86Level3() {
  TargetInfo info = x86Level2();
  info.name = info.cpu = "x86-64-v3";
  info.requiredFeatures = {"avx2", "fma", "f16c", "bmi2"};
  info.vector.bytes = 32;
  info.arithmetic.hasFma = info.arithmetic.hasHalfConversion = true;
  return info;
}

TargetInfo x86Level4() {
  TargetInfo info = x86Level3();
  info.name = info.cpu = "x86-64-v4";
  for (const char *feature : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
    info.requiredFeatures.push_back(feature);
  info.vector.bytes = 64;
  info.vector.registers = 32;
  info.vector.hasMaskedOps = true;
  info.memory.l2Bytes = 1 << 20;
  return info;
}

/// Adds a feature that the code needs.
void addFeature(TargetInfo &info, const char *feature) {
  info.features.push_back(feature);
  info.requiredFeatures.push_back(feature);
}

/// Adds the instruction that adds products of two bf16 to each lane of 32 bits.
void addBf16Vectors(TargetInfo &info) {
  info.matrix.instructions.push_back({"vdpbf16ps", 1, info.lanes(4), 2, 1, MatrixType::BF16, MatrixType::F32});
  info.costs.matrixProductsPerCycle = 4 * info.lanes(4);
}

/// Adds the instruction that adds products of four 8-bit integers to each lane of 32 bits.
void addI8Vectors(TargetInfo &info) {
  info.matrix.instructions.push_back({"vpdpbusd", 1, info.lanes(4), 4, 1, MatrixType::I8, MatrixType::I32});
  info.costs.matrixProductsPerCycle = 4 * info.lanes(4);
}

/// AVX-512 with products of bf16 and of 8-bit integers.
TargetInfo zen4() {
  TargetInfo info = x86Level4();
  info.name = "znver4";
  addFeature(info, "avx512vnni");
  addFeature(info, "avx512bf16");
  addI8Vectors(info);
  addBf16Vectors(info);
  return info;
}

/// Adds what the matrix unit needs. A kernel keeps its packed factors in the second cache.
void addAmx(TargetInfo &info) {
  for (const char *feature : {"amx-tile", "amx-int8", "amx-bf16"})
    addFeature(info, feature);
  const auto tiles = OperandSource::TileRegisters;
  info.matrix.instructions.push_back({"tdpbf16ps", 16, 16, 32, 1, MatrixType::BF16, MatrixType::F32, tiles, tiles});
  info.matrix.instructions.push_back({"tdpbssd", 16, 16, 64, 1, MatrixType::I8, MatrixType::I32, tiles, tiles});
  info.costs.matrixProductsPerCycle = 256;
  info.memory.privateBytes = 3 << 19;
}

/// AVX-512 with a matrix unit.
TargetInfo sapphireRapids() {
  TargetInfo info = x86Level4();
  info.name = "sapphirerapids";
  info.memory.l1Bytes = 48 << 10;
  info.memory.l2Bytes = 2 << 20;
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
  info.vector.bytes = 16;
  info.vector.registers = 32;
  info.arithmetic.hasFma = true;
  addProcessorCosts(info);
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
    if (__builtin_cpu_supports("avx512vnni")) {
      addI8Vectors(info);
      addFeature(info, "avx512vnni");
    }
    // Processors of Intel take as long for the products of two bf16 as for two fma.
    if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_is("amd"))
      addBf16Vectors(info);
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
  addProcessorCosts(info);
  // Who calls a program may be a thread with a stack of 1 MiB. What is packed takes at most half of what schedules keep
  // to, sums a quarter.
  info.memory.stackBytes = 512 << 10;
  info.memory.privateBytes = 640 << 10;
  return info;
}

/// An instruction of a warp, whose factors and sums are in its registers.
MatrixInstruction warpProduct(const char *name, int64_t k, MatrixType factors) {
  const MatrixType sums = factors == MatrixType::I8 ? MatrixType::I32 : MatrixType::F32;
  return {name, 16, 8, k, 32, factors, sums};
}

/// An instruction of a group of four warps, whose right factor is in shared memory, as its left one may be.
MatrixInstruction groupProduct(const char *name, int64_t k, MatrixType factors) {
  const MatrixType sums = factors == MatrixType::I8 ? MatrixType::I32 : MatrixType::F32;
  return {name, 64, 256, k, 128, factors, sums, OperandSource::Shared, OperandSource::Shared, /*isAsync=*/true};
}

/// What schedules rely on in every card since Turing. Some are larger: none of these numbers is a card's own but the
/// first ones.
void addWorkgroups(TargetInfo &info) {
  SimtFacts &simt = info.simt;
  simt.subgroupSize = 32;
  simt.workgroupThreads = 1024;
  simt.registers = 65536;
  simt.threadRegisters = 255;
  // A card of sm_75 has room for 1024, those of sm_86 and sm_89 for 1536: estimates are as they were measured on a
  // larger one.
  simt.residentThreads = 2048;
  simt.residentWorkgroups = 32;
  simt.busyThreads = 1024;
  simt.laneBytes = 16;
  simt.laneRegisters = 32;
}

/// Rates and latencies that were measured on an H200, and are taken for all cards.
void addCardCosts(TargetInfo &info) {
  CostFacts &costs = info.costs;
  costs.lanesPerCycle = 128;
  costs.sharedBytesPerCycle = 128;
  costs.distributedSharedBytesPerCycle = 1;
  // Each is an approximation with its corrections, and a test whether these are exact; the last one a root and a
  // reciprocal.
  costs.divideOps = 14;
  costs.rootOps = 14;
  costs.inverseRootOps = 28;
  // A multiprocessor has an eighth of its lanes for them.
  costs.convertOps = 8;
  costs.simtF32TileCycles = 2700;
  costs.opCycles = 4;
  costs.readCycles = 100;
  costs.productCycles = 8;
  costs.sharedLatencyCycles = 30;
  costs.workgroupBarrierCycles = 60;
  costs.clusterLatencyCycles = 500;
  costs.readingThreads = 256;
  costs.busySubgroups = 8;
  SharedProductCosts &shared = info.sharedProducts;
  shared.sliceCycles = 900;
  shared.tileCycles = 2500;
  shared.waitCycles = 600;
  shared.busyCycles = 2000;
  shared.nearReadCycles = 0.5;
  shared.readCycles = 0.9;
  shared.bringCycles = 0.125;
  shared.subgroupShare = 0.5;
  shared.instructionCycles = 16;
  shared.blockCycles = 4;
  shared.integerLoss = 2;
  shared.attentionBlockCycles = 1500;
}

/// What Hopper's copy engine asks of a tensor. Kernels of other cards are made of the same views: their threads copy 16
/// bytes at a time.
void addTensorCopies(TargetInfo &info) {
  info.copies.alignmentBytes = 16;
  info.copies.dimensions = 5;
  info.copies.dimensionElements = (int64_t(1) << 31) - 1;
  info.copies.strideBytes = int64_t(1) << 40;
  info.copies.boxElements = 256;
  info.copies.boxPixels = 1024;
}

/// What every card since Turing has.
TargetInfo turing() {
  TargetInfo info;
  info.name = info.cpu = "sm_75";
  info.kind = TargetKind::CUDA;
  info.device = "cuda";
  info.requiredFeatures = {"sm_75"};
  info.ptxVersion = 78;
  info.features = {"ptx78"};
  info.cores = 40;
  info.arithmetic.hasFma = info.arithmetic.hasPackedHalf = true;
  // Before sm_80 there is no maximum of floats that gives NaN.
  info.arithmetic.hasMaximum = false;
  addWorkgroups(info);
  info.simt.hasShuffles = true;
  info.simt.sharedBytes = 64 << 10;
  info.simt.hasCountedBarriers = true;
  info.matrix.instructions = {warpProduct("mma.m16n8k8.f16", 8, MatrixType::F16)};
  addTensorCopies(info);
  info.memory.l1Bytes = 96 << 10;
  info.memory.l2Bytes = 4 << 20;
  info.memory.privateBytes = info.memory.stackBytes = 1 << 10;
  info.memory.transactionBytes = 32;
  info.memory.lineBytes = 128;
  // Measured on an H200, and taken for all of NVIDIA's: of code behind a product, 154 kB took 136,000 cycles a tile,
  // and 92 kB 17,000.
  info.memory.instructionBytes = 16;
  info.memory.codeBytes = 96 << 10;
  addCardCosts(info);
  info.costs.codeBytesPerCycle = 1.1;
  // Estimates: none of these cards was there to be measured.
  info.costs.threadProductsPerCycle = 10;
  info.costs.threadF32ProductsPerCycle = 20;
  info.costs.launchCycles = 5000;
  info.costs.megahertz = 1600;
  info.costs.matrixProductsPerCycle = 512;
  info.costs.cacheBytesPerCycle = 32;
  info.costs.tileCycles = 3000;
  info.costs.memoryBytesPerCycle = 5;
  return info;
}

/// A newer card with these caches, multiprocessors, and bytes of shared memory for a workgroup.
TargetInfo card(const char *name, int64_t l1Bytes, int64_t l2Bytes, int64_t cores, int64_t sharedBytes) {
  TargetInfo info = turing();
  info.name = info.cpu = name;
  info.requiredFeatures = {name};
  info.cores = cores;
  info.arithmetic.hasMaximum = info.arithmetic.hasPackedBfloat = true;
  info.simt.sharedBytes = sharedBytes;
  info.matrix.instructions = {
      warpProduct("mma.m16n8k16.f16", 16, MatrixType::F16), warpProduct("mma.m16n8k16.bf16", 16, MatrixType::BF16),
      warpProduct("mma.m16n8k8.tf32", 8, MatrixType::TF32), warpProduct("mma.m16n8k32.s8", 32, MatrixType::I8)};
  info.memory.l1Bytes = l1Bytes;
  info.memory.l2Bytes = l2Bytes;
  info.copies.engine = CopyEngine::PerThread;
  return info;
}

/// A100.
TargetInfo ampere() {
  TargetInfo info = card("sm_80", 192 << 10, 40 << 20, 108, 163 << 10);
  info.costs.matrixProductsPerCycle = 1024;
  info.costs.cacheBytesPerCycle = 48;
  info.costs.tileCycles = 2000;
  info.costs.memoryBytesPerCycle = 10;
  return info;
}
/// RTX 30.
TargetInfo ampereDesktop() { return card("sm_86", 128 << 10, 6 << 20, 82, 99 << 10); }
/// RTX 40, L40.
TargetInfo ada() { return card("sm_89", 128 << 10, 72 << 20, 128, 99 << 10); }

/// H100, H200.
TargetInfo hopper() {
  TargetInfo info = card("sm_90a", 256 << 10, 50 << 20, 132, 227 << 10);
  for (const MatrixInstruction &product : {groupProduct("wgmma.m64n256k16.f16", 16, MatrixType::F16),
                                           groupProduct("wgmma.m64n256k16.bf16", 16, MatrixType::BF16),
                                           groupProduct("wgmma.m64n256k8.tf32", 8, MatrixType::TF32),
                                           groupProduct("wgmma.m64n256k32.e4m3", 32, MatrixType::F8E4M3FN),
                                           groupProduct("wgmma.m64n256k32.e5m2", 32, MatrixType::F8E5M2),
                                           groupProduct("wgmma.m64n256k32.s8", 32, MatrixType::I8)})
    info.matrix.instructions.push_back(product);
  info.copies.engine = CopyEngine::Boxes;
  info.simt.registerStep = 8;
  info.simt.clusterSize = 8;
  info.simt.hasEarlyLaunches = true;
  info.costs.matrixProductsPerCycle = 2048;
  info.costs.cacheBytesPerCycle = 52;
  info.costs.tileCycles = 1800;
  info.costs.memoryBytesPerCycle = 13;
  info.costs.simtF32ProductsPerCycle = 100;
  info.costs.threadProductsPerCycle = 17;
  info.costs.threadF32ProductsPerCycle = 34;
  info.costs.sliceCycles = 200;
  info.costs.clusterBarrierCycles = 100;
  info.costs.distributedSharedBytesPerCycle = 2;
  info.costs.launchCycles = 5300;
  info.costs.megahertz = 1755;
  info.ptxVersion = 88;
  info.features = {"ptx88"};
  return info;
}

/// The same, where products need not have all digits.
TargetInfo hopperFast() {
  TargetInfo info = hopper();
  info.name = "sm_90a-fast";
  info.matrix.allowsReducedPrecision = true;
  return info;
}

/// For a card that nobody names, and those without a record.
TargetInfo anyCard() {
  TargetInfo info = turing();
  info.name = "cuda";
  info.isAssembledByDriver = true;
  return info;
}

/// A GPU of AMD's by its manual: compute units, threads of a wave, their registers, and what lies between a compute
/// unit and memory. Products are of threads: its matrix instructions have no rows yet, and so no kernel has them.
TargetInfo amd(const char *name, int64_t cores, int64_t waveThreads, int64_t registers, int64_t residentThreads,
               int64_t l2Bytes) {
  TargetInfo info;
  info.name = info.cpu = name;
  info.kind = TargetKind::HIP;
  info.device = "hip";
  info.requiredFeatures = {name};
  info.cores = cores;
  info.arithmetic.hasFma = info.arithmetic.hasPackedHalf = true;
  info.arithmetic.hasMaximum = false;
  addWorkgroups(info);
  info.simt.subgroupSize = waveThreads;
  info.simt.hasSharedFences = true;
  info.simt.sharedBytes = 64 << 10;
  info.simt.registers = registers;
  info.simt.residentThreads = residentThreads;
  info.simt.busyThreads = residentThreads / 2;
  info.memory.l1Bytes = 32 << 10;
  info.memory.l2Bytes = l2Bytes;
  info.memory.lineBytes = 128;
  // Private allocations are in global memory, in what a launch gives the kernel for them: no kernel needs what AMD
  // calls scratch memory, which the driver would have to keep for every thread that a card has room for.
  info.memory.privateBytes = info.memory.stackBytes = 0;
  // Estimates: none of these cards was there to be measured.
  addCardCosts(info);
  info.costs.threadProductsPerCycle = 10;
  info.costs.threadF32ProductsPerCycle = 20;
  info.costs.launchCycles = 8000;
  info.costs.cacheBytesPerCycle = 64;
  info.costs.memoryBytesPerCycle = 4;
  return info;
}

/// MI300.
TargetInfo cdna3() {
  TargetInfo info = amd("gfx942", 304, 64, 131072, 2048, 4 << 20);
  info.costs.megahertz = 2100;
  info.costs.memoryBytesPerCycle = 8;
  return info;
}
/// RX 7900.
TargetInfo rdna3() {
  TargetInfo info = amd("gfx1100", 96, 32, 98304, 1024, 6 << 20);
  info.costs.megahertz = 2500;
  return info;
}
/// RX 9070: the first whose maximum of floats gives NaN where either is.
TargetInfo rdna4() {
  TargetInfo info = amd("gfx1201", 64, 32, 98304, 1024, 8 << 20);
  info.arithmetic.hasMaximum = true;
  info.costs.megahertz = 2900;
  return info;
}

/// Buffers up to which ops are fused where a driver compiles kernels. A step of training that has all gradients' norm
/// is one kernel of more than 100 buffers else, which compilers of Mesa's and PoCL's take minutes for.
constexpr int64_t driverBuffers = 32;

/// Any card that a standard's driver is there for: workgroups and shared memory are as large as they are on every one.
/// What a device has less of, its driver says when it loads a kernel. Subgroups are what neighbours share of a line: no
/// kernel takes it that they run in lockstep.
TargetInfo anyCard(const char *name, TargetKind kind) {
  TargetInfo info;
  info.name = info.device = name;
  info.kind = kind;
  info.cores = 16;
  info.arithmetic.hasFma = true;
  info.arithmetic.hasMaximum = info.arithmetic.hasHalfConversion = false;
  addWorkgroups(info);
  info.simt.workgroupThreads = 256;
  info.simt.sharedBytes = 32 << 10;
  info.simt.fusedBuffers = driverBuffers;
  info.memory.l2Bytes = 4 << 20;
  info.memory.lineBytes = 128;
  info.memory.privateBytes = info.memory.stackBytes = 1 << 10;
  addCardCosts(info);
  // Estimates of a card.
  info.costs.threadProductsPerCycle = 10;
  info.costs.threadF32ProductsPerCycle = 20;
  info.costs.launchCycles = 8000;
  info.costs.cacheBytesPerCycle = 32;
  info.costs.memoryBytesPerCycle = 5;
  info.costs.megahertz = 1600;
  return info;
}

TargetInfo openCL() { return anyCard("opencl", TargetKind::C); }

/// A processor as a device of OpenCL, whose compiler takes vectors: a program is a work item by itself. What C has no
/// words for is left out.
TargetInfo openCLProcessor(TargetInfo info) {
  Identity identity{.name = "opencl-" + info.name, .kind = TargetKind::C, .device = "opencl", .cores = info.cores};
  static_cast<Identity &>(info) = std::move(identity);
  info.matrix = {};
  info.simt.fusedBuffers = driverBuffers;
  info.vector.hasMaskedOps = info.arithmetic.hasHalfConversion = info.arithmetic.hasMaximum = false;
  // The threads that run work items are the driver's, and so are their stacks.
  info.memory.stackBytes = 64 << 10;
  return info;
}

/// Its compilers may make two roundings of a product and a sum.
TargetInfo vulkan() {
  TargetInfo info = anyCard("vulkan", TargetKind::Vulkan);
  info.arithmetic.isFmaExact = false;
  return info;
}

/// Any device of WebGPU: the limits of buffers and of private memory that each has without being asked. Of shared
/// memory each that we know has as much as OpenCL's.
TargetInfo webGPU() {
  TargetInfo info = anyCard("webgpu", TargetKind::C);
  info.arithmetic.isFmaExact = false;
  info.arithmetic.hasDoubles = false;
  info.simt.maxBuffers = 8;
  info.memory.isTyped = true;
  // All variables of a function together.
  info.memory.stackBytes = 8 << 10;
  return info;
}

/// The same device, where its driver offers ops of subgroups.
template <TargetInfo (*make)()> TargetInfo withSubgroups() {
  TargetInfo info = make();
  info.name += "-subgroups";
  info.requiredFeatures = {"subgroups"};
  info.simt.hasSubgroupOps = true;
  return info;
}

/// A field as text.
std::string textOf(const std::string &field) { return field; }
std::string textOf(std::integral auto field) { return std::to_string(field); }
std::string textOf(TargetKind field) { return std::to_string(static_cast<int>(field)); }
std::string textOf(MatrixType field) { return std::string(toString(field)); }
std::string textOf(OperandSource field) {
  constexpr const char *names[] = {"registers", "tile registers", "shared"};
  return names[static_cast<size_t>(field)];
}
std::string textOf(CopyEngine field) {
  constexpr const char *names[] = {"none", "per thread", "boxes"};
  return names[static_cast<size_t>(field)];
}
std::string textOf(double field) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", field);
  return text;
}
std::string textOf(const MatrixInstruction &field) {
  std::string text;
  forEachFieldOf(field, [&](const char *name, const auto &own) {
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + textOf(own);
  });
  return text;
}
template <typename Element> std::string textOf(const std::vector<Element> &field) {
  std::string text;
  for (const Element &element : field)
    text += (text.empty() ? "" : ", ") + textOf(element);
  return "[" + text + "]";
}

} // namespace

int64_t byteSize(MatrixType type) {
  switch (type) {
  case MatrixType::F8E4M3FN:
  case MatrixType::F8E5M2:
  case MatrixType::I8:
    return 1;
  case MatrixType::F16:
  case MatrixType::BF16:
    return 2;
  case MatrixType::TF32:
  case MatrixType::F32:
  case MatrixType::I32:
    return 4;
  }
  return 0;
}

std::string_view toString(MatrixType type) {
  constexpr const char *names[] = {"f16", "bf16", "tf32", "f8e4m3fn", "f8e5m2", "f32", "i8", "i32"};
  return names[static_cast<size_t>(type)];
}

const MatrixInstruction *TargetInfo::findDot(MatrixType factors) const {
  return findInstruction([&](const MatrixInstruction &each) { return each.threads == 1 && each.factors == factors; });
}

const MatrixInstruction *TargetInfo::findSubgroupProduct(MatrixType factors) const {
  return findInstruction([&](const MatrixInstruction &each) {
    return hasSubgroups() && each.threads == simt.subgroupSize && each.rhs == OperandSource::Registers &&
           each.factors == factors;
  });
}

bool TargetInfo::hasTileRegisters() const {
  return findInstruction([](const MatrixInstruction &each) { return each.rhs == OperandSource::TileRegisters; });
}

const MatrixInstruction *TargetInfo::findTileProduct() const {
  return findInstruction(
      [](const MatrixInstruction &each) { return each.isAsync && each.rhs == OperandSource::Shared; });
}

bool TargetInfo::hasTensorTiles() const { return copies.engine == CopyEngine::Boxes && findTileProduct(); }

std::string TargetInfo::featureString() const {
  std::string text;
  for (const std::string &feature : features)
    text += (text.empty() ? "+" : ",+") + feature;
  return text;
}

std::string TargetInfo::cacheKey() const {
  std::string text;
  // What came later, and a machine has not, leaves its kernels' names as they were.
  const void *const leftOut[] = {&name, memory.isTyped ? nullptr : &memory.isTyped,
                                 simt.fusedBuffers ? nullptr : &simt.fusedBuffers,
                                 simt.hasSubgroupOps ? nullptr : &simt.hasSubgroupOps};
  forEachField(*this, [&](const char *, const char *fieldName, const auto &field) {
    if (std::ranges::find(leftOut, static_cast<const void *>(&field)) == std::end(leftOut))
      text += std::string(fieldName) + '=' + textOf(field) + ';';
  });
  return text;
}

std::string TargetInfo::toString() const {
  std::string text;
  forEachField(*this, [&](const char *group, const char *fieldName, const auto &field) {
    text += std::string(group) + '.' + fieldName + ": " + textOf(field) + '\n';
  });
  return text;
}

/// Records that are instruction sets of CPUs.
constexpr std::pair<const char *, TargetInfo (*)()> isaRecords[] = {
    {"x86-64", x86Baseline}, {"x86-64-v2", x86Level2},           {"x86-64-v3", x86Level3}, {"x86-64-v4", x86Level4},
    {"znver4", zen4},        {"sapphirerapids", sapphireRapids}, {"aarch64", aarch64}};

/// Records that are no CPUs.
constexpr std::pair<const char *, TargetInfo (*)()> otherRecords[] = {{"cuda", anyCard},
                                                                      {"sm_75", turing},
                                                                      {"sm_80", ampere},
                                                                      {"sm_86", ampereDesktop},
                                                                      {"sm_89", ada},
                                                                      {"sm_90a", hopper},
                                                                      {"sm_90a-fast", hopperFast},
                                                                      {"gfx942", cdna3},
                                                                      {"gfx1100", rdna3},
                                                                      {"gfx1201", rdna4},
                                                                      {"opencl", openCL},
                                                                      {"opencl-subgroups", withSubgroups<openCL>},
                                                                      {"vulkan", vulkan},
                                                                      {"vulkan-subgroups", withSubgroups<vulkan>},
                                                                      {"webgpu", webGPU},
                                                                      {"webgpu-subgroups", withSubgroups<webGPU>}};

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
    all.emplace_back("opencl-cpu");
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
  // "opencl-cpu", or another processor's: "opencl-x86-64-v3".
  if (constexpr std::string_view prefix = "opencl-"; name.starts_with(prefix))
    if (Result<TargetInfo> info = lookUpTarget(name.substr(prefix.size())); info && info->kind == TargetKind::CPU)
      return openCLProcessor(std::move(*info));
  return Status::notFound("no target is named '" + std::string(name) + "'; there are " + join(targetNames()));
}

} // namespace zyx::target
