//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "NearWindow.h"

#include "NearCopier.h"

#include "zyx/Codegen/Tile/LaneAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace zyx::kernel;

std::optional<NearWindow> NearWindow::find(TileContext &lowering, DotOp dot, Axis depth, Axis columns, int64_t lanes) {
  BlockingAttr blocking = *dot.getBlocking();
  NearWindow near(lowering, dot);
  near.element = getElementTypeOrSelf(dot.getType());
  if (blocking.getPackRhs() || blocking.getNarrow() || blocking.getAlongDepth() || lanes == 1 ||
      !isa<FloatType>(near.element) || blocking.getDepth() < lowering.axes.extent(depth))
    return std::nullopt;
  Value tile = dot.getRhs();
  if (auto wide = tile.getDefiningOp<arith::ExtFOp>())
    tile = wide.getIn();
  near.image = tile.getDefiningOp<LoadOp>();
  if (!near.image || lowering.evaluator.memory.contains(tile) || lowering.evaluator.registers.contains(tile))
    return std::nullopt;
  auto indexOf = [&](Value index) { return lowering.evaluator.mapping.lookupOrDefault(index); };
  near.view = lowering.evaluator.mapping.lookupOrDefault(near.image.getView()).getDefiningOp<ViewOp>();
  std::optional<unsigned> depthDim, columnDim;
  for (auto [dim, axis] : llvm::enumerate(lowering.axes.of(tile))) {
    if (axis == depth)
      depthDim = dim;
    if (axis == columns)
      columnDim = dim;
  }
  if (!near.view || !depthDim || !columnDim || getConstantIntValue(indexOf(near.image.getIndices()[*depthDim])) != 0)
    return std::nullopt;
  MapAttr map = near.view.getMap();
  std::optional<NearLines> lines = NearLines::compute(map, *depthDim, *columnDim);
  if (!lines)
    return std::nullopt;
  near.lines = *lines;
  // Programs have whole lines, but for those that are one line in pieces; tiles do not go beyond a line.
  near.positions = lowering.axes.extent(columns);
  if (const int64_t inner = lines->innerPositions();
      inner > 1 && (near.positions % inner != 0 || lines->lineLength() % blocking.getColumns() != 0))
    return std::nullopt;
  near.width = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(lines->lineLength()));
  near.allocate();
  return near;
}

void NearWindow::allocate() {
  extents = lines.getExtents(positions);
  strides.assign(extents.size(), 1);
  for (size_t d = extents.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] *
                 static_cast<int64_t>(d + 2 == extents.size() ? llvm::alignTo(extents[d + 1], width) : extents[d + 1]);
  // The last lanes of a tile's last vector lie behind its line.
  const int64_t behind = llvm::alignTo(dot.getBlocking()->getColumns(), width);
  OpBuilder::InsertionGuard guard(t.builder);
  t.builder.setInsertionPointToStart(t.programStart);
  auto type = ViewType::get({lines.countElements(positions, width) + behind}, element, Space::Private);
  memory = AllocOp::create(t.builder, dot.getLoc(), type);
}

SmallVector<Value> NearWindow::decompose(ArrayRef<unsigned> parts, Value index) {
  SmallVector<Value> found(parts.size());
  for (size_t i = parts.size(); i-- > 0;) {
    if (i == 0) {
      found[i] = index;
      break;
    }
    Value extent = constant(lines.form.parts[parts[i]].extent);
    found[i] = t.builder.createOrFold<arith::RemUIOp>(dot.getLoc(), index, extent);
    index = t.builder.createOrFold<arith::DivUIOp>(dot.getLoc(), index, extent);
  }
  return found;
}

int64_t NearWindow::strideOf(unsigned part) const {
  int64_t stride = 0;
  for (auto [dim, step] : llvm::zip(lines.dims, strides))
    stride += dim.factors[part] * step;
  return stride;
}

