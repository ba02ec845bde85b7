//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Detail.h"

#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Dialect/Kernel/IR/Divisor.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace zyx::kernel {
namespace {

/// Where the elements of a view lie: base + (offset + sum(index * stride)) elements.
struct StridedAddress {
  Value base;
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
};

class MemoryLowering {
public:
  MemoryLowering(LLVM::LLVMFuncOp body, const MemoryFacts &facts)
      : body(body), facts(facts), builder(body.getContext()) {}
  LogicalResult run();

private:
  LogicalResult lower(ViewOp view);
  LogicalResult lower(AllocOp alloc);
  LogicalResult lower(SubviewOp subview);
  LogicalResult lower(PeerOp peer);
  LogicalResult lower(LoadOp load);
  LogicalResult lower(GatherOp gather);
  LogicalResult lower(StoreOp store);
  LogicalResult lower(MatrixMultiplyOp multiply);
  LogicalResult lower(PrefetchOp prefetch);
  LogicalResult lower(WarpReadOp read);
  void fetchAhead(Value from);
  void storePastCaches(Value bits, Value to, unsigned alignment);
  void storeInPieces(Value bits, Value to, unsigned alignment);
  void lower(vector::CreateMaskOp mask);
  void lower(vector::ConstantMaskOp mask);
  void lower(vector::StepOp step);
  /// What threads of a workgroup have, or workgroups of a cluster.
  bool hasNumber(IdKind kind) const {
    return facts.shared && (kind == IdKind::Thread || (kind == IdKind::ClusterRank && facts.isCluster));
  }
  bool hasBarrier(Scope scope) const { return facts.shared && (scope == Scope::Workgroup || facts.isCluster); }
  void lower(IdOp id);
  void lower(BarrierOp barrier);
  LogicalResult lower(ShuffleOp shuffle);

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  OpFoldResult expand(AffineExpr expr, ValueRange symbols);
  /// offset + sum(index * stride) with the innermost dimension added last, so that what a loop
  /// over it leaves alone can be hoisted.
  OpFoldResult linear(const StridedAddress &place, ValueRange indices);
  OpFoldResult add(OpFoldResult a, OpFoldResult b);
  OpFoldResult multiply(OpFoldResult a, OpFoldResult b);
  Value materialize(OpFoldResult value);
  /// base + linear, in elements of `type`. Where all lanes are masked off it may lie outside.
  Value address(const StridedAddress &place, ValueRange indices, Type type, bool masked = false);
  /// Of an access to such an address, in bytes.
  unsigned alignmentOf(Value address, Type type);
  /// One address per lane, for a vector whose innermost stride is not 1.
  Value addresses(const StridedAddress &place, ValueRange indices, VectorType type);
  /// The place of a view operand; null, after an error, where the view is not made by an op here.
  const StridedAddress *addressOf(Operation *user, Value view);
  bool isContiguous(const StridedAddress &place) {
    return place.strides.empty() || getConstantIntValue(place.strides.back()) == 1;
  }
  Value mask(Value given, int64_t lanes);

  LLVM::LLVMFuncOp body;
  const MemoryFacts facts;
  /// Where the allocations of either space begin.
  DenseMap<Value, int64_t> begins;
  /// Something is stored past the caches.
  bool streams = false;
  OpBuilder builder;
  Location loc = body.getLoc();
  DenseMap<Value, StridedAddress> places;
};

LLVM::LLVMPointerType pointerType(MLIRContext *context) { return LLVM::LLVMPointerType::get(context); }

/// The type that an element has in memory: i1 is a byte, small floats are their bits.
Type memoryType(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(memoryType(vector.getElementType()));
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  if (isSmallFloat(type))
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

int64_t elementBytes(Type type) { return memoryType(getElementTypeOrSelf(type)).getIntOrFloatBitWidth() / 8; }

OpFoldResult MemoryLowering::expand(AffineExpr expr, ValueRange symbols) {
  if (auto constant = BlockAttr::constant(expr))
    return builder.getIndexAttr(*constant);
  return affine::expandAffineExpr(builder, loc, expr, {}, symbols);
}

OpFoldResult MemoryLowering::add(OpFoldResult a, OpFoldResult b) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return builder.getIndexAttr(*x + *y);
  if (x == 0)
    return b;
  if (y == 0)
    return a;
  return arith::AddIOp::create(builder, loc, materialize(a), materialize(b), arith::IntegerOverflowFlags::nsw)
      .getResult();
}

OpFoldResult MemoryLowering::multiply(OpFoldResult a, OpFoldResult b) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return builder.getIndexAttr(*x * *y);
  if (x == 0 || y == 0)
    return builder.getIndexAttr(0);
  if (x == 1)
    return b;
  if (y == 1)
    return a;
  return arith::MulIOp::create(builder, loc, materialize(a), materialize(b), arith::IntegerOverflowFlags::nsw)
      .getResult();
}

