//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Result;
using zyx::Status;

namespace graph = zyx::graph;

static std::string nameOr(Attribute attribute, llvm::StringRef fallback, unsigned index) {
  if (auto name = dyn_cast_or_null<StringAttr>(attribute))
    return name.str();
  return (fallback + llvm::Twine(index)).str();
}

std::string graph::ir::getArgumentName(func::FuncOp entry, unsigned index) {
  return nameOr(entry.getArgAttr(index, "graph.name"), "arg", index);
}

bool graph::ir::isWeight(func::FuncOp entry, unsigned index) {
  return static_cast<bool>(entry.getArgAttr(index, "graph.weight"));
}

std::string graph::ir::getResultName(func::FuncOp entry, unsigned index) {
  return nameOr(entry.getResultAttr(index, "graph.name"), "result", index);
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

/// The place in a file, where the location knows one; fused and call-site locations give the first.
static graph::Location toPlainLocation(mlir::Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return {};
  return {std::string_view(place.getFilename().strref()), place.getLine(), place.getColumn()};
}

static Status refuseAt(mlir::Location location, const llvm::Twine &reason) {
  graph::Location place = toPlainLocation(location);
  std::string where = place.file.empty() ? std::string()
                                         : std::string(place.file) + ":" + std::to_string(place.line) + ":" +
                                               std::to_string(place.column) + ": ";
  return Status::invalidArgument(where + reason.str());
}

static Status refuseAt(mlir::Location location, Status failure) { return refuseAt(location, failure.message()); }

namespace {

/// The export of one block; `ids` maps its values to nodes.
struct Exporter {
  graph::Graph result;
  llvm::DenseMap<Value, graph::NodeId> ids;

  Status addArgument(BlockArgument argument, std::string name);
  Status addArguments(func::FuncOp entry);
  Status addOps(Block &block);
  Status addOutputs(func::FuncOp entry, func::ReturnOp op);

private:
  Status addOp(NodeOpInterface op);
  Status addBodyOp(Operation &op, graph::Op opcode, graph::Attributes attributes);
};

} // namespace

Status Exporter::addArgument(BlockArgument argument, std::string name) {
  auto type = toPlainType(argument.getType());
  if (!type)
    return refuseAt(argument.getLoc(), "argument '" + name + "': " + type.status().message());
  graph::Attributes attributes;
  attributes.name = std::move(name);
  auto id = result.add(graph::Op::Parameter, {}, std::move(attributes), *type, toPlainLocation(argument.getLoc()));
  if (!id)
    return refuseAt(argument.getLoc(), id.status());
  result.inputs.push_back(*id);
  ids[argument] = *id;
  return Status::ok();
}

Status Exporter::addArguments(func::FuncOp entry) {
  llvm::StringSet<> names;
  for (BlockArgument argument : entry.getArguments()) {
    std::string name = getArgumentName(entry, argument.getArgNumber());
    if (StringRef(name).contains('\0'))
      return refuseAt(argument.getLoc(), "the name of an argument has a zero byte");
    if (!names.insert(name).second)
      return refuseAt(argument.getLoc(), "two arguments are named '" + name + "'");
    if (isWeight(entry, argument.getArgNumber()))
      ++result.numWeights;
    else if (result.numWeights != 0)
      return refuseAt(argument.getLoc(), "argument '" + name + "' follows a weight and is none");
    ZYX_RETURN_IF_ERROR(addArgument(argument, std::move(name)));
  }
  return Status::ok();
}

/// The body of a loop or a custom op.
static Result<graph::Body> exportBody(Block &block) {
  Exporter exporter;
  for (BlockArgument argument : block.getArguments())
    ZYX_RETURN_IF_ERROR(exporter.addArgument(argument, "arg" + std::to_string(argument.getArgNumber())));
  ZYX_RETURN_IF_ERROR(exporter.addOps(block));
  for (OpOperand &operand : block.getTerminator()->getOpOperands())
    exporter.result.outputs.push_back(
        {"result" + std::to_string(operand.getOperandNumber()), exporter.ids.at(operand.get())});
  auto body = graph::Body::create(exporter.result);
  if (!body)
    return refuseAt(block.getParentOp()->getLoc(), body.status());
  return body;
}

Status Exporter::addBodyOp(Operation &op, graph::Op opcode, graph::Attributes attributes) {
  ZYX_ASSIGN_OR_RETURN(attributes.body, exportBody(op.getRegion(0).front()));
  llvm::SmallVector<graph::NodeId> operands;
  for (Value operand : op.getOperands())
    operands.push_back(ids.at(operand));
  auto added = result.addResults(opcode, {operands.data(), operands.size()}, std::move(attributes),
                                 toPlainLocation(op.getLoc()));
  if (!added)
    return refuseAt(op.getLoc(), added.status());
  for (auto [value, id] : llvm::zip_equal(op.getResults(), *added))
    ids[value] = id;
  return Status::ok();
}

Status Exporter::addOps(Block &block) {
  for (Operation &op : block.without_terminator()) {
    graph::Attributes attributes;
    if (auto node = dyn_cast<NodeOpInterface>(op)) {
      ZYX_RETURN_IF_ERROR(addOp(node));
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      IntegerAttr trips = loop.getTripsAttr();
      attributes.trips = trips ? trips.getInt() : loop.isWhile() ? graph::tripsAreWhile : graph::tripsAreData;
      ZYX_RETURN_IF_ERROR(addBodyOp(op, graph::Op::Loop, std::move(attributes)));
    } else if (auto custom = dyn_cast<CustomOp>(op)) {
      attributes.name = custom.getName().str();
      for (char c : custom.getConfig())
        attributes.value.push_back(static_cast<std::byte>(c));
      if (ArrayAttr implementations = custom.getImplementationsAttr())
        for (auto implementation : implementations.getAsRange<ImplementationAttr>()) {
          auto plain = toPlainImplementation(implementation);
          if (!plain)
            return refuseAt(op.getLoc(), plain.status());
          attributes.implementations.push_back(std::move(*plain));
        }
      ZYX_RETURN_IF_ERROR(addBodyOp(op, graph::Op::Custom, std::move(attributes)));
    } else {
      return refuseAt(op.getLoc(), "'" + op.getName().getStringRef() + "' is not an op of the plain graph");
    }
  }
  return Status::ok();
}

Status Exporter::addOp(NodeOpInterface op) {
  graph::Attributes attributes = op.getPlainAttributes();
  if (isa<ParameterOp>(op))
    for (graph::NodeId input : result.inputs)
      if (result.node(input).attributes.name == attributes.name)
        return refuseAt(op.getLoc(), "parameter '" + attributes.name + "' has the name of an argument");
  llvm::SmallVector<graph::NodeId> operands;
  for (Value operand : op->getOperands())
    operands.push_back(ids.at(operand));
  auto type = toPlainType(op->getResult(0).getType());
  if (!type)
    return refuseAt(op.getLoc(), type.status());
  auto id = result.add(op.getOpcode(), {operands.data(), operands.size()}, std::move(attributes), *type,
                       toPlainLocation(op.getLoc()));
  if (!id)
    return refuseAt(op.getLoc(), id.status());
  ids[op->getResult(0)] = *id;
  return Status::ok();
}

Status Exporter::addOutputs(func::FuncOp entry, func::ReturnOp op) {
  llvm::StringSet<> names;
  for (OpOperand &operand : op->getOpOperands()) {
    std::string name = getResultName(entry, operand.getOperandNumber());
    if (StringRef(name).contains('\0'))
      return refuseAt(op.getLoc(), "the name of a result has a zero byte");
    if (!names.insert(name).second)
      return refuseAt(op.getLoc(), "two results are named '" + name + "'");
    result.outputs.push_back({std::move(name), ids.at(operand.get())});
  }
  return Status::ok();
}

Result<graph::Graph> graph::ir::exportGraph(func::FuncOp entry) {
  if (entry.isExternal())
    return refuseAt(entry.getLoc(), "function '" + entry.getName() + "' has no body");
  if (!entry.getBody().hasOneBlock())
    return refuseAt(entry.getLoc(), "function '" + entry.getName() + "' has several blocks");
  // Names end at it where C reads them.
  if (entry.getName().contains('\0'))
    return refuseAt(entry.getLoc(), "the name of a function has a zero byte");
  Exporter exporter;
  exporter.result.name = entry.getName().str();
  ZYX_RETURN_IF_ERROR(exporter.addArguments(entry));
  ZYX_RETURN_IF_ERROR(exporter.addOps(entry.getBody().front()));
  auto returned = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  ZYX_RETURN_IF_ERROR(exporter.addOutputs(entry, returned));
  return std::move(exporter.result);
}

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

static mlir::Location toLocation(const graph::Location &location, MLIRContext *context) {
  if (location.file.empty())
    return UnknownLoc::get(context);
  return FileLineColLoc::get(context, location.file, location.line, location.column);
}

static DenseElementsAttr toElements(const graph::Node &node, RankedTensorType type) {
  const std::vector<std::byte> &value = node.attributes.value;
  if (node.type.dtype == zyx::DType::Bool) {
    llvm::SmallVector<bool> bools;
    for (std::byte byte : value)
      bools.push_back(byte != std::byte(0));
    return DenseElementsAttr::get(type, llvm::ArrayRef<bool>(bools));
  }
  return DenseElementsAttr::getFromRawBuffer(type, {reinterpret_cast<const char *>(value.data()), value.size()});
}

static Value importNode(OpBuilder &builder, mlir::Location loc, const graph::Node &node, ValueRange operands) {
  const graph::Attributes &attributes = node.attributes;
  RankedTensorType type = toTensorType(node.type, builder.getContext());
  switch (node.op) {
  case graph::Op::Constant:
    return ConstantOp::create(builder, loc, type, toElements(node, type));
  case graph::Op::Parameter:
    return ParameterOp::create(builder, loc, type, attributes.name);
  case graph::Op::Reshape:
    return ReshapeOp::create(builder, loc, type, operands[0]);
  case graph::Op::Expand:
    return ExpandOp::create(builder, loc, type, operands[0]);
  case graph::Op::Permute:
    return PermuteOp::create(builder, loc, type, operands[0], attributes.dims);
  case graph::Op::Reduce:
    return ReduceOp::create(builder, loc, type, static_cast<ReduceKind>(attributes.kind), operands[0], attributes.dims);
  case graph::Op::Cast:
    return CastOp::create(builder, loc, type, operands[0]);
  case graph::Op::Unary:
    return UnaryOp::create(builder, loc, type, static_cast<UnaryKind>(attributes.kind), operands[0]);
  case graph::Op::Binary:
    return BinaryOp::create(builder, loc, type, static_cast<BinaryKind>(attributes.kind), operands[0], operands[1]);
  case graph::Op::Select:
    return SelectOp::create(builder, loc, type, operands[0], operands[1], operands[2]);
  case graph::Op::Iota:
    return IotaOp::create(builder, loc, type, attributes.dims[0]);
  case graph::Op::Gather:
    return GatherOp::create(builder, loc, type, operands[0], operands[1], attributes.dims[0]);
  case graph::Op::Flip:
    return FlipOp::create(builder, loc, type, operands[0], attributes.dims);
  case graph::Op::Pad:
    return PadOp::create(builder, loc, type, operands[0], operands[1], attributes.low, attributes.high,
                         attributes.interior);
  case graph::Op::Window:
    return WindowOp::create(builder, loc, type, operands[0], attributes.dims, attributes.size, attributes.stride,
                            attributes.dilation);
  case graph::Op::Concat:
    return ConcatOp::create(builder, loc, type, operands, attributes.dims[0]);
  case graph::Op::Bitcast:
    return BitcastOp::create(builder, loc, type, operands[0]);
  case graph::Op::Transfer:
    return TransferOp::create(builder, loc, type, operands[0], attributes.name);
  case graph::Op::Loop:
  case graph::Op::Custom:
    break;
  case graph::Op::Scan:
    return ScanOp::create(builder, loc, type, static_cast<ReduceKind>(attributes.kind), operands[0], attributes.dims[0],
                          attributes.exclusive, attributes.reverse);
  case graph::Op::Sort:
    return SortOp::create(builder, loc, type, static_cast<SortKind>(attributes.kind), operands[0], attributes.dims[0],
                          attributes.reverse);
  case graph::Op::Scatter:
    return ScatterOp::create(builder, loc, type, static_cast<ScatterKind>(attributes.kind), operands[0], operands[1],
                             operands[2], attributes.dims[0]);
  case graph::Op::RandomBits:
    return RandomBitsOp::create(builder, loc, type, operands[0]);
  }
  return {};
}

static Operation *importBodyOp(OpBuilder &builder, mlir::Location loc, const graph::Node &node, ValueRange operands);

/// Imports the nodes that have no value yet.
static void importNodes(OpBuilder &builder, const graph::Graph &graph, llvm::SmallVectorImpl<Value> &values) {
  for (graph::NodeId id = 0; id < graph.size(); ++id) {
    if (values[id])
      continue;
    const graph::Node &node = graph.node(id);
    mlir::Location loc = toLocation(graph.location(id), builder.getContext());
    llvm::SmallVector<Value> operands;
    for (graph::NodeId operand : node.operands)
      operands.push_back(values[operand]);
    if (!node.attributes.body) {
      values[id] = importNode(builder, loc, node, operands);
      continue;
    }
    Operation *op = importBodyOp(builder, loc, node, operands);
    for (OpResult result : op->getResults())
      if (auto other = graph.otherResult(id, result.getResultNumber()))
        values[*other] = result;
  }
}

static Operation *importBodyOp(OpBuilder &builder, mlir::Location loc, const graph::Node &node, ValueRange operands) {
  MLIRContext *context = builder.getContext();
  const graph::Graph &body = node.attributes.body.graph();
  llvm::SmallVector<Type> results;
  for (const graph::Output &output : body.outputs)
    results.push_back(toTensorType(body.node(output.node).type, context));
  Operation *op = nullptr;
  if (node.op == graph::Op::Loop) {
    bool isCounted = node.attributes.trips == graph::tripsAreData;
    IntegerAttr trips = node.attributes.trips < 0 ? IntegerAttr() : builder.getI64IntegerAttr(node.attributes.trips);
    ValueRange values = operands.drop_front(isCounted);
    op = LoopOp::create(builder, loc, results, trips, isCounted ? operands[0] : Value(),
                        values.take_front(results.size()), values.drop_front(results.size()));
  } else {
    std::string config;
    for (std::byte byte : node.attributes.value)
      config += static_cast<char>(byte);
    llvm::SmallVector<Attribute> implementations;
    for (const graph::Implementation &implementation : node.attributes.implementations)
      implementations.push_back(toImplementationAttr(implementation, context));
    op = CustomOp::create(builder, loc, results, builder.getStringAttr(node.attributes.name),
                          config.empty() ? StringAttr() : builder.getStringAttr(config),
                          implementations.empty() ? ArrayAttr() : builder.getArrayAttr(implementations), operands);
  }
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op->getRegion(0));
  llvm::SmallVector<Value> values(body.size());
  for (graph::NodeId id : body.inputs)
    values[id] = block->addArgument(toTensorType(body.node(id).type, context), toLocation(body.location(id), context));
  importNodes(builder, body, values);
  llvm::SmallVector<Value> yielded;
  for (const graph::Output &output : body.outputs)
    yielded.push_back(values[output.node]);
  YieldOp::create(builder, loc, yielded);
  return op;
}

