//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include <cmath>
#include <limits>

namespace zyx::conformance {

using Ints = std::vector<int64_t>;

static std::string named(std::string_view stem, DType dtype) {
  return std::string(stem) + "." + std::string(toString(dtype));
}

/// Infinities, NaNs, the ends of the range and random bits.
static NodeId hurt(Builder &b, DType dtype, Shape shape) {
  HostTensor values = hurting(dtype, *numElements(shape), b.random);
  values.type.shape = std::move(shape);
  values.data.resize(static_cast<size_t>(*byteSize(values.type)));
  return b.input(std::move(values));
}

/// The sum over the windows of two dimensions, each element times that of a filter:
/// x[n, c, h, w], filter[o, c, kh, kw].
static NodeId conv2d(Builder &b, NodeId x, NodeId filter, Ints stride, Ints dilation, DType sum) {
  const Shape f = b.type(filter).shape;
  const NodeId slid = b.window(x, {2, 3}, {f[2], f[3]}, std::move(stride), std::move(dilation));
  const Shape s = b.type(slid).shape; // n, c, oh, ow, kh, kw
  const Shape all = {s[0], f[0], s[2], s[3], s[1], s[4], s[5]};
  const NodeId turned = b.permute(slid, {0, 2, 3, 1, 4, 5});
  const NodeId l = b.expand(b.reshape(turned, {s[0], 1, s[2], s[3], s[1], s[4], s[5]}), all);
  const NodeId r = b.expand(b.reshape(filter, {1, f[0], 1, 1, f[1], f[2], f[3]}), all);
  return b.reduce(ReduceKind::Add, b.mul(b.cast(l, sum), b.cast(r, sum)), {4, 5, 6});
}

static void addFlips(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("flip", dtype), [=](Builder &b) {
                     const NodeId x = hurt(b, dtype, {5, 37});
                     return std::vector<NodeId>{b.flip(x, {0}), b.flip(x, {1}), b.flip(x, {0, 1}),
                                                b.flip(b.permute(x, {1, 0}), {0}),
                                                b.flip(b.reshape(b.flip(x, {1}), {37, 5}), {0})};
                   }});
}

static void addPads(std::vector<Case> &cases, DType dtype) {
  const auto add = [&](const char *variant, auto build) {
    cases.push_back({named("pad", dtype) + variant, [=](Builder &b) {
                       const NodeId x = hurt(b, dtype, {5, 17});
                       std::vector<NodeId> outputs;
                       const NodeId fill = build(b);
                       outputs.push_back(b.pad(x, fill, {1, 0}, {0, 3}, {0, 0}));
                       outputs.push_back(b.pad(x, fill, {-1, -2}, {-3, 2}, {0, 0}));
                       outputs.push_back(b.pad(x, fill, {2, -3}, {-2, 1}, {1, 2}));
                       outputs.push_back(b.pad(x, fill, {-6, 0}, {2, 1}, {0, 20}));
                       outputs.push_back(b.pad(outputs[0], fill, {0, 2}, {1, -1}, {3, 0}));
                       return outputs;
                     }});
  };
  add(".zero", [=](Builder &b) { return b.splat(dtype, {}, 0); });
  add(".constant",
      [=](Builder &b) { return b.splat(dtype, {}, isFloat(dtype) ? std::numeric_limits<double>::quiet_NaN() : 1); });
  add(".data", [=](Builder &b) { return b.x(dtype, {}); });
}

static void addWindows(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("window", dtype), [=](Builder &b) {
                     const NodeId x = hurt(b, dtype, {9, 20});
                     return std::vector<NodeId>{b.window(x, {0}, {3}, {1}, {1}), b.window(x, {1}, {1}, {3}, {1}),
                                                b.window(x, {0, 1}, {2, 5}, {2, 1}, {3, 2}),
                                                b.reshape(b.window(x, {0, 1}, {3, 4}, {3, 4}, {1, 1}), {15, 12})};
                   }});
}

