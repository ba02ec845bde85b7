//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_INFO_TARGETINFO_H
#define ZYX_TARGET_INFO_TARGETINFO_H

#include "zyx/Base/Status.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Facts of machines, as records. Whoever would ask "is this CUDA" reads a fact here instead.
/// A new fact is a member of a group below, and a line of forEachField (Fields.h): cache key and printed form follow.
namespace zyx::target {

/// Which emitter makes code for the machine.
enum class TargetKind : uint8_t { CPU = 0, C = 1, CUDA = 2, HIP = 3, Vulkan = 4 };

/// Whose code it is, and for whom.
struct Identity {
  /// The record's name: "cpu", "x86-64-v3", "aarch64", "c", "cuda", "sm_90a", "gfx942".
  std::string name;
  TargetKind kind = TargetKind::CPU;
  /// The runtime's device that loads the code: "cpu", "c", "cuda", "hip".
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
  /// Version of PTX that the emitter writes, times 10: 88 for 8.8; 0 where it writes none.
  int ptxVersion = 0;
  /// The code is PTX for the device's driver, which knows machines that came later.
  bool isAssembledByDriver = false;
  /// Processors that run programs of a kernel at the same time: a kernel has at least so many to hand out.
  /// Cores of a CPU, multiprocessors of a GPU.
  int64_t cores = 4;
};

/// What one instruction computes with numbers, whether they are alone or in a vector.
struct Arithmetic {
  /// a * b + c with one rounding.
  bool hasFma = false;
  /// Where it is not exact its product may be rounded, too: good for sums of products, and nothing else.
  bool isFmaExact = true;
  /// Rounding to whole numbers: floor, ceil, trunc, roundeven.
  bool hasRounding = true;
  /// The maximum and minimum of floats, with NaN where either is and -0 below 0.
  bool hasMaximum = true;
  /// Functions of f32 may be computed in f64.
  bool hasDoubles = true;
  /// Conversions between f16 and f32.
  bool hasHalfConversion = true;
  /// Sums, differences and products of two f16, or of two bf16.
  bool hasPackedHalf = false, hasPackedBfloat = false;

  bool hasExactFma() const { return hasFma && isFmaExact; }
};

/// Vector registers of a core, which a program uses as it likes; none where kernels are scalar.
struct VectorFacts {
  int64_t bytes = 0;
  int64_t registers = 0;
  /// Masked loads and stores are instructions.
  bool hasMaskedOps = false;
};

/// Threads that run the same instruction in lockstep, and share memory.
struct SimtFacts {
  /// Threads of a subgroup, which run in lockstep: a warp, a wave. 1 where programs are no such threads.
  int64_t subgroupSize = 1;
  /// Threads of a workgroup, at most.
  int64_t workgroupThreads = 0;
  /// Shared memory of one workgroup, in bytes; 0 where there is none.
  int64_t sharedBytes = 0;
  /// Workgroups of a cluster, which read and write each other's shared memory, at most; 1 where there are none.
  int64_t clusterSize = 1;
  /// Registers of 32 bits that the threads of a core share, and those that one thread has at most.
  int64_t registers = 0, threadRegisters = 0;
  /// Where subgroups of a workgroup may hand each other registers, a thread has a multiple of so many; 0 where all of
  /// them have as many.
  int64_t registerStep = 0;
  /// Threads and workgroups that a core has room for.
  int64_t residentThreads = 0, residentWorkgroups = 0;
  /// Threads that a core wants, to wait for memory in turn: at least half of those for which it has room.
  int64_t busyThreads = 0;
  /// Bytes that one thread reads or writes at once, and registers of so many bytes that it has for sums of a product.
  int64_t laneBytes = 0, laneRegisters = 0;
  /// Buffers that a kernel may have; 0 where no number limits them.
  int64_t maxBuffers = 0;
  /// Buffers of a kernel up to which ops are fused, where the driver's compiler takes too long for more: ops that have
  /// more on their own are no error. 0 where no number limits them.
  int64_t fusedBuffers = 0;
  /// Threads of a subgroup, of whatever size the device has, add up i32 and f32 by one op, and find the largest i32.
  /// None relies on `subgroupSize` then, nor on how threads are numbered.
  bool hasSubgroupOps = false;
  /// Threads of a subgroup read registers of each other, and run in lockstep where they do.
  bool hasShuffles = false;
  /// A barrier can be told to order what threads do to shared memory alone, without waiting for global memory.
  bool hasSharedFences = false;
  /// Some subgroups of a workgroup may wait for each other at a barrier, while others do something else.
  bool hasCountedBarriers = false;
  /// A kernel may begin before the one that it is behind is over, and has an instruction that waits for that.
  bool hasEarlyLaunches = false;

