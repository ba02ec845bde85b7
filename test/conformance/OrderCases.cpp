//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// scan, sort, scatter and random_bits.
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include "zyx/Graph/Gradient.h"

#include <limits>
#include <span>

namespace zyx::conformance {

using graph::ScatterKind;
using graph::SortKind;

static std::string named(std::string_view what, std::string_view kind, DType dtype) {
  return std::string(what) + "." + std::string(kind) + "." + std::string(toString(dtype));
}

/// Hurting values in rows: specials, then random bit patterns.
static NodeId hurtingRows(Builder &b, DType dtype, Shape shape) {
  HostTensor values = hurting(dtype, *numElements(shape) + 64, b.random);
  values.data.resize(static_cast<size_t>(*numElements(shape) * byteSize(dtype)));
  values.type.shape = std::move(shape);
  return b.input(std::move(values));
}

struct Form {
  Shape shape;
  int64_t dim;
};
static const Form forms[] = {{{100}, 0},   {{7, 33}, 0}, {{3, 5, 17}, 1}, {{2, 257}, 1}, {{1}, 0},
                             {{7, 33}, 1}, {{5, 1}, 1},  {{0}, 0},        {{4, 0}, 0},   {{0, 3}, 1}};
/// All of them for some dtypes, the first ones for the others: a form is a kernel.
static std::span<const Form> formsOf(DType dtype) {
  const bool isCommon = dtype == DType::F32 || dtype == DType::I32;
  return std::span(forms).first(isCommon ? std::size(forms) : 3);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

static bool accepts(ReduceKind kind, DType dtype) {
  switch (kind) {
  case ReduceKind::Add:
  case ReduceKind::Mul:
    return dtype != DType::Bool && !isStorageOnly(dtype);
  case ReduceKind::Max:
  case ReduceKind::Min:
    return !isStorageOnly(dtype);
  case ReduceKind::And:
  case ReduceKind::Or:
    return !isFloat(dtype);
  }
  return false;
}

static void addScan(std::vector<Case> &cases, ReduceKind kind, DType dtype) {
  if (!accepts(kind, dtype))
    return;
  const bool isArithmetic = kind == ReduceKind::Add || kind == ReduceKind::Mul;
  cases.push_back({named("scan", toString(kind), dtype), [=](Builder &b) {
                     std::vector<NodeId> outputs;
                     for (const Form &form : formsOf(dtype)) {
                       const NodeId x = !isArithmetic || !isFloat(dtype) ? hurtingRows(b, dtype, form.shape)
                                        : kind == ReduceKind::Mul        ? b.one(dtype, form.shape)
                                                                         : b.x(dtype, form.shape);
                       for (const bool exclusive : {false, true})
                         for (const bool reverse : {false, true})
                           outputs.push_back(b.scan(kind, x, form.dim, exclusive, reverse));
                     }
                     return outputs;
                   }});
}

static void addScanForms(std::vector<Case> &cases) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64})
    cases.push_back({"scan.specials." + std::string(toString(dtype)), [=](Builder &b) {
                       const NodeId x = b.input(
                           makeTensor(dtype, {4, 4},
                                      {-0.0, 0.0, -0.0, 1, inf, 1, -inf, 2, 1, nan, 2, inf, -0.0, -0.0, -0.0, -0.0}));
                       std::vector<NodeId> outputs;
                       for (ReduceKind kind : {ReduceKind::Add, ReduceKind::Mul, ReduceKind::Max, ReduceKind::Min})
                         for (const bool exclusive : {false, true})
                           outputs.push_back(b.scan(kind, x, 1, exclusive));
                       return outputs;
                     }});
  cases.push_back({"scan.views", [](Builder &b) {
                     const NodeId x = b.x(DType::I32, {6, 4, 5});
                     const NodeId flat = b.reshape(b.permute(x, {1, 0, 2}), {4, 30});
                     const NodeId row = b.expand(b.x(DType::I32, {1, 9}), {3, 9});
                     const NodeId count = b.reshape(b.iota({DType::I32, {12}}, 0), {3, 4});
                     return std::vector<NodeId>{b.scan(ReduceKind::Add, flat, 1),
                                                b.scan(ReduceKind::Add, flat, 0),
                                                b.scan(ReduceKind::Add, row, 0),
                                                b.scan(ReduceKind::Add, count, 1),
                                                b.scan(ReduceKind::Add, b.splat(DType::I32, {7, 3}, 2), 0),
                                                b.permute(b.scan(ReduceKind::Max, x, 1), {2, 1, 0})};
                   }});
  // Few rows that fall into parts.
  cases.push_back({"scan.parts", [](Builder &b) {
                     const NodeId rows = b.x(DType::F32, {3, 20000}), row = b.x(DType::I32, {16384});
                     const NodeId hurt = hurtingRows(b, DType::F32, {1, 16384});
                     return std::vector<NodeId>{
                         b.scan(ReduceKind::Add, rows, 1), b.scan(ReduceKind::Add, rows, 1, false, true),
                         b.scan(ReduceKind::Add, row, 0), b.scan(ReduceKind::Max, row, 0, false, true),
                         b.scan(ReduceKind::Min, hurt, 1)};
                   }});
  // Rows that begin at no vector.
  for (DType dtype : {DType::BF16, DType::F32, DType::I64})
    cases.push_back({"scan.odd." + std::string(toString(dtype)), [=](Builder &b) {
                       const NodeId rows = b.x(dtype, {5, 8195}), many = b.x(dtype, {290, 301});
                       std::vector<NodeId> outputs;
                       for (const bool exclusive : {false, true})
                         for (const bool reverse : {false, true}) {
                           outputs.push_back(b.scan(ReduceKind::Add, rows, 1, exclusive, reverse));
                           outputs.push_back(b.scan(ReduceKind::Max, many, 1, exclusive, reverse));
                         }
                       return outputs;
                     }});
  // Of a GPU's workgroups: several rounds, the last one not whole, few columns and more than a warp's.
  cases.push_back({"scan.long", [](Builder &b) {
                     std::vector<NodeId> outputs;
                     const NodeId row = b.x(DType::F32, {2, 5000}), whole = b.x(DType::I32, {4096});
                     const NodeId few = b.x(DType::F16, {2, 700, 5}), more = b.x(DType::BF16, {3, 300, 40});
                     const NodeId hurt = hurtingRows(b, DType::F32, {3, 1000}), longer = b.x(DType::F32, {2, 20011});
                     const NodeId sector = b.x(DType::F32, {1, 2500, 21}), words = b.x(DType::I64, {2, 1100, 7});
                     for (const bool exclusive : {false, true})
                       for (const bool reverse : {false, true}) {
                         outputs.push_back(b.scan(ReduceKind::Add, row, 1, exclusive, reverse));
                         outputs.push_back(b.scan(ReduceKind::Max, longer, 1, exclusive, reverse));
                         outputs.push_back(b.scan(ReduceKind::Add, sector, 1, exclusive, reverse));
                         outputs.push_back(b.scan(ReduceKind::Add, words, 1, exclusive, reverse));
                         outputs.push_back(b.scan(ReduceKind::Add, whole, 0, exclusive, reverse));
                         outputs.push_back(b.scan(ReduceKind::Add, few, 1, exclusive, reverse));
                         outputs.push_back(b.scan(ReduceKind::Max, more, 1, exclusive, reverse));
                         outputs.push_back(b.scan(ReduceKind::Min, hurt, 1, exclusive, reverse));
                       }
                     return outputs;
                   }});
  // Updates that go to the last marked place before them, by gradients: rows and columns, whole rounds and others,
  // parts of long rows, rows and updates that hold NaN and infinities.
  for (DType dtype : {DType::F64, DType::F32, DType::F16})
    for (const Shape &shape : {Shape{3, 4096}, Shape{5, 300, 40}, Shape{2, 1000, 3}, Shape{4, 17, 70}, Shape{2, 20000},
                               Shape{1, 16384, 2}, Shape{7, 64, 256}})
      cases.push_back({"scan.gradient." + std::string(toString(dtype)) + toString(shape), [=](Builder &b) {
                         const bool isShort = shape[1] < 20;
                         const NodeId x = isShort ? hurtingRows(b, dtype, shape) : b.x(dtype, shape);
                         const NodeId seed = isShort ? hurtingRows(b, dtype, shape) : b.x(dtype, shape);
                         std::vector<NodeId> outputs;
                         auto add = [&](ReduceKind kind, NodeId of, bool reverse) {
                           const NodeId y = b.scan(kind, of, 1, false, reverse);
                           const auto gradients = graph::gradient(b.graph(), {{y}}, {{seed}}, {{of}});
                           outputs.push_back(gradients->front().value());
                         };
                         for (const ReduceKind kind : {ReduceKind::Max, ReduceKind::Min})
                           for (const bool reverse : {false, true})
                             add(kind, x, reverse);
                         // Each element is as large as all before it.
                         add(ReduceKind::Max, b.scan(ReduceKind::Max, x, 1), false);
                         return outputs;
                       }});
  // Rows that are neighbours, in vectors and strips of them: whole ones, a rest, more than a strip has.
  for (DType dtype : {DType::F64, DType::F32, DType::BF16, DType::F16, DType::I64, DType::I32, DType::U8})
    cases.push_back({"scan.columns." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const NodeId whole = b.x(dtype, {2, 40, 128}), odd = b.x(dtype, {3, 9, 133}),
                                    wide = b.x(dtype, {7, 2100});
                       const NodeId across = b.permute(b.x(dtype, {5, 90, 30}), {0, 2, 1});
                       const NodeId repeated = b.expand(b.x(dtype, {2, 1, 70}), {2, 6, 70});
                       for (const bool exclusive : {false, true})
                         for (const bool reverse : {false, true}) {
                           outputs.push_back(b.scan(ReduceKind::Add, whole, 1, exclusive, reverse));
                           outputs.push_back(b.scan(ReduceKind::Max, odd, 1, exclusive, reverse));
                           outputs.push_back(b.scan(ReduceKind::Add, odd, 0, exclusive, reverse));
                           outputs.push_back(b.scan(ReduceKind::Min, wide, 0, exclusive, reverse));
                           outputs.push_back(b.scan(ReduceKind::Add, wide, 0, exclusive, reverse));
                           outputs.push_back(b.scan(ReduceKind::Add, across, 1, exclusive, reverse));
                           outputs.push_back(b.scan(ReduceKind::Add, repeated, 1, exclusive, reverse));
                         }
                       return outputs;
                     }});
  // Rows whose elements are neighbours, a vector at a time, and a rest: sums of small integers, which are exact in any
  // order, and rows that begin with -0 or hold what is no number.
  for (DType dtype : {DType::F64, DType::F32, DType::BF16, DType::F16, DType::I64, DType::I32, DType::I16, DType::I8,
                      DType::U8, DType::U32})
    for (ReduceKind kind : {ReduceKind::Add, ReduceKind::Mul, ReduceKind::Max, ReduceKind::Min}) {
      if (!accepts(kind, dtype))
        continue;
      cases.push_back({named("scan.rows", toString(kind), dtype), [=](Builder &b) {
                         std::vector<NodeId> outputs;
                         const bool isArithmetic = kind == ReduceKind::Add || kind == ReduceKind::Mul;
                         const NodeId row = kind == ReduceKind::Mul ? b.one(dtype, {3, 203})
                                            : isArithmetic
                                                ? b.cast(b.input(integers(DType::I32, {3, 203}, 0, 2, b.random)), dtype)
                                                : hurtingRows(b, dtype, {3, 203});
                         const NodeId zeros = b.like(row, isFloat(dtype) ? -0.0 : 0.0);
                         for (const bool exclusive : {false, true})
                           for (const bool reverse : {false, true}) {
                             outputs.push_back(b.scan(kind, row, 1, exclusive, reverse));
                             outputs.push_back(b.scan(kind, b.mul(zeros, row), 1, exclusive, reverse));
                           }
                         return outputs;
                       }});
    }
  cases.push_back({"scan.computed", [](Builder &b) {
                     // Between producers and consumers; used twice, and of one another.
                     const NodeId x = b.x(DType::F32, {17, 33});
                     const NodeId sums = b.scan(ReduceKind::Add, b.mul(x, x), 1);
                     const NodeId largest = b.scan(ReduceKind::Max, sums, 0, false, true);
                     return std::vector<NodeId>{sums, b.sub(largest, sums), b.reduce(ReduceKind::Max, largest, {1})};
                   }});
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

