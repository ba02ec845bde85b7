//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace zyx::kernel;

#define GET_OP_CLASSES
#include "zyx/Dialect/Kernel/IR/KernelOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Combinations
//===----------------------------------------------------------------------===//

Value zyx::kernel::createCombine(OpBuilder &b, Location loc, Combine kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  switch (kind) {
  case Combine::Add:
    return isFloat ? arith::AddFOp::create(b, loc, x, y).getResult() : arith::AddIOp::create(b, loc, x, y);
  case Combine::Mul:
    return isFloat ? arith::MulFOp::create(b, loc, x, y).getResult() : arith::MulIOp::create(b, loc, x, y);
  case Combine::Max:
    return isFloat ? arith::MaximumFOp::create(b, loc, x, y).getResult() : arith::MaxSIOp::create(b, loc, x, y);
  case Combine::Min:
    return isFloat ? arith::MinimumFOp::create(b, loc, x, y).getResult() : arith::MinSIOp::create(b, loc, x, y);
  case Combine::UMax:
    return arith::MaxUIOp::create(b, loc, x, y);
  case Combine::UMin:
    return arith::MinUIOp::create(b, loc, x, y);
  case Combine::And:
    return arith::AndIOp::create(b, loc, x, y);
  case Combine::Or:
    return arith::OrIOp::create(b, loc, x, y);
  }
  llvm_unreachable("all combinations are handled");
}

TypedAttr zyx::kernel::getIdentity(Combine kind, Type type) {
  Builder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    switch (kind) {
    case Combine::Mul:
      return b.getFloatAttr(type, 1.0);
    case Combine::Max:
    case Combine::Min: {
      bool negative = kind == Combine::Max;
      return b.getFloatAttr(type, APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, negative)
                                                                      : APFloat::getLargest(semantics, negative));
    }
    default:
      // -0 is the identity of addition: 0 + -0 is 0, and -0 + -0 stays -0.
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    }
  }
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  switch (kind) {
  case Combine::Mul:
    return b.getIntegerAttr(type, APInt(width, 1));
  case Combine::Max:
    return b.getIntegerAttr(type, APInt::getSignedMinValue(width));
  case Combine::Min:
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  case Combine::UMin:
  case Combine::And:
    return b.getIntegerAttr(type, APInt::getAllOnes(width));
  default:
    return b.getIntegerAttr(type, APInt(width, 0));
  }
}

/// Refuses combinations that an element type does not have.
static LogicalResult verifyCombine(Operation *op, Combine kind, Type elementType) {
  bool integerOnly = kind == Combine::UMax || kind == Combine::UMin || kind == Combine::And || kind == Combine::Or;
  if (integerOnly && !elementType.isSignlessInteger())
    return op->emitOpError() << stringifyCombine(kind) << " is of integers, not of " << elementType;
  return success();
}

