//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

namespace zyx::conformance {

static bool accepts(ReduceKind kind, DType dtype) {
  if (isStorageOnly(dtype))
    return false;
  switch (kind) {
  case ReduceKind::Add:
  case ReduceKind::Mul:
    return dtype != DType::Bool;
  case ReduceKind::Max:
  case ReduceKind::Min:
    return true;
  case ReduceKind::And:
  case ReduceKind::Or:
    return !isFloat(dtype);
  }
  return false;
}

struct Form {
  Shape shape;
  std::vector<int64_t> dims;
};

static std::string nameOf(const Form &form) {
  std::string name;
  for (int64_t extent : form.shape)
    name += (name.empty() ? "" : "x") + std::to_string(extent);
  name += ".over";
  for (int64_t dim : form.dims)
    name += std::to_string(dim);
  return name;
}

static NodeId operand(Builder &b, ReduceKind kind, DType dtype, const Shape &shape) {
  if (kind == ReduceKind::Mul)
    return b.one(dtype, shape);
  if (kind == ReduceKind::And || kind == ReduceKind::Or) {
    HostTensor bits = hurting(dtype, *numElements(shape) + 64, b.random);
    bits.type.shape = shape;
    // The random ones lie behind the specials.
    const size_t size = static_cast<size_t>(*numElements(shape) * byteSize(dtype));
    bits.data.erase(bits.data.begin(), bits.data.end() - static_cast<ptrdiff_t>(size));
    return b.input(std::move(bits));
  }
  return b.x(dtype, shape);
}

static void addReduce(std::vector<Case> &cases, ReduceKind kind, DType dtype, const Form &form) {
  if (!accepts(kind, dtype))
    return;
  cases.push_back({"reduce." + std::string(toString(kind)) + "." + std::string(toString(dtype)) + "." + nameOf(form),
                   [=](Builder &b) {
                     return std::vector<NodeId>{b.reduce(kind, operand(b, kind, dtype, form.shape), form.dims)};
                   }});
}

/// NaN, infinities and zeros of both signs among what is combined.
static void addSpecial(std::vector<Case> &cases, ReduceKind kind, DType dtype) {
  if (!accepts(kind, dtype))
    return;
  cases.push_back(
      {"reduce." + std::string(toString(kind)) + "." + std::string(toString(dtype)) + ".specials",
       [=](Builder &b) {
         auto [left, right] = hurtingPairs(dtype, 0, b.random);
         const int64_t n = left.type.shape[0];
         const NodeId l = b.reshape(b.input(std::move(left)), {n, 1});
         const NodeId r = b.reshape(b.input(std::move(right)), {n, 1});
         // Each row holds a pair, three times.
         const NodeId row =
             b.select(b.expand(b.reshape(b.constant(makeTensor(DType::Bool, {6}, {0, 1, 0, 1, 1, 0})), {1, 6}), {n, 6}),
                      b.expand(l, {n, 6}), b.expand(r, {n, 6}));
         return std::vector<NodeId>{b.reduce(kind, row, {1}), b.reduce(kind, b.permute(row, {1, 0}), {0})};
       },
       // In another order a product of small numbers and an infinity may be NaN.
       /*strict=*/kind != ReduceKind::Mul});
}

/// A sum begins with +0, and nothing else does: rows and columns of -0 alone, as they are, as windows and between
/// pads. The bits are compared, because -0 and +0 are equal.
static void addNegativeZeros(std::vector<Case> &cases, ReduceKind kind, DType dtype) {
  if (!accepts(kind, dtype) || !isFloat(dtype))
    return;
  cases.push_back(
      {"reduce." + std::string(toString(kind)) + "." + std::string(toString(dtype)) + ".negative-zeros",
       [=](Builder &b) {
         const DType bits = byteSize(dtype) == 8 ? DType::U64 : byteSize(dtype) == 4 ? DType::U32 : DType::U16;
         std::vector<NodeId> outputs;
         const auto add = [&](NodeId x) { outputs.push_back(b.bitcast(x, bits)); };
         const auto zeros = [&](Shape shape) {
           std::vector<double> values(static_cast<size_t>(*numElements(shape)), -0.0);
           return b.input(makeTensor(dtype, std::move(shape), values));
         };
         for (const int64_t n : {1, 2, 17, 1000}) {
           add(b.reduce(kind, zeros({3, n}), {1}));
           add(b.reduce(kind, zeros({n, 3}), {0}));
           add(b.reduce(kind, zeros({3, n, 1}), {1, 2}));
           add(b.reduce(kind, b.mul(zeros({3, n}), b.splat(dtype, {3, n}, 2)), {1}));
           if (kind == ReduceKind::Mul)
             continue;
           const NodeId padded = b.pad(zeros({n}), b.splat(dtype, {}, -0.0), {1}, {1}, {0});
           add(b.reduce(kind, padded, {0}));
           add(b.reduce(kind, b.window(padded, {0}, {2}, {1}, {1}), {1}));
           add(b.scan(kind, zeros({3, n}), 1, false));
           add(b.scan(kind, zeros({3, n}), 1, true));
         }
         return outputs;
       }});
}

/// Rows whose extreme element stands at each position once, among numbers of the same sign and of
/// both: none of several chains of a reduce may be dropped, or combined as if there were no signs.
static void addExtremes(std::vector<Case> &cases, ReduceKind kind, DType dtype) {
  cases.push_back(
      {"reduce." + std::string(toString(kind)) + "." + std::string(toString(dtype)) + ".extreme-at-each-position",
       [=](Builder &b) {
         const int64_t n = 67;
         const bool max = kind == ReduceKind::Max;
         const NodeId diagonal =
             b.binary(BinaryKind::Eq, b.iota({DType::I32, {n, n}}, 0), b.iota({DType::I32, {n, n}}, 1));
         std::vector<NodeId> outputs;
         // Low and high of the others, and the extreme.
         const int64_t ranges[][3] = {{50, 90, max ? 91 : 3}, {-90, -50, max ? -3 : -91}, {-40, 40, max ? 41 : -41}};
         for (auto [low, high, extreme] : ranges) {
           if (low < 0 && !isSignedInteger(dtype))
             continue;
           const NodeId others = b.input(integers(dtype, {n, n}, low, high, b.random));
           const NodeId x = b.select(diagonal, b.splat(dtype, {n, n}, double(extreme)), others);
           outputs.push_back(b.reduce(kind, x, {1}));
           outputs.push_back(b.reduce(kind, x, {0}));
           outputs.push_back(b.reduce(kind, others, {0, 1}));
         }
         return outputs;
       }});
}

/// Any, all, counts, and a reduce of what a reduce gave.
static void addMixed(std::vector<Case> &cases) {
  cases.push_back({"reduce.count", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {33, 100});
                     const NodeId positive = b.binary(BinaryKind::Gt, x, b.like(x, 0));
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, b.cast(positive, DType::I32), {0, 1}),
                                                b.reduce(ReduceKind::Or, positive, {0}),
                                                b.reduce(ReduceKind::And, positive, {1})};
                   }});
  cases.push_back({"reduce.twice", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {7, 17, 33});
                     const NodeId rows = b.reduce(ReduceKind::Max, x, {2});
                     return std::vector<NodeId>{b.reduce(ReduceKind::Min, rows, {0}),
                                                b.reduce(ReduceKind::Add, rows, {0, 1})};
                   }});
  // Few results of many elements, which are combined in two steps.
  cases.push_back({"reduce.long", [](Builder &b) {
                     const NodeId rows = b.x(DType::F32, {300, 1024}), line = b.x(DType::I32, {262400});
                     const NodeId kept = b.x(DType::F64, {2, 16384, 12});
                     return std::vector<NodeId>{
                         b.reduce(ReduceKind::Add, b.binary(BinaryKind::Mul, rows, rows), {0, 1}),
                         b.reduce(ReduceKind::Min, rows, {0, 1}),
                         b.reduce(ReduceKind::Add, line, {0}),
                         b.reduce(ReduceKind::Max, b.unary(UnaryKind::Neg, line), {0}),
                         b.reduce(ReduceKind::Add, kept, {1, 2}),
                         b.reduce(ReduceKind::Or, b.binary(BinaryKind::Eq, line, b.like(line, 3)), {0}),
                         b.reduce(ReduceKind::Add, b.x(DType::F16, {600, 512}), {0, 1})};
                   }});
  cases.push_back({"reduce.of-iota", [](Builder &b) {
                     const NodeId i = b.iota({DType::I64, {1000}}, 0);
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, i, {0}), b.reduce(ReduceKind::Max, i, {0})};
                   }});
  cases.push_back({"reduce.of-splat", [](Builder &b) {
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, b.splat(DType::I32, {5, 7}, 3), {0}),
                                                b.reduce(ReduceKind::Mul, b.splat(DType::F32, {5, 7}, 2), {1}),
                                                b.reduce(ReduceKind::Max, b.splat(DType::F64, {5, 7}, -1), {0, 1})};
                   }});
  cases.push_back({"reduce.long", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {100003});
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, x, {0}), b.reduce(ReduceKind::Min, x, {0})};
                   }});
  cases.push_back({"reduce.empty", [](Builder &b) {
                     const NodeId f = b.x(DType::F32, {4, 0}), i = b.x(DType::I16, {0});
                     const NodeId bools = b.x(DType::Bool, {0, 3});
                     return std::vector<NodeId>{
                         b.reduce(ReduceKind::Add, f, {1}),     b.reduce(ReduceKind::Mul, f, {1}),
                         b.reduce(ReduceKind::Max, f, {0}),     b.reduce(ReduceKind::Add, i, {0}),
                         b.reduce(ReduceKind::Mul, i, {0}),     b.reduce(ReduceKind::And, i, {0}),
                         b.reduce(ReduceKind::And, bools, {0}), b.reduce(ReduceKind::Or, bools, {0})};
                   }});
}

