//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace graph = zyx::graph;

#include "zyx/Dialect/Graph/IR/GraphInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "zyx/Dialect/Graph/IR/GraphOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Attributes of the plain graph
//===----------------------------------------------------------------------===//

// They are read from Properties, which an op and an adaptor (inference before there is an op)
// both have. Attributes may still be missing there.

static std::vector<int64_t> toVector(DenseI64ArrayAttr array) {
  return array ? std::vector<int64_t>(array.asArrayRef()) : std::vector<int64_t>();
}
static graph::Attributes dimAttributes(IntegerAttr dim) {
  graph::Attributes attributes;
  if (dim)
    attributes.dims.push_back(dim.getInt());
  return attributes;
}
static graph::Attributes toPlain(const EmptyProperties &) { return {}; }
static graph::Attributes toPlain(const UnaryOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.kind = static_cast<uint8_t>(properties.kind);
  return attributes;
}
static graph::Attributes toPlain(const BinaryOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.kind = static_cast<uint8_t>(properties.kind);
  return attributes;
}
static graph::Attributes toPlain(const ReduceOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.kind = static_cast<uint8_t>(properties.kind);
  attributes.dims = toVector(properties.dims);
  return attributes;
}
static graph::Attributes toPlain(const PermuteOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.dims = toVector(properties.order);
  return attributes;
}
static graph::Attributes toPlain(const IotaOp::Properties &properties) {
  return dimAttributes(properties.dim);
}
static graph::Attributes toPlain(const GatherOp::Properties &properties) {
  return dimAttributes(properties.dim);
}
static graph::Attributes toPlain(const ConcatOp::Properties &properties) {
  return dimAttributes(properties.dim);
}
static graph::Attributes toPlain(const FlipOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.dims = toVector(properties.dims);
  return attributes;
}
static graph::Attributes toPlain(const PadOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.low = toVector(properties.low);
  attributes.high = toVector(properties.high);
  attributes.interior = toVector(properties.interior);
  return attributes;
}
static graph::Attributes toPlain(const WindowOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.dims = toVector(properties.dims);
  attributes.size = toVector(properties.size);
  attributes.stride = toVector(properties.stride);
  attributes.dilation = toVector(properties.dilation);
  return attributes;
}
static graph::Attributes toPlain(const TransferOp::Properties &properties) {
  graph::Attributes attributes;
  if (properties.device)
    attributes.name = properties.device.str();
  return attributes;
}
static graph::Attributes toPlain(const ParameterOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.name = properties.name.str();
  return attributes;
}
static graph::Attributes toPlain(const ConstantOp::Properties &properties) {
  graph::Attributes attributes;
  DenseElementsAttr elements = properties.value;
  attributes.splat = elements.isSplat();
  if (elements.getElementType().isInteger(1)) {
    size_t count = attributes.splat ? 1 : elements.getNumElements();
    auto values = elements.getValues<bool>();
    for (size_t i = 0; i < count; ++i)
      attributes.value.push_back(static_cast<std::byte>(values[i]));
    return attributes;
  }
  auto raw = llvm::ArrayRef(reinterpret_cast<const std::byte *>(elements.getRawData().data()),
                            elements.getRawData().size());
  attributes.value.assign(raw.begin(), raw.end());
  return attributes;
}

#define ZYX_GRAPH_OP(Name, name, arity, number)                                                    \
  graph::Op Name##Op::getOpcode() { return graph::Op::Name; }                                      \
  graph::Attributes Name##Op::getPlainAttributes() { return toPlain(getProperties()); }
#include "zyx/Graph/GraphOps.inc"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The one place where the dialect asks the plain graph for a type.
static zyx::Result<zyx::TensorType> inferPlain(graph::Op opcode,
                                               const graph::Attributes &attributes,
                                               ValueRange operands,
                                               const zyx::TensorType &requested) {
  std::vector<zyx::TensorType> types;
  for (Value operand : operands) {
    ZYX_ASSIGN_OR_RETURN(zyx::TensorType type, toPlainType(operand.getType()));
    types.push_back(std::move(type));
  }
  return graph::inferType(opcode, attributes, types, requested);
}

static LogicalResult verifyNode(NodeOpInterface op) {
  auto requested = toPlainType(op->getResult(0).getType());
  if (!requested)
    return op->emitOpError() << "result " << requested.status().message();
  auto inferred =
      inferPlain(op.getOpcode(), op.getPlainAttributes(), op->getOperands(), *requested);
  if (!inferred)
    return op->emitOpError() << inferred.status().message();
  ZYX_ASSERT(*inferred == *requested, "ops whose type is inferred do not come here");
  return success();
}

