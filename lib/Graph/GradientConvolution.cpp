//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A convolution is a sum of products of windows and filters, and what comes to its windows is a sum
// of products of the result's gradient, which is the same for all elements of a window, and the
// filters, which are the same for all windows. To store that and to add up its slices takes as many
// copies of the image as a window has elements. Where windows are one step apart it is itself a
// convolution: of the padded gradient with the flipped filters. Where they are s steps apart each
// phase of the steps is one: an element that lies r behind a multiple of s is reached by the elements
// r, r + s, r + 2 s of the filters alone, and by windows that are neighbours.
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include <algorithm>

namespace zyx::graph {

namespace {

/// The dimensions that count windows, and those of the elements inside of them, of some node.
struct WindowDims {
  std::vector<size_t> windows, elements;

  bool isElement(size_t dim) const { return std::ranges::find(elements, dim) != elements.end(); }
  /// The dimension's number among those that are no elements.
  int64_t withoutElements(size_t dim) const {
    return static_cast<int64_t>(dim) - std::ranges::count_if(elements, [&](size_t element) { return element < dim; });
  }
};

/// Each phase reads all of the gradient, and is perhaps a kernel. More than these are not worth it.
constexpr int64_t maxPhases = 16;
/// Summands of an element without filters. More are added up along one dimension after the other.
constexpr int64_t maxTaps = 16;

/// The elements of the operand along one dimension that lie `index` behind the multiples of the step.
/// There are `count` of them, each a sum of `taps` products: with the filters' elements that are a step
/// apart from `first` on, and with the windows up to the `shift`-th behind the multiple's number.
struct Phase {
  int64_t index, count, first, taps, shift;
};

class TransposedConvolution {
public:
  TransposedConvolution(GradientPass &pass, const Node &window)
      : p(pass), node(window), extents(pass.shape(window.operands[0])), before(extents.size()), behind(extents.size()) {
  }

  std::optional<NodeId> run(NodeId g);

private:
  bool match(NodeId g);
  void leaveOutPadding();
  bool isRepeated(NodeId id, const std::vector<size_t> &dims) const;
  NodeId withoutExpand(NodeId id);
  std::vector<Phase> getPhases(size_t i) const;
  NodeId sumPhase();
  void sumPhases(std::vector<NodeId> &sums);
  NodeId interleave(std::span<const NodeId> sums);
  NodeId moveWindows(NodeId gradient);
  NodeId moveFilters(NodeId filters);
  Shape withExtents(Shape shape, const WindowDims &dims) const;
  std::vector<int64_t> orderOf(size_t view) const;
  NodeId moveUp(NodeId x, size_t count);
  bool isJoined() const;