Value MemoryLowering::materialize(OpFoldResult value) {
  if (auto constant = getConstantIntValue(value))
    return index(*constant);
  return cast<Value>(value);
}

OpFoldResult MemoryLowering::linear(const StridedAddress &place, ValueRange indices) {
  OpFoldResult sum = place.offset;
  for (auto [i, stride] : llvm::zip(indices, place.strides)) {
    OpFoldResult position = i;
    if (auto constant = getConstantIntValue(i))
      position = builder.getIndexAttr(*constant);
    sum = add(sum, multiply(position, stride));
  }
  return sum;
}

Value MemoryLowering::address(const StridedAddress &place, ValueRange indices, Type type, bool masked) {
  OpFoldResult offset = linear(place, indices);
  auto constant = getConstantIntValue(offset);
  if (constant == 0)
    return place.base;
  Value offset64 = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), materialize(offset));
  return LLVM::GEPOp::create(builder, loc, place.base.getType(), memoryType(getElementTypeOrSelf(type)), place.base,
                             ArrayRef<LLVM::GEPArg>{offset64},
                             masked ? LLVM::GEPNoWrapFlags::none : LLVM::GEPNoWrapFlags::inbounds);
}

unsigned MemoryLowering::alignmentOf(Value address, Type type) {
  const int64_t element = elementBytes(type);
  if (facts.bufferAlignment == 0)
    return element;
  auto offset = address.getDefiningOp<LLVM::GEPOp>();
  // The beginning of a buffer or of an allocation.
  if (!offset || offset.getDynamicIndices().empty())
    return facts.bufferAlignment;
  auto index = offset.getDynamicIndices().front().getDefiningOp<arith::IndexCastOp>();
  const int64_t bytes = index ? element * knownDivisor(index.getIn()) : element;
  return std::min(facts.bufferAlignment, bytes);
}

Value MemoryLowering::addresses(const StridedAddress &place, ValueRange indices, VectorType type) {
  int64_t lanes = type.getNumElements();
  auto i64s = VectorType::get({lanes}, builder.getI64Type());
  SmallVector<int64_t> counts(lanes);
  std::iota(counts.begin(), counts.end(), 0);
  Value lane = arith::ConstantOp::create(builder, loc, i64s, builder.getI64VectorAttr(counts));
  auto splat = [&](OpFoldResult value) -> Value {
    Value i64 = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), materialize(value));
    return vector::BroadcastOp::create(builder, loc, i64s, i64);
  };
  Value offsets = arith::MulIOp::create(builder, loc, lane, splat(place.strides.back()));
  offsets = arith::AddIOp::create(builder, loc, offsets, splat(linear(place, indices)));
  auto pointers = VectorType::get({lanes}, pointerType(builder.getContext()));
  return LLVM::GEPOp::create(builder, loc, pointers, memoryType(type.getElementType()), place.base,
                             ArrayRef<LLVM::GEPArg>{offsets});
}

const StridedAddress *MemoryLowering::addressOf(Operation *user, Value view) {
  auto found = places.find(view);
  if (found != places.end())
    return &found->second;
  user->emitOpError("uses a view that comes out of control flow");
  return nullptr;
}

