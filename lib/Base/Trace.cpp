//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Trace.h"

#include <chrono>
#include <new>

using namespace zyx;

uint64_t Trace::now() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

size_t Trace::add(Span span) {
  std::lock_guard lock(mutex);
  all.push_back(std::move(span));
  return all.size() - 1;
}

void Trace::addDependency(size_t from, size_t to) {
  std::lock_guard lock(mutex);
  edges.emplace_back(from, to);
}

std::vector<Span> Trace::spans() const {
  std::lock_guard lock(mutex);
  return all;
}

std::vector<std::pair<size_t, size_t>> Trace::dependencies() const {
  std::lock_guard lock(mutex);
  return edges;
}

ScopedSpan::ScopedSpan(Trace *trace, std::string track, std::string name, std::string detail) : trace(trace) {
  if (trace)
    span = {std::move(track), std::move(name), std::move(detail), Trace::now(), 0};
}

ScopedSpan::~ScopedSpan() {
  if (!trace)
    return;
  span.nanoseconds = Trace::now() - span.begin;
  // Where memory ends the trace lacks it: what it is of goes on, or fails for that.
  try {
    trace->add(std::move(span));
  } catch (const std::bad_alloc &) {
  }
}
