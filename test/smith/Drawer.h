//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_SMITH_DRAWER_H
#define ZYX_TEST_SMITH_DRAWER_H

#include "conformance/Builder.h"

#include <optional>
#include <span>
#include <vector>

/// Random graphs: the same one for the same seed on every machine.
namespace zyx::smith {

using conformance::Builder;
using conformance::Program;
using conformance::Random;
using graph::BinaryKind;
using graph::NodeId;
using graph::ReduceKind;
using graph::UnaryKind;

/// What graphs are drawn from.
struct Profile {
  /// One that occurs twice is drawn twice as often.
  std::vector<DType> dtypes;
  /// Of inputs. Few ones make shapes agree often.
  std::vector<int64_t> extents;
  /// Of one tensor; a few ops may double it.
  int64_t maxElements;
  int64_t minSteps, maxSteps;
  /// How likely an input has no elements.
  double emptyInputs;

  /// Every dtype, and extents around the widths of vectors and tiles.
  static Profile mixed();
  /// Integers and small extents: every device must answer with the same bits.
  static Profile integers();
};

/// Draws a graph: a pool of nodes, to which each step adds one that uses some of them.
class Drawer {
public:
  Drawer(Builder &builder, uint64_t seed, const Profile &profile) : b(builder), random(seed), profile(profile) {}
  /// Inputs, steps, and which nodes are outputs.
  std::vector<NodeId> draw();

  TensorType type(NodeId x) const { return b.type(x); }
  Shape shape(NodeId x) const { return b.type(x).shape; }
  int64_t rank(NodeId x) const { return static_cast<int64_t>(b.type(x).shape.size()); }
  bool isEmpty(NodeId x) const { return *numElements(b.type(x).shape) == 0; }
  /// Whether a tensor of that shape is small enough to go on with.
  bool fits(const Shape &shape) const;

  template <typename T> const T &oneOf(std::span<const T> choices) {
    return choices[static_cast<size_t>(random.below(static_cast<int64_t>(choices.size())))];
  }
  template <typename T> T oneOf(std::initializer_list<T> choices) {
    return oneOf(std::span<const T>(choices.begin(), choices.size()));
  }
  /// One of the dimensions of x, which has some.
  int64_t drawDim(NodeId x) { return random.below(rank(x)); }
  DType drawDType() { return oneOf(std::span<const DType>(profile.dtypes)); }
  Shape drawShape();
  NodeId drawInput(DType dtype, Shape shape);
  /// A node of exactly this type: one that exists, a new input, or a repeated smaller one.
  NodeId partner(const TensorType &type);
  /// Any node, recent ones more often, which makes chains.
  NodeId anyNode();
  /// x, cast where its dtype has no arithmetic (f8).
  NodeId arithmetic(NodeId x);
  /// x, cast where its dtype is bool or has no arithmetic.
  NodeId computable(NodeId x);
  /// A node that later steps and outputs may use, beside the one that a step returns.
  void keep(NodeId x) { pool.push_back(x); }

  Builder &b;
  Random random;
  const Profile &profile;

private:
  std::vector<NodeId> pool;
};

/// One kind of step. To draw a new op, add an entry to one of the tables below: everything that
/// draws graphs uses it.
struct Production {
  const char *name;
  /// How often it is tried, relative to the others.
  int weight;
  /// A new node made of x and others; nothing where x does not fit.
  std::optional<NodeId> (*draw)(Drawer &drawer, NodeId x);
};
/// Unary, binary, select, cast, constants.
std::span<const Production> elementwiseProductions();
/// What only moves elements.
std::span<const Production> viewProductions();
/// What combines elements, or chooses them by an index.
std::span<const Production> combiningProductions();
/// Patterns that the compiler looks for: softmax, products, chains of views; and loops.
std::span<const Production> patternProductions();

/// The graph of a seed, with the tensors of its inputs; it verifies.
Program drawProgram(uint64_t seed, const Profile &profile);

} // namespace zyx::smith

#endif // ZYX_TEST_SMITH_DRAWER_H
