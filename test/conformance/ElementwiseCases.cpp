//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include <cmath>

namespace zyx::conformance {

static bool isBits(DType dtype) { return dtype == DType::Bool || isInteger(dtype); }
static bool isComputedFloat(DType dtype) { return isFloat(dtype) && !isStorageOnly(dtype); }

static bool accepts(UnaryKind kind, DType dtype) {
  switch (kind) {
  case UnaryKind::Neg:
  case UnaryKind::Abs:
    return dtype != DType::Bool && !isStorageOnly(dtype);
  case UnaryKind::Not:
    return isBits(dtype);
  default:
    return isComputedFloat(dtype);
  }
}

static bool accepts(BinaryKind kind, DType dtype) {
  if (isStorageOnly(dtype))
    return false;
  switch (kind) {
  case BinaryKind::Add:
  case BinaryKind::Sub:
  case BinaryKind::Mul:
  case BinaryKind::Div:
  case BinaryKind::Rem:
  case BinaryKind::Pow:
    return dtype != DType::Bool;
  case BinaryKind::And:
  case BinaryKind::Or:
  case BinaryKind::Xor:
    return isBits(dtype);
  case BinaryKind::Shl:
  case BinaryKind::Shr:
    return isInteger(dtype);
  default:
    return true;
  }
}

static void addUnary(std::vector<Case> &cases, UnaryKind kind, DType dtype) {
  cases.push_back({"unary." + std::string(toString(kind)) + "." + std::string(toString(dtype)), [=](Builder &b) {
                     const int64_t count = byteSize(dtype) <= 2 ? 0 : 3001;
                     const NodeId x = b.input(hurting(dtype, count, b.random));
                     return std::vector<NodeId>{b.unary(kind, x)};
                   }});
}

/// Where functions of f64 are hardest: next to multiples of pi/2 (Kahan's 6381956970095103 * 2^797
/// is the double nearest to one of all), of ln 2 / 2, to 1, to where results leave the range or
/// approximations change; and the ends of every binade.
static std::vector<double> hardPoints() {
  std::vector<double> points;
  const auto around = [&](double value) {
    for (double x : {std::nextafter(value, -INFINITY), value, std::nextafter(value, INFINITY)}) {
      points.push_back(x);
      points.push_back(-x);
    }
  };
  for (int e = -1074; e < 1024; ++e)
    around(std::ldexp(1, e));
  around(std::ldexp(6381956970095103.0, 797));
  for (int k = 1; k <= 300; ++k)
    around(static_cast<double>(k * 1.57079632679489661923132169163975144L));
  for (int e = 10; e < 1000; e += 9)
    around(std::ldexp(1.5707963267948966, e));
  for (int k = 1; k <= 2200; ++k)
    around(static_cast<double>(k * 0.346573590279972654708616060729088284L));
  for (int k = 1; k <= 53; ++k) {
    around(1 + std::ldexp(1, -k));
    around(1 - std::ldexp(1, -k));
  }
  for (double value : {709.782712893384, 708.3964185322641, 745.1332191019411, 1024.0, 1022.0, 1074.0, 1075.0, 0.5,
                       0.625, 0.70710678118654752, 1.4142135623730951, 0.84375, 1.25, 2.857142857142857,
                       5.921587195794507, 6.0, 19.0615474653984, 22.0})
    around(value);
  return points;
}

static void addHardPoints(std::vector<Case> &cases, UnaryKind kind) {
  cases.push_back({"unary." + std::string(toString(kind)) + ".f64.hard-points", [=](Builder &b) {
                     const std::vector<double> points = hardPoints();
                     const Shape shape = {static_cast<int64_t>(points.size())};
                     const NodeId x = b.input(makeTensor(DType::F64, shape, points));
                     return std::vector<NodeId>{b.unary(kind, x)};
                   }});
}

static void addBinary(std::vector<Case> &cases, BinaryKind kind, DType dtype) {
  cases.push_back({"binary." + std::string(toString(kind)) + "." + std::string(toString(dtype)), [=](Builder &b) {
                     auto [left, right] = hurtingPairs(dtype, 301, b.random);
                     const NodeId l = b.input(std::move(left)), r = b.input(std::move(right));
                     return std::vector<NodeId>{b.binary(kind, l, r)};
                   }});
}

/// Rows divided by one number each: common ones, and ones that hurt.
static void addRowQuotients(std::vector<Case> &cases, DType dtype) {
  cases.push_back({"binary.div." + std::string(toString(dtype)) + ".rows", [=](Builder &b) {
                     const int64_t rows = 256, columns = 53;
                     const NodeId common = b.x(dtype, {rows, columns});
                     const NodeId hurts = b.reshape(b.input(hurting(dtype, rows * columns, b.random)), {rows, columns});
                     const NodeId by = b.reshape(b.input(hurting(dtype, rows, b.random)), {rows, 1});
                     const NodeId repeated = b.expand(by, {rows, columns});
                     // Zeros among numbers that are divided the short way.
                     const NodeId zero = b.like(common, 0);
                     const NodeId half = b.select(b.binary(BinaryKind::Gt, common, zero), common, zero);
                     const NodeId usual = b.expand(b.x(dtype, {rows, 1}), {rows, columns});
                     return std::vector<NodeId>{b.binary(BinaryKind::Div, common, repeated),
                                                b.binary(BinaryKind::Div, hurts, repeated),
                                                b.binary(BinaryKind::Div, half, usual)};
                   }});
}

/// One dtype to every other.
static void addCasts(std::vector<Case> &cases, DType from) {
  for (DType to : allDTypes)
    cases.push_back({"cast." + std::string(toString(from)) + "." + std::string(toString(to)), [=](Builder &b) {
                       const int64_t count = byteSize(from) <= 2 ? 0 : 1003;
                       const NodeId x = b.input(hurting(from, count, b.random));
                       return std::vector<NodeId>{b.cast(x, to)};
                     }});
}

/// Integers at and beside the ties between two numbers of each float: rounding twice shows here.
static void addCastsOfTies(std::vector<Case> &cases) {
  for (DType from : {DType::I32, DType::U32, DType::I64, DType::U64})
    cases.push_back({"cast.ties." + std::string(toString(from)), [=](Builder &b) {
                       HostTensor values{{from, {0}}, {}};
                       const int width = 8 * static_cast<int>(byteSize(from));
                       const auto add = [&](uint64_t value) {
                         const auto *bytes = reinterpret_cast<const std::byte *>(&value);
                         values.data.insert(values.data.end(), bytes, bytes + byteSize(from));
                         ++values.type.shape[0];
                       };
                       // Digits of f8e5m2, f8e4m3fn, bf16, f16, f32 and f64.
                       for (int digits : {3, 4, 8, 11, 24, 53})
                         for (int shift = 0; shift + digits < width; ++shift)
                           for (uint64_t last : {0, 1, 2, 3})
                             for (uint64_t beside : {-1, 0, 1}) {
                               const uint64_t kept = (uint64_t(1) << (digits - 1)) + last;
                               const uint64_t tie = (2 * kept + 1) << shift;
                               add(tie + beside);
                               add(-(tie + beside));
                             }
                       const NodeId x = b.input(std::move(values));
                       std::vector<NodeId> outputs;
                       for (DType to : allDTypes)
                         if (isFloat(to))
                           outputs.push_back(b.cast(x, to));
                       return outputs;
                     }});
}

/// From wide to narrow in two steps, with an op between them that takes the sign of the first: of vectors and alone.
static void addCastsInSteps(std::vector<Case> &cases) {
  for (DType to : {DType::F16, DType::BF16, DType::F8E5M2})
    cases.push_back({"cast.in-steps." + std::string(toString(to)), [=](Builder &b) {
                       std::vector<NodeId> outputs;
                       for (const Shape &shape : {Shape{}, Shape{5}, Shape{33}})
                         for (UnaryKind kind : {UnaryKind::Round, UnaryKind::Floor, UnaryKind::Trunc, UnaryKind::Abs})
                           outputs.push_back(b.cast(b.unary(kind, b.cast(b.x(DType::F64, shape), DType::F32)), to));
                       return outputs;
                     }});
}

/// Numbers of few digits, widened, where an op asks for the sign or the highest digits: machines may compute in fewer
/// digits.
static void addOpsOfWidened(std::vector<Case> &cases, DType from) {
  for (DType to : {DType::I64, DType::U64})
    cases.push_back({"cast.op." + std::string(toString(from)) + "." + std::string(toString(to)), [=](Builder &b) {
                       const NodeId x = b.cast(b.input(hurting(from, 103, b.random)), to);
                       std::vector<NodeId> outputs;
                       for (int64_t number : {1, 5, 7}) {
                         const NodeId y = b.like(x, number);
                         for (BinaryKind kind : {BinaryKind::Max, BinaryKind::Min, BinaryKind::Lt, BinaryKind::Ge,
                                                 BinaryKind::Div, BinaryKind::Rem, BinaryKind::Shr, BinaryKind::Mul})
                           outputs.push_back(b.binary(kind, x, y));
                       }
                       outputs.push_back(b.binary(BinaryKind::Shr, x, b.like(x, 40)));
                       return outputs;
                     }});
}

static void addSelect(std::vector<Case> &cases, DType dtype) {
  cases.push_back({"select." + std::string(toString(dtype)), [=](Builder &b) {
                     auto [left, right] = hurtingPairs(dtype, 33, b.random);
                     const NodeId c = b.x(DType::Bool, left.type.shape);
                     const NodeId l = b.input(std::move(left)), r = b.input(std::move(right));
                     return std::vector<NodeId>{b.select(c, l, r), b.select(c, r, r)};
                   }});
}

/// Operands that are constants take part in folding.
static void addConstants(std::vector<Case> &cases, DType dtype) {
  const std::string suffix = "." + std::string(toString(dtype));
  cases.push_back(
      {"constant.dense" + suffix, [=](Builder &b) { return std::vector<NodeId>{b.constant(specials(dtype))}; }});
  cases.push_back({"constant.splat" + suffix,
                   [=](Builder &b) { return std::vector<NodeId>{b.splat(dtype, {3, 17}, 1), b.splat(dtype, {}, 1)}; }});
  cases.push_back({"parameter" + suffix, [=](Builder &b) { return std::vector<NodeId>{b.input(specials(dtype))}; }});
  if (isStorageOnly(dtype) || dtype == DType::Bool)
    return;
  cases.push_back({"constant.operands" + suffix, [=](Builder &b) {
                     const HostTensor values = specials(dtype);
                     const NodeId x = b.input(values), c = b.constant(values);
                     const NodeId zero = b.like(x, 0), one = b.like(x, 1);
                     // x + 0, x - 0, x * 0, x * 1, x / 1, 0 - x and x - x are not all the
                     // identity for floats.
                     return std::vector<NodeId>{b.add(x, zero),
                                                b.sub(x, zero),
                                                b.mul(x, zero),
                                                b.mul(x, one),
                                                b.div(x, one),
                                                b.sub(zero, x),
                                                b.sub(x, x),
                                                b.add(x, c),
                                                b.mul(c, c),
                                                b.div(c, x),
                                                b.div(x, zero),
                                                b.binary(BinaryKind::Rem, x, zero),
                                                b.binary(BinaryKind::Max, c, x),
                                                b.binary(BinaryKind::Eq, x, x),
                                                b.unary(UnaryKind::Neg, b.unary(UnaryKind::Neg, c))};
                   }});
}

void addElementwiseCases(std::vector<Case> &cases) {
#define ZYX_GRAPH_UNARY(Name, name)                                                                                    \
  for (DType dtype : allDTypes)                                                                                        \
    if (accepts(UnaryKind::Name, dtype))                                                                               \
      addUnary(cases, UnaryKind::Name, dtype);
#include "zyx/Graph/UnaryKinds.inc"
#define ZYX_GRAPH_UNARY(Name, name)                                                                                    \
  if (accepts(UnaryKind::Name, DType::F64))                                                                            \
    addHardPoints(cases, UnaryKind::Name);
#include "zyx/Graph/UnaryKinds.inc"
#define ZYX_GRAPH_BINARY(Name, name)                                                                                   \
  for (DType dtype : allDTypes)                                                                                        \
    if (accepts(BinaryKind::Name, dtype))                                                                              \
      addBinary(cases, BinaryKind::Name, dtype);
#include "zyx/Graph/GraphOps.inc"
  for (DType dtype : {DType::F32, DType::F64})
    addRowQuotients(cases, dtype);
  for (DType dtype : allDTypes)
    addCasts(cases, dtype);
  addCastsOfTies(cases);
  addCastsInSteps(cases);
  for (DType dtype : {DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32})
    addOpsOfWidened(cases, dtype);
  for (DType dtype : allDTypes)
    addSelect(cases, dtype);
  for (DType dtype : allDTypes)
    addConstants(cases, dtype);
}

} // namespace zyx::conformance