//===----------------------------------------------------------------------===//
// func
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Block &entry = state.addRegion()->emplaceBlock();
  for (Type input : type.getInputs())
    entry.addArgument(input, state.location);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(args, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult FuncOp::verify() {
  if (getFunctionType().getNumResults() != 0)
    return emitOpError("returns nothing: its results are written to buffers");
  bool scalars = false;
  for (Type type : getArgumentTypes()) {
    auto buffer = dyn_cast<BufferType>(type);
    if (!buffer && !type.isIndex() && !type.isSignlessIntOrFloat())
      return emitOpError() << "takes buffers and scalars, not " << type;
    if (buffer && buffer.getSpace() != Space::Global)
      return emitOpError() << "takes buffers in global memory, not " << type;
    if (buffer && scalars)
      return emitOpError("takes buffers first and scalars after them");
    scalars |= !buffer;
  }
  if (isExternal())
    return emitOpError("has no body");
  if (getExternal() && getBody().front().getOperations().size() != 1)
    return emitOpError("is external, and has ops of its own");
  if (getExternal() && scalars)
    return emitOpError("is external, and takes scalars");
  if (ExternalAttr external = getExternalAttr();
      external &&
      (external.getNumResults() < 0 || external.getNumResults() > getNumArguments() || external.getSharedBytes() < 0))
    return emitOpError("is external, with more results than arguments or fewer than no bytes of shared memory");
  if (ArrayAttr parts = getPartsAttr()) {
    ArrayAttr arguments = getPartArgumentsAttr();
    if (parts.size() < 2 || !arguments || arguments.size() != parts.size())
      return emitOpError("needs two parts or more, and the arguments of each");
    for (auto own : arguments.getAsRange<DenseI64ArrayAttr>())
      for (int64_t argument : own.asArrayRef())
        if (argument < 0 || argument >= static_cast<int64_t>(getNumArguments()))
          return emitOpError() << "has " << getNumArguments() << " arguments, of which a part has number " << argument;
    if (getBody().front().getOperations().size() != 1)
      return emitOpError("has parts, and ops of its own");
  }
  for (auto [name, numbers, least] : {std::tuple("visible", getVisible(), 3), std::tuple("finite", getFinite(), 1)}) {
    if (!numbers)
      continue;
    if (static_cast<int64_t>(numbers->size()) < least || llvm::any_of(*numbers, [](int64_t each) { return each < 0; }))
      return emitOpError() << "has fewer than " << least << " numbers for '" << name << "', or a negative one";
    const int64_t number = numbers->front();
    auto buffer = number < getNumArguments() ? dyn_cast<BufferType>(getArgumentTypes()[number]) : BufferType();
    if (!buffer || !buffer.getElementType().isInteger(32))
      return emitOpError() << "has argument " << number << " for '" << name << "', which is no buffer of i32";
  }
  if (getFinite() && (!getVisible() || getFinite()->size() + 2 != getVisible()->size()))
    return emitOpError("needs a stride for each batch, of what is visible as of what is finite");
  unsigned grids = 0;
  for (Operation &op : getBody().front())
    grids += isa<GridOp>(op);
  if (grids > 1)
    return emitOpError() << "has " << grids << " grids; a launch has one";
  return success();
}

LogicalResult FuncOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getParts())
    return success();
  for (auto [name, own] : llvm::zip(getPartsAttr().getAsRange<FlatSymbolRefAttr>(),
                                    getPartArgumentsAttr().getAsRange<DenseI64ArrayAttr>())) {
    auto part = symbols.lookupNearestSymbolFrom<FuncOp>(*this, name);
    if (!part)
      return emitOpError() << "has the part '" << name.getValue() << "', which is no kernel";
    if (own.size() != part.getNumArguments())
      return emitOpError() << "gives the part '" << name.getValue() << "' " << own.size() << " arguments of "
                           << part.getNumArguments();
    for (auto [type, number] : llvm::zip_equal(part.getArgumentTypes(), own.asArrayRef()))
      if (type != getArgumentTypes()[number])
        return emitOpError() << "gives the part '" << name.getValue() << "' a " << getArgumentTypes()[number]
                             << " where it takes " << type;
  }
  return success();
}

int64_t zyx::kernel::threadsOfProgram(FuncOp func) {
  return static_cast<int64_t>(func.getThreads().value_or(1) * func.getCluster().value_or(1));
}

Space zyx::kernel::spaceOfTiles(FuncOp func) { return threadsOfProgram(func) > 1 ? Space::Shared : Space::Private; }

//===----------------------------------------------------------------------===//
// grid
//===----------------------------------------------------------------------===//

void GridOp::build(OpBuilder &builder, OperationState &state, ArrayRef<OpFoldResult> extents, ArrayRef<int64_t> steps) {
  SmallVector<Value> dynamicExtents;
  SmallVector<int64_t> staticExtents;
  dispatchIndexOpFoldResults(extents, dynamicExtents, staticExtents);
  state.addOperands(dynamicExtents);
  state.addAttribute(getStaticExtentsAttrName(state.name), builder.getDenseI64ArrayAttr(staticExtents));
  state.addAttribute(getStepsAttrName(state.name), builder.getDenseI64ArrayAttr(steps));
  Region *region = state.addRegion();
  Block &block = region->emplaceBlock();
  for (size_t i = 0; i < steps.size(); ++i)
    block.addArgument(builder.getIndexType(), state.location);
  ensureTerminator(*region, builder, state.location);
}

SmallVector<OpFoldResult> GridOp::getMixedExtents() {
  Builder builder(getContext());
  return getMixedValues(getStaticExtents(), getDynamicExtents(), builder);
}