static void addConcats(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("concat", dtype), [=](Builder &b) {
                     const NodeId x = hurt(b, dtype, {5, 17}), y = hurt(b, dtype, {5, 3});
                     const NodeId none = b.x(dtype, {5, 0}), z = hurt(b, dtype, {1, 17});
                     return std::vector<NodeId>{b.concat({x, y}, 1), b.concat({x, z, x}, 0),
                                                b.concat({none, y, none, x, y, x, none}, 1), b.concat({x}, 0)};
                   }});
}

/// Concats of concats: parts that alternate along one dimension or two, as phases of transposed convolutions do, along
/// the last one in rows that are whole vectors and that are not, of different lengths; and one that is read twice.
static void addNestedConcats(std::vector<Case> &cases, DType dtype) {
  cases.push_back(
      {named("concat.nested", dtype), [=](Builder &b) {
         std::vector<NodeId> outputs;
         for (const int64_t columns : {64, 37}) {
           const auto part = [&](int64_t rows, int64_t each) { return hurt(b, dtype, {3, 5, rows, columns, each}); };
           for (const int64_t each : {1, 2}) {
             const NodeId y =
                 b.concat({b.concat({part(1, 1), part(1, each)}, 4), b.concat({part(2, 1), part(2, each)}, 4)}, 2);
             outputs.push_back(b.reshape(y, {3, 15, columns * (1 + each)}));
           }
           const NodeId inner = b.concat({part(1, 1), part(1, 1), part(1, 2)}, 4);
           outputs.push_back(b.concat({b.concat({inner, part(2, 4)}, 2), inner}, 2));
         }
         const NodeId x = hurt(b, dtype, {5, 3}), y = hurt(b, dtype, {5, 4});
         outputs.push_back(b.concat({x, b.concat({y, b.concat({x, x}, 1)}, 1), y}, 1));
         outputs.push_back(b.concat({b.concat({x, b.x(dtype, {5, 0})}, 1), b.concat({y}, 1)}, 1));
         return outputs;
       }});
}

static void addBitcasts(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("bitcast", dtype), [=](Builder &b) {
                     // A signalling NaN may become quiet, so floats are numbers here.
                     const NodeId x = isFloat(dtype) ? b.x(dtype, {133}) : hurt(b, dtype, {133});
                     std::vector<NodeId> outputs;
                     for (DType to : allDTypes)
                       if (to != DType::Bool && byteSize(to) == byteSize(dtype))
                         outputs.push_back(b.bitcast(x, to));
                     if (!isStorageOnly(dtype))
                       outputs.push_back(b.bitcast(b.add(b.one(dtype, {133}), b.one(dtype, {133})), dtype));
                     return outputs;
                   }});
}

static void addTransfers(std::vector<Case> &cases, DType dtype) {
  cases.push_back({named("transfer", dtype), [=](Builder &b) {
                     const NodeId x = hurt(b, dtype, {5, 7});
                     return std::vector<NodeId>{b.transfer(x, "cpu"), b.flip(b.transfer(x, "cuda:1"), {0})};
                   }});
}

