//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a folder may be tempted by: operands that are constants or equal, and conversions there and
// back. The values hurt: NaN, infinities, zeros of both signs, denormals, the ends of integers.
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include <cmath>
#include <limits>

namespace zyx::conformance {

static std::vector<double> constantsOf(DType dtype) {
  if (dtype == DType::Bool)
    return {0, 1};
  if (isFloat(dtype))
    return {0.0, -0.0, 1, -1, 2, std::numeric_limits<double>::infinity(), std::nan("")};
  const double width = static_cast<double>(byteSize(dtype)) * 8;
  if (isSignedInteger(dtype))
    return {0, 1, -1, 2, -std::exp2(width - 1), width};
  return {0, 1, 2, std::exp2(std::min(width, 62.0)) - 1, width};
}

/// Every binary op that the dtype has, with a constant on either side.
static void addConstantOperand(std::vector<Case> &cases, DType dtype, double value, int number) {
  cases.push_back({"folds.constant." + std::string(toString(dtype)) + "." + std::to_string(number), [=](Builder &b) {
                     const NodeId x = b.input(specials(dtype)), c = b.like(x, value);
                     std::vector<NodeId> outputs;
                     const auto add = [&](BinaryKind kind) {
                       // Expanded to hundreds of ops each; tested by themselves.
                       const bool isLong = kind == BinaryKind::Pow || kind == BinaryKind::Rem;
                       if (isLong && isFloat(dtype))
                         return;
                       for (const auto &[l, r] : {std::pair(x, c), std::pair(c, x)})
                         if (const Result<NodeId> y = b.graph().binary(kind, l, r); y.isOk())
                           outputs.push_back(*y);
                     };
#define ZYX_GRAPH_BINARY(Name, name) add(BinaryKind::Name);
#include "zyx/Graph/GraphOps.inc"
                     const NodeId isLess = b.binary(BinaryKind::Lt, c, x);
                     outputs.push_back(b.select(isLess, x, c));
                     outputs.push_back(b.select(isLess, c, c));
                     return outputs;
                   }});
}

/// Every binary op of a value and itself, every unary op twice.
static void addTwice(std::vector<Case> &cases, DType dtype) {
  cases.push_back({"folds.twice." + std::string(toString(dtype)), [=](Builder &b) {
                     const NodeId x = b.input(specials(dtype));
                     std::vector<NodeId> outputs;
                     const auto add = [&](BinaryKind kind) {
                       if (const Result<NodeId> y = b.graph().binary(kind, x, x); y.isOk())
                         outputs.push_back(*y);
                     };
#define ZYX_GRAPH_BINARY(Name, name) add(BinaryKind::Name);
#include "zyx/Graph/GraphOps.inc"
                     for (UnaryKind kind : {UnaryKind::Neg, UnaryKind::Not, UnaryKind::Abs, UnaryKind::Recip,
                                            UnaryKind::Sqrt, UnaryKind::Floor, UnaryKind::Round, UnaryKind::Trunc})
                       if (const Result<NodeId> y = b.graph().unary(kind, x); y.isOk())
                         outputs.push_back(b.unary(kind, *y));
                     return outputs;
                   }});
}

/// To every other type and back, which only some types survive.
static void addThereAndBack(std::vector<Case> &cases, DType dtype) {
  cases.push_back({"folds.cast-and-back." + std::string(toString(dtype)), [=](Builder &b) {
                     const int64_t count = byteSize(dtype) <= 2 ? 0 : 301;
                     const NodeId x = b.input(hurting(dtype, count, b.random));
                     std::vector<NodeId> outputs;
                     for (DType through : allDTypes)
                       if (through != dtype)
                         outputs.push_back(b.cast(b.cast(x, through), dtype));
                     return outputs;
                   }});
}

/// Views that undo each other, and views that change nothing.
static void addViews(std::vector<Case> &cases) {
  cases.push_back({"folds.views", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {4, 6, 5}), row = b.x(DType::F32, {1, 6});
                     const NodeId flat = b.reshape(x, {24, 5});
                     return std::vector<NodeId>{b.permute(b.permute(x, {2, 0, 1}), {1, 2, 0}),
                                                b.permute(b.permute(x, {2, 0, 1}), {2, 0, 1}),
                                                b.reshape(flat, {4, 6, 5}),
                                                b.reshape(b.permute(flat, {1, 0}), {4, 6, 5}),
                                                b.expand(b.expand(row, {1, 6}), {3, 6}),
                                                b.permute(b.expand(row, {6, 6}), {1, 0}),
                                                b.reshape(b.expand(b.reshape(row, {6, 1}), {6, 1}), {1, 6})};
                   }});
}

void addFoldCases(std::vector<Case> &cases) {
  for (DType dtype : allDTypes) {
    addThereAndBack(cases, dtype);
    if (isStorageOnly(dtype))
      continue;
    addTwice(cases, dtype);
    int number = 0;
    for (double value : constantsOf(dtype))
      addConstantOperand(cases, dtype, value, number++);
  }
  addViews(cases);
}

} // namespace zyx::conformance