LogicalResult MemoryLowering::lower(ViewOp view) {
  BlockAttr block = view.getMap().front();
  if (!view.getMap().isOneWholeBlock())
    return view.emitOpError("has a map that is not one whole block");
  auto argument = view.getBuffer().getDefiningOp<UnrealizedConversionCastOp>();
  StridedAddress place{argument.getInputs().front(), expand(block.getOffset(), view.getSymbols()), {}};
  for (AffineExpr stride : block.getStrides())
    place.strides.push_back(expand(stride, view.getSymbols()));
  places[view] = std::move(place);
  return success();
}

void rowMajor(ArrayRef<int64_t> shape, SmallVectorImpl<OpFoldResult> &strides, Builder &builder) {
  strides.resize(shape.size());
  int64_t stride = 1;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    strides[dim] = builder.getIndexAttr(stride);
    stride *= shape[dim];
  }
}

LogicalResult MemoryLowering::lower(AllocOp alloc) {
  ViewType type = alloc.getType();
  const bool isShared = type.getSpace() == Space::Shared;
  if (isShared && !facts.shared)
    return alloc.emitOpError("asks for shared memory, which programs that are one thread do not have");
  int64_t elements = ShapedType::getNumElements(type.getShape());
  const int64_t begin = begins.lookup(alloc);
  StridedAddress place{{}, builder.getIndexAttr(0), {}};
  rowMajor(type.getShape(), place.strides, builder);
  if (Value memory = isShared ? facts.shared : facts.scratch) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(memory);
    Value offset = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(begin));
    place.base = LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(), memory,
                                     ArrayRef<LLVM::GEPArg>{offset});
    places[alloc] = std::move(place);
    return success();
  }
  if (const int64_t end = begin + bytesOf(alloc); end > facts.privateBytes)
    return alloc.emitOpError() << "brings the kernel's private memory to " << end << " bytes; the stack has room for "
                               << facts.privateBytes;
  // In the entry block an allocation is part of the frame, once for all programs.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body.getBody().front());
  Value count = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(elements));
  auto stack = LLVM::LLVMPointerType::get(builder.getContext(), facts.stackSpace);
  place.base = LLVM::AllocaOp::create(builder, loc, stack, memoryType(type.getElementType()), count, /*alignment=*/64);
  if (facts.stackSpace != 0)
    place.base = LLVM::AddrSpaceCastOp::create(builder, loc, pointerType(builder.getContext()), place.base);
  places[alloc] = std::move(place);
  return success();
}

LogicalResult MemoryLowering::lower(SubviewOp subview) {
  const StridedAddress *whole = addressOf(subview, subview.getView());
  if (!whole)
    return failure();
  StridedAddress place{whole->base, linear(*whole, subview.getIndices()), {}};
  size_t dropped = whole->strides.size() - subview.getType().getRank();
  place.strides.assign(whole->strides.begin() + dropped, whole->strides.end());
  places[subview] = std::move(place);
  return success();
}

LogicalResult MemoryLowering::lower(PeerOp peer) {
  const StridedAddress *here = addressOf(peer, peer.getView());
  if (!here)
    return failure();
  StridedAddress place = *here;
  Value group = arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(), peer.getGroup());
  place.base = facts.threads->peer(builder, loc, place.base, group);
  places[peer] = std::move(place);
  return success();
}

/// The mask as a vector; a scalar's is a vector of one.
Value MemoryLowering::mask(Value given, int64_t lanes) {
  if (!given)
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(VectorType::get({lanes}, builder.getI1Type()), true));
  if (isa<VectorType>(given.getType()))
    return given;
  return vector::BroadcastOp::create(builder, loc, VectorType::get({lanes}, builder.getI1Type()), given);
}

/// Bits in memory to the value that they stand for.
Value fromMemory(OpBuilder &builder, Location loc, Value bits, Type type) {
  if (getElementTypeOrSelf(type).isInteger(1)) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(bits.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bits, zero);
  }
  return bits.getType() == type ? bits : arith::BitcastOp::create(builder, loc, type, bits);
}

Value toMemory(OpBuilder &builder, Location loc, Value value) {
  Type type = memoryType(value.getType());
  if (getElementTypeOrSelf(value.getType()).isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, value);
  return type == value.getType() ? value : arith::BitcastOp::create(builder, loc, type, value);
}

