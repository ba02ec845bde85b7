//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Dialect/Strict/Lines.h"

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

//===----------------------------------------------------------------------===//
// Implementations of custom ops
//===----------------------------------------------------------------------===//

// <c "entry" for "cpu" : (types) -> types groups 8 threads 128 shared 0 text ["line", ...]>
Attribute ImplementationAttr::parse(AsmParser &parser, Type) {
  const llvm::SMLoc place = parser.getCurrentLocation();
  StringRef keyword;
  // A string attribute would take the types for its own.
  std::string entry, target;
  StringAttr text;
  FunctionType types;
  int64_t groups = 1, threads = 1, shared = 0;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  const std::optional<zyx::graph::Language> language = zyx::graph::parseLanguage({keyword.data(), keyword.size()});
  if (!language) {
    parser.emitError(place) << "there is no language '" << keyword << "'; there are kernel, c and ptx";
    return {};
  }
  if (parser.parseString(&entry) || parser.parseKeyword("for") || parser.parseString(&target) || parser.parseColon() ||
      parser.parseType(types))
    return {};
  auto parseNumber = [&](StringRef name, int64_t &number) {
    return failed(parser.parseOptionalKeyword(name)) ? ParseResult(success()) : parser.parseInteger(number);
  };
  if (parseNumber("groups", groups) || parseNumber("threads", threads) || parseNumber("shared", shared) ||
      parser.parseKeyword("text") || zyx::parseLines(parser, text) || parser.parseGreater())
    return {};
  MLIRContext *context = parser.getContext();
  return get(context, *language, StringAttr::get(context, entry), StringAttr::get(context, target), types, groups,
             threads, shared, text);
}

void ImplementationAttr::print(AsmPrinter &printer) const {
  const std::string_view language = zyx::graph::toString(getLanguage());
  printer << '<' << StringRef(language.data(), language.size()) << ' ' << getEntry() << " for " << getTarget() << " : "
          << getTypes();
  if (getGroups() != 1)
    printer << " groups " << getGroups();
  if (getThreads() != 1)
    printer << " threads " << getThreads();
  if (getShared() != 0)
    printer << " shared " << getShared();
  printer << " text ";
  zyx::printLines(printer, getText());
  printer << '>';
}

zyx::Result<zyx::graph::Implementation> zyx::graph::ir::toPlainImplementation(ImplementationAttr implementation) {
  Implementation plain;
  plain.language = implementation.getLanguage();
  plain.target = implementation.getTarget().str();
  plain.entry = implementation.getEntry().str();
  plain.text = implementation.getText().str();
  plain.groups = implementation.getGroups();
  plain.threads = implementation.getThreads();
  plain.sharedBytes = implementation.getShared();
  auto add = [](ArrayRef<Type> types, std::vector<zyx::TensorType> &to) -> Status {
    for (Type type : types) {
      ZYX_ASSIGN_OR_RETURN(zyx::TensorType own, toPlainType(type));
      to.push_back(std::move(own));
    }
    return Status::ok();
  };
  ZYX_RETURN_IF_ERROR(add(implementation.getTypes().getInputs(), plain.operands));
  ZYX_RETURN_IF_ERROR(add(implementation.getTypes().getResults(), plain.results));
  return plain;
}

ImplementationAttr zyx::graph::ir::toImplementationAttr(const Implementation &implementation, MLIRContext *context) {
  auto types = [&](const std::vector<zyx::TensorType> &from) {
    return llvm::map_to_vector(from, [&](const zyx::TensorType &type) -> Type { return toTensorType(type, context); });
  };
  auto text = [&](const std::string &from) { return StringAttr::get(context, from); };
  return ImplementationAttr::get(
      context, implementation.language, text(implementation.entry), text(implementation.target),
      FunctionType::get(context, types(implementation.operands), types(implementation.results)), implementation.groups,
      implementation.threads, implementation.sharedBytes, text(implementation.text));
}