  /// Buffers that ops may have which become one kernel; 0 for any number.
  int64_t mostFusedBuffers() const {
    return maxBuffers == 0 || fusedBuffers == 0 ? maxBuffers + fusedBuffers : std::min(maxBuffers, fusedBuffers);
  }
  /// Threads that a core has registers for, if each has so many.
  int64_t threadsWith(int64_t registersEach) const { return registers / registersEach; }
};

/// Where a matrix instruction has an operand: in registers of its threads, in registers that are tiles of a matrix, or
/// in shared memory.
enum class OperandSource : uint8_t { Registers = 0, TileRegisters = 1, Shared = 2 };
enum class MatrixType : uint8_t { F16 = 0, BF16 = 1, TF32 = 2, F8E4M3FN = 3, F8E5M2 = 4, F32 = 5, I8 = 6, I32 = 7 };
/// Bytes of an element in memory.
int64_t byteSize(MatrixType type);
std::string_view toString(MatrixType type);

/// An instruction that adds the product of an m x k and a k x n matrix to an m x n one.
struct MatrixInstruction {
  /// As the machine's manual names it.
  std::string name;
  /// Of several sizes the largest.
  int64_t m = 0, n = 0, k = 0;
  /// Threads that execute it together.
  int64_t threads = 1;
  MatrixType factors = MatrixType::F16, sums = MatrixType::F32;
  OperandSource lhs = OperandSource::Registers, rhs = OperandSource::Registers;
  /// The threads go on meanwhile, and wait for its sums.
  bool isAsync = false;

  bool operator==(const MatrixInstruction &) const = default;
};

struct MatrixFacts {
  std::vector<MatrixInstruction> instructions;
  /// Whether products may have fewer digits than their sums' type: f32 that is cut to tf32, of 10, and f8 whose sums
  /// have some 14. What a user asks for by name.
  bool allowsReducedPrecision = false;
};

/// What copies from global to shared memory while threads go on.
enum class CopyEngine : uint8_t {
  None = 0,
  /// Each thread starts copies of a few bytes.
  PerThread = 1,
  /// One thread starts the copy of a box of a tensor; single threads start copies, too.
  Boxes = 2
};

/// How pieces of tensors get from global to shared memory, and what is asked of the tensors.
struct CopyFacts {
  CopyEngine engine = CopyEngine::None;
  /// Addresses and strides are multiples of so many bytes.
  int64_t alignmentBytes = 0;
  /// Dimensions of a tensor, elements of one of them, and bytes from one to the next, at most.
  int64_t dimensions = 0, dimensionElements = 0, strideBytes = 0;
  /// Elements of a dimension of a box, and pixels of a window, that go at once at most.
  int64_t boxElements = 0, boxPixels = 0;
};

/// Memory of one core.
struct MemoryFacts {
  /// Data caches, in bytes; on a GPU those of a multiprocessor and of the device.
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;
  /// Private allocations of a kernel that schedules keep to, in bytes; on a GPU what a thread may have in local memory.
  /// Larger ones lie in global memory.
  int64_t privateBytes = 1 << 20;
  /// Private allocations that the stack of whoever runs a program has room for.
  int64_t stackBytes = 4 << 20;
  /// What moves for an element that is read by itself: a line of a CPU, a sector of a GPU.
  int64_t transactionBytes = 64;
  /// What moves for an element that is written by itself, beside no neighbour.
  int64_t scatteredBytes = 64;
  /// What memory gives at once: rows that begin there are read with the fewest requests.
  int64_t lineBytes = 64;
  /// Bytes of an instruction, and of those that a core keeps from tile to tile beside the loop that multiplies; 0 where
  /// no pass asks.
  int64_t instructionBytes = 0, codeBytes = 0;
  /// Memory has the one type that it is declared with: it is read by vectors only where each write is one, too.
  bool isTyped = false;
};

/// Rates and latencies that estimates are made of: of one core, in its cycles. Each record says its own.
struct CostFacts {
  /// Millions of cycles in a second, by which estimates are seconds.
  int64_t megahertz = 0;
  /// Cycles that one more kernel costs.
  int64_t launchCycles = 0;
  /// What memory gives a core in a cycle, and what its caches do.
  int64_t memoryBytesPerCycle = 0, cacheBytesPerCycle = 0;
  /// Products of 16 bits that matrix instructions sum up in a cycle.
  int64_t matrixProductsPerCycle = 0;
  /// Simple instructions that a division takes, a square root, and one over it.
  int64_t divideOps = 8, rootOps = 8, inverseRootOps = 8;
  /// The same of exponentials, logarithms and the like; of sines and powers; and of quotients and remainders of
  /// integers.
  int64_t functionOps = 12, longFunctionOps = 30, integerDivideOps = 20;