LogicalResult MemoryLowering::lower(LoadOp load) {
  const StridedAddress *place = addressOf(load, load.getView());
  if (!place)
    return failure();
  Type type = load.getType(), stored = memoryType(type);
  unsigned alignment = elementBytes(type);
  auto vector = dyn_cast<VectorType>(type);
  bool contiguous = !vector || isContiguous(*place);
  bool splat = !contiguous && getConstantIntValue(place->strides.back()) == 0;

  Value bits;
  if (!load.getMask() && (contiguous || splat)) {
    Type access = splat ? getElementTypeOrSelf(stored) : stored;
    Value from = address(*place, load.getIndices(), type);
    if (facts.streams && load.getStream() && vector && contiguous)
      fetchAhead(from);
    const bool isPast = facts.threads && load.getStream() && vector && contiguous &&
                        load.getView().getType().getSpace() == Space::Global && alignmentOf(from, type) >= 16 &&
                        vector.getNumElements() * elementBytes(type) == 16;
    bits = isPast ? facts.threads->loadPastFirstCache(builder, loc, from, cast<VectorType>(stored))
                  : LLVM::LoadOp::create(builder, loc, access, from, alignmentOf(from, type)).getResult();
    if (splat)
      bits = vector::BroadcastOp::create(builder, loc, stored, bits);
  } else {
    auto access = VectorType::get({vector ? vector.getNumElements() : 1}, getElementTypeOrSelf(stored));
    Value lanes = mask(load.getMask(), access.getNumElements());
    Value other = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(access));
    if (load.getOther())
      other = vector::BroadcastOp::create(builder, loc, access, toMemory(builder, loc, load.getOther()));
    if (contiguous)
      bits = LLVM::MaskedLoadOp::create(builder, loc, access, address(*place, load.getIndices(), type, true), lanes,
                                        other, builder.getI32IntegerAttr(alignment),
                                        /*nontemporal=*/nullptr);
    else
      bits = LLVM::masked_gather::create(builder, loc, access, addresses(*place, load.getIndices(), vector), lanes,
                                         other, builder.getI32IntegerAttr(alignment));
    if (!vector)
      bits = vector::ExtractOp::create(builder, loc, bits, ArrayRef<int64_t>{0});
  }
  load.replaceAllUsesWith(fromMemory(builder, loc, bits, type));
  load.erase();
  return success();
}