static void addSort(std::vector<Case> &cases, DType dtype) {
  if (isStorageOnly(dtype))
    return;
  for (SortKind kind : {SortKind::Values, SortKind::Indices})
    cases.push_back({named("sort", toString(kind), dtype), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       for (const Form &form : formsOf(dtype)) {
                         const NodeId x = hurtingRows(b, dtype, form.shape);
                         // Many equal elements show whether it is stable.
                         const NodeId few = b.cast(b.input(integers(DType::I32, form.shape, 0, 3, b.random)), dtype);
                         for (const bool descending : {false, true}) {
                           outputs.push_back(b.sort(kind, x, form.dim, descending));
                           outputs.push_back(b.sort(kind, few, form.dim, descending));
                         }
                       }
                       return outputs;
                     }});
}

static void addSortForms(std::vector<Case> &cases) {
  cases.push_back({"sort.zeros-and-nans", [](Builder &b) {
                     const double nan = std::numeric_limits<double>::quiet_NaN();
                     const NodeId x = b.input(
                         makeTensor(DType::F32, {2, 6}, {0.0, -0.0, nan, 0.0, -0.0, -1, nan, nan, 3, nan, 1, 2}));
                     return std::vector<NodeId>{b.sort(SortKind::Indices, x, 1), b.sort(SortKind::Indices, x, 1, true),
                                                b.sort(SortKind::Values, x, 1), b.sort(SortKind::Values, x, 0, true)};
                   }});
  cases.push_back({"sort.views", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {6, 4, 5});
                     const NodeId flat = b.reshape(b.permute(x, {1, 0, 2}), {4, 30});
                     const NodeId row = b.expand(b.x(DType::F32, {1, 9}), {3, 9});
                     return std::vector<NodeId>{b.sort(SortKind::Values, flat, 1), b.sort(SortKind::Indices, flat, 0),
                                                b.sort(SortKind::Indices, row, 0),
                                                b.sort(SortKind::Values, row, 1, true)};
                   }});
  for (const int64_t extent : {2, 3, 63, 64, 65, 1000})
    cases.push_back({"sort.extent." + std::to_string(extent), [=](Builder &b) {
                       const NodeId x = b.x(DType::F32, {2, extent});
                       return std::vector<NodeId>{b.sort(SortKind::Values, x, 1),
                                                  b.sort(SortKind::Indices, x, 1, true)};
                     }});
}

