//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace graph = zyx::graph;

//===----------------------------------------------------------------------===//
// Constants in resources
//===----------------------------------------------------------------------===//

/// Whether a resource has the elements of its type, a bool in a byte. What is too much for a constant is refused here,
/// before the context keeps a copy of it for ever.
static zyx::Status checkResource(DenseResourceElementsAttr resource) {
  const std::string name = "the resource '" + resource.getRawHandle().getKey().str() + "' ";
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return zyx::Status::invalidArgument(name + "has no elements in the text");
  ZYX_ASSIGN_OR_RETURN(const zyx::TensorType type, graph::ir::toPlainType(resource.getType()));
  ZYX_ASSIGN_OR_RETURN(const int64_t size, zyx::byteSize(type));
  const llvm::ArrayRef<char> data = blob->getData();
  if (static_cast<int64_t>(data.size()) != size)
    return zyx::Status::invalidArgument(name + "has " + std::to_string(data.size()) + " bytes, and " + toString(type) +
                                        " has " + std::to_string(size));
  if (size > graph::maxConstantBytes)
    return zyx::Status::invalidArgument(name + "has " + std::to_string(size) + " bytes, more than " +
                                        std::to_string(graph::maxConstantBytes) + ": make it a parameter");
  if (type.dtype == zyx::DType::Bool && llvm::any_of(data, [](char byte) { return byte != 0 && byte != 1; }))
    return zyx::Status::invalidArgument(name + "has a byte that is no bool, 0 or 1");
  return zyx::Status::ok();
}

namespace zyx::graph::ir {
/// The elements of a constant. A resource that is none of its type, which the verifier refuses, is zeros.
static DenseElementsAttr toDenseElements(ElementsAttr elements) {
  auto resource = dyn_cast_if_present<DenseResourceElementsAttr>(elements);
  if (!resource)
    return cast_if_present<DenseElementsAttr>(elements);
  if (checkResource(resource).isOk()) {
    const llvm::ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    if (!resource.getElementType().isInteger(1))
      return DenseElementsAttr::getFromRawBuffer(resource.getType(), data);
    const llvm::SmallVector<bool> bools(data.begin(), data.end());
    return DenseElementsAttr::get(resource.getType(), llvm::ArrayRef<bool>(bools));
  }
  Type element = resource.getElementType();
  if (!isa<RankedTensorType>(resource.getType()) || !resource.getType().hasStaticShape() || !toDType(element))
    return DenseElementsAttr::get(RankedTensorType::get({}, IntegerType::get(element.getContext(), 1)), false);
  Attribute zero = isa<FloatType>(element) ? Attribute(FloatAttr::get(element, 0.0)) : IntegerAttr::get(element, 0);
  return DenseElementsAttr::get(resource.getType(), zero);
}
} // namespace zyx::graph::ir

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
static graph::Attributes toPlain(const IotaOp::Properties &properties) { return dimAttributes(properties.dim); }
static graph::Attributes toPlain(const GatherOp::Properties &properties) { return dimAttributes(properties.dim); }
static graph::Attributes toPlain(const ConcatOp::Properties &properties) { return dimAttributes(properties.dim); }
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
static graph::Attributes toPlain(const ScanOp::Properties &properties) {
  graph::Attributes attributes = dimAttributes(properties.dim);
  attributes.kind = static_cast<uint8_t>(properties.kind);
  attributes.exclusive = bool(properties.exclusive);
  attributes.reverse = bool(properties.reverse);
  return attributes;
}
static graph::Attributes toPlain(const SortOp::Properties &properties) {
  graph::Attributes attributes = dimAttributes(properties.dim);
  attributes.kind = static_cast<uint8_t>(properties.kind);
  attributes.reverse = bool(properties.descending);
  return attributes;
}
static graph::Attributes toPlain(const ScatterOp::Properties &properties) {
  graph::Attributes attributes = dimAttributes(properties.dim);
  attributes.kind = static_cast<uint8_t>(properties.kind);
  return attributes;
}
static graph::Attributes toPlain(const ParameterOp::Properties &properties) {
  graph::Attributes attributes;
  attributes.name = properties.name.str();
  return attributes;
}
static graph::Attributes toPlain(const ConstantOp::Properties &properties) {
  graph::Attributes attributes;
  DenseElementsAttr elements = toDenseElements(properties.value);
  attributes.splat = elements.isSplat();
  if (elements.getElementType().isInteger(1)) {
    size_t count = attributes.splat ? 1 : elements.getNumElements();
    auto values = elements.getValues<bool>();
    for (size_t i = 0; i < count; ++i)
      attributes.value.push_back(static_cast<std::byte>(values[i]));
    return attributes;
  }
  auto raw =
      llvm::ArrayRef(reinterpret_cast<const std::byte *>(elements.getRawData().data()), elements.getRawData().size());
  attributes.value.assign(raw.begin(), raw.end());
  return attributes;
}

