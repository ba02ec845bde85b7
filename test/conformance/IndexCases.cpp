//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include <limits>

namespace zyx::conformance {

static std::string named(const char *what, DType dtype) {
  return std::string(what) + "." + std::string(toString(dtype));
}

static void addIota(std::vector<Case> &cases, DType dtype) {
  if (dtype == DType::Bool || isStorageOnly(dtype))
    return;
  cases.push_back({named("iota", dtype), [=](Builder &b) {
                     return std::vector<NodeId>{b.iota({dtype, {100}}, 0),   b.iota({dtype, {7, 33}}, 0),
                                                b.iota({dtype, {7, 33}}, 1), b.iota({dtype, {3, 5, 7}}, 1),
                                                b.iota({dtype, {0}}, 0),     b.iota({dtype, {1}}, 0)};
                   }});
  cases.push_back({named("iota.reshaped", dtype), [=](Builder &b) {
                     const NodeId i = b.iota({dtype, {77}}, 0);
                     const NodeId grid = b.reshape(i, {7, 11});
                     const NodeId flat = b.reshape(b.iota({dtype, {16, 17}}, 1), {272});
                     return std::vector<NodeId>{grid,        b.add(grid, grid),
                                                flat,        b.mul(flat, flat),
                                                b.mul(i, i), b.reduce(ReduceKind::Max, grid, {1})};
                   }});
  cases.push_back({named("iota.computed", dtype), [=](Builder &b) {
                     const NodeId i = b.iota({dtype, {17, 33}}, 1);
                     const NodeId t = b.permute(i, {1, 0});
                     return std::vector<NodeId>{b.mul(i, i), b.cast(t, DType::F32),
                                                b.binary(BinaryKind::Eq, i, b.like(i, 5))};
                   }});
}

/// Indices of every integer dtype: in range, at the edge, beyond it, negative, extreme.
static void addGatherIndices(std::vector<Case> &cases, DType index) {
  if (!isInteger(index))
    return;
  cases.push_back({named("gather.indices", index), [=](Builder &b) {
                     const NodeId x = b.x(DType::F32, {7, 5});
                     const NodeId big = b.x(DType::I32, {300, 3});
                     const NodeId all = b.input(specials(index));
                     const NodeId some = b.input(integers(index, {4, 3}, 0, 8, b.random));
                     return std::vector<NodeId>{b.gather(x, all, 0), b.gather(x, all, 1), b.gather(big, all, 0),
                                                b.gather(x, some, 0)};
                   }});
}

static void addGatherData(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("gather", dtype), [=](Builder &b) {
                     HostTensor values = specials(dtype);
                     const int64_t n = values.type.shape[0];
                     const NodeId x = b.input(std::move(values));
                     const NodeId i = b.input(integers(DType::I32, {100}, -2, n + 1, b.random));
                     return std::vector<NodeId>{b.gather(x, i, 0)};
                   }});
}

