//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_STRICT_LINES_H
#define ZYX_DIALECT_STRICT_LINES_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

namespace zyx {

/// A text of several lines as a list of strings, which MLIR holds in one line each: ["a", "b"] is "a\nb".
inline mlir::ParseResult parseLines(mlir::AsmParser &parser, mlir::StringAttr &text) {
  std::string joined;
  bool isFirst = true;
  auto parseOne = [&]() -> mlir::ParseResult {
    std::string line;
    if (parser.parseString(&line))
      return mlir::failure();
    joined += isFirst ? line : "\n" + line;
    isFirst = false;
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, parseOne))
    return mlir::failure();
  text = mlir::StringAttr::get(parser.getContext(), joined);
  return mlir::success();
}

inline void printLines(mlir::AsmPrinter &printer, mlir::StringAttr text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.getValue().split(lines, '\n');
  printer << '[';
  llvm::interleaveComma(lines, printer, [&](llvm::StringRef line) { printer.printString(line); });
  printer << ']';
}

} // namespace zyx

#endif // ZYX_DIALECT_STRICT_LINES_H
