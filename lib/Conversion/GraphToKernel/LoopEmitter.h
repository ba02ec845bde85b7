//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_LOOPEMITTER_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_LOOPEMITTER_H

#include "OrderEmitter.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/RecurrentShape.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace zyx::lowering {

/// Builds the kernel of a loop, or of a group of one trip's elements, in the lowered form.
class LoopEmitter {
public:
  /// Without a loop, of a group of one trip's elements.
  LoopEmitter(graph::ir::GroupOp group, graph::ir::LoopOp loop, graph::ir::ElementLoop program,
              mlir::OpBuilder &builder, const Workgroups &machine)
      : group(group), loopOp(loop), program(std::move(program)), builder(builder),
        loc(loop ? loop.getLoc() : group.getLoc()), threads(machine.threads), isCard(threads != 0),
        vectorBytes(machine.vectorBytes) {}

  ConvertedGroup emit(llvm::StringRef name, const graph::ir::RecurrentShape *shape = nullptr);

private:
  /// What one trip has made, by step.
  using Made = llvm::SmallVector<mlir::Value>;

  void emitThreads();
  void emitStrips();
  /// Clusters have rows of points for all trips (RecurrentKernel.cpp).
  void emitClusters(const graph::ir::RecurrentShape &shape);
  void emitRest(llvm::ArrayRef<mlir::Value> at, mlir::Value mask);
  int64_t chooseLanes();
  bool isKept(unsigned step) const;
  /// Whether what a strip of vectors carries lies apart where it begins and ends.
  bool isApart(const graph::ir::CarriedElement &element) const {
    const int64_t factor = innerFactor(element.place);
    return hasVectors && factor != 0 && factor != 1;
  }
  void copyElements(llvm::ArrayRef<mlir::Value> kept, llvm::ArrayRef<mlir::Value> carried,
                    llvm::ArrayRef<mlir::Value> at, mlir::Value end);
  uint64_t countBytes();
  void markFixed();
  int64_t chooseTogether(bool isAhead) const;

  void evaluate(unsigned number, Made &made, llvm::ArrayRef<mlir::Value> states, llvm::ArrayRef<mlir::Value> at,
                mlir::Value trip, mlir::Value mask);
  mlir::Value compute(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);
  mlir::Value reduce(const graph::ir::ElementStep &step, llvm::ArrayRef<mlir::Value> operands);
  mlir::Value number(const graph::ir::ElementStep &step, llvm::ArrayRef<mlir::Value> at, mlir::Value trip);
  void write(const graph::ir::WrittenElement &element, mlir::Value update, llvm::ArrayRef<mlir::Value> at,
             mlir::Value trip, mlir::Value mask);
  void finish(const Made &made, llvm::ArrayRef<mlir::Value> at, mlir::Value trip, mlir::Value mask);
  mlir::Value loadTrip();
  mlir::Type typeOf(unsigned position) {
    mlir::Value result = loopOp ? mlir::Value(loopOp.getResult(position)) : mlir::Value(group.getResult(position));
    return toSignless(mlir::getElementTypeOrSelf(result.getType()));
  }

  mlir::Value begin(unsigned position, const graph::ir::Linear &place, llvm::ArrayRef<mlir::Value> at,
                    mlir::Value mask) {
    return read(loopOp.getInitial()[position], place, at, mlir::Value(), mask);
  }
  mlir::Value read(mlir::Value source, const graph::ir::Linear &place, llvm::ArrayRef<mlir::Value> at, mlir::Value trip,
                   mlir::Value mask);
  mlir::Value readFrom(mlir::Value view, const graph::ir::Linear &place, llvm::ArrayRef<mlir::Value> at,
                       mlir::Value trip, mlir::Value mask);
  void store(mlir::Value value, mlir::Value view, const graph::ir::Linear &place, llvm::ArrayRef<mlir::Value> at,
             mlir::Value trip, mlir::Value mask);
  mlir::Value offset(const graph::ir::Linear &place, llvm::ArrayRef<mlir::Value> at, mlir::Value trip);
  mlir::Value view(mlir::Value buffer, mlir::Type tensor);
  mlir::Value broadcast(mlir::Value scalar) {
    return lanes == 1
               ? scalar
               : mlir::vector::BroadcastOp::create(builder, loc, mlir::VectorType::get(lanes, scalar.getType()), scalar)
                     .getResult();
  }
  mlir::Type shaped(mlir::Type element) const { return lanes == 1 ? element : mlir::VectorType::get(lanes, element); }
  int64_t innerFactor(const graph::ir::Linear &place) const {
    return program.domain.empty() ? 0 : place.factors[program.domain.size() - 1];
  }
  mlir::Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::AddIOp>(loc, a, b); }
  mlir::Value times(mlir::Value a, int64_t b) { return builder.createOrFold<mlir::arith::MulIOp>(loc, a, index(b)); }
  template <typename Body>
  Values loop(mlir::Value from, mlir::Value to, mlir::Value step, mlir::ValueRange carried, Body body) {
    return makeLoop(builder, loc, from, to, step, carried, body);
  }
  Values openGrid(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> steps) {
    return makeGrid(builder, loc, extents, steps);
  }

  graph::ir::GroupOp group;
  graph::ir::LoopOp loopOp;
  graph::ir::ElementLoop program;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// That keep a card busy; 0 of a processor.
  const int64_t threads;
  const bool isCard;
  const int64_t vectorBytes;
  int64_t lanes = 1;
  /// Of a strip, also where single elements are copied.
  bool hasVectors = false;
  /// Of what is read, and by result of the loop of what is written; null for results that nobody reads.
  llvm::DenseMap<mlir::Value, mlir::Value> views;
  llvm::SmallVector<mlir::Value> outs;
  /// Steps that are the same in all trips.
  llvm::SmallVector<bool> isFixed;
};

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_LOOPEMITTER_H