ParseResult GridOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> indices;
  SmallVector<OpAsmParser::UnresolvedOperand> dynamicExtents;
  SmallVector<int64_t> staticExtents, steps;
  Builder &builder = parser.getBuilder();
  if (parser.parseArgumentList(indices, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("in") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&]() -> ParseResult {
                                       OpAsmParser::UnresolvedOperand operand;
                                       OptionalParseResult parsed = parser.parseOptionalOperand(operand);
                                       if (parsed.has_value()) {
                                         dynamicExtents.push_back(operand);
                                         staticExtents.push_back(ShapedType::kDynamic);
                                         return *parsed;
                                       }
                                       return parser.parseInteger(staticExtents.emplace_back());
                                     }) ||
      parser.parseKeyword("step") || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(steps.emplace_back());
      }))
    return failure();
  for (auto &argument : indices)
    argument.type = builder.getIndexType();
  Region *region = result.addRegion();
  if (parser.parseRegion(*region, indices) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.resolveOperands(dynamicExtents, builder.getIndexType(), result.operands))
    return failure();
  ensureTerminator(*region, builder, result.location);
  result.addAttribute(getStaticExtentsAttrName(result.name), builder.getDenseI64ArrayAttr(staticExtents));
  result.addAttribute(getStepsAttrName(result.name), builder.getDenseI64ArrayAttr(steps));
  return success();
}

void GridOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(getIndices(), printer, [&](Value v) { printer.printOperand(v); });
  printer << ") in [";
  auto dynamic = getDynamicExtents().begin();
  llvm::interleaveComma(getStaticExtents(), printer, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      printer.printOperand(*dynamic++);
    else
      printer << extent;
  });
  printer << "] step [";
  llvm::interleaveComma(getSteps(), printer);
  printer << "] ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {getStaticExtentsAttrName(), getStepsAttrName()});
}

LogicalResult GridOp::verify() {
  size_t rank = getSteps().size();
  if (getStaticExtents().size() != rank || getBody().getNumArguments() != rank)
    return emitOpError("needs one extent, one step and one index per dimension");
  if (static_cast<int64_t>(getDynamicExtents().size()) != llvm::count_if(getStaticExtents(), ShapedType::isDynamic))
    return emitOpError("needs one operand per dynamic extent");
  for (auto [extent, step] : llvm::zip(getStaticExtents(), getSteps())) {
    if (step <= 0)
      return emitOpError() << "has the step " << step << "; steps are positive";
    if (!ShapedType::isDynamic(extent) && extent < 0)
      return emitOpError() << "has the negative extent " << extent;
  }
  if (!isa<FuncOp>((*this)->getParentOp()))
    return emitOpError("stands at the top of a kernel.func");
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  MapAttr map = getMap();
  ViewType type = getType();
  if (getBuffer().getType().getElementType() != type.getElementType() ||
      getBuffer().getType().getSpace() != type.getSpace())
    return emitOpError() << "views " << getBuffer().getType() << " as " << type;
  if (map.getRank() != type.getRank())
    return emitOpError() << "has a map of rank " << map.getRank() << " for a view of rank " << type.getRank();
  if (map.getNumSymbols() > getSymbols().size())
    return emitOpError() << "has a map of " << map.getNumSymbols() << " symbols but " << getSymbols().size()
                         << " operands for them";
  for (auto [i, extent] : llvm::enumerate(map.front().getShape())) {
    std::optional<int64_t> value = BlockAttr::constant(extent);
    if (value.value_or(ShapedType::kDynamic) != type.getDimSize(i))
      return emitOpError() << "has a map whose extent " << i << " differs from that of " << type;
  }
  return success();
}

LogicalResult AllocOp::verify() {
  if (getType().getSpace() == Space::Global)
    return emitOpError("makes private or shared memory; global memory comes from the plan");
  if (!getType().hasStaticShape())
    return emitOpError() << "needs a static shape, not " << getType();
  return success();
}

void AllocOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
}

LogicalResult SubviewOp::verify() {
  ViewType from = getView().getType(), to = getType();
  if (from.getElementType() != to.getElementType() || from.getSpace() != to.getSpace() ||
      from.getLayout() != to.getLayout())
    return emitOpError() << "may change the shape only, not " << from << " to " << to;
  if (static_cast<int64_t>(getIndices().size()) != from.getRank() || to.getRank() > from.getRank() ||
      !to.hasStaticShape())
    return emitOpError("needs one index per dimension and a static result of no larger rank");
  if (from.getSpace() == Space::Global)
    return emitOpError("takes apart shared and private memory; tiles of global views are loaded");
  return success();
}

