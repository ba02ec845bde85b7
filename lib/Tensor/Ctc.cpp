//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compose.h"
#include "zyx/Tensor/Functions.h"
#include "zyx/Tensor/Indexing.h"
#include "zyx/Tensor/Loop.h"
#include "zyx/Tensor/Losses.h"

#include <limits>

using namespace zyx;
using namespace zyx::detail;

/// Logarithms of nothing: finite, so that no gradient is NaN, and far from what sums of logarithms come to.
static constexpr double nothing = -1e30;

static void expectShapes(const Tensor &logProbabilities, const Tensor &targets, const Tensor &steps,
                         const Tensor &lengths, const Place &where) {
  expectFloat(logProbabilities, "ctcLoss", where);
  for (const Tensor *tensor : {&targets, &steps, &lengths}) {
    expectTensor(*tensor, "ctcLoss", where);
    if (!isInteger(tensor->dtype()))
      refuse("ctcLoss: targets or lengths are of dtype " + std::string(toString(tensor->dtype())) +
                 ", which is no integer",
             where);
  }
  const Shape &x = logProbabilities.shape();
  if (x.size() != 3 || targets.rank() != 2 || targets.shape()[0] != x[1] || steps.shape() != Shape{x[1]} ||
      lengths.shape() != steps.shape())
    refuse("ctcLoss: logarithms of shape " + toString(x) + ", targets of shape " + toString(targets.shape()) +
               " and lengths of shapes " + toString(steps.shape()) + " and " + toString(lengths.shape()) +
               " are not [steps, batch, classes], [batch, length], [batch] and [batch]",
           where);
}

/// [batch, l] moved by `count` along the last dimension; nothing comes in.
static Tensor moved(const Tensor &x, int64_t count, const Place &where) {
  return x.pad({0, count}, {0, -count}, nothing, where);
}

/// Graves and others, "Connectionist temporal classification", 2006, eq. 6 and 7: what the first steps can have read of
/// the targets with blanks between, in logarithms, after each step. It begins before the first one, in front of all.
Tensor zyx::ctcLoss(const Tensor &logProbabilities, const Tensor &targets, const Tensor &steps, const Tensor &lengths,
                    CtcOptions options, Place where) {
  expectShapes(logProbabilities, targets, steps, lengths, where);
  const At at{where};
  const int64_t count = logProbabilities.size(0), batch = logProbabilities.size(1), classes = logProbabilities.size(2),
                most = targets.size(1), places = 2 * most + 1;
  if (options.blank < 0 || options.blank >= classes)
    refuse("ctcLoss: of " + std::to_string(classes) + " classes none is the blank " + std::to_string(options.blank),
           where);
  const Tensor x = wide(logProbabilities, where), labels = targets.cast(DType::I64, where);
  // Blanks at even places, labels at odd ones.
  const Tensor both[] = {
      expandTo(constantLike(x, static_cast<double>(options.blank), DType::I64, where), labels.shape(), where), labels};
  const Tensor last =
      expandTo(constantLike(x, static_cast<double>(options.blank), DType::I64, where), {batch, 1}, where);
  const Tensor all[] = {stack(both, -1, where).reshape({batch, 2 * most}, where), last};
  const Tensor read = concat(all, 1, where);
  const Tensor isClass = at(at(read) >= at(0)) & at(at(read) < at(classes));
  const Tensor emitted = takeAlongAxis(x, read.unsqueeze(0, where), 2, where);
  const Tensor floor = expandTo(constantLike(x, nothing, x.dtype(), where), {count, batch, places}, where);
  const Tensor emissions = zyx::where(isClass, at(maximum(at(emitted), at(floor))), at(floor));
  // A blank may be left out between two labels that differ.
  const Tensor beforeLast = read.pad({0, 2}, {0, -2}, static_cast<double>(options.blank), where);
  const Tensor maySkip = at(at(read) != at(options.blank)) & at(at(read) != at(beforeLast));
  const Tensor start = expandTo(constantLike(x, nothing, x.dtype(), where), {batch, places}, where);
  const Tensor isFirst = at(positionsIn(x, {places}, 0, where)) == at(0);
  const Tensor initial = zyx::where(isFirst, at(0), at(start));
  const Tensor own = steps.cast(DType::I64, where).unsqueeze(1, where);
  const auto step = [&](const Tensor &index, std::span<const Tensor> carried) {
    const Tensor &stays = carried[0], goes = moved(stays, 1, where);
    const Tensor skips = zyx::where(maySkip, at(moved(stays, 2, where)), at(start));
    const Tensor ways[] = {stays, goes, skips};
    const Tensor sum = logsumexp(stack(ways, 0, where), {0}, false, where);
    const Tensor next = maximum(at(at(sum) + at(take(emissions, index, 0, where))), at(start));
    return std::vector<Tensor>{zyx::where(at(index) < at(own), at(next), at(stays))};
  };
  const Tensor end = loop(count, std::span(&initial, 1), step, where)[0];
  // Behind the last label or on it.
  const Tensor length = lengths.cast(DType::I64, where).unsqueeze(1, where), behind = at(length) * at(2);
  const auto endAt = [&](const Tensor &place) {
    const Tensor exists = at(at(place) >= at(0)) & at(at(place) < at(places));
    return zyx::where(exists, at(takeAlongAxis(end, place, 1, where)), at(nothing)).squeeze(Dims{1}, where);
  };
  const Tensor ends[] = {endAt(behind), endAt(at(behind) - at(1))};
  const Tensor losses = logsumexp(stack(ends, 0, where), {0}, false, where).neg(where);
  const double impossible = options.zeroInfinity ? 0 : std::numeric_limits<double>::infinity();
  const Tensor each = zyx::where(at(losses) < at(-nothing / 2), at(losses), at(impossible));
  switch (options.reduction) {
  case Reduction::None:
    return each.cast(logProbabilities.dtype(), where);
  case Reduction::Sum:
    return each.sum({}, false, where).cast(logProbabilities.dtype(), where);
  case Reduction::Mean:
    break;
  }
  const Tensor divisor = maximum(at(length.squeeze(Dims{1}, where)), at(1)).cast(each.dtype(), where);
  return (at(each) / at(divisor)).mean({}, false, where).cast(logProbabilities.dtype(), where);
}
