//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_NEARLINES_H
#define ZYX_CODEGEN_TILE_NEARLINES_H

#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Codegen/Tile/NearForm.h"

namespace zyx::kernel {

/// What a dot's right factor reads of an image, windows by positions: an array that a program copies into memory of its
/// own, with padding, so that a vector of neighbouring positions is one load there for each element of the window.
/// Unlike a NearForm, its positions and its windows may be flattened.
struct NearLines {
  /// A dimension of the array, whose factors are those of parts of the form.
  using Dim = NearForm::Dim;
  AccessForm form;
  /// The one along lines is the last one.
  llvm::SmallVector<Dim> dims;
  /// Of the factor: the dimension of windows and that of positions.
  unsigned depth, columns;

  /// None where vectors of positions are no neighbours, or windows do not overlap.
  static std::optional<NearLines> compute(MapAttr map, unsigned depth, unsigned columns);

  /// Positions that are neighbours in memory, and those that share a position along the outermost part of theirs.
  int64_t lineLength() const { return form.parts[form.dims[columns].back()].extent; }
  int64_t innerPositions() const;
  int64_t outerPositions() const { return form.parts[form.dims[columns].front()].extent; }
  /// Innermost elements of the window whose places are written out, and that divide it.
  int64_t stepsAtOnce() const;
  /// The array's extents for a program of so many positions, and how many elements it takes with whole vectors of
  /// `lanes`.
  llvm::SmallVector<int64_t> getExtents(int64_t positions) const;
  int64_t countElements(int64_t positions, int64_t lanes) const;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_NEARLINES_H
