//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Detail.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace zyx::kernel {

namespace {

constexpr int64_t lanes = 16;

/// Products of groups of narrow factors, one group per lane, added to sums of 32 bits. Of integers the
/// instruction takes unsigned numbers on one side and signed ones on the other: where both are of one kind, the
/// left ones are moved by 128, and 128 times the sum of the right ones makes up for it.
class GroupProducts {
public:
  GroupProducts(OpBuilder &builder, MatrixMultiplyOp op)
      : b(builder), loc(op.getLoc()), floats(isa<FloatType>(op.getLhs().getType().getElementType())),
        lhsUnsigned(op.getLhsUnsigned()), rhsUnsigned(op.getRhsUnsigned()) {}

  Type groups() { return VectorType::get(lanes, b.getI32Type()); }
  Type sums() { return floats ? VectorType::get(lanes, b.getF32Type()) : groups(); }
  bool moves() const { return !floats && lhsUnsigned == rhsUnsigned; }

  Value splat(int32_t value) {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(cast<VectorType>(groups()), value));
  }
  /// All lanes of the left factor's group.
  Value broadcast(Value group) {
    Value all = vector::BroadcastOp::create(b, loc, groups(), group);
    return moves() ? arith::XOrIOp::create(b, loc, all, splat(0x80808080)).getResult() : all;
  }
  Value add(Value sum, Value left, Value right) {
    if (floats)
      return call("llvm.x86.avx512bf16.dpbf16ps.512", sum, left, right, VectorType::get(2 * lanes, b.getBF16Type()));
    // The unsigned side comes first. Moved left factors are of the other kind.
    bool leftFirst = moves() ? !rhsUnsigned : lhsUnsigned;
    return addBytes(sum, leftFirst ? left : right, leftFirst ? right : left);
  }
  /// The right factors alone.
  Value count(Value sum, Value right) {
    Value ones = splat(0x01010101);
    return addBytes(sum, rhsUnsigned ? right : ones, rhsUnsigned ? ones : right);
  }
  Value makeUp(Value sum, Value counted) {
    Value by = arith::MulIOp::create(b, loc, counted, splat(128));
    return rhsUnsigned ? arith::AddIOp::create(b, loc, sum, by).getResult()
                       : arith::SubIOp::create(b, loc, sum, by).getResult();
  }

private:
  Value addBytes(Value sum, Value first, Value second) {
    return call("llvm.x86.avx512.vpdpbusd.512", sum, first, second, VectorType::get(4 * lanes, b.getI8Type()));
  }
  Value call(StringRef name, Value sum, Value first, Value second, Type factors) {
    auto cast = [&](Value value) -> Value { return LLVM::BitcastOp::create(b, loc, factors, value); };
    return LLVM::CallIntrinsicOp::create(b, loc, sum.getType(), b.getStringAttr(name),
                                         ValueRange{sum, cast(first), cast(second)})
        ->getResult(0);
  }

  OpBuilder &b;
  Location loc;
  bool floats, lhsUnsigned, rhsUnsigned;
};

} // namespace

/// Eight rows at a time: their sums stay in registers.
void lowerVectorMultiply(OpBuilder &builder, MatrixMultiplyOp op, int64_t lhsStride, Value sums, Value lhs, Value rhs) {
  constexpr int64_t rowsAtOnce = 8;
  Location loc = op.getLoc();
  ViewType sumType = op.getSums().getType();
  int64_t rows = sumType.getDimSize(0), columns = sumType.getDimSize(1), vectors = columns / lanes;
  int64_t factorBytes = op.getLhs().getType().getElementType().getIntOrFloatBitWidth() / 8;
  int64_t lhsBytes = lhsStride * factorBytes, rhsBytes = op.getRhs().getType().getShape().back();
  rhsBytes *= op.getRhs().getType().getElementType().getIntOrFloatBitWidth() / 8;
  GroupProducts products(builder, op);
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  // base + i * step + offset, in bytes.
  auto at = [&](Value base, Value i, int64_t step, int64_t offset) -> Value {
    Value bytes =
        arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, i, index(step)), index(offset));
    bytes = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
    return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  };
  auto load = [&](Type type, Value address) -> Value {
    return LLVM::LoadOp::create(builder, loc, type, address, /*alignment=*/1);
  };

  Value zero = index(0), one = index(1);
  Value steps = arith::DivUIOp::create(builder, loc, op.getDepth(), index(4 / factorBytes));
  auto blocks = scf::ForOp::create(builder, loc, zero, index(rows), index(rowsAtOnce));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(blocks.getBody());
  Value row = blocks.getInductionVar(), lhsRow = at(lhs, row, lhsBytes, 0);
  int64_t numSums = rowsAtOnce * vectors;
  Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(products.sums()));
  SmallVector<Value> begin(numSums + (products.moves() ? vectors : 0), none);
  auto loop = scf::ForOp::create(builder, loc, zero, steps, one, begin);
  {
    OpBuilder::InsertionGuard inLoop(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value i = loop.getInductionVar();
    SmallVector<Value> right, next(loop.getRegionIterArgs());
    for (int64_t v = 0; v < vectors; ++v) {
      right.push_back(load(products.groups(), at(rhs, i, rhsBytes, v * lanes * 4)));
      if (products.moves())
        next[numSums + v] = products.count(next[numSums + v], right[v]);
    }
    for (int64_t r = 0; r < rowsAtOnce; ++r) {
      Value left = products.broadcast(load(builder.getI32Type(), at(lhsRow, i, 4, r * lhsBytes)));
      for (int64_t v = 0; v < vectors; ++v)
        next[r * vectors + v] = products.add(next[r * vectors + v], left, right[v]);
    }
    scf::YieldOp::create(builder, loc, next);
  }
  for (int64_t r = 0; r < rowsAtOnce; ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = loop.getResult(r * vectors + v);
      if (products.moves())
        sum = products.makeUp(sum, loop.getResult(numSums + v));
      LLVM::StoreOp::create(builder, loc, sum, at(sums, row, columns * 4, r * columns * 4 + v * lanes * 4),
                            /*alignment=*/1);
    }
}

} // namespace zyx::kernel