  GradientPass &p;
  const Node &node;
  /// Of the tensor that the windows show, without what is left out before and behind it.
  Shape extents;
  std::vector<int64_t> before, behind;
  /// The window's dimensions along which it has several elements, numbers in its lists.
  std::vector<size_t> moved;
  /// Along the first of these, or all: what is summed now.
  std::vector<Phase> phases;
  /// From the window's gradient down to the sum: reshapes and permutes. Where the dimensions are in
  /// the result of each, in the sum, and in the product.
  std::vector<NodeId> views;
  std::vector<WindowDims> dims;
  WindowDims inProduct;
  std::vector<int64_t> reduced;
  NodeId product = 0, gradient = 0;
  /// None where the elements of a window are added up as they are, for an average.
  std::optional<NodeId> filters;
};

} // namespace

/// The dimension of `to` that is the dimension `dim` of `from`, of which it is a reshape; of extent 1
/// there may be several.
static std::optional<size_t> findDim(const Shape &from, size_t dim, const Shape &to) {
  int64_t before = 1, product = 1;
  for (size_t d = 0; d < dim; ++d)
    before *= from[d];
  for (size_t d = 0; d < to.size(); product *= to[d++])
    if (product == before && to[d] == from[dim] && to[d] > 1)
      return d;
  return std::nullopt;
}

/// Whether the factor is the same along these dimensions, and says so at once.
bool TransposedConvolution::isRepeated(NodeId id, const std::vector<size_t> &dims) const {
  while (const Node *cast = p.visible(id, Op::Cast))
    id = cast->operands[0];
  const Node *expand = p.visible(id, Op::Expand);
  return expand && std::ranges::all_of(dims, [&](size_t dim) { return p.shape(expand->operands[0])[dim] == 1; });
}

/// The factor with one element along all dimensions in which it is repeated.
NodeId TransposedConvolution::withoutExpand(NodeId id) {
  const Node factor = p.graph.node(id);
  if (factor.op == Op::Cast)
    return p.cast(withoutExpand(factor.operands[0]), factor.type.dtype);
  return factor.operands[0];
}

bool TransposedConvolution::match(NodeId g) {
  const Attributes &a = node.attributes;
  if (*numElements(node.type.shape) == 0)
    return false;
  WindowDims at;
  int64_t count = 1, taps = 1;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    const auto dim = static_cast<size_t>(a.dims[i]);
    if (a.size[i] == 1 && a.stride[i] == 1)
      continue;
    // Windows that do not overlap are moved alone. Those of a step and a dilation have phases without elements.
    if (a.size[i] <= a.stride[i] || (a.stride[i] != 1 && a.dilation[i] != 1) || node.type.shape[dim] < 2)
      return false;
    at.windows.push_back(dim);
    at.elements.push_back(extents.size() + i);
    moved.push_back(i);
    taps *= (a.size[i] + a.stride[i] - 1) / a.stride[i];
    count *= a.stride[i];
    if (count > maxPhases)
      return false;
  }
  if (moved.empty())
    return false;
  NodeId id = g;
  for (;; id = views.back(), id = p.graph.node(id).operands[0]) {
    const Node &view = p.graph.node(id);
    if (!p.visible(id, Op::Permute) && !p.visible(id, Op::Reshape))
      break;
    views.push_back(id);
    dims.push_back(at);
    for (std::vector<size_t> *list : {&at.windows, &at.elements})
      for (size_t &dim : *list) {
        if (view.op == Op::Permute) {
          dim = static_cast<size_t>(view.attributes.dims[dim]);
          continue;
        }
        const std::optional<size_t> found = findDim(view.type.shape, dim, p.shape(view.operands[0]));
        if (!found)
          return false;
        dim = *found;
      }
  }
  dims.push_back(at);
  if (const Node *sum = p.visible(id, Op::Reduce);
      sum && static_cast<ReduceKind>(sum->attributes.kind) == ReduceKind::Add) {
    reduced = sum->attributes.dims;
    for (std::vector<size_t> *list : {&at.windows, &at.elements})
      for (size_t &dim : *list)
        for (int64_t gone : reduced)
          if (gone <= static_cast<int64_t>(dim))
            ++dim;
    id = sum->operands[0];
  }
  inProduct = at;
  product = id;
  if (isRepeated(id, at.elements)) {
    gradient = id;
    return taps <= maxTaps;
  }
  const Node *mul = p.visible(id, Op::Binary);
  if (!mul || static_cast<BinaryKind>(mul->attributes.kind) != BinaryKind::Mul)
    return false;
  for (size_t side : {0, 1}) {
    gradient = mul->operands[side];
    filters = mul->operands[1 - side];
    if (isRepeated(gradient, at.elements) && isRepeated(*filters, at.windows))
      return true;
  }
  return false;
}

std::vector<Phase> TransposedConvolution::getPhases(size_t i) const {
  const Attributes &a = node.attributes;
  const auto dim = static_cast<size_t>(a.dims[i]);
  const int64_t stride = a.stride[i], count = (extents[dim] + stride - 1) / stride;
  std::vector<Phase> all;
  for (int64_t index = 0; index < stride; ++index) {
    const int64_t place = index + before[dim], first = place % stride;
    all.push_back({index, count, first, (a.size[i] - first + stride - 1) / stride, place / stride});
  }
  return all;
}

/// The shape of what has these windows, where they are the elements of the operand.
Shape TransposedConvolution::withExtents(Shape shape, const WindowDims &at) const {
  for (size_t i = 0; i < at.windows.size(); ++i) {
    shape[at.windows[i]] = phases[i].count;
    shape[at.elements[i]] = phases[i].taps;
  }
  return shape;
}