/// Rows longer than what a workgroup of a GPU sorts in its memory: of hurting values, and of many equal ones.
static void addLongSorts(std::vector<Case> &cases) {
  for (DType dtype : {DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::F16, DType::BF16, DType::I32,
                      DType::U32, DType::F32, DType::I64, DType::U64, DType::F64})
    for (SortKind kind : {SortKind::Values, SortKind::Indices})
      cases.push_back({named("sort.long", toString(kind), dtype), [=](Builder &b) {
                         const NodeId x = hurtingRows(b, dtype, {2, 9001});
                         const NodeId few = b.cast(b.input(integers(DType::I32, {5000, 2}, 0, 3, b.random)), dtype);
                         return std::vector<NodeId>{b.sort(kind, x, 1), b.sort(kind, x, 1, true), b.sort(kind, few, 0),
                                                    b.sort(kind, few, 0, true)};
                       }});
}

/// Rows that a GPU's thread has in registers: all elements of them, and few first ones, beside neighbours and apart.
static void addShortSorts(std::vector<Case> &cases) {
  for (DType dtype : {DType::Bool, DType::I8, DType::U16, DType::U32, DType::BF16, DType::F32, DType::F64})
    cases.push_back({"sort.short." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const NodeId hurt = hurtingRows(b, dtype, {70, 16}), columns = hurtingRows(b, dtype, {3, 31, 5});
                       const NodeId few = b.cast(b.input(integers(DType::I32, {40, 8}, 0, 3, b.random)), dtype);
                       for (const bool descending : {false, true})
                         for (const SortKind kind : {SortKind::Values, SortKind::Indices}) {
                           const DType given = kind == SortKind::Values ? dtype : DType::I64;
                           for (const NodeId x : {hurt, few}) {
                             const NodeId sorted = b.sort(kind, x, 1, descending);
                             outputs.push_back(
                                 b.pad(sorted, b.splat(given, {}, 0), {0, 0}, {0, 2 - b.type(x).shape[1]}, {0, 0}));
                             outputs.push_back(b.sort(kind, b.permute(x, {1, 0}), 0, descending));
                           }
                           outputs.push_back(b.sort(kind, columns, 1, descending));
                         }
                       return outputs;
                     }});
}

/// Few rows that are longer still: sorted in runs, and these together.
static void addRuns(std::vector<Case> &cases) {
  for (DType dtype : {DType::Bool, DType::U8, DType::I32, DType::F16, DType::F32, DType::I64, DType::F64})
    cases.push_back({"sort.runs." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const bool isLong = dtype == DType::F32 || dtype == DType::I64;
                       const NodeId hurt = hurtingRows(b, dtype, {1, isLong ? 25001 : 9001});
                       const NodeId whole = hurtingRows(b, dtype, {8192});
                       const NodeId few = b.cast(b.input(integers(DType::I32, {2, 10000}, 0, 3, b.random)), dtype);
                       for (const bool descending : {false, true}) {
                         outputs.push_back(b.sort(SortKind::Values, hurt, 1, descending));
                         outputs.push_back(b.sort(SortKind::Indices, hurt, 1, descending));
                         outputs.push_back(b.sort(SortKind::Indices, whole, 0, descending));
                         outputs.push_back(b.sort(SortKind::Values, few, 1, descending));
                         outputs.push_back(b.sort(SortKind::Indices, few, 1, descending));
                       }
                       return outputs;
                     }});
}

/// Rows of twelve and more runs, of which each workgroup of a card finds the parts that belong to its part of the
/// result: of hurting values, of many equal ones, and in an order in which no run is like the others; the last runs are
/// padded.
static void addManyRuns(std::vector<Case> &cases) {
  for (DType dtype : {DType::Bool, DType::U8, DType::I32, DType::F16, DType::F32, DType::I64, DType::F64})
    cases.push_back({"sort.many-runs." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const NodeId hurt = hurtingRows(b, dtype, {1, 25013});
                       const NodeId few = b.cast(b.input(integers(DType::I32, {3, 24601}, 0, 3, b.random)), dtype);
                       const NodeId same = b.splat(dtype, {1, 24700}, 1);
                       const NodeId places = b.iota({DType::I32, {1, 26624}}, 1);
                       const double steps = dtype == DType::Bool ? 20000 : dtype == DType::U8 ? 200 : 1;
                       const NodeId risen = b.cast(b.div(places, b.like(places, steps)), dtype);
                       for (const bool descending : {false, true}) {
                         outputs.push_back(b.sort(SortKind::Values, hurt, 1, descending));
                         outputs.push_back(b.sort(SortKind::Indices, hurt, 1, descending));
                         outputs.push_back(b.sort(SortKind::Indices, few, 1, descending));
                         outputs.push_back(b.sort(SortKind::Indices, risen, 1, descending));
                       }
                       outputs.push_back(b.sort(SortKind::Indices, same, 1, true));
                       // Of a slice as many tiles are made as it has.
                       outputs.push_back(b.pad(b.sort(SortKind::Values, hurt, 1), b.splat(dtype, {}, 0), {0, 0},
                                               {0, 9000 - 25013}, {0, 0}));
                       return outputs;
                     }});
}

