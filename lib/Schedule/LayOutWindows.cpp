//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Windows over what is padded, or lies in another order than results: a kernel of its own copies what they are taken
// of.
//===----------------------------------------------------------------------===//
#include "LayOutWindows.h"

#include "FactorLayouter.h"
#include "LayOutFactors.h"

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Codegen/Tile/NearForm.h"
#include "zyx/Schedule/Weights.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

#include <algorithm>
#include <vector>

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Reads of each element for which a copy is worth its launch, and of all of them.
constexpr int64_t fewestReads = 4, fewestReadsOfAll = int64_t(1) << 20;
/// Rows of the copy begin at multiples of so many bytes.
constexpr int64_t rowBytes = 16;
/// Neighbours that a product's factor has in a row of windows, for which it is copied.
constexpr int64_t shortestRun = 7;

/// What one load reads, and the copy of it.
struct Window {
  LoadOp load;
  NearForm form;
  SmallVector<int64_t> extents, strides;
  int64_t elements = 0;
  /// What the form is of: the map, or what its first block leads to, where that takes several dimensions as one.
  MapAttr map;
};

/// Extents of a map's first block; none where these are not numbers.
std::optional<SmallVector<int64_t>> shapeOf(MapAttr map) {
  SmallVector<int64_t> shape;
  for (AffineExpr extent : map.front().getShape()) {
    shape.push_back(BlockAttr::constant(extent).value_or(0));
    if (shape.back() <= 0)
      return std::nullopt;
  }
  return shape;
}

/// Whether a load is one of a whole argument through windows, or with padding.
bool readsWindows(LoadOp load) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  if (!view || !isTile(load.getResult()) || load.getMask() || !isa<BlockArgument>(view.getBuffer()) ||
      !view.getSymbols().empty() || view.getMap().getNumSymbols() != 0 || view.getMap().isOneWholeBlock())
    return false;
  auto type = cast<RankedTensorType>(load.getType());
  return view.getType().getShape() == type.getShape() && type.getNumElements() >= fewestReadsOfAll &&
         (!load.getOther() || matchPattern(load.getOther(), m_Constant()));
}

std::optional<Window> describe(LoadOp load, MapAttr map, unsigned along) {
  auto type = cast<RankedTensorType>(load.getType());
  std::optional<SmallVector<int64_t>> shape = shapeOf(map);
  std::optional<NearForm> form = shape ? NearForm::compute(map, along, /*isCopied=*/true) : std::nullopt;
  if (!form)
    return std::nullopt;
  // Images and channels are as far apart as programs of them are. Short rows of an image follow each other:
  // neighbouring threads have one each, of the same channel, and find several in a line of memory.
  int64_t run = 1;
  for (auto [factor, extent] : llvm::zip_equal(form->dims.back().factors, *shape))
    run = std::max(run, factor != 0 ? extent : 1);
  const bool isShort = zyx::target::fits::tapSums::lanes(run) == run;
  auto firstOf = [&](const NearForm::Dim &dim) {
    return std::pair(isShort && llvm::count_if(dim.factors, [](int64_t factor) { return factor != 0; }) > 1,
                     llvm::find_if(dim.factors, [](int64_t factor) { return factor != 0; }) - dim.factors.begin());
  };
  std::stable_sort(form->dims.begin(), std::prev(form->dims.end()),
                   [&](const NearForm::Dim &a, const NearForm::Dim &b) { return firstOf(a) < firstOf(b); });
  Window window{load, *form, form->getExtents(*shape), {}, 1, map};
  const int64_t lanes = std::max<int64_t>(8 * rowBytes / std::max<int64_t>(type.getElementTypeBitWidth(), 8), 1);
  // What lies behind the last element of a row is padding, where that is told from what exists.
  if (form->dims.back().isBounded)
    window.extents.back() = llvm::alignTo(window.extents.back(), lanes);
  window.strides.assign(window.extents.size(), 1);
  for (size_t d = window.extents.size(); d-- > 0;) {
    window.strides[d] = window.elements;
    const int64_t extent = d + 1 == window.extents.size() ? llvm::alignTo(window.extents[d], lanes) : window.extents[d];
    if (extent > std::numeric_limits<int32_t>::max() / window.elements)
      return std::nullopt;
    window.elements *= extent;
  }
  return type.getNumElements() / window.elements >= fewestReads ? std::optional(window) : std::nullopt;
}

