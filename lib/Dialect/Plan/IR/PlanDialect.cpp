//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Plan/IR/PlanDialect.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"
#include "zyx/Dialect/Strict/StrictOp.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zyx::plan;

#include "zyx/Dialect/Plan/IR/PlanDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "zyx/Dialect/Plan/IR/PlanTypes.cpp.inc"

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "zyx/Dialect/Plan/IR/PlanTypes.cpp.inc"
      >();
  addStrictOperations<
#define GET_OP_LIST
#include "zyx/Dialect/Plan/IR/PlanOps.cpp.inc"
      >(*this);
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != argumentsAttr)
    return success();
  auto count = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!isa<FunctionOpInterface>(op) || isa<FuncOp>(op) || !count || !count.getType().isInteger(64) ||
      count.getInt() < 0)
    return op->emitOpError() << "has '" << argumentsAttr << "' = " << attribute.getValue()
                             << ", which is a count of arguments, an i64, on a function of machine code";
  return success();
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  StringRef name;
  SmallVector<int64_t> shape;
  if (parser.parseLess())
    return {};
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return {};
  std::optional<zyx::DType> dtype = zyx::parseDType(name);
  if (!dtype) {
    parser.emitError(location) << "unknown element type '" << name << "'";
    return {};
  }
  if (parser.parseLSquare())
    return {};
  if (failed(parser.parseOptionalRSquare())) {
    if (parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/false) || parser.parseRSquare())
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(location, parser.getContext(), *dtype, shape);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<' << StringRef(zyx::toString(getDtype())) << '[';
  llvm::interleave(getShape(), printer, "x");
  printer << "]>";
}

zyx::TensorType BufferType::getTensorType() const {
  return {getDtype(), zyx::Shape(getShape().begin(), getShape().end())};
}

uint64_t BufferType::getByteSize() const { return *zyx::byteSize(getTensorType()); }

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, zyx::DType dtype,
                                 ArrayRef<int64_t> shape) {
  auto size = zyx::byteSize(zyx::TensorType{dtype, zyx::Shape(shape.begin(), shape.end())});
  if (!size.isOk())
    return emitError() << size.status().message();
  return success();
}