/// Long rows of which there are more than runs pay for: on cards clusters sort them, or workgroups merge their tiles in
/// memory, of many rows larger ones.
static void addTiles(std::vector<Case> &cases) {
  for (const Shape &shape : {Shape{34, 16001}, Shape{67, 8001}, Shape{9, 60001}, Shape{132, 13400}})
    for (DType dtype : {DType::BF16, DType::F32})
      cases.push_back({"sort.tiles." + std::to_string(shape[1]) + "." + std::string(toString(dtype)), [=](Builder &b) {
                         const NodeId hurt = hurtingRows(b, dtype, shape);
                         const NodeId few = b.cast(b.input(integers(DType::I32, shape, 0, 3, b.random)), dtype);
                         return std::vector<NodeId>{b.sort(SortKind::Values, hurt, 1, true),
                                                    b.sort(SortKind::Indices, few, 1, false)};
                       }});
}

/// Slices of sorts: only the first elements of a row are looked for, where nobody reads the others.
static void addFirstElements(std::vector<Case> &cases) {
  for (DType dtype : {DType::Bool, DType::U8, DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64})
    for (SortKind kind : {SortKind::Values, SortKind::Indices})
      cases.push_back({named("sort.first", toString(kind), dtype), [=](Builder &b) {
                         const DType given = kind == SortKind::Values ? dtype : DType::I64;
                         std::vector<NodeId> outputs;
                         const auto slice = [&](NodeId x, int64_t dim, int64_t from, int64_t to, bool descending) {
                           const NodeId sorted = b.sort(kind, x, dim, descending);
                           const Shape shape = b.type(x).shape;
                           std::vector<int64_t> low(shape.size(), 0), high = low;
                           low[static_cast<size_t>(dim)] = -from;
                           high[static_cast<size_t>(dim)] = to - shape[static_cast<size_t>(dim)];
                           outputs.push_back(
                               b.pad(sorted, b.splat(given, {}, 0), low, high, std::vector<int64_t>(shape.size(), 0)));
                         };
                         const NodeId hurt = hurtingRows(b, dtype, {3, 700});
                         const NodeId few = b.cast(b.input(integers(DType::I32, {2, 900}, 0, 3, b.random)), dtype);
                         const NodeId rising = b.cast(b.iota({DType::I32, {1500}}, 0), dtype);
                         const NodeId columns = hurtingRows(b, dtype, {300, 5});
                         const NodeId across = b.permute(hurtingRows(b, dtype, {400, 3}), {1, 0});
                         const NodeId longer = hurtingRows(b, dtype, {2, 9001});
                         for (const bool descending : {false, true}) {
                           for (const int64_t k : {1, 7, 60, 200}) {
                             slice(hurt, 1, 0, k, descending);
                             slice(few, 1, 0, k, descending);
                           }
                           slice(rising, 0, 0, 33, descending);
                           slice(columns, 0, 0, 20, descending);
                           slice(across, 1, 0, 9, descending);
                           slice(hurt, 1, 30, 50, descending);
                           slice(longer, 1, 0, 40, descending);
                           slice(hurt, 1, 0, 0, descending);
                         }
                         return outputs;
                       }});
  // One reader wants more than the other, and one wants all.
  cases.push_back({"sort.first.readers", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {4, 600}), y = b.x(DType::F32, {4, 600});
                     const NodeId sorted = b.sort(SortKind::Values, x, 1), all = b.sort(SortKind::Indices, y, 1, true);
                     const NodeId zero = b.splat(DType::F32, {}, 0), none = b.splat(DType::I64, {}, 0);
                     const auto first = [&](NodeId from, NodeId fill, int64_t k) {
                       return b.pad(from, fill, {0, 0}, {0, k - 600}, {0, 0});
                     };
                     return std::vector<NodeId>{first(sorted, zero, 3), first(sorted, zero, 40),
                                                b.pad(sorted, zero, {-1, 0}, {-2, -580}, {0, 0}), first(all, none, 5),
                                                b.reduce(ReduceKind::Max, all, {1})};
                   }});
}

/// Few first elements of short rows, as of the experts of a router, with their places. Extents are of lists that are
/// full, and that are not; columns stand apart.
static void addFirstWithPlaces(std::vector<Case> &cases) {
  for (DType dtype : {DType::Bool, DType::U8, DType::I32, DType::I64, DType::BF16, DType::F32})
    cases.push_back({"sort.first.places." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const auto both = [&](NodeId x, int64_t dim, int64_t k, bool descending) {
                         for (const SortKind kind : {SortKind::Values, SortKind::Indices}) {
                           const DType given = kind == SortKind::Values ? dtype : DType::I64;
                           std::vector<int64_t> none(b.type(x).shape.size(), 0), high = none;
                           high[static_cast<size_t>(dim)] = k - b.type(x).shape[static_cast<size_t>(dim)];
                           outputs.push_back(
                               b.pad(b.sort(kind, x, dim, descending), b.splat(given, {}, 0), none, high, none));
                         }
                       };
                       const NodeId few = b.cast(b.input(integers(DType::I32, {37, 64}, 0, 3, b.random)), dtype);
                       for (const bool descending : {false, true}) {
                         both(few, 1, 8, descending);
                         both(hurtingRows(b, dtype, {5, 500}), 1, 16, descending);
                         both(hurtingRows(b, dtype, {9, 160}), 1, 6, descending);
                         both(hurtingRows(b, dtype, {3, 100, 5}), 1, 3, descending);
                         both(hurtingRows(b, dtype, {4, 33}), 1, 1, descending);
                         both(hurtingRows(b, dtype, {4, 256}), 1, 256, descending);
                       }
                       return outputs;
                     }});
}

