//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Detail.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace zyx::kernel {

namespace {

/// Calls of LLVM's functions for tile registers, each of which knows the shape of what it handles; LLVM
/// configures the registers.
class TileCalls {
public:
  TileCalls(OpBuilder &builder, Location loc)
      : b(builder), loc(loc), tile(LLVM::LLVMX86AMXType::get(builder.getContext())) {}

  Value zero() { return call("llvm.x86.tilezero.internal", tile, {i16(16), i16(64)}); }
  Value load(Value address, int64_t rowBytes) {
    return call("llvm.x86.tileloadd64.internal", tile, {i16(16), i16(64), address, i64(rowBytes)});
  }
  void store(Value value, Value address, int64_t rowBytes) {
    call("llvm.x86.tilestored64.internal", Type(), {i16(16), i16(64), address, i64(rowBytes), value});
  }
  Value multiply(StringRef instruction, Value sum, Value left, Value right) {
    return call(("llvm.x86." + instruction + ".internal").str(), tile, {i16(16), i16(64), i16(64), sum, left, right});
  }
  Value i64(int64_t value) { return LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

private:
  Value i16(int64_t value) { return LLVM::ConstantOp::create(b, loc, b.getI16IntegerAttr(value)); }
  Value call(StringRef name, Type result, ValueRange arguments) {
    StringAttr function = b.getStringAttr(name);
    if (result)
      return LLVM::CallIntrinsicOp::create(b, loc, result, function, arguments)->getResult(0);
    LLVM::CallIntrinsicOp::create(b, loc, function, arguments);
    return Value();
  }

  OpBuilder &b;
  Location loc;
  Type tile;
};

} // namespace

void lowerMatrixMultiply(OpBuilder &builder, MatrixMultiplyOp op, int64_t lhsStride, Value sums, Value lhs, Value rhs) {
  Location loc = op.getLoc();
  ViewType sumType = op.getSums().getType(), lhsType = op.getLhs().getType(), rhsType = op.getRhs().getType();
  int64_t rows = sumType.getDimSize(0) / 16, columns = sumType.getDimSize(1) / 16;
  int64_t lhsBytes = lhsStride * lhsType.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t rhsBytes = rhsType.getShape().back() * rhsType.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t sumBytes = sumType.getDimSize(1) * 4;
  std::string instruction = "tdpbf16ps";
  if (!isa<FloatType>(lhsType.getElementType()))
    instruction = std::string("tdpb") + (op.getLhsUnsigned() ? "u" : "s") + (op.getRhsUnsigned() ? "u" : "s") + "d";

  TileCalls calls(builder, loc);
  auto at = [&](Value base, Value offset) -> Value {
    return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
  };
  Value ahead = lhs;
  if (op.getAhead()) {
    Value rowsAhead = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), op.getAhead());
    ahead = at(lhs, arith::MulIOp::create(builder, loc, rowsAhead, calls.i64(lhsBytes)));
  }
  SmallVector<Value> zeros;
  for (int64_t i = 0; i < rows * columns; ++i)
    zeros.push_back(calls.zero());
  // One register's bytes of a row of the left factor are 16 groups of the right one.
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value step = arith::ConstantIndexOp::create(builder, loc, 512 / lhsType.getElementType().getIntOrFloatBitWidth());
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value steps = arith::DivUIOp::create(builder, loc, op.getDepth(), step);
  auto loop = scf::ForOp::create(builder, loc, zero, steps, one, zeros);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value i = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), loop.getInductionVar());
    auto times = [&](int64_t bytes) -> Value { return arith::MulIOp::create(builder, loc, i, calls.i64(bytes)); };
    Value lhsBase = at(lhs, times(64)), rhsBase = at(rhs, times(16 * rhsBytes));
    SmallVector<Value> left, right, next(loop.getRegionIterArgs());
    for (int64_t r = 0; r < rows; ++r)
      left.push_back(calls.load(at(lhsBase, calls.i64(16 * r * lhsBytes)), lhsBytes));
    for (int64_t c = 0; c < columns; ++c)
      right.push_back(calls.load(at(rhsBase, calls.i64(64 * c)), rhsBytes));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        next[r * columns + c] = calls.multiply(instruction, next[r * columns + c], left[r], right[c]);
    // One line of each row per step.
    for (int64_t r = 0; r < static_cast<int64_t>(op.getAheadRows()); ++r)
      LLVM::Prefetch::create(builder, loc, at(at(ahead, times(64)), calls.i64(r * lhsBytes)), /*rw=*/0,
                             /*hint=*/2, /*cache=*/1);
    scf::YieldOp::create(builder, loc, next);
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      calls.store(loop.getResult(r * columns + c), at(sums, calls.i64(16 * r * sumBytes + 64 * c)), sumBytes);
}

} // namespace zyx::kernel
