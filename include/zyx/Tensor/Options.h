//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// What functions of tensors take besides tensors.
#ifndef ZYX_TENSOR_OPTIONS_H
#define ZYX_TENSOR_OPTIONS_H

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <source_location>
#include <vector>

namespace zyx {

/// The place of a call in the user's program.
using Place = std::source_location;

/// Dimensions, or a number for each; negative dimensions count from the last. A single one needs no braces:
/// `x.mean(-1)`.
class Dims : public std::vector<int64_t> {
public:
  Dims() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Dims(T dim) : vector{static_cast<int64_t>(dim)} {}
  Dims(std::initializer_list<int64_t> dims) : vector(dims) {}
  Dims(vector dims) : vector(std::move(dims)) {}
  template <std::input_iterator It> Dims(It first, It last) : vector(first, last) {}
  /// The same number so many times.
  static Dims repeated(int64_t count, int64_t number) { return vector(static_cast<size_t>(count), number); }
};

/// Of one dimension: the elements from `start` up to but without `stop`, every `step`-th.
/// Negative positions count from the end, and all are clamped to the extent, as in NumPy; a negative
/// step goes backwards.
struct Slice {
  std::optional<int64_t> start = std::nullopt, stop = std::nullopt;
  int64_t step = 1;
};

struct ScanOptions {
  /// Each element combines those before it, without itself; the first is what nothing combines to: 0 of
  /// a sum, 1 of a product, the smallest value of a maximum.
  bool exclusive = false;
  /// From the last element on.
  bool reverse = false;
};

/// Of windows. Each member has a number per dimension of positions, one for all of them, or none, which
/// stands for the default.
struct WindowOptions {
  /// Steps from one window to the next; 1, for pooling the extent of a window.
  Dims stride = {};
  /// Elements before and behind each dimension: 0 for convolutions and averages, smaller than all others
  /// for maxima.
  Dims padding = {};
  /// Steps from one element of a window to the next; 1.
  Dims dilation = {};
};

struct AverageOptions : WindowOptions {
  /// Whether padding counts as elements; else a sum is divided by the number of real ones.
  bool countPadding = true;
};

enum class Interpolation { Nearest, Linear };

/// What pad() adds around a tensor: its elements mirrored at the border element, which is not repeated; the border
/// element repeated; or the elements of the other end.
enum class PadMode { Reflect, Replicate, Circular };

} // namespace zyx

#endif // ZYX_TENSOR_OPTIONS_H
