//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace zyx::kernel;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::unpack(Value tile) {
  auto type = cast<LLVM::LLVMStructType>(tile.getType());
  SmallVector<Value> registers;
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(b, loc, tile, i));
  return registers;
}

Value Lowering::pack(Type type, ValueRange registers) {
  Value tile = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, each] : llvm::enumerate(registers))
    tile = LLVM::InsertValueOp::create(b, loc, tile, each, i);
  return tile;
}

Value Lowering::splat(Type type, Value element) {
  auto tile = cast<LLVM::LLVMStructType>(type);
  if (auto vector = dyn_cast<VectorType>(tile.getBody().front())) {
    Value both = LLVM::PoisonOp::create(b, loc, vector);
    for (int64_t i = 0; i < 2; ++i)
      both = LLVM::InsertElementOp::create(b, loc, both, element, constant(i));
    element = both;
  }
  return pack(type, SmallVector<Value>(tile.getBody().size(), element));
}

/// The kind of fragment of a tile, if it is one.
static std::optional<FragKind> fragOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  auto frag = tile ? dyn_cast_or_null<FragAttr>(tile.getEncoding()) : FragAttr();
  return frag ? std::optional(frag.getKind()) : std::nullopt;
}

static bool holdsSums(Type type) {
  std::optional<FragKind> kind = fragOf(type);
  return kind && isAccumulator(*kind);
}

LogicalResult Lowering::requireThreads(Operation *op, int64_t count) {
  if (threads.isSingle() || threads.count != count)
    return op->emitOpError() << "needs " << count << " threads, not " << (threads.isSingle() ? 1 : threads.count);
  return success();
}

LogicalResult Lowering::requireThreadsOf(Operation *op, FragKind kind) {
  return requireThreads(op, kind == FragKind::MmaAcc ? 32 : 128);
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lowerElementwise(Operation *op) {
  Type old = op->getResult(0).getType();
  ZYX_CONVERT_OR_REFUSE(type, op, old);
  Value result;
  auto tile = dyn_cast<LLVM::LLVMStructType>(type);
  if (!tile) {
    result = lowerElement(op, values(op->getOperands()), type);
  } else {
    SmallVector<SmallVector<Value>> operands;
    for (Value operand : op->getOperands()) {
      Value lowered = value(operand);
      operands.push_back(isa<LLVM::LLVMStructType>(lowered.getType())
                             ? unpack(lowered)
                             : SmallVector<Value>(tile.getBody().size(), lowered));
      if (operands.back().size() != tile.getBody().size())
        return op->emitOpError("has tiles that a thread holds in different numbers of registers");
    }
    SmallVector<Value> registers;
    for (size_t i = 0; i < tile.getBody().size(); ++i) {
      auto inputs = llvm::map_to_vector(operands, [&](auto &operand) { return operand[i]; });
      registers.push_back(lowerElement(op, inputs, tile.getBody()[i]));
      if (!registers.back())
        break;
    }
    if (registers.back())
      result = pack(type, registers);
  }
  if (!result)
    return op->emitOpError() << "of " << old << " has no instruction";
  map.map(op->getResult(0), result);
  return success();
}

LogicalResult Lowering::lowerTileConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("is a tile of different values, which is not lowered");
  ZYX_CONVERT_OR_REFUSE(type, op, op.getType());
  Value element = LLVM::ConstantOp::create(b, loc, elements.getElementType(), elements.getSplatValue<TypedAttr>());
  map.map(op.getResult(), splat(type, element));
  return success();
}

LogicalResult Lowering::lower(SplatOp op) {
  ZYX_CONVERT_OR_REFUSE(type, op, op.getType());
  map.map(op.getResult(), splat(type, value(op.getValue())));
  return success();
}