/// Lanes inside the view are read, the others are zero. No processor gathers less than four bytes: such
/// elements are read one by one, at index 0 where there is none.
LogicalResult MemoryLowering::lower(GatherOp gather) {
  const StridedAddress *place = addressOf(gather, gather.getView());
  if (!place)
    return failure();
  auto type = cast<VectorType>(gather.getType());
  if (llvm::is_contained(gather.getView().getType().getShape(), 0)) {
    gather.replaceAllUsesWith(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)).getResult());
    gather.erase();
    return success();
  }
  int64_t lanes = type.getNumElements();
  auto i64s = VectorType::get({lanes}, builder.getI64Type());
  bool isNarrow = llvm::all_of(gather.getIndices(), [](Value index) {
    Type element = getElementTypeOrSelf(index.getType());
    return !element.isIndex() && element.getIntOrFloatBitWidth() <= 32;
  });
  // Of one dimension in steps of one, the processor scales and widens the indices itself.
  isNarrow &= place->strides.size() == 1 && getConstantIntValue(place->strides[0]) == 1 &&
              getConstantIntValue(place->offset) == 0;
  Value mask, linear;
  for (auto [dim, index] : llvm::enumerate(gather.getIndices())) {
    auto indexType = cast<VectorType>(index.getType());
    if (indexType.getElementType().isIndex()) {
      index = arith::IndexCastOp::create(builder, loc, i64s, index);
      indexType = i64s;
    }
    unsigned width = indexType.getElementTypeBitWidth();
    int64_t extent = gather.getView().getType().getDimSize(dim);
    if (ShapedType::isDynamic(extent))
      return gather.emitOpError("reads a view whose extents are not known");
    APInt beyond = APInt::getSignedMinValue(width);
    if (beyond.ugt(extent))
      beyond = APInt(width, extent);
    Value limit = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(indexType, beyond));
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, limit);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, inside).getResult() : inside;
    if (isNarrow) {
      linear = index;
      continue;
    }
    if (width < 64)
      index = arith::ExtSIOp::create(builder, loc, i64s, index);
    Value stride = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), materialize(place->strides[dim]));
    Value step = arith::MulIOp::create(builder, loc, index, vector::BroadcastOp::create(builder, loc, i64s, stride));
    linear = linear ? arith::AddIOp::create(builder, loc, linear, step).getResult() : step;
  }
  Type element = memoryType(type.getElementType());
  auto access = VectorType::get({lanes}, element);
  Value base = place->base;
  if (!isNarrow) {
    Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), materialize(place->offset));
    linear = arith::AddIOp::create(builder, loc, linear, vector::BroadcastOp::create(builder, loc, i64s, offset));
  }
  unsigned alignment = elementBytes(type);
  Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(access));
  auto pointer = pointerType(builder.getContext());
  Value bits;
  if (alignment >= 4) {
    Value pointers = LLVM::GEPOp::create(builder, loc, VectorType::get({lanes}, pointer), element, base,
                                         ArrayRef<LLVM::GEPArg>{linear});
    bits =
        LLVM::masked_gather::create(builder, loc, access, pointers, mask, zeros, builder.getI32IntegerAttr(alignment));
  } else {
    auto linearType = cast<VectorType>(linear.getType());
    Value first = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(linearType));
    if (!isNarrow) {
      Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), materialize(place->offset));
      first = vector::BroadcastOp::create(builder, loc, linearType, offset);
    }
    Value clamped = arith::SelectOp::create(builder, loc, mask, linear, first);
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value at = vector::ExtractOp::create(builder, loc, clamped, lane);
      Value address = LLVM::GEPOp::create(builder, loc, pointer, element, base, ArrayRef<LLVM::GEPArg>{at});
      elements.push_back(LLVM::LoadOp::create(builder, loc, element, address, alignment));
    }
    Value read = vector::FromElementsOp::create(builder, loc, access, elements);
    bits = arith::SelectOp::create(builder, loc, mask, read, zeros);
  }
  gather.replaceAllUsesWith(fromMemory(builder, loc, bits, type));
  gather.erase();
  return success();
}

/// The one lane that a constant mask selects, if it does.
std::optional<int64_t> onlyLane(Value mask) {
  DenseElementsAttr lanes;
  if (!matchPattern(mask, m_Constant(&lanes)))
    return std::nullopt;
  std::optional<int64_t> found;
  for (auto [lane, set] : llvm::enumerate(lanes.getValues<bool>())) {
    if (set && found)
      return std::nullopt;
    if (set)
      found = lane;
  }
  return found;
}

LogicalResult MemoryLowering::lower(StoreOp store) {
  const StridedAddress *place = addressOf(store, store.getView());
  if (!place)
    return failure();
  Type type = store.getValue().getType();
  unsigned alignment = elementBytes(type);
  auto vector = dyn_cast<VectorType>(type);
  bool contiguous = !vector || isContiguous(*place);
  Value bits = toMemory(builder, loc, store.getValue());
  if (!store.getMask() && contiguous) {
    Value to = address(*place, store.getIndices(), type);
    if (facts.streams && store.getStream() && vector && llvm::isPowerOf2_64(vector.getNumElements()))
      storePastCaches(bits, to, alignment);
    else if (facts.threads && vector && !llvm::isPowerOf2_64(vector.getNumElements()))
      storeInPieces(bits, to, alignmentOf(to, type));
    else
      LLVM::StoreOp::create(builder, loc, bits, to, alignmentOf(to, type));
  } else {
    if (!vector)
      bits = vector::BroadcastOp::create(builder, loc, VectorType::get({1}, bits.getType()), bits);
    Value lanes = mask(store.getMask(), cast<VectorType>(bits.getType()).getNumElements());
    if (std::optional<int64_t> lane = onlyLane(lanes); lane && contiguous) {
      // LLVM 22.1 would write four bytes for a masked store of one lane of an 8- or 16-bit element.
      Value base = address(*place, store.getIndices(), type, true);
      Value at = LLVM::GEPOp::create(builder, loc, base.getType(), getElementTypeOrSelf(bits), base,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*lane)});
      LLVM::StoreOp::create(builder, loc, vector::ExtractOp::create(builder, loc, bits, *lane), at, alignment);
    } else if (contiguous)
      LLVM::MaskedStoreOp::create(builder, loc, bits, address(*place, store.getIndices(), type, true), lanes,
                                  alignment);
    else
      LLVM::masked_scatter::create(builder, loc, bits, addresses(*place, store.getIndices(), vector), lanes, alignment);
  }
  store.erase();
  return success();
}