/// A value of `type` has one extent per dimension of the view (tiles), or is a scalar, or a vector
/// along the innermost dimension.
static LogicalResult verifyAccess(Operation *op, ViewType view, Type type, ValueRange indices, Value mask,
                                  std::optional<ArrayRef<bool>> inBounds) {
  if (static_cast<int64_t>(indices.size()) != view.getRank())
    return op->emitOpError() << "has " << indices.size() << " indices for a view of rank " << view.getRank();
  if (getElementTypeOrSelf(type) != view.getElementType())
    return op->emitOpError() << "moves " << type << " through " << view;
  auto tile = dyn_cast<RankedTensorType>(type);
  const bool isInRegisters = tile && isa_and_nonnull<FragAttr, SliceAttr>(tile.getEncoding());
  if (tile && (isInRegisters ? tile.getRank() > view.getRank() : tile.getRank() != view.getRank()))
    return op->emitOpError() << "moves a tile of rank " << tile.getRank() << " through a view of rank "
                             << view.getRank();
  if (isa<VectorType>(type) && view.getRank() == 0)
    return op->emitOpError("moves a vector through a view of rank 0");
  if (inBounds && static_cast<int64_t>(inBounds->size()) != view.getRank())
    return op->emitOpError("needs one in_bounds flag per dimension");
  if (mask) {
    Type bit = IntegerType::get(op->getContext(), 1);
    Type wanted = bit;
    if (auto vector = dyn_cast<VectorType>(type))
      wanted = vector.clone(bit);
    else if (isa<RankedTensorType>(type))
      return op->emitOpError("has a mask on a tile; tiles are masked by their view");
    if (mask.getType() != wanted)
      return op->emitOpError() << "needs a mask of type " << wanted << ", not " << mask.getType();
  }
  return success();
}

static LogicalResult verifyAxes(Operation *op, std::optional<ArrayAttr> axes, Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (axes && (!tile || static_cast<int64_t>(axes->size()) != tile.getRank()))
    return op->emitOpError("names one axis per dimension of a tile");
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAccess(*this, getView().getType(), getType(), getIndices(), getMask(), getInBounds())))
    return failure();
  if (getOther() && getOther().getType() != getElementTypeOrSelf(getType()))
    return emitOpError() << "has an other of type " << getOther().getType();
  return verifyAxes(*this, getAxes(), getType());
}

/// The layout of a value says nothing about where its elements come from: what matters is which
/// memory is read and written.
static void addEffect(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects,
                      MemoryEffects::Effect *effect, OpOperand &view) {
  effects.emplace_back(effect, &view, SideEffects::DefaultResource::get());
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getViewMutable());
}
void GatherOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getViewMutable());
}
void StoreOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffect(effects, MemoryEffects::Write::get(), getViewMutable());
}

void StoreSharedOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getSlotMutable());
  addEffect(effects, MemoryEffects::Write::get(), getViewMutable());
}

LogicalResult StoreOp::verify() {
  if (failed(verifyAccess(*this, getView().getType(), getValue().getType(), getIndices(), getMask(), getInBounds())))
    return failure();
  return verifyAxes(*this, getAxes(), getValue().getType());
}

void MatrixMultiplyOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffect(effects, MemoryEffects::Write::get(), getSumsMutable());
  addEffect(effects, MemoryEffects::Read::get(), getLhsMutable());
  addEffect(effects, MemoryEffects::Read::get(), getRhsMutable());
}