/// Shapes that hurt, operands that are computed, and one op behind the other.
static void addForms(std::vector<Case> &cases) {
  const auto add = [&](const char *name, auto build) {
    cases.push_back({name, [=](Builder &b) { return std::vector<NodeId>(build(b)); }});
  };
  using Nodes = std::vector<NodeId>;
  add("flip.forms", [](Builder &b) {
    const NodeId x = b.x(DType::I32, {4, 1, 6}), empty = b.x(DType::F32, {0, 3});
    const NodeId sum = b.reduce(ReduceKind::Add, b.flip(x, {0, 2}), {2});
    const NodeId i = b.flip(b.iota({DType::I64, {9}}, 0), {0});
    return Nodes{b.flip(x, {1}),
                 b.flip(empty, {0, 1}),
                 sum,
                 b.flip(sum, {0}),
                 i,
                 b.flip(b.like(x, 7), {0}),
                 b.add(x, b.flip(x, {0, 1, 2})),
                 b.gather(b.flip(x, {0}), b.input(integers(DType::I32, {5}, -1, 4, b.random)), 0)};
  });
  add("pad.forms", [](Builder &b) {
    const NodeId zero = b.splat(DType::F32, {}, 0), seven = b.splat(DType::F32, {}, 7);
    const NodeId scalar = b.x(DType::F32, {}), empty = b.x(DType::F32, {0, 3});
    const NodeId one = b.x(DType::F32, {1, 3}), x = b.x(DType::F32, {6, 5});
    const NodeId row = b.expand(one, {4, 3});
    const NodeId sum = b.reduce(ReduceKind::Add, b.pad(x, seven, {1, 1}, {1, 1}, {0, 0}), {1});
    const NodeId indices = b.input(integers(DType::I32, {7}, -1, 8, b.random));
    return Nodes{b.pad(scalar, seven, {}, {}, {}),
                 b.pad(empty, seven, {2, 0}, {1, 1}, {0, 0}),
                 b.pad(empty, scalar, {0, -1}, {0, 1}, {5, 0}),
                 b.pad(one, zero, {2, 1}, {1, 0}, {3, 0}),
                 b.pad(row, seven, {1, 0}, {0, 1}, {0, 1}),
                 b.pad(x, zero, {-3, 0}, {-3, 0}, {0, 0}),
                 b.pad(b.pad(x, zero, {1, 1}, {0, 0}, {0, 0}), seven, {1, 1}, {1, 1}, {1, 0}),
                 sum,
                 b.pad(sum, b.reduce(ReduceKind::Max, sum, {0}), {1}, {2}, {1}),
                 b.pad(b.like(x, 3), zero, {1, 0}, {0, 1}, {0, 0}),
                 b.pad(b.iota({DType::F32, {9}}, 0), seven, {2}, {-3}, {1}),
                 b.gather(b.pad(x, zero, {1, 0}, {1, 0}, {0, 0}), indices, 0),
                 b.gather(b.pad(x, seven, {1, 0}, {1, 0}, {0, 0}), indices, 0),
                 b.reshape(b.pad(x, seven, {0, 1}, {0, 0}, {0, 0}), {9, 4})};
  });
  // Sums of elements with fills between them, written with another dimension last: squares through several blocks.
  for (DType dtype : {DType::F32, DType::BF16})
    cases.push_back({named("pad.between-turned", dtype), [=](Builder &b) {
                       const NodeId x = b.x(DType::F32, {3, 70, 9, 68}), zero = b.splat(DType::F32, {}, 0);
                       Shape low(4, 0), high(4, 0), interior(4, 0);
                       interior[2] = 1;
                       std::vector<NodeId> parts;
                       for (int64_t at : {0, 1, 2}) {
                         low[2] = at, high[2] = 3 - at;
                         parts.push_back(b.pad(x, zero, low, high, interior));
                       }
                       const NodeId all = b.add(b.add(parts[0], parts[1]), parts[2]);
                       return std::vector<NodeId>{b.cast(b.permute(all, {0, 2, 3, 1}), dtype)};
                     }});
  // Patches of two by two that lie with their channels last.
  for (DType dtype : {DType::F32, DType::BF16})
    cases.push_back({named("permute.patches", dtype), [=](Builder &b) {
                       const NodeId x = b.x(dtype, {2, 17, 19, 2, 2, 66});
                       return std::vector<NodeId>{b.reshape(b.permute(x, {0, 5, 1, 3, 2, 4}), {2, 66, 34, 38})};
                     }});
  add("window.forms", [](Builder &b) {
    const NodeId x = b.x(DType::F32, {6, 10}), zero = b.splat(DType::F32, {}, 0);
    const NodeId padded = b.pad(x, zero, {1, 2}, {1, 2}, {0, 0});
    const NodeId y = b.add(x, x);
    return Nodes{b.window(x, {0}, {7}, {1}, {1}),
                 b.window(b.x(DType::F32, {0, 2}), {0, 1}, {1, 2}, {1, 1}, {1, 1}),
                 b.window(b.x(DType::I8, {1, 1}), {0, 1}, {1, 1}, {4, 1}, {1, 9}),
                 b.window(padded, {1}, {3}, {2}, {2}),
                 b.window(b.flip(x, {1}), {1}, {4}, {1}, {1}),
                 b.flip(b.window(padded, {0, 1}, {3, 3}, {1, 1}, {1, 1}), {2, 3}),
                 b.window(b.window(x, {1}, {5}, {1}, {1}), {2}, {2}, {1}, {2}),
                 b.window(y, {1}, {3}, {1}, {1}),
                 b.reduce(ReduceKind::Add, b.window(y, {1}, {3}, {1}, {1}), {2})};
  });
  add("concat.forms", [](Builder &b) {
    const NodeId x = b.x(DType::F32, {4, 6}), y = b.unary(UnaryKind::Neg, x);
    const NodeId t = b.permute(b.x(DType::F32, {6, 4}), {1, 0});
    const NodeId sums = b.reduce(ReduceKind::Add, x, {1});
    std::vector<NodeId> many;
    for (int i = 0; i < 13; ++i)
      many.push_back(b.splat(DType::F32, {1 + i % 3}, i));
    return Nodes{b.concat({x, y, t}, 0),
                 b.concat({y, b.flip(x, {0}), y}, 1),
                 b.reduce(ReduceKind::Max, b.concat({x, y}, 1), {1}),
                 b.concat({sums, sums, b.unary(UnaryKind::Abs, sums)}, 0),
                 b.concat(many, 0),
                 b.concat({b.pad(x, b.splat(DType::F32, {}, 5), {1, 0}, {0, 0}, {0, 0}), x}, 0),
                 b.concat({b.x(DType::F32, {0, 6}), b.x(DType::F32, {0, 6})}, 0),
                 b.concat({b.iota({DType::F32, {3}}, 0), b.iota({DType::F32, {4}}, 0)}, 0)};
  });
}