/// A thread's first row and column come from its number, the others are constants beside them. So they are in f32,
/// whose sums are exact where such tiles are made.
LogicalResult Lowering::lower(IotaOp op) {
  auto tile = cast<RankedTensorType>(op.getType());
  ZYX_CONVERT_OR_REFUSE(type, op, op.getType());
  auto slice = dyn_cast<SliceAttr>(tile.getEncoding());
  const bool isReal = tile.getElementType().isF32();
  if ((!tile.getElementType().isInteger(32) && !isReal) ||
      fragOf(slice ? tile.cloneWithEncoding(slice.getParent()) : tile) != FragKind::WgmmaAcc)
    return op.emitOpError("is not of 32-bit integers or f32 in an accumulator, its rows or its columns");
  if (failed(requireWarpGroup(op)))
    return failure();
  const bool isRow = slice ? slice.getDim() == 1 : op.getDim() == 0;
  Value lane = LLVM::AndOp::create(b, loc, threads.thread, constant(31)), first;
  if (isRow) {
    Value warp = LLVM::LShrOp::create(b, loc, threads.thread, constant(5));
    first = LLVM::AddOp::create(b, loc, LLVM::ShlOp::create(b, loc, warp, constant(4)),
                                LLVM::LShrOp::create(b, loc, lane, constant(2)));
  } else {
    first = LLVM::ShlOp::create(b, loc, LLVM::AndOp::create(b, loc, lane, constant(3)), constant(1));
  }
  if (op.getBase())
    first = LLVM::AddOp::create(b, loc, first, value(op.getBase()));
  if (isReal)
    first = LLVM::SIToFPOp::create(b, loc, tile.getElementType(), first);
  auto plus = [&](int64_t beside) -> Value {
    if (beside == 0)
      return first;
    if (!isReal)
      return LLVM::AddOp::create(b, loc, first, constant(beside));
    auto number = b.getF32FloatAttr(static_cast<float>(beside));
    return LLVM::FAddOp::create(b, loc, first, LLVM::ConstantOp::create(b, loc, tile.getElementType(), number));
  };
  SmallVector<Value> registers;
  for (int64_t i = 0, e = cast<LLVM::LLVMStructType>(type).getBody().size(); i < e; ++i) {
    int64_t beside = !slice ? (isRow ? (i >> 1 & 1) * 8 : i / 4 * 8 + i % 2) : isRow ? i * 8 : i / 2 * 8 + i % 2;
    registers.push_back(plus(beside));
  }
  map.map(op.getResult(), pack(type, registers));
  return success();
}

/// The f32 tile that `extension` widens again behind rounding it to bf16. A bf16 above sixteen zeros is its f32: one
/// conversion to a pair rounds. LLVM's conversions of single elements take a slow unit and a shift.
static Value findRounded(Operation *extension, const zyx::target::TargetInfo &target) {
  auto narrow = extension->getOperand(0).getDefiningOp<arith::TruncFOp>();
  const bool isRound = narrow && target.arithmetic.hasPackedBfloat && getElementTypeOrSelf(narrow.getType()).isBF16() &&
                       getElementTypeOrSelf(narrow.getIn().getType()).isF32() &&
                       getElementTypeOrSelf(extension->getResult(0).getType()).isF32();
  return isRound ? narrow.getIn() : Value();
}

