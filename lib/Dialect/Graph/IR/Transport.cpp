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
  return {place.getFilename().str(), place.getLine(), place.getColumn()};
}

static Status refuseAt(mlir::Location location, const llvm::Twine &reason) {
  graph::Location place = toPlainLocation(location);
  std::string where = place.file.empty() ? std::string()
                                         : place.file + ":" + std::to_string(place.line) + ":" +
                                               std::to_string(place.column) + ": ";
  return Status::invalidArgument(where + reason.str());
}

static Status refuseAt(mlir::Location location, Status failure) {
  return refuseAt(location, failure.message());
}

namespace {

/// One export; `ids` maps the values of the function to nodes.
struct Exporter {
  explicit Exporter(func::FuncOp entry) : entry(entry) {}

  func::FuncOp entry;
  graph::Graph result;
  llvm::DenseMap<Value, graph::NodeId> ids;

  Status addArguments();
  Status addOp(NodeOpInterface op);
  Status addOutputs(func::ReturnOp op);
};

} // namespace

Status Exporter::addArguments() {
  llvm::StringSet<> names;
  for (BlockArgument argument : entry.getArguments()) {
    std::string name = getArgumentName(entry, argument.getArgNumber());
    if (!names.insert(name).second)
      return refuseAt(argument.getLoc(), "two arguments are named '" + name + "'");
    auto type = toPlainType(argument.getType());
    if (!type)
      return refuseAt(argument.getLoc(), "argument '" + name + "': " + type.status().message());
    graph::Attributes attributes;
    attributes.name = std::move(name);
    auto id = result.add(graph::Op::Parameter, {}, std::move(attributes), *type,
                         toPlainLocation(argument.getLoc()));
    if (!id)
      return refuseAt(argument.getLoc(), id.status());
    result.inputs.push_back(*id);
    ids[argument] = *id;
  }
  return Status::ok();
}

Status Exporter::addOp(NodeOpInterface op) {
  graph::Attributes attributes = op.getPlainAttributes();
  if (isa<ParameterOp>(op))
    for (graph::NodeId input : result.inputs)
      if (result.node(input).attributes.name == attributes.name)
        return refuseAt(op.getLoc(),
                        "parameter '" + attributes.name + "' has the name of an argument");
  llvm::SmallVector<graph::NodeId> operands;
  for (Value operand : op->getOperands())
    operands.push_back(ids.at(operand));
  auto type = toPlainType(op->getResult(0).getType());
  if (!type)
    return refuseAt(op.getLoc(), type.status());
  auto id = result.add(op.getOpcode(), {operands.data(), operands.size()}, std::move(attributes),
                       *type, toPlainLocation(op.getLoc()));
  if (!id)
    return refuseAt(op.getLoc(), id.status());
  ids[op->getResult(0)] = *id;
  return Status::ok();
}

Status Exporter::addOutputs(func::ReturnOp op) {
  llvm::StringSet<> names;
  for (OpOperand &operand : op->getOpOperands()) {
    std::string name = getResultName(entry, operand.getOperandNumber());
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
  Exporter exporter(entry);
  exporter.result.name = entry.getName().str();
  ZYX_RETURN_IF_ERROR(exporter.addArguments());
  for (Operation &op : entry.getBody().front()) {
    if (auto node = dyn_cast<NodeOpInterface>(op))
      ZYX_RETURN_IF_ERROR(exporter.addOp(node));
    else if (auto returned = dyn_cast<func::ReturnOp>(op))
      ZYX_RETURN_IF_ERROR(exporter.addOutputs(returned));
    else
      return refuseAt(op.getLoc(),
                      "'" + op.getName().getStringRef() + "' is not an op of the plain graph");
  }
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
  return DenseElementsAttr::getFromRawBuffer(
      type, {reinterpret_cast<const char *>(value.data()), value.size()});
}

static Value importNode(OpBuilder &builder, mlir::Location loc, const graph::Node &node,
                        ValueRange operands) {
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
    return ReduceOp::create(builder, loc, type, static_cast<ReduceKind>(attributes.kind),
                            operands[0], attributes.dims);
  case graph::Op::Cast:
    return CastOp::create(builder, loc, type, operands[0]);
  case graph::Op::Unary:
    return UnaryOp::create(builder, loc, type, static_cast<UnaryKind>(attributes.kind),
                           operands[0]);
  case graph::Op::Binary:
    return BinaryOp::create(builder, loc, type, static_cast<BinaryKind>(attributes.kind),
                            operands[0], operands[1]);
  case graph::Op::Select:
    return SelectOp::create(builder, loc, type, operands[0], operands[1], operands[2]);
  case graph::Op::Iota:
    return IotaOp::create(builder, loc, type, attributes.dims[0]);
  case graph::Op::Gather:
    return GatherOp::create(builder, loc, type, operands[0], operands[1], attributes.dims[0]);
  case graph::Op::Flip:
    return FlipOp::create(builder, loc, type, operands[0], attributes.dims);
  case graph::Op::Pad:
    return PadOp::create(builder, loc, type, operands[0], operands[1], attributes.low,
                         attributes.high, attributes.interior);
  case graph::Op::Window:
    return WindowOp::create(builder, loc, type, operands[0], attributes.dims, attributes.size,
                            attributes.stride, attributes.dilation);
  case graph::Op::Concat:
    return ConcatOp::create(builder, loc, type, operands, attributes.dims[0]);
  case graph::Op::Bitcast:
    return BitcastOp::create(builder, loc, type, operands[0]);
  case graph::Op::Transfer:
    return TransferOp::create(builder, loc, type, operands[0], attributes.name);
  }
  return {};
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
  auto entry =
      func::FuncOp::create(builder, unknown, graph.name, builder.getFunctionType(inputs, results));
  Block *body = builder.createBlock(&entry.getBody());

  llvm::SmallVector<Value> values(graph.size());
  for (auto [index, id] : llvm::enumerate(graph.inputs)) {
    values[id] = body->addArgument(inputs[index], toLocation(graph.location(id), context));
    entry.setArgAttr(index, "graph.name", builder.getStringAttr(graph.node(id).attributes.name));
  }
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (values[id])
      continue;
    llvm::SmallVector<Value> operands;
    for (NodeId operand : graph.node(id).operands)
      operands.push_back(values[operand]);
    values[id] =
        importNode(builder, toLocation(graph.location(id), context), graph.node(id), operands);
  }
  llvm::SmallVector<Value> returned;
  for (auto [index, output] : llvm::enumerate(graph.outputs)) {
    returned.push_back(values[output.node]);
    entry.setResultAttr(index, "graph.name", builder.getStringAttr(output.name));
  }
  func::ReturnOp::create(builder, unknown, returned);
  return module;
}