std::optional<Window> describe(LoadOp load, Axis along, const Axes &axes) {
  if (!readsWindows(load))
    return std::nullopt;
  SmallVector<Axis> own = axes.of(load.getResult());
  auto *place = llvm::find(own, along);
  MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
  std::optional<Window> window = place == own.end() ? std::nullopt : describe(load, map, place - own.begin());
  if (!window)
    return std::nullopt;
  // Channels that come last are read in whole vectors as they lie, and padding is told for a vector at once: a thread
  // reads each of them once for the rows of results that it has.
  uint64_t steps = 1;
  for (Axis axis : own)
    if (axes.isCombined(axis))
      steps = llvm::SaturatingMultiply(steps, static_cast<uint64_t>(axes.extent(axis)));
  const NearForm::Dim &last = window->form.dims.back();
  return steps <= mostWindowElements && last.step == 1 && !last.isBounded ? std::nullopt : window;
}

/// Of a factor of a product, whose dimensions are several of the images' and the windows' each. Neighbours are to be
/// along the longest one that is the innermost of one of these, where they are none as it lies.
std::optional<Window> describeFactor(LoadOp load) {
  if (!readsWindows(load))
    return std::nullopt;
  MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
  if (map.isSingleBlock())
    return std::nullopt;
  auto inner = MapAttr::get(map.getContext(), map.getBlocks().drop_front());
  std::optional<SmallVector<int64_t>> shape = shapeOf(inner);
  const BlockAttr first = map.front();
  if (!shape || first.hasValid() || BlockAttr::constant(first.getOffset()) != 0)
    return std::nullopt;
  // Steps of the first block are whole rows of the dimensions that it leads to. Batches come before the factor's own
  // two.
  std::optional<unsigned> along;
  for (AffineExpr expr : first.getStrides().take_back(2)) {
    int64_t stride = BlockAttr::constant(expr).value_or(0), row = 1;
    auto dim = static_cast<unsigned>(shape->size());
    while (dim > 0 && row < stride)
      row *= (*shape)[--dim];
    if (stride <= 0 || row != stride)
      continue;
    while (dim > 0 && (*shape)[dim - 1] == 1)
      --dim;
    if (dim > 0 && (!along || (*shape)[dim - 1] > (*shape)[*along]))
      along = dim - 1;
  }
  std::optional<Window> window =
      along && (*shape)[*along] >= shortestRun ? describe(load, inner, *along) : std::nullopt;
  return window && std::abs(window->form.dims.back().step) != 1 ? window : std::nullopt;
}

MapAttr strided(Builder builder, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t offset,
                ArrayRef<int64_t> low = {}, ArrayRef<int64_t> high = {}) {
  auto numbers = [&](ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t value) { return builder.getAffineConstantExpr(value); });
  };
  return MapAttr::get(builder.getContext(),
                      BlockAttr::get(builder.getContext(), numbers(shape), numbers(strides),
                                     builder.getAffineConstantExpr(offset), numbers(low), numbers(high)));
}

/// Has the kernel read a window in its copy, out of `read`.
void readCopy(const Window &window, Value read) {
  LoadOp load = window.load;
  auto view = load.getView().getDefiningOp<ViewOp>();
  SmallVector<int64_t> shape = *shapeOf(window.map), strides(shape.size(), 0);
  for (auto [dim, stride] : llvm::zip_equal(window.form.dims, window.strides))
    for (auto [i, factor] : llvm::enumerate(dim.factors))
      strides[i] += factor * stride;
  OpBuilder builder(load);
  MapAttr map = strided(builder, shape, strides, 0);
  if (window.map != view.getMap())
    map = MapAttr::get(builder.getContext(), {view.getMap().front(), map.front()});
  load.getViewMutable().assign(ViewOp::create(builder, load.getLoc(), view.getType(), read, ValueRange(), map));
}