/// The same of so many rows that a lane of a card has 16 and 32 elements: of some rows more elements agree in their
/// first bits than are wanted.
static void addFirstOfManyRows(std::vector<Case> &cases) {
  for (const Shape &shape : {Shape{4300, 250}, Shape{8500, 256}})
    cases.push_back({"sort.first.lanes." + std::to_string(shape[1]), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const auto first = [&](SortKind kind, NodeId x, int64_t k) {
                         const NodeId sorted = b.sort(kind, x, 1, true);
                         outputs.push_back(b.pad(sorted, b.splat(b.type(sorted).dtype, {}, 0), {0, 0},
                                                 {0, k - b.type(x).shape[1]}, {0, 0}));
                       };
                       // Neighbours differ in bits that words with places have no room for.
                       const NodeId near = b.input(integers(DType::I32, shape, 0, 60000, b.random));
                       const NodeId other = b.add(near, b.like(near, 0x3F800000));
                       first(SortKind::Values, hurtingRows(b, DType::F32, shape), 8);
                       first(SortKind::Indices, b.bitcast(other, DType::F32), 6);
                       first(SortKind::Indices, hurtingRows(b, DType::BF16, shape), 8);
                       return outputs;
                     }});
}

/// How many indices name each place, as the load of experts: a sum of comparisons, which is a scatter on cards. Some
/// name none.
static void addCounts(std::vector<Case> &cases) {
  for (DType dtype : {DType::I64, DType::F32})
    cases.push_back({"scatter.counts." + std::string(toString(dtype)), [=](Builder &b) {
                       constexpr int64_t rows = 34000, chosen = 2, places = 250;
                       const NodeId at = b.input(integers(DType::I32, {rows, chosen}, -2, places + 1, b.random));
                       const Shape all{rows, chosen, places};
                       const NodeId isOne = b.binary(BinaryKind::Eq, b.expand(b.reshape(at, {rows, chosen, 1}), all),
                                                     b.iota({DType::I32, all}, 2));
                       return std::vector<NodeId>{b.reduce(ReduceKind::Add, b.cast(isOne, dtype), {0, 1})};
                     }});
}

/// First elements of few rows that are far longer: on cards those of runs, and the first of these. Rows of 50261 and of
/// 25013 elements are divided by no run; many elements are equal.
static void addFirstOfRuns(std::vector<Case> &cases) {
  for (DType dtype : {DType::I32, DType::BF16, DType::F32, DType::F64})
    cases.push_back({"sort.first.runs." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const auto first = [&](SortKind kind, NodeId x, int64_t k, bool descending) {
                         const DType given = kind == SortKind::Values ? dtype : DType::I64;
                         const NodeId sorted = b.sort(kind, x, 1, descending);
                         outputs.push_back(
                             b.pad(sorted, b.splat(given, {}, 0), {0, 0}, {0, k - b.type(x).shape[1]}, {0, 0}));
                       };
                       const NodeId hurt = hurtingRows(b, dtype, {1, 50261});
                       const NodeId rows = hurtingRows(b, dtype, {3, 25013});
                       const NodeId few = b.cast(b.input(integers(DType::I32, {1, 30720}, 0, 3, b.random)), dtype);
                       for (const bool descending : {false, true}) {
                         first(SortKind::Indices, hurt, 40, descending);
                         first(SortKind::Values, hurt, 1, descending);
                         first(SortKind::Values, rows, 50, descending);
                         first(SortKind::Indices, few, 50, descending);
                       }
                       return outputs;
                     }});
}

/// More first elements than one pass over a row has room for: on cards those of runs, with the places of each row, and
/// of many rows of as many as a run.
static void addManyFirstOfRuns(std::vector<Case> &cases) {
  for (DType dtype : {DType::I32, DType::BF16, DType::F32, DType::F64})
    cases.push_back({"sort.first.many." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const auto first = [&](SortKind kind, NodeId x, int64_t k, bool descending) {
                         const DType given = kind == SortKind::Values ? dtype : DType::I64;
                         const NodeId sorted = b.sort(kind, x, 1, descending);
                         outputs.push_back(
                             b.pad(sorted, b.splat(given, {}, 0), {0, 0}, {0, k - b.type(x).shape[1]}, {0, 0}));
                       };
                       const NodeId hurt = hurtingRows(b, dtype, {3, 33003});
                       const NodeId few = b.cast(b.input(integers(DType::I32, {2, 34816}, 0, 3, b.random)), dtype);
                       for (const bool descending : {false, true})
                         for (const NodeId x : {hurt, few}) {
                           first(SortKind::Values, x, 300, descending);
                           first(SortKind::Indices, x, 300, descending);
                         }
                       if (dtype == DType::F32)
                         first(SortKind::Indices, hurtingRows(b, dtype, {33, 17001}), 700, true);
                       return outputs;
                     }});
}

/// First elements of rows that one workgroup each walks: of many rows, of rows that begin at no vector, of equal
/// elements, and of rows where a thread's elements all come before the next one's, so that more are left than have
/// room; lengths of vocabularies.
static void addFirstOfRows(std::vector<Case> &cases) {
  const auto first = [](Builder &b, SortKind kind, NodeId x, int64_t k, bool descending) {
    const NodeId sorted = b.sort(kind, x, 1, descending);
    return b.pad(sorted, b.splat(b.type(sorted).dtype, {}, 0), {0, 0}, {0, k - b.type(x).shape[1]}, {0, 0});
  };
  for (DType dtype : {DType::U8, DType::I32, DType::F16, DType::BF16, DType::F32})
    cases.push_back({"sort.first.rows." + std::string(toString(dtype)), [=](Builder &b) {
                       const NodeId many = hurtingRows(b, dtype, {264, 1024}), odd = hurtingRows(b, dtype, {33, 4099});
                       const NodeId places = b.iota({DType::I32, {2, 24000}}, 1);
                       const auto quotient = [&](NodeId x, double by) { return b.div(x, b.like(x, by)); };
                       const auto turning = [&](double period) {
                         const NodeId whole = quotient(places, period);
                         return b.cast(b.sub(places, b.mul(whole, b.like(places, period))), dtype);
                       };
                       const NodeId same = b.cast(quotient(places, 24000), dtype);
                       // Of many rows, which have fewer threads: equal ones, and some of whose elements fill a thread.
                       const NodeId short264 = b.iota({DType::I32, {264, 2048}}, 1);
                       const auto turningMany = [&](double period) {
                         const NodeId whole = quotient(short264, period);
                         return b.cast(b.sub(short264, b.mul(whole, b.like(short264, period))), dtype);
                       };
                       const NodeId sameMany = b.cast(quotient(short264, 2048), dtype);
                       std::vector<NodeId> outputs;
                       for (const bool descending : {false, true}) {
                         outputs.push_back(first(b, SortKind::Values, many, 50, descending));
                         outputs.push_back(first(b, SortKind::Indices, many, 20, descending));
                         outputs.push_back(first(b, SortKind::Indices, odd, 256, descending));
                         outputs.push_back(first(b, SortKind::Indices, turning(4096), 256, descending));
                         outputs.push_back(first(b, SortKind::Indices, turning(8192), 256, descending));
                         outputs.push_back(first(b, SortKind::Indices, same, 256, descending));
                         for (const NodeId x : {sameMany, turningMany(64), turningMany(256)})
                           outputs.push_back(first(b, SortKind::Indices, x, 30, descending));
                       }
                       return outputs;
                     }});
  for (DType dtype : {DType::BF16, DType::F32})
    cases.push_back({"sort.first.vocabulary." + std::string(toString(dtype)), [=](Builder &b) {
                       const NodeId even = b.x(dtype, {33, 32000}), odd = b.x(dtype, {33, 50257});
                       return std::vector<NodeId>{first(b, SortKind::Indices, even, 100, true),
                                                  first(b, SortKind::Values, odd, 50, true)};
                     }});
}

