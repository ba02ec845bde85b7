//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_ARTIFACT_ARTIFACT_H
#define ZYX_ARTIFACT_ARTIFACT_H

#include "zyx/Base/Hash.h"
#include "zyx/Base/Shape.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// What the compiler hands to the runtime: one compiled entry as plain data.
namespace zyx::artifact {

/// Of what serialize() writes. Changes with the byte form, with the meaning of a command and with the ABI of kernels,
/// by the rules of docs/artifacts.md.
inline constexpr uint32_t formatVersion = 14;
/// The oldest version that deserialize() reads, at most the one before formatVersion.
inline constexpr uint32_t oldestFormatVersion = 11;
static_assert(oldestFormatVersion < formatVersion, "what the version before has written is read");

/// Arena buffers and constants start at multiples of this many bytes, and so does the arena.
inline constexpr uint64_t alignment = 64;

/// An input or output of the entry, dense and row-major.
struct Argument {
  std::string name;
  TensorType type;
  /// An input that keeps its contents from run to run.
  bool isWeight = false;
  bool operator==(const Argument &) const = default;
};

enum class BufferKind : uint8_t { Input = 0, Output = 1, Arena = 2, Constant = 3, Kept = 4 };

/// A range of memory that commands name by its index in Artifact::buffers. Inputs and constants
/// are never written, and what is kept by the first commands alone (numInitCommands).
struct Buffer {
  BufferKind kind = BufferKind::Arena;
  /// Input, Output: the index of the argument. Arena, Constant, Kept: the byte offset in the arena, in
  /// the constant blob or in what is kept, a multiple of `alignment`.
  uint64_t position = 0;
  /// In bytes; that of the argument's type for Input and Output.
  uint64_t size = 0;
  bool operator==(const Buffer &) const = default;
};

/// Machine code in a format that the target's device loads. "elf-so" is an ELF shared object that
/// needs nothing but libc and libm; "cubin" is code for one architecture of NVIDIA's GPUs, "ptx" text for
/// the assembler in their driver.
struct CodeBlob {
  std::string format;
  std::vector<std::byte> bytes;
  bool operator==(const CodeBlob &) const = default;
};

/// Where a kernel came from; an empty file where unknown.
struct SourceLocation {
  std::string file;
  uint32_t line = 0, column = 0;
  bool operator==(const SourceLocation &) const = default;
};

/// What the copy engine of a GPU must know of a buffer: a description of 128 bytes that the driver makes.
struct TensorMap {
  /// Which of the launch's buffers, and where in it, in bytes.
  uint32_t buffer = 0;
  uint64_t offset = 0;
  uint32_t elementBytes = 0;
  /// The innermost dimension first; in elements, and in bytes from one index to the next for all but that one.
  std::vector<uint64_t> extents, strides;
  /// Elements that one copy moves, along each dimension. Of pixels: their channels, and how many.
  std::vector<uint32_t> box;
  /// In bytes: 32, 64 or 128.
  uint32_t swizzle = 0;
  /// Of a map of pixels, along each dimension but the channels, which are the innermost, and the images: where windows
  /// begin, as #kernel.pixels says. Empty where boxes are copied.
  std::vector<int32_t> low = {}, high = {};
  std::vector<uint32_t> steps = {};
  bool operator==(const TensorMap &) const = default;
};
/// Dimensions of a tensor map, at most.
inline constexpr size_t maxTensorMapRank = 5;

/// A function in a code blob. In "elf-so" it is `extern "C"` of type KernelFunction. In "cubin" and "ptx" its
/// parameters are an address for each buffer, the scalars, the address of scratch memory, and the number of
/// programs, each in 64 bits. One with tensor maps has these in front, of 128 bytes each, and of the others none or
/// those of the buffers.
struct Kernel {
  std::string symbol;
  /// Index in Artifact::code.
  uint32_t code = 0;
  /// How many buffers and scalars every launch passes.
  uint32_t numBuffers = 0, numScalars = 0;
  /// For messages and profiles.
  std::string name;
  SourceLocation location;
  /// How many of the buffers, the last ones, a launch writes, a part of them or all; the others it only reads. No
  /// buffer that is only read is among them.
  uint32_t numWritten = 0;
  /// What a call takes of its thread's stack for private memory, in bytes; frames come on top. On a GPU
  /// what each thread that is launched has in scratch memory.
  uint64_t stackBytes = 0;
  /// On a GPU: threads of a workgroup, each of which computes one program; 0 where a thread computes
  /// programs by itself, as many as there are more than threads.
  uint32_t groupThreads = 0;
  /// Of a workgroup, in bytes, beyond what its code declares.
  uint32_t sharedBytes = 0;
  /// Workgroups of a cluster, which computes one program together; 0 where there are none.
  uint32_t clusterGroups = 0;
  /// Where there are any, a multiprocessor runs one workgroup at a time, and outside of clusters each hands programs
  /// to itself.
  std::vector<TensorMap> tensorMaps = {};
  /// On a GPU: each of its threads waits, before it touches global memory, until all that the launch is behind is over.
  /// So the launch may begin before that is over.
  bool waits = false;
  /// How many bytes of each buffer a launch is given, from where it begins; none of an artifact that does not say so.
  std::vector<uint64_t> bufferBytes = {};
  bool operator==(const Kernel &) const = default;
};

/// A buffer, and a byte offset inside it.
struct BufferRef {
  uint32_t buffer = 0;
  uint64_t offset = 0;
  bool operator==(const BufferRef &) const = default;
};

struct Launch {
  uint32_t kernel = 0;
  std::vector<BufferRef> buffers;
  /// Extents of the grid. Point (i, j, k) has the linear index (i * grid[1] + j) * grid[2] + k;
  /// the runtime cuts [0, product) into ranges, and points may run in any order or at once.
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::vector<int64_t> scalars;
  /// Work of the whole launch, by which the runtime decides whether threads pay; 0 = unknown.
  uint64_t flops = 0, bytes = 0;
  bool operator==(const Launch &) const = default;
};

/// Copies `size` bytes, as if through a temporary. An output that is an input or a constant is
/// such a copy.
struct Copy {
  BufferRef source, destination;
  uint64_t size = 0;
  bool operator==(const Copy &) const = default;
};

/// Repeats the low `patternSize` (1, 2, 4 or 8) bytes of `pattern`; `size` is a multiple of it.
struct Fill {
  BufferRef destination;
  uint64_t size = 0;
  uint64_t pattern = 0;
  uint8_t patternSize = 1;
  bool operator==(const Fill &) const = default;
};

/// The trips of a loop that goes on while the bool at its `count` is true.
inline constexpr int64_t tripsAreWhile = -1;

/// Runs the commands that follow it, its body, again and again, each pass after the end of the one
/// before. The loop is complete when its last pass is.
struct Loop {
  /// How many commands after this one are its body, those of loops inside it included.
  uint32_t body = 0;
  /// How often the body runs, where `count` does not say it.
  int64_t trips = 0;
  /// An i64 that is read when the loop starts: how often the body runs, never where negative. Where `trips` are
  /// `tripsAreWhile`, a bool that is read before each pass: the loop ends where it is false.
  std::optional<BufferRef> count;
  /// An i64 to which the number of the pass, from 0, is written before each.
  std::optional<BufferRef> index;
  /// Where the body is several, one behind the other, that passes run in turns: how many commands each has. Of n
  /// bodies, pass i runs number i mod n.
  std::vector<uint32_t> bodies = {};
  bool isWhile() const { return trips == tripsAreWhile; }
  /// Of `count`.
  uint64_t countSize() const { return isWhile() ? 1 : sizeof(int64_t); }
  bool operator==(const Loop &) const = default;
};
/// Bodies of a loop, at most.
inline constexpr size_t maxLoopBodies = 64;
/// Loops in loops, at most; deeper ones are refused.
inline constexpr int maxLoopDepth = 64;

struct Command {
  std::variant<Launch, Copy, Fill, Loop> action;
  /// Indices of earlier commands that must be complete before this one starts; inside of a loop
  /// they are commands of the same body, and a loop counts as one command. Running the commands in
  /// their order, one at a time, always satisfies them.
  std::vector<uint32_t> wait;
  bool operator==(const Command &) const = default;
};

/// Commands of the init that depend on no others: what they make can be shared by programs, and made alone.
struct InitStep {
  /// How many; they follow those of the step before.
  uint32_t numCommands = 0;
  /// Bytes of what is kept that the commands write, behind those of the step before.
  uint64_t keptSize = 0;
  /// Of all that the kept bytes depend on but the weights: the code and arguments of the commands, constants, sizes,
  /// and the target. Steps of one identity make the same bytes of the same weights, which count in the order in which
  /// the commands name them.
  Hash128 identity;
  bool operator==(const InitStep &) const = default;
};

struct Artifact {
  /// Name of the compiled function.
  std::string entry;
  /// "cpu", "c", ...: the device kind that loads the code.
  std::string target;
  /// CPU features that the code uses, by LLVM's names: "avx2", "avx512f"; for a GPU its architecture,
  /// "sm_90a".
  std::vector<std::string> cpuFeatures;
  std::vector<Argument> inputs, outputs;
  std::vector<Buffer> buffers;
  std::vector<std::byte> constants;
  /// Bytes of scratch memory that one run needs.
  uint64_t arenaSize = 0;
  /// Bytes that stay as they are from run to run.
  uint64_t keptSize = 0;
  std::vector<CodeBlob> code;
  std::vector<Kernel> kernels;
  std::vector<Command> commands;
  /// The first so many commands are the init: they run before the first run, and again before the
  /// first one after a weight has changed. They read weights, constants, and what they write: the
  /// arena and what is kept. No command of a run waits for one of them.
  uint32_t numInitCommands = 0;
  /// All commands of the init and all that is kept, in steps; none where the init is one that is like no other.
  std::vector<InitStep> initSteps = {};
  bool operator==(const Artifact &) const = default;

  /// Checks every index, size, offset and wait list: what passes can be run without further
  /// checks. The machine code itself is trusted.
  Status verify() const;

  /// The versioned, checksummed byte form: magic, format version, XXH3-128 of what follows, zyx's
  /// version, contents.
  std::vector<std::byte> serialize() const;
  /// Refuses what is cut, corrupt, of a version beside oldestFormatVersion to formatVersion, or does not verify. `name`
  /// (a path) starts the messages.
  static Result<Artifact> deserialize(std::span<const std::byte> bytes, std::string_view name = "artifact");
};

/// What a kernel on a host device receives. Arena and constant buffers are aligned to `alignment`
/// bytes, inputs and outputs at least to their element. The layout is the ABI of "elf-so" code.
struct KernelArgs {
  void *const *buffers;
  const int64_t *scalars;
};

/// Computes the grid points with linear indices in [begin, end). Several calls on disjoint ranges
/// may run at once.
using KernelFunction = void (*)(const KernelArgs *args, int64_t begin, int64_t end);

} // namespace zyx::artifact

#endif // ZYX_ARTIFACT_ARTIFACT_H
