//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_TRACE_H
#define ZYX_BASE_TRACE_H

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace zyx {

/// Something that took time. Spans of one track lie inside each other or apart.
struct Span {
  /// "compiler", "host", "device cpu".
  std::string track;
  /// What was done, and to what: a pass and its kernel.
  std::string name, detail;
  /// Nanoseconds of the clock of Trace::now.
  uint64_t begin = 0, nanoseconds = 0;
};

/// What happened when, for people to look at. Calls from several threads are safe.
class Trace {
public:
  /// Nanoseconds of a clock that never goes back and that all processes of the machine share.
  static uint64_t now();

  /// The number of the span.
  size_t add(Span span);
  /// Span `to` could only start when span `from` was over.
  void addDependency(size_t from, size_t to);

  std::vector<Span> spans() const;
  std::vector<std::pair<size_t, size_t>> dependencies() const;

private:
  mutable std::mutex mutex;
  std::vector<Span> all;
  std::vector<std::pair<size_t, size_t>> edges;
};

/// A span from its construction to the end of its scope; nothing where `trace` is null.
class ScopedSpan {
public:
  ScopedSpan(Trace *trace, std::string track, std::string name, std::string detail = {});
  ~ScopedSpan();
  ScopedSpan(const ScopedSpan &) = delete;
  ScopedSpan &operator=(const ScopedSpan &) = delete;

private:
  Trace *trace;
  Span span;
};

} // namespace zyx

#endif // ZYX_BASE_TRACE_H