#define ZYX_GRAPH_BODY_OP(Name, name, arity, number)
#define ZYX_GRAPH_OP(Name, name, arity, number)                                                                        \
  graph::Op Name##Op::getOpcode() { return graph::Op::Name; }                                                          \
  graph::Attributes Name##Op::getPlainAttributes() { return toPlain(getProperties()); }
#include "zyx/Graph/GraphOps.inc"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The one place where the dialect asks the plain graph for a type.
static zyx::Result<zyx::TensorType> inferPlain(graph::Op opcode, const graph::Attributes &attributes,
                                               ValueRange operands, const zyx::TensorType &requested) {
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
  auto inferred = inferPlain(op.getOpcode(), op.getPlainAttributes(), op->getOperands(), *requested);
  if (!inferred)
    return op->emitOpError() << inferred.status().message();
  ZYX_ASSERT(*inferred == *requested, "ops whose type is inferred do not come here");
  return success();
}

template <typename OpTy>
static LogicalResult inferNode(graph::Op opcode, MLIRContext *context, std::optional<Location> location,
                               typename OpTy::Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto inferred = inferPlain(opcode, toPlain(adaptor.getProperties()), adaptor.getOperands(), {});
  if (!inferred)
    return emitOptionalError(location, "'", OpTy::getOperationName(), "' op ", inferred.status().message());
  types.push_back(toTensorType(*inferred, context));
  return success();
}

#define ZYX_INFERRED(Name)                                                                                             \
  LogicalResult Name##Op::inferReturnTypes(MLIRContext *context, std::optional<::mlir::Location> location,             \
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {                            \
    return inferNode<Name##Op>(graph::Op::Name, context, location, adaptor, types);                                    \
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
ZYX_INFERRED(Scan)
ZYX_INFERRED(Sort)
ZYX_INFERRED(Scatter)
#undef ZYX_INFERRED

LogicalResult ConstantOp::verify() {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(getProperties().value))
    if (zyx::Status status = checkResource(resource); !status.isOk())
      return emitOpError() << status.message();
  return verifyNode(*this);
}
LogicalResult ParameterOp::verify() { return verifyNode(*this); }
LogicalResult IotaOp::verify() { return verifyNode(*this); }
LogicalResult ReshapeOp::verify() { return verifyNode(*this); }
LogicalResult ExpandOp::verify() { return verifyNode(*this); }
LogicalResult CastOp::verify() { return verifyNode(*this); }
LogicalResult BitcastOp::verify() { return verifyNode(*this); }
LogicalResult RandomBitsOp::verify() { return verifyNode(*this); }

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

OpFoldResult ConcatOp::fold(FoldAdaptor) { return getParts().size() == 1 ? getParts().front() : Value(); }

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

/// Parses `(%inside = %outside : type, ...)` and resolves the operands.
static ParseResult parseBindings(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::Argument> &arguments,
                                 SmallVectorImpl<Value> &operands) {
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
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput))
    return failure();
  return parser.resolveOperands(inputs, types, location, operands);
}

static void printBindings(OpAsmPrinter &printer, Block::BlockArgListType arguments, ValueRange inputs) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(arguments, inputs), printer, [&](auto pair) {
    auto [argument, input] = pair;
    printer << argument << " = " << input << " : " << input.getType();
  });
  printer << ')';
}

