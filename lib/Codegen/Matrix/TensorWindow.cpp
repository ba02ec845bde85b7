//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A factor that is made of the windows of images, as the copy engine walks them. What a map says is taken apart by
// AccessForm: the place of an element is a sum over parts of its dimensions, and it exists where such sums are in
// bounds. Each position of an image is one part of the rows and one of the contraction, whose steps are multiples of a
// pitch.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Codegen/Tile/AccessForm.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// One dimension of positions, in elements: windows begin at multiples of `step` pitches, their elements are at
/// multiples of `apart` from there, and only what is in [low, high) exists.
struct Position {
  std::optional<unsigned> windows, elements;
  int64_t pitch = 0, step = 1, apart = 1, low = 0, high = 0;
  int64_t count = 1, size = 1;
};

class Matcher {
public:
  Matcher(AccessForm form, const zyx::target::CopyFacts &copies, std::string &reason)
      : form(std::move(form)), copies(copies), reason(reason) {}

  std::optional<TensorWindow> match(unsigned rowDim, unsigned depthDim, std::optional<unsigned> imageDim) {
    rows = form.dims[rowDim];
    taps = form.dims[depthDim];
    reason = "a factor is read through more than strides";
    if (taps.empty() || form.parts[taps.back()].stride != 1 || isBounded(taps.back()))
      return std::nullopt;
    result.channels = form.parts[taps.pop_back_val()].extent;
    if (imageDim && form.dims[*imageDim].size() > 1)
      return std::nullopt;
    std::optional<unsigned> image;
    if (imageDim && !form.dims[*imageDim].empty())
      image = form.dims[*imageDim].front();
    pair();
    if (!image && !rows.empty() && !isBounded(rows.front()) &&
        llvm::none_of(positions, [&](const Position &each) { return each.elements && each.windows == rows.front(); })) {
      image = rows.front();
      positions.erase(positions.begin());
    }
    if (positions.empty() || positions.size() > 3 || !findBounds() ||
        (image && (isBounded(*image) || form.parts[*image].stride <= 0)))
      return std::nullopt;
    return describe(image, imageDim.has_value());
  }

private:
  bool isBounded(unsigned part) {
    return llvm::any_of(form.bounds, [&](const AccessForm::Bound &bound) { return bound.factors[part] != 0; });
  }

  /// Finds the part of the rows that each part of the contraction moves with: what a bound says of both, or what has
  /// the largest pitch with it. Any pairing is right, as long as bounds are those of one position.
  void pair() {
    for (unsigned row : rows) {
      Position position;
      position.windows = row;
      position.count = form.parts[row].extent;
      position.pitch = form.parts[row].stride;
      positions.push_back(position);
    }
    for (unsigned tap : taps) {
      const int64_t stride = form.parts[tap].stride;
      Position *best = nullptr;
      for (Position &each : positions) {
        if (each.elements || !each.windows)
          continue;
        const bool isTied = llvm::any_of(form.bounds, [&](const AccessForm::Bound &bound) {
          return bound.factors[tap] != 0 && bound.factors[*each.windows] != 0;
        });
        if (isTied) {
          best = &each;
          break;
        }
        if (!isBounded(tap) && !isBounded(*each.windows) &&
            (!best || std::gcd(each.pitch, stride) >= std::gcd(best->pitch, stride)))
          best = &each;
      }
      // A window that does not move.
      if (!best) {
        Position still;
        still.pitch = stride;
        best = &positions.emplace_back(still);
      }
      best->elements = tap;
      best->size = form.parts[tap].extent;
      const int64_t step = best->windows ? form.parts[*best->windows].stride : 0;
      if (best->windows)
        best->pitch = std::gcd(step, stride);
      // Neither moves.
      if (best->pitch == 0)
        continue;
      if (best->windows)
        best->step = step / best->pitch;
      best->apart = stride / best->pitch;
    }
  }

