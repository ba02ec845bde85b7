//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

namespace zyx::conformance {

/// A chain of views.
struct Chain {
  const char *name;
  std::function<NodeId(Builder &, DType)> build;
};

static const Chain chains[] = {
    {"transpose", [](Builder &b, DType t) { return b.permute(b.x(t, {17, 33}), {1, 0}); }},
    {"rotate", [](Builder &b, DType t) { return b.permute(b.x(t, {3, 7, 17}), {2, 0, 1}); }},
    {"swap-outer", [](Builder &b, DType t) { return b.permute(b.x(t, {5, 6, 16}), {1, 0, 2}); }},
    {"rank-5", [](Builder &b, DType t) { return b.permute(b.x(t, {2, 3, 4, 5, 6}), {4, 2, 0, 3, 1}); }},
    {"expand-row", [](Builder &b, DType t) { return b.expand(b.x(t, {1, 33}), {17, 33}); }},
    {"expand-column", [](Builder &b, DType t) { return b.expand(b.x(t, {17, 1}), {17, 33}); }},
    {"expand-scalar", [](Builder &b, DType t) { return b.expand(b.reshape(b.x(t, {}), {1, 1}), {7, 9}); }},
    {"expand-middle", [](Builder &b, DType t) { return b.expand(b.x(t, {3, 1, 5}), {3, 7, 5}); }},
    {"expand-nothing", [](Builder &b, DType t) { return b.expand(b.x(t, {1, 3}), {0, 3}); }},
    {"merge", [](Builder &b, DType t) { return b.reshape(b.x(t, {7, 3, 5}), {21, 5}); }},
    {"split", [](Builder &b, DType t) { return b.reshape(b.x(t, {100}), {5, 20}); }},
    {"resplit", [](Builder &b, DType t) { return b.reshape(b.x(t, {6, 10}), {4, 15}); }},
    {"ones", [](Builder &b, DType t) { return b.reshape(b.x(t, {7, 1, 5}), {1, 7, 5, 1}); }},
    {"to-rank-0", [](Builder &b, DType t) { return b.reshape(b.x(t, {1, 1}), {}); }},
    {"empty", [](Builder &b, DType t) { return b.reshape(b.x(t, {3, 0}), {0, 5}); }},
    {"transpose-merge", [](Builder &b, DType t) { return b.reshape(b.permute(b.x(t, {7, 9}), {1, 0}), {63}); }},
    {"transpose-resplit", [](Builder &b, DType t) { return b.reshape(b.permute(b.x(t, {6, 10}), {1, 0}), {4, 15}); }},
    {"expand-merge", [](Builder &b, DType t) { return b.reshape(b.expand(b.x(t, {7, 1}), {7, 5}), {35}); }},
    {"expand-merge-transpose",
     [](Builder &b, DType t) {
       const NodeId repeated = b.reshape(b.expand(b.x(t, {4, 1, 3}), {4, 5, 3}), {20, 3});
       return b.permute(repeated, {1, 0});
     }},
    {"three-blocks",
     [](Builder &b, DType t) {
       const NodeId first = b.reshape(b.permute(b.x(t, {4, 6, 5}), {2, 0, 1}), {10, 12});
       return b.reshape(b.permute(first, {1, 0}), {8, 15});
     }},
    {"block-transpose",
     [](Builder &b, DType t) {
       const NodeId tiled = b.permute(b.reshape(b.x(t, {12, 20}), {3, 4, 5, 4}), {0, 2, 1, 3});
       return b.reshape(tiled, {15, 16});
     }},
    {"pixel-shuffle",
     [](Builder &b, DType t) {
       const NodeId parts = b.permute(b.reshape(b.x(t, {8, 3, 5}), {2, 2, 2, 3, 5}), {0, 3, 1, 4, 2});
       return b.reshape(parts, {2, 6, 10});
     }},
};

static void addChain(std::vector<Case> &cases, const Chain &chain, DType dtype) {
  const std::string suffix = "." + std::string(chain.name) + "." + std::string(toString(dtype));
  cases.push_back(
      {"view.stored" + suffix, [=, build = chain.build](Builder &b) { return std::vector<NodeId>{build(b, dtype)}; }});
  if (isStorageOnly(dtype) || dtype == DType::Bool)
    return;
  cases.push_back({"view.loaded" + suffix, [=, build = chain.build](Builder &b) {
                     const NodeId v = build(b, dtype);
                     const NodeId y = b.x(dtype, b.type(v).shape);
                     return std::vector<NodeId>{b.add(v, y), b.unary(UnaryKind::Neg, v)};
                   }});
  cases.push_back({"view.reduced" + suffix, [=, build = chain.build](Builder &b) {
                     const NodeId v = build(b, dtype);
                     if (b.type(v).shape.empty())
                       return std::vector<NodeId>{v};
                     const auto last = static_cast<int64_t>(b.type(v).shape.size()) - 1;
                     const NodeId rows = b.reduce(ReduceKind::Add, b.mul(v, v), {last});
                     return std::vector<NodeId>{rows, b.reduce(ReduceKind::Add, v, {0})};
                   }});
}

/// Views of computed values, and results that are read through views by others.
static void addComputed(std::vector<Case> &cases) {
  cases.push_back({"view.of-computed", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {17, 33});
                     const NodeId y = b.add(x, x);
                     return std::vector<NodeId>{b.permute(y, {1, 0}), b.reshape(y, {33, 17}),
                                                b.reshape(b.permute(y, {1, 0}), {17, 33}), y};
                   }});
  cases.push_back({"view.of-reduced", [](Builder &b) {
                     const NodeId x = b.x(DType::I32, {7, 9, 11});
                     const NodeId sums = b.reduce(ReduceKind::Add, x, {2});
                     const NodeId t = b.permute(sums, {1, 0});
                     return std::vector<NodeId>{t, b.reshape(t, {7, 9}), b.back(sums, 2, 5), b.reshape(sums, {63})};
                   }});
  cases.push_back({"view.symmetric", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {33, 33});
                     const NodeId t = b.permute(x, {1, 0});
                     const NodeId sum = b.add(x, t);
                     return std::vector<NodeId>{sum, b.sub(sum, b.permute(sum, {1, 0}))};
                   }});
  cases.push_back({"view.outer", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {17}), y = b.x(DType::F32, {33});
                     const NodeId a = b.along(x, {17, 33}, 0), c = b.along(y, {17, 33}, 1);
                     return std::vector<NodeId>{b.mul(a, c), b.binary(BinaryKind::Lt, a, c)};
                   }});
  cases.push_back({"view.of-bool", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {7, 9});
                     const NodeId mask = b.binary(BinaryKind::Gt, x, b.like(x, 0));
                     const NodeId t = b.permute(mask, {1, 0});
                     return std::vector<NodeId>{t, b.select(t, b.x(DType::F32, {9, 7}), b.x(DType::F32, {9, 7}))};
                   }});
  cases.push_back({"view.input-is-output", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {5, 7});
                     return std::vector<NodeId>{x, b.permute(b.permute(x, {1, 0}), {1, 0}), b.reshape(x, {35})};
                   }});
}

void addViewCases(std::vector<Case> &cases) {
  for (const Chain &chain : chains)
    for (DType dtype : {DType::F32, DType::BF16, DType::I8, DType::I64, DType::Bool})
      addChain(cases, chain, dtype);
  for (const Chain &chain : chains)
    for (DType dtype : allDTypes)
      if (std::string_view(chain.name) == "transpose" || std::string_view(chain.name) == "expand-merge-transpose")
        addChain(cases, chain, dtype);
  addComputed(cases);
}

} // namespace zyx::conformance