LogicalResult MemoryLowering::lower(MatrixMultiplyOp multiply) {
  const StridedAddress *sums = addressOf(multiply, multiply.getSums()), *lhs = addressOf(multiply, multiply.getLhs()),
                       *rhs = addressOf(multiply, multiply.getRhs());
  if (!sums || !lhs || !rhs)
    return failure();
  std::optional<int64_t> rowStride = getConstantIntValue(lhs->strides[lhs->strides.size() - 2]);
  if (!rowStride || !isContiguous(*lhs))
    return multiply.emitOpError("reads rows of neighbours, a known number of elements apart");
  if (!isContiguous(*rhs) ||
      getConstantIntValue(rhs->strides[rhs->strides.size() - 2]) != multiply.getRhs().getType().getShape().back())
    return multiply.emitOpError("reads panels whose rows follow each other in memory");
  Value zero = index(0);
  auto lowerProduct = facts.amx ? lowerMatrixMultiply : lowerVectorMultiply;
  lowerProduct(builder, multiply, *rowStride,
               address(*sums, {zero, zero}, multiply.getSums().getType().getElementType()),
               address(*lhs, multiply.getLhsIndices(), multiply.getLhs().getType().getElementType()),
               address(*rhs, multiply.getRhsIndices(), multiply.getRhs().getType().getElementType()));
  multiply.erase();
  return success();
}

LogicalResult MemoryLowering::lower(PrefetchOp prefetch) {
  const StridedAddress *place = addressOf(prefetch, prefetch.getView());
  if (!place)
    return failure();
  Value from = address(*place, prefetch.getIndices(), prefetch.getView().getType().getElementType());
  LLVM::Prefetch::create(builder, loc, from, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  prefetch.erase();
  return success();
}

LogicalResult MemoryLowering::lower(WarpReadOp read) {
  const StridedAddress *place = addressOf(read, read.getView());
  if (!place)
    return failure();
  Value from = address(*place, read.getIndices(), read.getView().getType().getElementType());
  SmallVector<Value> each = facts.threads->readMatrix(builder, loc, from, read.getTransposed());
  read.replaceAllUsesWith(
      vector::FromElementsOp::create(builder, loc, cast<VectorType>(read.getType()), each).getResult());
  read.erase();
  return success();
}

/// What a processor fetches ahead by itself ends with a page. The address may be behind the buffer: that of
/// a prefetch need not exist.
void MemoryLowering::fetchAhead(Value from) {
  Value ahead =
      LLVM::GEPOp::create(builder, loc, from.getType(), builder.getI8Type(), from, ArrayRef<LLVM::GEPArg>{4096});
  LLVM::Prefetch::create(builder, loc, ahead, /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

/// No GPU writes other than powers of two at once, and LLVM 22.1 selects no instruction of AMD's for five f16 that are
/// rounded where they are written.
void MemoryLowering::storeInPieces(Value bits, Value to, unsigned alignment) {
  auto type = cast<VectorType>(bits.getType());
  const unsigned bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t lane = 0, lanes = type.getNumElements(); lane < lanes;) {
    const auto size = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(lanes - lane)));
    auto numbers = llvm::to_vector(llvm::seq(lane, lane + size));
    Value piece = size == 1 ? vector::ExtractOp::create(builder, loc, bits, lane).getResult()
                            : vector::ShuffleOp::create(builder, loc, bits, bits, numbers).getResult();
    Value at = LLVM::GEPOp::create(builder, loc, to.getType(), type.getElementType(), to,
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(lane)});
    LLVM::StoreOp::create(builder, loc, piece, at, llvm::MinAlign(alignment, lane * bytes));
    lane += size;
  }
}

