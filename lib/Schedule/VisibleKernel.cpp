//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Tiles of kernels that find out what data hides from an attention.
//===----------------------------------------------------------------------===//
#include "VisibleKernel.h"

#include "zyx/Codegen/Matrix/TensorPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;

llvm::SetVector<Value> zyx::schedule::sliceOf(Value tile) {
  llvm::SetVector<Value> values;
  values.insert(tile);
  for (size_t i = 0; i < values.size(); ++i)
    if (Operation *op = values[i].getDefiningOp(); op && isTile(values[i]) && !isa<LoadOp, DotOp>(op))
      values.insert_range(op->getOperands());
  return values;
}

BlockArgument zyx::schedule::bufferOf(LoadOp load) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  return view && view.getSymbols().empty() ? dyn_cast<BlockArgument>(view.getBuffer()) : BlockArgument();
}

int64_t VisibleKernel::countKept() const {
  int64_t count = 1;
  for (const Dim &dim : ArrayRef(dims).take_front(kept))
    count *= dim.extent;
  return count;
}

int64_t VisibleKernel::strideOf(Axis axis) const {
  int64_t stride = 1;
  for (const Dim &dim : llvm::reverse(ArrayRef(dims).take_front(kept))) {
    if (dim.axis == axis)
      return stride;
    stride *= dim.extent;
  }
  return 0;
}

double VisibleKernel::countPairs() const {
  double count = 1;
  for (const Dim &dim : dims)
    count *= static_cast<double>(dim.extent);
  return count;
}

void VisibleKernel::takeBatches(llvm::function_ref<bool(Axis)> isNeeded) {
  for (Axis axis : streamed.batches)
    if (isNeeded(axis))
      take(axis, axes.extent(axis), "b" + std::to_string(dims.size()));
}

void VisibleKernel::begin(SymbolTable &symbols, FuncOp after, StringRef suffix, ArrayRef<BlockArgument> sources,
                          Type written) {
  SmallVector<Type> types;
  for (BlockArgument source : sources)
    types.push_back(source.getType());
  types.push_back(BufferType::get(func.getContext(), written, Space::Global));
  b.setInsertionPointAfter(after);
  made = FuncOp::create(b, loc, (after.getName() + suffix).str(), b.getFunctionType(types, {}));
  symbols.insert(made);
  b.setInsertionPointToEnd(&made.getBody().front());
  zero = arith::ConstantIndexOp::create(b, loc, 0);
}

RankedTensorType VisibleKernel::typeOf(ArrayRef<unsigned> own, Type element) const {
  return RankedTensorType::get(llvm::map_to_vector(own, [&](unsigned dim) { return dims[dim].extent; }), element);
}

Value VisibleKernel::constant(ArrayRef<unsigned> own, Attribute number, Type element) {
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(typeOf(own, element), number));
}

Value VisibleKernel::spread(const Tile &tile, ArrayRef<unsigned> onto) {
  if (ArrayRef(tile.dims) == onto)
    return tile.value;
  Type type = typeOf(onto, getElementTypeOrSelf(tile.value));
  SmallVector<int64_t> places;
  for (unsigned dim : tile.dims)
    places.push_back(llvm::find(onto, dim) - onto.begin());
  return BroadcastOp::create(b, loc, type, tile.value, places);
}