LogicalResult MatrixMultiplyOp::verify() {
  ViewType sums = getSums().getType(), lhs = getLhs().getType(), rhs = getRhs().getType();
  Type factor = lhs.getElementType();
  for (ViewType type : {sums, rhs})
    if ((type.getSpace() != Space::Private && type.getElementType() != factor) || !type.hasStaticShape())
      return emitOpError("takes sums in private memory, and a right factor there or of the left one's type");
  auto fits = [](int64_t extent) { return extent == 16 || extent == 32; };
  if (sums.getRank() != 2 || !fits(sums.getDimSize(0)) || !fits(sums.getDimSize(1)))
    return emitOpError() << "makes 16 or 32 rows and columns of sums, not " << sums;
  bool floats = factor.isBF16() && sums.getElementType().isF32();
  if (!floats && !(factor.isInteger(8) && sums.getElementType().isInteger(32)))
    return emitOpError() << "multiplies bf16 to f32 or i8 to i32, not " << factor << " to " << sums.getElementType();
  if (lhs.getRank() < 2 || rhs.getRank() != 3 ||
      (!rhs.getElementType().isInteger(32) && rhs.getElementType() != factor) ||
      static_cast<int64_t>(getLhsIndices().size()) != lhs.getRank() || getRhsIndices().size() != 3)
    return emitOpError("takes rows of the left factor, and panels of groups of 4 bytes of the right one");
  const int64_t columns = rhs.getShape().back() * rhs.getElementType().getIntOrFloatBitWidth() / 32;
  if (columns != sums.getDimSize(1))
    return emitOpError() << "has panels of " << columns << " columns for " << sums.getDimSize(1) << " columns of sums";
  if (floats && (getLhsUnsigned() || getRhsUnsigned()))
    return emitOpError("has unsigned factors only of integers");
  if (bool(getAhead()) != (getAheadRows() > 0))
    return emitOpError("reads a number of rows ahead if it says which");
  return success();
}

void WarpReadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getViewMutable());
}

LogicalResult WarpReadOp::verify() {
  ViewType view = getView().getType();
  if (view.getSpace() != Space::Shared || !view.hasStaticShape() || view.getElementType().getIntOrFloatBitWidth() != 16)
    return emitOpError() << "reads elements of 16 bits out of shared memory, not " << view;
  if (static_cast<int64_t>(getIndices().size()) != view.getRank())
    return emitOpError() << "has " << getIndices().size() << " indices for a view of rank " << view.getRank();
  if (getType() != VectorType::get(4, IntegerType::get(getContext(), 32)))
    return emitOpError() << "gives vector<4xi32>, not " << getType();
  return success();
}

LogicalResult WarpMultiplyOp::verify() {
  Type word = IntegerType::get(getContext(), 32);
  if (!getElement().isF16() && !getElement().isBF16())
    return emitOpError() << "multiplies f16 or bf16, not " << getElement();
  if (getLhs().getType() != VectorType::get(4, word) || getRhs().getType() != VectorType::get(2, word) ||
      getType() != VectorType::get(4, Float32Type::get(getContext())))
    return emitOpError("takes vector<4xi32>, vector<2xi32> and vector<4xf32>");
  return success();
}

LogicalResult PrefetchOp::verify() {
  if (static_cast<int64_t>(getIndices().size()) != getView().getType().getRank())
    return emitOpError() << "has " << getIndices().size() << " indices for a view of rank "
                         << getView().getType().getRank();
  return success();
}

LogicalResult GatherOp::verify() {
  auto tile = cast<ShapedType>(getType());
  if (static_cast<int64_t>(getIndices().size()) != getView().getType().getRank())
    return emitOpError() << "has " << getIndices().size() << " index tiles for a view of rank "
                         << getView().getType().getRank();
  if (tile.getElementType() != getView().getType().getElementType())
    return emitOpError() << "reads " << tile << " through " << getView().getType();
  for (Value index : getIndices())
    if (isa<TensorType>(index.getType()) != isa<TensorType>(tile) ||
        cast<ShapedType>(index.getType()).getShape() != tile.getShape())
      return emitOpError() << "has an index tile " << index.getType() << " for a result " << tile;
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

LogicalResult DotOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType()),
       acc = cast<RankedTensorType>(getType());
  int64_t rank = acc.getRank();
  if (rank < 2 || lhs.getRank() != rank || rhs.getRank() != rank)
    return emitOpError("needs tiles of one rank of at least 2");
  if (lhs.getShape().drop_back(2) != acc.getShape().drop_back(2) ||
      rhs.getShape().drop_back(2) != acc.getShape().drop_back(2) ||
      lhs.getDimSize(rank - 2) != acc.getDimSize(rank - 2) || rhs.getDimSize(rank - 1) != acc.getDimSize(rank - 1) ||
      lhs.getDimSize(rank - 1) != rhs.getDimSize(rank - 2))
    return emitOpError() << "contracts " << lhs << " with " << rhs << " into " << acc;
  bool isFloat = isa<FloatType>(acc.getElementType());
  if (isa<FloatType>(lhs.getElementType()) != isFloat || isa<FloatType>(rhs.getElementType()) != isFloat)
    return emitOpError("mixes integers and floating point");
  for (Type factor : {lhs.getElementType(), rhs.getElementType()})
    if (factor != acc.getElementType() &&
        (factor.isIndex() || acc.getElementType().isIndex() ||
         factor.getIntOrFloatBitWidth() >= acc.getElementType().getIntOrFloatBitWidth()))
      return emitOpError() << "sums up products of " << factor << " in " << acc.getElementType();
  return success();
}