class Copier {
public:
  Copier(FuncOp func, SymbolTable &symbols, MutableArrayRef<zyx::plan::LaunchOp> launches,
         zyx::schedule::Copies &copies)
      : func(func), symbols(symbols), launches(launches), copies(copies), builder(func.getContext()) {}

  void apply(const Window &window, unsigned number);

private:
  /// How a window's copy reads and writes.
  std::pair<MapAttr, MapAttr> mapsOf(const Window &window);
  FuncOp createCopy(const Window &window, std::pair<MapAttr, MapAttr> maps, Operation *fill, BufferType buffer,
                    unsigned number);

  FuncOp func;
  SymbolTable &symbols;
  MutableArrayRef<zyx::plan::LaunchOp> launches;
  zyx::schedule::Copies &copies;
  OpBuilder builder;
};

} // namespace

std::optional<Axis> zyx::schedule::findWritten(FuncOp func, const Axes &axes) {
  std::optional<Axis> found;
  func.walk([&](StoreOp store) {
    auto view = store.getView().getDefiningOp<ViewOp>();
    if (found || !view || !isTile(store.getValue()) || !view.getMap().isSingleBlock())
      return;
    for (auto [stride, axis] : llvm::zip(view.getMap().front().getStrides(), axes.of(store.getValue())))
      if (BlockAttr::constant(stride) == 1 && axes.extent(axis) > 1)
        found = axis;
  });
  return found;
}

std::pair<MapAttr, MapAttr> Copier::mapsOf(const Window &window) {
  SmallVector<int64_t> steps, low, high;
  for (auto [dim, extent] : llvm::zip_equal(window.form.dims, window.extents)) {
    steps.push_back(dim.step);
    low.push_back(dim.isBounded ? std::clamp<int64_t>(dim.low - dim.offset, 0, extent) : 0);
    high.push_back(dim.isBounded ? std::clamp<int64_t>(dim.high - dim.offset, low.back(), extent) : extent);
  }
  const bool isBounded = llvm::any_of(window.form.dims, [](const NearForm::Dim &dim) { return dim.isBounded; });
  return {isBounded ? strided(builder, window.extents, steps, window.form.offset, low, high)
                    : strided(builder, window.extents, steps, window.form.offset),
          strided(builder, window.extents, window.strides, 0)};
}

/// A kernel that writes each element of the array once, and the padding's.
FuncOp Copier::createCopy(const Window &window, std::pair<MapAttr, MapAttr> maps, Operation *fill, BufferType buffer,
                          unsigned number) {
  builder.setInsertionPointAfter(func);
  Location loc = func.getLoc();
  auto made = FuncOp::create(builder, loc, (func.getName() + "_window" + (number ? std::to_string(number) : "")).str(),
                             builder.getFunctionType({buffer, buffer}, {}));
  symbols.insert(made);
  Block &body = made.getBody().front();
  builder.setInsertionPointToEnd(&body);
  auto view = [&](Value of, MapAttr map) -> Value {
    return ViewOp::create(builder, loc, ViewType::get(window.extents, buffer.getElementType(), Space::Global), of,
                          ValueRange(), map);
  };
  Value source = view(body.getArgument(0), maps.first), target = view(body.getArgument(1), maps.second);
  SmallVector<Value> zeros(window.extents.size(), arith::ConstantIndexOp::create(builder, loc, 0));
  SmallVector<Attribute> names;
  for (size_t dim = 0; dim < window.extents.size(); ++dim)
    names.push_back(builder.getStringAttr("d" + std::to_string(dim)));
  auto inBounds = builder.getDenseBoolArrayAttr(SmallVector<bool>(window.extents.size(), true));
  Value other = fill ? builder.clone(*fill)->getResult(0) : Value();
  Value tile = LoadOp::create(builder, loc, RankedTensorType::get(window.extents, buffer.getElementType()), source,
                              zeros, Value(), other, builder.getArrayAttr(names), inBounds);
  StoreOp::create(builder, loc, tile, target, zeros, Value(), inBounds);
  ReturnOp::create(builder, loc);
  return made;
}