OwningOpRef<ModuleOp> graph::ir::importGraph(const Graph &graph, MLIRContext *context) {
  context->loadDialect<GraphDialect, func::FuncDialect>();
  OpBuilder builder(context);
  auto unknown = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  builder.setInsertionPointToEnd(module->getBody());

  llvm::SmallVector<Type> inputs, results;
  for (NodeId id : graph.inputs)
    inputs.push_back(toTensorType(graph.node(id).type, context));
  for (const Output &output : graph.outputs)
    results.push_back(toTensorType(graph.node(output.node).type, context));
  auto entry = func::FuncOp::create(builder, unknown, graph.name, builder.getFunctionType(inputs, results));
  Block *body = builder.createBlock(&entry.getBody());

  llvm::SmallVector<Value> values(graph.size());
  for (auto [index, id] : llvm::enumerate(graph.inputs)) {
    values[id] = body->addArgument(inputs[index], toLocation(graph.location(id), context));
    entry.setArgAttr(index, "graph.name", builder.getStringAttr(graph.node(id).attributes.name));
    if (index >= graph.inputs.size() - graph.numWeights)
      entry.setArgAttr(index, "graph.weight", builder.getUnitAttr());
  }
  importNodes(builder, graph, values);
  llvm::SmallVector<Value> returned;
  for (auto [index, output] : llvm::enumerate(graph.outputs)) {
    returned.push_back(values[output.node]);
    entry.setResultAttr(index, "graph.name", builder.getStringAttr(output.name));
  }
  func::ReturnOp::create(builder, unknown, returned);
  return module;
}
