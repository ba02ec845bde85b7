//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/AccessForm.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

static int64_t number(AffineExpr expr) { return *BlockAttr::constant(expr); }

/// Splits a part into an outer one, which keeps its number, and an inner one of `inner` elements, in all
/// that is known and in `sums`.
void AccessForm::split(unsigned part, int64_t inner, SmallVectorImpl<SmallVector<int64_t>> &sums) {
  unsigned added = parts.size();
  parts.push_back({inner, 0});
  parts[part].extent /= inner;
  auto extend = [&](SmallVector<int64_t> &factors) {
    factors.push_back(factors[part]);
    factors[part] *= inner;
  };
  for (SmallVector<int64_t> &sum : sums)
    extend(sum);
  for (Bound &bound : bounds)
    extend(bound.factors);
  for (SmallVector<unsigned> &dim : dims)
    if (auto *place = llvm::find(dim, part); place != dim.end())
      dim.insert(place + 1, added);
}

std::optional<AccessForm> AccessForm::compute(MapAttr map) {
  if (map.getNumSymbols() != 0)
    return std::nullopt;
  AccessForm form;
  BlockAttr front = map.front();
  // The index along each dimension of the block: factors by part, and a constant.
  SmallVector<SmallVector<int64_t>> sums(front.getRank());
  SmallVector<int64_t> constants(front.getRank(), 0);
  for (unsigned d = 0; d < front.getRank(); ++d) {
    form.parts.push_back({number(front.getShape()[d]), 0});
    form.dims.push_back({d});
    sums[d].assign(front.getRank(), 0);
    sums[d][d] = 1;
  }
  for (auto [b, block] : llvm::enumerate(map.getBlocks())) {
    for (unsigned d = 0; block.hasValid() && d < block.getRank(); ++d) {
      int64_t low = number(block.getValidLow()[d]), high = number(block.getValidHigh()[d]);
      if (low > 0 || high < number(block.getShape()[d]))
        form.bounds.push_back({sums[d], constants[d], low, high});
    }
    SmallVector<SmallVector<int64_t>> linear(1, SmallVector<int64_t>(form.parts.size(), 0));
    int64_t rest = number(block.getOffset());
    for (auto [d, stride] : llvm::enumerate(block.getStrides())) {
      rest += number(stride) * constants[d];
      for (unsigned p = 0; p < form.parts.size(); ++p)
        linear[0][p] += number(stride) * sums[d][p];
    }
    if (b + 1 == map.getBlocks().size()) {
      form.offset = rest;
      for (auto [part, stride] : llvm::zip(form.parts, linear[0]))
        part.stride = stride;
      break;
    }

    // Each part steps over whole rows of one dimension of the next block.
    BlockAttr next = map.getBlocks()[b + 1];
    unsigned rank = next.getRank();
    SmallVector<int64_t> rows(rank, 1), extents;
    for (AffineExpr extent : next.getShape())
      extents.push_back(number(extent));
    for (unsigned d = rank; d-- > 1;)
      rows[d - 1] = rows[d] * extents[d];
    if (rest < 0 || llvm::is_contained(extents, 0))
      return std::nullopt;
    SmallVector<std::pair<unsigned, unsigned>> homes;
    for (unsigned p = 0; p < form.parts.size();) {
      int64_t step = linear[0][p];
      if (step < 0)
        return std::nullopt;
      if (step == 0 || form.parts[p].extent == 1) {
        ++p;
        continue;
      }
      unsigned d = 0;
      while (step % rows[d] != 0)
        ++d;
      int64_t factor = step / rows[d], most = extents[d];
      if (d > 0 && factor * form.parts[p].extent > most && most % factor == 0 && most / factor > 1 &&
          form.parts[p].extent % (most / factor) == 0) {
        form.split(p, most / factor, linear);
        // The outer part is looked at again, the inner one when its turn comes.
        continue;
      }
      homes.push_back({p++, d});
    }
    sums.assign(rank, SmallVector<int64_t>(form.parts.size(), 0));
    constants.assign(rank, 0);
    for (unsigned d = 0; d < rank; ++d) {
      constants[d] = rest / rows[d];
      rest %= rows[d];
    }
    SmallVector<int64_t> furthest(constants);
    for (auto [p, d] : homes) {
      sums[d][p] = linear[0][p] / rows[d];
      furthest[d] += sums[d][p] * (form.parts[p].extent - 1);
    }
    for (unsigned d = 1; d < rank; ++d)
      if (furthest[d] >= extents[d])
        return std::nullopt;
  }
  for (SmallVector<unsigned> &dim : form.dims)
    llvm::erase_if(dim, [&](unsigned p) { return form.parts[p].extent == 1; });
  return form;
}

