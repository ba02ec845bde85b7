//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_TENSOR_H
#define ZYX_TENSOR_TENSOR_H

#include "zyx/Base/Shape.h"
#include "zyx/Tensor/Context.h"
#include "zyx/Tensor/Error.h"
#include "zyx/Tensor/Options.h"

#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace zyx {

namespace detail {
struct Handle;
} // namespace detail

class Operand;
class Index;
struct Padded;
struct Pooled;
struct QR;
struct Ranked;
struct Unique;

/// The place of a call behind elements in braces, where nothing in braces is taken for it.
struct PlaceOfCall {
  PlaceOfCall(Place where) : where(where) {}
  Place where;
};

template <typename T> struct DTypeOf;
template <> struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};
template <> struct DTypeOf<int8_t> {
  static constexpr DType value = DType::I8;
};
template <> struct DTypeOf<int16_t> {
  static constexpr DType value = DType::I16;
};
template <> struct DTypeOf<int32_t> {
  static constexpr DType value = DType::I32;
};
template <> struct DTypeOf<int64_t> {
  static constexpr DType value = DType::I64;
};
template <> struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::U8;
};
template <> struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::U16;
};
template <> struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::U32;
};
template <> struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::U64;
};
template <> struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <> struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
/// Types of C++ that are elements of tensors.
template <typename T>
concept Element = requires { DTypeOf<T>::value; };

/// An immutable value that is computed when it is read: a node of its context's graph. Copies are
/// cheap and share the value. Functions of tensors throw Error at the call where shapes or dtypes do
/// not fit; failures of a device show where a value is read.
class Tensor {
public:
  /// No tensor.
  Tensor() = default;
  /// A scalar (rank 0), part of programs as a constant.
  template <Element T> static Tensor scalar(T value, Place where = Place::current()) {
    return constant(DTypeOf<T>::value, bytesOf(std::span<const T>(&value, 1)), where);
  }
  /// Elements in row-major order, copied. They are data: programs with other elements are the same.
  template <Element T> static Tensor from(std::span<const T> elements, Shape shape, Place where = Place::current()) {
    return fromBytes({DTypeOf<T>::value, std::move(shape)}, bytesOf(elements), where);
  }
  template <Element T> static Tensor from(const std::vector<T> &elements, Shape shape, Place where = Place::current()) {
    if constexpr (std::same_as<T, bool>) {
      const std::vector<uint8_t> bytes(elements.begin(), elements.end());
      return fromBytes({DType::Bool, std::move(shape)}, bytesOf(std::span<const uint8_t>(bytes)), where);
    } else {
      return from(std::span<const T>(elements), std::move(shape), where);
    }
  }
  template <Element T>
  static Tensor from(std::initializer_list<T> elements, Shape shape, Place where = Place::current()) {
    return from(std::span<const T>(elements.begin(), elements.size()), std::move(shape), where);
  }
  /// Of rank 1.
  template <Element T> static Tensor from(std::initializer_list<T> elements, PlaceOfCall at = Place::current()) {
    return from(elements, {int64_t(elements.size())}, at.where);
  }
  /// A matrix by its rows, which are of one length.
  template <Element T>
  static Tensor from(std::initializer_list<std::initializer_list<T>> rows, Place where = Place::current()) {
    std::vector<T> elements;
    for (const std::initializer_list<T> &row : rows) {
      if (row.size() != rows.begin()->size())
        throw Error(Status::invalidArgument("from: rows of " + std::to_string(rows.begin()->size()) + " and of " +
                                            std::to_string(row.size()) + " elements are no matrix"),
                    where);
      elements.insert(elements.end(), row.begin(), row.end());
    }
    return from(elements, {int64_t(rows.size()), rows.size() == 0 ? 0 : int64_t(rows.begin()->size())}, where);
  }
  /// Bytes of the elements in row-major order, little-endian.
  static Tensor fromBytes(TensorType type, std::span<const std::byte> bytes, Place where = Place::current());
  /// The bytes of a file from `offset` on: dense and row-major, little-endian, of any alignment. Nothing is read before
  /// a program needs them, and then once, into the memory of its device; reading the tensor itself reads the file. The
  /// file should stay as it is: one that is shorter by then is an Error. Throws where there is no such file, or where
  /// it ends before the tensor does. Bools are read at once, because other bytes than 0 and 1 are refused.
  static Tensor fromFile(const std::string &path, DType dtype, Shape shape, uint64_t offset = 0,
                         Place where = Place::current());
  /// As fromBytes, where they are: memory that is not changed while `owner` lives, which the tensor keeps. Copied where
  /// it is not aligned to the elements, or the context's device computes elsewhere.
  static Tensor borrow(TensorType type, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                       Place where = Place::current());