/// Columns of which there are few, so that threads share them; of one and of several elements at a time, in what is
/// left of a strip, through views, and in parts.
static void addColumns(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I32, DType::I8})
    cases.push_back({"reduce.columns." + std::string(toString(dtype)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       const int64_t forms[][2] = {{577, 320}, {333, 33}, {64, 768}, {1031, 20},
                                                   {40, 2},    {257, 24}, {129, 136}};
                       for (auto [rows, columns] : forms) {
                         const NodeId x = b.x(dtype, {rows, columns});
                         outputs.push_back(b.reduce(ReduceKind::Add, x, {0}));
                         outputs.push_back(b.reduce(ReduceKind::Max, x, {0}));
                       }
                       const NodeId x = b.x(dtype, {3, 35, 7, 48});
                       outputs.push_back(b.reduce(ReduceKind::Add, x, {1, 2}));
                       outputs.push_back(b.reduce(ReduceKind::Min, x, {0, 1}));
                       outputs.push_back(b.reduce(ReduceKind::Add, x, {1}));
                       return outputs;
                     }});
  // Each column is walked again, by the same threads.
  cases.push_back({"reduce.columns.normalized", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {2, 333, 48});
                     auto spread = [&](NodeId row) { return b.expand(b.reshape(row, {2, 1, 48}), {2, 333, 48}); };
                     const NodeId d = b.binary(BinaryKind::Sub, x, spread(b.reduce(ReduceKind::Max, x, {1})));
                     const NodeId e = b.unary(UnaryKind::Exp, d);
                     return std::vector<NodeId>{
                         b.binary(BinaryKind::Div, e, spread(b.reduce(ReduceKind::Add, e, {1})))};
                   }});
  cases.push_back({"reduce.columns.gathered", [](Builder &b) {
                     const NodeId table = b.x(DType::BF16, {61, 96});
                     const NodeId odd = b.x(DType::F32, {61, 33});
                     const NodeId row =
                         b.binary(BinaryKind::Rem, b.iota({DType::I64, {5, 77}}, 1), b.splat(DType::I64, {5, 77}, 64));
                     const NodeId sum = b.reduce(ReduceKind::Add, b.cast(b.gather(table, row, 0), DType::F32), {1});
                     return std::vector<NodeId>{sum, b.reduce(ReduceKind::Add, b.gather(odd, row, 0), {1})};
                   }});
  // Rows times the weights of the experts that they chose, in parts; an index is outside.
  cases.push_back({"reduce.columns.experts", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {2, 512}), w = b.x(DType::F32, {3, 512, 300}),
                                  turned = b.x(DType::F32, {3, 40, 9000});
                     const NodeId chosen = b.input(makeTensor(DType::I64, {2}, {2, 3}));
                     const NodeId picked = b.permute(b.gather(w, chosen, 0), {0, 2, 1});
                     const NodeId terms =
                         b.binary(BinaryKind::Mul, b.expand(b.reshape(x, {2, 1, 512}), {2, 300, 512}), picked);
                     const NodeId rows = b.gather(turned, chosen, 0);
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, terms, {2}),
                                                b.reduce(ReduceKind::Add, b.binary(BinaryKind::Mul, rows, rows), {2})};
                   }});
  // The norm of a channel, of short rows of all images.
  for (DType dtype : {DType::F32, DType::BF16})
    cases.push_back(
        {"reduce.channels." + std::string(toString(dtype)), [=](Builder &b) {
           std::vector<NodeId> outputs;
           for (const Shape &shape : {Shape{16, 10, 14, 14}, Shape{9, 7, 15, 17}, Shape{40, 5, 6, 28}}) {
             const NodeId x = b.cast(b.x(dtype, shape), DType::F32);
             const double count = static_cast<double>(shape[0] * shape[2] * shape[3]);
             auto spread = [&](NodeId sum) {
               return b.mul(b.expand(b.reshape(sum, {1, shape[1], 1, 1}), shape),
                            b.splat(DType::F32, shape, 1 / count));
             };
             const NodeId d = b.sub(x, spread(b.reduce(ReduceKind::Add, x, {0, 2, 3})));
             const NodeId square = spread(b.reduce(ReduceKind::Add, b.mul(d, d), {0, 2, 3}));
             outputs.push_back(
                 b.cast(b.div(d, b.unary(UnaryKind::Sqrt, b.binary(BinaryKind::Add, square, b.like(d, 1)))), dtype));
           }
           return outputs;
         }});
  // Two rows and many, in one kernel.
  cases.push_back({"reduce.columns.uneven", [](Builder &b) {
                     const NodeId few = b.reduce(ReduceKind::Add, b.x(DType::I64, {2, 256}), {0});
                     const NodeId many = b.reduce(ReduceKind::Add, b.x(DType::F32, {64, 256}), {0});
                     return std::vector<NodeId>{few, b.binary(BinaryKind::Mul, b.cast(few, DType::F32), many)};
                   }});
  // Extents that no power of two divides, channels that come last, and few leading rows.
  cases.push_back({"reduce.columns.parted", [](Builder &b) {
                     const NodeId x = b.x(DType::F16, {15, 1023, 24}), y = b.x(DType::F32, {4, 2048, 40});
                     const NodeId last = b.permute(b.x(DType::F32, {2, 45, 41, 96}), {0, 3, 1, 2});
                     const NodeId line = b.x(DType::F32, {3 * 87383});
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, x, {0, 1}),
                                                b.reduce(ReduceKind::Add, y, {0, 1}),
                                                b.reduce(ReduceKind::Max, b.binary(BinaryKind::Mul, y, y), {0, 1}),
                                                b.reduce(ReduceKind::Add, last, {0, 2, 3}),
                                                b.reduce(ReduceKind::Add, line, {0}),
                                                b.reduce(ReduceKind::Add, b.x(DType::F32, {96, 52, 60}), {1, 2})};
                   }});
}

