//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Factorizations.h"
#include "Compose.h"
#include "zyx/Tensor/Indexing.h"
#include "zyx/Tensor/Loop.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;

static void expectMatrices(const Tensor &a, bool isSquare, std::string_view function, const Place &where) {
  expectFloat(a, function, where);
  if (a.rank() < 2 || (isSquare && a.size(-1) != a.size(-2)))
    refuse(std::string(function) + ": a tensor of shape " + toString(a.shape()) +
               (isSquare ? " is no square matrix, and no stack of such" : " has no matrices"),
           where);
}

static Tensor zerosLike(const Tensor &x, const Shape &shape, const Place &where) {
  return expandTo(constantLike(x, 0, x.dtype(), where), shape, where);
}

/// Row by row: what is known of x is in place, the rest of it is 0.
Tensor zyx::triangularSolve(const Tensor &a, const Tensor &b, TriangularOptions options, Place where) {
  expectMatrices(a, true, "triangularSolve", where);
  expectMatrices(b, false, "triangularSolve", where);
  const At at{where};
  const int64_t n = a.size(-1), k = b.size(-1);
  const std::optional<Shape> batch =
      broadcast(Shape(a.shape().begin(), a.shape().end() - 2), Shape(b.shape().begin(), b.shape().end() - 2));
  if (b.size(-2) != n || !batch || a.dtype() != b.dtype())
    refuse("triangularSolve: matrices of types " + toString(a.type()) + " and " + toString(b.type()) + " do not fit",
           where);
  const auto full = [&](const Tensor &x, int64_t rows, int64_t columns) {
    Shape shape = *batch;
    shape.insert(shape.end(), {rows, columns});
    return expandTo(wide(x, where), shape, where);
  };
  const Tensor left = full(a, n, n), right = full(b, n, k);
  const Tensor rest = options.upper ? triu(left, 1, where) : tril(left, -1, where);
  const Tensor diagonals = diagonal(left, 0, -2, -1, where);
  const auto step = [&](const Tensor &index, std::span<const Tensor> carried) {
    const Tensor i = options.upper ? at(n - 1) - at(index) : index;
    const Tensor known =
        matmul(at(take(rest, i, -2, where).unsqueeze(-2, where)), at(carried[0])).squeeze(Dims{-2}, where);
    Tensor row = at(take(right, i, -2, where)) - at(known);
    if (!options.unitDiagonal)
      row = at(row) / at(take(diagonals, i, -1, where).unsqueeze(-1, where));
    return std::vector{scatter(carried[0], i, row, -2, ScatterMode::Set, where)};
  };
  const Tensor none = zerosLike(right, right.shape(), where);
  return loop(n, std::span(&none, 1), step, where)[0].cast(a.dtype(), where);
}

/// Column by column: what the columns before leave of it, by the root of what stands on the diagonal.
Tensor zyx::cholesky(const Tensor &a, Place where) {
  expectMatrices(a, true, "cholesky", where);
  const At at{where};
  const int64_t n = a.size(-1);
  const Tensor lower = tril(wide(a, where), 0, where);
  const auto step = [&](const Tensor &index, std::span<const Tensor> carried) {
    const Tensor &l = carried[0];
    const Tensor known = matmul(at(l), at(take(l, index, -2, where).unsqueeze(-1, where))).squeeze(Dims{-1}, where);
    const Tensor column = at(take(lower, index, -1, where)) - at(known);
    const Tensor pivot = take(column, index, -1, where).unsqueeze(-1, where).sqrt(where);
    const Tensor isBelow = at(positionsIn(index, {n}, 0, where)) >= at(index);
    const Tensor next = zyx::where(isBelow, at(at(column) / at(pivot)), at(0));
    return std::vector{scatter(l, index, next, -1, ScatterMode::Set, where)};
  };
  const Tensor none = zerosLike(lower, lower.shape(), where);
  return loop(n, std::span(&none, 1), step, where)[0].cast(a.dtype(), where);
}

/// Gram and Schmidt's, each column twice: then columns are orthogonal to the last digits (Giraud, Langou, Rozloznik,
/// 2005).
QR zyx::qr(const Tensor &a, Place where) {
  expectMatrices(a, false, "qr", where);
  const At at{where};
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const Tensor x = wide(a, where);
  Shape tall = x.shape(), square = x.shape();
  tall.back() = square.back() = square[square.size() - 2] = k;
  const auto step = [&](const Tensor &index, std::span<const Tensor> carried) {
    const Tensor &q = carried[0], back = q.transpose(-2, -1, where);
    const auto shares = [&](const Tensor &v) { return matmul(at(back), at(v)); };
    const Tensor v = take(x, index, -1, where).unsqueeze(-1, where), first = shares(v);
    const Tensor once = at(v) - at(matmul(at(q), at(first))), second = shares(once);
    const Tensor twice = at(once) - at(matmul(at(q), at(second)));
    const Tensor length = (at(twice) * at(twice)).sum({-2}, true, where).sqrt(where);
    const Tensor isMine = (at(positionsIn(index, {k, 1}, 0, where)) == at(index));
    const Tensor column = zyx::where(isMine, at(length), at(at(first) + at(second))).squeeze(Dims{-1}, where);
    return std::vector{
        scatter(q, index, (at(twice) / at(length)).squeeze(Dims{-1}, where), -1, ScatterMode::Set, where),
        scatter(carried[1], index, column, -1, ScatterMode::Set, where)};
  };
  const Tensor none[] = {zerosLike(x, tall, where), zerosLike(x, square, where)};
  const std::vector<Tensor> found = loop(k, none, step, where);
  Tensor r = found[1];
  if (n > k) {
    std::vector<Slice> others(a.rank());
    others.back() = {k, n};
    const Tensor more[] = {r, matmul(at(found[0].transpose(-2, -1, where)), at(x.slice(others, where)))};
    r = concat(more, -1, where);
  }
  return {found[0].cast(a.dtype(), where), r.cast(a.dtype(), where)};
}