/// What the ops are for.
static void addCompositions(std::vector<Case> &cases) {
  const auto conv = [&](const char *name, DType dtype, DType sum, Shape x, Shape filter, Ints pad, Ints stride,
                        Ints dilation) {
    cases.push_back({name, [=](Builder &b) {
                       const NodeId in = b.x(dtype, x), weights = b.x(dtype, filter);
                       const NodeId padded = b.pad(in, b.splat(dtype, {}, 0), {0, 0, pad[0], pad[1]},
                                                   {0, 0, pad[0], pad[1]}, {0, 0, 0, 0});
                       const NodeId y = conv2d(b, padded, weights, stride, dilation, sum);
                       return std::vector<NodeId>{y, b.binary(BinaryKind::Max, y, b.like(y, 0))};
                     }});
  };
  using enum DType;
  conv("conv.3x3", F32, F32, {2, 3, 9, 11}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1});
  conv("conv.strided", F32, F32, {1, 4, 12, 12}, {8, 4, 5, 3}, {2, 0}, {2, 3}, {1, 1});
  conv("conv.dilated", F64, F64, {1, 2, 10, 9}, {3, 2, 2, 3}, {2, 2}, {1, 2}, {3, 2});
  conv("conv.1x1", F32, F32, {2, 16, 5, 5}, {24, 16, 1, 1}, {0, 0}, {1, 1}, {1, 1});
  conv("conv.bf16", BF16, F32, {2, 3, 8, 8}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1});
  conv("conv.i8", I8, I32, {1, 5, 7, 6}, {4, 5, 3, 2}, {1, 1}, {1, 1}, {1, 1});
  conv("conv.one-channel", F32, F32, {1, 1, 8, 8}, {1, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1});
  cases.push_back({"conv.depthwise", [](Builder &b) {
                     const NodeId x = b.x(F32, {2, 6, 8, 8}), f = b.x(F32, {6, 3, 3});
                     const NodeId padded = b.pad(x, b.splat(F32, {}, 0), {0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0});
                     const NodeId slid = b.window(padded, {2, 3}, {3, 3}, {1, 1}, {1, 1});
                     const NodeId r = b.expand(b.reshape(f, {1, 6, 1, 1, 3, 3}), b.type(slid).shape);
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, b.mul(slid, r), {4, 5})};
                   }});
  cases.push_back({"conv.transposed", [](Builder &b) {
                     // The derivative of a convolution of stride 2 by its input.
                     const NodeId x = b.x(F32, {1, 4, 5, 6}), f = b.x(F32, {3, 4, 3, 3});
                     const NodeId apart = b.pad(x, b.splat(F32, {}, 0), {0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 1, 1});
                     return std::vector<NodeId>{conv2d(b, apart, b.flip(f, {2, 3}), {1, 1}, {1, 1}, F32)};
                   }});
  cases.push_back({"conv.after-conv", [](Builder &b) {
                     const NodeId x = b.x(F32, {1, 2, 8, 8});
                     const NodeId f = b.x(F32, {4, 2, 3, 3}), g = b.x(F32, {3, 4, 3, 3});
                     const NodeId y = conv2d(b, x, f, {1, 1}, {1, 1}, F32);
                     const NodeId relu = b.binary(BinaryKind::Max, y, b.like(y, 0));
                     const NodeId padded = b.pad(relu, b.splat(F32, {}, 0), {0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0});
                     return std::vector<NodeId>{conv2d(b, padded, g, {1, 1}, {1, 1}, F32)};
                   }});
  for (DType dtype : {F32, F16, I32, U8})
    cases.push_back(
        {named("pool.max", dtype), [=](Builder &b) {
           const NodeId x = hurt(b, dtype, {2, 3, 9, 10});
           const double least = isFloat(dtype) ? -std::numeric_limits<double>::infinity() : dtype == I32 ? -0x1p31 : 0;
           const NodeId padded = b.pad(x, b.splat(dtype, {}, least), {0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0});
           const NodeId slid = b.window(padded, {2, 3}, {3, 3}, {2, 2}, {1, 1});
           return std::vector<NodeId>{b.reduce(ReduceKind::Max, slid, {4, 5})};
         }});
  // Windows that overlap so much that a processor copies what they slide over, in either order of memory.
  for (DType dtype : {F32, F64, BF16})
    for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min})
      cases.push_back({named("pool.wide", dtype) + "." + std::string(toString(kind)), [=](Builder &b) {
                         const double least =
                             std::numeric_limits<double>::infinity() * (kind == ReduceKind::Max ? -1 : 1);
                         const auto pooled = [&](NodeId x) {
                           const NodeId padded =
                               b.pad(x, b.splat(dtype, {}, least), {0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 0, 0});
                           return b.reduce(kind, b.window(padded, {2, 3}, {5, 5}, {1, 1}, {1, 1}), {4, 5});
                         };
                         return std::vector<NodeId>{pooled(hurt(b, dtype, {1, 3, 9, 21})),
                                                    pooled(b.permute(hurt(b, dtype, {1, 7, 6, 40}), {0, 3, 1, 2}))};
                       }});
  // Images whose channels come last and results whose do not, of which a card copies the images first.
  for (DType dtype : {F32, BF16})
    cases.push_back({named("pool.images", dtype), [=](Builder &b) {
                       const NodeId x = b.permute(hurt(b, dtype, {2, 40, 36, 20}), {0, 3, 1, 2});
                       const NodeId least = b.splat(dtype, {}, -std::numeric_limits<double>::infinity());
                       const NodeId padded = b.pad(x, least, {0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 0, 0});
                       const NodeId slid = b.window(padded, {2, 3}, {5, 5}, {1, 1}, {1, 1});
                       return std::vector<NodeId>{b.reduce(ReduceKind::Max, slid, {4, 5})};
                     }});
  // Windows that are moved by several elements, of which a processor reads every second, third or fourth one of a copy.
  for (DType dtype : {F32, F16, BF16, F64})
    for (const int64_t step : {2, 3, 4})
      cases.push_back(
          {named("pool.moved", dtype) + "." + std::to_string(step), [=](Builder &b) {
             const NodeId x = hurt(b, dtype, {2, 5, 13, 75});
             const auto pooled = [&](ReduceKind kind, double fill) {
               const NodeId padded = b.pad(x, b.splat(dtype, {}, fill), {0, 0, 1, 1}, {0, 0, 1, 2}, {0, 0, 0, 0});
               return b.reduce(kind, b.window(padded, {2, 3}, {5, step + 1}, {2, step}, {1, 1}), {4, 5});
             };
             const double infinity = std::numeric_limits<double>::infinity();
             return std::vector<NodeId>{pooled(ReduceKind::Max, -infinity), pooled(ReduceKind::Min, infinity)};
           }});
  // Large windows that overlap are combined along one dimension after the other; results and what they read are moved.
  for (DType dtype : {F32, F64, BF16, I32})
    cases.push_back({named("pool.large", dtype), [=](Builder &b) {
                       const NodeId x = b.x(dtype, {2, 5, 28, 29});
                       const auto slid = [&](int64_t rows, int64_t columns, int64_t step) {
                         return b.window(x, {2, 3}, {rows, columns}, {step, step}, {1, 1});
                       };
                       const NodeId volume =
                           b.window(b.x(dtype, {12, 13, 14}), {0, 1, 2}, {5, 4, 6}, Ints(3, 1), Ints(3, 1));
                       return std::vector<NodeId>{b.reduce(ReduceKind::Add, slid(7, 7, 2), {4, 5}),
                                                  b.reduce(ReduceKind::Max, slid(5, 6, 1), {4, 5}),
                                                  b.reduce(ReduceKind::Min, slid(9, 4, 3), {4, 5}),
                                                  b.reduce(ReduceKind::Max, volume, {3, 4, 5})};
                     }});
  // Windows beside each other, or over each other, without padding. More rows than a program has.
  for (DType dtype : {F32, F16, I32, F64})
    for (const int64_t step : {2, 3, 4})
      cases.push_back({named("pool.beside", dtype) + "." + std::to_string(step), [=](Builder &b) {
                         const auto slid = [&](NodeId x, int64_t size) {
                           return b.window(x, {2, 3}, {size, size}, {step, step}, {1, 1});
                         };
                         const NodeId few = b.x(dtype, {2, 5, 6 * step, 7 * step});
                         const NodeId many = b.x(dtype, {2, 67, 5 * step, 14 * step});
                         return std::vector<NodeId>{b.reduce(ReduceKind::Max, slid(few, step), {4, 5}),
                                                    b.reduce(ReduceKind::Min, slid(many, step), {4, 5}),
                                                    b.reduce(ReduceKind::Add, slid(many, step), {4, 5}),
                                                    b.reduce(ReduceKind::Max, slid(many, step + 1), {4, 5}),
                                                    b.reduce(ReduceKind::Add, slid(many, step - 1), {4, 5})};
                       }});
  // Blocks of channels become those of an image, whose neighbours are of two or four rows in turn.
  for (DType dtype : {F32, F16, U8})
    for (const int64_t block : {2, 3, 4})
      cases.push_back({named("permute.in-turn", dtype) + "." + std::to_string(block), [=](Builder &b) {
                         const NodeId x = b.x(dtype, {2, 3 * block * block, 4, 21});
                         const NodeId apart = b.permute(b.reshape(x, {2, 3, block, block, 4, 21}), {0, 1, 4, 2, 5, 3});
                         const NodeId y = b.reshape(apart, {2, 3, 4 * block, 21 * block});
                         return std::vector<NodeId>{y, b.add(y, b.x(dtype, b.type(y).shape))};
                       }});
  // What is slow to compute of each channel, repeated for all positions.
  for (DType dtype : {F32, F16, I32})
    cases.push_back({named("expand.of-slow", dtype), [=](Builder &b) {
                       const NodeId x = b.x(dtype, {3, 30, 37}), y = b.one(dtype, {37}), z = b.x(dtype, {37});
                       const NodeId slow = b.div(z, b.add(b.mul(y, y), b.like(y, 1)));
                       const auto spread = [&](NodeId v) { return b.along(v, {3, 30, 37}, 2); };
                       return std::vector<NodeId>{b.add(b.mul(x, spread(slow)), spread(b.add(slow, z)))};
                     }});
  // Large windows that stride: threads have several rows of results, and their neighbours the next columns, or
  // channels.
  for (DType dtype : {F32, F16})
    for (const bool channelsLast : {false, true})
      cases.push_back({named("pool.strided", dtype) + (channelsLast ? ".last" : ""), [=](Builder &b) {
                         const NodeId x = channelsLast ? b.permute(b.x(dtype, {96, 19, 19, 64}), {0, 3, 1, 2})
                                                       : b.x(dtype, {96, 64, 19, 19});
                         const NodeId slid = b.window(b.cast(x, F32), {2, 3}, {7, 7}, {2, 2}, {1, 1});
                         return std::vector<NodeId>{b.cast(b.reduce(ReduceKind::Add, slid, {4, 5}), dtype)};
                       }});
  // Few channels of several images are summed up, and what is summed is written with its channels last.
  for (DType dtype : {F32, BF16})
    cases.push_back({named("permute.and-sum", dtype), [=](Builder &b) {
                       const NodeId x = b.permute(b.x(dtype, {3, 6, 40, 40}), {0, 2, 3, 1});
                       const NodeId scaled =
                           b.mul(x, b.expand(b.reshape(b.x(dtype, {6}), {1, 1, 1, 6}), {3, 40, 40, 6}));
                       return std::vector<NodeId>{scaled, b.reduce(ReduceKind::Add, scaled, {0, 1, 2})};
                     }});
  cases.push_back({"pool.mean", [](Builder &b) {
                     const NodeId x = b.x(F32, {2, 3, 8, 8});
                     const NodeId slid = b.window(x, {2, 3}, {2, 2}, {2, 2}, {1, 1});
                     const NodeId sum = b.reduce(ReduceKind::Add, slid, {4, 5});
                     return std::vector<NodeId>{b.mul(sum, b.like(sum, 0.25))};
                   }});
  cases.push_back({"pool.rolling-softmax", [](Builder &b) {
                     const NodeId x = b.x(F32, {5, 40});
                     const NodeId slid = b.window(x, {1}, {8}, {4}, {1});
                     const NodeId most = b.back(b.reduce(ReduceKind::Max, slid, {2}), 2, 8);
                     const NodeId e = b.unary(UnaryKind::Exp, b.sub(slid, most));
                     return std::vector<NodeId>{b.div(e, b.back(b.reduce(ReduceKind::Add, e, {2}), 2, 8))};
                   }});
}

void addMovementCases(std::vector<Case> &cases) {
  for (DType dtype : allDTypes) {
    addFlips(cases, dtype);
    addPads(cases, dtype);
    addWindows(cases, dtype);
    addConcats(cases, dtype);
    addNestedConcats(cases, dtype);
    addTransfers(cases, dtype);
    if (dtype != DType::Bool)
      addBitcasts(cases, dtype);
  }
  addForms(cases);
  addCompositions(cases);
}

} // namespace zyx::conformance
