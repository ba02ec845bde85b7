//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_INFO_TARGETINFO_H
#define ZYX_TARGET_INFO_TARGETINFO_H

#include "zyx/Base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Facts of machines, as records. Whoever would ask "is this CUDA" reads a fact here instead.
namespace zyx::target {

/// Which emitter makes code for the machine.
enum class TargetKind : uint8_t { CPU = 0, C = 1, CUDA = 2 };

struct TargetInfo {
  /// The record's name: "cpu", "x86-64-v3", "aarch64", "c", "cuda", "sm_90a".
  std::string name;
  TargetKind kind = TargetKind::CPU;
  /// The runtime's device that loads the code: "cpu", "c", "cuda".
  std::string device;
  /// The triple of the system that runs the code; empty for this one.
  std::string triple;
  /// The processor, by LLVM's name; empty where LLVM is not involved.
  std::string cpu;
  /// Features beyond those of `cpu`, by LLVM's names.
  std::vector<std::string> features;
  /// Features that the device must have for the code to run, by LLVM's names; for the artifact. Of a GPU
  /// its architecture.
  std::vector<std::string> requiredFeatures;

  /// Bytes of a native vector; 0 where kernels are scalar (text targets).
  int64_t vectorBytes = 0;
  int64_t vectorRegisters = 0;
  /// One instruction computes a * b + c with one rounding.
  bool hasFma = false;
  /// Masked vector loads and stores are instructions.
  bool hasMaskedOps = false;
  /// A matrix unit multiplies bf16 and 8-bit integers (Intel's AMX).
  bool hasAmx = false;
  /// Instructions add products of two bf16, and of four 8-bit integers, to each lane of 32 bits.
  bool hasBf16Vectors = false, hasI8Vectors = false;
  /// Rounding to whole numbers is an instruction: floor, ceil, trunc, roundeven.
  bool hasRounding = true;
  /// The maximum and minimum of floats, with NaN where either is and -0 below 0, are instructions.
  bool hasMaximum = true;
  /// Conversions between f16 and f32 are instructions.
  bool hasHalfConversion = true;

  /// Data caches of one core, in bytes; on a GPU those of a multiprocessor and of the device.
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;

  /// Processors that run programs of a kernel at the same time: a kernel has at least so many to hand out.
  int64_t cores = 4;

  /// Private allocations of one kernel, in bytes: they are on the stack of a worker thread. On a GPU what
  /// a thread may have in local memory; larger ones lie in global memory.
  int64_t privateBytes = 1 << 20;
  /// Shared memory of one workgroup, in bytes; 0 where there is none.
  int64_t sharedBytes = 0;
  /// Threads that run in lockstep.
  int64_t warpSize = 1;
  /// Workgroups of a cluster, which read and write each other's shared memory, at most; 1 where there are none.
  int64_t clusterSize = 1;
  /// One instruction computes two f16 or two bf16: sums, differences, products.
  bool hasPackedHalf = false, hasPackedBfloat = false;
  /// Groups of four warps multiply tiles of 16-bit elements out of shared memory, where an engine copies them.
  bool hasTensorTiles = false;
  /// Bytes along the contraction that a warp multiplies by one instruction, of 16 rows and 8 columns; 0 where none
  /// does. With 16 it knows f16 alone, with 32 bf16, i8 and tf32, too.
  int64_t warpProductBytes = 0;
  /// Threads start copies from global to shared memory, and go on meanwhile.
  bool hasAsyncCopies = false;
  /// Whether products may have fewer digits than their sums' type: f32 that is cut to tf32, of 10, and f8 whose sums
  /// have some 14. What a user asks for by name.
  bool fewDigits = false;
  /// Of these: products that a multiprocessor sums up in a cycle, bytes that reach it meanwhile, and cycles in which a
  /// tile does neither, because its first slices are on their way, or its results are.
  int64_t productsPerCycle = 0, bytesPerCycle = 0, tileCycles = 0;
  /// What memory gives in a cycle: a multiprocessor's share, or what one core of a processor reads.
  int64_t memoryBytesPerCycle = 4;
  /// Of these, too: products that the threads of a multiprocessor sum up in a cycle out of shared memory, where tensor
  /// cores would lose digits, and in a kernel of the generic way.
  int64_t exactProductsPerCycle = 0, threadProductsPerCycle = 0;
  /// Cycles that a slice takes from its arrival to its release, however few products it has; in which workgroups of a
  /// cluster wait for each other when they meet to add up their parts of a tile, by the square of their number; and
  /// that one more kernel costs, on a processor, too.
  int64_t sliceCycles = 0, meetingCycles = 0, launchCycles = 4000;
  /// Millions of cycles in a second, by which estimates are seconds.
  int64_t megahertz = 3000;
  /// What a workgroup sends to the others of its cluster in a cycle, register by register.
  int64_t sentBytesPerCycle = 1;
  /// Threads that a core of a GPU wants, to wait for memory in turn: at least half of those for which it has room.
  int64_t threadsPerCore = 0;
  /// Version of PTX that the emitter writes, times 10: 88 for 8.8.
  int ptxVersion = 0;
  /// The code is PTX for the device's driver, which knows machines that came later.
  bool isAssembledByDriver = false;

  /// Elements of `elementBytes` bytes in a native vector, 1 where kernels are scalar.
  int64_t lanes(int64_t elementBytes) const { return vectorBytes > elementBytes ? vectorBytes / elementBytes : 1; }
  /// Whether something sums up products of narrow factors faster than it would sum up wide ones.
  bool hasBf16Dots() const { return hasAmx || hasBf16Vectors; }
  bool hasI8Dots() const { return hasAmx || hasI8Vectors; }
  /// Programs are threads that run in lockstep with others.
  bool isGpu() const { return warpSize > 1; }
  /// Tensor cores multiply, however they are fed.
  bool hasTensorCores() const { return hasTensorTiles || warpProductBytes != 0; }
  /// "+avx2,+fma", as LLVM takes features.
  std::string featureString() const;
  /// Everything that changes the code, as text for cache keys.
  std::string cacheKey() const;
};

/// The record of that name. "cpu" describes the processor this runs on, or code for the device "cpu"
/// of another instruction set: `isa` is the name of its record then, and "native" else.
Result<TargetInfo> lookUpTarget(std::string_view name, std::string_view isa = "native");
/// Names of all records, "cpu" first.
const std::vector<std::string> &targetNames();
/// "native", and the names of the records that are instruction sets of CPUs.
const std::vector<std::string> &isaNames();

} // namespace zyx::target

#endif // ZYX_TARGET_INFO_TARGETINFO_H
