//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_CHUNKEDVECTOR_H
#define ZYX_BASE_CHUNKEDVECTOR_H

#include <cstddef>
#include <utility>
#include <vector>

namespace zyx {

/// A vector that grows by pieces of some KiB: nothing is moved, and no memory is touched twice, when it
/// becomes longer. Elements need not be assignable.
template <typename T> class ChunkedVector {
public:
  ChunkedVector() = default;
  ChunkedVector(const ChunkedVector &other) : chunks(other.chunks) {
    if (!chunks.empty())
      chunks.back().reserve(perChunk);
  }
  ChunkedVector(ChunkedVector &&) = default;
  ChunkedVector &operator=(ChunkedVector other) {
    chunks.swap(other.chunks);
    return *this;
  }

  size_t size() const { return chunks.empty() ? 0 : (chunks.size() - 1) * perChunk + chunks.back().size(); }
  const T &operator[](size_t i) const { return chunks[i / perChunk][i % perChunk]; }
  T &operator[](size_t i) { return chunks[i / perChunk][i % perChunk]; }

  void push_back(T value) {
    if (chunks.empty() || chunks.back().size() == perChunk)
      chunks.emplace_back().reserve(perChunk);
    chunks.back().push_back(std::move(value));
  }

private:
  static constexpr size_t perChunk = 128;
  std::vector<std::vector<T>> chunks;
};

} // namespace zyx

#endif // ZYX_BASE_CHUNKEDVECTOR_H
