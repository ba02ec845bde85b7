//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_BUILDER_H
#define ZYX_TEST_CONFORMANCE_BUILDER_H

#include "Values.h"
#include "zyx/Graph/UnaryKind.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zyx::conformance {

using graph::BinaryKind;
using graph::NodeId;
using graph::ReduceKind;
using graph::UnaryKind;

/// A graph and the tensors of its inputs. Several cases can be built into one program.
struct Program {
  graph::Graph graph;
  std::vector<HostTensor> tensors;
};

/// Builds one case into a program. What the graph refuses is a mistake of the suite and ends the
/// process.
class Builder {
public:
  Builder(Program &program, std::string name) : program(program), name(std::move(name)) {}

  graph::Graph &graph() { return program.graph; }
  /// By value: the arena grows.
  TensorType type(NodeId x) const { return program.graph.node(x).type; }

  NodeId input(HostTensor value);
  /// A random input: `moderate` or `nearOne`.
  NodeId x(DType dtype, Shape shape);
  NodeId one(DType dtype, Shape shape);
  NodeId constant(HostTensor value);
  NodeId splat(DType dtype, Shape shape, double value);

  NodeId reshape(NodeId x, Shape shape) { return take(graph().reshape(x, std::move(shape))); }
  NodeId expand(NodeId x, Shape shape) { return take(graph().expand(x, std::move(shape))); }
  NodeId permute(NodeId x, std::vector<int64_t> o) { return take(graph().permute(x, std::move(o))); }
  NodeId reduce(ReduceKind kind, NodeId x, std::vector<int64_t> dims) {
    return take(graph().reduce(kind, x, std::move(dims)));
  }
  NodeId cast(NodeId x, DType dtype) { return take(graph().cast(x, dtype)); }
  NodeId unary(UnaryKind kind, NodeId x) { return take(graph().unary(kind, x)); }
  NodeId binary(BinaryKind kind, NodeId a, NodeId b) { return take(graph().binary(kind, a, b)); }
  NodeId select(NodeId c, NodeId a, NodeId b) { return take(graph().select(c, a, b)); }
  NodeId iota(TensorType type, int64_t dim) { return take(graph().iota(std::move(type), dim)); }
  NodeId gather(NodeId x, NodeId i, int64_t dim) { return take(graph().gather(x, i, dim)); }

  /// A body of inputs of these types; `build` gets a builder of it and its inputs.
  using BuildBody = std::function<std::vector<NodeId>(Builder &, std::span<const NodeId>)>;
  graph::Body body(const std::vector<TensorType> &types, const BuildBody &build) const;
  /// A loop whose body gets the index, then what is carried, then the invariants. Where `count` is
  /// given it is the number of trips.
  std::vector<NodeId> loop(int64_t trips, const std::vector<NodeId> &initial, const std::vector<NodeId> &invariants,
                           const BuildBody &build, std::optional<NodeId> count = std::nullopt);
  std::vector<NodeId> custom(std::string name, const std::vector<NodeId> &operands, const BuildBody &build);
  /// The results of a body on these arguments.
  std::vector<NodeId> inlined(const graph::Body &body, const std::vector<NodeId> &arguments) {
    return take(graph().inlineBody(body, arguments));
  }
  NodeId scan(ReduceKind kind, NodeId x, int64_t dim, bool exclusive = false, bool reverse = false) {
    return take(graph().scan(kind, x, dim, exclusive, reverse));
  }
  NodeId sort(graph::SortKind kind, NodeId x, int64_t dim, bool descending = false) {
    return take(graph().sort(kind, x, dim, descending));
  }
  NodeId scatter(graph::ScatterKind kind, NodeId x, NodeId i, NodeId updates, int64_t dim) {
    return take(graph().scatter(kind, x, i, updates, dim));
  }
  NodeId randomBits(NodeId seed, Shape shape) { return take(graph().randomBits(seed, std::move(shape))); }