  static Tensor full(Shape shape, double value, DType dtype = DType::F32, Place where = Place::current());
  static Tensor zeros(Shape shape, DType dtype = DType::F32, Place where = Place::current()) {
    return full(std::move(shape), 0, dtype, where);
  }
  static Tensor ones(Shape shape, DType dtype = DType::F32, Place where = Place::current()) {
    return full(std::move(shape), 1, dtype, where);
  }
  /// start, start + step, ... below `stop` (above, where the step is negative).
  static Tensor arange(int64_t start, int64_t stop, int64_t step = 1, DType dtype = DType::I64,
                       Place where = Place::current());
  /// 0, 1, ... below `stop`.
  static Tensor arange(int64_t stop, DType dtype = DType::I64, Place where = Place::current()) {
    return arange(0, stop, 1, dtype, where);
  }
  /// 1 on the diagonal, 0 elsewhere.
  static Tensor eye(int64_t rows, DType dtype = DType::F32, Place where = Place::current());

  /// Whether there is a tensor in this place.
  bool isDefined() const { return handle != nullptr; }
  /// A number that no other tensor of its context has while this one lives, as id() of Python: two that were made in
  /// the same way of the same tensors are one, and one source to gradient(). Throws where there is no tensor.
  uint64_t id(Place where = Place::current()) const;
  /// The only element of a tensor of bools, so that `if (loss < 1)` means what it says: computed now. Throws where
  /// there is no tensor, where it has not one element or another dtype, and in functions that a Jit or a loop captures,
  /// where it depends on their arguments: where() chooses by data.
  explicit operator bool() const;
  const TensorType &type() const &;
  TensorType type() && { return std::as_const(*this).type(); }
  const Shape &shape() const & { return type().shape; }
  Shape shape() && { return std::as_const(*this).shape(); }
  DType dtype() const { return type().dtype; }
  int64_t rank() const { return int64_t(shape().size()); }
  /// The extent of a dimension.
  int64_t size(int64_t dim, Place where = Place::current()) const;
  int64_t numel() const;
  Context context(Place where = Place::current()) const;

  /// The device on which it is, or will be, computed.
  std::string device() const;
  /// The same elements on a device of its context; a copy where it lies on another one.
  Tensor to(const std::string &device, Place where = Place::current()) const;

  /// Computes the value; the tensor is a leaf from then on, unless a Tape lives. A long program may still
  /// run at the return: who reads waits for it, and learns of its failure.
  const Tensor &realize(Place where = Place::current()) const;
  bool isRealized() const;
  /// The value, computed now, as a leaf of its own: gradients end there, and it is told from every other
  /// tensor. Tensors that are made in the same way are else the same one: parameters of a model begin as
  /// leaves.
  Tensor detach(Place where = Place::current()) const;
  /// The elements in row-major order; computes them where that was not done.
  std::vector<std::byte> bytes(Place where = Place::current()) const;
  template <Element T> std::vector<T> toVector(Place where = Place::current()) const {
    expectDType(DTypeOf<T>::value, where);
    const std::vector<std::byte> raw = bytes(where);
    if constexpr (std::same_as<T, bool>) {
      std::vector<bool> elements;
      for (std::byte element : raw)
        elements.push_back(element != std::byte{0});
      return elements;
    } else {
      return decoded<T>(raw);
    }
  }
  /// The only element.
  template <Element T> T item(Place where = Place::current()) const {
    expectDType(DTypeOf<T>::value, where);
    expectSingle(where);
    T value;
    std::memcpy(&value, bytes(where).data(), sizeof(T));
    return value;
  }

