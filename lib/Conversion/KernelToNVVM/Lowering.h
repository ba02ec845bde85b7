//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_KERNELTONVVM_LOWERING_H
#define ZYX_LIB_CONVERSION_KERNELTONVVM_LOWERING_H

#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace zyx::kernel {

/// Where an allocation in shared memory lies and how its elements are ordered.
struct SharedMemory {
  /// From the beginning of the workgroup's shared memory.
  int64_t offset = 0;
  int64_t bytes = 0;
  int64_t elementBytes = 0;
  /// Bytes from one index to the next, for each dimension of the allocation. With a swizzle the
  /// last one is meaningless: columns lie in panels.
  llvm::SmallVector<int64_t> strides;
  /// 0 where rows are not swizzled.
  int64_t swizzle = 0;
  /// Bytes from a panel of columns to the next, and columns of a panel.
  int64_t panelBytes = 0, panelColumns = 0;
};

/// Whether threads hold what a matrix unit sums up: two rows each, in pairs of columns.
inline bool isAccumulator(FragKind kind) { return kind == FragKind::WgmmaAcc || kind == FragKind::MmaAcc; }

/// The type that holds a tile in a thread, or a refusal.
#define ZYX_CONVERT_OR_REFUSE(name, op, type)                                                                          \
  Type name = convert(type);                                                                                           \
  if (!name)                                                                                                           \
  return (op)->emitOpError() << "has the type " << (type) << ", which no thread can hold"

/// Lowers one kernel by a walk: structured control flow becomes blocks, every other op its
/// instructions at the end of the block that is being written.
class Lowering {
public:
  Lowering(FuncOp kernel, const target::TargetInfo &target) : kernel(kernel), target(target), b(kernel.getContext()) {}

  /// Puts the llvm.func before the kernel, which stays as it is.
  mlir::LogicalResult run();

private:
  /// The threads that run the code being lowered.
  struct Threads {
    /// This thread's number among them; null for a single thread.
    mlir::Value thread;
    /// Whether it is the first.
    mlir::Value isFirst;
    int64_t count = 1;
    /// Number of the named barrier at which they meet; null outside of roles.
    mlir::Value barrier;
    bool isSingle() const { return !thread; }
  };

  // KernelToNVVM.cpp: the function and its structure.
  mlir::LogicalResult collect();
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lower(GridOp op);
  mlir::LogicalResult lower(IdOp op);
  mlir::LogicalResult lower(BarrierOp op);
  mlir::LogicalResult lower(RolesOp op);
  mlir::LogicalResult lower(ElectOp op);
  mlir::LogicalResult lower(mlir::scf::ForOp op);
  mlir::LogicalResult lower(mlir::scf::IfOp op);
  /// Branches around what `body` writes, for all but the first of the threads.
  mlir::LogicalResult onFirst(llvm::function_ref<mlir::LogicalResult()> body);
  mlir::LogicalResult lowerIf(mlir::Value condition, llvm::function_ref<mlir::LogicalResult()> body);

  // SharedMemory.cpp: places in shared memory.
  mlir::LogicalResult place(AllocOp op, int64_t offset);
  /// The pointer to the element of `view` at `indices`; refuses places that a swizzle would move. Or to the first
  /// element of its row.
  mlir::FailureOr<mlir::Value> pointerTo(mlir::Operation *op, mlir::Value view, mlir::ValueRange indices,
                                         bool atRowStart = false);
  mlir::LogicalResult lower(SubviewOp op);
  mlir::Value advance(mlir::Value pointer, int64_t bytes);
  mlir::Value advance(mlir::Value pointer, mlir::Value bytes);

  // LowerAsync.cpp: transaction barriers and the copy engine.
  mlir::Value barrierAt(mlir::Value barriers, mlir::Value slot);
  mlir::LogicalResult lower(BarriersOp op);
  mlir::LogicalResult lower(ExpectOp op);
  mlir::LogicalResult lower(ArriveOp op);
  mlir::LogicalResult lower(WaitOp op);
  mlir::LogicalResult lower(AsyncLoadOp op);
  mlir::LogicalResult lower(AsyncStoreOp op);
  mlir::LogicalResult lower(StoreSharedOp op);
  mlir::LogicalResult lower(AsyncWaitOp op);
  /// Calls `copy` with the place in shared memory and the coordinates of each panel of a box.
  mlir::LogicalResult
  forEachPanel(mlir::Operation *op, mlir::Value view, mlir::Value slot, mlir::ValueRange indices, PixelsAttr pixels,
               llvm::function_ref<void(mlir::Value map, mlir::Value place, mlir::ValueRange coordinates)> copy);

  // LowerScalars.cpp: arith and math, on scalars and on registers of tiles.
  mlir::LogicalResult lowerConstant(mlir::arith::ConstantOp op);
  /// One op of arith or math on operands that are already lowered; null where there is none.
  mlir::Value lowerElement(mlir::Operation *op, mlir::ValueRange operands, mlir::Type type);

  // LowerGlobal.cpp: global memory that threads read and write themselves.
  /// What of a tile a thread has, and where: rows and columns that it adds to the tile's first ones.
  struct Share;
  mlir::FailureOr<Share> shareOf(mlir::Operation *op, mlir::Value view, mlir::ValueRange indices, mlir::Type type,
                                 std::optional<llvm::ArrayRef<bool>> inBounds);
  mlir::LogicalResult lower(LoadOp op);
  mlir::LogicalResult storeToGlobal(StoreOp op);

