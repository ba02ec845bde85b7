//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zyx::graph::ir;

static_assert(zyx::symbolicExtent == ShapedType::kDynamic, "shapes of plain types are shapes of tensor types");

#define GET_ATTRDEF_CLASSES
#include "zyx/Dialect/Graph/IR/GraphAttrs.cpp.inc"

void GraphDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "zyx/Dialect/Graph/IR/GraphAttrs.cpp.inc"
      >();
}

/// Each extent in the one order in which it is printed, so that equal ones are one attribute.
Attribute ExtentsAttr::parse(AsmParser &parser, Type) {
  const llvm::SMLoc place = parser.getCurrentLocation();
  SmallVector<StringAttr> texts;
  auto parseOne = [&]() -> ParseResult {
    StringAttr &text = texts.emplace_back();
    if (parser.parseAttribute(text))
      return failure();
    if (zyx::Result<zyx::Extent> extent = zyx::Extent::parse({text.data(), text.size()}))
      text = StringAttr::get(parser.getContext(), extent->toString());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  return parser.getChecked<ExtentsAttr>(place, parser.getContext(), texts);
}

void ExtentsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getTexts(), printer);
  printer << '>';
}

LogicalResult ExtentsAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> texts) {
  for (StringAttr text : texts) {
    zyx::Result<zyx::Extent> extent = zyx::Extent::parse({text.data(), text.size()});
    if (!extent)
      return emitError() << extent.status().message();
  }
  return success();
}

LogicalResult ExtentsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                          function_ref<InFlightDiagnostic()> emitError) const {
  if (getTexts().size() != shape.size())
    return emitError() << getTexts().size() << " extents for a tensor of rank " << shape.size();
  bool isSymbolic = false;
  for (auto [text, size] : llvm::zip_equal(getTexts(), shape)) {
    std::optional<int64_t> constant = zyx::Extent::parse({text.data(), text.size()})->constant();
    isSymbolic |= !constant;
    if (constant.value_or(ShapedType::kDynamic) != size)
      return emitError() << "the extent '" << text.getValue() << "' stands for "
                         << (ShapedType::isDynamic(size) ? "?" : Twine(size).str());
  }
  if (!isSymbolic)
    return emitError() << "extents without a symbol are written in the shape";
  return success();
}