// graph.group(%inside = %outside : type, ...) -> (types) attributes {...} { body }
ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseBindings(parser, arguments, result.operands) || parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void GroupOp::print(OpAsmPrinter &printer) {
  printBindings(printer, getBlock().getArguments(), getInputs());
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
    // A loop that is one kernel is in one group.
    // So is the kernel of a custom op.
    if (!isa<NodeOpInterface, LoopOp, ExternalOp>(op))
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

//===----------------------------------------------------------------------===//
// Loops and custom ops
//===----------------------------------------------------------------------===//

/// Types and ops of a body. Its ops verify themselves, so this is all that inference of the plain
/// graph checks; a body whose ops are in groups has no plain form.
static LogicalResult verifyBody(Operation *op, Block &block, TypeRange yielded) {
  for (Operation &inner : block.without_terminator()) {
    if (!isa<NodeOpInterface, GroupOp, LoopOp, CustomOp, ExternalOp>(inner))
      return inner.emitOpError() << "does not belong inside a " << op->getName();
    if (isa<ParameterOp>(inner))
      return inner.emitOpError() << "belongs outside of the " << op->getName() << ", as its operand";
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return op->emitOpError("must end in graph.yield");
  if (yield.getOperandTypes() != yielded)
    return yield.emitOpError() << "has values whose types differ from the results of the " << op->getName();
  int depth = 1;
  for (Operation *around = op->getParentOp(); around; around = around->getParentOp())
    depth += isa<LoopOp, CustomOp>(around);
  if (depth > graph::maxBodyDepth)
    return op->emitOpError() << "lies inside of more than " << graph::maxBodyDepth - 1 << " others";
  return success();
}

static RankedTensorType getNumberType(Builder &builder) { return RankedTensorType::get({}, builder.getI64Type()); }

// graph.loop(%i to trips) carry(%inside = %outside : type, ...) with(...) attributes {...} { body }
// graph.loop(%i while) carry(%inside = %outside : type, ...) with(...) attributes {...} { body }
ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments(1);
  arguments[0].type = getNumberType(builder);
  auto &segments = result.getOrAddProperties<Properties>().operandSegmentSizes;
  if (parser.parseLParen() || parser.parseArgument(arguments[0]))
    return failure();
  // Neither a number of trips nor a count.
  if (failed(parser.parseOptionalKeyword("while"))) {
    int64_t trips = 0;
    if (parser.parseKeyword("to"))
      return failure();
    OptionalParseResult isStatic = parser.parseOptionalInteger(trips);
    OpAsmParser::UnresolvedOperand count;
    if (isStatic.has_value()
            ? failed(*isStatic)
            : parser.parseOperand(count) || parser.resolveOperand(count, getNumberType(builder), result.operands))
      return failure();
    if (isStatic.has_value())
      result.getOrAddProperties<Properties>().trips = builder.getI64IntegerAttr(trips);
  }
  segments[0] = static_cast<int32_t>(result.operands.size());
  if (parser.parseRParen() || parser.parseKeyword("carry") || parseBindings(parser, arguments, result.operands))
    return failure();
  segments[1] = static_cast<int32_t>(result.operands.size()) - segments[0];
  result.addTypes(ValueRange(result.operands).take_back(segments[1]).getTypes());
  if (succeeded(parser.parseOptionalKeyword("with")) && failed(parseBindings(parser, arguments, result.operands)))
    return failure();
  segments[2] = static_cast<int32_t>(result.operands.size()) - segments[0] - segments[1];
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void LoopOp::print(OpAsmPrinter &printer) {
  auto arguments = getBlock().getArguments();
  printer << '(' << arguments[0] << (isWhile() ? " while" : " to ");
  if (getCount())
    printer << getCount();
  else if (getTripsAttr())
    printer << getTripsAttr().getInt();
  printer << ") carry";
  printBindings(printer, arguments.slice(1, getInitial().size()), getInitial());
  if (!getInvariants().empty()) {
    printer << " with";
    printBindings(printer, arguments.take_back(getInvariants().size()), getInvariants());
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getTripsAttrName(), getOperandSegmentSizesAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult LoopOp::verify() {
  Builder builder(getContext());
  if (getTripsAttr() && getCount())
    return emitOpError("has both a constant number of trips and a count");
  if (IntegerAttr trips = getTripsAttr(); trips && trips.getInt() < 0)
    return emitOpError("has ") << trips.getInt() << " trips";
  if (getCount() && getCount().getType() != getNumberType(builder))
    return emitOpError("counts to ") << getCount().getType() << ", which is no 'tensor<i64>'";
  if (getInitial().empty())
    return emitOpError("carries nothing");
  if (auto condition = RankedTensorType::get({}, builder.getI1Type());
      isWhile() && getInitial()[0].getType() != condition)
    return emitOpError("goes on while ") << getInitial()[0].getType() << ", which is no " << condition;
  SmallVector<Type> seen{getNumberType(builder)};
  llvm::append_range(seen, getInitial().getTypes());
  llvm::append_range(seen, getInvariants().getTypes());
  if (getBlock().getArgumentTypes() != TypeRange(seen))
    return emitOpError("has block arguments that are not its index, carried values and invariants");
  if (getResultTypes() != getInitial().getTypes())
    return emitOpError("has results whose types differ from what it carries");
  return success();
}

LogicalResult LoopOp::verifyRegions() { return verifyBody(*this, getBlock(), getResultTypes()); }

LogicalResult LoopOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (!getTripsAttr() || getTripsAttr().getInt() != 0)
    return failure();
  llvm::append_range(results, getInitial());
  return success();
}

// graph.custom "name" config "..."(%inside = %outside : type, ...) -> types implementations [...] attributes {...}
//     { body }
ParseResult CustomOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  auto &properties = result.getOrAddProperties<Properties>();
  if (parser.parseAttribute(properties.name))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("config")) && failed(parser.parseAttribute(properties.config)))
    return failure();
  if (parseBindings(parser, arguments, result.operands) || parser.parseOptionalArrowTypeList(result.types))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("implementations")) &&
      failed(parser.parseAttribute(properties.implementations)))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void CustomOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr();
  if (!getConfig().empty())
    printer << " config " << getConfigAttr();
  printBindings(printer, getBlock().getArguments(), getInputs());
  printer.printOptionalArrowTypeList(getResultTypes());
  if (getImplementationsAttr())
    printer << " implementations " << getImplementationsAttr();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getNameAttrName(), getConfigAttrName(), getImplementationsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Whether implementations are for an op, by the rules of the plain graph.