/// Gradients of sorted rows and of their first elements: updates are added where the sort says that they were.
static void addSortGradients(std::vector<Case> &cases) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64})
    cases.push_back({"sort.gradient." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       for (const auto &[rows, length, k] : {std::tuple(300, 16, 16), std::tuple(700, 40, 5)}) {
                         const NodeId sorted = b.sort(SortKind::Indices, b.x(DType::F32, {rows, length}), 1, true);
                         const NodeId places =
                             b.pad(sorted, b.splat(DType::I64, {}, 0), {0, 0}, {0, k - length}, {0, 0});
                         const NodeId row = b.iota({DType::I64, {rows, k}}, 0);
                         const NodeId all = b.add(places, b.mul(row, b.like(row, length)));
                         outputs.push_back(b.scatter(ScatterKind::Add, b.splat(dtype, {rows * length}, 0),
                                                     b.reshape(all, {rows * k}), b.x(dtype, {rows * k}), 0));
                       }
                       return outputs;
                     }});
}

/// The k largest of each row, with their places: the beginning of a sort.
static void addTopK(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::BF16, DType::I32})
    cases.push_back({"top-k." + std::string(toString(dtype)), [=](Builder &b) {
                       const NodeId x = hurtingRows(b, dtype, {33, 100});
                       const NodeId first = b.iota({DType::I32, {5}}, 0);
                       const NodeId places = b.gather(b.sort(SortKind::Indices, x, 1, true), first, 1);
                       const NodeId values = b.gather(b.sort(SortKind::Values, x, 1, true), first, 1);
                       return std::vector<NodeId>{values, places};
                     }});
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

static bool accepts(ScatterKind kind, DType dtype) {
  if (kind == ScatterKind::Set)
    return true;
  if (kind == ScatterKind::Add || kind == ScatterKind::Mul)
    return dtype != DType::Bool && !isStorageOnly(dtype);
  return !isStorageOnly(dtype);
}

static void addScatter(std::vector<Case> &cases, ScatterKind kind, DType dtype) {
  if (!accepts(kind, dtype))
    return;
  const bool isFree = isFloat(dtype) && (kind == ScatterKind::Add || kind == ScatterKind::Mul);
  cases.push_back({named("scatter", toString(kind), dtype), [=](Builder &b) {
                     const auto data = [&](const Shape &shape) {
                       return !isFree                    ? hurtingRows(b, dtype, shape)
                              : kind == ScatterKind::Mul ? b.one(dtype, shape)
                                                         : b.x(dtype, shape);
                     };
                     std::vector<NodeId> outputs;
                     const auto add = [&](const Shape &shape, int64_t dim, const Shape &at, const Shape &update) {
                       const NodeId x = data(shape);
                       const int64_t extent = shape[static_cast<size_t>(dim)];
                       const NodeId indices = b.input(integers(DType::I32, at, -2, extent + 1, b.random));
                       outputs.push_back(b.scatter(kind, x, indices, data(update), dim));
                     };
                     add({10}, 0, {30}, {30});
                     add({10}, 0, {}, {});
                     add({7, 100}, 0, {9}, {9, 100});
                     add({7, 33}, 1, {50}, {7, 50});
                     add({3, 5, 17}, 1, {2, 4}, {3, 2, 4, 17});
                     add({4}, 0, {0}, {0});
                     add({0, 3}, 0, {4}, {4, 3});
                     add({3, 0}, 0, {4}, {4, 0});
                     return outputs;
                   }});
}

