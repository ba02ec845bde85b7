//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the steps of an attention share that threads compute together: the program's rows and keys, its threads, and
// small ops.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_SIMT_ATTENTIONPROGRAM_H
#define ZYX_LIB_CODEGEN_SIMT_ATTENTIONPROGRAM_H

#include "zyx/Codegen/Tile/SharedAttention.h"
#include "zyx/Codegen/Tile/Softmax.h"
#include "zyx/Codegen/Tile/TileEvaluator.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace zyx::kernel {

/// The programs of an attention's kernel, which is built by `b` at one location.
struct AttentionProgram {
  using Values = llvm::SmallVector<mlir::Value>;

  AttentionProgram(FuncOp func, const Axes &axes, const target::TargetInfo &machine, const SharedAttention &attention,
                   const SharedAttentionShape &shape)
      : axes(axes), attention(attention), shape(shape), b(func), loc(func.getLoc()), evaluator(b, axes, machine),
        f32(b.getF32Type()), numRows(attention.numRows()), numKeys(axes.extent(attention.keys)),
        perRow(shape.threads / shape.rows) {}

  mlir::Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, loc, value); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return b.createOrFold<mlir::arith::AddIOp>(loc, x, y); }
  mlir::Value add(mlir::Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  mlir::Value times(mlir::Value x, int64_t y) {
    return y == 1 ? x : b.createOrFold<mlir::arith::MulIOp>(loc, x, index(y));
  }
  mlir::Value over(mlir::Value x, int64_t y) {
    return y == 1 ? x : b.createOrFold<mlir::arith::DivUIOp>(loc, x, index(y));
  }
  mlir::Value rest(mlir::Value x, int64_t y) {
    return y == 1 ? index(0) : b.createOrFold<mlir::arith::RemUIOp>(loc, x, index(y));
  }
  mlir::Value atMost(mlir::Value x, int64_t y) { return b.createOrFold<mlir::arith::MinUIOp>(loc, x, index(y)); }
  mlir::Value isBelow(mlir::Value x, int64_t y) {
    return b.createOrFold<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::ult, x, index(y));
  }
  mlir::Value isAtLeast(mlir::Value x, int64_t y) {
    return b.createOrFold<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::uge, x, index(y));
  }
  mlir::Value choose(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return condition ? b.createOrFold<mlir::arith::SelectOp>(loc, condition, x, y) : x;
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return !x ? y : !y ? x : b.createOrFold<mlir::arith::AndIOp>(loc, x, y);
  }
  mlir::Value number(double value) { return mlir::arith::ConstantOp::create(b, loc, b.getFloatAttr(f32, value)); }
  mlir::Value zeros(mlir::Type type) { return mlir::arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }
  mlir::Value widen(mlir::Value value) {
    mlir::Type wide = mlir::isa<mlir::VectorType>(value.getType())
                          ? mlir::Type(mlir::cast<mlir::VectorType>(value.getType()).clone(f32))
                          : mlir::Type(f32);
    return value.getType() == wide ? value : mlir::arith::ExtFOp::create(b, loc, wide, value).getResult();
  }
  mlir::Value narrow(mlir::Value value, mlir::Type type) {
    return value.getType() == type ? value : mlir::arith::TruncFOp::create(b, loc, type, value).getResult();
  }
  mlir::Type vectorOf(mlir::Type element, int64_t lanes) {
    return lanes == 1 ? element : mlir::Type(mlir::VectorType::get(lanes, element));
  }
  mlir::Value lane(mlir::Value value, int64_t at) {
    return mlir::isa<mlir::VectorType>(value.getType()) ? mlir::vector::ExtractOp::create(b, loc, value, at).getResult()
                                                        : value;
  }
  mlir::Value repeat(mlir::Value value, int64_t lanes) {
    return lanes == 1 ? value
                      : mlir::vector::BroadcastOp::create(b, loc, mlir::VectorType::get(lanes, value.getType()), value)
                            .getResult();
  }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value sum) {
    return mlir::math::FmaOp::create(b, loc, x, y, sum);
  }
  mlir::Value exponential(mlir::Value distance) { return emitSoftmaxExponential(b, loc, distance); }
  mlir::Value share(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return AllocOp::create(b, loc, ViewType::get(shape, element, Space::Shared));
  }
  mlir::Value read(mlir::Value view, llvm::ArrayRef<mlir::Value> at, int64_t lanes = 1) {
    return LoadOp::create(b, loc, vectorOf(mlir::cast<ViewType>(view.getType()).getElementType(), lanes), view, at,
                          mlir::Value(), mlir::Value(), mlir::ArrayAttr(), mlir::DenseBoolArrayAttr());
  }
  void write(mlir::Value value, mlir::Value view, llvm::ArrayRef<mlir::Value> at) {
    StoreOp::create(b, loc, value, view, at, mlir::Value(), mlir::DenseBoolArrayAttr());
  }
  void meet() { BarrierOp::create(b, loc, Scope::Workgroup, /*async=*/false); }
  Values loop(mlir::Value from, mlir::Value to, mlir::Value by, mlir::ValueRange init,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// Always, where there is no condition.
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  /// Sets the positions of a row among those that share keys; of one that does not exist, the last one's.
  void setRow(Point &point, mlir::Value row);

  const Axes &axes;
  SharedAttention attention;
  const SharedAttentionShape &shape;
  mlir::OpBuilder b;
  mlir::Location loc;
  TileEvaluator evaluator;
  const mlir::Type f32;
  const int64_t numRows, numKeys;
  /// Of the program: where it is on the batches' axes, its first row, its thread's number.
  Point program;
  mlir::Value firstRow, thread;
  /// Who compares: its row, its place among those of the row, and how many these are.
  mlir::Value comparedRow, comparedPlace;
  const int64_t perRow;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_SIMT_ATTENTIONPROGRAM_H