  NodeId flip(NodeId x, std::vector<int64_t> dims) { return take(graph().flip(x, std::move(dims))); }
  NodeId pad(NodeId x, NodeId fill, std::vector<int64_t> low, std::vector<int64_t> high,
             std::vector<int64_t> interior) {
    return take(graph().pad(x, fill, std::move(low), std::move(high), std::move(interior)));
  }
  NodeId window(NodeId x, std::vector<int64_t> dims, std::vector<int64_t> size, std::vector<int64_t> stride,
                std::vector<int64_t> dilation) {
    return take(graph().window(x, std::move(dims), std::move(size), std::move(stride), std::move(dilation)));
  }
  NodeId concat(const std::vector<NodeId> &parts, int64_t dim) { return take(graph().concat(parts, dim)); }
  NodeId bitcast(NodeId x, DType dtype) { return take(graph().bitcast(x, dtype)); }
  NodeId transfer(NodeId x, std::string device) { return take(graph().transfer(x, std::move(device))); }

  NodeId add(NodeId a, NodeId b) { return binary(BinaryKind::Add, a, b); }
  NodeId sub(NodeId a, NodeId b) { return binary(BinaryKind::Sub, a, b); }
  NodeId mul(NodeId a, NodeId b) { return binary(BinaryKind::Mul, a, b); }
  NodeId div(NodeId a, NodeId b) { return binary(BinaryKind::Div, a, b); }

  /// A splat of the shape of x.
  NodeId like(NodeId x, double value) { return splat(type(x).dtype, type(x).shape, value); }
  /// The result of a reduce over one dimension, repeated along it again.
  NodeId back(NodeId reduced, int64_t dim, int64_t extent);
  /// A vector along one dimension of a shape.
  NodeId along(NodeId vector, Shape shape, int64_t dim);
  /// sum_k a[m, k] b[k, n], cast to the accumulator type before the multiply; dimensions before
  /// the last two are a batch.
  NodeId matmul(NodeId a, NodeId b, DType accumulator);

  /// What the terms of a result add up to without their signs: a case's tolerance is relative to it, element by
  /// element, as what rounding its factors can do is.
  void setSize(NodeId result, NodeId size) { sizes[result] = size; }
  std::optional<NodeId> sizeOf(NodeId result) const {
    const auto found = sizes.find(result);
    return found != sizes.end() ? std::optional(found->second) : std::nullopt;
  }

  Random random{1};

private:
  template <typename T> T take(Result<T> result) const {
    if (!result.isOk())
      refuse(result.status());
    return *result;
  }
  [[noreturn]] void refuse(const Status &status) const;
  Program &program;
  std::string name;
  std::map<NodeId, NodeId> sizes;
  int numInputs = 0;
};

/// Nodes of the gradients of y with respect to some nodes, for random gradients of y.
std::vector<NodeId> differentiate(Builder &b, NodeId y, const std::vector<NodeId> &sources);

struct Case {
  /// "binary.add.i8": op, kind, dtype, variant.
  std::string name;
  /// Builds the outputs.
  std::function<std::vector<NodeId>(Builder &)> build;
  /// Where a bound is not finite, NaN and infinities must still be the reference's. Not so in
  /// random graphs, where the order of a sum may decide whether it overflows.
  bool strict = true;
  /// What a device that draws schedules draws them from.
  uint64_t seed = 1;
  /// How far an answer may be from the reference's, relative to the size of its terms where the case gives it, else to
  /// the largest finite answer of its output; NaN and infinities must be the same. 0 where a bound is computed.
  double tolerance = 0;
  /// Whether it runs on cards alone: the others would take seconds.
  bool isLarge = false;
};

void addElementwiseCases(std::vector<Case> &cases);
void addViewCases(std::vector<Case> &cases);
void addReduceCases(std::vector<Case> &cases);
void addMovementCases(std::vector<Case> &cases);
void addIndexCases(std::vector<Case> &cases);
void addFoldCases(std::vector<Case> &cases);
void addBodyCases(std::vector<Case> &cases);
void addRecurrentCases(std::vector<Case> &cases);
void addOrderCases(std::vector<Case> &cases);
void addProductCases(std::vector<Case> &cases);
void addConvolutionCases(std::vector<Case> &cases);
void addAttentionCases(std::vector<Case> &cases);
void addMaskCases(std::vector<Case> &cases);
void addCompositionCases(std::vector<Case> &cases);

/// The name of a node's kind; empty where its op has none.
std::string_view kindOf(const graph::Node &node);
/// The nodes that outputs need, one line each.
std::string printGraph(const graph::Graph &graph);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_BUILDER_H