static void addScatterForms(std::vector<Case> &cases) {
  for (DType index : allDTypes)
    if (isInteger(index))
      cases.push_back({"scatter.indices." + std::string(toString(index)), [=](Builder &b) {
                         const HostTensor all = specials(index);
                         const int64_t n = all.type.shape[0];
                         const NodeId at = b.input(all);
                         return std::vector<NodeId>{
                             b.scatter(ScatterKind::Set, b.x(DType::F32, {7, 5}), at, b.x(DType::F32, {n, 5}), 0),
                             b.scatter(ScatterKind::Add, b.x(DType::I32, {300}), at, b.x(DType::I32, {n}), 0)};
                       }});
  cases.push_back({"scatter.histogram", [](Builder &b) {
                     const NodeId at = b.input(integers(DType::U8, {1000}, 0, 15, b.random));
                     return std::vector<NodeId>{b.scatter(ScatterKind::Add, b.splat(DType::I32, {16}, 0), at,
                                                          b.splat(DType::I32, {1000}, 1), 0)};
                   }});
  // Many updates of few rows, whose neighbours are updates or columns.
  cases.push_back({"scatter.few-rows", [](Builder &b) {
                     const NodeId at = b.input(integers(DType::I64, {300, 300}, -2, 33, b.random));
                     const NodeId narrow = b.input(integers(DType::I32, {4096}, -1, 5, b.random));
                     const NodeId turned = b.permute(b.x(DType::F32, {12, 300, 300}), {1, 2, 0});
                     return std::vector<NodeId>{b.scatter(ScatterKind::Add, b.x(DType::F32, {32, 12}), at, turned, 0),
                                                b.scatter(ScatterKind::Add, b.splat(DType::F32, {5, 300}, 0), narrow,
                                                          b.x(DType::F32, {4096, 300}), 0)};
                   }});
  // Few rows of a table that is rounded afterwards: rows that come twice, places outside, outer rows.
  for (DType narrow : {DType::BF16, DType::F16})
    cases.push_back(
        {named("scatter.rounded", toString(narrow), DType::F32), [=](Builder &b) {
           const NodeId at = b.input(integers(DType::I64, {7, 9}, -2, 6, b.random));
           const NodeId most = b.input(integers(DType::I32, {50}, -9, 1033, b.random));
           const auto sums = [&](const Shape &shape, NodeId place, const Shape &update, int64_t dim) {
             return b.cast(
                 b.scatter(ScatterKind::Add, b.splat(DType::F32, shape, 0), place, b.x(DType::F32, update), dim),
                 narrow);
           };
           return std::vector<NodeId>{sums({1024, 67}, at, {7, 9, 67}, 0), sums({1024, 67}, most, {50, 67}, 0),
                                      sums({2, 1024, 33}, most, {2, 50, 33}, 1), sums({70000}, at, {7, 9}, 0)};
         }});
  // Many rows with few updates that lie in parts of programs, of all kinds and of a table that is an input.
  for (ScatterKind kind : {ScatterKind::Set, ScatterKind::Add, ScatterKind::Mul, ScatterKind::Max})
    cases.push_back({named("scatter.few-updates", toString(kind), DType::I32), [=](Builder &b) {
                       const NodeId at = b.input(integers(DType::I64, {60}, -9, 1033, b.random));
                       const NodeId turned = b.permute(b.x(DType::I32, {37, 1024}), {1, 0});
                       return std::vector<NodeId>{
                           b.scatter(kind, b.splat(DType::I32, {1024, 37}, 3), at, b.x(DType::I32, {60, 37}), 0),
                           b.scatter(kind, turned, at, b.x(DType::I32, {60, 37}), 0),
                           b.scatter(kind, b.x(DType::I32, {3, 1024, 40}), at, b.x(DType::I32, {3, 60, 40}), 1)};
                     }});
  // Few updates of each row, at positions along one dimension: some come twice, and some are outside.
  for (DType dtype : {DType::F32, DType::BF16, DType::I64, DType::Bool})
    cases.push_back({"scatter.positions." + std::string(toString(dtype)), [=](Builder &b) {
                       const auto put = [&](const Shape &shape, int64_t dim, int64_t count, double before) {
                         Shape own = shape;
                         own[dim] = count;
                         const NodeId at = b.input(integers(DType::I64, own, -2, shape[dim] + 1, b.random));
                         NodeId flat = b.like(at, 0);
                         int64_t step = 1, all = 1;
                         for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= 0; step *= shape[i--]) {
                           const NodeId place = i == dim ? at : b.iota({DType::I64, own}, i);
                           flat = b.add(flat, b.mul(place, b.like(at, static_cast<double>(step))));
                           all *= shape[i];
                         }
                         const NodeId exists =
                             b.binary(graph::BinaryKind::And, b.binary(graph::BinaryKind::Ge, at, b.like(at, 0)),
                                      b.binary(graph::BinaryKind::Lt, at, b.like(at, static_cast<double>(shape[dim]))));
                         return b.reshape(b.scatter(ScatterKind::Set, b.splat(dtype, {all}, before),
                                                    b.select(exists, flat, b.like(at, -1)), b.x(dtype, own), 0),
                                          shape);
                       };
                       return std::vector<NodeId>{put({300, 16}, 1, 2, 0), put({300, 16}, 1, 1, 1),
                                                  put({9, 33}, 0, 3, 0),   put({5, 7, 40}, 1, 8, 1),
                                                  put({1, 12}, 1, 4, 0),   put({40, 3}, 1, 9, 0)};
                     }});
  // So many that no number of parts divides them: 519 is 3 times 173. What is left over is added up by itself.
  cases.push_back({"scatter.few-rows.odd", [](Builder &b) {
                     const NodeId at = b.input(integers(DType::I64, {519, 519}, -2, 33, b.random));
                     const NodeId turned = b.permute(b.x(DType::F32, {4, 519, 519}), {1, 2, 0});
                     return std::vector<NodeId>{b.scatter(ScatterKind::Add, b.x(DType::F32, {32, 4}), at, turned, 0),
                                                b.scatter(ScatterKind::Add, b.splat(DType::F32, {7, 4}, 0), at,
                                                          b.x(DType::F32, {519, 519, 4}), 0)};
                   }});
  // Several rounds of indices; more rows than workgroups have turns, and outer ones; more columns than threads; many
  // updates of few short rows, of which workgroups have one each.
  for (ScatterKind kind : {ScatterKind::Set, ScatterKind::Add, ScatterKind::Max})
    cases.push_back({named("scatter.long", toString(kind), DType::I32), [=](Builder &b) {
                       const auto scatter = [&](const Shape &shape, int64_t dim, int64_t count, const Shape &update) {
                         const NodeId at =
                             b.input(integers(DType::I64, {count}, -3, shape[static_cast<size_t>(dim)] + 2, b.random));
                         return b.scatter(kind, b.x(DType::I32, shape), at, b.x(DType::I32, update), dim);
                       };
                       return std::vector<NodeId>{
                           scatter({16}, 0, 20000, {20000}),           scatter({70000}, 0, 5000, {5000}),
                           scatter({3, 200, 7}, 1, 300, {3, 300, 7}),  scatter({97, 4}, 0, 2401, {2401, 4}),
                           scatter({2, 97, 3}, 1, 6000, {2, 6000, 3}), scatter({500, 300}, 0, 4100, {4100, 300})};
                     }});
  // Wide rows that a workgroup lists by row: so many updates of few of them that its lists are full again and again,
  // and of tables of zeros, outer rows, and columns that are no whole vectors.
  for (ScatterKind kind : {ScatterKind::Set, ScatterKind::Add, ScatterKind::Max})
    for (DType dtype : {DType::F32, DType::BF16})
      cases.push_back({named("scatter.wide", toString(kind), dtype), [=](Builder &b) {
                         const NodeId hot = b.input(integers(DType::I64, {18000}, -2, 4, b.random));
                         const NodeId some = b.input(integers(DType::I32, {7, 70}, -9, 1070, b.random));
                         const NodeId given = b.expand(b.x(dtype, {18, 1, 192}), {18, 1000, 192});
                         const auto scatter = [&](NodeId x, NodeId at, NodeId update, int64_t dim) {
                           return b.scatter(kind, x, at, update, dim);
                         };
                         std::vector<NodeId> outputs = {
                             scatter(b.splat(dtype, {1060, 256}, 0), some, b.x(dtype, {7, 70, 256}), 0),
                             scatter(b.x(dtype, {2, 1060, 203}), some, b.x(dtype, {2, 7, 70, 203}), 1)};
                         // Sums of so many numbers of 16 bits are of no use.
                         if (dtype == DType::F32 || kind != ScatterKind::Add)
                           outputs.push_back(scatter(b.x(dtype, {1060, 192}), hot, b.reshape(given, {18000, 192}), 0));
                         return outputs;
                       }});
  cases.push_back({"scatter.inverse-permutation", [](Builder &b) {
                     // Puts what a sort moved back where it was.
                     const NodeId x = b.x(DType::F32, {100});
                     const NodeId order = b.sort(SortKind::Indices, x, 0);
                     const NodeId sorted = b.gather(x, order, 0);
                     return std::vector<NodeId>{b.scatter(ScatterKind::Set, b.like(x, 0), order, sorted, 0)};
                   }});
  cases.push_back({"scatter.views", [](Builder &b) {
                     const NodeId x = b.permute(b.x(DType::I32, {6, 5}), {1, 0});
                     const NodeId at = b.reshape(b.iota({DType::I64, {6}}, 0), {3, 2});
                     const NodeId u = b.expand(b.x(DType::I32, {5, 1, 1}), {5, 3, 2});
                     return std::vector<NodeId>{b.scatter(ScatterKind::Add, x, at, u, 1),
                                                b.scatter(ScatterKind::Max, b.add(x, x), at, b.mul(u, u), 1)};
                   }});
}