template <typename Range>
static LogicalResult verifyImplementations(Operation *op, StringRef name, Range &&implementations) {
  auto toPlain = [&](TypeRange types) -> zyx::Result<std::vector<zyx::TensorType>> {
    std::vector<zyx::TensorType> plain;
    for (Type type : types) {
      ZYX_ASSIGN_OR_RETURN(zyx::TensorType own, toPlainType(type));
      plain.push_back(std::move(own));
    }
    return plain;
  };
  zyx::Result<std::vector<zyx::TensorType>> operands = toPlain(op->getOperandTypes()),
                                            results = toPlain(op->getResultTypes());
  if (!operands || !results)
    return op->emitOpError() << (operands ? results : operands).status().message();
  std::vector<graph::Implementation> plain;
  for (ImplementationAttr implementation : implementations) {
    zyx::Result<graph::Implementation> own = toPlainImplementation(implementation);
    if (!own)
      return op->emitOpError() << own.status().message();
    plain.push_back(std::move(*own));
  }
  const zyx::Status checked = graph::checkImplementations("custom " + name.str(), plain, *operands, *results);
  return checked.isOk() ? success() : LogicalResult(op->emitOpError() << checked.message());
}

LogicalResult CustomOp::verify() {
  if (getName().empty())
    return emitOpError("has no name");
  if (getInputs().empty())
    return emitOpError("has no operand");
  if (getNumResults() == 0)
    return emitOpError("has no result");
  if (getBlock().getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has block arguments that differ from its operands");
  if (!getImplementationsAttr())
    return success();
  if (getImplementationsAttr().empty())
    return emitOpError("lists no implementation");
  return verifyImplementations(*this, getName(), getImplementationsAttr().getAsRange<ImplementationAttr>());
}

LogicalResult ExternalOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("has no result");
  return verifyImplementations(*this, getName(), ArrayRef(getImplementation()));
}

LogicalResult CustomOp::verifyRegions() { return verifyBody(*this, getBlock(), getResultTypes()); }