/// The windows of the gradient that end at each place.
NodeId TransposedConvolution::moveWindows(NodeId factor) {
  const WindowDims &at = inProduct;
  const Attributes &a = node.attributes;
  factor = withoutExpand(factor);
  Shape shape = p.shape(factor);
  // What is the same in all windows lacks those that only reach in from outside.
  for (size_t dim : at.windows)
    shape[dim] = p.shape(product)[dim];
  factor = p.expand(factor, shape);
  Shape kept;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!at.isElement(d))
      kept.push_back(shape[d]);
  std::vector<size_t> order(at.windows.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return at.windows[i]; });

  std::vector<int64_t> low(kept.size()), high(kept.size()), permutation(shape.size());
  Attributes window;
  for (size_t i : order) {
    const Phase &phase = phases[i];
    const int64_t dim = at.withoutElements(at.windows[i]), dilation = a.dilation[moved[i]];
    const auto d = static_cast<size_t>(dim);
    low[d] = (phase.taps - 1) * dilation - phase.shift;
    high[d] = phase.count + phase.shift - kept[d];
    permutation[at.elements[i]] = static_cast<int64_t>(kept.size() + window.dims.size());
    window.dims.push_back(dim);
    window.size.push_back(phase.taps);
    window.dilation.push_back(dilation);
  }
  window.stride.assign(order.size(), 1);
  for (size_t d = 0; d < shape.size(); ++d)
    if (!at.isElement(d))
      permutation[d] = at.withoutElements(d);
  const NodeId padded = p.pad(p.reshape(factor, kept), low, high);
  const NodeId windows = p.emit(Op::Window, {{padded}}, std::move(window));
  return p.permute(windows, std::move(permutation));
}

NodeId TransposedConvolution::moveFilters(NodeId factor) {
  factor = withoutExpand(factor);
  const size_t rank = p.shape(factor).size();
  std::vector<int64_t> low(rank), high(rank), strides(rank, 1);
  for (size_t i = 0; i < phases.size(); ++i) {
    const size_t dim = inProduct.elements[i];
    strides[dim] = node.attributes.stride[moved[i]];
    low[dim] = -phases[i].first;
    high[dim] = phases[i].first + (phases[i].taps - 1) * strides[dim] + 1 - node.attributes.size[moved[i]];
  }
  factor = p.strided(p.pad(factor, std::move(low), std::move(high)), strides);
  std::vector<int64_t> flipped(inProduct.elements.begin(), inProduct.elements.end());
  std::ranges::sort(flipped);
  return p.flip(factor, std::move(flipped));
}

/// The order of a view's dimensions, without the elements of windows.
std::vector<int64_t> TransposedConvolution::orderOf(size_t view) const {
  std::vector<int64_t> order;
  const std::vector<int64_t> &whole = p.graph.node(views[view]).attributes.dims;
  for (size_t d = 0; d < whole.size(); ++d)
    if (!dims[view].isElement(d))
      order.push_back(dims[view + 1].withoutElements(static_cast<size_t>(whole[d])));
  return order;
}

/// What the first views do, the last ones first, without the elements of windows.
NodeId TransposedConvolution::moveUp(NodeId x, size_t count) {
  for (size_t i = count; i-- > 0;) {
    const Node view = p.graph.node(views[i]);
    if (view.op == Op::Permute) {
      x = p.permute(x, orderOf(i));
      continue;
    }
    const Shape extended = withExtents(view.type.shape, dims[i]);
    Shape shape;
    for (size_t d = 0; d < extended.size(); ++d)
      if (!dims[i].isElement(d))
        shape.push_back(extended[d]);
    x = p.reshape(x, std::move(shape));
  }
  return x;
}

/// Nobody asks for the gradient of what the operand was padded with.
void TransposedConvolution::leaveOutPadding() {
  const Node &pad = p.graph.node(node.operands[0]);
  if (pad.op != Op::Pad || p.needs(pad.operands[1]) || p.isSource(node.operands[0]))
    return;
  for (size_t i : moved) {
    const auto d = static_cast<size_t>(node.attributes.dims[i]);
    const int64_t low = std::max<int64_t>(pad.attributes.low[d], 0);
    const int64_t high = std::max<int64_t>(pad.attributes.high[d], 0);
    if (low + high >= extents[d])
      continue;
    before[d] = low;
    behind[d] = high;
    extents[d] -= low + high;
  }
}