  // Movement. None moves an element before something needs it moved.
  /// One extent may be -1: what the others leave.
  Tensor reshape(Shape shape, Place where = Place::current()) const;
  /// To a shape in which extents of 1 grew and new dimensions came in front; -1 keeps an extent.
  Tensor expand(Shape shape, Place where = Place::current()) const;
  /// Dimension i of the result is dimension order[i].
  Tensor permute(Dims order, Place where = Place::current()) const;
  Tensor transpose(int64_t a = -2, int64_t b = -1, Place where = Place::current()) const;
  Tensor flip(Dims dims, Place where = Place::current()) const;
  Tensor unsqueeze(int64_t dim, Place where = Place::current()) const;
  /// Without those dimensions, of extent 1; without arguments all such.
  Tensor squeeze(std::optional<Dims> dims = std::nullopt, Place where = Place::current()) const;
  /// Dimensions `from` to `to` as one.
  Tensor flatten(int64_t from = 0, int64_t to = -1, Place where = Place::current()) const;
  /// One for each of the first dimensions.
  Tensor slice(std::vector<Slice> slices, Place where = Place::current()) const;
  /// The element of that position along a dimension, which goes.
  Tensor select(int64_t dim, int64_t position, Place where = Place::current()) const;
  /// Of the first dimension: the element of a position, negative ones counting from the end; a Slice; or what integers
  /// choose, as take() does.
  Tensor operator[](const Index &index) const;
  /// `low` and `high` elements of `value` before and behind each dimension; negative ones remove.
  Tensor pad(Dims low, Dims high, double value = 0, Place where = Place::current()) const;

  Tensor cast(DType dtype, Place where = Place::current()) const;

  // Elementwise.
  Tensor logicalNot(Place where = Place::current()) const;
  // Written by utils/gen-graph-inc.py from UnaryKinds.td, and not by hand:
  /// -x; integers wrap, unsigned ones too.
  Tensor neg(Place where = Place::current()) const;
  /// e to the x.
  Tensor exp(Place where = Place::current()) const;
  /// 2 to the x.
  Tensor exp2(Place where = Place::current()) const;
  /// Natural logarithm; NaN below 0, -inf at 0.
  Tensor log(Place where = Place::current()) const;
  /// Logarithm to base 2.
  Tensor log2(Place where = Place::current()) const;
  /// 1 / x, rounded once.
  Tensor reciprocal(Place where = Place::current()) const;
  /// Square root, rounded once; NaN below 0.
  Tensor sqrt(Place where = Place::current()) const;
  /// 1 / sqrt(x).
  Tensor rsqrt(Place where = Place::current()) const;
  /// Sine, of radians.
  Tensor sin(Place where = Place::current()) const;
  /// Cosine, of radians.
  Tensor cos(Place where = Place::current()) const;
  /// Tangent, of radians.
  Tensor tan(Place where = Place::current()) const;
  /// Hyperbolic tangent.
  Tensor tanh(Place where = Place::current()) const;
  /// Error function.
  Tensor erf(Place where = Place::current()) const;
  /// The next whole number at or below x.
  Tensor floor(Place where = Place::current()) const;
  /// The next whole number at or above x.
  Tensor ceil(Place where = Place::current()) const;
  /// The nearest whole number, ties to the even one.
  Tensor round(Place where = Place::current()) const;
  /// x without its fraction.
  Tensor trunc(Place where = Place::current()) const;
  /// Absolute value; of the smallest signed integer, itself.
  Tensor abs(Place where = Place::current()) const;
  /// e to the x, less 1, with all digits near 0; -0 stays -0.
  Tensor expm1(Place where = Place::current()) const;
  /// Cube root; of -x that of x, negated.
  Tensor cbrt(Place where = Place::current()) const;
  // Written until here.