  bool findBounds() {
    for (Position &each : positions) {
      // Parts that stay where they are, or go back, have no pitch.
      if (each.pitch <= 0 || each.step <= 0 || each.apart <= 0)
        return false;
      each.high = (each.count - 1) * each.step + (each.size - 1) * each.apart + 1;
    }
    for (const AccessForm::Bound &bound : form.bounds) {
      auto touches = [&](const Position &each) {
        return (each.windows && bound.factors[*each.windows] != 0) ||
               (each.elements && bound.factors[*each.elements] != 0);
      };
      Position *own = llvm::find_if(positions, touches);
      if (own == positions.end())
        return false;
      // What the bound counts at each pitch of the position.
      const int64_t each =
          own->windows ? bound.factors[*own->windows] / own->step : bound.factors[*own->elements] / own->apart;
      SmallVector<int64_t> expected(form.parts.size(), 0);
      if (own->windows)
        expected[*own->windows] = each * own->step;
      if (own->elements)
        expected[*own->elements] = each * own->apart;
      if (each <= 0 || ArrayRef(expected) != ArrayRef(bound.factors))
        return false;
      own->low = std::max(own->low, llvm::divideCeilSigned(bound.low - bound.offset, each));
      own->high = std::min(own->high, llvm::divideCeilSigned(bound.high - bound.offset, each));
    }
    return llvm::all_of(positions, [](const Position &each) { return each.low < each.high; });
  }

  std::optional<TensorWindow> describe(std::optional<unsigned> image, bool isBatch) {
    result.images = image && !isBatch ? form.parts[*image].extent : 1;
    SmallVector<int64_t> shape = {image ? form.parts[*image].extent : 1},
                         strides = {image ? form.parts[*image].stride : 0};
    SmallVector<int64_t> low, high, steps;
    int64_t offset = form.offset, span = result.channels;
    const int64_t reach = PixelsAttr::reach(positions.size());
    for (const Position &each : positions) {
      const int64_t extent = each.high - each.low, last = (each.count - 1) * each.step - each.low;
      shape.push_back(extent);
      strides.push_back(each.pitch);
      offset += each.low * each.pitch;
      span = std::max(span, each.pitch * extent);
      low.push_back(-each.low);
      high.push_back(last - (extent - 1));
      steps.push_back(each.step);
      if (low.back() < -reach || high.back() < -reach || high.back() >= reach || each.step > PixelsAttr::mostSteps ||
          (each.size - 1) * each.apart >= 2 * reach) {
        reason = "windows of a factor reach further than the copy engine does";
        return std::nullopt;
      }
      if (each.pitch < result.channels) {
        reason = "a factor has rows that overlap";
        return std::nullopt;
      }
      result.counts.push_back(each.count);
    }
    if (!image)
      strides.front() = llvm::alignTo(span, copies.alignmentBytes);
    for (unsigned tap : taps) {
      auto own = llvm::find_if(positions, [&](const Position &each) { return each.elements == tap; });
      result.elements.push_back({form.parts[tap].extent, own - positions.begin(), own->apart});
    }
    shape.push_back(result.channels);
    strides.push_back(1);
    const auto isAligned = [&](int64_t stride) { return stride * 2 % copies.alignmentBytes == 0; };
    if (!isAligned(offset) || !llvm::all_of(ArrayRef(strides).drop_back(), isAligned)) {
      reason = "a factor does not lie on multiples of 16 bytes";
      return std::nullopt;
    }
    result.shape = std::move(shape);
    result.strides = std::move(strides);
    result.offset = offset;
    result.low = std::move(low);
    result.high = std::move(high);
    result.steps = std::move(steps);
    reason.clear();
    return std::move(result);
  }

  AccessForm form;
  const zyx::target::CopyFacts &copies;
  std::string &reason;
  SmallVector<unsigned> rows, taps;
  SmallVector<Position> positions;
  TensorWindow result;
};

} // namespace

std::optional<TensorWindow> zyx::kernel::matchWindow(LoadOp load, Axis rows, Axis depth, const Axes &axes,
                                                     const target::CopyFacts &copies, std::string &reason) {
  reason = "a factor is read through more than strides";
  auto view = load.getView().getDefiningOp<ViewOp>();
  auto type = cast<RankedTensorType>(load.getType());
  const bool isWhole = view && type.getShape() == view.getType().getShape() &&
                       llvm::all_of(load.getIndices(), [](Value index) { return getConstantIntValue(index) == 0; });
  std::optional<AccessForm> form = isWhole ? AccessForm::compute(view.getMap()) : std::nullopt;
  if (!form)
    return std::nullopt;
  std::optional<unsigned> rowDim, depthDim, imageDim;
  for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult()))) {
    if (type.getDimSize(dim) == 1)
      continue;
    std::optional<unsigned> &own = axis == rows ? rowDim : axis == depth ? depthDim : imageDim;
    if (own)
      return std::nullopt;
    own = dim;
  }
  if (!rowDim || !depthDim)
    return std::nullopt;
  std::optional<TensorWindow> window = Matcher(std::move(*form), copies, reason).match(*rowDim, *depthDim, imageDim);
  if (window && imageDim)
    window->image = axes.of(load.getResult())[*imageDim];
  return window;
}
