//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_MATRIX_CHAINMAPPER_H
#define ZYX_LIB_CODEGEN_MATRIX_CHAINMAPPER_H

#include "StreamingEmitter.h"

#include "zyx/Codegen/Matrix/TensorChain.h"

namespace zyx::kernel {

/// Makes the machine form of a chain of products, and of a sum over batches of what is computed of products.
class ChainMapper : StreamingEmitter {
public:
  ChainMapper(FuncOp func, TensorChain found, const Axes &axes)
      : StreamingEmitter(func, axes, found.rows, found.streamed, found.batches), chain(std::move(found)) {
    hides = chain.hides;
  }

  void run();

private:
  struct BlockState;

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// What lies along the rows, or the streamed axis, in shared memory.
  struct SharedOperand {
    const TensorOperand *operand;
    mlir::Value view, memory;
    int64_t columns;
  };
  void allocate();
  SharedOperand &sharedOf(const TensorOperand &operand);
  mlir::Value slotOf(const TensorOperand &operand, mlir::Value stage) {
    return slotOf(operand, stage, sharedOf(operand).columns);
  }
  /// The first columns of it.
  mlir::Value slotOf(const TensorOperand &operand, mlir::Value stage, int64_t columns) {
    return part(sharedOf(operand).memory, {stage}, {step.getColumns(), columns});
  }
  /// Features of an inner product that are multiplied: the rest of a panel is zero.
  static int64_t usedOf(const TensorChain::Inner &inner);

  //===--------------------------------------------------------------------===//
  // Roles
  //===--------------------------------------------------------------------===//

  PipelineState fetch(PipelineState pipe, const TileCoordinates &place, mlir::Value block);
  void emitProducer();
  void emitConsumer(mlir::Value instance);
  /// The sums of outer products, and where the ring is.
  struct State {
    PipelineState pipe;
    llvm::SmallVector<mlir::Value> sums;
    Carried carried() const {
      Carried all = {pipe.stage, pipe.parity};
      all.append(sums);
      return all;
    }
    static State of(mlir::ValueRange all) {
      return {{all[0], all[1]}, llvm::SmallVector<mlir::Value>(all.drop_front(2))};
    }
  };
  /// One product, of what threads have in registers or all have in shared memory; or all products of some left factors
  /// with some right ones, added up.
  void start(BlockState &block, mlir::RankedTensorType type, mlir::ArrayRef<mlir::Value> lefts,
             mlir::ArrayRef<mlir::Value> rights, mlir::Value onto, bool isTransposed);
  /// All inner products of a block; `own` has what lies along the rows.
  void startInner(BlockState &block, mlir::Value stage, llvm::function_ref<mlir::Value(size_t)> own);
  State takeBlock(State state, bool masked, const TileCoordinates &place, mlir::Value block,
                  const llvm::DenseMap<mlir::Value, mlir::Value> &ofRows);
  void emitResults(const State &state, const TileCoordinates &place, mlir::Value instance);
  /// Each workgroup of a cluster finishes its columns of what all have summed up.
  void emitShared(const State &state, const TileCoordinates &place, mlir::Value instance);

  //===--------------------------------------------------------------------===//
  // Sums over batches (MapTotal.cpp)
  //===--------------------------------------------------------------------===//

  /// Tiles of rows and columns, of all batches that are not summed up; how many batches are.
  int64_t numTotals();
  int64_t numWalked();
  /// The tile that this workgroup has in a round, and where its columns begin; the same in one of the batches.
  std::pair<TileCoordinates, mlir::Value> totalOf(mlir::Value round);
  void enterBatch(TileCoordinates &place, mlir::Value number);
  mlir::Value totalRounds();
  void emitTotalProducer();
  void emitTotalConsumer(mlir::Value instance);
  llvm::SmallVector<mlir::Value> readAhead();
  /// The values of these of a batch.
  Carried readBatch(const TileCoordinates &place, mlir::Value firstColumn);
  mlir::Value takeBatch(PipelineState pipe, mlir::Value sum, const TileCoordinates &place, mlir::Value firstColumn,
                        const llvm::DenseMap<mlir::Value, mlir::Value> &known, mlir::Value instance);

  //===--------------------------------------------------------------------===//
  // What is elementwise
  //===--------------------------------------------------------------------===//

  /// A block in which left factors are computed.
  struct BlockState {
    BlockState(Site site, bool masked) : site(std::move(site)), masked(masked) {}
    Site site;
    const bool masked;
    /// Products that were started, in their order; those before `done` have been waited for.
    llvm::SmallVector<mlir::Value> started;
    size_t done = 0;
    /// The number of each inner product among them.
    llvm::DenseMap<mlir::Value, size_t> numbers;
  };
  mlir::Value await(BlockState &block, size_t number);
  /// What is subtracted of an inner product from the start: its sums begin with it.
  struct Start {
    /// The product times `factor`, less the vector that rows or columns have.
    mlir::arith::SubFOp difference;
    mlir::Value vector;
    double factor = 1;
  };
  std::optional<Start> startOf(DotOp dot, bool masked);
  /// An exponential's operand without what is subtracted of it only where a vector is beyond a limit: the digits that
  /// the vector lost when it was rounded.
  struct Distance {
    mlir::Value operand;
    /// The vector, the limit and what is subtracted; null where there is none.
    mlir::Value vector, rest;
    double limit = mostExponent;
  };
  Distance distanceOf(mlir::Value operand);
  /// What `distanceOf` takes off, and what is read for it: blocks in which no vector is beyond its limit need it not.
  llvm::DenseSet<mlir::Value> rests;
  void findRests();
  mlir::Value evaluate(mlir::Value of, BlockState &block);
  mlir::Value compute(mlir::Value of, BlockState &block);
  mlir::Value emitExp(mlir::Value of, BlockState &block);
  void readColumns(mlir::Value of, BlockState &block);
  /// Whether a block that all rows see whole may hold it for true.
  bool holdsInside(mlir::Value condition);

  /// Whether the last block has places that do not exist.
  bool hasEdge() { return streamed % step.getColumns() != 0; }
  /// Conditions of which blocks that are seen whole know nothing.
  bool masksAll() { return chain.bounds.size() > (chain.begin ? 1u : 0u) + (chain.end ? 1u : 0u); }
  TileCoordinates placeIn(mlir::Value round) {
    return chain.end ? coordinatesOf(round, chain.end, chain.begin) : coordinatesOf(round, chain.begin);
  }

  TensorChain chain;
  mlir::Type element;
  /// Of each inner product what lies along the rows; and all that is streamed, each once.
  llvm::SmallVector<SharedOperand> own, ring;
  llvm::SmallVector<mlir::Value> myOwn, results;
  mlir::Value ownFull, ownEmpty, full, empty;
  /// Of each result, where workgroups share a tile.
  llvm::SmallVector<Inbox> inboxes;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_MATRIX_CHAINMAPPER_H
