//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_CONTEXT_H
#define ZYX_TENSOR_CONTEXT_H

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

namespace zyx {

namespace detail {
class State;
} // namespace detail

struct ContextOptions {
  /// Where tensors live and are computed: "cpu", "c", or "reference" (the interpreter).
  std::string device = "cpu";
  /// Threads of the device; 0 = as many as the process may use processors.
  unsigned threads = 0;
  /// The folder in which compiled programs are kept for later processes; none without a value.
  std::optional<std::string> cacheFolder = std::nullopt;
  /// Whether operands of two dtypes of one kind become the smallest one that holds both (docs/tensors.md,
  /// "Dtypes"); else they are refused.
  bool promote = true;
  /// Whether compilations of more than half a second are shown, where the standard error is a terminal.
  bool progress = true;
};

/// What a context did so far, and what it holds.
struct ContextCounters {
  /// Programs that were run, and of them those that were compiled before in this context.
  uint64_t runs = 0, hits = 0;
  /// Kernels that were launched.
  uint64_t launches = 0;
  /// Nodes that some tensor needs, and nodes of the graph with those that wait to be removed.
  uint64_t liveNodes = 0, nodes = 0;
  /// Bytes of the values of tensors, and of these with what programs use besides, at the most.
  uint64_t valueBytes = 0, peakBytes = 0;
};

/// What tensors belong to: a graph of which they are nodes, a device, and the programs that were
/// compiled for it. Copies are handles of one context; it ends with the last of them and of its
/// tensors. Calls from several threads are safe, and wait for each other.
class Context {
public:
  /// Throws where there is no such device.
  explicit Context(ContextOptions options = {}, std::source_location where = std::source_location::current());

  const ContextOptions &options() const;
  ContextCounters counters() const;

  /// The context of tensors that are made without naming one: that of the innermost ContextScope of
  /// this thread, else one of the process with default options.
  static Context current(std::source_location where = std::source_location::current());

private:
  friend class Tensor;
  friend class Profile;
  friend class Tape;
  friend class ContextScope;
  explicit Context(std::shared_ptr<detail::State> state) : state(std::move(state)) {}
  std::shared_ptr<detail::State> state;
};

/// While it lives, tensors of this thread are made in that context. Scopes end in the opposite order.
class ContextScope {
public:
  explicit ContextScope(Context context);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  std::shared_ptr<detail::State> before;
};

} // namespace zyx

#endif // ZYX_TENSOR_CONTEXT_H