  // LowerBlocks.cpp: what threads multiply themselves.
  /// A thread's first row of a block of 64 or 32 rows, its first column of 128, and the next ones beyond these.
  mlir::Value blockRow(int64_t rows);
  mlir::Value blockColumn();
  static constexpr int64_t rowsBeyondInBlock[] = {0, 1, 2, 3, 16, 17, 18, 19};
  static constexpr int64_t columnsBeyondInBlock[] = {0, 1, 2, 3, 32, 33, 34, 35};
  /// Whether a view is a matrix of f32 in shared memory with a swizzle of 128 bytes.
  bool isSwizzledMatrix(mlir::Value view, int64_t rows, int64_t columns);
  mlir::LogicalResult lower(OuterProductsOp op);
  mlir::LogicalResult lower(TransposeSharedOp op);

  // LowerCopies.cpp: copies by all threads of the workgroup.
  /// How a box is divided among them, and where each reads its part.
  struct Pieces;
  struct GlobalPieces;
  /// Whether all threads of the workgroup run what is being lowered.
  bool runOnAll(mlir::Operation *op);
  mlir::FailureOr<Pieces> piecesOf(mlir::Operation *op, llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::FailureOr<GlobalPieces> globalPieces(mlir::Operation *op, mlir::Value view, mlir::ValueRange indices,
                                             std::optional<llvm::ArrayRef<bool>> inBounds, const Pieces &pieces);
  mlir::Value pieceAt(const GlobalPieces &from, const Pieces &pieces, int64_t i);
  mlir::LogicalResult forEachPiece(mlir::Operation *op, mlir::Value slot, const Pieces &pieces,
                                   llvm::function_ref<void(int64_t i, mlir::Value place)> body);
  /// Bytes from the beginning of swizzled memory to the piece of 16 bytes with this number in a row.
  mlir::Value swizzled(const SharedMemory &place, mlir::Value row, mlir::Value piece);
  mlir::LogicalResult lower(CopyAsyncOp op);
  mlir::LogicalResult lower(FetchOp op);
  mlir::LogicalResult storePieces(StoreOp op);

  // LowerWarps.cpp: the matrix unit of a warp.
  mlir::LogicalResult lower(LoadMatrixOp op);
  mlir::LogicalResult lower(MmaOp op);

  // LowerTiles.cpp: tiles in registers and the matrix unit.
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  mlir::LogicalResult lowerTileConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult lower(SplatOp op);
  mlir::LogicalResult lower(IotaOp op);
  mlir::LogicalResult lower(ExtractOp op);
  mlir::LogicalResult lower(ConvertOp op);
  mlir::LogicalResult lower(ReduceOp op);
  mlir::LogicalResult lower(AnyOp op);
  mlir::LogicalResult lower(BroadcastOp op);
  mlir::LogicalResult lower(StoreOp op);
  mlir::LogicalResult lower(ClusterSendOp op);
  mlir::LogicalResult lower(ClusterReceiveOp op);
  mlir::LogicalResult lower(MmaAsyncOp op);
  mlir::LogicalResult lower(MmaWaitOp op);
  mlir::LogicalResult lowerConversion(mlir::Operation *op);
  mlir::Value splat(mlir::Type type, mlir::Value element);
  llvm::SmallVector<mlir::Value> unpack(mlir::Value tile);
  mlir::Value pack(mlir::Type type, mlir::ValueRange registers);
  /// The matrix descriptor of a tile in shared memory: `leading` and `stride` in bytes.
  mlir::Value descriptor(mlir::Value pointer, const SharedMemory &memory, int64_t leading, int64_t stride);
  mlir::LogicalResult requireThreads(mlir::Operation *op, int64_t count);
  mlir::LogicalResult requireWarpGroup(mlir::Operation *op) { return requireThreads(op, 128); }
  /// The threads that hold a tile of this layout.
  mlir::LogicalResult requireThreadsOf(mlir::Operation *op, FragKind kind);
  /// Where this thread's registers of a tile that is sent begin.
  mlir::FailureOr<mlir::Value> placeOfSent(mlir::Operation *op, mlir::Type tile, mlir::Value slot);

  /// The type that holds a value in one thread; null where nothing does.
  mlir::Type convert(mlir::Type type);
  mlir::Value constant(int64_t value) { return constant(i32, value); }
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value value(mlir::Value old) { return map.lookup(old); }
  llvm::SmallVector<mlir::Value> values(mlir::ValueRange old);
  mlir::Block *createBlock(mlir::TypeRange arguments = {});
  /// Goes on in a block, which becomes the last one: blocks stand in the order of the text.
  void startBlock(mlir::Block *block);

  FuncOp kernel;
  const target::TargetInfo &target;
  mlir::OpBuilder b;
  mlir::Location loc = kernel.getLoc();
  mlir::Type i1 = b.getI1Type(), i32 = b.getI32Type(), i64 = b.getI64Type(), f32 = b.getF32Type();
  mlir::Type sharedPointer = mlir::LLVM::LLVMPointerType::get(b.getContext(), 3);
  mlir::Type clusterPointer = mlir::LLVM::LLVMPointerType::get(b.getContext(), 7);
  mlir::Type globalPointer = mlir::LLVM::LLVMPointerType::get(b.getContext(), 1);
  mlir::LLVM::LLVMFuncOp func;
  mlir::IRMapping map;
  Threads threads;
  /// This thread's number in the workgroup; null where it has one thread.
  mlir::Value workgroupThread;
  mlir::Value sharedBase;
  llvm::DenseMap<mlir::Operation *, SharedMemory> memory;
  SharedPlaces places;
  LaunchInfo launch;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CONVERSION_KERNELTONVVM_LOWERING_H