/// Filters' gradients of depthwise convolutions: for each place of the window a sum of products over all images.
static void addFilterGradients(std::vector<Case> &cases) {
  struct Layer {
    const char *name;
    Shape images;
    int64_t window;
    bool isChannelsLast;
    /// How far the places of the window, and its steps, are apart.
    int64_t stride = 1, dilation = 1;
  };
  const Layer layers[] = {{"3x3", {2, 12, 29, 28}, 3, false},
                          {"7x7", {3, 12, 29, 28}, 7, false},
                          {"7x7-last", {3, 12, 29, 30}, 7, true},
                          {"5x5-odd", {5, 40, 17, 15}, 5, false},
                          {"7x7-many", {2, 80, 16, 24}, 7, false},
                          {"3x3-strided", {2, 72, 33, 32}, 3, false, 2},
                          {"3x3-dilated", {2, 72, 26, 28}, 3, false, 1, 2}};
  for (const Layer &layer : layers)
    for (DType dtype : {DType::F32, DType::BF16})
      cases.push_back(
          {std::string("reduce.filter-gradient.") + layer.name + "." + std::string(toString(dtype)), [=](Builder &b) {
             Shape shape = layer.images;
             const int64_t pad = layer.window / 2, w = layer.window, reach = (w - 1) * layer.dilation + 1;
             const Shape last = {shape[0], shape[2], shape[3], shape[1]};
             NodeId x = layer.isChannelsLast ? b.permute(b.x(dtype, last), {0, 3, 1, 2}) : b.x(dtype, shape);
             const NodeId padded = b.pad(x, b.splat(dtype, {}, 0), {0, 0, pad, pad}, {0, 0, pad, pad}, {0, 0, 0, 0});
             const NodeId slid = b.cast(
                 b.window(padded, {2, 3}, {w, w}, {layer.stride, layer.stride}, {layer.dilation, layer.dilation}),
                 DType::F32);
             for (size_t dim : {2, 3})
               shape[dim] = (shape[dim] + 2 * pad - reach) / layer.stride + 1;
             Shape ones = shape, all = shape;
             ones.insert(ones.end(), {1, 1});
             all.insert(all.end(), {w, w});
             const NodeId dy = b.expand(b.reshape(b.x(DType::F32, shape), ones), all);
             return std::vector<NodeId>{b.reduce(ReduceKind::Add, b.mul(slid, dy), {0, 2, 3}),
                                        b.reduce(ReduceKind::Add, b.mul(slid, dy), {2, 3})};
           }});
  // Of gradients that are computed, and that something else reads, too. There are enough elements for parts.
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    cases.push_back({"reduce.filter-gradient.computed." + std::string(toString(dtype)), [=](Builder &b) {
                       const Shape shape{8, 12, 24, 26};
                       Shape ones = shape, all = shape;
                       ones.insert(ones.end(), {1, 1});
                       all.insert(all.end(), {3, 3});
                       const NodeId x = b.x(dtype, shape);
                       const NodeId padded = b.pad(x, b.splat(dtype, {}, 0), {0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0});
                       const NodeId slid = b.cast(b.window(padded, {2, 3}, {3, 3}, {1, 1}, {1, 1}), DType::F32);
                       const NodeId norm = b.expand(b.reshape(b.x(DType::F32, {12}), {1, 12, 1, 1}), shape);
                       const NodeId dy = b.cast(b.mul(b.cast(b.x(dtype, shape), DType::F32), norm), dtype);
                       const NodeId wide = b.cast(dy, DType::F32);
                       return std::vector<NodeId>{
                           b.reduce(ReduceKind::Add, b.mul(slid, b.expand(b.reshape(wide, ones), all)), {0, 2, 3}), dy,
                           b.reduce(ReduceKind::Add, wide, {0, 2, 3})};
                     }});
  // Gradients of a norm over images: sums of the same gradients, once by themselves and once times other values.
  for (bool isChannelsLast : {false, true})
    for (DType dtype : {DType::F32, DType::BF16, DType::F16})
      for (const Shape &shape : {Shape{5, 24, 7, 9}, Shape{16, 48, 22, 20}})
        cases.push_back(
            {std::string("reduce.norm-gradients.") + (shape[0] == 5 ? "small" : "large") +
                 (isChannelsLast ? "-last." : ".") + std::string(toString(dtype)),
             [=](Builder &b) {
               const int64_t channels = shape[1];
               auto image = [&] {
                 return isChannelsLast ? b.permute(b.x(dtype, {shape[0], shape[2], shape[3], channels}), {0, 3, 1, 2})
                                       : b.x(dtype, shape);
               };
               const NodeId dy = b.cast(image(), DType::F32), x = b.cast(image(), DType::F32);
               auto spread = [&](NodeId value) { return b.expand(b.reshape(value, {1, channels, 1, 1}), shape); };
               auto sum = [&](NodeId value) { return b.reduce(ReduceKind::Add, value, {0, 2, 3}); };
               const NodeId scaled = b.mul(dy, spread(b.x(DType::F32, {channels})));
               const NodeId apart = b.binary(BinaryKind::Sub, x, spread(b.x(DType::F32, {channels})));
               return std::vector<NodeId>{sum(dy), sum(b.mul(scaled, apart)), sum(b.mul(dy, apart)),
                                          b.cast(b.reduce(ReduceKind::Max, dy, {0, 2, 3}), dtype),
                                          b.cast(b.mul(scaled, apart), dtype)};
             }});
  // Of rows whose channels come last in memory, with what is padded in front alone.
  for (DType dtype : {DType::F32, DType::BF16})
    cases.push_back({"reduce.filter-gradient.causal." + std::string(toString(dtype)), [=](Builder &b) {
                       const Shape rows{3, 300, 256};
                       const NodeId x = b.permute(b.x(dtype, rows), {0, 2, 1});
                       const NodeId padded = b.pad(x, b.splat(dtype, {}, 0), {0, 0, 3}, {0, 0, 0}, {0, 0, 0});
                       const NodeId slid = b.cast(b.window(padded, {2}, {4}, {1}, {1}), DType::F32);
                       const NodeId dy = b.cast(b.permute(b.x(dtype, rows), {0, 2, 1}), DType::F32);
                       const NodeId spread = b.expand(b.reshape(dy, {3, 256, 300, 1}), {3, 256, 300, 4});
                       return std::vector<NodeId>{b.reduce(ReduceKind::Add, b.mul(slid, spread), {0, 2})};
                     }});
}