static LogicalResult verifyDims(Operation *op, ArrayRef<int64_t> dims, int64_t rank) {
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= rank || (i && dims[i - 1] >= dim))
      return op->emitOpError() << "needs increasing dimensions below " << rank;
  return success();
}

LogicalResult ReduceOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getType());
  if (failed(verifyDims(*this, getDims(), input.getRank())) ||
      failed(verifyCombine(*this, getKind(), input.getElementType())))
    return failure();
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < input.getRank(); ++i)
    if (!llvm::is_contained(getDims(), i))
      kept.push_back(input.getDimSize(i));
  if (result.getShape() != ArrayRef(kept) || result.getElementType() != input.getElementType())
    return emitOpError() << "reduces " << input << " to " << result;
  return success();
}

LogicalResult SubgroupReduceOp::verify() {
  if (getKind() != Combine::Add && (getKind() != Combine::UMax || isa<FloatType>(getType())))
    return emitOpError() << "does not combine " << getType() << " by " << stringifyCombine(getKind());
  return success();
}

LogicalResult SplatOp::verify() {
  if (getValue().getType() != getElementTypeOrSelf(getType()))
    return emitOpError() << "repeats " << getValue().getType() << " into " << getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getType());
  if (failed(verifyDims(*this, getDims(), result.getRank())))
    return failure();
  bool fits =
      static_cast<int64_t>(getDims().size()) == input.getRank() && input.getElementType() == result.getElementType();
  for (int64_t i = 0; fits && i < input.getRank(); ++i)
    fits = input.getDimSize(i) == result.getDimSize(getDims()[i]);
  if (!fits)
    return emitOpError() << "repeats " << input << " into " << result;
  return success();
}

LogicalResult TransposeOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getType());
  SmallVector<int64_t> sorted(getOrder());
  llvm::sort(sorted);
  bool fits = static_cast<int64_t>(sorted.size()) == input.getRank() && input.getRank() == result.getRank() &&
              input.getElementType() == result.getElementType();
  for (int64_t i = 0; fits && i < input.getRank(); ++i)
    fits = sorted[i] == i && result.getDimSize(i) == input.getDimSize(getOrder()[i]);
  if (!fits)
    return emitOpError() << "permutes " << input << " to " << result;
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getType());
  if (input.getNumElements() != result.getNumElements() || input.getElementType() != result.getElementType())
    return emitOpError() << "reshapes " << input << " to " << result;
  return success();
}

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (getDim() < 0 || static_cast<int64_t>(getDim()) >= type.getRank())
    return emitOpError() << "counts along dimension " << getDim() << " of a tile of rank " << type.getRank();
  return verifyAxes(*this, getAxes(), type);
}

LogicalResult ConvertOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getType());
  if (input.getShape() != result.getShape() || input.getElementType() != result.getElementType())
    return emitOpError() << "may change the layout only, not " << input << " to " << result;
  return success();
}

LogicalResult ExtractOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getType());
  int64_t rank = input.getRank();
  bool fits = static_cast<int64_t>(getOffsets().size()) == rank && result.getRank() == rank &&
              input.getElementType() == result.getElementType() && input.getEncoding() == result.getEncoding();
  for (int64_t i = 0; fits && i < rank; ++i)
    fits = getOffsets()[i] >= 0 && getOffsets()[i] + result.getDimSize(i) <= input.getDimSize(i);
  if (!fits)
    return emitOpError() << "has no " << result << " inside " << input << " at its offsets";
  return success();
}
