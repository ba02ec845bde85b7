//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Dequantise.h"

#include <cstring>
#include <initializer_list>

using namespace zyx;
using namespace zyx::graph;

namespace {

template <typename T> std::vector<std::byte> bytesOf(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// Builds on the bytes u8[number of blocks, bytes of a block]. The formats pack quants by halves
/// and quarters of a block, so each is written on a space of more dimensions, the number of blocks
/// first, in which element indices are row-major and every packed field is a view with extents
/// of 1.
///
/// Fields are expanded before anything is computed of them, so that all of it has one shape;
/// whoever forms groups decides which scales are computed once for all of their elements.
///
/// The first failure is kept; what is built after it is not used.
class Dequantiser {
public:
  Dequantiser(Graph &graph, NodeId bytes, Shape space) : graph(graph), bytes(bytes), space(std::move(space)) {
    fill = keep(graph.splat({DType::U8, {}}, {std::byte{0}}));
  }

  Result<NodeId> build(BlockFormat format, const Shape &shape);

private:
  NodeId keep(const Result<NodeId> &result) {
    if (result.isOk())
      return *result;
    if (failure.isOk())
      failure = result.status();
    return bytes;
  }
  NodeId binary(BinaryKind kind, NodeId a, NodeId b) { return keep(graph.binary(kind, a, b)); }
  NodeId binary(BinaryKind kind, NodeId a, int32_t b) {
    return binary(kind, a, keep(graph.splat({DType::I32, space}, bytesOf(b))));
  }
  NodeId product(NodeId a, NodeId b) { return binary(BinaryKind::Mul, a, b); }
  NodeId toFloat(NodeId x) { return keep(graph.cast(x, DType::F32)); }

  /// `count` bytes of each block from `begin` on, seen as {number of blocks, view...} and expanded.
  NodeId rawField(int64_t begin, int64_t count, std::initializer_list<int64_t> view) {
    const int64_t size = graph.node(bytes).type.shape[1];
    const NodeId cut = keep(graph.pad(bytes, fill, {0, -begin}, {0, begin + count - size}, {0, 0}));
    Shape shape{space[0]};
    shape.insert(shape.end(), view);
    shape.resize(space.size(), 1);
    return keep(graph.expand(keep(graph.reshape(cut, std::move(shape))), space));
  }
  /// The same as i32, unsigned.
  NodeId field(int64_t begin, int64_t count, std::initializer_list<int64_t> view) {
    return keep(graph.cast(rawField(begin, count, view), DType::I32));
  }
  /// The same as f32, of signed bytes.
  NodeId signedField(int64_t begin, int64_t count, std::initializer_list<int64_t> view) {
    return toFloat(keep(graph.bitcast(rawField(begin, count, view), DType::I8)));
  }
  /// The f16 at `begin` as f32.
  NodeId half(int64_t begin) {
    const NodeId low = keep(graph.cast(rawField(begin, 1, {}), DType::U16));
    const NodeId high = keep(graph.cast(rawField(begin + 1, 1, {}), DType::U16));
    const NodeId eight = keep(graph.splat({DType::U16, space}, bytesOf<uint16_t>(8)));
    const NodeId bits = binary(BinaryKind::Or, low, binary(BinaryKind::Shl, high, eight));
    return toFloat(keep(graph.bitcast(bits, DType::F16)));
  }

  struct Term {
    size_t dim;
    int32_t factor;
  };
  /// The bits of `mask` of x, after a shift right by the sum of index times factor over dimensions.
  NodeId unpack(NodeId x, std::initializer_list<Term> terms, int32_t mask) {
    Shape shape(space.size(), 1);
    std::vector<int32_t> shifts{0};
    for (Term term : terms) {
      shape[term.dim] = space[term.dim];
      std::vector<int32_t> finer;
      for (int32_t shift : shifts)
        for (int32_t i = 0; i < space[term.dim]; ++i)
          finer.push_back(shift + i * term.factor);
      shifts = std::move(finer);
    }
    std::vector<std::byte> value(shifts.size() * sizeof(int32_t));
    std::memcpy(value.data(), shifts.data(), value.size());
    const NodeId by = keep(graph.expand(keep(graph.constant({DType::I32, shape}, std::move(value))), space));
    return binary(BinaryKind::And, binary(BinaryKind::Shr, x, by), mask);
  }
  /// low | high << by
  NodeId join(NodeId low, NodeId high, int32_t by) {
    return binary(BinaryKind::Or, low, binary(BinaryKind::Shl, high, by));
  }

  NodeId smallBlock(BlockFormat format);
  NodeId q2K();
  NodeId q3K();
  NodeId q4K(BlockFormat format);
  NodeId q6K();

  Graph &graph;
  NodeId bytes;
  Shape space;
  NodeId fill = 0;
  Status failure;
};

/// Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0: blocks of 32. Element 16a + b, where the high nibbles are the
/// second half of a block; with fifth bits, of which a byte has eight, 16a + 8b + c.
NodeId Dequantiser::smallBlock(BlockFormat format) {
  const NodeId scale = half(0);
  if (format == BlockFormat::Q8_0)
    return product(scale, signedField(2, 32, {32}));
  const bool five = format == BlockFormat::Q5_0 || format == BlockFormat::Q5_1;
  const bool hasMinimum = format == BlockFormat::Q4_1 || format == BlockFormat::Q5_1;
  const int64_t bits = hasMinimum ? 4 : 2;
  NodeId quant = unpack(five ? field(bits + 4, 16, {1, 2, 8}) : field(bits, 16, {1, 16}), {{1, 4}}, 15);
  if (five)
    quant = join(quant, unpack(field(bits, 4, {2, 2, 1}), {{3, 1}}, 1), 4);
  if (hasMinimum)
    return binary(BinaryKind::Add, product(scale, toFloat(quant)), half(2));
  return product(scale, toFloat(binary(BinaryKind::Sub, quant, five ? 16 : 8)));
}

/// Element 128a + 32b + 16c + d.
NodeId Dequantiser::q2K() {
  const NodeId packed = field(0, 16, {2, 4, 2, 1});
  const NodeId scale = product(half(80), toFloat(binary(BinaryKind::And, packed, 15)));
  const NodeId minimum = product(half(82), toFloat(binary(BinaryKind::Shr, packed, 4)));
  const NodeId quant = unpack(field(16, 64, {2, 1, 2, 16}), {{2, 2}}, 3);
  return binary(BinaryKind::Sub, product(scale, toFloat(quant)), minimum);
}

/// Element 128a + 64b + 32c + 16d + e.
NodeId Dequantiser::q3K() {
  const NodeId low = unpack(field(96, 8, {1, 2, 2, 2, 1}), {{1, 4}}, 15);
  const NodeId high = unpack(field(104, 4, {1, 1, 2, 2, 1}), {{1, 4}, {2, 2}}, 3);
  const NodeId scale = product(half(108), toFloat(binary(BinaryKind::Sub, join(low, high, 4), 32)));
  const NodeId two = unpack(field(32, 64, {2, 1, 1, 2, 16}), {{2, 4}, {3, 2}}, 3);
  const NodeId third = unpack(field(0, 32, {1, 1, 1, 2, 16}), {{1, 4}, {2, 2}, {3, 1}}, 1);
  return product(scale, toFloat(binary(BinaryKind::Sub, join(two, third, 2), 4)));
}

/// Q4_K and Q5_K. Element 128a + 64b + 32c + d. Scales and minima have six bits; those of the
/// second half have their upper two where the first half has room.
NodeId Dequantiser::q4K(BlockFormat format) {
  const bool five = format == BlockFormat::Q5_K;
  const NodeId first = field(4, 4, {1, 2, 2, 1}), second = field(8, 4, {1, 2, 2, 1}),
               third = field(12, 4, {1, 2, 2, 1});
  const NodeId isFirstHalf = binary(BinaryKind::Eq, keep(graph.iota({DType::I32, space}, 1)), 0);
  auto sixBits = [&](NodeId low, NodeId ofFirstHalf) {
    const NodeId upper = binary(BinaryKind::Shr, ofFirstHalf, 6);
    return toFloat(keep(graph.select(isFirstHalf, binary(BinaryKind::And, ofFirstHalf, 63), join(low, upper, 4))));
  };
  const NodeId scale = product(half(0), sixBits(binary(BinaryKind::And, third, 15), first));
  const NodeId minimum = product(half(2), sixBits(binary(BinaryKind::Shr, third, 4), second));
  NodeId quant = unpack(field(five ? 48 : 16, 128, {2, 2, 1, 32}), {{3, 4}}, 15);
  if (five)
    quant = join(quant, unpack(field(16, 32, {1, 1, 1, 32}), {{1, 4}, {2, 2}, {3, 1}}, 1), 4);
  return binary(BinaryKind::Sub, product(scale, toFloat(quant)), minimum);
}

/// Element 128a + 64b + 32c + 16d + e.
NodeId Dequantiser::q6K() {
  const NodeId scale = product(half(208), signedField(192, 16, {2, 2, 2, 2, 1}));
  const NodeId low = unpack(field(0, 128, {2, 1, 2, 2, 16}), {{2, 4}}, 15);
  const NodeId high = unpack(field(128, 64, {2, 1, 1, 2, 16}), {{2, 4}, {3, 2}}, 3);
  return product(scale, toFloat(binary(BinaryKind::Sub, join(low, high, 4), 32)));
}

Result<NodeId> Dequantiser::build(BlockFormat format, const Shape &shape) {
  NodeId result = bytes;
  switch (format) {
  case BlockFormat::Q4_0:
  case BlockFormat::Q4_1:
  case BlockFormat::Q5_0:
  case BlockFormat::Q5_1:
  case BlockFormat::Q8_0:
    result = smallBlock(format);
    break;
  case BlockFormat::Q2_K:
    result = q2K();
    break;
  case BlockFormat::Q3_K:
    result = q3K();
    break;
  case BlockFormat::Q4_K:
  case BlockFormat::Q5_K:
    result = q4K(format);
    break;
  case BlockFormat::Q6_K:
    result = q6K();
    break;
  }
  ZYX_RETURN_IF_ERROR(failure);
  return graph.reshape(result, shape);
}

/// The extents behind the number of blocks, whose product is that of a block's elements.
Shape spaceOf(BlockFormat format) {
  switch (format) {
  case BlockFormat::Q2_K:
    return {2, 4, 2, 16};
  case BlockFormat::Q3_K:
  case BlockFormat::Q6_K:
    return {2, 2, 2, 2, 16};
  case BlockFormat::Q4_K:
  case BlockFormat::Q5_K:
    return {2, 2, 2, 32};
  case BlockFormat::Q4_0:
  case BlockFormat::Q4_1:
    return {2, 16};
  case BlockFormat::Q8_0:
    return {32};
  default:
    return {2, 2, 8};
  }
}

} // namespace

Result<NodeId> graph::dequantise(Graph &graph, NodeId blocks, BlockFormat format, const Shape &shape) {
  if (blocks >= graph.size())
    return Status::invalidArgument("dequantise: there is no node " + std::to_string(blocks));
  ZYX_ASSIGN_OR_RETURN(const TensorType stored, blockedType(format, shape));
  ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(stored));
  const TensorType &given = graph.node(blocks).type;
  const Result<int64_t> givenSize = numElements(given.shape);
  if (given.dtype != DType::U8 || !givenSize.isOk() || *givenSize != size)
    return Status::invalidArgument("dequantise: the blocks of " + std::string(zyx::toString(format)) +
                                   zyx::toString(shape) + " are u8 of " + std::to_string(size) + " elements, not " +
                                   zyx::toString(given));
  const int64_t count = size / blockBytes(format);
  ZYX_ASSIGN_OR_RETURN(const NodeId rows, graph.reshape(blocks, {count, blockBytes(format)}));
  Shape space = spaceOf(format);
  space.insert(space.begin(), count);
  return Dequantiser(graph, rows, std::move(space)).build(format, shape);
}