static void addGatherForms(std::vector<Case> &cases) {
  cases.push_back({"gather.forms", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {5, 7, 3});
                     const NodeId scalar = b.input(makeTensor(DType::I64, {}, {2}));
                     const NodeId none = b.x(DType::I32, {0});
                     const NodeId grid = b.input(integers(DType::U8, {2, 9}, 0, 7, b.random));
                     return std::vector<NodeId>{b.gather(x, scalar, 1), b.gather(x, none, 0), b.gather(x, grid, 0),
                                                b.gather(x, grid, 1), b.gather(x, grid, 2)};
                   }});
  cases.push_back({"gather.of-nothing", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {0, 3});
                     const NodeId i = b.input(integers(DType::I32, {4}, 0, 1, b.random));
                     return std::vector<NodeId>{b.gather(x, i, 0)};
                   }});
  cases.push_back({"gather.computed", [](Builder &b) {
                     // Both the data and the indices are computed; the result is computed with.
                     const NodeId x = b.x(DType::F32, {17, 33});
                     const NodeId doubled = b.add(x, x);
                     const NodeId i = b.iota({DType::I32, {20}}, 0);
                     const NodeId reversed = b.sub(b.like(i, 18), i);
                     const NodeId rows = b.gather(doubled, reversed, 0);
                     return std::vector<NodeId>{rows, b.unary(UnaryKind::Abs, rows),
                                                b.reduce(ReduceKind::Max, rows, {1})};
                   }});
  cases.push_back({"gather.views", [](Builder &b) {
                     const NodeId x = b.x(DType::I32, {6, 4, 5});
                     const NodeId i = b.input(integers(DType::I16, {3, 2}, -1, 6, b.random));
                     const NodeId flat = b.reshape(b.permute(x, {1, 0, 2}), {4, 30});
                     const NodeId it = b.permute(i, {1, 0});
                     const NodeId out = b.gather(flat, it, 1);
                     return std::vector<NodeId>{out, b.permute(out, {2, 0, 1}), b.reshape(out, {24})};
                   }});
  // Two layers whose matrices are chosen for each row, in either order of their memory; one of them is outside.
  for (DType dtype : {DType::F32, DType::BF16})
    for (const bool isTurned : {false, true})
      cases.push_back(
          {"gather.chosen-layers." + std::string(toString(dtype)) + (isTurned ? ".turned" : ""), [=](Builder &b) {
             const DType wide = accumulatorType(dtype);
             const NodeId at = b.input(integers(DType::I64, {3}, 0, 6, b.random));
             auto layer = [&](NodeId x, int64_t from, int64_t to) {
               NodeId w = b.gather(b.x(dtype, isTurned ? Shape{5, to, from} : Shape{5, from, to}), at, 0);
               if (isTurned)
                 w = b.permute(w, {0, 2, 1});
               const NodeId rows = b.expand(b.reshape(b.cast(x, wide), {3, from, 1}), {3, from, to});
               return b.reduce(ReduceKind::Add, b.mul(rows, b.cast(w, wide)), {1});
             };
             const NodeId hidden = layer(b.x(dtype, {3, 70}), 70, 90);
             return std::vector<NodeId>{layer(b.binary(BinaryKind::Max, hidden, b.like(hidden, 0)), 90, 50)};
           }});
  cases.push_back({"gather.one-hot", [](Builder &b) {
                     const NodeId labels = b.input(integers(DType::I32, {33}, -1, 10, b.random));
                     const NodeId classes = b.expand(b.reshape(b.iota({DType::I32, {10}}, 0), {1, 10}), {33, 10});
                     const NodeId wanted = b.expand(b.reshape(labels, {33, 1}), {33, 10});
                     const NodeId hot = b.binary(BinaryKind::Eq, classes, wanted);
                     return std::vector<NodeId>{hot, b.reduce(ReduceKind::Add, b.cast(hot, DType::I32), {0})};
                   }});
  // Rows, then columns, of images whose channels come last in memory are interpolated; results have channels first.
  for (DType dtype : {DType::F32, DType::BF16, DType::F64})
    for (const int64_t channels : {20, 70, 96})
      cases.push_back(
          {"gather.interpolated." + std::to_string(channels) + "." + std::string(toString(dtype)), [=](Builder &b) {
             const DType wide = accumulatorType(dtype);
             NodeId y = b.cast(b.permute(b.x(dtype, {2, 9, 7, channels}), {0, 3, 1, 2}), wide);
             for (const auto &[dim, extent] : {std::pair<int64_t, int64_t>{2, 18}, {3, 23}}) {
               const int64_t old = b.type(y).shape[static_cast<size_t>(dim)];
               const NodeId at = b.iota({DType::I64, {extent}}, 0);
               const NodeId low = b.binary(BinaryKind::Div, b.mul(at, b.like(at, static_cast<double>(old - 1))),
                                           b.like(at, static_cast<double>(extent)));
               // The last one is outside.
               const NodeId high = b.add(low, b.like(low, extent == 23 ? 2 : 1));
               const NodeId first = b.gather(y, low, dim), second = b.gather(y, high, dim);
               const NodeId weight = b.along(b.x(wide, {extent}), b.type(first).shape, dim);
               y = b.add(first, b.mul(weight, b.sub(second, first)));
             }
             return std::vector<NodeId>{b.cast(y, dtype)};
           }});
  // All places are known and exist: rows and columns are gathered at once where channels come last in memory. Nearest
  // and linear, one to three dimensions.
  for (DType dtype : {DType::F32, DType::BF16, DType::F64})
    for (const int64_t channels : {20, 70, 96})
      for (const int64_t dims : {2, 3})
        for (const bool isLinear : {false, true})
          cases.push_back({"gather.joined." + std::to_string(dims) + (isLinear ? ".linear." : ".nearest.") +
                               std::to_string(channels) + "." + std::string(toString(dtype)),
                           [=](Builder &b) {
                             const DType wide = accumulatorType(dtype);
                             const Shape shape = dims == 2 ? Shape{2, 9, 7, channels} : Shape{2, 4, 5, 6, channels};
                             const Shape large = dims == 2 ? Shape{18, 23} : Shape{7, 5, 12};
                             NodeId y = b.x(dtype, shape);
                             y = b.permute(y, dims == 2 ? Shape{0, 3, 1, 2} : Shape{0, 4, 1, 2, 3});
                             y = b.cast(y, wide);
                             for (int64_t each = 0; each < dims; ++each) {
                               const int64_t dim = 2 + each, extent = large[static_cast<size_t>(each)];
                               const int64_t old = b.type(y).shape[static_cast<size_t>(dim)];
                               const NodeId at = b.iota({DType::I64, {extent}}, 0);
                               const NodeId low = b.div(b.mul(at, b.like(at, static_cast<double>(old))),
                                                        b.like(at, static_cast<double>(extent)));
                               const NodeId first = b.gather(y, low, dim);
                               if (!isLinear) {
                                 y = first;
                                 continue;
                               }
                               const NodeId high = b.binary(BinaryKind::Min, b.add(low, b.like(low, 1)),
                                                            b.like(low, static_cast<double>(old - 1)));
                               const NodeId second = b.gather(y, high, dim);
                               const NodeId weight = b.along(b.x(wide, {extent}), b.type(first).shape, dim);
                               y = b.add(first, b.mul(weight, b.sub(second, first)));
                             }
                             return std::vector<NodeId>{b.cast(y, dtype)};
                           }});
  // Few elements of what is computed: of a row's log-softmax, and of what lies along several dimensions; outside, too.
  cases.push_back({"gather.of-computed", [](Builder &b) {
                     const NodeId x = b.x(DType::BF16, {9, 130}), y = b.x(DType::F32, {4, 3, 50});
                     const NodeId wide = b.cast(x, DType::F32);
                     auto spread = [&](NodeId row) { return b.expand(b.reshape(row, {9, 1}), {9, 130}); };
                     const NodeId d = b.sub(wide, spread(b.reduce(ReduceKind::Max, wide, {1})));
                     const NodeId sums = b.reduce(ReduceKind::Add, b.unary(UnaryKind::Exp, d), {1});
                     const NodeId soft = b.sub(d, b.expand(b.unary(UnaryKind::Log, b.reshape(sums, {9, 1})), {9, 130}));
                     const NodeId some = b.input(integers(DType::I64, {9, 2}, -3, 9 * 130 + 4, b.random));
                     const NodeId scale = b.expand(b.reshape(b.x(DType::F32, {3}), {1, 3, 1}), {4, 3, 50});
                     const NodeId bias = b.expand(b.reshape(b.x(DType::F32, {4, 50}), {4, 1, 50}), {4, 3, 50});
                     const NodeId all = b.binary(BinaryKind::Add, b.unary(UnaryKind::Exp, b.mul(y, scale)), bias);
                     const NodeId few = b.input(integers(DType::I64, {31}, -2, 602, b.random));
                     const NodeId shifted = b.binary(BinaryKind::Add, all, b.splat(DType::F32, {4, 3, 50}, 3));
                     return std::vector<NodeId>{b.gather(b.reshape(soft, {9 * 130}), some, 0),
                                                b.gather(b.reshape(shifted, {600}), few, 0)};
                   }});
  // Products with such rows, from either side: an element, or NaN where zero is multiplied with what is not finite.
  for (DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F64, DType::I32})
    cases.push_back(
        {"gather.one-hot-product." + std::string(toString(dtype)), [=](Builder &b) {
           constexpr double inf = std::numeric_limits<double>::infinity(),
                            nan = std::numeric_limits<double>::quiet_NaN();
           std::vector<NodeId> outputs;
           for (const bool hurts : {false, true}) {
             const DType wide = dtype == DType::BF16 || dtype == DType::F16 ? DType::F32 : dtype;
             std::vector<double> values(12 * 72);
             for (size_t i = 0; i < values.size(); ++i)
               values[i] = static_cast<double>(i % 67) - 30;
             if (hurts && isFloat(dtype))
               values[5] = nan, values[3 * 72 + 7] = inf, values[4 * 72 + 7] = inf, values[6 * 72 + 9] = -inf;
             const NodeId table = b.cast(b.input(makeTensor(dtype, {12, 72}, values)), wide);
             const NodeId labels = b.input(integers(DType::I64, {3, 20}, -2, 13, b.random));
             const NodeId places = b.expand(b.reshape(b.iota({DType::I64, {12}}, 0), {1, 1, 12}), {3, 20, 12});
             const NodeId hot =
                 b.cast(b.binary(BinaryKind::Eq, b.expand(b.reshape(labels, {3, 20, 1}), {3, 20, 12}), places), wide);
             const NodeId rows = b.binary(BinaryKind::Mul, b.expand(b.reshape(hot, {3, 20, 12, 1}), {3, 20, 12, 72}),
                                          b.expand(b.reshape(table, {1, 1, 12, 72}), {3, 20, 12, 72}));
             outputs.push_back(b.cast(b.reduce(ReduceKind::Add, rows, {2}), dtype));
             // The table's columns first.
             const NodeId turned = b.permute(hot, {2, 0, 1});
             const NodeId columns = b.binary(
                 BinaryKind::Mul, b.expand(b.reshape(b.permute(table, {1, 0}), {72, 12, 1, 1}), {72, 12, 3, 20}),
                 b.expand(b.reshape(turned, {1, 12, 3, 20}), {72, 12, 3, 20}));
             outputs.push_back(b.cast(b.reduce(ReduceKind::Add, columns, {1}), dtype));
           }
           return outputs;
         }});
  // Experts with a capacity: rows go to places of each expert, and come back multiplied with gates. Places are outside,
  // too, and what is not finite is among rows and gates.
  for (DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F64})
    cases.push_back(
        {"gather.one-hot-experts." + std::string(toString(dtype)), [=](Builder &b) {
           constexpr int64_t rows = 37, experts = 3, room = 11, width = 24;
           constexpr double inf = std::numeric_limits<double>::infinity();
           const DType wide = accumulatorType(dtype);
           std::vector<NodeId> outputs;
           for (const bool hurts : {false, true}) {
             auto numbers = [&](int64_t count, int64_t place) {
               std::vector<double> values(static_cast<size_t>(count));
               for (size_t i = 0; i < values.size(); ++i)
                 values[i] = static_cast<double>(i % 29) / 4 - 3;
               if (hurts)
                 values[static_cast<size_t>(place)] = inf;
               return values;
             };
             const NodeId place = b.input(integers(DType::I64, {rows, experts}, -1, room + 1, b.random));
             const NodeId gate = b.input(makeTensor(dtype, {rows, experts}, numbers(rows * experts, 40)));
             const NodeId x = b.input(makeTensor(dtype, {rows, width}, numbers(rows * width, 77)));
             const NodeId y = b.input(makeTensor(dtype, {experts, room, width}, numbers(experts * room * width, 300)));
             const Shape hotShape{rows, experts, room};
             const NodeId hot =
                 b.cast(b.binary(BinaryKind::Eq, b.expand(b.reshape(place, {rows, experts, 1}), hotShape),
                                 b.expand(b.reshape(b.iota({DType::I64, {room}}, 0), {1, 1, room}), hotShape)),
                        dtype);
             // tec,tw->ecw
             const Shape taken{experts, room, width, rows};
             const NodeId given = b.expand(b.reshape(b.cast(b.permute(x, {1, 0}), wide), {1, 1, width, rows}), taken);
             const NodeId chosen =
                 b.expand(b.reshape(b.cast(b.permute(hot, {1, 2, 0}), wide), {experts, room, 1, rows}), taken);
             outputs.push_back(b.cast(b.reduce(ReduceKind::Add, b.mul(chosen, given), {3}), dtype));
             // tec,ecw->tw
             const Shape back{rows, width, experts, room};
             const NodeId gated = b.mul(hot, b.expand(b.reshape(gate, {rows, experts, 1}), hotShape));
             const NodeId weights = b.expand(b.reshape(b.cast(gated, wide), {rows, 1, experts, room}), back);
             const NodeId made =
                 b.expand(b.reshape(b.cast(b.permute(y, {2, 0, 1}), wide), {1, width, experts, room}), back);
             outputs.push_back(b.cast(b.reduce(ReduceKind::Add, b.mul(weights, made), {2, 3}), dtype));
           }
           return outputs;
         }});
}