  // Reductions. Empty `dims` are all; `keepDims` leaves extents of 1.
  /// Sums of integers have at least 32 bits, of bools as well; f16 and bf16 accumulate in f32.
  Tensor sum(Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  Tensor prod(Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  /// NaN where there is one.
  Tensor max(Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  Tensor min(Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  /// Of floats; f16 and bf16 are averaged in f32, and rounded once.
  Tensor mean(Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  /// Sum of squared distances to the mean, divided by the number of elements less `correction`, at least 0.
  Tensor var(Dims dims = {}, bool keepDims = false, double correction = 1, Place where = Place::current()) const;
  /// The first position of the largest element along a dimension, as i64; NaN is the largest.
  Tensor argmax(int64_t dim, bool keepDims = false, Place where = Place::current()) const;
  Tensor argmin(int64_t dim, bool keepDims = false, Place where = Place::current()) const;
  /// exp(x - max) over its sum.
  Tensor softmax(int64_t dim = -1, Place where = Place::current()) const;
  Tensor logSoftmax(int64_t dim = -1, Place where = Place::current()) const;

  // Activations.
  Tensor relu(Place where = Place::current()) const;
  /// 1 / (1 + exp(-x)), to the last digits of small ones; of f16 and bf16 in f32, as silu().
  Tensor sigmoid(Place where = Place::current()) const;
  /// x * 0.5 * (1 + erf(x / sqrt(2))), of f16 and bf16 in f32.
  Tensor gelu(Place where = Place::current()) const;
  Tensor silu(Place where = Place::current()) const;

  // Functions of other headers, which say what they do; Members.h has those above as functions.
  // Activations.h
  Tensor leakyRelu(double slope = 0.01, Place where = Place::current()) const;
  Tensor elu(double alpha = 1, Place where = Place::current()) const;
  Tensor celu(double alpha = 1, Place where = Place::current()) const;
  Tensor selu(Place where = Place::current()) const;
  Tensor geluTanh(Place where = Place::current()) const;
  Tensor quickGelu(Place where = Place::current()) const;
  Tensor softplus(double beta = 1, Place where = Place::current()) const;
  Tensor mish(Place where = Place::current()) const;
  Tensor hardSigmoid(Place where = Place::current()) const;
  // Functions.h
  Tensor any(Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  Tensor all(Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  Tensor logsumexp(Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  Tensor norm(double p = 2, Dims dims = {}, bool keepDims = false, Place where = Place::current()) const;
  Tensor stddev(Dims dims = {}, bool keepDims = false, double correction = 1, Place where = Place::current()) const;
  Tensor clamp(Operand low, Operand high) const;
  Tensor sign(Place where = Place::current()) const;
  Tensor isNan(Place where = Place::current()) const;
  Tensor isInf(Place where = Place::current()) const;
  Tensor isFinite(Place where = Place::current()) const;
  Tensor log10(Place where = Place::current()) const;
  Tensor log1p(Place where = Place::current()) const;
  Tensor sinh(Place where = Place::current()) const;
  Tensor cosh(Place where = Place::current()) const;
  Tensor asin(Place where = Place::current()) const;
  Tensor acos(Place where = Place::current()) const;
  Tensor atan(Place where = Place::current()) const;
  Tensor asinh(Place where = Place::current()) const;
  Tensor acosh(Place where = Place::current()) const;
  Tensor atanh(Place where = Place::current()) const;
  Tensor signBit(Place where = Place::current()) const;
  Tensor erfinv(Place where = Place::current()) const;
  Tensor frac(Place where = Place::current()) const;
  Tensor square(Place where = Place::current()) const;
  Tensor deg2rad(Place where = Place::current()) const;
  Tensor rad2deg(Place where = Place::current()) const;
  Tensor bitcast(DType dtype, Place where = Place::current()) const;
  // Indexing.h
  Tensor tril(int64_t diagonal = 0, Place where = Place::current()) const;
  Tensor triu(int64_t diagonal = 0, Place where = Place::current()) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length, Place where = Place::current()) const;
  Tensor diagonal(int64_t offset = 0, int64_t a = 0, int64_t b = 1, Place where = Place::current()) const;
  Tensor repeat(Dims counts, Place where = Place::current()) const;
  Tensor repeatInterleave(int64_t count, int64_t dim, Place where = Place::current()) const;
  Tensor pad(Dims low, Dims high, PadMode mode, Place where = Place::current()) const;
  std::vector<Tensor> splitSizes(Dims sizes, int64_t dim = 0, Place where = Place::current()) const;
  std::vector<Tensor> split(int64_t size, int64_t dim = 0, Place where = Place::current()) const;
  Tensor roll(Dims shifts, Dims dims, Place where = Place::current()) const;
  // Selection.h
  Padded nonzero(Place where = Place::current()) const;
  Unique unique(Place where = Place::current()) const;
  // Sorting.h
  Tensor cumsum(int64_t dim, ScanOptions options = {}, Place where = Place::current()) const;
  Tensor cumprod(int64_t dim, ScanOptions options = {}, Place where = Place::current()) const;
  Tensor cummax(int64_t dim, ScanOptions options = {}, Place where = Place::current()) const;
  Tensor cummin(int64_t dim, ScanOptions options = {}, Place where = Place::current()) const;
  Tensor sort(int64_t dim = -1, bool descending = false, Place where = Place::current()) const;
  Tensor argsort(int64_t dim = -1, bool descending = false, Place where = Place::current()) const;
  Ranked topk(int64_t k, int64_t dim = -1, bool largest = true, Place where = Place::current()) const;
  // Convolution.h
  Tensor slidingWindows(Dims window, Dims stride = {}, Dims dilation = {}, Place where = Place::current()) const;
  Tensor maxPool(Dims window, WindowOptions options = {}, Place where = Place::current()) const;
  Pooled maxPoolWithIndices(Dims window, WindowOptions options = {}, Place where = Place::current()) const;
  Tensor avgPool(Dims window, AverageOptions options = {}, Place where = Place::current()) const;
  Tensor interpolate(Dims extents, Interpolation how = Interpolation::Nearest, Place where = Place::current()) const;
  // Factorizations.h
  Tensor cholesky(Place where = Place::current()) const;
  QR qr(Place where = Place::current()) const;
  // Creation.h
  Tensor fullLike(double value, Place where = Place::current()) const;
  Tensor zerosLike(Place where = Place::current()) const;
  Tensor onesLike(Place where = Place::current()) const;
  // This one.
  Tensor pow(Operand exponent) const;
  Tensor matmul(Operand other) const;

private:
  friend class detail::State;
  friend class Tape;
  explicit Tensor(std::shared_ptr<const detail::Handle> handle) : handle(std::move(handle)) {}
  template <typename T> static std::span<const std::byte> bytesOf(std::span<const T> elements) {
    return std::as_bytes(elements);
  }
  template <typename T> static std::vector<T> decoded(const std::vector<std::byte> &raw) {
    std::vector<T> elements(raw.size() / sizeof(T));
    // Of no elements there is no address.
    if (!raw.empty())
      std::memcpy(elements.data(), raw.data(), raw.size());
    return elements;
  }
  static Tensor constant(DType dtype, std::span<const std::byte> element, Place where);
  void expectDType(DType dtype, Place where) const;
  void expectSingle(Place where) const;

  std::shared_ptr<const detail::Handle> handle;
};

/// Several tensors, for the time of a call: those of a vector, an array or a span, or some in braces, `{a, b}`.
class Tensors : public std::span<const Tensor> {
public:
  using span::span;
  Tensors(std::span<const Tensor> tensors) : span(tensors) {}
  Tensors(std::initializer_list<Tensor> tensors) : span(tensors.begin(), tensors.size()) {}
};

/// What operator[] takes, with the place of the call.
class Index {
public:
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T position, Place where = Place::current()) : position(static_cast<int64_t>(position)), where(where) {}
  Index(Slice slice, Place where = Place::current()) : slice(slice), where(where) {}
  Index(Tensor positions, Place where = Place::current()) : positions(std::move(positions)), where(where) {}

private:
  friend class Tensor;
  std::optional<int64_t> position;
  std::optional<Slice> slice;
  Tensor positions;
  Place where;
};

/// A tensor, or a number that takes the dtype of the tensor beside it; with the place of the call.
class Operand {
public:
  Operand(const Tensor &tensor, Place where = Place::current()) : tensor(tensor), where(where) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  Operand(T number, Place where = Place::current())
      : number(static_cast<double>(number)), isNumber(true), isInteger(std::integral<T>), where(where) {
    if constexpr (std::integral<T>)
      integer = static_cast<uint64_t>(number);
    if constexpr (std::signed_integral<T>)
      isNegative = number < 0;
  }

  /// What it is where it is no number; perhaps no tensor, which functions refuse.
  Tensor tensor;
  double number = 0;
  /// Of an integer, in two's complement.
  uint64_t integer = 0;
  bool isNumber = false, isInteger = false, isNegative = false;
  Place where;
};

// Operands broadcast as in NumPy: from the last dimension on, extents of 1 and missing ones grow.
Tensor operator+(Operand a, Operand b);
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);
/// Of integers towards zero; x / 0 is -1 (all ones).
Tensor operator/(Operand a, Operand b);
/// a - b * trunc(a / b), with the sign of a; x % 0 is x for integers.
Tensor operator%(Operand a, Operand b);
Tensor operator-(Operand a);
Tensor operator&(Operand a, Operand b);
Tensor operator|(Operand a, Operand b);
Tensor operator^(Operand a, Operand b);
Tensor operator<<(Operand a, Operand b);
Tensor operator>>(Operand a, Operand b);
// These put another value into a handle: copies of it do not see that. Of an i32 and an i64 it is an i64 afterwards, as
// of any sum of both.
Tensor &operator+=(Tensor &a, Operand b);
Tensor &operator-=(Tensor &a, Operand b);
Tensor &operator*=(Tensor &a, Operand b);
Tensor &operator/=(Tensor &a, Operand b);
Tensor &operator%=(Tensor &a, Operand b);
Tensor &operator&=(Tensor &a, Operand b);
Tensor &operator|=(Tensor &a, Operand b);
Tensor &operator^=(Tensor &a, Operand b);
Tensor &operator<<=(Tensor &a, Operand b);
Tensor &operator>>=(Tensor &a, Operand b);
// Comparisons have dtype bool.
Tensor operator<(Operand a, Operand b);
Tensor operator<=(Operand a, Operand b);
Tensor operator>(Operand a, Operand b);
Tensor operator>=(Operand a, Operand b);
Tensor operator==(Operand a, Operand b);
Tensor operator!=(Operand a, Operand b);
Tensor pow(Operand a, Operand b);
/// NaN where either is.
Tensor maximum(Operand a, Operand b);
Tensor minimum(Operand a, Operand b);
/// Of `a` where the condition holds, of `b` elsewhere.
Tensor where(const Tensor &condition, Operand a, Operand b);

/// The product of matrices: [..., m, k] and [..., k, n]; the dimensions before broadcast. A vector on
/// the left is a row, on the right a column, which goes again. f16 and bf16 accumulate in f32; integers
/// of fewer than 32 bits become such of 32 bits.
Tensor matmul(Operand a, Operand b);
/// Along a dimension, one behind the other.
Tensor concat(Tensors parts, int64_t dim = 0, Place where = Place::current());
/// The elements of x at these positions along a dimension; 0 where a position is none.
Tensor take(const Tensor &x, const Tensor &positions, int64_t dim = 0, Place where = Place::current());
/// 1 at the position, of `classes`, in a new last dimension; all 0 where the position is none of them.
Tensor oneHot(const Tensor &positions, int64_t classes, DType dtype = DType::F32, Place where = Place::current());

/// Computes the values of all of them in one program.
void realize(Tensors tensors, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_TENSOR_H
