//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

namespace zyx::conformance {

static std::string named(const char *what, DType dtype) {
  return std::string(what) + "." + std::string(toString(dtype));
}

static void addIota(std::vector<Case> &cases, DType dtype) {
  if (dtype == DType::Bool || isStorageOnly(dtype))
    return;
  cases.push_back({named("iota", dtype), [=](Builder &b) {
                     return std::vector<NodeId>{
                         b.iota({dtype, {100}}, 0),   b.iota({dtype, {7, 33}}, 0),
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
                     return std::vector<NodeId>{b.gather(x, all, 0), b.gather(x, all, 1),
                                                b.gather(big, all, 0), b.gather(x, some, 0)};
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
                     return std::vector<NodeId>{b.gather(x, scalar, 1), b.gather(x, none, 0),
                                                b.gather(x, grid, 0), b.gather(x, grid, 1),
                                                b.gather(x, grid, 2)};
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
                     return std::vector<NodeId>{out, b.permute(out, {2, 0, 1}),
                                                b.reshape(out, {24})};
                   }});
  cases.push_back({"gather.one-hot", [](Builder &b) {
                     const NodeId labels = b.input(integers(DType::I32, {33}, -1, 10, b.random));
                     const NodeId classes =
                         b.expand(b.reshape(b.iota({DType::I32, {10}}, 0), {1, 10}), {33, 10});
                     const NodeId wanted = b.expand(b.reshape(labels, {33, 1}), {33, 10});
                     const NodeId hot = b.binary(BinaryKind::Eq, classes, wanted);
                     return std::vector<NodeId>{
                         hot, b.reduce(ReduceKind::Add, b.cast(hot, DType::I32), {0})};
                   }});
}

/// The first index of the smallest (or largest) element of each row; NaN wins.
static void addArg(std::vector<Case> &cases, ReduceKind kind, DType dtype, bool hurts) {
  cases.push_back({"arg-" + std::string(toString(kind)) + "." + std::string(toString(dtype)) +
                       (hurts ? ".nan" : ""),
                   [=](Builder &b) {
                     HostTensor values = hurts ? hurting(dtype, 33 * 17, b.random)
                                               : integers(dtype, {33, 17}, 0, 6, b.random);
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