/// The first index of the smallest (or largest) element of each row; NaN wins.
static void addArg(std::vector<Case> &cases, ReduceKind kind, DType dtype, bool hurts) {
  cases.push_back({"arg-" + std::string(toString(kind)) + "." + std::string(toString(dtype)) + (hurts ? ".nan" : ""),
                   [=](Builder &b) {
                     HostTensor values =
                         hurts ? hurting(dtype, 33 * 17, b.random) : integers(dtype, {33, 17}, 0, 6, b.random);
                     values.type.shape = {33, 17};
                     const NodeId x = b.input(std::move(values));
                     const NodeId best = b.back(b.reduce(kind, x, {1}), 1, 17);
                     NodeId hit = b.binary(BinaryKind::Eq, x, best);
                     if (isFloat(dtype))
                       hit = b.binary(BinaryKind::Or, hit, b.binary(BinaryKind::Ne, x, x));
                     const NodeId i = b.iota({DType::I32, {33, 17}}, 1);
                     const NodeId found = b.select(hit, i, b.like(i, 17));
                     return std::vector<NodeId>{b.reduce(ReduceKind::Min, found, {1})};
                   }});
}

void addIndexCases(std::vector<Case> &cases) {
  for (DType dtype : allDTypes) {
    addIota(cases, dtype);
    addGatherIndices(cases, dtype);
    addGatherData(cases, dtype);
  }
  addGatherForms(cases);
  for (ReduceKind kind : {ReduceKind::Min, ReduceKind::Max})
    for (DType dtype : {DType::F32, DType::I32, DType::BF16, DType::F64, DType::U8}) {
      addArg(cases, kind, dtype, false);
      if (isFloat(dtype))
        addArg(cases, kind, dtype, true);
    }
}

} // namespace zyx::conformance
