//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_EXPANDRANDOMBITSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

/// Philox4x32-10 on tensors of u64 that hold 32-bit words: a product of two words has its place
/// there, and additions need no carry.
class Philox {
public:
  Philox(RandomBitsOp op)
      : builder(op), loc(op.getLoc()), result(cast<RankedTensorType>(op.getType())),
        type(result.clone(builder.getIntegerType(64, /*isSigned=*/false))) {}

  Value emit(Value seed) {
    Value place = linearIndex(), counter = shiftRight(place, 2);
    Value words[4] = {low(counter), shiftRight(counter, 32), constant(0), constant(0)};
    Value everywhere = repeat(seed);
    Value keys[2] = {low(everywhere), shiftRight(everywhere, 32)};
    for (int round = 0; round < 10; ++round) {
      Value first = multiply(words[0], 0xD2511F53), second = multiply(words[2], 0xCD9E8D57);
      Value next[4] = {exclusiveOr(exclusiveOr(shiftRight(second, 32), words[1]), keys[0]), low(second),
                       exclusiveOr(exclusiveOr(shiftRight(first, 32), words[3]), keys[1]), low(first)};
      std::copy(std::begin(next), std::end(next), std::begin(words));
      if (round == 9)
        break;
      keys[0] = low(add(keys[0], constant(0x9E3779B9)));
      keys[1] = low(add(keys[1], constant(0xBB67AE85)));
    }
    Value lane = binary(BinaryKind::And, place, constant(3)), chosen = words[3];
    for (int64_t word = 2; word >= 0; --word)
      chosen = SelectOp::create(builder, loc, binary(BinaryKind::Eq, lane, constant(word)), words[word], chosen);
    return CastOp::create(builder, loc, result, chosen);
  }

private:
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value add(Value a, Value b) { return binary(BinaryKind::Add, a, b); }
  Value exclusiveOr(Value a, Value b) { return binary(BinaryKind::Xor, a, b); }
  Value multiply(Value a, uint64_t b) { return binary(BinaryKind::Mul, a, constant(b)); }
  Value shiftRight(Value a, uint64_t b) { return binary(BinaryKind::Shr, a, constant(b)); }
  Value low(Value a) { return binary(BinaryKind::And, a, constant(0xFFFFFFFF)); }
  Value constant(uint64_t value) {
    auto element = IntegerAttr::get(type.getElementType(), APInt(64, value));
    return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, element));
  }

  Value linearIndex() {
    Value sum;
    int64_t stride = 1;
    for (int64_t dim = type.getRank(); dim-- > 0; stride *= type.getDimSize(dim)) {
      if (type.getDimSize(dim) == 1)
        continue;
      Value own = IotaOp::create(builder, loc, type, dim);
      if (stride != 1)
        own = multiply(own, stride);
      sum = sum ? add(sum, own) : own;
    }
    return sum ? sum : constant(0);
  }

  Value repeat(Value seed) {
    SmallVector<int64_t> ones(type.getRank(), 1);
    Value single = ReshapeOp::create(builder, loc, type.clone(ones), seed);
    return ExpandOp::create(builder, loc, type, single);
  }

  OpBuilder builder;
  Location loc;
  RankedTensorType result, type;
};

} // namespace

static void expandRandomBits(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<RandomBitsOp>())) {
    op.getResult().replaceAllUsesWith(Philox(op).emit(op.getSeed()));
    op.erase();
  }
}

namespace {

struct ExpandRandomBits : zyx::fusion::impl::ExpandRandomBitsPassBase<ExpandRandomBits> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), expandRandomBits)))
      signalPassFailure();
  }
};

} // namespace