/// Between f32 and the 16-bit types. Neighbours in a row share a register of the smaller type, and
/// are neighbours among the registers of the larger one.
LogicalResult Lowering::lowerConversion(Operation *op) {
  Value input = value(op->getOperand(0));
  Type old = op->getResult(0).getType();
  ZYX_CONVERT_OR_REFUSE(type, op, old);
  auto tile = dyn_cast<LLVM::LLVMStructType>(type);
  if (!tile) {
    map.map(op->getResult(0), isa<arith::TruncFOp>(op) ? LLVM::FPTruncOp::create(b, loc, type, input).getResult()
                                                       : LLVM::FPExtOp::create(b, loc, type, input).getResult());
    return success();
  }
  SmallVector<Value> from = unpack(input), to;
  Type pair = VectorType::get(2, f32);
  if (isa<arith::TruncFOp>(op)) {
    for (size_t i = 0; i + 1 < from.size(); i += 2) {
      Value both = LLVM::PoisonOp::create(b, loc, pair);
      for (int64_t j = 0; j < 2; ++j)
        both = LLVM::InsertElementOp::create(b, loc, both, from[i + j], constant(j));
      to.push_back(LLVM::FPTruncOp::create(b, loc, tile.getBody().front(), both));
    }
  } else if (Value rounded = findRounded(op, target)) {
    for (Value each : unpack(value(rounded))) {
      Value none = LLVM::ConstantOp::create(b, loc, f32, b.getF32FloatAttr(0));
      Value both = LLVM::CallIntrinsicOp::create(b, loc, VectorType::get(2, b.getBF16Type()),
                                                 b.getStringAttr("llvm.nvvm.ff2bf16x2.rn"), ValueRange{each, none})
                       .getResult(0);
      to.push_back(LLVM::BitcastOp::create(b, loc, f32, both));
    }
  } else {
    for (Value each : from) {
      Value both = LLVM::FPExtOp::create(b, loc, pair, each);
      for (int64_t j = 0; j < 2; ++j)
        to.push_back(LLVM::ExtractElementOp::create(b, loc, both, constant(j)));
    }
  }
  map.map(op->getResult(0), pack(type, to));
  return success();
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//
// A thread holds, of every eight columns, two neighbours in two rows that are eight apart: register
// i of f32 is in the first row where (i / 2) is even. Four neighbouring threads share their rows.

LogicalResult Lowering::lower(ExtractOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  ZYX_CONVERT_OR_REFUSE(type, op, op.getType());
  if (!holdsSums(input) || op.getOffsets()[0] != 0 || op.getOffsets()[1] % 8 != 0)
    return op.emitOpError("takes whole rows of an accumulator, from a column that is a multiple of 8");
  SmallVector<Value> all = unpack(value(op.getInput()));
  int64_t first = op.getOffsets()[1] * static_cast<int64_t>(all.size()) / input.getDimSize(1);
  size_t count = cast<LLVM::LLVMStructType>(type).getBody().size();
  map.map(op.getResult(), pack(type, ArrayRef(all).slice(first, count)));
  return success();
}

LogicalResult Lowering::lower(ConvertOp op) {
  // Eight columns of an accumulator, rounded to 16 bits, are half of what the matrix unit takes as A:
  // the registers are the same and in the same order.
  auto tile = cast<RankedTensorType>(op.getType());
  bool is16Bit = tile.getElementType().isBF16() || tile.getElementType().isF16();
  if (fragOf(op.getInput().getType()) != FragKind::WgmmaAcc || fragOf(tile) != FragKind::WgmmaA || !is16Bit ||
      tile.getDimSize(1) % 16 != 0)
    return op.emitOpError() << "from " << op.getInput().getType() << " to " << tile << " is not lowered";
  map.map(op.getResult(), value(op.getInput()));
  return success();
}

LogicalResult Lowering::lower(ReduceOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  ZYX_CONVERT_OR_REFUSE(type, op, op.getType());
  if (fragOf(input) != FragKind::WgmmaAcc || !input.getElementType().isF32() || op.getDims() != ArrayRef<int64_t>{1})
    return op.emitOpError("is not along the rows of an f32 accumulator");
  auto combine = [&](Value x, Value y) -> Value {
    switch (op.getKind()) {
    case Combine::Add:
      return LLVM::FAddOp::create(b, loc, x, y);
    case Combine::Mul:
      return LLVM::FMulOp::create(b, loc, x, y);
    case Combine::Max:
      return LLVM::MaximumOp::create(b, loc, x, y);
    default:
      return LLVM::MinimumOp::create(b, loc, x, y);
    }
  };
  SmallVector<Value> registers = unpack(value(op.getInput())), rows;
  for (size_t row = 0; row < 2; ++row) {
    SmallVector<Value> left;
    for (auto [i, each] : llvm::enumerate(registers))
      if (((i >> 1) & 1) == row)
        left.push_back(each);
    // As a tree, so that nothing waits for a long chain.
    while (left.size() > 1) {
      SmallVector<Value> next;
      for (size_t i = 0; i < left.size(); i += 2)
        next.push_back(i + 1 < left.size() ? combine(left[i], left[i + 1]) : left[i]);
      left = std::move(next);
    }
    Value result = left.front();
    for (int64_t distance : {1, 2}) {
      Value other = NVVM::ShflOp::create(b, loc, f32, constant(-1), result, constant(distance), constant(31),
                                         NVVM::ShflKind::bfly, UnitAttr());
      result = combine(result, other);
    }
    rows.push_back(result);
  }
  map.map(op.getResult(), pack(type, rows));
  return success();
}

/// By a vote of the warp, so that its threads branch together.
LogicalResult Lowering::lower(AnyOp op) {
  ZYX_CONVERT_OR_REFUSE(type, op, op.getConditions().getType());
  if (threads.isSingle())
    return op.emitOpError("is asked by one thread only");
  Value any;
  for (Value each : unpack(value(op.getConditions())))
    any = any ? LLVM::OrOp::create(b, loc, any, each).getResult() : each;
  map.map(op.getResult(), NVVM::VoteSyncOp::create(b, loc, i1, constant(-1), any, NVVM::VoteSyncKind::any).getResult());
  return success();
}

LogicalResult Lowering::lower(BroadcastOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  ZYX_CONVERT_OR_REFUSE(type, op, op.getType());
  auto slice = dyn_cast_or_null<SliceAttr>(input.getEncoding());
  // A column lacks dimension 1, a row dimension 0.
  const bool isBlock = fragOf(op.getType()) == FragKind::Block;
  if (!slice || (!isBlock && !holdsSums(op.getType())) || input.getElementType().isBF16() ||
      input.getElementType().isF16() || op.getDims() != ArrayRef<int64_t>{1 - static_cast<int64_t>(slice.getDim())})
    return op.emitOpError("is not of a column along the rows of an accumulator, or of a row along its columns");
  SmallVector<Value> given = unpack(value(op.getInput())), registers;
  for (size_t i = 0, e = cast<LLVM::LLVMStructType>(type).getBody().size(); i < e; ++i)
    registers.push_back(isBlock ? given[slice.getDim() == 1 ? i / 8 : i % 8]
                                : given[slice.getDim() == 1 ? (i >> 1) & 1 : i / 4 * 2 + i % 2]);
  map.map(op.getResult(), pack(type, registers));
  return success();
}

LogicalResult Lowering::lower(StoreOp op) {
  if (op.getView().getType().getSpace() == Space::Global)
    return storeToGlobal(op);
  if (fragOf(op.getValue().getType()) == FragKind::Pieces)
    return storePieces(op);
  auto tile = dyn_cast<RankedTensorType>(op.getValue().getType());
  AllocOp alloc = allocationOf(op.getView());
  bool is16Bit = tile && (tile.getElementType().isBF16() || tile.getElementType().isF16());
  if (!is16Bit || fragOf(tile) != FragKind::WgmmaAcc || tile.getDimSize(1) % 16 != 0 || !alloc ||
      memory.at(alloc).swizzle != 128 || op.getMask())
    return op.emitOpError("is not of a 16-bit accumulator to shared memory with a swizzle of 128");
  ArrayRef<int64_t> view = op.getView().getType().getShape().take_back(2);
  std::optional<int64_t> first = getConstantIntValue(op.getIndices().back());
  if (tile.getDimSize(0) != view[0] || !first || *first % 16 != 0 || *first + tile.getDimSize(1) > view[1])
    return op.emitOpError("does not fill the rows of its view, from a column that is a multiple of 16");
  if (failed(requireWarpGroup(op)))
    return failure();
  FailureOr<Value> place = pointerTo(op, op.getView(), op.getIndices(), /*atRowStart=*/true);
  if (failed(place))
    return failure();

  // stmatrix writes four blocks of 8 x 8: lane l gives the address of row l % 16 of its warp's sixteen,
  // in the first or second eight columns. A swizzle of 128 exchanges pieces of 16 bytes.
  auto andOf = [&](Value x, int64_t y) -> Value { return LLVM::AndOp::create(b, loc, x, constant(y)); };
  Value lane = andOf(threads.thread, 31);
  Value warp = LLVM::LShrOp::create(b, loc, threads.thread, constant(5));
  Value row = LLVM::AddOp::create(b, loc, LLVM::ShlOp::create(b, loc, warp, constant(4)), andOf(lane, 15));
  Value right = LLVM::LShrOp::create(b, loc, lane, constant(4));
  Value rowStart = advance(*place, LLVM::ShlOp::create(b, loc, row, constant(7)).getResult());
  Value rowInEight = andOf(row, 7);
  SmallVector<Value> registers;
  for (Value each : unpack(value(op.getValue())))
    registers.push_back(LLVM::BitcastOp::create(b, loc, i32, each));
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  for (int64_t i = 0; i < tile.getDimSize(1); i += 16) {
    int64_t column = *first + i;
    Value piece = LLVM::AddOp::create(b, loc, constant(column % 64 / 8), right);
    Value swizzled = LLVM::XOrOp::create(b, loc, piece, rowInEight);
    Value address = advance(rowStart, LLVM::ShlOp::create(b, loc, swizzled, constant(4)).getResult());
    NVVM::StMatrixOp::create(b, loc, advance(address, column / 64 * memory.at(alloc).panelBytes),
                             ValueRange(registers).slice(i / 4, 4), NVVM::MMALayout::row, shape,
                             NVVM::LdStMatrixEltType::B16);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The matrix unit
//===----------------------------------------------------------------------===//

Value Lowering::descriptor(Value pointer, const SharedMemory &place, int64_t leading, int64_t stride) {
  // Bits 0-13 address, 16-29 leading and 32-45 stride, all without their lowest four bits; 62-63 swizzle.
  uint64_t mode = place.swizzle == 128 ? 1 : place.swizzle == 64 ? 2 : 3;
  uint64_t rest = mode << 62 | static_cast<uint64_t>(stride >> 4) << 32 | static_cast<uint64_t>(leading >> 4) << 16;
  // In a cluster the number of the workgroup stands above the address, where it would be part of what is leading.
  constexpr int32_t addressBits = 18;
  Value address = LLVM::PtrToIntOp::create(b, loc, i32, pointer);
  Value own = LLVM::AndOp::create(b, loc, address, constant((1 << addressBits) - 1));
  Value short_ = LLVM::ZExtOp::create(b, loc, i64, LLVM::LShrOp::create(b, loc, own, constant(4)));
  return LLVM::OrOp::create(b, loc, short_, constant(i64, static_cast<int64_t>(rest)));
}

/// Contracted bytes of one wgmma.
static constexpr int64_t stepBytes = 32;

/// The matrix unit's name of a factor's elements; none where it has none.
static std::optional<NVVM::WGMMATypes> factorKind(Type element) {
  if (element.isBF16())
    return NVVM::WGMMATypes::bf16;
  if (element.isF16())
    return NVVM::WGMMATypes::f16;
  if (isa<Float8E4M3FNType>(element))
    return NVVM::WGMMATypes::e4m3;
  if (isa<Float8E5M2Type>(element))
    return NVVM::WGMMATypes::e5m2;
  if (element.isInteger(8))
    return NVVM::WGMMATypes::s8;
  if (element.isF32())
    return NVVM::WGMMATypes::tf32;
  return std::nullopt;
}

LogicalResult Lowering::lower(MmaAsyncOp op) {
  auto result = cast<RankedTensorType>(op.getType());
  auto type = dyn_cast_or_null<LLVM::LLVMStructType>(convert(result));
  int64_t n = result.getDimSize(1);
  Type sum = result.getElementType();
  if (!type || fragOf(result) != FragKind::WgmmaAcc || (!sum.isF32() && !sum.isInteger(32)) || n > 256)
    return op.emitOpError() << "into " << result << " has no instruction; there are 64 rows of up to 256 f32 or i32";
  if (failed(requireWarpGroup(op)))
    return failure();
  ViewType rhs = op.getRhs().getType();
  Type element = rhs.getElementType();
  bool inRegisters = isa<RankedTensorType>(op.getLhs().getType());
  Type lhsElement = inRegisters ? getElementTypeOrSelf(op.getLhs().getType())
                                : cast<ViewType>(op.getLhs().getType()).getElementType();
  auto kind = factorKind(element), lhsKind = factorKind(lhsElement);
  const unsigned bits = element.getIntOrFloatBitWidth();
  if (!kind || !lhsKind || element.isInteger(8) != sum.isInteger(32) ||
      element.isInteger(8) != lhsElement.isInteger(8) || lhsElement.getIntOrFloatBitWidth() != bits ||
      (bits != 8 && lhsElement != element))
    return op.emitOpError() << "of " << lhsElement << " and " << element << " into " << sum
                            << " is not lowered; bf16, f16, f8, and f32 as tf32, into f32 are, and i8 into i32";
  if (bits != 16 && (inRegisters || op.getTransposeLhs() || !op.getTransposeRhs()))
    return op.emitOpError() << "of " << bits << " bits takes both factors from memory, along the contraction";
  const int64_t stepK = stepBytes * 8 / bits;
  if (inRegisters && fragOf(op.getLhs().getType()) != FragKind::WgmmaA)
    return op.emitOpError("takes its left factor from registers as #kernel.frag<wgmma_a>");
  auto swizzled = [&](Value view) -> const SharedMemory * {
    AllocOp alloc = allocationOf(view);
    return alloc && memory.at(alloc).swizzle ? &memory.at(alloc) : nullptr;
  };
  const SharedMemory *right = swizzled(op.getRhs());
  const SharedMemory *left = inRegisters ? nullptr : swizzled(op.getLhs());
  if (!right || (!inRegisters && !left))
    return op.emitOpError("takes factors from swizzled shared memory");
  // Rows of a left factor along which the contraction does not run are those of one panel.
  if (op.getTransposeLhs() && left->panelColumns != result.getDimSize(0))
    return op.emitOpError() << "takes a transposed left factor out of panels of " << result.getDimSize(0)
                            << " columns, not of " << left->panelColumns;
  int64_t k = rhs.getDimSize(op.getTransposeRhs() ? 1 : 0);
  if (k % stepK != 0)
    return op.emitOpError() << "contracts " << k << " elements, no multiple of " << stepK;

  // With k innermost, rows of eight repeat after 8 * swizzle bytes, and a step along k is 32 bytes
  // within a panel. Otherwise n is innermost: panels are `leading` apart and a step is 16 rows.
  auto alongK = [&](const SharedMemory &place, int64_t at) {
    return at / place.panelColumns * place.panelBytes + at % place.panelColumns * place.elementBytes;
  };
  Value rhsStart =
      descriptor(value(op.getRhs()), *right, op.getTransposeRhs() ? 16 : right->panelBytes, 8 * right->swizzle);
  Value lhsStart = left ? descriptor(value(op.getLhs()), *left, 16, 8 * left->swizzle) : Value();
  auto at = [&](Value start, int64_t bytes) -> Value {
    return bytes ? LLVM::AddOp::create(b, loc, start, constant(i64, bytes >> 4)).getResult() : start;
  };
  SmallVector<Value> factor = inRegisters ? unpack(value(op.getLhs())) : SmallVector<Value>();
  Value acc = op.getAcc() ? value(op.getAcc()) : LLVM::PoisonOp::create(b, loc, type).getResult();
  const auto sumKind = sum.isF32() ? NVVM::WGMMATypes::f32 : NVVM::WGMMATypes::s32;
  for (int64_t kk = 0; kk < k; kk += stepK) {
    bool accumulates = op.getAcc() || kk > 0;
    Value rhsHere = at(rhsStart, op.getTransposeRhs() ? alongK(*right, kk) : kk * right->swizzle);
    if (!inRegisters) {
      acc = NVVM::WgmmaMmaAsyncOp::create(
          b, loc, type, acc, at(lhsStart, op.getTransposeLhs() ? kk * left->swizzle : alongK(*left, kk)), rhsHere,
          NVVM::MMAShapeAttr::get(b.getContext(), 64, n, stepK), *lhsKind, *kind, sumKind,
          accumulates ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero, NVVM::WGMMAScaleIn::one,
          NVVM::WGMMAScaleIn::one, op.getTransposeLhs() ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          op.getTransposeRhs() ? NVVM::MMALayout::col : NVVM::MMALayout::row, NVVM::MMAIntOverflowAttr());
      continue;
    }
    // NVVM has no op with the left factor in registers.
    size_t count = type.getBody().size();
    SmallVector<Value> operands = unpack(acc);
    for (Value each : ArrayRef(factor).slice(kk / 4, 4))
      operands.push_back(LLVM::BitcastOp::create(b, loc, i32, each));
    operands.push_back(rhsHere);
    std::string text, constraints;
    llvm::raw_string_ostream os(text), cs(constraints);
    StringRef name = element.isBF16() ? "bf16" : "f16";
    auto list = [&](size_t from, size_t to) {
      os << "{";
      llvm::interleave(llvm::seq(from, to), os, [&](size_t i) { os << "$" << i; }, ",");
      os << "}";
    };
    os << "wgmma.mma_async.sync.aligned.m64n" << n << "k16.f32." << name << "." << name << " ";
    list(0, count);
    os << ", ";
    list(2 * count, 2 * count + 4);
    os << ", $" << 2 * count + 4 << ", " << accumulates << ", 1, 1, " << !op.getTransposeRhs() << ";";
    for (size_t i = 0; i < count; ++i)
      cs << "=f,";
    for (size_t i = 0; i < count; ++i)
      cs << i << ",";
    cs << "r,r,r,r,l";
    acc = LLVM::InlineAsmOp::create(b, loc, TypeRange(type), operands, text, constraints,
                                    /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                    LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
              .getResult(0);
  }
  map.map(op.getResult(), acc);
  return success();
}

LogicalResult Lowering::lower(MmaWaitOp op) {
  SmallVector<Value> registers;
  for (Value each : op.getAccumulators()) {
    Value tile = value(each);
    Type sum = getElementTypeOrSelf(each.getType());
    if (fragOf(each.getType()) != FragKind::WgmmaAcc || (!sum.isF32() && !sum.isInteger(32)))
      return op.emitOpError() << "gives back " << each.getType() << ", which is no f32 or i32 accumulator";
    llvm::append_range(registers, unpack(tile));
  }
  if (registers.empty()) {
    NVVM::WgmmaWaitGroupSyncOp::create(b, loc, op.getPending());
    return success();
  }
  auto all = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                              llvm::map_to_vector(registers, [](Value v) { return v.getType(); }));
  std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";", constraints;
  llvm::raw_string_ostream cs(constraints);
  llvm::interleave(registers, cs, [&](Value v) { cs << (v.getType().isF32() ? "=f" : "=r"); }, ",");
  for (size_t i = 0; i < registers.size(); ++i)
    cs << "," << i;
  Value waited =
      LLVM::InlineAsmOp::create(b, loc, TypeRange(Type(all)), registers, text, constraints, /*has_side_effects=*/true,
                                /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
          .getResult(0);
  SmallVector<Value> results = unpack(waited);
  size_t from = 0;
  for (OpResult each : op.getResults()) {
    auto type = cast<LLVM::LLVMStructType>(convert(each.getType()));
    map.map(each, pack(type, ArrayRef(results).slice(from, type.getBody().size())));
    from += type.getBody().size();
  }
  return success();
}
