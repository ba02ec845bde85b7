//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Coverage.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

namespace zyx::conformance {

using graph::Attributes;
using graph::Node;
using graph::Op;

/// The row of a node.
static std::string rowOf(const Node &node) {
  std::string row(toString(node.op));
  if (const std::string_view kind = kindOf(node); !kind.empty())
    row += " " + std::string(kind);
  return row;
}

namespace {
struct Row {
  std::string name;
  Op op;
  uint8_t kind;
};
} // namespace

/// Every row that GraphOps.inc and UnaryKinds.inc have, in its order.
static const std::vector<Row> &rows() {
  static const std::vector<Row> all = [] {
    static constexpr std::pair<const char *, Op> ops[] = {
#define ZYX_GRAPH_OP(Name, name, ...) {#name, Op::Name},
#include "zyx/Graph/GraphOps.inc"
    };
    static constexpr std::pair<std::string_view, const char *> kinds[] = {
#define ZYX_GRAPH_BINARY(Name, name) {"binary", #name},
#define ZYX_GRAPH_REDUCE(Name, name) {"reduce", #name},
#define ZYX_GRAPH_SORT(Name, name) {"sort", #name},
#define ZYX_GRAPH_SCATTER(Name, name) {"scatter", #name},
#include "zyx/Graph/GraphOps.inc"
#define ZYX_GRAPH_UNARY(Name, name) {"unary", #name},
#include "zyx/Graph/UnaryKinds.inc"
    };
    std::vector<Row> result;
    for (const auto &[name, op] : ops) {
      uint8_t kind = 0;
      for (const auto &[of, kindName] : kinds)
        if (of == name)
          result.push_back({std::string(name) + " " + kindName, op, kind++});
      if (kind == 0)
        result.push_back({name, op, 0});
    }
    return result;
  }();
  return all;
}

/// What a node works on: its first operand, unless the result says more.
static DType dtypeOf(const graph::Graph &graph, const Node &node) {
  if (node.operands.empty() || node.op == Op::Select)
    return node.type.dtype;
  return graph.node(node.operands[0]).type.dtype;
}

namespace {

/// One cell of the table: an op with its kind ("unary exp", "gather") and the dtype it works on.
using Subject = std::pair<std::string, DType>;

/// What a case proves something about. A case that is named after an op is about the nodes of that
/// op; where it fails, they are to blame. Any other (views, compositions, random graphs) is about
/// all its nodes, and none of them is to blame.
struct Subjects {
  std::set<Subject> cells;
  bool own = false;
};

} // namespace

static Subjects subjectsOf(const Case &one) {
  Program program;
  Builder builder(program, one.name);
  for (NodeId output : one.build(builder))
    program.graph.outputs.push_back({std::to_string(program.graph.outputs.size()), output});
  const std::string first = one.name.substr(0, one.name.find('.'));
  Subjects all, own;
  own.own = true;
  for (NodeId id : program.graph.reachable()) {
    const Node &node = program.graph.node(id);
    const Subject cell{rowOf(node), dtypeOf(program.graph, node)};
    all.cells.insert(cell);
    if (toString(node.op) == first)
      own.cells.insert(cell);
  }
  return own.cells.empty() ? all : own;
}

/// A node of the op that inference can be asked about.
struct Probe {
  Attributes attributes;
  std::vector<TensorType> operands;
};

static std::optional<Probe> probe(Op op, DType dtype) {
  const TensorType x{dtype, {2}};
  Probe p;
  switch (op) {
  case Op::Constant:
    p.attributes.splat = true;
    p.attributes.value.resize(static_cast<size_t>(byteSize(dtype)));
    return p;
  case Op::Parameter:
    p.attributes.name = "x";
    return p;
  case Op::Iota:
    p.attributes.dims = {0};
    return p;
  case Op::Reshape:
  case Op::Expand:
  case Op::Cast:
  case Op::Bitcast:
  case Op::Unary:
    p.operands = {x};
    return p;
  case Op::Permute:
  case Op::Flip:
  case Op::Concat:
  case Op::Reduce:
  case Op::Scan:
  case Op::Sort:
    p.attributes.dims = {0};
    p.operands = {x};
    return p;
  case Op::Binary:
    p.operands = {x, x};
    return p;
  case Op::Select:
    p.operands = {{DType::Bool, {2}}, x, x};
    return p;
  case Op::Gather:
    p.attributes.dims = {0};
    p.operands = {x, {DType::I32, {2}}};
    return p;
  case Op::Scatter:
    p.attributes.dims = {0};
    p.operands = {x, {DType::I32, {2}}, x};
    return p;
  case Op::Pad:
    p.attributes.low = p.attributes.high = p.attributes.interior = {0};
    p.operands = {x, {dtype, {}}};
    return p;
  case Op::Window:
    p.attributes.dims = {0};
    p.attributes.size = p.attributes.stride = p.attributes.dilation = {1};
    p.operands = {x};
    return p;
  case Op::Transfer:
    p.attributes.name = "cpu";
    p.operands = {x};
    return p;
  default:
    return std::nullopt;
  }
}

/// The dtypes with which inference accepts the op of a row; none where there is no probe for the
/// op, whose cases alone say it then.
static std::vector<DType> acceptedDTypes(const Row &row) {
  std::vector<DType> accepted;
  for (DType dtype : allDTypes) {
    std::optional<Probe> p = probe(row.op, dtype);
    if (!p)
      continue;
    p->attributes.kind = row.kind;
    const std::span<const TensorType> operands(p->operands);
    if (inferType(row.op, p->attributes, operands, {dtype, {2}}).isOk())
      accepted.push_back(dtype);
  }
  return accepted;
}

std::string missingCases(const std::vector<Case> &cases) {
  std::set<Subject> covered;
  std::set<std::string> reached;
  for (const Case &one : cases)
    if (!one.name.starts_with("random.")) {
      const Subjects subjects = subjectsOf(one);
      covered.insert(subjects.cells.begin(), subjects.cells.end());
    }
  for (const Subject &cell : covered)
    reached.insert(cell.first);
  std::string text;
  for (const Row &row : rows()) {
    if (!reached.contains(row.name))
      text += row.name + "\n";
    else
      for (DType dtype : acceptedDTypes(row))
        if (!covered.contains({row.name, dtype}))
          text += row.name + " of " + std::string(toString(dtype)) + "\n";
  }
  return text;
}

bool writeReport(const std::string &path, const std::vector<Case> &cases, const std::vector<Verdict> &verdicts) {
  std::ofstream file(path);
  for (const Row &row : rows()) {
    file << "row\t" << row.name << "\t";
    for (DType dtype : acceptedDTypes(row))
      file << toString(dtype) << " ";
    file << "\n";
  }
  for (const Verdict &verdict : verdicts) {
    const Subjects subjects = subjectsOf(cases[verdict.index]);
    file << "case\t" << cases[verdict.index].name << "\t" << static_cast<char>(verdict.outcome) << "\t"
         << (subjects.own ? "own" : "shared") << "\t";
    for (const auto &[row, dtype] : subjects.cells)
      file << row << "/" << toString(dtype) << ";";
    file << "\t";
    for (const auto &[function, ulps] : verdict.ulps)
      file << function << " " << ulps << ";";
    std::string line = verdict.text.substr(0, verdict.text.find('\n'));
    std::replace(line.begin(), line.end(), '\t', ' ');
    file << "\t" << line << "\n";
  }
  file.close();
  return file.good();
}

} // namespace zyx::conformance
