//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphDialect.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Dialect/Strict/StrictOp.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace zyx::graph::ir;

#include "zyx/Dialect/Graph/IR/GraphDialect.cpp.inc"
#include "zyx/Dialect/Graph/IR/GraphEnums.cpp.inc"
#include "zyx/Dialect/Graph/IR/UnaryKinds.cpp.inc"

void GraphDialect::initialize() {
  registerAttributes();
  addStrictOperations<
#define GET_OP_LIST
#include "zyx/Dialect/Graph/IR/GraphOps.cpp.inc"
      >(*this);
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, mlir::Location loc) {
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

/// `graph.name`, which the dialect lends to others.
static LogicalResult verifyName(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != "graph.name")
    return op->emitError() << "unknown attribute '" << attribute.getName().getValue() << "'";
  auto name = dyn_cast<StringAttr>(attribute.getValue());
  if (!name || name.empty())
    return op->emitError("attribute 'graph.name' must be a string that is not empty");
  return success();
}

LogicalResult GraphDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  if (attribute.getName() != "graph.weight")
    return verifyName(op, attribute);
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitError("attribute 'graph.weight' has no value");
  return success();
}

LogicalResult GraphDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyName(op, attribute);
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return op->emitError() << "attribute '" << attribute.getName().getValue()
                         << "' belongs on arguments and results of functions";
}
