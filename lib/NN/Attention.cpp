//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Attention.h"

#include "zyx/Tensor/Indexing.h"
#include "zyx/Tensor/Linalg.h"

#include <cmath>
#include <limits>

using namespace zyx;
using namespace zyx::nn;

static AttentionOptions checked(int64_t width, AttentionOptions options, const Place &where) {
  if (options.kvHeads == 0)
    options.kvHeads = options.heads;
  if (options.heads <= 0 || options.kvHeads <= 0 || width % options.heads != 0 || options.heads % options.kvHeads != 0)
    throw Error(Status::invalidArgument("MultiheadAttention: a width of " + std::to_string(width) + ", " +
                                        std::to_string(options.heads) + " heads and " +
                                        std::to_string(options.kvHeads) + " kvHeads do not divide"),
                where);
  return options;
}

MultiheadAttention::MultiheadAttention(int64_t width, AttentionOptions given, InitRngRef rng, Place where)
    : options(checked(width, given, where)),
      query(add("query", Linear(width, width, rng, options.hasBias, where), where)),
      key(add("key", Linear(width, width / options.heads * options.kvHeads, rng, options.hasBias, where), where)),
      value(add("value", Linear(width, width / options.heads * options.kvHeads, rng, options.hasBias, where), where)),
      output(add("output", Linear(width, width, rng, options.hasBias, where), where)) {}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

/// As an i64; throws where it is no position.
static Tensor positionOf(const Tensor &start, const Place &where) {
  if (!start.isDefined() || start.rank() != 0 || !isInteger(start.dtype()))
    throw Error(Status::invalidArgument("attention: rows begin at " +
                                        (start.isDefined() ? toString(start.type()) : std::string("no tensor")) +
                                        ", which is no integer of rank 0"),
                where);
  return start.cast(DType::I64, where);
}

/// start, start + 1, ...; from 0 on without a tensor.
static Tensor positionsFrom(const Tensor &start, int64_t rows, const Place &where) {
  const Tensor positions = Tensor::arange(0, rows, 1, DType::I64, where);
  return start.isDefined() ? positions + positionOf(start, where) : positions;
}

KVCache zyx::nn::append(const KVCache &cache, const KVCache &more, const Tensor &start, Place where) {
  const ContextScope scope(cache.keys.context());
  auto put = [&](const Tensor &all, const Tensor &rows) {
    const Tensor positions = positionsFrom(start, rows.size(-2, where), where);
    if (rows.size(-2, where) != 1)
      return scatter(all, positions, rows, -2, ScatterMode::Set, where);
    // A single row is chosen, not scattered: that is vector code.
    const Tensor places = Tensor::arange(0, all.size(-2, where), 1, DType::I64, where);
    return zyx::where(places.unsqueeze(1, where) == positions, rows, all);
  };
  return {put(cache.keys, more.keys), put(cache.values, more.values)};
}