/// Whether the sum is permuted and then reshaped to fewer dimensions, as groups of channels are. No kernel of a sum
/// does that, so the factors are permuted instead.
bool TransposedConvolution::isJoined() const {
  if (views.empty() || p.graph.node(views.back()).op != Op::Permute)
    return false;
  const auto isUnit = [](int64_t extent) { return extent == 1; };
  return std::ranges::any_of(views, [&](NodeId id) {
    const Node &view = p.graph.node(id);
    Shape from = p.shape(view.operands[0]), to = view.type.shape;
    std::erase_if(from, isUnit);
    std::erase_if(to, isUnit);
    return view.op == Op::Reshape && from != to;
  });
}

NodeId TransposedConvolution::sumPhase() {
  Shape shape = withExtents(Shape(p.shape(product)), inProduct);
  std::vector<int64_t> summed = reduced, order;
  summed.insert(summed.end(), inProduct.elements.begin(), inProduct.elements.end());
  std::ranges::sort(summed);
  size_t left = views.size();
  if (filters && isJoined()) {
    std::vector<int64_t> kept;
    for (size_t d = 0; d < shape.size(); ++d)
      if (!std::ranges::binary_search(summed, static_cast<int64_t>(d)))
        kept.push_back(static_cast<int64_t>(d));
    for (int64_t dim : orderOf(--left))
      order.push_back(kept[static_cast<size_t>(dim)]);
    order.insert(order.end(), summed.begin(), summed.end());
    Shape permuted;
    for (int64_t dim : order)
      permuted.push_back(shape[static_cast<size_t>(dim)]);
    shape = std::move(permuted);
    for (size_t i = 0; i < summed.size(); ++i)
      summed[i] = static_cast<int64_t>(kept.size() + i);
  }
  const auto spread = [&](NodeId x) { return p.expand(order.empty() ? x : p.permute(x, order), shape); };
  NodeId next = spread(moveWindows(gradient));
  if (filters)
    next = p.mul(next, spread(moveFilters(*filters)));
  return moveUp(p.sum(next, std::move(summed)), left);
}

/// Adds the sums of all phases, those of the last dimension next to each other.
void TransposedConvolution::sumPhases(std::vector<NodeId> &sums) {
  if (phases.size() == moved.size())
    return sums.push_back(sumPhase());
  for (const Phase &phase : getPhases(moved[phases.size()])) {
    phases.push_back(phase);
    sumPhases(sums);
    phases.pop_back();
  }
}

/// Elements of all phases where they belong: phases become dimensions in front, and then each one a dimension behind
/// that of the multiples of its step. So they are moved once.
NodeId TransposedConvolution::interleave(std::span<const NodeId> sums) {
  Shape whole = extents, part = extents, split;
  std::vector<int64_t> order, high(extents.size()), none(extents.size());
  std::vector<std::optional<int64_t>> phaseDims(extents.size());
  for (size_t i : moved) {
    const auto dim = static_cast<size_t>(node.attributes.dims[i]);
    const int64_t stride = node.attributes.stride[i];
    part[dim] = (extents[dim] + stride - 1) / stride;
    whole[dim] = part[dim] * stride;
    high[dim] = extents[dim] - whole[dim];
    if (stride == 1)
      continue;
    phaseDims[dim] = static_cast<int64_t>(split.size());
    split.push_back(stride);
  }
  if (sums.size() == 1)
    return p.reshape(sums[0], extents);
  const auto count = static_cast<int64_t>(split.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    order.push_back(count + static_cast<int64_t>(d));
    if (phaseDims[d])
      order.push_back(*phaseDims[d]);
  }
  split.insert(split.end(), part.begin(), part.end());
  part.insert(part.begin(), 1);
  std::vector<NodeId> parts;
  for (NodeId sum : sums)
    parts.push_back(p.reshape(sum, part));
  Attributes attributes;
  attributes.dims = {0};
  const NodeId all = p.emit(Op::Concat, parts, std::move(attributes));
  if (!p.status.isOk())
    return all;
  return p.pad(p.reshape(p.permute(p.reshape(all, std::move(split)), std::move(order)), std::move(whole)), none, high);
}

std::optional<NodeId> TransposedConvolution::run(NodeId g) {
  if (!match(g))
    return std::nullopt;
  leaveOutPadding();
  std::vector<NodeId> sums;
  sumPhases(sums);
  return p.pad(interleave(sums), before, behind);
}

std::optional<NodeId> transposeConvolution(GradientPass &pass, const Node &window, NodeId g) {
  return TransposedConvolution(pass, window).run(g);
}

} // namespace zyx::graph