void Copier::apply(const Window &window, unsigned number) {
  LoadOp load = window.load;
  auto view = load.getView().getDefiningOp<ViewOp>();
  auto argument = cast<BlockArgument>(view.getBuffer());
  const unsigned at = argument.getArgNumber(), count = launches.front().getIns().size();
  auto buffer = cast<BufferType>(argument.getType());
  // Something else may read the argument.
  Value read = func.getBody().front().insertArgument(count, buffer, argument.getLoc());
  readCopy(window, read);
  // A number that no operand makes.
  Operation *fill = load.getOther() ? load.getOther().getDefiningOp() : nullptr;
  const Attribute other = fill ? fill->getAttrDictionary() : Attribute();
  load.getOtherMutable().clear();
  if (view->use_empty())
    view->erase();
  func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(), {}));
  const std::pair<MapAttr, MapAttr> maps = mapsOf(window);
  const auto [from, to] = zyx::schedule::inOrder(maps.first, maps.second);
  FuncOp copy;
  for (zyx::plan::LaunchOp launch : launches)
    zyx::schedule::addCopy(
        copies, {launch.getIns()[at], {}, from, to, other, zyx::schedule::readWeights(launch, at), launch}, copy,
        [&] { return createCopy(window, maps, fill, buffer, number); }, at, window.elements, builder, load.getLoc());
}

int64_t zyx::schedule::readAsCopied(FuncOp func, const Axes &axes) {
  SmallVector<LoadOp> loads;
  const WalkResult walked = func.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      loads.push_back(load);
    return isa<GatherOp, GridOp, DotOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  const std::optional<Axis> along = walked.wasInterrupted() ? std::nullopt : findWritten(func, axes);
  if (!along)
    return 0;
  int64_t bytes = 0;
  for (LoadOp load : loads)
    if (std::optional<Window> window = describe(load, *along, axes);
        window && std::abs(window->form.dims.back().step) != 1) {
      readCopy(*window, load.getView().getDefiningOp<ViewOp>().getBuffer());
      load.getOtherMutable().clear();
      bytes += 2 * window->elements *
               std::max<int64_t>(cast<RankedTensorType>(load.getType()).getElementTypeBitWidth() / 8, 1);
    }
  return bytes;
}

bool zyx::schedule::layOutWindows(FuncOp func, SymbolTable &symbols, MutableArrayRef<plan::LaunchOp> launches,
                                  Copies &copies) {
  bool isAlone = !launches.empty(), reduces = false;
  unsigned numDots = 0;
  for (plan::LaunchOp launch : launches)
    isAlone &= launch.getIns().size() == launches.front().getIns().size();
  func.walk([&](Operation *op) {
    isAlone &= !isa<GatherOp, GridOp>(op);
    reduces |= isa<ReduceOp>(op);
    numDots += isa<DotOp>(op);
  });
  if (!isAlone || (numDots == 0 ? !reduces : reduces || numDots > 1))
    return false;
  OwningOpRef<FuncOp> trial = cloneUnshared(func);
  FailureOr<Axes> axes = Axes::compute(*trial);
  std::optional<Axis> along = failed(axes) ? std::nullopt : findWritten(*trial, *axes);
  if (!along)
    return false;
  auto loadsOf = [](FuncOp of) {
    SmallVector<LoadOp> loads;
    of.walk([&](LoadOp load) { loads.push_back(load); });
    return loads;
  };
  std::vector<Window> windows;
  for (auto [load, tried] : llvm::zip_equal(loadsOf(func), loadsOf(*trial)))
    if (std::optional<Window> window = numDots ? describeFactor(tried) : describe(tried, *along, *axes)) {
      window->load = load;
      windows.push_back(std::move(*window));
    }
  Copier copier(func, symbols, launches, copies);
  for (auto [number, window] : llvm::enumerate(windows))
    copier.apply(window, static_cast<unsigned>(number));
  if (windows.empty())
    return false;
  dropUnread(func, launches);
  remark::passed(func.getLoc(), remark::RemarkOpts::name("LayOutWindows").category("zyx-schedule"))
      << func.getName() << ": what its windows are taken of is copied, with its padding";
  return true;
}
