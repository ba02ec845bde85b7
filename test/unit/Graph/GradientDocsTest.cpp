//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/UnaryKind.h"

#include "../TestFiles.h"

#include <map>
#include <sstream>

using namespace zyx;
using namespace zyx::graph;

/// How often each name stands in the first column of the page's tables.
static std::map<std::string, int> rows() {
  std::map<std::string, int> names;
  std::istringstream page(readBytes(ZYX_DOCS "/gradients.md"));
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `", 0) != 0)
      continue;
    const std::string cell = line.substr(0, line.find('|', 1));
    for (size_t begin = cell.find('`'); begin != std::string::npos; begin = cell.find('`', begin)) {
      const size_t end = cell.find('`', begin + 1);
      ++names[cell.substr(begin + 1, end - begin - 1)];
      begin = end + 1;
    }
  }
  return names;
}

TEST(GradientDocsTest, ThePageHasARowForEachOpAndKind) {
  std::map<std::string, int> expected;
  const auto family = [&](Op op, std::string_view kind) {
    expected.erase(std::string(toString(op)));
    expected[std::string(toString(op)) + " " + std::string(kind)] = 1;
  };
#define ZYX_GRAPH_OP(Name, name, arity, number) expected[#name] = 1;
#include "zyx/Graph/GraphOps.inc"
#define ZYX_GRAPH_UNARY(Name, name) family(Op::Unary, #name);
#include "zyx/Graph/UnaryKinds.inc"
#define ZYX_GRAPH_BINARY(Name, name) family(Op::Binary, #name);
#define ZYX_GRAPH_REDUCE(Name, name) family(Op::Reduce, #name), family(Op::Scan, #name);
#define ZYX_GRAPH_SCATTER(Name, name) family(Op::Scatter, #name);
#define ZYX_GRAPH_SORT(Name, name) family(Op::Sort, #name);
#include "zyx/Graph/GraphOps.inc"
  EXPECT_EQ(rows(), expected);
}
