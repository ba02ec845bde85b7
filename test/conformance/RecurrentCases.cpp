//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Loops whose trips multiply what they carry by weights, and their gradients.
//===----------------------------------------------------------------------===//
#include "Builder.h"

namespace zyx::conformance {

using Nodes = std::vector<NodeId>;
using Inputs = std::span<const NodeId>;

namespace {

enum class Cell { Rnn, Gru, Lstm };

struct Network {
  Cell cell;
  DType dtype;
  int64_t trips, batch, hidden;

  int64_t pieces() const { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }
};

} // namespace

/// Columns of one piece.
static NodeId piece(Builder &s, const Network &net, NodeId all, int64_t i) {
  const int64_t behind = net.pieces() - 1 - i;
  return s.pad(all, s.splat(net.dtype, {}, 0), {0, -i * net.hidden}, {0, -behind * net.hidden}, {0, 0});
}

static NodeId sigmoid(Builder &s, NodeId x) {
  return s.div(s.like(x, 1), s.add(s.like(x, 1), s.unary(UnaryKind::Exp, s.unary(UnaryKind::Neg, x))));
}

static NodeId tanh(Builder &s, NodeId x) { return s.unary(UnaryKind::Tanh, x); }

/// What is carried next, the hidden state first.
static Nodes step(Builder &s, const Network &net, NodeId given, NodeId fed, Inputs states) {
  const auto both = [&](int64_t i) { return s.add(piece(s, net, given, i), piece(s, net, fed, i)); };
  if (net.cell == Cell::Rnn)
    return {tanh(s, s.add(given, fed))};
  if (net.cell == Cell::Gru) {
    const NodeId r = sigmoid(s, both(0)), z = sigmoid(s, both(1));
    const NodeId n = tanh(s, s.add(piece(s, net, given, 2), s.mul(r, piece(s, net, fed, 2))));
    return {s.add(s.mul(s.sub(s.like(z, 1), z), n), s.mul(z, states[0]))};
  }
  const NodeId c = s.add(s.mul(sigmoid(s, both(1)), states[1]), s.mul(sigmoid(s, both(0)), tanh(s, both(2))));
  return {s.mul(sigmoid(s, both(3)), tanh(s, c)), c};
}

/// The hidden states of all trips and the last ones; with `gradients`, those of inputs and weights instead of these.
static Nodes run(Builder &b, const Network &net, bool gradients) {
  const int64_t width = net.pieces() * net.hidden;
  const NodeId x = b.x(net.dtype, {net.trips, net.batch, width}), h = b.x(net.dtype, {net.batch, net.hidden});
  const NodeId w = b.x(net.dtype, {width, net.hidden}), bias = b.x(net.dtype, {width});
  // Values of a step stay near those of the one before.
  const NodeId weights = b.mul(w, b.like(w, 0.25 / static_cast<double>(net.hidden)));
  Nodes initial(net.cell == Cell::Lstm ? 2 : 1, h);
  initial.push_back(b.splat(net.dtype, {net.trips, net.batch, net.hidden}, 0));
  const auto body = [=](Builder &s, Inputs in) {
    const size_t numStates = in.size() - 5;
    const NodeId index = in[0], rows = in[numStates + 1], xs = in[numStates + 2];
    NodeId fed = s.matmul(in[1], s.permute(in[numStates + 3], {1, 0}), accumulatorType(net.dtype));
    if (s.type(fed).dtype != net.dtype)
      fed = s.cast(fed, net.dtype);
    fed = s.add(fed, s.along(in[numStates + 4], {net.batch, width}, 1));
    Nodes next = step(s, net, s.gather(xs, index, 0), fed, in.subspan(1, numStates));
    next.push_back(s.scatter(graph::ScatterKind::Set, rows, index, next[0], 0));
    return next;
  };
  const Nodes made = b.loop(net.trips, initial, {x, weights, bias}, body);
  return gradients ? differentiate(b, made.back(), {x, w, bias, h}) : made;
}

void addRecurrentCases(std::vector<Case> &cases) {
  struct Size {
    int64_t trips, batch, hidden;
  };
  static constexpr std::pair<Cell, const char *> cells[] = {
      {Cell::Rnn, "rnn"}, {Cell::Gru, "gru"}, {Cell::Lstm, "lstm"}};
  for (DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (auto [cell, name] : cells)
      for (const Size &size : {Size{3, 1, 5}, Size{4, 3, 16}, Size{5, 37, 24}, Size{2, 5, 130}}) {
        const Network net{cell, dtype, size.trips, size.batch, size.hidden};
        const std::string what = "loop.recurrent." + std::string(name) + "." + std::string(toString(dtype)) + "." +
                                 std::to_string(size.trips) + "x" + std::to_string(size.batch) + "x" +
                                 std::to_string(size.hidden);
        cases.push_back({what, [=](Builder &b) { return run(b, net, false); }});
        cases.push_back({what + ".gradient", [=](Builder &b) { return run(b, net, true); }});
      }
  // Two layers in one loop: the second one multiplies what the first one has just made.
  cases.push_back({"loop.recurrent.layers", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {5, 3, 24}), w = b.x(DType::F32, {24, 24}),
                                  v = b.x(DType::F32, {24, 24}), h = b.x(DType::F32, {3, 24});
                     const auto small = [&](NodeId all) { return b.mul(all, b.like(all, 0.0078125)); };
                     return b.loop(5, {h, h}, {x, small(w), small(v)}, [=](Builder &s, Inputs in) {
                       const NodeId fed = s.matmul(in[1], in[4], DType::F32);
                       const NodeId first = tanh(s, s.add(fed, s.gather(in[3], in[0], 0)));
                       const NodeId second =
                           s.add(s.matmul(first, in[5], DType::F32), s.matmul(in[2], in[4], DType::F32));
                       return Nodes{first, tanh(s, second)};
                     });
                   }});
  // Weights that are constants: the kernel has those of one element, and reads the others through a view of them.
  for (bool isSplat : {true, false})
    cases.push_back({std::string("loop.recurrent.constant") + (isSplat ? ".splat" : ""), [=](Builder &b) {
                       std::vector<double> values;
                       for (int64_t i = 0; i < 64; ++i)
                         values.push_back(isSplat ? 0.0625 : static_cast<double>(i % 7 - 3) / 32);
                       const NodeId weights = b.constant(makeTensor(DType::F32, {64}, values));
                       const NodeId x = b.x(DType::F32, {5, 3, 8}), h = b.x(DType::F32, {3, 8});
                       return b.loop(5, {h}, {x, b.reshape(weights, {8, 8})}, [](Builder &s, Inputs in) {
                         const NodeId fed = s.matmul(in[1], in[3], DType::F32);
                         return Nodes{tanh(s, s.add(fed, s.gather(in[2], in[0], 0)))};
                       });
                     }});
  // A row of the batch reads another one: no cluster has all that it needs.
  cases.push_back({"loop.recurrent.mixed", [](Builder &b) {
                     const NodeId w = b.x(DType::F32, {16, 16}), h = b.x(DType::F32, {4, 16});
                     return b.loop(4, {h}, {b.mul(w, b.like(w, 0.015625))}, [](Builder &s, Inputs in) {
                       return Nodes{tanh(s, s.matmul(s.flip(in[1], {0}), in[2], DType::F32))};
                     });
                   }});
}

} // namespace zyx::conformance