void AccessForm::mergeInnermost(unsigned dim) {
  while (dims[dim].size() > 1) {
    unsigned inner = dims[dim].back(), outer = dims[dim][dims[dim].size() - 2];
    int64_t extent = parts[inner].extent;
    auto isOne = [&](const Bound &bound) {
      int64_t out = bound.factors[outer], in = bound.factors[inner];
      // Every element of a row is in bounds where the row is.
      return out == in * extent || (out == 1 && in == 0);
    };
    if (parts[outer].stride != parts[inner].stride * extent || !llvm::all_of(bounds, isOne))
      return;
    for (Bound &bound : bounds) {
      if (bound.factors[outer] != bound.factors[inner] * extent) {
        for (int64_t &factor : bound.factors)
          factor *= extent;
        bound.offset *= extent;
        bound.low *= extent;
        bound.high *= extent;
        bound.factors[inner] = 1;
      }
      bound.factors[outer] = 0;
    }
    parts[inner].extent *= parts[outer].extent;
    parts[outer] = {1, 0};
    dims[dim].erase(dims[dim].end() - 2);
  }
}

/// The same of the innermost part of a dimension as it is.
static int64_t contiguityOfPart(const AccessForm &form, unsigned dim) {
  if (form.dims[dim].empty())
    return 1;
  const unsigned inner = form.dims[dim].back();
  auto reaches = [&](const AccessForm::Bound &bound) { return bound.factors[inner] != 0; };
  if (form.parts[inner].stride != 1 || llvm::any_of(form.bounds, reaches))
    return 1;
  // The lowest bit that any of these has divides them all.
  int64_t all = form.parts[inner].extent | form.offset;
  for (auto [p, part] : llvm::enumerate(form.parts))
    if (p != inner && part.extent > 1)
      all |= part.stride;
  return all & -all;
}

int64_t AccessForm::contiguityAlong(unsigned dim) const {
  // Where pixels follow each other, too, they are one part with their channels, but not all of these exist.
  AccessForm merged = *this;
  merged.mergeInnermost(dim);
  return std::max(contiguityOfPart(*this, dim), contiguityOfPart(merged, dim));
}

bool AccessForm::hasOverlaps() const {
  uint64_t count = 1, span = 1;
  for (const Part &part : parts)
    if (part.extent > 1 && part.stride != 0) {
      count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(part.extent));
      span += static_cast<uint64_t>((part.extent - 1) * std::abs(part.stride));
    }
  return count > span;
}

int64_t zyx::kernel::alignmentOfRows(MapAttr map, unsigned dim, int64_t lanes) {
  if (!map.isSingleBlock() || map.getNumSymbols() != 0)
    return lanes;
  BlockAttr block = map.front();
  if (number(block.getStrides()[dim]) != 1)
    return lanes;
  // Short rows that end inside of a vector, as padded ones do, would be no whole vectors that threads have in
  // registers.
  constexpr int64_t shortRow = 256;
  const int64_t own = number(block.getShape()[dim]);
  int64_t all = lanes | number(block.getOffset()) | (own < shortRow ? own : 0);
  for (auto [d, extent] : llvm::enumerate(block.getShape()))
    if (d != dim && number(extent) > 1)
      all |= number(block.getStrides()[d]);
  return all & -all;
}