SmallVector<unsigned> VisibleKernel::join(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  SmallVector<unsigned> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

Value VisibleKernel::iota(unsigned dim, Type element) {
  return IotaOp::create(b, loc, typeOf({dim}, element), Value(), 0, b.getStrArrayAttr({dims[dim].name}));
}

VisibleKernel::Tile VisibleKernel::placesIn(unsigned part, Type element) {
  const unsigned inner = part + 1;
  Tile first{{part}, arith::MulIOp::create(b, loc, iota(part, element), integer({part}, dims[part].step, element))};
  return combine<arith::AddIOp>(first, Tile{{inner}, iota(inner, element)});
}

VisibleKernel::Tile VisibleKernel::read(Value buffer, Type element, const AxisStrides &strides) {
  Tile tile;
  SmallVector<int64_t> shape, places, inner, innerPlaces, valid;
  for (auto [at, dim] : llvm::enumerate(dims)) {
    auto own = llvm::find_if(strides.strides, [axis = dim.axis](const auto &each) { return each.first == axis; });
    if (own == strides.strides.end())
      continue;
    tile.dims.push_back(at);
    shape.push_back(dim.extent);
    places.push_back(own->second * dim.step);
    if (dim.isInner)
      continue;
    const bool isSplit = at + 1 < dims.size() && dims[at + 1].isInner;
    inner.push_back(isSplit ? dim.extent * dim.step : dim.extent);
    innerPlaces.push_back(own->second);
    valid.push_back(isSplit ? axes.extent(dim.axis) : dim.extent);
  }
  MLIRContext *context = b.getContext();
  SmallVector<BlockAttr> blocks{stridedBlock(context, shape, places, strides.offset)};
  if (inner != valid) {
    // Places that do not exist are no elements: the first block numbers them, too.
    SmallVector<int64_t> numbered(shape.size());
    int64_t number = 1;
    for (size_t i = shape.size(); i-- > 0; number *= shape[i])
      numbered[i] = number;
    auto constants = [&](ArrayRef<int64_t> all) {
      return llvm::map_to_vector(all, [&](int64_t each) { return getAffineConstantExpr(each, context); });
    };
    SmallVector<int64_t> begins(inner.size(), 0);
    blocks = {stridedBlock(context, shape, numbered, 0),
              BlockAttr::get(context, constants(inner), constants(innerPlaces),
                             getAffineConstantExpr(strides.offset, context), constants(begins), constants(valid))};
  }
  Value view = ViewOp::create(b, loc, ViewType::get(shape, element, Space::Global), buffer, ValueRange(),
                              MapAttr::get(context, blocks));
  SmallVector<StringRef> names;
  for (unsigned dim : tile.dims)
    names.push_back(dims[dim].name);
  tile.value =
      LoadOp::create(b, loc, typeOf(tile.dims, element), view, SmallVector<Value>(shape.size(), zero), Value(), Value(),
                     b.getStrArrayAttr(names), b.getDenseBoolArrayAttr(SmallVector<bool>(shape.size(), true)));
  return tile;
}

void VisibleKernel::store(Value tile, int64_t offset, int64_t apart) {
  SmallVector<int64_t> shape, strides;
  int64_t stride = countKept() * apart;
  for (const Dim &dim : ArrayRef(dims).take_front(kept)) {
    stride /= dim.extent;
    shape.push_back(dim.extent);
    strides.push_back(stride);
  }
  Value view = ViewOp::create(b, loc, ViewType::get(shape, getElementTypeOrSelf(tile), Space::Global),
                              made.getBody().getArguments().back(), ValueRange(),
                              MapAttr::get(b.getContext(), stridedBlock(b.getContext(), shape, strides, offset)));
  StoreOp::create(b, loc, tile, view, SmallVector<Value>(shape.size(), zero), Value(),
                  b.getDenseBoolArrayAttr(SmallVector<bool>(shape.size(), true)));
}

void VisibleKernel::storeRange(const Tile &isSeen, const Tile &first, const Tile &behind) {
  Type number = b.getI32Type();
  SmallVector<unsigned> all = llvm::to_vector(llvm::seq<unsigned>(0, dims.size()));
  SmallVector<int64_t> combined;
  for (unsigned dim = kept; dim < dims.size(); ++dim)
    combined.push_back(dim);
  Value seen = spread(isSeen, all);
  auto reduce = [&](Combine kind, const Tile &of, int64_t otherwise) -> Value {
    Value chosen = arith::SelectOp::create(b, loc, seen, spread(of, all), integer(all, otherwise, number));
    return ReduceOp::create(b, loc, typeOf(ArrayRef(all).take_front(kept), number), kind, chosen, combined);
  };
  Value low = reduce(Combine::Min, first, axes.extent(streamed.places)), high = reduce(Combine::Max, behind, 0);
  store(low, 0);
  store(high, countKept());
  ReturnOp::create(b, loc);
}