/// Such a store must be aligned, which depends on the caller's buffer.
void MemoryLowering::storePastCaches(Value bits, Value to, unsigned alignment) {
  streams = true;
  auto type = cast<VectorType>(bits.getType());
  unsigned bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  Value place = LLVM::PtrToIntOp::create(builder, loc, i64, to);
  Value rest = arith::AndIOp::create(builder, loc, place, constant(bytes - 1));
  Value aligned = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, constant(0));
  auto branch = scf::IfOp::create(builder, loc, aligned, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  LLVM::StoreOp::create(builder, loc, bits, to, bytes, /*isVolatile=*/false, /*isNonTemporal=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  LLVM::StoreOp::create(builder, loc, bits, to, alignment);
}

/// Lanes below a bound. The bound is clamped first: compared in 32 bits, one native vector is enough.
void MemoryLowering::lower(vector::CreateMaskOp mask) {
  auto type = mask.getType();
  int64_t lanes = type.getNumElements();
  Value bound = mask.getOperands().front();
  bound = arith::MaxSIOp::create(builder, loc, bound, index(0));
  bound = arith::MinSIOp::create(builder, loc, bound, index(lanes));
  bound = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), bound);
  auto i32s = VectorType::get({lanes}, builder.getI32Type());
  SmallVector<int32_t> counts(lanes);
  std::iota(counts.begin(), counts.end(), 0);
  Value lane = arith::ConstantOp::create(builder, loc, i32s, builder.getI32VectorAttr(counts));
  Value bounds = vector::BroadcastOp::create(builder, loc, i32s, bound);
  mask.replaceAllUsesWith(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lane, bounds).getResult());
  mask.erase();
}

void MemoryLowering::lower(vector::ConstantMaskOp mask) {
  VectorType type = mask.getType();
  SmallVector<bool> lanes(type.getNumElements());
  std::fill_n(lanes.begin(), mask.getMaskDimSizes().front(), true);
  mask.replaceAllUsesWith(arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, lanes)).getResult());
  mask.erase();
}

void MemoryLowering::lower(vector::StepOp step) {
  VectorType type = step.getType();
  SmallVector<APInt> counts;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    counts.emplace_back(64, i);
  step.replaceAllUsesWith(arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, counts)).getResult());
  step.erase();
}

void MemoryLowering::lower(IdOp id) {
  Value number = facts.threads->id(builder, loc, id.getKind());
  id.replaceAllUsesWith(arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), number).getResult());
  id.erase();
}

void MemoryLowering::lower(BarrierOp barrier) {
  facts.threads->barrier(builder, loc, barrier.getScope(), facts.barriers, barrier.getThreads());
  barrier.erase();
}

/// By words of 32 bits: narrower values are one with zeros in front, wider ones are several.
LogicalResult MemoryLowering::lower(ShuffleOp shuffle) {
  constexpr unsigned wordBits = 32;
  Type type = shuffle.getType();
  const unsigned width = type.getIntOrFloatBitWidth(), words = llvm::divideCeil(width, wordBits);
  Type bits = builder.getIntegerType(width), word = builder.getI32Type(),
       all = builder.getIntegerType(words * wordBits);
  Value value = isa<IntegerType>(type) ? shuffle.getValue()
                                       : arith::BitcastOp::create(builder, loc, bits, shuffle.getValue()).getResult();
  if (bits != all)
    value = arith::ExtUIOp::create(builder, loc, all, value);
  Value result;
  for (unsigned i = 0; i < words; ++i) {
    auto distance = [&](unsigned count) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(all, count * wordBits));
    };
    Value own = i == 0 ? value : arith::ShRUIOp::create(builder, loc, value, distance(i)).getResult();
    if (all != word)
      own = arith::TruncIOp::create(builder, loc, word, own);
    Value other = facts.threads->shuffle(builder, loc, own, static_cast<int64_t>(shuffle.getDistance()));
    if (!other)
      return shuffle.emitOpError("reads a register of another thread, for which there is no instruction");
    if (all != word)
      other = arith::ExtUIOp::create(builder, loc, all, other);
    result = i == 0
                 ? other
                 : arith::OrIOp::create(builder, loc, result, arith::ShLIOp::create(builder, loc, other, distance(i)))
                       .getResult();
  }
  if (bits != all)
    result = arith::TruncIOp::create(builder, loc, bits, result);
  if (bits != type)
    result = arith::BitcastOp::create(builder, loc, type, result);
  shuffle.replaceAllUsesWith(result);
  shuffle.erase();
  return success();
}

LogicalResult MemoryLowering::run() {
  for (Space space : {Space::Shared, Space::Private})
    placeAllocations(body.getBody(), space, 0, [&](AllocOp alloc, int64_t begin) { begins[alloc] = begin; });
  SmallVector<Operation *> ops;
  body.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  SmallVector<Operation *> views;
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    loc = op->getLoc();
    LogicalResult lowered = success();
    if (isa<ViewOp, AllocOp, SubviewOp, PeerOp>(op))
      views.push_back(op);
    if (auto view = dyn_cast<ViewOp>(op))
      lowered = lower(view);
    else if (auto alloc = dyn_cast<AllocOp>(op))
      lowered = lower(alloc);
    else if (auto subview = dyn_cast<SubviewOp>(op))
      lowered = lower(subview);
    else if (auto peer = dyn_cast<PeerOp>(op); peer && facts.isCluster)
      lowered = lower(peer);
    else if (auto load = dyn_cast<LoadOp>(op))
      lowered = lower(load);
    else if (auto gather = dyn_cast<GatherOp>(op))
      lowered = lower(gather);
    else if (auto store = dyn_cast<StoreOp>(op))
      lowered = lower(store);
    else if (auto multiply = dyn_cast<MatrixMultiplyOp>(op))
      lowered = lower(multiply);
    else if (auto prefetch = dyn_cast<PrefetchOp>(op))
      lowered = lower(prefetch);
    else if (auto read = dyn_cast<WarpReadOp>(op); read && facts.shared)
      lowered = lower(read);
    else if (isa<WarpMultiplyOp>(op) && facts.shared)
      continue; // Knows no memory.
    else if (auto mask = dyn_cast<vector::CreateMaskOp>(op); mask && mask.getType().getRank() == 1)
      lower(mask);
    else if (auto mask = dyn_cast<vector::ConstantMaskOp>(op); mask && mask.getType().getRank() == 1)
      lower(mask);
    else if (auto step = dyn_cast<vector::StepOp>(op))
      lower(step);
    else if (auto id = dyn_cast<IdOp>(op); id && hasNumber(id.getKind()))
      lower(id);
    else if (auto barrier = dyn_cast<BarrierOp>(op); barrier && hasBarrier(barrier.getScope()))
      lower(barrier);
    else if (auto shuffle = dyn_cast<ShuffleOp>(op); shuffle && facts.threads)
      lowered = lower(shuffle);
    else if (isa<KernelDialect>(op->getDialect()))
      lowered = op->emitOpError("has no meaning for a program that is one thread");
    if (failed(lowered))
      return failure();
  }
  if (streams) {
    // Such stores are in no order with those that tell others that the kernel is done.
    builder.setInsertionPoint(body.getBody().front().getTerminator());
    LLVM::FenceOp::create(builder, body.getLoc(), LLVM::AtomicOrdering::seq_cst);
  }
  for (Operation *view : llvm::reverse(views)) {
    if (!view->use_empty())
      return view->emitOpError("makes a view that goes into control flow");
    view->erase();
  }
  for (auto argument : llvm::make_early_inc_range(body.getOps<UnrealizedConversionCastOp>()))
    if (argument.use_empty())
      argument.erase();
  return success();
}

} // namespace

LogicalResult lowerMemory(LLVM::LLVMFuncOp body, const MemoryFacts &facts) { return MemoryLowering(body, facts).run(); }

} // namespace zyx::kernel
