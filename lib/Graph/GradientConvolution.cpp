//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A convolution is a sum of products of windows and filters, and what comes to its windows is a sum
// of products of the result's gradient, which is the same for all elements of a window, and the
// filters, which are the same for all windows. To store that and to add up its slices takes as many
// copies of the image as a window has elements. Where windows are one step apart it is itself a
// convolution: of the padded gradient with the flipped filters.
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
  NodeId moveWindows(NodeId gradient);
  NodeId moveFilters(NodeId filters);
  Shape withExtents(Shape shape, const WindowDims &dims) const;
  NodeId moveUp(NodeId x);

  GradientPass &p;
  const Node &node;
  /// Of the tensor that the windows show, without what is left out before and behind it.
  Shape extents;
  std::vector<int64_t> before, behind;
  /// From the window's gradient down to the sum: reshapes and permutes. Where the dimensions are in
  /// the result of each, in the sum, and in the product.
  std::vector<NodeId> views;
  std::vector<WindowDims> dims;
  WindowDims inProduct;
  std::vector<int64_t> reduced;
  NodeId product = 0, gradient = 0, filters = 0;
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
  for (size_t i = 0; i < a.dims.size(); ++i) {
    const auto dim = static_cast<size_t>(a.dims[i]);
    if (a.stride[i] != 1 || a.size[i] == 1 || node.type.shape[dim] < 2)
      return false;
    at.windows.push_back(dim);
    at.elements.push_back(extents.size() + i);
  }
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
  const Node *mul = p.visible(id, Op::Binary);
  if (!mul || static_cast<BinaryKind>(mul->attributes.kind) != BinaryKind::Mul)
    return false;
  for (size_t side : {0, 1}) {
    gradient = mul->operands[side];
    filters = mul->operands[1 - side];
    if (isRepeated(gradient, at.elements) && isRepeated(filters, at.windows))
      return true;
  }
  return false;
}

Shape TransposedConvolution::withExtents(Shape shape, const WindowDims &at) const {
  for (size_t i = 0; i < at.windows.size(); ++i)
    shape[at.windows[i]] = extents[static_cast<size_t>(node.attributes.dims[i])];
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
    const int64_t dim = at.withoutElements(at.windows[i]);
    const auto d = static_cast<size_t>(dim);
    low[d] = (a.size[i] - 1) * a.dilation[i];
    high[d] = extents[static_cast<size_t>(a.dims[i])] + before[static_cast<size_t>(a.dims[i])] - kept[d];
    low[d] -= before[static_cast<size_t>(a.dims[i])];
    permutation[at.elements[i]] = static_cast<int64_t>(kept.size() + window.dims.size());
    window.dims.push_back(dim);
    window.size.push_back(a.size[i]);
    window.dilation.push_back(a.dilation[i]);
  }
  window.stride.assign(order.size(), 1);
  for (size_t d = 0; d < shape.size(); ++d)
    if (!at.isElement(d))
      permutation[d] = at.withoutElements(d);
  const NodeId padded = p.pad(p.reshape(factor, kept), low, high);
  const NodeId windows = p.emit(Op::Window, {{padded}}, std::move(window));
  return p.expand(p.permute(windows, std::move(permutation)), withExtents(Shape(p.shape(product)), at));
}

NodeId TransposedConvolution::moveFilters(NodeId factor) {
  std::vector<int64_t> flipped(inProduct.elements.begin(), inProduct.elements.end());
  std::ranges::sort(flipped);
  return p.expand(p.flip(withoutExpand(factor), std::move(flipped)), withExtents(Shape(p.shape(product)), inProduct));
}

/// What the views do, without the elements of windows.
NodeId TransposedConvolution::moveUp(NodeId x) {
  for (size_t i = views.size(); i-- > 0;) {
    const Node view = p.graph.node(views[i]);
    const WindowDims &above = dims[i], &below = dims[i + 1];
    const Shape extended = withExtents(view.type.shape, above);
    Shape shape;
    std::vector<int64_t> order;
    for (size_t d = 0; d < extended.size(); ++d) {
      if (above.isElement(d))
        continue;
      shape.push_back(extended[d]);
      if (view.op == Op::Permute)
        order.push_back(below.withoutElements(static_cast<size_t>(view.attributes.dims[d])));
    }
    x = view.op == Op::Permute ? p.permute(x, std::move(order)) : p.reshape(x, std::move(shape));
  }
  return x;
}

/// Nobody asks for the gradient of what the operand was padded with.
void TransposedConvolution::leaveOutPadding() {
  const Node &pad = p.graph.node(node.operands[0]);
  if (pad.op != Op::Pad || p.needs(pad.operands[1]) || p.isSource(node.operands[0]))
    return;
  for (int64_t dim : node.attributes.dims) {
    const auto d = static_cast<size_t>(dim);
    const int64_t low = std::max<int64_t>(pad.attributes.low[d], 0);
    const int64_t high = std::max<int64_t>(pad.attributes.high[d], 0);
    if (low + high >= extents[d])
      continue;
    before[d] = low;
    behind[d] = high;
    extents[d] -= low + high;
  }
}

std::optional<NodeId> TransposedConvolution::run(NodeId g) {
  if (!match(g))
    return std::nullopt;
  leaveOutPadding();
  const NodeId next = p.mul(moveWindows(gradient), moveFilters(filters));
  std::vector<int64_t> summed = reduced;
  summed.insert(summed.end(), inProduct.elements.begin(), inProduct.elements.end());
  std::ranges::sort(summed);
  return p.pad(moveUp(p.sum(next, std::move(summed))), before, behind);
}

std::optional<NodeId> transposeConvolution(GradientPass &pass, const Node &window, NodeId g) {
  return TransposedConvolution(pass, window).run(g);
}

} // namespace zyx::graph