  // Of a CPU.
  /// An element that is gathered by itself; one that a sum reads a line apart, to put it into a vector; and a vector of
  /// a factor that is read for the first time and copied.
  int64_t gatherCycles = 0, strideCycles = 0, packCycles = 0;
  /// Products of f32 that a core sums up in a cycle in each lane of its vectors.
  int64_t laneProductsPerCycle = 0;
  /// More bytes than this are read ahead of the caches, or written past them: none would be there when it is needed.
  int64_t streamBytes = 0;

  // Of a GPU.
  /// Simple instructions that the lanes of a core do in a cycle, and bytes that its shared memory gives.
  int64_t lanesPerCycle = 0, sharedBytesPerCycle = 0;
  /// Simple instructions that a conversion of a number takes.
  int64_t convertOps = 0;
  /// Products that threads sum up in a cycle out of shared memory, where matrix instructions would lose digits, and in
  /// a kernel of the generic way, of factors of 16 bits, which are converted one by one, and of 32.
  int64_t simtF32ProductsPerCycle = 0, threadProductsPerCycle = 0, threadF32ProductsPerCycle = 0;
  int64_t threadProductsOf(int64_t bytes) const {
    return bytes == 4 ? threadF32ProductsPerCycle : threadProductsPerCycle;
  }
  /// Cycles in which a tile of matrix instructions neither multiplies nor reads, because its first slices are on their
  /// way, or its results are; more of them where threads multiply it, and write results while nothing is multiplied.
  int64_t tileCycles = 0, simtF32TileCycles = 0;
  /// Cycles that a slice takes from its arrival to its release, however few products it has; and in which workgroups of
  /// a cluster wait for each other when they meet to add up their parts of a tile, by the square of their number.
  int64_t sliceCycles = 0, clusterBarrierCycles = 0;
  /// What a workgroup sends to the others of its cluster in a cycle, register by register.
  int64_t distributedSharedBytesPerCycle = 0;
  /// From one op of a thread to the next that reads it; from a read of memory to the next one of a thread that has
  /// several in flight; and of a product with its two reads of shared or cached factors.
  int64_t opCycles = 0, readCycles = 0, productCycles = 0;
  /// From a load of shared memory to the next one that depends on it; to the other threads of a workgroup and back; and
  /// to the other workgroups of a cluster and back.
  int64_t sharedLatencyCycles = 0, workgroupBarrierCycles = 0, clusterLatencyCycles = 0;
  /// Bytes of instructions that a core fetches in a cycle where it does not keep them.
  double codeBytesPerCycle = 0;
  /// Threads that read as fast as a core's share of memory gives.
  int64_t readingThreads = 0;
  /// Subgroups that keep the matrix instructions of a core busy: each of its schedulers wants two, of which one waits.
  int64_t busySubgroups = 0;
};

/// Cycles of workgroups that multiply out of shared memory, slice by slice along the contraction.
struct SharedProductCosts {
  /// From one slice to the next, however little there is to do: elements come from memory. A tile begins and ends.
  int64_t sliceCycles = 0, tileCycles = 0;
  /// What others wait for at a slice's barriers, and cycles of a slice with which they do not.
  int64_t waitCycles = 0, busyCycles = 0;
  /// A subgroup's read of an element by each lane, of up to `laneBytes` together, where its lanes are four by eight and
  /// where they are not; and what an element takes that a subgroup brings there: its part of a request to memory, and a
  /// write that others wait for. With `sliceCycles`, that orders rightly what an H200 took for three products in two
  /// ways each.
  double nearReadCycles = 0, readCycles = 0, bringCycles = 0;
  /// What a subgroup reaches of a rate of matrix instructions that only several subgroups together have; cycles of an
  /// instruction of a subgroup that is alone, and of 16 x 16 elements that it reads.
  double subgroupShare = 0;
  int64_t instructionCycles = 0, blockCycles = 0;
  /// So much longer products of integers take.
  double integerLoss = 1;
  /// Cycles of a block of keys' barriers, and of what waits between them, of an attention.
  int64_t attentionBlockCycles = 0;
};

struct TargetInfo : Identity {
  Arithmetic arithmetic;
  VectorFacts vector;
  SimtFacts simt;
  MatrixFacts matrix;
  CopyFacts copies;
  MemoryFacts memory;
  CostFacts costs;
  SharedProductCosts sharedProducts;