//===----------------------------------------------------------------------===//
// Padded operands
//===----------------------------------------------------------------------===//

/// What stands beside the elements must be read as the fill: zero, another one, between elements,
/// through views; and nothing but elements where a pad only removes.
static void addPaddedForms(std::vector<Case> &cases) {
  using Op = std::function<NodeId(Builder &, NodeId)>;
  const auto add = [&](const char *name, Op op) {
    cases.push_back({name, [op](Builder &b) {
                       const NodeId x = b.x(DType::F32, {5, 7});
                       const NodeId zero = b.splat(DType::F32, {}, 0);
                       const NodeId three = b.splat(DType::F32, {}, 3);
                       const NodeId around = b.pad(x, zero, {1, 2}, {2, 1}, {0, 0});
                       const NodeId computed = b.reduce(ReduceKind::Max, x, {0, 1});
                       return std::vector<NodeId>{op(b, around),
                                                  op(b, b.pad(x, three, {0, 3}, {0, 0}, {0, 0})),
                                                  op(b, b.pad(x, zero, {-1, -2}, {0, -1}, {0, 0})),
                                                  op(b, b.pad(x, zero, {0, 0}, {0, 2}, {1, 2})),
                                                  op(b, b.pad(around, three, {1, 0}, {0, 1}, {0, 0})),
                                                  op(b, b.pad(x, computed, {1, 0}, {0, 1}, {0, 0})),
                                                  op(b, b.reshape(b.permute(around, {1, 0}), {8, 10})),
                                                  op(b, b.flip(around, {0})),
                                                  op(b, b.reshape(b.window(around, {1}, {3}, {2}, {1}), {8, 12}))};
                     }});
  };
  add("scan.padded", [](Builder &b, NodeId x) { return b.scan(ReduceKind::Add, x, 1); });
  add("sort.padded.values", [](Builder &b, NodeId x) { return b.sort(SortKind::Values, x, 1); });
  add("sort.padded.indices", [](Builder &b, NodeId x) { return b.sort(SortKind::Indices, x, 0); });
  add("scatter.padded", [](Builder &b, NodeId x) {
    const int64_t columns = b.type(x).shape[1];
    const NodeId few = b.input(integers(DType::I32, {3}, -1, 4, b.random));
    const NodeId at = b.pad(few, b.splat(DType::I32, {}, 2), {1}, {1}, {0});
    const NodeId update = b.pad(b.x(DType::F32, {5, columns - 1}), b.splat(DType::F32, {}, 0), {0, 0}, {0, 1}, {0, 0});
    return b.scatter(ScatterKind::Add, x, at, update, 0);
  });
}

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

static void addRandomBits(std::vector<Case> &cases) {
  cases.push_back({"random_bits.words", [](Builder &b) {
                     std::vector<NodeId> outputs;
                     const NodeId zero = b.splat(DType::U64, {}, 0);
                     HostTensor value = makeTensor(DType::U64, {}, {0});
                     for (std::byte &byte : value.data)
                       byte = static_cast<std::byte>(b.random.bits());
                     const NodeId seed = b.input(std::move(value));
                     for (const Shape &shape :
                          {Shape{}, Shape{1}, Shape{4}, Shape{3, 5, 7}, Shape{0}, Shape{1000}, Shape{2, 1, 33}})
                       for (const NodeId s : {zero, seed})
                         outputs.push_back(b.randomBits(s, shape));
                     return outputs;
                   }});
  cases.push_back({"random_bits.uniform", [](Builder &b) {
                     // 24 bits make a float of [0, 1); the seed of the second draw is computed.
                     const NodeId seed = b.input(makeTensor(DType::U64, {}, {12345}));
                     const auto uniform = [&](NodeId s) {
                       const NodeId bits = b.randomBits(s, {17, 33});
                       const NodeId high = b.binary(BinaryKind::Shr, bits, b.like(bits, 8));
                       const NodeId wide = b.cast(high, DType::F32);
                       return b.mul(wide, b.like(wide, 0x1p-24));
                     };
                     return std::vector<NodeId>{uniform(seed), uniform(b.add(seed, b.like(seed, 1))),
                                                b.reduce(ReduceKind::Max, uniform(seed), {1})};
                   }});
}

void addOrderCases(std::vector<Case> &cases) {
  for (DType dtype : allDTypes) {
    for (ReduceKind kind :
         {ReduceKind::Add, ReduceKind::Mul, ReduceKind::Max, ReduceKind::Min, ReduceKind::And, ReduceKind::Or})
      addScan(cases, kind, dtype);
    addSort(cases, dtype);
    for (ScatterKind kind : {ScatterKind::Set, ScatterKind::Add, ScatterKind::Max, ScatterKind::Min, ScatterKind::Mul})
      addScatter(cases, kind, dtype);
  }
  addScanForms(cases);
  addSortForms(cases);
  addLongSorts(cases);
  addRuns(cases);
  addManyRuns(cases);
  addShortSorts(cases);
  addFirstElements(cases);
  addFirstWithPlaces(cases);
  addFirstOfManyRows(cases);
  addCounts(cases);
  addFirstOfRuns(cases);
  addManyFirstOfRuns(cases);
  addFirstOfRows(cases);
  addTiles(cases);
  addSortGradients(cases);
  addTopK(cases);
  addScatterForms(cases);
  addPaddedForms(cases);
  addRandomBits(cases);
}

} // namespace zyx::conformance
