//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "EstimatePacking.h"

#include "zyx/Codegen/Tile/NearForm.h"

using namespace mlir;
using namespace zyx::kernel;

zyx::schedule::PackingCycles zyx::schedule::estimatePacking(const PackedDot &packed, LoadOp load, const Axes &axes) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  if (!view || view.getMap().isSingleBlock() || view.getMap().getNumSymbols() != 0)
    return {};
  DotOp dot = packed.dot;
  SmallVector<Axis> own = axes.of(load.getResult()), result = axes.of(dot.getResult());
  const Axis rows = result[result.size() - 2], columns = result.back(), depth = axes.of(dot.getLhs()).back();
  auto along = [&](Axis across, Axis lanes) -> std::optional<std::pair<unsigned, unsigned>> {
    const auto *from = llvm::find(own, across), *place = llvm::find(own, lanes);
    if (from == own.end() || place == own.end())
      return std::nullopt;
    return std::pair<unsigned, unsigned>(place - own.begin(), from - own.begin());
  };
  std::optional<std::pair<unsigned, unsigned>> dims = along(depth, columns);
  if (!packed.blocking.getPackRhs()) {
    const double cycles = dims ? copyingCycles(view.getMap(), *dims, packed.columns, packed.lanes) : 0;
    if (cycles > 0)
      return {0, cycles};
    dims.reset();
  }
  // A right factor that keeps its values is packed once for many runs (PackWeights.cpp).
  if (auto argument = dyn_cast<BlockArgument>(view.getBuffer());
      dims && argument && argument.getArgNumber() < packed.isFixed.size() && packed.isFixed[argument.getArgNumber()] &&
      dot.getRhs() == load.getResult() && result.size() == 2)
    return {};
  if (!dims && packed.blocking.getPackLhs())
    dims = along(rows, depth);
  if (!dims)
    return {};
  return {packingCycles(view.getMap(), dims->first, dims->second, packed.lanes), 0};
}