template <typename OpTy>
static LogicalResult inferNode(graph::Op opcode, MLIRContext *context,
                               std::optional<Location> location, typename OpTy::Adaptor adaptor,
                               SmallVectorImpl<Type> &types) {
  auto inferred = inferPlain(opcode, toPlain(adaptor.getProperties()), adaptor.getOperands(), {});
  if (!inferred)
    return emitOptionalError(location, "'", OpTy::getOperationName(), "' op ",
                             inferred.status().message());
  types.push_back(toTensorType(*inferred, context));
  return success();
}

#define ZYX_INFERRED(Name)                                                                         \
  LogicalResult Name##Op::inferReturnTypes(MLIRContext *context,                                   \
                                           std::optional<::mlir::Location> location,               \
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {        \
    return inferNode<Name##Op>(graph::Op::Name, context, location, adaptor, types);                \
  }
ZYX_INFERRED(Permute)
ZYX_INFERRED(Unary)
ZYX_INFERRED(Binary)
ZYX_INFERRED(Select)
ZYX_INFERRED(Reduce)
ZYX_INFERRED(Gather)
ZYX_INFERRED(Flip)
ZYX_INFERRED(Pad)
ZYX_INFERRED(Window)
ZYX_INFERRED(Concat)
ZYX_INFERRED(Transfer)
#undef ZYX_INFERRED

LogicalResult ConstantOp::verify() { return verifyNode(*this); }
LogicalResult ParameterOp::verify() { return verifyNode(*this); }
LogicalResult IotaOp::verify() { return verifyNode(*this); }
LogicalResult ReshapeOp::verify() { return verifyNode(*this); }
LogicalResult ExpandOp::verify() { return verifyNode(*this); }
LogicalResult CastOp::verify() { return verifyNode(*this); }
LogicalResult BitcastOp::verify() { return verifyNode(*this); }

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

/// A view or a cast to the type that is there already.
template <typename OpTy> static OpFoldResult foldIdentity(OpTy op) {
  return op.getX().getType() == op.getType() ? op.getX() : Value();
}
OpFoldResult CastOp::fold(FoldAdaptor) { return foldIdentity(*this); }
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return foldIdentity(*this); }
OpFoldResult ExpandOp::fold(FoldAdaptor) { return foldIdentity(*this); }

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  for (auto [position, dim] : llvm::enumerate(getOrder()))
    if (static_cast<int64_t>(position) != dim)
      return {};
  return getX();
}

/// Of dimensions of at most one element nothing is backwards; a flip undoes itself.
OpFoldResult FlipOp::fold(FoldAdaptor) {
  if (llvm::all_of(getDims(), [&](int64_t dim) { return getType().getDimSize(dim) <= 1; }))
    return getX();
  auto inner = getX().getDefiningOp<FlipOp>();
  return inner && inner.getDims() == getDims() ? inner.getX() : Value();
}

/// Where nothing is added at the ends nor between elements, all stays.
OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t count) { return count == 0; };
  bool keeps = llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero);
  for (auto [extent, count] : llvm::zip(getX().getType().getShape(), getInterior()))
    keeps &= extent <= 1 || count == 0;
  return keeps ? getX() : Value();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getParts().size() == 1 ? getParts().front() : Value();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (Value same = dyn_cast_if_present<Value>(foldIdentity(*this)))
    return same;
  auto inner = getX().getDefiningOp<BitcastOp>();
  if (!inner)
    return {};
  if (inner.getX().getType() == getType())
    return inner.getX();
  getXMutable().assign(inner.getX());
  return getResult();
}

/// What was brought to a device is there.
OpFoldResult TransferOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<TransferOp>();
  return inner && inner.getDevice() == getDevice() ? getX() : Value();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

// graph.group(%inside = %outside : type, ...) -> (types) attributes {...} { body }
ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Type> types;
  auto parseInput = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(inputs.emplace_back()) || parser.parseColonType(types.emplace_back()))
      return failure();
    arguments.back().type = types.back();
    return success();
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput) ||
      parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  return parser.resolveOperands(inputs, types, location, result.operands);
}

void GroupOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBlock().getArguments(), getInputs()), printer, [&](auto pair) {
    auto [argument, input] = pair;
    printer << argument << " = " << input << " : " << input.getType();
  });
  printer << ')';
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult GroupOp::verify() {
  Block &block = getBlock();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has block arguments that differ from its inputs");
  return success();
}

LogicalResult GroupOp::verifyRegions() {
  for (Operation &op : getBlock().without_terminator()) {
    if (!isa<NodeOpInterface>(op))
      return op.emitOpError("does not belong inside a graph.group");
    if (isa<ParameterOp>(op))
      return op.emitOpError("belongs outside of the graph.group, as its input");
  }
  auto yield = dyn_cast<YieldOp>(getBlock().getTerminator());
  if (!yield)
    return emitOpError("must end in graph.yield");
  if (yield.getOperandTypes() != getResultTypes())
    return yield.emitOpError("has values whose types differ from the group's results");
  return success();
}
