//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the functions of tensors are made of.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_DETAIL_H
#define ZYX_LIB_TENSOR_DETAIL_H

#include "Capture.h"
#include "State.h"

namespace zyx::detail {

State &stateOf(const Tensor &x);
Tensor makeIn(State &state, Op op, std::span<const Tensor> operands, graph::Attributes attributes, const Place &where,
              TensorType requested = {});
/// A node of the context of its operands, of which there are some.
Tensor makeNode(Op op, std::initializer_list<Tensor> operands, graph::Attributes attributes, const Place &where,
                TensorType requested = {});
Tensor makeUnary(graph::UnaryKind kind, const Tensor &x, const Place &where);
/// Of two tensors of one dtype and shape.
Tensor makeBinary(graph::BinaryKind kind, const Tensor &a, const Tensor &b, const Place &where);
Tensor makeReduce(graph::ReduceKind kind, const Tensor &x, Dims dims, const Place &where);
/// A rank-0 constant.
Tensor constantIn(State &state, double value, DType dtype, const Place &where);
inline Tensor constantLike(const Tensor &x, double value, DType dtype, const Place &where) {
  return constantIn(stateOf(x), value, dtype, where);
}

/// Whether a number is an element of a dtype without a change but rounding: finite ones stay finite.
bool isRepresentable(double value, DType dtype);

/// While it lives, this thread calls a function of the user to see what it builds; that is used more than once.
class CaptureScope {
public:
  /// Of the body of a loop.
  CaptureScope() : parameters(ParameterScope::Kind::Body) { ++depth; }
  /// Of the function of a Jit.
  explicit CaptureScope(std::shared_ptr<State> state) : parameters(ParameterScope::Kind::Capturing, std::move(state)) {
    ++depth;
  }
  ~CaptureScope() { --depth; }
  CaptureScope(const CaptureScope &) = delete;
  CaptureScope &operator=(const CaptureScope &) = delete;
  static bool isOpen() { return depth != 0; }

  ParameterScope parameters;

private:
  static inline thread_local int depth = 0;
};

[[noreturn]] void refuse(const std::string &message, const Place &where);
/// The dimension from the front; throws where there is none.
int64_t dimension(int64_t dim, int64_t rank, std::string_view function, const Place &where);
/// The same for several, increasing; none are all. Refuses one that is named twice.
Dims dimensions(const Dims &dims, int64_t rank, std::string_view function, const Place &where);

/// The smallest dtype that holds the elements of both, or none: bool alone, integers among themselves
/// (with a sign where one has one), floats among themselves.
std::optional<DType> promoted(DType a, DType b);
/// Where two shapes broadcast to, from the last dimension on; none where they do not.
std::optional<Shape> broadcast(const Shape &a, const Shape &b);
Tensor expandTo(const Tensor &x, const Shape &shape, const Place &where);

/// Two operands as tensors of one dtype and, if asked for, one shape.
struct Pair {
  Tensor a, b;
};
Pair resolve(const Operand &a, const Operand &b, std::string_view function, bool sameShape = true);

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_DETAIL_H
