//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_JIT_H
#define ZYX_TENSOR_JIT_H

#include "zyx/Tensor/PendingUpdate.h"

#include <optional>

namespace zyx {

struct JitOptions {
  /// Arguments whose buffers a call donates (donate_argnums of jax.jit). The first result of an argument's type that no
  /// other argument was donated to takes its memory, and the argument has no value from then on. Reading it, or a copy
  /// of its handle, throws an Error that names the call. An argument keeps its memory and its value where no result has
  /// its type, its memory is borrowed, another argument, a tensor by detach() or an expression that was not computed
  /// reads it, or a program has more than one device.
  std::vector<size_t> donated = {};
  /// How many further copies of the handle of a donated argument the caller has. If there are more, somebody else has
  /// one, and the argument keeps its value. Without a number, it is donated whoever has copies.
  std::optional<size_t> callerHandles = std::nullopt;
};

/// A function of tensors that is called once for each set of argument types, with arguments that have no
/// values; what it builds is compiled, and later calls run that on their arguments without building a
/// graph. Results are leaves, and no gradient goes through them (gradient() refuses that).
///
/// Parameters that the function reads are arguments of the program, too: each call takes their values of then. Those
/// that it does not set are weights: what depends on them alone, such as packed factors of products, is computed again
/// in the first call after one of them has changed, and at no other time. Parameters that it sets, such as the running
/// moments of a BatchNorm, are results, which each call puts there; after a call that fails they are what they were. A
/// Generator makes new seeds for each call.
///
/// Values of other tensors that the function reads are those of the first call, and so are its numbers and branches.
/// Reading the value of what depends on an argument or a parameter throws. Inside of a function that is captured a
/// Jit is its function. Copies share what was captured; one thread at a time.
class Jit {
public:
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  /// A call that is refused, for which there is no memory, or which fails before its run begins, because of what that
  /// waits for, say, donates nothing. If the run fails later, neither results nor donated arguments have a value, and
  /// reading either throws.
  explicit Jit(Function function, JitOptions options = {});

  /// Computes the arguments, where they are not, and the results. All are of one context; without
  /// arguments it is the current one.
  std::vector<Tensor> operator()(Tensors arguments, Place where = Place::current()) const;
  /// What the results replace is kept until the run is known to have succeeded.
  std::vector<Tensor> operator()(Tensors arguments, const PendingUpdate &pending, Place where = Place::current()) const;
  /// How often the function was called: once for each set of argument types and context, and once more where a
  /// parameter has another type or device, or an assumption does not hold.
  size_t numCaptures() const;

  /// Whether this thread calls a function of a Jit to see what it builds.
  static bool isCapturing();
  /// Of a function that is captured: what it builds depends on this, and is used while it holds. Else nothing.
  static void assume(std::function<bool()> holds);

private:
  std::vector<Tensor> call(std::span<const Tensor> arguments, const PendingUpdate *pending, const Place &where) const;
  struct Contents;
  struct Captured;
  Captured capture(const std::shared_ptr<detail::State> &state, std::span<const Tensor> arguments,
                   const Place &where) const;
  std::shared_ptr<Contents> contents;
};

} // namespace zyx

#endif // ZYX_TENSOR_JIT_H