void addReduceCases(std::vector<Case> &cases) {
  const ReduceKind kinds[] = {ReduceKind::Add, ReduceKind::Max, ReduceKind::Min,
                              ReduceKind::Mul, ReduceKind::And, ReduceKind::Or};
  for (ReduceKind kind : kinds)
    for (DType dtype : allDTypes) {
      addReduce(cases, kind, dtype, {{17, 33}, {1}});
      addReduce(cases, kind, dtype, {{33, 17}, {0}});
      addSpecial(cases, kind, dtype);
      addNegativeZeros(cases, kind, dtype);
    }
  const Form forms[] = {{{100}, {0}},           {{1}, {0}},
                        {{7, 1}, {1}},          {{1, 7}, {0}},
                        {{5, 7}, {0, 1}},       {{7, 17, 33}, {1}},
                        {{7, 17, 33}, {0, 2}},  {{7, 17, 33}, {0, 1}},
                        {{7, 17, 33}, {1, 2}},  {{7, 17, 33}, {0, 1, 2}},
                        {{3, 5, 2, 7}, {1, 3}}, {{3, 5, 2, 7}, {0, 2}},
                        {{100, 100}, {1}},      {{100, 100}, {0}},
                        {{2, 1000}, {1}},       {{1000, 2}, {0}},
                        {{16, 64}, {1}},        {{64, 16}, {0}}};
  for (const Form &form : forms)
    for (ReduceKind kind : {ReduceKind::Add, ReduceKind::Max})
      for (DType dtype : {DType::F32, DType::I32, DType::BF16, DType::F64})
        addReduce(cases, kind, dtype, form);
  for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min})
    for (DType dtype : allDTypes)
      if (isInteger(dtype))
        addExtremes(cases, kind, dtype);
  addMixed(cases);
  addColumns(cases);
  addFilterGradients(cases);
}

} // namespace zyx::conformance
