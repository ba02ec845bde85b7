//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTOLLVM_STEPS_H
#define ZYX_CONVERSION_KERNELTOLLVM_STEPS_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

/// The steps of a conversion to LLVM, in the order in which a pass takes them. Each rewrites the
/// function in one walk; what they leave are ops for which upstream has patterns.
namespace zyx::kernel {

/// Makes `@k` and `@k.body` and moves the kernel's code into the second, with the grid as a loop.
/// Buffer arguments are pointers after it; views still name them, through a cast.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp> lowerFunction(FuncOp func);

/// What threads see behind a barrier of what others wrote before it: shared memory, or buffers, too.
enum class BarrierMemory : uint8_t { Shared, All };

/// What a GPU's dialect has for ops of threads. Addresses are generic pointers.
class ThreadInstructions {
public:
  virtual ~ThreadInstructions() = default;
  /// The number of a thread in its workgroup, or of a workgroup in its cluster, in 32 bits.
  virtual mlir::Value id(mlir::OpBuilder &builder, mlir::Location loc, IdKind kind) const = 0;
  /// Waits for the threads of the workgroup or of the cluster, and shows them what was written.
  virtual void barrier(mlir::OpBuilder &builder, mlir::Location loc, Scope scope, BarrierMemory memory,
                       std::optional<int64_t> threads = {}) const = 0;
  /// What the thread of the subgroup has whose number differs in the bits of `distance`, of 32 bits; null where there
  /// is no instruction for it.
  virtual mlir::Value shuffle(mlir::OpBuilder &, mlir::Location, mlir::Value, int64_t) const { return {}; }
  /// The address of the same place in the shared memory of another workgroup of the cluster.
  virtual mlir::Value peer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                           mlir::Value group) const = 0;
  /// Four blocks of 8 x 8 elements of 16 bits of shared memory, distributed over the lanes of a warp, as 32-bit
  /// integers.
  virtual llvm::SmallVector<mlir::Value> readMatrix(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                                                    bool transposed) const = 0;
  /// A vector of 16 bytes of global memory that no program writes, read past the first cache.
  virtual mlir::Value loadPastFirstCache(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                                         mlir::VectorType type) const = 0;
};

/// Names a function that the module does not have yet.
std::string freshName(mlir::ModuleOp module, llvm::StringRef wanted);
mlir::LLVM::LLVMFuncOp createFunction(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                                      llvm::ArrayRef<mlir::Type> arguments, mlir::LLVM::Linkage linkage);
/// A plan that launches the kernel stays valid when code has taken its place.
void keepArgumentCount(FuncOp func, mlir::LLVM::LLVMFuncOp code);
/// Refuses what a program of one thread, or of several where `mostThreads` allows it, cannot be.
mlir::LogicalResult checkFunction(FuncOp func, int64_t mostThreads = 1, int64_t mostCluster = 1);
/// Moves the kernel's code behind what `body`, whose first arguments are the kernel's, has. Programs are
/// those from `begin` below `end`, in steps of `step` or of one.
void moveCode(FuncOp func, mlir::ValueRange given, mlir::LLVM::LLVMFuncOp body, mlir::Value begin, mlir::Value end,
              mlir::Value step = {});

/// What accesses to memory may rely on.
struct MemoryFacts {
  /// The most that a program allocates on its stack.
  int64_t privateBytes;
  /// Products of packed factors are for Intel's AMX.
  bool amx = false;
  /// Loads and stores may go past the caches.
  bool streams = true;
  /// Bytes to whose multiples buffers and scratch memory are aligned; 0 where it is their elements'.
  int64_t bufferAlignment = 0;
  /// Where allocations go instead of the stack, if anywhere.
  mlir::Value scratch = {};
  /// Where shared allocations go, if there is such memory.
  mlir::Value shared = {};
  /// The address space of the stack.
  unsigned stackSpace = 0;
  /// What barriers show.
  BarrierMemory barriers = BarrierMemory::All;
  /// The workgroup is one of several in a cluster.
  bool isCluster = false;
  /// What a GPU has for its threads; null on a processor.
  const ThreadInstructions *threads = nullptr;
};

/// Replaces views, allocations, loads and stores by address arithmetic and memory accesses.
mlir::LogicalResult lowerMemory(mlir::LLVM::LLVMFuncOp body, const MemoryFacts &facts);

/// Rewrites of what these steps leave, to the LLVM dialect, with 64-bit indices. The result owns the type
/// converter that the patterns use.
std::shared_ptr<mlir::LLVMTypeConverter> addPatterns(mlir::RewritePatternSet &patterns);

} // namespace zyx::kernel

#endif // ZYX_CONVERSION_KERNELTOLLVM_STEPS_H