void NearWindow::copy(const Point &at) {
  const AccessForm &form = lines.form;
  Type source = view.getType().getElementType();
  NearForm array;
  array.offset = form.offset;
  for (const NearLines::Dim &dim : lines.dims)
    array.dims.push_back({dim.step, {}, dim.isBounded, dim.offset, dim.low, dim.high});
  // Vectors along lines are whole in the copy: behind what there is of a line they have zeros. The last program has
  // fewer lines than others where these are not all alike.
  const int64_t all = lines.innerPositions() * lines.outerPositions();
  for (auto [dim, extent] : llvm::zip(array.dims, lines.getExtents(all)))
    if (!dim.isBounded && (&dim == &array.dims.back() || all % positions != 0)) {
      dim.isBounded = true;
      dim.high = extent;
    }
  NearCopier copier(t.builder, dot.getLoc(), array, width, source);
  copier.bases.assign(array.dims.size(), constant(0));
  for (int64_t extent : extents)
    copier.counts.push_back(constant(extent));
  copier.strides = strides;
  copier.origin = constant(0);
  // Where the program's positions begin, and those of batches.
  auto moveTo = [&](unsigned part, Value position) {
    bool isInside = false;
    for (auto [dim, base] : llvm::zip(lines.dims, copier.bases))
      if (const int64_t factor = dim.factors[part]; factor != 0) {
        base = add(base, times(position, factor));
        isInside = true;
      }
    if (!isInside)
      copier.origin = add(copier.origin, times(position, form.parts[part].stride));
  };
  for (auto [dim, axis] : llvm::enumerate(t.axes.of(image.getResult()))) {
    if (dim == lines.depth)
      continue;
    Value index = t.evaluator.mapping.lookupOrDefault(image.getIndices()[dim]);
    if (dim == lines.columns) {
      Value outer = t.builder.createOrFold<arith::DivUIOp>(dot.getLoc(), index, constant(lines.innerPositions()));
      moveTo(form.dims[dim].front(), outer);
      continue;
    }
    Point point = at;
    index = add(index, t.evaluator.position(point, axis, dot.getLoc()));
    for (auto [part, position] : llvm::zip(form.dims[dim], decompose(form.dims[dim], index)))
      moveTo(part, position);
  }
  copier.row = viewAsRow(t.builder, view);
  copier.fill = image.getOther()
                    ? t.evaluator.mapping.lookupOrDefault(image.getOther())
                    : arith::ConstantOp::create(t.builder, dot.getLoc(), t.builder.getZeroAttr(source)).getResult();
  copier.memory = memory;
  copier.kept = element;
  copier.copy();
}

Value NearWindow::beginOf(Value column) {
  ArrayRef<unsigned> parts = lines.form.dims[lines.columns];
  Value begin = constant(0);
  for (auto [part, position] : llvm::zip(parts, decompose(parts, column)))
    begin = add(begin, times(position, strideOf(part)));
  return begin;
}

Value NearWindow::round(Value begin, Value step) {
  SmallVector<unsigned> parts(lines.form.dims[lines.depth]);
  int64_t inside = lines.stepsAtOnce();
  Value rest = t.builder.createOrFold<arith::DivUIOp>(dot.getLoc(), step, constant(inside));
  for (; inside > 1; parts.pop_back())
    inside /= lines.form.parts[parts.back()].extent;
  for (auto [part, position] : llvm::zip(parts, decompose(parts, rest)))
    begin = add(begin, times(position, strideOf(part)));
  return begin;
}

Value NearWindow::load(Value round, int64_t step, int64_t vector) {
  int64_t offset = vector * width;
  for (unsigned part : llvm::reverse(lines.form.dims[lines.depth])) {
    const int64_t extent = lines.form.parts[part].extent;
    offset += step % extent * strideOf(part);
    step /= extent;
  }
  return LoadOp::create(t.builder, dot.getLoc(), VectorType::get(width, element), memory, add(round, constant(offset)),
                        Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
}