Tensor zyx::nn::cachedAttention(const Tensor &queries, const KVCache &cache, const Tensor &start, bool causal,
                                Place where) {
  const ContextScope scope(queries.context());
  const int64_t rows = queries.size(-2, where), room = cache.keys.size(-2, where);
  const Tensor begin = positionOf(start, where), places = Tensor::arange(0, room, 1, DType::I64, where);
  const Tensor last = causal ? positionsFrom(start, rows, where).unsqueeze(1, where) : begin + (rows - 1);
  const Tensor fits = (begin >= 0) & (begin + rows <= room);
  return scaledDotProductAttention(zyx::where(fits, queries, std::numeric_limits<double>::quiet_NaN()), cache.keys,
                                   cache.values, {.mask = (places <= last).expand({rows, room}, where)}, where);
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// [..., rows, heads width] to [..., heads, rows, width].
static Tensor byHead(const Tensor &rows, int64_t heads, const Place &where) {
  Shape shape = rows.shape();
  const int64_t width = shape.back() / heads;
  shape.back() = heads;
  shape.push_back(width);
  return rows.reshape(shape, where).transpose(-3, -2, where);
}

static Tensor turned(const Tensor &heads, const Tensor &start, const Place &where) {
  const ContextScope scope(heads.context());
  return nn::rotary(heads, positionsFrom(start, heads.size(-2, where), where), 10000, where);
}

Tensor MultiheadAttention::queries(const Tensor &x, const Tensor &start, const Place &where) const {
  const Tensor heads = byHead(query(x), options.heads, where);
  return options.rotary ? turned(heads, start, where) : heads;
}

KVCache MultiheadAttention::projectKV(const Tensor &memory, const Tensor &start, const Place &where) const {
  const Tensor keys = byHead(key(memory), options.kvHeads, where);
  return {options.rotary ? turned(keys, start, where) : keys, byHead(value(memory), options.kvHeads, where)};
}

KVCache MultiheadAttention::repeated(const KVCache &kv, const Place &where) const {
  const int64_t share = options.heads / options.kvHeads;
  if (share == 1)
    return kv;
  auto repeat = [&](const Tensor &all) {
    Shape shape = all.shape();
    shape.insert(shape.end() - 2, share);
    return all.unsqueeze(-3, where).expand(shape, where).flatten(all.rank() - 3, all.rank() - 2, where);
  };
  return {repeat(kv.keys), repeat(kv.values)};
}

Tensor MultiheadAttention::joined(const Tensor &heads, const Place &where) const {
  return output(heads.transpose(-3, -2, where).flatten(-2, -1, where));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Tensor MultiheadAttention::operator()(const Tensor &x, const Tensor &memory, const Tensor &mask, Place where) const {
  return callFor("MultiheadAttention", where, [&] {
    const KVCache all = repeated(precomputeKV(memory, where), where);
    return joined(scaledDotProductAttention(queries(x, {}, where), all.keys, all.values,
                                            {.mask = mask, .causal = options.causal}, where),
                  where);
  });
}

Tensor MultiheadAttention::forwardKV(const Tensor &x, const KVCache &memory, const Tensor &mask, const Tensor &start,
                                     Place where) const {
  return callFor("MultiheadAttention", where, [&] {
    const KVCache all = repeated(memory, where);
    return joined(scaledDotProductAttention(queries(x, start, where), all.keys, all.values, {.mask = mask}, where),
                  where);
  });
}

KVCache MultiheadAttention::cache(Shape batch, int64_t rows, Place where) const {
  const ContextScope scope(key.weight->context());
  batch.insert(batch.end(), {options.kvHeads, rows, key.weight->size(0, where) / options.kvHeads});
  const Tensor zeros = Tensor::zeros(batch, key.weight->dtype(), where);
  return {zeros, zeros};
}

MultiheadAttention::CachedOutput MultiheadAttention::forwardCached(const Tensor &x, const KVCache &cache,
                                                                   const Tensor &start, Place where) const {
  const KVCache all = append(cache, projectKV(x, start, where), start, where);
  return {joined(cachedAttention(queries(x, start, where), repeated(all, where), start, options.causal, where), where),
          all};
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Tensor zyx::nn::rotary(const Tensor &x, const Tensor &positions, double base, Place where) {
  const int64_t width = x.size(-1, where), half = width / 2;
  if (width % 2 != 0 || positions.rank() != 1 || positions.shape()[0] != x.size(-2, where))
    throw Error(Status::invalidArgument("rotary: rows of shape " + toString(x.shape()) + " at positions of shape " +
                                        toString(positions.shape()) + " are not [..., rows, even width] and [rows]"),
                where);
  const DType dtype = accumulatorType(x.dtype());
  const ContextScope scope(x.context());
  const Tensor turns = (Tensor::arange(0, half, 1, DType::I64, where).cast(dtype, where) *
                        (-2 / static_cast<double>(width) * std::log(base)))
                           .exp(where);
  const Tensor angles = positions.cast(dtype, where).unsqueeze(1, where) * turns;
  const Tensor wide = x.cast(dtype, where), cosines = angles.cos(where), sines = angles.sin(where);
  std::vector<Slice> first(x.rank()), second(x.rank());
  first.back().stop = second.back().start = half;
  const Tensor a = wide.slice(first, where), b = wide.slice(second, where);
  return concat(std::vector{a * cosines - b * sines, b * cosines + a * sines}, -1, where).cast(x.dtype(), where);
}

Tensor zyx::nn::sinusoids(int64_t rows, int64_t width, Place where) {
  std::vector<float> values;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < width; ++column) {
      const double exponent = -2 * static_cast<double>(column / 2) / static_cast<double>(width);
      const double angle = static_cast<double>(row) * std::pow(10000, exponent);
      values.push_back(static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  return Tensor::from(values, {rows, width}, where);
}