  /// Programs have vector registers, and caches that keep what lies near.
  bool hasVectors() const { return vector.bytes != 0; }
  /// Programs are threads that run in lockstep with others: neighbours read neighbours.
  bool hasSubgroups() const { return simt.subgroupSize > 1; }
  /// The threads of a workgroup share memory.
  bool hasSharedMemory() const { return simt.sharedBytes != 0; }
  /// Threads that keep the machine busy; 0 where programs are no threads that run in lockstep.
  int64_t busyThreads() const { return cores * simt.busyThreads; }

  /// Bytes that one instruction of a program reads or writes at most, 0 where it takes one element; and registers of so
  /// many bytes.
  int64_t accessBytes() const { return hasSubgroups() ? simt.laneBytes : vector.bytes; }
  int64_t accessRegisters() const { return hasSubgroups() ? simt.laneRegisters : vector.registers; }
  /// Elements of `elementBytes` bytes in such an access.
  int64_t lanes(int64_t elementBytes) const { return accessBytes() > elementBytes ? accessBytes() / elementBytes : 1; }
  /// Simple instructions that a core does in a cycle, one for each element of 4 bytes.
  int64_t opsPerCycle() const { return hasSubgroups() ? costs.lanesPerCycle : lanes(4); }

  /// The first instruction of a table for which `accepts` holds; null where there is none.
  template <typename Accepts> const MatrixInstruction *findInstruction(Accepts &&accepts) const {
    for (const MatrixInstruction &instruction : matrix.instructions)
      if (accepts(instruction))
        return &instruction;
    return nullptr;
  }
  /// What one thread executes by itself on factors of a type.
  const MatrixInstruction *findDot(MatrixType factors) const;
  /// What a subgroup multiplies out of its registers, of factors of a type.
  const MatrixInstruction *findSubgroupProduct(MatrixType factors) const;
  /// What several subgroups multiply together out of shared memory, while they go on; null where nothing does.
  const MatrixInstruction *findTileProduct() const;
  /// Whether something sums up products of narrow factors faster than it would sum up wide ones, on a CPU.
  bool hasBf16Dots() const { return findDot(MatrixType::BF16); }
  bool hasI8Dots() const { return findDot(MatrixType::I8); }
  /// Registers are tiles of matrices, which are configured before use and cost time to switch.
  bool hasTileRegisters() const;
  /// Subgroups multiply matrices, however they are fed.
  bool hasTensorCores() const { return hasSubgroups() && !matrix.instructions.empty(); }
  /// Groups of subgroups multiply tiles out of shared memory, where an engine copies boxes of tensors.
  bool hasTensorTiles() const;
  /// Threads start copies from global to shared memory, and go on meanwhile.
  bool hasAsyncCopies() const { return copies.engine != CopyEngine::None; }

  /// "+avx2,+fma", as LLVM takes features.
  std::string featureString() const;
  /// Everything that changes the code, as text for cache keys: all fields but the record's name.
  std::string cacheKey() const;
  /// A line for each field: "simt.subgroupSize: 32".
  std::string toString() const;
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
