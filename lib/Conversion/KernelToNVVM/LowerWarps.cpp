//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products of one warp by mma.sync: factors come out of shared memory by ldmatrix, in blocks of 8 rows by 16 bytes.
// Lane l gets word l % 4 of row l / 4 of each block, or with .trans the elements 2 * (l % 4) and the next one of column
// l / 4: what mma.sync wants of it. A left factor has four blocks, of 16 rows and 32 bytes along the contraction, and
// two columns of eight of a right one have four.
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "zyx/Dialect/Kernel/IR/Divisor.h"

using namespace mlir;
using namespace zyx::kernel;

static constexpr int64_t warpThreads = 32, pieceBytes = 16, blockRows = 8;

static FragKind kindOf(Value tile) {
  return cast<FragAttr>(cast<RankedTensorType>(tile.getType()).getEncoding()).getKind();
}

LogicalResult Lowering::lower(LoadMatrixOp op) {
  ZYX_CONVERT_OR_REFUSE(type, op, op.getType());
  AllocOp alloc = allocationOf(op.getView());
  if (!alloc || !memory.at(alloc).swizzle)
    return op.emitOpError("reads shared memory that is not swizzled, which is not lowered");
  const SharedMemory &place = memory.at(alloc);
  if (knownDivisor(op.getRow()) % blockRows != 0 ||
      knownDivisor(op.getColumn()) % (pieceBytes / place.elementBytes) != 0)
    return op.emitOpError() << "begins at no visible multiple of " << blockRows << " rows and " << pieceBytes
                            << " bytes";
  if (failed(requireThreads(op, warpThreads)))
    return failure();
  auto andOf = [&](Value x, int64_t y) -> Value { return LLVM::AndOp::create(b, loc, x, constant(y)); };
  auto shifted = [&](Value x, int64_t y) -> Value { return LLVM::LShrOp::create(b, loc, x, constant(y)); };
  auto plus = [&](Value x, Value y) -> Value { return LLVM::AddOp::create(b, loc, x, y); };
  const bool isLeft = kindOf(op.getResult()) == FragKind::MmaA;
  Value lane = threads.thread, row, piece;
  // Which row of which block each lane names: blocks side by side come last, or blocks below each other do.
  if (isLeft != op.getTransposed()) {
    row = andOf(lane, 2 * blockRows - 1);
    piece = shifted(lane, 4);
  } else {
    row = plus(andOf(lane, blockRows - 1), andOf(shifted(lane, 1), blockRows));
    piece = andOf(shifted(lane, 3), 1);
  }
  piece = plus(piece, LLVM::UDivOp::create(b, loc, value(op.getColumn()), constant(pieceBytes / place.elementBytes)));
  // The first row is a multiple of eight, after which a swizzle repeats.
  Value begin = advance(value(op.getView()),
                        LLVM::MulOp::create(b, loc, value(op.getRow()), constant(place.swizzle)).getResult());
  auto four = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, i32));
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  SmallVector<Value> registers;
  const int64_t loads = static_cast<int64_t>(cast<LLVM::LLVMStructType>(type).getBody().size()) / 4;
  for (int64_t i = 0; i < loads; ++i) {
    // Sixteen columns of a right factor are rows in memory, or two pieces of them.
    Value here = op.getTransposed() && i ? plus(piece, constant(2 * i)) : piece;
    Value address = advance(begin, swizzled(place, row, here));
    if (!op.getTransposed())
      address = advance(address, i * 2 * blockRows * place.swizzle);
    Value read = NVVM::LdMatrixOp::create(b, loc, four, address, 4,
                                          op.getTransposed() ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
                                          NVVM::LdStMatrixEltType::B16);
    llvm::append_range(registers, unpack(read));
  }
  map.map(op.getResult(), pack(type, registers));
  return success();
}

static std::optional<NVVM::MMATypes> typeOf(Type element) {
  if (element.isBF16())
    return NVVM::MMATypes::bf16;
  if (element.isF16())
    return NVVM::MMATypes::f16;
  if (element.isInteger(8))
    return NVVM::MMATypes::s8;
  if (element.isF32())
    return NVVM::MMATypes::tf32;
  return std::nullopt;
}

/// The same in the record's table.
static zyx::target::MatrixType factorsOf(Type element) {
  using zyx::target::MatrixType;
  return element.isBF16()       ? MatrixType::BF16
         : element.isF16()      ? MatrixType::F16
         : element.isInteger(8) ? MatrixType::I8
                                : MatrixType::TF32;
}

LogicalResult Lowering::lower(MmaOp op) {
  auto result = cast<RankedTensorType>(op.getType());
  ZYX_CONVERT_OR_REFUSE(type, op, op.getType());
  Type lhs = getElementTypeOrSelf(op.getLhs().getType()), rhs = getElementTypeOrSelf(op.getRhs().getType());
  const std::optional<NVVM::MMATypes> kind = typeOf(lhs);
  const bool sumsIntegers = result.getElementType().isInteger(32);
  if (!kind || lhs != rhs || lhs.isInteger(8) != sumsIntegers || (!sumsIntegers && !result.getElementType().isF32()))
    return op.emitOpError() << "of " << lhs << " and " << rhs << " into " << result.getElementType()
                            << " is not lowered; bf16, f16, and f32 as tf32, into f32 are, and i8 into i32";
  const zyx::target::MatrixInstruction *product = target.findSubgroupProduct(factorsOf(lhs));
  if (!product)
    return op.emitOpError() << "of " << lhs << " is no instruction of " << target.name;
  if (failed(requireThreads(op, warpThreads)))
    return failure();
  auto asFactor = [&](ValueRange registers) {
    if (!lhs.isF16())
      return SmallVector<Value>(registers);
    return llvm::map_to_vector(
        registers, [&](Value each) -> Value { return LLVM::BitcastOp::create(b, loc, VectorType::get(2, lhs), each); });
  };
  SmallVector<Value> left = asFactor(unpack(value(op.getLhs()))), right = asFactor(unpack(value(op.getRhs())));
  SmallVector<Value> sums = unpack(value(op.getAcc()));
  // An instruction of half the depth takes the first half of the registers of each factor, then the other.
  const int64_t depth = product->k, parts = 32 * 8 / (depth * lhs.getIntOrFloatBitWidth());
  auto four = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, sums.front().getType()));
  const std::optional<NVVM::MMAIntOverflow> overflow =
      sumsIntegers ? std::optional(NVVM::MMAIntOverflow::wrapped) : std::nullopt;
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t column = 0; column < result.getDimSize(1) / 8; ++column) {
      auto each = MutableArrayRef(sums).slice(4 * column, 4);
      Value made = NVVM::MmaOp::create(
          b, loc, four, ArrayRef(left).slice(4 / parts * part, 4 / parts),
          ArrayRef(right).slice(2 * column + part, 2 / parts), ArrayRef<Value>(each), ArrayRef<int64_t>{16, 8, depth},
          std::nullopt, overflow, std::array{*kind, *kind}, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
      llvm::copy(unpack(made), each.begin());
    }
  map.map(op.getResult(), pack(type, sums));
  return success();
}
